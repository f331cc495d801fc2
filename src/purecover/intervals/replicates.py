"""Bootstrap intervals of every metric and of any vector of numbers, and bands of curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from purecover import _validation as valid
from purecover._parameters import Parameters, parameter
from purecover._progress import Progress, busy, shown
from purecover._typing import FloatArray, IntArray, RandomState, Repair, Target
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts
from purecover.intervals import resampling
from purecover.intervals.ends import interval_ends, quantiles
from purecover.intervals.interval import LEVEL, CurveBand, Interval, Varied, check_level
from purecover.intervals.resampling import Draws, GroupResampler, PoissonResampler, Resampler, draws
from purecover.proportions import MixtureProportions, ProportionEstimator, is_pooled
from purecover.recovery import metrics as formulas
from purecover.recovery.curves import KEEPS_THRESHOLDS, RecoveredRoc, blended_rates, repaired_rates
from purecover.recovery.means import Masses, check_probabilities, isotonic_frequency, net_benefits
from purecover.recovery.metrics import (
    METRICS,
    NO_ANSWERS,
    Answers,
    Metric,
    MetricKeywords,
    RecoveryOptions,
    View,
)
from purecover.recovery.rates import (
    Shares,
    check_data,
    effective_sizes,
    interpolated,
    map_rates,
    trapezoids,
)
from purecover.recovery.repairs import Samples
from purecover.recovery.thresholds import WITH_VALUE, best_places, criterion_at

GRID = np.linspace(0.0, 1.0, 201)
"""False-positive rates of an ROC band; recalls of a precision-recall band, but for 0."""


def simultaneous_depth(draws: FloatArray, ordered: FloatArray, level: float) -> int:
    """Return how many draws to leave out at either side so that whole curves stay inside.

    A curve lies between the k-th lowest and the k-th highest value everywhere, and on neither, if
    and only if its smallest depth over the grid is above k. Among n draws and one more that is
    exchangeable with them, at most a share of 1 - level may have a depth of k or less; if one draw
    at either side is too many already, the extreme ones are the band.
    """
    n, width = draws.shape
    smallest = np.full(n, n)
    for j in range(width):
        at_or_below = np.searchsorted(ordered[:, j], draws[:, j], side="right")
        at_or_above = n - np.searchsorted(ordered[:, j], draws[:, j], side="left")
        np.minimum(smallest, np.minimum(at_or_below, at_or_above), out=smallest)
    most = int((1 - level) * (n + 1) * (1 + 1e-12))
    return max(int(np.sort(smallest)[min(most, n - 1)]) - 1, 1)


def _ends_of_band(draws: FloatArray, kind: str, level: float) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper ends from draws of whole curves, a row each."""
    if kind == "pointwise":
        return interval_ends(draws, level)
    ordered = np.sort(draws, axis=0)
    depth = simultaneous_depth(draws, ordered, level)
    return ordered[depth - 1], ordered[len(draws) - depth]


def highest_low_ends(
    counts: ScoreCounts, proportions: MixtureProportions, level: float, prior: float
) -> tuple[FloatArray, FloatArray]:
    """Return upper bounds of the lower limits of tpr and precision.

    Resampling cannot see what no row shows: where every labeled score is above the threshold,
    so is every resampled one, and the band would have no width. The same for precision, where no
    unlabeled score is above the threshold. A share that no row showed has the upper limit of
    Clopper and Pearson.
    """
    unseen_labeled, unseen_unlabeled = (
        1 - ((1 - level) / 2) ** (1 / size) for size in effective_sizes(counts)
    )
    lost = (1 - proportions.alpha) / proportions.delta * unseen_labeled
    fpr = proportions.beta / proportions.delta * unseen_unlabeled
    found = prior * GRID[1:]
    return np.full(GRID.size, max(1 - lost, 0.0)), found / (found + (1 - prior) * fpr)


def precision_line(fpr: FloatArray, tpr: FloatArray, prior: FloatArray) -> FloatArray:
    """Return precision at each recall of the grid along ROC curves with straight segments.

    Curves and priors are rows.
    """
    recall, prior = GRID[1:], prior[:, None]
    first = tpr.shape[1] * np.arange(len(tpr))[:, None]
    after = np.stack([np.searchsorted(rate, recall) for rate in tpr])
    after = first + after.clip(1, tpr.shape[1] - 1)
    start, end, below, above = (rate.take(at) for rate in (tpr, fpr) for at in (after - 1, after))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(end > start, (recall - start) / (end - start), 1.0)
        flagged = (1 - prior) * (below + share * (above - below))
        precision = prior * recall / (prior * recall + flagged)
    return np.asarray(np.nan_to_num(precision, nan=0.0), dtype=np.float64)


PROPORTIONS = ("alpha", "beta", "delta")
"""Quantities that are replicated in addition to the metrics if the proportions are estimated."""

_NOISY = ("brier_miscalibration", "brier_discrimination", "ece")
"""Metrics to which noise adds, in replicates twice."""

