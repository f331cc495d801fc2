"""NoisyLabels: exact proportions, tests of clean labels, replicates and refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from tests.prior_dummies import Fixed, FixedNoisy, TopRatio

import purecover as pu
from purecover.estimators.base import PriorEstimator
from purecover.estimators.noisy import NoisyLabels
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError
from purecover_paper import systems

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


def test_exact_densities_give_exact_proportions() -> None:
    found = NoisyLabels(TopRatio(), clean="never").fit(EXACT)
    assert found.proportions_.alpha == pytest.approx(0.25, abs=1e-12)
    assert found.proportions_.beta == pytest.approx(0.75, abs=1e-12)
    assert found.diagnostics_["a"] == pytest.approx(1 / 3)
    assert found.diagnostics_["b"] == pytest.approx(1 / 3)
    assert found.diagnostics_["clean"] is False


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
        (FixedNoisy(), "use FixedNoisy by itself"),
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

    with pytest.raises(InvalidInputError, match="Picky dislikes it"):
        NoisyLabels(Picky()).fit(EXACT)


def test_two_rows_on_a_side_are_enough_to_ask_whether_labels_are_clean() -> None:
    X = np.column_stack((np.arange(12.0), np.arange(12.0) ** 2))
    noisy = NoisyLabels(systems.KernelMean())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        noisy.fit(X, np.arange(12) >= 10)
        assert "clean" in noisy.diagnostics_
    with pytest.raises(IdentifiabilityError, match="one row on a side"):
        noisy.fit(X, np.arange(12) >= 11)
