"""Share of negatives in a mixture, from known negatives: beside Storey's estimate and a slope.

``python -m studies.mirror`` draws 5,000 known negatives and a mixture of 5,000, with normal
scores two or three standard deviations apart, as they are, rounded to tenths (ties) and rounded to
whole numbers (eight or so distinct scores). It compares the mean distance of estimates of pi0 from
the truth. Storey's estimate takes p-values from the known negatives and counts those above 1/2.
The slope is that of mokapot (``mokapot.peps.estimate_pi0_by_slope``, run as such where mokapot is
installed, else its formula): the line of the density of the mixture on that of the known
negatives, in bins left of nine tenths of the largest of the latter. How ours weighs its two parts
was chosen on 25 other draws of the worlds "as drawn". It ends with a failure if
another estimate is closer to the truth than ours in any cell.
"""

from __future__ import annotations

import sys

import numpy as np
from studies._common import arguments, conclude, progress, publish, table

import purecover as pu
from purecover.report.discoveries import NullShare

N = 5000
SHARES, DISTANCES = (0.2, 0.5, 0.9), (2.0, 3.0)
KINDS = {"as drawn": None, "tenths": 1, "whole numbers": 0}
LAMBDA, LEFT = 0.5, 0.9

try:
    from mokapot.peps import estimate_pi0_by_slope  # type: ignore[import-not-found]

    SLOPE = "mokapot's slope"
except ImportError:
    SLOPE = "mokapot's slope, by its formula"

    def estimate_pi0_by_slope(mixture: np.ndarray, null: np.ndarray) -> float:
        """The formula, where mokapot is not installed."""
        last = int(np.argmax(null >= LEFT * null.max()))
        return max(float(np.polyfit(null[:last], mixture[:last], 1)[0]), 1e-10)


def storey(mixture: np.ndarray, null: np.ndarray) -> float:
    """Share of p-values above 1/2, over the share that negatives alone would have."""
    above = null.size - np.searchsorted(np.sort(null), mixture, side="left")
    return min(1.0, float(((1 + above) / (1 + null.size) > LAMBDA).mean()) / (1 - LAMBDA))


def slope(mixture: np.ndarray, null: np.ndarray) -> float:
    """The slope of one density on the other, at low scores; NaN where there is no line."""
    edges = np.histogram_bin_edges(np.concatenate((mixture, null)), bins="auto")
    densities = (np.histogram(side, edges, density=True)[0] for side in (mixture, null))
    try:
        return min(1.0, float(estimate_pi0_by_slope(*densities)))
    except (TypeError, ValueError, np.linalg.LinAlgError):
        return np.nan


def ours(mixture: np.ndarray, null: np.ndarray) -> float:
    """What ``error_rates`` takes."""
    negative = np.repeat([False, True], [mixture.size, null.size])
    counts = pu.ScoreCounts.from_scores(np.concatenate((mixture, null)), negative)
    return NullShare(clean="always").fit(counts.mirrored()).proportions_.alpha


WAYS = {"purecover": ours, "Storey": storey, SLOPE: slope}


def main() -> int:
    """Run the study."""
    options = arguments(str(__doc__).splitlines()[0], replicates=40).parse_args()
    rows, failures = [], []
    for kind, digits in KINDS.items():
        for distance in DISTANCES:
            for share in SHARES:
                rng = np.random.default_rng([options.seed, int(10 * share), int(distance)])
                apart: dict[str, list[float]] = {name: [] for name in WAYS}
                for _ in range(options.replicates):
                    mixture = rng.normal(size=N) + distance * (rng.random(N) >= share)
                    null = rng.normal(size=N)
                    if digits is not None:
                        mixture, null = mixture.round(digits), null.round(digits)
                    for name, estimate in WAYS.items():
                        apart[name].append(estimate(mixture, null) - share)
                mean = {name: float(np.abs(found).mean()) for name, found in apart.items()}
                error = np.std(np.abs(apart["purecover"])) / options.replicates**0.5
                cells = [f"{value:.4f}" for value in mean.values()]
                bias = f"{np.mean(apart['purecover']):+.4f}"
                rows.append([kind, f"{distance:g}", f"{share:g}", *cells, f"{error:.4f}", bias])
                progress(str(rows[-1]))
                best = np.nanmin(list(mean.values()))
                if mean["purecover"] > best:
                    failures.append(f"{kind}, {distance:g} apart, pi0 {share:g}: {mean}")
    body = (
        f"Mean distance of pi0 from the truth, {N:,} known negatives and a mixture of {N:,}, "
        f"{options.replicates} data sets a cell (the same for all):\n\n"
        + table(["scores", "apart", "pi0", *WAYS, "standard error of ours", "bias of ours"], rows)
    )
    publish("mirror", "Known negatives and a mixture", body, write=options.write)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
