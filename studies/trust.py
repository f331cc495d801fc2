"""How often 95 % intervals of the AUC hold the truth where an assumption fails, and who warns.

``python -m studies.trust`` simulates data sets of known truth: in some situations everything
holds, in each of the others one thing does not. It counts how often the interval of a report holds
the true AUC, and how often each check fires: false alarms where all holds, power elsewhere. A
situation in which neither the interval holds in nine of ten data sets nor a warning is given in
nine of ten ends the run in failure.
"""

from __future__ import annotations

import csv
import math
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from studies._common import RESULTS, arguments, conclude, progress, publish, table

import purecover as pu
from purecover import audit, simulate
from purecover.checks import CHECKS
from purecover.exceptions import PurecoverWarning

Rows = tuple[Any, Any, dict[str, Any], float]
"""Scores, labels, further arguments of ``evaluate``, and the true AUC."""

ALPHA = 0.25
USUAL = N_LABELED, N_UNLABELED = 500, 5000
FAMILY = 5
N_NOISE = 100
"""Features of the trained models that mean nothing."""
WORLD = simulate.binormal(2.0)


def clean(
    rng: np.random.Generator,
    *,
    world: simulate.World = WORLD,
    hidden: float = ALPHA,
    sizes: tuple[int, int] = USUAL,
    **given: Any,
) -> Rows:
    """Two samples of a world, clean labels."""
    sample = world.sample(*sizes, alpha=hidden, random_state=rng)
    return sample.scores, sample.labeled, given, world.auc


def wrong_labels(
    rng: np.random.Generator, *, separation: float = 2.0, judged: int = 0, **given: Any
) -> Rows:
    """A tenth of the labels is wrong; some rows may have been judged."""
    world = simulate.binormal(separation)
    sample = world.sample(N_LABELED, N_UNLABELED, alpha=ALPHA, beta=0.9, random_state=rng)
    if judged:
        design = audit.draw(sample.scores, sample.labeled, n_labeled=judged, random_state=rng)
        given["judged"] = design.answer(sample.truth[design.rows].astype(bool))
    return sample.scores, sample.labeled, given, world.auc


def clear_first(rng: np.random.Generator, **given: Any) -> Rows:
    """The higher a positive scores, the more likely its label."""
    n_positive = N_LABELED + round(ALPHA * N_UNLABELED)
    positive = rng.normal(2.0, 1.0, n_positive)
    ease = expit(positive - 2.0)
    chosen = rng.choice(n_positive, N_LABELED, replace=False, p=ease / ease.sum())
    labeled = np.zeros(N_LABELED + N_UNLABELED, dtype=bool)
    labeled[chosen] = True
    negative = rng.normal(0.0, 1.0, labeled.size - n_positive)
    return np.concatenate((positive, negative)), labeled, given, WORLD.auc


def two_kinds(
    rng: np.random.Generator,
    *,
    means: tuple[float, float],
    share: float,
    sizes: tuple[int, int] = USUAL,
) -> Rows:
    """Clean labels; positives of two kinds, whose scores lie around two means."""
    labeled = np.arange(sum(sizes)) < sizes[0]
    truth = labeled | (rng.random(labeled.size) < ALPHA)
    kind = np.where(rng.random(labeled.size) < share, *means)
    scores = rng.normal(np.where(truth, kind, 0.0), 1.0)
    first, second = (float(norm.cdf(mean / math.sqrt(2))) for mean in means)
    return scores, labeled, {}, share * first + (1 - share) * second


def families(rng: np.random.Generator, *, told: bool) -> Rows:
    """Families of rows, whose scores have half of their variance in common."""
    n_labeled, n_unlabeled = N_LABELED // FAMILY, N_UNLABELED // FAMILY
    sample = WORLD.sample(n_labeled, n_unlabeled, alpha=ALPHA, random_state=rng)
    middle = 2.0 * sample.truth
    common = middle + (sample.scores - middle) * math.sqrt(0.5)
    scores = np.repeat(common, FAMILY) + rng.normal(0, math.sqrt(0.5), len(sample) * FAMILY)
    given: dict[str, Any] = {"alpha": ALPHA}
    if told:
        given |= {"groups": np.repeat(np.arange(len(sample)), FAMILY), "n_resamples": 200}
    return scores, np.repeat(sample.labeled, FAMILY), given, WORLD.auc


