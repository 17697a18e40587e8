"""Schema: its attributes, and its file."""

import json
import math
import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deptriad as dt
from small_records import AGE, ALL, KIDS, SEX, WED

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

INF = math.inf


def test_a_schema_is_its_attributes_in_order():
    assert tuple(ALL.names) == ("sex", "age", "kids", "wed")
    assert (len(ALL), list(ALL), ALL["age"]) == (4, [SEX, AGE, KIDS, WED], AGE)
    assert dt.Schema([SEX, AGE]) == dt.Schema((SEX, AGE))
    assert dt.Schema([SEX, AGE]) != dt.Schema([AGE, SEX])
    assert dt.Schema([SEX]) != dt.Schema([dt.Attribute("sex", categories=["m", "f"])])


def test_only_and_without_choose_attributes():
    assert ALL.only("sex", "wed") == dt.Schema([SEX, WED])
    assert ALL.without("sex", "wed") == dt.Schema([AGE, KIDS])


@pytest.mark.parametrize(
    "choose",
    [ALL.only, ALL.without, ALL.__getitem__],
    ids=["only", "without", "item"],
)
def test_an_unknown_name_is_an_error_that_names_a_close_one(choose):
    with pytest.raises((KeyError, ValueError), match=r"agee.*'age'"):
        choose("agee")


@pytest.mark.parametrize(("attributes", "said"), [([], "attribute"), ([SEX, AGE, SEX], "sex")])
def test_a_schema_has_one_attribute_or_more_of_different_names(attributes, said):
    with pytest.raises(ValueError, match=said):
        dt.Schema(attributes)


# ----------------------------------------------------------------------------------------- JSON


def test_the_file_is_json_for_people(tmp_path):
    ALL.save(tmp_path / "schema.json")
    text = (tmp_path / "schema.json").read_text(encoding="utf-8")
    saved = json.loads(text, parse_constant=pytest.fail)
    assert (saved["format"], saved["version"]) == ("deptriad schema", 1)
    assert saved["attributes"][0] == {
        "name": "sex",
        "categories": ["f", "m"],
        "missing": "error",
        "unseen": "error",
    }
    assert saved["attributes"][1]["edges"] == [0, 18, 65, "inf"]
    assert saved["attributes"][3]["categories"] == [False, True]
    assert len(text.splitlines()) > len(ALL)  # laid out, not one long line


def test_notes_are_saved_and_not_compared(tmp_path):
    with pytest.warns(UserWarning, match="always"):
        schema = dt.Schema.infer(pd.DataFrame({"a": ["x", "y"], "always": [1, 1]}))
    schema.save(tmp_path / "s.json")
    loaded = dt.Schema.load(tmp_path / "s.json")
    assert loaded.notes == schema.notes
    assert loaded == schema.only("a")


NUMBERS = st.integers(1 - 2**53, 2**53 - 1) | st.floats(
    -(2.0**53), 2.0**53, exclude_min=True, exclude_max=True
)


TEXTS = st.text(max_size=5).filter(lambda text: text not in ("(other)", "(missing)"))


CATEGORIES = st.one_of(
    st.lists(TEXTS, min_size=1, max_size=5, unique=True),
    st.lists(NUMBERS, min_size=1, max_size=5, unique_by=float),
    st.lists(st.booleans(), min_size=1, max_size=2, unique=True),
)


EDGES = st.lists(st.floats(allow_nan=False), min_size=2, max_size=6, unique=True).map(sorted)


POLICIES = st.sampled_from(
    [
        {"missing": missing, "unseen": unseen}
        for missing in ("category", "other", "error")
        for unseen in ("error", "other")
        if (missing, unseen) != ("other", "error")
    ]
)


@st.composite
def schemas(draw):
    names = draw(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4, unique=True))
    declared = CATEGORIES.map(lambda x: {"categories": x}) | EDGES.map(lambda x: {"edges": x})
    return dt.Schema([dt.Attribute(name, **draw(declared), **draw(POLICIES)) for name in names])


