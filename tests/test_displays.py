"""Displays: the pictures hold the numbers they should, and the tables hold the pictures."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.displays import (
    ErrorMapDisplay,
    RecoveredPrDisplay,
    RecoveredRocDisplay,
    SensitivityDisplay,
    ThresholdDisplay,
)
from purecover.displays.base import LIMITS, OBSERVED, Display, thinned
from purecover.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    MissingDependencyError,
    PurecoverError,
)
from purecover.intervals.interval import CurveBand
from purecover.proportions import MixtureProportions
from purecover.recovery.maps import auc_sensitivity, error_map, error_maps, sensitivity
from purecover.recovery.metrics import recover_metrics
from purecover.recovery.pr import precision_of, recover_pr, refine_pr
from purecover.recovery.roc import recover_roc
from purecover.recovery.thresholds import choose_threshold, recover_metric_curves

ALPHA, BETA = 0.25, 0.9
PROPORTIONS = MixtureProportions(ALPHA, BETA)
SAMPLE = simulate.binormal(1.5).sample(60, 240, alpha=ALPHA, beta=BETA, random_state=0)
COUNTS = SAMPLE.counts
GRID = np.linspace(0, 1, 11)
BAND = CurveBand(
    x=GRID,
    estimate=GRID.copy(),
    low=GRID / 2,
    high=np.sqrt(GRID),
    confidence_level=0.9,
    kind="pointwise",
)


@pytest.fixture(autouse=True)
def _agg():
    with mpl.rc_context({"backend": "Agg"}):
        yield
    plt.close("all")


@dataclass(frozen=True)
class Case:
    """One display, how to make it, and what it has drawn."""

    cls: type[Display]
    result: Any
    parameter: str
    options: dict[str, Any]

    def make(self, **more: Any) -> Any:
        return self.cls(self.result, **self.options, **more)


def make_cases() -> dict[str, Case]:
    curves = recover_metric_curves(COUNTS, PROPORTIONS)
    choice = choose_threshold(COUNTS, PROPORTIONS, "f1")
    roc, pr = recover_roc(COUNTS, PROPORTIONS), recover_pr(COUNTS, PROPORTIONS)
    steps = recover_pr(COUNTS, PROPORTIONS, area="average-precision")
    few = np.linspace(0, 0.4, 5)
    precision = sensitivity(COUNTS, "precision", alphas=few, betas=few + 0.6)
    clean = auc_sensitivity(COUNTS, betas=1.0)
    return {
        "roc": Case(RecoveredRocDisplay, roc, "roc", {}),
        "roc with band": Case(RecoveredRocDisplay, roc, "roc", {"band": BAND}),
        "pr": Case(RecoveredPrDisplay, pr, "pr", {}),
        "pr with band": Case(RecoveredPrDisplay, pr, "pr", {"band": BAND}),
        "pr in steps": Case(RecoveredPrDisplay, steps, "pr", {}),
        "threshold": Case(ThresholdDisplay, curves, "curves", {}),
        "threshold chosen": Case(ThresholdDisplay, curves, "curves", {"choice": choice}),
        "threshold flagged": Case(
            ThresholdDisplay, curves, "curves", {"choice": 0.5, "against": "flagged"}
        ),
        "sensitivity": Case(
            SensitivityDisplay, auc_sensitivity(COUNTS), "grid", {"mark": PROPORTIONS}
        ),
        "sensitivity of precision": Case(SensitivityDisplay, precision, "grid", {}),
        "sensitivity curve": Case(SensitivityDisplay, clean, "grid", {"mark": PROPORTIONS}),
        "error map": Case(ErrorMapDisplay, error_map(ALPHA, BETA, 0.85), "error_map", {}),
    }


CASES = make_cases()
CLASSES = sorted({case.cls for case in CASES.values()}, key=lambda cls: cls.__name__)
all_cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
all_classes = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


def xy(line: Any) -> np.ndarray:
    return np.column_stack([line.get_xdata(), line.get_ydata()]).astype(float)


def drawn(display: Any) -> np.ndarray:
    """The numbers in the picture, read back from the artists, in the order of the table."""
    if isinstance(display, (RecoveredRocDisplay, RecoveredPrDisplay)):
        parts = [xy(display.observed_), xy(display.line_), xy(display.chance_level_)]
        if display.band_ is not None:
            path = display.band_.get_paths()[0].vertices
            n = display.band.x.size
            # The outline: a start, the lower edge, a turn, the upper edge backward, the end.
            parts += [path[1 : n + 1], path[n + 2 : 2 * n + 2][::-1]]
        return np.concatenate(parts)
    if isinstance(display, ThresholdDisplay):
        parts = [xy(line) for line in display.lines_.values()]
        if display.choice_points_ is not None:
            parts.append(np.ma.getdata(display.choice_points_.get_offsets()))
        return np.concatenate(parts)
    if display.mesh_ is not None:
        return np.ma.filled(display.mesh_.get_array().T.astype(float), np.nan).reshape(-1, 1)
    return np.column_stack([display.line_.get_ydata(), display.observed_.get_ydata()])


def tabled(display: Any) -> np.ndarray:
    """The same numbers from the table."""
    table = display.frame()
    skip = {"curve", "metric", "chosen", "infeasible"}
    if isinstance(display, (SensitivityDisplay, ErrorMapDisplay)):
        skip |= {"alpha", "beta"}
    return np.column_stack([column for name, column in table.items() if name not in skip])


# -- one suite for all displays -----------------------------------------------------------


@all_cases
def test_plot_returns_itself_and_keeps_axes_and_figure(case: Case) -> None:
    display = case.make()
    assert display.plot() is display
    assert isinstance(display.ax_, mpl.axes.Axes)
    assert display.figure_ is display.ax_.figure
    assert plt.get_fignums() == [display.figure_.number]


@all_cases
def test_plot_draws_into_the_axes_given(case: Case) -> None:
    figure, axes = plt.subplots(1, 2)
    display = case.make().plot(axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert not axes[0].has_data()
    assert len(plt.get_fignums()) == 1


@all_cases
def test_the_table_is_the_picture(case: Case) -> None:
    display = case.make().plot()
    np.testing.assert_array_equal(tabled(display), drawn(display))


@all_cases
def test_the_table_needs_no_picture(case: Case) -> None:
    before, after = case.make(), case.make().plot()
    for name, column in after.frame().items():
        np.testing.assert_array_equal(before.frame()[name], column)
    assert len({len(column) for column in after.frame().values()}) == 1


@all_cases
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_the_table_as_a_data_frame(case: Case, backend: str) -> None:
    display = case.make()
    table, frame = display.frame(), display.frame(backend)
    assert type(frame).__module__.partition(".")[0] == backend
    assert list(getattr(frame, "column_names", frame.columns)) == list(table)
    np.testing.assert_array_equal(
        np.asarray(frame["value" if "value" in table else [*table][-1]]),
        table["value" if "value" in table else [*table][-1]],
    )


@all_cases
def test_drawing_twice_gives_the_same_picture(case: Case) -> None:
    display = case.make()
    first = drawn(display.plot())
    np.testing.assert_array_equal(drawn(display.plot()), first)


@all_cases
def test_the_picture_can_be_saved(case: Case, tmp_path) -> None:
    display = case.make().plot()
    display.figure_.savefig(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").stat().st_size > 5000


@all_cases
def test_nothing_sticks_out_of_the_figure(case: Case) -> None:
    display = case.make().plot()
    display.figure_.canvas.draw()
    tight = display.figure_.get_tightbbox()
    width, height = display.figure_.get_size_inches()
    assert tight.x0 >= 0
    assert tight.y0 >= 0
    assert tight.x1 <= width
    assert tight.y1 <= height


@all_cases
def test_axes_are_labeled(case: Case) -> None:
    ax = case.make().plot().ax_
    assert ax.get_xlabel()
    assert ax.get_ylabel()


@all_cases
def test_despine(case: Case) -> None:
    spines = case.make().plot().ax_.spines
    assert spines["top"].get_visible()
    spines = case.make().plot(despine=True).ax_.spines
    assert [spines[s].get_visible() for s in ("top", "right", "left")] == [False, False, True]


@all_cases
def test_name_is_shown(case: Case) -> None:
    for display in (case.make(name="forest").plot(), case.make().plot(name="forest")):
        legend = display.ax_.get_legend()
        words = [display.ax_.get_title()]
        words += [text.get_text() for text in legend.get_texts()] if legend else []
        assert any("forest" in word for word in words)
    assert "forest" in repr(case.make(name="forest"))
    assert case.cls.__name__ in repr(case.make())


@all_cases
def test_without_matplotlib_the_extra_is_named(case: Case, monkeypatch) -> None:
    display = case.make()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingDependencyError) as caught:
        display.plot()
    message = str(caught.value)
    assert message.startswith(f"{case.cls.__name__}.plot needs the package 'matplotlib'")
    assert "pip install 'purecover[plot]'" in message
    assert display.frame()  # numbers need no matplotlib


@all_cases
def test_wrong_axes(case: Case) -> None:
    figure, axes = plt.subplots(1, 2)
    for wrong in (figure, axes, "ax", 3):
        with pytest.raises(InvalidTypeError, match=r"'ax' parameter of \w+\.plot"):
            case.make().plot(wrong)


@all_cases
def test_wrong_result(case: Case) -> None:
    pattern = f"The '{case.parameter}' parameter of {case.cls.__name__} must be an? "
    for wrong in (None, COUNTS, [1, 2], "roc"):
        with pytest.raises(InvalidTypeError, match=pattern):
            case.cls(wrong)


@all_classes
def test_from_predictions(cls: type[Display]) -> None:
    display = cls.from_predictions(SAMPLE.scores, SAMPLE.labeled, alpha=ALPHA, beta=BETA)
    assert type(display) is cls
    assert display.ax_.has_data()
    others = [
        cls.from_predictions(COUNTS, alpha=ALPHA, beta=BETA),
        cls.from_predictions(COUNTS, proportions=PROPORTIONS),
        cls.from_predictions(
            SAMPLE.scores, SAMPLE.labeled, proportions=PROPORTIONS,
            sample_weight=np.ones(SAMPLE.scores.size),
        ),
    ]  # fmt: skip
    for other in others:
        for name, column in display.frame().items():
            if column.dtype.kind == "f":
                np.testing.assert_allclose(other.frame()[name], column, atol=1e-12)


@all_classes
def test_from_predictions_draws_into_axes_and_passes_options_on(cls: type[Display]) -> None:
    _, ax = plt.subplots()
    display = cls.from_predictions(
        COUNTS, proportions=PROPORTIONS, ax=ax, name="forest", despine=True
    )
    assert display.ax_ is ax
    assert display.name == "forest"
    assert not ax.spines["top"].get_visible()


@all_classes
def test_from_predictions_refuses_half_a_story(cls: type[Display]) -> None:
    with pytest.raises(
        InvalidInputError, match=rf"^{cls.__name__}\.from_predictions needs exactly"
    ):
        cls.from_predictions(SAMPLE.scores, SAMPLE.labeled)
    with pytest.raises(InvalidTypeError, match="'labeled'"):
        cls.from_predictions(SAMPLE.scores, alpha=ALPHA)
    with pytest.raises(InvalidInputError, match="beside a ScoreCounts"):
        cls.from_predictions(COUNTS, SAMPLE.labeled, alpha=ALPHA)
    with pytest.raises(InvalidInputError, match="beside a ScoreCounts"):
        cls.from_predictions(COUNTS, positive_label=1, alpha=ALPHA)
    with pytest.raises(InvalidInputError, match=r"exactly one of .* got 'alpha' and 'proportions'"):
        cls.from_predictions(COUNTS, alpha=ALPHA, proportions=PROPORTIONS)
    with pytest.raises(InvalidTypeError, match="'proportions'"):
        cls.from_predictions(COUNTS, proportions=(ALPHA, BETA))


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X = np.column_stack([SAMPLE.scores, rng.normal(size=SAMPLE.scores.size)])
    return X, np.asarray(SAMPLE.labeled)


@all_classes
def test_from_estimator_scores_the_rows(cls: type[Display], rows) -> None:
    X, labeled = rows
    model = LogisticRegression().fit(X, labeled)
    display = cls.from_estimator(model, X, labeled, alpha=ALPHA, beta=BETA)
    assert display.name == "LogisticRegression"
    other = cls.from_predictions(
        model.predict_proba(X)[:, 1], labeled, alpha=ALPHA, beta=BETA, name="other"
    )
    for name, column in display.frame().items():
        np.testing.assert_array_equal(other.frame()[name], column)


def test_from_estimator_takes_what_the_estimator_has(rows) -> None:
    X, labeled = rows
    margin = LinearSVC().fit(X, labeled)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, labeled)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2).fit(X, labeled)
    draw = RecoveredRocDisplay.from_estimator
    for model, method, scores in [
        (margin, "auto", margin.decision_function(X)),
        (pipeline, "auto", pipeline.predict_proba(X)[:, 1]),
        (pipeline, "decision_function", pipeline.decision_function(X)),
        (search, "predict_proba", search.predict_proba(X)[:, 1]),
    ]:
        display = draw(model, X, labeled, alpha=ALPHA, response_method=method, name="m")
        expected = recover_roc(ScoreCounts.from_scores(scores, labeled), MixtureProportions(ALPHA))
        np.testing.assert_array_equal(display.roc.tpr, expected.tpr)
        assert display.line_.get_label().startswith("m: recovered (AUC ")


# How the label column can say labeled and unlabeled; scikit-learn sorts some of them the wrong way.
SPELLINGS = {
    "positive/unlabeled": ("positive", "unlabeled", None),
    "labeled/unlabeled": ("labeled", "unlabeled", None),
    "P/U": ("P", "U", None),
    "pos/unknown": ("pos", "unknown", None),
    "yes/no": ("yes", "no", None),
    "booleans": (True, False, None),
    "1/0": (1, 0, None),
    "1/-1": (1, -1, None),
    "1/2": (1, 2, 1),
    "2/1": (2, 1, 2),
    "a/b": ("a", "b", "a"),
}
all_spellings = pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)


def assert_drawn_from(display: Any, scores: np.ndarray, labeled: np.ndarray) -> None:
    assert np.corrcoef(scores, labeled)[0, 1] > 0.3  # the right way up, or the test shows nothing
    expected = recover_roc(ScoreCounts.from_scores(scores, labeled), MixtureProportions(ALPHA))
    np.testing.assert_allclose(display.roc.tpr_pu, expected.tpr_pu)
    np.testing.assert_allclose(display.roc.tpr, expected.tpr)


@all_spellings
@pytest.mark.parametrize("method", ["auto", "predict_proba", "decision_function"])
def test_from_estimator_knows_the_positive_class(spelling, method: str, rows) -> None:
    X, labeled = rows
    yes, no, positive_label = spelling
    column = np.where(labeled, yes, no)
    model = LogisticRegression().fit(X, column)
    display = RecoveredRocDisplay.from_estimator(
        model, X, column, alpha=ALPHA, positive_label=positive_label, response_method=method
    )
    scores = model.predict_proba(X)[:, model.classes_.tolist().index(yes)]
    assert_drawn_from(display, scores, labeled)


@all_spellings
@pytest.mark.parametrize(
    "trained_on",
    [(True, False), (1, 0), (1, -1), ("pos", "neg"), ("positive", "unlabeled"), ("P", "U")],
    ids=str,
)
def test_from_estimator_of_a_model_trained_on_other_values(spelling, trained_on, rows) -> None:
    X, labeled = rows
    yes, no, positive_label = spelling
    model = LinearSVC().fit(X, np.where(labeled, *trained_on))
    display = RecoveredRocDisplay.from_estimator(
        model, X, np.where(labeled, yes, no), alpha=ALPHA, positive_label=positive_label
    )
    right = 1 if model.classes_[1] == trained_on[0] else -1
    assert_drawn_from(display, right * model.decision_function(X), labeled)


@all_classes
def test_every_display_reads_words(cls: type[Display], rows) -> None:
    X, labeled = rows
    column = np.where(labeled, "positive", "unlabeled")
    model = LogisticRegression().fit(X, column)
    assert model.classes_[0] == "positive"
    scores = model.predict_proba(X)[:, 0]
    expected = cls.from_predictions(scores, labeled, alpha=ALPHA).frame()
    displays = [
        cls.from_estimator(model, X, column, alpha=ALPHA),
        cls.from_estimator(model, X, column, alpha=ALPHA, positive_label="positive"),
        cls.from_predictions(scores, column, alpha=ALPHA),
        cls.from_predictions(
            scores, np.where(labeled, "a", "b"), alpha=ALPHA, positive_label="a"
        ),
    ]  # fmt: skip
    for display in displays:
        for name, values in display.frame().items():
            np.testing.assert_array_equal(values, expected[name])


@all_classes
def test_proportions_are_given_as_everywhere(cls: type[Display], rows) -> None:
    X, labeled = rows
    model = LogisticRegression().fit(X, labeled)
    counts = ScoreCounts.from_scores(model.predict_proba(X)[:, 1], labeled)
    censoring = MixtureProportions.from_censoring(counts, prior=0.4, beta=BETA)
    frequency = censoring.beta * counts.labeled_share / 0.4
    for given, expected in [
        ({"prior": 0.3, "scenario": "case-control", "beta": BETA}, MixtureProportions(0.3, BETA)),
        ({"prior": 0.4, "scenario": "censoring", "beta": BETA}, censoring),
        ({"label_frequency": frequency, "beta": BETA}, censoring),
        ({"proportions": censoring}, censoring),
        (
            {"alpha": 0.3, "scenario": "censoring"},
            MixtureProportions(0.3, scenario="censoring"),
        ),
    ]:
        wanted = cls.from_predictions(counts, proportions=expected).frame()
        for display in (
            cls.from_predictions(counts, **given),
            cls.from_estimator(model, X, labeled, **given),
        ):
            for name, values in display.frame().items():
                if values.dtype.kind == "f":
                    np.testing.assert_allclose(values, wanted[name], atol=1e-9)


def test_the_scenario_reaches_the_prior() -> None:
    display = RecoveredPrDisplay.from_predictions(COUNTS, prior=0.4, scenario="censoring")
    assert display.pr.prior == pytest.approx(0.4)
    assert display.pr.proportions.scenario == "censoring"


WRONG_ROWS = {
    "scores": ({"scores": np.full(SAMPLE.scores.size, np.nan)}, "scores"),
    "text": ({"scores": ["a"] * SAMPLE.scores.size}, "scores"),
    "short scores": ({"scores": SAMPLE.scores[1:]}, "labeled"),
    "labels": ({"labeled": np.arange(SAMPLE.scores.size)}, "labeled"),
    "constant": ({"labeled": np.ones(SAMPLE.scores.size)}, "labeled"),
    "nothing": ({"labeled": None}, "labeled"),
    "weights": ({"sample_weight": -np.ones(SAMPLE.scores.size)}, "sample_weight"),
    "positive label": ({"positive_label": "z"}, "positive_label"),
    "alpha": ({"alpha": 2}, "alpha"),
    "beta": ({"beta": "clean"}, "beta"),
    "proportions": ({"alpha": None, "proportions": (0.2, 0.9)}, "proportions"),
    "prior": ({"alpha": None, "prior": 0.2}, "scenario"),
    "scenario": ({"scenario": "field"}, "scenario"),
    "frequency": ({"alpha": None, "label_frequency": 7}, "label_frequency"),
}  # fmt: skip


@all_classes
@pytest.mark.parametrize("method", ["from_predictions", "from_estimator"])
@pytest.mark.parametrize(("wrong", "parameter"), WRONG_ROWS.values(), ids=WRONG_ROWS)
def test_complaints_name_the_function_that_was_called(
    cls: type[Display], method: str, wrong: dict[str, Any], parameter: str
) -> None:
    class Echo:
        def decision_function(self, X):
            return X

    arguments = {"scores": SAMPLE.scores, "labeled": SAMPLE.labeled, "alpha": ALPHA, **wrong}
    if method == "from_estimator":
        arguments = {"estimator": Echo(), "X": arguments.pop("scores"), **arguments}
    with pytest.raises(PurecoverError) as caught:
        getattr(cls, method)(**arguments)
    start = f"The '{parameter}' parameter of {cls.__name__}.{method} must be "
    assert str(caught.value).startswith(start)
    assert not plt.get_fignums()


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_a_data_frame_as_scores(make) -> None:
    frame = make({"score": [3.0, 2.0, 1.0], "labeled": [1, 0, 0]})
    with pytest.raises(InvalidTypeError, match=r"'scores' .* one column(.|\n)*frame\['score'\]"):
        RecoveredRocDisplay.from_predictions(frame, alpha=ALPHA)
    columns = [np.asarray(frame[name]) for name in ("score", "labeled")]
    assert RecoveredRocDisplay.from_predictions(*columns, alpha=ALPHA).roc.tpr_pu.size == 4


@all_classes
def test_unknown_parameters(cls: type[Display], rows) -> None:
    X, labeled = rows
    look = "mesh_kwargs" if cls is ErrorMapDisplay else "curve_kwargs"
    wanted = f" has no parameter 'color'.\nHint: for the look of what is drawn pass {look}="
    draw = cls.from_predictions
    for method, call in [
        ("from_predictions", lambda **more: draw(COUNTS, alpha=ALPHA, **more)),
        ("from_estimator", lambda **more: cls.from_estimator(None, X, labeled, alpha=0.2, **more)),
    ]:
        with pytest.raises(InvalidTypeError) as caught:
            call(color="red")
        assert str(caught.value).startswith(
            f"{cls.__name__}.{method}{wanted}{{'color': 'red'}}, or "
        )
        with pytest.raises(InvalidTypeError, match=r"'despined'\.\nHint: did you mean 'despine'\?"):
            call(despined=True)
        with pytest.raises(InvalidTypeError, match=rf"^{cls.__name__}\.{method} has no parameter"):
            call(no_such_option=1)
    assert not plt.get_fignums()


def test_from_estimator_passes_everything_on(rows) -> None:
    X, labeled = rows
    _, ax = plt.subplots()
    model = LogisticRegression().fit(X, labeled)
    weights = 1.0 + np.arange(labeled.size) % 3
    display = RecoveredRocDisplay.from_estimator(
        model, X, labeled, alpha=ALPHA, sample_weight=weights, repair="hull", ax=ax,
        curve_kwargs={"color": "red"},
    )  # fmt: skip
    assert display.ax_ is ax
    assert display.roc.repair == "hull"
    assert display.line_.get_color() == "red"
    counts = ScoreCounts.from_scores(model.predict_proba(X)[:, 1], labeled, sample_weight=weights)
    np.testing.assert_array_equal(
        display.roc.tpr_pu, recover_roc(counts, MixtureProportions(ALPHA)).tpr_pu
    )


@all_cases
def test_repr_is_short(case: Case) -> None:
    assert len(repr(case.make(name="forest"))) < 80


def test_repr_says_what_is_drawn() -> None:
    roc, pr = CASES["roc"].result, CASES["pr"].result
    assert repr(RecoveredRocDisplay(roc, name="forest")) == (
        f"RecoveredRocDisplay(AUC {roc.auc:.2f}, observed {roc.auc_pu:.2f}, name='forest')"
    )
    assert repr(RecoveredPrDisplay(pr)) == (
        f"RecoveredPrDisplay(AUC-PR {pr.auc_pr:.2f}, observed {pr.auc_pr_pu:.2f})"
    )
    curves = CASES["threshold"].result
    assert repr(ThresholdDisplay(curves)) == "ThresholdDisplay(precision, recall, f1, mcc)"
    assert repr(ThresholdDisplay(curves, metrics=curves.curves, choice=0.5)) == (
        f"ThresholdDisplay({len(curves.curves)} metrics; threshold 0.5)"
    )
    assert repr(CASES["sensitivity"].make()) == "SensitivityDisplay(roc_auc, 101 x 101 pairs)"
    assert repr(CASES["error map"].make()) == "ErrorMapDisplay(alpha=0.25, beta=0.9, auc=0.85)"


def test_from_estimator_takes_anything_with_the_method(rows) -> None:
    X, labeled = rows

    class Rule:
        def fit(self, *_):
            return self

        def decision_function(self, X):
            return X[:, 0]

    display = RecoveredRocDisplay.from_estimator(Rule(), X, labeled, alpha=ALPHA)
    assert display.name == "Rule"


def test_from_estimator_complains_clearly(rows) -> None:
    X, labeled = rows
    draw = RecoveredRocDisplay.from_estimator
    where = r"'estimator' parameter of RecoveredRocDisplay\.from_estimator must be "
    with pytest.raises(InvalidInputError, match=where + "fitted(.|\n)*call fit first"):
        draw(LogisticRegression(), X, labeled, alpha=ALPHA)
    with pytest.raises(InvalidInputError, match=where + "fitted"):
        draw(GridSearchCV(LogisticRegression(), {"C": [1]}), X, labeled, alpha=ALPHA)
    with pytest.raises(InvalidTypeError, match=where + "a fitted classifier with predict_proba or"):
        draw(LinearRegression().fit(X, labeled), X, labeled, alpha=ALPHA)
    with pytest.raises(InvalidTypeError, match=where):
        draw(LogisticRegression, X, labeled, alpha=ALPHA)
    with pytest.raises(InvalidTypeError, match=where + "a fitted classifier with predict_proba,"):
        draw(LinearSVC().fit(X, labeled), X, labeled, alpha=ALPHA, response_method="predict_proba")
    three = LogisticRegression().fit(X, np.arange(len(labeled)) % 3)
    with pytest.raises(
        InvalidInputError, match=where + "a classifier of two classes, got one with 3"
    ):
        draw(three, X, labeled, alpha=ALPHA)
    with pytest.raises(InvalidInputError, match="response_method"):
        draw(three, X, labeled, alpha=ALPHA, response_method="predict")


def test_no_matplotlib_and_no_sklearn_until_needed() -> None:
    program = """
