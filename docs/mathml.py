"""Render formulas as MathML, which browsers display without a network or a script."""

import re

from docutils import nodes
from latex2mathml.converter import convert

TAG = re.compile(r"\\tag\{(.*?)\}")


def visit_inline(self, node):
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_block(self, node):
    """Render a displayed formula with its equation number in the paper."""
    text = node.astext()
    tag = TAG.search(text)
    number = f'<span class="eqno">({tag[1]})</span>' if tag else ""
    formula = convert(TAG.sub("", text).strip(), display="block")
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(f"{number}{formula}</div>\n")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
