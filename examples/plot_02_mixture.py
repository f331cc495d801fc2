"""
What is hidden among the unlabeled
==================================

The unlabeled are a mixture: a share alpha of positives, whose scores look like those of the
labeled, and negatives. Without the positives the negatives are left: this is the idea of
purecover.
"""

import matplotlib.pyplot as plt
import numpy as np

import purecover as pu

example = pu.load_example()
alpha = example.alpha
edges = np.linspace(example.scores.min(), example.scores.max(), 31)
labeled, _ = np.histogram(example.scores[example.labeled], edges, density=True)
unlabeled, _ = np.histogram(example.scores[~example.labeled], edges, density=True)

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.stairs(unlabeled, edges, color="#767676", linewidth=1.5, label="unlabeled")
ax.stairs(
    alpha * labeled,
    edges,
    fill=True,
    color="#0072B2",
    alpha=0.35,
    label=f"positives among them: {alpha:.2f} x labeled",
)
ax.stairs(
    unlabeled - alpha * labeled,
    edges,
    color="#D55E00",
    linewidth=1.5,
    label="what is left: negatives",
)
hidden, _ = np.histogram(example.scores[~example.labeled & ~example.truth], edges)
ax.stairs(
    hidden / (~example.labeled).sum() / np.diff(edges),
    edges,
    color="black",
    linewidth=0.9,
    linestyle=":",
    label="true negatives (not used)",
)
ax.set(xlabel="Score", ylabel="Density", ylim=(None, 0.48))
ax.legend(loc="upper left", ncols=2, fontsize="small")

# %%
# What is left can be a little negative where few examples fall; curves are therefore repaired,
# see :doc:`what a repair is </explanation/repairs>`. The shares of both at any threshold give the
# recovered rates.

counts = pu.ScoreCounts.from_scores(example.scores, example.labeled)
print(pu.recovery.recover_confusion(counts, pu.MixtureProportions(alpha=alpha), threshold=-1.9))
