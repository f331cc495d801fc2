// What the charts of a report show, as what is set on the page has it.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const engine = globalThis.purecover;
  const { number, short } = parts.frame;
  const { payload } = parts.document;
  const { OWN, state, current, observed, cautious } = parts.state;
  const { report } = payload;

  const REMARK = "Alpha and beta do not fit the scores: nothing to recover";
  const observedOnly = (list) =>
    current.fits
      ? list
      : list.filter(
          ({ kind, label }) => kind !== "recovered" && !label.startsWith("chance (prior"),
        );
  const bandOf = (band) =>
    band && !current.moved.proportions
      ? {
          ...band,
          label: `${Number((100 * band.confidence_level).toPrecision(6))} % band, ${band.kind}`,
        }
      : null;
  // Where the report's own values are shown, so are its own areas, from all scores.
  const own = (value, mine) => (current.moved.proportions ? value : mine);

  const written = number(report.auc, 3);
  const ownAuc =
    cautious === null ? written : `${number(cautious, 3)}; cautious AUC ${written}`;

  function rocSpec() {
    const result = current.result ?? observed;
    const { roc } = result;
    const auc = own(
      number(result.auc, 3),
      report.infeasible ? "infeasible" : ownAuc,
    );
    const { fpr, recall } = result.metrics;
    const list = [
      { kind: "chance", label: "chance", x: [0, 1], y: [0, 1] },
      {
        kind: "observed",
        label: `observed (AUC ${number(report.auc_pu, 3)})`,
        x: roc.fpr_pu,
        y: roc.tpr_pu,
        thresholds: roc.thresholds_raw,
      },
      {
        kind: "recovered",
        label: `recovered (AUC ${auc})`,
        x: roc.fpr,
        y: roc.tpr,
        thresholds: roc.thresholds,
      },
    ];
    const { truth } = payload;
    if (truth)
      list.push({
        kind: "true",
        label: `true (AUC ${number(truth.auc, 3)})`,
        x: truth.roc.fpr,
        y: truth.roc.tpr,
      });
    return {
      title: "ROC curve",
      x: "False-positive rate",
      y: "True-positive rate",
      description:
        `True-positive rate against false-positive rate. The observed curve has an AUC of ${number(report.auc_pu, 3)}` +
        (current.fits ? `, the recovered one ${auc}.` : "; there is no recovered one."),
      curves: observedOnly(list),
      band: bandOf(payload.roc_band),
      point: point(fpr, recall),
      remark: current.fits ? "" : REMARK,
    };
  }

  function prSpec() {
    const result = current.result ?? observed;
    const { pr } = result;
    const area = own(pr.auc_pr, report.metrics.auc_pr ?? pr.auc_pr);
    const list = [
      {
        kind: "chance",
        label: `chance (prior ${short(result.prior, 3)})`,
        x: [0, 1],
        y: [result.prior, result.prior],
      },
      {
        kind: "observed",
        label: `observed (area ${number(pr.auc_pr_pu, 3)})`,
        x: pr.recall_pu,
        y: pr.precision_pu,
        thresholds: result.roc.thresholds_raw,
      },
      {
        kind: "recovered",
        label: `recovered (area ${number(area, 3)})`,
        x: pr.recall,
        y: pr.precision,
        thresholds: pr.thresholds,
      },
    ];
    const { truth } = payload;
    if (truth)
      list.push({
        kind: "true",
        label: `true (area ${number(truth.metrics.auc_pr ?? null, 3)})`,
        x: truth.pr.recall,
        y: truth.pr.precision,
      });
    return {
      title: "Precision-recall curve",
      x: "Recall",
      y: "Precision",
      description:
        `Precision against recall, for a population with a share of ${short(result.prior, 3)} positives. ` +
        `The area under the observed curve is ${number(pr.auc_pr_pu, 3)}` +
        (current.fits
          ? `, under the recovered one ${number(area, 3)}.`
          : "; there is no recovered one."),
      curves: observedOnly(list),
      band: bandOf(payload.pr_band),
      point: point(result.metrics.recall, result.metrics.precision),
      remark: current.fits ? "" : REMARK,
    };
  }

  function point(x, y) {
    const defined = current.fits && Number.isFinite(x ?? NaN) && Number.isFinite(y ?? NaN);
    return defined ? { x, y, label: `threshold ${short(state.threshold, 4)}` } : null;
  }

  function histogramSpec(kinds) {
    const usable = current.fits ? state : OWN;
    const shares = engine.histogram(payload.histogram, usable.alpha, usable.beta);
    const recovered = kinds[0] === "positive";
    const kept = recovered && !current.fits ? [] : kinds;
    return {
      title: recovered
        ? "Recovered scores of positives and negatives"
        : "Scores of labeled and unlabeled",
      description: recovered
        ? "Densities of the scores of the positives and of the negatives, as alpha and beta split the labeled and the unlabeled; cut at zero."
        : "Densities of the scores of the labeled and of the unlabeled examples.",
      edges: shares.edges,
      threshold: state.threshold,
      remark: recovered && !current.fits ? REMARK : "",
      series: kept.map((kind) => ({
        kind,
        label: recovered ? `${kind}s, recovered` : kind,
        shares: shares[kind],
      })),
    };
  }

  /** The AUC against alpha, at the beta that is set. */
  function profileSpec() {
    const { alphas, logarithmic } = payload.sensitivity;
    // Up to where alpha fits, and a little on.
    const most = 1.08 * (state.beta - Math.abs(2 * report.auc_pu - 1));
    const first = alphas[0];
    const last = Math.min(Math.max(most, OWN.alpha, first + 0.1), alphas[alphas.length - 1]);
    const x = Array.from({ length: 201 }, (_, i) =>
      logarithmic ? first * (last / first) ** (i / 200) : first + ((last - first) * i) / 200,
    );
    const y = x.map((alpha) => engine.auc(report.auc_pu, alpha, state.beta));
    const se = payload.auc_pu_se;
    const level = report.confidence_level;
    let band = null;
    if (se !== null && level !== null && level !== undefined) {
      const half = x.map((alpha) => (normalQuantile((1 + level) / 2) * se) / (state.beta - alpha));
      band = {
        x,
        label: `${Number((100 * level).toPrecision(6))} % interval at this alpha`,
        low: y.map((value, i) => (value === null ? null : Math.max(value - half[i], 0))),
        high: y.map((value, i) => (value === null ? null : Math.min(value + half[i], 1))),
      };
    }
    return {
      title: "AUC against alpha",
      x: "Alpha",
      y: "Recovered AUC",
      description: `The recovered AUC grows with alpha, from ${number(y[0], 3)} at alpha ${short(first, 3)}; beta is ${short(state.beta, 4)}.`,
      line: { x, y, label: `beta ${short(state.beta, 4)}` },
      band,
      xDomain: [first, last],
      logarithmic,
      yDomain: report.auc_pu < 0.5 ? [0, 1] : [0.5, 1],
      chosen: state.alpha >= first && state.alpha <= last ? state.alpha : null,
      chosenLabel: `alpha ${short(state.alpha, 4)}`,
    };
  }

  /** Where the normal distribution has the share p below it, by halving. */
  function normalQuantile(p) {
    // Abramowitz and Stegun 26.2.17, good to 7.5e-8.
    const below = (x) => {
      const t = 1 / (1 + 0.2316419 * x);
      const series =
        t *
        (0.31938153 +
          t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
      return 1 - (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) * series;
    };
    let [low, high] = [0, 10];
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (below(middle) < p) low = middle;
      else high = middle;
    }
    return low;
  }

  parts.specs = Object.freeze({ rocSpec, prSpec, histogramSpec, profileSpec });
})();
