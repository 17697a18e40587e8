"""analyze(): from a prior to the triads of all ordered pairs of its attributes."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.analysis.analysis import Analysis
from deptriad.analysis.prior import Prior
from deptriad.curves.leakage import triads
from deptriad.curves.triad import Triad
from deptriad.tables.table import Box, Conditional
from deptriad.tables.uncertainty import Confidence, Uncertainty
from deptriad.utils.errors import Note, Parameter
from deptriad.utils.progress import Progress
from deptriad.utils.text import printable

AT_ONCE = 200
"""Pairs between two calls of ``progress``."""


def analyze(
    prior: Prior, uncertainty: Uncertainty | None = None, progress: Progress | None = None
) -> Analysis:
    """Triads of all ordered pairs of attributes.

    Parameters
    ----------
    prior
        Tables of all ordered pairs.
    uncertainty
        How far the truth may lie from them: None takes them as they are; Relative, Absolute, Spread (several groups)
        or Confidence (counts of a sample), whose level then holds for all tables at once.
    progress
        Called with the number of pairs done, and of all pairs.

    Returns
    -------
    Analysis
        A triad for every ordered pair; with an uncertainty, one that bounds all tables it leaves possible.

    Raises
    ------
    ValueError
        The uncertainty does not fit the prior, such as Spread with one group.

    Examples
    --------
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["f", "m"] * 50, "smokes": ["no"] * 75 + ["yes"] * 25})
    >>> prior = dt.Prior.from_data(frame, schema=dt.Schema.infer(frame))
    >>> dt.analyze(prior).leakage(1.0)
    leakage, source × target
              sex smokes
    sex     1.000 0.0249
    smokes 0.0241  1.000
    """
    if not isinstance(prior, Prior):
        raise ValueError(
            f"prior is a {type(prior).__name__}, expected a Prior: make one with Prior.from_data"
        )
    if len(prior.names) < 2:
        raise ValueError(f"the prior has one attribute, {prior.names[0]!r}, expected two or more")
    if isinstance(uncertainty, Confidence):
        uncertainty = _for_all_tables(prior, uncertainty)
        _warn_of_unknown(prior)
    pairs = list(permutations(prior.names, 2))
    parts = []
    tables: dict[tuple[str, str], Conditional | Box] = {}
    for start in range(0, len(pairs), AT_ONCE):
        some = pairs[start : start + AT_ONCE]
        if uncertainty is None:
            tables |= {pair: prior.table(*pair) for pair in some}
        else:
            tables |= {pair: prior.box(*pair, uncertainty) for pair in some}
        parts.append(triads([tables[pair] for pair in some]))
        if progress:
            progress(start + len(some), len(pairs))
    return Analysis(prior.schema, _joined(parts), uncertainty, _facts(prior), prior, tables)


def _for_all_tables(prior: Prior, uncertainty: Confidence) -> Confidence:
    """Confidence whose level holds for all tables of the prior at once."""
    if uncertainty.cells is not None and uncertainty.cells < prior.cells:
        raise ValueError(
            f"cells is {uncertainty.cells}, expected None, or at least the {prior.cells} of all ordered pairs: the "
            "level is to hold for all tables at once"
        )
    if prior.chosen:
        origin = prior.schema.origin
        said = (
            " is no guarantee here, since the values were chosen by looking at the same records"
            f"{f' ({origin})' if origin else ''}: fix the schema beforehand, from other data, and do not merge thin "
            "values"
        )
        warnings.warn(Note(Parameter("Confidence"), said), stacklevel=3)
    return replace(uncertainty, cells=uncertainty.cells or prior.cells)


def _joined(parts: list[Triad]) -> Triad:
    def all_of(name: str) -> NDArray[Any]:
        return np.concatenate([np.atleast_1d(getattr(part, name)) for part in parts])

    return Triad(alpha=all_of("alpha"), phi=all_of("phi"), delta=all_of("delta"))


def _warn_of_unknown(prior: Prior) -> None:
    if prior.unknown:
        shown = ", ".join(f"{each.attribute} = {each.value}" for each in prior.unknown[:10])
        said = (
            "values without a single record are wholly uncertain, so that leakages about their attributes come close "
            f"to the whole budget: {printable(shown)}; leave them out with "
        )
        warnings.warn(
            Note(said, Parameter("thin", "'drop'"), ", or out of the schema"), stacklevel=3
        )


def _facts(prior: Prior) -> dict[str, Any]:
    """What a reader of a published analysis should know; no counts."""
    return {
        "sources": len(prior.sources),
        "weighted": prior.counts.weighted,
        "min_records": prior.min_records,
        "values_chosen_from_the_records": prior.chosen,  # None where only the user knows
        "thin": [[each.attribute, each.value, each.action] for each in prior.thin],
    }
