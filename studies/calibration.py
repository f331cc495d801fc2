"""Whether metrics of probabilities recover the truth, and how often their intervals hold it.

``python -m studies.calibration`` simulates data sets with right probabilities and counts how
often 95 % intervals of Brier score, log loss and calibration slope hold the truth, with alpha
known, and how often the test of calibration complains at 5 %. With the folder of the paper's data
sets in ``PURECOVER_DATA`` it also compares, on all 36 rows, the recovered Brier score of
probabilities with the true one, with alpha known and estimated. It ends with a failure if coverage
leaves 93 to 97 %, if the size of the test leaves 4 to 6 % (verdicts need 1000 data sets a cell), or
if Brier scores, recovered and true, are more than .005 (known) or .015 (estimated) apart on the
mean of all rows. Row by row they cannot be that close: the same probabilities of other labeled rows
differ by more, which the study works out beside.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from studies import _real
from studies._common import arguments, conclude, progress, publish, table
from studies.coverage import LEVEL, Tally
from scipy.integrate import quad
from scipy.special import expit, log_expit

import purecover as pu
from purecover.estimators import LabelCurve, ReferencePosterior
from purecover.exceptions import PurecoverError
from purecover.paper import load_paper_data
from purecover.recovery import calibration_test, recover_metrics

SHIFT, ALPHA = 1.5, 0.25
SIZES = (200, 1000)
RESAMPLES = 200
METRICS = ("brier", "log_loss", "calibration_slope")
COVERED, SIZE, FEWEST = (0.93, 0.97), (0.04, 0.06), 1000
WAYS = {"known": 0.005, "estimated, default": 0.015, "estimated, label-curve": 0.015}
"""How close Brier scores must be on the mean, by what says alpha and beta."""

HEADERS = ["beta", "metric", "coverage", "error", "too low / high", "median width", "data sets"]
BRIER = (
    "alpha and beta", "labels", "problems", "true", "recovered", "difference", "mean distance",
    "by chance alone", "largest",
)  # fmt: skip
# Labeled, unlabeled, alpha, beta, distance of the classes.
TESTED = (
    (200, 1000, 0.25, 1.0, 1.5),
    (1000, 5000, 0.25, 0.8, 1.5),
    (500, 5000, 0.05, 1.0, 2.0),
    (1000, 2000, 0.5, 0.95, 1.0),
)


def log_odds(scores: np.ndarray, shift: float, alpha: float) -> np.ndarray:
    """Of being positive where normal scores of both classes are so far apart."""
    return shift * scores - shift**2 / 2 + np.log(alpha / (1 - alpha))


def sample(
    sizes: tuple[int, int], alpha: float, beta: float, shift: float, rng: np.random.Generator
) -> pu.ScoreCounts:
    """Right probabilities, counted."""
    drawn = pu.simulate.binormal(shift).sample(*sizes, alpha=alpha, beta=beta, random_state=rng)
    return pu.ScoreCounts.from_scores(expit(log_odds(drawn.scores, shift, alpha)), drawn.labeled)


def truths() -> dict[str, float]:
    """Brier score and log loss of right probabilities: integrals over the scores."""

    def mean(loss: tuple[Callable[[float], float], Callable[[float], float]]) -> float:
        def at(x: float) -> float:
            line = float(log_odds(np.array(x), SHIFT, ALPHA))
            ours, theirs = (np.exp(-((x - m) ** 2) / 2) / np.sqrt(2 * np.pi) for m in (SHIFT, 0))
            return float(ALPHA * ours * loss[0](line) + (1 - ALPHA) * theirs * loss[1](line))

        return float(quad(at, -9, 11, limit=200)[0])

    return {
        "brier": mean((lambda v: expit(-v) ** 2, lambda v: expit(v) ** 2)),
        "log_loss": mean((lambda v: -log_expit(v), lambda v: -log_expit(-v))),
        "calibration_slope": 1.0,
    }


def study_coverage(beta: float, replicates: int, seed: int) -> dict[str, Tally]:
    """How often intervals hold the truth."""
    tallies, truth = {name: Tally() for name in METRICS}, truths()
    for i in range(replicates):
        rng = np.random.default_rng([seed, 1, int(100 * beta), i])
        result = pu.intervals.bootstrap(
            sample(SIZES, ALPHA, beta, SHIFT, rng),
            pu.MixtureProportions(ALPHA, beta),
            metrics=METRICS,
            curves=False,
            n_resamples=RESAMPLES,
            confidence_level=LEVEL,
            random_state=rng,
        )
        for name, tally in tallies.items():
            tally.add(result.interval(name), truth[name])
    return tallies


def study_test(index: int, replicates: int, seed: int) -> float:
    """Share of right probabilities of which the test complains at 5 %."""
    n_labeled, n_unlabeled, alpha, beta, shift = TESTED[index]
    complaints = 0
    for i in range(replicates):
        rng = np.random.default_rng([seed, 2, index, i])
        counts = sample((n_labeled, n_unlabeled), alpha, beta, shift, rng)
        found = calibration_test(counts, pu.MixtureProportions(alpha, beta))
        complaints += found.p_value < 0.05
    return complaints / replicates


def chance(p: np.ndarray, y: np.ndarray, seen: np.ndarray) -> float:
    r"""Standard error of a Brier score that is recovered with the true shares.

    It is off by :math:`\frac{\alpha(1-\alpha)}{\beta-\alpha}` times how far means of
    :math:`2p` over each class differ between labeled and unlabeled rows.
    """
    alpha, beta = y[~seen].mean(), y[seen].mean()
    variance = sum(
        share**2 * np.var(2 * p[y == of]) * (1 / (y[seen] == of).sum() + 1 / (y[~seen] == of).sum())
        for of, share in ((True, beta), (False, 1 - beta))
        if share
    )
    return float(alpha * (1 - alpha) / (beta - alpha) * np.sqrt(variance))


def study_paper(repetitions: int, seed: int) -> list[list[float]]:
    """Beta, the true Brier score and its standard error, and what is recovered, of the 36 rows.

    Half of the labeled and of the unlabeled rows train a calibrated logistic regression, which is
    given the true alpha; the other half are those that are looked at.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    folder = _real.data_folder()
    found: list[list[float]] = []
    for name in sorted(_real.DATA_SETS) if folder else ():
        data = load_paper_data(name, folder)
        for beta in _real.BETAS:
            for repetition in range(repetitions):
                rng = np.random.default_rng([seed, 3, len(found), repetition])
                n_labeled = _real.DATA_SETS[name].n_labeled
                rows = _real.split(data.positive, n_labeled, beta, rng)
                truth = data.positive[np.concatenate(rows)]
                labeled = np.arange(truth.size) < rows[0].size
                X = data.features[np.concatenate(rows)]
                train = rng.permutation(truth.size) < truth.size // 2
                model = pu.PUCalibratedClassifier(
                    make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
                    alpha=float(truth[train & ~labeled].mean()),
                    beta=float(truth[train & labeled].mean()),
                    random_state=repetition,
                )
                p = model.fit(X[train], labeled[train]).predict_proba(X[~train])[:, 1]
                y, seen = truth[~train], labeled[~train]
                counts = pu.ScoreCounts.from_scores(p, seen)
                line = [beta, float(np.mean((p[~seen] - y[~seen]) ** 2)), chance(p, y, seen)]
                for estimator in (None, ReferencePosterior(), LabelCurve()):
                    value = np.nan
                    with suppress(PurecoverError):  # refused, too, has no value
                        if estimator is None:
                            shares = pu.MixtureProportions(y[~seen].mean(), y[seen].mean())
                        else:
                            shares = estimator.fit(counts).proportions_
                        value = recover_metrics(counts, shares, metrics=["brier"])["brier"]
                    line.append(float(value))
                found.append(line)
            progress(f"{name} {beta:g}: {np.round(found[-1], 3)}")
    return found