_LEANING = ("auc_pr", "average_precision", "normalized_auc_pr")
"""Metrics whose replicates lean to the same side as their estimates."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BootstrapResult(Frozen):
    """Replicates of metrics and curves.

    Attributes
    ----------
    estimates : mapping of str to float
        The metrics of the data themselves; and ``"alpha"``, ``"beta"`` and ``"delta"``, if every
        replicate estimated them again.
    replicates : mapping of str to ndarray of shape (n_resamples,)
        The same of each replicate, of the population where another sample would have it.
    n_resamples : int
        How many replicates there are.
    confidence_level : float
        Nominal coverage of intervals and bands.
    method : str
        How replicates were drawn.
    varied : str
        What was taken as uncertain; see :class:`Interval`.
    n_rejected : int
        Draws left out because they allow no estimate of alpha below beta.
    optimism : tuple of float or None
        By how much choosing the threshold on the same data raises the observed true- and
        false-positive rate; ``estimates`` and ``replicates`` are corrected. None if it was given.
    """

    estimates: Mapping[str, float]
    replicates: Mapping[str, FloatArray]
    n_resamples: int
    confidence_level: float
    method: str
    varied: Varied = "scores"
    n_rejected: int = 0
    optimism: tuple[float, float] | None = None
    _curves: Mapping[str, tuple[FloatArray, FloatArray, FloatArray, FloatArray]]
    _numbers: Mapping[str, FloatArray] = field(default_factory=dict)
    _of_rows: Mapping[str, FloatArray] = field(default_factory=dict)
    """Replicates of the metrics whose intervals are of these very rows."""

    def __repr__(self) -> str:
        rejected = f", {self.n_rejected:,} rejected" if self.n_rejected else ""
        return (
            f"BootstrapResult({self.n_resamples:,} resamples{rejected}, {self.method}, "
            f"{len(self.replicates)} metrics, {100 * self.confidence_level:g} %)"
        )

    @public
    def interval(self, metric: str) -> Interval:
        """Return the percentile interval of one metric.

        At a threshold it is of these very rows: the flagged rows of a replicate have a share of
        positives, and which of them are positive is drawn as well (see :meth:`Metric.scope`).

        Areas under precision-recall curves are too low if hardly a negative stands above a
        positive, and replicates repeat the error, so that percentiles may lie below the truth.
        Their ends reach as far as plain or bias-corrected percentiles do [1]_,
        whichever is further, and ``method`` of such an interval says so. Calibration slope and
        intercept are infinite in a replicate whose classes look separable, and an end may be.

        Parameters
        ----------
        metric : str
            Its name.

        Returns
        -------
        Interval
            NaN at both ends if the metric is undefined in more than one replicate of twenty, or
            if next to no replicate moved it: that is too little data, or an alpha and beta at the
            edge of what fits, not certainty. (A beta that every replicate takes as 1 is no metric,
            and stays 1.) Where all labeled rows are above the threshold, or none is, and so in
            every replicate, the share of positives beyond them is drawn from Beta(1, n), its
            distribution beyond the extreme one of n rows.

        References
        ----------
        .. [1] B. Efron, "Nonparametric standard errors and confidence intervals", Canadian
           Journal of Statistics 9(2), 139-158, 1981.
        """
        valid.check_choice("metric", metric, self.replicates)
        values = self.replicates[metric]
        defined = values[~np.isnan(values)]
        estimate = self.estimates[metric]
        low = high = math.nan
        kind, tail = "percentile", (1 - self.confidence_level) / 2
        moves = defined.size >= 0.95 * values.size and defined.max() > defined.min()
        if metric in PROPORTIONS or moves:
            low, high = interval_ends(defined, self.confidence_level)
        if not low < high and metric not in PROPORTIONS:
            low = high = math.nan
        elif metric in self._of_rows:
            own = self._of_rows[metric]
            own = own[~np.isnan(own)]
            some = own.size >= 0.95 * values.size
            low, high = interval_ends(own, self.confidence_level) if some else (math.nan, math.nan)
        drawn = self.method.startswith(POSTERIOR)
        if not drawn and moves and metric in _NOISY and not np.isnan(estimate):
            # What replicates add, and at the low end also what the data have added to the
            # estimate, half as much again where probabilities are right (simulated).
            shift = max(float(np.median(defined)) - estimate, 0.0)
            low, high = max(low - 2.5 * shift, 0.0), max(high - shift, 0.0)
            kind += ", less what noise adds"
        if not drawn and moves and metric in _LEANING and not np.isnan(estimate):
            ends = _bias_corrected(defined, estimate, tail)
            low, high = min(low, ends[0]), max(high, ends[1])
            kind += ", plain or bias-corrected"
        method = self.method if drawn else f"bootstrap {kind}, {self.method}"
        if self.optimism is not None and metric in METRICS and METRICS[metric].kind == "threshold":
            method += ", less the optimism of the threshold"
        if metric == "roc_auc":  # the direct value, which can leave [0, 1]
            estimate, low, high = (min(max(v, 0.0), 1.0) for v in (estimate, low, high))
            if low == high:  # both ends beyond 1: too little data, not certainty
                low = high = math.nan
        if self.n_rejected:
            tried = self.n_resamples + self.n_rejected
            method += f", {self.n_rejected:,} of {tried:,} draws rejected"
        return Interval(
            estimate=estimate,
            low=low,
            high=high,
            confidence_level=self.confidence_level,
            method=method,
            varied=self.varied,
            scope="rows" if metric in self._of_rows else "population",
        )

    def intervals(self) -> dict[str, Interval]:
        """Return intervals of all metrics, and of the proportions if replicates estimate them."""
        return {name: self.interval(name) for name in self.replicates}

    def middle_numbers(self) -> dict[str, float]:
        """Return medians of the numbers of true and false predictions of posterior draws.

        Those of replicates are not the estimate, which the formula gives.
        """
        if not self.method.startswith(POSTERIOR):
            return {}
        return {name: float(np.median(values)) for name, values in self._numbers.items()}

    def number_intervals(self) -> dict[str, tuple[float, float]]:
        """Return percentile intervals of the numbers of true and false predictions."""
        level = self.confidence_level
        found = {name: interval_ends(values, level) for name, values in self._numbers.items()}
        return {name: (low, high) for name, (low, high) in found.items() if low < high}

    @public
    def roc_band(self, kind: Literal["pointwise", "simultaneous"] = "pointwise") -> CurveBand:
        """Return the band of the true-positive rate over the false-positive rate.

        Parameters
        ----------
        kind : {"pointwise", "simultaneous"}, default="pointwise"
            Whether the level is for each false-positive rate, or for the whole curve.

        Returns
        -------
        CurveBand
            The band.
        """
        return self._band("roc", kind)

    @public
    def pr_band(self, kind: Literal["pointwise", "simultaneous"] = "pointwise") -> CurveBand:
        """Return the band of precision over recall; see :meth:`roc_band`."""
        return self._band("pr", kind)

    def _band(self, curve: str, kind: Literal["pointwise", "simultaneous"]) -> CurveBand:
        valid.check_choice("kind", kind, ("pointwise", "simultaneous"))
        if curve not in self._curves:
            raise valid.bad_value(
                "curves", "True for bands", "False", "run bootstrap(..., curves=True)"
            )
        x, estimate, draws, highest_low = self._curves[curve]
        low, high = _ends_of_band(draws, kind, self.confidence_level)
        return CurveBand(
            x=x,
            estimate=estimate,
            low=np.minimum(low, highest_low),
            high=high,
            confidence_level=self.confidence_level,
            kind=kind,
            varied=self.varied,
        )


def _bias_corrected(values: FloatArray, estimate: float, tail: float) -> tuple[float, float]:
    """Return bias-corrected percentiles (Efron): twice the shift of the median, on normal scale."""
    from scipy.special import ndtr, ndtri

    below = (np.mean(values < estimate) + np.mean(values <= estimate)) / 2
    half = 0.5 / values.size  # an estimate beyond all replicates is not infinitely far
    shift = 2 * ndtri(np.clip(below, half, 1 - half))
    low, high = quantiles(values, ndtr(shift + ndtri([tail, 1 - tail])))
    return float(low), float(high)


POSTERIOR = "posterior draws"
"""Method of what is measured of draws from a posterior, which is made of no replicates."""

DEFAULT_RESAMPLES = 2000
MANY_THRESHOLDS = 2**15
"""Replicates where the caller does not say how many; of more distinct scores half as many suffice,
whose intervals are narrow anyway."""


def default_resamples(counts: ScoreCounts) -> int:
    """Return how many replicates a report has."""
    return DEFAULT_RESAMPLES // (2 if counts.n_thresholds > MANY_THRESHOLDS else 1)


GROUPS = 3 * 2**7
r"""Groups of neighboring scores that are resampled, and half as many more at the top.

