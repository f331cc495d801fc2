"""The two samples an estimator is given, and confidence bounds of their shares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy.special import betaincinv

from purecover._typing import ArrayLike, CountArray, FloatArray, IntArray
from purecover._validation import bad_type, bad_value, check_choice, public
from purecover.counts import ScoreCounts
from purecover.exceptions import IdentifiabilityError
from purecover.intervals.interval import check_level
from purecover.recovery.rates import effective_sizes

FEW_LABELED, FEW_UNLABELED = 50, 100
TOO_FEW_LABELED = 10
"""With fewer, not even the interval of an estimate can be relied on."""


def read_counts(
    scores: Any, labeled: ArrayLike | None, sample_weight: ArrayLike | None
) -> ScoreCounts:
    """Counts of what an estimator was given, or those counts themselves."""
    if labeled is None and not isinstance(scores, ScoreCounts):
        must = "an array: for each score, whether the example carries the label"
        hint = "requires y to be passed, but the target y is None"  # as scikit-learn wants it
        raise bad_type("labeled", must, labeled, hint)
    # A column, as scikit-learn's transformers give it, is welcome.
    return ScoreCounts._of(scores, labeled, sample_weight=sample_weight)


def read_both_sides(
    scores: Any, labeled: ArrayLike | None, sample_weight: ArrayLike | None
) -> ScoreCounts:
    """Counts of scores and labels, or those given, with examples of both kinds."""
    counts = ScoreCounts._of(scores, labeled, sample_weight=sample_weight)
    _check_sides(counts)
    return counts


def _check_sides(counts: ScoreCounts) -> None:
    for side, total in (("labeled", counts.n_labeled), ("unlabeled", counts.n_unlabeled)):
        if not total > 0:
            raise bad_value("labeled", f"such that an example is {side}", "none")


def check_both_sides(counts: ScoreCounts) -> None:
    """Refuse counts from which nobody can tell anything."""
    _check_sides(counts)
    used = (counts.labeled > 0) | (counts.unlabeled > 0)
    if int(used.sum()) < 2:
        raise IdentifiabilityError(
            f"{{function}} needs scores that differ, got {counts.thresholds[used][0]:g} "
            "throughout: a constant score says nothing about alpha and beta."
        )


def weight_units(counts: ScoreCounts) -> tuple[float, float]:
    """Effective examples for each unit of weight on either side; 1 without weights."""
    n_labeled, n_unlabeled = effective_sizes(counts)
    return n_labeled / counts.n_labeled, n_unlabeled / counts.n_unlabeled


def size_notes(n_labeled: float, n_unlabeled: float) -> tuple[str, ...]:
    """What to say of samples that are small."""
    if n_labeled >= FEW_LABELED and n_unlabeled >= FEW_UNLABELED:
        return ()
    only = f"only {n_labeled:g} labeled and {n_unlabeled:g} unlabeled examples"
    if n_labeled < TOO_FEW_LABELED:
        return (f"{only}: the estimate is rough, and so is its interval",)
    return (f"{only}: the estimate is rough, read its interval",)


def common_notes(counts: ScoreCounts) -> tuple[str, ...]:
    """What to say of samples whatever the estimator."""
    notes = list(size_notes(counts.n_labeled, counts.n_unlabeled))
    if counts.ordered_pairs <= 0.5 * counts.n_labeled * counts.n_unlabeled:
        notes.append(
            "labeled examples do not score higher than unlabeled ones (AUC at most 1/2): inverted "
            "labels or scores, or a classifier without skill"
        )
    return tuple(notes)


def flipped_counts(counts: ScoreCounts) -> ScoreCounts:
    """Labeled and unlabeled exchanged and scores negated, which maps (a, b) to (b, a)."""
    labeled_sq, unlabeled_sq = (
        None if tally is None else tally[::-1] for tally in (counts.unlabeled_sq, counts.labeled_sq)
    )
    return ScoreCounts(
        thresholds=-counts.thresholds[::-1],
        labeled=counts.unlabeled[::-1],
        unlabeled=counts.labeled[::-1],
        labeled_sq=labeled_sq,
        unlabeled_sq=unlabeled_sq,
    )


def replicates_of(
    counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
) -> Iterator[ScoreCounts]:
    """Replicates as counts of their own, for what treats them one by one."""
    labeled_unit = _squares(counts.labeled, counts.labeled_sq)
    unlabeled_unit = _squares(counts.unlabeled, counts.unlabeled_sq)
    for few, many in zip(labeled, unlabeled, strict=True):
        yield ScoreCounts(
            thresholds=counts.thresholds,
            labeled=few,
            unlabeled=many,
            labeled_sq=None if labeled_unit is None else few * labeled_unit,
            unlabeled_sq=None if unlabeled_unit is None else many * unlabeled_unit,
        )


def _squares(tally: CountArray, squares: FloatArray | None) -> FloatArray | None:
    """Squared weight for each unit of weight at each threshold; None without weights."""
    if squares is None:
        return None
    return np.divide(squares, tally, out=np.zeros(squares.size), where=tally > 0)


def group_starts(counts: ScoreCounts, thinned: ScoreCounts) -> IntArray:
    """Where the groups start into which the thresholds of counts were merged by thinning."""
    # Thresholds decrease and each group keeps its lowest, where the next one starts.
    ends = np.searchsorted(-counts.thresholds, -thinned.thresholds)
    return np.concatenate(([0], ends[:-1] + 1))


def thinned_rows(counts: ScoreCounts, thinned: ScoreCounts, tallies: CountArray) -> CountArray:
    """Counts of replicates of the data, merged like those of the data by thinning."""
    merged: CountArray = np.add.reduceat(tallies, group_starts(counts, thinned), axis=1)
    return merged


def falling_shares(labeled: Any, unlabeled: Any) -> FloatArray:
    """Share of the labeled at each threshold, made to fall with the scores; 0 where nobody is."""
    from scipy.optimize import isotonic_regression

    pooled = np.asarray(labeled + unlabeled, dtype=np.float64)
    used = np.flatnonzero(pooled)
    shares = np.zeros(pooled.size)
    rate = labeled[used] / pooled[used]
    shares[used] = isotonic_regression(rate, weights=pooled[used], increasing=False).x
    return np.clip(shares, 0.0, 1.0, out=shares)


# -- Confidence bounds ---------------------------------------------------------------------------


BoundMethod = Literal["scott", "bbe"]
BOUND_METHODS = ("scott", "bbe")

LEVELS = (0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.025)
"""Shares of labeled examples above the thresholds at which binomial bounds are taken."""

FEWEST = 4
"""Levels reached by fewer labeled examples are left out: they could never give the best bound."""


@public
def inclusion_bound(
    scores: ArrayLike | ScoreCounts,
    labeled: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
    method: BoundMethod = "scott",
) -> float:
    r"""Upper confidence bound on the share of the labeled density inside the unlabeled one.

    With probability of at least ``confidence_level`` the bound is not below
    :math:`a = \inf f/g`, for any two distributions of scores. With clean labels :math:`a` is at
    least alpha, so that it bounds alpha as well; on counts with the roles of the samples
    exchanged it bounds :math:`b = \inf g/f`.

    Parameters
    ----------
    scores : array-like of shape (n,) or ScoreCounts
        Scores of held-out examples, larger means more positive; or their counts, and then
        nothing else. Labeled and unlabeled are two independent samples.
    labeled : array-like of shape (n,)
        True where the example carries the positive label.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    confidence_level : float, default=0.95
        Probability of the statement.
    method : {"scott", "bbe"}, default="scott"
        Exact binomial bounds at a few thresholds, or the same margin at all of them.

    Returns
    -------
    float
        The bound, at most 1.

    Notes
    -----
    Let :math:`F(t)` and :math:`G(t)` be the probabilities that an unlabeled and a labeled score
    is :math:`t` or more. Since :math:`f \ge a g` everywhere, :math:`a \le F(t)/G(t)` at every
    :math:`t`; wherever :math:`F(t) \le \bar F(t)` and :math:`G(t) \ge \underline G(t)` hold for
    all :math:`t \in T` together, :math:`a \le \min_{t \in T} \bar F(t)/\underline G(t)`. With
    :math:`\varepsilon` = 1 - ``confidence_level``, each method makes either family of bounds fail
    with probability of at most :math:`\varepsilon/2`.

    ``"scott"``: fix ranks :math:`k_1, \ldots, k_J` by the sample size alone, and let
    :math:`t_j` be the :math:`k_j`-th largest labeled score. (i) :math:`G(t_j)` is
    stochastically not smaller than a Beta(:math:`k_j, n_L - k_j + 1`) variable (equal in law
    without ties), so its quantile at :math:`\varepsilon/2J` is a lower bound, and all
    :math:`J` hold together but for :math:`\varepsilon/2`. (ii) Given the labeled sample the
    :math:`t_j` are fixed, and the unlabeled scores at or above :math:`t_j` are binomial; the exact
    upper bounds at :math:`1 - \varepsilon/2J` hold together but for :math:`\varepsilon/2`. Neither
    asks for a continuous distribution. At most 13 ranks are used, from 2.5 % to 98 % of the
    labeled.

    ``"bbe"``: by the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant,
    one-sided, an empirical share exceeds (or falls short of) the true one by
    :math:`\sqrt{\ln(2/\varepsilon)/(2n)}` anywhere with probability of at most
    :math:`\varepsilon/2`. Valid at all thresholds, hence after any choice among them, but much
    wider where shares are small.

    With weights the effective sizes take the place of the sizes, and the statement is
    approximate.

    References
    ----------
    Blanchard, Lee & Scott (2010), "Semi-supervised novelty detection", JMLR 11. Garg, Wu,
    Smola, Balakrishnan & Lipton (2021), "Mixture proportion estimation and PU learning",
    NeurIPS. Massart (1990), Annals of Probability 18.

    Examples
    --------
    >>> import purecover as pu
    >>> counts = pu.ScoreCounts.from_counts([2, 1], labeled=[1000, 0], unlabeled=[3000, 7000])
    >>> (
    ...     round(pu.estimators.inclusion_bound(counts), 3),
    ...     round(pu.estimators.inclusion_bound(counts, method="bbe"), 3),
    ... )
    (0.325, 0.328)
    >>> sample = pu.simulate.binormal(3).sample(1000, 5000, alpha=0.3, random_state=0)
    >>> 0.3 <= pu.estimators.inclusion_bound(sample.scores, sample.labeled)
    True
    """
    error = 1 - check_level(confidence_level)
    check_choice("method", method, BOUND_METHODS)
    counts = read_both_sides(scores, labeled, sample_weight)
    n_labeled, n_unlabeled = effective_sizes(counts)
    above: FloatArray = np.cumsum(counts.labeled, dtype=np.float64) / counts.n_labeled
    unlabeled: FloatArray = np.cumsum(counts.unlabeled, dtype=np.float64) / counts.n_unlabeled
    if method == "bbe":
        high = unlabeled + np.sqrt(np.log(2 / error) / (2 * n_unlabeled))
        low = above - np.sqrt(np.log(2 / error) / (2 * n_labeled))
    else:
        ranks: FloatArray = np.ceil(np.array(LEVELS, dtype=np.float64) * n_labeled)
        ranks = ranks[(ranks >= FEWEST) & (ranks <= n_labeled)]
        if not ranks.size:
            return 1.0
        # A hair below, so that a share summed up in floats still counts as reached.
        reached = np.searchsorted(above, ranks / n_labeled * (1 - 1e-12))
        share = error / (2 * ranks.size)
        high = binomial_upper(n_unlabeled * unlabeled[reached], n_unlabeled, share)
        low = binomial_lower(ranks, n_labeled, share)
    useful = low > 0
    return float(min(1.0, np.min(high[useful] / low[useful], initial=1.0)))


def binomial_upper(
    successes: FloatArray, trials: float | FloatArray, error: float | FloatArray
) -> FloatArray:
    r"""Exact upper confidence bound of a binomial proportion (Clopper and Pearson).

    The :math:`p` with :math:`P(Bin(n, p) \le k) = \varepsilon`, a quantile of
    Beta(:math:`k+1, n-k`). Neither number need be whole.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover.estimators.samples import binomial_upper
    >>> binomial_upper(np.array([5.0, 100.0]), 100, 0.1).round(7)
    array([0.0907715, 1.       ])
    """
    failures = np.asarray(trials - successes, dtype=np.float64)
    some = failures > 1e-9  # what is left of all but rounding is nothing
    found = betaincinv(successes + 1, np.where(some, failures, 1.0), 1 - np.asarray(error))
    return np.where(some, found, 1.0)


def binomial_lower(
    successes: FloatArray, trials: float | FloatArray, error: float | FloatArray
) -> FloatArray:
    """Exact lower confidence bound of a binomial proportion.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover.estimators.samples import binomial_lower
    >>> binomial_lower(np.array([0.0, 80.0]), 100, 0.1).round(7)
    array([0.       , 0.7393153])
    """
    return 1 - binomial_upper(trials - successes, trials, error)


def row_shares(tallies: CountArray, unit: float) -> tuple[FloatArray, FloatArray]:
    """Shares at or above each threshold for each row of counts, and the effective sizes of rows.

    A replicate's weights are as uneven as those of the data, which give the ``unit``.
    """
    shares = np.cumsum(tallies, axis=1, dtype=np.float64)
    totals = shares[:, -1].copy()
    with np.errstate(invalid="ignore"):  # an empty replicate has no shares, and no estimate
        shares /= totals[:, None]
    return shares, totals * unit
