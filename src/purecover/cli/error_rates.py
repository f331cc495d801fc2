"""``purecover error-rates``."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from cyclopts import Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli import output
from purecover.cli.output import CommandError, show

NEGATIVE = ("-1", "-1.0", "decoy", "decoys", "negative", "neg", "control", "background")
"""Values that mark known negatives where nobody says which do."""


class MirrorOptions(opt.DataOptions, group=opt.DATA):
    """Where the scores are, and which rows are known negatives.

    Parameters
    ----------
    score
        Column of scores; larger means more of a signal. Obvious names are found without it.
    labeled
        Column that says which rows are known negatives: Label of a .pin file, for one.
    negative_label
        Value that marks known negatives; -1, decoy, negative, control and background are found.
    """


class MirrorIntervalOptions(opt.IntervalOptions, group=opt.INTERVALS):
    """How sure one may be.

    Parameters
    ----------
    n_resamples
        Bootstrap resamples for the intervals.
    """

    n_resamples: Annotated[opt.Positive, Parameter("--resamples")] = 500


def error_rates(
    file: str,
    /,
    *,
    data: MirrorOptions = MirrorOptions(),
    negatives: Annotated[opt.Text, Parameter(group=opt.DATA)] = None,
    pi0: Annotated[opt.Share | None, Parameter(group=opt.ASSUMPTIONS)] = None,
    estimator: Annotated[opt.Text, Parameter(group=opt.ASSUMPTIONS)] = None,
    intervals: MirrorIntervalOptions = MirrorIntervalOptions(),
    csv: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
    json: opt.Json = False,
    quiet: Annotated[opt.Quiet, Parameter(group=opt.OUTPUT)] = False,
) -> int:
    """False discovery rates, q-values and error probabilities from known negatives and a mixture.

    Targets and decoys, patients and controls, signal and background.

    Parameters
    ----------
    file
        CSV, TSV, JSON or Parquet, also .pin and tab files of Percolator and mokapot; text may be
        gzipped; - reads standard input.
    negatives
        A second file with the known negatives, such as mokapot.decoys.psms.txt; FILE is then the
        mixture alone, and no column of labels is needed.
    pi0
        Share of negatives in the mixture, if it is known; estimated by default.
    estimator
        What estimates it; label-curve by default.
    csv
        Write figures at every score to this CSV file.
    quiet
        Print no table or notes.
    """
    import numpy as np

    from purecover.cli import files
    from purecover.cli.rows import asked_columns, row_request

    output.check_outputs({"--csv": csv}, not_this=file)
    wanted = asked_columns(data)
    if negatives is not None:
        del wanted["labeled"]
    scores, negative = [], []
    for name in filter(None, (file, negatives)):
        source = files.name_of(name)
        request = partial(row_request, source, wanted=wanted, options=data)
        table = files.read_table(name, request, data, wanted.values())
        scores.append(table.numbers["score"])
        if negatives is not None:
            negative.append(np.full(scores[-1].size, name == negatives))
            continue
        words = table.words["labeled"]
        said = [word.strip().casefold() for word in words.values]
        marks = NEGATIVE if data.negative_label is None else (data.negative_label.casefold(),)
        meaning = np.array([word in marks for word in said])
        if meaning.all() or not meaning.any():
            what = f"column {show(table.columns['labeled'])} of {source}"
            shown = files.first_few([show(word) for word in words.values])
            raise CommandError(
                f"{what} must tell known negatives from the mixture, got {shown}.\n"
                "Hint: name the value that marks known negatives with --negative-label, or their "
                "file with --negatives."
            )
        negative.append(meaning[words.codes])
    found = pu.report.error_rates(
        np.concatenate(scores),
        np.concatenate(negative),
        pi0=pi0,
        estimator=estimator,
        **vars(intervals),
    )
    output.print_result(found, json=json, quiet=quiet, source={"file": files.name_of(file)})
    if csv is not None:
        columns = found.frame()
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        output.write_file("--csv", csv, output.csv_text(columns, rows), "table", quiet=quiet)
    return 0
