"""Check what check-wheel-contents cannot know: that archives hold the repository, and nothing else.

The wheel of purecover must hold every file of src/purecover, and the source archive every file of
the repository; ``python tools/check_dist.py dist`` names those that are missing or one too many.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
LARGEST = {".whl": 1_500_000, ".gz": 6_000_000}
"""Bytes. The chart library of the report page is the largest file; room for half as much again."""
# Settings of tools that only a clone has a use for, and what the builder adds.
ONLY_IN_CLONES = {".editorconfig", ".pre-commit-config.yaml"}
ADDED = {"PKG-INFO"}


def source_files(root: Path) -> set[str]:
    """The files of the repository, ignored ones left out."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.split("\0") if name and (root / name).is_file()}


def differences(title: str, found: set[str], wanted: set[str]) -> Iterable[str]:
    """A line for each file that is missing or one too many."""
    yield from (f"{title} lacks {name}" for name in sorted(wanted - found))
    yield from (f"{title} holds {name}" for name in sorted(found - wanted))


def main() -> None:
    """Check the archives of purecover in a folder."""
    folder = Path(sys.argv[1])
    (wheel,), (sdist,) = folder.glob("purecover-*.whl"), folder.glob("purecover-*.tar.gz")
    files = source_files(ROOT)
    with zipfile.ZipFile(wheel) as packed:
        in_wheel = {name for name in packed.namelist() if ".dist-info/" not in name}
    with tarfile.open(sdist) as archive:
        in_sdist = {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}
    package = {name.removeprefix("src/") for name in files if name.startswith("src/purecover/")}
    problems = [
        *differences(wheel.name, in_wheel, package),
        *differences(sdist.name, in_sdist - ADDED, files - ONLY_IN_CLONES),
    ]
    for path in sorted(folder.iterdir()):
        size = path.stat().st_size
        print(f"{path.name}: {size / 1e6:.2f} MB")
        if path in {wheel, sdist} and size > LARGEST[path.suffix]:
            problems.append(f"{path.name} has more than {LARGEST[path.suffix]:,} bytes")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
