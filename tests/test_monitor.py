"""Running counts in a file, and the watch for drift."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limited
from hypothesis import strategies as st
from scipy import stats
from tests.command_line import call_main
from tests.markup import Page

import purecover as pu
from purecover import exceptions, simulate
from purecover._codec import checksum
from purecover.checks.catalog import warnings_of_data
from purecover.monitoring import monitor as _file
from purecover.monitoring.drift import _distributions, _observed, binned, share_of_look, two_sided

WORLD = simulate.binormal(1.5)
WORSE = simulate.binormal(0.5)


def day(seed: int, world=WORLD, sizes=(100, 1000)) -> pu.ScoreCounts:
    return world.sample(*sizes, alpha=0.25, random_state=seed).counts


def filled(n: int, **settings) -> pu.monitoring.ScoreMonitor:
    monitor = pu.monitoring.ScoreMonitor(**{"alpha": 0.25, **settings})
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
    low, high = pu.recovery.binning_bounds(bins).auc_pu
    assert low <= pu.recovery.auc_pu(counts) <= high
    # Rates at the thresholds that are left are exact.
    above = [int(labeled[scores >= t].sum()) for t in bins.thresholds]
    np.testing.assert_array_equal(np.cumsum(bins.labeled), above)
    # Bins are apart.
    tops = bins.thresholds if bins.highest is None else bins.highest
    assert np.all(tops[1:] < bins.thresholds[:-1])


# -- totals and figures -----------------------------------------------------------------------


def test_totals_are_those_of_all_rows():
    samples = [WORLD.sample(100, 900, alpha=0.25, random_state=i) for i in range(6)]
    monitor = pu.monitoring.ScoreMonitor(alpha=0.25, window=2)
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


def test_figures_are_those_of_evaluate():
    counts = day(0)
    known = pu.monitoring.ScoreMonitor(alpha=0.25, confidence_level=0.9).add("a", counts)
    report = pu.evaluate(counts, alpha=0.25, confidence_level=0.9, n_resamples=0)
    assert known.auc == report.intervals["roc_auc"]
    assert (known.alpha.low, known.alpha.estimate, known.alpha.high) == (0.25, 0.25, 0.25)
    assert known.auc_pu.estimate == report.auc_pu
    settings = {"estimator": "roc-slope", "n_resamples": 50}
    found = pu.monitoring.ScoreMonitor(**settings).add("a", counts)
    report = pu.evaluate(counts, **settings)
    assert found.alpha == report.estimation.intervals["alpha"]
    assert found.beta == report.proportions.beta
    assert found.auc == report.intervals["roc_auc"]
    settings = {"assume": ["pure-top", "clean-labels"], "n_resamples": 50}
    found = pu.monitoring.ScoreMonitor(**settings).add("a", counts)
    report = pu.evaluate(counts, **settings)
    assert (found.alpha.estimate, found.beta) == (report.proportions.alpha, 1)
    assert found.auc == report.intervals["roc_auc"]
    clean = pu.monitoring.ScoreMonitor(estimator="bbe", beta=1.0, n_resamples=0).add("a", counts)
    report = pu.evaluate(counts, estimator="bbe", beta=1.0, n_resamples=0)
    assert clean.alpha.estimate == report.proportions.alpha
    assert clean.auc.estimate == report.auc
    assert np.isnan(clean.auc.low)


@pytest.mark.parametrize("settings", [{}, {"alpha": 0.25}, {"estimator": "bbe"}, {"beta": 1.0}])
def test_warnings_are_those_of_evaluate(settings):
    settings = {"n_resamples": 50, "random_state": 0, **settings}
    monitor, seen = pu.monitoring.ScoreMonitor(**settings), set()
    worlds = [(WORLD, (300, 900)), (WORSE, (300, 900)), (simulate.binormal(2.0), (5, 300))]
    for i, (world, sizes) in enumerate(worlds):
        counts = day(i, world, sizes)
        found = monitor.add(f"day {i}", counts).findings
        report = pu.evaluate(counts, **settings)
        # The others compare estimators, which a monitor does not.
        codes = {check.code for check in warnings_of_data(report.findings)}
        assert {*found} == codes - {"PU004", "PU012", "PU018"}
        said = str(monitor)
        assert [code for code in pu.checks.CHECKS if f"({code})." in said] == [*found]
        assert ("with alpha as estimated" in said) == ("PU017" in found)
        assert all(f"({code})." in monitor.to_html() for code in found)
        seen |= {*found}
    assert [p["findings"] for p in monitor.to_dict()["partitions"]] == [
        [*p.findings] for p in monitor.partitions
    ]
    assert "PU010" in seen
    assert "alpha" in settings or "estimator" in settings or "PU017" in seen


def test_wrong_labels_and_labels_of_clear_cases_are_warned_of():
    noisy = simulate.binormal(3.0).sample(500, 5000, alpha=0.25, beta=0.85, random_state=0).counts
    for settings, codes in (({}, {"PU018"}), ({"beta": 0.85}, set())):
        report = pu.evaluate(noisy, alpha=0.25, n_resamples=0, **settings)
        assert {each.code for each in warnings_of_data(report.findings)} == codes
        assert {
            *pu.monitoring.ScoreMonitor(alpha=0.25, **settings).add("a", noisy).findings
        } == codes
    rng = np.random.default_rng(0)
    positive = rng.random(6000) < 0.2
    scores = rng.normal(size=6000) + 1.5 * positive
    labeled = positive & (rng.random(6000) < 1 / (1 + np.exp(3.0 - 2.0 * scores)))
    clear = pu.monitoring.ScoreMonitor(alpha=positive[~labeled].mean()).add("a", scores, labeled)
    assert "PU002" in clear.findings


def test_a_partition_without_an_estimate_is_kept_and_told():
    monitor = pu.monitoring.ScoreMonitor(estimator="alphamax", n_resamples=20)
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
    # The recovered AUC, and the labeled and the unlabeled scores.
    assert test.limit == monitor.partitions[-1].drift.spent / 3


@pytest.mark.slow
def test_the_known_alpha_test_is_a_plain_twin_by_draws():
    """The closed form against the spread of differences of samples of one distribution."""
    rng = np.random.default_rng(0)
    pairs = []
    for _ in range(300):
        seeds = rng.integers(2**31, size=2)
        monitor = pu.monitoring.ScoreMonitor(alpha=0.25)
        monitor.add("a", day(int(seeds[0]), sizes=(60, 400)))
        made = monitor.add("b", day(int(seeds[1]), sizes=(30, 200)))
        pairs.append((made.drift.tests["auc"].z, made.drift.tests["auc"].difference))
    z, difference = np.array(pairs).T
    assert z.std() == pytest.approx(1, abs=3 / np.sqrt(2 * 300))
    assert abs(z.mean()) < 3 / np.sqrt(300)
    assert difference.std() > 0


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
    z = (pu.recovery.auc_pu(new) - pu.recovery.auc_pu(before)) / np.sqrt(variance)
    found = _observed(new, before, 1.0, 1.0)
    assert found.z == pytest.approx(z)
    assert found.p_value == pytest.approx(two_sided(z, third / variance**1.5))
    # The scale of areas, which alpha sets, is in all of it.
    assert _observed(new, before, 0.5, 0.5).p_value == pytest.approx(found.p_value)


@pytest.mark.slow
def test_drift_of_alpha_by_the_default():
    monitor = pu.monitoring.ScoreMonitor(n_resamples=30)
    world = simulate.binormal(3.0)
    drifts = [
        monitor.add(str(day), world.sample(200, 1500, alpha=alpha, random_state=day).counts).drift
        for day, alpha in enumerate((0.2, 0.2, 0.5))
    ]
    assert not drifts[1].drifted
    assert drifts[2].tests["alpha"].difference == pytest.approx(0.3, abs=0.12)
    assert drifts[2].tests["alpha"].drifted
    assert "compared as label-curve" in drifts[2].note


def test_drift_of_an_estimated_alpha():
    monitor = pu.monitoring.ScoreMonitor(estimator="roc-slope", beta=1.0, n_resamples=100)
    world = simulate.binormal(3)
    for i in range(3):
        monitor.add(f"day {i}", world.sample(300, 3000, alpha=0.1, random_state=i).counts)
    assert not any(p.drift.drifted for p in monitor.partitions[1:])
    more = monitor.add("more", world.sample(300, 3000, alpha=0.5, random_state=7).counts)
    assert set(more.drift.tests) == {"alpha", "auc_pu", "auc", "labeled", "unlabeled"}
    assert more.drift.tests["alpha"].drifted
    assert more.drift.tests["alpha"].difference == pytest.approx(0.4, abs=0.1)
    assert not more.drift.tests["auc"].drifted
    assert more.drift.tests["auc"].limit == more.drift.spent / 5


@pytest.mark.parametrize("settings", [{"alpha": 0.25}, {"max_thresholds": 64, "alpha": 0.25}])
@given(shift=st.sampled_from([-2.0, -0.5, 0.5, 2.0]), seed=st.integers(0, 2**20))
@limited(max_examples=15, deadline=None)
def test_scores_that_all_move_together_are_different(settings, shift, seed):
    """No area changes, and every threshold flags others than before."""
    monitor = pu.monitoring.ScoreMonitor(threshold=1.0, **settings)
    monitor.add("before", day(seed))
    sample = WORLD.sample(100, 1000, alpha=0.25, random_state=seed + 1)
    moved = monitor.add("moved", sample.scores + shift, sample.labeled)
    tests = moved.drift.tests
    assert moved.drift.drifted
    assert tests["unlabeled"].drifted
    assert tests["flagged"].drifted
    assert abs(shift) < 1 or tests["labeled"].drifted
    assert np.sign(tests["flagged"].difference) == np.sign(shift)
    assert moved.flagged == pytest.approx(np.mean(sample.scores[~sample.labeled] + shift >= 1))
    plain = pu.monitoring.ScoreMonitor(**settings)
    plain.add("before", day(seed))
    same = plain.add("same", sample.scores, sample.labeled).drift.tests["auc"]
    assert tests["auc"].value == pytest.approx(same.value, abs=0.03)
    assert f"unlabeled scores  distance {tests['unlabeled'].value:.3f}" in str(monitor)
    assert "share flagged" in str(monitor)


def test_a_share_of_positives_that_changes_is_told_where_alpha_is_given():
    monitor, world = pu.monitoring.ScoreMonitor(alpha=0.15), simulate.binormal(1.5)
    for i, alpha in enumerate((0.15, 0.15, 0.15, 0.31)):
        counts = world.sample(300, 2600, alpha=alpha, random_state=i).counts
        drift = monitor.add(f"day {i}", counts).drift
        said = "alpha may have changed, and the recovered AUC takes it as 0.15" in str(monitor)
        assert said == (alpha > 0.15)
    assert drift.drifted
    assert "Alpha may have changed" in monitor.to_html()


def test_distances_are_those_of_the_rows():
    new, before = day(1, sizes=(50, 300)), day(2, sizes=(80, 900))
    found = _distributions(new, before)
    for side in ("labeled", "unlabeled"):
        rows = [np.repeat(counts.thresholds, getattr(counts, side)) for counts in (new, before)]
        expected = stats.ks_2samp(*rows, method="asymp")
        assert found[side].value == pytest.approx(expected.statistic)
        exact = stats.ks_2samp(*rows, method="exact").pvalue
        assert exact <= found[side].p_value <= exact + 0.12


@pytest.mark.slow
def test_false_alarms_of_many_looks_are_bounded():
    n_series, n_days, alarms = 100, 12, 0
    rng = np.random.default_rng(1)
    for _ in range(n_series):
        monitor = pu.monitoring.ScoreMonitor(alpha=0.25, window=5, threshold=1.0)
        for i in range(n_days):
            monitor.add(str(i), day(int(rng.integers(2**31)), sizes=(40, 300)))
        alarms += any(p.drift.drifted for p in monitor.partitions[1:])
    bound = 0.05
    assert alarms / n_series < bound + 3 * np.sqrt(bound * (1 - bound) / n_series)


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


# -- files ------------------------------------------------------------------------------------


def test_a_file_holds_everything(tmp_path):
    path = tmp_path / "state.json"
    monitor = filled(4, window=1)
    sample = WORLD.sample(50, 200, alpha=0.25, random_state=0)
    weight = np.linspace(1, 2, 250)
    monitor.add("weighted", sample.scores, sample.labeled, sample_weight=weight)
    monitor.save(path)
    again = pu.monitoring.ScoreMonitor.load(path)
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
    assert pu.monitoring.ScoreMonitor.load(path).to_dict() == again.to_dict()


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
            lambda p: change(p, state={}, checksum=checksum({})),
            "content cannot be used",
        ),
        (lambda p: (p.unlink(), p.mkdir()), "cannot be read"),
    ],
)
def test_files_that_are_none(state, damage, says):
    damage(state)
    with pytest.raises(exceptions.InvalidInputError, match=says) as caught:
        pu.monitoring.ScoreMonitor.load(state)
    assert "must be a state file of purecover monitor" in str(caught.value)
    assert "\nHint: " in str(caught.value)
    if state.is_file():
        before = state.read_bytes()
        with pytest.raises(exceptions.InvalidInputError):
            pu.monitoring.ScoreMonitor.update(state, "next", day(5))
        assert state.read_bytes() == before


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
            pu.monitoring.ScoreMonitor.update(state, "next", day(5))
    left = list(state.parent.glob(".*.tmp"))
    if step == "fsync folder":
        assert not left
        assert len(pu.monitoring.ScoreMonitor.load(state).partitions) == 3
    else:
        assert len(left) == 1
        assert state.read_bytes() == before
    pu.monitoring.ScoreMonitor.update(state, "later", day(6))
    assert not list(state.parent.glob(".*.tmp"))


def test_who_waits_too_long_is_told(state):
    with (
        _file.locked(state),
        pytest.raises(exceptions.InvalidInputError, match="in use by another"),
        _file.locked(state, wait_s=0.05),
    ):
        pass


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
    monitor = pu.monitoring.ScoreMonitor.load(state)
    assert document == {**monitor.to_dict(), "newest": "2026-11-03"}
    assert monitor.settings["columns"] == {"score": "score", "labeled": "labeled"}
    assert monitor.settings["window"] == 5
    worse = write(tmp_path / "x.csv", 9, WORSE)
    assert run(state, worse, "--name", "2026-11-04", "--fail-on-drift", "-q") == (1, "", "")
    assert run(state, "--fail-on-drift", "--html", tmp_path / "page.html").code == 1
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>Scores over time: state.json</title>" in page
    assert "purecover monitor" in page
    assert "would overwrite" in run(state, "--html", state).err
    assert run(state).code == 0
    better = write(tmp_path / "y.csv", 10)
    result = run(state, better, "--name", "2026-11-04", "--replace", "--fail-on-drift")
    assert result.code == 0
    assert len(pu.monitoring.ScoreMonitor.load(state).partitions) == 4


def test_a_page_shows_all_days(tmp_path):
    monitor = filled(4)
    monitor.add("worse <day>", day(9, WORSE, (300, 3000)))
    page = monitor.to_html(tmp_path / "page.html", title="My model")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    parsed = Page(page)
    assert parsed.open == []
    assert "<title>My model</title>" in page
    assert "worse &lt;day&gt; differs from the 4 before it beyond chance" in page
    assert page.count("worse <day>") == 0
    drawn = [attrs for _, attrs in parsed.elements if "mark" in attrs.get("class", "").split()]
    assert len(drawn) == 2 * 5  # observed and recovered AUC of each day
    assert page.count(">drift</text>") == 1
    newest = monitor.partitions[-1].auc
    assert f"{newest.estimate:.3f} [{newest.low:.3f}, {newest.high:.3f}]" in page
    with pytest.raises(exceptions.InvalidInputError, match="needs a partition"):
        pu.monitoring.ScoreMonitor(alpha=0.25).to_html()


def test_assumptions_are_remembered(run, tmp_path):
    state, both = tmp_path / "state.json", ("--assume", "pure-top", "--assume", "clean-labels")
    argv = ("--resamples", "20", "--json")
    first = run(state, write(tmp_path / "a.csv", 0), *both, *argv).json
    assert first["settings"]["assume"] == ["clean-labels", "pure-top"]
    second = run(state, write(tmp_path / "b.csv", 1), *both[2:], *both[:2], *argv).json
    third = run(state, write(tmp_path / "c.csv", 1), *argv).json
    figures = [(p["alpha"], p["beta"], p["auc"]) for p in third["partitions"]]
    assert figures[1] == figures[2] != figures[0]
    assert {beta for _, beta, _ in figures} == {1.0}
    assert second["partitions"] == third["partitions"][:2]
    held = pu.monitoring.ScoreMonitor.load(state)
    whole = pu.evaluate(held.counts, assume=both[1::2], n_resamples=0)
    assert held.quantifier().proportions_ == whole.proportions
    refused = run(state, tmp_path / "c.csv", "--name", "d", "--assume", "pure-top")
    assert refused.code == 2
    assert "--assume must be ['clean-labels', 'pure-top'], as in the state file" in refused.err


def test_columns_are_remembered(run, tmp_path):
    state, header = tmp_path / "state.json", "s,y"
    first = write(tmp_path / "a.csv", 0, header=header)
    options = ["--alpha", ".25", "--score", "s", "--labeled", "y", "--positive-label", "1"]
    assert run(state, first, *options, "-q").code == 0
    assert run(state, write(tmp_path / "b.csv.txt", 1, header=header), "-q").code == 0
    assert [p.name for p in pu.monitoring.ScoreMonitor.load(state).partitions] == ["a", "b.csv"]
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
        (["state.json", "a.csv", "--alpha", "0.2", "--assume", "pure-top"], "left out where"),
        (["full.json", "a.csv", "--assume", "pure-top"], "--assume must be [], as in the state"),
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


def test_the_page_says_what_was_not_compared() -> None:
    monitor = pu.monitoring.ScoreMonitor(n_resamples=0)
    world = pu.simulate.binormal(separation=2)
    for day in range(2):
        sample = world.sample(60, 240, alpha=0.25, random_state=day)
        monitor.add(f"day {day}", sample.scores, sample.labeled)
    note = monitor.partitions[-1].drift.note
    assert note
    assert f"{note[0].upper()}{note[1:]}." in monitor.to_html()


def test_a_contradicted_alpha_has_no_auc() -> None:
    monitor = pu.monitoring.ScoreMonitor(alpha=0.9)
    for day in range(2):
        monitor.add(
            str(day), pu.simulate.binormal(2).sample(300, 900, alpha=0.2, random_state=day).counts
        )
    assert [partition.auc for partition in monitor.partitions] == [None, None]
    assert "alpha can be at most 0." in str(monitor)
    assert all(partition.contradicted for partition in monitor.partitions)
    drift = monitor.partitions[1].drift
    assert "auc" not in drift.tests
    assert drift.note is not None
    assert "contradict" in drift.note


@pytest.mark.parametrize("seed", range(5))
def test_no_auc_is_above_1(seed: int) -> None:
    # Nearly separable: by chance the direct AUC of the right alpha is above 1 half of the time.
    monitor, world = pu.monitoring.ScoreMonitor(alpha=0.4), pu.simulate.binormal(6)
    for day in range(4):
        sample = world.sample(100, 200, alpha=0.4, random_state=10 * seed + day)
        monitor.add(str(day), sample.counts)
    tests = [p.drift.tests["auc"] for p in monitor.partitions if p.drift is not None]
    assert len(tests) == 3
    for test in tests:
        assert max(test.value, test.before) <= 1
        assert test.difference == test.value - test.before
    assert not any(partition.contradicted for partition in monitor.partitions)
