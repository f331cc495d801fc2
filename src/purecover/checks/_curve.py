"""Checks of the recovered curve: PU002, PU009."""

from __future__ import annotations

import math
from typing import NamedTuple

from purecover._typing import FloatArray
from purecover.checks._base import CheckContext, Finding, check, fired, not_applicable, quiet
from purecover.checks._noise import critical_value, effective_sizes, shortfall
from purecover.curves import PURoc
from purecover.recovery._roc import concavity_excess

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
