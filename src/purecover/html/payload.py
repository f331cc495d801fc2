"""A report as plain data for the script of its page: all numbers that its sliders can show.

Of many scores neighboring ones are merged, and the page says so.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover import _validation as valid
from purecover._codec import picked, plain
from purecover._typing import ArrayLike, FloatArray, IntArray
from purecover.counts import PURoc, ScoreCounts, pu_roc_curve
from purecover.documents.details import MARKS
from purecover.documents.formats import bounded
from purecover.documents.summary import unknown_columns
from purecover.html.svg import drawn_points
from purecover.intervals.interval import auc_interval, hardly_known
from purecover.intervals.replicates import POSTERIOR
from purecover.intervals.resampling import thinned_to_draw
from purecover.proportions import MixtureProportions
from purecover.recovery import metrics as formulas
from purecover.recovery.curves import KEEPS_THRESHOLDS, pr_from_roc
from purecover.recovery.grids import sensitivity
from purecover.recovery.rates import contradiction_of, map_rates, recover_auc
from purecover.report.derived import has_hidden

if TYPE_CHECKING:
    from purecover.intervals.interval import CurveBand, Interval
    from purecover.report.results import PUReport


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
"""More distinct scores than this are merged."""

N_ALPHAS, N_THRESHOLDS, N_POINTS = 32, 33, 65
"""At most so many places have the slider of alpha and that of thresholds, and points a curve; and
one more, that of the report."""

STEPS = {"metrics": 0.5e-4, "observed": 0.5e-4, "numbers": 0.5}
"""Half of the last digit that the page shows of a metric, and of a number of rows: the step that a
number is on says how it is rounded to these digits, and to fewer."""

SEEN = (-1.0, 2.0)
"""All that is drawn lies between these; without a repair, rates may reach 1e308."""

_MAX_BINS, _MAP = 60, 31
_PART_OF_ROW = 0.05
_OUTLYING = 0.01
"""Scores this rare are left out of the range of a histogram if that makes it much narrower."""


def make_payload(report: PUReport) -> dict[str, Any]:
    r"""All that the script of a page shows; it looks numbers up and computes none.

    Parameters
    ----------
    report : PUReport
        What :func:`purecover.evaluate` returned.

    Returns
    -------
    dict
        Plain data, ready for strict JSON, with the keys

        ``report``
            Alpha, beta, the observed AUC, the largest alpha, and metrics.
        ``grid``
            What Python computes at each place of the sliders; see :func:`make_grid`.
        ``roc``, ``pr``
            The observed curve, the true one if it is known, and the band if there are replicates.
        ``histogram``
            Rows per bin of equal width, and the positives among the unlabeled ones for each alpha;
            what lies beyond the bins is counted in the outermost.
        ``map``
            The AUC on a grid of alpha and beta, by :func:`purecover.recovery.sensitivity`.
        ``hidden``
            Metrics of all positives over theta, and theta of real labels; None without them.
        ``truth``
            True metrics, if they are known.

    See Also
    --------
    packed : How long columns of numbers are written.

    Examples
    --------
    >>> from purecover import evaluate, simulate
    >>> from purecover.html.payload import make_payload
    >>> sample = simulate.binormal(1.5).sample(200, 1000, alpha=0.25, random_state=0)
    >>> report = evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0)
    >>> grid = make_payload(report)["grid"]
    >>> grid["alphas"][:3], grid["alphas"][grid["own"][0]]
    ([0.0, 0.02, 0.04], 0.25)
    """
    alphas, truth = _alphas(report), report.truth
    return {
        "report": {
            **picked(report, "alpha", "beta", "auc_pu", "largest_alpha"),
            "auc_pr_pu": plain(report.pr.auc_pr_pu),
            "metrics": plain(dict(report.metrics)),
        },
        "grid": make_grid(report, alphas),
        "roc": {
            "observed": _points(report.roc.fpr_pu, report.roc.tpr_pu),
            "true": truth and _points(truth.roc.fpr_pu, truth.roc.tpr_pu),
            "band": _band(report.roc_band),
        },
        "pr": {
            "observed": _points(report.pr.recall_pu, report.pr.precision_pu),
            "true": truth and _points(*truth.pr_curve),
            "band": _band(report.pr_band),
        },
        "histogram": _histogram(report, alphas),
        "map": _map(report),
        "hidden": _hidden(report),
        "truth": truth and picked(truth, "alpha", "metrics"),
    }


def packed(values: ArrayLike, step: float | None = None) -> dict[str, Any]:
    """Pack numbers into 16 or 32 bits each: the step that each is on, counted from the lowest.

    Parameters
    ----------
    values : array-like
        The numbers. One that is not finite, or as good as that, has all bits set.
    step : float, optional
        The width of a step; by default a 65,534th of the range of the numbers.

    Returns
    -------
    dict
        The ``step``, the lowest one as ``first``, how many ``bits`` a number has, and these as
        ``text`` in base64. Each number is taken to be in the middle of its step.
    """
    numbers = np.asarray(values, dtype=np.float64).ravel()
    defined = abs(numbers) < 1e15  # without a repair they may reach 1e308
    known = numbers[defined] if defined.any() else np.zeros(1)
    width = float(known.max() - known.min())
    step = step or width / 0xFFFE or 1.0
    while width / step > 0xFFFFFFF0:  # more digits than anybody reads
        step *= 10
    steps = np.floor(known / step)
    first = float(steps.min())
    bits = 16 if steps.max() - first < 0xFFFF else 32
    found = np.full(numbers.size, 2.0**bits - 1)
    if defined.any():
        found[defined] = steps - first
    text = base64.b64encode(found.astype(f"<u{bits // 8}").tobytes()).decode()
    return {"step": step, "first": first, "bits": bits, "text": text}


def unpacked(data: Mapping[str, Any]) -> FloatArray:
    """Return the numbers that :func:`packed` packed, as the script of the page reads them."""
    found = np.frombuffer(base64.b64decode(data["text"]), f"<u{data['bits'] // 8}")
    none = found == 2 ** data["bits"] - 1
    return np.where(none, np.nan, (data["first"] + found + 0.5) * data["step"])


def make_grid(report: PUReport, alphas: Sequence[float]) -> dict[str, Any]:
    r"""Compute what a page can show at some alphas and thresholds, each alpha as if it were given.

    Parameters
    ----------
    report : PUReport
        The report, whose own threshold is among them.
    alphas : sequence of float
        The alphas, increasing, with that of the report.

    Returns
    -------
    dict
        Lists, and :func:`packed` columns with a row for each alpha.

        ``alphas``, ``thresholds``, ``own``
            The places, increasing, and which of them are those of the report.
        ``contradictions``
            Why an alpha contradicts the scores; empty if not. Its numbers are undefined then.
        ``dashes``
            For each alpha, the metrics and numbers that are hardly known.
        ``metrics``, ``observed``
            As :func:`purecover.recover_metrics` gives them: those at a threshold for each pair,
            others for each alpha; and those at a threshold, observed.
        ``low``, ``high``, ``priors``
            For each alpha, the interval of the AUC by :func:`purecover.intervals.auc_interval`
            where rows are independent, and the share of positives that other metrics are for.
        ``numbers``, ``rows``, ``classes``
            Of :func:`purecover.recovery.recover_confusion` for each pair, and their sums for each
            threshold and for each alpha.
        ``roc``, ``pr``
            Points of the recovered curves, as many for each alpha.
        ``scores``
            The scores at these points; None where a repair has others.
        ``n_scores``
            How many distinct scores there are once neighboring ones are merged.
    """
    own = report.threshold
    counts = thin_counts(report.counts, MAX_CELLS, threshold=own)
    seen, n = pu_roc_curve(counts), counts.n_unlabeled
    places = _spread(seen, N_THRESHOLDS)
    thresholds = np.unique(np.append(seen.thresholds[places[places > 0]], own))
    at = formulas.position(counts, thresholds)
    drawn, flagged = _spread(seen, N_POINTS), _flagged(counts, at)
    shares = [_proportions(report, alpha) for alpha in alphas]
    told = [_contradiction(report, p) for p in shares]
    ends = [{} if text else _interval(report, p) for p, text in zip(shares, told, strict=True)]
    # A threshold that was chosen on the data is corrected for the choice, and no other.
    gains = np.outer(_optimism(report), thresholds == own)
    figures = [_figures(report, counts, p, at, gains, drawn) for p in shares]
    keeps = report.roc.repair in KEEPS_THRESHOLDS
    columns: dict[str, dict[str, Any]] = {}
    for kind, name in figures[0]:
        rows = np.array([each[kind, name] for each in figures])
        rows[[text != "" for text in told]] = np.nan
        columns.setdefault(kind, {})[name] = packed(rows, STEPS.get(kind))
    # Of all scores, of which these may be fewer; and the plot of it is the slider.
    columns["metrics"]["roc_auc"] = [
        None if text else _auc(report, p) for p, text in zip(shares, told, strict=True)
    ]
    return {
        **columns,
        "observed": _observed(report, seen, at),
        "rows": plain({"flagged": flagged, "passed": n - flagged}),
        "classes": {
            "positive": [n * alpha for alpha in alphas],
            "negative": [n * (1 - alpha) for alpha in alphas],
        },
        "alphas": list(alphas),
        "thresholds": plain(thresholds),
        "own": [shares.index(report.proportions), int(np.searchsorted(thresholds, own))],
        "contradictions": told,
        "dashes": [
            list(report.hardly_known if p is report.proportions else hardly_known(interval))
            for p, interval in zip(shares, ends, strict=True)
        ],
        "low": [plain(each["roc_auc"].low) if each else None for each in ends],
        "high": [plain(each["roc_auc"].high) if each else None for each in ends],
        "priors": [_prior(report, p) for p in shares],
        "scores": plain(seen.thresholds[drawn]) if keeps else None,
        "n_scores": counts.n_thresholds,
    }


def _proportions(report: PUReport, alpha: float) -> MixtureProportions:
    """Return alpha and the beta of the report, as if both were given; its own as they are."""
    if alpha == report.alpha:
        return report.proportions
    return replace(report.proportions, alpha=alpha, origin="set on this page", basis=())


def _contradiction(report: PUReport, proportions: MixtureProportions) -> str:
    told = report.contradiction
    if proportions is not report.proportions:
        told = contradiction_of(report.counts, proportions)
    return told and f"{told[0].upper()}{told[1:].removesuffix('.')}."


def _prior(report: PUReport, proportions: MixtureProportions) -> float:
    target = formulas.target_of(report.metrics.prior, report.proportions, report.counts)
    return proportions.prior(target, report.counts)


def _auc(report: PUReport, proportions: MixtureProportions) -> float:
    with valid.unheard_repairs():  # chance explains what is cut off
        return recover_auc(report.counts, proportions)


def _interval(report: PUReport, proportions: MixtureProportions) -> dict[str, Interval]:
    """Return the interval of the AUC that a report has where alpha is given."""
    own = report.intervals.get("roc_auc")
    if own is None or "groups" in own.method:
        return {}
    level = own.confidence_level
    return {"roc_auc": auc_interval(report.counts, proportions, confidence_level=level)}


def _optimism(report: PUReport) -> tuple[float, float]:
    """Return by how much the choice of the threshold raises the observed tpr and fpr.

    Draws from a posterior do not know of the choice: it is how far the observed rates are from
    those that the figures of the report imply.
    """
    drawn, p = report.bootstrap, report.proportions
    if drawn is None or report.threshold_chosen or not drawn.method.startswith(POSTERIOR):
        return (drawn and drawn.optimism) or (0.0, 0.0)
    at = formulas.position(report.counts, report.metrics.threshold)
    tpr, fpr = report.metrics["recall"], report.metrics["fpr"]
    seen = float(report.roc.tpr_pu[at]), float(report.roc.fpr_pu[at])
    implied = (share * tpr + (1 - share) * fpr for share in (p.beta, p.alpha))
    found = [rate - each for rate, each in zip(seen, implied, strict=True)]
    return (found[0], found[1]) if np.isfinite(found).all() else (0.0, 0.0)


def _figures(
    report: PUReport,
    counts: ScoreCounts,
    p: MixtureProportions,
    at: IntArray,
    gains: FloatArray,
    drawn: IntArray,
) -> dict[tuple[str, str], Any]:
    """Return metrics and numbers at the places ``at`` on the curve, and its points ``drawn``.

    ``gains`` are what the observed tpr and fpr at these places owe to the choice of the threshold.
    """
    prior, options = _prior(report, p), report.metrics.options
    # Only where none was asked for, the curves have two repairs.
    repair = report.roc.repair if report.roc.repair == report.pr.repair else None
    with valid.unheard_repairs():  # a repair has warned of the data before
        roc, roc_pr = formulas.recover_both(counts, p, repair)
    fpr, tpr = (rate[at] for rate in formulas.rates_at_thresholds(roc, counts))
    fpr, tpr = formulas.less_optimistic(fpr, tpr, p.alpha, p.beta, (gains[0], gains[1]))
    point = formulas.within_margins(fpr, tpr, roc.fpr_pu[at], p.alpha)
    view = formulas.view_of(roc, roc_pr, counts, point)
    values = formulas.compute_metrics(_metrics(report), view, prior, options)
    n, flagged = counts.n_unlabeled, _flagged(counts, at)
    tp = formulas.positives_flagged(*point, flagged, n, p.alpha)
    fn = n * p.alpha - tp
    pr = pr_from_roc(roc_pr, counts, prior, options.area, areas=(math.nan, math.nan))
    if roc.repair not in KEEPS_THRESHOLDS:  # it has points of its own
        drawn = np.linspace(0, roc.fpr.size - 1, drawn.size).astype(np.intp)
    found = {
        "metrics": values,
        "numbers": {"tp": tp, "fp": flagged - tp, "fn": fn, "tn": np.maximum(n - flagged - fn, 0)},
        "roc": {"x": roc.fpr[drawn].clip(*SEEN), "y": roc.tpr[drawn].clip(*SEEN)},
        "pr": {"x": pr.recall[drawn].clip(*SEEN), "y": pr.precision[drawn].clip(*SEEN)},
    }
    return {(kind, name): each for kind, named in found.items() for name, each in named.items()}


def _flagged(counts: ScoreCounts, at: IntArray) -> FloatArray:
    return np.append(0.0, counts.unlabeled.cumsum())[at]


def _metrics(report: PUReport) -> tuple[formulas.Metric, ...]:
    return tuple(formulas.METRICS[name] for name in report.metrics)


def _observed(report: PUReport, seen: PURoc, at: IntArray) -> dict[str, Any]:
    """Return what the metrics at thresholds are if the unlabeled are taken for negatives."""
    share, options = report.counts.labeled_share, report.metrics.options
    return {
        each.name: packed(
            each.formula(seen.tpr_pu[at], seen.fpr_pu[at], share, options), STEPS["observed"]
        )
        for each in _metrics(report)
        if each.kind == "threshold"
    }


def _alphas(report: PUReport) -> list[float]:
    """Return round values up to a little more than fits the scores, and that of the report."""
    most = min(_largest_shown(report), report.beta)
    step = 10.0 ** math.floor(math.log10(most / N_ALPHAS))
    step *= next(factor for factor in (1, 2, 2.5, 5, 10) if factor * step * N_ALPHAS >= most)
    round_ones = {float(f"{i * step:.6g}") for i in range(math.floor(most / step + 1e-9) + 1)}
    return sorted(alpha for alpha in round_ones | {report.alpha} if alpha < report.beta)


def _spread(roc: PURoc, n: int) -> IntArray:
    """Return at most so many places on an observed curve, the first and the last among them.

    The shares of labeled and unlabeled rows between two are about alike, and smaller at the top,
    where precision is decided.
    """
    above = (roc.tpr_pu + roc.fpr_pu) / 2
    return np.unique(np.searchsorted(above, np.linspace(0.0, 1.0, n) ** 1.5 * above[-1]))


def _points(x: FloatArray, y: FloatArray) -> dict[str, Any]:
    """Pack the points of a curve that an eye can distinguish."""
    each = (values.clip(*SEEN) for values in drawn_points(x, y))
    return dict(zip("xy", map(packed, each), strict=True))


def _band(band: CurveBand | None) -> dict[str, Any] | None:
    if band is None:
        return None
    drawn = {name: packed(getattr(band, name).clip(*SEEN)) for name in ("x", "low", "high")}
    return drawn | picked(band, "kind", "confidence_level")


def _histogram(report: PUReport, alphas: Sequence[float]) -> dict[str, Any]:
    """Rows of each sample per bin, from the full counts, and the positives among the unlabeled."""
    counts, rows = report.counts, {}
    edges = _edges(counts)
    # Scores beyond the outermost edges belong to the outermost bins.
    scores = counts.thresholds.clip(edges[0], edges[-1])
    for name in ("labeled", "unlabeled"):
        rows[name] = np.histogram(scores, edges, weights=getattr(counts, name))[0]
    g, f = (rows[name] / rows[name].sum() for name in rows)
    positives = [
        alpha * counts.n_unlabeled * map_rates(g, f, _proportions(report, alpha))[0].clip(0)
        for alpha in alphas
    ]
    return {
        "edges": edges.tolist(),
        **{name: [float(f"{each:.6g}") for each in tally] for name, tally in rows.items()},
        "positive": packed(positives, _PART_OF_ROW),
        "logarithmic": _rare(report),
    }


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


_RARE = 0.02
"""Share of positives below which maps are as wide as their interval, and bars are logarithmic."""


def _rare(report: PUReport) -> bool:
    return 1e-5 < report.alpha < _RARE  # ends are drawn with six digits


def _largest_shown(report: PUReport) -> float:
    """Return the end of axes of alpha: all that fits the scores, and a little more.

    Where positives are rare, it is the end of the interval, and half as much again.
    """
    alpha, ends = report.alpha, report.intervals.get("alpha")
    if _rare(report):
        return min(max(1.5 * ends.high if bounded(ends) else 0.0, 3 * alpha), 1.0)
    return min(max(1.1 * report.largest_alpha, 1.5 * alpha, 0.05), 1.0)


def _map(report: PUReport) -> dict[str, Any]:
    """Return the AUC over alpha and beta, which runs from well below its value to 1."""
    p, ends = report.proportions, report.intervals.get("beta")
    lowest = min(0.5, math.floor(10 * (p.beta - p.delta / 2)) / 10)
    if _rare(report):
        lowest = min(1 - 1.5 * (1 - ends.low) if bounded(ends) else p.beta, 0.9)
    alphas = np.linspace(0.0, _largest_shown(report), _MAP)
    betas = np.linspace(max(lowest, 0.0), 1.0, _MAP)
    found = sensitivity(report.counts, alphas=alphas, betas=betas)
    aucs = np.where(found.infeasible, np.nan, found.values)
    drawn = {"alphas": alphas.round(6).tolist(), "betas": betas.round(6).tolist()}
    return drawn | {"aucs": packed(aucs, STEPS["metrics"])}


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
