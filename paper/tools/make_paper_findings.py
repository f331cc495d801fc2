"""Make the tables and figures of the page on what the paper's study found.

Run ``python paper/tools/make_paper_findings.py``. All of it comes from ``paper/results/paper.csv``
and ``paper.md``, which ``purecover-paper report`` wrote, so that the page says what they say.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from purecover_paper import figures as draw
from purecover_paper.figures import BLUE, ORANGE, VERMILLION
from purecover_paper.runs import (
    Combination,
    Row,
    Runs,
    Truth,
    mean_of_rows,
    printed_mean,
    printed_table,
)
from purecover_paper.sheets import Column
from purecover_paper.standings import standings
from purecover_paper.store import Record
from purecover_paper.tables import (
    ERROR_COLUMNS,
    OURS,
    PAPERS,
    TITLES,
    Methods,
    mean_errors,
    paper_combination,
)
from purecover_paper.thresholds import simulated_scores, threshold_errors

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "paper" / "results"
PAGE = ROOT / "docs" / "explanation"
STATIC = ROOT / "docs" / "_static"

Table = list[list[str]]
Summary = dict[Combination, dict[Row, dict[str, float]]]

DEFAULT = OURS.estimator
_SOURCES: tuple[tuple[str, Methods, Truth], ...] = (
    ("the paper's methods, the paper's truth", PAPERS, "traditional"),
    ("label-curve, the paper's truth", OURS, "traditional"),
    ("the paper's methods, the same scores", PAPERS, "same"),
    ("label-curve, the same scores", OURS, "same"),
)


def summary(text: str) -> Summary:
    """Means and spreads of everything measured, by combination and row."""
    found: Summary = {}
    for line in csv.DictReader(io.StringIO(text)):
        what = Combination(*(line.pop(key) for key in Combination._fields))
        row = Row(line.pop("dataset"), float(line.pop("beta")))
        numbers = {key: float(cell) for key, cell in line.items() if cell}
        found.setdefault(what, {})[row] = numbers
    return found


def as_runs(means: Summary, truth: Truth, repeats: int = 50) -> Runs:
    """A study of one run per row whose errors are the means of the whole one.

    Means over rows, intervals from resampling data sets and comparisons of two methods then
    come out as they did there. Combinations that gave no number in some run are left out.
    """
    records = [
        Record(*row, 0, what.metric, truth, "", "", 0.0)
        for what, rows in means.items()
        if what.method == truth
        for row in rows
    ]
    records += [
        Record(*row, 0, *what, numbers[f"error_{truth}"])
        for what, rows in means.items()
        if all(numbers["runs"] == repeats for numbers in rows.values())
        for row, numbers in rows.items()
        if f"error_{truth}" in numbers and what.metric in TITLES
    ]
    return Runs(records)


def mean(means: Summary, what: Combination, column: str, dataset: str = "") -> float:
    """A column averaged over the rows of the study, or of one data set."""
    rows = {row: each[column] for row, each in means[what].items()}
    return mean_of_rows({r: v for r, v in rows.items() if dataset in {"", r.dataset}})


def section(text: str, title: str) -> Table:
    """The table below a heading of the report, its headers first."""
    below = text.split(f"### {title}\n", 1)[1].split("\n#", 1)[0].replace("\\|", "\x00")
    lines = [line for line in below.splitlines() if line.startswith("|")]
    rows = [[_plain(cell) for cell in line.strip("|").split("|")] for line in lines]
    return [rows[0], *rows[2:]]


def _plain(cell: str) -> str:
    # Bars would be a substitution in reStructuredText.
    return cell.strip().replace("\x00error\x00", "absolute error").replace("\x00", "|")


def errors(means: Summary) -> Table:
    """Mean absolute errors of the columns of the paper's tables."""
    columns = [(metric, name) for metric, names in ERROR_COLUMNS.items() for name in names]
    table = [["", *(f"{TITLES[metric]} {name.upper()}" for metric, name in columns)]]
    table.append(["printed", *(f"{printed_mean(name, m):.3f}" for m, name in columns)])
    for title, methods, truth in _SOURCES:
        runs = as_runs(means, truth)
        found = (mean_of_rows(mean_errors(runs, name, m, methods, truth)) for m, name in columns)
        table.append([title, *(f"{each:.3f}" for each in found)])
    return table


