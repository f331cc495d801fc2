"""Mutants of the package: all that cosmic-ray makes, and a seeded sample of them.

A mutant is the source of one module with one small change: ``+`` for ``-``, ``<=`` for ``<``, 2 for
1, a condition negated, a decorator left out. Three kinds are not worth a run and are only counted
(`Dropped`): changes of annotations, which no program evaluates here; arithmetic replaced by
shifts and bit operations, which numbers with a fraction refuse at once, so that they would only
flatter the tests; and changes that are no Python any more.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
MUTATED = ("recovery/*.py", "estimators/*.py", "priors.py")
ARITHMETIC = ("Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow")
BITS = ("RShift", "LShift", "BitOr", "BitAnd", "BitXor")


@dataclass(frozen=True, order=True)
class Candidate:
    """A change that could be made: the ``occurrence``-th place of ``operator`` in ``path``."""

    path: str
    operator: str
    occurrence: int
    line: int
    column: int


@dataclass(frozen=True)
class Mutant:
    """A change that was drawn: the line before and after it, and the whole mutated source."""

    key: str
    path: str
    operator: str
    occurrence: int
    line: int
    before: str
    after: str
    source: str

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass
class Dropped:
    """How many changes were left out, by reason."""

    annotations: int = 0
    bits: int = 0
    not_python: int = 0


def modules() -> list[str]:
    """The mutated modules, relative to the repository."""
    found = {unit: list((ROOT / "src" / "purecover").glob(unit)) for unit in MUTATED}
    if missing := [unit for unit, paths in found.items() if not paths]:
        raise FileNotFoundError(f"no {missing} in src/purecover: mend MUTATED")
    return sorted(str(p.relative_to(ROOT)) for paths in found.values() for p in paths)


def all_candidates(paths: Sequence[str]) -> tuple[list[Candidate], Dropped]:
    """Every change of cosmic-ray in ``paths`` that is worth a run, as far as can be told unseen."""
    from cosmic_ray.ast import ast_nodes, get_ast

    operators = _operators()
    dropped, kept = Dropped(), []
    for path in paths:
        source = (ROOT / path).read_text(encoding="utf-8")
        annotated = _annotations(source)
        nodes = [
            node
            for node in ast_nodes(get_ast(source))
            # Names and texts are the bulk of a module, and no operator looks at them.
            if node.type not in {"name", "string", "newline", "endmarker"}
        ]
        for name, operator in operators.items():
            positions = (start for node in nodes for start, _ in operator.mutation_positions(node))
            for occurrence, (line, column) in enumerate(positions):
                if any(first <= (line, column) < last for first, last in annotated):
                    dropped.annotations += 1
                elif _is_bits(name):
                    dropped.bits += 1
                else:
                    kept.append(Candidate(path, name, occurrence, line, column))
    return kept, dropped


def draw(candidates: Sequence[Candidate], size: int, seed: int, dropped: Dropped) -> list[Mutant]:
    """A sample of ``size`` mutants, from each module in proportion to its candidates.

    Places left over by rounding go to the largest remainders. A candidate that is no Python is
    replaced by the next one of its module, and counted.
    """
    groups: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates):
        groups.setdefault(candidate.path, []).append(candidate)
    rng = np.random.default_rng(seed)
    shares = np.array([len(group) for group in groups.values()]) * size / len(candidates)
    sizes = np.floor(shares).astype(int)
    sizes[np.argsort(sizes - shares, kind="stable")[: size - sizes.sum()]] += 1
    drawn: list[Mutant] = []
    for group, n_wanted in zip(groups.values(), sizes, strict=True):
        made = _make(group, rng.permutation(len(group)).tolist(), dropped)
        drawn.extend(mutant for mutant, _ in zip(made, range(n_wanted), strict=False))
    return drawn


def family(operator: str) -> str:
    """What kind of change an operator makes, in words."""
    name = operator.removeprefix("core/")
    for start, words in {
        "ReplaceBinaryOperator": "arithmetic operator",
        "ReplaceComparisonOperator": "comparison",
        "ReplaceUnaryOperator": "sign, `not` or `~`",
        "NumberReplacer": "number one more or less",
        "AddNot": "condition negated",
        "RemoveDecorator": "decorator left out",
        "ZeroIterationForLoop": "loop over nothing",
    }.items():
        if name.startswith(start):
            return words
    return "`True`, `and`, `break`, exception"


def _make(group: Sequence[Candidate], order: Sequence[int], dropped: Dropped) -> Iterator[Mutant]:
    from cosmic_ray.mutating import mutate_code

    for index in order:
        candidate = group[index]
        source = (ROOT / candidate.path).read_text(encoding="utf-8")
        changed = mutate_code(source, _operators()[candidate.operator], candidate.occurrence)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                compile(changed, candidate.path, "exec", dont_inherit=True)
        except SyntaxError:
            dropped.not_python += 1
            continue
        before, after = _difference(source, changed, candidate.line)
        yield Mutant(
            key=_key(candidate, source, before, after),
            path=candidate.path,
            operator=candidate.operator,
            occurrence=candidate.occurrence,
            line=candidate.line,
            before=before,
            after=after,
            source=changed,
        )


def _key(candidate: Candidate, source: str, before: str, after: str) -> str:
    """A name that survives edits elsewhere in the module: the notes on survivors use it."""
    lines = ["", *source.splitlines(), ""]
    around = (lines[candidate.line - 1].strip(), lines[candidate.line + 1].strip())
    parts = (candidate.path, candidate.operator, str(candidate.column), before, after, *around)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:10]


def _difference(source: str, changed: str, line: int) -> tuple[str, str]:
    """The first changed line before and after (a decorator left out has no line after)."""
    old, new = source.splitlines(), changed.splitlines()
    if len(old) != len(new):
        return old[line - 1].strip(), ""
    pairs = ((a.strip(), b.strip()) for a, b in zip(old, new, strict=True) if a != b)
    return next(pairs, (old[line - 1].strip(), old[line - 1].strip()))


@functools.cache
def _operators() -> dict[str, Any]:
    """The operators of cosmic-ray that need no settings, by name."""
    from cosmic_ray import plugins

    classes = {name: plugins.get_operator(name) for name in plugins.operator_names()}
    return {name: each() for name, each in classes.items() if not each.arguments()}


def _is_bits(operator: str) -> bool:
    _, _, pair = operator.partition("ReplaceBinaryOperator_")
    old, _, new = pair.partition("_")
    return old in ARITHMETIC and new in BITS


def _annotations(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations begin and end; ``from __future__ import annotations`` leaves them texts."""
    found: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.arg | ast.AnnAssign):
            found.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node.returns)
    return [
        ((each.lineno, each.col_offset), (each.end_lineno or 0, each.end_col_offset or 0))
        for each in found
        if each is not None
    ]
