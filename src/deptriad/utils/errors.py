"""Errors and notes that know which parameters they name, so that the command line can name its options instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from deptriad.utils.text import closest


class Parameter(NamedTuple):
    """A parameter of a function, a field of an object, or a class that is passed, as a message names it.

    Parameters
    ----------
    name
        Its name.
    value
        The code of what to pass; empty where only the caller knows that.
    key
        Of which entry, where it is a mapping; empty for all of them.

    Examples
    --------
    >>> print(Parameter("total"), Parameter("by", ""), Parameter("thin", "'drop'"))
    total by= thin='drop'
    >>> print(Parameter("fixed", key="age"), Parameter("fixed", "0", key="age"))
    fixed['age'] fixed={'age': 0}
    """

    name: str
    value: str | None = None
    key: str | None = None

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name}[{self.key!r}]" if self.key else self.name
        value = self.value if self.key is None else f"{{{self.key!r}: {self.value}}}"
        return f"{self.name}={value}"


class Worded:
    """A message in parts: text, parameters, and other errors."""

    args: tuple[object, ...]

    def said(self, spelling: Callable[[Parameter], str]) -> str:
        """The message with its parameters spelt so."""

        def one(part: object) -> str:
            if isinstance(part, Parameter):
                return spelling(part)
            return part.said(spelling) if isinstance(part, Worded) else str(part)

        return "".join(map(one, self.args))

    def __str__(self) -> str:
        return self.said(str)


class InvalidValue(Worded, ValueError):
    """A value that cannot be, in the words of Python.

    Examples
    --------
    >>> error = InvalidValue(Parameter("by", ""), " is missing")
    >>> print(error, "|", error.said(lambda parameter: f"--{parameter.name}"))
    by= is missing | --by is missing
    """


class Note(Worded, UserWarning):
    """What is worth knowing, in the words of Python."""


def refuse_other(value: object, allowed: Iterable[object], what: str | Parameter) -> None:
    """Refuse a value that is none of those allowed.

    Examples
    --------
    >>> refuse_other("fair", ("utility", "even"), "objective")
    Traceback (most recent call last):
        ...
    deptriad.utils.errors.InvalidValue: objective is 'fair', expected one of utility, even
    """
    if value not in (every := tuple(allowed)):
        raise InvalidValue(what, f" is {value!r}, expected one of {', '.join(map(str, every))}")


def refuse_unknown(given: Iterable[str], names: Sequence[str], what: str | Parameter) -> None:
    """Refuse a name that no attribute has, with the closest one."""
    for name in given:
        if name not in names:
            raise InvalidValue(what, f" names no attribute {name!r}: {closest(name, names)}")
