"""The survey page in a real browser, with the network and the storage watched."""

import json
import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

import client_vectors
import collector
import deptriad as dt
from deptriad.clients import survey_page
from deptriad.clients.store import Store
from deptriad.clients.wire import Wire
from deptriad.collection.view import View
from deptriad.utils import signatures
from deptriad.utils.text import surety

SECRETS = ["secretly red", "secretly green", "secretly blue", "secretly grey"]
"""Answers that no report of these mechanisms spells."""


def secret_plan():
    schema = dt.Schema(
        [
            dt.Attribute("hue", SECRETS, missing="error"),
            dt.Attribute("tint", [f"{each} {n}" for each in SECRETS for n in range(3)]),
            dt.Attribute("shade", edges=[float("-inf"), 0, 10.5, float("inf")], missing="error"),
        ]
    )
    return client_vectors.plan_of(
        schema,
        View(("hue", "shade"), {"hue": 1.0, "shade": 1.5}, {"hue": "oue", "shade": "hadamard"}, share=0.5),
        View.of_one_value(("hue", "tint"), 2.0, "olh", 0.5),
    )  # fmt: skip


class Visit:
    """A page that was opened; what it asked for, what it sent, and what it complained about."""

    def __init__(self, browser, url, **options):
        self.context = browser.new_context(accept_downloads=True, **options)
        self.requests, self.sent, self.complaints = [], [], []
        self.context.on("request", self._request)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.open(url)

    def open(self, url):
        self.page.goto(url)
        self.settled()

    def settled(self):
        self.page.wait_for_selector("main section:not([hidden]), #problem:not([hidden])")
        return self

    def _request(self, request):
        self.requests.append(f"{request.method} {request.url}")
        if request.method == "POST":
            self.sent.append(request.post_data)

    def shown(self):
        return self.page.evaluate("document.querySelector('main section:not([hidden])').id")

    def kept(self):
        """What the browser holds of the page."""
        found = self.page.evaluate(
            """async () => ({ local: { ...localStorage }, session: { ...sessionStorage }, cookie: document.cookie,
            databases: await indexedDB.databases(), caches: window.caches ? await caches.keys() : [],
            state: history.state, name: window.name })"""
        )
        local = found.pop("local")
        assert found == {
            "session": {},
            "cookie": "",
            "databases": [],
            "caches": [],
            "state": None,
            "name": "",
        }
        assert len(local) <= 1
        return json.loads(next(iter(local.values()), "{}"))

    def answer(self, choice=0):
        for box in self.page.locator("fieldset").all():
            box.locator("input").nth(choice).check()
        for box in self.page.locator("select").all():
            box.select_option(index=choice + 1)
        self.page.click("#next")
        self.page.wait_for_selector("#review:not([hidden])")
        return self

    def send(self):
        self.page.click("#send")
        self.page.wait_for_selector("#send:not([disabled])", state="attached")


@pytest.fixture
def visit(chromium):
    """Opens pages, and closes them."""
    every = []

    def open_(url, **options):
        every.append(Visit(chromium, url, **options))
        return every[-1]

    yield open_
    for each in every:
        each.context.close()


@pytest.fixture(scope="module")
def survey():
    return secret_plan()


