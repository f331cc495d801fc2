"""The CUDA kernels, run by Triton's interpreter where there is no card: NumPy is the measure."""

from __future__ import annotations

import os
from itertools import product
from types import ModuleType

import numpy as np
import pytest

from purecover_paper.networks.bags import Bags, draw_bags
from purecover_paper.networks.batch import Ensemble
from purecover_paper.networks.ensembles import targets_of, train_part
from purecover_paper.networks.options import Training

pytestmark = pytest.mark.torch

SKIP = "the kernels need torch and Triton: pip install torch triton"


@pytest.fixture(scope="module")
def device() -> str:
    torch = pytest.importorskip("torch", reason=SKIP)
    if not torch.cuda.is_available():
        os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported
    pytest.importorskip("triton", reason=SKIP)
    return "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture(scope="module")
def fused(device: str) -> ModuleType:  # noqa: ARG001 - Triton must be told first
    from purecover_paper.networks import cuda as _fused

    return _fused


def rows_of(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labeled = np.arange(n) < n // 4
    features = rng.normal(size=(n, d))
    features[labeled, :2] += 1
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    return np.column_stack([features, np.ones(n)]).astype(np.float32), labeled


def on_processor(
    features: np.ndarray, labeled: np.ndarray, networks: int, training: Training
) -> tuple[Ensemble, Bags]:
    seeds = np.random.SeedSequence(1).spawn(networks)
    targets = targets_of(labeled, training).astype(np.float32)
    n, d = features.shape
    expected = train_part(features, targets, seeds, training)
    return expected, draw_bags(seeds, n, d - 1, training)


VARIANTS = [
    Training(rprop=rprop, output=output, loss=loss, max_epochs=4)
    for rprop, (output, loss) in product(
        ("rprop-", "rprop+", "irprop-", "irprop+"),
        (("tanh", "squared"), ("logistic", "cross-entropy")),
    )
]


@pytest.mark.parametrize(
    "training",
    [
        *VARIANTS,
        Training(output="logistic", max_epochs=4),
        Training(loss="cross-entropy", max_epochs=4),
        Training(split="positions", max_epochs=4),
        Training(hidden=20, max_epochs=3),
        Training(patience=2, max_epochs=30),  # networks stop at different epochs
    ],
    ids=lambda t: f"{t.rprop} {t.output} {t.loss} {t.split} {t.hidden} {t.patience}",
)
def test_same_as_numpy(training: Training, fused: ModuleType, device: str) -> None:
    features, labeled = rows_of(100, 6)
    expected, bags = on_processor(features, labeled, 4, training)
    targets = targets_of(labeled, training).astype(np.float32)
    found = fused.train_one(features, targets, bags, training, device)
    np.testing.assert_array_equal(found.epochs, expected.epochs)
    np.testing.assert_array_equal(found.oob_counts, expected.oob_counts)
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-5)
    np.testing.assert_allclose(found.losses, expected.losses, rtol=1e-5)
    np.testing.assert_allclose(found.oob_sums, expected.oob_sums, atol=1e-4)


@pytest.mark.parametrize("d", [1, 16, 17, 40])
def test_any_number_of_features(d: int, fused: ModuleType, device: str) -> None:
    training = Training(max_epochs=2)
    features, labeled = rows_of(90, max(d, 2))
    features = np.delete(features, 0, axis=1) if d == 1 else features
    expected, bags = on_processor(features, labeled, 2, training)
    targets = targets_of(labeled, training).astype(np.float32)
    found = fused.train_one(features, targets, bags, training, device)
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-5)


@pytest.mark.parametrize("split", ["rows", "positions"])
def test_bags_drawn_on_the_card(split: str, fused: ModuleType, device: str) -> None:
    training = Training(split=split)  # type: ignore[arg-type]
    import torch

    seeds = torch.tensor([[3, 4], [5, 6], [3, 7]], device=device)
    packed = fused.draw(seeds[:2], 5, 400, training).cpu().numpy()
    train, held = packed & 15, packed >> 4
    assert packed.shape == (2, 5, 400)
    np.testing.assert_array_equal((train + held).sum(axis=2), 400)
    # 1 - 1/e of the rows, 400 of them: within five standard deviations
    assert np.abs((packed > 0).mean(axis=2) - (1 - np.exp(-1))).max() < 0.08
    if split == "rows":
        assert not np.any((train > 0) & (held > 0))
        distinct = (packed > 0).sum(axis=2)
        assert np.abs((held > 0).sum(axis=2) - 0.25 * distinct).max() <= 1
    else:
        np.testing.assert_array_equal(held.sum(axis=2), 100)
        assert np.any((train > 0) & (held > 0))
    assert len({part.tobytes() for part in packed.reshape(10, 400)}) == 10
    alone = fused.draw(seeds[1:2], 5, 400, training).cpu().numpy()
    np.testing.assert_array_equal(alone[0], packed[1])
    if split == "rows":
        other = fused.draw(seeds[2:], 5, 400, training).cpu().numpy()[0]
        np.testing.assert_array_equal(other > 0, packed[0] > 0)
        assert not np.array_equal(other, packed[0])


def test_kernels_take_what_fits(fused: ModuleType) -> None:
    assert fused.can_train(256, np.float32, Training())
    assert not fused.can_train(257, np.float32, Training())
    assert not fused.can_train(10, np.float64, Training())
    assert not fused.can_train(10, np.float32, Training(hidden=33))


@pytest.mark.usefixtures("fused")
def test_many_at_once(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from purecover_paper.networks import many as _many

    rng = np.random.default_rng(0)
    positive = rng.random(120) < 0.4
    table = 1e6 + rng.normal(size=(120, 3)) + 2.5 * positive[:, None]
    ones, zeros = np.flatnonzero(positive)[:30], np.flatnonzero(~positive)
    rows = np.array([np.concatenate([rng.permutation(ones), zeros]) for _ in range(3)])
    # One row of labels for all, which is not an array of its own in memory.
    labeled = np.array(np.broadcast_to(np.arange(rows.shape[1]) < 20, rows.shape))
    seeds = rng.integers(2**31, size=(3, 3))
    training = Training(max_epochs=8)
    sums, counts = _many._on_card(table, rows, labeled, seeds, 12, training, device)
    scores = sums / np.maximum(counts, 1)
    assert counts.mean() > 3
    for one, marks in zip(scores, labeled, strict=True):
        assert one[marks].mean() > one[~marks].mean() + 0.05
    monkeypatch.setattr(_many, "_CARD_BYTES", 1)  # an ensemble at a time
    again, _ = _many._on_card(table, rows[1:], labeled[1:], seeds[1:], 12, training, device)
    np.testing.assert_array_equal(sums[1:], again)
