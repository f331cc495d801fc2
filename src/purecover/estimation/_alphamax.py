"""AlphaMax and AlphaMax-N: the proportion at which a likelihood leaves its plateau.

What differs from the code its authors released:

- The inner problem is solved exactly (see ``_separable``), not by a general optimizer, and no
  density is floored: a labeled score where nothing is unlabeled adds a constant, left out here.
- The grid has a spacing of .0025, not .01, and starts at 0.
- All examples are used; nothing is subsampled.
- The default elbow and the bins that go with it are our own; ``elbow="released"`` with
  ``step=0.01`` is the original.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from purecover._typing import BoolArray, CountArray, FloatArray
from purecover._validation import bad_value, check_choice, check_integer, check_real
from purecover.counts import ScoreCounts
from purecover.estimation._alphamax_curve import AlphaMaxCurve
from purecover.estimation._base import Inclusions, PriorEstimator
from purecover.estimation._clean import CLEAN_RULES, clean_by_rule, clean_verdict
from purecover.estimation._elbows import ELBOWS, RELEASED_RANGE, Curves, Elbow, find_elbow
from purecover.estimation._histogram import BIN_RULES, Bins, bin_starts, binned
from purecover.estimation._registry import register_prior_estimator
from purecover.estimation._separable import inclusion_curve
from purecover.recovery._variance import effective_size

__all__ = ["AlphaMax", "AlphaMaxN"]

WEIGHTINGS = ("auto", "balanced", "counts")

# What belongs to an elbow unless one says otherwise: bins, and what the samples weigh.
_AUTO: dict[str, tuple[Bins, str]] = {
    "deviance": ("merged", "balanced"),
    "paper": ("released", "balanced"),
    "released": ("released", "balanced"),
    "likelihood_ratio": ("equal-mass", "counts"),
}
_REPLICATES = 1024
"""Replicates at a time, so that many of few scores do not fill the memory."""


@register_prior_estimator("alphamax")
class AlphaMax(PriorEstimator):
    r"""The largest share of the labeled density inside the unlabeled one, by likelihood.

    Labels are taken as clean, so that share is alpha; :class:`AlphaMaxN` estimates beta too.

    Parameters
    ----------
    elbow : {"deviance", "paper", "released", "likelihood_ratio"}, default="deviance"
        How the end of the plateau is found; see Notes.
    step : float, default=0.0025
        Spacing of the grid of inclusions, at most 0.05. The released code has 0.01.
    bins : {"auto", "merged", "released", "equal-mass"} or int, default="auto"
        The histogram. ``"released"``: Scott's rule for the labeled scores, the width rounded to
        1, 2, 3 or 5 times a power of ten. ``"merged"``: the same, bins joined from the top until
        each holds 20 labeled examples (the square root of all, if that is more) and 5 unlabeled
        ones; or a fifth of all, if that is fewer.
        ``"equal-mass"``: 10 bins, or as many as a number says, of equal mass. ``"auto"``: merged
        for the deviance, equal-mass for the likelihood ratio, else released. All but equal-mass
        bins depend on the values of the scores, not only on their order.
    weighting : {"auto", "balanced", "counts"}, default="auto"
        Whether the two samples weigh the same in the likelihood or each example does.
        ``"auto"``: each example for the likelihood ratio, which has no meaning otherwise, else
        the samples.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. Among the diagnostics are ``"n_bins"``, ``"at_edge"`` and
        ``"end_of_plateau"``, the smallest ratio of the two histograms.
    curve_ : AlphaMaxCurve
        The likelihood over the grid, and its elbow.

    See Also
    --------
    AlphaMaxN : The same for labels that may be wrong.
    AlphaMaxDisplay : Draws the curve.

    Notes
    -----
    With the histograms :math:`p` of the unlabeled and :math:`q` of the labeled scores, an
    inclusion :math:`c` has the log-likelihood

    .. math::

        LL(c) = \max_b \sum_i p_i \log(c q_i + p_i - b_i) + q_i \log(b_i / c), \qquad
        0 \le b_i \le p_i, \; \sum_i b_i = c,

    where :math:`b` is the part of the unlabeled that is taken for positive. It is exactly flat
    up to :math:`\min_i p_i / q_i` and falls beyond. Noise makes that minimum far too small, so
    the elbow has to be found in a curve that bends slowly:

    ``"deviance"``
        The last c at which the fall is no larger than chance explains: the m bins with
        :math:`p_i < c q_i` may contribute the median of a chi-square with m degrees of freedom.
        It can return anything from 0 to 1, and the more examples, the less it allows.
    ``"paper"``
        Largest change of slope over .03 to each side, relative to the height lost so far.
    ``"released"``
        Largest change between the slopes of two lines below the curve, over .10 to each side.
        It cannot return anything below .10 or above .89.
    ``"likelihood_ratio"``
        The last c at which twice the loss of likelihood is at most 5.

    All of them overestimate alpha if no region of the scores is free of negatives.

    References
    ----------
    Jain, White, Trosset & Radivojac (2016), "Nonparametric semi-supervised learning of class
    proportions", arXiv:1601.01944.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(3).sample(1000, 5000, alpha=0.3, random_state=1)
    >>> estimator = pu.AlphaMax().fit(sample.scores, sample.labeled)
    >>> abs(estimator.proportions_.alpha - 0.3) < 0.05
    True
    """

    reference: ClassVar[str] = "Jain, White, Trosset & Radivojac, arXiv 1601.01944"

    def __init__(
        self,
        *,
        elbow: Elbow = "deviance",
        step: float = 0.0025,
        bins: Bins | Literal["auto"] = "auto",
        weighting: Literal["auto", "balanced", "counts"] = "auto",
    ) -> None:
        self.elbow = elbow
        self.step = step
        self.bins = bins
        self.weighting = weighting

    def _check_params(self) -> None:
        name = type(self).__name__
        check_choice(name, "elbow", self.elbow, ELBOWS)
        check_real(name, "step", self.step, low=1e-4, high=0.05)
        if isinstance(self.bins, str):
            check_choice(name, "bins", self.bins, ("auto", *BIN_RULES))
        else:
            check_integer(name, "bins", self.bins, low=2, high=10_000)
        check_choice(name, "weighting", self.weighting, WEIGHTINGS)
        if self.elbow == "likelihood_ratio" and self.weighting == "balanced":
            raise bad_value(
                name, "weighting", "'counts' for a likelihood ratio", "'balanced'", "leave it out"
            )

    # -- one set of counts --------------------------------------------------------------

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        self.curve_, inclusions = self._run(counts)
        return inclusions

    def _run(self, counts: ScoreCounts) -> tuple[AlphaMaxCurve, Inclusions]:
        curves, raw = self._curves(counts, counts.labeled[None], counts.unlabeled[None])
        heuristic, index = find_elbow(curves, self.elbow)
        curve = AlphaMaxCurve(
            inclusion=curves.inclusion,
            log_likelihood=raw[0],
            corrected=curves.log_likelihood[0],
            heuristic=heuristic[0],
            elbow_index=int(index[0]),
        )
        end = float(_smallest_ratio(curves.mixture, curves.component)[0])
        notes, at_edge = self._edge(curve)
        details = {
            "n_bins": curves.mixture.shape[1],
            "end_of_plateau": min(end, 1.0),
            "at_edge": at_edge,
        }
        # A plateau without end: the two samples look the same.
        a = 1.0 if _is_flat(curves)[0] else curve.elbow
        return curve, Inclusions(a, 0.0, notes, details)

    def _edge(self, curve: AlphaMaxCurve) -> tuple[tuple[str, ...], bool]:
        looked = curve.inclusion[~np.isnan(curve.heuristic)]
        low, high = float(looked[0]), float(looked[-1])
        # 0 is a possible value of a share, not the end of what can be seen.
        if curve.elbow < high and (curve.elbow > low or low == 0.0):
            return (), False
        advice = ""
        if self.elbow == "released":
            low, high = RELEASED_RANGE
            advice = '; elbow="deviance" has no such limits'
        note = (
            f"the elbow is at {curve.elbow:.3g}, an end of what this rule can return "
            f"({low:.2g} to {high:.4g}): the truth may lie beyond{advice}"
        )
        return (note,), True

    # -- replicates ---------------------------------------------------------------------

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        found = np.zeros((len(labeled), 2))
        for start in range(0, len(labeled), _REPLICATES):
            part = slice(start, start + _REPLICATES)
            curves, _ = self._curves(counts, labeled[part], unlabeled[part])
            _, index = find_elbow(curves, self.elbow)
            found[part, 0] = np.where(_is_flat(curves), 1.0, curves.inclusion[index])
        return found

    def _curves(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> tuple[Curves, FloatArray]:
        """Corrected curves of replicates over the bins of the data; and before correction."""
        bins, weighting = _AUTO[self.elbow]
        if self.bins != "auto":
            bins = self.bins
        if self.weighting != "auto":
            weighting = self.weighting
        starts = bin_starts(counts, bins)
        p, n_unlabeled = _shares(unlabeled, starts)
        q, n_labeled = _shares(labeled, starts)
        n_labeled *= effective_size(counts.n_labeled, counts.labeled_sq) / counts.n_labeled
        n_unlabeled *= effective_size(counts.n_unlabeled, counts.unlabeled_sq) / counts.n_unlabeled
        weights = (1.0, 1.0)
        if weighting == "counts":  # replicates are as large as each other, or nearly so
            weights = float(n_unlabeled.mean()), float(n_labeled.mean())
        grid: FloatArray = np.arange(np.ceil(1 / self.step - 1e-9), dtype=np.float64) * self.step
        raw = inclusion_curve(p, q, grid, weights)
        corrected = np.maximum.accumulate(raw[:, ::-1], axis=1)[:, ::-1]
        return Curves(grid, corrected, p, q, (n_unlabeled, n_labeled), weights), raw


@register_prior_estimator("alphamax-n")
class AlphaMaxN(AlphaMax):
    r"""AlphaMax for labels that may be wrong: two runs, the samples exchanged in the second.

    Parameters
    ----------
    elbow, step, bins, weighting
        See :class:`AlphaMax`.
    clean : {"test", "never", "always"}, default="test"
        When to take labels as clean, which is beta = 1 exactly: if a test does not reject it,
        never, or always.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"a"`` and ``"b"``, ``"clean"`` and,
        if tested, ``"clean_p_value"``.
    curve_ : AlphaMaxCurve
        The likelihood of the share of the labeled density inside the unlabeled one.
    curve_flipped_ : AlphaMaxCurve or None
        That of the unlabeled density inside the labeled one; None if labels were taken as clean.

    See Also
    --------
    NoisyLabels : Does the same with any estimator.

    Notes
    -----
    From the two inclusions :math:`a` and :math:`b` follow

    .. math:: \alpha = \frac{a(1-b)}{1-ab}, \qquad \beta = \frac{1-b}{1-ab}.

    Bootstrap replicates repeat all of it, the test included, over the bins of the data.

    References
    ----------
    Jain, White & Radivojac (2016), "Estimating the class prior and posterior from noisy
    positives and unlabeled data", NIPS.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.binormal(3)
    >>> sample = world.sample(2000, 8000, alpha=0.3, beta=0.8, random_state=0)
    >>> p = pu.AlphaMaxN().fit(sample.scores, sample.labeled).proportions_
    >>> abs(p.alpha - 0.3) < 0.05, abs(p.beta - 0.8) < 0.05
    (True, True)
    """

    noisy: ClassVar[bool] = True
    reference: ClassVar[str] = "Jain, White & Radivojac, NIPS 2016"

    def __init__(
        self,
        *,
        elbow: Elbow = "deviance",
        step: float = 0.0025,
        bins: Bins | Literal["auto"] = "auto",
        weighting: Literal["auto", "balanced", "counts"] = "auto",
        clean: Literal["test", "never", "always"] = "test",
    ) -> None:
        super().__init__(elbow=elbow, step=step, bins=bins, weighting=weighting)
        self.clean = clean

    @property
    def estimates_beta(self) -> bool:
        """Whether beta can come out below 1."""
        return self.clean != "always"

    def _check_params(self) -> None:
        super()._check_params()
        check_choice(type(self).__name__, "clean", self.clean, CLEAN_RULES)

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        self.curve_, run = self._run(counts)
        self.curve_flipped_: AlphaMaxCurve | None = None
        verdict = clean_verdict(self.clean, lambda: counts)
        notes = [*run.notes, *verdict.notes]
        details = {**run.details, "a": run.a, "b": 0.0, **verdict.details}
        if verdict.clean:
            return Inclusions(run.a, 0.0, tuple(notes), details)
        self.curve_flipped_, flipped = self._run(self._flip(counts))
        details["b"] = flipped.a
        details["at_edge"] = run.details["at_edge"] or flipped.details["at_edge"]
        notes += [f"with the samples exchanged, for beta: {note}" for note in flipped.notes]
        return Inclusions(run.a, flipped.a, tuple(notes), details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        found = super()._estimate_many(counts, labeled, unlabeled)
        noisy = ~clean_by_rule(self.clean, counts, labeled, unlabeled)
        if noisy.any():
            exchanged = unlabeled[noisy, ::-1], labeled[noisy, ::-1]
            found[noisy, 1] = super()._estimate_many(self._flip(counts), *exchanged)[:, 0]
        return found


def _shares(tally: CountArray, starts: np.ndarray[Any, Any]) -> tuple[FloatArray, FloatArray]:
    """Histograms, one per row, and how much each of them holds."""
    held = binned(tally, starts)
    total = held.sum(axis=1)
    return held / np.where(total > 0, total, 1.0)[:, None], total


def _smallest_ratio(mixture: FloatArray, component: FloatArray) -> FloatArray:
    ratio = np.divide(mixture, component, out=np.full(mixture.shape, np.inf), where=component > 0)
    smallest: FloatArray = ratio.min(axis=1)
    return smallest


def _is_flat(curves: Curves) -> BoolArray:
    """Whether the likelihood never falls, as with two equal histograms."""
    flat: BoolArray = _smallest_ratio(curves.mixture, curves.component) >= 1 - 1e-12
    return flat
