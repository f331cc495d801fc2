"""Estimators that take part in the comparison: all registered ones, and those of other packages.

Importing ``purecover_paper.systems`` registers the systems of the paper's comparison.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

import purecover as pu
from purecover.estimators import Inclusions, NoisyLabels, PriorEstimator, prior_estimators
from purecover.exceptions import IdentifiabilityError
from purecover_paper.systems import AlphaMaxPaper, AlphaMaxReleased  # registers all of them

DEFAULT = "reference"
RELEASED = "AlphaMax-N, released elbow"
CALIBRATED = "Elkan-Noto e3, scores as probabilities"
SLOW_LIMIT = 12_000
"""Examples a slow method has to cope with."""

SLOW = ("pearson", "penalized-l1")
"""Registered estimators that take a good part of a second for a fit."""

ELSEWHERE = {
    "alphamax": "the row of AlphaMax-N, which runs it after the test of clean labels",
    "alphamax-n": "rows of its own, one for each elbow",
    "clustered": "on one column it is the estimator that it runs inside",
    "elkan-noto": "rows of its own, one for each variant",
    "noisy": "the wrapper of the others",
}
"""Registered estimators without a row of their name, and where they are instead."""


@dataclass(frozen=True)
class Contestant:
    """An estimator by its name in the tables; slow ones run on part of the data only."""

    name: str
    make: Callable[[], PriorEstimator]
    slow: bool = False


class Peer(PriorEstimator):
    """An estimator of another package, given the score as its only feature.

    Parameters
    ----------
    module, kind : str
        Where its class is.
    parameters : mapping
        Arguments of the class.
    pooled : bool
        Whether it estimates the share of positives among labeled and unlabeled together.
    """

    def __init__(self, module: str, kind: str, parameters: Mapping[str, Any], pooled: bool) -> None:
        self.module = module
        self.kind = kind
        self.parameters = parameters
        self.pooled = pooled

    def _estimate(self, counts: pu.ScoreCounts) -> Inclusions:
        features, labels = _examples(counts)
        kind = getattr(importlib.import_module(self.module), self.kind)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = kind(**self.parameters).fit(features, labels)
                prior = found.pi_ if self.pooled else found.estimate()
        except ValueError as error:  # its own complaint that it sees nothing
            raise IdentifiabilityError(str(error)) from error
        n, n_labeled = len(labels), labels.sum()
        a = (prior * n - n_labeled) / (n - n_labeled) if self.pooled else prior
        return Inclusions(float(np.clip(a, 0.0, 1.0)))


def _examples(counts: pu.ScoreCounts) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Features of one column and 0/1 labels, in random order because some use the first rows.

    Probabilities become log-odds, on which their linear models do better.
    """
    scores, sign = counts.thresholds, 1.0
    if scores.max() <= 0:  # turned around
        scores, sign = -scores, -1.0
    if scores.min() >= 0 and scores.max() <= 1:
        scores = special.logit(np.clip(scores, 1e-6, 1 - 1e-6))
    sides = [
        np.repeat(sign * scores, side.astype(int)) for side in (counts.labeled, counts.unlabeled)
    ]
    column = np.concatenate(sides)
    labels = np.repeat([1, 0], [len(side) for side in sides])
    order = np.random.default_rng(0).permutation(len(column))
    return column[order, None], labels[order]


# Name, package, module, class, parameters, whether of the pooled data, whether slow.
_KM2 = {"variant": "km2", "max_samples_per_group": 300, "random_state": 0}
_PEERS: tuple[tuple[str, str, str, str, dict[str, Any], bool, bool], ...] = (
    ("histogram", "pulearn", "pulearn.priors", "HistogramMatchPriorEstimator", {}, True, False),
    ("SCAR EM", "pulearn", "pulearn.priors", "ScarEMPriorEstimator", {}, True, True),
    ("penL1", "pu-toolbox", "pu_toolbox.prior", "ClassPriorEstimator", {}, False, False),
    ("KM2, 300", "pu-toolbox", "pu_toolbox.prior", "KernelMeanPriorEstimator", _KM2, False, True),
)


def registered() -> list[Contestant]:
    """Every registered estimator and the variants worth a row of their own."""
    found = [
        Contestant(name, partial(_noisy, name), slow=name in SLOW)
        for name in prior_estimators()
        if name not in ELSEWHERE
    ]
    variants: dict[str, tuple[str, dict[str, Any]]] = {
        "AlphaMax-N, default elbow": ("alphamax-n", {}),
        "Elkan-Noto e1": ("elkan-noto", {"variant": "e1"}),
        "Elkan-Noto e3": ("elkan-noto", {"variant": "e3", "quantile": 1.0}),
        CALIBRATED: ("elkan-noto", {"variant": "e3", "quantile": 1.0, "calibration": "none"}),
    }
    found += [
        Contestant(title, partial(_noisy, name, **parameters))
        for title, (name, parameters) in variants.items()
    ]
    return [
        *found,
        Contestant(RELEASED, partial(NoisyLabels, AlphaMaxReleased())),
        Contestant("AlphaMax-N, elbow of the paper", partial(NoisyLabels, AlphaMaxPaper())),
    ]


def peers() -> tuple[list[Contestant], list[str]]:
    """Estimators of other packages, and the names of those that are not installed."""
    found, missing = [], []
    for name, package, module, kind, parameters, pooled, slow in _PEERS:
        try:
            importlib.import_module(module)
        except ImportError:
            missing.append(f"{package}: {name}")
            continue
        make = partial(_noisy_peer, module, kind, parameters, pooled)
        found.append(Contestant(f"{package} {metadata.version(package)}: {name}", make, slow))
    return found, missing


# Plain functions, because contestants travel to other processes.


def _noisy(name: str, **parameters: Any) -> PriorEstimator:
    """An estimator of beta as it is, any other within the wrapper that runs it twice."""
    estimator = prior_estimators()[name](**parameters)
    return estimator if estimator.estimates_beta else NoisyLabels(estimator)


def _noisy_peer(
    module: str, kind: str, parameters: Mapping[str, Any], pooled: bool
) -> PriorEstimator:
    return NoisyLabels(Peer(module, kind, parameters, pooled))
