"""How wide the intervals of reports on real problems are, and how often they hold the truth.

The default estimator learned from the first part of the reference collection (``make study
NAME=reality_learn``). What is printed here comes from the second part, of other tables and
families, from which nothing was learned, unless ``--part first`` is given. Every problem is
evaluated as a user would, without alpha and beta; a warning is a finding of severity warning or
error. The interval score is the width plus 40 times how far the truth lies outside.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from studies._common import interval_score, publish, table
from studies._reality import RealProblem, load_problems

import purecover as pu
from purecover.estimators import prior_estimators

METRICS = {"roc_auc": "AUC", "auc_pr": "AUC-PR", "precision": "precision", "recall": "recall"}
TITLES = METRICS | {"alpha": "alpha", "found": "positives flagged / flagged"}
COMPARED = ("labels at random", "true AUC below 0.7", "0.7 to 0.85", "0.85 to 0.95",
            "0.95 or more", "beta 1", "beta 1, true AUC of 0.85 or more",
            "beta below 1")  # fmt: skip
RARE, LARGE = 0.02, 10**5
"""Shares of positives at most, and rows at least, of the problems with rare positives."""

# Three of them come with purecover-paper.
OTHERS = ("label-curve", "regrouping", "kernel-mean", "dist-curve", "dedpul", "elkan-noto",
          "alphamax", "bbe", "roc-slope")  # fmt: skip


def rows_of(problem: RealProblem) -> tuple[Any, Any, Any]:
    """Scores, labels and true classes, row by row; bins take the place of scores."""
    four = (
        problem.labeled_positive,
        problem.labeled_negative,
        problem.unlabeled_positive,
        problem.unlabeled_negative,
    )
    bins = np.arange(four[0].size, dtype=np.float64)
    scores = np.concatenate([np.repeat(bins, side) for side in four])
    sizes = [int(side.sum()) for side in four]
    return scores, np.repeat([1, 1, 0, 0], sizes), np.repeat([1, 0, 1, 0], sizes)


def judge(
    problem: RealProblem, n_resamples: int, others: Sequence[str], beta: float | None = None
) -> dict[str, Any]:
    """One report beside the truth; score, whether it holds, and width of each interval."""
    scores, labeled, truth = rows_of(problem)
    names = ("table", "cut", "scorer", "design", "labeling", "alpha", "beta", "auc")
    row = {name: getattr(problem, name) for name in names}
    row |= {"n": len(scores), "beta_given": beta is not None}
    try:
        report = pu.evaluate(
            scores, labeled, truth=truth, beta=beta, n_resamples=n_resamples, random_state=0
        )
    except pu.exceptions.IdentifiabilityError:
        return row | {"refused": True}
    confusion = report.confusion
    flagged = scores >= confusion.threshold
    unlabeled = labeled == 0
    size = max(float((flagged & unlabeled).sum()), 1.0)
    ends: dict[str, Any] = {name: report.intervals.get(name) for name in METRICS}
    ends["alpha"] = report.estimation.intervals["alpha"]  # type: ignore[union-attr]
    found = {
        name: (np.nan, np.nan) if each is None else (each.low, each.high)
        for name, each in ends.items()
    }
    found["found"] = tuple(np.array(confusion.intervals["tp"]) / size)
    true = dict(report.truth.metrics) | {"alpha": problem.alpha}  # type: ignore[union-attr]
    plain_values = dict(report.metrics.observed) | {"roc_auc": report.auc_pu}
    true["found"] = float(truth[flagged & unlabeled].sum()) / size
    point = {name: report.metrics[name] for name in METRICS}
    point |= {"roc_auc": report.auc, "alpha": report.proportions.alpha}
    point["found"] = confusion.tp / size
    for name in TITLES:
        # Nothing is said, or there is nothing to say.
        silent = np.isnan([found[name][0], true[name]]).any()
        score = (np.nan, True, np.nan) if silent else interval_score(found[name], true[name])
        # Without correction the labeled rows are the only positives.
        raw = plain_values.get(name, 0.0) - true[name]
        row[f"of_{name}"] = (*score, point[name] - true[name], raw)
    plain = {"default": report.proportions.delta, "no correction": 1.0}
    known = prior_estimators()
    for name in filter(known.__contains__, others):
        try:
            plain[name] = known[name]().fit(report.counts).proportions_.delta
        except pu.exceptions.PurecoverError:
            plain[name] = 1.0  # no estimate, no correction
    row["delta"] = {name: d - (problem.beta - problem.alpha) for name, d in plain.items()}
    auc = {name: np.clip(0.5 + (report.auc_pu - 0.5) / d, 0, 1) for name, d in plain.items()}
    row["errors"] = {name: each - problem.auc for name, each in auc.items()}
    row["errors"]["default"] = point["roc_auc"] - problem.auc
    row["warned"] = any(check.severity != "note" for check in report.findings)
    return row | {"refused": False}


def groups(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Problems with labels at random by true AUC, beta and more, and others by labeling."""
    kinds: dict[str, Callable[[dict[str, Any]], bool]] = {
        "labels at random": lambda _: True,
        "true AUC below 0.7": lambda row: row["auc"] < 0.7,
        "0.7 to 0.85": lambda row: 0.7 <= row["auc"] < 0.85,
        "0.85 to 0.95": lambda row: 0.85 <= row["auc"] < 0.95,
        "0.95 or more": lambda row: row["auc"] >= 0.95,
        "beta 1": lambda row: row["beta"] == 1,
        "beta 1, true AUC of 0.85 or more": lambda row: row["beta"] == 1 and row["auc"] >= 0.85,
        "beta below 1": lambda row: row["beta"] < 1,
        "rank mean of three scorers": lambda row: row["scorer"] == "rank-mean",
        f"alpha at most {RARE:g}, {LARGE:,} rows or more": lambda row: (
            row["alpha"] <= RARE and row["n"] >= LARGE
        ),
    }
    free = [row for row in rows if not row["beta_given"]]
    random = [row for row in free if row["labeling"] == "random"]
    found = {title: [row for row in random if keep(row)] for title, keep in kinds.items()}
    found["beta 1, and given as 1"] = [row for row in rows if row["beta_given"]]
    for labeling in ("easy first", "one kind", "by source"):
        found[labeling] = [row for row in free if row["labeling"] == labeling]
    return {title: kept for title, kept in found.items() if kept}


