"""Figures and signatures of the last release are still those of today.

A failure means that users' figures or calls change. If that is meant, run ``make freeze``, look at
the difference, and say in the changelog what changed and why.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.frozen_cases import CASES, result_of, same
from tests.frozen_signatures import signatures

HERE = Path(__file__).parent
KEPT: dict[str, list[Any]] = json.loads((HERE / "frozen_results.json").read_text(encoding="utf-8"))
MOST_SHOWN = 12
REMEDY = "run `make freeze`, read the difference of tests/frozen_results.json, and commit it"


def subject(name: str) -> str:
    """What a call is about: the estimator, the curve, the criterion."""
    return name.split(maxsplit=1)[0].lower()


SUBJECTS = sorted({subject(name) for name in CASES})
LONG = {
    "clustered", "msgmm", "label-curve", "reference", "gaussianmixtures", "pearson", "interval",
    "kernel-mean",
}  # fmt: skip
"""Fitted again and again, which takes seconds; "cautious" and "posterior" ask the default, too."""


def test_every_call_has_a_result() -> None:
    new, gone = set(CASES) - set(KEPT), set(KEPT) - set(CASES)
    assert not new, f"no result is kept of {sorted(new)}: {REMEDY}"
    assert not gone, f"results are kept that nothing gives: {sorted(gone)}: {REMEDY}"
    assert list(KEPT) == list(CASES), f"results stand in another order: {REMEDY}"


@pytest.mark.parametrize(
    "about",
    [pytest.param(each, marks=[pytest.mark.slow] if each in LONG else []) for each in SUBJECTS],
)
def test_results(about: str) -> None:
    failures = [
        difference for name in CASES if subject(name) == about for difference in differences(name)
    ]
    more = [f"... {len(failures)} differences in all"] if len(failures) > MOST_SHOWN else []
    told = [each[:300] for each in failures[:MOST_SHOWN]]
    assert not failures, "\n".join([*told, *more, f"If that is meant, {REMEDY}."])


def differences(name: str) -> list[str]:
    """How a call's result differs from the one that is kept."""
    if name not in KEPT:
        return [f"{name}: no result is kept"]
    found, kept = result_of(CASES[name]), KEPT[name]
    if len(found) != len(kept):
        return [f"{name}: {len(kept)} values before, {len(found)} now: {list(found)}"]
    return [
        f"{name}: {place} was {before} and is {now}"
        for (place, now), before in zip(found.items(), kept, strict=True)
        if not same(now, before)
    ]


def test_signatures() -> None:
    kept = (HERE / "frozen_signatures.txt").read_text(encoding="utf-8").splitlines()
    assert signatures() == kept, "If that is meant, run `make freeze`."


def test_freezing_again_keeps_digits_that_only_a_machine_changes(import_tool: Any) -> None:
    kept, near = import_tool("freeze").kept, 0.1 + 1e-12
    assert kept([0.1, 2.0, "x", None], [near, 3.0, "x", None], same) == [0.1, 3.0, "x", None]
    assert kept([0.1], [near, 3.0], same) == [near, 3.0]  # other values altogether
    assert kept(None, [1.0], same) == [1.0]
