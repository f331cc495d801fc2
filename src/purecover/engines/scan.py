"""Queries over a lazy frame, one group-by each, columns in memory, and the bins both make.

A bin counts neighboring scores together, with the smallest and largest score of each.

Every expression here is one that all engines of narwhals evaluate, and evaluate alike:

- a row with anything wrong gets a bin of its own, `_BAD`, so that no engine has to floor or cast a
  NaN, and a look at the result tells whether there is such a row; only then are they counted;
- keys of bins are 64-bit integers: some engines group floating-point numbers far more slowly;
- sums and counts are cast after the aggregation, since not all engines can within it.
"""

from __future__ import annotations

import atexit
import glob
import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from purecover import _validation as valid
from purecover._folders import private_folder
from purecover._inputs import encode_labels, require_columns
from purecover._typing import BoolArray, FloatArray
from purecover._validation import public
from purecover.exceptions import InvalidInputError, MissingDependencyError

TALLIES = ("labeled", "unlabeled", "negative", "labeled_sq", "unlabeled_sq")
MAX_REGIONS = 48
"""Most intervals one pass refines: each is a branch of the query."""
MAX_SUB_BINS = 1 << 16
"""About how many bins such a pass makes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Bins:
    """Counts of scores from ``low`` to ``high``, in increasing order and without overlaps.

    ``rows`` counts examples whatever their weights. ``twins`` marks bins whose smallest or
    largest labeled score is also that of the unlabeled: a sign of few distinct scores.
    """

    low: FloatArray
    high: FloatArray
    rows: FloatArray
    labeled: FloatArray
    unlabeled: FloatArray
    negative: FloatArray
    labeled_sq: FloatArray
    unlabeled_sq: FloatArray
    twins: BoolArray

    @classmethod
    def of(cls, keys: Any, low: Any, high: Any, rows: Any, tallies: dict[str, Any]) -> Bins:
        """Add up rows of a query that have the same key, and bins that overlap.

        Keys grow with scores but for rounding, so that ranges of neighboring keys may overlap
        by a hair: such bins are one.
        """
        order = np.argsort(keys, kind="stable")
        keys, low, high = keys[order], low[order] + 0.0, high[order] + 0.0  # -0.0 is written 0.0
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        tallies = {name: tallies[name][order] for name in TALLIES}
        mixed = (tallies["labeled"] > 0) | (tallies["unlabeled"] > 0)
        found = cls(low=low, high=high, rows=rows[order], twins=mixed, **tallies)._summed(starts)
        return replace(found, twins=_equal_ends(low, high, mixed, starts))._sorted()

    def _sorted(self) -> Bins:
        order = np.argsort(self.low, kind="stable")
        reach = np.maximum.accumulate(self.high[order])
        starts = np.flatnonzero(np.append(True, self.low[order][1:] > reach[:-1]))
        if starts.size == self.low.size and np.all(order[1:] > order[:-1]):
            return self
        return self.taken(order)._summed(starts)

    def _summed(self, starts: Any) -> Bins:
        """Neighbors as one bin, from each of these to the next."""
        return Bins(
            low=np.minimum.reduceat(self.low, starts),
            high=np.maximum.reduceat(self.high, starts),
            rows=np.add.reduceat(self.rows, starts),
            twins=np.logical_or.reduceat(self.twins, starts),
            **{name: np.add.reduceat(getattr(self, name), starts) for name in TALLIES},
        )

    def taken(self, which: Any) -> Bins:
        """Some of the bins."""
        return replace(self, **{f.name: getattr(self, f.name)[which] for f in fields(self)})

    def joined(self, other: Bins) -> Bins:
        """All bins of both."""
        pairs = {f.name: (getattr(self, f.name), getattr(other, f.name)) for f in fields(self)}
        return Bins(**{name: np.concatenate(pair) for name, pair in pairs.items()})._sorted()

    @property
    def tied(self) -> BoolArray:
        """Bins with one score only."""
        return np.asarray(self.low == self.high)

    def slack(self) -> FloatArray:
        r"""Return how far the order within each bin can change the observed AUC: :math:`p_i q_i`.

        The AUC lies within half the sum on either side; a bin of one score has none.
        """
        pairs = float(self.labeled.sum()) * float(self.unlabeled.sum())
        if not pairs > 0:
            return np.zeros(self.low.size)
        return np.where(self.tied, 0.0, self.labeled * self.unlabeled / pairs)

    def distinct(self) -> float:
        r"""About how many distinct scores there are.

        Where the smallest labeled score of a bin equals the smallest unlabeled one, scores
        repeat. With :math:`\lambda` labeled rows per distinct score that happens with a
        probability of about :math:`1 - e^{-\lambda}`, and so with the largest; that is turned
        around (with the rarer sample in the place of the labeled). Never more than the rows.
        """
        untied = ~self.tied
        mixed = untied & (self.labeled > 0) & (self.unlabeled > 0)
        n_rows = float(self.rows[untied].sum())
        weight = self.rows[mixed]
        if not weight.sum() > 0:
            return float(self.tied.sum()) + n_rows
        share = float(weight[self.twins[mixed]].sum() / weight.sum())
        if share == 0:
            return float(self.tied.sum()) + n_rows
        share = min(share, 1 - 0.5 / mixed.sum())
        # Weighted rows count by their weights here; a rough figure is all that is wanted.
        sides = self.labeled[untied].sum(), self.unlabeled[untied].sum()
        rarer = n_rows * float(min(sides) / sum(sides))
        return float(self.tied.sum()) + min(2 * rarer / -np.log1p(-share), n_rows)


def _equal_ends(low: FloatArray, high: FloatArray, mixed: BoolArray, starts: Any) -> BoolArray:
    """Keys with two rows or more of one smallest or one largest score."""
    size = np.diff(np.append(starts, low.size))
    same = [
        np.fmin.reduceat(ends, starts) == np.fmax.reduceat(ends, starts)
        for ends in (np.where(mixed, low, np.nan), np.where(mixed, high, np.nan))
    ]
    several = np.add.reduceat(mixed.astype(np.int64), starts) > 1
    return np.asarray((same[0] | same[1]) & several & (size > 1))


# -- which bins to split ----------------------------------------------------------------------


@dataclass(frozen=True)
class Regions:
    """Intervals of scores, and into how many bins each is to be split."""

    low: FloatArray
    high: FloatArray
    n_bins: Any

    def hold(self, bins: Bins) -> BoolArray:
        """Which bins lie in a region; none lies there in part."""
        at = np.searchsorted(self.low, bins.low, side="right") - 1
        return np.asarray((at >= 0) & (bins.high <= self.high[np.maximum(at, 0)]))


def regions_to_refine(every: list[Bins], tolerance: float) -> Regions | None:
    """Regions whose bins keep an AUC from being known to ``tolerance``; None if all are fine.

    Of each set of bins those with the largest slack are taken, until what the others have is
    half of the tolerance.
    """
    taken = []
    for bins in every:
        slack = bins.slack()
        if slack.sum() <= tolerance:
            continue
        order = np.argsort(-slack, kind="stable")
        rest = slack.sum() - np.cumsum(slack[order])
        n_taken = int(np.argmax(rest <= tolerance / 2)) + 1
        chosen = order[:n_taken]
        root = np.sqrt(slack[chosen])
        taken.append((bins.low[chosen], bins.high[chosen], root / root.sum()))
    if not taken:
        return None
    low, high, need = (np.concatenate(part) for part in zip(*taken, strict=True))
    low, high, need = _closed(low, high, need, every)
    # Far too many for one query: neighbors with the narrowest gaps go together.
    if low.size > MAX_REGIONS:
        gaps = _gaps(low, high)
        widest = np.sort(np.argsort(-gaps, kind="stable")[: MAX_REGIONS - 1]) + 1
        starts = np.append(0, widest)
        low, high = low[starts], np.maximum.reduceat(high, starts)
        need = np.add.reduceat(need, starts)
        low, high, need = _closed(low, high, need, every)
    n_bins = np.maximum(np.ceil(need / need.sum() * MAX_SUB_BINS), 64).astype(np.int64)
    return Regions(low, high, n_bins)


def _gaps(low: FloatArray, high: FloatArray) -> FloatArray:
    """Distances between neighboring intervals, in units of the smaller of their sizes.

    An interval of 1e-9 to 1e-8 must not be pooled with one of 0.5 to 0.6, close as they are.
    """
    sizes = np.maximum(np.maximum(np.abs(low), np.abs(high)), np.finfo(np.float64).tiny)
    return np.asarray((low[1:] / 2 - high[:-1] / 2) / np.minimum(sizes[1:], sizes[:-1]))


def _closed(
    low: FloatArray, high: FloatArray, need: FloatArray, every: list[Bins]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Intervals grown until no bin of any set lies across an end of one."""
    while True:
        order = np.argsort(low, kind="stable")
        low, high, need = low[order], high[order], need[order]
        reach = np.maximum.accumulate(high)
        starts = np.flatnonzero(np.append(True, low[1:] > reach[:-1]))
        low, high = low[starts], np.maximum.reduceat(high, starts)
        need = np.add.reduceat(need, starts)
        before = low.copy(), high.copy()
        for bins in every:
            # The first bin that ends at or above a region's start, the last that starts in it.
            first = np.searchsorted(bins.high, low, side="left")
            last = np.searchsorted(bins.low, high, side="right") - 1
            some = first <= last
            low[some] = np.minimum(low[some], bins.low[first[some]])
            high[some] = np.maximum(high[some], bins.high[last[some]])
        if np.array_equal(low, before[0]) and np.array_equal(high, before[1]):
            return low, high, need


