r"""Whether a partition differs from those before it, with a bound of false alarms over all looks.

Under the hypothesis of no drift, labeled scores of all partitions have one distribution, and
unlabeled ones another. Look number :math:`t` may raise a false alarm with probability
:math:`\epsilon/(t(t+1))`; these sum to :math:`\epsilon`, so that the probability that any look
ever does is at most :math:`\epsilon`, whether or not the looks depend on each other. Figures that
are tested in one look share its part equally.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover._given import GivenProportions
from purecover._typing import CountArray, FloatArray
from purecover.counts import ScoreCounts
from purecover.curves import auc_pu, pu_roc_curve
from purecover.exceptions import PurecoverError, RecoveryWarning
from purecover.monitoring._grid import binned
from purecover.monitoring._measure import make_estimator
from purecover.monitoring._partition import DriftTest, MonitorDrift
from purecover.monitoring._tails import two_sided
from purecover.recovery._variance import effective_size

if TYPE_CHECKING:
    from purecover.estimation._base import PriorEstimator

__all__ = ["FEWEST", "compare", "share_of_look"]

FEWEST = 20
"""Labeled and unlabeled examples that either side must have: moments mean little below."""
_MAX_BINS = 2**11
"""Bins in which alpha is compared; it is estimated some hundred times in them."""


def share_of_look(look: int, false_alarms: float) -> float:
    """What a look may spend of the probability of a false alarm."""
    return false_alarms / (look * (look + 1))


def compare(
    function: str,
    new: ScoreCounts,
    before: list[ScoreCounts],
    given: GivenProportions,
    *,
    look: int,
    false_alarms: float,
    n_draws: int,
    seed: int,
) -> MonitorDrift:
    """Compare the counts of a partition with the sum of those before it."""
    spent = share_of_look(look, false_alarms)
    reference = sum(before[1:], start=before[0])
    few = _too_few(new, reference)
    if few is not None:
        return MonitorDrift(look=look, n_before=len(before), spent=0.0, note=few)
    note = None
    if given.ways:
        deltas = [given.resolve(function, counts).delta for counts in (new, reference)]
        found = {"auc": _observed(new, reference, *deltas)}
    else:
        found = {"auc_pu": _observed(new, reference, 1.0, 1.0)}
        if new.is_weighted or reference.is_weighted:
            note = "alpha of weighted rows is not compared, only the observed AUC"
        elif not n_draws:
            note = "alpha is not compared without resamples, only the observed AUC"
        else:
            rng = np.random.default_rng([seed, look])
            try:
                found |= _estimated(function, new, reference, given, n_draws, rng)
            except PurecoverError as error:
                note = f"alpha is not compared: {str(error).partition(chr(10))[0]}"
    limit = spent / len(found)
    return MonitorDrift(
        look=look,
        n_before=len(before),
        spent=spent,
        tests={name: figure.test(limit) for name, figure in found.items()},
        note=note,
    )


@dataclass(frozen=True)
class _Figure:
    value: float
    before: float
    z: float
    p_value: float

    def test(self, limit: float) -> DriftTest:
        return DriftTest(
            value=self.value,
            before=self.before,
            difference=self.value - self.before,
            z=self.z,
            p_value=self.p_value,
            limit=limit,
        )


def _too_few(new: ScoreCounts, reference: ScoreCounts) -> str | None:
    for which, counts in (("it has", new), ("those before it have", reference)):
        for kind, size in zip(("labeled", "unlabeled"), _sizes(counts), strict=True):
            if size < FEWEST:
                return f"{which} {size:.3g} {kind} rows, and {FEWEST} are needed to compare"
    return None


def _sizes(counts: ScoreCounts) -> tuple[float, float]:
    return (
        effective_size(counts.n_labeled, counts.labeled_sq),
        effective_size(counts.n_unlabeled, counts.unlabeled_sq),
    )


# -- where alpha is known ---------------------------------------------------------------------


def _observed(
    new: ScoreCounts, reference: ScoreCounts, delta_new: float, delta_reference: float
) -> _Figure:
    r"""Recovered areas of two independent samples, by moments of both together.

    Without drift both samples have the variances :math:`S^2_{10}` and :math:`S^2_{01}` of the
    placements of all scores, by DeLong, which are known far better than those of a small partition
    alone. So have their third central moments :math:`M_{10}` and :math:`M_{01}`: the third
    cumulant of an area is :math:`M_{10}/n_L^2 + M_{01}/n_U^2`, and that of a difference the
    difference. Where few labeled scores stand above nearly all others, an area has a long lower
    tail, which a normal distribution has not.
    """
    pooled = new + reference
    roc = pu_roc_curve(pooled)
    below = 1 - (roc.fpr_pu[1:] + roc.fpr_pu[:-1]) / 2
    above = (roc.tpr_pu[1:] + roc.tpr_pu[:-1]) / 2
    moments = [
        _moments(below, pooled.labeled, pooled.labeled_sq),
        _moments(above, pooled.unlabeled, pooled.unlabeled_sq),
    ]
    values, variance, third = [], 0.0, 0.0
    for counts, delta in ((new, delta_new), (reference, -delta_reference)):
        values.append(0.5 + (auc_pu(counts) - 0.5) / abs(delta))
        for (spread, cube), size in zip(moments, _sizes(counts), strict=True):
            variance += spread / size / delta**2
            third += cube / size**2 / delta**3
    difference = values[0] - values[1]
    if not variance > 0:
        return _Figure(values[0], values[1], math.copysign(0.0, difference), 1.0)
    z = difference / math.sqrt(variance)
    return _Figure(values[0], values[1], z, two_sided(z, third / variance**1.5))


def _moments(
    values: FloatArray, tally: CountArray, squares: FloatArray | None
) -> tuple[float, float]:
    """Unbiased second and third central moments of values that occur so often."""
    weight: CountArray = tally if squares is None else squares
    size = float(tally.sum()) ** 2 / float(weight.sum())
    apart = values - float((tally * values).sum()) / float(tally.sum())
    second, third = (float((weight * apart**k).sum()) / float(weight.sum()) for k in (2, 3))
    return second * size / (size - 1), third * size**2 / ((size - 1) * (size - 2))


# -- where it is estimated --------------------------------------------------------------------


def _estimated(
    function: str,
    new: ScoreCounts,
    reference: ScoreCounts,
    given: GivenProportions,
    n_draws: int,
    rng: np.random.Generator,
) -> dict[str, _Figure]:
    """Alpha and the recovered AUC beside what they are where pairs of samples have no drift.

    Pairs of the same sizes are drawn from both samples together, and all estimates are made the
    same way. So a bias that depends on the size of the sample, as estimators of alpha have it,
    is in the draws too and taken out.
    """
    pooled = binned(new + reference, _MAX_BINS)
    rows: dict[str, list[Any]] = {"labeled": [], "unlabeled": []}
    for counts in (new, reference):
        for side, found in rows.items():
            ours = _on_grid(pooled, counts.thresholds, getattr(counts, side))
            shares = getattr(pooled, side) / getattr(pooled, side).sum()
            found += [ours, *rng.multinomial(int(ours.sum()), shares, size=n_draws)]
    columns: tuple[CountArray, CountArray]
    columns = np.array(rows["labeled"]), np.array(rows["unlabeled"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecoveryWarning)
        estimator = make_estimator(function, given)
        estimator.fit(pooled)
        alpha, beta = _proportions(estimator, pooled, given, *columns).T
    observed = _areas(*columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        auc = (0.5 + (observed - 0.5) / (beta - alpha)).clip(0, 1)
    half = n_draws + 1
    return {
        name: _beside_draws(values[:half], values[half:])
        for name, values in (("alpha", alpha), ("auc", auc))
    }


def _on_grid(pooled: ScoreCounts, thresholds: FloatArray, tally: CountArray) -> CountArray:
    """Counts in the bins of others that hold them."""
    place = np.searchsorted(-pooled.thresholds, -thresholds)
    found = np.bincount(place, weights=tally, minlength=pooled.n_thresholds)
    return np.rint(found).astype(np.int64)


def _proportions(
    estimator: PriorEstimator,
    pooled: ScoreCounts,
    given: GivenProportions,
    labeled: CountArray,
    unlabeled: CountArray,
) -> FloatArray:
    from purecover.estimation._base import proportions_of_many

    # Of the estimates alone: proportions_many may add what a posterior leaves open, which both
    # samples have in common.
    found = proportions_of_many(estimator._estimate_many(pooled, labeled, unlabeled))
    if given.beta is None:
        return found
    alpha, beta = found.T
    return np.column_stack((alpha / beta * given.beta, np.full(alpha.size, given.beta)))


def _areas(labeled: CountArray, unlabeled: CountArray) -> FloatArray:
    """The observed AUC of each row of counts, whose columns are in decreasing order of score."""
    few = labeled / labeled.sum(axis=1, keepdims=True)
    many = unlabeled / unlabeled.sum(axis=1, keepdims=True)
    above = np.cumsum(few, axis=1) - few / 2
    return np.asarray((above * many).sum(axis=1))


def _beside_draws(new: FloatArray, reference: FloatArray) -> _Figure:
    """The first difference beside all others, by Student's distribution."""
    from scipy.special import stdtr

    differences = new - reference
    difference, drawn = float(differences[0]), differences[1:]
    drawn = drawn[np.isfinite(drawn)]
    if not math.isfinite(difference) or drawn.size < max(differences.size / 2, 20):
        raise PurecoverError("too few samples allow an estimate of alpha below beta")
    center = float(drawn.mean())
    # Draws with longer tails than a normal distribution must not look narrower than they are.
    ends = np.quantile(drawn, [0.025, 0.975]) - center
    scale = max(float(drawn.std(ddof=1)), float(np.abs(ends).max()) / 1.96)
    z = (difference - center) / scale if scale > 0 else 0.0
    p_value = 2 * float(stdtr(drawn.size - 1, -abs(z)))
    return _Figure(float(new[0]), float(reference[0]), z, p_value)
