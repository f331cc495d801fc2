"""The reference: a page for each namespace of the package, made of what the namespace offers.

A name that is added to an ``__init__.pyi`` is on its page, and so are the classes without a public
name that its functions return; nothing is listed twice.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import purecover


def namespaces() -> dict[str, ModuleType]:
    """The public namespaces by name."""
    found = {name: getattr(purecover, name) for name in dir(purecover)}
    return {name: value for name, value in found.items() if isinstance(value, ModuleType)}


def named() -> dict[str, Any]:
    """Every public name that is not a namespace, under its last part."""
    found = {name: getattr(purecover, name) for name in dir(purecover)}
    for module in namespaces().values():
        found |= {name: getattr(module, name) for name in module.__all__}
    return {name: each for name, each in found.items() if not isinstance(each, ModuleType)}


@cache
def results() -> dict[str, type]:
    """Classes without a public name that public functions return, and what these consist of."""
    public = list(named().values())
    found: dict[str, type] = {}
    waiting = list(public)
    while waiting:
        for kind in _mentioned(waiting.pop()):
            home = kind.__module__.split(".")
            private = any(part.startswith("_") for part in (*home, kind.__name__))
            if home[0] == "purecover" and not private and inspect.getdoc(kind):
                if kind not in public and kind.__name__ not in found and _is_result(kind):
                    found[kind.__name__] = kind
                    waiting.append(kind)
    return dict(sorted(found.items()))


def _is_result(kind: type) -> bool:
    return "Attributes\n---" in (inspect.getdoc(kind) or "")


def _mentioned(thing: Any) -> Iterator[type]:
    """Classes that the annotation of what a function returns, or of an attribute, names."""
    if isinstance(thing, Mapping):
        yield from {type(value) for value in thing.values()}
    words: list[tuple[str, str]] = []
    if inspect.isclass(thing):
        for base in thing.__mro__:
            own = [value for name, value in vars(base).items() if not name.startswith("_")]
            calls = [getattr(value, "fget", getattr(value, "func", value)) for value in own]
            fields = vars(base).get("__annotations__", {})
            for name, words_of in fields.items():
                if not name.startswith("_"):
                    words.append((base.__module__, str(words_of)))
            words += [_returned(getattr(call, "__func__", call)) for call in calls]
    else:
        words.append(_returned(thing))
    for module, text in words:
        around = vars(sys.modules[module]) if module in sys.modules else {}
        for word in re.findall(r"\w+", text):
            if inspect.isclass(around.get(word)):
                yield around[word]


def _returned(call: Any) -> tuple[str, str]:
    annotations = getattr(call, "__annotations__", None) or {}
    return getattr(call, "__module__", None) or "", str(annotations.get("return", ""))


CLASS = """\
   :members:
   :inherited-members: object, ABC, BaseException, BaseEstimator, Parametrized, Parameters, Mapping
   :special-members: __add__, __call__
   :exclude-members: get_metadata_routing
"""
TABLES = {"METRICS": ".. metric-table::", "CHECKS": ".. check-table::"}


def entry(name: str, thing: Any) -> str:
    """The section of one name."""
    title = name.rpartition(".")[2]
    lines = [title, "-" * len(title), ""]
    if title != name:  # its module is no namespace
        lines += [f".. currentmodule:: {thing.__module__}", ""]
    if inspect.isclass(thing):
        kind = "exception" if issubclass(thing, BaseException) else "class"
        lines += [f".. auto{kind}:: {title}", CLASS]
    elif callable(thing):
        lines += [f".. autofunction:: {name}", ""]
    else:
        lines += [f".. autodata:: {name}", "   :no-value:", "", TABLES.get(title, ""), ""]
    return "\n".join(lines)


def listed(title: str, intro: str, module: str, things: Mapping[str, Any]) -> str:
    """A page: a table of its names, and a section for each."""
    lines = [title, "=" * len(title), "", intro, "", f".. currentmodule:: {module}", ""]
    lines += [".. autosummary::", "", *(f"   ~{name}" for name in things), ""]
    return "\n".join(lines + [entry(name, thing) for name, thing in things.items()])


def page(namespace: str, module: ModuleType) -> str:
    """Title, what the namespace is for, its names in the order in which they are defined, results.

    What the top of the package offers as well is on the page of the top.
    """
    title = f"purecover.{namespace}"
    things = {n: getattr(module, n) for n in module.__all__ if n not in dir(purecover)}
    for name, kind in results().items():
        if kind.__module__.startswith(f"{title}."):
            things[f"{kind.__module__.removeprefix(f'{title}.')}.{name}"] = kind
    return listed(title, (module.__doc__ or "").strip(), title, things)


def core() -> str:
    """The page of the top of the package."""
    top = {name: getattr(purecover, name) for name in dir(purecover)}
    things = {name: each for name, each in top.items() if not isinstance(each, ModuleType)}
    things |= {
        "example.ExampleScores": results()["ExampleScores"],
        "counts.PURoc": results()["PURoc"],
        "scorers.PUScorer": purecover.scorers.PUScorer,
    }
    return listed("purecover", "Names at the top of the package.", "purecover", things)


def write(folder: Path) -> None:
    """Write the pages that differ from those in the folder."""
    pages = {name: page(name, module) for name, module in namespaces().items()}
    for name, text in (pages | {"core": core()}).items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