# -- Queries -------------------------------------------------------------------------------------


# -- The label column: grouped by, and read when all rows have been counted -----------------------


MISSING = "\ue000missing"
_NO_NUMBER = -(2**62)
"""Stand for a missing word or number: no engine drops them from its groups."""
_MOST_VALUES = 20
_MUST = "a column of booleans, numbers or words"


class LabelValues:
    """The values of one label column, by which an engine groups, and what they mean.

    Parameters
    ----------
    column, dtype : str, narwhals.DType
        The column.
    labels : dict
        ``positive_label`` and ``negative_label``.
    """

    def __init__(self, column: str, dtype: Any, labels: dict[str, Any]) -> None:
        import narwhals.stable.v2 as nw

        self.column, self.labels = column, dict(labels)
        self.is_float = dtype.is_float()
        self.is_boolean = isinstance(dtype, nw.Boolean)
        self.is_text = isinstance(dtype, (nw.String, nw.Categorical, nw.Enum, nw.Object))
        if not (dtype.is_numeric() or self.is_boolean or self.is_text):
            raise valid.bad_type("labeled", _MUST, dtype, "cast the column first")
        whole = self.is_boolean or (dtype.is_integer() and dtype != nw.UInt64)
        self.as_integer = whole and not isinstance(dtype, (nw.Int128, nw.UInt128))
        self._meaning: dict[Any, tuple[bool, bool]] = {}

    def missing(self) -> Any:
        """An expression: whether a row has no label."""
        return is_absent(self.column, self.is_float)

    def expression(self) -> Any:
        """An expression: the label of each row as a word or a number, never null."""
        import narwhals.stable.v2 as nw

        dtype = nw.String if self.is_text else nw.Int64 if self.as_integer else nw.Float64
        absent = nw.lit(MISSING if self.is_text else _NO_NUMBER, dtype)
        return nw.when(self.missing()).then(absent).otherwise(nw.col(self.column).cast(dtype))

    def refuse_many(self, frame: Any) -> None:
        """Refuse identifiers or scores after a look at the first rows: a group each is too much."""
        import narwhals.stable.v2 as nw

        if self.is_boolean:
            return
        first = frame.select(pu_label=nw.col(self.column)).head(1000).collect()
        seen = list(dict.fromkeys(first["pu_label"].to_numpy().tolist()))
        if len(seen) > _MOST_VALUES:
            shown = ", ".join(repr(value) for value in seen[:3])
            raise valid.bad_value(
                "labeled",
                f"a column of two or three {'words' if self.is_text else 'values'}",
                f"more than {_MOST_VALUES} of them in column {self.column!r} ({shown}, ...)",
                "name the column that says which rows are labeled",
            )

    def surprising(self, found: np.ndarray[Any, Any]) -> bool:
        """Whether a label is missing."""
        return bool(np.any(found == (MISSING if self.is_text else _NO_NUMBER)))

    def read(self, found: np.ndarray[Any, Any], rows: Any) -> tuple[BoolArray, BoolArray | None]:
        """Masks of the labeled and of the known negatives among the rows of a query's result.

        ``rows`` counts what each row stands for. What values mean is settled by the first query,
        of all rows: a later one may be of rows among which a value, such as that of known
        negatives, does not occur.
        """
        keys, where = np.unique(found.astype(str) if self.is_text else found, return_inverse=True)
        if not self._meaning:
            values = keys.astype(np.bool_) if self.is_boolean else keys
            try:
                positive, negative = encode_labels(values, values.size, **self.labels)
            except InvalidInputError as error:
                few, all_rows = f"row among {values.size}", f"row among {int(rows.sum()):,} rows"
                error.got = str(error.got).replace(few, all_rows)
                raise
            other = np.zeros_like(positive) if negative is None else negative
            pairs = zip(positive.tolist(), other.tolist(), strict=True)
            self._meaning = dict(zip(keys.tolist(), pairs, strict=True))
        if not self._meaning.keys() >= set(keys.tolist()):
            raise valid.bad_value(
                "labeled",
                "the same each time the frame is evaluated",
                f"another value in column {self.column!r} the second time",
                "store or cache the frame first",
            )
        known = np.array([self._meaning[key] for key in keys.tolist()])[where]
        return known[:, 0], None if self.labels["negative_label"] is None else known[:, 1]


