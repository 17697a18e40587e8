"""Joint: tables of several attributes, and their boxes."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import deptriad as dt
from deptriad.utils.rounding import ENTRY

pd = pytest.importorskip("pandas", reason="the records are made with pandas, which is absent")


@pytest.fixture
def frame(rng):
    records = 3000
    frame = pd.DataFrame({"a": rng.integers(0, 3, records), "b": rng.integers(0, 4, records)})
    frame["c"] = (frame["a"] + rng.integers(0, 2, records)) % 3
    frame["state"] = rng.choice(["x", "y", "z"], records)
    frame["weight"] = rng.integers(1, 9, records) / 4.0
    return frame


SCHEMA = dt.Schema([dt.Attribute(name, range(4)) for name in "abc"])
"""The value 3 of a and c has no record, and nobody is missing."""


def prior_of(frame, **options):
    return dt.Prior.from_data(frame, SCHEMA, **options)


def test_given_is_the_relative_frequency_with_the_target_first(frame):
    joint = prior_of(frame).joint(["b", "a", "c"])
    assert joint.counts.shape == (5, 5, 5)
    assert joint.counts.sum() == len(frame)
    assert joint.counts.dtype == np.int64
    assert not joint.counts.flags.writeable
    for axis, target in enumerate(joint.names):
        counts = np.moveaxis(joint.counts, axis, 0)[: 4 if target == "b" else 3]
        expected = counts / counts.sum(axis=(1, 2), keepdims=True)
        assert np.array_equal(joint.given(target), expected)
        assert joint.target_values(target) == tuple("0123"[: len(counts)])


@pytest.mark.parametrize("options", [{}, {"weight": "weight"}, {"by": "state"}])
def test_two_names_are_the_table_of_a_pair_and_its_box(frame, options):
    prior = prior_of(frame, **options)
    kinds = [dt.Relative(0.1), dt.Absolute(0.01)]
    kinds += [dt.Spread("std"), dt.Spread("range")] if "by" in options else []
    kinds += [dt.Confidence(0.9, cells=1000)] if not options else []
    for target, source in itertools.permutations("abc", 2):
        joint = prior.joint([source, target])
        assert np.allclose(joint.given(target), prior.table(source, target).table, rtol=1e-15)
        for kind in kinds:
            box, pair = joint.box(kind, target), prior.box(source, target, kind)
            assert np.allclose(box.lower, pair.lower, rtol=1e-14, atol=1e-15)
            assert np.allclose(box.upper, pair.upper, rtol=1e-14, atol=1e-15)


def granted(table, truth):
    """Whether every entry is within the rounding that bounds grant it."""
    return all(
        abs(Fraction(entry) - exact) <= Fraction(ENTRY) * exact
        for entry, exact in zip(table.ravel().tolist(), truth, strict=True)
    )


def test_many_weights_and_many_sources_are_added_up_closely():
    """One after the other they would be off by thousands of roundings, all to one side."""
    weights = np.broadcast_to([[0.1, 0.7], [0.3, 0.4]], (150, 90, 2, 2))
    labels = [tuple(map(str, range(size))) for size in weights.shape]
    joint = dt.Joint(("a", "b", "u", "x"), tuple(labels), weights.copy(), weighted=True)
    for x, row in enumerate(weights[0, 0].T.tolist()):
        whole = sum(map(Fraction, row)) * 150 * 90
        assert granted(joint.given("x")[x, 3, 4], [Fraction(weight) / whole for weight in row])

    counts = np.repeat([[[3, 4], [7, 9]]], 4_000, axis=0)
    values = (("0", "1"), ("0", "1"))
    joint = dt.Joint(("x", "u"), values, counts.sum(axis=0), by_source=counts)
    truth = [Fraction(3, 7), Fraction(4, 7), Fraction(7, 16), Fraction(9, 16)]
    assert granted(joint.given("x"), truth)

    frame = pd.DataFrame({"x": [0, 0, 0, 1, 1], "u": [0, 1, 1, 0, 1]})
    frame = pd.concat([frame] * 500).assign(place=np.repeat(range(500), 5))
    schema = dt.Schema([dt.Attribute("x", (0, 1)), dt.Attribute("u", (0, 1))])
    prior = dt.Prior.from_data(frame, schema, by="place", thin="keep")
    table = prior.table("u", "x").table[:, :2]
    assert granted(table, [Fraction(1, 3), Fraction(2, 3), Fraction(1, 2), Fraction(1, 2)])


def test_boxes_of_three_hold_the_table_and_name_their_axes(frame):
    joint = prior_of(frame, by="state").joint(["a", "b", "c"])
    for kind in (dt.Relative(0.2), dt.Absolute(0.01), dt.Spread("mad")):
        box = joint.box(kind, "b")
        assert box.names == ("b", "a", "c")
        assert (box.lower <= joint.given("b")).all()
        assert (joint.given("b") <= box.upper).all()
    sampled = prior_of(frame).joint(["a", "b", "c"]).box(dt.Confidence(0.95), "a")
    assert sampled.shape == (4, 5, 5)  # the value without records is wholly uncertain
    assert (sampled.lower[3] == 0.0).all()
    assert (sampled.upper[3] == 1.0).all()


def test_what_one_source_knows_alone_is_wholly_uncertain(frame):
    frame = frame[(frame["a"] != 2) | (frame["state"] == "x")]
    box = prior_of(frame, by="state").joint(["a", "b", "c"]).box(dt.Spread("std"), "a")
    assert (box.lower[2] == 0.0).all()
    assert (box.upper[2] == 1.0).all()
    assert (box.upper[:2] - box.lower[:2] < 0.5).all()


def test_thin_values_are_merged_dropped_or_kept_as_in_the_prior(frame):
    frame.loc[frame.index[:7], "a"] = 3
    frame.loc[frame.index[7:], "a"] %= 3
    kept = prior_of(frame).joint(["a", "c"])
    assert kept.given("a").shape == (4, 5)
    dropped = prior_of(frame, thin="drop").joint(["a", "c"])
    assert dropped.given("a").shape == (3, 5)
    assert dropped.counts.sum() == len(frame)
    merged = prior_of(frame, thin="merge", min_records=20)
    joint = merged.joint(["a", "b", "c"])
    assert joint.values[0] == merged.schema["a"].values
    assert np.array_equal(joint.counts.sum(axis=1), merged.counts.table("c", "a"))


def test_refusals_say_what_to_do(frame):
    plain, weighted = prior_of(frame), prior_of(frame, weight="weight")
    with pytest.raises(ValueError, match=r"no records.*Prior\.from_data"):
        dt.Prior.from_counts(plain.counts).joint(["a", "b"])
    with pytest.raises(ValueError, match=r"names are 'abc', expected a list"):
        plain.joint("abc")
    with pytest.raises(ValueError, match="no attribute 'd'"):
        plain.joint(["a", "b"]).given("d")
    with pytest.raises(ValueError, match="plain counts"):
        weighted.joint(["a", "b", "c"]).box(dt.Confidence(), "a")
    with pytest.raises(ValueError, match="one population"):
        prior_of(frame, by="state").joint(["a", "b", "c"]).box(dt.Confidence(), "a")
    with pytest.raises(ValueError, match="several groups"):
        plain.joint(["a", "b", "c"]).box(dt.Spread(), "a")
    with pytest.raises(ValueError, match="two attributes"):
        plain.joint(["a"]).box(dt.Relative(0.1), "a")
    with pytest.raises(ValueError, match="uncertainty is 3"):
        plain.joint(["a", "b"]).box(3, "a")
    for names, counts in [(("a",), [[1]]), (("a", "a"), [[1]]), (("a", "b"), [[-1]])]:
        with pytest.raises(ValueError, match="expected"):
            dt.Joint(names, (("x",),) * len(names), np.array(counts))
