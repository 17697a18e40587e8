"""Proof: why a certified total holds. verify() checks one from the tables alone (maths §5)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from deptriad import lines
from deptriad.leakage import leakage
from deptriad.lines import as_budget, as_numbers
from deptriad.rounding import ROUNDOFF
from deptriad.tables import Box, Conditional
from deptriad.text import printable, rounded_up

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deptriad.lines import Floats, Integers

Form = Literal["plain", "reference", "sum of budgets", "one source"]
FORMS = ("plain", "reference", "sum of budgets", "one source")

Table = Conditional | Box


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
        Which bound it is. "plain" and "reference" bound the likelihood ratio for each ordered pair (x, x') of target
        values.
    pairs
        For the reference form, the pairs that have an a and shares of their own, one in a row: the rows x and x' of
        the tables. All other pairs have a = 0 and shares in proportion to the budgets, which is the plain form.
    a, shares
        a and λ of maths §5: a row for each of those pairs, a column for each source of two or more values, in the
        order of ``budgets``. Any a in [0, 1] and positive shares that sum to 1 are a proof; better ones prove less.
    value
        The claim: the total is never above it.
    """

    target: str
    own: float
    budgets: Mapping[str, float]
    form: Form
    value: float
    pairs: Integers = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    a: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    shares: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        if not isinstance(self.budgets, Mapping):
            raise ValueError(f"budgets are {self.budgets!r}, expected a mapping from names to ε")
        object.__setattr__(self, "pairs", _as_pairs(self.pairs))
        for name in ("a", "shares"):
            rows = as_numbers(getattr(self, name), name)
            # without pairs there is nothing to choose, for however many sources
            object.__setattr__(self, name, rows if len(self.pairs) else np.zeros((0, 0)))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and text, ready for JSON.

        Examples
        --------
        >>> Proof("sex", 0.5, {"age": 1.0}, "sum of budgets", 1.5).to_dict()["form"]
        'sum of budgets'
        """
        return {
            "target": self.target,
            "own": self.own,
            "budgets": dict(self.budgets),
            "form": self.form,
            "value": self.value,
            "pairs": self.pairs.tolist(),
            "a": self.a.tolist(),
            "shares": self.shares.tolist(),
        }

    @classmethod
    def from_dict(cls, numbers: Mapping[str, Any]) -> Self:
        """The proof that ``to_dict`` wrote down.

        Examples
        --------
        >>> proof = Proof("sex", 0.5, {"age": 1.0}, "sum of budgets", 1.5)
        >>> Proof.from_dict(proof.to_dict())
        Proof(sex ≤ 1.500, sum of budgets)
        """
        missing = [name for name in cls.__dataclass_fields__ if name not in numbers]
        if missing:
            raise ValueError(f"the proof lacks {missing[0]!r}, expected what to_dict() returns")
        if not isinstance(numbers["budgets"], Mapping):
            raise ValueError(
                f"budgets are {numbers['budgets']!r}, expected a mapping from names to ε"
            )
        return cls(
            target=str(numbers["target"]),
            own=_as_number(numbers["own"], "own"),
            budgets={
                str(name): _as_number(value, f"budget of {name!r}")
                for name, value in numbers["budgets"].items()
            },
            form=numbers["form"],
            value=_as_number(numbers["value"], "value"),
            pairs=numbers["pairs"],
            a=numbers["a"],
            shares=numbers["shares"],
        )

    def __repr__(self) -> str:
        return f"Proof({printable(self.target)} ≤ {rounded_up(self.value)}, {self.form})"


def _as_number(value: Any, name: str) -> float:
    number = as_numbers(value, name)
    if number.ndim:
        raise ValueError(f"{name} is {value!r}, expected one number")
    return float(number)


def _as_pairs(pairs: Any) -> Integers:
    """Rows of two whole numbers, or none."""
    expected = f"pairs are {pairs!r}, expected two whole numbers in a row"
    try:
        array = np.asarray(pairs)
    except ValueError:  # ragged
        raise ValueError(expected) from None
    if array.dtype != object and array.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(expected)
    return array.astype(np.int64)


# --- what the tables and budgets of one target must have in common -------------------------------------------


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
    >>> from deptriad.totals import target_total
    >>> coin = dt.Conditional([[0.5, 0.5], [0.5, 0.5]], target="xor")
    >>> tables = {"first": coin, "second": coin}
    >>> proof = target_total(tables, {"first": 1.0, "second": 1.0}).proof
    >>> round(verify(proof, tables), 6)
    0.433781
    """
    telling = _check_names(proof, tables)
    epsilon = np.array([proof.budgets[name] for name in telling])
    chosen = [tables[name] for name in telling]
    if chosen:
        _check_choices(proof, len(telling), chosen[0].shape[0])
    if proof.form == "sum of budgets":
        proved = math.fsum(epsilon)
    elif proof.form == "one source":
        if len(telling) != 1:
            raise ValueError(
                f"the proof is for one source, but {len(telling)} are released that have two or more values: "
                "expected the plain or the reference form"
            )
        proved = _largest_ratio(chosen[0], float(epsilon[0]))
    else:
        proved = _proved_by_pairs(proof, chosen, epsilon)
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
    finite(proof.own, f"own budget of {target!r}")
    for name, epsilon in proof.budgets.items():
        if not finite(epsilon, f"budget of {name!r}") > 0.0:
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
    if (bad := ~(proof.shares > 0.0)).any():
        raise ValueError(f"a share is {float(proof.shares[bad][0])}, expected numbers above 0")
    sums = proof.shares.sum(axis=1)
    if (off := np.abs(sums - 1.0) > 1e-12).any():
        raise ValueError(f"the shares of a pair sum to {float(sums[off][0])}, expected 1")


