"""
A threshold that costs least
============================

A missed positive costs twice as much as a false alarm. Which threshold is best? If unlabeled rows
count as negatives, the cheapest is to flag nobody. Against the true classes it is not.
"""

import matplotlib.pyplot as plt

import purecover as pu

example = pu.load_example()
counts = pu.ScoreCounts.from_scores(example.scores, example.labeled)

# %%
# A false alarm costs 1, a missed positive ``cost_fn=2``. "Observed" means that no positive hides
# among the unlabeled: alpha is 0. Both curves describe the same digits, labeled and unlabeled
# (``target="pooled"``).

chosen = {}
figure, ax = plt.subplots(figsize=(6.2, 4.4), layout="constrained")
for name, alpha, color in (("observed", 0.0, "#767676"), ("recovered", example.alpha, "#0072B2")):
    proportions = pu.MixtureProportions(alpha=alpha)
    curves = pu.recovery.recover_metric_curves(counts, proportions, target="pooled", cost_fn=2)
    choice = pu.choose_threshold(counts, proportions, "cost", target="pooled", cost_fn=2)
    table = curves.frame("pandas")
    ax.plot(table["threshold"], table["cost"], color=color, label=name)
    ax.plot(choice.threshold, choice.metrics["cost"], "o", color=color)
    chosen[name] = choice.threshold
ax.set(xlabel="Threshold", ylabel="Cost per row", ylim=(0, None))
ax.legend(loc="upper left", title="dots: cheapest")

# %%
# The true classes, which were not used so far, agree with the recovered curve:

for name, threshold in chosen.items():
    called = example.scores >= threshold
    cost = 2.0 * (example.truth & ~called).mean() + (~example.truth & called).mean()
    print(f"{name:9}  best threshold {threshold:5.2f}  true cost there {cost:.3f} per row")

# %%
# What the choice means for the unlabeled digits, and other metrics along all thresholds:

print(pu.recovery.recover_confusion(counts, proportions, choice.threshold))
pu.displays.ThresholdDisplay.from_predictions(
    counts, alpha=example.alpha, metrics=("precision", "recall", "f1"), threshold=choice.threshold
)

# %%
# A threshold chosen on some data looks a little too good there: choose on one half and evaluate
# on the other. More: :doc:`other criteria </howto/thresholds>`.
