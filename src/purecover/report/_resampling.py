"""Replicates for a report, and what becomes of an estimate that they cannot repeat."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

from purecover.exceptions import IdentifiabilityError, RecoveryWarning
from purecover.report._estimation import Estimation

__all__ = ["resampled"]

Replicates = TypeVar("Replicates")


def resampled(
    draw: Callable[[], Replicates], estimation: Estimation | None
) -> tuple[Replicates | None, Estimation | None]:
    """What ``draw`` gives, and the estimation.

    Where another sample might give no estimate, the one at hand stands, without replicates: the
    estimation then says so, and check PU017 with it.
    """
    try:
        with warnings.catch_warnings():
            # What a repair has to say of the data, it said before.
            warnings.simplefilter("ignore", RecoveryWarning)
            return draw(), estimation
    except IdentifiabilityError as error:
        if estimation is None:
            raise
        return None, estimation.unstable(str(error).partition("\n")[0])
