"""What a first call costs where nothing is compiled yet: CPU seconds, each in a process and an empty cache of its own.

    python benchmarks/cold_start.py

Beside them is what numba itself takes in the same run, to be imported and to compile one trivial loop; the ratio to it
says the same on a busy machine, where CPU seconds grow with the load. A goal in seconds is meant for two quiet cores.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from _history import add, at_most

NUMBA = "numba and a trivial loop"

BEFORE = """
import numpy as np
import deptriad as dt
P = [[0.60, 0.30, 0.10], [0.30, 0.40, 0.30], [0.05, 0.25, 0.70]]
"""

SURVEY = """
import pandas as pd
rng = np.random.default_rng(0)
common = rng.integers(0, 4, 2000)
frame = pd.DataFrame({f"a{i}": (common + rng.integers(0, 2 + i % 3, 2000)) % (2 + i) for i in range(4)})
schema = dt.Schema([dt.Attribute(name, sorted(set(frame[name]))) for name in frame])
analysis = dt.analyze(dt.Prior.from_data(frame, schema))
"""

MEASURED = """
import resource
def spent():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
before = spent()
{call}
print(spent() - before)
"""

CALLS = {
    NUMBA: (
        "",
        """
import numba, numpy as np
@numba.njit
def total(values):
    result = 0.0
    for k in range(values.size):
        result += values[k]
    return result
total(np.ones(3))
""",
    ),
    "leakage(P, 1)": (BEFORE, "dt.leakage(P, 1.0)"),
    "leakage(box, 1)": (BEFORE, "dt.leakage(dt.Relative(0.1).box(P), 1.0)"),
    "analysis.totals(1)": (BEFORE + SURVEY, "analysis.totals(1.0)"),
    "calibrate(analysis, 3)": (BEFORE + SURVEY, "dt.calibrate(analysis, total=3.0)"),
    "all of the README's": (
        BEFORE,
        SURVEY
        + """
dt.leakage(P, 1.0), dt.triad(P), dt.profile(P), dt.leakage(dt.Relative(0.1).box(P), 1.0)
dt.analyze(dt.Prior.from_data(frame, schema), dt.Relative(0.1)).leakage(1.0)
analysis.totals(1.0)
plan = dt.calibrate(analysis, total=3.0)
plan.estimate(plan.perturb(frame), ["a1", "a2"])
""",
    ),
}

SECONDS = {
    "leakage(P, 1)": 2.0,
    "leakage(box, 1)": 6.0,
    "analysis.totals(1)": 6.0,
    "calibrate(analysis, 3)": 6.0,
    "all of the README's": 20.0,
}
GOALS = {f"CPU s / {name}": at_most(limit) for name, limit in SECONDS.items()}


def cpu_seconds(before: str, call: str) -> float:
    """What a call takes in a new process that has nothing on disk."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", before + MEASURED.format(call=call)],
            env={**os.environ, "NUMBA_CACHE_DIR": folder},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout)


def main() -> None:
    taken = {name: cpu_seconds(*parts) for name, parts in CALLS.items()}
    ratios = {name: value / taken[NUMBA] for name, value in taken.items()}
    for name, value in taken.items():
        print(f"  {name:28} {value:6.1f} CPU s   {ratios[name]:5.1f} times {NUMBA}")
    add("cold_start", {"CPU s": taken, "ratio": ratios}, GOALS)


if __name__ == "__main__":
    main()
