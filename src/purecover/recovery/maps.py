"""How recovered figures move with alpha and beta, and what wrong ones do to the AUC."""

from __future__ import annotations

import itertools
import math
import numbers
import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from purecover import _validation as valid
from purecover._codec import Saved
from purecover._inputs import Tabular
from purecover._typing import ArrayLike, BoolArray, FloatArray, Repair, Scenario, Target
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts, auc_pu, check_counts, pu_roc_curve
from purecover.exceptions import RecoveryWarning
from purecover.proportions import MixtureProportions
from purecover.recovery.curves import REPAIRS
from purecover.recovery.metrics import METRICS, recover_metrics
from purecover.recovery.rates import auc_to_pu

# An AUC this close to 0 or 1 is on the edge, not beyond it.
_ROUNDING = 1e-9


def outside(auc: FloatArray) -> BoolArray:
    """Where an AUC is beyond [0, 1]; False for NaN."""
    return (auc < -_ROUNDING) | (auc > 1 + _ROUNDING)


def pairs(alphas: FloatArray, betas: FloatArray) -> dict[str, np.ndarray[Any, Any]]:
    return {"alpha": np.repeat(alphas, betas.size), "beta": np.tile(betas, alphas.size)}


# -- How recovered figures move with alpha and beta ----------------------------------------------


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
            **pairs(self.alphas, self.betas),
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
        Values of alpha, increasing; 0, 0.05, ..., 0.95 by default.
    betas : float or array-like, optional
        Values of beta, increasing; 0.5, 0.55, ..., 1 by default.
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
    auc_sensitivity : The same for the AUC, on a finer grid.
    error_map : Errors when the truth is known.
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
    grid_alpha = _as_shares("alphas", np.linspace(0, 0.95, 20) if alphas is None else alphas)
    grid_beta = _as_shares("betas", np.linspace(0.5, 1, 11) if betas is None else betas)
    if METRICS[metric].kind == "threshold":
        if threshold is None:
            roc = pu_roc_curve(counts)
            threshold = float(roc.thresholds[1 + np.argmax(roc.tpr_pu[1:] - roc.fpr_pu[1:])])
        threshold = valid.check_real("threshold", threshold)
    else:
        threshold = None  # it has no say
    observed = auc_pu(counts)
    delta = grid_beta - grid_alpha[:, np.newaxis]
    auc = 0.5 + (observed - 0.5) / np.where(delta > 0, delta, np.nan)
    values = auc
    if metric != "roc_auc":
        values = np.full_like(auc, np.nan)
        # A curve of so many points is as good as the full one, and read hundreds of times.
        counts = counts.thinned(_MAX_THRESHOLDS, keep=threshold)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecoveryWarning)
            for i, j in np.argwhere(~np.isnan(auc)):
                pair = MixtureProportions(
                    float(grid_alpha[i]), float(grid_beta[j]), "grid", scenario
                )
                values[i, j] = recover_metrics(
                    counts,
                    pair,
                    threshold=threshold,
                    target=target,
                    repair=repair,
                    metrics=[metric],
                )[metric]
    return SensitivityGrid(
        metric=metric,
        alphas=grid_alpha,
        betas=grid_beta,
        values=values,
        infeasible=outside(auc),
        auc_pu=observed,
        threshold=threshold,
        target=target,
    )


def auc_sensitivity(
    counts: ScoreCounts, *, alphas: ArrayLike | None = None, betas: ArrayLike | None = None
) -> SensitivityGrid:
    r"""Evaluate the directly recovered AUC over a fine grid of alpha and beta.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    alphas, betas : float or array-like, optional
        The grid, increasing; 0, 0.01, ..., 1 by default.

    Returns
    -------
    SensitivityGrid
        The AUC, not clipped; NaN where alpha is not below beta.

    See Also
    --------
    sensitivity : Any metric.

    Examples
    --------
    >>> from purecover import ScoreCounts
    >>> from purecover.recovery import auc_sensitivity
    >>> counts = ScoreCounts.from_counts([1, 0], labeled=[625, 375], unlabeled=[275, 725])
    >>> auc_sensitivity(counts, alphas=[0.15, 0.25, 0.35], betas=0.75).values.round(4)
    array([[0.7917],
           [0.85  ],
           [0.9375]])
    """
    fine = np.linspace(0, 1, 101)
    return sensitivity(
        counts,
        "roc_auc",
        alphas=fine if alphas is None else alphas,
        betas=fine if betas is None else betas,
    )


