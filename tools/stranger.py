"""Play the stranger: install the wheel somewhere else and follow the first pages.

A fresh environment in a temporary folder gets the newest wheel, first alone and then with
figures. There, with no repository in reach, every example of the tutorial and of the README is
run: the output must be that of the page. The sizes and times on the way are printed too.

The examples run in the other environment by this same file (``--inside``), which hence needs
nothing but the standard library.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("docs/tutorial.rst", "README.md")
# As in the tests (pyproject.toml).
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.REPORT_NDIFF
# Commands that take --n-resamples: fewer where nobody compares the digits.
QUICK = ("evaluate", "priors", "threshold")
# Code of the README speaks of scores and labels that its reader has.
PREPARED = """\
from purecover import load_example
scores, labeled = load_example().scores, load_example().labeled
"""


def commands_of(text: str) -> list[tuple[str, list[str]]]:
    """The ``$ purecover ...`` lines of a page, each with the lines printed below it."""
    fenced = re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^\.\. code-block:: console\n\n((?:   .*\n|\n)+)", text, re.MULTILINE)
    found = []
    for block in [*fenced, *(re.sub(r"^   ", "", b, flags=re.MULTILINE) for b in indented)]:
        for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
            command, *expected = part.rstrip().split("\n")
            if command.startswith("purecover "):
                found.append((command, expected))
    return found


def code_of(text: str) -> list[str]:
    """The blocks of Python of a page that show no output."""
    fenced = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)", text, re.MULTILINE)
    blocks = [*fenced, *(re.sub(r"^   ", "", b, flags=re.MULTILINE) for b in indented)]
    return [block for block in blocks if ">>>" not in block]


def difference(printed: Sequence[str], expected: Sequence[str]) -> str:
    """A diff of what was printed from what a page says, empty where they agree.

    A line ``...`` of the page stands for any lines. A page that shows nothing agrees with
    everything.
    """
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line.rstrip()) + r"[ \t]*\n"
        for line in expected
    )
    said = "".join(f"{line.rstrip()}\n" for line in printed)
    if not expected or re.fullmatch(pattern, said):
        return ""
    return "\n".join(
        difflib.unified_diff(expected, said.splitlines(), "the page", "printed", lineterm="")
    )


def follow_python(text: str, name: str) -> list[str]:
    """Run the examples in Python of a page, in its order; what went wrong."""
    problems = []
    names: dict[str, object] = {}
    exec(PREPARED, names)  # noqa: S102 - the point of the exercise
    test = doctest.DocTestParser().get_doctest(text, names, name, name, 0)
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    if runner.run(test, out=said.write, clear_globs=False).failed:
        problems.append(said.getvalue())
    names |= test.globs
    for block in code_of(text):
        # Fewer replicates: of code without output, nobody compares digits.
        quick = re.sub(
            r"(?:evaluate|compare_priors)\(scores, labeled", r"\g<0>, n_resamples=50", block
        )
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(quick, name, "exec"), names)  # noqa: S102
        except Exception:  # noqa: BLE001 - whatever it is, the reader would meet it
            problems.append(f"{name}:\n{block}\n{traceback.format_exc()}")
    return problems


def inside(pages: Sequence[str]) -> int:
    """Follow the pages with the package of this interpreter."""
    import purecover

    home = Path(purecover.__file__).resolve()
    if not home.is_relative_to(Path(sys.prefix).resolve()):
        print(f"purecover was imported from {home}, which is not what was installed")
        return 1
    problems = [
        problem
        for page in pages
        for problem in follow_python(Path(page).read_text(encoding="utf-8"), Path(page).name)
    ]
    print("\n".join(problems), end="")
    return bool(problems)


class Stranger:
    """A folder with an environment, far from the repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.prefix = folder / "venv"
        self.problems: list[str] = []
        subprocess.run([sys.executable, "-m", "venv", self.prefix], check=True)
        kept = {name: value for name, value in os.environ.items() if "PYTHON" not in name}
        self.environment = kept | {
            "PATH": f"{self.prefix / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "MPLBACKEND": "Agg",
            "NO_COLOR": "1",
        }

    def run(
        self, *command: str | Path, desk: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, output and errors in one."""
        return subprocess.run(
            [self.prefix / "bin" / command[0], *command[1:]],
            cwd=desk or self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def install(self, requirement: str, title: str) -> None:
        """Install something, and print how long it took and how large all has become."""
        start, before = time.perf_counter(), os.times()
        done = self.run(
            "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", requirement
        )
        if done.returncode:
            sys.exit(f"pip install {requirement}\n{done.stdout}")
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
            done = self.run("python", "-X", "importtime", "-c", f"import {module}")
            found = re.findall(rf"\| +(\d+) \| {module}$", done.stdout, re.MULTILINE)
            times.append(int(found[-1]) / 1e6)
        return min(times)

    def step(self, title: str, printed: str, expected: Sequence[str] = (), code: int = 0) -> None:
        """Note what a page promised and did not keep."""
        found = difference(printed.splitlines(), expected)
        if code:
            found = f"ended with {code}:\n{printed}"
        if found:
            self.problems.append(f"{title}\n{found}")

    def follow(self, page: str) -> None:
        """Run the examples of a page."""
        text = (ROOT / page).read_text(encoding="utf-8")
        start = time.perf_counter()
        # Pages are followed at the same time, and may write files of one name.
        desk = self.folder / Path(page).stem
        desk.mkdir()
        copy = shutil.copy(ROOT / page, desk)
        done = self.run("python", "-I", __file__, "--inside", copy, desk=desk)
        self.step(page, done.stdout, code=done.returncode)
        commands = commands_of(text)
        for command, expected in commands:
            # Split as the shell would; the pages use no other part of it.
            arguments = shlex.split(command, comments=True)
            if not expected and arguments[1] in QUICK:
                arguments += ["--n-resamples", "20"]
            done = self.run(*arguments, desk=desk)
            self.step(f"{page}: $ {command}", done.stdout, expected, done.returncode)
        seconds = time.perf_counter() - start
        print(f"{page}: {len(commands)} commands and the examples in Python, {seconds:.0f} s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Install the wheel elsewhere, follow the pages.")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="the folder of the wheel")
    parser.add_argument("--inside", nargs="+", metavar="PAGE", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.inside:
        return inside(options.inside)
    wheels = sorted(options.dist.glob("purecover-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        sys.exit(f"no wheel in {options.dist}\nHint: make dist")
    wheel = wheels[-1].resolve()
    with tempfile.TemporaryDirectory(prefix="stranger-") as folder:
        stranger = Stranger(Path(folder).resolve())
        stranger.install(str(wheel), "pip install purecover")
        own, numpy = stranger.import_seconds("purecover"), stranger.import_seconds("numpy")
        print(f"import purecover: {own * 1e3:.1f} ms, {own / numpy:.0%} of import numpy")
        stranger.install(f"{wheel}[plot]", "pip install 'purecover[plot]'")
        with ThreadPoolExecutor(2) as pool:
            started = [pool.submit(stranger.follow, page) for page in PAGES]
        for each in started:
            each.result()  # raises what went wrong there
    if stranger.problems:
        print("\n\n".join(stranger.problems))
        return 1
    print("a stranger gets what the pages say")
    return 0


if __name__ == "__main__":
    sys.exit(main())