# -- Queries ------------------------------------------------------------------------------------


_LARGEST = float(np.finfo(np.float64).max)
_BAD = -1e5
"""Below all values of the function that bins are made of."""
PER_OCTAVE = 4096
"""Bins for each doubling of the score, or of its distance from 1 if that is nearer than 0."""
_LN2 = math.log(2)
_SCALE = PER_OCTAVE / _LN2
_TINY = 1e-307
_LARGEST_WEIGHT = 1e50
_KINDS = {
    1: ("score", "missing"),
    2: ("score", "NaN"),
    3: ("score", "infinite"),
    4: ("score", "too large"),
    5: ("labeled", "missing"),
    6: ("sample_weight", "missing"),
    7: ("sample_weight", f"NaN, infinite, negative or not between 1e-50 and {_LARGEST_WEIGHT:g}"),
    8: ("by", "missing"),
}

Group = Any
"""A value of the column named by ``by``; None where there is none."""


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
        import narwhals.stable.v2 as nw

        schema = frame.collect_schema()
        require_columns(names, list(schema.names()))
        self.frame, self.names, self.keep = frame, dict(names), keep
        for parameter in ("score", "sample_weight"):
            dtype = schema[names[parameter]] if parameter in names else nw.Int64()
            if not (dtype.is_numeric() or isinstance(dtype, nw.Boolean)):
                hint = "convert the column to numbers first"
                raise valid.bad_type(parameter, "a numeric column", dtype, hint)
        self.dtype = schema[names["score"]]
        self.weighted = "sample_weight" in names
        self.by = "by" in names
        self.by_float = self.by and schema[names["by"]].is_float()
        self.labels = LabelValues(names["labeled"], schema[names["labeled"]], labels)
        self.labels.refuse_many(frame)
        self.n_passes = 0
        columns = {"pu_x": self._score(), "pu_label": self.labels.expression()}
        if self.weighted:
            weight = self._weight()
            columns |= {"pu_w": weight, "pu_w2": weight * weight, "pu_fine": self._weight_fine()}
        if self.by:
            columns["pu_by"] = nw.col(names["by"])
        self._rows = frame.select(**columns)

    # -- expressions ----------------------------------------------------------------------

    def _score(self) -> Any:
        return as_float(self.names["score"], self.dtype)

    def _weight(self) -> Any:
        import narwhals.stable.v2 as nw

        return nw.col(self.names["sample_weight"]).cast(nw.Float64)

    def _weight_fine(self) -> Any:
        weight = self._weight()
        return (weight == 0) | weight.is_between(1 / _LARGEST_WEIGHT, _LARGEST_WEIGHT)

    # -- passes ---------------------------------------------------------------------------

    def bins(self) -> dict[Group, Bins]:
        """All rows, in bins of the logarithm of the score."""
        import narwhals.stable.v2 as nw

        x, log = nw.col("pu_x"), nw.col("pu_log")
        # In steps, each on columns of the one before: engines that are given one deep expression
        # evaluate its repeated parts again and again.
        # Between 1/2 and 1 the distance from 1 counts: probabilities crowd at both ends.
        near_one = (x >= 0.5) & (x < 1.0)
        size = nw.when(x < 0.0).then(0.0 - x).otherwise(x)
        size = nw.when(near_one).then(1.0 - x).otherwise(size)
        rows = _logarithm(self._rows.with_columns(pu_log=size + _TINY))
        # Branches of an increasing function of x, each above all values of the one before. What
        # is missing, NaN or infinite falls through all comparisons.
        bad = nw.lit(_BAD)
        large = nw.when(x <= _LARGEST).then(42.0 + log).otherwise(bad)
        upper = nw.when(x < 1.0).then(-_LN2 - log).otherwise(large)
        negative = nw.when(x >= -_LARGEST).then(-2300.0 - log).otherwise(bad)
        lower = nw.when(x < 0.0).then(negative).otherwise(_LN2 + log)
        place = nw.when(x < 0.5).then(lower).otherwise(upper)
        if self.weighted:
            place = nw.when(nw.col("pu_fine")).then(place).otherwise(bad)
        if self.by:
            place = nw.when(is_absent("pu_by", self.by_float)).then(bad).otherwise(place)
        return self._grouped(rows, (place * _SCALE).floor())

    def refined(self, regions: Regions) -> dict[Group, Bins]:
        """The rows of some regions, in bins of equal width."""
        import narwhals.stable.v2 as nw

        base = np.concatenate(([0], np.cumsum(regions.n_bins)))

        def cell_of(first: int) -> Any:
            low, high = float(regions.low[first]), float(regions.high[first])
            # Differences of very large scores would overflow, inverses of very small ones too.
            unit = 1.0
            if max(-low, high) > 1e300:
                unit = 0.5
            elif max(-low, high) < 1e-200:
                unit = 2.0**700
            last = float(regions.n_bins[first] - 1)
            width = high * unit - low * unit
            scale = (last + 1) / width if width > 0 else 0.0
            cell = ((nw.col("pu_x") * unit - low * unit) * scale).clip(0.0, last).floor()
            inside = nw.col("pu_x").is_between(low, high)
            return nw.when(inside).then(cell + float(base[first])).otherwise(nw.lit(-1.0))

        within = nw.col("pu_x").is_between(float(regions.low[0]), float(regions.high[-1]))
        rows = self._rows.filter(within).with_columns(
            pu_cell=choice(nw.col("pu_x"), regions.low, cell_of)
        )
        return self._grouped(rows.filter(nw.col("pu_cell") >= 0.0), nw.col("pu_cell"))

    def exact(self) -> dict[Group, Bins]:
        """All rows, a bin for each distinct score."""
        return self._grouped(self._rows, None)

    def _grouped(self, rows: Any, place: Any) -> dict[Group, Bins]:
        """Group rows by place, or by score, and by label and group."""
        import narwhals.stable.v2 as nw

        self.n_passes += 1
        weights = ["pu_w", "pu_w2"] if self.weighted else []
        groups = ["pu_label", *(["pu_by"] if self.by else [])]
        score = key = nw.col("pu_x")
        if place is not None:
            key = place.cast(nw.Int64)
            if self.keep is not None:
                above = nw.when(score >= self.keep).then(nw.lit(1, nw.Int64))
                key = key * 2 + above.otherwise(nw.lit(0, nw.Int64))
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
        n, labels, place = columns["pu_n"].astype(np.int64), columns["pu_label"], columns["pu_key"]
        if n.size == 0:
            raise valid.bad_value("frame", "non-empty", "no rows at all")
        low, high = (columns[name].astype(np.float64) for name in ("pu_low", "pu_high"))
        if self.n_passes == 1 and self._suspicious(place, low, high, labels):
            self.refuse_bad_rows()
        labeled, negative = self.labels.read(labels, n)
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
            return {None: Bins.of(place, low, high, n, tallies)}
        found: dict[Group, Bins] = {}
        names, which = np.unique(columns["pu_by"], return_inverse=True)
        for i, name in enumerate(names.tolist()):
            rows = np.flatnonzero(which == i)
            part = {tally: tallies[tally][rows] for tally in TALLIES}
            found[name] = Bins.of(place[rows], low[rows], high[rows], n[rows], part)
        return found

    def _suspicious(self, place: Any, low: Any, high: Any, labels: Any) -> bool:
        """Whether there may be rows that cannot be counted."""
        import narwhals.stable.v2 as nw

        lowest = int(place.min()) // (1 if self.keep is None else 2)
        if lowest == math.floor(_BAD * _SCALE) or self.labels.surprising(labels):
            return True
        large = isinstance(self.dtype, (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128))
        return large and max(-float(low.min()), float(high.max())) >= valid.LARGEST_EXACT_INTEGER

    # -- complaints -----------------------------------------------------------------------

    def refuse_bad_rows(self) -> None:
        """Count the rows that cannot be used, by kind, and complain if there are any."""
        import narwhals.stable.v2 as nw

        raw = nw.col(self.names["score"])
        score, label = self._score(), self.labels
        faults = {1: raw.is_null(), 2: score.is_nan(), 3: ~score.is_between(-_LARGEST, _LARGEST)}
        if self.dtype.is_integer():
            bound = valid.LARGEST_EXACT_INTEGER
            faults = {1: raw.is_null(), 4: (raw > bound) | (raw < -bound)}
            if self.dtype.is_unsigned_integer():
                faults[4] = raw > bound
        elif isinstance(self.dtype, nw.Boolean):
            faults = {1: raw.is_null()}
        faults[5] = label.missing()
        if self.weighted:
            faults |= {6: nw.col(self.names["sample_weight"]).is_null(), 7: ~self._weight_fine()}
        if self.by:
            faults[8] = is_absent(self.names["by"], self.by_float)
        kind = nw.lit(0, nw.Int64)
        for number, fault in reversed(faults.items()):
            kind = nw.when(fault).then(nw.lit(number, nw.Int64)).otherwise(kind)
        counted = self.frame.select(pu_kind=kind).group_by("pu_kind").agg(nw.len().alias("pu_n"))
        columns = collected(counted)
        rows = dict(zip(columns["pu_kind"].tolist(), columns["pu_n"].tolist(), strict=True))
        total = int(sum(rows.values()))
        found = {number: int(rows[number]) for number in sorted(_KINDS) if rows.get(number)}
        if not found:
            return  # a large integer that is not too large, or a label of another kind
        if 4 in found:
            got = f"{found[4]:,} of {total:,} rows (column {self.names['score']!r})"
            raise valid.too_large("score", got)
        parameter = _KINDS[min(found)][0]
        texts = []
        for number, many in found.items():
            where, what = _KINDS[number]
            place = "" if where == parameter else f" in column {self.names[where]!r}"
            texts.append(f"{many:,} {what}{place}")
        raise valid.bad_value(
            parameter,
            "a column of finite numbers" if parameter == "score" else "a column without gaps",
            f"{', '.join(texts)} of {total:,} rows (column {self.names[parameter]!r})",
            "drop or fill those rows first; purecover never drops rows in silence",
        )


