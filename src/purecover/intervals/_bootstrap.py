"""Bootstrap intervals of every metric, and bands of both curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from purecover._typing import AreaRule, FloatArray, RandomState, Repair, Target
from purecover._validation import (
    bad_type,
    check_choice,
    check_flag,
    check_instance,
    check_integer,
    check_progress,
    check_random_state,
    check_real,
)
from purecover.counts import ScoreCounts
from purecover.curves import auc_pu
from purecover.intervals._bands import (
    GRID,
    highest_precision,
    highest_tpr,
    precision_line,
)
from purecover.intervals._draws import (
    Draw,
    ProportionEstimator,
    draws,
    draws_with_proportions,
)
from purecover.intervals._interval import check_level
from purecover.intervals._replicates import PROPORTIONS, BootstrapResult
from purecover.intervals._resample import Resampler, resampler_for, thinned_to_draw
from purecover.proportions import MixtureProportions, check_target
from purecover.recovery._metrics import (
    compute_metrics,
    recover_both,
    view_of,
    youden_threshold,
)
from purecover.recovery._rates import PROPORTIONS_HINT
from purecover.recovery._registry import Metric, MetricOptions, resolve_metrics
from purecover.recovery._roc import REPAIRS, RecoveredRoc, blended, recover_roc

__all__ = ["bootstrap"]

MAX_THRESHOLDS = 2**14
"""Counts with more distinct scores are thinned before resampling.

The order of scores within one of so many groups adds nothing to an interval: the observed
AUC moves by less than 1e-4, a tiny part of its standard error.
"""

MANY_THRESHOLDS = 2**15
"""With more distinct scores than this, ``FEW_GROUPS`` are resampled, by the quicker way to draw."""

FEW_GROUPS = 2**12
r"""Groups that large data are thinned to.

