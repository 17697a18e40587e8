"""Output files appear whole or not at all; JSON is read with errors that name the file."""

import contextlib
import errno
import json
import math
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from hashlib import sha256

import pytest

from deptriad.utils import files

FORMAT = "some format"


def write(path, text="new", **options):
    with files.whole(path, **options) as partial:
        partial.write_text(text)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# ------------------------------------------------------------------------------------------ writing


def test_a_file_is_made_or_replaced(tmp_path):
    for text in ("one", "two"):
        write(tmp_path / "a.json", text)
        assert (tmp_path / "a.json").read_text() == text
    assert names(tmp_path) == ["a.json"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "a.json").write_text("old")
    with pytest.raises(RuntimeError, match="half"), files.whole(tmp_path / "a.json") as partial:
        raise RuntimeError(f"half of {partial.write_text('file')}")
    assert (tmp_path / "a.json").read_text() == "old"
    assert names(tmp_path) == ["a.json"]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_file_is_replaced(tmp_path, there):
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "file.json"
    if there:
        target.write_text("old")
    (tmp_path / "link.json").symlink_to(target)
    write(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert target.read_text() == "new"
    assert names(tmp_path / "real") == ["file.json"]


def test_a_link_in_a_circle_is_refused(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="a"):
        write(tmp_path / "a")
    assert (tmp_path / "a").is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    write(pipe)
    reader.join(10)
    assert read == ["new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="there is no /dev/fd here")
def test_a_device_stands_for_what_it_is(tmp_path):
    receive, send = os.pipe()
    write(f"/dev/fd/{send}")
    os.close(send)
    with os.fdopen(receive) as file:
        assert file.read() == "new"
    write(os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_planted_link_is_not_followed(tmp_path):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / f".a.json.{os.getpid()}.json").symlink_to(tmp_path / "victim")
    write(tmp_path / "a.json")
    assert (tmp_path / "victim").read_text() == "precious"
    assert (tmp_path / "a.json").read_text() == "new"


def test_the_longest_name_works(tmp_path):
    name = "n" * 250 + ".json"
    write(tmp_path / name)
    assert names(tmp_path) == [name]


def test_a_missing_folder_is_named_and_not_made(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder .*new.*triads\.csv"):
        write(tmp_path / "new" / "triads.csv")
    assert names(tmp_path) == []
    write(tmp_path / "new" / "er" / "triads.csv", folders=True)
    assert names(tmp_path / "new" / "er") == ["triads.csv"]


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "a.json"):
        with pytest.raises(OSError, match=path.name) as caught, files.whole(path) as partial:
            raise OSError(errno.ENOSPC, "no room", str(partial))
        assert caught.value.filename == str(path)
    with pytest.raises(OSError, match=r"strange.*a\.json"), files.whole(tmp_path / "a.json"):
        raise OSError("strange")
    assert names(tmp_path) == ["folder"]


def test_permissions_follow_the_umask_or_the_old_file(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "a.json")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o640
    (tmp_path / "a.json").chmod(0o604)
    write(tmp_path / "a.json")
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o604


KILLED = """
import os, signal, sys
from deptriad.utils import files
with files.whole(sys.argv[1]) as partial:
    partial.write_text("half")
    print("ready", flush=True)
    signal.pause()
"""


def started(path):
    """Another process in the middle of writing a file."""
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, path], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.skipif(os.name != "posix", reason="locks of unfinished work are POSIX locks")
def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_the_file(tmp_path):
    (tmp_path / "a.json").write_text("old")
    dead = started(tmp_path / "a.json")
    dead.kill()
    dead.wait()
    assert (tmp_path / "a.json").read_text() == "old"
    assert len(names(tmp_path)) == 2
    write(tmp_path / "b.json")  # another file's unfinished work is not its business
    assert len(names(tmp_path)) == 3
    write(tmp_path / "a.json")
    assert names(tmp_path) == ["a.json", "b.json"]


@pytest.mark.skipif(os.name != "posix", reason="locks of unfinished work are POSIX locks")
def test_unfinished_work_of_a_living_process_stays(tmp_path):
    living = started(tmp_path / "a.json")
    write(tmp_path / "a.json")
    assert len(names(tmp_path)) == 2
    living.kill()
    living.wait()


AGAIN = """
import sys
from deptriad.utils import files
for _ in range(100):
    with files.whole(sys.argv[1]) as partial:
        partial.write_text(sys.argv[2] * 1000)
"""


def test_many_writers_of_one_file_do_not_disturb_each_other(tmp_path):
    each = [
        subprocess.Popen([sys.executable, "-c", AGAIN, tmp_path / "a.json", letter])
        for letter in "abcd"
    ]
    assert [process.wait() for process in each] == [0] * 4
    assert set((tmp_path / "a.json").read_text()) < set("abcd")
    assert names(tmp_path) == ["a.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="it has no timers that signal")
def test_a_signal_at_any_moment_leaves_no_folder_and_is_not_lost(tmp_path, rng):
    arrived = 0

    def end(*_):
        nonlocal arrived
        arrived += 1
        raise SystemExit(128 + signal.SIGTERM)

    usual = {
        signal.SIGTERM: signal.signal(signal.SIGTERM, end),
        signal.SIGALRM: signal.signal(
            signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGTERM)
        ),
    }
    sent, times = 0, 400
    try:
        for delay in rng.uniform(1e-6, 1.5e-3, times):
            with contextlib.suppress(SystemExit):
                sent += 1
                signal.setitimer(signal.ITIMER_REAL, delay)
                with files.whole(tmp_path / "a.txt") as partial:
                    partial.write_text("new")
                time.sleep(10.0)
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
    assert (arrived, sent) == (times, times)
    assert [path.name for path in tmp_path.iterdir()] in ([], ["a.txt"])


def test_folders_that_are_not_ours_stay(tmp_path):
    write(tmp_path / "a.json")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "lock").touch()
    hidden = f".deptriad-{sha256(b'a.json').hexdigest()[:16]}-x"
    (tmp_path / hidden).symlink_to(folder)
    (tmp_path / f"{hidden}y").mkdir()
    (tmp_path / f"{hidden}y" / "mine").touch()  # we would have a lock there
    write(tmp_path / "a.json")
    assert (folder / "lock").exists()
    assert (tmp_path / f"{hidden}y" / "mine").exists()


