from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover.curves import auc_pu
from purecover.exceptions import IdentifiabilityError, InvalidInputError, InvalidTypeError
from purecover.proportions import MixtureProportions
from purecover.recovery.auc import recover_auc
from purecover.recovery.maps import (
    auc_sensitivity,
    error_map,
    error_maps,
    lines_of_interest,
    sensitivity,
)
from purecover.recovery.metrics import recover_metrics
from purecover.recovery.pr import recover_pr

OBSERVED = {  # (alpha, beta, auc): observed AUC
    (0.25, 0.75, 0.90): 0.70,
    (0.05, 0.75, 0.65): 0.605,
    (0.05, 0.95, 0.95): 0.905,
    (0.25, 1.00, 0.80): 0.725,
    (0.50, 0.75, 0.95): 0.6125,
    (0.50, 1.00, 0.65): 0.575,
}


@pytest.fixture(scope="module")
def counts() -> ScoreCounts:
    return simulate.binormal(1.5).sample(100, 600, alpha=0.25, beta=0.75, random_state=3).counts


# -- with data --------------------------------------------------------------------------------


def test_auc_is_the_direct_one_at_every_pair(counts):
    grid = auc_sensitivity(counts)
    assert grid.values.shape == (101, 101)
    for i, j in itertools.product(range(0, 101, 7), repeat=2):
        alpha, beta = grid.alphas[i], grid.betas[j]
        if alpha >= beta:
            assert math.isnan(grid.values[i, j])
            assert not grid.infeasible[i, j]
            continue
        exact = recover_auc(counts, MixtureProportions(alpha, beta), clip=False)
        assert grid.values[i, j] == pytest.approx(exact, abs=1e-12)
        assert grid.infeasible[i, j] == (not 0 <= exact <= 1)
    assert grid.infeasible.any()


def test_example_of_errors_in_delta():
    # AUC 0.8 at alpha 0.25 and beta 0.75: an error of -0.1 or 0.1 in delta.
    counts = ScoreCounts.from_counts([1, 0], labeled=[65, 35], unlabeled=[35, 65])
    assert auc_pu(counts) == 0.65
    grid = auc_sensitivity(counts, alphas=[0.15, 0.25, 0.35], betas=0.75)
    np.testing.assert_allclose(grid.values[:, 0], [0.75, 0.8, 0.875])


@pytest.mark.parametrize("metric", ["auc_pr", "precision", "f1", "balanced_accuracy"])
@pytest.mark.parametrize("repair", ["isotonic", "paper"])
def test_other_metrics_equal_a_loop(counts, metric, repair):
    alphas, betas = [0.0, 0.2, 0.6], [0.6, 0.9]
    options = {"target": 0.3, "repair": repair}
    grid = sensitivity(counts, metric, alphas=alphas, betas=betas, threshold=0.5, **options)
    for (i, alpha), (j, beta) in itertools.product(enumerate(alphas), enumerate(betas)):
        if alpha >= beta:
            assert math.isnan(grid.values[i, j])
            continue
        proportions = MixtureProportions(alpha, beta)
        if metric == "auc_pr":
            one = recover_pr(counts, proportions, **options).auc_pr
        else:
            one = recover_metrics(counts, proportions, threshold=0.5, **options)[metric]
        assert grid.values[i, j] == pytest.approx(one, nan_ok=True)


def test_threshold_defaults_to_the_best_youden_index(counts):
    grid = sensitivity(counts, "precision", alphas=[0.1, 0.3], betas=[0.8, 1.0])
    for (i, alpha), (j, beta) in itertools.product(enumerate([0.1, 0.3]), enumerate([0.8, 1.0])):
        alone = recover_metrics(counts, MixtureProportions(alpha, beta), metrics=["precision"])
        assert grid.threshold == alone.threshold
        assert grid.values[i, j] == alone["precision"]
    assert sensitivity(counts, threshold=0.5).threshold is None


def test_scenario_sets_the_population(counts):
    case = sensitivity(counts, "auc_pr", alphas=0.25, betas=0.75)
    censored = sensitivity(counts, "auc_pr", alphas=0.25, betas=0.75, scenario="censoring")
    pooled = sensitivity(counts, "auc_pr", alphas=0.25, betas=0.75, target="pooled")
    assert censored.values == pooled.values
    assert censored.values > case.values


