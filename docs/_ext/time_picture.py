"""The picture of docs/time.md: ``.venv/bin/python docs/_ext/time_picture.py`` draws it again."""

from pathlib import Path

import deptriad as dt
from deptriad.utils.text import rounded_down

work = dt.Conditional([[0.85, 0.10, 0.05], [0.15, 0.70, 0.15], [0.10, 0.20, 0.70]])
chain = dt.Chain(work, initial="stationary")
ax = dt.plot_chain(chain, [chain.calibrate(3.0)] * 36, total=3.0)
ax.set_title(f"36 releases with ε = {rounded_down(chain.calibrate(3.0))} each", loc="left")
place = Path(__file__).parents[1] / "time.png"
ax.figure.savefig(place, dpi=100, bbox_inches="tight", metadata={"Software": None})
