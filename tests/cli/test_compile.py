import subprocess
import sys

COMPILED = """
import warnings

warnings.simplefilter("ignore")
from deptriad.cli.compile import STEPS

for step in STEPS:
    step()
from deptriad.utils.compiled import LOOPS

for loop in LOOPS:
    if len(loop.signatures) != 1:
        print(loop.py_func.__module__, loop.py_func.__name__, loop.signatures)
print("seen")
"""


def test_every_loop_that_is_loaded_is_compiled_and_once():
    """Who waits later waits for one that is left out; one compiled for two kinds of arrays takes twice as long."""
    done = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("seen\n", 0), done.stderr
