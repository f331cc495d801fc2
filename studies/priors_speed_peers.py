"""How long estimators of alpha take on features and scores, beside those of other packages.

``python -m studies.priors_speed_peers`` times the fits of each in a process of its own, one
after the other in one run: kernel means on 2,000 + 2,000 rows of ten features, the others on 1,000
+ 10,000 rows or on out-of-fold scores of these. A fit on a small sample comes first, so that
imports and what is loaded once do not count; short fits are repeated and their median taken. CPU
time counts, so that a busy machine does not; memory is the peak of the whole process. A process is
given up after ``--patience`` seconds. It ends with a failure if one of ours is beyond what is
promised; packages that are not installed are said to be missing.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from studies._common import arguments, conclude, progress, publish, table
from studies._contestants import FeaturePeer, peers
from studies._feature_worlds import BoolArray, FeatureWorld, FloatArray, out_of_fold_scores
from studies.priors_speed import peak_bytes, timed

from purecover.estimators.base import PriorEstimator, prior_estimators

ROWS = FeatureWorld(10)
KERNEL_ROWS = FeatureWorld(10, n_labeled=2000, n_unlabeled=2000)
WARM_ROWS = FeatureWorld(10, n_labeled=100, n_unlabeled=300)

ENOUGH, MOST_FITS = 1.0, 9
"""Fits are repeated until they took so many seconds in all, or so many times."""


@dataclass(frozen=True)
class Fit:
    """One fit: what is fitted to what, and what is promised of it."""

    make: Callable[[], PriorEstimator]
    world: FeatureWorld = ROWS
    on_scores: bool = False
    seconds: float | None = None
    gib: float | None = None

    @property
    def data(self) -> str:
        """The data in words."""
        kind = "scores" if self.on_scores else f"rows of {self.world.n_features}"
        return f"{self.world.n_labeled:,} + {self.world.n_unlabeled:,} {kind}"

    def values(self, seed: int, *, warm: bool) -> tuple[FloatArray, BoolArray]:
        """What the estimator is given: the data, or a little of the same kind."""
        features, labeled = (WARM_ROWS if warm else self.world).sample(seed)
        if self.on_scores:
            return out_of_fold_scores(features, labeled, seed), labeled
        return features, labeled


def _ours(name: str, **parameters: Any) -> Callable[[], PriorEstimator]:
    return partial(prior_estimators()[name], **parameters)


def _theirs(
    module: str, kind: str, *, pooled: bool = False, **parameters: Any
) -> Callable[[], PriorEstimator]:
    return partial(FeaturePeer, module, kind, tuple(parameters.items()), pooled)


OURS = {
    "KM2 (kernel-mean)": Fit(_ours("kernel-mean"), KERNEL_ROWS, seconds=60, gib=1),
    "TIcE (tice)": Fit(_ours("tice"), seconds=5),
    "penL1 (penalized-l1)": Fit(_ours("penalized-l1"), seconds=5),
    "PE (pearson)": Fit(_ours("pearson"), seconds=5),
    "DistCurve (dist-curve)": Fit(_ours("dist-curve"), on_scores=True, seconds=1),
    "MSGMM (msgmm), scores": Fit(_ours("msgmm"), on_scores=True, seconds=1),
    "MSGMM (msgmm), features": Fit(_ours("msgmm")),
    "clusters (clustered)": Fit(_ours("clustered")),
    "regrouping": Fit(_ours("regrouping"), on_scores=True),
    "subsampling": Fit(_ours("subsampling", ceiling=0.9), on_scores=True),
    "C-PS (patra-sen)": Fit(_ours("patra-sen"), on_scores=True),
    "fitted ROC (fitted-roc)": Fit(_ours("fitted-roc"), on_scores=True),
    "DEDPUL (dedpul)": Fit(_ours("dedpul"), on_scores=True),
}
"""What is promised has a limit; the rest is for information."""

_KM2 = partial(
    _theirs, "pu_toolbox.prior", "KernelMeanPriorEstimator", variant="km2", random_state=0
)
PEERS = {
    "pu-toolbox: KM2": Fit(_KM2(), KERNEL_ROWS),
    "pu-toolbox: KM2, 300 a side": Fit(_KM2(max_samples_per_group=300), KERNEL_ROWS),
    "pu-toolbox: regrouping, then KM2": Fit(
        _theirs("pu_toolbox.prior", "ReCPEEstimator"), KERNEL_ROWS
    ),
    "pu-toolbox: penL1": Fit(_theirs("pu_toolbox.prior", "ClassPriorEstimator")),
    "pulearn: histogram": Fit(
        _theirs("pulearn.priors", "HistogramMatchPriorEstimator", pooled=True)
    ),
    "pulearn: SCAR EM": Fit(_theirs("pulearn.priors", "ScarEMPriorEstimator", pooled=True)),
}
"""Neither package has TIcE, PE, DistCurve, DEDPUL or MSGMM."""

FITS = {**OURS, **PEERS}


def measure(name: str, seed: int, patience: int) -> dict[str, float] | str:
    """Seconds, GiB and alpha of a fit in a process of its own, or why there are none."""
    command = [sys.executable, "-m", "studies.priors_speed_peers", "--child", name]
    command += ["--seed", str(seed)]
    root = Path(__file__).parents[1]
    # No limit on CPU time instead: with one, Linux counts that time in ticks of 4 ms.
    try:
        done = subprocess.run(
            command, cwd=root, capture_output=True, text=True, check=False, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return f"given up after {patience} s"
    if done.returncode == 0:
        told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return told
    return done.stderr.strip().splitlines()[-1][:80] if done.stderr.strip() else "killed"


def child(name: str, seed: int) -> None:
    """The fits of one row; prints what they took."""
    peers()  # makes the other packages importable
    fit = FITS[name]
    fit.make().fit(*fit.values(seed, warm=True))
    values, labeled = fit.values(seed, warm=False)
    estimator = fit.make()
    times: list[float] = []
    while sum(times) < ENOUGH and len(times) < MOST_FITS:
        times.append(timed(lambda: estimator.fit(values, labeled)))
    told = {
        "seconds": statistics.median(times),
        "gib": peak_bytes() / 2**30,
        "alpha": estimator.proportions_.unlabeled_inclusion,
    }
    print(json.dumps(told))


def lines(
    found: dict[str, dict[str, float] | str],
) -> tuple[list[list[str]], list[str]]:
    """The table, and the promises that do not hold."""
    rows, failures = [], []
    for name, told in found.items():
        fit = FITS[name]
        limits = [
            "" if fit.seconds is None else f"{fit.seconds:g}",
            "" if fit.gib is None else f"{1024 * fit.gib:,.0f}",
        ]
        if isinstance(told, str):
            rows.append([name, fit.data, told, limits[0], "", limits[1], ""])
            if name in OURS:
                failures.append(f"{name}: {told}")
            continue
        seconds, gib = told["seconds"], told["gib"]
        figures = [f"{seconds:.3f}", limits[0], f"{1024 * gib:,.0f}", limits[1]]
        rows.append([name, fit.data, *figures, f"{told['alpha']:.3f}"])
        if fit.seconds is not None and seconds > fit.seconds:
            failures.append(f"{name}: {seconds:.2f} CPU s, above {fit.seconds:g}")
        if fit.gib is not None and gib > fit.gib:
            failures.append(f"{name}: {gib:.2f} GiB, above {fit.gib:g}")
    return rows, failures


def main() -> int:
    """Run the study, or one fit of it."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=1)
    parser.add_argument("--patience", type=int, default=900, help="seconds a row may take")
    parser.add_argument("--only", nargs="*", default=[], help="names, or parts of them")
    parser.add_argument("--child", help="time this one fit only")
    options = parser.parse_args()
    if options.child:
        child(options.child, options.seed)
        return 0

    installed, _ = peers()
    packages = {each.name.split()[0] for each in installed}
    found: dict[str, dict[str, float] | str] = {}
    for name in FITS:
        if options.only and not any(part in name for part in options.only):
            continue
        if name in PEERS and name.partition(":")[0] not in packages:
            found[name] = "not installed"
            continue
        progress(name)
        found[name] = measure(name, options.seed, options.patience)
    rows, failures = lines(found)
    versions = sorted({each.name.partition(":")[0] for each in installed})
    body = (
        f"Two normal classes two apart among ten features, alpha {ROWS.alpha:g}, labels clean and "
        f"taken as clean. The median of up to {MOST_FITS} fits, in a process of its own, after "
        f"one on {WARM_ROWS.n_labeled} + {WARM_ROWS.n_unlabeled} rows; peak memory of the "
        "process, Python and its packages included. Other packages, on their "
        f"defaults where nothing is said: {', '.join(versions) or 'none installed'}.\n\n"
        + table(
            ["estimator", "data", "CPU s", "promised s", "peak MiB", "promised MiB", "alpha"], rows
        )
    )
    publish("priors_speed_peers", "Speed beside other packages", body, write=options.write)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
