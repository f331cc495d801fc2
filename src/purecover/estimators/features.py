"""Features of the score distribution, by which real problems are compared with each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import logit

from purecover.counts import ScoreCounts
from purecover.estimators.inclusion import inclusion_bound
from purecover.estimators.label_curve import Posterior
from purecover.recovery.rates import effective_sizes

UNLABELED_SHARES = (0.01, 0.05, 0.2, 0.5, 0.8)
LABELED_SHARES = (0.05, 0.1, 0.3, 0.5, 0.9)
"""Points at which the curve of labeled against unlabeled shares is read off."""

LARGEST_SIZES = np.array([5_000, 50_000])
"""Larger samples count as samples of this size, since the collection has none of their size."""

N_GROUPS, END_SHARE = 320, 0.03
"""Number of groups of scores; half of the groups lie in this share of rows at either end."""


def group_scores(counts: ScoreCounts) -> ScoreCounts:
    """Replace scores by ranks, in groups like those of the collection.

    Groups are small at both ends of the ranking and of about equal size between.
    """
    if counts.n_thresholds > N_GROUPS:
        passed = np.cumsum(counts.labeled + counts.unlabeled)
        outer = np.geomspace(1 / counts.n_thresholds, END_SHARE, N_GROUPS // 4)
        middle = np.linspace(END_SHARE, 1 - END_SHARE, N_GROUPS // 2)
        shares = np.unique(np.concatenate((outer, middle, 1 - outer))) * (1 - 1e-12)
        ends = np.unique(np.searchsorted(passed, shares * passed[-1]))
        counts = counts._grouped(np.append(0, ends[ends < passed.size - 1] + 1))
    ranks = np.arange(counts.n_thresholds, dtype=np.float64)[::-1]
    return replace(counts, thresholds=ranks, highest=None)


def features_of(counts: ScoreCounts, curve: Posterior) -> dict[str, float]:
    """Compute the features of a problem without its truth; shares are given as log-odds.

    Only the order of scores matters.

    Parameters
    ----------
    counts : ScoreCounts
        The scores, from :func:`group_scores`.
    curve : Posterior
        The posterior of :class:`LabelCurve` for these counts.

    Returns
    -------
    dict of str to float
        The features by name. ``"bound95_a"``, ``"bound50_a"``, ``"bound95_b"`` and
        ``"bound50_b"`` are upper confidence bounds of the inclusions a and b.
    """
    n_labeled, n_unlabeled = np.minimum(effective_sizes(counts), LARGEST_SIZES)
    alpha, beta = curve.mean
    clean = curve.mean_over(curve.clean)[0]
    ends = curve.ends(0.95)
    found = {
        "auc_pu": _log_odds(counts.auc_pu),
        "n_labeled": float(np.log(n_labeled)),
        "n_unlabeled": float(np.log(n_unlabeled)),
        "curve_a": _log_odds(alpha / beta),
        "curve_b": _log_odds((1 - beta) / (1 - alpha)),
        "curve_clean_a": _log_odds(alpha / beta if np.isnan(clean) else clean),
        "clean_probability": curve.clean_probability,
        "width_alpha": ends["alpha"][1] - ends["alpha"][0],
        "width_delta": ends["delta"][1] - ends["delta"][0],
        "smooth": curve.kind_probability("smooth"),
        "steep": curve.kind_probability("steep"),
    }
    for name, side in (("a", counts), ("b", counts.flipped())):
        for level in (95, 50):
            bound = inclusion_bound(side, confidence_level=level / 100)
            found[f"bound{level}_{name}"] = _log_odds(bound)
    labeled, unlabeled = (
        np.concatenate(([0.0], np.cumsum(side) / side.sum()))
        for side in (counts.labeled, counts.unlabeled)
    )
    for share in UNLABELED_SHARES:
        found[f"labeled_at_{share:g}"] = _log_odds(np.interp(share, unlabeled, labeled))
    for share in LABELED_SHARES:
        found[f"unlabeled_at_{share:g}"] = _log_odds(np.interp(share, labeled, unlabeled))
    return found


def _log_odds(share: float, least: float = 1e-3) -> float:
    return float(logit(np.clip(share, least, 1 - least)))
