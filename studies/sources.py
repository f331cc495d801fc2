"""Power of dates and of two sources of labels where people's real preferences decide the labels.

The collection of ``studies.real_labels`` has, for each score bin, how many positives people labeled
and how many they did not. That share is the probability of a label here: two sources draw labels
with it independently of each other, and a later round draws labels with it among the positives that
the first round left. ``python -m studies.sources --write`` takes half a minute.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from studies._common import arguments, publish, table
from studies._reality import RealProblem, load_problems

from purecover.estimators import compare_label_dates, count_by_two_sources
from purecover.exceptions import PurecoverError

N_BANDS = 10
"""Bands of positives in which the share of labeled ones is taken."""


def preference(problem: RealProblem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the score of each positive, and its probability of a label."""
    counts = problem.positive
    band = np.minimum(N_BANDS * (counts.cumsum() - counts / 2) // counts.sum(), N_BANDS - 1)
    labeled = np.bincount(band.astype(int), problem.labeled_positive, N_BANDS)
    share = labeled / np.maximum(np.bincount(band.astype(int), counts, N_BANDS), 1)
    bins = np.repeat(np.arange(counts.size), counts)
    return bins.astype(float), share[band.astype(int)[bins]]


def judge(problem: RealProblem, rng: np.random.Generator) -> dict[str, float] | None:
    """Return errors and tests of one problem; None with fewer than five rows of both sources."""
    scores, ease = preference(problem)
    first, second = (rng.random(scores.size) < ease for _ in range(2))
    if min((first & second).sum(), (~first & ~second).sum()) < 5:
        return None
    negative = np.repeat(np.arange(problem.negative.size), problem.negative).astype(float)
    nobody = np.zeros(negative.size, dtype=bool)
    one, two = (np.append(each, nobody) for each in (first, second))
    plain = count_by_two_sources(one, two)
    banded = count_by_two_sources(one, two, np.append(scores, negative))
    later = ~first & second
    try:
        dates = compare_label_dates(scores, first | later, later.astype(float))
    except PurecoverError:
        return None
    found = {"theta": theta(scores, first), "dates": dates.probability, "p": dates.p_value}
    for name, each in (("plain", plain), ("banded", banded)):
        found[name] = each.n_positive.estimate / scores.size
        found[f"{name} covers"] = scores.size in each.n_positive
    found |= {"warned": "too small" in str(banded), "wrong": "too large" in str(banded)}
    clear = banded.preference
    more = 0.0 if clear is None or clear.p_value > 0.01 else clear.probability - 0.5
    return found | {"clear more": more > 0, "clear less": more < 0}


def theta(scores: NDArray[np.float64], labeled: NDArray[np.bool_]) -> float:
    """Return the probability that a labeled positive outranks a hidden one."""
    ours, theirs = scores[labeled], np.sort(scores[~labeled])
    sides = (np.searchsorted(theirs, ours, side) for side in ("left", "right"))
    return float(sum(each.mean() for each in sides)) / 2 / theirs.size


def main() -> None:
    """Print the table."""
    options = arguments(__doc__ or "", replicates=1).parse_args()
    rng, rows = np.random.default_rng(options.seed), []
    problems = [each for each in load_problems("people") for _ in range(options.replicates)]
    all_found = [found for found in (judge(each, rng) for each in problems) if found]
    for low, high in ((0.0, 0.45), (0.45, 0.55), (0.55, 0.65), (0.65, 0.75), (0.75, 1.0)):
        some = [found for found in all_found if low <= found["theta"] < high]
        if not some:
            continue
        at = {name: np.array([found[name] for found in some]) for name in some[0]}
        right = (at["p"] < 0.05) & ((at["dates"] > 0.5) == (at["theta"] > 0.5))
        wrong = (at["p"] < 0.05) & ~right
        rows.append(
            [f"{low:.2f} to {high:.2f}", f"{len(some)}"]
            + [f"{100 * share.mean():.0f} %" for share in (right, wrong)]
            + [f"{np.median(at[name]):.2f}" for name in ("plain", "banded")]
            + [
                f"{100 * at[name].mean():.0f} %"
                for name in ("plain covers", "banded covers", *list(at)[-4:])
            ]
        )
    heads = (
        "theta", "problems", "dates: right sign", "wrong sign", "number / truth, no scores",
        "with scores", "covers, no scores", "with scores", "says too small", "says too large",
        "sources: clear cases more often", "less often",
    )  # fmt: skip
    body = (
        f"{len(all_found)} problems of the collection in which both sources label five positives "
        "or more, and five have no label. Dates: share with p < 0.05, by the sign of theta - 0.5. "
        "Two sources: median of the estimated number over the true one, and how often the 95 % "
        "interval covers it. Last: share in which rows with both labels outrank rows with one "
        "(p at most 0.01, check PU024), or are outranked.\n\n"
    )
    title = "Dates and sources of labels"
    publish("sources", title, body + table(heads, rows), write=options.write)


if __name__ == "__main__":
    main()
