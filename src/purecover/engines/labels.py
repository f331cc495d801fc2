"""The label column of a lazy frame: a small number per row, read when all have been counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from purecover._labels import encode_labels
from purecover._typing import BoolArray
from purecover._validation import bad_type, bad_value
from purecover.exceptions import InvalidInputError

MISSING = "\ue000missing"
"""Stands for a missing word: no engine drops it from its groups."""
_MOST_WORDS = 20
_MUST = "a column of booleans, numbers or words"


class LabelCodes:
    """How the values of one label column are told apart inside an engine.

    Numbers become codes 0 to 7, which fit into the key of a bin. Words and truth values, of which
    there are few, make a column of their own to group by.

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
        self.is_text = isinstance(dtype, (nw.String, nw.Categorical, nw.Enum, nw.Object))
        self.is_boolean = isinstance(dtype, nw.Boolean)
        self.has_column = self.is_text or self.is_boolean
        self.values: list[Any] = [True, False]
        self._meaning: dict[Any, tuple[bool, bool]] = {}
        if dtype.is_numeric():
            self.values = [0, 1, -1]
            for label in labels.values():
                number = _number(label)
                if number is not None and number not in self.values:
                    self.values.append(number)
        elif not (self.is_text or self.is_boolean):
            raise bad_type("labeled", _MUST, dtype, "cast the column first")

    # -- in the engine --------------------------------------------------------------------

    def missing(self) -> Any:
        """An expression: whether a row has no label."""
        import narwhals.stable.v2 as nw

        label = nw.col(self.column)
        return label.is_null() | label.is_nan() if self.is_float else label.is_null()

    def expression(self) -> Any:
        """An expression: a word, a truth value, or a code of each row.

        The largest code is for none and for what nobody expects.
        """
        import narwhals.stable.v2 as nw

        label = nw.col(self.column)
        if self.is_boolean:
            return label
        if self.is_text:
            return nw.when(label.is_null()).then(nw.lit(MISSING)).otherwise(label.cast(nw.String))
        out = nw.lit(len(self.values), nw.Int64)
        for i, value in reversed(list(enumerate(self.values))):
            out = nw.when(label == value).then(nw.lit(i, nw.Int64)).otherwise(out)
        return out

    def refuse_many_words(self, frame: Any) -> None:
        """Refuse names or identifiers after a look at the first rows: a group each is too much."""
        import narwhals.stable.v2 as nw

        if not self.is_text:
            return
        first = frame.select(pu_label=nw.col(self.column)).head(1000).collect()
        seen = first["pu_label"].to_numpy()
        if len(set(seen.tolist())) > _MOST_WORDS:
            shown = ", ".join(repr(word) for word in list(dict.fromkeys(seen.tolist()))[:3])
            raise bad_value(
                "labeled",
                "a column of two or three words",
                f"more than {_MOST_WORDS} of them in column {self.column!r} ({shown}, ...)",
                "name the column that says which rows are labeled",
            )

    # -- afterwards -----------------------------------------------------------------------

    def _keys(self, found: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Words, or codes, of a query's result: those of True, of False, of neither are 0 to 2."""
        if self.is_text:
            return found.astype(str)
        if self.is_boolean:
            return np.where(found == True, 0, np.where(found == False, 1, 2))  # noqa: E712
        return found

    def surprising(self, found: np.ndarray[Any, Any]) -> bool:
        """Whether a label is missing, or may be."""
        keys = self._keys(found)
        return bool(np.any(keys == (MISSING if self.is_text else len(self.values))))

    def read(
        self, frame: Any, found: np.ndarray[Any, Any], rows: Any
    ) -> tuple[BoolArray, BoolArray | None]:
        """Masks of the labeled and of the known negatives among the rows of a query's result.

        ``rows`` counts what each row stands for. Values that had no code of their own are asked
        for now; that they are one value, or refused, is the same rule as for all columns. What
        values mean is settled by the first query, of all rows: a later one may be of rows among
        which a value, such as that of known negatives, does not occur.
        """
        keys, where = np.unique(self._keys(found), return_inverse=True)
        if not self._meaning:
            positive, negative = self._meanings(frame, keys, int(rows.sum()))
            other = np.zeros_like(positive) if negative is None else negative
            pairs = zip(positive.tolist(), other.tolist(), strict=True)
            self._meaning = dict(zip(keys.tolist(), pairs, strict=True))
        if not self._meaning.keys() >= set(keys.tolist()):
            raise bad_value(
                "labeled",
                "the same each time the frame is evaluated",
                f"another value in column {self.column!r} the second time",
                "store or cache the frame first",
            )
        known = np.array([self._meaning[key] for key in keys.tolist()])[where]
        return known[:, 0], None if self.labels["negative_label"] is None else known[:, 1]

    def _meanings(
        self, frame: Any, keys: np.ndarray[Any, Any], n_rows: int
    ) -> tuple[BoolArray, BoolArray | None]:
        """Which of some words or codes mean labeled, and which known negatives."""
        values = keys
        others: list[Any] = []
        if not self.is_text:
            known = [self.values[i] for i in keys.tolist() if i < len(self.values)]
            others = self._others(frame) if keys[-1] == len(self.values) else []
            values = np.array(known + others)
        try:
            found = encode_labels(values, values.size, **self.labels)
        except InvalidInputError as error:
            error.got = str(error.got).replace(
                f"row among {values.size}", f"row among {n_rows:,} rows"
            )
            raise
        if len(others) > 1:  # behind one code: two-valued it is not
            raise bad_value("labeled", "two-valued", f"the values {values.tolist()}")
        return found

    def _others(self, frame: Any) -> list[Any]:
        import narwhals.stable.v2 as nw

        label = nw.col(self.column)
        expected = label == self.values[0]
        for value in self.values[1:]:
            expected |= label == value
        rest = frame.filter(~(self.missing() | expected)).select(pu_label=label)
        found = rest.unique().head(11).collect()["pu_label"].to_numpy()
        return sorted(found.tolist())


def _number(label: object) -> float | None:
    """A label as a number of a numeric column, if it is one."""
    if label is None:
        return None
    try:
        return float(label)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
