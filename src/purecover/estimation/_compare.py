"""All estimators of alpha and beta side by side on the same examples."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

from sklearn.base import clone

from purecover._typing import ArrayLike, RandomState
from purecover._validation import (
    bad_type,
    bad_value,
    check_integer,
    check_names,
    check_progress,
    check_random_state,
    check_real,
    kept_seed,
    show,
)
from purecover.counts import ScoreCounts
from purecover.estimation._asked import tell_clean
from purecover.estimation._base import PriorEstimator
from purecover.estimation._compare_data import (
    FeatureSample,
    ScoreSample,
    read_features,
    read_scores,
    reads_features,
)
from purecover.estimation._comparison import PriorComparison, PriorRow
from purecover.estimation._default import default_estimator
from purecover.estimation._known_beta import KnownBeta, full_name
from purecover.estimation._noisy import NoisyLabels
from purecover.estimation._registry import prior_estimators
from purecover.estimation._samples import TOO_FEW_LABELED
from purecover.exceptions import PurecoverError
from purecover.intervals._interval import Interval, check_level
from purecover.proportions import percent_hint

__all__ = ["compare_priors", "estimator_names"]

_NAME = "compare_priors"
DEFAULT = "default"
"""What the default estimator is called where it is not registered under another name."""

FEW_RESAMPLES = 40
"""With fewer, a bootstrap interval means nothing: 2.5 % of 40 replicates is one of them."""

SCORE_RESAMPLES = 200
"""Replicates where nothing is said, from scores; from features each takes as long as the fit."""


def compare_priors(
    scores: ArrayLike | ScoreCounts | None = None,
    labeled: ArrayLike | None = None,
    *,
    features: Any = None,
    estimators: Iterable[str | PriorEstimator] | Mapping[str, PriorEstimator] | None = None,
    beta: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    positive_label: object = None,
    negative_label: object = None,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    random_state: RandomState = 0,
    progress: Callable[[int, int], None] | None = None,
) -> PriorComparison:
    """Estimate alpha and beta by every method at hand.

    No method is right everywhere. Where they agree, the estimate does not hang on the
    assumptions of one of them; where they differ, neither should be trusted to more digits than
    the difference leaves.

    Parameters
    ----------
    scores : array-like of shape (n,) or ScoreCounts, optional
        Scores of held-out examples, larger means more positive; or their counts. Without
        scores, only those that take features are run; :func:`cross_fit_scores` makes scores.
    labeled : array-like of shape (n,)
        True where the example carries the positive label; see :meth:`ScoreCounts.from_scores`.
    features : array-like of shape (n, n_features) or data frame, optional
        A row of numbers for each example, in like units, for the estimators that take features;
        those that take scores still look at the scores, and each row of the result says what it
        is estimated from. Without features, the score is the only feature.
    estimators : iterable or mapping, optional
        Names of :func:`prior_estimators` (and ``"default"``), estimators of your own, or
        estimators by the name they shall have in the table. By default the default estimator
        and all registered ones that are made for what is given: for scores, for features or
        for both. Not those that wrap another, nor :class:`AlphaMax` beside
        :class:`AlphaMaxN`, which is the same run both ways.
    beta : float, optional
        The share of positives among the labeled, if it is known: 1 says that no label is wrong.
        Alpha is then estimated for that beta, and methods that estimate beta from scores are
        left out unless one of them is named or the default. By default beta is estimated
        too: a method that takes labels for clean is run both ways by :class:`NoisyLabels`.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; who takes features knows none.
    groups : array-like of shape (n,), optional
        Which rows depend on each other; whole groups are resampled then.
    positive_label, negative_label : object, optional
        As in :meth:`ScoreCounts.from_scores`. Known negatives are left out.
    confidence_level : float, default=0.95
        Nominal coverage of the intervals.
    n_resamples : int, optional
        Replicates for each; 0 for no intervals. Default: 200 from scores, and none from
        features, where each replicate takes as long as the estimate itself.
    random_state : int, numpy.random.Generator or None, default=0
        Where randomness comes from. All estimators see the same replicates.
    progress : callable, optional
        Called as ``progress(done, total)`` after each estimator.

    Returns
    -------
    PriorComparison
        A row for each estimator. One that cannot estimate has its complaint in its row.

    See Also
    --------
    prior_estimators : Their names and classes.
    PriorsDisplay : Draws the comparison.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3.0).sample(200, 1000, alpha=0.3, random_state=0)
    >>> found = pu.compare_priors(
    ...     sample.scores, sample.labeled, estimators=["bbe", "roc-slope"], n_resamples=0
    ... )
    >>> [row.name for row in found]
    ['bbe', 'roc-slope']
    >>> all(abs(row.proportions.alpha - 0.3) < 0.15 for row in found)
    True
    >>> [row.proportions.origin for row in found]
    ['NoisyLabels(BBE)', 'NoisyLabels(RocSlope)']

    With features beside the scores:

    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=1200)
    >>> both = pu.compare_priors(
    ...     sample.scores,
    ...     sample.labeled,
    ...     features=np.column_stack((sample.scores, noise)),
    ...     estimators=["bbe", "tice"],
    ...     n_resamples=0,
    ... )
    >>> [(row.name, row.estimated_from) for row in both]
    [('bbe', 'scores'), ('tice', 'features')]
    """
    if beta is not None:
        beta = check_real(
            _NAME, "beta", beta, low=0, high=1, closed="right", hint=percent_hint(beta)
        )
    level = check_level(_NAME, confidence_level)
    replicates = {"scores": SCORE_RESAMPLES, "features": 0}
    if n_resamples is not None:
        n_resamples = check_integer(_NAME, "n_resamples", n_resamples, low=0, high=10**7)
        replicates = dict.fromkeys(replicates, n_resamples)
    check_progress(_NAME, progress)
    seed = _seed(random_state)
    samples, n_features = _read(
        scores,
        labeled,
        features,
        {"sample_weight": sample_weight, "groups": groups},
        {"positive_label": positive_label, "negative_label": negative_label},
    )
    chosen, default = _choose(estimators, samples, noisy=beta is None)
    settings = {"confidence_level": level, "random_state": seed}
    rows: list[PriorRow] = []
    for done, (name, estimator) in enumerate(chosen.items()):
        if progress is not None:
            progress(done, len(chosen))
        prepared = _prepared(estimator, beta)
        kind = "features" if "features" in samples and reads_features(prepared) else "scores"
        n = replicates[kind]
        row = _run(name, prepared, beta, samples[kind], {"n_resamples": n, **settings})
        rows.append(replace(row, is_default=name == default, estimated_from=kind))
    if progress is not None:
        progress(len(chosen), len(chosen))
    sample = samples.get("scores") or samples["features"]
    made = max(replicates[row.estimated_from] for row in rows)
    unasked = n_resamples is None and any(row.estimated_from == "features" for row in rows)
    return PriorComparison(
        rows=tuple(rows),
        n_labeled=sample.sizes[0],
        n_unlabeled=sample.sizes[1],
        n_thresholds=_n_thresholds(samples.get("scores")),
        n_features=n_features,
        beta=beta,
        confidence_level=level,
        n_resamples=made,
        notes=(
            *(_interval_notes(sample.effective_labeled, made) if made else ()),
            *((NO_FEATURE_INTERVALS,) if unasked else ()),
        ),
    )


NO_FEATURE_INTERVALS = (
    "estimates from features have no interval unless a number of resamples is asked for: each "
    "would take as long as the estimate itself"
)


def _interval_notes(n_labeled: float, n_resamples: int) -> tuple[str, ...]:
    """What to say of all bootstrap intervals together."""
    notes = []
    if n_labeled < TOO_FEW_LABELED:
        many = "" if n_labeled == 1 else "s"
        notes.append(
            f"bootstrap intervals of {n_labeled:.3g} labeled example{many} say little: do not "
            "rely on them"
        )
    if n_resamples < FEW_RESAMPLES:
        many = "" if n_resamples == 1 else "s"
        notes.append(
            f"bootstrap intervals from {n_resamples} resample{many} are rough: take 200 or more"
        )
    return tuple(notes)


def _run(
    name: str,
    estimator: PriorEstimator,
    beta: float | None,
    sample: ScoreSample | FeatureSample,
    settings: Mapping[str, Any],
) -> PriorRow:
    """One estimator's row; what it complains about is part of the comparison."""
    start = perf_counter()
    try:
        sample.fit(estimator)
    except PurecoverError as error:
        return PriorRow(name=name, error=str(error), seconds=perf_counter() - start)
    seconds = perf_counter() - start
    # One that takes labels for clean, or was told that they are, says beta = 1 by itself.
    fixed = None
    if beta is not None and (beta != 1 or estimator.estimates_beta):
        fixed = KnownBeta(estimator, beta)
    notes = tuple(estimator.diagnostics_["notes"])
    intervals: Mapping[str, Interval] = {}
    if settings["n_resamples"]:
        try:
            intervals = sample.intervals(estimator, fixed, **settings)
        except PurecoverError as error:
            notes += (f"no interval: {str(error).splitlines()[0]}",)
        told = [each.method for each in intervals.values() if "rejected" in each.method]
        notes += tuple(dict.fromkeys(f"interval: {method}" for method in told))
    return PriorRow(
        name=name,
        proportions=(
            replace(estimator.proportions_, origin=full_name(estimator))
            if fixed is None
            else fixed.proportions_
        ),
        intervals=intervals,
        notes=notes,
        seconds=seconds,
    )


