"""What the study found, in sentences made from its figures."""

from __future__ import annotations

import numpy as np

from purecover.paper.run import DEFAULT, RELEASED
from purecover.paper.standings import clustered_test, coverage, promises, standings
from purecover.paper.tables import (
    OURS,
    PAPERS,
    PRINTED_ROWS,
    TITLES,
    Runs,
    collapses,
    mean_errors,
    mean_of_rows,
    paper_combination,
    printed_mean,
    printed_table,
)


def findings(runs: Runs) -> list[str]:
    """The main figures in sentences; those that cannot be told are left out."""
    sets = len(runs.datasets)
    n_rows = sum(row in printed_table("auc") for row in runs.rows)
    first = (
        f"{runs.n_runs:,} run{'s' if runs.n_runs > 1 else ''} on {sets} "
        f"data set{'s' if sets > 1 else ''}, {n_rows} of the {PRINTED_ROWS} rows "
        "of the paper's tables."
    )
    found = [first]
    kept = [each for each in promises(runs) if each.outcome in {"met", "not met"}]
    short = [each.title for each in kept if each.outcome == "not met"]
    sentence = f"{len(kept) - len(short)} of {len(kept)} criteria are met"
    found.append(f"{sentence}; not met: {'; '.join(short)}." if short else f"{sentence}.")
    found += _known(runs) + _estimated(runs)
    for metric, title in TITLES.items():
        best = standings(runs, metric, "same", known=False)
        if best:
            won = best[0]
            repair = won.what.repair
            how = f"repair {repair}" if repair else "the direct formula"
            found.append(
                f"Of {len(best)} combinations of estimator and repair, {won.what.estimator} with "
                f"{how} has the smallest mean error of "
                f"{title} judged by the same scores: {won.error:.4f}"
                + (f" ({won.low:.4f} to {won.high:.4f})." if sets > 1 else ".")
            )
    return found


def _known(runs: Runs) -> list[str]:
    direct, ours, papers = (
        mean_errors(runs, column, "auc", methods, "traditional")
        for column, methods in (("dr", OURS), ("ir", OURS), ("ir", PAPERS))
    )
    if not (direct and ours and papers):
        return []
    n_bad = sum(share > 0 for share in collapses(runs, "true").values())
    test = clustered_test({row: direct[row] - papers[row] for row in direct if row in papers})
    by_method = (
        "With known alpha and beta and the paper's truth, the mean error of AUC is "
        f"{mean_of_rows(direct):.4f} direct (paper {printed_mean('dr', 'auc'):.4f}), "
        f"{mean_of_rows(ours):.4f} indirect with the default repair and "
        f"{mean_of_rows(papers):.4f} with Algorithm 1 (paper {printed_mean('ir', 'auc'):.4f}), "
        + (f"which collapses in some run of {n_bad}" if n_bad else "which collapses in none")
        + f" of {len(runs.rows)} rows."
    )
    by_dataset = (
        f"There the error of the direct formula minus that of Algorithm 1 is {test.mean:+.4f} on "
        "average"
        + (
            f" (95 % interval {test.low:+.4f} to {test.high:+.4f}, one-sided "
            f"P = {test.p_value:.2g}, both by data set)."
            if test.n_clusters > 1
            else ", of one data set."
        )
    )
    return [by_method, by_dataset]


def _estimated(runs: Runs) -> list[str]:
    found = []
    errors = {name: runs.proportion_errors(name)["delta"] for name in (DEFAULT, RELEASED)}
    sizes = {name: mean_of_rows(runs.means(np.abs(each))) for name, each in errors.items()}
    bias = mean_of_rows(runs.means(errors[DEFAULT]))
    if np.isfinite([*sizes.values()]).all():
        found.append(
            f"The mean absolute error of beta − alpha is {sizes[DEFAULT]:.3f} by {DEFAULT} (mean "
            f"signed error {bias:+.3f}) and {sizes[RELEASED]:.3f} by {RELEASED} "
            f"(paper {printed_mean('e', 'auc'):.3f})."
        )
    for metric, title in TITLES.items():
        held = coverage(runs, paper_combination("ie", metric, OURS))
        if held:
            found.append(
                f"95 % intervals of {title} hold the truth of the same scores in "
                f"{100 * held[''].covered:.1f} % of {held[''].n_runs:,} runs, at a mean width of "
                f"{held[''].width:.3f}."
            )
    return found
