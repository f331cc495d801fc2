"""Estimators around estimators: noisy labels, medians, clusters, subsamples, regrouped scores."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from tests.prior_dummies import Blind, Fixed, FixedNoisy, TopRatio

import purecover as pu
from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators import wrappers as _clustered
from purecover.estimators.base import Inclusions, PriorEstimator, flipped_counts
from purecover.estimators.dedpul import DEDPUL
from purecover.estimators.out_of_fold import out_of_fold_scores
from purecover.estimators.ratios import BBE
from purecover.estimators.rows import Rows
from purecover.estimators.wrappers import (
    ClusteredLabels,
    MedianEnsemble,
    NoisyLabels,
    Regrouping,
    Subsampling,
    _ratio,
)
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError
from purecover.models import best_scorer
from purecover.models.tables import read_examples

# == noisy labels ==============================================================================

# Four scores with positives (0, .1, .3, .6) and negatives (.5, .3, .2, 0), at alpha = 1/4 and
# beta = 3/4: a = b = 1/3.
EXACT = pu.ScoreCounts.from_counts(
    [1, 2, 3, 4], labeled=[125, 150, 275, 450], unlabeled=[3750, 2500, 2250, 1500]
)


def sample(beta: float = 1.0, *, seed: int = 0, n: int = 500) -> pu.ScoreCounts:
    world = pu.simulate.binormal(separation=3)
    return world.sample(n, 4 * n, alpha=0.25, beta=beta, random_state=seed).counts


def replicates(counts: pu.ScoreCounts, n: int = 20) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labeled = rng.multinomial(counts.n_labeled, counts.labeled / counts.n_labeled, n)
    unlabeled = rng.multinomial(counts.n_unlabeled, counts.unlabeled / counts.n_unlabeled, n)
    return labeled, unlabeled


def single(estimator: PriorEstimator, thresholds: np.ndarray, labeled: np.ndarray,
           unlabeled: np.ndarray) -> list[float]:  # fmt: skip
    counts = pu.ScoreCounts(thresholds=thresholds, labeled=labeled, unlabeled=unlabeled)
    try:
        found = clone(estimator).fit(counts).proportions_
    except IdentifiabilityError:
        return [np.nan, np.nan]
    return [found.alpha, found.beta]


# -- noisy labels -----------------------------------------------------------------------------


def test_exact_densities_give_exact_proportions() -> None:
    found = NoisyLabels(TopRatio(), clean="never").fit(EXACT)
    assert found.proportions_.alpha == pytest.approx(0.25, abs=1e-12)
    assert found.proportions_.beta == pytest.approx(0.75, abs=1e-12)
    assert found.diagnostics_["a"] == pytest.approx(1 / 3)
    assert found.diagnostics_["b"] == pytest.approx(1 / 3)
    assert found.diagnostics_["clean"] is False


@pytest.mark.parametrize(
    ("a", "b", "alpha", "beta"),
    [
        (1 / 3, 1 / 3, 0.25, 0.75),
        (0.1052632, 0.0555556, 0.1, 0.95),
        (0.4, 0.0, 0.4, 1.0),
        (0.5957895, 0.1152074, 0.566, 0.95),
    ],
)
def test_combination(a: float, b: float, alpha: float, beta: float) -> None:
    found = NoisyLabels(Fixed(a, flipped=b), clean="never").fit(EXACT).proportions_
    assert (found.alpha, found.beta) == pytest.approx((alpha, beta), abs=1e-6)


def test_clean_labels_are_found_clean_and_a_note_says_so() -> None:
    counts = sample(1.0)
    tested = NoisyLabels(TopRatio()).fit(counts)
    assert tested.proportions_.beta == 1
    assert tested.proportions_.alpha == TopRatio().fit(counts).proportions_.alpha
    assert tested.diagnostics_["clean"] is True
    assert tested.diagnostics_["clean_p_value"] > 0.05
    assert tested.diagnostics_["labeled_run"] is None
    assert any("taken as clean" in note for note in tested.diagnostics_["notes"])


def test_noisy_labels_are_found_noisy() -> None:
    tested = NoisyLabels(TopRatio()).fit(sample(0.75))
    never = NoisyLabels(TopRatio(), clean="never").fit(sample(0.75))
    assert tested.proportions_ == never.proportions_
    assert tested.proportions_.beta == pytest.approx(0.75, abs=0.05)
    assert tested.diagnostics_["clean_p_value"] < 0.05
    assert "clean_p_value" not in never.diagnostics_


@pytest.mark.parametrize("clean", ["test", "never", "always"])
@pytest.mark.parametrize("beta", [1.0, 0.97])
def test_replicates_are_single_fits(clean: str, beta: float) -> None:
    counts = sample(beta, n=100)
    labeled, unlabeled = replicates(counts)
    estimator = NoisyLabels(TopRatio(), clean=clean)  # type: ignore[arg-type]
    found = estimator.proportions_many(counts, labeled, unlabeled)
    expected = [
        single(estimator, counts.thresholds, few, many)
        for few, many in zip(labeled, unlabeled, strict=True)
    ]
    np.testing.assert_allclose(found, expected)


def test_both_runs_report() -> None:
    inner = Fixed(notes=("look here",), details={"at_edge": True, "identifiable": False, "x": 1})
    found = NoisyLabels(inner, clean="never").fit(EXACT).diagnostics_
    assert found["at_edge"] is True
    assert found["identifiable"] is False
    assert found["unlabeled_run"]["x"] == found["labeled_run"]["x"] == 1
    assert found["notes"] == ("look here", "with the samples exchanged, for beta: look here")
    quiet = NoisyLabels(Fixed(), clean="never").fit(EXACT).diagnostics_
    assert quiet["at_edge"] is False
    assert quiet["identifiable"] is True


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (NoisyLabels(), "which estimates beta itself"),
        (FixedNoisy(), "use FixedNoisy without NoisyLabels"),
        (MedianEnsemble([Fixed(), FixedNoisy()]), "use MedianEnsemble without"),
        (TopRatio, r"this is the class; write TopRatio\(\)"),
        ("bbe", r'prior_estimators\(\)\["bbe"\]\(\)'),
        (3, "subclass of PriorEstimator"),
    ],
)
def test_what_cannot_be_wrapped(estimator: object, words: str) -> None:
    with pytest.raises((InvalidInputError, InvalidTypeError), match=words) as caught:
        NoisyLabels(estimator).fit(EXACT)  # type: ignore[arg-type]
    assert "'estimator' parameter of NoisyLabels" in str(caught.value)


def test_parameters_of_the_wrapped_are_checked() -> None:
    class Picky(Fixed):
        def _check_params(self) -> None:
            raise InvalidInputError("Picky dislikes it.")

    for outer in (NoisyLabels(Picky()), MedianEnsemble([Fixed(), Picky()])):
        with pytest.raises(InvalidInputError, match="Picky dislikes it"):
            outer.fit(EXACT)


# -- the median -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "median"),
    [([0.2], 0.2), ([0.2, 0.4], 0.3), ([0.5, 0.1, 0.2], 0.2), ([0.1, 0.4, 0.2, 0.9], 0.3)],
)
def test_median_of_members(values: list[float], median: float) -> None:
    found = MedianEnsemble([Fixed(a) for a in values]).fit(EXACT)
    assert found.proportions_.alpha == pytest.approx(median)
    assert found.proportions_.beta == 1
    assert list(found.diagnostics_["members"].values()) == values
    assert found.diagnostics_["spread"] == pytest.approx(max(values) - min(values))


def test_members_that_differ_are_mentioned() -> None:
    far = MedianEnsemble([Fixed(0.2), Fixed(0.25), TopRatio()]).fit(EXACT).diagnostics_
    assert far["notes"][-1].startswith("the members differ by 0.13 (Fixed 0.2, TopRatio 0.333)")
    near = MedianEnsemble([Fixed(0.25), Fixed(0.3), TopRatio()]).fit(EXACT).diagnostics_
    assert near["notes"] == ()


def test_members_without_an_estimate_do_not_vote() -> None:
    found = MedianEnsemble([Fixed(0.2), Blind(), Fixed(0.3)]).fit(EXACT)
    assert found.proportions_.alpha == pytest.approx(0.25)
    assert "Blind finds no estimate and does not vote" in found.diagnostics_["notes"]
    with pytest.raises(IdentifiabilityError, match=r"finds an estimate\. Blind says"):
        MedianEnsemble([Blind(), Blind()]).fit(EXACT)


def test_members_of_beta_give_beta() -> None:
    ensemble = MedianEnsemble([FixedNoisy(0.2, 0.1), FixedNoisy(0.3, 0.3), Fixed(0.4)])
    expected = pu.MixtureProportions.from_inclusions(0.3, 0.2)
    assert ensemble.estimates_beta
    found = ensemble.fit(EXACT).proportions_
    assert (found.alpha, found.beta) == pytest.approx((expected.alpha, expected.beta))
    labeled, unlabeled = replicates(EXACT, 3)
    many = ensemble.proportions_many(EXACT, labeled, unlabeled)
    np.testing.assert_allclose(many, [[expected.alpha, expected.beta]] * 3)


def test_only_the_middle_decides_whether_the_median_is_at_an_edge() -> None:
    edge = {"at_edge": True}
    outer = MedianEnsemble([Fixed(0.0, details=edge), Fixed(0.05), Fixed(0.07)]).fit(EXACT)
    middle = MedianEnsemble([Fixed(0.0), Fixed(0.05, details=edge), Fixed(0.07)]).fit(EXACT)
    assert outer.diagnostics_["at_edge"] is False
    assert middle.diagnostics_["at_edge"] is True


@pytest.mark.parametrize("wrap", [False, True])
def test_median_of_replicates_is_that_of_single_fits(wrap: bool) -> None:
    counts = sample(0.8, n=100)
    labeled, unlabeled = replicates(counts)
    labeled[0] = 0  # nobody can tell anything about this one
    labeled[0, 0] = 1

    class Cautious(TopRatio):
        def _estimate(self, counts: pu.ScoreCounts) -> object:  # type: ignore[override]
            if counts.labeled[0] == 0:
                raise IdentifiabilityError("no labeled example at the top")
            return super()._estimate(counts)

    estimator: PriorEstimator = MedianEnsemble([Cautious(0.2), Cautious(0.05), TopRatio(0.1)])
    if wrap:
        estimator = NoisyLabels(estimator, clean="never")
    found = estimator.proportions_many(counts, labeled, unlabeled)
    expected = [
        single(estimator, counts.thresholds, few, many)
        for few, many in zip(labeled, unlabeled, strict=True)
    ]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    ("estimators", "words"),
    [
        ([], "at least one estimator"),
        (TopRatio(), "one is not an ensemble"),
        ("bbe", "must be a list of estimators"),
        (3, "must be a list of estimators"),
        ([TopRatio(), TopRatio], r"write TopRatio\(\)"),
        (["bbe"], "prior_estimators"),
    ],
)
def test_bad_members(estimators: object, words: str) -> None:
    with pytest.raises((InvalidInputError, InvalidTypeError), match=words) as caught:
        MedianEnsemble(estimators).fit(EXACT)  # type: ignore[arg-type]
    assert "'estimators' parameter of MedianEnsemble" in str(caught.value)


def test_two_rows_on_a_side_are_enough_to_ask_whether_labels_are_clean() -> None:
    X = np.column_stack((np.arange(12.0), np.arange(12.0) ** 2))
    noisy = NoisyLabels(pu.estimators.KernelMean())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        noisy.fit(X, np.arange(12) >= 10)
        assert "clean" in noisy.diagnostics_
    with pytest.raises(IdentifiabilityError, match="one example on a side"):
        noisy.fit(X, np.arange(12) >= 11)


# == clustered =================================================================================


def two_kinds(seed=0, *, labeled=(450, 50), hidden=(400, 400), negatives=1200, distance=4.0, p=2):
    """Two kinds of positives, some labeled, and negatives; labeled rows first."""
    rng = np.random.default_rng(seed)
    centers = np.zeros((3, p))
    centers[0, 0] = centers[1, 1] = distance
    kind = np.repeat([0, 1, 0, 1, 2], [*labeled, *hidden, negatives])
    X = centers[kind] + rng.normal(size=(kind.size, p))
    return X, np.arange(kind.size) < sum(labeled)


def alphas(estimator, seeds=3, **more):
    return np.mean([estimator.fit(*two_kinds(i, **more)).proportions_.alpha for i in range(seeds)])


@pytest.mark.slow
@pytest.mark.parametrize("inner", [None, BBE()], ids=["default", "bbe"])
def test_helps_where_one_kind_is_labeled_rarely(inner):
    # In the limit all labeled together give the least of 0.2/0.9 and 0.2/0.1, instead of 0.4.
    assert alphas(ClusteredLabels(inner, n_clusters=1)) == pytest.approx(0.2 / 0.9, abs=0.03)
    assert alphas(ClusteredLabels(inner)) == pytest.approx(0.4, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_one_skewed_kind_is_one_cluster(seed):
    # Half a dozen normal components describe it, and the sum over them would be far too high.
    rng = np.random.default_rng(seed)
    labeled = np.arange(5000) < 1000
    positive = np.arange(5000) < 2200
    X = np.where(
        positive[:, None], 1.5 + rng.exponential(1.5, size=(5000, 2)), rng.normal(size=(5000, 2))
    )
    found = ClusteredLabels().fit(X, labeled)
    assert found.diagnostics_["n_clusters"] == 1
    assert found.proportions_.alpha == pytest.approx(0.3, abs=0.03)
    split = ClusteredLabels(n_clusters=6).fit(X, labeled)
    assert split.proportions_.alpha > found.proportions_.alpha + 0.01


def test_merging():
    # The first two share rows, the third has its own.
    shares = np.array([[0.6, 0.4, 0], [0.4, 0.6, 0], [0.5, 0.5, 0], [0, 0, 1], [0, 0.02, 0.98]])
    found = _clustered.merged(shares, 0.05)
    np.testing.assert_allclose(found, np.column_stack((shares[:, :2].sum(axis=1), shares[:, 2])))
    assert _clustered.merged(shares, 0.9) is shares
    assert _clustered.merged(np.ones((3, 1)), 0.05).shape == (3, 1)
    np.testing.assert_allclose(_clustered.merged(shares, 0.0).sum(axis=1), 1)
    # A component without rows of its own is taken in by none.
    empty = np.column_stack((shares[:, :2], np.zeros(5)))
    assert _clustered.merged(empty, 0.05).shape == (5, 2)


def test_says_what_it_found():
    estimator = ClusteredLabels().fit(*two_kinds())
    found = estimator.diagnostics_
    assert found["n_clusters"] == 2
    assert sorted(found["labeled"]) == pytest.approx([0.1, 0.9], abs=0.01)
    assert sum(found["alphas"]) == pytest.approx(estimator.proportions_.alpha)
    assert estimator.proportions_.beta == 1
    assert estimator.n_features_in_ == 2
    json.dumps(dict(found), allow_nan=False)


def test_sum_over_clusters():
    estimator = ClusteredLabels(Fixed(0.15, notes=("beware",)), n_clusters=3).fit(*two_kinds())
    assert estimator.proportions_.alpha == pytest.approx(0.45)
    notes = estimator.diagnostics_["notes"]
    assert [note for note in notes if "beware" in note] == [
        f"cluster {k} of 3: beware" for k in (1, 2, 3)
    ]
    with pytest.raises(IdentifiabilityError, match="cannot be told apart"):
        ClusteredLabels(Fixed(0.4), n_clusters=3).fit(*two_kinds())


def test_fewer_distinct_rows_than_clusters():
    X, labeled = two_kinds()
    X[labeled] = np.round(X[labeled]).clip(4, 5)[:, :1] * [1, 0]
    found = ClusteredLabels(Fixed(0.1), n_clusters=7).fit(X, labeled).diagnostics_
    assert found["n_clusters"] <= 2
    assert any("could be told apart" in note for note in found["notes"])


@pytest.mark.slow
def test_scores_know_nothing_of_their_own_label():
    # On pure noise, a model that remembers would tell labeled from unlabeled.
    rng = np.random.default_rng(0)
    rows = Rows(rng.normal(size=(300, 3)), rng.normal(size=(600, 3)))
    forest = RandomForestClassifier(30, random_state=0)
    ours, others = out_of_fold_scores(rows, forest, rng)
    assert ours.shape == (300,)
    assert others.shape == (600,)
    above = (ours[:, None] > others).mean() + (ours[:, None] == others).mean() / 2
    assert above == pytest.approx(0.5, abs=0.08)


def test_too_few():
    with pytest.raises(IdentifiabilityError, match="two labeled and two unlabeled"):
        ClusteredLabels().fit(np.arange(12.0).reshape(6, 2), [1, 0, 0, 0, 0, 0])
    with pytest.raises(IdentifiabilityError, match="Blind sees nothing"):
        ClusteredLabels(Blind()).fit(*two_kinds())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tiny = ScoreCounts.from_counts([3, 2, 1], [3, 1, 0], [1, 2, 3])
        assert 0 <= ClusteredLabels().fit(tiny).proportions_.alpha < 1


@pytest.mark.slow
def test_threads_are_left_to_the_classifier_of_others(monkeypatch):
    """Clusters and the default classifier keep to one thread; what a user brings does not."""
    from threadpoolctl import threadpool_info, threadpool_limits

    seen = {"mixture": set(), "default": set(), "given": set()}

    def watched(name, function):
        def call(*args, **kwargs):
            seen[name] |= {pool["num_threads"] for pool in threadpool_info()}
            return function(*args, **kwargs)

        return call

    class Given(LogisticRegression):
        fit = watched("given", LogisticRegression.fit)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2)) + 4 * (np.arange(600) < 300)[:, None]
    labeled = np.arange(600) < 150
    monkeypatch.setattr(_clustered, "_mixture", watched("mixture", _clustered._mixture))
    with threadpool_limits(2):
        ClusteredLabels(classifier=Given()).fit(X, labeled)
        with monkeypatch.context() as patch:
            patch.setattr(LogisticRegression, "fit", watched("default", LogisticRegression.fit))
            ClusteredLabels().fit(X, labeled)
    assert seen == {"mixture": {1}, "default": {1}, "given": {2}}


@pytest.mark.parametrize("sizes", [(1, 9), (9, 1)])
def test_a_single_example_has_no_scores_out_of_fold(sizes):
    rng = np.random.default_rng(0)
    labeled, unlabeled = (rng.normal(size=(n, 2)) for n in sizes)
    with pytest.raises(IdentifiabilityError, match="two labeled and two unlabeled"):
        out_of_fold_scores(Rows(labeled, unlabeled), None, rng)


def test_as_many_clusters_are_tried_as_there_are_rows_for():
    rng = np.random.default_rng(0)
    middles = np.repeat([[0, 0], [20, 0], [0, 20]], _clustered.FEWEST_LABELED, axis=0)
    found = ClusteredLabels()._clusters(middles + rng.normal(size=middles.shape), rng)
    assert len(np.unique(found)) == 3


# == subsampling ===============================================================================


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


def alphas_subsampling(estimator, world, *, n=(1000, 5000), alpha=0.25, seeds=5):
    samples = (world.sample(*n, alpha=alpha, random_state=i) for i in range(seeds))
    return np.mean([estimator.fit(s.scores, s.labeled).proportions_.alpha for s in samples])


@pytest.mark.slow
@pytest.mark.parametrize("inner", [BBE(), MedianEnsemble()], ids=["bbe", "median"])
def test_the_right_ceiling_makes_it_right(inner):
    world = simulate.laplace(1)
    # What the highest scores are: alpha f1 / f, which is largest where f0/f1 is smallest.
    ceiling = 0.25 / (0.25 + 0.75 * world.positive_inclusion)
    assert alphas_subsampling(inner, world) > 0.25 + 0.2
    assert alphas_subsampling(Subsampling(inner, ceiling=ceiling), world) == pytest.approx(
        0.25, abs=0.03
    )


@pytest.mark.parametrize("ceiling", [0.7, 1.0])
def test_roles_exchanged(ceiling):
    counts = simulate.binormal(2).sample(200, 500, alpha=0.3, beta=0.9, random_state=0).counts
    estimator = Subsampling(BBE(), ceiling=ceiling)
    direct = estimator._estimate(flipped_counts(counts)).a
    assert estimator._estimate_flipped(counts).a == pytest.approx(direct, rel=1e-12)
    many = estimator._estimate_many_flipped(counts, counts.labeled[None], counts.unlabeled[None])
    assert many[0] == pytest.approx([direct, 0.0])


# == regrouping ================================================================================


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
    plain = alphas_regrouping(inner or MedianEnsemble(), world)
    assert plain > 0.25 + 0.2
    assert 0.25 < alphas_regrouping(Regrouping(inner), world) < plain - 0.07


def test_regrouping_roles_exchanged():
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


def kinds_of_rows(n_labeled, n_features=2, seed=0):
    """Two kinds of positives, equally frequent among the unlabeled, and negatives."""
    rng = np.random.default_rng(seed)
    centers = np.zeros((3, n_features))
    centers[0, 0] = centers[1, 1] = 6
    kind = np.repeat([0, 1, 0, 1, 2], [*n_labeled, 400, 400, 1200])
    labeled = np.arange(kind.size) < sum(n_labeled)
    return centers[kind] + rng.normal(size=(kind.size, n_features)), labeled


def test_columns_of_two_values_hide_no_kinds():
    for seed in range(4):
        X, labeled = kinds_of_rows((300, 100), seed=seed)
        lots = np.random.default_rng(seed).random((len(X), 3)) < 0.5
        table = np.column_stack((X, lots))
        if seed % 2:  # in words
            table = pd.DataFrame(X, columns=["a", "b"]).assign(lot=np.where(lots[:, 0], "x", "y"))
        found = best_scorer.label_rates(read_examples(table, labeled), seed=0)
        assert found.n_kinds == 2
        assert (found.lowest, found.highest) == pytest.approx((100 / 500, 300 / 700), abs=0.03)
        assert found.surely_unlike > 1.5
        # A column that does tell kinds apart is still looked at.
        same, labeled = kinds_of_rows((300, 100), seed=seed)
        kind = (same[:, 0] > 3).astype(float)
        found = best_scorer.label_rates(
            read_examples(np.column_stack((same.sum(axis=1), 6 * kind)), labeled), seed=0
        )
        assert found.surely_unlike > 1.5


@pytest.mark.parametrize(
    ("n_labeled", "warns"), [((450, 60), True), ((250, 250), False), ((30, 30), False)]
)
def test_a_report_of_features_sees_kinds_that_are_labeled_unequally(n_labeled, warns):
    X, labeled = kinds_of_rows(n_labeled)
    X[5, 0] = np.nan  # as a model may allow
    model = make_pipeline(SimpleImputer(), LogisticRegression())
    report = pu.evaluate_model(model, X, labeled, alpha=0.4, n_resamples=0)
    check = next(each for each in report.checks if each.code == "PU020")
    assert check.fired == warns
    assert (check.status == "not applicable") == (sum(n_labeled) < 100)
    random = next(each for each in report.assumptions if each.name == "labels-at-random")
    if warns:  # truly 60 of 460 and 450 of 850
        found = re.search(r"2 kinds .* these (\d+) % to (\d+) % of the positives", check.message)
        assert [int(rate) for rate in found.groups()] == pytest.approx([13, 53], abs=4)
        assert random.verdict == "doubtful"
        assert check.message in random.evidence
    else:  # where nothing was looked at, scores alone are meant
        assert random.verdict == "cannot tell"
        seen = "2 kinds of labeled examples" in random.evidence
        assert seen == (check.status == "quiet") == ("scores alone" not in random.evidence)


def test_no_kind_of_fewer_rows_than_a_classifier_needs():
    X, labeled = kinds_of_rows((80, 80), n_features=70)
    X[:3] += 40  # rows like no other are no kind
    found = ClusteredLabels().fit(X, labeled)
    assert min(found.diagnostics_["labeled"]) * 160 >= 50
    assert 0 < found.proportions_.alpha < 1


def test_rates_of_kinds_are_those_of_all_rows_though_few_are_looked_at(monkeypatch):
    X, labeled = kinds_of_rows((450, 60))
    many, again = np.tile(X, (4, 1)), np.tile(labeled, 4)
    whole = best_scorer.label_rates(read_examples(X, labeled), seed=0)
    monkeypatch.setattr(best_scorer, "MOST_LOOKED_AT", (510, 1500))
    drawn = best_scorer.label_rates(read_examples(many, again), seed=0)
    assert (drawn.lowest, drawn.highest) == pytest.approx((whole.lowest, whole.highest), abs=0.06)
    assert drawn.surely_unlike > 1.5
