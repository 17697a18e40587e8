"""rivals: they agree with each other and with the exact leakage where theory says so, and say what they are."""

import itertools
import json
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deptriad as dt
import oracle
from deptriad.rivals import Measure, channels, ltm, measures
from drawn import SOME_BUDGETS, budgets, ordinary_tables, tables

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
NAMES = ["mi", "pcc", "its", "cbp", "hcc-1", "hcc-2", "ltm"]
OURS = ["triad", "triad-uncalibrated", "triad-calibrated", "exact"]
WORST_CASE = ["cbp", "hcc-2", "ltm"]


def same(value, *, rel=1e-12, absolute=1e-12):
    return pytest.approx(value, rel=rel, abs=absolute)


def measured(name, *args, **options):
    return measures[name].measure(*args, **options)


# ---------------------------------------------------------------------------------------- registry


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


# ----------------------------------------------------------------------------------- the worst case


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


def test_more_source_values_than_one_block_of_sets(rng):
    for columns in (12, 13, 15):
        table = rng.dirichlet(np.ones(columns), 3)
        assert measured("cbp", table, [0.5, 5.0]) == same(dt.leakage(table, [0.5, 5.0]))


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


# ---------------------------------------------------------------------------------------------- LTM


def test_transition_points_by_hand():
    """Sorted by q/d: (0.4, 0.05), (0.3, 0.1), (0.2, 0.15); the fourth value has q < d."""
    q, d = [Fraction(n, 100) for n in (40, 30, 20)], [Fraction(n, 100) for n in (5, 10, 15)]
    expected = [math.inf]
    for k in (1, 2):
        top, bottom = sum(q[: k + 1]), sum(d[: k + 1])
        expected.append(math.log1p((q[k] - d[k]) / (top * d[k] - bottom * q[k])))
    found = ltm.pieces([[0.4, 0.3, 0.2, 0.1], [0.05, 0.1, 0.15, 0.7]])
    row = found.point[1]  # pairs are (0, 0), (0, 1), (1, 0), (1, 1)
    assert row == same([*expected, 0.0])
    assert found.gap[1] == same([0.35, 0.55, 0.6, 0.6])
    assert found.lower[1] == same([0.05, 0.15, 0.3, 0.3])


def test_points_are_budgets_and_not_their_exponentials():
    """Without ln(1 + ·) the second value would stay in the set too long."""
    table = [[0.4, 0.3, 0.1, 0.1, 0.1], [0.05, 0.15, 0.27, 0.27, 0.26]]
    point = ltm.pieces(table).point[1, 1]
    assert point < 2.0 < math.expm1(point)
    assert measured("ltm", table, 2.0) == same(math.log1p(0.35 / (1 / math.expm1(2.0) + 0.05)))
    assert measured("ltm", table, 2.0) == same(dt.leakage(table, 2.0))


@pytest.mark.parametrize(
    "table",
    [
        [[1e-17, 0.01, 0.99], [0.0, 0.5, 0.5]],  # 1e-17 does not show in the running sums
        [[1e-150, 0.5, 0.5], [0.0, 1e-299, 1.0]],  # 1e-150 · 1e-299 is no float
    ],
)
def test_a_tiny_value_that_one_row_lacks(table):
    """At large budgets it is all that counts."""
    for epsilon in (1.0, 50.0, 100.0, 1e4):
        exact = dt.leakage(table, epsilon)
        assert measured("ltm", table, epsilon) == same(exact)
        assert ltm.prepare(table).leakage(epsilon) == same(exact)
        assert measured("hcc-2", table, epsilon) == same(exact)


@given(tables(min_rows=2))
def test_points_decrease_and_pieces_start_one_after_another(known):
    found = ltm.pieces(known.floats)
    assert (found.point[:, 1:] <= found.point[:, :-1]).all()
    function = found.merged()
    assert function.start[0] == 0
    assert (function.start[1:] >= function.start[:-1]).all()
    assert function.start.shape == function.gap.shape == function.lower.shape


def test_the_merged_function_needs_few_pieces(rng):
    """It keeps pieces of the largest pair only, as many as the exact profile has lines."""
    table = rng.dirichlet(np.ones(40), 40)
    assert len(ltm.prepare(table).start) <= len(dt.profile(table).gap) + 2


# ------------------------------------------------------------------------------- HCC-1, ITS and CBP


def of_grr(table, epsilon):
    return measured("hcc-1", table, epsilon)


@given(tables(), budgets())
def test_its_of_grr_is_hcc_1_of_grr(known, epsilon):
    its = measured("its", known.floats, epsilon)
    assert its == same(of_grr(known.floats, epsilon))
    assert its == measured("its", known.floats, epsilon, mechanism="grr")
    assert its <= dt.leakage(known.floats, epsilon) + 1e-12 * max(1, epsilon)


