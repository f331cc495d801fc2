"""The twelve data sets of the paper: what they are, and how to get them."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from purecover._typing import BoolArray, FloatArray
from purecover._validation import (
    bad_type,
    bad_value,
    check_choice,
    check_flag,
    read_only,
    show,
)
from purecover.exceptions import InvalidInputError, PurecoverWarning
from purecover.studies._encodings import UnfitTableError
from purecover.studies._known import DATASETS, PaperDataset
from purecover.studies._sources import (
    Table,
    cache_folder,
    from_openml,
    from_packages,
    from_uci,
    read_table,
    table_file,
    write_table,
)

__all__ = ["DATASETS", "PaperData", "PaperDataset", "load_paper_data"]

_FUNCTION = "load_paper_data"


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

    def __post_init__(self) -> None:
        read_only(self.features)
        read_only(self.positive)

    def __repr__(self) -> str:
        n, d = self.features.shape
        return (
            f"PaperData({self.name!r}: {n} examples, {int(self.positive.sum())} positive, "
            f"{d} features, from {self.source})"
        )


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
    a known SHA-256, and ``differences`` says where they are others.

    See Also
    --------
    PaperData : What is returned.

    Examples
    --------
    A file with as many rows and positives as the real one, but nothing in it:

    >>> import tempfile
    >>> from pathlib import Path
    >>> import purecover as pu
    >>> names = ["pregnancies", "glucose", "pressure", "skin", "insulin", "bmi", "pedigree", "age"]
    >>> rows = [",".join([*names, "target"]), *["0,0,0,0,0,0,0,0,1"] * 268]
    >>> rows += ["0,0,0,0,0,0,0,0,0"] * 500
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pima.csv").write_text("\n".join(rows))
    ...     data = pu.load_paper_data("pima", folder)
    >>> data.features.shape, int(data.positive.sum())
    ((768, 8), 268)
    >>> print(*data.differences, sep="\n")
    values: not those that the published results were made with
    """
    spec = DATASETS[check_choice(_FUNCTION, "name", name, DATASETS)]
    given = _given_folder(folder)
    kept = cache_folder() if cache is None else _path("cache", cache)
    check_flag(_FUNCTION, "download", download)
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
            data = _build(spec, table, source)
        except Exception as error:  # noqa: BLE001 - foreign fetchers raise whatever they like
            tried.append(f"{source}: {_short(error)}")
            continue
        if online:
            _keep(table, kept / f"{name}.csv.gz")
        return data
    raise _nowhere(spec, given, tried)


# -- the sources, in order ----------------------------------------------------------------


def _path(parameter: str, value: object) -> Path:
    if not isinstance(value, (str, os.PathLike)) or not os.fspath(value):
        raise bad_type(_FUNCTION, parameter, "a path", value)
    path: Any = os.fspath(value)
    if not isinstance(path, str):
        raise bad_type(_FUNCTION, parameter, "a path", value)
    return Path(path).expanduser()


def _given_folder(folder: object) -> Path | None:
    origin = ""
    if folder is None:
        folder = os.environ.get("PURECOVER_DATA") or None
        origin = " (PURECOVER_DATA)"
        if folder is None:
            return None
    path = _path("folder", folder)
    if not path.is_dir():
        raise bad_value(_FUNCTION, "folder", "an existing folder", f"{show(str(path))}{origin}")
    return path


def _from_file(spec: PaperDataset, parameter: str, file: Path) -> PaperData:
    try:
        return _build(spec, _canonical(spec, read_table(file)), str(file))
    except UnfitTableError as error:
        hint = (
            f"delete {file}, and it is fetched again"
            if parameter == "cache"
            else f"take the file away to use another source, or correct it: {_layout(spec)}"
        )
        raise bad_value(
            _FUNCTION,
            parameter,
            f"a folder whose {file.name} is the paper's {spec.title}",
            f"a file that is not: {error}",
            hint,
        ) from error


def _fetchers(spec: PaperDataset) -> Iterator[tuple[str, Callable[[], Table], bool]]:
    """Source, how to get it, and whether it is online."""
    for number in spec.openml_ids:
        yield f"OpenML {number}", lambda number=number: from_openml(number), True  # type: ignore[misc]
    if spec.uci_id is not None:
        number = spec.uci_id
        yield f"UCI {number}", lambda: from_uci(number), True
    shipped = from_packages(spec.name)
    if shipped is not None:
        yield *shipped, False


def _keep(table: Table, file: Path) -> None:
    try:
        write_table(table, file)
    except OSError as error:  # the data are here; that they cannot be kept is no reason to stop
        warnings.warn(
            f"{_FUNCTION} could not keep what it downloaded in {file}: {_short(error)}.\n"
            f"Hint: name a folder that can be written to by cache= or PURECOVER_CACHE.",
            PurecoverWarning,
            stacklevel=3,
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
        _FUNCTION,
        "folder",
        f"a folder with {name}.csv.gz or {name}.csv, as no other source has it here",
        show(None if folder is None else str(folder)),
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
        differences.append("values: not those that the published results were made with")
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
