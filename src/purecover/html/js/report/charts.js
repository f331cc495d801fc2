// The charts of a report: what they show at the place that is set, and which are drawn anew.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { plots } = parts;
  const { number, short } = parts.frame;
  const { all, figure, payload } = parts.document;
  const { OWN, state, grid, alpha, threshold, moved, metric, contradiction, dashed, percent } =
    parts.state;
  const { report, truth, histogram } = payload;
  const CONTRADICTED = "Alpha contradicts the scores: nothing to recover";
  const LEAST = 0.5; // rows: below it a bar on a logarithmic axis is empty

  /** Observed, recovered and true curve; `base` is that of chance. */
  function curvesSpec(name, { title, x, y, word, area, said, base, seen }) {
    const { observed, true: known, band } = payload[name];
    const fits = contradiction() === "";
    const areas = {
      observed: number(seen, 3),
      recovered: dashed(area) ? "–" : number(metric(area), 3),
      true: truth && number(truth.metrics[area], 3),
    };
    const labeled = (kind, points) => ({
      kind,
      label: `${kind === "recovered" ? "corrected" : kind} (${word} ${areas[kind]})`,
      ...points,
    });
    const curves = [base, labeled("observed", observed)];
    if (fits) {
      const size = grid[name].x.length / grid.alphas.length;
      const own = (column) => column.slice(size * state.alpha, size * (state.alpha + 1));
      const points = { x: own(grid[name].x), y: own(grid[name].y), thresholds: grid.scores };
      curves.push(labeled("recovered", points));
    }
    if (known) curves.push(labeled("true", known));
    const under = fits ? `, under the corrected one ${areas.recovered}` : "";
    return {
      title,
      x,
      y,
      description: `${said} The area under the observed curve is ${areas.observed}${under}.`,
      curves,
      band: moved("alpha") || !band
        ? null
        : { ...band, label: `${percent(band.confidence_level)} band, ${band.kind}` },
      point: fits ? point(name) : null,
      remark: fits ? "" : CONTRADICTED,
    };
  }

  /** The threshold on a curve. */
  function point(name) {
    const [x, y] = (name === "roc" ? ["fpr", "recall"] : ["recall", "precision"]).map(metric);
    return { x, y, label: `threshold ${short(threshold(), 4)}` };
  }

  const rocSpec = () =>
    curvesSpec("roc", {
      title: "ROC curve",
      x: "False-positive rate",
      y: "True-positive rate",
      word: "AUC",
      area: "roc_auc",
      said: "True-positive rate against false-positive rate.",
      base: { kind: "chance", label: "chance", x: [0, 1], y: [0, 1] },
      seen: report.auc_pu,
    });

  function prSpec() {
    const prior = grid.priors[state.alpha];
    const share = short(prior, 3);
    return curvesSpec("pr", {
      title: "Precision-recall curve",
      x: "Recall",
      y: "Precision",
      word: "area",
      area: "auc_pr",
      said: `Precision against recall, for a population with a share of ${share} positives.`,
      base: { kind: "chance", label: `chance (prior ${share})`, x: [0, 1], y: [prior, prior] },
      seen: report.auc_pr_pu,
    });
  }

  /** Rows in each bin of scores, and how many of the unlabeled ones are positive. */
  function histogramSpec() {
    const size = histogram.edges.length - 1;
    const positive = histogram.positive.slice(size * state.alpha, size * (state.alpha + 1));
    return {
      title: "Scores",
      description:
        "Rows in each bin of scores: labeled, unlabeled, and the positives among the unlabeled, as alpha has it.",
      edges: histogram.edges,
      threshold: threshold(),
      least: histogram.logarithmic ? LEAST : 0,
      series: [
        { kind: "labeled", label: "labeled", rows: histogram.labeled },
        { kind: "unlabeled", label: "unlabeled", rows: histogram.unlabeled },
        { kind: "positive", label: "positives among them", rows: positive },
      ],
    };
  }

  const place = () => ({ alpha: alpha(), beta: report.beta });
  const mounted = {};

  /** Draw all charts; `set` takes the alpha that one drags. */
  function mountAll(set) {
    for (const node of all(".scripted")) node.hidden = false;
    const add = (name, title, draw) =>
      (mounted[name] = parts.figures.mount(figure(name), title, draw));
    add("alpha", "AUC against alpha", (width) => parts.alpha.alphaPlot(width, set));
    add("roc", "the ROC curve", (width) => plots.curves(rocSpec(), width));
    add("pr", "the precision-recall curve", (width) => plots.curves(prSpec(), width));
    add("histogram", "the scores", (width) => plots.outlines(histogramSpec(), width));
    add("heat", "the map of AUC", (width) => parts.maps.heat(payload.map, width, place()));
  }

  /** Draw anew what depends on alpha; a threshold only moves points. */
  let drawn = OWN.alpha;
  function redraw() {
    const turned = drawn !== state.alpha;
    drawn = state.alpha;
    for (const name of ["roc", "pr"])
      if (turned) mounted[name].refresh();
      else mounted[name].shown?.move(point(name));
    if (turned) mounted.histogram.refresh();
    else mounted.histogram.shown?.move(threshold());
    if (turned) mounted.alpha.shown?.move();
    if (turned) mounted.heat.shown?.move(place());
  }

  parts.charts = Object.freeze({ mountAll, redraw });
})();
