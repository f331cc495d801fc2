"""The studies: they run, draw what they say, and judge as they should."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]

STUDIES = {
    "coverage": ["--replicates", "4", "--bootstrap-replicates", "1", "--metrics-replicates", "2"],
    "trust": ["--replicates", "1", "--slow-replicates", "1"],
    "speed": [
        *("--replicates", "1", "--sizes", "2000", "--reports", "1e3"),
        *("--large", "200+2000", "--only", "bbe"),
    ],
    "judge": ["--part", "first", "--scale", "0.002", "--jobs", "1"],
    "leaderboard": ["--every", "400", "--parts", "b", "--no-slow"],
    "drill": ["--scale", "0.01", "--parts", "kill-monitor,bits,uploads"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_study_runs(name):
    command = [sys.executable, "-m", f"studies.{name}", *STUDIES[name]]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
    )
    # 1 is a verdict, which so few replicates may well bring; anything else is a fault.
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert f"- command: `python -m studies.{name}" in done.stdout
    assert sum(line.startswith("|") for line in done.stdout.splitlines()) > 3
    assert "nan" not in done.stdout


def study(name, monkeypatch):
    """A module of the studies, which are no package that is installed."""
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module(f"studies.{name}")


@pytest.fixture
def worlds(monkeypatch):
    return study("_worlds", monkeypatch)


def test_families_agree_with_themselves_and_keep_two_apart(monkeypatch):
    families = study("families", monkeypatch)
    seen = []
    for problem in families.load_families():
        seen.append((problem.table, problem.scorer))
        assert problem.table.partition("/")[0] not in families.HELD_OUT
        assert problem.alpha == problem.unlabeled_positive.sum() / problem.n_unlabeled
        assert problem.beta == problem.labeled_positive.sum() / problem.n_labeled >= 0.75
        hidden, right = problem.unlabeled_positive.sum(), problem.labeled_positive.sum()
        assert hidden >= families.FEW
        assert right >= families.LEAST_LABELED
        assert problem.auc == pytest.approx(
            families.auc(problem.positive[::-1], problem.negative[::-1]), abs=1e-3
        )
    assert len(set(seen)) == len(seen)
    assert {name.partition("/")[0] for name, _ in seen} == set(families.FAMILIES)
    for family in families.HELD_OUT:
        kept = families.load_problems(families.part_of(family))
        assert {each.table.partition("/")[0] for each in kept} == {family}


def test_labels_that_the_truth_denies_are_counted_as_wrong(monkeypatch):
    families = study("families", monkeypatch)
    rng = np.random.default_rng(0)
    positive = np.arange(300) < 100
    labeled = np.isin(np.arange(300), [*range(40), *range(100, 110)])
    features = rng.normal(size=(300, 2)) + positive[:, None]
    for each in families.problems(families.task("a/b", "tags", features, labeled, positive)):
        assert each["counts"].sum(axis=1).tolist() == [40, 10, 60, 190]
    assert families.is_fit(families.task("a/b", "tags", features, labeled, positive))
    labeled[110:115] = True
    assert not families.is_fit(families.task("a/b", "tags", features, labeled, positive))


IRREGULAR = {"two clusters", "rounded normal"}


def test_truth_is_the_smallest_ratio_of_the_mixtures(worlds):
    known = [w for w in worlds.WORLDS if w.name not in IRREGULAR and not w.name.startswith("pure")]
    assert len(known) == 8
    for world in known:
        check_truth(world)


def check_truth(world):
    one, zero = world.positive, world.negative
    alpha, beta = 0.3, 0.9
    low, high = max(zero.support()[0], -30) + 1e-9, min(zero.support()[1], 600) - 1e-9
    x = np.concatenate([np.linspace(low, min(high, 40), 140_001), np.linspace(40, high, 1000)])
    f = alpha * one.pdf(x) + (1 - alpha) * zero.pdf(x)
    g = beta * one.pdf(x) + (1 - beta) * zero.pdf(x)
    known = (f > 1e-290) & (g > 1e-290)
    a, b = (f[known] / g[known]).min(), (g[known] / f[known]).min()
    expected = a * (1 - b) / (1 - a * b), (1 - b) / (1 - a * b)
    np.testing.assert_allclose(world.truth(alpha, beta), expected, atol=1e-6)


@pytest.mark.parametrize("path", sorted((ROOT / "studies" / "results").glob("*.md")), ids=str)
def test_kept_results_say_their_version_and_their_commit(path):
    first = path.read_text(encoding="utf-8")[:700]
    assert re.search(r"- versions: .*purecover \d[\w.]* \([0-9a-f]{10}", first)
