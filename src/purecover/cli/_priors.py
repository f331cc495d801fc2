"""``purecover priors``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from purecover._typing import FloatArray
from purecover._validation import require, show
from purecover.cli._data import Rows, describe_source, note_blank_labels, read_rows
from purecover.cli._feature_rows import FeatureOptions, make_scores, read_feature_rows
from purecover.cli._features import Features, standardized
from purecover.cli._messages import CommandError, in_options, note
from purecover.cli._options import DataOptions, undash
from purecover.cli._output import check_writable, print_json, write_atomically
from purecover.cli._progress import progress_bars
from purecover.displays.priors import save_priors
from purecover.estimators.base import prior_estimators
from purecover.estimators.compare import PriorComparison, compare_priors, estimator_names
from purecover.intervals.interval import check_level

__all__ = ["run_priors"]

_COMMAND = "purecover priors"
_FORMATS = (".png", ".svg", ".pdf")


def run_priors(
    file: str,
    data: DataOptions,
    features: FeatureOptions,
    *,
    estimators: str | None,
    beta: float | None,
    clean: bool,
    resamples: int | None,
    group: str | None,
    confidence_level: float,
    seed: int,
    json: bool,
    plot: str | None,
    quiet: bool,
) -> int:
    """Estimate, print, draw, return the exit code."""
    names = _names(estimators)
    if clean and beta not in (None, 1):
        raise CommandError(f"--clean says that beta is 1, but --beta says {beta:g}.")
    level = check_level(confidence_level)
    _check_features(features, data)
    if plot is not None:
        _check_plot(plot, file)
    with progress_bars(quiet=quiet) as steps:
        read = _read(file, data, features, names, group=group, seed=seed, steps=steps)
        rows = read.rows
        found = compare_priors(
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
        document["source"] = describe_source(file, rows)
        if read.features is not None:
            document["source"]["features"] = read.features.to_dict()
        print_json(document)
    elif not quiet:
        print(found)  # noqa: T201
    if read.features is not None:
        read.features.say(quiet=quiet, marked=False)
    note_blank_labels(rows, quiet=quiet)
    if plot is not None:
        note(f"picture written to {plot}", quiet=quiet)
    return 0


def _check_features(given: FeatureOptions, data: DataOptions) -> None:
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
    data: DataOptions,
    given: FeatureOptions,
    names: list[str] | None,
    *,
    group: str | None,
    seed: int,
    steps: Any,
) -> _Read:
    """Scores, features or both; scores are made only for those who look at them."""
    if not given.wanted:
        rows = read_rows(file, data, group=group, progress=steps("Reading"))
        return _Read(rows, rows.scores)
    read = read_feature_rows(
        file,
        data,
        given,
        score=data.score,
        group=group,
        progress=steps("Reading"),
    )
    matrix = standardized(read.features)
    if data.score is not None:
        return _Read(read.rows, read.rows.scores, matrix, features=read.features)
    if given.model is None and names is not None and not _any_for_scores(names):
        return _Read(read.rows, None, matrix, features=read.features)
    made = make_scores(
        read,
        given,
        default="logistic",
        seed=seed,
        progress=steps("Training"),
    )
    return _Read(read.rows, made.scores, matrix, made.description, read.features)


def _any_for_scores(names: list[str]) -> bool:
    known = prior_estimators()
    return any(name not in known or known[name].takes == "scores" for name in names)


def _names(given: str | None) -> list[str] | None:
    """Names of estimators in any case, each once; None for all."""
    if given is None:
        return None
    words = [undash(word.strip()) for word in given.split(",")]
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
    require("matplotlib.figure", extra="plot")
