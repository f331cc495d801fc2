/* The observed curve, and all else that does not depend on alpha and beta. */
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { vector, clip, sum, total, cumulativeShare, isotonicRegression, trapezoid, ROUNDING } =
    parts.arrays;

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

  /** All that does not depend on alpha and beta, computed once for each counts object. */
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

  parts.observed = Object.freeze({ effectiveSize, observe });
})();
