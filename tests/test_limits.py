"""The limits of numeric parameters: what a refusal says of them is what the reference says."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import purecover as pu
from purecover.exceptions import InvalidInputError
from purecover_paper import systems

SAMPLE = pu.simulate.binormal(1.5).sample(40, 160, alpha=0.3, random_state=0)
ROWS = SAMPLE.scores, SAMPLE.labeled
COUNTED, CLEAN = pu.ScoreCounts.from_scores(*ROWS), pu.MixtureProportions(0.3)

ESTIMATORS: list[tuple[type[Any], str, str]] = [
    (pu.estimators.AlphaMax, "step", "[0.0001, 0.05]"),
    (pu.estimators.BBE, "error", "(0, 1)"),
    (pu.estimators.BBE, "gamma", "[0, inf]"),
    (systems.ClusteredLabels, "n_clusters", "at least 1"),
    (pu.estimators.DEDPUL, "bandwidth_unlabeled", "[0.001, 10]"),
    (pu.estimators.DEDPUL, "bandwidth_labeled", "[0.001, 10]"),
    (pu.estimators.DEDPUL, "n_points", "at least 20 and at most 10000"),
    (systems.DistCurve, "n_curves", "at least 1"),
    (pu.estimators.ElkanNoto, "quantile", "(0, 1]"),
    (systems.FittedRoc, "n_thresholds", "at least 2"),
    (systems.GaussianMixtures, "n_starts", "at least 1"),
    (systems.GaussianMixtures, "ridge", "(0, inf)"),
    (systems.GaussianMixtures, "max_iter", "at least 1"),
    (systems.KernelMean, "width", "(0, inf)"),
    (systems.KernelMean, "max_points", "at least 10"),
    (systems.PatraSen, "n_grid", "at least 3"),
    (systems.PatraSen, "max_thresholds", "at least 10"),
    (systems.PearsonDivergence, "n_centers", "at least 1"),
    (systems.PearsonDivergence, "n_folds", "at least 2"),
    (systems.PenalizedL1, "n_centers", "at least 1"),
    (systems.PenalizedL1, "n_folds", "at least 2"),
    (systems.Regrouping, "share", "(0, 1)"),
    (pu.estimators.RocSlope, "error", "(0, 1)"),
    (pu.estimators.RocSlope, "n_thresholds", "at least 2"),
    (systems.TIcE, "n_intervals", "at least 2 and at most 1000"),
    (systems.TIcE, "max_bepp", "[0, inf]"),
    (systems.TIcE, "max_splits", "at least 1"),
    (systems.TIcE, "min_size", "at least 1"),
    (systems.TIcE, "error", "(0, 1)"),
    (systems.TIcE, "n_folds", "at least 2"),
    (systems.TIcE, "n_rounds", "at least 1"),
]


def refusal(call: Callable[..., Any], parameter: str) -> str:
    with pytest.raises(InvalidInputError, match=f"'{parameter}'") as caught:
        call(**{parameter: -3})
    return str(caught.value)


def check(message: str, limits: str) -> None:
    """The limits stand there, and nothing follows that would widen them."""
    assert re.search(re.escape(limits) + r"(?! and|\d)", message), message


@pytest.mark.parametrize(("cls", "parameter", "limits"), ESTIMATORS)
def test_estimators(cls: type[Any], parameter: str, limits: str) -> None:
    check(refusal(lambda **given: cls(**given).fit(COUNTED), parameter), limits)
