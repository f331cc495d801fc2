"""Bounds of what scores counted in bins leave open: their order within each bin."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from purecover._typing import BoolArray, FloatArray, Target
from purecover._validation import check_instance, read_only
from purecover.counts import ScoreCounts
from purecover.curves import auc_pu, pu_roc_curve
from purecover.proportions import MixtureProportions, check_target
from purecover.recovery._areas import pr_segment_areas
from purecover.recovery._rates import PROPORTIONS_HINT
from purecover.recovery._repairs import Points, repair_isotonic

__all__ = ["BinningBounds", "binning_bounds"]

# Sums of up to a hundred million terms are rounded; bounds give way by more than that.
_ROUNDING = 1e-11

Pair = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class BinningBounds:
    """Lower and upper bounds of areas that the exact scores would have.

    Attributes
    ----------
    n_bins : int
        Bins of more than one score; 0 if the counts are exact.
    auc_pu, auc_pr_pu : tuple of float
        Bounds of the observed areas under the ROC and the precision-recall curve.
    auc, auc_pr : tuple of float or None
        Bounds of the recovered areas at the alpha and beta given: of the direct value of the
        AUC, not clipped, and of the area under the precision-recall curve with the isotonic
        repair.

    Notes
    -----
    Areas under precision-recall curves are those of the rule ``"davis-goadrich"``.
    """

    n_bins: int
    auc_pu: Pair
    auc_pr_pu: Pair
    auc: Pair | None = None
    auc_pr: Pair | None = None

    @property
    def width(self) -> float:
        """How far apart the bounds of the observed AUC are."""
        return self.auc_pu[1] - self.auc_pu[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }


def binning_bounds(
    counts: ScoreCounts,
    proportions: MixtureProportions | None = None,
    *,
    target: Target = "population",
) -> BinningBounds:
    r"""Bounds of AUC and AUC-PR, whatever the order of scores within bins.

    Parameters
    ----------
    counts : ScoreCounts
        Counts in bins, as :meth:`ScoreCounts.from_frame` makes them of many distinct scores, or
        exact ones, for which both bounds are the value itself.
    proportions : MixtureProportions, optional
        Alpha and beta; without them only the observed areas are bounded.
    target : {"population", "deployment", "pooled"} or float, default="population"
        The population precision speaks of; see :meth:`MixtureProportions.prior`.

    Returns
    -------
    BinningBounds
        The bounds. They hold for the exact scores with certainty; they are no intervals of
        confidence.

    See Also
    --------
    ScoreCounts.from_frame : Counts frames of any size.

    Notes
    -----
    With shares :math:`p_i` of the labeled and :math:`q_i` of the unlabeled in bin :math:`i`, the
    order within bins of several scores moves the observed AUC by at most
    :math:`\frac{1}{2} \sum_i p_i q_i` either way, and the recovered one by that over
    :math:`\beta - \alpha`. A curve within a bin stays between the two staircases with all
    labeled scores first and all of them last; precision at a given recall, hence the area,
    grows with the ROC curve, so that the areas under the staircases are bounds. For the
    recovered curve, rates within a bin stay between the smallest and largest value of
    equations 2 and 3 there, and the isotonic projection keeps that order.

    Examples
    --------
    >>> from purecover import MixtureProportions, auc_pu, binning_bounds, simulate
    >>> sample = simulate.binormal(1.5).sample(1000, 10_000, alpha=0.25, random_state=0)
    >>> bounds = binning_bounds(sample.counts.thinned(500), MixtureProportions(alpha=0.25))
    >>> bounds.auc_pu[0] < auc_pu(sample.counts) < bounds.auc_pu[1]
    True
    >>> round(bounds.width, 4)
    0.0014
    """
    name = "binning_bounds"
    hint = "build it with ScoreCounts.from_frame(...)"
    check_instance(name, "counts", counts, ScoreCounts, hint)
    check_target(name, target)
    roc = pu_roc_curve(counts)
    several = np.zeros(counts.n_thresholds, dtype=np.bool_)
    if counts.highest is not None:
        several = counts.highest > counts.thresholds
    slack = 0.0
    if several.any():
        pairs = counts.labeled[several] / counts.n_labeled * counts.unlabeled[several]
        slack = float(pairs.sum()) / counts.n_unlabeled / 2
    value = auc_pu(counts)
    n_bins = int(several.sum())
    area = _wide((max(value - slack, 0.0), min(value + slack, 1.0)), slack)
    area_pr = _pr_bounds(roc, roc, several, counts.labeled_share)
    if proportions is None:
        return BinningBounds(n_bins=n_bins, auc_pu=area, auc_pr_pu=area_pr)
    check_instance(name, "proportions", proportions, MixtureProportions, PROPORTIONS_HINT)
    upper, lower = _recovered_boxes(counts, proportions, several)
    return BinningBounds(
        n_bins=n_bins,
        auc_pu=area,
        auc_pr_pu=area_pr,
        auc=(_direct(area[0], proportions), _direct(area[1], proportions)),
        auc_pr=_pr_bounds(upper, lower, several, proportions.prior(target, counts)),
    )


def _direct(auc: float, proportions: MixtureProportions) -> float:
    return 0.5 + (auc - 0.5) / proportions.delta


@dataclass(frozen=True)
class _Box:
    """One corner of the box that each point of a curve lies in."""

    fpr_pu: FloatArray
    tpr_pu: FloatArray


def _pr_bounds(upper: Any, lower: Any, several: BoolArray, prior: float) -> Pair:
    """Areas under the highest and the lowest curve through given corners of boxes."""
    found = []
    for box, first in ((lower, "fpr"), (upper, "tpr")):
        fpr, tpr = _staircase(box.fpr_pu, box.tpr_pu, several, first)
        found.append(_pr_area(tpr, fpr, prior))
    low, high = found
    return _wide((low, high), float(several.any()))


def _wide(pair: Pair, slack: float) -> Pair:
    """Bounds that rounding cannot cross; of exact counts, the value itself."""
    low, high = pair
    if not slack:
        return pair
    return max(low - _ROUNDING, 0.0), min(high, 1.0) + _ROUNDING


def _pr_area(tpr: FloatArray, fpr: FloatArray, prior: float) -> float:
    if prior == 0:
        return 0.0
    return float(pr_segment_areas(tpr, fpr, max(prior, 1e-300)).sum())


def _staircase(
    fpr: FloatArray, tpr: FloatArray, several: BoolArray, first: str
) -> tuple[FloatArray, FloatArray]:
    """A curve with a corner in each bin of several scores; it rises, or goes right, first."""
    size = several.size
    x, y = np.repeat(fpr, 2)[1:], np.repeat(tpr, 2)[1:]  # point, corner, point, corner, ...
    corners = np.arange(1, 2 * size, 2)
    if first == "fpr":
        y[corners] = tpr[:-1]
    else:
        x[corners] = fpr[:-1]
    keep = np.ones(x.size, dtype=np.bool_)
    keep[corners] = several
    return x[keep], y[keep]


def _recovered_boxes(
    counts: ScoreCounts, proportions: MixtureProportions, several: BoolArray
) -> tuple[_Box, _Box]:
    """Corners of the boxes that hold the points of the isotonic curve: upper left, lower right."""
    alpha, beta, delta = proportions.alpha, proportions.beta, proportions.delta
    roc = pu_roc_curve(counts)
    least = {"fpr": roc.fpr_pu[1:].copy(), "tpr": roc.tpr_pu[1:].copy()}
    for rate, curve in (("fpr", roc.fpr_pu), ("tpr", roc.tpr_pu)):
        least[rate][several] = curve[:-1][several]
    most = {"fpr": roc.fpr_pu[1:], "tpr": roc.tpr_pu[1:]}
    low = {
        "fpr": (beta * least["fpr"] - alpha * most["tpr"]) / delta,
        "tpr": ((1 - alpha) * least["tpr"] - (1 - beta) * most["fpr"]) / delta,
    }
    high = {
        "fpr": (beta * most["fpr"] - alpha * least["tpr"]) / delta,
        "tpr": ((1 - alpha) * most["tpr"] - (1 - beta) * least["fpr"]) / delta,
    }
    if several[-1]:
        # How many rows of the last bin take part in the projection is unknown: all but those of
        # the lowest score. It lowers the others most where all do, with the smallest value.
        for rates in (low["fpr"], low["tpr"]):
            rates[-1] = rates.min()
    weights = np.maximum(counts.labeled + counts.unlabeled, np.finfo(np.float64).tiny)
    lows = _projected(low, weights, several[-1])
    highs = _projected(high, weights, False)
    return (
        _Box(fpr_pu=lows["fpr"], tpr_pu=highs["tpr"]),
        _Box(fpr_pu=highs["fpr"], tpr_pu=lows["tpr"]),
    )


def _projected(rates: dict[str, FloatArray], weights: Any, whole: bool) -> dict[str, FloatArray]:
    """The isotonic projection of both rates, from (0, 0) to (1, 1).

    The last bin is that end, and takes part only if it is ``whole``.
    """
    fpr, tpr = (np.append(0.0, rates[name]) for name in ("fpr", "tpr"))
    if whole:
        fpr, tpr, weights = np.append(fpr, 1.0), np.append(tpr, 1.0), np.append(weights, 1.0)
    raw = Points(read_only(fpr), read_only(tpr), fpr)
    points = repair_isotonic(raw, weights)
    out = {"fpr": points.fpr.copy(), "tpr": points.tpr.copy()}
    if whole:
        out = {name: np.append(column[:-2], 1.0) for name, column in out.items()}
    return out
