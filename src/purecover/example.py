"""The example that comes with the package: real scores whose truth is known."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from purecover._typing import BoolArray, FloatArray
from purecover._validation import Frozen

__all__ = ["ExampleScores", "load_example"]

_FOLDER = files("purecover") / "data"


@dataclass(frozen=True, kw_only=True, eq=False)
class ExampleScores(Frozen):
    """Scores with their labels and the truth.

    Attributes
    ----------
    scores : ndarray of float
        Score per example.
    labeled : ndarray of bool
        True where the example carries the positive label.
    truth : ndarray of bool
        True where the example is positive, which nobody knows of real data.
    alpha : float
        Share of positives among the unlabeled, counted from ``truth``.

    See Also
    --------
    load_example : Returns it.
    """

    scores: FloatArray
    labeled: BoolArray
    truth: BoolArray
    alpha: float

    def __len__(self) -> int:
        return int(self.scores.size)

    def __repr__(self) -> str:
        n_labeled = int(self.labeled.sum())
        return (
            f"ExampleScores({n_labeled:,} labeled, {len(self) - n_labeled:,} unlabeled, "
            f"alpha={self.alpha:.4g})"
        )


def load_example() -> ExampleScores:
    """Real scores to try things on: 1,797 hand-written digits, 300 of the odd ones labeled.

    Odd digits are positive. Of the 906 odd ones 300 drawn at random are labeled; all other
    digits, odd and even, are unlabeled. The scores are those of a logistic regression of labeled
    against unlabeled, each from a model that had not seen the row.

    Returns
    -------
    ExampleScores
        Scores, labels, the truth, and the share of positives among the unlabeled.

    Notes
    -----
    The digits are those of scikit-learn. ``purecover example`` writes the same as a CSV file.

    See Also
    --------
    ExampleScores : What is returned.
    evaluate : What to do with it.

    Examples
    --------
    >>> import purecover as pu
    >>> example = pu.load_example()
    >>> example
    ExampleScores(300 labeled, 1,497 unlabeled, alpha=0.4048)
    >>> unlabeled = ~example.labeled
    >>> round(float(example.truth[unlabeled].mean()), 4)
    0.4048
    """
    text = (_FOLDER / "example_scores.csv").read_bytes()
    rows = np.loadtxt(io.BytesIO(text), delimiter=",", skiprows=1)
    about = json.loads((_FOLDER / "example_scores.json").read_text(encoding="utf-8"))
    return ExampleScores(
        scores=rows[:, 0].copy(),
        labeled=rows[:, 1] == 1,
        truth=rows[:, 2] == 1,
        alpha=float(about["alpha"]),
    )
