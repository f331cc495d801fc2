/* The mathematics of purecover.recovery for the page: counts in, curves and metrics out.
 *
 * Every function bears the name of its Python twin, follows the same steps in the same order, and
 * is compared with it by tests/test_html_engine.py. No DOM, nothing loaded: the file also runs
 * under node. Rates are Float64Arrays in order of decreasing threshold, after (0, 0).
 *
 *   purecover.recover(counts, settings)           curves, areas, metrics, confusion matrix
 *   purecover.auc(counts or auc_pu, alpha, beta)  the direct AUC alone, null where it is infeasible
 *   purecover.histogram(histogram, alpha, beta)   recovered components of the scores, per bin
 */
(() => {
  "use strict";

  const ROUNDING = 1e-12;
  const TINY = 2.2250738585072014e-308; // the smallest normal double
  const KEEPS_THRESHOLDS = ["none", "isotonic", "likelihood", "blend"];
  const REPAIRS = [...KEEPS_THRESHOLDS, "paper", "hull"];
  const AREA_RULES = ["davis-goadrich", "average-precision", "trapezoid"];

  // -- arrays ---------------------------------------------------------------------------------

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

  // -- the observed curve -----------------------------------------------------------------------

  /** Kish's effective size (sum w)^2 / sum w^2; the size itself without weights. */
  const effectiveSize = (size, squares) => (squares ? size ** 2 / total(squares) : size);

  /** A = P(s_L > s_U) + P(s_L = s_U) / 2 for a random labeled and unlabeled score. */
  function aucPu(labeled, unlabeled, nLabeled, nUnlabeled) {
    let below = 0;
    let pairs = 0;
    let ties = 0;
    for (let i = labeled.length - 1; i >= 0; i--) {
      below += unlabeled[i];
      pairs += labeled[i] * below;
      ties += labeled[i] * unlabeled[i];
    }
    return clip((pairs - ties / 2) / (nLabeled * nUnlabeled), 0, 1);
  }

  /** Variance of a weighted mean: sum w^2 (v - mean)^2 / (sum w)^2 * m / (m - 1). */
  function meanVariance(values, weights, squares) {
    const n = values.length;
    const all = total(weights);
    const effective = all ** 2 / total(squares);
    if (effective <= 1) return NaN;
    const mean = sum((i) => weights[i] * values[i], 0, n) / all;
    const spread = sum((i) => squares[i] * (values[i] - mean) ** 2, 0, n) / all ** 2;
    return (spread * effective) / (effective - 1);
  }

  /** DeLong's variance S^2(V10) / n_L + S^2(V01) / n_U of the observed AUC. */
  function aucPuVariance(o) {
    const below = vector(o.n, (i) => 1 - (o.fprPu[i + 1] + o.fprPu[i]) / 2);
    const above = vector(o.n, (i) => (o.tprPu[i + 1] + o.tprPu[i]) / 2);
    return (
      meanVariance(below, o.labeled, o.labeledSq ?? o.labeled) +
      meanVariance(above, o.unlabeled, o.unlabeledSq ?? o.unlabeled)
    );
  }

  /** Vertices of the upper concave hull: slopes pooled in x = fpr + tpr, y = tpr - fpr. */
  function hullVertices(o) {
    const points = [0];
    for (let i = 1; i <= o.n; i++) {
      if (o.fprPu[i] + o.tprPu[i] > o.fprPu[i - 1] + o.tprPu[i - 1]) points.push(i);
    }
    const last = points.length - 1;
    const run = new Float64Array(last); // reversed, since slopes fall
    const slope = new Float64Array(last);
    for (let k = 0; k < last; k++) {
      const [i, j] = [points[last - 1 - k], points[last - k]];
      run[k] = o.fprPu[j] + o.tprPu[j] - (o.fprPu[i] + o.tprPu[i]);
      slope[k] = (o.tprPu[j] - o.fprPu[j] - (o.tprPu[i] - o.fprPu[i])) / run[k];
    }
    const { starts } = isotonicRegression(slope, run);
    return starts.map((start) => points[last - start]).reverse();
  }

  /** How far the observed AUC of the hull exceeds the plain one, and the latter's error. */
  function concavityExcess(o) {
    const at = (rate) => Float64Array.from(o.hull, (i) => rate[i]);
    const excess = trapezoid(at(o.tprPu), at(o.fprPu)) - o.aucPu;
    const error = o.variance >= 0 ? Math.sqrt(o.variance) : Infinity;
    return { excess: excess > ROUNDING ? excess : 0, error };
  }

  /** Blocks in which the labeled share rises with the score; alpha and beta do not enter. */
  function likelihoodBlocks(o) {
    const seen = []; // increasing scores; not where only known negatives are
    for (let i = o.n - 1; i >= 0; i--) if (o.labeled[i] + o.unlabeled[i] > 0) seen.push(i);
    const everyone = seen.map((i) => o.labeled[i] + o.unlabeled[i]);
    const { starts } = isotonicRegression(
      seen.map((i, k) => o.labeled[i] / everyone[k]),
      everyone,
    );
    const added = (tally) =>
      vector(starts.length - 1, (k) => sum((j) => tally[seen[j]], starts[k], starts[k + 1]));
    const [nLabeled, nUnlabeled] = [added(o.labeled), added(o.unlabeled)];
    const n = nLabeled.map((count, k) => count + nUnlabeled[k]);
    const place = new Float64Array(o.n + 1);
    for (let i = 0; i < o.n; i++) place[i + 1] = place[i] + (o.labeled[i] + o.unlabeled[i]);
    const edges = new Float64Array(n.length + 1);
    for (let k = 0; k < n.length; k++) edges[k + 1] = edges[k] + n[n.length - 1 - k];
    return { nLabeled, nUnlabeled, n, place, edges };
  }

  const observations = new WeakMap();

  /** All that does not hang on alpha and beta, computed once for each counts object. */
  function observe(counts) {
    let o = observations.get(counts);
    if (o) return o;
    const [labeled, unlabeled] = [counts.labeled, counts.unlabeled].map((c) =>
      Float64Array.from(c),
    );
    o = {
      n: labeled.length,
      labeled,
      unlabeled,
      labeledSq: counts.labeled_sq && Float64Array.from(counts.labeled_sq),
      unlabeledSq: counts.unlabeled_sq && Float64Array.from(counts.unlabeled_sq),
      nLabeled: total(labeled),
      nUnlabeled: total(unlabeled),
      fprPu: cumulativeShare(unlabeled),
      tprPu: cumulativeShare(labeled),
      scores: Float64Array.from(counts.thresholds),
      thresholds: Float64Array.from([Infinity, ...counts.thresholds]),
    };
    o.labeledShare = o.nLabeled / (o.nLabeled + o.nUnlabeled);
    o.aucPu = aucPu(labeled, unlabeled, o.nLabeled, o.nUnlabeled);
    o.variance = aucPuVariance(o);
    o.hull = hullVertices(o);
    o.concavity = concavityExcess(o);
    o.blocks = likelihoodBlocks(o);
    observations.set(counts, o);
    return o;
  }

  // -- rates ------------------------------------------------------------------------------------

  /** tpr = ((1 - alpha) tpr_pu - (1 - beta) fpr_pu) / delta,
   * fpr = (beta fpr_pu - alpha tpr_pu) / delta. */
  function mapCurve(tprPu, fprPu, { alpha, beta, delta }) {
    const tpr =
      beta === 1
        ? Float64Array.from(tprPu)
        : tprPu.map((t, i) => ((1 - alpha) * t - (1 - beta) * fprPu[i]) / delta);
    const fpr = fprPu.map((f, i) => (beta * f - alpha * tprPu[i]) / delta);
    tpr[tpr.length - 1] = 1; // the map leaves (1, 1) in place, but for rounding
    fpr[fpr.length - 1] = 1;
    return { tpr, fpr };
  }

  /** A = 1/2 + (A_pu - 1/2) / delta. */
  const aucFromPu = (auc, delta) => 0.5 + (auc - 0.5) / delta;

  // -- repairs ----------------------------------------------------------------------------------

  /** Algorithm 1 of the paper: points inside the box by fpr, running maximum of tpr. */
  function repairPaper(raw) {
    const inside = (rate) => rate >= -ROUNDING && rate <= 1 + ROUNDING;
    const kept = [];
    raw.fpr.forEach((f, i) => inside(f) && inside(raw.tpr[i]) && kept.push(i));
    kept.sort((i, j) => clip(raw.fpr[i], 0, 1) - clip(raw.fpr[j], 0, 1) || i - j);
    let highest = 0;
    return {
      fpr: Float64Array.from(kept, (i) => clip(raw.fpr[i], 0, 1)),
      tpr: Float64Array.from(kept, (i) => (highest = Math.max(highest, clip(raw.tpr[i], 0, 1)))),
      thresholds: Float64Array.from(kept, (i) => raw.thresholds[i]),
    };
  }

  /** Least-squares projection of a rate onto increasing functions in [0, 1], between its ends. */
  function project(rate, weights) {
    const last = rate.length - 1;
    const out = new Float64Array(rate.length);
    out[last] = 1;
    if (last > 1) {
      const { fitted } = isotonicRegression(rate.subarray(1, last), weights.subarray(0, last - 1));
      for (let i = 1; i < last; i++) out[i] = clip(fitted[i - 1], 0, 1);
    }
    return out;
  }

  function repairIsotonic(raw, o) {
    // A threshold that only known negatives have weighs nothing.
    const weights = o.labeled.map((count, i) => Math.max(count + o.unlabeled[i], TINY));
    return {
      fpr: project(raw.fpr, weights),
      tpr: project(raw.tpr, weights),
      thresholds: raw.thresholds,
    };
  }

  /** Concave hull of the observed curve, mapped and cut by the unit box at its exact crossings. */
  function repairHull(o, p) {
    const at = (values) => Float64Array.from(o.hull, (i) => values[i]);
    const mapped = mapCurve(at(o.tprPu), at(o.fprPu), p);
    let [fpr, tpr, thresholds] = [mapped.fpr, mapped.tpr, at(o.thresholds)].map((a) => [...a]);
    const i = fpr.findLastIndex((value) => value < 0);
    if (i >= 0) {
      const share = -fpr[i] / (fpr[i + 1] - fpr[i]);
      const height = tpr[i] + share * (tpr[i + 1] - tpr[i]);
      fpr = [0, 0, ...fpr.slice(i + 1)];
      tpr = [0, height, ...tpr.slice(i + 1)];
      thresholds = [Infinity, NaN, ...thresholds.slice(i + 1)];
    }
    const j = tpr.findIndex((value) => value > 1);
    if (j >= 0) {
      const share = (1 - tpr[j - 1]) / (tpr[j] - tpr[j - 1]);
      const place = fpr[j - 1] + share * (fpr[j] - fpr[j - 1]);
      fpr = [...fpr.slice(0, j), place, 1];
      tpr = [...tpr.slice(0, j), 1, 1];
      thresholds = [...thresholds.slice(0, j), NaN, thresholds.at(-1)];
    }
    const boxed = (rate) => Float64Array.from(rate, (value) => clip(value, 0, 1));
    return { fpr: boxed(fpr), tpr: boxed(tpr), thresholds: Float64Array.from(thresholds) };
  }

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
    if (gap(low) <= 0) {
      // More mass of g is asked for than any block with labeled examples may hold.
      const { g, f } = masses(low);
      return { g: fill(g, nLabeled, n), f };
    }
    if (gap(high) >= 0) {
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

  /** From the isotonic curve towards that of the likelihood, by how much sampling noise hides. */
  function blended(isotonic, o, p) {
    if (p.alpha === 0) return { ...isotonic, repair: "blend" }; // nothing is subtracted
    const likelihood = repairLikelihood(o, p);
    const size = effectiveSize(o.nLabeled, o.labeledSq);
    // noise = alpha sqrt(tpr_pu (1 - tpr_pu) / n_L) / delta, at the fitted rates
    let clear = likelihood.fpr.findIndex((f, i) => {
      const t = p.beta * likelihood.tpr[i] + (1 - p.beta) * f;
      return f > (p.alpha * Math.sqrt((t * (1 - t)) / size)) / p.delta;
    });
    if (clear < 0) clear = o.n;
    const hidden = likelihood.tpr[Math.max(clear - 1, 0)];
    const { excess, error } = o.concavity;
    const concave = error > 0 ? clip(2 - excess / error, 0, 1) : Number(excess <= 0);
    const weight = Math.min(hidden / 0.25, 1) * concave;
    const mix = (one, two) => one.map((value, i) => value + weight * (two[i] - value));
    return {
      ...isotonic,
      fpr: mix(isotonic.fpr, likelihood.fpr),
      tpr: mix(isotonic.tpr, likelihood.tpr),
      repair: "blend",
    };
  }

  /** The recovered ROC curve; hull and likelihood give way where the curve is not concave. */
  function recoverRoc(o, p, repair) {
    if (repair === "blend") return blended(recoverRoc(o, p, "isotonic"), o, p);
    const raw = { ...mapCurve(o.tprPu, o.fprPu, p), thresholds: o.thresholds };
    const { excess, error } = o.concavity;
    const guarded = (repair === "hull" || repair === "likelihood") && excess > 2 * error;
    const used = guarded ? "isotonic" : repair;
    let points = raw;
    if (used === "paper") points = repairPaper(raw);
    if (used === "isotonic") points = repairIsotonic(raw, o);
    if (used === "hull") points = repairHull(o, p);
    if (used === "likelihood") points = repairLikelihood(o, p);
    return { ...points, fprRaw: raw.fpr, tprRaw: raw.tpr, repair: used };
  }

  // -- areas ------------------------------------------------------------------------------------

  /** Signed area under a polyline. */
  const trapezoid = (y, x) =>
    sum((i) => (x[i + 1] - x[i]) * (y[i + 1] + y[i]), 0, x.length - 1) / 2;

  /** Mean of (p + q u) / (r + s u) over u in [0, 1]: [p L(x) + q M(x)] / r with x = s / r,
   * L(x) = ln(1 + x) / x and M(x) = (1 - L(x)) / x, in series where x is small. */
  function ratioIntegral(p, q, r, s) {
    if (r === 0) return q / s;
    const x = s / r;
    if (Math.abs(x) < 1e-3) {
      const logMean = 1 - x * (1 / 2 - x * (1 / 3 - x / 4));
      const remainder = 1 / 2 - x * (1 / 3 - x * (1 / 4 - x / 5));
      return (p * logMean + q * remainder) / r;
    }
    const logMean = Number.isFinite(x) ? Math.log1p(x) / x : 0;
    return (p * logMean + (q * (1 - logMean)) / x) / r;
  }

  /** Precision pi tpr / (pi tpr + (1 - pi) fpr); where none is flagged, that of the next point. */
  function precisionOf(tpr, fpr, prior) {
    const precision = tpr.map((t, i) => {
      const flagged = prior * t + (1 - prior) * fpr[i];
      return flagged > 0 ? (prior * t) / flagged : NaN;
    });
    const first = precision.findIndex((value) => !Number.isNaN(value));
    if (first > 0) precision.fill(precision[first], 0, first);
    return precision;
  }

  /** Area under the precision-recall curve of an ROC polyline; NaN where it has none. */
  function areaUnderPr(tpr, fpr, prior, area) {
    if (prior === 0) return 0;
    prior = Math.max(prior, 1e-300);
    const flagged = tpr.map((t, i) => prior * t + (1 - prior) * fpr[i]);
    if (flagged.some((value, i) => value < 0 || (value === 0 && tpr[i] > 0))) return NaN;
    const steps = tpr.length - 1;
    if (area === "davis-goadrich") {
      return sum(
        (i) => {
          const step = tpr[i + 1] - tpr[i];
          if (step === 0) return 0;
          const rise = prior * tpr[i + 1] - prior * tpr[i];
          return (
            step * ratioIntegral(prior * tpr[i], rise, flagged[i], flagged[i + 1] - flagged[i])
          );
        },
        0,
        steps,
      );
    }
    const precision = precisionOf(tpr, fpr, prior);
    if (area === "trapezoid") return trapezoid(precision, tpr);
    return sum((i) => (tpr[i + 1] - tpr[i]) * precision[i + 1], 0, steps);
  }

  /** The smallest area any classifier can have: 1 + (1 - pi) ln(1 - pi) / pi (Boyd et al. 2012). */
  function minAucPr(prior) {
    if (prior === 0 || prior === 1) return prior;
    if (prior < 1e-5) return prior / 2 + prior ** 2 / 6;
    return 1 + ((1 - prior) * Math.log1p(-prior)) / prior;
  }

  /** Area up to max_fpr, standardized by McClish: 1/2 for chance and 1 for a perfect classifier. */
  function partialAuc(fpr, tpr, maxFpr) {
    // Unrepaired rates are not sorted; bisection still ends, and where NumPy's does.
    const stop = lastAtMost(fpr, maxFpr) + 1;
    const [x, y] = [[...fpr.subarray(0, stop)], [...tpr.subarray(0, stop)]];
    if (stop < fpr.length) {
      const share = (maxFpr - fpr[stop - 1]) / (fpr[stop] - fpr[stop - 1]);
      x.push(maxFpr);
      y.push(tpr[stop - 1] + share * (tpr[stop] - tpr[stop - 1]));
    }
    const chance = maxFpr ** 2 / 2;
    return 0.5 * (1 + (trapezoid(y, x) - chance) / (maxFpr - chance));
  }

  // -- metrics ----------------------------------------------------------------------------------

  const divide = (numerator, denominator) => (denominator === 0 ? NaN : numerator / denominator);
  const flaggedShare = (t, f, pi) => pi * t + (1 - pi) * f;
  const precisionAt = (t, f, pi) => divide(pi * t, flaggedShare(t, f, pi));

  function fScore(t, f, pi, weight) {
    const square = weight ** 2;
    return divide((1 + square) * pi * t, square * pi + flaggedShare(t, f, pi));
  }

  function mcc(t, f, pi) {
    const flagged = flaggedShare(t, f, pi);
    const spread = Math.max(flagged * (1 - flagged), 0);
    return Math.sqrt(pi * (1 - pi)) * (t - f) * divide(1, Math.sqrt(spread));
  }

  /** Metrics at one threshold: functions of tpr, fpr, the prior and the settings. */
  const OF_RATES = {
    recall: (t) => t,
    specificity: (t, f) => 1 - f,
    fpr: (t, f) => f,
    precision: precisionAt,
    npv: (t, f, pi) => divide((1 - pi) * (1 - f), pi * (1 - t) + (1 - pi) * (1 - f)),
    fdr: (t, f, pi) => 1 - precisionAt(t, f, pi),
    accuracy: (t, f, pi) => pi * t + (1 - pi) * (1 - f),
    balanced_accuracy: (t, f) => (1 + t - f) / 2,
    f1: (t, f, pi) => fScore(t, f, pi, 1),
    f_beta: (t, f, pi, s) => fScore(t, f, pi, s.f_beta ?? 1),
    mcc,
    youden: (t, f) => t - f,
    ber: (t, f) => (1 - t + f) / 2,
    lift: (t, f, pi) => divide(t, flaggedShare(t, f, pi)),
    lee_liu: (t, f, pi) => divide(t ** 2, flaggedShare(t, f, pi)),
    cost: (t, f, pi, s) => pi * (s.cost_fn ?? 1) * (1 - t) + (1 - pi) * (s.cost_fp ?? 1) * f,
  };

  /** Every metric of the registry by name; null where it is undefined. */
  function computeMetrics(view, prior, s) {
    const area = areaUnderPr(view.curvePr.tpr, view.curvePr.fpr, prior, s.area);
    const smallest = minAucPr(prior);
    const out = {
      roc_auc: view.auc,
      partial_auc: partialAuc(view.curve.fpr, view.curve.tpr, s.max_fpr ?? 0.1),
      auc_pr: area,
      average_precision: areaUnderPr(
        view.curvePr.tpr,
        view.curvePr.fpr,
        prior,
        "average-precision",
      ),
      normalized_auc_pr: smallest < 1 ? (area - smallest) / (1 - smallest) : NaN,
    };
    const [t, f] = [view.rates.tpr[view.at], view.rates.fpr[view.at]];
    for (const [name, metric] of Object.entries(OF_RATES)) out[name] = metric(t, f, prior, s);
    if (s.top_k != null) {
      // Between two thresholds ties are broken at random, hence the straight line.
      const share = s.top_k / view.nUnlabeled;
      const recall = interpolate(share, view.flagged, view.rates.tpr);
      const fpr = interpolate(share, view.flagged, view.rates.fpr);
      out.precision_at_k = precisionAt(recall, fpr, view.priorAtK);
      out.recall_at_k = recall;
    }
    for (const name of Object.keys(out)) if (!Number.isFinite(out[name])) out[name] = null;
    return out;
  }

  /** Expected numbers among the unlabeled: tp = n alpha tpr, at most all flagged, and the rest. */
  function confusionFromRoc(rates, o, p, threshold, at) {
    const flagged = sum((i) => o.unlabeled[i], 0, at);
    const positives = o.nUnlabeled * p.alpha;
    const tp = Math.min(positives * rates.tpr[at], flagged);
    const fn = positives - tp;
    return { threshold, tp, fp: flagged - tp, fn, tn: o.nUnlabeled - flagged - fn, flagged };
  }

  // -- the door ---------------------------------------------------------------------------------

  function proportions({ alpha, beta, scenario }) {
    if (!(alpha >= 0 && alpha < beta && beta <= 1)) {
      throw new RangeError(
        `recover needs 0 <= alpha < beta <= 1, got alpha=${alpha} and beta=${beta}`,
      );
    }
    return { alpha, beta, delta: beta - alpha, scenario: scenario ?? "case-control" };
  }

  /** Prior of the target: alpha for deployment, c beta + (1 - c) alpha for the pooled data. */
  function priorOf(p, target, labeledShare) {
    if (typeof target === "number") return target;
    let wanted = target ?? "population";
    if (wanted === "population") wanted = p.scenario === "censoring" ? "pooled" : "deployment";
    return wanted === "pooled" ? labeledShare * p.beta + (1 - labeledShare) * p.alpha : p.alpha;
  }

  function choice(name, value, allowed) {
    if (!allowed.includes(value)) {
      throw new RangeError(`${name} must be one of ${allowed.join(", ")}, got ${value}`);
    }
    return value;
  }

  /** Where the observed, hence also the true, Youden index is highest. */
  function youdenThreshold(o) {
    let best = 1;
    for (let i = 2; i <= o.n; i++) {
      if (o.tprPu[i] - o.fprPu[i] > o.tprPu[best] - o.fprPu[best]) best = i;
    }
    return o.thresholds[best];
  }

  /** Curves, areas, metrics and confusion matrix at the settings; undefined metrics are null. */
  function recover(counts, settings) {
    const p = proportions(settings);
    const repair = choice("repair", settings.repair ?? "isotonic", REPAIRS);
    const fallback = settings.repair == null ? "blend" : repair;
    const repairPr = choice("repair_pr", settings.repair_pr ?? fallback, REPAIRS);
    const s = { ...settings, area: choice("area", settings.area ?? AREA_RULES[0], AREA_RULES) };
    const o = observe(counts);
    const roc = recoverRoc(o, p, repair);
    const rocPr = repairPr === repair ? roc : recoverRoc(o, p, repairPr);
    const rates = KEEPS_THRESHOLDS.includes(roc.repair) ? roc : recoverRoc(o, p, "isotonic");
    const threshold = s.threshold ?? youdenThreshold(o);
    const at = position(o.scores, threshold);
    const prior = priorOf(p, s.target, o.labeledShare);
    const direct = aucFromPu(o.aucPu, p.delta);
    const auc = clip(direct, 0, 1);
    const seen = { tpr: o.tprPu, fpr: o.fprPu };
    const shared = { at, flagged: o.fprPu, nUnlabeled: o.nUnlabeled };
    const metrics = computeMetrics(
      { ...shared, curve: roc, curvePr: rocPr, rates, auc, priorAtK: p.alpha },
      prior,
      s,
    );
    const observed = computeMetrics(
      {
        ...shared,
        curve: seen,
        curvePr: seen,
        rates: seen,
        auc: o.aucPu,
        priorAtK: o.labeledShare,
      },
      o.labeledShare,
      s,
    );
    return {
      feasible: direct >= 0 && direct <= 1,
      auc_pu: o.aucPu,
      auc_direct: direct,
      auc,
      auc_repaired: trapezoid(roc.tpr, roc.fpr),
      prior,
      repair: roc.repair,
      repair_pr: rocPr.repair,
      roc: {
        fpr: roc.fpr,
        tpr: roc.tpr,
        thresholds: roc.thresholds,
        fpr_pu: o.fprPu,
        tpr_pu: o.tprPu,
        fpr_raw: roc.fprRaw,
        tpr_raw: roc.tprRaw,
        thresholds_raw: o.thresholds,
      },
      pr: {
        recall: rocPr.tpr,
        precision: precisionOf(rocPr.tpr, rocPr.fpr, prior),
        thresholds: rocPr.thresholds,
        recall_pu: o.tprPu,
        precision_pu: precisionOf(o.tprPu, o.fprPu, o.labeledShare),
        auc_pr: metrics.auc_pr,
        auc_pr_pu: observed.auc_pr,
      },
      metrics,
      observed,
      confusion: confusionFromRoc(rates, o, p, threshold, at),
    };
  }

  /** The direct AUC for a cell of a map: null where alpha is not below beta or it leaves [0, 1]. */
  function auc(summary, alpha, beta) {
    if (!(alpha < beta)) return null;
    let seen = summary;
    if (typeof summary !== "number") seen = summary.auc_pu ?? observe(summary).aucPu;
    const value = aucFromPu(seen, beta - alpha);
    // An AUC this close to 0 or 1 is on the edge, not beyond it.
    return value >= -1e-9 && value <= 1 + 1e-9 ? clip(value, 0, 1) : null;
  }

  /** Shares per bin of the components: f1 = ((1 - alpha) g - (1 - beta) f) / delta and
   * f0 = (beta f - alpha g) / delta, cut at 0 for drawing. */
  function histogram(bins, alpha, beta) {
    const p = proportions({ alpha, beta });
    const shares = (tally) => {
      const all = total(tally);
      return Array.from(tally, (count) => count / all);
    };
    const [g, f] = [shares(bins.labeled), shares(bins.unlabeled)];
    return {
      edges: bins.edges,
      labeled: g,
      unlabeled: f,
      positive: g.map((v, i) => Math.max(((1 - alpha) * v - (1 - beta) * f[i]) / p.delta, 0)),
      negative: f.map((v, i) => Math.max((beta * v - alpha * g[i]) / p.delta, 0)),
    };
  }

  globalThis.purecover = Object.freeze({ recover, auc, histogram, REPAIRS, AREA_RULES });
})();
