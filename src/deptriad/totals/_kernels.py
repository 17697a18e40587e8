"""The compiled loops of totals: what all sources together say about one pair of target values (maths §5).

For a pair (x, x') every source is a list of points (B, A) = (G'(S), G(S)), by increasing B and A: one for each set S
worth looking at, or the corners of a concave curve above all of them, whose edges then count too. A is rounded up and
B down, so that the points lie beyond those of every table within rounding of the one given (see rounding).

A bound is a claim about the likelihood ratio of all reports together. For a in [0, 1] and shares λ that sum to 1,

    ln ratio ≤ ln W(1) + Σ_i max { λ_i·ln(1 ± (e^{±ε_i/λ_i} − 1)·q) − ε_i·B },     q = |W(A) − W(a_i)| / W(1)

with + where A ≥ a_i and − elsewhere: the reference form with W(1) taken out. Everything with e^k is kept as logarithm.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deptriad.utils.compiled import compiled
from deptriad.utils.rounding import ENTRY, ROUNDOFF

if TYPE_CHECKING:
    from deptriad.utils.arrays import Floats, Integers

FEW = 12
"""Source values up to which every set of them is looked at; beyond, the hull of the sets."""

SLOPES = 48
"""How many supporting lines stand for the hull of a box with many values."""

PRICES = np.linspace(0.0, 1.0, 5)
"""Multipliers μ and ν that the certificate of a box is tried with (maths §3)."""

HUGE = 600.0
"""Exponents above this stay logarithms."""

SWEEPS = 20
"""Rounds of coordinate ascent after which the reference is taken as it stands."""


ALWAYS = {"error_model": "numpy"}
"""A division by zero is ±∞ or NaN; each that can happen says below what that means."""


class Sources(NamedTuple):
    """All tables of one target, end to end; those of few values also as sums over every set of values."""

    lower: Floats  # entry [x, u] of source i is at starts[i] + x·columns[i] + u
    upper: Floats
    starts: Integers
    columns: Integers
    spare: Floats  # [source, row]; ∞ for a table, whose edges are the same
    surplus: Floats
    top: Floats  # largest G(S), entry [x, S] of source i at set_starts[i] + x·2^columns[i] + S
    low: Floats  # smallest G(S)
    order: Integers  # the sets of each row by increasing low
    set_starts: Integers


# --- the points of a source for one pair ------------------------------------------------------------------------


@compiled()
def slack_of(columns):
    """Relative error granted to a sum of so many entries: their own and that of adding them."""
    return ENTRY + (2 * columns + 8) * ROUNDOFF


@compiled()
def sum_sets(lower, upper, spare, surplus, top, low, order):
    """Largest and smallest G(S) of every set S in every row of a box: min(Up(S), 1 − Lo(Sᶜ)) and its mirror."""
    rows, columns = lower.shape
    slack = slack_of(columns)
    above, below = np.zeros(1 << columns), np.zeros(1 << columns)
    for x in range(rows):
        for s in range(1, 1 << columns):
            u = 0
            while not (s >> u) & 1:
                u += 1
            above[s] = above[s & (s - 1)] + upper[x, u]
            below[s] = below[s & (s - 1)] + lower[x, u]
            most = min(above[s], below[s] + spare[x])
            least = max(below[s], above[s] * (1.0 - slack) - surplus[x])
            top[x, s] = min(most * (1.0 + slack), 1.0)
            low[x, s] = least * (1.0 - slack)
        order[x] = np.argsort(low[x])


@compiled()
def _set_points(top, top2, low2, order, lower, upper):
    """Sets with a larger A than every set of smaller B: the objective rises with A and falls with B.

    Empty and full sets are left out: N(S) + N(Sᶜ) = (1 + e^ε)·N(∅) in numerator and denominator alike, so S or its
    complement does at least as well. The same holds for sets that differ from them by values of no mass.
    """
    full = top.size - 1
    count = 0
    for s in order:
        if (top[s] == 0.0 and top2[s] == 0.0) or (top[full - s] == 0.0 and top2[full - s] == 0.0):
            continue
        if count == 0 or top[s] > upper[count - 1]:
            if count and low2[s] == lower[count - 1]:
                count -= 1
            lower[count], upper[count] = low2[s], top[s]
            count += 1
    return count


@compiled(**ALWAYS)
def _hull_points(g, h, lower, upper):
    """Corners of the hull of all sets of two known rows: values by falling ratio g/h, from the empty set on."""
    slack = slack_of(g.size)
    ratio = np.empty(g.size)
    for u in range(g.size):
        ratio[u] = g[u] / h[u] if h[u] > 0.0 else (np.inf if g[u] > 0.0 else 0.0)
    lower[0] = upper[0] = above = below = 0.0
    count = 1
    for u in np.argsort(-ratio):
        if g[u] > 0.0:
            above, below = above + g[u], below + h[u]
            upper[count], lower[count] = (
                min(above * (1.0 + slack), 1.0),
                max(below * (1.0 - slack), lower[count - 1]),
            )
            count += 1
    return count


@compiled()
def _certificate(low, high, low2, high2, spare, surplus, gamma):
    """A bound on max G(S) − γ·min G'(S) over all sets: the two-multiplier certificate, best of a few (maths §3)."""
    best = 1.0
    for mu in PRICES:
        for nu in PRICES:
            total = (1.0 - mu) * spare + gamma * (1.0 - nu) * surplus
            for u in range(low.size):
                # two positive terms each, which do not cancel: off by roundings of themselves
                term = (1.0 - mu) * low[u] + mu * high[u]
                less = (1.0 - nu) * high2[u] + nu * low2[u]
                term -= gamma * less * (1.0 - 16 * ROUNDOFF)
                total += max(term, 0.0)
            best = min(best, total)
    return min(best * (1.0 + 2.0 * slack_of(low.size)), 1.0)


