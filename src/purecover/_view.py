"""What results say: sections of sentences and tables, as text, for whoever writes them down.

The printed text, Markdown, pages and notebooks are writers of these sections. Nothing is computed
here, and no figure is rounded anywhere else.
"""

from __future__ import annotations

import math
import os
import platform
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Context, Decimal
from importlib.metadata import version
from itertools import groupby
from typing import TYPE_CHECKING, Any

from purecover._typing import Target
from purecover.checks.base import REGISTRY
from purecover.checks.catalog import warnings_of_data
from purecover.recovery.curves import NOTEWORTHY_GAP
from purecover.recovery.metrics import METRICS, MetricOptions, RecoveredMetrics
from purecover.recovery.rates import map_rates

if TYPE_CHECKING:
    from purecover.counts import ScoreCounts
    from purecover.estimators.estimate import PriorEstimate
    from purecover.intervals.evidence import EvidenceThresholds
    from purecover.intervals.interval import Interval
    from purecover.report.assumptions import Assumption
    from purecover.report.compare import ScoreComparison
    from purecover.report.many import ManyReports, ManyRow
    from purecover.report.results import PUReport


@dataclass(frozen=True)
class Row:
    """One row of a table; ``name`` and ``kind`` tell a script what to renew, and when."""

    title: str
    cells: dict[str, str]
    name: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """A heading over the titles of rows, heads of columns by key, and rows."""

    title: str
    columns: dict[str, str]
    rows: list[Row]
    numbers: bool = True
    """Whether cells are figures rather than words."""


@dataclass(frozen=True)
class Section:
    """A part of a report: a sentence, tables, and notes below them."""

    title: str
    tables: list[Table]
    sentence: str = ""
    note: str = ""
    notes: Sequence[str] = field(default=())


# -- Figures and names, as a person reads them ---------------------------------------------------


UNDEFINED = "undefined"
WITHHELD = "–"
"""In place of a figure that rests on what contradicts the data."""

_CONTROLS = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))
_TURNING = _CONTROLS | {"R", "AL", "AN"}
"""Classes of characters that change the direction of text, their own and that around them."""


def number(value: float, digits: int = 4) -> str:
    """A figure for a table."""
    return f"{value:.{digits}f}" if math.isfinite(value) else UNDEFINED


def signed(value: float) -> str:
    """A difference for a table."""
    return f"{value:+.4f}".replace("-", "−") if math.isfinite(value) else UNDEFINED


def bounded(interval: Interval) -> bool:
    """Whether an interval has ends."""
    return math.isfinite(interval.low) and math.isfinite(interval.high)


def ends(interval: Interval | None) -> str:
    """The ends of an interval for a table; empty if there is none."""
    if interval is None:
        return ""
    if math.isnan(interval.low):
        return UNDEFINED
    return f"[{interval.low:.4f}, {interval.high:.4f}]".replace("inf", "∞")


def number_of(n: int, thing: str) -> str:
    return f"{n:,} {thing}" + ("" if n == 1 else "s")


def percent(value: float) -> str:
    """A level as a percentage."""
    return f"{100 * value:g} %"


def share(value: float) -> str:
    """A share as a percentage: 23.2 %, 1.01 %, 0.75 %."""
    return f"{_rounded(100 * value, share_digits(value) - 2)} %"


def share_digits(value: float) -> int:
    """Digits after the point of a share, so that its percentage has three, or two below 1 %."""
    if value >= 0.01:
        return 3 if value >= 0.1 else 4
    return min(1 - math.floor(math.log10(value)), 12) if value > 0 else 4


def shares_between(value: float, interval: Interval) -> str:
    """Both ends of an interval of a share, with as many digits as the share has."""
    digits = share_digits(value) - 2
    low, high = (_rounded(100 * end, digits) for end in (interval.low, interval.high))
    return f"{low} % to {high} %"


