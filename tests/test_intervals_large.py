"""The bootstrap of large data: thinned, drawn another way and ahead of time, yet the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import purecover as pu
from purecover.intervals import replicates as _bootstrap
from purecover.intervals.resampling import (
    CrowdedResampler,
    MultinomialResampler,
    PoissonResampler,
    resampler_for,
    thinned_to_draw,
)

WORLD = pu.simulate.binormal(1.5)


@pytest.fixture(scope="module")
def sample() -> pu.simulate.Sample:
    return WORLD.sample(4000, 36_000, alpha=0.25, random_state=0)


class TestCrowded:
    def test_draws_are_multinomial(self) -> None:
        """Means, variances and covariances are those of the formula, and totals are exact."""
        labeled, unlabeled = np.array([30, 90, 0, 180]), np.array([270, 150, 150, 30])
        counts = pu.ScoreCounts.from_counts(range(4), labeled=labeled, unlabeled=unlabeled)
        rng = np.random.default_rng(0)
        resampler = CrowdedResampler(counts)
        drawn = [resampler.draw(rng) for _ in range(20_000)]
        for side in ("labeled", "unlabeled"):
            rows = np.array([getattr(each, side) for each in drawn])
            tally = getattr(counts, side)
            n, share = tally.sum(), tally / tally.sum()
            assert set(rows.sum(axis=1)) == {n}
            np.testing.assert_allclose(rows.mean(axis=0), tally, atol=5 * np.sqrt(n / 20_000))
            expected = n * (np.diag(share) - np.outer(share, share))
            np.testing.assert_allclose(np.cov(rows.T), expected, atol=0.03 * n)

    def test_one_cell_is_binomial(self) -> None:
        """The whole distribution of one count, beside the exact one."""
        counts = pu.ScoreCounts.from_counts([1, 0], labeled=[40, 10], unlabeled=[20, 30])
        rng = np.random.default_rng(1)
        resampler = CrowdedResampler(counts)
        first = np.array([resampler.draw(rng).labeled[0] for _ in range(20_000)])
        # Counts are in decreasing order of score: 40 of 50 at the higher one.
        edges = np.arange(34, 47)
        law = stats.binom(50, 0.8)
        expected = np.concatenate(([law.cdf(33)], law.pmf(edges), [law.sf(46)])) * first.size
        seen = np.array(
            [(first < 34).sum(), *[(first == k).sum() for k in edges], (first > 46).sum()]
        )
        assert stats.chisquare(seen, expected).pvalue > 1e-3

    def test_few_examples_at_a_score_are_drawn_as_ever(self) -> None:
        counts = pu.ScoreCounts.from_counts(range(4), labeled=[1, 3, 0, 2], unlabeled=[4, 4, 4, 4])
        one, other = (
            kind(counts).draw(np.random.default_rng(2))
            for kind in (MultinomialResampler, CrowdedResampler)
        )
        assert one == other

    def test_weights_are_still_drawn_by_poisson_numbers(self) -> None:
        counts = pu.ScoreCounts.from_scores([2, 1], [1, 0], sample_weight=[0.5, 2.0])
        assert isinstance(resampler_for(counts, "multinomial", crowded=True), PoissonResampler)


class TestTop:
    """Groups of like size hold more unlabeled than the top k; those that are drawn must not."""

    @pytest.mark.parametrize("seed", range(3))
    def test_rates_at_the_top_stay(self, seed: int) -> None:
        sample = pu.simulate.binormal(2.0).sample(1000, 100_000, alpha=0.05, random_state=seed)
        counts = sample.counts
        even = counts.thinned(1024, keep=2.5)
        few = thinned_to_draw(counts, 1024, keep=2.5)
        assert few.n_thresholds < even.n_thresholds + 150
        full, coarse, drawn = (pu.pu_roc_curve(each) for each in (counts, even, few))
        ranks = np.array([1, 3, 5, 10, 15, 40, 100, 200, 1000])
        want, smeared, found = (
            np.interp(ranks / counts.n_unlabeled, each.fpr_pu, each.tpr_pu)
            for each in (full, coarse, drawn)
        )
        # A labeled one more or less is a thousandth.
        assert np.all(np.abs(found - want) <= 0.05 * want + 1e-3)
        assert np.abs(found - want).sum() < np.abs(smeared - want).sum() / 2
        at = np.searchsorted(-few.thresholds, -2.5, side="right")
        there = np.searchsorted(-counts.thresholds, -2.5, side="right")
        assert drawn.fpr_pu[at] == pytest.approx(full.fpr_pu[there], rel=1e-12)

    @pytest.mark.parametrize("kind", ["plain", "weighted", "negative", "ties"])
    def test_nothing_is_lost(self, kind: str) -> None:
        rng = np.random.default_rng(0)
        codes = np.where(rng.random(5000) < 0.2, 1, 0)
        scores = rng.normal(codes)
        weight = None
        if kind == "weighted":
            weight = rng.exponential(size=5000)
        elif kind == "negative":
            codes[rng.random(5000) < 0.1] = -1
        elif kind == "ties":
            scores = np.where(rng.random(5000) < 0.5, scores.round(1), scores)
        counts = pu.ScoreCounts.from_scores(
            scores,
            codes,
            sample_weight=weight,
            negative_label=-1 if kind == "negative" else None,
        )
        few = thinned_to_draw(counts, 64, keep=0.5)
        assert 64 <= few.n_thresholds < 250
        assert set(few.thresholds) <= set(counts.thresholds)
        assert few.highest is not None
        assert few.highest[0] == counts.thresholds[0]
        for name in ("labeled", "unlabeled", "negative", "labeled_sq", "unlabeled_sq"):
            full, merged = getattr(counts, name), getattr(few, name)
            assert (full is None) == (merged is None)
            if full is not None:
                assert merged.sum() == pytest.approx(full.sum(), rel=1e-12)
        above = counts.thresholds >= 0.5
        assert few.unlabeled[few.thresholds >= 0.5].sum() == pytest.approx(
            counts.unlabeled[above].sum()
        )

    def test_few_scores_stay_as_they_are(self) -> None:
        counts = pu.ScoreCounts.from_scores([3, 2, 1], [1, 0, 0])
        assert thinned_to_draw(counts, 3, keep=None) is counts


class TestLargeBootstrap:
    def test_how_many_replicates_where_nobody_says(
        self, sample: pu.simulate.Sample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = []

        class EnoughError(Exception):
            pass

        def spy(*_: object, n_resamples: int, **__: object) -> None:
            asked.append(n_resamples)
            raise EnoughError

        monkeypatch.setattr("purecover.report.evaluation.bootstrap", spy)
        for counts in (sample.counts, sample.counts.thinned(100)):
            with pytest.raises(EnoughError):
                pu.evaluate(counts, alpha=0.25)
        with pytest.raises(EnoughError):
            pu.evaluate(sample.counts, alpha=0.25, n_resamples=7)
        assert asked == [1000, 2000, 7]

    def test_intervals_are_those_of_finer_counts(
        self, sample: pu.simulate.Sample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert sample.counts.n_thresholds > _bootstrap.MANY_THRESHOLDS
        options = {"n_resamples": 500, "random_state": 0, "threshold": 0.75}
        coarse = pu.bootstrap(sample.counts, sample.proportions, **options)  # type: ignore[arg-type]
        monkeypatch.setattr(_bootstrap, "MANY_THRESHOLDS", 10**9)
        fine = pu.bootstrap(sample.counts, sample.proportions, **options)  # type: ignore[arg-type]
        assert coarse.method == fine.method == "multinomial"
        assert coarse.estimates == fine.estimates  # which come from all the counts
        for name in fine.replicates:
            one, two = fine.replicates[name], coarse.replicates[name]
            error = one.std()
            # Means of 500 differ by 0.06 standard errors or so by chance alone.
            assert abs(two.mean() - one.mean()) < 0.3 * error, name
            assert two.std() == pytest.approx(error, rel=0.2), name
        for kind in ("roc_band", "pr_band"):
            one, two = (getattr(result, kind)() for result in (fine, coarse))
            inside = slice(10, -10)
            width = (one.high - one.low)[inside]
            # Two runs of 500 replicates with different seeds are up to a quarter apart.
            for end in ("low", "high"):
                apart = np.abs(getattr(one, end) - getattr(two, end))[inside]
                assert np.all(apart < 0.4 * width), (kind, end)

    def test_the_seed_decides(self, sample: pu.simulate.Sample) -> None:
        one, two = (
            pu.bootstrap(
                sample.counts,
                sample.proportions,
                metrics=["roc_auc"],
                curves=False,
                n_resamples=600,
                random_state=7,
            )
            for _ in range(2)
        )
        np.testing.assert_array_equal(one.replicates["roc_auc"], two.replicates["roc_auc"])

    @pytest.mark.parametrize("k", [64, 4096])
    def test_thinning_keeps_the_promise_of_its_bound(
        self, sample: pu.simulate.Sample, k: int
    ) -> None:
        thin = sample.counts.thinned(k)
        moved = abs(pu.auc_pu(thin) - pu.auc_pu(sample.counts))
        apart = float(np.sum(thin.labeled / thin.n_labeled * thin.unlabeled / thin.n_unlabeled) / 2)
        # A group may hold a little more than its share, since scores are not split.
        assert moved <= apart <= 1 / (2 * k) * 1.2

    def test_a_resampler_of_the_user_needs_nothing_but_draw(
        self, sample: pu.simulate.Sample
    ) -> None:
        class Same:
            def draw(self, rng: np.random.Generator) -> pu.ScoreCounts:
                rng.random()
                return sample.counts

        result = pu.bootstrap(
            sample.counts,
            sample.proportions,
            metrics=["roc_auc"],
            curves=False,
            n_resamples=3,
            resampler=Same(),  # type: ignore[arg-type]  # no counts of its own
            random_state=0,
        )
        assert np.ptp(result.replicates["roc_auc"]) == 0
