"""How many thresholds Algorithm 1 should have, which the paper leaves open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from purecover import simulate
from purecover._typing import BoolArray, FloatArray, IntArray
from purecover.counts import ScoreCounts
from purecover.curves import PURoc, auc_pu, pu_roc_curve
from purecover.proportions import MixtureProportions
from purecover.recovery._areas import trapezoid
from purecover.recovery._pr import area_under_pr
from purecover.recovery._rates import map_curve
from purecover.recovery._repairs import Points, repair_paper
from purecover.studies._sheets import Cell, Column, Sheet

__all__ = [
    "NUMBERS",
    "KeptScores",
    "ThresholdErrors",
    "simulated_scores",
    "threshold_errors",
    "thresholds_sheet",
]

NUMBERS = (10, 30, 100, 300, 1000, None)
"""Numbers of thresholds; None is all there are."""

_WORLDS = {
    "Moderate, AUC 0.86, α 0.25": (simulate.binormal(1.5), 0.25),
    "Good, AUC 0.98, α 0.25": (simulate.binormal(3.0), 0.25),
    "Nearly perfect, AUC 0.9998, α 0.4": (simulate.binormal(5.0), 0.4),
}


@dataclass(frozen=True, eq=False)
class KeptScores:
    """Scores of one run with what is known of them.

    Attributes
    ----------
    title : str
        What they are of; scores of one title are pooled.
    scores : ndarray of float
        Score per example.
    labeled, positive : ndarray of bool
        Who is labeled, and who is positive in truth.
    """

    title: str
    scores: FloatArray
    labeled: BoolArray
    positive: BoolArray


@dataclass(frozen=True)
class ThresholdErrors:
    """Errors of Algorithm 1 with one number of thresholds, of all scores of one title.

    Attributes
    ----------
    title : str
        Of the scores.
    number : int or None
        How many thresholds; None is all.
    auc, auc_pr : ndarray
        Estimate minus truth, a number per run.
    """

    title: str
    number: int | None
    auc: FloatArray
    auc_pr: FloatArray


def simulated_scores(
    n_repeats: int = 40,
    *,
    n_labeled: int = 1000,
    n_unlabeled: int = 5000,
    beta: float = 0.95,
    random_state: int = 0,
) -> list[KeptScores]:
    """Scores of moderate, good and nearly perfect classifiers.

    Parameters
    ----------
    n_repeats : int, default=40
        Samples of each.
    n_labeled, n_unlabeled : int
        Sizes of a sample.
    beta : float, default=0.95
        Share of positives among the labeled.
    random_state : int, default=0
        Seed.

    Returns
    -------
    list of KeptScores
        Three times ``n_repeats`` of them.
    """
    rng = np.random.default_rng(random_state)
    found = []
    for title, (world, alpha) in _WORLDS.items():
        for _ in range(n_repeats):
            sample = world.sample(
                n_labeled, n_unlabeled, alpha=alpha, beta=beta, random_state=rng, fixed_counts=True
            )
            found.append(KeptScores(title, sample.scores, sample.labeled, sample.truth))
    return found


def threshold_errors(
    kept: Iterable[KeptScores], numbers: Iterable[int | None] = NUMBERS
) -> list[ThresholdErrors]:
    """Errors of Algorithm 1 by the number of thresholds, alpha and beta known.

    Parameters
    ----------
    kept : iterable of KeptScores
        The scores.
    numbers : iterable of int or None
        Numbers of thresholds; None is all.

    Returns
    -------
    list of ThresholdErrors
        By title and number. The truth is that of the same scores.

    Notes
    -----
    The thresholds are quantiles of all scores, at equal distances in rank.
    """
    wanted = tuple(numbers)
    pooled: dict[tuple[str, int | None], list[tuple[float, float]]] = {}
    for each in kept:
        counts = ScoreCounts.from_scores(each.scores, each.labeled)
        alpha = float(each.positive[~each.labeled].mean())
        proportions = MixtureProportions(alpha, float(each.positive[each.labeled].mean()))
        true = ScoreCounts.from_scores(each.scores, each.positive)
        true_roc = pu_roc_curve(true)
        true_pr = area_under_pr(true_roc.tpr_pu, true_roc.fpr_pu, alpha, "davis-goadrich")
        observed = pu_roc_curve(counts)
        for number in wanted:
            auc, auc_pr = _areas(observed, _chosen(counts, number), proportions)
            errors = (auc - auc_pu(true), auc_pr - true_pr)
            pooled.setdefault((each.title, number), []).append(errors)
    return [
        ThresholdErrors(title, number, *np.array(errors).T)
        for (title, number), errors in pooled.items()
    ]


def _chosen(counts: ScoreCounts, number: int | None) -> IntArray:
    """Points of the curve that a number of thresholds leaves, both ends among them."""
    n = counts.n_thresholds
    if number is None or number >= n:
        return np.arange(n + 1)
    share = np.cumsum(counts.labeled + counts.unlabeled) / (counts.n_labeled + counts.n_unlabeled)
    quantiles = np.arange(1, number + 1) / (number + 1)
    # Point i + 1 of the curve is the one at threshold i.
    return np.unique(np.concatenate([[0], np.searchsorted(share, quantiles) + 1, [n]]))


def _areas(
    observed: PURoc, chosen: IntArray, proportions: MixtureProportions
) -> tuple[float, float]:
    tpr, fpr = map_curve(observed.tpr_pu[chosen], observed.fpr_pu[chosen], proportions)
    points = repair_paper(Points(fpr, tpr, observed.thresholds[chosen]))
    area = area_under_pr(points.tpr, points.fpr, proportions.alpha, "davis-goadrich")
    return trapezoid(points.tpr, points.fpr), area


def thresholds_sheet(errors: Iterable[ThresholdErrors]) -> Sheet:
    """The errors as a table."""
    rows: list[tuple[Cell, ...]] = [
        (
            each.title, "all" if each.number is None else f"{each.number:,}", each.auc.size,
            float(np.abs(each.auc).mean()), float(each.auc.mean()), float(each.auc.min()),
            float(np.abs(each.auc_pr).mean()), float(each.auc_pr.mean()),
        )
        for each in errors
    ]  # fmt: skip
    return Sheet(
        name="thresholds",
        title="Algorithm 1 by the number of thresholds, alpha and beta known",
        columns=(
            Column("scores", "Scores", style="text"),
            Column("thresholds", "Thresholds"),
            Column("runs", "Runs", style="integer"),
            Column("auc", "mean |error|", "AUC", digits=4),
            Column("auc_bias", "bias", "AUC", "signed", digits=4),
            Column("auc_worst", "lowest", "AUC", "signed", digits=4),
            Column("auc_pr", "mean |error|", "AUC-PR", digits=4),
            Column("auc_pr_bias", "bias", "AUC-PR", "signed", digits=4),
        ),
        rows=tuple(rows),
        note=(
            "Thresholds are quantiles of all scores. Errors by the truth of the same scores: "
            "simulated ones with 1,000 labeled, 5,000 unlabeled and β = 0.95, and those kept "
            "in the study, where there are any."
        ),
    )
