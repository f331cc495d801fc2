"""Which metrics are worth a row, and what things are called where a person reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from purecover.recovery._metrics import RecoveredMetrics
from purecover.recovery._registry import METRICS, MetricOptions

if TYPE_CHECKING:
    from purecover.estimation._estimate import PriorEstimate

__all__ = ["estimated_by", "shown_metrics", "title_of"]


def shown_metrics(metrics: RecoveredMetrics) -> list[str]:
    """Names of the metrics to show: all but an F-beta that repeats F1."""
    repeats_f1 = metrics.options.f_beta == 1 and "f1" in metrics
    return [name for name in metrics if not (repeats_f1 and name == "f_beta")]


def title_of(name: str, options: MetricOptions) -> str:
    """The title of a metric with the numbers it was told."""
    title = METRICS[name].title
    if name == "f_beta":
        return f"{title} (beta {options.f_beta:g})"
    if name == "cost":
        return f"{title} (miss {options.cost_fn:g}, false alarm {options.cost_fp:g})"
    if name == "partial_auc":
        return f"{title.removesuffix(')')}, fpr to {options.max_fpr:g})"
    return title


def estimated_by(estimate: PriorEstimate) -> str:
    """The name of an estimator, with what was not left to it."""
    if estimate.beta_given:
        return f"{estimate.estimator}, beta given"
    if not estimate.beta_estimated:
        return f"{estimate.estimator}, labels taken as clean"
    return estimate.estimator
