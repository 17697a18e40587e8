"""From content to one HTML text: data, style and script inlined, and a policy that allows nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from deptriad.utils import colours
from deptriad.utils.inlined import filled, inert, policy


def rendered(content: Mapping[str, Any]) -> str:
    """The page. Names, labels and file names are data: they reach it as JSON, and the document as text only."""
    style = f"{_variables()}\n{_asset('page.css')}"
    script = _asset("page.js")
    page = _asset("page.html")
    data = inert({**content, "scale": list(colours.SEQUENTIAL)})
    parts = {"policy": policy(script, style), "style": style, "data": data, "script": script}
    return filled(page, parts)


def _asset(name: str) -> str:
    return files("deptriad.report").joinpath(name).read_text(encoding="utf-8")


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
