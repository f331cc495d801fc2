"""A small study in a process of its own, to be killed: ``python driver.py STORE JOBS``.

It trains nothing and measures little, so that a run takes a moment, and says on standard output
how far it is.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from purecover import ScoreCounts
from purecover.recovery import auc_pu
from purecover_paper import run as _run
from purecover_paper.design import Cell, Draw, StudySettings, cells
from purecover_paper.run import Problem, run_study
from purecover_paper.store import Record, Store

REPEATS = 20
SETTINGS = StudySettings()
MOMENT = 0.05  # of work, for a kill to fall into
run_cell: Callable[..., Any] = _run._run_cell


def problems() -> dict[str, Problem]:
    """Two toys that differ in size."""
    rng = np.random.default_rng(0)
    found = {}
    for name, n in (("one", 120), ("two", 200)):
        positive = rng.random(n) < 0.5
        features = rng.normal(size=(n, 2)) + positive[:, None]
        found[name] = Problem(features, positive, n_labeled=30)
    return found


def design(repeats: int = REPEATS) -> list[Cell]:
    return list(cells(["one", "two"], [1.0, 0.75], repeats, SETTINGS))


def score_at_once(X: Any, rows: Any, labeled: Any, *, random_state: Any, **_: Any) -> Any:
    """Scores that depend on rows, labels and seed, as those of networks do."""
    noise = [np.random.default_rng(seed).normal(size=rows.shape[1]) for seed in random_state]
    return X[rows].sum(axis=2) + 0.1 * labeled + noise


def measure_little(cell: Cell, drawn: Draw, scores: Any, traditional: Any) -> list[Record]:
    """A few true rows of a cell."""
    place = (cell.dataset, cell.beta, cell.repeat)
    return [
        Record(*place, "auc", method, "", "", auc_pu(ScoreCounts.from_scores(values, marks)))
        for method, values, marks in (
            ("observed", scores, drawn.labeled),
            ("same", scores, drawn.positive),
            ("traditional", traditional, drawn.positive),
        )
    ]


def run_little(cell: Cell, problem: Problem, keep_scores: bool) -> Any:
    """As in the study, in a worker that has loaded the package anew."""
    from purecover_paper import run as _run

    _run.bagged_scores_many = score_at_once  # type: ignore[assignment]
    run_cell.__globals__["measure"] = measure_little  # a copy of its own, as it came by value
    time.sleep(MOMENT)
    return run_cell(cell, problem, keep_scores)


def main(folder: str, jobs: str) -> None:
    _run._run_cell = run_little
    with Store(folder) as store:
        run_study(
            design(),
            store=store,
            data=problems(),
            n_jobs=int(jobs),
            on_progress=lambda done, total: print(done, total, flush=True),  # noqa: T201
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
