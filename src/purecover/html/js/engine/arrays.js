/* Sums, searches and fits over arrays: what NumPy and SciPy do for the Python twins.
 *
 * The first of the scripts of purecover.recovery; recover.js, the last, says how they are called.
 */
(() => {
  "use strict";

  // What the scripts of a page share; each adds what it defines.
  const parts = (globalThis.purecoverParts ??= {});
  const ROUNDING = 1e-12;

  const vector = (n, f) => Float64Array.from({ length: n }, (_, i) => f(i));
  const clip = (value, low, high) => Math.min(Math.max(value, low), high);

  /** Pairwise sum of f(start), ..., f(stop - 1): its error grows with log n, as NumPy's does. */
  function sum(f, start, stop) {
    if (stop - start <= 64) {
      let total = 0;
      for (let i = start; i < stop; i++) total += f(i);
      return total;
    }
    const middle = start + 8 * ((stop - start) >> 4);
    return sum(f, start, middle) + sum(f, middle, stop);
  }

  const total = (values) => sum((i) => values[i], 0, values.length);

  /** Shares at or above each threshold, after 0. */
  function cumulativeShare(tally) {
    const out = new Float64Array(tally.length + 1);
    for (let i = 0; i < tally.length; i++) out[i + 1] = out[i] + tally[i];
    const all = out[tally.length];
    return out.map((value) => value / all);
  }

  /** How many of a decreasing array are at least x. */
  function position(thresholds, x) {
    let low = 0;
    let high = thresholds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (thresholds[middle] >= x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Place j of x in an increasing array: the last with xs[j] <= x. */
  function lastAtMost(xs, x) {
    let low = 0;
    let high = xs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (xs[middle] <= x) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** The value at x of the polyline through (xs, ys), level beyond its ends. */
  function interpolate(x, xs, ys) {
    const j = lastAtMost(xs, x);
    if (j < 0) return ys[0];
    if (j === xs.length - 1 || xs[j] === x) return ys[j];
    return ((ys[j + 1] - ys[j]) / (xs[j + 1] - xs[j])) * (x - xs[j]) + ys[j];
  }

  /** Pool adjacent violators in O(n): the increasing least-squares fit, and where blocks start.
   *
   * Algorithm 1 of Busing (2022), as SciPy's isotonic_regression has it; equal neighbors are one
   * block. `starts` has one entry more than there are blocks: the number of values.
   */
  function isotonicRegression(values, weights) {
    const n = values.length;
    const x = Float64Array.from(values);
    const w = Float64Array.from(weights);
    const starts = [0, 1];
    let b = 0;
    for (let i = 1; i < n; i++) {
      b += 1;
      let mean = x[i];
      let weight = w[i];
      if (x[b - 1] >= mean) {
        b -= 1;
        let mass = w[b] * x[b] + weight * mean;
        weight += w[b];
        mean = mass / weight;
        while (i < n - 1 && mean >= x[i + 1]) {
          i += 1;
          mass += w[i] * x[i];
          weight += w[i];
          mean = mass / weight;
        }
        while (b > 0 && x[b - 1] >= mean) {
          b -= 1;
          mass += w[b] * x[b];
          weight += w[b];
          mean = mass / weight;
        }
      }
      x[b] = mean;
      w[b] = weight;
      starts[b + 1] = i + 1;
    }
    starts.length = b + 2;
    const fitted = new Float64Array(n);
    for (let k = 0; k <= b; k++) fitted.fill(x[k], starts[k], starts[k + 1]);
    return { fitted, starts };
  }

  /** Signed area under a polyline. */
  const trapezoid = (y, x) =>
    sum((i) => (x[i + 1] - x[i]) * (y[i + 1] + y[i]), 0, x.length - 1) / 2;

  parts.arrays = Object.freeze({
    ROUNDING,
    vector,
    clip,
    sum,
    total,
    cumulativeShare,
    position,
    interpolate,
    isotonicRegression,
    trapezoid,
  });
})();