# -- which estimators -----------------------------------------------------------------------


def estimator_names() -> list[str]:
    """The names that :func:`compare_priors` knows."""
    return [DEFAULT, *(name for name in prior_estimators() if name != DEFAULT)]


def _choose(
    estimators: Any, kinds: Collection[str], *, noisy: bool
) -> tuple[dict[str, PriorEstimator], str | None]:
    """Estimators by name, and the name that the default has among them, if it is."""
    known = prior_estimators()
    default = default_estimator()
    title = next((name for name, cls in known.items() if _alike(cls(), default)), DEFAULT)
    if estimators is None:
        noisily = [cls for cls in known.values() if cls().estimates_beta]
        chosen = {title: default} if "scores" in kinds else {}
        for name, cls in known.items():
            # The wrapper is no method of its own: it is what wraps the others here. And what
            # has a variant that estimates beta would give the same numbers when wrapped.
            in_other_words = any(other is not cls and issubclass(other, cls) for other in noisily)
            if name in chosen or not _stands_alone(cls, kinds) or (noisy and in_other_words):
                continue
            if noisy or cls not in noisily or cls.takes == "features":
                chosen[name] = cls()
        return chosen, title
    if isinstance(estimators, Mapping):
        _check_estimators(estimators.values())
        pairs = [(str(name), estimator) for name, estimator in estimators.items()]
    else:
        given = _listed(estimators, estimator_names())
        pairs = []
        for each in given:
            if not isinstance(each, str):
                names = [name for name, cls in known.items() if type(each) is cls]
                pairs.append((names[0] if names else type(each).__name__, each))
            elif each in (DEFAULT, title):
                pairs.append((title, default))
            else:
                pairs.append((each, known[each]()))
    chosen = dict(pairs)
    if not chosen:
        raise bad_value(_NAME, "estimators", "at least one", "none")
    if len(chosen) < len(pairs):
        twice = next(name for i, (name, _) in enumerate(pairs) if name in dict(pairs[:i]))
        hint = "pass a dict to give variants of one estimator names of their own"
        raise bad_value(_NAME, "estimators", "of different names", f"{show(twice)} twice", hint)
    for name, estimator in pairs:
        if "scores" not in kinds and not reads_features(estimator):
            must = "such as take features where no scores are given"
            hint = "make scores with cross_fit_scores(model, features, labeled)"
            raise bad_value(_NAME, "estimators", must, f"{show(name)}, which needs scores", hint)
    return chosen, next((name for name, each in pairs if _alike(each, default)), None)