def choice(value: Any, lowest: FloatArray, chosen: Callable[[int], Any]) -> Any:
    """An expression by the part that a value lies in, given the lowest value of each.

    Nested choices, not a chain: of five hundred parts an engine asks for nine.
    """
    import narwhals.stable.v2 as nw

    def between(first: int, stop: int) -> Any:
        if stop - first == 1:
            return chosen(first)
        middle = (first + stop) // 2
        above = nw.when(value >= float(lowest[middle])).then(between(middle, stop))
        return above.otherwise(between(first, middle))

    return between(0, lowest.size)


def as_float(column: str, dtype: Any) -> Any:
    """An expression: a column of numbers or truth values as 64-bit floats."""
    import narwhals.stable.v2 as nw

    value = nw.col(column)
    if isinstance(dtype, nw.Boolean):
        value = value.cast(nw.Int64)
    return value.cast(nw.Float64)


def is_absent(column: str, is_float: bool) -> Any:
    """An expression: whether a row has nothing in a column."""
    import narwhals.stable.v2 as nw

    value = nw.col(column)
    return value.is_null() | value.is_nan() if is_float else value.is_null()


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


def _logarithm(rows: Any) -> Any:
    """Rows with the logarithm of the positive column ``pu_log`` in its place."""
    import narwhals.stable.v2 as nw

    if rows.implementation.is_duckdb():
        # The same, less the tests for numbers that have none, which cost a fifth of the query.
        return nw.from_native(rows.to_native().project("* REPLACE (ln(pu_log) AS pu_log)"))
    return rows.with_columns(pu_log=nw.col("pu_log").log())


