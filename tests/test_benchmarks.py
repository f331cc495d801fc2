"""The studies still run: small sizes, and what they print has the promised form."""

from __future__ import annotations

import dataclasses
import gzip
import importlib
import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import purecover

ROOT = Path(__file__).parents[1]

STUDIES = {
    "repairs": ["--replicates", "2"],
    "coverage": ["--replicates", "4", "--bootstrap-replicates", "1"],
    "peers": ["--replicates", "2"],
    "migration": ["--replicates", "2"],
    "trust": ["--replicates", "1", "--slow-replicates", "1"],
    "speed": ["--replicates", "1", "--sizes", "2000", "--resamples", "20"],
    "report_speed": ["--replicates", "1", "--size", "2e4", "--resamples", "20"],
    "leaderboard": ["--tiny", "--parts", "ae", "--no-slow", "--jobs", "2"],
    "priors_speed_peers": ["--only", "tice", "dist-curve", "regrouping"],
    "priors_speed": ["--replicates", "1", "--resamples", "10", "--large", "1000+10000"],
    "prior_coverage": ["--replicates", "1", "--n-resamples", "20"],
    "prior_peers": ["--replicates", "1"],
}
KINDS_OF_TABLES = {"leaderboard": 4, "priors_speed": 3}


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_study_runs(name):
    command = [sys.executable, "-m", f"benchmarks.{name}", *STUDIES[name]]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
    )
    # 1 is a verdict, which so few replicates may well bring; anything else is a fault.
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert f"- command: `python -m benchmarks.{name}" in done.stdout
    rows = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert len(rows) > 3
    assert len({row.count("|") for row in rows}) <= KINDS_OF_TABLES.get(name, 2)
    assert "nan" not in done.stdout


def study(name, monkeypatch):
    """A module of the studies, which are no package that is installed."""
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module(f"benchmarks.{name}")


# -- worlds -----------------------------------------------------------------------------


@pytest.fixture
def worlds(monkeypatch):
    return study("_worlds", monkeypatch)


DENSITIES = {
    "normal 2": (stats.norm(2), stats.norm(0)),
    "Laplace 2": (stats.laplace(2), stats.laplace(0)),
    "beta 5 2": (stats.beta(5, 2), stats.beta(2, 5)),
    "gamma": (stats.gamma(6), stats.gamma(2)),
    "exponential": (stats.expon(scale=6), stats.expon(scale=1)),
    "unequal normal": (stats.norm(3, 1.5), stats.norm(0)),
    "Student t": (stats.t(4, loc=4), stats.t(4)),
    "logistic": (stats.logistic(3), stats.logistic(0)),
}


@pytest.mark.parametrize("name", DENSITIES)
def test_truth_is_the_smallest_ratio_of_the_mixtures(worlds, name):
    world = next(w for w in (*worlds.TUNING, *worlds.HELD_OUT) if w.name == name)
    one, zero = DENSITIES[name]
    alpha, beta = 0.3, 0.9
    low, high = max(zero.support()[0], -30) + 1e-9, min(zero.support()[1], 600) - 1e-9
    x = np.concatenate([np.linspace(low, min(high, 40), 700_001), np.linspace(40, high, 1000)])
    f = alpha * one.pdf(x) + (1 - alpha) * zero.pdf(x)
    g = beta * one.pdf(x) + (1 - beta) * zero.pdf(x)
    known = (f > 1e-290) & (g > 1e-290)
    a, b = (f[known] / g[known]).min(), (g[known] / f[known]).min()
    expected = a * (1 - b) / (1 - a * b), (1 - b) / (1 - a * b)
    np.testing.assert_allclose(world.truth(alpha, beta), expected, atol=1e-6)


@pytest.mark.parametrize("group", ["tuning", "held out"])
def test_worlds_draw_what_they_say(worlds, group):
    members = worlds.TUNING if group == "tuning" else worlds.HELD_OUT
    rng = np.random.default_rng(0)
    assert {world.group for world in members} == {group}
    for world in members:
        scores, labeled = world.sample(rng, 4000, 4000, 0.2, 0.9)
        assert labeled.sum() == 4000
        assert ((scores >= 0) & (scores <= 1)).all()
        # Positives score higher, by as much as the share of positives differs.
        assert scores[labeled].mean() > scores[~labeled].mean()


