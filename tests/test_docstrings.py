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
