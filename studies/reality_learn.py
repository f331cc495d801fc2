"""Learn the default estimator from the first part of the reference collection.

Writes ``src/purecover/data/reference.npz``. The settings are chosen by leaving out families of
tables: what is printed is how the estimator does on families that it did not learn from.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from studies._reality import FOLDER, load_problems
from studies._reality_learning import Lessons, folds, grow, read_lessons, redrawn

from purecover._codec import sealed
from purecover.estimators.label_curve import alpha_of, delta_of
from purecover.estimators.reference import KIND, Reference

TARGET = Path(__file__).parent.parent / "src/purecover/data/reference.npz"
STRETCHES = (1.0, 1.1, 1.2, 1.3, 1.4, 1.6)
N_DRAWS = 2000
SEED = 2024


def judge(model: Reference, lessons: Lessons, stretch: float) -> Any:
    """For each problem: coverage of alpha, delta and AUC, width, and errors of delta and AUC."""
    model = replace(model, stretch=stretch)
    rng = np.random.default_rng(0)
    rows = []
    for x, problem in zip(lessons.x, lessons.problems, strict=True):
        features = dict(zip(lessons.names, x, strict=True))
        draws = model.similar(features, _curve(features, rng)).draws(N_DRAWS, rng)
        delta = draws[:, 1] - draws[:, 0]
        observed = _auc(problem.labeled, problem.unlabeled)
        # Error of the observed AUC, roughly.
        error = np.sqrt((1 / problem.n_labeled + 1 / problem.n_unlabeled) / 12)
        auc = (0.5 + (observed - 0.5 + error * rng.standard_normal(N_DRAWS)) / delta).clip(0, 1)
        alpha, beta = draws.mean(axis=0)
        point = min(0.5 + (observed - 0.5) / (beta - alpha), 1.0)
        true = {"alpha": problem.alpha, "delta": problem.beta - problem.alpha, "auc": problem.auc}
        ends = {
            name: np.quantile(values, [0.025, 0.975])
            for name, values in (("alpha", draws[:, 0]), ("delta", delta), ("auc", auc))
        }
        held = [ends[name][0] <= true[name] <= ends[name][1] for name in ends]
        rows.append(
            [
                *held,
                np.ptp(ends["auc"]),
                beta - alpha - true["delta"],
                point - problem.auc,
                observed - problem.auc,
            ]
        )
    return np.array(rows, dtype=np.float64)


def _curve(features: dict[str, float], rng: np.random.Generator) -> Any:
    """Roughly the posterior of the label curve, of which only a few figures are kept."""
    a, b = expit(features["curve_a"]), expit(features["curve_b"])
    alpha, delta = alpha_of(a, b), delta_of(a, b)
    alpha = (alpha + features["width_alpha"] / 3.92 * rng.standard_normal(200)).clip(0, 0.98)
    beta = alpha + (delta + features["width_delta"] / 3.92 * rng.standard_normal(200)).clip(0.02)
    beta = np.where(beta > 1 - 0.002, 1.0, beta)
    alpha = np.minimum(alpha, beta - 0.01)
    return alpha.clip(0), beta, np.full(200, 1 / 200)


def _auc(labeled: Any, unlabeled: Any) -> float:
    below = np.cumsum(unlabeled) - unlabeled / 2
    return float(labeled @ below / labeled.sum() / unlabeled.sum())


def summary(found: Any) -> str:
    held = found[:, :3]
    width, delta, auc, raw = (found[:, k] for k in range(3, 7))
    worse = np.abs(auc) > np.abs(raw) + 1e-9
    return (
        f"holds alpha {held[:, 0].mean():.3f} delta {held[:, 1].mean():.3f} "
        f"AUC {held[:, 2].mean():.3f}, width {width.mean():.3f}, |error| delta "
        f"{np.abs(delta).mean():.3f} AUC {np.abs(auc).mean():.3f} (raw {np.abs(raw).mean():.3f}), "
        f"AUC worse than raw {worse.mean():.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--cache", type=Path, default=Path(".reality/first_features.npz"))
    parser.add_argument("--again", type=int, default=1, help="other draws of each problem")
    parser.add_argument("--stretch", type=float)
    given = parser.parse_args()
    problems = [p for p in load_problems("first", given.folder) if p.labeling == "random"]
    rng = np.random.default_rng(SEED)
    again = (redrawn(problem, rng) for problem in list(problems) for _ in range(given.again))
    problems += [problem for problem in again if problem is not None]
    lessons = read_lessons(problems, given.cache)
    print(f"{len(problems)} problems, {len(set(lessons.family))} families of tables")
    parts = [(grow(lessons.of(train)), lessons.of(test)) for train, test in folds(lessons)]
    order = np.concatenate([test for _, test in folds(lessons)])
    overlap = np.array([problems[i].auc < 0.8 for i in order])
    for stretch in STRETCHES if given.stretch is None else (given.stretch,):
        found = np.concatenate([judge(m, test, stretch) for m, test in parts])
        print(f"stretch {stretch}: {summary(found)}")
        print(f"   overlapping: {summary(found[overlap])}", flush=True)
    if given.stretch is None:
        return
    model = grow(lessons)
    kinds = {"log_odds": "f4", "noise": "f4", "cut": "f4", "feature": "i1", "leaf": "u2"}
    kinds |= {"root": "i4", "above": "i4"}
    arrays: dict[str, Any] = {name: np.asarray(value) for name, value in vars(model).items()}
    arrays |= {name: arrays[name].astype(kind) for name, kind in kinds.items()}
    arrays["stretch"] = np.array(given.stretch)
    arrays = sealed(KIND, arrays)
    np.savez_compressed(TARGET, **arrays)
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
