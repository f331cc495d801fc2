"""Heat maps over alpha and beta: what the sensitivity and error-map displays have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from purecover._typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

GRAY = "#c8c8c8"
"""Pairs that contradict the scores."""

NAN_HATCH: dict[str, Any] = {
    "facecolor": "white",
    "edgecolor": "#d0d0d0",
    "hatch": "////",
    "linewidth": 0.0,
}
"""Pairs that have no meaning: alpha not below beta."""

MARK: dict[str, Any] = {
    "marker": "o",
    "markersize": 8,
    "markerfacecolor": "#D55E00",
    "markeredgecolor": "white",
    "markeredgewidth": 1.5,
    "linestyle": "none",
    "zorder": 3,
}

ALPHA_LABEL = r"Assumed $\alpha$ (positives among the unlabeled)"
BETA_LABEL = r"Assumed $\beta$ (positives among the labeled)"


def draw_heat(
    ax: Axes,
    alphas: FloatArray,
    betas: FloatArray,
    values: FloatArray,
    gray: BoolArray,
    options: dict[str, Any],
) -> QuadMesh:
    """Values of shape (n_alphas, n_betas) as colors; ``gray`` cells in gray, NaN see-through."""
    from matplotlib.colors import ListedColormap

    # Ten thousand cells as a picture, not as ten thousand polygons, in PDF and SVG too.
    common: dict[str, Any] = {"shading": "nearest", "rasterized": True}
    if gray.any():
        flag = np.ma.masked_where(~gray, np.zeros(gray.shape))
        ax.pcolormesh(alphas, betas, flag.T, cmap=ListedColormap([GRAY]), **common)
    shown = np.ma.masked_where(gray | np.isnan(values), values)
    return ax.pcolormesh(alphas, betas, shown.T, **{**common, **options})
