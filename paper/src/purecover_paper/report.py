"""The report of a study: all tables and figures as one page, as Markdown, or as tidy CSV."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from purecover import __version__
from purecover.exceptions import InvalidInputError
from purecover_paper.arguments import bad_type, bad_value, errors_of, require
from purecover_paper.coverage import coverage, coverage_sheets
from purecover_paper.criteria import criteria, criteria_sheet, shortfalls
from purecover_paper.figures import (
    figure1,
    figure2,
    figure3,
    figure4,
    standings_figure,
    thresholds_figure,
    to_svg,
)
from purecover_paper.files import write_whole
from purecover_paper.measure import DEFAULT, RELEASED
from purecover_paper.runs import (
    JUDGES,
    PRINTED_ROWS,
    Combination,
    Runs,
    Truth,
    mean_of_rows,
    printed_mean,
    printed_table,
)
from purecover_paper.sheets import Column, Sheet, escaped, sheet_csv, sheet_markdown
from purecover_paper.significance import clustered_test, counting_sheet
from purecover_paper.standings import estimators_sheet, standings, standings_sheet
from purecover_paper.store import Record
from purecover_paper.tables import (
    OURS,
    PAPERS,
    SUMMARY,
    TITLES,
    Methods,
    collapses,
    mean_errors,
    paper_combination,
    paper_table,
    summary_rows,
)
from purecover_paper.thresholds import (
    KeptScores,
    ThresholdErrors,
    simulated_errors,
    threshold_errors,
    thresholds_sheet,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def findings(runs: Runs) -> list[str]:
    """Return the main results in sentences, without those that are not known."""
    sets = len(runs.datasets)
    n_rows = sum(row in printed_table("auc") for row in runs.rows)
    first = (
        f"{runs.n_runs:,} run{'s' if runs.n_runs > 1 else ''} on {sets} "
        f"data set{'s' if sets > 1 else ''}, {n_rows} of the {PRINTED_ROWS} rows "
        "of the paper's tables."
    )
    found = [first]
    kept = [each for each in criteria(runs) if each.outcome in {"met", "not met"}]
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
    n_bad = sum(share > 0 for share in collapses(runs).values())
    test = clustered_test({row: direct[row] - papers[row] for row in direct if row in papers})
    by_method = (
        "With known alpha and beta and the paper's truth, the mean error of AUC is "
        f"{mean_of_rows(direct):.4f} direct (paper {printed_mean('dr', 'auc'):.4f}), "
        f"{mean_of_rows(ours):.4f} indirect with the default repair and "
        f"{mean_of_rows(papers):.4f} with Algorithm 1 "
        f"(paper {printed_mean('ir', 'auc'):.4f}), "
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
                f"95 % intervals of {title} contain the truth of the same scores in "
                f"{100 * held[''].covered:.1f} % of {held[''].n_runs:,} runs, at a mean width of "
                f"{held[''].width:.3f}."
            )
    return found


TITLE = "The paper's evaluation, next to the printed numbers"
_TRUTHS: tuple[Truth, ...] = ("same", "traditional")
_TABLES: tuple[tuple[Methods, Truth], ...] = (
    (PAPERS, "traditional"),
    (OURS, "traditional"),
    (OURS, "same"),
)
_BOXES: tuple[tuple[Methods, Truth], ...] = (
    (PAPERS, "traditional"),
    (OURS, "same"),
)


@dataclass(frozen=True)
class Section:
    """Tables under one heading."""

    name: str
    title: str
    sheets: tuple[Sheet, ...]


@dataclass(frozen=True)
class Picture:
    """A figure as a data URL with its caption."""

    section: str
    title: str
    caption: str
    source: str


@dataclass(frozen=True, eq=False)
class PaperReport:
    """The report of a study.

    Attributes
    ----------
    runs : Runs
        Results.
    findings : tuple of str
        The main results in sentences.
    missing : tuple of str
        What is missing for the full study.
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
    """Compute all tables of the study.

    Parameters
    ----------
    records : iterable of Record
        Results, of the whole study or a part of it.
    provenance : dict of str to str
        How it was made, by name: command, seed, time. Versions are added.
    kept_scores : iterable of KeptScores, optional
        Scores to try numbers of thresholds on, in addition to simulated scores.

    Returns
    -------
    PaperReport
        Tables and findings.

    Examples
    --------
    >>> from purecover_paper.report import paper_report
    >>> from purecover_paper.store import Record
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
    thresholds = (*simulated_errors(), *threshold_errors(kept_scores))
    printed = [
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
        Section("criteria-section", "Criteria", (criteria_sheet(runs),)),
        Section("tables", "Tables 1 and 2", tuple(printed)),
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
        provenance={**provenance, "Report made with": _versions()},
    )


@errors_of("write_report")
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
        Results; of a part of the study the report says what is missing.
    provenance : dict of str to str
        How it was made, by name.
    html : Path, optional
        File of the page: all tables and figures in one file that loads nothing.
    markdown : Path, optional
        File of the tables.
    csv : Path, optional
        File of means and spreads, a tidy row per row of the tables and combination.
    kept_scores : iterable of KeptScores, optional
        Scores to try numbers of thresholds on.

    Returns
    -------
    PaperReport
        The report.
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
    if html is not None:  # before the tables are computed, which takes minutes
        require("matplotlib.pyplot", install="'purecover-paper[plot]'")
    report = paper_report(records, provenance=provenance, kept_scores=kept_scores)
    for path, text in (
        (html, to_html),
        (markdown, to_markdown),
        (csv, lambda each: sheet_csv(SUMMARY, summary_rows(each.runs))),
    ):
        if path is not None:
            write_whole(path, text(report).encode())
    return report


def to_markdown(report: PaperReport) -> str:
    """Return the findings and all tables as Markdown."""
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
    """Return the report as one page that loads nothing."""
    folder = files("purecover_paper").joinpath("html")
    style = folder.joinpath("report.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = folder.joinpath("report.html.j2").read_text(encoding="utf-8")
    return environment.from_string(template).render(
        title=TITLE,
        report=report,
        figures=_pictures(report),
        classes=_classes,
        style=Markup(style),  # noqa: S704 - our own file
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
    )


def _classes(sheet: Sheet, index: int) -> str:
    column = sheet.columns[index]
    first = bool(column.group) and sheet.columns[index - 1].group != column.group
    names = {"text": column.is_text, "edge": first, "printed": column.key.endswith("_paper")}
    return " ".join(name for name, holds in names.items() if holds)


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
            figure2(runs, methods, truth),
        )
        for methods, truth in _BOXES
        if any(Combination(metric, truth) in runs for metric in TITLES)
    ]
    best = {metric: standings(runs, metric, "same", known=False) for metric in TITLES}
    if any(best.values()):
        found.append(
            _picture(
                "winners", "The best combinations",
                "Mean absolute error against the true values of the same scores, with 95 % "
                "intervals from resampling data sets; the defaults in color.",
                standings_figure({m: each for m, each in best.items() if each}),
            )
        )  # fmt: skip
    found += [
        _picture(
            "thresholds-section", "Algorithm 1 by the number of thresholds",
            "Mean absolute error, alpha and beta known; the shade holds the middle 80 % of the "
            "runs.",
            thresholds_figure(report.thresholds),
        ),
        _picture(
            "theory", "Figure 1, the worked example",
            "Three labeled and five unlabeled rows, one of them positive. Equation 4 gives "
            "0.875 and not the true 0.9375: with so few rows the labeled are no fair sample "
            "of the positives.",
            figure1(),
        ),
        _picture(
            "theory", "Figure 3, how wrong proportions mislead",
            "Absolute error of the recovered AUC by assumed proportions; the true ones dotted, "
            "gray where the recovered AUC leaves [0, 1].",
            figure3(),
        ),
        _picture(
            "theory", "Figure 4, the lines of interest",
            "A map of Figure 3 next to the lines on which the recovered AUC is 0, 1 or the true "
            "one. The paper's caption gives an observed AUC of 0.80 here; equation 4 gives 0.70.",
            figure4(),
        ),
    ]  # fmt: skip
    return found


def _picture(section: str, title: str, caption: str, figure: Figure) -> Picture:
    # As an image: the style of inline SVG is forbidden by the page's policy, and its names could
    # be those of another figure.
    data = base64.b64encode(to_svg(figure).encode()).decode()
    return Picture(section, title, caption, f"data:image/svg+xml;base64,{data}")


def _versions() -> str:
    others = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    return f"purecover {__version__}, Python {platform.python_version()}, {others}"
