"""Checks of how much data there is, and whether it is used twice: PU003, PU005, PU010, PU016."""

from __future__ import annotations

import math

import numpy as np

from purecover.checks.base import (
    CheckContext,
    Finding,
    check,
    count,
    fired,
    not_applicable,
    quiet,
)
from purecover.recovery.rates import effective_size, effective_sizes

FEW_LABELED = 10
TIE_SHARE = 0.01
FEW_SCORES = 10
SMALL_LABELED = 50
FEW_GROUPS = 20
SMALL_UNLABELED = 100


@check("PU003", "few labeled examples on one side of the threshold", "warning")
def few_labeled_at_threshold(context: CheckContext) -> Finding:
    """Rates at the threshold rest on the labeled examples on either side of it."""
    counts, threshold = context.counts, context.threshold
    if threshold is None:
        return not_applicable("no threshold was named.")
    above = counts.thresholds >= threshold
    n_above, n_below = (
        effective_size(
            float(counts.labeled[side].sum()),
            None if counts.labeled_sq is None else counts.labeled_sq[side],
        )
        for side in (above, ~above)
    )
    says = (
        f"of the labeled examples {count(n_above)} score at or above the threshold "
        f"{threshold:.4g} and {count(n_below)} below"
    )
    if n_above < FEW_LABELED:
        # Of a sample as small as that the intervals are no help either (PU010).
        small = effective_sizes(counts)[0] < FEW_LABELED
        return fired(
            f"{says}: recall and precision there rest on the few above.",
            "gather more labeled examples."
            if small
            else "lower the threshold, gather more labeled examples, or read the intervals.",
        )
    if n_below < FEW_LABELED:
        return fired(
            f"{says}: the miss rate and the negative predictive value rest on the few below.",
            "gather more labeled examples, or do not lean on these two figures.",
        )
    return quiet(f"{says}.")


@check("PU005", "heavy ties", "warning")
def heavy_ties(context: CheckContext) -> Finding:
    """Tied labeled and unlabeled scores are counted one half, and curves get long chords."""
    counts = context.counts
    share = float(np.dot(counts.labeled / counts.n_labeled, counts.unlabeled / counts.n_unlabeled))
    tie_part = share / 2
    everyone = counts.labeled + counts.unlabeled
    n_scores = int(np.count_nonzero(everyone))
    # Eight rows with eight scores are few, but not tied. Weights hide the number of rows.
    tied = share > 0 if counts.is_weighted else bool((everyone > 1).any())
    thing = "bin of scores" if counts.is_binned else "distinct score"
    things = "bins of scores" if counts.is_binned else "distinct scores"
    scores = f"is 1 {thing}" if n_scores == 1 else f"are {n_scores:,} {things}"
    says = f"there {scores}, and ties make up {tie_part:.3g} of the observed AUC"
    if tie_part > TIE_SHARE or (n_scores < FEW_SCORES and tied):
        hint = (
            "use scores as the model gives them, not rounded or turned into classes: the AUC "
            "counts each tie one half, and the curve knows nothing between its few thresholds."
        )
        if counts.is_binned:
            hint = "count scores with a smaller tolerance, or use those of the model, not rounded."
        return fired(f"{says}.", hint)
    return quiet(f"{says}.")


@check("PU010", "small samples", "warning")
def small_samples(context: CheckContext) -> Finding:
    """Below 50 labeled, 100 unlabeled or 20 groups a single rate is hardly known."""
    n_labeled, n_unlabeled = effective_sizes(context.counts)
    kind = "effective " if context.counts.is_weighted else ""
    says = f"{count(n_labeled)} {kind}labeled and {count(n_unlabeled)} {kind}unlabeled examples"
    if context.n_groups is not None and context.n_groups < FEW_GROUPS:
        return fired(
            f"only {context.n_groups} groups were resampled, too few for an interval to cover.",
            f"below {FEW_GROUPS} groups report point values, or resample finer groups.",
        )
    if n_labeled >= SMALL_LABELED and n_unlabeled >= SMALL_UNLABELED:
        return quiet(f"there are {says}.")
    # A share near one half has the largest standard error, 1 / (2 sqrt(n)).
    p = context.proportions
    labeled, unlabeled = 0.5 / math.sqrt(n_labeled), 0.5 / math.sqrt(n_unlabeled)
    tpr = math.hypot((1 - p.alpha) * labeled, (1 - p.beta) * unlabeled) / p.delta
    fpr = math.hypot(p.beta * unlabeled, p.alpha * labeled) / p.delta
    found = (
        f"with {says}, standard errors reach {tpr:.2g} for a recovered tpr and {fpr:.2g} for a "
        "recovered fpr."
    )
    if n_labeled < FEW_LABELED:
        return fired(
            found,
            f"with fewer than {FEW_LABELED} labeled examples the intervals are too narrow as well: "
            "gather more before relying on any of these figures.",
        )
    return fired(
        found,
        f"with fewer than {SMALL_LABELED} labeled or {SMALL_UNLABELED} unlabeled examples read "
        "the intervals only, and do not choose a threshold on these data.",
    )


@check("PU016", "the threshold was chosen on the same data", "note")
def threshold_of_same_data(context: CheckContext) -> Finding:
    """The best threshold of a sample is better there than anywhere else."""
    if context.threshold is None:
        return not_applicable("no threshold is in use.")
    if context.threshold_chosen:
        return quiet("the threshold was given.")
    return fired(
        f"the threshold {context.threshold:.6g} is the best of these very data, so figures at it "
        "are a little too good and their intervals a little too narrow.",
        "choose the threshold on other data and pass it.",
    )
