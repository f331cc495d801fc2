"""Common parts of the studies: arguments, tables, and a record of where the figures come from."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

from purecover import __version__

RESULTS = Path(__file__).parent / "results"


def arguments(description: str, *, replicates: int) -> argparse.ArgumentParser:
    """A parser with the options every study has."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--replicates", type=int, default=replicates, help="data sets per cell")
    parser.add_argument("--seed", type=int, default=0, help="where all randomness starts")
    parser.add_argument(
        "--write", action="store_true", help="also write the tables to studies/results/"
    )
    return parser


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A markdown table, padded so that it also reads well in a terminal."""
    cells = [list(headers), *[list(row) for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(lines)


def publish(name: str, title: str, body: str, *, write: bool, part: str = "") -> None:
    """Print a result and, if asked, keep it with its date, command and versions.

    ``part`` names one of several results of a study, such as the kind of machine of times.
    """
    text = f"# {title}\n\n{provenance(name)}\n\n{body}\n"
    print(text)
    if write:
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / (f"{name}_{part}.md" if part else f"{name}.md")
        path.write_text(text, encoding="utf-8")
        print(
            f"written: {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}"
        )


def provenance(name: str) -> str:
    """Date, command, versions and machine, as a markdown list."""
    packages = ("numpy", "scipy", "scikit-learn")
    versions = ", ".join(
        [f"purecover {__version__}{_commit()}", *(f"{each} {_version(each)}" for each in packages)]
    )
    command = " ".join(["python", "-m", f"studies.{name}", *sys.argv[1:]])
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    return (
        f"- date: {today}\n"
        f"- command: `{command}`\n"
        f"- versions: Python {platform.python_version()}, {versions}\n"
        f"- machine: {platform.machine()}, {os.cpu_count()} cores, {platform.system()}"
    )


def conclude(failures: Sequence[str], *, judge: bool = True) -> int:
    """Exit status: what was promised and did not hold is said, and counts if it is to be judged."""
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return 1 if failures and judge else 0


def progress(text: str) -> None:
    """A line on stderr, so that the tables on stdout stay clean."""
    print(text, file=sys.stderr, flush=True)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _commit() -> str:
    """The commit the figures come from, and whether files were changed since."""
    git = shutil.which("git")
    if git is None:
        return ""
    found = []
    for question in (["rev-parse", "--short=10", "HEAD"], ["status", "--porcelain", "--", "src"]):
        command = [git, "-C", str(RESULTS.parents[1]), *question]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:  # no repository, as in an unpacked archive
            return ""
        found.append(done.stdout.strip())
    commit, changes = found
    return f" ({commit}{', changed since' if changes else ''})"


def interval_score(ends: Iterable[float], truth: float) -> tuple[float, bool, float]:
    """Interval score of a 95 % interval, whether it holds, and its width.

    The score is the width plus 40 times how far the truth lies outside: the smaller the better.
    """
    low, high = map(float, ends)
    outside = max(low - truth, truth - high, 0.0)
    return high - low + 40 * outside, outside <= 1e-9, high - low
