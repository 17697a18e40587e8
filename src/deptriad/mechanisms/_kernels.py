"""The compiled loops of the mechanisms: codes and random words in, reports out; no objects, no checks.

Every loop reads its words in order and works in integers. Importing this module imports numba: do it inside the
functions that need it.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from deptriad.utils.compiled import compiled, part

ALL = np.uint64(2**64 - 1)
LOW = np.uint64(2**32 - 1)
NONE = np.uint64(0)
ONE = np.uint64(1)


# --- one of several values ------------------------------------------------------------------------------------


@compiled()
def respond_32(codes, words, cell, lying, reports):
    """Cell number of a word below ``lying``, the true code above; ``cell`` is a float, for the sake of vector units.

    The quotient of two integers below 2^32, rounded to 53 bits, never reaches the next integer: the floor is exact.
    """
    for k in range(codes.size):
        drawn = np.uint32(words[k] / cell)
        reports[k] = drawn if words[k] < lying else codes[k]


@compiled(error_model="numpy")
def respond_64(codes, words, cell, lying, reports):
    """The same with 64-bit words and integers throughout."""
    for k in range(codes.size):
        reports[k] = words[k] // cell if words[k] < lying else codes[k]


@compiled()
def look_up(codes, words, below, reports):
    """How many of a row's cumulative thresholds a 63-bit number has passed, by bisection."""
    for k in range(codes.size):
        number = words[k] >> ONE
        row = below[codes[k]]
        low, high = 0, row.size
        while low < high:
            middle = (low + high) // 2
            if row[middle] <= number:
                low = middle + 1
            else:
                high = middle
        reports[k] = low


# --- a set of values, as bits ---------------------------------------------------------------------------------


@part()
def _biased_bits(words, used, lanes, threshold):
    """For each bit of ``lanes`` by itself: 1 with probability threshold/2^64; and the words used up to then.

    Bit i of the words to come, taken together, is one 64-bit number, most significant bit first; it is compared with
    the threshold until all lanes are decided. Two words decide three lanes of four, eight words all but one in 256.
    """
    ones = NONE
    while lanes != NONE and threshold != NONE:
        word = words[used]
        used += 1
        if threshold >> np.uint64(63):
            ones |= lanes & ~word
            lanes &= word
        else:
            lanes &= ~word
        threshold <<= ONE
    return ones, used


@compiled()
def unary(codes, words, keep, add, last, reports):
    """A bit for each value: the true one set with chance keep/2^64, the others with add/2^64. Records done.

    A record is begun only if the words suffice for its worst case, which has nothing to do with how it turns out.
    """
    groups = reports.shape[1]
    worst = 1 + 64 * groups
    used = 0
    for k in range(codes.size):
        if used + worst > words.size:
            return k
        kept = words[used] < keep
        used += 1
        home, bit = codes[k] // 64, ONE << np.uint64(codes[k] % 64)
        for group in range(groups):
            lanes = last if group == groups - 1 else ALL
            if group == home:
                lanes &= ~bit
            ones, used = _biased_bits(words, used, lanes, add)
            reports[k, group] = ones | bit if group == home and kept else ones
    return codes.size


@part()
def _draw(half, count):
    """A number below ``count`` from 32 bits, or −1 where taking it would favour some numbers (Lemire's rejection)."""
    product = half * np.uint64(count)
    left = product & LOW
    if left < np.uint64(count) and left < np.uint64(2**32) % np.uint64(count):
        return np.int64(-1)
    return np.int64(product >> np.uint64(32))


@part()
def _half(row, j):
    """32 bits number j of a row of words, after the first word."""
    return (row[1 + j // 2] >> np.uint64(32 * (j % 2))) & LOW


@part()
def _choose(row, others, chosen):
    """A uniform set of ``chosen.size`` numbers below ``others`` (Floyd); False if a draw is rejected."""
    size = chosen.size
    for j in range(size):
        most = others - size + j
        drawn = _draw(_half(row, j), most + 1)
        if drawn < 0:
            return False
        for i in range(j):
            if chosen[i] == drawn:
                drawn = most
                break
        chosen[j] = drawn
    return True


@compiled()
def subsets(codes, words, keep, size, width, reports, done):
    """A set of ``width`` values: with chance keep/2^64 the true one and others, else only others.

    Every record makes the same draws, whichever way it goes: of ``width`` others, and of the one that makes room for
    the true value. So a rejected draw, for which the whole record is left undone, says nothing about the value.
    """
    chosen = np.empty(width, dtype=np.int64)
    for k in range(codes.size):
        row = words[k]
        room = _draw(_half(row, width), width)
        done[k] = _choose(row, size - 1, chosen) and room >= 0
        reports[k] = NONE
        if not done[k]:
            continue
        for i in range(width):
            value = chosen[i] + 1 if chosen[i] >= codes[k] else chosen[i]
            if i == room and row[0] < keep:
                value = np.int64(codes[k])
            reports[k, value // 64] |= ONE << np.uint64(value % 64)


# --- hashes ---------------------------------------------------------------------------------------------------


@part()
def _hash_matches(hashes, adds, digits, cells):
    """Add to hashes; how many then have the digit that was told? 32 bits, so that vector units take sixteen at once."""
    total = np.uint32(0)
    for k in range(digits.size):
        hashes[k] ^= adds[k]
        digit = np.uint32(np.uint32(hashes[k] * cells) >> np.uint32(20))
        total = np.uint32(total + (np.uint32(1) if digit == digits[k] else np.uint32(0)))
    return total


@compiled()
def hash_support(hashes, adds, digits, cells, support):
    """Add how many reports have the digit of each value.

    ``hashes`` are those of the value 0, and are used up; ``adds`` is what each bit of a value adds to them. Values are
    taken in the order of a Gray code, in which each differs from the one before in one bit.
    """
    value = 0
    for step in range(1, (1 << adds.shape[0]) + 1):
        bit = 0
        while bit < adds.shape[0] - 1 and (step >> bit) & 1 == 0:
            bit += 1
        value ^= 1 << bit
        matches = _hash_matches(hashes, adds[bit], digits, cells)
        if value < support.size:
            support[value] += matches
