// The report page: sliders, and what follows from them. At the report's own alpha, beta, threshold
// and costs the page shows the figures that stand in the file; elsewhere those of recover.js.
(() => {
  "use strict";

  const charts = globalThis.purecoverCharts;
  const engine = globalThis.purecover;
  const { number, short } = charts;
  const $ = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const figure = (name) => document.querySelector(`figure[data-chart="${name}"]`);

  const payload = JSON.parse($("payload").textContent);
  const { counts, report, settings } = payload;
  const OWN = Object.freeze({
    alpha: settings.alpha,
    beta: settings.beta,
    threshold: settings.threshold ?? Infinity,
    cost_fn: settings.cost_fn,
    cost_fp: settings.cost_fp,
  });
  const state = { ...OWN };
  const whole = (value) => Math.round(value).toLocaleString("en-US");
  const percent = (value) => `${Number((100 * value).toPrecision(3))} %`;
  const values = ({ alpha, beta }) => `alpha ${short(alpha, 4)} and beta ${short(beta, 4)}`;

  // -- what follows from the state ----------------------------------------------------------------

  function view() {
    const moved = {
      proportions: state.alpha !== OWN.alpha || state.beta !== OWN.beta,
      threshold: state.threshold !== OWN.threshold,
      costs: state.cost_fn !== OWN.cost_fn || state.cost_fp !== OWN.cost_fp,
    };
    moved.any = moved.proportions || moved.threshold || moved.costs;
    const result =
      state.alpha < state.beta ? engine.recover(counts, { ...settings, ...state }) : null;
    // Alpha and beta of the report are the report's affair: its headline and checks speak of them.
    const fits = result !== null && (result.feasible || !moved.proportions);
    return { moved, result, fits, problem: problem(result) };
  }

  /** Why alpha and beta cannot be what they are set to; empty if they can. */
  function problem(result) {
    if (result === null) {
      return `Alpha must be below beta: with ${values(state)} the labeled examples would be no richer in positives than the unlabeled.`;
    }
    if (result.feasible) return "";
    const most = state.beta - Math.abs(2 * result.auc_pu - 1);
    const remedy =
      most >= 0
        ? `With this beta, alpha can be at most ${short(Math.floor(most * 1e4) / 1e4, 4)}.`
        : "No alpha fits with this beta.";
    return `These scores do not fit ${values(state)}: the AUC would be ${number(result.auc_direct, 3)}, outside [0, 1]. ${remedy}`;
  }

  // -- charts -------------------------------------------------------------------------------------

  let current = view();

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

  function rocSpec() {
    const result = current.result ?? observed;
    const { roc } = result;
    const auc = own(number(result.auc, 3), report.infeasible ? "infeasible" : number(report.auc, 3));
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
    const { alphas } = payload.sensitivity;
    // Up to where alpha fits, and a little on.
    const most = 1.08 * (state.beta - Math.abs(2 * report.auc_pu - 1));
    const first = alphas[0];
    const last = Math.min(Math.max(most, OWN.alpha, first + 0.1), alphas[alphas.length - 1]);
    const x = Array.from({ length: 201 }, (_, i) => first + ((last - first) * i) / 200);
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

  const observed = engine.recover(counts, { ...settings, alpha: 0, beta: 1 });
  const mounted = {};

  function mountAll() {
    for (const node of all(".scripted")) node.hidden = false;
    const add = (name, title, draw) => {
      if (figure(name)) mounted[name] = charts.mount(figure(name), title, draw);
    };
    add("roc", "the ROC curve", (width) => charts.curves(rocSpec(), width));
    add("pr", "the precision-recall curve", (width) => charts.curves(prSpec(), width));
    add("histogram", "the scores", (width) =>
      charts.outlines(histogramSpec(["labeled", "unlabeled"]), width),
    );
    add("components", "the recovered scores", (width) =>
      charts.outlines(histogramSpec(["positive", "negative"]), width),
    );
    mountEstimation(add);
    const { alphas, betas } = payload.sensitivity;
    add("heat", "the map of AUC", (width) => {
      const chart = charts.heat(
        {
          name: "auc",
          title: "AUC over alpha and beta",
          alphas,
          betas,
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
    add("profile", "AUC against alpha", (width) => charts.profile(profileSpec(), width));
  }

  function mountEstimation(add) {
    const { estimation, truth } = payload;
    if (!estimation) return;
    add("estimators", "the estimates of alpha and beta", (width) =>
      charts.dots(
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
      charts.profile(
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

  // -- tables and sentences -----------------------------------------------------------------------

  // What stands in the file, to be shown again at the report's own values.
  const written = new Map();
  for (const node of all(
    "[data-column], [data-cell], [data-cut], [data-heading], #flagged, tr[data-metric=cost] th",
  )) {
    written.set(node, node.textContent);
  }

  function put(node, text, value) {
    node.textContent = text;
    if (value === undefined) delete node.dataset.value;
    else node.dataset.value = String(value);
  }

  const restore = (node) => put(node, written.get(node));

  function fillMetrics() {
    const { moved, result, fits } = current;
    for (const row of all("tr[data-metric]")) {
      const { metric, kind } = row.dataset;
      const changed =
        moved.proportions ||
        (kind === "threshold" && moved.threshold) ||
        (metric === "cost" && moved.costs);
      const [title, ...cells] = row.children;
      if (metric === "cost") {
        if (moved.costs)
          put(title, `Cost (miss ${short(state.cost_fn)}, false alarm ${short(state.cost_fp)})`);
        else restore(title);
      }
      for (const cell of cells) {
        const { column } = cell.dataset;
        const seen = (result ?? observed).observed[metric];
        if (!changed) restore(cell);
        else if (column === "observed") put(cell, number(seen), seen);
        else if (column === "recovered" && fits)
          put(cell, number(result.metrics[metric]), result.metrics[metric]);
        // The truth does not depend on alpha and beta, but on the threshold and the costs.
        else if (column === "true" && !(kind === "threshold" && (moved.threshold || moved.costs)))
          restore(cell);
        else put(cell, "–");
      }
    }
    for (const heading of all('[data-heading="threshold"]')) {
      if (moved.threshold) put(heading, `At the threshold: score ≥ ${short(state.threshold)}`);
      else restore(heading);
    }
    const parts = [
      moved.proportions && values(OWN),
      moved.threshold && `threshold ${short(OWN.threshold, 4)}`,
      moved.costs && "its own costs",
    ];
    say(
      "stale",
      moved.any && payload.report.confidence_level !== null,
      `Intervals belong to the report’s own values (${parts.filter(Boolean).join(", ")}) and are left out where they do not apply.`,
    );
    say(
      "bandless",
      moved.proportions && (payload.roc_band || payload.pr_band),
      `The bands belong to the report’s own ${values(OWN)} and are left out.`,
    );
  }

  function say(id, holds, text) {
    $(id).hidden = !holds;
    $(id).textContent = holds ? text : "";
  }

  function fillConfusion() {
    const { moved, result, fits } = current;
    const own = !moved.proportions && !moved.threshold;
    const c = fits ? result.confusion : null;
    const numbers = c && {
      ...c,
      passed: c.fn + c.tn,
      positive: c.tp + c.fn,
      negative: c.fp + c.tn,
      all: c.tp + c.fp + c.fn + c.tn,
    };
    for (const cell of all("[data-cell]")) {
      if (own) restore(cell);
      else if (numbers) put(cell, whole(numbers[cell.dataset.cell]), numbers[cell.dataset.cell]);
      else put(cell, "–");
    }
    for (const heading of all("[data-cut]")) {
      if (own) restore(heading);
      else put(heading, `Score ${heading.dataset.cut} ${short(state.threshold)}`);
    }
    if (own) restore($("flagged"));
    else put($("flagged"), numbers ? sentence(numbers) : current.problem);
  }

  const sentence = (c) =>
    `Of the ${whole(c.flagged)} unlabeled at or above the threshold, about ${whole(c.tp)} are positive; of those below, about ${whole(c.fn)}.`;

  function fillPanel() {
    const { moved, result, fits } = current;
    for (const tile of all("[data-tile]")) {
      const name = tile.dataset.tile;
      const changed =
        moved.proportions || (moved.threshold && (name === "precision" || name === "recall"));
      const value = (changed ? result?.metrics[name] : report.metrics[name]) ?? null;
      const shown = fits && !(name === "roc_auc" && !changed && report.infeasible);
      put(tile, shown ? number(value, 3) : "–", shown ? value : undefined);
    }
    $("panel").classList.toggle("problem", current.problem !== "");
    $("state").textContent = current.problem || told();
    $("back").disabled = !moved.any;
  }

  /** The state in words. */
  function told() {
    const { moved } = current;
    if (!moved.any)
      return `These are the report’s own values. Move a slider to see what would follow.`;
    const { auc, metrics } = current.result;
    const from = moved.proportions
      ? `If ${percent(state.alpha)} of the unlabeled${state.beta === 1 ? "" : ` and ${percent(state.beta)} of the labeled`} are positive, the AUC is ${number(auc, 3)} and AUC-PR ${number(metrics.auc_pr, 3)}. `
      : "";
    return (
      from +
      (moved.proportions || moved.threshold
        ? sentence(current.result.confusion)
        : "The costs are not the report’s.")
    );
  }

  // -- controls -----------------------------------------------------------------------------------

  const round = (value) => Math.round(value * 1000) / 1000;
  const MAX_COST = 1e12; // figures of more digits would not fit into their cells
  const { thresholds } = counts;
  // Sliders run from low to high scores; the counts from high to low.
  const last = thresholds.length - 1;

  function nearest(value) {
    // Far below all of them every distance is rounded to the same number.
    let best = value <= thresholds[last] ? last : 0;
    for (let i = 1; i <= last; i++)
      if (Math.abs(thresholds[i] - value) < Math.abs(thresholds[best] - value)) best = i;
    return thresholds[best];
  }

  function showControls(except) {
    for (const name of ["alpha", "beta"]) {
      $(name).value = state[name];
      $(name).setAttribute("aria-valuetext", percent(state[name]));
      if (except !== $(`${name}-number`)) $(`${name}-number`).value = short(state[name], 4);
    }
    $("threshold").value = last - thresholds.indexOf(nearest(state.threshold));
    const flagged = (current.result ?? observed).confusion.flagged;
    $("threshold").setAttribute(
      "aria-valuetext",
      `score at or above ${short(state.threshold, 4)}, ${whole(flagged)} flagged`,
    );
    if (except !== $("threshold-number")) $("threshold-number").value = short(state.threshold);
    for (const [id, name] of [
      ["cost-fn", "cost_fn"],
      ["cost-fp", "cost_fp"],
    ]) {
      if ($(id) && except !== $(id)) $(id).value = short(state[name]);
    }
  }

  let waiting = false;
  let speaking = 0;

  function set(changes, source) {
    Object.assign(state, changes);
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const before = current;
      current = view();
      fillMetrics();
      fillConfusion();
      fillPanel();
      showControls(source);
      redraw(before);
      clearTimeout(speaking);
      speaking = setTimeout(() => {
        $("live").textContent = $("state").textContent;
      }, 600);
      document.documentElement.dataset.settled = String(
        Number(document.documentElement.dataset.settled ?? 0) + 1,
      );
    });
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

  function wire() {
    const ranges = { alpha: [0, 0.999], beta: [0.001, 1] };
    for (const [name, [min, max]] of Object.entries(ranges)) {
      Object.assign($(name), { min, max, step: 0.001 });
      Object.assign($(`${name}-number`), { min, max });
      $(name).addEventListener("input", () => set({ [name]: Number($(name).value) }));
      typed(`${name}-number`, (value) => set({ [name]: value }, $(`${name}-number`)), min, max);
    }
    Object.assign($("threshold"), { min: 0, max: last, step: 1 });
    $("threshold").addEventListener("input", () =>
      set({ threshold: thresholds[last - Number($("threshold").value)] }),
    );
    typed(
      "threshold-number",
      (value) => set({ threshold: nearest(value) }, $("threshold-number")),
      -Infinity,
      Infinity,
    );
    for (const [id, name] of [
      ["cost-fn", "cost_fn"],
      ["cost-fp", "cost_fp"],
    ]) {
      if ($(id)) typed(id, (value) => set({ [name]: value }, $(id)), 0, MAX_COST);
    }
    $("back").addEventListener("click", () => {
      set(OWN);
      $("alpha").focus();
    });
    $("panel").addEventListener("submit", (event) => event.preventDefault());
    for (const costs of all(".costs")) costs.hidden = false;
    $("panel").hidden = false;
  }

  /** A field takes effect as soon as it holds a number in its range, and is tidied when it is left. */
  function typed(id, use, min, max) {
    const input = $(id);
    input.addEventListener("input", () => {
      const value = input.valueAsNumber;
      const good = Number.isFinite(value) && value >= min && value <= max;
      input.setAttribute("aria-invalid", String(!good));
      if (good) use(value);
    });
    input.addEventListener("change", () => {
      input.removeAttribute("aria-invalid");
      showControls();
    });
  }

  function wireTheme() {
    const root = document.documentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
    const show = () => $("theme").setAttribute("aria-pressed", String(isDark()));
    $("theme").addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      show();
    });
    dark.addEventListener("change", show);
    $("theme").hidden = false;
    show();
  }

  /** What can be scrolled can be reached with the keyboard. */
  function wireScrolling() {
    const look = (entries) => {
      for (const { target } of entries) {
        const over =
          target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
        if (over) target.tabIndex = 0;
        else target.removeAttribute("tabindex");
      }
    };
    const watch = new ResizeObserver(look);
    for (const node of all(".scroll, .words, h1")) watch.observe(node);
  }

  wireTheme();
  wireScrolling();
  wire();
  fillPanel();
  showControls();
  mountAll();
  document.documentElement.dataset.settled = "0";
})();
