"""The reference form for one pair of target values, by formula and plain NumPy, to check proofs with (maths §5)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptriad.totals._proof_points import Cloud
from deptriad.utils.arrays import Booleans, Floats


def pair_bound(
    clouds: list[Cloud], x: int, y: int, epsilon: Floats, a: Floats, shares: Floats
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
    up: Booleans
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
