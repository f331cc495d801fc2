"""`ScoreCounts`: what is counted, at every door, against brute force and scikit-learn."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve
from tests.strategies import counts, objects, rows, weighted_rows

import purecover as pu
from purecover import ScoreCounts
from purecover.exceptions import InvalidInputError, InvalidTypeError

SCORES = [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.4, 0.2]
LABELED = [1, 1, 0, 1, 0, 1, 0, 0]


def plain(scores=SCORES, labeled=LABELED, **options) -> ScoreCounts:
    return ScoreCounts.from_scores(scores, labeled, **options)


def assert_valid(counted: ScoreCounts) -> None:
    """What holds for any counts, wherever they came from."""
    assert counted.thresholds.dtype == np.float64
    assert np.isfinite(counted.thresholds).all()
    assert np.all(counted.thresholds[1:] < counted.thresholds[:-1])
    assert not np.signbit(counted.thresholds[counted.thresholds == 0]).any()
    for name in ("labeled", "unlabeled", "negative", "labeled_sq", "unlabeled_sq"):
        column = getattr(counted, name)
        if column is not None:
            assert column.shape == counted.thresholds.shape
            assert column.min() >= 0
            assert not column.flags.writeable
    assert counted.n_labeled > 0
    assert counted.n_unlabeled > 0
    assert counted.n_labeled == pytest.approx(counted.labeled.sum())
    assert 0 < counted.labeled_share <= 1  # 1 by rounding, at 10^16 to 1
    assert counted.is_weighted == (counted.labeled_sq is not None)
    assert str(counted)


def brute(scores, labeled, weight=None) -> dict[float, list[float]]:
    """Sums of weights (labeled, unlabeled) per distinct score."""
    found: dict[float, list[float]] = {}
    for i, score in enumerate(scores):
        cell = found.setdefault(float(score) + 0.0, [0, 0])
        cell[0 if labeled[i] else 1] += 1 if weight is None else weight[i]
    return found


def any_rows(**options):
    """Rows with weights and, as None, without."""
    return st.one_of(rows(**options).map(lambda data: (*data, None)), weighted_rows(**options))


@pytest.mark.parametrize("dtype", [np.int32, np.uint16])
def test_short_integers_count_as_long_ones(dtype: type) -> None:
    """Products of such counts would overflow in silence; on 32 bits NumPy counts by them."""
    given = {"labeled": [60_000, 10, 1], "unlabeled": [60_000] * 3}
    columns = {name: np.array(column, dtype=dtype) for name, column in given.items()}
    short = pu.ScoreCounts(thresholds=np.array([2.0, 1.0, 0.0]), **columns)
    assert pu.recovery.auc_pu(short) == pytest.approx(
        (60_000 * 150_000 + 10 * 90_000 + 30_000) / (60_011 * 180_000)
    )
    assert short == pu.ScoreCounts.from_counts([2, 1, 0], **given)


@given(any_rows())
def test_counts_equal_a_dictionary_count(data):
    scores, labeled, weight = data
    counted = plain(scores, labeled, sample_weight=weight)
    assert_valid(counted)
    assert counted.is_weighted == (weight is not None)
    truth = brute(scores, labeled, weight)
    found = zip(counted.labeled, counted.unlabeled, strict=True)
    for threshold, pair in zip(counted.thresholds.tolist(), found, strict=True):
        assert pair == pytest.approx(truth[threshold])
    if weight is None:
        assert len(truth) == counted.n_thresholds
        assert counted.labeled.dtype == counted.unlabeled.dtype == np.int64
    else:
        squares = brute(scores, labeled, weight**2)
        found = zip(counted.labeled_sq, counted.unlabeled_sq, strict=True)
        for threshold, pair in zip(counted.thresholds.tolist(), found, strict=True):
            assert pair == pytest.approx(squares[threshold])


def test_minus_zero_and_zero_are_one_score():
    for scores in ([-0.0, 0.0, 1.0], [0.0, -0.0, 1.0]):
        for weight in (None, [1, 1, 1]):
            counted = plain(scores, [1, 0, 0], sample_weight=weight)
            assert_valid(counted)
            assert counted.thresholds.tolist() == [1.0, 0.0]
            assert counted.labeled.tolist() == [0, 1]


def test_scores_whose_sum_overflows_are_welcome():
    counted = plain([1e308, 1.5e308, 1e308, -1e308], [1, 1, 0, 0])
    assert_valid(counted)
    assert pu.recovery.auc_pu(counted) == 0.875


INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, np.float32, np.float64, np.longdouble]


@pytest.mark.parametrize("kind", [*INTEGERS, *FLOATS])
def test_every_number_type_gives_the_same_counts(kind):
    scores = np.array([9, 8, 8, 6, 5, 4, 4, 2])
    assert plain(scores.astype(kind), np.array(LABELED).astype(kind)) == plain(scores)


@pytest.mark.parametrize(
    "wrap",
    [
        list,
        tuple,
        lambda v: np.array(v, dtype=object),
        lambda v: objects(*map(Decimal, map(repr, v))),
        lambda v: objects(*map(Fraction, v)),
        np.ma.array,
        lambda v: np.array(v).reshape(-1, 1),
        lambda v: np.array(v).reshape(1, -1),
        lambda v: np.repeat(v, 2)[::2],
        lambda v: np.array(v[::-1])[::-1],
        lambda v: np.asfortranarray(np.column_stack([v, v]))[:, 0],
        lambda v: np.array(v).view(np.recarray),
        lambda v: np.array(v, dtype=">f8"),
        lambda v: memoryview(np.array(v)),
    ],
)
def test_every_container_gives_the_same_counts(wrap):
    assert plain(wrap(SCORES), wrap(LABELED)) == plain()


REFUSED_SCORES = {
    "generator": ((x for x in SCORES), InvalidTypeError, "Hint: make a list"),
    "ragged": ([[1], [2, 3]], InvalidTypeError, "one-dimensional"),
    "probabilities": (np.zeros((8, 2)), InvalidInputError, r"Hint: .*predict_proba.*\[:, 1\]"),
    "features": (np.zeros((8, 5)), InvalidInputError, "Hint: are these features.*cross_fit_scores"),
    "words": (["a"] * 8, InvalidTypeError, "Hint: convert the column to numbers"),
    "dates": (np.array(["2020-01-01"] * 8, "M8[D]"), InvalidTypeError, "numeric"),
    "spans": (np.arange(8).astype("m8[s]"), InvalidTypeError, "numeric"),
    "lists": (objects([1], *range(7)), InvalidTypeError, "numeric"),
    "records": (np.zeros(8, dtype=[("a", int)]), InvalidTypeError, "numeric"),
    "missing": ([0.1, None, *range(6)], InvalidInputError, "None at row 1"),
    "masked": (np.ma.array(SCORES, mask=[1, *[0] * 7]), InvalidInputError, "1 masked of 8"),
    "nan": ([0.1, np.nan, *range(6)], InvalidInputError, "1 NaN or infinite of 8.*at row 1"),
    "infinite": ([*range(6), np.inf, -np.inf], InvalidInputError, "2 NaN .*at row 6"),
    "long double": (np.array([np.longdouble("1e4000")] * 8), InvalidInputError, "finite"),
    "signaling": (objects(Decimal("sNaN"), *range(7)), InvalidInputError, "finite.*row 0"),
    "large fraction": (
        objects(Fraction(10**400, 3), *range(7)),
        InvalidInputError,
        r"beyond 2\*\*53",
    ),
    "large integers": (np.arange(8, dtype=np.int64) + 2**53, InvalidInputError, r"beyond 2\*\*53"),
    "large unsigned": (np.arange(8, dtype=np.uint64) + 2**63, InvalidInputError, "2\\*\\*53"),
    "smallest integer": (
        np.arange(8, dtype=np.int64) + np.iinfo(np.int64).min,
        InvalidInputError,
        f"size of {2**63}",
    ),
    "longer integers": ([2**64, 2**64 + 1, *range(6)], InvalidInputError, "2\\*\\*53.*at row 0"),
}


@pytest.mark.filterwarnings("ignore:.*longdouble:RuntimeWarning")
@pytest.mark.parametrize("name", REFUSED_SCORES)
def test_scores_that_are_refused(name):
    scores, error, match = REFUSED_SCORES[name]
    with pytest.raises(error, match=f"(?s)^The 'scores' parameter of .*from_scores .*{match}"):
        plain(scores)


@given(rows(max_size=15), st.data())
def test_whole_weights_repeat_rows(data, draw):
    scores, labeled = data
    n = scores.size
    times = np.array(draw.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    weighted = plain(scores, labeled, sample_weight=times)
    repeated = plain(np.repeat(scores, times), np.repeat(labeled, times))
    for name in ("thresholds", "labeled", "unlabeled"):
        np.testing.assert_array_equal(getattr(weighted, name), getattr(repeated, name))
    assert pu.recovery.auc_pu(weighted) == pytest.approx(pu.recovery.auc_pu(repeated), rel=1e-12)


@given(counts(), counts())
def test_merging_commutes_and_keeps_totals(one, other):
    merged = one + other
    assert_valid(merged)
    swapped = other + one
    np.testing.assert_array_equal(merged.thresholds, swapped.thresholds)
    np.testing.assert_allclose(merged.labeled, swapped.labeled, rtol=1e-12)
    assert merged.n_labeled == pytest.approx(one.n_labeled + other.n_labeled)
    assert merged.n_unlabeled == pytest.approx(one.n_unlabeled + other.n_unlabeled)
    assert merged.n_negative == one.n_negative + other.n_negative
    assert merged.is_weighted == (one.is_weighted or other.is_weighted)


def test_unweighted_rows_join_weighted_ones_with_weight_one():
    weighted = plain([1, 2, 3], [0, 1, 1], sample_weight=[2, 3, 1])
    merged = weighted + plain([1, 4], [0, 1])
    together = plain([1, 2, 3, 1, 4], [0, 1, 1, 0, 1], sample_weight=[2, 3, 1, 1, 1])
    assert merged == together


@given(counts(), st.randoms(use_true_random=False))
def test_from_counts_sorts_and_merges(counted, random):
    # Each count split in two, shuffled.
    labeled, unlabeled = np.floor(counted.labeled), np.floor(counted.unlabeled)
    if not (labeled.any() and unlabeled.any()):
        return
    half = [np.floor(labeled / 2), np.floor(unlabeled / 2)]
    table = np.column_stack(
        [
            np.tile(counted.thresholds, 2),
            np.concatenate([half[0], labeled - half[0]]),
            np.concatenate([half[1], unlabeled - half[1]]),
        ]
    )
    order = list(range(len(table)))
    random.shuffle(order)
    again = ScoreCounts.from_counts(*table[order].T)
    assert_valid(again)
    assert again.labeled.dtype == np.int64
    np.testing.assert_array_equal(again.thresholds, counted.thresholds)
    np.testing.assert_array_equal(again.labeled, labeled)
    np.testing.assert_array_equal(again.unlabeled, unlabeled)


def test_from_counts_keeps_fractions_and_negatives():
    counted = ScoreCounts.from_counts([1, 2, 1], [0.5, 1, 1], [1, 1, 1], negative=[3, 0, 1])
    assert counted.thresholds.tolist() == [2, 1]
    assert counted.labeled.tolist() == [1, 1.5]
    assert counted.unlabeled.dtype == np.int64
    assert counted.negative.tolist() == [0, 4]
    assert not counted.is_weighted


@pytest.mark.parametrize(
    ("arguments", "parameter", "match"),
    [
        (([1, 2], [1], [1, 1]), "labeled", r"as long as scores \(2\)|as long as"),
        (([1, 2], [1, 1], [0, 0]), "unlabeled", "positive somewhere"),
        (([1, 2], [1e308, 1e308], [1, 1]), "labeled", "between 1e-120"),
        (([1, 2], [1e17, 1e17], [1, 1]), "labeled", "totals"),
    ],
)
def test_from_counts_refuses(arguments, parameter, match):
    with pytest.raises(
        (InvalidInputError, InvalidTypeError),
        match=f"^The '{parameter}' parameter of ScoreCounts.from_counts must be .*({match})",
    ):
        ScoreCounts.from_counts(*arguments)
    with pytest.raises(InvalidInputError, match=r"^The 'negative' parameter"):
        ScoreCounts.from_counts([1, 2], [1, 1], [1, 1], negative=[-1, 0])


@given(counts())
def test_round_trip_through_json(counted):
    again = ScoreCounts.from_dict(json.loads(json.dumps(counted.to_dict())))
    assert again == counted
    assert again.is_weighted == counted.is_weighted
    assert again.labeled.dtype == counted.labeled.dtype


@given(counts(max_size=60), st.integers(1, 12), st.data())
def test_thinning_keeps_rates_exact(counted, size, draw):
    keep = draw.draw(
        st.one_of(
            st.none(),
            st.floats(-4, 4),
            st.sampled_from(counted.thresholds.tolist()),
            st.just(np.inf),
        )
    )
    thin = counted.thinned(size, keep=keep)
    assert_valid(thin)
    assert thin.n_thresholds <= max(size + 1, min(counted.n_thresholds, size))
    assert set(thin.thresholds) <= set(counted.thresholds)
    at = list(thin.thresholds) + ([] if keep is None else [keep])
    for name in ("labeled", "unlabeled", "negative", "labeled_sq", "unlabeled_sq"):
        before, after = getattr(counted, name), getattr(thin, name)
        assert (before is None) == (after is None)
        if before is not None:
            for t in at:
                assert after[thin.thresholds >= t].sum() == pytest.approx(
                    before[counted.thresholds >= t].sum(), rel=1e-12
                )


def auc_by_pairs(scores, labeled, weight=None):
    weight = np.ones(scores.size) if weight is None else weight
    total = won = 0.0
    for i in np.flatnonzero(labeled):
        for j in np.flatnonzero(~labeled):
            pair = weight[i] * weight[j]
            total += pair
            won += pair * ((scores[i] > scores[j]) + (scores[i] == scores[j]) / 2)
    return won / total


def variance_by_placements(scores, labeled, weight):
    """DeLong's variance from the placement of every single row."""
    sides = []
    for mine, sign in ((labeled, 1), (~labeled, -1)):
        w, other = weight[mine], weight[~mine]
        one, two = sign * scores[mine][:, None], sign * scores[~mine][None, :]
        placement = ((one > two) + (one == two) / 2) @ other / other.sum()
        mean = np.average(placement, weights=w)
        effective = w.sum() ** 2 / (w**2).sum()
        if effective <= 1:
            return np.nan
        spread = (w**2 * (placement - mean) ** 2).sum() / w.sum() ** 2
        sides.append(spread * effective / (effective - 1))
    return sum(sides)


