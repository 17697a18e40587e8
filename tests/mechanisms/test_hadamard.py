"""Hadamard response: halves of columns."""

import numpy as np

from deptriad.mechanisms import HadamardResponse
from some_mechanisms import tape


def test_hadamard_halves():
    hadamard = HadamardResponse(5, 1.0)
    keep = int(hadamard.probabilities[0] * 2**64)
    for value in range(5):
        codes = np.full(8, value, dtype=np.uint32)
        for word, wanted in ((keep - 1, True), (keep, False)):
            reports = hadamard._report(codes, tape([word] * 8 + list(range(8))))
            assert (hadamard.supported(reports)[:, value] == wanted).all()
            assert np.bincount(reports.astype(int), minlength=8).max() == 2
