"""The comparison with the programs of the authors: its problems and its verdicts."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

ROOT = Path(__file__).parents[1]


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.prior_peers")


def rows_of(study, name, world, alphas):
    return [study.Row(world, name, alpha, 0.1) for alpha in alphas]


def test_rows_are_drawn_as_said(study):
    for world in study.WORLDS:
        features, labeled = world.sample(3)
        again, _ = world.sample(3)
        other, _ = world.sample(4)
        np.testing.assert_array_equal(features, again)
        assert not np.array_equal(features, other)
        assert features.shape == (11_000, world.n_features)
        assert labeled.sum() == 1000
        # Labeled rows are positive: their first feature is normal around 2, the others are noise.
        assert stats.kstest(features[labeled, 0], stats.norm(2).cdf).pvalue > 1e-3
        mixture = 0.25 * 2
        assert features[~labeled, 0].mean() == pytest.approx(mixture, abs=0.06)
        assert np.abs(features[:, 1:].mean(axis=0)).max(initial=0) < 0.05


def test_scores_separate_as_the_feature_does(study):
    from sklearn.metrics import roc_auc_score

    features, labeled = study.WORLDS[1].sample(0)
    scores = study.out_of_fold_scores(features, labeled, 0)
    assert roc_auc_score(labeled, scores) == pytest.approx(
        roc_auc_score(labeled, features[:, 0]), abs=0.01
    )


def test_every_estimator_takes_part_and_features_go_where_they_are_taken(study):
    from purecover.estimators.base import prior_estimators

    found = study.contestants()
    for name, kind in prior_estimators().items():
        if name in study.LEFT_OUT:
            continue
        on_features = getattr(kind, "takes", "scores") == "features"
        assert found[name] == (kind, on_features)
        assert (name + study.ON_SCORES in found) is on_features


def test_verdicts(study):
    good = rows_of(study, "bbe", "1-D", [0.25 + 0.068, 0.25 - 0.068])
    assert list(study.verdicts(good)) == []
    assert study.mean_error(good) == pytest.approx(0.068)
    assert study.bias(good) == pytest.approx(0)
    (said,) = study.verdicts(rows_of(study, "bbe", "10-D", [0.32]))
    assert "bbe in 10-D" in said
    assert "0.047 of BBE" in said
    # Without a figure of the authors: a limit in 1-D, none in 10-D and on scores.
    assert len(list(study.verdicts(rows_of(study, "mine", "1-D", [0.34])))) == 1
    assert list(study.verdicts(rows_of(study, "mine", "10-D", [0.34]))) == []
    assert list(study.verdicts(rows_of(study, "mine, on scores", "1-D", [0.34]))) == []


def test_a_known_exception_has_a_limit_of_its_own_and_is_said(study):
    assert study.pearson_limit(study.WORLDS[0]) == pytest.approx(0.41, abs=0.005)
    biased = rows_of(study, "pearson", "1-D", [0.41, 0.43])
    assert list(study.verdicts(biased)) == []
    (said,) = study.exceptions(biased)
    assert said.startswith("Known exception: pearson errs by 0.170 in 1-D")
    assert "alpha = 0.414 instead of 0.25" in said
    (failure,) = study.verdicts(rows_of(study, "pearson", "1-D", [0.45]))
    assert "above the 0.164 that the method errs by" in failure
    assert list(study.exceptions(rows_of(study, "bbe", "1-D", [0.3]))) == []
    both = [*biased, *rows_of(study, "pearson", "10-D", [0.4])]
    assert study.lines(both)[0][0] == "pearson (known exception)"


def test_the_bias_of_the_exception_is_none_where_classes_do_not_overlap(study):
    apart = study.FeatureWorld(1, distance=12.0)
    assert study.pearson_limit(apart) == pytest.approx(apart.alpha, abs=1e-4)


def test_who_refuses_says_that_all_are_positive(study):
    assert study.mean_error(rows_of(study, "mine", "1-D", [math.nan])) == 0.75


def test_lines_set_figures_beside_ours(study):
    rows = [
        row
        for name in ("bbe", "mine")
        for world in ("1-D", "10-D")
        for row in rows_of(study, name, world, [0.3])
    ]
    first, second = study.lines(rows)
    assert first[0] == "bbe"
    assert first[1:4] == ["0.050", "+0.050", "0.10"]
    assert first[-3:] == ["BBE", "0.049 / 0.047", "0.03 / 0.04"]
    assert second[-3:] == ["", "", ""]
