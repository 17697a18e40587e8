"""Which sets of values the reports of a named mechanism can favour: all that a total of own mechanisms looks at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from deptriad.utils.arrays import Booleans
from deptriad.utils.by_name import for_each
from deptriad.utils.errors import Parameter, refuse_other

ANY = "any"
"""In place of a mechanism: whatever it is, any set of values may be favoured."""


def mechanisms_of(given: str | Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """The mechanism of each name: from one for all, or a mapping, which may name more."""
    if isinstance(given, Mapping):
        given = {name: given[name] for name in names if name in given}
    return dict(zip(names, for_each(given, names, "mechanisms", _known), strict=True))


def _known(name: str, what: Parameter) -> str:
    from deptriad.mechanisms import mechanisms

    refuse_other(name, (*mechanisms, ANY), what)
    return name


@lru_cache(maxsize=512)
def favoured(name: str, size: int, epsilon: float) -> Booleans | None:
    """The sets (rows) that reports of so many values can favour, None if that may be any.

    Examples
    --------
    >>> favoured("grr", 3, 1.0).astype(int).tolist()
    [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    >>> favoured("oue", 20, 1.0) is None
    True
    """
    from deptriad.mechanisms import mechanisms

    return None if name == ANY else mechanisms[name](size, epsilon).favoured()
