r"""`LabelRatio`: how the labeled are distributed over the scores, next to the unlabeled.

Where labels went to positives at random, the share of positives in a group of scores follows from

.. math::

    r_i = \frac{f_L(i)}{f_U(i)},

the ratio of the shares of labeled and of unlabeled rows there. Counts alone give a ratio for every
group, and a wild one where groups are small. Here its logarithm is a smooth function of the rank.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import expit, ndtri

from purecover._typing import CountArray, FloatArray
from purecover.counts import ScoreCounts
from purecover.recovery.rates import effective_sizes

CENTERS = np.arange(-2.5, 3.5, 0.5)
WIDTH = 0.5
"""Places and width of the bumps of the log ratio, on the scale of normal scores of the rank."""

FARTHEST = 3.5
"""Normal scores are cut here: beyond it are too few rows for a slope of their own."""

LEVEL, SLOPE, CURVATURE, BUMP = 1e3, 3.0, 0.5, 1.5
"""Prior standard deviations of the coefficients.

Chosen on families of the first part of the reference collection that the prior of alpha and beta
had not seen. With bumps of 0.3 the recall of a separable problem is too low by 0.012 at the known
alpha; a looser curvature changes nothing.
"""

TAILS = 8.0
"""Degrees of freedom of the distribution that coefficients are proposed from.

