"""Every scalar metric in one registry, observed and recovered by the same formula.

A metric is a function of the two rates (and a prior), of the whole curve, or, where scores are
probabilities, of means over the classes. The observed
value feeds it the observed rates and the labeled share as prior, the recovered value feeds
it the recovered rates and the prior of the target: there is no second set of formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from purecover import _validation as valid
from purecover._codec import Saved, picked, plain
from purecover._inputs import Tabular
from purecover._parameters import Parameters, parameter
from purecover._typing import AreaRule, FloatArray, OrNan, Repair, Target
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts, pu_roc_curve
from purecover.proportions import MixtureProportions, check_target
from purecover.recovery import curves, means
from purecover.recovery.rates import check_data, interpolated

Pair = tuple[float, float]
Answers = tuple[Pair, Pair]
"""Of rows at or above a threshold, and below it: how many were found positive, and judged."""

NO_ANSWERS: Answers = ((0.0, 0.0), (0.0, 0.0))


class ThresholdKeywords(TypedDict, total=False):
    """How metrics at a threshold are recovered."""

    target: Target
    repair: Repair | None
    f_beta: float
    cost_fn: float
    cost_fp: float


class MetricKeywords(ThresholdKeywords, total=False):
    """How all metrics are recovered."""

    max_fpr: float
    top_k: int | None
    area: AreaRule
    probabilities: bool
    threshold_probability: float


_COST = partial(valid.check_real, low=0, closed="left")


@dataclass(frozen=True)
class MetricOptions(Parameters):
    """Parameters that some metrics take."""

    f_beta: float = parameter(
        1.0,
        "float",
        "Weight of recall in ``f_beta``.",
        partial(valid.check_real, low=0, high=1e6, closed="right"),
    )
    cost_fn: float = parameter(1.0, "float", "Cost of a missed positive in ``cost``.", _COST)
    cost_fp: float = parameter(1.0, "float", "Cost of a false alarm in ``cost``.", _COST)
    max_fpr: float = parameter(
        0.1,
        "float",
        "Range of ``partial_auc``.",
        partial(valid.check_real, low=0, high=1, closed="right"),
    )
    top_k: int | None = parameter(
        None,
        "int",
        """How many of the unlabeled with the highest scores ``precision_at_k`` and
        ``recall_at_k`` look at; their precision takes alpha as prior, whatever the target.""",
        partial(valid.check_integer, low=1),
    )
    area: AreaRule = parameter(
        "davis-goadrich",
        '{"davis-goadrich", "average-precision", "trapezoid"}',
        "Area rule of ``auc_pr``; see :func:`recover_pr`.",
        partial(valid.check_choice, choices=curves.AREA_RULES),
    )
    probabilities: bool = parameter(
        False,
        "bool",
        """Whether scores are probabilities of the true class, in the population that ``target``
        says, and metrics of probabilities are wanted too: Brier score and its parts, log loss,
        calibration and net benefit. Asked for by name they need no such word.""",
        valid.check_flag,
    )
    threshold_probability: float = parameter(
        0.5,
        "float",
        """Probability from which on ``net_benefit`` flags: 0.1 where a missed positive is as bad as
        nine false alarms.""",
        partial(valid.check_real, low=0, high=1, closed="neither"),
    )


@dataclass(frozen=True)
class RecoveryOptions(MetricOptions):
    """The same, with the population they are for and the repair of the curves behind them."""

    target: Target = parameter(
        "population",
        '{"population", "deployment", "pooled"} or float',
        """The population that precision and other metrics that depend on the prior are for; see
        :meth:`MixtureProportions.prior`.""",
        lambda _, value: check_target(value),
    )
    repair: Repair | None = parameter(
        None,
        '{"isotonic", "likelihood", "blend", "none", "paper", "hull"}',
        """How rates are repaired; see :func:`recover_roc`. The last two have no rates at a
        threshold, so threshold metrics use the isotonic ones. By default isotonic, and
        ``"blend"`` for areas under the precision-recall curve.""",
        partial(valid.check_choice, choices=curves.REPAIRS),
    )


Formula = Callable[..., Any]
Kind = Literal["ranking", "threshold", "top_k", "probability"]
Scope = Literal["rows", "population"]


@dataclass(frozen=True)
class Metric:
    """One entry of :data:`METRICS`.

    Attributes
    ----------
    name, title : str
        The key, and how a person would call it.
    kind : {"ranking", "threshold", "top_k", "probability"}
        Whether it looks at the whole curve, at one threshold, at the k best scores, or at scores
        as probabilities.
    depends_on_prior : bool
        Whether it changes with the prior of the target.
    greater_is_better : bool
        Its direction.
    formula : callable
        For metrics at a threshold or at k ``(tpr, fpr, prior, options)`` to value, elementwise;
        for those of a curve ``(fpr, tpr, auc, prior, options)``, where ``auc`` is the direct one;
        for those of probabilities ``(masses, prior, options)``.
    range : tuple of float
        The least and the greatest it can be.
    """

    name: str
    title: str
    kind: Kind
    formula: Formula
    depends_on_prior: bool
    greater_is_better: bool = True
    range: tuple[float, float] = (0.0, 1.0)

    def scope(self, target: Target) -> Scope:
        """Return what the metric is of: these very rows, or what they are a sample of.

        At a threshold it follows from the numbers of flagged and missed rows, and is of these rows,
        as the numbers are. Curves are of the population, and so is, at a threshold, what depends
        on the prior where the target is a population that these rows are no sample of.
        """
        of_others = self.depends_on_prior and not isinstance(target, str)
        return "rows" if self.kind == "threshold" and not of_others else "population"


def _divide(numerator: Any, denominator: Any) -> Any:
    """Divide without warnings; NaN where the quotient is undefined."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotient = np.true_divide(numerator, denominator)
    return np.where(np.equal(denominator, 0), np.nan, quotient)


