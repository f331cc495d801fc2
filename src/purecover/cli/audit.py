"""``purecover audit plan`` and ``audit sample``."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import App, Parameter

import purecover as pu
from purecover.cli import output
from purecover.cli.judge import shown_columns, visible
from purecover.cli.options import COLUMNS, chosen, takes
from purecover.cli.output import STDIO, CommandError, show
from purecover.exceptions import PurecoverError

if TYPE_CHECKING:
    from purecover.cli.rows import FileRows

audit = App(
    name="audit",
    help="Judge some rows by hand: how many, and which; purecover evaluate FILE --judged uses the "
    "verdicts.",
    default_parameter=Parameter(negative=()),
)


@audit.command
@takes(
    f"width figure scores {COLUMNS} threshold review beta json quiet",
    required="width",
    scores="File of scores and labels: plan for its rows with high scores. Without it, plan for "
    "unlabeled rows drawn at random.",
    threshold="Plan for rows with at least this score; by default for those above the score that "
    "half of the labeled rows reach.",
    quiet="Print the number alone.",
)
def plan(**given: Any) -> int:
    """Print how many unlabeled rows to judge, for an interval that is narrow enough."""
    from purecover.cli.rows import Columns, read_rows

    quiet = given.get("quiet", False)
    how = chosen(given, "width figure threshold review beta")
    where = "unlabeled rows drawn at random"
    if "scores" in given:
        rows = read_rows(given["scores"], Columns.among(given))
        how |= {"scores": rows.scores, "labeled": rows.labeled}
        where = f"rows, as audit sample --figure {given.get('figure', 'alpha')} draws them"
    n = pu.audit.plan(**how)
    if "json" in given:
        output.print_json({"n": n, **chosen(given, "width figure")})
    elif quiet:
        output.tell(n)
    else:
        first = f"judge {n:,} {where}" if n else "the scores alone will do"
        output.tell(
            f"{first}\nthe 95 % interval of {given.get('figure', 'alpha')} is then "
            f"expected to be {given['width']:g} wide{'' if n else ' or less'}"
        )
    return 0


@audit.command
@takes(
    f"n figure n_labeled design threshold review columns random_state {COLUMNS} negative_label "
    "out quiet",
    figure="Draw the rows that narrow the interval of this most: auc, alpha, positives (their "
    "number), precision or recall; the last two at --threshold or --review.",
    threshold="Draw rows with at least this score, to estimate precision there; by default those "
    "above the score that half of the labeled rows reach.",
    out="CSV file to write; standard output by default.",
)
def sample(file: str, /, **given: Any) -> int:
    """Draw rows of FILE to be judged, in random order.

    Writes a CSV file with the number of each row, its columns without scores and labels, and an
    empty column named positive for the verdicts.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet.
    """
    import numpy as np

    from purecover.cli.rows import Columns, read_rows

    quiet = given.get("quiet", False)
    path = None if given.get("out") == STDIO else given.get("out")
    if path is not None:
        output.check_writable("--out", path, not_this=file)
    rows = read_rows(file, Columns.among(given), cells=partial(visible, file, given))
    how = chosen(given, "n figure n_labeled design threshold review random_state")
    negative = rows.beside["negative_label"]
    design = pu.audit.draw(rows.scores, rows.labels, negative_label=negative, **how)
    shown = shown_columns(rows, everything="columns" in given).items()
    columns = {name: np.array(w.values, dtype=object)[w.codes] for name, w in shown}
    text = design.to_csv(columns)
    if path is None:
        output.hand_out(text)
    else:
        if Path(path).is_file() and not _is_unanswered(Path(path), rows, columns):
            raise CommandError(
                f"--out {show(path)} is kept: it is not a sample of these rows without answers.\n"
                "Hint: give another name to --out, or remove that file if nobody needs it."
            )
        with output.write_atomically("--out", path) as target:
            target.write(text.encode())
        which = replace(design, reason="")
        said = f"{which} written to {path}; fill in its column 'positive' with yes or no"
        output.note("; ".join(filter(None, (said, design.reason))), quiet=quiet)
    output.note_blanks(rows.source(file), quiet=quiet)
    return 0


def _is_unanswered(file: Path, rows: FileRows, columns: Mapping[str, Any]) -> bool:
    """Whether a file is, byte for byte, a sample of these rows that nobody has answered."""
    read, negative = pu.audit.JudgedRows.read_csv, rows.beside["negative_label"]
    try:
        design = read(file, rows.scores, rows.labels, negative_label=negative).design
        with file.open(encoding="utf-8", errors="replace", newline="") as lines:
            header = next(csv.reader(lines))
    except (PurecoverError, csv.Error):
        return False
    sample = design.to_csv({name: columns[name] for name in header if name in columns})
    return sample.encode() == file.read_bytes()
