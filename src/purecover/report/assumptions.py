"""What the figures of a report rest on, what the data say of it, and what is left without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from purecover._codec import Saved
from purecover.checks.catalog import BETA_GIVEN
from purecover.recovery.rates import least_delta

if TYPE_CHECKING:
    from purecover.report.results import PUReport

Verdict = Literal["known", "supported", "cannot tell", "doubtful", "not assumed"]

LIKELY, UNLIKELY = 0.95, 0.05
"""Probabilities of clean labels at which the data support them or speak against them."""


@dataclass(frozen=True, kw_only=True)
class Assumption(Saved):
    """One thing that figures rest on.

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


_STATED = {
    "labels-at-random": "The labeled positives are a random sample of all positives (SCAR)",
    "pure-top": "The best scores are all positives, the worst all negatives",
    "clean-labels": "Every labeled example is a positive (beta = 1)",
    "unseen-rows": "No row, labeled or unlabeled, was used to train the model that scored it",
}

Said = tuple[Verdict, str, str]
"""The verdict, why, and what is left without the assumption."""


def assumptions_of(report: PUReport) -> tuple[Assumption, ...]:
    """All of them, in the order in which figures rest on them."""
    said = (_random(report), _pure(report), _clean(report), _unseen(report))
    return tuple(
        Assumption(name=name, statement=statement, verdict=verdict, evidence=why, without=without)
        for (name, statement), (verdict, why, without) in zip(_STATED.items(), said, strict=True)
    )


def _finding(report: PUReport, code: str) -> tuple[bool, str]:
    """Whether a check fired, and what it says; a report saved by an older version may lack it."""
    check = next((each for each in report.checks if each.code == code), None)
    return (False, "no check looked at it") if check is None else (check.fired, check.message)


def _random(report: PUReport) -> Said:
    found = [_finding(report, code) for code in ("PU006", "PU020")]
    message = " ".join(says for fired, says in found if fired)
    without = f"unknown, and the observed {report.auc_pu:.3f} is no lower bound"
    if message:
        return "doubtful", message, without
    evidence = "scores alone cannot show it; scar_test looks at features"
    looked = [each for each in report.checks if each.code == "PU020" and each.status == "quiet"]
    if looked:
        evidence = f"{looked[0].message.rstrip('.')}; within a kind, no check can see it"
    return "cannot tell", evidence, without


def _pure(report: PUReport) -> Said:
    estimate = report.estimation
    if estimate is None:
        return "not assumed", "alpha and beta were given", "the same"
    low, high = estimate.identification.get("auc", (0.0, 1.0))  # a file may lack it
    without = f"{low:.3f} to {high:.3f}, whatever the purity"
    if estimate.delta_pure is None:
        return "cannot tell", "scores alone cannot show how pure their ends are", without
    evidence = (
        "purity is taken from real problems that look alike; the AUC would be "
        f"{report._auc_at(estimate.delta_pure):.3f} with pure ends and {report.auc_pu:.3f} if no "
        "unlabeled example were positive"
    )
    return "not assumed", evidence, without


def _clean(report: PUReport) -> Said:
    estimate, beta = report.estimation, report.proportions.beta
    fired, message = _finding(report, "PU018")
    if fired:
        return "doubtful", message, _if_wrong(report)
    if report.truth is not None and report.truth.beta < beta == 1:
        wrong = (1 - report.truth.beta) * report.counts.n_labeled
        evidence = f"by the truth given, {wrong:,.10g} of {report.counts.n_labeled:,.10g} labeled "
        return "doubtful", f"{evidence}are negatives", _if_wrong(report)
    if message == BETA_GIVEN or (estimate is not None and estimate.beta_given):
        known: Verdict = "not assumed" if beta < 1 else "known"
        how = report.proportions._beta_origin
        how = "was given" if how == "given" else f"is {how}"
        return known, f"beta = {beta:g} {how}", "pass another beta"
    if estimate is None or estimate.clean_probability is None:
        return "cannot tell", message, _if_wrong(report)
    chance = estimate.clean_probability
    verdict: Verdict = "supported" if chance >= LIKELY else "cannot tell"
    if chance <= UNLIKELY:
        verdict = "doubtful"
    evidence = f"clean with probability {chance:.2f}, and beta is {beta:.3f} in the mean"
    both = [
        f"{report._auc_at(delta):.3f} if {words}"
        for words, delta in (("clean", estimate.delta_clean), ("not", estimate.delta_noisy))
        if delta is not None
    ]
    without = f"{', '.join(both)}, with alpha as estimated" if both else _if_wrong(report)
    return verdict, evidence, without


WRONG = 0.1
"""Share of wrong labels for which the AUC is given where nobody said what beta is."""


def _if_wrong(report: PUReport) -> str:
    if report.contradicted:
        return "unknown: the scores contradict alpha and beta as they are"
    delta = 1 - WRONG - report.proportions.alpha
    words = f"if {100 * WRONG:.0f} % of the labels were wrong"
    if delta < 1e-9 or least_delta(report.counts) > delta:
        return f"the scores would contradict alpha {words}"
    return f"{report._auc_at(delta):.3f} {words}"


def _unseen(report: PUReport) -> Said:
    without = "unknown, since scores of training rows are too good"
    if report.scores_from is None:
        return "cannot tell", "scores alone cannot show it", without
    return "known", report.scores_from, without
