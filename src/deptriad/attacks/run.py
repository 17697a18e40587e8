"""attack() and attack_all(): perturb records as a collection would, let an attacker guess, score it and audit it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deptriad.utils.arrays import as_share
from deptriad.utils.errors import InvalidValue, Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deptriad.analysis.analysis import Analysis
    from deptriad.attacks.attacker import Attacker
    from deptriad.attacks.result import AttackResult, AttackResults
    from deptriad.collection.strategy import Strategy
    from deptriad.utils.progress import Progress

ATTACKERS = ("bayes", "boosting", "tabtransformer")
"""Attackers that have a name."""


def attack(
    records: Any,
    strategy: Any,
    target: str,
    attacker: str | Attacker = "bayes",
    own: bool | None = None,
    train: float = 0.5,
    analysis: Analysis | None = None,
    ceiling: bool = True,
    level: float = 0.95,
    sample: int | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> AttackResult:
    """Guess one attribute of people from their reports, and see how well that goes.

    The records are split at random; all report as they would in a collection. From the reports and true values of the
    one part the attacker learns to guess the target; it is scored on the reports of the other part.

    Parameters
    ----------
    records
        A local frame, or the path of a .csv or .parquet file, with the target and all attributes that are collected.
    strategy
        A plan, or any strategy.
    target
        The attribute to guess; it need not be collected itself.
    attacker
        "bayes", which knows the mechanisms and how the training records are distributed; "boosting" (scikit-learn) or
        "tabtransformer" (PyTorch), which learn from reports; or any object with the methods of
        ``deptriad.attacks.attacker.Attacker``.
    own
        Whether the attacker also sees what reports the target itself. Without it, answers to questions about the target
        are hidden, those to questions about several attributes as one value, too. By default only where all questions
        are about the target and others as one value, so that nothing else would be left to see.
    train
        Share of the records to learn from.
    analysis
        Whose tables say what is allowed; by default the tables of all these records.
    ceiling
        Whether to train and score the attacker on data without noise, too.
    level
        Of the intervals.
    sample
        Use a random part of so many records.
    rng
        ``numpy.random.default_rng(seed)`` for results that can be repeated.
    progress
        Called with the steps done and their number.

    Returns
    -------
    AttackResult
        Scores of the attacker beside guesses without reports and without noise, and the audit.

    Raises
    ------
    ValueError
        An attribute or attacker of no such name, or too few records to learn from and to guess.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import deptriad as dt
    >>> rng = np.random.default_rng(1)
    >>> smokes = rng.random(4000) < 0.4
    >>> coughs = np.where(rng.random(4000) < 0.2, ~smokes, smokes)
    >>> frame = pd.DataFrame({"smokes": smokes, "coughs": coughs})
    >>> schema = dt.Schema([dt.Attribute(name, [False, True], missing="error") for name in frame])
    >>> dt.attack(frame, dt.Split(schema, total=4.0), "smokes", rng=rng)
    Attack on smokes by bayes, from the other reports: 2,000 records to learn from, 2,000 others to guess
                              macro-F1              accuracy
    attack        0.732 [0.712, 0.749]  0.737 [0.717, 0.754]
    balanced      0.732 [0.712, 0.751]  0.737 [0.718, 0.756]
    majority      0.370 [0.361, 0.379]  0.588 [0.566, 0.610]
    proportional  0.500 [0.499, 0.500]  0.518 [0.513, 0.522]
    ceiling       0.799 [0.781, 0.817]  0.804 [0.786, 0.822]
    allowed: odds may rise 2.780 times (1.023 nats): the certified total of what is seen, by these records' own tables
    audit: holds, 0.860 nats are proven to be attained
    In words: of 100 people the attacker is right about smokes for 74 (the commonest answer: 59).
    """
    how = (attacker, own, train, analysis, ceiling, level, sample, rng, progress)
    return attack_all(records, strategy, [target], *how)[target]


def attack_all(
    records: Any,
    strategy: Any,
    targets: Sequence[str] | None = None,
    attacker: str | Attacker = "bayes",
    own: bool | None = None,
    train: float = 0.5,
    analysis: Analysis | None = None,
    ceiling: bool = True,
    level: float = 0.95,
    sample: int | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> AttackResults:
    """``attack`` each of many targets, from one split and one collection of reports.

    Parameters
    ----------
    targets
        Their names; by default all attributes of the strategy's schema about which the attacker sees any report.
    records, strategy, attacker, own, train, analysis, ceiling, level, sample, rng, progress
        As for ``attack``.

    Returns
    -------
    AttackResults
        A result for each target, by name.

    Examples
    --------
    >>> import numpy as np
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["f", "m"] * 50, "drives": ["no", "yes"] * 50})
    >>> strategy = dt.Split(dt.Schema.infer(frame), 4.0)
    >>> found = dt.attack_all(frame, strategy, rng=np.random.default_rng(1))
    >>> list(found), found.holds
    (['sex', 'drives'], True)
    """
    from deptriad.attacks.field import Field
    from deptriad.attacks.result import AttackResults
    from deptriad.attacks.target import STEPS, Target
    from deptriad.collection.split import as_strategy
    from deptriad.data.engines import engine_of

    asked = as_strategy(strategy)
    _check(attacker, train, level, rng)
    aims = _targets(asked, targets, own)
    codes = _coded(records, asked, aims)
    field = Field.of(asked, codes, train, sample, rng)
    steps = STEPS * (1 + ceiling)
    kind = engine_of(records).results
    results = []
    for place, name in enumerate(aims):

        def show(done: int, start: int = place * steps) -> None:
            if progress:
                progress(start + done, steps * len(aims))

        shown = _as_one_value(asked, name) if own is None else own
        each = Target(field, name, shown, attacker, analysis, ceiling, level, len(aims))
        results.append(each.result(show, kind))
    if progress:
        progress(steps * len(aims), steps * len(aims))
    return AttackResults(results, kind)


# --- checks -------------------------------------------------------------------------------------------------------


def _check(attacker: Any, train: Any, level: Any, rng: Any) -> None:
    from deptriad.mechanisms.chance import word_source

    word_source(rng)  # refuses what is no generator
    known = isinstance(attacker, str) and attacker in ATTACKERS
    other = hasattr(attacker, "fit") and hasattr(attacker, "name")
    if not known and (isinstance(attacker, type) or not other):
        raise ValueError(
            f"attacker is {attacker!r}, expected one of {', '.join(ATTACKERS)}, or an object with a name and fit()"
        )
    as_share(train, "train", 0.5)
    as_share(level, "level", 0.95)


def _targets(asked: Strategy, targets: Sequence[str] | None, own: bool | None) -> list[str]:
    if isinstance(targets, str):
        raise ValueError(f"targets is {targets!r}, expected a list of names: [{targets!r}]")
    aims = list(dict.fromkeys(asked.schema.names if targets is None else targets))
    if not aims:
        raise ValueError("targets is empty, expected the name of at least one attribute")
    hidden = [
        name
        for name in aims
        if not own and _all_about(asked, name) and not (own is None and _as_one_value(asked, name))
    ]
    if hidden and (targets is not None or len(hidden) == len(aims)):
        raise InvalidValue(
            f"every question is about {hidden[0]!r} itself, so that nothing is left to see: attack it with ",
            *(Parameter("own", "True"), ", or collect others"),
        )
    return [name for name in aims if name not in hidden]


def _all_about(asked: Strategy, name: str) -> bool:
    """Whether no question is about others only; a name that there is not is refused."""
    target = asked.schema[name].name
    return all(target in question.names for question in asked.questions)


def _as_one_value(asked: Strategy, name: str) -> bool:
    """Whether all questions are about an attribute, and some about others with it: there is one report of all."""
    several = any(len(question.names) > 1 for question in asked.questions)
    return several and _all_about(asked, name)


def _coded(records: Any, asked: Strategy, aims: Sequence[str]) -> NDArray[Any]:
    """Codes of all records; of attributes that are neither collected nor attacked they stay 0."""
    from deptriad.collection.perturb import _widened
    from deptriad.data.encoding import encoded

    wanted = {*asked.released.names, *aims}
    used = asked.schema.only(*(name for name in asked.schema.names if name in wanted))
    return _widened(encoded(records, used, of_plan=True), used, asked.schema)