Where no labeled row is, the ratio is bounded on one side only, and a normal distribution at the
mode is too heavy there: unweighted, the AUC would be too low by half a standard error and vary up
to three times as much as it does.
"""

SEED = 20170204
"""The same draws every time: two questions about the same rows are asked of the same draws."""

_STEPS, _HALVINGS, _CLOSE = 50, 12, 1e-9
"""Most Newton steps, and most halvings of one; a smaller gain ends the search."""


class RatioDraws(NamedTuple):
    """Draws of how rows are distributed over groups of scores.

    Attributes
    ----------
    unlabeled : ndarray of shape (n, n_groups)
        Share of the unlabeled rows in each group.
    ratio : ndarray of shape (n, n_groups)
        Share of the labeled rows there, over that.
    log_weight : ndarray of shape (n,)
        Logarithm of the importance weight of each draw.
    """

    unlabeled: FloatArray
    ratio: FloatArray
    log_weight: FloatArray


@dataclass(frozen=True, eq=False)
class LabelRatio:
    r"""Logistic regression of labeled against unlabeled rows on smooth functions of the rank.

    Attributes
    ----------
    counts : ScoreCounts
        The rows, in groups of neighboring scores from high to low.
    n_dependent : float
        How many rows that depend on each other are worth one: 1 if rows are independent.

    Notes
    -----
    With :math:`n_i = L_i + U_i` rows in group i and the basis :math:`x_i`, the labeled are a share

    .. math:: q_i = \operatorname{expit}(x_i^\top \theta + \log(n_L / n_U))

    of them, and :math:`r_i \propto q_i / (1 - q_i)`. The distribution of all rows over the groups
    and the coefficients are independent in the posterior (Prentice and Pyke, 1979). A draw thus
    takes :math:`n'_i` from a gamma distribution with mean :math:`n_i` (or rows that were
    resampled), :math:`\theta` from a t distribution at the mode, with an importance weight, and has

    .. math:: f_L(i) \propto n'_i q_i, \qquad f_U(i) \propto n'_i (1 - q_i).

    A group without unlabeled rows has a share of them all the same, and both shares vary as much as
    the rows of their own side let them.

    References
    ----------
    .. [1] R. L. Prentice, R. Pyke, "Logistic disease incidence models and case-control studies",
       Biometrika 66(3), 403-411, 1979.
    .. [2] J. Qin, B. Zhang, "A goodness-of-fit test for logistic regression models based on
       case-control data", Biometrika 84(3), 609-618, 1997.
    """

    counts: ScoreCounts
    n_dependent: float = 1.0
    _kept: dict[int, RatioDraws] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def units(self) -> tuple[float, float]:
        """Weights of a labeled and of an unlabeled row by which totals are effective sizes."""
        sizes = effective_sizes(self.counts)
        totals = self.counts.n_labeled, self.counts.n_unlabeled
        labeled, unlabeled = (
            size / total / self.n_dependent for size, total in zip(sizes, totals, strict=True)
        )
        return labeled, unlabeled

    @cached_property
    def _sides(self) -> tuple[FloatArray, FloatArray]:
        labeled, unlabeled = self.units
        sides = labeled * self.counts.labeled, unlabeled * self.counts.unlabeled
        return np.asarray(sides[0], np.float64), np.asarray(sides[1], np.float64)

    @cached_property
    def rank(self) -> FloatArray:
        """Share of the unlabeled above the middle of each group."""
        share = self.counts.unlabeled / self.counts.n_unlabeled
        return np.asarray(np.cumsum(share) - share / 2)

    @cached_property
    def normal_score(self) -> FloatArray:
        """The rank as a normal score: high for high scores."""
        return np.asarray(-ndtri(self.rank.clip(1e-6, 1 - 1e-6)).clip(-FARTHEST, FARTHEST))

    @cached_property
    def basis(self) -> FloatArray:
        """Smooth functions of the rank, a column each."""
        z = self.normal_score
        bumps = np.exp(-(((z[:, None] - CENTERS) / WIDTH) ** 2) / 2)
        return np.column_stack((np.ones_like(z), self.rank - 0.5, z, z**2 / 2, bumps))

    @cached_property
    def _precision(self) -> FloatArray:
        """Prior precision of the coefficients."""
        spread = np.array([LEVEL, SLOPE, SLOPE, CURVATURE, *np.full(CENTERS.size, BUMP)])
        return np.diag(spread**-2)

    @property
    def _log_odds_of_all(self) -> float:
        labeled, unlabeled = self._sides
        return float(np.log(labeled.sum() / unlabeled.sum()))

    def _labeled_share(self, coefficients: FloatArray) -> FloatArray:
        """Share of the labeled among all rows of each group."""
        return np.asarray(expit(coefficients @ self.basis.T + self._log_odds_of_all))

    def _log_posterior(self, coefficients: FloatArray) -> FloatArray:
        """Return it up to a constant, for one set of coefficients or many."""
        labeled, unlabeled = self._sides
        odds = coefficients @ self.basis.T + self._log_odds_of_all
        likelihood = odds @ labeled - np.logaddexp(0, odds) @ (labeled + unlabeled)
        return np.asarray(
            likelihood - ((coefficients @ self._precision) * coefficients).sum(-1) / 2
        )

    def log_likelihood(self, ratio: FloatArray) -> FloatArray:
        """Return it for ratios by group, up to a constant."""
        labeled, unlabeled = self._sides
        odds = np.log(np.maximum(ratio, 1e-12)) + self._log_odds_of_all
        return np.asarray(odds @ labeled - np.logaddexp(0, odds) @ (labeled + unlabeled))

    @cached_property
    def _fit(self) -> tuple[FloatArray, FloatArray]:
        """Return the mode of the coefficients, and a root of their covariance there."""
        labeled, unlabeled = self._sides
        rows, basis, precision = labeled + unlabeled, self.basis, self._precision

        def curvature(share: FloatArray) -> FloatArray:
            return np.asarray((basis.T * (rows * share * (1 - share))) @ basis + precision)

        mode = np.zeros(basis.shape[1])
        value = float(self._log_posterior(mode))
        for _ in range(_STEPS):
            share = self._labeled_share(mode)
            slope = basis.T @ (labeled - rows * share) - precision @ mode
            step = np.linalg.solve(curvature(share), slope)
            for _ in range(_HALVINGS):
                if (new := float(self._log_posterior(mode + step))) >= value:
                    break
                step /= 2
            else:
                break
            mode, gain, value = mode + step, new - value, new
            if gain < _CLOSE:
                break
        # A root of the inverse from one of the curvature, which many rows make very large.
        root = np.linalg.cholesky(curvature(self._labeled_share(mode)))
        return mode, np.linalg.inv(root).T

    @cached_property
    def at_mode(self) -> tuple[FloatArray, FloatArray]:
        """The share of the unlabeled in each group, and the ratio there, at the mode."""
        rows = np.add(*self._sides)
        share, ratio = _shares(rows[None], self._labeled_share(self._fit[0])[None])
        return share[0], ratio[0]

    def drawn(self, n: int) -> RatioDraws:
        """Return n draws, the same each time; whatever is known, it meets the same ones."""
        if n not in self._kept:
            self._kept[n] = self.draw(n, np.random.default_rng(SEED))
        return self._kept[n]

    def draw(
        self,
        n: int,
        rng: np.random.Generator,
        resampled: tuple[CountArray, CountArray] | None = None,
    ) -> RatioDraws:
        """Draw the shares of the unlabeled and the ratios, a row each.

        ``resampled`` are labeled and unlabeled rows by draw and group, where rows depend on each
        other.
        """
        mode, root = self._fit
        steps = rng.standard_normal((n, mode.size))
        steps /= np.sqrt(rng.chisquare(TAILS, n) / TAILS)[:, None]
        coefficients = mode + steps @ root.T
        far = (steps**2).sum(axis=1)
        proposed = -(TAILS + mode.size) / 2 * np.log1p(far / TAILS)
        if resampled is None:
            rows = rng.standard_gamma(np.add(*self._sides), (n, self.rank.size))
        else:
            labeled, unlabeled = self.units
            rows = labeled * resampled[0] + unlabeled * resampled[1]
        share, ratio = _shares(rows, self._labeled_share(coefficients))
        return RatioDraws(share, ratio, self._log_posterior(coefficients) - proposed)


def _shares(rows: FloatArray, labeled_share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the shares of the unlabeled, and the ratio, from all rows and the labeled of them."""
    labeled, unlabeled = rows * labeled_share, rows * (1 - labeled_share)
    share = unlabeled / unlabeled.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = labeled / labeled.sum(axis=1, keepdims=True) / share
    return share, np.nan_to_num(ratio, nan=0.0, posinf=0.0)
