"""All tables and figures of the study as one page, as Markdown, or as tidy CSV."""

from __future__ import annotations

import base64
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from purecover._codec import replacing
from purecover._typing import FloatArray
from purecover._validation import bad_type, bad_value, public, require
from purecover._view import versions
from purecover.counts import ScoreCounts, pu_roc_curve
from purecover.displays import base
from purecover.exceptions import InvalidInputError
from purecover.html.page import fill_template
from purecover.paper import standings as ranks
from purecover.paper import tables
from purecover.paper.cells import Record, Store, StoredCell
from purecover.paper.run import DEFAULT, RELEASED
from purecover.paper.standings import Standing, standings
from purecover.proportions import MixtureProportions
from purecover.recovery.curves import recover_roc
from purecover.recovery.rates import trapezoid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# -- The figures of the paper, redrawn, and one that it left open --------------------------------


EXAMPLE_SCORES = (0.95, 0.90, 0.80, 0.70, 0.60, 0.40, 0.30, 0.10)
EXAMPLE_LABELED = (True, False, True, False, True, False, False, False)
EXAMPLE_POSITIVE = (True, True, True, False, True, False, False, False)
"""The worked example of the paper: three labeled, five unlabeled, one of them positive."""

BINS = ((0.0, 0.1), (0.1, 0.2), (0.2, np.inf))
"""Of the absolute error of beta - alpha, in the right panels of Figure 2."""

_COLORS = {
    "pu": "#9a9a9a",
    "ir": base.BLUE,
    "dr": base.SKY,
    "ie": base.VERMILLION,
    "de": base.ORANGE,
}


@public
def figure1() -> Figure:
    """The worked example: a ranking, and the curves it gives.

    Returns
    -------
    matplotlib Figure
        Left the ranking, right the observed, the true and the recovered curves.
    """
    pyplot = _pyplot()
    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(8.2, 4.2), width_ratios=(1, 2.6), layout="constrained"
    )
    looks = {
        "labeled": {"marker": "s", "color": base.BLUE},
        "unlabeled, positive": {"marker": "o", "color": base.VERMILLION},
        "unlabeled, negative": {"marker": "o", "color": "#767676", "fillstyle": "none"},
    }
    kinds = [
        "labeled" if labeled else f"unlabeled, {'positive' if positive else 'negative'}"
        for labeled, positive in zip(EXAMPLE_LABELED, EXAMPLE_POSITIVE, strict=True)
    ]
    for kind, look in looks.items():
        scores = [s for s, each in zip(EXAMPLE_SCORES, kinds, strict=True) if each == kind]
        left.plot([0] * len(scores), scores, linestyle="none", markersize=9, label=kind, **look)
    for score in EXAMPLE_SCORES:
        left.annotate(f"{score:.2f}", (0, score), (12, 0), textcoords="offset points", va="center")
    left.set(xlim=(-0.5, 1), ylim=(0, 1), xticks=[], ylabel="Score", title="Ranking")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.03), frameon=False, fontsize="small")

    counts = ScoreCounts.from_scores(EXAMPLE_SCORES, EXAMPLE_LABELED)
    true = pu_roc_curve(ScoreCounts.from_scores(EXAMPLE_SCORES, EXAMPLE_POSITIVE))
    proportions = MixtureProportions(alpha=0.2)
    paper, ours = (recover_roc(counts, proportions, repair=r) for r in ("paper", "isotonic"))
    true_auc = trapezoid(true.tpr_pu, true.fpr_pu)
    right.plot([0, 1], [0, 1], **base.CHANCE)
    right.plot(paper.fpr_pu, paper.tpr_pu, label=f"observed, {paper.auc_pu:.3f}", **base.OBSERVED)
    right.plot(true.fpr_pu, true.tpr_pu, color=base.VERMILLION, lw=3, label=f"true, {true_auc:.4f}")
    right.plot(
        paper.fpr_raw, paper.tpr_raw, color=base.GREEN, marker=".", lw=1,
        label=f"recovered, not repaired, {paper.auc_direct:.3f}",
    )  # fmt: skip
    right.plot(paper.fpr, paper.tpr, color=base.BLUE, lw=2, label=f"Algorithm 1, {paper.auc:.4f}")
    right.plot(
        ours.fpr,
        ours.tpr,
        color=base.PURPLE,
        lw=2,
        ls=(0, (4, 2)),
        label=f"isotonic, {ours.auc:.4f}",
    )
    right.set(
        xlim=(-0.12, base.LIMITS[1]), ylim=base.LIMITS, xlabel="False-positive rate",
        ylabel="True-positive rate", title="Curves, α = 0.2, β = 1",
    )  # fmt: skip
    right.legend(title="AUC", loc="lower right", frameon=False, fontsize="small")
    base.despine_axes(left)
    base.despine_axes(right)
    return figure


