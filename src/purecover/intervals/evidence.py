"""How strong the evidence of a score is: likelihood ratios, and thresholds of named strengths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._codec import Saved
from purecover._inputs import Tabular
from purecover._typing import ArrayLike, FloatArray, IntArray, RandomState, Target
from purecover._validation import Frozen, as_real_vector, bad_value, check_real, public
from purecover.counts import ScoreCounts
from purecover.exceptions import IdentifiabilityError, InvalidInputError
from purecover.intervals.interval import Varied
from purecover.intervals.replicates import Repeating
from purecover.proportions import MixtureProportions, ProportionEstimator
from purecover.recovery.means import Masses, even_bins, isotonic_frequency
from purecover.recovery.rates import check_data, effective_sizes, refuse_contradiction

STRENGTHS = {"supporting": 1, "moderate": 2, "strong": 4, "very strong": 8}
"""Points of each strength: eighths of the exponent of the odds of very strong evidence."""

_LEAST_ODDS = 2.0
"""Of very strong evidence: less, where positives are very common, is no evidence."""


@public
def evidence_constant(prior: float) -> float:
    r"""Compute the odds of very strong evidence from the prior.

    Parameters
    ----------
    prior : float
        Share of positives, strictly between 0 and 1.

    Returns
    -------
    float
        The odds :math:`C`; strong evidence has :math:`C^{1/2}`, moderate :math:`C^{1/4}` and
        supporting :math:`C^{1/8}`.

    Notes
    -----
    One strong and two supporting pieces of evidence make a variant likely pathogenic, with a
    posterior of 0.9: :math:`C^{1/2 + 2/8} \frac{\pi}{1-\pi} = 9` [1]_, hence
    :math:`C = (9\,(1-\pi)/\pi)^{4/3}`. (With posteriors rounded to three digits, as in [2]_, it is
    1,124 instead of 1,131 at a prior of 0.0441.)

    References
    ----------
    .. [1] S. V. Tavtigian et al., "Modeling the ACMG/AMP variant classification guidelines as a
       Bayesian classification framework", Genetics in Medicine 20(9), 1054-1060, 2018.
    .. [2] V. Pejaver et al., "Calibration of computational tools for missense variant pathogenicity
       classification and ClinGen recommendations for PP3/BP4 criteria", American Journal of Human
       Genetics 109(12), 2163-2177, 2022.

    Examples
    --------
    >>> from purecover.intervals import evidence_constant
    >>> round(evidence_constant(0.1))
    350
    """
    prior = check_real("prior", prior, low=0, high=1, closed="neither")
    # Beyond that the constant exceeds what a double can hold.
    return float((9 * (1 - prior) / prior) ** (4 / 3)) if prior > 1e-229 else math.inf


@dataclass(frozen=True, kw_only=True, eq=False)
class EvidenceThresholds(Saved, Frozen, Tabular):
    """Scores from which on evidence has a strength, for positive and for negative.

    Attributes
    ----------
    strengths : tuple of str
        From ``"very strong"`` evidence for negative to ``"very strong"`` for positive.
    points : ndarray of int
        -8, -4, -2 and -1 for negative, 1, 2, 4 and 8 for positive.
    odds : ndarray of float
        The likelihood ratio that the strength asks for.
    posterior : ndarray of float
        The probability of being positive that goes with it.
    thresholds : ndarray of float
        The score at which the likelihood ratio reaches the odds: at least so much is evidence for
        positive, at most so much for negative. NaN where no score does.
    standard_errors : ndarray of float
        Of the thresholds; NaN where a replicate in ten or more does not reach the odds.
    bounds : ndarray of float
        The scores with a one-sided bound: at the confidence level, the likelihood ratio there
        has reached the odds. NaN where the data do not allow it.
    prior, constant : float
        Share of positives, and odds of very strong evidence.
    n_labeled, n_unlabeled : float
        Examples, or total weights.
    scores, likelihood_ratio : ndarray of float
        The local likelihood ratio of positive to negative along the scores, non-decreasing.
    confidence_level : float
        Of the bounds.
    varied : str
        What bounds take as uncertain; see :class:`Interval`.
    """

    strengths: tuple[str, ...]
    points: IntArray
    odds: FloatArray
    posterior: FloatArray
    thresholds: FloatArray
    standard_errors: FloatArray
    bounds: FloatArray
    prior: float
    constant: float
    n_labeled: float
    n_unlabeled: float
    scores: FloatArray
    likelihood_ratio: FloatArray
    confidence_level: float
    varied: Varied

    @public
    def points_of(self, scores: ArrayLike) -> IntArray:
        """Return points of scores by the bounds: 0 if evidence is too weak or too uncertain."""
        values = as_real_vector("scores", scores)
        found = np.zeros(values.size, dtype=np.int64)
        # The strongest last, so that it is what remains.
        for at in np.argsort(np.abs(self.points)):
            points, bound = int(self.points[at]), self.bounds[at]
            if not math.isnan(bound):
                reached = values >= bound if points > 0 else values <= bound
                found[reached] = points
        return found

    def _columns(self) -> dict[str, Any]:
        return {
            "evidence": np.char.add(
                self.strengths, np.where(self.points > 0, " for positive", " for negative")
            ),
            "points": self.points,
            "odds": self.odds,
            "posterior": self.posterior,
            "threshold": self.thresholds,
            "standard_error": self.standard_errors,
            "bound": self.bounds,
        }

    def _cells(self) -> list[dict[str, str]]:
        """Return the cells of the printed table."""
        rows = []
        table = self._columns()
        for values in zip(*(column.tolist() for column in table.values()), strict=True):
            row = dict(zip(table, values, strict=True))
            odds, sign = row["odds"], "≥" if row["points"] > 0 else "≤"
            ratio = max(odds, 1 / odds)
            shown = {
                "evidence": row["evidence"],
                "points": f"{row['points']:d}",
                "odds": f"{'' if odds > 1 else '1/'}{ratio:,.{int(ratio < 100)}f}",
                "posterior": f"{row['posterior']:.3g}",
            }
            for name in ("threshold", "bound"):
                shown[name] = "none" if math.isnan(row[name]) else f"{sign} {row[name]:.4g}"
            rows.append(shown)
        return rows

    def __repr__(self) -> str:
        reached = int(np.count_nonzero(~np.isnan(self.bounds)))
        return f"EvidenceThresholds({reached} of {self.bounds.size} strengths reached)"

    def __str__(self) -> str:
        level = f"{100 * self.confidence_level:g} % bound"
        head = ("evidence", "points", "odds", "posterior", "score", level)
        rows = [head, *(row.values() for row in self._cells())]
        lines = ["{:<26}{:>6}{:>11}{:>11}{:>11}  {}".format(*row) for row in rows]
        top = f"prior {self.prior:.4g}: very strong evidence has odds of {self.constant:,.0f} to 1"
        return "\n".join([top, *lines, f"bounds vary {self.varied}"])


def local_ratio(counts: ScoreCounts, shares: MixtureProportions, n_bins: int) -> FloatArray:
    """Return middles of bins, from the lowest, and logarithms of likelihood ratios there."""
    masses = Masses.of(counts, shares.alpha, shares.beta)
    some = np.flatnonzero(masses.labeled + masses.unlabeled > 0)
    seen = [masses.labeled[some], masses.unlabeled[some]]
    both = seen[0] + seen[1]
    starts = even_bins(both, n_bins)
    labeled, unlabeled, weight, moment = (
        np.add.reduceat(each, starts) for each in (*seen, both, both * masses.scores[some])
    )
    binned = Masses(moment / weight, labeled, unlabeled, masses.sizes, shares.alpha, shares.beta)
    # Between alpha and beta, where all masses are positive; the ratio does not depend on it.
    middle = (shares.alpha + shares.beta) / 2
    share = isotonic_frequency(binned, middle)
    # No row of a class in a bin does not mean that there are none: by the rule of three, up
    # to three rows' worth may have been missed.
    everyone = binned.split(middle)[1]
    delta = shares.beta - shares.alpha
    unseen = (
        middle * 3 * (1 - shares.alpha) / delta / masses.sizes[0],
        (1 - middle) * 3 * shares.beta / delta / masses.sizes[1],
    )
    least, most = (np.minimum(each / everyone, 0.5) for each in unseen)
    share = share.clip(least, 1 - most)
    ratio = np.log(share) - np.log1p(-share) - math.log(middle / (1 - middle))
    return np.stack([binned.scores, np.maximum.accumulate(ratio[::-1])[::-1]])[:, ::-1]


def _crossings(local: FloatArray, odds: FloatArray) -> FloatArray:
    """Find where the likelihood ratio first reaches odds above 1 or last has odds below; or NaN."""
    scores, ratio = local
    with np.errstate(divide="ignore"):  # odds of 0 for a prior of 0, which no score reaches
        wanted = np.log(odds)
    unreached = np.where(wanted > 0, wanted > ratio[-1], wanted < ratio[0])
    return np.where(unreached, np.nan, np.interp(wanted, ratio, scores))


@public
def evidence_thresholds(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    *,
    estimator: ProportionEstimator | None = None,
    target: Target = "population",
    n_resamples: int = 500,
    confidence_level: float = 0.95,
    random_state: RandomState = None,
) -> EvidenceThresholds:
    r"""Find thresholds at which a score is supporting, moderate, strong or very strong evidence.

    Made for computational evidence on genetic variants (ACMG/AMP criteria PP3 and BP4), with
    variants known to be pathogenic as labeled, and those of the population as unlabeled.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    estimator : PriorEstimator, optional
        The fitted estimator that gave alpha and beta. Replicates then estimate them again, and
        bounds include their error; otherwise bounds take alpha as exact.
    target : {"population", "deployment", "pooled"} or float, default="population"
        The population whose prior the odds follow from; see :meth:`MixtureProportions.prior`.
    n_resamples : int, default=500
        Number of replicates.
    confidence_level : float, default=0.95
        Of each one-sided bound.
    random_state : int, numpy.random.Generator or None, default=None
        Where randomness comes from.

    Returns
    -------
    EvidenceThresholds
        Thresholds with standard errors and bounds, points, and the local likelihood ratio.

    See Also
    --------
    evidence_constant : The odds from the prior.
    EvidenceDisplay : Draws them.
    evidence_page : Writes a page of them.

    Notes
    -----
    The likelihood ratio at a score is :math:`f_1/f_0`, with densities of the classes recovered from
    those of labeled and unlabeled rows, as in :func:`recover_mean`, in bins of like size (as
    many as the third of the square root of the labeled rows, between 10 and 60), made
    non-decreasing, and read along straight lines between the means of bins. The posterior is
    :math:`\pi f_1/(\pi f_1 + (1-\pi) f_0)`. Evidence of strength :math:`k` for positive needs the
    ratio :math:`C^{k/8}`, for negative :math:`C^{-k/8}` (:func:`evidence_constant`). Each
    replicate of the rows, and of alpha and :math:`C` with an ``estimator``, has its own thresholds;
    the bound of a threshold is the score that the share ``confidence_level`` of them do not exceed.
    Where a bin shows no row of a class, up to three may have been missed (the rule of three),
    so that very strong evidence needs many rows.

    Examples
    --------
    >>> from purecover import simulate
    >>> from purecover.intervals import evidence_thresholds
    >>> sample = simulate.binormal(2.0).sample(2000, 10_000, alpha=0.1, random_state=0)
    >>> found = evidence_thresholds(
    ...     sample.counts, sample.proportions, n_resamples=100, random_state=0
    ... )
    >>> found.points_of([-1.0, 1.0, 2.5])
    array([-4,  0,  2])
    """
    check_data(counts, proportions, warns=False)
    if counts.auc_pu <= 0.5:
        raise IdentifiabilityError(
            "{function} needs labeled rows that score higher than the unlabeled, got an "
            f"observed AUC of {counts.auc_pu:.3f}.",
            hint="either labeled and unlabeled are swapped, or a low score means positive (negate "
            "the scores)",
        )
    if estimator is None:
        refuse_contradiction(counts, proportions)
    prior = proportions.prior(target, counts)
    if not 0 < prior < 1:
        must = "such that some of the population are positive and some are not"
        raise bad_value("target", must, f"a prior of {prior:g}")
    if evidence_constant(prior) < _LEAST_ODDS:
        raise InvalidInputError(
            f"{{function}} needs rarer positives, got a prior of {prior:.3g}, at which very strong "
            f"evidence would have odds of {evidence_constant(prior):.2g} to 1.",
            hint="the published strengths are made for positives that are fewer than the others",
        )
    points = np.array([*(-k for k in reversed(STRENGTHS.values())), *STRENGTHS.values()])
    n_bins = int(np.clip(math.sqrt(effective_sizes(counts)[0]) / 3, 10, 60))

    def odds_at(share: float) -> FloatArray:
        return np.asarray(evidence_constant(share) ** (points / 8))

    def measure(own: ScoreCounts, shares: MixtureProportions) -> FloatArray:
        share = min(max(shares.prior(target, own), 1e-9), 1 - 1e-9)
        return _crossings(local_ratio(own, shares, n_bins), odds_at(share))

    repeating = Repeating(estimator, n_resamples, confidence_level, random_state)
    found = repeating.of(counts, proportions, measure)
    # A replicate that does not reach the odds has its threshold beyond all scores.
    replicates = np.where(np.isnan(found), np.where(points > 0, np.inf, -np.inf), found)
    ordered = np.sort(np.where(points > 0, replicates, -replicates), axis=0)
    last = ordered[min(math.ceil(confidence_level * len(found)), len(found)) - 1]
    last = np.where(np.isfinite(last), last, np.nan)
    local, odds = local_ratio(counts, proportions, n_bins), odds_at(prior)
    seen = np.where(np.isfinite(replicates), replicates, np.nan)
    rare = np.isnan(seen).mean(axis=0) >= 0.1
    with np.errstate(all="ignore"):  # of scores or odds at the end of what doubles can hold
        spread = np.where(rare, np.nan, np.nanstd(np.where(rare, 0.0, seen), axis=0))
        spread = np.where(np.isfinite(spread), spread, np.nan)
        posterior = 1 / (1 + (1 - prior) / (odds * prior))
    return EvidenceThresholds(
        strengths=(*reversed(STRENGTHS), *STRENGTHS),
        points=points,
        odds=odds,
        posterior=posterior,
        thresholds=_crossings(local, odds),
        standard_errors=spread,
        bounds=np.where(points > 0, last, -last),
        prior=prior,
        constant=evidence_constant(prior),
        n_labeled=counts.n_labeled,
        n_unlabeled=counts.n_unlabeled,
        scores=local[0],
        likelihood_ratio=np.exp(local[1]),
        confidence_level=confidence_level,
        varied="scores" if estimator is None else "scores and proportions",
    )
