"""Every scalar metric, in one registry, observed and recovered by the same formula.

A metric is a function of the two rates (and a prior) or of the whole curve. The observed
value feeds it the observed rates and the labeled share as prior, the recovered value feeds
it the recovered rates and the prior of the target: there is no second set of formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from purecover._typing import AreaRule, FloatArray
from purecover._validation import bad_value, check_choice, check_integer, check_names, check_real
from purecover.counts import ScoreCounts
from purecover.recovery._pr import AREA_RULES, area_under_pr, normalize_auc_pr
from purecover.recovery._roc import partial_area

__all__ = ["METRICS", "Metric", "MetricOptions"]


@dataclass(frozen=True)
class MetricOptions:
    """Parameters that some metrics take."""

    f_beta: float = 1.0
    cost_fn: float = 1.0
    cost_fp: float = 1.0
    max_fpr: float = 0.1
    top_k: int | None = None
    area: AreaRule = "davis-goadrich"

    def validated(self, function: str) -> MetricOptions:
        """The same options as plain numbers, or a complaint in the name of ``function``."""
        infinity = math.inf
        f_beta = check_real(function, "f_beta", self.f_beta, low=0, high=1e6, closed="right")
        cost_fn = check_real(function, "cost_fn", self.cost_fn, low=0, high=infinity, closed="left")
        cost_fp = check_real(function, "cost_fp", self.cost_fp, low=0, high=infinity, closed="left")
        max_fpr = check_real(function, "max_fpr", self.max_fpr, low=0, high=1, closed="right")
        check_choice(function, "area", self.area, AREA_RULES)
        top_k = self.top_k
        if top_k is not None:
            top_k = check_integer(function, "top_k", top_k, low=1)
        return MetricOptions(f_beta, cost_fn, cost_fp, max_fpr, top_k, self.area)


RateFunction = Callable[[Any, Any, float, MetricOptions], Any]
CurveFunction = Callable[[FloatArray, FloatArray, float, float, MetricOptions], float]


@dataclass(frozen=True)
class Metric:
    """One entry of :data:`METRICS`.

    Attributes
    ----------
    name, title : str
        The key, and how a person would call it.
    kind : {"ranking", "threshold", "top_k"}
        Whether it looks at the whole curve, at one threshold, or at the k best scores.
    depends_on_prior : bool
        Whether it changes with the prior of the target.
    greater_is_better : bool
        Its direction.
    of_rates : callable or None
        ``(tpr, fpr, prior, options)`` to value, elementwise.
    of_curve : callable or None
        ``(fpr, tpr, auc, prior, options)`` to value, where ``auc`` is the direct one.
    """

    name: str
    title: str
    kind: Literal["ranking", "threshold", "top_k"]
    depends_on_prior: bool
    greater_is_better: bool = True
    of_rates: RateFunction | None = None
    of_curve: CurveFunction | None = None


def _divide(numerator: Any, denominator: Any) -> Any:
    """A quotient that is NaN, without noise, where it is undefined."""
    if isinstance(numerator, float) and isinstance(denominator, float):
        # Thousands of replicates ask for single numbers, for which NumPy takes its time.
        return float(numerator) / float(denominator) if denominator != 0 else math.nan
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotient = np.true_divide(numerator, denominator)
    return np.where(np.equal(denominator, 0), np.nan, quotient)


def _flagged(tpr: Any, fpr: Any, prior: float) -> Any:
    """Share of the population that is predicted positive."""
    return prior * tpr + (1 - prior) * fpr


def _precision(tpr: Any, fpr: Any, prior: float, _: MetricOptions) -> Any:
    return _divide(prior * tpr, _flagged(tpr, fpr, prior))


def _npv(tpr: Any, fpr: Any, prior: float, _: MetricOptions) -> Any:
    return _divide((1 - prior) * (1 - fpr), prior * (1 - tpr) + (1 - prior) * (1 - fpr))


def _accuracy(tpr: Any, fpr: Any, prior: float, _: MetricOptions) -> Any:
    return prior * tpr + (1 - prior) * (1 - fpr)


def _f_score(tpr: Any, fpr: Any, prior: float, weight: float) -> Any:
    square = weight**2
    return _divide((1 + square) * prior * tpr, square * prior + _flagged(tpr, fpr, prior))


def _mcc(tpr: Any, fpr: Any, prior: float, _: MetricOptions) -> Any:
    flagged = _flagged(tpr, fpr, prior)
    # Rounding can push a share of 1 a hair above it.
    spread = np.maximum(flagged * (1 - flagged), 0)
    return np.sqrt(prior * (1 - prior)) * (tpr - fpr) * _divide(1.0, np.sqrt(spread))


def _lee_liu(tpr: Any, fpr: Any, prior: float, _: MetricOptions) -> Any:
    return _divide(tpr**2, _flagged(tpr, fpr, prior))


def _registry() -> dict[str, Metric]:
    ranking = [
        Metric("roc_auc", "AUC", "ranking", False, of_curve=lambda f, t, a, p, o: a),
        Metric(
            "partial_auc",
            "Partial AUC (standardized)",
            "ranking",
            False,
            of_curve=lambda f, t, a, p, o: partial_area(f, t, o.max_fpr, standardized=True),
        ),
        Metric(
            "auc_pr",
            "AUC-PR",
            "ranking",
            True,
            of_curve=lambda f, t, a, p, o: area_under_pr(t, f, p, o.area),
        ),
        Metric(
            "average_precision",
            "Average precision",
            "ranking",
            True,
            of_curve=lambda f, t, a, p, o: area_under_pr(t, f, p, "average-precision"),
        ),
        Metric(
            "normalized_auc_pr",
            "AUC-PR, normalized",
            "ranking",
            True,
            of_curve=lambda f, t, a, p, o: normalize_auc_pr(area_under_pr(t, f, p, o.area), p),
        ),
    ]
    at_threshold = [
        Metric("recall", "Recall", "threshold", False, of_rates=lambda t, f, p, o: t),
        Metric("specificity", "Specificity", "threshold", False, of_rates=lambda t, f, p, o: 1 - f),
        Metric("fpr", "False-positive rate", "threshold", False, False, lambda t, f, p, o: f),
        Metric("precision", "Precision", "threshold", True, of_rates=_precision),
        Metric("npv", "Negative predictive value", "threshold", True, of_rates=_npv),
        Metric(
            "fdr",
            "False-discovery rate",
            "threshold",
            True,
            False,
            lambda t, f, p, o: 1 - _precision(t, f, p, o),
        ),
        Metric("accuracy", "Accuracy", "threshold", True, of_rates=_accuracy),
        Metric(
            "balanced_accuracy",
            "Balanced accuracy",
            "threshold",
            False,
            of_rates=lambda t, f, p, o: (1 + t - f) / 2,
        ),
        Metric("f1", "F1", "threshold", True, of_rates=lambda t, f, p, o: _f_score(t, f, p, 1.0)),
        Metric(
            "f_beta",
            "F-beta",
            "threshold",
            True,
            of_rates=lambda t, f, p, o: _f_score(t, f, p, o.f_beta),
        ),
        Metric("mcc", "Matthews correlation", "threshold", True, of_rates=_mcc),
        Metric("youden", "Youden index", "threshold", False, of_rates=lambda t, f, p, o: t - f),
        Metric(
            "ber",
            "Balanced error rate",
            "threshold",
            False,
            False,
            lambda t, f, p, o: (1 - t + f) / 2,
        ),
        Metric(
            "lift",
            "Lift",
            "threshold",
            True,
            of_rates=lambda t, f, p, o: _divide(t, _flagged(t, f, p)),
        ),
        Metric("lee_liu", "Lee-Liu score", "threshold", True, of_rates=_lee_liu),
        Metric(
            "cost",
            "Cost",
            "threshold",
            True,
            False,
            lambda t, f, p, o: p * o.cost_fn * (1 - t) + (1 - p) * o.cost_fp * f,
        ),
    ]
    at_k = [
        Metric("precision_at_k", "Precision at k", "top_k", False, of_rates=_precision),
        Metric("recall_at_k", "Recall at k", "top_k", False, of_rates=lambda t, f, p, o: t),
    ]
    return {metric.name: metric for metric in (*ranking, *at_threshold, *at_k)}


METRICS: Mapping[str, Metric] = MappingProxyType(_registry())
"""Every scalar metric by name."""


def resolve_metrics(
    function: str, names: Iterable[str] | None, counts: ScoreCounts, options: MetricOptions
) -> tuple[Metric, ...]:
    """Metrics by name, or all that apply."""
    top_k = options.top_k
    if top_k is not None and top_k > counts.n_unlabeled:
        raise bad_value(
            function, "top_k", f"at most the {counts.n_unlabeled:g} unlabeled", f"{top_k}"
        )
    if names is None:
        return tuple(m for m in METRICS.values() if m.kind != "top_k" or top_k is not None)
    wanted = []
    for metric_name in check_names(function, "metrics", names, METRICS):
        metric = METRICS[metric_name]
        if metric.kind == "top_k" and top_k is None:
            raise bad_value(function, "top_k", f"given for {metric_name!r}", "None")
        wanted.append(metric)
    return tuple(wanted)
