"""Seeds of models: whole numbers of any kind, generators, and NumPy's older RandomState."""

from __future__ import annotations

import numbers

import numpy as np

from purecover._typing import RandomState
from purecover._validation import check_random_state

__all__ = ["check_seed", "seeds_of"]


def check_seed(
    function: str, random_state: RandomState | np.random.RandomState
) -> int | np.random.Generator:
    """A seed itself, so that all it is handed to draw the same, or else a generator."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4).tolist())
    rng = check_random_state(function, random_state)
    whole: object = random_state  # NumPy's integers are not in the type
    return int(whole) if isinstance(whole, numbers.Integral) else rng


def seeds_of(
    function: str, random_state: RandomState | np.random.RandomState, size: int
) -> list[np.random.SeedSequence]:
    """A stream for each of several networks or ensembles."""
    seed = check_seed(function, random_state)
    if isinstance(seed, np.random.Generator):
        return np.random.SeedSequence(seed.integers(2**63, size=2).tolist()).spawn(size)
    return np.random.SeedSequence(seed).spawn(size)
