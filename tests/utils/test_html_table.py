"""Results in a notebook: tables of HTML with the numbers that are printed, and labels that stay text."""

import math
from html.parser import HTMLParser

import numpy as np
import pytest

import deptriad as dt
from deptriad.planning.witnessed import Check, Checked
from deptriad.utils import html_table

pd = pytest.importorskip("pandas")
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "$x^2$ & <b>", "\x1b[31m"]
KNOWN = {"div", "p", "table", "thead", "tbody", "tr", "th", "td", "pre"}


class Page(HTMLParser):
    """The cells of all tables, the text outside them, and a check that all is well-formed and harmless."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.rows, self.lines, self.classes = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert tag in KNOWN
        assert {name for name, _ in attributes} <= {"class", "style", "scope"}
        if not self.open:
            self.classes.append(dict(attributes).get("class"))
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag in ("p", "pre"):
            self.lines.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        else:
            assert self.open[-1] in ("p", "pre")
            self.lines[-1] += data


def shown(result):
    page = Page(result._repr_html_())
    assert set(page.classes) == {"tex2jax_ignore mathjax_ignore"}  # no mathematics between two $
    return page


def words(lines):
    return [line.split() for line in lines]


@pytest.fixture
def analysis(rng):
    answers = rng.integers(0, 2, (400, len(HOSTILE)))
    lean = rng.random(answers.shape) < 0.5
    frame = pd.DataFrame(np.where(lean, answers[:, :1], answers), columns=HOSTILE)
    return dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))


LABELS = [*HOSTILE[:3], r"\x1b[31m"]


@pytest.fixture
def wide(monkeypatch):
    """Nothing that is printed is cut to a terminal's width, as nothing is in a notebook."""
    monkeypatch.setenv("COLUMNS", "500")


@pytest.mark.usefixtures("wide")
def test_a_matrix_shows_every_leakage_as_it_is_printed(analysis):
    matrix = analysis.leakage({name: (i + 1) / 2 for i, name in enumerate(HOSTILE)})
    page = shown(matrix)
    assert page.rows[0][1:] == LABELS
    assert [row[0] for row in page.rows[1:]] == LABELS
    printed = [line.split()[-len(HOSTILE) :] for line in repr(matrix).splitlines()[2:]]
    assert [row[1:] for row in page.rows[1:]] == printed


def test_cells_are_shaded_by_the_share_of_the_budget():
    values = np.array([[2.0, 0.0], [1.0, 1.0]])
    text = dt.LeakageMatrix(("a", "b"), values)._repr_html_()
    assert "background:#f7f6e3;color:#000" in text  # nothing of 2
    assert "background:#1b2a5e;color:#fff" in text  # all of 1
    assert text.count("background:") == 2  # own budgets are no leakage


def test_a_large_matrix_shows_the_largest(rng):
    values = rng.random((50, 50))
    np.fill_diagonal(values, 1.0)
    names = tuple(f"a{i}" for i in range(50))
    page = shown(dt.LeakageMatrix(names, values))
    others = np.sort(values[~np.eye(50, dtype=bool)])[::-1]
    found = [values[names.index(row[0]), names.index(row[1])] for row in page.rows[1:]]
    assert found == others[: len(found)].tolist()
    assert len(found) == 30


def test_an_analysis_shows_its_worst_leaks(analysis):
    page = shown(analysis)
    worst = analysis.worst(10, 1.0)
    place = dict(zip(HOSTILE, LABELS, strict=True))
    assert [row[:2] for row in page.rows[1:]] == [[place[x.source], place[x.target]] for x in worst]
    for row, leak in zip(page.rows[1:], worst, strict=True):
        assert 0 <= float(row[6]) - leak.leakage < 1e-3
        assert 0 <= float(row[7].removesuffix(" times")) - math.exp(leak.leakage) < 1e-3
    assert page.lines[0] == repr(analysis).splitlines()[0]


