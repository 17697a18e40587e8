"""Analysis: all triads of a prior at once, their leakage, their worst, and their file."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import deptriad as dt

pd = pytest.importorskip("pandas")

NUMBERS = ["alpha", "beta", "phi", "delta"]
NAMES = ("sex", "job", "pay")
PAIRS = list(itertools.permutations(NAMES, 2))
BUDGETS = {"sex": 0.5, "job": 1.0, "pay": 3.0}
HOSTILE = [
    "<script>alert(1)</script>",
    "[bold]x[/]",
    "=cmd|' /C calc'!A0",
    "\x1b[31mred",
    "two\nlines",
    '"; DROP TABLE data; --',
    "(other)s",
    "ünï",
]


def records(seed=11, rows=4001):
    chance = np.random.default_rng(seed)
    sex = chance.choice(["f", "m"], rows)
    job = np.where(chance.random(rows) < 0.3, sex, chance.choice(["f", "m", "z"], rows))
    pay = (job == "z") * 2.0 + chance.normal(size=rows) + (sex == "m")
    place = chance.choice(["x", "y"], rows)
    return pd.DataFrame({"sex": sex, "job": job, "pay": pay, "place": place})


SCHEMA = dt.Schema(
    [
        dt.Attribute("sex", categories=["f", "m"], missing="error"),
        dt.Attribute("job", categories=["f", "m", "z"], missing="error"),
        dt.Attribute("pay", edges=[-math.inf, 0, 1, 2, math.inf], missing="error"),
    ]
)
UNCERTAIN = {
    "relative": (dt.Relative(0.1), None),
    "absolute": (dt.Absolute(0.01), None),
    "spread": (dt.Spread("std"), "place"),
    "confidence": (dt.Confidence(0.95), None),
}


@pytest.fixture(params=["known", *UNCERTAIN])
def case(request):
    """A prior, its analysis, and the table or box of a pair that the analysis is of."""
    uncertainty, by = UNCERTAIN.get(request.param, (None, None))
    cells = 2 * (2 * 3 + 2 * 4 + 3 * 4)  # of all ordered pairs: the level holds for all at once
    together = {"confidence": dt.Confidence(0.95, cells)}.get(request.param, uncertainty)
    prior = dt.Prior.from_data(records(), SCHEMA, by=by)

    def known(source, target):
        if uncertainty is None:
            return prior.table(source, target)
        return prior.box(source, target, together)

    return prior, dt.analyze(prior, uncertainty), known


@pytest.fixture
def analysis():
    return dt.analyze(dt.Prior.from_data(records(), SCHEMA))


# ------------------------------------------------------------------------------------------- triads


def test_triads_are_those_of_each_table_or_box(case):
    _, analysis, known = case
    frame = analysis.triads
    assert list(frame.columns) == ["source", "target", *NUMBERS]
    assert sorted(zip(frame["source"], frame["target"], strict=True)) == sorted(PAIRS)
    for row in frame.itertuples():
        triad = dt.triad(known(row.source, row.target))
        found = analysis.triad(row.source, row.target)
        for name in NUMBERS:
            assert getattr(row, name) == getattr(found, name)
            assert getattr(row, name) == pytest.approx(getattr(triad, name), rel=1e-12, abs=1e-300)


def test_profiles_and_explanations_are_those_of_each_table_or_box(case):
    _, analysis, known = case
    for source, target in PAIRS:
        expected = dt.profile(known(source, target)).leakage([0.1, 1.0, 5.0])
        assert np.array_equal(analysis.profile(source, target).leakage([0.1, 1.0, 5.0]), expected)
        assert analysis.where(source, target, 1.0) == dt.where(known(source, target), 1.0)


def test_names_are_those_of_the_schema(analysis):
    assert tuple(analysis.names) == NAMES


@pytest.mark.parametrize("engine", ["polars", "pyarrow", "pandas"])
def test_frames_are_of_the_kind_that_came_in(engine):
    module = pytest.importorskip(engine)
    frame = records()
    data = {
        "pandas": lambda: frame,
        "polars": lambda: module.from_pandas(frame),
        "pyarrow": lambda: module.Table.from_pandas(frame),
    }[engine]()
    analysis = dt.analyze(dt.Prior.from_data(data, SCHEMA))
    kind = module.Table if engine == "pyarrow" else module.DataFrame
    for found in (analysis.triads, analysis.top(3), analysis.leakage(1.0).to_frame()):
        assert isinstance(found, kind)


# ------------------------------------------------------------------------------------------ leakage


@pytest.mark.parametrize("epsilon", [0.0, 0.7, 20.0, BUDGETS])
@pytest.mark.parametrize("exact", [False, True])
def test_the_matrix_has_the_leakage_of_each_pair_and_the_budget_on_its_diagonal(
    case, epsilon, exact
):
    _, analysis, known = case
    matrix = analysis.leakage(epsilon, exact=exact)
    array = np.asarray(matrix)
    assert array.shape == (3, 3)
    for (row, source), (column, target) in itertools.product(enumerate(NAMES), repeat=2):
        budget = epsilon[source] if isinstance(epsilon, dict) else epsilon
        if source == target:
            expected = budget
        elif exact:
            expected = dt.leakage(known(source, target), budget)
        else:
            expected = analysis.triad(source, target).leakage(budget)
        assert array[row, column] == pytest.approx(expected, rel=1e-12, abs=1e-300)
        assert matrix[source, target] == array[row, column]


def test_exact_is_never_above_the_bound_and_rows_are_sources(case):
    _, analysis, _ = case
    bound, exact = (np.asarray(analysis.leakage(BUDGETS, exact=way)) for way in (False, True))
    assert (exact <= bound * (1 + 1e-12)).all()
    assert (exact < bound).any()
    assert (bound.max(axis=1) <= [0.5, 1.0, 3.0]).all()


def test_the_matrix_as_a_frame(analysis):
    matrix = analysis.leakage(1.0)
    frame = matrix.to_frame()
    numbers = frame.select_dtypes("number").to_numpy()
    assert np.array_equal(numbers, np.asarray(matrix))
    assert list(frame.select_dtypes("number").columns) == list(NAMES)


def test_the_order_of_budgets_does_not_matter(analysis):
    backwards = dict(reversed(BUDGETS.items()))
    assert np.array_equal(
        np.asarray(analysis.leakage(backwards)), np.asarray(analysis.leakage(BUDGETS))
    )


@pytest.mark.parametrize(
    ("epsilon", "said"),
    [
        ({"sex": 1.0, "job": 1.0}, "pay"),
        ({**BUDGETS, "age": 1.0}, "age"),
        ({**BUDGETS, "job": -1.0}, "-1"),
        ({**BUDGETS, "job": "much"}, "much"),
        (-0.5, "-0.5"),
        (math.nan, "nan"),
        ({}, "sex"),
    ],
)
def test_wrong_budgets_are_named(analysis, epsilon, said):
    with pytest.raises(ValueError, match=said):
        analysis.leakage(epsilon)
    with pytest.raises(ValueError, match=said):
        analysis.top(3, epsilon=epsilon)


@pytest.mark.parametrize(
    "ask",
    [
        lambda a: a.triad("sexe", "job"),
        lambda a: a.profile("job", "sexe"),
        lambda a: a.where("sexe", "job", 1.0),
        lambda a: a.leakage(1.0)["sexe", "job"],
    ],
    ids=["triad", "profile", "where", "matrix"],
)
def test_an_unknown_name_is_an_error_that_names_a_close_one(analysis, ask):
    with pytest.raises((KeyError, ValueError), match=r"sexe.*sex\b"):
        ask(analysis)


@pytest.mark.parametrize("way", ["triad", "profile"])
def test_an_attribute_has_no_triad_about_itself(analysis, way):
    with pytest.raises(ValueError, match="sex"):
        getattr(analysis, way)("sex", "sex")


# ---------------------------------------------------------------------------------------------- top


@pytest.mark.parametrize("k", [1, 4, 6, 100])
@pytest.mark.parametrize("epsilon", [1.0, BUDGETS])
def test_top_is_worst_first(analysis, k, epsilon):
    found = analysis.top(k, epsilon=epsilon)
    assert list(found.columns) == ["source", "target", "leakage"]
    matrix = analysis.leakage(epsilon)
    worst = sorted(PAIRS, key=lambda pair: -matrix[pair])[:k]
    assert list(zip(found["source"], found["target"], strict=True)) == worst
    assert found["leakage"].tolist() == [matrix[pair] for pair in worst]


def test_top_is_ten_pairs_at_one_by_default(analysis):
    pd.testing.assert_frame_equal(analysis.top(), analysis.top(10, epsilon=1.0))


@pytest.mark.parametrize("k", [-1, 1.5])
def test_top_takes_a_whole_number(analysis, k):
    with pytest.raises(ValueError, match=str(k)):
        analysis.top(k)


# ------------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize("uncertainty", [0.1, "relative:0.1", dt.Relative])
def test_what_is_no_uncertainty_is_refused(uncertainty):
    prior = dt.Prior.from_data(records(), SCHEMA)
    with pytest.raises((TypeError, ValueError), match="Relative"):
        dt.analyze(prior, uncertainty)


@pytest.mark.parametrize(
    ("options", "uncertainty", "said"),
    [
        ({}, dt.Spread("std"), "by"),
        ({"by": "place"}, dt.Confidence(0.95), "groups"),
        ({"weight": "w"}, dt.Confidence(0.95), "weight"),
    ],
)
def test_an_uncertainty_that_does_not_fit_the_prior_is_refused(options, uncertainty, said):
    prior = dt.Prior.from_data(records().assign(w=1.5), SCHEMA, **options)
    with pytest.raises(ValueError, match=said):
        dt.analyze(prior, uncertainty)


def test_one_attribute_alone_leaks_nothing_to_analyse():
    with pytest.raises(ValueError, match="sex"):
        dt.analyze(dt.Prior.from_data(records(), SCHEMA.only("sex")))


# ------------------------------------------------------------------------------------------ on disk


@pytest.fixture(params=["json", "parquet"])
def place(request, tmp_path):
    if request.param == "parquet":
        pytest.importorskip("pyarrow", reason="PyArrow, which writes Parquet, is not installed")
    return tmp_path / f"mine.{request.param}"


def bits(frame):
    """The numbers of a frame of triads, to the bit."""
    return {name: frame[name].to_numpy(dtype=np.float64).tobytes() for name in NUMBERS}


def test_an_analysis_comes_back_to_the_bit(case, place):
    _, analysis, _ = case
    analysis.save(place)
    loaded = dt.Analysis.load(place)
    assert tuple(loaded.names) == NAMES
    assert list(loaded.triads["source"]) == list(analysis.triads["source"])
    assert list(loaded.triads["target"]) == list(analysis.triads["target"])
    assert bits(loaded.triads) == bits(analysis.triads)
    for epsilon in (0.3, BUDGETS):
        old, new = (np.asarray(each.leakage(epsilon)) for each in (analysis, loaded))
        assert old.tobytes() == new.tobytes()
    pd.testing.assert_frame_equal(loaded.top(4), analysis.top(4), check_exact=True)


def test_infinite_beta_and_full_delta_come_back(place):
    frame = pd.DataFrame({"a": ["x", "y"] * 50, "b": [True, False] * 50})
    analysis = dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))
    assert analysis.triad("a", "b").delta == 1.0
    analysis.save(place)
    loaded = dt.Analysis.load(place)
    assert bits(loaded.triads) == bits(analysis.triads)
    assert loaded.leakage(2.0)["a", "b"] == 2.0


def test_a_loaded_analysis_says_that_it_has_no_tables(analysis, place):
    analysis.save(place)
    loaded = dt.Analysis.load(place)
    for ask in (
        lambda: loaded.profile("sex", "job"),
        lambda: loaded.where("sex", "job", 1.0),
        lambda: loaded.leakage(1.0, exact=True),
    ):
        with pytest.raises(ValueError, match="table"):
            ask()


def numbers_in(value):
    """All numbers anywhere inside a JSON value, also those in texts that are JSON themselves."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from numbers_in(part)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def test_the_file_has_no_counts_and_no_table(analysis, place):
    analysis.save(place)
    if place.suffix == ".json":
        content = json.loads(place.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    else:
        table = pytest.importorskip("pyarrow.parquet").read_table(place)
        assert table.num_rows == len(PAIRS)
        about = {key.decode(): text.decode() for key, text in (table.schema.metadata or {}).items()}
        about.pop("ARROW:schema", None)
        content = [table.to_pydict(), about]
    saved = set(numbers_in(content))
    assert set(analysis.triads["phi"]) <= saved
    counts = dt.Counts.from_data(records(), SCHEMA)
    secret = {counts.records}
    for source, target in PAIRS:
        table = counts.table(source, target)
        secret |= set(table.flat) | set((table / table.sum(axis=1, keepdims=True)).flat)
        secret |= set(counts.single(source))
    assert len(secret) > 60
    assert min(secret) > 0
    assert not {number for number in secret if number >= 10 or number < 1} & saved


def test_json_is_strict_and_readable(analysis, tmp_path):
    analysis.save(tmp_path / "mine.json")
    text = (tmp_path / "mine.json").read_text(encoding="utf-8")
    json.loads(text, parse_constant=pytest.fail)
    assert len(text.splitlines()) > len(PAIRS)


def test_hostile_labels_stay_text(place):
    names = HOSTILE[:4]
    chance = np.random.default_rng(5)
    frame = pd.DataFrame({name: chance.choice(HOSTILE, 2000) for name in names})
    schema = dt.Schema([dt.Attribute(name, HOSTILE, missing="error") for name in names])
    analysis = dt.analyze(dt.Prior.from_data(frame, schema))
    analysis.save(place)
    loaded = dt.Analysis.load(place)
    assert tuple(loaded.names) == tuple(names)
    assert set(loaded.triads["source"]) == set(names)
    assert bits(loaded.triads) == bits(analysis.triads)
    assert loaded.leakage(1.0)[names[3], names[0]] == analysis.leakage(1.0)[names[3], names[0]]
    for shown in (
        repr(analysis),
        str(analysis),
        repr(loaded),
        str(analysis.leakage(1.0)),
        str(analysis.where(names[3], names[1], 1.0)),
    ):
        assert "\x1b" not in shown
    labels = analysis.where(names[0], names[1], 1.0)
    assert set(labels.value_labels) <= set(HOSTILE)


@pytest.mark.parametrize("kept", [0, 10, -1, -40])
def test_a_truncated_file_is_named(analysis, place, kept):
    analysis.save(place)
    place.write_bytes(place.read_bytes().rstrip()[:kept])
    with pytest.raises(ValueError, match=place.name):
        dt.Analysis.load(place)


def test_a_file_of_something_else_is_named(analysis, place, tmp_path):
    if place.suffix == ".json":
        SCHEMA.save(place)
    else:
        records().to_parquet(place)
    with pytest.raises(ValueError, match=place.name):
        dt.Analysis.load(place)


def edited(content, change):
    """A copy of JSON content after a change of every object in it."""

    def walk(value):
        if isinstance(value, dict):
            return change({key: walk(part) for key, part in value.items()})
        return [walk(part) for part in value] if isinstance(value, list) else value

    return walk(content)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content | {"version": 99},
        lambda content: content | {"format": "something else"},
        lambda content: [content],
        lambda content: {key: value for key, value in content.items() if key != "version"},
        lambda content: edited(content, lambda d: {k: v for k, v in d.items() if k != "alpha"}),
        lambda content: edited(
            content, lambda d: {k: "?" if k == "phi" else v for k, v in d.items()}
        ),
        lambda content: edited(
            content, lambda d: {k: -1 if k == "delta" else v for k, v in d.items()}
        ),
    ],
    ids=["version", "format", "list", "no version", "no alpha", "text for a number", "below 0"],
)
def test_an_edited_file_is_checked(analysis, tmp_path, spoil):
    path = tmp_path / "mine.json"
    analysis.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["digest"]  # else that alone would tell
    path.write_text(json.dumps(spoil(content)), encoding="utf-8")
    with pytest.raises(ValueError, match=r"mine\.json"):
        dt.Analysis.load(path)


