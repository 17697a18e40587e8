"""The picture of the README: ``.venv/bin/python docs/_ext/readme_picture.py`` draws it again."""

from pathlib import Path

from statsmodels.datasets import anes96

import deptriad as dt

survey = anes96.load_pandas().data[["vote", "PID", "age", "educ"]].rename(columns={"PID": "party"})
prior = dt.Prior.from_data(survey, dt.Schema.infer(survey, bins=4), thin="merge")
ax = dt.plot_leakage(dt.analyze(prior), epsilon=1.0)
ax.set_title("What one answer, reported with ε = 1, tells about another")
place = Path(__file__).parents[1] / "first-look.png"
ax.figure.savefig(place, dpi=110, bbox_inches="tight", metadata={"Software": None})
