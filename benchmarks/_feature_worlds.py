"""Simulated rows with features: two normal classes whose means lie two standard deviations apart.

The distance is along the first feature; the others are noise. Scores are those a user would have:
log-odds of a logistic regression of labeled against unlabeled, each fold scored by the other four.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class FeatureWorld:
    """Unit normal classes, ``distance`` apart, in ``n_features`` dimensions."""

    n_features: int
    distance: float = 2.0
    alpha: float = 0.25
    n_labeled: int = 1000
    n_unlabeled: int = 10_000

    @property
    def name(self) -> str:
        """How tables call it."""
        return f"{self.n_features}-D"

    def sample(self, seed: int) -> tuple[FloatArray, BoolArray]:
        """Rows in random order, and which of them are labeled.

        The unlabeled rows hold the nearest whole number of positives to the share asked for.
        """
        rng = np.random.default_rng([seed, self.n_features])
        hidden = round(self.alpha * self.n_unlabeled)
        kinds = [self.n_labeled, hidden, self.n_unlabeled - hidden]
        labeled = np.repeat([True, False, False], kinds)
        positive = np.repeat([True, True, False], kinds)
        features = rng.normal(size=(labeled.size, self.n_features))
        features[positive, 0] += self.distance
        order = rng.permutation(labeled.size)
        return features[order], labeled[order]


def out_of_fold_scores(features: FloatArray, labeled: BoolArray, seed: int) -> FloatArray:
    """Log-odds of being labeled, by regressions that did not see the row."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    scores: FloatArray = cross_val_predict(
        LogisticRegression(), features, labeled, cv=folds, method="decision_function"
    )
    return scores


WORLDS = (FeatureWorld(1), FeatureWorld(10))
