"""The document of a comparison: which model is ahead, differences, checks and settings."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from purecover.documents import formats
from purecover.documents import summary as answers
from purecover.documents.details import (
    assumptions_section,
    finding_table,
    interval_methods,
    proportions_facts,
    resamples,
    shown_metrics,
)
from purecover.documents.parts import (
    Chart,
    Document,
    Headline,
    Live,
    Note,
    Part,
    Row,
    Section,
    Table,
    facts,
    notes,
)
from purecover.intervals.interval import TOO_WIDE
from purecover.recovery.metrics import requested_metrics, title_of
from purecover.report import derived

if TYPE_CHECKING:
    from purecover.report.compare import ScoreComparison

_MAIN = ("roc_auc", "auc_pr", "recall", "specificity", "precision", "f1")
_MAX_NAME = 60
"""Characters of a name in a sentence."""


def comparison_document(comparison: ScoreComparison) -> Document:
    """Return which model is ahead, a table for each metric, curves, checks and settings."""
    first = comparison.reports[comparison.baseline]
    main = main_metrics(comparison)
    rest = [name for name in shown_metrics(first.metrics) if name not in main]
    tables = [metric_table(comparison, metric) for metric in main]
    remarks = comparison_notes(comparison)
    observed = "as if every unlabeled row were negative. Corrected: against the true classes."
    sections = [
        Section(
            [
                Note(" ".join(remarks[1:]), "fine"),  # the title names the baseline
                Live(
                    "differences",
                    {"titles": {m: t.title for m, t in zip(main, tables, strict=True)}},
                ),
            ],
            "differences",
            f"Differences from {comparison.baseline}",
        ),
        Section(
            [Note(f"Observed: {observed}", "fine"), *tables, *_interval_notes(comparison)],
            "models",
            "Models",
        ),
        Section(
            [metric_table(comparison, metric) for metric in rest],
            "more",
            f"{len(rest)} more metrics",
            fold="closed",
        ),
        Section([Chart("roc"), Chart("pr")], "curves", "Corrected curves"),
        Section(_findings(comparison), "checks", "Checks"),
        _assumptions(comparison),
        _facts(comparison),
    ]
    said = comparison_headline(comparison)
    summary = [
        notes(f"{answers.size_line(first.counts)}, {len(comparison.reports)} scores of each"),
        notes(*said.lead, *said.more),
        Section(said.cautions),
        Section(tables),
        notes(" ".join(remarks)),
    ]
    return Document(
        "Comparison of models", said, summary, [each for each in sections if each.parts]
    )


def main_metrics(comparison: ScoreComparison) -> list[str]:
    """The metrics with a table: the main ones, and those whose parameters the caller has set."""
    options = comparison.reports[comparison.baseline].metrics.options
    return [*_MAIN, *requested_metrics(options)]


def metric_table(comparison: ScoreComparison, metric: str) -> Table:
    """All models in one metric, with differences from the baseline."""
    rows, best = [], comparison.best(metric)
    for name, report in comparison.reports.items():
        gap = comparison.differences[metric].get(name)
        better = comparison.better.get(metric, {}).get(name, math.nan)
        cells = {"interval": "", **answers.metric_row(report, metric).cells}
        cells |= {"difference": "", "between": ""}
        if gap is not None:
            wide = formats.bounded(gap) and gap.width > TOO_WIDE
            wide |= metric in report.hardly_known
            cells["difference"] = "-" if wide else formats.signed(gap.estimate)
            if formats.bounded(gap):
                cells["between"] = f"{formats.signed(gap.low)} to {formats.signed(gap.high)}"
            elif gap.method != "none":
                cells["between"] = formats.UNDEFINED
        if comparison.n_resamples:
            cells["better"] = f"{100 * better:.1f} %" if math.isfinite(better) else ""
        marks = [
            *(["best"] if name == best else []),
            *(["baseline"] if name == comparison.baseline else []),
        ]
        rows.append(Row(name, cells, kind="strong" if name == best else "", marks=marks))
    coverage = f"{formats.percent(comparison.confidence_level)} interval"
    columns = {"observed": "Observed", "recovered": "Corrected", "interval": coverage}
    columns |= {"difference": "Difference", "between": coverage}
    if comparison.n_resamples:
        columns["better"] = "Better in"
    if any(report.truth is not None for report in comparison.reports.values()):
        columns["true"] = "True"
    options = comparison.reports[comparison.baseline].metrics.options
    title = title_of(metric, options)
    return Table(title, columns, rows, head="Model")


def comparison_headline(comparison: ScoreComparison) -> Headline:
    """Say which model is ahead, by how much, whether chance can explain it, and what to mind."""
    first, *more = _ahead(comparison)
    cautions = []
    for check, names in derived.findings_by_score(comparison):
        if check.severity != "note":
            cautions.append(answers.caution(check, f"; {_whose(comparison, names)}"))
    return Headline([first], more, cautions)


def _whose(comparison: ScoreComparison, names: list[str]) -> str:
    """Name the models that a check found something of."""
    if len(names) == len(comparison.reports):
        return "all models"
    return formats.cut(
        ", ".join(formats.shortened(name, _MAX_NAME) for name in names), 2 * _MAX_NAME
    )


def _ahead(comparison: ScoreComparison) -> list[str]:
    reports, base = comparison.reports, comparison.baseline
    contradicted = [name for name, report in reports.items() if report.contradicted]
    if contradicted:
        name = contradicted[0]
        told = f"{formats.shortened(name, _MAX_NAME)}: {reports[name].contradiction}"
        if len(contradicted) == len(reports):
            return [told]
        return [told, "The other models use the same alpha and beta."]
    best, rival, seen = derived.leader(comparison)
    ahead, behind = (formats.shortened(name, _MAX_NAME) for name in (best, rival))
    hidden = "roc_auc" in reports[best].hardly_known
    value = "" if hidden else f", {formats.number(reports[best].auc, 3)}"
    sentence = (
        f"Of {len(reports)} models, {ahead} has the highest corrected AUC"
        f"{value}: {seen.estimate:.3f} above {behind}"
    )
    if formats.bounded(seen):
        coverage = formats.percent(seen.confidence_level)
        sentence += f" ({coverage} interval {seen.low:.3f} to {seen.high:.3f})"
        second = "The interval includes 0: the difference may be chance."
        if seen.low > 0:
            second = "The interval excludes 0."
            if len(reports) > 2:
                second += " The best of several is best partly by luck."
    else:
        second = "There is too little data, or there are no replicates, for an interval of it."
    source = comparison.estimated_from
    of = "" if source is None else f" Estimated from {source}."
    return [f"{sentence}.", second, answers.alpha_line(reports[base]) + of, answers.SCOPE]


def comparison_notes(comparison: ScoreComparison) -> list[str]:
    """Sentences on how to read the differences."""
    others = len(comparison.reports) - 1
    notes = [f"Differences are from {comparison.baseline}, on the same rows."]
    if others > 1:
        notes.append(f"Each interval covers by itself: of {others} differences one may be missed.")
    if comparison.n_resamples:
        notes.append(
            f"Better: the share of {comparison.n_resamples:,} replicates in which the score is "
            "better than the baseline; it is no p-value."
        )
    if not comparison.reports[comparison.baseline].threshold_chosen:
        notes.append("Threshold metrics are taken where each score has its highest Youden index.")
    right = (each.hardly_known for each in comparison.reports.values() if not each.contradicted)
    return [*notes, formats.DASH] if set().union(*right) & {*_MAIN} else notes


def _interval_notes(comparison: ScoreComparison) -> list[Note]:
    """Return the methods of the intervals of differences, if there are any."""
    found = comparison.differences.items()
    how = interval_methods((metric, each) for metric, own in found for each in own.values())
    return [Note(f"Intervals of differences: {how}.", "fine")] if how else []


def _findings(comparison: ScoreComparison) -> list[Part]:
    found = derived.findings_by_score(comparison)
    if not found:
        return [Note(f"{answers.NO_FINDING} {answers.RANDOM_LABELS_UNSEEN}.")]
    return [finding_table((check, _whose(comparison, names)) for check, names in found)]


def _assumptions(comparison: ScoreComparison) -> Section:
    """Return the assumptions; of several models, AUCs in them are those of the baseline."""
    section = assumptions_section(comparison.reports[comparison.baseline])
    whose = Note(f"AUCs in this table are those of {comparison.baseline}.", "fine")
    return replace(section, parts=[whose, *section.parts], fold="", about="")


def _facts(comparison: ScoreComparison) -> Section:
    """Return data, proportions, settings and thresholds as names and values."""
    report = comparison.reports[comparison.baseline]
    found = report.estimation
    known = {} if found is None else found.intervals
    used = {"alpha": comparison.proportions.alpha, "beta": comparison.proportions.beta}
    shares = {k: f"{v:.4g} {formats.ends(known.get(k))}".rstrip() for k, v in used.items()}
    section = facts(
        Data=answers.sizes(report.counts),
        Proportions=proportions_facts(report, shares, comparison.estimated_from),
        Settings={
            "Baseline": comparison.baseline,
            "Resamples": resamples(comparison.n_resamples, comparison.random_state),
            "Area under precision-recall": report.pr.area,
        },
        Thresholds={
            name: f"{other.metrics.threshold:.6g}" for name, other in comparison.reports.items()
        },
    )
    remarks = [] if found is None else [Note(note, "item") for note in found.notes]
    return replace(section, parts=[*section.parts, *remarks])
