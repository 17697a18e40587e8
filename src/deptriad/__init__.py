"""How much a locally private release of one attribute gives away about the others."""

from deptriad import metrics
from deptriad.leakage import Explanation, leakage, profile, triad, triads, uncalibrated, where
from deptriad.profile import Profile, Triad
from deptriad.tables import Box, Conditional
from deptriad.uncertainty import Absolute, Confidence, Relative, Spread

__version__ = "0.1.0"

__all__ = [
    "Absolute",
    "Box",
    "Conditional",
    "Confidence",
    "Explanation",
    "Profile",
    "Relative",
    "Spread",
    "Triad",
    "leakage",
    "metrics",
    "profile",
    "triad",
    "triads",
    "uncalibrated",
    "where",
]
