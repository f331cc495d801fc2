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
