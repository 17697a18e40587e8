"""deptriad.js in Node: the same reports as Python from the same words, and what it refuses."""

import json
import subprocess

import numpy as np
import pytest

import client_vectors
import deptriad as dt
import javascript
import surroundings
from deptriad.clients import script
from deptriad.clients.one_record import told
from deptriad.collection.split import as_strategy
from deptriad.mechanisms import mechanisms
from deptriad.mechanisms.grr import lying_cell
from deptriad.utils import signatures

pytestmark = pytest.mark.skipif(bool(javascript.why_not()), reason=javascript.why_not() or "")

ANSWERS = """
const splitmix = (seed, count) => Array.from({ length: count }, (_, step) => {
  let word = BigInt.asUintN(64, BigInt(seed) + BigInt(step + 1) * 0x9E3779B97F4A7C15n);
  word = BigInt.asUintN(64, (word ^ (word >> 30n)) * 0xBF58476D1CE4E5B9n);
  word = BigInt.asUintN(64, (word ^ (word >> 27n)) * 0x94D049BB133111EBn);
  return word ^ (word >> 31n);
});
const found = [];
for (const { plan, cases } of given.plans) {
  const survey = await open(plan);
  found.push({
    fingerprint: survey.fingerprint,
    values: Object.fromEntries(survey.schema.map((each) => [each.name, each.values])),
    cases: cases.map(({ record, words, seed }) => survey.fromWords(
      record, [...words.map((word) => BigInt(`0x${word}`)), ...splitmix(seed, given.plenty)])),
  });
}
tell(found);
"""


def agree(folder, content):
    """The script makes of the vectors what they say."""
    found = javascript.run(folder, ANSWERS, content | {"plenty": client_vectors.PLENTY})
    for expected, own in zip(content["plans"], found, strict=True):
        for key in ("fingerprint", "values"):
            assert own[key] == expected[key], expected["about"]
        for case, answer in zip(expected["cases"], own["cases"], strict=True):
            assert answer == {key: case[key] for key in ("view", "answers", "used")}, (
                expected["about"],
                case,
            )


def test_the_vectors_are_what_python_makes():
    assert client_vectors.FILE.read_text(encoding="ascii") == client_vectors.text()


def test_the_script_makes_the_reports_of_the_vectors(tmp_path):
    agree(tmp_path, json.loads(client_vectors.FILE.read_text(encoding="ascii")))


def test_and_those_of_any_other_words(tmp_path, rng):
    some = rng.choice(list(client_vectors.plans()), 5, replace=False).tolist()
    agree(tmp_path, client_vectors.content(4, int(rng.integers(1 << 32)), some))


def numbers(way, size, budget):
    """What the script should make of a mechanism."""
    own = mechanisms[way](size, budget)
    if way == "grr":
        cell, bits = own._cell
        return {"cell": cell, "mask": 2**bits - 1}
    if way == "olh":
        return {"cells": own.cells, "cell": lying_cell(own.cells, budget, 64)}
    if way == "staircase":
        return {"step": own.step, "high": own._heights[0], "low": own._heights[1]}
    keep, add = (int(chance * 2**64) for chance in own.probabilities)
    if way == "subset":
        return {"keep": keep, "width": own.width}
    if way == "hadamard":
        return {"keep": keep, "columns": own.letters}
    return {"keep": keep, "add": add}


def test_whole_numbers_behind_chances_are_those_of_python_at_any_budget(tmp_path, rng):
    given = []
    for way in mechanisms:
        for _ in range(150):
            size = int(
                rng.choice([2, 3, 5, 8, 63, 64, 65, 200, 1000][: 6 if way == "staircase" else 9])
            )
            budget = [
                10.0 ** rng.uniform(-7, 2),
                rng.uniform(0.01, 9.0),
                np.log(
                    rng.integers(3, 12) / 2
                ),  # where e^ε is half a whole number, or was before rounding
                float(rng.integers(1, 70)),
            ][rng.integers(4)]
            try:
                own = numbers(way, size, float(budget))
            except ValueError:  # too small
                continue
            given.append([way, size, float(budget), {key: str(own[key]) for key in own}])
    found = javascript.run(
        tmp_path,
        "tell(given.map(([way, size, budget]) => own.MECHANISMS[way](BigInt(size), budget).numbers));",
        given,
    )
    assert len(found) > 900
    for (way, size, budget, expected), own in zip(given, found, strict=True):
        assert own == expected, (way, size, budget)


def test_the_script_has_all_mechanisms_that_a_plan_can_have(tmp_path):
    assert javascript.run(tmp_path, "tell(Object.keys(own.MECHANISMS));") == list(mechanisms)


