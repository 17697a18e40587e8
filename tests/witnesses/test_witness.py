"""witness(): never above the truth of all product sets, usually equal to it, and its sets prove it."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import pytest

import deptriad as dt
from deptriad.data.attribute import Attribute
from deptriad.data.schema import Schema
from deptriad.witnesses.attained import attained
from deptriad.witnesses.result import Witness
from deptriad.witnesses.witness import witness, witness_of_codes
from joints import SLACK, XOR, as_records, random_joint, truth
from luck import unless_unlucky


def ratio_of(codes, weights, found: Witness):
    """ln of the ratio of a witness's own sets, record by record in 50 digits."""
    target = found.names.index(found.target)
    with localcontext(prec=50):
        means = []
        for x in found.pair:
            total = mass = Decimal(0)
            for row, weight in zip(codes, weights, strict=True):
                if row[target] == x:
                    exponent = sum(
                        Decimal(found.epsilon[name])
                        for name, value in zip(found.names, row, strict=True)
                        if name != found.target and value in found.sets[name]
                    )
                    mass += Decimal(float(weight))
                    total += Decimal(float(weight)) * Decimal(exponent).exp()
            means.append(total / mass)
        return (means[0] / means[1]).ln()


# ---------------------------------------------------------------------------------------------- truth


def test_never_above_the_truth_and_usually_equal(rng):
    close = 0
    for _ in range(100):
        joint = random_joint(rng)
        budgets = rng.choice([0.05, 0.5, 1.0, 3.0, 8.0], size=joint.ndim)
        codes, weights = as_records(joint)
        found = witness_of_codes(codes, joint.shape, budgets, 0, weights, split=None, rng=rng)
        most = truth(joint, budgets[1:])
        assert Decimal(found.leakage) <= most + SLACK
        assert Decimal(found.leakage) <= max(ratio_of(codes, weights, found), Decimal(0)) + SLACK
        close += Decimal(found.leakage) >= most - Decimal("1e-11")
    assert close >= 95


def test_xor_which_no_single_source_tells():
    found = witness_of_codes(XOR, [2, 2, 2], [1.0, 1.0, 0.0], 2, split=None)
    exact = math.log((1 + math.e**2) / (2 * math.e))
    assert round(exact, 4) == 0.4338
    assert exact - 1e-12 <= found.leakage <= exact
    assert all(len(values) == 1 for values in found.sets.values())


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1.0, 20.0, 200.0])
def test_one_source_is_its_exact_leakage(rng, epsilon):
    joint = rng.integers(0, 30, size=(4, 6)) + np.eye(4, 6, dtype=int)
    table = joint / joint.sum(axis=1, keepdims=True)
    codes, weights = as_records(joint)
    found = witness_of_codes(codes, [4, 6], [0.0, epsilon], 0, weights, split=None, rng=rng)
    exact = dt.leakage(table, epsilon)
    assert found.leakage <= exact
    assert found.leakage == pytest.approx(exact, rel=1e-3 if epsilon < 1e-6 else 1e-9)


def test_budgets_beyond_the_float_range_still_give_a_lower_bound():
    for epsilon in (700.0, 1e5, math.inf):
        found = witness_of_codes(XOR, [2, 2, 2], [epsilon] * 3, 2, split=None)
        assert 100.0 < found.leakage <= epsilon
        assert attained(XOR, found) == found.leakage


def test_more_budget_or_more_sources_never_leak_less(rng):
    codes = rng.integers(0, 3, size=(300, 4))
    last = 0.0
    for budgets in ([0, 0.1, 0, 0], [0, 0.1, 0.2, 0], [0, 1, 1, 0.1], [0, 2, 2, 2]):
        found = witness_of_codes(codes, [3] * 4, budgets, 0, split=None, starts=100, rng=rng)
        assert found.leakage >= last - 1e-12
        last = found.leakage


# ----------------------------------------------------------------------------------------- invariances


