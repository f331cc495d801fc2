"""The recovered ROC curve, and the precision-recall curve with the areas under it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from purecover._codec import picked
from purecover._inputs import Tabular
from purecover._typing import AreaRule, FloatArray, Repair, Target
from purecover._validation import Frozen, check_choice, check_flag, check_real, public, warn
from purecover.counts import PURoc, ScoreCounts, auc_pu_variances, pu_roc_curve
from purecover.exceptions import RecoveryWarning
from purecover.proportions import MixtureProportions, check_target
from purecover.recovery import repairs as _repairs
from purecover.recovery.rates import Shares, check_data, map_curve, pr_segment_areas, trapezoids
from purecover.recovery.repairs import Samples

REPAIRS: tuple[Repair, ...] = ("none", "paper", "isotonic", "hull", "likelihood", "blend")
"""Every way of turning recovered points into a curve."""

KEEPS_THRESHOLDS: tuple[Repair, ...] = ("none", "isotonic", "likelihood", "blend")
"""Repairs whose points still belong, one to one, to the thresholds of the scores."""

_CONCAVE: tuple[Repair, ...] = ("hull", "likelihood")
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class RecoveredRoc(Frozen, Tabular, columns="threshold fpr tpr"):
    """A ROC curve against the true classes, with what it was made from.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        The curve after ``repair``; from (0, 0) to (1, 1). NaN, as ``auc`` is, in a report whose
        alpha and beta contradict the scores.
    thresholds : ndarray of shape (n_points,)
        The threshold of each point; infinity at (0, 0), NaN where a repair put a point that
        no threshold attains.
    fpr_raw, tpr_raw, thresholds_raw : ndarray of shape (n_thresholds + 1,)
        Straight from the algebra; may leave [0, 1].
    fpr_pu, tpr_pu : ndarray of shape (n_thresholds + 1,)
        The observed curve, at ``thresholds_raw``.
    auc_direct : float
        The direct value of the AUC, not clipped: the signed area under the raw curve.
    proportions : MixtureProportions
        Alpha and beta.
    repair : str
        The repair applied.
    repair_requested : str
        The repair asked for; differs if a curve that is not concave was asked to be.
    auc : float
        Area under the repaired curve.
    """

    fpr: FloatArray
    tpr: FloatArray
    thresholds: FloatArray
    fpr_raw: FloatArray
    tpr_raw: FloatArray
    thresholds_raw: FloatArray
    fpr_pu: FloatArray
    tpr_pu: FloatArray
    auc_direct: float
    proportions: MixtureProportions
    repair: Repair
    repair_requested: Repair
    auc: float = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "auc", float(trapezoids(self.tpr, self.fpr)))

    def _withheld(self) -> RecoveredRoc:
        """Return a copy with NaN for what depends on alpha and beta, except the raw rates."""
        nothing = np.full_like(self.fpr, np.nan)
        return replace(self, fpr=nothing, tpr=nothing)

    @property
    def auc_pu(self) -> float:
        """Area under the observed curve."""
        return float(trapezoids(self.tpr_pu, self.fpr_pu))

    @property
    def n_outside(self) -> int:
        """Raw points outside the unit box."""
        return int(np.count_nonzero(~_repairs.inside_box(self.fpr_raw, self.tpr_raw)))

    @public
    def partial_auc(self, max_fpr: float, *, standardized: bool = False) -> float:
        r"""Return the area under the repaired curve up to a false-positive rate.

        Parameters
        ----------
        max_fpr : float
            The largest false-positive rate, in (0, 1].
        standardized : bool, default=False
            McClish's version, 0.5 for chance and 1 for a perfect classifier, as
            scikit-learn's ``roc_auc_score(max_fpr=...)`` has it.

        Returns
        -------
        float
            The partial area.
        """
        limit = check_real("max_fpr", max_fpr, low=0, high=1, closed="right")
        area = float(partial_area(self.fpr, self.tpr, limit, standardized=standardized))
        return math.nan if math.isnan(self.auc) else area

    @public
    def tpr_at(self, fpr: float) -> float:
        """Return the true-positive rate of the repaired curve at a false-positive rate."""
        wanted = check_real("fpr", fpr, low=0, high=1)
        return float(np.interp(wanted, self.fpr, self.tpr))

    @public
    def fpr_at(self, tpr: float) -> float:
        """Return the false-positive rate of the repaired curve at a true-positive rate."""
        wanted = check_real("tpr", tpr, low=0, high=1)
        # Read from the end, which finds the first point that reaches the rate, the cheapest.
        return float(np.interp(-wanted, -self.tpr[::-1], self.fpr[::-1]))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; an infinite or missing threshold becomes None."""
        curve = ("fpr", "tpr", "thresholds", "auc", "auc_direct", "auc_pu")
        return picked(self, *curve, "repair", "proportions")

    def __repr__(self) -> str:
        return (
            f"RecoveredRoc(auc={self.auc:.4f}, observed {self.auc_pu:.4f}, "
            f"repair={self.repair!r}, {self.fpr.size:,} points, {self.n_outside:,} of "
            f"{self.fpr_raw.size:,} raw points outside the box)"
        )


