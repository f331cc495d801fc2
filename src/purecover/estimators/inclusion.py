"""Confidence bounds of inclusions: the share of one density that lies inside another."""

from __future__ import annotations

from purecover._typing import ArrayLike
from purecover._validation import public
from purecover.counts import ScoreCounts
from purecover.estimators.samples import read_both_sides
from purecover.intervals.interval import check_level
from purecover.recovery.rates import inclusion_at_most


@public
def inclusion_bound(
    scores: ArrayLike | ScoreCounts,
    labeled: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> float:
    r"""Upper confidence bound on the share of the labeled density inside the unlabeled one.

    With probability of at least ``confidence_level`` the bound is not below
    :math:`a = \inf f/g`, for any two distributions of scores. With clean labels :math:`a` is at
    least alpha, so that it bounds alpha as well; on counts with the roles of the samples
    exchanged it bounds :math:`b = \inf g/f`.

    Parameters
    ----------
    scores : array-like of shape (n,) or ScoreCounts
        Scores of held-out rows, larger means more positive; or their counts, and then
        nothing else. Labeled and unlabeled are two independent samples.
    labeled : array-like of shape (n,)
        True where the row carries the positive label.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    confidence_level : float, default=0.95
        Probability of the statement.

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
    :math:`\varepsilon` = 1 - ``confidence_level``, either family fails with probability of
    at most :math:`\varepsilon/2`.

    Fix ranks :math:`k_1, \ldots, k_J` by the sample size alone, and let
    :math:`t_j` be the :math:`k_j`-th largest labeled score. (i) :math:`G(t_j)` is
    stochastically not smaller than a Beta(:math:`k_j, n_L - k_j + 1`) variable (equal in law
    without ties), so its quantile at :math:`\varepsilon/2J` is a lower bound, and all
    :math:`J` hold together but for :math:`\varepsilon/2`. (ii) Given the labeled sample the
    :math:`t_j` are fixed, and the unlabeled scores at or above :math:`t_j` are binomial; the exact
    upper bounds at :math:`1 - \varepsilon/2J` hold together but for :math:`\varepsilon/2`. Neither
    asks for a continuous distribution. At most 13 ranks are used, from 2.5 % to 98 % of the
    labeled.

    With weights the effective sizes take the place of the sizes, and the statement is
    approximate.

    References
    ----------
    Blanchard, Lee & Scott (2010), "Semi-supervised novelty detection", JMLR 11.

    Examples
    --------
    >>> import purecover as pu
    >>> counts = pu.ScoreCounts.from_counts([2, 1], labeled=[1000, 0], unlabeled=[3000, 7000])
    >>> round(pu.estimators.inclusion_bound(counts), 3)
    0.325
    >>> sample = pu.simulate.binormal(3).sample(1000, 5000, alpha=0.3, random_state=0)
    >>> 0.3 <= pu.estimators.inclusion_bound(sample.scores, sample.labeled)
    True
    """
    level = check_level(confidence_level)
    return inclusion_at_most(read_both_sides(scores, labeled, sample_weight), level)


def allowed_shares(
    counts: ScoreCounts,
    level: float,
    beta: float | None = None,
    least: tuple[float, float] = (0, 0),
) -> dict[str, tuple[float, float]]:
    r"""Return the ends of alpha, beta and delta that the inclusions a and b do not refute.

    With :math:`a \le A` and, where beta is not known, :math:`b \le B`, alpha rises with a and falls
    with b, beta likewise, and delta falls with both, so the ends are at corners of the region. No
    bound is below ``least``. The three hold together at the level.
    """
    if beta is None:
        level = (1 + level) / 2
    a = min(max(inclusion_bound(counts, confidence_level=level), least[0]), 1.0)
    if beta is not None:
        return {"alpha": (0.0, a * beta), "beta": (beta, beta), "delta": ((1 - a) * beta, beta)}
    b = min(max(inclusion_bound(counts.flipped(), confidence_level=level), least[1]), 1.0)
    delta = (1 - a) * (1 - b) / (1 - a * b) if a * b < 1 else 0.0
    return {"alpha": (0.0, a), "beta": (1 - b, 1.0), "delta": (delta, 1.0)}