def _as_shares(parameter: str, values: ArrayLike) -> FloatArray:
    if isinstance(values, numbers.Real):
        values = [values]
    shares = valid.as_real_vector(parameter, values).copy()  # frozen later: not the user's
    if shares.min() < 0 or shares.max() > 1 or np.any(np.diff(shares) <= 0):
        raise valid.bad_value(
            parameter,
            "increasing numbers in [0, 1]",
            f"{shares.size} from {shares.min():g} to {shares.max():g}"
            + (", not increasing" if np.any(np.diff(shares) <= 0) else ""),
        )
    return shares


# -- What a wrong alpha or beta does to the AUC, when the truth is known: the paper's heat maps --


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorMap(Saved, Frozen, Tabular):
    r"""Error of the recovered AUC at every pair of guessed proportions.

    Attributes
    ----------
    alpha, beta, auc : float
        The truth.
    auc_pu : float
        The AUC observed on labeled against unlabeled.
    alphas, betas : ndarray of shape (n_grid,)
        Guesses :math:`\hat\alpha` and :math:`\hat\beta` from 0 to 1.
    recovered : ndarray of shape (n_grid, n_grid)
        What equation 4 gives at ``alphas[i], betas[j]``; infinite or NaN where the two are
        equal.
    errors : ndarray of shape (n_grid, n_grid)
        ``abs(recovered - auc)``; NaN where the recovered value leaves [0, 1].
    """

    alpha: float
    beta: float
    auc: float
    auc_pu: float
    alphas: FloatArray
    betas: FloatArray
    recovered: FloatArray
    errors: FloatArray

    @property
    def infeasible(self) -> BoolArray:
        """Where the recovered value leaves [0, 1]."""
        return np.isnan(self.errors)

    @property
    def infeasible_area(self) -> float:
        r"""Share of the unit square, exactly: :math:`1 - (1 - |2A_{pu} - 1|)^2`."""
        return 1 - (1 - abs(2 * self.auc_pu - 1)) ** 2

    def _columns(self) -> dict[str, Any]:
        return {
            **pairs(self.alphas, self.betas),
            "recovered": self.recovered.ravel(),
            "error": self.errors.ravel(),
        }

    def __repr__(self) -> str:
        return (
            f"ErrorMap(alpha={self.alpha:g}, beta={self.beta:g}, auc={self.auc:g}, "
            f"auc_pu={self.auc_pu:g}, {self.alphas.size} x {self.betas.size} guesses, "
            f"{self.infeasible_area:.1%} of them infeasible)"
        )


