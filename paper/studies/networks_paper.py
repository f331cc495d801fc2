"""The bagged networks on the paper's problems: AUC of labeled against unlabeled, beside Table 1's.

Twelve data sets, three shares beta of positives among the labeled, and some repetitions each; all
repetitions of a problem are trained at once where there is a CUDA card. On a card the table also
says how long all took, data transfer included, and what part of the card's arithmetic that is.
Needs the data sets in the folder that ``PURECOVER_DATA`` names.

``python -m benchmarks.networks_paper`` ends with a failure if fewer than 30 of the 36 means are
within 0.02 of the paper's or above.
"""

from __future__ import annotations

import csv
import sys
import time
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import _real
from benchmarks._common import arguments, conclude, progress, publish, table
from numpy.typing import NDArray

from purecover import ScoreCounts
from purecover.models.networks import bagged_scores_many, check_device
from purecover.models.training import PRESETS
from purecover.paper import load_paper_data
from purecover.recovery import auc_pu

WITHIN = 0.02
ROWS_WANTED = 30
SECONDS_WANTED = 30.0
FULL = 50
"""Repetitions of the paper."""


@dataclass(frozen=True)
class Problem:
    """The repetitions of a row of the paper's table."""

    data: str
    beta: float
    features: NDArray[Any]
    rows: NDArray[np.int64]
    labeled: NDArray[np.bool_]
    printed: float


def printed() -> dict[tuple[str, float], float]:
    """AUC of labeled against unlabeled in the paper's Table 1, by data set and beta."""
    file = resources.files("purecover.data") / "table1.csv"
    with file.open(encoding="ascii") as lines:
        return {
            (row["dataset"].lower(), float(row["beta"])): float(row["auc_pu"])
            for row in csv.DictReader(lines)
        }


def problems(folder: Path, repetitions: int, seed: int) -> list[Problem]:
    """All 36, with rows drawn for each repetition."""
    paper = printed()
    found: list[Problem] = []
    for name in sorted(_real.DATA_SETS):
        data = load_paper_data(name, folder)
        features, positive = data.features, data.positive
        for beta in _real.BETAS:
            n_labeled = _real.DATA_SETS[name].n_labeled
            draws = []
            for repetition in range(repetitions):
                rng = np.random.default_rng([seed, len(found), repetition])
                draws.append(np.concatenate(_real.split(positive, n_labeled, beta, rng)))
            rows = np.array(draws)
            labeled = np.broadcast_to(np.arange(rows.shape[1]) < n_labeled, rows.shape)
            found.append(Problem(name, beta, features, rows, labeled, paper[name, beta]))
    return found


def auc_of(scores: NDArray[Any], labeled: NDArray[np.bool_]) -> float:
    """AUC of labeled against unlabeled."""
    return float(auc_pu(ScoreCounts.from_scores(scores, labeled)))


def main(argv: list[str] | None = None) -> int:
    """Run the study."""
    parser = arguments(__doc__.splitlines()[0], replicates=10)
    parser.add_argument("--device", default="auto", help="as of BaggedNetworks")
    parser.add_argument("--networks", type=int, default=100, help="networks of an ensemble")
    parser.add_argument("--preset", default="paper", choices=tuple(PRESETS))
    parser.add_argument("--jobs", type=int, default=1, help="threads of a CPU")
    options = parser.parse_args(argv)
    folder = _real.data_folder()
    if folder is None:
        progress("Set PURECOVER_DATA to the folder of the data sets.")
        return 2
    device = check_device(options.device)
    given = problems(folder, options.replicates, options.seed)

    def train(problem: Problem, index: int) -> NDArray[Any]:
        return bagged_scores_many(
            problem.features,
            problem.rows,
            problem.labeled,
            n_estimators=options.networks,
            preset=options.preset,
            device=options.device,
            n_jobs=options.jobs,
            random_state=options.seed + index,
        )

    if device.startswith("cuda"):
        _warm_up(given, options)
    start = time.perf_counter()
    scores = []
    for index, problem in enumerate(given):
        scores.append(train(problem, index))
        progress(f"{problem.data} beta {problem.beta:g}: {time.perf_counter() - start:.1f} s")
    seconds = time.perf_counter() - start

    lines, good = [], 0
    for problem, found in zip(given, scores, strict=True):
        aucs = [auc_of(s, y) for s, y in zip(found, problem.labeled, strict=True)]
        mean = float(np.mean(aucs))
        ok = mean >= problem.printed - WITHIN
        good += ok
        lines.append(
            [problem.data, f"{problem.beta:g}", str(problem.rows.shape[1]),
             str(problem.features.shape[1]), f"{mean:.3f}", f"{np.std(aucs, ddof=1):.3f}",
             f"{problem.printed:.3f}", f"{mean - problem.printed:+.3f}", "yes" if ok else "no"]
        )  # fmt: skip
    ensembles = len(given) * options.replicates
    body = table(
        ["data set", "beta", "rows", "features", "AUC of L against U", "sd", "paper",
         "difference", f"within {WITHIN} or above"],
        lines,
    )  # fmt: skip
    body += (
        f"\n\n{good} of {len(given)} rows within {WITHIN} of the paper or above. "
        f"{ensembles:,} ensembles of {options.networks} networks in {seconds:.1f} s on {device}, "
        f"data transfer included, reading of files not."
    )
    failures = []
    if good < ROWS_WANTED:
        failures.append(f"only {good} of {len(given)} rows within {WITHIN} of the paper or above")
    if device.startswith("cuda"):
        body += "\n\n" + _share_of_card(given, options)
        if options.replicates >= FULL and seconds > SECONDS_WANTED:
            failures.append(f"{seconds:.0f} s for the whole set, wanted {SECONDS_WANTED:g}")
    publish("networks_paper", "Bagged networks on the paper's problems", body, write=options.write)
    return conclude(failures)


