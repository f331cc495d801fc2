"""
Precision at the prior that matters
===================================

Precision depends on how common positives are. By default it is for the population that the
unlabeled were drawn from; ``target`` asks for another one, such as a clinic where one patient in
twenty is ill.
"""

import matplotlib.pyplot as plt

import purecover as pu

example = pu.load_example()
counts = pu.ScoreCounts.from_scores(example.scores, example.labeled)
proportions = pu.MixtureProportions(alpha=example.alpha)

figure, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
for number, prior in enumerate((example.alpha, 0.05)):
    pr = pu.recover_pr(counts, proportions, target=prior)
    pu.RecoveredPrDisplay(pr).plot(
        ax=ax,
        name=f"{prior:.0%} positives",
        plot_observed=number == 0,
        plot_chance_level=False,
    )
ax.legend(loc="center left", bbox_to_anchor=(0.02, 0.7))

# %%
# The same threshold, two populations: recall stays, precision does not.

choice = pu.choose_threshold(counts, proportions, "youden")
for prior in (example.alpha, 0.05):
    found = pu.recover_metrics(counts, proportions, threshold=choice.threshold, target=prior)
    print(
        f"{prior:6.1%} positives: recall {found['recall']:.3f}, precision {found['precision']:.3f}"
    )

# %%
# More: :doc:`which population is meant when nothing is said </howto/known_alpha>`.
