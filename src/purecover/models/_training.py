"""How a network of an ensemble is trained: the declared choices and the presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from purecover._validation import check_choice, check_flag, check_integer, check_real

Output: TypeAlias = Literal["tanh", "logistic"]
Loss: TypeAlias = Literal["squared", "cross-entropy"]
Rprop: TypeAlias = Literal["rprop-", "rprop+", "irprop-", "irprop+"]
Split: TypeAlias = Literal["rows", "positions"]


@dataclass(frozen=True)
class RpropConstants:
    """Constants of resilient propagation.

    Attributes
    ----------
    grow, shrink : float
        Factors of a step after a gradient of the same, and of the other sign.
    first, smallest, largest : float
        Bounds of a step, and what it is before the first gradient.
    """

    grow: float = 1.2
    shrink: float = 0.5
    first: float = 0.07
    smallest: float = 0.0
    largest: float = 50.0


RPROP_CONSTANTS: Mapping[str, RpropConstants] = {
    "matlab": RpropConstants(),
    "torch": RpropConstants(first=0.01, smallest=1e-6),
}
"""Defaults of MATLAB's trainrp, which states no smallest step, and of torch.optim.Rprop."""


@dataclass(frozen=True)
class Training:
    """Everything that decides how one network is trained on one bag of rows.

    Attributes
    ----------
    hidden : int
        Units of the hidden layer.
    output : {"tanh", "logistic"}
        Output unit; its targets are -1 and +1, or 0 and 1.
    loss : {"squared", "cross-entropy"}
        What is minimized over the rows to train on.
    rprop : {"rprop-", "rprop+", "irprop-", "irprop+"}
        Variant of resilient propagation.
    constants : RpropConstants
        Its constants.
    max_epochs : int
        Most steps of a network.
    patience : int
        A network stops after this many epochs in a row whose validation loss is not below its
        best, and keeps the weights of its best.
    validation_fraction : float
        Share of a bag that is held out to tell when to stop.
    split : {"rows", "positions"}
        What is held out: distinct rows, or positions of the bag, as the authors did, where
        copies of one row can stand on both sides.
    stratify : bool
        Whether labeled and unlabeled rows are drawn apart from each other.
    """

    hidden: int = 5
    output: Output = "tanh"
    loss: Loss = "squared"
    rprop: Rprop = "rprop-"
    constants: RpropConstants = RPROP_CONSTANTS["matlab"]
    max_epochs: int = 500
    patience: int = 25
    validation_fraction: float = 0.25
    split: Split = "rows"
    stratify: bool = False

    def n_parameters(self, n_features: int) -> int:
        """Weights of one network: hidden layer with bias, output with bias."""
        return (n_features + 1) * self.hidden + self.hidden + 1


PRESETS: Mapping[str, Training] = {
    "paper": Training(),
    "authors": Training(split="positions"),
    "logistic": Training(
        output="logistic",
        loss="cross-entropy",
        rprop="irprop-",
        constants=RPROP_CONSTANTS["torch"],
    ),
}
"""Named sets of choices: the paper's without its leak, the authors' code as released, and
probabilities fitted by maximum likelihood with torch's optimizer."""


def check_training(
    function: str,
    *,
    preset: str,
    hidden: int,
    output: str | None = None,
    loss: str | None = None,
    rprop: str | None = None,
    constants: str | None = None,
    max_epochs: int | None = None,
    patience: int | None = None,
    validation_fraction: float | None = None,
    split: str | None = None,
    stratify: bool = False,
) -> Training:
    """The preset with the choices that were made by hand in place of its own."""
    training = PRESETS[check_choice(function, "preset", preset, tuple(PRESETS))]
    check_flag(function, "stratify", stratify)
    made: dict[str, Any] = {
        "hidden": check_integer(function, "hidden", hidden, low=1),
        "stratify": bool(stratify),
    }
    for name, value, choices in (
        ("output", output, ("tanh", "logistic")),
        ("loss", loss, ("squared", "cross-entropy")),
        ("rprop", rprop, ("rprop-", "rprop+", "irprop-", "irprop+")),
        ("split", split, ("rows", "positions")),
    ):
        if value is not None:
            made[name] = check_choice(function, name, value, choices)
    if constants is not None:
        chosen = check_choice(function, "constants", constants, tuple(RPROP_CONSTANTS))
        made["constants"] = RPROP_CONSTANTS[chosen]
    if max_epochs is not None:
        made["max_epochs"] = check_integer(function, "max_epochs", max_epochs, low=1)
    if patience is not None:
        made["patience"] = check_integer(function, "patience", patience, low=1)
    if validation_fraction is not None:
        made["validation_fraction"] = check_real(
            function, "validation_fraction", validation_fraction, low=0, high=1, closed="neither"
        )
    return replace(training, **made)