In k groups of like shares of labeled and unlabeled the order within moves the observed AUC by at
most :math:`\sum_j g_j f_j / 2 \le 1/(2k)`, if labeled and unlabeled scores were apart
within every group; where their densities are smooth it is of the order of :math:`1/k^2`. By what
it moves a metric of the data it moves those of all replicates, hence they are moved back. At the
top groups are finer, for metrics that look at the top k or at few false positives.
Interval ends move by less than from one run to another. (With 128 groups precision among the top k
and the bias of areas under precision-recall curves change by more than chance.)
"""

FEWER_GROUPS, FEW_REPLICATES = 2**8, 500
"""So many groups suffice for so few replicates, where alpha and beta are known: they move ends of
intervals by a twentieth of a standard error, and chance moves those of 500 by an eighth."""


@dataclass(frozen=True)
class Resampling(Parameters):
    """Settings of resampling."""

    confidence_level: float = parameter(
        0.95, "float", "Nominal coverage of intervals and bands.", LEVEL
    )
    n_resamples: int | None = parameter(
        None,
        "int",
        """Bootstrap replicates; 0 for none, which leaves only the interval of the AUC. Where alpha
        is estimated or judged, so many draws from its posterior, and 0 leaves formulas.""",
        partial(valid.check_integer, low=0, high=10**7),
    )
    random_state: RandomState = parameter(
        0,
        "int, numpy.random.Generator, numpy.random.RandomState or None",
        "Where randomness comes from.",
        valid.check_seeding,
    )
    progress: Progress | None = parameter(
        None,
        "callable or False",
        """Called as ``progress(done, total)`` now and then; False for silence. Default: a bar in
        a terminal or a notebook, for what takes longer than a second.""",
        lambda _, value: valid.check_progress(value),
    )


@public
def bootstrap(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    *,
    estimator: ProportionEstimator | None = None,
    metrics: Iterable[str] | None = None,
    threshold: float | None = None,
    curves: bool = True,
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    resampler: Resampler | None = None,
    random_state: RandomState = None,
    progress: Progress | None = None,
    **options: Unpack[MetricKeywords],
) -> BootstrapResult:
    """Resample the counts to get intervals of metrics and bands of curves.

    Labeled and unlabeled rows are drawn apart; scores stay as they are and nothing is
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
    threshold : float, optional
        As in :func:`recover_metrics`; it stays fixed over replicates. Where it is left out, each
        replicate also chooses its own, and rates are corrected for the choice (see Notes).
    curves : bool, default=True
        Whether to keep what bands of both curves need.
    n_resamples : int, default=2000
        Number of replicates.
    confidence_level : float, default=0.95
        Nominal coverage.
    resampler : GroupResampler, optional
        Draws groups of dependent rows; :func:`group_resampler` makes one. By default rows are
        independent: counts are multinomial, or Poisson where rows have weights.
    random_state : int, numpy.random.Generator or None, default=None
        Where randomness comes from.
    progress : callable or False, optional
        Called as ``progress(done, total)`` now and then; False for silence. Default: a bar in a
        terminal or a notebook, for what takes longer than a second.
    **options

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

    Notes
    -----
    A threshold that is the best of the data is better there than elsewhere. A replicate :math:`b`
    with the best threshold :math:`t_b` of its own shows how much: its observed rates at
    :math:`t_b`, less those of the data there. Of this optimism it shows only a part, since the
    noise of the data, which are its truth, took part in the choice as well. Near the best threshold
    the Youden index is a parabola plus noise whose best value grows with the power 2/3 of the
    noise's variance [1]_; doubled, it grows by :math:`2^{2/3}`, of which half is the replicate's.
    The mean over replicates is therefore multiplied by :math:`2^{1/3}`, carried over to the true
    rates by the linear map, and subtracted from those of the data and of replicates; these also
    spread as far as the corrected rates make them, as in Wilson's interval of a share.

    References
    ----------
    .. [1] J. Kim, D. Pollard, "Cube root asymptotics", Annals of Statistics 18(1), 191-219, 1990.

    Examples
    --------
    >>> from purecover import MixtureProportions, simulate
    >>> from purecover.intervals import bootstrap
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
    check_data(counts, proportions, warns=estimator is None)
    repair = RecoveryOptions.among(options).validated().repair
    return measure_replicates(
        counts,
        formulas.recover_both(counts, proportions, repair),
        estimator=estimator,
        metrics=metrics,
        threshold=threshold,
        curves=curves,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        resampler=resampler,
        random_state=random_state,
        progress=progress,
        **options,
    )


