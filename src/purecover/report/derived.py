"""Values that follow from a report or a comparison, and what of them is worth showing."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from purecover.proportions import MixtureProportions
from purecover.recovery.hidden import tipping_theta
from purecover.recovery.metrics import METRICS, position, target_of
from purecover.recovery.rates import map_rates

if TYPE_CHECKING:
    from purecover.checks.base import CheckResult
    from purecover.intervals.interval import Interval
    from purecover.report.compare import ScoreComparison
    from purecover.report.prices import Price
    from purecover.report.results import PUReport

STEP = 0.05
"""An error of a given alpha whose consequence is shown."""

NARROW = 0.1
"""Width of an interval that needs no narrowing."""

_SEVERITIES = ("error", "warning", "note")

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


def short_threshold(report: PUReport) -> str:
    """The threshold with as few digits as flag the same rows."""
    at = position(report.counts, report.threshold)
    texts = (f"{report.threshold:.{digits}g}" for digits in range(4, 18))
    return next(text for text in texts if position(report.counts, float(text)) == at)


def useful_prices(report: PUReport) -> dict[str, Price]:
    """Prices that narrow a wide interval by a fifth or more.

    Judged labeled rows are one of them where they narrow it by a further tenth.
    """
    widths = {price.name: price.high - price.low for price in report.prices}
    found: dict[str, Price] = {}
    for price in report.prices:
        metric = "precision" if price.name == "flagged-rows" else "roc_auc"
        now, width = report.intervals.get(metric), widths[price.name]
        if now is None or not NARROW < now.width < math.inf or width > 0.8 * now.width:
            continue
        if price.name == "labeled-rows" and width > 0.9 * widths["ten-rows"]:
            continue
        found[price.name] = price
    return found


def leader(comparison: ScoreComparison) -> tuple[str, str, Interval]:
    """The model with the highest AUC, the one to compare it with, and their difference."""
    reports, base = comparison.reports, comparison.baseline
    best = comparison.best("roc_auc") or base
    if best != base:
        return best, base, comparison.differences["roc_auc"][best]
    others = [name for name in reports if name != base]
    rival = max(others, key=lambda name: reports[name].auc)
    seen = comparison.differences["roc_auc"][rival]  # to be seen from the other side
    return base, rival, replace(seen, estimate=-seen.estimate, low=-seen.high, high=-seen.low)


def findings_by_score(comparison: ScoreComparison) -> list[tuple[CheckResult, list[str]]]:
    """Return checks that found something with the scores where they did, by severity.

    Where messages differ in their numbers, that of the first score stands for all.
    """
    found: dict[tuple[int, str], tuple[CheckResult, list[str]]] = {}
    for name, report in comparison.reports.items():
        for check in report.findings:
            key = _SEVERITIES.index(check.severity), check.code
            found.setdefault(key, (check, []))[1].append(name)
    return [found[key] for key in sorted(found)]