@compiled(**ALWAYS)
def _slopes(low, high, low2, high2):
    """Slopes of the supporting lines: ratios that the values of the box may have, at most SLOPES, falling."""
    size = low.size
    ratio = np.empty(size + 3)
    for u in range(size):
        middle = low2[u] + high2[u]
        ratio[u] = (low[u] + high[u]) / middle if middle > 0.0 else 1.0
    steepest, flattest = 1.0, 1.0
    for u in range(size):
        if low2[u] > 0.0:
            steepest = max(steepest, high[u] / low2[u])
        if high2[u] > 0.0 and low[u] > 0.0:
            flattest = min(flattest, low[u] / high2[u])
    ratio[size], ratio[size + 1], ratio[size + 2] = steepest, 1.0, flattest
    ratio = np.sort(ratio)[::-1]
    slopes = np.empty(SLOPES)
    count = 0
    step = max((ratio.size - 1) / (SLOPES - 1), 1.0)
    for k in range(min(SLOPES, ratio.size)):
        gamma = ratio[min(int(k * step + 0.5), ratio.size - 1)]
        if 1e-9 < gamma < 1e9 and (count == 0 or gamma < slopes[count - 1] * 0.999):
            slopes[count] = gamma
            count += 1
    return slopes[:count]


@compiled(**ALWAYS)
def _box_points(low, high, low2, high2, spare, surplus, lower, upper):
    """Corners of a polygon above all sets of two box rows: where certified lines A ≤ E_γ + γB meet.

    A corner is off by the rounding of E over the difference of slopes; moved that far outward it stays above.
    """
    slopes = _slopes(low, high, low2, high2)
    height = np.empty(slopes.size)
    now = -1
    for k in range(slopes.size):
        height[k] = _certificate(low, high, low2, high2, spare, surplus, slopes[k])
        if now < 0 or height[k] <= height[now]:
            now = k
    lower[0], upper[0] = 0.0, height[now] if now >= 0 else 1.0
    count = 1
    while now >= 0 and upper[count - 1] < 1.0:
        after, where, doubt = -1, (1.0 - height[now]) / slopes[now], 0.0
        for k in range(now + 1, slopes.size):
            meeting = (height[k] - height[now]) / (slopes[now] - slopes[k])
            if meeting <= where:
                after, where = k, meeting
        if after >= 0:
            doubt = 8 * ROUNDOFF * (height[after] + height[now]) / (slopes[now] - slopes[after])
        doubt += 8 * ROUNDOFF * where
        lower[count] = max(where - doubt, lower[count - 1])
        top = (height[now] + slopes[now] * (where + doubt)) * (1.0 + 8 * ROUNDOFF)
        upper[count] = min(max(top, upper[count - 1]), 1.0) if after >= 0 else 1.0
        count += 1
        now = after
    return count


