"""`evaluate` and `evaluate_model`: scores or features in, report out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from purecover._typing import ArrayLike
from purecover._validation import as_real_vector, bad_value, public, show, to_numpy
from purecover.estimators.choice import check_estimator
from purecover.proportions import GivenProportions, KnownKeywords, ProportionKeywords
from purecover.recovery.metrics import resolve_metrics
from purecover.report.pipeline import ReportKeywords, Settings, make_report, mark_rows, read_rows
from purecover.report.results import PUReport

if TYPE_CHECKING:
    from purecover.estimators.base import PriorEstimator
    from purecover.models.cross_fit import Combine, Method


class EvaluateKeywords(ProportionKeywords, ReportKeywords, total=False):
    """What is known of alpha and beta, and how the report is made."""


@public
def evaluate(
    scores: Any,
    labeled: ArrayLike | str | None = None,
    *,
    score: str | None = None,
    sample_weight: ArrayLike | str | None = None,
    groups: ArrayLike | str | None = None,
    truth: ArrayLike | str | None = None,
    positive_label: object = None,
    negative_label: object = None,
    **options: Unpack[EvaluateKeywords],
) -> PUReport:
    """Recover how good a classifier really is, with intervals and checks.

    The share of positives among the unlabeled, alpha, is estimated if nothing is said about it.

    Parameters
    ----------
    scores : array-like of shape (n,), data frame or ScoreCounts
        Scores of held-out examples, larger means more positive. With a data frame of any engine
        (or a dict of columns), ``score``, ``labeled`` and the like name its columns. Lazy frames
        (DuckDB, PySpark, Dask, Ibis, polars) are counted by their engine; see
        :meth:`ScoreCounts.from_frame`.
    labeled : array-like of shape (n,) or str
        True where the example carries the positive label; see
        :meth:`ScoreCounts.from_scores`.
    score : str, optional
        The column of scores, if a data frame is given.
    sample_weight : array-like of shape (n,) or str, optional
        Non-negative weights.
    groups : array-like of shape (n,) or str, optional
        Which rows depend on each other; whole groups are resampled then.
    truth : array-like of shape (n,) or str, optional
        True classes, to be shown beside the recovered figures. They are used for nothing
        else.
    positive_label, negative_label : object, optional
        The value of ``labeled`` that means labeled, where it is not obvious, and the value that
        marks known negatives, if there are any.
    **options

    Returns
    -------
    PUReport
        Prints as a dozen lines; holds counts, curves, metrics, intervals and checks.

    See Also
    --------
    recover_metrics : The metrics alone.
    make_pu_scorer : For cross-validation.

    Notes
    -----
    By default there are 2000 replicates, or 1000 of more than 32,768 distinct scores, where each
    takes longer and intervals are narrow anyway.

    With a known alpha and independent rows the interval of the AUC is DeLong's, through the
    linear map. With an estimated one it is the percentile interval of the replicates: where the
    observed AUC is high by chance, so tends to be the estimate of beta - alpha, and a formula for
    independent errors does not know it. Neither interval knows of a bias of the estimator.

    Examples
    --------
    >>> from purecover import evaluate, simulate
    >>> sample = simulate.binormal(1.5).sample(500, 5000, alpha=0.25, random_state=0)
    >>> report = evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0)
    >>> round(report.auc_pu, 2), round(report.auc, 2), round(sample.world.auc, 2)
    (0.76, 0.85, 0.86)

    Without alpha, its estimate comes with the report:

    >>> report = evaluate(sample.scores, sample.labeled, n_resamples=0)
    >>> abs(report.estimation.proportions.alpha - 0.25) < 0.1
    True
    """
    settings = Settings.among(options).validated()
    given = GivenProportions.among(options).validated(can_estimate=True)
    asked = None if given.ways else check_estimator(given.estimator)
    rows = read_rows(
        scores,
        {
            "score": score,
            "labeled": labeled,
            "sample_weight": sample_weight,
            "groups": groups,
            "truth": truth,
        },
        settings.threshold,
        positive_label=positive_label,
        negative_label=negative_label,
    )
    return make_report(rows, given, asked, settings)


# -- `evaluate_model`: features in, report out ---------------------------------------------------


FOLDS = 5
"""Folds where nobody says how many."""


class ModelKeywords(KnownKeywords, ReportKeywords, total=False):
    """The same, where ``estimator`` is a model."""

    assume: Collection[str]


@public
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
    prior_estimator: PriorEstimator | str | None = None,
    sample_weight: ArrayLike | str | None = None,
    truth: ArrayLike | str | None = None,
    positive_label: object = None,
    negative_label: object = None,
    **options: Unpack[ModelKeywords],
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
    prior_estimator : PriorEstimator or str, optional
        What estimates alpha and beta from the scores of the model; the ``estimator`` of
        :func:`evaluate`. By default ours does, from the mean rank of each row by a logistic
        regression, boosted trees and a forest: alpha belongs to the data, not to the model.
    sample_weight : array-like of shape (n,) or str, optional
        Weights of the rows in the figures. To train with weights, put them in ``fit_params``.
    truth : array-like of shape (n,) or str, optional
        True classes, to be shown beside the recovered figures. No model sees them.
    positive_label, negative_label : object, optional
        The value of ``labeled`` that means labeled, where it is not obvious, and the value that
        marks known negatives, if there are any.
    **options

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

    Folds and bootstrap take their randomness from ``random_state``; the model has its own seed.
    The report describes models trained on the larger part of the rows (four fifths of them with
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
    >>> report.auc_pu < report.auc < report.truth.metrics["roc_auc"]
    True
    """
    # All that can be wrong is said before the long work of fitting.
    # Here, because models bring scikit-learn, which scores alone do without.
    from purecover.models.best_scorer import consensus_scores
    from purecover.models.classifier import check_seed
    from purecover.models.cross_fit import check_settings, unseen_scores
    from purecover.models.tables import check_as_long, read_examples

    own = cv is None and method == combine == "auto"
    if options.get("probabilities") is True:
        method = "predict_proba" if method == "auto" else method
        combine = "raw" if combine == "auto" else combine
    folding: dict[str, Any] = {
        "cv": FOLDS if cv is None else cv,
        "method": method,
        "combine": combine,
        "fit_params": fit_params,
        "n_jobs": n_jobs,
    }
    check_settings(estimator, **folding)
    given = GivenProportions.among(options).validated(can_estimate=True)
    asked = (
        None
        if given.ways
        else check_estimator(
            given.estimator if prior_estimator is None else prior_estimator, "prior_estimator"
        )
    )
    if prior_estimator is not None and asked is None:
        must = f"left out where {given.ways[0]!r} is given"
        raise bad_value("prior_estimator", must, show(prior_estimator))
    settings = Settings.among(options).validated()
    # A seed itself, so that folds and bootstrap draw as they would alone.
    settings = replace(settings, random_state=check_seed(settings.random_state))
    examples = read_examples(
        X,
        labeled,
        groups=groups,
        truth=truth,
        sample_weight=sample_weight,
        positive_label=positive_label,
        negative_label=negative_label,
    )
    if examples.truth is not None:
        check_as_long("truth", to_numpy("truth", examples.truth).size, examples.n_rows)
    marks = mark_rows(
        examples.positive,
        examples.negative,
        weight=examples.weight,
        groups=examples.groups,
        truth=examples.truth,
    )
    resolve_metrics(None, marks.rows(np.zeros(examples.n_rows)).counts, settings)
    made = unseen_scores(
        estimator,
        examples,
        own=own,
        random_state=settings.random_state,
        **folding,
    )
    rows = marks.rows(as_real_vector("scores", made.scores))
    best_view = None
    if asked is not None and prior_estimator is None and given.estimator is None:
        consensus = consensus_scores(
            examples, cv=folding["cv"], seed=int(settings.rng.integers(2**31)), n_jobs=n_jobs
        )
        if consensus is not None:
            best_view = marks.rows(consensus).counts, "the mean rank of rows by three classifiers"
    report = make_report(rows, given, asked, settings, best_view)
    return replace(report, scores_from=made.description)
