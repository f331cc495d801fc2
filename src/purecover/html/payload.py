"""A report as plain data for the script of its page, thinned to a small size.

Of many scores neighboring ones are merged, and the page says so.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover._codec import picked, plain
from purecover._typing import FloatArray
from purecover.counts import ScoreCounts, auc_pu_variance
from purecover.documents.details import MARKS
from purecover.documents.formats import bounded
from purecover.documents.summary import confidence_level, unknown_columns
from purecover.html.svg import drawn_points
from purecover.intervals.resampling import thinned_to_draw
from purecover.recovery.metrics import target_of
from purecover.report.derived import has_hidden

if TYPE_CHECKING:
    from purecover.intervals.interval import CurveBand
    from purecover.report.results import PUReport
    from purecover.report.saving import TrueFigures


def thin_counts(
    counts: ScoreCounts, max_cells: int, *, threshold: float | None = None
) -> ScoreCounts:
    r"""Merge neighboring scores into at most ``max_cells`` cells.

    Each cell has the lowest of its scores as threshold, so that observed rates at the remaining
    thresholds, and recovered ones before any repair, are exact. Pairs within a cell count one half.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    max_cells : int
        How many cells there may be, at least 512.
    threshold : float, optional
        No cell is on both sides of this threshold, so that observed rates there are exact.

    Returns
    -------
    ScoreCounts
        The merged counts, or the same counts if they are few enough.

    Notes
    -----
    Cells have equal parts of :math:`l_c/L + u_c/U`, and are finer at the top, where precision is
    decided; a score with more than such a part stays alone.

    Examples
    --------
    >>> from purecover import simulate, ScoreCounts
    >>> from purecover.html.payload import thin_counts
    >>> sample = simulate.binormal(1.5).sample(10_000, 50_000, alpha=0.25, random_state=0)
    >>> counts = ScoreCounts.from_scores(sample.scores, sample.labeled)
    >>> thinned = thin_counts(counts, 1000)
    >>> thinned.n_thresholds <= 1000, abs(thinned.auc_pu - counts.auc_pu) < 2e-5
    (True, True)
    """
    cells, groups = counts, max_cells
    while cells.n_thresholds > max_cells:
        cells = thinned_to_draw(counts, groups, keep=threshold, alone=True)
        groups -= groups // 10
    return cells


MAX_CELLS = 2000
"""More distinct scores than this are merged; fewer where rows carry weights, which print long."""

_MAX_WEIGHTED_CELLS = 1400
_MAX_BINS = 60
_DIGITS = 6  # of what is only drawn
_OUTLYING = 0.01
"""Scores this rare are left out of the range of a histogram if that makes it much narrower."""


def make_payload(report: PUReport) -> dict[str, Any]:
    r"""All that the page recomputes from and compares with.

    Parameters
    ----------
    report : PUReport
        What :func:`purecover.evaluate` returned.

    Returns
    -------
    dict
        Plain data, ready for strict JSON, with the keys

        ``counts``
            Columns of :class:`ScoreCounts`, at most 2,000 cells, in order of decreasing score,
            with totals; ``labeled_sq`` and ``unlabeled_sq`` only where rows carry weights.
        ``settings``
            How the report was made, as the script takes it; both repairs as they were used.
        ``report``
            Its metrics, from the full counts, and which of them are hardly known.
        ``roc_band``, ``pr_band``
            Bands, where there are replicates.
        ``auc_pu_half``
            Half the width of DeLong's interval of the observed AUC; None without intervals.
        ``histogram``
            Shares of each sample per bin of equal width; what lies beyond the bins is counted in
            the outermost.
        ``sensitivity``
            A grid of alpha and beta for a map of the AUC, the least beta - alpha that the scores
            allow, and whether positives are rare: then the grid is as wide as their intervals.
        ``hidden``
            Metrics of all positives over theta, and theta of real labels; None without them.
        ``truth``
            True metrics, if they are known.

    See Also
    --------
    thin_counts : Merges scores.

    Notes
    -----
    The target of a report is read off its prior: the population if that fits, else deployment,
    else pooled, else the number itself.

    Examples
    --------
    >>> from purecover import evaluate, simulate
    >>> from purecover.html.payload import make_payload
    >>> sample = simulate.binormal(1.5).sample(200, 1000, alpha=0.25, random_state=0)
    >>> report = evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0)
    >>> payload = make_payload(report)
    >>> len(payload["counts"]["thresholds"])
    1200
    """
    counts = report.counts
    most = _MAX_WEIGHTED_CELLS if counts.is_weighted else MAX_CELLS
    thinned = thin_counts(counts, most, threshold=report.metrics.threshold)
    columns = thinned.to_dict() | picked(thinned, "n_labeled", "n_unlabeled")
    columns.pop("highest", None)  # what is between thresholds is not drawn
    return {
        "counts": columns,
        "settings": _settings(report),
        "report": {
            **picked(report, "auc", "auc_pu", "contradicted", "hardly_known"),
            "metrics": plain(dict(report.metrics)),
        },
        "roc_band": _band(report.roc_band),
        "pr_band": _band(report.pr_band),
        "auc_pu_half": _half_width(report),
        "histogram": _histogram(counts),
        "sensitivity": _grid(report),
        "hidden": _hidden(report),
        "truth": _truth(report.truth),
    }


def _drawn(values: FloatArray) -> list[float | None]:
    # Unrepaired bands may reach 1e308, where rounding overflows; a thousand is out of sight too.
    found: list[float | None] = plain(np.round(np.clip(values, -1e3, 1e3), _DIGITS))
    return found


def _settings(report: PUReport) -> dict[str, Any]:
    return {
        **picked(report.proportions, "alpha", "beta", "scenario"),
        "target": target_of(report.metrics.prior, report.proportions, report.counts),
        # What was used, not what was asked for: whether a curve is concave is not alpha's doing.
        "repair": report.roc.repair,
        "repair_pr": report.pr.repair,
        "threshold": plain(report.metrics.threshold),
        "optimism": plain(None if report.bootstrap is None else report.bootstrap.optimism),
        **plain(vars(report.metrics.options)),
    }


def _band(band: CurveBand | None) -> dict[str, Any] | None:
    if band is None:
        return None
    drawn = {name: _drawn(getattr(band, name)) for name in ("x", "low", "high")}
    return drawn | picked(band, "kind", "confidence_level")


def _histogram(counts: ScoreCounts) -> dict[str, Any]:
    """Shares of each sample per bin, from the full counts."""
    edges = _edges(counts)
    # Scores beyond the outermost edges belong to the outermost bins.
    scores = counts.thresholds.clip(edges[0], edges[-1])
    out: dict[str, Any] = {"edges": edges.tolist()}
    for name in ("labeled", "unlabeled"):
        tally = getattr(counts, name)
        share = np.histogram(scores, edges, weights=tally)[0] / tally.sum()
        # Enough for a picture, and few enough for what is subtracted to stay 0 where it is.
        out[name] = [float(f"{value:.9g}") for value in share.tolist()]
    return out


def _edges(counts: ScoreCounts) -> FloatArray:
    """Edges of bins of equal width over all scores, but for a few that lie far out."""
    scores = counts.thresholds
    lowest, highest = float(scores[-1]), float(scores[0])
    above = np.cumsum(counts.labeled / counts.n_labeled)
    above += np.cumsum(counts.unlabeled / counts.n_unlabeled)
    low = float(scores[np.searchsorted(above, 2 - _OUTLYING).clip(0, scores.size - 1)])
    high = float(scores[np.searchsorted(above, _OUTLYING)])
    # Parts of them, since the range of doubles may exceed their largest.
    if highest / 8 - lowest / 8 <= high / 2 - low / 2 or low == high:
        low, high = lowest, highest
    n_bins = min(_MAX_BINS, max(10, math.ceil(math.sqrt(counts.n_labeled))))
    share = np.linspace(0.0, 1.0, n_bins + 1)
    edges = np.unique((1 - share) * low + share * high)
    if edges.size > 2:
        return edges
    largest = float(np.finfo(np.float64).max)
    reach = max(0.5, 1e-6 * min(abs(low), largest / 4))
    return np.array([max(low - reach, -largest), min(high + reach, largest)])


def _half_width(report: PUReport) -> Any:
    if (level := confidence_level(report)) is None:
        return None
    error = math.sqrt(auc_pu_variance(report.counts))
    return plain(NormalDist().inv_cdf((1 + level) / 2) * error)


_RARE = 0.02
"""Share of positives below which maps are as wide as their interval, and bars are logarithmic."""


def _grid(report: PUReport) -> dict[str, Any]:
    """Alpha over all that fits the scores and a little more, beta from well below its value, to 1.

    Where positives are rare, both run over their intervals and half as much again.
    """
    p, largest = report.proportions, report.largest_alpha
    most = max(1.1 * largest, 1.5 * p.alpha, 0.05)
    lowest = min(0.5, math.floor(10 * (p.beta - p.delta / 2)) / 10)
    rare = 1e-5 < p.alpha < _RARE  # ends are drawn with six digits
    if rare:
        alpha, beta = report.intervals.get("alpha"), report.intervals.get("beta")
        most = max(1.5 * alpha.high if bounded(alpha) else 0.0, 3 * p.alpha)
        lowest = min(1 - 1.5 * (1 - beta.low) if bounded(beta) else p.beta, 0.9)
    return {
        "alphas": _drawn(np.linspace(0.0, min(most, 1.0), 51)),
        "betas": _drawn(np.linspace(max(lowest, 0.0), 1.0, 51)),
        "largest_alpha": largest,
        "rare": rare,
    }


def _truth(truth: TrueFigures | None) -> dict[str, Any] | None:
    if truth is None:
        return None
    # Thinned apart: where the ROC curve is straight, precision is not.
    roc, pr = drawn_points(truth.roc.fpr_pu, truth.roc.tpr_pu), drawn_points(*truth.pr_curve)
    return {
        "auc": plain(truth.metrics["roc_auc"]),
        "roc": dict(zip(("fpr", "tpr"), map(_drawn, roc), strict=True)),
        "pr": dict(zip(("recall", "precision"), map(_drawn, pr), strict=True)),
        **picked(truth, "alpha", "beta", "prior", "metrics"),
    }


def _hidden(report: PUReport) -> dict[str, Any] | None:
    """Metrics of all positives over theta."""
    if not has_hidden(report):
        return None
    thetas = np.linspace(0.5, 0.95, 46)
    found, names = report.hidden(thetas), ("auc", "recall", "precision", "n_missed")
    curves: dict[str, Any] = {n: np.round(getattr(found, n), 6).tolist() for n in names}
    curves |= dict.fromkeys(unknown_columns(report))
    marks = [{"name": name, "theta": theta} for name, theta in MARKS.items() if theta > 0.5]
    return {"theta": thetas.round(4).tolist(), **curves, "marks": marks}
