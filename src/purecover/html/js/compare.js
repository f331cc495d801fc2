// The page of a comparison: charts that can be saved.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { plots } = parts;
  const { CYCLE, axisX, finish, grid, number } = parts.frame;
  const { mount } = parts.figures;
  const { all, figure, payload: data } = parts.document;
  const DASHES = [undefined, "8 4", "2 3"];

  /** How model number i is drawn, everywhere alike. */
  const look = (i) => ({
    stroke: `var(${CYCLE[i % CYCLE.length]})`,
    strokeWidth: 2,
    strokeDasharray: DASHES[Math.floor(i / CYCLE.length) % DASHES.length],
  });

  const signed = (value) =>
    value === null ? "undefined" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(4)}`;

  const tick = (value) =>
    value === 0 ? "0" : `${value < 0 ? "−" : "+"}${Number(Math.abs(value).toFixed(6))}`;

  /** Differences of the others from the baseline, in one metric: [model, estimate, low, high, better]. */
  const differences = (metric) => data.differences[metric];

  const between = ([, , low, high]) =>
    low === null || high === null ? "" : `${signed(low)} to ${signed(high)}`;

  // -- charts -------------------------------------------------------------------------------------

  function whiskers({ name, title }, width) {
    const [left, right, top, step] = [Math.min(150, Math.round(0.36 * width)), 16, 8, 28];
    const rows = differences(name).filter(([, estimate]) => estimate !== null);
    const bars = rows.filter(([, , low, high]) => low !== null && high !== null);
    const models = differences(name).map(([i]) => i);
    const base = data.names[data.baseline];
    const ticks = width < 400 ? 2 : 4; // of about 40 pixels each
    const svg = Plot.plot({
      width,
      height: top + step * models.length + 48,
      marginLeft: left,
      marginRight: right,
      marginTop: top,
      marginBottom: 48,
      x: { insetLeft: 6, insetRight: 6, nice: true },
      y: { type: "band", domain: models },
      color: { type: "identity" },
      marks: [
        Plot.gridX({ ticks, ...grid }),
        axisX("minus the baseline", { ticks, tickFormat: tick }),
        Plot.axisY({
          label: null,
          tickSize: 0,
          lineWidth: (left - 16) / 12,
          textOverflow: "ellipsis",
          fill: "currentColor",
          tickFormat: (i) => data.names[i],
        }),
        Plot.ruleX([0], { stroke: "var(--faint)", strokeWidth: 1.5 }),
        Plot.ruleY(bars, {
          y: "0",
          x1: "2",
          x2: "3",
          stroke: ([i]) => look(i).stroke,
          strokeWidth: 2.5,
        }),
        Plot.dot(rows, { y: "0", x: "1", r: 4.5, fill: ([i]) => look(i).stroke }),
      ],
    });
    const said = differences(name).map(
      (row) => `${data.names[row[0]]} ${signed(row[1])}, from ${between(row) || "undefined"}`,
    );
    finish(svg, { title: `${title} minus that of ${base}`, description: `${said.join("; ")}.` });
    return {
      svg,
      table: {
        columns: ["model", "baseline", "difference", "low", "high", "better"],
        rows: differences(name).map(([i, ...numbers]) => [data.names[i], base, ...numbers]),
      },
    };
  }

  for (const node of all("figure[data-metric]")) {
    const metric = data.metrics.find(({ name }) => name === node.dataset.metric);
    mount(node, `Difference in ${metric.title}`, (width) => whiskers(metric, width));
  }
  const prior = Number(data.prior.toPrecision(3));
  const KINDS = {
    roc: {
      title: "Recovered ROC curves",
      x: "False-positive rate",
      y: "True-positive rate",
      chance: { kind: "chance", label: "chance", x: [0, 1], y: [0, 1] },
    },
    pr: {
      title: "Recovered precision-recall curves",
      x: "Recall",
      y: "Precision",
      chance: { kind: "chance", label: `chance (prior ${prior})`, x: [0, 1], y: [prior, prior] },
    },
  };
  for (const [name, spec] of Object.entries(KINDS)) {
    const models = data.curves[name].map(({ label, area, ...model }) => ({
      ...model,
      label: `${label} (${area === null ? "–" : number(area, 3)})`,
      look: look(data.names.indexOf(model.name)),
    }));
    const areas = models.map(({ label }) => label).join(", ");
    const description = `${spec.y} against ${spec.x.toLowerCase()}. Areas: ${areas}.`;
    const drawing = { ...spec, description, curves: [spec.chance, ...models] };
    mount(figure(name), spec.title, (width) => plots.curves(drawing, width));
  }

})();
