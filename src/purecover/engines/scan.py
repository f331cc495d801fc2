"""Counts of a lazy frame, by one group-by of its engine.

Every expression here is one that all engines of narwhals evaluate, and evaluate alike:

- a row with an invalid value gets a bin of its own, `_BAD`, so that no engine has to floor or cast
  a NaN, and the result shows whether there is such a row; only then are they counted by kind;
- keys of bins are integers, as short as they may be: engines group floating-point numbers far more
  slowly;
- sums and counts are cast after the aggregation, since not all engines can within it.

This brings narwhals, and is imported where there is a lazy frame.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from purecover import _validation as valid
from purecover._inputs import label_masks, plain_labels, require_columns
from purecover._progress import busy
from purecover._typing import BoolArray
from purecover.engines.bins import EXACT_LIMIT, TALLIES, Bins, Group, changed
from purecover.engines.data_files import has_nothing, is_missing, is_whole, text_and_number
from purecover.exceptions import MissingDependencyError

MAX_SUB_BINS = 1 << 17
"""About how many bins a further pass makes; so many rows are counted exactly."""
_MAX_PASSES = 8
_MAX_LEVEL = 38
"""Halvings of bins; keys are then below 2**62."""


def count_lazy(
    frame: Any,
    names: Mapping[str, str],
    labels: dict[str, object],
    *,
    tolerance: float = 1e-4,
    exact_limit: int = EXACT_LIMIT,
    keep: float | None = None,
    one_sided: bool = False,
    n_rows: int | None = None,
) -> dict[Group, dict[str, Any]]:
    """Counts of a lazy frame, by group; one group None without ``by``.

    The first pass counts in bins. If each has one score, the counts are exact. If there are few
    distinct scores, a second pass counts each of them. Otherwise bins are split until the observed
    AUC is known to within ``tolerance``, which mostly takes no further pass. A group without
    labeled or without unlabeled rows is refused, unless ``one_sided`` groups are allowed. All
    groups together must have ``n_rows`` rows, where that is known.
    """
    scan = Scan(frame, names, labels, keep)
    found = scan.bins()
    _require_rows(n_rows, sum(int(bins.rows.sum()) for bins in found.values()))
    if not all(bins.tied.all() for bins in found.values()):
        few = sum(bins.distinct() for bins in found.values()) <= exact_limit
        if tolerance == 0 or few:
            exact = scan.exact()
            _require_same(found, exact)
            found = exact
        else:
            found = _refined(scan, found, tolerance)
    return {
        group: _columns(scan, group, Bins.joined([bins]), one_sided=one_sided)
        for group, bins in found.items()
    }


def _refined(scan: Scan, found: dict[Group, Bins], tolerance: float) -> dict[Group, Bins]:
    """Split the bins that keep an observed AUC from being known to ``tolerance``."""
    pairs = {group: bins.pairs for group, bins in found.items()}
    done: dict[Group, list[Bins]] = {group: [] for group in found}
    left = dict.fromkeys(found, tolerance)
    for _ in range(_MAX_PASSES):
        chosen = [bins.crowded(pairs[group], left[group]) for group, bins in found.items()]
        keys = np.unique(np.concatenate(chosen))
        if not keys.size or scan.level == _MAX_LEVEL:
            break
        crowded = {}
        for group, bins in found.items():
            within = np.isin(bins.key, keys)
            done[group].append(bins.taken(~within))
            left[group] -= float(done[group][-1].slack(pairs[group]).sum())
            crowded[group] = bins.taken(within)
        found = scan.finer(keys, crowded.values())
        _require_same(crowded, found)
    for group, bins in found.items():
        done[group].append(bins)
    joined = {group: Bins.joined(parts) for group, parts in done.items()}
    widest = max(float(bins.slack(pairs[group]).sum()) for group, bins in joined.items())
    if widest > tolerance:
        valid.warn(
            f"The observed AUC is known to within {widest:.2g}, not {tolerance:g}, after "
            f"{scan.n_passes} passes: scores are extremely crowded."
        )
    return joined


def _require_same(one: dict[Group, Bins], other: dict[Group, Bins]) -> None:
    """Refuse a frame that is not the same twice, such as one with random numbers in it."""
    for group in {*one, *other}:
        rows = [int(found[group].rows.sum()) if group in found else 0 for found in (one, other)]
        _require_rows(*rows)


def _require_rows(expected: int | None, found: int) -> None:
    if expected not in (None, found):
        raise changed("frame", f"{expected:,} and then {found:,} rows")


def _columns(scan: Scan, group: Group, bins: Bins, *, one_sided: bool) -> dict[str, Any]:
    """Return columns of `ScoreCounts`, in decreasing order of score."""
    for side in () if one_sided else ("labeled", "unlabeled"):
        if not getattr(bins, side).sum() > 0:
            where = "" if group is None else f" in group {valid.show(group)}"
            raise valid.bad_value(
                "labeled",
                "both labeled and unlabeled somewhere",
                f"no {side} row among {int(bins.rows.sum()):,} rows{where}",
            )
    wanted = {"thresholds": bins.low, "labeled": bins.labeled, "unlabeled": bins.unlabeled}
    if scan.labels.labels["negative_label"] is not None:
        wanted["negative"] = bins.negative
    if scan.weighted:
        wanted |= {"labeled_sq": bins.labeled_sq, "unlabeled_sq": bins.unlabeled_sq}
    if not bins.tied.all():
        wanted["highest"] = bins.high
    return {name: column[::-1].copy() for name, column in wanted.items()}


_TOO_LARGE = "too large"
NUMBERS = ("score", "sample_weight")
"""Roles of columns of numbers; there may be several scores, such as "score 2"."""
_OF_FILE = "_fault"
_TEXT_FAULTS = {1: "missing", 2: _TOO_LARGE, 3: "not a finite number"}


def settled(
    frame: Any, names: Mapping[str, str], *, faults: bool = False
) -> tuple[Any, dict[str, str]]:
    """Return a frame with the named columns, and what they are called in it, by role.

    To DuckDB Score is score, so that its columns are taken by their place. Its text is that of
    files: scores and weights are numbers where they are one beyond doubt. With ``faults``, which
    cost time, a column next to each says what is wrong with the others, and blank words are null.
    """
    require_columns(names, list(frame.collect_schema().names()))
    if not frame.implementation.is_duckdb():
        return frame, dict(names)
    relation, cells = nw.to_native(frame), []
    columns = {role: f"pu_{i}" for i, role in enumerate(names)}
    for role, column in columns.items():
        place = relation.columns.index(names[role])
        cell, kind = f"#{place + 1}", str(relation.types[place])
        if kind == "VARCHAR":
            text, number = text_and_number(cell, kind)
            if role.split()[0] in NUMBERS:
                cell = number
            elif faults:
                cell = f"CASE WHEN NOT {has_nothing(text)} THEN {cell} END"
            if faults and cell == number:
                cells.append(
                    f"CASE WHEN {number} IS NOT NULL THEN 0 WHEN {has_nothing(text)} THEN 1 "
                    f"WHEN {is_whole(text)} THEN 2 ELSE 3 END AS {column}{_OF_FILE}"
                )
        cells.append(f"{cell} AS {column}")
    return nw.from_native(relation.project(", ".join(cells))), columns


MISSING = "\ue000missing"
_NO_NUMBER = -(2**62)
"""Stand for a missing word or number: no engine drops them from its groups."""
_MOST_VALUES = 20
_MUST = "a column of booleans, numbers or words"


class LabelValues:
    """The values of one label column, by which an engine groups, and what they mean.

    Parameters
    ----------
    name : str
        The column as the user knows it.
    column, dtype : str, narwhals.DType
        The column of a frame that is settled.
    labels : dict
        ``positive_label`` and ``negative_label``.
    of_file : bool
        Whether words are cells of a file, which are numbers if all of them are.

    Attributes
    ----------
    missing : narwhals.Expr
        Whether a row has no label.
    absent : str or int
        What stands for a label that is missing.
    """

    def __init__(
        self, name: str, column: str, dtype: Any, labels: dict[str, Any], *, of_file: bool
    ) -> None:
        self.name, self.column, self.labels = name, column, dict(labels)
        self.is_boolean = isinstance(dtype, nw.Boolean)
        self.is_text = isinstance(dtype, (nw.String, nw.Categorical, nw.Enum, nw.Object))
        if not (dtype.is_numeric() or self.is_boolean or self.is_text):
            raise valid.bad_type("labeled", _MUST, dtype, "cast the column first")
        whole = self.is_boolean or (dtype.is_integer() and dtype != nw.UInt64)
        self.as_integer = whole and not isinstance(dtype, (nw.Int128, nw.UInt128))
        self.of_file = of_file and self.is_text
        self.absent: Any = MISSING if self.is_text else -1 if self.is_boolean else _NO_NUMBER
        self._meaning: dict[Any, tuple[bool, bool]] = {}
        self.missing = is_absent(column, dtype.is_float())

    @property
    def expression(self) -> Any:
        """The label of each row as a word or a number, never null."""
        whole = nw.Int8 if self.is_boolean else nw.Int64  # the shorter, the faster to group
        dtype = nw.String if self.is_text else whole if self.as_integer else nw.Float64
        absent = nw.lit(self.absent, dtype)
        return nw.when(self.missing).then(absent).otherwise(nw.col(self.column).cast(dtype))

    def refuse_many(self, frame: Any) -> None:
        """Refuse identifiers or scores after a look at the first rows: a group each is too much."""
        if self.is_boolean:
            return
        first = frame.select(pu_label=nw.col(self.column)).head(1000).collect()
        seen = list(dict.fromkeys(first["pu_label"].to_numpy().tolist()))
        if len(seen) > _MOST_VALUES:
            shown = ", ".join(repr(value) for value in seen[:3])
            raise valid.bad_value(
                "labeled",
                f"a column of two or three {'words' if self.is_text else 'values'}",
                f"more than {_MOST_VALUES} of them in column {self.name!r} ({shown}, ...)",
                "name the column that says which rows are labeled",
            )

    def read(self, found: np.ndarray[Any, Any]) -> tuple[BoolArray, BoolArray | None]:
        """Masks of the labeled and of the known negatives among the rows of a query's result.

        What values mean is settled by the first query,
        of all rows: a later one may be of rows among which a value, such as that of known
        negatives, does not occur.
        """
        keys, where = np.unique(found.astype(str) if self.is_text else found, return_inverse=True)
        if not self._meaning:
            values = keys.astype(np.bool_) if self.is_boolean else keys
            named = [self.labels["positive_label"], self.labels["negative_label"]]
            if self.of_file:
                plain, named = plain_labels(keys.tolist(), *named)
                values = np.array(plain)
            positive, negative = label_masks(values, *named)
            other = np.zeros_like(positive) if negative is None else negative
            pairs = zip(positive.tolist(), other.tolist(), strict=True)
            self._meaning = dict(zip(keys.tolist(), pairs, strict=True))
        if not self._meaning.keys() >= set(keys.tolist()):
            raise changed("frame", f"another value in column {self.name!r} the second time")
        known = np.array([self._meaning[key] for key in keys.tolist()])[where]
        return known[:, 0], None if self.labels["negative_label"] is None else known[:, 1]


_LARGEST = float(np.finfo(np.float64).max)
_BAD = -1e8
"""Below all values of the function that bins are made of."""
PER_OCTAVE = 5120
"""Bins for each doubling of a score, on average between 1/256 and 1, where all have one width."""
_PER_UNIT = PER_OCTAVE / math.log(2)
_TINY = 1e-307
_LARGEST_WEIGHT = 1e50


class Scan:
    """One lazy frame and the columns of it that are counted.

    Parameters
    ----------
    frame : narwhals.LazyFrame
        The frame.
    names : mapping of str to str
        Columns by parameter: score, labeled and perhaps sample_weight and by.
    labels : dict
        ``positive_label`` and ``negative_label``.
    keep : float, optional
        A threshold that no bin may lie across.
    """

    def __init__(
        self,
        frame: Any,
        names: Mapping[str, str],
        labels: dict[str, object],
        keep: float | None = None,
    ) -> None:
        self.names, self._given = dict(names), frame
        self.frame, self.places = settled(frame, names)
        self.schema = self.frame.collect_schema()
        for parameter in {*NUMBERS} & names.keys():
            dtype = self.schema[self.places[parameter]]
            if not (dtype.is_numeric() or isinstance(dtype, nw.Boolean)):
                hint = "convert the column to numbers first"
                raise valid.bad_type(parameter, "a numeric column", dtype, hint)
        self.weighted = "sample_weight" in names
        self.by = "by" in names
        self.by_float = self.by and self.schema[self.places["by"]].is_float()
        self.labels = labels_of(self.frame, names["labeled"], self.places["labeled"], labels)
        self._by_words = self.by and self.frame.implementation.is_duckdb()
        self._by_words &= self.by and self.schema[self.places["by"]] == nw.String
        self.labels.refuse_many(self.frame)
        self.n_passes = self.level = 0
        score = self.places["score"]
        columns = {"pu_x": as_float(score, self.schema[score]), "pu_label": self.labels.expression}
        if self.weighted:
            weight = nw.col(self.places["sample_weight"]).cast(nw.Float64)
            usual = weight.is_between(1 / _LARGEST_WEIGHT, _LARGEST_WEIGHT)
            beyond = self._beyond("sample_weight")
            usual = usual if beyond is None else usual & ~beyond
            columns |= {"pu_w": weight, "pu_w2": weight * weight, "pu_valid": (weight == 0) | usual}
        if self.by:
            columns["pu_by"] = nw.col(self.places["by"])
        self._columns = columns
        self._rows = self.frame.select(**columns)
        self._places = self._placed(keep)

    def _placed(self, keep: float | None) -> Any:
        """Return the rows with an increasing function of the score, ``pu_place``."""
        x, bad = nw.col("pu_x"), nw.lit(_BAD)
        size = (x.abs() + _TINY).log() * _PER_UNIT + 5e6
        # A value that is missing, NaN or infinite meets no condition.
        upper = nw.when(x <= _LARGEST).then(size).otherwise(bad)
        lower = nw.when(x >= -_LARGEST).then(0.0 - size).otherwise(bad)
        place = nw.when(x >= 0.0).then(upper).otherwise(lower)
        # Most scores are probabilities; the two functions meet at both ends.
        linear = (x - 1.0) * (8 * PER_OCTAVE) + 5e6
        place = nw.when(x.is_between(2.0**-8, 1.0)).then(linear).otherwise(place)
        if keep is not None:
            place = nw.when(x >= keep).then(place + 1.0).otherwise(place)
        if self.weighted:
            place = nw.when(nw.col("pu_valid")).then(place).otherwise(bad)
        if self.by:
            place = nw.when(is_absent("pu_by", self.by_float)).then(bad).otherwise(place)
        return self._rows.with_columns(pu_place=place)

    def _key(self) -> Any:
        # Multiplied by a power of 2, so that each bin is split into whole ones.
        key = (nw.col("pu_place") * 2.0**self.level).floor()
        return key.cast(nw.Int64 if self.level else nw.Int32)

    def bins(self) -> dict[Group, Bins]:
        """Return all rows, in bins of the logarithm of the score."""
        return self._grouped(self._places, self._key())

    def exact(self) -> dict[Group, Bins]:
        """Return all rows, in a bin for each distinct score."""
        return self._grouped(self._rows, nw.col("pu_x"))

    def finer(self, keys: Any, crowded: Iterable[Bins]) -> dict[Group, Bins]:
        """Return the rows of some bins of the pass before, each split into several bins.

        They are ``crowded``, and have these keys.
        """
        rows = self._places.filter(self._key().is_in(keys.tolist()))
        n_rows, spread = 0.0, 0.0
        for bins in crowded:
            size = np.maximum(np.maximum(np.abs(bins.low), np.abs(bins.high)), _TINY)
            spread += float((bins.high / size - bins.low / size).sum()) * _PER_UNIT * 2**self.level
            n_rows += float(bins.rows.sum())
        if n_rows <= MAX_SUB_BINS:
            return self._grouped(rows, nw.col("pu_x"))
        self.level = min(self.level + max(int(math.log2(MAX_SUB_BINS / spread)), 1), _MAX_LEVEL)
        return self._grouped(rows, self._key())

    def _grouped(self, rows: Any, key: Any) -> dict[Group, Bins]:
        """Group rows by key, label and group."""
        self.n_passes += 1
        weights = ["pu_w", "pu_w2"] if self.weighted else []
        groups = ["pu_label", *(["pu_by"] if self.by else [])]
        score = nw.col("pu_x")
        rows = rows.select("pu_x", *groups, *weights, pu_key=key)
        found = rows.group_by("pu_key", *groups).agg(
            nw.len().alias("pu_n"),
            score.min().alias("pu_low"),
            score.max().alias("pu_high"),
            *(nw.col(name).sum() for name in weights),
        )
        numbers = [nw.col(name).cast(nw.Float64) for name in weights]
        return self._read(collected(found.with_columns(nw.col("pu_n").cast(nw.Int64), *numbers)))

    def _read(self, columns: dict[str, np.ndarray[Any, Any]]) -> dict[Group, Bins]:
        """Bins of a query's result, by group."""
        n, labels, key = columns["pu_n"].astype(np.int64), columns["pu_label"], columns["pu_key"]
        if n.size == 0:
            raise valid.bad_value("frame", "non-empty", "no rows at all")
        low, high = (columns[name].astype(np.float64) for name in ("pu_low", "pu_high"))
        if self.n_passes == 1 and self._suspicious(key, low, high, labels, columns.get("pu_by")):
            self.refuse_bad_rows()
        labeled, negative = self.labels.read(labels)
        unlabeled = ~labeled if negative is None else ~(labeled | negative)
        mass = columns["pu_w"] if self.weighted else n
        square = columns["pu_w2"] if self.weighted else n
        tallies = {
            "labeled": mass * labeled,
            "unlabeled": mass * unlabeled,
            "negative": np.zeros_like(mass) if negative is None else mass * negative,
            "labeled_sq": square * labeled,
            "unlabeled_sq": square * unlabeled,
        }
        if not self.by:
            return {None: Bins.of(key, low, high, n, tallies)}
        found: dict[Group, Bins] = {}
        groups, which = np.unique(columns["pu_by"], return_inverse=True)
        for i, name in enumerate(groups.tolist()):
            rows = np.flatnonzero(which == i)
            part = {tally: tallies[tally][rows] for tally in TALLIES}
            found[name] = Bins.of(key[rows], low[rows], high[rows], n[rows], part)
        return found

    def _suspicious(self, key: Any, low: Any, high: Any, labels: Any, groups: Any) -> bool:
        """Whether there may be rows that cannot be counted."""
        if int(key.min()) < _BAD / 2 or self.labels.absent in labels:
            return True
        words = {*(labels if self.labels.of_file else ()), *(groups if self._by_words else ())}
        if any(map(is_missing, words)):
            return True
        large = self._beyond("score") is not None
        return large and max(-float(low.min()), float(high.max())) >= valid.LARGEST_EXACT_INTEGER

    def _beyond(self, parameter: str) -> Any:
        """An expression: whether floats round a number of an exact type; None where none is."""
        column = self.places[parameter]
        dtype, value = self.schema[column], nw.col(column)
        exact = isinstance(dtype, (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128, nw.Decimal))
        if not exact:
            return None
        beyond = value > valid.LARGEST_EXACT_INTEGER
        if not dtype.is_unsigned_integer():
            beyond |= value < -valid.LARGEST_EXACT_INTEGER
        return beyond

    def _faults(self, parameter: str, columns: Collection[str]) -> list[tuple[str, str, Any]]:
        """Return faults that a number may have, each with an expression for whether it has one."""
        column = self.places[parameter]
        beyond = self._beyond(parameter)
        if f"{column}{_OF_FILE}" in columns:
            fault = nw.col(f"{column}{_OF_FILE}")
            return [(parameter, what, fault == code) for code, what in _TEXT_FAULTS.items()]
        faults = [(parameter, "missing", nw.col(column).is_null())]
        return faults if beyond is None else [*faults, (parameter, _TOO_LARGE, beyond)]

    def refuse_bad_rows(self) -> None:
        """Count the rows that cannot be used, by kind, and complain if there are any."""
        dtype, score = self.schema[self.places["score"]], self._columns["pu_x"]
        frame, _ = settled(self._given, self.names, faults=True)
        columns = frame.collect_schema().names()
        faults = self._faults("score", columns)
        if dtype.is_float():
            faults.append(("score", "NaN", score.is_nan()))
            faults.append(("score", "infinite", ~score.is_between(-_LARGEST, _LARGEST)))
        faults.append(("labeled", "missing", self.labels.missing))
        if self.weighted:
            what = f"NaN, infinite, negative or not between 1e-50 and {_LARGEST_WEIGHT:g}"
            faults += self._faults("sample_weight", columns)
            faults.append(("sample_weight", what, ~self._columns["pu_valid"]))
        if self.by:
            faults.append(("by", "missing", is_absent(self.places["by"], self.by_float)))
        kind = nw.lit(len(faults), nw.Int64)
        for i, (*_, fault) in reversed(list(enumerate(faults))):
            kind = nw.when(fault).then(nw.lit(i, nw.Int64)).otherwise(kind)
        counted = frame.select(pu_kind=kind).group_by("pu_kind").agg(nw.len().alias("pu_n"))
        n = collected(counted)
        rows = dict(zip(n["pu_kind"].tolist(), n["pu_n"].tolist(), strict=True))
        of_all = f"of {int(sum(rows.values())):,} rows"
        found = [(*fault[:2], int(rows[i])) for i, fault in enumerate(faults) if i in rows]
        if not found:
            return  # a large integer that is not too large, or a label of another kind
        for parameter, what, many in found:
            if what == _TOO_LARGE:
                got = f"{many:,} {of_all} (column {self.names[parameter]!r})"
                raise valid.too_large(parameter, got)
        first = found[0][0]
        texts = []
        for parameter, what, many in found:
            place = "" if parameter == first else f" in column {self.names[parameter]!r}"
            texts.append(f"{many:,} {what}{place}")
        raise valid.bad_value(
            first,
            "a column of finite numbers" if first == "score" else "a column without gaps",
            f"{', '.join(texts)} {of_all} (column {self.names[first]!r})",
            "drop or fill those rows first; purecover never drops rows in silence",
        )


def labels_of(frame: Any, name: str, column: str, labels: dict[str, object]) -> LabelValues:
    """The values of the label column ``name``, which is ``column`` in a frame that is settled."""
    dtype = frame.collect_schema()[column]
    return LabelValues(name, column, dtype, labels, of_file=frame.implementation.is_duckdb())


def as_float(column: str, dtype: Any) -> Any:
    """An expression: a column of numbers or truth values as 64-bit floats."""
    value = nw.col(column)
    if isinstance(dtype, nw.Boolean):
        value = value.cast(nw.Int64)
    return value.cast(nw.Float64)


def is_absent(column: str, is_float: bool) -> Any:
    """An expression: whether a row has nothing in a column."""
    value = nw.col(column)
    return value.is_null() | value.is_nan() if is_float else value.is_null()


@busy()
def collected(frame: Any) -> dict[str, np.ndarray[Any, Any]]:
    """The columns of a query's result."""
    try:
        table = frame.collect()
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"{{function}} needs the package {error.name!r} to take results from this "
            "engine, and it is not installed.\nHint: pip install 'purecover[engines]'"
        ) from error
    return {name: np.asarray(table[name].to_numpy()) for name in table.columns}