@pytest.fixture(scope="module")
def site(survey, tmp_path_factory):
    """A collector that serves the page of a plan: its address, and its store."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "page").mkdir()
    survey.save(folder / "plan.json")
    text = (folder / "plan.json").read_text(encoding="utf-8")
    made = survey_page.page(survey, text, "/reports")
    (folder / "page" / "survey.html").write_text(made, encoding="utf-8")
    store = f"sqlite:///{folder / 'reports.db'}"
    with collector.running(folder / "plan.json", store, "--page", str(folder / "page")) as (
        port,
        _,
    ):
        yield f"http://127.0.0.1:{port}", store


def test_a_whole_visit_sends_one_report_and_nothing_of_the_answer(visit, site, survey):
    place, store = site
    own = visit(f"{place}/")
    view = own.kept()["view"]
    assert own.kept() == {"view": view}
    asked = survey.views[view - 1].attributes
    assert own.page.locator("legend, .question > label").all_inner_texts() == list(asked)
    own.answer()
    kept = own.kept()
    assert set(kept) == {"view", "report"}
    assert Wire.of(survey).read(kept["report"]).view == view
    assert own.page.locator("#questions").inner_html() == ""
    own.send()
    assert own.shown() == "done"
    assert own.kept() == {"done": "sent"}
    own.page.reload()
    assert own.settled().shown() == "done"
    assert own.sent == [json.dumps(kept["report"], separators=(",", ":"), ensure_ascii=False)]
    assert set(own.requests) == {
        *(f"GET {place}/{page}" for page in ("", "survey.html")),
        f"POST {place}/reports",
    }
    assert "secretly" not in json.dumps([own.sent, own.requests, kept])
    assert own.page.url == f"{place}/survey.html"
    assert own.complaints == []
    assert kept["report"]["id"] in collector.stored_reports(store)


def test_reloads_and_retries_send_the_same_and_it_is_counted_once(visit, site):
    place, store = site
    before = len(collector.stored_reports(store))
    own = visit(f"{place}/")
    drawn = own.kept()
    for _ in range(5):
        own.page.reload()
        assert own.settled().kept() == drawn
    own.answer()
    kept = own.kept()
    for _ in range(3):
        own.page.reload()
        assert own.settled().shown() == "review"
        assert own.kept() == kept
    lost = iter([True, True, False])

    def answer(route):  # the first is lost on its way, the second on its way back
        if next(lost):
            if own.sent[1:]:
                route.fetch()
            return route.abort()
        return route.continue_()

    own.page.route("**/reports", answer)
    for _ in range(2):
        own.send()
        assert own.shown() == "review"
        assert "Nobody confirmed" in own.page.locator("#status").inner_text()
        assert own.kept() == kept | {"tried": True}
    own.page.reload()
    assert own.settled().page.locator("#send").inner_text() == "Send the same again"
    own.send()
    assert own.shown() == "done"
    assert own.sent == [own.sent[0]] * 3
    assert len(collector.stored_reports(store)) == before + 1
    own.page.click("#again")
    assert own.settled().shown() == "ask"
    assert set(own.kept()) == {"view"}


def test_a_second_tab_draws_nothing_again(visit, site):
    place, _ = site
    own = visit(f"{place}/")
    other = own.context.new_page()
    other.goto(f"{place}/")
    other.wait_for_selector("#ask:not([hidden])")
    other.evaluate("document.querySelector('fieldset input')?.click()")
    own.answer()
    kept = own.kept()
    first, own.page = own.page, other
    other.wait_for_selector("#review:not([hidden])")  # it follows, and forgets what was chosen
    assert other.locator("#questions").inner_html() == ""
    assert other.locator("#exact").text_content() == first.locator("#exact").text_content()
    assert own.kept() == kept
    own.send()
    assert own.shown() == "done"
    first.wait_for_selector("#done:not([hidden])")
    assert len(own.sent) == 1


def test_a_tab_that_did_not_follow_sends_and_ends_nothing_that_it_does_not_show(visit, site):
    place, store = site
    before = len(collector.stored_reports(store))
    deaf = "addEventListener('storage', (event) => event.stopImmediatePropagation());"
    own = visit(f"{place}/")
    other = own.context.new_page()
    other.add_init_script(deaf)
    other.goto(f"{place}/")
    other.wait_for_selector("#ask:not([hidden])")
    own.answer()
    kept, first = own.kept(), own.page
    own.page = other
    own.answer(1)  # it shows what the other tab had perturbed, and draws nothing
    assert own.kept() == kept
    own.page = first
    own.page.click("#decline")
    own.page.click("#again")
    own.answer()  # somebody else
    second = own.kept()
    assert second["report"]["id"] != kept["report"]["id"]
    other.click("#send")
    assert other.locator("#exact").text_content() == json.dumps(second["report"], indent=1)
    assert own.kept() == second
    assert own.sent == []
    assert len(collector.stored_reports(store)) == before


def test_who_declines_sends_nothing(visit, site):
    own = visit(f"{site[0]}/").answer()
    own.page.click("#decline")
    assert own.shown() == "done"
    assert own.kept() == {"done": "declined"}
    assert own.page.locator("#done-title").inner_text() == "Nothing was sent"
    assert own.sent == []


def test_who_declines_after_trying_is_not_told_that_nothing_was_sent(visit, site):
    place, store = site
    before = len(collector.stored_reports(store))
    own = visit(f"{place}/").answer()
    own.page.route("**/reports", lambda route: (route.fetch(), route.abort()))
    own.send()
    own.page.reload()
    own.settled().page.click("#decline")
    assert own.page.locator("#done-title").inner_text() == "Nothing more will be sent"
    assert len(collector.stored_reports(store)) == before + 1  # it had arrived
    own.page.click("#again")
    own.answer()
    own.page.route("**/reports", lambda route: route.fulfill(status=422))
    own.send()
    assert "422" in own.page.locator("#status").inner_text()
    own.page.click("#decline")
    assert own.page.locator("#done-title").inner_text() == "Nothing was sent"


def test_what_cannot_be_kept_is_neither_shown_nor_sent(visit, site):
    own = visit(f"{site[0]}/")
    drawn = own.kept()
    full = "() => { Storage.prototype.setItem = () => { throw new Error('the disk is full'); }; }"
    own.page.evaluate(full)
    for box in own.page.locator("fieldset").all():
        box.locator("input").first.check()
    for box in own.page.locator("select").all():
        box.select_option(index=1)
    own.page.click("#next")
    assert "the disk is full" in own.page.locator("#problem").inner_text()
    assert own.page.locator("main section:not([hidden])").count() == 0
    assert own.kept() == drawn
    assert own.sent == []


def test_views_are_drawn_by_their_shares(visit, site):
    """Of 36 people all asked the same of two equal views: chance 2^-35."""
    own = visit(f"{site[0]}/")
    seen = []
    for _ in range(36):
        own.page.evaluate("localStorage.clear()")
        own.page.reload()
        seen.append(own.settled().kept()["view"])
    assert set(seen) == {1, 2}


def test_what_was_not_answered_is_asked_again(visit, site):
    own = visit(f"{site[0]}/")
    own.page.click("#next")
    wrong = own.page.locator(".wrong:visible")
    assert wrong.count() == 2
    described = own.page.evaluate(
        "(document.activeElement.closest('fieldset') ?? document.activeElement).getAttribute('aria-describedby')"
    )
    assert described == wrong.first.get_attribute("id")
    assert set(own.kept()) == {"view"}


@pytest.mark.parametrize(
    "change, said",
    [
        ("Crypto.prototype.getRandomValues = (array) => array", "no secure randomness"),
        ("Object.defineProperty(window, 'Crypto', { value: undefined })", "no secure randomness"),
        ("Storage.prototype.setItem = () => { throw new Error('denied'); }", "denied"),
        ("Storage.prototype.setItem = () => {}", "does not keep"),
    ],
)
def test_without_secure_chance_or_a_memory_nothing_begins(chromium, site, change, said):
    context = chromium.new_context()
    context.add_init_script(change)
    page = context.new_page()
    page.goto(f"{site[0]}/")
    page.wait_for_selector("#problem:not([hidden])")
    assert said in page.locator("#problem").inner_text()
    assert page.evaluate("({ ...localStorage })") == {}
    context.close()


def test_a_survey_by_invitation_asks_for_it(visit, survey, tmp_path):
    survey.save(tmp_path / "plan.json")
    store = Store.opened(tmp_path / "reports.db", survey)
    one, two = store.invite(2)
    store.close()
    page = survey_page.page(survey, (tmp_path / "plan.json").read_text(), "/reports")
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "survey.html").write_text(page)
    options = ("--page", str(tmp_path / "page"))
    with collector.running(tmp_path / "plan.json", str(tmp_path / "reports.db"), *options) as (
        port,
        _,
    ):
        own = visit(f"http://127.0.0.1:{port}/survey.html").answer()
        own.send()
        assert "invitation" in own.page.locator("#status").inner_text()
        own.page.fill("#invitation", f" {one} ")
        own.send()
        assert own.shown() == "done"
        assert own.page.locator("#along").is_hidden()
        by_link = visit(f"http://127.0.0.1:{port}/survey.html#invitation={two}").answer()
        assert f"Your invitation ({two}) goes along" in by_link.page.locator("#along").inner_text()
        by_link.send()
        assert by_link.shown() == "done"
        assert two not in "".join([*by_link.requests, *by_link.sent])
        by_link.page.click("#again")  # somebody else has no invitation here
        assert two not in by_link.page.url
        by_link.answer()
        assert by_link.page.locator("#along").is_hidden()
        assert by_link.page.input_value("#invitation") == ""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and says nothing."""

    def log_message(self, *_):
        pass


