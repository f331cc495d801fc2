"""`LabelCurve`, the default: floor and ceiling of the share of labeled along the ranking."""

from __future__ import annotations

import weakref
import zlib
from typing import Any, ClassVar, Literal

import numpy as np

from purecover._typing import CountArray, FloatArray
from purecover._validation import check_choice
from purecover.counts import ScoreCounts
from purecover.estimation._base import Inclusions, PriorEstimator
from purecover.estimation._clean import CLEAN_RULES
from purecover.estimation._curve_posterior import (
    Candidate,
    Posterior,
    candidates,
    dispersion,
    posterior,
)
from purecover.estimation._rank_bins import RankBins
from purecover.estimation._registry import register_prior_estimator

__all__ = ["LabelCurve"]

CLEAN_PRIOR = 0.6
"""Prior probability that labels are clean."""

WIDE = 0.5
"""If alpha or delta can be anywhere in an interval as wide, the scores do not tell them."""

_LEVEL = 0.95
_MOST_AGAIN = 3
_LEAST_AGAIN = 0.02
"""Replicates go on with so many kinds of shape at most, each with that probability at least."""

_ROWS = 64
"""Replicates treated at a time: what they need then fits into the cache."""


@register_prior_estimator("label-curve")
class LabelCurve(PriorEstimator):
    r"""Posterior mean of alpha and beta from the share of labeled along the ranking.

    Among examples of one rank the share of labeled rises along the ranking from a floor, where
    all are negative, to a ceiling, where all are positive. Floor and ceiling tell alpha and
    beta. They are inferred from a flexible S-curve, which also says what the curve does beyond
    the best and the worst scores there are. Only the order of the scores matters.

    Parameters
    ----------
    clean : {"test", "never", "always"}, default="test"
        Whether labels may be clean, which is beta = 1 exactly: the data decide how likely it
        is, and the estimate is the average over both cases; never; or always.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The intervals are quantiles of the posterior. The
        diagnostics hold ``"clean_probability"``, the probability of each kind of shape
        (``"smooth"``, ``"steep"``, ``"pure"``), and ``"alpha_interval"``, ``"beta_interval"``
        and ``"delta_interval"`` at 95 %.

    See Also
    --------
    AlphaMaxN : The estimator of the paper.
    NoisyLabels : Any other estimator, run both ways.

    Notes
    -----
    With the share :math:`c` of labeled examples and :math:`u` the rank of an example among all,

    .. math::

        P(\text{labeled} \mid u) = B + (A-B)\,\sigma(t + e^s z(u)), \quad
        A = \frac{c}{c+(1-c)a}, \quad B = \frac{cb}{cb+1-c},

    where :math:`\sigma` is the chance of being positive, :math:`z` a transform of the rank with
    a parameter for each tail, and :math:`a = \alpha/\beta`, :math:`b = (1-\beta)/(1-\alpha)`.
    Psychometric functions have the same form, with a guess rate and a lapse rate. Three kinds
    of shape are weighed by their evidence: smooth ones, as two normals or logistics make; steep
    ones; and any between two ends that are pure outright. The prior density of (a, b) is
    proportional to :math:`\beta-\alpha`, so that scores which tell nothing do not end up at
    :math:`\alpha = \beta`. The shape is integrated by Laplace's method, a and b on a grid.

    The estimate assumes that the best scores are positives and the worst are negatives, or
    that the curve shows where it is heading. If negatives are among the positives at the very
    top, as many as they may be, alpha comes out too large, as with every estimator that has
    only scores to go by.

    References
    ----------
    Lancaster & Imbens (1996), "Case-control studies with contaminated controls", Journal of
    Econometrics, for the model with a logistic curve of known form.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.binormal(separation=2.5)
    >>> sample = world.sample(1000, 5000, alpha=0.3, beta=0.9, random_state=0)
    >>> estimator = pu.LabelCurve().fit(sample.scores, sample.labeled)
    >>> 0.3 in estimator.interval_["alpha"], 0.9 in estimator.interval_["beta"]
    (True, True)
    """

    noisy: ClassVar[bool] = True
    reference: ClassVar[str] = "purecover"
    interval_method: ClassVar[str] = "posterior"

    def __init__(self, *, clean: Literal["test", "never", "always"] = "test") -> None:
        self.clean = clean

    @property
    def estimates_beta(self) -> bool:
        """Whether beta can come out below 1."""
        return self.clean != "always"

    def _check_params(self) -> None:
        check_choice(type(self).__name__, "clean", self.clean, CLEAN_RULES)

    @property
    def _clean_prior(self) -> float:
        return {"test": CLEAN_PRIOR, "never": 0.0, "always": 1.0}[self.clean]

    # -- the data -----------------------------------------------------------------------

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        found, _, _ = self._solve(counts)
        alpha, beta = found.mean[0]
        ends = posterior_ends(found, _LEVEL)
        identifiable = all(high - low <= WIDE for low, high in (ends["alpha"], ends["delta"]))
        notes = []
        if not identifiable:
            low, high = ends["alpha"]
            notes.append(
                "the scores hardly tell alpha and beta, since positives and negatives overlap "
                f"throughout or examples are few: alpha may be anything from {low:.2f} to "
                f"{high:.2f}"
            )
        clean = float(found.clean[0])
        if self.clean == "test" and clean > 0.5:
            notes.append(f"labels are clean with probability {clean:.2f}")
        details: dict[str, Any] = {
            "identifiable": identifiable,
            "clean_probability": clean,
            **{kind: float(weight[0]) for kind, weight in found.kinds.items()},
            **{f"{key}_interval": pair for key, pair in ends.items()},
        }
        return Inclusions(
            float(alpha / beta), float((1 - beta) / (1 - alpha)), tuple(notes), details
        )

    def _solve(self, counts: ScoreCounts) -> tuple[Posterior, RankBins, list[Candidate]]:
        # Replicates come in parts, and each part asks for the solution of the data again.
        known = getattr(self, "_solved", None)
        if known is None or known[0]() is not counts or known[1] != self.clean:
            known = (weakref.ref(counts), self.clean, self._solve_anew(counts))
            self._solved = known
        solution: tuple[Posterior, RankBins, list[Candidate]] = known[2]
        return solution

    def _solve_anew(self, counts: ScoreCounts) -> tuple[Posterior, RankBins, list[Candidate]]:
        bins = RankBins.from_counts(counts)
        kept = candidates(bins, clean_prior=self._clean_prior)
        bins = bins.tempered(dispersion(bins, kept[0]))
        found, ahead = posterior(
            bins, bins.labeled[None], bins.total[None], kept, clean_prior=self._clean_prior
        )
        return found, bins, ahead

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_solved", None)  # quickly made again
        return state

    # -- replicates ---------------------------------------------------------------------

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        alpha, beta = self._means(counts, labeled, unlabeled)[0].T
        return np.column_stack((alpha / beta, (1 - beta) / (1 - alpha)))

    def _means(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> tuple[FloatArray, Posterior]:
        """Posterior means of replicates, and the posterior of the data."""
        found, bins, ahead = self._solve(counts)
        few, everyone = bins.tally(labeled, unlabeled)
        again = _worth_repeating(found, ahead)
        means = [
            posterior(
                bins,
                few[i : i + _ROWS],
                everyone[i : i + _ROWS],
                again,
                clean_prior=self._clean_prior,
                n_nodes=5,
                n_steps=6,
            )[0].mean
            for i in range(0, len(few), _ROWS)
        ]
        return np.concatenate(means), found

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Alpha and beta of replicates, one row each.

        Means of replicates vary less than the posterior says they should, where the prior and
        the choice of a shape hold them in place. What is missing is made up for by draws from
        the posterior, so that intervals of anything computed from the rows are honest about
        what the scores cannot tell.
        """
        means, found = self._means(counts, labeled, unlabeled)
        drawn = _draws(found, len(means), zlib.crc32(np.ascontiguousarray(labeled).tobytes()))
        center = found.mean[0]
        wanted = found.weight[0] @ _squares(found, center)
        present = means.var(axis=0) if len(means) > 1 else np.zeros(2)
        with np.errstate(divide="ignore", invalid="ignore"):
            missing = np.sqrt(np.nan_to_num(1 - present / wanted).clip(0))
        rows = (means + missing * (drawn - center)).clip(0, 1)
        lost = ~(rows[:, 0] < rows[:, 1])
        return np.where(lost[:, None], np.nan, rows)

    def _posterior_ends(self, level: float) -> dict[str, tuple[float, float]]:
        return posterior_ends(self._solve(self._counts)[0], level)


def posterior_ends(found: Posterior, level: float) -> dict[str, tuple[float, float]]:
    """Quantiles of alpha, beta and delta at both ends of an interval."""
    weight = found.weight[0]
    columns = {
        "alpha": found.alpha[0],
        "beta": found.beta[0],
        "delta": found.beta[0] - found.alpha[0],
    }
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    ends = {}
    for key, values in columns.items():
        order = np.argsort(values)
        reached = np.cumsum(weight[order]) - 0.5 * weight[order]
        low, high = np.interp(tails, reached, values[order])
        ends[key] = float(low), float(high)
    return ends


def _draws(found: Posterior, n: int, seed: int) -> FloatArray:
    """Nodes drawn by their weights, spread evenly over the posterior, in random order."""
    rng = np.random.default_rng(seed)
    reached = np.cumsum(found.weight[0])
    places = np.searchsorted(reached, (np.arange(n) + rng.random(n)) / n * reached[-1])
    places = rng.permutation(places.clip(0, reached.size - 1))
    return np.column_stack((found.alpha[0, places], found.beta[0, places]))


def _squares(found: Posterior, center: FloatArray) -> FloatArray:
    return np.column_stack(((found.alpha[0] - center[0]) ** 2, (found.beta[0] - center[1]) ** 2))


def _worth_repeating(found: Posterior, ahead: list[Candidate]) -> list[Candidate]:
    """The kinds of shape that carry the posterior; the rest would cost time and change little."""
    share = found.weight[0].reshape(len(ahead), -1).sum(axis=1)
    order = np.argsort(-share)[:_MOST_AGAIN]
    return [ahead[i] for i in order if share[i] >= _LEAST_AGAIN]
