"""Estimators side by side, on scores and on features: each row is what the estimator says alone."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import purecover as pu
from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.estimators import base
from purecover.estimators import compare as _compare
from purecover.estimators.base import Inclusions, PriorEstimator, prior_estimators
from purecover.estimators.bbe import BBE
from purecover.estimators.choice import check_estimator, with_clean_labels
from purecover.estimators.compare import compare_priors
from purecover.estimators.comparison import QUANTITIES, PriorComparison, PriorRow
from purecover.estimators.noisy import NoisyLabels
from purecover.estimators.samples import common_notes
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError
from purecover_paper.systems import RocSlope

SAMPLE = simulate.binormal(3.0).sample(300, 1500, alpha=0.3, beta=0.8, random_state=0)
COUNTS = SAMPLE.counts
PAIR = ["bbe", "roc-slope"]
CLASSES = {"bbe": BBE, "roc-slope": RocSlope}


class Says(PriorEstimator):
    """Says what it is told to, with a note; nothing if told nothing."""

    def __init__(self, a: float | None = 0.25, *, loses_draws: bool = False) -> None:
        self.a = a
        self.loses_draws = loses_draws

    def _estimate(self, counts: ScoreCounts) -> Inclusions:  # noqa: ARG002
        if self.a is None:
            raise IdentifiabilityError("Says has nothing to say.\nHint: tell it")
        return Inclusions(self.a, notes=("told so",))

    def _estimate_many(self, counts: ScoreCounts, labeled: Any, unlabeled: Any) -> Any:
        del counts, unlabeled
        found = np.tile([self.a, 0.0], (len(labeled), 1))
        if self.loses_draws:
            found[::4] = np.nan
        return found


class NoInterval(Says):
    """Has an estimate, but complains when asked how sure it is."""

    def proportions_many(self, *_: Any) -> Any:
        raise IdentifiabilityError("no replicate can be told apart.")


def noisy(name: str) -> PriorEstimator:
    return NoisyLabels(CLASSES[name]())


@pytest.mark.parametrize("name", PAIR)
def test_a_row_is_what_the_estimator_says_alone(name: str) -> None:
    found = compare_priors(
        COUNTS, estimators=PAIR, n_resamples=25, confidence_level=0.8, random_state=7
    )
    alone = noisy(name).fit(COUNTS)
    row = found[name]
    assert row.proportions == replace(
        alone.proportions_, origin=f"NoisyLabels({CLASSES[name].__name__})"
    )
    assert row.intervals == alone.interval(n_resamples=25, confidence_level=0.8, random_state=7)
    assert row.notes == tuple(alone.diagnostics_["notes"])
    assert row.error is None
    assert row.seconds > 0


@pytest.mark.parametrize("estimator", [RocSlope(), NoisyLabels(RocSlope(), clean="never")])
def test_a_known_beta(estimator: PriorEstimator) -> None:
    settings: dict[str, Any] = {"n_resamples": 40, "random_state": 3}
    row = compare_priors(COUNTS, estimators={"own": estimator}, beta=0.8, **settings)["own"]
    # What scores tell is alpha / beta: here the ratio of one run, whatever the other one says.
    a = RocSlope().fit(COUNTS).proportions_.alpha
    assert row.proportions.alpha == pytest.approx(0.8 * a, rel=1e-9)
    assert row.proportions.beta == 0.8
    assert row.proportions.origin.endswith("RocSlope, beta given") or "(RocSlope)" in (
        row.proportions.origin
    )
    alone = RocSlope().fit(COUNTS).interval(**settings)["alpha"]
    assert row.ends("alpha") == pytest.approx((0.8 * alone.low, 0.8 * alone.high), rel=1e-9)
    assert row.ends("beta") == (0.8, 0.8)
    assert row.ends("delta") == pytest.approx((0.8 - 0.8 * alone.high, 0.8 - 0.8 * alone.low))


def test_all_estimators_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_compare, "default_estimator", RocSlope)
    found = compare_priors(COUNTS, n_resamples=0)
    names = [row.name for row in found]
    assert names[0] == "roc-slope"
    # Wrapped, alphamax is alphamax-n.
    expected = {n for n, cls in prior_estimators().items() if cls.takes == "scores"}
    assert set(names[1:]) == expected - {"noisy", "regrouping", "alphamax", "roc-slope"}
    assert names[1:] == sorted(names[1:])
    assert found.default is found.rows[0]
    assert [row.is_default for row in found] == [True] + [False] * (len(names) - 1)


def test_a_complaint_is_a_row() -> None:
    found = compare_priors(COUNTS, estimators=["bbe", Says(None), "roc-slope"], n_resamples=0)
    row = found["Says"]
    assert row.proportions is None
    assert row.error == "Says has nothing to say.\nHint: tell it"
    assert math.isnan(row.value("alpha"))
    assert [each.name for each in found.succeeded] == ["bbe", "roc-slope"]
    assert "no estimate" in str(found)
    assert "Says: Says has nothing to say." in str(found)


def test_no_interval_is_a_note() -> None:
    found = compare_priors(COUNTS, estimators=[NoInterval()], beta=1, n_resamples=5)
    row = found["NoInterval"]
    assert row.value("alpha") == 0.25
    assert not row.intervals
    assert row.notes == ("told so", "no interval: no replicate can be told apart.")
    assert " none" in str(found)


def test_rejected_draws_are_told() -> None:
    estimators = [Says(loses_draws=True)]
    found = compare_priors(COUNTS, estimators=estimators, beta=1, n_resamples=8)
    assert any("2 of 8 draws rejected" in note for note in found["Says"].notes)


@pytest.mark.parametrize(
    ("estimators", "error", "says"),
    [
        (["bbes"], InvalidInputError, "did you mean 'bbe'"),
        ([], InvalidInputError, "at least one"),
        (["bbe", "bbe"], InvalidInputError, "'bbe' twice"),
        (["bbe", BBE()], InvalidInputError, "pass a dict"),
        (BBE(), InvalidTypeError, "put it into a list"),
        ([BBE], InvalidTypeError, "'estimators' parameter of compare_priors"),
        ({"a": "bbe"}, InvalidTypeError, "PriorEstimator objects"),
        (3, InvalidTypeError, "'estimators' parameter of compare_priors"),
    ],
    ids=str,
)
def test_wrong_estimators(estimators: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        compare_priors(COUNTS, estimators=estimators, n_resamples=0)


def test_arrays_counts_and_weights_agree() -> None:
    def values(*data: Any, **more: Any) -> np.ndarray:
        found = compare_priors(*data, estimators=PAIR, n_resamples=0, **more).frame()
        return np.array([found[quantity] for quantity in QUANTITIES])

    expected = values(COUNTS)
    np.testing.assert_array_equal(values(SAMPLE.scores, SAMPLE.labeled), expected)
    words = np.where(SAMPLE.labeled, "yes", "maybe")
    np.testing.assert_array_equal(values(SAMPLE.scores, words, positive_label="yes"), expected)
    ones = np.ones(SAMPLE.scores.size)
    np.testing.assert_allclose(
        values(SAMPLE.scores, SAMPLE.labeled, sample_weight=ones), expected, atol=1e-9
    )
    with_negatives = values(
        np.append(SAMPLE.scores, [-9.0, -8.0]),
        np.append(SAMPLE.labeled.astype(int), [-1, -1]),
        negative_label=-1,
    )
    np.testing.assert_array_equal(with_negatives, expected)


@pytest.fixture(scope="module")
def found() -> PriorComparison:
    return compare_priors(COUNTS, estimators=["bbe", Says(None), "roc-slope"], n_resamples=15)


def test_spread(found: PriorComparison) -> None:
    one, two = found["bbe"], found["roc-slope"]
    for quantity in QUANTITIES:
        expected = abs(one.value(quantity) - two.value(quantity))
        assert found.spread[quantity] == pytest.approx(expected)
    alone = compare_priors(COUNTS, estimators=["bbe"], n_resamples=0)
    assert all(math.isnan(value) for value in alone.spread.values())


@pytest.mark.parametrize("backend", [None, "pandas", "polars", "pyarrow"])
def test_the_frame_holds_the_rows(found: PriorComparison, backend: str | None) -> None:
    frame = found.frame(backend)
    columns = {name: np.asarray(frame[name]) for name in found.frame()}
    for i, row in enumerate(found):
        assert columns["estimator"][i] == row.name
        for quantity in QUANTITIES:
            numbers = [columns[f"{quantity}{end}"][i] for end in ("", "_low", "_high")]
            np.testing.assert_array_equal(numbers, [row.value(quantity), *row.ends(quantity)])
        assert columns["seconds"][i] == row.seconds
        assert columns["notes"][i] == "; ".join(row.notes)
        assert columns["error"][i] == (row.error or "")


def test_json_and_back(found: PriorComparison) -> None:
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["n_labeled"] == 300
    assert data["spread"]["alpha"] == found.spread["alpha"]
    for said, row in zip(data["estimators"], found, strict=True):
        assert (said["name"], said["error"]) == (row.name, row.error)
        if row.proportions is None:
            assert said["proportions"] is None
            assert said["intervals"] == {}
            continue
        assert said["proportions"]["alpha"] == row.value("alpha")
        for quantity in QUANTITIES:
            interval = said["intervals"][quantity]
            assert (interval["low"], interval["high"]) == row.ends(quantity)
    alone = compare_priors(COUNTS, estimators=["bbe"], n_resamples=0)
    assert alone.to_dict()["spread"] == {"alpha": None, "beta": None, "delta": None}


def test_the_text_is_a_table(found: PriorComparison) -> None:
    lines = str(found).splitlines()
    assert lines[0].startswith("300 labeled, 1,500 unlabeled, ")
    assert lines[2].split() == [
        *("alpha", "95", "%", "interval", "beta", "95", "%", "interval"),
        *("beta", "-", "alpha", "95", "%", "interval", "seconds"),
    ]
    assert len({len(line) for line in (lines[2], lines[3], lines[5])}) == 1
    row = found["bbe"]
    numbers = [float(word.strip("[,]")) for word in lines[3].split()[1:]]
    expected = [number for q in QUANTITIES for number in (row.value(q), *row.ends(q))]
    np.testing.assert_allclose(numbers[:-1], expected, atol=5e-5)
    assert max(map(len, lines)) <= 100
    assert f"differ by {found.spread['alpha']:.4f}" in str(found)


def test_a_note_of_nearly_everyone_names_the_exception_and_names_stay_whole() -> None:
    def text_of(*errors: str) -> str:
        names = [f"name-{letter}" for letter in "abcdef"]
        rows = tuple(PriorRow(name=n, error=e) for n, e in zip(names, errors, strict=False))
        return str(PriorComparison(rows=rows, n_labeled=1, n_unlabeled=2, n_thresholds=3))

    assert "\nall: lost" in text_of("lost", "lost", "lost")
    assert "\nall but name-b: lost" in text_of("lost", "found", "lost", "lost")
    assert "\nname-b: found" in text_of("lost", "found", "lost", "lost")
    assert "\nname-a, name-d, name-e: lost" in text_of("lost", "x", "y", "lost", "lost")
    long = text_of("lost", "x " * 45 + "name-of-this-length")
    assert "name-of-this-length" in long


def test_an_estimator_by_name_by_example_or_by_default() -> None:
    assert repr(check_estimator(None)) == repr(check_estimator("default"))
    assert repr(check_estimator(None)) == "ReferencePosterior()"
    assert repr(check_estimator("bbe")) == "NoisyLabels(estimator=BBE())"
    assert repr(check_estimator("alphamax-n")) == "AlphaMaxN()"
    own = BBE(error=0.2)
    taken = check_estimator(own)
    assert repr(taken) == "BBE(error=0.2)"
    assert taken is not own


@pytest.mark.parametrize(("beta", "clean"), [(1, "always"), (0.9, "test"), (None, "test")])
def test_those_who_ask_whether_labels_are_clean_are_told(beta: float | None, clean: str) -> None:
    asks, does_not = check_estimator("alphamax-n"), BBE()
    with_clean_labels(asks, beta)
    with_clean_labels(does_not, beta)
    assert asks.get_params()["clean"] == clean
    assert repr(does_not) == "BBE()"


@pytest.mark.parametrize(("n", "speaks"), [((50, 100), False), ((49, 100), True), ((50, 99), True)])
def test_how_many_are_few(n: tuple[int, int], speaks: bool) -> None:
    data = SimpleNamespace(n_labeled=n[0], n_unlabeled=n[1])
    assert bool(common_notes(data)) == speaks


@pytest.mark.parametrize(("n", "words"), [(9, "and so is its interval"), (10, "read its interval")])
def test_with_fewer_than_ten_not_even_the_interval_helps(n: int, words: str) -> None:
    (note,) = common_notes(SimpleNamespace(n_labeled=n, n_unlabeled=500))
    assert f"only {n} labeled and 500 unlabeled" in note
    assert note.endswith(words)


def test_what_must_be_given() -> None:
    with pytest.raises(InvalidTypeError, match="'labeled' parameter of compare_priors"):
        compare_priors([3.0, 2.0, 1.0])
    counts = pu.ScoreCounts.from_counts([2, 1], labeled=[10, 5], unlabeled=[20, 40])
    with pytest.raises(InvalidInputError, match="takes no 'groups'"):
        compare_priors(counts, groups=[1, 2])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda: base.Inclusions(math.nan), "must return inclusions in [0, 1], got nan and 0."),
        (lambda: base.Inclusions(-0.3), "must return inclusions in [0, 1], got -0.3 and 0."),
        (lambda: 0.3, "failed: AttributeError: 'float' object"),
        (lambda: 1 / 0, "failed: ZeroDivisionError: division by zero"),
    ],
)
def test_an_estimator_of_ones_own_that_fails(answer: Callable[[], Any], said: str) -> None:
    class Strange(base.PriorEstimator):
        def _estimate(self, counts: pu.ScoreCounts) -> base.Inclusions:  # noqa: ARG002
            return answer()  # type: ignore[no-any-return]

    counts = pu.simulate.binormal(2).sample(200, 800, alpha=0.3, random_state=0).counts
    found = pu.compare_priors(counts, estimators=["bbe", Strange()], n_resamples=0)
    strange = next(row for row in found.rows if row.name != "bbe")
    assert strange.error.startswith("Strange")
    assert said in strange.error
    with pytest.raises(InvalidTypeError, match=r"Strange\._estimate must return Inclusions\(a\)"):
        Strange()._keep(0.3, ())  # type: ignore[arg-type]
    assert next(row for row in found.rows if row.name == "bbe").proportions is not None


@pytest.mark.parametrize("separation", [0.5, 6])
def test_what_the_data_hardly_tell_is_said(separation: float) -> None:
    s = pu.simulate.binormal(separation).sample(300, 3000, alpha=0.3, random_state=0)
    table = pu.compare_priors(s.scores, s.labeled, estimators=["reference"], n_resamples=0)
    assert ("hardly determine alpha and beta" in str(table)) == (separation < 1)
