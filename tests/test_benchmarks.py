"""The studies still run: small sizes, and what they print has the promised form."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

STUDIES = {
    "repairs": ["--replicates", "2"],
    "coverage": ["--replicates", "4", "--bootstrap-replicates", "1"],
    "peers": ["--replicates", "2"],
    "speed": ["--replicates", "1", "--sizes", "2000", "--resamples", "20"],
}


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
    assert len({row.count("|") for row in rows}) <= 2  # at most two tables
    assert "nan" not in done.stdout
