// The charts of a report in their figures, and which of them are drawn anew.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const engine = globalThis.purecover;
  const { plots } = parts;
  const { heat } = parts.maps;
  const { mount } = parts.figures;
  const { number, short } = parts.frame;
  const { all, figure, payload } = parts.document;
  const { rocSpec, prSpec, histogramSpec, profileSpec } = parts.specs;
  const { state } = parts.state;
  const { report } = payload;
  const round = (value) => Number(value.toPrecision(3));

  const mounted = {};

  /** Draw all charts; `set` takes alpha and beta where one clicks into the map. */
  function mountAll(set) {
    for (const node of all(".scripted")) node.hidden = false;
    const add = (name, title, draw) => {
      if (figure(name)) mounted[name] = mount(figure(name), title, draw);
    };
    add("roc", "the ROC curve", (width) => plots.curves(rocSpec(), width));
    add("pr", "the precision-recall curve", (width) => plots.curves(prSpec(), width));
    add("histogram", "the scores", (width) =>
      plots.outlines(histogramSpec(["labeled", "unlabeled"]), width),
    );
    add("components", "the recovered scores", (width) =>
      plots.outlines(histogramSpec(["positive", "negative"]), width),
    );
    mountEstimation(add);
    const { alphas, betas } = payload.sensitivity;
    add("heat", "the map of AUC", (width) => {
      const chart = heat(
        {
          name: "auc",
          title: "AUC over alpha and beta",
          alphas,
          betas,
          logarithmic: payload.sensitivity.logarithmic,
          description: `The recovered AUC for each pair of alpha and beta; pairs that do not fit the scores are gray, and a point marks the pair in use.`,
          value: (alpha, beta) => engine.auc(report.auc_pu, alpha, beta),
        },
        width,
      );
      chart.move(state.alpha, state.beta);
      chart.svg.addEventListener("click", (event) => {
        const found = chart.at(event);
        if (found) set({ alpha: round(found[0]), beta: round(found[1]) });
      });
      return chart;
    });
    add("profile", "AUC against alpha", (width) => plots.profile(profileSpec(), width));
  }

  function mountEstimation(add) {
    const { estimation, truth } = payload;
    if (!estimation) return;
    add("estimators", "the estimates of alpha and beta", (width) =>
      plots.dots(
        {
          title: "Estimates of alpha and beta",
          description: estimation.rows
            .map((row) => `${row.name}: alpha ${number(row.alpha, 3)}, beta ${number(row.beta, 3)}`)
            .join("; "),
          rows: estimation.rows,
          truth: truth ? [truth.alpha, truth.beta] : null,
        },
        width,
      ),
    );
    if (!estimation.curve) return;
    const { alpha, value, chosen, share } = estimation.curve;
    add("alphamax", "the AlphaMax curve", (width) =>
      plots.profile(
        {
          title: "AlphaMax curve",
          x: `Assumed ${share}`,
          y: "Log-likelihood",
          description: `The log-likelihood against the assumed share of positives; it bends at ${number(chosen, 3)}.`,
          line: { x: alpha, y: value, label: "log-likelihood" },
          band: null,
          chosen,
          chosenLabel: `elbow at ${short(chosen, 3)}`,
        },
        width,
      ),
    );
  }

  let drawn = { ...state };
  function redraw() {
    const turned = drawn.alpha !== state.alpha || drawn.beta !== state.beta;
    if (turned || drawn.threshold !== state.threshold) {
      for (const name of ["roc", "pr", "histogram", "components"]) mounted[name].refresh();
    }
    if (turned) {
      mounted.heat.shown?.move(state.alpha, state.beta);
      mounted.profile.refresh();
    }
    drawn = { ...state };
  }

  parts.charts = Object.freeze({ mountAll, redraw });
})();
