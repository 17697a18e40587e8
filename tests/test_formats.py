"""The JSON schemas of the reference: what the package writes validates, and what is spoiled does not."""

import copy
import json
import math
from pathlib import Path

import numpy as np
import pytest

import deptriad as dt
from deptriad.clients.wire import KEYS, Wire
from deptriad.mechanisms import mechanisms
from deptriad.totals.proof import FORMS

jsonschema = pytest.importorskip("jsonschema")
pd = pytest.importorskip("pandas")
referencing = pytest.importorskip("referencing")

FOLDER = Path(__file__).parents[1] / "docs/reference/formats"
SCHEMAS = {
    path.name.removesuffix(".schema.json"): json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(FOLDER.glob("*.schema.json"))
}


def valid(kind, content):
    known = [(each["$id"], referencing.Resource.from_contents(each)) for each in SCHEMAS.values()]
    registry = referencing.Registry().with_resources(known)
    return jsonschema.Draft202012Validator(SCHEMAS[kind], registry=registry).is_valid(content)


@pytest.fixture(scope="module")
def people():
    i = np.arange(3000)
    frame = pd.DataFrame({"age": 18 + i * 37 % 72, "smokes": (i % 11 < 5 + i % 3).astype(bool)})
    frame["job"] = np.where(frame["age"] > 64, "retired", np.array(["cook", "smith"])[i // 7 % 2])
    return frame


@pytest.fixture(scope="module")
def analysis(people):
    schema = dt.Schema(
        [
            dt.Attribute("age", edges=[18, 40, 65, math.inf], missing="error"),
            dt.Attribute("job", ["cook", "retired"], missing="other", unseen="other"),
            dt.Attribute("smokes", [False, True], missing="error"),
        ]
    )
    return dt.analyze(dt.Prior.from_data(people, schema))


@pytest.fixture(scope="module")
def written(analysis, people, tmp_path_factory):
    """Every kind of file, in every version that is written today."""
    folder = tmp_path_factory.mktemp("files")
    plan = dt.calibrate(analysis, 2.0)
    inferred = dt.Schema.infer(people, bins=2, public=True)
    first, *_ = inferred["age"].values
    edited = inferred.changed("age", name="how old", labels={first: "young"}).changed(
        "job", groups={"crafts": ["cook", "smith"]}, labels={"crafts": "a craft"}
    )
    promises = {"age": 2.0, "job": math.inf, "smokes": 1.0}
    saved = {
        "schema": analysis.schema,
        "schema, inferred": inferred,
        "schema, edited": edited,
        "analysis": analysis,
        "plan": plan,
        "plan, version 1": dt.calibrate(analysis, promises, views="all"),
        "plan, no prior": dt.calibrate(analysis.schema, 2.0),
        "plan, edited": dt.calibrate(edited, 2.0),
        "plan, uncertain": dt.calibrate(dt.analyze(analysis.prior, dt.Relative(0.1)), 2.0),
    }
    found = {}
    for name, each in saved.items():
        each.save(folder / f"{name}.json")
        found[name] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    wire = Wire.of(plan)
    found["report"] = json.loads(json.dumps(wire.sent([[0, 0, 0]])[0]))
    total = analysis.totals({"age": 1.0, "job": 0.5, "smokes": 2.0})["age"]
    found["proof"] = json.loads(json.dumps(total.proof.to_dict()))
    own = analysis.totals(1.0, mechanisms="grr")["age"]
    found["proof, own mechanisms"] = json.loads(json.dumps(own.proof.to_dict()))
    return found


def test_every_schema_is_one():
    assert set(SCHEMAS) == {"schema", "analysis", "plan", "report", "proof"}
    for each in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(each)


def test_what_is_written_validates(written):
    assert written["plan"]["version"] == 2
    assert written["plan, version 1"]["version"] == 1
    for name, content in written.items():
        assert valid(name.split(",")[0], content), name


def test_what_is_spoiled_does_not_validate(written):
    """Without a key, with one more, and with what is no number, text or list in the place of each."""
    for name, content in written.items():
        kind = name.split(",")[0]
        for key in SCHEMAS[kind].get("required", content):
            spoiled = copy.deepcopy(content)
            if key not in ("facts", "everything"):
                spoiled[key] = {"no": ["such", "thing"]}
                assert not valid(kind, spoiled), (name, key)
            if key != "everything":
                del spoiled[key]
                assert not valid(kind, spoiled), (name, key)
        if kind != "analysis":
            assert not valid(kind, content | {"another": 1}), name


def test_a_schema_names_what_the_package_has():
    proof = SCHEMAS["proof"]["properties"]
    assert set(proof["form"]["enum"]) == set(FORMS)
    view = SCHEMAS["plan"]["$defs"]["version 2"]["properties"]["views"]["items"]["properties"]
    assert set(view["mechanisms"]["items"]["enum"]) == set(mechanisms)
    assert set(SCHEMAS["report"]["properties"]) == set(KEYS)
