r"""Bounds on performance when alpha is known only to lie in a range.

After Claesen, Davis, De Smet & De Moor (2015), Assessing Binary Classifiers Using Only
Positive and Unlabeled Data, arXiv:1504.06837. Two things differ from their text, both so
that the bounds hold with the stated confidence:

- The hidden positives are themselves a sample, so the band around the rank distribution of
  the labeled ones is widened by :math:`\sqrt{1 + n_L/m}` for :math:`m` hidden positives.
  ``latent_noise=False`` gives the published band.
- They take the lower curve from the smallest alpha and the upper one from the largest,
  which presumes a classifier better than chance at every threshold. Here each rate gets its
  extremes over every alpha of the range.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from purecover._frames import make_frame
from purecover._typing import FloatArray
from purecover._validation import (
    bad_type,
    bad_value,
    check_choice,
    check_instance,
    check_real,
    read_only,
    show,
)
from purecover.counts import ScoreCounts
from purecover.curves import pu_roc_curve
from purecover.exceptions import IdentifiabilityError
from purecover.recovery._areas import trapezoid
from purecover.recovery._bound_tables import (
    BoundsMethod,
    BoundsTarget,
    count_bounds,
    make_band,
    map_bounds,
)

__all__ = ["RecoveredBounds", "recover_bounds"]

_CURVES = tuple(
    f"{rate}_{side}" for rate in ("fpr", "tpr", "precision") for side in ("lower", "upper")
)


@dataclass(frozen=True, kw_only=True, eq=False)
class RecoveredBounds:
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
    alpha_range, beta_range : tuple of float
        What was assumed.
    method : {"dkw", "bootstrap", "box"}
        Where the confidence comes from.
    confidence_level : float
        The confidence.
    target : {"pooled", "deployment"}
        Which examples the bounds speak of.
    latent_noise : bool
        Whether the hidden positives count as a sample of their own.
    """

    thresholds: FloatArray
    fpr_lower: FloatArray
    fpr_upper: FloatArray
    tpr_lower: FloatArray
    tpr_upper: FloatArray
    precision_lower: FloatArray
    precision_upper: FloatArray
    alpha_range: tuple[float, float]
    beta_range: tuple[float, float]
    method: BoundsMethod
    confidence_level: float
    target: BoundsTarget
    latent_noise: bool
    auc_lower: float = field(init=False)
    auc_upper: float = field(init=False)

    def __post_init__(self) -> None:
        for name in ("thresholds", *_CURVES):
            read_only(getattr(self, name))
        for side, (fpr, tpr) in (("lower", self.lower_roc), ("upper", self.upper_roc)):
            object.__setattr__(self, f"auc_{side}", trapezoid(tpr, fpr))

    @property
    def simultaneous(self) -> bool:
        """Whether the confidence is that of all thresholds at once, not of each by itself."""
        return self.method != "bootstrap"

    @property
    def lower_roc(self) -> tuple[FloatArray, FloatArray]:
        """The worst ROC curve, as (fpr, tpr), to its end at (1, 1)."""
        return np.append(self.fpr_upper, 1.0), np.append(self.tpr_lower, 1.0)

    @property
    def upper_roc(self) -> tuple[FloatArray, FloatArray]:
        """The best ROC curve, as (fpr, tpr), to its end at (1, 1)."""
        return np.append(self.fpr_lower, 1.0), np.append(self.tpr_upper, 1.0)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; what is not finite becomes None."""
        curves = {
            name: [v if math.isfinite(v) else None for v in getattr(self, name).tolist()]
            for name in ("thresholds", *_CURVES)
        }
        return {
            **curves,
            "auc_lower": self.auc_lower,
            "auc_upper": self.auc_upper,
            "alpha_range": list(self.alpha_range),
            "beta_range": list(self.beta_range),
            "method": self.method,
            "confidence_level": self.confidence_level,
            "simultaneous": self.simultaneous,
            "target": self.target,
            "latent_noise": self.latent_noise,
        }

    def frame(self, backend: Any = None) -> Any:
        """The bounds as a table; see :meth:`ScoreCounts.frame`."""
        columns = {"threshold": self.thresholds}
        columns.update({name: getattr(self, name) for name in _CURVES})
        return make_frame("RecoveredBounds.frame", columns, backend)

    def __repr__(self) -> str:
        beta = "" if self.beta_range == (1, 1) else f", beta in {_interval(self.beta_range)}"
        where = "everywhere" if self.simultaneous else "per threshold"
        return (
            f"RecoveredBounds(AUC in {_interval((self.auc_lower, self.auc_upper))}, "
            f"alpha in {_interval(self.alpha_range)}{beta}, "
            f"{self.confidence_level:.4g} confidence {where}, "
            f"method={self.method!r}, target={self.target!r})"
        )


def recover_bounds(
    counts: ScoreCounts,
    alpha_range: tuple[float, float] | float,
    *,
    method: BoundsMethod = "dkw",
    beta_range: tuple[float, float] | float = 1.0,
    target: BoundsTarget = "pooled",
    confidence_level: float = 0.95,
    latent_noise: bool = True,
) -> RecoveredBounds:
    r"""Bound the performance when alpha is known only to lie in a range.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores, without weights. Known negatives are used if there are any.
    alpha_range : (float, float) or float
        Smallest and largest share of positives among the unlabeled, below 1. For
        ``"dkw"`` and ``"bootstrap"`` it is the share among the very examples at hand, which
        differs by chance from that of the population they were drawn from.
    method : {"dkw", "bootstrap", "box"}, default="dkw"
        ``"dkw"`` and ``"bootstrap"`` count: they bound the confusion table of the examples
        at hand, and need clean labels. The first is simultaneous over all thresholds, by the
        inequality of Dvoretzky, Kiefer and Wolfowitz; the second is narrower, holds at each
        threshold by itself, and sees no uncertainty where no labeled example, or every one,
        is above the threshold. ``"box"`` maps: it bounds the rates of the population by the
        recovery theorem and takes noisy labels too; simultaneous.
    beta_range : (float, float) or float, default=1.0
        Smallest and largest share of positives among the labeled; other than 1 only with
        ``method="box"``. Must be above ``alpha_range``.
    target : {"pooled", "deployment"}, default="pooled"
        Whether the tables count all examples, labeled and known negative ones included, or
        the unlabeled only. For ``"box"`` it sets the prior of the precision.
    confidence_level : float, default=0.95
        Confidence that the bounds hold, given that alpha and beta are in their ranges.
    latent_noise : bool, default=True
        Whether the hidden positives count as a sample of their own, as they should. If not,
        the bounds are the published ones, with the stated confidence only if the hidden
        positives far outnumber the labeled ones. ``"box"`` ignores it.

    Returns
    -------
    RecoveredBounds
        Bounds of the rates and the precision at each threshold, and of the AUC.

    See Also
    --------
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

    and :math:`FP_U = u - TP_U`. The known examples are added, and each rate is taken to its
    extremes over every :math:`m` that the range of alpha allows. Last, bounds are tightened
    to be monotone, as the rates they enclose are.

    The band has the half width :math:`\sqrt{\ln(2/\delta)/(2 n)}` with
    :math:`1/n = 1/n_L + 1/m` (:math:`n = n_L` without ``latent_noise``) for ``"dkw"``. For
    ``"bootstrap"`` it lies between percentiles of the bootstrap distribution of
    :math:`F_L`, which is binomial, so no resampling is needed; its distances from
    :math:`F_L` are stretched by :math:`\sqrt{1 + n_L/m}` likewise.

    ``"box"`` puts such bands around both observed rates, each at the confidence
    :math:`\sqrt{1-\delta}`. The recovered rates are monotone in each of the two observed
    ones, in alpha and in beta, so their extremes are at the corners of the box.

    Examples
    --------
    >>> from purecover import recover_bounds, simulate
    >>> sample = simulate.binormal(1.5).sample(500, 5000, alpha=0.25, random_state=0)
    >>> bounds = recover_bounds(sample.counts, alpha_range=(0.2, 0.3))
    >>> bounds.auc_lower < 0.8556 < bounds.auc_upper
    True
    >>> noisy = recover_bounds(sample.counts, (0.2, 0.3), method="box", beta_range=(0.9, 1))
    >>> noisy.auc_lower < bounds.auc_lower, noisy.auc_upper > bounds.auc_upper
    (True, True)
    """
    name = "recover_bounds"
    check_instance(name, "counts", counts, ScoreCounts, "build it with ScoreCounts.from_scores")
    check_choice(name, "method", method, ("dkw", "bootstrap", "box"))
    check_choice(name, "target", target, ("pooled", "deployment"))
    alphas = _check_range(name, "alpha_range", alpha_range)
    betas = _check_range(name, "beta_range", beta_range)
    level = check_real(name, "confidence_level", confidence_level, low=0, high=1, closed="neither")
    if not isinstance(latent_noise, (bool, np.bool_)):
        raise bad_type(name, "latent_noise", "True or False", latent_noise)
    tallies = (counts.labeled, counts.unlabeled, counts.negative)
    if any(tally is not None and tally.dtype.kind != "i" for tally in tallies):
        raise bad_value(
            name,
            "counts",
            "made of whole numbers of examples",
            "weighted counts",
            "the confidence rests on numbers of independent examples; leave out the weights",
        )
    if not alphas[1] < betas[0]:
        raise IdentifiabilityError(
            f"{name} needs alpha < beta throughout, got an alpha_range up to {alphas[1]:g} and a "
            f"beta_range from {betas[0]:g} (PU001).\nHint: narrow the ranges until they are apart"
        )
    if method == "box":
        curves = map_bounds(counts, alphas, betas, target, level)
    elif betas != (1, 1):
        raise bad_value(
            name,
            "beta_range",
            f"1 for method={method!r}, which counts labeled examples as positives",
            show(beta_range),
            'use method="box" for labels that are not clean',
        )
    else:
        band = make_band(counts, method, level, bool(latent_noise))
        curves = count_bounds(counts, alphas, target, band)
    return RecoveredBounds(
        thresholds=pu_roc_curve(counts).thresholds,
        alpha_range=alphas,
        beta_range=betas,
        method=method,
        confidence_level=level,
        target=target,
        latent_noise=bool(latent_noise),
        **curves,
    )


def _check_range(function: str, parameter: str, value: object) -> tuple[float, float]:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, numbers.Real):
        value = (value, value)
    must = "a number in [0, 1] or a pair of them, the smaller first"
    if not isinstance(value, (tuple, list, np.ndarray)):
        raise bad_type(function, parameter, must, value)
    if len(value) != 2:
        raise bad_value(function, parameter, must, show(value))
    low, high = (check_real(function, parameter, end, low=0, high=1) for end in value)
    if low > high:
        raise bad_value(function, parameter, must, show(value))
    return low, high


def _interval(ends: tuple[float, float]) -> str:
    return f"[{ends[0]:.4g}, {ends[1]:.4g}]"