def error_boxes(
    runs: tables.Runs, metric: str, methods: tables.Methods, truth: tables.Truth, *, by: str
) -> dict[str, dict[str, FloatArray]]:
    """Signed errors of a panel of Figure 2, by box and column.

    Parameters
    ----------
    runs : Runs
        What was measured.
    metric : {"auc", "auc_pr"}
        Which area.
    methods : Methods
        Whose estimator and repairs.
    truth : {"traditional", "same"}
        What errors are judged by.
    by : {"beta", "e"}
        Boxes by beta, or by the absolute error of ``beta - alpha``.

    Returns
    -------
    dict
        By title of the group, then by column of the paper's tables: estimate minus truth of
        all runs, pooled over data sets.
    """
    e = np.abs(runs.proportion_errors(methods.estimator)["delta"])
    betas = np.array([run.row.beta for run in runs.runs])
    if by == "beta":
        groups = {f"β = {beta:g}": betas == beta for beta in sorted({*betas.tolist()})[::-1]}
    else:
        groups = {_bin_title(low, high): (low <= e) & (e < high) for low, high in BINS}
    found: dict[str, dict[str, FloatArray]] = {}
    for title, here in groups.items():
        for column in tables.ERROR_COLUMNS[metric]:
            errors = runs.errors(tables.paper_combination(column, metric, methods), truth)[here]
            if np.isfinite(errors).any():
                found.setdefault(title, {})[column] = errors[np.isfinite(errors)]
    return found


def _bin_title(low: float, high: float) -> str:
    return f"e ≥ {low:g}" if np.isinf(high) else f"{low:g} ≤ e < {high:g}"


@public
def figure2(runs: tables.Runs, methods: tables.Methods, truth: tables.Truth) -> Figure:
    """Box plots of signed errors: AUC above, AUC-PR below; by beta left, by e right.

    Parameters
    ----------
    runs : Runs
        What was measured.
    methods : Methods
        Whose estimator and repairs.
    truth : {"traditional", "same"}
        What errors are judged by.

    Returns
    -------
    matplotlib Figure
        Panels a to d. A box holds the middle half of the runs, its line the median, the
        whiskers reach the last run within one and a half times its length.
    """
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(2, 2, figsize=(9.6, 6.4), layout="constrained", sharey="row")
    for row, metric in enumerate(tables.ERROR_COLUMNS):
        for column, by in enumerate(("beta", "e")):
            ax = axes[row, column]
            letter = "abcd"[2 * row + column]
            boxes = error_boxes(runs, metric, methods, truth, by=by)
            _draw_boxes(ax, boxes, tables.ERROR_COLUMNS[metric])
            what = "β" if by == "beta" else "e = |error of β − α|"
            ax.set_title(
                f"{letter}) {tables.TITLES[metric]} by {what}", loc="left", fontsize="medium"
            )
            if column == 0:
                ax.set_ylabel(f"Estimated − true {tables.TITLES[metric]}")
    # One key for all panels, where it can hide no box.
    handles, labels = axes[0, 0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, ncols=len(labels), loc="outside upper center", frameon=False)
    return figure


