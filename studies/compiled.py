"""Whether a compiled kernel is worth a dependency: Numba against what the package does now.

``python -m studies.compiled`` (Numba must be installed; the package does not use it) times two
kernels beside NumPy in the same run: sorting float64 scores, by a radix sort of their bits, which
is most of counting; and one pass over replicates, from counts to the isotonic curve and its
AUC-PR. Both must give the same numbers. What Numba takes to be imported, and to compile or to
load what it has compiled, is in the table as well: a command waits for it each time.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from studies._common import arguments, conclude, publish, table

from purecover import simulate
from purecover.intervals.replicates import GROUPS, bootstrap
from purecover.intervals.resampling import MultinomialResampler, thinned_to_draw
from purecover.recovery.curves import area_under_pr, repaired_rates
from purecover.recovery.rates import Shares
from purecover.recovery.repairs import tails

SIZES = (10**5, 10**6, 10**7)
ALPHA = 0.25


def radix_sort(bits: Any, other: Any) -> Any:
    """Sort the bits of floats as unsigned numbers, eleven at a time; both arrays are used."""
    one, top = np.uint64(1), np.uint64(63)
    n, digit = bits.size, np.uint64(2**11 - 1)
    tally = np.zeros((6, 2**11), np.int64)
    for i in range(n):
        b = bits[i]
        b ^= (np.uint64(0) - (b >> top)) | (
            one << top
        )  # negative ones in reverse, below all others
        bits[i] = b
        for k in range(6):
            tally[k, (b >> np.uint64(11 * k)) & digit] += 1
    source, target = bits, other
    for k in range(6):
        place = np.cumsum(tally[k]) - tally[k]
        for i in range(n):
            b = source[i]
            d = (b >> np.uint64(11 * k)) & digit
            target[place[d]] = b
            place[d] += 1
        source, target = target, source
    for i in range(n):
        b = source[i]
        source[i] = b ^ (((b >> top) - one) | (one << top))
    return source


def isotonic_areas(labeled: Any, unlabeled: Any, alpha: float) -> Any:
    """AUC-PR of the isotonic curve of each row of counts, with clean labels."""
    n_rows, n = labeled.shape
    found = np.empty(n_rows)
    level, weight, size = np.empty(n), np.empty(n), np.empty(n, np.int64)
    fpr = np.empty(n + 1)
    for row in range(n_rows):
        ours, others = labeled[row].sum(), unlabeled[row].sum()
        tpr_pu = fpr_pu = 0.0
        last = -1
        for i in range(n - 1):  # pool adjacent violators
            tpr_pu += labeled[row, i] / ours
            fpr_pu += unlabeled[row, i] / others
            last += 1
            level[last] = (fpr_pu - alpha * tpr_pu) / (1 - alpha)
            weight[last] = max(labeled[row, i] + unlabeled[row, i], 1e-300)
            size[last] = 1
            while last > 0 and level[last - 1] >= level[last]:
                total = weight[last - 1] + weight[last]
                level[last - 1] += (level[last] - level[last - 1]) * weight[last] / total
                weight[last - 1] = total
                size[last - 1] += size[last]
                last -= 1
        at = 0
        fpr[0], fpr[n] = 0.0, 1.0
        for block in range(last + 1):
            for _ in range(size[block]):
                at += 1
                fpr[at] = min(max(level[block], 0.0), 1.0)
        area = tpr = p = r = 0.0
        for i in range(n):
            step = labeled[row, i] / ours
            tpr += step
            q = alpha * step
            s = q + (1 - alpha) * (fpr[i + 1] - fpr[i])
            if step > 0:
                x = s / r if r > 0 else np.inf
                if r == 0:
                    mean = q / s
                elif abs(x) < 1e-3:
                    mean = p * (1 - x * (1 / 2 - x * (1 / 3 - x / 4))) / r
                    mean += q * (1 / 2 - x * (1 / 3 - x * (1 / 4 - x / 5))) / r
                else:
                    mean = q / s + np.log1p(x) / x * (p / r - q / s)
                area += mean * step
            p, r = p + q, r + s
        found[row] = area
    return found


def by_numpy(labeled: Any, unlabeled: Any) -> Any:
    """The same as the package finds it."""
    sides = labeled.astype(np.float64), unlabeled.astype(np.float64)
    shares = Shares(np.full((len(labeled), 1), ALPHA), np.ones((len(labeled), 1)))
    observed = tails(sides[0]), tails(sides[1])
    fpr, tpr = repaired_rates("isotonic", sides, observed, shares, (None, None))
    return area_under_pr(tpr, fpr, np.full(len(fpr), ALPHA), "davis-goadrich")


def milliseconds(work: Callable[[], Any], repetitions: int) -> float:
    """Median CPU time."""
    found = []
    for _ in range(repetitions):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return 1e3 * statistics.median(found)


def main() -> int:
    """Run the study."""
    options = arguments(str(__doc__).splitlines()[0], replicates=7).parse_args()
    start = time.process_time()
    try:
        import numba
    except ImportError:
        print("numba is not installed: pip install numba", file=sys.stderr)
        return 2
    imported = time.process_time() - start
    start = time.process_time()
    sort, areas = (numba.njit(cache=True)(f) for f in (radix_sort, isotonic_areas))
    sort(np.ones(2).view(np.uint64), np.empty(2, np.uint64))
    areas(np.ones((1, 3), np.int64), np.ones((1, 3), np.int64), ALPHA)
    compiled = time.process_time() - start
    failures, rows = [], []

    def compare(
        what: str, mine: Callable[[], Any], theirs: Callable[[], Any], error: float
    ) -> None:
        if not np.allclose(mine(), theirs(), rtol=error, atol=0):
            failures.append(f"{what}: the kernel finds something else")
        ours, other = (milliseconds(work, options.replicates) for work in (mine, theirs))
        rows.append([what, f"{ours:.1f}", f"{other:.1f}", f"{ours / other:.2f}"])

    for size in SIZES:
        scores = np.random.default_rng([options.seed, size]).standard_normal(size)
        other = np.empty(size, np.uint64)

        def by_radix(scores: Any = scores, other: Any = other) -> Any:
            return sort(scores.copy().view(np.uint64), other).view(np.float64)

        compare(f"sort {size:,} scores", partial(np.sort, scores), by_radix, 0.0)
    sample = simulate.binormal(1.5).sample(1000, 10_000, alpha=ALPHA, random_state=options.seed)
    groups = MultinomialResampler(thinned_to_draw(sample.counts, GROUPS, keep=None))
    labeled, unlabeled = groups.draw_many(np.random.default_rng(options.seed), 200)
    compare(
        f"200 replicates of {labeled.shape[1]} groups to the isotonic AUC-PR",
        lambda: by_numpy(labeled, unlabeled),
        lambda: areas(labeled, unlabeled, ALPHA),
        1e-9,
    )
    start = time.process_time()
    bootstrap(sample.counts, sample.proportions, random_state=options.seed).intervals()
    report = time.process_time() - start
    body = table(["what, CPU ms", "NumPy", "Numba", "times faster"], rows)
    body += (
        f"\n\nImporting Numba took {imported:.2f} CPU s, and {compiled:.2f} s to compile both "
        "kernels or, from the second run on, to load them. The whole bootstrap of a report of "
        f"{sample.scores.size:,} scores, 2,000 replicates with bands, took {report:.2f} s by "
        "NumPy: a kernel that wins the pass is slower from start to end, but for long comparisons."
    )
    publish("compiled", "Compiled kernels against NumPy", body, write=options.write, times=True)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
