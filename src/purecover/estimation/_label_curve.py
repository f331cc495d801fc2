"""`LabelCurve`, the default: floor and ceiling of the share of labeled along the ranking."""

from __future__ import annotations

import weakref
import zlib
from typing import Any, ClassVar, Literal

import numpy as np

from purecover._typing import CountArray, FloatArray, IntArray
from purecover._validation import check_choice
from purecover.counts import ScoreCounts
from purecover.estimation._base import Inclusions, PriorEstimator
from purecover.estimation._curve_cells import Posterior
from purecover.estimation._curve_posterior import (
    WEIGHTS,
    Candidate,
    candidates,
    dispersion,
    posterior,
)
from purecover.estimation._rank_bins import RankBins
from purecover.estimation._registry import register_prior_estimator

__all__ = ["LabelCurve"]

CLEAN_PRIORS = {"weigh": 0.6, "never": 0.0, "always": 1.0}
"""Prior probability that labels are clean."""

WIDE = 0.5
"""If alpha or delta can be anywhere in an interval as wide, the scores do not tell them."""

_FEWEST_BINS = 6
"""The curve has as many parameters."""

_SMALLEST_DELTA = 0.02
"""If delta may be smaller, labeled and unlabeled may be the same."""

_LEVEL = 0.95
_MOST_AGAIN = 3
_LEAST_AGAIN = 0.02
"""Replicates go on with so many kinds of shape at most, each with that probability at least."""

