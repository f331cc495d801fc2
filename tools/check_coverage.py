"""Check how many branches the fast tests take, the local page apart.

``python tools/check_coverage.py`` reads ``.coverage`` and fails below 95 % of the branches.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LEAST = 0.95
APART = "*/purecover/app/*"
"""Its server runs in processes of its own, which tests in a browser watch from outside."""


def main() -> None:
    """Print the shares of lines and branches, and the files with most branches left out."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coverage.json"
        program = [sys.executable, "-m", "coverage", "json", "-q", f"--omit={APART}"]
        subprocess.run([*program, "--fail-under=0", "-o", str(path)], check=True)
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    totals = found["totals"]
    lines = totals["covered_lines"] / totals["num_statements"]
    branches = totals["covered_branches"] / totals["num_branches"]
    print(f"{totals['num_statements']} statements, {lines:.1%} run")
    print(f"{totals['num_branches']} branches, {branches:.1%} taken")
    worst = sorted(found["files"].items(), key=lambda item: -item[1]["summary"]["missing_branches"])
    for name, file in worst[:8]:
        summary = file["summary"]
        print(f"  {name}: {summary['missing_branches']} of {summary['num_branches']} not taken")
    if branches < LEAST:
        sys.exit(f"fewer than {LEAST:.0%} of the branches are taken")


if __name__ == "__main__":
    main()
