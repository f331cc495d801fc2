"""C-PS: where the rest of the unlabeled sample stops being a distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from purecover._parameters import checked
from purecover._typing import FloatArray
from purecover._validation import check_integer
from purecover.counts import ScoreCounts
from purecover.estimators.base import Inclusions, PriorEstimator, register_prior_estimator


@register_prior_estimator("patra-sen")
@dataclass(kw_only=True, eq=False, repr=False)
class PatraSen(PriorEstimator):
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

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        shares = np.arange(1, self.n_grid + 1) / self.n_grid
        distances = self._distances(counts.thinned(self.max_thresholds), shares)
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
        return Inclusions(a, notes=tuple(notes), details=details)

    @staticmethod
    def _distances(counts: ScoreCounts, shares: FloatArray) -> FloatArray:
        """The distance at each share of negatives."""
        from scipy.optimize import isotonic_regression

        f_labeled = np.cumsum(counts.labeled[::-1]) / counts.n_labeled
        mass = counts.unlabeled[::-1] / counts.n_unlabeled
        f_unlabeled = np.cumsum(mass)
        seen = mass > 0  # the integral is over unlabeled scores
        f_labeled, f_unlabeled, mass = f_labeled[seen], f_unlabeled[seen], mass[seen]
        found = np.empty(shares.size)
        for i, share in enumerate(shares):
            # All of it times the share, so that a small one divides nothing.
            rest = f_unlabeled - (1 - share) * f_labeled
            proper = np.clip(isotonic_regression(rest, weights=mass).x, 0.0, share)
            found[i] = np.sqrt(np.dot(mass, np.square(rest - proper)))
        # Rounding errors are no bend.
        found[found < 1e-9] = 0.0
        return found
