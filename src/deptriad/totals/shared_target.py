"""What the tables and budgets of one target must have in common."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from deptriad.tables.table import Box, Conditional
from deptriad.utils.arrays import as_budget

Table = Conditional | Box


def shared_target(tables: Mapping[str, Table]) -> str:
    """The name of the target, which all tables must have in common, with its values."""
    if not isinstance(tables, Mapping):
        raise ValueError(f"tables are {tables!r}, expected a mapping from sources to their tables")
    if not tables:
        raise ValueError("got no tables, expected p(source | target) for at least one source")
    first_name, first = next(iter(tables.items()))
    for name, table in tables.items():
        if not isinstance(table, Conditional | Box):
            raise ValueError(
                f"the table of {name!r} is a {type(table).__name__}, expected a Conditional or a Box"
            )
        for what, one, other in (
            ("target", first.target, table.target),
            ("number of target values", first.shape[0], table.shape[0]),
            ("target values", first.target_values, table.target_values),
        ):
            if one is not None and other is not None and one != other:
                raise ValueError(
                    f"the tables of {first_name!r} and {name!r} differ in their {what}: {one!r} and {other!r}; "
                    "expected tables of one target, with its values in the same order"
                )
    return first.target


def finite(epsilon: float, name: str) -> float:
    """One budget that is a finite number ≥ 0."""
    number = as_budget(epsilon, name)
    if number.ndim or not np.isfinite(number):
        raise ValueError(f"{name} is {epsilon!r}, expected one finite number ≥ 0")
    return float(number)