@public
def recover_roc(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    *,
    repair: Repair = "isotonic",
    concavity_guard: bool = True,
) -> RecoveredRoc:
    r"""Recover the ROC curve against the true classes.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    repair : {"isotonic", "paper", "hull", "likelihood", "blend", "none"}, default="isotonic"
        How noisy points become a curve. ``"isotonic"`` projects both rates onto monotone
        functions in [0, 1] and never fails badly; ``"paper"`` is Algorithm 1 of the paper,
        which can collapse when the classes are almost separable; ``"hull"`` takes the
        concave hull, best for an AUC above 0.98; ``"likelihood"`` fits by maximum likelihood
        under a monotone likelihood ratio, the most accurate where the curve is concave and the
        scores are good; ``"blend"`` moves from the isotonic curve towards that of the
        likelihood where sampling noise hides the false-positive rate at the top, which is what
        precision needs; ``"none"`` leaves the points as they are.
    concavity_guard : bool, default=True
        Whether ``"hull"`` and ``"likelihood"``, which are wrong for a curve that is not
        concave, give way to ``"isotonic"`` where the hull exceeds the direct AUC by more
        than two standard errors.

    Returns
    -------
    RecoveredRoc
        The curve, raw and repaired.

    Warns
    -----
    RecoveryWarning
        If the concavity guard rejects the repair.

    See Also
    --------
    recover_auc : The direct value of the area.
    recover_pr : The precision-recall curve.
    RecoveredRocDisplay : Draws the curve.

    Notes
    -----
    With :math:`\Delta = \beta - \alpha > 0` (equations 2 and 3 of [1]_),

    .. math::

        tpr = \frac{(1-\alpha)\,tpr_{pu} - (1-\beta)\,fpr_{pu}}{\Delta}, \qquad
        fpr = \frac{\beta\,fpr_{pu} - \alpha\,tpr_{pu}}{\Delta}.

    References
    ----------
    .. [1] S. Jain, M. White, P. Radivojac (2017). Recovering True Classifier Performance in
       Positive-Unlabeled Learning. AAAI.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts, recover_roc
    >>> scores = [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.4, 0.2, 0.1, 0.1]
    >>> counts = ScoreCounts.from_scores(scores, labeled=[1, 1, 0, 1, 0, 1, 0, 0, 0, 0])
    >>> roc = recover_roc(counts, MixtureProportions(alpha=0.25))
    >>> round(float(roc.fpr_raw.min()), 3), float(roc.fpr.min())
    (-0.083, 0.0)
    """
    check_data(counts, proportions)
    check_flag("concavity_guard", concavity_guard)
    check_choice("repair", repair, REPAIRS)
    return roc_from_counts(counts, proportions, repair, concavity_guard=concavity_guard)


def roc_from_counts(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    repair: Repair = "isotonic",
    *,
    concavity_guard: bool = True,
) -> RecoveredRoc:
    """Recover the ROC curve from checked input."""
    if repair == "blend":
        return blended(roc_from_counts(counts, proportions), counts)
    observed = pu_roc_curve(counts)
    tpr_raw, fpr_raw = map_curve(observed.tpr_pu, observed.fpr_pu, proportions)
    used = repair
    if repair in _CONCAVE and concavity_guard:
        excess, error = concavity_excess(counts)
        if excess > 2 * error:
            used = "isotonic"
            warn(
                f"the ROC curve of these scores is not concave (its hull exceeds it by "
                f"{excess:.3g} in observed AUC, more than two standard errors of {error:.3g}), "
                f"so repair={repair!r} gave way to 'isotonic'. See check PU009.",
                RecoveryWarning,
            )
    if used in _repairs.ONE_BY_ONE:
        fpr, tpr, thresholds = _repairs.ONE_BY_ONE[used](observed, proportions)
    elif used == "none":
        fpr, tpr, thresholds = fpr_raw, tpr_raw, observed.thresholds
    else:
        (fpr,), (tpr,) = repaired_rates(used, Samples.of(counts), Shares.of(proportions))
        thresholds = observed.thresholds
    return RecoveredRoc(
        fpr=fpr,
        tpr=tpr,
        thresholds=thresholds,
        fpr_raw=fpr_raw,
        tpr_raw=tpr_raw,
        thresholds_raw=observed.thresholds,
        fpr_pu=observed.fpr_pu,
        tpr_pu=observed.tpr_pu,
        auc_direct=0.5 + (counts.auc_pu - 0.5) / proportions.delta,
        proportions=proportions,
        repair=used,
        repair_requested=repair,
    )


