"""Strategy: who is asked what, how that is reported and read again, and what can be estimated from it.

A person is asked one view: some attributes, each by itself or all as one value. The questions of all views are one
list, and each knows its view. A report is one row a person: the number of the view, and a column for each attribute.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptriad.collection import report_format
from deptriad.collection.learnt_prior import PairSums, ReportsPrior, added, pair_terms, view_sums
from deptriad.collection.plausibility import doubt
from deptriad.collection.question import Generator, Question, question_by
from deptriad.collection.report_format import Column, Piece
from deptriad.collection.report_mark import Allowed, Origin, origin
from deptriad.collection.score_sums import Signs, Sums, Tally, TermSums
from deptriad.collection.simulated_reports import Simulation
from deptriad.collection.view import View, drawn, parts_of
from deptriad.collection.weighted_means import Shares, Summed, ViewSums, shares_of
from deptriad.data.schema import Schema
from deptriad.mechanisms.entries import smallest_type
from deptriad.utils.errors import InvalidValue, Parameter
from deptriad.utils.rounding import sum_up


class Answers(NamedTuple):
    """Of each record its view, and for each question the reports of those who were asked it, in their order."""

    views: NDArray[np.intp]
    reports: list[NDArray[Any]]

    def rows(self, question: Question) -> NDArray[np.intp]:
        """The records that were asked a question."""
        return np.flatnonzero(self.views == question.view)


@dataclass(frozen=True)
class Strategy(ABC):
    """What people are asked. ``questions`` are those of all views, view after view."""

    schema: Schema

    @property
    @abstractmethod
    def questions(self) -> tuple[Question, ...]:
        """All questions."""

    @property
    def parts(self) -> tuple[int, ...]:
        """How many of 2^32 people are asked each view; one view by default."""
        return parts_of([1.0])

    def precision(self, view: int, names: Sequence[str]) -> float:
        """How much a person of a view, which has these attributes, tells about their marginal; 1 if all are alike."""
        return 1.0

    @cached_property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """Of each view the places of its questions."""
        every = list(enumerate(self.questions))
        return tuple(
            tuple(place for place, question in every if question.view == view)
            for view in range(len(self.parts))
        )

    @property
    def epsilon(self) -> float:
        """What all reports of a person together may tell about the whole record: the most of all views."""
        return max(
            sum_up(self.questions[place].mechanism.epsilon for place in view)
            for view in self.places
        )

    @cached_property
    def released(self) -> Schema:
        """The attributes that some question asks for."""
        asked = {name for question in self.questions for name in question.names}
        return self.schema.only(*(name for name in self.schema.names if name in asked))

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """A name for each question that no other has: of those alike, with the number of the view."""
        names = [question.name for question in self.questions]
        return tuple(
            each.name if names.count(each.name) == 1 else f"{each.name} of view {each.view + 1}"
            for each in self.questions
        )

    @property
    def view_column(self) -> str:
        """What the column with the number of the view is called; no attribute is."""
        name = "view"
        while name in self.schema.names:
            name += "_"
        return name

    @cached_property
    def fingerprint(self) -> str:
        """The same for two strategies exactly when reports of one are reports of the other."""
        several = len(self.parts) > 1
        told = [
            self._kind,
            [[each.name, list(each.values)] for each in self.schema],
            [
                [list(each.names), each.mechanism.law, each.mechanism.epsilon.hex()]
                + ([each.view] if several else [])
                for each in self.questions
            ],
        ]
        return sha256(json.dumps(told).encode("ascii")).hexdigest()

    @property
    def _kind(self) -> str:
        """How a report comes about from what was asked; the word is that of old plans."""
        return "Separate"

    # --- reporting ---

    def tell(self, codes: NDArray[Any], rng: Generator = None) -> Answers:
        """Reports of records given as codes, a column for each attribute of the schema.

        Random words are used in this order: one a record for its view, if there are several; then, question by
        question, those of the mechanism for all records that are asked it.
        """
        answers = Answers(drawn(len(codes), self.parts, rng), [])
        for question in self.questions:
            values = self.values(question, codes[answers.rows(question)])
            answers.reports.append(question.mechanism.perturb(values, rng))
        return answers

    def values(self, question: Question, codes: NDArray[Any]) -> NDArray[np.int64]:
        """The true answers of records to a question, joint ones as one number."""
        return question.values({name: codes[:, self.schema.index(name)] for name in question.names})

    def report(self, codes: NDArray[Any], rng: Generator = None) -> dict[str, Column]:
        """The same as columns to write: the view, counted from 1, and each attribute, empty where it is not asked."""
        answers = self.tell(codes, rng)
        pieces: dict[str, list[Piece]] = {name: [] for name in self.released.names}
        for question, reports in zip(self.questions, answers.reports, strict=True):
            for name, column in question.written(reports).items():
                pieces[name].append(Piece(answers.rows(question), column))
        views = (answers.views + 1).astype(smallest_type(len(self.parts) + 1))
        alone = len(self.parts) == 1
        return {self.view_column: views} | {
            each.name: report_format.laid(pieces[each.name], len(codes), each.values, alone)
            for each in self.released
        }

    def is_text(self, name: str) -> bool:
        """Whether the column of an attribute has reports that are no labels."""
        return any(name in each.columns and not each.labelled for each in self.questions)

    # --- estimating ---

    def asking(self, names: Sequence[str]) -> list[int]:
        """The views that ask for all these attributes."""
        every = [
            {name for place in own for name in self.questions[place].names} for own in self.places
        ]
        return [view for view, own in enumerate(every) if own.issuperset(names)]

    def needed(self, names: Sequence[str], power: int = 0) -> list[Tally | TermSums]:
        """The sums, still empty, that an estimate of some attributes needs: those of each view that asks for them.

        ``power`` is that of the survey weight with which people enter.
        """
        return [self._sums(view, names, power) for view in self.asking(names)]

    def _sums(self, view: int, names: Sequence[str], power: int) -> Tally | TermSums:
        places = self._answering(view, names)
        own = self.questions[places[0]]
        if len(own.names) > len(names):  # a part of one value
            return TermSums.of(places[0], own, names, lambda scores: [scores, scores**2], 1, power)
        mechanisms = tuple(self.questions[place].mechanism for place in places)
        return Tally(places, mechanisms, power=power)

    def _answering(self, view: int, names: Sequence[str]) -> tuple[int, ...]:
        """The questions of a view about these attributes, in their order."""
        own = {name: place for place in self.places[view] for name in self.questions[place].names}
        return tuple(dict.fromkeys(own[name] for name in names))

    def shares(self, sums: Sequence[Sequence[Tally | TermSums]], names: Sequence[str]) -> Shares:
        """Estimates, an axis for each attribute, from those sums: of weights to the powers 0, 1 and 2, or plain."""
        worth = [self.precision(view, names) for view in self.asking(names)]
        every = [[self._summed(each, names) for each in power] for power in sums]
        every = every * 3 if len(every) == 1 else every
        return shares_of([ViewSums(*each) for each in zip(worth, *every, strict=True)])

    def _summed(self, sums: Tally | TermSums, names: Sequence[str]) -> Summed:
        """The sums of one view as tables with an axis for each attribute."""
        if isinstance(sums, TermSums):
            return Summed(sums.n, sums.among, *sums.found())
        one, two = (sums.sums([power] * len(sums.places)) for power in (1, 2))
        question = self.questions[sums.places[0]]
        if len(question.names) > 1:
            order = [question.names.index(name) for name in names]
            one, two = (each.reshape(question.sizes).transpose(order) for each in (one, two))
        return Summed(sums.n, sums.among, one, two)

    def add_all(
        self, reports: Any, sums: Sequence[Sums], allowed: Allowed, weight: str | None = None
    ) -> str:
        """Add reports (a frame, a file, the URL of a store, or a ``Simulation``) of this very strategy to sums.

        Returns
        -------
        str
            What was not checked about them, and what should be known.

        Raises
        ------
        ValueError
            If they are not, or cannot be, of this strategy; or if something about them is not allowed.
        """
        from deptriad.collection import report_batches

        if isinstance(reports, Simulation):
            reports.require(self, weight)
            reports.fill(sums)
            return ""
        found = origin(reports, self, allowed)
        places = sorted({place for each in sums for place in each.places})
        own = [(place, self.questions[place].mechanism) for place in places]
        signs = [Signs((place,), (each,)) for place, each in own if len(each.sign_chances())]
        trusted = found.marked and not found.sent
        report_batches.add_all(reports, self, [*sums, *([] if trusted else signs)], weight)
        why = "" if trusted else doubt([*sums, *signs], self.questions)
        if why and not allowed.implausible:
            raise InvalidValue(
                f"{why}: are they records that were never perturbed, or reports of another plan? If some who report "
                "do as they like, set ",
                Parameter("implausible", "True"),
            )
        records = any(self.questions[place].mechanism.names_values for place in places)
        return _said(found, why, records)

    def prior(self, reports: Any, min_records: int = 20, **allowed: bool) -> ReportsPrior:
        """A prior learnt from reports that were collected so, for all attributes that are asked.

        Parameters
        ----------
        reports
            A frame or a file of reports, or a ``Simulation``.
        min_records
            Values with fewer people than that, by the estimate, are listed as thin.
        **allowed
            ``unmarked``, ``seeded`` and ``implausible``, as for ``estimate``.

        Raises
        ------
        ValueError
            If two attributes are never truly reported together (k = 1, or with fakes): then nothing can be learnt about
            how they depend on each other.

        Examples
        --------
        >>> import numpy as np
        >>> import deptriad as dt
        >>> schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in ("a", "b")])
        >>> split = dt.Split(schema, total=4.0)
        >>> reports = dt.simulate([[40_000, 10_000], [5_000, 45_000]], split, np.random.default_rng(1))
        >>> prior = split.prior(reports)
        >>> prior.table("b", "a").table.round(2).tolist()
        [[0.8, 0.2], [0.1, 0.9]]
        >>> box = prior.box("b", "a", dt.Confidence(0.95))
        >>> box.lower.round(2).tolist(), box.upper.round(2).tolist()
        ([[0.79, 0.19], [0.09, 0.89]], [[0.81, 0.21], [0.11, 0.91]])
        """
        names = self.released.names
        if len(names) < 2:
            raise ValueError(f"the reports have one attribute, {names[0]!r}, expected two or more")
        every = {pair: self._pair(pair) for pair in permutations(names, 2)}
        turned = {  # what a tally of two questions says about them the other way round is known from it
            id(back): (back, each)
            for one, two in combinations(names, 2)
            for each, back in zip(every[one, two], every[two, one], strict=True)
            if isinstance(each, Tally)
        }
        read = [each for sums in every.values() for each in sums if id(each) not in turned]
        self.add_all(reports, read, Allowed(**allowed))
        for back, each in turned.values():
            back.absorb(each.only((1, 0)).arrays())
        pairs = {pair: self._learnt(pair, sums) for pair, sums in every.items()}
        return ReportsPrior.of(self.released, pairs, min_records)

    def _pair(self, pair: tuple[str, str]) -> list[Tally | TermSums]:
        """The sums, still empty, that a table of two attributes is learnt from."""
        views = self.asking(pair)
        if not views:
            raise ValueError(
                f"{' & '.join(pair)} are never truly reported by one person, so that nothing can be learnt about how "
                "they depend on each other: collect with Split, a plan that asks them together, or Sample(…, k=2)"
            )
        places = [self._answering(view, pair) for view in views]
        return [
            pair_terms(own[0], self.questions[own[0]], pair)
            if len(own) == 1
            else self._sums(view, pair, 0)
            for view, own in zip(views, places, strict=True)
        ]

    def _learnt(self, pair: tuple[str, str], sums: Sequence[Tally | TermSums]) -> PairSums:
        worth = [self.precision(view, pair) for view in self.asking(pair)]
        return added([view_sums(each) for each in sums], worth, pair)

    def asked(self, names: str | Sequence[str]) -> tuple[str, ...]:
        """Names of attributes to estimate, checked."""
        wanted = (names,) if isinstance(names, str) else tuple(names)
        if not wanted:
            raise ValueError("attributes is empty, expected the name of at least one")
        for name in wanted:
            if self.schema[name].name not in self.released:
                raise ValueError(
                    f"there are no reports of {name!r}, since its budget is 0: estimate others, or give it a budget"
                )
        if len(set(wanted)) < len(wanted):
            raise ValueError(f"attributes is {list(wanted)}, expected each name once")
        if not self.asking(wanted):
            raise ValueError(self._apart(wanted))
        return wanted

    def _apart(self, names: Sequence[str]) -> str:
        return (
            f"{' & '.join(names)} were never asked together: no view has all of them; estimate fewer attributes, or "
            "collect with views that do, as by Sample(…, k)"
        )


@dataclass(frozen=True)
class Views(Strategy):
    """A strategy that is nothing but views with shares: ``views`` are to be given."""

    @property
    @abstractmethod
    def views(self) -> tuple[View, ...]:
        """Who is asked what."""

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """Of each view one for each attribute, or one for all of them."""
        return tuple(each for view in range(len(self.views)) for each in self._asked(view))

    def _asked(self, number: int) -> Iterator[Question]:
        view = self.views[number]
        every = [view.attributes] if view.joint else [(name,) for name in view.attributes]
        for names in every:
            how = view.mechanisms[names[0]], float(view.budgets[names[0]])
            yield question_by(*how, *(self.schema[name] for name in names), view=number)

    @cached_property
    def parts(self) -> tuple[int, ...]:
        """By the shares of the views."""
        return parts_of([view.share for view in self.views])

    def precision(self, view: int, names: Sequence[str]) -> float:
        """1/m of the marginal (maths §11)."""
        return self.views[view].precision(names, self.schema)


def _said(found: Origin, why: str, records: bool) -> str:
    """What was not checked about reports, and what should be known; nothing where they carry a mark and no seed."""
    said = []
    if why:
        said.append(f"{why}; they were taken all the same")
    elif not found.marked:
        or_records = ", nor whether they were perturbed at all" if records else ""
        said.append(
            f"the reports carry no mark: not checked is whether they are of this plan{or_records}"
        )
    elif found.sent:
        said.append("people sent these reports: not checked is whether each was perturbed")
    if found.seeded:
        said.append("the reports were drawn with a seed: who knows it can undo the noise")
    return "; ".join(said)
