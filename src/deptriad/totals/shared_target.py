"""What the tables and budgets of one target must have in common."""

from __future__ import annotations

from collections.abc import Mapping

from deptriad.tables.table import Box, Conditional
from deptriad.utils.arrays import as_finite_budget

Table = Conditional | Box

FEW = 12
"""Source values up to which every set of them is looked at; beyond, the hull of the sets."""


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


def budgets_by_source(
    tables: Mapping[str, Table], budgets: Mapping[str, float]
) -> dict[str, float]:
    """A finite budget for each table, in the order of the tables."""
    if not isinstance(budgets, Mapping):
        raise ValueError(
            f"budgets are {budgets!r}, expected a mapping from each source to its ε, 0 if it is not released"
        )
    if extra := [name for name in budgets if name not in tables]:
        raise ValueError(
            f"there is a budget for {extra[0]!r} but no table, expected one of {list(tables)}; the target's "
            "own budget is given as own="
        )
    if missing := [name for name in tables if name not in budgets]:
        raise ValueError(f"no budget for {missing[0]!r}, expected one; 0 if it is not released")
    return {name: as_finite_budget(budgets[name], f"budget of {name!r}") for name in tables}
