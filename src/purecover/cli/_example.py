"""``purecover example``."""

from __future__ import annotations

import sys
from pathlib import Path

from purecover._example import example_csv
from purecover.cli._messages import CommandError, note
from purecover.cli._options import DASH
from purecover.cli._output import check_writable, write_atomically

__all__ = ["run_example"]

NAME = "example_scores.csv"


def run_example(*, out: str | None, quiet: bool) -> int:
    """Write the bundled scores."""
    content = example_csv()
    if out == DASH:
        sys.stdout.write(content.decode())
        return 0
    path = NAME if out is None else out
    check_writable("--out", path)
    # A name nobody asked for must not cost anybody a file.
    if out is None and Path(path).is_file() and Path(path).read_bytes() != content:
        raise CommandError(
            f"{path} is here already and holds something else.\n"
            "Hint: --out writes the example under another name."
        )
    with write_atomically("--out", path) as file:
        file.write(content)
    note(f"example written to {path}: columns score, labeled and truth", quiet=quiet)
    return 0
