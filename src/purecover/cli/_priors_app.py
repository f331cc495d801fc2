"""The command ``purecover priors``; what it does lives in the module it imports when run."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from purecover.cli._options import (
    ESTIMATORS,
    FEATURES,
    OUTPUT,
    RESAMPLING,
    DataOptions,
    Flag,
    Model,
    Positive,
    Quiet,
    Share,
    Text,
    Whole,
)

__all__ = ["priors"]

NO_DATA_OPTIONS = DataOptions()


def priors(
    file: str,
    /,
    *,
    data: DataOptions = NO_DATA_OPTIONS,
    features: Annotated[Text, Parameter(group=FEATURES)] = None,
    drop: Annotated[Text, Parameter(group=FEATURES)] = None,
    model: Annotated[Model | None, Parameter(group=FEATURES)] = None,
    folds: Annotated[Positive, Parameter(group=FEATURES)] = 5,
    jobs: Annotated[Positive | None, Parameter(group=FEATURES)] = None,
    estimators: Annotated[Text, Parameter(group=ESTIMATORS)] = None,
    beta: Annotated[Share | None, Parameter(group=ESTIMATORS)] = None,
    clean: Annotated[Flag, Parameter(group=ESTIMATORS)] = False,
    resamples: Annotated[Whole | None, Parameter(group=RESAMPLING)] = None,
    group: Annotated[Text, Parameter(group=RESAMPLING)] = None,
    confidence_level: Annotated[Share, Parameter(group=RESAMPLING)] = 0.95,
    seed: Annotated[Whole, Parameter(group=RESAMPLING)] = 0,
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    plot: Annotated[Text, Parameter(group=OUTPUT)] = None,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Estimate alpha and beta from scores or features in FILE, by every method side by side.

    Alpha is the share of positives among the unlabeled rows, beta the share among the labeled
    ones. Where the methods agree, the estimate does not hang on the assumptions of one of them.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    features
        Columns for the methods that look at features, with commas between them; a name that
        holds a comma stands in double quotes. Numbers are
        brought to one scale, texts of few values get a column for each value, and blank cells
        are filled in. Without --score, scores are made from them.
    drop
        Take all columns but these, with commas between them, and those named otherwise as
        features.
    model
        What makes scores from the features, each row scored by a model that has not seen it;
        logistic by default.
    folds
        Parts of the data, each scored by a model trained on the others.
    jobs
        Models trained at the same time.
    estimators
        Names with commas between them, such as default,alphamax-n,bbe; an unknown one brings
        the list. By default all that are made for scores, and with --features all that are made
        for features, but not alphamax, which alphamax-n runs both ways, nor those that wrap
        another, such as noisy.
    beta
        Share of positives among the labeled, if it is known. By default it is estimated: every
        method that takes labels for clean is run both ways, labeled and unlabeled exchanged.
    clean
        No label is wrong, the same as --beta 1: alpha alone is estimated.
    resamples
        Bootstrap resamples for the intervals of each estimator; 0 for none. By default 200 from
        scores and none from features, where each takes as long as the estimate itself.
    group
        Column of groups of dependent rows (one patient, one card), resampled together.
    confidence_level
        Confidence level of the intervals.
    seed
        Seed of folds, model and bootstrap.
    json
        Print one JSON document and nothing else.
    plot
        Draw the estimates into this file: .png, .svg or .pdf.
    quiet
        Print no table, notes or progress.
    """
    from purecover.cli._files import require_file

    require_file(file)
    from purecover.cli._feature_rows import FeatureOptions
    from purecover.cli._priors import run_priors

    return run_priors(
        file,
        data,
        FeatureOptions(features=features, drop=drop, model=model, folds=folds, jobs=jobs),
        estimators=estimators,
        beta=beta,
        clean=clean,
        resamples=resamples,
        group=group,
        confidence_level=confidence_level,
        seed=seed,
        json=json,
        plot=plot,
        quiet=quiet,
    )
