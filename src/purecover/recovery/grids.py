"""Recovered metrics over a grid of alpha and beta."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover import _validation as valid
from purecover._codec import Saved
from purecover._inputs import Tabular
from purecover._typing import ArrayLike, BoolArray, FloatArray, Repair, Scenario, Target
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts, auc_pu, check_counts
from purecover.proportions import MixtureProportions
from purecover.recovery.curves import REPAIRS
from purecover.recovery.metrics import METRICS, check_threshold, recover_metrics

# An AUC this close to 0 or 1 is on the edge, not beyond it.
_ROUNDING = 1e-9


_MAX_THRESHOLDS = 2**13


@dataclass(frozen=True, kw_only=True, eq=False)
class SensitivityGrid(Saved, Frozen, Tabular):
    """A recovered metric over a grid of alpha and beta.

    Attributes
    ----------
    metric : str
        Name of the metric.
    alphas, betas : ndarray
        The grid, increasing.
    values : ndarray of shape (n_alphas, n_betas)
        The metric; NaN where alpha is not below beta. An AUC is not clipped.
    infeasible : ndarray of bool, same shape
        Where the direct AUC leaves [0, 1], so that alpha and beta contradict the scores.
    auc_pu : float
        The observed AUC.
    threshold : float or None
        Where a threshold metric was taken.
    target : str or float
        The population that a prior-dependent metric is for.
    """

    metric: str
    alphas: FloatArray
    betas: FloatArray
    values: FloatArray
    infeasible: BoolArray
    auc_pu: float
    threshold: float | None
    target: Target

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest value among the pairs that fit the scores; NaN if none does."""
        usable = self.values[~self.infeasible & ~np.isnan(self.values)]
        return (float(usable.min()), float(usable.max())) if usable.size else (math.nan, math.nan)

    def _columns(self) -> dict[str, Any]:
        return {
            "alpha": np.repeat(self.alphas, self.betas.size),
            "beta": np.tile(self.betas, self.alphas.size),
            "value": self.values.ravel(),
            "infeasible": self.infeasible.ravel(),
        }

    def __repr__(self) -> str:
        low, high = self.range
        return (
            f"SensitivityGrid({self.metric}, {self.alphas.size} x {self.betas.size} pairs, "
            f"from {low:.4f} to {high:.4f}, {int(self.infeasible.sum())} infeasible)"
        )


@public
def sensitivity(
    counts: ScoreCounts,
    metric: str = "roc_auc",
    *,
    alphas: ArrayLike | None = None,
    betas: ArrayLike | None = None,
    threshold: float | None = None,
    target: Target = "population",
    repair: Repair | None = None,
    scenario: Scenario = "case-control",
) -> SensitivityGrid:
    r"""Evaluate a recovered metric over a grid of alpha and beta.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    metric : str, default="roc_auc"
        A ranking or threshold metric of ``METRICS``, such as ``"roc_auc"``, ``"auc_pr"`` or
        ``"precision"``.
    alphas : float or array-like, optional
        Values of alpha, increasing; 0, 0.05, ..., 0.95 by default, and 0, 0.01, ..., 1 for the AUC.
    betas : float or array-like, optional
        Values of beta, increasing; 0.5, 0.55, ..., 1 by default, and 0, 0.01, ..., 1 for the AUC.
    threshold : float, optional
        Where a threshold metric is taken; by default where the Youden index is highest,
        which does not depend on alpha and beta.
    target : {"population", "deployment", "pooled"} or float, default="population"
        The population that a prior-dependent metric is for; except for a number its prior
        moves along with alpha and beta.
    repair : str, optional
        How curves are repaired; see :func:`recover_metrics`.
    scenario : {"case-control", "censoring"}, default="case-control"
        How the data were drawn, which decides what ``target="population"`` means.

    Returns
    -------
    SensitivityGrid
        The values; NaN where alpha is not below beta.

    See Also
    --------
    recover_bounds : Guaranteed bounds for a range of alpha.

    Notes
    -----
    The AUC depends on :math:`\Delta = \beta - \alpha` alone, by equation 4 of the paper;
    everything else is recovered anew at each pair. Warnings about single pairs are not
    given: the mask ``infeasible`` says where they would have been.

    Examples
    --------
    >>> from purecover import ScoreCounts
    >>> from purecover.recovery import sensitivity
    >>> counts = ScoreCounts.from_counts([1, 0], labeled=[625, 375], unlabeled=[275, 725])
    >>> grid = sensitivity(counts, "precision", alphas=[0.2, 0.25], betas=0.75, threshold=1)
    >>> grid.values.round(4)
    array([[0.5702],
           [0.7273]])
    """
    check_counts(counts)
    valid.check_choice("metric", metric, [m for m in METRICS if METRICS[m].kind != "top_k"])
    if repair is not None:
        valid.check_choice("repair", repair, REPAIRS)
    MixtureProportions(0.0, 1.0, "grid", scenario).prior(target, counts)  # complains if need be
    # The AUC costs one division a pair.
    usual = (np.linspace(0, 1, 101),) * 2
    if metric != "roc_auc":
        usual = np.linspace(0, 0.95, 20), np.linspace(0.5, 1, 11)
    grid_alpha = _as_shares("alphas", usual[0] if alphas is None else alphas)
    grid_beta = _as_shares("betas", usual[1] if betas is None else betas)
    of_threshold = METRICS[metric].kind == "threshold"
    threshold = check_threshold(threshold, counts) if of_threshold else None
    observed = auc_pu(counts)
    delta = grid_beta - grid_alpha[:, np.newaxis]
    auc = 0.5 + (observed - 0.5) / np.where(delta > 0, delta, np.nan)
    values = auc
    if metric != "roc_auc":
        values = np.full_like(auc, np.nan)
        given: Any = {"threshold": threshold, "target": target, "repair": repair}
        # A curve of so many points is as good as the full one, and read hundreds of times.
        counts = counts.thinned(_MAX_THRESHOLDS, keep=threshold)
        with valid.unheard_repairs():
            for i, j in np.argwhere(~np.isnan(auc)):
                alpha, beta = float(grid_alpha[i]), float(grid_beta[j])
                pair = MixtureProportions(alpha, beta, "grid", scenario)
                found = recover_metrics(counts, pair, metrics=[metric], **given)
                values[i, j] = found[metric]
    return SensitivityGrid(
        metric=metric,
        alphas=grid_alpha,
        betas=grid_beta,
        values=values,
        infeasible=(auc < -_ROUNDING) | (auc > 1 + _ROUNDING),
        auc_pu=observed,
        threshold=threshold,
        target=target,
    )


def _as_shares(parameter: str, values: ArrayLike) -> FloatArray:
    if isinstance(values, numbers.Real):
        values = [values]
    shares = valid.as_real_vector(parameter, values).copy()  # frozen later: not the user's
    rising = bool((np.diff(shares) > 0).all())
    if shares.min() < 0 or shares.max() > 1 or not rising:
        got = f"{shares.size} from {shares.min():g} to {shares.max():g}"
        got += "" if rising else ", not increasing"
        raise valid.bad_value(parameter, "increasing numbers in [0, 1]", got)
    return shares
