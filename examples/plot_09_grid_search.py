"""
A scorer for GridSearchCV
=========================

A search by F1 against the unlabeled can pick the wrong model. ``make_pu_scorer`` makes a scorer
for scikit-learn that recovers the metric. Without ``alpha`` it estimates it in each fold.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import purecover as pu

# %%
# Two thousand positives were collected apart; of a thousand unlabeled rows a tenth are positive.
# How much should a labeled row weigh in training?


def draw(
    seed: int, n_labeled: int, n_unlabeled: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Rows with two useful features, their labels and their true classes."""
    rng = np.random.default_rng(seed)
    labeled = np.repeat([True, False], [n_labeled, n_unlabeled])
    truth = labeled | (rng.random(labeled.size) < 0.1)
    X = rng.normal(size=(labeled.size, 5))
    X[truth, :2] += 1.8
    return X, labeled, truth


X, labeled, _ = draw(0, 2000, 1000)
weights = [0.1, 0.2, 0.3, 0.6, 1, 2, 3]
search = GridSearchCV(
    LogisticRegression(),
    {"class_weight": [{True: weight, False: 1} for weight in weights]},
    scoring={"observed": "f1", "recovered": pu.make_pu_scorer("f1", alpha=0.1)},
    refit="recovered",
    cv=StratifiedKFold(5, shuffle=True, random_state=0),
).fit(X, labeled)
print(f"chosen weight: {search.best_params_['class_weight'][True]}")

# %%
# Here the truth is known, so that every candidate can be judged on new rows.

new, _, truth = draw(1000, 0, 20_000)
true_f1 = [
    f1_score(truth, LogisticRegression(**candidate).fit(X, labeled).predict(new))
    for candidate in search.cv_results_["params"]
]

figure, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
for name, values, look in (
    ("observed", search.cv_results_["mean_test_observed"], {"color": "#767676", "ls": "--"}),
    ("recovered", search.cv_results_["mean_test_recovered"], {"color": "#0072B2"}),
    ("true, on new rows", true_f1, {"color": "black", "lw": 0.9}),
):
    ax.plot(weights, values, marker="o", label=name, **look)
ax.set(xscale="log", xlabel="Weight of a labeled row", ylabel="F1")
ax.set_xticks(weights, [str(weight) for weight in weights], minor=False)
ax.minorticks_off()
ax.legend()

# %%
# The observed F1 is highest where the true one is low.
# :doc:`The guide </howto/model_selection>` says why, and for which metrics the order is right
# without any correction.
