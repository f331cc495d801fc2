r"""Draws of hidden positives where people chose what to label.

Doctors test whom they suspect, and visitors report what they see: labels then say little about how
many positives are hidden, and where. What such data were like elsewhere says more. Here the share
of positives among the unlabeled rows is a smooth function of the normal score z of their rank,

.. math::

    \operatorname{logit} p(z) = b_0 + b_1 (z - c) + b_2 \frac{(z - c)^2}{2}
        + \sum_j g_j e^{-((z - t_j) / 0.7)^2 / 2},

where c is the mean z of the labeled rows. The prior of the coefficients is learned from real
problems whose labels people gave and whose truth is known (``python -m studies.people --learn``),
and everything else that is known is evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_ndtr, logit, ndtr, ndtri

from purecover._typing import BoolArray, CountArray, FloatArray
from purecover.counts import ScoreCounts
from purecover.posterior.draws import PROPOSED, Posterior, Verdicts, evenly, together
from purecover.posterior.purity import EDGE, adding_up
from purecover.posterior.ratio import FARTHEST, LabelRatio

CENTERS = np.array([-1.5, -0.5, 0.5, 1.5, 2.5])
WIDTH, BUMP = 0.7, 0.5
"""Places, width and prior standard deviation of the bumps, on the scale of normal scores."""

INFLATION = 1.5
"""Factor of the covariance that was learned, for data of kinds that it has not seen.

With a factor of 1, families that are left out contain the AUC of all positives as often as they
should; but if all species are left out, 76 % of them do.
"""

TAILS = 8.0
"""Degrees of freedom of the prior, and of the distribution that draws are proposed from."""

WIDER = 1.3
"""Factor of the covariance of proposals, after verdicts."""

TINY = 1e-12
"""Shares of positives lie at least so far inside (0, 1)."""

_STEPS, _CLOSE = 60, 1e-9
"""Most Newton steps to the mode; a smaller step ends the search."""

_SOLVING = 40
"""Most steps of the search for the level that gives an alpha."""


class PeoplePrior(NamedTuple):
    """Regression and covariance of coefficients, over problems whose labels people gave.

    Attributes
    ----------
    mean : ndarray of shape (4, 3)
        Regression of level, slope and curvature on four covariates of the counts.
    covariance : ndarray of shape (3, 3)
        Covariance around it.
    """

    mean: FloatArray
    covariance: FloatArray


LEARNED = PeoplePrior(
    np.array(
        [
            [-1.576, 0.641, -0.239],
            [0.605, 0.361, -0.025],
            [0.462, 0.012, 0.077],
            [0.484, -0.857, 1.010],
        ]
    ),
    np.array([[1.199, 0.033, -0.029], [0.033, 0.253, 0.078], [-0.029, 0.078, 0.180]]),
)
"""From 15 sources of species, health and labels that grew over time."""


class Basis(NamedTuple):
    """Functions of the rank, a row for each group, and covariates of their coefficients."""

    functions: FloatArray
    covariates: FloatArray

    @classmethod
    def of(cls, counts: ScoreCounts) -> Basis:
        """Return the basis of these groups."""
        labeled, unlabeled = counts.labeled, counts.unlabeled
        rank = (np.cumsum(unlabeled) - unlabeled / 2 + 0.25) / (counts.n_unlabeled + 0.5)
        z = -ndtri(rank)
        center = (labeled * z).sum() / counts.n_labeled
        spread = np.sqrt((labeled * (z - center) ** 2).sum() / counts.n_labeled + 1e-3)
        balance = np.log(counts.n_labeled / counts.n_unlabeled)
        z = z.clip(-FARTHEST, FARTHEST)
        far = z - center
        bumps = np.exp(-(((z[:, None] - CENTERS) / WIDTH) ** 2) / 2)
        return cls(
            np.column_stack((np.ones_like(z), far, far**2 / 2, bumps)),
            np.array([1, center - 1.2, balance + 2.5, spread - 1]),
        )


@dataclass(frozen=True, eq=False)
class Coefficients:
    """A t distribution of the coefficients, with a root of its scale.

    The first coefficient, the level, is the last to be drawn, so that a range of alpha can cut it.
    """

    center: FloatArray
    scale: FloatArray

    @property
    def _root(self) -> FloatArray:
        # Order from the last coefficient to the first: the level depends on all others.
        root = np.linalg.cholesky(self.scale[::-1, ::-1])
        return np.asarray(root[::-1, ::-1])

    def log_density(self, coefficients: FloatArray) -> FloatArray:
        """Return it for rows of coefficients, but for what all t distributions share."""
        far = np.linalg.solve(self._root, (coefficients - self.center).T)
        size = np.log(np.diag(self._root)).sum()
        k = self.center.size
        return np.asarray(-size - (TAILS + k) / 2 * np.log1p((far**2).sum(axis=0) / TAILS))

    def draw(self, rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Draw all but the level, and return mean and standard deviation of the level given them.

        The first column is the mean of the level.
        """
        root = self._root
        steps = rng.standard_normal((n, self.center.size - 1))
        stretch = 1 / np.sqrt(rng.chisquare(TAILS, n) / TAILS)
        drawn = self.center + (stretch[:, None] * steps) @ root[:, 1:].T
        return drawn, drawn[:, 0], stretch * root[0, 0]


