/* The curve of maximum likelihood under a monotone likelihood ratio. */
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { sum, total, interpolate, ROUNDING } = parts.arrays;

  /** Maximum likelihood under a monotone likelihood ratio; within a block mass follows examples. */
  function repairLikelihood(o, p) {
    const { place, edges } = o.blocks;
    const { negatives, positives } =
      p.delta > ROUNDING ? tailsOf(o.blocks, p) : tailsWithoutContrast(o.blocks, p.alpha);
    const curve = (tail) => {
      const rate = place.map((x) => interpolate(x, edges, tail));
      rate[rate.length - 1] = 1;
      return rate;
    };
    return { fpr: curve(negatives), tpr: curve(positives), thresholds: o.thresholds };
  }

  /** Shares of negatives and positives at or above each block, from the top: sums of
   * beta f - alpha g and (1 - alpha) g - (1 - beta) f, of which one is 0 at an active bound. */
  function tailsOf(blocks, { alpha, beta, delta }) {
    const { g, f } = blockMasses(blocks, { alpha, beta });
    const [a, b] = inclusions({ alpha, beta });
    const size = g.length;
    const negatives = new Float64Array(size + 1);
    const positives = new Float64Array(size + 1);
    for (let k = 0; k < size; k++) {
      const [one, two] = [g[size - 1 - k], f[size - 1 - k]];
      const [noNegatives, noPositives] = [two === a * one, one === b * two];
      let negative = noPositives ? (delta * two) / (1 - alpha) : beta * two - alpha * one;
      let positive = noNegatives ? (delta * one) / beta : (1 - alpha) * one - (1 - beta) * two;
      if (noNegatives) negative = 0;
      if (noPositives) positive = 0;
      negatives[k + 1] = negatives[k] + Math.max(negative, 0);
      positives[k + 1] = positives[k] + Math.max(positive, 0);
    }
    return {
      negatives: negatives.map((mass) => mass / negatives[size]),
      positives: positives.map((mass) => mass / positives[size]),
    };
  }

  /** The same as beta tends to alpha: the positives are the upper alpha of the pooled examples. */
  function tailsWithoutContrast({ n, edges }, alpha) {
    const all = total(n);
    const tail = edges.map((mass) => mass / all);
    tail[tail.length - 1] = 1;
    const upper = Math.max(alpha, tail[1]); // positives that are fewer share the highest block
    return {
      negatives: tail.map((share) => Math.max(share - alpha, 0) / (1 - alpha)),
      positives: tail.map((share) => Math.min(share, upper) / upper),
    };
  }

  /** a = alpha / beta and b = (1 - beta) / (1 - alpha): the bounds a g <= f and b f <= g. */
  const inclusions = ({ alpha, beta }) => [alpha / beta, (1 - beta) / (1 - alpha)];

  /** Masses g, f of the blocks that maximize the likelihood, with a g <= f and b f <= g.
   *
   * For a multiplier m of the mass of g, g = n_L / m and f = n_U / (n - m), clipped to the bounds;
   * m makes both masses equal. Their difference falls with m, hence bisection.
   */
  function blockMasses({ nLabeled, nUnlabeled, n }, p) {
    const [a, b] = inclusions(p);
    const all = total(n);
    const size = n.length;
    function masses(multiplier) {
      const other = all - multiplier;
      const g = new Float64Array(size);
      const f = new Float64Array(size);
      for (let k = 0; k < size; k++) {
        let [one, two] = [nLabeled[k] / multiplier, nUnlabeled[k] / other];
        const [noNegatives, noPositives] = [a * one > two, b * two > one];
        if (noNegatives) {
          one = n[k] / (multiplier + a * other);
          two = a * one;
        }
        if (noPositives) {
          two = n[k] / (b * multiplier + other);
          one = b * two;
        }
        [g[k], f[k]] = [one, two];
      }
      return { g, f };
    }
    function gap(multiplier) {
      const { g, f } = masses(multiplier);
      return total(g) - total(f);
    }
    const allLabeled = total(nLabeled);
    if (Math.abs(gap(allLabeled)) <= ROUNDING) return masses(allLabeled); // no bound is active
    let [low, high] = [all * 1e-12, all * (1 - 1e-12)];
    if (gap(low) < -ROUNDING) {
      // More mass of g is asked for than any block with labeled rows may have.
      const { g, f } = masses(low);
      return { g: fill(g, nLabeled, n), f };
    }
    if (gap(high) > ROUNDING) {
      const { g, f } = masses(high);
      return { g, f: fill(f, nUnlabeled, n) };
    }
    for (;;) {
      const middle = low + (high - low) / 2;
      if (middle <= low || middle >= high || high - low <= all * 1e-16) return masses(middle);
      if (gap(middle) > 0) low = middle;
      else high = middle;
    }
  }

  /** Spread what is missing from a total mass of 1 over blocks without examples of the kind. */
  function fill(mass, tally, n) {
    const missing = 1 - sum((k) => (tally[k] === 0 ? 0 : mass[k]), 0, n.length);
    const room = sum((k) => (tally[k] === 0 ? n[k] : 0), 0, n.length);
    return mass.map((value, k) => (tally[k] === 0 ? (missing * n[k]) / room : value));
  }

  parts.likelihood = Object.freeze({ repairLikelihood });
})();
