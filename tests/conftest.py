from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import fields
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests.browsing import chromium

from purecover.counts import ScoreCounts
from purecover.estimators import label_curve

# No deadlines: tests do not judge speed. Slow draws are as welcome as quick ones.
_common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples each time, on every machine: no examples remembered from an earlier run.
settings.register_profile("default", _common, max_examples=20, derandomize=True, database=None)
# `make fuzz`: new examples each time; what it finds becomes an `@example` or a test of its own.
settings.register_profile("fuzz", _common, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--renew`` writes the golden files anew."""
    parser.addoption("--renew", action="store_true", help="write the golden files anew")


@pytest.fixture(scope="module")
def browser() -> Generator[Any, None, None]:
    with chromium() as opened:
        yield opened


FOUND_ANEW = {"test_estimators_label_curve", "test_estimators_reference", "test_frozen"}


@pytest.fixture(scope="module", autouse=True)
def _label_curves_solved_once(request: pytest.FixtureRequest) -> Generator[None, None, None]:
    """Reports of the same scores need the same label curve, a tenth of a second each.

    Where it is the subject, it is solved each time.
    """
    with pytest.MonkeyPatch.context() as patch:
        if request.path.stem not in FOUND_ANEW:
            patch.setattr(label_curve, "_solve", _solve_once)
        yield


_SOLVED: dict[bytes, label_curve.Posterior] = {}
_solve = label_curve._solve


def _solve_once(counts: ScoreCounts, clean: str) -> label_curve.Posterior:
    digest = sha256(clean.encode())
    for each in fields(counts):
        column = getattr(counts, each.name)
        digest.update(each.name.encode())
        digest.update(b"" if column is None else column.dtype.str.encode() + column.tobytes())
    if digest.digest() not in _SOLVED:
        if len(_SOLVED) >= 1000:  # each takes about a megabyte, and `make fuzz` needs 10^5
            _SOLVED.clear()
        _SOLVED[digest.digest()] = _solve(counts, clean)
    return _SOLVED[digest.digest()]
