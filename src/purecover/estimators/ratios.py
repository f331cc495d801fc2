"""Ratios of shares: above thresholds with the best bounds, at the end of the ROC curve, and others.

Up to a threshold that hardly any negative reaches, the share of the unlabeled is alpha times that
of the labeled; so alpha is the smallest ratio of the two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from purecover._parameters import checked
from purecover._typing import CountArray, FloatArray, IntArray
from purecover._validation import bad_value, check_choice, check_integer, check_real
from purecover.counts import ScoreCounts
from purecover.estimators import base
from purecover.estimators.curve_fit import climb
from purecover.exceptions import IdentifiabilityError
from purecover.recovery.repairs import isotonic_regression


class _Cuts(NamedTuple):
    """The threshold of each replicate with the smallest bound, and what holds there."""

    place: IntArray
    bound: FloatArray
    ratio: FloatArray
    labeled_above: FloatArray


def _smallest(bound: FloatArray, q_labeled: FloatArray, q_unlabeled: FloatArray) -> _Cuts:
    place = np.argmin(bound, axis=1)
    rows = np.arange(place.size)
    above = q_labeled[rows, place]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = q_unlabeled[rows, place] / above
    return _Cuts(place, bound[rows, place], ratio, above)


# -- BBE: the ratio of shares above the threshold where its confidence bound is smallest ----------


LARGE_PENALTY = 0.5
"""Where the penalty at the chosen threshold exceeds this, it and not the data chose it."""


@base.register_prior_estimator("bbe")
@dataclass(kw_only=True, eq=False, repr=False)
class BBE(base.PriorEstimator):
    r"""Best bin estimation: shares above the threshold with the best confidence bound.

    Assumes: the highest scores are positives; labels are clean.

    Known to fail: too high with a few hundred labeled: the threshold sits far down, among the
    negatives.

    Parameters
    ----------
    error : float, default=0.1
        Probability :math:`\varepsilon` with which the confidence bound may fail.
    gamma : float, default=0.01
        Factor by which the penalty exceeds the margin of the bound.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold the chosen ``"threshold"``, the share
        of labeled examples at or above it (``"labeled_above"``), and the ``"penalty"`` there.

    See Also
    --------
    RocSlope : The same idea with binomial bounds, sharper for few examples.

    Notes
    -----
    With the shares :math:`q_U(t)` and :math:`q_L(t)` of unlabeled and labeled scores of
    :math:`t` or more, over all distinct scores,

    .. math::

        \hat t = \arg\min_t \frac{q_U(t) + c}{q_L(t)}, \qquad
        c = (1 + \gamma)\left(\sqrt{\frac{\ln(4/\varepsilon)}{2 n_U}}
            + \sqrt{\frac{\ln(4/\varepsilon)}{2 n_L}}\right), \qquad
        \hat\alpha = \frac{q_U(\hat t)}{q_L(\hat t)}.

    It depends on the order of the scores only. It needs a region at the top that holds hardly
    any negatives, and it converges to alpha if there is one. Its constant is large: with a few
    hundred labeled examples the threshold sits far down, among the negatives, and the estimate
    is too high. The released program counts unlabeled scores strictly above the threshold and
    labeled ones at or above it; here both are at or above. Labels are taken as clean;
    :class:`NoisyLabels` makes it an estimator of beta too. With weights, effective sizes take
    the place of :math:`n_U` and :math:`n_L`.

    References
    ----------
    Garg, Wu, Smola, Balakrishnan & Lipton (2021), "Mixture proportion estimation and PU
    learning: a modern approach", NeurIPS.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3).sample(2000, 20000, alpha=0.25, random_state=0)
    >>> estimator = pu.estimators.BBE().fit(sample.scores, sample.labeled)
    >>> round(estimator.proportions_.alpha, 2)
    0.25
    """

    reference: ClassVar[str] = "Garg, Wu, Smola, Balakrishnan & Lipton, NeurIPS 2021"

    error: float = checked(0.1, check_real, low=0, high=1, closed="neither")
    gamma: float = checked(0.01, check_real, low=0)

    def _estimate(self, counts: ScoreCounts) -> base.Inclusions:
        cuts, margin = self._cuts(counts, counts.labeled[None], counts.unlabeled[None])
        a, above = float(cuts.ratio[0]), float(cuts.labeled_above[0])
        penalty = float(margin[0]) / above
        notes = []
        if a == 0:
            notes.append("no unlabeled example scores as high as the best labeled ones: alpha = 0")
        if penalty > LARGE_PENALTY:
            notes.append(
                f"the estimate may lean high: with so few examples the penalty ({penalty:.2f}) "
                "chooses a threshold far down"
            )
        details = {
            "threshold": float(counts.thresholds[cuts.place[0]]),
            "labeled_above": above,
            "penalty": penalty,
            "at_edge": a == 0,
        }
        return base.Inclusions(a, notes=tuple(notes), details=details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        ratio = self._cuts(counts, labeled, unlabeled)[0].ratio
        return np.column_stack((ratio, np.zeros(ratio.size)))

    def _cuts(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> tuple[_Cuts, FloatArray]:
        units = base.weight_units(counts)
        q_labeled, n_labeled = base.row_shares(labeled, units[0])
        q_unlabeled, n_unlabeled = base.row_shares(unlabeled, units[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            margin = np.sqrt(np.log(4 / self.error) / 2) * (n_unlabeled**-0.5 + n_labeled**-0.5)
            margin *= 1 + self.gamma
            bound = q_unlabeled + margin[:, None]
            bound /= q_labeled  # infinite above the highest labeled score
        return _smallest(bound, q_labeled, q_unlabeled), margin


# -- The smallest slope, each point moved by its confidence bounds --------------------------------


LARGE_MARGIN = 0.1
"""Bounds that add more than this to the ratio of shares make the estimate lean high."""


@base.register_prior_estimator("roc-slope")
@dataclass(kw_only=True, eq=False, repr=False)
class RocSlope(base.PriorEstimator):
    r"""Smallest slope of the ROC curve, each point moved by its confidence bounds.

    Assumes: the highest scores are positives; labels are clean.

    Known to fail: leans high for few examples, by the width of its bounds.

    Parameters
    ----------
    error : float, default=0.1
        Probability :math:`\varepsilon` with which each binomial bound may fail.
    n_thresholds : int or None, default=200
        At how many thresholds, of like numbers of examples between them, the ratio is taken;
        None: at every distinct score.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold the chosen ``"threshold"``, the share
        of labeled examples at or above it (``"labeled_above"``) and the plain ``"ratio"``.

    See Also
    --------
    BBE : The same idea with one margin for all thresholds.
    inclusion_bound : A bound that holds at all thresholds together.

    Notes
    -----
    Of :math:`n_U` unlabeled and :math:`n_L` labeled scores, :math:`k_U(t)` and :math:`k_L(t)`
    are :math:`t` or more, and

    .. math::

        \hat\alpha = \min_t
            \frac{UCB(k_U(t), n_U)}{LCB(k_L(t), n_L)},

    where :math:`UCB(k, n)` solves :math:`P(Bin(n, p) \le k) = \varepsilon` and
    :math:`LCB(k, n) = 1 - UCB(n - k, n)`. Each bound holds alone; that all hold together would
    take larger margins and more bias. The estimate depends on the order of the scores only. It
    converges to alpha if positives at the top become pure, and errs upward for few examples or
    where even the highest scores hold negatives. Replicates of the data use its thresholds.
    Labels are taken as clean; :class:`NoisyLabels` makes it an estimator of beta too. With
    weights, effective sizes take the place of :math:`n_U` and :math:`n_L`.

    References
    ----------
    Blanchard, Lee & Scott (2010), "Semi-supervised novelty detection", JMLR 11. Scott (2015),
    "A rate of convergence for mixture proportion estimation", AISTATS.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3).sample(2000, 20000, alpha=0.25, random_state=0)
    >>> estimator = pu.estimators.RocSlope().fit(sample.scores, sample.labeled)
    >>> round(estimator.proportions_.alpha, 2)
    0.26
    """

    reference: ClassVar[str] = "Blanchard, Lee & Scott, JMLR 2010; Scott, AISTATS 2015"

    error: float = checked(0.1, check_real, low=0, high=1, closed="neither")
    n_thresholds: int | None = checked(200, check_integer, low=2, optional=True)

    def _estimate(self, counts: ScoreCounts) -> base.Inclusions:
        few = _thinned(counts, self.n_thresholds)
        slopes = self._slopes(few, few.labeled[None], few.unlabeled[None])
        a, ratio = float(slopes.bound[0]), float(slopes.ratio[0])
        notes = []
        if a - ratio > LARGE_MARGIN:
            notes.append(
                f"the estimate may lean high: its confidence bounds add {a - ratio:.2f} to the "
                f"ratio {ratio:.2f}, for lack of examples"
            )
        details = {
            "threshold": float(few.thresholds[slopes.place[0]]),
            "labeled_above": float(slopes.labeled_above[0]),
            "ratio": ratio,
            "at_edge": a >= 1,
        }
        return base.Inclusions(a, notes=tuple(notes), details=details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        few = _thinned(counts, self.n_thresholds)
        rows = (base.thinned_rows(counts, few, side) for side in (labeled, unlabeled))
        bound = self._slopes(few, *rows).bound
        return np.column_stack((bound, np.zeros(bound.size)))

    def _slopes(self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray) -> _Cuts:
        units = base.weight_units(counts)
        q_labeled, n_labeled = base.row_shares(labeled, units[0])
        q_unlabeled, n_unlabeled = base.row_shares(unlabeled, units[1])
        low = _row_bounds(1 - q_labeled, n_labeled, self.error)
        np.subtract(1, low, out=low)
        bound = _row_bounds(q_unlabeled, n_unlabeled, self.error)
        with np.errstate(divide="ignore", invalid="ignore"):
            bound /= low
        cuts = _smallest(bound, q_labeled, q_unlabeled)
        return cuts._replace(bound=np.minimum(cuts.bound, 1.0))


def _thinned(counts: ScoreCounts, n_thresholds: int | None) -> ScoreCounts:
    return counts if n_thresholds is None else counts.thinned(n_thresholds)


def _row_bounds(shares: FloatArray, sizes: FloatArray, error: float) -> FloatArray:
    """Upper bounds of shares among samples of these sizes, one sample a row."""
    size = float(sizes[0])
    successes = shares * sizes[:, None]
    whole = np.rint(successes)
    if size == np.rint(size) and (sizes == size).all() and np.abs(whole - successes).max() < 1e-6:
        # Whole numbers repeat from replicate to replicate: look each up once.
        values, inverse = np.unique(whole, return_inverse=True)
        return base.binomial_upper(values, size, error)[inverse.reshape(shares.shape)]
    return base.binomial_upper(successes, sizes[:, None], error)


# -- A smooth curve through the observed ROC points, and its slope at the end --------------------


Family = Literal["binormal", "power"]

_NEAR_0 = 1e-12
"""Probabilities are kept this far from 0 and 1, so that their logarithms are finite."""

WEAK_SHAPE = 0.5
"""A binormal curve with a smaller shift is so near the diagonal that gamma means little."""

_LIMITS = {
    "binormal": np.array([(0.0, 1.0, 0.2), (0.0, 40.0, 2.0)]),
    "power": np.array([(0.0, 1.0, 0.2), (0.0, 1.0, 0.2), (np.log(0.01), np.log(20.0), 0.7)]),
}
"""Bounds of gamma and D, and of the logarithm of mu; and the longest step in each."""
_FLAT = 1e-6
"""Samples that are less apart are not."""
_STARTS = {
    "binormal": ((0.05, 1.0), (0.3, 2.0), (0.6, 2.0), (0.9, 2.0)),
    "power": ((0.05, 0.1, 0.0), (0.1, 0.5, 0.0), (0.5, 0.2, 0.0), (0.8, 0.2, 0.0)),
}


@dataclass(frozen=True, eq=False)
class _Points:
    """Points of ROC curves strictly between their ends, one curve a row.

    Attributes
    ----------
    x, y : ndarray of shape (n_rows, n_points)
        Shares of the labeled and of the unlabeled below each threshold; the former moved
        inward by half an example.
    weight : ndarray of shape (n_rows, n_points)
        Share of the labeled examples for which the point stands; they sum to 1.
    """

    x: FloatArray
    y: FloatArray
    weight: FloatArray

    def only(self, rows: IntArray) -> _Points:
        """Some of the curves; a single one stands for all rows."""
        if len(self.x) == 1:
            return self
        return _Points(self.x[rows], self.y[rows], self.weight[rows])


def _points(counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray) -> _Points:
    sizes = labeled.sum(axis=1, keepdims=True) * base.weight_units(counts)[0]
    x, y = (
        1 - np.cumsum(side, axis=1)[:, :-1] / side.sum(axis=1, keepdims=True)
        for side in (labeled, unlabeled)
    )
    # Half of each labeled example for the point before it and half for the one after it. Counting
    # the unlabeled too would let the many points to the left of all labeled scores, whose x is
    # known worst, bend the whole curve.
    weight = labeled[:, :-1] + labeled[:, 1:].astype(np.float64)
    used = weight.any(axis=0)
    x, y, weight = x[:, used], y[:, used], weight[:, used]
    # Unlabeled scores below all labeled ones are common, and a smooth curve through (0, y) with
    # y > 0 does not exist.
    x = (sizes * np.clip(x, 0, 1) + 0.5) / (sizes + 1)
    return _Points(x, np.clip(y, 0, 1), weight / weight.sum(axis=1, keepdims=True))


def curve(family: str, parameters: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """F(x), and its derivatives by the parameters along the last axis but one.

    Parameters
    ----------
    family : {"binormal", "power"}
        Which formula.
    parameters : ndarray of shape (..., 2) or (..., 3)
        gamma, D and, in the power family, the logarithm of mu.
    x : ndarray of shape (..., n_points)
        Shares in (0, 1).
    """
    gamma, d = parameters[..., :1], parameters[..., 1:2]
    if family == "binormal":
        z = ndtri(x) + d
        shape = ndtr(z)
        by_shape = [np.exp(-z * z / 2) / np.sqrt(2 * np.pi)]
    else:
        mu = np.exp(parameters[..., 2:])
        log_x = np.log(x)
        w = np.expm1(-mu * log_x)
        inner = 1 + d * w
        shape = np.exp(-np.log1p(d * w) / mu)
        by_d = -shape * w / (mu * inner)
        by_mu = shape * (np.log1p(d * w) / mu**2 + d * log_x * (w + 1) / (mu * inner))
        by_shape = [by_d, by_mu * mu]  # by the logarithm of mu
    value = (1 - gamma) * shape + gamma * x
    return value, np.stack([x - shape, *((1 - gamma) * part for part in by_shape)], axis=-2)


def end_slope(family: str, parameters: FloatArray) -> FloatArray:
    """Slope of the curves at (1, 1); that of the diagonal, which any gamma gives, is 1."""
    gamma, d = parameters[..., 0], parameters[..., 1]
    if family == "binormal":
        return np.where(d < _FLAT, 1.0, gamma)
    return np.asarray((1 - gamma) * d + gamma)


def deviance(family: str, parameters: FloatArray, points: _Points) -> FloatArray:
    """Binomial deviance per labeled example, 0 for a perfect fit."""
    fitted = np.clip(curve(family, parameters, points.x)[0], _NEAR_0, 1 - _NEAR_0)
    y = points.y
    best = np.clip(y, _NEAR_0, 1 - _NEAR_0)
    value = y * np.log(best / fitted) + (1 - y) * np.log((1 - best) / (1 - fitted))
    return np.asarray(2 * np.sum(points.weight * value, axis=-1))


def _slopes(family: str, parameters: FloatArray, points: _Points) -> tuple[FloatArray, FloatArray]:
    """Gradient of minus the deviance, and the expected curvature."""
    fitted, slopes = curve(family, parameters, points.x)
    fitted = np.clip(fitted, _NEAR_0, 1 - _NEAR_0)
    precision = 2 * points.weight / (fitted * (1 - fitted))
    gradient = slopes @ (precision * (points.y - fitted))[..., None]
    return gradient[..., 0], (slopes * precision[..., None, :]) @ np.swapaxes(slopes, -1, -2)


def _fit(family: str, points: _Points, starts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The best parameters near each start, and their deviance."""
    best, value, _ = climb(
        lambda at, rows: (
            -deviance(family, at, points.only(rows)),
            *_slopes(family, at, points.only(rows)),
        ),
        starts,
        _LIMITS[family],
        n_steps=300,
        tol=1e-12,
        enough=1e-12,
    )
    return best, -value