def _proved_by_pairs(proof: Proof, tables: list[Table], epsilon: Floats) -> float:
    """max over all ordered pairs of target values of the bound that their a and λ give."""
    if not tables:
        return 0.0
    given = {
        (int(x), int(y)): (a, shares / shares.sum())
        for (x, y), a, shares in zip(proof.pairs, proof.a, proof.shares, strict=True)
    }
    plain = np.zeros(epsilon.size), epsilon / epsilon.sum()
    clouds = [_Cloud(table) for table in tables]
    proved = 0.0
    for x in range(tables[0].shape[0]):
        for y in range(tables[0].shape[0]):
            if x != y:
                choice = given.get((x, y), plain) if proof.form == "reference" else plain
                # unlike max, never loses what is no number
                proved = float(np.maximum(proved, _pair_bound(clouds, x, y, epsilon, *choice)))
    return proved


class _Cloud:
    """The points (B, A) = (min G'(S), max G(S)) of one table or box for any pair of its rows.

    A is rounded up and B down by what a sum of so many entries may be off: with a small share, whether A is above a
    or a hair below decides about the whole budget.
    """

    def __init__(self, table: Table) -> None:
        from deptriad.total_kernels import FEW

        self.table = table
        self.lower, self.upper = (
            (table.lower, table.upper) if isinstance(table, Box) else (table.table, table.table)
        )
        self.few = table.shape[1] <= FEW
        self.up = 1.0 + (table.shape[1] + 4) * ROUNDOFF
        self.down = 1.0 - (table.shape[1] + 4) * ROUNDOFF
        if self.few:
            self.top, self.low = self._sums()

    def _sums(self) -> tuple[Floats, Floats]:
        """max G(S) and min G(S) for each row and each set but the empty and the full one."""
        columns = self.table.shape[1]
        sets = np.arange(1, (1 << columns) - 1)
        members = ((sets[:, None] >> np.arange(columns)) & 1).astype(np.float64)
        above, below = self.upper @ members.T, self.lower @ members.T
        if isinstance(self.table, Box):
            spare, surplus = self.table.spare[:, None], self.table.surplus[:, None]
            most = np.minimum(above, below + spare)
            return most * self.up, np.maximum(below, above * self.down - surplus) * self.down
        return above * self.up, below * self.down

    def points(self, x: int, y: int) -> tuple[Floats, Floats]:
        """B and A: of all sets where they are few, otherwise of the corners of a concave curve above them."""
        if self.few:
            empty = (self.top[x] == 0.0) & (self.top[y] == 0.0)
            kept = ~(empty | empty[::-1])  # the sets run from {0} to the complement of {0}
            if not kept.any():
                return np.zeros(1), np.zeros(1)
            return self.low[y, kept], np.minimum(self.top[x, kept], 1.0)
        if isinstance(self.table, Box):
            return self._polygon(self.table, x, y)
        lower, upper = _hull(self.table.table[x], self.table.table[y])
        return lower * self.down, np.minimum(upper * self.up, 1.0)

    def gaps(self, x: int, y: int) -> tuple[Floats, Floats]:
        """B and A − B of what may attain the leakage: prefixes of a table's values by ratio, or sets of a box's."""
        if isinstance(self.table, Box):
            lower, upper = self.points(x, y)
            return lower, np.maximum(upper - lower, 0.0)
        row, other = self.table.table[x], self.table.table[y]
        order = _by_ratio(row, other)
        return np.cumsum(other[order]), np.maximum(np.cumsum((row - other)[order]), 0.0)

    def _polygon(self, box: Box, x: int, y: int) -> tuple[Floats, Floats]:
        """All places where two certified lines A ≤ E_γ + γB meet, lowered to the lowest line there (maths §3)."""
        from deptriad.total_kernels import PRICES, _slopes

        low, high, low2, high2 = self.lower[x], self.upper[x], self.lower[y], self.upper[y]
        slopes = np.append(_slopes(low, high, low2, high2), 0.0)
        mu, nu = (price.ravel()[:, None] for price in np.meshgrid(PRICES, PRICES))
        heights = []
        for gamma in slopes:
            terms = (1.0 - mu) * low + mu * high
            terms -= gamma * ((1.0 - nu) * high2 + nu * low2) * (1.0 - 16 * ROUNDOFF)
            rest = (1.0 - mu) * box.spare[x] + gamma * (1.0 - nu) * box.surplus[y]
            heights.append(min(1.0, float((np.maximum(terms, 0.0).sum(1) + rest[:, 0]).min())))
        height = np.array([*heights[:-1], 1.0])
        with np.errstate(divide="ignore", invalid="ignore"):
            meeting = (height[:, None] - height) / (slopes - slopes[:, None])
        lower = np.unique(np.append(meeting[(meeting >= 0.0) & (meeting <= 1.0)], 0.0))
        upper = (height[:, None] + slopes[:, None] * lower).min(axis=0)
        # the corners themselves are off by a few roundings of A
        return lower, np.minimum(upper * (self.up + 16 * ROUNDOFF), 1.0)


