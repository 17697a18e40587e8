"""A PostgreSQL server of one's own, from Debian's packages, in a temporary folder: on a socket there, on no port."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def programs() -> Path | None:
    """The folder of ``initdb`` and ``pg_ctl``, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    onpath = shutil.which("pg_ctl")
    return found[-1].parent if found else Path(onpath).parent if onpath else None


def why_not() -> str | None:
    """Why there can be none here."""
    if programs() is None:
        return "PostgreSQL is not installed (Debian: apt-get install postgresql)"
    if hasattr(os, "getuid") and os.getuid() == 0 and not _user():
        return "PostgreSQL does not run as root, and there is no user postgres"
    return None


def _user() -> str | None:
    """Whom the server runs as, where we are root, as whom it does not."""
    import pwd

    names = {each.pw_name for each in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in names), None)


@contextmanager
def server() -> Iterator[str]:
    """The URL of a new, empty database."""
    who = {"user": _user()} if os.getuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="pg-"))

    def run(*command: str) -> None:
        subprocess.run(
            [str(programs() / command[0]), *command[1:]],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd="/",
            **who,
        )

    try:
        if who:
            shutil.chown(folder, who["user"])
        data = str(folder / "data")
        run("initdb", "-D", data, "-U", "survey", "-A", "trust", "--no-sync")
        settings = f"-c listen_addresses='' -c unix_socket_directories='{folder}'"
        run("pg_ctl", "start", "-w", "-D", data, "-l", str(folder / "log"), "-o", settings)
        try:
            yield f"postgresql://survey@/postgres?host={folder}"
        finally:
            run("pg_ctl", "stop", "-D", data, "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
