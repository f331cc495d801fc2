"""Errors of what users have today, beside ours, on the same simulated data.

Normal scores two standard deviations apart, 1000 labeled and 10000 unlabeled, alpha 0.25, the
true prior given to everyone. ``python -m studies.peers`` ends with a failure if a mean error
of ours is above 0.004 in size and above three of its standard errors. The columns of pulearn
need it installed (it is no dependency of purecover); semisup-metrics has no package, so our
implementation of the same bounds stands in.
"""

from __future__ import annotations

import importlib
import math
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType

import numpy as np
from studies._common import arguments, conclude, progress, publish, table
from studies._contestants import peers
from sklearn.metrics import average_precision_score, roc_auc_score

import purecover as pu
from purecover import simulate

WORLD = simulate.binormal(2.0)
ALPHA = 0.25
N_LABELED, N_UNLABELED = 1000, 10_000
THRESHOLD = 1.0
RECALL = 0.8
LIMIT = 0.004
OURS = "purecover"


def estimates(
    sample: simulate.Sample, pulearn: ModuleType | None
) -> Iterator[tuple[str, str, float, float]]:
    """Everyone's figures for one data set: who, which quantity, estimate, truth."""
    scores, labeled = sample.scores, sample.labeled
    auc, auc_pr = WORLD.auc, WORLD.auc_pr(ALPHA)
    precision = WORLD.precision(THRESHOLD, ALPHA)
    fpr = WORLD.fpr(float(WORLD.positive.inverse_survival(np.array([RECALL]))[0]))

    naive = "naive (unlabeled as negative)"
    yield naive, "AUC", float(roc_auc_score(labeled, scores)), auc
    yield naive, "average precision", float(average_precision_score(labeled, scores)), auc_pr

    counts, proportions = sample.counts, sample.proportions
    at_threshold = pu.recover_metrics(counts, proportions, threshold=THRESHOLD)
    yield OURS, "AUC", pu.recover_auc(counts, proportions), auc
    yield OURS, f"precision at score {THRESHOLD:g}", at_threshold["precision"], precision
    roc = pu.recover_roc(counts, proportions)
    yield OURS, "AUC under the repaired curve", roc.auc, auc
    yield OURS, f"fpr at tpr {RECALL:g}", roc.fpr_at(RECALL), fpr
    yield OURS, "AUC-PR", pu.recover_pr(counts, proportions).auc_pr, auc_pr
    pr = pu.recover_pr(counts, proportions, area="average-precision")
    yield OURS, "average precision", pr.auc_pr, auc_pr
    for repair in ("paper", "hull", "likelihood"):  # for comparison, no verdict
        pr = pu.recover_pr(counts, proportions, repair=repair)
        yield f"{OURS}, repair={repair!r}", "AUC-PR", pr.auc_pr, auc_pr
    published = pu.recover_bounds(counts, ALPHA, method="bootstrap", latent_noise=False)
    for who, bounds in (
        ("bounds of Claesen et al., as published (purecover)", published),
        ("bounds, default (purecover)", pu.recover_bounds(counts, ALPHA)),
    ):
        yield who, "AUC, lower bound", bounds.auc_lower, auc
        yield who, "AUC, upper bound", bounds.auc_upper, auc

    if pulearn is not None:
        share = N_LABELED / (N_LABELED + N_UNLABELED)
        pooled = share + (1 - share) * ALPHA
        y = labeled.astype(int)
        # Its precision counts predictions on labeled and unlabeled together, whatever prior it
        # is given, so the pooled data are its population.
        precision, auc_pr = WORLD.precision(THRESHOLD, pooled), WORLD.auc_pr(pooled)
        for name, prior in (("pooled prior", pooled), ("alpha", ALPHA)):
            who = f"pulearn {pulearn.__version__}, given {name}"
            yield who, "AUC", pulearn.pu_roc_auc_score(y, scores, prior), auc
            flagged = pulearn.pu_precision_score(y, scores, prior, threshold=THRESHOLD)
            yield who, f"precision at score {THRESHOLD:g}", flagged, precision
            area = pulearn.pu_average_precision_score(y, scores, prior)
            yield who, "average precision", area, auc_pr
            curve = pulearn.pu_roc_curve(y, scores, prior)
            yield who, f"fpr at tpr {RECALL:g}", float(np.interp(RECALL, curve.tpr, curve.fpr)), fpr


def main() -> int:
    """Run the comparison."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=400)
    options = parser.parse_args()
    pulearn = load_pulearn()
    errors: dict[tuple[str, str], list[float]] = {}
    truths: dict[tuple[str, str], float] = {}
    for i in range(options.replicates):
        if i % 50 == 0:
            progress(f"repetition {i} of {options.replicates}")
        sample = WORLD.sample(
            N_LABELED,
            N_UNLABELED,
            alpha=ALPHA,
            random_state=np.random.default_rng([options.seed, i]),
        )
        for who, quantity, value, truth in estimates(sample, pulearn):
            errors.setdefault((who, quantity), []).append(value - truth)
            truths[who, quantity] = truth
    rows, failures = [], []
    for (who, quantity), values in errors.items():
        mean, se = float(np.mean(values)), float(np.std(values, ddof=1) / math.sqrt(len(values)))
        verdict = ""
        if who == OURS:
            verdict = "holds" if abs(mean) <= max(LIMIT, 3 * se) else "FAILED"
            if verdict == "FAILED":
                failures.append(f"{quantity}: mean error {mean:+.4f} (standard error {se:.4f})")
        truth = truths[who, quantity]
        rows.append([quantity, who, f"{truth:.4f}", f"{mean:+.4f}", f"{se:.4f}", verdict])
    rows.sort(key=lambda row: (row[0].split(",")[0], row[1] != OURS))
    body = (
        f"Normal scores, means 2 apart; {N_LABELED} labeled, {N_UNLABELED} unlabeled, alpha "
        f"{ALPHA}; {options.replicates} repetitions; the true prior is given. Precision is that of "
        f"the rule score >= {THRESHOLD:g}. The truth is that of data like the unlabeled, except "
        "for precision and average precision of pulearn, which speak of the pooled data. A mean "
        f"error of purecover holds if its size is at most {LIMIT} or three standard errors.\n\n"
        + table(["quantity", "method", "truth", "mean error", "standard error", "verdict"], rows)
    )
    if pulearn is None:
        body += "\n\npulearn is not installed; its rows are left out."
    publish("peers", "Errors of other packages and ours", body, write=options.write)
    return conclude(failures)


def load_pulearn() -> ModuleType | None:
    """The metrics of pulearn, if it is installed."""
    peers()  # makes the other packages importable
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            package = importlib.import_module("pulearn")
            module = importlib.import_module("pulearn.metrics")
    except ImportError:
        return None
    module.__version__ = package.__version__  # type: ignore[attr-defined]
    return module


if __name__ == "__main__":
    sys.exit(main())
