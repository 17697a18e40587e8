"""How much a locally private release of one attribute gives away about the others.

The formulas are here at once; what reads data, plans and collects is loaded when it is first named.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from deptriad import metrics
from deptriad.attack.run import attack, attack_all
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
from deptriad.profile import Profile, Triad
from deptriad.tables import Box, Conditional
from deptriad.uncertainty import Absolute, Confidence, Relative, Spread
from deptriad.witness import witness
from deptriad.witness_check import attained
from deptriad.witness_result import Witness

if TYPE_CHECKING:
    from deptriad.analysis import Analysis, analyze
    from deptriad.attack.result import AttackResult
    from deptriad.attribute import Attribute
    from deptriad.budget import calibrate
    from deptriad.counts import Counts
    from deptriad.marginals import Marginal
    from deptriad.matrix import LeakageMatrix
    from deptriad.plan import Plan
    from deptriad.prior import Prior
    from deptriad.report.plots import plot_leakage, plot_plan, plot_profile, plot_totals
    from deptriad.schema import Schema
    from deptriad.simulation import simulate
    from deptriad.strategies import Sample, SampleWithFakes, Split
    from deptriad.study import marginal_study
    from deptriad.totals import Proof, Total, Totals, target_total, verify

__version__ = "0.1.0"

__all__ = [
    "Absolute",
    "Analysis",
    "AttackResult",
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
    "attack",
    "attack_all",
    "attained",
    "calibrate",
    "interactions",
    "leakage",
    "leakages",
    "marginal_study",
    "metrics",
    "plot_leakage",
    "plot_plan",
    "plot_profile",
    "plot_totals",
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

# Which module holds each name that is loaded when first used. A function of the same name as its
# module cannot be one of these: importing the module would take its place.
_WHERE = {
    "Analysis": "analysis",
    "AttackResult": "attack.result",
    "Attribute": "attribute",
    "Counts": "counts",
    "LeakageMatrix": "matrix",
    "Marginal": "marginals",
    "Plan": "plan",
    "Prior": "prior",
    "Proof": "totals",
    "Sample": "strategies",
    "SampleWithFakes": "strategies",
    "Schema": "schema",
    "Split": "strategies",
    "Total": "totals",
    "Totals": "totals",
    "analyze": "analysis",
    "calibrate": "budget",
    "marginal_study": "study",
    "plot_leakage": "report.plots",
    "plot_plan": "report.plots",
    "plot_profile": "report.plots",
    "plot_totals": "report.plots",
    "simulate": "simulation",
    "target_total": "totals",
    "verify": "totals",
}


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'deptriad' has no attribute {name!r}", name=name)
    value = globals()[name] = getattr(import_module(f"deptriad.{_WHERE[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
