"""The examples in the docstrings print what they say."""

import doctest
import importlib
import pkgutil

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
