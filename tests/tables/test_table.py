"""Conditional and Box: what they accept, keep, tighten and refuse."""

import dataclasses
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given

import deptriad as dt
import oracle
from drawn import boxes, tables

P = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]


def test_a_conditional_keeps_its_table_and_labels():
    table = dt.Conditional(
        P,
        target="sex",
        source="relationship",
        target_values=["female", "male"],
        source_values=["wife", "husband", "other"],
    )
    assert table.shape == (2, 3)
    assert np.array_equal(table.table, P)
    assert (table.target, table.source) == ("sex", "relationship")
    assert table.target_values == ("female", "male")
    assert table.source_values == ("wife", "husband", "other")


def test_a_conditional_without_labels():
    table = dt.Conditional(P)
    assert (table.target, table.source) == ("target", "source")
    assert table.target_values is None
    assert table.source_values is None


def test_a_conditional_cannot_be_changed():
    mine = np.array(P)
    table = dt.Conditional(mine)
    mine[0] = [0, 0, 1]
    assert np.array_equal(table.table, P)
    with pytest.raises(ValueError, match="read-only"):
        table.table[0, 0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.source = "other"


@given(tables())
def test_every_rounded_table_is_accepted_as_it_is(known):
    """Rounding the entries is not an error, and moves no entry by more than a few ulps (§9)."""
    table = dt.Conditional(known.floats).table
    assert np.allclose(table, known.floats, rtol=4 * 2.0**-53, atol=0)


def test_rows_within_a_billionth_are_renormalised():
    """Within 1e-9 silently; the result sums to 1 to rounding."""
    table = dt.Conditional([[0.5, 0.5 + 9e-10], [0.25, 0.75 - 9e-10]]).table
    assert np.abs(table.sum(axis=1) - 1).max() <= 1e-15
    assert table[0] == pytest.approx([0.5 - 2.25e-10, 0.5 + 2.25e-10 * 3 - 2.25e-10], abs=5e-10)


@pytest.mark.parametrize("off", [2e-9, -2e-9, 0.03, -0.03])
def test_rows_beyond_a_billionth_are_refused(off):
    with pytest.raises(ValueError, match=r"row 1\b.*sums to"):
        dt.Conditional([[0.5, 0.5], [0.5, 0.5 + off], [0.5, 0.5]])


def test_the_message_says_which_row_by_name_what_it_sums_to_and_what_to_do():
    with pytest.raises(ValueError, match=r"row 1 \('divorced'\) sums to 0\.97.*from_counts"):
        dt.Conditional([[0.5, 0.5], [0.5, 0.47]], target_values=["married", "divorced"])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[0.5, 0.5], [1.1, -0.1]], r"-0\.1"),
        ([[0.5, 0.5], [np.nan, 1.0]], r"(?i)nan"),
        ([[0.5, 0.5], [np.inf, 1.0]], r"(?i)inf|finite"),
        ([0.5, 0.5], r"(?i)2-D|two|dimension"),
        ([[[0.5, 0.5]]], r"(?i)2-D|two|dimension"),
        (np.empty((0, 3)), r"(?i)empty|no row|at least one|shape"),
        (np.empty((3, 0)), r"(?i)empty|no column|at least one|shape"),
    ],
)
def test_what_is_no_table_is_refused(table, words):
    with pytest.raises(ValueError, match=words):
        dt.Conditional(table)


def test_labels_must_fit():
    with pytest.raises(ValueError, match=r"3.*2|2.*3"):
        dt.Conditional(P, target_values=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"3.*2|2.*3"):
        dt.Conditional(P, source_values=["a", "b"])


def test_from_counts_divides_each_row_by_its_total():
    table = dt.Conditional.from_counts([[1, 2, 1], [0, 5, 0]], target="t", source="s")
    assert np.array_equal(table.table, [[0.25, 0.5, 0.25], [0, 1, 0]])
    assert (table.target, table.source) == ("t", "s")


