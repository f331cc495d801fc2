"""
Some labels are wrong
=====================

Here one labeled row in four is negative: ``beta``, the share of positives among the labeled rows,
is 0.75. If all labels are assumed to be right, the curve is too low; with ``beta`` it is right.
"""

import matplotlib.pyplot as plt
import numpy as np

import purecover as pu

world = pu.simulate.binormal(separation=2.0)
sample = world.sample(2000, 10_000, alpha=0.25, beta=0.75, random_state=0)

figure, ax = plt.subplots(figsize=(5.4, 5), layout="constrained")
for beta, name in ((1.0, "all labels assumed right"), (0.75, "a quarter wrong")):
    pu.RecoveredRocDisplay.from_predictions(
        sample.scores,
        sample.labeled,
        alpha=0.25,
        beta=beta,
        name=name,
        ax=ax,
        plot_observed=beta == 1.0,
        plot_chance_level=beta == 1.0,
    )
thresholds = np.linspace(-4, 6, 200)
ax.plot(world.fpr(thresholds), world.tpr(thresholds), color="black", linewidth=0.9, label="truth")
ax.legend(loc="lower right")

# %%
# If neither share is known, both are estimated. The labels were drawn at random, and the interval
# of the AUC contains the true one.

report = pu.evaluate(sample.scores, sample.labeled, n_resamples=100)
found = report.proportions
print(f"alpha {found.alpha:.2f} (true 0.25), beta {found.beta:.2f} (true 0.75)")
interval = report.intervals["roc_auc"]
print(f"AUC observed {report.auc_pu:.3f}, corrected {report.auc:.3f}, true {world.auc:.3f}")
print(f"95 % interval {interval.low:.3f} to {interval.high:.3f}")

# %%
# More: :doc:`/howto/known_alpha`.
