"""Alpha of later samples from labels drawn once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purecover as pu
from purecover.exceptions import IdentifiabilityError, InvalidInputError, RecoveryWarning
from purecover_paper.systems import Quantifier

WORLD = pu.simulate.binormal(2.0)


@pytest.mark.parametrize("beta", [1.0, 0.85])
def test_later_samples_are_read_with_honest_intervals(beta: float) -> None:
    first = WORLD.sample(1000, 4000, alpha=0.3, beta=beta, random_state=0)
    quantifier = Quantifier(alpha=0.3, beta=beta).fit(first.scores, first.labeled)
    errors, held = [], []
    for seed, share in enumerate(np.linspace(0, 0.97, 30)):
        later = WORLD.sample(1, 800, alpha=share, random_state=seed)
        found = quantifier.quantify(later.scores[~later.labeled])
        errors.append(found.estimate - share)
        held.append(share in found)
    assert np.abs(errors).mean() < 0.03
    assert np.mean(held) >= 0.9
    # The unlabeled that it was fitted on have the alpha that it was told.
    assert quantifier.quantify(first.scores[~first.labeled]).estimate == pytest.approx(0.3)


@pytest.mark.filterwarnings("ignore::purecover.exceptions.RecoveryWarning")
@pytest.mark.parametrize("estimator", [None, pu.estimators.BBE()])
@pytest.mark.parametrize(("apart", "alpha"), [(2.0, 0.3), (12.0, 0.0), (2.0, 0.9)])
def test_odd_replicates_say_nothing(estimator: Any, apart: float, alpha: float) -> None:
    """Labels that are sure, classes that are apart, replicates whose samples do not differ."""
    rng = np.random.default_rng(3)
    labeled = np.arange(1000) < 200
    positive = labeled | (rng.random(1000) < alpha)
    samples = rng.normal(size=(2, 200))
    for beta in (None, 1.0):
        quantifier = Quantifier(estimator=estimator, beta=beta, n_resamples=100)
        quantifier.fit(rng.normal(size=1000) + apart * positive, labeled)
        for found in map(quantifier.quantify, samples):
            assert 0 <= found.low <= found.estimate <= found.high <= 1


def test_what_says_nothing_is_refused() -> None:
    first = WORLD.sample(300, 1000, alpha=0.3, random_state=0)
    with pytest.raises(IdentifiabilityError, match="than chance"):
        Quantifier(alpha=0.3).fit(-first.scores, first.labeled)
    quantifier = Quantifier(alpha=0.3).fit(first.scores, first.labeled)
    with pytest.raises(InvalidInputError, match="at least 50 scores, got 49"):
        quantifier.quantify(np.arange(49.0))
    with pytest.raises(IdentifiabilityError, match="cannot be"):
        Quantifier(alpha=0.95).fit(first.scores, first.labeled)
    for strange in (1 / (1 + np.exp(-first.scores)), 1000 + first.scores, -first.scores):
        with pytest.warns(RecoveryWarning, match="like no mixture"):
            quantifier.quantify(strange)
    # Rows that agree by chance leave an error.
    with pytest.warns(RecoveryWarning, match="like no mixture"):
        found = quantifier.quantify(np.ones(50))
    assert found.high - found.low > 0.1
