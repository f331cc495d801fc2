"""Known negatives and a mixture: false discovery rates, q-values and posterior error probabilities.

Targets and decoys, patients and healthy controls, signal and background: the mirror image of
positive-unlabeled data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from purecover._codec import Saved
from purecover._inputs import Tabular
from purecover._typing import ArrayLike, CountArray, FloatArray, RandomState
from purecover._validation import Frozen, as_real_vector, bad_value, public, to_numpy
from purecover.counts import ScoreCounts
from purecover.estimators.base import Inclusions
from purecover.estimators.choice import check_estimator, with_clean_labels
from purecover.estimators.curve_fit import LARGEST
from purecover.estimators.label_curve import LabelCurve, solve_label_curve
from purecover.estimators.samples import check_both_sides
from purecover.exceptions import ContradictionError, IdentifiabilityError, Words
from purecover.intervals.ends import interval_ends
from purecover.intervals.interval import Interval
from purecover.intervals.replicates import Repeating
from purecover.proportions import MixtureProportions, check_share
from purecover.recovery.means import Masses, isotonic_frequency
from purecover.recovery.rates import (
    effective_sizes,
    largest_alpha,
    least_delta,
    observed_auc_ends,
    rounded_down,
)

LEVELS = (0.001, 0.01, 0.05, 0.1)
"""False discovery rates whose thresholds a text shows."""

_GROUPS = 1000
"""Replicates see scores in so many groups at most; bands are straight between them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorRates(
    Saved,
    Frozen,
    Tabular,
    columns="threshold found fdr fdr_low fdr_high q_value q_low q_high pep pep_low pep_high power",
):
    """Error rates of all that scores at least so much, and of each score.

    Attributes
    ----------
    n_negative, n_mixture : float
        Known negatives, and rows of the mixture.
    pi0 : Interval
        Share of negatives in the mixture.
    signals : Interval
        Share of true signals in the mixture, 1 - pi0.
    thresholds : ndarray of float
        The distinct scores, decreasing.
    found : ndarray
        Examples of the mixture that score at least so much.
    fdr : ndarray of float
        False discovery rate: the expected share of negatives among them.
    q_value : ndarray of float
        The smallest false discovery rate of a threshold that still lets this score pass.
    pep : ndarray of float
        Posterior error probability: that of being negative at this very score.
    power : ndarray of float
        Share of all true signals that score at least so much: recall. NaN where there are none.
    auc : float
        Recovered AUC: how often a true signal scores higher than a negative. NaN as above.
    auc_low, auc_high : float
        Ends of its interval, which also varies pi0.
    fdr_low, fdr_high, q_low, q_high, pep_low, pep_high : ndarray of float
        Ends of intervals of ``fdr``, ``q_value`` and ``pep`` at each score; replicates estimate
        pi0 again.
    confidence_level : float
        Of all intervals.
    """

    n_negative: float
    n_mixture: float
    pi0: Interval
    signals: Interval
    thresholds: FloatArray
    found: CountArray
    fdr: FloatArray
    q_value: FloatArray
    pep: FloatArray
    power: FloatArray
    auc: float
    auc_low: float
    auc_high: float
    fdr_low: FloatArray
    fdr_high: FloatArray
    q_low: FloatArray
    q_high: FloatArray
    pep_low: FloatArray
    pep_high: FloatArray
    confidence_level: float

    @public
    def q_values_of(self, scores: ArrayLike) -> FloatArray:
        """q-values of scores: those of the next threshold at or below; 1 below all."""
        values = as_real_vector("scores", scores)
        passed = np.searchsorted(self.thresholds[::-1], values, side="right")
        return np.append(self.q_value, 1.0)[self.thresholds.size - passed]

    @public
    def pep_of(self, scores: ArrayLike) -> FloatArray:
        """Posterior error probabilities of scores, straight between those that were seen."""
        values = as_real_vector("scores", scores)
        return np.interp(values, self.thresholds[::-1], self.pep[::-1])

    @public
    def threshold_at(self, fdr: float) -> float:
        """The lowest score with a q-value of at most ``fdr``; infinity if there is none."""
        reached = np.flatnonzero(self.q_value <= check_share("fdr", fdr))
        return float(self.thresholds[reached[-1]]) if reached.size else float("inf")

    def __str__(self) -> str:
        from purecover.documents.formats import number

        level = f"{100 * self.confidence_level:g} %"
        share, null = self.signals, self.pi0
        lines = [
            f"{self.n_mixture:,.10g} rows and {self.n_negative:,.10g} known negatives",
            f"share of true signals  {share.estimate:.4f}  [{share.low:.4f}, {share.high:.4f}]",
            f"share of negatives     {null.estimate:.4f}  [{null.low:.4f}, {null.high:.4f}]",
            (
                f"AUC of true signals    {number(self.auc)}  "
                f"[{number(self.auc_low)}, {number(self.auc_high)}]"
            ),
            *(_AT_MOST if null.width > 0.1 > (null.high - null.estimate) / null.width else ()),
            "",
            f" q-value       score     found      true      FDR  {level:18}     PEP  {level}",
        ]
        for wanted in LEVELS:
            reached = np.flatnonzero(self.q_value <= wanted)
            if not reached.size:
                lines.append(f"{f'≤ {wanted:g}':>8}{'none':>12}")
                continue
            at = int(reached[-1])
            true = self.found[at] * (1 - self.fdr[at])
            lines.append(
                f"{f'≤ {wanted:g}':>8}{f'≥ {self.thresholds[at]:.4g}':>12}{self.found[at]:>10,.0f}"
                f"{true:>10,.0f}{self.fdr[at]:>9.4f}"
                f"  {f'[{self.fdr_low[at]:.4f}, {self.fdr_high[at]:.4f}]':<18}"
                f"{self.pep[at]:>8.4f}  [{self.pep_low[at]:.4f}, {self.pep_high[at]:.4f}]"
            )
        return "\n".join(lines)


