"""The examples in the docstrings print what they say."""

import ast
import builtins
import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import deptriad

MODULES = [module.name for module in pkgutil.walk_packages(deptriad.__path__, "deptriad.")]


@pytest.mark.parametrize("name", ["deptriad", *MODULES])
def test_examples(name):
    if name.startswith("deptriad.cli"):
        pytest.importorskip("typer")
    if name in ("deptriad.report.plots", "deptriad.report.chain_plot"):
        pytest.importorskip("matplotlib")
    if name == "deptriad.attacks.tabtransformer":
        pytest.importorskip("torch")
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_public_name_has_an_example():
    """Those of a module count one by one: what is without an example is listed here when this fails."""
    names = {name: getattr(deptriad, name) for name in deptriad.__all__}
    modules = [name for name, value in names.items() if type(value) is type(deptriad)]
    for name in modules:
        inside = vars(names.pop(name)).items()
        names |= {
            f"{name}.{one}": value
            for one, value in inside
            if getattr(value, "__module__", "") == f"deptriad.{name}" and not one.startswith("_")
        }
    assert len(names) > len(deptriad.__all__)
    assert [name for name, value in names.items() if ">>>" not in (value.__doc__ or "")] == []


def in_reference():
    """What the reference lists, as it is imported; modules aside, whose names count one by one above."""
    page = Path(__file__).parents[1] / "docs/reference/python.md"
    for room, listed in re.findall(
        r"^\.\. currentmodule:: (\S+)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S
    ):
        yield from (f"{room}.{name}" for name in re.findall(r"^   ([\w.]+)$", listed, re.M))


def test_every_name_of_the_reference_has_an_example():
    names = {name: pkgutil.resolve_name(name) for name in in_reference()}
    assert len(names) > 80
    lacking = [
        name
        for name, value in names.items()
        if type(value) is not type(deptriad) and ">>>" not in (value.__doc__ or "")
    ]
    assert lacking == []


def unbound(docstring):
    """Names that an example uses and nobody who copies it has."""
    tree = ast.parse(
        "".join(each.source for each in doctest.DocTestParser().get_examples(docstring))
    )
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    made = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and type(node.ctx) is ast.Store
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            made |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            made.add(node.name)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
    return used - made - set(dir(builtins))


def test_examples_of_the_reference_import_what_they_use():
    """Who copies one into a prompt of their own sees what it shows."""
    found = {}
    for name in in_reference():
        value = pkgutil.resolve_name(name)
        methods = vars(value).items() if isinstance(value, type) else ()
        for part, each in [("", value), *methods]:
            text = getattr(each, "__doc__", None)
            if isinstance(text, str) and ">>>" in text and (lacking := unbound(text)):
                found[f"{name} {part}".strip()] = lacking
    assert found == {}
    assert unbound(">>> dt.leakage([x for x in y])") == {"dt", "y"}


def test_the_reference_has_every_name_that_pages_import_from_a_room():
    docs = Path(__file__).parents[1] / "docs"
    listed = {pkgutil.resolve_name(name) for name in in_reference()}
    collections = (dict, type(importlib.import_module("deptriad.rivals").measures))
    found = 0
    for page in docs.glob("**/*.md"):
        text = page.read_text(encoding="utf-8")
        for room, names in re.findall(r"^ *from (deptriad\.\S+) import ([\w, ]+)", text, re.M):
            for name in names.split(", "):
                value = getattr(importlib.import_module(room), name)
                assert isinstance(value, collections) or value in listed, f"{page.name}: {name}"
                found += 1
    assert found > 5
