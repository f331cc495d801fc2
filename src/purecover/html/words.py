"""What pages say in words and in single figures."""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from importlib.metadata import version
from itertools import groupby
from typing import TYPE_CHECKING, Any

from purecover.recovery.metrics import METRICS, MetricOptions, RecoveredMetrics
from purecover.recovery.roc import NOTEWORTHY_GAP

if TYPE_CHECKING:
    from purecover.checks import CheckResult
    from purecover.counts import ScoreCounts
    from purecover.estimators.base import PriorEstimate
    from purecover.intervals.interval import Interval
    from purecover.report.compare import ScoreComparison
    from purecover.report.results import PUReport


# -- Which metrics are worth a row, and what things are called where a person reads them ---------


def shown_metrics(metrics: RecoveredMetrics) -> list[str]:
    """Names of the metrics to show: all but an F-beta that repeats F1."""
    repeats_f1 = metrics.options.f_beta == 1 and "f1" in metrics
    return [name for name in metrics if not (repeats_f1 and name == "f_beta")]


def title_of(name: str, options: MetricOptions) -> str:
    """The title of a metric with the numbers it was told."""
    title = METRICS[name].title
    if name == "f_beta":
        return f"{title} (beta {options.f_beta:g})"
    if name == "cost":
        return f"{title} (miss {options.cost_fn:g}, false alarm {options.cost_fp:g})"
    if name == "partial_auc":
        return f"{title.removesuffix(')')}, fpr to {options.max_fpr:g})"
    return title


def estimated_by(estimate: PriorEstimate) -> str:
    """The name of an estimator, with what was not left to it."""
    if estimate.beta_given:
        return f"{estimate.estimator}, beta given"
    if not estimate.beta_estimated:
        return f"{estimate.estimator}, labels taken as clean"
    return estimate.estimator


# -- What the page says in words and in single figures -------------------------------------------


UNDEFINED = "undefined"

_SEVERITIES = ("error", "warning", "note")


def headline(report: PUReport) -> list[str]:
    """The finding in a sentence, and what else a reader should know at once."""
    sentences = [_finding(report)]
    if not report.infeasible and abs(report.roc.auc - report.auc) > NOTEWORTHY_GAP:
        sentences.append(
            f"That is the direct value; the area under the repaired curve ({report.roc.repair}) "
            f"is {report.roc.auc:.3f}."
        )
    if report.truth is not None:
        sentences.append(
            f"Measured on the true classes that came with the data it is "
            f"{number(report.truth.metrics['roc_auc'], 3)}."
        )
    spoke = sum(check.fired for check in report.checks)
    sentences.append(
        f"{spoke} of {len(report.checks)} checks spoke." if spoke else "No check spoke."
    )
    return sentences


def _finding(report: PUReport) -> str:
    p = report.proportions
    shares = f"{share(p.alpha)} of the unlabeled"
    if p.beta != 1:
        shares += f" and {share(p.beta)} of the labeled"
    if report.infeasible:
        return (
            f"Observed AUC {report.auc_pu:.3f}; if {shares} were positive, the true AUC would be "
            f"{report.auc_direct:.3f}, outside [0, 1]: these scores do not fit alpha and beta."
        )
    interval = report.intervals.get("roc_auc")
    bounds = ""
    if interval is not None and math.isfinite(interval.low) and math.isfinite(interval.high):
        low, high = number(interval.low, 3), number(interval.high, 3)
        bounds = f", {100 * interval.confidence_level:g} % interval {low} to {high},"
    about = "" if report.estimation is None else "about "
    return (
        f"Observed AUC {report.auc_pu:.3f}; the true AUC is about {report.auc:.3f}{bounds} if "
        f"{about}{shares} are positive."
    )


def share(value: float) -> str:
    """A share as a percentage of three digits."""
    return f"{100 * value:.3g} %"


def by_severity(report: PUReport) -> list[CheckResult]:
    """The checks that spoke, the gravest first."""
    fired = [check for check in report.checks if check.fired]
    return sorted(fired, key=lambda check: (_SEVERITIES.index(check.severity), check.code))