def _by_ratio(row: Floats, other: Floats) -> Integers:
    """The values that have mass in the first row, by falling ratio of the two."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(row > 0.0, row / other, 0.0)
    order = np.argsort(-ratio, kind="stable")
    return np.asarray(order[row[order] > 0.0])


def _hull(row: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Corners of the hull of the sets of two rows, from the empty set on."""
    order = _by_ratio(row, other)
    lower, upper = (np.append(0.0, np.cumsum(part[order])) for part in (other, row))
    return lower, np.minimum(upper, 1.0)


def _pair_bound(
    clouds: list[_Cloud], x: int, y: int, epsilon: Floats, a: Floats, shares: Floats
) -> float:
    """ln W(1) + Σ_i max_S { λ_i·ln(1 + D_i(A)/W(1)) − ε_i·B }: the reference form as it is written in maths §5."""
    steps = _Steps(a, epsilon)
    total = [steps.log_whole()]
    for i, cloud in enumerate(clouds):
        lower, upper = cloud.points(x, y)
        if not cloud.few:
            lower, upper = _with_steps(lower, upper, a)
        masses = steps.log_share(a[i], upper), steps.log_rest(a[i], upper)
        curve = _Curve(float(epsilon[i]), float(shares[i]), upper >= a[i], *masses, lower)
        terms = curve.terms()
        if not cloud.few:
            terms = np.append(terms, curve.edge_terms())
        total.append(float(terms.max()))
    return math.fsum(total)


class _Steps:
    """k(u) = Σ_j ε_j·1{u ≤ a_j} as steps, and integrals of e^k."""

    def __init__(self, a: Floats, epsilon: Floats) -> None:
        self.edge = np.unique(np.concatenate([[0.0], a, [1.0]]))
        self.height = (epsilon * (self.edge[1:, None] <= a)).sum(axis=1)

    def log_whole(self) -> float:
        """ln W(1)."""
        if self.height.max() < 600.0:
            return float(np.log1p((np.expm1(self.height) * np.diff(self.edge)).sum()))
        return float(self._log_integral(np.zeros(1), np.ones(1))[0])

    def log_share(self, start: float, stop: Floats) -> Floats:
        """ln of |W(stop) − W(start)| / W(1)."""
        low, high = np.minimum(start, stop), np.maximum(start, stop)
        return np.minimum(self._log_integral(low, high) - self.log_whole(), 0.0)

    def log_rest(self, start: float, stop: Floats) -> Floats:
        """ln of 1 − |W(stop) − W(start)| / W(1), from what lies outside: next to 1 a mass says nothing of its rest."""
        low, high = np.minimum(start, stop), np.maximum(start, stop)
        before = self._log_integral(np.zeros_like(low), low)
        after = self._log_integral(high, np.ones_like(high))
        return np.minimum(np.logaddexp(before, after) - self.log_whole(), 0.0)

    def _log_integral(self, low: Floats, high: Floats) -> Floats:
        wide = np.minimum(high[:, None], self.edge[1:]) - np.maximum(low[:, None], self.edge[:-1])
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(wide, 0.0)) + self.height
        return np.asarray(np.logaddexp.reduce(logs, axis=1))


