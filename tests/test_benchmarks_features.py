"""The studies of estimators that take features: their data, who takes part, and speed."""

from __future__ import annotations

import gzip
import importlib
from pathlib import Path

import numpy as np
import pytest

import purecover

ROOT = Path(__file__).parents[1]


def study(name, monkeypatch):
    """A module of the studies, which are no package that is installed."""
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module(f"benchmarks.{name}")


# -- features ---------------------------------------------------------------------------


def test_every_registered_estimator_is_in_the_comparison(monkeypatch):
    contestants = study("_contestants", monkeypatch)
    on_scores = {each.name for each in contestants.ours()}
    beside = contestants.with_features()
    on_features = {each.name for each in beside if each.on_features}
    for name, kind in purecover.prior_estimators().items():
        if name not in contestants.ELSEWHERE:
            assert name in on_scores or name == contestants.DEFAULT_NAME
        assert (name + contestants.ON_FEATURES in on_features) is (kind.takes == "features")
    names = [each.name for each in beside]
    assert len(set(names)) == len(names)
    assert {contestants.DEFAULT, *contestants.BESIDE_FEATURES} < set(names)
    assert {each.name for each in beside if each.slow} == {"kernel-mean, on features"}


def test_feature_worlds_hold_what_they_say(monkeypatch):
    worlds = study("_feature_worlds", monkeypatch)
    everything = list(worlds.feature_worlds())
    assert len({world.source for world in everything}) == len(everything) == 25
    for world in everything:
        features, labeled = world.replicate(0, 0)
        assert features.shape == (5500, world.n_features)
        assert labeled.sum() == 500
        assert world.truth == (world.alpha, world.beta)
        assert np.array_equal(features, world.replicate(0, 0)[0])
        assert not np.array_equal(features, world.replicate(0, 1)[0])


def test_positives_of_rings_and_corners_lie_where_they_should(monkeypatch):
    worlds = study("_feature_worlds", monkeypatch)
    sizes = {"n_labeled": 20_000, "n_unlabeled": 20_000, "alpha": 0.0, "beta": 1.0}
    features, labeled = worlds.FeatureWorld(2, shape="rings", **sizes).sample(0)
    radius = np.hypot(*features.T)
    assert radius[labeled].mean() == pytest.approx(worlds.OUTER, abs=0.03)
    assert radius[~labeled].mean() == pytest.approx(worlds.INNER, abs=0.03)
    np.testing.assert_allclose(features[labeled].mean(axis=0), 0, atol=0.1)  # all around
    features, labeled = worlds.FeatureWorld(2, shape="XOR", **sizes).sample(0)
    for kind, sign in ((labeled, 1), (~labeled, -1)):
        np.testing.assert_allclose(features[kind].mean(axis=0), 0, atol=0.1)
        corners = features[kind, 0] * features[kind, 1]
        assert corners.mean() == pytest.approx(sign * worlds.CORNER**2, abs=0.1)


def test_noisy_labels_of_a_feature_world_are_of_negatives(monkeypatch):
    worlds = study("_feature_worlds", monkeypatch)
    world = worlds.FeatureWorld(1, distance=50, alpha=0.3, beta=0.8, n_labeled=10, n_unlabeled=10)
    features, labeled = world.sample(0)
    assert (features[labeled, 0] > 25).sum() == 8
    assert (features[~labeled, 0] > 25).sum() == 3


def test_the_likelier_scores_are_taken(monkeypatch):
    worlds = study("_feature_worlds", monkeypatch)
    labeled = np.array([True, False, True, False])
    scores = {"bad": np.full(4, 0.5), "good": np.where(labeled, 0.8, 0.2)}
    assert worlds.likelier(scores, labeled) == "good"


def test_rows_and_scores_of_a_world_belong_together(monkeypatch):
    sources = study("_sources", monkeypatch)
    world = next(w for w in sources.feature_worlds() if w.shape == "rings")
    data = sources.simulated_rows(world, 0, 0)
    features, labeled = data.rows
    assert data.counts.n_labeled == labeled.sum()
    assert len(features) == data.counts.n_labeled + data.counts.n_unlabeled
    # A line sees nothing in rings; boosted trees do, and are chosen for it.
    assert purecover.auc_pu(data.counts) > 0.7