@compiled()
def _points(sources, i, x, y, lower, upper):
    """The points of source i for the pair (x, y): how many, and whether the edges between them count."""
    columns = sources.columns[i]
    if columns <= FEW:
        size = 1 << columns
        more, less = sources.set_starts[i] + x * size, sources.set_starts[i] + y * size
        count = _set_points(
            sources.top[more : more + size],
            sources.top[less : less + size],
            sources.low[less : less + size],
            sources.order[less : less + size],
            lower,
            upper,
        )
        if count == 0:  # one value has all the mass: a report says nothing about this pair
            lower[0] = upper[0] = 0.0
        return max(count, 1), False
    more, less = sources.starts[i] + x * columns, sources.starts[i] + y * columns
    low, high = sources.lower[more : more + columns], sources.upper[more : more + columns]
    low2, high2 = sources.lower[less : less + columns], sources.upper[less : less + columns]
    if math.isinf(sources.spare[i, x]):
        return _hull_points(low, low2, lower, upper), True
    spare, surplus = sources.spare[i, x], sources.surplus[i, y]
    return _box_points(low, high, low2, high2, spare, surplus, lower, upper), True


@compiled()
def _all_points(sources, x, y, width):
    """Points of every source for one pair: B, A, their numbers, and where edges count."""
    size = sources.columns.size
    lower, upper = np.empty((size, width)), np.empty((size, width))
    counts, edged = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.bool_)
    for i in range(size):
        counts[i], edged[i] = _points(sources, i, x, y, lower[i], upper[i])
    return lower, upper, counts, edged


# --- the largest term of one source -----------------------------------------------------------------------------


@compiled()
def _log(number):
    """ln, −∞ at 0."""
    return math.log(number) if number > 0.0 else -np.inf


@compiled()
def _log_sum(one, other):
    """ln(e^one + e^other)."""
    high, low = max(one, other), min(one, other)
    return high if low == -np.inf else high + math.log1p(math.exp(low - high))


@compiled()
def _tilt(strength, log_q, q, log_rest, up):
    """ln(1 + (e^{±s} − 1)·q): the logarithm of how much a tilt by s multiplies a mass q; log_rest is ln(1 − q).

    Downward it is ln((1 − q) + e^−s·q) where q may be so near 1 that 1 − q is lost. Upward log_rest is not needed.
    """
    if not up:
        fall = -q * math.expm1(-strength)
        return math.log1p(-fall) if fall < 0.5 else _log_sum(log_rest, log_q - strength)
    if strength < HUGE:
        return math.log1p(q * math.expm1(strength))
    power = strength + log_q
    if power > 0.0:
        return power + math.log1p(math.exp(-power) * (1.0 - q))
    return math.log1p(math.exp(power))


@compiled()
def _spent(strength, log_q, q, up, tilt):
    """−d/dλ of λ·ln(1 + (e^{±ε/λ} − 1)·q): a relative entropy, so never negative."""
    if up:
        return max(strength * math.exp(min(log_q + strength - tilt, 0.0)) - tilt, 0.0)
    return max(-strength * q * math.exp(-strength - tilt) - tilt, 0.0)


