"""The studies under benchmarks/: they run, draw what they say, and judge as they should."""

from __future__ import annotations

import gzip
import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

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
    "report_speed": ["--replicates", "1", "--size", "1e3", "--resamples", "10"],
    "leaderboard": ["--tiny", "--parts", "a", "--no-slow"],
    "priors_speed_peers": ["--only", "dist-curve", "regrouping"],
    "priors_speed": [
        *("--replicates", "1", "--resamples", "10", "--large", "200+2000", "--only", "bbe"),
    ],
    "prior_coverage": ["--replicates", "1", "--n-resamples", "10", "--estimators", "bbe"],
    "prior_peers": ["--replicates", "1", "--only", "tice", "dedpul"],
}
KINDS_OF_TABLES = {"leaderboard": 4, "priors_speed": 3, "report_speed": 5}


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


def test_results_say_which_code_they_come_from(monkeypatch):
    common = study("_common", monkeypatch)
    said = common.provenance("leaderboard")
    version = re.escape(purecover.__version__)
    git = Path(ROOT / ".git").exists() and shutil.which("git")
    commit = r" \([0-9a-f]{10}(, changed since)?\)" if git else ""
    assert re.search(rf"purecover {version}{commit}, numpy \d", said)
    monkeypatch.setattr(common.shutil, "which", lambda _: None)
    assert re.search(rf"purecover {version}, numpy \d", common.provenance("leaderboard"))


# -- features ---------------------------------------------------------------------------


def test_feature_worlds_hold_what_they_say(monkeypatch):
    worlds = study("_feature_worlds", monkeypatch)
    everything = list(worlds.feature_worlds())
    assert len({world.source for world in everything}) == len(everything) == 25
    for world in everything:
        features, labeled = world.replicate(0, 0)
        assert features.shape == (5500, world.n_features)
        assert labeled.sum() == 500
        assert world.truth == (world.alpha, world.beta)
        assert np.array_equal(features, world.replicate(0, 0)[0])
        assert not np.array_equal(features, world.replicate(0, 1)[0])


def test_a_tiny_run_has_a_data_set_of_three_worlds_of_each_part(monkeypatch):
    sources = study("_sources", monkeypatch)
    monkeypatch.delenv("PURECOVER_DATA", raising=False)
    todo = list(sources.tasks("abcdef", 2, 2, 1, 2, 0))
    assert {task.part for task in todo} == {"a", "b", "d", "e"}
    assert sum(task.part == "e" for task in todo) == 50
    assert sum(task.for_slow for task in todo if task.part == "e") == 25
    tiny = sources.few(todo)
    assert sorted(task.part for task in tiny) == [*"aaabbbddeee"]
    assert len({(task.part, task.group) for task in tiny}) == 11


# -- peers ------------------------------------------------------------------------------


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.prior_peers")


def verdict_rows(peers, name, world, alphas):
    return [peers.Row(world, name, alpha, 0.1) for alpha in alphas]


def test_verdicts(peers):
    good = verdict_rows(peers, "bbe", "1-D", [0.25 + 0.068, 0.25 - 0.068])
    assert list(peers.verdicts(good)) == []
    assert peers.mean_error(good) == pytest.approx(0.068)
    assert peers.bias(good) == pytest.approx(0)
    (said,) = peers.verdicts(verdict_rows(peers, "bbe", "10-D", [0.32]))
    assert "bbe in 10-D" in said
    assert "0.047 of BBE" in said
    # Without a figure of the authors: a limit in 1-D, none in 10-D and on scores.
    assert len(list(peers.verdicts(verdict_rows(peers, "mine", "1-D", [0.34])))) == 1
    assert list(peers.verdicts(verdict_rows(peers, "mine", "10-D", [0.34]))) == []
    assert list(peers.verdicts(verdict_rows(peers, "mine, on scores", "1-D", [0.34]))) == []
