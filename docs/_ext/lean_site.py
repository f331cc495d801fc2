"""A small site: nothing in it that no page shows, and a sentence about each page for searches."""

from __future__ import annotations

import re
import shutil
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx

LONGEST = 200
COLORS = 128
"""Of a picture: enough for curves and text."""
FONTS = "_static/vendor/fontawesome/webfonts"
# Icons come from a font; the script that draws them again weighs more than all pages.
UNUSED = (
    "_sources",
    "_static/scripts/fontawesome.js",
    f"{FONTS}/fa-brands-400.woff2",
    f"{FONTS}/fa-regular-400.woff2",
)
SCRIPT = re.compile(r'\s*<script defer src="[^"]*fontawesome\.js[^"]*"></script>')
# Code that has the color of text anyway.
PLAIN = re.compile(r'<span class="[npw]">([^<]*)</span>')
# Indentation and blank lines, but not those of code.
BLANKS = re.compile(r"(<pre.*?</pre>)|\n\s+", re.DOTALL)


def describe(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """The first paragraph as a description."""
    paragraphs = [] if doctree is None else doctree.findall(nodes.paragraph)
    text = next((" ".join(each.astext().split()) for each in paragraphs), "")
    if text:
        short = text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rpartition(' ')[0]} …"
        tag = f'<meta name="description" content="{escape(short)}">'
        context["metatags"] = f"{context.get('metatags', '')}\n{tag}"


def shrink(app: Sphinx, exception: Exception | None) -> None:
    """Take away what no page needs."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    for name in UNUSED:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for path in folder.rglob("*.map"):
        path.unlink()
    for path in (folder / "_images").glob("*.png"):
        with Image.open(path) as image:
            if image.mode != "P":
                image.convert("RGB").quantize(COLORS).save(path, optimize=True)
    for path in folder.rglob("*.html"):
        text = SCRIPT.sub("", path.read_text(encoding="utf-8"))
        text = PLAIN.sub(r"\1", text)
        text = BLANKS.sub(lambda found: found[1] or "\n", text)
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register both."""
    app.connect("html-page-context", describe)
    app.connect("build-finished", shrink)
    return {"parallel_read_safe": True}
