"""The command line called in this process, for the tests of all its commands."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, NamedTuple

import pytest
from cyclopts.argument import _collection

from purecover.cli import main

# Who parses the arguments of a command finds the groups of its options anew each time, which takes
# as long as all else; a process that does one thing does not mind.
_collection._resolve_groups_from_callable = cache(_collection._resolve_groups_from_callable)

PYTHON = re.compile(
    r"parameter of|The '|\(type |\w+_\w+=|n_resamples|random_state|_label\b|_guess\b"
)
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