def _warm_up(given: list[Problem], options: Any) -> None:
    """Compile the kernels for the shapes that occur, and load the card's libraries."""
    start = time.perf_counter()
    seen = set()
    for problem in given:
        depth = max(problem.features.shape[1] - 1, 15).bit_length()
        if depth not in seen:
            seen.add(depth)
            bagged_scores_many(
                problem.features, problem.rows[:1, :], problem.labeled[:1], n_estimators=6,
                preset=options.preset, device=options.device, random_state=0,
            )  # fmt: skip
    progress(f"kernels compiled in {time.perf_counter() - start:.1f} s")


def _share_of_card(given: list[Problem], options: Any) -> str:
    """Operations the training needs, counted from the epochs of one ensemble per problem."""
    import torch

    from purecover.models import cuda as _fused
    from purecover.models.tables import Standardizer

    training = PRESETS[options.preset]
    needed = done = special = traffic = seconds = 0.0
    for problem in given:
        features = Standardizer.of(problem.features).transform(problem.features, np.float32)
        on_card = torch.as_tensor(np.ascontiguousarray(features[:, :-1]), device="cuda")
        chosen = torch.as_tensor(problem.rows, device="cuda")
        marks = torch.as_tensor(problem.labeled.copy(), device="cuda")
        seeds = np.random.default_rng(0).integers(2**31, size=(len(problem.rows), 3))
        for timed in (False, True):
            torch.cuda.synchronize()
            start = time.perf_counter()
            work = _fused.prepare(on_card, chosen, marks, seeds, options.networks, training)
            torch.cuda.synchronize()
            start = time.perf_counter()
            _, epochs, _ = _fused.train(*work, training, features.shape[1] - 1)
            torch.cuda.synchronize()
            seconds += (time.perf_counter() - start) if timed else 0.0
        steps = np.minimum(epochs.cpu().numpy() + training.patience, training.max_epochs) + 1
        n, d, h = problem.rows.shape[1], features.shape[1] - 1, training.hidden
        layout = _fused.Layout(n, d, options.networks, training)
        per = layout.width // h
        padded = np.pad(steps, ((0, 0), (0, -steps.shape[1] % per)))
        programs = padded.reshape(len(steps), -1, per).max(axis=2).sum(dtype=float) * n
        # Two products of rows and hidden weights, forward and back, and the output.
        needed += steps.sum(dtype=float) * n * (4 * d * h + 12 * h)
        width, depth = layout.width, layout.depth
        done += programs * 3 * (4 * depth * width + 2 * width * width)
        special += programs * width * 4  # two exponentials, two quotients
        traffic += programs * (4 * depth + per + 4)
    clock = 1.83e9  # boost clock of an H100/H200 with all units busy
    cores = torch.cuda.get_device_properties(0).multi_processor_count
    peak, matrix, unit = cores * 128 * 2 * clock, cores * 2048 * clock, cores * 16 * clock
    return (
        f"The training kernel alone: {seconds:.1f} s on {torch.cuda.get_device_name()}. "
        f"{needed / 1e12:.0f} Tflop are needed: {needed / seconds / 1e12:.1f} Tflop/s, "
        f"{100 * needed / seconds / peak:.0f} % of the card's 32-bit peak of {peak / 1e12:.0f}. "
        f"With padding to the matrix units' shapes and three passes for precision "
        f"{done / 1e12:.0f} Tflop are done: {100 * done / seconds / matrix:.0f} % of the TF32 "
        f"peak of {matrix / 1e12:.0f} Tflop/s. Special functions (16 per clock and "
        f"multiprocessor) are busy {100 * special / seconds / unit:.0f} % of the time; from the "
        f"second-level cache come {traffic / seconds / 1e12:.1f} TB/s."
    )


if __name__ == "__main__":
    sys.exit(main())