_HANDFUL = 5
_ENOUGH_ROWS = 20
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
    clean : {"weigh", "never", "always"}, default="weigh"
        Whether labels may be clean, which is beta = 1 exactly: the data decide how likely it
        is, and the estimate is the average over both cases; never; or always. Other estimators
        test it instead and take one case for granted.

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

    def __init__(self, *, clean: Literal["weigh", "never", "always"] = "weigh") -> None:
        self.clean = clean

    @property
    def estimates_beta(self) -> bool:
        """Whether beta can come out below 1."""
        return self.clean != "always"

    def _check_params(self) -> None:
        check_choice(type(self).__name__, "clean", self.clean, CLEAN_PRIORS)

    @property
    def _clean_prior(self) -> float:
        return CLEAN_PRIORS[self.clean]

    # -- the data -----------------------------------------------------------------------

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        found, bins, _ = self._solve(counts)
        alpha, beta = found.mean[0]
        ends = _told(found.ends(_LEVEL), counts)
        widest = max(high - low for low, high in (ends["alpha"], ends["delta"]))
        enough = bins.total.size >= _FEWEST_BINS and ends["delta"][0] > _SMALLEST_DELTA
        identifiable = widest <= WIDE and enough
        notes = []
        if not identifiable:
            (low, high), (lower, higher) = ends["alpha"], ends["beta"]
            notes.append(
                "the scores hardly tell alpha and beta, since positives and negatives overlap "
                "throughout or there are few examples or few different scores: alpha may be "
                f"anything from {low:.2f} to {high:.2f}, and beta from {lower:.2f} to {higher:.2f}"
            )
        clean = float(found.clean_probability[0])
        if self.clean == "weigh" and clean > 0.5:
            notes.append(f"labels are clean with probability {clean:.2f}")
        details: dict[str, Any] = {
            "identifiable": identifiable,
            "clean_probability": clean,
            **{kind: float(found.kind_probability(kind)[0]) for kind in WEIGHTS},
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
        parts, _ = self._repeated(counts, labeled, unlabeled)
        alpha, beta = np.concatenate([part.mean for part in parts]).T
        return np.column_stack((alpha / beta, (1 - beta) / (1 - alpha)))

    def _repeated(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> tuple[list[Posterior], Posterior]:
        """Posteriors of replicates, some at a time, and that of the data."""
        found, bins, ahead = self._solve(counts)
        few, everyone = bins.tally(labeled, unlabeled)
        again = _worth_repeating(found, ahead)
        parts = [
            posterior(
                bins,
                few[i : i + _ROWS],
                everyone[i : i + _ROWS],
                again,
                clean_prior=self._clean_prior,
                # Few bins leave the shape open, and a coarse grid would show.
                n_nodes=5 if bins.total.size > 3 * _FEWEST_BINS else 9,
                n_steps=6,
            )[0]
            for i in range(0, len(few), _ROWS)
        ]
        return parts, found

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Alpha and beta of replicates, one row each.

        Means of replicates vary less than the posterior says they should, where the prior and
        the choice of a shape hold them in place. What is missing is made up for by draws from
        the posterior, so that intervals of anything computed from the rows are honest about
        what the scores cannot tell. Labels are clean in as many rows as the posterior says.
        """
        parts, found = self._repeated(counts, labeled, unlabeled)
        rng = np.random.default_rng(zlib.crc32(np.ascontiguousarray(labeled).tobytes()))
        places = _drawn(found.weight[0], len(labeled), rng)
        drawn = np.column_stack((found.alpha[0, places], found.beta[0, places]))
        rows = np.empty_like(drawn)
        for clean in (False, True):
            here = found.clean[places] == clean
            if not here.any():
                continue
            means = np.concatenate([_means_where(part, clean) for part in parts])
            center = found.mean_over(found.clean == clean)[0]
            missing = _missing_share(found, center, clean, means)
            rows[here] = means[here] + missing * (drawn[here] - center)
        rows = rows.clip(0, 1)
        lost = ~(rows[:, 0] < rows[:, 1])
        return np.where(lost[:, None], np.nan, rows)

    def _posterior_ends(self, level: float) -> dict[str, tuple[float, float]]:
        ends = _told(self._solve(self._counts)[0].ends(level), self._counts)
        # The estimate came from all scores, not from thinned ones.
        values = {name: getattr(self.proportions_, name) for name in ends}
        return {name: (min(ends[name][0], v), max(ends[name][1], v)) for name, v in values.items()}


def _told(
    ends: dict[str, tuple[float, float]], counts: ScoreCounts
) -> dict[str, tuple[float, float]]:
    """Ends of intervals, where fewer than a handful of examples are not told from none."""
    (alpha_low, alpha_high), (beta_low, beta_high) = ends["alpha"], ends["beta"]
    if alpha_low * counts.n_unlabeled < _HANDFUL:
        alpha_low = 0.0
    if (1 - beta_high) * counts.n_labeled < _HANDFUL:
        beta_high = 1.0
    low, high = ends["delta"]
    if alpha_low == 0 and beta_high == 1:
        high = 1.0 if alpha_high * counts.n_unlabeled < _HANDFUL else high
    return {
        "alpha": (alpha_low, alpha_high),
        "beta": (beta_low, beta_high),
        "delta": (low, high),
    }


def _drawn(weight: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """Cells drawn by their weights, spread evenly over the posterior, in random order."""
    reached = np.cumsum(weight)
    places = np.searchsorted(reached, (np.arange(n) + rng.random(n)) / n * reached[-1])
    drawn: IntArray = rng.permutation(places.clip(0, reached.size - 1))
    return drawn


def _means_where(part: Posterior, clean: bool) -> FloatArray:
    """Means if labels are clean, or if not; overall ones in rows where that is out of question."""
    means = part.mean_over(part.clean == clean)
    return np.where(np.isnan(means), part.mean, means)


def _missing_share(
    found: Posterior, center: FloatArray, clean: bool, means: FloatArray
) -> FloatArray:
    """Which share of its spread the posterior has beyond that of means of replicates."""
    cells = found.clean == clean
    weight = found.weight[0, cells] / found.weight[0, cells].sum()
    away = np.column_stack((found.alpha[0, cells], found.beta[0, cells])) - center
    wanted = weight @ away**2
    # Too few rows do not tell their variance.
    present = means.var(axis=0) if len(means) >= _ENOUGH_ROWS else wanted / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(np.nan_to_num(1 - present / wanted).clip(0))


def _worth_repeating(found: Posterior, ahead: list[Candidate]) -> list[Candidate]:
    """The kinds of shape that carry the posterior; the rest would cost time and change little."""
    share = found.weight[0].reshape(len(ahead), -1).sum(axis=1)
    order = np.argsort(-share)[:_MOST_AGAIN]
    return [ahead[i] for i in order if share[i] >= _LEAST_AGAIN]