def test_grid_as_data(counts):
    grid = auc_sensitivity(counts, alphas=[0.1, 0.9], betas=[0.8, 0.95, 1.0])
    table = grid.frame()
    assert list(table) == ["alpha", "beta", "value", "infeasible"]
    assert table["alpha"].tolist() == [0.1, 0.1, 0.1, 0.9, 0.9, 0.9]
    assert table["beta"].tolist() == [0.8, 0.95, 1.0] * 2
    assert np.array_equal(table["value"], grid.values.ravel(), equal_nan=True)
    plain = json.loads(json.dumps(grid.to_dict(), allow_nan=False))
    assert plain["values"][1][0] is None
    assert plain["values"][0][2] == grid.values[0, 2]
    assert grid.range == (grid.values[0, 2], grid.values[0, 0])  # the rest is infeasible
    assert "roc_auc" in repr(grid)
    with pytest.raises(ValueError, match="read-only"):
        grid.values[0, 0] = 1
    assert all(map(math.isnan, auc_sensitivity(counts, alphas=0.5, betas=0.5).range))


def test_the_users_arrays_stay_writable(counts):
    alphas = np.array([0.1, 0.2])
    auc_sensitivity(counts, alphas=alphas, betas=1.0)
    alphas[0] = 0.0


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"metric": "nonsense"}, InvalidInputError, "roc_auc"),
        ({"metric": "precision_at_k"}, InvalidInputError, "metric"),
        ({"alphas": [0.2, 0.1]}, InvalidInputError, "not increasing"),
        ({"alphas": [0.1, 1.2]}, InvalidInputError, "'alphas'.*1.2"),
        ({"betas": "0.5"}, InvalidTypeError, "betas"),
        ({"betas": [0.5, math.nan]}, InvalidInputError, "finite"),
        ({"target": "elsewhere"}, InvalidInputError, "target"),
        ({"repair": "magic"}, InvalidInputError, "repair"),
        ({"scenario": "none"}, InvalidInputError, "scenario"),
        ({"metric": "recall", "threshold": math.inf}, InvalidInputError, "threshold"),
        ({"counts": [1, 2]}, InvalidTypeError, "ScoreCounts"),
    ],
)
def test_bad_input(counts, change, error, match):
    with pytest.raises(error, match=match):
        sensitivity(**({"counts": counts} | change))


# -- without data -----------------------------------------------------------------------------


@pytest.mark.parametrize("truth", OBSERVED)
def test_observed_auc(truth):
    found = error_map(*truth, n_grid=5)
    assert found.auc_pu == pytest.approx(OBSERVED[truth], abs=1e-12)
    assert lines_of_interest(*truth)[0].auc == pytest.approx(OBSERVED[truth], abs=1e-12)


def test_error_map_equals_a_loop():
    found = error_map(0.25, 0.75, 0.9, n_grid=21)
    assert np.allclose(found.alphas, np.linspace(0, 1, 21))
    for i, j in itertools.product(range(21), repeat=2):
        if i == j:
            assert math.isnan(found.errors[i, j])
            continue
        recovered = 0.5 + 0.2 / ((j - i) / 20)
        assert found.recovered[i, j] == pytest.approx(recovered)
        if abs(j - i) < 8:  # delta below 2 * 0.7 - 1 = 0.4
            assert math.isnan(found.errors[i, j])
        else:
            assert found.errors[i, j] == pytest.approx(abs(recovered - 0.9), abs=1e-12)


@pytest.mark.parametrize("truth", OBSERVED)
def test_symmetries(truth):
    found = error_map(*truth, n_grid=41)
    # Only the difference of the guesses counts, so (a, b) and (1 - b, 1 - a) agree.
    assert np.array_equal(found.errors, found.errors[::-1, ::-1].T, equal_nan=True)
    # Swapping the guesses turns the classifier around.
    upper = np.triu_indices(41, k=1)
    np.testing.assert_allclose(found.recovered[upper], 1 - found.recovered.T[upper])
    assert np.array_equal(found.infeasible, found.infeasible.T)
    # A classifier that is as much worse than chance as this one is better.
    mirrored = error_map(truth[0], truth[1], 1 - truth[2], n_grid=41)
    np.testing.assert_allclose(mirrored.errors, found.errors, atol=1e-9)


@pytest.mark.parametrize("truth", OBSERVED)
def test_no_error_on_the_true_line_and_a_jump_across_the_pole(truth):
    alpha, beta, _ = truth
    found = error_map(*truth, n_grid=101)
    i, j = round(alpha * 100), round(beta * 100)
    delta = j - i
    on_line = np.diagonal(found.errors, delta)
    np.testing.assert_allclose(on_line, 0, atol=1e-12)
    assert found.recovered[0, 100] == pytest.approx(found.auc_pu)
    assert found.recovered[100, 0] == pytest.approx(1 - found.auc_pu)