def measure_replicates(
    counts: ScoreCounts,
    recovered: tuple[RecoveredRoc, RecoveredRoc],
    *,
    estimator: ProportionEstimator | None = None,
    metrics: Iterable[str] | None = None,
    threshold: float | None = None,
    chosen_by: str | None = None,
    answers: Answers = NO_ANSWERS,
    curves: bool = True,
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    resampler: Resampler | None = None,
    random_state: RandomState = None,
    progress: Progress | None = None,
    **options: Unpack[MetricKeywords],
) -> BootstrapResult:
    """Run :func:`bootstrap` with both curves of the data recovered already.

    ``answers`` are those of judges on unlabeled rows at or above the threshold and below it.
    ``chosen_by`` names the metric that is at its best at the threshold; by default it is the
    observed Youden index, where no threshold is given. A threshold that just reaches a wanted
    value is not chosen again: subtracting the mean gain would add more error than the choice does
    (in 400 samples of 100 labeled and 1,000 unlabeled, 97 % of the intervals of precision at a
    wanted precision contain the truth without that correction, and 92 to 94 % with it).
    """
    roc, roc_pr = recovered
    proportions = roc.proportions
    valid.check_flag("curves", curves)
    valid.check_progress(progress)
    Repeating(estimator, n_resamples, confidence_level, random_state)  # complains of what is wrong
    n_resamples, level = int(n_resamples), float(confidence_level)
    rng = valid.check_random_state(random_state)
    given = RecoveryOptions.among(options).validated()
    wanted = formulas.resolve_metrics(metrics, counts, given, proportions)

    if chosen_by in WITH_VALUE:
        chosen_by = None
    chosen = threshold is None or chosen_by is not None
    threshold = formulas.check_threshold(threshold, counts)
    few = n_resamples <= FEW_REPLICATES and estimator is None
    groups = FEWER_GROUPS if few else GROUPS
    if resampler is None:
        thin = resampling.thinned_to_draw(counts, groups, keep=threshold)
        resampler = resampling.resampler_for(thin)
        drawn = "Poisson" if isinstance(resampler, PoissonResampler) else "multinomial"
    else:
        if not isinstance(getattr(resampler, "counts", None), ScoreCounts):
            hint = "make one with group_resampler(scores, labeled, groups)"
            raise valid.bad_type("resampler", "None or a resampler", resampler, hint)
        if isinstance(resampler, GroupResampler):
            thin = resampling.thinned_to_draw(resampler.counts, groups, keep=threshold)
            resampler = resampler.thinned(thin)
        drawn = "groups"
    data = resampler.counts
    repairs = (roc.repair, roc_pr.repair)
    job = _Job(wanted, threshold, chosen_by, given, repairs, curves, proportions)
    estimates, first, lines = job.measure_data(counts, roc, roc_pr)
    if estimator is not None:
        estimates |= {key: getattr(proportions, key) for key in PROPORTIONS}
    parts, n_rejected, done = [], 0, 0
    with shown(progress) as report:
        for block in draws(resampler, data, proportions, estimator, n_resamples, rng):
            measured = job.measure(block, data)
            if estimator is not None:
                alpha, beta = block.shares.alpha[:, 0], block.shares.beta[:, 0]
                measured.values.update(zip(PROPORTIONS, (alpha, beta, beta - alpha), strict=True))
            parts.append(measured)
            n_rejected, done = block.n_rejected, done + len(block.labeled)
            if report is not None:
                report(done, n_resamples)
    values = {key: np.concatenate([part.values[key] for part in parts]) for key in estimates}
    if data is not counts:
        itself = Draws(data.labeled[None], data.unlabeled[None], Shares.of(proportions))
        for key, (value,) in job.measure(itself, data).values.items():
            ends = METRICS[key].range
            if key == "roc_auc" or given.repair == "none":  # which can leave their range
                ends = (-np.inf, np.inf)
            values[key] = _moved(values[key], value, estimates[key], ends)
    numbers: dict[str, FloatArray] = {}
    of_rows: dict[str, FloatArray] = {}
    at_threshold = tuple(metric for metric in wanted if metric.kind == "threshold")
    optimism = None
    if at_threshold:
        place = formulas.position(counts, threshold)
        some = 0 < place < counts.n_thresholds
        if chosen and not some:
            optimism = (0.0, 0.0)  # all or none are flagged, in any sample
        elif chosen:
            best, tpr, fpr = (
                np.concatenate(column) for column in zip(*(p.best for p in parts), strict=True)
            )
            at = formulas.position(counts, np.append(np.inf, data.thresholds)[best])
            gains = np.mean(tpr - roc.tpr_pu[at]), np.mean(fpr - roc.fpr_pu[at])
            optimism = (CHOSEN_TWICE * float(gains[0]), CHOSEN_TWICE * float(gains[1]))
        # Beyond the extreme one of n there is this share of all, whatever their distribution.
        n_labeled = min(effective_sizes(counts)[0], getattr(resampler, "n_groups", math.inf))
        unseen = some * rng.beta(1, n_labeled, n_resamples)
        view = formulas.view_of(
            roc, roc_pr, counts, formulas.rates_at(roc, counts, place, optimism or (0.0, 0.0))
        )
        estimates |= formulas.compute_metrics(at_threshold, view, first[-1], given)
        if answers != NO_ANSWERS:
            estimates |= formulas.metrics_of_answers(
                at_threshold, roc, counts, place, first[-1], given, optimism or (0.0, 0.0), answers
            )
        found, drawn_rates = _at_threshold(
            np.concatenate([part.point for part in parts]),
            at_threshold,
            given,
            optimism,
            first=(first[2], first[3]),
            unseen=unseen,
        )
        values |= found
        target = formulas.target_of(first[-1], proportions, counts)
        drawn_numbers = numbers_of_rows(counts, place, *_shares_of_rows(drawn_rates), answers, rng)
        numbers = dict(zip(NUMBERS, drawn_numbers[0], strict=True))
        of_rows = formulas.metrics_of_numbers(
            at_threshold, drawn_numbers, (drawn_rates.fpr, drawn_rates.tpr), target, given
        )
    order = [metric.name for metric in wanted]
    order += [key for key in estimates if key not in order]
    kept = {}
    if curves:
        highest = highest_low_ends(counts, proportions, level, prior=first[-1])
        for i, (name, grid) in enumerate((("roc", GRID), ("pr", GRID[1:]))):
            all_lines = np.concatenate([part.lines[i] for part in parts])
            kept[name] = (grid.copy(), lines[i], all_lines, highest[i])
    return BootstrapResult(
        estimates={key: estimates[key] for key in order},
        replicates={key: values[key] for key in order},
        n_resamples=n_resamples,
        confidence_level=level,
        method=drawn,
        varied="scores" if estimator is None else "scores and proportions",
        n_rejected=n_rejected,
        optimism=optimism,
        _curves=kept,
        _numbers=numbers,
        _of_rows=of_rows,
    )


