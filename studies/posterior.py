"""Draws of hidden positives on real problems, next to reports: error, coverage, interval score.

``purecover.posterior`` draws who is hidden where: one object for alpha known or not and for judged
rows. Reports do not use it yet. Here both see the same problems of the reference collection with
labels at random, the same pool of alpha and beta (the draws of the default estimator, and a few
that the scores allow anyhow) and the same verdicts. Nothing was learned from the second part; with
``--part first`` the default estimator has seen the problems, so that part shows nothing about it.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from studies._common import interval_score, publish, table
from studies._reality import RealProblem, load_problems
from studies.reality import rows_of

import purecover as pu
from purecover.audit.answers import uniform_draws
from purecover.counts import ScoreCounts
from purecover.exceptions import PurecoverError, PurecoverWarning
from purecover.posterior.draws import Posterior, Verdicts, draw_posterior
from purecover.posterior.ratio import LabelRatio

FIGURES = {"roc_auc": "AUC", "auc_pr": "AUC-PR", "precision": "precision at the threshold",
           "recall": "recall at the threshold", "alpha": "alpha",
           "found": "positives flagged / flagged"}  # fmt: skip
N_DRAWS, N_POOL = 2000, 2**14
ANYWHERE = 0.05
"""Share of the pool that is uniform over what the scores allow, so that verdicts can win."""

Ends = dict[str, tuple[float, float, float]]
"""Estimate and ends of the interval, by figure."""


def of_draws(drawn: Posterior, counts: ScoreCounts, top: int, known: Any) -> Ends:
    """Median and ends of each figure, all of the same draws."""
    rng = np.random.default_rng(0)
    fpr, tpr = drawn.rates
    positive = drawn.unlabeled * drawn.like_labeled
    alpha = positive.sum(axis=1)
    purity = np.cumsum(positive, axis=1) / np.cumsum(drawn.unlabeled, axis=1)
    flagged = slice(0, top)
    found = drawn.count_positive(flagged, rng, *known)
    values = {
        "roc_auc": (np.diff(fpr, axis=1) * (tpr[:, 1:] + tpr[:, :-1])).sum(axis=1) / 2,
        "auc_pr": (np.diff(tpr, axis=1) * purity).sum(axis=1),
        "precision": positive[:, flagged].sum(axis=1) / drawn.unlabeled[:, flagged].sum(axis=1),
        "recall": positive[:, flagged].sum(axis=1) / alpha,
        "alpha": drawn.shares[:, 0],
        "found": found / max(counts.unlabeled[flagged].sum(), 1),
    }
    ends = {}
    for name, each in values.items():
        low, middle, high = np.quantile(each, [0.025, 0.5, 0.975], method="weibull")
        ends[name] = (float(middle), float(low), float(high))
    return ends


def by_report(rows: tuple[Any, Any, Any], **known: Any) -> tuple[Ends, Any]:
    """What a report says, and the true figures."""
    scores, labeled, truth = rows
    report = pu.evaluate(scores, labeled, truth=truth, n_resamples=500, **known)
    flagged = (scores >= report.threshold) & (labeled == 0)
    size = max(int(flagged.sum()), 1)
    alpha = report.intervals.get("alpha")
    if report.estimation is not None:
        alpha = report.estimation.intervals["alpha"]
    low, high = np.array(report.confusion.intervals.get("tp", (np.nan, np.nan))) / size
    ends: Ends = {"found": (report.confusion.tp / size, float(low), float(high))}
    for name in ("roc_auc", "auc_pr", "precision", "recall"):
        if (each := report.intervals.get(name)) is not None:
            value = report.auc if name == "roc_auc" else report.metrics[name]
            ends[name] = (value, each.low, each.high)
    if alpha is not None:
        ends["alpha"] = (report.alpha, alpha.low, alpha.high)
    true = dict(report.truth.metrics)  # type: ignore[union-attr]
    return ends, true | {"found": float(truth[flagged].sum()) / size}


def measure(problem: RealProblem, seed: int) -> list[dict[str, Any]]:
    """All that is known, by draws and by reports."""
    rows = scores, labeled, truth = rows_of(problem)
    counts = ScoreCounts.from_scores(scores, labeled)
    tpr = np.cumsum(counts.labeled) / counts.n_labeled
    top = int(np.argmax(tpr - np.cumsum(counts.unlabeled) / counts.n_unlabeled)) + 1
    ratio = LabelRatio(counts)
    clean = problem.beta == 1
    beta = 1.0 if clean else None
    rng = np.random.default_rng(seed)
    fitted = pu.estimators.ReferencePosterior(clean="always" if clean else "weigh").fit(counts)
    pool = fitted.draws(N_POOL)
    n = int(ANYWHERE * N_POOL)
    pool[rng.permutation(N_POOL)[:n]] = uniform_draws(counts, beta, n, rng)
    found = []
    for name in ("nothing", "alpha", "10 rows", "30 rows"):
        how: dict[str, Any] = {} if beta is None else {"beta": beta}
        known: tuple[Any, ...] = ()
        given: dict[str, Any] = {}
        pairs = pool
        if name == "alpha":
            if not clean:
                continue
            how = {"alpha": problem.alpha}
            pairs, given = np.tile((problem.alpha, 1.0), (N_DRAWS, 1)), {"exact": True}
        if name.endswith("rows"):
            size = int(name.split()[0])
            try:
                drawn = pu.audit.draw(scores, labeled, size, random_state=seed)
            except PurecoverError:
                continue
            if len(drawn.rows) < size:
                continue
            verdicts = truth[drawn.rows].astype(bool)
            answers = drawn.answer(verdicts)
            how = {"proportions": pu.audit.combine(answers, scores, labeled, beta=beta)}
            stop = int((counts.thresholds >= drawn.cuts[0]).sum())
            given = {"verdicts": [Verdicts(slice(0, stop), size, int(verdicts.sum()))]}
            place = np.searchsorted(-counts.thresholds, -scores[drawn.rows])
            known = tuple(
                np.bincount(place[kept], minlength=counts.n_thresholds)
                for kept in (np.ones(size, dtype=bool), verdicts)
            )
        posterior = draw_posterior(ratio, pairs, N_DRAWS, rng, **given)
        report, true = by_report(rows, **how)
        true["alpha"] = problem.alpha
        for way, ends in (
            ("draws", of_draws(posterior, counts, top, known)),
            ("report", report),
        ):
            row: dict[str, Any] = {"known": name, "by": way, "auc": problem.auc, "clean": clean}
            row["table"] = problem.table
            for figure, (value, low, high) in ends.items():
                score = interval_score((low, high), true[figure])
                row[figure] = (*score, value - true[figure])
            found.append(row)
    return found


GROUPS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "all": lambda row: True,
    "labels clean": lambda row: row["clean"],
    "some labels wrong": lambda row: not row["clean"],
    "true AUC of 0.85 or more": lambda row: row["auc"] >= 0.85,
}


def lines(rows: Sequence[dict[str, Any]]) -> str:
    """The tables as Markdown."""
    heads = ["known", "by", "problems", "mean \\|error\\|", "bias", "holds", "width"]
    heads += ["interval score", "its standard error"]
    out = []
    for title, keep in GROUPS.items():
        out.append(f"## {title.capitalize()}\n")
        kept = [row for row in rows if keep(row)]
        for figure, name in FIGURES.items():
            cells = []
            for known in dict.fromkeys(row["known"] for row in rows):
                for way in ("draws", "report"):
                    own = [r for r in kept if (r["known"], r["by"]) == (known, way) and figure in r]
                    each = np.array([row[figure] for row in own], dtype=np.float64)
                    own = [r for r, e in zip(own, each, strict=True) if np.isfinite(e).all()]
                    each = each[np.isfinite(each).all(axis=1)] if each.size else each
                    if not each.size or (figure == "alpha" and known == "alpha"):
                        continue
                    score, holds, width, bias = each.mean(axis=0)
                    # Problems of one table are alike.
                    _, code = np.unique([row["table"] for row in own], return_inverse=True)
                    spread = np.linalg.norm(np.bincount(code, each[:, 0] - score)) / len(each)
                    size = np.abs(each[:, 3]).mean()
                    cells.append(
                        [known, way, str(len(each)), f"{size:.4f}", f"{bias:+.4f}",
                         f"{100 * holds:.1f} %", f"{width:.3f}", f"{score:.3f}", f"{spread:.3f}"]
                    )  # fmt: skip
            out.append(f"### {name}\n\n{table(heads, cells)}\n")
    return "\n".join(out)


def quietly(problem: RealProblem, seed: int) -> list[dict[str, Any]]:
    """Measure without warnings, of which problems have many."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PurecoverWarning)
        return measure(problem, seed)


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--part", choices=("first", "second"), default="second")
    parser.add_argument("--every", type=int, default=1, help="only every so many of the problems")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--write", action="store_true", help="keep the tables in studies/results/")
    given = parser.parse_args()
    problems = [p for p in load_problems(given.part) if p.labeling == "random"][:: given.every]
    found = Parallel(given.jobs, verbose=1)(
        delayed(quietly)(each, seed) for seed, each in enumerate(problems)
    )
    rows = [row for each in found for row in each]
    title = f"Draws of hidden positives, {given.part} part of the reference collection"
    intro = (
        f"{len(problems)} problems with labels at random. Nominal 95 % intervals; the interval "
        "score is the width plus 40 times how far the truth lies outside.\n\n"
    )
    publish("posterior", title, intro + lines(rows), write=given.write)


if __name__ == "__main__":
    main()
