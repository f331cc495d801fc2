"""The command ``purecover evaluate-many``; what it does lives in the module it imports when run."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from purecover.cli._many_options import ManyOptions, TaskAssumptionOptions
from purecover.cli._options import (
    ASSUMPTIONS,
    DATA,
    INTERVALS,
    METRICS,
    OUTPUT,
    Area,
    Flag,
    Names,
    Number,
    Positive,
    Quiet,
    Share,
    Text,
    Whole,
)

__all__ = ["evaluate_many"]


NO_MANY_OPTIONS = ManyOptions()
NO_ASSUMPTIONS = TaskAssumptionOptions()


def evaluate_many(
    file: str,
    /,
    *,
    data: ManyOptions = NO_MANY_OPTIONS,
    min_rows: Annotated[Positive, Parameter(group=DATA)] = 10,
    assumptions: TaskAssumptionOptions = NO_ASSUMPTIONS,
    estimate_from: Annotated[Text, Parameter(group=ASSUMPTIONS)] = None,
    metric: Annotated[Names, Parameter(group=METRICS)] = (),
    threshold: Annotated[Number | None, Parameter(group=METRICS)] = None,
    max_fpr: Annotated[Share, Parameter(group=METRICS)] = 0.1,
    top_k: Annotated[Positive | None, Parameter(group=METRICS)] = None,
    area: Annotated[Area, Parameter(group=METRICS)] = "davis-goadrich",
    resamples: Annotated[Whole, Parameter(group=INTERVALS)] = 500,
    simultaneous: Annotated[
        Literal["bonferroni", "sidak"] | None, Parameter(group=INTERVALS)
    ] = None,
    confidence_level: Annotated[Share, Parameter(group=INTERVALS)] = 0.95,
    seed: Annotated[Whole, Parameter(group=INTERVALS)] = 0,
    ignore_check: Annotated[Names, Parameter(group=INTERVALS)] = (),
    jobs: Annotated[Positive | None, Parameter(group=INTERVALS)] = None,
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    csv: Annotated[Text, Parameter(group=OUTPUT)] = None,
    strict: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Recover the true performance of many models or on many tasks, as one table.

    A row for each task and score; a task that cannot be evaluated has a row that says why.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    min_rows
        Do not evaluate tasks with fewer labeled or fewer unlabeled rows.
    estimate_from
        Which of several score columns alpha and beta of a task are estimated from; by default
        the one with the highest observed AUC.
    metric
        Metric of the table, such as roc_auc; may be repeated. By default roc_auc, auc_pr,
        precision and recall.
    threshold
        Scores of at least this count as positive; the best Youden index of each row by default.
    max_fpr
        Largest false-positive rate of the partial AUC.
    top_k
        Number of unlabeled rows with the highest scores, for precision_at_k and recall_at_k.
    area
        How the area under the precision-recall curve is taken.
    resamples
        Bootstrap resamples of each row; 0 for none.
    simultaneous
        Make the intervals of a metric hold for all rows at once.
    confidence_level
        Confidence level of intervals.
    seed
        Seed of the bootstrap.
    ignore_check
        Code of a check to silence, such as PU005; may be repeated.
    jobs
        Rows worked on at the same time.
    json
        Print one JSON document and nothing else.
    csv
        Write all rows and columns to this CSV file.
    strict
        Exit with 1 if a check of severity error speaks.
    quiet
        Print no table, notes or progress.
    """
    from purecover.cli._many import run_evaluate_many

    return run_evaluate_many(
        file,
        data,
        assumptions,
        metric=metric,
        ignore_check=ignore_check,
        settings={
            "min_rows": min_rows,
            "estimate_from": estimate_from,
            "threshold": threshold,
            "max_fpr": max_fpr,
            "top_k": top_k,
            "area": area,
            "n_resamples": resamples,
            "simultaneous": simultaneous,
            "confidence_level": confidence_level,
            "random_state": seed,
            "n_jobs": jobs,
        },
        json=json,
        csv=csv,
        strict=strict,
        quiet=quiet,
    )
