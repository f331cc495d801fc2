"""Two runs make any estimator one of beta too; several estimators make a median."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from tests.prior_dummies import Blind, Fixed, FixedNoisy, TopRatio

import purecover as pu
from purecover.estimators import wrappers as _ensemble
from purecover.estimators.base import PriorEstimator
from purecover.estimators.samples import flipped_counts
from purecover.estimators.wrappers import MedianEnsemble, NoisyLabels
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError

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


def test_exchanging_the_samples_exchanges_the_shares() -> None:
    counts = sample(0.75)
    estimator = NoisyLabels(TopRatio(), clean="never")
    there = clone(estimator).fit(counts).proportions_
    back = clone(estimator).fit(flipped_counts(counts)).proportions_
    assert back.alpha == pytest.approx(1 - there.beta, abs=1e-12)
    assert back.beta == pytest.approx(1 - there.alpha, abs=1e-12)


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


def test_labels_declared_clean_are_not_tested() -> None:
    declared = NoisyLabels(TopRatio(), clean="always").fit(sample(0.75))
    assert declared.proportions_.beta == 1
    assert not declared.estimates_beta
    assert "clean_p_value" not in declared.diagnostics_


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


def test_samples_alike_are_an_error() -> None:
    with pytest.raises(IdentifiabilityError, match="cannot be told"):
        NoisyLabels(Fixed(0.3, flipped=1.0), clean="never").fit(EXACT)


def test_parameters_stay_untouched() -> None:
    inner = TopRatio()
    NoisyLabels(inner).fit(EXACT)
    MedianEnsemble([inner]).fit(EXACT)
    assert vars(inner) == {"share": 0.1}


def test_nested_parameters() -> None:
    estimator = NoisyLabels(TopRatio(0.1)).set_params(estimator__share=0.5, clean="never")
    copy = clone(estimator)
    assert copy.get_params()["estimator__share"] == 0.5
    assert copy.estimator is not estimator.estimator
    assert repr(copy) == "NoisyLabels(clean='never', estimator=TopRatio(share=0.5))"
    assert pickle.loads(pickle.dumps(copy.fit(EXACT))).proportions_ == copy.proportions_  # noqa: S301


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


def test_bad_rule() -> None:
    with pytest.raises(InvalidInputError, match="'clean' parameter of NoisyLabels must be one of"):
        NoisyLabels(clean="tset").fit(EXACT)  # type: ignore[arg-type]


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


def test_members_are_named_and_numbered() -> None:
    found = MedianEnsemble([Fixed(), TopRatio(), Fixed(), Fixed()]).fit(EXACT)
    assert list(found.diagnostics_["members"]) == ["Fixed", "TopRatio", "Fixed 2", "Fixed 3"]


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


def test_replicates_nobody_can_read_have_no_estimate() -> None:
    labeled, unlabeled = replicates(EXACT, 4)
    found = MedianEnsemble([Blind(), Blind()]).proportions_many(EXACT, labeled, unlabeled)
    assert np.isnan(found).all()


def test_default_members() -> None:
    counts = sample(n=200)
    members = _ensemble.default_members()
    assert [type(m).__name__ for m in members] == ["DEDPUL", "RocSlope", "AlphaMax"]
    singles = [m.fit(counts).proportions_.alpha for m in members]
    found = MedianEnsemble().fit(counts)
    assert found.proportions_.alpha == pytest.approx(np.median(singles), abs=1e-12)
    assert list(found.diagnostics_["members"].values()) == pytest.approx(singles)


@pytest.mark.parametrize("beta", [1.0, 0.7])
def test_no_line_is_needed_to_tell_clean_labels(beta: float) -> None:
    """Positives are a ring around the negatives, in which a line sees nothing."""
    rng = np.random.default_rng(1)
    labeled = np.arange(2500) < 500
    positive = rng.random(2500) < np.where(labeled, beta, 0.25)
    radius = np.where(positive, rng.normal(3.5, 0.4, 2500), np.abs(rng.normal(size=2500)))
    angle = rng.uniform(0, 2 * np.pi, 2500)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    found = NoisyLabels(pu.PenalizedL1(random_state=0)).fit(X, labeled)
    assert found.diagnostics_["clean"] == (beta == 1)
    assert found.proportions_.beta == pytest.approx(beta, abs=0.1)


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


def test_ensemble_copies() -> None:
    ensemble = MedianEnsemble([TopRatio(0.2), Fixed()])
    copy = clone(ensemble)
    assert copy.estimators is not None
    assert copy.estimators[0] is not ensemble.estimators[0]  # type: ignore[index]
    assert repr(copy) == "MedianEnsemble(estimators=[TopRatio(share=0.2), Fixed()])"
    assert pickle.loads(pickle.dumps(copy.fit(EXACT))).proportions_ == copy.proportions_  # noqa: S301


def test_two_rows_on_a_side_are_enough_to_ask_whether_labels_are_clean() -> None:
    X = np.column_stack((np.arange(12.0), np.arange(12.0) ** 2))
    noisy = NoisyLabels(pu.KernelMean())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        noisy.fit(X, np.arange(12) >= 10)
        assert "clean" in noisy.diagnostics_
    with pytest.raises(IdentifiabilityError, match="one example on a side"):
        noisy.fit(X, np.arange(12) >= 11)
