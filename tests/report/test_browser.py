"""The page in a real browser: its numbers, its manners, and that it can be used without a mouse."""

import json
import math

import numpy as np
import pytest

import deptriad as dt
from deptriad.report import words
from deptriad.report.content import EXPLAINED_AT
from deptriad.report.rendering import rendered
from deptriad.utils import colours
from deptriad.utils.text import rounded_up

BUDGETS = [
    *(0.0, 1e-9, 1e-6, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5),
    *(0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 15.0, 19.99, 20.0),
]


class Visit:
    """A page that was opened, and everything it complained about or asked for."""

    def __init__(self, browser, path, **options):
        self.context = browser.new_context(accept_downloads=True, **options)
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def leakages(self):
        found = self.page.evaluate("[...document.getElementById('matrix').leakages]")
        side = round(len(found) ** 0.5)
        return np.array(found).reshape(side, side)


@pytest.fixture(scope="module")
def path(html, tmp_path_factory):
    place = tmp_path_factory.mktemp("page") / "report.html"
    place.write_text(html, encoding="utf-8")
    return place


@pytest.fixture
def visit(chromium, path):
    visit = Visit(chromium, path)
    yield visit
    visit.context.close()


def test_cells_are_what_the_analysis_says_at_20_budgets(visit, analysis):
    for epsilon in BUDGETS:
        visit.page.fill("#epsilon-number", repr(epsilon))
        said = np.asarray(analysis.leakage(epsilon))
        np.testing.assert_allclose(visit.leakages(), said, rtol=1e-9, atol=1e-12)
    assert visit.complaints == []


def test_moving_the_slider_changes_cells_number_and_words(visit, analysis):
    before = visit.leakages()
    visit.page.focus("#epsilon")
    for _ in range(3):
        visit.page.keyboard.press("ArrowRight")
    epsilon = float(visit.page.input_value("#epsilon-number"))
    assert epsilon > 1.0
    after = visit.leakages()
    assert (after != before).any()
    np.testing.assert_allclose(after, np.asarray(analysis.leakage(epsilon)), rtol=1e-9)


def test_what_is_read_is_rounded_up(visit, analysis):
    visit.page.click("label:has(input[value=nats])")
    for epsilon in (0.3, 1.0, 4.0):
        visit.page.fill("#epsilon-number", str(epsilon))
        texts = visit.page.locator("#matrix td").all_inner_texts()
        for text, number in zip(texts, np.asarray(analysis.leakage(epsilon)).flat, strict=True):
            assert 0 <= float(text) - number + 1e-12 <= 1e-3
            if number >= 0.1:
                assert text == rounded_up(number)


def test_odds_are_the_powers_of_e_rounded_up(visit, analysis):
    visit.page.fill("#epsilon-number", "2")
    texts = visit.page.locator("#matrix td").all_inner_texts()
    for text, number in zip(texts, np.asarray(analysis.leakage(2.0)).flat, strict=True):
        assert 0 <= float(text) - np.exp(number) + 1e-12 <= 0.01


def test_hostile_names_are_inert_text(visit, records):
    page = visit.page
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert page.evaluate("'hacked' in window") is False
    assert page.locator("img, main b[onmouseover], iframe").count() == 0
    shown = page.locator("body").inner_text()
    assert next(iter(records.columns)) in shown  # </script><img …
    assert "<img src=x onerror=hacked>.csv" in shown
    assert "<b onmouseover=alert(1)>&lt;b&gt;" in page.locator("#schema").inner_text()
    for row in range(len(records.columns)):
        page.locator("#matrix tbody tr").nth(row).locator("td").nth((row + 1) % 4).click()
    assert page.evaluate("'hacked' in window") is False
    assert visit.complaints == []


def test_nothing_is_asked_for_and_nothing_complains(visit):
    page = visit.page
    for selector in ("#theme", "#swap", "#matrix td >> nth=2", "#strongest button >> nth=1"):
        page.click(selector)
    for selector in ("#get-plan", "#get-triads", "#get-schema"):
        with page.expect_download():
            page.click(selector)
    assert visit.complaints == []
    assert [url for url in visit.requests if not url.startswith("blob:")] == [page.url]


def test_the_policy_stops_code_made_of_text(visit):
    assert (
        visit.page.evaluate(
            """() => { const script = document.createElement("script");
           script.textContent = "window.ran = true"; document.body.append(script);
           return "ran" in window; }"""
        )
        is False
    )
    assert any("Content Security Policy" in each for each in visit.complaints)


