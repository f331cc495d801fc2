"""The command ``purecover evaluate-data``; what it does lives in the module it imports when run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from purecover.cli._options import (
    DATA,
    FEATURES,
    INTERVALS,
    METRICS,
    MODEL,
    OUTPUT,
    AssumptionOptions,
    EvaluationOptions,
    IntervalOptions,
    MeasureOptions,
    Model,
    Names,
    Number,
    Positive,
    ReportOptions,
    Share,
    TableOptions,
    Text,
    Whole,
)

__all__ = ["evaluate_data"]


@Parameter(name="*", group=DATA)
@dataclass(frozen=True, kw_only=True)
class FeatureTableOptions(TableOptions):
    """Where the labels are.

    Parameters
    ----------
    labeled
        Column that says who carries the positive label: 1/0, true/false, positive/unlabeled.
        Obvious names are found without it.
    weight
        Column of sample weights; they count in the figures, not in the training.
    """


NO_TABLE_OPTIONS = FeatureTableOptions()
NO_ASSUMPTIONS = AssumptionOptions()
NO_REPORT_OPTIONS = ReportOptions()


def evaluate_data(
    file: str,
    /,
    *,
    table: FeatureTableOptions = NO_TABLE_OPTIONS,
    truth: Annotated[Text, Parameter(group=DATA)] = None,
    features: Annotated[Text, Parameter(group=FEATURES)] = None,
    drop: Annotated[Text, Parameter(group=FEATURES)] = None,
    model: Annotated[Model, Parameter(group=MODEL)] = "auto",
    folds: Annotated[Positive, Parameter(group=MODEL)] = 5,
    jobs: Annotated[Positive | None, Parameter(group=MODEL)] = None,
    group: Annotated[Text, Parameter(alias="--groups", group=MODEL)] = None,
    seed: Annotated[Whole, Parameter(alias="--random-state", group=MODEL)] = 0,
    assumptions: AssumptionOptions = NO_ASSUMPTIONS,
    threshold: Annotated[Number | None, Parameter(group=METRICS)] = None,
    resamples: Annotated[Whole | None, Parameter(group=INTERVALS)] = None,
    confidence_level: Annotated[Share, Parameter(group=INTERVALS)] = 0.95,
    ignore_check: Annotated[Names, Parameter(group=INTERVALS)] = (),
    output: ReportOptions = NO_REPORT_OPTIONS,
    scores_out: Annotated[Text, Parameter(group=OUTPUT)] = None,
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
    threshold
        Scores of at least this count as positive; the best Youden index by default.
    resamples
        Bootstrap resamples; 0 for none. By default 2000, and 1000 of more than 32,768 distinct
        scores.
    confidence_level
        Confidence level of intervals and bands.
    ignore_check
        Code of a check to silence, such as PU005; may be repeated.
    scores_out
        Write the scores to this CSV file, in the order of the rows, for the other commands;
        gzipped if it ends in .gz.
    """
    from purecover.cli._files import require_file

    require_file(file)
    from purecover.cli._evaluate_data import run_evaluate_data
    from purecover.cli._feature_rows import FeatureOptions

    return run_evaluate_data(
        file,
        table,
        FeatureOptions(features=features, drop=drop, model=model, folds=folds, jobs=jobs),
        EvaluationOptions(
            assumptions=assumptions,
            measures=MeasureOptions(threshold=threshold),
            intervals=IntervalOptions(
                resamples=resamples,
                group=group,
                confidence_level=confidence_level,
                seed=seed,
                ignore_check=ignore_check,
            ),
        ),
        output,
        truth=truth,
        scores_out=scores_out,
    )
