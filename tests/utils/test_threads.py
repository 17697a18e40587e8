"""Work side by side: in order, on one thread where asked, with errors raised, and never waiting for itself."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import deptriad as dt
from deptriad.utils import threads


@pytest.fixture(autouse=True)
def _four_threads():
    dt.set_threads(4)
    yield
    dt.set_threads(None)


def asked_by(variable):
    """How many threads a process uses with this in its environment."""
    code = "from deptriad.utils import threads; print(threads.threads())"
    environment = {**os.environ, threads.VARIABLE: variable}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )


def test_results_come_in_order():
    def late_first(k):
        time.sleep(0.01 if k == 0 else 0.0)
        return k * k

    assert threads.side_by_side(late_first, 20) == [k * k for k in range(20)]
    assert threads.side_by_side(late_first, 0) == []


def test_threads_work_at_the_same_time():
    # each of four waits until all four have begun: one after the other they would wait for ever
    together = threading.Barrier(4, timeout=60)
    threads.side_by_side(lambda k: together.wait(), 4)


def test_one_thread_is_the_one_that_calls():
    dt.set_threads(1)
    assert set(threads.side_by_side(lambda k: threading.get_ident(), 9)) == {threading.get_ident()}


def test_work_inside_work_stays_on_its_thread():
    def nested(k):
        return set(threads.side_by_side(lambda _: threading.get_ident(), 5)) == {
            threading.get_ident()
        }

    assert all(threads.side_by_side(nested, 12))


@pytest.mark.parametrize("bad", range(5))
def test_an_error_is_raised_and_the_pool_goes_on(bad):
    def work(k):
        if k == bad:
            raise KeyError(k)
        return k

    with pytest.raises(KeyError, match=str(bad)):
        threads.side_by_side(work, 5)
    assert threads.side_by_side(lambda k: k, 3) == [0, 1, 2]


def test_without_threads_to_be_had_the_caller_does_it(monkeypatch):
    monkeypatch.setattr(
        threading.Thread, "start", lambda self: (_ for _ in ()).throw(RuntimeError("no thread"))
    )
    assert threads.side_by_side(lambda k: k, 7) == list(range(7))


@pytest.mark.parametrize("count", [1, 2, 5, 255, 1000])
@pytest.mark.parametrize("work", [0, threads.FEW, 10 * threads.FEW, 1e12])
def test_blocks_cover_all_once(count, work):
    blocks = threads.in_blocks(lambda start, stop: (start, stop), count, work)
    assert [place for start, stop in blocks for place in range(start, stop)] == list(range(count))
    assert len(blocks) <= threads.MOST
    assert (len(blocks) == 1) == (work < threads.FEW or count == 1)


def test_blocks_do_not_depend_on_the_number_of_threads():
    def cut():
        return threads.in_blocks(lambda start, stop: (start, stop), 333, 1e9)

    many = cut()
    dt.set_threads(1)
    assert cut() == many


def test_results_do_not_depend_on_the_number_of_threads(rng):
    table = rng.dirichlet(np.ones(130), 130)
    box = dt.Absolute(1e-3).box(table)
    small = rng.dirichlet(np.ones(5), (4000, 6))

    def results():
        triad = dt.triad(box)
        many = dt.triads(small)
        numbers = [triad.alpha, triad.phi, many.alpha, many.phi, dt.leakages(small, 1.0)]
        return [*numbers, dt.leakage(table, [0.5, 2.0]), dt.leakage(box, 1.0)]

    several = results()
    dt.set_threads(1)
    for one, other in zip(results(), several, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("number", [0, -1])
def test_less_than_one_thread_is_refused(number):
    with pytest.raises(ValueError, match=f"number is {number}, expected at least 1"):
        dt.set_threads(number)


def test_a_part_of_a_thread_is_refused():
    with pytest.raises(TypeError):
        dt.set_threads(1.5)


def test_the_environment_says_how_many():
    assert asked_by("3").stdout.strip() == "3"
    assert int(asked_by("").stdout) >= 1


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_an_environment_that_says_nonsense_is_refused(text):
    said = asked_by(text).stderr
    assert f"DEPTRIAD_THREADS is '{text}', expected a whole number" in said
