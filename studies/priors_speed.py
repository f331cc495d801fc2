"""How long every estimator of alpha and beta takes, and how much memory it needs.

``python -m studies.priors_speed`` times, in one run on 1,000 labeled and 10,000 unlabeled
scores, the fit of each registered estimator, AlphaMax-N with 1,000 bootstrap replicates, and the
default with its interval; then each fit on 10^6 + 10^7 scores in a process of its own, whose peak
memory is measured. CPU time counts, so that a busy machine does not. It ends with a failure if a
figure is beyond what is promised.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from studies._common import arguments, conclude, progress, publish, table

from purecover import simulate
from purecover.estimators.base import PriorEstimator, prior_estimators
from purecover.estimators.choice import default_estimator

DEFAULT = "default"
YARDSTICK = "alphamax"
SMALL = (1000, 10_000)
LARGE = (10**6, 10**7)
RESAMPLES = 1000
ALPHA, BETA = 0.25, 0.95

# Promised CPU seconds of a fit on the small sample; the rest is shown only.
FIT_LIMITS = {"alphamax": 0.020, "dedpul": 0.050, "bbe": 0.050, "roc-slope": 0.050}
REPLICATES_LIMIT, INTERVAL_LIMIT = 10.0, 5.0
LARGE_SECONDS, LARGE_GIB = 60.0, 4.0

Scores = np.ndarray[tuple[int], np.dtype[np.float64]]
Labels = np.ndarray[tuple[int], np.dtype[np.bool_]]


def data(n_labeled: int, n_unlabeled: int, seed: int) -> tuple[Scores, Labels]:
    """Scores as distinct as can be."""
    sample = simulate.binormal(2.0).sample(
        n_labeled, n_unlabeled, alpha=ALPHA, beta=BETA, random_state=seed
    )
    return sample.scores, sample.labeled


def makers(only: Sequence[str] = ()) -> dict[str, Callable[[], PriorEstimator]]:
    """The default and every registered estimator, as they come, or those of some names."""
    found: dict[str, Callable[[], PriorEstimator]] = {DEFAULT: default_estimator}
    found |= prior_estimators()
    return {name: make for name, make in found.items() if not only or name in {YARDSTICK, *only}}


def timed(work: Callable[[], object]) -> float:
    """CPU seconds."""
    start = time.process_time()
    work()
    return time.process_time() - start


def fits(replicates: int, seed: int, only: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    """Fits on the small sample; the estimators take turns."""
    scores, labeled = data(*SMALL, seed)
    chosen = makers(only)
    found: dict[str, list[float]] = {name: [] for name in chosen}
    for make in chosen.values():
        make().fit(scores, labeled)  # imports do not count
    for _ in range(replicates):
        for name, make in chosen.items():
            found[name].append(timed(lambda make=make: make().fit(scores, labeled)))  # type: ignore[misc]
    medians = {name: statistics.median(times) for name, times in found.items()}
    rows, failures = [], []
    for name, seconds in sorted(medians.items(), key=lambda item: item[1]):
        limit = FIT_LIMITS.get(name)
        rows.append(
            [
                name,
                f"{1000 * seconds:.1f}",
                f"{1000 * min(found[name]):.1f}",
                f"{seconds / medians[YARDSTICK]:.2f}",
                "" if limit is None else f"{1000 * limit:g}",
            ]
        )
        if limit is not None and seconds > limit:
            failures.append(f"fit of {name}: {1000 * seconds:.1f} ms, above {1000 * limit:g}")
    return rows, failures


def intervals(n_resamples: int, seed: int) -> tuple[list[list[str]], list[str]]:
    """Fits with their intervals."""
    scores, labeled = data(*SMALL, seed)
    alphamax_n = prior_estimators()["alphamax-n"]
    rows, failures = [], []
    for name, make, method, limit in (
        ("alphamax-n", alphamax_n, "bootstrap", REPLICATES_LIMIT),
        (DEFAULT, default_estimator, None, INTERVAL_LIMIT),
        (DEFAULT, default_estimator, "bootstrap", INTERVAL_LIMIT),
    ):

        def work(make: Any = make, method: Any = method) -> None:
            _with_interval(make(), scores, labeled, n_resamples, method)

        seconds = timed(work)
        step = getattr(make(), "step", None)
        grid = "" if step is None else f", grid spacing {step:g}"
        how = "its own interval" if method is None else f"{n_resamples} bootstrap replicates"
        label = f"{name}, fit and {how}{grid}"
        rows.append([label, f"{seconds:.2f}", f"{limit:g}"])
        if seconds > limit:
            failures.append(f"{label}: {seconds:.2f} s, above {limit:g}")
    return rows, failures


def _with_interval(
    estimator: PriorEstimator,
    scores: Scores,
    labeled: Labels,
    n_resamples: int,
    method: Literal["bootstrap"] | None,
) -> None:
    estimator.fit(scores, labeled).interval(n_resamples=n_resamples, method=method)


def large(
    sizes: tuple[int, int], seed: int, only: Sequence[str]
) -> tuple[list[list[str]], list[str]]:
    """Each fit in a process of its own, so that peaks do not mix."""
    rows, failures = [], []
    for name in makers(only):
        progress(f"{name} on {sizes[0]:,} + {sizes[1]:,}")
        command = [sys.executable, "-m", "studies.priors_speed", "--child", name]
        command += ["--seed", str(seed), "--large", f"{sizes[0]}+{sizes[1]}"]
        done = subprocess.run(
            command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            last = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "killed"
            rows.append([name, "failed", "", last[:80]])
            failures.append(f"{name} on large data: {last}")
            continue
        told = json.loads(done.stdout)
        rows.append([name, f"{told['seconds']:.1f}", f"{told['gib']:.2f}", told["estimate"]])
        if told["seconds"] > LARGE_SECONDS or told["gib"] > LARGE_GIB:
            failures.append(f"{name} on large data: {told['seconds']:.0f} s, {told['gib']:.1f} GiB")
    return rows, failures


def child(name: str, sizes: tuple[int, int], seed: int) -> None:
    """One fit from plain arrays; prints what it took."""
    scores, labeled = data(*sizes, seed)
    estimator = makers()[name]()
    seconds = timed(lambda: estimator.fit(scores, labeled))
    peak = peak_bytes() / 2**30
    p = estimator.proportions_
    estimate = f"alpha {p.alpha:.3f}, beta {p.beta:.3f}"
    print(json.dumps({"seconds": seconds, "gib": peak, "estimate": estimate}))


def peak_bytes() -> int:
    """Most memory this process ever held."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss of Linux starts from the size of the parent
        lines = status.read_text(encoding="ascii").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> int:
    """Run the study, or one fit of it."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=9)
    parser.add_argument("--resamples", type=int, default=RESAMPLES, help="bootstrap replicates")
    parser.add_argument("--large", default=f"{LARGE[0]}+{LARGE[1]}", help="labeled + unlabeled")
    parser.add_argument("--only", nargs="*", default=[], help="names of estimators")
    parser.add_argument("--child", help="time this estimator on the large sample only")
    options = parser.parse_args()
    n_labeled, n_unlabeled = (int(part) for part in options.large.split("+"))
    if options.child:
        child(options.child, (n_labeled, n_unlabeled), options.seed)
        return 0

    progress(f"fits on {SMALL[0]} + {SMALL[1]}")
    fit_rows, failures = fits(options.replicates, options.seed, options.only)
    progress("intervals")
    interval_rows, more = intervals(options.resamples, options.seed)
    failures += more
    large_rows, more = large((n_labeled, n_unlabeled), options.seed, options.only)
    failures += more
    body = (
        f"Normal scores two apart, alpha {ALPHA:g}, beta {BETA:g}; CPU time.\n\n"
        f"## Fits on {SMALL[0]:,} + {SMALL[1]:,} scores, from plain arrays\n\n"
        + table(["estimator", "median ms", "best ms", "times alphamax", "promised ms"], fit_rows)
        + "\n\n## With intervals, same scores\n\n"
        + table(["what", "CPU s", "promised s"], interval_rows)
        + f"\n\n## Fits on {n_labeled:,} + {n_unlabeled:,} scores\n\n"
        f"Promised: {LARGE_SECONDS:g} s and {LARGE_GIB:g} GiB, the scores included.\n\n"
        + table(["estimator", "CPU s", "peak GiB", "estimate"], large_rows)
    )
    publish("priors_speed", "Speed of the estimators of alpha and beta", body, write=options.write)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