In k groups of like shares of labeled and unlabeled the order within moves the observed AUC by at
most :math:`\sum_j g_j f_j / 2 \le 1/(2k)`, here 1.2e-4, if labeled and unlabeled scores were apart
within every group; where their densities are smooth it is of the order of :math:`1/k^2`. What
it does to the metrics, in standard errors, ``benchmarks/report_speed.py`` measures. At the top
groups are finer, for metrics that look at the top k or at few false positives.
"""

MAX_ESTIMATED = 2**12
"""The same where every replicate estimates alpha and beta, whose errors are larger by far."""

Progress = Callable[[int, int], None]


def bootstrap(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    *,
    estimator: ProportionEstimator | None = None,
    metrics: Iterable[str] | None = None,
    threshold: float | None = None,
    target: Target = "population",
    repair: Repair | None = None,
    f_beta: float = 1.0,
    cost_fn: float = 1.0,
    cost_fp: float = 1.0,
    max_fpr: float = 0.1,
    top_k: int | None = None,
    area: AreaRule = "davis-goadrich",
    curves: bool = True,
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    method: Literal["multinomial", "poisson"] = "multinomial",
    resampler: Resampler | None = None,
    random_state: RandomState = None,
    progress: Progress | None = None,
) -> BootstrapResult:
    """Resample the counts to get intervals of metrics and bands of curves.

    Labeled and unlabeled examples are drawn apart; scores stay as they are and nothing is
    sorted again. Alpha and beta are treated as exact, unless an estimator is given.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    estimator : PriorEstimator, optional
        What estimated the proportions. Every replicate then has its own: the estimator sees the
        resampled counts, and intervals cover the error of alpha and beta too. Draws without an
        estimate (alpha not below beta) are rejected, counted, and drawn again.
    metrics : iterable of str, optional
        Names from ``METRICS``; all that apply by default.
    threshold, target, repair, f_beta, cost_fn, cost_fp, max_fpr, top_k, area
        As in :func:`recover_metrics`; the threshold stays fixed over replicates.
    curves : bool, default=True
        Whether to keep what bands of both curves need.
    n_resamples : int, default=2000
        Number of replicates.
    confidence_level : float, default=0.95
        Nominal coverage.
    method : {"multinomial", "poisson"}, default="multinomial"
        How counts are drawn. Weighted counts always use the second.
    resampler : object, optional
        Draws counts instead; :func:`group_resampler` makes one for dependent rows.
    random_state : int, numpy.random.Generator or None, default=None
        Where randomness comes from.
    progress : callable, optional
        Called as ``progress(done, total)`` now and then.

    Returns
    -------
    BootstrapResult
        Replicates, intervals and bands.

    Raises
    ------
    IdentifiabilityError
        If more than half of the draws allow no estimate of alpha and beta.

    See Also
    --------
    auc_interval : An interval of the AUC without resampling.

    Examples
    --------
    >>> from purecover import MixtureProportions, bootstrap, simulate
    >>> sample = simulate.binormal(1.5).sample(200, 1000, alpha=0.25, random_state=0)
    >>> result = bootstrap(
    ...     sample.counts,
    ...     sample.proportions,
    ...     metrics=["roc_auc"],
    ...     curves=False,
    ...     n_resamples=200,
    ...     random_state=0,
    ... )
    >>> 0.8556 in result.interval("roc_auc")
    True
    """
    name = "bootstrap"
    check_instance(
        name, "counts", counts, ScoreCounts, "build it with ScoreCounts.from_scores(...)"
    )
    check_instance(name, "proportions", proportions, MixtureProportions, PROPORTIONS_HINT)
    if estimator is not None and not callable(getattr(estimator, "proportions_many", None)):
        must = "an estimator of alpha and beta, such as AlphaMax()"
        raise bad_type(name, "estimator", must, estimator)
    check_target(name, target)
    if repair is not None:
        check_choice(name, "repair", repair, REPAIRS)
    check_flag(name, "curves", curves)
    check_progress(name, progress)
    check_choice(name, "method", method, ("multinomial", "poisson"))
    n_resamples = check_integer(name, "n_resamples", n_resamples, low=1, high=10**7)
    level = check_level(name, confidence_level)
    rng = check_random_state(name, random_state)
    options = MetricOptions(f_beta, cost_fn, cost_fp, max_fpr, top_k, area).validated(name)
    wanted = resolve_metrics(name, metrics, counts, options)

    roc, roc_pr = recover_both(counts, proportions, repair)
    threshold = (
        youden_threshold(roc) if threshold is None else check_real(name, "threshold", threshold)
    )
    many = resampler is None and counts.n_thresholds > MANY_THRESHOLDS
    if resampler is None:
        most = FEW_GROUPS if many else MAX_THRESHOLDS
        if estimator is not None:
            most = MAX_ESTIMATED
        thin = thinned_to_draw if many else ScoreCounts.thinned
        resampler = resampler_for(thin(counts, most, keep=threshold), method, crowded=many)
        drawn = "Poisson" if type(resampler).__name__.startswith("Poisson") else "multinomial"
    else:
        if not callable(getattr(resampler, "draw", None)):
            raise bad_type(name, "resampler", "an object with a 'draw' method", resampler)
        if estimator is not None:
            # Estimators fix bins and the like by the data, then look at the replicates.
            check_instance(
                name,
                "resampler.counts",
                getattr(resampler, "counts", None),
                ScoreCounts,
                "make a resampler with group_resampler(...)",
            )
        drawn = "groups"
    repairs = (roc.repair, roc_pr.repair)
    job = _Job(wanted, threshold, target, options, repairs, curves)
    estimates, roc_curve, pr_curve = job.measure(Draw(counts, proportions), (roc, roc_pr))
    if estimator is None:
        replicates = draws(resampler, proportions, n_resamples, rng)
    else:
        replicates = draws_with_proportions(resampler, proportions, estimator, n_resamples, rng)
        estimates |= _shares(proportions)
    values = {key: np.empty(n_resamples) for key in estimates}
    roc_draws = np.empty((n_resamples, GRID.size))
    pr_draws = np.empty((n_resamples, GRID.size - 1))
    n_rejected = 0
    for i, draw in enumerate(replicates):
        measured, tpr_at, precision_at = job.measure(draw)
        if estimator is not None:
            measured |= _shares(draw.proportions)
        for key, value in measured.items():
            values[key][i] = value
        if curves:
            roc_draws[i], pr_draws[i] = tpr_at, precision_at
        n_rejected = draw.n_rejected
        if progress is not None and (i + 1) % 50 == 0:
            progress(i + 1, n_resamples)
    kept = {}
    if curves:
        kept = {
            "roc": (GRID.copy(), roc_curve, roc_draws, highest_tpr(counts, proportions, level)),
            "pr": (
                GRID[1:].copy(),
                pr_curve,
                pr_draws,
                highest_precision(counts, proportions, level, proportions.prior(target, counts)),
            ),
        }
    return BootstrapResult(
        estimates=estimates,
        replicates=values,
        n_resamples=n_resamples,
        confidence_level=level,
        method=drawn,
        varied="scores" if estimator is None else "scores and proportions",
        n_rejected=n_rejected,
        _curves=kept,
    )


def _shares(proportions: MixtureProportions) -> dict[str, float]:
    return {key: getattr(proportions, key) for key in PROPORTIONS}


@dataclass(frozen=True)
class _Job:
    """What is measured on the data and on every replicate."""

    metrics: tuple[Metric, ...]
    threshold: float
    target: Target
    options: MetricOptions
    repairs: tuple[Repair, Repair]
    curves: bool

    def measure(
        self, draw: Draw, recovered: tuple[RecoveredRoc, RecoveredRoc] | None = None
    ) -> tuple[dict[str, float], FloatArray, FloatArray]:
        counts, proportions = draw.counts, draw.proportions
        if not self.curves and all(metric.name == "roc_auc" for metric in self.metrics):
            value = 0.5 + (auc_pu(counts) - 0.5) / proportions.delta
            return {metric.name: value for metric in self.metrics}, GRID, GRID[1:]
        roc, roc_pr = recovered or self._recover(counts, proportions)
        prior = proportions.prior(self.target, counts)
        view = view_of(roc, roc_pr, counts, self.threshold)
        values = compute_metrics(self.metrics, view, prior, self.options)
        if not self.curves:
            return values, GRID, GRID[1:]
        return values, np.interp(GRID, roc.fpr, roc.tpr), precision_line(roc_pr, prior)

    def _recover(
        self, counts: ScoreCounts, proportions: MixtureProportions
    ) -> tuple[RecoveredRoc, RecoveredRoc]:
        # The guard has decided on the data; a replicate must not change its mind.
        first, second = self.repairs
        roc = recover_roc(counts, proportions, repair=first, concavity_guard=False)
        if second == first:
            return roc, roc
        roc_pr = blended(roc, counts)  # the only pair there is
        return roc, roc_pr
