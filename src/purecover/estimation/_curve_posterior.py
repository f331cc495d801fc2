r"""Posterior of the two inclusions, whatever the shape of the label curve.

For each kind of shape the posterior of (a, b) is laid out on a grid around its peak; at every
node the four parameters of the shape are fitted anew and integrated by Laplace's method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from purecover._typing import BoolArray, FloatArray
from purecover.estimation._curve_cells import Cells, Posterior, delta_of, joined
from purecover.estimation._curve_model import (
    HIGH,
    LARGEST,
    LOW,
    Curves,
    Shape,
    deviance,
    fit,
    information,
    offset_of,
)
from purecover.estimation._rank_bins import RankBins

# Chosen on simulated worlds and on scores of real classifiers; the leaderboard also shows worlds
# and data sets that had no part in the choice.
SMOOTH = Shape(np.array([0.0, 0.3, 0.14, 0.14]), np.array([4.0, 0.8, 0.15, 0.15]))
STEEP = Shape(np.array([0.0, -1.5, -1.0, -1.0]), np.array([4.0, 1.5, 0.6, 0.6]))
PURE = Shape(np.array([0.0, -0.5, 0.14, 0.14]), np.array([4.0, 1.5, 0.3, 0.3]))
"""Shapes: like two normals or logistics; steep at the ends; anything between pure ends."""

WEIGHTS = {"smooth": 0.7, "steep": 0.1, "pure": 0.2}
"""Prior probability of each kind of shape; all pairs of pure ends share theirs."""

_EVERYTHING = np.ones(6, dtype=np.bool_)
_CLEAN = np.array([True, False, True, True, True, True])
_SHAPE_ONLY = np.array([False, False, True, True, True, True])
_NOISY_MASS = np.pi**2 / 3 - 3
_CLEAN_MASS = 0.5
"""Integrals of beta - alpha over a and b in the unit square, and over a where b = 0."""
_MOST_EXAMPLES = 1e5
_LOG_TWO_PI = float(np.log(2 * np.pi))
_WIDE = 4.5
"""The grid reaches so many standard deviations to each side of the peak."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A kind of shape, with the prior probability of it, and where its fit begins."""

    kind: str
    shape: Shape
    offset: FloatArray
    log_weight: float
    start: FloatArray
    clean_start: FloatArray


def candidates(
    bins: RankBins, *, clean_prior: float, most: int = 8, drop: float = 7.0
) -> list[Candidate]:
    """The kinds of shape that are not out of the question for these data, best first.

    Parameters
    ----------
    bins : RankBins
        The data.
    clean_prior : float
        Prior probability of clean labels, 0 to 1.
    most : int, default=8
        Keep no more.
    drop : float, default=7.0
        Keep none whose log-evidence is lower than the best one's by more.
    """
    none = np.zeros(bins.total.size)
    ends = bins.pure_ends()
    kinds = {"smooth": (SMOOTH, [none]), "steep": (STEEP, [none])}
    if ends:
        kinds["pure"] = (PURE, [offset_of(low, high) for low, high in ends])
    found: list[tuple[float, Candidate]] = []
    for kind, (shape, offsets) in kinds.items():
        log_weight = float(np.log(WEIGHTS[kind] / len(offsets)))
        curves = _one(bins, np.array(offsets))
        start = np.tile(shape.start, (len(offsets), 1))
        noisy, noisy_evidence = _evidence(curves, shape, start, _EVERYTHING)
        clean, clean_evidence = _evidence(curves, shape, noisy, _CLEAN)
        with np.errstate(divide="ignore"):  # of a case that is ruled out
            evidence = log_weight + np.logaddexp(
                np.log(1 - clean_prior) + noisy_evidence, np.log(clean_prior) + clean_evidence
            )
        found += [
            (
                float(evidence[i]),
                Candidate(kind, shape, offset, log_weight, noisy[i], clean[i]),
            )
            for i, offset in enumerate(offsets)
        ]
    found.sort(key=lambda pair: -pair[0])
    best = found[0][0]
    kept = [pair for pair in found[:most] if pair[0] > best - drop]
    return [_standing_for(candidate, kept, found) for _, candidate in kept]


def _standing_for(
    candidate: Candidate, kept: list[tuple[float, Candidate]], found: list[tuple[float, Candidate]]
) -> Candidate:
    """A candidate that also carries the weight of those of its kind that were left out."""
    left, everyone = (
        np.logaddexp.reduce([evidence for evidence, other in some if other.kind == candidate.kind])
        for some in (kept, found)
    )
    return replace(candidate, log_weight=candidate.log_weight + float(everyone - left))