@given(any_rows(scores=st.floats(-3, 3, width=16)))  # scikit-learn sums the scores
def test_auc_equals_all_pairs_and_scikit_learn(data):
    scores, labeled, weight = data
    found = pu.recovery.auc_pu(plain(scores, labeled, sample_weight=weight))
    assert found == pytest.approx(auc_by_pairs(scores, labeled, weight), abs=1e-10)
    assert found == pytest.approx(roc_auc_score(labeled, scores, sample_weight=weight), abs=1e-10)


@given(rows(), st.integers(10**5, 2**40))
def test_auc_of_many_rows_does_not_overflow(data, times):
    scores, labeled = data
    small = plain(scores, labeled)
    large = ScoreCounts.from_counts(
        small.thresholds, small.labeled * times, small.unlabeled * times
    )
    assert pu.recovery.auc_pu(large) == pytest.approx(pu.recovery.auc_pu(small), abs=1e-12)


@given(any_rows(scores=st.floats(-3, 3, width=16)))
def test_curve_equals_scikit_learn(data):
    scores, labeled, weight = data
    roc = pu.recovery.pu_roc_curve(plain(scores, labeled, sample_weight=weight))
    kept = np.ones(scores.size) if weight is None else weight
    some = kept > 0  # scikit-learn forgets rows of weight 0
    fpr, tpr, thresholds = roc_curve(
        labeled[some], scores[some], sample_weight=kept[some], drop_intermediate=False
    )
    here = np.isin(roc.thresholds, thresholds)
    np.testing.assert_array_equal(roc.thresholds[here], thresholds)
    np.testing.assert_allclose(roc.fpr_pu[here], fpr, rtol=0, atol=1e-12)
    np.testing.assert_allclose(roc.tpr_pu[here], tpr, rtol=0, atol=1e-12)
    assert (roc.fpr_pu[0], roc.tpr_pu[0]) == (0, 0)
    assert (roc.fpr_pu[-1], roc.tpr_pu[-1]) == (1, 1)


