"""One registry, many properties: every metric earns all of these by being registered."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purecover as pu
from purecover.recovery.curves import area_under_pr, min_auc_pr
from purecover.recovery.metrics import MetricOptions

# Metrics of probabilities, which change with maps of scores, have tests/test_probabilities.py.
ALL = sorted(n for n in pu.METRICS if pu.METRICS[n].kind != "probability")
OF_CURVE = [n for n in ALL if pu.METRICS[n].kind == "ranking"]
OF_TOP_K = [n for n in ALL if pu.METRICS[n].kind == "top_k"]
OF_PRIOR = [n for n in ALL if pu.METRICS[n].depends_on_prior]
FREE_OF_PRIOR = [n for n in ALL if not pu.METRICS[n].depends_on_prior]

NOISY = pu.MixtureProportions(0.2, 0.9)
CLEAN = pu.MixtureProportions(0.2)
NOTHING_TO_DO = pu.MixtureProportions(0.0, 1.0)
TOP_K = 40


def sample(seed: int = 0, n_labeled: int = 150, n_unlabeled: int = 400) -> pu.simulate.Sample:
    return pu.simulate.binormal(1.5).sample(
        n_labeled, n_unlabeled, alpha=0.2, beta=0.9, random_state=seed
    )


def value(
    name: str,
    counts: pu.ScoreCounts,
    proportions: pu.MixtureProportions = NOISY,
    *,
    threshold: float = 0.75,
    top_k: int = TOP_K,
    **options: object,
) -> float:
    return pu.recover_metrics(
        counts,
        proportions,
        metrics=[name],
        threshold=threshold,
        top_k=top_k,
        **options,  # type: ignore[arg-type]
    )[name]


@pytest.mark.parametrize("name", ALL)
def test_order_of_rows_does_not_matter(name: str) -> None:
    s = sample()
    order = np.random.default_rng(1).permutation(s.scores.size)
    shuffled = pu.ScoreCounts.from_scores(s.scores[order], s.labeled[order])
    assert value(name, shuffled) == value(name, s.counts)


@pytest.mark.parametrize("name", ALL)
def test_increasing_maps_of_scores_do_not_matter(name: str) -> None:
    s = sample()
    mapped = pu.ScoreCounts.from_scores(np.exp(s.scores / 2) - 3, s.labeled)
    at = float(np.exp(0.75 / 2) - 3)
    assert value(name, mapped, threshold=at) == value(name, s.counts, threshold=0.75)


@pytest.mark.parametrize("repair", [None, "none", "likelihood"])
@pytest.mark.parametrize("name", ALL)
def test_doubling_the_data_does_not_matter(name: str, repair: str | None) -> None:
    if repair is None and pu.METRICS[name].kind == "ranking" and pu.METRICS[name].depends_on_prior:
        pytest.skip("the default repair of these, a blend, weighs by the size of the noise")
    counts = sample().counts
    doubled = value(name, counts + counts, top_k=2 * TOP_K, repair=repair)
    single = value(name, counts, repair=repair)
    assert doubled == pytest.approx(single, rel=1e-9, nan_ok=repair == "none")


@pytest.mark.parametrize("repair", [None, "none", "paper"])
@pytest.mark.parametrize("name", [n for n in ALL if n != "precision_at_k"])
def test_nothing_to_recover_gives_the_observed_value(name: str, repair: str) -> None:
    # Alpha 0 and beta 1: unlabeled are negative. Prior-dependent metrics must then speak of
    # the pooled data, as the observed ones do.
    counts = sample().counts
    metrics = pu.recover_metrics(
        counts,
        NOTHING_TO_DO,
        metrics=[name],
        threshold=0.75,
        top_k=TOP_K,
        target="pooled",
        repair=repair,  # type: ignore[arg-type]
    )
    assert metrics[name] == pytest.approx(metrics.observed[name], rel=1e-12)


def test_precision_at_k_speaks_of_the_unlabeled() -> None:
    # Without positives among them none of the best k is one, whatever the target.
    assert value("precision_at_k", sample().counts, NOTHING_TO_DO, target="pooled") == 0


@pytest.mark.parametrize("name", OF_PRIOR)
def test_no_positives_in_deployment_gives_zero_or_undefined(name: str) -> None:
    # At prior 0 a positive prediction is always wrong; what divides by the prior is undefined
    # or, for ratios that cancel it, finite.
    got = value(name, sample().counts, NOTHING_TO_DO, target="deployment")
    expected = {
        "accuracy": value("specificity", sample().counts, NOTHING_TO_DO),
        "npv": 1.0,
        "fdr": 1.0,
        "cost": value("fpr", sample().counts, NOTHING_TO_DO),
        # recall over share flagged: both stay defined
        "lift": value("recall", sample().counts, NOTHING_TO_DO)
        / value("fpr", sample().counts, NOTHING_TO_DO),
        "lee_liu": value("recall", sample().counts, NOTHING_TO_DO) ** 2
        / value("fpr", sample().counts, NOTHING_TO_DO),
    }.get(name, 0.0)
    assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", FREE_OF_PRIOR)
def test_prior_does_not_matter_where_it_should_not(name: str) -> None:
    counts = sample().counts
    assert value(name, counts, target=0.1) == value(name, counts, target=0.7)


@pytest.mark.parametrize("name", OF_PRIOR)
def test_prior_matters_where_it_should(name: str) -> None:
    counts = sample().counts
    assert value(name, counts, target=0.1) != pytest.approx(value(name, counts, target=0.7))


@pytest.mark.parametrize("name", OF_CURVE)
def test_constant_scores_are_chance(name: str) -> None:
    counts = pu.ScoreCounts.from_counts([1.0], labeled=[30], unlabeled=[70])
    chance = {
        "roc_auc": 0.5,
        "partial_auc": 0.5,
        "auc_pr": 0.3,
        "average_precision": 0.3,
        "normalized_auc_pr": (0.3 - min_auc_pr(0.3)) / (1 - min_auc_pr(0.3)),
    }
    assert value(name, counts, threshold=1.0, target=0.3) == pytest.approx(chance[name], abs=1e-12)


@pytest.mark.parametrize("proportions", [CLEAN, NOISY], ids=["clean", "noisy"])
@pytest.mark.parametrize("target", ["deployment", 0.37])
@pytest.mark.parametrize("name", ALL)
def test_corrupt_then_recover(
    name: str, target: str | float, proportions: pu.MixtureProportions
) -> None:
    """Counts in exact proportion to mixed densities give back the metric of the densities."""
    rng = np.random.default_rng(3)
    positive, negative = np.sort(rng.random(12)), np.sort(rng.random(12))[::-1]
    positive, negative = positive / positive.sum(), negative / negative.sum()
    thresholds = np.arange(12.0)

    def counts_of(alpha: float, beta: float) -> pu.ScoreCounts:
        return pu.ScoreCounts.from_counts(
            thresholds,
            labeled=1000 * (beta * positive + (1 - beta) * negative),
            unlabeled=1000 * (alpha * positive + (1 - alpha) * negative),
        )

    prior = proportions.alpha if target == "deployment" else target
    threshold = 7.0
    mixed = counts_of(proportions.alpha, proportions.beta)
    recovered = value(name, mixed, proportions, threshold=threshold, target=target, top_k=200)
    tpr, fpr = positive[thresholds >= threshold].sum(), negative[thresholds >= threshold].sum()
    if name in OF_TOP_K:
        prior = proportions.alpha
        # The 200 best of the mixed unlabeled; the true rates there by interpolation.
        tails = [np.append(0, np.cumsum(d[::-1])) for d in (positive, negative)]
        share = proportions.alpha * tails[0] + (1 - proportions.alpha) * tails[1]
        tpr, fpr = (float(np.interp(0.2, share, tail)) for tail in tails)
    truth = pu.ScoreCounts.from_counts(
        thresholds, labeled=1000 * positive, unlabeled=1000 * negative
    )
    expected = (
        value(name, truth, NOTHING_TO_DO, target=prior)
        if name in OF_CURVE
        else float(pu.METRICS[name].formula(tpr, fpr, prior, MetricOptions()))
    )
    assert recovered == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["roc_auc", "balanced_accuracy", "youden", "ber"])
@given(seed=st.integers(0, 10_000))
def test_flip_symmetry(name: str, seed: int) -> None:
    """Swapping labeled with unlabeled and negating scores swaps the classes, nothing else."""
    s = sample(seed, 40, 80)
    flipped = pu.ScoreCounts.from_scores(-s.scores, ~s.labeled)
    threshold = float(np.sort(s.scores)[60])
    # The mirror image of "score >= t" is "-score > -t": the next score above -t.
    negated = np.sort(-s.scores)
    mirrored = float(negated[np.searchsorted(negated, -threshold, side="right")])
    options = {"repair": "none"}
    assert value(name, flipped, NOISY.flipped(), threshold=mirrored, **options) == pytest.approx(
        value(name, s.counts, NOISY, threshold=threshold, **options), abs=1e-9
    )


@pytest.mark.filterwarnings("ignore:.*contradict these scores")
@pytest.mark.parametrize("name", [n for n in ALL if n != "roc_auc"])  # which nothing cuts
@given(
    seed=st.integers(0, 10_000),
    alpha=st.floats(0, 0.6),
    noise=st.floats(0, 0.3),
    prior=st.floats(0.01, 0.99),
)
def test_repaired_metrics_stay_in_range(
    name: str, seed: int, alpha: float, noise: float, prior: float
) -> None:
    # Wrong proportions on purpose: the repair must hold whatever it is told.
    counts = sample(seed, 20, 60).counts
    got = value(name, counts, pu.MixtureProportions(alpha, 1 - noise), target=prior, top_k=5)
    low, high = pu.METRICS[name].range
    assert np.isnan(got) or low - 1e-9 <= got <= high + 1e-9


@pytest.mark.parametrize("name", ALL)
def test_observed_values_match_scikit_learn(name: str) -> None:
    from sklearn import metrics as skm

    s = sample()
    y, predicted = s.labeled, s.scores >= 0.75
    top = np.sort(s.scores[~s.labeled])[::-1][TOP_K - 1]
    at_k = s.scores >= top
    twins = {
        "roc_auc": lambda: skm.roc_auc_score(y, s.scores),
        "partial_auc": lambda: skm.roc_auc_score(y, s.scores, max_fpr=0.1),
        "average_precision": lambda: skm.average_precision_score(y, s.scores),
        "recall": lambda: skm.recall_score(y, predicted),
        "specificity": lambda: skm.recall_score(~y, ~predicted),
        "fpr": lambda: 1 - skm.recall_score(~y, ~predicted),
        "precision": lambda: skm.precision_score(y, predicted),
        "npv": lambda: skm.precision_score(~y, ~predicted),
        "fdr": lambda: 1 - skm.precision_score(y, predicted),
        "accuracy": lambda: skm.accuracy_score(y, predicted),
        "balanced_accuracy": lambda: skm.balanced_accuracy_score(y, predicted),
        "f1": lambda: skm.f1_score(y, predicted),
        "f_beta": lambda: skm.fbeta_score(y, predicted, beta=2.0),
        "mcc": lambda: skm.matthews_corrcoef(y, predicted),
        "youden": lambda: skm.balanced_accuracy_score(y, predicted, adjusted=True),
        "ber": lambda: 1 - skm.balanced_accuracy_score(y, predicted),
        "lift": lambda: skm.precision_score(y, predicted) / y.mean(),
        "lee_liu": lambda: skm.recall_score(y, predicted) ** 2 / predicted.mean(),
        "cost": lambda: 3 * np.mean(y & ~predicted) + 5 * np.mean(~y & predicted),
        "precision_at_k": lambda: skm.precision_score(y, at_k),
        "recall_at_k": lambda: skm.recall_score(y, at_k),
    }
    if name not in twins:
        assert name in {"auc_pr", "normalized_auc_pr"}  # tested against closed forms elsewhere
        return
    observed = pu.recover_metrics(
        s.counts,
        NOISY,
        metrics=[name],
        threshold=0.75,
        f_beta=2.0,
        cost_fn=3,
        cost_fp=5,
        top_k=TOP_K,
    ).observed[name]
    assert observed == pytest.approx(twins[name](), abs=1e-12)


@pytest.mark.parametrize("area", ["davis-goadrich", "average-precision", "trapezoid"])
def test_a_curve_that_flags_less_than_nothing_has_no_area_under_its_precision(area: str) -> None:
    tpr = np.array([0, 0.5, 1.0])
    # Of a population with a tenth positives .05 - .09 would be flagged in the middle.
    assert np.isnan(area_under_pr(tpr, np.array([0, -0.1, 1.0]), 0.1, area))
    assert area_under_pr(tpr, np.array([0, -0.1, 1.0]), 0.5, area) > 0
    assert 0 < area_under_pr(tpr, np.array([0, 0.1, 1.0]), 0.1, area) < 1
