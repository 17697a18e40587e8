"""Marginal: estimated shares of all combinations of some attributes' values, and their distance from the truth."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deptriad.collection.post_processing import POSTS, Post
from deptriad.collection.split import as_strategy
from deptriad.collection.strategy import Shares
from deptriad.metrics import total_variation_distance
from deptriad.utils import html_table
from deptriad.utils.arrays import Floats, as_share
from deptriad.utils.text import printable

FAR, ENOUGH = 8.0, 50
"""Standard errors above 1 that chance does not explain, and reports from which on these errors can be believed."""


@dataclass(frozen=True, eq=False, repr=False)
class Marginal:
    """Estimated shares of all combinations of some attributes' values.

    Parameters
    ----------
    attributes
        Their names, one for each axis.
    values
        The labels along each axis.
    frequencies
        The shares, after post-processing.
    standard_errors
        Of the unbiased shares: their distance from the shares among all who reported. Where these are a sample of a
        larger population, its own error √(f(1 − f)/n) comes on top.
    unbiased
        The shares before post-processing.
    n
        Reports behind them.
    """

    attributes: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    frequencies: Floats
    standard_errors: Floats
    unbiased: Floats
    n: int

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of a normal confidence interval for each share by itself, within [0, 1]."""
        from scipy.special import ndtri

        reach = ndtri(0.5 + as_share(level, "level") / 2) * self.standard_errors
        return np.clip(self.unbiased - reach, 0.0, 1.0), np.clip(self.unbiased + reach, 0.0, 1.0)

    def distance(self, truth: ArrayLike) -> float:
        """Total variation distance from true shares (or counts) of the same shape."""
        true = np.asarray(truth, dtype=np.float64)
        return total_variation_distance(self.frequencies, true / true.sum())

    def to_frame(self, kind: str = "pandas") -> Any:
        """A frame with a row for each combination: its values, frequency and standard error."""
        from deptriad.data import engines

        places = np.indices(self.frequencies.shape).reshape(len(self.attributes), -1)
        columns: dict[str, Any] = {
            name: [labels[code] for code in codes]
            for name, labels, codes in zip(self.attributes, self.values, places, strict=True)
        }
        columns["frequency"] = self.frequencies.ravel()
        columns["standard_error"] = self.standard_errors.ravel()
        return engines.made(columns, kind)

    def _repr_html_(self) -> str:
        """Shares with their standard errors: a column for each value of the second of two attributes."""
        names = [printable(name) for name in self.attributes]
        labels = [[printable(value) for value in values] for values in self.values]
        if len(names) == 2:
            rows = [[f"{names[0]} \\ {names[1]}", *labels[1]]]
            for i, value in enumerate(labels[0]):
                rows.append([value, *(self._cell((i, j)) for j in range(len(labels[1])))])
            return html_table.table(rows, [repr(self)])
        rows = [[*names, "share ± standard error"]]
        for cell in np.ndindex(self.frequencies.shape):
            rows.append([*map(list.__getitem__, labels, cell), self._cell(cell)])
        return html_table.table(rows, [repr(self)], names=len(names))

    def _cell(self, cell: tuple[int, ...]) -> str:
        return f"{self.frequencies[cell]:.4f} ± {self.standard_errors[cell]:.4f}"

    def __repr__(self) -> str:
        names = " & ".join(printable(name) for name in self.attributes)
        shape = " × ".join(map(str, self.frequencies.shape))
        error = float(np.sqrt(np.mean(self.standard_errors**2)))
        return f"Marginal({names}: {shape}, {self.n:,} reports, standard error {error:.2g})"


def estimate(
    strategy: Any, reports: Any, attributes: str | Sequence[str], post: Post = "norm_sub"
) -> Marginal:
    """The marginal of some attributes from reports.

    Parameters
    ----------
    strategy
        The plan or strategy that the reports were collected with.
    reports
        A frame of reports or the path of a file, as ``perturb`` and ``perturb_file`` give them; or a ``Simulation``.
    attributes
        One name or several: an axis for each.
    post
        "norm_sub" is the nearest distribution, "clip" cuts what is below 0 and scales; "raw" leaves the shares
        unbiased.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import deptriad as dt
    >>> from deptriad.collection.perturb import perturb
    >>> from deptriad.collection.split import Split
    >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in ("a", "b")])
    >>> frame = pd.DataFrame({"a": ["no", "no", "yes"] * 20_000, "b": ["no", "yes", "yes"] * 20_000})
    >>> split = Split(schema, total=4.0)
    >>> found = estimate(split, perturb(split, frame, rng=np.random.default_rng(1)), ["a", "b"])
    >>> found.frequencies.round(2).tolist()
    [[0.33, 0.34], [0.0, 0.33]]
    >>> found
    Marginal(a & b: 2 × 2, 60,000 reports, standard error 0.0019)
    """
    if post not in POSTS:
        raise ValueError(f"post is {post!r}, expected 'raw', 'clip' or 'norm_sub'")
    asked = as_strategy(strategy)
    names = asked.asked(attributes)
    shares = asked.shares(asked.read(reports, names), names)
    _warn_if_impossible(shares, names)
    return Marginal(
        names,
        tuple(asked.schema[name].values for name in names),
        POSTS[post](shares.frequencies),
        np.sqrt(shares.variances),
        shares.frequencies,
        shares.n,
    )


def _warn_if_impossible(shares: Shares, names: Sequence[str]) -> None:
    """Unbiased shares are not far above 1; those of records that were never perturbed may be.

    Shares far below 0 say nothing: where a value is never reported, its standard error is too small.
    """
    errors = np.sqrt(shares.variances)
    beyond = (shares.frequencies - 1.0 - FAR * errors).max(initial=-1.0)
    if shares.n >= ENOUGH and beyond > 1e-9:
        warnings.warn(
            f"a share of {' & '.join(names)} is estimated at {shares.frequencies.max():.3g}, more than {FAR:g} "
            "standard errors above 1: are these reports of this plan, and not of another, or the records themselves?",
            stacklevel=3,
        )
