"""The script of the clients in Node, where that is installed."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

NEEDED = 20
"""The major version of Node from which on all that the script uses is there."""


def node() -> str | None:
    """Where Node is, or None."""
    return shutil.which("node")


@cache
def why_not() -> str | None:
    """Why the script cannot run in Node here."""
    found = node()
    if not found:
        return "Node is not installed (Debian: apt-get install nodejs)"
    said = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    major = said.lstrip("v").partition(".")[0]
    fits = major.isdigit() and int(major) >= NEEDED
    return None if fits else f"Node is {said.strip() or 'unknown'}, expected {NEEDED} or newer"


def run(folder: Path, code: str, content: Any = None, text: str | None = None) -> Any:
    """Run code as a module beside the script; it reads ``given``, and what it gives to ``tell`` comes back.

    The script's own functions are there as well, under ``own``.
    """
    from deptriad.clients.script import script

    own = (text or script()) + "\nexport { MECHANISMS, codeOf, decimal };\n"
    (folder / "deptriad.mjs").write_text(own, encoding="utf-8")
    (folder / "given.json").write_text(json.dumps(content), encoding="utf-8")
    (folder / "run.mjs").write_text(
        f"""import {{ readFileSync }} from "node:fs";
const given = JSON.parse(readFileSync(new URL("given.json", import.meta.url)));
const tell = (found) => console.log(JSON.stringify(found, (_, each) => typeof each === "bigint" ? String(each) : each));
{"" if "import(" in code else 'const own = await import("./deptriad.mjs"); const { open } = own;'}
{code}
""",
        encoding="utf-8",
    )
    done = subprocess.run(
        [str(node()), "--no-warnings", str(folder / "run.mjs")],
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)
