"""How likely what the judges found makes each alpha."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purecover._typing import FloatArray
from purecover.audit._plan_finite import between
from purecover.audit._posterior import nearly_beta_binomial

_GRID = 600
_FEW = 2000


@dataclass(frozen=True)
class Evidence:
    """k of n positive, of N examples or of a population; neither k nor n need be whole."""

    n_positive: float
    n_audited: float
    n_unlabeled: int | None = None
    prior: tuple[float, float] = (1.0, 1.0)

    def quantiles(self) -> FloatArray:
        """Values of alpha that are close together where the audit places it."""
        from scipy.special import betaincinv, ndtr

        k, n = self.n_positive, self.n_audited
        a, b = (each - 0.5 for each in self.prior)
        tails = ndtr(np.linspace(-6, 6, _GRID))
        if self.n_unlabeled is None:
            return np.asarray(betaincinv(a + k, b + n - k, tails))
        rest = max(self.n_unlabeled - n, 1.0)
        low, _ = nearly_beta_binomial(rest, a + k, b + n - k, tails)
        return np.asarray(np.append(k + low, k) / self.n_unlabeled).clip(0, 1)

    def possible(self, alpha: FloatArray) -> FloatArray:
        """Those alphas that N examples can have; few are taken one by one."""
        if self.n_unlabeled is None:
            return np.unique(alpha)
        size = self.n_unlabeled
        if size <= _FEW:
            return np.arange(size + 1) / size
        return np.asarray(np.unique(np.rint(alpha * size)) / size)

    def log_likelihood(self, alpha: FloatArray) -> FloatArray:
        """Logarithm of the likelihood, up to a constant."""
        from scipy.special import gammaln, xlog1py, xlogy

        k, n = self.n_positive, self.n_audited
        a, b = self.prior
        if self.n_unlabeled is None:
            return np.asarray(xlogy(k + a - 1, alpha) + xlog1py(n - k + b - 1, -alpha))
        positives = np.rint(alpha * self.n_unlabeled)
        negatives = self.n_unlabeled - positives
        # Among the examples that nobody judged; a prior changes how many ways there are.
        hidden = positives - k, negatives - (n - k)
        possible = (hidden[0] > -0.5) & (hidden[1] > -0.5)
        ways = gammaln(positives + a) + gammaln(negatives + b)
        log = ways - sum(gammaln(np.maximum(each, 0.0) + 1) for each in hidden)
        return np.where(possible, log, -np.inf)

    def tail(self, alpha: FloatArray, weight: FloatArray) -> float:
        """Probability of a number of positives at least as extreme, on both sides."""
        from scipy.special import betainc

        k, n = round(self.n_positive), max(round(self.n_audited), 1)
        k = min(k, n)
        if self.n_unlabeled is not None:
            n = min(n, self.n_unlabeled)
            positives = np.rint(alpha * self.n_unlabeled).astype(np.int64)
            judged, found = np.full_like(positives, n), np.full_like(positives, min(k, n))
            none = np.zeros_like(positives)
            at_most = between(none, found, judged, self.n_unlabeled, positives)
            at_least = between(found, judged, judged, self.n_unlabeled, positives)
        else:
            # Of at most k, and of at least k, successes in n trials.
            at_most = betainc(n - k, k + 1, 1 - alpha) if k < n else np.ones_like(alpha)
            at_least = betainc(k, n - k + 1, alpha) if k > 0 else np.ones_like(alpha)
        return min(1.0, 2 * float(weight @ at_most), 2 * float(weight @ at_least))
