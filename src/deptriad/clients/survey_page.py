"""The survey page: one self-contained file made from a plan, in a language, for an endpoint or for files to hand in."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from deptriad.clients.script import PathLike, asset, script
from deptriad.collection.split import as_strategy
from deptriad.mechanisms.bits import BitReports
from deptriad.planning.plan import Plan
from deptriad.utils.errors import refuse_other
from deptriad.utils.inlined import filled, inert, policy
from deptriad.utils.text import closest, surety

LANGUAGES = ("en", "de")
"""Of the page's own words."""

TAG = re.compile("[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
"""What a language is called in HTML."""

PLAIN = re.compile(
    r"/(?!/)[\w./~%+-]*|(https?)://([\w.-]+|\[[\da-f:]+\])(:\d+)?(/[\w./~%+-]*)?", re.ASCII
)
"""Endpoints that can stand in a policy as they are."""

NEAR = ("localhost", "127.0.0.1", "[::1]")


def page(
    plan: Plan,
    text: str,
    endpoint: str | None = None,
    language: str = "en",
    words: Mapping[str, Any] | None = None,
    signed: tuple[PathLike, str] | None = None,
) -> str:
    """The page.

    Parameters
    ----------
    plan, text
        The plan, and the text of its file.
    endpoint
        Where the page sends reports: a path such as "/reports", or a URL; without one it saves files to hand in.
    language, words
        The page's own words, and what to say otherwise: see ``in_words``.
    signed
        The place of a public key, and the text of the plan's signature by it.

    Raises
    ------
    ValueError
        If the endpoint cannot be one, or words are of another kind.
    """
    key, signature = signed or (None, None)
    said = in_words(plan, language, words)
    content = {
        "plan": text,
        "signature": signature,
        "endpoint": endpoint,
        "words": said,
        "sure": sure(plan),
        "views": _shown(plan),
    }
    own = script(key).replace("export async function open", "async function open")
    code = f"{own}\n{asset('survey_page.js')}"
    style = asset("survey.css")
    parts = {
        "policy": policy(code, style, connect_src=_place(endpoint)),
        "language": html.escape(language),
        "title": html.escape(said["title"]),
        "noscript": html.escape(said["noscript"]),
        "style": style,
        "data": inert(content),
        "script": code,
    }
    return filled(asset("survey.html"), parts)


def in_words(plan: Plan, language: str, words: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The page's own words in a language, some of them replaced.

    Parameters
    ----------
    plan
        Its attributes may have questions and values in words of their own.
    language
        "en" or "de"; any other one where ``words`` has all words.
    words
        Texts by the keys of words.json; ``questions`` by attribute, ``values`` by attribute and label.
    """
    every = json.loads(asset("words.json"))
    given = dict(words or {})
    known = every.get(language, {"questions": {}, "values": {}})
    if unknown := [key for key in given if key not in every["en"]]:
        raise ValueError(f"the words have {unknown[0]!r}: {closest(unknown[0], list(every['en']))}")
    if lacking := [key for key in every["en"] if key not in known | given]:
        refuse_other(language, LANGUAGES, f"without words for {lacking[0]!r}, the language")
    if not TAG.fullmatch(language):
        raise ValueError(f"the language is {language!r}, expected a tag such as en, fr or pt-BR")
    for key in given:
        same = type(every["en"][key])
        if not isinstance(given[key], same):
            expected = "text" if same is str else "texts by attribute"
            raise ValueError(f"the words have {key} {given[key]!r}, expected {expected}")
    _refuse_unknown(plan, given)
    return {**known, **given}


def _refuse_unknown(plan: Plan, given: Mapping[str, Any]) -> None:
    """Questions and values of attributes that the plan does not have, or that are no text."""
    for name in {**given.get("questions", {}), **given.get("values", {})}:
        plan.schema.index(name)
    for name, texts in given.get("values", {}).items():
        known = plan.schema[name].values
        if not isinstance(texts, dict):
            raise ValueError(
                f"the words have values of {name!r} {texts!r}, expected texts by label"
            )
        for label in texts:
            refuse_other(label, known, f"a value of {name!r} that is put into words")
    every = [given.get("questions", {}), *given.get("values", {}).values()]
    for text in [text for texts in every for text in texts.values()]:
        if not isinstance(text, str):
            raise ValueError(f"the words have {text!r} for a question or a value, expected text")


def sure(plan: Plan) -> dict[str, Any]:
    """How sure somebody at 50 % can be of each answer at most, in per cent, rounded up: by the plan, and in any case.

    One row without a name stands for all, where they are alike.
    """
    plain = max(view.epsilon for view in plan.views)
    totals = {name: min(float(plan.totals[name][plan.guarantee]), plain) for name in plan.names}
    basis = None
    if min(totals.values()) < plain:
        basis = "tables" if plan.guarantee in ("joint", "certified") else "estimate"
    ranked: Sequence[str] = sorted(totals, key=lambda name: -totals[name])
    each = [[name, _percent(totals[name])] for name in ranked]
    alike = len({number for _, number in each}) == 1
    return {
        "each": [[None, each[0][1]]] if alike else each,
        "plain": _percent(plain),
        "basis": basis,
    }


def _percent(nats: float) -> float:
    return float(surety(nats).removesuffix(" %"))


def _shown(plan: Plan) -> list[list[dict[str, Any]]]:
    """The questions of each view: whose they are, and what a report of them looks like."""
    strategy = as_strategy(plan)

    def kind(place: int) -> str:
        question = strategy.questions[place]
        if question.labelled:
            return "label"
        single = len(question.names) == 1
        return "set" if single and isinstance(question.mechanism, BitReports) else "code"

    return [
        [{"names": list(strategy.questions[each].names), "kind": kind(each)} for each in places]
        for places in strategy.places
    ]


def _place(endpoint: str | None) -> str:
    """How a policy allows the endpoint and nothing else."""
    if endpoint is None:
        return "'none'"
    found = PLAIN.fullmatch(endpoint)
    if not found:
        raise ValueError(
            f"the endpoint is {endpoint!r}, expected a path such as /reports, or a URL such as "
            "https://survey.example/reports"
        )
    if found[1] == "http" and found[2] not in NEAR:
        raise ValueError(
            f"the endpoint is {endpoint!r}, expected https: reports are nobody's but the collector's"
        )
    return endpoint if found[1] else "'self'"
