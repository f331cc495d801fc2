"""Judged rows where labels are not at random: how much easier the labeled positives are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from purecover import _validation as valid
from purecover._typing import ArrayLike, FloatArray, RandomState
from purecover._validation import Frozen, public
from purecover.audit.answers import interval_of
from purecover.counts import ScoreCounts, auc_pu_variance, check_counts
from purecover.exceptions import ContradictionError
from purecover.intervals.interval import Interval, check_level
from purecover.recovery.hidden import harder_auc, lower_recall

EASE = (0.35, 0.32)
"""Mean and standard deviation of the normal quantile of theta where people gave the labels: 83
species and diseases (``studies/real_labels.py``); theta is .64, from .39 to .84 in 95 %."""

ALPHAS = np.concatenate([np.geomspace(0.002, 0.05, 30, endpoint=False), np.linspace(0.05, 0.9, 70)])
EASES = np.linspace(-1.2, 2.2, 69)
"""Nodes of the grid of alpha and of the normal quantile of theta."""

N_DRAWS = 4000


@dataclass(frozen=True, kw_only=True, eq=False)
class HiddenEstimate(Frozen):
    """Estimates of metrics of all positives, hidden ones included, from judged rows.

    Attributes
    ----------
    intervals : mapping of str to Interval
        Of ``"theta"`` (probability that a labeled positive outranks a hidden one), ``"alpha"``,
        ``"auc_labeled"``, ``"auc_hidden"`` and ``"auc"`` (of all positives), ``"recall"`` of all
        positives and ``"precision"`` among the unlabeled at the threshold, and ``"n_hidden"``, the
        number of positives among the unlabeled.
    threshold : float
        Where recall and precision are taken.
    n_positive, n_audited : int
        Answers in all.
    """

    intervals: Mapping[str, Interval]
    threshold: float
    n_positive: int
    n_audited: int

    def __str__(self) -> str:
        words = {
            "theta": "a labeled positive outranks a hidden one in",
            "auc_labeled": "AUC of positives like the labeled ones",
            "auc_hidden": "AUC of hidden positives",
            "auc": "AUC of all positives",
        }
        lines = [f"{self.n_positive:,} of {self.n_audited:,} judged rows are positive"]
        for name, text in words.items():
            at = self.intervals[name]
            lines.append(f"  {text:<44}{at.estimate:.2f}   {at.low:.2f} to {at.high:.2f}")
        return "\n".join(lines)


@public
def judge_hidden(
    counts: ScoreCounts,
    cuts: ArrayLike,
    n_positive: ArrayLike,
    n_audited: ArrayLike,
    *,
    threshold: float | None = None,
    confidence_level: float = 0.95,
    random_state: RandomState = 0,
) -> HiddenEstimate:
    r"""Estimate metrics of all positives from judged rows, without labels at random.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores; labels are taken to be right.
    cuts : float or array-like
        Scores that split the unlabeled rows into strata, each from a cut up: one cut makes two.
    n_positive, n_audited : array-like of int
        Positives found and rows judged in each stratum, highest scores first. Rows must be a random
        sample of the unlabeled rows of their stratum.
    threshold : float, optional
        Where recall and precision are taken; by default the lowest cut.
    confidence_level : float, default=0.95
        Probability of each interval.
    random_state : int, numpy.random.Generator or None, default=0
        Where randomness comes from.

    Returns
    -------
    HiddenEstimate
        Theta, alpha, and metrics of labeled-like, hidden and all positives.

    Raises
    ------
    ContradictionError
        If no theta and alpha fit the answers.

    See Also
    --------
    recover_hidden : The same metrics for a theta that you name.

    Notes
    -----
    Let :math:`\gamma_L` and :math:`F_U` be the shares of labeled and unlabeled rows above a cut.
    With :math:`\gamma_H = \Phi(\Phi^{-1}(\gamma_L) - \sqrt{2}\,\Phi^{-1}(\theta))` a stratum
    between two cuts has the purity

    .. math::

        \kappa = \alpha\,\frac{\gamma_H' - \gamma_H}{F_U' - F_U},

    and its answers the likelihood :math:`\kappa^k(1-\kappa)^{n-k}`. The prior of
    :math:`\Phi^{-1}(\theta)` is normal, as it is over the species and diseases of the collection of
    labels that people gave; that of alpha is half uniform and half uniform in its logarithm.
    Intervals are quantiles of draws, with the sampling error of the observed AUC.

    ``studies/results/real_labels.md`` has the coverage and the width on that collection.

    Examples
    --------
    >>> import purecover as pu
    >>> counts = pu.ScoreCounts.from_counts(
    ...     [3, 2, 1], labeled=[70, 20, 10], unlabeled=[200, 300, 500]
    ... )
    >>> found = pu.audit.judge_hidden(counts, 3, n_positive=[5, 1], n_audited=[10, 10])
    >>> print(found)  # doctest: +NORMALIZE_WHITESPACE
    6 of 20 judged rows are positive
      a labeled positive outranks a hidden one in ...
    """
    from scipy.special import ndtr

    check_counts(counts)
    edges = np.unique(valid.as_real_vector("cuts", np.atleast_1d(cuts)))[::-1]
    found, judged = (
        _answers(name, values, edges.size + 1)
        for name, values in (("n_positive", n_positive), ("n_audited", n_audited))
    )
    if (found > judged).any():
        raise valid.bad_value("n_positive", "at most n_audited", valid.show(found.tolist()))
    level, rng = check_level(confidence_level), valid.check_random_state(random_state)
    threshold = float(edges[-1]) if threshold is None else valid.check_real("threshold", threshold)
    alpha, ease = np.meshgrid(ALPHAS, EASES, indexing="ij")
    step = np.gradient(ALPHAS)[:, None]
    spread = 1 / (alpha * np.log(ALPHAS[-1] / ALPHAS[0])) + 1 / (ALPHAS[-1] - ALPHAS[0])
    log_weight = np.log(spread * step) - ((ease - EASE[0]) / EASE[1]) ** 2 / 2
    f_l, f_u = _shares(counts, edges)
    above = [lower_recall(share, ease) for share in f_l]
    for j, (k, n) in enumerate(zip(found, judged, strict=True)):
        gained = (above[j] if j < edges.size else 1.0) - (above[j - 1] if j else 0.0)
        size = (f_u[j] if j < edges.size else 1.0) - (f_u[j - 1] if j else 0.0)
        if n > 0 and size <= 0:
            raise valid.bad_value("n_audited", "0 in a stratum without unlabeled rows", str(n))
        purity = alpha * gained / max(size, 1e-300)
        log_weight = np.where(purity < 1, log_weight, -np.inf)
        kept = purity.clip(1e-12, 1 - 1e-12)
        log_weight = log_weight + k * np.log(kept) + (n - k) * np.log1p(-kept)
    observed = counts.auc_pu
    theta = ndtr(ease)
    auc_labeled = (observed - alpha * theta) / (1 - alpha)
    log_weight = np.where((auc_labeled > 0) & (auc_labeled < 1), log_weight, -np.inf)
    if not np.isfinite(log_weight).any():
        raise ContradictionError("{function} finds no alpha and theta that fit these answers")
    weight = np.exp(log_weight - log_weight.max()).ravel()
    drawn = rng.choice(weight.size, N_DRAWS, p=weight / weight.sum())
    alpha, ease, theta = (each.ravel()[drawn] for each in (alpha, ease, theta))
    noise = np.sqrt(max(float(np.nan_to_num(auc_pu_variance(counts))), 0.0))
    seen = observed + noise * rng.standard_normal(N_DRAWS)
    auc_labeled = ((seen - alpha * theta) / (1 - alpha)).clip(0, 1)
    auc_hidden = harder_auc(auc_labeled, ease)
    share = counts.n_labeled / (counts.n_labeled + alpha * counts.n_unlabeled)
    (recall_labeled,), (flagged,) = _shares(counts, np.array([threshold]))
    recall_hidden = lower_recall(recall_labeled, ease)
    values = {
        "theta": theta,
        "alpha": alpha,
        "auc_labeled": auc_labeled,
        "auc_hidden": auc_hidden,
        "auc": share * auc_labeled + (1 - share) * auc_hidden,
        "recall": share * recall_labeled + (1 - share) * recall_hidden,
        "precision": np.minimum(alpha * recall_hidden / max(flagged, 1e-300), 1),
        "n_hidden": alpha * counts.n_unlabeled,
    }
    return HiddenEstimate(
        intervals={name: interval_of(draws, level) for name, draws in values.items()},
        threshold=threshold,
        n_positive=int(found.sum()),
        n_audited=int(judged.sum()),
    )


def _answers(name: str, values: ArrayLike, n_strata: int) -> FloatArray:
    """Whole numbers, one for each stratum."""
    numbers = valid.as_real_vector(name, np.atleast_1d(values))
    if numbers.size != n_strata:
        raise valid.bad_value(name, f"of {n_strata} strata, one more than cuts", f"{numbers.size}")
    if numbers.min() < 0 or (numbers != np.floor(numbers)).any():
        raise valid.bad_value(name, "whole numbers of at least 0", valid.show(numbers.tolist()))
    return numbers


def _shares(counts: ScoreCounts, cuts: FloatArray) -> tuple[list[float], list[float]]:
    """Shares of the labeled and of the unlabeled rows from each cut up."""
    return tuple(  # type: ignore[return-value]
        [float(column[counts.thresholds >= cut].sum() / column.sum()) for cut in cuts]
        for column in (counts.labeled, counts.unlabeled)
    )
