"""Make the scores that come with the package from a data set that scikit-learn ships.

The hand-written digits of ``sklearn.datasets.load_digits``; positive means odd. A random
part of the odd digits is labeled, everything else is unlabeled, and a logistic regression
learns labeled against unlabeled. Each score is out-of-fold: the model that gave it never saw
that row. The true class is kept in a third column, so that what purecover recovers without it
can be compared with it. The design (data set, classes, sizes, seed) was fixed before any
score was looked at.

Run ``python tools/make_example_scores.py``; ``--out FOLDER`` writes somewhere else.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

N_LABELED = 300
SEED = 0
FOLDER = Path(__file__).parents[1] / "src" / "purecover" / "data"


def example_scores() -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Scores, labels and true classes, one per digit."""
    X, digit = load_digits(return_X_y=True)
    truth = digit % 2 == 1
    chosen = np.random.default_rng(SEED).choice(
        np.flatnonzero(truth), size=N_LABELED, replace=False
    )
    labeled = np.zeros(truth.size, dtype=bool)
    labeled[chosen] = True
    # A tight tolerance, so that the scores do not depend on the machine's linear algebra.
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, tol=1e-10, max_iter=10_000))
    folds = StratifiedKFold(n_splits=10, shuffle=True, random_state=SEED)
    scores = cross_val_predict(model, X, labeled, cv=folds, method="decision_function")
    return scores, labeled, truth


def main() -> None:
    """Write example_scores.csv and example_scores.json."""
    parser = argparse.ArgumentParser(description="Make the example scores of purecover.")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="FOLDER")
    folder = parser.parse_args().out

    scores, labeled, truth = example_scores()
    with (folder / "example_scores.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["score", "labeled", "truth"])
        for row in zip(scores, labeled, truth, strict=True):
            writer.writerow([f"{row[0]:.6f}", int(row[1]), int(row[2])])

    n_unlabeled = int((~labeled).sum())
    about = {
        "alpha": round(float(truth[~labeled].mean()), 4),
        "beta": 1.0,
        "n_labeled": int(labeled.sum()),
        "n_unlabeled": n_unlabeled,
        "n_positive_unlabeled": int(truth[~labeled].sum()),
        "source": "sklearn.datasets.load_digits",
        "positive": "odd digits",
        "scores": "out-of-fold logistic regression, labeled against unlabeled",
        "seed": SEED,
    }
    (folder / "example_scores.json").write_text(
        json.dumps(about, indent=2) + "\n", encoding="utf-8"
    )
    print(f"alpha = {about['alpha']} ({about['n_positive_unlabeled']} of {n_unlabeled} unlabeled)")


if __name__ == "__main__":
    main()
