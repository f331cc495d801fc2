from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from tests.strategies import two_samples

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators.elkan_noto import ElkanNoto
from purecover.estimators.wrappers import NoisyLabels
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError

VARIANTS = ["e1", "e2", "e3"]
LABELED, UNLABELED = [0.6, 0.5, 0.4], [0.5, 0.3, 0.2, 0.1, 0.1, 0.2, 0.05]


def true_probabilities(sample, alpha):
    """P(labeled | score) in the sample, from the densities of its world."""
    positive = sample.world.positive_density(sample.scores)
    negative = sample.world.negative_density(sample.scores)
    labeled = sample.labeled.sum() * positive
    return labeled / (
        labeled + (~sample.labeled).sum() * (alpha * positive + (1 - alpha) * negative)
    )


@pytest.mark.parametrize(
    ("variant", "share", "alternative", "main"),
    [
        ("e1", 0.5, 0.4285714, 0.3147750),
        ("e2", 0.5084746, 0.4142857, 0.3042825),
        ("e3", 0.6, 0.2857143, 0.2098500),
    ],
)
def test_worked_example(variant, share, alternative, main):
    for rule, alpha in (("alternative", alternative), ("main", main)):
        estimator = ElkanNoto(variant=variant, calibration="none", rule=rule, quantile=1.0)
        estimator.fit(*two_samples(LABELED, UNLABELED))
        assert estimator.proportions_.alpha == pytest.approx(alpha, abs=1e-7)
        assert estimator.diagnostics_["labeled_given_positive"] == pytest.approx(share, abs=1e-7)
        pooled = estimator.diagnostics_["pooled_prior"]
        assert pooled == pytest.approx((3 + 7 * alpha) / 10, abs=1e-7)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("rule", ["alternative", "main"])
def test_isotonic_calibration_equals_calibrating_first(variant, rule):
    sample = simulate.binormal(2).sample(100, 400, alpha=0.4, random_state=3)
    scores = np.round(sample.scores, 1)  # with ties
    tau = IsotonicRegression().fit(scores, sample.labeled).predict(scores)
    for quantile in (1.0, 0.9):
        settings = {"variant": variant, "rule": rule, "quantile": quantile}
        own = ElkanNoto(**settings).fit(scores, sample.labeled)
        given = ElkanNoto(**settings, calibration="none").fit(tau, sample.labeled)
        assert own.proportions_.alpha == pytest.approx(given.proportions_.alpha, abs=1e-9)


def test_quantile_of_the_labeled():
    sample = simulate.binormal(2).sample(100, 400, alpha=0.4, random_state=3)
    tau = true_probabilities(sample, 0.4)
    for quantile in (0.5, 0.9, 0.95):
        estimator = ElkanNoto(variant="e3", calibration="none", quantile=quantile)
        estimator.fit(tau, sample.labeled)
        expected = np.quantile(tau[sample.labeled], quantile, method="inverted_cdf")
        found = estimator.diagnostics_["labeled_given_positive"]
        # The smallest score that at least a share of 1 - quantile reaches, or its neighbor.
        order = np.sort(tau[sample.labeled])
        assert abs(np.searchsorted(order, found) - np.searchsorted(order, expected)) <= 1


def test_e3_is_exact_given_true_probabilities():
    errors = []
    for n in (100, 1000, 10_000):
        sample = simulate.binormal(3).sample(n, 5 * n, alpha=0.25, random_state=0)
        tau = true_probabilities(sample, 0.25)
        found = ElkanNoto(variant="e3", calibration="none", quantile=1.0).fit(tau, sample.labeled)
        errors.append(abs(found.proportions_.alpha - 0.25))
    assert max(errors) < 0.01
    assert errors[2] < 1e-4


@pytest.mark.parametrize("variant", ["e1", "e2"])
def test_error_shrinks_where_classes_do_not_overlap(variant):
    errors = []
    for n in (100, 10_000):
        found = [
            ElkanNoto(variant=variant).fit(s.scores, s.labeled).proportions_.alpha
            for s in (
                simulate.binormal(9).sample(n, 5 * n, alpha=0.25, random_state=i) for i in range(10)
            )
        ]
        errors.append(np.mean(np.abs(np.subtract(found, 0.25))))
    assert errors[1] < errors[0] / 2
    assert errors[1] < 0.01


def test_relaxed_e3_needs_no_calibrated_scores():
    errors = []
    for n in (100, 1000, 10_000):
        found = [
            ElkanNoto(variant="e3", quantile=0.9).fit(np.exp(s.scores), s.labeled)
            for s in (
                simulate.binormal(3).sample(n, 5 * n, alpha=0.25, random_state=i) for i in range(10)
            )
        ]
        errors.append(np.mean(np.abs([e.proportions_.alpha - 0.25 for e in found])))
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 0.01


