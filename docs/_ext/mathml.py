"""Render math as MathML, with docutils' own converter.

Browsers draw MathML themselves, so the pages need no script and no network. A formula that the
converter does not understand is a warning, and warnings stop the build.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


# Digits side by side are one number to the converter and several tokens to TeX: \frac12 would come
# out as 12 over whatever follows, without a word.
AMBIGUOUS = re.compile(r"\\[dt]?frac\s*[^{\s]|\\sqrt\s*\d|[\^_]\s*\d\d")


def render(latex: str, *, block: bool) -> str:
    """MathML for one formula; raises ValueError for LaTeX it does not know."""
    ambiguous = AMBIGUOUS.search(latex)
    if ambiguous:
        raise ValueError(f"write the argument in braces: {ambiguous.group()!r}")
    latex = re.sub(r"\\[bB]igg?(?![a-zA-Z])", "", latex)  # sizes are the browser's business
    if block and (r"\\" in latex or "&" in latex) and r"\begin" not in latex:
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    return str(tex2mathml(latex, as_block=block)).replace("<mo>'</mo>", "<mo>′</mo>")


def _render_node(node: Any, *, block: bool) -> str:
    try:
        return render(node.astext(), block=block)
    except ValueError as error:
        logger.warning("math: %s in %r", error, node.astext(), location=node)
        return ""


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write inline math."""
    translator.body.append(_render_node(node, block=False))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """Write displayed math."""
    translator.body.append(f'<div class="formula">{_render_node(node, block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer; conf.py chooses it by ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
