"""Replicates of metrics and curves, and the intervals and bands read off them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from purecover._frozen import FrozenDict
from purecover._typing import FloatArray
from purecover._validation import bad_value, check_choice
from purecover.intervals._bands import simultaneous_depth
from purecover.intervals._interval import CurveBand, Interval, Varied

__all__ = ["BootstrapResult"]

PROPORTIONS = ("alpha", "beta", "delta")
"""What is replicated beside the metrics where the proportions are estimated."""

_LEANING = ("auc_pr", "average_precision", "normalized_auc_pr")
"""Metrics whose replicates lean to the same side as their estimates."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BootstrapResult:
    """Replicates of metrics and curves.

    Attributes
    ----------
    estimates : mapping of str to float
        The metrics of the data themselves; and ``"alpha"``, ``"beta"`` and ``"delta"``, if every
        replicate estimated them again.
    replicates : mapping of str to ndarray of shape (n_resamples,)
        The same of each replicate.
    n_resamples : int
        How many replicates there are.
    confidence_level : float
        Nominal coverage of intervals and bands.
    method : str
        How replicates were drawn.
    varied : str
        What was taken as uncertain; see :class:`Interval`.
    n_rejected : int
        Draws left out because they allow no estimate of alpha below beta.
    """

    estimates: Mapping[str, float]
    replicates: Mapping[str, FloatArray]
    n_resamples: int
    confidence_level: float
    method: str
    varied: Varied = "scores"
    n_rejected: int = 0
    _curves: Mapping[str, tuple[FloatArray, FloatArray, FloatArray, FloatArray]]

    def __post_init__(self) -> None:
        for name in ("estimates", "replicates", "_curves"):
            object.__setattr__(self, name, FrozenDict(dict(getattr(self, name))))

    def __repr__(self) -> str:
        rejected = f", {self.n_rejected:,} rejected" if self.n_rejected else ""
        return (
            f"BootstrapResult({self.n_resamples:,} resamples{rejected}, {self.method}, "
            f"{len(self.replicates)} metrics, {100 * self.confidence_level:g} %)"
        )

    def interval(self, metric: str) -> Interval:
        """Percentile interval of one metric.

        Areas under precision-recall curves come out low where hardly a negative stands above a
        positive, and replicates repeat the error, so that percentiles may lie below the truth.
        Their ends reach as far as plain or bias-corrected percentiles do [1]_,
        whichever is further, and ``method`` of such an interval says so.

        Parameters
        ----------
        metric : str
            Its name.

        Returns
        -------
        Interval
            NaN at both ends if the metric is undefined in more than one replicate of twenty,
            or if no replicate moved it: that is too little data, not certainty. (A beta that
            every replicate takes as 1 is no metric, and stays 1.)

        References
        ----------
        .. [1] B. Efron, "Nonparametric standard errors and confidence intervals", Canadian
           Journal of Statistics 9(2), 139-158, 1981.
        """
        check_choice("BootstrapResult.interval", "metric", metric, self.replicates)
        values = self.replicates[metric]
        defined = values[~np.isnan(values)]
        estimate = self.estimates[metric]
        low = high = float("nan")
        method = f"bootstrap percentile, {self.method}"
        if defined.size >= 0.95 * values.size:
            tail = (1 - self.confidence_level) / 2
            if np.ptp(defined) > 0 or metric in PROPORTIONS:
                low, high = (float(q) for q in np.quantile(defined, [tail, 1 - tail]))
                if metric in _LEANING and not np.isnan(estimate):
                    ends = _bias_corrected(defined, estimate, tail)
                    low, high = min(low, ends[0]), max(high, ends[1])
                    method = f"bootstrap percentile, plain or bias-corrected, {self.method}"
        if metric == "roc_auc":  # the direct value, which can leave [0, 1]
            estimate, low, high = (min(max(v, 0.0), 1.0) for v in (estimate, low, high))
        if self.n_rejected:
            tried = self.n_resamples + self.n_rejected
            method += f", {self.n_rejected:,} of {tried:,} draws rejected"
        return Interval(
            estimate=estimate,
            low=low,
            high=high,
            confidence_level=self.confidence_level,
            method=method,
            varied=self.varied,
        )

    def intervals(self) -> dict[str, Interval]:
        """Intervals of all metrics, and of the proportions if they were estimated again."""
        return {name: self.interval(name) for name in self.replicates}

    def roc_band(self, kind: Literal["pointwise", "simultaneous"] = "pointwise") -> CurveBand:
        """Band of the true-positive rate over the false-positive rate.

        Parameters
        ----------
        kind : {"pointwise", "simultaneous"}, default="pointwise"
            Whether the level holds at each false-positive rate, or for the whole curve.

        Returns
        -------
        CurveBand
            The band.
        """
        return self._band("roc", kind)

    def pr_band(self, kind: Literal["pointwise", "simultaneous"] = "pointwise") -> CurveBand:
        """Band of precision over recall; see :meth:`roc_band`."""
        return self._band("pr", kind)

    def _band(self, curve: str, kind: Literal["pointwise", "simultaneous"]) -> CurveBand:
        name = f"BootstrapResult.{curve}_band"
        check_choice(name, "kind", kind, ("pointwise", "simultaneous"))
        if curve not in self._curves:
            raise bad_value(
                "bootstrap", "curves", "True for bands", "False", "run bootstrap(..., curves=True)"
            )
        x, estimate, draws, highest_low = self._curves[curve]
        ordered = np.sort(draws, axis=0)
        n = draws.shape[0]
        if kind == "pointwise":
            tail = (1 - self.confidence_level) / 2
            low, high = np.quantile(ordered, [tail, 1 - tail], axis=0)
        else:
            depth = simultaneous_depth(draws, ordered, self.confidence_level)
            low, high = ordered[depth - 1], ordered[n - depth]
        return CurveBand(
            x=x,
            estimate=estimate,
            low=np.minimum(low, highest_low),
            high=high,
            confidence_level=self.confidence_level,
            kind=kind,
            varied=self.varied,
        )


def _bias_corrected(values: FloatArray, estimate: float, tail: float) -> tuple[float, float]:
    """Percentiles moved by twice the distance of the estimate from the median, on normal scale."""
    from scipy.special import ndtr, ndtri

    below = (np.mean(values < estimate) + np.mean(values <= estimate)) / 2
    half = 0.5 / values.size  # an estimate beyond all replicates is not infinitely far
    shift = 2 * ndtri(np.clip(below, half, 1 - half))
    low, high = np.quantile(values, ndtr(shift + ndtri([tail, 1 - tail])))
    return float(low), float(high)
