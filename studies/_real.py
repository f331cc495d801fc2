"""Real scores with known proportions: twelve public data sets, three simple classifiers.

Each data set becomes positive-unlabeled as in the paper: some labeled examples, of which a share
beta is positive, and everything else unlabeled, at most 10,000 of them in the same proportion.
A classifier is trained to tell labeled from unlabeled, and every example is scored by the model
of a fold that did not see it. The data are read from the folder that the environment variable
``PURECOVER_DATA`` names; scores once made are kept in ``studies/out/real``.

``python -m studies._real`` makes all of them; without the data there are no real scores.
"""

from __future__ import annotations

import csv
import gzip
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from studies._common import arguments, progress
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

CACHE = Path(__file__).parent / "out" / "real"
MAX_UNLABELED = 10_000
N_FOLDS = 5
BETAS = (1.0, 0.95, 0.75)


def _above_mean(target: list[str]) -> BoolArray:
    values = np.array(target, dtype=float)
    return values > values.mean()


def _equal(*classes: str) -> Callable[[list[str]], BoolArray]:
    return lambda target: np.isin(np.array(target), classes)


@dataclass(frozen=True)
class DataSet:
    """How a file becomes two classes: the positive ones, how many there are, how many labeled."""

    positive: Callable[[list[str]], BoolArray]
    n_positive: int
    n_labeled: int = 1000
    first_rows: int | None = None


# The number of positives is that of the paper's Table 1; a file that disagrees is refused.
DATA_SETS = {
    "bank": DataSet(_equal("yes"), 5188, first_rows=45_000),
    "concrete": DataSet(_above_mean, 490, n_labeled=100),
    "gas": DataSet(_equal("1"), 2565),
    "housing": DataSet(_above_mean, 209, n_labeled=100),
    "landsat": DataSet(_equal("7"), 1508),
    "mushroom": DataSet(_equal("p"), 3916),
    "pageblock": DataSet(lambda target: ~_equal("1")(target), 560, n_labeled=100),
    "pendigit": DataSet(_equal("0", "1", "2"), 3430),
    "pima": DataSet(_equal("1"), 268, n_labeled=100),
    "shuttle": DataSet(_equal("4"), 8903),
    "spambase": DataSet(_equal("1"), 1813),
    "wine": DataSet(_above_mean, 4113),
}
CLASSIFIERS = ("logistic", "forest", "boosting")


@dataclass(frozen=True)
class Problem:
    """One positive-unlabeled set with the scores of one classifier."""

    data: str
    beta: float
    classifier: str
    repetition: int

    @property
    def name(self) -> str:
        """Its parts joined by bars, which is also its name in the cache."""
        return f"{self.data}|{self.beta:g}|{self.classifier}|{self.repetition}"


@dataclass(frozen=True)
class Scored:
    """Scores, labels and the true proportions (alpha, beta) of a problem."""

    scores: FloatArray
    labeled: BoolArray
    truth: tuple[float, float]


@dataclass(frozen=True)
class Examples:
    """Rows with features, labels, the true proportions, and a seed for what is fitted to them."""

    features: FloatArray
    labeled: BoolArray
    truth: tuple[float, float]
    seed: int


def data_folder() -> Path | None:
    """Where the data are, or None."""
    named = os.environ.get("PURECOVER_DATA")
    if not named:
        return None
    folder = Path(named)
    missing = [name for name in DATA_SETS if not (folder / f"{name}.csv.gz").exists()]
    if missing:
        raise SystemExit(f"PURECOVER_DATA = {named} lacks {', '.join(missing)} (.csv.gz)")
    return folder


def problems(repetitions: int) -> Iterator[Problem]:
    """All problems, quick data sets first."""
    for repetition in range(repetitions):
        for data in sorted(DATA_SETS, key=lambda name: (DATA_SETS[name].n_labeled, name)):
            for beta in BETAS:
                for classifier in CLASSIFIERS:
                    yield Problem(data, beta, classifier, repetition)


