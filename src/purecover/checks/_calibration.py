"""A check for scores that are calibrated probabilities of being labeled: PU013."""

from __future__ import annotations

import numpy as np

from purecover._typing import BoolArray, FloatArray
from purecover.checks._base import CheckContext, Finding, check, fired, not_applicable, quiet
from purecover.counts import ScoreCounts

N_BINS = 10
SLACK = 0.1
TOLERATED_SHARE = 0.05
N_ERRORS = 3.0


@check("PU013", "calibrated scores contradict alpha and beta", "warning")
def calibrated_outside_band(context: CheckContext) -> Finding:
    """Calibrated scores must stay in a band given by alpha, beta and the labeled share."""
    counts, p = context.counts, context.proportions
    why_not = _why_not_calibrated(counts)
    if why_not:
        return not_applicable(f"the scores are not calibrated probabilities of a label: {why_not}.")
    c = counts.labeled_share
    low = c * (1 - p.beta) / (c * (1 - p.beta) + (1 - c) * (1 - p.alpha))
    high = c * p.beta / (c * p.beta + (1 - c) * p.alpha)
    below, above = counts.thresholds < low, counts.thresholds > high
    weight = counts.labeled + counts.unlabeled
    share = float(weight[below | above].sum() / weight.sum())
    says = (
        f"{share:.1%} of the scores, calibrated probabilities of a label, lie outside "
        f"[{low:.3g}, {high:.3g}], the band that alpha={p.alpha:.3g} and beta={p.beta:.3g} allow"
    )
    # The labels must bear out what the scores say, or the scores are merely overconfident.
    too_low = _excess(counts, below, low) < -N_ERRORS
    too_high = _excess(counts, above, high) > N_ERRORS
    if share <= TOLERATED_SHARE or not (too_low or too_high):
        return quiet(f"{says}.")
    causes = [
        *(["alpha is too large for this beta"] if too_high else []),
        *(["beta is too small for this alpha"] if too_low else []),
    ]
    return fired(
        f"{says}.",
        f"{' and '.join(causes)}, or the labeled positives are not a random sample of all "
        "positives; precision and posterior probabilities would be clipped.",
    )


def _why_not_calibrated(counts: ScoreCounts) -> str:
    """Empty if the scores can be read as probabilities of carrying a label."""
    scores = counts.thresholds
    if scores[0] > 1 or scores[-1] < 0:
        return f"they span {scores[-1]:.3g} to {scores[0]:.3g}"
    weight, variance = counts.labeled + counts.unlabeled, _label_variance(counts, scores)
    total = weight.sum()
    # Fits that are off by a tenth of the labeled share are still good enough to judge by.
    slack = SLACK * counts.labeled_share
    difference = float(np.dot(weight, scores) - counts.n_labeled) / total
    error = float(np.sqrt(variance.sum())) / total
    if abs(difference) > N_ERRORS * error + slack:
        return f"their mean differs from the labeled share by {difference:+.3g}"
    # Bins of like size; those that one repeated score leaves empty are dropped.
    place = ((np.cumsum(weight) - weight / 2) / total * N_BINS).astype(np.int64)
    size = np.bincount(place, weight)
    filled = size > 0
    size = size[filled]
    gap = np.bincount(place, weight * scores - counts.labeled)[filled] / size
    errors = np.sqrt(np.bincount(place, variance)[filled]) / size
    bad = np.abs(gap) > N_ERRORS * errors + slack
    if bad.any():
        worst = float(gap[np.argmax(np.abs(gap))])
        return f"in {bad.sum()} of {size.size} bins they are off, by up to {worst:+.3g}"
    return ""


def _label_variance(counts: ScoreCounts, chance: FloatArray | float) -> FloatArray:
    """Variance of the labeled count at each score, if ``chance`` is that of a label."""
    squares = counts.labeled + counts.unlabeled
    if counts.labeled_sq is not None and counts.unlabeled_sq is not None:
        squares = counts.labeled_sq + counts.unlabeled_sq
    return np.asarray(squares * (chance * (1 - chance)), dtype=np.float64)


def _excess(counts: ScoreCounts, where: BoolArray, chance: float) -> float:
    """Labeled examples in excess of ``chance`` among some scores, in standard errors."""
    variance = float(_label_variance(counts, chance)[where].sum())
    expected = chance * float((counts.labeled + counts.unlabeled)[where].sum())
    return (float(counts.labeled[where].sum()) - expected) / np.sqrt(variance) if variance else 0.0
