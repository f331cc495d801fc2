"""Write the four reports of the readers' test: ``python tools/make_readers_test.py FOLDER TRUTH``.

FOLDER gets a subfolder for each data set with the scores, the page and the text report; TRUTH is
the file for the true figures, which readers must not see.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purecover import simulate

Rows = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Scores, labels and truth."""


def rows_of(sample: simulate.Sample) -> Rows:
    """The columns of a sample, scores as a file holds them."""
    return sample.scores.round(4), sample.labeled.astype(int), sample.truth.astype(int)


def fraud() -> tuple[Rows, list[str]]:
    """Rare positives, verified labels, a review budget."""
    world = simulate.binormal(separation=2.6)
    sample = world.sample(alpha=0.012, n_labeled=300, n_unlabeled=30_000, random_state=11)
    return rows_of(sample), ["--assume", "clean-labels", "--review", "500"]


def records() -> tuple[Rows, list[str]]:
    """One sample of patients; it is known that 4 in 10 of the ill have the code."""
    world = simulate.binormal(separation=1.6)
    sample = world.sample_censored(6_000, prior=0.35, label_frequency=0.4, random_state=12)
    return rows_of(sample), ["--scenario", "censoring", "--label-frequency", "0.4"]


def proteins() -> tuple[Rows, list[str]]:
    """Two samples with a few wrong labels; nothing is known about alpha and beta."""
    world = simulate.binormal(separation=2.4)
    sample = world.sample(alpha=0.3, beta=0.95, n_labeled=800, n_unlabeled=4_000, random_state=13)
    return rows_of(sample), []


def reports() -> tuple[Rows, list[str]]:
    """One sample in which the easy positives are the ones that got labeled."""
    rng = np.random.default_rng(14)
    truth = rng.random(5_000) < 0.3
    scores = (rng.normal(size=5_000) + 1.7 * truth).round(4)
    chance = 1 / (1 + np.exp(-2.5 * (scores - 2.2)))
    labeled = truth & (rng.random(5_000) < chance)
    return (scores, labeled.astype(int), truth.astype(int)), ["--scenario", "censoring"]


SETS = {"1": fraud, "2": records, "3": proteins, "4": reports}


def truth_of(rows: Rows, threshold: float) -> dict[str, float]:
    """True figures of all rows, and of the unlabeled at a threshold."""
    scores, labeled, truth = rows
    positive, negative = scores[truth == 1], scores[truth == 0]
    order = np.concatenate([positive, negative]).argsort().argsort() + 1.0
    auc = (order[: len(positive)].sum() - len(positive) * (len(positive) + 1) / 2) / (
        len(positive) * len(negative)
    )
    flagged = scores >= threshold
    unlabeled = labeled == 0
    among = flagged & unlabeled
    return {
        "alpha": truth[unlabeled].mean(),
        "beta": truth[~unlabeled].mean(),
        "auc": auc,
        "threshold": threshold,
        "flagged": int(among.sum()),
        "positives among the flagged": int(truth[among].sum()),
        "positives missed": int(truth[unlabeled & ~flagged].sum()),
        "precision, unlabeled": truth[among].mean(),
        "precision, all rows": truth[flagged].mean(),
        "recall": (truth[flagged].sum() / truth.sum()),
    }


def run(there: Path, *arguments: str) -> str:
    """What the command prints."""
    command = [sys.executable, "-m", "purecover", *arguments]
    return subprocess.run(command, cwd=there, capture_output=True, text=True, check=True).stdout


def main(folder: str, answers: str) -> None:
    """Write rows, pages and texts; then the truth."""
    known = {}
    for name, make in SETS.items():
        there = Path(folder) / name
        there.mkdir(parents=True, exist_ok=True)
        rows, options = make()
        with (there / "scores.csv").open("w", newline="") as handle:
            writer = csv.writer(handle)
            writer.writerow(["score", "labeled"])
            writer.writerows((f"{s:.4f}", y) for s, y, _ in zip(*rows, strict=True))
        command = ["evaluate", "scores.csv", *options]
        text = run(there, *command, "--html", "report.html")
        document = run(there, *command, "--json")
        (there / "report.txt").write_text(f"$ purecover {' '.join(command)}\n{text}")
        known[name] = truth_of(rows, json.loads(document)["metrics"]["threshold"])
    Path(answers).write_text(json.dumps(known, indent=2, default=float))


main(*sys.argv[1:])
