"""
Alpha unknown: what the estimators say
======================================

If nobody knows the share of positives among the unlabeled, it is estimated from the scores.
Several methods side by side show how much depends on the choice.
"""

import purecover as pu

example = pu.load_example()
comparison = pu.compare_priors(
    example.scores,
    example.labeled,
    estimators=["default", "alphamax", "bbe", "roc-slope", "dedpul", "elkan-noto"],
    beta=1.0,
    n_resamples=200,
)
display = pu.displays.PriorsDisplay(comparison).plot()
display.ax_.axvline(example.alpha, color="black", linewidth=0.9, linestyle=":")
display.ax_.set_title(f"dotted: true alpha, {example.alpha:.3f}", fontsize="medium")

# %%
# A report without ``alpha`` takes the default estimator, and its intervals include the
# uncertainty of the estimate.

report = pu.evaluate(example.scores, example.labeled, assume=["pure-top"], n_resamples=200)
for name, interval in (
    ("alpha", report.estimation.intervals["alpha"]),
    ("AUC", report.intervals["roc_auc"]),
):
    print(
        f"{name} {interval.estimate:.3f}, 95 % interval {interval.low:.3f} to {interval.high:.3f}"
    )

# %%
# More: :doc:`when such an estimate can be trusted </howto/unknown_alpha>`,
# :doc:`which estimator to choose </explanation/estimators>`.