def trained(rng: np.random.Generator, *, own_rows: bool) -> Rows:
    """Scores of a logistic regression, of the rows it was trained on or of those left out."""
    labeled = np.arange(N_LABELED + N_UNLABELED) < N_LABELED
    truth = labeled | (rng.random(labeled.size) < ALPHA)
    features = rng.normal(size=(labeled.size, 1 + N_NOISE))
    features[:, 0] += 2.0 * truth
    scores = np.empty(labeled.size)
    areas = []
    folds = StratifiedKFold(5, shuffle=True, random_state=int(rng.integers(2**31)))
    everything = np.arange(labeled.size)
    splits = [(everything, everything)] if own_rows else folds.split(features, labeled)
    for train, test in splits:
        model = LogisticRegression(max_iter=1000).fit(features[train], labeled[train])
        scores[test] = model.predict_proba(features[test])[:, 1]
        (weights,) = model.coef_
        areas.append(norm.cdf(2.0 * weights[0] / np.linalg.norm(weights) / math.sqrt(2)))
    return scores, labeled, {"alpha": ALPHA}, float(np.mean(areas))


@dataclass(frozen=True)
class Situation:
    """Where data sets come from, and what ``evaluate`` is told."""

    draw: Callable[..., Rows]
    told: dict[str, Any]
    sound: bool = False
    slow: bool = False
    """Whether all holds; whether a data set takes seconds (alpha is estimated, models trained)."""

    @property
    def estimated(self) -> bool:
        """Whether nobody says what alpha is."""
        return self.slow and self.draw not in (families, trained)


KNOWN = {"alpha": ALPHA}
ESTIMATED: dict[str, tuple[Callable[..., Rows], bool, dict[str, Any]]] = {
    "everything holds": (clean, True, {}),
    "a tenth of the labels wrong": (wrong_labels, True, {}),
    "a tenth of the labels wrong, AUC .96": (wrong_labels, True, {"separation": 2.5}),
    "a tenth of the labels wrong, AUC .96, ten labeled and ten unlabeled rows judged": (
        wrong_labels, True, {"separation": 2.5, "judged": 10},
    ),
    "50 labeled": (clean, False, {"sizes": (50, N_UNLABELED)}),
    "clear positives labeled first": (clear_first, False, {}),
    # The highest scores keep a constant share of negatives.
    "nothing pure at the top": (clean, False, {"world": simulate.laplace(2.0)}),
    "two of five positives score as negatives": (
        two_kinds, False, {"means": (3.0, 0.0), "share": 0.6},
    ),
    "positives of two kinds, 130,000 rows": (
        two_kinds, False, {"means": (1.0, 4.0), "share": 0.5, "sizes": (30_000, 100_000)},
    ),
    "Beta(3, 1) against Beta(1, 1.5)": (clean, False, {"world": simulate.beta((3, 1), (1, 1.5))}),
    "alpha .005, 50,000 unlabeled": (clean, False, {"hidden": 0.005, "sizes": (300, 50_000)}),
}  # fmt: skip
"""Where alpha is estimated: where data sets come from, whether all holds, and what differs."""
SITUATIONS = {
    "everything holds": Situation(clean, KNOWN, sound=True),
    "alpha given as .20": Situation(clean, {"alpha": 0.20}),
    "alpha given as .30": Situation(clean, {"alpha": 0.30}),
    "alpha given as .40": Situation(clean, {"alpha": 0.40}),
    "a tenth of the labels wrong, taken as clean": Situation(wrong_labels, KNOWN),
    "clear positives labeled first": Situation(clear_first, KNOWN),
    "families of five rows, taken as independent": Situation(families, {"told": False}),
    "families of five rows, groups given": Situation(families, {"told": True}, True, slow=True),
    "scores of the training rows": Situation(trained, {"own_rows": True}, slow=True),
    "scores out of fold": Situation(trained, {"own_rows": False}, True, slow=True),
    **{
        f"{name}, alpha estimated": Situation(draw, told, sound, slow=True)
        for name, (draw, sound, told) in ESTIMATED.items()
    },
}


