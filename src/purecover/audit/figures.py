"""One figure by scores and answers: its interval, and the effect of more answers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from purecover._typing import FloatArray, IntArray
from purecover._validation import unheard_repairs
from purecover.audit.answers import Outlook, Strata, interval_of, posterior_of
from purecover.audit.designs import JudgedRows, ScoredLabels
from purecover.counts import ScoreCounts
from purecover.intervals.interval import Interval
from purecover.intervals.posterior import measure_posterior
from purecover.intervals.replicates import default_resamples
from purecover.proportions import GivenProportions
from purecover.recovery.metrics import recover_both

FIGURES = ("auc", "alpha", "precision")

_FURTHER = 300
"""Rows that stand for all that can still be judged."""


class KnownFigure(NamedTuple):
    """A figure by scores and answers.

    The interval is that of a report on these answers, at the same threshold.
    """

    interval: Interval
    draws: FloatArray
    purity: FloatArray
    """Share of positives of each stratum, in each of the draws."""

    @classmethod
    def of(
        cls,
        figure: str,
        judged: JudgedRows,
        data: ScoredLabels,
        counts: ScoreCounts,
        *,
        threshold: float | None,
        level: float,
    ) -> KnownFigure:
        """Find out about a figure; precision is at the highest cut of the design."""
        strata, cut = Strata.of(judged), judged.design.cuts[0]
        known = {"judged": judged} if strata.judged.any() else {"strata": strata}
        found = posterior_of(counts, GivenProportions(), **known)
        values = found.figure(figure)
        if not strata.judged.any():  # which a report knows otherwise
            return cls(interval_of(values, level), values, found.purity_draws)
        metric = "precision" if figure == "precision" else "roc_auc"
        with unheard_repairs():
            drawn = measure_posterior(
                counts,
                recover_both(counts, found.proportions, None),
                found.knowledge,
                metrics=[metric],
                threshold=cut if figure == "precision" else threshold,
                answers=judged.answers_at(cut, data.scores),
                curves=False,
                n_resamples=default_resamples(counts),
                confidence_level=level,
                progress=False,
            )
        interval = drawn.interval("alpha" if figure == "alpha" else metric)
        return cls(interval._around(interval.estimate), values, found.purity_draws)

    def outlook(self, upcoming: IntArray, n_left: int) -> Outlook:
        """Return what more answers would do; ``upcoming`` are strata of the rows that follow."""
        sizes = np.bincount(upcoming[:_FURTHER], minlength=self.purity.shape[1])
        share = self.purity @ sizes / max(sizes.sum(), 1)
        return Outlook.of(self.draws, share, n_left, self.interval.confidence_level)