def test_weights_are_repetitions(rng):
    codes = rng.integers(0, 3, size=(50, 4))
    times = rng.integers(0, 5, size=50)
    budgets = [0.5, 1.0, 1.5, 2.0]
    options = {"split": None, "starts": 50}
    weighed = witness_of_codes(
        codes, [3] * 4, budgets, 1, times, rng=np.random.default_rng(5), **options
    )
    repeated = np.repeat(codes, times, axis=0)
    same = witness_of_codes(repeated, [3] * 4, budgets, 1, rng=np.random.default_rng(5), **options)
    assert weighed.leakage == pytest.approx(same.leakage, rel=1e-12)
    assert attained(repeated, weighed, "all", np.ones(len(repeated))) == pytest.approx(
        weighed.leakage, rel=1e-12
    )
    scaled = witness_of_codes(
        codes, [3] * 4, budgets, 1, times * 1e9, rng=np.random.default_rng(5), **options
    )
    assert scaled.leakage == pytest.approx(weighed.leakage, rel=1e-12)


def test_relabelling_changes_nothing(rng):
    codes = rng.integers(0, 3, size=(200, 4))
    options = {"split": None, "starts": 200, "rng": rng}
    found = witness_of_codes(codes, [3] * 4, [1.0] * 4, 0, **options)
    labels = [rng.permutation(3) for _ in range(4)]
    moved = np.column_stack([label[column] for label, column in zip(labels, codes.T, strict=True)])
    columns = np.array([2, 0, 3, 1])
    again = witness_of_codes(moved[:, columns], [3] * 4, [1.0] * 4, 1, **options)
    assert again.leakage == pytest.approx(found.leakage, rel=1e-12)


def test_the_same_generator_gives_the_same_witness(rng):
    codes = rng.integers(0, 3, size=(500, 6))
    one, two = (
        witness_of_codes(codes, [3] * 6, [1.0] * 6, 2, rng=np.random.default_rng(7))
        for _ in range(2)
    )
    assert one == two
    other = witness_of_codes(codes, [3] * 6, [1.0] * 6, 2)
    assert other.seed != one.seed


# ------------------------------------------------------------------------------- halves and their sets


def test_chance_shows_on_the_held_out_half(rng):
    """Independent attributes: the truth is 0, and what a few records seem to tell is not there in others.

    In one draw of 200 as much as 0.72 of it is.
    """

    def check():
        codes = rng.integers(0, 2, size=(200, 12))
        found = witness_of_codes(codes, [2] * 12, [1.0] * 12, 0, rng=rng)
        assert found.held_out < 0.7 * found.leakage
        many = witness_of_codes(rng.integers(0, 2, (100_000, 12)), [2] * 12, [1.0] * 12, 0, rng=rng)
        assert many.leakage < 0.3 * found.leakage

    unless_unlucky(check, 0.02)


def test_sets_are_re_evaluated(rng):
    codes = rng.integers(0, 4, size=(400, 5))
    weights = rng.random(400)
    found = witness_of_codes(codes, [4] * 5, [0.7] * 5, 3, weights, rng=rng)
    assert attained(codes, found, weights=weights) == found.leakage
    assert attained(codes, found, "held out", weights) == found.held_out
    assert attained(codes, found, "all", weights) == found.overall
    exact = ratio_of(codes, weights, found)
    assert exact - Decimal("1e-12") <= Decimal(found.overall) <= exact
    unsplit = witness_of_codes(codes, [4] * 5, [0.7] * 5, 3, weights, split=None, rng=rng)
    assert unsplit.overall == unsplit.leakage
    assert unsplit.held_out is None


def test_weights_must_not_be_forgotten(rng):
    codes, weights = rng.integers(0, 3, size=(100, 3)), rng.random(100)
    found = witness_of_codes(codes, [3] * 3, [1.0] * 3, 0, weights, rng=rng)
    for part in ("found", "held out", "all"):
        with pytest.raises(ValueError, match="had weights"):
            attained(codes, found, part)
    equal = witness_of_codes(codes, [3] * 3, [1.0] * 3, 0, np.full(100, 7.0), rng=rng)
    assert attained(codes, equal) == equal.leakage
    frame = pd.DataFrame(codes, columns=list("abc")).assign(w=weights)
    found = witness(frame, 1.0, "a", weight="w", rng=rng)
    with pytest.raises(ValueError, match="column 'w'"):
        attained(frame, found, weights=weights)


