"""``purecover priors``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import purecover as pu
from purecover.cli import output
from purecover.cli.options import COLUMNS, chosen, takes
from purecover.cli.output import CommandError, show

_FORMATS = (".png", ".svg", ".pdf")


@takes(
    f"{COLUMNS} estimators beta n_resamples plot json quiet",
    beta="Share of positives among the labeled, if it is known; 1 if no label is wrong. By "
    "default it is estimated: every method that takes labels for clean is run both ways, labeled "
    "and unlabeled exchanged.",
    n_resamples="Bootstrap resamples for the intervals of each estimator; 200 by default.",
)
def priors(file: str, /, **given: Any) -> int:
    """Estimate alpha and beta from the scores in FILE, by every method side by side.

    Alpha is the share of positives among the unlabeled rows, beta the share among the labeled
    ones. Where the methods agree, the estimate does not depend on the assumptions of one of them.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    """
    from purecover.cli.rows import Columns, read_rows

    quiet, plot = given.get("quiet", False), given.get("plot")
    settings = chosen(given, "beta n_resamples")
    if "estimators" in given:
        names = (word.casefold().replace("_", "-") for word in given["estimators"])
        settings["estimators"] = list(dict.fromkeys(names))
    if plot is not None:
        _check_plot(plot, file)
    rows = read_rows(file, Columns.among(given))
    found = pu.compare_priors(rows.scores, **rows.beside, **settings)
    if not found.succeeded:  # a table without a number is bad input, not a result
        row = found.rows[0]
        many = "" if len(found) == 1 else f"none of {len(found)} estimators finds alpha and beta; "
        raise CommandError(f"{many}{row.name}: {row.error}")
    output.deliver(found, given, rows.source(file))
    if plot is not None:
        # Not through pyplot, which would look for a screen.
        from matplotlib.figure import Figure

        display = pu.displays.PriorsDisplay(found)
        figure = Figure(figsize=display.figsize, layout="constrained")
        display.plot(figure.subplots())
        with output.write_atomically("--plot", plot) as picture:
            figure.savefig(picture, format=Path(plot).suffix[1:].casefold(), dpi=150)
        output.note(f"picture written to {plot}", quiet=quiet)
    return 0


def _check_plot(path: str, file: str) -> None:
    """Complain before the work is done rather than after."""
    output.check_writable("--plot", path, not_this=file)
    if Path(path).suffix.casefold() not in _FORMATS:
        raise CommandError(f"--plot must end in {', '.join(_FORMATS)}, got {show(path)}.")
    from purecover._validation import require

    require("matplotlib.figure", extra="plot")
