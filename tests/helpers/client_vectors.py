"""What a device must make of records and random words, for all mechanisms: vectors that each client is checked with.

    python tests/helpers/client_vectors.py    writes tests/clients/vectors.json anew

docs/survey.md says what is in the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import deptriad as dt
from deptriad.clients.one_record import told
from deptriad.collection.split import as_strategy
from deptriad.collection.view import View
from deptriad.mechanisms import Mechanism, mechanisms
from deptriad.mechanisms.channel import Tabled

FILE = Path(__file__).parents[1] / "clients" / "vectors.json"
PLENTY = 2000
"""Words that any of these reports takes at most."""

ODD = dt.Schema(
    [
        dt.Attribute('é \u202e\n"\\\x7f</script>𝒳', ["ß", "", "__proto__", "日本", "𝒳\u2028"]),
        dt.Attribute("__proto__", [True, False], missing="error"),
        dt.Attribute("floats", [0.1, 0.30000000000000004, 0.3, 1e-5, 1.5e-300, -2.5e-7, 4, 1 / 3]),
        dt.Attribute("ties", [1234567890.125, 1234567890.375, -123456789012.5, 99999999999.95]),
        dt.Attribute("bins", edges=[float("-inf"), -1e-7, 0.5, 1e13, 2e22], unseen="other"),
        dt.Attribute("ages", edges=[0, 18, 65, float("inf")], missing="other", unseen="other"),
        dt.Attribute("close", edges=[1.0, 1.0 + 2**-52, 2.0, 3.5, 123456789012345680.0]),
    ]
)
"""Names and values that are hard to spell alike in two languages."""


def plan_of(schema: dt.Schema, *views: View) -> dt.Plan:
    """A plan of views, whose promises are what they may be."""
    total = dict.fromkeys(schema.names, 99.0)
    totals = {name: {"joint": 99.0} for name in schema.names}
    return dt.Plan(schema, views, total, "joint", "utility", totals)


def plain(*sizes: int) -> dt.Schema:
    """Attributes of so many values, which are numbers."""
    names = [f"a{place}" for place in range(len(sizes))]
    pairs = zip(names, sizes, strict=True)
    return dt.Schema(
        [dt.Attribute(name, list(range(size)), missing="error") for name, size in pairs]
    )


def separate(schema: dt.Schema, ways: dict[str, str], budget: float, share: float = 1.0) -> View:
    """A view whose attributes are reported by themselves."""
    return View(tuple(ways), dict.fromkeys(ways, budget), ways, share=share)


def asking_all(schema: dt.Schema, ways: dict[str, str]) -> dt.Plan:
    """A plan of version 1: everybody is asked everything, with budgets that grow."""
    budgets = {name: 0.7 + 0.2 * place for place, name in enumerate(schema.names)}
    every = math.fsum(budgets.values())
    sums = dict.fromkeys(("paired", "pairwise", "certified", "budgets"), every)
    totals = {name: {"own": budgets[name]} | sums for name in schema.names}
    total = dict.fromkeys(schema.names, every)
    return dt.Plan.asking_all(schema, budgets, ways, total, "certified", "even", totals)


def plans() -> dict[str, dt.Plan]:
    """Plans by what they are about."""
    found = {}
    three = plain(2, 5, 70)
    for way in mechanisms:
        asked = dict.fromkeys(three.names, way)
        for budget in (0.3, 1.0, 4.5):
            found[f"{way}, {budget:g} each"] = plan_of(three, separate(three, asked, budget))
        joint = [View.of_one_value(("a1", "a0"), budget, way, 0.25) for budget in (0.5, 2.0)]
        found[f"{way}, as one value, in views"] = plan_of(
            three, *joint, separate(three, {"a2": way}, 1.5, 0.5)
        )
    every = plain(*range(2, 2 + len(mechanisms)))
    ways = dict(zip(every.names, mechanisms, strict=True))
    found["all mechanisms, in a file of version 1"] = asking_all(every, ways)
    wide = plain(300, 300, 3, 300, 40, 20, 7)
    ways = dict(
        zip(wide.names, ("grr", "grr", "grr", "olh", "subset", "staircase", "oue"), strict=True)
    )
    budgets = dict(zip(wide.names, (1e-6, 20.0, 64.5, 9.0, 60.0, 44.0, 1e-3), strict=True))
    found["budgets beyond 32 bits"] = plan_of(wide, View(wide.names, budgets, ways))
    found["uneven shares"] = plan_of(
        three, *(separate(three, {"a1": "grr"}, 1.0, share) for share in (0.07, 0.13, 0.21, 0.59))
    )
    found["names and values that are hard to spell"] = plan_of(
        ODD,
        *(
            separate(ODD, dict.fromkeys(names, "grr"), 1.0, share)
            for names, share in ((ODD.names[:4], 1 / 3), (ODD.names[4:], 2 / 3))
        ),
    )
    return found


def splitmix(seed: int, count: int) -> list[int]:
    """The words that follow from a seed, by SplitMix64: simple in any language, and no source of chance for reports."""
    found, mask = [], 2**64 - 1
    for step in range(1, count + 1):
        word = (seed + step * 0x9E3779B97F4A7C15) & mask
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & mask
        word = (word ^ word >> 27) * 0x94D049BB133111EB & mask
        found.append(word ^ word >> 31)
    return found


def turns(mechanism: Mechanism) -> Iterator[int]:
    """Words below which a report turns out otherwise than from there on."""
    if isinstance(mechanism, Tabled):  # which looks at 63 bits
        rows = mechanism._counts[[0, -1]].astype(object)
        yield from (2 * below for row in rows for below in np.cumsum(row)[:3])
        return
    p, q = mechanism.probabilities
    for chance in (p, q, 1 - p + q):
        yield int(chance * 2**64)
        yield int(chance * 2**32)  # GRR takes the lower half of a word where that is enough


def edges(plan: dt.Plan) -> Iterator[list[int]]:
    """Words at which something may turn, and those before them, as often as there are questions and a view."""
    strategy = as_strategy(plan)
    found = {0, 2**32, 2**63, 2**64}
    found.update(int(part) << 32 for part in np.cumsum(np.array(strategy.parts, dtype=object)))
    for question in strategy.questions:
        found.update(turns(question.mechanism))
    for word in sorted({each % 2**64 for end in found for each in (end, end - 1)}):
        yield [word] * (1 + len(strategy.questions))


def cases(plan: dt.Plan, chance: np.random.Generator, count: int) -> Iterator[dict[str, Any]]:
    """Records and words, and what is to be reported; zeros first, which draws of sets reject."""
    firsts = [*edges(plan), *([0] * zeros for zeros in (1, 2, 6)), *([] for _ in range(count))]
    for first in firsts:
        codes = {each.name: int(chance.integers(each.size)) for each in plan.schema}
        seed = int(chance.integers(1 << 32))
        found = told(plan, codes, first + splitmix(seed, PLENTY))
        yield {
            "record": {each.name: each.values[codes[each.name]] for each in plan.schema},
            "words": [f"{word:016x}" for word in first],
            "seed": seed,
            "view": found.view,
            "answers": found.answers,
            "used": found.used,
        }


def content(count: int = 2, seed: int = 1, about: Collection[str] | None = None) -> dict[str, Any]:
    """The whole file, or some of its plans."""
    chance, every = np.random.default_rng(seed), plans()
    return {
        "format": "deptriad vectors",
        "version": 1,
        "plans": [
            {
                "about": name,
                "fingerprint": as_strategy(plan).fingerprint,
                "values": {each.name: list(each.values) for each in plan.schema},
                "plan": json.loads(plan.to_json()),
                "cases": list(cases(plan, chance, count)),
            }
            for name, plan in every.items()
            if about is None or name in about
        ],
    }


def text() -> str:
    """The file: a line for each case."""
    found = content()
    lines = [f'{{"format": "{found["format"]}", "version": {found["version"]}, "plans": [']
    for place, each in enumerate(found["plans"]):
        head = json.dumps({key: each[key] for key in each if key != "cases"})
        own = ",\n".join(f"  {json.dumps(case)}" for case in each["cases"])
        lines.append(
            f' {head[:-1]}, "cases": [\n{own}\n ]}}{"," * (place + 1 < len(found["plans"]))}'
        )
    return "\n".join([*lines, "]}", ""])


if __name__ == "__main__":
    FILE.write_text(text(), encoding="ascii")
