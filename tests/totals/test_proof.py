"""Proofs: verify() believes none that claims too little, however close to 1 its numbers lie (maths.md §5)."""

import itertools
import json
import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import deptriad as dt
from deptriad.totals.proof import EVENTS, HULLS, REFERENCE, Proof, verify
from deptriad.totals.totals import target_total
from total_cases import COIN, check, random_table

# ------------------------------------------------------------------------------------------------ proofs


@pytest.fixture
def proved(rng):
    """A total whose pairs are all in the reference form, and its tables."""
    while True:
        tables = {str(i): random_table(rng, 3, 3) for i in range(4)}
        proof = target_total(tables, dict.fromkeys(tables, 1.0)).proof
        if proof.form == "pair by pair" and (proof.ways == REFERENCE).all():
            return proof, tables


def test_a_claim_that_is_too_low_is_caught(proved):
    proof, tables = proved
    with pytest.raises(ValueError, match="but proves only"):
        verify(replace(proof, value=proof.value * (1 - 1e-9)), tables)
    with pytest.raises(ValueError, match="but proves only"):
        verify(replace(proof, own=proof.own + 1e-6), tables)
    with pytest.raises(ValueError, match="but proves only"):
        verify(replace(proof, budgets=dict.fromkeys(proof.budgets, 1.5)), tables)


def test_a_proof_may_not_leave_pairs_out(proved):
    """Pairs that it does not name are held to the plain form."""
    proof, tables = proved
    with pytest.raises(ValueError, match="but proves only"):
        verify(
            replace(
                proof,
                pairs=proof.pairs[:0],
                ways=proof.ways[:0],
                a=proof.a[:0],
                shares=proof.shares[:0],
            ),
            tables,
        )
    with pytest.raises(ValueError, match="but proves only"):
        verify(replace(proof, form="plain"), tables)


def test_any_choice_is_a_proof_of_something(proved, rng):
    """Other a and λ prove a larger number or a smaller one, but never one that independent sources would exceed."""
    proof, tables = proved
    attained = target_total(tables, proof.budgets).paired
    for _ in range(30):
        a = rng.random(proof.a.shape)
        shares = rng.dirichlet(np.ones(4), len(proof.pairs))
        value = verify(replace(proof, a=a, shares=shares, value=math.inf), tables)
        assert value >= attained * (1 - 1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shares": 1.01}, "sum to"),
        ({"shares": -1.0}, "expected numbers of at least 0"),
        ({"shares": 0.0}, "sum to"),
        ({"ways": EVENTS}, "expected one of"),
        ({"ways": HULLS}, "expected one of"),
        ({"ways": 7}, "expected one of"),
        ({"a": -1.0}, r"expected numbers in \[0, 1\]"),
        ({"a": 3.0}, r"expected numbers in \[0, 1\]"),
        ({"a": math.nan}, r"expected numbers in \[0, 1\]"),
        ({"target": "other"}, "expected the same target"),
        ({"budgets": {"nobody": 1.0}}, "expected a table for it"),
        ({"budgets": {"0": 0.0}}, "only sources that are released"),
        ({"form": "faith"}, "expected one of"),
        ({"form": "one source"}, "4 are released"),
        ({"pairs": 7}, "a pair names target value"),
    ],
)
def test_a_proof_that_does_not_fit_is_refused(proved, change, message):
    proof, tables = proved
    ((name, value),) = change.items()
    if name == "shares":
        value = proof.shares * value
    elif name in ("a", "pairs", "ways"):
        value = np.full_like(getattr(proof, name), value)
    with pytest.raises(ValueError, match=message):
        verify(replace(proof, **{name: value}), tables)


def test_a_proof_of_other_tables_is_caught(proved, rng):
    proof, tables = proved
    sharp = {name: dt.Conditional(np.eye(3)) for name in tables}
    with pytest.raises(ValueError, match="but proves only"):
        verify(proof, sharp)
    with pytest.raises(ValueError, match="lacks 'shares'"):
        Proof.from_dict({k: v for k, v in proof.to_dict().items() if k != "shares"})


# ------------------------------------------------------------------- proofs whose numbers lie close to 1


def shaved(mass):
    """A source of two values, the first of which has next to no mass, or none."""
    return dt.Conditional([[mass, 1.0], [0.0, 1.0]], target="xor")


