"""The script that perturbs answers on a device, and the files that `deptriad client` writes."""

from __future__ import annotations

import json
import os
from importlib.resources import files

from deptriad.utils import signatures

PathLike = str | os.PathLike[str]

FILES = ("survey.html", "deptriad.js", "deptriad.d.ts", "plan.json", "plan.json.sig")
"""What is written, and served: page, script, types, plan, and its signature where there is one."""

NO_KEY = "const KEY = null;"
"""Where the script keeps a public key."""


def script(key: PathLike | None = None) -> str:
    """The text of deptriad.js; with a public key it takes only plans that are signed by it.

    >>> len(script().encode("utf-8")) < 20_000
    True
    """
    text = asset("deptriad.js")
    if key is None:
        return text
    return text.replace(NO_KEY, f"const KEY = {json.dumps(signatures.spki(key))};")


def types() -> str:
    """The text of deptriad.d.ts."""
    return asset("deptriad.d.ts")


def asset(name: str) -> str:
    """The text of a file of this room."""
    return files("deptriad.clients").joinpath(name).read_text(encoding="utf-8")
