"""Tables: any engine, whatever the types of its columns, and complaints that help."""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType

import narwhals
import narwhals.stable.v2 as nw2
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.strategies import Unfriendly

import purecover as pu
from purecover import ScoreCounts
from purecover.exceptions import InvalidInputError, InvalidTypeError, MissingDependencyError

DATA = {"s": [0.5, 2.0, 1.0, 2.0], "y": [1, 1, 0, 0], "w": [1.0, 2.0, 0.5, 1.0]}
WORDS = ["pos", "pos", "u", "u"]
CLEAN = ScoreCounts.from_scores(DATA["s"], DATA["y"])
WEIGHTED = ScoreCounts.from_scores(DATA["s"], DATA["y"], sample_weight=DATA["w"])

FRAMES = {
    "dict": DATA,
    "dict of arrays": {k: np.array(v) for k, v in DATA.items()},
    "mapping": MappingProxyType(DATA),
    "dict of columns of any kind": {
        "s": pl.Series(DATA["s"]),
        "y": pd.Series(WORDS, dtype="category"),
        "w": pa.array(DATA["w"]),
    },
    "pandas": pd.DataFrame(DATA),
    "pandas with another index": pd.DataFrame(DATA, index=[3, 1, 1, 0]),
    "pandas Arrow": pd.DataFrame(DATA).convert_dtypes(dtype_backend="pyarrow"),
    "pandas words": pd.DataFrame({**DATA, "y": pd.Series(WORDS)}),
    "pandas categories": pd.DataFrame({**DATA, "y": pd.Categorical(WORDS)}),
    "polars": pl.DataFrame(DATA),
    "polars words": pl.DataFrame({**DATA, "y": WORDS}),
    "polars categories": pl.DataFrame({**DATA, "y": pl.Series(WORDS, dtype=pl.Categorical)}),
    "polars enum": pl.DataFrame({**DATA, "y": pl.Series(WORDS, dtype=pl.Enum(["u", "pos"]))}),
    "polars decimals": pl.DataFrame(
        {**DATA, "s": [Decimal(str(v)) for v in DATA["s"]], "y": [Decimal(v) for v in DATA["y"]]}
    ),
    "polars chunks": pl.concat([pl.DataFrame(DATA)[:2], pl.DataFrame(DATA)[2:]], rechunk=False),
    "pyarrow": pa.table(DATA),
    "pyarrow dictionary": pa.table({**DATA, "y": pa.array(WORDS).dictionary_encode()}),
    "narwhals": narwhals.from_native(pl.DataFrame(DATA)),
    "narwhals v2": nw2.from_native(pa.table(DATA)),
}


@pytest.mark.parametrize("name", FRAMES)
def test_every_table_gives_the_same_counts(name):
    frame = FRAMES[name]
    assert ScoreCounts.from_frame(frame, score="s", labeled="y") == CLEAN
    counted = ScoreCounts.from_frame(frame, score="s", labeled="y", sample_weight="w")
    assert counted == WEIGHTED


@pytest.mark.parametrize("name", ["dict", "polars"])
@pytest.mark.parametrize(
    "column", ["S", None, 3, ["s"], ("s",), b"s", np.array(["s", "y"]), Unfriendly()]
)
def test_a_wrong_name_lists_the_columns(name, column):
    hint = r"\nHint: the columns are 's', 'y', 'w'$"
    with pytest.raises(
        InvalidInputError, match=f"^The 'score' parameter of ScoreCounts.from_frame .*{hint}"
    ):
        ScoreCounts.from_frame(FRAMES[name], score=column, labeled="y")
    with pytest.raises(InvalidInputError, match=f"^The 'labeled' parameter .*{hint}"):
        ScoreCounts.from_frame(FRAMES[name], score="s", labeled=column)
    if column is not None:
        with pytest.raises(InvalidInputError, match=f"^The 'sample_weight' parameter .*{hint}"):
            ScoreCounts.from_frame(FRAMES[name], score="s", labeled="y", sample_weight=column)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[3.0, 1, 1], [2.0, 0, 0]], columns=["s", "y", "y"]),
        pa.table([[3.0, 2.0], [1, 0], [1, 0]], names=["s", "y", "y"]),
        pd.DataFrame([[3.0, 1, 1, 1], [2.0, 0, 0, 0]], columns=["s", "y", "y", 3]),
    ],
)
def test_repeated_columns_are_refused(frame):
    with pytest.raises(
        InvalidInputError, match=r"'frame' parameter of .*column names differ, got 'y' 2 times"
    ):
        ScoreCounts.from_frame(frame, score="s", labeled="y")


BAD_COLUMNS = {
    "missing in pandas": (pd.DataFrame({"s": [1, None], "y": [1, 0]}), "score", "1 missing of 2"),
    "missing in a nullable column": (
        pd.DataFrame({"s": pd.array([1, None], dtype="Int64"), "y": [1, 0]}),
        "score",
        "missing of 2 in column 's'",
    ),
    "null in polars": (pl.DataFrame({"s": [1, 2], "y": [1, None]}), "labeled", "1 missing of 2"),
    "null in a dict": ({"s": [1, None], "y": [1, 0]}, "score", "None at row 1"),
    "nan in polars": (pl.DataFrame({"s": [1.0, np.nan], "y": [1, 0]}), "score", "first at row 1"),
    "nothing but nulls": (pl.DataFrame({"s": [None, None], "y": [1, 0]}), "score", "2 missing"),
    "integers of 128 bits": (
        pl.DataFrame({"s": pl.Series([1, 2], dtype=pl.Int128), "y": [1, 0]}),
        "score",
        "(?s)NumPy can hold.*Int128.*Hint: cast",
    ),
}


if pl.__version__.startswith("1."):
    del BAD_COLUMNS["integers of 128 bits"]  # that polars ends the interpreter's patience itself


@pytest.mark.parametrize("name", BAD_COLUMNS)
def test_bad_columns_are_named(name):
    frame, parameter, match = BAD_COLUMNS[name]
    flags, match = ("(?s)", match.removeprefix("(?s)")) if match.startswith("(?s)") else ("", match)
    with pytest.raises(
        (InvalidInputError, InvalidTypeError),
        match=f"{flags}^The '{parameter}' parameter of ScoreCounts.from_frame must be .*{match}",
    ):
        ScoreCounts.from_frame(frame, score="s", labeled="y")


@pytest.mark.parametrize(
    ("backend", "kind"),
    [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table),
     (pd, pd.DataFrame), (pl, pl.DataFrame)],
)  # fmt: skip
def test_frame_in_every_engine_can_be_read_back(backend, kind):
    counted = ScoreCounts.from_scores([3, 2, 2, 1], [1, 0, 1, -1], negative_label=-1)
    frame = counted.frame(backend)
    assert isinstance(frame, kind)
    columns = nw2.from_native(frame)
    assert columns.columns == ["threshold", "labeled", "unlabeled", "negative"]
    again = ScoreCounts.from_counts(
        columns["threshold"], columns["labeled"], columns["unlabeled"], negative=columns["negative"]
    )
    assert again == counted
    roc = pu.recovery.pu_roc_curve(counted).frame(backend)
    assert isinstance(roc, kind)


def test_an_absent_backend_says_what_to_install():
    with pytest.raises(MissingDependencyError, match=r"(?s)'cudf'.*Hint: pip install cudf"):
        CLEAN.frame("cudf")
    with pytest.raises(ImportError):
        CLEAN.frame("cudf")
