"""Isotonic regression by the solver of SciPy, without the rest of its slow package."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any, NamedTuple

import numpy as np

from purecover._typing import FloatArray, IntArray


class Fitted(NamedTuple):
    """The monotone least-squares fit, and where its blocks start; their last end is the length."""

    x: FloatArray
    blocks: IntArray


def isotonic_regression(
    values: FloatArray, *, weights: FloatArray, increasing: bool = True
) -> Fitted:
    """What ``scipy.optimize.isotonic_regression`` finds.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover._isotonic import isotonic_regression
    >>> isotonic_regression(np.array([1.0, 3.0, 2.0]), weights=np.ones(3)).x
    array([1. , 2.5, 2.5])
    """
    pava = _pava()
    if pava is None:
        from scipy.optimize import isotonic_regression as theirs

        found = theirs(values, weights=weights, increasing=increasing)
        return Fitted(found.x, found.blocks)
    order = slice(None, None, 1 if increasing else -1)
    x, w = (np.array(each[order], dtype=np.float64, order="C") for each in (values, weights))
    x, _, blocks, n_blocks = pava(x, w, np.full(x.size + 1, -1, dtype=np.intp))
    blocks = blocks[: n_blocks + 1]
    return Fitted(x[order], blocks if increasing else blocks[-1] - blocks[order])


@cache
def _pava() -> Callable[..., Any] | None:
    """The solver, from the one file it is in; None where this version of SciPy has it elsewhere."""
    try:
        package: Any = find_spec("scipy.optimize")
        folders = package.submodule_search_locations
        found: Any = PathFinder.find_spec("scipy.optimize._pava_pybind", folders)
        module = module_from_spec(found)
        found.loader.exec_module(module)
        x, _, blocks, n = module.pava(np.array([2.0, 1.0]), np.ones(2), np.full(3, -1, np.intp))
        solved: Callable[..., Any] = module.pava
    except Exception:  # noqa: BLE001 - whatever another version does, its public function remains
        return None
    return solved if (x.tolist(), blocks[: n + 1].tolist()) == ([1.5, 1.5], [0, 2]) else None
