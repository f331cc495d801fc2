"""
Alpha known only as a range
===========================

How much does the corrected AUC depend on alpha and beta? A map over all pairs; gray pairs
contradict the scores.
"""

import matplotlib.pyplot as plt
import numpy as np

import purecover as pu

example = pu.load_example()
counts = pu.ScoreCounts.from_scores(example.scores, example.labeled)
grid = pu.recovery.sensitivity(
    counts, "roc_auc", alphas=np.linspace(0, 0.6, 61), betas=np.linspace(0.7, 1, 61)
)
pu.displays.SensitivityDisplay(grid).plot()

# %%
# Labels are right (beta 1) and alpha is between 0.35 and 0.45: bounds that contain the curve with
# 95 % confidence for every alpha of the range, and the curve for alpha 0.4:

bounds = pu.recover_bounds(counts, alpha_range=(0.35, 0.45))
print(f"AUC between {bounds.auc_lower:.2f} and {bounds.auc_upper:.2f}")

figure, ax = plt.subplots(figsize=(5.2, 4.8), layout="constrained")
pu.RecoveredRocDisplay.from_predictions(counts, alpha=0.4, ax=ax)
ax.plot(*bounds.lower_roc, color="black", linewidth=0.9, label="bounds for alpha 0.35 to 0.45")
ax.plot(*bounds.upper_roc, color="black", linewidth=0.9)
ax.legend(loc="lower right")

# %%
# More: :doc:`/howto/ranges`.