def _flagged(tpr: Any, fpr: Any, prior: float) -> Any:
    """Return the share of the population that is predicted positive."""
    return prior * tpr + (1 - prior) * fpr


def _precision(tpr: Any, fpr: Any, prior: float, _: MetricOptions) -> Any:
    return _divide(prior * tpr, _flagged(tpr, fpr, prior))


def _npv(tpr: Any, fpr: Any, prior: float, _: MetricOptions) -> Any:
    return _divide((1 - prior) * (1 - fpr), prior * (1 - tpr) + (1 - prior) * (1 - fpr))


def _f_score(tpr: Any, fpr: Any, prior: float, weight: float) -> Any:
    square = weight**2
    return _divide((1 + square) * prior * tpr, square * prior + _flagged(tpr, fpr, prior))


def _mcc(tpr: Any, fpr: Any, prior: float, _: MetricOptions) -> Any:
    flagged = _flagged(tpr, fpr, prior)
    # Rounding can push a share of 1 a hair above it.
    spread = np.maximum(flagged * (1 - flagged), 0)
    return np.sqrt(prior * (1 - prior)) * (tpr - fpr) * _divide(1.0, np.sqrt(spread))


def _net_benefit(masses: means.Masses, prior: float, options: MetricOptions) -> Any:
    return means.net_benefits(masses, prior, np.array([options.threshold_probability]))[0][0]


# Curves are given by fpr, tpr, the direct AUC, the prior and options; rates by tpr and fpr, ...
_OF_CURVES: dict[str, tuple[str, Formula]] = {
    "roc_auc": ("AUC", lambda f, t, a, p, o: a),
    "partial_auc": (
        "Partial AUC (standardized)",
        lambda f, t, a, p, o: curves.partial_area(f, t, o.max_fpr, standardized=True),
    ),
    "auc_pr": ("AUC-PR", lambda f, t, a, p, o: curves.area_under_pr(t, f, p, o.area)),
    "average_precision": (
        "Average precision",
        lambda f, t, a, p, o: curves.area_under_pr(t, f, p, "average-precision"),
    ),
    "normalized_auc_pr": (
        "AUC-PR, normalized",
        lambda f, t, a, p, o: curves.normalize_auc_pr(curves.area_under_pr(t, f, p, o.area), p),
    ),
}
_OF_RATES: dict[str, tuple[str, Formula]] = {
    "recall": ("Recall", lambda t, f, p, o: t),
    "specificity": ("Specificity", lambda t, f, p, o: 1 - f),
    "fpr": ("False-positive rate", lambda t, f, p, o: f),
    "precision": ("Precision", _precision),
    "npv": ("Negative predictive value", _npv),
    "fdr": ("False-discovery rate", lambda t, f, p, o: 1 - _precision(t, f, p, o)),
    "accuracy": ("Accuracy", lambda t, f, p, o: p * t + (1 - p) * (1 - f)),
    "balanced_accuracy": ("Balanced accuracy", lambda t, f, p, o: (1 + t - f) / 2),
    "f1": ("F1", lambda t, f, p, o: _f_score(t, f, p, 1.0)),
    "f_beta": ("F-beta", lambda t, f, p, o: _f_score(t, f, p, o.f_beta)),
    "mcc": ("Matthews correlation", _mcc),
    "youden": ("Youden index", lambda t, f, p, o: t - f),
    "ber": ("Balanced error rate", lambda t, f, p, o: (1 - t + f) / 2),
    "lift": ("Lift", lambda t, f, p, o: _divide(t, _flagged(t, f, p))),
    "lee_liu": ("Lee-Liu score", lambda t, f, p, o: _divide(t**2, _flagged(t, f, p))),
    "cost": ("Cost", lambda t, f, p, o: p * o.cost_fn * (1 - t) + (1 - p) * o.cost_fp * f),
}
_AT_K: dict[str, tuple[str, Formula]] = {
    "precision_at_k": ("Precision at k", _precision),
    "recall_at_k": ("Recall at k", lambda t, f, p, o: t),
}
_OF_PROBABILITIES: dict[str, tuple[str, Formula]] = {
    "brier": ("Brier score", lambda m, p, o: means.brier(m, p)),
    "brier_miscalibration": (
        "Brier score, miscalibration",
        lambda m, p, o: m.once(means.brier_parts, p)[0],
    ),
    "brier_discrimination": (
        "Brier score, discrimination",
        lambda m, p, o: m.once(means.brier_parts, p)[1],
    ),
    "log_loss": ("Log loss", lambda m, p, o: means.log_loss(m, p)),
    "calibration_slope": ("Calibration slope", lambda m, p, o: m.once(means.recalibration, p)[1]),
    "calibration_intercept": (
        "Calibration intercept",
        lambda m, p, o: m.once(means.recalibration, p)[0],
    ),
    "ece": ("Expected calibration error", lambda m, p, o: means.expected_calibration_error(m, p)),
    "net_benefit": ("Net benefit", _net_benefit),
}
_FREE_OF_PRIOR = frozenset((
    "roc_auc", "partial_auc", "recall", "specificity", "fpr", "balanced_accuracy", "youden", "ber",
    *_AT_K,
))  # fmt: skip
_LESS_IS_BETTER = frozenset((
    "fpr", "fdr", "ber", "cost", "brier", "brier_miscalibration", "log_loss", "ece",
))  # fmt: skip
_RANGES = {
    "normalized_auc_pr": (-math.inf, 1.0),
    **dict.fromkeys(("mcc", "youden"), (-1.0, 1.0)),
    **dict.fromkeys(("lift", "lee_liu", "cost"), (0.0, math.inf)),
    # Means that no repair touches: noise can push them below what losses can be.
    **dict.fromkeys(_OF_PROBABILITIES, (-math.inf, math.inf)),
}


