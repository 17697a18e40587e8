"""Report: the analysis as one self-contained page, and plots for papers and notebooks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Unpack

if TYPE_CHECKING:
    from deptriad.analysis.analysis import Analysis
    from deptriad.planning.plan import Plan
    from deptriad.report.content import Options

__all__ = ["page", "write"]


def page(analysis: Analysis, total: float = 3.0, **options: Unpack[Options]) -> str:
    """The text of one HTML page that answers any budget: no network, no records, no count below ``min_count``.

    Parameters
    ----------
    analysis
        An analysis with its tables, so not one that was loaded from a file.
    total
        The promise that the page opens with.
    promises
        Other promises to plan for, all of them, so that the page can be moved to them.
    seconds
        Without ``promises``, how long plans may take, by default 60: the usual promises are planned for one after the
        other until another as slow as the slowest would not fit. The first is made however long it takes.
    records
        A local frame, or a path, in which to look for what is attained at least; without it the page has no witness.
    weight
        A column of weights of the records.
    file
        Name of the data to show; of a path the last part only.
    users
        How many are to answer, for expected errors; 100,000 by default.
    min_count
        Counts below this, by default 10, are written as "fewer than" it.
    rng
        Source of chance of the search for witnesses; by default the operating system's.
    progress
        Called with the number of steps done, and of all.

    Raises
    ------
    ValueError
        If the analysis was loaded from a file, which has no tables; or if a promise is not a finite number above 0.

    Examples
    --------
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> from deptriad import report
    >>> frame = pd.DataFrame({"sex": ["f", "m"] * 50, "smokes": ["no"] * 75 + ["yes"] * 25})
    >>> analysis = dt.analyze(dt.Prior.from_data(frame, schema=dt.Schema.infer(frame)))
    >>> report.page(analysis, total=2.0).startswith("<!doctype html>")
    True
    """
    from deptriad.report.content import content
    from deptriad.report.rendering import rendered

    held, _ = content(analysis, total, **options)
    return rendered(held)


def write(
    analysis: Analysis,
    out: str | os.PathLike[str] = "report.html",
    total: float = 3.0,
    **options: Unpack[Options],
) -> dict[float, Plan]:
    """Write the page to a file, whole or not at all; folders on the way are made.

    Parameters
    ----------
    analysis, total, options
        As for ``page``.
    out
        Where to write it.

    Returns
    -------
    dict[float, Plan]
        The plans that are on the page, by promise.

    Raises
    ------
    OSError
        If nothing can be written there; said before the long work.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> from deptriad import report
    >>> frame = pd.DataFrame({"sex": ["f", "m"] * 50, "smokes": ["no"] * 75 + ["yes"] * 25})
    >>> analysis = dt.analyze(dt.Prior.from_data(frame, schema=dt.Schema.infer(frame)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plans = report.write(analysis, Path(folder) / "page.html", total=2.0, promises=[2.0])
    >>> list(plans)
    [2.0]
    """
    from deptriad.report.content import content
    from deptriad.report.rendering import rendered
    from deptriad.utils import files

    with files.whole(out, folders=True) as partial:  # a bad place is refused before the long work
        held, plans = content(analysis, total, **options)
        partial.write_text(rendered(held), encoding="utf-8", newline="\n")
    return plans
