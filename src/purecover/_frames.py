"""Columns of any data frame, through narwhals; the package imports no engine itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from purecover._validation import bad_type, bad_value, is_iterable, public, show, to_numpy
from purecover.exceptions import MissingDependencyError


def is_frame(value: object) -> bool:
    """Whether ``value`` looks like a table rather than one column of numbers."""
    if isinstance(value, Mapping):
        return True
    if isinstance(value, np.ndarray):
        return False
    # pandas, polars, pyarrow, Dask, Spark ... all list their columns; a Series has no such list.
    # Asked of the class: a lazy frame warns when it must find out what its columns are.
    return hasattr(type(value), "columns") or hasattr(type(value), "column_names")


def refuse_frame(scores: object) -> None:
    """Complain of a table where one column of scores is wanted."""
    if is_frame(scores):
        raise bad_type(
            "scores",
            "one column of scores, or a ScoreCounts",
            scores,
            "pass frame['score'] and frame['labeled'], or "
            "ScoreCounts.from_frame(frame, score='score', labeled='labeled')",
        )


def lazy_frame(frame: Any) -> Any | None:
    """A lazy frame of any engine as one of narwhals; None for everything else.

    Lazy are a polars LazyFrame, a DuckDB relation, and tables of Spark, Dask and Ibis: rows that
    are not, or not all, in the memory of this process.
    """
    if isinstance(frame, Mapping):
        return None
    import narwhals
    import narwhals.stable.v2 as nw

    try:
        native = narwhals.to_native(frame, pass_through=True)
        found = nw.from_native(native, pass_through=True)
    except Exception:  # noqa: BLE001 - the reader of eager frames complains, with its own words
        return None
    return found if isinstance(found, nw.LazyFrame) else None


def column_names(frame: Any) -> list[str]:
    """Names of the columns, without collecting a lazy frame."""
    if isinstance(frame, Mapping):
        return list(frame)
    names = getattr(frame, "column_names", None)
    if names is None:
        schema = getattr(frame, "collect_schema", None)
        names = schema().names() if callable(schema) else frame.columns
    return [str(name) for name in names]


def read_columns(frame: Any, names: Mapping[str, str]) -> dict[str, np.ndarray[Any, Any]]:
    """NumPy columns of a frame; ``names`` maps our parameter to the user's column."""
    if isinstance(frame, Mapping):
        available = list(frame)
        require_columns(names, available)
        return {p: to_numpy(p, frame[column]) for p, column in names.items()}
    import narwhals.stable.v2 as nw

    must = "a data frame (pandas, polars, pyarrow, ...) or a dict of columns"
    try:
        native = nw.from_native(frame, eager_only=True)
        native.get_column  # noqa: B018 - a lazy frame of narwhals itself gets this far
        available = list(native.columns)
    except nw.exceptions.DuplicateError as error:
        # Its lines after the first read "- 'name' 2 times".
        twice = ", ".join(line.lstrip("- ") for line in str(error).splitlines()[1:])
        must = "a table whose column names differ"
        raise bad_value("frame", must, twice or "repeated names") from error
    except (TypeError, AttributeError) as error:
        hint = None if lazy_frame(frame) is None else "collect a lazy frame first"
        raise bad_type("frame", must, frame, hint) from error
    require_columns(names, available)
    out = {}
    for parameter, column in names.items():
        series = native.get_column(column)
        missing = int(series.null_count())
        if missing:
            raise bad_value(
                parameter,
                "a column free of missing values",
                f"{missing} missing of {len(series)} in column {column!r}",
                "drop or fill the missing rows first; purecover never drops rows in silence",
            )
        try:
            out[parameter] = np.asarray(series.to_numpy())
        except Exception as error:  # engines have types that NumPy has not
            raise bad_value(
                parameter,
                "a column that NumPy can hold",
                f"column {column!r} of type {series.dtype}",
                "cast it to a number, a boolean or text first",
            ) from error
    return out


def require_columns(names: Mapping[str, Any], available: list[Any]) -> None:
    for parameter, column in names.items():
        if not _is_among(column, available):
            shown = ", ".join(repr(c) for c in available[:20])
            more = ", ..." if len(available) > 20 else ""
            raise bad_value(
                parameter,
                "the name of a column",
                show(column),
                f"the columns are {shown}{more}" if available else "the frame has no columns",
            )


def check_columns(parameter: str, names: Any, available: list[str], must: str) -> tuple[str, ...]:
    """Names of columns that exist and differ, in their order."""
    # A set has no order.
    if isinstance(names, (bytes, str, set, frozenset, Mapping)) or not is_iterable(names):
        raise bad_type(parameter, must, names)
    found = tuple(names)
    for name in found:
        if not isinstance(name, str):
            raise bad_type(parameter, must, name)
        require_columns({parameter: name}, available)
    if twice := [name for name in found if found.count(name) > 1]:
        raise bad_value(parameter, f"{must} that differ", f"{show(twice[0])} twice")
    return found


def _is_among(column: Any, available: list[Any]) -> bool:
    try:
        return column in available
    except Exception:  # noqa: BLE001 - arrays and foreign objects are no names
        return False


class Tabular:
    """Base of results that are tables, too."""

    @abstractmethod
    def _columns(self) -> dict[str, Any]:
        """Columns of equal length by name."""

    @public
    def frame(self, backend: Any = None) -> Any:
        """The figures as a table; see :meth:`ScoreCounts.frame`.

        Parameters
        ----------
        backend : str or module, optional
            ``"pandas"``, ``"polars"``, ``"pyarrow"`` or their module; None gives a dict of
            arrays.

        Returns
        -------
        dict or data frame
            One column for each of the figures.
        """
        return make_frame(self._columns(), backend)


def rows_frame(rows: Sequence[Mapping[str, Any]], backend: Any) -> Any:
    """The same of rows that have the same cells."""
    return make_frame({name: np.array([row[name] for row in rows]) for name in rows[0]}, backend)


def make_frame(columns: Mapping[str, np.ndarray[Any, Any]], backend: Any) -> Any:
    """A dict of arrays, or a data frame of the library the caller names."""
    if backend is None:
        return dict(columns)
    import narwhals.stable.v2 as nw

    try:
        return nw.from_dict(dict(columns), backend=backend).to_native()
    except ImportError as error:
        raise MissingDependencyError(
            f"{{function}} needs the package {str(backend)!r}, which is not installed.\n"
            f"Hint: pip install {backend!s}"
        ) from error
    except Exception as error:
        raise bad_value(
            "backend", "'pandas', 'polars', 'pyarrow' or their module", show(backend)
        ) from error