def test_a_page_on_another_site_sends_where_it_may(visit, survey, tmp_path):
    survey.save(tmp_path / "plan.json")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_port}"
    text = (tmp_path / "plan.json").read_text()
    try:
        for origin, arrives in ((site, True), ("https://other.example", False)):
            store = str(tmp_path / f"{arrives}.db")
            with collector.running(tmp_path / "plan.json", store, "--origin", origin) as (port, _):
                page = survey_page.page(survey, text, f"http://127.0.0.1:{port}/reports")
                (tmp_path / "survey.html").write_text(page)
                own = visit(f"{site}/survey.html").answer()
                own.send()
                assert own.shown() == ("done" if arrives else "review")
                assert len(collector.stored_reports(f"sqlite:///{store}")) == arrives
    finally:
        server.shutdown()
        server.server_close()


def written(folder, plan, **how):
    """A page that is a file."""
    plan.save(folder / "plan.json")
    text = (folder / "plan.json").read_text(encoding="utf-8")
    made = survey_page.page(plan, text, **how)
    (folder / "survey.html").write_text(made, encoding="utf-8")
    return (folder / "survey.html").as_uri()


def test_without_an_endpoint_the_same_file_is_saved_again_and_again(visit, survey, tmp_path):
    own = visit(written(tmp_path, survey)).answer()
    kept = own.kept()["report"]
    for _ in range(2):
        with own.page.expect_download() as waiting:
            own.page.click("#send")
        waiting.value.save_as(tmp_path / "own.json")
        assert json.loads((tmp_path / "own.json").read_text()) == kept
    own.page.click("#handed")
    assert own.shown() == "done"
    assert [each for each in own.requests if not each.startswith("GET blob:")] == [own.requests[0]]
    assert own.complaints == []


