"""What a worker of `evaluate_many` does: one task, one score, one row."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from purecover._typing import CountArray, FloatArray
from purecover.counts import ScoreCounts
from purecover.curves import auc_pu
from purecover.estimation._estimate import PriorEstimate
from purecover.exceptions import PurecoverError, RecoveryWarning
from purecover.intervals._bootstrap import bootstrap
from purecover.intervals._delong import auc_interval
from purecover.intervals._interval import Interval
from purecover.report._completed import completed
from purecover.report._estimation import as_seen_by
from purecover.report._evaluate import evaluate
from purecover.report._many_parts import Part
from purecover.report._many_reports import ManyRow
from purecover.report._report import PUReport

__all__ = ["Done", "Job", "Settings", "Shared", "in_parallel", "observed_auc", "run_job", "seed_of"]

IN_TAIL = 10
"""Replicates that must lie beyond an end of an interval for it to be a percentile."""

RANGES = {
    "mcc": (-1.0, 1.0),
    "youden": (-1.0, 1.0),
    "normalized_auc_pr": (-math.inf, 1.0),
    "lift": (0.0, math.inf),
    "lee_liu": (0.0, math.inf),
    "cost": (0.0, math.inf),
}
"""What metrics can be, where that is not between 0 and 1."""


@dataclass(frozen=True)
class Settings:
    """What is the same for all rows.

    ``level`` is the coverage of a single interval, which ``simultaneous`` ones take far into the
    tails; ``options`` are further arguments of :func:`evaluate`.
    """

    function: str
    metrics: tuple[str, ...]
    level: float
    simultaneous: bool
    n_resamples: int
    ignore_checks: tuple[str, ...]
    threshold: float | None
    options: Mapping[str, Any]
    keep: bool

    @property
    def resolved(self) -> float:
        """The level that so many replicates can tell, at most the one wanted."""
        if not (self.simultaneous and self.n_resamples):
            return self.level
        return min(self.level, max(1 - 2 * IN_TAIL / self.n_resamples, 0.5))


@dataclass(frozen=True, eq=False)
class Shared:
    """Alpha and beta of a task, estimated from one of its scores, and their replicates."""

    reference: str
    estimate: PriorEstimate
    draws: FloatArray


@dataclass(frozen=True, eq=False)
class Job:
    """One row to be made; ``given`` is what is known of alpha and beta."""

    part: Part
    given: Mapping[str, Any]
    seed: int
    settings: Settings
    shared: Shared | None = None


@dataclass(frozen=True, eq=False)
class Done:
    """A row, and what other scores of the task need of it."""

    row: ManyRow
    shared: Shared | None = None


def seed_of(seed: int, task: object, score: str) -> int:
    """A seed for one row: the same whatever other rows there are, and in which order."""
    text = f"{seed}\0{task!r}\0{score}".encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=6).digest(), "big")


def in_parallel(jobs: Iterable[Any], n_jobs: int | None) -> Iterator[Any]:
    """Results in the order of the jobs, by the workers that joblib is told to use."""
    from joblib import Parallel

    # Sent with each job rather than left in shared memory, which a killed process leaves behind.
    options: dict[str, Any] = {"n_jobs": n_jobs, "max_nbytes": None}
    try:
        parallel = Parallel(return_as="generator", **options)
    except ValueError:  # a backend that returns all results at once, such as those of Ray and Spark
        parallel = Parallel(**options)
    yield from parallel(jobs)


def observed_auc(part: Part, function: str) -> float:
    """The observed AUC, by which the score to estimate from is chosen; NaN if there is none."""
    try:
        return auc_pu(part.counted(function))
    except PurecoverError:
        return math.nan


def run_job(job: Job) -> Done:
    """Count, recover, resample; a complaint becomes the reason why there are no figures."""
    part, settings = job.part, job.settings
    about: dict[str, Any] = {"task": part.task, "score": part.score, "seed": job.seed}
    try:
        counts = part.counted(settings.function)
        with warnings.catch_warnings():
            # Of hundreds of rows many warn of the same; checks of each row say it too.
            warnings.simplefilter("ignore", RecoveryWarning)
            report = _evaluated(counts, job) if job.shared is None else _with_shared(counts, job)
    except PurecoverError as error:
        reason = str(error).partition("\n")[0]
        about |= {"n_labeled": part.n_labeled, "n_unlabeled": part.n_unlabeled}
        return Done(ManyRow(**about, reason=reason))
    shared = None
    if job.shared is None and report.estimation is not None:
        shared = Shared(part.score, report.estimation, _draws_of(report))
    report = _at_level(report, settings)
    estimated_from = None
    intervals = {
        name: report.intervals[name] for name in settings.metrics if name in report.intervals
    }
    if report.estimation is not None:
        estimated_from = part.score if job.shared is None else job.shared.reference
        found = report.estimation.intervals
        intervals |= {name: found[name] for name in ("alpha", "beta") if name in found}
    row = ManyRow(
        **about,
        n_labeled=report.counts.n_labeled,
        n_unlabeled=report.counts.n_unlabeled,
        proportions=report.proportions,
        estimated_from=estimated_from,
        observed={name: report.metrics.observed[name] for name in settings.metrics},
        recovered={name: report.metrics[name] for name in settings.metrics},
        intervals=intervals,
        threshold=report.metrics.threshold,
        findings=tuple((check.code, check.severity) for check in report.findings),
        report=report if settings.keep else None,
    )
    return Done(row, shared)


def _evaluated(counts: ScoreCounts, job: Job) -> PUReport:
    settings = job.settings
    return evaluate(
        counts,
        **job.given,
        **settings.options,
        threshold=settings.threshold,
        confidence_level=settings.resolved,
        n_resamples=settings.n_resamples,
        random_state=job.seed,
        ignore_checks=settings.ignore_checks,
    )


def _draws_of(report: PUReport) -> FloatArray:
    if report.bootstrap is None:
        return np.empty((0, 2))
    found = report.bootstrap.replicates
    return np.stack([found["alpha"], found["beta"]], axis=1)


class _Drawn:
    """Stands in for an estimator: alpha and beta of each replicate are drawn already."""

    def __init__(self, draws: FloatArray) -> None:
        self.draws = draws
        self.used = 0

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """The next rows of what was drawn."""
        del counts, unlabeled
        start = self.used
        self.used += len(labeled)
        return self.draws[start : self.used]


def _with_shared(counts: ScoreCounts, job: Job) -> PUReport:
    """A report with alpha and beta that were estimated from another score of the task.

    Replicates of this score meet replicates of alpha and beta at random. Were both from the same
    rows, they would vary together, and the AUC less: these intervals are wide rather than narrow.
    """
    settings, shared = job.settings, job.shared
    assert shared is not None  # noqa: S101 - the caller looked
    used = shared.estimate.proportions
    report = evaluate(
        counts,
        proportions=used,
        **settings.options,
        threshold=settings.threshold,
        confidence_level=settings.resolved,
        n_resamples=0,
        random_state=job.seed,
        ignore_checks=settings.ignore_checks,
    )
    replicates = None
    if len(shared.draws):
        options = dict(settings.options)
        repair = options.pop("repair")
        replicates = bootstrap(
            counts,
            used,
            estimator=_Drawn(shared.draws),
            threshold=report.metrics.threshold,
            repair=None if repair is None else report.roc.repair,
            n_resamples=len(shared.draws),
            confidence_level=settings.resolved,
            random_state=job.seed,
            **options,
        )
    return completed(
        report,
        as_seen_by(shared.estimate, report.auc_pu, shared.reference),
        replicates,
        level=settings.resolved,
        n_groups=None,
        ignore_checks=settings.ignore_checks,
    )


def _at_level(report: PUReport, settings: Settings) -> PUReport:
    """The report with intervals at the level wanted, where the replicates cannot tell its ends."""
    if settings.resolved == settings.level:
        return report
    intervals = {n: _stretched(n, i, settings) for n, i in report.intervals.items()}
    estimation = report.estimation
    if estimation is None or report.bootstrap is None:  # the closed form knows every level
        intervals["roc_auc"] = auc_interval(
            report.counts, report.proportions, confidence_level=settings.level
        )
    if estimation is not None:
        own = {n: _stretched(n, i, settings) for n, i in estimation.intervals.items()}
        estimation = replace(estimation, intervals=own)
    return replace(report, intervals=intervals, estimation=estimation)


def _stretched(name: str, interval: Interval, settings: Settings) -> Interval:
    r"""Ends moved away from the estimate as those of a normal distribution would be.

    .. math:: \theta - (\theta - l)\,z/z_0, \qquad \theta + (h - \theta)\,z/z_0
    """
    from scipy.special import ndtri

    factor = float(ndtri(0.5 + settings.level / 2) / ndtri(0.5 + settings.resolved / 2))
    least, most = RANGES.get(name, (0.0, 1.0))
    middle = interval.estimate
    low = middle - (middle - interval.low) * factor
    high = middle + (interval.high - middle) * factor
    if not math.isnan(low):  # max and min would turn NaN into a number
        low, high = max(min(low, interval.low), least), min(max(high, interval.high), most)
    method = f"{interval.method}, stretched from {100 * settings.resolved:g} %"
    return replace(interval, low=low, high=high, confidence_level=settings.level, method=method)