@public
def error_map(alpha: float, beta: float, auc: float, *, n_grid: int = 101) -> ErrorMap:
    r"""Map the error of the recovered AUC over all guesses of alpha and beta.

    Parameters
    ----------
    alpha, beta : float
        The true proportions.
    auc : float
        The true AUC.
    n_grid : int, default=101
        Guesses per axis, evenly spaced from 0 to 1.

    Returns
    -------
    ErrorMap
        The errors; NaN (gray in the paper) where the recovered AUC leaves [0, 1].

    See Also
    --------
    error_maps : The 27 maps of the paper.
    lines_of_interest : The diagram that explains a map.
    sensitivity : The same question asked of data.

    Notes
    -----
    The truth gives :math:`A_{pu} = 1/2 + \Delta(A - 1/2)`, and guesses give
    :math:`\hat A = 1/2 + (A_{pu} - 1/2)/(\hat\beta - \hat\alpha)`. Guesses with
    :math:`\hat\alpha > \hat\beta`, which no other function accepts, are part of the map:
    they turn the classifier around. The error is zero on the whole line
    :math:`\hat\beta - \hat\alpha = \Delta`.

    Examples
    --------
    >>> from purecover.recovery import error_map
    >>> found = error_map(alpha=0.25, beta=0.75, auc=0.9)
    >>> found.auc_pu, round(found.infeasible_area, 12)
    (0.7, 0.64)
    """
    truth, auc = _truth(alpha, beta, auc)
    n_grid = valid.check_integer("n_grid", n_grid, low=2, high=10_001)
    observed = auc_to_pu(auc, truth)
    step = np.arange(n_grid)
    # From whole numbers, so that equal guesses differ by exactly 0.
    delta = (step - step[:, np.newaxis]) / (n_grid - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        recovered = 0.5 + (observed - 0.5) / delta
    errors = np.abs(recovered - auc)
    errors[outside(recovered) | (delta == 0)] = np.nan
    return ErrorMap(
        alpha=truth.alpha,
        beta=truth.beta,
        auc=auc,
        auc_pu=observed,
        alphas=step / (n_grid - 1),
        betas=step / (n_grid - 1),
        recovered=recovered,
        errors=errors,
    )


@public
def error_maps(
    alphas: ArrayLike = (0.05, 0.25, 0.50),
    betas: ArrayLike = (0.75, 0.95, 1.0),
    aucs: ArrayLike = (0.65, 0.80, 0.95),
    *,
    n_grid: int = 101,
) -> dict[tuple[float, float, float], ErrorMap]:
    """Map the errors for a grid of truths, by default the 27 of the paper's Figure 3.

    Parameters
    ----------
    alphas, betas, aucs : array-like
        True values, combined in every way.
    n_grid : int, default=101
        Guesses per axis of each map.

    Returns
    -------
    dict
        Maps by ``(alpha, beta, auc)``.

    See Also
    --------
    error_map : One map.

    Examples
    --------
    >>> from purecover.recovery import error_maps
    >>> maps = error_maps(n_grid=11)
    >>> len(maps), round(maps[0.05, 0.75, 0.65].auc_pu, 12)
    (27, 0.605)
    """
    axes = {"alphas": alphas, "betas": betas, "aucs": aucs}
    columns = [valid.as_real_vector(name, axis).tolist() for name, axis in axes.items()]
    return {
        (alpha, beta, auc): error_map(alpha, beta, auc, n_grid=n_grid)
        for alpha, beta, auc in itertools.product(*columns)
    }


@dataclass(frozen=True, kw_only=True)
class LineOfInterest(Saved):
    r"""Guesses of alpha and beta that all recover the same AUC.

    Attributes
    ----------
    name : {"observed", "true", "one", "half", "zero"}
        Which value.
    auc : float
        The value recovered on the line.
    delta : float
        :math:`\hat\beta - \hat\alpha` on the line; infinite if it is only approached as the
        two move apart without end, NaN if no line exists.
    segment : tuple of two points or None
        Ends ``(alpha, beta)`` of its part in the unit square; equal where it only touches a
        corner, None where there is no such part.
    """

    name: Literal["observed", "true", "one", "half", "zero"]
    auc: float
    delta: float
    segment: tuple[tuple[float, float], tuple[float, float]] | None


@public
def lines_of_interest(alpha: float, beta: float, auc: float) -> tuple[LineOfInterest, ...]:
    r"""Find the lines where guessed proportions recover a telling value of the AUC.

    Parameters
    ----------
    alpha, beta : float
        The true proportions.
    auc : float
        The true AUC.

    Returns
    -------
    tuple of LineOfInterest
        Where the recovered AUC equals the observed one, the true one, 1, 1/2 and 0.

    See Also
    --------
    error_map : The map these lines explain.

    Notes
    -----
    Solving equation 4 for the guesses, a value :math:`v` is recovered where
    :math:`\hat\beta - \hat\alpha = (A_{pu} - 1/2)/(v - 1/2)`: a line of slope one. The
    observed value itself is recovered in the corner (0, 1) only, and 1/2 nowhere: it is
    approached as :math:`|\hat\beta - \hat\alpha|` grows without end. Between the lines of 0
    and 1 lies the infeasible region. A true AUC of 1/2 is recovered by every guess, so no
    value has a line.

    The annotated diagram of the paper (Figure 4) shows alpha 0.25, beta 0.75 and AUC 0.9;
    its caption gives the observed AUC as 0.80, but equation 4 gives 0.70, and no AUC could
    be observed above 0.75 with these proportions.

    Examples
    --------
    >>> from purecover.recovery import lines_of_interest
    >>> for line in lines_of_interest(0.25, 0.75, 0.9):
    ...     print(f"{line.name:<9} {line.auc:.2f} {line.delta:5.2f}")
    observed  0.70  1.00
    true      0.90  0.50
    one       1.00  0.40
    half      0.50   inf
    zero      0.00 -0.40
    """
    truth, auc = _truth(alpha, beta, auc)
    observed = auc_to_pu(auc, truth)
    values: tuple[tuple[Literal["observed", "true", "one", "half", "zero"], float], ...] = (
        ("observed", observed),
        ("true", auc),
        ("one", 1.0),
        ("half", 0.5),
        ("zero", 0.0),
    )
    # Known without the formula, which would leave a rounding error.
    known = {"observed": 1.0, "true": truth.delta, "half": math.inf}
    lines = []
    for name, value in values:
        delta = math.nan
        if observed != 0.5:
            delta = known[name] if name in known else (observed - 0.5) / (value - 0.5)
        lines.append(
            LineOfInterest(name=name, auc=value, delta=delta, segment=_in_unit_square(delta))
        )
    return tuple(lines)


def _in_unit_square(delta: float) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Ends of the line beta = alpha + delta within the unit square."""
    if not abs(delta) <= 1:
        return None
    if delta >= 0:
        return (0.0, delta), (1 - delta, 1.0)
    return (-delta, 0.0), (1.0, 1 + delta)


def _truth(alpha: float, beta: float, auc: float) -> tuple[MixtureProportions, float]:
    return MixtureProportions(alpha, beta), valid.check_real("auc", auc, low=0, high=1)
