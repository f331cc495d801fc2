"""A small site that any host can serve: nothing in it that no page shows, and what searches need.

Searches of the site get the text of its pages as a file, so that they show excerpts where pages are
read from a disk. Search engines get a sentence about each page and, if ``html_baseurl`` says where
the site is, a map.
"""

from __future__ import annotations

import json
import re
import shutil
from html import escape, unescape
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
    if page == "search":
        app.add_js_file("excerpts.js", priority=400)
    if text:
        short = text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rpartition(' ')[0]} …"
        tag = f'<meta name="description" content="{escape(short)}">'
        context["metatags"] = f"{context.get('metatags', '')}\n{tag}"


def text_of(page: str) -> str:
    """The words of the body of a page."""
    found = re.search(r"<article.*?</article>", page, re.DOTALL)
    body = re.sub(
        r"<(math|script|style)\b.*?</\1>", " ", found[0] if found else "", flags=re.DOTALL
    )
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def write_maps(folder: Path, home: str | None) -> None:
    """The text of all pages for the search page, and a map of the site for search engines."""
    pages = [
        path
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.parts and path.name not in ("search.html", "genindex.html")
    ]
    words = {
        path.relative_to(folder).as_posix(): text_of(path.read_text(encoding="utf-8"))
        for path in pages
    }
    script = f"const EXCERPTS = {json.dumps(words, ensure_ascii=False)};\n"
    (folder / "_static" / "excerpts.js").write_text(script, encoding="utf-8")
    if home:
        rows = [f"<url><loc>{home.rstrip('/')}/{name}</loc></url>" for name in words]
        head = '<?xml version="1.0" encoding="utf-8"?>\n'
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        text = f'{head}<urlset xmlns="{space}">\n' + "\n".join(rows) + "\n</urlset>\n"
        (folder / "sitemap.xml").write_text(text, encoding="utf-8")
        robots = f"User-agent: *\nAllow: /\nSitemap: {home.rstrip('/')}/sitemap.xml\n"
        (folder / "robots.txt").write_text(robots, encoding="utf-8")


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
        text = text.replace(
            '<div role="list" class="citation-list">', '<div class="citation-list">'
        )
        text = PLAIN.sub(r"\1", text)
        text = BLANKS.sub(lambda found: found[1] or "\n", text)
        path.write_text(text, encoding="utf-8")
    # The theme reports what it does to the console.
    for path in [*(folder / "_static" / "scripts").glob("*.js"), folder / "search.html"]:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("console.log(", "void("), encoding="utf-8")
    (folder / ".nojekyll").touch()  # some hosts leave out folders that begin with an underscore
    write_maps(folder, app.config.html_baseurl)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register both."""
    app.connect("html-page-context", describe)
    app.connect("build-finished", shrink)
    return {"parallel_read_safe": True}
