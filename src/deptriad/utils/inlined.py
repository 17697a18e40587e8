"""Pages of one file: what is inlined into them is inert, and their policy names it by its digest."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from deptriad.utils.files import spelt


def inert(content: Any) -> str:
    r"""JSON that can stand inside a script element: ASCII, and no sign that ends or opens markup.

    >>> inert({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(spelt(content), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def policy(script: str, style: str, **more: str) -> str:
    """A Content-Security-Policy that allows one script, one style and nothing else but what is named.

    >>> policy("", "", connect_src="'self'").split("; ")[-1]
    "connect-src 'self'"
    """
    rules = {
        "default-src": "'none'",
        "script-src": f"'{_digest(script)}'",
        "style-src": f"'{_digest(style)}'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    } | {name.replace("_", "-"): value for name, value in more.items()}
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def filled(template: str, parts: Mapping[str, str]) -> str:
    """A template with its parts between @@ and @@, in one pass: nothing that is filled in is looked at again."""
    pieces = template.split("@@")
    return "".join(parts[piece] if place % 2 else piece for place, piece in enumerate(pieces))


def _digest(text: str) -> str:
    """How a Content-Security-Policy names an inlined text."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
