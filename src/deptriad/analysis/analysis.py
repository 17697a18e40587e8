"""Analysis: the triads of all ordered pairs of a prior, and what follows from them for any budgets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from typing import Any, Self

import numpy as np

from deptriad.analysis import analysis_file
from deptriad.analysis.joint_totals import JointTables
from deptriad.analysis.leakage_matrix import Leak, LeakageMatrix
from deptriad.analysis.prior import Prior
from deptriad.curves.leakage import Explanation, leakages, profile, where
from deptriad.curves.profile import Profile
from deptriad.curves.triad import Triad
from deptriad.data.results import columns_of
from deptriad.data.schema import Schema
from deptriad.tables import uncertainty
from deptriad.tables.table import Box, Conditional
from deptriad.tables.uncertainty import Uncertainty
from deptriad.totals.approximate import ApproximateTotal, approximate_total
from deptriad.totals.certificate import Tables
from deptriad.totals.own_mechanisms import mechanisms_of
from deptriad.totals.proof import Proof, verify
from deptriad.totals.totals import Total, Totals, target_total
from deptriad.utils import html_table
from deptriad.utils.arrays import Floats, Integers, as_whole
from deptriad.utils.by_name import budgets_for_each
from deptriad.utils.text import printable, rounded_up, times

Budgets = float | Mapping[str, float]
"""One ε for all attributes, or one for each by name."""


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """The triads of all ordered pairs of attributes: all that is needed to bound leakages for any budgets.

    Made by ``analyze``. Its file holds no records, counts or tables: publish it where the data may be used for this.

    Examples
    --------
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["f", "m"] * 50, "smokes": ["no"] * 50 + ["yes", "no"] * 15 + ["yes"] * 20})
    >>> schema = dt.Schema.infer(frame)
    >>> analysis = dt.analyze(dt.Prior.from_data(frame, schema))
    >>> print(f"{analysis.leakage(1.0)['smokes', 'sex']:.3f}")
    0.325
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
            self.schema.index(name)
        if source == target:
            raise ValueError(f"source and target are both {source!r}, expected two attributes")
        return self._pair_numbers[source, target]

    def table(
        self, source: str, target: str, *, allowed: Uncertainty | None = None
    ) -> Conditional | Box:
        """The table of one ordered pair, or its box, which the triad was made from.

        With ``allowed`` the box of another uncertainty, where a level of Confidence is shared by more tables.
        """
        self._pair(source, target)
        if not self.tables:
            raise ValueError(
                "this analysis was loaded from a file, which holds triads and no tables: analyze the prior again"
            )
        if self.prior is None or allowed in (None, self.uncertainty):
            return self.tables[source, target]
        key = (source, target, allowed)
        if key not in self._wider:
            self._wider[key] = self.prior.box(*key)
        return self._wider[key]

    @cached_property
    def _wider(self) -> dict[tuple[str, str, Any], Box]:
        """Boxes of another uncertainty, each made once."""
        return {}

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
        return budgets_for_each(epsilon, self.names)

    def totals(
        self,
        epsilon: Budgets,
        sources: Sequence[str] | None = None,
        mechanisms: str | Mapping[str, str] | None = None,
    ) -> Totals:
        """What all releases together give away about each attribute: two estimates, and a certified bound.

        Parameters
        ----------
        epsilon
            One budget for all attributes, or a mapping with one for each.
        sources
            The attributes that are released; all by default. The others are targets all the same.
        mechanisms
            What reports them, one name for all or one for each: leakages and bounds then hold for these alone, and are
            smaller. Where the prior has records, ``joint`` is then the exact total by the joint table of all that is
            released, or ``joint_reason`` says why there is none. The level of Confidence is shared by all tables, so
            that both bounds hold together. By default everything holds for all mechanisms.

        Examples
        --------
        >>> import deptriad as dt
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"a": [0, 0, 1, 1] * 20, "b": [0, 1, 0, 1] * 20, "xor": [0, 1, 1, 0] * 20})
        >>> analysis = dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))
        >>> analysis.totals(1.0)["xor"]
        Total(xor: own=1, paired=1, pairwise=1, certified=1.434, budgets=3.000; 50 % sure becomes 80.8 %)
        """
        budgets = self._released(epsilon, sources)
        if mechanisms is None:
            return Totals((self.total(target, budgets) for target in self.names), self._kind)
        released = [name for name, budget in budgets.items() if budget > 0.0]
        named = mechanisms_of(mechanisms, released)
        known = JointTables(self.prior, self.uncertainty, released, self.names)
        joint = known.totals(budgets, named)
        each = (
            replace(
                self.total(target, budgets, named, known.uncertainty),
                **joint[target].fields(named),
            )
            for target in self.names
        )
        return Totals(each, self._kind)

    def total(
        self,
        target: str,
        budgets: Mapping[str, float],
        mechanisms: str | Mapping[str, str] | None = None,
        allowed: Uncertainty | None = None,
    ) -> Total:
        """What releases at these budgets, and no others, give away about one attribute; ``allowed`` as in ``table``."""
        return target_total(
            self._tables_about(target, budgets, allowed),
            _without(budgets, target),
            budgets.get(target, 0.0),
            target,
            mechanisms=mechanisms,
            laid_out=self._laid_out.setdefault(allowed or self.uncertainty, {}),
        )

    @cached_property
    def _laid_out(self) -> dict[Any, dict[tuple[str, ...], Tables]]:
        """Tables as totals take them, by uncertainty, target and sources: made once, whatever the budgets are."""
        return {}

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
            self.schema.index(name)
        released = self.names if sources is None else sources
        budgets = budgets_for_each(epsilon, self.names, set(self.names) - set(released)).tolist()
        named = zip(self.names, budgets, strict=True)
        return {name: budget for name, budget in named if name in released}

    def _tables_about(
        self, target: str, sources: Iterable[str], allowed: Uncertainty | None = None
    ) -> dict[str, Conditional | Box]:
        return {
            each: self.table(each, target, allowed=allowed) for each in sources if each != target
        }

    def top(self, k: int = 10, epsilon: Budgets = 1.0) -> Any:
        """A frame of the k largest leakages: source, target, leakage."""
        columns = columns_of(self.worst(k, epsilon), ("source", "target", "leakage"))
        return _frame(columns, self._kind)

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
        return uncertainty.in_words(
            self.uncertainty, self.facts.get("values_chosen_from_the_records")
        )

    def _repr_html_(self) -> str:
        rows = [["released", "about", "α", "β", "φ", "δ", "leakage", "odds moved at most"]]
        for leak in self.worst(10, 1.0):
            triad = leak.triad
            numbers = (triad.alpha, triad.beta, triad.phi, triad.delta, leak.leakage)
            rows.append(
                [
                    *(printable(name) for name in (leak.source, leak.target)),
                    *(rounded_up(float(number)) for number in numbers),
                    f"{times(leak.leakage)} times",
                ]
            )
        return html_table.table(rows, self._summary(), names=2)

    def _summary(self) -> list[str]:
        count = f"{len(self.names)} attributes, {len(self.pairs)} ordered pairs"
        return [f"Analysis of {count}; {self.certainty}", "largest leakages at ε = 1:"]

    def __repr__(self) -> str:
        lines = self._summary()
        lines += [
            f"  {printable(leak.source)} → {printable(leak.target)}: {rounded_up(leak.leakage)}"
            for leak in self.worst(3, 1.0)
        ]
        return "\n".join(lines)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a .json or .parquet file: the schema, the uncertainty and the triads; no records, counts or tables."""
        known = None if self.uncertainty is None else uncertainty.as_text(self.uncertainty)
        about = {"uncertainty": known, "facts": self.facts, "schema": self.schema._content()}
        analysis_file.write(path, about, self._columns())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a .json or .parquet file, everything checked."""
        about, columns = analysis_file.read(path)
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


def _frame(columns: dict[str, Any], kind: str) -> Any:
    from deptriad.data import engines

    return engines.made(columns, kind)


def _without(budgets: Mapping[str, float], target: str) -> dict[str, float]:
    return {name: budget for name, budget in budgets.items() if name != target}
