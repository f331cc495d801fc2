"""Running counts in a file, and the watch for drift."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.command_line import call_main
from tests.markup import Page

import purecover as pu
from purecover import exceptions, simulate
from purecover.checks.catalog import warnings_of_data
from purecover.monitoring import ScoreMonitor
from purecover.monitoring.bins import bin_counts
from purecover.monitoring.drift import compare
from purecover.report.settings import gathered

WORLD = simulate.binormal(1.5)
WORSE = simulate.binormal(0.5)


def day(seed: int, world=WORLD, sizes=(100, 1000), alpha=0.25) -> pu.ScoreCounts:
    return world.sample(*sizes, alpha=alpha, random_state=seed).counts


def filled(n: int, **settings) -> ScoreMonitor:
    monitor = ScoreMonitor(**{"alpha": 0.25, **settings})
    for i in range(n):
        monitor.add(f"day {i}", day(i))
    return monitor


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
    bins = bin_counts(counts, most)
    assert bins.n_thresholds <= most
    assert (bins.n_labeled, bins.n_unlabeled) == (counts.n_labeled, counts.n_unlabeled)
    low, high = pu.recovery.binning_bounds(bins).auc_pu
    assert low <= pu.recovery.auc_pu(counts) <= high
    # Rates at the thresholds that are left are exact, and bins do not overlap.
    above = [int(labeled[scores >= t].sum()) for t in bins.thresholds]
    np.testing.assert_array_equal(np.cumsum(bins.labeled), above)
    tops = bins.thresholds if bins.highest is None else bins.highest
    assert np.all(tops[1:] < bins.thresholds[:-1])


def test_bins_of_many_days_stay_fine():
    rng = np.random.default_rng(0)
    for transform in (lambda x: x, lambda x: 1 / (1 + np.exp(-6 * x))):
        total, exact = None, []
        for _ in range(5):
            labeled = rng.random(20_000) < 0.2
            scores = transform(rng.normal(size=20_000) + labeled)
            exact.append((scores, labeled))
            counts = bin_counts(pu.ScoreCounts.from_scores(scores, labeled), 4096)
            total = counts if total is None else total + counts
        whole = pu.ScoreCounts.from_scores(*map(np.concatenate, zip(*exact, strict=True)))
        assert total.n_thresholds > 1000
        assert total.auc_pu == pytest.approx(whole.auc_pu, abs=2e-4)


def test_counts_are_those_of_all_rows_in_the_window():
    monitor = filled(6, window=2)
    assert [p.counts is not None for p in monitor.partitions] == [False] * 3 + [True] * 3
    assert monitor.counts == day(3) + day(4) + day(5)


@pytest.mark.parametrize(
    "settings",
    [
        {"alpha": 0.25, "confidence_level": 0.9},
        {"prior": 0.3, "scenario": "censoring"},
        {"estimator": "roc-slope", "n_resamples": 50},
        {"estimator": "bbe", "beta": 1.0, "n_resamples": 0},
        {"assume": ["clean-labels", "pure-top"], "n_resamples": 50},
        {"n_resamples": 20},
    ],
)
def test_figures_are_those_of_evaluate(settings):
    counts = day(0)
    found = ScoreMonitor(**settings).add("a", counts)
    report = pu.evaluate(counts, **gathered(settings))
    assert (found.alpha.estimate, found.beta) == (report.proportions.alpha, report.proportions.beta)
    assert (found.auc_pu.estimate, found.auc.estimate) == (report.auc_pu, report.auc)
    if "roc_auc" in report.intervals:
        assert found.auc == report.intervals["roc_auc"]
    if report.estimation is not None and "alpha" in report.estimation.intervals:
        assert found.alpha == report.estimation.intervals["alpha"]
    assert set(found.findings) >= {c.code for c in warnings_of_data(report.findings)} - {"PU016"}


def test_a_partition_without_an_estimate_is_kept():
    monitor = ScoreMonitor(estimator="alphamax", n_resamples=0)
    monitor.add("good", day(0))
    made = monitor.add("flat", np.repeat([1.0, 2.0], 100), np.arange(200) % 2 == 0)
    assert made.alpha is None
    assert made.auc is None
    assert made.drift["auc_pu"].drifted
    assert f"flat: {made.note}." in " ".join(str(monitor).split())


def test_a_contradicted_alpha_has_no_auc():
    monitor = ScoreMonitor(alpha=0.9)
    for i in range(2):
        made = monitor.add(str(i), day(i, simulate.binormal(2), (300, 900), 0.2))
        assert made.auc is None
    assert set(made.drift) == {"labeled", "unlabeled", "auc_pu"}
    assert "alpha can be at most 0." in str(monitor)


def test_comparisons_share_the_probability_of_a_false_alarm():
    monitor = filled(4, false_alarms=0.1)
    assert monitor.partitions[0].drift == {}
    limits = [p.drift["auc_pu"].limit for p in monitor.partitions[1:]]
    assert limits == pytest.approx([0.1 / 2 / 3, 0.1 / 6 / 3, 0.1 / 12 / 3])
    assert ScoreMonitor(alpha=0.25).add("few", day(0, sizes=(10, 500))).drift == {}
    small = monitor.add("few", day(9, sizes=(10, 500)))
    assert small.drift == {}
    assert "20 labeled" in small.note
    sample = WORLD.sample(50, 200, alpha=0.25, random_state=0)
    weights = np.linspace(1, 2, 250)
    heavy = pu.ScoreCounts.from_scores(sample.scores, sample.labeled, sample_weight=weights)
    weighted = monitor.add("weights", heavy)
    assert "weighted" in weighted.note


def test_drift_is_found():
    monitor = filled(5)
    assert not any(p.drifted for p in monitor.partitions)
    worse = monitor.add("worse", day(9, WORSE, (300, 3000)))
    assert worse.drifted
    assert worse.drift["auc_pu"].difference == pytest.approx(-0.16, abs=0.05)
    # All scores move together: areas stay, distributions do not.
    sample = WORLD.sample(300, 3000, alpha=0.25, random_state=10)
    moved = filled(5).add("moved", sample.scores + 1, sample.labeled)
    assert moved.drift["labeled"].drifted
    assert moved.drift["unlabeled"].drifted
    assert not moved.drift["auc_pu"].drifted


@pytest.mark.parametrize(("alpha", "sign"), [(0.05, 0), (0.25, -1)])
def test_200_weeks_have_the_right_sign_and_level(alpha, sign):
    """A week after five others, small after large and large after small; alpha stays or rises."""
    world, n, found = simulate.binormal(2.5), 200, {}
    for week in range(n):
        sizes = ((1000, 10_000), (200, 2000))[:: -1 if week % 2 and not sign else 1]
        before = day(week, world, sizes[0], 0.05)
        for name, test in compare(day(n + week, world, sizes[1], alpha), before, 0.05).items():
            found.setdefault(name, []).append((test.p_value, test.difference))
    p_values, differences = (
        {name: np.array(tests)[:, i] for name, tests in found.items()} for i in range(2)
    )
    alarms = {name: (p < 0.05).mean() for name, p in p_values.items()}
    noise = 3 * np.sqrt(0.05 * 0.95 / n)
    assert alarms["labeled"] < 0.05 + noise  # positives score as before
    gain = differences["auc_pu"]
    if sign:
        assert (gain < 0).mean() > 0.99
        assert min(alarms["unlabeled"], alarms["auc_pu"]) > 0.99
    else:
        assert max(alarms.values()) < 0.05 + noise
        assert abs(gain.mean()) < 3 * gain.std() / np.sqrt(n)
        assert p_values["auc_pu"].mean() == pytest.approx(0.5, abs=0.9 / np.sqrt(n))


def test_a_name_is_taken_once():
    monitor = filled(3)
    with pytest.raises(exceptions.InvalidInputError, match="not added yet, got 'day 2'"):
        monitor.add("day 2", day(5))
    monitor.add("day 2", day(5), replace=True)
    assert monitor.counts == day(0) + day(1) + day(5)
    with pytest.raises(exceptions.InvalidInputError, match="the last partition, to be replaced"):
        monitor.add("day 0", day(5), replace=True)
    for name in ("", " a", "a\n", "a" * 201):
        with pytest.raises(exceptions.InvalidInputError, match="1 to 200 printable"):
            monitor.add(name, day(5))


def test_a_file_holds_everything(tmp_path):
    path = tmp_path / "state.json"
    monitor = filled(4, window=1)
    sample = WORLD.sample(50, 200, alpha=0.25, random_state=0)
    weight = np.linspace(1, 2, 250)
    heavy = pu.ScoreCounts.from_scores(sample.scores, sample.labeled, sample_weight=weight)
    monitor.add("weighted", heavy)
    monitor.save(path)
    again = ScoreMonitor.load(path)
    assert again.to_dict() == monitor.to_dict()
    assert again.counts == monitor.counts
    assert str(again) == str(monitor)
    later = ScoreMonitor.update(path, "next", day(8))
    assert str(later) == str(ScoreMonitor.load(path))
    assert list(later.frame()["name"]) == [p.name for p in later.partitions]
    assert later.frame("pandas")["auc"].iloc[-1] == later.partitions[-1].auc.estimate
    with pytest.raises(exceptions.InvalidInputError, match=r"0\.25, as in the state file"):
        ScoreMonitor.update(path, "more", day(9), settings={"alpha": 0.3})


def rewrite(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new, 1))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda p: p.write_bytes(p.read_bytes()[:-100]), "text of a monitor"),
        (lambda p: rewrite(p, "monitor/2", "monitor/1"), "is 'purecover.monitor/2', got"),
        (lambda p: rewrite(p, '"n_labeled": 100', '"n_labeled": 101'), "changed or damaged"),
        (lambda p: (p.unlink(), p.mkdir()), "can be read and written"),
    ],
)
def test_damaged_files_are_refused(tmp_path, damage, says):
    path = tmp_path / "state.json"
    filled(2).save(path)
    damage(path)
    with pytest.raises((exceptions.InvalidInputError, exceptions.InvalidTypeError), match=says):
        ScoreMonitor.load(path)


def test_impossible_counts_are_refused(tmp_path):
    from purecover._codec import document_text

    path = tmp_path / "state.json"
    filled(2).save(path)
    document = json.loads(path.read_text())
    del document["checksum"]
    document["partitions"][0]["counts"]["labeled"][0] = -1
    path.write_text(document_text(document))
    with pytest.raises(exceptions.InvalidInputError, match="'counts'"):
        ScoreMonitor.load(path)


class KilledError(BaseException):
    """Stands for the end of a process."""


def test_a_killed_process_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    filled(2).save(path)
    before = path.read_bytes()

    def fail(*_):
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        patch.setattr(Path, "unlink", lambda *_, **__: None)  # nothing cleans up after a kill
        with pytest.raises(KilledError):
            ScoreMonitor.update(path, "next", day(5))
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 3
    ScoreMonitor.update(path, "later", day(6))
    assert {each.name for each in tmp_path.iterdir()} == {"state.json", "state.json.lock"}


def test_processes_take_turns(tmp_path):
    """Eight threads, each with a file descriptor of its own: no partition is lost."""
    path, update = tmp_path / "state.json", ScoreMonitor.update
    with ThreadPoolExecutor(8) as pool:
        adding = [
            pool.submit(update, path, str(i), day(i), settings={"alpha": 0.25}) for i in range(8)
        ]
        for each in adding:
            each.result()
    assert {p.name for p in ScoreMonitor.load(path).partitions} == set("01234567")


@pytest.fixture
def run(capsys):
    return partial(call_main, capsys, "monitor")


def write(path: Path, seed: int, world=WORLD) -> Path:
    sample = world.sample(100, 1000, alpha=0.25, random_state=seed)
    columns = np.column_stack((sample.scores, sample.labeled))
    np.savetxt(path, columns, delimiter=",", header="score,labeled", comments="", fmt="%.17g")
    return path


def test_the_command_adds_days(run, tmp_path):
    path = tmp_path / "state.json"
    for i in range(3):
        result = run(path, write(tmp_path / f"2026-11-0{i + 1}.csv", i), "--alpha", "0.25")
        assert result.code == 0
    assert "2026-11-03 does not differ significantly" in result.out
    assert run(path) == result
    assert run(path, "--json").json == ScoreMonitor.load(path).to_dict()
    worse = write(tmp_path / "x.csv", 9, WORSE)
    assert run(path, worse, "--name", "2026-11-04", "--fail-on-drift", "-q") == (1, "", "")
    assert run(path, "--fail-on-drift", "--html", tmp_path / "page.html").code == 1
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>Scores over time: state.json</title>" in page
    better = write(tmp_path / "y.csv", 10)
    result = run(path, better, "--name", "2026-11-04", "--replace", "--fail-on-drift")
    assert result.code == 0
    assert len(ScoreMonitor.load(path).partitions) == 4


def test_a_page_shows_all_days(tmp_path):
    monitor = filled(4)
    monitor.add("worse <day>", day(9, WORSE, (300, 3000)))
    page = monitor.to_html(tmp_path / "page.html", title="My model")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    parsed = Page(page)
    assert parsed.open == []
    assert "<title>My model</title>" in page
    assert "worse &lt;day&gt; differs significantly" in page
    assert "worse <day>" not in page
    drawn = [attrs for _, attrs in parsed.elements if "mark" in attrs.get("class", "").split()]
    assert len(drawn) == 2 * 5  # observed and recovered AUC of each day
    assert page.count(">drift</text>") == 1
    with pytest.raises(exceptions.InvalidInputError, match="needs a partition"):
        ScoreMonitor(alpha=0.25).to_html()


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["none.json"], "STATE must be a file"),
        (["-"], "STATE must name a file"),
        (["full.json", "--alpha", "0.2"], "without FILE"),
        (["full.json", "a.csv", "--name", "day 0"], "--name must be one that was not added yet"),
        (["full.json", "-"], "--name is needed"),
    ],
)
def test_commands_that_are_refused(run, tmp_path, monkeypatch, argv, says):
    monkeypatch.chdir(tmp_path)
    filled(1).save("full.json")
    write(Path("a.csv"), 0)
    before = Path("full.json").read_bytes()
    result = run(*argv)
    assert result.code == 2
    assert says in result.err
    assert Path("full.json").read_bytes() == before
    assert not Path("state.json").exists()
