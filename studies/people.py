"""The prior for labels that people gave: learned, and measured on families it has not seen.

``python -m studies.people --learn`` learns regression and covariance of the curve of hidden
positives from all problems of ``studies/reality/people.npz``, and prints them next to those in
``purecover.posterior.people``: EM of a multivariate normal distribution, in which a source weighs
as the root of its number of tables.

``python -m studies.people`` leaves out the family of each problem (for species the region), learns
the prior from the others, and asks for all positives after 0 to 100 verdicts on rows that
``plan_rows`` chose for all four figures at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit
from studies._common import interval_score, publish, table
from studies._reality import RealProblem, load_problems
from studies.real_labels import REGIONS, auc, source_of

import purecover as pu
from purecover._typing import FloatArray, IntArray
from purecover.posterior.draws import Verdicts
from purecover.posterior.people import LEARNED, Basis, PeoplePrior, draw_people
from purecover.posterior.plan import plan_rows
from purecover.posterior.ratio import LabelRatio
from purecover.posterior.tables import Tables

GROUPS, N_DRAWS, N_PLANNING = 150, 1000, 500
"""With 60 groups the AUC of 250 rows, of which 100 are judged, is contained in 77 %, not in 96 %.

The order that groups forget is then most of the error there is.
"""

TOP = 0.05
ANSWERS = (0, 5, 10, 20, 40, 100)
ERRING = (20, 100)
"""Numbers of verdicts that are also given by a judge who errs, with known rates."""
ERRORS = (0.05, 0.05)

N_STEPS = 50
CLOSE, ROUGHLY = 1e-4, 1e-3
"""The largest change of a number that ends learning: to print it, and to leave a family out."""


@dataclass(frozen=True, eq=False)
class Known:
    """A problem in groups of scores, from high to low, with the truth of every row."""

    table: str
    source: str
    counts: pu.ScoreCounts
    hidden: IntArray
    n_top: int
    truth: dict[str, float]

    @cached_property
    def basis(self) -> Basis:
        """Functions of the rank, and covariates."""
        return Basis.of(self.counts)

    @property
    def family(self) -> str:
        """The source, but all of a health survey together."""
        return self.source.partition("/")[0]

    @classmethod
    def of(cls, problem: RealProblem) -> Known:
        """Group the bins of a problem; no group lies across the top rows."""
        sides = (problem.labeled_positive, problem.unlabeled_positive, problem.unlabeled_negative)
        bins = np.array(sides)[:, ::-1]
        labeled, hidden, negative = bins[:, bins.sum(axis=0) > 0]
        unlabeled = hidden + negative
        scores = np.arange(labeled.size, dtype=float)[::-1]
        in_top = int(np.searchsorted(unlabeled.cumsum(), TOP * unlabeled.sum())) + 1
        fine = pu.ScoreCounts.from_counts(scores, labeled, unlabeled)
        counts = fine.thinned(GROUPS, keep=float(scores[in_top - 1]))
        last = labeled.size - 1 - counts.thresholds.astype(int)
        positive = labeled + hidden
        return cls(
            table=problem.table,
            source=source_of(problem).partition(",")[0],
            counts=counts,
            hidden=np.diff(np.append(0, hidden.cumsum()[last])),
            n_top=int(np.searchsorted(last, in_top - 1)) + 1,
            truth={
                "AUC": auc(positive, negative),
                "precision": hidden[:in_top].sum() / unlabeled[:in_top].sum(),
                "recall": positive[:in_top].sum() / positive.sum(),
                "hidden": float(hidden.sum()),
            },
        )

    def figures(self) -> dict[str, Callable[[Tables], FloatArray]]:
        """All that is asked."""
        top = slice(0, self.n_top)
        return {
            "AUC": lambda tables: tables.auc,
            "precision": lambda tables: tables.precision(top),
            "recall": lambda tables: tables.recall(top),
            "hidden": lambda tables: np.log1p(tables.n_hidden()),
        }


TITLES = {
    "AUC": "AUC of all positives",
    "precision": "Precision among the top 5 % of the unlabeled",
    "recall": "Recall of all positives there",
    "hidden": "Number of hidden positives (logarithm)",
}


@dataclass(frozen=True, eq=False)
class Tensors:
    """All problems in arrays of the same shape: EM takes seconds instead of minutes."""

    functions: FloatArray
    rows: FloatArray
    hidden: FloatArray
    covariates: FloatArray

    @classmethod
    def of(cls, problems: Sequence[Known]) -> Tensors:
        """Fill up groups without rows."""
        n, most = len(problems), max(each.hidden.size for each in problems)
        functions = np.zeros((n, most, 3))
        rows, hidden = np.zeros((n, most)), np.zeros((n, most))
        for i, each in enumerate(problems):
            used = slice(0, each.hidden.size)
            # Bumps are left out: together with them the three others cannot be distinguished.
            functions[i, used] = each.basis.functions[:, :3]
            rows[i, used], hidden[i, used] = each.counts.unlabeled, each.hidden
        return cls(functions, rows, hidden, np.array([each.basis.covariates for each in problems]))

    def odds(self, coefficients: FloatArray) -> FloatArray:
        """Log odds of each group."""
        return np.asarray((self.functions @ coefficients[:, :, None])[:, :, 0])

    def laplace(self, start: FloatArray, prior: PeoplePrior) -> tuple[FloatArray, FloatArray]:
        """Mode and covariance of the coefficients of every problem, given its truth."""
        mean, precision = self.covariates @ prior.mean, np.linalg.inv(prior.covariance)
        mode = start

        def value(at: FloatArray) -> FloatArray:
            odds, far = self.odds(at), at - mean
            likely = (self.hidden * odds - self.rows * np.logaddexp(0, odds)).sum(axis=1)
            return np.asarray(likely - ((far @ precision) * far).sum(axis=1) / 2)

        for _ in range(N_STEPS):
            share = expit(self.odds(mode))
            weighted = self.functions * (self.rows * share * (1 - share))[:, :, None]
            curvature = self.functions.transpose(0, 2, 1) @ weighted + precision
            miss = (self.hidden - self.rows * share)[:, None, :]
            slope = (miss @ self.functions)[:, 0] - (mode - mean) @ precision
            step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
            before = value(mode)
            for _ in range(12):
                worse = value(mode + step) < before - 1e-9
                if not worse.any():
                    break
                step[worse] /= 2
            mode = mode + step
            if np.abs(step).max() < 1e-6:
                break
        return mode, np.linalg.inv(curvature)


def weights(problems: list[Known], left_out: Sequence[str] = ()) -> FloatArray:
    """Weight of each problem; a source weighs as the root of its number of tables."""
    sources = np.array([each.source for each in problems])
    weight = np.zeros(len(problems))
    for source in np.unique(sources):
        mine = np.flatnonzero(sources == source)
        if not any(problems[mine[0]].source.startswith(name) for name in left_out):
            weight[mine] = len({problems[i].table for i in mine}) ** 0.5 / mine.size
    return weight / weight.sum()


def learn(tensors: Tensors, weight: FloatArray, close: float = ROUGHLY) -> PeoplePrior:
    """EM: the coefficients of every problem, then regression and covariance, until they stay."""
    prior = LEARNED
    mode = tensors.covariates @ prior.mean
    weighted = tensors.covariates * weight[:, None]
    for _ in range(N_STEPS):
        mode, covariance = tensors.laplace(mode, prior)
        mean = np.linalg.solve(weighted.T @ tensors.covariates, weighted.T @ mode)
        far = mode - tensors.covariates @ mean
        around = (far.T * weight) @ far + np.tensordot(weight, covariance, axes=1)
        new = PeoplePrior(np.asarray(mean, dtype=np.float64), np.asarray(around))
        moved = max(np.abs(a - b).max() for a, b in zip(prior, new, strict=True))
        prior = new
        if moved < close:
            break
    return prior


def answered(
    problem: Known, groups: IntArray, rng: np.random.Generator, errors: tuple[float, float]
) -> tuple[IntArray, IntArray]:
    """Verdicts on rows of these groups, drawn without replacement: judged and found by group."""
    size = problem.hidden.size
    judged = np.bincount(groups, minlength=size)
    true = rng.hypergeometric(
        problem.hidden, problem.counts.unlabeled.astype(int) - problem.hidden, judged
    )
    wrong = rng.binomial(judged - true, errors[0]), rng.binomial(true, errors[1])
    return judged, true + wrong[0] - wrong[1]


def measure(problem: Known, prior: PeoplePrior, unlike: PeoplePrior | None, seed: int) -> Any:
    """Error, coverage, width and score of each figure by what is known."""
    ratio, figures = LabelRatio(problem.counts), problem.figures()
    rng = np.random.default_rng(seed)
    planning = draw_people(ratio, N_PLANNING, np.random.default_rng(0), prior=prior)
    plan = plan_rows(planning, list(figures.values()), max(ANSWERS), rng)
    truth = problem.truth | {"hidden": np.log1p(problem.truth["hidden"])}
    about = {"family": problem.family, "truth": truth["AUC"], "observed": problem.counts.auc_pu}
    found = []

    def ask(name: str, n: int, errors: tuple[float, float] = (0.0, 0.0), **known: Any) -> None:
        judged, positive = answered(problem, plan[:n], rng, errors)
        if (errors != (0.0, 0.0) or n) and len(plan) < n:
            return
        verdicts = [
            Verdicts(slice(i, i + 1), int(judged[i]), int(positive[i]), errors=errors)
            for i in np.flatnonzero(judged)
        ]
        now = np.random.default_rng(0)
        drawn = draw_people(ratio, N_DRAWS, now, verdicts=verdicts, **({"prior": prior} | known))
        tables = drawn.of_rows(now, judged, positive, errors)
        for figure, ask_for in figures.items():
            values = ask_for(tables)
            low, middle, high = np.quantile(values, [0.025, 0.5, 0.975], method="weibull")
            score, holds, width = interval_score((low, high), truth[figure])
            row = {"known": name, "figure": figure, "error": abs(middle - truth[figure])}
            row |= {"score": score, "holds": holds, "width": width, "n": drawn.n_effective}
            found.append(about | row)

    for n in ANSWERS:
        ask(f"{n} answers", n)
    for n in ERRING:
        ask(f"{n}, 5 % of them wrong", n, ERRORS)
    ask("a limit: twice the truth", 0, alpha=(0.0, min(2 * hidden_share(problem), 1.0)))
    if unlike is not None:
        ask("0 answers, no species seen", 0, prior=unlike)
    return found


def hidden_share(problem: Known) -> float:
    """The true alpha."""
    return float(problem.hidden.sum() / problem.counts.n_unlabeled)


def by_family(rows: Any, *names: str) -> Iterator[tuple[str, Any]]:
    """Means over families, each of which weighs alike."""
    own = rows.groupby(["known", "family"], sort=False)[list(names)].mean()
    for known, part in own.groupby(level="known", sort=False):
        yield str(known), part.mean()


def results(rows: list[dict[str, Any]], n: int) -> str:
    """Tables as Markdown."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    frame["plain"] = (frame.truth - frame.observed).abs()
    heads = ["known", "mean error", "contained", "width", "interval score"]
    intro = (
        f"{n} problems, each answered by a prior that has not seen its family; families weigh "
        "alike. Nominal 95 % intervals of these very rows; the interval score is the width plus 40 "
        "times how far the truth lies outside."
    )
    parts = [intro]
    for figure, title in TITLES.items():
        mine = frame[frame.figure == figure]
        body: list[list[str]] = []
        for known, mean in by_family(mine, "error", "holds", "width", "score", "plain"):
            if figure == "AUC" and not body:
                body.append(["observed AUC", f"{mean.plain:.3f}", "", "", ""])
            held = f"{100 * mean.holds:.0f} %"
            body.append(
                [known, f"{mean.error:.3f}", held, f"{mean.width:.2f}", f"{mean.score:.2f}"]
            )
        parts.append(f"## {title}\n\n{table(heads, body)}")
    body = []
    areas = frame[frame.figure == "AUC"]
    asked = ("0 answers", "20 answers", "100 answers")
    for family, mine in areas.groupby("family"):
        cells = [str(family), str(int((mine.known == asked[0]).sum()))]
        cells.append(f"{mine.plain.mean():.3f}")
        for known in asked:
            some = mine[mine.known == known]
            cells.append(f"{some.error.mean():.3f}")
            cells.append(f"{100 * some.holds.mean():.0f} %")
            cells.append(f"{some.score.mean():.2f}")
        body.append(cells)
    heads = ["family", "problems", "observed AUC errs by"]
    heads += [f"{word}, {known}" for known in asked for word in ("error", "contained", "score")]
    parts.append(f"## AUC of all positives by family\n\n{table(heads, body)}")
    few = areas.groupby("known", sort=False).n.agg(["min", "median"])
    body = [[str(known), f"{low:.0f}", f"{middle:.0f}"] for known, (low, middle) in
            zip(few.index, few.to_numpy(), strict=True)]  # fmt: skip
    heads = ["known", "fewest", "median"]
    parts.append(f"## Effective number of draws, of {2 * N_DRAWS} proposed\n\n{table(heads, body)}")
    return "\n\n".join(parts)


