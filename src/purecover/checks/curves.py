"""Checks of the scores and the recovered curve: PU002, PU006, PU009, PU013, PU014."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import numpy as np

from purecover._typing import BoolArray, FloatArray
from purecover.checks.base import (
    FALSE_ALARM_RATE,
    CheckContext,
    Finding,
    check,
    contrast,
    count,
    critical_value,
    fired,
    not_applicable,
    quiet,
    shortfall,
)
from purecover.counts import ScoreCounts
from purecover.curves import PURoc, _cumulative_share
from purecover.recovery.rates import effective_sizes, posterior_band
from purecover.recovery.roc import concavity_excess

_SCAR = "the labeled positives are not a random sample of all positives"


class _Side(NamedTuple):
    """One way out of the unit box: a share that falls short of a multiple of another."""

    name: str
    rate: FloatArray
    z: FloatArray
    cause: str


@check("PU002", "recovered rates leave [0, 1]", "warning")
def rates_leave_box(context: CheckContext) -> Finding:
    """Some rate is outside [0, 1] by more than noise explains at any threshold."""
    roc, p = context.roc, context.proportions
    if p.alpha == 0 and p.beta == 1:
        return not_applicable("with alpha 0 and beta 1 the recovered rates are the observed ones.")
    if context.counts.n_thresholds < 2:
        return not_applicable("all scores are equal.")
    n_labeled, n_unlabeled = effective_sizes(context.counts)
    sides = _sides(context, n_labeled, n_unlabeled)
    worst = max(sides, key=lambda side: float(side.z.max()))
    at = int(worst.z.argmax())
    limit = critical_value(n_labeled + n_unlabeled)
    outside = f"{roc.n_outside:,} of {roc.fpr_raw.size:,} points lie outside"
    if worst.z[at] <= limit:
        return quiet(
            f"{outside}, by at most {worst.z[at]:.2g} standard errors (noise reaches {limit:.2g})."
        )
    return fired(
        f"the recovered {worst.name} at threshold {roc.thresholds_raw[at + 1]:.4g} "
        f"({worst.rate[at]:.3g}), {worst.z[at]:.2g} standard errors outside where noise reaches "
        f"{limit:.2g}; {outside}.",
        worst.cause,
    )


def _sides(context: CheckContext, n_labeled: float, n_unlabeled: float) -> list[_Side]:
    """The four ways out, as functions of the threshold; both ends are always in the box."""
    roc, p = context.roc, context.proportions
    a, b = p.unlabeled_inclusion, p.labeled_inclusion
    fpr, tpr = roc.fpr_raw[1:-1], roc.tpr_raw[1:-1]
    labeled, unlabeled = roc.tpr_pu[1:-1] * n_labeled, roc.fpr_pu[1:-1] * n_unlabeled
    labeled_below, unlabeled_below = n_labeled - labeled, n_unlabeled - unlabeled
    return [
        _Side(
            "fpr is below 0",
            fpr,
            shortfall(unlabeled, labeled, n_unlabeled, n_labeled, a),
            "too few unlabeled examples score as high as the labeled ones: "
            f"alpha={p.alpha:.3g} is too large, or {_SCAR}.",
        ),
        _Side(
            "tpr is above 1",
            tpr,
            shortfall(labeled_below, unlabeled_below, n_labeled, n_unlabeled, b),
            "too few labeled examples score as low as the unlabeled ones: "
            f"beta={p.beta:.3g} is too small, or {_SCAR}.",
        ),
        _Side(
            "fpr is above 1",
            fpr,
            shortfall(unlabeled_below, labeled_below, n_unlabeled, n_labeled, a),
            "too many labeled examples have low scores: are the scores inverted for some of "
            f"them? Otherwise {_SCAR}, or alpha={p.alpha:.3g} is too large.",
        ),
        _Side(
            "tpr is below 0",
            tpr,
            shortfall(labeled, unlabeled, n_labeled, n_unlabeled, b),
            "too few labeled examples have high scores: are the scores inverted for some of "
            f"them? Otherwise {_SCAR}, or beta={p.beta:.3g} is too small.",
        ),
    ]


@check("PU009", "the ROC curve is not concave", "note")
def not_concave(context: CheckContext) -> Finding:
    """The concave hull has a larger area than the curve, by more than two standard errors."""
    roc = context.roc
    observed = PURoc(fpr_pu=roc.fpr_pu, tpr_pu=roc.tpr_pu, thresholds=roc.thresholds_raw)
    excess, error = concavity_excess(context.counts, observed)
    if not math.isfinite(error):
        return not_applicable("the standard error of the AUC needs two examples of each kind.")
    says = f"the concave hull exceeds the observed AUC by {excess:.3g}, standard error {error:.2g}"
    # Rounding must not make constant scores, whose error is 0, look bent.
    if excess <= max(2 * error, 1e-12):
        return quiet(f"{says}.")
    return fired(
        f"{says}.",
        "do not use the repairs 'hull' and 'likelihood', which assume concavity; if both very "
        "high and very low scores mean positive, a better model would know.",
    )


# -- A check for labeled examples that are not a random sample of the positives: PU006 -----------


IndexArray: TypeAlias = np.ndarray[tuple[int], np.dtype[np.intp]]

TOPS = (0.01, 0.02, 0.05, 0.1)
"""Shares of all examples, those with the highest scores, that are looked at in turn."""

NEXT = 2.0
"""How many times as many examples below them they are compared with."""

SCARCE = 0.8
"""Labels that are less than a fifth rarer at the top are not worth a word, however sure it is."""

FEWEST = 10
"""Labeled examples that should be at the top."""


@check("PU006", "labeled examples not a random sample of the positives", "warning")
def labels_thin_out(context: CheckContext) -> Finding:
    """Where positives are most frequent, labels should be most frequent as well."""
    counts = context.counts
    if context.n_groups is not None:
        return not_applicable("rows are dependent, and the test would count each of them.")
    if counts.ordered_pairs <= 0.5 * counts.n_labeled * counts.n_unlabeled:
        return not_applicable("labeled examples do not score higher than unlabeled ones.")
    sizes = effective_sizes(counts)
    labeled = counts.labeled * (sizes[0] / counts.n_labeled)
    few = np.cumsum(labeled)
    rows = few + np.cumsum(counts.unlabeled * (sizes[1] / counts.n_unlabeled))
    top, below, usable = _windows(few, rows)
    if not usable.any():
        return not_applicable(f"fewer than {FEWEST} labeled examples should have the top scores.")
    top, below = top[usable], below[usable]
    # Both shares of labeled examples with their numbers of rows; a test for each window.
    at_top, n_top = few[top], rows[top]
    at_next, n_next = few[below] - few[top], rows[below] - rows[top]
    z = np.array(
        [
            shortfall(at_top[i : i + 1], at_next[i : i + 1], n_top[i], n_next[i], 1.0)[0]
            for i in range(top.size)
        ]
    )
    z = np.where(at_top / n_top < SCARCE * at_next / n_next, z, 0.0)
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM_RATE / len(TOPS))
    worst = int(z.argmax())
    says = (
        f"{at_top[worst] / n_top[worst]:.1%} of the {count(n_top[worst])} highest scores are "
        f"labeled, and {at_next[worst] / n_next[worst]:.1%} of the {count(n_next[worst])} below"
    )
    if z[worst] <= limit:
        return quiet(f"{says}: labels do not thin out at the top.")
    return fired(
        f"{says}: labels thin out where positives should be most frequent.",
        "were clear cases labeled less often, so that the labeled positives are not a random "
        "sample of all positives? Or do some negatives outscore the positives? scar_test looks "
        "at the features, ClusteredLabels allows for kinds of positives labeled unequally.",
    )


def _windows(few: FloatArray, rows: FloatArray) -> tuple[IndexArray, IndexArray, BoolArray]:
    """Last thresholds of each top and of what lies below it, and which of them hold enough."""
    shares = np.array(TOPS)
    last = rows.size - 1
    top = np.minimum(np.searchsorted(rows, shares * rows[-1] * (1 - 1e-12)), last)
    # Ties may make a top larger than it should be; what lies below is so much larger too.
    reach = np.minimum(rows[top] * (1 + NEXT), rows[-1]) * (1 - 1e-12)
    below = np.minimum(np.searchsorted(rows, reach), last)
    with np.errstate(invalid="ignore"):
        expected = few[below] * rows[top] / rows[below]
    return top, below, (below > top) & (expected >= FEWEST)


# -- A check against known negatives: PU014 ------------------------------------------------------


FEW_NEGATIVES = 20


@check("PU014", "known negatives disagree with the recovered fpr", "warning")
def negatives_disagree(context: CheckContext) -> Finding:
    """The share of known negatives above some threshold is not the recovered fpr."""
    counts, roc = context.counts, context.roc
    if counts.negative is None or counts.n_negative == 0:
        return not_applicable("there are no known negatives.")
    if counts.n_thresholds < 2:
        return not_applicable("all scores are equal.")
    n_labeled, n_unlabeled = effective_sizes(counts)
    # Squared weights of the negatives are not kept; those of the unlabeled stand in.
    n_negative = counts.n_negative * n_unlabeled / counts.n_unlabeled
    if n_negative < FEW_NEGATIVES:
        return not_applicable(f"{count(n_negative)} known negatives are too few to compare with.")
    share = _cumulative_share(counts.negative)
    p = context.proportions
    z = contrast(
        [share, roc.fpr_pu, roc.tpr_pu],
        [n_negative, n_unlabeled, n_labeled],
        [p.delta, -p.beta, p.alpha],  # share - fpr, times delta
    )
    at = int(np.abs(z[1:-1]).argmax()) + 1  # both ends agree always
    # Both signs count, so each gets half of the level.
    limit = critical_value(n_labeled + n_unlabeled + n_negative, FALSE_ALARM_RATE / 2)
    says = (
        f"{share[at]:.3g} of {count(counts.n_negative)} known negatives score at or above "
        f"{roc.thresholds_raw[at]:.4g}, where the recovered fpr is {roc.fpr_raw[at]:.3g}"
    )
    if abs(z[at]) <= limit:
        return quiet(f"{says}: {abs(z[at]):.2g} standard errors (noise reaches {limit:.2g}).")
    # Above the diagonal the recovered fpr falls as alpha grows and as beta falls.
    lies_low = z[at] * (roc.tpr_pu[at] - roc.fpr_pu[at]) > 0
    cause = "alpha is too large or beta too small" if lies_low else "alpha is too small"
    return fired(
        f"{says}: {abs(z[at]):.2g} standard errors apart, where noise reaches {limit:.2g}.",
        f"{cause}, or the known negatives are not a random sample of the negatives (those "
        "picked by hand rarely are).",
    )


# -- A check for scores that are calibrated probabilities of being labeled: PU013 ----------------


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
    low, high = posterior_band(counts.labeled_share, p)
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
