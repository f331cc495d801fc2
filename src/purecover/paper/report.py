"""All tables and figures of the study as one page, as Markdown, or as tidy CSV."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from purecover._codec import replacing
from purecover._validation import bad_type, bad_value, public, require
from purecover._view import versions
from purecover.exceptions import InvalidInputError
from purecover.html.page import fill_template
from purecover.paper import figures as draw
from purecover.paper.design import Record
from purecover.paper.run import DEFAULT, RELEASED
from purecover.paper.standings import (
    clustered_test,
    counting_sheet,
    coverage,
    coverage_sheets,
    estimators_sheet,
    promises,
    promises_sheet,
    shortfalls,
    standings,
    standings_sheet,
)
from purecover.paper.store import Store, StoredCell
from purecover.paper.tables import (
    JUDGES,
    OURS,
    PAPERS,
    PRINTED_ROWS,
    SUMMARY,
    TITLES,
    Column,
    Combination,
    KeptScores,
    Methods,
    Runs,
    Sheet,
    ThresholdErrors,
    Truth,
    collapses,
    escaped,
    mean_errors,
    mean_of_rows,
    paper_combination,
    paper_table,
    printed_mean,
    printed_table,
    sheet_csv,
    sheet_markdown,
    simulated_scores,
    summary_rows,
    threshold_errors,
    thresholds_sheet,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# -- What the study found, in sentences made from its figures ------------------------------------


def findings(runs: Runs) -> list[str]:
    """The main figures in sentences; those that cannot be told are left out."""
    sets = len(runs.datasets)
    n_rows = sum(row in printed_table("auc") for row in runs.rows)
    first = (
        f"{runs.n_runs:,} run{'s' if runs.n_runs > 1 else ''} on {sets} "
        f"data set{'s' if sets > 1 else ''}, {n_rows} of the {PRINTED_ROWS} rows "
        "of the paper's tables."
    )
    found = [first]
    kept = [each for each in promises(runs) if each.outcome in {"met", "not met"}]
    short = [each.title for each in kept if each.outcome == "not met"]
    sentence = f"{len(kept) - len(short)} of {len(kept)} criteria are met"
    found.append(f"{sentence}; not met: {'; '.join(short)}." if short else f"{sentence}.")
    found += _known(runs) + _estimated(runs)
    for metric, title in TITLES.items():
        best = standings(runs, metric, "same", known=False)
        if best:
            won = best[0]
            repair = won.what.repair
            how = f"repair {repair}" if repair else "the direct formula"
            found.append(
                f"Of {len(best)} combinations of estimator and repair, {won.what.estimator} with "
                f"{how} has the smallest mean error of "
                f"{title} judged by the same scores: {won.error:.4f}"
                + (f" ({won.low:.4f} to {won.high:.4f})." if sets > 1 else ".")
            )
    return found


def _known(runs: Runs) -> list[str]:
    direct, ours, papers = (
        mean_errors(runs, column, "auc", methods, "traditional")
        for column, methods in (("dr", OURS), ("ir", OURS), ("ir", PAPERS))
    )
    if not (direct and ours and papers):
        return []
    n_bad = sum(share > 0 for share in collapses(runs, "true").values())
    test = clustered_test({row: direct[row] - papers[row] for row in direct if row in papers})
    by_method = (
        "With known alpha and beta and the paper's truth, the mean error of AUC is "
        f"{mean_of_rows(direct):.4f} direct (paper {printed_mean('dr', 'auc'):.4f}), "
        f"{mean_of_rows(ours):.4f} indirect with the default repair and "
        f"{mean_of_rows(papers):.4f} with Algorithm 1 (paper {printed_mean('ir', 'auc'):.4f}), "
        + (f"which collapses in some run of {n_bad}" if n_bad else "which collapses in none")
        + f" of {len(runs.rows)} rows."
    )
    by_dataset = (
        f"There the error of the direct formula minus that of Algorithm 1 is {test.mean:+.4f} on "
        "average"
        + (
            f" (95 % interval {test.low:+.4f} to {test.high:+.4f}, one-sided "
            f"P = {test.p_value:.2g}, both by data set)."
            if test.n_clusters > 1
            else ", of one data set."
        )
    )
    return [by_method, by_dataset]


def _estimated(runs: Runs) -> list[str]:
    found = []
    errors = {name: runs.proportion_errors(name)["delta"] for name in (DEFAULT, RELEASED)}
    sizes = {name: mean_of_rows(runs.means(np.abs(each))) for name, each in errors.items()}
    bias = mean_of_rows(runs.means(errors[DEFAULT]))
    if np.isfinite([*sizes.values()]).all():
        found.append(
            f"The mean absolute error of beta − alpha is {sizes[DEFAULT]:.3f} by {DEFAULT} (mean "
            f"signed error {bias:+.3f}) and {sizes[RELEASED]:.3f} by {RELEASED} "
            f"(paper {printed_mean('e', 'auc'):.3f})."
        )
    for metric, title in TITLES.items():
        held = coverage(runs, paper_combination("ie", metric, OURS))
        if held:
            found.append(
                f"95 % intervals of {title} hold the truth of the same scores in "
                f"{100 * held[''].covered:.1f} % of {held[''].n_runs:,} runs, at a mean width of "
                f"{held[''].width:.3f}."
            )
    return found


TITLE = "The paper's evaluation, beside the printed figures"
_TRUTHS: tuple[Truth, ...] = ("same", "traditional")
_TABLES: tuple[tuple[Methods, Truth], ...] = (
    (PAPERS, "traditional"),
    (OURS, "traditional"),
    (OURS, "same"),
)
_BOXES: tuple[tuple[Methods, Truth], ...] = ((PAPERS, "traditional"), (OURS, "same"))


@dataclass(frozen=True)
class Section:
    """Tables under one heading."""

    name: str
    title: str
    sheets: tuple[Sheet, ...]


@dataclass(frozen=True)
class Picture:
    """A figure as an address that holds it whole."""

    section: str
    title: str
    caption: str
    source: str


@dataclass(frozen=True, eq=False)
class PaperReport:
    """What the study says.

    Attributes
    ----------
    runs : Runs
        What was measured.
    findings : tuple of str
        The main figures, in sentences.
    missing : tuple of str
        What a whole study would have in addition.
    sections : tuple of Section
        All tables.
    thresholds : tuple of ThresholdErrors
        Algorithm 1 by the number of thresholds.
    provenance : dict of str to str
        How it was made.
    """

    runs: Runs
    findings: tuple[str, ...]
    missing: tuple[str, ...]
    sections: tuple[Section, ...]
    thresholds: tuple[ThresholdErrors, ...]
    provenance: Mapping[str, str]


def paper_report(
    records: Iterable[Record],
    *,
    provenance: Mapping[str, str],
    kept_scores: Iterable[KeptScores] = (),
) -> PaperReport:
    """All tables of the study.

    Parameters
    ----------
    records : iterable of Record
        What was measured; of a part of the study, if only that was run.
    provenance : dict of str to str
        How it was made, by name: command, seed, time. Versions are added.
    kept_scores : iterable of KeptScores, optional
        Scores to try numbers of thresholds on, beside simulated ones.

    Returns
    -------
    PaperReport
        Tables and findings.

    Examples
    --------
    >>> from purecover.paper.report import paper_report
    >>> from purecover.paper.design import Record
    >>> report = paper_report(
    ...     [
    ...         Record("gas", 1.0, 0, "auc", "traditional", "", "", 0.99, None, None),
    ...         Record("gas", 1.0, 0, "auc", "direct", "true", "", 0.97, None, None),
    ...     ],
    ...     provenance={"Seed": "0"},
    ... )
    >>> report.missing[0]
    '1 of 1,800 runs.'
    """
    runs = Runs(records)
    thresholds = tuple(threshold_errors([*simulated_scores(), *kept_scores]))
    tables = [
        paper_table(runs, metric, methods, truth)
        for metric in TITLES
        for methods, truth in _TABLES
        if Combination(metric, truth) in runs
    ]
    winners = [
        standings_sheet(runs, metric, truth, known=known)
        for metric in TITLES
        for known in (True, False)
        for truth in _TRUTHS
    ]
    sections = (
        Section("promises-section", "Criteria", (promises_sheet(runs),)),
        Section("tables", "Tables 1 and 2", tuple(tables)),
        Section("errors", "Figure 2", ()),
        Section("winners", "Which estimator and repair", tuple(s for s in winners if s.rows)),
        Section("proportions", "Alpha and beta", (estimators_sheet(runs),)),
        Section("intervals", "Intervals", tuple(coverage_sheets(runs))),
        Section("tests", "Direct or indirect", (counting_sheet(runs),)),
        Section("thresholds-section", "Number of thresholds", (thresholds_sheet(thresholds),)),
        Section("theory", "Figures 1, 3 and 4", ()),
    )
    return PaperReport(
        runs=runs,
        findings=tuple(findings(runs)),
        missing=tuple(shortfalls(runs)),
        sections=sections,
        thresholds=thresholds,
        provenance={**provenance, "Report made with": versions()},
    )


@public
def write_report(
    records: Iterable[Record],
    *,
    provenance: Mapping[str, str],
    html: Path | None = None,
    markdown: Path | None = None,
    csv: Path | None = None,
    kept_scores: Iterable[KeptScores] = (),
) -> PaperReport:
    """Write the study as a page, as Markdown, as CSV, or as all of them.

    Parameters
    ----------
    records : iterable of Record
        What was measured; a part of the study is enough, and the report says what is missing.
    provenance : dict of str to str
        How it was made, by name.
    html : Path, optional
        Where the page goes: all tables and figures in one file that loads nothing.
    markdown : Path, optional
        Where the tables go.
    csv : Path, optional
        Where means and spreads go, a tidy row per row of the tables and combination.
    kept_scores : iterable of KeptScores, optional
        Scores to try numbers of thresholds on.

    Returns
    -------
    PaperReport
        What was written.
    """
    targets = {"html": html, "markdown": markdown, "csv": csv}
    for parameter, path in targets.items():
        if path is None:
            continue
        if not isinstance(path, Path):
            raise bad_type(parameter, "a Path or None", path)
        if not path.parent.is_dir():
            raise bad_value(
                parameter, "a file in a folder that exists", str(path),
                f"make the folder {path.parent} first",
            )  # fmt: skip
    if all(path is None for path in targets.values()):
        raise InvalidInputError(
            "{function} needs somewhere to write: pass html, markdown or csv.\n"
            "Hint: on the command line --html FILE, --markdown FILE or --csv FILE"
        )
    if html is not None:  # before minutes are spent on tables
        require("matplotlib.pyplot", extra="plot")
    report = paper_report(records, provenance=provenance, kept_scores=kept_scores)
    for path, text in (
        (html, to_html),
        (markdown, to_markdown),
        (csv, lambda each: sheet_csv(SUMMARY, summary_rows(each.runs))),
    ):
        if path is not None:
            with replacing(path) as file:
                file.write(text(report).encode())
    return report


def to_markdown(report: PaperReport) -> str:
    """The findings and all tables as Markdown."""
    parts = [f"# {TITLE}", "\n".join(f"- {escaped(finding)}" for finding in report.findings)]
    if report.missing:
        parts.append(f"**Not complete.** {escaped(' '.join(report.missing))}")
    for section in report.sections:
        if section.sheets:
            parts += [
                f"## {escaped(section.title)}",
                *(sheet_markdown(each) for each in section.sheets),
            ]
    made = Sheet(
        name="provenance",
        title="Provenance",
        columns=(Column("name", "", style="text"), Column("value", "", style="text")),
        rows=tuple(report.provenance.items()),
    )
    parts += ["## How this was made", sheet_markdown(made)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def to_html(report: PaperReport) -> str:
    """All of the report as one page that loads nothing."""
    return fill_template(
        "paper.html.j2",
        ("style.css", "paper.css"),
        (),
        title=TITLE,
        report=report,
        figures=_pictures(report),
        classes=_classes,
    )


def _classes(sheet: Sheet, index: int) -> str:
    column = sheet.columns[index]
    first = bool(column.group) and sheet.columns[index - 1].group != column.group
    names = {"text": column.is_text, "edge": first, "printed": column.key.endswith("_paper")}
    return " ".join(name for name, holds in names.items() if holds)


# -- figures ------------------------------------------------------------------------------


def _pictures(report: PaperReport) -> list[Picture]:
    runs = report.runs
    box = (
        "Estimated minus true area, pooled over data sets. Boxes hold the middle half of the runs; "
        "whiskers reach the last run within one and a half times their length. {}, judged by {}."
    )
    found = [
        _picture(
            "errors",
            f"Figure 2, {methods.title}",
            box.format(f"Estimator {methods.estimator}", JUDGES[truth]),
            draw.figure2(runs, methods, truth),
        )
        for methods, truth in _BOXES
        if any(Combination(metric, truth) in runs for metric in TITLES)
    ]
    best = {metric: standings(runs, metric, "same", known=False) for metric in TITLES}
    if any(best.values()):
        found.append(
            _picture(
                "winners", "The best combinations",
                "Mean absolute error by the truth of the same scores, with 95 % intervals from "
                "resampling data sets; the defaults in color.",
                draw.standings_figure({m: each for m, each in best.items() if each}),
            )
        )  # fmt: skip
    found += [
        _picture(
            "thresholds-section", "Algorithm 1 by the number of thresholds",
            "Mean absolute error, alpha and beta known; the shade holds the middle 80 % of the "
            "runs.",
            draw.thresholds_figure(report.thresholds),
        ),
        _picture(
            "theory", "Figure 1, the worked example",
            "Three labeled and five unlabeled examples, one of them positive. Equation 4 gives "
            "0.875 and not the true 0.9375: with so few examples the labeled are no fair sample "
            "of the positives.",
            draw.figure1(),
        ),
        _picture(
            "theory", "Figure 3, how wrong proportions mislead",
            "Absolute error of the recovered AUC by assumed proportions; the true ones dotted, "
            "gray where the recovered AUC leaves [0, 1].",
            draw.figure3(),
        ),
        _picture(
            "theory", "Figure 4, the lines of interest",
            "A map of Figure 3 beside the lines on which the recovered AUC takes a telling value. "
            "The paper's caption gives an observed AUC of 0.80 here; equation 4 gives 0.70.",
            draw.figure4(),
        ),
    ]  # fmt: skip
    return found


def _picture(section: str, title: str, caption: str, figure: Figure) -> Picture:
    # As an image and not as part of the page: it brings style of its own, which the page's
    # policy forbids, and names that would meet those of other figures.
    data = base64.b64encode(draw.to_svg(figure).encode()).decode()
    return Picture(section, title, caption, f"data:image/svg+xml;base64,{data}")


# -- Where results come from, in words: settings, versions, time and command ---------------------


_SETTINGS = {
    "seed": "seed",
    "n_networks": "networks",
    "preset": "preset",
    "n_resamples": "replicates",
    "device": "device",
    "protocol": "protocol",
}
"""Names in a configuration, and in words; others are shown as they are."""
_NO_PACKAGES = ("command", "system", "card", "data")
"""What is noted of a cell beside the versions of packages."""


class Study(NamedTuple):
    """Cells of one store that share their settings, and so belong together."""

    settings: str
    cells: tuple[StoredCell, ...]

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in _settings(self.settings).items())


def studies(store: Store) -> list[Study]:
    """The studies in a store, the largest first."""
    found: dict[str, list[StoredCell]] = {}
    for cell in store.cells():
        found.setdefault(cell.settings, []).append(cell)
    made = [Study(settings, tuple(cells)) for settings, cells in found.items()]
    return sorted(made, key=lambda study: (-len(study.cells), study.settings))


def provenance(study: Study) -> dict[str, str]:
    """How the results of a study were made, as pairs to print.

    Examples
    --------
    >>> from purecover.paper.report import Study, provenance
    >>> from purecover.paper.store import StoredCell
    >>> cell = StoredCell(
    ...     "6f0c", "bank", 1.0, 0, '{"seed":7}', 90.0, {"numpy": "2.4.0"}, "2026-01-02T03:04:05"
    ... )
    >>> provenance(Study(cell.settings, (cell, cell)))
    {'Runs': '2', 'Seed': '7', 'Computing time': '3 min', 'Finished': '2026-01-02',
     'Runs made with': 'numpy 2.4.0'}
    """
    found = {"Runs": f"{len(study.cells):,}"}
    found |= {name.capitalize(): value for name, value in _settings(study.settings).items()}
    found["Computing time"] = in_time(sum(cell.seconds for cell in study.cells))
    days = sorted(cell.finished[:10] for cell in study.cells)
    found["Finished"] = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    for name in _NO_PACKAGES:
        values = [cell.about[name] for cell in study.cells if name in cell.about]
        if values:
            found[name.capitalize()] = _values(values)
    versions = [_versions(cell) for cell in study.cells]
    if any(versions):
        found["Runs made with"] = _values(versions)
    return found


def _versions(cell: StoredCell) -> str:
    packages = [name for name in cell.about if name not in _NO_PACKAGES]
    return ", ".join(f"{name} {cell.about[name]}" for name in packages)


def in_time(seconds: float) -> str:
    """A span of time as one reads it.

    Examples
    --------
    >>> from purecover.paper.report import in_time
    >>> in_time(8), in_time(185), in_time(9000)
    ('8 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _settings(text: str) -> dict[str, str]:
    values = json.loads(text)
    known = {word: str(values.pop(name)) for name, word in _SETTINGS.items() if name in values}
    return known | {name: str(value) for name, value in values.items()}


def _values(values: Sequence[str]) -> str:
    """One value, or each with the number of runs it holds for."""
    counts = Counter(values).most_common()
    if len(counts) == 1:
        return counts[0][0]
    return "; ".join(f"{value} ({count:,} runs)" for value, count in counts)