@dataclass(frozen=True)
class Outcome:
    """What the report on one data set says of the AUC, and which checks fired, how severe."""

    estimate: float
    observed: float
    low: float
    high: float
    truth: float
    fired: Mapping[str, str]
    identified: tuple[float, float]
    narrowest: str
    """What one can find out that narrows the interval most, by the price list."""

    @property
    def holds(self) -> bool:
        """Whether the truth is in the interval."""
        return self.low <= self.truth <= self.high

    @property
    def codes(self) -> list[str]:
        """Checks that gave a warning or an error."""
        return [code for code, severity in self.fired.items() if severity != "note"]


def run(task: tuple[str, int, int]) -> Outcome:
    """The report on one data set."""
    name, seed, i = task
    situation = SITUATIONS[name]
    rng = np.random.default_rng([seed, list(SITUATIONS).index(name), i])
    scores, labeled, given, truth = situation.draw(rng, **situation.told)
    given.setdefault("n_resamples", 100 if situation.estimated else 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PurecoverWarning)
        report = pu.evaluate(scores, labeled, random_state=i, **given)
    ends = math.nan, math.nan
    if (interval := report.intervals.get("roc_auc")) is not None:  # None where data contradict it
        ends = interval.low, interval.high
    fired = {check.code: check.severity for check in report.findings}
    identified = (math.nan, math.nan)
    if report.estimation is not None:
        identified = report.estimation.identification["auc"]
    prices = {
        price.name: price.high - price.low
        for price in report.prices
        if price.name not in ("pure-top", "flagged-rows")  # an assumption; of precision
    }
    narrowest = min(prices, key=prices.__getitem__, default="")
    return Outcome(report.auc, report.auc_pu, *ends, truth, fired, identified, narrowest)


def row(name: str, outcomes: list[Outcome]) -> list[str]:
    """A line of the table."""
    n = len(outcomes)
    held = sum(each.holds for each in outcomes) / n
    error = float(np.nanmean([each.estimate - each.truth for each in outcomes]))
    width = float(np.nanmean([each.high - each.low for each in outcomes]))
    warned = sum(bool(each.codes) for each in outcomes) / n
    either = sum(bool(each.codes) or each.holds for each in outcomes) / n
    often = Counter(code for each in outcomes for code in each.codes)
    codes = sorted(code for code, times in often.items() if times >= n / 5)
    wide = ""
    ends = [(*each.identified, each.truth) for each in outcomes]
    if not np.isnan(ends).any():
        wide = f"{np.mean([low <= truth <= high for low, high, truth in ends]):.0%}"
    truth = float(np.mean([each.truth for each in outcomes]))
    shares = [f"{held:.0%}", wide, f"{warned:.0%}", f"{either:.0%}"]
    return [name, f"{truth:.3f}", f"{error:+.3f}", f"{width:.3f}", *shares, " ".join(codes), str(n)]


def errors(every: Mapping[str, list[Outcome]]) -> str:
    """Mean size of the error where alpha is estimated, and what the price list puts first."""
    rows = []
    for name, outcomes in every.items():
        if SITUATIONS[name].estimated:
            sizes = [
                float(np.mean([abs(getattr(each, what) - each.truth) for each in outcomes]))
                for what in ("estimate", "observed")
            ]
            named = Counter(each.narrowest for each in outcomes if each.narrowest)
            shares = [f"{what}: {n / len(outcomes):.0%}" for what, n in named.most_common(2)]
            rows.append([name, *(f"{size:.3f}" for size in sizes), "; ".join(shares)])
    return table(["situation", "mean error, absolute", "uncorrected", "narrows most"], rows)


