"""The documents of thresholds: one that was chosen, and those of evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from purecover.checks.catalog import warnings_of_data
from purecover.documents.details import shown_metrics
from purecover.documents.formats import DASH, capitalized, number, percent, share, with_minus
from purecover.documents.parts import (
    Caution,
    Document,
    Headline,
    Note,
    Part,
    Row,
    Section,
    Table,
    facts,
    notes,
)
from purecover.documents.summary import alpha_line, cautions, metric_columns, metric_row
from purecover.documents.text import text_of

if TYPE_CHECKING:
    from purecover.intervals.evidence import EvidenceThresholds
    from purecover.recovery.thresholds import ThresholdChoice
    from purecover.report.results import PUReport


def threshold_text(choice: ThresholdChoice, report: PUReport) -> str:
    """Return the chosen threshold, alpha, all metrics there and warnings.

    The report is of the same data at that threshold and by the same criterion.
    """
    columns, drawn, unknown = metric_columns(report), report.bootstrap, report.hardly_known
    corrected = drawn is not None and drawn.optimism is not None
    told = str(choice).splitlines()[0].removeprefix("ThresholdChoice: ")
    if choice.criterion in unknown:
        told = told.replace(f" ({choice.metrics[choice.criterion]:.4f})", "")

    rows = [metric_row(report, name, 4) for name in shown_metrics(choice.metrics)]
    remarks = []
    if corrected:
        columns = {"observed": "Observed", "here": "Here"} | columns | {"recovered": "Expected"}
        for row in rows:
            row.cells["here"] = "-" if row.name in unknown else number(choice.metrics[row.name])
        remarks.append(
            "here: corrected, on these data; expected: on new data, less what choosing the "
            "threshold on these data adds, as are the numbers above and all intervals."
        )
    if set(choice.metrics).intersection(unknown):
        remarks.append(DASH)
    sections = [
        notes(told),
        notes(capitalized(f"{report.confusion}."), alpha_line(report)),
        Section([Table("", columns, rows)]),
        *map(notes, remarks),
        Section(cautions(report)),
        notes(
            *(
                f"{check.code} note: {check.message} {capitalized(check.hint)}"
                for check in report.findings
                if check.severity == "note" and check.topic == "threshold"
            )
        ),
    ]
    return text_of(sections)


def evidence_text(found: EvidenceThresholds, report: PUReport) -> str:
    """Return thresholds of evidence, where alpha comes from, and warnings."""
    said = evidence_headline(found, report)
    more = Section([*map(Note, said.more[1:]), *said.cautions])
    return "\n".join([str(found), text_of([more])])


def evidence_document(
    found: EvidenceThresholds, report: PUReport | None, drawn: Sequence[Part]
) -> Document:
    """Return the strongest evidence, scores of each strength with their figure, and settings."""
    said = evidence_headline(found, report)
    sizes = {"Labeled": found.n_labeled, "Unlabeled": found.n_unlabeled}
    settings = {
        "Prior": f"{found.prior:.4g}",
        "Confidence of each bound, one-sided": percent(found.confidence_level),
        "Bounds vary": found.varied,
    }
    data = {name: f"{size:,.10g}" for name, size in sizes.items()}
    return Document(
        "Evidence strength of a score",
        said,
        [],
        [_scores(found, drawn), facts(Data=data, Settings=settings)],
    )


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


def _scores(found: EvidenceThresholds, drawn: Sequence[Part]) -> Section:
    level, cells = f"{percent(found.confidence_level)} bound", found._cells()
    rows = [
        Row(name.capitalize(), {key: with_minus(text) for key, text in row.items()})
        for name, row in zip(found.strengths, cells, strict=True)
    ]
    for row, posterior in zip(rows, found.posterior.tolist(), strict=True):
        row.cells["posterior"] = share(posterior)

    columns = {"points": "Points", "bound": f"Score, {level}", "threshold": "Score, estimate"}
    columns |= {"odds": "Odds", "posterior": "Chance"}
    how = (
        f"Give a score the points of the strongest line it reaches by the {level}, and 0 if it "
        "reaches none. Points of independent pieces of evidence add up."
    )
    note = (
        "Odds: how many times likelier the score is among positives than among negatives. "
        "Chance: of being positive, with this evidence alone. None: too few rows to say so, "
        "which does not mean that there is no such score."
    )
    tables = [
        Table(title, columns, own, head="Evidence", strong=("bound",))
        for title, own in (("For positive", rows[4:]), ("For negative", rows[3::-1]))
    ]
    parts = [Note(how), *tables, *drawn, Note(note, "fine")]
    return Section(parts, "scores", "Scores that are evidence")
