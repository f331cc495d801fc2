"""Families of other kinds whose labels people gave, added to those of ``studies.real_labels``.

======================  =======================================  ==================================
family                  labels                                   truth
======================  =======================================  ==================================
genes [1]_              annotations of the Gene Ontology, 2018   annotations of 2022
tags [2]_               Debian packages that people tagged       what a package needs, its section
advisories [3]_         Debian sources with an advisory by       advisories until 2023
                        2004, 2008, 2012, 2016
planets [4]_            signals of Kepler and TESS that were     what Kepler's own data say; what
                        confirmed as planets by 2017, 2023       was resolved by 2025
fame [5]_, held out     players in the Hall of Fame by a year,   in the Hall of Fame by 2026,
                        early All-Stars                          All-Stars ever
airports [6]_,          airports with a code of passenger        a code in 2026
held out                traffic in a list of 2020
======================  =======================================  ==================================

Models learn labeled against unlabeled rows, as in ``studies.real_labels``. A label that the truth
denies is kept as a wrong one; tables in which more than a quarter of the labels are wrong are left
out, as labels and truth mean different things there. Stored are counts per score bin, in
``studies/reality/families``. **Held out** are fame and airports: they are for one last judgment, no
method learns from them, nobody chooses by them, and nothing here prints their results.

``python -m studies.families`` describes the others; ``--make FOLDER`` makes the files anew
(``pip install pyreadr``), from what these bring there::

    git clone https://github.com/germaximus/OConnell_2018        # Gene Ontology, CC-BY-4.0
    git clone https://github.com/wang-ziyin1997/PATHway          # GPL-3; Gene Ontology, CC-BY-4.0
    git clone https://github.com/dhimmel/entrez-gene             # CC0
    apt-cache dumpavail > packages.txt                           # on Debian 12; free
    git clone https://github.com/CVEDB/security-tracker          # GPL-2 or later
    git clone https://github.com/cnibl/kepler-exoplanets         # GPL-3; the table is public domain
    git clone https://github.com/tess-atlas/exofop_data          # no license; data free to use
    git clone https://github.com/cran/Lahman                     # GPL
    git clone https://github.com/davidmegginson/ourairports-data # public domain
    pip download --no-deps airportsdata==20201106 airportsdata==20260905  # MIT

.. [1] A. Liberzon et al., "The Molecular Signatures Database hallmark gene set collection", Cell
   Systems 1(6), 2015; the sets of the Gene Ontology, releases 6.2 and 7.5.1.
.. [2] Debtags, in the index of packages of Debian 12.
.. [3] Security tracker of Debian.
.. [4] NASA Exoplanet Archive, Kepler Objects of Interest; ExoFOP-TESS, TESS Objects of Interest.
.. [5] S. Lahman, Baseball Database 1871-2024.
.. [6] M. Borsetti, airportsdata; D. Megginson, OurAirports.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from studies._common import publish, table
from studies._reality import FOLDER, KIND, RealProblem, load_problems, pack
from studies.real_labels import FEW, LEAST_LABELED, SEED, Task, auc, problems, read_r

from purecover._codec import sealed

MOST_WRONG = 0.25
"""Largest share of labels that the truth denies."""

MOST_ROWS = 6000
"""Larger tables are samples of rows, with classes and labels as they are; of rare ones, larger."""


def stored(folder: Path, path: str, revision: str = "HEAD") -> bytes:
    """A file of a cloned repository, as of a revision."""
    repository, _, inside = path.partition("/")
    command = ["git", "-C", str(folder / repository), "show", f"{revision}:{inside}"]
    return subprocess.run(command, check=True, capture_output=True).stdout


def stored_r(folder: Path, path: str) -> Any:
    """The table of a file of R in a cloned repository."""
    with tempfile.TemporaryDirectory() as scratch:
        at = Path(scratch, Path(path).name)
        at.write_bytes(stored(folder, path))
        return read_r(at)


def some_rows(n: int, most: int = MOST_ROWS) -> NDArray[np.int64]:
    """Numbers of at most so many of the rows."""
    return np.sort(np.random.default_rng(SEED).permutation(n)[:most])


def condensed(matrix: Any, n: int = 40) -> NDArray[np.float64]:
    """The first components of sets or words."""
    found: NDArray[np.float64] = TruncatedSVD(n, random_state=SEED).fit_transform(matrix)
    return found


def words(texts: Any, n: int = 40) -> NDArray[np.float64]:
    """Components of the words of each text."""
    return condensed(TfidfVectorizer(min_df=5, sublinear_tf=True).fit_transform(texts), n)


def task(name: str, labeling: str, features: Any, labeled: Any, positive: Any) -> Task:
    """A table of numbers with its two columns of classes."""
    numbers = np.asarray(features, dtype=float)
    return Task(name, labeling, numbers, np.asarray(labeled, bool), np.asarray(positive, bool))


N_TERMS, MOST_SHARED = 5, 0.3
N_SEPARABLE, SEPARABLE = 3, 0.98
"""Terms of each ontology, how much any two may share, and more that are nearly separable."""


def genes(folder: Path) -> Iterator[Task]:
    """Terms of the Gene Ontology, by the annotations of a gene to the other two ontologies."""
    import pandas as pd

    known = pd.read_csv(BytesIO(stored(folder, "entrez-gene/data/symbols-human.tsv")), sep="\t")
    current = known[known.type == "symbol"]
    number = dict(zip(current.symbol, current.GeneID, strict=True))
    before: dict[str, dict[str, set[int]]] = {}
    for part in ("bp", "cc", "mf"):
        text = stored(folder, f"OConnell_2018/GSEA_reference/c5.{part}.v6.2.symbols.gmt").decode()
        lines = (line.split("\t") for line in text.splitlines())
        before[part] = {
            f"GO{part.upper()}{name[2:]}": {number[each] for each in inside if each in number}
            for name, _, *inside in lines
        }
    members = (inside for some in before.values() for inside in some.values())
    universe = np.array(sorted(set().union(*members)))
    rows = universe[some_rows(universe.size)]
    for part, sets in before.items():
        others = {n: s for other, some in before.items() if other != part for n, s in some.items()}
        features = condensed(np.array([np.isin(universe, [*s]) for s in others.values()]).T * 1.0)
        features = features[np.isin(universe, rows)]
        now = stored_r(folder, f"PATHway/data/go.{part}.rda").astype({"gene": int})
        after = now.groupby("term").gene.agg(set)
        # By a hash, so that neither size nor meaning decides.
        names = sorted({*sets} & {*after.index}, key=lambda each: zlib.crc32(each.encode()))
        chosen: list[set[int]] = []
        for kind, most in {"any": N_TERMS, "separable": N_TERMS + N_SEPARABLE}.items():
            for name in names:
                labeled, positive = (np.isin(rows, [*each]) for each in (sets[name], after[name]))
                one = task(f"genes/{name}", "earlier", features, labeled, positive)
                shared = [len(sets[name] & each) / len(sets[name] | each) for each in chosen]
                if not is_fit(one) or max(shared, default=0) > MOST_SHARED or len(chosen) >= most:
                    continue
                if kind == "any" or separability(one) > SEPARABLE:
                    chosen.append(sets[name])
                    yield one


def separability(task: Task) -> float:
    """The observed AUC of a quick model."""
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
    scores = cross_val_predict(model, task.features, task.labeled, cv=3, method="decision_function")
    return float(roc_auc_score(task.labeled, scores))


NEEDS = {
    "uitoolkit::gtk": r"libgtk(mm)?-?[234]|gir1.2-gtk",
    "uitoolkit::qt": r"libqt[56]|python3-pyqt|python3-pyside|qml-module",
    "implemented-in::perl": r"perl(:any)?$|perlapi",
    "implemented-in::python": r"python3(:any|\.\d+)?$",
    "implemented-in::c++": r"libstdc\+\+6",
}
"""Tags that people gave programs, and a pattern of names they then depend on."""

PLACES = {
    "use::gameplaying": "games",
    "role::documentation": "doc",
    "role::shared-lib": "libs|oldlibs",
    "made-of::font": "fonts",
    "devel::lang:perl": "perl",
}
"""Tags, and the section of the archive in which its keepers put such packages."""

NO_PROGRAMS = r"libs|libdevel|doc|debug|oldlibs|introspection|localization|translations|kernel"


def packages(folder: Path) -> Any:
    """The index of packages of Debian."""
    import pandas as pd

    names = "Package|Source|Section|Depends|Pre-Depends|Description|Tag|Installed-Size|Maintainer"
    # Tags go on over several lines.
    text = (folder / "packages.txt").read_text(encoding="utf-8").replace("\n ", " ")
    field = re.compile(rf"^({names}): (.*)$", re.MULTILINE)
    found = pd.DataFrame(dict(field.findall(each)) for each in text.split("\n\n"))
    found = found.dropna(subset="Package").drop_duplicates("Package").fillna("")
    found["Section"] = found.Section.str.rpartition("/")[2]
    found["Source"] = found.Source.str.partition(" ")[0].where(found.Source != "", found.Package)
    found["size"] = np.log1p(pd.to_numeric(found["Installed-Size"]).fillna(0))
    found["needs"] = (found.Depends + ", " + found["Pre-Depends"]).str.findall(
        r"(?:^|[,|] *)([a-z0-9][^ ,|(]+)"
    )
    return found


def tags(folder: Path) -> Iterator[Task]:
    """Tags that people gave packages; needs of a package or its section say whether one holds."""
    import pandas as pd

    every = packages(folder)
    for patterns in (NEEDS, PLACES):
        found = every[~every.Section.str.fullmatch(NO_PROGRAMS)] if patterns is NEEDS else every
        found = found.iloc[some_rows(len(found), 2 * MOST_ROWS)]
        text = found.Package.str.replace("-", " ") + " " + found.Description
        columns = [words(text), found[["size"]]]
        if patterns is NEEDS:
            columns.append(pd.get_dummies(found[["Section"]], dtype=float))
        features = np.hstack([np.asarray(each, dtype=float) for each in columns])
        given = found.Tag.str.findall(r"[\w+:-]+")
        for tag, pattern in patterns.items():
            labeled = [tag in each for each in given]
            if patterns is NEEDS:
                positive = [any(re.match(pattern, one) for one in each) for each in found.needs]
            else:
                positive = found.Section.str.fullmatch(pattern)
            yield task(f"tags/{tag}", "tags", features, labeled, positive)


RENAMED = {
    "iceweasel": "firefox-esr", "icedove": "thunderbird", "kernel-source": "linux",
    "chromium-browser": "chromium", "openjdk-": "openjdk", "apache": "apache2",
}  # fmt: skip


def unversioned(name: str) -> str:
    """The name of a source in all releases."""
    short = re.sub(r"[-.\d]+$", "", name) or name
    return RENAMED.get(short, short)


def advisories(folder: Path) -> Iterator[Task]:
    """Advisories on the sources of a distribution, by what their packages are."""
    import pandas as pd

    found = packages(folder)
    found["name"] = found.Source.map(unversioned)
    wanted = pd.Series(np.concatenate(found.needs)).value_counts()
    found["wanted"] = found.Package.map(wanted).fillna(0)
    found["n_needs"] = found.needs.str.len()
    found["text"] = found.Package.str.replace("-", " ") + " " + found.Description
    by = found.groupby("name")
    counted = by.agg({"size": ["size", "max"], "wanted": ["sum", "max"], "n_needs": "max"})
    sections = pd.crosstab(found.name, found.Section)
    text = words(by.text.agg(" ".join)), words(by.Tag.agg(" ".join), 20)
    features = np.hstack([np.log1p(counted), sections, *text])
    listed = stored(folder, "security-tracker/data/DSA/list").decode()
    first: dict[str, int] = {}
    for year, source in re.findall(r"^\[\d+ \w+ (\d{4})\] DSA-\S+ (\S+) - ", listed, re.MULTILINE):
        name = unversioned(source)
        first[name] = min(int(year), first.get(name, 9999))
    since = sections.index.map(first).to_numpy(dtype=float)
    rows = some_rows(since.size, 2 * MOST_ROWS)  # few sources have an advisory
    for year in (2004, 2008, 2012, 2016):
        labeled, positive = since[rows] <= year, since[rows] <= 2023
        yield task(f"advisories/{year}", "earlier", features[rows], labeled, positive)


AFTER = r"_err|_pdisp|_disp|_score|_fpflag|_tce_|kepid|rowid|_name"
"""Columns that vetting made, errors and names."""

MEASURED = (
    "TESS Mag", "Period (days)", "Duration (hours)", "Depth (ppm)", "Planet Radius (R_Earth)",
    "Planet Insolation (Earth Flux)", "Planet Equil Temp (K)", "Planet SNR",
    "Stellar Distance (pc)", "Stellar Eff Temp (K)", "Stellar log(g) (cm/s^2)",
    "Stellar Radius (R_Sun)", "Stellar Mass (M_Sun)", "PM RA (mas/yr)", "PM Dec (mas/yr)",
)  # fmt: skip
EXOFOP_2023 = "00f8426"


def planets(folder: Path) -> Iterator[Task]:
    """Signals of planets, by their shape and their star."""
    import pandas as pd

    koi = pd.read_csv(BytesIO(stored(folder, "kepler-exoplanets/inputdata/keplerdata.csv")))
    numbers = koi.loc[:, ~koi.columns.str.contains(AFTER)].select_dtypes("number")
    confirmed = koi.koi_disposition == "CONFIRMED"
    candidate = koi.koi_pdisposition == "CANDIDATE"
    several = koi.groupby("kepid").kepid.transform("size") > 1
    large = koi.koi_prad > 4
    for name, part in {
        "one signal": ~several, "several signals": several, "large": large, "small": ~large
    }.items():  # fmt: skip
        given, truth = confirmed[part], candidate[part]
        yield task(f"planets/Kepler, {name}", "earlier", numbers[part], given, truth)

    path = "exofop_data/data/exofop_data.csv"
    old, new = (
        pd.read_csv(BytesIO(stored(folder, path, at)), low_memory=False)
        for at in (EXOFOP_2023, "HEAD")
    )
    kind = "TFOPWG Disposition"
    both = old.merge(new[["TOI", kind]], on="TOI", suffixes=("", " now"))
    resolved = both[both[f"{kind} now"].isin(["CP", "KP", "FP", "FA"])]
    faint = resolved["TESS Mag"] > resolved["TESS Mag"].median()
    truth = resolved[f"{kind} now"].isin(["CP", "KP"])
    for name, part in {"faint": faint, "bright": ~faint}.items():
        some = resolved.loc[part, [*MEASURED]].apply(pd.to_numeric, errors="coerce")
        for words_, kinds in {"": ("CP", "KP"), ", known before": ("KP",)}.items():
            given = resolved[kind].isin(kinds)[part]
            yield task(f"planets/TESS, {name}{words_}", "earlier", some, given, truth[part])


def career(folder: Path, years: int | None = None) -> Any:
    """Sums of each player's seasons, of the first so many years or of all."""
    import pandas as pd

    sums = []
    for name in ("Batting", "Pitching", "Fielding"):
        seasons = stored_r(folder, f"Lahman/data/{name}.RData")
        start = seasons.groupby("playerID").yearID.transform("min")
        if years is not None:
            seasons = seasons[seasons.yearID < start + years]
        by = seasons.groupby("playerID")
        numbers = by.sum(numeric_only=True).drop(columns=["yearID", "stint"])
        if name == "Batting":
            numbers["first"], numbers["last"] = by.yearID.min(), by.yearID.max()
        sums.append(numbers.add_prefix(name))
    return pd.concat(sums, axis=1).fillna(0)


