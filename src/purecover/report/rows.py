"""The rows that `evaluate` is given, and true figures where the truth is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._codec import picked
from purecover._frames import column_names, is_frame, lazy_frame, read_columns
from purecover._labels import encode_labels
from purecover._typing import ArrayLike, BoolArray, FloatArray, Target
from purecover._validation import (
    FrozenDict,
    as_real_vector,
    as_weights,
    bad_type,
    check_alignment,
    check_same_length,
    to_numpy,
)
from purecover.counts import ScoreCounts
from purecover.curves import PURoc, auc_pu, pu_roc_curve
from purecover.exceptions import InvalidInputError
from purecover.intervals.resampling import GroupResampler, make_group_resampler
from purecover.proportions import MixtureProportions
from purecover.recovery.metrics import Metric, MetricOptions, View, compute_metrics, position

# -- True figures, where the truth is known: for demonstrations, simulations and audits ----------


@dataclass(frozen=True, kw_only=True, eq=False)
class TrueFigures:
    """What the same scores achieve against the true classes.

    Attributes
    ----------
    alpha, beta : float
        True shares of positives among the unlabeled and the labeled.
    prior : float
        True prior of the target.
    metrics : dict of str to float
        True values of the metrics.
    roc : PURoc
        The true curve; its rates are those of the true classes.
    """

    alpha: float
    beta: float
    prior: float
    metrics: dict[str, float]
    roc: PURoc

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", FrozenDict(self.metrics))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return picked(self, "alpha", "beta", "prior", "metrics")


def encode_truth(truth: ArrayLike, size: int, kept: BoolArray | None = None) -> BoolArray:
    """The true classes as a mask, one for each row, or for each that is kept."""
    values = to_numpy("truth", truth)
    check_same_length("truth", values.size, size)
    if kept is not None:
        values = values[kept]
    return encode_labels(values, values.size, parameter="truth")[0]


def true_figures(
    scores: FloatArray,
    labeled: BoolArray,
    positive: BoolArray,
    weight: FloatArray | None,
    *,
    counts: ScoreCounts,
    proportions: MixtureProportions,
    target: Target,
    threshold: float,
    metrics: tuple[Metric, ...],
    options: MetricOptions,
) -> TrueFigures:
    """Measure the metrics on the true classes, of which ``positive`` is a mask."""
    against_truth = ScoreCounts.from_scores(scores, positive, sample_weight=weight)
    roc = pu_roc_curve(against_truth)
    mass = np.ones(scores.size) if weight is None else weight
    alpha = float(np.average(positive[~labeled], weights=mass[~labeled]))
    beta = float(np.average(positive[labeled], weights=mass[labeled]))
    prior = _prior(target, proportions, counts, alpha, beta)
    curve = (roc.fpr_pu, roc.tpr_pu, auc_pu(against_truth))
    view = View(
        curve=curve,
        curve_pr=curve,
        rates=(roc.fpr_pu, roc.tpr_pu),
        flagged_unlabeled=alpha * roc.tpr_pu + (1 - alpha) * roc.fpr_pu,
        at=position(against_truth, threshold),
        n_unlabeled=counts.n_unlabeled,
        prior_at_k=alpha,
    )
    values = compute_metrics(metrics, view, prior, options)
    return TrueFigures(alpha=alpha, beta=beta, prior=prior, metrics=values, roc=roc)


def _prior(
    target: Target,
    proportions: MixtureProportions,
    counts: ScoreCounts,
    alpha: float,
    beta: float,
) -> float:
    """The target's prior with the true shares instead of the assumed ones."""
    if not isinstance(target, str):
        return float(target)
    pooled = target == "pooled" or (target == "population" and proportions.scenario == "censoring")
    share = counts.labeled_share
    return share * beta + (1 - share) * alpha if pooled else alpha


# -- The rows that `evaluate` was given: arrays, a frame of any engine, or counts ----------------