@compiled(**ALWAYS)
def _largest(log_q, q, log_rest, lower, up, count, edged, epsilon, share):
    """Largest λ·tilt − ε·B over the points (and edges) of a source, and how fast it falls with λ.

    On an edge q and B are linear in each other, where the term is concave: its derivative vanishes at
    q = (λ/ε)·dq/dB − 1/(e^{±s} − 1).
    """
    best, fall = -np.inf, 0.0
    if share <= 0.0:  # the limit
        for k in range(count):
            reached = epsilon if up[k] and log_q[k] > -np.inf else 0.0
            best = max(best, reached - epsilon * lower[max(k - 1, 0) if edged else k])
        return best, np.inf
    strength = epsilon / share
    for k in range(count):
        tilt = _tilt(strength, log_q[k], q[k], log_rest[k], up[k])
        value = share * tilt - epsilon * lower[k]
        if value > best:
            best, fall = value, _spent(strength, log_q[k], q[k], up[k], tilt)
    if not edged:
        return best, fall
    for k in range(1, count):
        run = lower[k] - lower[k - 1]
        tail = up[k]
        end, rest, end_rest = q[k], 1.0, 1.0
        if up[k] != up[k - 1] and q[k - 1] > 0.0:
            end, tail = 0.0, False  # the piece ends at a, where both sides have q = 0
        elif not tail:
            end_rest = math.exp(log_rest[k])
        rise = end - q[k - 1]
        if not tail:
            rest = math.exp(log_rest[k - 1])
            if q[k - 1] > 0.5:
                rise = rest - end_rest
        if strength > HUGE and (tail and log_q[k] > -np.inf):
            # too steep for q as a number: the corner with the A of one end and the B of the other is above the edge
            tilt = _tilt(strength, log_q[k], q[k], 0.0, True)
            value = share * tilt - epsilon * lower[k - 1]
            if value > best:
                best, fall = value, _spent(strength, log_q[k], q[k], True, tilt)
            continue
        if run <= 0.0 or rise == 0.0:
            continue
        flat = 1.0 / math.expm1(strength)
        ahead = -flat - q[k - 1] if tail else flat + rest  # −1/(e^{±s} − 1) − q
        # ±∞ or NaN where the edge is too short for a number: then its ends say it all
        part = (share * rise / (epsilon * run) + ahead) / rise
        if 0.0 < part < 1.0:
            mass = (1.0 - part) * q[k - 1] + part * end
            rest = (1.0 - part) * rest + part * end_rest
            tilt = _tilt(strength, _log(mass), mass, _log(rest), tail)
            value = share * tilt - epsilon * (lower[k - 1] + part * run)
            if value > best:
                best, fall = value, _spent(strength, _log(mass), mass, tail, tilt)
    return best, fall


# --- the plain form ---------------------------------------------------------------------------------------------


@compiled()
def _plain_term(lower, upper, count, edged, epsilon, share, log_q, up):
    """The term of one source in the plain form, where W(v) = v and so q = A."""
    for k in range(count):
        log_q[k] = _log(upper[k])
        up[k] = True
    return _largest(log_q, upper, log_q, lower, up, count, edged, epsilon, share)[0]


@compiled()
def _leakage(lower, upper, count, epsilon, focus):
    """Leakage of one source for one pair: the best corner, since the ratio is quasi-linear (maths §1)."""
    best = 0.0
    for k in range(count):
        a, b = upper[k], lower[k]
        if a > b and epsilon < HUGE:
            best = max(best, math.log1p((a - b) / (focus + b)))
        elif a > b:
            high, low = _tilt(epsilon, _log(a), a, 0.0, True), _tilt(epsilon, _log(b), b, 0.0, True)
            best = max(best, high - low + 8 * ROUNDOFF * epsilon)
    return min(best, epsilon)


@compiled()
def largest_leakages(sources, epsilon, focus, rows, width):
    """Leakage of each source by itself, over all pairs."""
    largest = np.zeros(focus.size)
    lower, upper = np.empty(width), np.empty(width)
    for x in range(rows):
        for y in range(rows):
            for i in range(focus.size):
                if x != y:
                    count, _ = _points(sources, i, x, y, lower, upper)
                    largest[i] = max(
                        largest[i], _leakage(lower, upper, count, epsilon[i], focus[i])
                    )
    return largest


