"""Proof: why a certified total holds. verify() checks one from the tables alone (maths §5)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, Literal, Self, get_args

import numpy as np

from deptriad.totals._proof_bound import pair_bound
from deptriad.totals._proof_joint import events_bound, hulls_bound
from deptriad.totals._proof_points import Cloud, pair_leakage, source_leakage
from deptriad.totals.least_denominator import MOST
from deptriad.totals.own_mechanisms import favoured
from deptriad.totals.shared_target import Table, shared_target
from deptriad.utils.arrays import Booleans, Floats, Integers, as_finite_budget, as_numbers
from deptriad.utils.text import printable, rounded_up

Form = Literal["plain", "pair by pair", "sum of budgets", "one source"]
FORMS = get_args(Form)

REFERENCE, EVENTS, HULLS = 0, 1, 2
WAYS = {
    REFERENCE: "the reference form",
    EVENTS: "all events of up to three sources",
    HULLS: "two weights for the hulls of two sources",
}
"""How a pair of target values is bounded."""


@dataclass(frozen=True, eq=False, repr=False)
class Proof:
    """Why a certified total holds: everything that ``verify`` needs beside the tables.

    Parameters
    ----------
    target, own
        The protected attribute, and the budget of its own release.
    budgets
        ε of every released source. The proof is about these alone: others that are released come on top.
    form
        Which bound it is. "plain" and "pair by pair" bound the likelihood ratio for each ordered pair (x, x') of target
        values.
    value
        The claim: the total is never above it.
    pairs
        The pairs that have a way, an a and shares of their own, one in a row: the rows x and x' of the tables. All
        others have the lesser of the plain form and of leaving out all sources but one.
    ways
        How each of those pairs is bounded: 0 by the reference form, 1 by the worst joint over all events of up to
        three sources, 2 by that over the hulls of two sources.
    a, shares
        a and λ of maths §5: a row for each of those pairs, a column for each source of two or more values, in the
        order of ``budgets``. Sources of share 0 are left out: they count with their whole budgets. Any a in [0, 1]
        and shares that sum to 1 are a proof; better ones prove less. For hulls the two a are the weights θ and w.
    mechanisms
        What reports each source, where the claim is about these mechanisms alone; None if it is about all.

    Examples
    --------
    >>> import deptriad as dt
    >>> job = dt.Conditional([[0.7, 0.3], [0.2, 0.8]], target="sex")
    >>> age = dt.Conditional([[0.5, 0.5], [0.4, 0.6]], target="sex")
    >>> total = dt.target_total({"job": job, "age": age}, {"job": 1.0, "age": 1.0})
    >>> dt.verify(total.proof, {"job": job, "age": age}) <= total.certified
    True
    """

    target: str
    own: float
    budgets: Mapping[str, float]
    form: Form
    value: float
    pairs: Integers = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    ways: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    a: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    shares: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    mechanisms: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.budgets, Mapping):
            raise ValueError(f"budgets are {self.budgets!r}, expected a mapping from names to ε")
        object.__setattr__(self, "target", str(self.target))
        for name in ("own", "value"):
            object.__setattr__(self, name, _as_number(getattr(self, name), name))
        budgets = {
            str(name): _as_number(value, f"budget of {name!r}")
            for name, value in self.budgets.items()
        }
        object.__setattr__(self, "budgets", budgets)
        object.__setattr__(self, "pairs", _as_pairs(self.pairs))
        object.__setattr__(self, "ways", _as_ways(self.ways))
        for name in ("a", "shares"):
            rows = as_numbers(getattr(self, name), name)
            # without pairs there is nothing to choose, for however many sources
            object.__setattr__(self, name, rows if len(self.pairs) else np.zeros((0, 0)))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and text, ready for JSON.

        Examples
        --------
        >>> import deptriad as dt
        >>> dt.Proof("sex", 0.5, {"age": 1.0}, "sum of budgets", 1.5).to_dict()["form"]
        'sum of budgets'
        """
        arrays = {name: getattr(self, name).tolist() for name in ("pairs", "ways", "a", "shares")}
        return vars(self) | {"budgets": dict(self.budgets)} | arrays

    @classmethod
    def from_dict(cls, numbers: Mapping[str, Any]) -> Self:
        """The proof that ``to_dict`` wrote down.

        Examples
        --------
        >>> import deptriad as dt
        >>> proof = dt.Proof("sex", 0.5, {"age": 1.0}, "sum of budgets", 1.5)
        >>> dt.Proof.from_dict(proof.to_dict())
        Proof(sex ≤ 1.500, sum of budgets)
        """
        names = cls.__dataclass_fields__
        if missing := [name for name in names if name not in numbers]:
            raise ValueError(f"the proof lacks {missing[0]!r}, expected what to_dict() returns")
        return cls(**{name: numbers[name] for name in names})

    def __repr__(self) -> str:
        return f"Proof({printable(self.target)} ≤ {rounded_up(self.value)}, {self.form})"


def _as_number(value: Any, name: str) -> float:
    number = as_numbers(value, name)
    if number.ndim:
        raise ValueError(f"{name} is {value!r}, expected one number")
    return float(number)


def _as_pairs(pairs: Any) -> Integers:
    """Rows of two whole numbers, or none."""
    try:
        array = np.asarray(pairs)
    except ValueError:  # ragged
        array = np.empty(1, dtype=object)
    if array.dtype != object and array.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"pairs are {pairs!r}, expected two whole numbers in a row")
    return array.astype(np.int64)


