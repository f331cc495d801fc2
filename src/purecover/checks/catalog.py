"""Every numbered check, and one call that runs them all."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from statistics import NormalDist
from types import MappingProxyType
from typing import Any

import numpy as np

from purecover._typing import CountArray
from purecover._validation import check_instance, check_names, public
from purecover.checks.base import (
    FALSE_ALARM_RATE,
    NEEDED,
    REGISTRY,
    Check,
    CheckContext,
    CheckResult,
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
from purecover.counts import ScoreCounts, auc_pu_variance, cumulative_share
from purecover.estimators.estimate import PriorEstimate
from purecover.exceptions import InvalidInputError
from purecover.intervals.ends import interval_ends
from purecover.proportions import (
    GivenProportions,
    MixtureProportions,
    UncertainProportions,
)
from purecover.recovery.curves import concavity_excess
from purecover.recovery.rates import (
    effective_size,
    effective_sizes,
    largest_alpha,
    least_delta,
    rounded_down,
)

FEW_LABELED = 10
TIE_SHARE = 0.01
FEW_SCORES = 10
FEW_GROUPS = 20
FEW_UNLABELED = 30
FEWEST_TO_JUDGE = 20


@check(
    "PU003", "few labeled rows on one side of the threshold", "note", "threshold", needs="threshold"
)
def few_labeled_at_threshold(context: CheckContext) -> Finding:
    """Rates at the threshold depend on the labeled rows on either side of it."""
    counts = context.counts
    threshold: Any = context.threshold
    above = counts.thresholds >= threshold
    squares = counts.labeled if counts.labeled_sq is None else counts.labeled_sq
    n_above, n_below = (
        effective_size(float(counts.labeled[side].sum()), squares[side]) for side in (above, ~above)
    )
    says = (
        f"of the labeled rows {count(n_above)} score at or above the threshold "
        f"{threshold:.4g} and {count(n_below)} below"
    )
    if n_above < FEW_LABELED:
        # Of a sample as small as that the intervals are no help either (PU010).
        hint = "gather more labeled rows."
        if effective_sizes(counts)[0] >= FEW_LABELED:
            hint = "lower the threshold, gather more labeled rows, or read the intervals."
        return fired(f"{says}: recall and precision there depend on the few above.", hint)
    if n_below < FEW_LABELED:
        return fired(
            f"{says}: the miss rate and the negative predictive value depend on the few below.",
            "gather more labeled rows, or do not rely on these two metrics.",
        )
    return quiet(f"{says}.")


@check("PU005", "many scores are tied", "warning", "scores")
def heavy_ties(context: CheckContext) -> Finding:
    """Tied labeled and unlabeled scores are counted one half, and curves get long chords."""
    counts = context.counts
    share = float(np.dot(counts.labeled / counts.n_labeled, counts.unlabeled / counts.n_unlabeled))
    tie_part = share / 2
    everyone = counts.labeled + counts.unlabeled
    n_scores = int(np.count_nonzero(everyone))
    # Eight rows with eight scores are few, but not tied. Weights hide the number of rows.
    tied = share > 0 if counts.is_weighted else bool((everyone > 1).any())
    things = "bin{} of scores" if counts.is_binned else "distinct score{}"
    are, ending = ("is", "") if n_scores == 1 else ("are", "s")
    scores = f"{are} {n_scores:,} {things.format(ending)}"
    says = f"there {scores}, and ties make up {tie_part:.3g} of the observed AUC"
    sides = {"labeled": counts.labeled, "unlabeled": counts.unlabeled}
    copies, side = max((_copies(tally), side) for side, tally in sides.items())
    if copies > 1 and context.n_groups is None:
        return fired(
            f"each {side} score occurs {copies} times or a multiple of it: rows are duplicated, "
            "and intervals are too narrow.",
            "remove the copies, or pass groups, so that copies are resampled together.",
        )
    if tie_part > TIE_SHARE or (n_scores < FEW_SCORES and tied):
        hint = (
            "use scores as the model gives them, not rounded or turned into classes: the AUC "
            "counts each tie one half, and the curve has few thresholds."
        )
        if counts.is_binned:
            hint = "count scores with a smaller tolerance, or use those of the model, not rounded."
        return fired(f"{says}.", hint)
    return quiet(f"{says}.")


def _copies(tally: CountArray) -> int:
    """Return the largest number that divides all counts of scores; 1 for few scores or weights."""
    some = tally[tally > 0]
    few = some.dtype.kind == "f" or some.size < FEWEST_TO_JUDGE
    return 1 if few else int(np.gcd.reduce(some))


@check("PU010", "the sample is small", "warning", "sample")
def small_samples(context: CheckContext) -> Finding:
    """With fewer than 10 labeled, 30 unlabeled or 20 groups intervals are too narrow."""
    n_labeled, n_unlabeled = effective_sizes(context.counts)
    kind = "effective " if context.counts.is_weighted else ""
    says = f"{count(n_labeled)} {kind}labeled and {count(n_unlabeled)} {kind}unlabeled rows"
    if context.n_groups is not None and context.n_groups < FEW_GROUPS:
        return fired(
            f"only {context.n_groups} groups were resampled, too few for an interval.",
            f"below {FEW_GROUPS} groups report point values, or resample finer groups.",
        )
    if n_labeled >= FEW_LABELED and n_unlabeled >= FEW_UNLABELED:
        return quiet(f"there are {says}.")
    return fired(
        f"with {says} the intervals are too narrow.",
        f"gather at least {FEW_LABELED} labeled and {FEW_UNLABELED} unlabeled rows before relying "
        "on any of these metrics.",
    )


@check("PU016", "the threshold was chosen on the same data", "note", "threshold", "threshold")
def threshold_of_same_data(context: CheckContext) -> Finding:
    """The best threshold of a sample is better there than anywhere else."""
    if context.threshold_chosen:
        return quiet("the threshold was given.")
    says = f"the threshold {context.threshold:.6g} was chosen on the same data"
    if context.optimism is not None:
        tpr, fpr = context.optimism
        return quiet(
            f"{says}; what the choice adds, {tpr:.2g} to the observed true-positive rate and "
            f"{fpr:.2g} to the false-positive rate, is subtracted."
        )
    return fired(
        f"{says}, so metrics at it can be a little too good.",
        "choose the threshold on other data and pass it. The bootstrap corrects for the choice "
        "only if the threshold maximizes a metric.",
    )


_SCAR = "the labeled positives are not a random sample of all positives"


@check("PU002", "recovered rates lie outside [0, 1]", "warning", "scores")
def rates_leave_box(context: CheckContext) -> Finding:
    """Some rate is outside [0, 1] by more than noise explains at any threshold."""
    roc, p = context.roc, context.proportions
    if p.alpha == 0 and p.beta == 1:
        return not_applicable("with alpha 0 and beta 1 the recovered rates are the observed ones.")
    if context.counts.n_thresholds < 2:
        return not_applicable("all scores are equal.")
    n_labeled, n_unlabeled = effective_sizes(context.counts)
    # Both ends of the curve are always in the box.
    labeled, unlabeled = roc.tpr_pu[1:-1] * n_labeled, roc.fpr_pu[1:-1] * n_unlabeled
    ours = (n_labeled, n_unlabeled, p.labeled_inclusion)
    theirs = (n_unlabeled, n_labeled, p.unlabeled_inclusion)
    apart = {
        "fpr is below 0": shortfall(unlabeled, labeled, *theirs),
        "tpr is above 1": shortfall(n_labeled - labeled, n_unlabeled - unlabeled, *ours),
        "fpr is above 1": shortfall(n_unlabeled - unlabeled, n_labeled - labeled, *theirs),
        "tpr is below 0": shortfall(labeled, unlabeled, *ours),
    }
    name = max(apart, key=lambda each: float(apart[each].max()))
    z, at = apart[name], int(apart[name].argmax())
    few = "too few {} rows score as {} as the {} ones"
    inverted = f"are the scores inverted for some of them? Otherwise {_SCAR}"
    cause = {
        "fpr is below 0": f"{few.format('unlabeled', 'high', 'labeled')}: {{}}, or {_SCAR}.",
        "tpr is above 1": f"{few.format('labeled', 'low', 'unlabeled')}: {{}}, or {_SCAR}.",
        "fpr is above 1": f"too many labeled rows have low scores: {inverted}, or {{}}.",
        "tpr is below 0": f"too few labeled rows have high scores: {inverted}, or {{}}.",
    }[name]
    wrong = f"alpha={p.alpha:.3g} is too large"
    if name.startswith("tpr"):
        wrong = f"beta={p.beta:.3g} is too small"
    limit = critical_value(n_labeled + n_unlabeled)
    outside = f"{roc.n_outside:,} of {roc.fpr_raw.size:,} points lie outside"
    if z[at] <= limit:
        return quiet(
            f"{outside}, by at most {z[at]:.2g} standard errors (noise reaches {limit:.2g})."
        )
    rate = (roc.fpr_raw if name.startswith("fpr") else roc.tpr_raw)[at + 1]
    return fired(
        f"the recovered {name} at threshold {roc.thresholds_raw[at + 1]:.4g} ({rate:.3g}), "
        f"{z[at]:.2g} standard errors outside where noise reaches {limit:.2g}; {outside}.",
        cause.format(wrong),
    )


@check("PU009", "the ROC curve is not concave", "note", "scores")
def not_concave(context: CheckContext) -> Finding:
    """The concave hull has a larger area than the curve, by more than two standard errors."""
    excess, error = concavity_excess(context.counts)
    if not math.isfinite(error):
        return not_applicable("the standard error of the AUC needs two rows of each kind.")
    says = f"the concave hull exceeds the observed AUC by {excess:.3g}, standard error {error:.2g}"
    # Rounding must not make constant scores, whose error is 0, look bent.
    if excess <= max(2 * error, 1e-12):
        return quiet(f"{says}.")
    return fired(
        f"{says}.",
        "do not use the repairs 'hull' and 'likelihood', which assume concavity. If both very high "
        "and very low scores indicate positives, use a model that can represent this.",
    )


TOPS = (0.01, 0.02, 0.05, 0.1)
"""Shares of all rows, those with the highest scores, that are looked at in turn."""

NEXT = 2.0
"""How many times as many rows below them they are compared with."""

SCARCE = 0.8
"""Labels that are less than a fifth rarer at the top are not worth a word, however sure it is."""

FEWEST = 10
"""Labeled rows that should be at the top."""


@check("PU006", "labels thin out among the highest scores", "warning", "random labels")
def labels_thin_out(context: CheckContext) -> Finding:
    """Where positives are most frequent, labels should be most frequent as well."""
    counts = context.counts
    if context.n_groups is not None:
        return not_applicable("rows are dependent, and the test would count each of them.")
    if counts.ordered_pairs <= 0.5 * counts.n_labeled * counts.n_unlabeled:
        return not_applicable("labeled rows do not score higher than unlabeled ones.")
    sizes = effective_sizes(counts)
    labeled = counts.labeled * (sizes[0] / counts.n_labeled)
    few = np.cumsum(labeled)
    rows = few + np.cumsum(counts.unlabeled * (sizes[1] / counts.n_unlabeled))
    last = rows.size - 1
    top = np.minimum(np.searchsorted(rows, np.array(TOPS) * rows[-1] * (1 - 1e-12)), last)
    # Ties may make a top larger than it should be; the window below grows with it.
    reach = np.minimum(rows[top] * (1 + NEXT), rows[-1]) * (1 - 1e-12)
    below = np.minimum(np.searchsorted(rows, reach), last)
    with np.errstate(invalid="ignore"):
        expected = few[below] * rows[top] / rows[below]
    usable = (below > top) & (expected >= FEWEST)
    if not usable.any():
        return not_applicable(f"fewer than {FEWEST} labeled rows should have the top scores.")
    top, below = top[usable], below[usable]
    # Both shares of labeled rows with their numbers of rows; a test for each window.
    at_top, n_top = few[top], rows[top]
    at_next, n_next = few[below] - few[top], rows[below] - rows[top]
    z = shortfall(at_top, at_next, n_top, n_next, 1.0)
    z = np.where(at_top / n_top < SCARCE * at_next / n_next, z, 0.0)
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM_RATE / len(TOPS))
    worst = int(z.argmax())
    says = (
        f"{100 * at_top[worst] / n_top[worst]:.1f} % of the {count(n_top[worst])} highest scores "
        f"are labeled, and {100 * at_next[worst] / n_next[worst]:.1f} % of the "
        f"{count(n_next[worst])} below"
    )
    if z[worst] <= limit:
        return quiet(
            f"{says}: labels do not thin out at the top. Labels that went to the clearest cases "
            "first would not either; no check sees these."
        )
    return fired(
        f"{says}: labels thin out where positives should be most frequent.",
        "were clear cases labeled less often, so that the labeled positives are not a random "
        "sample of all positives? Or do some negatives outscore the positives? scar_test looks "
        "at the features, ClusteredLabels allows for kinds of positives labeled unequally.",
    )


SLACK_OF_MEAN = 0.15
N_ERRORS = 3.0

APART = (0.99, 0.002)
"""Least observed AUC, and largest share of the unlabeled among the scores of three quarters of the
labeled, of scores that are apart."""

TOO_GOOD = 0.5
"""Largest Brier score of labels, as a share of the expected one, that no held-out model reaches."""


@check("PU021", "scores may be of rows that the model was trained on", "warning", "scores")
def scores_of_training_rows(context: CheckContext) -> Finding:
    """Labels are predicted better than held-out models can predict them.

    A model that was trained on an unlabeled positive separates it from the labeled ones. Held-out
    scores do not: hidden positives score like labeled ones.
    """
    counts = context.counts
    n_labeled, n_unlabeled = effective_sizes(counts)
    if context.estimation is None and context.proportions.alpha == 0:
        return not_applicable("with alpha 0 labeled and unlabeled scores may be apart.")
    if min(n_labeled, n_unlabeled) < FEWEST_TO_JUDGE:
        return not_applicable(f"fewer than {FEWEST_TO_JUDGE} labeled or unlabeled rows.")
    at = int(np.searchsorted(np.cumsum(counts.labeled), 0.75 * counts.n_labeled))
    share = float(counts.unlabeled[: at + 1].sum() / counts.n_unlabeled)
    says = f"the observed AUC is {counts.auc_pu:.3f}"
    apart = counts.auc_pu >= APART[0] and share <= APART[1]
    if apart:
        says += (
            f", and {100 * share:.2g} % of the unlabeled score as high as three quarters of the "
            "labeled"
        )
    found, expected, z = _brier_of_labels(counts)
    too_good = found < TOO_GOOD * expected and z > N_ERRORS
    if too_good:
        says += (
            f", and the scores, probabilities of a label, predict labels better (Brier score "
            f"{found:.2g}) than they state themselves ({expected:.2g})"
        )
    if not (apart or too_good):
        return quiet(f"{says}; labeled and unlabeled scores are not apart.")
    return fired(
        f"{says}. Scores of rows that the model was trained on look like this; the AUC is then too "
        "high and alpha too low.",
        "score each row by a model that was not trained on it (cross_fit_scores, evaluate_model). "
        "If these scores are held out, hardly any unlabeled row is positive: pass alpha=0 if every "
        "positive is labeled.",
    )


def _brier_of_labels(counts: ScoreCounts) -> tuple[float, float, float]:
    """Return the Brier score of labels, the expected one, and standard errors between the two.

    Of probabilities whose mean is about the labeled share (Spiegelhalter 1986); else 0, 0 and 0.
    """
    s, weight = counts.thresholds, counts.labeled + counts.unlabeled
    total = float(weight.sum())
    if s[0] > 1 or s[-1] < 0 or abs(np.dot(weight, s) / counts.n_labeled - 1) > SLACK_OF_MEAN:
        return 0.0, 0.0, 0.0
    chance = s * (1 - s)
    found = float(np.dot(counts.labeled, (1 - s) ** 2) + np.dot(counts.unlabeled, s**2))
    expected = float(np.dot(weight, chance))
    one, two = counts.labeled_sq, counts.unlabeled_sq
    squares = weight if one is None or two is None else one + two
    error = math.sqrt(float(np.dot(squares, chance * (1 - 2 * s) ** 2)))
    return found / total, expected / total, (expected - found) / max(error, 1e-300)


FEW_NEGATIVES = 20


@check("PU014", "known negatives contradict the recovered false-positive rate", "warning", "scores")
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
    share = cumulative_share(counts.negative)
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


SMALL_DELTA = 0.1
ALPHA_ERROR, ALPHA_RARE = 0.05, 0.1


@check("PU001", "alpha is close to beta", "warning", "proportions")
def alpha_close_to_beta(context: CheckContext) -> Finding:
    """Below a delta of 0.1 every error is magnified more than tenfold."""
    delta = context.proportions.delta
    says = f"beta - alpha is {delta:.3g}"
    if delta >= SMALL_DELTA:
        return quiet(f"{says}; errors are magnified {1 / delta:.2g} times.")
    return fired(
        f"{says}, so every error of an observed rate is magnified {1 / delta:.3g} times.",
        "read the intervals, not the point values. Cleaner labels or an unlabeled sample with "
        "fewer positives would help.",
    )


@check("PU007", "intervals take alpha and beta as exact", "note", "proportions")
def interval_ignores_proportions(context: CheckContext) -> Finding:
    """Intervals that vary only the scores do not cover an error of alpha."""
    p = context.proportions
    if p.alpha == 0 and p.beta == 1:
        return not_applicable("with alpha 0 and beta 1 nothing is corrected.")
    if context.interval_varies_proportions and context.stated is None:
        return quiet("the intervals vary alpha and beta too.")
    if context.estimation is not None and context.estimation.n_alike is not None:
        return not_applicable("without replicates an estimated alpha has no interval.")
    if not 0 <= context.roc.auc_direct <= 1:
        return not_applicable("alpha and beta do not fit the scores at all (PU008).")
    off, deltas = _other_deltas(context)
    observed = context.counts.auc_pu
    areas = [min(max(0.5 + (observed - 0.5) / min(delta, 1.0), 0.0), 1.0) for delta in deltas]
    low, high = sorted(areas) if context.stated is None else areas
    taken = f"vary the scores only and take alpha={p.alpha:.4g} and beta={p.beta:.4g}"
    if context.interval_varies_proportions:
        taken = f"take the {context.stated[0].replace('_', ' ')} and beta={p.beta:.4g}"  # type: ignore[index]
    otherwise = f"with {off} the AUC would be {low:.3f} or {high:.3f}"
    if p.alpha < ALPHA_RARE:
        otherwise += ", and precision is proportional to alpha"
    return fired(
        f"the intervals {taken} as exact; {otherwise}.",
        "to include uncertainty about alpha, give a range, or omit alpha to have it estimated.",
    )


A_TENTH = 0.1


def _other_deltas(context: CheckContext) -> tuple[str, list[float]]:
    """Describe an error of what the caller gave, and return beta - alpha with it, both ways."""
    p = context.proportions
    if context.stated is not None:
        name, value = context.stated
        others = [min(factor * value, 1.0) for factor in (1 - A_TENTH, 1 + A_TENTH)]
        with suppress(InvalidInputError):  # where the labeled leave no room for the other value
            deltas = [
                GivenProportions(beta=p.beta, scenario=p.scenario, **{name: other})  # type: ignore[arg-type]
                .resolve(context.counts)
                .delta
                for other in others
            ]
            shown = " or ".join(f"{100 * other:.3g} %" for other in others)
            return f"a {name.replace('_', ' ')} of {shown} instead of {100 * value:.3g} %", deltas
    # An alpha of 0.01 is hardly 0.06, but may well be half as large or half as large again.
    step = min(ALPHA_ERROR, p.delta / 2, p.alpha / 2 or ALPHA_ERROR)
    return f"alpha off by {step:.2g}", [p.delta - step, p.delta + step]


_DRAWS = 2000
"""Pairs of alpha and beta that show what an audit leaves open."""


@check("PU008", "alpha and beta do not fit the observed AUC", "error", "feasibility")
def infeasible_auc(context: CheckContext) -> Finding:
    """The observed AUC is at most 1/2, or further from it than delta allows."""
    observed, delta = context.counts.auc_pu, context.proportions.delta
    recovered = 0.5 + (observed - 0.5) / delta
    variance = auc_pu_variance(context.counts)
    error = math.sqrt(variance) if variance >= 0 else math.inf
    if observed <= 0.5:
        beyond = 0.5 - observed
        words = "no better than chance" if beyond < 2 * error else "worse than chance"
        says = f"the observed AUC is {observed:.4f}, {words}"
        hint = (
            "either labeled and unlabeled are swapped (name the value that means labeled), or a "
            "low score means positive (negate the scores)."
        )
    elif recovered > 1:
        beyond = observed - (1 + delta) / 2
        p = context.proportions
        with_beta = f" with beta {p.beta:.3g}" if p.beta < 1 else ""
        says = f"alpha {p.alpha:.3g}{with_beta} cannot be: the AUC would be {recovered:.2f}"
        if most := rounded_down(largest_alpha(context.counts, p.beta)):
            says += f". An alpha of at most {most:g} fits these scores"
        hint = "check the label column and alpha, or leave alpha out."
    else:
        return quiet(f"the recovered AUC {recovered:.4f} is in (0.5, 1].")
    largest = largest_delta(context.estimation, context.proportions, context.audit)
    if observed > 0.5 and observed <= (1 + largest) / 2:
        whose = "estimate of beta - alpha" if context.audit is None else "audit"
        return quiet(f"{says}, which the {whose} leaves open.")
    # Constant scores have no error and are no accident.
    chance = error > 0 and beyond <= 2 * error
    if observed > 0.5:
        chance = least_delta(context.counts) <= largest  # as a report says that they contradict it
    if chance:
        noise = f"two standard errors ({2 * error:.2g})" if error < math.inf else "an unknown error"
        if observed > 0.5:
            hint = "the true AUC is near 1 if alpha and beta are right; are they?"
        return fired(f"{says}, though by less than {noise}.", hint, "note")
    return fired(f"{says}.", hint)


def largest_delta(
    estimation: PriorEstimate | None,
    proportions: MixtureProportions,
    audit: UncertainProportions | None,
) -> float:
    """Return the largest beta - alpha that an estimate or an audit allows, or the given one."""
    if audit is not None:
        alpha, beta = audit.draws(_DRAWS).T
        return interval_ends(beta - alpha, 0.95)[1]
    if estimation is None:
        return proportions.delta
    if "delta" in estimation.intervals:
        return estimation.intervals["delta"].high
    return estimation.identification.get("delta", (0.0, proportions.delta))[1]


@check("PU015", "the target population has only one class", "note", "target", needs="prior")
def one_class_target(context: CheckContext) -> Finding:
    """At a prior of 0 precision, AUC-PR and F1 are 0 whatever the scores; at 1 they are 1."""
    prior: Any = context.prior
    if 0 < prior < 1:
        return quiet(f"the target population has {100 * prior:.3g} % positives.")
    return fired(
        f"the target population has {'no' if prior == 0 else 'only'} positives (prior "
        f"{prior:g}), so precision, AUC-PR and F1 do not depend on the scores.",
        "name another population: target='pooled', or its prior as a number.",
    )


SIGNIFICANCE = 0.05
UNLIKELY, LIKELY, SURE = 0.05, 0.5, 0.95
"""Probabilities of clean labels: of wrong ones below the first, more likely than not, and clean."""

WIDE_BETA = 0.02
"""Width of an interval of beta above which the AUC and recall hardly follow from an audit."""


@check("PU004", "an estimate is at the edge of its range", "warning", "estimate", "estimation")
def estimate_at_edge(context: CheckContext) -> Finding:
    """At an end of what a method can return, the truth may lie beyond."""
    estimation: Any = context.estimation
    says = f"{_shares(estimation)} of {estimation.estimator}"
    if not estimation.at_edge:
        return quiet(f"{says} lie inside the range of the method.")
    return fired(
        f"{says} are at an end of what the method can return; the true values may lie beyond.",
        "use another estimator, or pass alpha if you know it.",
    )


@check("PU011", "labels may contain errors", "note", "label errors")
def noise_corrected(context: CheckContext) -> Finding:
    """Metrics are corrected for an estimated share of wrong labels."""
    estimation = context.estimation
    if estimation is None:
        if context.audit is None or context.proportions._beta_from != "scores":
            return not_applicable(NEEDED["estimation"])
        return _beta_beside_audit(context.audit)
    p_value, beta = estimation.clean_p_value, estimation.proportions.beta
    if not estimation.beta_estimated:
        return not_applicable("beta was not estimated.")
    probability = estimation.clean_probability
    if probability is not None:
        says = f"clean labels have probability {probability:.2g}"
        if probability > LIKELY:
            sure = probability >= SURE
            how = "the labels are probably clean" if sure else "they are more likely clean than not"
            return quiet(f"{says}, and beta is estimated as {beta:.3f}: {how}.")
        if probability >= UNLIKELY:
            says += ", so that wrong labels are possible"
    elif p_value is None or math.isnan(p_value):
        return not_applicable("the labels could not be tested.")
    else:
        says = f"the test of clean labels has p = {p_value:.2g}"
        if beta == 1:
            says += ": the scores do not contradict clean labels, and beta is taken as 1"
            return quiet(f"{says}.")
        if p_value > SIGNIFICANCE:
            says += ", so that clean labels are not ruled out"
    return fired(
        f"{says}: beta is estimated as {beta:.3f}, and all metrics are corrected for "
        f"{100 * (1 - beta):.2g} % wrong labels.",
        "if you know that the labels are clean, pass beta=1.",
    )


def _beta_beside_audit(audit: UncertainProportions) -> Finding:
    """Judge beta, which an audit of unlabeled rows does not determine."""
    beta = audit.draws(_DRAWS)[:, 1]
    low, high = interval_ends(beta, 0.95)
    says = f"no labeled row was judged, and the scores leave beta between {low:.3f} and {high:.3f}"
    if high - low <= WIDE_BETA:
        return quiet(f"{says}.")
    return fired(
        f"{says}: recall and AUC depend on beta. Scores determine it only if the lowest scores are "
        "all negatives.",
        "judge labeled rows too (purecover audit sample with --n-labeled 10), or pass beta=1 "
        "(--beta 1) if the labels were verified.",
    )


@check("PU012", "the scores contradict the audit", "warning", "estimate", "audit")
def scores_contradict_audit(context: CheckContext) -> Finding:
    """Judged rows and scores should leave the same alpha open."""
    audit: Any = context.audit
    left = ""
    if (ends := getattr(audit, "if_skipped", None)) is not None:
        left = " Rows that were drawn have no verdict: alpha is {:.3f} if all of them are negative"
        left = f"{left}, {{:.3f}} if all are positive.".format(*ends)
    if wider := getattr(audit, "wider", ""):
        left = f"{left} {wider}."
    if not audit.doubt:
        return quiet(f"the scores do not contradict the audit.{left}")
    return fired(
        f"{audit.doubt}; alpha and beta follow the judged rows.{left}",
        "check whether the judged rows were drawn at random and judged right. If so, an assumption "
        "about the scores fails. If it is that labels went to positives at random, the AUC is "
        "wrong whatever alpha is.",
    )


@check("PU022", "hidden positives differ from labeled ones", "warning", "random labels", "audit")
def strata_disagree(context: CheckContext) -> Finding:
    """Judged rows of several strata fit one alpha if labels went to positives at random."""
    audit: Any = context.audit
    if audit.disagreement is None:
        return not_applicable("judged rows of one stratum do not show this.")
    if not audit.unlike:
        return quiet("judged rows of all strata fit one alpha.")
    return fired(
        f"{audit.unlike}. Alpha and the numbers of positives follow the judged rows of each "
        "stratum; the AUC and recall are those of positives like the labeled ones.",
        "check how rows were chosen for labeling; for all positives see judge_hidden.",
    )


@check("PU023", "scores change with the date of the label", "note", "random labels", "dates")
def dates_disagree(context: CheckContext) -> Finding:
    """A random sample of the positives has the same scores whenever it is labeled."""
    test: Any = context.dates
    says = f"by date of the label, the first {test}"
    if test.p_value > SIGNIFICANCE:
        return quiet(f"{says}: these dates do not contradict random labels.")
    easy = "clear cases were labeled first, and hidden positives are probably harder"
    hard = "clear cases were labeled last, or the scores have changed over time"
    return fired(
        f"{says}: {easy if test.probability > 0.5 else hard}.",
        "see report.hidden(theta) for metrics of all positives; judge_hidden estimates them.",
        "warning" if test.p_value <= FALSE_ALARM_RATE else "note",
    )


@check("PU024", "sources of labels contradict the report", "warning", "random labels", "sources")
def sources_disagree(context: CheckContext) -> Finding:
    """Rows that both sources label show whether labels prefer clear cases, and count positives."""
    sources: Any = context.sources
    counts, number, test = context.counts, sources.n_positive, sources.preference
    says, doubts = f"two sources of labels imply {sources}", []
    if ends := _alpha_ends(context, number.confidence_level):
        low, high = (counts.n_labeled + alpha * counts.n_unlabeled for alpha in ends)
        says += f"; alpha implies {' to '.join(dict.fromkeys((f'{low:,.0f}', f'{high:,.0f}')))}"
        if low > number.high or high < number.low:
            doubts.append("these contradict each other")
    if test is not None and test.p_value <= FALSE_ALARM_RATE:
        more = "more" if test.probability > 0.5 else "less"
        doubts.append(f"clear cases were labeled {more} often (p = {test.p_value:.2g})")
    if not doubts:
        return quiet(f"{says}. These sources do not contradict random labels.")
    return fired(
        f"{says}. {' and '.join(doubts).capitalize()}.",
        "check whether the sources are independent: if one copies the other, the number of "
        "positives is too small. If they are, judge rows (judge_hidden).",
    )


@check("PU025", "some kinds of positives are labeled more often", "note", "random labels", "kinds")
def kinds_disagree(context: CheckContext) -> Finding:
    """The positives that judges find are of the same kinds as labeled ones if labels are random."""
    test: Any = context.kinds
    if test.p_value > SIGNIFICANCE:
        return quiet(f"{test}: these kinds do not contradict random labels.")
    kind = test.extreme
    how = "less" if test.found[kind] > test.expected[kind] else "more"
    return fired(
        f"{test}: these were labeled {how} often than others.",
        "evaluate each kind alone if it has enough labeled rows; for all positives see "
        "judge_hidden.",
        "warning" if test.p_value <= FALSE_ALARM_RATE else "note",
    )


def _alpha_ends(context: CheckContext, level: float) -> tuple[float, float] | None:
    """Return the interval of alpha, one value twice if alpha was given, None if it is unknown."""
    if context.audit is not None:
        alpha = context.audit.draws(_DRAWS)[:, 0]
        return interval_ends(alpha, level)
    if context.estimation is None:
        return context.proportions.alpha, context.proportions.alpha
    interval = context.estimation.intervals.get("alpha")
    return None if interval is None else (interval.low, interval.high)


_JUDGE = (
    "judge ten rows with high scores (purecover judge). If the "
    "clearest cases may have been labeled first, judge a hundred unlabeled rows at random; they "
    "determine alpha alone. Or pass alpha, or a range of it, if you know one."
)


@check("PU017", "the scores do not determine alpha and beta", "note", "estimate", "estimation")
def not_identifiable(context: CheckContext) -> Finding:
    """The shares of positives at both ends of the scores decide on alpha and beta."""
    estimation: Any = context.estimation
    if estimation.identifiable:
        return quiet(f"the interval of beta - alpha by {estimation.estimator} is narrow enough.")
    return fired(
        f"{_shares(estimation)} are estimates: scores cannot show whether the highest ones are all "
        f"positives. {_allowed(estimation)}",
        _JUDGE,
    )


MANIFOLD = 10.0
"""Times the low end of alpha that its high end may be before it says too little of them."""


@check("PU019", "the number of positives is hardly known", "note", "estimate", "estimation")
def alpha_hardly_known(context: CheckContext) -> Finding:
    """Precision and counts change in proportion to alpha, however well the AUC is known."""
    estimation: Any = context.estimation
    interval = estimation.intervals.get("alpha")
    if interval is None:
        return not_applicable("alpha has no interval.")
    n = context.counts.n_unlabeled
    says = (
        f"between {100 * interval.low:.2g} % and {100 * interval.high:.2g} % of the unlabeled are "
        f"positive, {interval.low * n:,.0f} to {interval.high * n:,.0f}"
    )
    if interval.high <= MANIFOLD * max(interval.low, 1 / n):
        return quiet(f"{says}.")
    return fired(
        f"{says}. Precision and the numbers of positives are proportional to alpha.", _JUDGE
    )


@check("PU018", "labels assumed correct may contain errors", "warning", "clean labels")
def noise_overlooked(context: CheckContext) -> Finding:
    """Labels are wrong although a method takes them as clean."""
    estimation = context.estimation
    if estimation is None:
        return not_applicable(NEEDED["estimation"])
    if estimation.beta_given or estimation.beta_estimated:
        return not_applicable("beta was given or estimated.")
    p_value = estimation.clean_p_value
    if p_value is None or math.isnan(p_value):
        return not_applicable("the labels could not be tested.")
    says = (
        f"{estimation.estimator} assumes clean labels, and the test of them has p = {p_value:.2g}"
    )
    if p_value > SIGNIFICANCE:
        return quiet(f"{says}.")
    return fired(
        f"{says}: some labels are probably wrong, and alpha is then too large.",
        "use the default estimator, which estimates beta too, or wrap the estimator in "
        "NoisyLabels; pass beta if you know it.",
    )


def _shares(estimation: PriorEstimate) -> str:
    p = estimation.proportions
    return f"alpha {p.alpha:.3g} and beta {p.beta:.3g}"


def _allowed(estimation: PriorEstimate) -> str:
    """Describe the ranges that fit if no score is reached by one class alone."""
    titles = {"alpha": "alpha", "beta": "beta", "auc": "an AUC"}
    ends = [f"{titles[name]} from {words}" for name, words in estimation.allowed.items()]
    if not ends:
        return "Nothing else would fit."
    listed = ends[0] if len(ends) == 1 else f"{', '.join(ends[:-1])} and {ends[-1]}"
    return f"If positives and negatives overlap everywhere, {listed} would fit as well."


CHECKS: Mapping[str, Check] = MappingProxyType(dict(sorted(REGISTRY.items())))
"""Every check by its code, in order."""


def warnings_of_data(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Return errors and warnings that do not concern the threshold, for results without one."""
    grave = ("error", "warning")
    return [each for each in results if each.outcome in grave and each.topic != "threshold"]


