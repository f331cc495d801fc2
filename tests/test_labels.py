"""The label column, in any spelling: who is labeled, who is not, who is known to be negative."""

from __future__ import annotations

import enum
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import Unfriendly, objects

from purecover import ScoreCounts, evaluate
from purecover._inputs import encode_labels
from purecover.exceptions import InvalidInputError, InvalidTypeError


class Kind(enum.Enum):
    LABELED = "labeled"
    UNLABELED = "unlabeled"


def read(values, **labels):
    positive, negative = encode_labels(values, 4, **labels)
    assert positive.dtype == np.bool_
    return positive.tolist(), None if negative is None else negative.tolist()


SPELLINGS = {
    "booleans": [True, False, True, False],
    "numbers": [1, 0, 1, 0],
    "signs": [1, -1, 1, -1],
    "floats": [1.0, 0.0, 1.0, -0.0],
    "mixed numbers": objects(1, 0.0, np.float32(1), np.False_),
    "fractions": objects(Fraction(1), Fraction(0), Fraction(1), Fraction(0)),
    "decimals": [Decimal("1.00"), Decimal("0.00"), Decimal(1), Decimal(0)],
    "words": ["positive", "unlabeled", "positive", "unlabeled"],
    "case and space": [" Yes", "NO", "yes", "no "],
    "digits": ["1", "0", "1", "0"],
    "letters": list("PUPU"),
    "bytes": np.array([b"pos", b"u", b"pos", b"u"]),
    "byte objects": objects(b"pos", b"u", b"pos", b"u"),
    "pandas": pd.Series(["pos", "u", "pos", "u"]),
    "pandas categories": pd.Series(["pos", "u", "pos", "u"], dtype="category"),
    "pandas nullable booleans": pd.Series([True, False, True, False], dtype="boolean"),
    "pandas Arrow text": pd.Series(["pos", "u", "pos", "u"], dtype="string[pyarrow]"),
    "polars": pl.Series(["pos", "u", "pos", "u"]),
    "polars categories": pl.Series(["pos", "u", "pos", "u"], dtype=pl.Categorical),
    "polars enum": pl.Series(["pos", "u", "pos", "u"], dtype=pl.Enum(["u", "pos"])),
    "Arrow": pa.array([1, 0, 1, 0]),
    "Arrow dictionary": pa.array(["pos", "u", "pos", "u"]).dictionary_encode(),
    "Arrow chunks": pa.chunked_array([["pos"], ["u", "pos", "u"]]),
    "one column": np.array([[1], [0], [1], [0]]),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_spellings(name):
    assert read(SPELLINGS[name]) == ([True, False, True, False], None)


REFUSED = {
    "three values": ([1, 0, -1, 0], InvalidInputError, "Hint: if -1 marks known negatives"),
    "classes": ([1, 2, 1, 2], InvalidInputError, "Hint: .*positive_label="),
    "shares": ([0.5, 1, 0, 0], InvalidInputError, "the values 0.5, 1.0, 0.0"),
    "signaling": (objects(Decimal("sNaN"), 1, 0, 0), InvalidInputError, "two-valued"),
    "words": (["cat", "dog", "cat", "dog"], InvalidInputError, "values 'cat', 'dog'.*positive_la"),
    "three words": (["yes", "no", "unknown", "no"], InvalidInputError, "negative_label="),
    "broken bytes": (np.array([b"\xff", b"u", b"u", b"u"]), InvalidInputError, "two-valued"),
    "surrogates": (["\ud800", "u", "u", "u"], InvalidInputError, "two-valued"),
    "nan": ([1, np.nan, 0, np.nan], InvalidInputError, "2 missing of 4 .first at row 1.*fill it"),
    "none": ([True, False, None, True], InvalidInputError, "1 missing of 4 .first at row 2"),
    "nullable": (pd.Series([1, None, 0, 0], dtype="Int8"), InvalidInputError, "1 missing"),
    "Arrow null": (pa.array(["pos", None, "u", "u"]), InvalidInputError, "1 missing"),
    "masked": (np.ma.array([1, 0, 1, 0], mask=[1, 0, 0, 0]), InvalidInputError, "1 masked of 4"),
    "all labeled": ([1, 1, 1, 1], InvalidInputError, "no unlabeled row among 4"),
    "none labeled": ([0, 0, 0, 0], InvalidInputError, "no labeled row among 4.*Hint: check"),
    "dates": (np.array(["2020-01-01"] * 4, "M8[D]"), InvalidTypeError, "two-valued"),
    "records": (np.zeros(4, dtype=[("a", int)]), InvalidTypeError, "two-valued"),
    "lists": (objects([1], [0], [0], [0]), InvalidInputError, "two-valued"),
    "unfriendly": (objects(Unfriendly(), 1, 0, 0), InvalidInputError, "type Unfriendly"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    values, error, match = REFUSED[name]
    with pytest.raises(error, match=f"(?s)^The 'labeled' parameter of purecover must be .*{match}"):
        read(values)


@pytest.mark.parametrize(
    ("values", "label"),
    [
        ([2, 1, 2, 1], 2),
        ([2, 1, 2, 1], "2"),
        ([2, 1, 2, 1], 2.0),
        ([2, 1, 2, 1], Decimal(2)),
        (np.array([2, 1, 2, 1], dtype=np.uint8), np.int64(2)),
        (["2", "1", "2", "1"], 2),
        (["cat", "dog", "cat", "dog"], "cat"),
        (np.array([b"cat", b"dog", b"cat", b"dog"]), "cat"),
        (np.array([b"cat", b"dog", b"cat", b"dog"]), b"cat"),
        (objects(Kind.LABELED, Kind.UNLABELED, Kind.LABELED, Kind.UNLABELED), Kind.LABELED),
        (pd.Series(["cat", "dog", "cat", "dog"], dtype="category"), "cat"),
        (pl.Series(["cat", "dog", "cat", "dog"], dtype=pl.Categorical), "cat"),
        ([0, 1, 0, 1], 0),  # what is named counts, even against the usual reading
        ([False, True, False, True], False),
    ],
)
def test_positive_label(values, label):
    assert read(values, positive_label=label) == ([True, False, True, False], None)


@pytest.mark.parametrize(
    ("values", "labels", "negative"),
    [
        ([1, 0, -1, 0], {"negative_label": -1}, -1),
        ([1, 0, -1, -1], {"negative_label": -1}, -1),
        (["yes", "unknown", "no", "unknown"], {"negative_label": "no"}, "no"),
        (["P", "U", "N", "U"], {"negative_label": "N"}, "N"),
        ([3, 2, 1, 2], {"positive_label": 3, "negative_label": 1}, 1),
        (objects("a", None, "c", "b")[[0, 3, 2, 3]], {"positive_label": "a", "negative_label": "c"},
         "c"),
    ],
)  # fmt: skip
def test_negative_label(values, labels, negative):
    positive, known = read(values, **labels)
    assert positive == [True, False, False, False]
    assert known == [v == negative for v in values]


@pytest.mark.parametrize(
    ("values", "labels", "parameter", "match"),
    [
        ([1, 0, 1, 0], {"positive_label": 7}, "positive_label", "the column holds the values 1, 0"),
        ([1, 0, 1, 0], {"negative_label": -1}, "negative_label", "the column holds"),
        ([1, 0, 1, 0], {"positive_label": "cat"}, "positive_label", "got 'cat'"),
        ([1, 0, 1, 0], {"positive_label": 10**400}, "positive_label", "a value of"),
        ([1, 0, 1, 0], {"positive_label": np.array([1, 2])}, "positive_label", "a value of"),
        ([1, 0, 1, 0], {"positive_label": Unfriendly()}, "positive_label", "type Unfriendly"),
        (["a", "b", "a", "b"], {"negative_label": Unfriendly()}, "negative_label", "a value of"),
        ([1, 0, -1, 0], {"positive_label": 1, "negative_label": 1}, "negative_label", "another"),
        ([1, 0, -1, 0], {"positive_label": 1}, "labeled", "two-valued apart.*negative_label="),
        (["a", "b", "c", "b"], {"positive_label": "a"}, "labeled", "two-valued apart"),
        ([1, 0, 1, 0], {"negative_label": 0}, "labeled", "no unlabeled row"),
        (np.zeros(4, "M8[D]"), {"negative_label": 0}, "negative_label", "a value of"),
    ],
)
def test_labels_that_are_refused(values, labels, parameter, match):
    with pytest.raises(
        InvalidInputError, match=f"(?s)^The '{parameter}' parameter of purecover .*{match}"
    ):
        read(values, **labels)


@given(st.lists(st.sampled_from([1, 0, -1]), min_size=2, max_size=20))
def test_numbers_words_and_objects_agree(codes):
    """One column, written in several ways, is read or refused alike."""

    def outcome(values):
        try:
            positive, negative = encode_labels(values, len(codes), negative_label=-1)
        except InvalidInputError as error:
            return str(error).partition(", got")[0]
        return positive.tolist(), negative.tolist()

    expected = outcome(codes)
    assert outcome(np.array(codes, dtype=np.float32)) == expected
    assert outcome(objects(*codes)) == expected
    assert outcome([str(c) for c in codes]) == expected
    assert outcome(pd.Series(codes, dtype="category")) == expected
    assert outcome(pl.Series([str(c) for c in codes], dtype=pl.Categorical)) == expected


def test_a_column_of_classes_may_say_negative():
    words = ["positive", "negative", "positive", "negative"]
    with pytest.raises(InvalidInputError, match=r"'labeled' parameter of purecover .*'negative'"):
        read(words)
    assert read(words, parameter="truth")[0] == [True, False, True, False]
    with pytest.raises(InvalidInputError, match="'truth' parameter of purecover"):
        read(["cat", "dog", "cat", "dog"], parameter="truth")
    with pytest.raises(InvalidInputError, match=r"'truth' parameter of purecover .*as long as"):
        read([1, 0], parameter="truth")


ZEROS_AND_ONES = [0, 1, 1, 0, 1, 0, 0, 1]


@pytest.mark.parametrize("box", [list, np.array, pd.Series])
@pytest.mark.parametrize("call", [evaluate, ScoreCounts.from_scores])
def test_two_columns_of_zeros_and_ones_must_be_named(box, call) -> None:
    scores, labeled = box(ZEROS_AND_ONES), box(ZEROS_AND_ONES[::-1])
    options = {"alpha": 0.2, "n_resamples": 0} if call is evaluate else {}
    with pytest.raises(InvalidInputError, match=r"(?s)'scores'.*labeled=") as caught:
        call(scores, labeled, **options)
    assert caught.value.parameter == "scores"
    call(scores=scores, labeled=labeled, **options)
    call(scores, labeled=labeled, **options)
    # Truth values are labels, and other figures are scores.
    call(scores, np.array(labeled, dtype=bool), **options)
    call(box([0.5, *ZEROS_AND_ONES[1:]]), labeled, **options)
