r"""`Stories`: labels at random and labels that people gave, weighed by the verdicts.

If nobody knows how the labels came about, both stories are possible, and the verdicts move their
odds by what they were to be expected under each:

.. math:: \frac{P(\text{people} \mid V)}{P(\text{random} \mid V)}
    = \frac{P(\text{people})}{P(\text{random})} \cdot \frac{P(V \mid \text{people})}
    {P(V \mid \text{random})}.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

from purecover._typing import FloatArray
from purecover.posterior.draws import Posterior, Verdicts

Story = Callable[[Sequence[Verdicts]], Posterior]
"""Draws given verdicts: the same random numbers for the same story, whatever the verdicts."""


@dataclass(frozen=True, eq=False)
class Stories:
    """Draws of both stories, and the weight of the second.

    Attributes
    ----------
    random : Posterior
        Draws if labels went to positives at random.
    people : Posterior
        Draws if people chose what to label.
    weight : float
        Probability that people chose.
    """

    random: Posterior
    people: Posterior
    weight: float

    @classmethod
    def of(
        cls, random: Story, people: Story, verdicts: Sequence[Verdicts], before: float = 0.5
    ) -> Stories:
        """Draw from both and weigh them by the verdicts.

        Ranges of alpha and beta, which the stories have, move no weights. ``before`` is the
        probability of people's labels before the verdicts.
        """
        told = [story(verdicts) for story in (random, people)]
        if not verdicts:
            return cls(told[0], told[1], before)
        untold = [story(()) for story in (random, people)]
        likely = [
            with_them.log_evidence - without.log_evidence
            for with_them, without in zip(told, untold, strict=True)
        ]
        return cls(told[0], told[1], float(expit(logit(before) + likely[1] - likely[0])))

    @cached_property
    def mixed(self) -> Posterior:
        """Draws of both, as many of each as it weighs."""
        n = len(self.random.shares)
        n_people = round(self.weight * n)
        sizes = n - n_people, n_people
        parts = list(zip((self.random, self.people), sizes, strict=True))

        def both(field: str) -> FloatArray:
            return np.concatenate([_some(getattr(story, field), size) for story, size in parts])

        return Posterior(
            ratio=self.random.ratio,
            unlabeled=both("unlabeled"),
            positive=both("positive"),
            like_labeled=both("like_labeled"),
            wrong=both("wrong"),
            shares=both("shares"),
            spread=both("spread"),
            chosen=both("chosen").astype(np.int64),
            n_effective=sum(story.n_effective * size for story, size in parts) / n,
            labels=np.concatenate(
                [_some(np.diff(story.rates[1], axis=1), size) for story, size in parts]
            ),
        )


def _some(draws: FloatArray, n: int) -> FloatArray:
    """Take n draws, evenly."""
    return draws[((np.arange(n) + 0.5) / max(n, 1) * len(draws)).astype(np.int64)]