def both_pairs(budgets, claim, a, shares):
    return Proof(
        *("xor", 0.0, budgets, "pair by pair", claim),
        pairs=np.array([[0, 1], [1, 0]]),
        ways=np.array([REFERENCE] * 2),
        a=np.array([a] * 2),
        shares=np.array([shares] * 2),
    )


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.999])
def test_a_mass_below_rounding_is_not_lost(share):
    """1 − q = 1e-17 times e^60 is large: the truth is 20.86, of which a claim of 20 is no proof."""
    tables, budgets = {"s": shaved(1e-17), "o": COIN}, {"s": 60.0, "o": 1e-3}
    truth = math.log1p(math.expm1(60.0) * 1e-17)
    proof = both_pairs(budgets, 20.0, [1.0, 0.5], [share, 1.0 - share])
    with pytest.raises(ValueError, match="but proves only"):
        verify(proof, tables)
    assert verify(replace(proof, value=100.0), tables) >= truth
    check(target_total(tables, budgets), tables)


def test_two_masses_below_rounding_are_not_lost():
    tables, budgets = {"s": shaved(1e-17), "o": shaved(1e-17)}, {"s": 30.0, "o": 30.0}
    with pytest.raises(ValueError, match="but proves only"):
        verify(both_pairs(budgets, 1.0, [1.0, 1.0], [0.5, 0.5]), tables)
    assert target_total(tables, budgets).certified >= math.log1p(math.expm1(60.0) * 1e-17)


def test_a_mass_below_rounding_inside_an_edge_is_not_lost():
    """The same with 14 values, where the hull and its edges count."""
    row = np.append(np.full(13, 1e-17 / 13), 1.0)
    for other in (np.append(np.full(13, 1e-19), 1.0), np.append(np.zeros(13), 1.0)):
        wide = dt.Conditional([row, other], target="xor")
        tables, budgets = {"s": wide, "o": COIN}, {"s": 60.0, "o": 1e-3}
        alone = dt.leakage(wide, 60.0)
        with pytest.raises(ValueError, match="but proves only"):
            verify(both_pairs(budgets, alone * 0.99, [1.0, 0.5], [0.5, 0.5]), tables)
        check(target_total(tables, budgets), tables)


def test_a_sum_that_rounds_down_to_a_is_still_above_it():
    """Seven entries add up to a hair more than their floats do; a steep share makes a hair the whole budget."""
    row = np.append(np.full(7, 0.1), 0.3)
    table = dt.Conditional([row, row[::-1]], target="xor")
    row = table.table[0]
    for size in range(1, 8):
        at, exact = float(row[:size].sum()), sum(map(Fraction, row[:size]))
        tables, budgets = {"s": table, "o": COIN}, {"s": 40.0, "o": 1.0}
        proof = both_pairs(budgets, 100.0, [at, 0.5], [1e-3, 1.0 - 1e-3])
        least = 0.0 if exact <= Fraction(at) else 39.0 - 40.0 * float(table.table[1, :size].sum())
        assert verify(proof, tables) >= least


def exact_bound(tables, proof):
    """What a proof's a and λ prove: tables of few values only. W is up to e^300, and differences are down to 1e-30."""
    with localcontext(prec=200):
        epsilon = [Decimal(value) for value in proof.budgets.values()]
        exact = [[[Fraction(p) for p in row] for row in t.table.tolist()] for t in tables.values()]
        worst = Decimal(0)
        for (x, y), a, shares in zip(proof.pairs.tolist(), proof.a, proof.shares, strict=True):
            whole = sum(map(Decimal, shares.tolist()))
            share = [Decimal(part) / whole for part in shares.tolist()]
            a = [Decimal(value) for value in a.tolist()]
            worst = max(worst, exact_pair_bound(exact, x, y, epsilon, a, share))
        return worst