def test_hostile_words_stay_text_and_every_value_can_be_chosen(visit, tmp_path):
    script = "</script><img src=x onerror=\"window.hacked='script'\">"
    schema = dt.Schema(
        [
            dt.Attribute(script, ["${window.hacked=1}", "<b>b</b>", "@@data@@"]),
            dt.Attribute("__proto__", [True, False], missing="error"),
            dt.Attribute("constructor", list("abcdefghij"), unseen="other"),
            *client_vectors.ODD.only("ages", "bins", "close"),
            dt.Attribute("height", edges=[0, 1, 2], labels={"[0, 1)": "short"}, missing="error"),
            dt.Attribute("sure", [True, False], labels={"True": "Quite"}, missing="error"),
            dt.Attribute(
                "region", ["ME", "NH", "TX"], groups={"North": ["NH", "ME"]}, labels={"TX": "Texas"}
            ),
        ]
    )
    view = client_vectors.separate(schema, dict.fromkeys(schema.names, "oue"), 1.0)
    words = {"title": script, "values": {"__proto__": {"True": script}}}
    own = visit(written(tmp_path, client_vectors.plan_of(schema, view), words=words))
    page = own.page
    assert page.title() == script
    assert page.locator("h1").inner_text() == script
    assert page.locator("legend, .question > label").all_inner_texts() == list(schema.names)
    choices = page.locator("fieldset").nth(2).locator(".choice").all_inner_texts()
    assert choices == ["0 to under 18", "18 to under 65", "65 or more", "Something else"]
    choices = page.locator("fieldset").nth(1).locator(".choice").all_inner_texts()
    assert choices == [script, "No"]
    for place, expected in ((-3, ["short", "1 to 2"]), (-2, ["Quite", "No"])):
        choices = page.locator("fieldset").nth(place).locator(".choice").all_inner_texts()
        assert choices == expected
    choices = page.locator("fieldset").last.locator(".choice").all_inner_texts()
    assert choices == ["North", "Texas", "No answer"]
    own.answer()
    assert page.locator("#told dt").all_inner_texts() == list(schema.names)
    assert page.locator("img, b, iframe").count() == 0
    assert page.evaluate("'hacked' in window") is False
    assert own.complaints == []
    assert (
        page.evaluate(
            """() => { const script = document.createElement("script");
           script.textContent = "window.ran = true"; document.body.append(script);
           return "ran" in window; }"""
        )
        is False
    )
    refused = page.evaluate("fetch('https://other.example/').then(() => false, () => true)")
    assert refused
    assert any("Content Security Policy" in each for each in own.complaints)


