"""MSGMM: the algorithm against slow steps, and what it finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from purecover import simulate
from purecover_paper.systems.gaussian_mixtures import (
    GaussianEM,
    GaussianMixtures,
    Mixtures,
    Tally,
    _logits,
)


def mixtures_of(alpha, beta, means, covariances):
    """One run."""
    return Mixtures(
        np.array([alpha]), np.array([beta]), np.array([means], float), np.array([covariances])
    )


def two_classes(n_labeled, n_unlabeled, alpha, beta, *, n_features=3, separation=3.0, seed=0):
    """Correlated normal classes."""
    rng = np.random.default_rng(seed)
    shares = np.repeat([beta, alpha], [n_labeled, n_unlabeled])
    positive = rng.random(shares.size) < shares
    X = rng.normal(size=(shares.size, n_features)) @ (np.eye(n_features) + 0.3)
    X[positive] *= 0.8
    X[:, 0] += separation * positive
    return X, np.arange(shares.size) < n_labeled


def slow_step(labeled, unlabeled, alpha, beta, means, covariances):
    """Sample by sample, with densities from elsewhere."""

    def posterior(rows, share):
        first, second = (
            stats.multivariate_normal(m, c).pdf(rows)
            for m, c in zip(means, covariances, strict=True)
        )
        return share * first / (share * first + (1 - share) * second)

    r_labeled, r_unlabeled = posterior(labeled, beta), posterior(unlabeled, alpha)
    rows, r = np.concatenate((labeled, unlabeled)), np.concatenate((r_labeled, r_unlabeled))
    moments = [
        (np.average(rows, axis=0, weights=w), np.cov(rows.T, aweights=w, ddof=0))
        for w in (r, 1 - r)
    ]
    return r_unlabeled.mean(), r_labeled.mean(), moments


def test_step_and_likelihood_equal_slow_ones():
    X, labeled = two_classes(40, 90, 0.3, 0.8)
    means = np.array([[2.0, 0.5, 0], [0, 0, 0.3]])
    covariances = np.array([np.eye(3) + 0.2, 1.5 * np.eye(3) - 0.1])
    em, tally = GaussianEM(X), Tally(labeled.astype(float), (~labeled).astype(float))
    start = mixtures_of(0.4, 0.7, means, covariances)
    found = em.step(start, tally)
    alpha, beta, moments = slow_step(X[labeled], X[~labeled], 0.4, 0.7, means, covariances)
    assert (found.alpha[0], found.beta[0]) == pytest.approx((alpha, beta))
    for k, (mean, covariance) in enumerate(moments):
        np.testing.assert_allclose(found.means[0, k], mean, atol=1e-10)
        np.testing.assert_allclose(found.covariances[0, k], covariance, atol=1e-10)
    first, second = (
        stats.multivariate_normal(m, c).pdf(X) for m, c in zip(means, covariances, strict=True)
    )
    share = np.where(labeled, 0.7, 0.4)
    expected = np.log(share * first + (1 - share) * second).sum()
    assert em.log_likelihood(start, tally)[0] == pytest.approx(expected)


def test_likelihood_never_falls_and_runs_do_not_mix():
    X, labeled = two_classes(100, 400, 0.3, 0.8)
    em, tally = GaussianEM(X), Tally(labeled.astype(float), (~labeled).astype(float))
    estimator = GaussianMixtures(n_starts=4)
    runs = estimator._starts(em, tally, clean=False)
    alone = runs.only(np.array([2]))
    before = em.log_likelihood(runs, tally)
    for _ in range(60):
        runs, alone = em.step(runs, tally), em.step(alone, tally)
        after = em.log_likelihood(runs, tally)
        assert (after >= before - 1e-8).all()
        before = after
    assert runs.alpha[2] == pytest.approx(alone.alpha[0], rel=1e-9)


def test_counts_are_repeated_rows():
    rng = np.random.default_rng(0)
    points, often = rng.normal(size=(30, 2)), rng.integers(1, 4, (2, 30), dtype=np.intp)
    start = mixtures_of(0.4, 0.8, [[1.0, 0], [0, 0]], np.array([np.eye(2)] * 2))
    merged = GaussianEM(points).step(start, Tally(*often.astype(float)))
    rows = np.concatenate([np.repeat(points, n, axis=0) for n in often])
    ours = (np.arange(len(rows)) < often[0].sum()).astype(float)
    spread = GaussianEM(rows).step(start, Tally(ours, 1 - ours))
    for one, two in zip(merged, spread, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9)


def test_clean_labels_and_empty_components_stay():
    em, tally = GaussianEM(np.arange(4.0)[:, None]), Tally(np.ones(4), np.ones(4))
    start = mixtures_of(0.5, 1.0, [[3.0], [0.0]], np.ones((2, 1, 1)))
    assert em.step(start, tally).beta[0] == 1
    empty = em.step(mixtures_of(0.0, 0.0, [[3.0], [0.0]], np.ones((2, 1, 1))), tally)
    assert empty.means[0, 0, 0] == 3
    assert np.isfinite(empty.means).all()


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "beta"), [(0.05, 0.75), (0.6, 1.0)])
def test_right_on_normal_scores(alpha, beta):
    sample = simulate.binormal(2).sample(2000, 10_000, alpha=alpha, beta=beta, random_state=1)
    estimator = GaussianMixtures(clean="never").fit(sample.scores, sample.labeled)
    assert estimator.proportions_.alpha == pytest.approx(alpha, abs=0.03)
    assert estimator.proportions_.beta == pytest.approx(beta, abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_right_on_normal_features(covariance):
    X, labeled = two_classes(800, 4000, 0.3, 0.8)
    if covariance == "diagonal":
        X = X @ np.linalg.inv(np.eye(3) + 0.3)  # then features are independent in each class
    estimator = GaussianMixtures(clean="never", covariance=covariance).fit(X, labeled)
    assert estimator.n_features_in_ == 3
    assert estimator.proportions_.alpha == pytest.approx(0.3, abs=0.05)
    assert estimator.proportions_.beta == pytest.approx(0.8, abs=0.06)


def test_probabilities_are_taken_to_logits():
    sample = simulate.binormal(2).sample(500, 3000, alpha=0.3, random_state=0)
    probabilities = 1 / (1 + np.exp(1 - 2 * sample.scores))
    plain = GaussianMixtures().fit(sample.scores, sample.labeled).proportions_.alpha
    mapped = GaussianMixtures().fit(probabilities, sample.labeled).proportions_.alpha
    assert mapped == pytest.approx(plain, abs=1e-3)
    kept = GaussianMixtures(logit_scores=False).fit(probabilities, sample.labeled)
    assert kept.proportions_.alpha != pytest.approx(plain, abs=1e-3)
    found = _logits(np.array([0.0, 0.2, 0.5, 1.0]))
    np.testing.assert_allclose(1 / (1 + np.exp(-found)), [0.1, 0.2, 0.5, 0.75])
