"""From a plan to estimates, through the real script and the real collector; and the audit of the script's reports.

Where something is compared with the truth, it may be eight standard errors away. For sums of so many bounded terms
that has a chance of about 1e-15 each, and a hundred numbers are compared: well below 1e-9. The audits share a level of
1e-10.

Chance comes from the script alone, whose words no seed governs; who the people are is the same each time.
"""

import json

import numpy as np
import pytest

import client_vectors
import collector
import deptriad as dt
import javascript
from deptriad.attacks.audit import audit_questions
from deptriad.attacks.seen import Collected
from deptriad.clients import script
from deptriad.collection.split import as_strategy
from deptriad.collection.strategy import Answers

WIDTH = 8.0
"""Standard errors that an estimate may be off."""

LEVEL = 1e-10

needs_node = pytest.mark.skipif(bool(javascript.why_not()), reason=javascript.why_not() or "")


@pytest.fixture
def lots():
    """Who the people are."""
    return np.random.default_rng(32)


@pytest.fixture(scope="module")
def survey():
    """Records of the demo's survey as codes, and a plan for it."""
    pytest.importorskip("statsmodels", reason="statsmodels, which has the demo's survey, is absent")
    from deptriad.cli import demo_survey

    plan = dt.calibrate(demo_survey.SCHEMA, total=2.0)
    return demo_survey.SCHEMA.encode(demo_survey.survey()), plan


@pytest.fixture
def collecting(survey, tmp_path):
    """A collector of that plan that serves the script: its port, and its store."""
    _, plan = survey
    folder = tmp_path / "web"
    folder.mkdir()
    plan.save(folder / "plan.json")
    (folder / "deptriad.js").write_text(script.script(), encoding="utf-8")
    (folder / "survey.html").write_text("<!doctype html><title>no survey</title>")
    store = f"sqlite:///{tmp_path / 'reports.db'}"
    more = ("--page", str(folder), "--most-bytes", "5000000")
    with collector.running(folder / "plan.json", store, *more) as (port, _):
        yield f"http://127.0.0.1:{port}", store


PEOPLE = """
const labelled = (survey, codes) => Object.fromEntries(
  survey.schema.map((each, place) => [each.name, each.values[codes[place]]]));
const post = async (url, content) => {
  const message = { method: "POST", body: JSON.stringify(content) };
  // a connection that was idle may be closed by now: the same is sent again
  const answer = await fetch(url, message).catch(() => fetch(url, message));
  if (!answer.ok) throw new Error(await answer.text());
};
"""


REPORTING = (
    PEOPLE
    + """
const survey = await open(given.plan);
tell(given.people.map((codes) => survey.report(labelled(survey, codes))));
"""
)


def agree(plan, store, codes):
    """What is estimated of each attribute, and of some together, is near the truth."""
    names = [*((name,) for name in plan.names), plan.names[:2], plan.names[-2:]]
    compared = 0
    for own, found in plan.estimates(store, names).items():
        assert found.note == "people sent these reports: not checked is whether each was perturbed"
        columns = [plan.schema.index(name) for name in own]
        sizes = [plan.schema[name].size for name in own]
        cells = np.ravel_multi_index(codes[:, columns].T, sizes)
        truth = (np.bincount(cells, minlength=np.prod(sizes)) / len(codes)).reshape(sizes)
        # who was asked was drawn by lot, which comes on top
        error = np.sqrt(found.standard_errors**2 + truth * (1.0 - truth) / found.n)
        assert (np.abs(found.unbiased - truth) < WIDTH * error).all(), own
        compared += truth.size
    assert compared > 40


