"""Check the built pages: nothing from elsewhere, links that lead somewhere, no barriers.

Both are checked offline: pages must read the same without a network, and every link to another
page, file or place of a page must meet it. Links to other sites are `make links`'s business. Where
there is a chromium, axe looks at ten pages in both themes, and a keyboard walks through them.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes and rules by which a page loads something; a plain <a href> only links.
LOADS = re.compile(
    r"""<(?:script|img|iframe|source|link)\b[^>]*?(?:src|href)\s*=\s*["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|@import\s+["']?((?:https?:)?//[^"'\s;]+)|url\(\s*["']?((?:https?:)?//[^"')]+)""",
    re.IGNORECASE,
)


class Page(HTMLParser):
    """The places of a page that links can lead to, and the links and files it names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element is called and where it leads."""
        for name, value in attrs:
            if not value:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value)
            elif name in ("href", "src"):
                self.links.add(value)
            elif name == "srcset":
                self.links |= {part.split()[0] for part in value.split(",") if part.strip()}


def loaded_from_elsewhere(folder: Path) -> list[str]:
    """What pages and style sheets load over a network."""
    return sorted(
        {
            f"{page.relative_to(folder)} loads {next(filter(None, match.groups()))}"
            for page in [*folder.rglob("*.html"), *folder.rglob("*.css")]
            for match in LOADS.finditer(page.read_text(encoding="utf-8"))
        }
    )


def broken_links(folder: Path) -> list[str]:
    """Links within the folder that meet no file, or no place of a page."""
    root = folder.resolve()
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in root.rglob("*.html")
        if "_static" not in path.relative_to(root).parts  # templates of the theme
    }
    problems = set()
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            missing = not target.is_file() or not target.is_relative_to(root)
            if missing or (place and target in pages and place not in pages[target].places):
                problems.add(f"{path.relative_to(root)} links to {link}, which is not there")
    return sorted(problems)


LARGEST = 12_000_000
LOOKED_AT = (
    "index", "install", "tutorial", "faq", "glossary", "howto/index", "howto/report",
    "explanation/trust", "checks", "api/core",
)  # fmt: skip


def weight(folder: Path) -> int:
    """Bytes of all files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def barriers(folder: Path) -> list[str]:
    """Serious violations that axe finds, and pages whose switches no keyboard reaches."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.browsing import chromium, violations

    found = []
    with chromium() as browser:
        for theme, name in product(("light", "dark"), LOOKED_AT):
            tab = browser.new_page(color_scheme=theme, viewport={"width": 1200, "height": 900})
            tab.goto((folder.resolve() / f"{name}.html").as_uri())
            found += [f"{name} ({theme}): {rule}: {place}" for rule, place in violations(tab)]
            reached = set()
            for _ in range(30):
                tab.keyboard.press("Tab")
                reached.add(tab.evaluate("document.activeElement.className"))
            if not any("theme-switch" in each for each in reached):
                found.append(f"{name}: the Tab key does not reach the switch of themes")
            tab.close()
    return found


def main() -> None:
    """Check all pages of a folder."""
    folder = Path(sys.argv[1])
    number = sum(1 for _ in folder.rglob("*.html"))
    if not number:
        sys.exit(f"no pages in {folder}")
    problems = loaded_from_elsewhere(folder) + broken_links(folder)
    if (size := weight(folder)) > LARGEST:
        problems.append(f"{size:,} bytes; at most {LARGEST:,} are wanted")
    if shutil.which("chromium"):
        problems += barriers(folder)
    if problems:
        sys.exit("\n".join(problems))
    script = (folder / "_static" / "excerpts.js").read_text(encoding="utf-8")
    texts = json.loads(script[script.index("{") : script.rindex(";")])
    words = sum(len(text.split()) for name, text in texts.items() if not name.startswith("api/"))
    print(
        f"{number} pages, {words:,} words without the reference, {size / 1e6:.1f} MB: nothing "
        "loaded from elsewhere, all links within them lead somewhere"
    )


if __name__ == "__main__":
    main()