@dataclass(frozen=True)
class ReadRows:
    """The data after the door: counts, and rows where something needs them."""

    counts: ScoreCounts
    resampler: GroupResampler | None = None
    scores: FloatArray | None = None
    labeled: BoolArray | None = None
    weight: FloatArray | None = None
    truth: BoolArray | None = None


def read_rows(
    data: Any,
    parts: dict[str, Any],
    positive_label: object,
    negative_label: object,
    keep: float | None,
) -> ReadRows:
    """Read what `evaluate` was given; ``keep`` is a threshold that no bin may lie across."""
    if isinstance(data, ScoreCounts):
        beside = [name for name, value in parts.items() if value is not None]
        if beside:
            raise InvalidInputError(
                f"evaluate takes no {beside[0]!r} beside a ScoreCounts, which holds no rows.\n"
                "Hint: pass scores and labeled themselves"
            )
        return ReadRows(data)
    if is_frame(data):
        names = _column_names(data, parts)
        if lazy_frame(data) is not None:
            return ReadRows(_count_lazy(data, names, positive_label, negative_label, keep))
        columns = read_columns(data, names)
        data = columns.pop("score")
        parts = {name: columns.get(name) for name in parts}
    elif parts["score"] is not None:
        raise bad_type("scores", "a data frame where 'score' names a column", data)
    if parts["labeled"] is None:
        raise InvalidInputError(
            "evaluate needs 'labeled': for each score, whether the example carries the label."
        )
    labels: dict[str, Any] = {
        "positive_label": positive_label,
        "negative_label": negative_label,
    }
    check_alignment(data, parts["labeled"])
    values = as_real_vector("scores", data)
    positive, negative = encode_labels(parts["labeled"], values.size, **labels)
    weight = None
    if parts["sample_weight"] is not None:
        weight = as_weights(parts["sample_weight"], values.size)
    resampler = None
    if parts["groups"] is not None:
        resampler = make_group_resampler(
            values, parts["labeled"], parts["groups"], sample_weight=weight, **labels
        )
        counts = resampler.counts
    else:
        counts = ScoreCounts.from_scores(values, parts["labeled"], sample_weight=weight, **labels)
    if parts["truth"] is None:
        return ReadRows(counts, resampler)
    # Known negatives are neither labeled nor unlabeled: the true figures leave them out.
    others = None if negative is None else ~negative
    truth = encode_truth(parts["truth"], values.size, others)
    if others is not None:
        values, positive = values[others], positive[others]
        weight = None if weight is None else weight[others]
    return ReadRows(counts, resampler, values, positive, weight, truth)


def _count_lazy(
    frame: Any,
    names: dict[str, str],
    positive_label: object,
    negative_label: object,
    keep: float | None,
) -> ScoreCounts:
    """Counts of a frame whose rows stay where they are."""
    for parameter in ("groups", "truth"):
        if parameter in names:
            raise InvalidInputError(
                f"evaluate takes no {parameter!r} with a lazy frame, of which it sees counts and "
                "no rows.\nHint: collect the columns first if they fit into memory, or leave "
                f"{parameter} out"
            )
    labels = {"positive_label": positive_label, "negative_label": negative_label}
    settings = {"tolerance": 1e-4, "keep": keep}
    return ScoreCounts._count_frame(frame, names, labels, settings)[None]


def _column_names(frame: Any, parts: dict[str, Any]) -> dict[str, str]:
    """Columns of a frame by parameter."""
    names = {}
    for parameter, column in parts.items():
        if column is None:
            continue
        if not isinstance(column, str):
            raise bad_type(parameter, "the name of a column where a data frame is given", column)
        names[parameter] = column
    for parameter in ("score", "labeled"):
        if parameter not in names:
            raise InvalidInputError(
                f"evaluate needs {parameter!r}, the name of a column, where a data frame is given."
                f"\nHint: the columns are {', '.join(map(repr, column_names(frame)))}"
            )
    if names["score"] == names["labeled"]:
        raise InvalidInputError(
            f"evaluate got {names['score']!r} as 'score' and as 'labeled'; labels would rank "
            "themselves perfectly.\nHint: name the column of scores"
        )
    return names