def exact_pair_bound(tables, x, y, epsilon, a, share):
    edges = sorted({Decimal(0), *a, Decimal(1)})

    def weight(value):
        total = Decimal(0)
        for low, high in itertools.pairwise(edges):
            height = sum((e for e, at in zip(epsilon, a, strict=True) if at >= high), Decimal(0))
            total += height.exp() * max(min(value, high) - low, Decimal(0))
        return total

    whole, total = weight(Decimal(1)), Decimal(0)
    for table, e, at, part in zip(tables, epsilon, a, share, strict=True):
        points = []
        for s in range(1, (1 << len(table[x])) - 1):
            above, below = (
                sum((p for u, p in enumerate(row) if s >> u & 1), Fraction(0))
                for row in (table[x], table[y])
            )
            if above + below == 0 or above + below == sum(table[x]) + sum(table[y]):
                continue
            both = (min(above, Fraction(1)), below)
            points.append([Decimal(n.numerator) / Decimal(n.denominator) for n in both])
        terms = []
        for upper, lower in points or [(Decimal(0), Decimal(0))]:  # says nothing: the empty set
            power = (e / part if upper >= at else -e / part).exp() - 1
            rise = power * abs(weight(upper) - weight(at))
            terms.append(part * (whole + rise).ln() - e * lower)
        total += max(terms)
    return total


def test_verify_agrees_with_high_precision(rng):
    """Entries from 1e-30 to 1, a near 0 and near 1, shares from even to steep: never below by more than rounding."""
    for _ in range(30):
        count = int(rng.integers(2, 4))
        tables, budgets = {}, {}
        for i in range(count):
            columns = int(rng.integers(2, 4))
            small = 10.0 ** rng.uniform(-30, 0, (2, columns))
            small[:, 0] = 1.0
            small[rng.random((2, columns)) < 0.1] = 0.0
            small[:, 0] = np.maximum(small[:, 0], 1e-3)
            table = small[:, rng.permutation(columns)]
            tables[str(i)] = dt.Conditional(table / table.sum(axis=1, keepdims=True), target="xor")
            budgets[str(i)] = float(10 ** rng.uniform(-9, 2))
        a = rng.choice([0.0, 1e-20, 1e-6, 0.3, 1.0 - 1e-9, 1.0], count).tolist()
        shares = rng.dirichlet(np.full(count, 0.7)) + 1e-3
        proof = both_pairs(budgets, math.inf, a, (shares / shares.sum()).tolist())
        proved, exact = verify(proof, tables), exact_bound(tables, proof)
        # a sum that is granted its rounding may move a term by λ·ln(1 + e^s·u), and only upward
        assert proved >= float(exact) * (1 - 1e-13) - 1e-15 * sum(budgets.values())
        if min(shares) > 0.2 and not any(a):
            assert proved <= float(exact) + 1e-9 * sum(budgets.values())


def test_certified_is_never_above_what_high_precision_proves_by_much(rng):
    """The kernels keep 1 − q, too: the claim and the exact value of its proof agree."""
    for _ in range(40):
        tables = {
            "s": shaved(10.0 ** -rng.uniform(10, 20)),
            "o": shaved(10.0 ** -rng.uniform(10, 20)),
        }
        budgets = {name: float(rng.uniform(5, 40)) for name in tables}
        proof = target_total(tables, budgets).proof
        if len(proof.pairs) == 2 and (proof.ways == REFERENCE).all() and proof.shares.all():
            exact = float(exact_bound(tables, proof))
            assert exact <= proof.value <= exact + 1e-8 * sum(budgets.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pairs": [[0.9, 1.2]]}, "pairs are"),
        ({"pairs": None}, "pairs are None"),
        ({"pairs": [[0, 1, 2]]}, "pairs are"),
        ({"a": None}, "a is None"),
        ({"a": [[0.5], [0.5, 0.5]]}, "a is"),
        ({"shares": "half"}, "shares is 'half'"),
        ({"shares": [[1.5, -0.5]]}, "a share is -0.5, expected numbers of at least 0"),
        ({"ways": [0.5]}, "ways are"),
        ({"ways": None}, "ways are None"),
        ({"ways": [0, 0]}, r"ways has shape \(2,\)"),
        ({"a": [[math.nan, 0.0]]}, r"an a is nan, expected numbers in \[0, 1\]"),
        ({"a": [[0.0]]}, r"a has shape \(1, 1\)"),
        ({"own": None}, "own"),
        ({"value": "low"}, "value"),
        ({"budgets": 1.0}, "budgets"),
    ],
)
def test_a_proof_that_is_no_numbers_is_refused(change, message):
    tables = {"a": COIN, "b": COIN}
    numbers = {
        "target": "xor",
        "own": 0.0,
        "budgets": {"a": 1.0, "b": 1.0},
        "form": "pair by pair",
        "value": 2.0,
        "pairs": [[0, 1]],
        "ways": [REFERENCE],
        "a": [[0.5, 0.5]],
        "shares": [[0.5, 0.5]],
        "mechanisms": None,
    }
    assert verify(Proof.from_dict(numbers), tables) <= 2.0
    with pytest.raises(ValueError, match=message) as caught:
        verify(Proof.from_dict(numbers | change), tables)
    assert "np." not in str(caught.value)
    if "pairs" in change or change.get("a", 0) is None:
        with pytest.raises(ValueError, match=message):
            Proof(**(numbers | change))


