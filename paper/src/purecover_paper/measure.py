"""The measurements of one cell: every method against two truths."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Literal, TypeAlias, get_args

from purecover import MixtureProportions, ScoreCounts, recover_auc, recover_pr, recover_roc
from purecover.estimators import (
    LabelCurve,
    NoisyLabels,
    PriorEstimator,
    prior_estimators,
)
from purecover.exceptions import IdentifiabilityError, PurecoverError, RecoveryWarning
from purecover.intervals import Interval, bootstrap
from purecover.recovery import auc_pu
from purecover_paper.arrays import BoolArray, FloatArray
from purecover_paper.design import Cell, Draw
from purecover_paper.store import Record
from purecover_paper.systems import AlphaMaxReleased  # registers all of them

Repair: TypeAlias = Literal["none", "paper", "isotonic", "hull", "likelihood", "blend"]

DEFAULT = "label-curve"
"""Ours in the tables: like the paper's methods, it assumes that the ends of a ranking are pure."""
REPORTS = "reference"
"""The default of reports, which does not assume that."""
WITH_INTERVALS = (DEFAULT, REPORTS)
RELEASED = "alphamax-n-released"
"""The paper's own estimator: AlphaMax-N with the elbow of the released code."""
DEFAULT_REPAIR: Mapping[str, Repair] = {"auc": "isotonic", "auc_pr": "blend"}
_METRICS = {"auc": "roc_auc", "auc_pr": "auc_pr"}
"""Names of metrics in records, and in ``purecover.METRICS``."""
_LEFT_OUT = {"noisy", "clustered", "alphamax"}
"""Wrappers without a method of their own on scores, and one present by its form for noise."""
_NO_PROPORTIONS = MixtureProportions(alpha=0.0, beta=1.0)
"""All unlabeled are negative and all labels are right: no correction."""


def estimators() -> dict[str, Callable[[], PriorEstimator]]:
    """Return all estimators from scores; estimators of alpha alone also estimate beta."""
    found: dict[str, Callable[[], PriorEstimator]] = {DEFAULT: LabelCurve}
    for name, kind in prior_estimators().items():
        if name not in _LEFT_OUT and name != DEFAULT:
            found[name] = partial(_both_ways, kind)
    found[RELEASED] = partial(_both_ways, AlphaMaxReleased)
    return found


def _both_ways(kind: Callable[[], PriorEstimator]) -> PriorEstimator:
    made = kind()
    return made if made.estimates_beta else NoisyLabels(made)


def measure(
    cell: Cell, drawn: Draw, scores: FloatArray, traditional_scores: FloatArray
) -> list[Record]:
    """Return every number measured in a cell, a tidy row each.

    Parameters
    ----------
    cell : Cell
        The cell.
    drawn : Draw
        Its rows.
    scores : ndarray, shape (n,)
        Scores of the classifier trained on labeled against unlabeled.
    traditional_scores : ndarray, shape (n,)
        Scores of the classifier trained on the true classes of the same rows.
    """
    row = partial(Record, cell.dataset, cell.beta, cell.repeat)
    counts = ScoreCounts.from_scores(scores, drawn.labeled)
    found = [row(name, "true", "", "", getattr(drawn, name)) for name in ("alpha", "beta")]
    judged: list[tuple[str, FloatArray, BoolArray, float | Literal["pooled"]]] = [
        ("traditional", traditional_scores, drawn.positive, drawn.alpha),
        ("same", scores, drawn.positive, drawn.alpha),
        ("observed", scores, drawn.labeled, "pooled"),
    ]
    for method, values, marks, target in judged:
        known = ScoreCounts.from_scores(values, marks)
        area = recover_pr(known, _NO_PROPORTIONS, repair="none", target=target).auc_pr
        found += [row("auc", method, "", "", auc_pu(known)), row("auc_pr", method, "", "", area)]
    truth = MixtureProportions(alpha=drawn.alpha, beta=drawn.beta)
    with warnings.catch_warnings():
        # Areas outside [0, 1] are counted in the tables instead.
        warnings.simplefilter("ignore", RecoveryWarning)
        found += _recovered(row, "true", counts, truth)
        for name, make in estimators().items():
            try:
                fitted = make().fit(counts)
                proportions = fitted.proportions_
            except PurecoverError:  # no estimate from these scores, so no rows
                continue
            made = [
                *(row(n, "estimate", name, "", getattr(proportions, n)) for n in ("alpha", "beta")),
                *_recovered(row, name, counts, proportions),
            ]
            if name in WITH_INTERVALS:
                intervals = _intervals(cell, counts, proportions, fitted)
                made = [_with_interval(record, intervals) for record in made]
            found += made
    return found


def _recovered(
    row: Callable[..., Record], name: str, counts: ScoreCounts, proportions: MixtureProportions
) -> Iterator[Record]:
    """Yield areas by equation 4 and by recovered curves with every repair."""
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
    """Return intervals of the proportions and of the areas recovered with default repairs."""
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
    except IdentifiabilityError:  # in too many replicates alpha is not below beta
        return found
    return found | {name: replicates.interval(metric) for name, metric in _METRICS.items()}


def _with_interval(record: Record, intervals: Mapping[str, Interval]) -> Record:
    """Return the record with its interval, if it has one."""
    interval = intervals.get(record.metric)
    if interval is None or record.repair != DEFAULT_REPAIR.get(record.metric, ""):
        return record
    return record._replace(low=interval.low, high=interval.high)
