"""Compiled loops on disk: no trouble with them reaches the caller, and nobody else's are run."""

import os
import subprocess
import sys

import pytest

from deptriad.utils.compiled_cache import trusted

LOOP = """
import numpy as np

from deptriad.utils.compiled import compiled


@compiled()
def total(values):
    result = 0.0
    for k in range(values.size):
        result += values[k]
    return result


print(total(np.ones(3)), len(total.stats.cache_hits), total.stats.cache_path or "nowhere")
"""

FULL_DISK = """
from numba.core.caching import IndexDataCacheFile

IndexDataCacheFile._open_for_write = lambda *_: open("/dev/full", "wb", 0)
"""


@pytest.fixture
def run(tmp_path):
    """Run a program with one loop: its sum, whether that was on disk, and where; and what it complains of."""
    (tmp_path / "program").mkdir()
    path = tmp_path / "program" / "loop.py"
    path.write_text(LOOP, encoding="utf-8")

    def ran(**environment):
        done = subprocess.run(
            [sys.executable, path],
            env={**os.environ, **environment},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        total, hits, where = done.stdout.split()
        assert total == "3.0"
        return hits == "1", where, done.stderr

    return ran


def files_in(folder, ending):
    return list(folder.rglob(f"*{ending}"))


def test_the_second_process_finds_what_the_first_compiled(run, tmp_path):
    cache = tmp_path / "cache"
    assert run(NUMBA_CACHE_DIR=str(cache))[0] is False
    assert files_in(cache, ".nbc")
    assert run(NUMBA_CACHE_DIR=str(cache)) == (True, str(files_in(cache, ".nbi")[0].parent), "")


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_a_broken_file_is_compiled_anew(run, tmp_path, ending):
    cache = tmp_path / "cache"
    run(NUMBA_CACHE_DIR=str(cache))
    for content in (b"", b"not a pickle", b"\x80\x05K\x01."):
        for path in files_in(cache, ending):
            path.write_bytes(content)
        hit, _, errors = run(NUMBA_CACHE_DIR=str(cache))
        assert (hit, errors) == (False, "")
    assert run(NUMBA_CACHE_DIR=str(cache))[0] is True


def test_a_folder_that_everybody_may_write_is_passed_over(run, tmp_path):
    cache = tmp_path / "cache"
    run(NUMBA_CACHE_DIR=str(cache))
    folder = files_in(cache, ".nbi")[0].parent
    folder.chmod(0o777)
    hit, where, errors = run(NUMBA_CACHE_DIR=str(cache))
    assert hit is False
    assert where != str(folder)
    assert errors == ""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid(), reason="only root gives files away")
def test_a_folder_of_another_user_is_passed_over(run, tmp_path):
    cache = tmp_path / "cache"
    run(NUMBA_CACHE_DIR=str(cache))
    folder = files_in(cache, ".nbi")[0].parent
    os.chown(folder, 12345, 12345)
    assert not trusted(folder)
    hit, where, _ = run(NUMBA_CACHE_DIR=str(cache))
    assert hit is False
    assert where != str(folder)


def test_without_any_folder_there_is_one_warning(run, tmp_path):
    # a file where a folder should be: not even root can write below it
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    (tmp_path / "program" / "__pycache__").write_text("")
    places = {"NUMBA_CACHE_DIR": str(blocked), "HOME": str(blocked), "XDG_CACHE_HOME": str(blocked)}
    hit, where, errors = run(**places)
    assert (hit, where) == (False, "nowhere")
    assert errors.count("compiled loops cannot be kept on disk") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_costs_one_warning(run, tmp_path):
    twice = LOOP.replace("print(", "total(np.ones(3, np.float32))\nprint(")
    (tmp_path / "program" / "loop.py").write_text(FULL_DISK + twice, encoding="utf-8")
    hit, _, errors = run(NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert hit is False
    assert errors.count("compiled loops cannot be kept on disk") == 1
