"""The truth, slowly: brute force over all subsets in rational arithmetic, and HiGHS where that is too slow.

Everything is a cloud of points (B, A) = (G'(S), G(S)), one for each ordered pair of rows x ≠ x' and
each subset S of the source values (maths.md §1), or (min G'(S), max G(S)) where the rows are only
known up to a box (§3). Tables are lists of lists of ``Fraction``. Where e^ε or a logarithm comes in,
500 decimal digits stand for "exact": entries of 1e-300 at a budget of 1e-12 still keep 180 of them.
"""

from __future__ import annotations

import functools
import itertools
import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

CONTEXT = Context(prec=500, Emax=10**9, Emin=-(10**9))
SLACK = Decimal("1e-100")  # how far 500 digits may be off, generously

Row = list[Fraction]
Table = list[Row]
Cloud = set[tuple[Fraction, Fraction]]


def exactly(function):
    """Run a function with 500 decimal digits."""

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        with localcontext(CONTEXT):
            return function(*args, **kwargs)

    return wrapped


# ---------------------------------------------------------------------------------------- comparing


@exactly
def is_bound(reported: float, truth: Decimal | Fraction) -> bool:
    """Reported ≥ truth, as real numbers."""
    truth = decimal(truth)
    return decimal(reported) >= truth - abs(truth) * SLACK


@exactly
def is_close(reported: float, truth: Decimal | Fraction, tolerance: float = 1e-11) -> bool:
    """Within the tolerance of the truth, relative or absolute, whichever is kinder."""
    truth = decimal(truth)
    return abs(decimal(reported) - truth) <= decimal(tolerance) * max(1, abs(truth))


@exactly
def decimal(number: Decimal | Fraction | float | int) -> Decimal:
    """Convert to 500 digits; floats and fractions exactly as they are."""
    if isinstance(number, Fraction):
        return Decimal(number.numerator) / Decimal(number.denominator)
    return Decimal(number)


@exactly
def log(number: Decimal | Fraction | float) -> Decimal:
    """Natural logarithm."""
    return decimal(number).ln()


@exactly
def exp(number: Decimal | Fraction | float) -> Decimal:
    """e to that power."""
    return decimal(number).exp()


@functools.lru_cache(64)
@exactly
def gain(epsilon: float) -> Decimal:
    """t = e^ε − 1."""
    return exp(epsilon) - 1


# ------------------------------------------------------------------------------------------- tables


def as_fractions(table) -> Table:
    """Read the floats as the exact rationals they are."""
    return [[Fraction(float(entry)) for entry in row] for row in table]


def as_floats(table: Table) -> np.ndarray:
    """Round every entry to the nearest float."""
    return np.array([[float(entry) for entry in row] for row in table])


def normalised(table: Table) -> Table:
    """Divide each row by its exact sum."""
    return [[entry / sum(row) for entry in row] for row in table]


def readings(table: Table) -> dict[str, Table]:
    """Three honest answers to "which table do these floats stand for?" (maths.md §9)."""
    raw = as_fractions(as_floats(table))
    return {"fractions": table, "floats": raw, "floats, normalised": normalised(raw)}


def tightened(lower: Table, upper: Table) -> tuple[Table, Table]:
    """Clip a box to [0, 1] and tighten each edge with "rows sum to 1" (maths.md §3)."""
    lower = [[max(low, Fraction(0)) for low in row] for row in lower]
    upper = [[min(up, Fraction(1)) for up in row] for row in upper]
    new_lower = [
        [max(low, 1 - (sum(ups) - up)) for low, up in zip(lows, ups, strict=True)]
        for lows, ups in zip(lower, upper, strict=True)
    ]
    new_upper = [
        [min(up, 1 - (sum(lows) - low)) for low, up in zip(lows, ups, strict=True)]
        for lows, ups in zip(lower, upper, strict=True)
    ]
    return new_lower, new_upper


# ------------------------------------------------------------------------------------------- clouds


def subset_sums(row: Row) -> list[Fraction]:
    """G(S) for every subset S; bit u of the position says whether u is in S."""
    sums = [Fraction(0)]
    for entry in row:
        sums += [total + entry for total in sums]
    return sums


def ordered_pairs(rows) -> itertools.permutations:
    """All (x, x') with x ≠ x'."""
    return itertools.permutations(rows, 2)


def cloud(table: Table) -> Cloud:
    """All points (G'(S), G(S)). A row that floats push above 1 in total is cut off at 1."""
    sums = [[min(total, Fraction(1)) for total in subset_sums(row)] for row in table]
    points = {(Fraction(0), Fraction(0))}
    for above, below in ordered_pairs(sums):
        points.update(zip(below, above, strict=True))
    return points


def extremes(lower: Row, upper: Row) -> tuple[list[Fraction], list[Fraction]]:
    """Return (min G(S), max G(S)) for every S, over all distributions G of the box (maths.md §3)."""
    lows, ups = subset_sums(lower), subset_sums(upper)
    least = [max(low, 1 - (ups[-1] - up)) for low, up in zip(lows, ups, strict=True)]
    most = [min(up, 1 - (lows[-1] - low)) for low, up in zip(lows, ups, strict=True)]
    return least, most