def scored(problem: Problem, folder: Path, cache: Path = CACHE) -> Scored:
    """The scores of a problem, made now or taken from the cache."""
    path = cache / f"{problem.name.replace('|', '_')}.npz"
    if path.exists():
        with np.load(path) as kept:
            alpha, beta = kept["truth"]
            return Scored(kept["scores"], kept["labeled"], (float(alpha), float(beta)))
    made = _make(problem, folder)
    cache.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.npz")  # no half-written file under the final name
    np.savez_compressed(part, scores=made.scores, labeled=made.labeled, truth=made.truth)
    part.replace(path)
    return made


# -- from a file to scores --------------------------------------------------------------


def _make(problem: Problem, folder: Path) -> Scored:
    chosen = examples(problem.data, problem.beta, problem.repetition, folder)
    scores = cross_fitted(problem.classifier, chosen.features, chosen.labeled, chosen.seed)
    return Scored(scores, chosen.labeled, chosen.truth)


def examples(data: str, beta: float, repetition: int, folder: Path) -> Examples:
    """The same rows for all classifiers, other ones for each data set, beta and repetition."""
    features, positive = read_data(data, folder)
    rng = np.random.default_rng([zlib.crc32(data.encode()), round(1000 * beta), repetition])
    chosen_l, chosen_u = split(positive, DATA_SETS[data].n_labeled, beta, rng)
    chosen = np.concatenate([chosen_l, chosen_u])
    return Examples(
        features[chosen],
        np.arange(len(chosen)) < len(chosen_l),
        (float(positive[chosen_u].mean()), float(positive[chosen_l].mean())),
        int(rng.integers(2**31)),
    )


@lru_cache(maxsize=1)  # problems come in the order of their data sets
def read_data(name: str, folder: Path) -> tuple[FloatArray, BoolArray]:
    """Features, categories as indicator columns, and who is positive."""
    rule = DATA_SETS[name]
    with gzip.open(folder / f"{name}.csv.gz", "rt", encoding="ascii", newline="") as file:
        rows = list(csv.reader(file))[1:]
    *columns, target = zip(*rows[: rule.first_rows], strict=True)
    positive = rule.positive(list(target))
    if int(positive.sum()) != rule.n_positive:
        raise SystemExit(f"{name}: {positive.sum()} positives, expected {rule.n_positive}")
    return np.column_stack([_encode(np.array(column)) for column in columns]), positive


def _encode(column: NDArray[np.str_]) -> FloatArray:
    try:
        return column.astype(float)[:, None]
    except ValueError:
        return (column[:, None] == np.unique(column)).astype(float)


def split(
    positive: BoolArray, n_labeled: int, beta: float, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which examples are labeled, and which unlabeled."""
    n_true = round(beta * n_labeled)
    ones = rng.permutation(np.flatnonzero(positive))
    zeros = rng.permutation(np.flatnonzero(~positive))
    chosen = np.concatenate([ones[:n_true], zeros[: n_labeled - n_true]])
    ones, zeros = ones[n_true:], zeros[n_labeled - n_true :]
    rest = len(ones) + len(zeros)
    if rest > MAX_UNLABELED:
        kept = round(MAX_UNLABELED * len(ones) / rest)
        ones, zeros = ones[:kept], zeros[: MAX_UNLABELED - kept]
    return chosen, np.concatenate([ones, zeros])


def cross_fitted(name: str, features: FloatArray, labeled: BoolArray, seed: int) -> FloatArray:
    """Probabilities of being labeled, by models of this kind that did not see the row."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    # Posteriors of the folds are comparable; log-odds of the linear model would be, too.
    found = cross_val_predict(
        _classifier(name, seed), features, labeled, cv=folds, method="predict_proba"
    )
    return np.asarray(found[:, 1], dtype=float)


def _classifier(name: str, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if name == "logistic":
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    if name == "forest":
        return RandomForestClassifier(n_estimators=100, min_samples_leaf=5, random_state=seed)
    return HistGradientBoostingClassifier(max_iter=100, learning_rate=0.1, random_state=seed)


def main() -> int:
    parser = arguments("Make the real scores and keep them.", replicates=1)
    options = parser.parse_args()
    folder = data_folder()
    if folder is None:
        raise SystemExit("PURECOVER_DATA must name the folder of the data sets")
    for problem in problems(options.replicates):
        found = scored(problem, folder)
        alpha, beta = found.truth
        progress(f"{problem.name}: {len(found.scores)} scores, alpha {alpha:.4f}, beta {beta:g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