def test_the_default_is_the_relaxed_maximum():
    sample = simulate.binormal(3).sample(1000, 5000, alpha=0.25, random_state=0)
    spelled = ElkanNoto(variant="e3", calibration="isotonic", rule="alternative", quantile=0.9).fit(
        sample.scores, sample.labeled
    )
    assert ElkanNoto().fit(sample.scores, sample.labeled).proportions_ == spelled.proportions_
    # An independent account of it: scikit-learn's isotonic regression and NumPy's quantile.
    tau = IsotonicRegression().fit(sample.scores, sample.labeled).predict(sample.scores)
    share = np.quantile(tau[sample.labeled], 0.9, method="inverted_cdf")
    expected = (1000 / share - 1000) / 5000
    assert spelled.proportions_.alpha == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_run_both_ways_the_default_beats_the_means(beta):
    errors = {"e1": [], "e3": []}
    for seed in range(5):
        sample = simulate.binormal(3).sample(2000, 8000, alpha=0.3, beta=beta, random_state=seed)
        for variant, found in errors.items():
            estimator = NoisyLabels(ElkanNoto(variant=variant))
            estimator.fit(sample.scores, sample.labeled)
            at = estimator.proportions_
            found.append(abs(at.alpha - 0.3) + abs(at.beta - beta))
    assert np.mean(errors["e3"]) < np.mean(errors["e1"]) / 2
    assert np.mean(errors["e3"]) < 0.1


def test_e1_errs_upward_under_overlap():
    sample = simulate.binormal(2).sample(10_000, 50_000, alpha=0.25, random_state=0)
    for variant in ("e1", "e2"):
        found = ElkanNoto(variant=variant).fit(sample.scores, sample.labeled)
        assert found.proportions_.alpha > 0.25 + 0.1


def test_e3_fails_without_calibration():
    # Probabilities of a classifier that gives both samples equal weight, as many do.
    sample = simulate.binormal(3).sample(1000, 5000, alpha=0.25, random_state=0)
    tau = true_probabilities(sample, 0.25)
    balanced = 5 * tau / (5 * tau + (1 - tau))
    found = ElkanNoto(variant="e3", calibration="none", quantile=1.0).fit(balanced, sample.labeled)
    assert found.proportions_.alpha < 0.25 - 0.15
    calibrated = ElkanNoto(variant="e3", quantile=0.9).fit(balanced, sample.labeled)
    assert calibrated.proportions_.alpha == pytest.approx(0.25, abs=0.03)


