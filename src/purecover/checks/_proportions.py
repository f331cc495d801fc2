"""Checks of alpha, beta and the target: PU001, PU007, PU008, PU015."""

from __future__ import annotations

import math

from purecover.checks._base import CheckContext, Finding, check, fired, not_applicable, quiet
from purecover.curves import auc_pu, auc_pu_variance

SMALL_DELTA = 0.1
ALPHA_ERROR = 0.05


@check("PU001", "alpha is close to beta", "warning")
def alpha_close_to_beta(context: CheckContext) -> Finding:
    """Below a delta of 0.1 every error is magnified more than tenfold."""
    delta = context.proportions.delta
    says = f"beta - alpha is {delta:.3g}"
    if delta >= SMALL_DELTA:
        return quiet(f"{says}; errors are magnified {1 / delta:.2g} times.")
    return fired(
        f"{says}, so every error of an observed rate is magnified {1 / delta:.3g} times.",
        "read the intervals, not the point values, and look at the sensitivity to alpha; a "
        "purer labeled sample or an unlabeled one with fewer positives would help.",
    )


@check("PU007", "intervals take alpha and beta as exact", "note")
def interval_ignores_proportions(context: CheckContext) -> Finding:
    """Intervals that vary only the scores do not cover an error of alpha."""
    p = context.proportions
    if p.alpha == 0 and p.beta == 1:
        return not_applicable("with alpha 0 and beta 1 nothing is corrected.")
    if context.interval_varies_proportions:
        return quiet("the intervals vary alpha and beta too.")
    if not 0 <= context.roc.auc_direct <= 1:
        return not_applicable("alpha and beta do not fit the scores at all (PU008).")
    observed = auc_pu(context.counts) - 0.5
    step = min(ALPHA_ERROR, p.delta / 2)
    moved = sorted(
        min(max(0.5 + observed / min(delta, 1.0), 0.0), 1.0)
        for delta in (p.delta - step, p.delta + step)
    )
    return fired(
        f"the intervals vary the scores only and take alpha={p.alpha:.4g} and beta={p.beta:.4g} "
        f"as exact; with alpha off by {step:.2g} the AUC would be {moved[0]:.3f} or "
        f"{moved[1]:.3f}.",
        "see how the figures move with alpha and beta (SensitivityDisplay), or let the intervals "
        "vary them.",
    )


@check("PU008", "alpha and beta do not fit the observed AUC", "error")
def infeasible_auc(context: CheckContext) -> Finding:
    """The observed AUC is at most 1/2, or further from it than delta allows."""
    observed, delta = auc_pu(context.counts), context.proportions.delta
    recovered = 0.5 + (observed - 0.5) / delta
    variance = auc_pu_variance(context.counts)
    error = math.sqrt(variance) if variance >= 0 else math.inf
    if observed <= 0.5:
        beyond = 0.5 - observed
        says = f"the observed AUC is {observed:.4f}, no better than chance"
        hint = "was the label inverted, or does a low score mean positive? Then negate the scores."
    elif recovered > 1:
        beyond = observed - (1 + delta) / 2
        says = (
            f"the observed AUC {observed:.4f} is above {(1 + delta) / 2:.4f}, the most that "
            f"beta - alpha = {delta:.3g} allows (recovered {recovered:.4f})"
        )
        hint = (
            f"alpha is too large or beta too small: beta - alpha must be at least "
            f"{2 * observed - 1:.3g} for these scores."
        )
    else:
        return quiet(f"the recovered AUC {recovered:.4f} is in (0.5, 1].")
    if observed > 0.5 and observed <= (1 + _largest_delta(context)) / 2:
        return quiet(f"{says}, which the estimate of beta - alpha leaves open.")
    # Constant scores have no error and are no accident.
    if error > 0 and beyond <= 2 * error:
        noise = (
            "an unknown error" if math.isinf(error) else f"two standard errors ({2 * error:.2g})"
        )
        return fired(f"{says}, though by less than {noise}.", hint, "note")
    return fired(f"{says}.", hint)


def _largest_delta(context: CheckContext) -> float:
    """The largest beta - alpha that an estimate allows; the given one without an estimate."""
    estimation = context.estimation
    if estimation is None:
        return context.proportions.delta
    if "delta" in estimation.intervals:
        return estimation.intervals["delta"].high
    return estimation.identification.get("delta", (0.0, context.proportions.delta))[1]


@check("PU015", "the target population has one class only", "note")
def one_class_target(context: CheckContext) -> Finding:
    """At a prior of 0 precision, AUC-PR and F1 are 0 whatever the scores; at 1 they are 1."""
    prior = context.prior
    if prior is None:
        return not_applicable("no target was named.")
    if 0 < prior < 1:
        return quiet(f"the target population has {100 * prior:.3g} % positives.")
    return fired(
        f"the target population has {'no' if prior == 0 else 'only'} positives (prior "
        f"{prior:g}), so precision, AUC-PR and F1 say nothing about the scores.",
        "name another population: target='pooled', or its prior as a number.",
    )
