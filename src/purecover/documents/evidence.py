"""The document of thresholds of evidence: the strongest evidence, tables and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from purecover.checks.catalog import warnings_of_data
from purecover.documents.formats import percent, share, with_minus
from purecover.documents.parts import Caution, Headline, Row, Section, Table, fact_tables
from purecover.documents.summary import alpha_line, cautions

if TYPE_CHECKING:
    from purecover.intervals.evidence import EvidenceThresholds
    from purecover.report.results import PUReport


def evidence_headline(found: EvidenceThresholds, report: PUReport | None = None) -> Headline:
    """Say which evidence is reached on either side, and what to mind.

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
            lead.append(with_minus(f"{said} confidence."))
    prior = (
        "Positive is what the labeled rows are labeled as, such as pathogenic; negative is the "
        f"opposite, such as benign. {share(found.prior)} are positive (prior), so that very strong "
        f"evidence has odds of {found.constant:,.0f} to 1."
    )
    more = [prior]
    told = []
    if report is not None:
        warned = {check.code for check in warnings_of_data(report.findings)}
        more.append(alpha_line(report))
        told = [each for each in cautions(report) if {*each.codes} & warned]
    if missing := [row["evidence"] for row in rows if row["bound"] == "none"]:
        text = f"Too few rows to say where evidence is {', '.join(missing)}."
        told.append(Caution("note", [], text))
    if found.varied == "scores":
        text = "The prior is taken as exact. If it is an estimate, the bounds are too close."
        told.append(Caution("warning", [], text))
    return Headline(lead or ["No score is sure to be evidence of any strength."], more, told)


def evidence_section(found: EvidenceThresholds) -> Section:
    """Return scores of each strength."""
    level, cells = f"{percent(found.confidence_level)} bound", found._cells()
    rows = [
        Row(name.capitalize(), {key: with_minus(text) for key, text in row.items()})
        for name, row in zip(found.strengths, cells, strict=True)
    ]
    for row, posterior in zip(rows, found.posterior.tolist(), strict=True):
        row.cells["posterior"] = share(posterior)

    columns = {"points": "Points", "bound": f"Score, {level}", "threshold": "Score, estimate"}
    columns |= {"odds": "Odds", "posterior": "Chance"}
    return Section(
        "Scores that are evidence",
        [Table("For positive", columns, rows[4:]), Table("For negative", columns, rows[3::-1])],
        f"Give a score the points of the strongest line it reaches by the {level}, and 0 if it "
        "reaches none. Points of independent pieces of evidence add up.",
        "Odds: how many times likelier the score is among positives than among negatives. "
        "Chance: of being positive, with this evidence alone. None: too few rows to say so, "
        "which does not mean that there is no such score.",
    )


def evidence_facts(found: EvidenceThresholds) -> list[Table]:
    """Data and settings as names and values."""
    sizes = {"Labeled": found.n_labeled, "Unlabeled": found.n_unlabeled}
    return fact_tables(
        Data={name: f"{size:,.10g}" for name, size in sizes.items()},
        Settings={
            "Prior": f"{found.prior:.4g}",
            "Confidence of each bound, one-sided": percent(found.confidence_level),
            "Bounds vary": found.varied,
        },
    )
