"""Alpha of later samples from labels drawn once."""

from __future__ import annotations

import numpy as np
import pytest

import purecover as pu
from purecover.estimators import Quantifier
from purecover.exceptions import (
    IdentifiabilityError,
    InvalidInputError,
    InvalidTypeError,
    RecoveryWarning,
)

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


@pytest.mark.slow
def test_samples_together_tell_how_small_alpha_cannot_be() -> None:
    world, shares = pu.simulate.binormal(3.0), np.linspace(0, 0.95, 11)
    later = [world.sample(1, 800, alpha=share, random_state=i) for i, share in enumerate(shares)]
    samples = [each.scores[~each.labeled] for each in later]
    apart = []
    for seed in range(3):
        first = world.sample(1000, 4000, alpha=0.3, random_state=seed)
        quantifier = Quantifier().fit(first.scores, first.labeled)
        each, together = (
            [quantifier.quantify(s) for s in samples],
            quantifier.quantify_many(samples),
        )
        apart += [
            [abs(found.estimate - share) for found in (alone, joint)]
            for alone, joint, share in zip(each, together, shares, strict=True)
        ]
        assert all(found.low <= found.estimate <= found.high for found in together)
        assert quantifier.quantify_many(samples[3:4]) == each[3:4]
    alone, joint = np.mean(apart, axis=0)
    assert joint < min(alone, 0.02)
    told = Quantifier(alpha=0.3).fit(first.scores, first.labeled)
    assert told.quantify_many(samples) == [told.quantify(sample) for sample in samples]


@pytest.mark.filterwarnings("ignore::purecover.exceptions.RecoveryWarning")
@pytest.mark.parametrize("name", [None, "label-curve", "elkan-noto"])
@pytest.mark.parametrize(("apart", "alpha"), [(2.0, 0.3), (12.0, 0.0), (2.0, 0.9)])
def test_odd_replicates_say_nothing(name: str | None, apart: float, alpha: float) -> None:
    """Labels that are sure, classes that are apart, replicates whose samples do not differ."""
    rng = np.random.default_rng(3)
    labeled = np.arange(1000) < 200
    positive = labeled | (rng.random(1000) < alpha)
    samples = rng.normal(size=(2, 200))
    for beta in (None, 1.0):
        quantifier = Quantifier(estimator=name, beta=beta, n_resamples=100)
        quantifier.fit(rng.normal(size=1000) + apart * positive, labeled)
        for found in quantifier.quantify_many(samples):
            assert 0 <= found.low <= found.estimate <= found.high <= 1


def test_it_must_be_fitted() -> None:
    with pytest.raises(InvalidInputError, match="fit"):
        Quantifier(alpha=0.3).quantify([0.1, 0.2])
    with pytest.raises(InvalidInputError, match="quantify_many needs a fitted"):
        Quantifier(alpha=0.3).quantify_many([])
    with pytest.raises(InvalidInputError, match="'estimator'"):
        Quantifier(alpha=0.3, estimator="bbe")


def test_what_says_nothing_is_refused() -> None:
    first = WORLD.sample(300, 1000, alpha=0.3, random_state=0)
    with pytest.raises(IdentifiabilityError, match="negate"):
        Quantifier(alpha=0.3).fit(-first.scores, first.labeled)
    quantifier = Quantifier(alpha=0.3).fit(first.scores, first.labeled)
    with pytest.raises(InvalidInputError, match="at least 50 scores, got 49"):
        quantifier.quantify(np.arange(49.0))
    with pytest.raises(InvalidTypeError, match=r"'samples' parameter of Quantifier\.quantify"):
        quantifier.quantify_many(5)  # type: ignore[arg-type]
    with pytest.raises(IdentifiabilityError, match="contradict these scores"):
        Quantifier(alpha=0.95).fit(first.scores, first.labeled)
    for strange in (1 / (1 + np.exp(-first.scores)), 1000 + first.scores, -first.scores):
        with pytest.warns(RecoveryWarning, match="like no mixture"):
            quantifier.quantify(strange)
    # Rows that agree by chance leave an error.
    with pytest.warns(RecoveryWarning, match="like no mixture"):
        found = quantifier.quantify(np.ones(50))
    assert found.high - found.low > 0.1
