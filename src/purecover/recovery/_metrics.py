"""Recovered metrics: values of the registry, at one threshold and one prior."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._frames import make_frame
from purecover._frozen import FrozenDict
from purecover._typing import AreaRule, FloatArray, Repair, Target
from purecover._validation import check_instance, check_real
from purecover.counts import ScoreCounts
from purecover.curves import auc_pu
from purecover.proportions import MixtureProportions, check_target
from purecover.recovery._pr import normalize_auc_pr
from purecover.recovery._rates import PROPORTIONS_HINT
from purecover.recovery._registry import METRICS, Metric, MetricOptions, resolve_metrics
from purecover.recovery._roc import KEEPS_THRESHOLDS, RecoveredRoc, blended, recover_roc

__all__ = ["RecoveredMetrics", "recover_metrics"]


@dataclass(frozen=True, kw_only=True, eq=False)
class RecoveredMetrics(Mapping[str, float]):
    """Metrics by name, recovered and as observed.

    Attributes
    ----------
    values_ : mapping of str to float
        The recovered values; the object itself reads like this mapping.
    observed : mapping of str to float
        What one sees when unlabeled stands for negative.
    threshold : float
        Where threshold metrics were taken: positive is a score of at least this.
    prior : float
        Share of positives in the population prior-dependent metrics speak of.
    repair : str
        The repair of the rates.
    options : MetricOptions
        Parameters that some metrics take.
    """

    values_: Mapping[str, float]
    observed: Mapping[str, float]
    threshold: float
    prior: float
    repair: Repair
    options: MetricOptions

    def __post_init__(self) -> None:
        object.__setattr__(self, "values_", FrozenDict(dict(self.values_)))
        object.__setattr__(self, "observed", FrozenDict(dict(self.observed)))

    def __getitem__(self, name: str) -> float:
        return self.values_[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; what is undefined becomes None."""
        return {
            "threshold": self.threshold,
            "prior": self.prior,
            "repair": self.repair,
            "recovered": {k: v if math.isfinite(v) else None for k, v in self.items()},
            "observed": {k: v if math.isfinite(v) else None for k, v in self.observed.items()},
        }

    def frame(self, backend: Any = None) -> Any:
        """The metrics as a table; see :meth:`ScoreCounts.frame`."""
        names = list(self)
        columns = {
            "metric": np.array(names),
            "observed": np.array([self.observed[n] for n in names]),
            "recovered": np.array([self[n] for n in names]),
        }
        return make_frame("RecoveredMetrics.frame", columns, backend)

    def __repr__(self) -> str:
        head = f"RecoveredMetrics at threshold {self.threshold:.6g}, prior {self.prior:.4g}"
        rows = [
            f"  {METRICS[n].title:<28}{self.observed[n]:>9.4f} -> {value:.4f}"
            for n, value in self.items()
        ]
        return "\n".join([head + " (observed -> recovered)", *rows])


