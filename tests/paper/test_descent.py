"""The paper's gradient descent."""

import numpy as np

from deptriad.paper.data import EIGHT
from deptriad.paper.descent import by_ltm, by_triads, descend
from deptriad.paper.statewise import PROMISE


def test_descent_keeps_the_promise_and_never_goes_below_splitting(survey):
    analysis = survey.analysis()
    by_triad, exact = (
        descend(analysis, leak(analysis), PROMISE, 60) for leak in (by_triads, by_ltm)
    )
    for budgets, tables in ((by_triad, False), (exact, True)):
        assert (budgets >= PROMISE / 8).all()
        each = dict(zip(EIGHT.names, budgets.tolist(), strict=True))
        matrix = np.asarray(analysis.leakage(each, exact=tables))
        assert matrix.sum(axis=0).max() <= PROMISE + 1e-9
    assert by_triad.sum() <= exact.sum() + 1e-6  # the triad is the looser bound
