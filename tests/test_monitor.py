"""Running counts in a file, and the watch for drift."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.command_line import call_main

import purecover as pu
from purecover import exceptions, simulate
from purecover.monitoring import state as _file
from purecover.monitoring.drift import _observed, binned, share_of_look, two_sided

WORLD = simulate.binormal(1.5)
WORSE = simulate.binormal(0.5)


def day(seed: int, world=WORLD, sizes=(100, 1000)) -> pu.ScoreCounts:
    return world.sample(*sizes, alpha=0.25, random_state=seed).counts


def filled(n: int, **settings) -> pu.ScoreMonitor:
    monitor = pu.ScoreMonitor(**{"alpha": 0.25, **settings})
    for i in range(n):
        monitor.add(f"day {i}", day(i))
    return monitor


# -- bins -------------------------------------------------------------------------------------


@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False) | st.floats(0, 1) | st.integers(-5, 5),
        min_size=2,
        max_size=300,
    ),
    st.integers(2, 60),
    st.integers(0, 2**32 - 1),
)
def test_bins_are_few_and_bound_the_area(values, most, seed):
    scores = np.array(values, dtype=np.float64)
    labeled = np.random.default_rng(seed).random(scores.size) < 0.5
    labeled[:2] = True, False
    counts = pu.ScoreCounts.from_scores(scores, labeled)
    bins = binned(counts, most)
    assert bins.n_thresholds <= most
    assert bins.n_labeled == counts.n_labeled
    assert bins.n_unlabeled == counts.n_unlabeled
    low, high = pu.binning_bounds(bins).auc_pu
    assert low <= pu.auc_pu(counts) <= high
    # Rates at the thresholds that are left are exact.
    above = [int(labeled[scores >= t].sum()) for t in bins.thresholds]
    np.testing.assert_array_equal(np.cumsum(bins.labeled), above)
    # Bins are apart.
    tops = bins.thresholds if bins.highest is None else bins.highest
    assert np.all(tops[1:] < bins.thresholds[:-1])


def test_bins_of_many_days_stay_fine():
    """Each at quantiles of its own would overlap, and become one when they are added up."""
    days = [day(seed, sizes=(1000, 20_000)) for seed in range(8)]
    exact = sum(days)
    total = binned(sum(binned(d, 512) for d in days), 512)
    assert total.n_thresholds > 250
    bounds = pu.binning_bounds(total)
    assert bounds.auc_pu[0] < pu.auc_pu(exact) < bounds.auc_pu[1]
    assert bounds.width < 0.005
    assert abs(pu.auc_pu(total) - pu.auc_pu(exact)) < 1e-4


def test_probabilities_near_one_are_told_apart():
    odds = np.linspace(-30, 30, 4001)
    scores = 1 / (1 + np.exp(-odds))
    counts = pu.ScoreCounts.from_scores(scores, np.arange(odds.size) % 2 == 0)
    bins = binned(counts, 200)
    assert (bins.thresholds > 0.999).sum() > 50
    assert (bins.thresholds < 0.001).sum() > 50


# -- totals and figures -----------------------------------------------------------------------


def test_totals_are_those_of_all_rows():
    samples = [WORLD.sample(100, 900, alpha=0.25, random_state=i) for i in range(6)]
    monitor = pu.ScoreMonitor(alpha=0.25, window=2)
    for i, sample in enumerate(samples):
        monitor.add(f"day {i}", sample.scores, sample.labeled)
    scores = np.concatenate([s.scores for s in samples])
    labeled = np.concatenate([s.labeled for s in samples])
    assert monitor.counts == pu.ScoreCounts.from_scores(scores, labeled)
    assert monitor.bounds is None
    whole = pu.evaluate(scores, labeled, alpha=0.25, n_resamples=0)
    again = pu.evaluate(monitor.counts, alpha=0.25, n_resamples=0)
    assert again.metrics == whole.metrics
    assert again.intervals["roc_auc"] == whole.intervals["roc_auc"]
    # Only the window and the newest keep counts of their own.
    assert [p.counts is not None for p in monitor.partitions] == [False] * 3 + [True] * 3


def test_binned_totals_are_bounded():
    monitor = pu.ScoreMonitor(alpha=0.25, window=2, max_thresholds=64)
    days = [day(i, sizes=(1000, 10_000)) for i in range(5)]
    for i, counts in enumerate(days):
        monitor.add(f"day {i}", counts)
    exact = sum(days)
    assert (monitor.counts.n_labeled, monitor.counts.n_unlabeled) == (5000, 50_000)
    low, high = monitor.bounds.auc_pu
    assert low < pu.auc_pu(exact) < high
    assert max(p.counts.n_thresholds for p in monitor.partitions if p.counts) <= 64
    # Figures come from the scores, not from the bins.
    assert monitor.partitions[0].auc_pu.estimate == pu.auc_pu(days[0])


def test_figures_are_those_of_evaluate():
    counts = day(0)
    known = pu.ScoreMonitor(alpha=0.25, confidence_level=0.9).add("a", counts)
    report = pu.evaluate(counts, alpha=0.25, confidence_level=0.9, n_resamples=0)
    assert known.auc == report.intervals["roc_auc"]
    assert (known.alpha.low, known.alpha.estimate, known.alpha.high) == (0.25, 0.25, 0.25)
    assert known.auc_pu.estimate == report.auc_pu
    settings = {"estimator": "roc-slope", "n_resamples": 50}
    found = pu.ScoreMonitor(**settings).add("a", counts)
    report = pu.evaluate(counts, **settings)
    assert found.alpha == report.estimation.intervals["alpha"]
    assert found.beta == report.proportions.beta
    assert found.auc == report.intervals["roc_auc"]
    clean = pu.ScoreMonitor(estimator="bbe", beta=1.0, n_resamples=0).add("a", counts)
    report = pu.evaluate(counts, estimator="bbe", beta=1.0, n_resamples=0)
    assert clean.alpha.estimate == report.proportions.alpha
    assert clean.auc.estimate == report.auc
    assert np.isnan(clean.auc.low)


def test_priors_are_turned_into_alpha_of_each_partition():
    monitor = pu.ScoreMonitor(prior=0.4, scenario="censoring")
    first = monitor.add("a", day(0, sizes=(100, 1000)))
    second = monitor.add("b", day(1, sizes=(200, 1000)))
    assert first.alpha.estimate > second.alpha.estimate > 0.25
    assert set(second.drift.tests) == {"auc"}


def test_a_partition_without_an_estimate_is_kept_and_told():
    monitor = pu.ScoreMonitor(estimator="alphamax", n_resamples=20)
    monitor.add("good", day(0))
    scores = np.repeat([1.0, 2.0], 100)
    made = monitor.add("flat", scores, np.arange(200) % 2 == 0)
    assert made.alpha is None
    assert made.auc is None
    assert made.note
    assert made.drift.tests["auc_pu"].drifted
    assert "flat: " in str(monitor)
    assert "none" in str(monitor)


# -- drift ------------------------------------------------------------------------------------


def test_what_looks_spend_sums_to_the_whole():
    assert sum(share_of_look(t, 0.05) for t in range(1, 10_000)) == pytest.approx(0.05, rel=1e-3)
    monitor = filled(4, false_alarms=0.1)
    assert monitor.partitions[0].drift is None
    assert [p.drift.look for p in monitor.partitions[1:]] == [1, 2, 3]
    assert [p.drift.spent for p in monitor.partitions[1:]] == pytest.approx(
        [0.1 / 2, 0.1 / 6, 0.1 / 12]
    )
    test = monitor.partitions[-1].drift.tests["auc"]
    assert test.limit == monitor.partitions[-1].drift.spent


def test_drift_is_found_and_steadiness_is_left_alone():
    monitor = filled(5)
    assert not any(p.drift.drifted for p in monitor.partitions[1:])
    worse = monitor.add("worse", day(9, WORSE))
    assert worse.drift.drifted
    assert worse.drift.n_before == 5
    test = worse.drift.tests["auc"]
    assert test.difference == test.value - test.before < -0.1
    assert test.value == pytest.approx(worse.auc.estimate)
    earlier = sum(p.counts for p in monitor.partitions[:5])
    assert test.before == pytest.approx(pu.recover_auc(earlier, pu.MixtureProportions(0.25)))


def test_the_known_alpha_test_is_a_plain_twin_by_draws():
    """The closed form against the spread of differences of samples of one distribution."""
    rng = np.random.default_rng(0)
    pairs = []
    for _ in range(300):
        seeds = rng.integers(2**31, size=2)
        monitor = pu.ScoreMonitor(alpha=0.25)
        monitor.add("a", day(int(seeds[0]), sizes=(60, 400)))
        made = monitor.add("b", day(int(seeds[1]), sizes=(30, 200)))
        pairs.append((made.drift.tests["auc"].z, made.drift.tests["auc"].difference))
    z, difference = np.array(pairs).T
    assert z.std() == pytest.approx(1, abs=3 / np.sqrt(2 * 300))
    assert abs(z.mean()) < 3 / np.sqrt(300)
    assert difference.std() > 0


@pytest.mark.parametrize("skewness", [-1.5, -0.6, -1e-3, 1e-3, 0.3, 2.0])
@pytest.mark.parametrize("z", [-9.0, -4.0, -1.0, 0.0, 0.3, 2.0, 5.0])
def test_tails_are_the_larger_of_two(z, skewness):
    curve = stats.pearson3(skewness)
    skewed = min(2 * min(curve.cdf(z), curve.sf(z)), 1)
    normal = 2 * stats.norm.sf(abs(z))
    assert two_sided(z, skewness) == pytest.approx(max(skewed, normal), rel=1e-8)
    assert two_sided(z, skewness) == pytest.approx(two_sided(-z, -skewness), rel=1e-12)


def test_tails_without_skewness_are_normal():
    for z in (-3.0, 0.0, 1.0, 8.0):
        assert two_sided(z, 0.0) == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-12)
    assert two_sided(-4, -0.6) > 10 * two_sided(4, -0.6)


def test_moments_are_those_of_the_rows():
    """Of a difference of means of placements, from rows instead of counts."""
    new, before = day(1, sizes=(25, 60)), day(2, sizes=(80, 300))
    rows = {
        side: np.repeat(c.thresholds, getattr(c, side))
        for side, c in (("labeled", new + before), ("unlabeled", new + before))
    }
    above = np.array([np.mean(rows["labeled"] > s) for s in rows["unlabeled"]])
    below = np.array([np.mean(rows["unlabeled"] < s) for s in rows["labeled"]])
    variance = third = 0.0
    for values, n, m in ((below, 25, 80), (above, 60, 300)):
        variance += stats.kstat(values, 2) * (1 / n + 1 / m)
        third += stats.kstat(values, 3) * (1 / n**2 - 1 / m**2)
    z = (pu.auc_pu(new) - pu.auc_pu(before)) / np.sqrt(variance)
    found = _observed(new, before, 1.0, 1.0)
    assert found.z == pytest.approx(z)
    assert found.p_value == pytest.approx(two_sided(z, third / variance**1.5))
    # The scale of areas, which alpha sets, is in all of it.
    assert _observed(new, before, 0.5, 0.5).p_value == pytest.approx(found.p_value)


def test_drift_of_an_estimated_alpha():
    monitor = pu.ScoreMonitor(estimator="roc-slope", beta=1.0, n_resamples=100)
    world = simulate.binormal(3)
    for i in range(3):
        monitor.add(f"day {i}", world.sample(300, 3000, alpha=0.1, random_state=i).counts)
    assert not any(p.drift.drifted for p in monitor.partitions[1:])
    more = monitor.add("more", world.sample(300, 3000, alpha=0.5, random_state=7).counts)
    assert set(more.drift.tests) == {"alpha", "auc_pu", "auc"}
    assert more.drift.tests["alpha"].drifted
    assert more.drift.tests["alpha"].difference == pytest.approx(0.4, abs=0.1)
    assert not more.drift.tests["auc"].drifted
    assert more.drift.tests["auc"].limit == more.drift.spent / 3


def test_large_and_weighted_sizes_are_written_out():
    monitor = pu.ScoreMonitor(alpha=0.25)
    monitor.add("a", pu.ScoreCounts.from_counts([2, 1], [2_500_000, 500], [1_000_001, 3]))
    assert "2,500,500 labeled, 1,000,004 unlabeled" in str(monitor)
    monitor.add("b", [2, 1, 0], [1, 0, 0], sample_weight=[0.5, 1, 2])
    assert "2,500,500.5 labeled, 1,000,007 unlabeled" in str(monitor)


def test_too_few_rows_are_not_compared_and_spend_nothing():
    monitor = filled(1)
    few = monitor.add("few", [3, 2, 1, 0], [1, 0, 1, 0])
    assert not few.drift.tests
    assert not few.drift.drifted
    assert "2 labeled rows" in few.drift.note
    assert monitor.add("next", day(3)).drift.look == 1
    assert "few is not compared" in "\n".join(pu.monitoring.monitor.statement(monitor, few))


def test_weighted_rows_are_counted_and_compared():
    monitor = pu.ScoreMonitor(estimator="bbe", n_resamples=10)
    for i in range(2):
        sample = WORLD.sample(100, 500, alpha=0.25, random_state=i)
        weight = np.full(600, 2.0)
        made = monitor.add(f"day {i}", sample.scores, sample.labeled, sample_weight=weight)
    assert monitor.counts.n_labeled == 400
    assert set(made.drift.tests) == {"auc_pu"}
    assert "weighted" in made.drift.note
    plain = pu.ScoreMonitor(alpha=0.25)
    for i in range(2):
        plain.add(f"day {i}", WORLD.sample(100, 500, alpha=0.25, random_state=i).counts)
    # Weights that are all alike say nothing.
    assert made.drift.tests["auc_pu"].z == pytest.approx(plain.partitions[1].drift.tests["auc"].z)


@pytest.mark.slow
def test_false_alarms_of_many_looks_are_bounded():
    n_series, n_days, alarms = 200, 12, 0
    rng = np.random.default_rng(1)
    for _ in range(n_series):
        monitor = pu.ScoreMonitor(alpha=0.25, window=5)
        for i in range(n_days):
            monitor.add(str(i), day(int(rng.integers(2**31)), sizes=(40, 300)))
        alarms += any(p.drift.drifted for p in monitor.partitions[1:])
    bound = 0.05
    assert alarms / n_series < bound + 3 * np.sqrt(bound * (1 - bound) / n_series)


@pytest.mark.slow
def test_rare_p_values_are_honest_where_areas_are_skewed():
    """Few labeled rows and an AUC near 1: a normal tail would be ten times too thin."""
    n, alpha, rng = 8_000, 0.02, np.random.default_rng(3)
    edges = np.linspace(8, -4, 201)
    positive, negative = (-np.diff(stats.norm.cdf(edges - d)) for d in (2.9, 0))
    shares = positive / positive.sum(), alpha * positive + (1 - alpha) * negative
    sizes = ((30, 600), (300, 6000))
    few, many = (
        zip(
            *(rng.multinomial(m, p / p.sum(), n) for m, p in zip(pair, shares, strict=True)),
            strict=True,
        )
        for pair in sizes
    )
    build = partial(pu.ScoreCounts.from_counts, edges[1:])
    found = [
        _observed(build(*a), build(*b), 1 - alpha, 1 - alpha)
        for a, b in zip(few, many, strict=True)
    ]
    p_value = np.array([figure.p_value for figure in found])
    normal = 2 * stats.norm.sf(np.abs([figure.z for figure in found]))
    for level in (0.05, 0.01, 1e-3, 1e-4):
        bound = level + 3 * np.sqrt(level / n)
        assert np.mean(p_value <= level) <= bound
    assert np.mean(normal <= 1e-4) > bound
    # Not by giving up: half of the tests at the usual level are left.
    assert np.mean(p_value <= 0.05) > 0.02


@pytest.mark.slow
def test_p_values_of_an_estimated_alpha_are_honest_for_unlike_sizes():
    """Estimates of alpha are biased by the size of the sample; that must not look like drift."""
    n, rng, found = 80, np.random.default_rng(2), []
    for _ in range(n):
        monitor = pu.ScoreMonitor(estimator="bbe", n_resamples=100)
        seeds = rng.integers(2**31, size=2)
        monitor.add("large", day(int(seeds[0]), sizes=(1000, 8000)))
        drift = monitor.add("small", day(int(seeds[1]), sizes=(60, 500))).drift
        found.append([drift.tests[name].p_value for name in ("alpha", "auc")])
    low = (np.array(found) <= 0.1).mean(axis=0)
    assert np.all(low < 0.1 + 3 * np.sqrt(0.1 * 0.9 / n))


# -- names ------------------------------------------------------------------------------------


def test_a_name_is_taken_once():
    monitor = filled(3, window=1)
    with pytest.raises(exceptions.InvalidInputError, match="not added yet, got 'day 2'"):
        monitor.add("day 2", day(5))
    assert len(monitor.partitions) == 3
    n_looks = monitor.to_dict()["n_looks"]
    made = monitor.add("day 2", day(5), replace=True)
    assert [p.name for p in monitor.partitions] == ["day 0", "day 1", "day 2"]
    assert monitor.counts == day(0) + day(1) + day(5)
    assert made.drift.look == n_looks + 1  # another look, with its own chance of an alarm
    with pytest.raises(exceptions.InvalidInputError, match="only kept as part of the total"):
        monitor.add("day 0", day(5), replace=True)
    oldest = monitor.add("day 1", day(6), replace=True)
    assert oldest.drift is None
    says = "day 1 is not compared: counts of the one before it are only kept as part of the total."
    assert says in "\n".join(pu.monitoring.monitor.statement(monitor, oldest))


@pytest.mark.parametrize("name", ["", " a", "a\n", "x" * 201, 3, None])
def test_names_that_cannot_be(name):
    with pytest.raises(exceptions.PurecoverError, match=r"'name' parameter of ScoreMonitor\.add"):
        filled(0).add(name, day(0))


def test_wrong_data_leave_the_monitor_as_it_was():
    monitor = filled(1)
    for arguments in ([[1, np.nan], [1, 0]], [[1, 2]], [[1, 2], [1, 1]], [day(0), [1]]):
        with pytest.raises(exceptions.PurecoverError, match=r"parameter of ScoreMonitor\.add"):
            monitor.add("b", *arguments)
    assert len(monitor.partitions) == 1
    with pytest.raises(exceptions.InvalidInputError, match="needs a partition"):
        _ = filled(0).counts
    assert str(filled(0)) == "no partition yet"


# -- files ------------------------------------------------------------------------------------


def test_a_file_holds_everything(tmp_path):
    path = tmp_path / "state.json"
    monitor = filled(4, window=1)
    sample = WORLD.sample(50, 200, alpha=0.25, random_state=0)
    weight = np.linspace(1, 2, 250)
    monitor.add("weighted", sample.scores, sample.labeled, sample_weight=weight)
    monitor.save(path)
    again = pu.ScoreMonitor.load(path)
    assert again.to_dict() == monitor.to_dict()
    assert again.counts == monitor.counts
    assert str(again) == str(monitor)
    monitor.save(path)  # its own file
    first = path.read_bytes()
    again.add("next", day(8))
    again.save(path)
    assert path.read_bytes() != first
    with pytest.raises(exceptions.InvalidInputError, match="holds something else"):
        monitor.save(path)
    assert list(again.frame()["name"]) == [p.name for p in again.partitions]
    assert again.frame("pandas")["auc"].iloc[-1] == again.partitions[-1].auc.estimate
    # The layout is not part of the content.
    path.write_text(json.dumps(json.loads(path.read_text()), indent=1))
    assert pu.ScoreMonitor.load(path).to_dict() == again.to_dict()


def test_a_link_and_its_permissions_stay(tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    filled(1).save(real)
    real.chmod(0o640)
    link.symlink_to(real)
    pu.ScoreMonitor.update(link, "next", day(3))
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert len(pu.ScoreMonitor.load(real).partitions) == 2


@pytest.fixture
def state(tmp_path):
    path = tmp_path / "state.json"
    filled(2).save(path)
    return path


def change(path: Path, **fields: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda p: p.write_bytes(b""), "no JSON"),
        (lambda p: p.write_bytes(p.read_bytes()[:-100]), "no JSON"),
        (lambda p: p.write_bytes(b"\xff\xfe\x00"), "no JSON"),
        (lambda p: p.write_text("[" * 100_000), "no JSON"),
        (lambda p: p.write_text('{"a": 1}'), "JSON of something else"),
        (lambda p: p.write_text("[1]"), "JSON of something else"),
        (lambda p: change(p, schema="purecover.monitor/2"), "this purecover reads"),
        (lambda p: change(p, checksum=None), "checksum"),
        (lambda p: change(p, state=None), "checksum"),
        (
            lambda p: p.write_text(p.read_text().replace('"n_labeled":100', '"n_labeled":101')),
            "changed or damaged",
        ),
        (
            lambda p: change(p, state={}, checksum=_file._checksum({})),
            "content cannot be used",
        ),
        (lambda p: (p.unlink(), p.mkdir()), "cannot be read"),
    ],
)
def test_files_that_are_none(state, damage, says):
    damage(state)
    with pytest.raises(exceptions.InvalidInputError, match=says) as caught:
        pu.ScoreMonitor.load(state)
    assert "must be a state file of purecover monitor" in str(caught.value)
    assert "\nHint: " in str(caught.value)
    if state.is_file():
        before = state.read_bytes()
        with pytest.raises(exceptions.InvalidInputError):
            pu.ScoreMonitor.update(state, "next", day(5))
        assert state.read_bytes() == before


def test_a_folder_that_is_not_there(tmp_path):
    monitor, path = filled(1), tmp_path / "nowhere" / "state.json"
    says = r"(?s)ScoreMonitor\.save must be a file in a folder.*Hint: make the folder '.*nowhere' "
    with pytest.raises(exceptions.InvalidInputError, match=says):
        monitor.save(path)
    with pytest.raises(exceptions.InvalidInputError, match=r"ScoreMonitor\.update must be a file"):
        pu.ScoreMonitor.update(path, "a", day(0))
    path.parent.write_text("a file")
    with pytest.raises(exceptions.InvalidInputError, match="may you write there"):
        monitor.save(path)


@pytest.mark.parametrize("path", [3, "", None, "a\0b"])
def test_paths_that_cannot_be(path):
    with pytest.raises(exceptions.InvalidTypeError, match="'path' parameter"):
        pu.ScoreMonitor.load(path)


def test_settings_of_a_file_stay(state):
    pu.ScoreMonitor.update(state, "c", day(3), settings={"alpha": 0.25})
    with pytest.raises(exceptions.InvalidInputError, match=r"must be 0\.25, as in the state file"):
        pu.ScoreMonitor.update(state, "d", day(3), settings={"alpha": 0.3})
    with pytest.raises(exceptions.InvalidInputError, match="one called 'alhpa'"):
        pu.ScoreMonitor.update(state, "d", day(3), settings={"alhpa": 0.3})
    with pytest.raises(exceptions.InvalidTypeError, match="'settings' parameter"):
        pu.ScoreMonitor.update(state, "d", day(3), settings=3)


class Killed(BaseException):
    """Stands for the end of a process."""


@pytest.mark.parametrize("step", ["write", "fsync file", "replace", "fsync folder"])
def test_wherever_it_ends_the_file_is_whole(state, monkeypatch, step):
    """Each step in turn fails; the leftovers are those of a killed process."""
    before, real_fsync = state.read_bytes(), os.fsync
    fsyncs = []

    def fsync(descriptor):
        fsyncs.append(descriptor)
        if step == ("fsync file", "fsync folder")[len(fsyncs) - 1]:
            raise Killed
        real_fsync(descriptor)

    def fail(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(_file.os, "fsync", fsync)
        patch.setattr(Path, "unlink", lambda *_, **__: None)  # nobody cleans up
        if step == "write":
            patch.setattr(_file.os, "fdopen", fail)
        if step == "replace":
            patch.setattr(Path, "replace", fail)
        with pytest.raises(Killed):
            pu.ScoreMonitor.update(state, "next", day(5))
    left = list(state.parent.glob(".*.tmp"))
    if step == "fsync folder":
        assert not left
        assert len(pu.ScoreMonitor.load(state).partitions) == 3
    else:
        assert len(left) == 1
        assert state.read_bytes() == before
    pu.ScoreMonitor.update(state, "later", day(6))
    assert not list(state.parent.glob(".*.tmp"))


def test_what_another_state_is_writing_stays(state):
    other = state.with_name(f".{state.name}.b.abcdefgh.1.tmp")
    other.write_text("half")
    pu.ScoreMonitor.update(state, "later", day(6))
    assert other.read_text() == "half"


def test_who_waits_too_long_is_told(state):
    waited = partial(_file.locked, wait_s=0.05)
    with (
        _file.locked(state),
        pytest.raises(exceptions.InvalidInputError, match="in use by another"),
        waited(state),
    ):
        pass


def drive(*arguments: object) -> dict[str, int]:
    program = [sys.executable, "-m", "tests.monitor_driver", *map(str, arguments)]
    root = Path(__file__).parents[1]
    done = subprocess.run(program, check=False, capture_output=True, text=True, cwd=root)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


pytestmark_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytestmark_fork
def test_processes_at_the_same_time_lose_nothing(tmp_path):
    assert drive("together", tmp_path, 4, 3) == {"worst": 0, "n_labeled": 12 * 50}


@pytestmark_fork
@pytest.mark.slow
def test_killed_fifty_times_the_file_is_the_old_or_the_new_one(tmp_path):
    seen = drive("killed", tmp_path, 50, 0)
    assert seen["old"] + seen["new"] == 50
    assert seen["writing"] > 0  # or the moments were ill chosen


# -- the command ------------------------------------------------------------------------------


@pytest.fixture
def run(capsys):
    return partial(call_main, capsys, "monitor")


def write(path: Path, seed: int, world=WORLD, header="score,labeled") -> Path:
    sample = world.sample(100, 1000, alpha=0.25, random_state=seed)
    columns = np.column_stack((sample.scores, sample.labeled))
    np.savetxt(path, columns, delimiter=",", header=header, comments="", fmt="%.17g")
    return path


def test_days_are_added_and_shown(run, tmp_path):
    state = tmp_path / "state.json"
    for i in range(3):
        file = write(tmp_path / f"2026-11-0{i + 1}.csv", i)
        result = run(state, file, "--alpha", "0.25", "--window", "5")
        assert result.code == 0
        assert f"2026-11-0{i + 1}" in result.out
    assert "3 partitions: 300 labeled, 3,000 unlabeled" in result.out
    assert "2026-11-03 does not differ from the 2 before it beyond chance" in result.out
    assert "at most 5 %, if rows are independent. Look 2 spends 0.83 %." in result.out
    assert run(state) == result
    document = run(state, "--json").json
    monitor = pu.ScoreMonitor.load(state)
    assert document == {**monitor.to_dict(), "newest": "2026-11-03"}
    assert monitor.settings["columns"] == {"score": "score", "labeled": "labeled"}
    assert monitor.settings["window"] == 5
    worse = write(tmp_path / "x.csv", 9, WORSE)
    assert run(state, worse, "--name", "2026-11-04", "--fail-on-drift", "-q") == (1, "", "")
    assert run(state, "--fail-on-drift").code == 1
    assert run(state).code == 0
    better = write(tmp_path / "y.csv", 10)
    result = run(state, better, "--name", "2026-11-04", "--replace", "--fail-on-drift")
    assert result.code == 0
    assert len(pu.ScoreMonitor.load(state).partitions) == 4


def test_columns_are_remembered(run, tmp_path):
    state, header = tmp_path / "state.json", "s,y"
    first = write(tmp_path / "a.csv", 0, header=header)
    options = ["--alpha", ".25", "--score", "s", "--labeled", "y", "--positive-label", "1"]
    assert run(state, first, *options, "-q").code == 0
    assert run(state, write(tmp_path / "b.csv.txt", 1, header=header), "-q").code == 0
    assert [p.name for p in pu.ScoreMonitor.load(state).partitions] == ["a", "b.csv"]
    other = write(tmp_path / "c.csv", 2, header="score,label")
    result = run(state, other)
    assert result.code == 2
    assert "no column named 's', as the first partition in STATE has." in result.err
    assert "Give --score if it has another name now." in result.err
    result = run(state, other, "--score", "zzz")
    assert "no column named 'zzz', asked for by --score." in result.err
    assert run(state, other, "--score", "score", "--labeled", "label", "-q").code == 0


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["state.json"], "STATE must be a state file"),
        (["a.csv"], "STATE must be a state file"),
        (["-"], "STATE must name a file"),
        (["full.json", "--name", "x"], "without FILE"),
        (["full.json", "--alpha", "0.2"], "without FILE"),
        (["full.json", "a.csv", "--name", "day 0"], "--name must be one that was not added yet"),
        (["full.json", "a.csv", "--name", "day 0"], "Hint: --replace takes the place"),
        (["full.json", "a.csv", "--alpha", "0.3"], "--alpha must be 0.25, as in the state file"),
        (["full.json", "a.csv", "--window", "3"], "--window must be 30, as in the state file"),
        (["full.json", "a.csv", "--name", ""], "--name must be 1 to 200"),
        (["full.json", "-"], "--name is needed"),
        (["full.json", "no.csv"], "no.csv"),
        (["full.json", "full.json"], "would overwrite the data"),
        (["a.csv", "full.json"], "STATE must be a state file"),
        (["no/state.json", "a.csv"], "there is no directory"),
        (["state.json", "a.csv", "--alpha", "0.2", "--prior", "0.2"], "exactly one of"),
        (["state.json", "a.csv", "--false-alarms", "0"], "--false-alarms must be"),
        (["state.json", "a.csv", "--estimator", "oracle"], "--estimator must be one of"),
        (["state.json", "a.csv", "--confidence-level", "1"], "--confidence-level must be"),
    ],
)
def test_commands_that_cannot_be(run, tmp_path, monkeypatch, argv, says):
    monkeypatch.chdir(tmp_path)
    filled(1).save("full.json")
    write(Path("a.csv"), 0)
    before = Path("full.json").read_bytes()
    result = run(*argv)
    assert result.code == 2
    assert says in result.err
    assert Path("full.json").read_bytes() == before
    assert not Path("state.json").exists()


def test_bad_rows_leave_no_file_behind(run, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("score,labeled\n1,1\nNaN,0\n")
    assert run(tmp_path / "state.json", file, "--alpha", "0.2").code == 2
    assert not (tmp_path / "state.json").exists()
