"""The command ``purecover evaluate-many``; what it does lives in the module it imports when run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from purecover.cli._options import (
    ASSUMPTIONS,
    DATA,
    INTERVALS,
    METRICS,
    OUTPUT,
    Area,
    Decimal,
    FileFormat,
    Flag,
    Number,
    Positive,
    Quiet,
    Repair,
    Scenario,
    Share,
    Text,
    Whole,
)

__all__ = ["ManyOptions", "evaluate_many"]


@Parameter(name="*", group=DATA)
@dataclass(frozen=True, kw_only=True)
class ManyOptions:
    """Where scores, labels and tasks are.

    Parameters
    ----------
    score
        Column of scores, or a pattern such as 'model_*'; may be repeated. Obvious names are found
        without it.
    labeled
        Column that says who carries the positive label, or a pattern such as 'GO:*'; repeat it
        for several tasks. Obvious names are found without it.
    by
        Column that says which task a row belongs to.
    weight
        Column of sample weights.
    positive_label
        Value that means labeled, where it is not obvious.
    negative_label
        Value that marks known negatives, a third kind of row.
    missing_is_unlabeled
        Count blank cells (also NA and null) of the labeled columns as unlabeled.
    format
        Format of the file, if its name and content do not tell.
    delimiter
        What separates the fields of a CSV file; found among , ; | and tab by default.
    decimal
        What stands before the decimals of a number: a point, or a comma.
    encoding
        Text encoding of the file.
    """

    score: Annotated[tuple[str, ...], Parameter(show_default=False)] = ()
    labeled: Annotated[tuple[str, ...], Parameter(show_default=False)] = ()
    by: Text = None
    weight: Text = None
    positive_label: Text = None
    negative_label: Text = None
    missing_is_unlabeled: Flag = False
    format: FileFormat | None = None
    delimiter: Text = None
    decimal: Decimal = "."
    encoding: str = "utf-8"


NO_MANY_OPTIONS = ManyOptions()


def evaluate_many(
    file: str,
    /,
    *,
    data: ManyOptions = NO_MANY_OPTIONS,
    min_rows: Annotated[Positive, Parameter(group=DATA)] = 10,
    alpha: Annotated[Share | None, Parameter(group=ASSUMPTIONS)] = None,
    beta: Annotated[Share | None, Parameter(group=ASSUMPTIONS)] = None,
    scenario: Annotated[Scenario | None, Parameter(group=ASSUMPTIONS)] = None,
    estimator: Annotated[Text, Parameter(group=ASSUMPTIONS)] = None,
    estimate_from: Annotated[Text, Parameter(group=ASSUMPTIONS)] = None,
    target: Annotated[str, Parameter(group=ASSUMPTIONS)] = "population",
    repair: Annotated[Repair | None, Parameter(group=ASSUMPTIONS)] = None,
    metric: Annotated[tuple[str, ...], Parameter(group=METRICS, show_default=False)] = (),
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
    ignore_check: Annotated[tuple[str, ...], Parameter(group=INTERVALS, show_default=False)] = (),
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
    alpha
        Share of positives among the unlabeled, in all tasks; estimated in each if nothing is
        said.
    beta
        Share of positives among the labeled; 1 means that no label is wrong. By default 1 beside
        a known alpha, and estimated beside an estimated one.
    scenario
        How the data were drawn. case-control: labeled and unlabeled apart. censoring: one
        sample, some of whose positives got labeled.
    estimator
        What estimates alpha and beta where they are not known, such as alphamax-n; purecover
        priors lists them all.
    estimate_from
        Which of several score columns alpha and beta of a task are estimated from; by default
        the one with the highest observed AUC.
    target
        Population that precision and the like speak of: population, deployment (like the
        unlabeled), pooled (labeled and unlabeled together) or a prior in [0, 1].
    repair
        How noisy points become a curve; chosen for each curve by default.
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
        target=target,
        metric=metric,
        ignore_check=ignore_check,
        settings={
            "min_rows": min_rows,
            "alpha": alpha,
            "beta": beta,
            "scenario": scenario,
            "estimator": estimator,
            "estimate_from": estimate_from,
            "repair": repair,
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