def prior_of(basis: Basis, prior: PeoplePrior) -> Coefficients:
    """Return the prior of the coefficients of these groups."""
    n_bumps = CENTERS.size
    scale = np.diag(np.full(3 + n_bumps, BUMP**2))
    scale[:3, :3] = INFLATION * prior.covariance
    return Coefficients(np.append(basis.covariates @ prior.mean, np.zeros(n_bumps)), scale)


def proposal_of(
    prior: Coefficients, functions: FloatArray, rows: CountArray, verdicts: Sequence[Verdicts]
) -> Coefficients:
    r"""Return a t distribution near the posterior, by Fisher scoring to its mode.

    A verdict sees :math:`q = e_0 + (1 - e_0 - e_1) s`, where s is the mean share of positives of
    its groups.
    """
    if not verdicts:
        return prior
    groups = np.array([_mean_of(each.groups, rows) for each in verdicts])
    judged = np.array([each.judged for each in verdicts])
    positive = np.array([each.positive for each in verdicts])
    precision = np.linalg.inv(prior.scale)
    k = prior.center.size

    def log_posterior(at: FloatArray) -> float:
        share = (groups @ expit(functions @ at)).clip(EDGE, 1 - EDGE)
        likely = sum(float(each.log_likelihood(s)) for each, s in zip(verdicts, share, strict=True))
        far = at - prior.center
        return likely - (TAILS + k) / 2 * float(np.log1p(far @ precision @ far / TAILS))

    def slopes(at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return slope and expected curvature of the log likelihood."""
        share = expit(functions @ at)
        mean = groups @ share
        seen = np.array([each.judged_positive(s) for each, s in zip(verdicts, mean, strict=True)])
        seen = seen.clip(EDGE, 1 - EDGE)
        steep = np.array([1 - sum(each.errors) for each in verdicts])
        change = steep[:, None] * (groups @ ((share * (1 - share))[:, None] * functions))
        noise = seen * (1 - seen)
        slope = change.T @ ((positive - judged * seen) / noise)
        return slope, (change.T * (judged / noise)) @ change

    mode = prior.center.copy()
    value = log_posterior(mode)
    for _ in range(_STEPS):
        slope, information = slopes(mode)
        far = mode - prior.center
        # A t distribution pulls the less, the farther it is away.
        pull = (TAILS + k) / (TAILS + far @ precision @ far) * precision
        step = np.linalg.solve(information + pull, slope - pull @ far)
        while (new := log_posterior(mode + step)) < value - 1e-12 and np.abs(step).max() > _CLOSE:
            step /= 2
        mode, value = mode + step, new
        if np.abs(step).max() < _CLOSE:
            break
    return Coefficients(mode, WIDER * np.linalg.inv(slopes(mode)[1] + precision))


def draw_people(
    ratio: LabelRatio,
    n: int,
    rng: np.random.Generator,
    *,
    verdicts: Sequence[Verdicts] = (),
    alpha: tuple[float, float] = (0.0, 1.0),
    beta: tuple[float, float] = (1.0, 1.0),
    resampled: tuple[CountArray, CountArray] | None = None,
    prior: PeoplePrior = LEARNED,
) -> Posterior:
    """Draw from the posterior of the positives of every group, where people gave the labels.

    Parameters
    ----------
    ratio : LabelRatio
        The groups of scores.
    n : int
        How many draws are kept.
    rng : numpy.random.Generator
        Where randomness comes from. Evidence does not change which numbers are drawn.
    verdicts : sequence of Verdicts
        What is known of rows.
    alpha : tuple of float, default=(0, 1)
        Range of alpha; equal ends are its exact value.
    beta : tuple of float, default=(1, 1)
        Range of beta, which is uniform in it before verdicts on labeled rows. Wrong labels are
        taken to have gone to negatives at random.
    resampled : tuple of ndarray, optional
        Rows by draw and group; see :meth:`LabelRatio.draw`. :data:`PROPOSED` times n are drawn.
    prior : PeoplePrior
        What was learned.

    Returns
    -------
    Posterior
        The draws. :attr:`Posterior.chosen` and the rest mean what they mean for labels at random.
    """
    proposed, verdicts = PROPOSED * n, together(verdicts)
    basis = Basis.of(ratio.counts)
    functions, rows = basis.functions, ratio.counts.unlabeled
    before = prior_of(basis, prior)
    after = proposal_of(before, functions, rows, [each for each in verdicts if not each.labeled])

    coefficients, level, spread = after.draw(rng, proposed)
    place = rng.random((2, proposed))
    labeled_share, share = _shares_of_rows(ratio, proposed, rng, resampled)
    odds = coefficients[:, 1:] @ functions[:, 1:].T
    level, log_weight = _level_within(alpha, place[0], level, spread, odds, share)
    coefficients[:, 0] = level
    positive = expit(odds + level[:, None]).clip(TINY, 1 - TINY)
    if after is not before:
        log_weight += before.log_density(coefficients) - after.log_density(coefficients)

    # Wrong labels are like the negatives among the unlabeled.
    right = beta[0] + (beta[1] - beta[0]) * place[1]
    negative = share * (1 - positive)
    false = (1 - right)[:, None] * negative / negative.sum(axis=1, keepdims=True)
    wrong = adding_up(false / np.maximum(labeled_share, 1e-300), 1 - right[:, None], labeled_share)

    for each in verdicts:
        sides = (1 - wrong, ratio.counts.labeled) if each.labeled else (positive, rows)
        seen = sides[0] @ _mean_of(each.groups, sides[1])
        log_weight += each.log_likelihood(seen.clip(EDGE, 1 - EDGE))
    most = log_weight.max()
    weight = np.exp(log_weight - most)
    kept = evenly(weight, n, first=0.25)
    labels = (labeled_share * (1 - wrong))[kept]
    return Posterior(
        ratio=ratio,
        unlabeled=share[kept],
        positive=positive[kept],
        like_labeled=positive[kept],
        wrong=wrong[kept],
        shares=np.column_stack(((share * positive).sum(axis=1), right))[kept],
        spread=np.zeros(n),
        chosen=kept,
        n_effective=float(weight.sum() ** 2 / (weight**2).sum()),
        log_evidence=float(most + np.log(weight.mean())),
        labels=labels / labels.sum(axis=1, keepdims=True),
    )


def _mean_of(groups: slice, rows: CountArray) -> FloatArray:
    """Weights of a mean over the rows of these groups."""
    weight = np.zeros(rows.size)
    weight[groups] = rows[groups]
    if not weight.any():
        weight[groups] = 1.0
    return np.asarray(weight / weight.sum())


def _shares_of_rows(
    ratio: LabelRatio,
    n: int,
    rng: np.random.Generator,
    resampled: tuple[CountArray, CountArray] | None,
) -> tuple[FloatArray, FloatArray]:
    """Draw the shares of the labeled and of the unlabeled rows in each group."""
    sides = ratio.counts.labeled, ratio.counts.unlabeled
    if resampled is None:
        drawn = [
            rng.standard_gamma(unit * rows, (n, rows.size))
            for unit, rows in zip(ratio.units, sides, strict=True)
        ]
    else:
        drawn = [np.asarray(rows, dtype=np.float64) for rows in resampled]
    labeled, unlabeled = (rows / rows.sum(axis=1, keepdims=True) for rows in drawn)
    return labeled, unlabeled


def _level_within(
    alpha: tuple[float, float],
    place: FloatArray,
    mean: FloatArray,
    spread: FloatArray,
    odds: FloatArray,
    share: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    r"""Draw levels that keep alpha in its range, and their log weights.

    The level is normal given the other coefficients, and alpha grows with it. So a range of alpha
    cuts the distribution, and its probability is the weight. An exact alpha gives the level, with
    the weight

    .. math:: \varphi\Big(\frac{b_0 - m}{s}\Big) \Big/ s \frac{d\alpha}{d b_0},

    which is what narrow ranges tend to.
    """
    low, high = alpha
    if low == high:
        level = _level_of(low, odds, share)
        chance = expit(odds + level[:, None])
        steep = (share * chance * (1 - chance)).sum(axis=1)
        far = (level - mean) / spread
        return level, -(far**2) / 2 - np.log(np.sqrt(2 * np.pi) * spread * steep)
    ends = [
        np.full(mean.size, np.inf if end else -np.inf)
        if end in (0, 1)
        else (_level_of(end, odds, share) - mean) / spread
        for end in alpha
    ]
    # A range in the upper tail is turned into the lower one, where no digits are lost.
    above = ends[0] > 0
    below, top = np.where(above, -ends[1], ends[0]), np.where(above, -ends[0], ends[1])
    place = np.where(above, 1 - place, place)
    low_chance, high_chance = ndtr(below), ndtr(top)
    chance = high_chance - low_chance
    far = ndtri((low_chance + place * chance).clip(1e-300, 1 - 1e-16))
    far = np.where(above, -far, far).clip(*ends)
    log_weight = np.where(chance > 0, np.log(np.maximum(chance, 1e-300)), log_ndtr(top))
    return mean + spread * far, log_weight


def _level_of(alpha: float, odds: FloatArray, share: FloatArray) -> FloatArray:
    """Return the level that gives this alpha: Newton's steps on the scale of log odds.

    A step that leaves where the solution must be is replaced by one to the middle of it.
    """
    target = logit(alpha)
    # Alpha is between the smallest and the largest share of a group.
    some = share > 0
    low = target - np.where(some, odds, -np.inf).max(axis=1)
    high = target - np.where(some, odds, np.inf).min(axis=1)
    level = np.clip(target - (share * odds).sum(axis=1), low, high)
    for _ in range(_SOLVING):
        chance = expit(odds + level[:, None])
        found = (share * chance).sum(axis=1).clip(1e-300, 1 - 1e-16)
        miss = logit(found) - target
        low, high = np.where(miss < 0, level, low), np.where(miss > 0, level, high)
        if np.abs(miss).max() < 1e-12:
            break
        steep = (share * chance * (1 - chance)).sum(axis=1) / (found * (1 - found))
        new = level - miss / np.maximum(steep, 1e-12)
        inside: BoolArray = (new >= low) & (new <= high)
        level = np.where(inside, new, (low + high) / 2)
    return np.asarray(level)
