"""Draws where people gave the labels, and where nobody knows: against numbers and simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta as beta_distribution
from scipy.stats import binom

import purecover as pu
from purecover.posterior.draws import PROPOSED, Posterior, Verdicts, binomial, draw_posterior
from purecover.posterior.people import LEARNED, Basis, draw_people, prior_of, proposal_of
from purecover.posterior.plan import plan_rows
from purecover.posterior.ratio import LabelRatio
from purecover.posterior.stories import Stories
from purecover.posterior.tables import Tables, outranked

LABELED = np.array([30, 20, 15, 10, 8, 6, 5, 3, 2, 1])
UNLABELED = np.array([40, 60, 80, 100, 150, 200, 300, 400, 500, 670])
JUDGED = np.array([3, 2, 2, 2, 2, 2, 2, 2, 2, 1])
FOUND = np.array([3, 1, 1, 1, 0, 1, 0, 0, 0, 0])
TOP = slice(0, 2)

COUNTS = pu.ScoreCounts.from_counts(np.arange(10.0)[::-1], LABELED, UNLABELED)
RATIO = LabelRatio(COUNTS)


def verdicts_of(judged: Any, found: Any, errors: tuple[float, float] = (0, 0)) -> list[Verdicts]:
    """Verdicts in each group that has any."""
    return [
        Verdicts(slice(i, i + 1), int(judged[i]), int(found[i]), errors=errors)
        for i in np.flatnonzero(judged)
    ]


ANSWERS = verdicts_of(JUDGED, FOUND)


def people(n: int = 1000, seed: int = 0, ratio: LabelRatio = RATIO, **known: Any) -> Posterior:
    return draw_people(ratio, n, np.random.default_rng(seed), **known)


def at_random(n: int = 1000, ratio: LabelRatio = RATIO, **known: Any) -> Posterior:
    rng = np.random.default_rng(1)
    alpha = rng.uniform(0.01, 0.5, 8 * n)
    beta = np.where(rng.random(8 * n) < 0.5, 1.0, rng.uniform(0.8, 1, 8 * n))
    pool = np.column_stack((alpha, beta))
    return draw_posterior(ratio, ratio.draw(PROPOSED * n, rng), pool, rng, **known)


FIGURES: dict[str, Callable[[Tables], Any]] = {
    "AUC of all": lambda tables: tables.auc,
    "like the labeled": lambda tables: tables.auc_like_labeled,
    "precision": lambda tables: tables.precision(TOP),
    "recall": lambda tables: tables.recall(TOP),
    "hidden": lambda tables: tables.n_hidden(),
}


class TestNumbers:
    """A table of ten groups whose posterior was computed by another program."""

    def test_the_prior_has_its_mean(self) -> None:
        center = prior_of(Basis.of(COUNTS), LEARNED).center
        np.testing.assert_allclose(center, [-1.7776, 1.0003, -0.5605, 0, 0, 0, 0, 0], atol=5e-5)

    def test_proposals_are_at_the_mode(self) -> None:
        basis = Basis.of(COUNTS)
        prior = prior_of(basis, LEARNED)
        mode = proposal_of(prior, basis.functions, COUNTS.unlabeled, ANSWERS).center
        expected = [-0.4418, 1.2561, -0.5060, -0.0031, -0.0152, 0.0185, 0.1097, 0.1630]
        np.testing.assert_allclose(mode, expected, atol=6e-5)

    def test_figures_have_their_quantiles(self) -> None:
        rng = np.random.default_rng(0)
        tables = people(40_000, verdicts=ANSWERS).of_rows(rng, JUDGED, FOUND)
        expected = {
            "AUC of all": (0.733, 0.890, 0.943),
            "like the labeled": (0.913, 0.927, 0.943),
            "precision": (0.34, 0.64, 0.89),
            "recall": (0.168, 0.302, 0.459),
            "hidden": (123, 277, 593),
        }
        for name, figure in FIGURES.items():
            ends = np.quantile(figure(tables), [0.025, 0.5, 0.975])
            np.testing.assert_allclose(ends, expected[name], rtol=0.015, atol=0.002, err_msg=name)

    def test_without_answers(self) -> None:
        auc = people(40_000).of_rows(np.random.default_rng(0)).auc
        ends = np.quantile(auc, [0.025, 0.5, 0.975])
        np.testing.assert_allclose(ends, [0.596, 0.875, 0.929], atol=0.007)


NOTHING: dict[str, dict[str, Any]] = {
    "no answers": {"verdicts": []},
    "none of none": {"verdicts": [Verdicts(TOP, 0, 0)]},
    "none of none labeled": {"verdicts": [Verdicts(TOP, 0, 0, labeled=True)]},
    "any alpha": {"alpha": (0.0, 1.0)},
    "right labels": {"beta": (1.0, 1.0)},
}

# Mean share of positives of these groups, times errors: what the verdicts see.
KNOWN: dict[str, list[Verdicts]] = {
    "answers": ANSWERS,
    "answers that err": verdicts_of(JUDGED, FOUND, errors=(0.05, 0.2)),
    "a past hit rate": [Verdicts(TOP, 40, 25)],
    "both": [*verdicts_of(JUDGED, FOUND, errors=(0.1, 0.1)), Verdicts(slice(0, 5), 20, 8)],
}


class TestEvidence:
    @pytest.mark.parametrize("name", NOTHING)
    def test_what_says_nothing_changes_nothing(self, name: str) -> None:
        plain, other = people(), people(**NOTHING[name])
        for field in ("unlabeled", "positive", "labels", "wrong", "shares"):
            np.testing.assert_array_equal(getattr(other, field), getattr(plain, field))

    def test_a_range_that_says_next_to_nothing_changes_as_little(self) -> None:
        plain, other = people(), people(alpha=(1e-9, 1 - 1e-9))
        np.testing.assert_allclose(other.positive, plain.positive, atol=1e-4)

    @pytest.mark.parametrize("name", KNOWN)
    def test_draws_are_those_of_the_prior_by_their_likelihood(self, name: str) -> None:
        before, after = people(60_000, seed=5), people(8000, verdicts=KNOWN[name])
        likely = np.ones(len(before.shares))
        for each in KNOWN[name]:
            rows = UNLABELED[each.groups]
            share = before.positive[:, each.groups] @ rows / rows.sum()
            seen = each.errors[0] * (1 - share) + (1 - each.errors[1]) * share
            likely *= seen**each.positive * (1 - seen) ** (each.judged - each.positive)
        assert after.log_evidence == pytest.approx(np.log(likely.mean()), abs=0.1)
        auc, plain = after.expected.auc, before.expected.auc
        order = np.argsort(plain)
        passed = np.cumsum(likely[order]) / likely.sum()
        for level in (0.05, 0.5, 0.95):
            expected = plain[order][np.searchsorted(passed, level)]
            assert np.quantile(auc, level) == pytest.approx(expected, abs=0.012)

    @pytest.mark.parametrize("verdicts", [[], ANSWERS], ids=["no answers", "answers"])
    def test_a_range_holds_and_has_the_probability_of_its_values(self, verdicts: Any) -> None:
        low, high = 0.05, 0.2
        inside = people(4000, verdicts=verdicts, alpha=(low, high))
        assert low - 1e-9 <= inside.shares[:, 0].min() < inside.shares[:, 0].max() <= high + 1e-9
        middles = low + (high - low) * (np.arange(12) + 0.5) / 12
        densities = [
            np.exp(people(1000, verdicts=verdicts, alpha=(a, a)).log_evidence) for a in middles
        ]
        integral = np.mean(densities) * (high - low)
        assert inside.log_evidence == pytest.approx(np.log(integral), abs=0.06)

    @pytest.mark.parametrize("alpha", [(1e-4, 2e-4), (0.9, 0.95), (0.999999, 0.9999999)])
    def test_a_range_may_be_far_from_what_is_likely(self, alpha: tuple[float, float]) -> None:
        found = people(alpha=alpha).shares[:, 0]
        assert alpha[0] * (1 - 1e-6) <= found.min() < found.max() <= alpha[1] * (1 + 1e-6)

    def test_a_narrow_range_tends_to_the_value(self) -> None:
        exact, narrow = people(4000, alpha=(0.1, 0.1)), people(4000, alpha=(0.099, 0.101))
        np.testing.assert_allclose(exact.shares[:, 0], 0.1, rtol=1e-9)
        for level in (0.025, 0.5, 0.975):
            ends = [np.quantile(each.expected.auc, level) for each in (exact, narrow)]
            assert ends[0] == pytest.approx(ends[1], abs=0.005)

    @given(
        judged=st.lists(st.integers(0, 60), min_size=10, max_size=10), seed=st.integers(0, 9),
        story=st.sampled_from([people, at_random]),
    )  # fmt: skip
    def test_no_number_reaches_what_answers_exclude(
        self, judged: list[int], seed: int, story: Callable[..., Posterior]
    ) -> None:
        rng = np.random.default_rng(seed)
        seen = np.minimum(judged, UNLABELED)
        yes = rng.binomial(seen, 0.5)
        hidden = story(50).of_rows(rng, seen, yes).hidden
        assert (hidden >= yes).all()
        assert (hidden <= UNLABELED - (seen - yes)).all()

    def test_rows_whose_judges_err_may_be_what_they_were_not_judged(self) -> None:
        errors = (0.1, 0.3)
        drawn = people(4000)
        judged, found = UNLABELED, UNLABELED // 2
        tables = drawn.of_rows(np.random.default_rng(0), judged, found, errors)
        # By Bayes' rule, for the rows judged positive and for the others.
        p = drawn.positive
        yes, no = (1 - errors[1]) * p, errors[1] * p
        right = yes / (yes + errors[0] * (1 - p))
        missed = no / (no + (1 - errors[0]) * (1 - p))
        expected = (found * right + (judged - found) * missed).mean(axis=0)
        np.testing.assert_allclose(tables.hidden.mean(axis=0), expected, rtol=0.02, atol=0.2)

    def test_verdicts_on_labeled_rows_are_of_beta(self) -> None:
        low, high = 0.6, 1.0
        drawn = people(8000, beta=(low, high), verdicts=[Verdicts(slice(0, 10), 20, 16, True)])
        likely = beta_distribution(17, 5)
        levels = np.array([0.1, 0.5, 0.9])
        inside = likely.cdf(low) + levels * (likely.cdf(high) - likely.cdf(low))
        np.testing.assert_allclose(
            np.quantile(drawn.shares[:, 1], levels), likely.ppf(inside), atol=0.015
        )


class TestFigures:
    @given(st.integers(0, 200))
    def test_areas_are_those_of_pairs(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        high, low = rng.poisson(1.0, (2, 1, 8)).astype(float)
        scores = [np.repeat(-np.arange(8), side[0].astype(int)) for side in (high, low)]
        above = np.subtract.outer(*scores)
        expected = ((above > 0) + (above == 0) / 2).mean() if above.size else 0.5
        assert outranked(high, low)[0] == pytest.approx(expected)

    @pytest.mark.parametrize("story", [people, at_random])
    def test_one_table_gives_all_figures(self, story: Callable[..., Posterior]) -> None:
        drawn = story(200, **({"beta": (0.9, 0.9)} if story is people else {}))
        tables = drawn.of_population()
        found = np.column_stack((tables.alpha, tables.beta))
        np.testing.assert_allclose(found, drawn.shares, atol=3e-3)
        np.testing.assert_allclose(tables.precision(TOP), drawn.share_positive(TOP))
        fpr, tpr = drawn.rates
        area = (np.diff(fpr, axis=1) * (tpr[:, 1:] + tpr[:, :-1])).sum(axis=1) / 2
        np.testing.assert_allclose(tables.auc_like_labeled, area)
        # All positives are the labeled and the hidden ones.
        share = tables.labeled.sum(1) / (tables.labeled + tables.hidden).sum(1)
        negative = tables.negative + tables.wrong
        parts = [outranked(side, negative) for side in (tables.labeled, tables.hidden)]
        np.testing.assert_allclose(tables.auc, share * parts[0] + (1 - share) * parts[1])

    @given(st.integers(0, 3000), st.floats(0.001, 0.999), st.floats(1e-6, 1 - 1e-6), st.booleans())
    def test_numbers_of_tables_are_binomial(
        self, n: int, share: float, place: float, swap: bool
    ) -> None:
        share = 1 - share if swap else share
        found = binomial(np.array([place]), np.array([n]), np.array([share]))[0]
        off = 1 if n * share * (1 - share) >= 9 else 0
        lowest, highest = binom.cdf([found - 1 - off, found + off], n, share)
        assert lowest <= place + 1e-9
        assert place <= highest + 1e-9


TILT, STRONG_TILT, NO_TILT = (0.6, 1.3), (1.0, 1.5), (0.0, 0.0)


class World(NamedTuple):
    """Normal scores; positives are the likelier labeled, the higher their score is."""

    ratio: LabelRatio
    hidden: Any

    @classmethod
    def draw(
        cls, seed: int, tilt: tuple[float, float], alphas: tuple[float, float] = (0.03, 0.25)
    ) -> World:
        rng = np.random.default_rng(seed)
        separation, alpha = rng.uniform(0.8, 2.2), rng.uniform(*alphas)
        # Tilted by exp(t s), a normal density is moved by t, and theta is Phi(t / sqrt(2)).
        higher = rng.uniform(*tilt)
        labeled = rng.normal(separation + higher, 1, 200)
        hidden = rng.normal(separation, 1, rng.binomial(2000, alpha))
        negative = rng.normal(0, 1, 2000 - hidden.size)
        scores = np.concatenate((labeled, hidden, negative))
        counts = pu.ScoreCounts.from_scores(scores, np.arange(scores.size) < 200).thinned(30)
        place = np.searchsorted(-counts.thresholds, -hidden)
        return cls(LabelRatio(counts), np.bincount(place, minlength=counts.n_thresholds))

    @property
    def tables(self) -> Tables:
        """The truth."""
        labeled, unlabeled = self.ratio.counts.labeled[None], self.ratio.counts.unlabeled[None]
        return Tables(labeled, 0.0 * labeled, self.hidden[None], unlabeled - self.hidden)

    def answer(self, groups: Any, rng: Any, errors: tuple[float, float] = (0, 0)) -> Any:
        """Verdicts on rows of these groups."""
        judged = np.bincount(groups, minlength=self.hidden.size)
        yes = rng.hypergeometric(self.hidden, self.ratio.counts.unlabeled - self.hidden, judged)
        found = yes + rng.binomial(judged - yes, errors[0]) - rng.binomial(yes, errors[1])
        return judged, found


ASKED: dict[str, Callable[[Tables], Any]] = {
    "AUC of all": lambda tables: tables.auc,
    "theta": lambda tables: tables.theta,
    "hidden": lambda tables: tables.n_hidden(),
    "precision": lambda tables: tables.precision(slice(0, 5)),
}


def held(n_worlds: int, n_answers: int, errors: tuple[float, float] = (0, 0)) -> dict[str, int]:
    """In how many tilted worlds the interval of each figure contains the truth."""
    # Without answers precision is that of real problems, to which these worlds need not belong.
    figures = {name: each for name, each in ASKED.items() if n_answers or name != "precision"}
    inside = dict.fromkeys(figures, 0)
    for seed in range(n_worlds):
        world, rng = World.draw(seed, TILT), np.random.default_rng(seed)
        plan = plan_rows(people(200, ratio=world.ratio), list(figures.values()), n_answers, rng)
        judged, found = world.answer(plan, rng, errors)
        verdicts = verdicts_of(judged, found, errors)
        drawn = people(500, seed, world.ratio, verdicts=verdicts)
        tables = drawn.of_rows(rng, judged, found, errors)
        for name, figure in figures.items():
            low, high = np.quantile(figure(tables), [0.025, 0.975], method="weibull")
            inside[name] += int(low - 1e-9 <= figure(world.tables)[0] <= high + 1e-9)
    return inside


class TestWorlds:
    @pytest.mark.parametrize("n_answers", [0, 20, 100])
    def test_intervals_contain_the_truth(self, n_answers: int) -> None:
        inside = held(60, n_answers)
        assert min(inside.values()) >= 54, inside

    def test_so_they_do_where_verdicts_err(self) -> None:
        inside = held(60, 60, errors=(0.05, 0.05))
        assert min(inside.values()) >= 54, inside

    def test_levels_are_kept_where_worlds_are_drawn_from_the_prior(self) -> None:
        """Then an interval of 80 % contains the truth in 80 %, whatever is asked."""
        n = 120
        worlds = people(n, seed=99)
        rng = np.random.default_rng(0)
        truth = worlds.of_rows(rng)
        plan = plan_rows(people(300), list(FIGURES.values()), 30, rng)
        judged = np.bincount(plan, minlength=10)
        inside = dict.fromkeys(FIGURES, 0)
        for i, hidden in enumerate(truth.hidden.astype(int)):
            found = rng.hypergeometric(hidden, UNLABELED - hidden, judged)
            drawn = people(400, i, verdicts=verdicts_of(judged, found))
            tables = drawn.of_rows(rng, judged, found)
            for name, figure in FIGURES.items():
                # Few values are possible where few rows are: ends belong to either side by halves.
                values, true = figure(tables), figure(truth)[i]
                place = ((values < true).mean() + (values <= true).mean()) / 2
                inside[name] += int(0.1 <= place <= 0.9)
        for name, often in inside.items():
            assert 0.71 <= often / n <= 0.89, name

    def test_figures_of_the_population_vary_with_its_rows(self) -> None:
        """Few labeled rows say little about the AUC of all others like them."""
        drawn = people(2000, alpha=(0.1, 0.1))
        rows, population = drawn.of_rows(np.random.default_rng(0)), drawn.of_population()
        spread = [each.auc_like_labeled.std() for each in (rows, population)]
        error = COUNTS.auc_pu_variance**0.5 / 0.9
        assert spread[1] ** 2 - spread[0] ** 2 == pytest.approx(error**2, rel=0.35)


class TestPlan:
    def test_no_row_is_judged_twice(self) -> None:
        left = np.array([1, 0, 2, 0, 0, 0, 0, 0, 3, 0])
        rng = np.random.default_rng(0)
        plan = plan_rows(people(200), [FIGURES["AUC of all"]], 20, rng, UNLABELED - left)
        np.testing.assert_array_equal(np.bincount(plan, minlength=10), left)

    def test_it_depends_on_what_is_asked(self) -> None:
        plans = {
            name: plan_rows(people(), [FIGURES[name]], 60, np.random.default_rng(0))
            for name in ("precision", "hidden")
        }
        in_top = {name: (plan < TOP.stop).mean() for name, plan in plans.items()}
        assert in_top["precision"] > 0.6
        assert in_top["hidden"] < 0.3

    def test_it_narrows_what_is_asked(self) -> None:
        asked = {name: ASKED[name] for name in ("AUC of all", "precision")}
        widths = {name: dict.fromkeys(asked, 0.0) for name in (*asked, "anywhere")}
        for seed in range(12):
            world, rng = World.draw(seed, TILT), np.random.default_rng(seed)
            share = world.ratio.counts.unlabeled / 2000
            before = people(300, ratio=world.ratio)
            plans = {name: plan_rows(before, [each], 20, rng) for name, each in asked.items()}
            plans["anywhere"] = rng.choice(share.size, 20, p=share)
            for name, plan in plans.items():
                judged, found = world.answer(plan, rng)
                drawn = people(300, 0, world.ratio, verdicts=verdicts_of(judged, found))
                for figure, each in asked.items():
                    low, high = np.quantile(each(drawn.expected), [0.025, 0.975])
                    widths[name][figure] += high - low
        for figure, other in (("AUC of all", "precision"), ("precision", "AUC of all")):
            assert widths[figure][figure] < 0.7 * widths[other][figure]
            assert widths[figure][figure] < widths["anywhere"][figure]


def stories(ratio: LabelRatio, verdicts: Any) -> Stories:
    return Stories.of(
        lambda told: at_random(500, ratio, verdicts=told, shifts=False),
        lambda told: people(500, ratio=ratio, verdicts=told),
        verdicts,
    )


class TestStories:
    def test_verdicts_find_the_story(self) -> None:
        """Forty of them, where labeled positives outrank hidden ones in 76 to 86 % of pairs."""
        right = []
        for seed in range(40):
            tilt = (NO_TILT, STRONG_TILT)[seed % 2]
            world, rng = World.draw(seed, tilt, (0.1, 0.3)), np.random.default_rng(seed)
            plan = plan_rows(stories(world.ratio, []).mixed, [ASKED["theta"]], 40, rng)
            weight = stories(world.ratio, verdicts_of(*world.answer(plan, rng))).weight
            right.append((weight > 0.5) == (tilt is STRONG_TILT))
        assert np.mean(right) >= 0.8

    def test_without_verdicts_nothing_is_learned_of_it(self) -> None:
        assert stories(RATIO, []).weight == 0.5

    def test_the_mixture_has_both_by_their_weight(self) -> None:
        both = stories(RATIO, ANSWERS)
        n_people = round(500 * both.weight)
        mixed = both.mixed.positive
        assert np.isin(mixed[:, 0], both.people.positive[:, 0]).sum() == n_people
        assert np.isin(mixed[:, 0], both.random.positive[:, 0]).sum() == 500 - n_people
        auc = both.mixed.expected.auc
        parts = [each.expected.auc.mean() for each in (both.random, both.people)]
        expected = parts[0] + both.weight * (parts[1] - parts[0])
        assert auc.mean() == pytest.approx(expected, abs=0.01)
