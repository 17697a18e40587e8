"""Settings and fixtures of all tests."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings

USUAL = settings(
    max_examples=100,
    deadline=None,
    print_blob=True,
    phases=set(Phase) - {Phase.explain},
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("usual", USUAL)
settings.register_profile("thorough", USUAL, max_examples=1000)
settings.register_profile("unshrunk", USUAL, phases=[Phase.explicit, Phase.generate])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of reference results that lies beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("DEPTRIAD_SHARED", beside))
    if not folder.is_dir():
        pytest.skip(f"no reference results: {folder} is absent (set DEPTRIAD_SHARED to its place)")
    return folder


@pytest.fixture
def rng() -> np.random.Generator:
    """A fresh generator; its seed is printed, and so shown when the test fails."""
    seed = int(os.environ.get("DEPTRIAD_SEED", secrets.randbits(32)))
    print(f"to run this again: DEPTRIAD_SEED={seed}")
    return np.random.default_rng(seed)
