"""What the tests of the command line share: records to write, and what output says."""

import json
import re

import pytest


def shown(output, title=""):
    """The cells of the first printed table after a title, line by line."""
    after_rule = re.split(r"─ *\n", output[output.index(title) :], maxsplit=1)[1]
    lines = re.split(r"\n *\n", after_rule, maxsplit=1)[0].splitlines()
    return [re.split(r" {2,}", line.strip()) for line in lines]


def records():
    """Records of four columns that depend on each other, in no order, with weights."""
    rows = ["sex,job,pay,state,w"]
    for i in range(600):
        sex = "fm"[i % 2]
        job = "cook" if i % 3 else ("nurse" if sex == "f" else "smith")
        rows.append(f"{sex},{job},{i * 37 % 101},{'TX' if i % 5 < 2 else 'CA'},{1 + i % 4}")
    return "\n".join(rows) + "\n"


def listing(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def strict_json(text):
    return json.loads(text, parse_constant=pytest.fail)


def one_line(errors):
    """The last line of the errors: what went wrong; before it there may only be warnings."""
    assert "Traceback" not in errors
    assert errors.splitlines()[-1].startswith("deptriad: ")
    return errors.splitlines()[-1]


def leaks_in(value):
    """All (source, target, leakage) of a JSON value, wherever they are."""
    if isinstance(value, dict) and {"source", "target", "leakage"} <= set(value):
        yield value["source"], value["target"], value["leakage"]
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaks_in(part)


def assert_refused(run, folder, files, arguments, said):
    for name, content in files.items():
        (folder / name).write_bytes(content)
    before = listing(folder)
    code, output, errors = run(*arguments)
    assert (code, output) == (1, "")
    assert re.search(said, one_line(errors))
    assert listing(folder) == before