# -- Files of any size as a lazy frame: Parquet or CSV, which DuckDB streams ---------------------


_KEPT: dict[tuple[str | None, int | None], Any] = {}
"""Connections by their settings; older DuckDB closes a connection without references."""
_UNTIL_EXIT = ExitStack()
_FORMATS = {
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
}
_COMPRESSED = (".gz", ".zst")
_PLAIN_CSV: dict[str, Any] = {
    "header": True, "comment": "", "quotechar": '"', "escapechar": '"', "skiprows": 0,
    "null_padding": False, "ignore_errors": False,
}  # fmt: skip
"""Where DuckDB is left to find out, it takes rows that begin with # for comments."""


def duckdb_connection(spill: Path, **config: Any) -> Any:
    """A database in memory, which writes what does not fit there to a folder of ours.

    Nothing is downloaded, whatever the name of a file looks like.
    """
    import duckdb

    # By itself DuckDB would write to .tmp in the current folder, readable by everyone.
    ours: Any = {"autoinstall_known_extensions": False, "temp_directory": str(spill)}
    return duckdb.connect(":memory:", config=ours | config)


def first_given_twice(names: Sequence[str]) -> str | None:
    """The first name of a file, or of a link to it, that stands among the names twice."""
    seen = set()
    for name in names:
        try:
            about = os.stat(name)  # noqa: PTH116 - names that are no paths, too
            place: Any = about.st_dev, about.st_ino
        except (OSError, ValueError):  # no file on this machine
            place = name
        if place in seen:
            return name
        seen.add(place)
    return None


