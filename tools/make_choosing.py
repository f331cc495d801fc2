"""Make the tables and the decision figure of the page on choosing an estimator.

Run ``python tools/make_choosing.py``. The tables are cut from the results of the study in
``benchmarks/results/leaderboard.md``, so that the page says what it found and nothing else.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl

ROOT = Path(__file__).parents[1]
LEADERBOARD = ROOT / "benchmarks" / "results" / "leaderboard.md"
PAGE = ROOT / "docs" / "explanation"
FIGURE = ROOT / "docs" / "_static" / "choosing_estimator.png"

Table = list[list[str]]

PARTS = {"(b)": "simulated", "(d)": "real"}
"""The parts of the study that were held out while the estimators were made."""

# World of the study, and what it stands for.
WORLDS = {
    "normal 1": "weak scores (two normal classes, one standard deviation apart)",
    "normal 2": "fair scores (two standard deviations)",
    "normal 3": "good scores (three)",
    "Student t": "good scores with outliers",
    "Laplace 2": "nothing is pure: the highest scores keep a constant share of negatives",
    "two clusters": "positives in two groups, one of them hard to find",
    "rounded normal": "heavy ties (twenty distinct scores)",
    "pure ends 30%, slope 0.8": "wide pure ends, weak in between",
}


def section(text: str, title: str) -> Table:
    """The table below a heading that starts so, its headers first."""
    below = text.split(f"## {title}", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in below.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [rows[0], *rows[2:]]


def overall(text: str) -> Table:
    """Errors of our estimators on the held-out parts, best on real scores first."""
    tables = {part: section(text, part) for part in PARTS}
    found: dict[str, list[str]] = {}
    for part, (headers, *rows) in tables.items():
        error, bias, worst, time = (
            headers.index(name)
            for name in ("beta - alpha", "bias of beta - alpha", "worst beta - alpha", "CPU ms")
        )
        for row in rows:
            if ":" in row[0]:  # other packages have their version before a colon
                continue
            cells = [row[error], row[bias], row[worst]]
            name = row[0].strip("*")  # that of the default is set in bold
            found.setdefault(name, []).extend(cells if part == "(b)" else [*cells, row[time]])
    names = ("mean error", "bias", "worst")
    headers = [f"{word}, {name}" for word in PARTS.values() for name in names]
    complete = [[name, *cells] for name, cells in found.items() if len(cells) == 7]
    return [
        ["estimator", *headers, "CPU ms"],
        *sorted(complete, key=lambda row: (float(row[4]), row[0])),
    ]


def by_world(text: str) -> Table:
    """Mean errors in worlds that stand for kinds of data."""
    headers, *rows = section(text, "(a) by source")
    others, *more = section(text, "(b) by source")
    assert headers == others  # noqa: S101
    found = {row[0]: row[1:] for row in [*rows, *more]}
    return [
        ["scores", *headers[1:]],
        *[[meaning, *found[name]] for name, meaning in WORLDS.items()],
    ]


def as_csv(table: Table) -> str:
    """The table as the text of a file."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(table)
    return out.getvalue()


def tables(text: str) -> dict[str, str]:
    """File name to content."""
    return {
        "choosing_overall.csv": as_csv(overall(text)),
        "choosing_worlds.csv": as_csv(by_world(text)),
    }


# -- the figure -------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """A question, and what to do if the answer is the one that leads to the right."""

    question: str
    answer: str
    todo: str
    onward: str


STEPS = (
    Step(
        "Is alpha known,\nfrom a survey or a registry?",
        "yes",
        "pass alpha=, or prior= with scenario=\na range: recover_bounds, sensitivity",
        "no",
    ),
    Step(
        "Can somebody judge about 100\nrandom unlabeled rows?",
        "yes",
        "plan_audit, alpha_from_audit\nbeside scores: combine_audit",
        "no",
    ),
    Step(
        "Were the labeled positives\na random choice of all positives?",
        "doubtful",
        "scar_test; with features clustered\nan audit is the safer way",
        "yes",
    ),
    Step(
        "Do held-out scores separate:\nobserved AUC above about .65?",
        "no",
        "train a better classifier on the features\nor report inclusion_bound, no single number",
        "yes",
    ),
    Step(
        "May negatives look like positives\neven at the highest scores?",
        "perhaps",
        "every estimate of alpha is then too high:\nreport the identification interval",
        "no",
    ),
    Step(
        "Are thousands of estimates needed,\nas in a large search?",
        "yes",
        "DEDPUL or BBE, milliseconds each\nNoisyLabels(...) where labels may be wrong",
        "no",
    ),
)
LAST = (
    "The default: evaluate(scores, labeled)\n"
    "pure ends: assume=['pure-top'].  Labels verified: beta=1"
)
BLUE, GREEN, GRAY = "#0072B2", "#009E73", "#555555"
LEFT, RIGHT, HALF = 3.35, 4.35, 0.29  # where boxes end and begin, and half their height


def draw() -> None:
    """Draw and save."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.patches import FancyBboxPatch

    rows = len(STEPS) + 1
    figure, ax = plt.subplots(figsize=(8.4, 0.95 * rows), layout="constrained")
    ax.set(xlim=(-0.05, 9.05), ylim=(-0.45, rows - 0.55))
    ax.set_axis_off()

    def box(
        x: float, y: float, width: float, text: str, face: str, edge: str, weight: str = "normal"
    ) -> None:
        shape = FancyBboxPatch(
            (x, y - HALF), width, 2 * HALF, boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=face, edgecolor=edge, linewidth=1.2,
        )  # fmt: skip
        ax.add_patch(shape)
        ax.text(x + width / 2, y, text, ha="center", va="center", fontsize=9.5, weight=weight)

    def arrow(start: tuple[float, float], end: tuple[float, float]) -> None:
        look = {"arrowstyle": "-|>", "color": GRAY, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", end, start, arrowprops=look)

    for i, step in enumerate(STEPS):
        y = rows - 1 - i
        box(0, y, LEFT, step.question, "white", BLUE)
        box(RIGHT, y, 9 - RIGHT, step.todo, "#eef6fb", BLUE)
        arrow((LEFT, y), (RIGHT, y))
        middle = (LEFT + RIGHT) / 2
        ax.text(middle, y + 0.05, step.answer, ha="center", va="bottom", fontsize=9, color=GRAY)
        arrow((LEFT / 2, y - HALF), (LEFT / 2, y - 1 + HALF))
        ax.text(LEFT / 2 + 0.1, y - 0.5, step.onward, va="center", fontsize=9, color=GRAY)
    box(0, 0, 9, LAST, "#e9f6f1", GREEN, weight="bold")
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=144, metadata={"Software": None})


def main() -> None:
    """Write all."""
    for name, content in tables(LEADERBOARD.read_text(encoding="utf-8")).items():
        (PAGE / name).write_text(content, encoding="utf-8")
        print((PAGE / name).relative_to(ROOT))
    draw()
    print(FIGURE.relative_to(ROOT))


if __name__ == "__main__":
    main()
