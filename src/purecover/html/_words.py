"""What the page says in words and in single figures."""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from purecover.html._titles import estimated_by
from purecover.recovery._registry import METRICS
from purecover.recovery._roc import NOTEWORTHY_GAP

if TYPE_CHECKING:
    from purecover.checks import CheckResult
    from purecover.counts import ScoreCounts
    from purecover.report._report import PUReport

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
