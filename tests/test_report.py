"""`evaluate` and what it returns."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from tests import strategies
from tests.test_html import Page

import purecover as pu
from purecover._validation import check_real
from purecover.estimators.base import Inclusions, PriorEstimator, prior_estimators
from purecover.estimators.wrappers import NoisyLabels

WORLD = pu.simulate.binormal(1.5)


class TopShare(PriorEstimator):
    """The ratio of unlabeled to labeled among the highest scores, where only positives are.

    The world of these tests is such that everybody above 3 is positive.
    """

    def __init__(self, top: float = 0.3) -> None:
        self.top = top

    def _check_params(self) -> None:
        check_real("top", self.top, low=0, high=1)

    def _estimate(self, counts: pu.ScoreCounts) -> Inclusions:
        labeled = np.cumsum(counts.labeled) / counts.n_labeled
        at = int(np.searchsorted(labeled, self.top))
        unlabeled = float(counts.unlabeled[: at + 1].sum() / counts.n_unlabeled)
        return Inclusions(unlabeled / labeled[at], notes=("a note of its own",))


class TwoEnds(TopShare):
    """The same at both ends."""

    noisy = True

    def _estimate(self, counts: pu.ScoreCounts) -> Inclusions:
        a = super()._estimate(counts).a
        b = super()._estimate(self._flip(counts)).a
        return Inclusions(a, b, details={"clean_p_value": 0.001, "at_edge": True})


class Shaky(TopShare):
    """An estimate of the data, but hardly ever of a replicate."""

    def _estimate_many(
        self, counts: pu.ScoreCounts, labeled: np.ndarray, unlabeled: np.ndarray
    ) -> np.ndarray:
        found = super()._estimate_many(counts, labeled, unlabeled)
        found[1:] = np.nan
        return found


@pytest.fixture(scope="module")
def sample() -> pu.simulate.Sample:
    return WORLD.sample(500, 4000, alpha=0.25, random_state=0)


@pytest.fixture(scope="module")
def report(sample: pu.simulate.Sample) -> pu.PUReport:
    return pu.evaluate(
        sample.scores, sample.labeled, alpha=0.25, truth=sample.truth, n_resamples=100
    )


def test_parts_agree_with_the_single_functions(
    report: pu.PUReport, sample: pu.simulate.Sample
) -> None:
    counts, proportions = sample.counts, pu.MixtureProportions(0.25)
    assert report.counts == counts
    assert report.proportions == proportions
    assert report.auc == pu.recover_auc(counts, proportions)
    assert report.auc_pu == pu.auc_pu(counts)
    assert dict(report.metrics) == dict(pu.recover_metrics(counts, proportions))
    assert report.pr.auc_pr == pu.recover_pr(counts, proportions).auc_pr
    assert report.intervals["roc_auc"] == pu.auc_interval(counts, proportions)
    assert set(report.intervals) == set(report.metrics)


def test_true_figures(report: pu.PUReport, sample: pu.simulate.Sample) -> None:
    from sklearn.metrics import roc_auc_score

    assert report.truth is not None
    assert report.truth.metrics["roc_auc"] == pytest.approx(
        roc_auc_score(sample.truth, sample.scores), abs=1e-12
    )
    assert report.truth.alpha == np.mean(sample.truth[~sample.labeled])
    with pytest.raises(TypeError, match="read-only"):
        report.truth.metrics["roc_auc"] = 1.0
    flagged = sample.scores >= report.metrics.threshold
    tpr = np.mean(flagged[sample.truth])
    fpr = np.mean(flagged[~sample.truth])
    alpha = report.truth.alpha
    assert report.truth.metrics["precision"] == pytest.approx(
        alpha * tpr / (alpha * tpr + (1 - alpha) * fpr), abs=1e-12
    )


def test_text(report: pu.PUReport) -> None:
    text = str(report)
    lines = text.splitlines()
    assert lines[0].startswith("500 labeled, 4,000 unlabeled")
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100
    auc = next(line for line in lines if line.startswith("AUC "))
    assert f"{report.auc_pu:.4f}" in auc
    assert f"{report.auc:.4f}" in auc
    assert f"{report.intervals['roc_auc'].low:.4f}" in auc
    assert report.truth is not None
    assert auc.endswith(f"{report.truth.metrics['roc_auc']:.4f}")
    assert "PU007" in text
    assert report._repr_html_().startswith('<div class="purecover-report"')
    assert "auc=" in repr(report)


def test_both_aucs_are_shown_where_they_differ() -> None:
    # Almost separable and noisy: the repaired curve loses a little area.
    s = pu.simulate.binormal(2.5).sample(60, 400, alpha=0.4, beta=0.9, random_state=0)
    report = pu.evaluate(s.scores, s.labeled, alpha=0.4, beta=0.9, n_resamples=0)
    assert not report.infeasible
    assert abs(report.roc.auc - report.roc.auc_direct) > 0.005
    assert "area of the isotonic curve" in str(report)
    close = pu.evaluate({"s": s.scores, "y": s.labeled}, "y", score="s", alpha=0.0, n_resamples=0)
    assert "area of the" not in str(close)


@pytest.fixture(scope="module")
def infeasible() -> pu.PUReport:
    """Far too large an alpha."""
    s = WORLD.sample(200, 2000, alpha=0.25, random_state=0)
    return pu.evaluate(s.scores, s.labeled, alpha=0.9, n_resamples=20)


class TestInfeasible:
    """One story in all outputs, and no false certainty."""

    def test_one_auc_everywhere(self, infeasible: pu.PUReport) -> None:
        report = infeasible
        assert report.infeasible
        assert report.auc_direct > 2
        assert report.auc == report.metrics["roc_auc"] == report.intervals["roc_auc"].estimate == 1
        data = json.loads(report.to_json())
        assert data["auc"] == data["metrics"]["recovered"]["roc_auc"] == 1
        assert data["auc_direct"] == report.auc_direct
        assert data["infeasible"] is True

    def test_text(self, infeasible: pu.PUReport) -> None:
        report = infeasible
        lines = str(report).splitlines()
        auc = next(line for line in lines if line.startswith("AUC "))
        assert auc.endswith("infeasible")
        assert f"{report.auc_direct:.4f}: alpha and beta do not fit" in str(report)
        assert "area of the" not in str(report)
        spoke = [line.split()[0] for line in lines if line.startswith("  PU")]
        assert spoke[0] == "PU008"  # the gravest first
        assert "PU007" not in spoke


def test_confusion_matrix(report: pu.PUReport, sample: pu.simulate.Sample) -> None:
    matrix = report.confusion
    unlabeled = ~sample.labeled
    flagged = sample.scores >= report.metrics.threshold
    assert matrix.matrix().sum() == pytest.approx(4000)
    assert matrix.flagged == pytest.approx(np.sum(flagged & unlabeled))
    truly = np.sum(flagged & unlabeled & sample.truth)
    assert matrix.tp == pytest.approx(truly, rel=0.1)
    # The isotonic rates behind precision need not add up to the number flagged.
    assert matrix.tp / matrix.flagged == pytest.approx(report.metrics["precision"], rel=0.01)
    assert str(matrix) in str(report)
    pooled = pu.recover_confusion(
        sample.counts, report.proportions, report.metrics.threshold, among="pooled"
    )
    assert pooled.matrix().sum() == pytest.approx(4500)
    assert pooled.tp == pytest.approx(np.sum(flagged & sample.truth), rel=0.1)


def test_everything_can_be_pickled_and_copied(report: pu.PUReport) -> None:
    import copy
    import pickle

    for twin in (pickle.loads(pickle.dumps(report)), copy.deepcopy(report)):  # noqa: S301
        assert str(twin) == str(report)
        assert twin.to_dict() == report.to_dict()
        with pytest.raises(TypeError, match="read-only"):
            twin.metrics.observed["roc_auc"] = 1.0
        with pytest.raises(TypeError, match="read-only"):
            twin.intervals["roc_auc"] = twin.intervals["recall"]
    choice = pu.choose_threshold(report.counts, report.proportions, "f1")
    curves = pu.recover_metric_curves(report.counts, report.proportions)
    for result in (choice, curves, report.bootstrap, report.counts, report.roc, report.pr):
        assert repr(pickle.loads(pickle.dumps(result))) == repr(result)  # noqa: S301


def test_too_little_data_has_no_interval() -> None:
    s = WORLD.sample(1, 200, alpha=0.2, fixed_counts=True, random_state=0)
    report = pu.evaluate(s.scores, s.labeled, alpha=0.2, n_resamples=50)
    assert np.isnan(report.intervals["recall"].low)  # no resample moves a single example
    assert "undefined" in str(report)


def test_pandas_columns_in_different_orders_are_refused() -> None:
    import pandas as pd

    s = WORLD.sample(20, 50, alpha=0.2, random_state=0)
    scores, labeled = pd.Series(s.scores), pd.Series(s.labeled)
    shuffled = labeled.sample(frac=1, random_state=0)
    with pytest.raises(pu.exceptions.InvalidInputError, match=r"labeled\.loc\[scores\.index\]"):
        pu.evaluate(scores, shuffled, alpha=0.2)
    with pytest.raises(pu.exceptions.InvalidInputError, match=r"labeled\.loc\[scores\.index\]"):
        pu.ScoreCounts.from_scores(scores, shuffled)
    same = pu.evaluate(scores, shuffled.loc[scores.index], alpha=0.2, n_resamples=0)
    assert same.auc == pu.evaluate(s.scores, s.labeled, alpha=0.2, n_resamples=0).auc


def test_plain_data(report: pu.PUReport) -> None:
    data = json.loads(report.to_json())
    assert data["auc"] == report.auc
    assert data["intervals"]["precision"]["varied"] == "scores"
    assert {check["code"] for check in data["checks"]} >= {"PU001", "PU008"}
    assert "roc" not in data
    assert len(json.loads(report.to_json(curves=True))["roc"]["fpr"]) == report.roc.fpr.size
    table = report.frame()
    assert list(table) == ["metric", "observed", "recovered", "low", "high", "true"]


def test_counts_and_frames_are_the_same(sample: pu.simulate.Sample) -> None:
    direct = pu.evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0)
    from_counts = pu.evaluate(sample.counts, alpha=0.25, n_resamples=0)
    frame = {"s": sample.scores, "y": sample.labeled.astype(int)}
    from_frame = pu.evaluate(frame, score="s", labeled="y", alpha=0.25, n_resamples=0)
    assert str(direct) == str(from_counts) == str(from_frame)


@pytest.mark.parametrize("repair", ["none", "paper", "isotonic", "hull", "likelihood"])
def test_every_repair(sample: pu.simulate.Sample, repair: str) -> None:
    report = pu.evaluate(
        sample.scores,
        sample.labeled,
        alpha=0.25,
        repair=repair,  # type: ignore[arg-type]
        n_resamples=20,
    )
    assert report.roc.repair == repair
    assert report.metrics["precision"] == pytest.approx(
        WORLD.precision(report.metrics.threshold, 0.25), abs=0.06
    )
    assert report.pr.auc_pr == pytest.approx(WORLD.auc_pr(0.25), abs=0.12)
    assert report.roc_band is not None


def test_scenario_decides_what_precision_means() -> None:
    """The same data under the two scenarios: one AUC formula, two populations."""
    world = pu.simulate.binormal(2.0)
    s = world.sample_censored(30_000, prior=0.3, label_frequency=0.4, random_state=0)
    report = pu.evaluate(
        s.scores,
        s.labeled,
        prior=0.3,
        scenario="censoring",
        truth=s.truth,
        n_resamples=0,
        threshold=1.0,
    )
    assert report.truth is not None
    assert report.proportions.alpha == pytest.approx(report.truth.alpha, abs=0.01)
    flagged = s.scores >= 1.0
    assert report.auc == pytest.approx(world.auc, abs=0.01)
    # Precision over everybody, labeled and unlabeled: that is the population here.
    assert report.metrics["precision"] == pytest.approx(np.mean(s.truth[flagged]), abs=0.015)
    by_frequency = pu.evaluate(
        s.scores, s.labeled, label_frequency=0.4, n_resamples=0, threshold=1.0
    )
    assert by_frequency.metrics["precision"] == pytest.approx(report.metrics["precision"], abs=0.02)


def test_weights_and_groups(sample: pu.simulate.Sample) -> None:
    rng = np.random.default_rng(99)  # another stream than the scores came from
    frame = {
        "s": sample.scores,
        "y": sample.labeled,
        "w": rng.random(sample.scores.size),
        "g": rng.integers(0, 300, sample.scores.size),
        "t": sample.truth,
    }
    report = pu.evaluate(
        frame,
        score="s",
        labeled="y",
        sample_weight="w",
        groups="g",
        truth="t",
        alpha=0.25,
        n_resamples=50,
    )
    assert report.counts.is_weighted
    assert report.intervals["roc_auc"].method == "bootstrap percentile, groups"
    assert report.auc == pytest.approx(WORLD.auc, abs=0.05)


def test_known_negatives_are_carried_along() -> None:
    s = WORLD.sample(200, 1000, alpha=0.25, random_state=0)
    labels = np.where(s.labeled, 1, 0)
    extra = np.random.default_rng(0).normal(size=100)
    report = pu.evaluate(
        np.append(s.scores, extra),
        np.append(labels, np.full(100, -1)),
        negative_label=-1,
        truth=np.append(s.truth, np.zeros(100, bool)),
        alpha=0.25,
        n_resamples=0,
    )
    assert report.counts.n_negative == 100
    assert report.counts.n_unlabeled == 1000
    plain = pu.evaluate(s.scores, s.labeled, alpha=0.25, n_resamples=0)
    assert report.auc == plain.auc
    assert report.metrics["precision"] == pytest.approx(plain.metrics["precision"], abs=1e-12)
    assert "100 known negative" in str(report)
    states = {check.code: check.status for check in report.checks}
    assert states["PU014"] == "quiet"
    assert {c.code: c.status for c in plain.checks}["PU014"] == "not applicable"


def test_silenced_checks(sample: pu.simulate.Sample) -> None:
    report = pu.evaluate(
        sample.scores, sample.labeled, alpha=0.25, n_resamples=0, ignore_checks=["PU007", "PU016"]
    )
    assert "checks: all" in str(report)
    assert {c.status for c in report.checks if c.code == "PU007"} == {"silenced"}


# -- alpha and beta estimated -----------------------------------------------------------------


@pytest.fixture(scope="module")
def separable() -> pu.simulate.Sample:
    """Classes with pure regions at both ends; beta is 0.9."""
    return pu.simulate.binormal(4.0).sample(500, 4000, alpha=0.25, beta=0.9, random_state=0)


@pytest.fixture(scope="module")
def estimated(separable: pu.simulate.Sample) -> pu.PUReport:
    s = separable
    return pu.evaluate(s.scores, s.labeled, estimator=TwoEnds(), truth=s.truth, n_resamples=100)


class TestEstimated:
    def test_proportions_are_those_of_the_estimator(
        self, estimated: pu.PUReport, separable: pu.simulate.Sample
    ) -> None:
        alone = TwoEnds().fit(separable.counts).proportions_
        p = estimated.proportions
        assert (p.alpha, p.beta) == (alone.alpha, alone.beta)
        assert (p.origin, p.scenario) == ("TwoEnds", "case-control")
        assert p.alpha == pytest.approx(0.25, abs=0.04)
        assert p.beta == pytest.approx(0.9, abs=0.04)
        assert estimated.auc == pu.recover_auc(separable.counts, p)
        assert estimated.estimation is not None
        assert estimated.estimation.proportions == p

    def test_intervals_vary_the_proportions(
        self, estimated: pu.PUReport, separable: pu.simulate.Sample
    ) -> None:
        known = pu.evaluate(separable.counts, proportions=estimated.proportions, n_resamples=100)
        assert known.estimation is None
        assert set(estimated.intervals) == set(known.intervals) == set(known.metrics)
        for name in ("precision", "f1", "accuracy"):
            wide, narrow = estimated.intervals[name], known.intervals[name]
            assert wide.width > narrow.width, name
            assert wide.varied == "scores and proportions"
        assert estimated.intervals["roc_auc"].method.startswith("bootstrap percentile")
        assert estimated.roc_band is not None
        assert estimated.roc_band.varied == "scores and proportions"
        states = {check.code: check.status for check in estimated.checks}
        assert states["PU007"] == "quiet"
        assert {check.code: check.status for check in known.checks}["PU007"] == "fired"

    def test_the_estimate_has_intervals_and_company(self, estimated: pu.PUReport) -> None:
        found = estimated.estimation
        assert found is not None
        assert set(found.intervals) == {"alpha", "beta", "delta"}
        for name, interval in found.intervals.items():
            assert interval.low < interval.estimate < interval.high, name
            assert interval.estimate == getattr(found.proportions, name)
        assert 0.25 in found.intervals["alpha"]
        assert 0.9 in found.intervals["beta"]
        assert found.spread["TwoEnds"] == (found.proportions.alpha, found.proportions.beta)
        # The names that compare_priors has for the same numbers.
        assert set(found.others) == {"alphamax-n", "bbe", "dedpul", "roc-slope"}
        for row in pu.compare_priors(
            estimated.counts, estimators=list(found.others), n_resamples=0
        ):
            assert found.others[row.name] == (row.value("alpha"), row.value("beta"))
        alphas, betas = zip(*found.spread.values(), strict=True)
        assert found.disagreement == max(np.ptp(alphas), np.ptp(betas))
        assert min(betas) < 1  # the others were made to look for noise too
        alone = prior_estimators()["bbe"]()
        noisy = NoisyLabels(alone).fit(estimated.counts).proportions_
        assert found.spread["bbe"] == (noisy.alpha, noisy.beta)

    def test_identification_interval(self, estimated: pu.PUReport) -> None:
        found, p = estimated.estimation, estimated.proportions
        assert found is not None
        # Upper bounds of both inclusions, not the estimates themselves.
        a, b = p.unlabeled_inclusion, p.labeled_inclusion
        most = pu.inclusion_bound(estimated.counts, confidence_level=0.975)
        assert found.identification["alpha"] == (0, pytest.approx(max(a, most)))
        assert found.identification["alpha"][1] > a
        assert found.identification["beta"][0] < 1 - b
        low, high = found.identification["auc"]
        assert low == estimated.auc_pu
        assert high > estimated.auc

    def test_what_checks_learn(self, estimated: pu.PUReport) -> None:
        states = {check.code: check.status for check in estimated.checks}
        assert states["PU004"] == "fired"
        assert states["PU011"] == "quiet"  # noise is significant
        assert states["PU017"] == "quiet"

    def test_text(self, estimated: pu.PUReport) -> None:
        lines = str(estimated).splitlines()
        assert max(map(len, lines)) <= 100
        found = estimated.estimation
        assert found is not None
        low, high = found.intervals["alpha"].low, found.intervals["alpha"].high
        assert lines[1].startswith(f"alpha {found.proportions.alpha:.3f} [{low:.3f}, {high:.3f}]")
        assert "estimated by TwoEnds, case-control" in lines[1]
        alphas, betas = zip(*found.others.values(), strict=True)
        assert f"alpha {min(alphas):.3f} to {max(alphas):.3f}, beta {min(betas):.3f} to" in lines[2]
        assert "(alphamax-n, bbe, dedpul, roc-slope)" in lines[2]

    def test_plain_data(self, estimated: pu.PUReport) -> None:
        data = json.loads(estimated.to_json())["estimation"]
        assert data["estimator"] == "TwoEnds"
        assert data["intervals"]["alpha"]["varied"] == "scores and proportions"
        assert data["spread"]["bbe"]["alpha"] == estimated.estimation.spread["bbe"][0]
        assert data["n_rejected"] == 0
        assert json.loads(report_with_alpha().to_json())["estimation"] is None

    def test_pickle(self, estimated: pu.PUReport) -> None:
        import pickle

        twin = pickle.loads(pickle.dumps(estimated))  # noqa: S301
        assert twin.to_dict() == estimated.to_dict()
        with pytest.raises(TypeError, match="read-only"):
            twin.estimation.spread["bbe"] = (0, 1)

    def test_page(self, estimated: pu.PUReport) -> None:
        page = estimated.to_html()
        parsed = Page(page)
        assert parsed.open == []  # every element is closed
        ids = [attrs["id"] for _, attrs in parsed.elements if "id" in attrs]
        assert len(ids) == len(set(ids))
        found = estimated.estimation
        assert found is not None
        for name, (alpha, _) in found.spread.items():
            assert f">{name}</bdi></th>" in page
            assert f"{alpha:.4f}" in page
        assert page.count('class="dot"') == len(found.spread) + 1  # and the legend
        assert "estimated by TwoEnds" in page
        plain = report_with_alpha().to_html()
        assert 'class="dot"' not in plain

    def test_the_estimator_stays_as_it_was(self, separable: pu.simulate.Sample) -> None:
        estimator = TopShare(0.2)
        report = pu.evaluate(separable.counts, estimator=estimator, n_resamples=0)
        assert not hasattr(estimator, "proportions_")
        assert report.proportions.beta == 1  # it does not look for noise
        assert report.estimation is not None
        assert report.estimation.notes[-1] == "a note of its own"
        assert set(report.estimation.others) == {"alphamax", "bbe", "dedpul", "roc-slope"}
        assert {beta for _, beta in report.estimation.spread.values()} == {1.0}
        states = {check.code: check.status for check in report.checks}
        assert states["PU011"] == "not applicable"
        assert "labels taken as clean" in report.to_html()

    def test_estimators_by_name(self, separable: pu.simulate.Sample) -> None:
        known = prior_estimators()
        both_ways = {"bbe": pu.NoisyLabels(known["bbe"]()), "alphamax-n": known["alphamax-n"]()}
        for name, same in both_ways.items():
            report = pu.evaluate(separable.counts, estimator=name, n_resamples=0)
            found = same.fit(separable.counts).proportions_
            assert (report.proportions.alpha, report.proportions.beta) == (found.alpha, found.beta)
            assert report.estimation is not None
            assert report.estimation.estimator == name
            assert f"(estimated by {name}, case-control)" in str(report)
            assert f">{name}</bdi></th>" in report.to_html()
        assert report.proportions.origin == "AlphaMaxN"
        assert report.estimation is not None
        # AlphaMax would only repeat what AlphaMax-N says.
        assert set(report.estimation.others) == {"bbe", "dedpul", "roc-slope"}

    @pytest.mark.parametrize(
        ("estimator", "name"),
        [
            (None, "label-curve"),
            ("default", "label-curve"),
            ("noisy", "noisy"),
            ("regrouping", "regrouping"),
            (pu.NoisyLabels(pu.BBE(), clean="never"), "bbe"),
            (pu.NoisyLabels(pu.Regrouping(pu.BBE())), "regrouping(bbe)"),
            (pu.BBE(), "bbe, labels taken as clean"),
            (TopShare(), "TopShare, labels taken as clean"),
        ],
    )
    def test_one_name_for_one_estimator(
        self, separable: pu.simulate.Sample, estimator: pu.PriorEstimator | str | None, name: str
    ) -> None:
        report = pu.evaluate(separable.counts, estimator=estimator, n_resamples=0)
        assert f"(estimated by {name}, case-control)" in str(report)
        page = report.to_html()
        assert f">estimated by {name}</bdi></td>" in page
        assert f">{name.removesuffix(', labels taken as clean')}</bdi></th>" in page

    def test_no_replicates(self, separable: pu.simulate.Sample) -> None:
        report = pu.evaluate(separable.counts, estimator=TwoEnds(), n_resamples=0)
        assert report.estimation is not None
        assert not report.estimation.intervals
        assert set(report.intervals) == {"roc_auc"}
        assert report.intervals["roc_auc"].varied == "scores"
        assert {c.code: c.status for c in report.checks}["PU007"] == "fired"
        assert str(report).splitlines()[1].startswith(f"alpha {report.proportions.alpha:.3f}, beta")

    def test_a_known_beta_helps(self, separable: pu.simulate.Sample) -> None:
        counts = separable.counts
        a = TopShare().fit(counts).proportions_.alpha
        for estimator in (TopShare(), TwoEnds()):
            report = pu.evaluate(counts, estimator=estimator, beta=0.9, n_resamples=60)
            p = report.proportions
            assert p.beta == 0.9
            assert p.alpha == pytest.approx(0.9 * a)
            assert p.alpha == pytest.approx(0.25, abs=0.03)
            assert "beta given" in p.origin
            assert report.estimation is not None
            assert set(report.estimation.intervals) == {"alpha", "delta"}
            assert 0.25 in report.estimation.intervals["alpha"]
            assert {beta for _, beta in report.estimation.spread.values()} == {0.9}
            low, high = report.estimation.identification["delta"]
            assert low < p.delta < high == 0.9
            assert "beta" not in report.estimation.identification
            assert "Beta was given" in report.to_html()
            assert "beta 0.900 (estimated by" in str(report)
            np.testing.assert_allclose(report.bootstrap.replicates["beta"], 0.9)
        clean = pu.evaluate(counts, estimator=TwoEnds(), beta=1.0, n_resamples=0)
        assert clean.proportions.alpha == pytest.approx(a)

    def test_scenario(self) -> None:
        world = pu.simulate.binormal(4.0)
        s = world.sample_censored(8000, prior=0.3, label_frequency=0.4, random_state=0)
        report = pu.evaluate(
            s.scores, s.labeled, scenario="censoring", estimator=TopShare(), n_resamples=0
        )
        assert report.proportions.scenario == "censoring"
        alpha, share = report.proportions.alpha, report.counts.labeled_share
        assert alpha == pytest.approx((0.3 - 0.12) / 0.88, abs=0.05)
        assert report.metrics.prior == pytest.approx(share + (1 - share) * alpha)  # pooled
        assert report.metrics.prior == pytest.approx(0.3, abs=0.05)

    def test_weights_and_groups(self, separable: pu.simulate.Sample) -> None:
        s = separable
        rng = np.random.default_rng(99)
        report = pu.evaluate(
            s.scores,
            s.labeled,
            sample_weight=rng.random(s.scores.size),
            groups=rng.integers(0, 300, s.scores.size),
            estimator=TopShare(),
            beta=0.9,
            n_resamples=50,
        )
        assert report.estimation is not None
        assert "groups" in report.estimation.intervals["alpha"].method
        assert 0.25 in report.estimation.intervals["alpha"]
        assert report.intervals["roc_auc"].varied == "scores and proportions"

    def test_replicates_without_estimates(self, separable: pu.simulate.Sample) -> None:
        """The estimate stands without intervals, and a check says why."""
        report = pu.evaluate(separable.counts, estimator=Shaky(), n_resamples=50)
        assert report.bootstrap is None
        assert report.estimation is not None
        assert not report.estimation.identifiable
        assert not report.estimation.intervals
        assert "bootstrap found no estimate" in report.estimation.notes[-1]
        assert {c.code: c.status for c in report.checks}["PU017"] == "fired"
        assert set(report.intervals) == {"roc_auc"}
        assert "PU017" in str(report)

    def test_draws_without_an_estimate_are_told(self, separable: pu.simulate.Sample) -> None:
        class Picky(TopShare):
            def _estimate_many(self, counts, labeled, unlabeled):  # type: ignore[no-untyped-def]
                found = super()._estimate_many(counts, labeled, unlabeled)
                few = labeled[:, :20].sum(axis=1) < counts.labeled[:20].sum() - 2
                found[few] = np.nan
                return found

        report = pu.evaluate(separable.counts, estimator=Picky(), n_resamples=50)
        assert report.estimation is not None
        assert report.estimation.n_rejected == report.bootstrap.n_rejected > 5
        assert f"{report.estimation.n_rejected} draws without an estimate" in str(report)
        assert "Draws without an estimate" in report.to_html()

    def test_the_default(self, separable: pu.simulate.Sample) -> None:
        report = pu.evaluate(separable.scores, separable.labeled, n_resamples=40)
        assert report.proportions.alpha == pytest.approx(0.25, abs=0.06)
        assert report.proportions.beta == pytest.approx(0.9, abs=0.06)
        assert report.auc == pytest.approx(separable.world.auc, abs=0.06)
        assert report.estimation is not None
        assert report.estimation.beta_estimated
        assert report.estimation.identifiable
        assert {c.code: c.status for c in report.checks}["PU012"] == "quiet"


SMALL = {
    "ten labeled": lambda: WORLD.sample(10, 200, alpha=0.25, random_state=0).counts,
    "perfect separation": lambda: pu.ScoreCounts.from_scores(range(60), [0] * 40 + [1] * 20),
    "no positives hidden": lambda: WORLD.sample(100, 500, alpha=0.0, random_state=0).counts,
    "labels inverted": lambda: (
        pu.simulate.binormal(-2.0).sample(100, 500, alpha=0.2, random_state=0).counts
    ),
    "no skill": lambda: (
        pu.simulate.binormal(0.0).sample(100, 500, alpha=0.2, random_state=0).counts
    ),
    "heavy ties": lambda: pu.ScoreCounts.from_counts([3, 2, 1], [30, 15, 5], [20, 80, 200]),
    "two scores": lambda: pu.ScoreCounts.from_counts([1, 0], [4, 1], [2, 9]),
    "one labeled": lambda: pu.ScoreCounts.from_counts([2, 1, 0], [1, 0, 0], [1, 4, 5]),
    "heavy weights": lambda: pu.ScoreCounts.from_scores(
        WORLD.sample(50, 200, alpha=0.2, random_state=0).scores,
        [1] * 50 + [0] * 200,
        sample_weight=np.random.default_rng(0).exponential(1e6, 250),
    ),
}


@pytest.mark.parametrize("case", SMALL)
def test_degenerate_data_are_flagged_or_refused(case: str) -> None:
    try:
        report = pu.evaluate(SMALL[case](), n_resamples=20)
    except pu.exceptions.IdentifiabilityError as error:
        assert "cannot estimate alpha and beta" in str(error)  # noqa: PT017
        return
    assert report.estimation is not None
    assert 0 <= report.proportions.alpha < report.proportions.beta <= 1
    json.loads(report.to_json())  # strict: no NaN
    assert "nan" not in str(report)
    assert report.to_html()
    loud = {c.code for c in report.findings} & {
        "PU004",
        "PU005",
        "PU008",
        "PU010",
        "PU012",
        "PU017",
    }
    if case != "no positives hidden":
        assert loud, str(report)


@given(strategies.weighted_rows(max_size=30))
@settings(max_examples=20)
def test_any_data_give_a_report_or_a_clear_error(data: tuple[np.ndarray, ...]) -> None:
    scores, labeled, weight = data
    try:
        report = pu.evaluate(scores, labeled, sample_weight=weight, n_resamples=3)
    except pu.exceptions.PurecoverError as error:
        assert str(error).startswith("evaluate cannot estimate")  # noqa: PT017
        return
    assert 0 <= report.proportions.alpha < report.proportions.beta <= 1
    assert json.loads(report.to_json())["estimation"]["estimator"]
    assert str(report)


def report_with_alpha() -> pu.PUReport:
    s = WORLD.sample(50, 200, alpha=0.25, random_state=0)
    return pu.evaluate(s.counts, alpha=0.25, n_resamples=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, prior=0.3), "exactly one of"),
        (
            lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, estimator="bbe"),
            "'estimator' parameter of evaluate must be left out where 'alpha' is given",
        ),
        (
            lambda s: pu.evaluate(
                s.scores, s.labeled, proportions=pu.MixtureProportions(0.2), estimator=TopShare()
            ),
            "left out where 'proportions' is given",
        ),
        (lambda s: pu.evaluate(s.scores, s.labeled, estimator="alphamin"), "(?s)'alphamax'.*mean"),
        (lambda s: pu.evaluate(s.scores, s.labeled, estimator=TopShare), r"TopShare\(\)"),
        (lambda s: pu.evaluate(s.scores, s.labeled, estimator=3), "'estimator' parameter"),
        (lambda s: pu.evaluate(s.scores, s.labeled, estimator=TopShare(2)), "of TopShare"),
        (lambda s: pu.evaluate(s.scores, s.labeled, beta=0), "'beta' parameter of evaluate"),
        (lambda s: pu.evaluate(s.scores, s.labeled, beta=90), "0.25 means 25 %"),
        (
            lambda s: pu.evaluate([1.0] * 20, [1] * 10 + [0] * 10),
            "evaluate cannot estimate alpha and beta",
        ),
        (lambda s: pu.evaluate(s.scores, alpha=0.2), "needs 'labeled'"),
        (lambda s: pu.evaluate(s.counts, s.labeled, alpha=0.2), "beside a ScoreCounts"),
        (lambda s: pu.evaluate({"a": s.scores}, "y", score="s", alpha=0.2), "columns are 'a'"),
        (lambda s: pu.evaluate({"a": s.scores}, "a", alpha=0.2), "(?s)needs 'score'.*'a'"),
        (lambda s: pu.evaluate(s.labeled, s.scores, alpha=0.2), "swapped"),
        (lambda s: pu.evaluate(s.scores, s.labeled, alpha=25), "0.25 means 25 %"),
        (lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, target=25), "of evaluate"),
        (lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, random_state="a"), "of evaluate"),
        (
            lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, groups=["a"] * s.scores.size),
            "of evaluate must be at least two groups",
        ),
        (
            lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, groups=[None] * s.scores.size),
            "missing",
        ),
        (lambda s: pu.evaluate({"a": [1]}, [1], score="a", alpha=0.2), "name of a column"),
        (lambda s: pu.evaluate(s.scores, s.labeled, score="s", alpha=0.2), "names a column"),
        (lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, n_resamples=-1), "n_resamples"),
        (
            lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, confidence_level=95),
            "0.95 means 95 %",
        ),
        (
            lambda s: pu.evaluate(
                s.scores, s.labeled, proportions=pu.MixtureProportions(0.2), scenario="censoring"
            ),
            "left out where 'proportions' carry one",
        ),
        (
            lambda s: pu.evaluate(
                s.scores, s.labeled, label_frequency=0.5, scenario="case-control"
            ),
            "'censoring' where a label frequency",
        ),
        (
            lambda s: pu.evaluate(s.scores, s.labeled, alpha=0.2, ignore_checks=["PU999"]),
            "PU001",
        ),
    ],
)
def test_bad_calls(call: object, message: str, sample: pu.simulate.Sample) -> None:
    with pytest.raises(pu.exceptions.PurecoverError, match=message):
        call(sample)  # type: ignore[operator]


def test_a_name_means_the_same_everywhere() -> None:
    """By name, evaluate and compare_priors run the same estimator; so they do with beta known."""
    sample = pu.simulate.binormal(1.5).sample(200, 1500, alpha=0.25, beta=0.75, random_state=0)
    for name in ("bbe", "roc-slope", "label-curve", "default"):
        report = pu.evaluate(sample.scores, sample.labeled, estimator=name, n_resamples=0)
        row = next(iter(pu.compare_priors(sample.counts, estimators=[name], n_resamples=0)))
        assert report.proportions.alpha == pytest.approx(row.proportions.alpha, abs=1e-12)
        assert report.proportions.beta == pytest.approx(row.proportions.beta, abs=1e-12)


def test_known_clean_labels_reach_the_estimator() -> None:
    sample = pu.simulate.binormal(1.5).sample(200, 1500, alpha=0.25, random_state=0)
    report = pu.evaluate(sample.scores, sample.labeled, beta=1, n_resamples=0)
    always = pu.LabelCurve(clean="always").fit(sample.counts)
    assert report.proportions.alpha == pytest.approx(always.proportions_.alpha, abs=1e-12)


def test_identification_holds_the_truth() -> None:
    """Nothing is assumed of the scores, so the ranges must hold it, up to their 95 %."""
    hits = []
    for seed in range(20):
        sample = pu.simulate.binormal(1.0).sample(200, 1500, alpha=0.3, beta=0.9, random_state=seed)
        report = pu.evaluate(sample.scores, sample.labeled, n_resamples=0)
        assert report.estimation is not None
        truth = {"alpha": 0.3, "beta": 0.9, "delta": 0.6}
        ends = report.estimation.identification
        hits.append(all(ends[k][0] <= v <= ends[k][1] for k, v in truth.items()))
    assert np.mean(hits) >= 0.9


def test_beta_may_be_any_kind_of_number() -> None:
    sample = pu.simulate.binormal(2.0).sample(60, 300, alpha=0.25, random_state=0)
    for beta in (Fraction(9, 10), np.float32(0.9)):
        report = pu.evaluate(sample.scores, sample.labeled, beta=beta, n_resamples=5)
        assert report.proportions.beta == pytest.approx(0.9)
        assert report.bootstrap is not None
