"""Means over the true classes, and metrics of probabilities, against known classes."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from scipy.stats import chi2, norm
from sklearn import metrics as skm
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import purecover as pu
from purecover.exceptions import InvalidInputError
from purecover.intervals import bootstrap, curve_band
from purecover.recovery import (
    calibration_test,
    recover_calibration,
    recover_decision_curve,
    recover_mean,
)
from purecover.recovery.means import check_probabilities

NAMES = [name for name, metric in pu.METRICS.items() if metric.kind == "probability"]
WORLDS = {
    "binormal": pu.simulate.binormal(),
    "beta": pu.simulate.beta(),
    "laplace": pu.simulate.laplace(),
    "nonconcave": pu.simulate.binormal(1.0, 3.0),
    "histogram": pu.simulate.histogram([1, 2, 3, 4], [4, 3, 2, 1]),
}
FUNCTIONS = {
    "score": lambda s: s,
    "square": lambda s: np.minimum(s**2, 9),
    "step": lambda s: s > 0.3,
    "wave": np.cos,
}


def log_odds(scores: np.ndarray, alpha: float) -> np.ndarray:
    """Of being positive, in a world of normal scores 1.5 apart."""
    return 1.5 * scores - 1.125 + np.log(alpha / (1 - alpha))


def probabilities(
    n_labeled: int, n_unlabeled: int, alpha: float = 0.25, beta: float = 1.0, seed: int = 0,
    factor: float = 1.0,
) -> tuple[pu.ScoreCounts, pu.simulate.Sample, np.ndarray]:  # fmt: skip
    world = pu.simulate.binormal(1.5)
    s = world.sample(n_labeled, n_unlabeled, alpha=alpha, beta=beta, random_state=seed)
    p = 1 / (1 + np.exp(-factor * log_odds(s.scores, alpha)))
    return pu.ScoreCounts.from_scores(p, s.labeled), s, p


@pytest.mark.parametrize("beta", [1.0, 0.8])
@pytest.mark.parametrize("name", WORLDS)
def test_means_agree_with_those_of_the_true_classes(name: str, beta: float) -> None:
    s = WORLDS[name].sample(1500, 6000, alpha=0.3, beta=beta, random_state=1)
    unseen = WORLDS[name].sample(200_000, 200_000, alpha=0.0, random_state=2)
    for f in FUNCTIONS.values():
        found = recover_mean(s.counts, f, s.proportions)
        values = np.asarray(f(unseen.scores), dtype=float)
        for ours, variance, rows in (
            (found.positive, found.variance_positive, unseen.truth),
            (found.negative, found.variance_negative, ~unseen.truth),
        ):
            spread = np.sqrt(variance + values[rows].var() / rows.sum())
            assert abs(ours - values[rows].mean()) < 4 * spread
        assert found.mean == pytest.approx(
            np.mean(np.asarray(f(s.scores[~s.labeled]), dtype=float))
        )  # alpha is the default prior, and needs no recovery


@pytest.mark.slow
def test_variances_are_those_of_repetition() -> None:
    world, found = pu.simulate.binormal(1.5), []
    for seed in range(300):
        s = world.sample(200, 1000, alpha=0.3, beta=0.8, random_state=seed)
        found.append(recover_mean(s.counts, np.cos, s.proportions, target=0.5))
    for name, variance in (
        ("positive", "variance_positive"),
        ("negative", "variance_negative"),
        ("mean", "variance"),
    ):
        expected = np.mean([getattr(each, variance) for each in found])
        assert np.var([getattr(each, name) for each in found]) == pytest.approx(expected, rel=0.3)
    covariance = np.cov([each.positive for each in found], [each.negative for each in found])[0, 1]
    assert covariance == pytest.approx(np.mean([each.covariance for each in found]), rel=0.3)


@pytest.mark.parametrize("beta", [1.0, 0.85])
@pytest.mark.parametrize("name", NAMES)
def test_mixed_densities_give_back_the_metric_of_the_classes(name: str, beta: float) -> None:
    p = np.linspace(0.02, 0.95, 30)
    positive, negative = p * np.exp(-2 * p), (1 - p) * np.exp(-2 * p) + 0.02 * p
    positive, negative = positive / positive.sum(), negative / negative.sum()

    def counts_of(low: float, high: float) -> pu.ScoreCounts:
        sides = (1e6 * (share * positive + (1 - share) * negative) for share in (high, low))
        return pu.ScoreCounts.from_counts(p, *sides)

    alpha = 0.3
    mixed = pu.recover_metrics(
        counts_of(alpha, beta), pu.MixtureProportions(alpha, beta), metrics=[name]
    )
    apart = pu.recover_metrics(
        counts_of(0.0, 1.0), pu.MixtureProportions(0.0, 1.0), metrics=[name], target=alpha
    )
    assert mixed[name] == pytest.approx(apart[name], abs=2e-4 if name == "ece" else 1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_observed_values_are_those_of_scikit_learn(name: str) -> None:
    counts, s, p = probabilities(300, 1200)
    y = s.labeled
    observed = pu.recover_metrics(
        counts, s.proportions, metrics=[name], threshold_probability=0.2
    ).observed[name]
    log = np.log(p / (1 - p))[:, None]
    fit = LogisticRegression(C=np.inf, tol=1e-9).fit(log, y)
    fitted = IsotonicRegression().fit_transform(p, y)
    twins = {
        "brier": lambda: skm.brier_score_loss(y, p),
        "log_loss": lambda: skm.log_loss(y, p),
        "calibration_slope": lambda: fit.coef_[0, 0],
        "calibration_intercept": lambda: fit.intercept_[0],
        "brier_miscalibration": lambda: np.mean((p - y) ** 2) - np.mean((fitted - y) ** 2),
        "brier_discrimination": lambda: y.var() - np.mean((fitted - y) ** 2),
        "net_benefit": lambda: np.mean(y & (p >= 0.2)) - np.mean(~y & (p >= 0.2)) / 4,
        # Unlabeled positives make every bin clearly wrong, so that hardly anything is noise.
        "ece": lambda: np.mean(
            [abs(p[rows].mean() - y[rows].mean()) for rows in np.array_split(np.argsort(p), 10)]
        ),
    }
    assert observed == pytest.approx(twins[name](), abs=0.01 if name == "ece" else 1e-5)


def test_the_calibration_curve_holds_what_metrics_say() -> None:
    counts, s, p = probabilities(3000, 12_000, beta=0.9, factor=1.6)
    curve = recover_calibration(counts, s.proportions)
    order = np.argsort(p)
    as_labels = IsotonicRegression().fit_transform(p[order], s.labeled[order])
    np.testing.assert_allclose(curve.frequency_pu, as_labels, atol=1e-9)
    metrics = pu.recover_metrics(counts, s.proportions, probabilities=True)
    parts = curve.miscalibration - curve.discrimination + curve.uncertainty
    assert curve.brier == pytest.approx(parts, abs=1e-12) == metrics["brier"]
    assert (curve.slope, curve.intercept) == (
        metrics["calibration_slope"],
        metrics["calibration_intercept"],
    )
    assert curve.slope == pytest.approx(1 / 1.6, abs=0.06)
    assert np.all(np.diff(curve.predicted) > 0)
    assert np.all(np.diff(curve.frequency) >= 0)
    # The truth: log-odds are 1.6 times too large.
    right = 1 / (1 + np.exp(-np.log(curve.predicted / (1 - curve.predicted)) / 1.6))
    middle = (curve.predicted > 0.05) & (curve.predicted < 0.95)
    assert np.abs(curve.frequency - right)[middle].max() < 0.15
    band = curve_band(counts, s.proportions, "calibration", n_resamples=100, random_state=0)
    right = 1 / (1 + np.exp(-np.log(band.x / (1 - band.x)) / 1.6))
    assert np.mean((band.low <= right) & (right <= band.high)) > 0.8


def test_decision_curves_count_true_and_false_positives() -> None:
    counts, s, p = probabilities(2000, 8000, beta=0.9)
    curve = recover_decision_curve(counts, s.proportions, [0.1, 0.3, 0.6])
    u = ~s.labeled
    for t, value, error, seen in zip(
        curve.thresholds, curve.net_benefit, curve.standard_error, curve.net_benefit_pu, strict=True
    ):
        labels = np.mean((p >= t) & s.labeled) - np.mean((p >= t) & u) * t / (1 - t)
        assert seen == pytest.approx(labels)
        flagged = p[u] >= t
        truth = np.mean(flagged & s.truth[u]) - np.mean(flagged & ~s.truth[u]) * t / (1 - t)
        assert abs(value - truth) < 4 * error
        metric = pu.recover_metrics(
            counts, s.proportions, metrics=["net_benefit"], threshold_probability=t
        )
        assert metric["net_benefit"] == pytest.approx(value)
    band = curve_band(
        counts, s.proportions, "decision", kind="simultaneous", n_resamples=100, random_state=0
    )
    assert np.all(band.low <= band.estimate + 1e-12)


@pytest.mark.parametrize(("n_labeled", "n_unlabeled"), [(4000, 600), (400, 6000)])
def test_where_probabilities_are_right_the_statistic_is_chi_square(
    n_labeled: int, n_unlabeled: int
) -> None:
    found = []
    for seed in range(80):
        counts, s, _ = probabilities(n_labeled, n_unlabeled, beta=0.9, seed=seed)
        found.append(calibration_test(counts, s.proportions, n_bins=6))
    assert {each.df for each in found} == {6}
    statistic = np.array([each.statistic for each in found])
    # Mean 6 and variance 12: three standard errors of the mean of 80 are 1.16.
    assert statistic.mean() == pytest.approx(6, abs=1.16)
    np.testing.assert_allclose([each.p_value for each in found], chi2.sf(statistic, 6))
    few, s, _ = probabilities(90, 3000, beta=0.9)
    assert calibration_test(few, s.proportions).df == 4  # bins of at least 20 labeled rows


@pytest.mark.slow
def test_the_test_of_calibration_has_its_size_and_finds_what_is_wrong() -> None:
    right, wrong = [], []
    for seed in range(200):
        counts, s, _ = probabilities(300, 1500, beta=0.9, seed=seed)
        right.append(calibration_test(counts, s.proportions).p_value < 0.05)
        counts, s, _ = probabilities(300, 1500, beta=0.9, seed=seed, factor=2.0)
        wrong.append(calibration_test(counts, s.proportions).p_value < 0.05)
    assert 0.01 <= np.mean(right) <= 0.1
    assert np.mean(wrong) > 0.5


@pytest.mark.slow
def test_intervals_hold_the_truth() -> None:
    whole = probabilities(10, 400_000, seed=99)
    truth = {
        "brier": skm.brier_score_loss(whole[1].truth, whole[2]),
        "log_loss": skm.log_loss(whole[1].truth, whole[2]),
        "calibration_slope": 1.0,
    }
    held = dict.fromkeys(truth, 0)
    for seed in range(30):
        counts, s, _ = probabilities(200, 1000, beta=0.9, seed=seed)
        result = bootstrap(
            counts, s.proportions, metrics=list(truth), curves=False, n_resamples=200,
            random_state=seed,
        )  # fmt: skip
        for name, value in truth.items():
            held[name] += value in result.interval(name)
    assert min(held.values()) >= 25, held  # 28.5 expected, less three errors of the count


@pytest.mark.parametrize("power", [1.0, pytest.param(0.6, marks=pytest.mark.slow)])
def test_what_noise_adds_is_taken_off(power: float) -> None:
    names = ("brier_miscalibration", "brier_discrimination", "ece")
    held = dict.fromkeys(names, 0)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        truth = rng.random(2000) < 0.2
        x = rng.normal(size=2000) + 1.5 * truth
        odds = (0.25 * np.exp(1.5 * x - 1.125)) ** power
        labeled = truth & (rng.random(2000) < 0.3)
        known = {"label_frequency": 0.3, "scenario": "censoring", "truth": truth}
        known |= {"settings": pu.Settings(probabilities=True)}
        report = pu.evaluate(odds / (1 + odds), labeled, n_resamples=100, threshold=0.5, **known)
        for name in names:
            interval = report.intervals[name]
            assert interval.low <= report.metrics[name] <= interval.high
            held[name] += report.truth.metrics[name] in interval
    assert min(held.values()) >= 6, held


def test_reports_scorers_and_tables_know_them() -> None:
    _, s, p = probabilities(300, 1500)
    report = pu.evaluate(
        p,
        s.labeled,
        alpha=0.25,
        settings=pu.Settings(probabilities=True),
        truth=s.truth,
        n_resamples=50,
    )
    assert set(NAMES) < set(report.intervals)
    assert "Brier score" in str(report)
    assert "Of scores as probabilities" in report.to_html()
    again = pu.PUReport.from_json(report.to_json())
    assert again.metrics["brier"] == report.metrics["brier"]
    right = report.truth.metrics["brier"]
    assert report.metrics["brier"] == pytest.approx(right, abs=0.03)
    many = pu.evaluate_many(
        {"s": p, "y": s.labeled}, "y", alpha=0.25, metrics=["brier"], n_resamples=0
    )
    assert many.evaluated[0].recovered["brier"] == report.metrics["brier"]
    model = pu.PUCalibratedClassifier(LogisticRegression(), alpha=0.25, random_state=0)
    X = s.scores[:, None]
    score = pu.make_pu_scorer("brier", alpha=0.25)(model.fit(X, s.labeled), X, s.labeled)
    assert -score == pytest.approx(right, abs=0.03)


def test_ends_at_infinity_survive_json() -> None:
    rng = np.random.default_rng(0)
    labeled = np.arange(130) < 30
    positive = labeled | (rng.random(130) < 0.3)
    scores = np.where(positive, 0.9, 0.1) + 0.01 * rng.normal(size=130)
    report = pu.evaluate(
        scores, labeled, alpha=0.3, settings=pu.Settings(probabilities=True), n_resamples=100
    )
    slope = report.intervals["calibration_slope"]
    assert slope.low < slope.high == np.inf
    back = pu.PUReport.from_json(report.to_json())
    again = back.intervals["calibration_slope"]
    assert (again.low, again.high) == (slope.low, slope.high)
    assert str(back) == str(report)
    assert "∞" in str(report.details())


def test_what_is_no_probability_of_the_class_is_refused() -> None:
    counts, s, _ = probabilities(2000, 4000)
    with pytest.raises(InvalidInputError, match=r"(?s)got values from -.*PUCalibratedClassifier"):
        recover_calibration(s.counts, s.proportions)
    model = LogisticRegression().fit(s.scores[:, None], s.labeled)
    with pytest.raises(InvalidInputError, match=r"(?s)predict who is labeled.*PUCalibrated"):
        pu.make_pu_scorer("brier", alpha=0.25)(model, s.scores[:, None], s.labeled)
    for factor in (0.8, 1.0, 2.0):  # wrong ones, but of the class
        wrong = pu.ScoreCounts.from_scores(
            1 / (1 + np.exp(-factor * log_odds(s.scores, 0.25))), s.labeled
        )
        assert recover_calibration(wrong, s.proportions).brier > 0
    with pytest.raises(InvalidInputError, match="one that raises"):
        recover_mean(counts, lambda p: 1 / 0, s.proportions)
    with pytest.raises(InvalidInputError, match="distinct scores"):
        recover_mean(counts, [1.0, 2.0], s.proportions)
    with pytest.raises(InvalidInputError, match="ends excluded"):
        recover_decision_curve(counts, s.proportions, [0.0, 0.5])
    assert np.isnan(
        pu.recover_metrics(
            pu.ScoreCounts.from_counts([0.3], [5], [9]),
            pu.MixtureProportions(0.3),
            metrics=["calibration_slope"],
        )["calibration_slope"]
    )


def test_probabilities_of_labels_are_those_that_predict_labels_better() -> None:
    """Against scikit-learn: the loss as labels, and as classes with an alpha that is a bit off."""
    alpha, beta, c, x = 0.1, 0.97, 0.12, np.linspace(-4, 5, 60)
    positive, negative = norm.pdf(x, 1.5), norm.pdf(x)
    positive, negative = positive / positive.sum(), negative / negative.sum()
    labeled = 1e4 * c * (beta * positive + (1 - beta) * negative)
    unlabeled = 1e4 * (1 - c) * (alpha * positive + (1 - alpha) * negative)
    y, weight = np.repeat([1, 0], x.size), np.append(labeled, unlabeled)
    of_class = 1 / (1 + np.exp(-log_odds(x, alpha)))
    seen = set()

    def rates(p: np.ndarray, a: float) -> np.ndarray:
        odds = c / (1 - c) * (beta * p / a + (1 - beta) * (1 - p) / (1 - a))
        return odds / (1 + odds)

    def loss(p: np.ndarray) -> float:
        return float(skm.log_loss(y, np.tile(p, 2), sample_weight=weight))

    for mixed in (0.0, 0.3, 0.6, 1.0):
        p = rates(of_class, alpha) ** mixed * of_class ** (1 - mixed)
        counts = pu.ScoreCounts.from_counts(p, labeled, unlabeled)
        fit = LogisticRegression(C=np.inf, tol=1e-9)
        fit.fit(np.tile(np.log(p / (1 - p)), 2)[:, None], y, sample_weight=weight)
        mean = (labeled + unlabeled) @ p / 1e4
        alike = bool(abs(mean / c - 1) <= 0.05 and 0.8 < fit.coef_[0, 0] < 1.25)
        for given in np.geomspace(0.07, 0.17, 16 if mixed == 0.6 else 2):
            refused = alike and loss(p) < min(loss(rates(p, given * f)) for f in (0.75, 1, 1.25))
            with pytest.raises(InvalidInputError) if refused else nullcontext():
                check_probabilities(counts, pu.MixtureProportions(given, beta))
            seen.add((alike, refused))
    assert seen == {(True, True), (True, False), (False, False)}


def test_the_error_of_a_net_benefit_is_that_of_two_shares() -> None:
    counts, s, p = probabilities(300, 1500, beta=0.9)
    found = recover_decision_curve(counts, s.proportions, [0.2, 0.5])
    alpha, beta = s.proportions.alpha, s.proportions.beta
    for t, error in zip(found.thresholds, found.standard_error, strict=True):
        odds, prior = t / (1 - t), found.prior
        of_labeled = (prior * (1 - alpha) + (1 - prior) * odds * alpha) / (beta - alpha)
        of_unlabeled = (prior * (1 - beta) + (1 - prior) * odds * beta) / (beta - alpha)
        variance = 0.0
        for weight, rows in ((of_labeled, s.labeled), (of_unlabeled, ~s.labeled)):
            share = np.mean(p[rows] >= t)
            variance += weight**2 * share * (1 - share) / rows.sum()
        assert error == pytest.approx(np.sqrt(variance), rel=0.01)  # or n - 1
