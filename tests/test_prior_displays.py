"""Displays of estimates of alpha and beta: the pictures hold the numbers they should."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.linear_model import LogisticRegression

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.displays import AlphaMaxDisplay, PriorsDisplay
from purecover.displays.base import BLUE, GREEN, VERMILLION, Display
from purecover.estimators import compare as _compare
from purecover.estimators.alphamax import AlphaMax, AlphaMaxN
from purecover.estimators.base import Inclusions, PriorEstimator
from purecover.estimators.bbe import BBE
from purecover.estimators.compare import QUANTITIES, PriorComparison, PriorRow, compare_priors
from purecover.estimators.samples import flipped_counts
from purecover.exceptions import (
    IdentifiabilityError,
    InvalidInputError,
    InvalidTypeError,
    MissingDependencyError,
)
from purecover.proportions import MixtureProportions

SAMPLE = simulate.binormal(3.0).sample(200, 1000, alpha=0.3, beta=0.85, random_state=0)
COUNTS = SAMPLE.counts


@pytest.fixture(autouse=True)
def _agg():
    with mpl.rc_context({"backend": "Agg"}):
        yield
    plt.close("all")


class Silent(PriorEstimator):
    """Finds nothing."""

    def _estimate(self, counts: ScoreCounts) -> Inclusions:  # noqa: ARG002
        raise IdentifiabilityError("Silent finds nothing.")


CURVE = AlphaMax().fit(COUNTS).curve_
FOUND = compare_priors(COUNTS, estimators=["bbe", Silent(), "roc-slope"], n_resamples=15)
CLEAN = compare_priors(COUNTS, estimators=["bbe", "roc-slope"], beta=1, n_resamples=0)
MAKERS: dict[str, Any] = {
    "alphamax": lambda **more: AlphaMaxDisplay(CURVE, **more),
    "alphamax with heuristic": lambda **more: AlphaMaxDisplay(CURVE, heuristic=True, **more),
    "priors": lambda **more: PriorsDisplay(FOUND, **more),
    "priors of clean labels": lambda **more: PriorsDisplay(CLEAN, **more),
    "priors, two quantities": lambda **more: PriorsDisplay(
        FOUND, quantities=["delta", "alpha"], **more
    ),
}
all_makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
both = pytest.mark.parametrize("cls", [AlphaMaxDisplay, PriorsDisplay])
FAST = {AlphaMaxDisplay: {}, PriorsDisplay: {"estimators": ["bbe"], "n_resamples": 5}}


def xy(line: Any) -> np.ndarray:
    return np.column_stack([line.get_xdata(), line.get_ydata()]).astype(float)


# -- what all displays promise ----------------------------------------------------------------


@all_makers
def test_plot_returns_itself_and_keeps_axes_and_figure(make) -> None:
    display = make()
    assert display.plot() is display
    assert isinstance(display.ax_, mpl.axes.Axes)
    assert display.figure_ is display.ax_.figure
    assert plt.get_fignums() == [display.figure_.number]


@all_makers
def test_plot_draws_into_the_axes_given(make) -> None:
    figure, axes = plt.subplots(1, 2)
    display = make().plot(axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert not axes[0].has_data()
    assert len(plt.get_fignums()) == 1


@all_makers
def test_the_table_needs_no_picture(make) -> None:
    before, after = make(), make().plot()
    for name, column in after.frame().items():
        np.testing.assert_array_equal(before.frame()[name], column)
    assert len({len(column) for column in after.frame().values()}) == 1


@all_makers
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_the_table_as_a_data_frame(make, backend: str) -> None:
    table, frame = make().frame(), make().frame(backend)
    assert type(frame).__module__.partition(".")[0] == backend
    for name, column in table.items():
        np.testing.assert_array_equal(np.asarray(frame[name]), column)


@all_makers
def test_the_picture_can_be_saved(make, tmp_path) -> None:
    make().plot().figure_.savefig(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").stat().st_size > 5000


@all_makers
def test_nothing_sticks_out_of_the_figure(make) -> None:
    figure = make(name="a title").plot().figure_
    figure.canvas.draw()
    tight = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert tight.x0 >= 0
    assert tight.y0 >= 0
    assert tight.x1 <= width
    assert tight.y1 <= height


@all_makers
def test_axes_are_labeled(make) -> None:
    ax = make().plot().ax_
    assert ax.get_xlabel()
    assert ax.get_ylabel()


@all_makers
def test_despine(make) -> None:
    assert make().plot().ax_.spines["top"].get_visible()
    assert not make().plot(despine=True).ax_.spines["top"].get_visible()


@all_makers
def test_name_is_the_title(make) -> None:
    assert make(name="forest").plot().ax_.get_title() == "forest"
    assert make().plot(name="forest").ax_.get_title() == "forest"
    assert "forest" in repr(make(name="forest"))
    assert type(make()).__name__ in repr(make())


@all_makers
def test_without_matplotlib_the_extra_is_named(make, monkeypatch) -> None:
    display = make()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'purecover\[plot\]'"):
        display.plot()
    assert display.frame()


@all_makers
def test_wrong_axes(make) -> None:
    figure, axes = plt.subplots(1, 2)
    for wrong in (figure, axes, "ax", 3):
        with pytest.raises(InvalidTypeError, match=r"'ax' parameter of \w+\.plot"):
            make().plot(wrong)


@both
def test_wrong_result(cls: type[Display]) -> None:
    parameter = {AlphaMaxDisplay: "curve", PriorsDisplay: "comparison"}[cls]
    for wrong in (None, COUNTS, [1, 2], "roc"):
        with pytest.raises(
            InvalidTypeError, match=f"The '{parameter}' parameter of {cls.__name__}"
        ):
            cls(wrong)


# -- ways in ----------------------------------------------------------------------------------


@both
def test_from_predictions(cls: type[Display]) -> None:
    display = cls.from_predictions(SAMPLE.scores, SAMPLE.labeled, **FAST[cls])
    assert type(display) is cls
    assert display.ax_.has_data()
    words = np.where(SAMPLE.labeled, "a", "b")
    others = [
        cls.from_predictions(COUNTS, **FAST[cls]),
        cls.from_predictions(SAMPLE.scores, words, positive_label="a", **FAST[cls]),
    ]
    for other in others:
        for name, column in display.frame().items():
            np.testing.assert_array_equal(other.frame()[name], column)


@both
def test_from_predictions_draws_into_axes_and_passes_options_on(cls: type[Display]) -> None:
    _, ax = plt.subplots()
    display = cls.from_predictions(COUNTS, ax=ax, name="forest", despine=True, **FAST[cls])
    assert display.ax_ is ax
    assert display.name == "forest"
    assert not ax.spines["top"].get_visible()


@both
def test_from_predictions_refuses_half_a_story(cls: type[Display]) -> None:
    function = rf"{cls.__name__}\.from_predictions"
    with pytest.raises(InvalidTypeError, match=f"'labeled' parameter of {function}"):
        cls.from_predictions(SAMPLE.scores)
    with pytest.raises(InvalidInputError, match="beside a ScoreCounts"):
        cls.from_predictions(COUNTS, SAMPLE.labeled)
    with pytest.raises(InvalidTypeError, match=f"{function} has no parameter 'alpha'"):
        cls.from_predictions(COUNTS, alpha=0.3)


@both
def test_from_estimator(cls: type[Display]) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([SAMPLE.scores, rng.normal(size=SAMPLE.scores.size)])
    model = LogisticRegression().fit(X, SAMPLE.labeled)
    display = cls.from_estimator(model, X, SAMPLE.labeled, **FAST[cls])
    scores = model.predict_proba(X)[:, 1]
    expected = cls.from_predictions(scores, SAMPLE.labeled, **FAST[cls])
    for name, column in expected.frame().items():
        np.testing.assert_array_equal(display.frame()[name], column)
    assert display.ax_.get_title() == "LogisticRegression"
    with pytest.raises(InvalidTypeError, match=r"from_estimator has no parameter 'alpha'"):
        cls.from_estimator(model, X, SAMPLE.labeled, alpha=0.3)
    with pytest.raises(InvalidInputError, match="'estimator'"):
        cls.from_estimator(LogisticRegression(), X, SAMPLE.labeled)


def test_displays_need_no_scikit_learn() -> None:
    code = (
        "import sys; import purecover.displays\n"
        "assert not {'sklearn', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# -- AlphaMax ---------------------------------------------------------------------------------


def test_the_curve_is_that_of_the_estimator() -> None:
    display = AlphaMaxDisplay(CURVE, heuristic=True).plot()
    x = CURVE.inclusion
    np.testing.assert_array_equal(xy(display.line_), np.column_stack([x, CURVE.corrected]))
    np.testing.assert_array_equal(xy(display.heuristic_), np.column_stack([x, CURVE.heuristic]))
    table = display.frame()
    assert list(table) == ["inclusion", "log_likelihood", "corrected", "heuristic"]
    np.testing.assert_array_equal(table["corrected"], CURVE.corrected)
    assert "heuristic" not in AlphaMaxDisplay(CURVE).frame()


def test_the_curve_as_computed_is_drawn_where_it_differs() -> None:
    same = AlphaMaxDisplay(CURVE).plot()
    assert same.raw_ is None
    texts = [text.get_text() for text in same.ax_.get_legend().get_texts()]
    assert texts[0] == "log-likelihood"
    assert "as computed" not in texts
    bumpy = CURVE.log_likelihood + 0.1 * np.sin(30 * CURVE.inclusion)
    smooth = np.maximum.accumulate(bumpy[::-1])[::-1]
    other = AlphaMaxDisplay(replace(CURVE, log_likelihood=bumpy, corrected=smooth)).plot()
    assert other.raw_ is not None
    np.testing.assert_array_equal(xy(other.raw_), np.column_stack([CURVE.inclusion, bumpy]))
    assert other.raw_.get_zorder() < other.line_.get_zorder()
    assert other.raw_.get_linewidth() > other.line_.get_linewidth()
    texts = [text.get_text() for text in other.ax_.get_legend().get_texts()]
    assert texts[:2] == ["corrected", "as computed"]


def test_fitted_estimators_are_taken() -> None:
    fitted = AlphaMax().fit(COUNTS)
    display = AlphaMaxDisplay(fitted).plot()
    assert display.curve is fitted.curve_
    assert display.ax_.get_xlabel().startswith("Assumed alpha\n(share of the labeled density")
    noisy = AlphaMaxN(clean="never").fit(COUNTS)
    assert AlphaMaxDisplay(noisy).curve is noisy.curve_
    assert AlphaMaxDisplay(noisy).plot().ax_.get_xlabel().startswith("Assumed alpha / beta\n")
    other = AlphaMaxDisplay(noisy, flipped=True).plot()
    assert other.curve is noisy.curve_flipped_
    assert "unlabeled density inside the labeled" in other.ax_.get_xlabel()


def test_estimators_without_a_curve_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="must be fitted, got AlphaMax"):
        AlphaMaxDisplay(AlphaMax())
    for one_way in (AlphaMax(), AlphaMaxN(clean="always")):
        with pytest.raises(InvalidInputError, match="run both ways for a flipped curve"):
            AlphaMaxDisplay(one_way.fit(COUNTS), flipped=True)
    for other in (BBE().fit(COUNTS), 3):
        with pytest.raises(InvalidTypeError, match="must be a fitted AlphaMax or AlphaMaxN, or"):
            AlphaMaxDisplay(other)  # type: ignore[arg-type]
    with pytest.raises(InvalidTypeError, match="must be an AlphaMax,"):
        AlphaMaxDisplay.from_predictions(COUNTS, estimator=BBE())  # type: ignore[arg-type]


def test_the_elbow_is_the_estimate() -> None:
    fitted = AlphaMax().fit(COUNTS)
    display = AlphaMaxDisplay(fitted.curve_).plot()
    assert display.elbow_.get_xdata()[0] == pytest.approx(fitted.proportions_.alpha)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"elbow at {fitted.proportions_.alpha:.3g}" in texts
    assert display.heuristic_ is None
    assert display.heuristic_ax_ is None


def test_settings_of_alphamax() -> None:
    estimator = AlphaMax(elbow="released")
    display = AlphaMaxDisplay.from_predictions(COUNTS, estimator=estimator)
    expected = AlphaMax(elbow="released").fit(COUNTS).curve_
    assert display.curve.elbow == expected.elbow
    assert not hasattr(estimator, "curve_")
    with pytest.raises(InvalidTypeError, match="'estimator' parameter"):
        AlphaMaxDisplay.from_predictions(COUNTS, estimator=BBE())


def test_the_flipped_curve() -> None:
    display = AlphaMaxDisplay.from_predictions(COUNTS, flipped=True)
    expected = AlphaMax().fit(flipped_counts(COUNTS)).curve_
    np.testing.assert_array_equal(display.curve.log_likelihood, expected.log_likelihood)
    with pytest.raises(InvalidTypeError, match="'flipped' parameter"):
        AlphaMaxDisplay.from_predictions(COUNTS, flipped="yes")
    with pytest.raises(InvalidTypeError, match="'heuristic' parameter"):
        AlphaMaxDisplay(CURVE, heuristic="yes")


@pytest.mark.parametrize("alphas", [(0.4, 0.41), (0.0, 0.01), (0.97, 0.98), (0.2, 0.9), (0.3,)])
def test_small_differences_look_small(alphas: tuple[float, ...]) -> None:
    rows = tuple(
        PriorRow(name=str(alpha), proportions=MixtureProportions(alpha)) for alpha in alphas
    )
    found = PriorComparison(rows=rows, n_labeled=9, n_unlabeled=9, n_thresholds=9, beta=1.0)
    low, high = PriorsDisplay(found).plot().ax_.get_xlim()
    assert high - low >= 0.3 - 1e-9
    assert -0.021 <= low < min(alphas)
    assert max(alphas) < high <= 1.021


# -- all estimators ---------------------------------------------------------------------------


def test_points_and_intervals_are_those_of_the_rows() -> None:
    display = PriorsDisplay(FOUND).plot()
    table = display.frame()
    for quantity in QUANTITIES:
        values = [row.value(quantity) for row in FOUND]
        np.testing.assert_array_equal(display.points_[quantity].get_xdata(), values)
        segments = np.array(display.intervals_[quantity].get_segments())
        ends = [row.ends(quantity) for row in FOUND if row.intervals]
        np.testing.assert_array_equal(segments[:, :, 0], ends)
        ours = table["quantity"] == quantity
        np.testing.assert_array_equal(table["value"][ours], values)
        np.testing.assert_array_equal(table["low"][ours], [r.ends(quantity)[0] for r in FOUND])
        assert table["estimator"][ours].tolist() == [row.name for row in FOUND]


def test_marks_stand_in_the_row_of_their_estimator() -> None:
    display = PriorsDisplay(FOUND).plot()
    heights = np.array([display.points_[quantity].get_ydata() for quantity in QUANTITIES])
    np.testing.assert_array_equal(np.round(heights), np.tile([0, 1, 2], (3, 1)))
    assert (np.diff(heights, axis=0) > 0).all()  # downward: alpha, beta, delta
    low, high = display.ax_.get_ylim()
    assert (low, high) == (2.5, -0.5)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == ["bbe", "Silent", "roc-slope"]


def test_quantities_differ_in_color_and_mark() -> None:
    points = PriorsDisplay(FOUND).plot().points_
    assert [to_hex(line.get_color()).upper() for line in points.values()] == [
        BLUE, VERMILLION, GREEN,
    ]  # fmt: skip
    assert len({line.get_marker() for line in points.values()}) == 3


def test_who_has_no_estimate_is_shown() -> None:
    display = PriorsDisplay(FOUND).plot()
    (text,) = [each for each in display.ax_.texts if each.get_text() == "no estimate"]
    assert text.get_position()[1] == 1


def test_the_default_is_highlighted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_compare, "default_estimator", BBE)
    found = compare_priors(COUNTS, estimators=["bbe", "roc-slope"], n_resamples=0)
    display = PriorsDisplay(found).plot()
    labels = display.ax_.get_yticklabels()
    assert labels[0].get_text() == "bbe (default)"
    assert [label.get_fontweight() for label in labels] == ["bold", "normal"]
    for quantity, line in display.default_.items():
        assert line.get_xdata()[0] == found["bbe"].value(quantity)
    assert not display.intervals_
    assert not PriorsDisplay(FOUND).plot().default_


def test_clean_labels_show_alpha_alone() -> None:
    display = PriorsDisplay(CLEAN).plot()
    assert display.quantities == ("alpha",)
    assert display.ax_.get_legend() is None
    assert r"$\alpha$" in display.ax_.get_xlabel()


def test_quantities_asked_for() -> None:
    display = PriorsDisplay(FOUND, quantities=["beta"]).plot()
    assert list(display.points_) == ["beta"]
    assert set(display.frame()["quantity"]) == {"beta"}
    with pytest.raises(InvalidInputError, match="'quantities' parameter of PriorsDisplay"):
        PriorsDisplay(FOUND, quantities=["gamma"])
    with pytest.raises(InvalidInputError, match="at least one name"):
        PriorsDisplay(FOUND, quantities=[])


def test_looks_can_be_changed() -> None:
    display = PriorsDisplay(FOUND).plot(
        point_kwargs={"c": "black"}, interval_kwargs={"linewidth": 5}
    )
    assert all(line.get_color() == "black" for line in display.points_.values())
    assert display.intervals_["alpha"].get_linewidth() == [5]
    display = AlphaMaxDisplay(CURVE).plot(curve_kwargs={"lw": 4}, elbow_kwargs={"ls": ":"})
    assert display.line_.get_linewidth() == 4
    assert display.elbow_.get_linestyle() == ":"