def test_a_proof_without_pairs_keeps_its_shape():
    for pairs in ([], np.zeros((0, 2), dtype=np.int64)):
        proof = Proof("xor", 0.0, {"a": 1.0}, "plain", 1.0, pairs, a=np.zeros((0, 3)), shares=[])
        again = Proof.from_dict(json.loads(json.dumps(proof.to_dict())))
        for name in ("pairs", "ways", "a", "shares"):
            assert getattr(proof, name).shape == getattr(again, name).shape


def test_a_share_too_steep_for_floats_proves_nothing():
    """ε/λ = ∞ must not turn into a number that is no number, and so into a proof."""
    tables, budgets = {"s": shaved(1e-17), "o": COIN}, {"s": 1e10, "o": 1e10}
    proof = both_pairs(budgets, 1.0, [1.0, 0.5], [5e-324, 1.0])
    with pytest.raises(ValueError, match="but proves only"):
        verify(proof, tables)


# ------------------------------------------------------------------------- sources left out, worst joints


def one_pair(way, a, shares, claim=math.inf, budgets=None):
    """A proof of the two pairs of a target of two values, both in one way."""
    return Proof(
        *("xor", 0.0, budgets or {"a": 1.0, "b": 2.0}, "pair by pair", claim),
        pairs=np.array([[0, 1], [1, 0]]),
        ways=np.array([way] * 2),
        a=np.array([a] * 2),
        shares=np.array([shares] * 2),
    )


def test_each_way_proves_its_own_bound():
    """Of two coins: their worst joint, one left out, and weights of the hulls, which any two in [0, 1] are."""
    tables = {"a": COIN, "b": COIN}
    # nested events of one half each, against events that exclude each other
    worst = math.log((1 + math.exp(3)) / (math.exp(1) + math.exp(2)))
    assert verify(one_pair(EVENTS, [0, 0], [0.5, 0.5]), tables) == pytest.approx(worst, rel=1e-12)
    assert verify(one_pair(EVENTS, [0, 0], [0, 1.0]), tables) == pytest.approx(1.0, rel=1e-12)
    assert verify(one_pair(REFERENCE, [0, 0], [1.0, 0]), tables) >= 2.0
    for theta in (0.0, 0.5, 1.0):
        for part in (0.0, 0.5, 1.0):
            proved = verify(one_pair(HULLS, [theta, part], [0.5, 0.5]), tables)
            assert proved >= worst * (1 - 1e-12)
    with pytest.raises(ValueError, match="but proves only"):
        verify(one_pair(EVENTS, [0, 0], [0.5, 0.5], claim=worst * (1 - 1e-9)), tables)
    with pytest.raises(ValueError, match="but proves only"):
        verify(one_pair(EVENTS, [0, 0], [0, 1.0], claim=0.99), tables)


def test_hulls_of_many_values_are_no_events():
    wide = dt.Conditional(np.full((2, 13), 1 / 13), target="xor")
    tables = {"a": wide, "b": COIN}
    with pytest.raises(ValueError, match="too many"):
        verify(one_pair(EVENTS, [0, 0], [0.5, 0.5]), tables)
    steep = one_pair(EVENTS, [0, 0], [0.5, 0.5], budgets={"a": 70.0, "b": 70.0})
    with pytest.raises(ValueError, match="no planes are proved"):
        verify(steep, {"a": COIN, "b": COIN})
