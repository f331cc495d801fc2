"""What the estimators share that take the least ratio of shares above a threshold."""

from __future__ import annotations

import numpy as np
import pytest

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators.bbe import BBE
from purecover.estimators.roc_slope import RocSlope
from purecover.estimators.samples import common_notes

both = pytest.mark.parametrize("estimator", [BBE(), RocSlope()])


@both
def test_error_shrinks_where_the_top_is_pure(estimator):
    world = simulate.binormal(3)
    errors = []
    for n in (100, 1000, 10_000):
        samples = (world.sample(n, 5 * n, alpha=0.25, random_state=i) for i in range(10))
        found = [estimator.fit(s.scores, s.labeled).proportions_.alpha for s in samples]
        errors.append(np.mean(np.abs(np.subtract(found, 0.25))))
    assert errors[2] < 0.7 * errors[1] < 0.7 * errors[0]
    assert errors[2] < 0.02


@both
def test_depends_on_the_order_of_the_scores_only(estimator):
    sample = simulate.binormal(2).sample(200, 1000, alpha=0.4, random_state=1)
    plain = estimator.fit(sample.scores, sample.labeled).proportions_.alpha
    for mapped in (np.exp(sample.scores), np.arctan(sample.scores), 1e-9 * sample.scores - 5):
        assert estimator.fit(mapped, sample.labeled).proportions_.alpha == plain


@pytest.mark.parametrize(("shift", "spoken"), [(-1, True), (0, True), (1, False)])
def test_scores_without_skill_are_told(shift, spoken):
    # Ten labeled amid forty unlabeled ones: half of all pairs are in order, or a few more or less.
    scores = np.concatenate((np.full(10, 20.0 + shift), np.arange(40) + 0.5))
    counts = ScoreCounts.from_scores(scores, np.arange(50) < 10)
    assert counts.ordered_pairs == 10 * (20 + shift)
    notes = common_notes(counts)
    assert any("AUC at most 1/2" in note for note in notes) == spoken
    assert any("only 10 labeled and 40 unlabeled" in note for note in notes)