def test_real_rows_are_standardized_and_scored_by_two_classifiers(monkeypatch, tmp_path):
    sources = study("_sources", monkeypatch)
    rng = np.random.default_rng(0)
    lines = ["x,y,constant,target"]
    lines += [
        f"{rng.normal(2 * y):.4f},{1e4 * rng.normal():.1f},7,{y}"
        for y in np.repeat([1, 0], [268, 500])
    ]
    with gzip.open(tmp_path / "pima.csv.gz", "wt", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    asked = []
    scored = sources._real.scored

    def watched(problem, folder):
        asked.append(problem.classifier)
        return scored(problem, folder, tmp_path / "cache")

    monkeypatch.setattr(sources._real, "scored", watched)
    data = sources.RealRows("pima", 0.75, 0).load(tmp_path)
    features, labeled = data.rows
    assert asked == ["logistic", "boosting"]
    assert data.truth == pytest.approx(((268 - 75) / 668, 0.75))
    np.testing.assert_allclose(features.std(axis=0), [1, 1, 0], atol=1e-9)
    assert features[labeled, 0].mean() > features[~labeled, 0].mean()


def test_a_tiny_run_has_a_data_set_of_three_worlds_of_each_part(monkeypatch):
    sources = study("_sources", monkeypatch)
    monkeypatch.delenv("PURECOVER_DATA", raising=False)
    todo = list(sources.tasks("abcdef", 2, 2, 1, 2, 0))
    assert {task.part for task in todo} == {"a", "b", "e"}
    assert sum(task.part == "e" for task in todo) == 50
    assert sum(task.for_slow for task in todo if task.part == "e") == 25
    tiny = sources.few(todo)
    assert sorted(task.part for task in tiny) == [*"aaabbbeee"]
    assert len({(task.part, task.group) for task in tiny}) == 9


def test_peers_on_features_get_the_rows(monkeypatch):
    contestants = study("_contestants", monkeypatch)
    seen = []

    class Spy(contestants.FeaturePeer):
        def _ask(self, features, labels):
            seen.append((features, labels))
            return purecover.Inclusions(0.3)

    features = np.arange(12.0).reshape(6, 2)
    labeled = np.array([True, False, True, False, False, True])
    purecover.NoisyLabels(Spy("", "", (), pooled=False), clean="never").fit(features, labeled)
    for (rows, labels), side in zip(seen, (labeled, ~labeled), strict=True):
        assert {tuple(row) for row in rows[labels == 1]} == {tuple(row) for row in features[side]}
        assert len(rows) == 6


# -- speed beside other packages --------------------------------------------------------


def test_speed_beyond_what_is_promised_is_a_failure(monkeypatch):
    speed = study("priors_speed_peers", monkeypatch)
    quick = {"seconds": 0.5, "gib": 0.5, "alpha": 0.25}
    rows, failures = speed.lines(dict.fromkeys(speed.FITS, quick))
    assert failures == []
    assert len(rows) == len(speed.FITS)
    found = {
        "KM2 (kernel-mean)": {"seconds": 61.0, "gib": 1.2, "alpha": 0.25},
        "TIcE (tice)": "given up after 9 s",
        "regrouping": {"seconds": 99.0, "gib": 9.0, "alpha": 0.25},
        "pu-toolbox: KM2": "not installed",
    }
    rows, failures = speed.lines(found)
    assert [row[2] for row in rows] == ["61.000", "given up after 9 s", "99.000", "not installed"]
    assert len(failures) == 3
    assert "61.00 CPU s, above 60" in failures[0]
    assert "1.20 GiB, above 1" in failures[1]
    assert "TIcE (tice): given up" in failures[2]


def test_every_promise_of_speed_is_of_a_registered_estimator_on_its_data(monkeypatch):
    speed = study("priors_speed_peers", monkeypatch)
    for name, fit in speed.OURS.items():
        kind = type(fit.make())
        assert kind in purecover.prior_estimators().values(), name
        assert fit.on_scores or kind.takes == "features"
    values, labeled = speed.OURS["KM2 (kernel-mean)"].values(0, warm=False)
    assert values.shape == (4000, 10)
    assert labeled.sum() == 2000
    values, _ = speed.OURS["DistCurve (dist-curve)"].values(0, warm=True)
    assert values.shape == (400,)
