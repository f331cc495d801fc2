r"""Bounds: alpha known only to lie in a range, and scores known only to lie in bins.

After Claesen, Davis, De Smet & De Moor (2015), Assessing Binary Classifiers Using Only
Positive and Unlabeled Data, arXiv:1504.06837. Two things differ from their text, both so
that the bounds hold with the stated confidence:

- The hidden positives are themselves a sample, so the band around the rank distribution of
  the labeled ones is widened by :math:`\sqrt{1 + n_L/m}` for :math:`m` hidden positives.
- They take the lower curve from the smallest alpha and the upper one from the largest,
  which presumes a classifier better than chance at every threshold. Here each rate gets its
  extremes over every alpha of the range.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from purecover import _validation as valid
from purecover._codec import Saved
from purecover._inputs import Tabular
from purecover._typing import FloatArray, IntArray
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts, check_counts, pu_roc_curve
from purecover.exceptions import Words
from purecover.proportions import MixtureProportions, check_share_or_range
from purecover.recovery.rates import auc_from_pu, check_data, trapezoids, warn_of_contradiction

BoundsTarget: TypeAlias = Literal["pooled", "deployment"]

# Few hidden positives above a threshold mean many false alarms, and vice versa.
_FEW = {"tpr": "lower", "fpr": "upper", "precision": "lower"}
_MANY = {"tpr": "upper", "fpr": "lower", "precision": "upper"}
_MAX_BLOCKS = 32
_COUNT_ROUNDING = 1e-9  # 0.29 * 100 is a hair below 29


@dataclass(frozen=True)
class Band:
    """Where the share of hidden positives at or above each threshold lies.

    It reaches by ``radius`` to either side of the ``share`` of the labeled ones, and
    farther by ``stretch`` for the sampling of the hidden positives themselves; a
    ``noise_ratio`` of 0 leaves that out.
    """

    share: FloatArray
    radius: float
    noise_ratio: float

    def stretch(self, m: int) -> float:
        """Return the factor of the width with ``m`` hidden positives; it falls with ``m``."""
        return math.sqrt(1 + self.noise_ratio / max(m, 1))

    def ends(self, m: int) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper share with ``m`` hidden positives."""
        reach = self.stretch(m) * self.radius
        return np.clip(self.share - reach, 0, 1), np.clip(self.share + reach, 0, 1)


def count_bounds(
    counts: ScoreCounts, alphas: tuple[float, float], target: BoundsTarget, band: Band
) -> dict[str, FloatArray]:
    """Return the extremes of all confusion tables that the band and the range of alpha allow."""
    n_unlabeled = int(counts.n_unlabeled)
    first, last = (min(int(_floor(a * n_unlabeled)), n_unlabeled - 1) for a in alphas)
    if target == "deployment" and last == 0:
        must = "large enough for one positive among the unlabeled"
        hint = Words("there is no recall without positives; use ", 'target="pooled"')
        raise valid.bad_value("alpha_range", must, f"at most {alphas[1]:g} of {n_unlabeled}", hint)
    tally = _Tally.of(counts, target)
    bounds: dict[str, FloatArray] = {}
    for start, stop in _blocks(first, last, band.stretch(first) / band.stretch(last)):
        # The band narrows with the number of hidden positives: its widest holds for a block.
        low, high = band.ends(start)
        for theta, rounding, sides in ((low, _floor, _FEW), (high, _ceil, _MANY)):
            for m in _candidates(theta, tally, start, stop):
                hidden = np.clip(rounding(theta * m), m - (n_unlabeled - tally.above), tally.above)
                rates = tally.rates(hidden, m)
                for rate, side in sides.items():
                    key, farther = f"{rate}_{side}", np.fmin if side == "lower" else np.fmax
                    bounds[key] = farther(bounds.get(key, math.nan), rates[rate])
    return _monotone(bounds)