def _moved(
    values: FloatArray, grouped: float, estimate: float, ends: tuple[float, float]
) -> FloatArray:
    """Correct replicates for the effect of grouping on the data; ends of the range stay."""
    low, high = ends
    if np.isfinite(ends).all() and low < grouped < high and low <= estimate <= high:
        return np.interp(values, (low, grouped, high), (low, estimate, high))
    return np.clip(values + np.nan_to_num(estimate - grouped), low, high)


CHOSEN_TWICE = 2 ** (1 / 3)
"""The optimism of a chosen threshold, as a multiple of what a replicate shows of it."""

NUMBERS = ("tp", "fp", "fn", "tn")


def _studentized(replicates: FloatArray, apparent: float, corrected: float) -> FloatArray:
    r"""Move replicates of an observed rate to a corrected one, with the spread it has there.

    The best threshold of the data has rates nearer to 0 and 1 than they truly are, where shares
    vary less. A replicate that is :math:`u = (p_b - p)/\sqrt{p(1-p)}` away from the apparent rate
    :math:`p` is put where Wilson's score interval of the corrected rate :math:`q` would have an
    end: at the root :math:`r` of :math:`r - q = u \sqrt{r(1-r)}`.
    """
    spread = apparent * (1 - apparent)
    if spread <= 0:
        return replicates + (corrected - apparent)
    u = (replicates - apparent) / math.sqrt(spread)
    q = min(max(corrected, 0.0), 1.0)
    root: FloatArray = np.sqrt(q * (1 - q) + u**2 / 4)
    return (q + u**2 / 2 + u * root) / (1 + u**2)