def test_halves_are_those_of_the_same_records_in_the_same_order(rng):
    codes = rng.integers(0, 3, size=(100, 3))
    found = witness_of_codes(codes, [3] * 3, [1.0] * 3, 0, rng=rng)
    for other in (codes[::-1], (codes + 1) % 3):
        for part in ("found", "held out"):
            with pytest.raises(ValueError, match="same order"):
                attained(other, found, part)
        assert math.isfinite(attained(other, found, "all"))
    assert attained(codes.astype(np.uint8), found) == found.leakage


def test_a_half_without_weight_is_no_half():
    """Only records that count are split, so that the half on which sets are found has some."""
    codes = [[0, 0], [0, 1], [1, 1], [1, 0]]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        lone = witness_of_codes(codes, [2, 2], [1.0, 1.0], 0, [1.0, 0.0, 0.0, 0.0], rng=rng)
        assert lone.leakage == 0.0
        weights = np.tile([0.0, 1.0], 50)
        many = rng.integers(0, 2, (100, 3))
        found = witness_of_codes(many, [2] * 3, [1.0] * 3, 0, weights, rng=rng)
        assert attained(many, found, weights=weights) == found.leakage
        kept = many[weights > 0]
        assert found.overall == attained(kept, found, "all", np.ones(50))


def test_each_half_has_half_of_each_target_value(rng):
    codes = rng.integers(0, 3, size=(101, 3))
    codes[:2, 0] = 2
    codes[2:, 0] = rng.integers(0, 2, 99)
    found = witness_of_codes(codes, [3, 3, 3], [1.0] * 3, 0, rng=rng)
    assert not math.isnan(found.held_out)


def test_a_value_with_a_single_record_has_no_held_out_number():
    codes = np.array([[0, 0]] * 50 + [[1, 1]])
    helds = [witness_of_codes(codes, [2, 2], [1.0, 1.0], 0).held_out for _ in range(20)]
    assert all(math.isnan(held) or held == 0.0 for held in helds)


# ---------------------------------------------------------------------------------------------- frames


@pytest.fixture
def people(rng):
    n = 2000
    sex = rng.choice(["female", "male"], n)
    job = np.where(rng.random(n) < 0.7, sex, "other")
    hours = rng.choice([20, 40, 60], n)
    return pd.DataFrame({"sex": sex, "job": job, "hours": hours, "count": rng.integers(1, 4, n)})


def test_a_frame_with_names_labels_and_weights(people, rng):
    found = witness(people, {"job": 1.0, "hours": 0.5}, "sex", weight="count", rng=rng)
    assert found.names == ("sex", "job", "hours")
    assert set(found.pair_labels) == {"female", "male"}
    assert found.pair_labels[0] in found.set_labels["job"]
    assert found.pair_labels[1] not in found.set_labels["job"]
    assert attained(people, found) == found.leakage
    assert attained(people, found, "held out") == found.held_out
    assert attained(people, found, "all") == found.overall


def test_labels_alone_give_the_number(people, rng):
    """Evaluated from the printed labels, without any code."""
    found = witness(
        people, 1.0, "sex", schema=Schema.infer(people[["sex", "job", "hours"]]), rng=rng
    )
    text = people.astype(str)
    loud = np.ones(len(text))
    for source, labels in found.set_labels.items():
        loud *= np.where(text[source].isin(labels), math.e, 1.0)
    more, less = (loud[text["sex"] == label].mean() for label in found.pair_labels)
    assert found.overall == pytest.approx(math.log(more / less), rel=1e-9)