def test_a_number_that_was_changed_is_noticed(analysis, tmp_path):
    path = tmp_path / "mine.json"
    analysis.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    changed = edited(content, lambda d: {k: 0.25 if k == "phi" else v for k, v in d.items()})
    path.write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"mine\.json has the digest .* changed after it was saved"
    ):
        dt.Analysis.load(path)
    del content["digest"]  # a file of before
    path.write_text(json.dumps(content), encoding="utf-8")
    assert bits(dt.Analysis.load(path).triads) == bits(analysis.triads)


def test_a_column_that_was_changed_is_noticed(analysis, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "mine.parquet"
    analysis.save(path)
    table = parquet.read_table(path)
    place = table.column_names.index("phi")
    halved = [value / 2 for value in table["phi"].to_pylist()]
    parquet.write_table(table.set_column(place, "phi", [halved]), path)
    with pytest.raises(ValueError, match=r"mine\.parquet has the digest"):
        dt.Analysis.load(path)


@pytest.mark.parametrize("name", ["mine.txt", "mine", "mine.csv"])
def test_a_file_of_an_unknown_kind_is_refused_and_not_made(analysis, tmp_path, name):
    with pytest.raises(ValueError, match=r"(?s)mine.*\.json.*\.parquet"):
        analysis.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match=r"(?s)mine.*\.json.*\.parquet"):
        dt.Analysis.load(tmp_path / name)


