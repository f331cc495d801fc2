"""Power of dates, of two sources and of kinds of labels by people's real preferences.

The collection of ``studies.real_labels`` has, for each score bin, how many positives people labeled
and how many they did not. That share is the probability of a label here: two sources draw labels
with it independently of each other, and a later round draws labels with it among the positives that
the first round left. For kinds, the rows of four species of a region are one problem, with labels
as people gave them, or as many of them at random; judges then see some of the unlabeled rows.
``python -m studies.sources --write`` takes a few minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from studies._common import arguments, publish, table
from studies._reality import RealProblem, load_problems

import purecover as pu
from purecover.estimators import (
    ReferencePosterior,
    compare_label_dates,
    compare_label_kinds,
    count_by_two_sources,
)
from purecover.exceptions import PurecoverError

N_JUDGED, N_KINDS, N_SETS = (20, 40, 100), 4, 60
SPREADS = {20: "differs twentyfold or more", 5: "differs five- to twentyfold", 0: "differs less"}
BANDS = (0, 0.45, 0.55, 0.65, 0.75, 1)
BOTH = ("warned", "wrong", "clear more", "clear less")
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
    scores, share = preference(problem)
    first, second = (rng.random(scores.size) < share for _ in range(2))
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
    ease = pu.ScoreCounts.from_scores(scores, first).auc_pu
    found = {"theta": ease, "dates": dates.probability, "p": dates.p_value}
    for name, each in (("plain", plain), ("banded", banded)):
        found[name] = each.n_positive.estimate / scores.size
        found[f"{name} covers"] = scores.size in each.n_positive
    found |= {"warned": "too small" in str(banded), "wrong": "too large" in str(banded)}
    clear = banded.preference
    more = 0.0 if clear is None or clear.p_value > 0.01 else clear.probability - 0.5
    return found | {"clear more": more > 0, "clear less": more < 0}


def judge_kinds(some: Sequence[RealProblem], rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Test kinds of rows where people gave the labels, and where as many are at random."""
    positive, people, negative = (
        np.concatenate([getattr(each, side) for each in some])
        for side in ("positive", "labeled_positive", "negative")
    )
    kind = np.repeat(np.arange(len(some)), [each.positive.size for each in some])
    # The rank within the kind: scores of different models have no common scale.
    rank = np.concatenate([np.arange(each.positive.size) / each.positive.size for each in some])
    shares = [each.n_labeled / each.positive.sum() for each in some]
    random = rng.multivariate_hypergeometric(positive, people.sum(), method="marginals")
    spread = max(shares) / min(shares)
    differs = next(words for least, words in SPREADS.items() if spread >= least)
    for labels, labeled in ((differs, people), ("the same", random)):
        hidden = positive - labeled
        found: dict[Any, Any] = {"labels": labels}
        ratios = []
        for mine in (kind == k for k in range(len(some))):
            if not labeled[mine].any():
                continue
            counts = pu.ScoreCounts.from_counts(
                rank[mine], labeled[mine], (hidden + negative)[mine]
            )
            level = 1 - 0.05 / len(some)
            fitted = ReferencePosterior(clean="always").fit(counts)
            alpha = fitted.interval(confidence_level=level)["alpha"]
            ratios.append(np.array([alpha.low, alpha.high]) * counts.n_unlabeled / counts.n_labeled)
        low, high = np.transpose(ratios)
        found["scores"] = low.max() > high.min()
        above = rank >= np.median(np.repeat(rank, labeled))
        for n in N_JUDGED:
            seen = np.zeros_like(hidden)
            for side in (above, ~above):
                both = np.concatenate([hidden * side, negative * side])
                size = min(n // 2, int(both.sum()))
                drawn = rng.multivariate_hypergeometric(both, size, method="marginals")
                seen += drawn[: hidden.size]
            rows = np.concatenate([labeled, seen])
            column = np.repeat(np.tile(np.arange(hidden.size), 2), rows)
            mark = np.arange(rows.sum()) < labeled.sum()
            found[n] = seen.any() and (
                compare_label_kinds(kind[column], mark, ~mark, above[column]).p_value < 0.05
            )
        yield found


def percent(values: Any) -> list[str]:
    """Shares as cells of a table."""
    return [f"{100 * value:.0f} %" for value in values]


def main() -> None:
    """Print the tables."""
    import pandas as pd

    options = arguments(__doc__ or "", replicates=1).parse_args()
    rng, rows = np.random.default_rng(options.seed), []
    problems = [each for each in load_problems("people") for _ in range(options.replicates)]
    frame = pd.DataFrame(filter(None, (judge(each, rng) for each in problems)))
    low = frame.p < 0.05
    frame["right"] = low & ((frame.dates > 0.5) == (frame.theta > 0.5))
    frame["opposite"] = low & ~frame.right
    for band, at in frame.groupby(pd.cut(frame.theta, BANDS, right=False), observed=True):
        covers = at[["plain covers", "banded covers", *BOTH]].mean()
        rows.append(
            [f"{band.left:.2f} to {band.right:.2f}", f"{len(at)}"]
            + percent(at[["right", "opposite"]].mean())
            + [f"{at[name].median():.2f}" for name in ("plain", "banded")]
            + percent(covers)
        )
    heads = (
        "theta", "problems", "dates: right sign", "wrong sign", "number / truth, no scores",
        "with scores", "covers, no scores", "with scores", "says too small", "says too large",
        "sources: clear cases more often", "less often",
    )  # fmt: skip
    body = (
        f"{len(frame)} problems of the collection in which both sources label five positives "
        "or more, and five have no label. Dates: share with p < 0.05, by the sign of theta - 0.5. "
        "Two sources: median of the estimated number over the true one, and how often the 95 % "
        "interval covers it. Last: share in which rows with both labels outrank rows with one "
        "(p at most 0.01, check PU024), or are outranked.\n\n"
    )
    body += table(heads, rows)
    by_region: dict[str, list[RealProblem]] = {}
    for each in problems:
        if (each.cut, each.scorer) == ("random folds", "boosting") and "disdat" in each.table:
            by_region.setdefault(each.table.rpartition("/")[0], []).append(each)
    chosen = [
        [species[i] for i in rng.choice(len(species), N_KINDS, replace=False)]
        for species in by_region.values()
        for _ in range(N_SETS)
    ]
    kinds = pd.DataFrame(found for some in chosen for found in judge_kinds(some, rng))
    lines = [
        [labels, f"{len(some)}", *percent(some[["scores", *N_JUDGED]].mean())]
        for labels, some in kinds.groupby("labels", sort=False)
    ]
    titles = ("share of labeled among positives", "problems", "by scores alone",
             *(f"{n} judged rows" for n in N_JUDGED))  # fmt: skip
    body += (
        f"\n\n## Kinds\n\nSets of {N_KINDS} species of a region, by how much the share of labeled "
        "rows among the positives differs, and the same sets with labels at random. How often "
        "labels at random are contradicted: by scores alone if the intervals of hidden positives "
        "for each labeled row, with alpha by the default estimator, have no value in common "
        "(95 % for all); with judged rows, half of them above the median score of the labeled "
        f"rows, by check PU025 (p at most 0.05).\n\n{table(titles, lines)}"
    )
    publish("sources", "Dates, sources and kinds of labels", body, write=options.write)


if __name__ == "__main__":
    main()
