"""Displays: the pictures hold the numbers they should, and the tables hold the pictures."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC
from tests.prior_dummies import Blind

import purecover as pu
from purecover.displays import SensitivityDisplay, ThresholdDisplay
from purecover.displays.base import LIMITS, Display
from purecover.displays.curves import CurveDisplay
from purecover.estimators.comparison import QUANTITIES
from purecover.exceptions import InvalidInputError, InvalidTypeError, PurecoverError
from purecover.intervals.interval import CurveBand

ALPHA, BETA = 0.25, 0.9
PROPORTIONS = pu.MixtureProportions(ALPHA, BETA)
_DRAWN = pu.simulate.binormal(1.5).sample(60, 240, alpha=ALPHA, beta=BETA, random_state=0)
# Probabilities of the true class, which some displays need.
SAMPLE = replace(
    _DRAWN, scores=1 / (1 + np.exp(1.125 - 1.5 * _DRAWN.scores - np.log(ALPHA / (1 - ALPHA))))
)
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
    curves = pu.recovery.recover_metric_curves(COUNTS, PROPORTIONS)
    choice = pu.choose_threshold(COUNTS, PROPORTIONS, "f1")
    roc, pr = pu.recover_roc(COUNTS, PROPORTIONS), pu.recover_pr(COUNTS, PROPORTIONS)
    steps = pu.recover_pr(COUNTS, PROPORTIONS, area="average-precision")
    calibration = pu.recovery.recover_calibration(COUNTS, PROPORTIONS)
    decisions = pu.recovery.recover_decision_curve(COUNTS, PROPORTIONS)
    few = np.linspace(0, 0.4, 5)
    precision = pu.recovery.sensitivity(COUNTS, "precision", alphas=few, betas=few + 0.6)
    clean = pu.recovery.sensitivity(COUNTS, betas=1.0)
    return {
        "roc": Case(pu.RecoveredRocDisplay, roc, "roc", {}),
        "roc with band": Case(pu.RecoveredRocDisplay, roc, "roc", {"band": BAND}),
        "pr": Case(pu.RecoveredPrDisplay, pr, "pr", {}),
        "pr with band": Case(pu.RecoveredPrDisplay, pr, "pr", {"band": BAND}),
        "pr in steps": Case(pu.RecoveredPrDisplay, steps, "pr", {}),
        "calibration": Case(pu.displays.CalibrationDisplay, calibration, "curve", {"band": BAND}),
        "decisions": Case(pu.displays.DecisionCurveDisplay, decisions, "curve", {"band": BAND}),
        "threshold": Case(ThresholdDisplay, curves, "curves", {}),
        "threshold chosen": Case(ThresholdDisplay, curves, "curves", {"choice": choice}),
        "threshold flagged": Case(
            ThresholdDisplay, curves, "curves", {"choice": 0.5, "against": "flagged"}
        ),
        "sensitivity": Case(
            SensitivityDisplay, pu.recovery.sensitivity(COUNTS), "grid", {"mark": PROPORTIONS}
        ),
        "sensitivity of precision": Case(SensitivityDisplay, precision, "grid", {}),
        "sensitivity curve": Case(SensitivityDisplay, clean, "grid", {"mark": PROPORTIONS}),
    }


CASES = make_cases()
CLASSES = sorted({case.cls for case in CASES.values()}, key=lambda cls: cls.__name__)
all_cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
all_classes = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


def xy(line: Any) -> np.ndarray:
    return np.column_stack([line.get_xdata(), line.get_ydata()]).astype(float)


def drawn(display: Any) -> np.ndarray:
    """The numbers in the picture, read back from the artists, in the order of the table."""
    if isinstance(display, CurveDisplay):
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
    if isinstance(display, SensitivityDisplay):
        skip |= {"alpha", "beta"}
    return np.column_stack([column for name, column in table.items() if name not in skip])


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


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X = np.column_stack([SAMPLE.scores, rng.normal(size=SAMPLE.scores.size)])
    return X, np.asarray(SAMPLE.labeled)


# How the label column can say labeled and unlabeled, and what must be said besides; scikit-learn
# sorts some of them the wrong way.
SPELLINGS = [
    ("positive", "unlabeled", None), ("labeled", "unlabeled", None), ("P", "U", None),
    ("yes", "no", None), (True, False, None), (1, -1, None), (1, 2, 1), ("a", "b", "a"),
]  # fmt: skip
NONE = np.full(SAMPLE.scores.size, np.nan)
WRONG_ROWS = [
    ({"scores": NONE}, "scores"),
    ({"scores": SAMPLE.scores[1:]}, "labeled"),
    ({"labeled": np.arange(SAMPLE.scores.size)}, "labeled"),
    ({"labeled": None}, "labeled"),
    ({"sample_weight": NONE}, "sample_weight"),
    ({"positive_label": "z"}, "positive_label"),
    ({"alpha": 2}, "alpha"),
    ({"beta": "clean"}, "beta"),
    ({"alpha": None, "proportions": (0.2, 0.9)}, "proportions"),
    ({"alpha": None, "prior": 0.2}, "scenario"),
    ({"scenario": "field"}, "scenario"),
    ({"alpha": None, "label_frequency": 7}, "label_frequency"),
]


def assert_drawn_from(display: Any, scores: np.ndarray, labeled: np.ndarray) -> None:
    assert np.corrcoef(scores, labeled)[0, 1] > 0.3  # the right way up, or the test shows nothing
    expected = pu.recover_roc(
        pu.ScoreCounts.from_scores(scores, labeled), pu.MixtureProportions(ALPHA)
    )
    np.testing.assert_allclose(display.roc.tpr_pu, expected.tpr_pu)
    np.testing.assert_allclose(display.roc.tpr, expected.tpr)


def test_from_estimator_complains_clearly(rows) -> None:
    X, labeled = rows
    draw = pu.RecoveredRocDisplay.from_estimator
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


def labels(display: Any) -> list[str]:
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_roc_curves_and_legend() -> None:
    roc = CASES["roc"].result
    display = pu.RecoveredRocDisplay(roc, band=BAND).plot()
    np.testing.assert_array_equal(xy(display.line_), np.column_stack([roc.fpr, roc.tpr]))
    np.testing.assert_array_equal(xy(display.observed_), np.column_stack([roc.fpr_pu, roc.tpr_pu]))
    np.testing.assert_array_equal(xy(display.chance_level_), [[0, 0], [1, 1]])
    assert labels(display)[1:] == [
        "90 % band (pointwise)",
        f"observed (AUC {roc.auc_pu:.2f})",
        "chance (AUC 0.50)",
    ]
    assert labels(display)[0].startswith(f"corrected (AUC {roc.auc:.2f}")
    assert display.ax_.get_xlim() == display.ax_.get_ylim() == LIMITS
    assert display.ax_.get_aspect() == 1
    assert display.ax_.get_xlabel() == "False positive rate"
    assert display.ax_.get_ylabel() == "True positive rate"


def test_pr_curves_and_legend() -> None:
    pr = CASES["pr"].result
    display = pu.RecoveredPrDisplay(pr).plot()
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
        f"corrected (AUC-PR {pr.auc_pr:.2f})",
        f"observed (AUC-PR {pr.auc_pr_pu:.2f})",
        "chance (precision 0.25)",
    ]
    assert display.line_.get_drawstyle() == "default"
    assert display.ax_.get_xlim() == display.ax_.get_ylim() == LIMITS


@pytest.mark.parametrize("repair", ["isotonic", "paper", "hull", "likelihood", "none"])
@pytest.mark.parametrize("alpha", [0.05, 0.4])
def test_pr_is_drawn_bent_as_its_area_is_taken(repair, alpha: float) -> None:
    counts = pu.simulate.binormal(1.0).sample(12, 40, alpha=alpha, random_state=6).counts
    mixture = pu.MixtureProportions(alpha)
    pr = pu.recover_pr(counts, mixture, repair=repair)
    x, y = xy(pu.RecoveredPrDisplay(pr).plot().line_).T
    if repair == "none":
        np.testing.assert_array_equal(np.isin(pr.recall, x), True)
        return
    # A polyline so fine has the exact area, up to pieces that leave precision 0.
    lost = np.diff(pr.recall)[pr.precision[:-1] == 0].sum()
    area = np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2)
    assert area == pytest.approx(pr.auc_pr, abs=1e-3 + lost)
    coarse = np.sum(np.diff(pr.recall) * (pr.precision[1:] + pr.precision[:-1]) / 2)
    assert abs(area - pr.auc_pr) <= abs(coarse - pr.auc_pr) + 1e-12
    straight = pu.recover_pr(counts, mixture, repair=repair, area="trapezoid")
    shown = xy(pu.RecoveredPrDisplay(straight).plot().line_)
    np.testing.assert_array_equal(shown, np.column_stack([pr.recall, pr.precision]))


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
    expected = pu.recover_metrics(
        COUNTS, PROPORTIONS, threshold=chosen, metrics=["recall", "accuracy"]
    )
    points = np.asarray(display.choice_points_.get_offsets())
    np.testing.assert_allclose(points[:, 1], [expected["recall"], expected["accuracy"]])
    line = display.lines_["recall"]
    x, y = mpl.cbook.STEP_LOOKUP_MAP[line.get_drawstyle()](*xy(line).T)
    x, y = x[::-1], y[::-1]
    inside = (x[:-1] <= chosen) & (chosen <= x[1:])
    assert np.any(np.isclose(y[:-1][inside], expected["recall"]))


def test_threshold_complaints() -> None:
    curves, draw = CASES["threshold"].result, ThresholdDisplay.from_predictions
    for wrong, pattern in [
        ({"metrics": "f2"}, "did you mean 'f1'"),
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


SAMPLE_PRIORS = pu.simulate.binormal(3.0).sample(200, 1000, alpha=0.3, beta=0.85, random_state=0)
COUNTS_PRIORS = SAMPLE_PRIORS.counts


FOUND = pu.compare_priors(COUNTS_PRIORS, estimators=["bbe", Blind(), "roc-slope"], n_resamples=15)
CLEAN = pu.compare_priors(COUNTS_PRIORS, estimators=["bbe", "roc-slope"], beta=1, n_resamples=0)
MAKERS: dict[str, Any] = {
    "priors": lambda **more: pu.displays.PriorsDisplay(FOUND, **more),
    "priors of clean labels": lambda **more: pu.displays.PriorsDisplay(CLEAN, **more),
    "priors, two quantities": lambda **more: pu.displays.PriorsDisplay(
        FOUND, quantities=["delta", "alpha"], **more
    ),
}
FAST = {"estimators": ["bbe"], "n_resamples": 5}


def test_priors_from_predictions() -> None:
    cls = pu.displays.PriorsDisplay
    display = cls.from_predictions(SAMPLE_PRIORS.scores, SAMPLE_PRIORS.labeled, **FAST)
    assert type(display) is cls
    assert display.ax_.has_data()
    words = np.where(SAMPLE_PRIORS.labeled, "a", "b")
    others = [
        cls.from_predictions(COUNTS_PRIORS, **FAST),
        cls.from_predictions(SAMPLE_PRIORS.scores, words, positive_label="a", **FAST),
    ]
    for other in others:
        for name, column in display.frame().items():
            np.testing.assert_array_equal(other.frame()[name], column)


def test_from_estimator() -> None:
    cls = pu.displays.PriorsDisplay
    rng = np.random.default_rng(0)
    X = np.column_stack([SAMPLE_PRIORS.scores, rng.normal(size=SAMPLE_PRIORS.scores.size)])
    model = LogisticRegression().fit(X, SAMPLE_PRIORS.labeled)
    display = cls.from_estimator(model, X, SAMPLE_PRIORS.labeled, **FAST)
    scores = model.predict_proba(X)[:, 1]
    expected = cls.from_predictions(scores, SAMPLE_PRIORS.labeled, **FAST)
    for name, column in expected.frame().items():
        np.testing.assert_array_equal(display.frame()[name], column)
    assert display.ax_.get_title() == "LogisticRegression"
    with pytest.raises(InvalidTypeError, match=r"from_estimator\(\) got an unexpected .* 'alpha'"):
        cls.from_estimator(model, X, SAMPLE_PRIORS.labeled, alpha=0.3)
    with pytest.raises(InvalidInputError, match="'estimator'"):
        cls.from_estimator(LogisticRegression(), X, SAMPLE_PRIORS.labeled)


def test_points_and_intervals_are_those_of_the_rows() -> None:
    display = pu.displays.PriorsDisplay(FOUND).plot()
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


ALL = {**{name: case.make for name, case in CASES.items()}, **MAKERS}
every = pytest.mark.parametrize("make", ALL.values(), ids=ALL)


# A picture of each kind; the others in the slow stage.
KINDS = {
    "roc with band", "pr with band", "threshold chosen", "calibration", "decisions", "error map",
    "sensitivity", "sensitivity curve", "alphamax", "priors",
}  # fmt: skip
one_of_each_kind = pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, id=name, marks=[] if name in KINDS else [pytest.mark.slow])
        for name, make in ALL.items()
    ],
)


@one_of_each_kind
def test_a_picture_is_whole_and_labeled(make, tmp_path) -> None:
    before, display = make().frame(), make(name="forest")
    assert display.plot() is display
    ax, figure = display.ax_, display.figure_
    assert isinstance(ax, mpl.axes.Axes)
    assert figure is ax.figure
    assert plt.get_fignums() == [figure.number]
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    assert ax.spines["top"].get_visible()
    legend = ax.get_legend()
    words = [ax.get_title(), *(text.get_text() for text in (legend.get_texts() if legend else ()))]
    assert any("forest" in word for word in words)
    assert "forest" in repr(display)
    assert repr(make()).startswith(type(display).__name__)
    assert len(repr(display)) < 250
    # The table needs no picture.
    for name, column in display.frame().items():
        np.testing.assert_array_equal(before[name], column)
    assert len({len(column) for column in before.values()}) == 1
    figure.savefig(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").stat().st_size > 5000
    figure.canvas.draw()  # SVG lays texts out by other sizes than those measured here
    tight, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert tight.x0 >= 0
    assert tight.y0 >= 0
    assert tight.x1 <= width
    assert tight.y1 <= height


@every
def test_a_picture_goes_into_the_axes_given(make) -> None:
    figure, axes = plt.subplots(1, 2)
    display = make().plot(axes[1], despine=True)
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert not axes[0].has_data()
    assert len(plt.get_fignums()) == 1
    spines = [axes[1].spines[side].get_visible() for side in ("top", "right", "left")]
    assert spines == [False, False, True]
    for wrong in (figure, axes, "ax", 3):
        with pytest.raises(InvalidTypeError, match=r"'ax' parameter of \w+\.plot"):
            make().plot(wrong)


@every
def test_tables_of_every_kind_and_without_matplotlib(make, monkeypatch) -> None:
    display = make()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(pu.exceptions.MissingDependencyError) as caught:
        display.plot()
    assert str(caught.value).startswith(f"{type(display).__name__}.plot needs the package 'matpl")
    assert "pip install 'purecover[plot]'" in str(caught.value)
    table = display.frame()
    for backend in ("pandas", "polars", "pyarrow"):
        frame = display.frame(backend)
        assert type(frame).__module__.partition(".")[0] == backend
        for name, column in table.items():
            np.testing.assert_array_equal(np.asarray(frame[name]), column)


@all_cases
def test_the_table_is_the_picture(case: Case) -> None:
    display = case.make().plot()
    first = drawn(display)
    np.testing.assert_array_equal(tabled(display), first)
    np.testing.assert_array_equal(drawn(display.plot()), first)


def test_from_estimator_knows_the_positive_class(rows) -> None:
    X, labeled = rows
    for yes, no, positive_label in SPELLINGS:
        column = np.where(labeled, yes, no)
        model = LogisticRegression().fit(X, column)
        scores = model.predict_proba(X)[:, model.classes_.tolist().index(yes)]
        for method in ("auto", "predict_proba", "decision_function"):
            display = pu.RecoveredRocDisplay.from_estimator(
                model, X, column, alpha=ALPHA, positive_label=positive_label, response_method=method
            )
            assert_drawn_from(display, scores, labeled)
        # A model that was trained on other values.
        for trained_on in ((1, -1), ("P", "U")):
            other = LinearSVC().fit(X, np.where(labeled, *trained_on))
            display = pu.RecoveredRocDisplay.from_estimator(
                other, X, column, alpha=ALPHA, positive_label=positive_label
            )
            right = 1 if other.classes_[1] == trained_on[0] else -1
            assert_drawn_from(display, right * other.decision_function(X), labeled)
        plt.close("all")


class Echo:
    """A model whose features are its scores."""

    def decision_function(self, X):
        return X


@all_classes
def test_complaints_name_the_function_that_was_called(cls: type[Display]) -> None:
    for wrong, parameter in WRONG_ROWS:
        given = {"scores": SAMPLE.scores, "labeled": SAMPLE.labeled, "alpha": ALPHA, **wrong}
        with pytest.raises(PurecoverError) as caught:
            cls.from_predictions(**given)
        start = f"The '{parameter}' parameter of {cls.__name__}.from_predictions must be "
        assert str(caught.value).startswith(start)
        with pytest.raises(PurecoverError) as caught:
            cls.from_estimator(estimator=Echo(), X=given.pop("scores"), **given)
        start = f"The '{parameter}' parameter of {cls.__name__}.from_estimator must be "
        assert str(caught.value).startswith(start)
    assert not plt.get_fignums()
