"""A small version of the study of the local page under load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
def test_many_uploads_at_once_leave_nothing_behind() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.app_load", "--replicates", "12", "--rows", "2000"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("| ")]
    assert [row[0].strip() for row in rows[2:]] == ["3", "6", "9", "12"]
    assert {row[-1].strip() for row in rows[2:]} == {"0"}
    assert "Temporary files after the stop: 0." in done.stdout