@base.register_prior_estimator("fitted-roc")
@dataclass(kw_only=True, eq=False, repr=False)
class FittedRoc(base.PriorEstimator):
    r"""Slope at the end of a smooth curve fitted to the ROC points.

    Assumes: an increasing map makes both classes normal with equal variances (or the power family
    fits); labels are clean.

    Known to fail: by a fixed amount where no curve of the family fits, as where negatives vary more
    than positives.

    Parameters
    ----------
    family : {"binormal", "power"}, default="binormal"
        The curve; see Notes.
    n_thresholds : int or None, default=500
        At how many thresholds, of like numbers of examples between them, the curve is compared
        with the data; None: at every distinct score.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold the fitted ``"gamma"``, ``"shape"``
        (D) and, in the power family, ``"power"`` (mu), the ``"deviance"`` per labeled example,
        and the number of points the curve was fitted to (``"n_points"``).

    See Also
    --------
    RocSlope : The same slope from confidence bounds, without a formula for the curve.

    Notes
    -----
    Let :math:`x` be the share of labeled and :math:`y` that of unlabeled scores below a
    threshold. If labels are clean, the slope of :math:`y = F(x)` at (1, 1) is alpha. The curve
    minimizes the binomial deviance
    :math:`-2 \sum [y \log F(x) + (1 - y) \log(1 - F(x))]` over the points before and after each
    labeled score, among

    .. math::

        F(x) &= (1-\gamma)\,\Phi(\Phi^{-1}(x) + D) + \gamma x, &
            F'(1) &= \gamma, \\
        F(x) &= (1-\gamma)\,(1 + D(x^{-\mu} - 1))^{-1/\mu} + \gamma x, &
            F'(1) &= (1-\gamma) D + \gamma.

    The binormal family is exact where some increasing map makes the scores of positives and of
    negatives normal with equal variances. In the power family curves with different gamma and
    :math:`D` are nearly the same except at the very end, so its slope varies more from sample
    to sample.

    The estimate depends on the order of the scores only. It is smooth and stable with few
    examples, and wrong by a fixed amount, however many there are, if no curve of the family
    fits: scores whose negatives vary more than the positives are an example. Shares :math:`x`
    are moved inward by half a labeled example. Scores of so few distinct values that the curve
    has more parameters than points between its ends leave alpha open
    (``identifiable`` is False).

    Labels are taken as clean; :class:`NoisyLabels` makes it an estimator of beta too, but only
    with the power family. In the binormal one :math:`x` belongs to positives alone. A sample
    that is a mixture itself, as the labeled are with wrong labels and the unlabeled with the
    samples exchanged, has a curve that no binormal one comes near at the end: both slopes are
    then far too small, so that beta comes out close to 1, and a note says so.

    References
    ----------
    Sanderson & Scott (2014), "Class proportion estimation with application to multiclass
    anomaly rejection", AISTATS. Lloyd (2000), "Regression models for convex ROC curves",
    Biometrics 56.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(2).sample(1000, 10000, alpha=0.25, random_state=0)
    >>> estimator = pu.estimators.FittedRoc().fit(sample.scores, sample.labeled)
    >>> abs(estimator.proportions_.alpha - 0.25) < 0.05
    True
    """

    reference: ClassVar[str] = "Sanderson & Scott, AISTATS 2014"

    family: Family = checked("binormal", check_choice, choices=get_args(Family))
    n_thresholds: int | None = checked(500, check_integer, low=2, optional=True)

    def _estimate(self, counts: ScoreCounts) -> base.Inclusions:
        few = _thinned(counts, self.n_thresholds)
        best, least, n_points = self._fit_data(few)
        a = min(float(end_slope(self.family, best)), 1.0)
        notes = []
        if self.family == "binormal" and best[1] < WEAK_SHAPE:
            notes.append(
                f"the fitted curve is close to the diagonal (shift {best[1]:.2f}), where any "
                "alpha fits almost as well"
            )
        if a <= 0:
            notes.append("the fitted curve ends without slope: alpha = 0")
        if n_points < best.size:
            few_points = "one point" if n_points == 1 else f"{n_points} points"
            notes.append(
                f"the curve has {best.size} parameters and was fitted to {few_points} between its "
                "ends: many others fit as well, with other values of alpha"
            )
        details: dict[str, object] = {
            "family": self.family,
            "gamma": float(best[0]),
            "shape": float(best[1]),
            "deviance": least,
            "n_points": n_points,
            "identifiable": n_points >= best.size,
            "at_edge": not 0 < a < 1,
        }
        if self.family == "power":
            details["power"] = float(np.exp(best[2]))
        return base.Inclusions(a, notes=tuple(notes), details=details)

    def _estimate_flipped(self, counts: ScoreCounts) -> base.Inclusions:
        run = super()._estimate_flipped(counts)
        if self.family != "binormal":
            return run
        note = (
            "a binormal curve describes one sample of positives alone, not two mixtures, and "
            'its slopes are then too small; family="power" has no such limit'
        )
        return replace(run, notes=(*run.notes, note))

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        few = _thinned(counts, self.n_thresholds)
        labeled, unlabeled = (base.thinned_rows(counts, few, side) for side in (labeled, unlabeled))
        found = np.full((len(labeled), 2), np.nan)
        some = labeled.any(axis=1) & unlabeled.any(axis=1)
        some &= np.count_nonzero(labeled + unlabeled, axis=1) > 1
        if some.any():
            # Replicates resemble the data, so the fit to the data is start enough.
            points = _points(few, labeled[some], unlabeled[some])
            start = np.tile(self._fit_data(few)[0], (len(points.x), 1))
            best, _ = _fit(self.family, points, start)
            found[some, 0] = np.minimum(end_slope(self.family, best), 1.0)
            found[some, 1] = 0.0
        return found

    def _fit_data(self, counts: ScoreCounts) -> tuple[FloatArray, float, int]:
        """The best parameters from several starts, their deviance, and the number of points."""
        points = _points(counts, counts.labeled[None], counts.unlabeled[None])
        found, deviances = _fit(self.family, points, np.array(_STARTS[self.family]))
        best = int(np.argmin(deviances))
        return found[best], float(deviances[best]), points.x.shape[1]


