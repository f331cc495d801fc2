"""True figures, where the truth is known: for demonstrations, simulations and audits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._frozen import FrozenDict
from purecover._labels import encode_labels
from purecover._typing import ArrayLike, BoolArray, FloatArray, Target
from purecover._validation import check_same_length, to_numpy
from purecover.counts import ScoreCounts
from purecover.curves import PURoc, auc_pu, pu_roc_curve
from purecover.proportions import MixtureProportions
from purecover.recovery._metrics import View, compute_metrics, position
from purecover.recovery._registry import Metric, MetricOptions

__all__ = ["TrueFigures", "encode_truth", "true_figures"]


@dataclass(frozen=True, kw_only=True, eq=False)
class TrueFigures:
    """What the same scores achieve against the true classes.

    Attributes
    ----------
    alpha, beta : float
        True shares of positives among the unlabeled and the labeled.
    prior : float
        True prior of the target.
    metrics : dict of str to float
        True values of the metrics.
    roc : PURoc
        The true curve; its rates are those of the true classes.
    """

    alpha: float
    beta: float
    prior: float
    metrics: dict[str, float]
    roc: PURoc

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", FrozenDict(self.metrics))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "alpha": self.alpha,
            "beta": self.beta,
            "prior": self.prior,
            "metrics": {k: v if math.isfinite(v) else None for k, v in self.metrics.items()},
        }


def encode_truth(
    function: str, truth: ArrayLike, size: int, kept: BoolArray | None = None
) -> BoolArray:
    """The true classes as a mask, one for each row, or for each that is kept."""
    values = to_numpy(function, "truth", truth)
    check_same_length(function, "truth", values.size, size)
    if kept is not None:
        values = values[kept]
    return encode_labels(function, values, values.size, parameter="truth")[0]


def true_figures(
    scores: FloatArray,
    labeled: BoolArray,
    positive: BoolArray,
    weight: FloatArray | None,
    *,
    counts: ScoreCounts,
    proportions: MixtureProportions,
    target: Target,
    threshold: float,
    metrics: tuple[Metric, ...],
    options: MetricOptions,
) -> TrueFigures:
    """Measure the metrics on the true classes, of which ``positive`` is a mask."""
    against_truth = ScoreCounts.from_scores(scores, positive, sample_weight=weight)
    roc = pu_roc_curve(against_truth)
    mass = np.ones(scores.size) if weight is None else weight
    alpha = float(np.average(positive[~labeled], weights=mass[~labeled]))
    beta = float(np.average(positive[labeled], weights=mass[labeled]))
    prior = _prior(target, proportions, counts, alpha, beta)
    curve = (roc.fpr_pu, roc.tpr_pu, auc_pu(against_truth))
    view = View(
        curve=curve,
        curve_pr=curve,
        rates=(roc.fpr_pu, roc.tpr_pu),
        flagged_unlabeled=alpha * roc.tpr_pu + (1 - alpha) * roc.fpr_pu,
        at=position(against_truth, threshold),
        n_unlabeled=counts.n_unlabeled,
        prior_at_k=alpha,
    )
    values = compute_metrics(metrics, view, prior, options)
    return TrueFigures(alpha=alpha, beta=beta, prior=prior, metrics=values, roc=roc)


def _prior(
    target: Target,
    proportions: MixtureProportions,
    counts: ScoreCounts,
    alpha: float,
    beta: float,
) -> float:
    """The target's prior with the true shares instead of the assumed ones."""
    if not isinstance(target, str):
        return float(target)
    pooled = target == "pooled" or (target == "population" and proportions.scenario == "censoring")
    share = counts.labeled_share
    return share * beta + (1 - share) * alpha if pooled else alpha
