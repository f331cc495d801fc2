"""Calls that are refused for how their arguments stand together, and the words that say so.

What no single parameter takes is in tests/test_errors.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import purecover as pu
from purecover import simulate
from purecover.exceptions import PurecoverError

NORMAL = simulate.binormal()
X, Y = np.arange(240.0).reshape(120, 2) % 7, np.arange(120) % 3 == 0


def at(low: float, high: float) -> pu.intervals.Interval:
    return pu.intervals.Interval(
        estimate=(low + high) / 2, low=low, high=high, confidence_level=0.95, method="mine"
    )


def plan(**options: Any) -> Any:
    return pu.audit.plan_audit(**{"width": 0.1, **options})


def calibrated(**options: Any) -> Any:
    given: dict[str, Any] = {"estimator": LogisticRegression(), "alpha": 0.2}
    return pu.PUCalibratedClassifier(**{**given, **options}).fit(X, Y)


HALF = pu.ScoreCounts.from_counts([1, 0], [80, 20], [100, 400])
TURNED = pu.ScoreCounts.from_counts([1, 0], [10, 90], [400, 100])
Rows = list[tuple[Callable[[], Any], str]]
REFUSED: dict[str, Rows] = {
    "audits": [
        (lambda: pu.audit.alpha_from_audit(5, 3), "'n_positive' parameter of alpha_from_audit"),
        (lambda: pu.audit.alpha_from_audit(1, 5, n_unlabeled=3), "n_unlabeled"),
        (lambda: plan(alpha_guess=(0.3, 0.1)), "rising order"),
        (lambda: plan(alpha_guess=25), "0.25 means 25 %"),
        (lambda: plan(alpha_guess=(0.1, 0.2, 0.3)), "3 values"),
        (lambda: plan(alpha_guess=pu.estimators.LabelCurve()), "fit the estimator first"),
        (lambda: pu.audit.stratified_audit([10, 10], [1], [2, 2]), "must be of 2 strata"),
        (lambda: pu.audit.stratified_audit([10, 10], [1, 3], [2, 2]), "3 of 2 in stratum 2"),
        (lambda: pu.audit.stratified_audit([10, 10], [1, 1], [2, 12]), "12 of 10 in stratum 2"),
        (lambda: pu.audit.stratified_audit([10, 10], [1, 0], [2, 0]), "of at least 1, got 0"),
        (lambda: pu.audit.stratified_audit([10.5], [1], [2]), "10.5"),
        (lambda: pu.audit.plan_strata([100, 100], n_items=9), "from 10"),
        (lambda: pu.audit.plan_strata([100, 100], n_items=201), "to 200"),
        (lambda: pu.audit.plan_strata([100, 100], n_items=20, shares=[0.5]), "of 2 strata"),
        (lambda: pu.audit.plan_strata([100, 100], n_items=20, shares=[0.5, 1.5]), r"in \[0, 1\]"),
        (lambda: pu.audit.combine_audit(pu.estimators.LabelCurve(), 3, 10), "call fit first"),
        (lambda: plan(design="top"), 'given for the design "top"'),
        (lambda: plan(design="high"), "'top'"),
        (lambda: plan(counts=HALF), "'counts' parameter of plan_audit must be left out"),
        (lambda: plan(design="top", counts=HALF, width=0.001), "even all 100 of them"),
        (lambda: pu.audit.top_audit(HALF, 1, 3, 101), "at most 100, the unlabeled"),
        (lambda: pu.audit.top_audit(HALF, 1, 3, 9, labeled_audited=(1, 1)), "labeled_positive"),
        (
            lambda: pu.audit.top_audit(HALF, 1, 3, 9, labeled_positive=[3], labeled_audited=[1, 2]),
            "two numbers",
        ),
        (lambda: pu.audit.top_audit(TURNED, 1, 300, 300), "no alpha that fits the answers"),
        (lambda: pu.audit.combine_audit(0.3, 3, 10), "'estimate' parameter of combine_audit"),
        (lambda: pu.audit.combine_audit(at(0.3, 0.3), 3, 10), "some width"),
    ],
    "worlds": [
        (lambda: simulate.beta((1, 2, 3)), "pair of shapes"),
        (lambda: simulate.beta((0.1, 2)), "positive"),
        (lambda: simulate.histogram([1, 2], [1, 2, 3]), "negative_mass"),
        (lambda: simulate.histogram([0, 0], [1, 2]), "positive_mass"),
        (lambda: simulate.histogram([1e308, 1e308], [1, 2]), "positive_mass"),
        (lambda: simulate.histogram([1, 1], [1, 2], [0, 1]), "edges"),
        (lambda: simulate.histogram([1, 1], [1, 2], [0, 2, 1]), "edges"),
        (lambda: simulate.histogram([1, 1], [1, 2], [-1e308, 0, 1]), "edges"),
        (lambda: NORMAL.tpr("high"), "threshold"),
        (lambda: NORMAL.tpr(np.nan), "threshold"),
        (lambda: NORMAL.tpr([[1.0], [1.0, 2.0]]), "threshold"),
        (lambda: NORMAL.auc_pr(0.0), "prior"),
        (lambda: NORMAL.sample(0, 10, alpha=0.1), "n_labeled"),
        (lambda: NORMAL.sample(1, 1.5, alpha=0.1), "n_unlabeled"),
        (lambda: NORMAL.sample(1, 1, alpha=0.9, beta=0.5), "alpha"),
        (lambda: NORMAL.sample(1, 1, alpha=0.1, fixed_counts="no"), "fixed_counts"),
        (lambda: NORMAL.sample(1, 1, alpha=0.1, random_state="x"), "random_state"),
        (
            lambda: NORMAL.sample_censored(9, prior=0.5, label_frequency=0.9, beta=0.4),
            "label negatives with probability",
        ),
        (lambda: NORMAL.sample_censored(9, prior=0.5, label_frequency=0.2, beta=0.4), "alpha"),
    ],
    "models": [
        (lambda: calibrated(estimator=3), "'estimator' parameter of PUCalibratedClassifier"),
        (lambda: calibrated(method="platt"), "'method' parameter of PUCalibratedClassifier"),
        (lambda: calibrated(alpha=None, prior=0.2), "scenario"),
    ],
}


@pytest.mark.parametrize("subject", REFUSED)
def test_what_is_refused(subject: str) -> None:
    for call, words in REFUSED[subject]:
        with pytest.raises((PurecoverError, NotFittedError), match=words):
            call()
