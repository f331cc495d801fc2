"""Options of the training of a network: layers, loss, Rprop, stopping, bags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

from purecover_paper.arguments import check_choice, check_flag, check_integer, check_share

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
        First, smallest and largest step.
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
    """Options of the training of one network on one bag of rows.

    Attributes
    ----------
    hidden : int
        Units of the hidden layer.
    output : {"tanh", "logistic"}
        Output unit; its targets are -1 and +1, or 0 and 1.
    loss : {"squared", "cross-entropy"}
        The loss minimized over the training rows.
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
        Share of a bag that is held out to decide when to stop.
    split : {"rows", "positions"}
        Whether distinct rows are held out, or positions of the bag as in the authors' code,
        where copies of one row can be on both sides.
    stratify : bool
        Whether labeled and unlabeled rows are drawn separately.
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


CHOICES: Mapping[str, Callable[[str, Any], Any]] = {
    "output": partial(check_choice, choices=get_args(Output)),
    "loss": partial(check_choice, choices=get_args(Loss)),
    "rprop": partial(check_choice, choices=get_args(Rprop)),
    "constants": partial(check_choice, choices=tuple(RPROP_CONSTANTS)),
    "max_epochs": partial(check_integer, low=1),
    "patience": partial(check_integer, low=1),
    "validation_fraction": check_share,
    "split": partial(check_choice, choices=get_args(Split)),
}
"""Options that replace those of a preset, and the check of each."""


def check_training(*, preset: str, hidden: int, stratify: bool = False, **chosen: Any) -> Training:
    """Return the options of a preset, replaced by the other arguments that are not None."""
    training = PRESETS[check_choice("preset", preset, tuple(PRESETS))]
    made = {name: CHOICES[name](name, value) for name, value in chosen.items() if value is not None}
    if "constants" in made:
        made["constants"] = RPROP_CONSTANTS[made["constants"]]
    hidden = check_integer("hidden", hidden, low=1)
    return replace(training, hidden=hidden, stratify=check_flag("stratify", stratify), **made)