_AT_MOST = (
    "",
    "The share of negatives is at the upper end of its interval, where scores leave it open: error",
    "rates are cautious, and the AUC may be far too high.",
)


class NullShare(LabelCurve):
    r"""Share of negatives in the mixture, from mirrored counts: label curve and low scores.

    The curve finds signals among the low scores; where signals are few it can mistake its own
    floor for them. The ratio :math:`F/F_0` of the shares below the median of the known negatives
    (Storey's estimate) takes them all for negatives, and is hardly ever far off where signals are
    few. The estimate is the mean of both by the inverse of their variances, that of the ratio
    doubled because it is too large on average. Its interval is that of the curve, whose posterior
    distribution knows what scores leave open.
    """

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        found = super()._estimate(counts)
        weight, at = self._weight(counts)
        share = _ratio(counts.labeled[None], counts.unlabeled[None], at)[0]
        return replace(found, a=float((1 - weight) * found.a + weight * share))

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Alpha and beta of replicates; see :meth:`LabelCurve.proportions_many`."""
        rows = super().proportions_many(counts, labeled, unlabeled)
        weight, at = self._weight(counts)
        rows[:, 0] = (1 - weight) * rows[:, 0] + weight * _ratio(labeled, unlabeled, at)
        return rows

    def _weight(self, counts: ScoreCounts) -> tuple[float, int]:
        """Weight of the ratio, and how many thresholds it is taken over."""
        below = np.cumsum(counts.labeled) / counts.n_labeled
        at = max(int(np.searchsorted(below, 0.5 * (1 + 1e-12), side="right")), 1)
        sizes = np.array(effective_sizes(counts))
        # One more on either side, so that few rows are not sure of anything.
        above = np.array([below[at - 1], counts.unlabeled[:at].sum() / counts.n_unlabeled])
        null, mixture = (above * sizes + 1) / (sizes + 2)
        ratio = mixture / null
        variance = mixture * (1 - mixture) / sizes[1] + ratio**2 * null * (1 - null) / sizes[0]
        posterior = solve_label_curve(counts, self.clean)
        weights, shares = posterior.weight, posterior.alpha
        spread = float(weights @ (shares - weights @ shares) ** 2)
        return spread / (spread + 2 * float(variance) / null**2), at


def _ratio(labeled: CountArray, unlabeled: CountArray, at: int) -> FloatArray:
    """Shares of the mixture over those of the known negatives among so many thresholds."""
    null, mixture = (side[:, :at].sum(axis=1) / side.sum(axis=1) for side in (labeled, unlabeled))
    return np.minimum(mixture / np.maximum(null, 1e-300), LARGEST)


def _auc(mirror: ScoreCounts, pi0: Interval, level: float) -> tuple[float, float, float]:
    """AUC of true signals and ends of its interval: errors of ranks and of pi0 add up as above."""
    if pi0.estimate == 1:
        return math.nan, math.nan, math.nan
    observed = mirror.auc_pu
    seen_low, seen_high, _ = observed_auc_ends(mirror, level)

    def recovered(seen: float, share: float) -> float:
        return 0.5 + (seen - 0.5) / max(1 - share, 1e-9)

    value = recovered(observed, pi0.estimate)
    off_low = value - recovered(seen_low, pi0.estimate), value - recovered(observed, pi0.low)
    off_high = recovered(seen_high, pi0.estimate) - value, recovered(observed, pi0.high) - value
    ends = value, value - math.hypot(*off_low), value + math.hypot(*off_high)
    return tuple(min(max(end, 0.0), 1.0) for end in ends)  # type: ignore[return-value]


def _rates(mirror: ScoreCounts, pi0: float) -> FloatArray:
    """False discovery rate and posterior error probability, from the highest score."""
    null, mixture = (
        np.asarray(side[::-1], dtype=np.float64) for side in (mirror.labeled, mirror.unlabeled)
    )
    n_null, n_mixture = mirror.n_labeled, mirror.n_unlabeled
    # One more, as if the next known negative were to score as much: without it, scores above all
    # known negatives would have no errors at all.
    one = n_null / effective_sizes(mirror)[0]
    passed = (np.cumsum(null) + one) / (n_null + one)
    # Nothing of the mixture scores so much where known negatives alone do.
    shares = np.maximum(np.cumsum(mixture) / n_mixture, 1e-300)
    # Beyond all signals that there are, what is found is negative.
    fdr = np.clip(pi0 * passed / shares, 1 - (1 - pi0) / shares, 1.0)
    share = min(max(1 - pi0, 1e-9), 1.0)
    null[np.argmax(mixture > 0)] += one
    masses = Masses(
        -mirror.thresholds[::-1], mixture / n_mixture, null / (n_null + one), (1.0, 1.0), 0.0, share
    )
    return np.stack([fdr, 1 - isotonic_frequency(masses, share)])


@public
def error_rates(
    scores: ArrayLike | ScoreCounts,
    labeled: ArrayLike | None = None,
    *,
    pi0: float | None = None,
    estimator: Any = None,
    n_resamples: int = 500,
    confidence_level: float = 0.95,
    random_state: RandomState = None,
) -> ErrorRates:
    r"""Error rates of scores from known negatives and a mixture of negatives and signals.

    Made for targets and decoys of a proteomics search, patients and healthy controls, signal and
    background: the mirror image of positive-unlabeled data.

    Parameters
    ----------
    scores : array-like of shape (n,) or ScoreCounts
        Scores, larger means more of a signal; or counts whose labeled rows are the known
        negatives, and then nothing else.
    labeled : array-like of shape (n,)
        True where the row carries the label, which here says that it is negative; the others
        are the mixture.
    pi0 : float, optional
        Share of negatives in the mixture, if it is known; estimated by default.
    estimator : PriorEstimator or str, optional
        What estimates pi0; by default :class:`LabelCurve` of clean labels and Storey's estimate
        together.
    n_resamples : int, default=500
        Number of replicates for the intervals.
    confidence_level : float, default=0.95
        Of each interval.
    random_state : int, numpy.random.Generator or None, default=None
        Where randomness comes from.

    Returns
    -------
    ErrorRates
        Prints as a few lines; holds false discovery rates, q-values and posterior error
        probabilities at every score.

    Raises
    ------
    ContradictionError
        If no ranking could separate known negatives from a mixture with so many of them as well as
        these scores do, chance granted.

    See Also
    --------
    ScoreCounts.mirrored : The same data as positive-unlabeled ones.

    Notes
    -----
    With the share :math:`F_0(t)` of the known negatives that score at least :math:`t` (one more
    counted among them) and the share :math:`F(t)` of the mixture,
    :math:`FDR(t) = \pi_0 F_0(t)/F(t)`, but at least :math:`1 - (1-\pi_0)/F(t)`, since no more
    signals are found than there are; the q-value is its minimum over thresholds at or below. The
    posterior error probability is :math:`\pi_0 f_0/f`, made non-increasing by isotonic regression.
    Known negatives must be a sample of the negatives in the mixture: decoys that are easier to
    recognize than false targets make every rate here too small.

    Mirrored, the known negatives are clean labels, :math:`\beta = 1`, and :math:`\pi_0` is
    alpha. Shares :math:`F_0` and :math:`F` of low scores bound it, :math:`\pi_0 \le F/F_0`,
    which is Storey's estimate; the label curve also says how many signals are among them. By
    default pi0 is their mean by the inverse of their variances, that of Storey's doubled because
    it is too large on average.

    References
    ----------
    Storey (2002), "A direct approach to false discovery rates", JRSS B 64. Käll, Storey & Noble
    (2008), "Non-parametric estimation of posterior error probabilities associated with peptides
    identified by tandem mass spectrometry", Bioinformatics 24.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover.report import error_rates
    >>> rng = np.random.default_rng(0)
    >>> targets = np.r_[rng.normal(3, 1, 1000), rng.normal(0, 1, 1000)]
    >>> decoys = rng.normal(0, 1, 2000)
    >>> scores, negative = np.r_[targets, decoys], np.repeat([False, True], 2000)
    >>> rates = error_rates(scores, negative, n_resamples=50, random_state=0)
    >>> 0.5 in rates.pi0
    True
    >>> rates.q_values_of([0.0, 3.0]).round(2)
    array([0.33, 0.  ])
    """
    if labeled is not None:
        marks = to_numpy("labeled", labeled)
        if marks.dtype.kind in "if" and (marks == -1).any():
            must, hint = "True for known negatives and False for the mixture", "pass labeled == -1"
            raise bad_value("labeled", must, "-1", f"where -1 marks decoys, {hint}")
    counts = ScoreCounts._of(scores, labeled)
    check_both_sides(counts)
    if counts.auc_pu > 0.5 + 3 * math.sqrt(max(counts.auc_pu_variance, 0.0)):
        raise IdentifiabilityError(
            "{function} needs known negatives that score lower than the mixture, got "
            f"{100 * counts.auc_pu:.3g} % of pairs in which they score higher.",
            hint="larger scores must mean more of a signal; labels mark the known negatives",
        )
    if pi0 is not None and estimator is not None:
        must = Words("left out where ", "pi0", " is given")
        raise bad_value("estimator", must, repr(estimator))
    mirror = counts.mirrored()
    fitted = None
    if pi0 is None:
        fitted = check_estimator(NullShare() if estimator is None else estimator)
        with_clean_labels(fitted, 1.0)
        fitted.fit(mirror)
        share = fitted.proportions_.unlabeled_inclusion
        found = fitted.interval(
            confidence_level=confidence_level, n_resamples=n_resamples, random_state=random_state
        )["alpha"]
        found = replace(
            found, estimate=share, low=min(found.low, share), high=max(found.high, share)
        )
    else:
        share = check_share("pi0", pi0)
        if (least := least_delta(mirror)) > 1 - share:
            raise ContradictionError(
                f"{{function}}: pi0 {share:.4g} contradicts these scores: known negatives score "
                f"lower than the mixture in {100 * mirror.auc_pu:.3g} % of pairs, for which at "
                f"least {100 * least:.3g} % of the mixture must be true signals, even if chance "
                f"has helped; pi0 can be at most {rounded_down(largest_alpha(mirror)):g}. "
                "Correct pi0, or leave it out to have it estimated."
            )
        ends: Any = dict.fromkeys(("estimate", "low", "high"), share)
        found = Interval(**ends, confidence_level=confidence_level, method="given")
    thin = mirror.thinned(_GROUPS)
    repeating = Repeating(fitted, n_resamples, confidence_level, random_state)
    drawn = repeating.of(
        thin,
        MixtureProportions(min(share, 1 - 1e-9)),
        lambda own, shares: _rates(own, shares.alpha),
    )
    bands = interval_ends(drawn, confidence_level)
    at = -thin._tops()[::-1]
    fdr, pep = _rates(mirror, share)
    places = -mirror._tops()[::-1]

    found_so_far = np.cumsum(mirror.unlabeled[::-1])
    signals = 1 - share if share < 1 else np.nan  # of none, nothing can be said
    power = np.maximum.accumulate(found_so_far * (1 - fdr)) / (counts.n_unlabeled * signals)

    # Rates are proportional to pi0, whose interval knows more than replicates do: what scores leave
    # open. Both errors add up as independent ones do.
    def limit(rate: FloatArray, band: FloatArray, end: float, sign: int) -> FloatArray:
        apart = np.maximum(sign * (np.interp(places, at[::-1], band[::-1]) - rate), 0.0)
        apart = np.hypot(apart, (end / max(share, 1e-9) - 1) * rate)
        return np.asarray((rate + sign * apart).clip(0, 1))

    low, high = (
        [limit(*pair, end, sign) for pair in zip((fdr, pep), side, strict=True)]
        for side, end, sign in zip(bands, (found.low, found.high), (-1, 1), strict=True)
    )
    q, q_low, q_high = (np.minimum.accumulate(rate[::-1])[::-1] for rate in (fdr, low[0], high[0]))
    auc, auc_low, auc_high = _auc(mirror, found, confidence_level)
    return ErrorRates(
        n_negative=counts.n_labeled,
        n_mixture=counts.n_unlabeled,
        pi0=found,
        signals=replace(found, estimate=1 - found.estimate, low=1 - found.high, high=1 - found.low),
        thresholds=places,
        found=found_so_far,
        fdr=fdr,
        q_value=q,
        pep=pep,
        power=np.minimum(power, 1.0),  # rounding
        auc=auc,
        auc_low=auc_low,
        auc_high=auc_high,
        fdr_low=low[0],
        fdr_high=high[0],
        q_low=q_low,
        q_high=q_high,
        pep_low=low[1],
        pep_high=high[1],
        confidence_level=confidence_level,
    )
