"""Known negatives and a mixture: error rates against the truth, and files of Percolator."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tests.command_line import call_main

import purecover as pu
from purecover.exceptions import ContradictionError, InvalidInputError
from purecover.report import error_rates


def draw(n: int, pi0: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, which are known negatives, and which of the mixture are negative."""
    rng = np.random.default_rng(seed)
    null = rng.random(n) < pi0
    scores = np.concatenate((rng.normal(size=n) + 3 * ~null, rng.normal(size=n)))
    return scores, np.repeat([False, True], n), null


@pytest.mark.parametrize("digits", [None, 0])
def test_error_rates_are_those_of_the_truth(digits: int | None) -> None:
    n, pi0 = 4000, 0.6
    scores, negative, null = draw(n, pi0)
    if digits is not None:
        scores = scores.round(digits)
    rates = error_rates(scores, negative, n_resamples=40, random_state=0)
    assert pi0 in rates.pi0
    assert rates.signals.estimate == pytest.approx(1 - rates.pi0.estimate)
    targets = scores[:n]
    q, pep = rates.q_values_of(targets), rates.pep_of(targets)
    for wanted in (0.02, 0.1):
        passed = q <= wanted
        assert passed.sum() > 800
        assert null[passed].mean() == pytest.approx(
            wanted if digits is None else q[passed].max(), abs=0.02
        )
        at = rates.threshold_at(wanted)
        np.testing.assert_array_equal(targets >= at, passed)
    for low, high in ((0, 0.2), (0.2, 0.8), (0.8, 1.01)):
        here = (pep >= low) & (pep < high)
        if here.sum() > 100:
            assert null[here].mean() == pytest.approx(pep[here].mean(), abs=0.08)
    if digits is None:
        true = np.subtract.outer(targets[~null][::7], targets[null][::7]) > 0
        assert rates.auc == pytest.approx(true.mean(), abs=0.02)
        assert rates.auc_low < true.mean() < rates.auc_high
        at = np.searchsorted(-rates.thresholds, -1.5)
        assert rates.power[at] == pytest.approx((targets[~null] >= 1.5).mean(), abs=0.04)
    order = np.argsort(targets)
    assert np.all(np.diff(q[order]) <= 1e-12)
    assert np.all(np.diff(pep[order]) <= 1e-12)
    assert np.all((rates.fdr_low <= rates.fdr) & (rates.fdr <= rates.fdr_high))
    assert np.all((rates.q_low <= rates.q_value) & (rates.q_value <= rates.q_high))
    assert np.all(pep > 0)  # no known negative above does not mean that there can be none


def test_a_known_pi0_gives_the_plain_formula() -> None:
    scores, negative, _ = draw(500, 0.5)
    rates = error_rates(scores, negative, pi0=0.5, n_resamples=5, random_state=0)
    at = np.flatnonzero(rates.thresholds >= 1)[-1]
    passed = (
        (scores[500:] >= rates.thresholds[at]).sum(),
        (scores[:500] >= rates.thresholds[at]).sum(),
    )
    plain = 0.5 * (passed[0] + 1) / 501 * 500 / passed[1]
    assert rates.fdr[at] == pytest.approx(max(plain, 1 - 250 / passed[1]))
    assert rates.pi0.method == "given"
    with pytest.raises(InvalidInputError, match="'estimator'"):
        error_rates(scores, negative, pi0=0.5, estimator="bbe")


def test_the_mirror_of_a_mirror() -> None:
    scores, negative, _ = draw(300, 0.5)
    counts = pu.ScoreCounts.from_scores(scores, negative)
    for each in (counts, counts.thinned(40)):
        assert each.mirrored().mirrored() == each
        assert each.mirrored().auc_pu == pytest.approx(1 - each.auc_pu)


def write_pin(path: Path, *, with_labels: bool = True, which: slice = slice(None)) -> None:
    scores, negative, _ = draw(400, 0.5)
    lines = ["SpecId\tLabel\tScanNr\txcorr\tPeptide\tProteins"]
    if with_labels:
        lines.append("DefaultDirection\t-\t-\t1\t-")
    for i, (score, known) in enumerate(zip(scores[which], negative[which], strict=True)):
        proteins = "\t".join(f"sp|P{k}" for k in range(1 + i % 3))
        lines.append(f"s{i}\t{-1 if known else 1}\t{i}\t{score}\tPEP\t{proteins}")
    path.write_text("\n".join(lines) + "\n")


def test_pin_files_and_pairs_of_files(tmp_path, capsys) -> None:
    run = partial(call_main, capsys, "error-rates")
    options = ("--score", "xcorr", "--resamples", "5", "--json")
    write_pin(tmp_path / "all.pin")
    one = run(str(tmp_path / "all.pin"), *options)
    assert one.code == 0, one.err
    for name, which in (("targets.tsv", slice(400)), ("decoys.tsv", slice(400, None))):
        write_pin(tmp_path / name, with_labels=False, which=which)
    pair = run(str(tmp_path / "targets.tsv"), "--negatives", str(tmp_path / "decoys.tsv"), *options)
    assert pair.json["fdr"] == one.json["fdr"]
    scores, negative, _ = draw(400, 0.5)
    direct = error_rates(scores, negative, n_resamples=5, random_state=0)
    assert one.json["fdr"] == direct.fdr.tolist()
    assert one.json["n_negative"] == 400