def test_scores_of_the_tuning_group_are_probabilities_of_being_labeled(worlds):
    scores, labeled = worlds.normal(2).sample(np.random.default_rng(0), 40_000, 120_000, 0.3, 0.9)
    for low in (0.0, 0.1, 0.2, 0.3, 0.4):
        inside = (scores >= low) & (scores < low + 0.1)
        error = 4 * np.sqrt(0.25 / inside.sum())
        assert labeled[inside].mean() == pytest.approx(scores[inside].mean(), abs=error)


def test_rounded_world_has_twenty_values_and_the_truth_of_its_bins(worlds):
    world = next(w for w in worlds.HELD_OUT if w.name == "rounded normal")
    scores, labeled = world.sample(np.random.default_rng(0), 10**6, 10**6, 0.0, 1.0)
    assert len(np.unique(scores)) <= 20
    values, where = np.unique(scores, return_inverse=True)
    ones = np.bincount(where[labeled], minlength=len(values))
    zeros = np.bincount(where[~labeled], minlength=len(values))
    enough = ones > 1000
    assert (zeros[enough] / ones[enough]).min() == pytest.approx(world.positive_inclusion, abs=0.01)


def test_pure_ends_hold_the_share_they_promise(worlds):
    for share in (0.05, 0.3):
        world = worlds.pure_ends(share, slope=0.6)
        rng = np.random.default_rng(0)
        ones, zeros = world.positive(rng, 100_000), world.negative(rng, 100_000)
        assert (ones > zeros.max()).mean() == pytest.approx(share, abs=0.005)
        assert (zeros < ones.min()).mean() == pytest.approx(share, abs=0.005)


def test_cells_are_told_apart_and_repeat_themselves(worlds):
    cells = [*worlds.cells("tuning"), *worlds.cells("held out")]
    assert len({cell.name for cell in cells}) == len(cells)
    assert sum(cell.world.group == "tuning" for cell in cells) == 120
    cell = pickle.loads(pickle.dumps(cells[7]))  # noqa: S301 - our own
    first, _ = cells[7].sample(0, 1)
    again, _ = cell.sample(0, 1)
    other, _ = cell.sample(0, 2)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


# -- real scores ------------------------------------------------------------------------


