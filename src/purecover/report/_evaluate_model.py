"""`evaluate_model`: features in, report out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover._given import GivenProportions
from purecover._labels import encode_labels
from purecover._typing import AreaRule, ArrayLike, RandomState, Repair, Scenario, Target
from purecover._validation import (
    bad_value,
    check_choice,
    check_integer,
    check_names,
    check_progress,
    check_real,
    show,
    to_numpy,
)
from purecover.checks import CHECKS
from purecover.counts import ScoreCounts
from purecover.estimation._asked import check_estimator
from purecover.intervals._bootstrap import Progress
from purecover.intervals._interval import check_level
from purecover.models._cross_fit import check_settings
from purecover.models._seeds import check_seed
from purecover.models._table import Examples, check_as_long, read_examples
from purecover.models._unseen import unseen_scores
from purecover.proportions import MixtureProportions, check_target
from purecover.recovery._registry import MetricOptions, resolve_metrics
from purecover.recovery._roc import REPAIRS
from purecover.report._evaluate import evaluate
from purecover.report._report import PUReport

if TYPE_CHECKING:
    from purecover.estimation._base import PriorEstimator
    from purecover.models._cross_fit import Combine, Method

__all__ = ["evaluate_model"]

_NAME = "evaluate_model"

FOLDS = 5
"""Folds where nobody says how many."""


def evaluate_model(
    estimator: Any,
    X: Any,
    labeled: ArrayLike | str,
    *,
    cv: Any = None,
    groups: ArrayLike | str | None = None,
    method: Method = "auto",
    combine: Combine = "auto",
    fit_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    proportions: MixtureProportions | None = None,
    prior: float | None = None,
    label_frequency: float | None = None,
    scenario: Scenario | None = None,
    prior_estimator: PriorEstimator | str | None = None,
    sample_weight: ArrayLike | str | None = None,
    truth: ArrayLike | str | None = None,
    positive_label: object = None,
    negative_label: object = None,
    threshold: float | None = None,
    target: Target = "population",
    repair: Repair | None = None,
    area: AreaRule = "davis-goadrich",
    f_beta: float = 1.0,
    cost_fn: float = 1.0,
    cost_fp: float = 1.0,
    max_fpr: float = 0.1,
    top_k: int | None = None,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    random_state: RandomState | np.random.RandomState = 0,
    ignore_checks: Collection[str] = (),
    progress: Progress | None = None,
) -> PUReport:
    """Find out how good a kind of model really is, from features and labels.

    The model is trained on labeled against unlabeled rows, each row is scored by a model that has
    not seen it, and the scores are evaluated.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier or pipeline; it stays as it is, copies are fitted.
    X : array-like of shape (n, n_features), data frame or sparse matrix
        The features.
    labeled : array-like of shape (n,) or str
        True where the example carries the positive label. With a data frame, ``labeled``,
        ``groups``, ``truth`` and ``sample_weight`` may name columns, which are then no features.
    cv, method, combine, fit_params, n_jobs
        How rows are scored, as in :func:`cross_fit_scores`. By default there are five folds,
        and none for a model that keeps out-of-bag scores; with any of ``cv``, ``method``,
        ``combine`` or ``fit_params`` given, that model is cross-fitted too.
    groups : array-like of shape (n,) or str, optional
        Which rows depend on each other. They are kept together in folds, and resampled together.
    alpha, beta, proportions, prior, label_frequency, scenario
        What is known of the shares of positives, as in :func:`evaluate`; with nothing said alpha
        and beta are estimated.
    prior_estimator : PriorEstimator or str, optional
        What estimates alpha and beta; the ``estimator`` of :func:`evaluate`.
    sample_weight : array-like of shape (n,) or str, optional
        Weights of the rows in the figures. To train with weights, put them in ``fit_params``.
    truth : array-like of shape (n,) or str, optional
        True classes, to be shown beside the recovered figures. No model sees them.
    positive_label, negative_label : object, optional
        As in :meth:`ScoreCounts.from_scores`.
    threshold, target, repair, area, f_beta, cost_fn, cost_fp, max_fpr, top_k
        As in :func:`evaluate`.
    confidence_level, n_resamples, ignore_checks, progress
        As in :func:`evaluate`.
    random_state : int, Generator, RandomState or None, default=0
        Where folds and bootstrap take their randomness from. The model has a seed of its own.

    Returns
    -------
    PUReport
        Its ``scores_from`` says how the scores were made.

    See Also
    --------
    cross_fit_scores : The scores alone.
    evaluate : For scores that exist already.

    Notes
    -----
    A model that has an attribute ``oob_score_samples_`` once it is fitted (scores of its training
    rows by those of its members that did not see them) is fitted once and judged by these, unless
    there are groups that its ``fit`` does not take, known negatives, or anything said of how to
    score. It may be one of this package, have a property of that name, or be a bag or forest of
    scikit-learn with ``oob_score=True``. All others are cross-fitted: pipelines, and
    :class:`PUCalibratedClassifier`, whose out-of-bag scores are those before calibration.

    The report speaks of models trained on the larger part of the rows (four fifths of them with
    five folds); one trained on all of them is, if anything, a little better. Intervals do not
    vary the training of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover import evaluate_model
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2000) < 0.4
    >>> X = rng.normal(size=(2000, 3)) + truth[:, None]
    >>> labeled = truth & (rng.random(2000) < 0.5)
    >>> report = evaluate_model(LogisticRegression(), X, labeled, truth=truth, n_resamples=0)
    >>> report.scores_from
    'LogisticRegression, out of fold (5 folds; predict_proba; observed AUC by fold ...)'
    >>> abs(report.auc - report.truth.metrics["roc_auc"]) < 0.05
    True
    """
    # All that can be wrong is said before the long work of fitting.
    check_settings(
        _NAME,
        estimator,
        cv=FOLDS if cv is None else cv,
        method=method,
        combine=combine,
        n_jobs=n_jobs,
        fit_params=fit_params,
    )
    given = GivenProportions(alpha, beta, proportions, prior, label_frequency, scenario)
    given.validated(_NAME, can_estimate=True)
    if prior_estimator is not None:
        check_estimator(_NAME, prior_estimator, "prior_estimator")
        if given.ways:
            must = f"left out where {given.ways[0]!r} is given"
            raise bad_value(_NAME, "prior_estimator", must, show(prior_estimator))
    if repair is not None:
        check_choice(_NAME, "repair", repair, REPAIRS)
    if threshold is not None:
        check_real(_NAME, "threshold", threshold)
    check_names(_NAME, "ignore_checks", ignore_checks, CHECKS)
    check_level(_NAME, confidence_level)
    if n_resamples is not None:
        check_integer(_NAME, "n_resamples", n_resamples, low=0, high=10**7)
    options = MetricOptions(f_beta, cost_fn, cost_fp, max_fpr, top_k, area).validated(_NAME)
    check_target(_NAME, target)
    check_progress(_NAME, progress)
    seed = check_seed(_NAME, random_state)
    examples = read_examples(
        _NAME,
        X,
        labeled,
        groups=groups,
        truth=truth,
        sample_weight=sample_weight,
        positive_label=positive_label,
        negative_label=negative_label,
    )
    _check_rows(examples, options)
    made = unseen_scores(
        _NAME,
        estimator,
        examples,
        cv=FOLDS if cv is None else cv,
        method=method,
        combine=combine,
        fit_params=fit_params,
        random_state=seed,
        n_jobs=n_jobs,
        own=cv is None and method == combine == "auto",
    )
    report = evaluate(
        made.scores,
        examples.labeled,
        alpha=alpha,
        beta=beta,
        proportions=proportions,
        prior=prior,
        label_frequency=label_frequency,
        scenario=scenario,
        estimator=prior_estimator,
        sample_weight=examples.weight,
        groups=examples.groups,
        truth=examples.truth,
        positive_label=positive_label,
        negative_label=negative_label,
        threshold=threshold,
        target=target,
        repair=repair,
        area=area,
        f_beta=f_beta,
        cost_fn=cost_fn,
        cost_fp=cost_fp,
        max_fpr=max_fpr,
        top_k=top_k,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        random_state=seed,
        ignore_checks=ignore_checks,
        progress=progress,
    )
    return replace(report, scores_from=made.description)


def _check_rows(examples: Examples, options: MetricOptions) -> None:
    """What `evaluate` would complain of after the fitting."""
    kept = examples.positive | examples.unlabeled  # of known negatives nothing is compared
    counts = ScoreCounts.from_scores(
        np.zeros(int(kept.sum())),
        examples.positive[kept],
        sample_weight=None if examples.weight is None else examples.weight[kept],
    )
    resolve_metrics(_NAME, None, counts, options)
    if examples.truth is None:
        return
    truth = to_numpy(_NAME, "truth", examples.truth)
    check_as_long(_NAME, "truth", truth.size, examples.n_rows)
    encode_labels(_NAME, truth[kept], int(kept.sum()), parameter="truth")
