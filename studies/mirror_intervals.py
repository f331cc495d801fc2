"""How often intervals of error rates hold, from known negatives and a mixture.

``python -m studies.mirror_intervals`` draws the worlds of ``studies.mirror``, scores as
drawn, and counts how often 95 % intervals of ``error_rates`` hold pi0, and false discovery rate and
posterior error probability where the true rate of the former is .05, and how many negatives there
are among q-values up to .05.
"""

from __future__ import annotations

import sys
from statistics import NormalDist

import numpy as np
from studies._common import arguments, progress, publish, table
from studies.mirror import DISTANCES, SHARES, N
from scipy.optimize import brentq

from purecover.report import error_rates

LEVEL, RESAMPLES = 0.05, 100
HEADERS = ["apart", "pi0", "pi0 holds", "width", "FDR holds", "width", "PEP holds", "width"]


def true_rates(at: float, share: float, distance: float) -> tuple[float, float]:
    """False discovery rate from a score on, and posterior error probability there."""
    null = share * NormalDist().cdf(-at), share * NormalDist().pdf(at)
    theirs = NormalDist(distance)
    signal = (1 - share) * (1 - theirs.cdf(at)), (1 - share) * theirs.pdf(at)
    return null[0] / (null[0] + signal[0]), null[1] / (null[1] + signal[1])


def holds(distance: float, share: float, replicates: int, seed: int) -> list[str]:
    """How often intervals hold, how wide they are, and what q-values promise."""
    at = brentq(lambda t: true_rates(t, share, distance)[0] - LEVEL, -4, 8)
    truths = (share, *true_rates(at, share, distance))
    held, widths, false = [], [], []
    for number in range(replicates):
        rng = np.random.default_rng([seed, 7, int(10 * share), int(distance), number])
        null = rng.random(N) < share
        mixture = rng.normal(size=N) + distance * ~null
        scores, known = np.r_[mixture, rng.normal(size=N)], np.repeat([False, True], N)
        rates = error_rates(scores, known, n_resamples=RESAMPLES, random_state=rng)
        i = int(np.argmin(np.abs(rates.thresholds - at)))
        ends = np.array(
            [
                (rates.pi0.low, rates.pi0.high),
                (rates.fdr_low[i], rates.fdr_high[i]),
                (rates.pep_low[i], rates.pep_high[i]),
            ]
        )
        held.append([low <= truth <= high for truth, (low, high) in zip(truths, ends, strict=True)])
        widths.append(ends[:, 1] - ends[:, 0])
        passed = rates.q_values_of(mixture) <= LEVEL
        false.append(null[passed].mean() if passed.any() else 0.0)
    cells = [f"{distance:g}", f"{share:g}"]
    for how_often, width in zip(np.mean(held, axis=0), np.mean(widths, axis=0), strict=True):
        cells += [f"{how_often:.1%}", f"{width:.4f}"]
    return [*cells, f"{np.mean(false):.4f}"]


def main() -> int:
    """Run the study."""
    options = arguments(str(__doc__).splitlines()[0], replicates=20).parse_args()
    rows = []
    for distance in DISTANCES:
        for share in SHARES:
            rows.append(holds(distance, share, options.replicates, options.seed))
            progress(str(rows[-1]))
    body = (
        f"95 % intervals of error_rates, {N:,} known negatives and a mixture of {N:,}, {RESAMPLES} "
        f"resamples, {options.replicates} data sets a cell; FDR and PEP where the true FDR is "
        ".05:\n\n" + table([*HEADERS, "negatives among q ≤ .05"], rows)
    )
    publish("mirror_intervals", "Intervals of error rates", body, write=options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