def recover_metrics(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    *,
    threshold: float | None = None,
    target: Target = "population",
    repair: Repair | None = None,
    metrics: Iterable[str] | None = None,
    f_beta: float = 1.0,
    cost_fn: float = 1.0,
    cost_fp: float = 1.0,
    max_fpr: float = 0.1,
    top_k: int | None = None,
    area: AreaRule = "davis-goadrich",
) -> RecoveredMetrics:
    r"""Recover scalar metrics against the true classes.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    threshold : float, optional
        Scores of at least this are predicted positive. By default the threshold with the
        highest Youden index, which is the same for observed and true classes.
    target : {"population", "deployment", "pooled"} or float, default="population"
        The population prior-dependent metrics speak of; see :meth:`MixtureProportions.prior`.
    repair : {"isotonic", "likelihood", "blend", "none", "paper", "hull"}, optional
        How rates are repaired; see :func:`recover_roc`. The last two have no rates at a
        threshold, so threshold metrics use the isotonic ones. By default isotonic, and
        ``"blend"`` for areas under the precision-recall curve.
    metrics : iterable of str, optional
        Names from ``METRICS``; all that apply by default.
    f_beta : float, default=1.0
        Weight of recall in ``f_beta``.
    cost_fn, cost_fp : float, default=1.0
        Costs of a missed positive and of a false alarm in ``cost``.
    max_fpr : float, default=0.1
        Range of ``partial_auc``.
    top_k : int, optional
        How many of the unlabeled with the highest scores ``precision_at_k`` and
        ``recall_at_k`` look at; their precision takes alpha as prior, whatever the target.
    area : str, default="davis-goadrich"
        Area rule of ``auc_pr``; see :func:`recover_pr`.

    Returns
    -------
    RecoveredMetrics
        Values by name, recovered and observed. NaN where a metric is undefined, such as
        the precision of a threshold that nothing reaches. ``roc_auc`` is the direct value,
        clipped to [0, 1].

    See Also
    --------
    choose_threshold : The threshold for a wanted precision, recall or cost.

    Notes
    -----
    With the prior :math:`\pi` of the target and the share predicted positive
    :math:`\theta = \pi\,tpr + (1-\pi)\,fpr`: accuracy
    :math:`\pi\,tpr + (1-\pi)(1-fpr)`, precision :math:`\pi\,tpr/\theta`, F1
    :math:`2\pi\,tpr/(\pi+\theta)`, MCC
    :math:`\sqrt{\pi(1-\pi)/(\theta(1-\theta))}\,(tpr-fpr)`, Lee-Liu score
    :math:`tpr^2/\theta`.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts, recover_metrics
    >>> counts = ScoreCounts.from_counts([1, 0], labeled=[625, 375], unlabeled=[275, 725])
    >>> metrics = recover_metrics(counts, MixtureProportions(0.25, 0.75), threshold=1)
    >>> round(metrics["precision"], 7), round(metrics["mcc"], 7)
    (0.7272727, 0.6788336)
    """
    name = "recover_metrics"
    check_instance(
        name, "counts", counts, ScoreCounts, "build it with ScoreCounts.from_scores(...)"
    )
    check_instance(name, "proportions", proportions, MixtureProportions, PROPORTIONS_HINT)
    check_target(name, target)
    options = MetricOptions(f_beta, cost_fn, cost_fp, max_fpr, top_k, area).validated(name)
    wanted = resolve_metrics(name, metrics, counts, options)
    roc, roc_pr = recover_both(counts, proportions, repair)
    if threshold is None:
        threshold = youden_threshold(roc)
    else:
        threshold = check_real(name, "threshold", threshold)
    return metrics_from_roc(
        roc,
        roc_pr,
        counts,
        threshold=threshold,
        prior=proportions.prior(target, counts),
        metrics=wanted,
        options=options,
    )


def recover_both(
    counts: ScoreCounts, proportions: MixtureProportions, repair: Repair | None
) -> tuple[RecoveredRoc, RecoveredRoc]:
    """The curve for rates and ROC areas, and the one for precision-recall areas."""
    roc = recover_roc(counts, proportions, repair="isotonic" if repair is None else repair)
    return roc, blended(roc, counts) if repair is None else roc


def metrics_from_roc(
    roc: RecoveredRoc,
    roc_pr: RecoveredRoc,
    counts: ScoreCounts,
    *,
    threshold: float,
    prior: float,
    metrics: tuple[Metric, ...],
    options: MetricOptions,
) -> RecoveredMetrics:
    """Metrics of recovered curves; ``roc_pr`` is the one precision-recall areas are taken from."""
    observed = (roc.fpr_pu, roc.tpr_pu, auc_pu(counts))
    as_observed = View(
        curve=observed,
        curve_pr=observed,
        rates=(roc.fpr_pu, roc.tpr_pu),
        flagged_unlabeled=roc.fpr_pu,
        at=position(counts, threshold),
        n_unlabeled=counts.n_unlabeled,
        prior_at_k=counts.labeled_share,
    )
    values = compute_metrics(metrics, view_of(roc, roc_pr, counts, threshold), prior, options)
    if "roc_auc" in values:  # the direct value, which can leave [0, 1]
        values["roc_auc"] = min(max(values["roc_auc"], 0.0), 1.0)
    return RecoveredMetrics(
        values_=values,
        observed=compute_metrics(metrics, as_observed, counts.labeled_share, options),
        threshold=threshold,
        prior=prior,
        repair=roc.repair,
        options=options,
    )


