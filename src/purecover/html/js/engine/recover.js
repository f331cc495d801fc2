/* The mathematics of purecover.recovery for the page: counts in, curves and metrics out.
 *
 * Every function of these scripts bears the name of its Python twin, follows the same steps in the
 * same order, and is compared with it by tests/test_html_engine.py. No DOM, nothing loaded: they
 * also run under node, this one last. Rates are Float64Arrays in order of decreasing threshold, after (0, 0).
 *
 *   purecover.recover(counts, settings)           curves, areas, metrics, confusion matrix
 *   purecover.auc(counts or auc_pu, alpha, beta)  the direct AUC alone, null where it is infeasible
 *   purecover.histogram(histogram, alpha, beta)   recovered components of the scores, per bin
 */
(() => {
  "use strict";

  const { arrays, observed, repairs, metrics: measures } = globalThis.purecoverParts;
  const { clip, total, position, trapezoid } = arrays;
  const { observe } = observed;
  const { KEEPS_THRESHOLDS, REPAIRS, aucFromPu, recoverRoc } = repairs;
  const { AREA_RULES, precisionOf, computeMetrics, ratesAt, confusionFromRoc } = measures;

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
    const point = ratesAt(rates, o, p, at, s.optimism);
    const shared = { flagged: o.fprPu, nUnlabeled: o.nUnlabeled };
    const metrics = computeMetrics(
      { ...shared, curve: roc, curvePr: rocPr, rates, point, auc, priorAtK: p.alpha },
      prior,
      s,
    );
    const observed = computeMetrics(
      {
        ...shared,
        curve: seen,
        curvePr: seen,
        rates: seen,
        point: [o.fprPu[at], o.tprPu[at]],
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
      confusion: confusionFromRoc(point, o, p, threshold, at),
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
