"""The assumptions behind the figures of a report, and the evidence for or against each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from purecover._codec import Saved
from purecover.recovery.rates import least_delta

if TYPE_CHECKING:
    from purecover.report.results import PUReport

Verdict = Literal["known", "supported", "cannot tell", "doubtful", "not assumed"]

LIKELY, UNLIKELY = 0.95, 0.05
"""Probabilities of clean labels at which the data support them or speak against them."""

WRONG = 0.1
"""Share of wrong labels for which the AUC is given where nobody said what beta is."""


@dataclass(frozen=True, kw_only=True)
class Assumption(Saved):
    """One assumption behind the figures.

    Attributes
    ----------
    name : {"labels-at-random", "pure-top", "clean-labels", "unseen-rows"}
        Its name.
    statement : str
        What is taken for granted.
    verdict : {"known", "supported", "cannot tell", "doubtful", "not assumed"}
        What the data say of it; or that the caller knows it, or that nothing rests on it. What is
        doubtful has evidence against it, and a warning; its figures are shown all the same, since
        how far they are wrong depends on how far it fails. What cannot be, an alpha and beta that
        contradict the scores, has no figures (:attr:`PUReport.contradicted`).
    evidence : str
        Why.
    without : str
        What is left of the AUC where it does not hold.
    """

    name: str
    statement: str
    verdict: Verdict
    evidence: str
    without: str


STATEMENTS = {
    "labels-at-random": "The labeled positives are a random sample of all positives (SCAR)",
    "pure-top": "The best scores are all positives, the worst all negatives",
    "clean-labels": "Every labeled example is a positive (beta = 1)",
    "unseen-rows": "No row, labeled or unlabeled, was used to train the model that scored it",
}

Judgment = tuple[Verdict, str, str]
"""Verdict, evidence, and what is left of the AUC without the assumption."""


def find_assumptions(report: PUReport, *, beta_given: bool) -> tuple[Assumption, ...]:
    """Judge all assumptions, in the order in which figures rest on them.

    ``beta_given`` says whether the caller knows beta.
    """
    verdict: Verdict = "cannot tell"
    evidence = "scores alone cannot show it; scar_test looks at features"
    found = [each.message for each in report.checks if each.topic == "random labels" and each.fired]
    if found:
        verdict, evidence = "doubtful", found[0]
    unknown = f"unknown, and the observed {report.auc_pu:.3f} is no lower bound"
    random: Judgment = verdict, evidence, unknown

    estimate = report.estimation
    pure: Judgment = "not assumed", "alpha and beta were given", "the same"
    if estimate is not None:
        low, high = estimate.identification.get("auc", (0.0, 1.0))  # a file may lack it
        without = f"{low:.3f} to {high:.3f}, whatever the purity"
        pure = "cannot tell", "scores alone cannot show how pure their ends are", without
        if estimate.delta_pure is not None:
            evidence = (
                "purity is taken from real problems that look alike; the AUC would be "
                f"{report._auc_at(estimate.delta_pure):.3f} with pure ends and "
                f"{report.auc_pu:.3f} if no unlabeled example were positive"
            )
            pure = "not assumed", evidence, without

    clean = _judge_clean(report, beta_given)
    unseen: Judgment = (
        "cannot tell" if report.scores_from is None else "known",
        report.scores_from or "scores alone cannot show it",
        "unknown, since scores of training rows are too good",
    )
    return tuple(
        Assumption(name=name, statement=statement, verdict=verdict, evidence=why, without=without)
        for (name, statement), (verdict, why, without) in zip(
            STATEMENTS.items(), (random, pure, clean, unseen), strict=True
        )
    )


def _judge_clean(report: PUReport, beta_given: bool) -> Judgment:
    estimate, p, counts = report.estimation, report.proportions, report.counts
    if_wrong = f"if {100 * WRONG:.0f} % of the labels were wrong"
    delta = 1 - WRONG - p.alpha
    if report.contradicted:
        without = "unknown: the scores contradict alpha and beta as they are"
    elif delta < 1e-9 or least_delta(counts) > delta:
        without = f"the scores would contradict alpha {if_wrong}"
    else:
        without = f"{report._auc_at(delta):.3f} {if_wrong}"
    # A report that an older version saved may lack the check.
    check = next((each for each in report.checks if each.topic == "clean labels"), None)
    message = "no check looked at it" if check is None else check.message
    if check is not None and check.fired:
        return "doubtful", message, without
    if report.truth is not None and report.truth.beta < p.beta == 1:
        wrong = (1 - report.truth.beta) * counts.n_labeled
        evidence = f"by the truth given, {wrong:,.10g} of {counts.n_labeled:,.10g} labeled "
        return "doubtful", f"{evidence}are negatives", without
    if beta_given:
        how = "was given" if p._beta_origin == "given" else f"is {p._beta_origin}"
        verdict: Verdict = "not assumed" if p.beta < 1 else "known"
        return verdict, f"beta = {p.beta:g} {how}", "pass another beta"
    if estimate is None or estimate.clean_probability is None:
        return "cannot tell", message, without
    chance = estimate.clean_probability
    verdict = "supported" if chance >= LIKELY else "cannot tell"
    if chance <= UNLIKELY:
        verdict = "doubtful"
    evidence = f"clean with probability {chance:.2f}, and beta is {p.beta:.3f} in the mean"
    both = [
        f"{report._auc_at(delta):.3f} if {words}"
        for words, delta in (("clean", estimate.delta_clean), ("not", estimate.delta_noisy))
        if delta is not None
    ]
    return verdict, evidence, f"{', '.join(both)}, with alpha as estimated" if both else without
