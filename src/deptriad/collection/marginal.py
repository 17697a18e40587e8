"""Marginal: estimated shares of all combinations of some attributes' values, and their distance from the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from deptriad.collection.post_processing import POSTS, Post, raw
from deptriad.collection.report_mark import Allowed
from deptriad.collection.score_sums import Tally, TermSums
from deptriad.collection.split import as_strategy
from deptriad.collection.strategy import Strategy
from deptriad.metrics import total_variation_distance
from deptriad.utils import html_table
from deptriad.utils.arrays import Floats, as_share, as_whole
from deptriad.utils.text import printable


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
    note
        What was not checked about the reports, and what should be known about them; empty where they carry the mark of
        their plan and no seed.

    Examples
    --------
    >>> import deptriad as dt
    >>> import numpy as np
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["f", "m"] * 500})
    >>> plan = dt.calibrate(dt.Schema.infer(frame), 2.0)
    >>> found = plan.estimate(plan.perturb(frame, rng=np.random.default_rng(1)), ["sex"])
    >>> found.frequencies.round(2).tolist(), found.standard_errors.round(3).tolist()
    ([0.5, 0.5], [0.013, 0.013])
    """

    attributes: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    frequencies: Floats
    standard_errors: Floats
    unbiased: Floats
    n: int
    note: str = ""

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
            return html_table.table(rows, self._words())
        rows = [[*names, "share ± standard error"]]
        for cell in np.ndindex(self.frequencies.shape):
            rows.append([*map(list.__getitem__, labels, cell), self._cell(cell)])
        return html_table.table(rows, self._words(), names=len(names))

    def _words(self) -> list[str]:
        return [repr(self), *filter(None, [self.note])]

    def _cell(self, cell: tuple[int, ...]) -> str:
        return f"{self.frequencies[cell]:.4f} ± {self.standard_errors[cell]:.4f}"

    def __repr__(self) -> str:
        names = " & ".join(printable(name) for name in self.attributes)
        shape = " × ".join(map(str, self.frequencies.shape))
        error = float(np.sqrt(np.mean(self.standard_errors**2)))
        return f"Marginal({names}: {shape}, {self.n:,} reports, standard error {error:.2g})"