def by_dataset(means: Summary) -> Table:
    """What the defaults do in every data set, intervals included."""
    percent, fixed = Column("", "", style="percent"), Column("", "", digits=3)
    signed = Column("", "", style="signed", digits=3)
    alpha, beta = (Combination(name, "estimate", DEFAULT) for name in ("alpha", "beta"))
    auc, auc_pr = (paper_combination("ie", metric, OURS) for metric in TITLES)
    columns = {
        "α": (fixed, Combination("alpha", "true"), "mean"),
        "error of α": (signed, alpha, "bias_same"),
        "error of β": (signed, beta, "bias_same"),
        "AUC": (fixed, Combination("auc", "same"), "mean"),
        "error of AUC": (signed, auc, "bias_same"),
        "AUC held": (percent, auc, "covered"),
        "AUC width": (fixed, auc, "width"),
        "AUC-PR held": (percent, auc_pr, "covered"),
        "AUC-PR width": (fixed, auc_pr, "width"),
    }
    names = list(dict.fromkeys(row.dataset for row in means[auc]))
    return [
        ["data set", *columns],
        *(
            [
                name.capitalize() or "all",
                *(
                    style.show(mean(means, what, key, name))
                    for style, what, key in columns.values()
                ),
            ]
            for name in [*names, ""]
        ),
    ]


def as_csv(table: Table) -> str:
    """The table as the text of a file."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(table)
    return out.getvalue()


def tables(report: str, means: Summary) -> dict[str, str]:
    """File name to content."""
    criteria = section(report, "What the study set out to show")
    counts = section(report, "Indirect against direct: who is closer more often")
    return {
        "paper_criteria.csv": as_csv(criteria),
        "paper_errors.csv": as_csv(errors(means)),
        "paper_datasets.csv": as_csv(by_dataset(means)),
        "paper_counts.csv": as_csv(counts),
    }


def beside_figure(panels: Mapping[str, Mapping[Row, tuple[float, float]]]) -> Figure:
    """Errors of every row of a table beside the printed ones, a panel each.

    By title of the panel and row: the printed error and ours. Below the line ours is the smaller.
    """
    figure, axes = plt.subplots(
        1, len(panels), figsize=(2.6 * len(panels), 3.3), layout="constrained", squeeze=False,
        sharex=True, sharey=True,
    )  # fmt: skip
    most = 1.05 * max(max(pair) for rows in panels.values() for pair in rows.values())
    for ax, (title, rows) in zip(axes[0], panels.items(), strict=True):
        ax.plot([0, most], [0, most], color="#9a9a9a", linewidth=1, zorder=1)
        for i, beta in enumerate(sorted({row.beta for row in rows}, reverse=True)):
            printed, ours = zip(*(rows[row] for row in rows if row.beta == beta), strict=True)
            ax.plot(
                printed, ours, linestyle="none", marker="osD"[i % 3], markersize=4.5, alpha=0.85,
                color=(BLUE, ORANGE, VERMILLION)[i % 3], label=f"β = {beta:g}",
            )  # fmt: skip
        ax.set_title(title, loc="left", fontsize="medium")
        limits = (-0.03 * most, most)  # marks at 0 are seen whole
        ax.set(xlabel="Printed", xlim=limits, ylim=limits, aspect="equal")
        draw.despine(ax)
    axes[0, 0].set_ylabel("This study")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, ncols=len(labels), loc="outside upper center", frameon=False)
    return figure


def figures(means: Summary) -> dict[str, str]:
    """File name to SVG."""
    mpl.use("Agg")
    runs = {truth: as_runs(means, truth) for _, _, truth in _SOURCES}
    beside = {
        column.upper(): {
            row: (printed_table("auc")[row][column], error)
            for row, error in mean_errors(
                runs["traditional"], column, "auc", PAPERS, "traditional"
            ).items()
        }
        for column in ERROR_COLUMNS["auc"][1:]
    }
    best = {metric: standings(runs["same"], metric, "same", known=False) for metric in TITLES}
    return {
        "paper_beside.svg": draw.to_svg(beside_figure(beside)),
        "paper_standings.svg": draw.to_svg(draw.standings_figure(best)),
        "paper_thresholds.svg": draw.to_svg(
            draw.thresholds_figure(list(threshold_errors(simulated_scores())))
        ),
    }


def read() -> tuple[str, Summary]:
    """The committed report and its numbers."""
    report, numbers = (
        (RESULTS / name).read_text(encoding="utf-8") for name in ("paper.md", "paper.csv")
    )
    return report, summary(numbers)


def main() -> None:
    """Write all."""
    report, means = read()
    for folder, made in ((PAGE, tables(report, means)), (STATIC, figures(means))):
        for name, content in made.items():
            (folder / name).write_text(content, encoding="utf-8")
            print((folder / name).relative_to(ROOT))


if __name__ == "__main__":
    main()
