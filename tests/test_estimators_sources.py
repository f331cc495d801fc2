"""Dates, kinds and sources of labels: closed forms, simulated worlds, and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import hypergeom, mannwhitneyu

import purecover as pu
from purecover.estimators import compare_label_dates, compare_label_kinds, count_by_two_sources
from purecover.estimators.sources import RankTest
from purecover.exceptions import IdentifiabilityError, InvalidInputError


def positives(rng, n=40_000):
    scores = rng.normal(size=n)
    return scores, rng.random(n) < 1 / (1 + np.exp(2 - 2 * scores))


def test_the_number_is_chapmans() -> None:
    first, second = [1] * 30 + [0] * 70, [1] * 20 + [0] * 10 + [1] * 20 + [0] * 50
    found = count_by_two_sources(first, second)
    assert found.n_positive.estimate == pytest.approx(31 * 41 / 21 - 1)
    assert (found.n_labeled, found.dependence, found.preference) == (50, None, None)
    # Chao's interval: the logarithm of the unlabeled positives is normal.
    unlabeled = 31 * 41 / 21 - 1 - 50
    variance = 31 * 41 * 10 * 20 / (21**2 * 22)
    factor = np.exp(1.959964 * np.sqrt(np.log1p(variance / unlabeled**2)))
    assert found.n_positive.low == pytest.approx(50 + unlabeled / factor)
    assert found.n_positive.high == pytest.approx(50 + unlabeled * factor)


def test_intervals_of_independent_sources_contain_the_number() -> None:
    rng, inside, alarms, n = np.random.default_rng(0), 0, 0, 200
    for _ in range(n):
        scores, positive = positives(rng, 2000)
        first, second = (positive & (rng.random(2000) < share) for share in (0.3, 0.4))
        found = count_by_two_sources(first, second, scores)
        inside += positive.sum() in found.n_positive
        alarms += found.dependence.p_value < 0.05
    assert inside / n == pytest.approx(0.95, abs=3 * np.sqrt(0.05 * 0.95 / n))
    assert alarms / n < 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)


def test_scores_allow_for_sources_that_prefer_clear_cases() -> None:
    rng = np.random.default_rng(1)
    scores, positive = positives(rng)
    ease = 1 / (1 + np.exp(1 - scores))
    first, second = (positive & (rng.random(scores.size) < ease) for _ in range(2))
    plain, found = count_by_two_sources(first, second), count_by_two_sources(first, second, scores)
    assert plain.n_positive.high < positive.sum()
    assert abs(found.n_positive.estimate / positive.sum() - 1) < 0.05
    # Over all scores the preference is seen, by the test of Mann and Whitney.
    expected = mannwhitneyu(
        scores[first & second], scores[first ^ second], use_continuity=False, method="asymptotic"
    )
    assert found.preference.p_value == pytest.approx(expected.pvalue)
    assert found.preference.probability > 0.5


def test_what_strata_leave_open_is_seen_with_the_right_sign() -> None:
    """Both sources label the clearest cases alone, so that no band of scores is even."""
    rng, said = np.random.default_rng(2), []
    for _ in range(40):
        scores, positive = positives(rng, 2000)
        ease = 0.6 / (1 + np.exp(4 * (1.5 - scores)))
        first, second = (positive & (rng.random(2000) < ease) for _ in range(2))
        found = count_by_two_sources(first, second, scores)
        assert found.n_positive.estimate < positive.sum()
        said.append(str(found))
    assert sum("the number is too small" in text for text in said) >= 12
    assert not any("too large" in text for text in said)


@pytest.mark.parametrize("trend", [-1.0, 0.0, 1.0])
def test_dates_have_the_right_sign(trend) -> None:
    rng, n = np.random.default_rng(3), 100
    found = []
    for _ in range(n):
        dates = rng.integers(2000, 2020, 120)
        scores = rng.normal(size=120) - trend * (dates - 2010) / 10
        found.append(compare_label_dates(scores, np.arange(120) < 100, dates))
    p_values = np.array([test.p_value for test in found])
    right = np.mean([(test.probability > 0.5) == (trend > 0) for test in found])
    if trend:
        assert right > 0.95
        assert (p_values < 0.05).mean() > 0.8
    else:
        assert (p_values < 0.05).mean() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)


def test_the_test_of_dates_is_that_of_mann_and_whitney() -> None:
    rng = np.random.default_rng(4)
    scores, dates = rng.integers(0, 8, 60).astype(float), np.arange(60)
    found = compare_label_dates(scores, np.ones(60).cumsum() < 60, dates)
    expected = mannwhitneyu(scores[:30], scores[30:59], method="asymptotic", use_continuity=False)
    assert found.probability == pytest.approx(expected.statistic / (30 * 29))
    assert found.p_value == pytest.approx(expected.pvalue)
    days = np.datetime64("2020-01-01") + dates
    assert compare_label_dates(scores, np.arange(60) < 59, days) == found


def test_the_test_of_two_kinds_is_exact() -> None:
    kinds = np.repeat(["bird", "bat"], 50)
    labeled, found = np.arange(100) % 50 < np.repeat([30, 10], 50), np.zeros(100, dtype=bool)
    found[30:32] = found[60:68] = True
    test = compare_label_kinds(kinds, labeled, found)
    numbers = np.arange(11)
    gap = np.abs(numbers - 10 * 18 / 50)
    exact = hypergeom(50, 18, 10).pmf(numbers)[gap >= gap[8]].sum()
    assert test.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact / 9999))
    assert (test.extreme, test.found["bat"]) == ("bat", 8)
    assert test.expected == pytest.approx({"bat": 3.6, "bird": 6.4})
    # A stratum of its own for each kind says nothing of kinds.
    assert compare_label_kinds(kinds, labeled, found, kinds == "bat").p_value == 1


def by_kind(rng, ease):
    """A world whose kinds differ in prevalence and difficulty; the second is labeled less often."""
    n, kind = 4000, rng.integers(0, 3, 4000)
    positive = rng.random(n) < np.array([0.1, 0.3, 0.5])[kind]
    scores = rng.normal(size=n) + positive * np.array([0.5, 1.0, 2.0])[kind] - kind
    labeled = positive & (rng.random(n) < np.array([0.3, 0.3 * ease, 0.3])[kind])
    design = pu.audit.draw(scores, labeled, 60, design="stratified", random_state=rng)
    return {"scores": scores, "labeled": labeled, "kind": kind}, design, positive


def test_kinds_that_differ_have_no_finding_if_labels_are_random() -> None:
    rng, n, low = np.random.default_rng(8), 200, 0
    for _ in range(n):
        rows, design, positive = by_kind(rng, 1.0)
        found = positive & np.isin(np.arange(positive.size), design.rows) & ~rows["labeled"]
        strata = np.searchsorted(np.sort(design.cuts), rows["scores"], side="right")
        low += compare_label_kinds(rows["kind"], rows["labeled"], found, strata).p_value < 0.05
    assert low / n < 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)


def test_reports_warn_of_a_kind_that_is_labeled_less() -> None:
    rows, design, positive = by_kind(np.random.default_rng(9), 0.1)
    report = pu.evaluate(
        rows,
        score="scores",
        labeled="labeled",
        label_origin={"kinds": "kind"},
        judged=design.answer(positive[design.rows]),
        n_resamples=0,
    )
    check = {each.code: each for each in report.checks}["PU025"]
    assert check.outcome == "warning"
    assert "are of kind '1'" in check.message
    assert "labeled less" in check.message
    assert "PU025" in str(report)


def reported(rng, n=2000, ease=0.0, trend=0.0, alpha_off=0.0):
    """The checks and the report of one world with two sources and dates."""
    scores, positive = positives(rng, n)
    share = 0.4 / (1 + np.exp(-ease * (scores - 1)))
    first, second = (positive & (rng.random(n) < share) for _ in range(2))
    labeled = first | second
    dates = rng.normal(size=n) - trend * scores
    dates[~labeled] = np.nan
    frame = {"s": scores, "y": labeled, "when": dates, "one": first, "two": second}
    report = pu.evaluate(
        frame,
        score="s",
        labeled="y",
        label_origin={"dates": "when", "sources": ("one", "two")},
        alpha=float(positive[~labeled].mean()) + alpha_off,
        n_resamples=0,
    )
    return {check.code: check for check in report.checks}, report


def test_reports_of_random_labels_have_no_finding() -> None:
    rng, n, alarms = np.random.default_rng(5), 100, {"PU023": 0, "PU024": 0}
    for _ in range(n):
        checks, _ = reported(rng)
        alarms = {code: so_far + checks[code].fired for code, so_far in alarms.items()}
    assert max(alarms.values()) <= 0.1 * n


def test_reports_warn_of_clear_cases_first() -> None:
    rng, n, more = np.random.default_rng(6), 20, 0
    for _ in range(n):
        checks, report = reported(rng, 10_000, ease=4.0, trend=1.0)
        details = " ".join(report.details().split())
        for code in ("PU023", "PU024"):
            assert (code in str(report)) == (checks[code].outcome == "warning")
            assert checks[code].message[1:] in details
        assert "labeled first" in checks["PU023"].message
        assert "labeled less" not in checks["PU024"].message
        more += "labeled more" in checks["PU024"].message
    assert more >= n / 2
    checks, _ = reported(rng, trend=-1.0)
    assert "labeled last" in checks["PU023"].message


@pytest.mark.parametrize("off", [-0.1, 0.3])
def test_an_alpha_that_contradicts_the_sources_is_said(off) -> None:
    checks, report = reported(np.random.default_rng(7), alpha_off=off)
    assert checks["PU024"].outcome == "warning"
    counts = report.counts
    implied = counts.n_labeled + report.proportions.alpha * counts.n_unlabeled
    assert f"alpha implies {implied:,.0f}" in checks["PU024"].message


@pytest.mark.parametrize(
    ("probability", "p_value", "words"),
    [
        (0.6, 1e-4, "prefer the same rows (p = 0.0001): the number is too small"),
        (0.4, 1e-4, "avoid each other's rows (p = 0.0001): the number is too large"),
        (0.6, 0.4, "60 of them labeled"),
    ],
)
def test_the_text_says_which_way_sources_err(
    probability: float, p_value: float, words: str
) -> None:
    first, second = np.arange(100) < 50, np.arange(100) % 5 < 1
    found = pu.estimators.count_by_two_sources(first, second)
    assert found.n_labeled == 60
    test = RankTest(probability=probability, p_value=p_value, n_first=10, n_second=20)
    assert str(replace(found, dependence=test)).endswith(words)


def test_dates_and_sources_need_rows() -> None:
    rows = {"scores": [4, 3, 2, 1.0], "labeled": [1, 1, 0, 0], "alpha": 0.1, "n_resamples": 0}
    both = {"dates": [1, 2, 0, 0], "sources": ([1, 1, 0, 0], [1, 0, 0, 0])}
    counts = pu.ScoreCounts.from_scores(rows["scores"], rows["labeled"])
    for name, value in both.items():
        with pytest.raises(InvalidInputError, match=f"'label_origin.{name}'"):
            pu.evaluate(**rows, label_origin={name: value}, sample_weight=[1, 1, 1, 2])
        with pytest.raises(InvalidInputError, match=f"'label_origin.{name}'"):
            pu.evaluate(**rows, label_origin={name: value}, groups=[1, 2, 3, 1])
        with pytest.raises(InvalidInputError, match=f"'label_origin.{name}'"):
            pu.evaluate(counts, alpha=0.1, n_resamples=0, label_origin={name: value})
    with pytest.raises(InvalidInputError, match=r"'label_origin\.kinds'"):
        pu.evaluate(**rows, label_origin={"kinds": [0, 1, 0, 1]})
    unanswered = pu.evaluate(
        **(rows | {"alpha": None}),
        label_origin={"kinds": [0, 1, 0, 1]},
        judged=[None, None, False, False],
        assume=["random-verdicts"],
    )
    checks = {check.code: check.outcome for check in unanswered.checks}
    assert checks["PU025"] == "not applicable"
    for wrong in ({"kinds": ["a", None, "b", "b"]}, {"kinds": ["a"] * 4}, {"found": [1, 0, 0, 0]}):
        given = {"kinds": [0, 1, 0, 1], "labeled": [1, 1, 0, 0], "found": [0, 0, 1, 0], **wrong}
        with pytest.raises(InvalidInputError, match=f"'{next(iter(wrong))}'"):
            compare_label_kinds(**given)
    with pytest.raises(InvalidInputError, match="got 1 rows that differ"):
        pu.evaluate(**rows, label_origin={"sources": ([1, 1, 1, 0], [1, 0, 0, 0])})


def test_refusals() -> None:
    with pytest.raises(IdentifiabilityError, match="both sources"):
        count_by_two_sources([1, 0, 0], [0, 1, 0])
    for wrong in ([2, 0], [0, 1, 1]):
        with pytest.raises(InvalidInputError, match=r"'first'|'second'"):
            count_by_two_sources(wrong, [0, 1])
    with pytest.raises(InvalidInputError, match="every labeled row"):
        compare_label_dates([1, 2, 3], [1, 1, 0], [2020, np.nan, np.nan])
    with pytest.raises(InvalidInputError, match="two days"):
        compare_label_dates([1, 2, 3], [1, 1, 0], [2020, 2020, 2021])
