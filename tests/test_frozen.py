"""Figures and signatures of the last release are still those of today.

A failure means that users' figures or calls change. If that is meant, run ``make freeze``, look at
the difference, and say in the changelog what changed and why.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.frozen_cases import CASES, result_of
from tests.frozen_signatures import signatures

HERE = Path(__file__).parent
KEPT: dict[str, list[Any]] = json.loads((HERE / "frozen_results.json").read_text(encoding="utf-8"))
# Machines differ in the last digits; tests with the oldest dependencies agreed to twelve.
RELATIVE, ABSOLUTE = 1e-7, 1e-9


def same(found: Any, kept: Any) -> bool:
    if isinstance(found, float) and isinstance(kept, float):
        return math.isclose(found, kept, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return bool(found == kept)


def test_every_call_has_a_result() -> None:
    assert list(KEPT) == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_results(name: str) -> None:
    found, kept = result_of(CASES[name]), KEPT[name]
    assert len(found) == len(kept), f"{name}: {list(found)}"
    changed = {
        place: (before, now)
        for (place, now), before in zip(found.items(), kept, strict=True)
        if not same(now, before)
    }
    assert not changed, f"{name}: what is there, before and now: {changed}"


def test_signatures() -> None:
    kept = (HERE / "frozen_signatures.txt").read_text(encoding="utf-8").splitlines()
    assert signatures() == kept
