"""The README as a package index shows it, where nothing of the repository is in reach.

Hatchling calls the class when it builds (``[tool.hatch.metadata.hooks.custom]``).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def package_page(text: str, home: str | None = None) -> str:
    """Links into the repository lead to its ``home``; where it has none they are plain words."""

    def changed(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        if "://" in target or target.startswith("#"):
            return link[0]
        if home is not None:
            return f"{picture}[{words}]({home.rstrip('/')}/{target})"
        return "" if picture else words

    return re.sub(r"\n{3,}", "\n\n", LINK.sub(changed, text))


class ReadmeHook(MetadataHookInterface):
    """Sets the description of the package."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Read the README."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        page = package_page(text, metadata.get("urls", {}).get("Source"))
        metadata["readme"] = {"content-type": "text/markdown", "text": page}
