"""What replicates and an estimate add to a report: intervals, and checks that know of both."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from purecover.checks import CheckContext, run_checks
from purecover.counts import ScoreCounts
from purecover.estimation._estimate import PriorEstimate
from purecover.intervals._delong import auc_interval
from purecover.intervals._interval import Interval
from purecover.intervals._replicates import BootstrapResult
from purecover.proportions import MixtureProportions
from purecover.report._report import PUReport

__all__ = ["completed", "find_intervals"]


def find_intervals(
    metrics: Iterable[str],
    counts: ScoreCounts,
    proportions: MixtureProportions,
    replicates: BootstrapResult | None,
    *,
    level: float,
    estimated: bool,
    independent: bool,
) -> dict[str, Interval]:
    """Intervals of metrics, as far as there are any."""
    intervals = {}
    if replicates is not None:
        every = replicates.intervals()
        intervals = {name: every[name] for name in metrics}
    if independent and (not estimated or replicates is None):
        # Rows are independent, so the closed form applies and covers better than percentiles.
        intervals["roc_auc"] = auc_interval(counts, proportions, confidence_level=level)
    return intervals


def completed(
    report: PUReport,
    estimation: PriorEstimate | None,
    replicates: BootstrapResult | None,
    *,
    level: float,
    n_groups: int | None,
    ignore_checks: Collection[str],
) -> PUReport:
    """A report that took alpha and beta as known, with the estimate and the replicates behind it.

    ``n_groups`` is None where rows are independent.
    """
    intervals = find_intervals(
        report.metrics,
        report.counts,
        report.proportions,
        replicates,
        level=level,
        estimated=estimation is not None,
        independent=n_groups is None,
    )
    checks = run_checks(
        CheckContext(
            counts=report.counts,
            proportions=report.proportions,
            roc=report.roc,
            threshold=report.metrics.threshold,
            threshold_chosen=report.threshold_chosen,
            prior=report.metrics.prior,
            n_groups=n_groups,
            interval_varies_proportions=estimation is not None and replicates is not None,
            estimation=estimation,
        ),
        ignore=ignore_checks,
    )
    return replace(
        report, intervals=intervals, bootstrap=replicates, estimation=estimation, checks=checks
    )
