"""Areas under ROC and precision-recall polylines."""

from __future__ import annotations

import numpy as np

from purecover._typing import FloatArray

_SERIES_BELOW = 1e-3


def trapezoid(y: FloatArray, x: FloatArray) -> float:
    """Signed area under a polyline."""
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)


def ratio_integrals(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    r"""Mean of numerator/denominator along each segment between two neighboring points.

    On a segment both are linear, :math:`(p + q u)/(r + s u)` for :math:`u \in [0, 1]`, and
    with :math:`x = s/r` the mean is :math:`[p\,L(x) + q\,M(x)]/r` where
    :math:`L(x) = \ln(1+x)/x` and :math:`M(x) = (1 - L(x))/x`. A segment that starts where
    both vanish has the constant ratio :math:`q/s`.
    """
    p, q = numerator[:-1], np.diff(numerator)
    r, s = denominator[:-1], np.diff(denominator)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        x = s / r
        large = ~(np.abs(x) < _SERIES_BELOW)
        # The series for all, since most steps are tiny; the closed form where they are not.
        y = np.where(large, 0.0, x)
        log_mean = 1 - y * (1 / 2 - y * (1 / 3 - y / 4))
        remainder = 1 / 2 - y * (1 / 3 - y * (1 / 4 - y / 5))
        z = x[large]
        # Where the denominator starts at next to nothing, hence x is infinite, both vanish.
        log_mean[large] = np.where(np.isinf(z), 0.0, np.log1p(z) / z)
        remainder[large] = (1 - log_mean[large]) / z
        mean = (p * log_mean + q * remainder) / r
        return np.where(r == 0, q / s, mean)


def pr_segment_areas(tpr: FloatArray, fpr: FloatArray, prior: float) -> FloatArray:
    r"""Area under precision against recall for each segment of an ROC polyline.

    Along a straight ROC segment precision is a ratio of linear functions, not a straight
    line (Davis & Goadrich 2006); the integral
    :math:`\int \pi\,tpr/(\pi\,tpr + (1-\pi)\,fpr)\,d\,tpr` is taken exactly.
    """
    flagged = prior * tpr + (1 - prior) * fpr
    step = np.diff(tpr)
    mean = ratio_integrals(prior * tpr, flagged)
    return np.where(step == 0, 0.0, mean * step)
