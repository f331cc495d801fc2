"""Faults of data and of alpha: in how many samples a report warns, and how often without a fault.

Tables of scikit-learn, and simulated ones, get labels at random. A forest, boosting or logistic
regression scores every row out of fold; then a fault is made. Simulated scores of twelve kinds are
sound data, too. ``python -m studies.faults --write`` takes twelve minutes of processor time.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from studies._common import arguments, publish, table
from studies._worlds import WORLDS, Cell, World

import purecover as pu

LABELED = 0.5
"""Probability that a positive is labeled."""

MODELS: dict[str, Any] = {
    "forest": RandomForestClassifier(100, random_state=0),
    "boosting": HistGradientBoostingClassifier(random_state=0),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
}


@dataclass(frozen=True, eq=False)
class Scored:
    """Rows with held-out scores and those of the model that was trained on them."""

    held_out: NDArray[np.float64]
    trained: NDArray[np.float64]
    labeled: NDArray[np.bool_]
    alpha: float


def features(at: int) -> tuple[Any, Any]:
    """Return features and classes of one of five tables."""
    if at == 0:
        X, y = load_breast_cancer(return_X_y=True)
        return X, y == 0
    if at < 3:
        X, y = load_digits(return_X_y=True)
        return X, (y == 8 if at == 1 else y % 2 == 1)
    share = 0.6 if at == 3 else 0.85
    return make_classification(
        1500, 12, n_informative=6, weights=[share], class_sep=1.5, random_state=at
    )


def scored(model: Any, i: int, seed: int) -> Scored:
    """Label positives of a table at random and score its rows."""
    X, y = features(i % 5)
    y = np.asarray(y, dtype=bool)
    labeled = y & (np.random.default_rng([seed, i]).random(y.size) < LABELED)
    held_out = cross_val_predict(clone(model), X, labeled, cv=4, method="predict_proba")[:, 1]
    trained = clone(model).fit(X, labeled).predict_proba(X)[:, 1]
    return Scored(held_out, trained, labeled, float(y[~labeled].mean()))


SOUND = ("sound, alpha estimated", "sound, alpha given")
Found: TypeAlias = dict[tuple[str, str], list[str]]
CASES: dict[str, Callable[[Scored], tuple[Any, Any, float | None]]] = {
    SOUND[0]: lambda s: (s.held_out, s.labeled, None),
    SOUND[1]: lambda s: (s.held_out, s.labeled, s.alpha),
    "swapped labels": lambda s: (s.held_out, ~s.labeled, None),
    "negated scores": lambda s: (-s.held_out, s.labeled, None),
    "scores of the training rows": lambda s: (s.trained, s.labeled, None),
    "alpha .25 too high": lambda s: (s.held_out, s.labeled, s.alpha + 0.25),
    "constant scores": lambda s: (np.full(s.labeled.size, 0.5), s.labeled, None),
    "every row twice": lambda s: (np.tile(s.held_out, 2), np.tile(s.labeled, 2), None),
}


def warned(scores: Any, labeled: Any, alpha: float | None) -> list[str]:
    """Return the codes of errors and warnings, or the name of the error of a refusal."""
    warnings.simplefilter("ignore")
    try:
        report = pu.evaluate(scores, labeled, alpha=alpha, n_resamples=0)
    except pu.exceptions.PurecoverError as error:
        return [type(error).__name__]
    return [each.code for each in report.findings if each.outcome in ("error", "warning")]


def judge_model(name: str, i: int, seed: int) -> Found:
    """Return what is said of the scores of a model, for each case."""
    sample = scored(MODELS[name], i, seed)
    return {(name, case): warned(*make(sample)) for case, make in CASES.items()}


def judge_world(world: World, i: int, seed: int) -> Found:
    """Return what is said of simulated scores, which have no fault."""
    cell = Cell(world, 0.3, 1.0, 500, 5000)
    rows = cell.sample(seed, i)
    known = zip(SOUND, (None, cell.alpha), strict=True)
    return {(world.name, case): warned(*rows, alpha) for case, alpha in known}


def main() -> None:
    """Print the table."""
    parser = arguments(__doc__ or "", replicates=50)
    options = parser.parse_args()
    # Scores of twenty values have a fault: that they are tied.
    worlds = [world for world in WORLDS if world.name != "rounded normal"]
    jobs = [(judge_model, name) for name in MODELS] + [(judge_world, world) for world in worlds]
    samples = Parallel(-1)(
        delayed(judge)(each, i, options.seed)
        for judge, each in jobs
        for i in range(options.replicates)
    )
    found: dict[tuple[str, str], list[list[str]]] = {}
    for sample in samples:
        for key, codes in sample.items():
            found.setdefault(key, []).append(codes)
    rows = []
    for (name, case), each in found.items():
        codes = Counter(code for codes in each for code in codes).most_common(4)
        shown = ", ".join(f"{code} {n}" for code, n in codes)
        rows.append([name, case, f"{sum(map(bool, each))} of {len(each)}", shown])
    sound = [codes for (_, case), each in found.items() if case in SOUND for codes in each]
    body = (
        "Models: five tables (breast cancer, two problems of digits, two simulated), half of the "
        "positives labeled at random. Other scores: 500 labeled and 5,000 unlabeled rows, 30 % of "
        "them positive. The last column: checks that warn, and in how many samples. Sound data: "
        f"warned in {sum(map(bool, sound))} of {len(sound)} samples.\n\n"
    )
    heads = ("model or scores", "data", "warned or refused", "by")
    title = "Faults that a report warns of"
    publish("faults", title, body + table(heads, rows), write=options.write)


if __name__ == "__main__":
    main()
