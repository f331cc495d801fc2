"""Runs tests on mutants: a program of its own, which has not imported the package.

It loads the libraries that the package needs once and then works in copies of itself (forks). No
file is changed, so that tests on several mutants run side by side.

- *Warm*: one copy collects all tests with the unchanged package. For each mutant it makes a further
  copy, in which the changed functions get their mutated code; only the tests themselves take time.
- *Cold*: what runs when the module is imported (constants, defaults, decorators, classes) cannot be
  changed afterwards. Then the import of the module is answered with the mutated source.

``python -m studies._mutation_runner JOBS.json RESULTS.jsonl N`` reads mutants with their tests,
and appends a line per mutant as soon as its fate is known.
"""

from __future__ import annotations

import gc
import importlib
import importlib.machinery
import inspect
import json
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NoReturn

Job = dict[str, Any]

ROOT = Path(__file__).parents[1]
PRELOADED = (
    "joblib",
    "matplotlib",
    "narwhals",
    "numpy",
    "pandas",
    "pytest",
    "scipy.optimize",
    "scipy.special",
    "scipy.stats",
    "sklearn.calibration",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.mixture",
    "sklearn.model_selection",
    "sklearn.neighbors",
    "sklearn.neural_network",
    "sklearn.pipeline",
    "sklearn.preprocessing",
    "sklearn.tree",
)
OPTIONS = ("-q", "-s", "--assert=plain", "-pno:cacheprovider", "-pno:xdist", "-pno:cov", "-m", "")
MEMORY = 8 << 30
# Under load a machine is slow, but processor time stays what it is: that is what may run out.
CPU_FACTOR, CPU_EXTRA, WALL_FACTOR = 5.0, 30.0, 30.0
SURVIVED, KILLED, FAULT, NOT_LOADED = 0, 1, 2, 3
REASONS = {FAULT: "the run itself failed", NOT_LOADED: "the mutant was not loaded"}


def main(arguments: list[str]) -> int:
    """Read the jobs, run them side by side, write what became of each."""
    jobs = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    results, n_workers = Path(arguments[1]), int(arguments[2])
    for name in PRELOADED:
        importlib.import_module(name)
    if "purecover" in sys.modules:
        raise RuntimeError("the package must not be imported before the fork")
    os.chdir(ROOT)
    jobs = [job | {"swaps": list(_swaps(job))} for job in jobs]
    warm = [job for job in jobs if None not in job["swaps"] and not job["at_import"]]
    cold = [job for job in jobs if job not in warm]
    child = os.fork()
    if child == 0:
        session = _Session(lambda of: of.many(warm, results, n_workers))
        os._exit(_pytest(warm, session))
    os.waitpid(child, 0)
    _side_by_side(cold, _cold, results, n_workers)
    return 0


# -- side by side ---------------------------------------------------------------------------


def _side_by_side(
    jobs: list[Job], run: Callable[[Job, Path], int], results: Path, n_workers: int
) -> None:
    """Give each job a copy of this process, and write down how it ended."""
    waiting, running = list(jobs), list[_Copy]()
    with results.open("a", encoding="utf-8") as out:
        while waiting or running:
            while waiting and len(running) < n_workers:
                running.append(_Copy(waiting.pop(0), run))
            for copy in list(running):
                result = copy.result()
                if result is not None:
                    running.remove(copy)
                    out.write(json.dumps(result) + "\n")
                    out.flush()
            time.sleep(0.01)


