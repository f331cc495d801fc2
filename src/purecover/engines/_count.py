"""From a lazy frame to counts: bins first, then exact or finer ones where it matters."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from purecover._counting import Columns, count_rows
from purecover._frames import lazy_frame, read_columns
from purecover._validation import bad_value, show
from purecover.engines._bins import Bins, regions_to_refine
from purecover.engines._columns import split_rows
from purecover.engines._scan import Group, Scan
from purecover.exceptions import InvalidInputError, PurecoverWarning

EXACT_LIMIT = 4_000_000
"""Frames with at most about so many distinct scores are counted exactly."""
_MAX_PASSES = 8


def count_frame(
    function: str,
    frame: Any,
    names: Mapping[str, str],
    labels: dict[str, object],
    settings: dict[str, Any],
) -> dict[Group, tuple[Columns, dict[str, float]]]:
    """Columns of counts by group, and totals known from counting; one group None without ``by``.

    Lazy frames are counted by their engine with ``settings`` (see `count_lazy`), others exactly.
    """
    lazy = lazy_frame(frame)
    if lazy is not None:
        counted = count_lazy(function, lazy, names, labels, **settings)
        return {group: (columns, {}) for group, columns in counted.items()}
    rows = read_columns(function, frame, names)
    by = rows.pop("by", None)
    found = {}
    for group, part in split_rows(function, rows, by):
        try:
            found[group] = count_rows(
                function,
                {"score": part["score"]},
                part["labeled"],
                sample_weight=part.get("sample_weight"),
                positive_label=labels["positive_label"],
                negative_label=labels["negative_label"],
            )
        except InvalidInputError as error:
            if by is None:
                raise
            raise InvalidInputError(f"{error}\nThis is so in group {show(group)}.") from error
    return found


def count_lazy(
    function: str,
    frame: Any,
    names: Mapping[str, str],
    labels: dict[str, object],
    *,
    tolerance: float,
    exact_limit: int = EXACT_LIMIT,
    keep: float | None = None,
    one_sided: bool = False,
) -> dict[Group, Columns]:
    """Counts of a lazy frame, by group; one group None without ``by``.

    The first pass counts in bins. If each holds one score, that was all. If there are few
    distinct scores, a second pass counts those. Otherwise bins are refined until the observed
    AUC is known to within ``tolerance``, which mostly takes no further pass. A group without
    labeled or without unlabeled rows is refused, unless ``one_sided`` groups are welcome.
    """
    scan = Scan(function, frame, names, labels, keep)
    found = scan.bins()
    if all(bins.tied.all() for bins in found.values()):
        return _columns(scan, found, labels, one_sided=one_sided)
    few = sum(bins.distinct() for bins in found.values()) <= exact_limit
    if tolerance == 0 or few:
        exact = scan.exact()
        _require_same(function, found, exact)
        return _columns(scan, exact, labels, one_sided=one_sided)
    for _ in range(_MAX_PASSES):
        regions = regions_to_refine(list(found.values()), tolerance)
        if regions is None:
            break
        finer = scan.refined(regions)
        held = {group: regions.hold(bins) for group, bins in found.items()}
        before = {group: found[group].taken(held[group]) for group in found}
        _require_same(function, before, finer)
        for group, part in finer.items():
            found[group] = found[group].taken(~held[group]).joined(part)
    widest = max(float(bins.slack().sum()) for bins in found.values())
    if widest > tolerance:
        warnings.warn(
            f"{function} knows the observed AUC to within {widest:.2g}, not {tolerance:g}, after "
            f"{scan.n_passes} passes: scores are extremely crowded.",
            PurecoverWarning,
            stacklevel=3,
        )
    return _columns(scan, found, labels, one_sided=one_sided)


def _require_same(function: str, one: dict[Group, Bins], other: dict[Group, Bins]) -> None:
    """Refuse a frame that is not the same twice, such as one with random numbers in it."""
    for group in {*one, *other}:
        rows = [int(found[group].rows.sum()) if group in found else 0 for found in (one, other)]
        if rows[0] != rows[1]:
            raise bad_value(
                function,
                "frame",
                "the same each time it is evaluated",
                f"{rows[0]:,} and then {rows[1]:,} rows",
                "store or cache it first: random numbers and samples are drawn anew each time",
            )


def _columns(
    scan: Scan, found: dict[Group, Bins], labels: dict[str, object], *, one_sided: bool
) -> dict[Group, Columns]:
    """Columns of `ScoreCounts`, in decreasing order of score."""
    out: dict[Group, Columns] = {}
    for group, bins in found.items():
        for side in () if one_sided else ("labeled", "unlabeled"):
            if not getattr(bins, side).sum() > 0:
                where = "" if group is None else f" in group {show(group)}"
                raise bad_value(
                    scan.function,
                    "labeled",
                    "both labeled and unlabeled somewhere",
                    f"no {side} row among {int(bins.rows.sum()):,}{where}",
                )
        columns: Columns = {
            "thresholds": bins.low[::-1].copy(),
            "labeled": _tally(bins.labeled),
            "unlabeled": _tally(bins.unlabeled),
        }
        if labels["negative_label"] is not None:
            columns["negative"] = _tally(bins.negative)
        if scan.weighted:
            columns["labeled_sq"] = _tally(bins.labeled_sq)
            columns["unlabeled_sq"] = _tally(bins.unlabeled_sq)
        if not bins.tied.all():
            columns["highest"] = bins.high[::-1].copy()
        out[group] = columns
    return out


def _tally(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.ascontiguousarray(values[::-1])
