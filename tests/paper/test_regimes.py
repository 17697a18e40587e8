"""Six kinds of dependence: tables that are what they are called."""

import numpy as np
import pytest

from deptriad.paper.regimes import REGIMES


@pytest.mark.parametrize("extreme", [False, True])
@pytest.mark.parametrize("name", REGIMES)
def test_tables_are_conditional_distributions(rng, name, extreme):
    table = REGIMES[name](30, rng, extreme)
    assert table.shape == (30, 30)
    assert (table > 0.0).all()
    assert table.sum(axis=1) == pytest.approx(np.ones(30))


def test_kinds_are_what_they_are_called(rng):
    entropy = {
        name: -np.sum((table := maker(60, rng, False)) * np.log(table), axis=1).mean()
        for name, maker in REGIMES.items()
    }
    # means over 60 rows: about 0.69 ± 0.06 (ψ(1.6) − ψ(1.01)), 1.2 and 2.2
    assert entropy["low entropy"] == pytest.approx(0.687, abs=0.36)
    assert entropy["low entropy"] < entropy["sparse concentrated"] < entropy["one to many"]
    images = REGIMES["many to one"](60, rng, False).argmax(axis=1)
    assert len(set(images)) <= 6
    monotone = REGIMES["near monotone"](60, rng, False)
    assert np.corrcoef(np.log(monotone[-1] / monotone[0]), np.arange(60))[0, 1] > 0.99
    tail = REGIMES["limited tail"](60, rng, False)[:, 12:].sum(axis=1)
    assert (tail <= 0.05).all()
    assert (tail >= 0.001).all()
