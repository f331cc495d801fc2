"""Extremes of confusion tables and of recovered rates: the machinery of :func:`recover_bounds`."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import special

from purecover._typing import FloatArray, IntArray
from purecover._validation import bad_value
from purecover.counts import ScoreCounts
from purecover.curves import pu_roc_curve

BoundsMethod: TypeAlias = Literal["dkw", "bootstrap", "box"]
BoundsTarget: TypeAlias = Literal["pooled", "deployment"]

# Few hidden positives above a threshold mean many false alarms, and the other way round.
_FEW = {"tpr": "lower", "fpr": "upper", "precision": "lower"}
_MANY = {"tpr": "upper", "fpr": "lower", "precision": "upper"}
_MAX_BLOCKS = 32
_ROUNDING = 1e-9  # 0.29 * 100 is a hair below 29


# -- counting ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Band:
    """Where the share of hidden positives at or above each threshold lies.

    It reaches from ``below`` under to ``above`` over the ``share`` of the labeled ones, and
    farther by ``stretch`` for the sampling of the hidden positives themselves; a
    ``noise_ratio`` of 0 leaves that out.
    """

    share: FloatArray
    below: FloatArray
    above: FloatArray
    noise_ratio: float

    def stretch(self, m: int) -> float:
        """Factor of the width with ``m`` hidden positives; falls with ``m``."""
        return math.sqrt(1 + self.noise_ratio / max(m, 1))

    def ends(self, m: int) -> tuple[FloatArray, FloatArray]:
        """Lower and upper share with ``m`` hidden positives."""
        low = self.share - self.stretch(m) * self.below
        high = self.share + self.stretch(m) * self.above
        return np.clip(low, 0, 1), np.clip(high, 0, 1)


def make_band(counts: ScoreCounts, method: BoundsMethod, level: float, latent_noise: bool) -> Band:
    """Band with the given confidence, for all thresholds at once or for each by itself."""
    share = pu_roc_curve(counts).tpr_pu
    if method == "dkw":
        below = above = np.full(share.size, _dkw_radius(1 - level, counts.n_labeled))
    else:
        tail = (1 - level) / 2
        n = int(counts.n_labeled)
        hits = np.concatenate(([0], np.cumsum(counts.labeled)))
        below = share - _binomial_quantile(tail, n, hits) / n
        above = _binomial_quantile(1 - tail, n, hits) / n - share
    return Band(share, below, above, counts.n_labeled if latent_noise else 0.0)


def _dkw_radius(error: float, n: float) -> float:
    return math.sqrt(math.log(2 / error) / (2 * n))


def _binomial_quantile(q: float, n: int, hits: IntArray) -> FloatArray:
    """Smallest k with P(Binomial(n, hits/n) <= k) >= q."""
    distinct, where = np.unique(hits, return_inverse=True)
    p = distinct / n
    with np.errstate(invalid="ignore"):
        real = special.bdtrik(q, n, p)
    # bdtrik is undefined where all the mass is on 0 already, and at p = 0 and 1.
    k = np.ceil(np.nan_to_num(real, nan=0.0))
    down = np.maximum(k - 1, 0)
    k = np.where(special.bdtr(down, n, p) >= q, down, k)
    k = np.where(distinct == 0, 0.0, np.where(distinct == n, float(n), k))
    out: FloatArray = k[where]
    return out


def count_bounds(
    counts: ScoreCounts, alphas: tuple[float, float], target: BoundsTarget, band: Band
) -> dict[str, FloatArray]:
    """Extremes of all confusion tables that the band and the range of alpha allow."""
    n_unlabeled = int(counts.n_unlabeled)
    first, last = (min(int(_floor(a * n_unlabeled)), n_unlabeled - 1) for a in alphas)
    if target == "deployment" and last == 0:
        raise bad_value(
            "recover_bounds",
            "alpha_range",
            "large enough for one positive among the unlabeled",
            f"at most {alphas[1]:g} of {n_unlabeled}",
            'there is no recall without positives; use target="pooled"',
        )
    tally = _Tally.of(counts, target)
    bounds: dict[str, FloatArray] = {}
    for start, stop in _blocks(first, last, band.stretch(first) / band.stretch(last)):
        # The band narrows with the number of hidden positives: its widest holds for a block.
        low, high = band.ends(start)
        for theta, rounding, sides in ((low, _floor, _FEW), (high, _ceil, _MANY)):
            for m in _candidates(theta, tally, start, stop):
                hidden = np.clip(rounding(theta * m), m - (n_unlabeled - tally.above), tally.above)
                rates = tally.rates(hidden, m)
                for rate, side in sides.items():
                    _stretch(bounds, rate, side, rates[rate])
    return _monotone(bounds)


@dataclass(frozen=True)
class _Tally:
    """How many examples are at or above each threshold, and in all."""

    above: IntArray
    known_positive: IntArray
    known_negative: IntArray
    n_unlabeled: int

    @classmethod
    def of(cls, counts: ScoreCounts, target: BoundsTarget) -> _Tally:
        def at_or_above(tally: Any) -> IntArray:
            return np.concatenate(([0], np.cumsum(tally, dtype=np.int64)))

        none = np.zeros(counts.n_thresholds, dtype=np.int64)
        pooled = target == "pooled"
        return cls(
            above=at_or_above(counts.unlabeled),
            known_positive=at_or_above(counts.labeled if pooled else none),
            known_negative=at_or_above(
                counts.negative if pooled and counts.negative is not None else none
            ),
            n_unlabeled=int(counts.n_unlabeled),
        )

    def rates(self, hidden: FloatArray, m: FloatArray | int) -> dict[str, FloatArray]:
        """Rates if ``hidden`` of ``m`` hidden positives are above each threshold."""
        true = hidden + self.known_positive
        false = self.above - hidden + self.known_negative
        with np.errstate(invalid="ignore"):  # no positives, or nothing predicted positive
            return {
                "tpr": true / (m + self.known_positive[-1]),
                "fpr": false / (self.n_unlabeled - m + self.known_negative[-1]),
                "precision": true / (true + false),
            }


def _floor(values: Any) -> Any:
    return np.floor(values + _ROUNDING)


def _ceil(values: Any) -> Any:
    return np.ceil(values - _ROUNDING)


def _blocks(first: int, last: int, ratio: float) -> list[tuple[int, int]]:
    """Split the whole numbers from first to last; one by one as long as they are few.

    Over all of them the width of the band changes by ``ratio``, within a block by about 1 %.
    """
    if last - first < _MAX_BLOCKS:
        return [(m, m) for m in range(first, last + 1)]
    n_blocks = min(math.floor(100 * math.log(ratio)) + 1, _MAX_BLOCKS)
    edges = np.unique(np.geomspace(max(first, 1), last + 1, n_blocks + 1).round().astype(int))
    edges[0] = first
    return [(int(a), int(b) - 1) for a, b in itertools.pairwise(edges)]


def _candidates(theta: FloatArray, tally: _Tally, start: int, stop: int) -> list[FloatArray | int]:
    """Numbers of hidden positives among which the extremes of all rates are, per threshold.

    A rate is a ratio of linear functions of that number, hence monotone, between the ends
    and the two numbers where one of the limits of the confusion table begins to bind.
    """
    if start == stop:
        return [start]
    below = tally.n_unlabeled - tally.above
    with np.errstate(divide="ignore", invalid="ignore"):
        kinks = (tally.above / theta, below / (1 - theta))
    found: list[FloatArray | int] = [start, stop]
    for kink in kinks:
        inside = np.clip(np.nan_to_num(kink, nan=start, posinf=stop), start, stop)
        found += [np.floor(inside), np.ceil(inside)]
    return found


def _stretch(bounds: dict[str, FloatArray], rate: str, side: str, values: FloatArray) -> None:
    """Move one bound of a rate to take in new values; NaN has no say."""
    key = f"{rate}_{side}"
    farther = np.fmin if side == "lower" else np.fmax
    bounds[key] = farther(bounds[key], values) if key in bounds else values


def _monotone(bounds: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Tighten bounds of rates, which rise as the threshold falls."""
    out = dict(bounds)
    for rate in ("fpr", "tpr"):
        out[f"{rate}_lower"] = np.maximum.accumulate(bounds[f"{rate}_lower"])
        out[f"{rate}_upper"] = np.minimum.accumulate(bounds[f"{rate}_upper"][::-1])[::-1].copy()
    return out


