from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import two_samples

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators.bbe import BBE
from purecover.estimators.samples import flipped_counts
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError

LABELED = [0.9, 0.8, 0.8, 0.6, 0.3]
UNLABELED = [0.9, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05]


def slow_bbe(labeled, unlabeled, error=0.1, gamma=0.01):
    """A loop over all scores, straight from the definition."""
    labeled, unlabeled = np.asarray(labeled), np.asarray(unlabeled)
    constant = (1 + gamma) * sum(
        np.sqrt(np.log(4 / error) / (2 * sample.size)) for sample in (labeled, unlabeled)
    )
    best, ratio = np.inf, np.nan
    for t in sorted({*labeled, *unlabeled}, reverse=True):
        q_labeled, q_unlabeled = (labeled >= t).mean(), (unlabeled >= t).mean()
        if q_labeled > 0 and (q_unlabeled + constant) / q_labeled < best - 1e-12:
            best, ratio = (q_unlabeled + constant) / q_labeled, q_unlabeled / q_labeled
    return ratio


def test_worked_example():
    estimator = BBE().fit(*two_samples(LABELED, UNLABELED))
    assert estimator.proportions_.alpha == pytest.approx(0.7)
    assert estimator.proportions_.beta == 1
    assert estimator.diagnostics_["threshold"] == 0.3
    assert estimator.diagnostics_["penalty"] == pytest.approx(1.0471992, abs=1e-7)
    assert estimator.diagnostics_["labeled_above"] == 1
    assert any("lean high" in note for note in estimator.diagnostics_["notes"])


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=30),
    st.lists(st.integers(0, 12), min_size=1, max_size=60),
    st.floats(0.001, 0.9),
)
def test_equals_a_loop_over_all_scores(labeled, unlabeled, error):
    counts = ScoreCounts.from_scores(*two_samples(labeled, unlabeled))
    found = BBE(error=error)._estimate(counts).a
    assert found == pytest.approx(slow_bbe(labeled, unlabeled, error), abs=1e-9)


def test_leans_high_with_few_labeled_examples():
    # The penalty of 100 labeled examples moves the threshold down among the negatives.
    world = simulate.binormal(1)
    samples = [world.sample(100, 1000, alpha=0.25, random_state=i) for i in range(20)]
    found = [BBE().fit(s.scores, s.labeled) for s in samples]
    assert np.mean([e.proportions_.alpha for e in found]) > 0.25 + 0.15
    assert np.mean([e.diagnostics_["labeled_above"] for e in found]) > 0.5


def test_replicates_equal_fits_one_by_one():
    sample = simulate.binormal(2).sample(80, 300, alpha=0.4, random_state=1)
    counts, rng = sample.counts, np.random.default_rng(0)
    labeled = rng.multinomial(80, counts.labeled / 80, 20)
    unlabeled = rng.multinomial(300, counts.unlabeled / 300, 20)
    labeled[3:6] //= 2  # of another size, as m out of n have
    found = BBE()._estimate_many(counts, labeled, unlabeled)
    for row, few, many in zip(found, labeled, unlabeled, strict=True):
        used = (few > 0) | (many > 0)
        alone = ScoreCounts.from_counts(counts.thresholds[used], few[used], many[used])
        assert row[0] == pytest.approx(BBE()._estimate(alone).a, rel=1e-12)
        assert row[1] == 0


def test_flipped_replicates_equal_flipped_fits():
    counts = simulate.binormal(2).sample(80, 300, alpha=0.4, beta=0.9, random_state=1).counts
    found = BBE()._estimate_many_flipped(counts, counts.labeled[None], counts.unlabeled[None])
    assert found[0, 0] == BBE()._estimate(flipped_counts(counts)).a


def test_weights():
    sample = simulate.binormal(2).sample(200, 1000, alpha=0.4, random_state=1)
    plain = BBE().fit(sample.scores, sample.labeled)
    # Equal weights say nothing, whatever they are.
    for weight in (1.0, 2.0, 0.01):
        same = np.full(sample.scores.size, weight)
        weighted = BBE().fit(sample.scores, sample.labeled, sample_weight=same)
        assert weighted.proportions_.alpha == pytest.approx(plain.proportions_.alpha, rel=1e-9)
        assert weighted.diagnostics_["penalty"] == pytest.approx(plain.diagnostics_["penalty"])
    # Weights move shares as repeated rows do; the penalty follows the effective size.
    repeats = np.random.default_rng(0).integers(1, 4, sample.scores.size)
    weighted = BBE().fit(sample.scores, sample.labeled, sample_weight=repeats)
    cut = weighted.diagnostics_["threshold"]
    rows = np.repeat(np.arange(repeats.size), repeats)
    scores, labeled = sample.scores[rows], sample.labeled[rows]
    ratio = (scores[~labeled] >= cut).mean() / (scores[labeled] >= cut).mean()
    assert weighted.proportions_.alpha == pytest.approx(ratio)


def test_extremes():
    # Perfect separation: nothing unlabeled among the positives.
    separated = BBE().fit(*two_samples([3, 4, 5] * 10, [0, 1, 2] * 20))
    assert separated.proportions_.alpha == 0
    assert separated.diagnostics_["at_edge"]
    assert any("alpha = 0" in note for note in separated.diagnostics_["notes"])
    with pytest.raises(IdentifiabilityError, match="constant score"):
        BBE().fit(*two_samples([1] * 10, [1] * 20))
    with pytest.raises(IdentifiabilityError, match="larger for positives"):
        BBE().fit(*two_samples([0, 1, 2] * 10, [3, 4, 5] * 20))
    no_positives = simulate.binormal(3).sample(500, 5000, alpha=0, random_state=0)
    found = BBE().fit(no_positives.scores, no_positives.labeled)
    assert 0 <= found.proportions_.alpha < 0.05
    ten = simulate.binormal(3).sample(10, 200, alpha=0.3, random_state=0)
    assert 0 <= BBE().fit(ten.scores, ten.labeled).proportions_.alpha < 1


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"error": 0}, InvalidInputError),
        ({"error": 1.0}, InvalidInputError),
        ({"error": "x"}, InvalidTypeError),
        ({"gamma": -0.1}, InvalidInputError),
        ({"gamma": None}, InvalidTypeError),
    ],
)
def test_bad_parameters(parameters, error):
    (parameter,) = parameters
    with pytest.raises(error, match=f"'{parameter}' parameter of BBE"):
        BBE(**parameters).fit(*two_samples(LABELED, UNLABELED))