def test_what_is_sent_is_said_in_words(visit, tmp_path):
    schema = dt.Schema(
        [dt.Attribute(name, list("abcdefgh"), missing="error") for name in ("set", "code", "label")]
    )
    ways = {"set": "subset", "code": "olh", "label": "grr"}
    own = visit(
        written(
            tmp_path, client_vectors.plan_of(schema, client_vectors.separate(schema, ways, 1.0))
        )
    )
    own.answer()
    report = own.kept()["report"]
    told = dict(
        zip(
            own.page.locator("#told dt").all_inner_texts(),
            own.page.locator("#told dd").all_inner_texts(),
            strict=True,
        )
    )
    bits = int(report["answers"]["set"][1:], 16)
    named = [label for place, label in enumerate("abcdefgh") if bits >> place & 1]
    assert told["set"] == f"One of these, perhaps: {', '.join(named)}"
    assert told["code"].endswith(report["answers"]["code"])
    assert told["label"] == report["answers"]["label"]
    own.page.click("summary")
    assert json.loads(own.page.locator("#exact").inner_text()) == report


def test_what_it_says_about_people_is_what_the_plan_promises(visit, tmp_path):
    schema = client_vectors.plain(2, 3)
    view = client_vectors.separate(schema, {"a0": "grr", "a1": "grr"}, 1.25)
    totals = {"a0": {"joint": 1.5}, "a1": {"joint": 1.25}}
    promises = {"a0": 2.0, "a1": 2.0}
    plan = dt.Plan(schema, (view,), promises, "joint", "utility", totals)
    own = visit(written(tmp_path, plan, words={"questions": {"a0": "First?"}})).answer()
    rows = own.page.locator("#means tr").all_inner_texts()
    assert rows == [f"First?\t{surety(1.5)}", f"a1\t{surety(1.25)}"]
    assert surety(2.5) in own.page.locator("#basis").inner_text()
    public = dt.Plan(
        schema,
        (view,),
        promises,
        "joint",
        "utility",
        {each: {"joint": 2.0} for each in schema.names},
    )
    assert survey_page.sure(public)["each"] == [[None, 88.1]]
    estimated = dt.Plan(schema, (view,), promises, "pairwise", "utility", {
        name: {"pairwise": 1.5} for name in schema.names
    })  # fmt: skip
    assert survey_page.sure(estimated)["basis"] == "estimate"


def test_it_speaks_german_and_whatever_it_is_given(visit, survey, tmp_path):
    own = visit(written(tmp_path, survey, language="de"))
    assert own.page.evaluate("document.documentElement.lang") == "de"
    assert own.page.locator("#next").inner_text() == "Meine Antworten durch Zufall verändern"
    own.answer()
    assert "," in own.page.locator("#means td").first.inner_text()
    both = json.loads(survey_page.asset("words.json"))
    assert list(both["en"]) == list(both["de"])
    for key, text in both["en"].items():
        assert parts(text) == parts(both["de"][key]), key


def test_any_language_that_has_all_words(visit, survey, tmp_path):
    words = json.loads(survey_page.asset("words.json"))["en"] | {
        "next": "Que le hasard change mes réponses"
    }
    own = visit(written(tmp_path, survey, language="fr-CA", words=words))
    assert own.page.locator("#next").inner_text() == words["next"]
    direction = "getComputedStyle(document.documentElement).direction"
    assert own.page.evaluate(direction) == "ltr"
    arabic = written(tmp_path, survey, language="ar", words=words | {"title": "استطلاع"})
    assert visit(arabic).page.evaluate(direction) == "rtl"
    with pytest.raises(ValueError, match="the language is 'fr_CA', expected a tag"):
        survey_page.page(survey, survey.to_json(), language="fr_CA", words=words)


def parts(text):
    """What a text leaves to be filled in."""
    return set(re.findall(r"\{\w+\}", text)) if isinstance(text, str) else text


@pytest.mark.parametrize(
    "how, said",
    [
        ({"language": "fr"}, "the language is 'fr', expected one of en, de"),
        ({"words": {"titel": "x"}}, "did you mean 'title'"),
        ({"words": {"title": 3}}, "the words have title 3, expected text"),
        ({"words": {"questions": {"hues": "x"}}}, "did you mean 'hue'"),
        ({"words": {"values": {"hue": {"red": "x"}}}}, "a value of 'hue' that is put into words is 'red'"),
        ({"words": {"values": {"hue": ["red"]}}}, "expected texts by label"),
        ({"words": {"questions": {"hue": 3}}}, "expected text"),
        ({"endpoint": "reports"}, "the endpoint is 'reports', expected a path"),
        ({"endpoint": "//other.example/"}, "expected a path"),
        ({"endpoint": "https://x; script-src *"}, "expected a path"),
        ({"endpoint": "http://survey.example/reports"}, "expected https"),
    ],
)  # fmt: skip
def test_what_a_page_cannot_be_made_of_is_refused(survey, how, said):
    with pytest.raises(ValueError, match=said):
        survey_page.page(survey, survey.to_json(), **how)