def estimate(
    strategy: Any,
    reports: Any,
    attributes: str | Sequence[str],
    post: Post = "norm_sub",
    *,
    weight: str | None = None,
    unmarked: bool = False,
    seeded: bool = False,
    implausible: bool = False,
) -> Marginal:
    """The marginal of some attributes from reports.

    Parameters
    ----------
    strategy
        The plan or strategy that the reports were collected with.
    reports
        A frame of reports or the path of a file, as ``perturb`` and ``perturb_file`` give them; the URL of a store,
        such as "sqlite:///reports.db" or "postgresql://user@host/survey"; or a ``Simulation``.
    attributes
        One name or several: an axis for each.
    post
        "norm_sub" is the nearest distribution, "clip" cuts what is below 0 and scales; "raw" leaves the shares
        unbiased.
    weight
        A column of the reports with survey weights: shares are then of the weights of all who reported, and their
        standard errors have what unequal weights cost.
    unmarked
        Take a Parquet file without a mark. Frames and CSV files without one are taken anyway, if they can be reports
        of this strategy by the law of its mechanisms; what that leaves open is in ``note``.
    seeded
        Take a file of reports that a seed was used for, as for a simulation.
    implausible
        Take reports without a mark that the law of the mechanisms all but rules out (honest ones look so with a chance
        below 1e-9), as where some of those who report do as they like.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import deptriad as dt
    >>> from deptriad.collection.marginal import estimate
    >>> from deptriad.collection.perturb import perturb
    >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in ("a", "b")])
    >>> frame = pd.DataFrame({"a": ["no", "no", "yes"] * 20_000, "b": ["no", "yes", "yes"] * 20_000})
    >>> split = dt.Split(schema, total=4.0)
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
    sums = _needed(asked, names, weight)
    allowed = Allowed(unmarked, seeded, implausible)
    note = asked.add_all(reports, [each for power in sums for each in power], allowed, weight)
    return _marginal(asked, names, sums, POSTS[post], note)


Powers = list[list[Tally | TermSums]]
"""The sums of the views, of survey weights to the powers 0, 1 and 2; without weights they are the same."""


def _needed(asked: Strategy, names: Sequence[str], weight: str | None) -> Powers:
    return [asked.needed(names, power) for power in (range(3) if weight is not None else range(1))]


def _marginal(
    asked: Strategy,
    names: tuple[str, ...],
    sums: Powers,
    post: Callable[[Floats], Floats],
    note: str,
) -> Marginal:
    shares = asked.shares(sums, names)
    return Marginal(
        names,
        tuple(asked.schema[name].values for name in names),
        post(shares.frequencies),
        np.sqrt(shares.variances),
        shares.frequencies,
        shares.n,
        note,
    )


def estimates(
    strategy: Any,
    reports: Any,
    marginals: int | Sequence[str | Sequence[str]] | None = None,
    post: Literal["agree"] | Post = "agree",
    *,
    weight: str | None = None,
    unmarked: bool = False,
    seeded: bool = False,
    implausible: bool = False,
) -> dict[tuple[str, ...], Marginal]:
    """Many marginals that agree with each other: common margins are the same, and no share is below 0.

    They are nearer to the truth than those of ``estimate``, since each uses what the others know: a marginal of two
    attributes has the one-way shares of all who were asked either of them. ``unbiased`` and ``standard_errors`` of each
    are those of ``estimate``; only ``frequencies`` are made to agree.

    Parameters
    ----------
    strategy, reports, weight, unmarked, seeded, implausible
        As for ``estimate``. All is read in one pass.
    marginals
        Their attributes; or a number k for all of up to k attributes that are asked together. By default those that a
        plan was made for, else k = 2.
    post
        "agree" makes them agree; "raw", "clip" and "norm_sub" leave each as ``estimate`` gives it, which is quicker.

    Returns
    -------
    dict
        By names, in the order in which they were given.

    Examples
    --------
    >>> import numpy as np
    >>> import deptriad as dt
    >>> from deptriad.collection.marginal import estimates
    >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in ("a", "b")])
    >>> split = dt.Split(schema, total=4.0)
    >>> reports = dt.simulate([[400, 100], [0, 500]], split, np.random.default_rng(1))
    >>> found = estimates(split, reports)
    >>> list(found)
    [('a',), ('b',), ('a', 'b')]
    >>> bool(np.allclose(found["a", "b"].frequencies.sum(axis=1), found["a",].frequencies))
    True
    """
    from deptriad.collection import consistency

    if post != "agree" and post not in POSTS:
        raise ValueError(f"post is {post!r}, expected 'agree', 'raw', 'clip' or 'norm_sub'")
    asked = as_strategy(strategy)
    if marginals is None:
        marginals = getattr(strategy, "marginals", ()) or 2
    wanted = _wanted(asked, marginals)
    parts = consistency.parts_needed(wanted) if post == "agree" else []
    sums = {names: _needed(asked, names, weight) for names in dict.fromkeys([*wanted, *parts])}
    every = [each for powers in sums.values() for power in powers for each in power]
    note = asked.add_all(reports, every, Allowed(unmarked, seeded, implausible), weight)
    own = POSTS.get(post, raw)
    found = {names: _marginal(asked, names, sums[names], own, note) for names in sums}
    if post != "agree":
        return found
    direct = {names: marginal.unbiased for names, marginal in found.items()}
    precision = {
        names: 1.0 / max(float(np.mean(marginal.standard_errors**2)), 1.0 / marginal.n**2)
        for names, marginal in found.items()
    }
    agreed = consistency.agreed(direct, precision)
    return {names: replace(found[names], frequencies=agreed[names]) for names in wanted}


def _wanted(
    asked: Strategy, marginals: int | Sequence[str | Sequence[str]]
) -> list[tuple[str, ...]]:
    """The names of marginals, checked."""
    if not isinstance(marginals, int):
        return list(dict.fromkeys(asked.asked(names) for names in marginals))
    sizes = range(1, as_whole(marginals, "marginals", 1) + 1)
    every = (names for size in sizes for names in combinations(asked.released.names, size))
    return [names for names in every if asked.asking(names)]
