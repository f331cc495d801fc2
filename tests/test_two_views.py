"""Alpha from two scores that are independent given the class."""

from __future__ import annotations

import numpy as np
import pytest

import purecover as pu
from purecover.estimators import TwoViews
from purecover.exceptions import IdentifiabilityError, InvalidInputError


def drawn(rng, *, alpha, beta=1.0, separation=2.0, kind="laplace", sizes=(1000, 10_000)):
    """Two scores of each example, and whether it is labeled."""
    labeled = np.arange(sum(sizes)) < sizes[0]
    positive = rng.random(labeled.size) < np.where(labeled, beta, alpha)
    return getattr(rng, kind)(size=(labeled.size, 2)) + separation * positive[:, None], labeled


def test_the_formula_for_two_sorts_of_examples() -> None:
    """Where a score is right for a known share of each class, ranks are those of two values."""
    rng = np.random.default_rng(0)
    for alpha, beta in ((0.3, 1.0), (0.2, 0.7), (0.6, 0.9)):
        scores, labeled = drawn(rng, alpha=alpha, beta=beta, sizes=(40_000, 80_000))
        found = TwoViews(beta=beta).fit(scores > 1, labeled)
        ones, twos = scores[:, 0] > 1, scores[:, 1] > 1
        c = np.cov(ones[~labeled], twos[~labeled])[0, 1]
        d = [view[labeled].mean() - view[~labeled].mean() for view in (ones, twos)]
        ratio = c / (d[0] * d[1])
        a = found.proportions_.alpha
        assert a * (1 - a) / (beta - a) ** 2 == pytest.approx(ratio, rel=1e-3)
        assert a == pytest.approx(alpha, abs=0.01)
        assert found.proportions_.beta == pytest.approx(beta)


@pytest.mark.parametrize("kind", ["laplace", "normal"])
def test_no_pure_region_is_needed(kind) -> None:
    """Laplace scores overlap everywhere by the same ratio, which misleads all others."""
    rng = np.random.default_rng(1)
    errors, one_score = [], []
    for i, alpha in enumerate((0.1, 0.3, 0.5) * 2):
        scores, labeled = drawn(rng, alpha=alpha, kind=kind)
        found = TwoViews().fit(scores, labeled)
        errors.append(abs(found.proportions_.alpha - alpha))
        if kind == "laplace" and i < 3:
            alone = pu.estimators.LabelCurve(clean="always").fit(scores[:, 0], labeled)
            one_score.append(abs(alone.proportions_.alpha - alpha))
    assert np.mean(errors) < 0.015
    assert kind == "normal" or np.mean(one_score) > 3 * np.mean(errors)


def test_rising_functions_of_a_score_change_nothing() -> None:
    scores, labeled = drawn(np.random.default_rng(2), alpha=0.3)
    plain = TwoViews().fit(scores, labeled)
    for other in (np.exp(scores), scores * [1, -3]):
        found = TwoViews().fit(other, labeled)
        assert found.proportions_.alpha == pytest.approx(plain.proportions_.alpha)
        assert found.diagnostics_["p_value"] == pytest.approx(plain.diagnostics_["p_value"])


@pytest.mark.slow
@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_intervals_cover_and_few_are_refused(beta) -> None:
    rng = np.random.default_rng(3)
    hits, refused = [], 0
    for alpha in (0.05, 0.3, 0.6) * 100:
        scores, labeled = drawn(rng, alpha=alpha, beta=beta, sizes=(500, 3000))
        try:
            found = TwoViews(beta=beta).fit(scores, labeled)
        except IdentifiabilityError:
            refused += 1
            continue
        hits.append(alpha in found.interval_["alpha"])
    assert 0.92 < np.mean(hits) < 0.98
    assert refused < 20  # of 300
    drawn_interval = found.interval(method="bootstrap")["alpha"]
    assert found.interval_["alpha"].width == pytest.approx(drawn_interval.width, rel=0.3)


def test_scores_with_more_in_common_are_refused() -> None:
    scores, labeled = drawn(np.random.default_rng(4), alpha=0.3)
    alike = scores + 0.5 * np.random.default_rng(5).normal(size=(len(scores), 1))
    with pytest.raises(IdentifiabilityError, match=r"TwoViews.fit needs scores that are indep"):
        TwoViews().fit(alike, labeled)
    assert TwoViews(level=0).fit(alike, labeled).proportions_.alpha > 0.35
    noise = np.column_stack((scores[:, 0], np.random.default_rng(6).normal(size=len(scores))))
    with pytest.raises(IdentifiabilityError, match="score 2 does so by"):
        TwoViews().fit(noise, labeled)
    for wrong, got in ((scores[:, 0], "one score"), (np.hstack((scores, scores)), "4 columns")):
        with pytest.raises(InvalidInputError, match=got):
            TwoViews().fit(wrong, labeled)
    with pytest.raises(InvalidInputError, match="one score"):
        TwoViews().fit(pu.ScoreCounts.from_scores(scores[:, 0], labeled))


def test_the_result_goes_where_estimates_go() -> None:
    scores, labeled = drawn(np.random.default_rng(7), alpha=0.3)
    found = TwoViews().fit(scores, labeled)
    report = pu.evaluate(scores[:, 0], labeled, proportions=found.proportions_, n_resamples=0)
    assert report.auc == pytest.approx(0.865, abs=0.03)  # of two Laplace distributions 2 apart
    both = pu.audit.combine_audit(found, 30, 100)
    assert both.intervals["alpha"].width < found.interval_["alpha"].width