def test_totals_show_what_is_printed_and_the_odds(analysis):
    totals = analysis.totals(1.0)
    page = shown(totals)
    printed = repr(totals).splitlines()
    assert page.lines == printed[: printed.index("")]
    for row, line, total in zip(page.rows[2:], printed[-4:], totals.values(), strict=True):
        assert [*row[1:6], *row[6].split()] == line.split()[-7:]
        assert 0 <= float(row[7].removesuffix(" times")) - math.exp(total.certified) < 1


@pytest.mark.usefixtures("wide")
def test_a_plan_and_its_comparison_show_what_is_printed(analysis):
    plan = dt.calibrate(analysis, 3.0, views="all")
    for result in (plan, plan.compare()):
        page = shown(result)
        printed = words(repr(result).splitlines())
        cells = [" ".join(row).split() for row in page.rows]
        assert sorted(line for line in printed if line) == sorted([*words(page.lines), *cells])


def test_a_check_shows_what_is_printed():
    found = Check([Checked(HOSTILE[0], 1.0, 2.5, 3.5, 3.4, 3.0)])
    page = shown(found)
    assert page.rows[1] == [HOSTILE[0], "1.000", "2.500", "3.500", "97 %", "3.400", "3", "BROKEN"]
    assert page.lines == repr(found).splitlines()[:1]


def marginal(*sizes):
    shape = tuple(sizes)
    share = np.arange(1.0, math.prod(shape) + 1).reshape(shape) / 100
    names = tuple(HOSTILE[: len(shape)])
    values = tuple(tuple(f"<{v}>" for v in range(size)) for size in shape)
    return dt.Marginal(names, values, share, share / 10, share, 1000)


def test_marginals_show_shares_and_errors():
    one, two, three = (shown(marginal(*sizes)).rows for sizes in ((2,), (2, 3), (2, 2, 2)))
    assert one == [
        [HOSTILE[0], "share ± standard error"],
        ["<0>", "0.0100 ± 0.0010"],
        ["<1>", "0.0200 ± 0.0020"],
    ]
    assert two[0][1:] == ["<0>", "<1>", "<2>"]
    assert two[2] == ["<1>", "0.0400 ± 0.0040", "0.0500 ± 0.0050", "0.0600 ± 0.0060"]
    assert three[3] == ["<0>", "<1>", "<0>", "0.0300 ± 0.0030"]


def test_long_tables_say_how_much_is_left_out():
    page = shown(marginal(5, 5, 5))
    assert len(page.rows) == 1 + html_table.MOST_ROWS
    assert page.lines[-1] == f"and {125 - html_table.MOST_ROWS} more rows"


@pytest.mark.parametrize("kind", ["totals", "check", "compare"])
def test_an_unknown_name_is_a_key_error_with_a_close_one(kind):
    coin = dt.Conditional([[0.5, 0.5], [0.5, 0.5]], target="heads")
    found = {
        "totals": lambda: dt.Totals([dt.target_total({"one": coin}, {"one": 1.0})]),
        "check": lambda: Check([Checked("heads", 1.0, 2.5, 3.5, 3.4, 3.0)]),
        "compare": lambda: dt.Plan.asking_all(
            dt.Schema([dt.Attribute("heads", ["no", "yes"], missing="error")]),
            *({"heads": 1.0}, {"heads": "grr"}, {"heads": 1.0}, "certified", "even"),
            {"heads": dict.fromkeys(("own", "paired", "pairwise", "certified", "budgets"), 1.0)},
        ).compare(),
    }[kind]()
    with pytest.raises(KeyError, match="did you mean 'heads'"):
        found["haeds"]
    assert found["heads"]


@pytest.mark.usefixtures("wide")
def test_attacks_show_what_is_printed(rng):
    answers = rng.integers(0, 2, (400, 2))
    frame = pd.DataFrame(answers, columns=HOSTILE[:2])
    found = dt.attack_all(frame, dt.Split(dt.Schema.infer(frame), total=2.0), rng=rng)
    page = shown(found)
    assert [row[0] for row in page.rows[2:-1]] == HOSTILE[:2]
    printed = repr(found).splitlines()
    first, *below = words(page.lines)
    assert words(printed) == [first, *(" ".join(row).split() for row in page.rows), *below]
    one = found[HOSTILE[0]]
    assert shown(one).lines == [repr(one)]