def repaired_rates(
    repair: Repair, samples: Samples, shares: Shares
) -> tuple[FloatArray, FloatArray]:
    """Return fpr and tpr of many samples after a repair, one row each.

    A curve with fewer points than another stays at its end.
    """
    tpr_raw, fpr_raw = map_curve(samples.tpr_pu, samples.fpr_pu, shares)
    if repair == "none":
        return fpr_raw, tpr_raw
    if repair == "likelihood":
        return _repairs.likelihood_rates(samples, shares)
    if repair in ("isotonic", "blend"):
        # A threshold that only known negatives have weighs nothing; the solver wants more.
        weights = np.maximum(samples.labeled + samples.unlabeled, np.finfo(np.float64).tiny)
        isotonic = _repairs.project(fpr_raw, weights), _repairs.project(tpr_raw, weights)
        return isotonic if repair == "isotonic" else blended_rates(isotonic, samples, shares)
    curves = []
    for i, (tpr_pu, fpr_pu) in enumerate(zip(samples.tpr_pu, samples.fpr_pu, strict=True)):
        roc = PURoc(fpr_pu=fpr_pu, tpr_pu=tpr_pu, thresholds=fpr_pu)
        own = Shares(shares.alpha[i], shares.beta[i])
        curves.append(_repairs.ONE_BY_ONE[repair](roc, own)[:2])
    rates = np.ones((2, len(curves), max(fpr.size for fpr, _ in curves)))
    for i, each in enumerate(curves):
        rates[:, i, : each[0].size] = each
    return rates[0], rates[1]


def blended(isotonic: RecoveredRoc, counts: ScoreCounts) -> RecoveredRoc:
    r"""Average the isotonic and the likelihood curve, weighted by how much noise hides.

    Near the top the subtracted term :math:`\alpha\,tpr_{pu}/\Delta` has a sampling error larger
    than the rate itself. Clipped at 0, the isotonic rate is then too large on average and
    precision too small; the likelihood, which borrows from below, is not, but is optimistic
    for weak scores. The weight of the latter is the share of recall where the error is the
    larger, as a part of a quarter, and fades where the curve does not look concave.
    """
    proportions = isotonic.proportions
    if proportions.alpha == 0:  # nothing is subtracted
        return replace(isotonic, repair="blend", repair_requested="blend")
    rates = isotonic.fpr[None], isotonic.tpr[None]
    fpr, tpr = blended_rates(rates, Samples.of(counts), Shares.of(proportions))
    return replace(isotonic, fpr=fpr[0], tpr=tpr[0], repair="blend", repair_requested="blend")


def blended_rates(
    isotonic: tuple[FloatArray, FloatArray], samples: Samples, shares: Shares
) -> tuple[FloatArray, FloatArray]:
    """Return fpr and tpr of :func:`blended` curves of many samples, one row each."""
    fpr, tpr = _repairs.likelihood_rates(samples, shares)
    total, squares = samples.labeled.sum(axis=1), samples.squares[0]
    size = total if squares is None else total**2 / squares.sum()
    scale = shares.alpha / shares.delta / np.sqrt(size)[:, None]
    # Where the rate exceeds the error of the worst rate, 1/2, nothing is hidden any more.
    stop = int(np.argmax(fpr > np.minimum(scale / 2, 0.99), axis=1).max()) + 1
    # The fitted rate, since the observed one is 0, and its error with it, above every label.
    tpr_pu = fpr[:, :stop] + shares.beta * (tpr[:, :stop] - fpr[:, :stop])
    hides = fpr[:, :stop] <= scale * np.sqrt(tpr_pu * (1 - tpr_pu))
    hides[:, -1] = False
    place = np.maximum(np.argmin(hides, axis=1) - 1, 0)
    hidden = tpr[np.arange(len(tpr)), place]
    excess, error = concavity_excesses(samples)
    with np.errstate(divide="ignore", invalid="ignore"):
        concave = np.where(error > 0, np.clip(2 - excess / error, 0.0, 1.0), excess <= 0)
    weight = (np.minimum(hidden / 0.25, 1.0) * concave)[:, None]
    # Sums of rising terms: a difference of the curves, rounded, could make the rates fall.
    rest = 1 - weight
    return rest * isotonic[0] + weight * fpr, rest * isotonic[1] + weight * tpr


