"""Errors that know which parameters they name."""

import pickle

import pytest

from deptriad.utils.errors import InvalidValue, Note, Parameter, refuse_unknown


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        (Parameter("total"), "total"),
        (Parameter("by", ""), "by="),
        (Parameter("thin", "'drop'"), "thin='drop'"),
        (Parameter("fixed", key="it's"), 'fixed["it\'s"]'),
        (Parameter("fixed", "0", key="age"), "fixed={'age': 0}"),
        (Parameter("fixed", key=""), "fixed"),
    ],
)
def test_a_parameter_is_said_as_python_says_it(parameter, said):
    assert str(parameter) == said


@pytest.mark.parametrize("kind", [InvalidValue, Note])
def test_parts_are_said_in_python_and_otherwise(kind):
    inner = InvalidValue(Parameter("by", ""), " is absent {0} %s")
    error = kind("plan.json: ", inner, "; ", ValueError("by="))
    assert str(error) == "plan.json: by= is absent {0} %s; by="
    assert error.said(lambda each: f"--{each.name}") == "plan.json: --by is absent {0} %s; by="


def test_they_are_errors_and_warnings_like_others():
    with pytest.raises(ValueError, match="total is 0"):
        raise InvalidValue(Parameter("total"), " is 0")
    assert issubclass(Note, UserWarning)


def test_they_travel_between_processes():
    error = InvalidValue(Parameter("total"), " is 0")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.args, str(again)) == (InvalidValue, error.args, "total is 0")


def test_unknown_names_are_refused_with_the_closest():
    refuse_unknown(["age"], ["age", "sex"], "fixed")
    with pytest.raises(ValueError, match="fixed names no attribute 'aeg': did you mean 'age'"):
        refuse_unknown({"age": 1, "aeg": 2}, ["age", "sex"], Parameter("fixed", key=""))
