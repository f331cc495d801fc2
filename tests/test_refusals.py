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


def plan(**options: Any) -> Any:
    return pu.audit.plan(**{"width": 0.1, **options})


def calibrated(**options: Any) -> Any:
    given: dict[str, Any] = {"estimator": LogisticRegression(), "alpha": 0.2}
    return pu.PUCalibratedClassifier(**{**given, **options}).fit(X, Y)


ROWS = np.arange(900.0) % 37, np.arange(900) % 3 == 0
DESIGN = pu.audit.draw(*ROWS)


def judged(scores: Any, labeled: Any, **options: Any) -> Any:
    return pu.audit.JudgedRows.from_array([None] * 900, scores, labeled, **options)


Rows = list[tuple[Callable[[], Any], str]]
REFUSED: dict[str, Rows] = {
    "audits": [
        (lambda: plan(alpha_guess=(0.3, 0.1)), "rising order"),
        (lambda: plan(alpha_guess=25), "0.25 means 25 %"),
        (lambda: plan(figure="auc"), "'alpha' where there are no scores"),
        (lambda: plan(threshold=1), "'threshold' parameter of plan must be left out"),
        (lambda: plan(scores=ROWS[0], labeled=ROWS[1], alpha_guess=0.1), "from which alpha is"),
        (lambda: plan(scores=ROWS[0], labeled=ROWS[1], width=0.001), "cannot expect a width"),
        (lambda: pu.audit.draw(*ROWS, threshold=99), "a score that unlabeled rows reach"),
        (lambda: pu.audit.draw(*ROWS, threshold=1, review=3), "'review' parameter of draw must be"),
        (lambda: pu.audit.draw(*ROWS, n_labeled=-1), "'n_labeled' parameter of draw"),
        (lambda: DESIGN.answer([True]), "as long as the rows drawn"),
        (lambda: DESIGN.answer(["perhaps"] * 10), "'perhaps' in row 1"),
        (lambda: judged(*ROWS, design="top"), "'random'"),
        (lambda: pu.audit.combine(DESIGN, *ROWS), "JudgedRows"),
        (lambda: pu.audit.combine(DESIGN.answer([None] * 10), *ROWS), "a verdict on an unlabeled"),
        (lambda: pu.audit.combine(DESIGN.answer([1] * 10), -ROWS[0], ROWS[1]), "from other data"),
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