def concavity_excesses(samples: Samples) -> tuple[FloatArray, FloatArray]:
    """Compute :func:`concavity_excess` of many samples, one row each."""
    sides, observed = (samples.labeled, samples.unlabeled), (samples.tpr_pu, samples.fpr_pu)
    excess = samples.blocks.hull_auc_pu() - trapezoids(*observed)
    excess[excess <= _ROUNDING] = 0.0  # of sums, where samples do not overlap and the error is 0
    variance = auc_pu_variances(sides, observed, samples.squares)
    with np.errstate(invalid="ignore"):
        return excess, np.where(variance >= 0, np.sqrt(variance), np.inf)


def concavity_excess(counts: ScoreCounts) -> tuple[float, float]:
    """Return the excess of the hull's observed AUC over the plain one, and the latter's error."""
    excess, error = concavity_excesses(Samples.of(counts))
    return float(excess[0]), float(error[0])


def partial_area(
    fpr: FloatArray, tpr: FloatArray, max_fpr: float, *, standardized: bool = False
) -> FloatArray:
    """Return areas up to ``max_fpr`` under curves along the last axis."""
    last = fpr.shape[-1] - 1
    # One beyond the last rate within the limit; unrepaired rates rise and fall.
    stop = last + 1 - np.argmax(fpr[..., ::-1] <= max_fpr, axis=-1)[..., None]
    if (stop <= last).any():  # else no rate is beyond
        ends = (stop - 1, np.minimum(stop, last))
        x0, x1, y0, y1 = (
            np.take_along_axis(rate, at, axis=-1) for rate in (fpr, tpr) for at in ends
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            end = y0 + (max_fpr - x0) / (x1 - x0) * (y1 - y0)
        width = min(int(stop.max()), last) + 1
        # After the limit the curve goes straight up: it adds nothing.
        after = np.arange(width) >= stop
        fpr, tpr = (
            np.where(after, max_fpr, fpr[..., :width]),
            np.where(after, end, tpr[..., :width]),
        )
    area = trapezoids(tpr, fpr)
    if not standardized:
        return area
    chance = max_fpr**2 / 2
    with np.errstate(over="ignore"):  # of unrepaired rates below the smallest of shares
        found = np.asarray(0.5 * (1 + (area - chance) / (max_fpr - chance)))
    return np.where(np.isfinite(found), found, np.nan)[()]


AREA_RULES: tuple[AreaRule, ...] = ("davis-goadrich", "average-precision", "trapezoid")
"""Every way of taking an area under a precision-recall curve."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RecoveredPr(Frozen, Tabular, columns="threshold recall precision"):
    """A precision-recall curve against the true classes.

    Attributes
    ----------
    recall, precision : ndarray of shape (n_points,)
        The curve, in order of decreasing threshold; recall runs from 0 to 1. NaN, as ``auc_pr``
        is, in a report whose alpha and beta contradict the scores.
    thresholds : ndarray of shape (n_points,)
        The threshold of each point; infinity at recall 0, NaN where a repair put a point
        that no threshold attains.
    recall_pu, precision_pu : ndarray of shape (n_thresholds + 1,)
        The curve observed when unlabeled stands for negative.
    prior : float
        Share of positives in the population that precision is for.
    auc_pr : float
        Area under the curve by the rule ``area``.
    auc_pr_pu : float
        Area under the observed curve by the same rule.
    area : str
        The area rule.
    repair : str
        The repair of the ROC curve it was made from.
    proportions : MixtureProportions
        Alpha and beta.
    """

    recall: FloatArray
    precision: FloatArray
    thresholds: FloatArray
    recall_pu: FloatArray
    precision_pu: FloatArray
    prior: float
    auc_pr: float
    auc_pr_pu: float
    area: AreaRule
    repair: Repair
    proportions: MixtureProportions

    def _withheld(self) -> RecoveredPr:
        """Return a copy with NaN for what depends on alpha and beta."""
        nothing = np.full_like(self.recall, np.nan)
        return replace(self, recall=nothing, precision=nothing, auc_pr=math.nan)

    @property
    def normalized_auc_pr(self) -> float:
        """Area above the smallest possible one, as a share of what can be reached."""
        return normalize_auc_pr(self.auc_pr, self.prior)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; what is not finite becomes None."""
        curve = ("recall", "precision", "thresholds", "prior", "auc_pr", "auc_pr_pu")
        return picked(self, *curve, "area", "repair", "proportions")

    def __repr__(self) -> str:
        return (
            f"RecoveredPr(auc_pr={self.auc_pr:.4f}, observed {self.auc_pr_pu:.4f}, "
            f"prior={self.prior:.4g}, area={self.area!r}, repair={self.repair!r}, "
            f"{self.recall.size:,} points)"
        )


@public
def recover_pr(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    *,
    repair: Repair = "blend",
    target: Target = "population",
    area: AreaRule = "davis-goadrich",
) -> RecoveredPr:
    r"""Recover the precision-recall curve against the true classes.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    repair : {"blend", "isotonic", "likelihood", "paper", "hull", "none"}, default="blend"
        How noisy points become a curve; see :func:`recover_roc`. With ``"none"`` precision,
        hence the area, is mostly undefined.
    target : {"population", "deployment", "pooled"} or float, default="population"
        The population precision is wanted for; see :meth:`MixtureProportions.prior`.
    area : {"davis-goadrich", "average-precision", "trapezoid"}, default="davis-goadrich"
        How the area is taken. The first is exact for straight ROC segments; the second sums
        steps as scikit-learn's ``average_precision_score`` does; the third joins points by
        straight lines in precision-recall space, which is too optimistic.

    Returns
    -------
    RecoveredPr
        The curve and its area.

    See Also
    --------
    recover_roc : The ROC curve it is made from.
    RecoveredPrDisplay : Draws the curve.

    Notes
    -----
    With the prior :math:`\pi` of the target,
    :math:`precision = \pi\,tpr/(\pi\,tpr + (1-\pi)\,fpr)`, which for :math:`\pi = \alpha`
    is equation 5 of the paper, :math:`\alpha\,tpr/fpr_{pu}`.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts, recover_pr
    >>> scores = [0.95, 0.80, 0.60, 0.90, 0.70, 0.40, 0.30, 0.10]
    >>> counts = ScoreCounts.from_scores(scores, [1, 1, 1, 0, 0, 0, 0, 0])
    >>> pr = recover_pr(counts, MixtureProportions(alpha=0.2), repair="paper")
    >>> round(pr.auc_pr, 7)
    0.6111111
    """
    check_target(target)
    check_choice("area", area, AREA_RULES)
    check_data(counts, proportions)
    roc = recover_roc(counts, proportions, repair=repair)
    return pr_from_roc(roc, counts, proportions.prior(target, counts), area)


def pr_from_roc(
    roc: RecoveredRoc,
    counts: ScoreCounts,
    prior: float,
    area: AreaRule,
    *,
    areas: tuple[float, float] | None = None,
) -> RecoveredPr:
    """Make the precision-recall curve of an ROC curve at a prior, with ``areas`` if known."""
    share = counts.labeled_share
    if areas is None:
        areas = (
            area_under_pr(roc.tpr, roc.fpr, prior, area),
            area_under_pr(roc.tpr_pu, roc.fpr_pu, share, area),
        )
    return RecoveredPr(
        recall=roc.tpr,
        precision=precision_of(roc.tpr, roc.fpr, prior),
        thresholds=roc.thresholds,
        recall_pu=roc.tpr_pu,
        precision_pu=precision_of(roc.tpr_pu, roc.fpr_pu, share),
        prior=prior,
        auc_pr=areas[0],
        auc_pr_pu=areas[1],
        area=area,
        repair=roc.repair,
        proportions=roc.proportions,
    )


def precision_of(tpr: FloatArray, fpr: FloatArray, prior: float | FloatArray) -> FloatArray:
    """Return precision at each point; if nothing is predicted positive, that of the next point."""
    flagged = prior * tpr + (1 - prior) * fpr
    with np.errstate(divide="ignore", invalid="ignore"):
        # Unrepaired rates can flag a negative share of the population: no precision there.
        precision: FloatArray = np.where(flagged > 0, prior * tpr / flagged, np.nan)
    # Along the segment that leaves (0, 0) precision is constant.
    defined = np.argmax(~np.isnan(precision), axis=-1)[..., None]
    before = np.arange(precision.shape[-1]) < defined
    return np.where(before, np.take_along_axis(precision, defined, axis=-1), precision)


def area_under_pr(tpr: FloatArray, fpr: FloatArray, prior: Any, area: AreaRule) -> Any:
    """Return the area under the precision-recall curve of an ROC polyline; NaN if undefined.

    Of polylines, one along the last axis for each of the others, with a prior for each.
    """
    prior = np.asarray(prior, dtype=np.float64)[..., None]
    pi = np.maximum(prior, 1e-300)  # below that products vanish that must not
    if area == "davis-goadrich":
        with np.errstate(invalid="ignore", over="ignore"):  # of unrepaired rates
            found = pr_segment_areas(tpr, fpr, pi).sum(axis=-1)
    elif area == "average-precision":
        ours = pi * tpr[..., 1:]
        flagged = ours + (1 - pi) * fpr[..., 1:]
        # Nothing is found where nothing is flagged, and no step is there either.
        with np.errstate(over="ignore", invalid="ignore"):  # of unrepaired rates
            precision = ours / np.maximum(flagged, np.finfo(np.float64).tiny)
            found = np.einsum("...i,...i->...", np.diff(tpr), precision)
    else:
        found = trapezoids(precision_of(tpr, fpr, pi), tpr)
    found = np.where(prior[..., 0] == 0, 0.0, np.where(np.isfinite(found), found, np.nan))
    if min(tpr.min(), fpr.min()) < 0:  # only unrepaired rates are
        flagged = pi * tpr + (1 - pi) * fpr
        lost = np.any((flagged < 0) | ((flagged == 0) & (tpr > 0)), axis=-1)
        found = np.where(lost & (prior[..., 0] != 0), np.nan, found)
    return found if found.ndim else float(found)


def min_auc_pr(prior: Any) -> Any:
    r"""Return the smallest AUC-PR, :math:`1 + (1-\pi)\ln(1-\pi)/\pi` [1]_.

    .. [1] K. Boyd, V. S. Costa, J. Davis, C. D. Page, ICML 2012.
    """
    pi = np.asarray(prior, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        formula = np.where(pi < 1, 1 + (1 - pi) * np.log1p(-pi) / pi, 1.0)
    return np.where(pi < 1e-5, pi / 2 + pi**2 / 6, formula)  # it cancels to nothing there


def normalize_auc_pr(auc_pr: Any, prior: Any) -> Any:
    """Return Boyd's normalized area; NaN at prior 1, where every area is 1."""
    smallest = min_auc_pr(prior)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(smallest < 1, (auc_pr - smallest) / (1 - smallest), np.nan)
    return found if found.ndim else float(found)


def refine_pr(
    recall: FloatArray, precision: FloatArray, prior: float, step: float = 0.01
) -> tuple[FloatArray, FloatArray]:
    r"""Add points to a precision-recall curve until they are at most ``step`` of recall apart.

    A straight segment of the ROC curve is a hyperbola here (Davis & Goadrich 2006):
    :math:`fpr = \pi\,tpr\,(1 - precision)/((1 - \pi)\,precision)` at its ends, linear in
    between. Kept straight are segments with an end of precision 0, which has lost its
    false-positive rate, and those of unrepaired rates beyond [0, 1].
    """
    if not 0 < prior < 1:  # precision is the same everywhere
        return recall, precision
    with np.errstate(divide="ignore", invalid="ignore"):
        fpr = prior * recall * (1 - precision) / ((1 - prior) * precision)
        width, rise = np.diff(recall), np.diff(fpr)
    usable = (precision > 0) & (precision <= 1) & (recall >= 0)
    bent = usable[:-1] & usable[1:] & (width > step)
    pieces = np.where(bent, np.ceil(width / step), 1).astype(np.intp)
    at = np.repeat(np.arange(pieces.size), pieces)
    share = (np.arange(at.size) - (np.cumsum(pieces) - pieces)[at]) / pieces[at]
    between = share > 0
    x, y = recall[at], precision[at]
    at, share = at[between], share[between]
    x[between] += share * width[at]
    found = prior * x[between]
    y[between] = found / (found + (1 - prior) * (fpr[at] + share * rise[at]))
    return np.append(x, recall[-1]), np.append(y, precision[-1])
