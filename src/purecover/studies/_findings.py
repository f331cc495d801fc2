"""What the study found, in sentences made from its figures."""

from __future__ import annotations

import numpy as np

from purecover.studies._counting import clustered_test
from purecover.studies._errors import PRINTED_ROWS, Runs, mean_of_rows, printed_table
from purecover.studies._measure import DEFAULT, RELEASED
from purecover.studies._promises import promises
from purecover.studies._tables import OURS, PAPERS, TITLES, collapses, paper_combination
from purecover.studies._winners import coverage, standings

__all__ = ["findings"]


def findings(runs: Runs) -> list[str]:
    """The main figures in sentences; those that cannot be told are left out."""
    sets = len(runs.datasets)
    first = (
        f"{runs.n_runs:,} runs on {sets} data set{'s' if sets > 1 else ''}, "
        f"{len(runs.rows)} of the {PRINTED_ROWS} rows of the paper's tables."
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
                f"{title} judged by the same scores: {won.error:.4f} "
                f"({won.low:.4f} to {won.high:.4f})."
            )
    return found


def _known(runs: Runs) -> list[str]:
    what = {
        name: runs.means(
            np.abs(runs.errors(paper_combination(name[:2], "auc", methods), "traditional"))
        )
        for name, methods in (("dr", OURS), ("ir", OURS), ("ir, paper", PAPERS))
    }
    if not all(what.values()):
        return []
    dr, ir, letter = (mean_of_rows(errors) for errors in what.values())
    n_bad = sum(share > 0 for share in collapses(runs, "true").values())
    gaps = {
        row: direct - what["ir, paper"][row]
        for row, direct in what["dr"].items()
        if row in what["ir, paper"]
    }
    test = clustered_test(gaps)
    by_method = (
        f"With known alpha and beta and the paper's truth, the mean error of AUC is {dr:.4f} "
        f"direct (paper {_printed('dr'):.4f}), {ir:.4f} indirect with the default repair and "
        f"{letter:.4f} with Algorithm 1 (paper {_printed('ir'):.4f}), which collapses in some run "
        f"of {n_bad} of {len(runs.rows)} rows."
    )
    by_dataset = (
        f"There the error of the direct formula minus that of Algorithm 1 is {test.mean:+.4f} on "
        f"average (95 % interval {test.low:+.4f} to {test.high:+.4f}, one-sided "
        f"P = {test.p_value:.2g}, both by data set)."
    )
    return [by_method, by_dataset]


def _estimated(runs: Runs) -> list[str]:
    found = []
    e = {
        name: runs.means(np.abs(runs.proportion_errors(name)["delta"]))
        for name in (DEFAULT, RELEASED)
    }
    if all(e.values()):
        found.append(
            f"The mean error of beta − alpha is {mean_of_rows(e[DEFAULT]):.3f} by {DEFAULT} and "
            f"{mean_of_rows(e[RELEASED]):.3f} by {RELEASED} (paper {_printed('e'):.3f})."
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


def _printed(column: str) -> float:
    return float(np.mean([line[column] for line in printed_table("auc").values()]))
