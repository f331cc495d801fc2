"""Which rows train and which are scored, with every fold checked."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from purecover._typing import IntArray, RandomState
from purecover._validation import bad_type, bad_value, show
from purecover.models._seeds import check_seed
from purecover.models._table import Examples

Split: TypeAlias = tuple[IntArray, IntArray]

MUST = "a number of folds, a splitter of scikit-learn or a list of (train, test) rows"


def make_splits(
    function: str, examples: Examples, cv: Any, random_state: RandomState
) -> tuple[list[Split], int]:
    """Checked folds, and how often they score each row."""
    seed = check_seed(function, random_state)
    if isinstance(cv, (int, np.integer)):
        # The seed itself, so that a splitter made by hand gives the same folds.
        if isinstance(seed, np.random.Generator):
            seed = int(seed.integers(2**31))
        cv = _default_splitter(function, examples, int(cv), seed)
    target = examples.positive.astype(np.int64)
    rows = cv
    if hasattr(cv, "split"):
        try:
            rows = list(cv.split(examples.X, target, examples.groups))
        except (TypeError, ValueError) as error:
            got = f"{show(cv)}, which cannot split these rows ({error})"
            raise bad_value(function, "cv", MUST, got) from error
    splits = [_checked_split(function, pair, examples) for pair in rows]
    times = np.zeros(examples.n_rows, dtype=np.int64)
    for _, test in splits:
        times[test] += 1
    low, high = int(times.min()), int(times.max())
    if not splits or low != high:
        raise bad_value(
            function,
            "cv",
            "a way to score every row equally often",
            f"{show(cv)}, which scores some rows {low} and others {high} times",
            "use StratifiedKFold or RepeatedStratifiedKFold rather than random or growing parts",
        )
    for split in splits:
        _require_both_sides(function, split, examples)
    return splits, low


def _default_splitter(function: str, examples: Examples, n_folds: int, seed: int) -> Any:
    # Here, because loading it draws from the random numbers of the standard library.
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    sides = {"labeled": examples.positive, "unlabeled": examples.unlabeled}
    for side, rows in sides.items():
        codes = examples.group_codes
        n = int(rows.sum()) if codes is None else np.unique(codes[rows]).size
        if n < n_folds:
            what = f"{side} rows" if codes is None else f"groups with {side} rows"
            hint = "each fold needs some of its own"
            if n < 2:
                parameter = "labeled" if codes is None else "groups"
                must = f"a column with at least two {what}"
                raise bad_value(function, parameter, must, str(n), hint)
            must = f"at most the number of {what}, {n}"
            raise bad_value(function, "cv", must, str(n_folds), hint)
    kind = StratifiedKFold if examples.groups is None else StratifiedGroupKFold
    return kind(n_folds, shuffle=True, random_state=seed)


def _checked_split(function: str, pair: Any, examples: Examples) -> Split:
    try:
        train, test = (_row_numbers(part, examples.n_rows) for part in pair)
    except (TypeError, ValueError, IndexError) as error:
        raise bad_type(function, "cv", MUST, pair) from error
    if np.unique(test).size != test.size or np.isin(test, train).any():
        got = "a fold with rows that are scored twice or by a model that saw them"
        raise bad_value(function, "cv", "folds of rows that the model has not seen", got)
    codes = examples.group_codes
    if codes is not None and np.isin(codes[test], codes[train]).any():
        raise bad_value(
            function,
            "cv",
            "a splitter that keeps groups together",
            "a fold with a group on both sides",
            "use StratifiedGroupKFold, or give the number of folds",
        )
    return train, test


def _require_both_sides(function: str, split: Split, examples: Examples) -> None:
    for rows, part in zip(split, ("train on", "score"), strict=True):
        for side, member in (("labeled", examples.positive), ("unlabeled", examples.unlabeled)):
            if not member[rows].any():
                raise bad_value(
                    function,
                    "cv",
                    "folds with labeled and unlabeled rows on both sides",
                    f"a fold with no {side} row to {part}",
                    "use fewer folds, or a stratified splitter",
                )


def _row_numbers(part: Any, n_rows: int) -> IntArray:
    rows = np.asarray(part)
    if rows.dtype == np.bool_ and rows.shape == (n_rows,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise TypeError("row numbers")
    if rows.size and not (rows.min() >= 0 and rows.max() < n_rows):
        raise IndexError("row numbers")
    return rows.astype(np.int64)
