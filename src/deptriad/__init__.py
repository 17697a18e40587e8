"""How much a locally private release of one attribute gives away about the others."""

from deptriad import metrics
from deptriad.analysis import Analysis, analyze
from deptriad.budget import calibrate
from deptriad.collection import Sample, SampleWithFakes, Split
from deptriad.counts import Counts
from deptriad.interactions import Interactions, interactions
from deptriad.leakage import (
    Explanation,
    leakage,
    leakages,
    profile,
    triad,
    triads,
    uncalibrated,
    where,
)
from deptriad.marginals import Marginal
from deptriad.matrix import LeakageMatrix
from deptriad.plan import Plan
from deptriad.prior import Prior
from deptriad.profile import Profile, Triad
from deptriad.schema import Attribute, Schema
from deptriad.simulation import simulate
from deptriad.study import marginal_study
from deptriad.tables import Box, Conditional
from deptriad.totals import Proof, Total, Totals, target_total, verify
from deptriad.uncertainty import Absolute, Confidence, Relative, Spread
from deptriad.witness import Witness, attained, witness

__version__ = "0.1.0"

__all__ = [
    "Absolute",
    "Analysis",
    "Attribute",
    "Box",
    "Conditional",
    "Confidence",
    "Counts",
    "Explanation",
    "Interactions",
    "LeakageMatrix",
    "Marginal",
    "Plan",
    "Prior",
    "Profile",
    "Proof",
    "Relative",
    "Sample",
    "SampleWithFakes",
    "Schema",
    "Split",
    "Spread",
    "Total",
    "Totals",
    "Triad",
    "Witness",
    "analyze",
    "attained",
    "calibrate",
    "interactions",
    "leakage",
    "leakages",
    "marginal_study",
    "metrics",
    "profile",
    "simulate",
    "target_total",
    "triad",
    "triads",
    "uncalibrated",
    "verify",
    "where",
    "witness",
]
