"""Corrections people use today, where their assumptions hold and where they do not.

``python -m studies.migration`` draws normal scores two standard deviations apart in four
situations: two samples, one sample, wrong labels, and labels that went to the clear positives
first. Everybody is given the true shares; pulearn takes one share, so it is run with that among all
rows and with that among the unlabeled. Scores divided by the label frequency, as scripts written by
hand have it, get probabilities of a label that are exactly right. What is printed are mean errors:
the truth is that of the population the data were drawn from.
"""

from __future__ import annotations

import csv
import math
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from studies._common import RESULTS, arguments, conclude, progress, publish, table
from studies.peers import LIMIT, RECALL, THRESHOLD, load_pulearn
from numpy.typing import NDArray
from sklearn import metrics

import purecover as pu
from purecover import simulate

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

WORLD = simulate.binormal(2.0)
PRIOR = 0.25
LABEL_FREQUENCY = 0.4
N_LABELED, N_UNLABELED = 1000, 10_000
OURS = "purecover"
NAIVE = "scikit-learn"
DIVIDED = "divided by c"
ALL_ROWS, UNLABELED = "pulearn, share of all rows", "pulearn, share of the unlabeled"
AUC, FPR, AVERAGE, AUC_PR = "AUC", f"fpr at tpr {RECALL:g}", "average precision", "AUC-PR"
PRECISION, RECALL_AT, F1, SPECIFICITY = (
    f"{name} at {THRESHOLD:g}" for name in ("precision", "recall", "F1", "specificity")
)


@dataclass(frozen=True)
class Data:
    """One data set, with what is true of it and exact probabilities of a label."""

    scores: FloatArray
    labeled: BoolArray
    proportions: pu.MixtureProportions
    label_probability: FloatArray
    at_threshold: float


def two_samples(rng: np.random.Generator, *, beta: float = 1.0) -> Data:
    """Labeled and unlabeled drawn apart; the population is that of the unlabeled."""
    sample = WORLD.sample(N_LABELED, N_UNLABELED, alpha=PRIOR, beta=beta, random_state=rng)
    share = N_LABELED / (N_LABELED + N_UNLABELED)

    def probability(scores: FloatArray) -> FloatArray:
        positive, negative = WORLD.positive_density(scores), WORLD.negative_density(scores)
        labeled = share * (beta * positive + (1 - beta) * negative)
        return labeled / (labeled + (1 - share) * (PRIOR * positive + (1 - PRIOR) * negative))

    return Data(
        sample.scores,
        sample.labeled,
        sample.proportions,
        probability(sample.scores),
        float(probability(np.array([THRESHOLD]))[0]),
    )


def wrong_labels(rng: np.random.Generator) -> Data:
    """Two samples; a quarter of the labeled are negative."""
    return two_samples(rng, beta=0.75)


def one_sample(rng: np.random.Generator, *, clear_first: bool = False) -> Data:
    """One sample, some of its positives labeled; the population is the whole of it."""
    n = N_LABELED + N_UNLABELED
    truth = rng.random(n) < PRIOR
    scores = rng.normal(2.0 * truth, 1.0)

    def frequency(values: FloatArray) -> FloatArray:
        if not clear_first:
            return np.full(values.shape, LABEL_FREQUENCY)
        # Over the scores of positives, symmetric around 2, the mean is the same.
        return 2 * LABEL_FREQUENCY / (1 + np.exp(-2 * (values - 2.0)))

    def probability(values: FloatArray) -> FloatArray:
        out: FloatArray = WORLD.posterior(values, PRIOR) * frequency(values)
        return out

    labeled = truth & (rng.random(n) < frequency(scores))
    proportions = pu.MixtureProportions.from_censoring(
        prior=PRIOR, labeled_share=PRIOR * LABEL_FREQUENCY
    )
    return Data(
        scores,
        labeled,
        proportions,
        probability(scores),
        float(probability(np.array([THRESHOLD]))[0]),
    )


