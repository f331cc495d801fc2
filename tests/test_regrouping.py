from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.prior_dummies import Blind, FixedNoisy, TopRatio

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators.base import Inclusions, PriorEstimator
from purecover.estimators.bbe import BBE
from purecover.estimators.dedpul import DEDPUL
from purecover.estimators.samples import flipped_counts
from purecover.estimators.wrappers import Regrouping
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError


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


def test_copies_weigh_as_if_the_samples_were_of_one_size():
    # Four times as many unlabeled: each copy weighs a quarter.
    counts = ScoreCounts.from_counts([5, 4, 3], [4, 3, 3], [4, 16, 20])
    found = Regrouping(Seen(), share=0.2).fit(counts).diagnostics_
    assert found["run"]["labeled"] == pytest.approx([4 + 4 / 4, 3 + 4 / 4, 3])
    # Fewer unlabeled than labeled: a copy is an example, no more.
    counts = ScoreCounts.from_counts([5, 4, 3], [40, 30, 30], [2, 3, 5])
    found = Regrouping(Seen(), share=0.2).fit(counts).diagnostics_
    assert found["run"]["labeled"] == pytest.approx([42, 30, 30])


@given(st.floats(0.05, 0.95), st.floats(0.01, 0.3), st.integers(1, 20))
def test_limit_in_large_samples(inclusion, share, times):
    # The ratio of unlabeled to labeled is lowest, and constant, at the top fifth of the labeled.
    n_labeled, n_unlabeled = 1e6, times * 1e6
    top = min(1.0, share / inclusion)  # labeled where the copies are from
    labeled = n_labeled * np.array([top, 1 - top])
    unlabeled = n_unlabeled * np.array([top * inclusion, 1 - top * inclusion])
    counts = ScoreCounts.from_counts([2, 1], labeled, unlabeled)
    found = Regrouping(TopRatio(share=0.0), share=top * inclusion)._estimate(counts).a
    assert found == pytest.approx((1 + top * inclusion) / (1 + 1 / inclusion), rel=1e-9)


def alphas(estimator, world, *, n=(1000, 1000), alpha=0.25, seeds=5):
    samples = (world.sample(*n, alpha=alpha, random_state=i) for i in range(seeds))
    return np.mean([estimator.fit(s.scores, s.labeled).proportions_.alpha for s in samples])


@pytest.mark.parametrize("inner", [BBE(), None], ids=["bbe", "default"])
def test_helps_where_no_scores_are_pure(inner):
    world = simulate.laplace(1)
    assert world.positive_inclusion > 0.3
    plain = alphas(inner or Regrouping()._inner(), world)
    assert plain > 0.25 + 0.2
    assert 0.25 < alphas(Regrouping(inner), world) < plain - 0.07


def test_hurts_where_scores_are_pure():
    world = simulate.binormal(4)
    n = (2000, 2000)
    plain, regrouped = (
        alphas(e, world, n=n, alpha=0.7) for e in (DEDPUL(), Regrouping(DEDPUL(), share=0.3))
    )
    assert plain == pytest.approx(0.7, abs=0.03)
    assert regrouped < 0.7 - 0.05


def test_roles_exchanged():
    counts = simulate.binormal(2).sample(200, 500, alpha=0.3, beta=0.9, random_state=0).counts
    direct = Regrouping(BBE())._estimate(flipped_counts(counts)).a
    wrapper = Regrouping(BBE())
    assert wrapper._estimate_flipped(counts).a == pytest.approx(direct, rel=1e-12)
    many = wrapper._estimate_many_flipped(counts, counts.labeled[None], counts.unlabeled[None])
    assert many[0] == pytest.approx([direct, 0.0])
    # What turns scores around in its own way still does.
    scores = 1 / (1 + np.exp(-counts.thresholds))
    shaped = ScoreCounts.from_counts(scores, counts.labeled, counts.unlabeled)
    assert np.isfinite(Regrouping(DEDPUL())._estimate_flipped(shaped).a)


def test_replicates_equal_fits_one_by_one():
    counts = simulate.binormal(2).sample(80, 300, alpha=0.4, random_state=1).counts
    rng = np.random.default_rng(0)
    labeled = rng.multinomial(80, counts.labeled / 80, 10)
    unlabeled = rng.multinomial(300, counts.unlabeled / 300, 10)
    found = Regrouping(BBE())._estimate_many(counts, labeled, unlabeled)
    for row, few, many in zip(found, labeled, unlabeled, strict=True):
        used = (few > 0) | (many > 0)
        alone = ScoreCounts.from_counts(counts.thresholds[used], few[used], many[used])
        assert row == pytest.approx([Regrouping(BBE())._estimate(alone).a, 0.0], rel=1e-9)


def test_weights_count_as_repeated_rows_do():
    sample = simulate.binormal(2).sample(100, 300, alpha=0.4, random_state=1)
    twice = ScoreCounts.from_scores(sample.scores, sample.labeled, sample_weight=np.full(400, 2.0))
    plain = Regrouping(TopRatio())._estimate(sample.counts).a
    assert Regrouping(TopRatio())._estimate(twice).a == pytest.approx(plain)
    regrouped = Regrouping()._regrouped(twice)
    # Squares of a copy of weight w/3: labeled 2^2 each, copies (2/3)^2 each.
    assert regrouped.labeled_sq.sum() == pytest.approx(100 * 4 + 30 * 4 / 9)


def test_an_estimator_without_an_answer():
    counts = simulate.binormal(2).sample(80, 300, alpha=0.4, random_state=1).counts
    with pytest.raises(IdentifiabilityError, match="Blind sees nothing"):
        Regrouping(Blind()).fit(counts)


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"share": 0}, InvalidInputError, "'share' parameter of Regrouping"),
        ({"share": 1.0}, InvalidInputError, "'share' parameter of Regrouping"),
        ({"share": "x"}, InvalidTypeError, "'share' parameter of Regrouping"),
        ({"estimator": "bbe"}, InvalidTypeError, "'estimator' parameter of Regrouping"),
        ({"estimator": FixedNoisy()}, InvalidInputError, r"NoisyLabels\(Regrouping\(\)\)"),
        ({"estimator": BBE(gamma=-1)}, InvalidInputError, "'gamma' parameter of BBE"),
    ],
)
def test_bad_parameters(parameters, error, words):
    with pytest.raises(error, match=words):
        Regrouping(**parameters).fit([1, 2, 3, 4], [0, 0, 1, 1])
