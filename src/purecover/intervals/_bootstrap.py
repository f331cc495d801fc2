"""Bootstrap intervals of every metric, and bands of both curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from purecover._frozen import FrozenDict
from purecover._typing import AreaRule, FloatArray, RandomState, Repair, Target
from purecover._validation import (
    bad_type,
    bad_value,
    check_choice,
    check_flag,
    check_instance,
    check_integer,
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
    simultaneous_depth,
)
from purecover.intervals._interval import CurveBand, Interval, check_level
from purecover.intervals._resample import Resampler, resampler_for
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

__all__ = ["BootstrapResult", "bootstrap"]

MAX_THRESHOLDS = 2**14
"""Counts with more distinct scores are thinned before resampling.

The order of scores within one of so many groups adds nothing to an interval: the observed
AUC moves by less than 1e-4, a tiny part of its standard error.
"""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class BootstrapResult:
    """Replicates of metrics and curves.

    Attributes
    ----------
    estimates : mapping of str to float
        The metrics of the data themselves.
    replicates : mapping of str to ndarray of shape (n_resamples,)
        The metrics of each replicate.
    n_resamples : int
        How many replicates there are.
    confidence_level : float
        Nominal coverage of intervals and bands.
    method : str
        How replicates were drawn.
    """

    estimates: Mapping[str, float]
    replicates: Mapping[str, FloatArray]
    n_resamples: int
    confidence_level: float
    method: str
    _curves: Mapping[str, tuple[FloatArray, FloatArray, FloatArray, FloatArray]]

    def __post_init__(self) -> None:
        for name in ("estimates", "replicates", "_curves"):
            object.__setattr__(self, name, FrozenDict(dict(getattr(self, name))))

    def __repr__(self) -> str:
        return (
            f"BootstrapResult({self.n_resamples:,} resamples, {self.method}, "
            f"{len(self.replicates)} metrics, {100 * self.confidence_level:g} %)"
        )

    def interval(self, metric: str) -> Interval:
        """Percentile interval of one metric.

        Parameters
        ----------
        metric : str
            Its name.

        Returns
        -------
        Interval
            NaN at both ends if the metric is undefined in more than one replicate of twenty,
            or if no replicate moved it: that is too little data, not certainty.
        """
        check_choice("BootstrapResult.interval", "metric", metric, self.replicates)
        draws = self.replicates[metric]
        defined = draws[~np.isnan(draws)]
        low = high = float("nan")
        if defined.size >= 0.95 * draws.size:
            tail = (1 - self.confidence_level) / 2
            if np.ptp(defined) > 0:
                low, high = (float(q) for q in np.quantile(defined, [tail, 1 - tail]))
        estimate = self.estimates[metric]
        if metric == "roc_auc":  # the direct value, which can leave [0, 1]
            estimate, low, high = (min(max(v, 0.0), 1.0) for v in (estimate, low, high))
        return Interval(
            estimate=estimate,
            low=low,
            high=high,
            confidence_level=self.confidence_level,
            method=f"bootstrap percentile, {self.method}",
        )

    def intervals(self) -> dict[str, Interval]:
        """Intervals of all metrics."""
        return {name: self.interval(name) for name in self.replicates}

    def roc_band(self, kind: Literal["pointwise", "simultaneous"] = "pointwise") -> CurveBand:
        """Band of the true-positive rate over the false-positive rate.

        Parameters
        ----------
        kind : {"pointwise", "simultaneous"}, default="pointwise"
            Whether the level holds at each false-positive rate, or for the whole curve.

        Returns
        -------
        CurveBand
            The band.
        """
        return self._band("roc", kind)

    def pr_band(self, kind: Literal["pointwise", "simultaneous"] = "pointwise") -> CurveBand:
        """Band of precision over recall; see :meth:`roc_band`."""
        return self._band("pr", kind)

    def _band(self, curve: str, kind: Literal["pointwise", "simultaneous"]) -> CurveBand:
        name = f"BootstrapResult.{curve}_band"
        check_choice(name, "kind", kind, ("pointwise", "simultaneous"))
        if curve not in self._curves:
            raise bad_value(
                "bootstrap", "curves", "True for bands", "False", "run bootstrap(..., curves=True)"
            )
        x, estimate, draws, highest_low = self._curves[curve]
        ordered = np.sort(draws, axis=0)
        n = draws.shape[0]
        if kind == "pointwise":
            tail = (1 - self.confidence_level) / 2
            low, high = np.quantile(ordered, [tail, 1 - tail], axis=0)
        else:
            depth = simultaneous_depth(draws, ordered, self.confidence_level)
            low, high = ordered[depth - 1], ordered[n - depth]
        return CurveBand(
            x=x,
            estimate=estimate,
            low=np.minimum(low, highest_low),
            high=high,
            confidence_level=self.confidence_level,
            kind=kind,
        )


def bootstrap(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    *,
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
    sorted again. Alpha and beta are treated as exact.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
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
    check_target(name, target)
    if repair is not None:
        check_choice(name, "repair", repair, REPAIRS)
    check_flag(name, "curves", curves)
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
    if resampler is None:
        resampler = resampler_for(counts.thinned(MAX_THRESHOLDS, keep=threshold), method)
        drawn = "Poisson" if type(resampler).__name__.startswith("Poisson") else "multinomial"
    else:
        if not callable(getattr(resampler, "draw", None)):
            raise bad_type(name, "resampler", "an object with a 'draw' method", resampler)
        drawn = "groups"
    repairs = (roc.repair, roc_pr.repair)
    job = _Job(wanted, threshold, target, options, proportions, repairs, curves)
    estimates, roc_curve, pr_curve = job.measure(counts, (roc, roc_pr))
    draws = {metric.name: np.empty(n_resamples) for metric in wanted}
    roc_draws = np.empty((n_resamples, GRID.size))
    pr_draws = np.empty((n_resamples, GRID.size - 1))
    for i in range(n_resamples):
        values, tpr_at, precision_at = job.measure(resampler.draw(rng))
        for key, value in values.items():
            draws[key][i] = value
        if curves:
            roc_draws[i], pr_draws[i] = tpr_at, precision_at
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
        replicates=draws,
        n_resamples=n_resamples,
        confidence_level=level,
        method=drawn,
        _curves=kept,
    )


@dataclass(frozen=True)
class _Job:
    """What is measured on the data and on every replicate."""

    metrics: tuple[Metric, ...]
    threshold: float
    target: Target
    options: MetricOptions
    proportions: MixtureProportions
    repairs: tuple[Repair, Repair]
    curves: bool

    def measure(
        self, counts: ScoreCounts, recovered: tuple[RecoveredRoc, RecoveredRoc] | None = None
    ) -> tuple[dict[str, float], FloatArray, FloatArray]:
        if not self.curves and all(metric.name == "roc_auc" for metric in self.metrics):
            value = 0.5 + (auc_pu(counts) - 0.5) / self.proportions.delta
            return {metric.name: value for metric in self.metrics}, GRID, GRID[1:]
        roc, roc_pr = recovered or self._recover(counts)
        prior = self.proportions.prior(self.target, counts)
        view = view_of(roc, roc_pr, counts, self.threshold)
        values = compute_metrics(self.metrics, view, prior, self.options)
        if not self.curves:
            return values, GRID, GRID[1:]
        return values, np.interp(GRID, roc.fpr, roc.tpr), precision_line(roc_pr, prior)

    def _recover(self, counts: ScoreCounts) -> tuple[RecoveredRoc, RecoveredRoc]:
        # The guard has decided on the data; a replicate must not change its mind.
        first, second = self.repairs
        roc = recover_roc(counts, self.proportions, repair=first, concavity_guard=False)
        if second == first:
            return roc, roc
        roc_pr = blended(roc, counts)  # the only pair there is
        return roc, roc_pr
