"""Random tables, boxes and totals against rational arithmetic: is any bound below the truth, by whatever little?

    make fuzz                                              # 2,000 tables and boxes, 200 totals, a new seed
    make fuzz FUZZ="--cases 100000 --totals 10000 --seed 7"

Entries go from 1e-300 to 1, budgets from 1e-12 to 700. The first counter-example is printed as code, and each case has
a seed of its own: ``--seed S --only tables:K`` makes case K again.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "helpers"))

import deptriad as dt
import joint_oracle
import oracle

Wrong = tuple[str, float, object]
"""Code that gives a number which is below the truth, that number, and the truth."""


# --- drawing ----------------------------------------------------------------------------------------


def row_of(rng: random.Random, size: int) -> list[Fraction]:
    """Ties and zeros, ordinary numbers, entries of all sizes down to 1e-299, or one value alone."""
    kind = rng.choice(["ties", "ordinary", "all sizes", "one"])
    if kind == "ties":
        weights = [Fraction(rng.randrange(6)) for _ in range(size)]
    elif kind == "ordinary":
        weights = [Fraction(rng.randrange(1, 10**6)) for _ in range(size)]
    elif kind == "all sizes":
        weights = [Fraction(rng.randrange(10), 10 ** rng.randrange(300)) for _ in range(size)]
        weights[rng.randrange(size)] += 1
    else:
        weights = [Fraction(0)] * size
    if not any(weights):
        weights[rng.randrange(size)] = Fraction(1)
    total = sum(weights)
    return [weight / total for weight in weights]


def table_of(rng: random.Random) -> list[list[Fraction]]:
    """Rows of which some are nearly equal; without entries below 1e-299, about where a table refuses them."""
    while True:
        rows, columns = rng.randint(2, 4), rng.randint(2, 5)
        table = [row_of(rng, columns) for _ in range(rows)]
        if rng.randrange(3) == 0:
            part = Fraction(rng.randrange(1, 10), 10 ** rng.randrange(1, 15))
            pairs = zip(table[0], table[1], strict=True)
            table[1] = [(1 - part) * one + part * other for one, other in pairs]
        if not any(0 < entry < Fraction(1, 10**299) for row in table for entry in row):
            return table


def edges_of(rng: random.Random, row: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    """Around a row: relative, absolute, zeros below, or none."""
    kind = rng.choice(["relative", "absolute", "zeros below", "known"])
    part = Fraction(rng.choice([0, 1, 5, 30, 100]), 100)
    if kind == "relative":
        around = [part * entry for entry in row]
    elif kind == "absolute":
        around = [part / 4] * len(row)
    elif kind == "zeros below":
        around = [entry * rng.randrange(2) for entry in row]
    else:
        around = [Fraction(0)] * len(row)
    lower = [max(Fraction(0), entry - width) for entry, width in zip(row, around, strict=True)]
    upper = [min(Fraction(1), entry + width) for entry, width in zip(row, around, strict=True)]
    return lower, upper


def budget_of(rng: random.Random, least: float = 1e-12, most: float = 700.0) -> float:
    return float(np.exp(rng.uniform(np.log(least), np.log(most))))


# --- checking ---------------------------------------------------------------------------------------


def curve_checks(given: str, data: object, cloud: oracle.Cloud, rng: random.Random) -> Iterator:
    """What is said of a table or a box: code, number, truth."""
    epsilon, gamma = budget_of(rng), 1.0 + budget_of(rng, 1e-6, 1e6)
    knots, lost = rng.randint(2, 5), rng.choice([0.0, 1e-6, 1e-3])
    out = budget_of(rng, 1e-3, 20.0)
    cloud = oracle.worst(cloud)
    leaks = oracle.leakage(cloud, epsilon)
    stick = oracle.hockey_stick(cloud, gamma)
    delta = oracle.delta_out(cloud, oracle.exp(out), epsilon, lost)
    curve, distance = dt.profile(data), oracle.hockey_stick(cloud, 1)
    kinds: list[dict] = [{}, {"epsilon_max": 2.0}, {"relaxation": "paper"}]
    triads = {
        f"dt.triad({given}, **{options})": dt.triad(data, **options)
        for options in kinds[: 3 if isinstance(data, dt.Box) else 2]
    }
    yield f"dt.leakage({given}, {epsilon!r})", dt.leakage(data, epsilon), leaks
    # many at once have loops of their own
    yield f"dt.leakages([{given}], {epsilon!r})[0]", dt.leakages([data], epsilon)[0], leaks
    together = dt.triads([data])
    yield f"dt.triads([{given}]).phi[0]", together.phi[0], distance
    yield f"dt.triads([{given}]).leakage({epsilon!r})[0]", together.leakage(epsilon)[0], leaks
    if not isinstance(data, dt.Box):
        least = epsilon * rng.random()
        found = dt.triad(data, calibrate_at=least).leakage(epsilon)
        yield f"dt.triad({given}, calibrate_at={least!r}).leakage({epsilon!r})", found, leaks
    for code, made in triads.items():
        yield f"{code}.phi", made.phi, distance
    curves = {
        f"dt.profile({given})": curve,
        f"dt.profile({given}).thin({knots})": curve.thin(knots),
    }
    for code, made in (curves | triads).items():
        yield f"{code}.leakage({epsilon!r})", made.leakage(epsilon), leaks
        yield f"{code}.hockey_stick({gamma!r})", made.hockey_stick(gamma), stick
        asked = f"{out!r}, {epsilon!r}, {lost!r}"
        yield f"{code}.delta_at({asked})", made.delta_at(out, epsilon, lost), delta


def table_case(rng: random.Random) -> Iterator:
    exact = table_of(rng)
    floats = oracle.as_floats(exact)
    yield from curve_checks(repr(floats.tolist()), floats, oracle.cloud(exact), rng)


def box_case(rng: random.Random) -> Iterator:
    edges = [edges_of(rng, row) for row in table_of(rng)]
    lower, upper = [low for low, _ in edges], [up for _, up in edges]
    floats = oracle.as_floats(lower), oracle.as_floats(upper)
    given = f"dt.Box({floats[0].tolist()}, {floats[1].tolist()})"
    yield from curve_checks(given, dt.Box(*floats), oracle.box_cloud(lower, upper), rng)


def total_case(rng: random.Random) -> Iterator:
    """Sources that depend on each other, some of them known up to a box only."""
    numpy_rng = np.random.default_rng(rng.randrange(2**63))
    draw = rng.choice([joint_oracle.random_joint, joint_oracle.joint_of_all_sizes])
    joint = draw(numpy_rng)
    least, most = rng.choice([(0.01, 8.0), (1e-12, 700.0)])
    tables: dict = dict(joint_oracle.tables_of(joint))
    budgets = {name: budget_of(rng, least, most) for name in tables}
    for name in tables:
        if rng.randrange(3) == 0:
            kind = rng.choice([dt.Relative, dt.Absolute])
            tables[name] = kind(rng.choice([0.0, 0.01, 0.3])).box(tables[name])
    found = dt.target_total(tables, budgets).certified
    shown = ", ".join(f"{name!r}: {_as_code(table)}" for name, table in tables.items())
    code = f"dt.target_total({{{shown}}}, {budgets}).certified  # a joint: {joint.tolist()}"
    yield code, found, joint_oracle.joint_leakage(joint, list(budgets.values()))


def _as_code(table: dt.Conditional | dt.Box) -> str:
    if isinstance(table, dt.Box):
        return f"dt.Box({table.lower.tolist()}, {table.upper.tolist()})"
    return f"dt.Conditional({table.table.tolist()})"


KINDS = {"tables": table_case, "boxes": box_case, "totals": total_case}


def wrong(kind: str, seed: int, case: int) -> Wrong | None:
    """The first number of a case that is below the truth."""
    checks = KINDS[kind](random.Random(f"{seed}:{kind}:{case}"))
    return next((check for check in checks if not oracle.is_bound(*check[1:])), None)


def run(seed: int, cases: int, totals: int) -> int:
    start = time.monotonic()
    for kind, number in (("tables", cases), ("boxes", cases), ("totals", totals)):
        for case in range(number):
            if case % 1000 == 999:
                spent = time.monotonic() - start
                print(f"{case + 1:,} of {number:,} {kind}, {spent:.0f} s", file=sys.stderr)
            if found := wrong(kind, seed, case):
                code, number_found, truth = found
                print(
                    f"case {case} of the {kind} of seed {seed} is below the truth:\n\n    {code}\n"
                )
                print(f"gives {number_found!r}, the truth is {oracle.decimal(truth):.30}")
                print(f"again: make fuzz FUZZ='--seed {seed} --only {kind}:{case}'")
                return 1
        print(f"{number:,} {kind}, none below the truth")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--cases", type=int, default=2000, help="tables, and as many boxes")
    parser.add_argument("--totals", type=int, default=200)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--only", metavar="KIND:CASE", help="one case, such as boxes:17")
    given = parser.parse_args()
    print(f"seed {given.seed}")
    if given.only:
        kind, case = given.only.split(":")
        print(wrong(kind, given.seed, int(case)) or "not below the truth")
        return 0
    return run(given.seed, given.cases, given.totals)


if __name__ == "__main__":
    sys.exit(main())
