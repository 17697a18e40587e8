"""Settings and fixtures of all tests."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings

import surroundings

USUAL = settings(
    max_examples=50,
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
    folder = surroundings.shared()
    if not folder.is_dir():
        pytest.skip(f"no reference results: {folder} is absent (set DEPTRIAD_SHARED to its place)")
    return folder


@pytest.fixture(scope="module")
def chromium():
    """A browser, or a reason why there is none; no longer than a module, since it leaves an event loop running."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = surroundings.chromium()
    if not found:
        pytest.skip("no chromium: make browser, or set DEPTRIAD_CHROMIUM to its place")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe():
    """The text of axe-core, which looks for barriers to those who cannot see or point."""
    place = surroundings.axe_core()
    if place is None:
        pytest.skip("no axe-core: make browser, or set DEPTRIAD_AXE to its place")
    return place.read_text(encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--seeds",
        type=int,
        help="run random tests only, those with the fixture rng on so many seeds",
    )
    parser.addoption(
        "--passed",
        type=Path,
        help="with --seeds: a file of what passed, which is left out, so that a run goes on where the last one ended",
    )


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--passed")
    if file and not hasattr(config, "workerinput"):  # workers tell the one process that writes
        config.pluginmanager.register(_Passed(file))


class _Passed:
    def __init__(self, file: Path) -> None:
        self.file = file

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            with self.file.open("a", encoding="utf-8") as passed:
                passed.write(f"{report.nodeid}\n")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    seeds = metafunc.config.getoption("--seeds")
    if seeds and "rng" in metafunc.fixturenames:
        metafunc.parametrize("rng", range(1, seeds + 1), indirect=True, ids="seed-{}".format)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --seeds: without the tests that chance has no part in, and those that passed before."""
    if config.getoption("--seeds"):
        file = config.getoption("--passed")
        passed = file.read_text(encoding="utf-8").splitlines() if file and file.exists() else []
        left = {item.nodeid for item in items if _random(item)} - set(passed)
        items[:] = [item for item in items if item.nodeid in left]


def _random(item: pytest.Item) -> bool:
    drawn = hasattr(getattr(item, "obj", None), "hypothesis")
    return drawn or "rng" in getattr(item, "fixturenames", ())


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A fresh generator; its seed is printed, and so shown when the test fails."""
    seed = getattr(request, "param", None)
    if seed is None:
        seed = int(os.environ.get("DEPTRIAD_SEED", secrets.randbits(32)))
    print(f"to run this again: DEPTRIAD_SEED={seed}")
    return np.random.default_rng(seed)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What is absent here, in a line; the skips themselves are listed above it."""
    absent = surroundings.absent()
    said = f"absent here, tests of it are skipped: {'; '.join(absent)}" if absent else ""
    terminalreporter.write_line(said or "nothing that the tests can use is absent here")
