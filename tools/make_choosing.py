"""Draw the decision figure of the page on choosing an estimator.

Run ``python tools/make_choosing.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl

ROOT = Path(__file__).parents[1]
FIGURE = ROOT / "docs" / "_static" / "choosing_estimator.png"


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
        "audit.draw, audit.combine",
        "no",
    ),
    Step(
        "Were the labeled positives\na random choice of all positives?",
        "doubtful",
        "scar_test tells, where there are features\nan audit is the safer way",
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
        "DEDPUL, milliseconds each\nNoisyLabels(...) where labels may be wrong",
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


if __name__ == "__main__":
    draw()
    print(FIGURE.relative_to(ROOT))