def fame(folder: Path) -> Iterator[Task]:
    """Honors of players of baseball that came early, by what they did on the field."""
    votes = stored_r(folder, "Lahman/data/HallOfFame.RData")
    elected = votes[(votes.inducted == "Y") & (votes.category == "Player")]
    elected = elected.groupby("playerID").yearID.min()
    whole = career(folder)
    whole = whole[whole.Battinglast >= whole.Battingfirst + 5]
    pitches = whole.PitchingG > whole.BattingG / 2
    for year in (1945, 1955, 1965, 1975, 1985, 1995):
        for name, part in {"all": pitches | True, "pitchers": pitches, "others": ~pitches}.items():
            some = whole[part & (whole.Battinglast < year - 5)]
            since = elected.reindex(some.index)
            labeled, positive = since <= year, since.notna()
            yield task(f"fame/{name}, {year}", "earlier", some, labeled, positive)
    stars = stored_r(folder, "Lahman/data/AllstarFull.RData").groupby("playerID").yearID.min()
    young = career(folder, 5)
    for decade in range(1935, 2005, 10):
        some = young[(young.Battingfirst >= decade) & (young.Battingfirst < decade + 10)]
        since = stars.reindex(some.index)
        early = since < some.Battingfirst + 5
        yield task(f"fame/All-Stars, {decade}", "earlier", some, early, since.notna())


