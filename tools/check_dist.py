"""Check what the wheel and the source archive contain."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

IN_WHEEL = (
    "purecover/__init__.py",
    "purecover/py.typed",
    "purecover/app/app.js",
    "purecover/app/start.html.j2",
    "purecover/data/example_scores.csv",
    "purecover/data/example_scores.json",
    "purecover/data/dist_curve.npz",
    "purecover/data/dist_curve.json",
    "purecover/report/report-1.schema.json",
)
IN_SDIST = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "Makefile",
    "tests/conftest.py",
    "docs/conf.py",
)
NOT_IN_ANY = ("__pycache__", ".pyc", ".venv", "uv.lock", "_build/")


def names_in(path: Path) -> list[str]:
    """The files of an archive, without the leading folder of a source archive."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return wheel.namelist()
    with tarfile.open(path) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def main() -> None:
    """Check the newest wheel and source archive of a folder."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    problems = []
    for pattern, wanted in (("*.whl", IN_WHEEL), ("*.tar.gz", IN_SDIST)):
        archives = sorted(folder.glob(pattern), key=lambda path: path.stat().st_mtime)
        if not archives:
            sys.exit(f"no {pattern} in {folder}")
        names = names_in(archives[-1])
        problems += [f"{archives[-1].name} lacks {name}" for name in wanted if name not in names]
        problems += [
            f"{archives[-1].name} holds {name}"
            for name in names
            if any(part in name for part in NOT_IN_ANY)
        ]
    if problems:
        sys.exit("\n".join(problems))
    print("archives hold what they should")


if __name__ == "__main__":
    main()
