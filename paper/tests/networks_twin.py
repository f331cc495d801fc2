"""The slow twin of the bagged networks: one network at a time, as a textbook would write it.

Rows that were drawn twice stand there twice, features are z-scored by the mean and the standard
deviation of these rows, and resilient propagation asks each weight in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Twin:
    """A trained network."""

    weights: Any
    """Hidden weights (units, features), hidden biases, output weights, output bias."""
    mean: Any
    deviation: Any
    epoch: int
    loss: float
    logistic: bool

    def share(self, X: Any) -> Any:
        """Output in [0, 1]."""
        output = network((X - self.mean) / self.deviation, self.weights, self.logistic)[1]
        return output if self.logistic else (1 + output) / 2

    def column(self, hidden: int) -> Any:
        """The weights for rows that are not z-scored, in the order of the package."""
        inner, bias, outer, last = unpack(self.weights, len(self.mean), hidden)
        scaled = inner / self.deviation
        shifted = bias - scaled @ self.mean
        return np.concatenate([np.column_stack([scaled, shifted]).ravel(), outer, [last]])


def unpack(weights: Any, n_features: int, hidden: int) -> tuple[Any, Any, Any, Any]:
    first = weights[: hidden * (n_features + 1)].reshape(hidden, n_features + 1)
    return first[:, :-1], first[:, -1], weights[-hidden - 1 : -1], weights[-1]


def network(Z: Any, weights: Any, logistic: bool) -> tuple[Any, Any]:
    """Values of the hidden units and the output at each row."""
    n_features = Z.shape[1]
    hidden = (len(weights) - 1) // (n_features + 2)
    inner, bias, outer, last = unpack(weights, n_features, hidden)
    units = np.tanh(Z @ inner.T + bias)
    total = units @ outer + last
    return units, 1 / (1 + np.exp(-total)) if logistic else np.tanh(total)


def mean_loss(output: Any, y: Any, logistic: bool, entropy: bool) -> float:
    share = output if logistic else (1 + output) / 2
    if entropy:
        return float(-np.mean(y * np.log(share) + (1 - y) * np.log(1 - share)))
    target = y if logistic else 2 * y - 1
    return float(np.mean((output - target) ** 2))


def gradient(Z: Any, y: Any, weights: Any, logistic: bool, entropy: bool) -> Any:
    """Of the mean loss, by the chain rule from the output backwards."""
    n, n_features = Z.shape
    hidden = (len(weights) - 1) // (n_features + 2)
    units, output = network(Z, weights, logistic)
    outer = unpack(weights, n_features, hidden)[2]
    if entropy:
        share = output if logistic else (1 + output) / 2
        by_share = -y / share + (1 - y) / (1 - share)
        by_output = by_share if logistic else by_share / 2
    else:
        by_output = 2 * (output - (y if logistic else 2 * y - 1))
    by_total = by_output * (output * (1 - output) if logistic else 1 - output**2) / n
    by_units = by_total[:, None] * outer * (1 - units**2)
    by_inner = np.column_stack([by_units.T @ Z, by_units.sum(axis=0)])
    return np.concatenate([by_inner.ravel(), units.T @ by_total, [by_total.sum()]])


class Weight:
    """Resilient propagation of one weight, after the papers' pseudocode."""

    def __init__(self, variant: str, first: float, smallest: float) -> None:
        self.variant = variant
        self.step, self.smallest = first, smallest
        self.last_slope = self.last_move = 0.0

    def move(self, slope: float, rose: bool) -> float:
        product = np.sign(slope) * np.sign(self.last_slope)
        if product > 0:
            self.step = min(1.2 * self.step, 50.0)
        elif product < 0:
            self.step = max(0.5 * self.step, self.smallest)
        move = -float(np.sign(slope)) * self.step
        if product < 0 and self.variant != "rprop-":
            back = self.variant == "rprop+" or (self.variant == "irprop+" and rose)
            move = -self.last_move if back else 0.0
            slope = 0.0
        self.last_slope, self.last_move = slope, move
        return move


def train_twin(X: Any, y: Any, train: Any, held_out: Any, initial: Any, **choices: Any) -> Twin:
    """Train one network; ``train`` and ``held_out`` say how often each row was drawn."""
    logistic = choices["output"] == "logistic"
    entropy = choices["loss"] == "cross-entropy"
    numbers = np.arange(len(X))
    rows, others = np.repeat(numbers, train), np.repeat(numbers, held_out)
    drawn = X[np.concatenate([rows, others])]
    mean, deviation = drawn.mean(axis=0), drawn.std(axis=0, ddof=1)
    Z = (X - mean) / deviation
    weights = initial.copy()
    first, smallest = choices["steps"]
    minds = [Weight(choices["rprop"], first, smallest) for _ in weights]
    best, best_loss, best_epoch, failures, before = weights, np.inf, 0, 0, np.inf
    for epoch in range(choices["max_epochs"] + 1):
        loss = mean_loss(network(Z[others], weights, logistic)[1], y[others], logistic, entropy)
        if loss < best_loss:
            best, best_loss, best_epoch, failures = weights, loss, epoch, 0
        else:
            failures += 1
        if failures >= choices["patience"]:
            break
        now = mean_loss(network(Z[rows], weights, logistic)[1], y[rows], logistic, entropy)
        slopes = gradient(Z[rows], y[rows], weights, logistic, entropy)
        moves = [mind.move(s, now > before) for mind, s in zip(minds, slopes, strict=True)]
        weights, before = weights + moves, now
    return Twin(best, mean, deviation, best_epoch, best_loss, logistic)
