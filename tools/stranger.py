"""Play the stranger: install the wheel somewhere else and follow the first pages.

A fresh environment in a temporary folder gets the newest wheel, first alone and then with figures.
There every example of the tutorial and of the README is run by ``fill_pages.py``: the output must
be that of the page. The sizes and times on the way are printed too.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "docs/tutorial.rst", ROOT / "README.md")


class Stranger:
    """A folder with an environment, far from the repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.prefix = folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", self.prefix], check=True)
        kept = {name: value for name, value in os.environ.items() if "PYTHON" not in name}
        self.environment = kept | {
            "PATH": f"{self.prefix / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "MPLBACKEND": "Agg",
            "NO_COLOR": "1",
        }

    def run(self, program: str, *arguments: str | Path) -> str:
        """Run a program of the environment; what it prints."""
        done = subprocess.run(
            [self.prefix / "bin" / program, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{program} {' '.join(map(str, arguments))}\n{done.stdout}")
        return done.stdout

    def install(self, requirement: str, title: str) -> None:
        """Install something, and print how long it took and how large all has become."""
        start, before = time.perf_counter(), os.times()
        self.run("python", "-m", "pip", "install", "-q", "--disable-pip-version-check", requirement)
        seconds, after = time.perf_counter() - start, os.times()
        # What a busy machine or a slow line does not change.
        work = after.children_user + after.children_system
        work -= before.children_user + before.children_system
        places = (self.prefix / "lib").glob("python*/site-packages/*")
        size = sum(
            file.stat().st_size
            for place in places
            if not place.name.startswith("pip")
            for file in [place, *place.rglob("*")]
            if file.is_file() and file.suffix != ".pyc"
        )
        print(
            f"{title}: {seconds:.0f} s ({work:.0f} s of a processor), "
            f"{size / 1e6:.0f} MB in site-packages"
        )

    def import_seconds(self, module: str) -> float:
        """The least time of several to import a module in a fresh interpreter."""
        times = []
        for _ in range(7):
            said = self.run("python", "-X", "importtime", "-c", f"import {module}")
            found = re.findall(rf"\| +(\d+) \| {module}$", said, re.MULTILINE)
            times.append(int(found[-1]) / 1e6)
        return min(times)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Install the wheel elsewhere, follow the pages.")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="the folder of the wheel")
    options = parser.parse_args()
    wheels = sorted(options.dist.glob("purecover-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        sys.exit(f"no wheel in {options.dist}\nHint: make dist")
    wheel = wheels[-1].resolve()
    with tempfile.TemporaryDirectory(prefix="stranger-") as folder:
        stranger = Stranger(Path(folder).resolve())
        stranger.install(str(wheel), "pip install purecover")
        own, numpy = stranger.import_seconds("purecover"), stranger.import_seconds("numpy")
        print(f"import purecover: {own * 1e3:.1f} ms, {own / numpy:.0%} of import numpy")
        print(stranger.run("purecover", "--version"), end="")
        stranger.install(f"{wheel}[plot]", "pip install 'purecover[plot]'")
        stranger.run("python", "-I", ROOT / "tools" / "fill_pages.py", "--check", *PAGES)
    print("a stranger gets what the pages say")


if __name__ == "__main__":
    main()