def list_checks() -> tuple[Check, ...]:
    """List every check in the order of the codes.

    Returns
    -------
    tuple of Check
        With ``code``, ``title`` and ``severity``.

    Examples
    --------
    >>> from purecover.checks import list_checks
    >>> for check in list_checks()[:2]:
    ...     print(check.code, check.severity, check.title)
    PU001 warning alpha is close to beta
    PU002 warning recovered rates lie outside [0, 1]
    """
    return tuple(CHECKS.values())


@public
def run_checks(context: CheckContext, *, ignore: Collection[str] = ()) -> tuple[CheckResult, ...]:
    """Run every check.

    Parameters
    ----------
    context : CheckContext
        What to look at.
    ignore : collection of str, default=()
        Codes of checks not to run, e.g. ``("PU007",)``; their results say so.

    Returns
    -------
    tuple of CheckResult
        One per check, in the order of their codes.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts, recover_roc
    >>> from purecover.checks import CheckContext, run_checks
    >>> scores = [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.4, 0.2, 0.1, 0.1]
    >>> counts = ScoreCounts.from_scores(scores, labeled=[1, 1, 0, 1, 0, 1, 0, 0, 0, 0])
    >>> proportions = MixtureProportions(alpha=0.25)
    >>> roc = recover_roc(counts, proportions)
    >>> context = CheckContext(counts=counts, proportions=proportions, roc=roc)
    >>> results = run_checks(context, ignore=["PU007"])
    >>> [result.code for result in results if result.fired]
    ['PU005', 'PU010']
    """
    check_instance("context", context, CheckContext, "build a CheckContext first")
    silenced = check_names("ignore", ignore, CHECKS)
    return tuple(check.run(None if code in silenced else context) for code, check in CHECKS.items())