def test_from_counts_names_a_row_without_records():
    with pytest.raises(ValueError, match=r"row 1\b"):
        dt.Conditional.from_counts([[1, 2], [0, 0], [3, 4]])
    with pytest.raises(ValueError, match="widowed"):
        dt.Conditional.from_counts([[1, 2], [0, 0]], target_values=["single", "widowed"])


@pytest.mark.parametrize("bad", [-1, np.nan])
def test_from_counts_refuses_what_is_no_count(bad):
    with pytest.raises(ValueError, match=r"(?i)-1|nan"):
        dt.Conditional.from_counts([[1, 2], [bad, 3]])


# -------------------------------------------------------------------------------------------- boxes


def test_a_box_is_clipped_and_tightened():
    """Lo ≥ 0, Up ≤ 1, Up_u ≤ 1 − Σ Lo_v and Lo_u ≥ 1 − Σ Up_v over v ≠ u (maths.md §3)."""
    box = dt.Box([[-0.5, 0.2, 0.3], [0.0, 0.0, 0.0]], [[1.5, 0.4, 0.9], [0.1, 0.2, 0.9]])
    assert box.lower == pytest.approx(np.array([[0.0, 0.2, 0.3], [0.0, 0.0, 0.7]]), abs=1e-15)
    assert box.upper == pytest.approx(np.array([[0.5, 0.4, 0.8], [0.1, 0.2, 0.9]]), abs=1e-15)
    assert box.shape == (2, 3)


@given(boxes())
def test_tightening_is_that_of_the_rationals(uncertain):
    """To rounding, the edges are the exact tightened ones."""
    lower, upper = oracle.tightened(uncertain.lower, uncertain.upper)
    assert np.abs(uncertain.box.lower - oracle.as_floats(lower)).max() <= 1e-12
    assert np.abs(uncertain.box.upper - oracle.as_floats(upper)).max() <= 1e-12


@given(boxes())
def test_tightening_keeps_zero_edges_and_order(uncertain):
    """A lower edge stays exactly 0 unless the others force it up, and Lo ≤ Up everywhere."""
    box = uncertain.box
    lower, _ = oracle.tightened(uncertain.lower, uncertain.upper)
    assert (box.lower <= box.upper).all()
    assert (box.lower >= 0).all()
    assert (box.upper <= 1).all()
    forced = np.array([[low > 0 for low in row] for row in lower])
    assert (box.lower[~forced] == 0).all()


def test_a_known_table_is_a_box_of_no_width():
    box = dt.Box(P, P)
    assert np.allclose(box.lower, P, rtol=1e-15, atol=0)
    assert np.allclose(box.upper, P, rtol=1e-15, atol=0)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ([0.6, 0.5], [0.9, 0.9]),  # at least 1.1 in total
        ([0.1, 0.1], [0.4, 0.5]),  # at most 0.9 in total
        ([0.5, 0.6], [0.7, 0.4]),  # crossed edges
    ],
)
def test_an_empty_box_is_refused_by_row(lower, upper):
    with pytest.raises(ValueError, match=r"row 1\b"):
        dt.Box([[0.0, 0.0], lower], [[1.0, 1.0], upper])


def test_an_empty_box_is_refused_by_name():
    with pytest.raises(ValueError, match="widowed"):
        dt.Box([[0.0, 0.0], [0.6, 0.6]], [[1.0, 1.0]] * 2, target_values=["single", "widowed"])


def test_mismatched_edges_are_refused_with_their_shapes():
    with pytest.raises(ValueError, match=r"\(2, 2\).*\(2, 3\)|\(2, 3\).*\(2, 2\)"):
        dt.Box([[0.0, 0.0]] * 2, [[1.0, 1.0, 1.0]] * 2)


def test_nan_edges_are_refused():
    with pytest.raises(ValueError, match=r"(?i)nan"):
        dt.Box([[0.0, np.nan]], [[1.0, 1.0]])