def test_numbers_are_spelt_as_python_spells_them(tmp_path, rng):
    every = [
        0.5,
        1e22,
        123456789012.5,
        123456789013.5,
        999999999999.5,
        1e-5,
        0.00012345678901250001,
    ]
    every += (rng.standard_normal(300) * 10.0 ** rng.integers(-30, 30, 300)).tolist()
    every += (rng.integers(0, 10**13, 300) / 2.0 ** rng.integers(0, 20, 300)).tolist()
    found = javascript.run(
        tmp_path, "tell(given.map((each) => [own.decimal(each), own.decimal(each, true)]));", every
    )
    assert found == [[f"{each:.12g}", repr(float(each))] for each in every]


def test_values_have_the_codes_that_the_schema_gives_them(tmp_path):
    import pandas as pd

    schema = dt.Schema(
        [
            dt.Attribute("text", ["a", "b", "3"], missing="other", unseen="other"),
            dt.Attribute("number", [3, 1, 0.5, -2], unseen="other"),
            dt.Attribute("boolean", [True, False]),
            dt.Attribute("bins", edges=[float("-inf"), 0, 1.5, 9]),
            dt.Attribute("open", edges=[0, 1, float("inf")], unseen="other"),
        ]
    )
    columns = {
        "text": ["a", "b", "3", "c", None],
        "number": [3, 1.0, 0.5, -2, 7, None],
        "boolean": [True, False, None],
        "bins": [-1e300, -0.0, 0, 1.4, 1.5, 9, None],
        "open": [0, 1, 1e9, -1, None],
    }
    records = [(name, value) for name in schema.names for value in columns[name]]
    values = {each.name: each for each in schema}
    code = """
const { schema } = await open(given.plan);
const attributes = Object.fromEntries(schema.map((each) => [each.name, each]));
tell(given.records.map(([name, value]) => Number(own.codeOf(attributes[name], { [name]: value }))));
"""
    plan = client_vectors.plan_of(
        schema, client_vectors.separate(schema, dict.fromkeys(schema.names, "grr"), 1.0)
    )
    labels = [(each.name, label) for each in schema for label in each.values]
    given = {"plan": json.loads(plan.to_json()), "records": records + labels}
    found = javascript.run(tmp_path, code, given)
    expected = [
        int(dt.Schema([values[name]]).encode(pd.DataFrame({name: [value]}, dtype=object))[0, 0])
        for name, value in records
    ]
    assert found == expected + [values[name].values.index(label) for name, label in labels]


CAUGHT = """
const caught = async (what) => {
  try { await what(); return "nothing was refused"; } catch (error) { return error.message; }
};
"""


def test_what_is_no_value_of_the_schema_is_refused(tmp_path):
    plan = client_vectors.plans()["grr, 1 each"]
    code = (
        CAUGHT
        + """
const survey = await open(given);
const good = { a0: 0, a1: 4, a2: 69 };
const found = [await caught(() => survey.report(good)), await caught(() => survey.report(good, 1))];
for (const bad of [{ a0: 2 }, { a0: null }, { a0: NaN }, { a1: "x" }, { a1: undefined }, { a2: -1 }, { a2: 0.5 }])
  found.push(await caught(() => survey.report({ ...good, ...bad })));
found.push(await caught(() => survey.report({ a0: 0, a1: 0 })));
found.push(await caught(() => survey.report(Object.create(good))));
found.push(await caught(() => survey.report(good, 2)), await caught(() => survey.report(good, 0)));
found.push(await caught(() => survey.fromWords(good, [1n, 2n])));
tell(found);
"""
    )
    found = javascript.run(tmp_path, code, json.loads(plan.to_json()))
    assert found[:2] == ["nothing was refused"] * 2
    # the answer itself is not in the message, which may end up in somebody's log
    assert found[2] == 'the answer to "a0" is none of its values, expected one of "0", "1"'
    for said in found[3:9]:
        assert "is none of its values" in said
    for said in found[9:11]:
        assert "the record lacks" in said
    assert found[11:] == [
        "the view is 2, expected 1 to 1",
        "the view is 0, expected 1 to 1",
        "there are 2 words, too few",
    ]


@pytest.mark.parametrize(
    "change, said",
    [
        ({"version": 3}, 'the plan has "version": 3, expected 1 or 2'),
        ({"version": "2"}, 'the plan has "version": "2", expected 1 or 2'),
        ({"format": "deptriad schema"}, 'the plan has "format": "deptriad schema"'),
        ({"mechanism": "telepathy"}, 'the mechanism is "telepathy", expected one of grr, sue'),
        ({"mechanism": "toString"}, 'the mechanism is "toString", expected one of grr, sue'),
        ({"budget": 0}, "the budget is 0, expected a number above 0"),
        ({"budget": "inf"}, 'the budget is "inf", expected a number above 0'),
        ({"name": "a9"}, 'the schema lacks "a9"'),
    ],
)
def test_a_plan_that_is_none_is_refused(tmp_path, change, said):
    content = json.loads(client_vectors.plans()["grr, 1 each"].to_json())
    view = content["views"][0]
    for key, value in change.items():
        if key in content:
            content[key] = value
        else:
            view[{"mechanism": "mechanisms", "budget": "budgets", "name": "attributes"}[key]][0] = (
                value
            )
    found = javascript.run(tmp_path, f"{CAUGHT} tell(await caught(() => open(given)));", content)
    assert found.startswith(said)


