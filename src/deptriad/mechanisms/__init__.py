"""Locally private mechanisms: a value goes in, a report comes out that is almost as likely under any other value.

All share one interface (``Mechanism``). Their probabilities are whole numbers over a power of two, rounded towards
privacy, so that what is promised holds exactly, and the estimators use the very same probabilities, so that they stay
unbiased. Without ``rng`` chance comes from the operating system's secure source.

>>> import numpy as np
>>> from deptriad.mechanisms import mechanisms
>>> for name in ("grr", "sue", "oue", "olh", "subset", "hadamard"):
...     mechanism = mechanisms[name](size=50, epsilon=1.0)
...     print(f"{name:8} {np.sqrt(mechanism.variance(n=10_000, frequency=0.02)):.4f}")
grr      0.0421
sue      0.0198
oue      0.0192
olh      0.0193
subset   0.0188
hadamard 0.0216
"""

from deptriad.mechanisms.base import Estimate, Mechanism
from deptriad.mechanisms.channel import Channel
from deptriad.mechanisms.grr import GRR
from deptriad.mechanisms.hadamard import HadamardResponse
from deptriad.mechanisms.olh import OLH
from deptriad.mechanisms.oue import OUE
from deptriad.mechanisms.staircase import Staircase
from deptriad.mechanisms.subset import SubsetSelection
from deptriad.mechanisms.sue import SUE
from deptriad.mechanisms.support import Support

mechanisms: dict[str, type[Mechanism]] = {
    "grr": GRR,
    "sue": SUE,
    "oue": OUE,
    "olh": OLH,
    "subset": SubsetSelection,
    "hadamard": HadamardResponse,
    "staircase": Staircase,
}
"""The mechanisms that are made from a size and a budget, by key; what is in here can be collected and planned with."""

__all__ = [
    "GRR",
    "OLH",
    "OUE",
    "SUE",
    "Channel",
    "Estimate",
    "HadamardResponse",
    "Mechanism",
    "Staircase",
    "SubsetSelection",
    "Support",
    "mechanisms",
]
