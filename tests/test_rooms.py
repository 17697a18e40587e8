"""The rooms: what docs/architecture.md says of them is so. Which room may import which is checked by lint-imports."""

import ast
import re
from pathlib import Path

import pytest

import deptriad

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "deptriad"
MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
MODULES = sorted(SOURCES.rglob("*.py"))
ROOMS = sorted(path.parent.name for path in SOURCES.glob("*/__init__.py"))
LONGEST = 400
ONE_FOR_EACH = ("paper", "rivals", "cli")
"""Rooms with a file for each item, measure or group of commands, which the map does not list."""


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def named(path):
    """A file as the map names it, such as data/schema.py."""
    return path.relative_to(SOURCES).as_posix()


def rows_of_the_map():
    """Rooms in the order of the map's table, and the files that it names for each."""
    rows = re.findall(r"^\| `(\w+)(?:/|\.py)` \|(.*)\|$", MAP, flags=re.MULTILINE)
    return {room: set(re.findall(r"`(\w+)`", text)) for room, text in rows}


def imports(tree, package):
    """Dotted names that a module imports anywhere, functions included; of ``from a import b`` both a and a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(filter(None, (above, node.module)))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_every_module_lies_in_a_room_of_the_map():
    rooms = rows_of_the_map()
    assert set(rooms) == {*ROOMS, "metrics"}
    for path in MODULES:
        assert named(path).split("/")[0].removesuffix(".py") in {*rooms, "__init__"}, path


def test_each_room_has_a_folder_of_tests_and_no_other_has():
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders - {"helpers"} == set(ROOMS)


def test_the_map_is_in_the_order_of_the_contract():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.search(r"layers = \[(.*?)\]", text, flags=re.DOTALL)[1]
    assert list(rows_of_the_map()) == re.findall(r'"(\w+)"', layers)[::-1]


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in ONE_FOR_EACH])
def test_the_map_names_the_modules_of_a_room(room):
    modules = {path.stem for path in (SOURCES / room).glob("*.py") if path.stem[0] != "_"}
    listed = rows_of_the_map()[room]
    added, gone = sorted(modules - listed), sorted(listed - modules)
    assert not added, f"docs/architecture.md: the row of {room}/ does not name {added}"
    assert not gone, f"docs/architecture.md: the row of {room}/ names {gone}, which are not there"


def test_what_the_map_points_to_is_there():
    found = re.findall(r"`(?!tests/)(\w+/\w+\.py)(?:: ([\w.]+))?`", MAP)
    assert len(found) > 20
    for file, names in found:
        body = parsed(SOURCES / file).body
        for name in filter(None, names.split(".")):
            (node,) = [each for each in body if name in bound(each)] or pytest.fail(
                f"docs/architecture.md names {name} of {file}, which has no such thing"
            )
            body = getattr(node, "body", [])


def bound(node):
    """Names that a statement binds."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {each.id for each in targets if isinstance(each, ast.Name)}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_in_a_sentence_what_it_is_for(room):
    first = ast.get_docstring(parsed(SOURCES / room / "__init__.py")).split("\n\n")[0]
    assert first.endswith(".")
    assert ". " not in first


def test_no_room_is_called_like_a_public_name():
    assert not set(ROOMS) & set(deptriad.__all__)


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_hides_a_module_of_its_own(room):
    """``import deptriad.room.module as x`` gives the module, and not a function of its name."""
    own = {path.stem for path in (SOURCES / room).glob("*.py")}
    for node in parsed(SOURCES / room / "__init__.py").body:
        if not (isinstance(node, ast.ImportFrom) and node.module == f"deptriad.{room}"):
            assert not bound(node) & own


def test_private_modules_are_imported_in_their_room_only():
    found = []
    for path in MODULES:
        package = ".".join(("deptriad", *path.relative_to(SOURCES).parent.parts))
        for name in imports(parsed(path), package):
            private = any(re.match("_[^_]", part) for part in name.split(".")[1:3])
            if name.startswith("deptriad.") and private and not name.startswith(f"{package}."):
                found.append(f"{named(path)} imports {name}")
    assert not found


def test_no_module_is_too_long_to_read():
    lines = {named(path): path.read_text(encoding="utf-8").count("\n") for path in MODULES}
    assert not {name: number for name, number in lines.items() if number > LONGEST}