LANDS = {
    "US": ["US"], "CA": ["CA"], "Latin America": ["BR", "AR", "MX", "CO", "VE", "PE", "BO", "CL"],
    "AU": ["AU"], "Europe": ["DE", "FR", "GB", "IT", "ES", "SE", "NO", "FI", "PL", "CH", "GR"],
    "Asia": ["RU", "CN", "IN", "ID", "JP", "PH", "IR", "TR", "SA", "PK", "TH", "MY", "KR", "KZ"],
}  # fmt: skip


def airports(folder: Path) -> Iterator[Task]:
    """Codes of passenger traffic, by runways, radio and place of an airport."""
    import pandas as pd

    lists = []
    for date in ("20201106", "20260905"):
        path = next(folder.glob(f"airportsdata-{date}-*.whl"))
        with zipfile.ZipFile(path) as wheel, wheel.open("airportsdata/airports.csv") as file:
            lists.append(pd.read_csv(file, keep_default_na=False).set_index("icao"))
    both = lists[0].join(lists[1].iata.rename("iata_now"), how="inner")
    sides = [
        pd.read_csv(BytesIO(stored(folder, f"ourairports-data/{name}.csv")))
        for name in ("runways", "airport-frequencies", "navaids")
    ]
    runways = (
        sides[0]
        .groupby("airport_ident")
        .agg({"length_ft": ["size", "max"], "width_ft": "max", "lighted": "max", "closed": "max"})
    )
    runways.columns = [" ".join(each) for each in runways.columns]
    surface = sides[0].surface.astype(str).str[:3].str.upper()
    surfaces = pd.crosstab(sides[0].airport_ident, surface.where(surface.isin(KINDS_OF_GROUND)))
    radio = pd.crosstab(sides[1].airport_ident, sides[1].type)
    beacons = pd.crosstab(sides[2].associated_airport, sides[2].type)
    columns = [
        runways, surfaces, radio[radio.sum().nlargest(12).index], beacons,
    ]  # fmt: skip
    features = both[["elevation", "lat", "lon"]].join(
        [each.reindex(both.index).fillna(0) for each in columns], how="left"
    )
    features["letters"] = both.index.str.fullmatch("[A-Z]{4}").astype(float)
    features = np.hstack([features, words(both.name, 20)])
    everywhere = sorted({each for some in LANDS.values() for each in some})
    for name, lands in {**LANDS, "elsewhere": everywhere}.items():
        part = (both.country.isin(lands) != (name == "elsewhere")).to_numpy()
        rows = np.flatnonzero(part)[some_rows(int(part.sum()))]
        labeled, positive = ((both[each] != "").to_numpy() for each in ("iata", "iata_now"))
        yield task(f"airports/{name}", "earlier", features[rows], labeled[rows], positive[rows])


