"""Check that the built pages load nothing from elsewhere: they must read the same offline."""

from __future__ import annotations

import re
import sys
from pathlib import Path

# Attributes and rules by which a page loads something; a plain <a href> only links.
LOADS = re.compile(
    r"""<(?:script|img|iframe|source|link)\b[^>]*?(?:src|href)\s*=\s*["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|@import\s+["']?((?:https?:)?//[^"'\s;]+)|url\(\s*["']?((?:https?:)?//[^"')]+)""",
    re.IGNORECASE,
)


def main() -> None:
    """Check all pages and style sheets of a folder."""
    folder = Path(sys.argv[1])
    pages = [*folder.rglob("*.html"), *folder.rglob("*.css")]
    if not pages:
        sys.exit(f"no pages in {folder}")
    found = {
        f"{page.relative_to(folder)}: {next(filter(None, match.groups()))}"
        for page in pages
        for match in LOADS.finditer(page.read_text(encoding="utf-8"))
    }
    if found:
        sys.exit("pages load from elsewhere:\n" + "\n".join(sorted(found)))
    print(f"{len(pages)} files, nothing loaded from elsewhere")


if __name__ == "__main__":
    main()
