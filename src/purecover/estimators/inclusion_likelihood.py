r"""Likelihood of AlphaMax: of a share c of one histogram inside another, solved exactly.

For histograms p of the mixture (unlabeled) and q of the component (labeled), a share c of the
component in the mixture has the likelihood

.. math::

    LL(c) = \max_b \; \sum p \log(c q + p - b) + \sum q \log(b / c)
    \quad\text{subject to}\quad 0 \le b \le p, \; \sum b = c,

where b is the part of the mixture that is taken for the component. The problem separates: for a
multiplier t every b is a root of :math:`t b^2 - (t S + p + q) b + q S = 0` with
:math:`S = c q + p`, and the sum of all b falls as t grows. One number per c is left to find, by
Newton's method inside a bracket.

Up to the smallest ratio p/q the curve is flat and known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import xlogy

from purecover._typing import BoolArray, FloatArray, IntArray

_CELLS = 2**17
"""Numbers per work array: one MiB, which stays in the processor's cache."""

_MAX_STEPS = 200
# Relative error of sum b = c. That of the likelihood is its square: see `_Cells.value`.
_TOLERANCE = 1e-8
_TINY = 1e-300


def inclusion_curve(
    mixture: FloatArray, component: FloatArray, inclusion: FloatArray
) -> FloatArray:
    """The likelihood of every inclusion c, for every pair of histograms.

    Parameters
    ----------
    mixture, component : ndarray of shape (n_replicates, n_bins)
        Shares of the bins, each row summing to 1.
    inclusion : ndarray of shape (n_grid,)
        Increasing values of c in [0, 1); at 0 the limit is meant.

    Returns
    -------
    ndarray of shape (n_replicates, n_grid)
        LL(c). Component outside the support of the mixture adds a constant, which is left out.
    """
    p, q = mixture, np.where(mixture > 0, component, 0.0)
    inside = q.sum(axis=1)
    top = xlogy(p, p).sum(axis=1) + xlogy(q, q).sum(axis=1) - xlogy(inside, inside)
    out = np.repeat(top[:, None], inclusion.size, axis=1)
    rows, columns = np.nonzero(inclusion > end_of_flat(p, q)[:, None])
    size = max(1, _CELLS // p.shape[1])
    for start in range(0, rows.size, size):
        row, column = rows[start : start + size], columns[start : start + size]
        c = inclusion[column]
        cells = _Cells.of(p, q, row, c)
        out[row, column] = cells.value(_multiplier(cells, cells.flat - 1 / (1 - c)))
    return out


def end_of_flat(p: FloatArray, q: FloatArray) -> FloatArray:
    """Up to which c the curve of each row is flat: the smallest ratio p/q.

    Nothing is flat where the mixture does not reach all of the component.
    """
    return np.where(q.sum(axis=1) < 1 - 1e-12, 0.0, bin_ratios(p, q).min(axis=1))


def bin_ratios(p: FloatArray, q: FloatArray) -> FloatArray:
    """The ratio p/q in each bin, infinite where q is 0."""
    return np.divide(p, q, out=np.full(p.shape, np.inf), where=q > 0)


@dataclass(frozen=True)
class _Cells:
    """Problems of one histogram pair and one c each; arrays of shape (n_bins, n_cells)."""

    p: FloatArray
    q: FloatArray
    c: FloatArray
    S: FloatArray
    both: FloatArray
    product: FloatArray

    @classmethod
    def of(cls, p: FloatArray, q: FloatArray, row: IntArray, c: FloatArray) -> _Cells:
        p, q = np.ascontiguousarray(p.T)[:, row], np.ascontiguousarray(q.T)[:, row]
        S = c * q + p
        return cls(p, q, c, S, p + q, 4 * q * S)

    def only(self, mask: BoolArray) -> _Cells:
        """Some of the cells."""
        keep, names = np.flatnonzero(mask), ("p", "q", "c", "S", "both", "product")
        return replace(self, **{name: getattr(self, name)[..., keep] for name in names})

    @property
    def flat(self) -> FloatArray:
        """The multiplier where b = c q is possible; elsewhere it is lower."""
        return 1 / self.c - 1

    def lowest(self) -> FloatArray:
        """A multiplier at which b fills at least c."""
        shared = (self.q > 0) & (self.p > 0)
        p, q = np.where(shared, self.p, 1.0), np.where(shared, self.q, 1.0)
        full = np.where(shared, q / p - p / (self.c * q), np.inf).min(axis=0)
        alone = np.where(self.q > 0, 0.0, self.p).sum(axis=0)
        return np.minimum(np.minimum(full, -alone / (1 - self.c)), self.flat)

    def parts(self, multiplier: FloatArray) -> tuple[FloatArray, FloatArray]:
        """All b at these multipliers, and how fast they fall in them."""
        S = self.S
        linear = multiplier * S + self.both
        root = np.sqrt(np.maximum(linear * linear - multiplier * self.product, 0.0)) + _TINY
        # Of the two forms of the root of a quadratic, the one that does not cancel.
        denominator = linear + root
        b = np.divide(self.product, 2 * denominator, where=linear >= 0, out=np.empty(S.shape))
        negative = linear < 0
        if negative.any():
            other = (linear - root) / (2 * np.where(multiplier < 0, multiplier, -1.0))
            b[negative] = other[negative]
        full = b >= self.p
        b = np.minimum(b, self.p)
        return b, np.where(full, 0.0, (S - b) * b / root)

    def value(self, multiplier: FloatArray) -> FloatArray:
        """The likelihood, by the Lagrangian, whose error is quadratic in the multiplier's."""
        b, _ = self.parts(multiplier)
        gap = self.c - b.sum(axis=0)
        rest = self.p * np.log(np.where(self.p == 0, 1.0, self.S - b))
        shared = self.q * np.log(np.where(self.q == 0, 1.0, b))
        inside = self.q.sum(axis=0) * np.log(self.c)
        return np.asarray(rest.sum(axis=0) + shared.sum(axis=0) - inside + multiplier * gap)


def _multiplier(cells: _Cells, start: FloatArray) -> FloatArray:
    """The multiplier at which b sums to c: Newton's method inside a bracket that shrinks.

    Where Newton would leave the bracket, or did not halve the error, the bracket is halved.
    """
    found = start.copy()
    active = np.arange(start.size)
    low, high = cells.lowest(), cells.flat
    t = np.clip(start, low, high)
    before = np.full(t.shape, np.inf)
    for _ in range(_MAX_STEPS):
        b, fall = cells.parts(t)
        error = b.sum(axis=0) - cells.c
        low, high = np.where(error > 0, t, low), np.where(error > 0, high, t)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = t + error / fall.sum(axis=0)
        inside = (step > low) & (step < high)
        size = np.abs(error)
        done = (size <= _TOLERANCE * cells.c) | (high - low <= 1e-14 * np.abs(low))
        found[active] = np.where(inside & done, step, t)
        if done.all():
            break
        t = np.where(inside & (size <= 0.5 * before), step, 0.5 * (low + high))
        before = size
        if done.any():
            keep = ~done
            active, t, low, high = active[keep], t[keep], low[keep], high[keep]
            before = before[keep]
            cells = cells.only(keep)
    return found
