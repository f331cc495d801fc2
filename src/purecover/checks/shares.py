"""Checks of alpha, beta and the target, given or estimated.

PU001, PU004, PU007, PU008, PU011, PU012, PU015, PU017, PU018.
"""

from __future__ import annotations

import math

from purecover.checks.base import (
    CheckContext,
    Finding,
    check,
    check_of_estimate,
    fired,
    not_applicable,
    quiet,
)
from purecover.curves import auc_pu_variance
from purecover.estimators.estimate import PriorEstimate

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
    observed = context.counts.auc_pu - 0.5
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
    observed, delta = context.counts.auc_pu, context.proportions.delta
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


# -- Checks of estimated proportions: PU004, PU011, PU012, PU017, PU018 --------------------------


DISAGREEMENT = 0.1
SIGNIFICANCE = 0.05
UNLIKELY, LIKELY = 0.05, 0.5
"""Probabilities of clean labels below and above which one may say so."""

_IF_WRONG = "if you know that some labels are wrong, pass beta."
_IF_CLEAN = "if you know that the labels are clean, pass beta=1."


@check_of_estimate("PU004", "an estimate at the edge of its range", "warning")
def estimate_at_edge(estimation: PriorEstimate) -> Finding:
    """At an end of what a method can return, the truth may lie beyond."""
    says = f"{_shares(estimation)} of {estimation.estimator}"
    if not estimation.at_edge:
        return quiet(f"{says} lie inside the range of the method.")
    return fired(
        f"{says} lie at an end of what the method can return, and the truth may lie beyond.",
        "ask another estimator, or pass alpha if it is known.",
    )


@check_of_estimate("PU011", "label noise not significantly above 0", "note")
def noise_not_significant(estimation: PriorEstimate) -> Finding:
    """The scores do not contradict clean labels."""
    p_value, beta = estimation.clean_p_value, estimation.proportions.beta
    if not estimation.beta_estimated:
        return not_applicable("beta was not estimated.")
    if estimation.clean_probability is not None:
        return _by_probability(estimation.clean_probability, beta)
    if p_value is None or math.isnan(p_value):
        return not_applicable("the labels could not be tested.")
    says = f"the test of clean labels has p = {p_value:.2g}"
    if p_value <= SIGNIFICANCE:
        return quiet(f"{says}: some labels are wrong, beta is estimated as {beta:.3f}.")
    if beta == 1:
        return fired(
            f"{says}: the scores do not contradict clean labels, and beta is taken as 1.",
            _IF_WRONG,
        )
    return fired(
        f"{says}: beta is estimated as {beta:.3f}, but clean labels are not ruled out.", _IF_CLEAN
    )


def _by_probability(probability: float, beta: float) -> Finding:
    says = f"clean labels have probability {probability:.2g}, and beta is estimated as {beta:.3f}"
    if probability < UNLIKELY:
        return quiet(f"{says}: some labels are probably wrong.")
    if probability > LIKELY:
        return fired(f"{says}: the labels are probably clean.", _IF_CLEAN)
    return fired(f"{says}: the scores leave open whether labels are clean.", _IF_CLEAN)


@check_of_estimate("PU012", "estimators disagree", "warning")
def estimators_disagree(estimation: PriorEstimate) -> Finding:
    """Estimators of unlike methods agree where the scores tell, and differ where they do not."""
    n = len(estimation.spread)
    if n < 2:
        return not_applicable("no other estimator found an estimate.")
    alphas, betas = zip(*estimation.spread.values(), strict=True)
    says = f"{n} estimators put alpha at {_range(alphas)} and beta at {_range(betas)}"
    if estimation.disagreement <= DISAGREEMENT:
        return quiet(f"{says}.")
    return fired(
        f"{says}: the estimate is unreliable. {_allowed(estimation)}",
        "look at all of them (purecover priors), report the range, and pass alpha if it can be "
        "found out otherwise; better scores separate the classes more and settle it.",
    )


@check_of_estimate("PU017", "the scores do not tell alpha and beta", "warning")
def not_identifiable(estimation: PriorEstimate) -> Finding:
    """Without a pure region of the scores, many pairs of alpha and beta fit equally well."""
    if estimation.identifiable:
        return quiet(f"{estimation.estimator} finds that the scores tell alpha and beta.")
    return fired(
        f"positives and negatives overlap so much that these scores do not tell "
        f"{_shares(estimation)} from smaller corrections. {_allowed(estimation)}",
        "report the range instead of one figure, or pass alpha if it can be found out otherwise.",
    )


@check_of_estimate("PU018", "labels taken as clean do not look it", "warning")
def noise_overlooked(estimation: PriorEstimate) -> Finding:
    """A method for clean labels, on labels that are not."""
    if estimation.beta_given or estimation.beta_estimated:
        return not_applicable("beta was given or estimated.")
    p_value = estimation.clean_p_value
    if p_value is None or math.isnan(p_value):
        return not_applicable("the labels could not be tested.")
    says = f"{estimation.estimator} takes labels as clean, and the test of it has p = {p_value:.2g}"
    if p_value > SIGNIFICANCE:
        return quiet(f"{says}.")
    return fired(
        f"{says}: some labels are probably wrong, and alpha is then too large.",
        "use NoisyLabels around the estimator, or the default, which estimates beta too; pass beta "
        "if you know it.",
    )


def _shares(estimation: PriorEstimate) -> str:
    p = estimation.proportions
    return f"alpha {p.alpha:.3g} and beta {p.beta:.3g}"


def _range(values: tuple[float, ...]) -> str:
    low, high = min(values), max(values)
    return f"{low:.3g}" if f"{low:.3g}" == f"{high:.3g}" else f"{low:.3g} to {high:.3g}"


def _allowed(estimation: PriorEstimate) -> str:
    """What fits if no scores are pure."""
    titles = {"alpha": "alpha", "beta": "beta", "auc": "an AUC"}
    ends = [
        f"{title} from {low:.3g} to {high:.3g}"
        for name, title in titles.items()
        if name in estimation.identification
        for low, high in [estimation.identification[name]]
        if low < high
    ]
    if not ends:
        return "Nothing else would fit."
    listed = ends[0] if len(ends) == 1 else f"{', '.join(ends[:-1])} and {ends[-1]}"
    return f"If no score is pure, {listed} would fit too."