def _at_threshold(
    points: FloatArray,
    metrics: tuple[Metric, ...],
    options: RecoveryOptions,
    optimism: tuple[float, float] | None,
    first: tuple[float, float],
    unseen: FloatArray,
) -> tuple[dict[str, FloatArray], _Rates]:
    """Compute metrics at the threshold of many replicates at once, and the rates there.

    ``first`` are the observed tpr and fpr of the data. ``unseen`` are shares of labeled rows that
    may be beyond all that were seen.
    """
    fpr, tpr, seen_tpr, flagged, alpha, beta, prior = points.T
    less: list[Any] = [0.0, 0.0]
    one_sided = min(first[0], 1 - first[0]) < 1e-12
    if optimism is not None:
        less = [
            observed - _studentized(observed, apparent, apparent - gain)
            for observed, apparent, gain in zip((seen_tpr, flagged), first, optimism, strict=True)
        ]
    if one_sided:  # all are above it, or none: replicates show nothing else
        less[0] = unseen if first[0] > 0.5 else -unseen
    if one_sided or optimism is not None:
        # What a repair has brought to 0 or 1 moves from where it was beyond them.
        raw_tpr, raw_fpr = map_rates(seen_tpr, flagged, Shares(alpha, beta))
        moved = formulas.less_optimistic(
            np.where((raw_fpr < 0) | (raw_fpr > 1), raw_fpr, fpr),
            np.where((raw_tpr < 0) | (raw_tpr > 1), raw_tpr, tpr),
            alpha,
            beta,
            (less[0], less[1]),
        )
        fpr, tpr = (
            np.clip(new, np.minimum(old, 0.0), np.maximum(old, 1.0))
            for new, old in zip(moved, (fpr, tpr), strict=True)
        )
    fpr, tpr = formulas.within_margins(fpr, tpr, flagged, alpha)
    found: dict[str, FloatArray] = {}
    for metric in metrics:
        value = np.array(metric.formula(tpr, fpr, prior, options), dtype=np.float64)
        value[np.isinf(value)] = np.nan  # a lift over next to no positives
        found[metric.name] = value
    return found, _Rates(fpr, tpr, flagged, alpha, beta)


class _Rates(NamedTuple):
    """Rates of replicates at a threshold, the share of unlabeled rows there, alpha and beta."""

    fpr: FloatArray
    tpr: FloatArray
    flagged: FloatArray
    alpha: FloatArray
    beta: FloatArray


