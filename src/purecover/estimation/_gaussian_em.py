"""Expectation and maximization for two normal densities that two samples share.

Runs from several starts, or on several replicates, go side by side along the first axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from purecover._typing import FloatArray, IntArray

_EMPTY = 1e-9
"""A component with a smaller share of all examples keeps its place and its shape."""


class Mixtures(NamedTuple):
    """Parameters of several runs.

    Attributes
    ----------
    alpha, beta : ndarray of shape (n_runs,)
        Shares of the first component among the unlabeled and among the labeled.
    means : ndarray of shape (n_runs, 2, n_features)
        Of the first and of the second component.
    covariances : ndarray of shape (n_runs, 2, n_features, n_features)
        Likewise.
    """

    alpha: FloatArray
    beta: FloatArray
    means: FloatArray
    covariances: FloatArray

    def only(self, runs: IntArray) -> Mixtures:
        """Some of the runs, by their places."""
        return Mixtures(*(field[runs] for field in self))

    def ordered(self) -> Mixtures:
        """The first component made the one with the larger share among the labeled."""
        swap = self.beta < self.alpha
        return Mixtures(
            np.where(swap, 1 - self.alpha, self.alpha),
            np.where(swap, 1 - self.beta, self.beta),
            np.where(swap[:, None, None], self.means[:, ::-1], self.means),
            np.where(swap[:, None, None, None], self.covariances[:, ::-1], self.covariances),
        )


class Tally(NamedTuple):
    """How often each point was seen, of shape (n,) or (n_runs, n)."""

    labeled: FloatArray
    unlabeled: FloatArray

    def only(self, runs: IntArray) -> Tally:
        """That of some of the runs, by their places."""
        return Tally(*(side if side.ndim == 1 else side[runs] for side in self))


class GaussianEM:
    """The two steps of the algorithm, for given points.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
        Where examples were seen.
    diagonal : bool, default=False
        Whether to take covariances between features as 0.
    ridge : float, default=0
        What is added to each variance, so that no covariance matrix is singular.
    """

    def __init__(self, points: FloatArray, *, diagonal: bool = False, ridge: float = 0.0) -> None:
        p = points.shape[1]
        self.ridge = ridge
        self.pairs = (np.arange(p), np.arange(p)) if diagonal else np.triu_indices(p)
        products = points[:, self.pairs[0]] * points[:, self.pairs[1]]
        # A log-density is a combination of these columns and moments are sums over them, so
        # that either step is one matrix product.
        self.design = np.column_stack((np.ones(len(points)), points, products))
        self.n_features = p

    def log_densities(self, mixtures: Mixtures) -> FloatArray:
        """Of each component at each point, of shape (n_runs, 2, n)."""
        means, p = mixtures.means, self.n_features
        precision = np.linalg.inv(mixtures.covariances)
        linear = np.einsum("rcij,rcj->rci", precision, means)
        _, log_determinant = np.linalg.slogdet(mixtures.covariances)
        constant = np.einsum("rci,rci->rc", linear, means) + log_determinant
        constant = -(constant + p * np.log(2 * np.pi)) / 2
        rows, columns = self.pairs
        # Each pair of different features stands for two entries of the matrix.
        quadratic = precision[..., rows, columns] * np.where(rows == columns, -0.5, -1.0)
        combined = np.concatenate((constant[..., None], linear, quadratic), axis=-1)
        return np.asarray(combined @ self.design.T)

    def log_likelihood(self, mixtures: Mixtures, tally: Tally) -> FloatArray:
        """Of each run."""
        log_densities = self.log_densities(mixtures)
        total = np.zeros(len(mixtures.alpha))
        for share, seen in ((mixtures.beta, tally.labeled), (mixtures.alpha, tally.unlabeled)):
            with np.errstate(divide="ignore"):  # a share of 0 is the logarithm -inf
                logs = np.log(np.stack((share, 1 - share), axis=1))
            both = np.logaddexp.reduce(log_densities + logs[..., None], axis=1)
            total += np.einsum("...n,rn->r" if seen.ndim == 1 else "rn,rn->r", seen, both)
        return total

    def step(self, mixtures: Mixtures, tally: Tally) -> Mixtures:
        """One round; a share of exactly 0 or 1 remains."""
        log_densities = self.log_densities(mixtures)
        odds = log_densities[:, 0] - log_densities[:, 1]
        among_labeled = expit(odds + logit(mixtures.beta)[:, None])
        among_unlabeled = expit(odds + logit(mixtures.alpha)[:, None])
        return self.maximized(among_labeled, among_unlabeled, tally, mixtures)

    def maximized(
        self,
        among_labeled: FloatArray,
        among_unlabeled: FloatArray,
        tally: Tally,
        before: Mixtures | None = None,
    ) -> Mixtures:
        """Parameters from the probabilities that points belong to the first component.

        Parameters
        ----------
        among_labeled, among_unlabeled : ndarray of shape (n_runs, n)
            The probabilities, for a labeled and for an unlabeled example at each point.
        tally : Tally
            How often each point was seen.
        before : Mixtures, optional
            What components that have become empty keep.
        """
        p = self.n_features
        first = among_labeled * tally.labeled, among_unlabeled * tally.unlabeled
        both = tally.labeled + tally.unlabeled
        ours = first[0] + first[1]
        weights = np.stack((ours, np.maximum(both - ours, 0)), axis=1)
        moments = weights @ self.design
        mass = moments[..., :1]
        filled = mass[..., 0] > _EMPTY * both.sum(axis=-1)[..., None]
        moments = moments / np.where(mass > 0, mass, 1)
        means = moments[..., 1 : p + 1]
        rows, columns = self.pairs
        covariances = np.zeros((*means.shape, p))
        spread = moments[..., p + 1 :] - means[..., rows] * means[..., columns]
        covariances[..., rows, columns] = covariances[..., columns, rows] = spread
        variances = np.maximum(np.einsum("rcii->rci", covariances), 0) + self.ridge
        np.einsum("rcii->rci", covariances)[...] = variances
        if before is not None:
            means = np.where(filled[..., None], means, before.means)
            covariances = np.where(filled[..., None, None], covariances, before.covariances)
        shares = (
            np.clip(part.sum(axis=-1) / seen.sum(axis=-1), 0.0, 1.0)
            for part, seen in zip(first, tally, strict=True)
        )
        beta, alpha = shares
        return Mixtures(alpha, beta, means, covariances)

    def run(self, mixtures: Mixtures, tally: Tally, *, max_iter: int, tol: float) -> Mixtures:
        """Rounds until no share moves by more than ``tol``, or so many."""
        found = Mixtures(*(field.copy() for field in mixtures))
        active = np.arange(len(found.alpha))
        for _ in range(max_iter):
            old = found.only(active)
            new = self.step(old, tally.only(active))
            for whole, part in zip(found, new, strict=True):
                whole[active] = part
            moved = np.maximum(abs(new.alpha - old.alpha), abs(new.beta - old.beta))
            active = active[moved > tol]
            if not active.size:
                break
        return found
