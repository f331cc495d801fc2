"""How often the intervals on the pages with real data hold the truth, over other seeds.

``python -m studies.examples_check`` takes loader, labeling and model from the scripts in
``examples/real_data``, hides other positives than the pages do, and counts. It ends with a failure
if an interval of the AUC with known alpha holds the truth in fewer than :data:`FLOOR` of 20 seeds.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from studies._common import arguments, conclude, progress, publish, table

import purecover as pu
from purecover.exceptions import RecoveryWarning

PAGES = Path(__file__).parents[1] / "examples" / "real_data"
RESAMPLES = 100
FLOOR = 0.75
"""Nominal is .95; of 20 seeds that share one data set, fewer than 15 would be no accident."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One part of a page: what is asked of its data."""

    name: str
    script: str
    beta: float | None
    precision: float
    wrong: bool = False


CASES = (
    Case(name="proteins", script="plot_proteins.py", beta=1.0, precision=0.5),
    Case(name="spam", script="plot_spam.py", beta=None, precision=0.9),
    Case(name="spam, wrong reports", script="plot_spam.py", beta=None, precision=0.9, wrong=True),
    Case(name="thyroid", script="plot_thyroid.py", beta=1.0, precision=0.5),
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one seed gave: whether intervals hold the truth, and positives expected and found."""

    alpha: bool
    auc: bool
    precision: bool
    auc_known: bool
    auc_clean: bool
    error_alpha: float
    error_auc: float
    expected: float
    found: int


def definitions(script: Path) -> dict[str, Any]:
    """Imports, constants and functions of a page, without its story."""
    tree = ast.parse(script.read_text(encoding="utf-8"))
    kept = [node for node in tree.body if _defines(node)]
    names: dict[str, Any] = {"__name__": script.stem}
    code = compile(ast.Module(body=kept, type_ignores=[]), str(script), "exec")
    exec(code, names)  # noqa: S102 - a script of this repository
    return names


def _defines(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        return all(isinstance(each, ast.Name) and each.id.isupper() for each in node.targets)
    return isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef))


def outcome(case: Case, seed: int) -> Outcome:
    """Hide, train, recover and open the drawer, as the page does with its own seed."""
    page = definitions(PAGES / case.script)
    X, positive = page["load"]()
    wrong = {"n_wrong": page["N_WRONG"]} if case.wrong else {}
    labeled = page["hide"](positive, seed=seed, **wrong)
    scores = pu.cross_fit_scores(page["model"](), X, labeled, random_state=seed)
    counts = pu.ScoreCounts.from_scores(scores, labeled)

    def evaluate(**known: Any) -> pu.PUReport:
        if "alpha" not in known:
            known["assume"] = ["pure-top"]  # as the pages do
        return pu.evaluate(scores, labeled, n_resamples=RESAMPLES, truth=positive, **known)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecoveryWarning)
        report = evaluate(beta=case.beta)
        truth, estimation = report.truth, report.estimation
        assert truth is not None  # noqa: S101 - asked for
        assert estimation is not None  # noqa: S101 - alpha was not given
        exact = evaluate(alpha=truth.alpha, beta=truth.beta)
        clean = evaluate(beta=1.0) if case.wrong else report
        choice = pu.choose_threshold(counts, report.proportions, "precision", case.precision)
        expected = pu.recovery.recover_confusion(counts, report.proportions, choice.threshold).tp
    auc = truth.metrics["roc_auc"]
    return Outcome(
        alpha=truth.alpha in estimation.intervals["alpha"],
        auc=auc in report.intervals["roc_auc"],
        precision=truth.metrics["precision"] in report.intervals["precision"],
        auc_known=auc in exact.intervals["roc_auc"],
        auc_clean=auc in clean.intervals["roc_auc"],
        error_alpha=report.proportions.alpha - truth.alpha,
        error_auc=report.auc - auc,
        expected=expected,
        found=int(positive[~labeled & (scores >= choice.threshold)].sum()),
    )


def row(case: Case, outcomes: Sequence[Outcome]) -> list[str]:
    """One line of the table."""

    def held(what: Callable[[Outcome], bool]) -> str:
        return f"{sum(map(what, outcomes))} of {len(outcomes)}"

    return [
        case.name,
        held(lambda each: each.alpha),
        held(lambda each: each.auc),
        held(lambda each: each.precision),
        held(lambda each: each.auc_known),
        held(lambda each: each.auc_clean) if case.wrong else "",
        f"{np.mean([each.error_alpha for each in outcomes]):+.3f}",
        f"{np.mean([each.error_auc for each in outcomes]):+.3f}",
        f"{np.mean([each.expected for each in outcomes]):.0f}",
        f"{np.mean([each.found for each in outcomes]):.0f}",
    ]


def main() -> int:
    """Run the seeds and print the table."""
    parser = arguments("Intervals of the pages with real data over other seeds", replicates=20)
    parser.add_argument("--jobs", type=int, default=2, help="processes at once")
    options = parser.parse_args()
    seeds = range(options.seed + 1, options.seed + 1 + options.replicates)
    rows, failures = [], []
    for case in CASES:
        outcomes = joblib.Parallel(n_jobs=options.jobs)(
            joblib.delayed(outcome)(case, seed) for seed in seeds
        )
        rows.append(row(case, outcomes))
        progress(" | ".join(rows[-1]))
        known = sum(each.auc_known for each in outcomes)
        if known < FLOOR * len(outcomes):
            failures.append(f"{case.name}: AUC with known proportions held {known} times")
    headers = [
        "page", "alpha", "AUC", "precision", "AUC, alpha known", "AUC, labels believed",
        "error of alpha", "error of AUC", "expected", "found",
    ]  # fmt: skip
    body = (
        f"Seeds {seeds.start} to {seeds.stop - 1}, {RESAMPLES} resamples each; the pages use seed "
        "0.\n\nThe columns from `alpha` to `AUC, labels believed` count the seeds whose 95 % "
        "interval held the truth: of alpha, of the AUC and of the precision where the Youden index "
        "is highest, all three with estimated proportions; of the AUC with the true ones; and, "
        "where labels are wrong, of the AUC with them taken for clean. The errors are means over "
        "the seeds. `expected` and `found` are mean numbers of hidden positives above the "
        "threshold that the page chooses first. The seeds share one data set, so that their "
        "outcomes are not "
        "independent.\n\n" + table(headers, rows)
    )
    publish("examples_check", "Pages with real data, other seeds", body, write=options.write)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
