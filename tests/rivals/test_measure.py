"""All measures: what they have in common, and the worst case by every way."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deptriad as dt
import oracle
from deptriad.rivals import Measure, channels, ltm, measures
from drawn import SOME_BUDGETS, budgets, ordinary_tables, tables
from rival_measures import P, measured, same

NAMES = ["mi", "pcc", "its", "cbp", "hcc-1", "hcc-2", "ltm"]


OURS = ["triad", "triad-uncalibrated", "triad-calibrated", "exact"]


WORST_CASE = ["cbp", "hcc-2", "ltm"]


def test_the_names_in_their_order():
    assert list(measures) == NAMES + OURS
    assert all(
        name == rival.name and isinstance(rival, Measure) for name, rival in measures.items()
    )


def test_nobody_changes_the_registry():
    with pytest.raises(TypeError):
        measures["mine"] = measures["mi"]


def test_what_each_bounds():
    bounds = {name: rival.bounds for name, rival in measures.items()}
    assert {bounds.pop(name) for name in ("mi", "pcc")} == {"nothing"}
    actual = {bounds.pop(name) for name in ("its", "hcc-1")}
    assert actual == {"the actual leakage of one mechanism"}
    assert set(bounds.values()) == {"the worst case"}


def test_facts_are_plain_data():
    for rival in measures.values():
        facts = json.loads(json.dumps(rival.facts))
        assert facts["name"] == rival.name
        assert facts["takes_uncertainty"] is rival.takes_uncertainty
        assert all(facts[key] for key in ("title", "bounds", "mechanisms", "query", "memory"))
        assert "measure" not in facts


@pytest.mark.parametrize("name", NAMES + OURS)
def test_scalars_in_scalars_out_arrays_in_arrays_out(name):
    rival = measures[name]
    one = rival.measure(P, 1)
    assert isinstance(one, float)
    assert rival.measure(P.tolist(), 1.0) == rival.measure(dt.Conditional(P), 1.0) == one
    many = rival.measure(P, [[0.5, 1.0, 2.0]])
    assert many.shape == (1, 3)
    assert many[0, 1] == same(one)
    assert rival.measure(P, []).shape == (0,)


@pytest.mark.parametrize("name", NAMES + OURS)
def test_bad_budgets_and_tables_are_refused(name):
    for epsilon in (-1.0, math.nan):
        with pytest.raises(ValueError, match=f"epsilon is {epsilon}"):
            measured(name, P, epsilon)
    with pytest.raises(ValueError, match=r"row 0 sums to 0\.9"):
        measured(name, [[0.5, 0.4], [0.5, 0.5]], 1.0)


@pytest.mark.parametrize("name", NAMES + OURS)
def test_uncertainty_is_taken_as_declared(name):
    box = dt.Relative(0.1).box(P)
    if measures[name].takes_uncertainty:
        assert measured(name, box, 1.0) > measured(name, P, 1.0)
    else:
        with pytest.raises(ValueError, match=r"(?s)Box\(.*takes no uncertainty.*'exact'"):
            measured(name, box, 1.0)


@given(tables(), st.lists(budgets(), max_size=4))
def test_prepared_tables_say_the_same(known, some):
    for rival in measures.values():
        if rival.prepare is not None:
            prepared = rival.prepare(known.floats).leakage(some)
            assert prepared == same(rival.measure(known.floats, some)), rival.name


@given(tables())
def test_all_budgets_give_numbers(known):
    for rival in measures.values():
        value = rival.measure(known.floats, SOME_BUDGETS)
        assert np.isfinite(value).all(), rival.name
        if rival.bounds != "nothing":
            assert (value >= 0).all(), rival.name
            assert value[0] <= 1e-15, rival.name


def loaded_after(statement):
    code = f"{statement}; import json, sys; print(json.dumps(list(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout))


def test_import_is_light():
    assert "deptriad.rivals" not in loaded_after("import deptriad")
    assert not {"numba", "scipy", "typer"} & loaded_after("import deptriad.rivals")


@given(tables(), budgets())
def test_the_worst_case_by_every_way(known, epsilon):
    exact = dt.leakage(known.floats, epsilon)
    for name in WORST_CASE:
        assert measured(name, known.floats, epsilon) == same(exact), name
    assert ltm.prepare(known.floats).leakage(epsilon) == same(exact)
    assert ltm.pieces(known.floats).leakage(epsilon) == same(exact)
    assert measured("its", known.floats, epsilon, mechanism="unary") == same(exact)


@given(tables(), budgets())
def test_the_worst_case_in_rational_arithmetic(known, epsilon):
    truth = oracle.leakage(oracle.cloud(known.exact), epsilon)
    for name in WORST_CASE:
        assert oracle.is_close(measured(name, known.floats, epsilon), truth), name


@given(ordinary_tables(), st.sampled_from([1e-12, 1e-9, 1e-6, 1e-3]))
def test_small_budgets_keep_their_digits(known, epsilon):
    truth = float(oracle.leakage(oracle.cloud(known.exact), epsilon))
    for name in WORST_CASE:
        assert measured(name, known.floats, epsilon) == pytest.approx(truth, rel=1e-10), name


def test_large_random_tables(rng):
    for size in (30, 60):
        table = rng.dirichlet(np.full(size, 0.3), size)
        exact = dt.leakage(table, SOME_BUDGETS)
        for value in (
            measured("hcc-2", table, SOME_BUDGETS),
            measured("ltm", table, SOME_BUDGETS),
            ltm.prepare(table).leakage(SOME_BUDGETS),
        ):
            assert value == same(exact)


@pytest.mark.parametrize("size", (4, 7, 10))
@pytest.mark.parametrize("name", ["hcc-2", "ltm", "exact", "cbp"])
def test_golden_values(shared_dir, name, size):
    golden = json.loads((shared_dir / "golden" / "paper_triads.json").read_text())[f"{size}:star"]
    table = np.loadtxt(shared_dir / "golden" / f"sin_{size}.csv", delimiter=",")
    value = measured(name, table, [float(epsilon) for epsilon in golden])
    assert value == pytest.approx(list(golden.values()), abs=1e-6)


@pytest.mark.parametrize("size", (50, 100))
def test_larger_golden_tables(shared_dir, size):
    table = np.loadtxt(shared_dir / "golden" / f"sin_{size}.csv", delimiter=",")
    exact = dt.leakage(table, [0.1, 1.0, 5.0])
    for name in ("hcc-2", "ltm"):
        assert measured(name, table, [0.1, 1.0, 5.0]) == same(exact), name
    assert ltm.prepare(table).leakage([0.1, 1.0, 5.0]) == same(exact)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mi", {"weights": [1.0]}, r"weights has shape \(1,\), expected \(2,\)"),
        ("pcc", {"weights": [1.0, -2.0]}, r"weights has -2\.0"),
        ("mi", {"weights": [0, 0]}, "weights are all 0"),
        ("its", {"mechanism": "oue"}, "mechanism is 'oue', expected 'grr' or 'unary'"),
        ("hcc-1", {"mechanism": np.eye(2)}, r"mechanism has shape \(2, 2\), expected .* 3 columns"),
        ("hcc-1", {"mechanism": [1.0, 1.0, 1.0]}, r"mechanism has shape \(3,\)"),
        ("hcc-1", {"mechanism": np.eye(3) * 0.9}, r"column 0 of mechanism sums to 0\.9, not 1"),
        ("hcc-1", {"mechanism": [[2, 1, 1], [-1, 0, 0]]}, r"-1\.0 in row 1, column 0"),
        ("hcc-1", {"mechanism": [[math.nan, 1, 1]]}, "nan in row 0, column 0"),
        ("hcc-1", {"mechanism": lambda e: np.eye(3)}, r"mechanism\(1\) is not 1-LDP: report 0"),
        ("hcc-1", {"mechanism": lambda e: channels.grr(3, 1.01 * e)}, "is not 1-LDP"),
    ],
)
def test_mistakes_are_named(name, options, message):
    with pytest.raises(ValueError, match=message):
        measured(name, P, 1.0, **options)