def clear_first(rng: np.random.Generator) -> Data:
    """One sample; the higher a positive scores, the more likely its label."""
    return one_sample(rng, clear_first=True)


SITUATIONS = {
    "two samples": two_samples,
    "one sample": one_sample,
    "wrong labels (a quarter)": wrong_labels,
    "clear positives labeled first": clear_first,
}


def truths() -> dict[str, float]:
    """What is true of the population, in which a share ``PRIOR`` is positive."""
    tpr, fpr = float(WORLD.tpr(THRESHOLD)), float(WORLD.fpr(THRESHOLD))
    precision = float(WORLD.precision(THRESHOLD, PRIOR))
    return {
        AUC: WORLD.auc,
        FPR: float(WORLD.fpr(float(WORLD.positive.inverse_survival(np.array([RECALL]))[0]))),
        PRECISION: precision,
        RECALL_AT: tpr,
        F1: 2 * precision * tpr / (precision + tpr),
        SPECIFICITY: 1 - fpr,
        AVERAGE: WORLD.auc_pr(PRIOR),
        AUC_PR: WORLD.auc_pr(PRIOR),
    }


def estimates(data: Data, pulearn: ModuleType | None) -> Iterator[tuple[str, str, float]]:
    """Everyone's figures for one data set: who, which quantity, estimate."""
    for quantity, value in classical(data.labeled, data.scores).items():
        yield NAIVE, quantity, value
    for quantity, value in divided(data).items():
        yield DIVIDED, quantity, value
    for quantity, value in ours(data).items():
        yield OURS, quantity, value
    if pulearn is not None:
        share = float(data.labeled.mean())
        alpha, beta = data.proportions.alpha, data.proportions.beta
        for who, prior in (
            (ALL_ROWS, share * beta + (1 - share) * alpha),
            (UNLABELED, alpha),
        ):
            for quantity, value in theirs(data, pulearn, prior).items():
                yield who, quantity, value


def classical(
    labels: BoolArray, scores: FloatArray, weights: FloatArray | None = None
) -> dict[str, float]:
    """scikit-learn's figures, as if the labels were the classes."""
    flagged = scores >= THRESHOLD
    fpr, tpr, _ = metrics.roc_curve(labels, scores, sample_weight=weights)
    average = metrics.average_precision_score(labels, scores, sample_weight=weights)
    return {
        AUC: metrics.roc_auc_score(labels, scores, sample_weight=weights),
        FPR: float(np.interp(RECALL, tpr, fpr)),
        PRECISION: metrics.precision_score(labels, flagged, sample_weight=weights),
        RECALL_AT: metrics.recall_score(labels, flagged, sample_weight=weights),
        F1: metrics.f1_score(labels, flagged, sample_weight=weights),
        SPECIFICITY: metrics.recall_score(~labels, ~flagged, sample_weight=weights),
        AVERAGE: average,
        AUC_PR: average,  # the area it has
    }


def divided(data: Data) -> dict[str, float]:
    """The probability of a label over its mean among the labeled, as a weight of being positive."""
    c = data.label_probability[data.labeled].mean()
    positive = np.where(data.labeled, 1.0, np.minimum(data.label_probability / c, 1.0))
    labels = np.repeat([True, False], len(positive))
    return classical(labels, np.tile(data.scores, 2), np.concatenate((positive, 1 - positive)))


def ours(data: Data) -> dict[str, float]:
    """The recovered figures."""
    counts = pu.ScoreCounts.from_scores(data.scores, data.labeled)
    found = pu.recover_metrics(counts, data.proportions, threshold=THRESHOLD)
    return {
        AUC: found["roc_auc"],
        FPR: pu.recover_roc(counts, data.proportions).fpr_at(RECALL),
        PRECISION: found["precision"],
        RECALL_AT: found["recall"],
        F1: found["f1"],
        SPECIFICITY: found["specificity"],
        AVERAGE: found["average_precision"],
        AUC_PR: found["auc_pr"],
    }


