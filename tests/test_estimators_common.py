"""What every registered estimator of alpha and beta must do, whatever its method."""

from __future__ import annotations

import inspect
import json
import math
import pickle
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import validate_data
from tests import strategies
from tests.prior_dummies import TopRatio

import purecover as pu
from purecover.estimators import base as _registry
from purecover.estimators.base import (
    Inclusions,
    PriorEstimator,
    prior_estimators,
    proportions_of_many,
    register_prior_estimator,
)
from purecover.estimators.noisy import NoisyLabels
from purecover.exceptions import (
    IdentifiabilityError,
    InvalidInputError,
    InvalidTypeError,
    PurecoverError,
    PurecoverWarning,
)
from purecover_paper import systems

CLASSES = prior_estimators()
# NoisyLabels does with these what it does with dedpul, tice and bbe, which it wraps by default.
WRAPPED_LIKE_OTHERS = {
    "alphamax", "bbe", "clustered", "dist-curve", "elkan-noto", "fitted-roc", "kernel-mean",
    "patra-sen", "pearson", "penalized-l1", "regrouping", "roc-slope",
}  # fmt: skip
MAKERS: dict[str, Callable[[], PriorEstimator]] = {
    **CLASSES,
    # What it wraps by default takes seconds, and is here by its own name.
    "clustered": lambda: systems.ClusteredLabels(pu.estimators.BBE()),
    **{
        f"noisy {name}": lambda cls=cls: NoisyLabels(cls())
        for name, cls in CLASSES.items()
        if not cls.noisy and name not in WRAPPED_LIKE_OTHERS
    },
}


def on_features(estimator: PriorEstimator) -> bool:
    """Whether an estimator takes features, and then no weights."""
    inner = getattr(estimator, "estimator", None)
    return estimator.takes == "features" or getattr(inner, "takes", "scores") == "features"


# The machinery is the same for all: the whole battery runs in the slow stage, and in the fast one
# for some that differ in kind (of scores or features, with beta, wrapped).
QUICK = {"alphamax-n", "bbe", "dedpul", "noisy", "tice"}


def over(things: Mapping[str, Any], quick: Collection[str]) -> list[Any]:
    """All of them by name, those that are not quick in the slow stage."""
    marks = {name: [] if name in quick else [pytest.mark.slow] for name in things}
    return [pytest.param(thing, id=name, marks=marks[name]) for name, thing in things.items()]


every = pytest.mark.parametrize("make", over(MAKERS, QUICK))
everyone = pytest.mark.parametrize("make", over(MAKERS, {*CLASSES, *QUICK} - {"clustered"}))
one_of_each = pytest.mark.parametrize("make", over({n: MAKERS[n] for n in CLASSES}, QUICK))
every_class = pytest.mark.parametrize("cls", over(CLASSES, CLASSES))


