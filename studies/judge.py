"""How far a few judged rows, a known alpha or a range narrow the reports on real problems.

Problems of the second part of the reference collection, from which nothing was learned (``--part
first`` for those it learned from). Rows are drawn by ``audit.draw`` and judged by the true classes,
and the report is that of ``evaluate``. Beside it: nothing known, rows drawn at random and counted
without a posterior of the scores (the plain audit), and alpha known.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from studies._common import interval_score, publish, table
from studies._reality import RealProblem, load_problems
from studies.reality import rows_of

import purecover as pu
from purecover.counts import auc_pu_variance
from purecover.exceptions import PurecoverError, PurecoverWarning

N_RESAMPLES = 500
TOP = 0.05
"""Share of the unlabeled rows that can be reviewed."""
FIGURES = {
    "auc": "AUC",
    "alpha": "alpha",
    "precision": "precision at the threshold",
    "found": "positives flagged / flagged",
    "precision_top": "precision at the top 5 %",
    "found_top": "positives of the top 5 % / their number",
}
COMMON = ("group", "name", "doubt")
"""What a row of results has besides figures."""
SIZES = (5, 10, 20, 30)
ERRING = 0.05
"""Share of verdicts that are wrong where judges err."""
N_RARE, N_RARE_LABELED, RARE, BUDGET = 60_000, 300, 0.01, 500
"""Rows of the tables with rare positives, labeled ones, share of positives, and rows reviewed."""


class Problem(NamedTuple):
    """Scores, labels, true classes and true shares, and how many rows can be reviewed."""

    scores: Any
    labeled: Any
    truth: Any
    alpha: float
    beta: float
    review: int


Figures = dict[str, tuple[float, float, float, float]]
"""Estimate, ends of the interval and truth, by figure."""


def reports(problem: Problem, **known: Any) -> Figures:
    """What a report says at its own threshold, and at the top 5 %."""
    scores, labeled, truth = problem[:3]
    found: Figures = {}
    for end, where in (("", {}), ("_top", {"review": problem.review})):
        how: Any = {**known, **where, "truth": truth, "n_resamples": N_RESAMPLES}
        report = pu.evaluate(scores, labeled, random_state=0, **how)
        true, ends, confusion = report.truth.metrics, report.intervals, report.confusion  # type: ignore[union-attr]
        values = {"roc_auc": ("auc", report.auc, true["roc_auc"])} if not end else {}
        values["alpha"] = f"alpha{end}", report.proportions.alpha, problem.alpha
        values["precision"] = f"precision{end}", report.metrics["precision"], true["precision"]
        for metric, (name, value, truly) in values.items():
            at = ends.get(metric)
            found[name] = value, *((np.nan, np.nan) if at is None else (at.low, at.high)), truly
        flagged = (scores >= confusion.threshold) & (labeled == 0)
        size = max(int(flagged.sum()), 1)
        low, high = np.array(confusion.intervals.get("tp", (np.nan, np.nan))) / size
        found[f"found{end}"] = confusion.tp / size, low, high, float(truth[flagged].sum()) / size
    return found


def plain_audit(problem: Problem, n: int, rng: np.random.Generator) -> Figures:
    """Rows at random and clean labels: alpha has a beta posterior, and the AUC follows from it."""
    rows = rng.choice(np.flatnonzero(problem.labeled == 0), n, replace=False)
    k = int(problem.truth[rows].sum())
    counts = pu.ScoreCounts.from_scores(problem.scores, problem.labeled)
    alpha = rng.beta(k + 0.5, n - k + 0.5, 4000)
    error = max(auc_pu_variance(counts), 0.0) ** 0.5
    auc = 0.5 + (counts.auc_pu + error * rng.standard_normal(4000) - 0.5) / (1 - alpha)
    positive = problem.truth == 1
    by_class = pu.ScoreCounts.from_scores(problem.scores, positive).auc_pu
    pairs = ((auc.clip(0, 1), by_class, "auc"), (alpha, problem.alpha, "alpha"))
    return {
        name: (values.mean(), *np.quantile(values, [0.025, 0.975]), truth)
        for values, truth, name in pairs
    }


def judged(
    problem: Problem,
    rng: np.random.Generator,
    n: int,
    *,
    erring: float = 0.0,
    beta: float | None = None,
    **design: Any,
) -> tuple[Figures, bool]:
    """What a report says after n verdicts, and whether it says that the strata disagree."""
    scores, labeled, truth = problem[:3]
    drawn = pu.audit.draw(scores, labeled, n, random_state=rng, **design)
    verdicts = truth[drawn.rows] ^ (rng.random(drawn.rows.size) < erring)
    answers = drawn.answer(verdicts)
    found = pu.audit.combine(answers, scores, labeled, beta=beta)
    return reports(problem, proportions=found), bool(found.doubt or found.unlike)


FORMER = """
import pickle, sys, warnings
import purecover as pu
from studies.judge import Problem, reports
warnings.simplefilter("ignore")
rows, cut, k, n = pickle.load(sys.stdin.buffer)
audit = pu.audit.top_audit(pu.ScoreCounts.from_scores(*rows[:2]), cut, k, n)
fitted = pu.estimators.ReferencePosterior(clean="always").fit(*rows[:2])
known = pu.audit.combine_audit(fitted, audit)
sys.stdout.buffer.write(pickle.dumps(reports(Problem(*rows), proportions=known)))
"""
"""What a former version does with judged rows, in a process of its own."""


def by_former(
    problem: Problem, rng: np.random.Generator, n: int, source: str
) -> tuple[Figures, bool]:
    """What a report of a former version says after the same verdicts."""
    drawn = pu.audit.draw(problem.scores, problem.labeled, n, random_state=rng)
    rows = tuple(problem), drawn.cuts[0], int(problem.truth[drawn.rows].sum()), n
    path = {"PYTHONPATH": f"{source}/src{os.pathsep}{Path(__file__).parents[1]}"}
    command, given = [sys.executable, "-c", FORMER], pickle.dumps(rows)
    done = subprocess.run(
        command, input=given, env=os.environ | path, stdout=subprocess.PIPE, check=True
    )
    return pickle.loads(done.stdout), False  # noqa: S301 - of our own process


Run = Callable[[Problem, np.random.Generator], tuple[Figures, bool]]


def known(**given: Any) -> Run:
    """A report with what is given."""
    return lambda problem, _: (reports(problem, **given), False)


def after(n: int, **how: Any) -> Run:
    """A report after n verdicts."""
    return partial(judged, n=n, **how)


def at_random(n: int) -> Run:
    """Verdicts alone."""
    return lambda problem, rng: (plain_audit(problem, n, rng), False)


def runs_of(problem: RealProblem, former: str) -> dict[str, Run]:
    """Ways to know something about a problem, by the words of the table."""
    if problem.labeling != "random":
        return {
            "nothing": known(),
            **{f"{n} rows": after(n) for n in (10, 30)},
            **{f"{n} rows of strata": after(n, design="stratified") for n in (10, 30, 60)},
        }
    if problem.beta < 1:
        return {
            "nothing": known(),
            "10 rows": after(10),
            "10 rows and 10 labeled ones": after(10, n_labeled=10),
        }
    clean = {"beta": 1.0}
    precise = {"review": review_of(problem)}
    again: dict[str, Run] = {}
    if former:
        again["10 rows, some of the problems"] = after(10, **clean)
        again["the same by the audits of 0.2.0.dev0"] = partial(by_former, n=10, source=former)
    return {
        "nothing": known(**clean),
        **{f"{n} rows": after(n, **clean) for n in SIZES},
        **{f"{n} rows at random, no scores": at_random(n) for n in (10, 30)},
        **{f"{n} rows of the top 5 %": after(n, **clean, **precise) for n in (10, 30)},
        "30 rows of strata": after(30, design="stratified", **clean),
        "10 rows, 5 % of the verdicts wrong": after(10, erring=ERRING, **clean),
        "30 rows, 5 % of the verdicts wrong": after(30, erring=ERRING, **clean),
        "alpha at most twice as large": known(alpha=(0.0, min(2 * problem.alpha, 0.99)), **clean),
        "alpha": known(alpha=problem.alpha),
        **again,
    }


def group_of(problem: RealProblem) -> str:
    """The table that a problem stands in."""
    if problem.labeling != "random":
        return f"Labels not at random: {problem.labeling}"
    kind = "clean" if problem.beta == 1 else "some of them wrong"
    return f"Labels at random, {kind}"


def review_of(problem: RealProblem) -> int:
    """How many rows are at the top."""
    return max(int(TOP * problem.n_unlabeled), 1)


def measure(problem: RealProblem, seed: int, former: str) -> list[dict[str, Any]]:
    """All runs of one problem, which draw the same rows where they draw alike."""
    plain = Problem(*rows_of(problem), problem.alpha, problem.beta, review_of(problem))
    runs = runs_of(problem, former).items()
    return [_measured(group_of(problem), name, run, plain, seed) for name, run in runs]


def _measured(group: str, name: str, run: Run, problem: Problem, seed: int) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PurecoverWarning)
        try:
            found, doubt = run(problem, np.random.default_rng(seed))
        except PurecoverError:
            return {"group": group, "name": name}
    row: dict[str, Any] = {"group": group, "name": name, "doubt": doubt}
    for figure, (value, low, high, truth) in found.items():
        if np.isfinite([value, low, high, truth]).all():
            row[figure] = (*interval_score((low, high), truth), value - truth)
    return row


def measure_rare(problem: RealProblem, seed: int) -> list[dict[str, Any]]:
    """Precision among the 500 best of 60,000 rows, drawn from the classes of a real problem."""
    rng = np.random.default_rng([seed, 1000])
    hidden = int(RARE * N_RARE)
    sides = [each / each.sum() for each in (problem.positive, problem.negative)]
    lengths = N_RARE_LABELED, hidden, N_RARE - hidden
    parts = zip(lengths, (sides[0], sides[0], sides[1]), strict=True)
    scores = np.concatenate([rng.choice(side.size, n, p=side) for n, side in parts])
    # No two rows have the same score: a bin holds many more rows here than where it comes from.
    scores = scores + rng.random(scores.size)
    labeled, truth = np.repeat([1, 0, 0], lengths), np.repeat([1, 1, 0], lengths)
    rare = Problem(scores, labeled, truth, hidden / N_RARE, 1.0, BUDGET)
    group = f"Precision among {BUDGET} of {N_RARE:,} rows, {100 * RARE:g} % of them positive"
    ways = {
        "nothing": known(),
        **{f"{n} rows of the {BUDGET}": after(n, review=BUDGET) for n in (10, 30, 50)},
        "30 rows, drawn for the AUC": after(30),
        "alpha": known(alpha=rare.alpha),
    }
    rows = [_measured(group, name, run, rare, seed) for name, run in ways.items()]
    return [{name: row[name] for name in (*COMMON, "found_top") if name in row} for row in rows]


def lines(group: str, rows: Sequence[dict[str, Any]]) -> Iterable[str]:
    """Tables of all figures of a group of problems."""
    names = list(dict.fromkeys(row["name"] for row in rows))
    yield f"## {group}\n"
    said = {name: [row for row in rows if row["name"] == name] for name in names}
    shares = [
        f"{name}: {100 * np.mean([row['doubt'] for row in found if 'doubt' in row]):.0f} %"
        for name, found in said.items()
        if "row" in name
    ]
    yield f"A check says that labels are not at random, or verdicts wrong: {'; '.join(shares)}.\n"
    heads = ["known", "problems", "error", "bias", "width", "holds", "interval score"]
    for figure, title in FIGURES.items():
        cells = []
        for name, found in said.items():
            each = np.array([row[figure] for row in found if figure in row])
            if not each.size:
                continue
            score, holds, width, error = each.mean(axis=0)
            size = np.abs(each[:, 3]).mean()
            spread = [f"{width:.3f}", f"{100 * holds:.1f} %", f"{score:.3f}"]
            cells.append([name, str(len(each)), f"{size:.4f}", f"{error:+.4f}", *spread])
        if cells:
            yield f"### {title}\n\n{table(heads, cells)}\n"


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--part", choices=("first", "second"), default="second")
    parser.add_argument("--scale", type=float, default=0.5, help="share of the problems to look at")
    parser.add_argument("--seed", type=int, default=0, help="where all randomness starts")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument(
        "--former",
        default="",
        help="folder of 0.2.0.dev0, whose audits take a fifth of problems: "
        "git archive fe9090a^ src | tar -x -C FOLDER",
    )
    parser.add_argument("--write", action="store_true", help="keep the tables in studies/results/")
    given = parser.parse_args()
    problems = list(load_problems(given.part))
    problems = problems[:: max(round(1 / given.scale), 1)]
    rare = [p for p in problems if p.labeling == "random" and 0.8 < p.auc < 0.99][::2]
    former = [given.former if i % 5 == 0 else "" for i in range(len(problems))]
    tasks = [delayed(measure)(p, given.seed + i, former[i]) for i, p in enumerate(problems)]
    tasks += [delayed(measure_rare)(p, given.seed + i) for i, p in enumerate(rare)]
    rows = [row for found in Parallel(given.jobs, verbose=1)(tasks) for row in found]
    groups = sorted({row["group"] for row in rows})
    body = (
        f"{len(problems)} problems; the error is the mean size of that of the estimate, and the "
        "interval score of a 95 % interval its width plus 40 times how far the truth lies outside."
    )
    for group in groups:
        body += "\n\n" + "\n".join(lines(group, [row for row in rows if row["group"] == group]))
    publish("judge", "A few judged rows", body, write=given.write)


if __name__ == "__main__":
    main()
