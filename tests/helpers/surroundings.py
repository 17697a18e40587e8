"""What some tests need beside the package: where it is, and what of it is absent here."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import javascript
import postgres

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = {
    "collect-postgresql": ("starlette", "uvicorn", "sqlalchemy", "psycopg"),
    "attack": ("torch", "sklearn"),
    "engines": ("polars", "dask", "distributed", "ibis", "pyspark"),
    "oracles": ("qif", "multi_freq_ldpy", "pure_ldp"),
}
"""Packages by the extra that brings them."""
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options with which a short session of Spark takes half the time: it hardly compiles."""


def chromium() -> str | None:
    """The browser in which the page is tried, or None."""
    return os.environ.get("DEPTRIAD_CHROMIUM") or shutil.which("chromium")


def axe_core() -> Path | None:
    """The script that looks for barriers to those who cannot see or point, or None."""
    usual = REPOSITORY / ".venv/browser/node_modules/axe-core/axe.min.js"
    place = Path(os.environ.get("DEPTRIAD_AXE", usual))
    return place if place.is_file() else None


def typescript() -> str | None:
    """The compiler of TypeScript, which checks types, or None."""
    usual = REPOSITORY / ".venv/browser/node_modules/.bin/tsc"
    given = os.environ.get("DEPTRIAD_TSC") or (str(usual) if usual.is_file() else None)
    return given or shutil.which("tsc")


def java() -> bool:
    """Whether there is a Java runtime for Spark."""
    return bool(shutil.which("java") or os.environ.get("JAVA_HOME"))


def shared() -> Path:
    """The folder of reference results, which lies beside the repository; it may not be there."""
    return Path(os.environ.get("DEPTRIAD_SHARED", REPOSITORY.parent / "shared"))


def absent() -> list[str]:
    """What is not here, each with how to get it."""
    found = [
        f"{', '.join(missing)} (pip install '.[{extra}]')"
        for extra, names in PACKAGES.items()
        if (missing := [name for name in names if find_spec(name) is None])
    ]
    if not chromium():
        found.append("chromium (make browser)")
    if not axe_core():
        found.append("axe-core (make browser)")
    if not typescript():
        found.append("typescript (make browser)")
    found += [why for why in (postgres.why_not(), javascript.why_not()) if why]
    if not java():
        found.append("Java (for Spark; on the path or in JAVA_HOME)")
    if not shared().is_dir():
        found.append(f"reference results (no {shared()}; set DEPTRIAD_SHARED)")
    return found