def test_keys_move_through_the_cells_and_enter_chooses(visit, analysis):
    page = visit.page
    page.focus("#matrix td[tabindex='0']")
    for key in ("Control+Home", "ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.place") == {"source": 1, "target": 2}
    assert page.locator("#matrix td[tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    assert page.evaluate("document.getElementById('source').selectedIndex") == 1
    assert page.evaluate("document.getElementById('target').selectedIndex") == 2
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.startswith("__proto__ released, about abc")
    page.wait_for_timeout(600)  # it speaks once things have come to rest
    assert "Released with ε = 1, __proto__ moves" in page.locator("#live").text_content()
    for key in ("ArrowLeft",) * 9:
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.place") == {"source": 1, "target": 0}


def test_words_name_the_values_that_give_a_pair_away(visit, analysis):
    page = visit.page
    for place, (source, target) in enumerate(analysis.pairs[:6]):
        page.select_option("#source", index=analysis.schema.index(source))
        page.select_option("#target", index=analysis.schema.index(target))
        for epsilon in EXPLAINED_AT:
            page.fill("#epsilon-number", str(epsilon))
            found = analysis.where(source, target, epsilon)
            said = f"= {', '.join(found.value_labels)} raises the odds of "
            said += f"{page.locator('#target option:checked').text_content()} = "
            said += f"{found.pair_labels[0]} over {found.pair_labels[1]}."
            assert said in page.locator("#why").inner_text(), place


def test_the_same_answer_twice_swaps_the_pair(visit):
    page = visit.page
    page.select_option("#source", index=0)
    page.select_option("#target", index=3)
    page.select_option("#target", index=0)
    chosen = "[...document.querySelectorAll('.choose select')].map(each => each.selectedIndex)"
    assert page.evaluate(chosen) == [3, 0]
    page.click("#swap")
    assert page.evaluate(chosen) == [0, 3]


def test_the_promise_rereads_the_plans(visit, html):
    page = visit.page
    held = json.loads(page.locator("#data").text_content())
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.focus("#promise")
    page.keyboard.press("End")
    page.click("label:has(input[value=nats])")
    last = held["promises"][-1]
    assert "at most 100 %" in page.inner_text("#promised")  # of a promise of 8: 99.97 %, rounded up
    assert last["verdict"] == page.inner_text("#verdict")
    views = page.locator("#views tbody tr, #rest tbody tr")
    assert views.count() == len(last["views"])
    for place, view in enumerate(last["views"]):
        cells = views.nth(place).locator("th, td").all_inner_texts()
        assert all(held["names"][asked] in cells[0] for asked in view["asked"])
        assert 0 <= 100 * view["share"] - float(cells[1].split()[0]) < 0.1
        said = cells[2].split("ε = ")[1].split(", ")
        for budget, text in zip(view["budgets"], said, strict=True):
            assert 0 <= budget - float(text) < 1e-3  # budgets are rounded down
    told = page.locator("#told tbody tr")
    for place, total in enumerate(last["totals"]):
        text = told.nth(place).locator("td").nth(1).inner_text()
        assert 0 <= float(text) - total + 1e-12 <= 1e-3  # bounds are rounded up
    once = last["once"]
    totals = page.locator("#totals-table tbody tr")
    for place, certified in enumerate(once["certified"]):
        budget, _, _, _, text = totals.nth(place).locator("td").all_inner_texts()[:5]
        assert 0 <= float(text) - certified + 1e-12 <= 1e-3
        assert 0 <= once["budgets"][place] - float(budget) < 1e-3
    levels = page.locator("#levels-table tbody tr")
    for place, joint in enumerate(once["levels"]["joint"]):
        bounds = [float(text) for text in levels.nth(place).locator("td").all_inner_texts()]
        expected = (once["certified"][place], once["levels"]["pairs"][place], joint)
        for text, bound in zip(bounds[:3], expected, strict=True):
            assert 0 <= text - bound + 1e-12 <= 1e-3


def test_a_unit_is_the_same_everywhere(visit):
    page = visit.page
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")

    def lines():  # of all but what explains both units, and ratios of variances
        parts = ("#promised", "#told", "#pairs", "#once", ".slide", ".field .soft")
        every = [page.locator(part).all_inner_texts() for part in parts]
        first, _, _ = page.locator("#figures > div").all_inner_texts()
        return "\n".join([first, *(text for texts in every for text in texts)]).splitlines()

    assert not [line for line in lines() if "log-odds" in line]
    page.click("label:has(input[value=nats])")
    in_nats = lines()
    assert sum("log-odds" in line for line in in_nats) > 3
    assert not [line for line in in_nats if " times" in line or "×" in line]


def test_downloads_are_read_by_the_library(visit, analysis, tmp_path):
    files = {}
    for what in ("plan", "triads", "schema"):
        with visit.page.expect_download() as waiting:
            visit.page.click(f"#get-{what}")
        files[what] = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(files[what])
    assert dt.Plan.load(files["plan"]).views == dt.calibrate(analysis, 2.5).views
    assert dt.Schema.load(files["schema"]) == analysis.schema
    loaded = dt.Analysis.load(files["triads"])
    assert loaded.schema == analysis.schema
    for name in ("alpha", "beta", "phi", "delta"):
        assert getattr(loaded.numbers, name).tolist() == getattr(analysis.numbers, name).tolist()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_serious_barrier_and_no_sideways_scrolling(chromium, path, axe, scheme, width):
    size = {"width": width, "height": 844}
    visit = Visit(chromium, path, viewport=size, color_scheme=scheme, bypass_csp=True)
    page = visit.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(axe)
    found = page.evaluate("axe.run(document)")
    serious = [
        (each["id"], each["nodes"][0]["html"], each["nodes"][0]["failureSummary"])
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []
    assert len(found["passes"]) > 20
    visit.context.close()


def test_the_theme_follows_the_system_until_it_is_chosen(chromium, path):
    visit = Visit(chromium, path, color_scheme="dark")
    page = visit.page
    paper = "getComputedStyle(document.body).backgroundColor"
    cell = "document.querySelectorAll('#matrix td')[1].style.backgroundColor"
    dark = page.evaluate(paper), page.evaluate(cell)
    page.click("#theme")
    light = page.evaluate(paper), page.evaluate(cell)
    assert dark[0] != light[0]
    assert dark[1] != light[1]
    page.click("#theme")
    assert (page.evaluate(paper), page.evaluate(cell)) == dark
    visit.context.close()


def made_up(number):
    """Content of a page with many attributes, without the minutes that its plans would take.

    Any leakages will do, since what is looked at is where and how they stand: the same ones each time.
    """
    rng = np.random.default_rng(30)
    pairs = number * (number - 1)
    delta = rng.uniform(0, 0.1, pairs)
    phi = delta + rng.uniform(0, 0.5, pairs)
    numbers = [1.0] * number
    once = {"budgets": numbers, "attained": None, "levels": None}
    once |= dict.fromkeys(("paired", "pairwise", "certified"), numbers)
    view = {"asked": [0, 1], "joint": True, "share": 0.5, "budgets": [3.0], "mechanisms": ["grr"]}
    promise = {"total": 3.0, "views": [view] * 2, "totals": numbers, "errors": numbers}
    promise |= {
        "best": ["one pair", 1.5, 2.0],
        "rivals": [["one pair", 1.5, 2.0], ["other", 3.0, math.inf]],
    }
    promise |= {"worth": "w", "verdict": "v", "once": once, "file": "{}"}
    names = [f"attribute {i}" for i in range(number)]
    return {
        "made": {"version": "0", "date": "2000-01-01"},
        "file": None,
        "records": None,
        "threshold": 10,
        "names": names,
        "heads": names,
        "schema": [{"name": name, "kind": "text", "values": ["a", "b"]} for name in names],
        "triads": {
            "alpha": rng.uniform(2, 5, pairs).tolist(),
            "beta": [None] * pairs,
            "phi": phi.tolist(),
            "delta": delta.tolist(),
        },
        "curves": None,
        "explained": [[[1.0, 0, 1, [0]]]] * pairs,
        "promises": [promise],
        "asked": 0,
        "unplanned": "",
        "users": 1000,
        "certainty": {"title": "t", "means": "m", "guarantees": "g"},
        "caveats": [],
        "changes": [],
        "files": {"schema": "{}", "analysis": "{", "names": names},
    }


@pytest.fixture
def visit_of(chromium, tmp_path):
    """Opens a page with made-up content."""
    visits = []

    def open_(content, **options):
        (tmp_path / "made-up.html").write_text(rendered(content), encoding="utf-8")
        visits.append(Visit(chromium, tmp_path / "made-up.html", **options))
        return visits[-1].page

    yield open_
    for each in visits:
        each.context.close()


def test_long_names_are_cut_where_they_would_bury_the_rest(visit_of):
    content = made_up(3)
    content["names"] = ["x" * 2000, "second", "third"]
    content["schema"][0] |= {"name": "x" * 2000, "values": ["y" * 2000, "z"]}
    page = visit_of(content, viewport={"width": 390, "height": 844})
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    for part in ("#figures", "#strongest", "#detail", "#views", "#told", "#totals-table"):
        assert "x" * 61 not in page.locator(part).inner_text()
    assert "y" * 61 not in page.locator("#why").inner_text()
    assert "x" * 2000 in page.locator("#schema").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_names_that_begin_alike_are_told_apart_beside_the_matrix(visit_of):
    content = made_up(3)
    names = ["sex", *(f"unmet_need_for_{kind}_care" for kind in ("medical", "dental"))]
    page = visit_of(content | {"names": names, "heads": words.heads(names)})
    for place in ("#matrix tbody th", "#matrix thead th:not(.corner)"):
        found = page.locator(place)
        assert found.all_inner_texts() == ["sex", "unme…medical…", "unme…dental_…"]
        assert [each.get_attribute("aria-label") for each in found.all()] == names


def test_names_from_right_to_left_keep_the_order_of_a_pair(visit_of):
    content = made_up(2)
    content["names"] = ["\u05d0\u05d1\u05d2", "\u05d3\u05d4\u05d5"]
    page = visit_of(content)
    for place in ("#strongest button >> nth=0", "#views tbody tr >> nth=0"):
        source, target = page.locator(place).locator("bdi").all()
        assert source.bounding_box()["x"] < target.bounding_box()["x"]


def test_a_chosen_pair_is_brought_into_view(visit_of):
    page = visit_of(made_up(20), viewport={"width": 1280, "height": 700})
    page.locator("#pairs-title").evaluate("each => each.scrollIntoView({ behavior: 'instant' })")
    seen = """() => { const { top, bottom } = document.getElementById("says").getBoundingClientRect();
                       return top >= 0 && bottom <= innerHeight; }"""
    assert not page.evaluate(seen)
    page.click("#matrix td >> nth=1")
    page.wait_for_function(seen)


def test_small_leakages_have_axes_to_read(visit_of):
    content = made_up(2)
    content["triads"] |= {"alpha": [0.03, 0.02], "phi": [4e-5, 3e-5], "delta": [0.0, 0.0]}
    page = visit_of(content)
    labels = page.locator("#leakage-chart text[text-anchor=end]").all_text_contents()
    assert len(set(labels)) == len(labels) > 2


@pytest.mark.parametrize("refused", ["-3", "20.01", "1000"])
def test_what_is_no_budget_is_refused_and_does_not_stay_in_the_box(visit, refused):
    page = visit.page
    before = visit.leakages()
    page.fill("#epsilon-number", refused)
    assert page.inner_text("#epsilon-refused") == "A budget is a number from 0 to 20."
    assert (visit.leakages() == before).all()
    page.locator("#epsilon-number").blur()
    assert page.input_value("#epsilon-number") == "1"
    page.fill("#epsilon-number", "20")
    assert page.inner_text("#epsilon-refused") == ""
    assert page.input_value("#epsilon") == "1000"


@pytest.mark.parametrize(("width", "cut"), [(1280, False), (390, True)])
def test_no_row_or_column_is_hidden_without_a_word(visit_of, width, cut):
    page = visit_of(made_up(29), viewport={"width": width, "height": 844})
    seen = """() => { const place = (each) => each.getBoundingClientRect();
        const { right, bottom } = place(document.getElementById("matrix-scroll"));
        const cells = [...document.querySelectorAll("#matrix tr :last-child")].map(place);
        return cells.every((cell) => cell.right <= right + 1 && cell.bottom <= bottom + 1); }"""
    assert page.evaluate(seen) is not cut
    assert ("Scroll the matrix" in page.inner_text("#cut")) is cut
    if cut:
        assert "of 29" in page.inner_text("#cut")
        assert "more-right" in page.get_attribute("#frame", "class").split()


@pytest.mark.parametrize("number", [13, 29])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_selected_cell_comes_into_sight_and_its_heads_stay(visit_of, width, number):
    page = visit_of(made_up(number), viewport={"width": width, "height": 600})
    in_sight = """() => {
        const [cell, corner, row, column] = ["td[aria-selected=true]", ".corner", "tbody .on", "thead .on"]
            .map((each) => document.querySelector(`#matrix ${each}`).getBoundingClientRect());
        const box = document.getElementById("matrix-scroll").getBoundingClientRect();
        return cell.left >= corner.right - 1 && cell.right <= box.right + 1
            && cell.top >= corner.bottom - 1 && cell.bottom <= box.bottom + 1
            && row.left >= box.left - 1 && column.top >= box.top - 1; }"""
    for source, target in ((number - 1, number - 2), (0, number - 1), (number - 1, 0), (0, 1)):
        page.select_option("#source", index=source)
        page.select_option("#target", index=target)
        assert page.evaluate(in_sight), (source, target)


def test_the_page_says_where_it_did_not_look(visit_of):
    content = made_up(3)
    first = content["promises"][0]
    searched = first | {"total": 5.0, "once": first["once"] | {"attained": [1.0] * 3}}
    content |= {"promises": [first, searched], "asked": 1, "unplanned": "8, did not fit 60 seconds"}
    page = visit_of(content)
    assert (
        page.inner_text("#planned")
        == "Planned for promises of 3, 5. Others, 8, did not fit 60 seconds."
    )
    assert "looked for" not in page.locator("#kept").inner_text()
    page.focus("#promise")
    page.keyboard.press("Home")
    assert "looked for under a promise of 5 only" in page.inner_text("#kept")


@pytest.mark.parametrize(
    ("best", "said"),
    [
        ((1.5, 2.0), "2.00× fewer people"),
        ((3.0, 0.5), "3.00× fewer people"),
        ((1.01, 1.0), "nothing here"),
        ((0.5, 0.9), "nothing here"),
        ((1.5, math.nan), "1.50× fewer people"),
    ],
)
def test_what_dependence_buys_is_said_also_where_it_is_nothing(visit_of, best, said):
    content = made_up(3)
    content["promises"][0]["best"] = ["one pair", *best]
    figures = visit_of(content).inner_text("#figures")
    assert said in figures
    assert ("is as good for the same promise" in figures) is (best == (1.01, 1.0))
    assert ("0.50×" in figures) is (0.5 in best)


def test_a_page_without_a_plan_for_everything_at_once_has_no_such_part(visit_of):
    content = made_up(3)
    content["promises"][0]["once"] = None
    page = visit_of(content)
    assert page.locator("#once").is_hidden()


def test_with_one_plan_there_is_nothing_to_move(visit_of, visit):
    page = visit_of(made_up(3))
    for place in ("#promise", "#promise-ticks", "#move"):
        assert page.locator(place).is_hidden()
        assert visit.page.locator(place).is_visible()
    assert page.inner_text("#promise-number") == "20.1×"


MOVES = """async () => {
    const slider = document.getElementById("epsilon"), took = [];
    for (let place = 100; place <= 900; place += 100) {
        await new Promise(requestAnimationFrame);
        const start = performance.now();
        slider.value = place;
        slider.dispatchEvent(new Event("input"));
        document.getElementById("matrix").getBoundingClientRect();
        took.push(performance.now() - start);
    }
    return took.sort((a, b) => a - b);
}"""


SHADES = """() => {
    const canvas = document.getElementById("pixels");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return Array.from({ length: data.length / 4 }, (_, i) => data[4 * i]);
}"""


def test_with_100_attributes_the_slider_answers_within_a_tenth_of_a_second(chromium, tmp_path):
    content = made_up(100)
    (tmp_path / "many.html").write_text(rendered(content), encoding="utf-8")
    visit = Visit(chromium, tmp_path / "many.html")
    took = visit.page.evaluate(MOVES)
    print(f"milliseconds a move: {took}")
    assert took[len(took) // 2] < 100.0
    visit.page.fill("#epsilon-number", "1.3")
    triads = content["triads"]
    triad = dt.Triad(alpha=triads["alpha"], phi=triads["phi"], delta=triads["delta"])
    off = ~np.eye(100, dtype=bool)
    shades = visit.page.evaluate(SHADES)
    order = np.argsort(visit.leakages()[off])
    assert (np.diff(np.array(shades).reshape(100, 100)[off][order]) <= 0).all()  # more is darker
    np.testing.assert_allclose(visit.leakages()[off], triad.leakage(1.3), rtol=1e-9)
    assert visit.complaints == []
    visit.context.close()


def test_ink_on_every_cell_colour_can_be_read(visit):
    contrasts = visit.page.evaluate(
        """() => {
            const light = (text) => {
                const [r, g, b] = text.match(/[0-9]+/g).map((c) => {
                    const part = c / 255;
                    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
                });
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const slider = document.getElementById("epsilon"), found = [];
            for (let place = 0; place <= 1000; place += 50) {
                slider.value = place;
                slider.dispatchEvent(new Event("input"));
                for (const cell of document.querySelectorAll("#matrix td:not(.own)")) {
                    const style = getComputedStyle(cell);
                    const pair = [light(style.color), light(style.backgroundColor)].sort((a, b) => a - b);
                    found.push((pair[1] + 0.05) / (pair[0] + 0.05));
                }
            }
            return found;
        }"""
    )
    assert min(contrasts) >= 4.5
    assert len(colours.SEQUENTIAL) == 9