@compiled()
def plain_bounds(sources, epsilon, focus, leakages, rows, width):
    """The plain bound of every ordered pair of target values, and the largest sum of leakages of one pair.

    No pair of a source is given more than the source's largest leakage: so the sum is never above that of those.
    """
    total = epsilon.sum()
    bounds, paired = np.zeros((rows, rows)), 0.0
    lower, upper, log_q = np.empty(width), np.empty(width), np.empty(width)
    up = np.empty(width, dtype=np.bool_)
    for x in range(rows):
        for y in range(rows):
            if x == y:
                continue
            together = 0.0
            for i in range(epsilon.size):
                count, edged = _points(sources, i, x, y, lower, upper)
                share = epsilon[i] / total
                bounds[x, y] += _plain_term(
                    lower, upper, count, edged, epsilon[i], share, log_q, up
                )
                together += min(_leakage(lower, upper, count, epsilon[i], focus[i]), leakages[i])
            paired = max(paired, together)
    return bounds, paired


# --- the reference: sets that are worst together ------------------------------------------------------------------


@compiled()
def _segments(a, epsilon, skip, edge, height):
    """Steps of k(u) = Σ_j ε_j·1{u ≤ a_j} without source ``skip``: ``height[j]`` from edge[j] to edge[j + 1]."""
    order = np.argsort(a)
    count = 0
    edge[0] = 0.0
    for j in order:
        if j != skip:
            count += 1
            edge[count] = a[j]
    edge[count + 1] = 1.0
    height[count] = 0.0
    place = count
    for j in order[::-1]:
        if j != skip:
            place -= 1
            height[place] = height[place + 1] + epsilon[j]
    return count + 1


@compiled(**ALWAYS)
def _improve(i, a, epsilon, lower, upper, count, edge, height):
    """The best point of source i while the others stay: maximises ln N(A) − ε·B, N = W(1) + (e^ε − 1)·W(A)."""
    pieces = _segments(a, epsilon, i, edge, height)
    first = 0
    while edge[first + 1] == 0.0:
        first += 1
    scale = height[first]  # of the highest step that is not empty
    whole = 0.0
    for j in range(first, pieces):
        whole += math.exp(height[j] - scale) * (edge[j + 1] - edge[j])
    gain = math.expm1(epsilon[i]) if epsilon[i] < HUGE else 1.0
    rest = whole if epsilon[i] < HUGE else whole * math.exp(-epsilon[i])
    best, winner = -np.inf, 0
    mass, j = 0.0, first
    for k in range(count):
        while j < pieces - 1 and edge[j + 1] < upper[k]:
            mass += math.exp(height[j] - scale) * (edge[j + 1] - edge[j])
            j += 1
        reached = mass + math.exp(height[j] - scale) * (upper[k] - edge[j])
        value = math.log(max((rest + gain * reached) / whole, 1e-300)) - epsilon[i] * lower[k]
        if value > best + 1e-14 * abs(best):
            best, winner = value, k
    return winner


@compiled()
def _ascend(epsilon, lower, upper, counts, choice):
    """Coordinate ascent of ln N(A) − Σ ε_i·B_i from a choice of points, which it replaces."""
    size = epsilon.size
    a = np.empty(size)
    edge, height = np.empty(size + 2), np.empty(size + 2)
    for i in range(size):
        a[i] = upper[i, choice[i]]
    for _ in range(SWEEPS):
        still = True
        for i in range(size):
            winner = _improve(i, a, epsilon, lower[i], upper[i], counts[i], edge, height)
            if winner != choice[i]:
                still = False
                choice[i] = winner
                a[i] = upper[i, winner]
        if still:
            break