def test_what_cannot_be_told_is_said(tmp_path, capsys) -> None:
    run = partial(call_main, capsys, "error-rates")
    (tmp_path / "a.csv").write_text("score,label\n1,1\n0,0\n2,1\n")
    said = run(str(tmp_path / "a.csv"))
    assert said.code == 2
    assert "--negative-label" in said.err
    assert run(str(tmp_path / "a.csv"), "--negative-label", "0", "--resamples", "5").code == 0


def test_nothing_is_said_of_signals_where_there_are_none() -> None:
    rng = np.random.default_rng(0)
    scores, negative = rng.normal(size=800), np.repeat([False, True], 400)
    rates = error_rates(scores, negative, pi0=1.0, n_resamples=20, random_state=0)
    assert np.isnan([rates.auc, rates.auc_low, rates.auc_high]).all()
    assert np.isnan(rates.power).all()
    assert "nan" not in str(rates)
    assert rates.found[-1] == 400
    assert np.issubdtype(rates.found.dtype, np.integer)
    assert (rates.fdr_low <= rates.fdr).all()
    assert (rates.fdr <= rates.fdr_high).all()


@pytest.mark.parametrize("seed", range(4))
def test_signals_that_overlap_leave_the_auc_open(seed: int) -> None:
    rng = np.random.default_rng(seed)
    null, negative = rng.random(3000) < 0.5, np.repeat([False, True], 3000)
    scores = rng.normal(size=6000) + 0.5 * np.append(~null, np.zeros(3000))
    rates = error_rates(scores, negative, n_resamples=20, random_state=0)
    true = float(stats.norm.cdf(0.5 / 2**0.5))
    assert rates.auc > true + 0.1
    assert rates.auc_low < true < rates.auc_high
    counts = pu.ScoreCounts.from_scores(scores, negative).mirrored()
    known = pu.MixtureProportions(rates.pi0.estimate)
    ranks = pu.intervals.auc_interval(counts, known)
    for end, share, of_ranks, sign in (
        (rates.auc_low, rates.pi0.low, ranks.low, -1),
        (rates.auc_high, rates.pi0.high, ranks.high, 1),
    ):
        of_pi0 = pu.recover_auc(counts, pu.MixtureProportions(share))
        off = float(np.hypot(of_pi0 - rates.auc, of_ranks - rates.auc))
        assert end == pytest.approx(min(rates.auc + sign * off, 1.0), abs=1e-9)
    given = error_rates(scores, negative, pi0=0.6, n_resamples=20, random_state=0)
    exact = pu.intervals.auc_interval(counts, pu.MixtureProportions(0.6))
    assert (given.auc_low, given.auc_high) == pytest.approx((exact.low, exact.high), abs=1e-12)
    assert "the AUC may be far too high" in " ".join(str(rates).split())
    assert rates.power.max() <= 1


@pytest.mark.parametrize("seed", range(5))
def test_no_more_signals_are_found_than_there_are(seed: int) -> None:
    scores, negative, null = draw(500, 0.6, seed)
    for pi0 in (null.mean(), 0.3, None):
        rates = error_rates(scores, negative, pi0=pi0, n_resamples=5, random_state=0)
        true = rates.found * (1 - rates.fdr)
        assert (true >= -1e-9).all()
        assert (true <= 500 * rates.signals.estimate + 1e-9).all()
        assert (rates.power <= 1 + 1e-12).all()


def test_a_pi0_that_contradicts_the_scores_is_refused(tmp_path, capsys) -> None:
    scores, negative, _ = draw(400, 0.5)
    with pytest.raises(ContradictionError, match=r"error_rates: pi0 0.8 .* at most 0\.5"):
        error_rates(scores, negative, pi0=0.8, n_resamples=5)
    write_pin(tmp_path / "all.pin")
    options = ("--score", "xcorr", "--resamples", "5", "--pi0")
    said = call_main(capsys, "error-rates", str(tmp_path / "all.pin"), *options, "0.8")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("purecover: pi0 0.8 contradicts these scores")


def test_labels_the_wrong_way_round_are_refused() -> None:
    sample = pu.simulate.binormal(2.0).sample(300, 1000, alpha=0.4, random_state=0)
    with pytest.raises(InvalidInputError, match="labeled == -1"):
        error_rates(-sample.scores, np.where(sample.labeled, -1, 1))
    with pytest.raises(InvalidInputError, match="score lower than the mixture"):
        error_rates(sample.scores, sample.labeled)
