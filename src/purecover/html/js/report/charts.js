// The charts of a report in their places, and which of them are drawn anew.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const engine = globalThis.purecover;
  const { plots } = parts;
  const { heat } = parts.maps;
  const { mount } = parts.figures;
  const { all, figure, payload } = parts.document;
  const { rocSpec, prSpec, histogramSpec } = parts.specs;
  const { alphaPlot } = parts.alpha;
  const { state } = parts.state;

  const mounted = {};

  /** Draw all charts; `set` takes alpha and beta where one drags or clicks. */
  function mountAll(set) {
    for (const node of all(".scripted")) node.hidden = false;
    const add = (name, title, draw) => (mounted[name] = mount(figure(name), title, draw));
    add("alpha", "AUC against alpha", (width) => alphaPlot(width, set));
    add("roc", "the ROC curve", (width) => plots.curves(rocSpec(), width));
    add("pr", "the precision-recall curve", (width) => plots.curves(prSpec(), width));
    add("histogram", "the scores", (width) => plots.outlines(histogramSpec(), width));
    const { alphas, betas } = payload.sensitivity;
    const spec = {
      title: "AUC over alpha and beta",
      alphas,
      betas,
      description:
        "The corrected AUC for each pair of alpha and beta; pairs that do not fit the scores are gray, and a point marks the pair in use.",
      value: (alpha, beta) => engine.auc(payload.report.auc_pu, alpha, beta),
    };
    add("heat", "the map of AUC", (width) => heat(spec, width, state, set));
  }

  let drawn = { ...state };
  function redraw() {
    const turned = drawn.alpha !== state.alpha || drawn.beta !== state.beta;
    if (turned || drawn.threshold !== state.threshold) {
      for (const name of ["roc", "pr", "histogram"]) mounted[name].refresh();
    }
    if (drawn.beta !== state.beta) mounted.alpha.refresh();
    if (turned) {
      mounted.alpha.shown?.move();
      mounted.heat.shown?.move();
    }
    drawn = { ...state };
  }

  parts.charts = Object.freeze({ mountAll, redraw });
})();