def learned(problems: list[Known]) -> str:
    """What all problems teach, next to what the source has."""
    prior = learn(Tensors.of(problems), weights(problems), CLOSE)
    parts = []
    for name, now, kept in zip(PeoplePrior._fields, prior, LEARNED, strict=True):
        body = [[", ".join(f"{x:.3f}" for x in row) for row in pair]
                for pair in zip(now, kept, strict=True)]  # fmt: skip
        parts.append(f"{name}:\n\n{table(['learned now', 'in the source'], body)}")
    return "\n\n".join(parts)


def main() -> None:
    """Learn or measure."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    parser.add_argument("--learn", action="store_true", help="learn the prior and print it")
    parser.add_argument("--every", type=int, default=12, help="only every so many of the problems")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--write", action="store_true", help="keep the tables in studies/results/")
    given = parser.parse_args()
    problems = [Known.of(each) for each in load_problems("people")]
    if given.learn:
        print(learned(problems))
        return
    tensors = Tensors.of(problems)
    families = sorted({each.family for each in problems})
    priors = {name: learn(tensors, weights(problems, [name])) for name in families}
    unlike = learn(tensors, weights(problems, REGIONS))
    chosen = problems[:: given.every]
    found = Parallel(given.jobs, verbose=1)(
        delayed(measure)(each, priors[each.family], unlike if each.family in REGIONS else None, i)
        for i, each in enumerate(chosen)
    )
    rows = [row for part in found for row in part]
    publish("people", "Hidden positives where people gave the labels", results(rows, len(chosen)),
            write=given.write)  # fmt: skip


if __name__ == "__main__":
    main()
