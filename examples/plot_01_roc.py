"""
Observed and recovered ROC curve
================================

1,797 hand-written digits, 300 of the odd ones labeled. Counting the unlabeled as negatives makes
the classifier look mediocre; the recovered curve is the one against the true classes.
"""

from sklearn.metrics import roc_curve

import purecover as pu

example = pu.load_example()
report = pu.evaluate(example.scores, example.labeled, alpha=example.alpha, n_resamples=500)
print(f"observed AUC {report.auc_pu:.3f}, recovered {report.auc:.3f}")
interval = report.intervals["roc_auc"]
print(f"95 % interval {interval.low:.3f} to {interval.high:.3f}")

# %%
# The display draws both curves and the band. The true curve is added for comparison; nothing
# above has seen it.

display = pu.RecoveredRocDisplay(report.roc, band=report.roc_band).plot()
fpr, tpr, _ = roc_curve(example.truth, example.scores)
display.ax_.plot(fpr, tpr, color="black", linewidth=0.9, label="true classes (not used)")
display.ax_.legend(loc="lower right")

# %%
# ``display.frame("pandas")`` holds the numbers that were drawn. More:
# :doc:`where alpha can come from </howto/known_alpha>`,
# :doc:`why the observed curve is too low </explanation/why_too_low>`.
