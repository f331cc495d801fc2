"""Change one operator or number at a time, and print the changes that no fast test notices.

Nothing is changed on the disk: a change is made in a process that begins with all tests collected.
It runs the tests that run the changed line, those that run little else first, until one fails or
hangs. Tests that compare with kept output (``UNHEARD``) do not count.
"""

from __future__ import annotations

import argparse
import ast
import gc
import itertools
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import coverage
import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = [ROOT / "src/purecover" / name
           for name in ("recovery", "intervals", "audit", "estimators", "engines")]  # fmt: skip
UNHEARD = [
    "add_estimator", "app", "app_browser", "app_limits", "architecture", "cli_process",
    "compare_lazy", "distributed", "documentation", "frames", "frozen", "fuzz_cli", "golden",
    "html", "html_browser", "imports", "pages", "pictures", "public_api",
    "reality", "repository", "saved", "studies", "words",
]  # fmt: skip
"""Subjects of test files that compare with kept output, run other processes, or start threads of
an engine when they are collected, which forked processes then wait for."""
MOST_SECONDS = 60
"""Of the tests for one change, by what they take without it."""
LEAST = 1e-6
"""Smaller numbers only keep divisors from 0."""
PAIRS = (
    "Lt LtE, Gt GtE, Eq NotEq, Is IsNot, In NotIn, Add Sub, Mult Div, BitAnd BitOr, And Or, "
    "LtE Lt, GtE Gt, NotEq Eq, IsNot Is, NotIn In, Sub Add, Div Mult, BitOr BitAnd, Or And, "
    "Pow Mult, Mod Mult, FloorDiv Mult"
)
SWAPPED: Any = dict([getattr(ast, each) for each in pair.split()] for pair in PAIRS.split(","))