def _as_ways(ways: Any) -> Integers:
    """Whole numbers, one for each pair."""
    array = np.asarray(ways)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(f"ways are {ways!r}, expected a whole number for each pair")
    return array.astype(np.int64)


# --- checking a proof -------------------------------------------------------------------------------------------
# By formula and plain NumPy: no search, no shortcut, nothing from the compiled loops but a choice of slopes.


def verify(proof: Proof, tables: Mapping[str, Table]) -> float:
    """Work out, from the tables alone, what a proof proves, and compare it with its claim.

    It proves something for the sources that the proof names and for no others: a table without a budget in the proof
    is taken as not released. The tables' numbers are taken as they are; the claim also grants every entry its
    rounding, and so is a hair above.

    Returns
    -------
    The total that the proof's a and λ prove, never above its claim.

    Raises
    ------
    ValueError
        If the claim is below that, or if the proof does not fit the tables.

    Examples
    --------
    >>> import deptriad as dt
    >>> coin = dt.Conditional([[0.5, 0.5], [0.5, 0.5]], target="xor")
    >>> tables = {"first": coin, "second": coin}
    >>> proof = dt.target_total(tables, {"first": 1.0, "second": 1.0}).proof
    >>> round(dt.verify(proof, tables), 6)
    0.433781
    """
    telling = _check_names(proof, tables)
    epsilon = np.array([proof.budgets[name] for name in telling])
    clouds = [Cloud(tables[name], _favoured(proof, name, tables[name])) for name in telling]
    if clouds:
        _check_choices(proof, len(telling), clouds[0].table.shape[0])
    if proof.form == "sum of budgets":
        proved = math.fsum(epsilon)
    elif proof.form == "one source":
        if len(telling) != 1:
            raise ValueError(
                f"the proof is for one source, but {len(telling)} are released that have two or more values: "
                "expected the plain form, or pair by pair"
            )
        proved = source_leakage(clouds[0], float(epsilon[0]))
    else:
        proved = _proved_by_pairs(proof, clouds, epsilon)
    total = float(proof.own + proved)
    if not total <= proof.value:
        raise ValueError(
            f"the proof claims a total of {proof.value!r} for {proof.target!r} but proves only {total!r}: "
            "do not rely on it, and certify again with target_total"
        )
    return total


def _check_names(proof: Proof, tables: Mapping[str, Table]) -> list[str]:
    """The released sources of two or more values, after a look at all names and budgets."""
    target = shared_target(tables) if tables or proof.budgets else proof.target
    if target != proof.target:
        raise ValueError(
            f"the proof is about {proof.target!r}, the tables are about {target!r}: expected the same target"
        )
    if missing := [name for name in proof.budgets if name not in tables]:
        raise ValueError(
            f"the proof has a budget for {missing[0]!r}, expected a table for it among {list(tables)}"
        )
    if proof.form not in FORMS:
        raise ValueError(f"the form of the proof is {proof.form!r}, expected one of {FORMS}")
    as_finite_budget(proof.own, f"own budget of {target!r}")
    for name, epsilon in proof.budgets.items():
        if not as_finite_budget(epsilon, f"budget of {name!r}") > 0.0:
            raise ValueError(f"budget of {name!r} is 0, expected only sources that are released")
    return [name for name in proof.budgets if tables[name].shape[1] > 1]


