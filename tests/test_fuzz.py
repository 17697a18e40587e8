"""A short form of ``make fuzz``: bounds against rational arithmetic, and a wrong one is found and shown as code."""

import importlib.util
import secrets
from pathlib import Path

import pytest

import deptriad as dt

SPEC = importlib.util.spec_from_file_location("fuzz", Path(__file__).with_name("fuzz.py"))
fuzz = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fuzz)


@pytest.mark.slow
def test_no_bound_is_below_the_truth(capsys):
    assert fuzz.run(secrets.randbits(32), cases=150, totals=30) == 0, capsys.readouterr().out


def test_a_bound_below_the_truth_is_found_and_printed_as_code(monkeypatch, capsys):
    true = dt.leakage
    monkeypatch.setattr(dt, "leakage", lambda table, epsilon: true(table, epsilon) * (1 - 1e-15))
    assert fuzz.run(1, cases=50, totals=0) == 1
    said = capsys.readouterr().out
    assert "is below the truth" in said
    assert "dt.leakage([[" in said
    assert "--only tables:" in said
