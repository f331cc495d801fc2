"""``purecover priors``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli.output import (
    CommandError,
    check_writable,
    in_options,
    note,
    print_json,
    progress_bars,
    show,
    undash,
    write_atomically,
)

if TYPE_CHECKING:
    from purecover._typing import FloatArray
    from purecover.cli.features import FeatureOptions, Features
    from purecover.cli.rows import Rows
    from purecover.estimators.compare import PriorComparison

__all__ = ["priors"]

_FORMATS = (".png", ".svg", ".pdf")
NO_DATA_OPTIONS = opt.DataOptions()


def priors(
    file: str,
    /,
    *,
    data: opt.DataOptions = NO_DATA_OPTIONS,
    features: Annotated[opt.Text, Parameter(group=opt.FEATURES)] = None,
    drop: Annotated[opt.Text, Parameter(group=opt.FEATURES)] = None,
    model: Annotated[opt.Model | None, Parameter(group=opt.FEATURES)] = None,
    folds: Annotated[opt.Positive, Parameter(group=opt.FEATURES)] = 5,
    jobs: Annotated[opt.Positive | None, Parameter(group=opt.FEATURES)] = None,
    estimators: Annotated[opt.Text, Parameter(group=opt.ESTIMATORS)] = None,
    beta: Annotated[opt.Share | None, Parameter(group=opt.ESTIMATORS)] = None,
    clean: Annotated[opt.Flag, Parameter(group=opt.ESTIMATORS)] = False,
    resamples: Annotated[opt.Whole | None, Parameter(group=opt.RESAMPLING)] = None,
    group: Annotated[opt.Text, Parameter(group=opt.RESAMPLING)] = None,
    confidence_level: Annotated[opt.Share, Parameter(group=opt.RESAMPLING)] = 0.95,
    seed: Annotated[opt.Whole, Parameter(group=opt.RESAMPLING)] = 0,
    json: Annotated[opt.Flag, Parameter(group=opt.OUTPUT)] = False,
    plot: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
    quiet: Annotated[opt.Quiet, Parameter(group=opt.OUTPUT)] = False,
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
    from purecover.cli.files import require_file

    require_file(file)
    from purecover.cli.features import FeatureOptions
    from purecover.displays.priors import save_priors
    from purecover.intervals.interval import check_level

    given = FeatureOptions(features=features, drop=drop, model=model, folds=folds, jobs=jobs)
    names = _names(estimators)
    if clean and beta not in (None, 1):
        raise CommandError(f"--clean says that beta is 1, but --beta says {beta:g}.")
    level = check_level(confidence_level)
    _check_features(given, data)
    if plot is not None:
        _check_plot(plot, file)
    with progress_bars(quiet=quiet) as steps:
        read = _read(file, data, given, names, group=group, seed=seed, steps=steps)
        rows = read.rows
        found = pu.compare_priors(
            read.scores,
            rows.label_column,
            features=read.matrix,
            negative_label=rows.negative_label,
            sample_weight=rows.weights,
            groups=rows.groups,
            estimators=names,
            beta=1.0 if clean else beta,
            confidence_level=level,
            n_resamples=resamples,
            random_state=seed,
            progress=steps("Estimating"),
        )
    found = replace(found, scores_from=read.scores_from)
    _require_an_estimate(found)
    if plot is not None:
        with write_atomically("--plot", plot) as picture:
            save_priors(found, picture, Path(plot).suffix[1:].casefold())
    if json:
        document = found.to_dict()
        document["source"] = rows.source(file)
        if read.features is not None:
            document["source"]["features"] = read.features.to_dict()
        print_json(document)
    elif not quiet:
        print(found)  # noqa: T201
    if read.features is not None:
        read.features.say(quiet=quiet, marked=False)
    rows.note_blanks(quiet=quiet)
    if plot is not None:
        note(f"picture written to {plot}", quiet=quiet)
    return 0


def _check_features(given: FeatureOptions, data: opt.DataOptions) -> None:
    """Complain about options that say nothing together."""
    given.check()
    if given.model is None:
        return
    if not given.wanted:
        raise CommandError("--model makes scores from features; name them with --features.")
    if data.score is not None:
        raise CommandError("give --score, or --model to make scores from the features, not both.")


@dataclass(frozen=True)
class _Read:
    """What is estimated from, and how it came about."""

    rows: Rows
    scores: FloatArray | None
    matrix: FloatArray | None = None
    scores_from: str | None = None
    features: Features | None = None


def _read(
    file: str,
    data: opt.DataOptions,
    given: FeatureOptions,
    names: list[str] | None,
    *,
    group: str | None,
    seed: int,
    steps: Any,
) -> _Read:
    """Scores, features or both; scores are made only for those who look at them."""
    from purecover.cli.features import make_scores, read_feature_rows, standardized
    from purecover.cli.rows import read_rows

    steps("Reading")
    if not given.wanted:
        rows = read_rows(file, data, group=group)
        return _Read(rows, rows.scores)
    read = read_feature_rows(file, data, given, score=data.score, group=group)
    matrix = standardized(read.features)
    if data.score is not None:
        return _Read(read.rows, read.rows.scores, matrix, features=read.features)
    if given.model is None and names is not None and not _any_for_scores(names):
        return _Read(read.rows, None, matrix, features=read.features)
    made = make_scores(read, given, default="logistic", seed=seed, progress=steps("Training"))
    return _Read(read.rows, made.scores, matrix, made.description, read.features)


def _any_for_scores(names: list[str]) -> bool:
    from purecover.estimators.base import prior_estimators

    known = prior_estimators()
    return any(name not in known or known[name].takes == "scores" for name in names)


def _names(given: str | None) -> list[str] | None:
    """Names of estimators in any case, each once; None for all."""
    if given is None:
        return None
    words = [undash(word.strip()) for word in given.split(",")]
    from purecover.estimators.compare import estimator_names

    known = estimator_names()
    names = [word.casefold().replace("_", "-") for word in words]
    for word, name in zip(words, names, strict=True):
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}? The names are" if near else "the names are"
            raise CommandError(
                f"--estimators must be names with commas between them, got {show(word)}.\n"
                f"Hint: {hint} {', '.join(known)}."
            )
    return list(dict.fromkeys(names))


def _require_an_estimate(found: PriorComparison) -> None:
    """A table without a number is bad input, not a result."""
    if not found.succeeded:
        row = found.rows[0]
        said = in_options(row.error or "")
        many = "" if len(found) == 1 else f"none of {len(found)} estimators finds alpha and beta; "
        raise CommandError(f"{many}{row.name}: {said}")


def _check_plot(path: str, file: str) -> None:
    """Complain before the work is done rather than after."""
    check_writable("--plot", path, not_this=file)
    if Path(path).suffix.casefold() not in _FORMATS:
        raise CommandError(f"--plot must end in {', '.join(_FORMATS)}, got {show(path)}.")
    from purecover._validation import require

    require("matplotlib.figure", extra="plot")