@compiled()
def _plain_choice(epsilon, lower, upper, counts):
    """The point of each source that is worst in the plain form; corners only."""
    total = epsilon.sum()
    choice = np.zeros(epsilon.size, dtype=np.int64)
    for i in range(epsilon.size):
        best = -np.inf
        for k in range(counts[i]):
            a = upper[i, k]
            value = _tilt(total, _log(a), a, 0.0, True) / total - lower[i, k]
            if value > best:
                best, choice[i] = value, k
    return choice


# --- the reference form -------------------------------------------------------------------------------------------


@compiled()
def _log_mass(edge, height, pieces, start, stop):
    """ln of ∫ e^{k(u)} du from start to stop, each step by itself: nothing cancels, nothing overflows."""
    top = -np.inf
    for j in range(pieces):
        wide = min(stop, edge[j + 1]) - max(start, edge[j])
        if wide > 0.0:
            top = max(top, height[j] + math.log(wide))
    if top == -np.inf:
        return top
    total = 0.0
    for j in range(pieces):
        wide = min(stop, edge[j + 1]) - max(start, edge[j])
        if wide > 0.0:
            total += math.exp(height[j] + math.log(wide) - top)
    return top + math.log(total)


@compiled()
def _log_whole(edge, height, pieces):
    """ln W(1), exact to rounding of itself even where it is tiny."""
    if height[0] >= HUGE:
        return _log_mass(edge, height, pieces, 0.0, 1.0)
    total = 0.0
    for j in range(pieces):
        total += math.expm1(height[j]) * (edge[j + 1] - edge[j])
    return math.log1p(total)


@compiled()
def _split(a, lower, upper, count, edged, low, high):
    """The points of a source, with one more wherever an edge passes a step of k(u)."""
    low[0], high[0] = lower[0], upper[0]
    filled = 1
    cuts = np.sort(a) if edged else a
    for k in range(1, count):
        if edged:
            rise, run = upper[k] - upper[k - 1], lower[k] - lower[k - 1]
            for cut in cuts:
                if high[filled - 1] < cut < upper[k] and cut > upper[k - 1]:
                    along = lower[k - 1] + run * ((cut - upper[k - 1]) / rise)
                    low[filled] = max(along * (1.0 - 8 * ROUNDOFF), low[filled - 1])
                    high[filled] = cut
                    filled += 1
        low[filled], high[filled] = lower[k], upper[k]
        filled += 1
    return filled


@compiled()
def _masses(i, a, edge, height, pieces, whole, high, count, log_q, q, log_rest, up):
    """q = |W(A) − W(a_i)| / W(1) of each point; where it counts against the bound it is rounded down.

    There 1 − q comes from what lies outside: next to 1, q says nothing of it.
    """
    less = 1.0 - (4 * pieces + 16) * (1.0 + height[0]) * ROUNDOFF
    for k in range(count):
        up[k] = high[k] >= a[i]
        start, stop = (a[i], high[k]) if up[k] else (high[k], a[i])
        log_q[k] = min(_log_mass(edge, height, pieces, start, stop) - whole, 0.0)
        q[k] = math.exp(log_q[k]) * (1.0 if up[k] else less)
        log_rest[k] = 0.0
        if not up[k]:
            before = _log_mass(edge, height, pieces, 0.0, start)
            after = _log_mass(edge, height, pieces, stop, 1.0)
            log_rest[k] = min(_log_sum(before, after) - whole, 0.0)


@compiled()
def _narrow(price, low, high, log_q, q, log_rest, lower, up, counts, edged, epsilon):
    """Halve the bracket around each source's share at a price: where its term stops falling faster than that."""
    for i in range(epsilon.size):
        if high[i] > low[i] * (1.0 + 1e-10):
            middle = math.sqrt(low[i] * high[i])
            points = log_q[i], q[i], log_rest[i], lower[i], up[i]
            fall = _largest(*points, counts[i], edged[i], epsilon[i], middle)[1]
            if fall > price:
                low[i] = middle
            else:
                high[i] = middle