def test_a_plan_needs_the_signature_of_the_key(tmp_path):
    pytest.importorskip("cryptography")
    path = tmp_path / "plan.json"
    client_vectors.plans()["names and values that are hard to spell"].save(path)
    public = signatures.new_key(tmp_path / "own.pem")
    other = signatures.new_key(tmp_path / "other.pem")
    signature = signatures.sign(path, tmp_path / "own.pem").read_text()
    given = {"text": path.read_text(), "signature": signature, "key": public.read_text()}
    given |= {"other": other.read_text()}
    code = (
        CAUGHT
        + """
const { text, signature, key, other } = given;
const changed = signature.replace(/[A-Z]/, (sign) => sign === "A" ? "B" : "A");
const tried = [
  [text, { signature, key }], [text, { key }], [JSON.parse(text), { signature, key }],
  [text + " ", { signature, key }], [text, { signature, key: other }], [text, { signature: changed, key }],
  [text, { signature: "", key }], [text, { signature: "?", key }], [text, { signature, key: "no key" }],
];
const found = [];
for (const [plan, options] of tried) found.push(await caught(() => open(plan, options)));
tell(found);
"""
    )
    refused = "the plan was changed, or signed by someone else"
    unsigned = "the plan is not signed: pass its text, and { signature }, the text of plan.json.sig"
    expected = ["nothing was refused", unsigned, unsigned, *[refused] * 6]
    assert javascript.run(tmp_path, code, given) == expected
    # with the key in the script, no other one is asked
    own = script.script(public)
    expected = ["nothing was refused", unsigned, unsigned, refused, "nothing was refused"]
    assert javascript.run(tmp_path, code, given, own)[:5] == expected


@pytest.mark.parametrize(
    "change",
    [
        "Crypto.prototype.getRandomValues = undefined",
        "Crypto.prototype.getRandomValues = (array) => array",
        "Crypto.prototype.getRandomValues = function (array) { return array.fill(7n); }",
        "delete globalThis.Crypto",
        "Object.defineProperty(globalThis, 'crypto', { value: { getRandomValues: (array) => array, subtle } })",
    ],
)
def test_no_source_but_the_secure_one_is_taken(tmp_path, change):
    code = f"""
{CAUGHT} const {{ subtle }} = crypto; {change};
const {{ open }} = await import("./deptriad.mjs");
const survey = await open(given);
tell([await caught(() => survey.draw()), await caught(() => survey.report({{ a0: 0, a1: 0, a2: 0 }}, 1))]);
"""
    plan = client_vectors.plans()["oue, as one value, in views"]
    found = javascript.run(tmp_path, code, json.loads(plan.to_json()))
    assert "nothing was refused" not in found


def test_where_nothing_is_changed_reports_come_from_the_secure_source(tmp_path):
    """Of a fair bit: 64 reports alike have chance 2^-63. And something put on the object itself is not asked."""
    plan = client_vectors.plans()["sue, 0.3 each"]
    code = """
crypto.getRandomValues = () => { throw new Error("asked"); };
const survey = await open(given);
tell(Array.from({ length: 64 }, () => survey.report({ a0: 0, a1: 0, a2: 0 })));
"""
    found = javascript.run(tmp_path, code, json.loads(plan.to_json()))
    assert len({each["id"] for each in found}) == 64
    assert len({json.dumps(each["answers"]) for each in found}) > 1


def test_it_is_small_has_no_dependency_and_its_types_name_what_it_has():
    own = script.script()
    assert len(own.encode("utf-8")) < 19_930  # and some room for a key
    assert "import(" not in own
    assert 'from "' not in own
    assert "Math.random" not in own
    assert "eval" not in own
    types = script.types()
    for name in ("open", "draw", "report", "fromWords", "fingerprint", "schema", "views"):
        assert f"{name}(" in types or f"{name}:" in types
        assert name in own


