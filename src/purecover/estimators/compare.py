"""Comparison of estimators of alpha and beta on the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from purecover import _validation as valid
from purecover._inputs import refuse_frame
from purecover._progress import Progress, shown
from purecover._typing import ArrayLike, RandomState
from purecover._validation import public
from purecover.counts import ScoreCounts
from purecover.estimators.base import PriorEstimator, prior_estimators
from purecover.estimators.choice import (
    KnownBeta,
    default_estimator,
    full_name,
    with_beta,
    with_clean_labels,
)
from purecover.estimators.comparison import PriorComparison, PriorRow
from purecover.estimators.noisy import NoisyLabels
from purecover.estimators.parameters import clone
from purecover.estimators.samples import TOO_FEW_LABELED, check_both_sides
from purecover.exceptions import PurecoverError
from purecover.intervals import resampling
from purecover.intervals.interval import check_level
from purecover.proportions import check_share
from purecover.recovery.rates import effective_sizes

DEFAULT = "default"
"""Name of the default estimator if it is not registered under another name."""

FEW_RESAMPLES = 40
"""With fewer, a bootstrap interval means nothing: 2.5 % of 40 replicates is one of them."""


@public
def compare_priors(
    scores: ArrayLike | ScoreCounts,
    labeled: ArrayLike | None = None,
    *,
    estimators: Iterable[str | PriorEstimator] | Mapping[str, PriorEstimator] | None = None,
    beta: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    positive_label: object = None,
    negative_label: object = None,
    confidence_level: float = 0.95,
    n_resamples: int = 200,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> PriorComparison:
    """Estimate alpha and beta by every method at hand.

    No method is right everywhere. Where they agree, the estimate does not depend on the
    assumptions of one of them; where they differ, neither should be trusted to more digits than
    the difference leaves.

    Parameters
    ----------
    scores : array-like of shape (n,) or ScoreCounts
        Scores of held-out rows, larger means more positive; or their counts.
    labeled : array-like of shape (n,)
        True where the row carries the positive label; see :meth:`ScoreCounts.from_scores`.
    estimators : iterable or mapping, optional
        Names of :func:`prior_estimators` (and ``"default"``), estimators of your own, or
        estimators by the name they shall have in the table. By default the default estimator
        and all registered ones that are made for scores. Not those that wrap another, nor
        :class:`AlphaMax` with :class:`AlphaMaxN`, which is the same run both ways. One that
        takes features and is named sees the score as its only feature.
    beta : float, optional
        The share of positives among the labeled, if it is known: 1 says that no label is wrong.
        Alpha is then estimated for that beta, and methods that estimate beta from scores are
        left out unless one of them is named or the default. By default beta is estimated
        too: a method that takes labels for clean is run both ways by :class:`NoisyLabels`.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    groups : array-like of shape (n,), optional
        Which rows depend on each other; whole groups are resampled then.
    positive_label, negative_label : object, optional
        The value that means labeled, where it is not obvious, and the value that marks known
        negatives. Known negatives are left out.
    confidence_level : float, default=0.95
        Nominal coverage of the intervals.
    n_resamples : int, default=200
        Replicates for each; 0 for no intervals.
    random_state : int, numpy.random.Generator or None, default=0
        Where randomness comes from. All estimators see the same replicates.
    progress : callable or False, optional
        Called as ``progress(done, total)`` after each estimator; False for silence. Default: a
        bar in a terminal or a notebook, for what takes longer than a second.

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
    ...     sample.scores, sample.labeled, estimators=["bbe", "alphamax"], n_resamples=0
    ... )
    >>> [row.name for row in found]
    ['bbe', 'alphamax']
    >>> all(abs(row.proportions.alpha - 0.3) < 0.15 for row in found)
    True
    >>> [row.proportions.origin for row in found]
    ['NoisyLabels(BBE)', 'NoisyLabels(AlphaMax)']
    """
    if beta is not None:
        beta = check_share("beta", beta, closed="right")
    level = check_level(confidence_level)
    n_resamples = valid.check_integer("n_resamples", n_resamples, low=0, high=10**7)
    valid.check_progress(progress)
    # One seed for all estimators: a row does not depend on which others there are.
    rng, seed = valid.check_random_state(random_state), valid.kept_seed(random_state)
    seed = int(rng.integers(2**32)) if seed is None else seed
    refuse_frame(scores)
    beside = {"sample_weight": sample_weight, "groups": groups}
    beside |= {"positive_label": positive_label, "negative_label": negative_label}
    resampler = None
    if groups is None or isinstance(scores, ScoreCounts):  # which takes no groups
        given = {name: value for name, value in beside.items() if value is not None}
        counts = ScoreCounts._of(scores, labeled, **given)
    else:
        resampler = resampling.group_resampler(scores, labeled, **beside)
        counts = resampler.counts
    check_both_sides(counts)
    chosen = _choose(estimators, noisy=beta is None)
    default = type(default_estimator()), repr(default_estimator())
    rows: list[PriorRow] = []
    with shown(progress) as bar:
        for done, (name, estimator) in enumerate(chosen.items()):
            if bar is not None:
                bar(done, len(chosen))
            prepared = _prepared(estimator, beta)
            row, fitted = _run(name, prepared, beta, counts)
            if fitted is not None and n_resamples:
                drawn = (resampler, n_resamples, seed)
                row = _with_intervals(row, prepared, fitted, drawn, level)
            rows.append(replace(row, is_default=(type(estimator), repr(estimator)) == default))
        if bar is not None:
            bar(len(chosen), len(chosen))
    return PriorComparison(
        rows=tuple(rows),
        n_labeled=counts.n_labeled,
        n_unlabeled=counts.n_unlabeled,
        n_thresholds=counts.n_thresholds,
        beta=beta,
        confidence_level=level,
        n_resamples=n_resamples,
        notes=tuple(_interval_notes(effective_sizes(counts)[0], n_resamples)),
    )


def _interval_notes(n_labeled: float, n_resamples: int) -> list[str]:
    """Warn of intervals from few labeled rows or few replicates."""
    notes: list[str] = []
    if n_resamples and n_labeled < TOO_FEW_LABELED:
        examples = f"{n_labeled:.3g} labeled row{'' if n_labeled == 1 else 's'}"
        notes.append(f"bootstrap intervals of {examples} are unreliable")
    if 0 < n_resamples < FEW_RESAMPLES:
        resamples = f"{n_resamples} resample{'' if n_resamples == 1 else 's'}"
        notes.append(f"bootstrap intervals from {resamples} are rough: take 200 or more")
    return notes


def _run(
    name: str, estimator: PriorEstimator, beta: float | None, counts: ScoreCounts
) -> tuple[PriorRow, PriorEstimator | KnownBeta | None]:
    """Fit an estimator; return a row with the estimate, or the reason why there is none."""
    start = perf_counter()
    try:
        estimator.fit(counts)
    except PurecoverError as error:
        return PriorRow(name=name, error=str(error), seconds=perf_counter() - start), None
    except Exception as error:
        inner = getattr(estimator, "estimator", None) or estimator
        if type(inner).__module__.partition(".")[0] == "purecover":
            raise  # a bug of ours; estimators of others must not end the comparison
        failed = f"{type(inner).__name__} failed: {type(error).__name__}: {error}"
        return PriorRow(name=name, error=failed, seconds=perf_counter() - start), None
    seconds = perf_counter() - start
    fitted: PriorEstimator | KnownBeta = estimator
    proportions = replace(estimator.proportions_, origin=full_name(estimator))
    # One that takes labels for clean, or for which they are given, returns beta = 1 by itself.
    if beta is not None and (beta != 1 or estimator.estimates_beta):
        fitted = KnownBeta(estimator, beta)
        proportions = fitted.proportions_
    notes = tuple(estimator.diagnostics_["notes"])
    if not (notes or estimator.diagnostics_["identifiable"]):
        notes = ("the data hardly determine alpha and beta: read the interval, not the estimate",)
    return PriorRow(name=name, proportions=proportions, notes=notes, seconds=seconds), fitted


def _with_intervals(
    row: PriorRow,
    estimator: PriorEstimator,
    fitted: PriorEstimator | KnownBeta,
    drawn: tuple[Any, int, int],
    level: float,
) -> PriorRow:
    """Add intervals, or a note why there are none, to the row of a fitted estimator."""
    resampler, n_resamples, seed = drawn
    method = estimator._usual_method(resampler)
    try:
        if method == "posterior" and fitted is estimator:
            return replace(row, intervals=estimator.interval(confidence_level=level))
        if isinstance(fitted, KnownBeta) and resampler is None and fitted.knowledge is not None:
            return replace(row, intervals=fitted.interval(confidence_level=level))
        with threadpool_limits(1, user_api="blas"):  # fits as small as these gain nothing
            # All estimators see the same replicates.
            rng = np.random.default_rng(seed)
            draws = estimator._replicates(method, resampler, n_resamples, rng)
        if isinstance(fitted, KnownBeta):
            draws = replace(draws, proportions=with_beta(draws.proportions, fitted.beta))
        intervals = draws.intervals(fitted.proportions_, level)
    except PurecoverError as error:
        note = f"no interval: {str(error).splitlines()[0]}"
        return replace(row, notes=(*row.notes, note))
    told = [each.method for each in intervals.values() if "rejected" in each.method]
    notes = (*row.notes, *dict.fromkeys(f"interval: {method}" for method in told))
    return replace(row, intervals=intervals, notes=notes)


def _choose(estimators: Any, *, noisy: bool) -> dict[str, PriorEstimator]:
    """Choose estimators by name; the default one by its own."""
    known, default = prior_estimators(), default_estimator()
    names = {cls: name for name, cls in known.items()}
    title = names[type(default)]
    pairs: list[tuple[str, Any]] = []
    if estimators is None:
        made = {name: cls() for name, cls in known.items() if name != title}
        pairs += [(title, default)]
        pairs += [each for each in made.items() if _stands_alone(each[1], known, noisy)]
    elif isinstance(estimators, Mapping):
        pairs += [(str(name), estimator) for name, estimator in estimators.items()]
    elif isinstance(estimators, PriorEstimator):
        hint = "put it into a list"
        raise valid.bad_type("estimators", "a list of names or estimators", estimators, hint)
    else:
        listed = valid.is_iterable(estimators) and not isinstance(estimators, str)
        for each in estimators if listed else [estimators]:
            if isinstance(each, str) or not listed:
                valid.check_names("estimators", each, [DEFAULT, *known])
                pairs += [(title, default) if each == DEFAULT else (each, known[each]())]
            else:
                pairs += [(names.get(type(each), type(each).__name__), each)]
    for _, each in pairs:
        if not isinstance(each, PriorEstimator):
            hint = "make one, for example AlphaMax(), or name one of prior_estimators()"
            raise valid.bad_type("estimators", "names or PriorEstimator objects", each, hint)
    chosen = dict(pairs)
    if not chosen:
        raise valid.bad_value("estimators", "at least one", "none")
    if len(chosen) < len(pairs):
        twice = next(name for i, (name, _) in enumerate(pairs) if name in dict(pairs[:i]))
        hint = "pass a dict to give variants of one estimator names of their own"
        raise valid.bad_value("estimators", "of different names", f"{twice!r} twice", hint)
    return chosen


def _stands_alone(
    estimator: PriorEstimator, known: Mapping[str, type[PriorEstimator]], noisy: bool
) -> bool:
    """Return whether an estimator is for scores and does not repeat another one."""
    cls = type(estimator)
    if cls.takes != "scores" or "estimator" in estimator.get_params(deep=False):
        return False
    if not noisy:  # beta is known
        return not estimator.estimates_beta
    # A variant that estimates beta gives the same numbers as its parent run both ways.
    return not any(
        other is not cls and issubclass(other, cls) and other.noisy for other in known.values()
    )


def _prepared(estimator: PriorEstimator, beta: float | None) -> PriorEstimator:
    """Copy an estimator for the question: beta estimated too, or known."""
    copy = clone(estimator)
    if beta is None:
        return copy if copy.estimates_beta else NoisyLabels(copy)
    return with_clean_labels(copy, beta)