def test_real_scores_of_a_small_data_set(monkeypatch, tmp_path):
    real = study("_real", monkeypatch)
    rng = np.random.default_rng(0)
    target = np.repeat([1, 0], [268, 500])
    lines = ["x,kind,target"]
    lines += [f"{rng.normal(2 * y):.4f},{'ab'[rng.integers(2)]},{y}" for y in target]
    with gzip.open(tmp_path / "pima.csv.gz", "wt", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    problem = real.Problem("pima", 0.75, "logistic", 0)
    found = real.scored(problem, tmp_path, tmp_path / "cache")
    assert found.labeled.sum() == 100
    assert len(found.scores) == 768
    assert found.truth == pytest.approx(((268 - 75) / 668, 0.75))
    assert found.scores[found.labeled].mean() > found.scores[~found.labeled].mean()
    kept = real.scored(problem, Path("nowhere"), tmp_path / "cache")
    np.testing.assert_array_equal(kept.scores, found.scores)


def test_real_data_refuse_a_file_with_other_positives(monkeypatch, tmp_path):
    real = study("_real", monkeypatch)
    with gzip.open(tmp_path / "pima.csv.gz", "wt", encoding="ascii") as file:
        file.write("x,target\n1,1\n2,0\n")
    with pytest.raises(SystemExit, match="1 positives, expected 268"):
        real.scored(real.Problem("pima", 1.0, "forest", 0), tmp_path, tmp_path)


def test_held_out_problems_are_a_quarter_of_the_data_and_one_classifier(monkeypatch):
    real = study("_real", monkeypatch)
    assert real.HELD_OUT_DATA == ("housing", "pendigit", "wine")
    everything = list(real.problems(1))
    assert len(everything) == 12 * 3 * 3
    assert sum(problem.held_out for problem in everything) == 3 * 9 + 9 * 3


@pytest.mark.needs_data
@pytest.mark.slow
def test_rules_of_all_data_sets_give_the_positives_of_the_paper(monkeypatch):
    real = study("_real", monkeypatch)
    folder = real.data_folder()
    if folder is None:
        pytest.skip("PURECOVER_DATA is not set")
    for name in real.DATA_SETS:
        features, positive = real.read_data(name, folder)  # refuses other counts
        assert len(features) == len(positive)
        assert np.isfinite(features).all()


# -- the comparison ---------------------------------------------------------------------


def rows_of(board, name, errors, part="a"):
    """Rows of an estimator whose beta - alpha is off by these."""
    return [
        board.Row(part, "world", "cell", i, name, 0.3, 0.9 + e, 0.3, 0.9, 0.01, False)
        for i, e in enumerate(errors)
    ]


def test_promises_hold_for_the_best_and_fail_for_the_biased(monkeypatch):
    board = study("_board", monkeypatch)
    released = rows_of(board, board.RELEASED, [-0.5, 0.5, 0.4])
    good = rows_of(board, board.DEFAULT, [0.02, -0.02, 0.01])
    lines, failures = board.promises([*released, *good])
    assert failures == []
    assert [line[-1] for line in lines] == ["yes"]
    bad = rows_of(board, board.DEFAULT, [0.3, 0.3, 0.3])
    rival = rows_of(board, "rival", [0.1, -0.1, 0.1])
    _, failures = board.promises([*released, *bad, *rival])
    assert len(failures) == 3
    assert "rival is better by 0.2000" in failures[0]
    assert "bias +0.3000" in failures[1]
    assert "worst case 0.300, above 0.250" in failures[2]


def test_a_rival_that_saw_less_is_compared_on_what_it_saw(monkeypatch):
    board = study("_board", monkeypatch)
    default = rows_of(board, board.DEFAULT, [0.001, 0.1, -0.1])
    rival = rows_of(board, "slow", [0.02])  # better on average, but not on this data set
    _, failures = board.promises([*default, *rival, *rows_of(board, board.RELEASED, [0.5] * 3)])
    assert failures == []


def test_who_did_not_run_on_a_source_has_an_empty_cell(monkeypatch):
    board = study("_board", monkeypatch)
    first = rows_of(board, "quick", [0.1], part="f")
    other = [dataclasses.replace(row, group="other") for row in first]
    slow = rows_of(board, "slow", [0.2], part="f")
    lines = board.by_source([*first, *other, *slow], "f", ["quick", "slow", "absent"]).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["source", "quick", "slow"]
    assert cells[2:] == [["world", "0.1000", "0.2000"], ["other", "0.1000", ""]]


def test_of_features_nothing_is_promised(monkeypatch):
    board = study("_board", monkeypatch)
    assert board.promises(rows_of(board, "quick", [0.5], part="f")) == ([], [])


def test_probabilities_without_calibration_are_no_rival_on_their_own_grid(monkeypatch):
    board = study("_board", monkeypatch)
    rows = [
        *rows_of(board, board.DEFAULT, [0.02, -0.02]),
        *rows_of(board, board.CALIBRATED, [0.0, 0.0]),
        *rows_of(board, board.RELEASED, [0.5, 0.5]),
    ]
    assert board.promises(rows)[1] == []


def test_every_contestant_has_one_row_and_the_default_its_name(monkeypatch):
    contestants = study("_contestants", monkeypatch)
    found = contestants.ours()
    names = [each.name for each in found]
    assert len(set(names)) == len(names)
    assert names[0] == contestants.DEFAULT == "label-curve (default)"
    assert "label-curve" not in names
    made = [repr(each.make()) for each in found]
    assert made.count(made[0]) == 1


def test_results_say_which_code_they_come_from(monkeypatch):
    common = study("_common", monkeypatch)
    said = common.provenance("leaderboard")
    version = re.escape(purecover.__version__)
    git = Path(ROOT / ".git").exists() and shutil.which("git")
    commit = r" \([0-9a-f]{10}(, changed since)?\)" if git else ""
    assert re.search(rf"purecover {version}{commit}, numpy \d", said)
    monkeypatch.setattr(common.shutil, "which", lambda _: None)
    assert re.search(rf"purecover {version}, numpy \d", common.provenance("leaderboard"))


def test_peers_get_examples_and_both_directions(monkeypatch):
    contestants = study("_contestants", monkeypatch)
    from purecover.counts import ScoreCounts
    from purecover.estimators.samples import flipped_counts

    scores = np.array([0.9, 0.5, 0.5, 0.2])
    labeled = np.array([True, True, False, False])
    counts = ScoreCounts.from_scores(scores, labeled)
    features, labels = contestants._examples(counts)
    logit = np.log(scores / (1 - scores))
    np.testing.assert_allclose(np.sort(features[labels == 1, 0]), np.sort(logit[labeled]))
    np.testing.assert_allclose(np.sort(features[labels == 0, 0]), np.sort(logit[~labeled]))
    features, labels = contestants._examples(flipped_counts(counts))
    np.testing.assert_allclose(np.sort(features[labels == 1, 0]), np.sort(-logit[~labeled]))
