/* From the observed rates to the recovered ones, and their repairs. */
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { clip, isotonicRegression, ROUNDING } = parts.arrays;
  const { effectiveSize } = parts.observed;
  const { repairLikelihood } = parts.likelihood;
  const TINY = 2.2250738585072014e-308; // the smallest normal double
  const KEEPS_THRESHOLDS = ["none", "isotonic", "likelihood", "blend"];
  const REPAIRS = [...KEEPS_THRESHOLDS, "paper", "hull"];

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
    const mix = (one, two) => one.map((value, i) => (1 - weight) * value + weight * two[i]);
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

  parts.repairs = Object.freeze({ KEEPS_THRESHOLDS, REPAIRS, aucFromPu, recoverRoc });
})();
