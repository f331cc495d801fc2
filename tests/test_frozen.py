"""Figures and signatures are those of the last release.

A failure means that users' figures or calls change. If that is meant, run ``make freeze``, look at
the difference, and say in the changelog what changed and why.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.frozen_figures import FIGURES, compute, same
from tests.frozen_signatures import signatures

HERE = Path(__file__).parent
KEPT: dict[str, Any] = json.loads((HERE / "frozen.json").read_text(encoding="utf-8"))


def test_every_figure_is_kept() -> None:
    assert list(KEPT) == list(FIGURES), "run `make freeze`"


@pytest.mark.parametrize("name", FIGURES)
def test_figure(name: str) -> None:
    found = compute(name)
    assert same(found, KEPT[name]), f"{found} instead of {KEPT[name]}"


def test_signatures() -> None:
    kept = (HERE / "frozen_signatures.txt").read_text(encoding="utf-8").splitlines()
    now = set(signatures())
    gone = [line for line in kept if line not in now]
    assert not gone, "These calls no longer work as before. If that is meant, run `make freeze`."