@given(tables(max_columns=5), budgets(most=50.0))
def test_full_unary_encoding_attains_the_worst_case(known, epsilon):
    size = known.floats.shape[1]
    exact = dt.leakage(known.floats, epsilon)
    symmetric = measured(
        "hcc-1", known.floats, epsilon, mechanism=lambda e: channels.unary(size, e)
    )
    assert symmetric == same(exact)
    if epsilon <= 20.0:
        optimised = measured("hcc-1", known.floats, epsilon, mechanism=oue(size, epsilon))
        assert optimised == same(exact)


def oue(size, epsilon):
    """Optimised unary encoding: bits of the true value are set with probability ½, others with 1/(e^ε + 1)."""
    bits = (np.arange(2**size)[:, None] >> np.arange(size)) & 1
    other = 1 / (math.exp(epsilon) + 1)
    each = np.where(bits, other, 1 - other)
    return np.stack([0.5 * np.delete(each, u, axis=1).prod(axis=1) for u in range(size)], axis=1)


def test_grr_and_one_bit_leak_less_than_full_unary_encoding():
    table = [[0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]]
    full = measured("its", table, 1.0, mechanism="unary")
    bit = math.exp(0.5) / (1 + math.exp(0.5))
    one_bit = measured(
        "hcc-1", table, 1.0, mechanism=[[bit, *[1 - bit] * 3], [1 - bit, *[bit] * 3]]
    )
    assert one_bit < of_grr(table, 1.0) < full
    assert measured("cbp", table, 1.0) == same(full)


def random_channel(rng, size):
    """Any matrix with positive entries, and the least ε for which it is ε-LDP."""
    matrix = np.exp(rng.uniform(0, rng.choice([0.1, 1.0, 5.0]), (rng.integers(1, 7), size)))
    matrix /= matrix.sum(axis=0)
    return matrix, float(np.log(matrix.max(axis=1) / matrix.min(axis=1)).max())


def test_no_channel_leaks_more_than_the_worst_case(rng):
    close = 0
    for _ in range(300):
        rows, columns = rng.integers(2, 6, 2)
        table = rng.dirichlet(np.full(columns, 0.5), rows)
        channel, epsilon = random_channel(rng, columns)
        actual, worst = (
            measured("hcc-1", table, epsilon, mechanism=channel),
            dt.leakage(table, epsilon),
        )
        assert actual <= worst + 1e-12
        close += actual > 0.8 * worst
    assert close  # the bound is not idle


def test_the_channel_that_favours_the_worst_set_attains_the_worst_case(rng):
    for _ in range(50):
        table = rng.dirichlet(np.full(6, 0.5), 4)
        epsilon = float(10 ** rng.uniform(-2, 1))
        favoured = np.isin(np.arange(6), dt.where(table, epsilon).values)
        yes = np.where(favoured, math.exp(epsilon), 1.0) / (1 + math.exp(epsilon))
        actual = measured("hcc-1", table, epsilon, mechanism=[yes, 1 - yes])
        assert actual == same(dt.leakage(table, epsilon))


def test_a_matrix_is_measured_as_it_is():
    assert measured("hcc-1", P, [0.1, 1.0], mechanism=np.eye(3)) == same([math.log(7)] * 2)
    assert measured("hcc-1", np.eye(2), 1.0, mechanism=np.eye(2)) == math.inf
    assert measured("hcc-1", P, 1.0, mechanism=[[1.0, 1.0, 1.0]]) == same(0)
    never = [[0.5, 0.5, 0.5], [0.0, 0.0, 0.0], [0.5, 0.5, 0.5]]
    assert measured("hcc-1", P, 1.0, mechanism=never) == same(0)
    unused = [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]  # no target value has the third source value
    assert measured("hcc-1", [[0.7, 0.3, 0.0], [0.2, 0.8, 0.0]], 1.0, mechanism=unused) == same(0)


@given(st.integers(1, 6), budgets(most=100.0))
def test_channels_are_channels(size, epsilon):
    for channel in (channels.grr(size, epsilon), channels.unary(size, epsilon)):
        assert channel.shape[1] == size
        assert channel.sum(axis=0) == same(np.ones(size))
        ratio = np.log(channel.max(axis=1)) - np.log(channel.min(axis=1))
        assert ratio.max() == same(epsilon if size > 1 else 0.0, rel=1e-12, absolute=1e-12)


# ----------------------------------------------------------------------------------------- MI and PCC


def records(counts):
    """The two columns of a dataset with these counts."""
    target, source = np.indices(counts.shape)
    return np.repeat(target.ravel(), counts.ravel()), np.repeat(source.ravel(), counts.ravel())


