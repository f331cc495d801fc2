"""``purecover example``: scores to try the other commands on."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

from purecover.cli import output
from purecover.cli.options import takes
from purecover.cli.output import STDIO, CommandError

EXAMPLE = "example_scores.csv"


@takes("out", out="CSV file to write; - for standard output; example_scores.csv by default.")
def example(**given: Any) -> int:
    """Write scores to try the other commands on: example_scores.csv.

    1,797 hand-written digits, 300 of the odd ones labeled. The columns are score, labeled and
    truth; 40.48 % of the unlabeled are odd.
    """
    content = files("purecover").joinpath("data", EXAMPLE).read_bytes()
    path = given.get("out", EXAMPLE)
    if path == STDIO:
        sys.stdout.write(content.decode())
        return 0
    output.check_writable("--out", path)
    # A name nobody asked for must not cost anybody a file.
    if "out" not in given and Path(path).is_file() and Path(path).read_bytes() != content:
        raise CommandError(
            f"{path} is here already and holds something else.\n"
            "Hint: --out writes the example under another name."
        )
    with output.write_atomically("--out", path) as file:
        file.write(content)
    output.note(f"example written to {path}: columns score, labeled and truth", quiet=False)
    return 0