class _Curve(NamedTuple):
    """The points of one source: where A ≥ a, the logarithms of q and of 1 − q, and B."""

    epsilon: float
    share: float
    up: NDArray[np.bool_]
    log_q: Floats
    log_rest: Floats
    lower: Floats

    @property
    def strength(self) -> float:
        """ε/λ."""
        return self.epsilon / self.share if self.epsilon < self.share * 1e300 else math.inf

    def terms(self) -> Floats:
        """λ·ln(1 ± (e^{±ε/λ} − 1)·q) − ε·B of each point."""
        tilt = np.where(
            self.up, _raised(self.strength, self.log_q), _lowered(self.strength, *self[3:5])
        )
        return np.asarray(self.share * tilt - self.epsilon * self.lower)

    def edge_terms(self) -> Floats:
        """The largest term inside each edge, where q and B are linear in each other and the term is concave."""
        # the corner above each edge: A of its end, B of its start
        later = self.up[1:], self.log_q[1:], self.log_rest[1:]
        corners = _Curve(self.epsilon, self.share, *later, self.lower[:-1]).terms()
        above = self.up[:-1]  # an edge that starts at or above a
        strength = self.strength
        q, rest = np.exp(self.log_q), np.exp(self.log_rest)
        to_a = ~above & self.up[1:]  # ends at a, where q = 0
        start, end = q[:-1], np.where(to_a, 0.0, q[1:])
        rest_start, rest_end = rest[:-1], np.where(to_a, 1.0, rest[1:])
        rise = np.where(start > 0.5, rest_start - rest_end, end - start)
        run = np.diff(self.lower)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            flat = 1.0 / np.expm1(strength)  # −1/gain − q, where gain = e^{±s} − 1
            ahead = np.where(above, -flat - start, flat + rest_start)
            part = (self.share * rise / (self.epsilon * run) + ahead) / rise
            part = np.clip(np.nan_to_num(part, nan=0.0), 0.0, 1.0)
            log_mass = np.log((1.0 - part) * start + part * end)
            log_rest = np.log((1.0 - part) * rest_start + part * rest_end)
            tilt = np.where(
                above, _raised(strength, log_mass), _lowered(strength, log_mass, log_rest)
            )
        inside = self.share * tilt - self.epsilon * (self.lower[:-1] + part * run)
        return np.asarray(np.where(above & (strength > 600.0), corners, inside))


def _raised(strength: float, log_q: Floats) -> Floats:
    """ln(1 + (e^s − 1)·q)."""
    with np.errstate(over="ignore", invalid="ignore"):
        if strength < 600.0:
            return np.asarray(np.log1p(np.exp(log_q) * np.expm1(strength)))
        return np.asarray(np.where(log_q > -np.inf, np.logaddexp(0.0, strength + log_q), 0.0))


def _lowered(strength: float, log_q: Floats, log_rest: Floats) -> Floats:
    """ln(1 − (1 − e^−s)·q) = ln((1 − q) + e^−s·q): the second where q may be so near 1 that 1 − q is lost."""
    fall = np.exp(log_q) * -np.expm1(-strength)
    far = np.logaddexp(log_rest, log_q - strength)
    return np.asarray(np.where(fall < 0.5, np.log1p(-np.minimum(fall, 0.5)), far))


def _with_steps(lower: Floats, upper: Floats, a: Floats) -> tuple[Floats, Floats]:
    """The corners of a curve, and the points where it passes a step of k(u)."""
    cuts = np.unique(a[(a > upper[0]) & (a < upper[-1])])
    cuts = np.setdiff1d(cuts, upper)
    along = np.interp(cuts, upper, lower)
    order = np.lexsort((np.append(lower, along), np.append(upper, cuts)))
    return np.append(lower, along)[order], np.append(upper, cuts)[order]


def _largest_ratio(table: Table, epsilon: float) -> float:
    """ln of the largest (1 + tA)/(1 + tB) of one source: by prefixes, or by sets, or for a large box by its search."""
    cloud = _Cloud(table)
    if isinstance(table, Box) and not cloud.few:
        return float(np.asarray(leakage(table, epsilon)))
    budget = np.asarray(epsilon)
    focus = lines.inverse_gain(budget)
    best = 0.0
    for x in range(table.shape[0]):
        for y in range(table.shape[0]):
            if x != y:
                lower, gap = cloud.gaps(x, y)
                best = max(best, float(lines.leakage(gap, lower, budget, focus).max()))
    return min(best, epsilon)