def _draw_boxes(
    ax: Axes, groups: Mapping[str, Mapping[str, FloatArray]], columns: Sequence[str]
) -> None:
    width = 0.8 / len(columns)
    ax.axhline(0, color="#9a9a9a", linewidth=1, zorder=1)
    for i, column in enumerate(columns):
        held = [(g, boxes[column]) for g, boxes in enumerate(groups.values()) if column in boxes]
        if not held:
            continue
        color = _COLORS[column]
        drawn = ax.boxplot(
            [errors for _, errors in held],
            positions=[g - 0.4 + width * (i + 0.5) for g, _ in held],
            widths=width * 0.85,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": color, "edgecolor": "black", "linewidth": 0.7},
            medianprops={"color": "black", "linewidth": 1.4},
            whiskerprops={"color": "black", "linewidth": 0.7},
            capprops={"color": "black", "linewidth": 0.7},
            # Thousands of points as a picture, not as thousands of marks.
            flierprops={"marker": ".", "markersize": 2, "markerfacecolor": color,
                        "markeredgecolor": color, "rasterized": True},
        )  # fmt: skip
        drawn["boxes"][0].set_label(column.upper())
    titles = [
        f"{title}\n({max(errors.size for errors in boxes.values()):,} runs)"
        for title, boxes in groups.items()
    ]
    ax.set_xticks(range(len(titles)), titles)
    ax.set_xlim(-0.5, max(len(titles), 1) - 0.5)
    base.despine_axes(ax)


@public
def thresholds_figure(errors: Sequence[tables.ThresholdErrors]) -> Figure:
    """Mean absolute error of Algorithm 1 against the number of thresholds.

    Parameters
    ----------
    errors : sequence of ThresholdErrors
        From :func:`threshold_errors`.

    Returns
    -------
    matplotlib Figure
        AUC left, AUC-PR right, a line per kind of scores with the middle 80 % of its runs.
    """
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")
    numbers = list(dict.fromkeys(each.number for each in errors))
    for ax, metric in zip(axes, tables.TITLES, strict=True):
        for i, title in enumerate(dict.fromkeys(each.title for each in errors)):
            found = [each for each in errors if each.title == title]
            x = [numbers.index(each.number) for each in found]
            sizes = [np.abs(getattr(each, metric)) for each in found]
            color = base.CYCLE[i % len(base.CYCLE)]
            low, high = np.array([np.quantile(each, [0.1, 0.9]) for each in sizes]).T
            ax.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0)
            means = [each.mean() for each in sizes]
            ax.plot(x, means, color=color, marker="osD^v<"[i % 6], markersize=4, label=title)
        shown = ["all" if number is None else f"{number:,}" for number in numbers]
        ax.set_xticks(range(len(numbers)), shown)
        ax.set(
            xlabel="Thresholds", ylabel=f"Mean |error| of {tables.TITLES[metric]}", ylim=(0, None)
        )
        base.despine_axes(ax)
    axes[0].legend(frameon=False, fontsize="small")
    return figure


@public
def standings_figure(standings: Mapping[str, Sequence[Standing]], most: int = 15) -> Figure:
    """The best combinations of estimator and repair, with intervals.

    Parameters
    ----------
    standings : dict of str to sequence of Standing
        A panel each: what :func:`standings` returned, by metric.
    most : int, default=15
        How many to draw.

    Returns
    -------
    matplotlib Figure
        The best on top; the defaults in color.
    """
    pyplot = _pyplot()
    height = 1.1 + 0.26 * min(most, max(map(len, standings.values()), default=1))
    figure, axes = pyplot.subplots(
        1, len(standings), figsize=(9.6, height), layout="constrained", squeeze=False
    )
    for ax, (metric, found) in zip(axes[0], standings.items(), strict=True):
        shown = found[:most]
        for i, each in enumerate(shown):
            color = base.BLUE if ranks.is_default(each.what) else "#767676"
            ax.plot([each.low, each.high], [i, i], color=color, linewidth=2)
            ax.plot(each.error, i, marker="o", color=color, markersize=5)
        titles = [f"{each.what.estimator}, {each.what.repair or 'direct'}" for each in shown]
        ax.set_yticks(range(len(shown)), titles, fontsize="small")
        ax.set(xlabel=f"Mean |error| of {tables.TITLES[metric]}", xlim=(0, None))
        ax.set_ylim(max(len(shown), 1) - 0.5, -0.5)
        ax.grid(axis="x", color="#d8dde2", linewidth=0.7)
        ax.set_axisbelow(True)
        base.despine_axes(ax)
    return figure


