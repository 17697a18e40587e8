"""deptriad compile."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import typer

import deptriad as dt
from deptriad.cli.app import app, progress_bar
from deptriad.mechanisms import mechanisms
from deptriad.mechanisms.channel import Channel

TABLE = np.array([[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.05, 0.25, 0.7]])


@app.command(
    "compile", epilog="Example: deptriad compile, in the recipe of an image or before a demo"
)
def _compile() -> None:
    """Compile the loops of usual calls now, so that no later command or program has to wait for them.

    They are compiled when they are first used otherwise, and kept on disk: beside the package, in the folder of
    `NUMBA_CACHE_DIR`, or in your cache folder. What is compiled holds for this user, processor and version alone.
    """
    with progress_bar("compiling, once") as tell:
        for done, step in enumerate(STEPS):
            tell(done, len(STEPS))
            step()
    typer.echo("The loops of usual calls are compiled.")


# --- one call of each kind ----------------------------------------------------------------------------------------


def _tables() -> None:
    dt.leakage(TABLE, 1.0)
    dt.triad(TABLE, epsilon_max=1.0)
    dt.profile(TABLE)
    dt.uncalibrated(TABLE)
    dt.triads([TABLE, TABLE])
    dt.leakages([TABLE, TABLE], 1.0)
    dt.joint_leakage(np.full((2, 2, 2), 0.25), 1.0)


def _boxes() -> None:
    box = dt.Relative(0.1).box(TABLE)
    dt.leakage(box, 1.0)
    dt.triads([box, box])
    dt.triad(box, "paper")


def _large_boxes() -> None:
    size = 25
    rows = np.ones((size, size)) + np.eye(size)
    dt.triad(dt.Relative(0.1).box(rows / rows.sum(axis=1, keepdims=True)))


def _reports() -> None:
    codes = np.arange(300) % 3
    for kind in mechanisms.values():
        for epsilon in (1.0, 30.0):  # past 20 some take longer random words
            mechanism = kind(size=3, epsilon=epsilon)
            mechanism.estimate(mechanism.perturb(codes))
    Channel(TABLE).perturb(codes)


def _surveys() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "survey.csv"
        lines = [f"{k % 2},{k % 3},{k % 5 % 3},{1 + k % 2}" for k in range(300)]
        path.write_text("\n".join(["a,b,c,w", *lines]), encoding="utf-8")
        schema = dt.Schema([dt.Attribute(name, [0, 1, 2]) for name in "abc"])
        dt.Prior.from_data(path, schema, weight="w", thin="keep")
        prior = dt.Prior.from_data(path, schema, thin="keep")
        for uncertainty in (None, dt.Relative(0.1)):
            analysis = dt.analyze(prior, uncertainty)
            analysis.totals(1.0)
            for guarantee in ("certified", "paired", "pairwise"):
                dt.calibrate(analysis, total=2.0, guarantee=guarantee, views="all")
            dt.calibrate(analysis, total=2.0)
        dt.witness(path, 1.0, "a", schema=schema)
        dt.interactions(path, 1.0, schema=schema)


def _long_surveys() -> None:
    """Of more answers, one of them with many values."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "survey.csv"
        lines = [
            f"{k % 2},{k % 3},{k % 5 % 3},{k % 7 % 2},{k % 11 % 3},{k % 14}" for k in range(900)
        ]
        path.write_text("\n".join(["a,b,c,d,e,f", *lines]), encoding="utf-8")
        sizes = dict(zip("abcdef", (2, 3, 3, 2, 3, 14), strict=True))
        schema = dt.Schema([dt.Attribute(name, range(size)) for name, size in sizes.items()])
        prior = dt.Prior.from_data(path, schema, thin="keep")
    for uncertainty in (None, dt.Relative(0.1)):
        analysis = dt.analyze(prior, uncertainty)
        analysis.totals(1.0)
        dt.calibrate(analysis, total=2.0, views="all")
    rows = 1.0 + np.arange(42).reshape(3, 14) % 5
    wide = dt.Relative(0.1).box(rows / rows.sum(axis=1, keepdims=True))
    tables = {"f": wide, "g": wide}
    dt.verify(dt.target_total(tables, dict.fromkeys(tables, 1.0)).proof, tables)


STEPS: tuple[Callable[[], None], ...] = (
    _tables,
    _boxes,
    _large_boxes,
    _reports,
    _surveys,
    _long_surveys,
)