def _rounded(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def between(pair: tuple[float, float]) -> str:
    """Bounds with digits enough to tell them apart, rounded outwards."""
    low, high = pair
    digits = min(max(1 - math.floor(math.log10(max(high - low, 1e-9))), 4), 9)
    scale = 10**digits
    low, high = math.floor(low * scale) / scale, math.ceil(high * scale) / scale
    return f"{low:.{digits}f} to {high:.{digits}f}"


def at_most(value: float) -> str:
    """Two digits, rounded up: a bound must not shrink by being written down."""
    up = Context(prec=2, rounding=ROUND_CEILING).create_decimal(Decimal(value))
    return f"{float(up):.2g}"


def cut(text: str, longest: int) -> str:
    """A text that fits, with a sign that it was longer."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def listed(names: str | Sequence[str] | None, longest: int) -> str:
    """One name, or several in a row."""
    several = [names] if isinstance(names, str) else names or ()
    return cut(", ".join(several), longest)


def shortened(name: str, longest: int) -> str:
    """A name that fits, with a sign that it was longer, and that turns no text around it."""
    short = cut(name, longest)
    kinds = [unicodedata.bidirectional(letter) for letter in short]
    if _TURNING.isdisjoint(kinds):
        return short
    kept = (letter for letter, kind in zip(short, kinds, strict=True) if kind not in _CONTROLS)
    return f"\u2068{''.join(kept)}\u2069"


def shown_metrics(metrics: RecoveredMetrics) -> list[str]:
    """Names of the metrics to show: all but an F-beta that repeats F1."""
    repeats_f1 = metrics.options.f_beta == 1 and "f1" in metrics
    return [name for name in metrics if not (repeats_f1 and name == "f_beta")]


_OF_PROBABILITIES = ("brier", "log_loss", "calibration_slope", "calibration_intercept", "ece")


def asked_for(options: MetricOptions) -> list[str]:
    """Metrics whose parameters the caller has set."""
    asked = {
        "f_beta": options.f_beta != 1,
        "cost": (options.cost_fn, options.cost_fp) != (1, 1),
        "precision_at_k": options.top_k is not None,
        "recall_at_k": options.top_k is not None,
        **dict.fromkeys(_OF_PROBABILITIES, options.probabilities),
        "net_benefit": options.probabilities,
    }
    return [name for name, wanted in asked.items() if wanted]


def title_of(name: str, options: MetricOptions) -> str:
    """The title of a metric with the numbers it was told."""
    title = METRICS[name].title
    if name == "f_beta":
        return f"{title} (beta {options.f_beta:g})"
    if name == "cost":
        return f"{title} (miss {options.cost_fn:g}, false alarm {options.cost_fp:g})"
    if name == "net_benefit":
        return f"{title} (flagged from {options.threshold_probability:g})"
    if name == "partial_auc":
        return f"{title.removesuffix(')')}, fpr to {options.max_fpr:g})"
    return title


def estimated_by(estimate: PriorEstimate) -> str:
    """How an estimator goes about it, or its name, with what was not left to it."""
    name = _METHODS.get(estimate.estimator, estimate.estimator)
    if estimate.beta_given:
        return f"{name}, beta given"
    if not estimate.beta_estimated:
        return f"{name}, labels taken as clean"
    return name


_METHODS = {"reference": "comparison with real problems (reference)"}
"""Estimators whose name alone says nothing."""


def estimated_shares(estimate: PriorEstimate) -> str:
    """Alpha and beta with intervals, where there are any."""
    shares = []
    for name in ("alpha", "beta"):
        interval = estimate.intervals.get(name)
        value = getattr(estimate.proportions, name)
        d = share_digits(value)
        within = "" if interval is None else f" [{interval.low:.{d}f}, {interval.high:.{d}f}]"
        shares.append(f"{name} {value:.{d}f}{within}")
    return ", ".join(shares)


def if_verified(estimate: PriorEstimate) -> str:
    """By how much known clean labels narrow the interval of alpha; empty where nobody can say."""
    ends, now = estimate.alpha_clean, estimate.intervals.get("alpha")
    if ends is None or now is None or not now.width:
        return ""
    d = share_digits(estimate.proportions.alpha)
    saved = 1 - (ends[1] - ends[0]) / now.width
    words = f"{100 * saved:.0f} % narrower" if saved >= 0.005 else "no narrower"
    return (
        f"Were the labels verified? If so, pass beta=1: alpha is then in [{ends[0]:.{d}f}, "
        f"{ends[1]:.{d}f}], an interval {words}."
    )


def identity(
    counts: ScoreCounts | None, scores_from: str | None, source: Mapping[str, Any]
) -> list[str]:
    """What a page is about, in short: file, scores, rows, date and version."""
    named = {"File": source.get("file"), "Scores": source.get("columns", {}).get("score")}
    parts = [f"{title}: {listed(names, 120)}" for title, names in named.items() if names]
    if scores_from is not None:
        parts.append(f"Scores of {cut(scores_from, 120)}")
    if counts is not None:
        sizes = (f"{size} {name.lower()}" for name, size in _sizes(counts).items())
        parts.append(", ".join(sizes))
    moment = os.environ.get("SOURCE_DATE_EPOCH")
    day = datetime.fromtimestamp(float(moment), UTC) if moment else datetime.now().astimezone()
    made = f"{day.day} {day:%B %Y}"
    return [*parts, made, f"purecover {sys.modules['purecover'].__version__}"]


def versions() -> str:
    """Versions of what computed the figures."""
    others = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    # Not imported: the package's front stands above this layer, and is loaded already.
    own = sys.modules["purecover"].__version__
    return f"purecover {own}, Python {platform.python_version()}, {others}"


# -- One report ----------------------------------------------------------------------------------


_SEVERITIES = ("error", "warning", "note")

RARE = 0.1
"""Share of positives below which precision says more than the AUC: few pairs decide on the AUC."""


@dataclass(frozen=True)
class Caution:
    """What to mind: a check that found something, in a sentence."""

    severity: str
    codes: Sequence[str]
    text: str


@dataclass(frozen=True)
class Headline:
    """What a result says first: what to decide on, what else to know, and what to mind."""

    lead: list[str]
    more: list[str]
    cautions: list[Caution]

    @property
    def lines(self) -> list[str]:
        """All of it, a paragraph each."""
        return [*self.lead, *self.more, *(caution.text for caution in self.cautions)]


def headline(report: PUReport) -> Headline:
    """Alpha and beta, the examples above the threshold, the AUC, and warnings."""
    if report.contradicted:
        return Headline([_observed_but(report, report.contradiction)], [], cautions(report))
    if wrong_way(report):
        said = f"{REVERSED}: does a low score mean positive? Then negate "
        said += "the scores. All figures here are of scores that rank positives below negatives."
        return Headline([_observed_but(report, said)], [], cautions(report))
    lead, more = [_shares(report), _flagged(report)], [_auc(report)]
    if report.infeasible:
        lead, more = [_auc(report)], []
    else:
        more = [*precision_lines(report), *_in_all(report), *more]
    if (direct := cautious(report)) is not None:
        how = (
            "stays at the observed one"
            if abs(report.auc - report.auc_pu) < 5e-4
            else f"goes only part of the way from the observed {report.auc_pu:.3f}"
        )
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


REVERSED = "labeled examples score no higher than unlabeled ones"


def wrong_way(report: PUReport) -> bool:
    """Whether scores are no better than chance, and not by chance."""
    errors = [check.code for check in report.findings if check.severity == "error"]
    return report.auc_pu <= 0.5 and "PU008" in errors


def cautious(report: PUReport) -> float | None:
    """The AUC if alpha and beta are as estimated, where the report has a more cautious one."""
    direct = min(report.auc_direct, 1.0)
    return direct if report.auc < direct - 1e-9 else None


def rare(report: PUReport) -> bool:
    """Whether positives are so rare that precision says more than the AUC."""
    return 0 < report.metrics.prior < RARE and "precision" in report.metrics


def _observed_but(report: PUReport, text: str) -> str:
    return f"Observed AUC {report.auc_pu:.3f}; {text}"


def _shares(report: PUReport) -> str:
    """The sentence that says what alpha and beta are, and how large."""
    p, found = report.proportions, report.estimation
    if found is None:
        known = _assumption(report, "clean-labels").verdict == "known"
        how = p._beta_origin if p.beta != 1 or known else "assumed"
        origin = p.origin.partition(", beta ")[0]
        return (
            f"{share(p.alpha)} of the unlabeled examples are positive (alpha, {origin}) and "
            f"{share(p.beta)} of the labeled ones (beta, {how}){_wrong_labels(p.beta)}."
        )
    guess = unsure(report) is not None
    word = "a guess" if guess else "estimated"
    notes = {"alpha": f"alpha, {word}", "beta": f"beta, {word}"}
    if found.beta_given or not found.beta_estimated:
        notes["beta"] = "beta, given" if found.beta_given else "beta, assumed"
    for name in notes:
        interval = found.intervals.get(name)
        if interval is not None and bounded(interval):
            level = f"{percent(interval.confidence_level)} interval " if name == "alpha" else ""
            notes[name] += f"; {level}{shares_between(getattr(p, name), interval)}"
    alpha, beta = f"{share(p.alpha)} of the unlabeled", f"{share(p.beta)} of the labeled"
    wrong = _wrong_labels(p.beta, "would be" if guess else "are")
    if guess:
        return (
            f"The scores do not tell how many examples are positive. Comparable data suggest "
            f"{alpha} ({notes['alpha']}) and {beta} ({notes['beta']}){wrong}."
        )
    return (
        f"About {alpha} examples are positive ({notes['alpha']}) and {beta} ones "
        f"({notes['beta']}){wrong}."
    )


def _assumption(report: PUReport, name: str) -> Assumption:
    return next(each for each in report.assumptions if each.name == name)


def _wrong_labels(beta: float, are: str = "are") -> str:
    wrong = share(1 - beta)
    return "" if share(beta) == "100 %" else f": about {wrong} of the labels {are} wrong"


def _flagged(report: PUReport) -> str:
    """How many of the unlabeled are flagged, and how many of them are positive."""
    text = f"{report.confusion}."
    text = f"By that guess, {text}" if unsure(report) is not None else _capital(text)
    c, recall = report.confusion, report.metrics.get("recall", 0.0)
    if recall * (c.tp + c.fn) > c.flagged + 0.5:
        text += f" Recall, {number(recall, 3)} by the labeled, would mean more positives than are "
        text += "flagged: chance, an alpha that is too large, or labels that went to clear cases."
    return text


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _within(report: PUReport, name: str) -> str:
    interval = report.intervals.get(name)
    if interval is None or not bounded(interval):
        return ""
    low, high = number(interval.low, 3), number(interval.high, 3)
    return f" ({percent(interval.confidence_level)} interval {low} to {high})"


def precision_lines(report: PUReport) -> list[str]:
    """Precision where it says most, and where it is of other rows than those counted above."""
    pooled = target_of(report) == "pooled"
    guess = unsure(report) is not None
    if "precision" not in report.metrics or not (pooled or guess or rare(report)):
        return []
    if report.infeasible or wrong_way(report):
        return []
    of, counts, threshold = "", report.counts, report.metrics.threshold
    if pooled:
        above = counts.thresholds >= threshold
        flagged = float(counts.labeled[above].sum() + counts.unlabeled[above].sum())
        of = f", of all {flagged:,.0f} flagged rows, labeled ones included"
    value = f"{number(report.metrics['precision'], 3)}{_within(report, 'precision')}"
    if guess:
        of += f"; observed it is {number(report.metrics.observed['precision'], 3)}, and it is "
        of += f"{number(_pure_precision(report), 3)} if the best scores are all positives"
        of += "" if report.estimation.beta_given else " and every label is right"  # type: ignore[union-attr]
    if not rare(report):
        word = "By the same guess, precision" if guess else "Precision"
        return [f"{word} at the threshold is {value}{of}."]
    few = f"Positives are rare ({share(report.metrics.prior)})"
    return [f"{few}, so that precision says more than the AUC: {value} at the threshold{of}."]


def _in_all(report: PUReport) -> list[str]:
    """How many of the unlabeled are positive, as far as that is uncertain."""
    c, between = report.confusion, _all_positive(report)
    recall = report.intervals.get("recall")
    if not between or recall is None or not bounded(recall):
        return []
    text = f"In all, about {c.tp + c.fn:,.0f}{between} of the unlabeled are positive: if more are "
    text += "found, more are missed, too"
    found = report.estimation
    alpha = found.intervals["alpha"]  # type: ignore[union-attr]
    if recall.low * alpha.high > recall.high * alpha.low:
        value = f"{number(report.metrics['recall'], 3)}{_within(report, 'recall')}"
        known = found.beta_given or report.proportions.beta == 1  # type: ignore[union-attr]
        but = "" if known else ", but on how many labels are wrong"
        text += f". Recall hardly depends on alpha{but}: {value}"
    return [f"{text}."]


def _all_positive(report: PUReport) -> str:
    """The interval of their number in parentheses; empty where alpha has none."""
    alpha = None if report.estimation is None else report.estimation.intervals.get("alpha")
    if alpha is None or not bounded(alpha):
        return ""
    n = report.counts.n_unlabeled
    return f" ({n * alpha.low:,.0f} to {n * alpha.high:,.0f})"


def target_of(report: PUReport) -> Target:
    """Whom precision is for, as its share of positives tells: a name, or that share."""
    prior = report.metrics.prior
    named: list[Target] = ["deployment", "pooled"]
    if report.proportions.scenario == "censoring":  # where both would fit
        named.reverse()
    for target in named:
        if report.proportions.prior(target, report.counts) == prior:
            return target
    return prior


def population(report: PUReport) -> str:
    """The rows that precision is of."""
    target = target_of(report)
    if target == "deployment":
        return "rows like the unlabeled"
    if target == "pooled":
        return "labeled and unlabeled rows together"
    return f"a population with {share(report.metrics.prior)} positives"


def population_note(report: PUReport) -> str:
    """The same in a sentence, with what the scenario means."""
    counts, target = report.counts, target_of(report)
    size = {"deployment": counts.n_unlabeled, "pooled": counts.n_unlabeled + counts.n_labeled}
    rows = ""
    if isinstance(target, str):
        things = "in total weight" if counts.is_weighted else "rows"
        rows = f" ({size[target]:,.10g} {things}, {share(report.metrics.prior)} positive)"
    return f"precision and AUC-PR are of {population(report)}{rows}; {scenario_meaning(report)}"


def _auc(report: PUReport) -> str:
    p = report.proportions
    if report.infeasible:
        return _observed_but(
            report,
            f"if {share(p.alpha)} of the unlabeled examples (alpha) and {share(p.beta)} of the "
            f"labeled ones (beta) were positive, the true AUC would be {report.auc_direct:.3f}, "
            "outside [0, 1]: these scores do not fit alpha and beta.",
        )
    bounds = _within(report, "roc_auc")
    if (pure := unsure(report)) is not None:
        return (
            f"{_IF_RANDOM}, the true AUC lies, chance aside, between {report.auc_pu:.3f}, the "
            f"observed one, and {pure:.3f}, which it is if the best scores are all positives"
            f"{_if_pure(report, pure)}. The scores do not tell more: {report.auc:.3f}{bounds} is a "
            "guess from comparable data."
        )
    return (
        f"{_IF_RANDOM}, the true AUC is about {report.auc:.3f}{bounds}; observed, with every "
        f"unlabeled example counted as a negative, it is {report.auc_pu:.3f}."
    )


def _if_pure(report: PUReport, pure: float) -> str:
    """What else the AUC of a pure top rests on, and what it is without it."""
    delta = report.estimation.delta_pure_noisy  # type: ignore[union-attr]
    if delta is None:  # beta is given
        return ""
    most = report._auc_at(delta)
    if most < pure + 0.005:
        return " and every label is right"
    return (
        f" and every label is right, or {most:.3f}, if the worst are all negatives and labels may "
        "be wrong"
    )


_IF_RANDOM = "If the labeled are a random sample of all positives"
UNSEEN = "No check can see whether the labeled are a random sample of all positives"


def cautions(report: PUReport) -> list[Caution]:
    """A sentence for each error and warning, one for all notes, or one that there is nothing."""
    found = [
        Caution(
            check.severity,
            [check.code],
            f"{check.severity.capitalize()}: "
            f"{REVERSED if check.code == 'PU008' and report.auc_pu <= 0.5 else check.title}"
            f"{_wider(report, check.code)} ({check.code}).",
        )
        for check in report.findings
        if check.severity != "note"
    ]
    notes = [check for check in report.findings if check.severity == "note"]
    if notes:
        word = "Note" if len(notes) == 1 else "Notes"
        listed = "; ".join(f"{n.title}{_wider(report, n.code)} ({n.code})" for n in notes)
        found.append(Caution("note", [check.code for check in notes], f"{word}: {listed}."))
    unseen = ""
    if _assumption(report, "labels-at-random").verdict == "cannot tell":
        wrong = "recall is too high, alpha and the number missed are too low, and the AUC may be "
        wrong += "wrong either way"
        if report.estimation is None:
            wrong = "recall and the AUC are too high, and the number missed is too low"
        unseen = f"How were the labels chosen? {UNSEEN} (SCAR). If the clearest cases were labeled "
        unseen += f"first, {wrong}: no interval here includes that."
    # A quiet report reads as approval.
    quiet = "" if found else QUIET
    return [*found, Caution("", [], f"{quiet} {unseen}".strip())] if quiet or unseen else found


QUIET = "No check found a problem."


def _wider(report: PUReport, code: str) -> str:
    """The range of the AUC that a finding leaves open."""
    if report.contradicted:
        return ""
    found = report.estimation
    if code in ("PU004", "PU012", "PU017", "PU019"):
        if found is None or "auc" not in found.identification:
            return ""
        low, high = found.identification["auc"]
        within = f"the AUC is between {low:.3f} and {high:.3f}"
        return f"; with labels at random and no other assumption {within}"
    if code == "PU006":
        return "; if the labeled are no random sample of all positives, the AUC is unknown"
    if code == "PU018":
        return f"; the AUC would be {_assumption(report, 'clean-labels').without}"
    if code == "PU007":
        (told,) = [each.message for each in report.findings if each.code == code]
        return told.partition("as exact")[2].rstrip(".")
    return ""


def unsure(report: PUReport) -> float | None:
    """The AUC that pure ends would give, where the scores do not tell how pure they are."""
    found = report.estimation
    if found is None or found.identifiable or found.delta_pure is None:
        return None
    return report._auc_at(found.delta_pure)


def _pure_precision(report: PUReport) -> float:
    """The precision at the threshold that the AUC of a pure top goes with."""
    p, counts = report.proportions, report.counts
    beta = p.beta if report.estimation.beta_given else 1.0  # type: ignore[union-attr]
    p = replace(p, alpha=beta - report.estimation.delta_pure, beta=beta)  # type: ignore[union-attr, operator]
    above = counts.thresholds >= report.metrics.threshold
    labeled = counts.labeled[above].sum() / counts.n_labeled
    unlabeled = counts.unlabeled[above].sum() / counts.n_unlabeled
    of_rates: Any = METRICS["precision"].of_rates
    tpr, fpr = (max(float(rate), 0.0) for rate in map_rates(labeled, unlabeled, p))
    return float(of_rates(tpr, fpr, p.prior(target_of(report), counts), report.metrics.options))


def sections(report: PUReport) -> dict[str, Section]:
    """All that a report says, by name, in the order in which it is written."""
    found = {"checks": checks_section(report), "assumptions": assumptions_section(report)}
    if report.estimation is not None:
        found["estimation"] = estimation_section(report.estimation)
    return found | {
        "metrics": metrics_section(report),
        "unlabeled": unlabeled_section(report),
        "facts": Section("Data, assumptions, settings", facts(report)),
    }


def checks_section(report: PUReport) -> Section:
    """What the checks found, and what to do."""
    rows = [
        Row(
            f"{check.code} {check.severity}: {check.title}",
            {"message": check.message, "hint": check.hint},
        )
        for check in report.findings
    ]
    if not rows:
        quiet = f"None of the {len(report.checks)} checks found a problem. {UNSEEN}."
        return Section("Checks", [], quiet)
    columns = {"message": "What was found", "hint": "What to do"}
    return Section("Checks", [Table("Check", columns, rows, numbers=False)])


def assumptions_section(report: PUReport) -> Section:
    """What the figures rest on."""
    rows = [
        Row(each.statement, {"verdict": each.verdict, "why": each.evidence, "auc": each.without})
        for each in report.assumptions
    ]
    columns = {"verdict": "Verdict", "why": "Why", "auc": "AUC otherwise"}
    return Section("What the figures rest on", [Table("Assumption", columns, rows, numbers=False)])


def level(report: PUReport) -> float | None:
    """The confidence level, if there are intervals."""
    return next((interval.confidence_level for interval in report.intervals.values()), None)


def metric_row(report: PUReport, name: str) -> Row:
    """One metric: as observed, recovered, with its interval and its true value, if there are any.

    An AUC that alpha and beta do not allow has no value.
    """
    infeasible = name == "roc_auc" and report.infeasible
    cells = {
        "observed": number(report.metrics.observed[name]),
        "recovered": "infeasible" if infeasible else number(report.metrics[name]),
    }
    if report.contradicted:
        cells["recovered"] = WITHHELD
    if report.intervals:
        cells["interval"] = "" if infeasible else ends(report.intervals.get(name))
    if report.truth is not None:
        cells["true"] = number(report.truth.metrics[name])
    title = title_of(name, report.metrics.options)
    if name == "roc_auc" and cautious(report) is not None:
        title += ", cautious"
    return Row(title, cells, name, METRICS[name].kind)


def metric_columns(report: PUReport) -> dict[str, str]:
    """Heads of the columns of metrics."""
    columns = {"observed": "Observed", "recovered": "Recovered"}
    if (coverage := level(report)) is not None:
        columns["interval"] = f"{percent(coverage)} interval"
    return columns if report.truth is None else columns | {"true": "True"}


def metrics_section(report: PUReport) -> Section:
    """All metrics worth a row, a table for each kind."""
    options = report.metrics.options
    headings = {
        "ranking": "Over all thresholds",
        "threshold": f"At the threshold: score ≥ {report.metrics.threshold:.6g}",
        "top_k": f"Among the {options.top_k or 0:,} highest unlabeled scores",
        "probability": "Of scores as probabilities of the true class",
    }
    columns = metric_columns(report)
    rows = [metric_row(report, name) for name in shown_metrics(report.metrics)]
    tables = [
        Table(headings[kind], columns, list(own)) for kind, own in groupby(rows, lambda r: r.kind)
    ]
    notes = [f"{_capital(population_note(report))}.", interval_note(report)]
    if (direct := cautious(report)) is not None:
        otherwise = f"if alpha and beta are as estimated it is {direct:.4f}"
        notes.insert(0, f"The AUC is cautious; {otherwise}, and all other figures take them so.")
    return Section("Metrics", tables, note=" ".join(filter(None, notes)))


def interval_note(report: PUReport) -> str:
    """What was varied, and how the intervals were made."""
    varied = dict.fromkeys(interval.varied for interval in report.intervals.values())
    how = by_method(report.intervals.items())
    return f"Intervals vary {' or '.join(varied)}; {how}." if how else ""


def by_method(intervals: Iterable[tuple[str, Interval]]) -> str:
    """Titles of metrics by how their intervals were made; those of most metrics are the others."""
    methods: dict[str, dict[str, None]] = {}
    for metric, interval in intervals:
        if interval.method != "none":
            methods.setdefault(interval.method, {})[METRICS[metric].title] = None
    if not methods:
        return ""
    common = max(methods, key=lambda method: len(methods[method]))
    # Some titles have commas themselves.
    parts = [f"{' / '.join(t)}: {method}" for method, t in methods.items() if method != common]
    parts.append(f"the others: {common}" if parts else common)
    return "; ".join(parts)


def unlabeled_section(report: PUReport) -> Section:
    """What is expected among the unlabeled at the threshold."""
    c = report.confusion
    numbers: dict[str, dict[str, float]] = {
        f"Score ≥ {c.threshold:.6g}": {"tp": c.tp, "fp": c.fp, "flagged": c.flagged},
        f"Score < {c.threshold:.6g}": {"fn": c.fn, "tn": c.tn, "passed": c.fn + c.tn},
        "All": {
            "positive": c.tp + c.fn,
            "negative": c.fp + c.tn,
            "all": c.flagged + c.fn + c.tn,
        },
    }
    rows = [
        Row(title, {key: f"{value:,.0f}{c.between(key)}" for key, value in cells.items()})
        for title, cells in numbers.items()
    ]
    rows[-1].cells["positive"] += _all_positive(report)
    caption = "Expected sums of weights" if report.counts.is_weighted else "Expected numbers"
    caption += " among the unlabeled"
    columns = {"positive": "Positive", "negative": "Negative", "both": "Both"}
    if report.contradicted:
        rows = [Row(row.title, dict.fromkeys(row.cells, WITHHELD)) for row in rows]
    sentence = "" if report.contradicted else _flagged(report)
    return Section("At the threshold", [Table(caption, columns, rows)], sentence)


def estimation_section(found: PriorEstimate) -> Section:
    """How alpha and beta were found, as they were not given."""
    p, name = found.proportions, _METHODS.get(found.estimator, found.estimator)
    sentence = f"Alpha and beta were not given; they were estimated from the scores by {name}" + (
        "." if found.beta_estimated or p.beta != 1 else ", with labels taken as clean."
    )
    if found.beta_given:
        sentence = (
            f"Beta was given; alpha was estimated from the scores, as a share of it, by {name}."
        )
    if found.intervals:
        coverage = next(iter(found.intervals.values())).confidence_level
        sentence += f" In brackets stand {percent(coverage)} intervals."
    rows = [_estimate_row(*each) for each in estimates(found)]
    columns = {"alpha": "Alpha", "beta": "Beta", "delta": "Beta − alpha"}
    notes = [note for note in (if_verified(found), *found.notes) if note]
    return Section("Alpha and beta", [Table("Estimator", columns, rows)], sentence, notes=notes)


def estimates(
    found: PriorEstimate,
) -> Iterator[tuple[str, float, float, Mapping[str, Interval]]]:
    """Name, alpha, beta and intervals, of the estimator in use and then of the others."""
    yield found.estimator, found.proportions.alpha, found.proportions.beta, found.intervals
    for name, pair in found.others.items():
        yield name, *pair, {}


def _estimate_row(title: str, alpha: float, beta: float, intervals: Mapping[str, Interval]) -> Row:
    cells = {}
    for name, value in (("alpha", alpha), ("beta", beta), ("delta", beta - alpha)):
        bounds = ends(intervals.get(name))
        cells[name] = f"{number(value)} {bounds}" if bounds else number(value)
    return Row(title, cells)


def facts(report: PUReport) -> list[Table]:
    """Names and values of data, assumptions and settings."""
    counts, truth = report.counts, report.truth
    data = _sizes(counts)
    data["Bins of scores" if counts.is_binned else "Distinct scores"] = f"{counts.n_thresholds:,}"
    if report.scores_from is not None:
        data["Scores of"] = report.scores_from
    data |= {f"{name} of the exact scores": text for name, text in binning(report)}
    shares = {name: f"{getattr(report.proportions, name):.4g}" for name in ("alpha", "beta")}
    assumptions = _assumptions(report, shares)
    if truth is not None:
        assumptions |= {"True alpha": f"{truth.alpha:.4g}", "True beta": f"{truth.beta:.4g}"}
    outside = f"{report.roc.n_outside:,} of {report.roc.fpr_raw.size:,}"
    settings = {
        "Threshold": f"{report.metrics.threshold:.6g}",
        "Threshold chosen by": "the caller" if report.threshold_chosen else "Youden index",
        "Repair of the ROC curve": report.roc.repair,
        "Repair of the precision-recall curve": report.pr.repair,
        "Area under precision-recall": report.pr.area,
        "Raw points outside [0, 1]": outside,
    }
    if report.bootstrap is not None:
        settings["Resamples"] = _resamples(report.bootstrap.n_resamples, report.random_state)
        if report.bootstrap.n_rejected:
            settings["Draws without an estimate"] = f"{report.bootstrap.n_rejected:,}"
    return _fact_tables(Data=data, Assumptions=assumptions, Settings=settings)


def _fact_tables(**facts: Mapping[str, str]) -> list[Table]:
    return [
        Table(title, {"value": ""}, [Row(name, {"value": text}) for name, text in own.items()])
        for title, own in facts.items()
    ]


def _sizes(counts: ScoreCounts) -> dict[str, str]:
    weighted = " (sum of weights)" if counts.is_weighted else ""
    sizes = {"Labeled": counts.n_labeled, "Unlabeled": counts.n_unlabeled}
    if counts.n_negative:
        sizes["Known negatives"] = counts.n_negative
    return {name: f"{size:,.10g}{weighted}" for name, size in sizes.items()}


def _assumptions(
    report: PUReport, shares: Mapping[str, str], estimated_from: str | None = None
) -> dict[str, str]:
    origin = report.proportions.origin
    if report.estimation is not None:
        origin = f"estimated by {estimated_by(report.estimation)}"
    return {
        "Share of positives among the unlabeled, alpha": shares["alpha"],
        "Share of positives among the labeled, beta": shares["beta"],
        "Where they come from": origin,
        **({} if estimated_from is None else {"Estimated once, from": estimated_from}),
        "How the data were drawn": scenario_meaning(report),
        "Share of positives where precision applies": f"{report.metrics.prior:.4g}",
    }


def scenario_meaning(report: PUReport) -> str:
    """What the scenario means for the labeled rows."""
    if report.proportions.scenario == "censoring":
        return "the labeled rows are part of one sample (censoring)"
    return "the labeled rows were collected apart (case-control)"


def _resamples(n_resamples: int, seed: int | None) -> str:
    return f"{n_resamples:,}" + ("" if seed is None else f", seed {seed}")


def binning(report: PUReport) -> list[tuple[str, str]]:
    """Where areas of the exact scores lie, at this alpha and beta; nothing for exact counts."""
    bounds = report.bounds
    if bounds is None:
        return []
    rows = [("Observed AUC", between(bounds.auc_pu))]
    if bounds.auc is not None and not report.infeasible:
        rows.append(("AUC", between(bounds.auc)))
    if bounds.auc_pr is not None:
        rows.append(("AUC-PR (isotonic)", between(bounds.auc_pr)))
    return rows


def thinning(thinned: dict[str, Any] | None, counts: ScoreCounts) -> str:
    """What the sliders of a page compute from, and how near that is to all the scores."""
    things = "bins of scores" if counts.is_binned else "distinct scores"
    if thinned is None:
        return (
            f"The sliders compute in this page, from the counts at all {counts.n_thresholds:,} "
            f"{things}, what purecover would compute."
        )
    area = ""
    if thinned["auc_pr_difference"] is not None:
        area = (
            f", and AUC-PR, at the report's own values, by {at_most(thinned['auc_pr_difference'])}"
        )
    return (
        f"The figures of the report come from all {thinned['n_thresholds']:,} {things}. The "
        f"sliders compute in this page from the counts at {thinned['kept']:,} of them, where "
        "observed rates are exact: that moves the observed AUC by at most "
        f"{at_most(thinned['auc_bound'])}, an observed rate at a threshold between them by at "
        f"most {at_most(thinned['rate_bound'])}{area}."
    )


# -- A comparison --------------------------------------------------------------------------------


_MAIN = ("roc_auc", "auc_pr", "recall", "specificity", "precision", "f1", "mcc")
_ALIKE = 3
"""Most messages of one check with a row each; of more, the first stands for all."""
_NAMED = 60
"""Characters of a name in a sentence."""


def main_metrics(comparison: ScoreComparison) -> list[str]:
    """The metrics worth a table: the main ones, and those whose parameters the caller has set."""
    return [*_MAIN, *asked_for(comparison.reports[comparison.baseline].metrics.options)]


def compared(comparison: ScoreComparison, metric: str) -> Table:
    """All models in one metric, with differences from the baseline."""
    rows = []
    for name, report in comparison.reports.items():
        gap = comparison.differences[metric].get(name)
        better = comparison.better.get(metric, {}).get(name, math.nan)
        cells = {"interval": "", **metric_row(report, metric).cells}
        cells |= {"difference": "", "between": ""}
        if gap is not None:
            cells["difference"] = signed(gap.estimate)
            if bounded(gap):
                cells["between"] = f"[{signed(gap.low)}, {signed(gap.high)}]"
            elif gap.method != "none":
                cells["between"] = UNDEFINED
        if comparison.n_resamples:
            cells["better"] = f"{100 * better:.1f} %" if math.isfinite(better) else ""
        rows.append(Row(name, cells, metric))
    coverage = f"{percent(comparison.confidence_level)} interval"
    columns = {"observed": "Observed", "recovered": "Recovered", "interval": coverage}
    columns |= {"difference": "Difference", "between": coverage}
    if comparison.n_resamples:
        columns["better"] = "Better in"
    if any(report.truth is not None for report in comparison.reports.values()):
        columns["true"] = "True"
    return Table(title_of(metric, _options(comparison)), columns, rows)


def _options(comparison: ScoreComparison) -> MetricOptions:
    return comparison.reports[comparison.baseline].metrics.options


def comparison_headline(comparison: ScoreComparison) -> Headline:
    """Which model is ahead, by how much, whether that can be chance, and warnings."""
    first, *more = _ahead(comparison)
    found: dict[tuple[str, str, str], list[str]] = {}
    for name, report in comparison.reports.items():
        for check in report.findings:
            if check.severity != "note":
                key = (check.severity, check.code, check.title)
                found.setdefault(key, []).append(shortened(name, _NAMED))
    cautions = []
    for (severity, code, title), names in sorted(
        found.items(), key=lambda item: _SEVERITIES.index(item[0][0])
    ):
        several = len(names) == len(comparison.reports)
        whose = "all models" if several else cut(", ".join(names), 2 * _NAMED)
        text = f"{severity.capitalize()}: {title} ({code}; {whose})."
        cautions.append(Caution(severity, [code], text))
    return Headline([first], more, cautions)


def _ahead(comparison: ScoreComparison) -> list[str]:
    reports, base = comparison.reports, comparison.baseline
    p = comparison.proportions
    shares = f"{share(p.alpha)} of the unlabeled and {share(p.beta)} of the labeled"
    unfit = [name for name, report in reports.items() if report.infeasible]
    contradicted = [name for name in unfit if reports[name].contradicted]
    if contradicted:
        first = contradicted[0]
        rest = "Alpha and beta are those of the rows, whatever scores them: figures of the other "
        rest += "models rest on them, too."
        told = f"{shortened(first, _NAMED)}: {reports[first].contradiction}"
        return [told, rest] if len(contradicted) < len(reports) else [told]
    if unfit:
        worst = max(unfit, key=lambda name: abs(reports[name].auc_direct - 0.5))
        first = (
            f"If {shares} were positive, the true AUC of {shortened(worst, _NAMED)} would be "
            f"{reports[worst].auc_direct:.3f}, outside [0, 1]: the scores of {len(unfit)} of "
            f"{len(reports)} models do not fit alpha and beta."
        )
        second = "Which model is ahead in AUC does not depend on alpha and beta; by how much does."
        return [first, second]
    best = comparison.best("roc_auc") or base
    rival = base
    if best == base:
        others = [name for name in reports if name != base]
        rival = max(others, key=lambda name: reports[name].auc)
    seen = lead_in_auc(comparison, best, rival)
    sentence = (
        f"Of {len(reports)} models, {shortened(best, _NAMED)} has the highest recovered AUC, "
        f"{number(reports[best].auc, 3)}: {seen.estimate:.3f} above {shortened(rival, _NAMED)}"
    )
    if bounded(seen):
        coverage = percent(seen.confidence_level)
        sentence += f" ({coverage} interval of the difference {seen.low:.3f} to {seen.high:.3f})"
        second = "Chance can explain the difference: its interval holds 0."
        if seen.low > 0:
            second = "The interval excludes 0."
            if len(reports) > 2:
                second += " The best was picked on the same data, which flatters it a little."
    else:
        second = "There is too little data, or there are no replicates, for an interval of it."
    about = "about " if comparison.estimated_from else ""
    return [f"{sentence}.", second, f"This holds if {about}{shares} are positive."]


def lead_in_auc(comparison: ScoreComparison, best: str, rival: str) -> Interval:
    """How far one score is ahead of another, of which one is the baseline."""
    if rival == comparison.baseline:
        return comparison.differences["roc_auc"][best]
    # The same difference from the other side.
    seen = comparison.differences["roc_auc"][rival]
    return replace(seen, estimate=-seen.estimate, low=-seen.high, high=-seen.low)


def comparison_notes(comparison: ScoreComparison) -> list[str]:
    """What a reader must know to read the differences right."""
    chosen = comparison.reports[comparison.baseline].threshold_chosen
    others = len(comparison.reports) - 1
    notes = [f"Differences are from {comparison.baseline}, on the same rows."]
    fit = [each for each in comparison.reports.values() if not each.contradicted]
    if any(abs(each.auc - each.auc_direct) > NOTEWORTHY_GAP for each in fit):
        notes.append(
            "Differences of AUCs are those at the alpha and beta named here, where an AUC itself "
            "is cautious, or would be above 1."
        )
    if others > 1 and comparison.simultaneous:
        notes.append(f"Their intervals hold for all {others} differences in a metric at once.")
    elif others > 1:
        notes.append(
            f"Each interval holds by itself: with {others} differences in a metric, one may miss "
            "though no model is better (simultaneous intervals allow for that)."
        )
    if comparison.n_resamples:
        notes.append(
            f"Better: the share of {comparison.n_resamples:,} replicates in which the score is "
            "better than the baseline; it is no p-value."
        )
    if not chosen:
        notes.append("Threshold metrics are taken where each score has its highest Youden index.")
    return notes


def comparison_interval_note(comparison: ScoreComparison) -> str:
    """How the intervals of differences were made."""
    found = comparison.differences.items()
    how = by_method((metric, interval) for metric, own in found for interval in own.values())
    return f"Intervals of differences: {how}." if how else ""


def comparison_facts(comparison: ScoreComparison) -> list[Table]:
    """Names and values of data, assumptions and settings, and each threshold."""
    report = comparison.reports[comparison.baseline]
    shares = {}
    for name in ("alpha", "beta"):
        estimate = report.estimation
        within = "" if estimate is None else ends(estimate.intervals.get(name))
        value = f"{getattr(comparison.proportions, name):.4g}"
        shares[name] = f"{value} {within}" if within else value
    return _fact_tables(
        Data=_sizes(report.counts),
        Assumptions=_assumptions(report, shares, comparison.estimated_from),
        Settings={
            "Baseline": comparison.baseline,
            "Resamples": _resamples(comparison.n_resamples, comparison.random_state),
            "Simultaneous intervals": "yes" if comparison.simultaneous else "no",
            "Area under precision-recall": report.pr.area,
        },
        Thresholds={
            name: f"{other.metrics.threshold:.6g}" for name, other in comparison.reports.items()
        },
    )


# -- Many reports --------------------------------------------------------------------------------


def _is_cautious(row: ManyRow) -> bool:
    """Whether its AUC is nearer to the observed one than alpha and beta as estimated imply."""
    p, seen = row.proportions, row.observed.get("roc_auc")
    if p is None or seen is None or row.estimated_from is None:
        return False
    return row.recovered["roc_auc"] < min(0.5 + (seen - 0.5) / p.delta, 1.0) - 1e-9


def many_caution(many: ManyReports) -> list[str]:
    """That its AUCs are cautious, if one is."""
    text = "The AUC is cautious where alpha is not sure: it goes only part of the way from the "
    text += "observed one. All other figures take alpha and beta as estimated."
    return [text] if any(map(_is_cautious, many.evaluated)) else []


def many_titles(many: ManyReports) -> dict[str, str]:
    """Titles of its metrics; the AUC is called cautious where that of a row is."""
    titles = {name: METRICS[name].title for name in many.metrics}
    if many_caution(many):
        titles["roc_auc"] += ", cautious"
    return titles


def many_headline(many: ManyReports) -> Headline:
    """How many rows there are, what their intervals hold, and warnings with their number."""
    done = many.evaluated
    tasks, scores = {row.task for row in many}, {row.score for row in many}
    lead = f"{len(done):,} of {number_of(len(many), 'row')} evaluated: "
    lead += f"{number_of(len(tasks), 'task')}, {number_of(len(scores), 'column')} of scores."
    found = Counter(finding for row in done for finding in row.findings if finding[1] != "note")
    cautions = [
        Caution(how, [], f"{_capital(how)} in {number_of(n, 'row')}: {_named(code)}.")
        for (code, how), n in sorted(found.items(), key=lambda each: -each[1])
        if code in REGISTRY
    ]
    more = ["The best of many is best partly by luck.", *many_caution(many)]
    if many.simultaneous is None:
        level = percent(many.confidence_level)
        more.append(f"Each interval holds by itself with {level}, so that of many some miss.")
    return Headline([lead], more, cautions or [Caution("", [], f"{QUIET} {UNSEEN}.")])


def _named(code: str) -> str:
    return f"{REGISTRY[code].title} ({code})"


def findings_by_score(comparison: ScoreComparison) -> list[tuple[str, str, str, str, list[str]]]:
    """Code, severity, message, hint and scores of checks that found something, by severity."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for name, report in comparison.reports.items():
        for check in report.findings:
            key = (check.code, check.severity, check.message, check.hint or "")
            found.setdefault(key, []).append(name)
    listed = sorted(found.items(), key=lambda item: (_SEVERITIES.index(item[0][1]), item[0][0]))
    out = []
    for (code, severity), group in groupby(listed, key=lambda item: item[0][:2]):
        rows = [(*key, names) for key, names in group]
        if len(rows) > _ALIKE:
            # They differ in figures that each report has; read one by one they say one thing.
            named = {name for row in rows for name in row[-1]}
            names = [name for name in comparison.reports if name in named]
            _, _, message, hint, first = next(row for row in rows if names[0] in row[-1])
            others = len(names) - len(first)
            message = f"{message} (Figures of {first[0]}; {others} others have their own.)"
            rows = [(code, severity, message, hint, names)]
        out += rows
    return out


# -- Thresholds of evidence ----------------------------------------------------------------------


def evidence_headline(found: EvidenceThresholds, report: PUReport | None = None) -> Headline:
    """The strongest evidence that is reached on either side, and what to mind.

    The report of the same data, if there is one, says where alpha and beta come from.
    """
    rows = found._cells()
    level = percent(found.confidence_level)
    lead = []
    for half in (rows[:3:-1], rows[:4]):  # the strongest first
        if row := next((each for each in half if each["bound"] != "none"), None):
            what = row["evidence"].replace(" for", " evidence for")
            plural = "" if row["points"].lstrip("+-") == "1" else "s"
            said = f"A score {row['bound']} is {what} ({row['points']} point{plural}), with {level}"
            lead.append(_minus(f"{said} confidence."))
    more = (
        "Positive is what the labeled rows are labeled as, such as pathogenic; negative is the "
        f"opposite, such as benign. {share(found.prior)} are positive (prior), so that very strong "
        f"evidence has odds of {found.constant:,.0f} to 1."
    )
    origin, told = [], []
    if report is not None:
        warned = {check.code for check in warnings_of_data(report.findings)}
        origin = [_shares(report)]
        told = [each for each in cautions(report) if {*each.codes} & warned]
    if missing := [row["evidence"] for row in rows if row["bound"] == "none"]:
        text = f"Too few rows to say where evidence is {', '.join(missing)}."
        told.append(Caution("note", [], text))
    if found.varied == "scores":
        text = "The prior is taken as exact. If it is an estimate, the bounds are too close."
        told.append(Caution("warning", [], text))
    lead = lead or ["No score is sure to be evidence of any strength."]
    return Headline(lead, [more, *origin], told)


def _minus(text: str) -> str:
    return text.replace("-", "−")


def evidence_sections(found: EvidenceThresholds) -> list[Section]:
    """Scores of each strength; and, where the prior was estimated, what its error moves."""
    level, cells = f"{percent(found.confidence_level)} bound", found._cells()
    rows = [
        Row(name.capitalize(), {key: _minus(text) for key, text in row.items()})
        for name, row in zip(found.strengths, cells, strict=True)
    ]
    for row, posterior in zip(rows, found.posterior.tolist(), strict=True):
        row.cells["posterior"] = share(posterior)

    def tables(columns: dict[str, str]) -> list[Table]:
        halves = {"For positive": rows[4:], "For negative": rows[3::-1]}
        return [Table(title, columns, half) for title, half in halves.items()]

    columns = {"points": "Points", "bound": f"Score, {level}", "threshold": "Score, estimate"}
    first = Section(
        "Scores that are evidence",
        tables(columns | {"odds": "Odds", "posterior": "Chance"}),
        f"Give a score the points of the strongest line it reaches by the {level}, and 0 if it "
        "reaches none. Points of independent pieces of evidence add up.",
        "Odds: how many times likelier the score is among positives than among negatives. "
        "Chance: of being positive, with this evidence alone. None: too few rows to say so, "
        "which does not mean that there is no such score.",
    )
    if found.varied == "scores":
        return [first]
    moved = sum(row["bound"] != row["exact_bound"] for row in cells)
    second = Section(
        "What a prior that is taken as exact hides",
        tables({"exact_bound": "Prior as exact", "bound": "Prior as estimated"}),
        "The share of positives was estimated, and its error is in the bounds above. Taken as "
        f"exact, as is usual, {moved} of {len(cells)} bounds would lie elsewhere:",
    )
    return [first, second]


def evidence_facts(found: EvidenceThresholds) -> list[Table]:
    """Names and values of data and settings."""
    sizes = {"Labeled": found.n_labeled, "Unlabeled": found.n_unlabeled}
    return _fact_tables(
        Data={name: f"{size:,.10g}" for name, size in sizes.items()},
        Settings={
            "Prior": f"{found.prior:.4g}",
            "Confidence of each bound, one-sided": percent(found.confidence_level),
            "Bounds vary": found.varied,
        },
    )
