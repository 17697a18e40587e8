"""A survey with hostile names and labels, its page, and a real browser to open it in."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest

import deptriad as dt
from page_elements import Elements

SCRIPT = "</script><img src=x onerror=\"window.hacked='script'\">"
MARKUP = "<b onmouseover=alert(1)>&lt;b&gt;"
TURNED = "abc\u202edef\x1b[31m"
FILE = "/home/somebody-s-folder/<img src=x onerror=hacked>.csv"


@pytest.fixture(scope="session")
def records():
    """600 made-up people; each name, and some values, would do harm if it were taken as markup or code."""
    import pandas as pd

    rng = np.random.default_rng(20)
    number = 600
    first = rng.integers(0, 3, number)
    second = np.where(rng.random(number) < 0.7, first, rng.integers(0, 3, number))
    third = (rng.random(number) < 0.2 + 0.3 * (second == 2)).astype(int)
    fourth = np.where(np.arange(number) < 7, "rare", rng.choice(["one", "two"], number))
    return pd.DataFrame(
        {
            SCRIPT: np.array(["plain", SCRIPT, "${window.hacked=1}"])[first],
            "__proto__": np.array([MARKUP, "b", "c"])[second],
            TURNED: np.array(["no", "'; DROP TABLE--"])[third],
            "fourth": fourth,
        }
    )


@pytest.fixture(scope="session")
def analysis(records):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dt.analyze(dt.Prior.from_data(records, dt.Schema.infer(records)))


@pytest.fixture(scope="session")
def html(analysis, records):
    from deptriad import report

    rng = np.random.default_rng(1)
    return report.page(analysis, 2.5, seconds=math.inf, records=records, file=FILE, rng=rng)


@pytest.fixture(scope="session")
def parsed(html):
    return Elements(html)


@pytest.fixture(scope="session")
def held(parsed):
    return json.loads(parsed.texts["script data"])
