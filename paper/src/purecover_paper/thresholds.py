"""The error of Algorithm 1 by the number of thresholds, which the paper leaves open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from purecover import MixtureProportions, ScoreCounts, recover_pr, recover_roc, simulate
from purecover.recovery import auc_pu
from purecover_paper.arrays import BoolArray, FloatArray
from purecover_paper.sheets import Column, Sheet, Value

NUMBERS = (10, 30, 100, 300, 1000, None)
"""Numbers of thresholds; None means all."""

_WORLDS = {
    "Moderate, AUC 0.86, α 0.25": (simulate.binormal(1.5), 0.25),
    "Good, AUC 0.98, α 0.25": (simulate.binormal(3.0), 0.25),
    "Nearly perfect, AUC 0.9998, α 0.4": (simulate.binormal(5.0), 0.4),
}


_NO_CORRECTION = MixtureProportions(alpha=0.0, beta=1.0)


@dataclass(frozen=True, eq=False)
class KeptScores:
    """Scores of one run with their labels and true classes.

    Attributes
    ----------
    title : str
        Name of their kind; scores of one title are pooled.
    scores : ndarray of float
        Score per row.
    labeled, positive : ndarray of bool
        True for labeled rows, and for rows of the positive class.
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


def simulated_scores() -> list[KeptScores]:
    """Sample scores of moderate, good and nearly perfect classifiers, forty times each."""
    rng = np.random.default_rng(0)
    found = []
    for title, (world, alpha) in _WORLDS.items():
        for _ in range(40):
            sample = world.sample(
                1000, 5000, alpha=alpha, beta=0.95, random_state=rng, fixed_counts=True
            )
            found.append(KeptScores(title, sample.scores, sample.labeled, sample.truth))
    return found


def threshold_errors(kept: Iterable[KeptScores]) -> list[ThresholdErrors]:
    """Return errors of Algorithm 1 by the number of thresholds, with alpha and beta known.

    Parameters
    ----------
    kept : iterable of KeptScores
        The scores.

    Returns
    -------
    list of ThresholdErrors
        By title and number. The truth is that of the same scores.

    Notes
    -----
    The thresholds are quantiles of all scores, at equal distances in rank.
    """
    pooled: dict[tuple[str, int | None], list[tuple[float, float]]] = {}
    for each in kept:
        counts = ScoreCounts.from_scores(each.scores, each.labeled)
        alpha = float(each.positive[~each.labeled].mean())
        proportions = MixtureProportions(alpha, float(each.positive[each.labeled].mean()))
        true = ScoreCounts.from_scores(each.scores, each.positive)
        true_pr = recover_pr(true, _NO_CORRECTION, repair="none", target=alpha).auc_pr
        for number in NUMBERS:
            fewer = _at_quantiles(counts, number)
            auc = recover_roc(fewer, proportions, repair="paper").auc
            auc_pr = recover_pr(fewer, proportions, repair="paper", target=alpha).auc_pr
            errors = (auc - auc_pu(true), auc_pr - true_pr)
            pooled.setdefault((each.title, number), []).append(errors)
    return [
        ThresholdErrors(title, number, *np.array(errors).T)
        for (title, number), errors in pooled.items()
    ]


@cache
def simulated_errors() -> tuple[ThresholdErrors, ...]:
    """Return the errors in the simulated scores, which are always the same."""
    return tuple(threshold_errors(simulated_scores()))


def _at_quantiles(counts: ScoreCounts, number: int | None) -> ScoreCounts:
    """Return the counts at ``number`` thresholds and the lowest one; all if None."""
    n = counts.n_thresholds
    if number is None or number >= n:
        return counts
    share = np.cumsum(counts.labeled + counts.unlabeled) / (counts.n_labeled + counts.n_unlabeled)
    quantiles = np.arange(1, number + 1) / (number + 1)
    at = np.unique([*np.searchsorted(share, quantiles), n - 1])
    labeled, unlabeled = (
        np.diff(np.cumsum(column)[at], prepend=0) for column in (counts.labeled, counts.unlabeled)
    )
    return ScoreCounts.from_counts(counts.thresholds[at], labeled, unlabeled)


def thresholds_sheet(errors: Iterable[ThresholdErrors]) -> Sheet:
    """Return the errors as a table."""
    rows: list[tuple[Value, ...]] = [
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
            "Thresholds are quantiles of all scores. Errors against the true values of the same "
            "scores: simulated ones with 1,000 labeled, 5,000 unlabeled and β = 0.95, and those "
            "kept in the study, where there are any."
        ),
    )
