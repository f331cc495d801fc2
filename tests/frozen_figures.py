"""Figures of fixed data that must not change unnoticed from release to release.

The data come from NumPy's legacy generator, whose streams never change. ``make freeze`` computes
all figures and writes tests/frozen.json; tests/test_frozen.py compares.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

import purecover as pu

Figure = float | str | list[Any]


def _world(
    n_labeled: int, n_unlabeled: int, alpha: float, beta: float, separation: float, seed: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.RandomState(seed)
    labeled = np.repeat([True, False], [n_labeled, n_unlabeled])
    right, hidden = round(beta * n_labeled), round(alpha * n_unlabeled)
    positive = np.repeat(
        [True, False, True, False], [right, n_labeled - right, hidden, n_unlabeled - hidden]
    )
    return rng.normal(size=labeled.size) + separation * positive, labeled


CLEAN = _world(150, 600, 0.3, 1.0, 2.0, 1)
NOISY = _world(150, 600, 0.25, 0.8, 2.5, 2)
COUNTS = pu.ScoreCounts.from_scores(*NOISY)
TIED = pu.ScoreCounts.from_scores(np.round(2 * NOISY[0]), NOISY[1])
KNOWN = pu.MixtureProportions(0.25, 0.8)
NAMES = ("precision", "recall", "f1", "mcc")
ESTIMATORS = ("reference", "label-curve", "alphamax", "alphamax-n", "elkan-noto", "bbe", "dedpul")


@cache
def _report(*, alpha: float | None) -> pu.PUReport:
    if alpha is None:
        return pu.evaluate(*NOISY, n_resamples=50, random_state=7)
    return pu.evaluate(*NOISY, alpha=alpha, beta=0.8, n_resamples=50, random_state=7)


def _ends(interval: Any) -> list[float]:
    return [interval.estimate, interval.low, interval.high]


def _estimate(name: str, data: Any = NOISY) -> list[float]:
    found = pu.estimators.prior_estimators()[name]().fit(*data).proportions_
    return [found.alpha, found.beta]


def _rates() -> list[float]:
    tpr, fpr = pu.recovery.recover_rates(np.array([0.7]), np.array([0.3]), KNOWN)
    return [float(tpr[0]), float(fpr[0])]


def _roc(repair: Any) -> list[float]:
    curve = pu.recover_roc(COUNTS, KNOWN, repair=repair)
    return [curve.auc, curve.fpr_at(0.8), float(np.mean(curve.tpr))]


def _many() -> list[float]:
    scores, labeled = NOISY
    table = {"s": scores, "y": labeled, "t": np.arange(scores.size) % 2}
    found = pu.evaluate_many(table, "y", score="s", by="t", alpha=0.25, beta=0.8, n_resamples=0)
    return [row.recovered["roc_auc"] for row in found]


def _comparison() -> list[float]:
    scores, labeled = NOISY
    other = scores + np.random.RandomState(9).normal(size=scores.size)
    found = pu.compare_scores(
        {"a": scores, "b": other}, labeled, alpha=0.25, beta=0.8, n_resamples=50, random_state=7
    )
    return _ends(found.differences["roc_auc"]["b"])


def _judged() -> list[float]:
    scores, labeled = CLEAN
    design = pu.audit.draw(scores, labeled, 10)
    verdicts = np.arange(10) < 7
    return _ends(pu.audit.combine(design.answer(verdicts), scores, labeled, beta=1).alpha)


FIGURES: dict[str, Callable[[], Any]] = {
    "rates recovered": _rates,
    "AUC observed": lambda: pu.recovery.auc_pu(COUNTS),
    "AUC, clean": lambda: pu.recover_auc(
        pu.ScoreCounts.from_scores(*CLEAN), pu.MixtureProportions(0.3)
    ),
    "AUC, noisy": lambda: pu.recover_auc(COUNTS, KNOWN),
    "AUC, ties": lambda: pu.recover_auc(TIED, KNOWN),
    **{f"ROC, {each}": partial(_roc, each) for each in ("isotonic", "hull", "paper")},
    "AUC-PR": lambda: pu.recover_pr(COUNTS, KNOWN).auc_pr,
    "metrics at 1": lambda: [
        pu.recover_metrics(COUNTS, KNOWN, threshold=1.0)[name] for name in NAMES
    ],
    "metrics in ties": lambda: [
        pu.recover_metrics(TIED, KNOWN, threshold=2.0)[name] for name in NAMES
    ],
    "AUC by DeLong": lambda: _ends(pu.intervals.auc_interval(COUNTS, KNOWN)),
    "AUC by bootstrap": lambda: _ends(
        pu.intervals.bootstrap(
            COUNTS, KNOWN, metrics=["roc_auc"], curves=False, n_resamples=50, random_state=7
        ).interval("roc_auc")
    ),
    "bound of the inclusion": lambda: pu.estimators.inclusion_bound(COUNTS),
    **{
        f"alpha and beta by {name}": partial(_estimate, name)
        for name in (*ESTIMATORS, "roc-slope", "noisy")
    },
    "alpha of clean labels by bbe": lambda: _estimate("bbe", CLEAN),
    "posterior of the label curve": lambda: _ends(
        pu.estimators.LabelCurve().fit(*NOISY).interval(random_state=7)["alpha"]
    ),
    "report, alpha given": lambda: [
        _report(alpha=0.25).auc, *_ends(_report(alpha=0.25).intervals["f1"]),
    ],
    "report, alpha estimated": lambda: [
        _report(alpha=None).auc, *_ends(_report(alpha=None).intervals["roc_auc"]),
    ],
    "findings, alpha given": lambda: " ".join(c.code for c in _report(alpha=0.25).findings),
    "findings, alpha estimated": lambda: " ".join(c.code for c in _report(alpha=None).findings),
    "findings, alpha wrong": lambda: " ".join(c.code for c in _report(alpha=0.7).findings),
    "comparison of two models": _comparison,
    "many tasks": _many,
    "ten judged rows": _judged,
    "judged rows for a width of 0.1": lambda: pu.audit.plan(width=0.1),
}  # fmt: skip


def compute(name: str) -> Figure:
    """Compute a figure; numbers have twelve digits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _plain(FIGURES[name]())


def _plain(value: Any) -> Figure:
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, str):
        return value
    return float(f"{float(value):.12g}")


def same(found: Figure, kept: Figure) -> bool:
    """Whether a figure is the one that was kept, up to what machines differ by."""
    if isinstance(found, list) and isinstance(kept, list):
        return len(found) == len(kept) and all(map(same, found, kept))
    if isinstance(found, float) and isinstance(kept, float):
        return math.isclose(found, kept, rel_tol=1e-7, abs_tol=1e-9)
    return found == kept