def facts(report: PUReport) -> list[tuple[str, list[tuple[str, str]]]]:
    """Names and values of data, assumptions and settings."""
    counts, proportions = report.counts, report.proportions
    weighted = " (sum of weights)" if counts.is_weighted else ""
    data = [
        ("Labeled", f"{counts.n_labeled:,.10g}{weighted}"),
        ("Unlabeled", f"{counts.n_unlabeled:,.10g}{weighted}"),
        ("Bins of scores" if counts.is_binned else "Distinct scores", f"{counts.n_thresholds:,}"),
    ]
    if report.scores_from is not None:
        data.append(("Scores of", report.scores_from))
    if counts.n_negative:
        data.insert(2, ("Known negatives", f"{counts.n_negative:,.10g}{weighted}"))
    data += [(f"{name} of the exact scores", text) for name, text in binning(report)]
    assumptions = [
        ("Share of positives among the unlabeled, alpha", f"{proportions.alpha:.4g}"),
        ("Share of positives among the labeled, beta", f"{proportions.beta:.4g}"),
        ("Where they come from", _origin(report)),
        ("How the data were drawn", proportions.scenario),
        ("Prior that precision speaks of", f"{report.metrics.prior:.4g}"),
    ]
    if report.truth is not None:
        assumptions += [
            ("True alpha", f"{report.truth.alpha:.4g}"),
            ("True beta", f"{report.truth.beta:.4g}"),
        ]
    how = "the caller" if report.threshold_chosen else "Youden index"
    settings = [
        ("Threshold", f"{report.metrics.threshold:.6g}"),
        ("Threshold chosen by", how),
        ("Repair of the ROC curve", report.roc.repair),
        ("Repair of the precision-recall curve", report.pr.repair),
        ("Area under precision-recall", report.pr.area),
        ("Raw points outside [0, 1]", f"{report.roc.n_outside:,} of {report.roc.fpr_raw.size:,}"),
    ]
    if report.bootstrap is not None:
        seed = "" if report.random_state is None else f", seed {report.random_state}"
        settings.append(("Resamples", f"{report.bootstrap.n_resamples:,}{seed}"))
        if report.bootstrap.n_rejected:
            settings.append(("Draws without an estimate", f"{report.bootstrap.n_rejected:,}"))
    return [("Data", data), ("Assumptions", assumptions), ("Settings", settings)]


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


def between(pair: tuple[float, float]) -> str:
    """Bounds with digits enough to tell them apart, rounded outwards."""
    low, high = pair
    digits = min(max(1 - math.floor(math.log10(max(high - low, 1e-9))), 4), 9)
    scale = 10**digits
    low, high = math.floor(low * scale) / scale, math.ceil(high * scale) / scale
    return f"{low:.{digits}f} to {high:.{digits}f}"


def _origin(report: PUReport) -> str:
    if report.estimation is None:
        return report.proportions.origin
    return f"estimated by {estimated_by(report.estimation)}"


def level(report: PUReport) -> str | None:
    """The confidence level as a percentage, if there are intervals."""
    interval = next(iter(report.intervals.values()), None)
    return None if interval is None else f"{100 * interval.confidence_level:g} %"


def interval_note(report: PUReport) -> str:
    """What was varied, and how the intervals were made."""
    methods: dict[str, list[str]] = {}
    varied = {}
    for name, interval in report.intervals.items():
        methods.setdefault(interval.method, []).append(METRICS[name].title)
        varied[interval.varied] = True
    return f"Intervals vary {' or '.join(varied)}; {by_method(methods)}." if methods else ""


def by_method(methods: Mapping[str, Sequence[str]]) -> str:
    """Titles of metrics by how their intervals were made; those of most metrics are the others."""
    common = max(methods, key=lambda method: len(methods[method]))
    # Some titles have commas themselves.
    parts = [f"{' / '.join(t)}: {method}" for method, t in methods.items() if method != common]
    parts.append(f"the others: {common}" if parts else common)
    return "; ".join(parts)


