"""
Alpha unknown: estimates by several methods
===========================================

If nobody knows the share of positives among the unlabeled rows, it is estimated from the scores.
Several methods side by side show how much the estimate depends on the choice of method.
"""

import purecover as pu

example = pu.load_example()
comparison = pu.compare_priors(
    example.scores,
    example.labeled,
    estimators=["default", "label-curve", "alphamax", "bbe"],
    beta=1.0,
    n_resamples=200,
)
display = pu.displays.PriorsDisplay(comparison).plot()
display.ax_.axvline(example.alpha, color="black", linewidth=0.9, linestyle=":")
display.ax_.set_title(f"dotted: true alpha, {example.alpha:.3f}", fontsize="medium")

# %%
# A report without ``alpha`` uses the default estimator, and its intervals include the uncertainty
# of the estimate.

report = pu.evaluate(example.scores, example.labeled, n_resamples=200)
for name, interval in (
    ("alpha", report.estimation.intervals["alpha"]),
    ("AUC", report.intervals["roc_auc"]),
):
    print(
        f"{name} {interval.estimate:.3f}, 95 % interval {interval.low:.3f} to {interval.high:.3f}"
    )

# %%
# More: :doc:`when to distrust an estimate </howto/unknown_alpha>`,
# :doc:`what each estimator assumes </explanation/estimators>`.
