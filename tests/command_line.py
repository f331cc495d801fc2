"""The command line called in this process, for the tests of all its commands."""

from __future__ import annotations

import copy
import json
import re
from typing import Any, NamedTuple

import duckdb
import pytest
from cyclopts import App
from cyclopts.argument import Argument, ArgumentCollection

from purecover.cli import main

# Who parses the arguments of a command makes its options of signatures anew each time, which takes
# as long as all else; a process that does one thing does not mind.
_assemble = App.assemble_argument_collection
_assembled: dict[tuple[Any, ...], tuple[App, ArgumentCollection]] = {}


def _assemble_once(app: App, **how: Any) -> ArgumentCollection:
    place = (id(app), *how.items())
    if place not in _assembled:
        _assembled[place] = app, _assemble(app, **how)  # kept: no other app gets the same id
    twins: dict[int, Argument] = {}

    def twin(argument: Argument) -> Argument:
        """A copy that nothing was typed for yet."""
        if id(argument) not in twins:
            made = twins[id(argument)] = copy.copy(argument)
            made.tokens = []
            made.children = ArgumentCollection(map(twin, argument.children))
        return twins[id(argument)]

    return ArgumentCollection(map(twin, _assembled[place][1]))


App.assemble_argument_collection = _assemble_once  # type: ignore[method-assign]

# So does an empty database. A new connection to an old one has the settings of a new one, and none
# of its tables, which are all temporary.
_connect = duckdb.connect
_databases: dict[tuple[Any, ...], Any] = {}


def _connect_again(name: str = ":default:", **options: Any) -> Any:
    config = options.get("config")
    if name != ":memory:" or config is None:
        return _connect(name, **options)
    place = tuple(sorted(config.items()))
    if place not in _databases:
        _databases[place] = _connect(name, **options)
    connection = _databases[place].cursor()
    connection.execute("RESET memory_limit")
    if "preserve_insertion_order" not in config:
        connection.execute("RESET preserve_insertion_order")
    return connection


duckdb.connect = _connect_again

PYTHON = re.compile(r"parameter of|The '")
"""What a message would say to a caller of the Python functions, but not to one of a command."""


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out, parse_constant=lambda token: pytest.fail(f"token {token}"))


def call_main(capsys: pytest.CaptureFixture[str], *argv: object) -> Result:
    """Run a command; whatever it says, it says it as commands should."""
    code = main([str(arg) for arg in argv])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    assert "internal error" not in err
    if code == 2:
        notes, error, _ = err.partition("purecover: error: ")
        assert error
        assert all(line.startswith("purecover: ") for line in notes.splitlines())
        assert out == ""
        assert PYTHON.search(err) is None, err
    return Result(code, out, err)
