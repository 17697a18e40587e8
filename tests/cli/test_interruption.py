"""Runs that end early: Ctrl-C while importing, SIGTERM, an output that is closed or full."""

import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("typer")
COMMAND = [sys.executable, "-c", "from deptriad.cli import main; main()"]


def ended(*arguments, **streams):
    return subprocess.run([*COMMAND, *arguments], stderr=subprocess.PIPE, text=True, **streams)


@pytest.mark.skipif(sys.platform == "win32", reason="streams of POSIX")
def test_a_closed_output_is_said_in_a_line():
    done = ended("rivals", preexec_fn=lambda: os.close(1))
    assert done.returncode == 1
    assert done.stderr.startswith("deptriad: the output is closed")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
@pytest.mark.parametrize("arguments", [("rivals",), ("--help",)])
def test_a_full_output_is_said_in_a_line(arguments):
    with open("/dev/full", "w") as full:
        done = ended(*arguments, stdout=full)
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert len(done.stderr.splitlines()) == 1


WHILE_IMPORTING = """
import os, signal, sys, time

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "rich.table":  # half way through the imports
            os.kill(os.getpid(), signal.{name})
            time.sleep(10)

sys.meta_path.insert(0, Finder())
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started this may ignore it
from deptriad.cli import main
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_who_is_interrupted_while_importing_ends_without_a_word(name):
    code = WHILE_IMPORTING.format(name=name)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -getattr(signal, name)
    assert done.stdout + done.stderr == ""


AMID_AN_IMPORT = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("duckdb."):  # which a command imports when it reads a file
            sys.meta_path.remove(self)
            for _ in range({times}):
                os.kill(os.getpid(), signal.{name})

sys.meta_path.insert(0, Finder())
signal.signal(signal.SIGINT, signal.default_int_handler)
from deptriad.cli import main
try:
    main(["schema", "survey.csv"])
except SystemExit as ended:
    print(ended.code - signal.{name}, "duckdb" in sys.modules, sys.gettrace())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_command_is_interrupted_when_its_imports_are_done(name, times, tmp_path):
    """Modules written in C may abort the process where one of their imports is cut off."""
    pytest.importorskip("duckdb")
    (tmp_path / "survey.csv").write_text("a,b\n1,2\n")
    code = AMID_AN_IMPORT.format(name=name, times=times)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == ("128 True None\n", "")
    assert [path.name for path in tmp_path.iterdir()] == ["survey.csv"]


AMID_A_QUERY = """
import os, signal, sys
import deptriad.cli.data as data

def interrupted(*_, **__):
    try:
        os.kill(os.getpid(), signal.{name})
    except BaseException:  # as DuckDB does while it hands over batches
        raise RuntimeError("Query interrupted")

signal.signal(signal.SIGINT, signal.default_int_handler)
data.readers.opened_once = interrupted
data.Schema.infer = interrupted
from deptriad.cli import main
main(["schema", "survey.csv"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_who_interrupts_a_query_is_told_of_no_mistake(name, tmp_path):
    (tmp_path / "survey.csv").write_text("a,b\n1,2\n")
    code = AMID_A_QUERY.format(name=name)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 128 + getattr(signal, name)
    assert done.stdout + done.stderr == ""


CALLED_BY_C = """
import os, signal, weakref
import deptriad.cli.data as data

def interrupted(*_):
    os.kill(os.getpid(), signal.{name})

class Plain:
    pass

class Noisy:
    __del__ = interrupted

def removes(*_, **__):
    thing = Noisy()
    del thing
    print("goes on")

def forgets(*_, **__):
    thing = Plain()
    kept = weakref.ref(thing, interrupted)
    del thing
    print("goes on")

def compiles(*_, **__):
    import numba
    import numba.core.codegen as codegen
    codegen.CPUCodeLibrary._object_compiled_hook = interrupted  # which LLVM calls
    numba.njit(lambda: 1)()
    print("goes on")

data.Schema.infer = {what}
signal.signal(signal.SIGINT, signal.default_int_handler)
from deptriad.cli import main
main(["schema", "survey.csv"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("what", ["removes", "forgets", "compiles"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_who_interrupts_what_c_calls_is_heard(name, what, tmp_path):
    """Whatever is raised there is printed and forgotten."""
    (tmp_path / "survey.csv").write_text("a,b\n1,2\n")
    code = CALLED_BY_C.format(name=name, what=what)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == ("", "")
    assert done.returncode == 128 + getattr(signal, name)


AT_THE_END = """
import os, signal, sys, threading, time

def shutdown():  # the first that Python does when it ends
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)

threading._shutdown = shutdown
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["deptriad", "rivals"]
from deptriad.cli import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_who_interrupts_the_end_hears_nothing():
    done = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
    assert done.stdout == ended("rivals", stdout=subprocess.PIPE).stdout


def test_a_command_within_a_script_leaves_its_signals_as_they_were():
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from deptriad.cli import main\ntry: main(['rivals'])\nexcept SystemExit: pass\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_importing_keeps_the_usual_handler_and_loads_no_compiler():
    """Every start waits for what the command line imports; numba alone would be a third of it."""
    code = (
        "import signal, sys; usual = signal.default_int_handler; signal.signal(signal.SIGINT, usual); "
        "import deptriad.cli; print(signal.getsignal(signal.SIGINT) is usual); "
        "print(sorted({'numba', 'scipy', 'pandas', 'duckdb', 'matplotlib', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True\n[]\n", done.stderr
