"""The twelve data sets of the paper: what they are, and how they become numbers.

A rule says which rows are positive, from the original target. An encoding turns columns into
features: numbers stay as they are; categories become what the paper's number of features implies.
"""

from __future__ import annotations

import hashlib
import math
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import msgspec
import numpy as np

from purecover.exceptions import InvalidInputError
from purecover_paper.arguments import (
    bad_type,
    bad_value,
    check_choice,
    check_flag,
    errors_of,
    show,
    warn,
)
from purecover_paper.arrays import BoolArray, FloatArray
from purecover_paper.sources import (
    Table,
    UnfitTableError,
    cache_folder,
    from_openml,
    from_uci,
    read_table,
    table_file,
    write_table,
)

_OTHER_VALUES = "values: not those that the published results were made with"

Columns: TypeAlias = Mapping[str, Sequence[str]]
"""The text of a table, by the names of its columns."""


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
    """Return a column of zeros and ones per category; raises for an unknown category."""
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
    """Return all columns as numbers, and their names."""
    return np.column_stack([_numbers(*item) for item in columns.items()]), tuple(columns)


_BANK = ("default", "balance", "housing", "loan", "duration", "campaign", "pdays", "previous")
_MARITAL = ("single", "married", "divorced")
_OUTCOMES = {"unknown": 0.0, "failure": 0.0, "other": 0.5, "success": 1.0}


def encode_bank(columns: Columns) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the 13 features of Bank in the paper, and their names.

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
    """Return an indicator for each documented category of each column, and their names."""
    parts = [_indicators(name, columns[name], tuple(some)) for name, some in categories.items()]
    names = [f"{name}={each}" for name, some in categories.items() for each in some]
    return np.hstack(parts), tuple(names)


