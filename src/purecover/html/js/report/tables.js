// Tables and sentences of a report, as what is set on the page has them.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { number, short } = parts.frame;
  const { $, all, payload } = parts.document;
  const { OWN, state, current, observed, values, whole, percent, cautious } = parts.state;
  const { report } = payload;

  // What stands in the file, to be shown again at the report's own values.
  const written = new Map();
  for (const node of all(
    "[data-column], [data-cell], [data-cut], [data-heading], #flagged, tr[data-metric=cost] th, tr[data-metric=roc_auc] th",
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
      if (metric === "roc_auc") {
        if (moved.proportions) put(title, "AUC");
        else restore(title);
      }
      for (const cell of cells) {
        const { column } = cell.dataset;
        const seen = (result ?? observed).observed[metric];
        // Metrics of probabilities are not computed here: what is seen stays, the rest does not apply.
        const computed = seen !== undefined;
        if (!changed || (column === "observed" && !computed)) restore(cell);
        else if (column === "observed") put(cell, number(seen), seen);
        else if (column === "recovered" && fits && computed)
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
    `At the threshold (score ≥ ${short(state.threshold)}) ${whole(c.flagged)} unlabeled are flagged: about ${whole(c.tp)} (${percent(c.tp / (c.flagged || 1))}) of them are positive, and about ${whole(c.fn)} positives are missed.`;

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

  // Without it the first touch of a slider would look like a fault.
  const jump =
    cautious === null
      ? ""
      : ` The report’s AUC, ${number(report.auc, 3)}, is cautious; the sliders take alpha and beta as they are set, which at the report’s own gives ${number(cautious, 3)}.`;

  /** The state in words. */
  function told() {
    const { moved } = current;
    if (!moved.any)
      return `These are the report’s own values. Move a slider to see what would follow.${jump}`;
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

  parts.tables = Object.freeze({ fillMetrics, fillConfusion, fillPanel });
})();
