// What the curves and bars of a report show, as what is set on the page has it.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const engine = globalThis.purecover;
  const { number, short } = parts.frame;
  const { payload } = parts.document;
  const { OWN, state, current, observed, percent, hidden } = parts.state;
  const { counts, report, sensitivity, truth } = payload;

  const REMARK = "Alpha and beta do not fit the scores: nothing to recover";
  const LEAST = 0.5; // rows: below it a bar on a logarithmic axis is empty

  function bandOf(band) {
    if (!band || current.moved.proportions) return null;
    return { ...band, label: `${percent(band.confidence_level)} band, ${band.kind}` };
  }

  function point(x, y) {
    const defined = current.fits && Number.isFinite(x ?? NaN) && Number.isFinite(y ?? NaN);
    return defined ? { x, y, label: `threshold ${short(state.threshold, 4)}` } : null;
  }

  /** Observed, recovered and true curve with their areas, named by `word`. */
  function curvesSpec({ word, metric, areas, base, seen, found, known, ...spec }) {
    const written = (kind) =>
      kind === "recovered" && hidden(metric) ? "–" : number(areas[kind], 3);
    const area = written("recovered");
    const curve = (kind, of, more) => ({
      kind,
      label: `${kind === "recovered" ? "corrected" : kind} (${word} ${written(kind)})`,
      ...of,
      ...more,
    });
    const { roc } = current.result ?? observed;
    const curves = [curve("observed", seen, { thresholds: roc.thresholds_raw })];
    if (base && (current.fits || spec.title === "ROC curve")) curves.unshift(base);
    if (current.fits) curves.push(curve("recovered", found));
    if (truth) curves.push(curve("true", known));
    return {
      ...spec,
      curves,
      description:
        `${spec.description} The area under the observed curve is ${number(areas.observed, 3)}` +
        (current.fits ? `, under the corrected one ${area}.` : "; there is no corrected one."),
      remark: current.fits ? "" : REMARK,
    };
  }

  function rocSpec() {
    const { roc, metrics } = current.result ?? observed;
    return curvesSpec({
      title: "ROC curve",
      word: "AUC",
      metric: "roc_auc",
      x: "False-positive rate",
      y: "True-positive rate",
      description: "True-positive rate against false-positive rate.",
      areas: { observed: report.auc_pu, recovered: metrics.roc_auc, true: truth?.auc ?? null },
      base: { kind: "chance", label: "chance", x: [0, 1], y: [0, 1] },
      seen: { x: roc.fpr_pu, y: roc.tpr_pu },
      found: { x: roc.fpr, y: roc.tpr, thresholds: roc.thresholds },
      known: truth && { x: truth.roc.fpr, y: truth.roc.tpr },
      band: bandOf(payload.roc_band),
      point: point(metrics.fpr, metrics.recall),
    });
  }

  function prSpec() {
    const { pr, prior, metrics } = current.result ?? observed;
    // Where the report's own values are shown, so is its own area, from all scores.
    const own = current.moved.proportions ? null : report.metrics.auc_pr;
    return curvesSpec({
      title: "Precision-recall curve",
      word: "area",
      metric: "auc_pr",
      x: "Recall",
      y: "Precision",
      description: `Precision against recall, for a population with a share of ${short(prior, 3)} positives.`,
      areas: {
        observed: pr.auc_pr_pu,
        recovered: own ?? pr.auc_pr,
        true: truth?.metrics.auc_pr ?? null,
      },
      base: {
        kind: "chance",
        label: `chance (prior ${short(prior, 3)})`,
        x: [0, 1],
        y: [prior, prior],
      },
      seen: { x: pr.recall_pu, y: pr.precision_pu },
      found: { x: pr.recall, y: pr.precision, thresholds: pr.thresholds },
      known: truth && { x: truth.pr.recall, y: truth.pr.precision },
      band: bandOf(payload.pr_band),
      point: point(metrics.recall, metrics.precision),
    });
  }

  /** Rows in each bin of scores, and how many of the unlabeled ones are positive. */
  function histogramSpec() {
    const usable = current.fits ? state : OWN;
    const shares = engine.histogram(payload.histogram, usable.alpha, usable.beta);
    const series = (kind, label, all) => ({ kind, label, rows: shares[kind].map((v) => v * all) });
    const found = series("positive", "positives among them", usable.alpha * counts.n_unlabeled);
    return {
      title: "Scores",
      description:
        "Rows in each bin of scores: labeled, unlabeled, and the positives among the unlabeled, as alpha and beta have it.",
      edges: shares.edges,
      threshold: state.threshold,
      least: sensitivity.rare ? LEAST : 0,
      remark: "",
      series: [
        series("labeled", "labeled", counts.n_labeled),
        series("unlabeled", "unlabeled", counts.n_unlabeled),
        ...(current.fits ? [found] : []),
      ],
    };
  }

  parts.specs = Object.freeze({ rocSpec, prSpec, histogramSpec });
})();
