"""The directive ``cli-help``: what ``purecover COMMAND --help`` prints, so that pages stay true."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import purecover

WIDTH = 100


class CliHelp(SphinxDirective):
    """The help of one command, of one word or several, as a literal block."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Ask the program itself."""
        for source in (Path(purecover.__file__).parent / "cli").glob("*.py"):
            self.env.note_dependency(str(source))
        shown = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "purecover", *self.arguments[0].split(), "--help"],
            check=True,
            capture_output=True,
            encoding="utf-8",
            env=os.environ | {"COLUMNS": str(WIDTH), "PYTHONIOENCODING": "utf-8"},
        ).stdout
        text = "\n".join(line.rstrip() for line in shown.strip().splitlines())
        block = nodes.literal_block(text, text)
        block["language"] = "text"
        return [block]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("cli-help", CliHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
