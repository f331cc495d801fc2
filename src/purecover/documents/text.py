"""Documents as plain text: lines that are wrapped, and tables with aligned columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from purecover._shell import Shell
from purecover.documents.details import shown_metrics
from purecover.documents.evidence import evidence_headline
from purecover.documents.formats import DASH, capitalized, cut, number
from purecover.documents.parts import Block, Caution, Row, Section, Table
from purecover.documents.summary import alpha_line, cautions, metric_columns, metric_row, summary

if TYPE_CHECKING:
    from purecover.intervals.evidence import EvidenceThresholds
    from purecover.recovery.thresholds import ThresholdChoice
    from purecover.report.results import PUReport

_WIDTH = 100
_LONGEST_TITLE, _LONGEST_WORDS = 46, 60


def text_of(blocks: Iterable[Block]) -> str:
    """Return blocks as text, with an empty line between them."""
    return "\n\n".join("\n".join(_block_lines(block)) for block in blocks if block)


def shell_text(
    found: Any, file: object, shell: Shell | None = None, *, details: bool = False
) -> str:
    """Return what a command prints of a report or a comparison of the scores in a file."""
    reports: Mapping[str, PUReport] = getattr(found, "reports", {})
    files = [file] if isinstance(file, str) else list(file)  # type: ignore[call-overload]
    names = ", ".join(Path(each).name for each in files)
    shell = shell or Shell(files[0] if len(files) == 1 else None)
    parts = [str(found) if reports else text_of(summary(found, names, shell))]
    for name, one in (reports or {"": found}).items() if details else ():
        parts.append(f"{name}\n\n{one.details()}".lstrip())
    return "\n\n".join(parts)


def details_text(sections: Iterable[Section]) -> str:
    """Return sections as text, each with its title, sentence, tables and notes."""
    parts: list[str] = []
    for section in sections:
        lines = [section.title, "-" * len(section.title)]
        lines += wrapped(section.sentence) if section.sentence else []
        for _, tables in groupby(section.tables, lambda table: table.columns):
            own = list(tables)
            lines += _grid(own) if own[0].numbers else _word_lines(own)
        for note in filter(None, (section.note, *section.notes)):
            lines += wrapped(note)
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def wrapped(text: str, indent: str = "") -> list[str]:
    """Return the lines of one paragraph; all but the first are indented."""
    kept = text.replace(" %", "\u00a0%")  # a number and its sign stay together
    lines = textwrap.wrap(kept, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ")
    return [line.replace("\u00a0", " ") for line in lines]


def _block_lines(block: Block) -> list[str]:
    if isinstance(block[0], Table):
        return _grid(block)  # type: ignore[arg-type]
    lines = []
    for item in block:
        if isinstance(item, str) and item.startswith("  "):  # a command
            lines.append(item)
            continue
        lines += wrapped(item.text if isinstance(item, Caution) else str(item))
        if isinstance(item, Caution) and item.hint:
            lines += wrapped(item.hint, "  ")
    return lines


def _grid(tables: Sequence[Table]) -> list[str]:
    """Tables with the same columns below one another; a title is the head of its rows."""
    first = tables[0]
    heads = ["", *first.columns.values()]
    if first.numbers:  # but for abbreviations
        heads = [" ".join(w if w.isupper() else w.lower() for w in h.split()) for h in heads]
    lines: list[list[str]] = [] if not any(heads[1:]) else [heads]
    for table in tables:
        if table.title and lines == [heads] and not first.numbers:
            heads[0] = table.title
        elif table.title:
            lines.append([table.title])
        indent = "  " if table.title else ""
        for row in table.rows:
            known = row.cells.keys() & table.columns.keys()
            cells = [row.cells.get(key, "") for key in table.columns]
            cells = cells if known else list(row.cells.values())
            title = cut(" ".join(row.title.split()), _LONGEST_TITLE)
            if first.numbers:  # others have commands, which stay as they are
                typed = (cut(cell, _LONGEST_WORDS).replace("–", "-") for cell in cells)
                cells = [cell.replace("−", "-") for cell in typed]
            lines.append([f"{indent}{title}", *cells])
    full = [line for line in lines if len(line) > 1]
    columns = list(zip(*full, strict=True))
    widths = [max(map(len, column)) for column in columns]
    left = [any(" " in cell for cell in column[1:]) for column in columns]
    return [
        "   ".join(
            f"{cell:<{width}}" if aside or at == 0 else f"{cell:>{width}}"
            for at, (cell, width, aside) in enumerate(zip(line, widths, left, strict=False))
        ).rstrip()
        if len(line) > 1
        else line[0]
        for line in lines
    ]


def _word_lines(tables: Sequence[Table]) -> list[str]:
    """Rows whose cells are sentences, a paragraph each."""
    lines = []
    for row in (row for table in tables for row in table.rows):
        lines += wrapped(f"{row.title}: {' '.join(filter(None, row.cells.values()))}", "  ")
    return lines


def render_threshold_text(choice: ThresholdChoice, report: PUReport) -> str:
    """Return the chosen threshold, alpha, all metrics there and warnings.

    The report is of the same data at that threshold and by the same criterion.
    """
    columns, corrected = metric_columns(report), report.bootstrap is not None
    corrected = corrected and report.bootstrap.optimism is not None  # type: ignore[union-attr]
    rows = [metric_row(report, name, 4) for name in shown_metrics(choice.metrics)]
    told, hidden = (
        str(choice).splitlines()[0].removeprefix("ThresholdChoice: "),
        report.hardly_known,
    )
    if choice.criterion in hidden:
        told = told.replace(f" ({choice.metrics[choice.criterion]:.4f})", "")
    blocks: list[Block] = [
        [told],
        [capitalized(f"{report.confusion}."), alpha_line(report)],
    ]
    if corrected:
        columns = {"observed": "Observed", "here": "Here"} | columns | {"recovered": "Expected"}
        for row in rows:
            row.cells["here"] = "-" if row.name in hidden else number(choice.metrics[row.name])
    blocks.append([Table("", columns, [Row(r.title, r.cells) for r in rows])])
    if corrected:
        note = "here: corrected, on these data; expected: on new data, less what choosing the "
        note += "threshold on these data adds, as are the numbers above and all intervals."
        blocks.append([note])
    notes = [
        f"{check.code} note: {check.message} {capitalized(check.hint)}"
        for check in report.findings
        if check.severity == "note" and check.topic == "threshold"
    ]
    if set(choice.metrics).intersection(hidden):
        blocks.append([DASH])
    return text_of([*blocks, cautions(report), notes])


def render_evidence_text(found: EvidenceThresholds, report: PUReport) -> str:
    """Return thresholds of evidence, where alpha comes from, and warnings."""
    said = evidence_headline(found, report)
    more: list[str | Caution] = [*said.more[1:], *said.cautions]
    return "\n".join([str(found), *_block_lines(more)])
