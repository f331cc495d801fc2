"""Regrouping: copies by hand, limits in large samples, roles exchanged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.prior_dummies import TopRatio

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators.base import Inclusions, PriorEstimator
from purecover.estimators.bbe import BBE
from purecover_paper.systems import DEDPUL, Regrouping, RocSlope


class Seen(PriorEstimator):
    """Shows the labeled counts it was given."""

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        shown = {"labeled": counts.labeled.tolist(), "unlabeled": counts.unlabeled.tolist()}
        return Inclusions(0.5, details=shown)


def test_copies_the_highest_unlabeled_scores():
    # 10 labeled, 10 unlabeled: a fifth of the unlabeled is both at 5 and a part of those at 4.
    counts = ScoreCounts.from_counts([5, 4, 3, 2], [4, 3, 2, 1], [1, 4, 2, 3])
    found = Regrouping(Seen(), share=0.2).fit(counts).diagnostics_
    assert found["run"] == {"labeled": [5, 4, 2, 1], "unlabeled": [1, 4, 2, 3]}
    assert found["copied"] == pytest.approx(2 / 12)
    assert any("alpha is lowered" in note for note in found["notes"])


@given(st.floats(0.05, 0.95), st.floats(0.01, 0.3), st.integers(1, 20))
def test_regrouping_limit_in_large_samples(inclusion, share, times):
    # The ratio of unlabeled to labeled is lowest, and constant, at the top fifth of the labeled.
    n_labeled, n_unlabeled = 1e6, times * 1e6
    top = min(1.0, share / inclusion)  # labeled where the copies are from
    labeled = n_labeled * np.array([top, 1 - top])
    unlabeled = n_unlabeled * np.array([top * inclusion, 1 - top * inclusion])
    counts = ScoreCounts.from_counts([2, 1], labeled, unlabeled)
    found = Regrouping(TopRatio(share=0.0), share=top * inclusion)._estimate(counts).a
    assert found == pytest.approx((1 + top * inclusion) / (1 + 1 / inclusion), rel=1e-9)


def alphas_regrouping(estimator, world, *, n=(1000, 1000), alpha=0.25, seeds=5):
    samples = (world.sample(*n, alpha=alpha, random_state=i) for i in range(seeds))
    return np.mean([estimator.fit(s.scores, s.labeled).proportions_.alpha for s in samples])


@pytest.mark.slow
@pytest.mark.parametrize("inner", [BBE(), None], ids=["bbe", "default"])
def test_helps_where_no_scores_are_pure(inner):
    world = simulate.laplace(1)
    assert world.positive_inclusion > 0.3
    plain = alphas_regrouping(inner or RocSlope(), world)
    assert plain > 0.25 + 0.2
    assert 0.25 < alphas_regrouping(Regrouping(inner), world) < plain - 0.07


def test_regrouping_roles_exchanged():
    counts = simulate.binormal(2).sample(200, 500, alpha=0.3, beta=0.9, random_state=0).counts
    direct = Regrouping(BBE())._estimate(counts.flipped()).a
    wrapper = Regrouping(BBE())
    assert wrapper._estimate_flipped(counts).a == pytest.approx(direct, rel=1e-12)
    many = wrapper._estimate_many_flipped(counts, counts.labeled[None], counts.unlabeled[None])
    assert many[0] == pytest.approx([direct, 0.0])
    # What turns scores around in its own way still does.
    scores = 1 / (1 + np.exp(-counts.thresholds))
    shaped = ScoreCounts.from_counts(scores, counts.labeled, counts.unlabeled)
    assert np.isfinite(Regrouping(DEDPUL())._estimate_flipped(shaped).a)