@dataclass(frozen=True, kw_only=True)
class PaperDataset:
    """A data set as the paper describes it, and where copies of it are.

    Attributes
    ----------
    name, title : str
        Its name here, and as printed.
    n_labeled : int
        Number of labeled rows in the paper's runs.
    n, n_positive, n_features : int
        Counts as printed: n, n1 and d of Table 1.
    n_columns : int
        Number of columns of the source without the target.
    rule : callable
        Which rows are positive, from the original target.
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
    categories: Mapping[str, str] = field(default_factory=dict)
    first_rows: int | None = None
    only_classes: tuple[str, ...] = ()
    spellings: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""
    openml_ids: tuple[int, ...] = ()
    uci_id: int | None = None
    reason: str = ""
    digest: str | None = None

    def encode(self, columns: Columns) -> tuple[FloatArray, tuple[str, ...]]:
        """Return the features and their names."""
        if self.categories:
            return encode_categories(columns, self.categories)
        return encode_bank(columns) if self.name == "bank" else encode_numbers(columns)


def _read_datasets() -> dict[str, PaperDataset]:
    text = files("purecover_paper").joinpath("data/datasets.toml").read_text(encoding="utf-8")
    found = {}
    for name, about in tomllib.loads(text).items():
        columns = about.get("columns", list(about.get("categories", ())))
        found[name] = msgspec.convert({**about, "name": name, "columns": columns}, PaperDataset)
    return found


DATASETS: Mapping[str, PaperDataset] = MappingProxyType(_read_datasets())
"""The data sets by name."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PaperData:
    """A data set of the paper, ready for use.

    Attributes
    ----------
    name : str
        Its name.
    features : ndarray of shape (n, n_features)
        Features, read-only. Nothing is scaled.
    positive : ndarray of bool of shape (n,)
        True for the positive rows.
    feature_names : tuple of str
        Names of the features, as the source has them.
    source : str
        Where the table was found.
    differences : tuple of str
        How it differs from the paper's table, and from the values that the published results
        were made with; empty if it does not.

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

    def __post_init__(self) -> None:
        for array in (self.features, self.positive):
            array.setflags(write=False)

    def __repr__(self) -> str:
        n, d = self.features.shape
        return (
            f"PaperData({self.name!r}: {n} rows, {int(self.positive.sum())} positive, "
            f"{d} features, from {self.source})"
        )


@errors_of("load_paper_data")
def load_paper_data(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    cache: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> PaperData:
    r"""Load one of the twelve data sets of the paper: its features and its two classes.

    The table is looked for in a folder, in a cache of earlier downloads, in OpenML and in the UCI
    repository, in this order. A downloaded table is kept in the cache.

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
    features and Mushroom 126, an indicator for each documented category. The numbers of rows
    and of positives must be the paper's; other differences are listed. All values together have
    a known SHA-256. Data with other values are refused, but for those in ``folder``, which is the
    caller's own: a warning and ``differences`` say so.

    See Also
    --------
    PaperData : What is returned.

    Examples
    --------
    A file with as many rows and positives as the real one, but zeros for features. A warning says
    that its values differ:

    >>> import tempfile
    >>> import warnings
    >>> from pathlib import Path
    >>> from purecover_paper.datasets import load_paper_data
    >>> names = ["pregnancies", "glucose", "pressure", "skin", "insulin", "bmi", "pedigree", "age"]
    >>> rows = [",".join([*names, "target"]), *["0,0,0,0,0,0,0,0,1"] * 268]
    >>> rows += ["0,0,0,0,0,0,0,0,0"] * 500
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pima.csv").write_text("\n".join(rows))
    ...     with warnings.catch_warnings(record=True):
    ...         warnings.simplefilter("always")
    ...         data = load_paper_data("pima", folder)
    >>> data.features.shape, int(data.positive.sum())
    ((768, 8), 268)
    >>> print(*data.differences, sep="\n")
    values: not those that the published results were made with
    """
    spec = DATASETS[check_choice("name", name, DATASETS)]
    given = _given_folder(folder)
    kept = cache_folder() if cache is None else _path("cache", cache)
    check_flag("download", download)
    tried: list[str] = []
    for parameter, place in (("folder", given), ("cache", kept)):
        if place is None:
            continue
        file = table_file(place, name)
        if file is not None:
            return _from_file(spec, parameter, file)
        tried.append(f"{place}: has no {name}.csv.gz or {name}.csv")
    for source, fetch in _fetchers(spec) if download else ():
        try:
            table = _canonical(spec, fetch())
            data = _require_values(_build(spec, table, source))
        except Exception as error:  # noqa: BLE001 - foreign fetchers raise whatever they like
            tried.append(f"{source}: {_short(error)}")
            continue
        _keep(table, kept / f"{name}.csv.gz")
        return data
    raise _nowhere(spec, given, tried)


def _path(parameter: str, value: object) -> Path:
    path: Any = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(path, str) or not path:
        raise bad_type(parameter, "a path", value)
    return Path(path).expanduser()


def _given_folder(folder: object) -> Path | None:
    origin = ""
    if folder is None:
        folder, origin = os.environ.get("PURECOVER_DATA") or None, " (PURECOVER_DATA)"
    if folder is None:
        return None
    path = _path("folder", folder)
    if not path.is_dir():
        raise bad_value("folder", "an existing folder", f"{show(str(path))}{origin}")
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
        raise bad_value(
            parameter,
            f"a folder whose {file.name} is the paper's {spec.title}",
            f"a file that is not: {error}",
            hint,
        ) from error
    if _OTHER_VALUES in data.differences:
        warn(
            f"{file} has the size of the paper's {spec.title}, but not its values: their SHA-256 "
            "is another. It is used, since the folder is yours; results are not comparable with "
            "published ones."
        )
    return data


def _require_values(data: PaperData) -> PaperData:
    """Return the data; raises if their values do not have the known SHA-256."""
    if _OTHER_VALUES in data.differences:
        raise UnfitTableError("its values do not have the SHA-256 that is written down for them")
    return data


def _fetchers(spec: PaperDataset) -> Iterator[tuple[str, Callable[[], Table]]]:
    """Yield each online source, and a function that fetches its table."""
    for number in spec.openml_ids:
        yield f"OpenML {number}", partial(from_openml, number)
    if spec.uci_id is not None:
        yield f"UCI {spec.uci_id}", partial(from_uci, spec.uci_id)


def _keep(table: Table, file: Path) -> None:
    try:
        write_table(table, file)
    except OSError as error:  # the data can be used even if they cannot be kept
        warn(
            f"purecover-paper could not keep what it downloaded in {file}: {_short(error)}.\n"
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
    return bad_value(
        "folder",
        f"a folder with {name}.csv.gz or {name}.csv, as no other source has it here",
        show(None if folder is None else str(folder)),
        f"put the file into a folder and name that by folder= or PURECOVER_DATA: {_layout(spec)}.\n"
        "Tried were:\n" + "\n".join(f"- {each}" for each in tried),
    )


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def _canonical(spec: PaperDataset, table: Table) -> Table:
    """Return the table with the columns, rows and spellings of our files."""
    if len(table.columns) != spec.n_columns:
        raise UnfitTableError(
            f"it has {len(table.columns)} columns without the target, not {spec.n_columns}"
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
    """Return the name of a class without decimals, which some sources add: 7.0 is 7."""
    head, point, tail = text.strip().partition(".")
    return head if point and head.lstrip("-").isdigit() and not tail.strip("0") else text.strip()


def _build(spec: PaperDataset, table: Table, source: str) -> PaperData:
    """Return features and classes of a canonical table, checked against the paper's counts."""
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
    """Return the SHA-256 of the values, which does not depend on file or machine."""
    found = hashlib.sha256(str(features.shape).encode())
    found.update(np.ascontiguousarray(features, dtype="<f8").tobytes())
    found.update(positive.astype(np.uint8).tobytes())
    return found.hexdigest()