def easy(
    n_labeled: int = 300, n_unlabeled: int = 1200, *, alpha: float = 0.25, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Scores like probabilities, with pure ends."""
    sample = pu.simulate.binormal(separation=4).sample(
        n_labeled, n_unlabeled, alpha=alpha, random_state=seed
    )
    return 1 / (1 + np.exp(2 - sample.scores)), sample.labeled


def shares(estimator: PriorEstimator) -> tuple[float, float]:
    return estimator.proportions_.alpha, estimator.proportions_.beta


def check_result(estimator: PriorEstimator) -> None:
    """A result a user can rely on: numbers in range, notes to read, nothing but finite."""
    alpha, beta = shares(estimator)
    assert 0 <= alpha < beta <= 1
    assert estimator.proportions_.origin == type(estimator).__name__
    found = estimator.diagnostics_
    assert isinstance(found["identifiable"], bool)
    assert isinstance(found["notes"], tuple)
    assert all(isinstance(note, str) and note for note in found["notes"])
    json.dumps(found, default=plain, allow_nan=False)


def plain(value: Any) -> Any:
    """What JSON does not know."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    raise TypeError(type(value))


@everyone
def test_easy_data(make: Callable[[], PriorEstimator]) -> None:
    estimator = make()
    assert estimator.fit(*easy()) is estimator
    check_result(estimator)
    assert estimator.proportions_.alpha == pytest.approx(0.25, abs=0.12)
    assert estimator.proportions_.beta == pytest.approx(1, abs=0.1)


@every
def test_one_sided_estimators_take_labels_as_clean(make: Callable[[], PriorEstimator]) -> None:
    world = pu.simulate.binormal(separation=4)
    sample = world.sample(300, 1200, alpha=0.25, beta=0.7, random_state=0)
    scores = 1 / (1 + np.exp(2 - sample.scores))
    estimator = make().fit(scores, sample.labeled)
    if estimator.estimates_beta:
        assert estimator.proportions_.beta < 0.97
    else:
        assert estimator.proportions_.beta == 1


@every
def test_same_in_any_order_and_from_counts(make: Callable[[], PriorEstimator]) -> None:
    scores, labeled = easy(60, 200)
    expected = shares(make().fit(scores, labeled))
    order = np.random.default_rng(0).permutation(scores.size)
    assert shares(make().fit(scores[order], labeled[order])) == expected
    negatives = np.concatenate([scores, scores[:1]]), np.concatenate([labeled.astype(int), [-1]])
    counts = pu.ScoreCounts.from_scores(*negatives, negative_label=-1)
    assert shares(make().fit(counts)) == expected


@every
def test_weights(make: Callable[[], PriorEstimator]) -> None:
    scores, labeled = easy(60, 200)
    # The mixtures weigh scores, as long as these are not features.
    if on_features(make()) and type(make()).__name__ != "GaussianMixtures":
        with pytest.raises(InvalidInputError, match="knows no weights"):
            make().fit(scores, labeled, sample_weight=np.full(scores.size, 0.5))
        return
    expected = shares(make().fit(scores, labeled))
    weighted = make().fit(scores, labeled, sample_weight=np.full(scores.size, 0.125))
    assert shares(weighted) == pytest.approx(expected, abs=1e-6)
    kept = np.arange(scores.size) % 3 > 0
    fewer = make().fit(scores[kept], labeled[kept])
    weighted = make().fit(scores, labeled, sample_weight=kept.astype(float))
    # Scores without weight may take part in the choice of a grid, but in nothing else.
    assert shares(weighted) == pytest.approx(shares(fewer), abs=0.02)


@every
def test_deterministic_and_without_side_effects(make: Callable[[], PriorEstimator]) -> None:
    scores, labeled = easy(60, 200)
    before = scores.copy(), labeled.copy()
    estimator = make()
    parameters = repr(estimator.get_params())
    np.random.seed(0)
    state = np.random.get_state()[1].copy()  # type: ignore[index,union-attr]
    first = estimator.fit(scores, labeled).interval(n_resamples=5)
    np.random.seed(1)
    assert make().fit(scores, labeled).interval(n_resamples=5) == first
    np.random.seed(0)
    assert np.array_equal(np.random.get_state()[1], state)  # type: ignore[index]
    assert np.array_equal(scores, before[0])
    assert np.array_equal(labeled, before[1])
    assert repr(estimator.get_params()) == parameters


@every
def test_copies(make: Callable[[], PriorEstimator]) -> None:
    estimator = make().fit(*easy(60, 200))
    vars(estimator)["interval_"] = estimator.interval(n_resamples=3)
    twin = pickle.loads(pickle.dumps(estimator))  # noqa: S301
    assert twin.proportions_ == estimator.proportions_
    assert dict(twin.diagnostics_).keys() == dict(estimator.diagnostics_).keys()
    assert twin.interval_ == estimator.interval_ == twin.interval(n_resamples=3)
    fresh = clone(estimator)
    assert not hasattr(fresh, "proportions_")
    assert repr(fresh) == repr(make())
    assert shares(fresh.set_params(**fresh.get_params()).fit(*easy(60, 200))) == shares(estimator)


@everyone
def test_unfitted(make: Callable[[], PriorEstimator]) -> None:
    with pytest.raises(NotFittedError, match="interval needs a fitted estimator; call fit first"):
        make().interval()
    with pytest.raises(NotFittedError):
        make().interval_  # noqa: B018
    assert not hasattr(make(), "proportions_")


# Scikit-learn hands matrices and classes around; this makes scores and labels of them, which
# the rest of its checks can then judge the machinery by.
EXPECTED_TO_FAIL = {
    "check_all_zero_sample_weights_error": "the message says which side has no weight",
    "check_fit2d_1sample": "the message says that there is no unlabeled row",
}


def on_columns(cls: type[PriorEstimator]) -> type[PriorEstimator]:
    """The same estimator on the first column of a matrix, and a class as the label."""

    class OnColumns(cls):  # type: ignore[valid-type,misc]
        def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
            X, y = validate_data(self, X, y, dtype=np.float64)
            n_features = self.n_features_in_
            labeled = y == y[np.argmax(X[:, 0])]
            scores = X[:, 0] + 2 * np.ptp(X) * labeled
            many = np.arange(300) % len(y)  # ten rows are too few for some
            if sample_weight is not None and np.asarray(sample_weight).shape == y.shape:
                sample_weight = None if on_features(self) else np.asarray(sample_weight)[many]
            super().fit(scores[many], labeled[many], sample_weight=sample_weight)
            self.n_features_in_ = n_features
            return self

        def __sklearn_tags__(self) -> Any:
            tags = super().__sklearn_tags__()
            tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
            return tags

    # Where pickle finds it.
    OnColumns.__name__ = OnColumns.__qualname__ = f"{cls.__name__}OnColumns"
    globals()[OnColumns.__name__] = OnColumns
    return OnColumns


# The others derive from the same class as these, and take minutes.
ENOUGH = {name: cls for name, cls in CLASSES.items() if name not in {"clustered", "pearson"}}


@pytest.mark.parametrize("cls", over(ENOUGH, ["alphamax-n", "bbe", "noisy", "tice"]))
def test_scikit_learn_agrees(cls: type[PriorEstimator]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of checks that are skipped, and their own
        checks = check_estimator(
            on_columns(cls)(), expected_failed_checks=EXPECTED_TO_FAIL, on_fail=None
        )
    failed = {c["check_name"]: c["exception"] for c in checks if c["status"] == "failed"}
    assert failed == {}
    assert sum(c["status"] == "passed" for c in checks) > 25


@every_class
def test_scores_are_one_dimensional(cls: type[PriorEstimator]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few checks apply
        if not on_features(cls()):  # those checks have no labels for matrices
            check_estimator(cls())
    tags = cls().__sklearn_tags__()
    assert tags.input_tags.one_d_array
    assert tags.input_tags.two_d_array == on_features(cls())
    assert tags.target_tags.required


@every
def test_intervals(make: Callable[[], PriorEstimator]) -> None:
    estimator = make().fit(*easy(100, 400))
    for method in ("bootstrap", "bound"):
        found = estimator.interval(method=method, n_resamples=15)
        assert set(found) == {"alpha", "beta", "delta"}
        for key, interval in found.items():
            assert 0 <= interval.low <= interval.high <= 1
            assert interval.estimate == getattr(estimator.proportions_, key)
            assert interval.varied == "scores and proportions"
        if method == "bootstrap":
            low, high = found["alpha"].low, found["alpha"].high
            assert low - 0.1 < estimator.proportions_.alpha < high + 0.1
        json.dumps({key: each.to_dict() for key, each in found.items()}, allow_nan=False)


@every
def test_replicates(make: Callable[[], PriorEstimator]) -> None:
    counts = pu.ScoreCounts.from_scores(*easy(100, 400))
    rng = np.random.default_rng(0)
    labeled = rng.multinomial(100, counts.labeled / 100, 3)
    unlabeled = rng.multinomial(400, counts.unlabeled / 400, 3)
    labeled[0], unlabeled[0] = counts.labeled, counts.unlabeled
    before = labeled.copy(), unlabeled.copy()
    estimator = make()
    found = estimator.proportions_many(counts, labeled, unlabeled)
    assert found.shape == (3, 2)
    assert np.array_equal(labeled, before[0])
    assert np.array_equal(unlabeled, before[1])
    if isinstance(estimator, (pu.estimators.LabelCurve, pu.estimators.ReferencePosterior)):
        # Draws from its posterior are added to the means, which are compared here.
        found = proportions_of_many(estimator._estimate_many(counts, labeled, unlabeled))
    # The first replicate is the data itself. A posterior leaves out, in replicates, shapes that
    # the data have found improbable.
    near = 2e-3 if isinstance(estimator, pu.estimators.LabelCurve) else 1e-6
    assert tuple(found[0]) == pytest.approx(shares(make().fit(counts)), abs=near)
    # Bins and thresholds of the data need not be those of the replicate.
    alone = one_by_one(make, counts, labeled[1:], unlabeled[1:])
    np.testing.assert_allclose(found[1:], alone, atol=0.12)


def one_by_one(
    make: Callable[[], PriorEstimator],
    counts: pu.ScoreCounts,
    labeled: np.ndarray,
    unlabeled: np.ndarray,
) -> list[tuple[float, float]]:
    """Replicates as data of their own."""
    found = []
    for few, many in zip(labeled, unlabeled, strict=True):
        used = few + many > 0
        alone = pu.ScoreCounts.from_counts(counts.thresholds[used], few[used], many[used])
        found.append(shares(make().fit(alone)))
    return found


def degenerate() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    scores, labeled = easy(100, 400)
    apart = np.concatenate([np.linspace(2, 3, 50), np.linspace(0, 1, 200)])
    same = np.random.default_rng(0).uniform(size=500)
    return {
        "ten labeled": easy(10, 400),
        "one labeled": (np.array([0.9, *np.linspace(0, 1, 50)]), np.arange(51) < 1),
        "one unlabeled": (np.linspace(1, 0, 51), np.arange(51) < 50),
        "two rows": (np.array([1.0, 0.0]), np.array([True, False])),
        "two rows the wrong way round": (np.array([0.0, 1.0]), np.array([True, False])),
        "perfect separation": (apart, np.arange(250) < 50),
        "no positives": easy(100, 400, alpha=0),
        "nearly all positive": easy(100, 400, alpha=0.99),
        "inverted labels": (scores, ~labeled),
        "inverted scores": (-scores, labeled),
        "no signal": (same, np.arange(500) < 100),
        "two values": (np.round(scores), labeled),
        "heavy ties": (np.round(scores, 1), labeled),
        "huge": (scores * 1e300, labeled),
        "tiny": (scores * 1e-300, labeled),
        "subnormal": (np.round(scores, 2) * 1e-322, labeled),
        "both ends of the floats": (np.where(scores > 0.5, 1.7e308, -1.7e308), labeled),
        "one outlier": (np.where(scores == scores.max(), 1e200, scores), labeled),
        "whole numbers": (np.round(100 * scores), labeled),
        "probabilities with 0 and 1": (np.clip(np.round(2 * scores - 0.5, 3), 0, 1), labeled),
    }


FLAGGED = {
    "ten labeled", "one labeled", "one unlabeled", "two rows", "inverted labels",
    "inverted scores", "two rows the wrong way round",
}  # fmt: skip


FEW = ["ten labeled", "one labeled", "two rows the wrong way round", "two values", "huge"]


@one_of_each
@pytest.mark.parametrize(
    "cases",
    [FEW, pytest.param(degenerate().keys() - set(FEW), marks=pytest.mark.slow)],
    ids=["few", "others"],
)
def test_degenerate_data(make: Callable[[], PriorEstimator], cases: Iterable[str]) -> None:
    data = degenerate()
    for case in sorted(cases):
        scores, labeled = data[case]
        estimator = make()
        try:
            estimator.fit(scores, labeled)
        except IdentifiabilityError:  # says what is wrong
            continue
        check_result(estimator)
        if case in FLAGGED:
            assert estimator.diagnostics_["notes"], case
        for interval in estimator.interval(n_resamples=2).values():
            assert 0 <= interval.low <= interval.high <= 1, case


@everyone
def test_perfect_separation_leaves_no_positives(make: Callable[[], PriorEstimator]) -> None:
    labeled = np.arange(1000) < 200
    for scores in (np.linspace(1, 0, 1000), labeled.astype(float)):
        estimator = make().fit(scores, labeled)
        check_result(estimator)
        assert estimator.proportions_.alpha < 0.05
        # Exactly, unless it is an average over what beta may be.
        averages = (pu.estimators.LabelCurve, pu.estimators.ReferencePosterior)
        near = 1e-3 if isinstance(estimator, averages) else 0
        assert estimator.proportions_.beta == pytest.approx(1, abs=near)


@every
@pytest.mark.slow
@settings(max_examples=4)  # of each of the many; `make fuzz` tries more
@given(counts=strategies.counts(max_size=30))
def test_any_counts(make: Callable[[], PriorEstimator], counts: pu.ScoreCounts) -> None:
    estimator = make()
    try:
        estimator.fit(counts)
    except IdentifiabilityError:
        return
    except InvalidInputError:
        assert counts.labeled_sq is not None  # weights
        assert on_features(estimator)
        return
    check_result(estimator)
    for interval in estimator.interval(n_resamples=3).values():
        assert math.isfinite(interval.low)
        assert math.isfinite(interval.high)


# Those whose replicates are fits of their own, and how near they come to them.
FITS_OF_THEIR_OWN: dict[str, tuple[Callable[[], PriorEstimator], float]] = {
    "bbe": (pu.estimators.BBE, 1e-12),
    "roc-slope": (lambda: systems.RocSlope(n_thresholds=None), 1e-9),
    "fitted-roc": (systems.FittedRoc, 1e-3),
    "fitted-roc, power": (lambda: systems.FittedRoc(family="power"), 1e-3),
    "elkan-noto": (systems.ElkanNoto, 1e-9),
    # To a step of the grid, whose origin moves with the ends of the scores.
    "dedpul": (systems.DEDPUL, 0.0021),
    "dist-curve": (lambda: systems.DistCurve(n_curves=400), 1e-9),  # so many that there are chunks
    "msgmm": (systems.GaussianMixtures, 0.02),
    "regrouping": (lambda: systems.Regrouping(pu.estimators.BBE()), 1e-9),
}
SECONDS = {"dist-curve", "msgmm"}


@pytest.mark.parametrize(
    ("make", "near"),
    [
        pytest.param(*each, id=name, marks=[pytest.mark.slow] if name in SECONDS else [])
        for name, each in FITS_OF_THEIR_OWN.items()
    ],
)
def test_replicates_equal_fits_one_by_one(make: Callable[[], PriorEstimator], near: float) -> None:
    counts = pu.simulate.binormal(2).sample(80, 300, alpha=0.4, beta=0.9, random_state=1).counts
    rng = np.random.default_rng(0)
    labeled = rng.multinomial(80, counts.labeled / 80, 5)
    unlabeled = rng.multinomial(300, counts.unlabeled / 300, 5)
    found = make().proportions_many(counts, labeled, unlabeled)
    expected = one_by_one(make, counts, labeled, unlabeled)
    np.testing.assert_allclose(found, expected, atol=near)


ORDER_ONLY = {
    **{
        name: make
        for name, (make, _) in FITS_OF_THEIR_OWN.items()
        if name not in {"dedpul", "msgmm"}
    },
    "patra-sen": systems.PatraSen,
    "label-curve": pu.estimators.LabelCurve,
}


@pytest.mark.parametrize("make", over(ORDER_ONLY, ORDER_ONLY.keys() - {*SECONDS, "label-curve"}))
def test_some_depend_on_the_order_of_scores_only(make: Callable[[], PriorEstimator]) -> None:
    sample = pu.simulate.binormal(2).sample(100, 400, alpha=0.4, random_state=1)
    plain = make().fit(sample.scores, sample.labeled)
    for mapped in (np.exp(sample.scores), np.arctan(sample.scores), 1e-9 * sample.scores - 5):
        assert shares(make().fit(mapped, sample.labeled)) == shares(plain), plain


@pytest.mark.parametrize(
    ("make", "near"),
    [
        (systems.PatraSen, 0),
        (systems.ElkanNoto, 1e-9),
        (systems.DEDPUL, 0.005),
        (lambda: systems.Regrouping(TopRatio()), 0.02),
    ],
)
def test_whole_weights_are_repeated_rows(make: Callable[[], PriorEstimator], near: float) -> None:
    sample = pu.simulate.binormal(2).sample(300, 3000, alpha=0.4, random_state=1)
    repeats = np.random.default_rng(0).integers(0, 4, sample.scores.size, dtype=np.intp)
    rows = np.repeat(np.arange(repeats.size), repeats)
    repeated = make().fit(sample.scores[rows], sample.labeled[rows])
    weighted = make().fit(sample.scores, sample.labeled, sample_weight=repeats)
    assert shares(weighted) == pytest.approx(shares(repeated), abs=near)


def mean_error(make: Callable[[], PriorEstimator], separation: float, n: int) -> float:
    """Of alpha, one in four, over ten samples of n labeled and 5 n unlabeled."""
    world = pu.simulate.binormal(separation)
    samples = (world.sample(n, 5 * n, alpha=0.25, random_state=i) for i in range(10))
    found = np.array([make().fit(s.scores, s.labeled).proportions_.alpha for s in samples]) - 0.25
    return float(np.mean(np.abs(found)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "separation", "limit"),
    [
        (pu.estimators.BBE, 3, 0.02),
        (systems.RocSlope, 3, 0.02),
        (systems.PatraSen, 3, 0.02),
        (systems.DEDPUL, 3, 0.01),
        (systems.ElkanNoto, 3, 0.01),
        (systems.FittedRoc, 2, 0.02),
        (pu.estimators.LabelCurve, 2.5, 0.02),
        (systems.GaussianMixtures, 2, 0.02),
    ],
)
def test_errors_shrink_where_the_method_is_right(
    make: Callable[[], PriorEstimator], separation: float, limit: float
) -> None:
    few, many = (mean_error(make, separation, n) for n in (100, 10_000))
    assert many < 0.7 * few
    assert many < limit


BAD_ROWS: list[tuple[Any, Any, str]] = [
    ([1, np.nan, 2], [1, 0, 0], "scores"),
    (["a", "b", "c"], [1, 0, 0], "scores"),
    ([], [], "scores"),
    (np.ones((3, 2)), [1, 0, 0], "scores"),
    (None, [1, 0, 0], "scores"),
    ([1, 2, 3], [1, 0], "labeled"),
    ([1, 2, 3], [1, 1, 1], "labeled"),
    ([1, 2, 3], [0, 1, 2], "labeled"),
]


@everyone
def test_bad_data(make: Callable[[], PriorEstimator]) -> None:
    name = type(make()).__name__
    for scores, labeled, parameter in BAD_ROWS:
        if on_features(make()) and np.shape(scores) == (3, 2):
            continue  # two features
        called = "X" if on_features(make()) and parameter == "scores" else parameter
        with pytest.raises((InvalidInputError, InvalidTypeError)) as caught:
            make().fit(scores, labeled)
        assert f"The '{called}' parameter of {name}.fit must be" in str(caught.value)
    for weight in ([1, 1], [-1, 1, 1], [0, 0, 0], [0, 1, 1], "x"):
        words = f"'sample_weight' parameter of {name}.fit"
        with pytest.raises((InvalidInputError, InvalidTypeError), match=words):
            make().fit([1, 2, 3], [1, 0, 0], sample_weight=weight)
    with pytest.raises(IdentifiabilityError, match=f"{name}.fit needs scores that differ, got 3"):
        make().fit([3.0] * 40, [True, False] * 20)
    counts = pu.ScoreCounts.from_scores(*easy(20, 20))
    for extra in ({"labeled": [1]}, {"sample_weight": [1]}):
        with pytest.raises(InvalidInputError, match=f"takes no '{next(iter(extra))}' with a Score"):
            make().fit(counts, **extra)  # type: ignore[arg-type]
    none, some = np.zeros(2, dtype=np.int64), np.ones(2, dtype=np.int64)
    thresholds = np.array([2.0, 1.0])
    for few, many in ((none, some), (some, none)):
        counts = pu.ScoreCounts(thresholds=thresholds, labeled=few, unlabeled=many)
        with pytest.raises(PurecoverError, match="labeled"):
            make().fit(counts)


@every_class
def test_parameters(cls: type[PriorEstimator]) -> None:
    page = inspect.cleandoc(cls.__doc__ or "")  # from Python 3.13 on docstrings have no indentation
    for name, parameter in inspect.signature(cls).parameters.items():
        for value in (object(), "nonsense", -3, np.nan):
            estimator = cls().set_params(**{name: value})
            with pytest.raises((InvalidInputError, InvalidTypeError)) as caught:
                estimator.fit(*easy(20, 50))
            assert f"The '{name}' parameter of {cls.__name__} must be" in str(caught.value)
        assert re.search(rf"^(\w+, )*{name}(, \w+)*( :|$)", page, re.MULTILINE)
        # A parameter of such a name would make scikit-learn take the estimator for something else.
        assert name not in {"transform", "predict", "score", "fit_transform", "inverse_transform"}
        # By name only, but for what a wrapper wraps, so that a new option can stand anywhere.
        assert name in {"estimator", "estimators"} or parameter.kind is parameter.KEYWORD_ONLY


def test_built_in_names() -> None:
    homes = {name: cls.__module__.partition(".")[0] for name, cls in CLASSES.items()}
    assert {name for name, home in homes.items() if home == "purecover"} == {
        "alphamax", "alphamax-n", "bbe", "label-curve", "noisy", "reference"
    }  # fmt: skip
    assert {homes[name] for name in ("dedpul", "elkan-noto", "roc-slope")} == {"purecover_paper"}
    assert list(CLASSES) == sorted(CLASSES)
    assert len(set(CLASSES.values())) == len(CLASSES)


@pytest.fixture
def empty_shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_registry, "_REGISTERED", dict(_registry._REGISTERED))


@pytest.mark.usefixtures("empty_shelf")
def test_own_estimators_join() -> None:
    assert register_prior_estimator("top-ratio")(TopRatio) is TopRatio
    assert prior_estimators()["top-ratio"] is TopRatio
    register_prior_estimator("top-ratio")(TopRatio)  # once more is no mistake
    with pytest.raises(InvalidInputError, match=r"not taken, got 'top-ratio' .*TopRatio"):
        register_prior_estimator("top-ratio")(NoisyLabels)


class Point:
    """An entry point that fails, of a package that is broken."""

    value = "broken_zoo.estimators"

    class dist:  # noqa: N801 - as importlib.metadata calls it
        name = "broken-zoo"

    def load(self) -> None:
        raise ImportError("no such thing as half a giraffe")


def test_a_broken_package_is_named_and_the_others_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_registry, "entry_points", lambda group: [Point()])
    _registry._load_estimators.cache_clear()
    words = r"estimators of the package broken-zoo cannot .* ImportError: no such thing"
    with pytest.warns(PurecoverWarning, match=words):
        assert prior_estimators() == CLASSES
    assert prior_estimators() == CLASSES  # told once


def test_bad_names() -> None:
    for name in ("", "Top", "top ratio", "top_ratio", "-top", "top-", "1st"):
        with pytest.raises(InvalidInputError, match="small letters and digits, words joined"):
            register_prior_estimator(name)
    with pytest.raises(InvalidTypeError, match=r"write @register_prior_estimator\('my-name'\)"):
        register_prior_estimator(TopRatio)  # type: ignore[arg-type]


class Unfinished(PriorEstimator):
    """No method yet."""


class Demanding(PriorEstimator):
    """Cannot be made without an argument."""

    def __init__(self, needed: float) -> None:
        self.needed = needed

    def _estimate(self, counts: pu.ScoreCounts) -> Inclusions:  # noqa: ARG002
        return Inclusions(self.needed)


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (Unfinished, r"write _estimate\(self, counts\)"),
        (Demanding, "Demanding .*'needed'"),
        (TopRatio(), "must be a subclass of PriorEstimator"),
        (dict, "must be a subclass of PriorEstimator"),
    ],
)
def test_what_cannot_be_registered(thing: Any, words: str) -> None:
    with pytest.raises((InvalidInputError, InvalidTypeError), match=words):
        register_prior_estimator("thing")(thing)
    assert "thing" not in prior_estimators()


def test_parameters_of_parameters_are_set_after_those_they_belong_to() -> None:
    from sklearn.linear_model import LogisticRegression

    inner = systems.ClusteredLabels(classifier=LogisticRegression())
    outer = NoisyLabels(estimator=inner)
    fresh = LogisticRegression()
    outer.set_params(estimator__classifier__C=5.0, estimator__classifier=fresh)
    assert inner.classifier is fresh
    assert fresh.C == 5