@dataclass(frozen=True)
class View:
    """What metrics look at."""

    curve: tuple[FloatArray, FloatArray, float]
    """fpr, tpr and direct AUC."""
    curve_pr: tuple[FloatArray, FloatArray, float]
    """The same, for areas under the precision-recall curve."""
    rates: tuple[FloatArray, FloatArray]
    """fpr and tpr at every threshold, after (0, 0)."""
    flagged_unlabeled: FloatArray
    """Share of the unlabeled at or above every threshold, after 0."""
    at: int
    """Where among them the threshold in use is."""
    n_unlabeled: float
    prior_at_k: float
    """Share of positives among those whose best k are looked at: the unlabeled."""


def view_of(roc: RecoveredRoc, roc_pr: RecoveredRoc, counts: ScoreCounts, threshold: float) -> View:
    """Recovered curves as metrics look at them."""
    return View(
        curve=(roc.fpr, roc.tpr, roc.auc_direct),
        curve_pr=(roc_pr.fpr, roc_pr.tpr, roc_pr.auc_direct),
        rates=rates_at_thresholds(roc, counts),
        flagged_unlabeled=roc.fpr_pu,
        at=position(counts, threshold),
        n_unlabeled=counts.n_unlabeled,
        prior_at_k=roc.proportions.alpha,
    )


def compute_metrics(
    metrics: tuple[Metric, ...], view: View, prior: float, options: MetricOptions
) -> dict[str, float]:
    """Values of metrics by name."""
    fpr, tpr = (float(rate[view.at]) for rate in view.rates)
    fpr_at_k = tpr_at_k = math.nan
    if options.top_k is not None:
        # Between two thresholds ties are broken at random, hence the straight line.
        share = options.top_k / view.n_unlabeled
        fpr_at_k, tpr_at_k = (
            float(np.interp(share, view.flagged_unlabeled, rate)) for rate in view.rates
        )
    out: dict[str, float] = {}
    for metric in metrics:
        if metric.name == "normalized_auc_pr" and "auc_pr" in out:
            # No need for the costliest figure of all a second time.
            value = normalize_auc_pr(out["auc_pr"], prior)
        elif metric.of_curve is not None:
            curve = view.curve_pr if metric.depends_on_prior else view.curve
            value = metric.of_curve(*curve, prior, options)
        elif metric.of_rates is not None:
            if metric.kind == "top_k":
                value = metric.of_rates(tpr_at_k, fpr_at_k, view.prior_at_k, options)
            else:
                value = metric.of_rates(tpr, fpr, prior, options)
        # A lift over next to no positives overflows: there is nothing to compare with.
        out[metric.name] = math.nan if math.isinf(value) else float(value)
    return out


def rates_at_thresholds(roc: RecoveredRoc, counts: ScoreCounts) -> tuple[FloatArray, FloatArray]:
    """Repaired fpr and tpr at every threshold of the scores."""
    if roc.repair not in KEEPS_THRESHOLDS:
        roc = recover_roc(counts, roc.proportions, repair="isotonic")
    return roc.fpr, roc.tpr


def position(counts: ScoreCounts, threshold: float) -> int:
    """How many distinct scores reach the threshold: its place on a curve."""
    below = int(np.searchsorted(counts.thresholds[::-1], threshold, side="left"))
    return counts.n_thresholds - below


def youden_threshold(roc: RecoveredRoc) -> float:
    """The threshold where the observed, hence also the true, Youden index is highest."""
    best = int(np.argmax(roc.tpr_pu[1:] - roc.fpr_pu[1:])) + 1
    return float(roc.thresholds_raw[best])
