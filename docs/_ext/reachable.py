"""What scrolls sideways can be reached by the keyboard: code, tables and formulas that may be wider than a phone.

And what folds code away is called by the words on it, and captions of lists of pages have a level.
"""

import re
from typing import Any

from sphinx.application import Sphinx

MAY_SCROLL = re.compile(
    r'<(pre|div class="(?:formula|cell_output|table-wrapper|output text_html)[^"]*")(?=[ >])'
)


def focusable(app: Sphinx, page: str, template: str, context: dict[str, Any], _: Any) -> None:
    if "body" in context:
        body = MAY_SCROLL.sub(r'<\1 tabindex="0"', context["body"])
        body = body.replace(' aria-label="Toggle hidden content"', "")
        context["body"] = body.replace(' role="heading">', ' role="heading" aria-level="2">')


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", focusable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
