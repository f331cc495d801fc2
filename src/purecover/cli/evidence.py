"""``purecover evidence``."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli import output
from purecover.cli.evaluate import MirrorIntervalOptions


class EvidenceOptions(opt.TargetOptions, opt.ShareOptions, group=opt.ASSUMPTIONS):
    """Alpha and beta, and the population whose prior the odds follow from.

    Parameters
    ----------
    target
        Population whose share of positives the odds follow from: population, deployment (like the
        unlabeled), pooled (labeled and unlabeled together) or a prior in [0, 1].
    """


def evidence(
    file: str,
    /,
    *,
    data: opt.DataOptions = opt.DataOptions(),
    assumptions: EvidenceOptions = EvidenceOptions(),
    intervals: MirrorIntervalOptions = MirrorIntervalOptions(),
    html: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
    title: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
    json: opt.Json = False,
    quiet: Annotated[opt.Quiet, Parameter(group=opt.OUTPUT)] = False,
) -> int:
    """Scores that are supporting, moderate, strong or very strong evidence (ACMG/AMP).

    Known pathogenic variants are labeled, those of the population unlabeled.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    html
        Write a page with the table, the likelihood ratio and what the prior hides to this file.
    title
        Heading of that page, such as the name of the score.
    quiet
        Print no table or notes.
    """
    from purecover.cli.rows import read_rows
    from purecover.estimators.choice import check_estimator
    from purecover.proportions import GivenProportions
    from purecover.report.pipeline import find_proportions, read_marks

    output.check_outputs({"--html": html}, not_this=file)
    given = GivenProportions.among(vars(assumptions)).validated(can_estimate=True)
    read = read_rows(file, data)
    marks = read_marks(read.label_column, read.scores.size, **read.companions)
    counts = marks.rows(read.scores).counts
    proportions, estimation = find_proportions(
        counts, given, None if given.ways else check_estimator(given.estimator)
    )
    found = pu.intervals.evidence_thresholds(
        counts,
        proportions,
        estimator=None if estimation is None else estimation.estimator,
        **{"target": assumptions.target, **vars(intervals)},
    )
    source = read.source(file)
    output.print_result(found, json=json, quiet=quiet, source=source)
    if html is not None:
        from purecover.html.page import render_evidence

        page = render_evidence(found, command=output.typed_command(), title=title, source=source)
        output.write_file("--html", html, page, "page", quiet=quiet)
    read.note_blanks(quiet=quiet)
    return 0
