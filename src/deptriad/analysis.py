"""Analysis: the triads of all ordered pairs of a prior, and what follows from them for any budgets."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from deptriad import files, uncertainty
from deptriad.leakage import Explanation, leakages, profile, triads, where
from deptriad.lines import as_budget, as_whole
from deptriad.prior import Prior
from deptriad.profile import Profile, Triad
from deptriad.schema import Schema, closest
from deptriad.tables import Box, Conditional
from deptriad.text import printable, rounded_up
from deptriad.totals import (
    ApproximateTotal,
    Proof,
    Totals,
    approximate_total,
    target_total,
    verify,
)
from deptriad.uncertainty import Confidence, Uncertainty

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from deptriad.frames import Progress
    from deptriad.lines import Floats, Integers

FORMAT, VERSION = "deptriad analysis", 1

Budgets = float | Mapping[str, float]
"""One ε for all attributes, or one for each by name."""

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
        How far the truth may lie from them: None takes them as they are; Relative, Absolute, Spread (several sources)
        or Confidence (counts of a sample), whose level then holds for all tables at once.
    progress
        Called with the number of pairs done, and of all pairs.

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
        tables |= {pair: _table(prior, uncertainty, *pair) for pair in some}
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
        warnings.warn(
            "Confidence is no guarantee here, since the values were chosen by looking at the same records: fix the "
            "schema beforehand, from other data, and do not merge thin values",
            UserWarning,
            stacklevel=3,
        )
    return replace(uncertainty, cells=uncertainty.cells or prior.cells)


def _table(
    prior: Prior, uncertainty: Uncertainty | None, source: str, target: str
) -> Conditional | Box:
    if uncertainty is None:
        return prior.table(source, target)
    return prior.box(source, target, uncertainty)


def _joined(parts: list[Triad]) -> Triad:
    def all_of(name: str) -> NDArray[Any]:
        return np.concatenate([np.atleast_1d(getattr(part, name)) for part in parts])

    return Triad(alpha=all_of("alpha"), phi=all_of("phi"), delta=all_of("delta"))


def _warn_of_unknown(prior: Prior) -> None:
    if prior.unknown:
        shown = ", ".join(f"{each.attribute} = {each.value}" for each in prior.unknown[:10])
        warnings.warn(
            "values without a single record are wholly uncertain, so that leakages about their attributes come close "
            f"to the whole budget: {printable(shown)}; leave them out with thin='drop', or out of the schema",
            UserWarning,
            stacklevel=3,
        )


def _facts(prior: Prior) -> dict[str, Any]:
    """What a reader of a published analysis should know; no counts."""
    return {
        "sources": len(prior.sources),
        "weighted": prior.counts.weighted,
        "min_records": prior.min_records,
        "values_chosen_from_the_records": prior.chosen or None,  # else only the user knows
        "thin": [[each.attribute, each.value, each.action] for each in prior.thin],
    }


class Leak(NamedTuple):
    """What releasing one attribute gives away about another."""

    source: str
    target: str
    triad: Triad
    leakage: float


@dataclass(frozen=True, eq=False, repr=False)
class LeakageMatrix:
    """Leakage of every attribute (row) about every other (column), in nats; on the diagonal the attribute's own ε.

    An array for numpy; ``matrix["relationship", "sex"]`` is one number.
    """

    names: tuple[str, ...]
    values: Floats
    kind: str = "pandas"

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=bool(copy) or None)

    def __getitem__(self, pair: tuple[str, str]) -> float:
        source, target = (_place(name, self.names) for name in pair)
        return float(self.values[source, target])

    def to_frame(self) -> Any:
        """A frame with a row for each source, and a column for each target."""
        columns: dict[str, Any] = {"source": list(self.names)}
        columns |= {name: self.values[:, place] for place, name in enumerate(self.names)}
        return _frame(columns, self.kind)

    def __repr__(self) -> str:
        names = [printable(name) for name in self.names]
        cells = [[rounded_up(value) for value in row] for row in self.values.tolist()]
        wide = [
            max(map(len, [name, *column]))
            for name, column in zip(names, zip(*cells, strict=True), strict=True)
        ]
        first = max(map(len, names))
        rows = [("", names), *zip(names, cells, strict=True)]
        lines = [
            " ".join(
                [
                    left.ljust(first),
                    *(cell.rjust(width) for cell, width in zip(right, wide, strict=True)),
                ]
            )
            for left, right in rows
        ]
        return "\n".join(["leakage, source × target", *lines])


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """The triads of all ordered pairs of attributes: all that is needed to bound leakages for any budgets.

    Made by ``analyze``. Its file holds no records, counts or tables: publish it where the data may be used for this.
    """

    schema: Schema
    numbers: Triad
    uncertainty: Uncertainty | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    prior: Prior | None = None
    tables: dict[tuple[str, str], Conditional | Box] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return self.schema.names

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """All ordered pairs (source, target), in the order of the triads."""
        return list(permutations(self.names, 2))

    @cached_property
    def _pair_numbers(self) -> dict[tuple[str, str], int]:
        return {pair: number for number, pair in enumerate(self.pairs)}

    @cached_property
    def _places(self) -> Integers:
        """Places of source and target of each pair: two rows."""
        return np.array(list(permutations(range(len(self.names)), 2)), dtype=np.int64).T

    @property
    def _kind(self) -> str:
        return self.prior.kind if self.prior else "pandas"

    @property
    def triads(self) -> Any:
        """A frame with a row for each ordered pair: source, target, alpha, beta, phi, delta."""
        return _frame(self._columns(), self._kind)

    def _columns(self) -> dict[str, Any]:
        sources, targets = zip(*self.pairs, strict=True)
        columns: dict[str, Any] = {"source": list(sources), "target": list(targets)}
        return columns | {
            name: np.asarray(getattr(self.numbers, name), dtype=np.float64)
            for name in ("alpha", "beta", "phi", "delta")
        }

    def triad(self, source: str, target: str) -> Triad:
        """The triad of one ordered pair."""
        return self.numbers[self._pair(source, target)]

    def _pair(self, source: str, target: str) -> int:
        for name in (source, target):
            _place(name, self.names)
        if source == target:
            raise ValueError(f"source and target are both {source!r}, expected two attributes")
        return self._pair_numbers[source, target]

    def table(self, source: str, target: str) -> Conditional | Box:
        """The table of one ordered pair, or its box, which the triad was made from."""
        self._pair(source, target)
        if not self.tables:
            raise ValueError(
                "this analysis was loaded from a file, which holds triads and no tables: analyze the prior again"
            )
        return self.tables[source, target]

    def profile(self, source: str, target: str) -> Profile:
        """The whole curve of one ordered pair: exact for a table, certified for a box."""
        return profile(self.table(source, target))

    def where(self, source: str, target: str, epsilon: float) -> Explanation:
        """Which values give the leakage of one ordered pair; printed, a sentence."""
        return where(self.table(source, target), epsilon)

    def leakage(self, epsilon: Budgets, exact: bool = False) -> LeakageMatrix:
        """Bounds on the leakage of every attribute about every other when each is released with its budget.

        Parameters
        ----------
        epsilon
            One budget for all attributes, or a mapping with one for each.
        exact
            The triads answer at once; with ``exact`` the tables do (certified bounds for boxes), which is tighter.
        """
        budgets = self.budgets(epsilon)
        sources, targets = self._places
        if exact:
            found = leakages([self.table(*pair) for pair in self.pairs], budgets[sources])
        else:
            found = np.asarray(self.numbers.leakage(budgets[sources]))
        matrix = np.diag(budgets)
        matrix[sources, targets] = found
        return LeakageMatrix(self.names, matrix, self._kind)

    def budgets(self, epsilon: Budgets) -> Floats:
        """A budget for each attribute, checked."""
        if not isinstance(epsilon, Mapping):
            one = as_budget(epsilon)
            if one.ndim:
                raise ValueError(
                    f"epsilon has shape {one.shape}, expected one number, or a mapping from names to numbers"
                )
            return np.full(len(self.names), float(one))
        for name in epsilon:
            _place(name, self.names)
        if lacking := [name for name in self.names if name not in epsilon]:
            raise ValueError(
                f"epsilon has no budget for {lacking[0]!r}, expected one for each attribute; 0 where it is not released"
            )
        return np.array(
            [float(as_budget(epsilon[name], f"epsilon[{name!r}]")) for name in self.names]
        )

    def totals(self, epsilon: Budgets, sources: Sequence[str] | None = None) -> Totals:
        """What all releases together give away about each attribute: two estimates, and a certified bound.

        Parameters
        ----------
        epsilon
            One budget for all attributes, or a mapping with one for each.
        sources
            The attributes that are released; all by default. The others are targets all the same.

        Examples
        --------
        >>> import deptriad as dt
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"a": [0, 0, 1, 1] * 20, "b": [0, 1, 0, 1] * 20, "xor": [0, 1, 1, 0] * 20})
        >>> analysis = dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))
        >>> analysis.totals(1.0)["xor"]
        Total(xor: own=1, paired=1, pairwise=1, certified=1.434, budgets=3.000)
        """
        budgets = self._released(epsilon, sources)
        totals = (
            target_total(
                self._tables_about(target, budgets),
                _without(budgets, target),
                budgets.get(target, 0.0),
                target,
            )
            for target in self.names
        )
        return Totals(totals, self._kind)

    def approximate_totals(
        self, epsilon: Budgets, delta: Budgets, sources: Sequence[str] | None = None
    ) -> dict[str, ApproximateTotal]:
        """The same where mechanisms are (ε, δ)-LDP: an estimate from pairwise leakages, and as a bound the plain sums.

        No certificate is known here but the sum of all ε and the sum of all δ.
        """
        budgets, deltas = self._released(epsilon, sources), self._released(delta, sources)
        return {
            target: approximate_total(
                self._tables_about(target, budgets),
                _without(budgets, target),
                _without(deltas, target),
                budgets.get(target, 0.0),
                deltas.get(target, 0.0),
            )
            for target in self.names
        }

    def verify(self, proof: Proof) -> float:
        """What the proof of a certified total proves, worked out again from the tables alone; an error if it lies."""
        return verify(proof, self._tables_about(proof.target, proof.budgets))

    def _released(self, epsilon: Budgets, sources: Sequence[str] | None) -> dict[str, float]:
        """The budgets of what is released; a mapping need not name anything else."""
        if isinstance(sources, str):
            raise ValueError(f"sources is {sources!r}, expected a list of names: [{sources!r}]")
        for name in sources or ():
            _place(name, self.names)
        released = self.names if sources is None else sources
        if isinstance(epsilon, Mapping) and sources is not None:
            epsilon = dict.fromkeys(_without_all(self.names, released), 0.0) | dict(epsilon)
        budgets = zip(self.names, self.budgets(epsilon).tolist(), strict=True)
        return {name: budget for name, budget in budgets if name in released}

    def _tables_about(self, target: str, sources: Iterable[str]) -> dict[str, Conditional | Box]:
        return {source: self.table(source, target) for source in sources if source != target}

    def top(self, k: int = 10, epsilon: Budgets = 1.0) -> Any:
        """A frame of the k largest leakages: source, target, leakage."""
        leaks = self.worst(k, epsilon)
        columns = {name: [getattr(leak, name) for leak in leaks] for name in ("source", "target")}
        return _frame(columns | {"leakage": [leak.leakage for leak in leaks]}, self._kind)

    def worst(self, k: int, epsilon: Budgets) -> list[Leak]:
        """The k largest leakages with their triads, worst first; equal ones by name."""
        as_whole(k, "k", 0)
        sources, targets = self._places
        found = np.asarray(self.leakage(epsilon))[sources, targets].tolist()
        order = sorted(range(len(found)), key=lambda pair: (-found[pair], self.pairs[pair]))
        return [Leak(*self.pairs[pair], self.numbers[pair], found[pair]) for pair in order[:k]]

    @property
    def certainty(self) -> str:
        """What is assumed about the tables, in words."""
        if self.uncertainty is None:
            return "the tables are taken as they are"
        words = uncertainty.in_words(self.uncertainty)
        if isinstance(self.uncertainty, Confidence) and self.facts.get(
            "values_chosen_from_the_records"
        ):
            return f"no guarantee, since values were chosen by looking at the same records: {words}"
        return words

    def __repr__(self) -> str:
        lines = [
            f"Analysis of {len(self.names)} attributes, {len(self.pairs)} ordered pairs; {self.certainty}",
            "largest leakages at ε = 1:",
        ]
        lines += [
            f"  {printable(leak.source)} → {printable(leak.target)}: {rounded_up(leak.leakage)}"
            for leak in self.worst(3, 1.0)
        ]
        return "\n".join(lines)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a .json or .parquet file: the schema, the uncertainty and the triads; no records, counts or tables."""
        _by_suffix(path, {".json": self._save_json, ".parquet": self._save_parquet})(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a .json or .parquet file, everything checked."""
        about, columns = _by_suffix(path, {".json": _load_json, ".parquet": _load_parquet})(path)
        try:
            return cls._restored(about, columns)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"{path} is not a whole analysis: {error}") from None

    @classmethod
    def _restored(cls, about: dict[str, Any], columns: dict[str, list[Any]]) -> Self:
        schema = Schema._from_content(about["schema"], "its schema")
        pairs = list(permutations(schema.names, 2))
        if list(zip(columns["source"], columns["target"], strict=True)) != pairs:
            raise ValueError("its triads are not those of all ordered pairs, in order")
        alpha, phi, delta = (
            np.array(columns[name], dtype=float) for name in ("alpha", "phi", "delta")
        )
        known = about["uncertainty"]
        found = None if known is None else uncertainty.from_text(known)
        return cls(schema, Triad(alpha=alpha, phi=phi, delta=delta), found, dict(about["facts"]))

    def _about(self) -> dict[str, Any]:
        known = None if self.uncertainty is None else uncertainty.as_text(self.uncertainty)
        about = {"format": FORMAT, "version": VERSION, "uncertainty": known, "facts": self.facts}
        return about | {"schema": self.schema._content()}

    def _save_json(self, path: str | os.PathLike[str]) -> None:
        columns = {name: list(column) for name, column in self._columns().items()}
        rows = [
            dict(zip(columns, map(_plain, row), strict=True))
            for row in zip(*columns.values(), strict=True)
        ]
        files.write_json(path, self._about() | {"triads": rows})

    def _save_parquet(self, path: str | os.PathLike[str]) -> None:
        arrow, parquet = _arrow()
        about = {"deptriad": json.dumps(self._about())}
        table = arrow.table(self._columns()).replace_schema_metadata(about)
        with files.whole(path) as partial:
            parquet.write_table(table, partial)


def _load_json(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    about = files.read_json(path, FORMAT, VERSION)
    rows = about.get("triads")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{path} has no list of triads")
    names = ("source", "target", "alpha", "phi", "delta")
    try:
        return about, {name: [row[name] for row in rows] for name in names}
    except KeyError as missing:
        raise ValueError(f"{path} has a triad without {missing}") from None


def _load_parquet(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    arrow, parquet = _arrow()
    try:
        table = parquet.read_table(os.fspath(path))
    except arrow.ArrowInvalid as error:
        raise ValueError(f"{path} is not a whole Parquet file: {error}") from None
    held = (table.schema.metadata or {}).get(b"deptriad")
    if held is None:
        raise ValueError(
            f"{path} is a Parquet file of something else, expected one saved by Analysis.save"
        )
    about = files.parse_json(held.decode(), FORMAT, VERSION, str(path))
    return about, {name: table[name].to_pylist() for name in table.column_names}


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"Parquet files need {missing.name}: pip install 'deptriad[files]', or save as .json",
            name=missing.name,
        ) from None
    return pyarrow, pyarrow.parquet


def _by_suffix(
    path: str | os.PathLike[str], ways: dict[str, Callable[..., Any]]
) -> Callable[..., Any]:
    suffix = Path(path).suffix.lower()
    if suffix not in ways:
        raise ValueError(f"{path} ends in {suffix!r}, expected {' or '.join(ways)}")
    return ways[suffix]


def _plain(value: Any) -> Any:
    """A cell for JSON, which has no infinity: that is spelt out."""
    if isinstance(value, str):
        return value
    return float(value) if math.isfinite(value) else str(float(value))


def _frame(columns: dict[str, Any], kind: str) -> Any:
    from deptriad import frames

    return frames.made(columns, kind)


def _without_all(names: Iterable[str], gone: Sequence[str]) -> list[str]:
    return [name for name in names if name not in gone]


def _without(budgets: Mapping[str, float], target: str) -> dict[str, float]:
    return {name: budget for name, budget in budgets.items() if name != target}


def _place(name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise ValueError(f"there is no attribute {name!r}: {closest(name, names)}")
    return names.index(name)
