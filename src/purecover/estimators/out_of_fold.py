"""Out-of-fold scores of rows, by classifiers that separate labeled from unlabeled rows."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from purecover._inputs import response_scores
from purecover._typing import FloatArray
from purecover.counts import ScoreCounts
from purecover.estimators.parameters import clone
from purecover.estimators.rows import FeatureRows
from purecover.exceptions import IdentifiabilityError

FOLDS = 5
FAR = 1e6
_MOST_SQUARED = 20


def out_of_fold_scores(
    rows: FeatureRows, classifier: Any, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Score labeled and unlabeled rows, each by a classifier that was not fitted on its fold."""
    folds = min(FOLDS, rows.n_labeled, rows.n_unlabeled)
    if folds < 2:
        raise IdentifiabilityError(
            f"A classifier needs two labeled and two unlabeled examples at least, got "
            f"{rows.n_labeled} and {rows.n_unlabeled}."
        )
    from sklearn.exceptions import ConvergenceWarning

    tame = rows.scaled()
    X = np.clip(np.concatenate((tame.labeled, tame.unlabeled)), -FAR, FAR)
    ours = np.arange(len(X)) < rows.n_labeled
    sizes = (rows.n_labeled, rows.n_unlabeled)
    fold = np.concatenate([rng.permutation(n) % folds for n in sizes])
    tried = _default_classifiers(rows, folds) if classifier is None else [classifier]
    found = [np.empty(len(X)) for _ in tried]
    # Someone else's classifier may know what to do with threads.
    with warnings.catch_warnings(), threadpool_limits(1) if classifier is None else nullcontext():
        # Scores from a fit that has not quite converged are scores all the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for scores, plain in zip(found, tried, strict=True):
            for k in range(folds):
                held = fold == k
                model = clone(plain).fit(X[~held], ours[~held])
                scores[held] = response_scores(model, X[held], positive=True)
    if len(found) > 1:  # no row was seen by the model that scores it, so the best may be chosen
        found.sort(key=lambda each: -ScoreCounts.from_scores(each, ours).auc_pu)
    scores = found[0]
    return scores[: rows.n_labeled], scores[rows.n_labeled :]


def _default_classifiers(rows: FeatureRows, folds: int) -> list[Any]:
    """Return a logistic regression and, with many features, two normal classes.

    With few features the regression has squares and products. Normal classes need more rows than
    features to tell their covariances from.
    """
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    few = rows.n_features <= _MOST_SQUARED
    smaller = min(rows.n_labeled, rows.n_unlabeled) * (folds - 1) // folds
    # Scaled before and after: squares of large numbers would drown the rest.
    logistic = make_pipeline(
        StandardScaler(),
        PolynomialFeatures(2 if few else 1, include_bias=False),
        StandardScaler(),
        LogisticRegression(max_iter=500),
    )
    normal = make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis(reg_param=0.02))
    return [logistic] if few or smaller <= rows.n_features else [logistic, normal]