import sys
from purecover import MixtureProportions, RecoveredRocDisplay, ScoreCounts, recover_roc
counts = ScoreCounts.from_scores([3, 2, 1, 0], [1, 0, 1, 0])
RecoveredRocDisplay(recover_roc(counts, MixtureProportions(0.1))).frame()
import purecover.displays
assert not {"matplotlib", "sklearn", "pandas"} & set(sys.modules), "too early"
"""
    subprocess.run([sys.executable, "-c", program], check=True)


# -- ROC and PR ---------------------------------------------------------------------------


def labels(display: Any) -> list[str]:
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_roc_curves_and_legend() -> None:
    roc = CASES["roc"].result
    display = RecoveredRocDisplay(roc, band=BAND).plot()
    np.testing.assert_array_equal(xy(display.line_), np.column_stack([roc.fpr, roc.tpr]))
    np.testing.assert_array_equal(xy(display.observed_), np.column_stack([roc.fpr_pu, roc.tpr_pu]))
    np.testing.assert_array_equal(xy(display.chance_level_), [[0, 0], [1, 1]])
    assert labels(display)[1:] == [
        "90 % band (pointwise)",
        f"observed (AUC {roc.auc_pu:.2f})",
        "chance (AUC 0.50)",
    ]
    assert labels(display)[0].startswith(f"recovered (AUC {roc.auc:.2f}")
    assert display.ax_.get_xlim() == display.ax_.get_ylim() == LIMITS
    assert display.ax_.get_aspect() == 1
    assert display.ax_.get_xlabel() == "False positive rate"
    assert display.ax_.get_ylabel() == "True positive rate"


def test_one_visual_language() -> None:
    roc, pr = CASES["roc with band"].make().plot(), CASES["pr with band"].make().plot()
    for display in (roc, pr):
        assert display.observed_.get_color() == OBSERVED["color"]
        assert display.observed_.get_linestyle() == "--"
        assert display.chance_level_.get_linestyle() == ":"
        assert display.line_.get_linestyle() == "-"
        assert display.band_.get_alpha() < 0.5
        face = mpl.colors.to_hex(display.band_.get_facecolor()[0])
        assert face == mpl.colors.to_hex(display.line_.get_color())
    assert roc.line_.get_color() == pr.line_.get_color()


def test_the_direct_auc_is_said_where_it_differs() -> None:
    counts = ScoreCounts.from_counts([1, 0], labeled=[10, 0], unlabeled=[2, 28])
    roc = recover_roc(counts, MixtureProportions(0.4))
    assert roc.auc_direct == pytest.approx(0.5 + (29 / 30 - 0.5) / 0.6)  # beyond 1
    label = RecoveredRocDisplay(roc).plot().line_.get_label()
    assert label == f"recovered (AUC {roc.auc:.2f}, direct {roc.auc_direct:.2f})"
    raw = recover_roc(counts, MixtureProportions(0.4), repair="none")
    assert "direct" not in RecoveredRocDisplay(raw).plot().line_.get_label()


def test_raw_rates_outside_the_box_are_seen() -> None:
    counts = simulate.binormal(2.5).sample(10, 30, alpha=0.4, random_state=5).counts
    roc = recover_roc(counts, MixtureProportions(0.4), repair="none")
    assert roc.fpr.min() < 0
    low, high = RecoveredRocDisplay(roc).plot().ax_.get_xlim()
    assert low < roc.fpr.min()
    assert high > roc.fpr.max()


def test_parts_can_be_left_out() -> None:
    display = RecoveredRocDisplay(CASES["roc"].result)
    display.plot(plot_observed=False, plot_chance_level=False)
    assert display.observed_ is None
    assert display.chance_level_ is None
    assert display.band_ is None
    assert len(display.ax_.get_lines()) == len(labels(display)) == 1


def test_styles_reach_the_artists_under_any_alias() -> None:
    display = RecoveredRocDisplay(CASES["roc"].result, band=BAND).plot(
        curve_kwargs={"c": "red", "lw": 5},
        observed_kwargs={"ls": "-", "label": "seen"},
        chance_level_kw={"color": "green"},
        band_kwargs={"alpha": 0.7},
    )
    assert display.line_.get_color() == "red"
    assert display.line_.get_linewidth() == 5
    assert display.observed_.get_linestyle() == "-"
    assert "seen" in labels(display)
    assert display.chance_level_.get_color() == "green"
    assert display.band_.get_alpha() == 0.7
    assert mpl.colors.to_hex(display.band_.get_facecolor()[0]) == mpl.colors.to_hex("red")


def test_two_models_in_one_picture() -> None:
    first = RecoveredRocDisplay(CASES["roc"].result, name="a").plot()
    second = RecoveredRocDisplay(CASES["roc"].result, name="b").plot(first.ax_)
    assert second.ax_ is first.ax_
    assert first.line_.get_color() != second.line_.get_color()
    assert first.observed_.get_linestyle() != second.observed_.get_linestyle()
    assert [label.partition(" (")[0] for label in labels(second)] == [
        "a: recovered",
        "a: observed",
        "b: recovered",
        "b: observed",
        "chance",
    ]


def test_a_crowded_legend_hides_no_curve() -> None:
    first = CASES["pr"].make(name="a").plot()
    second = CASES["pr"].make(name="b").plot(first.ax_)
    second.figure_.canvas.draw()
    legend, axes = (part.get_window_extent() for part in (second.ax_.get_legend(), second.ax_))
    assert not axes.overlaps(legend)
    assert legend.y0 >= 0
    # Without a layout there is no room outside.
    _, ax = plt.subplots()
    for name in ("a", "b"):
        CASES["pr"].make(name=name).plot(ax)
    ax.figure.canvas.draw()
    assert ax.get_window_extent().overlaps(ax.get_legend().get_window_extent())


def test_pr_curves_and_legend() -> None:
    pr = CASES["pr"].result
    display = RecoveredPrDisplay(pr).plot()
    for line, x, y in [
        (display.line_, pr.recall, pr.precision),
        (display.observed_, pr.recall_pu, pr.precision_pu),
    ]:
        shown = xy(line)
        points = np.column_stack([x, y])
        assert {*map(tuple, points)} <= {*map(tuple, shown)}
        assert np.diff(shown[:, 0])[shown[:-1, 1] > 0].max() <= 0.01 + 1e-12
    np.testing.assert_array_equal(xy(display.chance_level_), [[0, pr.prior], [1, pr.prior]])
    assert labels(display) == [
        f"recovered (AUC-PR {pr.auc_pr:.2f})",
        f"observed (AUC-PR {pr.auc_pr_pu:.2f})",
        "chance (precision 0.25)",
    ]
    assert display.line_.get_drawstyle() == "default"
    assert display.ax_.get_xlim() == display.ax_.get_ylim() == LIMITS


def test_pr_steps_enclose_the_average_precision() -> None:
    pr = CASES["pr in steps"].result
    line = CASES["pr in steps"].make().plot().line_
    assert line.get_drawstyle() == "steps-pre"
    x, y = mpl.cbook.STEP_LOOKUP_MAP["steps-pre"](*xy(line).T)
    area = np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2)
    assert area == pytest.approx(pr.auc_pr, abs=1e-12)


@pytest.mark.parametrize("repair", ["isotonic", "paper", "hull", "likelihood", "none"])
@pytest.mark.parametrize("alpha", [0.05, 0.4])
def test_pr_is_drawn_bent_as_its_area_is_taken(repair, alpha: float) -> None:
    counts = simulate.binormal(1.0).sample(12, 40, alpha=alpha, random_state=6).counts
    mixture = MixtureProportions(alpha)
    pr = recover_pr(counts, mixture, repair=repair)
    x, y = xy(RecoveredPrDisplay(pr).plot().line_).T
    if repair == "none":
        np.testing.assert_array_equal(np.isin(pr.recall, x), True)
        return
    # A polyline so fine has the exact area, up to pieces that leave precision 0.
    lost = np.diff(pr.recall)[pr.precision[:-1] == 0].sum()
    area = np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2)
    assert area == pytest.approx(pr.auc_pr, abs=1e-3 + lost)
    coarse = np.sum(np.diff(pr.recall) * (pr.precision[1:] + pr.precision[:-1]) / 2)
    assert abs(area - pr.auc_pr) <= abs(coarse - pr.auc_pr) + 1e-12
    straight = recover_pr(counts, mixture, repair=repair, area="trapezoid")
    shown = xy(RecoveredPrDisplay(straight).plot().line_)
    np.testing.assert_array_equal(shown, np.column_stack([pr.recall, pr.precision]))


def test_refined_points_are_those_of_the_straight_roc_segment() -> None:
    tpr, fpr = np.array([0, 0.005, 0.5, 0.5, 1.0]), np.array([0, 0.01, 0.1, 0.3, 1.0])
    prior = 0.2
    x, y = refine_pr(tpr, precision_of(tpr, fpr, prior), prior, 0.03)
    # Slow twin: where along the ROC polyline is this recall, and what is precision there?
    expected = [
        prior * t / (prior * t + (1 - prior) * np.interp(t, [0.005, 0.5], [0.01, 0.1]))
        for t in x[1:19]
    ]
    np.testing.assert_allclose(y[1:19], expected, rtol=1e-12)
    assert x[18] == x[19] == 0.5
    assert y[19] == 0.2 * 0.5 / (0.2 * 0.5 + 0.8 * 0.3)
    expected = [
        prior * t / (prior * t + (1 - prior) * np.interp(t, [0.5, 1], [0.3, 1])) for t in x[20:]
    ]
    np.testing.assert_allclose(y[20:], expected, rtol=1e-12)
    assert np.diff(x).max() <= 0.03 + 1e-12
    assert np.isin(tpr, x).all()


def test_what_cannot_be_refined_stays() -> None:
    recall = np.array([0.0, 0.5, 1.0])
    for prior, precision in [(0.0, [0, 0, 0]), (1.0, [1, 1, 1]), (0.2, [np.nan] * 3)]:
        x, y = refine_pr(recall, np.array(precision, dtype=float), prior)
        np.testing.assert_array_equal(x, recall)
        np.testing.assert_array_equal(y, precision)
    # From precision 0 no false-positive rate can be told; the next segment is refined.
    x, _ = refine_pr(recall, np.array([0.0, 0.4, 0.2]), 0.2, 0.1)
    np.testing.assert_allclose(x, [0, 0.5, 0.6, 0.7, 0.8, 0.9, 1])


def test_pr_of_a_rare_class() -> None:
    display = RecoveredPrDisplay.from_predictions(COUNTS, alpha=0.0004)
    assert "chance (precision 0.0004)" in labels(display)


def test_pr_passes_target_and_area_on() -> None:
    display = RecoveredPrDisplay.from_predictions(
        COUNTS, proportions=PROPORTIONS, target=0.5, area="trapezoid", repair="hull"
    )
    assert display.pr.prior == 0.5
    assert display.pr.area == "trapezoid"
    assert display.pr.repair == "hull"


@pytest.mark.parametrize("cls", [RecoveredRocDisplay, RecoveredPrDisplay])
def test_wrong_bands(cls: type[Display]) -> None:
    result = CASES["roc" if cls is RecoveredRocDisplay else "pr"].result

    class Crooked:
        x, low, high = GRID, GRID[1:], GRID
        confidence_level, kind = 0.95, "pointwise"

    with pytest.raises(InvalidTypeError, match="it has no x, low, high, confidence_level, kind"):
        cls(result, band=(GRID, GRID))  # type: ignore[call-arg]
    with pytest.raises(InvalidInputError, match="three vectors of one length"):
        cls(result, band=Crooked())  # type: ignore[call-arg]


# -- thinning -----------------------------------------------------------------------------


def walk(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return np.sort(rng.random(n)), np.sort(rng.random(n)) ** 0.2


def test_short_curves_are_drawn_whole() -> None:
    x, y = walk(5000)
    np.testing.assert_array_equal(thinned(x, y), np.arange(5000))


def distance_to_polyline(points: np.ndarray, line: np.ndarray) -> np.ndarray:
    """Slow twin: the distance of each point to the nearest of all segments."""
    start, step = line[:-1], np.diff(line, axis=0)
    length = np.maximum((step**2).sum(axis=1), 1e-300)
    out = np.empty(len(points))
    for i, point in enumerate(points):
        share = np.clip(((point - start) * step).sum(axis=1) / length, 0, 1)
        out[i] = np.hypot(*(start + share[:, None] * step - point).T).min()
    return out


def test_long_curves_lose_less_than_a_pixel() -> None:
    x, y = walk(1_000_000)
    keep = thinned(x, y)
    assert keep[0] == 0
    assert keep[-1] == x.size - 1
    assert np.all(np.diff(keep) > 0)
    assert keep.size <= 8004
    line = np.column_stack([x[keep], y[keep]])
    some = np.random.default_rng(1).choice(x.size, 200, replace=False)
    assert distance_to_polyline(np.column_stack([x, y])[some], line).max() < np.sqrt(2) / 2000


def test_thinning_knows_no_order_and_keeps_gaps() -> None:
    t = np.linspace(0, 4 * np.pi, 40_000)
    x, y = np.cos(t), np.sin(3 * t)
    y[20_000:20_100] = np.nan
    keep = thinned(x, y)
    assert keep.size < x.size
    assert np.isnan(y[keep]).any()
    line = np.column_stack([x[keep], y[keep]])
    line = line[~np.isnan(line).any(axis=1)]
    whole = np.column_stack([x, y])[:20_000:97]
    assert distance_to_polyline(whole, line).max() < 2 * np.sqrt(2) / 2000


def test_thinning_of_a_constant() -> None:
    assert thinned(np.zeros(6000), np.zeros(6000)).tolist() == [0, 5999]
    nothing = thinned(np.arange(6000.0), np.full(6000, np.nan))
    assert nothing[[0, -1]].tolist() == [0, 5999]


def test_a_million_thresholds_draw_thinned() -> None:
    sample = simulate.binormal(2.0).sample(20_000, 200_000, alpha=ALPHA, random_state=1)
    display = RecoveredRocDisplay.from_predictions(sample.counts, alpha=ALPHA)
    assert display.roc.fpr_pu.size > 200_000
    assert display.observed_.get_xdata().size <= 8004
    np.testing.assert_array_equal(xy(display.line_)[[0, -1]], [[0, 0], [1, 1]])
    np.testing.assert_array_equal(tabled(display), drawn(display))
    metrics = ThresholdDisplay.from_predictions(sample.counts, alpha=ALPHA)
    np.testing.assert_array_equal(tabled(metrics), drawn(metrics))
    assert all(line.get_xdata().size < 20_000 for line in metrics.lines_.values())


# -- thresholds ---------------------------------------------------------------------------


def test_threshold_curves_and_choice() -> None:
    display = CASES["threshold chosen"].make().plot()
    curves, choice = display.curves, display.choice
    for metric, line in display.lines_.items():
        expected = np.column_stack([curves.thresholds, curves.curves[metric]])
        np.testing.assert_array_equal(xy(line), expected)
    assert list(display.lines_) == ["precision", "recall", "f1", "mcc"]
    assert xy(display.choice_line_)[:, 0].tolist() == [choice.threshold] * 2
    points = np.asarray(display.choice_points_.get_offsets())
    np.testing.assert_allclose(points[:, 1], [choice.metrics[m] for m in display.lines_])
    assert labels(display) == [
        "Precision",
        "Recall",
        "F1",
        "Matthews correlation",
        f"threshold {choice.threshold:.4g} (best F1)",
    ]
    assert display.frame()["chosen"].sum() == 4
    assert display.ax_.get_ylim()[1] == LIMITS[1]


@pytest.mark.parametrize("between", [0.0, 0.4, 1.0])
def test_steps_show_the_metric_of_any_threshold(between: float) -> None:
    """A threshold between two scores has the metrics of the upper one, and so has the picture."""
    curves = CASES["threshold"].result
    upper, lower = curves.thresholds[100], curves.thresholds[101]
    chosen = float(upper + between * (lower - upper))
    display = ThresholdDisplay(curves, choice=chosen, metrics=["recall", "accuracy"]).plot()
    expected = recover_metrics(
        COUNTS, PROPORTIONS, threshold=chosen, metrics=["recall", "accuracy"]
    )
    points = np.asarray(display.choice_points_.get_offsets())
    np.testing.assert_allclose(points[:, 1], [expected["recall"], expected["accuracy"]])
    line = display.lines_["recall"]
    x, y = mpl.cbook.STEP_LOOKUP_MAP[line.get_drawstyle()](*xy(line).T)
    x, y = x[::-1], y[::-1]
    inside = (x[:-1] <= chosen) & (chosen <= x[1:])
    assert np.any(np.isclose(y[:-1][inside], expected["recall"]))


def test_threshold_against_the_share_flagged() -> None:
    display = CASES["threshold flagged"].make().plot()
    line = xy(display.lines_["recall"])
    np.testing.assert_array_equal(line[:, 0], display.curves.flagged_unlabeled)
    unlabeled = SAMPLE.scores[~np.asarray(SAMPLE.labeled)]
    assert display.choice_line_.get_xdata()[0] == pytest.approx(np.mean(unlabeled >= 0.5))
    assert display.ax_.get_xlim() == LIMITS
    assert "flagged" in display.frame()
    assert labels(display)[-1] == "threshold 0.5"


def test_threshold_above_every_score() -> None:
    curves = CASES["threshold"].result
    for against, x in (("threshold", 99.0), ("flagged", 0.0)):
        display = ThresholdDisplay(curves, choice=99, against=against).plot()
        assert display.choice_line_.get_xdata()[0] == x
        assert np.isnan(display.frame()["value"][display.frame()["chosen"]]).all()


def test_threshold_labels_say_what_was_wanted() -> None:
    draw = ThresholdDisplay.from_predictions
    display = draw(COUNTS, proportions=PROPORTIONS, criterion="recall", value=0.8)
    assert labels(display)[-1].endswith("(recall ≥ 0.8)")
    display = draw(COUNTS, proportions=PROPORTIONS, criterion="fpr", value=0.2)
    assert labels(display)[-1].endswith("(false-positive rate ≤ 0.2)")
    display = draw(COUNTS, proportions=PROPORTIONS, criterion="youden")
    assert labels(display)[-1].endswith("(best Youden index)")


def test_many_metrics_stay_apart() -> None:
    curves = CASES["threshold"].result
    display = ThresholdDisplay(curves, metrics=curves.curves).plot()
    looks = {(line.get_color(), line.get_linestyle()) for line in display.lines_.values()}
    assert len(looks) == len(curves.curves)
    lift = curves.curves["lift"]
    assert display.ax_.get_ylim()[1] > np.nanmax(lift)


def test_threshold_complaints() -> None:
    curves, draw = CASES["threshold"].result, ThresholdDisplay.from_predictions
    for wrong, pattern in [
        ({"metrics": "f1"}, r"write \['f1'\]"),
        ({"metrics": []}, "at least one name"),
        (
            {"metrics": ["f1", "roc_auc"]},
            "'metrics' parameter of ThresholdDisplay must be a list of names",
        ),
        ({"choice": "best"}, "choose_threshold"),
        ({"choice": float("nan")}, "'choice'"),
        ({"against": "score"}, "'against'"),
    ]:
        with pytest.raises(PurecoverError, match=pattern):
            ThresholdDisplay(curves, **wrong)
    with pytest.raises(InvalidInputError, match="not both"):
        draw(COUNTS, alpha=ALPHA, threshold=1.0, criterion="f1")
    with pytest.raises(InvalidInputError, match="'criterion'"):
        draw(COUNTS, alpha=ALPHA, value=0.5)


# -- sensitivity --------------------------------------------------------------------------


def test_sensitivity_map() -> None:
    display = CASES["sensitivity"].make().plot()
    grid = display.grid
    shown = display.mesh_.get_array()
    assert shown.shape == (grid.betas.size, grid.alphas.size)  # beta upward, alpha across
    i, j = 25, 90
    auc = 0.5 + (grid.auc_pu - 0.5) / (grid.betas[j] - grid.alphas[i])
    assert shown[j, i] == pytest.approx(auc)
    np.testing.assert_array_equal(shown.mask.T, grid.infeasible | np.isnan(grid.values))
    assert xy(display.mark_).tolist() == [[ALPHA, BETA]]
    assert display.colorbar_.ax.get_ylabel() == "Recovered AUC"
    assert display.mesh_.get_clim() == grid.range
    assert display.contours_ is not None
    assert display.line_ is None
    assert labels(display)[1].startswith("infeasible")
    assert len(labels(display)) == 3


def test_sensitivity_gray_lies_where_the_pairs_are_infeasible() -> None:
    display = CASES["sensitivity"].make().plot()
    gray, _ = display.ax_.collections[:2]
    np.testing.assert_array_equal(~gray.get_array().mask.T, display.grid.infeasible)


def test_sensitivity_parts_can_be_left_out() -> None:
    display = CASES["sensitivity"].make().plot(plot_contours=False, plot_colorbar=False)
    assert display.contours_ is None
    assert display.colorbar_ is None
    assert len(display.figure_.axes) == 1
    display = CASES["sensitivity of precision"].make().plot(mesh_kwargs={"cmap": "magma"})
    assert display.mesh_.get_cmap().name == "magma"
    assert display.mark_ is None


def test_sensitivity_curve() -> None:
    display = CASES["sensitivity curve"].make().plot()
    grid = display.grid
    x, y = xy(display.line_).T
    np.testing.assert_array_equal(x, grid.alphas)
    assert y[25] == pytest.approx(0.5 + (grid.auc_pu - 0.5) / 0.75)
    np.testing.assert_array_equal(np.isnan(y), grid.infeasible.ravel() | (grid.alphas == 1))
    assert set(display.observed_.get_ydata()) == {grid.auc_pu}
    assert set(display.mark_.get_xdata()) == {ALPHA}
    assert display.mesh_ is None
    assert display.ax_.get_xlim() == (0, 0.99)
    assert labels(display)[0] == r"recovered ($\beta$ = 1)"


def test_sensitivity_curve_over_beta() -> None:
    display = SensitivityDisplay.from_predictions(
        COUNTS, alpha=0.1, metric="balanced_accuracy", alphas=0.1, betas=[0.8, 0.9, 1.0]
    )
    assert display.line_.get_xdata().tolist() == [0.8, 0.9, 1.0]
    assert display.observed_ is None
    assert display.ax_.get_ylabel() == "Recovered balanced accuracy"
    np.testing.assert_array_equal(tabled(display).ravel(), display.line_.get_ydata())


def test_sensitivity_where_nothing_fits() -> None:
    counts = ScoreCounts.from_counts([1, 0], labeled=[10, 0], unlabeled=[0, 10])
    display = SensitivityDisplay.from_predictions(
        counts, alpha=0.5, alphas=[0.3, 0.6], betas=[0.8, 1]
    )
    assert display.grid.infeasible.all()
    assert display.mesh_.get_array().mask.all()
    display.figure_.canvas.draw()


def test_sensitivity_says_the_scenario() -> None:
    proportions = MixtureProportions.from_censoring(COUNTS, prior=0.5)
    display = SensitivityDisplay.from_predictions(
        COUNTS, proportions=proportions, metric="precision", alphas=[0.2, 0.3], betas=[0.9, 1.0]
    )
    expected = sensitivity(
        COUNTS, "precision", alphas=[0.2, 0.3], betas=[0.9, 1.0], scenario="censoring"
    )
    np.testing.assert_array_equal(display.grid.values, expected.values)


def test_sensitivity_complaints() -> None:
    one = auc_sensitivity(COUNTS, alphas=0.2, betas=1.0)
    with pytest.raises(InvalidInputError, match="at least two values"):
        SensitivityDisplay(one)
    with pytest.raises(InvalidTypeError, match="'mark'"):
        SensitivityDisplay(CASES["sensitivity"].result, mark=(0.2, 0.9))


# -- error maps ---------------------------------------------------------------------------


def test_error_map() -> None:
    display = ErrorMapDisplay(error_map(0.25, 0.75, 0.9)).plot()
    shown = display.mesh_.get_array()
    assert shown[75, 25] == pytest.approx(0)  # the truth: beta upward, alpha across
    assert shown[100, 0] == pytest.approx(0.2)  # taken at face value, 0.7 for 0.9
    assert shown[0, 100] == pytest.approx(0.6)
    assert shown.mask[50, 50]
    assert [line.get_linestyle() for line in display.truth_] == [":", ":"]
    assert set(display.truth_[0].get_xdata()) == {0.25}
    assert set(display.truth_[1].get_ydata()) == {0.75}
    assert display.ax_.get_title() == "AUC 0.9 (observed 0.7)"
    assert display.mesh_.get_clim() == (0, 1)


def test_panels_of_the_paper() -> None:
    displays = ErrorMapDisplay.panels(error_maps(n_grid=21))
    assert len(displays) == 27
    (figure,) = {display.figure_ for display in displays.values()}
    figure.canvas.draw()
    place = {truth: display.ax_.get_position() for truth, display in displays.items()}
    sizes = {(round(p.width, 6), round(p.height, 6)) for p in place.values()}
    assert len(sizes) == 1
    assert place[0.05, 1.0, 0.8].x0 < place[0.25, 1.0, 0.8].x0 < place[0.5, 1.0, 0.8].x0
    assert place[0.05, 0.75, 0.8].y0 < place[0.05, 0.95, 0.8].y0 < place[0.05, 1.0, 0.8].y0
    assert place[0.5, 1.0, 0.65].x1 < place[0.05, 1.0, 0.8].x0
    for (alpha, beta, auc), display in displays.items():
        assert (display.error_map.alpha, display.error_map.beta) == (alpha, beta)
        assert display.error_map.auc == auc
        assert display.mesh_.get_clim() == (0, 1)
    titles = " ".join(ax.get_title() for ax in figure.axes)
    assert [titles.count(rf"AUC\ {auc}") for auc in (0.65, 0.8, 0.95)] == [1, 1, 1]


def test_panels_of_one_row() -> None:
    displays = ErrorMapDisplay.panels(error_maps([0.1, 0.2], [1.0], [0.9], n_grid=5))
    assert len(displays) == 2


def test_panels_need_a_full_grid() -> None:
    maps = error_maps([0.1, 0.2], [0.9, 1.0], [0.9], n_grid=5)
    maps.popitem()
    for wrong in ({}, maps, {3: maps}, 3, [maps]):
        with pytest.raises(InvalidTypeError, match="a full grid of maps"):
            ErrorMapDisplay.panels(wrong)


def test_diagram_lines_are_those_of_equation_4() -> None:
    display = ErrorMapDisplay.with_diagram(0.25, 0.75, 0.9, n_grid=21)
    deltas = {
        name: set(np.round(np.diff(xy(line)).ravel(), 12)) for name, line in display.lines_.items()
    }
    assert deltas == {"true": {0.5}, "one": {0.4}, "zero": {-0.4}}
    assert display.ax_ is not display.diagram_ax_
    assert display.ax_.figure is display.diagram_ax_.figure is display.figure_
    words = [text.get_text() for text in display.diagram_ax_.texts]
    assert "observed AUC 0.7" in words
    assert "true AUC 0.9" in words


@pytest.mark.parametrize("auc", [0.1, 0.5, 1.0])
def test_diagram_of_odd_truths(auc: float) -> None:
    display = ErrorMapDisplay(error_map(0.1, 1.0, auc, n_grid=11)).plot_diagram()
    assert display.ax_ is display.diagram_ax_
    assert ("one" in display.lines_) == (auc != 0.5)
    display.figure_.canvas.draw()


@pytest.mark.parametrize("method", ["panels", "with_diagram"])
def test_whole_figures_name_the_extra(method: str, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    arguments = () if method == "panels" else (0.25, 0.75, 0.9)
    with pytest.raises(MissingDependencyError, match=rf"ErrorMapDisplay\.{method} needs"):
        getattr(ErrorMapDisplay, method)(*arguments)