@given(any_rows(min_size=4))
def test_variance_equals_its_slow_twin(data):
    scores, labeled, given_weight = data
    weight = np.ones(scores.size) if given_weight is None else given_weight
    truth = variance_by_placements(scores, labeled, weight)
    found = pu.recovery.auc_pu_variance(plain(scores, labeled, sample_weight=given_weight))
    if np.isnan(truth) or np.isnan(found):
        # A side whose effective size is 1 up to rounding.
        sizes = [w.sum() ** 2 / (w**2).sum() for w in (weight[labeled], weight[~labeled])]
        assert min(sizes) == pytest.approx(1)
        return
    assert found == pytest.approx(truth, abs=1e-12, rel=1e-6)


@pytest.mark.parametrize("highest", [[3, 2], [3, 2, 0.9], [4, 3, 1], [2.9, 2, 1], [3, 2, 1, 1]])
def test_bins_that_overlap_are_refused(highest):
    data = {"thresholds": [3, 2, 1], "labeled": [1, 1, 1], "unlabeled": [1, 1, 1]}
    with pytest.raises(InvalidInputError, match="'highest'"):
        pu.ScoreCounts.from_dict(data | {"highest": highest})
    found = pu.ScoreCounts.from_dict(data | {"highest": [3.5, 2.9, 1]})
    assert found.highest.tolist() == [3.5, 2.9, 1]