def _entries(kind: Kind, formulas: Mapping[str, tuple[str, Any]]) -> dict[str, Metric]:
    return {
        name: Metric(
            name,
            title,
            kind,
            formula,
            depends_on_prior=name not in _FREE_OF_PRIOR,
            greater_is_better=name not in _LESS_IS_BETTER,
            range=_RANGES.get(name, (0.0, 1.0)),
        )
        for name, (title, formula) in formulas.items()
    }


METRICS: Mapping[str, Metric] = MappingProxyType(
    _entries("ranking", _OF_CURVES)
    | _entries("threshold", _OF_RATES)
    | _entries("top_k", _AT_K)
    | _entries("probability", _OF_PROBABILITIES)
)
"""Every scalar metric by name."""


def resolve_metrics(
    names: Iterable[str] | None,
    counts: ScoreCounts,
    options: MetricOptions,
    proportions: MixtureProportions | None = None,
) -> tuple[Metric, ...]:
    """Return metrics by name, or all that apply; check scores against ``proportions``."""
    top_k = options.top_k
    if top_k is not None and top_k > counts.n_unlabeled:
        raise valid.bad_value(
            "top_k", f"at most the {counts.n_unlabeled:,.10g} unlabeled", f"{top_k}"
        )
    if names is None:
        left_out = {"top_k"} if top_k is None else set()
        left_out |= set() if options.probabilities else {"probability"}
        names = [name for name, metric in METRICS.items() if metric.kind not in left_out]
    wanted = tuple(METRICS[name] for name in valid.check_names("metrics", names, METRICS))
    for metric in wanted:
        if metric.kind == "top_k" and top_k is None:
            raise valid.bad_value("top_k", f"given for {metric.name!r}", "None")
    if any(metric.kind == "probability" for metric in wanted):
        means.check_probabilities(counts, proportions)
    return wanted


