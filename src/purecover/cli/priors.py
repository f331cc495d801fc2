"""``purecover priors``."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli import output
from purecover.cli.output import CommandError, show

if TYPE_CHECKING:
    from purecover.estimators.comparison import PriorComparison

_FORMATS = (".png", ".svg", ".pdf")


class PriorFeatureOptions(opt.FeatureOptions, group=opt.FEATURES):
    """Which columns are features, and what makes scores of them.

    Parameters
    ----------
    features
        Columns for the methods that look at features, with commas between them; a name that
        holds a comma stands in double quotes. Numbers are
        brought to one scale, texts of few values get a column for each value, and blank cells
        are filled in. Without --score, scores are made from them.
    drop
        Take all columns but these, with commas between them, and those named otherwise as
        features.
    model
        What makes scores from the features, each row scored by a model that has not seen it. By
        default the mean rank of each row by a logistic regression, boosted trees and a forest.
    """

    model: opt.Model | None = None  # type: ignore[assignment]


class PriorResamplingOptions(opt.IntervalOptions, group=opt.RESAMPLING):
    """How sure one may be.

    Parameters
    ----------
    n_resamples
        Bootstrap resamples for the intervals of each estimator; 0 for none. By default 200 from
        scores and none from features, where each takes as long as the estimate itself.
    """


def priors(
    file: str,
    /,
    *,
    data: opt.DataOptions = opt.DataOptions(),
    learning: PriorFeatureOptions = PriorFeatureOptions(),
    estimators: Annotated[opt.Text, Parameter(group=opt.ESTIMATORS)] = None,
    beta: Annotated[opt.Share | None, Parameter(group=opt.ESTIMATORS)] = None,
    clean: Annotated[opt.Flag, Parameter(group=opt.ESTIMATORS)] = False,
    group: Annotated[opt.GroupColumn, Parameter(group=opt.RESAMPLING)] = None,
    intervals: PriorResamplingOptions = PriorResamplingOptions(),
    json: opt.Json = False,
    plot: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
    quiet: Annotated[opt.Quiet, Parameter(group=opt.OUTPUT)] = False,
) -> int:
    """Estimate alpha and beta from scores or features in FILE, by every method side by side.

    Alpha is the share of positives among the unlabeled rows, beta the share among the labeled
    ones. Where the methods agree, the estimate does not depend on the assumptions of one of them.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
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
    plot
        Draw the estimates into this file: .png, .svg or .pdf.
    quiet
        Print no table, notes or progress.
    """
    from purecover.cli.features import make_scores, read_feature_rows, standardized
    from purecover.cli.rows import read_rows
    from purecover.intervals.interval import check_level

    names = _names(estimators)
    if clean and beta not in (None, 1):
        raise CommandError(f"--clean says that beta is 1, but --beta says {beta:g}.")
    level, seed = check_level(intervals.confidence_level), intervals.random_state
    by_features = learning.features is not None or learning.drop is not None
    if learning.model is not None and not by_features:
        raise CommandError("--model makes scores from features; name them with --features.")
    if learning.model is not None and data.score is not None:
        raise CommandError("give --score, or --model to make scores from the features, not both.")
    if plot is not None:
        _check_plot(plot, file)
    with output.progress_bars(quiet=quiet) as steps:
        steps("Reading")
        features = matrix = made = None
        if not by_features:
            rows = read_rows(file, data, group=group)
        else:
            features, rows = read_feature_rows(file, data, learning, group=group)
            matrix = standardized(features)
            # Scores are made only for those who look at them.
            if data.score is None and (learning.model or names is None or _any_for_scores(names)):
                made = make_scores(features, rows, learning, seed=seed, progress=steps("Training"))
        found = pu.compare_priors(
            rows.table.numbers.get("score") if made is None else made.scores,
            rows.label_column,
            features=matrix,
            **rows.beside,
            groups=rows.companions["groups"],
            estimators=names,
            beta=1.0 if clean else beta,
            confidence_level=level,
            n_resamples=intervals.n_resamples,
            random_state=seed,
            progress=steps("Estimating"),
        )
    _require_an_estimate(found)
    source = rows.source(file)
    if features is not None:
        source["features"] = features.to_dict()
    output.print_result(found, json=json, quiet=quiet, source=source)
    if plot is not None:
        from purecover.displays.priors import save_priors

        with output.write_atomically("--plot", plot) as picture:
            save_priors(found, picture, Path(plot).suffix[1:].casefold())
        output.note(f"picture written to {plot}", quiet=quiet)
    if features is not None:
        features.say(quiet=quiet, marked=False)
    rows.note_blanks(quiet=quiet)
    return 0


def _any_for_scores(names: list[str]) -> bool:
    from purecover.estimators.base import prior_estimators

    known = prior_estimators()
    return any(name not in known or known[name].takes == "scores" for name in names)


def _names(given: str | None) -> list[str] | None:
    """Names of estimators in any case, each once; None for all."""
    if given is None:
        return None
    words = [word.strip() for word in given.split(",")]
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
        said = output.in_options(row.error or "")
        many = "" if len(found) == 1 else f"none of {len(found)} estimators finds alpha and beta; "
        raise CommandError(f"{many}{row.name}: {said}")


def _check_plot(path: str, file: str) -> None:
    """Complain before the work is done rather than after."""
    output.check_writable("--plot", path, not_this=file)
    if Path(path).suffix.casefold() not in _FORMATS:
        raise CommandError(f"--plot must end in {', '.join(_FORMATS)}, got {show(path)}.")
    from purecover._validation import require

    require("matplotlib.figure", extra="plot")
