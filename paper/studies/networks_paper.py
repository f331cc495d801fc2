"""The bagged networks on the paper's problems: AUC of labeled against unlabeled, beside Table 1's.

Twelve data sets, three shares beta of positives among the labeled, and some repetitions each; all
repetitions of a problem are trained at once where there is a CUDA card. Needs the data sets in the
folder that ``PURECOVER_DATA`` names.

``python paper/studies/networks_paper.py`` ends with a failure if fewer than 30 of the 36 means are
within 0.02 of the paper's or above.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

import purecover as pu
from purecover_paper.datasets import DATASETS, load_paper_data
from purecover_paper.design import BETAS, Cell, draw
from purecover_paper.networks import bagged_scores_many

WITHIN = 0.02
ROWS_WANTED = 30


@dataclass(frozen=True)
class Problem:
    """The repetitions of a row of the paper's table."""

    data: str
    beta: float
    features: NDArray[Any]
    rows: NDArray[np.int64]
    labeled: NDArray[np.bool_]
    printed: float


def printed_aucs() -> dict[tuple[str, float], float]:
    """AUC of labeled against unlabeled in the paper's Table 1, by data set and beta."""
    file = resources.files("purecover_paper") / "data" / "table1.csv"
    with file.open(encoding="ascii") as lines:
        return {
            (row["dataset"].lower(), float(row["beta"])): float(row["auc_pu"])
            for row in csv.DictReader(lines)
        }


def problems(repetitions: int) -> list[Problem]:
    """All 36, with rows drawn for each repetition."""
    paper, found = printed_aucs(), []
    for name, about in sorted(DATASETS.items()):
        data = load_paper_data(name)
        for beta in BETAS:
            draws = [
                draw(Cell(name, beta, i), data.positive, about.n_labeled)
                for i in range(repetitions)
            ]
            rows = np.array([each.rows for each in draws])
            labeled = np.array([each.labeled for each in draws])
            found.append(Problem(name, beta, data.features, rows, labeled, paper[name, beta]))
    return found


def main() -> int:
    """Train, and print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--networks", type=int, default=100, help="networks of an ensemble")
    parser.add_argument("--device", default="auto", help="as of BaggedNetworks")
    parser.add_argument("--jobs", type=int, default=1, help="threads of a CPU")
    asked = parser.parse_args()
    good, given = 0, problems(asked.repetitions)
    print("| data set | beta | rows | AUC of L against U | sd | paper | difference |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    start = time.perf_counter()
    for index, problem in enumerate(given):
        scores = bagged_scores_many(
            problem.features,
            problem.rows,
            problem.labeled,
            n_estimators=asked.networks,
            device=asked.device,
            n_jobs=asked.jobs,
            random_state=index,
        )
        aucs = [
            pu.recovery.auc_pu(pu.ScoreCounts.from_scores(s, y))
            for s, y in zip(scores, problem.labeled, strict=True)
        ]
        difference = float(np.mean(aucs)) - problem.printed
        good += difference >= -WITHIN
        print(
            f"| {problem.data} | {problem.beta:g} | {problem.rows.shape[1]} | {np.mean(aucs):.3f} "
            f"| {np.std(aucs):.3f} | {problem.printed:.3f} | {difference:+.3f} |",
            flush=True,
        )
    seconds = time.perf_counter() - start
    print(
        f"\n{good} of {len(given)} rows within {WITHIN} of the paper or above; "
        f"{len(given) * asked.repetitions:,} ensembles in {seconds:.1f} s."
    )
    return 0 if good >= ROWS_WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