def change(node: Any) -> tuple[str, Any] | None:
    """Return the name and another value of an attribute of a node, if it can be changed."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        value, kind = node.value, type(node.value)
        other = 1 - value if value in (0, 1) else value * 1.5 if kind is float else value + 1
        return ("value", kind(other)) if value == 0 or value >= LEAST else None
    if isinstance(node, ast.UnaryOp):  # twice is not at all
        return "operand", ast.UnaryOp(node.op, node.operand)
    if isinstance(node, ast.Compare):
        return "ops", [SWAPPED[type(node.ops[0])](), *node.ops[1:]]
    other = SWAPPED.get(type(getattr(node, "op", None)))
    return other and ("op", other())


def parts(node: Any) -> Iterator[Any]:
    """Walk through what may change a figure: constants of modules, and bodies of functions."""
    yield node
    inner = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        kinds = ast.FunctionDef if isinstance(node, ast.ClassDef) else ast.stmt
        inner = [each for each in node.body if isinstance(each, kinds)]
    elif isinstance(node, ast.AnnAssign):
        inner = [node.value] if node.value else []
    for each in inner:
        # Messages are no figures, nor are checks of lengths.
        if not isinstance(each, ast.Raise | ast.JoinedStr) and getattr(each, "arg", "") != "strict":
            yield from parts(each)


class Mutation:
    """A node of a statement of a file that can be changed."""

    def __init__(self, file: Path, tree: ast.Module, statement: ast.stmt, node: Any) -> None:
        self.file, self.tree, self.statement, self.node = str(file), tree, statement, node
        self.lines = set(range(node.lineno, node.end_lineno + 1))
        words, before = ast.unparse(node), dict(vars(node))
        self.swap()
        self.words = f"{file.relative_to(ROOT)}:{node.lineno}: {words} -> {ast.unparse(node)}"
        vars(node).update(before)

    def swap(self) -> None:
        """Change the node."""
        setattr(self.node, *(change(self.node) or ()))

    def apply(self) -> None:
        """Change the code of all functions of the file, or a constant wherever it is known."""
        self.swap()
        ast.fix_missing_locations(self.tree)
        todo, codes = [compile(self.tree, self.file, "exec")], {}
        while todo:
            inner = [each for each in todo.pop().co_consts if isinstance(each, CodeType)]
            codes.update({_key(each): each for each in inner})
            todo += inner
        gc.unfreeze()  # or they are not listed
        for each in gc.get_objects():
            if type(each) is FunctionType and each.__code__.co_filename == self.file:
                each.__code__ = codes[_key(each.__code__)]
        modules = [vars(each) for each in sys.modules.values() if hasattr(each, "__dict__")]
        owner = next(each for each in modules if each.get("__file__") == self.file)
        new: dict[str, Any] = {}
        for statement in self.tree.body:
            names = {each.id for each in ast.walk(statement) if isinstance(each, ast.Name)}
            if isinstance(statement, ast.Assign | ast.AnnAssign) and (
                statement is self.statement or names & {*new}
            ):
                before = dict(owner)
                code = compile(ast.Module([statement], []), self.file, "exec")
                exec(code, owner)  # noqa: S102 - our own
                new |= {name: now for name, now in owner.items() if before.get(name) is not now}
                for module in modules:
                    known = {name for name in new if name in before} & {*module}
                    module.update({n: new[n] for n in known if module[n] is before[n]})


def _key(code: CodeType) -> tuple[str, int, int]:
    columns = (each[2] or 0 for each in code.co_positions() if each[0] == code.co_firstlineno)
    return code.co_qualname, code.co_firstlineno, max(columns, default=0)


def mutations() -> list[Mutation]:
    """Return all mutations."""
    files = sorted(path for folder in FOLDERS for path in folder.glob("*.py"))
    trees = [(file, ast.parse(file.read_bytes())) for file in files]
    return [
        Mutation(file, tree, statement, node)
        for file, tree in trees for statement in tree.body for node in parts(statement)
        if change(node)
    ]  # fmt: skip


def succeeds(call: Callable[[], bool], seconds: int) -> bool:
    """Make a call in a process of its own; false if that hangs or breaks off."""
    if not (child := os.fork()):
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            signal.alarm(10 * seconds)
            os._exit(not call())
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


class Mutate:
    """Takes the place of running the tests that were collected."""

    def __init__(self, args: argparse.Namespace, out: Any) -> None:
        self.args, self.out = args, out
        self.context: Callable[[str], object] = len

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Lines belong to the test that runs; those of its fixtures to all tests of the file."""
        self.context(item.nodeid)
        try:
            return (yield)
        finally:
            self.context(item.location[0])

    def passing(self, items: list[pytest.Item]) -> Iterator[tuple[str, float]]:
        """Run tests, and yield those that pass, with their seconds."""
        for item, following in zip(items, [*items[1:], None], strict=True):
            self.context(item.location[0])
            start, failed = time.process_time(), item.session.testsfailed
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if item.session.testsfailed == failed:
                yield item.nodeid, time.process_time() - start

    def survives(self, mutation: Mutation, tests: list[pytest.Item]) -> bool:
        """Change the code, and return whether all of these tests pass."""
        mutation.apply()
        passing = self.passing(tests)
        return all(next(passing, ("", 0))[0] == test.nodeid for test in tests)

    def record(self, items: list[pytest.Item], to: Path) -> bool:
        """Write the seconds of tests that pass, and by file which tests run each line."""
        watch = coverage.Coverage(
            None, include=[f"{each}/*" for each in FOLDERS], config_file=False
        )
        watch.start()
        self.context = watch.switch_context
        seconds = dict(self.passing(items))
        watch.stop()
        data = watch.get_data()
        lines = {file: data.contexts_by_lineno(file) for file in data.measured_files()}
        return to.write_text(json.dumps([seconds, lines])) > 0

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Record all tests, then try the mutations."""
        with tempfile.TemporaryDirectory() as folder:
            recorded = Path(folder) / "recorded.json"
            succeeds(lambda: self.record(session.items, recorded), 3600)
            seconds, lines = json.loads(recorded.read_text())
        sizes = Counter(test for ran in lines.values() for tests in ran.values() for test in tests)

        def chosen(mutation: Mutation) -> list[pytest.Item]:
            ran = lines.get(mutation.file, {})
            # A constant is read by any line.
            here = {test for line in mutation.lines for test in ran.get(str(line), ())}
            here = here or {test for tests in ran.values() for test in tests}
            tests = [
                each for each in session.items
                if each.nodeid in seconds and {each.nodeid, each.location[0]} & here
            ]  # fmt: skip
            tests.sort(key=lambda each: sizes[each.nodeid])
            spent = itertools.accumulate(seconds[each.nodeid] for each in tests)
            tests = [
                each for each, so_far in zip(tests, spent, strict=True) if so_far < MOST_SECONDS
            ]
            files = list(dict.fromkeys(each.location[0] for each in tests))  # they share fixtures
            return sorted(tests, key=lambda each: files.index(each.location[0]))

        tried = [each for each in mutations() if self.args.at in each.words]
        tried = random.Random(self.args.seed).sample(tried, min(self.args.n, len(tried)))  # noqa: S311
        survived = 0
        for each in tried:
            tests = chosen(each)
            if succeeds(lambda: self.survives(each, tests), 2 * MOST_SECONDS):  # noqa: B023 - at once
                survived += 1
                print(f"{each.words} ({len(tests)} tests)", file=self.out, flush=True)
        print(f"{survived} of {len(tried)} survive", file=self.out, flush=True)
        return True


def main() -> int:
    """Try a sample of the mutations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100, help="how many, at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--at", default="", help="only there, e.g. engines/bins.py:130:")
    args = parser.parse_args()
    os.chdir(ROOT)
    files = sorted(str(path) for path in Path("tests").glob("test_*.py"))
    files = [each for each in files if Path(each).stem[5:] not in UNHEARD]
    plugin = Mutate(args, os.fdopen(os.dup(1), "w"))
    os.dup2(2, 1)  # what pytest prints
    return int(pytest.main(["-p", "no:cacheprovider", *files], plugins=[plugin]))


if __name__ == "__main__":
    sys.exit(main())