def test_the_maximum_of_calibrated_scores_is_fragile():
    # One labeled example on top of all others.
    scores, labeled = two_samples([9, 3, 2, 1, 3, 2, 1] * 2, [*range(4)] * 10)
    found = ElkanNoto(variant="e3", quantile=1.0).fit(scores, labeled)
    assert found.proportions_.alpha == 0
    assert found.diagnostics_["at_edge"]
    assert any("alpha = 0" in note for note in found.diagnostics_["notes"])
    relaxed = ElkanNoto(variant="e3", quantile=0.7).fit(scores, labeled)
    assert relaxed.proportions_.alpha > 0.1
    assert not relaxed.diagnostics_["at_edge"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_calibrated_it_depends_on_the_order_only(variant):
    sample = simulate.binormal(2).sample(200, 1000, alpha=0.4, random_state=1)
    estimator = ElkanNoto(variant=variant, quantile=0.9)
    plain = estimator.fit(sample.scores, sample.labeled).proportions_.alpha
    for mapped in (np.exp(sample.scores), np.arctan(sample.scores), 1e-9 * sample.scores - 5):
        assert estimator.fit(mapped, sample.labeled).proportions_.alpha == plain


@pytest.mark.parametrize("calibration", ["isotonic", "none"])
@pytest.mark.parametrize("rule", ["alternative", "main"])
def test_flipping_mirrors_the_problem(calibration, rule):
    sample = simulate.binormal(3).sample(1000, 3000, alpha=0.3, beta=0.9, random_state=0)
    scores = 1 / (1 + np.exp(-sample.scores))
    estimator = ElkanNoto(variant="e2", calibration=calibration, rule=rule)
    flipped = estimator._estimate_flipped(ScoreCounts.from_scores(scores, sample.labeled))
    mirrored = estimator._estimate(ScoreCounts.from_scores(1 - scores, ~sample.labeled))
    assert flipped.a == pytest.approx(mirrored.a, abs=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_replicates_equal_fits_one_by_one(variant):
    counts = simulate.binormal(2).sample(80, 300, alpha=0.4, random_state=1).counts
    rng = np.random.default_rng(0)
    labeled = rng.multinomial(80, counts.labeled / 80, 10)
    unlabeled = rng.multinomial(300, counts.unlabeled / 300, 10)
    estimator = ElkanNoto(variant=variant, quantile=0.9)
    found = estimator._estimate_many(counts, labeled, unlabeled)
    for row, few, many in zip(found, labeled, unlabeled, strict=True):
        used = (few > 0) | (many > 0)
        alone = ScoreCounts.from_counts(counts.thresholds[used], few[used], many[used])
        assert row[0] == pytest.approx(estimator._estimate(alone).a, rel=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("rule", ["alternative", "main"])
def test_integer_weights_are_repeated_rows(variant, rule):
    sample = simulate.binormal(2).sample(100, 500, alpha=0.4, random_state=1)
    repeats = np.random.default_rng(0).integers(0, 4, sample.scores.size)
    rows = np.repeat(np.arange(repeats.size), repeats)
    estimator = ElkanNoto(variant=variant, rule=rule, quantile=0.9)
    repeated = estimator.fit(sample.scores[rows], sample.labeled[rows]).proportions_.alpha
    estimator.fit(sample.scores, sample.labeled, sample_weight=repeats)
    assert estimator.proportions_.alpha == pytest.approx(repeated, rel=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_extremes(variant):
    estimator = ElkanNoto(variant=variant)
    separated = estimator.fit(*two_samples([3, 4, 5] * 10, [0, 1, 2] * 20))
    assert separated.proportions_.alpha == 0
    assert separated.diagnostics_["at_edge"]
    with pytest.raises(IdentifiabilityError, match="constant score"):
        estimator.fit(*two_samples([1] * 10, [1] * 20))
    with pytest.raises(IdentifiabilityError, match="larger for positives"):
        estimator.fit(*two_samples([0, 1, 2] * 10, [3, 4, 5] * 20))
    no_positives = simulate.binormal(5).sample(500, 5000, alpha=0, random_state=0)
    found = estimator.fit(no_positives.scores, no_positives.labeled)
    assert 0 <= found.proportions_.alpha < 0.05
    ten = simulate.binormal(3).sample(10, 200, alpha=0.3, random_state=0)
    assert 0 <= estimator.fit(ten.scores, ten.labeled).proportions_.alpha < 1


def test_probabilities_at_the_ends_of_the_scale():
    for rule, variant in product(("alternative", "main"), VARIANTS):
        estimator = ElkanNoto(variant=variant, calibration="none", rule=rule)
        estimator.fit(*two_samples([1, 1, 0.5], [1, 0, 0, 0, 0.2]))
        assert 0 <= estimator.proportions_.alpha < 1
    for variant in VARIANTS[:2]:
        with pytest.raises(IdentifiabilityError, match="got 0 throughout"):
            ElkanNoto(variant=variant, calibration="none").fit(*two_samples([0, 0], [0.5, 0.1]))


def test_scores_that_are_no_probabilities():
    with pytest.raises(InvalidInputError, match=r"(?s)between 0 and 1.*isotonic") as caught:
        ElkanNoto(calibration="none").fit(*two_samples([2.5, 3], [-1, 1]))
    assert "scores from -1 to 3" in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"variant": "e4"}, InvalidInputError),
        ({"variant": 1}, InvalidTypeError),
        ({"calibration": "platt"}, InvalidInputError),
        ({"rule": "other"}, InvalidInputError),
        ({"quantile": 0}, InvalidInputError),
        ({"quantile": 1.5}, InvalidInputError),
    ],
)
def test_bad_parameters(parameters, error):
    (parameter,) = parameters
    with pytest.raises(error, match=f"'{parameter}' parameter of ElkanNoto"):
        ElkanNoto(**parameters).fit(*two_samples([2, 3], [0, 1]))


def test_says_only_what_is_so():
    plain = ElkanNoto(calibration="none", rule="main", quantile=1.0)
    found = plain.fit([*LABELED, *UNLABELED], [1] * 3 + [0] * 7).diagnostics_
    assert not any("alpha = 0" in note for note in found["notes"])
    assert found["at_edge"] is False
    none = plain.fit([0.5, 0.4, 0.0, 0.0, 0.0], [1, 1, 0, 0, 0])
    assert none.proportions_.alpha == 0
    assert any("alpha = 0" in note for note in none.diagnostics_["notes"])
    assert none.diagnostics_["at_edge"] is True