@public
def to_svg(figure: Figure) -> str:
    """A figure as SVG, the same text for the same figure; the figure is closed.

    Letters are drawn as paths, so that it looks the same without any font.
    """
    pyplot = _pyplot()
    out = io.StringIO()
    # A fixed salt and no date: without them every page would differ from the last.
    with pyplot.rc_context({"svg.hashsalt": "purecover", "svg.fonttype": "path"}):
        figure.savefig(out, format="svg", dpi=110, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    return out.getvalue()


def _pyplot() -> Any:
    return require("matplotlib.pyplot", extra="plot")


# -- The report ----------------------------------------------------------------------------------


# -- What the study found, in sentences made from its figures ------------------------------------


def findings(runs: tables.Runs) -> list[str]:
    """The main figures in sentences; those that cannot be told are left out."""
    sets = len(runs.datasets)
    n_rows = sum(row in tables.printed_table("auc") for row in runs.rows)
    first = (
        f"{runs.n_runs:,} run{'s' if runs.n_runs > 1 else ''} on {sets} "
        f"data set{'s' if sets > 1 else ''}, {n_rows} of the {tables.PRINTED_ROWS} rows "
        "of the paper's tables."
    )
    found = [first]
    kept = [each for each in ranks.promises(runs) if each.outcome in {"met", "not met"}]
    short = [each.title for each in kept if each.outcome == "not met"]
    sentence = f"{len(kept) - len(short)} of {len(kept)} criteria are met"
    found.append(f"{sentence}; not met: {'; '.join(short)}." if short else f"{sentence}.")
    found += _known(runs) + _estimated(runs)
    for metric, title in tables.TITLES.items():
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


def _known(runs: tables.Runs) -> list[str]:
    direct, ours, papers = (
        tables.mean_errors(runs, column, "auc", methods, "traditional")
        for column, methods in (("dr", tables.OURS), ("ir", tables.OURS), ("ir", tables.PAPERS))
    )
    if not (direct and ours and papers):
        return []
    n_bad = sum(share > 0 for share in tables.collapses(runs).values())
    test = ranks.clustered_test({row: direct[row] - papers[row] for row in direct if row in papers})
    by_method = (
        "With known alpha and beta and the paper's truth, the mean error of AUC is "
        f"{tables.mean_of_rows(direct):.4f} direct (paper {tables.printed_mean('dr', 'auc'):.4f}), "
        f"{tables.mean_of_rows(ours):.4f} indirect with the default repair and "
        f"{tables.mean_of_rows(papers):.4f} with Algorithm 1 "
        f"(paper {tables.printed_mean('ir', 'auc'):.4f}), "
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


def _estimated(runs: tables.Runs) -> list[str]:
    found = []
    errors = {name: runs.proportion_errors(name)["delta"] for name in (DEFAULT, RELEASED)}
    sizes = {name: tables.mean_of_rows(runs.means(np.abs(each))) for name, each in errors.items()}
    bias = tables.mean_of_rows(runs.means(errors[DEFAULT]))
    if np.isfinite([*sizes.values()]).all():
        found.append(
            f"The mean absolute error of beta − alpha is {sizes[DEFAULT]:.3f} by {DEFAULT} (mean "
            f"signed error {bias:+.3f}) and {sizes[RELEASED]:.3f} by {RELEASED} "
            f"(paper {tables.printed_mean('e', 'auc'):.3f})."
        )
    for metric, title in tables.TITLES.items():
        held = ranks.coverage(runs, tables.paper_combination("ie", metric, tables.OURS))
        if held:
            found.append(
                f"95 % intervals of {title} hold the truth of the same scores in "
                f"{100 * held[''].covered:.1f} % of {held[''].n_runs:,} runs, at a mean width of "
                f"{held[''].width:.3f}."
            )
    return found


TITLE = "The paper's evaluation, beside the printed figures"
_TRUTHS: tuple[tables.Truth, ...] = ("same", "traditional")
_TABLES: tuple[tuple[tables.Methods, tables.Truth], ...] = (
    (tables.PAPERS, "traditional"),
    (tables.OURS, "traditional"),
    (tables.OURS, "same"),
)
_BOXES: tuple[tuple[tables.Methods, tables.Truth], ...] = (
    (tables.PAPERS, "traditional"),
    (tables.OURS, "same"),
)


@dataclass(frozen=True)
class Section:
    """Tables under one heading."""

    name: str
    title: str
    sheets: tuple[tables.Sheet, ...]


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

    runs: tables.Runs
    findings: tuple[str, ...]
    missing: tuple[str, ...]
    sections: tuple[Section, ...]
    thresholds: tuple[tables.ThresholdErrors, ...]
    provenance: Mapping[str, str]


def paper_report(
    records: Iterable[Record],
    *,
    provenance: Mapping[str, str],
    kept_scores: Iterable[tables.KeptScores] = (),
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
    >>> from purecover.paper.cells import Record
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
    runs = tables.Runs(records)
    thresholds = tuple(tables.threshold_errors([*tables.simulated_scores(), *kept_scores]))
    printed = [
        tables.paper_table(runs, metric, methods, truth)
        for metric in tables.TITLES
        for methods, truth in _TABLES
        if tables.Combination(metric, truth) in runs
    ]
    winners = [
        ranks.standings_sheet(runs, metric, truth, known=known)
        for metric in tables.TITLES
        for known in (True, False)
        for truth in _TRUTHS
    ]
    sections = (
        Section("promises-section", "Criteria", (ranks.promises_sheet(runs),)),
        Section("tables", "Tables 1 and 2", tuple(printed)),
        Section("errors", "Figure 2", ()),
        Section("winners", "Which estimator and repair", tuple(s for s in winners if s.rows)),
        Section("proportions", "Alpha and beta", (ranks.estimators_sheet(runs),)),
        Section("intervals", "Intervals", tuple(ranks.coverage_sheets(runs))),
        Section("tests", "Direct or indirect", (ranks.counting_sheet(runs),)),
        Section(
            "thresholds-section", "Number of thresholds", (tables.thresholds_sheet(thresholds),)
        ),
        Section("theory", "Figures 1, 3 and 4", ()),
    )
    return PaperReport(
        runs=runs,
        findings=tuple(findings(runs)),
        missing=tuple(ranks.shortfalls(runs)),
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
    kept_scores: Iterable[tables.KeptScores] = (),
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
        (csv, lambda each: tables.sheet_csv(tables.SUMMARY, tables.summary_rows(each.runs))),
    ):
        if path is not None:
            with replacing(path) as file:
                file.write(text(report).encode())
    return report


def to_markdown(report: PaperReport) -> str:
    """The findings and all tables as Markdown."""
    parts = [f"# {TITLE}", "\n".join(f"- {tables.escaped(finding)}" for finding in report.findings)]
    if report.missing:
        parts.append(f"**Not complete.** {tables.escaped(' '.join(report.missing))}")
    for section in report.sections:
        if section.sheets:
            parts += [
                f"## {tables.escaped(section.title)}",
                *(tables.sheet_markdown(each) for each in section.sheets),
            ]
    made = tables.Sheet(
        name="provenance",
        title="Provenance",
        columns=(tables.Column("name", "", style="text"), tables.Column("value", "", style="text")),
        rows=tuple(report.provenance.items()),
    )
    parts += ["## How this was made", tables.sheet_markdown(made)]
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


def _classes(sheet: tables.Sheet, index: int) -> str:
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
            box.format(f"Estimator {methods.estimator}", tables.JUDGES[truth]),
            figure2(runs, methods, truth),
        )
        for methods, truth in _BOXES
        if any(tables.Combination(metric, truth) in runs for metric in tables.TITLES)
    ]
    best = {metric: standings(runs, metric, "same", known=False) for metric in tables.TITLES}
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
            "Three labeled and five unlabeled examples, one of them positive. Equation 4 gives "
            "0.875 and not the true 0.9375: with so few examples the labeled are no fair sample "
            "of the positives.",
            figure1(),
        ),
    ]  # fmt: skip
    return found


def _picture(section: str, title: str, caption: str, figure: Figure) -> Picture:
    # As an image and not as part of the page: it brings style of its own, which the page's
    # policy forbids, and names that would meet those of other figures.
    data = base64.b64encode(to_svg(figure).encode()).decode()
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
    >>> from purecover.paper.cells import StoredCell
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
