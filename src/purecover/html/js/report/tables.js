// Figures, tables and sentences of a report, as what is set on the page has them.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { number, short } = parts.frame;
  const { $, all, payload } = parts.document;
  const { OWN, state, current, observed, values, whole, percent, aucAt, halfAt, hidden } = parts.state;

  // What stands in the file, to be shown again at the report's own values.
  const written = new Map();
  for (const node of all(
    "[data-big], [data-column], [data-cell], [data-cut], [data-heading], #flagged, #origin, tr[data-metric=cost] th",
  )) {
    written.set(node, node.textContent);
  }

  function put(node, text, value) {
    node.textContent = text;
    if (value === undefined) delete node.dataset.value;
    else node.dataset.value = String(value);
  }

  const restore = (node) => put(node, written.get(node));
  const renew = (node, changed, text) => (changed ? put(node, text) : restore(node));

  const changes = (metric, kind) =>
    current.moved.proportions ||
    (kind === "threshold" && current.moved.threshold) ||
    (metric === "cost" && current.moved.costs);

  /** Both ends of the interval of the AUC if alpha and beta are what they are set to. */
  function aucEnds() {
    const [auc, half] = [aucAt(state.alpha), halfAt(state.alpha)];
    if (auc === null || half === null) return "–";
    return `${number(Math.max(auc - half, 0), 3)} to ${number(Math.min(auc + half, 1), 3)}`;
  }

  function fillCell(cell, metric, kind, digits) {
    const { moved, result, fits } = current;
    const { column } = cell.dataset;
    const seen = (result ?? observed).observed[metric];
    // Metrics of probabilities are not computed here: what is seen stays, the rest does not apply.
    const computed = seen !== undefined;
    if (!changes(metric, kind) || (column === "observed" && !computed)) restore(cell);
    else if (column === "observed") put(cell, number(seen, digits), seen);
    else if (column === "recovered" && fits && computed && !hidden(metric))
      put(cell, number(result.metrics[metric], digits), result.metrics[metric]);
    // The truth does not depend on alpha and beta, but on the threshold and the costs.
    else if (column === "true" && !(kind === "threshold" && (moved.threshold || moved.costs)))
      restore(cell);
    else if (column === "interval" && metric === "roc_auc" && fits) put(cell, aucEnds());
    else put(cell, "–");
  }

  function fillMetrics() {
    const { moved } = current;
    for (const row of all("tr[data-metric]")) {
      const { metric, kind } = row.dataset;
      const digits = Number(row.closest("table").dataset.digits);
      const [title, ...cells] = row.children;
      const costs = `miss ${short(state.cost_fn)}, false alarm ${short(state.cost_fp)}`;
      if (metric === "cost") renew(title, moved.costs, `Cost (${costs})`);
      for (const cell of cells) fillCell(cell, metric, kind, digits);
    }
    for (const node of all('[data-heading="threshold"]'))
      renew(node, moved.threshold, `At the threshold: score ≥ ${short(state.threshold)}`);
    $("bandless").hidden = !(moved.proportions && (payload.roc_band || payload.pr_band));
    $("bandless").textContent = `The bands belong to the report’s own ${values(OWN)} and are left out.`;
  }

  /** The one figure at the top, and what it assumes. */
  function fillHead() {
    const { moved, fits, result, problem } = current;
    const [lead, interval, seen] = all("[data-big]");
    const name = lead.dataset.big;
    const changed = changes(name, name === "roc_auc" ? "ranking" : "threshold");
    const value = result?.metrics[name] ?? null;
    const shown = fits && !hidden(name);
    if (changed) put(lead, shown ? number(value, 3) : "–", shown ? value : undefined);
    else restore(lead);
    const known = name === "roc_auc" && fits && halfAt(state.alpha) !== null;
    renew(interval, changed, known ? `${aucEnds()} (at this alpha) · ` : "");
    const plain = number((result ?? observed).observed[name], 3);
    renew(seen, changed && name !== "roc_auc", `observed ${plain}`);
    renew($("origin"), state.alpha !== OWN.alpha, "set on this page");
    $("state").hidden = !moved.any && !problem;
    $("state").classList.toggle("problem", problem !== "");
    $("back").hidden = !moved.any;
    const own = [
      moved.proportions && values(OWN),
      moved.threshold && `threshold ${short(OWN.threshold, 4)}`,
      moved.costs && "its own costs",
    ].filter(Boolean);
    const from = `The report has ${own.join(", ")}; its intervals are left out where they do not apply.`;
    $("state").firstElementChild.textContent = problem || (moved.any ? from : "");
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
      const value = (numbers ?? {})[cell.dataset.cell];
      if (own) restore(cell);
      else if (value !== undefined && !hidden(cell.dataset.cell)) put(cell, whole(value), value);
      else put(cell, "–");
    }
    for (const heading of all("[data-cut]"))
      renew(heading, !own, `Score ${heading.dataset.cut} ${short(state.threshold)}`);
    renew($("flagged"), !own, numbers ? sentence(numbers) : current.problem);
  }

  function sentence(c) {
    const about = (name, more = "") => `about ${whole(c[name])}${more}`;
    const share = ` (${percent(c.tp / (c.flagged || 1))})`;
    const found = hidden("tp") ? "an unknown number" : about("tp", share);
    const missed = hidden("fn") ? "an unknown number of" : about("fn");
    return `At the threshold (score ≥ ${short(state.threshold)}) ${whole(c.flagged)} unlabeled are flagged: ${found} of them are positive, and ${missed} positives are missed.`;
  }

  /** What is set, in words for those who hear the page. */
  function told() {
    const { result, fits, problem } = current;
    if (!fits) return problem;
    return `Alpha ${percent(state.alpha)}: AUC ${number(result.metrics.roc_auc, 3)}. ${sentence(result.confusion)}`;
  }

  parts.tables = Object.freeze({ fillMetrics, fillConfusion, fillHead, told });
})();