# -- Elkan and Noto: alpha from the probability that a positive is labeled -------------------------


Variant = Literal["e1", "e2", "e3"]
Calibration = Literal["isotonic", "none"]
Rule = Literal["alternative", "main"]


@base.register_prior_estimator("elkan-noto")
@dataclass(kw_only=True, eq=False, repr=False)
class ElkanNoto(base.PriorEstimator):
    r"""Alpha from calibrated probabilities of being labeled.

    Assumes: the best tenth of the labeled is pure; labels are clean.

    Known to fail: variants e1 and e2 far too high wherever classes overlap; e3 where the top is
    thin.

    Parameters
    ----------
    variant : {"e1", "e2", "e3"}, default="e3"
        How the probability :math:`\ell` that a positive is labeled is estimated.
    calibration : {"isotonic", "none"}, default="isotonic"
        How scores become probabilities :math:`\tau` of being labeled: by isotonic regression,
        which uses their order only; or not at all, if they are such probabilities already, of
        the two samples taken together.
    rule : {"alternative", "main"}, default="alternative"
        How the share of positives follows from :math:`\ell`.
    quantile : float, default=0.9
        For "e3": this quantile of :math:`\tau` over the labeled examples takes the place of its
        maximum; 1 for the maximum itself.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"labeled_given_positive"``, which is
        :math:`\ell`, and the ``"pooled_prior"`` :math:`\pi`.

    Notes
    -----
    With :math:`N = n_L + n_U` examples in all,

    .. math::

        \ell_1 = \mathrm{mean}_L\, \tau, \qquad
        \ell_2 = \frac{\sum_L \tau}{\sum_{L \cup U} \tau}, \qquad
        \ell_3 = \max \tau;

    the share of positives among all of them is :math:`\pi = (n_L/N)/\ell` by the alternative
    rule and :math:`\pi = (n_L + \sum_U w)/N` by the main one, with the probability
    :math:`w = \frac{1-\ell}{\ell} \frac{\tau}{1-\tau}` (at most 1) that an unlabeled example
    is positive. Then :math:`\alpha = (\pi N - n_L)/n_U`, set to 0 where it is negative.

    After isotonic regression :math:`\tau` sums up to :math:`n_L`, so that "e1" and "e2" are the
    same. Both average over positives wherever they score; they need classes that do not
    overlap, and err upward, often far, where they do. "e3" is right wherever the best scores are
    pure, but it is an extreme value of what must be calibrated: a single labeled example above
    all others makes :math:`\alpha` 0. Hence the default, the 90 % quantile over the labeled: it
    rests on a tenth of them, and is as good as the maximum if the best tenth is pure. Labels are
    taken as clean; :class:`NoisyLabels` makes it an estimator of beta too.

    References
    ----------
    Elkan & Noto (2008), "Learning classifiers from only positive and unlabeled data", KDD.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3).sample(2000, 20000, alpha=0.25, random_state=0)
    >>> estimator = pu.estimators.ElkanNoto().fit(sample.scores, sample.labeled)
    >>> round(estimator.proportions_.alpha, 2)
    0.23
    """

    reference: ClassVar[str] = "Elkan & Noto, KDD 2008"

    variant: Variant = checked("e3", check_choice, choices=get_args(Variant))
    calibration: Calibration = checked("isotonic", check_choice, choices=get_args(Calibration))
    rule: Rule = checked("alternative", check_choice, choices=get_args(Rule))
    quantile: float = checked(0.9, check_real, low=0, high=1, closed="right")

    def _flip(self, counts: ScoreCounts) -> ScoreCounts:
        flipped = base.flipped_counts(counts)
        if self.calibration == "isotonic":
            return flipped
        # 1 - t: the probability of the other label
        return replace(flipped, thresholds=1 + flipped.thresholds)

    def _estimate(self, counts: ScoreCounts) -> base.Inclusions:
        tau = self._probabilities(counts)
        n_labeled, n_unlabeled = counts.n_labeled, counts.n_unlabeled
        share = self._labeled_given_positive(tau, counts)
        if not share > 0:
            raise IdentifiabilityError(
                f"{type(self).__name__} needs probabilities of being labeled that are positive "
                "for labeled examples, got 0 throughout: alpha cannot be told.\n"
                'Hint: calibration="isotonic" makes probabilities of any scores'
            )
        if self.rule == "main":
            above, below = (1 - share) * tau, share * (1 - tau)
            weight = (above > 0).astype(np.float64)  # at most 1; none if all positives are labeled
            np.divide(above, below, out=weight, where=above < below)
            positives = n_labeled + float(np.dot(counts.unlabeled, weight))
        else:
            positives = n_labeled / share
        a = (positives - n_labeled) / n_unlabeled
        notes = []
        if a <= 0:
            notes.append(
                "every example with a high score is labeled, which means alpha = 0: too few "
                "examples there, or scores trained on these very labels"
            )
        details = {
            "labeled_given_positive": share,
            "pooled_prior": positives / (n_labeled + n_unlabeled),
            "at_edge": not 0 < a < 1,
        }
        return base.Inclusions(min(max(a, 0.0), 1.0), notes=tuple(notes), details=details)

    def _probabilities(self, counts: ScoreCounts) -> FloatArray:
        """Probability of being labeled at each distinct score, decreasing."""
        if self.calibration == "none":
            high, low = float(counts.thresholds[0]), float(counts.thresholds[-1])
            if low < 0 or high > 1:
                raise bad_value(
                    "scores",
                    'between 0 and 1 for calibration="none"',
                    f"scores from {low:g} to {high:g}",
                    'calibration="isotonic" makes probabilities of any scores',
                )
            return counts.thresholds
        return base.falling_shares(counts.labeled, counts.unlabeled)

    def _labeled_given_positive(self, tau: FloatArray, counts: ScoreCounts) -> float:
        """The share of positives that are labeled."""
        if self.variant == "e1":
            return float(np.dot(counts.labeled, tau)) / counts.n_labeled
        if self.variant == "e2":
            of_labeled = float(np.dot(counts.labeled, tau))
            of_all = of_labeled + float(np.dot(counts.unlabeled, tau))
            return of_labeled / of_all if of_all > 0 else 0.0
        if self.quantile == 1:
            present = np.flatnonzero((counts.labeled > 0) | (counts.unlabeled > 0))
            return float(tau[present[0]])
        # tau decreases, so that the quantile stands where the upper share is reached.
        reached = np.cumsum(counts.labeled) >= (1 - self.quantile) * counts.n_labeled
        present = np.flatnonzero(reached & (counts.labeled > 0))
        return float(tau[present[0]])


