"""Hypothesis strategies shared by the tests: good data, and everything a user might send."""

from __future__ import annotations

import datetime as dt
from collections import deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import purecover as pu

LARGE = 1e308

finite_scores = st.one_of(
    st.floats(-3, 3, width=16),  # few distinct values, so that there are ties
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, LARGE, -LARGE, 1.0, np.nextafter(1.0, 2.0)]),
)


@st.composite
def rows(draw, *, min_size=2, max_size=40, scores=finite_scores):
    """Scores and labels of both kinds, one per row."""
    n = draw(st.integers(max(2, min_size), max_size))
    values = np.array(draw(st.lists(scores, min_size=n, max_size=n)), dtype=np.float64)
    labeled = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    order = draw(st.permutations(range(n)))
    labeled[order[0]], labeled[order[1]] = True, False
    return values, labeled


def two_samples(labeled, unlabeled):
    """Scores and labels of two samples given apart."""
    return [*labeled, *unlabeled], [True] * len(labeled) + [False] * len(unlabeled)


def weights(n):
    """Weights of ordinary size, some of them 0; the caller sees to a positive total."""
    return hnp.arrays(np.float64, n, elements=st.one_of(st.just(0.0), st.floats(0.01, 100)))


@st.composite
def weighted_rows(draw, **options):
    """Rows with weights that leave something on both sides."""
    scores, labeled = draw(rows(**options))
    weight = draw(weights(scores.size))
    weight[np.argmax(labeled)] = draw(st.floats(0.01, 100))
    weight[np.argmin(labeled)] = draw(st.floats(0.01, 100))
    return scores, labeled, weight


@st.composite
def proportions(draw, *, least_delta=0.05):
    """Alpha below beta by at least so much."""
    alpha = draw(st.one_of(st.just(0.0), st.floats(0, 1 - least_delta)))
    beta = draw(st.one_of(st.just(1.0), st.floats(min(1.0, alpha + least_delta), 1)))
    scenario = draw(st.sampled_from(["case-control", "censoring"]))
    return pu.MixtureProportions(alpha, beta, scenario=scenario)


@st.composite
def counts(draw, **options):
    """Counts from every door: plain, weighted, with known negatives, aggregated."""
    kind = draw(st.sampled_from(["plain", "weighted", "negative", "aggregated"]))
    if kind == "weighted":
        scores, labeled, weight = draw(weighted_rows(**options))
        return pu.ScoreCounts.from_scores(scores, labeled, sample_weight=weight)
    scores, labeled = draw(rows(**options))
    if kind == "plain":
        return pu.ScoreCounts.from_scores(scores, labeled)
    if kind == "negative":
        extra = draw(st.lists(finite_scores, min_size=1, max_size=5))
        codes = np.concatenate([labeled.astype(int), np.full(len(extra), -1)])
        return pu.ScoreCounts.from_scores(np.concatenate([scores, extra]), codes, negative_label=-1)
    tally = hnp.arrays(np.int64, scores.size, elements=st.integers(0, 10**6))
    return pu.ScoreCounts.from_counts(scores, draw(tally) + labeled, draw(tally) + ~labeled)


class Unfriendly:
    """Answers every question with an exception of a kind nobody expects."""

    __hash__ = None

    def __repr__(self):
        raise RuntimeError("no repr")

    def __str__(self):
        raise RuntimeError("no str")

    def __float__(self):
        raise RuntimeError("no float")

    def __eq__(self, other):
        raise RuntimeError("no eq")

    def __ne__(self, other):
        raise RuntimeError("no ne")


def objects(*values):
    """A one-dimensional object array, whatever the values are."""
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out


nasty_floats = st.sampled_from(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, LARGE, -LARGE, 1e-200, 1e200, 1.0, -1.0, 0.5]
)
nasty_numbers = st.one_of(
    st.floats(),
    nasty_floats,
    st.integers(),
    st.sampled_from([2**53 + 1, 2**63, -(2**63), 2**64, 10**400, -(10**400)]),
    st.booleans(),
    st.complex_numbers(),
    st.fractions(),
    st.decimals(),
    st.sampled_from([Decimal("sNaN"), Decimal("1e999"), Fraction(10**400, 3), np.float16(0.1)]),
)
nasty_scalars = st.one_of(
    nasty_numbers,
    st.none(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.sampled_from(
        [
            np.datetime64("2020-01-01"), np.datetime64("NaT", "s"), np.timedelta64(5, "s"),
            np.complex64(1 + 2j), np.longdouble("1.5"), dt.date(2020, 1, 1), np.True_,
            np.array([1.0]), np.array([1.0, 2.0]), np.array(1.0), [], (1,), {}, object(),
            Unfriendly(), float, len, "population", "isotonic", "censoring", "roc_auc", "pos", "1",
        ]
    ),
)  # fmt: skip
numeric_types = st.sampled_from(
    [np.float16, np.float32, np.float64, np.longdouble, np.int8, np.int64, np.uint8, np.uint64,
     np.bool_, np.complex64, "U3", "S3", "M8[s]", "m8[s]", object]
)  # fmt: skip


@st.composite
def nasty_columns(draw, size=None):
    """Something given where a column is due; often of the right length."""
    n = draw(st.integers(0, 6)) if size is None or draw(st.integers(0, 9)) == 0 else size
    kind = draw(
        st.sampled_from(["floats", "labels", "objects", "typed", "shaped", "wrapped", "scalar"])
    )
    if kind == "floats":
        return draw(st.lists(st.one_of(nasty_floats, st.floats()), min_size=n, max_size=n))
    if kind == "labels":
        words = st.sampled_from([0, 1, -1, 2, True, 1.0, "1", "pos", "u", "Yes", "no", b"1", None])
        return draw(st.lists(words, min_size=n, max_size=n))
    if kind == "objects":
        return objects(*draw(st.lists(nasty_scalars, min_size=n, max_size=n)))
    if kind == "typed":
        numbers = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
        return np.array(numbers).astype(draw(numeric_types))
    if kind == "shaped":
        shape = draw(st.sampled_from([(n, 1), (1, n), (n, 2), (n, 1, 1), (n, 0), ()]))
        return np.ones(shape)
    if kind == "wrapped":
        values = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
        wrap = draw(
            st.sampled_from(
                [
                    tuple, deque, set, iter, dict.fromkeys, lambda v: (x for x in v),
                    lambda v: np.ma.array(v, mask=[i == 1 for i in range(len(v))]), bytearray,
                    lambda v: [v], lambda v: [[x] for x in v], lambda v: [[x, x] for x in v[:-1]],
                ]
            )
        )  # fmt: skip
        return wrap(values)
    return draw(nasty_scalars)
