"""What the tests of the rivals share: a table, one measure by name, and what counts as equal."""

import numpy as np
import pytest

from deptriad.rivals import measures

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])


def same(value, *, rel=1e-12, absolute=1e-12):
    return pytest.approx(value, rel=rel, abs=absolute)


def measured(name, *args, **options):
    return measures[name].measure(*args, **options)
