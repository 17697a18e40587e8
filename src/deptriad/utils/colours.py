"""The colours of the page and of the plots: told apart without red and green, and by lightness alone.

``SEQUENTIAL`` runs from nothing to all; on a dark background it is read the other way round, so that nothing is always
the colour nearest to the background. ``ROLES`` are for marks and lines on white, ``ROLES_ON_DARK`` the same on a dark
background: each stands out from its background by a contrast of at least 3 to 1.
"""

from __future__ import annotations

SEQUENTIAL = (
    "#f7f6e3",
    "#e3eec9",
    "#c0e0bf",
    "#90cdbd",
    "#5cb3bf",
    "#3a93b8",
    "#2f70a6",
    "#2a4d8c",
    "#1b2a5e",
)
"""Pale to dark, in steps of about equal lightness."""

ROLES = {
    "witness": "#00795a",
    "paired": "#2a86c0",
    "pairwise": "#b87300",
    "certified": "#0b4f8a",
    "promise": "#c8430a",
    "plan": "#9a4a83",
    "split": "#6b7280",
}
"""What is attained, the two estimates, the bound, the promise, and the plan's budgets against splitting."""

ROLES_ON_DARK = {
    "witness": "#35c99b",
    "paired": "#6cc0f2",
    "pairwise": "#f0b03c",
    "certified": "#4f93e6",
    "promise": "#ff8154",
    "plan": "#dd8fc6",
    "split": "#9aa3af",
}

MARKERS = {
    "witness": "o",
    "paired": "s",
    "pairwise": "D",
    "certified": "|",
    "promise": "|",
    "plan": "o",
    "split": "o",
}
"""A shape for each role, as matplotlib names them, so that colour is never alone in telling them apart."""