def numbers_of_rows(
    counts: ScoreCounts,
    place: int,
    positive: tuple[FloatArray, FloatArray],
    right: tuple[FloatArray, FloatArray],
    answers: Answers,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw tp, fp, fn and tn of these very unlabeled rows, and then of the labeled ones.

    How many rows are flagged is known. Each of those that nobody has judged is positive with the
    share of positives of the draw: ``positive`` has those of unlabeled rows at or above the
    threshold and below it, and ``right`` has those of labeled rows.
    """
    sides = (
        (counts.unlabeled, counts.unlabeled_sq, answers, positive),
        (counts.labeled, counts.labeled_sq, NO_ANSWERS, right),
    )
    drawn = []
    for side, squares, known, shares in sides:
        for part, (found, judged), share in zip(
            (slice(None, place), slice(place, None)), known, shares, strict=True
        ):
            size = float(side[part].sum())
            unit = 1.0 if squares is None or not size else float(squares[part].sum()) / size
            number = found + draw_positives(size - judged, share.clip(0, 1), unit, rng)
            drawn += [number, size - number]
    return np.array(drawn).reshape(len(sides), len(NUMBERS), -1)


def _shares_of_rows(
    rates: _Rates,
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    r"""Return shares of positives among unlabeled and labeled rows, flagged and not flagged.

    Of flagged unlabeled rows it is
    :math:`\rho = \alpha\,tpr/(\alpha\,tpr + (1-\alpha)\,fpr)`, and of the others what is left of
    alpha, :math:`(\alpha - m\rho)/(1 - m)` with the share m that is flagged. So the number of
    positives varies as in a sample of a population with that alpha.
    """
    fpr, tpr, flagged, alpha, beta = rates
    precision = np.nan_to_num(METRICS["precision"].formula(tpr, fpr, alpha, None))
    left = (alpha - flagged * precision) / np.maximum(1 - flagged, 1e-300)
    return (precision, left), formulas.labeled_shares(fpr, tpr, beta)


def draw_positives(
    size: float, share: FloatArray, unit: float, rng: np.random.Generator
) -> FloatArray:
    """Draw how many of so many rows are positive, or their weight where one weighs ``unit``.

    By the expansion of Cornish and Fisher, not from the binomial distribution: how many random
    numbers a binomial draw takes depends on the last digits of its share, so that all later ones
    would differ between machines.
    """
    z, n = rng.standard_normal(share.size), size / unit
    drawn = n * share + np.sqrt(n * share * (1 - share)) * z + (1 - 2 * share) * (z**2 - 1) / 6
    if unit == 1:
        drawn = np.rint(drawn)
    return np.asarray(unit * drawn.clip(0, n))


class _Measured(NamedTuple):
    """Measurements of replicates.

    Attributes
    ----------
    values : dict of str to ndarray
        Metrics that do not depend on the threshold.
    point : ndarray
        Inputs of the metrics that do, one row each: fpr, tpr, observed tpr, share of the unlabeled
        that is flagged, alpha, beta and prior.
    best : tuple of ndarray
        How many thresholds the best one reaches, and the observed tpr and fpr there.
    lines : tuple of ndarray
        Tpr, and precision, at each place of the grid.
    """

    values: dict[str, FloatArray]
    point: FloatArray
    best: tuple[IntArray, FloatArray, FloatArray]
    lines: tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class _Job:
    """Settings of the measurements on the data and on every replicate."""

    metrics: tuple[Metric, ...]
    threshold: float
    chosen_by: str | None
    options: RecoveryOptions
    repairs: tuple[Repair, Repair]
    curves: bool
    proportions: MixtureProportions

    @property
    def others(self) -> tuple[Metric, ...]:
        """All replicates are measured at the threshold at once, when they are all there."""
        return tuple(metric for metric in self.metrics if metric.kind != "threshold")

    def measure_data(
        self, counts: ScoreCounts, roc: RecoveredRoc, roc_pr: RecoveredRoc
    ) -> tuple[dict[str, float], tuple[float, ...], tuple[FloatArray, FloatArray]]:
        """Measure the data: metrics, inputs of those at the threshold, and the lines of bands."""
        view = formulas.view_of(roc, roc_pr, counts)
        prior = roc.proportions.prior(self.options.target, counts)
        at = formulas.position(counts, self.threshold)
        rates = (*view.rates, roc.tpr_pu, roc.fpr_pu)
        p = roc.proportions
        point = (*(float(rate[at]) for rate in rates), p.alpha, p.beta, prior)
        lines = (GRID, GRID[1:])
        if self.curves:
            tpr_at = interpolated(GRID, roc.fpr, roc.tpr)
            line = precision_line(roc_pr.fpr[None], roc_pr.tpr[None], np.array([prior]))
            lines = (tpr_at, line[0])
        return formulas.compute_metrics(self.others, view, prior, self.options), point, lines

    def measure(self, drawn: Draws, data: ScoreCounts) -> _Measured:
        """Measure replicates of (groups of) the data."""
        samples, shares = Samples.drawn(data, drawn.labeled, drawn.unlabeled), drawn.shares
        alpha, beta = shares.alpha[:, 0], shares.beta[:, 0]
        tpr_pu, fpr_pu = samples.tpr_pu, samples.fpr_pu
        direct = 0.5 + (trapezoids(tpr_pu, fpr_pu) - 0.5) / (beta - alpha)
        n_labeled, n_unlabeled = samples.labeled.sum(axis=1), samples.unlabeled.sum(axis=1)
        share = drawn.labeled_share
        if share is None:
            share = n_labeled / (n_labeled + n_unlabeled)
        prior = self._priors(alpha, beta, share)
        of_curves = tuple(metric for metric in self.others if metric.kind != "probability")
        values = self._of_masses(drawn, data, prior)
        n = len(alpha)
        if not self.curves and {metric.name for metric in self.metrics} <= {*values, "roc_auc"}:
            values |= {metric.name: direct for metric in of_curves}
            nothing = np.empty((n, 0))
            return _Measured(values, nothing, (np.arange(n), nothing, nothing), (nothing, nothing))
        # The guard has decided on the data; a replicate must not change its mind.
        first, second = self.repairs
        fpr, tpr = repaired_rates(first, samples, shares)
        rates = (fpr, tpr)
        if first not in KEEPS_THRESHOLDS:
            rates = repaired_rates("isotonic", samples, shares)
        fpr_pr, tpr_pr = fpr, tpr
        if second != first:  # the only pair there is
            fpr_pr, tpr_pr = blended_rates((fpr, tpr), samples, shares)
        view = View(
            curve=(fpr, tpr, direct),
            curve_pr=(fpr_pr, tpr_pr, direct),
            rates=rates,
            flagged_unlabeled=fpr_pu,
            point=(math.nan, math.nan),
            n_unlabeled=n_unlabeled,
            prior_at_k=alpha,
            counts=data,
        )
        at = formulas.position(data, self.threshold)
        seen = (rate[:, at] for rate in (*rates, tpr_pu, fpr_pu))
        best = np.argmax(tpr_pu[:, 1:] - fpr_pu[:, 1:], axis=1) + 1
        if self.chosen_by is not None:
            possible = formulas.within_margins(*rates, fpr_pu, shares.alpha)
            above = n_labeled[:, None] * tpr_pu
            at_all = criterion_at(self.chosen_by, possible, above, prior[:, None], self.options)
            best = best_places(self.chosen_by, at_all)
        rows = np.arange(n)
        lines = (GRID, GRID[1:])
        if self.curves:
            lines = interpolated(GRID, fpr, tpr), precision_line(fpr_pr, tpr_pr, prior)
        return _Measured(
            values | formulas.compute_metrics(of_curves, view, prior, self.options),
            np.column_stack((*seen, alpha, beta, prior)),
            (best, tpr_pu[rows, best], fpr_pu[rows, best]),
            lines,
        )

    def _of_masses(
        self, drawn: Draws, data: ScoreCounts, prior: FloatArray
    ) -> dict[str, FloatArray]:
        """Compute metrics of probabilities, replicate by replicate."""
        wanted = {m.name: m.formula for m in self.metrics if m.kind == "probability"}
        found = np.empty((len(wanted), prior.size))
        if wanted:
            for i, (counts, own) in enumerate(drawn.each(data, self.proportions)):
                masses = Masses.of(counts, own.alpha, own.beta)
                found[:, i] = [f(masses, float(prior[i]), self.options) for f in wanted.values()]
        return dict(zip(wanted, found, strict=True))

    def _priors(self, alpha: FloatArray, beta: FloatArray, share: FloatArray) -> FloatArray:
        """Compute :meth:`MixtureProportions.prior` of many samples."""
        target = self.options.target
        if not isinstance(target, str):
            return np.full(alpha.size, float(target))
        if is_pooled(target, self.proportions.scenario):
            return share * beta + (1 - share) * alpha
        return alpha


MAX_MEASURED = 2**12
"""Scores with more distinct values are thinned before resampling."""

Measure = Callable[[ScoreCounts, MixtureProportions], FloatArray]


@dataclass(frozen=True)
class Repeating:
    """Settings of replicates: the estimator, their number, and the seed."""

    estimator: ProportionEstimator | None
    n_resamples: int
    confidence_level: float
    random_state: RandomState

    def __post_init__(self) -> None:
        again = getattr(self.estimator, "proportions_many", None)
        if self.estimator is not None and not callable(again):
            must = "a fitted estimator of alpha and beta, such as AlphaMax().fit(counts)"
            raise valid.bad_type("estimator", must, self.estimator)
        valid.check_integer("n_resamples", self.n_resamples, low=1, high=10**7)
        check_level(self.confidence_level)
        valid.check_random_state(self.random_state)

    @busy()
    def of(
        self, counts: ScoreCounts, proportions: MixtureProportions, measure: Measure
    ) -> FloatArray:
        """Return ``measure`` by replicate, one row each; an estimator varies alpha and beta."""
        rng = valid.check_random_state(self.random_state)
        thin = counts.thinned(MAX_MEASURED)
        rows = resampling.resampler_for(thin)
        blocks = draws(rows, thin, proportions, self.estimator, self.n_resamples, rng)
        return np.array(
            [measure(*each) for block in blocks for each in block.each(thin, proportions)]
        )


@public
def curve_band(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    curve: Literal["calibration", "decision"],
    *,
    estimator: ProportionEstimator | None = None,
    target: Target = "population",
    kind: Literal["pointwise", "simultaneous"] = "pointwise",
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    random_state: RandomState = None,
) -> CurveBand:
    """Compute a bootstrap band of a curve of probabilities of the true class.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores: probabilities of the true class.
    proportions : MixtureProportions
        Alpha and beta.
    curve : {"calibration", "decision"}
        The curve of :func:`recover_calibration`, at 99 probabilities between the smallest and the
        largest there are, or that of :func:`recover_decision_curve`, from 0.01 to 0.99.
    estimator : PriorEstimator, optional
        The fitted estimator that gave alpha and beta, which replicates then estimate again.
    target : {"population", "deployment", "pooled"} or float, default="population"
        The population that the probabilities are for; see :meth:`MixtureProportions.prior`.
    kind : {"pointwise", "simultaneous"}, default="pointwise"
        Whether the level is for each point, or for the whole curve.
    n_resamples : int, default=1000
        Number of replicates.
    confidence_level : float, default=0.95
        Nominal coverage.
    random_state : int, numpy.random.Generator or None, default=None
        Where randomness comes from.

    Returns
    -------
    CurveBand
        The curve and its band.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts
    >>> from purecover.intervals import curve_band
    >>> counts = ScoreCounts.from_counts([0.9, 0.2], labeled=[625, 375], unlabeled=[275, 725])
    >>> band = curve_band(counts, MixtureProportions(0.25, 0.75), "decision", random_state=0)
    >>> print(f"{band.estimate[49]:.3f} [{band.low[49]:.3f}, {band.high[49]:.3f}]")
    0.125 [0.081, 0.165]
    """
    check_data(counts, proportions, warns=estimator is None)
    valid.check_choice("curve", curve, ("calibration", "decision"))
    valid.check_choice("kind", kind, ("pointwise", "simultaneous"))
    check_probabilities(counts, proportions)
    proportions.prior(target, counts)  # complains of a wrong target
    scores = Masses.of(counts, 0.0, 1.0).scores
    grid = np.linspace(scores[-1], scores[0], 99)
    if curve == "decision":
        grid = np.arange(1, 100) / 100

    def measure(own: ScoreCounts, shares: MixtureProportions) -> FloatArray:
        masses, prior = Masses.of(own, shares.alpha, shares.beta), shares.prior(target, own)
        if curve == "decision":
            return net_benefits(masses, prior, grid)[0]
        frequency = isotonic_frequency(masses, prior)
        return np.interp(grid, masses.scores[::-1], frequency[::-1])

    repeating = Repeating(estimator, n_resamples, confidence_level, random_state)
    found = repeating.of(counts, proportions, measure)
    low, high = _ends_of_band(found, kind, confidence_level)
    return CurveBand(
        x=grid,
        estimate=measure(counts, proportions),
        low=low,
        high=high,
        confidence_level=confidence_level,
        kind=kind,
        varied="scores" if estimator is None else "scores and proportions",
    )