@pytest.mark.skipif(os.name != "posix", reason="locks of unfinished work are POSIX locks")
def test_a_folder_whose_process_was_killed_before_it_had_a_lock_is_removed(tmp_path):
    (tmp_path / f".deptriad-{sha256(b'a.json').hexdigest()[:16]}-x").mkdir()
    write(tmp_path / "a.json")
    assert names(tmp_path) == ["a.json"]


@pytest.mark.skipif(os.name != "posix", reason="locks of unfinished work are POSIX locks")
def test_who_loses_a_folder_that_has_no_lock_yet_makes_another(tmp_path, monkeypatch):
    made = []

    def then_another_writes(*arguments, **options):
        made.append(folder := make(*arguments, **options))
        if len(made) == 1:
            write(tmp_path / "a.json", "by another")
            assert not os.path.exists(folder)
        return folder

    make = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", then_another_writes)
    write(tmp_path / "a.json")
    assert len(made) == 3
    assert names(tmp_path) == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "new"


def test_content_is_on_the_disk_before_it_takes_its_place(tmp_path, monkeypatch):
    done = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda place: (done.append("sync"), sync(place)))
    monkeypatch.setattr(os, "replace", lambda *paths: (done.append("replace"), replace(*paths)))
    write(tmp_path / "a.json")
    assert done == ["sync", "replace", "sync"]


# ---------------------------------------------------------------------------------------- reading


def test_json_comes_back(tmp_path):
    content = {"format": FORMAT, "version": 1, "rows": [{"a": 1}, [2]], "text": "ä"}
    files.write_json(tmp_path / "a.json", content)
    assert files.read_json(tmp_path / "a.json", FORMAT, 1) == content


GOOD = '{"format": "some format", "version": 1, '
WRONG = {
    "nested too deeply": (GOOD + '"a": ' + "[" * 200_000, "nested"),
    "a number of thousands of digits": (GOOD + '"a": ' + "1" * 5000 + "}", "digits"),
    "a key twice": (GOOD + '"key": 1, "key": 2}', "'key' twice"),
    "a key twice within": (GOOD + '"a": [{"deep": 1, "deep": 1}]}', "'deep' twice"),
    "a version that is true": ('{"format": "some format", "version": true}', "version.*True"),
    "no JSON": ("{", "JSON"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_json_is_an_error_with_the_name_of_the_file(tmp_path, wrong):
    text, said = WRONG[wrong]
    (tmp_path / "mine.json").write_text(text)
    with pytest.raises(ValueError, match=rf"mine\.json.*{said}") as caught:
        files.read_json(tmp_path / "mine.json", FORMAT, 1)
    assert len(str(caught.value)) < 400


def test_infinities_are_spelt_out_and_come_back(tmp_path):
    path = tmp_path / "file.json"
    content = {"format": "test", "version": 1, "rows": [{"edges": (-math.inf, 0.5, math.inf)}]}
    files.write_json(path, content)
    text = path.read_text()
    assert json.loads(text, parse_constant=pytest.fail)["rows"] == [{"edges": ["-inf", 0.5, "inf"]}]
    (row,) = files.read_json(path, "test", 1)["rows"]
    assert [files.unspelt(edge) for edge in row["edges"]] == [-math.inf, 0.5, math.inf]
    assert files.unspelt("infinite") == "infinite"
    assert files.spelt({"a": [math.nan], "b": True}) == {"a": ["nan"], "b": True}
