"""How often reports on real problems hold the truth, where alpha and beta are estimated.

The default estimator learned from the first part of the reference collection (``make
reality-learn``). What is printed here comes from the second part, of other tables and families,
from which nothing was learned, unless ``--part first`` is given. Every problem is evaluated as a
user would; a warning is a finding of severity warning or error.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from studies._common import publish
from studies._reality import RealProblem, load_problems

import purecover as pu
from purecover.estimators import prior_estimators

METRICS = ("roc_auc", "auc_pr", "precision", "recall")
SHOWN = (*METRICS, "alpha")
TITLES = dict(zip(SHOWN, ("AUC", "AUC-PR", "precision", "recall", "alpha"), strict=True))
OVERLAP = 0.8
"""Problems with a true AUC below are said to overlap."""

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
    """One report beside the truth."""
    scores, labeled, truth = rows_of(problem)
    names = ("table", "cut", "scorer", "design", "labeling", "alpha", "beta", "auc")
    row = {name: getattr(problem, name) for name in names}
    row |= {"n": len(scores), "delta": problem.beta - problem.alpha}
    try:
        report = pu.evaluate(
            scores, labeled, truth=truth, beta=beta, n_resamples=n_resamples, random_state=0
        )
    except pu.exceptions.IdentifiabilityError:
        return row | {"refused": True}
    found = {name: report.intervals.get(name) for name in METRICS}
    found["alpha"] = report.estimation.intervals["alpha"]  # type: ignore[union-attr]
    true = dict(report.truth.metrics) | {"alpha": problem.alpha}  # type: ignore[union-attr]
    for name, interval in found.items():
        row[f"holds_{name}"] = interval is None or _holds(interval, true[name])
        row[f"width_{name}"] = np.nan if interval is None else interval.high - interval.low
    row["error_delta"] = report.proportions.delta - row["delta"]
    row["error_auc"], row["error_raw"] = report.auc - row["auc"], report.auc_pu - row["auc"]
    row["warned"] = " ".join(c.code for c in report.findings if c.severity != "note")
    known = prior_estimators()
    for name in filter(known.__contains__, others):
        try:
            estimator = known[name]().fit(report.counts)
            row[f"delta_{name}"] = estimator.proportions_.delta - row["delta"]
        except pu.exceptions.PurecoverError:
            row[f"delta_{name}"] = 1 - row["delta"]  # no estimate, no correction
    return row | {"refused": False}


def _holds(interval: Any, value: float) -> bool:
    if np.isnan(interval.low) or np.isnan(value):
        return True  # nothing is said, or there is nothing to say
    return bool(interval.low - 1e-9 <= value <= interval.high + 1e-9)


def share(rows: Sequence[dict[str, Any]], key: str) -> float:
    return float(np.mean([bool(row[key]) for row in rows])) if rows else float("nan")


def holding_line(title: str, rows: Sequence[dict[str, Any]]) -> str:
    cells = [f"{100 * share(rows, f'holds_{name}'):.1f} %" for name in SHOWN]
    widths = np.mean([row["width_roc_auc"] for row in rows]) if rows else np.nan
    worse = [abs(row["error_auc"]) > abs(row["error_raw"]) + 1e-9 for row in rows]
    errors = [np.mean([abs(row[key]) for row in rows]) for key in ("error_auc", "error_raw")]
    return (
        f"| {title} | {len(rows)} | {' | '.join(cells)} | {widths:.3f} | {errors[0]:.3f} | "
        f"{errors[1]:.3f} | {100 * np.mean(worse):.1f} % | {100 * share(rows, 'warned'):.0f} % | "
        + " | ".join(f"{100 * heard(rows, name):.1f} %" for name in ("roc_auc", "precision"))
        + " |"
    )


def heard(rows: Sequence[dict[str, Any]], name: str) -> float:
    """Share of problems whose interval of a metric holds, or that carry a warning."""
    found = [bool(row[f"holds_{name}"] or row["warned"]) for row in rows]
    return float(np.mean(found)) if found else float("nan")


def report_lines(rows: list[dict[str, Any]], verified: list[dict[str, Any]]) -> list[str]:
    """The study as Markdown; ``verified`` are the clean problems again, with beta given as 1."""
    told = [row for row in rows if not row["refused"]]
    random = [row for row in told if row["labeling"] == "random"]
    groups: dict[str, Callable[[dict[str, Any]], bool]] = {
        "labels at random": lambda _: True,
        "... of these without a warning": lambda row: not row["warned"],
        f"... true AUC below {OVERLAP:g}": lambda row: row["auc"] < OVERLAP,
        f"... true AUC of {OVERLAP:g} or more": lambda row: row["auc"] >= OVERLAP,
        "... beta 1": lambda row: row["beta"] == 1,
        "... beta below 1": lambda row: row["beta"] < 1,
        "... rank mean of three scorers": lambda row: row["scorer"] == "rank-mean",
        f"... alpha at most {RARE:g}, {LARGE:,} rows or more": lambda row: (
            row["alpha"] <= RARE and row["n"] >= LARGE
        ),
    }
    heads = ["problems", *(f"{TITLES[name]} holds" for name in SHOWN), "width of AUC"]
    heads += ["error of AUC", "uncorrected", "corrected is worse", "warned"]
    heads += ["AUC holds or warned", "precision holds or warned"]
    lines = [
        (
            f"{len(rows)} problems of {len({row['table'] for row in rows})} tables; "
            f"{len(rows) - len(told)} refused. Nominal 95 % intervals."
        ),
        "",
        f"| | {' | '.join(heads)} |",
        "| --- |" + " ---: |" * len(heads),
    ]
    lines += [holding_line(t, [r for r in random if keep(r)]) for t, keep in groups.items()]
    known = [row for row in verified if not row["refused"]]
    lines.append(holding_line("... beta 1, and given as 1", known))
    for labeling in ("easy first", "one kind", "by source"):
        lines.append(holding_line(labeling, [r for r in told if r["labeling"] == labeling]))
    other = [row for row in told if row["labeling"] != "random"]
    tables = sorted({row["table"] for row in random})
    lines += [
        "",
        (
            "Labels not at random: AUC holds or a warning is given in "
            f"{100 * heard(other, 'roc_auc'):.1f} %."
        ),
        "",
        "Tables (labels at random) in which at least 80 % of the problems hold: "
        + ", ".join(
            f"{TITLES[name]} {100 * np.mean([share([r for r in random if r['table'] == t], f'holds_{name}') >= 0.8 for t in tables]):.1f} %"  # noqa: E501
            for name in SHOWN
        )
        + ".",
        "",
        "## Estimators: mean |error of beta - alpha|, labels at random",
        "",
        "Methods as they come; those of clean labels take beta as 1.",
        "",
        f"| | all | true AUC below {OVERLAP:g} | {OVERLAP:g} or more |",
        "| --- | ---: | ---: | ---: |",
    ]
    errors = {"reference (default)": [row["error_delta"] for row in random]}
    errors["no correction"] = [1 - row["delta"] for row in random]
    for key in random[0]:
        if key.startswith("delta_"):
            errors[key.removeprefix("delta_")] = [row[key] for row in random]
    low = np.array([row["auc"] < OVERLAP for row in random])
    for name, values in sorted(errors.items(), key=lambda item: np.mean(np.abs(item[1]))):
        size = np.abs(values)
        lines.append(
            f"| {name} | {size.mean():.3f} | {size[low].mean():.3f} | {size[~low].mean():.3f} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("first", "second"), default="second")
    parser.add_argument("--resamples", type=int, default=300)
    parser.add_argument("--every", type=int, default=1, help="only every so many of the problems")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    problems = list(load_problems(given.part))[:: given.every]
    rows = Parallel(given.jobs, verbose=1)(
        delayed(judge)(problem, given.resamples, OTHERS) for problem in problems
    )
    verified = Parallel(given.jobs, verbose=1)(
        delayed(judge)(problem, given.resamples, (), beta=1.0)
        for problem in problems
        if problem.beta == 1 and problem.labeling == "random"
    )
    title = f"Real problems, {given.part} part of the reference collection"
    body = "\n".join(report_lines(list(rows), list(verified)))
    publish("reality", title, body, write=given.part == "second" and given.every == 1)


if __name__ == "__main__":
    main()