@public
def scan_files(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    memory_limit: str | None = None,
    threads: int | None = None,
) -> Any:
    r"""Parquet or CSV files as one lazy frame of DuckDB, to be counted without loading them.

    Parameters
    ----------
    paths : str, path or list of them
        Files or patterns such as ``"scores/*.parquet"``; all of one format, told by their names.
        No two may mean the same file. A folder called ``day=1`` is no column; for such columns
        pass a frame of your engine to :meth:`ScoreCounts.from_frame`. A name with ``://`` is for
        DuckDB to fetch.
    memory_limit : str, optional
        The most memory DuckDB may use, such as ``"2GB"``; it writes to disk what does not fit.
        By default four fifths of the machine's memory.
    threads : int, optional
        How many threads DuckDB may use; as many as there are processors by default.

    Returns
    -------
    duckdb.DuckDBPyRelation
        The frame, for :meth:`ScoreCounts.from_frame` or :func:`evaluate`.

    See Also
    --------
    ScoreCounts.from_frame : Counts the scores of a frame.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from purecover import ScoreCounts, scan_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day, rows in (("mon", "0.9,1"), ("tue", "0.2,0")):
    ...         _ = Path(folder, f"{day}.csv").write_text("s,y\n" + rows + "\n")
    ...     frame = scan_files(f"{folder}/*.csv", memory_limit="500MB")
    ...     print(ScoreCounts.from_frame(frame, score="s", labeled="y"))
    ScoreCounts(1 labeled, 1 unlabeled, 2 thresholds)
    """
    names = _paths(paths)
    kind = _format(names)
    if threads is not None:
        threads = valid.check_integer("threads", threads, low=1)
    if memory_limit is not None and not isinstance(memory_limit, str):
        raise valid.bad_type("memory_limit", "a size such as '2GB'", memory_limit)
    import duckdb

    connection = _connection(memory_limit, threads)
    read = connection.read_parquet if kind == "parquet" else connection.read_csv
    try:
        # By default columns of further files would be cast to the types of the first (0.7 to 1,
        # where that has whole numbers), and those of text files taken by their place, whatever
        # their names. A folder called score=3 would take the place of a column.
        how = {} if kind == "parquet" else _PLAIN_CSV
        return read(names, union_by_name=True, hive_partitioning=False, **how)
    except duckdb.Error as error:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise valid.bad_value(
            "paths",
            f"{'Parquet' if kind == 'parquet' else 'CSV'} files that DuckDB can read",
            f"{valid.show(names[0])}: {first[:200]}",
            "is the pattern right, and were the files written completely?",
        ) from error