@pytest.mark.parametrize("truth", OBSERVED)
def test_area_of_the_infeasible_region(truth):
    found = error_map(*truth, n_grid=801)
    assert found.infeasible.mean() == pytest.approx(found.infeasible_area, abs=3 / 800)
    width = 2 * OBSERVED[truth] - 1
    assert found.infeasible_area == pytest.approx(1 - (1 - width) ** 2)


def test_the_27_maps():
    maps = error_maps(n_grid=11)
    assert list(maps) == list(
        itertools.product((0.05, 0.25, 0.5), (0.75, 0.95, 1.0), (0.65, 0.8, 0.95))
    )
    for (alpha, beta, auc), one in maps.items():
        assert (one.alpha, one.beta, one.auc) == (alpha, beta, auc)
        assert one.auc_pu == pytest.approx((1 - beta + alpha) / 2 + (beta - alpha) * auc)
        assert one.errors.shape == (11, 11)
    assert len(error_maps([0.1], [0.9], [0.7, 0.8], n_grid=3)) == 2


def test_chance_is_recovered_by_every_guess():
    found = error_map(0.25, 0.75, 0.5, n_grid=11)
    off = ~np.eye(11, dtype=bool)
    assert np.all(found.errors[off] == 0)
    assert found.infeasible_area == 0
    assert all(math.isnan(line.delta) for line in lines_of_interest(0.25, 0.75, 0.5))


def test_map_as_data():
    found = error_map(0.25, 0.75, 0.9, n_grid=5)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["errors"][0][0] is None
    table = found.frame()
    assert list(table) == ["alpha", "beta", "recovered", "error"]
    assert table["alpha"][6] == 0.25
    assert table["beta"][6] == 0.25
    assert "64.0% of them infeasible" in repr(found)


@pytest.mark.parametrize("truth", [*OBSERVED, (0.1, 0.9, 0.2)])
def test_lines_recover_what_they_say(truth):
    alpha, beta, auc = truth
    observed = 0.5 + (beta - alpha) * (auc - 0.5)
    lines = {line.name: line for line in lines_of_interest(*truth)}
    assert [line.auc for line in lines.values()] == pytest.approx([observed, auc, 1, 0.5, 0])
    assert lines["observed"].delta == 1
    assert lines["observed"].segment == ((0, 1), (0, 1))  # a corner only
    assert lines["true"].delta == pytest.approx(beta - alpha)
    assert lines["one"].delta == pytest.approx(2 * observed - 1)
    assert lines["zero"].delta == pytest.approx(1 - 2 * observed)
    assert lines["half"].delta == math.inf
    assert lines["half"].segment is None
    for name in ("observed", "true", "one", "zero"):
        for a, b in lines[name].segment:
            assert 0 <= a <= 1
            assert 0 <= b <= 1
            assert {a, b} & {0.0, 1.0}  # on the edge of the square
            assert 0.5 + (observed - 0.5) / (b - a) == pytest.approx(lines[name].auc)


def test_figure_of_the_paper():
    lines = {line.name: line for line in lines_of_interest(0.25, 0.75, 0.9)}
    assert lines["observed"].auc == pytest.approx(0.70)  # not the 0.80 of the caption
    assert np.allclose(lines["one"].segment, ((0, 0.4), (0.6, 1)))
    assert np.allclose(lines["zero"].segment, ((0.4, 0), (1, 0.6)))
    assert json.loads(json.dumps(lines["half"].to_dict(), allow_nan=False)) == {
        "name": "half",
        "auc": 0.5,
        "delta": None,
        "segment": None,
    }
    assert lines["true"].to_dict()["segment"] == [[0.0, 0.5], [0.5, 1.0]]


def test_bad_truth():
    with pytest.raises(IdentifiabilityError):
        error_map(0.5, 0.5, 0.9)
    with pytest.raises(InvalidInputError, match=r"'auc' parameter of lines_of_interest"):
        lines_of_interest(0.1, 0.9, 1.1)
    with pytest.raises(InvalidInputError, match="n_grid"):
        error_map(0.1, 0.9, 0.8, n_grid=1)
    with pytest.raises(InvalidTypeError, match="'aucs' parameter of error_maps"):
        error_maps(aucs="0.5")
