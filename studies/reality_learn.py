"""Learn the default estimator from the first part of the reference collection.

Writes ``src/purecover/data/reference.npz``. The settings are chosen by leaving out families of
tables: what is printed is how the estimator does on families that it did not learn from, above
all the interval score of the AUC, which is smallest where intervals are narrow and hold.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from studies._common import interval_score
from studies._reality import FOLDER, load_problems
from studies._reality_learning import Lessons, counts_of, folds, grow, read_lessons, redrawn

from purecover._codec import sealed
from purecover.estimators.label_curve import alpha_of, delta_of
from purecover.estimators.reference import KIND, Reference

TARGET = Path(__file__).parent.parent / "src/purecover/data/reference.npz"
STRETCH = (1.4, 0.9)
N_DRAWS = 1000
SEED = 2024


def judge(model: Reference, lessons: Lessons, stretch: Sequence[float]) -> Any:
    """For each problem: whether alpha and AUC are held, their interval scores, and errors."""
    model = replace(model, stretch=np.array(stretch))
    rng = np.random.default_rng(0)
    rows = []
    for x, problem in zip(lessons.x, lessons.problems, strict=True):
        features = dict(zip(lessons.names, x, strict=True))
        draws = model.similar(features, _curve(features, rng)).draws(N_DRAWS, rng)
        delta = draws[:, 1] - draws[:, 0]
        counts = counts_of(problem)
        error = np.sqrt(max(counts.auc_pu_variance, 0.0))
        chance = rng.standard_normal(N_DRAWS)
        auc = (0.5 + (counts.auc_pu - 0.5 + error * chance) / delta).clip(0, 1)
        scores = [
            interval_score(np.quantile(values, [0.025, 0.975]), true)
            for values, true in ((draws[:, 0], problem.alpha), (auc, problem.auc))
        ]
        alpha, beta = draws.mean(axis=0)
        point = 0.5 + (counts.auc_pu - 0.5) / (beta - alpha)
        rows.append([*np.ravel(scores), alpha - problem.alpha, point - problem.auc])
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


def summary(found: Any) -> str:
    size = np.abs(found[:, 6:]).mean(axis=0)
    return ", ".join(
        f"{name}: score {found[:, k].mean():.3f}, holds {100 * found[:, k + 1].mean():.1f} %, "
        f"width {found[:, k + 2].mean():.3f}, |error| {size[k // 3]:.4f}"
        for name, k in (("AUC", 3), ("alpha", 0))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--cache", type=Path, default=Path(".reality/features"))
    parser.add_argument(
        "--stretch", type=float, nargs=2, default=STRETCH, help="of similar problems, for trial"
    )
    given = parser.parse_args()
    real = [p for p in load_problems("first", given.folder) if p.labeling == "random"]
    rng = np.random.default_rng(SEED)
    again = [p for problem in real if (p := redrawn(problem, rng)) is not None]
    lessons = read_lessons(real, again, given.cache)
    print(f"{len(lessons.x)} problems, {len(set(lessons.family))} families of tables")
    is_real = lessons.mass == 1
    parts = []
    for train, test in folds(lessons):
        parts.append((grow(lessons.of(train)), lessons.of(test[is_real[test]])))
    found = np.concatenate([judge(model, test, given.stretch) for model, test in parts])
    judged = [problem for _, test in parts for problem in test.problems]
    clean = np.array([problem.beta == 1 for problem in judged])
    high = np.array([problem.auc >= 0.85 for problem in judged])
    for title, rows in (
        ("all", clean | ~clean),
        ("beta 1", clean),
        ("beta 1, true AUC of 0.85 or more", clean & high),
    ):
        print(f"{title}: {summary(found[rows])}", flush=True)
    if tuple(given.stretch) != STRETCH:
        return
    model = replace(grow(lessons), stretch=np.array(STRETCH))
    kinds = {"log_odds": "f4", "noise": "f4", "cut": "f4", "feature": "i1", "leaf": "u2"}
    kinds |= {"root": "i4", "above": "i4", "mass": "f4"}
    arrays: dict[str, Any] = {name: np.asarray(value) for name, value in vars(model).items()}
    arrays |= {name: arrays[name].astype(kind) for name, kind in kinds.items()}
    np.savez_compressed(TARGET, **sealed(KIND, arrays))
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
