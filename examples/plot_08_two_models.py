"""
Is the better model really better?
==================================

Two models score the same rows. Sampling moves both results together, so the interval of a paired
difference is narrower than the intervals of the two models suggest.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

import purecover as pu

X, truth = make_classification(4000, weights=[0.7], class_sep=0.8, random_state=0)
labeled = (truth == 1) & (np.random.default_rng(0).random(4000) < 0.3)
alpha = float(truth[~labeled].mean())  # here it can be counted

models = {
    "regression": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=2, random_state=0),
}
scores = {
    name: cross_val_predict(model, X, labeled, method="predict_proba")[:, 1]
    for name, model in models.items()
}
comparison = pu.compare_scores(scores, labeled, alpha=alpha, n_resamples=200)

# %%
# Both curves in one picture:

figure, ax = plt.subplots(figsize=(5.4, 5), layout="constrained")
for name, report in comparison.reports.items():
    pu.RecoveredRocDisplay(report.roc).plot(
        ax=ax, name=name, plot_chance_level=name == comparison.baseline
    )
ax.legend(loc="lower right", fontsize="small")

# %%
# The regression ranks better. At the threshold where each has its highest Youden index, the tree
# does better, as its curve has a corner there. Both differences are clear, that of AUC-PR is not:

metrics = ["roc_auc", "auc_pr", "f1", "mcc"]
gaps = [comparison.differences[metric]["tree"] for metric in metrics]
figure, ax = plt.subplots(figsize=(6.2, 2.6), layout="constrained")
for row, gap in enumerate(gaps):
    ax.plot([gap.low, gap.high], [row, row], color="#0072B2", linewidth=2)
    ax.plot(gap.estimate, row, "o", color="#0072B2")
ax.axvline(0, color="#767676", linestyle="--", linewidth=1.2)
ax.set_yticks(range(len(metrics)), [pu.METRICS[metric].title for metric in metrics])
ax.set_xlabel("tree minus regression, 95 % interval")
ax.set_ylim(len(metrics) - 0.5, -0.5)

# %%
# More: :doc:`/howto/two_models`.
