"""What is measured in one cell of the paper's evaluation: every method against two truths."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, get_args

from purecover._typing import FloatArray, Repair
from purecover.counts import ScoreCounts
from purecover.curves import auc_pu
from purecover.estimation._alphamax import AlphaMaxN
from purecover.estimation._base import PriorEstimator
from purecover.estimation._default import default_estimator
from purecover.estimation._noisy import NoisyLabels
from purecover.estimation._registry import prior_estimators
from purecover.exceptions import IdentifiabilityError, PurecoverError, RecoveryWarning
from purecover.intervals._bootstrap import bootstrap
from purecover.proportions import MixtureProportions
from purecover.recovery._auc import recover_auc
from purecover.recovery._pr import recover_pr
from purecover.recovery._roc import recover_roc
from purecover.studies._design import Cell, Draw
from purecover.studies._records import Record

if TYPE_CHECKING:
    from purecover.intervals._interval import Interval

__all__ = ["DEFAULT", "DEFAULT_REPAIR", "RELEASED", "estimators", "measure"]

DEFAULT = "label-curve"
RELEASED = "alphamax-n-released"
"""The paper's own estimator: AlphaMax-N with the elbow of the released code."""
DEFAULT_REPAIR: Mapping[str, Repair] = {"auc": "isotonic", "auc_pr": "blend"}
_METRICS = {"auc": "roc_auc", "auc_pr": "auc_pr"}
"""Names here, and in the registry of metrics."""
_LEFT_OUT = {"noisy", "clustered", "alphamax"}
"""Wrappers without a method of their own on scores, and one present by its form for noise."""
_NO_PROPORTIONS = MixtureProportions(alpha=0.0, beta=1.0)
"""Taking unlabeled as negative and labels as right, or classes that are known."""


def estimators() -> dict[str, Callable[[], PriorEstimator]]:
    """Every estimator of alpha and beta from scores; those of alpha alone are run both ways."""
    found: dict[str, Callable[[], PriorEstimator]] = {DEFAULT: default_estimator}
    for name, kind in prior_estimators().items():
        if name not in _LEFT_OUT and name != DEFAULT:
            found[name] = partial(_both_ways, kind)
    found[RELEASED] = partial(AlphaMaxN, elbow="released", step=0.01)
    return found


def _both_ways(kind: Callable[[], PriorEstimator]) -> PriorEstimator:
    made = kind()
    return made if made.estimates_beta else NoisyLabels(made)


def measure(
    cell: Cell, drawn: Draw, scores: FloatArray, traditional_scores: FloatArray
) -> list[Record]:
    """Every figure of a cell, a tidy row each.

    Parameters
    ----------
    cell : Cell
        Which one it is.
    drawn : Draw
        Its rows.
    scores : ndarray, shape (n,)
        Scores of the classifier trained on labeled against unlabeled.
    traditional_scores : ndarray, shape (n,)
        Scores of the classifier trained on the true classes of the same rows.
    """
    with warnings.catch_warnings():
        # That an area left [0, 1] is to be counted here, not to be told 1,800 times.
        warnings.simplefilter("ignore", RecoveryWarning)
        return _measure(cell, drawn, scores, traditional_scores)


def _measure(
    cell: Cell, drawn: Draw, scores: FloatArray, traditional_scores: FloatArray
) -> list[Record]:
    row = partial(Record, cell.dataset, cell.beta, cell.repeat)
    counts = ScoreCounts.from_scores(scores, drawn.labeled)
    found = [row(name, "true", "", "", getattr(drawn, name)) for name in ("alpha", "beta")]
    for method, values in (("traditional", traditional_scores), ("same", scores)):
        known = ScoreCounts.from_scores(values, drawn.positive)
        area = recover_pr(known, _NO_PROPORTIONS, repair="none", target=drawn.alpha).auc_pr
        found += [
            row("auc", method, "", "", auc_pu(known)),
            row("auc_pr", method, "", "", area),
        ]
    pooled = recover_pr(counts, _NO_PROPORTIONS, repair="none", target="pooled").auc_pr
    found += [
        row("auc", "observed", "", "", auc_pu(counts)),
        row("auc_pr", "observed", "", "", pooled),
    ]
    truth = MixtureProportions(alpha=drawn.alpha, beta=drawn.beta)
    found += _recovered(row, "true", counts, truth)
    for name, make in estimators().items():
        try:
            fitted = make().fit(counts)
            proportions = fitted.proportions_
        except PurecoverError:  # scores that tell nothing apart: no estimate, and so no rows
            continue
        estimates = [
            row(each, "estimate", name, "", getattr(proportions, each))
            for each in ("alpha", "beta")
        ]
        made = [*estimates, *_recovered(row, name, counts, proportions)]
        if name == DEFAULT:
            intervals = _intervals(cell, counts, proportions, fitted)
            made = [_with_interval(record, intervals) for record in made]
        found += made
    return found


def _recovered(
    row: Callable[..., Record], name: str, counts: ScoreCounts, proportions: MixtureProportions
) -> Iterator[Record]:
    """Areas by equation 4 and by recovered curves of every repair."""
    if proportions.beta - proportions.alpha <= 0:  # nothing can be recovered
        return
    yield row("auc", "direct", name, "", recover_auc(counts, proportions))
    for repair in get_args(Repair):
        if repair != "blend":
            roc = recover_roc(counts, proportions, repair=repair)
            yield row("auc", "indirect", name, repair, roc.auc)
        if repair != "none":  # a curve that leaves the square has no precision
            pr = recover_pr(counts, proportions, repair=repair)
            yield row("auc_pr", "indirect", name, repair, pr.auc_pr)


def _intervals(
    cell: Cell, counts: ScoreCounts, proportions: MixtureProportions, fitted: PriorEstimator
) -> dict[str, Interval]:
    """Intervals of the proportions, and of what is recovered with them by default."""
    found = {name: fitted.interval_[name] for name in ("alpha", "beta")}
    try:
        replicates = bootstrap(
            counts,
            proportions,
            estimator=fitted,
            metrics=tuple(_METRICS.values()),
            curves=False,
            n_resamples=cell.settings.n_resamples,
            random_state=cell.seeds[3],
        )
    except IdentifiabilityError:  # too many replicates tell nothing apart
        return found
    return found | {name: replicates.interval(metric) for name, metric in _METRICS.items()}


def _with_interval(record: Record, intervals: Mapping[str, Interval]) -> Record:
    """The record with its interval, if it is an estimate or recovered by the default repair."""
    interval = intervals.get(record.metric)
    if interval is None or record.repair != DEFAULT_REPAIR.get(record.metric, ""):
        return record
    return record._replace(low=interval.low, high=interval.high)