def figure_lines(name: str, by_group: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Coverage, width, interval score and error of a figure."""
    heads = ["problems", "holds", "width", "interval score", "mean \\|error\\|", "mean error"]
    heads += ["uncorrected", *(["warned"] if name == "roc_auc" else [])]
    table_rows = []
    for title, rows in by_group.items():
        each = np.array([row[f"of_{name}"] for row in rows], dtype=np.float64)
        score, holds, width, error, _ = np.nanmean(each, axis=0)
        size, raw = np.nanmean(np.abs(each[:, 3:]), axis=0)
        cells = [str(len(rows)), f"{100 * holds:.1f} %", f"{width:.3f}", f"{score:.3f}"]
        cells += [f"{size:.4f}", f"{error:+.4f}", f"{raw:.4f}"]
        if name == "roc_auc":
            cells.append(f"{100 * np.mean([row['warned'] for row in rows]):.0f} %")
        table_rows.append([title, *cells])
    return [f"## {TITLES[name]}", "", table(["", *heads], table_rows), ""]


def error_over_tables(rows: Sequence[dict[str, Any]]) -> float:
    """Standard error of the mean interval score of the AUC; problems of one table are alike."""
    score = np.array([row["of_roc_auc"][0] for row in rows])
    _, code = np.unique([row["table"] for row in rows], return_inverse=True)
    return float(np.linalg.norm(np.bincount(code, score - score.mean())) / score.size)


def estimator_lines(key: str, by_group: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Mean size of an error by each estimator."""
    names = next(iter(by_group.values()))[0][key]
    sizes = {
        name: [np.mean([abs(row[key][name]) for row in rows]) for rows in by_group.values()]
        for name in names
    }
    ranked = sorted(sizes.items(), key=lambda item: item[1][0])
    rows = [[name, *(f"{each:.3f}" for each in cells)] for name, cells in ranked]
    return [table(["", *by_group], rows)]


def report_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The study as Markdown."""
    told = [row for row in rows if not row["refused"]]
    by_group = groups(told)
    n = sum(not row["beta_given"] for row in rows)
    lines = [
        (
            f"{n} problems of {len({row['table'] for row in rows})} tables; "
            f"{len(rows) - len(told)} refused. Nominal 95 % intervals; the interval score is the "
            "width plus 40 times how far the truth lies outside."
        ),
        "",
    ]
    for name in TITLES:
        lines += figure_lines(name, by_group)
    error = error_over_tables(by_group["labels at random"])
    lines += [f"Standard error of the first interval score of the AUC, over tables: {error:.3f}."]
    lines.append("")
    compared = {title: rows for title, rows in by_group.items() if title in COMPARED}
    lines += ["## Estimators: mean size of the error of the AUC, labels at random", ""]
    lines += ["Those of clean labels take beta as 1.", "", *estimator_lines("errors", compared)]
    lines += ["", "## Estimators: mean size of the error of beta - alpha", ""]
    return lines + estimator_lines("delta", compared)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("first", "second"), default="second")
    parser.add_argument("--resamples", type=int, default=300)
    parser.add_argument("--every", type=int, default=1, help="only every so many of the problems")
    parser.add_argument("--alone", action="store_true", help="compare with no other estimator")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    problems = list(load_problems(given.part))[:: given.every]
    others = () if given.alone else OTHERS
    tasks: list[tuple[Any, ...]] = [(p, given.resamples, others, None) for p in problems]
    clean = [p for p in problems if p.beta == 1 and p.labeling == "random"]
    tasks += [(p, given.resamples, (), 1.0) for p in clean]
    rows = Parallel(given.jobs, verbose=1)(delayed(judge)(*task) for task in tasks)
    title = f"Real problems, {given.part} part of the reference collection"
    write = given.part == "second" and given.every == 1 and not given.alone
    publish("reality", title, "\n".join(report_lines(list(rows))), write=write)


if __name__ == "__main__":
    main()