@given(schemas())
def test_a_schema_comes_back_from_its_file(tmp_path_factory, schema):
    path = tmp_path_factory.mktemp("schema") / "schema.json"
    schema.save(path)
    loaded = dt.Schema.load(path)
    assert loaded == schema
    for old, new in zip(schema, loaded, strict=True):
        assert (new.kind, tuple(new.values)) == (old.kind, tuple(old.values))
    json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)


def edited(change):
    """The JSON of a good schema after an edit by hand."""
    saved = {
        "format": "deptriad schema",
        "version": 1,
        "attributes": [
            {"name": "sex", "categories": ["f", "m"], "missing": "error", "unseen": "error"},
            {"name": "age", "edges": ["-inf", 18, "inf"], "missing": "category", "unseen": "error"},
        ],
        "notes": [],
    }
    change(saved)
    return json.dumps(saved)


def in_attribute(index, **changes):
    """An edit of one attribute: new values, or None to take a key away."""

    def change(saved):
        for key, value in changes.items():
            if value is None:
                del saved["attributes"][index][key]
            else:
                saved["attributes"][index][key] = value

    return edited(change)


MISTAKES = {
    "no JSON": ("{", "JSON"),
    "empty": ("", "JSON"),
    "a list": ("[]", "schema"),
    "another format": (edited(lambda saved: saved.update(format="csv")), "csv"),
    "no format": (edited(lambda saved: saved.pop("format")), "format"),
    "another version": (edited(lambda saved: saved.update(version=2)), "version.*2"),
    "no version": (edited(lambda saved: saved.pop("version")), "version"),
    "an unknown key": (edited(lambda saved: saved.update(attribute=[])), "attribute"),
    "no attributes": (edited(lambda saved: saved.pop("attributes")), "attributes"),
    "empty attributes": (edited(lambda saved: saved.update(attributes=[])), "attribute"),
    "attributes no list": (edited(lambda saved: saved.update(attributes=3)), "attributes"),
    "attribute no mapping": (edited(lambda saved: saved.update(attributes=["sex"])), "sex"),
    "no name": (in_attribute(0, name=None), "name"),
    "a name that is no text": (in_attribute(0, name=3), "name"),
    "a name twice": (in_attribute(0, name="age"), "age"),
    "an unknown key of an attribute": (in_attribute(0, colour="red"), "colour"),
    "neither categories nor edges": (in_attribute(0, categories=None), "sex"),
    "both categories and edges": (in_attribute(0, edges=[0, 1]), "sex"),
    "a category twice": (in_attribute(0, categories=["f", "f"]), "sex"),
    "mixed categories": (in_attribute(0, categories=["f", 1]), "sex"),
    "nested categories": (in_attribute(0, categories=[["f"], ["m"]]), "sex"),
    "categories as text": (in_attribute(0, categories="fm"), "sex"),
    "edges that fall": (in_attribute(1, edges=[3, 1]), "age"),
    "one edge": (in_attribute(1, edges=[3]), "age"),
    "an edge of text": (in_attribute(1, edges=[0, "much"]), "age.*much|much.*age"),
    "an edge that is no number": (in_attribute(1, edges=[0, math.nan]), "age|NaN"),
    "an unknown policy": (in_attribute(0, missing="ignore"), "ignore"),
    "another unknown policy": (in_attribute(1, unseen="drop"), "drop"),
    "missing counted with no other": (in_attribute(1, missing="other"), "age"),
    "notes no list": (edited(lambda saved: saved.update(notes=3)), "notes"),
    "an edge beyond floats": (in_attribute(1, edges=[0, 10**400]), "mine.json.*age"),
    "nested without end": ("[" * 200_000, "mine.json"),
    "a key twice": (edited(lambda saved: None).replace('"unseen"', '"name"', 1), "'name' twice"),
    "a version that is true": (edited(lambda saved: saved.update(version=True)), "version.*True"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_an_edited_file_is_named(tmp_path, mistake):
    text, said = MISTAKES[mistake]
    (tmp_path / "mine.json").write_text(text)
    with pytest.raises(ValueError, match=f"(?s){said}"):
        dt.Schema.load(tmp_path / "mine.json")


def test_the_unedited_file_is_right(tmp_path):
    (tmp_path / "mine.json").write_text(edited(lambda saved: None))
    assert dt.Schema.load(tmp_path / "mine.json")["age"].edges == (-INF, 18, INF)


def test_policies_and_notes_may_be_left_out_of_a_file(tmp_path):
    bare = {"name": "sex", "categories": ["f", "m"]}
    (tmp_path / "mine.json").write_text(
        json.dumps({"format": "deptriad schema", "version": 1, "attributes": [bare]})
    )
    assert dt.Schema.load(tmp_path / "mine.json") == dt.Schema([dt.Attribute(**bare)])


def test_a_place_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    for place in ("file/schema.json", "folder"):
        with pytest.raises(OSError, match=place.partition("/")[0]):
            ALL.save(tmp_path / place)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder .*new"):
        ALL.save(tmp_path / "new" / "schema.json")
    assert list(tmp_path.iterdir()) == []


def test_saving_again_replaces_the_file(tmp_path):
    ALL.save(tmp_path / "schema.json")
    dt.Schema([SEX]).save(tmp_path / "schema.json")
    assert dt.Schema.load(tmp_path / "schema.json") == dt.Schema([SEX])
    assert [path.name for path in tmp_path.iterdir()] == ["schema.json"]


# ----------------------------------------------------------------- columns, labels, groups, origin


@pytest.fixture
def renamed():
    """Records with codes, and a schema that calls everything by words."""
    frame = pd.DataFrame({"EDU": ["1", "2", "3", "4"] * 30, "SX": [1, 2, 1, 1] * 30})
    schema = dt.Schema.infer(frame, public=True)
    schema = schema.changed("SX", name="sex", labels={"1": "male", "2": "female"})
    return frame, schema.changed("EDU", name="school", groups={"some": ["3", "4"]})


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb"])
def test_codes_follow_columns_labels_and_groups_on_engines(renamed, kind, tmp_path):
    frame, schema = renamed
    if kind == "duckdb":
        frame.to_csv(tmp_path / "data.csv", index=False)
        data = str(tmp_path / "data.csv")
    else:
        made = {"pandas": lambda f: f, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
        data = made[kind](frame)
    assert schema.encode(data)[:4].tolist() == [[0, 0], [1, 1], [2, 0], [2, 0]]
    analysis = dt.analyze(dt.Prior.from_data(data, schema))
    assert analysis.names == ("school", "sex")
    assert "some" in str(analysis.where("school", "sex", 1.0))
    joint = analysis.prior.joint(["sex", "school"]).counts
    assert joint.tolist() == [[30, 0, 60], [0, 30, 0]]


def test_reports_and_estimates_are_called_alike(renamed):
    frame, schema = renamed
    plan = dt.calibrate(dt.analyze(dt.Prior.from_data(frame, schema)), total=8.0, views="all")
    reports = plan.perturb(frame)
    assert set(reports["sex"]) <= {"male", "female"}
    shares = plan.estimate(reports, ["school"]).to_frame()
    assert shares["school"].tolist() == ["1", "2", "some"]


def test_merging_keeps_labels_and_groups(renamed):
    frame, schema = renamed
    prior = dt.Prior.from_data(frame, schema, thin="merge", min_records=50)
    assert prior.schema["sex"].values == ("male", "(other)")
    assert prior.schema["school"].values == ("some", "(other)")
    assert prior.counts.single("school").tolist() == [60, 60]


def test_a_column_that_is_not_there_is_named_with_what_it_is_called(renamed):
    frame, schema = renamed
    with pytest.raises(ValueError, match="no column 'SX', which the schema calls 'sex'"):
        schema.encode(frame.rename(columns={"SX": "sx"}))
    with pytest.raises(ValueError, match="calls column 'SX' 'sex', as another column is called"):
        schema.encode(frame.assign(sex=1))
    with pytest.raises(ValueError, match="no field 'lables': did you mean 'labels'"):
        schema.changed("sex", lables={})


def test_files_keep_all_of_it_and_plans_keep_no_counts(renamed, tmp_path):
    schema = renamed[1]
    schema.save(tmp_path / "s.json")
    again = dt.Schema.load(tmp_path / "s.json")
    assert (again, again.origin) == (schema, schema.origin)
    assert again["sex"].counts == schema["sex"].counts == {"1": 90, "2": 30}
    plan = dt.calibrate(schema, total=1.0)
    plan.save(tmp_path / "plan.json")
    assert "counts" not in (tmp_path / "plan.json").read_text()
    assert dt.Plan.load(tmp_path / "plan.json") == plan
    assert schema.only(["sex"]).names == schema.only("sex").names == ("sex",)
    assert schema.without(["sex"]).origin == schema.origin


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        (3, "origin is 3, expected an object"),
        ({"inferred_from": 3}, '"inferred_from": 3'),
        ({"inferred_from": "a", "records": "many"}, "expected a whole number"),
        ({"inferred_from": "a", "public": "perhaps"}, "expected one of yes, no, not said"),
        ({"inferred_from": "a", "by": "me"}, "has the key 'by'"),
    ],
)
def test_a_strange_origin_is_refused(renamed, origin, said):
    content = json.loads(renamed[1].to_json()) | {"origin": origin}
    with pytest.raises(ValueError, match=re.escape(said)):
        dt.Schema.from_json(json.dumps(content))


def test_confidence_is_a_guarantee_only_with_a_schema_from_elsewhere(renamed):
    frame, schema = renamed
    with pytest.warns(UserWarning, match="no guarantee here.*inferred from a frame, 120 records"):
        same = dt.analyze(dt.Prior.from_data(frame, schema), dt.Confidence(0.9))
    assert same.certainty.startswith("no guarantee, since")
    assert "if the schema was fixed" not in same.certainty
    other = dt.analyze(dt.Prior.from_data(frame[:100], schema), dt.Confidence(0.9))
    assert "with probability 0.9: the schema was fixed beforehand" in other.certainty
    mine = dt.Schema(schema.attributes)
    unknown = dt.analyze(dt.Prior.from_data(frame, mine), dt.Confidence(0.9))
    assert unknown.certainty.endswith("if the schema was fixed beforehand")


def test_a_schema_of_many_long_questions_fits_the_screen(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    values = [f"an answer that is long {place}" for place in range(9)]
    schema = dt.Schema([dt.Attribute(f"question {place}", values) for place in range(29)])
    shown = repr(schema).splitlines()
    assert len(shown) <= 24
    assert max(map(len, shown)) <= 80
    assert shown[-1] == "  and 9 more"


def test_columns_that_name_people_are_noted():
    count = 200
    frame = pd.DataFrame(
        {
            "number": range(1000, 1000 + count),
            "mail": [f"p{i}@example.org" for i in range(count)],
            "panel": [i - (i % 50 == 9) for i in range(count)],
            "income": [i + 0.5 for i in range(count)],
            "twice": [i // 2 for i in range(count)],
            "few": [i % 5 for i in range(count)],
        }
    )
    with pytest.warns(
        UserWarning, match="every record has another number, mail, panel: .*without="
    ):
        schema = dt.Schema.infer(frame)
    assert "nearly every record has another number, mail, panel" in schema.notes
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dt.Schema.infer(frame, without=["number", "mail", "panel"])


def test_columns_of_numbers_beside_words_are_noted_and_no_others():
    pay = [str(i) for i in range(50)] + ["unknown"] * 9
    frame = pd.DataFrame({"pay": pay, "town": [f"t{i}" for i in range(40)] + ["t0"] * 19})
    with pytest.warns(UserWarning, match="have more than 30 values") as caught:
        dt.Schema.infer(frame)
    said = [str(each.message) for each in caught]
    assert "2 columns have more than 30 values: pay, town" in said[0]
    assert said[1].startswith("most of pay are numbers beside words")
    assert len(said) == 2


@pytest.mark.parametrize("engine", ["pandas", "polars"])
def test_records_of_rare_text_are_counted_where_all_columns_hold_text(engine):
    texts = {"town": [f"t{i % 50}" for i in range(500)], "name": [f"n{i}" for i in range(500)]}
    frame = pytest.importorskip(engine).DataFrame(texts)
    frame = frame.lazy() if engine == "polars" else frame
    with pytest.warns(UserWarning, match="2 columns have more than 30 values"):
        schema = dt.Schema.infer(frame)
    assert schema.origin.records == 500
    assert schema["town"].counts["(other)"] == 210
