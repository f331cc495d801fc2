/* Areas under curves, metrics at a threshold, and the confusion matrix. */
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { clip, sum, interpolate, trapezoid } = parts.arrays;
  const AREA_RULES = ["davis-goadrich", "average-precision", "trapezoid"];

  // -- areas ------------------------------------------------------------------------------------

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
    // One beyond the last rate within the limit; unrepaired rates rise and fall.
    const stop = fpr.findLastIndex((rate) => rate <= maxFpr) + 1;
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
    const [f, t] = view.point;
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

  /** fpr and tpr at one place on the curve, as metrics and the confusion matrix take them. */
  function ratesAt(rates, o, p, at, optimism) {
    const less = lessOptimistic(rates.fpr[at], rates.tpr[at], p, optimism);
    return withinMargins(...less, o.fprPu[at], p.alpha);
  }

  /** Recovered rates without what the observed ones owe to the choice of the threshold. */
  function lessOptimistic(fpr, tpr, p, optimism) {
    if (optimism == null) return [fpr, tpr];
    const [seenTpr, seenFpr] = optimism;
    const tprLess = tpr - ((1 - p.alpha) * seenTpr - (1 - p.beta) * seenFpr) / p.delta;
    const fprLess = fpr - (p.beta * seenFpr - p.alpha * seenTpr) / p.delta;
    return [
      clip(fprLess, Math.min(fpr, 0), Math.max(fpr, 1)),
      clip(tprLess, Math.min(tpr, 0), Math.max(tpr, 1)),
    ];
  }

  /** Rates that a table of the unlabeled can have, given how many are flagged and positive. */
  function withinMargins(fpr, tpr, flagged, alpha) {
    const [ours, theirs] = [alpha * tpr, (1 - alpha) * fpr];
    const hair = (ours + theirs) * (1 + 1e-12);
    if (Math.min(fpr, tpr) < 0 || Math.max(fpr, tpr) > 1) return [fpr, tpr];
    if (flagged * ours > alpha * hair) return [(tpr * (flagged - alpha)) / (1 - alpha), tpr];
    if (flagged * theirs > (1 - alpha) * hair)
      return [fpr, (fpr * (flagged - (1 - alpha))) / alpha];
    return [fpr, tpr];
  }

  /** Expected numbers among the unlabeled: what precision says of those flagged, and the rest. */
  function confusionFromRoc([fpr, tpr], o, p, threshold, at) {
    const flagged = sum((i) => o.unlabeled[i], 0, at);
    const n = o.nUnlabeled;
    const share = flaggedShare(tpr, fpr, p.alpha);
    const precision = share > 0 ? (p.alpha * tpr) / share : 0;
    const least = Math.max(flagged - n * (1 - p.alpha), 0);
    const tp = clip(flagged * precision, least, Math.min(flagged, n * p.alpha));
    const fn = n * p.alpha - tp;
    return { threshold, tp, fp: flagged - tp, fn, tn: Math.max(n - flagged - fn, 0), flagged };
  }

  parts.metrics = Object.freeze({
    AREA_RULES,
    precisionOf,
    computeMetrics,
    ratesAt,
    confusionFromRoc,
  });
})();