KINDS_OF_GROUND = ("ASP", "CON", "GRA", "GRS", "TUR", "GRE", "DIR", "WAT")

FAMILIES = {"genes": genes, "tags": tags, "advisories": advisories, "planets": planets}
HELD_OUT = {"fame": fame, "airports": airports}
"""For one last judgment: no fit and no look uses them."""


def part_of(family: str) -> str:
    """The part of the collection that a family is."""
    return f"families/{'held_out/' * (family in HELD_OUT)}{family}"


def load_families() -> Iterator[RealProblem]:
    """Problems of the families that are not held out."""
    for family in FAMILIES:
        yield from load_problems(part_of(family))


def is_fit(task: Task) -> bool:
    """Whether labels, hidden positives and negatives suffice, and labels mean what truth means."""
    right = (task.labeled & task.positive).sum()
    rest = min((task.positive & ~task.labeled).sum(), (~task.positive & ~task.labeled).sum())
    clean = right >= (1 - MOST_WRONG) * task.labeled.sum()
    return bool(right >= LEAST_LABELED and rest >= FEW and clean)


def make(family: str, folder: Path, n_jobs: int) -> None:
    """Score the tables of a family and write their counts."""
    tasks = [each for each in (FAMILIES | HELD_OUT)[family](folder) if is_fit(each)]
    parts = Parallel(n_jobs, verbose=1)(delayed(problems)(each) for each in tasks)
    path = FOLDER / f"{part_of(family)}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = pack([problem for part in parts for problem in part])
    np.savez_compressed(path, **sealed(KIND, packed))


