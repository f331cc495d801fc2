"""Make the figure of the README: observed and recovered ROC curve of the example scores.

Run ``python tools/make_readme_figure.py``.
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.metrics import roc_curve

import purecover as pu

ROOT = Path(__file__).parents[1]
DATA = ROOT / "src" / "purecover" / "data"
OUT = ROOT / "docs" / "_static" / "observed_vs_recovered.png"


def main() -> None:
    """Draw and save."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    score, labeled, truth = np.loadtxt(
        DATA / "example_scores.csv", delimiter=",", skiprows=1, unpack=True
    )
    alpha = json.loads((DATA / "example_scores.json").read_text(encoding="utf-8"))["alpha"]

    figure, ax = plt.subplots(figsize=(4.9, 4.6), layout="constrained")
    report = pu.evaluate(score, labeled, alpha=alpha)
    pu.RecoveredRocDisplay(report.roc, band=report.roc_band).plot(ax=ax)
    fpr, tpr, _ = roc_curve(truth, score)
    ax.plot(fpr, tpr, color="black", linewidth=0.9, label="true classes (not used)")
    ax.legend(loc="lower right")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUT, dpi=144, metadata={"Software": None})
    print(OUT.relative_to(ROOT))


if __name__ == "__main__":
    main()