TYPED = """
import { open, type Attribute, type Report, type Survey, type Value } from "./deptriad.js";

const survey: Survey = await open("{}", { signature: "", key: "" });
await open({ format: "deptriad plan" });
const view: number = survey.draw();
const names: readonly (readonly string[])[] = survey.views;
const record: Record<string, Value> = { a: 1, b: "x", c: true, d: null };
const reports: Report[] = [survey.report(record), survey.report(record, view)];
const { format, version, plan, id, answers }: Report = reports[0]!;
const [one, two]: ["deptriad report", 1] = [format, version];
const texts: (string | undefined)[] = [plan, id, answers["a"], survey.fingerprint, ...names[view - 1]!];
const { used }: { view: number; answers: Record<string, string>; used: number } = survey.fromWords(record, [1n]);
for (const each of survey.schema) {
  const { name, values, categories, edges, codes, missing, unseen }: Attribute = each;
  export_(name, values, categories?.[0], edges?.[0], codes?.[0], missing === "other", unseen === "error");
}
function export_(...every: unknown[]): number { return every.length; }
export_(one, two, texts, used);
// @ts-expect-error
survey.report(record, "1");
// @ts-expect-error
survey.report({ a: undefined });
// @ts-expect-error
survey.fromWords(record, [1]);
// @ts-expect-error
survey.fingerprint = "";
// @ts-expect-error
await open(3);
export {};
"""


def test_its_types_fit_a_program_that_uses_all_of_it(tmp_path):
    """Where a line is marked, the types must refuse it: one that they take is an error, too."""
    checker = surroundings.typescript()
    if checker is None:
        pytest.skip("no typescript: make browser, or set DEPTRIAD_TSC to its place")
    (tmp_path / "deptriad.d.ts").write_text(script.types(), encoding="utf-8")
    how = (
        "--strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --noEmit --target es2022"
    )
    command = [checker, *how.split(), "--module", "esnext", "--moduleResolution", "bundler"]
    right = TYPED.replace('survey.report(record, "1")', "survey.draw()")
    for text, said in ((TYPED, ""), (right, "Unused '@ts-expect-error'")):
        (tmp_path / "program.ts").write_text(text, encoding="utf-8")
        done = subprocess.run([*command, tmp_path / "program.ts"], capture_output=True, text=True)
        assert bool(done.returncode) == bool(said), done.stdout
        assert said in done.stdout


def test_one_record_is_told_as_perturb_does_it(rng):
    """From the words that perturb would have drawn, one record tells what perturb writes of it."""

    class Kept(np.random.Generator):
        """A generator that keeps the words it gives."""

        def __init__(self, seed):
            super().__init__(np.random.PCG64(seed))
            self.words = []

        def integers(self, *how, **more):
            found = super().integers(*how, **more)
            self.words += found.tolist()
            return found

    for plan in client_vectors.plans().values():
        strategy = as_strategy(plan)
        codes = {each.name: int(rng.integers(each.size)) for each in plan.schema}
        kept = Kept(int(rng.integers(1 << 32)))
        strategy.report(np.array([list(codes.values())]), kept)
        found = told(plan, codes, kept.words)
        assert found.used == len(kept.words)
        assert set(found.answers) == {
            name
            for place in strategy.places[found.view - 1]
            for name in strategy.questions[place].columns
        }


def test_groups_and_labels_have_the_codes_that_python_gives_them(tmp_path):
    states = ["ME", "TX", "NH", "CA", "UT"]
    schema = dt.Schema(
        [
            dt.Attribute("region", states, groups={"North": ["NH", "ME"]}, labels={"TX": "Texas"}),
            # a label may be what another value is called in the data
            dt.Attribute("swap", ["1", "2"], labels={"1": "2", "2": "1"}, unseen="other"),
            dt.Attribute("age", edges=[0, 18, 99], labels={"[0, 18)": "child"}, missing="error"),
        ]
    )
    plan = dt.calibrate(schema, total=2.0)
    pd = pytest.importorskip("pandas")
    records = pd.DataFrame(
        {
            "region": [*states, None],
            "swap": ["1", "2", "3", "1", None, "2"],
            "age": [3.0, 17.0, 18.0, 40.0, 99.0, 0.0],
        }
    )
    words = [2**64 - 1] * client_vectors.PLENTY
    cases, expected = [], []
    for (_, record), codes in zip(records.iterrows(), schema.encode(records), strict=True):
        named = dict(zip(schema.names, codes.tolist(), strict=True))
        expected.append(told(plan, named, words)._asdict())
        given = {name: None if pd.isna(value) else value for name, value in record.items()}
        cases.append({"record": given, "words": [f"{word:x}" for word in words], "seed": 0})
    content = {"plans": [{"plan": plan.to_json(), "cases": cases}], "plenty": 1}
    (found,) = javascript.run(tmp_path, ANSWERS, content)
    assert dt.Schema.from_json(dt.Schema(plan.schema.attributes).to_json()) == schema
    assert found["values"] == {each.name: list(each.values) for each in schema}
    assert found["cases"] == expected
    assert len({str(case["answers"]) for case in expected}) > 2