# -- mapping ----------------------------------------------------------------------------------


def map_bounds(
    counts: ScoreCounts,
    alphas: tuple[float, float],
    betas: tuple[float, float],
    target: BoundsTarget,
    level: float,
) -> dict[str, FloatArray]:
    """Extremes of the recovered rates over bands of the observed ones and a box of proportions."""
    roc = pu_roc_curve(counts)
    # Labeled and unlabeled are independent samples: each may fail with 1 - sqrt(level).
    error = -math.expm1(math.log(level) / 2)
    ends = {}
    for key, rate, n in (
        ("tpr", roc.tpr_pu, counts.n_labeled),
        ("fpr", roc.fpr_pu, counts.n_unlabeled),
    ):
        radius = _dkw_radius(error, n)
        low, high = np.clip(rate - radius, 0, 1), np.clip(rate + radius, 0, 1)
        high[0] = 0.0  # nothing reaches infinity; below the lowest score, though, there may be more
        ends[key] = (low, high)
    bounds: dict[str, FloatArray] = {}
    for tpr_pu in ends["tpr"]:
        for fpr_pu in ends["fpr"]:
            for alpha in set(alphas):
                for beta in set(betas):
                    gain = (tpr_pu - fpr_pu) / (beta - alpha)
                    tpr = np.clip(tpr_pu + (1 - beta) * gain, 0, 1)
                    fpr = np.clip(fpr_pu - alpha * gain, 0, 1)
                    for side in ("lower", "upper"):
                        _stretch(bounds, "tpr", side, tpr)
                        _stretch(bounds, "fpr", side, fpr)
    bounds = _monotone(bounds)
    share = counts.labeled_share if target == "pooled" else 0.0
    low_prior, high_prior = (
        share * beta + (1 - share) * alpha for alpha, beta in zip(alphas, betas, strict=True)
    )
    bounds["precision_lower"] = _precision(bounds["tpr_lower"], bounds["fpr_upper"], low_prior)
    bounds["precision_upper"] = _precision(bounds["tpr_upper"], bounds["fpr_lower"], high_prior)
    # Nothing is predicted positive at infinity.
    bounds["precision_lower"][0] = bounds["precision_upper"][0] = np.nan
    return bounds


def _precision(tpr: FloatArray, fpr: FloatArray, prior: float) -> FloatArray:
    flagged = prior * tpr + (1 - prior) * fpr
    # Without true positives the bound is 0, even if nothing else is predicted positive either.
    return np.divide(prior * tpr, flagged, out=np.zeros(tpr.size), where=flagged > 0)
