"""Formulas as MathML, which browsers show by themselves: no script, nothing to fetch."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

WIDE = 60
"""Characters of TeX from which on a formula may not fit beside the margins of a phone."""

FUNCTIONS = re.compile(r"<mi>(ln|cosh|tanh)</mi>(?!<mo stretchy)")


def written(formula: str, display: str = "inline") -> str:
    """The formula in MathML. What latex2mathml knows as align* is called aligned inside a formula."""
    content = convert(formula.replace("{aligned}", "{align*}"), display=display)
    return FUNCTIONS.sub(r'<mi>\1</mi><mspace width="0.17em"/>', content)


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    """What may be wider than a phone scrolls by itself there: browsers do not break formulas."""
    formula = node.astext()
    content = written(formula)
    wide = len(formula) > WIDE
    self.body.append(
        f'<span class="wide-formula" tabindex="0">{content}</span>' if wide else content
    )
    raise nodes.SkipNode


def _display(self: HTML5Translator, node: nodes.math_block) -> None:
    label = node.get("label") or node.get("number")
    name = f' id="{node["ids"][0]}"' if node["ids"] else ""
    self.body.append(f'<div class="formula"{name}>{written(node.astext(), "block")}')
    if label and node.get("number"):
        self.body.append(f'<span class="number">({node["number"]})</span>')
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