def _paths(paths: Any) -> list[str]:
    """Patterns, of which no two mean the same file: its rows would count twice."""
    must = "a path, a pattern or a list of them"
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    if not isinstance(paths, Sequence) or isinstance(paths, bytes):
        raise valid.bad_type("paths", must, paths)
    out, found = [], []
    for path in paths:
        if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes):
            raise valid.bad_type("paths", must, path)
        pattern = name = os.fspath(path)
        if glob.has_magic(name) and "\0" not in name:
            # To DuckDB a file called a[1].csv would be a pattern that means a1.csv.
            pattern = glob.escape(name) if Path(name).is_file() else name
            # Path.glob takes no absolute patterns.
            found += glob.glob(pattern, recursive=True) or [pattern]  # noqa: PTH207
        else:
            found.append(name)
        out.append(pattern)
    if not out or not all(out):
        raise valid.bad_value("paths", must, "nothing")
    twice = first_given_twice(found)
    if twice is not None:
        hint = "its rows would count twice; name it once"
        raise valid.bad_value("paths", "different files", f"{valid.show(twice)} twice", hint)
    return out


def _format(names: list[str]) -> str:
    """Return the common format of the files from their suffixes, without those of compression."""
    found = set()
    for name in names:
        suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
        last = next((suffix for suffix in reversed(suffixes) if suffix not in _COMPRESSED), "")
        if last not in _FORMATS:
            raise valid.bad_value(
                "paths", f"files whose names end in {', '.join(_FORMATS)}", valid.show(name),
                "for another format, pass a frame of your engine to ScoreCounts.from_frame",
            )  # fmt: skip
        found.add(_FORMATS[last])
    if len(found) > 1:
        raise valid.bad_value("paths", "files of one format", "both Parquet and CSV")
    return found.pop()


def _connection(memory_limit: str | None, threads: int | None) -> Any:
    """Return the connection of these settings, reused because each connection has threads."""
    import duckdb

    kept = _KEPT.get((memory_limit, threads))
    if kept is not None:
        return kept
    spill = _UNTIL_EXIT.enter_context(private_folder())
    # Order does not matter to counts, and keeping it costs memory.
    connection = duckdb_connection(spill, preserve_insertion_order=False)
    if threads is not None:
        connection.execute(f"SET threads = {threads}")
    if memory_limit is not None:
        try:
            connection.execute("SET memory_limit = $1", [memory_limit])
        except duckdb.Error as error:
            got = valid.show(memory_limit)
            raise valid.bad_value("memory_limit", "a size such as '2GB'", got) from error
    _KEPT[memory_limit, threads] = connection
    return connection


atexit.register(_UNTIL_EXIT.close)