class _Copy:
    """A copy of this process at work on one mutant."""

    def __init__(self, job: Job, run: Callable[[Job, Path], int]) -> None:
        self.job = job
        self.cpu = int(CPU_FACTOR * sum(job["tests"].values()) + CPU_EXTRA)
        self.began = time.monotonic()
        self.folder = tempfile.TemporaryDirectory()
        self.note = Path(self.folder.name) / "failed"
        self.pid = os.fork()
        if self.pid == 0:
            self._work(run)

    def _work(self, run: Callable[[Job, Path], int]) -> NoReturn:
        code = FAULT
        try:
            os.setsid()
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, 1)
            os.dup2(sink, 2)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            # The clock of a new process stands at zero.
            resource.setrlimit(resource.RLIMIT_CPU, (self.cpu, self.cpu + 5))
            code = run(self.job, self.note)
        finally:
            os._exit(code)

    def result(self) -> dict[str, Any] | None:
        """How the copy ended; None while it is at work."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        seconds = time.monotonic() - self.began
        if pid == 0 and seconds < WALL_FACTOR * self.cpu:
            return None
        if pid == 0:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            status = signal.SIGXCPU
        test = self.note.read_text(encoding="utf-8") if self.note.exists() else ""
        self.folder.cleanup()
        fate = self._fate(status)
        if fate == "error":
            test = REASONS.get(os.waitstatus_to_exitcode(status), test)
        return {"key": self.job["key"], "fate": fate, "test": test, "seconds": round(seconds, 2)}

    def _fate(self, status: int) -> str:
        if os.WIFSIGNALED(status):  # a crash is a kill
            return "timeout" if os.WTERMSIG(status) == signal.SIGXCPU else "killed"
        code = os.waitstatus_to_exitcode(status)
        if code == SURVIVED:
            return "survived" if self.job["tests"] else "no test"
        return "killed" if code == KILLED else "error"


# -- tests ----------------------------------------------------------------------------------


def _pytest(jobs: list[Job], session: _Session) -> int:
    import pytest

    names = {name for job in jobs for name in job["tests"]}
    files = sorted({name.partition("::")[0] for name in names})
    return int(pytest.main([*OPTIONS, *files], plugins=[session])) if files else SURVIVED


class _Session:
    """Takes over from pytest where the tests are collected."""

    def __init__(self, work: Callable[[_Session], Any]) -> None:
        self.work = work
        self.items: dict[str, Any] = {}
        self.note = Path()
        self.functions: dict[tuple[str, str, int], list[FunctionType]] = {}

    def pytest_runtestloop(self, session: Any) -> bool:
        """Called by pytest to run the tests."""
        self.items = {item.nodeid: item for item in session.items}
        self.work(self)
        return True

    def pytest_collectreport(self, report: Any) -> None:
        """Called by pytest for each file: one that cannot be loaded has found the fault."""
        if report.failed:
            self.note.write_text(report.nodeid, encoding="utf-8")
            os._exit(KILLED)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Called by pytest after each part of a test: the first failure is enough."""
        if report.failed:
            self.note.write_text(report.nodeid, encoding="utf-8")
            os._exit(KILLED)

    def many(self, jobs: list[Job], results: Path, n_workers: int) -> None:
        """Look up the functions of all mutated modules, wherever they are kept; then judge."""
        for path in {job["path"] for job in jobs if job["swaps"]}:
            name = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
            importlib.import_module(name.removesuffix(".__init__"))
        gc.collect()
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                self.functions.setdefault(_name(each.__code__), []).append(each)
        gc.freeze()  # copies share what they do not touch
        _side_by_side(jobs, self.warm, results, n_workers)

    def warm(self, job: Job, note: Path) -> int:
        """Give the functions their mutated code, and run the tests."""
        for old, new in job["swaps"]:
            found = self.functions.get(_name(old), [])
            if not found:
                return NOT_LOADED
            for function in found:
                function.__code__ = new
        return self.run(job, note)

    def run(self, job: Job, note: Path) -> int:
        """Run the tests of a job in their order, up to the first that fails."""
        self.note = note
        # A test that is gone since it was traced is one test less.
        items = [self.items[name] for name in job["tests"] if name in self.items]
        if job["tests"] and not items:
            return FAULT
        for item, following in zip(items, [*items, None][1:], strict=True):
            item.config._tmp_path_factory._basetemp = note.parent  # one folder per copy
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return SURVIVED


def _name(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


# -- mutation -------------------------------------------------------------------------------


def _cold(job: Job, note: Path) -> int:
    """From now on the module is loaded from the mutated source; run the tests."""
    target, loaded = str(ROOT / job["path"]), list[str]()
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: importlib.machinery.SourceFileLoader, name: str) -> CodeType | None:
        if str(self.path) != target:
            return original(self, name)
        loaded.append(name)
        return _compile(job["source"], target)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]
    codes = []
    session = _Session(lambda of: codes.append(of.run(job, note)))
    session.note = note
    _pytest([job], session)
    if job["tests"] and not loaded:
        return NOT_LOADED
    return codes[0] if codes else SURVIVED


def _swaps(job: Job) -> Iterator[tuple[CodeType, CodeType] | None]:
    """Pairs of unchanged and mutated code of functions; None for what runs at import."""
    if not job["source"]:
        return
    path = ROOT / job["path"]
    yield from _pairs(
        _compile(path.read_text(encoding="utf-8"), str(path)), _compile(job["source"], str(path))
    )


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType] | None]:
    """Compare two bodies of modules or classes."""
    inner = [[c for c in code.co_consts if isinstance(c, CodeType)] for code in (old, new)]
    if _own(old) != _own(new) or len(inner[0]) != len(inner[1]):
        yield None
        return
    for before, after in zip(*inner, strict=True):
        if before == after:
            continue
        if not before.co_flags & inspect.CO_OPTIMIZED:  # a class
            yield from _pairs(before, after)
        elif before.co_name.startswith("<") and before.co_name != "<lambda>":
            yield None  # a comprehension, run at once
        else:
            yield before, after


def _own(code: CodeType) -> tuple[bytes, tuple[str, ...], list[str]]:
    """What a body does itself, without the functions and classes in it."""
    constants = [repr(each) for each in code.co_consts if not isinstance(each, CodeType)]
    return code.co_code, code.co_names, constants


def _compile(source: str, path: str) -> CodeType:
    with warnings.catch_warnings():
        # "is" with a literal: no test is asked about the warning.
        warnings.simplefilter("ignore", SyntaxWarning)
        code: CodeType = compile(source, path, "exec", dont_inherit=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