def test_a_box_is_read_only_and_keeps_its_labels():
    box = dt.Box([[0.0, 0.0]], [[1.0, 1.0]], source="s", target="t", source_values=["a", "b"])
    assert (box.target, box.source, box.source_values) == ("t", "s", ("a", "b"))
    with pytest.raises(ValueError, match="read-only"):
        box.lower[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        box.upper[0, 0] = 0.0


def test_the_oracle_and_the_box_agree_by_hand():
    lower, upper = oracle.tightened([[F(-1), F(1, 5)]], [[F(2), F(2, 5)]])
    assert (lower, upper) == ([[F(3, 5), F(1, 5)]], [[F(4, 5), F(2, 5)]])
    box = dt.Box([[-1.0, 0.2]], [[2.0, 0.4]])
    assert box.lower[0] == pytest.approx([0.6, 0.2], abs=1e-15)
    assert box.upper[0] == pytest.approx([0.8, 0.4], abs=1e-15)


def test_a_transposed_table_is_recognised():
    with pytest.raises(ValueError, match="transpose"):
        dt.leakage([[0.6, 0.3, 0.05], [0.3, 0.4, 0.25], [0.1, 0.3, 0.7]], 1.0)


def test_masked_entries_are_refused():
    with pytest.raises(ValueError, match="masked entry in row 1, column 0"):
        dt.Conditional(np.ma.masked_array([[0.5, 0.5], [0.9, 0.1]], mask=[[0, 0], [1, 0]]))


@pytest.mark.parametrize("labels", ["ab", {"a", "b"}, ["a", "a"]])
def test_labels_have_an_order_and_differ(labels):
    with pytest.raises(ValueError, match="target_values"):
        dt.Conditional([[0.5, 0.5], [0.9, 0.1]], target_values=labels)


def test_a_frame_brings_its_labels():
    pandas = pytest.importorskip("pandas", reason="labels of a data frame need pandas")
    frame = pandas.DataFrame([[3, 1], [1, 1]], index=["yes", "no"], columns=["x", "y"])
    table = dt.Conditional.from_counts(frame)
    assert table.target_values == ("yes", "no")
    assert table.source_values == ("x", "y")


def test_the_bad_table_among_many_is_named():
    with pytest.raises(ValueError, match=r"table 1: row 0 sums to 0\.9"):
        dt.triads([[[0.5, 0.5], [0.1, 0.9]], [[0.5, 0.4], [0.1, 0.9]]])


def test_hostile_labels_stay_on_their_line():
    table = dt.Conditional(
        [[0.5, 0.5], [0.9, 0.1]], target="a\nb\x1b[31m", source_values=["</script>", "[red]"]
    )
    assert "\x1b" not in repr(table)
    assert "\n" not in repr(table)
    sentence = str(dt.where(table, 1.0))
    assert sentence.isprintable()
    assert "</script>" in sentence or "[red]" in sentence


def test_entries_where_floats_lose_their_digits_are_refused():
    """[[.25, .5, .25], [5e-324, 5e-324, 1]] at ε = 1000 once gave 743.459 for 743.747."""
    for bad in (5e-324, 1e-310, 9e-301):
        with pytest.raises(ValueError, match=rf"has {bad} in row 1, column 0: expected 0 or at"):
            dt.Conditional([[0.25, 0.5, 0.25], [bad, 0.0, 1.0]])
        with pytest.raises(ValueError, match="table 0: table has"):
            dt.leakages(np.array([[[0.5, 0.5], [bad, 1.0]]]), 1.0)
    assert dt.Conditional([[0.5, 0.5], [1e-300, 1.0]]).table[1, 0] == 1e-300


def test_edges_of_a_box_move_outward_where_floats_lose_their_digits():
    box = dt.Box([[1e-310, 0.1], [0.0, 0.5]], [[0.9, 1.0], [1e-305, 1.0]])
    assert box.lower[0, 0] == 0.0
    assert box.upper[1, 0] == 1e-300
