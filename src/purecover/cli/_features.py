"""Columns of a file as features: numbers as they are, texts of few values encoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._typing import BoolArray, FloatArray
from purecover._validation import show
from purecover.cli._columns import Words, is_missing, list_columns
from purecover.cli._feature_cells import NEARLY_ALL, NumberCells, read_numbers
from purecover.cli._feature_leaks import find_leaks
from purecover.cli._feature_names import Choice, join_names
from purecover.cli._messages import CommandError, note

__all__ = ["Features", "make_features", "make_model", "standardized"]

MOST_VALUES = 30
"""A text column of more values than this is no feature."""

_LEAST_ROWS = 20
_OWN_SCORES = ("auto", "networks")


@dataclass(frozen=True)
class Features:
    """A matrix, and what became of each column of the file.

    Attributes
    ----------
    matrix : ndarray of shape (n_rows, n_columns)
        Numbers, or codes of texts; NaN where a cell is blank. Numeric columns come first.
    numeric : tuple of str
        Columns of numbers.
    encoded : dict of str to int
        Columns of texts, with the number of values.
    dropped : dict of str to str
        Columns that are no features, and why.
    blanks : dict of str to int
        Columns with blank cells, and how many.
    suspects : tuple of str
        Columns in use that may be identifiers.
    choice : Choice
        How the columns were chosen.
    marks : dict of str to dict of str to int
        Columns of numbers where a sign such as a question mark was read as a blank cell, and
        how often.
    nearly_numeric : dict of str to str
        Columns taken for texts though nearly all cells are numbers, and what the others hold.
    leaks : dict of str to float
        Columns that alone tell labeled from unlabeled rows, and their AUC.
    """

    matrix: FloatArray
    numeric: tuple[str, ...]
    encoded: dict[str, int]
    dropped: dict[str, str]
    blanks: dict[str, int]
    suspects: tuple[str, ...]
    choice: Choice
    marks: dict[str, dict[str, int]]
    nearly_numeric: dict[str, str]
    leaks: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "numeric": list(self.numeric),
            "encoded": self.encoded,
            "dropped": self.dropped,
            "blank_cells": self.blanks,
            "missing_marks": self.marks,
            "set_aside": self.choice.set_aside,
            "possible_identifiers": list(self.suspects),
            "possible_leaks": self.leaks,
        }

    def say(self, *, quiet: bool, marked: bool = True) -> None:
        """Tell which columns are features, and what was done to them.

        Filled cells are ``marked`` where a column says which they are.
        """
        parts = []
        if self.numeric:
            parts.append(f"numbers {list_columns(self.numeric)}")
        if self.encoded:
            parts.append(f"texts {list_columns(list(self.encoded))}, a column for each value")
        note(f"features: {'; '.join(parts)}", quiet=quiet)
        if self.dropped:
            reasons = [f"{show(name)} ({why})" for name, why in self.dropped.items()]
            note(f"not used: {', '.join(reasons)}", quiet=quiet)
        if self.blanks:
            cells = ", ".join(f"{show(name)} ({n:,})" for name, n in self.blanks.items())
            done = []
            if any(name in self.blanks for name in self.numeric):
                done.append("numbers get the median" + (", and a column says where" * marked))
            if any(name in self.blanks for name in self.encoded):
                done.append("of texts, blank is a value of its own")
            note(f"blank cells: {cells}; {'; '.join(done)}", quiet=quiet)
        for name, signs in self.marks.items():
            counts = ", ".join(f"{show(sign)} ({n:,})" for sign, n in signs.items())
            note(f"column {show(name)} holds numbers, and {counts} read as blank", quiet=quiet)
        for name, examples in self.nearly_numeric.items():
            note(
                f"column {show(name)} is taken for texts, though nearly all cells are numbers, "
                f"because of {examples} of the data",
                quiet=quiet,
            )
        for line in self._warnings():
            note(f"warning: {line}", quiet=quiet)

    def _warnings(self) -> list[str]:
        lines = []
        for name, what in self.choice.set_aside.items():
            truth = f" (--truth {join_names([name])} compares with them)"
            lines.append(
                f"column {show(name)} is not used, since its name says that it holds {what}"
                f"{truth * (what == 'true classes')}; if it is a feature, name all features with "
                "--features"
            )
        if self.suspects:
            many = len(self.suspects) > 1
            lines.append(
                f"column{'s' * many} {list_columns(self.suspects)} hold{'s' * (not many)} a "
                "different whole number in every row; if "
                f"{'they are identifiers' if many else 'it is an identifier'}, "
                f"{self.choice.how_to_leave_out(self.suspects)}"
            )
        for name, auc in self.leaks.items():
            lines.append(
                f"column {show(name)} alone tells labeled from unlabeled rows (AUC {auc:.4g}): the "
                "label may have found its way into it, and the figures then mean nothing; if so, "
                f"{self.choice.how_to_leave_out([name])}"
            )
        return lines


def make_features(
    source: str,
    columns: Mapping[str, Words],
    decimal: str,
    choice: Choice,
    labeled: BoolArray,
    negative: BoolArray | None,
) -> Features:
    """Settle what each column is; labels only tell which column says too much."""
    numbers: dict[str, FloatArray] = {}
    texts: dict[str, FloatArray] = {}
    encoded: dict[str, int] = {}
    dropped = {name: f"{what}, by its name" for name, what in choice.set_aside.items()}
    marks: dict[str, dict[str, int]] = {}
    nearly: dict[str, str] = {}
    for name, words in columns.items():
        said = [value for value in words.values if not is_missing(value)]
        blank = len(said) < len(words.values)
        avoid = choice.how_to_leave_out([name])
        if not said:
            dropped[name] = "blank everywhere"
            continue
        if len(said) == 1 and not blank:
            dropped[name] = "one value only"
            continue
        cells = read_numbers(source, name, words, decimal, avoid)
        if cells.numeric:
            if _counts_rows(cells.values):
                dropped[name] = "row numbers"
            else:
                numbers[name] = cells.values
                marks |= {name: cells.marks} if cells.marks else {}
            continue
        nearly_numeric = cells.share >= NEARLY_ALL
        different = len(said) == words.codes.size
        if different or len(said) > MOST_VALUES:
            if nearly_numeric:
                raise _not_quite_numbers(source, name, cells, avoid)
            dropped[name] = _text_of(said, cells, different=different)
        else:
            texts[name] = _codes(words)
            encoded[name] = len(said)
            if nearly_numeric:
                nearly[name] = cells.examples
    if not numbers and not texts:
        raise _no_features(source, dropped, choice)
    matrix = np.column_stack([*numbers.values(), *texts.values()])
    names = (*numbers, *texts)
    missing = np.isnan(matrix).sum(axis=0).tolist()
    return Features(
        matrix=matrix,
        numeric=tuple(numbers),
        encoded=encoded,
        dropped=dropped,
        blanks={n: m for n, m in zip(names, missing, strict=True) if m},
        suspects=tuple(name for name, values in numbers.items() if _may_identify(values)),
        choice=choice,
        marks=marks,
        nearly_numeric=nearly,
        leaks=find_leaks(matrix, names, labeled, negative),
    )


def _not_quite_numbers(source: str, name: str, cells: NumberCells, avoid: str) -> CommandError:
    n_cells = cells.n_numbers + cells.n_texts
    them = "that cell" if cells.n_texts == 1 else "those cells"
    return CommandError(
        f"{source} has numbers in column {show(name)}, but not in {cells.n_texts:,} of "
        f"{n_cells:,} cells ({cells.examples} of the data).\n"
        f"Hint: correct or blank {them}, or {avoid}."
    )


def _no_features(source: str, dropped: Mapping[str, str], choice: Choice) -> CommandError:
    reasons = ", ".join(f"{show(name)} ({why})" for name, why in dropped.items())
    hint = ""
    if choice.set_aside:
        named = join_names(list(choice.set_aside)[:1])
        hint = f"\nHint: if that is a feature all the same, use --features {named}"
    return CommandError(
        f"{source} has no column to be used as a feature"
        + (f": {reasons}." if reasons else " beside the labels.")
        + hint
    )


def _text_of(said: Sequence[Any], cells: NumberCells, *, different: bool) -> str:
    if not cells.n_numbers:
        if different:
            return "a different text in every row"
        return f"text of {len(said):,} values such as {show(str(said[0]))}"
    n_cells = cells.n_numbers + cells.n_texts
    return (
        f"text of {len(said):,} values such as {cells.examples}; {cells.n_numbers:,} of "
        f"{n_cells:,} cells are numbers"
    )


def _codes(words: Words) -> FloatArray:
    code = np.array([np.nan if is_missing(v) else i for i, v in enumerate(words.values)])
    return code[words.codes]


def _counts_rows(values: FloatArray) -> bool:
    return values.size >= _LEAST_ROWS and bool(np.all(np.diff(values) == 1))


def _may_identify(values: FloatArray) -> bool:
    whole = bool(np.all(values == np.round(values)))  # not with a NaN
    return whole and values.size >= _LEAST_ROWS and np.unique(values).size == values.size


# -- models ---------------------------------------------------------------------------------------


def make_model(
    name: str, features: Features, *, seed: int, folds: int, jobs: int | None
) -> tuple[Any, Any]:
    """A model, and the rows it takes.

    Texts and blanks are dealt with inside the model, so that a fold knows nothing of the rows it
    scores. A model that holds rows back itself gets them ready-made: no label was looked at.
    """
    from sklearn.pipeline import make_pipeline

    before = _preparation(features, scale=name == "logistic")
    model: Any = _model(name, seed, folds, jobs)
    if before is None:
        return model, features.matrix
    if name in _OWN_SCORES:
        return model, before.fit_transform(features.matrix)
    return make_pipeline(before, model), features.matrix


def standardized(features: Features) -> FloatArray:
    """Numbers in units of their spread, a column for each text, blanks filled in.

    No column says where the blanks were: one that is nearly constant misleads who looks at
    distances or densities.
    """
    matrix = _preparation(features, scale=True, marked=False).fit_transform(features.matrix)
    return np.asarray(matrix, dtype=np.float64)


def _model(name: str, seed: int, folds: int, jobs: int | None) -> Any:
    if name == "auto":
        from purecover.models.best_scorer import BestScorer

        return BestScorer(cv=folds, random_state=seed, n_jobs=jobs)
    if name == "networks":
        from purecover.models.networks import BaggedNetworks

        return BaggedNetworks(random_state=seed, n_jobs=jobs)
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(random_state=seed)
    if name == "forest":
        from sklearn.ensemble import RandomForestClassifier

        # Leaves of several rows: pure ones would put most scores at 0.
        return RandomForestClassifier(300, min_samples_leaf=5, random_state=seed)
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _preparation(features: Features, *, scale: bool, marked: bool = True) -> Any:
    """What stands before the model; None if nothing has to."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    n_numeric, n_all = len(features.numeric), features.matrix.shape[1]
    if not (scale or features.encoded or features.blanks):
        return None
    steps: list[Any] = []
    if any(name in features.blanks for name in features.numeric):
        steps.append(
            SimpleImputer(strategy="median", add_indicator=marked, keep_empty_features=True)
        )
    if scale:
        steps.append(StandardScaler())
    numbers = make_pipeline(*steps) if steps else "passthrough"
    texts = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [
        ("numbers", numbers, list(range(n_numeric))),
        ("texts", texts, list(range(n_numeric, n_all))),
    ]
    return ColumnTransformer([part for part in parts if part[2]])
