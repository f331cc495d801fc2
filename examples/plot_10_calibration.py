"""
Are the probabilities right?
============================

A model gives each row a probability of being positive. Labeled and unlabeled rows and alpha
determine how often rows with a probability of 0.3 are positive.
"""

import matplotlib.pyplot as plt
import numpy as np

import purecover as pu
from purecover.displays import CalibrationDisplay, DecisionCurveDisplay
from purecover.intervals import curve_band
from purecover.recovery import calibration_test, recover_calibration, recover_decision_curve

sample = pu.simulate.binormal(1.5).sample(1000, 5000, alpha=0.25, random_state=0)
log_odds = 1.5 * sample.scores - 1.125 + np.log(0.25 / 0.75)
right = pu.ScoreCounts.from_scores(1 / (1 + np.exp(-log_odds)), sample.labeled)
boastful = pu.ScoreCounts.from_scores(1 / (1 + np.exp(-2 * log_odds)), sample.labeled)

# %%
# Two models with the same ranking, hence the same ROC curve. The second has twice the log-odds: it
# is too sure of itself. The dashed line counts unlabeled rows as negative.

figure, axes = plt.subplots(1, 2, figsize=(10, 5.4), layout="constrained")
for ax, name, counts in zip(axes, ("right", "too sure"), (right, boastful), strict=True):
    curve = recover_calibration(counts, sample.proportions)
    band = curve_band(counts, sample.proportions, "calibration", n_resamples=200, random_state=0)
    CalibrationDisplay(curve, band=band).plot(ax=ax)
    p_value = calibration_test(counts, sample.proportions).p_value
    ax.set_title(f"{name}: slope {curve.slope:.2f}, test of calibration p = {p_value:.2g}")

# %%
# The net benefit of flagging from a probability on, and of flagging everybody or nobody.
# Probabilities that are too sure have less at both ends.

figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
for name, counts in (("right", right), ("too sure", boastful)):
    decisions = recover_decision_curve(counts, sample.proportions)
    DecisionCurveDisplay(decisions, name=name).plot(
        ax=ax, plot_observed=False, plot_chance_level=name == "right"
    )
ax.set_ylim(-0.03, 0.26)
ax.legend(loc="upper right")

# %%
# More: :doc:`/howto/probabilities`.