def compare(rows: list[list[float]], failures: list[str]) -> list[list[str]]:
    """Rows of the table of Brier scores."""
    beta, true, spread, *recovered = np.array(rows).T
    told = []
    for (name, most), values in zip(WAYS.items(), recovered, strict=True):
        for labels, here in (("all", beta > 0), ("clean", beta == 1), ("noisy", beta < 1)):
            some = here & ~np.isnan(values)
            apart = (values - true)[some]
            floor = np.sqrt(2 / np.pi) * spread[some].mean()
            figures = (true[some].mean(), values[some].mean(), apart.mean(), np.abs(apart).mean())
            cells = [f"{each:.4f}" for each in (*figures, floor, np.abs(apart).max())]
            told.append([name, labels, str(apart.size), *cells])
            if labels == "all" and abs(apart.mean()) > most:
                failures.append(f"{name}: mean Brier scores are {apart.mean():+.4f} apart")
    return told


def main() -> int:
    """Run the study."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=1000)
    parser.add_argument("--repetitions", type=int, default=2, help="of each row of the paper")
    options = parser.parse_args()
    warnings.simplefilter("ignore", pu.exceptions.PurecoverWarning)
    failures, judge = [], options.replicates >= FEWEST
    sizes = []
    for index, cell in enumerate(TESTED):
        share = study_test(index, options.replicates, options.seed)
        progress(f"test {cell}: {share:.3f}")
        sizes.append([*(f"{each:g}" for each in cell), f"{100 * share:.1f} %"])
        if judge and not SIZE[0] <= share <= SIZE[1]:
            failures.append(f"the test complains in {share:.3f} of data sets {cell}")
    rows = study_paper(options.repetitions, options.seed)
    paper = compare(rows, failures) if rows else []
    covered = []
    for beta in (1.0, 0.8):
        for name, tally in study_coverage(beta, options.replicates, options.seed).items():
            progress(f"coverage, beta {beta:g}, {name}: {tally.coverage:.3f}")
            cells = tally.cells()
            cells[-2] = f"{np.median(tally.widths):.4f}"  # some have no upper end
            covered.append([f"{beta:g}", name, *cells])
            if judge and not COVERED[0] <= tally.coverage <= COVERED[1]:
                failures.append(f"beta {beta:g}, {name}: {tally.coverage:.3f} of intervals hold")
    body = (
        f"Intervals, alpha {ALPHA:g} known, {SIZES[0]} labeled and {SIZES[1]} unlabeled rows, "
        f"{RESAMPLES} resamples, {options.replicates} data sets a cell:\n\n"
        + table(HEADERS, covered)
        + "\n\nThe test of calibration at 5 %, right probabilities, "
        f"{options.replicates} data sets a cell:\n\n"
        + table(["labeled", "unlabeled", "alpha", "beta", "distance", "complains"], sizes)
        + "\n\nBrier scores on the paper's 36 rows, recovered less true, over "
        f"{options.repetitions} repetitions (a calibrated logistic regression, trained on half of "
        "the rows):\n\n"
        + table(BRIER, paper)
        + "\n\nThe difference compares means of all rows; the mean distance compares row by row, "
        "beside what it would be by chance alone with alpha and beta known: labeled and unlabeled "
        "rows of one class do not have the same probabilities."
    )
    publish("calibration", "Metrics of probabilities", body, write=options.write)
    return conclude(failures)


if __name__ == "__main__":
    sys.exit(main())
