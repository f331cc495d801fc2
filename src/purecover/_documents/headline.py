"""The first sentences of a report: alpha and beta, flagged rows, precision, the AUC, cautions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from purecover._documents.formats import (
    bounded,
    capitalized,
    number,
    percent,
    share,
    shares_between,
)
from purecover._documents.parts import Caution, Headline
from purecover._typing import Target
from purecover.recovery.curves import NOTEWORTHY_GAP
from purecover.recovery.metrics import METRICS
from purecover.recovery.rates import map_rates

if TYPE_CHECKING:
    from purecover.checks import CheckResult
    from purecover.report.results import PUReport

RARE = 0.1
"""Share of positives below which precision says more than the AUC: few pairs decide on the AUC."""

NO_FINDING = "No check found a problem."
RANDOM_LABELS_UNSEEN = "No check can see whether the labeled are a random sample of all positives"
_REVERSED = "labeled examples score no higher than unlabeled ones"
_IF_RANDOM = "If the labeled are a random sample of all positives"


def headline(report: PUReport) -> Headline:
    """Say what alpha and beta are, how many rows are flagged, the AUC, and what to mind."""
    if report.contradicted:
        return Headline([_observed_but(report, report.contradiction)], [], cautions(report))
    if _is_reversed(report):
        said = f"{_REVERSED}: does a low score mean positive? Then negate "
        said += "the scores. All figures here are of scores that rank positives below negatives."
        return Headline([_observed_but(report, said)], [], cautions(report))
    if report.infeasible:
        lead, more = [_auc_sentence(report)], []
    else:
        lead = [proportions_sentence(report), flagged_sentence(report)]
        more = [*precision_lines(report), *_positives_in_all(report), _auc_sentence(report)]
    if (direct := auc_as_estimated(report)) is not None:
        how = f"goes only part of the way from the observed {report.auc_pu:.3f}"
        if abs(report.auc - report.auc_pu) < 5e-4:
            how = "stays at the observed one"
        more.append(
            f"This AUC is cautious: since alpha is not sure, it {how}. It is {direct:.3f} if alpha "
            "and beta are as estimated; all other figures and the curves take them so."
        )
    elif not report.infeasible and abs(report.roc.auc - report.auc) > NOTEWORTHY_GAP:
        more.append(
            f"That is the direct value; the area under the repaired curve ({report.roc.repair}) "
            f"is {report.roc.auc:.3f}."
        )
    if report.truth is not None:
        more.append(
            "Measured on the true classes that came with the data, the AUC is "
            f"{number(report.truth.metrics['roc_auc'], 3)}."
        )
    return Headline(lead, more, cautions(report))


def auc_as_estimated(report: PUReport) -> float | None:
    """The AUC at the estimated alpha and beta, where the report has a more cautious one."""
    direct = min(report.auc_direct, 1.0)
    return direct if report.auc < direct - 1e-9 else None


def auc_if_pure(report: PUReport) -> float | None:
    """The AUC if the best scores were all positives, where the scores do not determine alpha."""
    found = report.estimation
    if found is None or found.identifiable or found.delta_pure is None:
        return None
    return report._auc_at(found.delta_pure)


def has_rare_positives(report: PUReport) -> bool:
    """Whether positives are so rare that precision says more than the AUC."""
    return 0 < report.metrics.prior < RARE and "precision" in report.metrics


def _is_reversed(report: PUReport) -> bool:
    """Whether scores are no better than chance by more than chance explains."""
    errors = [check.topic for check in report.findings if check.severity == "error"]
    return report.auc_pu <= 0.5 and "feasibility" in errors


def _observed_but(report: PUReport, text: str) -> str:
    return f"Observed AUC {report.auc_pu:.3f}; {text}"


def proportions_sentence(report: PUReport) -> str:
    """Say what alpha and beta are, how large, and where they come from."""
    p, found = report.proportions, report.estimation
    alpha, beta = f"{share(p.alpha)} of the unlabeled", f"{share(p.beta)} of the labeled"
    guess = auc_if_pure(report) is not None
    wrong = f": about {share(1 - p.beta)} of the labels {'would be' if guess else 'are'} wrong"
    if share(p.beta) == "100 %":
        wrong = ""
    if found is None:
        known = _has_verdict(report, "clean-labels", "known")
        how = p._beta_origin if p.beta != 1 or known else "assumed"
        origin = p.origin.partition(", beta ")[0]
        return (
            f"{alpha} examples are positive (alpha, {origin}) and {beta} ones (beta, {how}){wrong}."
        )
    word = "a guess" if guess else "estimated"
    notes = {"alpha": f"alpha, {word}", "beta": f"beta, {word}"}
    if found.beta_given or not found.beta_estimated:
        notes["beta"] = "beta, given" if found.beta_given else "beta, assumed"
    for name in notes:
        interval = found.intervals.get(name)
        if bounded(interval):
            level = f"{percent(interval.confidence_level)} interval " if name == "alpha" else ""
            notes[name] += f"; {level}{shares_between(getattr(p, name), interval)}"
    if guess:
        return (
            f"The scores do not tell how many examples are positive. Comparable data suggest "
            f"{alpha} ({notes['alpha']}) and {beta} ({notes['beta']}){wrong}."
        )
    first = f"About {alpha} examples are positive ({notes['alpha']})"
    return f"{first} and {beta} ones ({notes['beta']}){wrong}."


def _has_verdict(report: PUReport, name: str, verdict: str) -> bool:
    return any((each.name, each.verdict) == (name, verdict) for each in report.assumptions)


def flagged_sentence(report: PUReport) -> str:
    """Say how many of the unlabeled are flagged, and how many of them are positive."""
    text = f"{report.confusion}."
    text = f"By that guess, {text}" if auc_if_pure(report) is not None else capitalized(text)
    c, recall = report.confusion, report.metrics.get("recall", 0.0)
    if recall * (c.tp + c.fn) > c.flagged + 0.5:
        text += f" Recall, {number(recall, 3)} by the labeled, would mean more positives than are "
        text += "flagged: chance, an alpha that is too large, or labels that went to clear cases."
    return text


def _with_interval(report: PUReport, name: str, value: float) -> str:
    interval = report.intervals.get(name)
    if not bounded(interval):
        return number(value, 3)
    low, high = number(interval.low, 3), number(interval.high, 3)
    return f"{number(value, 3)} ({percent(interval.confidence_level)} interval {low} to {high})"


def precision_lines(report: PUReport) -> list[str]:
    """Precision where it says most, and where it is of other rows than the flagged unlabeled."""
    pooled, guess = target_of(report) == "pooled", auc_if_pure(report) is not None
    if "precision" not in report.metrics or not (pooled or guess or has_rare_positives(report)):
        return []
    if report.infeasible or _is_reversed(report):
        return []
    of, counts = "", report.counts
    if pooled:
        above = counts.thresholds >= report.metrics.threshold
        flagged = float(counts.labeled[above].sum() + counts.unlabeled[above].sum())
        of = f", of all {flagged:,.0f} flagged rows, labeled ones included"
    value = _with_interval(report, "precision", report.metrics["precision"])
    if guess:
        of += f"; observed it is {number(report.metrics.observed['precision'], 3)}, and it is "
        of += f"{number(_precision_if_pure(report), 3)} if the best scores are all positives"
        of += "" if report.estimation.beta_given else " and every label is right"  # type: ignore[union-attr]
    if not has_rare_positives(report):
        word = "By the same guess, precision" if guess else "Precision"
        return [f"{word} at the threshold is {value}{of}."]
    few = f"Positives are rare ({share(report.metrics.prior)})"
    return [f"{few}, so that precision says more than the AUC: {value} at the threshold{of}."]


def _precision_if_pure(report: PUReport) -> float:
    """Precision at the threshold if the best scores were all positives."""
    p, counts = report.proportions, report.counts
    beta = p.beta if report.estimation.beta_given else 1.0  # type: ignore[union-attr]
    p = replace(p, alpha=beta - report.estimation.delta_pure, beta=beta)  # type: ignore[union-attr, operator]
    above = counts.thresholds >= report.metrics.threshold
    labeled = counts.labeled[above].sum() / counts.n_labeled
    unlabeled = counts.unlabeled[above].sum() / counts.n_unlabeled
    of_rates: Any = METRICS["precision"].of_rates
    tpr, fpr = (max(float(rate), 0.0) for rate in map_rates(labeled, unlabeled, p))
    return float(of_rates(tpr, fpr, p.prior(target_of(report), counts), report.metrics.options))


def _positives_in_all(report: PUReport) -> list[str]:
    """How many of the unlabeled are positive, where alpha and recall have intervals."""
    c, within, found = report.confusion, positives_interval(report), report.estimation
    recall = report.intervals.get("recall")
    if not within or found is None or not bounded(recall):
        return []
    text = f"In all, about {c.tp + c.fn:,.0f}{within} of the unlabeled are positive: if more are "
    text += "found, more are missed, too"
    alpha = found.intervals["alpha"]
    if recall.low * alpha.high > recall.high * alpha.low:
        known = found.beta_given or report.proportions.beta == 1
        but = "" if known else ", but on how many labels are wrong"
        value = _with_interval(report, "recall", report.metrics["recall"])
        text += f". Recall hardly depends on alpha{but}: {value}"
    return [f"{text}."]


def positives_interval(report: PUReport) -> str:
    """The interval of the number of positives among the unlabeled; empty if alpha has none."""
    alpha = None if report.estimation is None else report.estimation.intervals.get("alpha")
    n = report.counts.n_unlabeled
    return f" ({n * alpha.low:,.0f} to {n * alpha.high:,.0f})" if bounded(alpha) else ""


def target_of(report: PUReport) -> Target:
    """The population of precision, recognized by its share of positives: a name, or that share."""
    prior = report.metrics.prior
    named: list[Target] = ["deployment", "pooled"]
    if report.proportions.scenario == "censoring":  # where both would fit
        named.reverse()
    fits = (each for each in named if report.proportions.prior(each, report.counts) == prior)
    return next(fits, prior)


def _auc_sentence(report: PUReport) -> str:
    p = report.proportions
    if report.infeasible:
        return _observed_but(
            report,
            f"if {share(p.alpha)} of the unlabeled examples (alpha) and {share(p.beta)} of the "
            f"labeled ones (beta) were positive, the true AUC would be {report.auc_direct:.3f}, "
            "outside [0, 1]: these scores do not fit alpha and beta.",
        )
    value = _with_interval(report, "roc_auc", report.auc)
    pure, found = auc_if_pure(report), report.estimation
    if pure is None or found is None:
        return (
            f"{_IF_RANDOM}, the true AUC is about {value}; observed, with every unlabeled example "
            f"counted as a negative, it is {report.auc_pu:.3f}."
        )
    labels = ""
    if found.delta_pure_noisy is not None:  # it is None where beta is given
        labels = " and every label is right"
        if (most := report._auc_at(found.delta_pure_noisy)) >= pure + 0.005:
            labels += f", or {most:.3f}, if the worst are all negatives and labels may be wrong"
    return (
        f"{_IF_RANDOM}, the true AUC lies, chance aside, between {report.auc_pu:.3f}, the "
        f"observed one, and {pure:.3f}, which it is if the best scores are all positives{labels}. "
        f"The scores do not tell more: {value} is a guess from comparable data."
    )


def cautions(report: PUReport) -> list[Caution]:
    """A sentence for each error and warning, one for all notes, or one that there is nothing."""
    found = [
        Caution(
            check.severity,
            [check.code],
            f"{check.severity.capitalize()}: {_described(report, check)} ({check.code}).",
        )
        for check in report.findings
        if check.severity != "note"
    ]
    notes = [check for check in report.findings if check.severity == "note"]
    if notes:
        word = "Note" if len(notes) == 1 else "Notes"
        said = "; ".join(f"{_described(report, note)} ({note.code})" for note in notes)
        found.append(Caution("note", [note.code for note in notes], f"{word}: {said}."))
    unseen = ""
    if _has_verdict(report, "labels-at-random", "cannot tell"):
        wrong = "recall is too high, alpha and the number missed are too low, and the AUC may be "
        wrong += "wrong either way"
        if report.estimation is None:
            wrong = "recall and the AUC are too high, and the number missed is too low"
        unseen = f"How were the labels chosen? {RANDOM_LABELS_UNSEEN} (SCAR). If the clearest "
        unseen += f"cases were labeled first, {wrong}: no interval here includes that."
    # A report without a caution reads as approval.
    quiet = "" if found else NO_FINDING
    return [*found, Caution("", [], f"{quiet} {unseen}".strip())] if quiet or unseen else found


def _described(report: PUReport, check: CheckResult) -> str:
    """The title of a finding, and what the AUC may be because of it."""
    title = check.title
    if check.topic == "feasibility" and report.auc_pu <= 0.5:
        title = _REVERSED
    consequence = check.consequence
    if check.topic == "clean labels":
        without = [each.without for each in report.assumptions if each.name == "clean-labels"]
        consequence = f"the AUC would be {' '.join(without)}"
    if report.contradicted or not consequence:
        return title
    return f"{title}; {consequence}"
