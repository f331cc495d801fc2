// Figures, tables and sentences of a report, at the place that is set.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { number, short } = parts.frame;
  const { $, all, payload } = parts.document;
  const { OWN, state, grid, thresholds, alpha, threshold, moved, metric, numbers } = parts.state;
  const { contradiction, dashed, whole, percent } = parts.state;

  // What stands in the file, to be shown again at the report's own place.
  const written = new Map();
  for (const node of all(
    "[data-big], [data-column], [data-cell], [data-cut], [data-heading], #flagged, #origin",
  )) {
    written.set(node, node.textContent);
  }

  function put(node, text, value) {
    if (node.textContent !== text) node.textContent = text;
    if (value === undefined) delete node.dataset.value;
    else node.dataset.value = String(value);
  }

  const restore = (node) => put(node, written.get(node));
  const renew = (node, changed, text, value) =>
    changed ? put(node, text, value) : restore(node);

  /** A metric or number with its digits, or the dash in its place. */
  const putValue = (node, name, value, digits) =>
    dashed(name) ? put(node, "–") : put(node, number(value, digits), value);

  const changes = (kind) => moved("alpha") || (kind === "threshold" && moved("threshold"));

  /** Both ends of the interval of the AUC if alpha is given as it is set. */
  function aucEnds() {
    const [low, high] = [grid.low[state.alpha], grid.high[state.alpha]];
    return low === null ? "" : `${number(low, 3)} to ${number(high, 3)}`;
  }

  function fillCell(cell, name, kind, digits) {
    const { column } = cell.dataset;
    const elsewhere = kind === "threshold" && moved("threshold");
    if (!changes(kind)) restore(cell);
    else if (column === "recovered") putValue(cell, name, metric(name), digits);
    // What was observed, and the truth, do not depend on alpha.
    else if (column !== "interval" && !elsewhere) restore(cell);
    else if (column === "observed") {
      const value = grid.observed[name][state.threshold];
      put(cell, number(value, digits), value);
    } else put(cell, (column === "interval" && name === "roc_auc" && aucEnds()) || "–");
  }

  const digitsOf = (row) => Number(row.closest("table").dataset.digits);
  const rows = all("tr[data-metric]").map((row) => [row, digitsOf(row)]);

  function fillMetrics() {
    for (const [row, digits] of rows) {
      const { metric: name, kind } = row.dataset;
      for (const cell of row.querySelectorAll("td")) fillCell(cell, name, kind, digits);
    }
    for (const node of all('[data-heading="threshold"]'))
      renew(node, moved("threshold"), `At the threshold: score ≥ ${short(threshold())}`);
    $("bandless").hidden = !(moved("alpha") && (payload.roc.band || payload.pr.band));
  }

  /** The one figure at the top, and what it assumes. */
  function fillHead() {
    const [lead, interval, seen] = all("[data-big]");
    const name = lead.dataset.big;
    const changed = changes(name === "roc_auc" ? "ranking" : "threshold");
    if (changed) putValue(lead, name, metric(name), 3);
    else restore(lead);
    const ends = name === "roc_auc" && aucEnds();
    renew(interval, changed, ends ? `${ends} (at this alpha) · ` : "");
    if (name !== "roc_auc")
      renew(seen, moved("threshold"), `observed ${number(grid.observed[name][state.threshold], 3)}`);
    renew($("origin"), moved("alpha"), "set on this page");
    const told = moved("alpha") && contradiction();
    const any = moved("alpha") || moved("threshold");
    $("state").hidden = !any;
    $("state").classList.toggle("problem", Boolean(told));
    const own = [
      moved("alpha") && `alpha ${short(grid.alphas[OWN.alpha], 4)}`,
      moved("threshold") && `threshold ${short(thresholds[OWN.threshold], 4)}`,
    ].filter(Boolean);
    const from = `The report has ${own.join(" and ")}; its intervals are left out where they do not apply.`;
    $("state").firstElementChild.textContent = told || (any ? from : "");
  }

  function fillConfusion() {
    const changed = changes("threshold");
    const found = numbers();
    for (const cell of all("[data-cell]")) {
      const name = cell.dataset.cell;
      const known = name in found && !dashed(name);
      renew(cell, changed, known ? whole(found[name]) : "–", known ? found[name] : undefined);
    }
    for (const heading of all("[data-cut]"))
      renew(heading, changed, `Score ${heading.dataset.cut} ${short(threshold())}`);
    renew($("flagged"), changed, contradiction() || sentence(found));
  }

  function sentence(found) {
    const tp = dashed("tp") ? "an unknown number" : `about ${whole(found.tp)}`;
    const fn = dashed("fn") ? "an unknown number of" : `about ${whole(found.fn)}`;
    return `At the threshold (score ≥ ${short(threshold())}) ${whole(found.flagged)} unlabeled are flagged: ${tp} of them are positive, and ${fn} positives are missed.`;
  }

  /** What is set, in words for those who hear the page. */
  const told = () =>
    contradiction() ||
    `Alpha ${percent(alpha())}: AUC ${number(metric("roc_auc"), 3)}. ${sentence(numbers())}`;

  parts.tables = Object.freeze({ fillMetrics, fillConfusion, fillHead, told });
})();
