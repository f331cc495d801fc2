"""Values that follow from a report: at another alpha, for harder positives, and counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from purecover.proportions import MixtureProportions
from purecover.recovery.hidden import tipping_theta
from purecover.recovery.metrics import METRICS, position, target_of
from purecover.recovery.rates import map_rates

if TYPE_CHECKING:
    from purecover.report.results import PUReport

STEP = 0.05
"""An error of a given alpha whose consequence is shown."""

SMALLEST_DELTA = 1e-3
"""A smaller beta - alpha leaves no figure."""


def flagged(report: PUReport) -> float:
    """How many unlabeled rows are flagged, which is known whatever alpha is."""
    counts = report.counts
    return float(counts.unlabeled[: position(counts, report.threshold)].sum())


def nearby(report: PUReport) -> list[tuple[float, float, float]]:
    """Alpha, AUC and precision if alpha is off either way; empty if one of them cannot be."""
    p, seen = report.proportions, report.auc_pu - 0.5
    # An alpha of 0.01 is hardly 0.06, but may well be half as large or half as large again.
    step = min(STEP, p.delta / 2, p.alpha / 2 or STEP)
    alphas = max(p.alpha - step, 0.0), p.alpha + step
    if alphas[1] >= p.beta:  # rounded: alpha is next to beta
        return []
    return [
        (alpha, min(0.5 + seen / (p.beta - alpha), 1.0), precision_if(report, alpha, p.beta))
        for alpha in alphas
    ]


def largest_precision(report: PUReport, beta: float) -> float:
    """The largest precision at any alpha that the scores allow."""
    alpha = min(report.largest_alpha, beta - SMALLEST_DELTA)
    return max(precision_if(report, alpha, beta), report.metrics.get("precision", 0.0))


def precision_if(report: PUReport, alpha: float, beta: float) -> float:
    """Precision at the threshold with another alpha and beta, in proportion to the report's."""
    counts, used = report.counts, report.proportions
    at = position(counts, report.threshold)
    labeled = counts.labeled[:at].sum() / counts.n_labeled
    unlabeled = counts.unlabeled[:at].sum() / counts.n_unlabeled
    precision = METRICS["precision"].formula
    target = target_of(report.metrics.prior, used, counts)

    def value(p: MixtureProportions) -> float:
        tpr, fpr = (min(max(float(rate), 0.0), 1.0) for rate in map_rates(labeled, unlabeled, p))
        return float(precision(tpr, fpr, p.prior(target, counts), report.metrics.options))

    own, other = value(used), value(replace(used, alpha=alpha, beta=beta))
    return min(other * report.metrics["precision"] / own, 1.0) if own > 0 else other


def has_hidden(report: PUReport) -> bool:
    """Whether there are hidden positives, as far as alpha shows, and a corrected AUC."""
    return not report.infeasible and report.alpha > 0


def tipping(report: PUReport) -> dict[str, float]:
    """Theta from which on each metric of all positives is below the value it should have.

    Only for an alpha that the caller gave: any other follows from labels at random, which theta
    doubts. NaN where the metric is below the value at every theta.
    """
    if not has_hidden(report) or report.estimation is not None or report.proportions._alpha_varies:
        return {}
    how = (report.counts, report.proportions)
    return {
        metric: tipping_theta(*how, metric, least, threshold=report.threshold)
        for metric, least in report.at_least.items()
    }
