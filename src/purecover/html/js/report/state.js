// Which places of the grid of alphas and thresholds are set, and the numbers there. All of them are
// in the page already; at the report's own place it shows those of the file.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { grid, report } = parts.document.payload;
  const { alphas } = grid;
  const thresholds = grid.thresholds.map((value) => value ?? Infinity);
  const OWN = Object.freeze({ alpha: grid.own[0], threshold: grid.own[1] });
  const state = { ...OWN };
  const whole = (value) => Math.round(value).toLocaleString("en-US");
  const percent = (value) => `${Number((100 * value).toPrecision(value < 0.01 ? 2 : 3))} %`;

  const alpha = () => alphas[state.alpha];
  const threshold = () => thresholds[state.threshold];
  const moved = (name) => state[name] !== OWN[name];

  /** The place of the value that is nearest to one. */
  function nearest(values, wanted) {
    let best = wanted > values.at(-1) ? values.length - 1 : 0; // far off, distances are all alike
    values.forEach((value, i) => {
      if (Math.abs(value - wanted) < Math.abs(values[best] - wanted)) best = i;
    });
    return best;
  }

  const pair = () => state.alpha * thresholds.length + state.threshold;

  /** A metric: there is one for each alpha, or for each alpha with each threshold. */
  function metric(name) {
    const column = grid.metrics[name];
    const ranking = column.length === alphas.length;
    if (!moved("alpha") && (ranking || !moved("threshold"))) return report.metrics[name];
    return column[ranking ? state.alpha : pair()];
  }

  /** The numbers of unlabeled rows, and their sums. */
  function numbers() {
    const found = { all: grid.rows.flagged[0] + grid.rows.passed[0] };
    for (const name in grid.numbers) found[name] = grid.numbers[name][pair()];
    for (const name in grid.rows) found[name] = grid.rows[name][state.threshold];
    for (const name in grid.classes) found[name] = grid.classes[name][state.alpha];
    return found;
  }

  /** Why the alpha contradicts the scores; empty if it does not. */
  const contradiction = () => grid.contradictions[state.alpha];

  /** Whether a dash stands for a metric or number. */
  const dashed = (name) => contradiction() !== "" || grid.dashes[state.alpha].includes(name);

  parts.state = Object.freeze({
    OWN, state, grid, thresholds, alpha, threshold, moved, nearest, metric, numbers, contradiction, dashed,
    whole, percent,
  });
})();
