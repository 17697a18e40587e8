"""In the programs of others: after a fork, in pools of processes and threads, in an event loop, on an empty cache.

Each program runs in a process of its own, since it may hang or die: that is what is tested. What it computes must be
what one thread computes by itself.
"""

import os
import subprocess
import sys

import pytest

LONGEST = 280
"""Seconds after which a program is taken to hang; on a quiet machine none takes a tenth of that."""

COMMON = """
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd

import deptriad as dt
from deptriad.mechanisms import GRR

rng = np.random.default_rng(7)
TABLE = rng.dirichlet(np.ones(120), 120)
SMALL = rng.dirichlet(np.ones(4), (3000, 5))
BOX = dt.Absolute(1e-3).box(rng.dirichlet(np.ones(40), 40))
CODES = rng.integers(0, 3, 4000)
FRAME = pd.DataFrame({f"a{i}": (CODES + rng.integers(0, 2, 4000)) % (3 + i) for i in range(3)})
SCHEMA = dt.Schema([dt.Attribute(name, sorted(set(FRAME[name]))) for name in FRAME])


def leakage(_=None):
    return dt.leakage(TABLE, 1.0)


def everything(_=None):
    analysis = dt.analyze(dt.Prior.from_data(FRAME, SCHEMA))
    totals = [total.certified for total in analysis.totals(1.0).values()]
    reports = GRR(5, 1.0).perturb(CODES, rng=np.random.default_rng(3))
    many = dt.triads(SMALL)
    one = [leakage(), dt.leakage(BOX, 1.0), float(dt.triad(TABLE).phi), float(dt.triad(BOX).phi)]
    return [*one, *totals, *many.phi.tolist(), *reports.tolist()]


def alone(work):
    "What one thread computes; after that there are four."
    dt.set_threads(1)
    result = work()
    dt.set_threads(4)
    return result
"""

FORK = """
expected = alone(everything)
assert everything() == expected
child = os.fork()
if child == 0:
    os._exit(0 if everything() == expected else 3)
assert os.waitpid(child, 0)[1] == 0
assert everything() == expected
"""

FORK_WHILE_THREADS_COMPILE = """
import threading

from deptriad.utils.progress import BEFORE_COMPILING

# all that is imported on the way is there, since importing has locks of Python's own
dt.leakage, __import__("deptriad.curves._table_kernels")
compiling = threading.Event()
BEFORE_COMPILING.append(compiling.set)
other = threading.Thread(target=leakage)
other.start()
assert compiling.wait(60)
child = os.fork()
if child == 0:
    os._exit(0 if 0.0 < leakage() < 1.0 else 3)
other.join()
assert os.waitpid(child, 0)[1] == 0
"""

PROCESSES = """
import multiprocessing

if __name__ == "__main__":
    expected = alone(leakage)
    assert leakage() == expected
    with multiprocessing.get_context("{kind}").Pool(2) as pool:
        assert pool.map(leakage, range(4)) == [expected] * 4
"""

JOBLIB = """
import joblib

if __name__ == "__main__":
    expected = alone(leakage)
    assert leakage() == expected
    for backend in ("loky", "multiprocessing", "threading"):
        found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(leakage)() for _ in range(4))
        assert found == [expected] * 4
"""

THREADS = """
expected = alone(everything)
with ThreadPoolExecutor(8) as callers:
    assert list(callers.map(everything, range(24))) == [expected] * 24
"""

EVENT_LOOP = """
import asyncio


async def main():
    return await asyncio.gather(*(asyncio.to_thread(leakage) for _ in range(6)))


expected = alone(leakage)
assert asyncio.run(main()) == [expected] * 6
"""

AT_THE_END = """
import atexit

expected = alone(leakage)
atexit.register(lambda: print(leakage() == expected))
leakage()
"""


@pytest.fixture
def program(tmp_path):
    """Start Python text as a program, with a folder for compiled code of its own where asked."""

    def start(text, cache=None):
        path = tmp_path / f"program_{len(list(tmp_path.iterdir()))}.py"
        path.write_text(COMMON + text, encoding="utf-8")
        own = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
        return subprocess.Popen(
            [sys.executable, path],
            env={**os.environ, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def ended(process):
    """What a program prints; fails where it hangs, dies or complains."""
    try:
        shown, errors = process.communicate(timeout=LONGEST)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    assert "Warning" not in errors.replace("DeprecationWarning: This process", "")
    return shown


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
class TestFork:
    """Forks, which only Unix has."""

    def test_a_child_computes_after_its_parent_did(self, program):
        ended(program(FORK))

    def test_a_child_computes_although_a_thread_was_compiling(self, program, tmp_path):
        ended(program(FORK_WHILE_THREADS_COMPILE, tmp_path / "cache"))

    def test_a_pool_of_forked_processes(self, program):
        ended(program(PROCESSES.replace("{kind}", "fork")))


def test_a_pool_of_spawned_processes(program):
    ended(program(PROCESSES.replace("{kind}", "spawn")))


def test_joblib(program):
    pytest.importorskip("joblib")
    ended(program(JOBLIB))


def test_eight_threads_at_once(program):
    ended(program(THREADS))


def test_an_event_loop(program):
    ended(program(EVENT_LOOP))


def test_at_the_interpreters_end(program):
    assert ended(program(AT_THE_END)) == "True\n"


def test_four_processes_on_an_empty_cache(program, tmp_path):
    # a loop that compiles quickly, so that they write at about the same time
    work = "print(GRR(5, 1.0).perturb(CODES, np.random.default_rng(3)).sum())"
    started = [program(work, tmp_path / "cache") for _ in range(4)]
    assert len({ended(process) for process in started}) == 1
    assert list((tmp_path / "cache").rglob("*.nbi"))
