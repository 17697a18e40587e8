"""Inputs that nobody should pass to the command line, by kind, and what it may say to them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_line import records

READERS: dict[str, tuple[str, ...]] = {
    "schema": ("schema", "survey.csv", "--force", "--out", "made.json"),
    "analyze": ("analyze", "survey.csv", "--schema", "schema.json", "--totals"),
    "calibrate": (*("calibrate", "survey.csv", "--schema", "schema.json", "--total", "3"),
                  *("--force", "--plan", "made.json")),
    "perturb": ("perturb", "plan.json", "survey.csv", "--force", "--out", "made.parquet"),
    "estimate": ("estimate", "plan.json", "reports.parquet", "sex"),
    "attack": ("attack", "plan.json", "survey.csv", "--targets", "sex"),
    "report": ("report", "survey.csv", "--schema", "schema.json", "--force", "--out", "made.html"),
    "sign": ("sign", "plan.json", "--key", "key.pem", "--force"),
    "verify": ("verify", "plan.json", "--key", "key.pem.pub"),
    "counts": ("counts", "survey.csv", "--schema", "schema.json", "--force", "--save", "made.npz"),
    "analyze counts": ("analyze", "counts.npz", "--quick"),
    "chain": ("chain", "panel.csv", "--person", "who", "--time", "when", "--value", "job", "--total", "1"),
    "client": ("client", "plan.json", "--out", "made", "--force"),
    "spent": ("spent", "plan.json", "plan.json", "--next", "sex"),
}  # fmt: skip
"""Commands that read files, with files that they can read."""

NUMBERS = (
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "1e308",
    "1e-300",
    "1e400",
    "abc",
    "",
    "٣",
    "0x10",
    "9" * 400,
)
OPTIONS = {
    "schema": ("--bins", "--max-categories", "--binning", "--query"),
    "analyze": ("--epsilon", "--top", "--min-records", "--uncertainty", "--by", "--weight", "--query"),
    "calibrate": ("--total", "--total-of", "--fixed", "--lower", "--upper", "--weights", "--users"),
    "perturb": ("--seed",),
    "estimate": ("--level", "--post"),
    "attack": ("--sample", "--seed", "--targets"),
    "report": ("--total", "--min-count"),
    "chain": ("--total", "--level", "--start"),
    "counts": ("--cells",),
}  # fmt: skip
JUNK: tuple[Any, ...] = (
    *(None, True, -1, 0, 1e308, 10**400, "", "x" * 10_000, "\x00", "\ud800", [], {}, [[]]),
    *({"a": 1}, "inf", "nan", [None], 0.5),
)
ANY_FILE = ("absent", "a folder", "a link to itself", "empty", "noise", "cut off", "a byte changed",
            "a zero byte", "not UTF-8", "twice")  # fmt: skip
LIMIT = 120
"""Seconds after which a command is said to hang."""


@dataclass(frozen=True)
class Case:
    """A command, what is wrong with what it gets, and where it runs."""

    command: str
    kind: str
    arguments: tuple[str, ...]
    folder: Path


def write_inputs(folder: Path) -> None:
    """A survey, more of it, a schema, a plan, reports, a key and a signature."""
    import deptriad as dt
    from deptriad.utils import signatures

    text = records()
    header, *rows = text.splitlines()
    (folder / "survey.csv").write_text(text)
    (folder / "big.csv").write_text("\n".join([header, *rows * 500]) + "\n")
    schema = dt.Schema(
        [
            dt.Attribute("sex", categories=["f", "m"], missing="error"),
            dt.Attribute("job", categories=["cook", "nurse", "smith"], missing="error"),
            dt.Attribute("pay", edges=[0, 30, 60, 101], missing="error"),
        ]
    )
    schema.save(folder / "schema.json")
    prior = dt.Prior.from_data(str(folder / "survey.csv"), schema)
    plan = dt.calibrate(dt.analyze(prior), total=9.0)
    plan.save(folder / "plan.json")
    from deptriad.collection.perturb import perturb_file

    perturb_file(plan, str(folder / "survey.csv"), folder / "reports.parquet")
    prior.counts.save(folder / "counts.npz")
    jobs = [row.split(",")[1] for row in rows[:400]]
    panel = [f"{place // 4},{place % 4},{job}" for place, job in enumerate(jobs)]
    (folder / "panel.csv").write_text("\n".join(["who,when,job", *panel]) + "\n")
    with contextlib.suppress(ModuleNotFoundError):  # without cryptography nothing is signed
        signatures.new_key(folder / "key.pem")
        signatures.sign(folder / "plan.json", folder / "key.pem")


# --- spoiling ---------------------------------------------------------------------------------------


def spoil_bytes(path: Path, rng: random.Random) -> str:
    """A file, or what stands in its place, with something wrong about it that any file may have."""
    content = path.read_bytes()
    kind = rng.choice(ANY_FILE)
    place = rng.randrange(len(content))
    path.unlink()
    if kind == "a folder":
        path.mkdir()
    elif kind == "a link to itself":
        path.symlink_to(path.name)
    elif kind != "absent":
        path.write_bytes(
            {
                "empty": b"",
                "noise": rng.randbytes(rng.randrange(1, 5000)),
                "cut off": content[:place],
                "a byte changed": content[:place] + rng.randbytes(1) + content[place + 1 :],
                "a zero byte": content[:place] + b"\0" + content[place:],
                "not UTF-8": content[:place] + b"\xff\xfe\x80" + content[place:],
                "twice": content * 2,
            }[kind]
        )
    return kind


def spoil_json(path: Path, rng: random.Random) -> str:
    """JSON with a value, a key or a shape that it should not have; the digest is not made anew."""
    content = json.loads(path.read_text())
    kind = rng.choice(["a value", "a key gone", "a key more", "nested", "another format", "a list"])
    holder: Any = content
    while True:
        key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        deeper = holder[key]
        if not (isinstance(deeper, dict | list) and deeper) or rng.random() < 0.3:
            break
        holder = deeper
    if kind == "a value":
        holder[key] = rng.choice(JUNK)
    elif kind == "a key gone":
        del holder[key]
    elif kind == "a key more" and isinstance(holder, dict):
        holder["more"] = rng.choice(JUNK)
    elif kind == "another format":
        content["format"], content["version"] = rng.choice(JUNK), rng.choice(JUNK)
    text = json.dumps([content] if kind == "a list" else content)
    path.write_text("[" * 100_000 if kind == "nested" else text)
    return kind


def spoil_csv(path: Path, rng: random.Random) -> str:
    """A CSV file of another shape."""
    header, *rows = path.read_text().splitlines()
    kinds = {
        "header only": [header],
        "rows of other lengths": [header, *(row + ",x" * rng.randrange(3) for row in rows)],
        "a quote": [header, '"' + rows[0], *rows[1:]],
        "one column": [line.split(",")[0] for line in [header, *rows]],
        "another column": [header.replace("job", "work"), *rows],
        "two of one name": [header.replace("job", "sex"), *rows],
        "a name of markup": [header.replace("job", "[red]\x1b[31m\u202e"), *rows],
        "nothing but nulls": [header, *["," * header.count(",")] * len(rows)],
        "a long field": [header, rows[0].replace("f", "x" * 1_000_000), *rows[1:]],
        "values outside": [header, *(row.replace("cook", "king") for row in rows)],
        "one row": [header, rows[0]],
    }
    kind = rng.choice(list(kinds))
    path.write_text("\n".join(kinds[kind]) + "\n")
    return kind


SPOILERS = {".json": (spoil_bytes, spoil_json), ".csv": (spoil_bytes, spoil_csv)}


def cases(folder: Path, rng: random.Random, number: int) -> Iterator[Case]:
    """So many of them, each in a folder of its own that is gone afterwards."""
    for _ in range(number):
        command = rng.choice(list(READERS))
        words = list(READERS[command])
        own = folder / "case"
        own.mkdir()
        for path in folder.iterdir():
            if path.is_file() and path.name != "big.csv":
                shutil.copy(path, own)
        if command in OPTIONS and rng.random() < 0.3:
            option = rng.choice(OPTIONS[command])
            value = rng.choice(NUMBERS)
            value = f"sex={value}" if option in OPTIONS["calibrate"][1:6] else value
            kind, words = "an option", [*words, option, value]
        else:
            read = [word for word in words if (own / word).is_file()]
            path = own / rng.choice(read)
            spoil = rng.choice(SPOILERS.get(path.suffix, (spoil_bytes,)))
            kind = f"{path.suffix[1:]}, {spoil(path, rng)}"
        yield Case(command, kind, tuple(words), own)
        shutil.rmtree(own)


# --- judging ----------------------------------------------------------------------------------------


def _hang(*_: object) -> None:
    raise TimeoutError(f"nothing after {LIMIT} s")


def complaint(main: Callable[[tuple[str, ...]], None], case: Case) -> str | None:
    """What is wrong with the outcome of a case; None if it is a result, or a line that says what is wrong."""
    out, errors, before = io.StringIO(), io.StringIO(), Path.cwd()
    code: object = None
    began = time.monotonic()
    os.chdir(case.folder)
    previous = signal.signal(signal.SIGALRM, _hang)
    signal.alarm(LIMIT)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            main(case.arguments)
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException as error:
        code = f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
        os.chdir(before)
    said, shown = errors.getvalue(), " ".join(word[:50] for word in case.arguments)
    if code not in (0, 1, 2) or "Traceback" in said or "should not happen" in said:
        return f"{shown}: {code} after {time.monotonic() - began:.0f} s, {said[-1500:]}"
    if code and not said.strip():
        return f"{shown}: exit code {code} without a word"
    if left := [path.name for path in case.folder.glob(".deptriad-*")]:
        return f"{shown}: it left {left}"
    return None