def versions() -> str:
    """Versions of what computed the figures."""
    names = ("numpy", "scipy")
    others = ", ".join(f"{name} {version(name)}" for name in names)
    # Not imported: the package's front stands above this layer, and is loaded already.
    own = sys.modules["purecover"].__version__
    return f"purecover {own}, Python {platform.python_version()}, {others}"


def ends(interval: Any) -> str:
    """The ends of an interval for a table; empty if there is none."""
    if interval is None:
        return ""
    if not (math.isfinite(interval.low) and math.isfinite(interval.high)):
        return UNDEFINED
    return f"{interval.low:.4f} – {interval.high:.4f}"


def number(value: float, digits: int = 4) -> str:
    """A figure for a table."""
    return f"{value:.{digits}f}" if math.isfinite(value) else UNDEFINED


def at_most(value: float) -> str:
    """Two digits, rounded up: a bound must not shrink by being written down."""
    up = Context(prec=2, rounding=ROUND_CEILING).create_decimal(Decimal(value))
    return f"{float(up):.2g}"


def thinning(thinned: dict[str, Any] | None, counts: ScoreCounts) -> str:
    """What the sliders compute from, and how near that is to all the scores."""
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


# -- What a comparison shows and says, in text and on its page -----------------------------------


_SHORT = ("roc_auc", "auc_pr", "recall", "specificity", "precision", "f1", "mcc")
_ALIKE = 3
"""Most messages of one check with a row each; of more, the first stands for all."""
_ASKED = ("f_beta", "cost", "precision_at_k", "recall_at_k")


def shown_in_short(comparison: ScoreComparison) -> list[str]:
    """The metrics worth a block: the main ones, and those whose parameters the caller has set."""
    options = comparison.reports[comparison.baseline].metrics.options
    unset = {
        "f_beta": options.f_beta == 1,
        "cost": options.cost_fn == options.cost_fp == 1,
    }
    asked = [name for name in _ASKED if name in comparison.differences and not unset.get(name)]
    return [*_SHORT, *asked]


def notes_of(comparison: ScoreComparison) -> list[str]:
    """What a reader must know to read the differences right."""
    chosen = comparison.reports[comparison.baseline].threshold_chosen
    others = len(comparison.reports) - 1
    notes = [f"Differences are from {comparison.baseline}, on the same rows."]
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


def findings_by_score(comparison: ScoreComparison) -> list[tuple[str, str, str, str, list[str]]]:
    """Code, severity, message, hint and scores of checks that spoke, the gravest first."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for name, report in comparison.reports.items():
        for check in report.findings:
            key = (check.code, check.severity, check.message, check.hint or "")
            found.setdefault(key, []).append(name)
    order = ("error", "warning", "note")
    listed = sorted(found.items(), key=lambda item: (order.index(item[0][1]), item[0][0]))
    out = []
    for (code, severity), group in groupby(listed, key=lambda item: item[0][:2]):
        rows = [(*key, names) for key, names in group]
        if len(rows) > _ALIKE:
            # They differ in figures that each report has; read one by one they say one thing.
            spoken = {name for row in rows for name in row[-1]}
            names = [name for name in comparison.reports if name in spoken]
            _, _, message, hint, first = next(row for row in rows if names[0] in row[-1])
            others = len(names) - len(first)
            message = f"{message} (Figures of {first[0]}; {others} others have their own.)"
            rows = [(code, severity, message, hint, names)]
        out += rows
    return out


def lead_in_auc(comparison: ScoreComparison, best: str, rival: str) -> Interval:
    """How far one score is ahead of another, of which one is the baseline."""
    if rival == comparison.baseline:
        return comparison.differences["roc_auc"][best]
    # The same difference from the other side.
    seen = comparison.differences["roc_auc"][rival]
    return replace(seen, estimate=-seen.estimate, low=-seen.high, high=-seen.low)
