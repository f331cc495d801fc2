"""The document of a comparison: which model is ahead, differences, checks and settings."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from purecover._documents.formats import (
    UNDEFINED,
    bounded,
    cut,
    ends,
    number,
    percent,
    share,
    shortened,
    signed,
)
from purecover._documents.parts import Caution, Headline, Row, Table, fact_tables
from purecover._documents.report import (
    interval_methods,
    metric_row,
    proportions_facts,
    requested_metrics,
    resamples,
    sizes,
    title_of,
)
from purecover.recovery.curves import NOTEWORTHY_GAP

if TYPE_CHECKING:
    from purecover.intervals.interval import Interval
    from purecover.report.compare import ScoreComparison

_MAIN = ("roc_auc", "auc_pr", "recall", "specificity", "precision", "f1", "mcc")
_SEVERITIES = ("error", "warning", "note")
_MAX_MESSAGES = 3
"""Most messages of one check with a row each; of more, the first stands for all."""
_MAX_NAME = 60
"""Characters of a name in a sentence."""


def main_metrics(comparison: ScoreComparison) -> list[str]:
    """The metrics with a table: the main ones, and those whose parameters the caller has set."""
    options = comparison.reports[comparison.baseline].metrics.options
    return [*_MAIN, *requested_metrics(options)]


def metric_table(comparison: ScoreComparison, metric: str) -> Table:
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
    options = comparison.reports[comparison.baseline].metrics.options
    return Table(title_of(metric, options), columns, rows)


def comparison_headline(comparison: ScoreComparison) -> Headline:
    """Say which model is ahead, by how much, whether chance can explain it, and what to mind."""
    first, *more = _ahead(comparison)
    found: dict[tuple[str, str, str], list[str]] = {}
    for name, report in comparison.reports.items():
        for check in report.findings:
            if check.severity != "note":
                key = (check.severity, check.code, check.title)
                found.setdefault(key, []).append(shortened(name, _MAX_NAME))
    cautions = []
    for (severity, code, title), names in sorted(
        found.items(), key=lambda item: _SEVERITIES.index(item[0][0])
    ):
        every = len(names) == len(comparison.reports)
        whose = "all models" if every else cut(", ".join(names), 2 * _MAX_NAME)
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
        told = f"{shortened(first, _MAX_NAME)}: {reports[first].contradiction}"
        return [told, rest] if len(contradicted) < len(reports) else [told]
    if unfit:
        worst = max(unfit, key=lambda name: abs(reports[name].auc_direct - 0.5))
        first = (
            f"If {shares} were positive, the true AUC of {shortened(worst, _MAX_NAME)} would be "
            f"{reports[worst].auc_direct:.3f}, outside [0, 1]: the scores of {len(unfit)} of "
            f"{len(reports)} models do not fit alpha and beta."
        )
        second = "Which model is ahead in AUC does not depend on alpha and beta; by how much does."
        return [first, second]
    best = comparison.best("roc_auc") or base
    others = [name for name in reports if name != base]
    rival = base if best != base else max(others, key=lambda name: reports[name].auc)
    seen = _lead_in_auc(comparison, best, rival)
    sentence = (
        f"Of {len(reports)} models, {shortened(best, _MAX_NAME)} has the highest recovered AUC, "
        f"{number(reports[best].auc, 3)}: {seen.estimate:.3f} above {shortened(rival, _MAX_NAME)}"
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


def _lead_in_auc(comparison: ScoreComparison, best: str, rival: str) -> Interval:
    """The difference in AUC between the best model and its rival, one of them the baseline."""
    if rival == comparison.baseline:
        return comparison.differences["roc_auc"][best]
    # The same difference from the other side.
    seen = comparison.differences["roc_auc"][rival]
    return replace(seen, estimate=-seen.estimate, low=-seen.high, high=-seen.low)


def comparison_notes(comparison: ScoreComparison) -> list[str]:
    """Sentences on how to read the differences."""
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


def interval_note(comparison: ScoreComparison) -> str:
    """The methods of the intervals of differences."""
    found = comparison.differences.items()
    how = interval_methods((metric, each) for metric, own in found for each in own.values())
    return f"Intervals of differences: {how}." if how else ""


def comparison_facts(comparison: ScoreComparison) -> list[Table]:
    """Data, assumptions, settings and thresholds as names and values."""
    report = comparison.reports[comparison.baseline]
    known = {} if report.estimation is None else report.estimation.intervals
    shares = {
        name: f"{getattr(comparison.proportions, name):.4g} {ends(known.get(name))}".rstrip()
        for name in ("alpha", "beta")
    }
    return fact_tables(
        Data=sizes(report.counts),
        Assumptions=proportions_facts(report, shares, comparison.estimated_from),
        Settings={
            "Baseline": comparison.baseline,
            "Resamples": resamples(comparison.n_resamples, comparison.random_state),
            "Simultaneous intervals": "yes" if comparison.simultaneous else "no",
            "Area under precision-recall": report.pr.area,
        },
        Thresholds={
            name: f"{other.metrics.threshold:.6g}" for name, other in comparison.reports.items()
        },
    )


def findings_by_score(comparison: ScoreComparison) -> list[tuple[str, str, str, str, list[str]]]:
    """Code, severity, message, hint and scores of checks that found something, by severity."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for name, report in comparison.reports.items():
        for check in report.findings:
            key = (check.code, check.severity, check.message, check.hint or "")
            found.setdefault(key, []).append(name)
    ordered = sorted(found.items(), key=lambda item: (_SEVERITIES.index(item[0][1]), item[0][0]))
    out = []
    for (code, severity), group in groupby(ordered, key=lambda item: item[0][:2]):
        rows = [(*key, names) for key, names in group]
        if len(rows) > _MAX_MESSAGES:
            # They differ in numbers that each report has; read one by one they say one thing.
            named = {name for row in rows for name in row[-1]}
            names = [name for name in comparison.reports if name in named]
            _, _, message, hint, first = next(row for row in rows if names[0] in row[-1])
            others = len(names) - len(first)
            message = f"{message} (Figures of {first[0]}; {others} others have their own.)"
            rows = [(code, severity, message, hint, names)]
        out += rows
    return out
