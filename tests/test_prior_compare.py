"""Estimators side by side: each row is what the estimator says alone."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from purecover import MixtureProportions, PriorEstimate, evaluate, simulate
from purecover.counts import ScoreCounts
from purecover.estimators import compare as _compare
from purecover.estimators.base import Inclusions, PriorEstimator, prior_estimators
from purecover.estimators.bbe import BBE
from purecover.estimators.choice import check_estimator, tell_clean
from purecover.estimators.compare import (
    QUANTITIES,
    PriorComparison,
    PriorRow,
    compare_priors,
    estimator_names,
)
from purecover.estimators.roc_slope import RocSlope
from purecover.estimators.samples import size_notes
from purecover.estimators.wrappers import NoisyLabels
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError
from purecover.intervals.resampling import group_resampler

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

    def interval(self, **_: Any) -> Any:
        raise IdentifiabilityError("no replicate can be told apart.")


def noisy(name: str) -> PriorEstimator:
    return NoisyLabels(CLASSES[name]())


# -- what a row says --------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", PAIR)
def test_clean_labels_leave_alpha_alone(name: str) -> None:
    row = compare_priors(COUNTS, estimators=PAIR, beta=1, n_resamples=0)[name]
    assert row.proportions == CLASSES[name]().fit(COUNTS).proportions_
    assert row.proportions.beta == 1


def test_estimators_of_beta_are_told_that_labels_are_clean() -> None:
    two = {"both ways": NoisyLabels(BBE(), clean="never")}
    with_beta = compare_priors(COUNTS, estimators=two, n_resamples=0)["both ways"]
    without = compare_priors(COUNTS, estimators=two, beta=1, n_resamples=0)["both ways"]
    assert with_beta.proportions.beta < 1
    assert without.value("beta") == 1
    assert without.value("alpha") == pytest.approx(BBE().fit(COUNTS).proportions_.alpha)


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


def test_a_known_beta_is_told_in_the_text() -> None:
    found = compare_priors(COUNTS, estimators=PAIR, beta=0.9, n_resamples=0)
    text = str(found)
    assert text.splitlines()[0].endswith("; beta = 0.9 given")
    assert "beta - alpha" not in text
    assert found.to_dict()["beta"] == 0.9
    assert compare_priors(COUNTS, estimators=PAIR, n_resamples=0).to_dict()["beta"] is None


def test_a_known_beta_agrees_with_evaluate() -> None:
    for estimator in (BBE(), NoisyLabels(BBE())):
        found = compare_priors(COUNTS, estimators={"own": estimator}, beta=0.85, n_resamples=0)
        report = evaluate(COUNTS, estimator=estimator, beta=0.85, n_resamples=0)
        assert found["own"].proportions == report.proportions


def test_few_examples_and_few_resamples_are_noted() -> None:
    scores, labeled = np.arange(60.0), np.arange(60) >= 52
    few = compare_priors(scores, labeled, estimators=PAIR, n_resamples=39)
    assert len(few.notes) == 2
    assert "8 labeled examples say little" in few.notes[0]
    assert "39 resamples are rough" in few.notes[1]
    for note in few.notes:
        assert note in " ".join(str(few).split())
    # One page does not send to intervals that it warns of.
    assert "the estimate is rough, and so is its interval" in few["bbe"].notes[0]
    assert "read its interval" not in str(few)
    more = compare_priors(scores, np.arange(60) >= 50, estimators=["bbe"], n_resamples=0)
    assert "the estimate is rough, read its interval" in more["bbe"].notes[0]
    assert few.to_dict()["notes"] == list(few.notes)
    assert compare_priors(scores, labeled, estimators=PAIR, n_resamples=0).notes == ()
    assert compare_priors(COUNTS, estimators=["bbe"], n_resamples=40).notes == ()
    # Weights that add up to little are no few examples.
    light = np.full(SAMPLE.scores.size, 0.001)
    weighted = compare_priors(
        SAMPLE.scores, SAMPLE.labeled, sample_weight=light, estimators=["bbe"], n_resamples=40
    )
    assert weighted.notes == ()


def test_a_row_does_not_depend_on_the_others() -> None:
    several = compare_priors(COUNTS, estimators=[*PAIR, Says()], n_resamples=15)
    alone = compare_priors(COUNTS, estimators=["roc-slope"], n_resamples=15)
    assert several["roc-slope"].intervals == alone["roc-slope"].intervals


def test_randomness_from_a_generator() -> None:
    def ends(random_state: Any) -> list[float]:
        found = compare_priors(
            COUNTS, estimators=PAIR, n_resamples=15, random_state=random_state
        ).frame()
        return found["alpha_low"].tolist()

    assert ends(np.random.default_rng(3)) == ends(np.random.default_rng(3))
    assert ends(np.random.default_rng(3)) != ends(np.random.default_rng(4))
    assert len(ends(None)) == 2


def test_groups_are_resampled_together() -> None:
    groups = np.arange(SAMPLE.scores.size) // 30
    found = compare_priors(
        SAMPLE.scores, SAMPLE.labeled, groups=groups, estimators=["bbe"], n_resamples=20
    )["bbe"]
    resampler = group_resampler(SAMPLE.scores, SAMPLE.labeled, groups)
    alone = noisy("bbe").fit(COUNTS)
    assert found.intervals == alone.interval(n_resamples=20, resampler=resampler)
    assert "groups" in found.intervals["alpha"].method


# -- which rows -------------------------------------------------------------------------------


def test_all_estimators_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_compare, "default_estimator", lambda: NoisyLabels(Says(0.5)))
    found = compare_priors(COUNTS, n_resamples=0)
    names = [row.name for row in found]
    assert names[0] == "default"
    # Wrapped, alphamax is alphamax-n.
    expected = {n for n, cls in prior_estimators().items() if cls.takes == "scores"}
    assert set(names[1:]) == expected - {"noisy", "regrouping", "subsampling", "alphamax"}
    assert names[1:] == sorted(names[1:])
    assert found.default is found.rows[0]
    assert [row.is_default for row in found] == [True] + [False] * (len(names) - 1)
    assert found.default.value("alpha") == pytest.approx(0.5, abs=0.3)


def test_alphamax_run_both_ways_is_alphamax_n() -> None:
    found = compare_priors(COUNTS, estimators=["alphamax", "alphamax-n"], n_resamples=0)
    one, other = found
    assert one.value("alpha") == pytest.approx(other.value("alpha"), abs=1e-12)
    assert one.value("beta") == pytest.approx(other.value("beta"), abs=1e-12)


def test_one_sided_ones_by_default_where_labels_are_clean() -> None:
    names = {row.name for row in compare_priors(COUNTS, beta=1, n_resamples=0)}
    known = {n: cls for n, cls in prior_estimators().items() if cls.takes == "scores"}
    one_sided = {n for n, cls in known.items() if not cls().estimates_beta}
    one_sided -= {"regrouping", "subsampling"}  # which wrap another
    assert one_sided <= names
    assert len(names - one_sided) <= 1  # the default may estimate beta otherwise


def test_a_registered_default_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_compare, "default_estimator", BBE)
    for estimators in (None, ["default", "roc-slope"], ["bbe", "roc-slope"], [BBE(), RocSlope()]):
        found = compare_priors(COUNTS, estimators=estimators, n_resamples=0)
        assert found.default is found["bbe"]
    other = compare_priors(COUNTS, estimators=[BBE(error=0.2)], n_resamples=0)
    assert other.default is None  # of the same class, but set otherwise


def test_estimators_by_names_of_your_own() -> None:
    mine = {"few": Says(0.1), "many": Says(0.6)}
    found = compare_priors(COUNTS, estimators=mine, beta=1, n_resamples=0)
    assert [(row.name, row.value("alpha")) for row in found] == [("few", 0.1), ("many", 0.6)]
    assert not hasattr(mine["few"], "proportions_")  # a copy was fitted


def test_estimators_of_your_own_in_a_list() -> None:
    found = compare_priors(COUNTS, estimators=[Says(), "bbe", RocSlope()], n_resamples=0)
    assert [row.name for row in found] == ["Says", "bbe", "roc-slope"]


def test_names_known() -> None:
    assert estimator_names() == ["default", *prior_estimators()]


# -- what goes wrong --------------------------------------------------------------------------


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
        ("bbe", InvalidTypeError, r"write \['bbe'\]"),
        (["bbes"], InvalidInputError, "did you mean 'bbe'"),
        ([], InvalidInputError, "at least one"),
        (["bbe", "bbe"], InvalidInputError, "'bbe' twice"),
        (["bbe", BBE()], InvalidInputError, "pass a dict"),
        (BBE(), InvalidTypeError, "put it into a list"),
        ([BBE], InvalidTypeError, "'estimators' parameter of compare_priors"),
        ([3], InvalidTypeError, "'estimators' parameter of compare_priors"),
        ({"a": "bbe"}, InvalidTypeError, "PriorEstimator objects"),
        (3, InvalidTypeError, "'estimators' parameter of compare_priors"),
    ],
    ids=str,
)
def test_wrong_estimators(estimators: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        compare_priors(COUNTS, estimators=estimators, n_resamples=0)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"beta": 0}, r"'beta' parameter of compare_priors must be a number in \(0, 1\]"),
        ({"beta": 1.2}, "'beta' parameter of compare_priors"),
        ({"beta": True}, "'beta' parameter of compare_priors"),
        ({"confidence_level": 95}, "'confidence_level' parameter of compare_priors"),
        ({"n_resamples": -1}, "'n_resamples' parameter of compare_priors"),
        ({"random_state": "x"}, "'random_state' parameter of compare_priors"),
        ({"labeled": SAMPLE.labeled}, "takes no 'labeled' beside a ScoreCounts"),
        ({"groups": SAMPLE.labeled}, "takes no 'groups' beside a ScoreCounts"),
        ({"negative_label": 2}, "takes no 'negative_label' beside a ScoreCounts"),
    ],
)
def test_wrong_settings(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises((InvalidTypeError, InvalidInputError), match=says):
        compare_priors(COUNTS, **wrong)


def test_data_that_nobody_can_judge() -> None:
    with pytest.raises(InvalidTypeError, match="'labeled' parameter of compare_priors"):
        compare_priors(SAMPLE.scores)
    with pytest.raises(InvalidTypeError, match=r"ScoreCounts\.from_frame"):
        compare_priors(pd.DataFrame({"score": SAMPLE.scores}), SAMPLE.labeled)
    with pytest.raises(IdentifiabilityError, match="compare_priors needs scores that differ"):
        compare_priors(np.zeros(10), np.arange(10) < 4)
    with pytest.raises(InvalidInputError, match="'labeled' parameter of compare_priors"):
        compare_priors(np.arange(10.0), np.ones(10, dtype=bool))


# -- ways in ----------------------------------------------------------------------------------


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


def test_progress() -> None:
    seen: list[tuple[int, int]] = []
    compare_priors(
        COUNTS,
        estimators=PAIR,
        n_resamples=0,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(0, 2), (1, 2), (2, 2)]


# -- ways out ---------------------------------------------------------------------------------


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
    numbers = [float(word) for word in lines[3].split()[1:] if word != "-"]
    expected = [number for q in QUANTITIES for number in (row.value(q), *row.ends(q))]
    np.testing.assert_allclose(numbers[:-1], expected, atol=5e-5)
    assert max(map(len, lines)) <= 100
    assert f"differ by {found.spread['alpha']:.4f}" in str(found)


def test_the_text_of_clean_labels_speaks_of_alpha_only() -> None:
    text = str(compare_priors(COUNTS, estimators=PAIR, beta=1, n_resamples=0))
    assert text.splitlines()[2].split() == ["alpha", "seconds"]
    assert "beta" not in text


def test_the_default_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_compare, "default_estimator", BBE)
    text = str(compare_priors(COUNTS, estimators=PAIR, n_resamples=0))
    assert "* bbe " in text
    assert "* the default estimator" in text
    assert "  roc-slope " in text


def test_equal_notes_are_said_once() -> None:
    rows = tuple(
        PriorRow(name=name, proportions=None, error="nothing to see.\nHint: none") for name in "ab"
    )
    text = str(PriorComparison(rows=rows, n_labeled=1, n_unlabeled=2, n_thresholds=3))
    assert text.count("nothing to see.") == 1
    assert "a, b: nothing to see." in text
    assert "no estimator finds alpha and beta" in text


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


def test_rows_by_name_and_in_order(found: PriorComparison) -> None:
    assert len(found) == 3
    assert found["bbe"] is next(iter(found))
    with pytest.raises(KeyError, match="the rows are bbe, Says, roc-slope"):
        found["dedpul"]
    assert repr(found) == "PriorComparison(2 of 3 estimates: bbe, Says, roc-slope)"


def test_results_are_read_only(found: PriorComparison) -> None:
    with pytest.raises(TypeError):
        found["bbe"].intervals["alpha"] = None  # type: ignore[index]
    with pytest.raises(AttributeError):
        found.rows = ()  # type: ignore[misc]


def test_disagreement_is_the_largest_difference_in_either_share():
    estimate = PriorEstimate(
        estimator="one",
        proportions=MixtureProportions(0.2, 0.9),
        spread={"one": (0.2, 0.9), "other": (0.3, 0.6), "third": (0.25, 0.8)},
    )
    assert estimate.disagreement == pytest.approx(0.3)
    assert estimate.others == {"other": (0.3, 0.6), "third": (0.25, 0.8)}
    clean = {"one": (0.2, 1.0), "other": (0.3, 1.0)}
    assert replace(estimate, spread=clean).disagreement == pytest.approx(0.1)
    assert replace(estimate, spread={}).disagreement == 0


# -- the estimator that a caller asks for ---------------------------------------------------------


def test_an_estimator_by_name_by_example_or_by_default() -> None:
    assert repr(check_estimator(None)) == repr(check_estimator("default"))
    assert repr(check_estimator(None)) == "LabelCurve()"
    assert repr(check_estimator("bbe")) == "NoisyLabels(estimator=BBE())"
    assert repr(check_estimator("alphamax-n")) == "AlphaMaxN()"
    own = BBE(error=0.2)
    taken = check_estimator(own)
    assert repr(taken) == "BBE(error=0.2)"
    assert taken is not own


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (
            "bbbe",
            InvalidInputError,
            r"'asked' parameter of [\w.]+ must be one of 'default'.*'bbe'\?",
        ),
        (BBE, InvalidTypeError, r"'asked' parameter of [\w.]+ must be an.*make one first: BBE\(\)"),
        (3, InvalidTypeError, r"'asked' parameter of [\w.]+.*those of prior_estimators\(\)"),
    ],
    ids=["a typing error", "a class", "a number"],
)
def test_what_is_no_estimator(value: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=f"(?s){words}"):
        check_estimator(value, "asked")


@pytest.mark.parametrize(("beta", "clean"), [(1, "always"), (0.9, "test"), (None, "test")])
def test_those_who_ask_whether_labels_are_clean_are_told(beta: float | None, clean: str) -> None:
    asks, does_not = check_estimator("alphamax-n"), BBE()
    tell_clean(asks, beta)
    tell_clean(does_not, beta)
    assert asks.get_params()["clean"] == clean
    assert repr(does_not) == "BBE()"


def test_scores_alone_have_no_note_on_features() -> None:
    sample = simulate.binormal().sample(60, 200, alpha=0.3, random_state=0)
    found = compare_priors(sample.scores, sample.labeled, estimators=["bbe"])
    assert found.notes == ()
    X = np.column_stack((sample.scores, sample.scores**2))
    found = compare_priors(labeled=sample.labeled, features=X, estimators=["tice"])
    assert found.notes == (_compare.NO_FEATURE_INTERVALS,)


@pytest.mark.parametrize(("n", "speaks"), [((50, 100), False), ((49, 100), True), ((50, 99), True)])
def test_how_many_are_few(n: tuple[int, int], speaks: bool) -> None:
    assert bool(size_notes(*n)) == speaks
