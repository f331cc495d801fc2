"""The command ``purecover evaluate-data``; what it does lives in the module it imports when run."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

from cyclopts import Parameter

from purecover.cli._options import (
    ASSUMPTIONS,
    DATA,
    FEATURES,
    INTERVALS,
    METRICS,
    MODEL,
    OUTPUT,
    AssumptionOptions,
    DataOptions,
    Decimal,
    FileFormat,
    Flag,
    IntervalOptions,
    Model,
    Number,
    Positive,
    Quiet,
    Share,
    Text,
    Whole,
)

__all__ = ["evaluate_data"]


@Parameter(name="*", group=DATA)
@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Where the labels are.

    Parameters
    ----------
    labeled
        Column that says who carries the positive label: 1/0, true/false, positive/unlabeled.
        Obvious names are found without it.
    weight
        Column of sample weights; they count in the figures, not in the training.
    positive_label
        Value that means labeled, where it is not obvious.
    negative_label
        Value that marks known negatives, a third kind of row.
    missing_is_unlabeled
        Count blank cells (also NA and null) of the labeled column as unlabeled.
    format
        Format of the file, if its name and content do not tell.
    delimiter
        What separates the fields of a CSV file; found among , ; | and tab by default.
    decimal
        What stands before the decimals of a number: a point, or a comma.
    encoding
        Text encoding of the file.
    """

    labeled: str | None = None
    weight: str | None = None
    positive_label: str | None = None
    negative_label: str | None = None
    missing_is_unlabeled: Flag = False
    format: FileFormat | None = None
    delimiter: str | None = None
    decimal: Decimal = "."
    encoding: str = "utf-8"


NO_TABLE_OPTIONS = TableOptions()
NO_ASSUMPTIONS = AssumptionOptions()


def evaluate_data(
    file: str,
    /,
    *,
    table: TableOptions = NO_TABLE_OPTIONS,
    truth: Annotated[Text, Parameter(group=DATA)] = None,
    features: Annotated[Text, Parameter(group=FEATURES)] = None,
    drop: Annotated[Text, Parameter(group=FEATURES)] = None,
    model: Annotated[Model, Parameter(group=MODEL)] = "auto",
    folds: Annotated[Positive, Parameter(group=MODEL)] = 5,
    jobs: Annotated[Positive | None, Parameter(group=MODEL)] = None,
    group: Annotated[Text, Parameter(alias="--groups", group=MODEL)] = None,
    seed: Annotated[Whole, Parameter(alias="--random-state", group=MODEL)] = 0,
    assumptions: AssumptionOptions = NO_ASSUMPTIONS,
    estimator: Annotated[Text, Parameter(group=ASSUMPTIONS)] = None,
    threshold: Annotated[Number | None, Parameter(group=METRICS)] = None,
    resamples: Annotated[Whole | None, Parameter(group=INTERVALS)] = None,
    confidence_level: Annotated[Share, Parameter(group=INTERVALS)] = 0.95,
    ignore_check: Annotated[tuple[str, ...], Parameter(group=INTERVALS, show_default=False)] = (),
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    html: Annotated[Text, Parameter(group=OUTPUT)] = None,
    markdown: Annotated[Text, Parameter(group=OUTPUT)] = None,
    scores_out: Annotated[Text, Parameter(group=OUTPUT)] = None,
    strict: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Train a model on the features in FILE and recover its true performance.

    The model learns labeled against unlabeled; every row is scored by a model that has not seen
    it. Numbers are used as they are, texts of few values get a column for each value, and blank
    cells are filled in; what was done is said on standard error.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    truth
        Column of true classes, if you have them: the report then shows them side by side. No
        model sees it.
    features
        Columns to learn from, with commas between them; by default all but those named otherwise
        and those that a name such as truth or score gives away. A name that holds a comma stands
        in double quotes.
    drop
        Columns not to learn from, such as identifiers, with commas between them.
    model
        auto tries them all and keeps the best; networks are the bagged ones of the paper.
    folds
        Parts of the data, each scored by a model trained on the others.
    jobs
        Models trained at the same time.
    group
        Column of groups of dependent rows (one patient, one card), kept together in folds and
        resampled together.
    seed
        Seed of folds, model and bootstrap.
    estimator
        What estimates alpha and beta where they are not known, such as alphamax-n; purecover
        priors lists them all.
    threshold
        Scores of at least this count as positive; the best Youden index by default.
    resamples
        Bootstrap resamples; 0 for none. By default 2000, and 1000 of more than 32,768 distinct
        scores.
    confidence_level
        Confidence level of intervals and bands.
    ignore_check
        Code of a check to silence, such as PU005; may be repeated.
    json
        Print one JSON document and nothing else.
    html
        Write the report as a web page to this file.
    markdown
        Write the report as Markdown to this file, for an issue or a pull request.
    scores_out
        Write the scores to this CSV file, in the order of the rows, for the other commands;
        gzipped if it ends in .gz.
    strict
        Exit with 1 if a check of severity error speaks.
    quiet
        Print no report, notes or progress.
    """
    from purecover.cli._files import require_file

    require_file(file)
    from purecover.cli._evaluate_data import run_evaluate_data

    return run_evaluate_data(
        file,
        DataOptions(**{field.name: getattr(table, field.name) for field in fields(table)}),
        assumptions,
        features=features,
        drop=drop,
        truth=truth,
        model=model,
        folds=folds,
        jobs=jobs,
        estimator=estimator,
        threshold=threshold,
        resamples=resamples,
        intervals=IntervalOptions(
            group=group, confidence_level=confidence_level, seed=seed, ignore_check=ignore_check
        ),
        json=json,
        html=html,
        markdown=markdown,
        scores_out=scores_out,
        strict=strict,
        quiet=quiet,
    )
