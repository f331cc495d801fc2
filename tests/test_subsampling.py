from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.prior_dummies import FixedNoisy, TopRatio

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators.bbe import BBE
from purecover.estimators.samples import flipped_counts
from purecover.estimators.wrappers import MedianEnsemble, Subsampling, _ratio
from purecover.exceptions import InvalidInputError, InvalidTypeError


def slow_ratio(counts):
    """Pool adjacent violators, straight from the definition."""
    labeled = counts.labeled / counts.n_labeled
    unlabeled = counts.unlabeled / counts.n_unlabeled
    blocks: list[list[float]] = []
    for pair in zip(labeled, unlabeled, strict=True):
        if sum(pair) == 0:
            continue
        blocks.append([*pair, 1])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] < blocks[-1][0] * blocks[-2][1]:
            last = blocks.pop()
            blocks[-1] = [a + b for a, b in zip(blocks[-1], last, strict=True)]
    return [block[0] / max(block[1], 1e-300) for block in blocks for _ in range(int(block[2]))]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=2, max_size=20))
def test_ratio_is_isotonic(pairs):
    labeled, unlabeled = zip(*pairs, strict=True)
    if not any(labeled):
        return
    counts = ScoreCounts.from_counts(np.arange(len(pairs), 0, -1), labeled, unlabeled)
    assert _ratio(counts) == pytest.approx(slow_ratio(counts), rel=1e-9, abs=1e-9)


def test_by_hand():
    # Ratios of labeled to unlabeled 2, 1, 0: the inclusion is 1/2, the chance of a positive q
    # at the top and q/2 below it.
    counts = ScoreCounts.from_counts([3, 2, 1], [400, 600, 0], [200, 600, 200])
    estimator = Subsampling(TopRatio(), ceiling=0.6).fit(counts)
    found = estimator.diagnostics_
    assert found["unadjusted"] == pytest.approx(0.5)
    accepted = [200 * 0.6, 600 * (1 - 0.4 / 2), 200]
    assert found["acceptance_rate"] == pytest.approx(sum(accepted) / 1000)
    assert estimator.proportions_.alpha == pytest.approx(0.6 * 0.5)


@given(st.floats(0.05, 1.0), st.floats(0.05, 0.9))
def test_limit_in_large_samples(ceiling, inclusion):
    counts = ScoreCounts.from_counts([2, 1], [5e5, 5e5], [5e5 * inclusion, 1e6 - 5e5 * inclusion])
    found = Subsampling(TopRatio(), ceiling=ceiling)._estimate(counts).a
    assert found == pytest.approx(ceiling * inclusion, rel=1e-9)


def alphas(estimator, world, *, n=(1000, 5000), alpha=0.25, seeds=5):
    samples = (world.sample(*n, alpha=alpha, random_state=i) for i in range(seeds))
    return np.mean([estimator.fit(s.scores, s.labeled).proportions_.alpha for s in samples])


@pytest.mark.parametrize("inner", [BBE(), MedianEnsemble()], ids=["bbe", "median"])
def test_the_right_ceiling_makes_it_right(inner):
    world = simulate.laplace(1)
    # What the highest scores are: alpha f1 / f, which is largest where f0/f1 is smallest.
    ceiling = 0.25 / (0.25 + 0.75 * world.positive_inclusion)
    assert alphas(inner, world) > 0.25 + 0.2
    assert alphas(Subsampling(inner, ceiling=ceiling), world) == pytest.approx(0.25, abs=0.03)


def test_a_wrong_ceiling_makes_it_wrong():
    world = simulate.binormal(4)  # the highest scores are pure
    assert alphas(BBE(), world) == pytest.approx(0.25, abs=0.02)
    found = alphas(Subsampling(BBE(), ceiling=0.6), world)
    assert found == pytest.approx(0.6 * 0.25, abs=0.02)


def test_without_a_ceiling_nothing_changes():
    counts = simulate.binormal(2).sample(200, 800, alpha=0.3, random_state=0).counts
    found = Subsampling(BBE()).fit(counts)
    assert found.proportions_.alpha == BBE().fit(counts).proportions_.alpha
    assert found.diagnostics_["acceptance_rate"] == 1
    assert any("nothing was rejected" in note for note in found.diagnostics_["notes"])


@pytest.mark.parametrize("ceiling", [0.7, 1.0])
def test_roles_exchanged(ceiling):
    counts = simulate.binormal(2).sample(200, 500, alpha=0.3, beta=0.9, random_state=0).counts
    estimator = Subsampling(BBE(), ceiling=ceiling)
    direct = estimator._estimate(flipped_counts(counts)).a
    assert estimator._estimate_flipped(counts).a == pytest.approx(direct, rel=1e-12)
    many = estimator._estimate_many_flipped(counts, counts.labeled[None], counts.unlabeled[None])
    assert many[0] == pytest.approx([direct, 0.0])


@pytest.mark.parametrize("ceiling", [0.7, 1.0])
def test_replicates(ceiling):
    counts = simulate.binormal(2).sample(200, 800, alpha=0.4, random_state=1).counts
    rng = np.random.default_rng(0)
    labeled = rng.multinomial(200, counts.labeled / 200, 10)
    unlabeled = rng.multinomial(800, counts.unlabeled / 800, 10)
    labeled[0], unlabeled[0] = counts.labeled, counts.unlabeled
    estimator = Subsampling(BBE(), ceiling=ceiling)
    found = estimator._estimate_many(counts, labeled, unlabeled)
    assert found[0] == pytest.approx([estimator._estimate(counts).a, 0.0])
    for row, few, many in zip(found, labeled, unlabeled, strict=True):
        alone = ScoreCounts(thresholds=counts.thresholds, labeled=few, unlabeled=many)
        # Replicates keep the acceptance of the data.
        assert row[0] == pytest.approx(estimator._estimate(alone).a, abs=0.02)


def test_weights():
    sample = simulate.binormal(2).sample(100, 300, alpha=0.4, random_state=1)
    twice = ScoreCounts.from_scores(sample.scores, sample.labeled, sample_weight=np.full(400, 2.0))
    estimator = Subsampling(BBE(), ceiling=0.7)
    plain = estimator._estimate(sample.counts).a
    assert estimator._estimate(twice).a == pytest.approx(plain, abs=0.01)


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"ceiling": 0}, InvalidInputError, "'ceiling' parameter of Subsampling"),
        ({"ceiling": 1.1}, InvalidInputError, "'ceiling' parameter of Subsampling"),
        ({"ceiling": None}, InvalidTypeError, "'ceiling' parameter of Subsampling"),
        ({"estimator": BBE}, InvalidTypeError, "this is the class"),
        ({"estimator": FixedNoisy()}, InvalidInputError, r"NoisyLabels\(Subsampling\(\)\)"),
    ],
)
def test_bad_parameters(parameters, error, words):
    with pytest.raises(error, match=words):
        Subsampling(**parameters).fit([1, 2, 3, 4], [0, 0, 1, 1])