def test_it_prints_as_sentences(people, rng):
    found = witness(
        people, 1.0, "sex", schema=Schema.infer(people[["sex", "job", "hours"]]), rng=rng
    )
    text = str(found)
    for word in (
        "ε = 1 each",
        "`sex = ",
        "`job",
        "on the other half",
        "all records",
        "lower bound",
    ):
        assert word.lower() in text.lower()
    shown = float(text.split("by e^")[1].split(" ")[0])
    assert found.leakage - 0.001 <= shown <= found.leakage
    whole = witness(people, {"job": 1.0, "hours": 2.0}, "sex", weight="count", split=None)
    assert "ε from 1 to 2" in str(whole)
    assert "other half" not in str(whole)


def test_only_released_sources_are_counted(people):
    found = witness(
        *(people, {"job": 1.0, "hours": 0.0, "count": 0.0}, "sex"),
        schema=Schema.infer(people),
        split=None,
    )
    assert "Released with ε = 1, reports of 1 of the 3 other attributes" in str(found)
    both = witness(
        *(people, {"job": 1.0, "hours": 1.0, "count": 0.0}, "sex"),
        schema=Schema.infer(people),
        split=None,
    )
    assert "Released with ε = 1 each, reports of 2 of the 3 other attributes" in str(both)


def test_nothing_to_tell_is_said_plainly():
    for codes, budgets in (
        ([[0, 0], [1, 0]], [1, 1]),
        ([[0, 0], [1, 1]], [1, 0]),
        ([[1, 0], [1, 1]], [1, 1]),
    ):
        found = witness_of_codes(codes, [2, 2], budgets, 0, split=None)
        assert found.leakage == 0.0
        assert found.sets == {"1": ()}
        assert "No sets" in str(found)


def test_progress_reaches_its_end(rng):
    calls = []
    codes = rng.integers(0, 5, size=(100, 3))
    witness_of_codes(codes, [5] * 3, [1.0] * 3, 0, progress=lambda *call: calls.append(call))
    assert calls == sorted(calls)
    assert calls[-1][0] == calls[-1][1]


def test_many_target_values_are_screened(rng):
    """30 values make 870 pairs; the only two that differ are found."""
    n = 20_000
    target = rng.integers(0, 30, n)
    source = rng.integers(0, 2, (n, 3))
    source[target == 7] = 1
    source[target == 21] = 0
    codes = np.column_stack([target, source])
    found = witness_of_codes(codes, [30, 2, 2, 2], [1.0] * 4, 0, rng=rng)
    assert set(found.pair) == {7, 21}
    assert found.leakage == pytest.approx(3.0, abs=1e-9)


