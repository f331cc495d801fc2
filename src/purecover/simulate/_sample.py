"""Samples of a world: what a user would see, and the truth beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from purecover._typing import BoolArray, FloatArray
from purecover._validation import read_only
from purecover.counts import ScoreCounts
from purecover.proportions import MixtureProportions

if TYPE_CHECKING:
    from purecover.simulate._world import World


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """Scores with their labels, their hidden classes and where they came from.

    Attributes
    ----------
    scores : ndarray of float
        Score per example.
    labeled : ndarray of bool
        True where the example carries the positive label.
    truth : ndarray of bool
        True where the example is positive; a user would not see this.
    proportions : MixtureProportions
        The shares of positives the sample was drawn with, and the scenario.
    world : World
        The world the scores were drawn from.
    """

    scores: FloatArray
    labeled: BoolArray
    truth: BoolArray
    proportions: MixtureProportions
    world: World

    def __post_init__(self) -> None:
        for array in (self.scores, self.labeled, self.truth):
            read_only(array)

    @property
    def counts(self) -> ScoreCounts:
        """The sufficient statistic of the sample."""
        return ScoreCounts.from_scores(self.scores, self.labeled)

    @property
    def realized_alpha(self) -> float:
        """Share of positives among the unlabeled that were drawn; NaN if there are none."""
        return _share(self.truth[~self.labeled])

    @property
    def realized_beta(self) -> float:
        """Share of positives among the labeled that were drawn; NaN if there are none."""
        return _share(self.truth[self.labeled])

    def __len__(self) -> int:
        return int(self.scores.size)

    def __repr__(self) -> str:
        n_labeled = int(self.labeled.sum())
        return (
            f"Sample({self.world.name}, {n_labeled} labeled, {len(self) - n_labeled} unlabeled, "
            f"alpha={self.proportions.alpha:.4g}, beta={self.proportions.beta:.4g}, "
            f"{self.proportions.scenario})"
        )


def _share(truth: BoolArray) -> float:
    return float(truth.mean()) if truth.size else float("nan")
