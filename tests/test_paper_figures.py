"""The study's figures hold the numbers they should."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.paper_records import paper_records

from purecover import MixtureProportions, recover_pr, recover_roc
from purecover.counts import ScoreCounts
from purecover.paper.design import Record
from purecover.paper.figures import (
    beside_figure,
    error_boxes,
    figure1,
    figure2,
    figure3,
    figure4,
    standings_figure,
    thresholds_figure,
    to_svg,
)
from purecover.paper.standings import standings
from purecover.paper.tables import (
    ERROR_COLUMNS,
    NUMBERS,
    OURS,
    PAPERS,
    KeptScores,
    Row,
    Runs,
    paper_combination,
    simulated_scores,
    threshold_errors,
    thresholds_sheet,
)


@pytest.fixture(scope="module")
def runs() -> Runs:
    return Runs(paper_records(noise=0.05))


# -- Figure 1 -----------------------------------------------------------------------------


def test_figure1_is_the_worked_example() -> None:
    lines = {line.get_label(): line for line in figure1().axes[1].get_lines()}
    assert list(lines)[1:] == [
        "observed, 0.800", "true, 0.9375", "recovered, not repaired, 0.875",
        "Algorithm 1, 0.9028", "isotonic, 0.8611",
    ]  # fmt: skip
    np.testing.assert_allclose(
        lines["recovered, not repaired, 0.875"].get_xdata(),
        [0, -1 / 12, 1 / 6, 1 / 12, 1 / 3, 1 / 4, 1 / 2, 3 / 4, 1],
        atol=1e-12,
    )
    np.testing.assert_allclose(
        lines["observed, 0.800"].get_ydata(), [0, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 1, 1, 1, 1]
    )


# -- Figure 2 -----------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["auc", "auc_pr"])
@pytest.mark.parametrize("by", ["beta", "e"])
def test_boxes_hold_every_run_once(runs: Runs, metric: str, by: str) -> None:
    boxes = error_boxes(runs, metric, PAPERS, "traditional", by=by)
    assert len(boxes) == 3
    for column in ERROR_COLUMNS[metric]:
        pooled = np.concatenate([group[column] for group in boxes.values() if column in group])
        errors = runs.errors(paper_combination(column, metric, PAPERS), "traditional")
        np.testing.assert_allclose(np.sort(pooled), np.sort(errors))


def test_boxes_by_the_error_of_the_proportions(runs: Runs) -> None:
    boxes = error_boxes(runs, "auc", PAPERS, "traditional", by="e")
    e = np.abs(runs.proportion_errors(PAPERS.estimator)["delta"])
    edges = {"0 ≤ e < 0.1": (0, 0.1), "0.1 ≤ e < 0.2": (0.1, 0.2), "e ≥ 0.2": (0.2, 9)}
    assert list(boxes) == list(edges)
    for title, (low, high) in edges.items():
        assert boxes[title]["de"].size == np.sum((e >= low) & (e < high)) > 0


def test_boxes_are_signed(runs: Runs) -> None:
    boxes = error_boxes(runs, "auc", OURS, "traditional", by="beta")
    assert all((group["pu"] < 0).all() for group in boxes.values())


def test_figure2_draws_the_boxes(runs: Runs) -> None:
    figure = figure2(runs, OURS, "same")
    assert [ax.get_title(loc="left")[0] for ax in figure.axes] == ["a", "b", "c", "d"]
    assert [len(ax.patches) for ax in figure.axes] == [15, 15, 9, 9]
    first = figure.axes[0]
    assert [tick.get_text() for tick in first.get_xticklabels()] == [
        "β = 1\n(48 runs)", "β = 0.95\n(48 runs)", "β = 0.75\n(48 runs)",
    ]  # fmt: skip
    boxes = error_boxes(runs, "auc", OURS, "same", by="beta")
    drawn = {float(y) for line in first.get_lines() for y in np.ravel(line.get_ydata())}
    medians = [float(np.median(group[name])) for group in boxes.values() for name in group]
    assert all(min(abs(m - y) for y in drawn) < 1e-12 for m in medians)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "PU", "IR", "DR", "IE", "DE",
    ]  # fmt: skip


def test_figure2_of_next_to_nothing_is_empty_axes() -> None:
    runs = Runs([Record("gas", 1.0, 0, "auc", "same", "", "", 0.9, None, None)])
    figure = figure2(runs, OURS, "same")
    assert all(not ax.patches for ax in figure.axes)
    assert not figure.legends


# -- Figures 3 and 4 ----------------------------------------------------------------------


def test_figure3_has_the_papers_worlds() -> None:
    figure = figure3(n_grid=5)
    assert len(figure.axes) == 27 + 1  # and the scale


def test_figure4_has_a_map_and_a_diagram() -> None:
    figure = figure4(n_grid=5)
    assert figure.axes[0].get_title() == "AUC 0.9 (observed 0.7)"
    assert len(figure.axes) == 3


# -- the best -----------------------------------------------------------------------------


def test_standings_are_drawn_from_the_best_down(runs: Runs) -> None:
    found = {metric: standings(runs, metric, "same", known=False) for metric in ("auc", "auc_pr")}
    figure = standings_figure(found, most=5)
    for ax, best in zip(figure.axes, found.values(), strict=True):
        labels = [tick.get_text() for tick in ax.get_yticklabels()]
        assert labels == [f"{b.what.estimator}, {b.what.repair or 'direct'}" for b in best[:5]]
        ends, marks = ax.get_lines()[::2], ax.get_lines()[1::2]
        assert [tuple(line.get_xdata()) for line in ends] == [(b.low, b.high) for b in best[:5]]
        assert [line.get_xdata()[0] for line in marks] == [b.error for b in best[:5]]
        assert ax.yaxis_inverted()


# -- the number of thresholds -------------------------------------------------------------


@pytest.fixture(scope="module")
def kept() -> list[KeptScores]:
    return simulated_scores(4, n_labeled=200, n_unlabeled=800)


def test_all_thresholds_are_algorithm_1(kept: list[KeptScores]) -> None:
    found = threshold_errors(kept[:1], [None, 10**6])
    each = kept[0]
    counts = ScoreCounts.from_scores(each.scores, each.labeled)
    alpha = each.positive[~each.labeled].mean()
    proportions = MixtureProportions(alpha, each.positive[each.labeled].mean())
    true = ScoreCounts.from_scores(each.scores, each.positive)
    known = MixtureProportions(alpha=0.0)
    auc = recover_roc(counts, proportions, repair="paper").auc - recover_roc(true, known).auc_pu
    true_pr = recover_pr(true, known, repair="none", target=alpha).auc_pr
    auc_pr = recover_pr(counts, proportions, repair="paper").auc_pr - true_pr
    for errors in found:
        assert errors.auc == pytest.approx([auc])
        assert errors.auc_pr == pytest.approx([auc_pr])


def test_few_thresholds_cost_most_where_separation_is_good(kept: list[KeptScores]) -> None:
    errors = {(e.title, e.number): np.abs(e.auc).mean() for e in threshold_errors(kept)}
    titles = list(dict.fromkeys(title for title, _ in errors))
    assert len(errors) == 3 * len(NUMBERS)
    assert errors[titles[-1], 10] > 5 * errors[titles[-1], None]
    assert errors[titles[0], 10] < 3 * errors[titles[0], None]


def test_one_threshold_and_both_ends_are_left() -> None:
    scores = np.arange(10.0)
    positive = scores >= 6
    labeled = np.isin(scores, [7, 9])
    (found,) = threshold_errors([KeptScores("x", scores, labeled, positive)], [1])
    # The median is 5, where all labeled and half the scores are above: three points, (0, 0),
    # the mapped one and (1, 1).
    fpr_pu, alpha = 3 / 8, 2 / 8
    fpr = (fpr_pu - alpha) / (1 - alpha)
    assert found.auc == pytest.approx([(1 - fpr / 2) - 1])


def test_simulated_scores_are_the_same_each_time(kept: list[KeptScores]) -> None:
    again = simulated_scores(4, n_labeled=200, n_unlabeled=800)
    assert all(np.array_equal(a.scores, b.scores) for a, b in zip(kept, again, strict=True))
    other = simulated_scores(4, n_labeled=200, n_unlabeled=800, random_state=1)
    assert not np.array_equal(kept[0].scores, other[0].scores)


def test_thresholds_figure_and_table_agree(kept: list[KeptScores]) -> None:
    errors = threshold_errors(kept)
    figure, sheet = thresholds_figure(errors), thresholds_sheet(errors)
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == [
        "10", "30", "100", "300", "1,000", "all",
    ]  # fmt: skip
    for ax, column in zip(figure.axes, (3, 6), strict=True):
        drawn = np.concatenate([line.get_ydata() for line in ax.get_lines()])
        np.testing.assert_allclose(drawn, [row[column] for row in sheet.rows])


# -- SVG ----------------------------------------------------------------------------------


def test_svg_is_the_same_each_time_and_leaves_no_figure_open() -> None:
    texts = [to_svg(figure1()) for _ in range(2)]
    assert texts[0] == texts[1]
    assert ET.fromstring(texts[0]).tag.endswith("svg")  # noqa: S314 - our own
    assert "<text" not in texts[0]  # letters are paths
    assert plt.get_fignums() == []


# -- ours beside the printed errors -------------------------------------------------------


def test_beside_figure_has_a_mark_per_row() -> None:
    rows = {Row("gas", 1.0): (0.1, 0.2), Row("gas", 0.75): (0.3, 0.0), Row("wine", 1.0): (0.2, 0.1)}
    figure = beside_figure({"IR": rows, "DR": {Row("gas", 1.0): (0.05, 0.4)}})
    left, right = figure.axes
    marks = {line.get_label(): line.get_xydata().tolist() for line in left.get_lines()[1:]}
    assert marks == {"β = 1": [[0.1, 0.2], [0.2, 0.1]], "β = 0.75": [[0.3, 0.0]]}
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["IR", "DR"]
    assert left.get_xlim() == left.get_ylim() == right.get_xlim()
    assert left.get_xlim()[0] < 0
    assert left.get_xlim()[1] == pytest.approx(0.42)
    plt.close(figure)
