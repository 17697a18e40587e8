"""How often values occur: memory."""

import tracemalloc

import numpy as np
import pytest

from small_records import infer

pd = pytest.importorskip("pandas")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pandas", "pyarrow"])
def test_memory_does_not_hold_the_numbers_as_objects(engine):
    numbers = np.random.default_rng(3).random(500_000)
    frame = pd.DataFrame({"x": numbers})
    if engine == "pyarrow":
        frame = pytest.importorskip("pyarrow").table({"x": numbers})
    infer(pd.DataFrame({"x": [1.0, 2.0]}))
    tracemalloc.start()
    try:
        infer(frame)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60 * len(numbers)