def power(every: Mapping[str, list[Outcome]]) -> str:
    """How often each check fires where all holds, and where it does so most."""
    rows = []
    for code, check in CHECKS.items():
        share = {
            name: sum(code in each.fired for each in found) / len(found)
            for name, found in every.items()
        }
        sound = [often for name, often in share.items() if SITUATIONS[name].sound]
        others = {name: often for name, often in share.items() if not SITUATIONS[name].sound}
        first = sorted(others.items(), key=lambda pair: -pair[1])[:3]
        most = "; ".join(f"{name}: {often:.0%}" for name, often in first if often >= 0.05)
        alarms = f"{np.mean(sound):.0%}, at most {max(sound):.0%}"
        rows.append([code, check.title, check.severity, alarms, most])
    return table(["check", "what it says", "kind", "where all holds", "fires most in"], rows)


def broken(every: Mapping[str, list[Outcome]]) -> list[str]:
    """Situations of which neither interval nor warning tells; alpha wrong by .05 cannot be seen."""
    return [
        f"{name}: intervals hold in {held:.0%}, and {warned:.0%} carry a warning"
        for name, outcomes in every.items()
        if SITUATIONS[name].estimated
        and (held := float(np.mean([each.holds for each in outcomes]))) < LEAST
        and (warned := float(np.mean([bool(each.codes) for each in outcomes]))) < LEAST
    ]


LEAST = 0.9
"""Share of data sets whose intervals hold, or that carry a warning, where alpha is estimated."""


def main() -> int:
    """Run the study."""
    parser = arguments(str(__doc__).splitlines()[0], replicates=400)
    parser.add_argument(
        "--slow-replicates", type=int, default=50, help="data sets of situations that take long"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    every, start = {}, time.monotonic()
    with ProcessPoolExecutor(options.jobs) as pool:
        for name, situation in SITUATIONS.items():
            progress(f"{name}, {time.monotonic() - start:.0f} s")
            n = options.slow_replicates if situation.slow else options.replicates
            tasks = [(name, options.seed, i) for i in range(n)]
            every[name] = list(pool.map(run, tasks, chunksize=4))
    rows = [row(name, outcomes) for name, outcomes in every.items()]
    headers = ["situation", "true AUC", "mean error", "mean width", "interval holds"]
    headers += ["identification interval holds", "data sets with a warning"]
    headers += ["holds or warned", "checks", "data sets"]
    body = (
        f"{N_LABELED} labeled and {N_UNLABELED} unlabeled rows, alpha {ALPHA:g}, labels clean and "
        "normal scores two standard deviations apart, where nothing else is said. Nominal 95 % "
        "intervals of the AUC from evaluate: DeLong's where alpha is given, the bootstrap of 100 "
        "replicates, each with its own alpha and beta, where it is estimated, and of 200 with "
        "groups. The last columns: in how many data sets a check gives a warning or an error, and "
        "the checks that do so in a fifth of them or more. A share of 95 % has a standard error "
        f"of {100 * math.sqrt(0.95 * 0.05 / options.replicates):.1f} points over "
        f"{options.replicates} data sets and of "
        f"{100 * math.sqrt(0.95 * 0.05 / options.slow_replicates):.1f} over "
        f"{options.slow_replicates}. Trained models have one feature that tells the classes "
        f"apart and {N_NOISE} that do not.\n\n{table(headers, rows)}\n\n"
        "## Alpha estimated: errors\n\nThe size of the error of the AUC, beside that without "
        "correction, and what narrows the interval most by the price list of the report, of what "
        "one can find out (that the highest scores are all positives is assumed), in what share "
        f"of the data sets.\n\n{errors(every)}\n\n"
        "## Checks: false alarms and power\n\nShare of data sets in which a check fires: the mean "
        "over situations in which all holds and the largest of them, and the three others in which "
        f"it fires most. `studies.faults` makes faults of data instead.\n\n{power(every)}"
    )
    publish("trust", "Intervals where an assumption fails", body, write=options.write)
    if options.write:
        with (RESULTS / "trust.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([headers, *rows])
    return conclude(broken(every))


if __name__ == "__main__":
    sys.exit(main())