def test_mutual_information_from_entropies(rng):
    for _ in range(20):
        counts = rng.integers(0, 20, rng.integers(2, 6, 2)) + np.eye(1, dtype=int)
        joint = counts / counts.sum()
        entropy = [
            -sum(p * math.log(p) for p in part.ravel() if p)
            for part in (joint, joint.sum(axis=0), joint.sum(axis=1))
        ]
        table = dt.Conditional.from_counts(counts)
        value = measured("mi", table, 1.0, weights=counts.sum(axis=1))
        assert value == same(entropy[1] + entropy[2] - entropy[0])


def test_correlation_of_records(rng):
    for _ in range(20):
        counts = rng.integers(0, 20, rng.integers(2, 6, 2)) + 1
        expected = np.corrcoef(*records(counts))[0, 1]
        table = dt.Conditional.from_counts(counts)
        assert measured("pcc", table, 1.0, weights=counts.sum(axis=1)) == same(expected)


def test_targets_are_equally_likely_unless_told():
    for name in ("mi", "pcc"):
        assert measured(name, P, 1.0) == same(measured(name, P, 1.0, weights=[3, 3]))
        assert abs(measured(name, P, 1.0) - measured(name, P, 1.0, weights=[1, 9])) > 0.01
    assert measured("mi", np.eye(4), 1.0) == same(math.log(4))
    assert measured("pcc", np.eye(4), 1.0) == same(1.0)
    assert measured("pcc", np.eye(4)[::-1], 1.0) == same(-1.0)


def test_they_bound_nothing():
    """One in a thousand is revealed with certainty; the averages hardly see it."""
    table, weights = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [0.999, 0.001]
    assert measured("mi", table, 5.0, weights=weights) < 0.01
    assert measured("pcc", table, 5.0, weights=weights) < 0.1
    assert dt.leakage(table, 5.0) == same(5.0)


def test_what_does_not_vary_tells_nothing():
    for name in ("mi", "pcc"):
        assert measured(name, [[1.0, 0.0], [1.0, 0.0]], 1.0) == 0
        assert measured(name, [[0.3, 0.7]], 1.0) == same(0)
        assert measured(name, P, 1.0, weights=[1, 0]) == same(0)


# --------------------------------------------------------------------------------------------- triads


@given(tables(), budgets(least=0.1))
def test_the_order_of_the_triads(known, epsilon):
    values = [
        measured(name, known.floats, epsilon) for name in ("exact", "triad-calibrated", "triad")
    ]
    values.append(measured("triad-uncalibrated", known.floats, epsilon))
    for lower, higher in itertools.pairwise(values):
        assert lower <= higher + 1e-12 * max(1, higher)


def test_triads_are_those_of_the_package():
    assert measured("triad", P, 1.0) == dt.triad(P).leakage(1.0)
    assert measured("triad-uncalibrated", P, 1.0) == dt.uncalibrated(P).leakage(1.0)
    at = dt.triad(P, calibrate_at=0.5).leakage(1.0)
    assert measured("triad-calibrated", P, 1.0, calibrate_at=0.5) == at


# --------------------------------------------------------------------------------------------- errors


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


def test_cbp_refuses_more_than_20_symbols_by_name():
    with pytest.raises(ValueError, match=r"cbp got 21 source values, expected at most 20"):
        measured("cbp", np.full((2, 21), 1 / 21), 1.0)
    assert measured("cbp", np.full((2, 20), 1 / 20), 1.0) == 0


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (channels.unary, (17, 1.0), "size is 17, expected at most 16"),
        (channels.unary, (8, 1e4), "epsilon is 10000"),
        (channels.grr, (0, 1.0), "size is 0"),
        (channels.grr, (3, -1.0), r"epsilon is -1\.0"),
        (channels.grr, (3, [1.0]), r"epsilon has shape \(1,\), expected one number"),
    ],
)
def test_impossible_channels_are_named(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(*arguments)


# --------------------------------------------------------------------------------------- command line


@pytest.fixture
def run(capsys, monkeypatch):
    pytest.importorskip("typer")
    from deptriad.cli import main

    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["rivals", *arguments])
        assert not ended.value.code
        return capsys.readouterr().out

    return run


def test_command_lists_every_measure(run):
    output = run()
    first = [line.split()[0] for line in output.splitlines() if line.strip()]
    assert [word for word in first if word in measures] == [*measures, *measures]
    assert {"O(ab)", "O(1)", "mechanisms", "uncertainty", "yes"} <= set(output.split())


def test_command_for_machines(run):
    assert json.loads(run("--json")) == [rival.facts for rival in measures.values()]


def test_command_help(run):
    output = run("--help")
    assert "--json" in output
    assert "Example: deptriad rivals" in output
