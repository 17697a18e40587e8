"""The paper's toy example: two scenarios of two target values and five source values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from deptriad.utils.arrays import Floats

SCENARIOS = {
    1: np.array([[0.1, 0.1, 0.15, 0.2, 0.45], [0.4, 0.3, 0.1, 0.1, 0.1]]),
    2: np.array([[0.0025, 0.2975, 0.48, 0.13, 0.09], [0.01, 0.39, 0.47, 0.11, 0.02]]),
}
"""p(source | target): the rows are the paper's G and G'."""

PRINTED = {1: (0.25, 0.33, 1.5, 2.0, 4.5), 2: (0.25, 0.58, 1.02, 2.09, 4.5)}
"""The ratios G/G' as the paper prints them."""


def ratios(scenario: int) -> Floats:
    """G/G' of a scenario."""
    more, less = SCENARIOS[scenario]
    return np.asarray(more / less)


DATA = "the paper's two scenarios as printed: five source values each (the text says four)"
