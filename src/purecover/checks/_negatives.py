"""A check against known negatives: PU014."""

from __future__ import annotations

import numpy as np

from purecover.checks._base import CheckContext, Finding, check, count, fired, not_applicable, quiet
from purecover.checks._noise import FALSE_ALARM_RATE, contrast, critical_value, effective_sizes
from purecover.curves import _cumulative_share

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
