"""Simulated rows with features, in worlds that a line can divide and in worlds that it cannot.

Normal worlds: unit normal classes whose means lie ``distance`` apart along the first feature; the
others are noise. Rings: negatives around radius 3, positives around radius 5, both with a standard
deviation of 1. XOR: unit normal positives around (d, d) and (-d, -d), negatives around (d, -d) and
(-d, d), with d = 1.5. No class can pass for a part of the other (in rings: for less than 0.0004 of
it, as the negatives end at radius 0), so that alpha and beta are what unlimited data would tell.

Scores are those a user would have, each fold scored by models that saw the other four only.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Shape = Literal["normal", "rings", "XOR"]

INNER, OUTER = 3.0, 5.0
CORNER = 1.5


@dataclass(frozen=True)
class FeatureWorld:
    """Rows of two classes in ``n_features`` dimensions, at given proportions and sizes."""

    n_features: int
    distance: float = 2.0
    alpha: float = 0.25
    n_labeled: int = 1000
    n_unlabeled: int = 10_000
    beta: float = 1.0
    shape: Shape = "normal"

    @property
    def name(self) -> str:
        """How tables call it."""
        return f"{self.n_features}-D"

    @property
    def group(self) -> str:
        """The world, whatever the proportions."""
        return f"{self.shape} {self.name}"

    @property
    def source(self) -> str:
        """The world and the proportions."""
        sizes = f"{self.n_labeled} + {self.n_unlabeled}"
        return f"{self.group}, alpha {self.alpha:g}, beta {self.beta:g}, {sizes}"

    @property
    def truth(self) -> tuple[float, float]:
        """Alpha and beta of samples, whose shares are whole numbers."""
        hidden, right = self._positives()
        return hidden / self.n_unlabeled, right / self.n_labeled

    def sample(self, seed: int) -> tuple[FloatArray, BoolArray]:
        """Rows in random order, and which of them are labeled.

        Both samples hold the nearest whole number of positives to the share asked for.
        """
        return self._draw(np.random.default_rng([seed, self.n_features]))

    def replicate(self, seed: int, number: int) -> tuple[FloatArray, BoolArray]:
        """One of many such samples, whatever else is run."""
        return self._draw(np.random.default_rng([seed, zlib.crc32(self.source.encode()), number]))

    def _positives(self) -> tuple[int, int]:
        return round(self.alpha * self.n_unlabeled), round(self.beta * self.n_labeled)

    def _draw(self, rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
        hidden, right = self._positives()
        kinds = [right, self.n_labeled - right, hidden, self.n_unlabeled - hidden]
        labeled = np.repeat([True, True, False, False], kinds)
        positive = np.repeat([True, False, True, False], kinds)
        features = rng.normal(size=(labeled.size, self.n_features))
        if self.shape == "normal":
            features[positive, 0] += self.distance
        elif self.shape == "rings":
            radius = np.abs(features[:, 0] + np.where(positive, OUTER, INNER))
            angle = 2 * np.pi * rng.random(labeled.size)
            features[:, :2] = radius[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
        else:
            side = np.where(rng.random(labeled.size) < 0.5, CORNER, -CORNER)
            features[:, 0] += side
            features[:, 1] += np.where(positive, side, -side)
        order = rng.permutation(labeled.size)
        return features[order], labeled[order]


def out_of_fold_scores(features: FloatArray, labeled: BoolArray, seed: int) -> FloatArray:
    """Log-odds of being labeled, by logistic regressions that did not see the row."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    scores: FloatArray = cross_val_predict(
        LogisticRegression(), features, labeled, cv=folds, method="decision_function"
    )
    return scores


def likelier(scores: Mapping[str, FloatArray], labeled: BoolArray) -> str:
    """Which of several out-of-fold probabilities of being labeled has the smallest log loss.

    That can be seen without the truth, so anybody can choose a classifier by it.
    """
    return min(scores, key=lambda name: float(log_loss(labeled, scores[name])))


WORLDS = (FeatureWorld(1), FeatureWorld(10))

SHARES = ((0.1, 1.0), (0.25, 1.0), (0.5, 1.0), (0.25, 0.9), (0.5, 0.75))
SHAPES: tuple[tuple[int, Shape], ...] = (
    (1, "normal"),
    (2, "normal"),
    (10, "normal"),
    (2, "rings"),
    (2, "XOR"),
)


def feature_worlds() -> Iterator[FeatureWorld]:
    """All worlds of the comparison, at all proportions; those that take longest first."""
    for n_features, shape in sorted(SHAPES, key=lambda kind: -kind[0]):
        for alpha, beta in SHARES:
            yield FeatureWorld(
                n_features, alpha=alpha, beta=beta, n_labeled=500, n_unlabeled=5000, shape=shape
            )
