"""Formulas as MathML, which browsers show by themselves: no script, nothing to fetch."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _display(self: HTML5Translator, node: nodes.math_block) -> None:
    label = node.get("label") or node.get("number")
    name = f' id="{node["ids"][0]}"' if node["ids"] else ""
    self.body.append(f'<div class="formula"{name}>{convert(node.astext(), display="block")}')
    if label and node.get("number"):
        self.body.append(f'<span class="number">({node["number"]})</span>')
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
