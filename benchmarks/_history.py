"""How time is taken, and history.jsonl: a line for each run of a benchmark, unless a later line holds all of it.

    python benchmarks/_history.py

says which figures of the latest run of each benchmark are worse than their goal. A line has the benchmark, the commit
("+" after it: with changes that were not committed), the date, the machine, the figures, and their goals as they were.
Runs before 18 November 2026 come from an older file: their commit is the one in which they were written down.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HISTORY = HERE / "history.jsonl"

Goal = tuple[str, float]
"""A side and a limit, as ``at_most`` and ``at_least`` make it."""


def at_most(limit: float) -> Goal:
    return ("at most", limit)


def at_least(limit: float) -> Goal:
    return ("at least", limit)


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def best(action: Callable[[], object], repeats: int = 3) -> float:
    """Least time of a few runs after one to warm up."""
    action()
    return min(seconds(action) for _ in range(repeats))


def peak_mib() -> float:
    """The most memory that this process held. What ``resource`` tells is at least what its parent held at the start."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**10


def add(
    benchmark: str, figures: Mapping[str, Any], goals: Mapping[str, Goal | None] | None = None
) -> None:
    """Add a line to the history.

    Figures may be nested; a goal names its figure with the keys on the way joined by " / ".
    """
    flat = dict(flattened(figures))
    stated = {name: goal for name, goal in (goals or {}).items() if goal and name in flat}
    line = {
        "benchmark": benchmark,
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "figures": flat,
        "goals": stated,
    }
    with HISTORY.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")
    for said in missed(line):
        print(f"  MISSED {said}")


def flattened(figures: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Names and figures, of which four digits are kept."""
    for name, value in figures.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{before}{name} / ")
        else:
            yield f"{before}{name}", float(f"{value:.4g}") if isinstance(value, float) else value


def commit() -> str:
    """The commit that was run; a benchmark that ran before may have added to the history, and nothing else."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(HERE), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", ":/", f":!{HISTORY.name}")
        return git("rev-parse", "--short=10", "HEAD") + "+" * bool(changed)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine() -> dict[str, Any]:
    """What it is, and how many programs wanted to run in the last minute: with more than cores, times are too long."""
    return {
        "cpu": processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }


def processor() -> str:
    """The model where Linux tells it, else the architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def missed(line: Mapping[str, Any]) -> list[str]:
    """The figures of a line that are worse than their goal, in words."""
    said = []
    for name, (side, limit) in line["goals"].items():
        value = line["figures"][name]
        if value > limit if side == "at most" else value < limit:
            said.append(f"{line['benchmark']}: {name} is {value:g}, the goal is {side} {limit:g}")
    return said


def main() -> None:
    """Read the history and judge the latest run of each benchmark."""
    lines = [json.loads(text) for text in HISTORY.read_text(encoding="utf-8").splitlines()]
    latest = {line["benchmark"]: line for line in lines}
    print("== goals")
    for name, line in sorted(latest.items()):
        below = missed(line)
        judged = f"{len(line['goals']) - len(below)} of {len(line['goals'])} goals are met"
        said = judged if line["goals"] else "no goals are stated"
        print(f"{name:12} {said} (commit {line['commit']}, {line['date'][:10]})")
        for each in below:
            print(f"  WORSE THAN ITS GOAL {each}")


if __name__ == "__main__":
    main()