@dataclass(frozen=True, kw_only=True, eq=False)
class RecoveredMetrics(Mapping[str, float], Frozen, Tabular):
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
        Share of positives in the population that prior-dependent metrics are for.
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

    def __getitem__(self, name: str) -> float:
        return self.values_[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; what is undefined becomes None."""
        known = picked(self, "threshold", "prior", "repair", "observed")
        return known | {"recovered": plain(self.values_)}

    def _columns(self) -> dict[str, Any]:
        names = list(self)
        return {
            "metric": np.array(names),
            "observed": np.array([self.observed[n] for n in names]),
            "recovered": np.array([self[n] for n in names]),
        }

    def __repr__(self) -> str:
        head = f"RecoveredMetrics at threshold {self.threshold:.6g}, prior {self.prior:.4g}"
        rows = [
            f"  {METRICS[n].title:<28}{self.observed[n]:>9.4f} -> {value:.4f}"
            for n, value in self.items()
        ]
        return "\n".join([head + " (observed -> recovered)", *rows])


@public
def recover_metrics(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    *,
    threshold: float | None = None,
    metrics: Iterable[str] | None = None,
    **options: Unpack[MetricKeywords],
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
    metrics : iterable of str, optional
        Names from ``METRICS``; all that apply by default.
    **options

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

    Metrics of probabilities need scores that are probabilities of the *true* class (those of
    :class:`PUCalibratedClassifier`, not of a model of labeled against unlabeled rows, which are
    refused where they give themselves away). They are means over the classes
    (:func:`recover_mean`) or follow from such means: with the probability :math:`p`, Brier score
    :math:`\pi E_1(1-p)^2 + (1-\pi) E_0\,p^2`, log loss :math:`-\pi E_1 \log p - (1-\pi) E_0
    \log(1-p)`, net benefit :math:`\pi\,tpr - (1-\pi)\,fpr\,t/(1-t)` at the threshold probability
    :math:`t`. ``brier_miscalibration`` is what an isotonic recalibration would subtract from the
    Brier score, ``brier_discrimination`` how far that is below :math:`\pi(1-\pi)`. Slope and
    intercept are those of a logistic regression of the class on the log-odds of :math:`p` (1 and 0
    if probabilities are right). ``ece`` compares frequencies and probabilities in ten bins of like
    size, less what noise adds to their distances.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts, recover_metrics
    >>> counts = ScoreCounts.from_counts([1, 0], labeled=[625, 375], unlabeled=[275, 725])
    >>> metrics = recover_metrics(counts, MixtureProportions(0.25, 0.75), threshold=1)
    >>> round(metrics["precision"], 7), round(metrics["mcc"], 7)
    (0.7272727, 0.6788336)
    """
    check_data(counts, proportions)
    given = RecoveryOptions.among(options).validated()
    wanted = resolve_metrics(metrics, counts, given, proportions)
    roc, roc_pr = recover_both(counts, proportions, given.repair)
    return metrics_from_roc(
        roc,
        roc_pr,
        counts,
        threshold=check_threshold(threshold, counts),
        prior=proportions.prior(given.target, counts),
        metrics=wanted,
        options=given,
    )


def recover_both(
    counts: ScoreCounts, proportions: MixtureProportions, repair: Repair | None
) -> tuple[curves.RecoveredRoc, curves.RecoveredRoc]:
    """Recover the curve for rates and ROC areas, and the one for precision-recall areas."""
    roc = curves.roc_from_counts(counts, proportions, "isotonic" if repair is None else repair)
    return roc, curves.blended(roc, counts) if repair is None else roc


def metrics_from_roc(
    roc: curves.RecoveredRoc,
    roc_pr: curves.RecoveredRoc,
    counts: ScoreCounts,
    *,
    threshold: float,
    prior: float,
    metrics: tuple[Metric, ...],
    options: MetricOptions,
    optimism: Pair = (0.0, 0.0),
    answers: Answers = NO_ANSWERS,
    known: Mapping[str, float] | None = None,
) -> RecoveredMetrics:
    """Compute metrics of recovered curves; precision-recall areas are those of ``roc_pr``.

    ``optimism`` is how much the choice of the threshold raises the observed tpr and fpr, and
    ``known`` has the same metrics if they were computed before.
    """
    observed = (roc.fpr_pu, roc.tpr_pu, counts.auc_pu)
    at = position(counts, threshold)
    as_observed = View(
        curve=observed,
        curve_pr=observed,
        rates=(roc.fpr_pu, roc.tpr_pu),
        flagged_unlabeled=roc.fpr_pu,
        point=(float(roc.fpr_pu[at]), float(roc.tpr_pu[at])),
        n_unlabeled=counts.n_unlabeled,
        prior_at_k=counts.labeled_share,
        counts=counts,
    )
    if known is None:
        view = view_of(roc, roc_pr, counts, rates_at(roc, counts, at, optimism))
        values = compute_metrics(metrics, view, prior, options)
        if answers != NO_ANSWERS:
            values |= metrics_of_answers(
                metrics, roc, counts, at, prior, options, optimism, answers
            )
    else:
        values = {metric.name: known[metric.name] for metric in metrics}
    if "roc_auc" in values:  # the direct value, which can leave [0, 1]
        values["roc_auc"] = min(max(values["roc_auc"], 0.0), 1.0)
    return RecoveredMetrics(
        values_=values,
        observed=compute_metrics(metrics, as_observed, counts.labeled_share, options),
        threshold=threshold,
        prior=prior,
        repair=roc.repair,
        options=MetricOptions.among(vars(options)),  # target and repair are there already
    )


@dataclass(frozen=True)
class View:
    """Inputs of metrics: rates and curves of one sample, or of many, one row each.

    Attributes
    ----------
    curve : tuple
        Fpr, tpr and direct AUC.
    curve_pr : tuple
        The same, for areas under the precision-recall curve.
    rates : tuple of ndarray
        Fpr and tpr at every threshold, after (0, 0).
    flagged_unlabeled : ndarray
        Share of the unlabeled at or above every threshold, after 0.
    point : tuple
        Fpr and tpr at the threshold in use.
    n_unlabeled : float or ndarray
        The number of unlabeled rows.
    prior_at_k : float or ndarray
        Share of positives among those whose best k are looked at: the unlabeled.
    counts : ScoreCounts
        The counts.
    shares : tuple of float
        Alpha and beta, for means over the classes of the counts.
    """

    curve: tuple[FloatArray, FloatArray, Any]
    curve_pr: tuple[FloatArray, FloatArray, Any]
    rates: tuple[FloatArray, FloatArray]
    flagged_unlabeled: FloatArray
    point: tuple[Any, Any]
    n_unlabeled: Any
    prior_at_k: Any
    counts: ScoreCounts
    shares: Pair = (0.0, 1.0)

    @cached_property
    def masses(self) -> means.Masses:
        """Inputs of metrics of probabilities."""
        return means.Masses.of(self.counts, *self.shares)


def view_of(
    roc: curves.RecoveredRoc,
    roc_pr: curves.RecoveredRoc,
    counts: ScoreCounts,
    point: Pair = (math.nan, math.nan),
) -> View:
    """Make the view of recovered curves; ``point`` is for metrics at a threshold."""
    return View(
        curve=(roc.fpr, roc.tpr, roc.auc_direct),
        curve_pr=(roc_pr.fpr, roc_pr.tpr, roc_pr.auc_direct),
        rates=rates_at_thresholds(roc, counts),
        flagged_unlabeled=roc.fpr_pu,
        point=point,
        n_unlabeled=counts.n_unlabeled,
        prior_at_k=roc.proportions.alpha,
        counts=counts,
        shares=(roc.proportions.alpha, roc.proportions.beta),
    )


def compute_metrics(
    metrics: tuple[Metric, ...], view: View, prior: Any, options: MetricOptions
) -> dict[str, Any]:
    """Compute metrics by name: numbers, or arrays if the view is of many samples."""
    fpr, tpr = view.point
    fpr_at_k = tpr_at_k = np.array(math.nan)
    if options.top_k is not None:
        # Between two thresholds ties are broken at random, hence the straight line.
        share = np.asarray(options.top_k / view.n_unlabeled)[..., None]
        fpr_at_k, tpr_at_k = (
            interpolated(share, view.flagged_unlabeled, rate)[..., 0] for rate in view.rates
        )
    out: dict[str, Any] = {}
    for metric in metrics:
        if metric.name == "normalized_auc_pr" and "auc_pr" in out:
            # No need for the costliest figure of all a second time.
            value = curves.normalize_auc_pr(out["auc_pr"], prior)
        elif metric.kind == "probability":
            value = metric.formula(view.masses, prior, options)
        elif metric.kind == "ranking":
            curve = view.curve_pr if metric.depends_on_prior else view.curve
            value = metric.formula(*curve, prior, options)
        elif metric.kind == "top_k":
            value = metric.formula(tpr_at_k, fpr_at_k, view.prior_at_k, options)
        else:
            value = metric.formula(tpr, fpr, prior, options)
        # A lift over next to no positives overflows: there is nothing to compare with.
        value = np.where(np.isinf(value), math.nan, value)
        out[metric.name] = value if value.ndim else float(value)
    return out


def rates_at_thresholds(
    roc: curves.RecoveredRoc, counts: ScoreCounts
) -> tuple[FloatArray, FloatArray]:
    """Return repaired fpr and tpr at every threshold of the scores."""
    if roc.repair not in curves.KEEPS_THRESHOLDS:
        roc = curves.roc_from_counts(counts, roc.proportions)
    return roc.fpr, roc.tpr


def rates_at(
    roc: curves.RecoveredRoc, counts: ScoreCounts, at: int, optimism: Pair = (0.0, 0.0)
) -> tuple[float, float]:
    """Return fpr and tpr at one place on the curve, for metrics and the confusion matrix."""
    fpr, tpr = (float(rate[at]) for rate in rates_at_thresholds(roc, counts))
    p = roc.proportions
    fpr, tpr = less_optimistic(fpr, tpr, p.alpha, p.beta, optimism)
    fpr, tpr = within_margins(fpr, tpr, float(roc.fpr_pu[at]), p.alpha)
    return float(fpr), float(tpr)


def less_optimistic(
    fpr: Any, tpr: Any, alpha: Any, beta: Any, optimism: tuple[Any, Any]
) -> tuple[Any, Any]:
    """Correct recovered rates for the choice of the threshold on the same data.

    The map from observed to recovered rates is linear, and takes the optimism along.
    """
    seen_tpr, seen_fpr = optimism
    tpr_less = tpr - ((1 - alpha) * seen_tpr - (1 - beta) * seen_fpr) / (beta - alpha)
    fpr_less = fpr - (beta * seen_fpr - alpha * seen_tpr) / (beta - alpha)
    # Rates that no repair has brought into [0, 1] need not be there now.
    return (
        np.clip(fpr_less, np.minimum(fpr, 0.0), np.maximum(fpr, 1.0)),
        np.clip(tpr_less, np.minimum(tpr, 0.0), np.maximum(tpr, 1.0)),
    )


def within_margins(fpr: Any, tpr: Any, flagged: Any, alpha: Any) -> tuple[Any, Any]:
    r"""Move rates to where a table of the unlabeled can have them.

    Of the share :math:`m` of the unlabeled at or above the threshold, precision
    :math:`\rho = \alpha\,tpr/(\alpha\,tpr + (1-\alpha)\,fpr)` makes positives. They are at most
    :math:`\alpha`, and those that are not at most :math:`1-\alpha`; where a repair has moved the
    rates so far that either fails, the rate that makes precision what the margin allows is taken.
    """
    ours, theirs = alpha * tpr, (1 - alpha) * fpr
    share = ours + theirs
    repaired = (np.minimum(fpr, tpr) >= 0) & (np.maximum(fpr, tpr) <= 1)
    hair = share * (1 + 1e-12)  # of rounding
    many = repaired & (flagged * ours > alpha * hair)
    few = repaired & ~many & (flagged * theirs > (1 - alpha) * hair)
    least = tpr * (flagged - alpha) / (1 - alpha)
    most = fpr * (flagged - (1 - alpha)) / np.where(few, alpha, 1.0)
    return np.where(many, least, fpr), np.where(few, most, tpr)


def position(counts: ScoreCounts, threshold: Any) -> Any:
    """Return how many distinct scores reach a threshold: its place on a curve."""
    return counts.n_thresholds - np.searchsorted(counts.thresholds[::-1], threshold, side="left")


def check_threshold(threshold: object, counts: ScoreCounts) -> float:
    """Return the given threshold, or else that of the highest observed, hence true Youden index."""
    if threshold is not None:
        return valid.check_real("threshold", threshold)
    roc = pu_roc_curve(counts)
    return float(roc.thresholds[1 + np.argmax(roc.tpr_pu[1:] - roc.fpr_pu[1:])])


@dataclass(frozen=True, kw_only=True)
class RecoveredConfusion(Saved):
    """Expected numbers of true and false predictions at a threshold.

    Attributes
    ----------
    tp, fp, fn, tn : float
        Expected numbers, none below 0; they add up to the size of the sample. NaN in a report
        whose alpha and beta contradict the scores.
    threshold : float
        Positive is a score of at least this.
    among : {"unlabeled", "pooled"}
        Whose numbers these are.
    intervals : dict of str to tuple of float
        Both ends of an interval of each of the four numbers by name, where there are replicates.
        How many are flagged is known, so that those of ``tp`` and ``fp`` mirror each other, as
        those of ``fn`` and ``tn`` do.
    answers : pair of pairs of float
        Of the unlabeled rows at or above the threshold, and then of those below it: how many
        judges found positive, and how many they judged. The numbers have these in them.
    """

    tp: OrNan
    fp: OrNan
    fn: OrNan
    tn: OrNan
    threshold: float
    among: Literal["unlabeled", "pooled"]
    intervals: dict[str, Pair] = field(default_factory=dict)
    answers: Answers = NO_ANSWERS

    @property
    def flagged(self) -> float:
        """How many are predicted positive, ``tp + fp``."""
        return self.tp + self.fp

    @property
    def hardly_known(self) -> tuple[str, ...]:
        """Numbers whose intervals are wider than three quarters of them, or of ``tp``."""
        least = max(self.tp, 1.0)
        return tuple(
            name
            for name, (low, high) in self.intervals.items()
            if high - low > 0.75 * max(getattr(self, name), least)
        )

    def matrix(self) -> FloatArray:
        """Return ``[[tn, fp], [fn, tp]]``, the order of scikit-learn's ``confusion_matrix``."""
        return np.array([[self.tn, self.fp], [self.fn, self.tp]])

    def __str__(self) -> str:
        if math.isnan(self.tp):
            return f"how many {self.among} at or above {self.threshold:.6g} are positive is unknown"
        share = self.tp / self.flagged if self.flagged else 0.0
        percent = f"{100 * share:.{2 if share < 0.01 else 3}g} %"
        found, missed = (self.between(name) for name in ("tp", "fn"))
        if "tp" not in self.hardly_known:
            found = f"about {self.tp:,.0f} ({found}{'; ' if found else ''}{percent})"
        if "fn" not in self.hardly_known:
            missed = f"about {self.fn:,.0f}{f' ({missed})' if missed else ''}"
        return (
            f"at the threshold (score ≥ {self.threshold:.6g}) {self.flagged:,.0f} {self.among} are "
            f"flagged: {found} of them are positive, and {missed} positives are missed"
        )

    def between(self, number: str) -> str:
        """Return the ends of the interval of a number; empty if there is none."""
        if number not in self.intervals:
            return ""
        low, high = self.intervals[number]
        return f"{low:,.0f} to {high:,.0f}"


@public
def recover_confusion(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    threshold: float,
    *,
    among: Literal["unlabeled", "pooled"] = "unlabeled",
    repair: Repair = "isotonic",
) -> RecoveredConfusion:
    r"""Recover the confusion matrix against the true classes.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    threshold : float
        Scores of at least this are predicted positive.
    among : {"unlabeled", "pooled"}, default="unlabeled"
        Whose numbers to give: of the unlabeled, whom one would follow up, or of labeled and
        unlabeled together.
    repair : str, default="isotonic"
        How rates are repaired; see :func:`recover_metrics`.

    Returns
    -------
    RecoveredConfusion
        Expected numbers, in general not whole.

    See Also
    --------
    recover_metrics : Ratios of these numbers.
    choose_threshold : Picks a threshold.

    Notes
    -----
    With :math:`n` rows, the prior :math:`\pi` of the sample and the number :math:`m` at or
    above the threshold, :math:`tp = m\,\rho` with the precision :math:`\rho` of
    :func:`recover_metrics` at that prior, :math:`fp = m - tp` and :math:`fn = n\pi - tp`. No
    number is below 0: where noise would have more positives above the threshold than there are, or
    more negatives, there are as many as there can be, and :func:`recover_metrics` says the same.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts
    >>> from purecover.recovery import recover_confusion
    >>> counts = ScoreCounts.from_counts([1, 0], labeled=[625, 375], unlabeled=[275, 725])
    >>> found = recover_confusion(counts, MixtureProportions(0.25, 0.75), threshold=1)
    >>> round(found.tp), round(found.flagged), round(found.fn)
    (200, 275, 50)
    """
    check_data(counts, proportions)
    valid.check_choice("among", among, ("unlabeled", "pooled"))
    threshold = valid.check_real("threshold", threshold)
    roc = curves.recover_roc(counts, proportions, repair=repair)
    return confusion_from_roc(roc, counts, threshold, among)


def confusion_from_roc(
    roc: curves.RecoveredRoc,
    counts: ScoreCounts,
    threshold: float,
    among: Literal["unlabeled", "pooled"] = "unlabeled",
    optimism: Pair = (0.0, 0.0),
    answers: Answers = NO_ANSWERS,
) -> RecoveredConfusion:
    """Return the confusion matrix of a recovered curve; ``answers`` are on unlabeled rows."""
    at = position(counts, threshold)
    prior = roc.proportions.prior("pooled" if among == "pooled" else "deployment", counts)
    n, flagged = counts.n_unlabeled, float(counts.unlabeled[:at].sum())
    if among == "pooled":
        n, flagged = n + counts.n_labeled, flagged + float(counts.labeled[:at].sum())
    fpr, tpr = rates_at(roc, counts, at, optimism)
    tp = float(positives_flagged(fpr, tpr, flagged, n, prior))
    fn = n * prior - tp
    if answers != NO_ANSWERS:
        tp, fn = (
            with_answers(number, size, own)
            for number, size, own in zip((tp, fn), (flagged, n - flagged), answers, strict=True)
        )
    return RecoveredConfusion(
        tp=tp,
        fp=flagged - tp,
        fn=fn,
        tn=max(n - flagged - fn, 0.0),
        threshold=threshold,
        among=among,
        answers=answers,
    )


def with_answers(expected: float, size: float, answers: Pair) -> float:
    """Return a number of positives: those that judges found, and the share of the other rows."""
    found, judged = answers
    return found + (size - judged) * expected / size if judged else expected


def metrics_of_answers(
    metrics: tuple[Metric, ...],
    roc: curves.RecoveredRoc,
    counts: ScoreCounts,
    at: int,
    prior: float,
    options: MetricOptions,
    optimism: Pair,
    answers: Answers,
) -> dict[str, float]:
    """Return metrics of these very rows at a threshold, some of which judges have seen."""
    p, target = roc.proportions, target_of(prior, roc.proportions, counts)
    threshold = counts.thresholds[at - 1] if at else math.inf
    c = confusion_from_roc(roc, counts, threshold, optimism=optimism, answers=answers)
    point = rates_at(roc, counts, at, optimism)
    above = float(counts.labeled[:at].sum())
    sizes, shares = (above, counts.n_labeled - above), labeled_shares(*point, p.beta)
    labeled = [
        size * each
        for size, share in zip(sizes, shares, strict=True)
        for each in (share, 1 - share)
    ]
    numbers = np.array([(c.tp, c.fp, c.fn, c.tn), labeled])
    return metrics_of_numbers(metrics, numbers, point, target, options)


def labeled_shares(fpr: Any, tpr: Any, beta: Any) -> tuple[Any, Any]:
    """Return the share of right labels at or above a threshold, and below it."""
    return tuple(  # type: ignore[return-value]
        np.where(beta < 1, beta * t / np.maximum(beta * t + (1 - beta) * f, 1e-300), 1.0)
        for t, f in ((tpr, fpr), (1 - tpr, 1 - fpr))
    )


def metrics_of_numbers(
    metrics: tuple[Metric, ...], numbers: FloatArray, point: Any, target: Target, options: Any
) -> dict[str, Any]:
    """Return metrics of these very rows from tp, fp, fn and tn, or rows of them.

    ``numbers`` are those of unlabeled rows and of labeled ones. What depends on the prior is of the
    rows that have it, the unlabeled ones or all. Rates of a class are of all its rows: recall is
    the share of all positives that is found, and labeled positives are most of what is known of it.
    Rates are those of ``point``, fpr and tpr, where no row has a class.
    """
    fpr, tpr = point
    unlabeled, every = numbers[0], numbers.sum(axis=0)
    values = {}
    for metric in metrics:
        if metric.scope(target) != "rows":
            continue
        of_all = target == "pooled" or not metric.depends_on_prior
        tp, fp, fn, tn = every if of_all else unlabeled
        positives, negatives = tp + fn, fp + tn
        values[metric.name] = metric.formula(
            np.where(positives > 0, tp / np.maximum(positives, 1e-300), tpr),
            np.where(negatives > 0, fp / np.maximum(negatives, 1e-300), fpr),
            positives / (positives + negatives),
            options,
        )
    values = {name: np.where(np.isinf(each), math.nan, each) for name, each in values.items()}
    return {name: each if each.ndim else float(each) for name, each in values.items()}


def target_of(prior: float, proportions: MixtureProportions, counts: ScoreCounts) -> Target:
    """Return the population that has a share of positives: by name, or else that share."""
    named: list[Target] = ["deployment", "pooled"]
    if proportions.scenario == "censoring":  # where both would fit
        named.reverse()
    return next((each for each in named if proportions.prior(each, counts) == prior), prior)


def positives_flagged(fpr: Any, tpr: Any, flagged: Any, n: float, prior: Any) -> Any:
    """Return the number of positives among the flagged from precision, within the margins."""
    share = prior * tpr + (1 - prior) * fpr
    precision = prior * tpr / np.where(share > 0, share, 1.0)
    least = np.maximum(flagged - n * (1 - prior), 0.0)
    return np.clip(flagged * precision, least, np.minimum(flagged, n * prior))


_SHOWN_OF_PROBABILITIES = ("brier", "log_loss", "calibration_slope", "calibration_intercept", "ece")


def title_of(name: str, options: MetricOptions) -> str:
    """The title of a metric with its parameters."""
    title = METRICS[name].title
    parameters = {
        "f_beta": f" (beta {options.f_beta:g})",
        "cost": f" (miss {options.cost_fn:g}, false alarm {options.cost_fp:g})",
        "net_benefit": f" (flagged from {options.threshold_probability:g})",
    }
    if name == "partial_auc":
        return f"{title.removesuffix(')')}, fpr to {options.max_fpr:g})"
    if name == "auc_pr" and options.area != "davis-goadrich":
        return f"{title} ({options.area})"
    return title + parameters.get(name, "")


def requested_metrics(options: MetricOptions) -> list[str]:
    """Metrics whose parameters the caller has set."""
    requested = {
        "f_beta": options.f_beta != 1,
        "cost": (options.cost_fn, options.cost_fp) != (1, 1),
        "precision_at_k": options.top_k is not None,
        "recall_at_k": options.top_k is not None,
        **dict.fromkeys(_SHOWN_OF_PROBABILITIES, options.probabilities),
        "net_benefit": options.probabilities,
    }
    return [name for name, wanted in requested.items() if wanted]