def _stands_alone(cls: type[PriorEstimator], kinds: Collection[str]) -> bool:
    """Whether it is a method of its own, made for what is given; others are slow or repeat one."""
    # What wraps an estimator of scores and takes features is no repetition: it looks at more.
    wraps = cls.takes == "scores" and "estimator" in cls().get_params(deep=False)
    return cls.takes in kinds and not wraps


def _alike(one: PriorEstimator, other: PriorEstimator) -> bool:
    """Whether two are of one class and have the same parameters, which they show."""
    return type(one) is type(other) and repr(one) == repr(other)


def _listed(estimators: Any, names: list[str]) -> list[str | PriorEstimator]:
    """A list of names and estimators, or a complaint."""
    if isinstance(estimators, PriorEstimator):
        hint = "put it into a list"
        raise bad_type(_NAME, "estimators", "a list of names or estimators", estimators, hint)
    if isinstance(estimators, str) or not isinstance(estimators, Iterable):
        check_names(_NAME, "estimators", estimators, names)
    given = list(estimators)
    words = [each for each in given if isinstance(each, str)]
    check_names(_NAME, "estimators", words, names)
    _check_estimators(each for each in given if not isinstance(each, str))
    return given


def _check_estimators(given: Iterable[Any]) -> None:
    for each in given:
        if not isinstance(each, PriorEstimator):
            hint = "make one, for example AlphaMax(), or name one of prior_estimators()"
            raise bad_type(_NAME, "estimators", "names or PriorEstimator objects", each, hint)


def _prepared(estimator: PriorEstimator, beta: float | None) -> PriorEstimator:
    """A copy that answers the question asked: with beta, or with clean labels."""
    copy: PriorEstimator = clone(estimator)
    if beta is None:
        return copy if copy.estimates_beta else NoisyLabels(copy)
    tell_clean(copy, beta)
    return copy


# -- the data -------------------------------------------------------------------------------


def _seed(random_state: RandomState) -> int:
    """One seed for all estimators: a row does not depend on which others there are."""
    rng = check_random_state(_NAME, random_state)
    seed = kept_seed(random_state)
    return int(rng.integers(2**32)) if seed is None else seed


def _read(
    scores: Any,
    labeled: ArrayLike | None,
    features: Any,
    beside: Mapping[str, Any],
    labels: Mapping[str, Any],
) -> tuple[dict[str, ScoreSample | FeatureSample], int]:
    """What there is to look at, by the name of what it is, and the number of features."""
    samples: dict[str, ScoreSample | FeatureSample] = {}
    if scores is None and features is None:
        must = "scores of the examples, a ScoreCounts, or None where features are given"
        raise bad_type(_NAME, "scores", must, scores)
    if scores is not None:
        more = {**beside, "features": features} if isinstance(scores, ScoreCounts) else beside
        samples["scores"] = read_scores(_NAME, scores, labeled, more, labels)
    n_features = 0
    if features is not None:
        samples["features"], n_features = read_features(_NAME, features, labeled, beside, labels)
    return samples, n_features


def _n_thresholds(sample: ScoreSample | FeatureSample | None) -> int:
    return sample.counts.n_thresholds if isinstance(sample, ScoreSample) else 0
