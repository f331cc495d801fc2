"""Sources of the tables: files, a cache, OpenML and UCI.

Every source gives a `Table` of text. Numbers of a data frame are written such that reading them
back gives the same numbers.
"""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import os
import sys
import tempfile
import warnings
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from purecover_paper.arguments import require
from purecover_paper.files import write_whole

_TARGETS = frozenset({"class", "target", "y", "medv", "quality", "strength"})
"""Names of the target in online copies; if no column has one of them, it is the last column."""


class UnfitTableError(Exception):
    """A table is not that of the paper; the text says why."""


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


def table_file(folder: Path, name: str) -> Path | None:
    """Return the file of a data set in a folder, compressed or plain, or None."""
    files = (folder / f"{name}.csv.gz", folder / f"{name}.csv")
    return next((file for file in files if file.is_file()), None)


def read_table(path: Path) -> Table:
    """Read a table from a CSV file with a header, whose last column is the target."""
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
    """Return the folder of downloads: ``PURECOVER_CACHE``, or one in the user's cache."""
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
    """Write a table; the file appears complete or not at all."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*table.names, "target"])
    writer.writerows(zip(*table.columns, table.target, strict=True))
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without a time, so that equal tables are equal files.
    write_whole(path, gzip.compress(text.getvalue().encode(), mtime=0))


def _text(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value).strip().strip("'\"")


def _texts(column: Any) -> list[str]:
    """Return a column of pandas as texts; missing values are empty."""
    values = zip(column.tolist(), column.isna(), strict=True)
    return ["" if is_missing else _text(value) for value, is_missing in values]


def _from_frame(features: Any, target: Any) -> Table:
    names = tuple(str(name) for name in features.columns)
    # By position: names of foreign tables may repeat.
    columns = [_texts(features.iloc[:, i]) for i in range(len(names))]
    return Table(names, list(columns), _texts(target))


def from_openml(data_id: int) -> Table:
    """Fetch a table of OpenML with scikit-learn."""
    require("pandas", install="pandas")
    from sklearn.datasets import fetch_openml

    # Not every table there says which column is the target, so all of them are asked for, and as
    # text: scikit-learn 1.9 fails on classes that pandas 3.1 takes for numbers. Our own cache keeps
    # the result; without one of its own scikit-learn would fetch the file twice.
    with tempfile.TemporaryDirectory() as home, warnings.catch_warnings():
        # It tries again after an error; the last one is raised, and reported if no source is left.
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
    """Fetch a table of the UCI repository with the package ucimlrepo."""
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
