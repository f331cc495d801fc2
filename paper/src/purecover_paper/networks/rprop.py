"""Resilient propagation (Rprop): steps that depend on the sign of a gradient, not on its size.

Each weight has a step of its own, which grows while its gradient keeps its sign and shrinks when
the sign changes. The four variants differ in what a weight does on a change of sign:

========== ====================================================================================
rprop-     goes back by the shrunken step (Riedmiller 1994; what MATLAB's trainrp documents)
rprop+     takes its last move back (Riedmiller & Braun 1993)
irprop-    stays (Igel & Hüsken 2003; what torch.optim.Rprop does)
irprop+    takes its last move back if the loss rose, else stays (Igel & Hüsken 2003)
========== ====================================================================================

In all but the first the next gradient counts as the first of its sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from purecover_paper.networks.layers import Array
from purecover_paper.networks.options import Rprop, RpropConstants


@dataclass
class RpropState:
    """The state of Rprop: arrays of the shape of the weights, and the last loss."""

    step: Array
    sign: Array
    move: Array
    loss: Array

    @classmethod
    def first(cls, xp: Any, weights: Array, constants: RpropConstants) -> RpropState:
        """Return the state before the first gradient; ``weights`` has a column per network."""
        return cls(
            step=xp.full_like(weights, constants.first),
            sign=xp.zeros_like(weights),
            move=xp.zeros_like(weights),
            loss=xp.full_like(weights[0, :], float("inf")),
        )


def rprop_step(
    xp: Any,
    state: RpropState,
    gradient: Array,
    loss: Array,
    *,
    rprop: Rprop,
    constants: RpropConstants,
) -> Array:
    """Return the moves to add to all weights, and update ``state``.

    Only signs are compared, so that no product of two small gradients can vanish.
    """
    sign = xp.sign(gradient)
    agreement = sign * state.sign
    turned = agreement < 0
    grown = xp.clip(state.step * constants.grow, max=constants.largest)
    shrunk = xp.clip(state.step * constants.shrink, min=constants.smallest)
    state.step = xp.where(agreement > 0, grown, xp.where(turned, shrunk, state.step))
    if rprop != "rprop-":
        sign = xp.where(turned, xp.zeros_like(sign), sign)
    move = -sign * state.step
    if rprop == "rprop+":
        move = xp.where(turned, -state.move, move)
    elif rprop == "irprop+":
        move = xp.where(turned & (loss > state.loss), -state.move, move)
    state.sign, state.move, state.loss = sign, move, loss
    return move