def test_errors_say_what_is_wrong(people):
    with pytest.raises(ValueError, match=r"no attribute 'sx'.*did you mean 'sex'"):
        witness(people, 1.0, "sx")
    with pytest.raises(ValueError, match="no entry for 'hours'"):
        witness(people, {"job": 1.0, "count": 0.0}, "sex")
    with pytest.raises(ValueError, match="no attribute 'jb'"):
        witness(people, {"jb": 1.0}, "sex")
    with pytest.raises(ValueError, match="split is 'third'"):
        witness(people, 1.0, "sex", split="third")
    with pytest.raises(ValueError, match="starts is 0"):
        witness(people, 1.0, "sex", starts=0)
    with pytest.raises(ValueError, match=r"epsilon\['job'\] is -1"):
        witness(people, {"job": -1.0, "hours": 1.0, "count": 1.0}, "sex")
    with pytest.raises(ValueError, match="column 1 has code 2, expected 0 to 1"):
        witness_of_codes([[0, 2]], [2, 2], [1, 1], 0)
    with pytest.raises(ValueError, match="record 1 has weight -1"):
        witness_of_codes([[0, 1], [1, 1]], [2, 2], [1, 1], 0, [1, -1])
    with pytest.raises(ValueError, match="target is 2"):
        witness_of_codes([[0, 1]], [2, 2], [1, 1], 2)
    with pytest.raises(ValueError, match="'job' holds text, expected numbers"):
        witness(people, 1.0, "sex", weight="job")
    with pytest.raises(ValueError, match="no column 'cont'"):
        witness(people, 1.0, "sex", weight="cont")
    with pytest.raises(ValueError, match="record 3 has weight nan"):
        witness(
            people.assign(count=people["count"].where(people.index != 3)),
            1.0,
            "sex",
            weight="count",
        )
    with pytest.raises(ValueError, match="'count' is also an attribute"):
        witness(people, 1.0, "sex", weight="count", schema=Schema.infer(people))
    found = witness_of_codes(XOR, [2] * 3, [1.0] * 3, 2, split=None)
    with pytest.raises(ValueError, match="found on 4"):
        attained(XOR[:3], found)
    with pytest.raises(ValueError, match="none were held out"):
        attained(XOR, found, part="held out")
    for part in ("found", "all"):
        with pytest.raises(ValueError, match="2 columns, expected 3"):
            attained(XOR[:, :2], found, part)
    with pytest.raises(ValueError, match="expected whole numbers"):
        attained([["a", "b", "c"]], found, "all")
    with pytest.raises(ValueError, match="expected whole numbers"):
        attained([1, 2], found, "all")
    with pytest.raises(ValueError, match="part is 'half'"):
        attained(XOR, found, "half")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rng": 3}, r"rng is 3, expected a numpy\.random\.Generator"),
        ({"target": 2.0}, r"target is 2\.0, expected a column from 0 to 2"),
        ({"target": -1}, "target is -1, expected a column from 0 to 2"),
        ({"target": True}, "target is True"),
        ({"names": ["a"]}, "names for 1 attributes, expected 3"),
        ({"names": ["a", "a", "b"]}, "'a' twice"),
        ({"labels": [["x", "y"]]}, "labels for 1 attributes, expected 3"),
        ({"labels": [["x"]] * 3}, "1 labels for column 0, expected 2"),
        ({"budgets": [1.0]}, "one for each of 3 attributes"),
    ],
)
def test_arguments_for_codes_are_checked(change, message):
    given = {"codes": XOR, "sizes": [2] * 3, "budgets": [1.0] * 3, "target": 2}
    with pytest.raises(ValueError, match=message):
        witness_of_codes(**(given | change))


def test_a_schema_decides_what_is_a_source(people, rng):
    schema = Schema(
        [Attribute("job", ["female", "male", "other"]), Attribute("sex", ["female", "male"])]
    )
    found = witness(people, 1.0, "sex", schema=schema, rng=rng)
    assert list(found.sets) == ["job"]


# ------------------------------------------------------------------------------------------ real faces


@pytest.fixture(scope="module")
def added(faces):
    """What the 39 sources of Bangs leak at ε = 1, one by one and added up."""
    return sum(
        dt.leakage(pd.crosstab(faces["Bangs"], faces[name], normalize="index"), 1.0)
        for name in faces.columns.drop("Bangs")
    )


def test_one_face_attribute_leaks_nearly_twice_the_sum(faces, added, rng):
    """Bangs, ε = 1: at least 6.2 against a sum of 3.2 over its 39 sources (maths §5)."""
    found = witness(faces, 1.0, "Bangs", split=None, rng=rng)
    assert found.leakage >= 6.21
    assert found.leakage >= 1.9 * added
    assert attained(faces, found) == found.leakage
    split = witness(faces, 1.0, "Bangs", rng=rng)
    assert split.held_out > 1.5 * added


def test_few_faces_are_overfitted(faces, rng):
    """By more than 0.5 in all but 5 draws of 200: faces that are rare may all be in the other half."""

    def check():
        few = faces.iloc[rng.choice(len(faces), 4000, replace=False)]
        found = witness(few.loc[:, few.nunique() > 1], 1.0, "Bangs", rng=rng)
        assert found.held_out < found.leakage - 0.5

    unless_unlucky(check, 0.05)
