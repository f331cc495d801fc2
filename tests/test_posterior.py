"""Draws of hidden positives: against known distributions, and what evidence may do to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import purecover as pu
from purecover.posterior.draws import (
    PROPOSED,
    Posterior,
    Verdicts,
    binomial_quantile,
    draw_posterior,
    evenly,
)
from purecover.posterior.purity import purity_of
from purecover.posterior.ratio import LabelRatio

WORLD = pu.simulate.binormal(1.8)
ALPHA = 0.3
GROUPS = 60


def ratio_of(n_labeled: int = 400, n_unlabeled: int = 3000, seed: int = 0) -> LabelRatio:
    sample = WORLD.sample(n_labeled, n_unlabeled, alpha=ALPHA, random_state=seed)
    return LabelRatio(sample.counts.thinned(GROUPS))


def weighted(ratio: LabelRatio, n: int) -> tuple[Any, Any]:
    """Draws of equal weight."""
    found = ratio.draw(3 * n, np.random.default_rng(0))
    kept = evenly(np.exp(found.log_weight - found.log_weight.max()), n)
    return found.unlabeled[kept], found.ratio[kept]


def pool(n: int = 4000, *, noisy: bool = True) -> Any:
    """Pairs of alpha and beta, spread widely."""
    rng = np.random.default_rng(1)
    alpha = rng.uniform(0.02, 0.5, n)
    beta = np.where(rng.random(n) < 0.5, 1.0, rng.uniform(0.8, 1, n)) if noisy else np.ones(n)
    return np.column_stack((alpha, beta))


def drawn(ratio: LabelRatio, n: int = 400, seed: int = 0, **known: Any) -> Posterior:
    rng = np.random.default_rng(seed)
    return draw_posterior(ratio, ratio.draw(PROPOSED * n, rng), pool(), rng, **known)


def drawn_at(ratio: LabelRatio, alpha: float, n: int = 400, beta: float = 1.0) -> Posterior:
    pairs = np.tile((alpha, beta), (n, 1))
    rng = np.random.default_rng(0)
    return draw_posterior(ratio, ratio.draw(PROPOSED * n, rng), pairs, rng, exact=True)


def areas(found: Posterior) -> Any:
    fpr, tpr = found.rates
    return (np.diff(fpr, axis=1) * (tpr[:, 1:] + tpr[:, :-1])).sum(axis=1) / 2


class TestRatio:
    def test_it_is_that_of_the_densities(self) -> None:
        ratio = ratio_of(20_000, 100_000)
        unlabeled, found = ratio.at_mode
        edges = np.append(ratio.counts.thresholds, -np.inf)
        tpr, fpr = np.append(0, WORLD.tpr(edges[:-1])), np.append(0, WORLD.fpr(edges[:-1]))
        true = np.diff(tpr) / np.diff(ALPHA * tpr + (1 - ALPHA) * fpr)
        assert unlabeled @ np.abs(found - true) < 0.03

    @pytest.mark.parametrize(("n_labeled", "n_unlabeled"), [(200, 4000), (4000, 200), (600, 600)])
    def test_each_side_varies_as_its_own_rows_let_it(
        self, n_labeled: int, n_unlabeled: int
    ) -> None:
        ratio = ratio_of(n_labeled, n_unlabeled)
        unlabeled, found = weighted(ratio, 2000)
        half = GROUPS // 2
        for rows, n in ((unlabeled * found, n_labeled), (unlabeled, n_unlabeled)):
            above = rows[:, :half].sum(axis=1)
            binomial = above.mean() * (1 - above.mean()) / n
            assert above.var() / binomial == pytest.approx(1, abs=0.3)

    @pytest.mark.parametrize("separation", [0.3, 1.5, 3.5])
    def test_the_observed_area_varies_as_by_delong(self, separation: float) -> None:
        sample = pu.simulate.binormal(separation).sample(80, 800, alpha=0.1, random_state=0)
        ratio = LabelRatio(sample.counts)
        unlabeled, found = weighted(ratio, 2000)
        below = 1 - np.cumsum(unlabeled, axis=1) + unlabeled / 2
        area = (unlabeled * found * below).sum(axis=1)
        error = sample.counts.auc_pu_variance**0.5
        assert abs(area.mean() - sample.counts.auc_pu) < 0.6 * error
        assert area.std() / error == pytest.approx(1, abs=0.2)

    def test_rows_that_depend_on_each_other_count_less(self) -> None:
        plain = ratio_of()
        one, other = (
            weighted(LabelRatio(plain.counts, n), 1000)[1][:, :20].std(axis=0) for n in (1.0, 4.0)
        )
        assert np.median(other / one) == pytest.approx(2, abs=0.35)

    def test_weights_that_are_alike_change_nothing(self) -> None:
        sample = WORLD.sample(300, 2000, alpha=ALPHA, random_state=0)
        weighted = pu.ScoreCounts.from_scores(
            sample.scores, sample.labeled, sample_weight=np.full(2300, 3.0)
        )
        one, other = (
            LabelRatio(counts.thinned(GROUPS)).at_mode[1] for counts in (sample.counts, weighted)
        )
        np.testing.assert_allclose(one, other, rtol=1e-6)


class TestPurity:
    @given(
        alpha=st.floats(0.02, 0.9),
        noise=st.floats(0, 0.2),
        steep=st.floats(0, 6),
        seed=st.integers(0, 99),
    )
    def test_shares_are_possible_and_add_up(
        self, alpha: float, noise: float, steep: float, seed: int
    ) -> None:
        rng = np.random.default_rng(seed)
        unlabeled = rng.dirichlet(np.ones(30), 5)
        score = np.linspace(3, -3, 30)
        labeled = np.exp(steep * score / 6 + rng.normal(0, 0.3, (5, 30)))
        labeled = unlabeled * labeled / (unlabeled * labeled).sum(axis=1, keepdims=True)
        shares = np.tile((alpha, max(1 - noise, alpha + 0.05)), (5, 1))
        found = purity_of(shares, unlabeled, labeled / unlabeled, score)
        for side in (found.positive, found.wrong):
            assert (side >= 0).all()
            assert (side <= 1).all()
        total = (found.positive * unlabeled).sum(axis=1)
        close = found.excess < 0.2  # what hardly fits counts next to nothing
        np.testing.assert_allclose(total[close], alpha, atol=1e-3)

    def test_what_fits_follows_from_the_formula(self) -> None:
        ratio = ratio_of(20_000, 100_000)
        unlabeled, label_ratio = (side[None] for side in ratio.at_mode)
        alpha, beta = 0.2, 0.9
        found = purity_of(
            np.array([[alpha, beta]]), unlabeled, label_ratio.clip(0.2, 3), ratio.normal_score
        )
        a, b = alpha / beta, (1 - beta) / (1 - alpha)
        np.testing.assert_allclose(
            found.positive, a * (label_ratio.clip(0.2, 3) - b) / (1 - a * b), atol=2e-5
        )

    def test_moved_shares_keep_alpha_and_the_mean_rank(self) -> None:
        ratio = ratio_of(60, 400)
        unlabeled, label_ratio = weighted(ratio, 200)
        shares = np.tile((0.33, 1.0), (200, 1))
        found = purity_of(shares, unlabeled, label_ratio, ratio.normal_score)
        moved = (found.excess > 0.01) & (found.excess < 0.1)
        assert moved.sum() > 20
        rank = np.cumsum(unlabeled, axis=1) - unlabeled / 2
        mass, wanted = found.positive * unlabeled, 0.33 * label_ratio * unlabeled
        np.testing.assert_allclose(mass.sum(axis=1)[moved], 0.33, atol=1e-4)
        means = [(each * rank).sum(axis=1)[moved] for each in (mass, wanted)]
        np.testing.assert_allclose(*means, atol=5e-3)


NOTHING: dict[str, dict[str, Any]] = {
    "no answers": {"verdicts": []},
    "none of none": {"verdicts": [Verdicts(slice(0, 20), 0, 0)]},
    "none of none, in strata": {
        "verdicts": [Verdicts(slice(0, 20), 0, 0), Verdicts(slice(20, 60), 0, 0)]
    },
    "none of none labeled": {"verdicts": [Verdicts(slice(0, 20), 0, 0, labeled=True)]},
    "any alpha": {"allowed": pool()[:, 0] < 1},
    "any beta": {"allowed": pool()[:, 1] <= 1},
}
TOP = slice(0, 15)


class TestEvidence:
    @pytest.mark.parametrize("name", NOTHING)
    def test_what_says_nothing_changes_nothing(self, name: str) -> None:
        plain, other = drawn(ratio_of()), drawn(ratio_of(), **NOTHING[name])
        for field in ("unlabeled", "positive", "like_labeled", "wrong", "shares"):
            np.testing.assert_array_equal(getattr(other, field), getattr(plain, field))

    def test_answers_at_once_and_one_after_the_other(self) -> None:
        one = drawn(ratio_of(), verdicts=[Verdicts(TOP, 10, 7)])
        parts = drawn(ratio_of(), verdicts=[Verdicts(TOP, 4, 3), Verdicts(TOP, 6, 4)])
        np.testing.assert_array_equal(one.shares, parts.shares)

    @pytest.mark.parametrize("reach", [0.05, 0.01])
    def test_a_narrow_range_tends_to_the_value(self, reach: float) -> None:
        ratio = ratio_of()
        pairs = pool(20_000, noisy=False)
        inside = np.abs(pairs[:, 0] - ALPHA) < reach
        rng = np.random.default_rng(0)
        proposed = ratio.draw(PROPOSED * 400, rng)
        found = draw_posterior(ratio, proposed, pairs, rng, allowed=inside)
        assert np.abs(found.shares[:, 0] - ALPHA).max() < reach
        exact = drawn_at(ratio, ALPHA)
        for level in (0.025, 0.5, 0.975):
            off = np.quantile(areas(found), level) - np.quantile(areas(exact), level)
            assert abs(off) < 0.01 + reach

    @given(
        judged=st.lists(st.integers(0, 12), min_size=GROUPS, max_size=GROUPS),
        seed=st.integers(0, 9),
        stop=st.integers(1, GROUPS),
    )
    def test_no_number_reaches_what_answers_exclude(
        self, judged: list[int], seed: int, stop: int
    ) -> None:
        ratio = ratio_of(100, 600)
        rng = np.random.default_rng(seed)
        rows = ratio.counts.unlabeled
        seen = np.minimum(judged, rows)
        yes = rng.binomial(seen, 0.5)
        found = drawn_at(ratio, ALPHA, n=50)
        number = found.count_positive(slice(0, stop), rng, seen, yes)
        no = (seen - yes)[:stop].sum()
        assert number.min() >= yes[:stop].sum()
        assert number.max() <= rows[:stop].sum() - no

    def test_answers_move_alpha_to_where_they_say(self) -> None:
        ratio = ratio_of()
        few, none, many = (
            np.median(drawn(ratio, verdicts=verdicts).shares[:, 0])
            for verdicts in ([Verdicts(TOP, 20, 2)], [], [Verdicts(TOP, 20, 19)])
        )
        assert few < none < many

    def test_negatives_among_labeled_rows_lower_beta(self) -> None:
        ratio = ratio_of()
        wrong = drawn(ratio, verdicts=[Verdicts(slice(0, GROUPS), 20, 16, labeled=True)])
        right = drawn(ratio, verdicts=[Verdicts(slice(0, GROUPS), 20, 20, labeled=True)])
        assert np.median(wrong.shares[:, 1]) < 0.95 < np.median(right.shares[:, 1])

    def test_strata_that_disagree_are_followed(self) -> None:
        """Hidden positives far down are no part of what labels at random allow."""
        ratio = ratio_of()
        verdicts = [Verdicts(TOP, 30, 3), Verdicts(slice(15, GROUPS), 60, 30)]
        found = drawn(ratio, n=1000, verdicts=verdicts)
        assert (found.spread > 0).mean() > 0.9
        below = found.share_positive(slice(15, GROUPS))
        assert np.quantile(below, 0.1) < 0.5 < np.quantile(below, 0.9)
        assert np.median(found.share_positive(TOP)) < 0.25


class TestChoosing:
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=40).filter(any), st.integers(1, 200))
    def test_evenly_is_as_often_as_it_should_be(self, weight: list[float], n: int) -> None:
        expected = n * np.array(weight) / np.sum(weight)
        often = np.bincount(evenly(np.array(weight), n), minlength=len(weight))
        assert (np.abs(often - expected) < 1 + 1e-6).all()
        assert often[np.array(weight) == 0].sum() == 0

    @given(st.integers(1, 2000), st.floats(0.001, 0.999), st.floats(0.001, 0.999))
    def test_numbers_are_binomial(self, n: int, share: float, place: float) -> None:
        found = binomial_quantile(np.array([place]), n, np.array([share]))[0]
        at = binom.cdf([found - 1, found], n, share)
        assert at[0] <= place + 1e-9
        assert place <= at[1] + 1e-9


@pytest.mark.slow
class TestCoverage:
    """Two hundred samples each, so that 95 % is within three points twice out of three times."""

    N = 200

    def held(self, known: str) -> dict[str, float]:
        top = slice(0, 30 if known == "60" else 12)
        inside = {"auc": 0, "share": 0, "number": 0}
        for seed in range(self.N):
            rng = np.random.default_rng(seed)
            alpha = 0.3 if known == "alpha" else rng.uniform(0.02, 0.5)
            sample = WORLD.sample(250, 1500, alpha=alpha, random_state=seed)
            ratio = LabelRatio(sample.counts.thinned(GROUPS))
            lowest = ratio.counts.thresholds[top.stop - 1]
            hidden = sample.truth[~sample.labeled] & (sample.scores[~sample.labeled] >= lowest)
            n_top = int(ratio.counts.unlabeled[top].sum())
            if known == "alpha":
                drawn = drawn_at(ratio, alpha, n=500)
            else:
                n = int(known)
                yes = int(rng.hypergeometric(hidden.sum(), n_top - hidden.sum(), n))
                pairs = np.column_stack((rng.uniform(0.02, 0.5, 4000), np.ones(4000)))
                verdicts = [Verdicts(top, n, yes)]
                proposed = ratio.draw(PROPOSED * 500, rng)
                drawn = draw_posterior(ratio, proposed, pairs, rng, verdicts=verdicts)
            tpr, fpr = WORLD.tpr(lowest), WORLD.fpr(lowest)
            share = alpha * tpr / (alpha * tpr + (1 - alpha) * fpr)
            number = drawn.count_positive(top, rng) if known == "alpha" else None
            values = {"auc": (areas(drawn), WORLD.auc), "share": (drawn.share_positive(top), share)}
            if number is not None:
                values["number"] = number, hidden.sum()
            for name, (draws, truth) in values.items():
                low, high = np.quantile(draws, [0.025, 0.975], method="weibull")
                inside[name] += int(low - 1e-9 <= truth <= high + 1e-9)
        return {name: each / self.N for name, each in inside.items()}

    def test_with_alpha(self) -> None:
        for name, held in self.held("alpha").items():
            assert held >= 0.92, name

    @pytest.mark.parametrize("known", ["10", "60"])
    def test_with_answers(self, known: str) -> None:
        held = self.held(known)
        assert min(held["auc"], held["share"]) >= 0.915, held