@dataclass(frozen=True)
class _Tally:
    """How many rows are at or above each threshold, and in all."""

    above: IntArray
    known_positive: IntArray
    known_negative: IntArray
    n_unlabeled: int

    @classmethod
    def of(cls, counts: ScoreCounts, target: BoundsTarget) -> _Tally:
        def at_or_above(tally: Any) -> IntArray:
            return np.concatenate(([0], np.cumsum(tally, dtype=np.int64)))

        none = np.zeros(counts.n_thresholds, dtype=np.int64)
        pooled = target == "pooled"
        return cls(
            above=at_or_above(counts.unlabeled),
            known_positive=at_or_above(counts.labeled if pooled else none),
            known_negative=at_or_above(
                counts.negative if pooled and counts.negative is not None else none
            ),
            n_unlabeled=int(counts.n_unlabeled),
        )

    def rates(self, hidden: FloatArray, m: FloatArray | int) -> dict[str, FloatArray]:
        """Return the rates if ``hidden`` of ``m`` hidden positives are above each threshold."""
        true = hidden + self.known_positive
        false = self.above - hidden + self.known_negative
        with np.errstate(invalid="ignore"):  # no positives, or nothing predicted positive
            return {
                "tpr": true / (m + self.known_positive[-1]),
                "fpr": false / (self.n_unlabeled - m + self.known_negative[-1]),
                "precision": true / (true + false),
            }


def _floor(values: Any) -> Any:
    return np.floor(values + _COUNT_ROUNDING)


def _ceil(values: Any) -> Any:
    return np.ceil(values - _COUNT_ROUNDING)


def _blocks(first: int, last: int, ratio: float) -> list[tuple[int, int]]:
    """Split the whole numbers from first to last; one by one as long as they are few.

    Over all of them the width of the band changes by ``ratio``, within a block by about 1 %.
    """
    if last - first < _MAX_BLOCKS:
        return [(m, m) for m in range(first, last + 1)]
    n_blocks = min(math.floor(100 * math.log(ratio)) + 1, _MAX_BLOCKS)
    edges = np.unique(np.geomspace(max(first, 1), last + 1, n_blocks + 1).round().astype(int))
    edges[0] = first
    return [(int(a), int(b) - 1) for a, b in itertools.pairwise(edges)]


def _candidates(theta: FloatArray, tally: _Tally, start: int, stop: int) -> list[FloatArray | int]:
    """Return numbers of hidden positives that include the extremes of all rates, per threshold.

    A rate is a ratio of linear functions of that number, hence monotone, between the ends
    and the two numbers where one of the limits of the confusion table begins to bind.
    """
    if start == stop:
        return [start]
    below = tally.n_unlabeled - tally.above
    with np.errstate(divide="ignore", invalid="ignore"):
        kinks = (tally.above / theta, below / (1 - theta))
    found: list[FloatArray | int] = [start, stop]
    for kink in kinks:
        inside = np.clip(np.nan_to_num(kink, nan=start, posinf=stop), start, stop)
        found += [np.floor(inside), np.ceil(inside)]
    return found


