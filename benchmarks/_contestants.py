"""Who takes part in the comparison of estimators: all of ours, and packages users have today."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from purecover.counts import ScoreCounts
from purecover.estimators.base import Inclusions, PriorEstimator, prior_estimators
from purecover.estimators.choice import default_estimator
from purecover.estimators.noisy import NoisyLabels
from purecover.estimators.rows import FeaturePriorEstimator, FeatureRows
from purecover.exceptions import IdentifiabilityError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

PEERS_FOLDER = Path(__file__).parents[1] / ".venv-peers"
"""Where ``make leaderboard`` puts the other packages, which are no dependencies of ours."""

DEFAULT_NAME = next(
    (
        name
        for name, kind in prior_estimators().items()
        if repr(kind()) == repr(default_estimator())
    ),
    None,
)
DEFAULT = "default" if DEFAULT_NAME is None else f"{DEFAULT_NAME} (default)"
"""What the default estimator is called in the tables; it has one row, under its own name."""

RELEASED = "AlphaMax-N, released elbow"
CALIBRATED = "Elkan-Noto e3, scores as probabilities"
SLOW_LIMIT = 12_000
"""Examples a slow method has to cope with."""


@dataclass(frozen=True)
class Contestant:
    """An estimator by the name it has in the tables; slow ones run on part of the data only."""

    name: str
    make: Callable[[], PriorEstimator]
    slow: bool = False
    on_features: bool = False


class Peer(PriorEstimator):
    """An estimator of another package, given the score as its only feature.

    Parameters
    ----------
    module, kind : str
        Where its class is.
    parameters : tuple of (str, object)
        What it is made with.
    pooled : bool
        Whether it estimates the share of positives among labeled and unlabeled together.
    """

    def __init__(
        self, module: str, kind: str, parameters: tuple[tuple[str, Any], ...], pooled: bool
    ) -> None:
        self.module = module
        self.kind = kind
        self.parameters = parameters
        self.pooled = pooled

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        return self._ask(*_examples(counts))

    def _ask(self, features: FloatArray, labels: IntArray) -> Inclusions:
        estimator = getattr(importlib.import_module(self.module), self.kind)(
            **dict(self.parameters)
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = estimator.fit(features, labels)
                prior = found.pi_ if self.pooled else found.estimate()
        except ValueError as error:  # its own complaint that it sees nothing
            raise IdentifiabilityError(str(error)) from error
        n, n_labeled = len(labels), labels.sum()
        a = (prior * n - n_labeled) / (n - n_labeled) if self.pooled else prior
        return Inclusions(float(np.clip(a, 0.0, 1.0)))


class FeaturePeer(Peer, FeaturePriorEstimator):
    """An estimator of another package, given the features."""

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        return FeaturePriorEstimator._estimate(self, counts)

    def _estimate_rows(self, rows: FeatureRows, rng: np.random.Generator) -> Inclusions:
        features = np.concatenate((rows.labeled, rows.unlabeled))
        labels = np.repeat([1, 0], [rows.n_labeled, rows.n_unlabeled])
        order = rng.permutation(len(labels))
        return self._ask(features[order], labels[order])


def _examples(counts: ScoreCounts) -> tuple[FloatArray, IntArray]:
    """Features of one column and 0/1 labels, in random order because some use the first rows.

    Probabilities become log-odds, on which their linear models do better.
    """
    scores, sign = counts.thresholds, 1.0
    if scores.max() <= 0:  # turned around
        scores, sign = -scores, -1.0
    if scores.min() >= 0 and scores.max() <= 1:
        scores = special.logit(np.clip(scores, 1e-6, 1 - 1e-6))
    scores = sign * scores
    sides = [np.repeat(scores, side.astype(int)) for side in (counts.labeled, counts.unlabeled)]
    column = np.concatenate(sides)
    labels = np.repeat([1, 0], [len(side) for side in sides])
    order = np.random.default_rng(0).permutation(len(column))
    return column[order, None], labels[order]


# Name, package, module, class, parameters, whether of the pooled data, whether slow.
_PEERS: tuple[tuple[str, str, str, str, tuple[tuple[str, Any], ...], bool, bool], ...] = (
    ("histogram", "pulearn", "pulearn.priors", "HistogramMatchPriorEstimator", (), True, False),
    ("SCAR EM", "pulearn", "pulearn.priors", "ScarEMPriorEstimator", (), True, True),
    ("penL1", "pu-toolbox", "pu_toolbox.prior", "ClassPriorEstimator", (), False, False),
    (
        "KM2, 300 a side",
        "pu-toolbox",
        "pu_toolbox.prior",
        "KernelMeanPriorEstimator",
        (("variant", "km2"), ("max_samples_per_group", 300), ("random_state", 0)),
        False,
        True,
    ),
)


SLOW = ("pearson", "penalized-l1")
"""Registered ones of a good part of a second a fit on scores."""

SLOW_ON_FEATURES = ("kernel-mean",)
"""Registered ones of several seconds a fit on features."""

ELSEWHERE = {
    "alphamax": "the row of AlphaMax-N, which runs it behind the test of clean labels",
    "alphamax-n": "rows of its own, one for each elbow",
    "clustered": "with features; on one column it is what it runs inside",
    "elkan-noto": "rows of its own, one for each variant",
    "noisy": "the wrapper of the others; by itself the row of the median",
}
"""Registered ones without a row of their name on scores, and where they are instead."""

BESIDE_FEATURES = ("bbe", "dedpul", "dist-curve", "median", "regrouping", "roc-slope")
"""Of those that take scores, the ones shown beside those that take features, and the default."""

ON_FEATURES = ", on features"


def noisy(estimator: PriorEstimator) -> PriorEstimator:
    """The estimator itself if it estimates beta, else two runs of it."""
    return estimator if estimator.estimates_beta else NoisyLabels(estimator)


def ours() -> list[Contestant]:
    """Every registered estimator and the variants worth a row of their own."""
    found = [Contestant(DEFAULT, default_estimator)]
    for name, kind in prior_estimators().items():
        if name == DEFAULT_NAME or name in ELSEWHERE:
            continue
        found.append(Contestant(name, partial(_noisy_of, kind), slow=name in SLOW))
    found += [
        Contestant("AlphaMax-N, default elbow", partial(_alphamax_n)),
        Contestant(RELEASED, partial(_alphamax_n, elbow="released", step=0.01)),
        Contestant(
            "AlphaMax-N, released elbow, no test of clean labels",
            partial(_alphamax_n, elbow="released", step=0.01, clean="never"),
        ),
        Contestant("AlphaMax-N, elbow of the paper", partial(_alphamax_n, elbow="paper")),
        Contestant(
            "AlphaMax-N, likelihood-ratio elbow", partial(_alphamax_n, elbow="likelihood_ratio")
        ),
    ]
    uncalibrated = {"calibration": "none"}
    found += [
        Contestant("Elkan-Noto e1", partial(_elkan_noto, variant="e1")),
        Contestant(
            "Elkan-Noto e2, scores as probabilities",
            partial(_elkan_noto, variant="e2", **uncalibrated),
        ),
        Contestant("Elkan-Noto e3", partial(_elkan_noto, variant="e3", quantile=1.0)),
        Contestant(
            "Elkan-Noto e3, 90 % quantile", partial(_elkan_noto, variant="e3", quantile=0.9)
        ),
        Contestant(CALIBRATED, partial(_elkan_noto, variant="e3", quantile=1.0, **uncalibrated)),
    ]
    return found


def with_features() -> list[Contestant]:
    """Those that take features, on features and on scores, and a few that take scores."""
    kinds = {name: kind for name, kind in prior_estimators().items() if kind.takes == "features"}
    found = [each for each in ours() if each.name in (DEFAULT, *BESIDE_FEATURES, *kinds)]
    found += [
        Contestant(
            name + ON_FEATURES,
            partial(_noisy_of, kind),
            slow=name in SLOW_ON_FEATURES,
            on_features=True,
        )
        for name, kind in kinds.items()
    ]
    # Without the rule for scores: only what takes seconds on features is slow here.
    return [replace(each, slow=each.slow and each.on_features) for each in found]


def peers(*, on_features: bool = False) -> tuple[list[Contestant], list[str]]:
    """Those of other packages, and the names of those that are not installed."""
    if PEERS_FOLDER.exists() and str(PEERS_FOLDER) not in sys.path:
        sys.path.append(str(PEERS_FOLDER))
    found, missing = [], []
    for name, package, module, kind, parameters, pooled, slow in _PEERS:
        try:
            importlib.import_module(module)
            label = f"{package} {metadata.version(package)}: {name}"
        except ImportError:
            missing.append(f"{package}: {name}")
            continue
        make = partial(_peer, module, kind, parameters, pooled, on_features)
        label += ON_FEATURES if on_features else ""
        found.append(Contestant(label, make, slow=slow, on_features=on_features))
    return found, missing


# Plain functions, because contestants travel to other processes.


def _noisy_of(kind: type[PriorEstimator]) -> PriorEstimator:
    return noisy(kind())


def _alphamax_n(**parameters: Any) -> PriorEstimator:
    return prior_estimators()["alphamax-n"](**parameters)


def _elkan_noto(**parameters: Any) -> PriorEstimator:
    return noisy(prior_estimators()["elkan-noto"](**parameters))


def _peer(
    module: str,
    kind: str,
    parameters: tuple[tuple[str, Any], ...],
    pooled: bool,
    on_features: bool,
) -> PriorEstimator:
    make = FeaturePeer if on_features else Peer
    return NoisyLabels(make(module, kind, parameters, pooled))
