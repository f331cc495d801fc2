"""Which tests reach which line: one run of the tests under coverage, each with its own context."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[1]
OUT = ROOT / "benchmarks" / "out" / "mutation"

# The tests and doctests of recovery and estimation. Others reach the same lines but ask other
# questions (pages, command line, studies).
TESTS = (
    "src/purecover/recovery",
    "src/purecover/estimators",
    "src/purecover/priors.py",
    *(
        f"tests/test_{name}.py"
        for name in [
            "calibrated",
            "checks",
            "compare_scores",
            "engines",
            "error_rates",
            "errors",
            "estimators_alphamax",
            "estimators_assumptions",
            "estimators_common",
            "estimators_densities",
            "estimators_label_curve",
            "estimators_ratios",
            "estimators_reference",
            "estimators_rows",
            "estimators_wrappers",
            "evidence",
            "frozen",
            "intervals",
            "isotonic",
            "limits",
            "metrics_common",
            "priors",
            "probabilities",
            "quantifier",
            "ranking_metrics",
            "recovery",
            "recovery_bounds",
            "refusals",
            "scorers",
            "two_views",
        ]
    ),
)
MARKS = "not (needs_data or torch or browser or firefox or spark or dask)"
"""Slow tests are asked, too; not those that need what is not installed."""

AT_IMPORT = ""
SIGNATURES = "tests/test_frozen.py::test_signatures"


def environment() -> dict[str, str]:
    """How tests are run: this tree's sources, one thread each, examples that repeat themselves."""
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "HYPOTHESIS_PROFILE": "mutation",
        "COVERAGE_FILE": str(OUT / "trace.coverage"),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


def trace(tests: Sequence[str], jobs: int) -> None:
    """Run the tests under coverage; further tests are added to what is known already."""
    OUT.mkdir(parents=True, exist_ok=True)
    anew = list(tests) == list(TESTS)
    if anew:
        for old in OUT.glob("trace*"):
            old.unlink()
    number = len(list(OUT.glob("trace*.xml")))
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(jobs), "-p", "no:cacheprovider"]
    command += [
        "--cov=purecover.recovery",
        "--cov=purecover.estimators",
        "--cov=purecover.priors",
        "--cov-context=test",
        "--cov-report=",
    ]
    command += ["--cov-fail-under=0", "-m", MARKS]
    command += [f"--junitxml={OUT / f'trace{number:03}.xml'}", *([] if anew else ["--cov-append"])]
    subprocess.run([*command, *tests], cwd=ROOT, env=environment(), check=True)


class Reach:
    """Answers which tests reach a line, with the seconds each takes."""

    def __init__(self) -> None:
        from coverage import CoverageData

        self._data = CoverageData(basename=str(OUT / "trace.coverage"))
        self._data.read()
        self._lines: dict[str, dict[int, set[str]]] = {}
        self._trees: dict[str, ast.Module] = {}

    def tests(self, path: str, line: int, *, seconds: float) -> dict[str, float]:
        """The tests that reach the statement at a line, ``seconds`` in all.

        First come those that are short and reach little else: they ask about this statement.

        A statement that runs at import (a constant, a default, a decorator) is reached by the tests
        that run the function or class around it, or else anything of the module; and by the one
        of signatures.
        """
        found: set[str] = set()
        for first, last in self._places(path, line):
            found = self._within(path, first, last)
            if found != {AT_IMPORT}:
                break
        found.discard(AT_IMPORT)
        chosen: dict[str, float] = {}
        for name in sorted(found, key=lambda n: (self._seconds(n) * self._n_lines[n], n)):
            if sum(chosen.values()) + self._seconds(name) > seconds and chosen:
                break
            chosen[name] = self._seconds(name)
        if self.at_import(path, line):
            chosen[SIGNATURES] = self._seconds(SIGNATURES)
        return chosen

    def at_import(self, path: str, line: int) -> bool:
        """Whether the statement at a line also runs when modules are imported."""
        first, last = next(iter(self._places(path, line)))
        return AT_IMPORT in self._within(path, first, last)

    def _places(self, path: str, line: int) -> Iterable[tuple[int, int]]:
        """Ranges of lines around a line, from the statement outwards."""
        if path not in self._trees:
            self._trees[path] = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        around = [
            node
            for node in ast.walk(self._trees[path])
            if isinstance(node, ast.stmt) and _first(node) <= line <= (node.end_lineno or 0)
        ]
        around.sort(key=lambda node: (node.end_lineno or 0) - _first(node))
        for index, node in enumerate(around):
            body: list[Any] = getattr(node, "body", [])
            if index == 0 and body and line < body[0].lineno:  # the head of a compound statement
                yield _first(node), body[0].lineno - 1
            yield _first(node), node.end_lineno or 0
        yield 1, 1 << 30

    def _within(self, path: str, first: int, last: int) -> set[str]:
        if path not in self._lines:
            by_line = self._data.contexts_by_lineno(str(ROOT / path))
            self._lines[path] = {
                line: {test for context in contexts for test in self._of_context(context)}
                for line, contexts in by_line.items()
            }
        lines = self._lines[path]
        return set().union(*(lines[each] for each in lines if first <= each <= last))

    def _of_context(self, context: str) -> list[str]:
        """The test of a context; what runs in a fixture may be asked by any test of its file."""
        name, _, phase = context.rpartition("|")
        if not name:
            return [AT_IMPORT]
        return [name] if phase == "run" else self._files.get(name.partition("::")[0], [])

    @cached_property
    def _n_lines(self) -> Counter[str]:
        """How many lines each test reaches."""
        n_lines: Counter[str] = Counter()
        for file in self._data.measured_files():
            for contexts in self._data.contexts_by_lineno(file).values():
                n_lines.update(context.rpartition("|")[0] for context in contexts)
        return n_lines

    @cached_property
    def _files(self) -> dict[str, list[str]]:
        files: dict[str, list[str]] = {}
        for context in self._data.measured_contexts():
            name = context.rpartition("|")[0]
            if context.endswith("|run"):
                files.setdefault(name.partition("::")[0], []).append(name)
        return files

    def _seconds(self, name: str) -> float:
        return self._times.get(_address(name), 1.0)

    @cached_property
    def _times(self) -> dict[tuple[str, str], float]:
        times: dict[tuple[str, str], float] = {}
        for file in sorted(OUT.glob("trace*.xml")):
            # Written by our own run of pytest.
            for case in ET.parse(file).iter("testcase"):  # noqa: S314
                address = (case.get("classname", ""), case.get("name", ""))
                times[address] = float(case.get("time", 1.0))
        return times


def _first(node: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])


def _address(name: str) -> tuple[str, str]:
    """What pytest's junit file calls a test: the module and classes with dots, and the name."""
    head, bracket, parameters = name.partition("[")
    file, *names = head.split("::")
    dotted = re.sub(r"\.py$", "", file.replace("/", "."))
    return ".".join([dotted, *names[:-1]]), names[-1] + bracket + parameters