def theirs(data: Data, pulearn: ModuleType, prior: float) -> dict[str, float]:
    """The figures of pulearn's metrics."""
    y, scores = data.labeled.astype(int), data.scores
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of areas above 1, which count as they are
        curve = pulearn.pu_roc_curve(y, scores, prior)
        area = pulearn.pu_roc_auc_score(y, scores, prior)
    return {
        AUC: area,
        FPR: float(np.interp(RECALL, curve.tpr, curve.fpr)),
        PRECISION: pulearn.pu_precision_score(y, scores, prior, threshold=THRESHOLD),
        RECALL_AT: pulearn.pu_recall_score(y, scores, threshold=THRESHOLD),
        F1: pulearn.pu_f1_score(y, scores, prior, threshold=THRESHOLD),
        SPECIFICITY: pulearn.pu_specificity_score(
            y, data.label_probability, threshold=data.at_threshold
        ),
        AVERAGE: pulearn.pu_average_precision_score(y, scores, prior),
        AUC_PR: pulearn.pu_precision_recall_curve(y, scores, prior).corrected_ap,
    }


def main() -> int:
    """Run the study."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=200)
    options = parser.parse_args()
    pulearn = load_pulearn()
    people = [NAIVE, ALL_ROWS, UNLABELED, DIVIDED, OURS]
    if pulearn is None:
        people = [NAIVE, DIVIDED, OURS]
    truth = truths()
    rows, failures, largest = [], [], 0.0
    for number, (situation, draw) in enumerate(SITUATIONS.items()):
        progress(situation)
        errors: dict[tuple[str, str], list[float]] = {}
        for i in range(options.replicates):
            data = draw(np.random.default_rng([options.seed, number, i]))
            for who, quantity, value in estimates(data, pulearn):
                errors.setdefault((quantity, who), []).append(value - truth[quantity])
        for quantity in truth:
            means = {who: float(np.mean(errors[quantity, who])) for who in people}
            wide = {
                who: float(np.std(errors[quantity, who])) / math.sqrt(options.replicates)
                for who in people
            }
            largest = max(largest, *wide.values())
            promised = draw is not clear_first and quantity not in (AVERAGE, AUC_PR)
            if promised and abs(means[OURS]) > max(LIMIT, 3 * wide[OURS]):
                failures.append(f"{situation}, {quantity}: mean error {means[OURS]:+.4f}")
            signed = [f"{means[who]:+.3f}" for who in people]
            rows.append([situation, quantity, f"{truth[quantity]:.3f}", *signed])
    headers = ["situation", "quantity", "truth", *people]
    version = "not installed" if pulearn is None else f"version {pulearn.__version__}"
    body = (
        f"Normal scores, means 2 apart; a share of {PRIOR:g} of the population is positive. Two "
        f"samples: {N_LABELED} labeled and {N_UNLABELED} unlabeled. One sample: "
        f"{N_LABELED + N_UNLABELED} rows, {100 * LABEL_FREQUENCY:g} % of the positives labeled. "
        f"{options.replicates} repetitions; mean errors, with standard errors of at most "
        f"{largest:.4f}. True shares are given to everybody, and exact probabilities of a label to "
        "those who divide by their mean among the labeled (c), and to the specificity of pulearn "
        f"({version}). Clear positives labeled first: the probability of a label rises with the "
        f"score; then nobody's assumptions hold. Elsewhere a mean error of {OURS} must be at most "
        f"{LIMIT} or three standard errors in size, but for areas under precision-recall curves, "
        "which rest on a repaired curve and are for information.\n\n" + table(headers, rows)
    )
    publish("migration", "Corrections in use today", body, write=options.write)
    if options.write:
        with (RESULTS / "migration.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([headers, *rows])
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