def theta(problem: RealProblem) -> float:
    """Probability that a right label outranks a hidden positive."""
    return auc(problem.labeled_positive[::-1], problem.unlabeled_positive[::-1])


def described(family: str) -> list[str]:
    """Numbers of a family; of one held out only how many there are."""
    mine = list(load_problems(part_of(family)))
    numbers = [family, str(len({each.table for each in mine})), str(len(mine))]
    if family in HELD_OUT:
        return [*numbers, "held out", "", "", "", "", ""]
    observed = [auc(each.labeled[::-1], each.unlabeled[::-1]) for each in mine]
    measured: list[list[float]] = [
        [each.n_unlabeled for each in mine],
        [each.alpha for each in mine],
        [each.beta for each in mine],
        observed,
        [theta(each) for each in mine],
    ]
    cells = [f"{min(each):.3g} to {max(each):.3g}" for each in measured]
    return [*numbers, *cells, str(sum(each > 0.98 for each in observed))]


def main() -> None:
    """Describe the families, or make their files anew."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--make", type=Path, help="make the files of counts from this folder")
    parser.add_argument("--only", nargs="+", default=[*FAMILIES, *HELD_OUT], help="these families")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    if given.make:
        for family in given.only:
            make(family, given.make, given.jobs)
        return
    heads = (
        "family", "tables", "problems", "unlabeled rows", "alpha", "beta", "observed AUC", "theta",
        "observed AUC above 0.98",
    )  # fmt: skip
    body = table(heads, [described(each) for each in (*FAMILIES, *HELD_OUT)])
    publish("families", "Families of labels that people gave", body, write=True)


if __name__ == "__main__":
    main()