def _monotone(bounds: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Tighten bounds of rates, which rise as the threshold falls."""
    out = dict(bounds)
    for rate in ("fpr", "tpr"):
        out[f"{rate}_lower"] = np.maximum.accumulate(bounds[f"{rate}_lower"])
        out[f"{rate}_upper"] = np.minimum.accumulate(bounds[f"{rate}_upper"][::-1])[::-1].copy()
    return out


@dataclass(frozen=True, kw_only=True, eq=False)
class RecoveredBounds(
    Saved,
    Frozen,
    Tabular,
    columns="threshold tpr_lower tpr_upper fpr_lower fpr_upper precision_lower precision_upper",
):
    """Lower and upper bounds of rates, precision and AUC.

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds + 1,)
        Decreasing; the first is infinity.
    fpr_lower, fpr_upper, tpr_lower, tpr_upper : ndarray of shape (n_thresholds + 1,)
        Bounds of the rates at each threshold.
    precision_lower, precision_upper : ndarray of shape (n_thresholds + 1,)
        Bounds of the precision in the ``target``; NaN where nothing is predicted positive.
    auc_lower, auc_upper : float
        Areas under the lower and the upper ROC curve, ties counted one half.
    alpha_range : tuple of float
        The range of alpha.
    confidence_level : float
        The confidence, of all thresholds at once.
    target : {"pooled", "deployment"}
        Which rows the bounds are for.
    """

    thresholds: FloatArray
    fpr_lower: FloatArray
    fpr_upper: FloatArray
    tpr_lower: FloatArray
    tpr_upper: FloatArray
    precision_lower: FloatArray
    precision_upper: FloatArray
    alpha_range: tuple[float, float]
    confidence_level: float
    target: BoundsTarget
    auc_lower: float = field(init=False)
    auc_upper: float = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for side, (fpr, tpr) in (("lower", self.lower_roc), ("upper", self.upper_roc)):
            object.__setattr__(self, f"auc_{side}", float(trapezoids(tpr, fpr)))

    @property
    def lower_roc(self) -> tuple[FloatArray, FloatArray]:
        """The worst ROC curve, as (fpr, tpr), to its end at (1, 1)."""
        return np.append(self.fpr_upper, 1.0), np.append(self.tpr_lower, 1.0)

    @property
    def upper_roc(self) -> tuple[FloatArray, FloatArray]:
        """The best ROC curve, as (fpr, tpr), to its end at (1, 1)."""
        return np.append(self.fpr_lower, 1.0), np.append(self.tpr_upper, 1.0)

    def __repr__(self) -> str:
        return (
            f"RecoveredBounds(AUC in [{self.auc_lower:.4g}, {self.auc_upper:.4g}], alpha in "
            f"[{self.alpha_range[0]:.4g}, {self.alpha_range[1]:.4g}], "
            f"{self.confidence_level:.4g} confidence everywhere, target={self.target!r})"
        )


@public
def recover_bounds(
    counts: ScoreCounts,
    alpha_range: tuple[float, float] | float,
    *,
    target: BoundsTarget = "pooled",
    confidence_level: float = 0.95,
) -> RecoveredBounds:
    r"""Bound the performance when alpha is known only to lie in a range.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores, without weights. Known negatives are used if there are any.
    alpha_range : (float, float) or float
        Smallest and largest share of positives among the unlabeled, below 1: the share among
        the very rows at hand, which differs by chance from that of the population they were
        drawn from. All labels are taken to be right.
    target : {"pooled", "deployment"}, default="pooled"
        Whether the tables count all rows, labeled and known negative ones included, or
        the unlabeled only.
    confidence_level : float, default=0.95
        Confidence that the bounds contain the truth at all thresholds, if alpha is in its range.

    Returns
    -------
    RecoveredBounds
        Bounds of the rates and the precision at each threshold, and of the AUC.

    See Also
    --------
    evaluate : Takes ranges of alpha and of beta.
    sensitivity : Point estimates over a grid of alpha and beta.
    auc_identification_interval : What is known of the AUC without irreducibility.

    Notes
    -----
    Of :math:`m` positives hidden among :math:`n_U` unlabeled, the share above a threshold
    is within the band :math:`[F_{lo}, F_{hi}]` around the share of labeled ones above it,
    :math:`F_L`. With :math:`u` unlabeled above the threshold, their number is between

    .. math::

        TP_U = \max(\min(u, \theta),\; m - (n_U - u)), \qquad
        \theta = \lfloor F_{lo}\, m \rfloor \text{ or } \lceil F_{hi}\, m \rceil,

    and :math:`FP_U = u - TP_U`. The known rows are added, and each rate is taken to its
    extremes over every :math:`m` that the range of alpha allows. Last, bounds are tightened
    to be monotone, as the rates they enclose are.

    The band has the half width :math:`\sqrt{\ln(2/\delta)/(2 n)}` with
    :math:`1/n = 1/n_L + 1/m`, since the hidden positives are a sample too.

    Examples
    --------
    >>> from purecover import recover_bounds, simulate
    >>> sample = simulate.binormal(1.5).sample(500, 5000, alpha=0.25, random_state=0)
    >>> bounds = recover_bounds(sample.counts, alpha_range=(0.2, 0.3))
    >>> bounds.auc_lower < 0.8556 < bounds.auc_upper
    True
    """
    check_counts(counts)
    valid.check_choice("target", target, ("pooled", "deployment"))
    given = check_share_or_range("alpha_range", alpha_range)
    alphas = given if isinstance(given, tuple) else (given, given)
    level = valid.check_real("confidence_level", confidence_level, low=0, high=1, closed="neither")
    tallies = (counts.labeled, counts.unlabeled, counts.negative)
    if any(tally is not None and tally.dtype.kind != "i" for tally in tallies):
        must = "made of whole numbers of examples"
        hint = "the confidence depends on numbers of independent rows; leave out the weights"
        raise valid.bad_value("counts", must, "weighted counts", hint)
    if alphas[1] == 1:
        must = "below 1: else no unlabeled row is negative"
        raise valid.bad_value("alpha_range", must, valid.show(alpha_range))
    # If the smallest alpha contradicts the scores, so does every other.
    warn_of_contradiction(counts, MixtureProportions(alphas[0]))
    n_labeled = counts.n_labeled
    radius = math.sqrt(math.log(2 / (1 - level)) / (2 * n_labeled))
    band = Band(pu_roc_curve(counts).tpr_pu, radius, noise_ratio=n_labeled)
    return RecoveredBounds(
        thresholds=pu_roc_curve(counts).thresholds,
        alpha_range=alphas,
        confidence_level=level,
        target=target,
        **count_bounds(counts, alphas, target, band),
    )


# Sums of up to a hundred million terms are rounded; bounds give way by more than that.
_ROUNDING = 1e-11

Pair = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class BinningBounds(Saved):
    """Lower and upper bounds of areas that the exact scores would have.

    Attributes
    ----------
    n_bins : int
        Bins of more than one score; 0 if the counts are exact.
    auc_pu : tuple of float
        Bounds of the observed AUC.
    auc : tuple of float or None
        Bounds of the direct value of the AUC, not clipped, at the alpha and beta given.
    """

    n_bins: int
    auc_pu: Pair
    auc: Pair | None = None

    @property
    def width(self) -> float:
        """Return the distance between the bounds of the observed AUC."""
        return self.auc_pu[1] - self.auc_pu[0]


@public
def binning_bounds(
    counts: ScoreCounts, proportions: MixtureProportions | None = None
) -> BinningBounds:
    r"""Compute bounds of the AUC for any order of scores within bins.

    Parameters
    ----------
    counts : ScoreCounts
        Counts in bins, as :meth:`ScoreCounts.from_frame` makes them of many distinct scores, or
        exact ones, for which both bounds are the value itself.
    proportions : MixtureProportions, optional
        Alpha and beta; without them only the observed AUC is bounded.

    Returns
    -------
    BinningBounds
        The bounds. The exact scores satisfy them with certainty; they are no confidence interval.

    See Also
    --------
    ScoreCounts.from_frame : Counts frames of any size.

    Notes
    -----
    With shares :math:`p_i` of the labeled and :math:`q_i` of the unlabeled in bin :math:`i`, the
    order within bins of several scores moves the observed AUC by at most
    :math:`\frac{1}{2} \sum_i p_i q_i` in either direction, and the recovered one by that over
    :math:`\beta - \alpha`.

    Examples
    --------
    >>> from purecover import MixtureProportions, simulate
    >>> from purecover.recovery import auc_pu, binning_bounds
    >>> sample = simulate.binormal(1.5).sample(1000, 10_000, alpha=0.25, random_state=0)
    >>> bounds = binning_bounds(sample.counts.thinned(500), MixtureProportions(alpha=0.25))
    >>> bounds.auc_pu[0] < auc_pu(sample.counts) < bounds.auc_pu[1]
    True
    >>> round(bounds.width, 4)
    0.0014
    """
    check_counts(counts)
    several = counts._tops() > counts.thresholds
    pairs = counts.labeled[several] / counts.n_labeled * counts.unlabeled[several]
    slack = float(pairs.sum()) / counts.n_unlabeled / 2 + _ROUNDING * bool(several.any())
    low, high = max(counts.auc_pu - slack, 0.0), min(counts.auc_pu + slack, 1.0)
    recovered = None
    if proportions is not None:
        check_data(counts, proportions)
        recovered = auc_from_pu(low, proportions), auc_from_pu(high, proportions)
    return BinningBounds(n_bins=int(several.sum()), auc_pu=(low, high), auc=recovered)