def _evidence(
    curves: Curves, shape: Shape, start: FloatArray, free: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Peaks, and Laplace's approximation of the log-evidence of each."""
    x, value = fit(curves, shape, np.where(free, start, 0.0), free, n_steps=60, tol=1e-3)
    curvature = information(curves, shape, x)
    curvature[:, [0, 1], [0, 1]] += 1.0  # a and b themselves vary by less than 1
    kept = np.flatnonzero(free)
    log_volume = -0.5 * np.linalg.slogdet(curvature[:, kept][:, :, kept])[1]
    return x, value + log_volume + 0.5 * kept.size * _LOG_TWO_PI - np.log(shape.sd).sum()


def dispersion(bins: RankBins, best: Candidate) -> float:
    """How many times more than chance the data scatter around the best curve, at least 1.

    Where even the best curve misses the data by more than chance explains, each example tells
    less than it seems to, and the likelihood is tempered by this factor. No curve is exact, so
    that examples beyond a hundred thousand add nothing to the certainty.
    """
    least = max(1.0, float(bins.total.sum()) / _MOST_EXAMPLES)
    freedom = bins.total.size - 6
    if freedom < 1:
        return least
    missed = float(deviance(_one(bins, best.offset[None]), best.start[None])[0])
    by_chance = freedom + 1.645 * (2 * freedom) ** 0.5
    return max(least, missed / freedom) if missed > by_chance else least


def posterior(
    bins: RankBins,
    labeled: FloatArray,
    total: FloatArray,
    kept: list[Candidate],
    *,
    clean_prior: float,
    n_nodes: int = 9,
    n_steps: int = 60,
) -> tuple[Posterior, list[Candidate]]:
    r"""Posterior of alpha and beta.

    The prior density of (a, b) is proportional to :math:`\beta - \alpha`, with probability
    ``clean_prior`` on b = 0.

    Parameters
    ----------
    bins : RankBins
        The data that the bins come from.
    labeled, total : ndarray of shape (n_rows, n_bins)
        The data themselves, or replicates of them.
    kept : list of Candidate
        Kinds of shape to average over.
    clean_prior : float
        Prior probability of clean labels, 0 to 1.
    n_nodes : int, default=9
        Nodes of the grid in a and in b.
    n_steps : int, default=60
        Steps of a fit at most.

    Returns
    -------
    Posterior
        Its nodes.
    list of Candidate
        The kinds of shape, to be continued from the fit of the first row.
    """
    parts: list[tuple[Cells, Cells, FloatArray]] = []
    clean: list[BoolArray] = []
    kinds: list[str] = []
    ahead = []
    for candidate in kept:
        shape = candidate.shape
        curves = Curves(
            labeled,
            total,
            bins.labeled_share,
            bins.log_below,
            bins.log_above,
            candidate.offset[None],
        )
        base = candidate.log_weight - float(np.log(shape.sd).sum())
        onward = candidate
        if clean_prior < 1:
            x = _peak(curves, shape, candidate.start, _EVERYTHING, n_steps)
            a, b, log = _grid(curves, shape, x, n_nodes)
            log += base + np.log((1 - clean_prior) / _NOISY_MASS) + np.log(delta_of(a[1], b[1]))
            parts.append((a, b, log))
            onward = replace(onward, start=x[0])
        if clean_prior > 0:
            x = _peak(curves, shape, candidate.clean_start, _CLEAN, n_steps)
            a, b, log = _line(curves, shape, x, n_nodes)
            log += base + np.log(clean_prior / _CLEAN_MASS) + np.log1p(-a[1])
            parts.append((a, b, log))
            onward = replace(onward, clean_start=x[0])
        for _, b, _ in parts[len(clean) :]:
            clean.append(np.full(b[1].shape[1], not b[1].any()))
            kinds += [candidate.kind] * b[1].shape[1]
        ahead.append(onward)
    log = np.concatenate([part[2] for part in parts], axis=1)
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    found = Posterior(
        a=joined([part[0] for part in parts]),
        b=joined([part[1] for part in parts]),
        weight=weight,
        clean=np.concatenate(clean),
        kinds=np.array(kinds),
    )
    return found, ahead


def _one(bins: RankBins, offset: FloatArray) -> Curves:
    """The data once for each offset."""
    rows = (len(offset), bins.total.size)
    return Curves(
        np.broadcast_to(bins.labeled, rows),
        np.broadcast_to(bins.total, rows),
        bins.labeled_share,
        bins.log_below,
        bins.log_above,
        offset,
    )


def _peak(
    curves: Curves, shape: Shape, start: FloatArray, free: BoolArray, n_steps: int
) -> FloatArray:
    rows = np.tile(start, (len(curves.labeled), 1))
    return fit(curves, shape, rows, free, n_steps=n_steps, tol=1e-5)[0]


def _grid(
    curves: Curves, shape: Shape, peak: FloatArray, n_nodes: int
) -> tuple[Cells, Cells, FloatArray]:
    """Cells around a peak, and log-density times area of each."""
    curvature = information(curves, shape, peak)
    spread = _spread(curvature, curves)
    a = _cells(peak[:, 0], spread[:, 0], n_nodes)
    b = _cells(peak[:, 1], spread[:, 1], n_nodes)
    a = (
        np.repeat(a[0], n_nodes, axis=1),
        np.repeat(a[1], n_nodes, axis=1),
        np.repeat(a[2], n_nodes, axis=1),
    )
    b = np.tile(b[0], (1, n_nodes)), np.tile(b[1], (1, n_nodes)), np.tile(b[2], (1, n_nodes))
    log = _integrated(curves, shape, peak, curvature, a[1], b[1])
    return a, b, log + np.log((a[2] - a[0]) * (b[2] - b[0]))


def _line(
    curves: Curves, shape: Shape, peak: FloatArray, n_nodes: int
) -> tuple[Cells, Cells, FloatArray]:
    """The same for clean labels, where b is 0."""
    curvature = information(curves, shape, peak)
    others = np.flatnonzero(_CLEAN)
    spread = _spread(curvature[:, others][:, :, others], curves)
    a = _cells(peak[:, 0], spread[:, 0], n_nodes)
    none = np.zeros_like(a[1])
    log = _integrated(curves, shape, peak, curvature, a[1], none)
    return a, (none, none, none), log + np.log(a[2] - a[0])


def _spread(curvature: FloatArray, curves: Curves) -> FloatArray:
    """Standard deviations of the first two parameters at a peak.

    At 0 the posterior falls off as fast as one over the number of examples at most.
    """
    ridge = np.eye(curvature.shape[1]) * 1e-9
    variance = np.linalg.inv(curvature + ridge)[:, [0, 1], [0, 1]]
    least = 2 / curves.total.sum(axis=1, keepdims=True)
    return np.asarray(np.sqrt(variance.clip(0)).clip(np.minimum(least, 0.5), 1))


def _cells(center: FloatArray, spread: FloatArray, n_nodes: int) -> Cells:
    """Cells around a center, finer towards 0: their roots are evenly spaced."""
    low = np.sqrt(np.clip(center - _WIDE * spread, 0, 0.98))
    high = np.sqrt(np.clip(center + _WIDE * spread, 0, LARGEST))
    step = ((high - low) / n_nodes)[:, None]
    edges = low[:, None] + step * np.arange(n_nodes + 1)
    middle = low[:, None] + step * (np.arange(n_nodes) + 0.5)
    return edges[:, :-1] ** 2, middle**2, edges[:, 1:] ** 2


def _integrated(
    curves: Curves,
    shape: Shape,
    peak: FloatArray,
    curvature: FloatArray,
    a: FloatArray,
    b: FloatArray,
) -> FloatArray:
    """Log-density at nodes, the shape integrated by Laplace's method.

    Two steps suffice, because the quadratic around the peak tells where to begin.
    """
    n_rows, n_nodes = a.shape
    away = np.stack((a - peak[:, :1], b - peak[:, 1:2]), axis=2)
    drift = -np.linalg.solve(curvature[:, 2:, 2:], curvature[:, 2:, :2])
    moved = peak[:, None, 2:] + np.clip(away @ np.swapaxes(drift, 1, 2), -3, 3)
    x = np.concatenate((a[..., None], b[..., None], moved), axis=2).reshape(n_rows * n_nodes, 6)
    many = curves.repeated(n_nodes)
    x, value = fit(many, shape, np.clip(x, LOW, HIGH), _SHAPE_ONLY, n_steps=2, tol=0.0)
    inner = information(many, shape, x)[:, 2:, 2:]
    log = value - 0.5 * np.linalg.slogdet(inner)[1]
    return np.asarray(log.reshape(n_rows, n_nodes), dtype=np.float64)
