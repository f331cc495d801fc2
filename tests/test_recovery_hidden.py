"""Metrics where labeled positives outrank hidden ones, against closed forms and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import purecover as pu
from purecover.recovery import recover_hidden, tipping_theta
from purecover.recovery.hidden import LARGEST_THETA

N_BINS = 4000
EDGES = np.linspace(-8, 9, N_BINS + 1)


def shares(mean: float) -> np.ndarray:
    return np.diff(norm.cdf(EDGES - mean))


def binormal(alpha: float, beta: float, labeled: float, hidden: float) -> pu.ScoreCounts:
    """Counts so large that they are the distributions; negatives have mean 0."""
    columns = (
        beta * shares(labeled) + (1 - beta) * shares(0),
        alpha * shares(hidden) + (1 - alpha) * shares(0),
    )
    scores = (EDGES[1:] + EDGES[:-1])[::-1] / 2
    kept = np.sum(columns, axis=0)[::-1] > 1e-13
    sides = ((1e9 * column[::-1])[kept].round().astype(np.int64) for column in columns)
    return pu.ScoreCounts.from_counts(scores[kept], *sides)


@pytest.mark.parametrize("beta", [1.0, 0.9])
@pytest.mark.parametrize(("labeled", "hidden"), [(1.5, 1.5), (2.0, 1.0), (1.0, 1.6)])
def test_binormal_scores(beta: float, labeled: float, hidden: float) -> None:
    alpha, cut = 0.3, 0.7
    counts = binormal(alpha, beta, labeled, hidden)
    theta = norm.cdf((labeled - hidden) / np.sqrt(2))
    found = recover_hidden(counts, pu.MixtureProportions(alpha, beta), theta, threshold=cut)
    weight = beta / (beta + alpha)
    auc_l, auc_h = norm.cdf(np.array([labeled, hidden]) / np.sqrt(2))
    recall_l, recall_h, flagged = norm.cdf(np.array([labeled, hidden, 0]) - cut)
    precision = alpha * recall_h / (alpha * recall_h + (1 - alpha) * flagged)
    expected = {
        "auc_labeled": auc_l,
        "auc_hidden": auc_h,
        "auc": weight * auc_l + (1 - weight) * auc_h,
        "recall_labeled": recall_l,
        "recall_hidden": recall_h,
        "recall": weight * recall_l + (1 - weight) * recall_h,
        "precision": precision,
    }
    for name, value in expected.items():
        assert getattr(found, name)[0] == pytest.approx(value, abs=2e-3), name
    assert found.n_missed[0] / counts.n_unlabeled == pytest.approx(alpha * (1 - recall_h), abs=1e-3)


def test_the_identity_needs_no_shape() -> None:
    """Any counts of labeled, hidden and negative rows: pairs counted one by one."""
    rng = np.random.default_rng(3)
    labeled, hidden, negative = (rng.integers(1, 40, 12) for _ in range(3))

    def auc(high: np.ndarray, low: np.ndarray) -> float:
        pairs = np.outer(high, low)
        wins = np.triu(pairs, 1).sum() + np.trace(pairs) / 2  # scores fall along the arrays
        return float(wins / pairs.sum())

    counts = pu.ScoreCounts.from_counts(np.arange(12)[::-1], labeled, hidden + negative)
    given = pu.MixtureProportions(hidden.sum() / (hidden + negative).sum())
    found = recover_hidden(counts, given, auc(labeled, hidden))
    assert found.auc_labeled[0] == pytest.approx(auc(labeled, negative), abs=1e-12)


def test_theta_may_be_at_both_ends_of_its_range() -> None:
    counts = binormal(0.3, 1.0, 2.0, 1.0)
    ends = [1 - LARGEST_THETA, LARGEST_THETA]
    found = recover_hidden(counts, pu.MixtureProportions(0.3), ends)
    assert found.auc_labeled[0] > found.auc_labeled[1]
    for beyond in (ends[0] - 1e-9, ends[1] + 1e-9):
        with pytest.raises(pu.exceptions.InvalidInputError, match=r"from 0\.005 to 0\.995"):
            recover_hidden(counts, pu.MixtureProportions(0.3), beyond)


def test_half_is_recovery_at_random() -> None:
    sample = pu.simulate.binormal(1.5).sample(300, 900, alpha=0.3, random_state=0)
    counts = pu.ScoreCounts.from_scores(sample.scores, sample.labeled)
    for given in (pu.MixtureProportions(0.3), pu.MixtureProportions(0.25, 0.9)):
        found = recover_hidden(counts, given, 0.5, threshold=1.0)
        direct = pu.recovery.recover_auc(counts, given)
        assert [found.auc_labeled[0], found.auc_hidden[0], found.auc[0]] == pytest.approx(
            [direct] * 3, abs=1e-9
        )
        at = int(np.flatnonzero(counts.thresholds >= 1.0)[-1])
        f_l, f_u = (side.cumsum()[at] / side.sum() for side in (counts.labeled, counts.unlabeled))
        tpr, _ = pu.recovery.recover_rates(f_l, f_u, given)
        assert found.recall[0] == pytest.approx(float(tpr), abs=1e-9)


@pytest.mark.parametrize("metric", ["auc", "recall", "precision"])
def test_at_the_tipping_point_the_metric_has_the_value(metric: str) -> None:
    counts = binormal(0.3, 1.0, 1.8, 1.2)
    given = pu.MixtureProportions(0.3)
    where = {"threshold": 0.5}
    at_half, at_most = recover_hidden(counts, given, [0.5, 0.9], **where).__getattribute__(metric)
    wanted = (at_half + at_most) / 2
    theta = tipping_theta(counts, given, metric, wanted, **where)
    assert 0.5 < theta < 0.9
    assert getattr(recover_hidden(counts, given, theta, **where), metric)[0] == pytest.approx(
        wanted, abs=1e-4
    )
    assert np.isnan(tipping_theta(counts, given, metric, min(at_half + 0.01, 1), **where))
    assert tipping_theta(counts, given, metric, 0, **where) == pytest.approx(0.995)


@pytest.mark.parametrize("threshold", [None, 0.0, 99.0])
def test_without_hidden_positives_theta_changes_nothing(threshold: float | None) -> None:
    """At alpha 0, as at the limit of smaller and smaller ones."""
    counts, theta = binormal(0.3, 1.0, 1.8, 1.2), [0.5, 0.7, 0.9]
    none, few = (
        recover_hidden(counts, pu.MixtureProportions(alpha), theta, threshold=threshold)
        for alpha in (0.0, 1e-18)
    )
    for name in ("auc", "recall", "precision", "n_missed"):
        value = getattr(none, name)
        assert np.array_equal(value, np.broadcast_to(value[0], 3), equal_nan=True)
        if not (name == "precision" and threshold == 99.0):  # of no row
            assert value == pytest.approx(getattr(few, name), abs=1e-6)
    nothing = pu.MixtureProportions(0.0)
    assert tipping_theta(counts, nothing, "auc", counts.auc_pu - 1e-9) == pytest.approx(0.995)
    assert np.isnan(tipping_theta(counts, nothing, "precision", 0.1))


def answers(alpha: float, hidden: float, cut: float) -> tuple[float, float]:
    """Purity of the unlabeled rows above and below a cut, in a binormal world."""
    high = norm.cdf(hidden - cut)
    flagged = alpha * high + (1 - alpha) * norm.cdf(-cut)
    return alpha * high / flagged, alpha * (1 - high) / (1 - flagged)


@pytest.mark.parametrize(("labeled", "hidden"), [(1.5, 1.5), (2.0, 1.2)])
def test_many_judged_rows_show_theta(labeled: float, hidden: float) -> None:
    alpha, cut, n = 0.3, 1.5, 20_000
    counts = binormal(alpha, 1.0, labeled, hidden)
    found = pu.audit.judge_hidden(
        counts, cut, [round(n * share) for share in answers(alpha, hidden, cut)], [n, n]
    )
    theta = norm.cdf((labeled - hidden) / np.sqrt(2))
    at_truth = recover_hidden(counts, pu.MixtureProportions(alpha), theta, threshold=cut)
    assert found.intervals["theta"].estimate == pytest.approx(theta, abs=0.02)
    assert found.intervals["alpha"].estimate == pytest.approx(alpha, abs=0.01)
    for name in ("auc_labeled", "auc_hidden", "auc", "recall", "precision"):
        expected = float(getattr(at_truth, name)[0])
        assert found.intervals[name].estimate == pytest.approx(expected, abs=0.02), name
    both = [found.intervals[name] for name in ("n_hidden", "alpha")]
    ends = [[each.low, each.estimate, each.high] for each in both]
    np.testing.assert_allclose(ends[0], np.multiply(counts.n_unlabeled, ends[1]))


def test_intervals_of_few_judged_rows_contain_the_truth() -> None:
    alpha, cut, theta = 0.2, 1.0, norm.cdf(0.8 / np.sqrt(2))
    counts = binormal(alpha, 1.0, 1.8, 1.0)
    truth = recover_hidden(counts, pu.MixtureProportions(alpha), theta, threshold=cut)
    rng = np.random.default_rng(0)
    contained = []
    for _ in range(40):
        k = rng.binomial(10, answers(alpha, 1.0, cut))
        found = pu.audit.judge_hidden(counts, cut, k, [10, 10])
        assert found.intervals["auc"].width < 0.5
        contained.append(float(truth.auc[0]) in found.intervals["auc"])
    assert np.mean(contained) >= 0.9


def test_refusals_of_judged_rows() -> None:
    counts = pu.ScoreCounts.from_counts([2, 1], [3, 1], [1, 3])
    for k, n, match in (
        ([1], [1], "of 2 strata"),
        ([2, 0], [1, 1], "at most n_audited"),
        ([0.5, 0], [1, 1], "whole numbers"),
    ):
        with pytest.raises(pu.exceptions.InvalidInputError, match=match):
            pu.audit.judge_hidden(counts, 2, k, n)
    with pytest.raises(pu.exceptions.InvalidInputError, match="without unlabeled rows"):
        pu.audit.judge_hidden(counts, [5, 2], [1, 0, 0], [1, 1, 1])