def _check_choices(proof: Proof, size: int, rows: int) -> None:
    """a and λ are what the theorem asks for: any such choice is a proof, any other is none."""
    shape = (len(proof.pairs), size)
    if len(proof.pairs) == 0:
        return
    for name, numbers in (("a", proof.a), ("shares", proof.shares)):
        if numbers.shape != shape:
            raise ValueError(
                f"{name} has shape {numbers.shape}, expected {shape}: a row for each pair, a column for each source"
            )
    if (outside := ~((proof.pairs >= 0) & (proof.pairs < rows))).any():
        raise ValueError(
            f"a pair names target value {proof.pairs[outside][0]}, expected 0 to {rows - 1}"
        )
    if (bad := ~((proof.a >= 0.0) & (proof.a <= 1.0))).any():
        raise ValueError(f"an a is {float(proof.a[bad][0])}, expected numbers in [0, 1]")
    if (bad := ~(proof.shares >= 0.0)).any():
        raise ValueError(
            f"a share is {float(proof.shares[bad][0])}, expected numbers of at least 0"
        )
    sums = proof.shares.sum(axis=1)
    if (off := np.abs(sums - 1.0) > 1e-12).any():
        raise ValueError(f"the shares of a pair sum to {float(sums[off][0])}, expected 1")
    if proof.ways.shape != shape[:1]:
        raise ValueError(
            f"ways has shape {proof.ways.shape}, expected {shape[:1]}: one for each pair"
        )
    for way, kept in zip(proof.ways.tolist(), (proof.shares > 0.0).sum(axis=1), strict=True):
        most = {REFERENCE: size, EVENTS: MOST, HULLS: 2}.get(way, 0)
        if kept > most or (way == HULLS and kept < 2):
            raise ValueError(
                f"a pair of {kept} sources has the way {way!r}, expected one of {WAYS}"
            )


def _favoured(proof: Proof, name: str, table: Table) -> Booleans | None:
    """The sets that the mechanism of a source can favour, None where that may be any."""
    if proof.mechanisms is None:
        return None
    if name not in proof.mechanisms:
        raise ValueError(f"the proof names no mechanism of {name!r}, expected one for each source")
    return favoured(proof.mechanisms[name], table.shape[1], proof.budgets[name])


def _proved_by_pairs(proof: Proof, clouds: list[Cloud], epsilon: Floats) -> float:
    """max over all ordered pairs of target values of the bound that their choices give."""
    if not clouds:
        return 0.0
    given = {}
    if proof.form == "pair by pair":
        rows = zip(proof.pairs.tolist(), proof.ways.tolist(), proof.a, proof.shares, strict=True)
        given = {(x, y): choices for (x, y), *choices in rows}
    proved = 0.0
    for x, y in permutations(range(clouds[0].table.shape[0]), 2):
        if (x, y) in given:
            found = _chosen_bound(clouds, x, y, epsilon, *given[x, y])
        else:
            found = _simple_bound(clouds, x, y, epsilon)
        # unlike max, never loses what is no number
        proved = float(np.maximum(proved, found))
    return proved


def _simple_bound(clouds: list[Cloud], x: int, y: int, epsilon: Floats) -> float:
    """The plain form, or the leakage of one source and the budgets of all others."""
    plain = pair_bound(clouds, x, y, epsilon, np.zeros(epsilon.size), epsilon / epsilon.sum())
    gains = (e - pair_leakage(cloud, x, y, e) for cloud, e in zip(clouds, epsilon, strict=True))
    return min(plain, math.fsum(epsilon) - float(max(gains)))


def _chosen_bound(
    clouds: list[Cloud], x: int, y: int, epsilon: Floats, way: int, a: Floats, shares: Floats
) -> float:
    """What one pair's choices prove, the budgets of sources that are left out included."""
    kept = np.flatnonzero(shares > 0.0)
    some = [clouds[i] for i in kept]
    left_out = math.fsum(np.delete(epsilon, kept))
    if way == EVENTS:
        return left_out + events_bound(some, x, y, epsilon[kept])
    if way == HULLS:
        return left_out + hulls_bound(some, x, y, epsilon[kept], *a[kept].tolist())
    share = shares[kept] / shares[kept].sum()
    return left_out + pair_bound(some, x, y, epsilon[kept], a[kept], share)
