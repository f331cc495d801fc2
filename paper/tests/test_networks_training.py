"""How the networks are trained: resilient propagation, bags, a slow twin, blocks of rows."""

from __future__ import annotations

import itertools
from typing import Any

import array_api_compat.numpy as xp
import numpy as np
import pytest
from paper.tests.networks_twin import Twin, train_twin

from purecover_paper.networks import BaggedNetworks
from purecover_paper.networks import batch as _batch
from purecover_paper.networks import ensembles as _engine
from purecover_paper.networks.bags import draw_bags
from purecover_paper.networks.batch import train_batch
from purecover_paper.networks.layers import BagScale, Rows, Workspace, gradient
from purecover_paper.networks.options import PRESETS, RpropConstants, Training, check_training
from purecover_paper.networks.rprop import RpropState, rprop_step

VARIANTS = ("rprop-", "rprop+", "irprop-", "irprop+")


def world(n: int = 150, d: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    labeled = rng.random(n) < 0.35
    X = rng.normal(size=(n, d)) + labeled[:, None] * rng.normal(size=d)
    return X, labeled


def standardized(X: Any) -> Any:
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.column_stack([Z, np.ones(len(Z))])


def rows_of(X: Any, labeled: Any, training: Training, block: int = 2**17) -> Rows:
    return Rows(standardized(X), _engine.targets_of(labeled, training), block)


def seeds(size: int, entropy: int = 0) -> list[np.random.SeedSequence]:
    return np.random.SeedSequence(entropy).spawn(size)


def trace(variant: Any, constants: RpropConstants, steps: int, start: float = 1.0) -> list[float]:
    """The weight w while E = w^2 / 2 is minimized."""
    weights = np.array([[start]])
    state = RpropState.first(xp, weights, constants)
    path = [start]
    for _ in range(steps):
        loss = weights[0] ** 2 / 2
        weights = weights + rprop_step(xp, state, weights, loss, rprop=variant, constants=constants)
        path.append(float(weights[0, 0]))
    return path


@pytest.mark.parametrize(
    ("variant", "path"),
    [
        ("rprop-", [1, 0.5, -0.1, 0.2, 0.05, -0.13, -0.04, 0.068]),
        ("irprop-", [1, 0.5, -0.1, -0.1, 0.2, 0.2, 0.05, -0.13]),
        ("rprop+", [1, 0.5, -0.1, 0.5, 0.2, -0.16, 0.2, 0.02]),
        ("irprop+", [1, 0.5, -0.1, -0.1, 0.2, -0.1, 0.05, 0.05]),
    ],
)
@pytest.mark.parametrize("smallest", [0.0, 1e-6])
def test_traces_of_the_four_variants(variant, path, smallest):
    constants = RpropConstants(first=0.5, smallest=smallest)
    np.testing.assert_allclose(trace(variant, constants, 7), path, rtol=0, atol=1e-12)


@pytest.mark.torch
@pytest.mark.parametrize("first", [0.5, 0.01])
def test_irprop_minus_is_the_rule_of_torch(first):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    rng = np.random.default_rng(0)
    start, curvature = rng.normal(size=8), rng.uniform(0.1, 10, size=8)
    ours = start[:, None].copy()
    constants = RpropConstants(first=first, smallest=1e-6)
    state = RpropState.first(xp, ours, constants)
    theirs = torch.tensor(start, requires_grad=True)
    optimizer = torch.optim.Rprop([theirs], lr=first)
    for _ in range(200):
        ours += rprop_step(
            xp, state, curvature[:, None] * ours, np.zeros(1), rprop="irprop-",
            constants=constants,
        )  # fmt: skip
        optimizer.zero_grad()
        (torch.tensor(curvature) * theirs**2 / 2).sum().backward()
        optimizer.step()
        np.testing.assert_allclose(ours[:, 0], theirs.detach().numpy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("output", ["tanh", "logistic"])
@pytest.mark.parametrize("loss", ["squared", "cross-entropy"])
def test_the_gradient_is_that_of_the_loss(output, loss):
    X, labeled = world(60)
    training = Training(hidden=3, output=output, loss=loss)
    rows = rows_of(X, labeled, training)
    bags = draw_bags(seeds(2), len(X), 4, training)
    scale = BagScale.of_bags(rows, bags.train, bags.validation)
    space = Workspace(rows, 3, 2)

    def evaluate(weights: Any) -> tuple[Any, Any]:
        effective = scale.effective(xp, weights, 3)
        slope, value, _ = gradient(space, bags.train, bags.validation, effective, training)
        return scale.standardized(xp, slope, 3), value

    slopes, _ = evaluate(bags.initial)
    numeric = np.empty_like(slopes)
    for i, h in itertools.product(range(len(slopes)), (1e-6,)):
        step = np.zeros_like(bags.initial)
        step[i] = h
        numeric[i] = (evaluate(bags.initial + step)[1] - evaluate(bags.initial - step)[1]) / (2 * h)
    # Slopes are true up to a positive constant.
    constant = np.sum(numeric * slopes) / np.sum(slopes**2)
    assert constant > 0
    np.testing.assert_allclose(constant * slopes, numeric, rtol=1e-5, atol=1e-6)


CHOICES = [
    {"output": output, "loss": loss, "rprop": rprop, "split": split}
    for output, loss, rprop, split in itertools.product(
        ("tanh", "logistic"), ("squared", "cross-entropy"), VARIANTS, ("rows", "positions")
    )
]


def twins(X: Any, labeled: Any, training: Training, streams: Any) -> tuple[list[Twin], Any]:
    bags = draw_bags(streams, len(X), X.shape[1], training)
    made = [
        train_twin(
            X, labeled.astype(float), bags.train[:, b], bags.validation[:, b], bags.initial[:, b],
            output=training.output, loss=training.loss, rprop=training.rprop,
            max_epochs=training.max_epochs, patience=training.patience,
            steps=(training.constants.first, training.constants.smallest),
        )
        for b in range(len(streams))
    ]  # fmt: skip
    return made, bags.train + bags.validation > 0


@pytest.mark.parametrize("choices", CHOICES, ids=lambda c: "-".join(c.values()))
def test_a_batch_equals_one_network_at_a_time(choices):
    X, labeled = world()
    training = check_training(
        preset="paper",
        hidden=3,
        max_epochs=60,
        patience=8,
        constants="torch" if choices["split"] == "rows" else "matlab",
        **choices,
    )
    streams = seeds(6)
    features = standardized(X)
    ensemble = _engine.train_ensemble(features, labeled, streams, training)
    made, in_bag = twins(features[:, :-1], labeled, training, streams)
    for b, twin in enumerate(made):
        assert twin.epoch == ensemble.epochs[b]
        np.testing.assert_allclose(ensemble.losses[b], twin.loss, rtol=1e-8)
        np.testing.assert_allclose(ensemble.weights[:, b], twin.column(3), rtol=1e-6, atol=1e-6)
    shares = np.column_stack([twin.share(features[:, :-1]) for twin in made])
    counts = (~in_bag).sum(axis=1)
    np.testing.assert_array_equal(ensemble.oob_counts, counts)
    np.testing.assert_allclose(ensemble.oob_sums, (shares * ~in_bag).sum(axis=1), atol=1e-6)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_the_estimator_equals_one_network_at_a_time(preset):
    X, labeled = world(n=120, d=3, seed=5)
    X = X * [1.0, 1e4, 1e-3] + [0.0, 1e5, 7.0]  # z-scoring by bag takes any units
    networks = BaggedNetworks(
        12, preset=preset, device="cpu", dtype="float64", random_state=3, max_epochs=80
    ).fit(X, labeled)
    training = check_training(preset=preset, hidden=5, max_epochs=80)
    made, in_bag = twins(X, labeled, training, seeds(12, 3))
    shares = np.column_stack([twin.share(X) for twin in made])
    oob = (shares * ~in_bag).sum(axis=1) / (~in_bag).sum(axis=1)
    np.testing.assert_array_equal(networks.n_epochs_, [twin.epoch for twin in made])
    np.testing.assert_allclose(networks.oob_score_samples_, oob, rtol=0, atol=1e-6)
    np.testing.assert_allclose(networks.score_samples(X), shares.mean(axis=1), rtol=0, atol=1e-6)


def test_networks_that_stop_leave_without_touching_the_others(monkeypatch):
    X, labeled = world()
    training = Training(patience=3)
    rows = rows_of(X, labeled, training)
    bags = draw_bags(seeds(20), len(X), 4, training)
    arguments = (rows, bags.train, bags.validation, bags.initial, training)
    stopped: list[int] = []
    leaving = train_batch(*arguments, on_progress=stopped.append)
    monkeypatch.setattr(_batch, "THIN_OUT", 0.0)
    staying = train_batch(*arguments)
    assert np.unique(leaving.epochs).size > 5
    assert stopped == sorted(stopped)
    assert stopped[-1] == 20
    np.testing.assert_array_equal(leaving.epochs, staying.epochs)
    np.testing.assert_allclose(leaving.weights, staying.weights, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("fraction", [0.25, 0.5])
def test_distinct_rows_are_held_out(fraction):
    training = Training(validation_fraction=fraction)
    bags = draw_bags(seeds(30), 200, 3, training)
    train, held = bags.train > 0, bags.validation > 0
    assert not np.any(train & held)
    drawn = bags.train.astype(int) + bags.validation
    np.testing.assert_array_equal(drawn.sum(axis=0), 200)
    np.testing.assert_allclose(
        held.sum(axis=0), fraction * (train | held).sum(axis=0), rtol=0, atol=0.5
    )
    # A row stays out of a bag with probability (1 - 1/200)^200.
    assert np.mean(~(train | held)) == pytest.approx(0.367, abs=0.01)


def test_the_streams_of_networks_do_not_depend_on_their_number():
    training = Training()
    few, many = (draw_bags(seeds(size), 100, 3, training) for size in (10, 60))
    for name in ("train", "validation", "initial"):
        np.testing.assert_array_equal(getattr(few, name), getattr(many, name)[:, :10])
        assert len(np.unique(getattr(many, name), axis=1).T) == 60


def test_the_scale_of_a_bag_is_that_of_its_rows():
    X, labeled = world()
    training = Training()
    rows = rows_of(X, labeled, training)
    bags = draw_bags(seeds(3), len(X), 4, training)
    scale = BagScale.of_bags(rows, bags.train, bags.validation)
    for b in range(3):
        drawn = np.repeat(rows.features, bags.train[:, b] + bags.validation[:, b], axis=0)
        np.testing.assert_allclose(scale.mean[:-1, b], drawn.mean(axis=0)[:-1], atol=1e-12)
        np.testing.assert_allclose(
            1 / scale.inverse[:-1, b], drawn.std(axis=0, ddof=1)[:-1], rtol=1e-12
        )


@pytest.mark.torch
@pytest.mark.parametrize("preset", list(PRESETS))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_torch_trains_the_same_networks(preset, dtype):
    pytest.importorskip("torch", reason="torch is not installed")
    X, labeled = world(300, seed=4)
    common: dict[str, Any] = {
        "preset": preset, "dtype": dtype, "random_state": 0, "max_epochs": 40,
    }  # fmt: skip
    here = BaggedNetworks(60, device="cpu", **common).fit(X, labeled)
    there = BaggedNetworks(60, device="torch:cpu", **common).fit(X, labeled)
    np.testing.assert_array_equal(there.oob_counts_, here.oob_counts_)
    np.testing.assert_allclose(there.oob_score_samples_, here.oob_score_samples_, rtol=0, atol=1e-4)
    np.testing.assert_allclose(there.score_samples(X), here.score_samples(X), rtol=0, atol=1e-4)
    if dtype == "float64":
        np.testing.assert_array_equal(there.n_epochs_, here.n_epochs_)
