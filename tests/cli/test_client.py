import json

import pytest

import client_vectors
from command_line import one_line
from deptriad.clients import script

FILES = {"survey.html", "deptriad.js", "deptriad.d.ts", "plan.json"}


@pytest.fixture
def plan(tmp_path):
    made = client_vectors.plans()["grr, as one value, in views"]
    made.save(tmp_path / "plan.json")
    return made


def test_a_folder_holds_all_that_runs_on_devices(run, plan, tmp_path):
    words = {"title": "Über uns", "questions": {"a0": "Yes?"}}
    (tmp_path / "words.json").write_text(json.dumps(words))
    given = ("client", "plan.json", "--out", "new/web", "--endpoint", "/reports")
    code, output, errors = run(*given, "--language", "de", "--words", "words.json")
    assert (code, errors) == (0, "")
    assert output == "survey.html, deptriad.js, deptriad.d.ts, plan.json are in new/web\n"
    folder = tmp_path / "new" / "web"
    assert {each.name for each in folder.iterdir()} == FILES
    assert (folder / "deptriad.js").read_text(encoding="utf-8") == script.script()
    assert (folder / "plan.json").read_bytes() == (tmp_path / "plan.json").read_bytes()
    page = (folder / "survey.html").read_text(encoding="utf-8")
    assert '<html lang="de" dir="auto">' in page
    assert "<title>Über uns</title>" in page
    assert "connect-src 'self'" in page
    code, _, errors = run(*given)  # what is there stays
    assert code == 1
    assert "survey.html is there" in one_line(errors)
    assert run(*given, "--force")[0] == 0


def test_with_a_key_the_plan_must_be_signed(run, plan, tmp_path):
    pytest.importorskip("cryptography")
    given = ("client", "plan.json", "--out", "web", "--key", "own.pem.pub")
    assert run("sign", "plan.json", "--key", "own.pem", "--new-key")[0] == 0
    code, output, _ = run(*given)
    assert (code, output.count("plan.json.sig")) == (0, 1)
    folder = tmp_path / "web"
    key = json.loads((folder / "deptriad.js").read_text().split("const KEY = ")[1].split(";")[0])
    assert key in (tmp_path / "own.pem.pub").read_text().replace("\n", "")
    assert key in (folder / "survey.html").read_text()
    assert len((folder / "deptriad.js").read_bytes()) < 20_000
    assert (folder / "plan.json.sig").read_bytes() == (tmp_path / "plan.json.sig").read_bytes()
    (tmp_path / "plan.json").write_text((tmp_path / "plan.json").read_text() + " ")
    code, _, errors = run(*given, "--force")
    assert code == 1
    assert "no signature of plan.json by own.pem.pub" in one_line(errors)


@pytest.mark.parametrize(
    "options, said",
    [
        (("--endpoint", "http://survey.example/reports"), "expected https"),
        (("--language", "fr"), "the language is 'fr'"),
        (("--words", "plan.json"), "the words have 'format'"),
        (("--words", "absent.json"), "absent.json"),
        (("--key", "plan.json"), "no public key of Ed25519"),
        (("--out", "."), "plan.json is there|which is an input"),
    ],
)
def test_a_mistake_ends_in_a_line_and_writes_nothing(run, plan, tmp_path, options, said):
    import re

    code, output, errors = run("client", "plan.json", "--out", "web", *options)
    assert (code, output) == (1, "")
    assert re.search(said, one_line(errors))
    assert not (tmp_path / "web").exists()
    assert {each.name for each in tmp_path.iterdir()} == {"plan.json"}
