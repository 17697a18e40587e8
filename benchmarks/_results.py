"""How time is taken, and one file of results, a key for each benchmark; written whole or not at all."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results.json")


def best(action: Callable[[], object], repeats: int = 3) -> float:
    """Least time of a few runs after one to warm up."""
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def save(key: str, values: dict[str, Any]) -> None:
    """Replace one benchmark's entry, and keep the others."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results[key] = values
    results["machine"] = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "cpu": platform.machine(),
    }
    part = RESULTS.with_suffix(".part")
    part.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    os.replace(part, RESULTS)