# -- Patra and Sen: where the rest of the unlabeled sample stops being a distribution --------------


_AT_A_TIME = 64
"""Shares of negatives that are tried together, for all of them to stay in the cache."""

_FIRST_GAP = 32
"""Gap between the shares that are tried first; gaps are halved where that may tell more."""


@base.register_prior_estimator("patra-sen")
@dataclass(kw_only=True, eq=False, repr=False)
class PatraSen(base.PriorEstimator):
    r"""Patra and Sen's two-component mixture on the scores of a classifier.

    Assumes: the highest scores are positives; labels are clean.

    Known to fail: too high where classes overlap much: the bend it looks for is a gentle curve.

    Parameters
    ----------
    n_grid : int, default=1000
        Number of shares of negatives that are tried, evenly spaced up to 1.
    max_thresholds : int, default=1000
        Counts with more distinct scores are merged into about so many groups of like size.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold the tried shares of negatives
        (``"negative_shares"``) and their ``"distances"``.

    See Also
    --------
    DEDPUL : Guards its estimate by a second difference too.

    Notes
    -----
    If a share :math:`\nu` of the unlabeled examples is negative, their scores have the
    distribution function

    .. math::

        \hat F_\nu = \frac{F_U - (1-\nu) F_L}{\nu}.

    Where :math:`\nu` is too small, that is no distribution function: it falls, or leaves [0, 1].
    How far it is from one is measured by

    .. math::

        d(\nu) = \nu \left(\int (\hat F_\nu - \check F_\nu)^2 \, dF_U\right)^{1/2},

    where :math:`\check F_\nu` is its isotonic regression, cut to [0, 1]. The distance falls to
    about 0 as :math:`\nu` grows to the true share and stays there; the estimate is the share of
    the sharpest bend, the largest second difference of :math:`d`, and
    :math:`\alpha = 1 - \nu`. For the difference at either end, :math:`d` goes on as it began,
    and as 0.

    It depends on the order of the scores only, and needs no bandwidth and no bound. It is right
    in the limit if the best scores are pure. Where the classes overlap much the bend is a gentle
    curve, the distance cannot be told from 0 well before the true share, and alpha comes out
    too high. Labels are taken as clean; :class:`NoisyLabels` makes it an estimator of beta too.
    Each estimate is one isotonic regression for each share that is tried, of a bounded number
    of groups.

    References
    ----------
    Patra & Sen (2016), "Estimation of a two-component mixture model with applications to
    multiple testing", Journal of the Royal Statistical Society B 78. Lin & Long (2018),
    "Classification-based mixture proportion estimation", arXiv 1801.09834.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3).sample(2000, 20000, alpha=0.25, random_state=0)
    >>> estimator = pu.estimators.PatraSen().fit(sample.scores, sample.labeled)
    >>> round(estimator.proportions_.alpha, 2)
    0.25
    """

    reference: ClassVar[str] = "Patra & Sen, JRSS B 2016; Lin & Long, arXiv 1801.09834"

    n_grid: int = checked(1000, check_integer, low=3)
    max_thresholds: int = checked(1000, check_integer, low=10)

    def _estimate(self, counts: ScoreCounts) -> base.Inclusions:
        shares = np.arange(1, self.n_grid + 1) / self.n_grid
        few = counts.thinned(self.max_thresholds)
        sides = few.labeled[None], few.unlabeled[None]
        distances, _ = _distances(*sides, np.zeros(shares.size, dtype=np.int64), shares)
        padded = np.concatenate((distances[:1], distances, [0.0]))
        bend = int(np.argmax(np.diff(padded, 2)))
        a = (self.n_grid - 1 - bend) / self.n_grid
        notes = []
        if bend == 0:
            notes.append("the unlabeled scores are distributed like the labeled ones: alpha near 1")
        details = {
            "negative_shares": shares,
            "distances": distances,
            "at_edge": bend in (0, self.n_grid - 1),
        }
        return base.Inclusions(a, notes=tuple(notes), details=details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        few = counts.thinned(self.max_thresholds)
        labeled, unlabeled = (base.thinned_rows(counts, few, side) for side in (labeled, unlabeled))
        found = np.full((len(labeled), 2), np.nan)
        some = labeled.any(axis=1) & unlabeled.any(axis=1)
        bends = _sharpest_bends(labeled[some], unlabeled[some], self.n_grid)
        found[some, 0] = (self.n_grid - 1 - bends) / self.n_grid
        found[some, 1] = 0.0
        return found


def _distances(
    labeled: CountArray, unlabeled: CountArray, rows: IntArray, shares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""The distance at each share of negatives, for a row of counts each, and its derivative.

    The distance is the least :math:`\|F_U - (1-\nu) F_L - \nu h\|` of all distribution functions
    :math:`h`, so that its derivative is that of the norm with the best :math:`h` held.
    """
    f_labeled, f_unlabeled = (
        np.cumsum(side[:, ::-1], axis=1) / side.sum(axis=1, keepdims=True)
        for side in (labeled, unlabeled)
    )
    # The integral is over unlabeled scores: where none is, anything that increases fits.
    mass = unlabeled[:, ::-1] / unlabeled.sum(axis=1, keepdims=True)
    weights = np.maximum(mass, np.finfo(float).tiny)
    found, slopes = np.empty((2, shares.size))
    for start in range(0, shares.size, _AT_A_TIME):
        these = slice(start, start + _AT_A_TIME)
        part, share = rows[these], shares[these, None]
        # All of it times the share, so that a small one divides nothing.
        steep = f_labeled[part]
        rest = steep * (share - 1)
        rest += f_unlabeled[part]
        # Rows end to end and one above the other: nothing is pooled across.
        apart = 3.0 * np.arange(part.size)[:, None]
        proper = isotonic_regression((rest + apart).ravel(), weights=weights[part].ravel()).x
        proper = proper.reshape(rest.shape)
        proper -= apart
        rest -= np.clip(proper, 0.0, share, out=proper)
        pull = mass[part]
        pull *= rest
        found[these] = np.sqrt(np.einsum("ij,ij->i", pull, rest))
        slopes[these] = np.einsum("ij,ij->i", pull, steep)
        slopes[these] -= np.einsum("ij,ij->i", pull, proper) / share[:, 0]
    # Rounding errors are no bend.
    none = found < 1e-9
    found[none] = 0.0
    return found, np.where(none, 0.0, slopes / np.where(none, 1.0, found))


def _sharpest_bends(labeled: CountArray, unlabeled: CountArray, n_grid: int) -> IntArray:
    """Where on the grid the second difference of each distance is largest, from few distances.

    The distance to a convex set is convex, so that between two shares no second difference exceeds
    the rise of the slope from one to the other, and at a share none exceeds that from the mean
    slope before it to the mean slope after it. Only where that leaves room for more than the
    largest one so far is the grid filled in.
    """
    known, slopes = np.full((2, len(labeled), n_grid + 1), np.nan)
    known[:, n_grid] = slopes[:, n_grid] = 0.0
    found = np.zeros(len(labeled), dtype=np.int64)
    start = np.unique(np.append(np.arange(0, n_grid, _FIRST_GAP), [1, n_grid - 1]))
    new = [start] * len(labeled)
    while rows := [i for i, places in enumerate(new) if places.size]:
        which = np.repeat(rows, [new[i].size for i in rows])
        places = np.concatenate([new[i] for i in rows])
        known[which, places], slopes[which, places] = _distances(
            labeled, unlabeled, which, (places + 1) / n_grid
        )
        for i in rows:
            found[i], new[i] = _next_places(known[i], slopes[i] / n_grid)
    return found


def _next_places(known: FloatArray, slopes: FloatArray) -> tuple[int, IntArray]:
    """Where the largest second difference so far is, and where distances are to be known next."""
    place = np.flatnonzero(known >= 0)
    gap: IntArray = np.diff(place)
    bend = np.diff(np.diff(known[place]) / gap)
    settled = (gap[1:] == 1) & (gap[:-1] == 1)
    largest = int(np.argmax(np.where(settled, bend, 0.0)))
    most = float(bend[largest]) if settled[largest] else 0.0
    # What a gap may hold between its ends, or at one of them.
    room = np.diff(slopes[place])
    at_ends = np.where(settled, 0.0, bend)
    np.maximum(room[1:], at_ends, out=room[1:])
    np.maximum(room[:-1], at_ends, out=room[:-1])
    room[gap == 1] = 0.0
    # The widest first: what they hold may leave no room in the others.
    wide = np.flatnonzero(room > max(most, room.max() / 2))
    return int(place[largest + 1]) if most > 0 else 0, place[wide] + gap[wide] // 2
