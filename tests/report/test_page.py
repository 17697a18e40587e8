"""The page as text: what is in it, what is not, and that names stay data."""

import base64
import hashlib
import json
import math
import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest

import deptriad as dt
from deptriad import report
from deptriad.report import promises, words
from deptriad.report.content import _digits, content
from deptriad.report.rendering import inert, rendered
from deptriad.utils import colours


class Elements(HTMLParser):
    """All elements of a page, with the text of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self._open = [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._open = f"{tag} {dict(attributes).get('id', '')}".strip()

    def handle_data(self, data):
        if self._open in ("script", "script data", "style"):
            self.texts[self._open] = self.texts.get(self._open, "") + data

    def handle_endtag(self, tag):
        self._open = None


@pytest.fixture(scope="module")
def parsed(html):
    return Elements(html)


@pytest.fixture(scope="module")
def held(parsed):
    return json.loads(parsed.texts["script data"])


def test_names_are_in_the_data_and_nowhere_else(html, parsed, held, records):
    assert [each["name"] for each in held["schema"]] == held["names"]
    assert held["files"]["names"] == list(records.columns)
    assert "onerror" not in html.replace(parsed.texts["script data"], "")
    assert not any(tag in ("img", "b", "iframe") for tag, _ in parsed.elements)
    assert not set("<>&") & set(parsed.texts["script data"])
    assert parsed.texts["script data"].isascii()


def test_control_signs_are_written_out(held):
    assert held["names"][2] == "abc\\u202edef\\x1b[31m"


def test_of_a_path_only_the_name_is_shown(html, held):
    assert held["file"] == "<img src=x onerror=hacked>.csv"
    assert "somebody-s-folder" not in html


def test_policy_allows_these_texts_and_nothing_else(parsed):
    (policy,) = [
        attributes["content"]
        for tag, attributes in parsed.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for rule, text in (("script-src", "script"), ("style-src", "style")):
        digest = hashlib.sha256(parsed.texts[text].encode()).digest()
        assert rules[rule] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert "unsafe" not in policy
    assert rules["img-src"] == "data:"


def test_nothing_is_loaded_and_nothing_is_inline(parsed):
    for _, attributes in parsed.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("src", "href", "action"):
            assert attributes.get(name, "#").startswith(("#", "data:,"))
    assert not re.search(r"\beval\b|new Function|innerHTML|insertAdjacent", parsed.texts["script"])


@pytest.mark.parametrize("text", ["</script>", "<!--", "a&b", "\u2028\u2029", "\ud800", "]]>"])
def test_data_cannot_end_its_element_and_comes_back(text):
    made = inert({"text": text})
    assert made.isascii()
    assert not set("<>&") & set(made)
    assert json.loads(made) == {"text": text}


def test_a_template_mark_in_the_data_is_left_alone(held):
    again = rendered(held | {"file": "@@script@@"})
    assert json.loads(Elements(again).texts["script data"])["file"] == "@@script@@"


# --- numbers -----------------------------------------------------------------------------------------------------


def test_triads_are_the_analysis_to_the_last_bit(held, analysis):
    for name in ("alpha", "phi", "delta"):
        assert held["triads"][name] == getattr(analysis.numbers, name).tolist()
    assert [float(value) for value in held["triads"]["beta"]] == analysis.numbers.beta.tolist()


def test_curves_bound_the_exact_leakage_closely(held, analysis):
    budgets = np.array([0.01, 0.3, 1.0, 3.0, 10.0])
    for pair, lines in zip(analysis.pairs, held["curves"], strict=True):
        gap, lower = np.array(lines).T
        curve = np.log1p(gap[:, None] / (1 / np.expm1(budgets) + lower[:, None])).max(axis=0)
        exact = analysis.profile(*pair).leakage(budgets)
        assert (curve >= exact * (1 - 1e-12)).all()
        np.testing.assert_allclose(curve, exact, rtol=3e-5, atol=1e-9)


def test_digits_are_rounded_outward(rng):
    for number in [0.0, 1.0, 1e-300, 0.999999999, *(10 ** rng.uniform(-12, 0, 200))]:
        assert number <= _digits(number, up=True) <= number * (1 + 2e-5)
        assert number * (1 - 2e-5) <= _digits(number, up=False) <= number


def test_explanations_are_those_of_where(held, analysis):
    for pair, entries in zip(analysis.pairs, held["explained"], strict=True):
        for epsilon, more, less, values in entries:
            found = analysis.where(*pair, epsilon)
            about = analysis.schema[pair[1]].values
            assert (about[more], about[less]) == found.pair_labels
            assert tuple(values) == found.values


def test_plans_keep_their_promises_and_are_what_calibrate_says(held, analysis):
    totals = [each["total"] for each in held["promises"]]
    assert totals == sorted({*promises.PROMISES, 2.5})
    assert totals[held["asked"]] == 2.5
    for each in held["promises"]:
        assert max(each["certified"]) <= each["total"]
        assert len(each["attained"]) == len(analysis.names)
        assert (np.array(each["attained"]) <= np.array(each["certified"]) + 1e-9).all()
        part = each["splitting"]["budget"]
        assert part == each["total"] / len(analysis.names)
        split = analysis.totals(part)
        assert each["splitting"]["certified"] == [total.certified for total in split.values()]
    plan = dt.calibrate(analysis, 2.5)
    asked = held["promises"][held["asked"]]
    assert asked["budgets"] == list(plan.budgets.values())
    assert asked["file"] == plan.to_json() + "\n"


def test_many_attributes_get_fewer_promises():
    assert promises.promises_of(2.0, 100) == sorted({*promises.FEWER_PROMISES, 2.0})


@pytest.mark.parametrize("total", [0.0, -1.0, math.inf, math.nan, "3", [1.0, 2.0]])
def test_a_total_that_cannot_be_is_refused(total):
    with pytest.raises(ValueError, match="total is"):
        promises.promises_of(total, 4)


def test_a_loaded_analysis_has_no_tables_to_plan_with(analysis, tmp_path):
    analysis.save(tmp_path / "analysis.json")
    with pytest.raises(ValueError, match="analyze the prior again"):
        report.page(dt.Analysis.load(tmp_path / "analysis.json"))


# --- what must not be in it ----------------------------------------------------------------------------------------

KEYS = {
    *("made", "file", "records", "threshold", "names", "schema", "triads", "curves", "explained"),
    *("promises", "asked", "users", "certainty", "caveats", "changes", "files", "scale"),
}


def test_no_records_and_no_small_counts(held, html, analysis):
    assert set(held) == KEYS
    (thin,) = analysis.prior.thin
    assert thin.records == 7
    assert held["changes"] == ["fourth = rare: fewer than 10 records, kept"]
    assert not re.search(r"\b7 records", html)
    # nowhere a list as long as the data, or a table of counts
    assert max(map(len, lists_in(held))) < 50


def lists_in(value):
    if isinstance(value, list):
        yield value
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inside:
        yield from lists_in(each)


def test_a_column_that_is_no_attribute_is_not_in_it(records):
    secret = records.assign(secret=[f"person-{i}" for i in range(len(records))])
    schema = dt.Schema.infer(records)
    with pytest.warns(UserWarning, match="fewer than 20"):
        analysis = dt.analyze(dt.Prior.from_data(secret, schema))
    assert "person-" not in report.page(analysis, 1.0, records=secret)


@pytest.mark.parametrize("number, said", [(9, "fewer than 10"), (10, "10"), (12345, "12,345")])
def test_counts_below_the_threshold_are_not_told(number, said):
    assert words.count(number, 10) == said


def test_the_threshold_is_stated_and_can_be_moved(analysis, monkeypatch):
    monkeypatch.setattr(promises, "PROMISES", ())
    made = content(analysis, 1.0, min_count=1000)
    assert made["threshold"] == 1000
    assert made["records"] == "fewer than 1,000"


def test_what_it_rests_on_is_said(records, monkeypatch):
    monkeypatch.setattr(promises, "PROMISES", ())
    with pytest.warns(UserWarning, match="no schema was given"):
        prior = dt.Prior.from_data(records)
    with pytest.warns(UserWarning, match="no guarantee"):
        chosen = dt.analyze(prior, dt.Confidence(0.9))
    made = content(chosen, 1.0)
    assert made["certainty"]["guarantees"].startswith("No guarantee")
    assert any("chosen by looking at the data itself" in each for each in made["caveats"])
    assert made["promises"][0]["attained"] is None


def test_blank_names_and_labels_can_be_seen():
    assert [words.label(text) for text in ("", "  ", "a b")] == ["“”", "“  ”", "a b"]


@pytest.mark.parametrize("thin, said", [("keep", "single people"), ("drop", "not protected")])
def test_what_became_of_thin_values_is_a_caveat(records, thin, said):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prior = dt.Prior.from_data(records, dt.Schema.infer(records), thin=thin)
    assert any(said in each for each in words.caveats(dt.analyze(prior)))


@pytest.mark.parametrize("kind", [dt.Relative(0.1), dt.Absolute(0.01), dt.Confidence(0.9)])
def test_every_uncertainty_has_a_title(analysis, kind):
    found = words.certainty(dt.analyze(analysis.prior, kind))
    assert found["title"].startswith("Allowed for: ")


def test_a_prior_from_reports_has_a_page_without_a_number_of_records(monkeypatch):
    monkeypatch.setattr(promises, "PROMISES", ())
    schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in ("a", "b")])
    split = dt.Split(schema, total=4.0)
    reports = dt.simulate([[400, 100], [50, 450]], split, np.random.default_rng(1))
    made = content(dt.analyze(dt.Prior.from_reports(reports, split), dt.Confidence(0.9)), 1.0)
    assert made["records"] is None
    assert any("perturbed reports" in each for each in made["caveats"])


def test_progress_reaches_its_end(analysis, monkeypatch):
    monkeypatch.setattr(promises, "PROMISES", ())
    steps = []
    content(analysis, 1.0, progress=lambda done, total: steps.append((done, total)))
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert steps[-1][0] == steps[-1][1]


def test_the_file_is_written_whole_with_its_folders(analysis, tmp_path, monkeypatch):
    monkeypatch.setattr(promises, "PROMISES", ())
    out = tmp_path / "new" / "report.html"
    report.write(analysis, out, 1.0)
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [path.name for path in out.parent.iterdir()] == ["report.html"]


# --- colours -----------------------------------------------------------------------------------------------------


def luminance(colour):
    each = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    linear = np.where(each <= 0.04045, each / 12.92, ((each + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_the_scale_only_gets_darker():
    steps = np.diff([luminance(colour) for colour in colours.SEQUENTIAL])
    assert (steps < 0).all()


@pytest.mark.parametrize(
    "roles, background", [(colours.ROLES, "#fbfaf7"), (colours.ROLES_ON_DARK, "#11141a")]
)
def test_marks_stand_out_from_their_background(roles, background):
    for colour in roles.values():
        low, high = sorted([luminance(colour), luminance(background)])
        assert (high + 0.05) / (low + 0.05) >= 3.0
