"""
Real data, from scores to a sentence
====================================

Images of cell nuclei from 569 breast tumors. A pathologist has confirmed 80 malignant tumors; all
other tumors are unlabeled. How well do three measurements of the nuclei distinguish malignant from
benign tumors?

The data come with scikit-learn (Street, Wolberg and Mangasarian, 1993). The true classes are known
and used in two places only: as the answers of the pathologist, and at the end.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import purecover as pu

data = load_breast_cancer(as_frame=True)
X = data.data[["mean texture", "mean smoothness", "mean symmetry"]]
malignant = (data.target == 0).to_numpy()

labeled = np.zeros(len(X), dtype=bool)
confirmed = np.random.default_rng(0).choice(np.flatnonzero(malignant), 80, replace=False)
labeled[confirmed] = True

# %%
# Scores
# ------
#
# Each tumor is scored by a model that was not trained on it.

model = make_pipeline(StandardScaler(), LogisticRegression())
scores = pu.cross_fit_scores(model, X, labeled, random_state=0)

# %%
# The default report
# ------------------
#
# Nothing is known of alpha, the share of malignant tumors among the unlabeled ones.

report = pu.evaluate(scores, labeled)
print(report)

# %%
# The interval of the AUC is wide. The report says what helps most: judge ten high-scoring rows.
#
# Ten answers
# -----------
#
# Somebody looks at ten unlabeled tumors, drawn at random among those with high scores.

design = pu.audit.draw(scores, labeled, n=10)
answers = malignant[design.rows]  # here the true classes answer
judged = pu.evaluate(scores, labeled, judged=design.answer(answers))
print(f"{answers.sum()} of 10 are malignant")
print(judged)

# %%
# The result
# ----------
#
# Both curves with the true one, which is known here:

truth = pu.evaluate(scores, labeled, truth=malignant, n_resamples=0).truth
display = pu.RecoveredRocDisplay(judged.roc, band=judged.roc_band).plot()
display.ax_.plot(truth.roc.fpr_pu, truth.roc.tpr_pu, color="black", linewidth=0.9, label="true")
display.ax_.legend(loc="lower right")

# %%
# The AUC with each step of knowledge:

for name, each in (("scores only", report), ("ten answers", judged)):
    interval = each.intervals["roc_auc"]
    print(f"{name:12} {each.auc:.2f}, 95 % interval {interval.low:.2f} to {interval.high:.2f}")
print(f"{'observed':12} {report.auc_pu:.2f}")
print(f"{'true':12} {truth.metrics['roc_auc']:.2f}")

# %%
# What to write
# -------------

auc, alpha = judged.intervals["roc_auc"], judged.intervals["alpha"]
print(
    f"The AUC is {auc.estimate:.2f} (95 % interval {auc.low:.2f} to {auc.high:.2f}) against the\n"
    f"true classes of positives like the {labeled.sum()} labeled ones. It is corrected for\n"
    f"unlabeled positives: {alpha.estimate:.0%} of the unlabeled rows ({alpha.low:.0%} to\n"
    f"{alpha.high:.0%}), estimated from the scores and ten judged rows. Without\n"
    f"correction it is {judged.auc_pu:.2f}. Scores are out of fold."
)