def test_two_thousand_people_in_a_browser(chromium, collecting, survey, lots):
    place, store = collecting
    records, plan = survey
    codes = records[lots.integers(0, len(records), 2000)]
    context = chromium.new_context()
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{place}/plan.json")  # a page of that site which has no policy of its own
    page.evaluate(
        f"""async (people) => {{
        const {{ open }} = await import("/deptriad.js");
        const survey = await open(await (await fetch("/plan.json")).text());
        {PEOPLE}
        const one = async () => {{
          for (let codes = people.pop(); codes; codes = people.pop())
            await post("/reports", survey.report(labelled(survey, codes)));
        }};
        await Promise.all(Array.from({{ length: 16 }}, one));
        }}""",
        codes.tolist(),
    )
    context.close()
    assert {each.removeprefix(place) for each in asked} <= {
        "/plan.json",
        "/deptriad.js",
        "/reports",
        "/favicon.ico",
    }
    assert len(collector.stored_reports(store)) == 2000
    agree(plan, store, codes)


@needs_node
def test_a_hundred_thousand_people_in_node(collecting, survey, tmp_path, lots):
    place, store = collecting
    records, plan = survey
    codes = records[lots.integers(0, len(records), 100_000)]
    code = (
        PEOPLE
        + """
const survey = await open(await (await fetch(`${given.place}/plan.json`)).text());
const reports = given.people.map((codes) => survey.report(labelled(survey, codes)));
for (let start = 0; start < reports.length; start += 10000)
  await post(`${given.place}/reports`, reports.slice(start, start + 10000));
tell(new Set(reports.map((each) => each.id)).size);
"""
    )
    given = {"place": place, "people": codes.tolist()}
    assert javascript.run(tmp_path, code, given) == len(codes)
    agree(plan, store, codes)


def audited(strategy, codes, sent):
    """The audits of reports that the script made of records: half of them to choose events, half to count."""
    views = np.array([each["view"] - 1 for each in sent])

    def collected(rows):
        asked = [rows[views[rows] == question.view] for question in strategy.questions]
        reports = [
            question.accepted(
                [np.array([sent[row]["answers"][name] for row in own], dtype=object) for name in question.columns]
            )
            for question, own in zip(strategy.questions, asked, strict=True)
        ]  # fmt: skip
        return Collected(strategy, codes[rows], Answers(views[rows], reports))

    halves = np.array_split(np.arange(len(codes)), 2)
    return audit_questions(collected(halves[0]), [collected(halves[1])], LEVEL)


@needs_node
def test_an_audit_of_values_that_are_reported_as_one_finds_no_excess(tmp_path, lots):
    for way in ("grr", "olh"):
        plan = client_vectors.plans()[f"{way}, as one value, in views"]
        strategy = as_strategy(plan)
        codes = np.column_stack([lots.integers(0, each.size, 20_000) for each in plan.schema])
        given = {"plan": json.loads(plan.to_json()), "people": codes.tolist()}
        found = audited(strategy, codes, javascript.run(tmp_path, REPORTING, given))
        assert len(found) == 3
        assert all(each.holds for each in found), found
        assert found[1].attained > 0.5, found  # of 2 that are allowed


@needs_node
def test_an_audit_of_the_scripts_reports_finds_no_excess(tmp_path, lots):
    plan = client_vectors.plans()["all mechanisms, in a file of version 1"]
    strategy = as_strategy(plan)
    codes = np.column_stack([lots.integers(0, each.size, 20_000) for each in plan.schema])
    given = {"plan": json.loads(plan.to_json()), "people": codes.tolist()}
    sent = javascript.run(tmp_path, REPORTING, given)
    found = audited(strategy, codes, sent)
    assert len(found) == 7
    for each, question in zip(found, strategy.questions, strict=True):
        assert each.holds, each
        assert each.attained > 0.3 * question.mechanism.epsilon, each  # it does see what is there
    # had the script reported the truth, the audit would say so
    liars = [
        each | {"answers": each["answers"] | {"a0": str(own)}}
        for each, own in zip(sent, codes[:, 0], strict=True)
    ]
    assert not audited(strategy, codes, liars)[0].holds
