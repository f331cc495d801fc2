"""Write every display to a PNG file, to be looked at.

Run ``python tools/look_at_displays.py FOLDER``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

import matplotlib.pyplot as plt

from purecover import simulate
from purecover.displays import (
    AlphaMaxDisplay,
    PriorsDisplay,
    RecoveredPrDisplay,
    RecoveredRocDisplay,
    SensitivityDisplay,
    ThresholdDisplay,
)

ALPHA, BETA = 0.25, 0.9
SAMPLE = simulate.binormal(2.0).sample(500, 4000, alpha=ALPHA, beta=BETA, random_state=1)
SMALL = simulate.binormal(1.5).sample(30, 100, alpha=0.1, random_state=2)
WORSE = simulate.binormal(1.0).sample(500, 4000, alpha=ALPHA, beta=BETA, random_state=3)
HUGE = simulate.binormal(2.0).sample(100_000, 1_000_000, alpha=ALPHA, beta=BETA, random_state=4)


def made_up_band(x: Any, y: Any) -> Any:
    """A band of believable width around a curve; no statistics in it."""
    grid = np.linspace(0, 1, 101)
    middle = np.interp(grid, x, y)
    half = 0.015 + 0.09 * np.sqrt(np.maximum(middle * (1 - middle), 0))
    return SimpleNamespace(
        x=grid,
        low=np.clip(middle - half, 0, 1),
        high=np.clip(middle + half, 0, 1),
        confidence_level=0.95,
        kind="simultaneous",
    )


def roc() -> None:
    """ROC curve with a band."""
    display = RecoveredRocDisplay.from_predictions(SAMPLE.counts, alpha=ALPHA, beta=BETA)
    plt.close("all")
    RecoveredRocDisplay(display.roc, band=made_up_band(display.roc.fpr, display.roc.tpr)).plot()


def roc_small() -> None:
    """A small sample: coarse steps, and a direct AUC that differs."""
    RecoveredRocDisplay.from_predictions(SMALL.counts, alpha=0.1, repair="paper")


def roc_raw() -> None:
    """No repair: rates leave the box."""
    RecoveredRocDisplay.from_predictions(SMALL.counts, alpha=0.3, repair="none")


def roc_two_models() -> None:
    """Two models in one set of axes."""
    first = RecoveredRocDisplay.from_predictions(
        SAMPLE.counts, alpha=ALPHA, beta=BETA, name="forest"
    )
    RecoveredRocDisplay.from_predictions(
        WORSE.counts, alpha=ALPHA, beta=BETA, name="logistic", ax=first.ax_, despine=True
    )


def roc_huge() -> None:
    """A million thresholds."""
    RecoveredRocDisplay.from_predictions(HUGE.counts, alpha=ALPHA, beta=BETA)


def pr() -> None:
    """Precision-recall curve with a band."""
    display = RecoveredPrDisplay.from_predictions(SAMPLE.counts, alpha=ALPHA, beta=BETA)
    plt.close("all")
    RecoveredPrDisplay(
        display.pr, band=made_up_band(display.pr.recall, display.pr.precision)
    ).plot()


def pr_rare() -> None:
    """A rare class."""
    RecoveredPrDisplay.from_predictions(SAMPLE.counts, alpha=0.005, beta=BETA)


def pr_small() -> None:
    """A small sample: long segments, which are bent."""
    RecoveredPrDisplay.from_predictions(SMALL.counts, alpha=0.1, repair="paper")


def pr_two_models() -> None:
    """Two models in one set of axes."""
    first = RecoveredPrDisplay.from_predictions(
        SAMPLE.counts, alpha=ALPHA, beta=BETA, name="forest"
    )
    RecoveredPrDisplay.from_predictions(
        WORSE.counts, alpha=ALPHA, beta=BETA, name="logistic", ax=first.ax_
    )


def pr_steps() -> None:
    """The steps of average precision."""
    RecoveredPrDisplay.from_predictions(SMALL.counts, alpha=0.1, area="average-precision")


def threshold() -> None:
    """Metrics against the threshold."""
    ThresholdDisplay.from_predictions(SAMPLE.counts, alpha=ALPHA, beta=BETA, criterion="f1")


def threshold_flagged() -> None:
    """Metrics against the share flagged."""
    ThresholdDisplay.from_predictions(
        SAMPLE.counts,
        alpha=ALPHA,
        beta=BETA,
        against="flagged",
        criterion="precision",
        value=0.8,
        despine=True,
    )


def threshold_small() -> None:
    """Metrics against the threshold, few scores, many metrics."""
    ThresholdDisplay.from_predictions(
        SMALL.counts,
        alpha=0.1,
        threshold=1.0,
        metrics=["precision", "recall", "specificity", "f1", "mcc", "accuracy", "youden"],
    )


def sensitivity_auc() -> None:
    """The AUC over all alpha and beta."""
    SensitivityDisplay.from_predictions(SAMPLE.counts, alpha=ALPHA, beta=BETA)


def sensitivity_precision() -> None:
    """Precision at a threshold over a part of the square."""
    SensitivityDisplay.from_predictions(
        SAMPLE.counts,
        alpha=ALPHA,
        beta=BETA,
        metric="precision",
        alphas=np.linspace(0.05, 0.45, 17),
        betas=np.linspace(0.6, 1, 17),
        threshold=1.5,
    )


def sensitivity_curve() -> None:
    """Clean labels: a curve over alpha."""
    SensitivityDisplay.from_predictions(WORSE.counts, alpha=ALPHA, betas=1.0)


def sensitivity_beta() -> None:
    """Alpha fixed: a curve over beta."""
    SensitivityDisplay.from_predictions(
        SAMPLE.counts, alpha=ALPHA, beta=BETA, alphas=ALPHA, name="forest"
    )


def priors() -> None:
    """All estimators, with intervals."""
    PriorsDisplay.from_predictions(SAMPLE.counts, n_resamples=50)


def alphamax() -> None:
    """The likelihood of AlphaMax, and where it leaves its plateau."""
    AlphaMaxDisplay.from_predictions(SAMPLE.counts)


PICTURES: tuple[Callable[[], None], ...] = (
    roc,
    roc_small,
    roc_raw,
    roc_two_models,
    roc_huge,
    pr,
    pr_rare,
    pr_small,
    pr_two_models,
    pr_steps,
    threshold,
    threshold_flagged,
    threshold_small,
    sensitivity_auc,
    sensitivity_precision,
    sensitivity_curve,
    sensitivity_beta,
    priors,
    alphamax,
)


def main() -> None:
    """Draw all, or those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("only", nargs="*", help="names of pictures; all by default")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for picture in PICTURES:
        if arguments.only and picture.__name__ not in arguments.only:
            continue
        picture()
        path = arguments.folder / f"{picture.__name__}.png"
        plt.gcf().savefig(path, dpi=110)
        plt.close("all")
        print(path)


if __name__ == "__main__":
    main()