@compiled(**ALWAYS)
def _best_shares(epsilon, log_q, q, log_rest, lower, up, counts, edged):
    """Shares λ that minimise the sum of the terms, each convex and falling in its λ: bisection on a common price.

    The dearer, the smaller the shares. Brackets are narrowed only until it is plain whether they sum to more than 1.
    """
    size = epsilon.size
    terms = log_q, q, log_rest, lower, up, counts, edged, epsilon
    small, large = np.maximum(1e-6 * epsilon / epsilon.sum(), 1e-300), np.ones(size)
    cheap, dear = math.log(1e-60), math.log(1e5)
    while dear - cheap > 1e-9 and large.sum() - small.sum() > 1e-9:
        middle = 0.5 * (cheap + dear)
        low, high = small.copy(), large.copy()
        while low.sum() <= 1.0 < high.sum() and high.sum() - low.sum() > 1e-9:
            _narrow(math.exp(middle), low, high, *terms)
        if high.sum() > 1.0:
            cheap = middle
            large[:] = high
        else:
            dear = middle
            small[:] = low
    # Where the sum jumps past 1 at one price, the shares just above and just below are found to the end, and
    # everything in between costs the same.
    low, high = small.copy(), large.copy()
    for _ in range(40):
        _narrow(math.exp(dear), small, high, *terms)
        _narrow(math.exp(cheap), low, large, *terms)
    above, below = large.sum(), small.sum()
    part = (1.0 - below) / (above - below) if above > 1.0 > below else 0.0
    share = small + min(max(part, 0.0), 1.0) * (large - small)
    return share / share.sum()


@compiled()
def _terms(epsilon, share, log_q, q, log_rest, lower, up, counts, edged):
    """Σ of the largest terms."""
    total = 0.0
    for i in range(epsilon.size):
        points = log_q[i], q[i], log_rest[i], lower[i], up[i]
        total += _largest(*points, counts[i], edged[i], epsilon[i], share[i])[0]
    return total


@compiled()
def _reference(epsilon, a, lower, upper, counts, edged):
    """The reference form at a, with the best shares: the bound and the shares."""
    size = epsilon.size
    width = lower.shape[1] + size
    edge, height = np.empty(size + 2), np.empty(size + 2)
    pieces = _segments(a, epsilon, -1, edge, height)
    whole = _log_whole(edge, height, pieces)
    low, high = np.empty((size, width)), np.empty((size, width))
    log_q, q, rest = np.empty((size, width)), np.empty((size, width)), np.empty((size, width))
    up, split = np.empty((size, width), dtype=np.bool_), np.empty(size, dtype=np.int64)
    for i in range(size):
        split[i] = _split(a, lower[i], upper[i], counts[i], edged[i], low[i], high[i])
        _masses(
            i, a, edge, height, pieces, whole, high[i], split[i], log_q[i], q[i], rest[i], up[i]
        )
    share = _best_shares(epsilon, log_q, q, rest, low, up, split, edged)
    return whole + _terms(epsilon, share, log_q, q, rest, low, up, split, edged), share


@compiled()
def refine(sources, epsilon, x, y, width, enough):
    """The reference form of one pair: the bound, a and λ, for the best of three a, or the first that is low ``enough``.

    Where sets are worst together need not be where the bound is least. So a is tried before the ascent too, and a = 0,
    which is the plain form with better shares.
    """
    lower, upper, counts, edged = _all_points(sources, x, y, width)
    size = epsilon.size
    choice = _plain_choice(epsilon, lower, upper, counts)
    best, best_a, best_share = np.inf, np.zeros(size), np.zeros(size)
    for attempt in range(3):
        if attempt == 1:
            _ascend(epsilon, lower, upper, counts, choice)
        a = np.zeros(size)
        if attempt < 2:
            for i in range(size):
                a[i] = upper[i, choice[i]]
        bound, share = _reference(epsilon, a, lower, upper, counts, edged)
        if bound < best:
            best, best_a, best_share = bound, a, share
        if best <= enough:
            break
    return best, best_a, best_share
