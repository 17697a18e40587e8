"""How much a locally private release of one attribute gives away about the others.

Each name is loaded, with the room that it comes from, when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deptriad import metrics
    from deptriad.analysis.analysis import Analysis
    from deptriad.analysis.analyze import analyze
    from deptriad.analysis.leakage_matrix import LeakageMatrix
    from deptriad.analysis.prior import Prior
    from deptriad.attacks.result import AttackResult
    from deptriad.attacks.run import attack, attack_all
    from deptriad.chains.chain import Chain
    from deptriad.chains.result import ChainTotals
    from deptriad.collection.accuracy_study import marginal_study
    from deptriad.collection.marginal import Marginal
    from deptriad.collection.sample import Sample
    from deptriad.collection.sample_with_fakes import SampleWithFakes
    from deptriad.collection.simulation import simulate
    from deptriad.collection.split import Split
    from deptriad.curves.leakage import (
        Explanation,
        leakage,
        leakages,
        profile,
        triad,
        triads,
        uncalibrated,
        where,
    )
    from deptriad.curves.profile import Profile
    from deptriad.curves.triad import Triad
    from deptriad.data.attribute import Attribute
    from deptriad.data.counts import Counts
    from deptriad.data.schema import Schema
    from deptriad.planning.calibrate import calibrate
    from deptriad.planning.history import Asked
    from deptriad.planning.plan import Plan
    from deptriad.planning.promise import promise
    from deptriad.planning.spent import Spent
    from deptriad.report.chain_plot import plot_chain
    from deptriad.report.plots import plot_leakage, plot_plan, plot_profile, plot_totals
    from deptriad.tables.joint import Joint
    from deptriad.tables.joint_box import JointBox
    from deptriad.tables.table import Box, Conditional
    from deptriad.tables.uncertainty import Absolute, Confidence, Relative, Spread
    from deptriad.totals.joint import joint_leakage
    from deptriad.totals.proof import Proof, verify
    from deptriad.totals.totals import Total, Totals, target_total
    from deptriad.utils.threads import set_threads
    from deptriad.witnesses.attained import attained
    from deptriad.witnesses.interactions import Interactions, interactions
    from deptriad.witnesses.result import Witness
    from deptriad.witnesses.witness import witness

    __version__: str

__all__ = [
    "Absolute",
    "Analysis",
    "Asked",
    "AttackResult",
    "Attribute",
    "Box",
    "Chain",
    "ChainTotals",
    "Conditional",
    "Confidence",
    "Counts",
    "Explanation",
    "Interactions",
    "Joint",
    "JointBox",
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
    "Spent",
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
    "joint_leakage",
    "leakage",
    "leakages",
    "marginal_study",
    "metrics",
    "plot_chain",
    "plot_leakage",
    "plot_plan",
    "plot_profile",
    "plot_totals",
    "profile",
    "promise",
    "set_threads",
    "simulate",
    "target_total",
    "triad",
    "triads",
    "uncalibrated",
    "verify",
    "where",
    "witness",
]

_HOME = {
    "analysis.analysis": ("Analysis",),
    "analysis.analyze": ("analyze",),
    "analysis.leakage_matrix": ("LeakageMatrix",),
    "analysis.prior": ("Prior",),
    "attacks.result": ("AttackResult",),
    "attacks.run": ("attack", "attack_all"),
    "chains.chain": ("Chain",),
    "chains.result": ("ChainTotals",),
    "collection.accuracy_study": ("marginal_study",),
    "collection.marginal": ("Marginal",),
    "collection.sample": ("Sample",),
    "collection.sample_with_fakes": ("SampleWithFakes",),
    "collection.simulation": ("simulate",),
    "collection.split": ("Split",),
    "curves.leakage": (
        "Explanation",
        "leakage",
        "leakages",
        "profile",
        "triad",
        "triads",
        "uncalibrated",
        "where",
    ),
    "curves.profile": ("Profile",),
    "curves.triad": ("Triad",),
    "data.attribute": ("Attribute",),
    "data.counts": ("Counts",),
    "data.schema": ("Schema",),
    "planning.calibrate": ("calibrate",),
    "planning.history": ("Asked",),
    "planning.plan": ("Plan",),
    "planning.promise": ("promise",),
    "planning.spent": ("Spent",),
    "report.chain_plot": ("plot_chain",),
    "report.plots": ("plot_leakage", "plot_plan", "plot_profile", "plot_totals"),
    "tables.joint": ("Joint",),
    "tables.joint_box": ("JointBox",),
    "tables.table": ("Box", "Conditional"),
    "tables.uncertainty": ("Absolute", "Confidence", "Relative", "Spread"),
    "totals.joint": ("joint_leakage",),
    "totals.proof": ("Proof", "verify"),
    "totals.totals": ("Total", "Totals", "target_total"),
    "utils.threads": ("set_threads",),
    "witnesses.attained": ("attained",),
    "witnesses.interactions": ("Interactions", "interactions"),
    "witnesses.result": ("Witness",),
    "witnesses.witness": ("witness",),
}
"""The module of each public name."""

_WHERE = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> object:
    if name == "metrics":
        return import_module("deptriad.metrics")
    if name == "__version__":
        from importlib.metadata import version

        return version("deptriad")
    if name not in _WHERE:
        raise AttributeError(f"module 'deptriad' has no attribute {name!r}", name=name)
    value = globals()[name] = getattr(import_module(f"deptriad.{_WHERE[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
