"""Totals under approximate LDP: an estimate, and the plain sums as a bound (maths.md §4)."""

import pytest

from deptriad.totals.approximate import approximate_total
from deptriad.totals.totals import target_total
from total_cases import random_table


def test_approximate_totals(rng):
    tables = {str(i): random_table(rng, 3, 4) for i in range(3)}
    budgets, deltas = dict.fromkeys(tables, 1.0), dict.fromkeys(tables, 1e-5)
    total = approximate_total(tables, budgets, deltas, own=0.5, own_delta=1e-4)
    assert total.estimate_epsilon <= total.epsilon == 3.5
    assert total.delta == pytest.approx(1.3e-4, rel=1e-12)
    assert total.delta >= 1e-4 + 3e-5
    pure = approximate_total(tables, budgets, dict.fromkeys(tables, 0.0), own=0.5)
    assert pure.estimate_epsilon == pytest.approx(target_total(tables, budgets, 0.5).pairwise)
    assert pure.delta == 0.0
    looser = approximate_total(tables, budgets, deltas, at_delta=dict.fromkeys(tables, 0.01))
    assert looser.estimate_epsilon <= total.estimate_epsilon
    assert looser.estimate_delta >= 0.03
    with pytest.raises(ValueError, match="deltas has"):
        approximate_total(tables, budgets, {"0": 0.1})