def test_the_policy_names_the_endpoint_and_nothing_else(survey):
    for endpoint, said in {
        "https://survey.example:8443/reports": "https://survey.example:8443/reports",
        "http://localhost:8000/reports": "http://localhost:8000/reports",
        "/reports": "'self'",
        None: "'none'",
    }.items():
        page = survey_page.page(survey, survey.to_json(), endpoint)
        assert f'connect-src {said}">' in page
        assert page.count("http-equiv") == 1


def test_a_page_with_a_key_needs_the_signature(visit, survey, tmp_path):
    pytest.importorskip("cryptography")
    survey.save(tmp_path / "plan.json")
    public = signatures.new_key(tmp_path / "own.pem")
    signature = signatures.sign(tmp_path / "plan.json", tmp_path / "own.pem").read_text()
    own = visit(written(tmp_path, survey, signed=(public, signature)))
    assert own.shown() == "ask"
    page = tmp_path / "survey.html"
    changed = page.read_text(encoding="utf-8").replace('\\"share\\": 0.5', '\\"share\\": 0.50')
    assert changed != page.read_text(encoding="utf-8")
    page.write_text(changed, encoding="utf-8")
    own = visit(page.as_uri())
    assert "signed by someone else" in own.page.locator("#problem").inner_text()


def test_it_can_be_used_without_a_mouse(visit, site):
    own = visit(f"{site[0]}/")
    page = own.page
    page.keyboard.press("Tab")
    for _ in range(own.page.locator("fieldset, select").count()):
        if page.evaluate("document.activeElement.tagName") == "SELECT":
            page.keyboard.press("ArrowDown")
        else:
            page.keyboard.press("Space")
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#review:not([hidden])")
    assert page.evaluate("document.activeElement.id") == "review-title"
    while page.evaluate("document.activeElement.id") != "send":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#done:not([hidden])")
    assert page.evaluate("document.activeElement.id") == "done-title"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_barrier_and_no_sideways_scrolling(visit, site, axe, scheme, width):
    size = {"width": width, "height": 844}
    own = visit(f"{site[0]}/", viewport=size, color_scheme=scheme, bypass_csp=True)
    page = own.page
    page.evaluate(axe)
    for step in ("ask", "wrong", "review", "done"):
        if step == "wrong":
            page.click("#next")
        if step == "review":
            own.answer()
            page.click("summary")
        if step == "done":
            own.send()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = page.evaluate("axe.run(document)")
        assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
        assert len(found["passes"]) > 10
    small = page.evaluate(
        """[...document.querySelectorAll("button, .choice, select")]
           .filter((each) => each.offsetParent && each.offsetHeight < 44).length"""
    )
    assert small == 0


def test_what_is_chosen_is_what_is_perturbed(visit, tmp_path):
    """At such a budget a report is the truth but for one in 10^25; also where a label is another value's name."""
    schema = dt.Schema(
        [
            *client_vectors.ODD,
            dt.Attribute("turned", ["1", "2", "3"], labels={"1": "3", "3": "1"}, missing="error"),
            dt.Attribute("grouped", ["A", "B", "C"], groups={"A": ["B", "C"], "rest": ["A"]}),
            dt.Attribute("(other)", ["(other)"], labels={"(other)": "own"}, unseen="other"),
            dt.Attribute("(missing)", ["(missing)", "a"], labels={"(missing)": "own"}),
        ]
    )
    view = client_vectors.separate(schema, dict.fromkeys(schema.names, "grr"), 60.0)
    own = visit(written(tmp_path, client_vectors.plan_of(schema, view)))
    for choice in range(3):
        own.page.evaluate("localStorage.clear()")
        own.page.reload()
        places = [min(choice, each.size - 1) for each in schema]
        for place in range(len(schema)):
            box = own.settled().page.locator("#questions > *").nth(place)
            if box.locator("select").count():
                box.locator("select").select_option(index=places[place] + 1)
            else:
                box.locator("input").nth(places[place]).check()
        own.page.click("#next")
        answers = own.kept()["report"]["answers"]
        expected = {each.name: each.values[code] for each, code in zip(schema, places, strict=True)}
        assert answers == expected
