"""TwoViews: alpha from two scores that have nothing in common but the class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from purecover._parameters import checked
from purecover._typing import FloatArray
from purecover._validation import bad_value, check_real
from purecover.counts import ScoreCounts
from purecover.estimators.base import Inclusions
from purecover.estimators.rows import FeaturePriorEstimator, Rows
from purecover.exceptions import IdentifiabilityError

_LEAST_SIGNAL = 4.0
"""Standard errors by which each score must tell labeled from unlabeled examples."""

_GRID = 200


@dataclass(kw_only=True, eq=False, repr=False)
class TwoViews(FeaturePriorEstimator):
    r"""Alpha from two scores that are independent given the class.

    Assumes: within the positives and within the negatives the two scores are independent; beta is
    known.

    Known to fail: refuses, or leans to wherever the scores' own dependence pulls, where both come
    from the same features.

    Parameters
    ----------
    beta : float, default=1.0
        Share of positives among the labeled.
    level : float, default=0.01
        Scores whose test of conditional independence has a p-value below this are refused;
        0 refuses none.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"p_value"``, of the test of
        conditional independence, ``"correlation"``, the rank correlation among the unlabeled,
        ``"correlation_labeled"``, and ``"signal"``, by how many standard errors each score tells
        labeled from unlabeled examples.

    See Also
    --------
    LabelCurve : From one score, which needs a region without negatives.

    Notes
    -----
    Let :math:`D_i` be the difference of the mean of score i between positives and negatives. Among
    the unlabeled, scores that are independent given the class have the covariance
    :math:`C = \alpha(1-\alpha) D_1 D_2`, and labeled less unlabeled means are
    :math:`d_i = (\beta-\alpha) D_i`. So

    .. math::

        R = \frac{C}{d_1 d_2} = \frac{\alpha(1-\alpha)}{(\beta-\alpha)^2}, \qquad
        \alpha = \frac{1 + 2R\beta - \sqrt{1 + 4R\beta(1-\beta)}}{2(1+R)},

    which is :math:`\alpha = C/(C + d_1 d_2)` for clean labels. No score needs to have a region
    without negatives, as estimators from one score do.

    This holds for any function of each score. Their ranks are taken, so that neither outliers nor
    the scale matter. The test asks whether :math:`C = R\,d_1 d_2` among the unlabeled and
    :math:`C = \beta(1-\beta)/(\beta-\alpha)^2\; d_1 d_2` (zero for clean labels) among the labeled
    hold with one alpha for all pairs of the ranks and their squares: eight equations with one
    unknown, by the smallest weighted sum of squares, which has a chi-squared distribution with
    seven degrees of freedom. With few labeled examples it refuses somewhat more often than its
    level says: 2 to 5 of a hundred good pairs with 500 of them, at the default.

    The interval is Fieller's, of the ratio :math:`C/(d_1 d_2)`, unless a ``method`` is named.

    A dependence within classes that is too weak for the test still moves alpha: a covariance
    c adds :math:`c/(d_1 d_2)` to R. Two classifiers trained on the same features are not
    independent given the class; scores of separate measurements may be.

    References
    ----------
    Blum & Mitchell (1998), "Combining labeled and unlabeled data with co-training", COLT, for
    views; Hansen (1982), "Large sample properties of generalized method of moments estimators",
    Econometrica 50, for the test.

    Examples
    --------
    >>> import numpy as np
    >>> import purecover as pu
    >>> rng = np.random.default_rng(0)
    >>> labeled = np.arange(11_000) < 1000
    >>> positive = labeled | (rng.random(11_000) < 0.3)
    >>> scores = rng.laplace(size=(11_000, 2)) + 2 * positive[:, None]
    >>> estimator = pu.estimators.TwoViews().fit(scores, labeled)
    >>> abs(estimator.proportions_.alpha - 0.3) < 0.02
    True
    """

    reference: ClassVar[str] = "covariance of two scores given the class"

    beta: float = checked(1.0, check_real, low=0, high=1, closed="right")
    level: float = checked(0.01, check_real, low=0, high=1, closed="left")

    posterior_words: ClassVar[str] = "Fieller"

    def _check_rows(self, rows: Rows) -> None:
        moments = self._moments(rows)
        signal, p_value = moments.signal, moments.p_value
        if min(signal) < _LEAST_SIGNAL:
            weak = int(np.argmin(signal))
            raise IdentifiabilityError(
                "{function} needs two scores that tell labeled from unlabeled examples, and score "
                f"{weak + 1} does so by {signal[weak]:.2g} standard errors, fewer than "
                f"{_LEAST_SIGNAL:g}.\nHint: a better score, or more labeled examples"
            )
        if p_value < self.level:
            raise IdentifiabilityError(
                "{function} needs scores that are independent given the class, and they are not "
                f"(p = {p_value:.2g}; rank correlation among the labeled "
                f"{moments.correlations[0]:.2g}).\n"
                "Hint: take scores from separate measurements, or estimate alpha from one score "
                "with LabelCurve"
            )

    def _estimate(self, counts: ScoreCounts) -> Inclusions:  # noqa: ARG002
        raise _not_two("one score")

    def _moments(self, rows: Rows) -> _Moments:
        if rows.n_features != 2:
            raise _not_two(f"{rows.n_features} columns")
        return _Moments(rows, self.beta)

    def _estimate_rows(self, rows: Rows, rng: np.random.Generator) -> Inclusions:  # noqa: ARG002
        moments = self._moments(rows)
        alpha = float(moments.alpha(moments.ratio()))
        notes = []
        if alpha == 0:
            notes.append("the scores do not vary together among the unlabeled: alpha is 0")
        labeled, unlabeled = moments.correlations
        details = {
            "p_value": moments.p_value,
            "correlation": unlabeled,
            "correlation_labeled": labeled,
            "signal": moments.signal,
            "at_edge": alpha == 0,
        }
        b = (1 - self.beta) / (1 - alpha)
        return Inclusions(alpha / self.beta, b, tuple(notes), details)

    def _usual_method(self, resampler: object) -> str:
        return "posterior" if resampler is None else super()._usual_method(resampler)

    def _posterior_ends(self, level: float) -> dict[str, tuple[float, float]]:
        assert self._rows is not None  # noqa: S101 - scores are refused
        low, high = self._moments(self._rows).ends(level)
        return {
            "alpha": (low, high),
            "beta": (self.beta, self.beta),
            "delta": (self.beta - high, self.beta - low),
        }


def _not_two(got: str) -> Exception:
    hint = "np.column_stack((one_score, other_score))"
    return bad_value("X", "two columns, a score in each", got, hint)


class _Moments:
    """Means and covariances of ranks (first) and their squares, with their errors.

    ``values`` are the covariances of all four pairs among the unlabeled, those among the labeled,
    and the products of differences of means; ``errors`` is their covariance matrix. Ranks are
    taken of both samples together. That they are estimated does not matter to first order: the
    equations hold for any function of each score.
    """

    def __init__(self, rows: Rows, beta: float) -> None:
        from scipy.stats import rankdata

        self.beta = beta
        n = rows.n_labeled
        ranks = rankdata(np.concatenate((rows.labeled, rows.unlabeled)), axis=0)
        place = 2 * (ranks - 0.5) / len(ranks) - 1
        # Legendre polynomials, which are not correlated with one another.
        views = [np.column_stack((u, (3 * u * u - 1) / 2)) for u in place.T]
        sides = [[view[:n] for view in views], [view[n:] for view in views]]
        means = np.array([[view.mean(axis=0) for view in side] for side in sides])
        one, other = self.gaps = means[0] - means[1]
        self.centered = centered = [
            [view - mean for view, mean in zip(side, middle, strict=True)]
            for side, middle in zip(sides, means, strict=True)
        ]
        covariances, errors = [], np.zeros((12, 12))
        for (x, y), sign, at in zip(centered, (1, -1), (4, 0), strict=True):
            products = (x[:, :, None] * y[:, None, :]).reshape(len(x), 4)
            covariances.append(products.mean(axis=0))
            # How each row moves them; the products of differences move with both means.
            moves = np.zeros((len(x), 12))
            moves[:, at : at + 4] = products - covariances[-1]
            both = x[:, :, None] * other + one[:, None] * y[:, None, :]
            moves[:, 8:] = sign * both.reshape(len(x), 4)
            errors += moves.T @ moves / len(x) ** 2
        self.values = np.concatenate((covariances[1], covariances[0], np.outer(one, other).ravel()))
        self.errors = errors

    @cached_property
    def signal(self) -> tuple[float, float]:
        """By how many standard errors the ranks of each score differ between the samples."""
        found = []
        for i in range(2):
            variance = sum(float(side[i][:, 0].var()) / len(side[i]) for side in self.centered)
            found.append(abs(float(self.gaps[i, 0])) / max(variance, 1e-300) ** 0.5)
        return found[0], found[1]

    @cached_property
    def correlations(self) -> tuple[float, float]:
        """Of the ranks, among the labeled and among the unlabeled."""
        found = []
        for x, y in self.centered:
            spread = float(x[:, 0].std() * y[:, 0].std())
            found.append(float((x[:, 0] * y[:, 0]).mean()) / spread if spread > 0 else 0.0)
        return found[0], found[1]

    def ratio(self) -> float:
        """The covariance of the ranks among the unlabeled, over the product of differences."""
        return float(self.values[0] / self.values[8]) if self.values[8] else np.inf

    def alpha(self, ratio: Any) -> FloatArray:
        """Alpha that makes such a ratio; 0 where the ratio is negative."""
        beta, ratio = self.beta, np.maximum(ratio, 0.0)
        # As written in the notes, but exact for small ratios and safe for infinite ones.
        root = np.sqrt(1 + 4 * ratio * beta * (1 - beta))
        with np.errstate(invalid="ignore"):
            found = 2 * ratio * beta**2 / (1 + 2 * ratio * beta + root)
        return np.where(np.isinf(ratio), beta, found)

    def ends(self, level: float) -> tuple[float, float]:
        """Fieller's interval: all ratios whose equation is not refuted."""
        from scipy.special import ndtri

        q = float(ndtri((1 + level) / 2)) ** 2
        c, d = float(self.values[0]), float(self.values[8])
        v_c, v_cd, v_d = (float(self.errors[i, j]) for i, j in ((0, 0), (0, 8), (8, 8)))
        square, middle, rest = d * d - q * v_d, c * d - q * v_cd, c * c - q * v_c
        if square <= 0:
            return 0.0, self.beta
        spread = max(middle * middle - square * rest, 0.0) ** 0.5
        low, high = (self.alpha((middle + sign * spread) / square) for sign in (-1, 1))
        return float(low), float(high)

    @cached_property
    def p_value(self) -> float:
        """Of the hypothesis that one alpha fits all eight equations."""
        from scipy.special import chdtrc, expit

        beta = self.beta
        alpha = np.append(0.0, beta * expit(np.linspace(-8, 8, _GRID)))
        among = np.array([alpha * (1 - alpha), np.full_like(alpha, beta * (1 - beta))])
        ratios = among / (beta - alpha) ** 2
        pick = np.zeros((alpha.size, 8, 12))
        pick[:, np.arange(8), np.arange(8)] = 1
        pick[:, np.arange(8), 8 + np.arange(8) % 4] = -np.repeat(ratios, 4, axis=0).T
        left = pick @ self.values
        variance = pick @ self.errors @ pick.transpose(0, 2, 1)
        # Scores of few distinct values leave directions in which nothing varies.
        scale = np.trace(variance, axis1=1, axis2=2)[:, None, None]
        weight = np.linalg.pinv(variance / scale, rcond=1e-10, hermitian=True) / scale
        distance = np.einsum("ai,aij,aj->a", left, weight, left)
        return float(chdtrc(7, max(float(distance.min()), 0.0)))
