"""Rows judged by hand: which, how many, and what they say together with the scores."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.special import betaincinv
from scipy.stats import beta as beta_distribution
from scipy.stats import norm

import purecover as pu
from purecover.audit.answers import Outlook, Strata
from purecover.audit.designs import JudgedRows
from purecover.estimators.reference import ANYWHERE, LARGEST_INCLUSION, uniform_draws
from purecover.exceptions import ContradictionError, InvalidInputError, InvalidTypeError
from purecover.posterior.draws import Posterior
from purecover.posterior.knowledge import Knowledge
from purecover.posterior.ratio import LabelRatio

MANY = 10**7
"""Rows of a stratum, of which the shares have no sampling error."""


def strata(unlabeled, labeled, *, judged, positive, labeled_judged=None, labeled_positive=None):
    none = np.zeros(len(unlabeled), dtype=int)
    given = [unlabeled, labeled, judged, positive, labeled_judged, labeled_positive]
    return Strata(*(none if each is None else np.array(each) for each in given))


def weighed(shares: np.ndarray, rows: Strata) -> Posterior:
    """Draws with two groups of scores, each a stratum."""
    counts = pu.ScoreCounts.from_counts([2, 1], rows.n_labeled, rows.n_unlabeled)
    verdicts = rows.verdicts([slice(0, 1), slice(1, 2)])
    pool = np.random.default_rng(0).permutation(shares)
    return Knowledge(LabelRatio(counts), pool, verdicts).posterior(40_000)


def flat(n: int, *, clean: bool = True) -> np.ndarray:
    """Alpha on a grid of (0, 1), with beta 1 or on a grid of (alpha, 1)."""
    alpha = (np.arange(n) + 0.5) / n
    if clean:
        return np.column_stack((alpha, np.ones(n)))
    pairs = np.stack(np.meshgrid(alpha, alpha), axis=-1).reshape(-1, 2)
    return pairs[pairs[:, 0] < pairs[:, 1] - 1e-9]


@pytest.mark.parametrize(("k", "n"), [(0, 10), (7, 10), (10, 10), (60, 90)])
def test_with_a_flat_prior_alpha_is_a_scaled_beta(k: int, n: int) -> None:
    """With one stratum of known shares alpha = purity * F_U / F_L, cut where negatives run out."""
    f_u, f_l = 0.2, 0.6
    rows = strata(
        [MANY * f_u, MANY * (1 - f_u)],
        [MANY * f_l, MANY * (1 - f_l)],
        judged=[n, 0],
        positive=[k, 0],
    )
    found = weighed(flat(20_000), rows)
    tails = [0.025, 0.25, 0.5, 0.75, 0.975]
    expected = betaincinv(k + 1, n - k + 1, tails) * f_u / f_l
    np.testing.assert_allclose(np.quantile(found.shares[:, 0], tails), expected, atol=4e-3)
    purity = betaincinv(k + 1, n - k + 1, tails)
    np.testing.assert_allclose(
        np.quantile(found.share_positive(slice(0, 1)), tails), purity, atol=0.01
    )


def test_labeled_verdicts_agree_with_brute_force() -> None:
    f_u, f_l = 0.3, 0.6
    rows = strata(
        [MANY * f_u, MANY * (1 - f_u)],
        [MANY * f_l, MANY * (1 - f_l)],
        judged=[12, 0],
        positive=[9, 0],
        labeled_judged=[6, 5],
        labeled_positive=[6, 3],
    )
    shares = flat(200, clean=False)
    found = weighed(shares, rows)
    likelihood = []
    for alpha, beta in shares:
        tpr = ((1 - alpha) * f_l - (1 - beta) * f_u) / (beta - alpha)
        fpr = (beta * f_u - alpha * f_l) / (beta - alpha)
        if not (0 <= tpr <= 1 and 0 <= fpr <= 1):
            likelihood.append(0.0)
            continue
        top, labeled = alpha * tpr / f_u, beta * tpr / f_l
        low = beta * (1 - tpr) / (1 - f_l)
        likelihood.append(top**9 * (1 - top) ** 3 * labeled**6 * low**3 * (1 - low) ** 2)
    likelihood = np.array(likelihood) / np.sum(likelihood)
    mean = likelihood @ shares
    spread = np.sqrt(likelihood @ (shares - mean) ** 2)
    np.testing.assert_allclose(found.shares.mean(axis=0), mean, atol=3e-3)
    np.testing.assert_allclose(found.shares.std(axis=0), spread, rtol=0.03)


def test_pooled_strata_agree_with_brute_force() -> None:
    """Two strata whose odds are shifted by normal amounts of unknown spread."""
    f_u, f_l = np.array([0.25, 0.75]), np.array([0.7, 0.3])
    n, k = np.array([20, 20]), np.array([12, 6])
    alphas, shifts = np.linspace(0.02, 0.34, 33), np.linspace(-8, 8, 401)
    rows = strata(MANY * f_u, MANY * f_l, judged=n, positive=k)
    shares = np.column_stack((alphas, np.ones(33)))
    found = weighed(shares, rows)
    # Integrated over alpha, the spread (by its quantiles) and both shifts.
    spreads = 0.7 * np.tan(np.pi / 2 * (np.arange(400) + 0.5) / 400)
    evidence, total = np.zeros(2), 0.0
    for alpha in alphas:
        center = alpha * f_l / f_u
        center = np.log(center / (1 - center))
        purity = 1 / (1 + np.exp(-center[:, None] - shifts))
        likely = purity ** k[:, None] * (1 - purity) ** (n - k)[:, None]
        none = (1 / (1 + np.exp(-center))) ** k * (1 / (1 + np.exp(center))) ** (n - k)
        prior = norm.pdf(shifts, 0, np.maximum(spreads, 0.03)[:, None])
        prior /= prior.sum(axis=1, keepdims=True)
        one, two = prior @ likely.T, prior @ (likely * purity).T
        differ = one.prod(axis=1).mean()
        evidence += none.prod(), differ
        sums = (f_u[0] * two[:, 0] * one[:, 1] + f_u[1] * two[:, 1] * one[:, 0]).mean()
        total += none.prod() * alpha + sums
    assert (found.spread > 0).mean() == pytest.approx(evidence[1] / evidence.sum(), abs=0.02)
    assert found.shares[:, 0].mean() == pytest.approx(total / evidence.sum(), abs=3e-3)


def test_impossible_verdicts_have_no_posterior() -> None:
    rows = strata([50, 50], [50, 50], judged=[5, 0], positive=[3, 0], labeled_judged=[5, 0])
    shares = np.column_stack((np.full(9, 0.2), np.ones(9)))
    with pytest.raises(ContradictionError, match="no alpha and beta that the verdicts allow"):
        weighed(shares, rows)


@pytest.fixture(scope="module")
def sample() -> pu.simulate.Sample:
    world = pu.simulate.binormal(separation=2.0)
    return world.sample(500, 5000, alpha=0.3, random_state=0)


def judge(sample: pu.simulate.Sample, n: int = 10, **options) -> JudgedRows:
    design = pu.audit.draw(sample.scores, sample.labeled, n, **options)
    return design.answer(sample.truth[design.rows])


def combine(sample: pu.simulate.Sample, judged: JudgedRows, **options) -> pu.audit.AuditPosterior:
    return pu.audit.combine(judged, sample.scores, sample.labeled, **options)


@pytest.mark.parametrize("design", ["top", "random", "stratified"])
def test_judged_rows_narrow_what_the_scores_leave_open(sample, design) -> None:
    both = combine(sample, judge(sample, 30, design=design))
    assert 0.3 in both.alpha
    assert both.alpha.width < both.from_scores.width * (0.5 if design == "top" else 0.9)
    assert not both.doubt
    assert (both.disagreement is None) == (design == "top")
    for interval, rows in zip(both.n_positive, both.judged.design.n_unlabeled, strict=True):
        assert 0 <= interval.low <= interval.high <= rows
    draws = both.draws(2000)
    np.testing.assert_array_equal(draws, both.draws(2000))
    assert np.median(draws[:, 0]) == both.proportions.alpha
    assert np.all(draws[:, 0] < draws[:, 1])


def test_ten_judged_rows_cover() -> None:
    world, hits, errors = pu.simulate.binormal(separation=1.5), [], []
    for seed in range(12):
        alpha = 0.05 + 0.05 * seed
        sample = world.sample(400, 2000, alpha=alpha, random_state=seed)
        both = combine(sample, judge(sample, random_state=seed), beta=1)
        hits.append(alpha in both.alpha)
        errors.append(abs(both.alpha.estimate - alpha))
    assert np.mean(hits) >= 0.8
    assert np.mean(errors) < 0.06


def test_judged_labeled_rows_find_beta() -> None:
    world = pu.simulate.binormal(separation=2.0)
    noisy = world.sample(500, 5000, alpha=0.3, beta=0.8, random_state=1)
    without, with_them = (combine(noisy, judge(noisy, 20, n_labeled=n)) for n in (0, 60))
    assert 0.8 in with_them.intervals["beta"]
    assert with_them.intervals["beta"].width < without.intervals["beta"].width
    assert with_them.proportions.origin == "ReferencePosterior and audit"
    assert without.proportions.origin == "ReferencePosterior and audit, beta from the scores"
    with pytest.raises(ContradictionError, match="leave beta out"):
        combine(noisy, judge(noisy, 20, n_labeled=60), beta=1)


def test_verdicts_that_contradict_the_scores_win() -> None:
    """Negatives that look like positives fool the estimator, not the judges."""
    sample = pu.simulate.laplace(separation=2.0).sample(500, 5000, alpha=0.25, random_state=0)
    fooled = pu.estimators.LabelCurve(clean="always")
    both = combine(sample, judge(sample, 300, design="random"), estimator=fooled)
    assert both.from_scores.low > 0.3
    assert both.conflict
    assert 0.25 in both.alpha
    assert "contradict each other (p = " in both.doubt
    report = pu.evaluate(sample.counts, proportions=both, n_resamples=0)
    assert "PU012" in {each.code for each in report.findings}


def test_labels_not_at_random_show_as_strata_that_disagree() -> None:
    world, rng = pu.simulate.binormal(separation=1.5), np.random.default_rng(0)
    drawn = world.sample(1, 6000, alpha=0.4, random_state=0)
    scores, truth = drawn.scores, drawn.truth
    for easy in (False, True):
        chance = 1 / (1 + np.exp(-4 * (scores - 2))) if easy else 0.3
        labeled = truth & (rng.random(scores.size) < chance)
        design = pu.audit.draw(scores, labeled, 200, design="stratified", random_state=1)
        both = pu.audit.combine(design.answer(truth[design.rows]), scores, labeled, beta=1)
        assert (both.disagreement > 0.9) == easy
        assert ("hidden positives score lower" in str(both)) == easy
        report = pu.evaluate(scores, labeled, proportions=both, n_resamples=0)
        assert ("PU022" in {each.code for each in report.findings}) == easy
        assert truth[~labeled].mean() in both.alpha


def test_a_larger_alpha_makes_the_auc_less_certain_and_says_so() -> None:
    for alpha, worse in ((0.3, False), (0.9, True)):
        sample = pu.simulate.binormal(2.0).sample(300, 3000, alpha=alpha, random_state=0)
        both = combine(sample, judge(sample), beta=1)
        widths = [
            pu.evaluate(sample.scores, sample.labeled, **known, n_resamples=300, random_state=0)
            .intervals["roc_auc"]
            .width
            for known in ({"proportions": both}, {"beta": 1})
        ]
        assert (widths[0] > widths[1]) == bool(both.wider) == worse
        assert ("alpha is larger, and the error of" in str(both)) == worse
        report = pu.evaluate(sample.scores, sample.labeled, proportions=both, n_resamples=0)
        assert ("The AUC is less certain" in report.details()) == worse


def test_a_report_varies_what_judged_rows_leave_open(sample) -> None:
    both = combine(sample, judge(sample))
    options = {"n_resamples": 400, "random_state": 0}
    sure, open_ = (
        pu.evaluate(sample.scores, sample.labeled, proportions=each, **options)
        for each in (both.proportions, both)
    )
    assert open_.proportions == sure.proportions == both.believed
    assert open_.auc == sure.auc
    for name in ("roc_auc", "auc_pr", "precision"):
        assert open_.intervals[name].width > 1.1 * sure.intervals[name].width
        assert open_.intervals[name].varied == "scores and proportions"
    again = pu.PUReport.from_json(open_.to_json())
    assert again.intervals["roc_auc"] == open_.intervals["roc_auc"]
    # Where nothing varies them, they are not silently taken as certain.
    with pytest.raises(InvalidTypeError, match="nothing here varies them") as refused:
        pu.make_pu_scorer("roc_auc", proportions=both)
    assert "believed" in str(refused.value)
    with pytest.raises(InvalidInputError, match="'proportions' carry one"):
        pu.evaluate(sample.scores, sample.labeled, proportions=both, beta=0.5)


def test_a_report_takes_judged_rows(sample) -> None:
    judged, data = judge(sample), (sample.scores, sample.labeled)
    report = pu.evaluate(*data, judged=judged, beta=1, n_resamples=0)
    assert report.proportions == combine(sample, judged, beta=1).proportions
    for given in ({"alpha": 0.3}, {"sample_weight": np.ones(sample.scores.size)}):
        with pytest.raises(InvalidInputError, match="'judged' parameter of evaluate must be left"):
            pu.evaluate(*data, judged=judged, **given)


def test_known_negatives_are_neither_asked_about_nor_counted(sample, tmp_path: Path) -> None:
    labels = sample.labeled.astype(int)
    labels[np.flatnonzero(~sample.truth)[::4]] = -1
    known, data = {"negative_label": -1}, (sample.scores, labels)
    design = pu.audit.draw(*data, 30, design="stratified", **known)
    assert (labels[design.rows] == 0).all()
    assert design.n_unlabeled.sum() == (labels == 0).sum()
    judged = design.answer(sample.truth[design.rows])
    both = pu.audit.combine(judged, *data, **known)
    assert sample.truth[labels == 0].mean() in both.alpha
    settings = pu.Settings(**known)
    report = pu.evaluate(*data, judged=judged, n_resamples=0, settings=settings)
    assert report.proportions == both.proportions
    file = tmp_path / "audit.csv"
    file.write_text(design.to_csv())
    assert JudgedRows.read_csv(file, *data, **known).design.checksum == design.checksum
    with pytest.raises(InvalidInputError, match="if -1 marks known negatives"):
        pu.audit.combine(judged, *data)


def test_what_answers_would_do_is_known_for_a_beta_distribution() -> None:
    """Answers about a share with a Beta(a, b) posterior: its variance falls to m / (m + n)."""
    share = betaincinv(12, 28, (np.arange(40_000) + 0.5) / 40_000)
    noise = np.random.default_rng(0).permutation(norm.ppf((np.arange(40_000) + 0.5) / 40_000))
    for known in (1.0, 0.6):  # what the share explains of the variance of a figure
        values = 3 * share + 3 * share.std() * noise * np.sqrt(1 / known - 1)
        seen = Outlook.of(values, share, 500, 0.9)
        assert seen.width == pytest.approx(np.ptp(np.quantile(values, [0.05, 0.95])), rel=0.01)
        assert (seen.worth, seen.explained) == pytest.approx((40, known), rel=0.02)
        assert seen.width_after(0) == seen.width
        for n in (1, 40, 400):
            left = (1 - known) + known * 40 / (40 + n)
            assert seen.width_after(n) == pytest.approx(seen.width * left**0.5, rel=0.01)
        assert seen.n_for(seen.width) == 0
        for n in (1, 40, 400):
            assert seen.n_for(seen.width_after(n) * (1 + 1e-9)) == n
        assert seen.n_for(seen.width_after(501)) is None  # more than there are
    assert seen.n_for(0.6 * seen.width) is None  # the share does not explain as much
    assert Outlook(1.0, 0.5, 0.0, 9).n_for(0.9) == 1  # one answer shows a share of 0 or 1


@pytest.mark.parametrize("beta", [None, 1])
def test_figures_of_the_draws_fit_each_other(sample, beta) -> None:
    both, counts = combine(sample, judge(sample, 30), beta=beta), sample.counts
    found = {
        name: both.figure(name) for name in ("alpha", "positives", "precision", "recall", "auc")
    }
    alpha, beta = both.draws(2000).T
    assert found["alpha"].mean() == pytest.approx(alpha.mean(), abs=0.003)
    np.testing.assert_allclose(found["positives"], 5000 * found["alpha"])
    above = (sample.scores >= both.judged.design.cuts[0]) & ~sample.labeled
    flagged = found["precision"] * above.sum()  # positives among them
    recall = (flagged / found["positives"]).clip(0, 1)
    assert found["recall"].mean() == pytest.approx(recall.mean(), abs=0.01)
    assert np.corrcoef(found["recall"], recall)[0, 1] > 0.7
    # The observed AUC is the mixture of that of the classes and 1/2.
    sure = (beta - alpha).mean() * (found["auc"].mean() - 0.5) + 0.5
    assert sure == pytest.approx(counts.auc_pu, abs=0.005)
    assert found["auc"].std() > 0.5 * counts.auc_pu_variance**0.5


def test_replicates_stand_for_estimators_without_a_posterior(sample) -> None:
    both = combine(sample, judge(sample, 20), estimator=pu.estimators.BBE())
    assert 0.3 in both.alpha
    assert 0 < ANYWHERE < 0.5
    assert both.proportions.origin.startswith("BBE and audit")


def test_rows_are_random_rows_above_the_cut(sample) -> None:
    design = pu.audit.draw(sample.scores, sample.labeled, 200, n_labeled=50)
    cut = np.quantile(sample.scores[sample.labeled], 0.5, method="higher")
    assert design.cuts[0] == pytest.approx(cut, abs=0.02)
    unlabeled = design.rows[~design.labeled]
    assert len(set(design.rows.tolist())) == design.rows.size == 250
    assert np.all(sample.scores[unlabeled] >= design.cuts[0])
    assert np.array_equal(design.labeled, sample.labeled[design.rows])
    assert 0 < design.labeled[:50].sum() < 50  # who stops early leaves a random sample
    above = sample.scores >= design.cuts[0]
    # Labeled rows are those with the lowest scores, where most wrong labels are.
    low = sample.scores < design.cuts[1]
    assert low[design.rows[design.labeled]].all()
    assert (sample.labeled & low).sum() == 125
    assert design.n_unlabeled.tolist() == [
        int((~sample.labeled & here).sum()) for here in (above, ~above & ~low, low)
    ]
    ranks = np.argsort(np.argsort(sample.scores[above & ~sample.labeled]))
    chosen = np.isin(np.flatnonzero(above & ~sample.labeled), unlabeled)
    assert ranks[chosen].mean() / ranks.size == pytest.approx(0.5, abs=0.06)
    assert f"and 50 of 125 labeled rows with score < {design.cuts[1]:.6g}" in str(design)
    every = pu.audit.draw(sample.scores, sample.labeled, 5, n_labeled=500)
    assert str(every).endswith("and 500 of 500 labeled rows")


@pytest.mark.parametrize("beta", [None, 0.9])
@pytest.mark.parametrize("flat", [False, True])
def test_draws_from_anywhere_reach_the_bounds_evenly(sample, beta, flat) -> None:
    counts = pu.ScoreCounts.from_counts([2, 1], [5, 5], [50, 50]) if flat else sample.counts
    drawn = uniform_draws(counts, beta, 20_000, np.random.default_rng(0))
    alpha, found = drawn.T
    most_a, most_b = (
        min(pu.estimators.inclusion_bound(each, confidence_level=0.999), LARGEST_INCLUSION)
        for each in (counts, counts.flipped())
    )
    evenly = (np.arange(20_000) + 0.5) / 20_000
    np.testing.assert_allclose(np.sort(alpha / found), most_a * evenly, atol=0.02)
    if beta:
        assert (found == beta).all()
        return
    noise = np.sort(((1 - found) / (1 - alpha))[found < 1])
    assert noise.size == 10_000  # labels are clean in half
    np.testing.assert_allclose(noise, most_b * evenly[::2], atol=0.02)


def test_cuts_of_thresholds_and_reviews() -> None:
    scores = np.array([9, 8, 8, 8, 7, 6, 5, 4, 3, 2.0])
    labeled = np.arange(10) >= 8
    for options, cut in (
        ({"threshold": 5.5}, 5.5),
        ({"review": 5}, 7),
        ({"review": 3}, 9),  # all three of score 8 would be four rows
        ({"review": 4}, 8),
        ({"review": 8}, 2),  # the threshold of a report with this budget
    ):
        assert pu.audit.draw(scores, labeled, 1, **options).cuts == (cut,)
    tied = pu.audit.draw(np.append(scores, 9), np.append(labeled, False), 1, review=1)
    assert tied.cuts == (9,)
    assert pu.audit.draw(scores, labeled, 1, review=1).cuts == (9,)
    for review in (0, 9):  # of eight unlabeled rows
        with pytest.raises(InvalidInputError, match="'review'"):
            pu.audit.draw(scores, labeled, 1, review=review)
    even = pu.audit.draw(scores, labeled, 5, design="stratified", threshold=8.5)
    assert sorted(even.stratum.tolist()) == [0, 1, 1, 1, 1]
    random = pu.audit.draw(scores, labeled, 8, design="random", threshold=8)
    assert random.n_unlabeled.tolist() == [4, 4]
    assert random.where(0) == "score >= 8"
    assert random.where(1) == "score < 8"


def test_a_file_brings_the_verdicts_back(sample, tmp_path: Path) -> None:
    design = pu.audit.draw(sample.scores, sample.labeled, n_labeled=4)
    text = design.to_csv({"note": [f"row, {i}" for i in range(5500)]})
    head, *lines = text.splitlines()
    assert head == "row,design,note,positive"
    shown = {line.partition(",")[2].split(";row=")[0] for line in lines}
    assert len(shown) == 1  # nothing that says which rows are labeled
    file = tmp_path / "audit.csv"
    answers = ["yes" if sample.truth[row] else "No" for row in design.rows]
    answers[3] = ""
    filled = [f"{line}{answer}" for line, answer in zip(lines, answers, strict=True)]
    # Sorted by somebody, and saved with semicolons and a mark of the encoding.
    table = "\n".join([head, *sorted(filled)])
    table = table.replace("top;", "top|").replace('"', "").replace("row, ", "row ")
    file.write_text("\ufeff" + table.replace("top|", "top;"), encoding="utf-8")
    read = JudgedRows.read_csv(file, sample.scores, sample.labeled)
    assert read.design.cuts == design.cuts
    order = [read.design.rows.tolist().index(row) for row in design.rows]
    verdicts = sample.truth[design.rows].astype(int)
    verdicts[3] = -1
    assert read.verdicts[order].tolist() == verdicts.tolist()
    assert read.n_skipped == 1
    direct = combine(sample, design.answer([None if v < 0 else v for v in verdicts]))
    assert combine(sample, read).alpha == direct.alpha
    turned = sample.scores[::-1], sample.labeled[::-1]
    with pytest.raises(InvalidInputError, match="drawn from these scores and labels"):
        JudgedRows.read_csv(file, *turned)
    with pytest.raises(InvalidInputError, match="in the same order"):
        pu.audit.combine(read, *turned)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace("row,", "number,"), "a column 'row'"),
        (lambda text: text.replace("positive", "answer"), "names that of verdicts"),
        (lambda text: text.replace("top;", "best;"), "as they were drawn"),
        (lambda text: text + text.splitlines()[1] + "\n", "different numbers from 1"),
        (
            lambda text: text.replace("\n", "maybe\n").replace("positivemaybe", "positive"),
            "'maybe'",
        ),
        (lambda _: "", "with rows"),
    ],
)
def test_files_that_cannot_be_read(sample, tmp_path: Path, change, says: str) -> None:
    file = tmp_path / "audit.csv"
    text = pu.audit.draw(sample.scores, sample.labeled, 3).to_csv()
    file.write_text(change(text), encoding="utf-8")
    with pytest.raises(InvalidInputError, match=says):
        JudgedRows.read_csv(file, sample.scores, sample.labeled)


def test_verdicts_beside_all_rows(sample) -> None:
    rows = np.random.default_rng(0).choice(np.flatnonzero(~sample.labeled), 60, replace=False)
    verdicts = np.full(sample.scores.size, None, dtype=object)
    verdicts[rows] = sample.truth[rows]
    judged = JudgedRows.from_array(verdicts, sample.scores, sample.labeled, design="random")
    assert sorted(judged.design.rows.tolist()) == sorted(rows.tolist())
    assert judged.tally(labeled=False)[1].sum() == 60
    assert judged.tally(labeled=True)[1].sum() == 0
    assert 0.3 in combine(sample, judged).alpha
    words = np.where(verdicts == None, "", np.where(verdicts == True, "Yes", "n"))  # noqa: E711, E712
    again = JudgedRows.from_array(words, sample.scores, sample.labeled, design="random")
    assert np.array_equal(again.verdicts, judged.verdicts)


def test_results_print_pickle_and_become_json(sample) -> None:
    for options in ({}, {"design": "random", "n": 60}, {"n_labeled": 5}):
        both = combine(sample, judge(sample, **options))
        document = json.loads(json.dumps(both.to_dict(), allow_nan=False))
        assert document == pickle.loads(pickle.dumps(both)).to_dict()  # noqa: S301
        text = str(both).splitlines()
        assert 4 <= len(text) <= 8
        assert max(map(len, text)) < 100
    with pytest.raises(ValueError, match="read-only"):
        both.judged.verdicts[0] = 3


@pytest.mark.parametrize(("width", "guess"), [(0.1, None), (0.2, (0.05, 0.2)), (0.02, 0.01)])
def test_the_number_of_random_rows_is_the_smallest(width: float, guess) -> None:
    n = pu.audit.plan(width=width, alpha_guess=guess)
    share = {None: 0.5, (0.05, 0.2): 0.2, 0.01: 0.01}[guess]
    widths = [
        np.ptp(beta_distribution(0.5 + share * m, 0.5 + (1 - share) * m).ppf([0.025, 0.975]))
        for m in (n, n - 1)
    ]
    assert widths[0] <= width < widths[1]


@pytest.mark.parametrize("figure", ["alpha", "auc", "precision"])
def test_the_plan_for_high_scores_is_what_the_audit_needs(sample, figure: str) -> None:
    # The scores alone leave the AUC an interval of about 0.1.
    width, less = (0.08, 0.9) if figure == "auc" else (0.16, 0.75)
    cut = {"threshold": 2.0} if figure == "precision" else {}
    n = pu.audit.plan(sample.scores, sample.labeled, width=width, figure=figure, **cut)
    widths = []
    for seed in range(4):
        both = combine(sample, judge(sample, n, figure=figure, random_state=seed, **cut))
        alpha, beta = both.draws(8000).T
        area = (0.5 + (sample.counts.auc_pu - 0.5) / (beta - alpha)).clip(0, 1)
        low, high = np.quantile(area, [0.025, 0.975])
        found = {"alpha": both.alpha.width, "precision": both.purity[0].width, "auc": high - low}
        widths.append(found[figure])
    assert 0.5 * width < np.mean(widths) < 1.25 * width
    narrow = pu.audit.plan(sample.scores, sample.labeled, width=less * width, figure=figure, **cut)
    wide = pu.audit.plan(sample.scores, sample.labeled, width=0.9, figure=figure, **cut)
    assert wide == (0 if figure == "alpha" else 5)
    assert n < narrow