def box_cloud(lower: Table, upper: Table) -> Cloud:
    """All points (min G'(S), max G(S)); both are attained together, since x ≠ x'."""
    rows = [extremes(low, up) for low, up in zip(lower, upper, strict=True)]
    points = {(Fraction(0), Fraction(0))}
    for (_, most), (least, _) in ordered_pairs(rows):
        points.update(zip(least, most, strict=True))
    return points


def worst(points: Cloud) -> Cloud:
    """Those points that no other one beats: A as large and B as small as may be. They decide all that follows."""
    whole = math.lcm(*(edge.denominator for point in points for edge in point))
    scaled = {tuple(e.numerator * (whole // e.denominator) for e in point) for point in points}
    kept, most = set(), -1
    for below, above in sorted(scaled, key=lambda point: (point[0], -point[1])):
        if above > most:
            kept.add((Fraction(below, whole), Fraction(above, whole)))
            most = above
    return kept


# --------------------------------------------------------------------------------- what clouds know


@exactly
def leakage(points: Cloud, epsilon: float) -> Decimal:
    """L(ε) = ln max (1 + tA)/(1 + tB) over the cloud (maths.md §1)."""
    t = gain(epsilon)
    best = max(t * decimal(above - below) / (1 + t * decimal(below)) for below, above in points)
    return (1 + best).ln()


def hockey_stick(points: Cloud, gamma: float | Fraction) -> Fraction:
    """E_γ = max_S G(S) − γG'(S) (maths.md §1)."""
    return max(above - Fraction(gamma) * below for below, above in points)


@exactly
def delta_out(points: Cloud, gamma_out, epsilon: float, mechanism_delta: float) -> Decimal:
    """δ' at γ' by definition: the worst binary response of an (ε, δ_m)-LDP mechanism (maths.md §4).

    Values in S answer "yes" with probability ``high``, the others with probability ``low``; the
    corners are those of the polygon of allowed (low, high).
    """
    ratio, slack = 1 + gain(epsilon), decimal(mechanism_delta)
    corners = [
        (Decimal(0), Decimal(0)),
        (Decimal(0), slack),
        ((1 - slack) / (1 + ratio), (ratio + slack) / (1 + ratio)),
        (1 - slack, Decimal(1)),
    ]
    tiny = SLACK * ratio
    for low, high in corners:
        assert high <= ratio * low + slack + tiny
        assert 1 - low <= ratio * (1 - high) + slack + tiny
    gamma_out = decimal(gamma_out)
    most = max(decimal(above) - gamma_out * decimal(below) for below, above in points)
    found = max(low * (1 - gamma_out) + (high - low) * most for low, high in corners)
    return max(Decimal(0), found - Decimal("1e-400"))  # the last digits are rounding


# ------------------------------------------------------------------------------------------- triads


def largest_ratio(lower: Table, upper: Table) -> Fraction:
    """e^α: the largest finite Up/Lo' with x ≠ x', at least 1 (maths.md §2, §3)."""
    best = Fraction(1)
    for x, other in ordered_pairs(range(len(lower))):
        for up, low in zip(upper[x], lower[other], strict=True):
            if low > 0:
                best = max(best, up / low)
    return best


def lost_mass(lower: Table, upper: Table) -> Fraction:
    """δ: the most mass a row may have where another may have none, at most 1 (maths.md §2, §3)."""
    best = Fraction(0)
    for x, other in ordered_pairs(range(len(lower))):
        mass = sum(up for up, low in zip(upper[x], lower[other], strict=True) if low == 0)
        best = max(best, mass)
    return min(best, Fraction(1))


@exactly
def triad_leakage(ratio, phi, delta, epsilon: float) -> Decimal:
    """Root of t·E = γ − 1 where E is the chord from (1, φ) to (e^α, δ), then flat (maths.md §2)."""
    ratio, phi, delta, t = decimal(ratio), decimal(phi), decimal(delta), gain(epsilon)
    flat = delta * t
    if ratio == 1:
        return (1 + flat).ln()
    slope = (phi - delta) / (ratio - 1)
    return (1 + max(flat, phi * t / (1 + slope * t))).ln()


@exactly
def paper_leakage(alpha: float, beta: float, delta: float, epsilon: float) -> Decimal:
    """The paper's estimator word for word (its Corollary on (α, β, δ)), in 500 digits."""
    a, b, d = decimal(alpha).exp(), decimal(beta).exp(), decimal(delta)
    e = 1 + gain(epsilon)
    if a - 1 - d * (e - 1) < 0:
        return (1 + d * (e - 1)).ln()
    above = a + d - a * d - d * e + a * e * (-1 + b + d) - 1
    below = d * (e - 1) - e + b * (-1 + a + d + e - d * e)
    return (above / below).ln()


@exactly
def phi_from_beta(alpha: float, beta: float, delta: float) -> Decimal:
    """φ from β (maths.md §2)."""
    a, b, d = decimal(alpha).exp(), decimal(beta).exp(), decimal(delta)
    return d + (1 - d) * (a - 1) * (b - 1) / (a * b - 1)


@exactly
def beta_from_phi(alpha: float, phi: float, delta: float) -> Decimal:
    """β from φ (maths.md §2)."""
    a, p, d = decimal(alpha).exp(), decimal(phi), decimal(delta)
    return ((1 + p + a * (d - 1) - 2 * d) / (1 + (p - 1) * a - d)).ln()


# -------------------------------------------------------------------------------------------- HiGHS


def _floats(*rows) -> list[np.ndarray]:
    return [np.array([float(entry) for entry in row]) for row in rows]


def paper_program(lower: Row, upper: Row, lower_other: Row, upper_other: Row) -> float:
    """The paper's relaxed linear program for φ of one ordered pair, as it is printed."""
    low, up, low2, up2 = _floats(lower, upper, lower_other, upper_other)
    size = len(low)
    plus, minus = np.maximum(0, up - low2), np.maximum(0, up2 - low)
    total = plus + minus
    share = np.divide(plus, total, out=np.zeros(size), where=total > 0)
    # Variables z, G, G':  z ≤ c(G − G' + M⁻),  both rows sum to 1.
    inequality = np.hstack([np.eye(size), -np.diag(share), np.diag(share)])
    sums = np.zeros((2, 3 * size))
    sums[0, size : 2 * size] = sums[1, 2 * size :] = 1
    bounds = [(0, None)] * size + [*zip(low, up, strict=True), *zip(low2, up2, strict=True)]
    cost = np.r_[-np.ones(size), np.zeros(2 * size)]
    result = linprog(cost, inequality, share * minus, sums, [1, 1], bounds, method="highs")
    assert result.status == 0, result.message
    return -result.fun


def paper_phi(lower, upper) -> float:
    """The paper's φ of a box: its program, the worst of all ordered pairs."""
    pairs = ordered_pairs(range(len(lower)))
    return max(
        (paper_program(lower[x], upper[x], lower[y], upper[y]) for x, y in pairs), default=0.0
    )


def extreme_program(lower: Row, upper: Row, chosen: list[int], sign: int) -> float:
    """Max (sign = 1) or min (sign = −1) of G(S) over the distributions of a box."""
    low, up = _floats(lower, upper)
    cost = np.zeros(len(low))
    cost[chosen] = -sign
    ones = np.ones((1, len(low)))
    result = linprog(cost, A_eq=ones, b_eq=[1], bounds=[*zip(low, up, strict=True)], method="highs")
    assert result.status == 0, result.message
    return -sign * result.fun


def channel_program(row: Row, other: Row, gamma_out: float, epsilon: float, slack: float) -> float:
    """The largest G·r − γ'G'·r over all binary (ε, δ_m)-LDP channels r (maths.md §4)."""
    above, below = _floats(row, other)
    size = len(above)
    rows, limits = [], []
    for u, v in ordered_pairs(range(size)):
        yes, no = np.zeros(size), np.zeros(size)
        yes[u], yes[v] = 1, -np.exp(epsilon)  # r_u ≤ e^ε r_v + δ_m
        no[u], no[v] = -1, np.exp(epsilon)  # 1 − r_u ≤ e^ε (1 − r_v) + δ_m
        rows += [yes, no]
        limits += [slack, np.exp(epsilon) - 1 + slack]
    system = (np.array(rows), limits) if rows else (None, None)
    result = linprog(gamma_out * below - above, *system, bounds=(0, 1), method="highs")
    assert result.status == 0, result.message
    return -result.fun


def hockey_stick_milp(lower: Row, upper: Row, lower_other: Row, upper_other: Row, gamma: float):
    """Robust E_γ of one ordered pair by mixed-integer programming (maths.md §3).

    Maximise w − γv over S, with w ≤ Up(S), w ≤ 1 − Lo(Sᶜ), v ≥ Lo'(S), v ≥ 1 − Up'(Sᶜ).
    Returns (the exact value at the set found, the solver's proven upper bound).
    """
    low, up, low2, up2 = _floats(lower, upper, lower_other, upper_other)
    size = len(low)
    rows = np.zeros((4, size + 2))
    rows[0, :size], rows[0, size] = -up, 1
    rows[1, :size], rows[1, size] = -low, 1
    rows[2, :size], rows[2, size + 1] = low2, -1
    rows[3, :size], rows[3, size + 1] = up2, -1
    limits = [0, 1 - low.sum(), 0, up2.sum() - 1]
    result = milp(
        np.r_[np.zeros(size), -1, gamma],
        integrality=np.r_[np.ones(size), 0, 0],
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(rows, -np.inf, limits),
        options={"mip_rel_gap": 0.0},
    )
    assert result.status == 0, result.message
    chosen = [u for u in range(size) if result.x[u] > 0.5]
    rest = [u for u in range(size) if u not in chosen]
    most = min(sum(upper[u] for u in chosen), 1 - sum(lower[u] for u in rest))
    least = max(sum(lower_other[u] for u in chosen), 1 - sum(upper_other[u] for u in rest))
    return Fraction(most) - Fraction(gamma) * Fraction(least), -result.mip_dual_bound