def test_a_place_that_cannot_be_written_leaves_nothing_behind(analysis, place, tmp_path):
    (tmp_path / "file").touch()
    place.mkdir()
    for bad in (tmp_path / "file" / place.name, place):
        with pytest.raises(OSError, match=r"file|mine"):
            analysis.save(bad)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", place.name]


# ------------------------------------------------------------------------------------------- totals


def coins():
    frame = pd.DataFrame({"a": [0, 0, 1, 1] * 50, "b": [0, 1, 0, 1] * 50, "xor": [0, 1, 1, 0] * 50})
    return dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))


def test_totals_of_an_xor():
    totals = coins().totals({"a": 1.0, "b": 1.0, "xor": 0.5})
    assert list(totals) == ["a", "b", "xor"]
    assert totals["xor"].own == 0.5
    assert totals["xor"].pairwise == pytest.approx(0.5, abs=1e-12)
    assert totals["xor"].certified == pytest.approx(0.5 + np.log(np.cosh(1.0)), abs=1e-12)
    assert totals["xor"].budgets == 2.5
    assert "certified" in totals.to_frame().columns


def test_only_what_is_released_counts():
    totals = coins().totals(1.0, sources=["a", "xor"])
    assert totals["b"].own == 0
    assert totals["b"].certified == pytest.approx(np.log(np.cosh(1.0)), abs=1e-12)
    assert totals["a"].budgets == 2
    with pytest.raises(ValueError, match=r"no attribute .xro.: did you mean .xor."):
        coins().totals(1.0, sources=["xro"])


def test_proofs_are_verified_from_the_tables():
    analysis = coins()
    proof = analysis.totals(1.0)["xor"].proof
    assert analysis.verify(proof) <= proof.value
    with pytest.raises(ValueError, match="xor"):
        analysis.verify(replace(proof, value=proof.value - 1e-6))


def test_totals_under_approximate_privacy_are_called_an_estimate():
    total = coins().approximate_totals(1.0, 1e-6)["xor"]
    assert total.epsilon == 3
    assert total.delta == pytest.approx(3e-6)
    assert total.estimate_epsilon == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("sources", [["a"], []])
def test_totals_where_nothing_else_is_released(sources):
    totals = coins().totals({"a": 1.0} if sources else {}, sources=sources)
    own = float(len(sources))
    total = totals["a"]
    assert (total.own, total.paired, total.pairwise, total.certified, total.budgets) == (own,) * 5


def test_sources_are_a_list():
    with pytest.raises(ValueError, match=r"expected a list of names: \['xor'\]"):
        coins().totals(1.0, sources="xor")
