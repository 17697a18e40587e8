"""From content to one HTML text: data, style and script inlined, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from deptriad.utils import colours
from deptriad.utils.files import spelt


def rendered(content: Mapping[str, Any]) -> str:
    """The page. Names, labels and file names are data: they reach it as JSON, and the document as text only."""
    style = f"{_variables()}\n{_asset('page.css')}"
    script = _asset("page.js")
    page = _asset("page.html")
    data = inert({**content, "scale": list(colours.SEQUENTIAL)})
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    # one pass over the template alone: nothing that is filled in is looked at again
    parts = {"policy": policy, "style": style, "data": data, "script": script}
    pieces = page.split("@@")
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def inert(content: dict[str, Any]) -> str:
    r"""JSON that can stand inside a script element: ASCII, and no sign that ends or opens markup.

    >>> inert({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(spelt(content), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _asset(name: str) -> str:
    return files("deptriad.report").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """How a Content-Security-Policy names an inlined text."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


def _variables() -> str:
    """The colours by role, for the light and for the dark theme."""

    def of(roles: Mapping[str, str]) -> str:
        return " ".join(f"--{role}: {colour};" for role, colour in roles.items())

    light, dark = of(colours.ROLES), of(colours.ROLES_ON_DARK)
    return (
        f":root {{ {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f':root[data-theme="light"] {{ {light} }}\n'
        f':root[data-theme="dark"] {{ {dark} }}'
    )
