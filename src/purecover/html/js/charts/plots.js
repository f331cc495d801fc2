// Charts drawn by Observable Plot as SVG, each with the table of what it shows.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { LOOKS, BAND, POINT, axisX, axisY, grid, tip, area, remark } = parts.frame;
  const { number, short, points, some, room, finish } = parts.frame;

  /** Values of the nearest row where one points or taps. */
  const values = (rows, title) =>
    Plot.tip(some(rows), Plot.pointer({ x: "x", y: "y", maxRadius: 40, ...tip, title }));

  /**
   * Curves in the unit square.
   * spec: {title, description, x, y (labels), curves: [{kind or look, name, label, x, y, thresholds}],
   * band, point, remark}
   */
  function curves(spec, width) {
    const [left, right] = [52, 12];
    const size = width - left - right;
    const legend = spec.curves.map(({ kind, look, label }) => ({
      look: look ?? LOOKS[kind],
      label,
    }));
    if (spec.band) legend.push({ mark: "band", look: BAND, label: spec.band.label });
    if (spec.point) legend.push({ mark: "dot", look: POINT, label: spec.point.label });
    const marks = [
      Plot.gridX({ ticks: 5, ...grid }),
      Plot.gridY({ ticks: 5, ...grid }),
      axisX(spec.x, { ticks: 5 }),
      axisY(spec.y, { ticks: 5 }),
    ];
    const table = [];
    if (spec.band) {
      const { x, low, high } = spec.band;
      const rows = points(x, low, { high }).filter(({ high: end }) => end !== null);
      marks.push(area(rows));
      rows.forEach((row) =>
        table.push(["band, low", row.x, row.y, ""], ["band, high", row.x, row.high, ""]),
      );
    }
    const hover = [];
    for (const { kind, look, name, label, x, y, thresholds } of spec.curves) {
      const rows = points(x, y, thresholds ? { threshold: thresholds } : {});
      marks.push(Plot.line(rows, { x: "x", y: "y", ...(look ?? LOOKS[kind]), clip: true }));
      rows.forEach((row) => table.push([kind ?? name ?? label, row.x, row.y, row.threshold ?? ""]));
      if (thresholds) hover.push(...some(rows).map((row) => ({ ...row, label: kind ?? label })));
    }
    if (spec.point) {
      marks.push(
        Plot.dot([spec.point], {
          x: "x",
          y: "y",
          r: 4.5,
          fill: POINT.fill,
          stroke: POINT.stroke,
          strokeWidth: 2.5,
        }),
      );
    }
    if (spec.remark) marks.push(remark(spec.remark));
    marks.push(
      Plot.tip(
        hover,
        Plot.pointer({
          x: "x",
          y: "y",
          maxRadius: 30,
          ...tip,
          title: (d) =>
            `${d.label}\n${spec.x} ${number(d.x, 3)}\n${spec.y} ${number(d.y, 3)}` +
            (Number.isFinite(d.threshold) ? `\nscore ≥ ${short(d.threshold)}` : ""),
        }),
      ),
    );
    const svg = Plot.plot({
      ...room(width, size, { left, right, rows: legend.length }),
      inset: 4,
      x: { domain: [0, 1] },
      y: { domain: [0, 1] },
      marks,
    });
    return {
      svg: finish(svg, { ...spec, legend, left }),
      table: { columns: ["curve", spec.x, spec.y, "threshold"], rows: table },
    };
  }

  /** Outlines of histograms: spec {title, description, edges, series: [{kind, label, shares}], threshold, remark}. */
  function outlines(spec, width) {
    const { edges } = spec;
    const [left, right] = [52, 12];
    const legend = spec.series.map(({ kind, label }) => ({ look: LOOKS[kind], label }));
    if (spec.threshold !== null)
      legend.push({ look: LOOKS.threshold, label: `threshold ${short(spec.threshold, 4)}` });
    const span = edges[edges.length - 1] - edges[0];
    const marks = [
      Plot.gridY({ ticks: 4, ...grid }),
      axisX("Score", { ticks: 6 }),
      axisY("Density", { ticks: spec.series.length ? 4 : [] }),
    ];
    const table = [];
    const bins = [];
    for (const { kind, shares } of spec.series) {
      const rows = [{ x: edges[0], y: 0 }];
      shares.forEach((share, i) => {
        const y = span > 0 ? share / (edges[i + 1] - edges[i]) : share;
        rows.push({ x: edges[i], y }, { x: edges[i + 1], y });
        table.push([kind, edges[i], edges[i + 1], share, y]);
        bins.push({ x: (edges[i] + edges[i + 1]) / 2, y, kind, share, from: edges[i] });
      });
      rows.push({ x: edges[edges.length - 1], y: 0 });
      marks.push(
        Plot.areaY(rows, { x: "x", y1: 0, y2: "y", fill: LOOKS[kind].stroke, fillOpacity: 0.12 }),
        Plot.line(rows, { x: "x", y: "y", ...LOOKS[kind] }),
      );
    }
    marks.push(Plot.ruleY([0], { stroke: "var(--faint)" }));
    if (spec.remark) marks.push(remark(spec.remark));
    if (spec.threshold !== null) {
      const at = Math.min(Math.max(spec.threshold, edges[0]), edges[edges.length - 1]);
      marks.push(Plot.ruleX([at], LOOKS.threshold));
    }
    marks.push(
      values(bins, (d) => `${d.kind}\nscore from ${short(d.from, 3)}\n${number(100 * d.share, 1)} %`),
    );
    const svg = Plot.plot({
      ...room(width, Math.round(0.55 * width), { left, right, rows: legend.length }),
      insetTop: 6,
      x: { domain: [edges[0], edges[edges.length - 1]] },
      y: spec.series.length ? {} : { domain: [0, 1], ticks: [] },
      marks,
    });
    return {
      svg: finish(svg, { ...spec, legend, left }),
      table: { columns: ["sample", "from", "to", "share", "density"], rows: table },
    };
  }

  /** Estimates on one axis: spec {title, description, rows: [{name, alpha, beta, alpha_interval, beta_interval}], truth}. */
  function dots(spec, width) {
    const [left, right, step] = [Math.min(150, Math.round(0.36 * width)), 14, 28];
    const alpha = { fill: "var(--recovered)" };
    const beta = { fill: "var(--true)" };
    const legend = [
      { mark: "dot", look: alpha, label: "alpha (unlabeled)" },
      { mark: "square", look: beta, label: "beta (labeled)" },
    ];
    if (spec.truth) legend.push({ look: LOOKS.threshold, label: "true" });
    const names = spec.rows.map((row) => row.name);
    const bars = spec.rows.flatMap((row) =>
      [
        ["alpha", alpha],
        ["beta", beta],
      ].flatMap(([which, look]) => {
        const ends = row[`${which}_interval`];
        return ends ? [{ name: row.name, low: ends[0], high: ends[1], stroke: look.fill }] : [];
      }),
    );
    const marks = [
      Plot.gridX({ ticks: 5, ...grid }),
      axisX("Share of positives", { ticks: 5 }),
      Plot.axisY({
        label: null,
        tickSize: 0,
        lineWidth: (left - 8) / 12,
        textOverflow: "ellipsis",
        fill: "currentColor",
      }),
    ];
    if (spec.truth) marks.push(Plot.ruleX(spec.truth, LOOKS.threshold));
    marks.push(
      Plot.ruleY(bars, {
        y: "name",
        x1: "low",
        x2: "high",
        stroke: (d) => d.stroke,
        strokeWidth: 2,
      }),
      Plot.dot(spec.rows, { y: "name", x: "beta", fill: beta.fill, symbol: "square", r: 4.5 }),
      Plot.dot(spec.rows, { y: "name", x: "alpha", fill: alpha.fill, r: 4.5 }),
    );
    const svg = Plot.plot({
      ...room(width, step * names.length, { left, right, rows: legend.length }),
      x: { domain: [0, 1], insetLeft: 5, insetRight: 5 },
      y: { domain: names },
      color: { type: "identity" },
      marks,
    });
    const ends = (pair) => pair ?? ["", ""];
    return {
      svg: finish(svg, { ...spec, legend, left }),
      table: {
        columns: ["estimator", "alpha", "alpha_low", "alpha_high", "beta", "beta_low", "beta_high"],
        rows: spec.rows.map((row) => [
          row.name,
          row.alpha,
          ...ends(row.alpha_interval).slice(0, 2),
          row.beta,
          ...ends(row.beta_interval).slice(0, 2),
        ]),
      },
    };
  }

  /**
   * One line with a mark: spec {title, description, x, y (labels), line: {x, y, label}, chosen,
   * chosenLabel, band, xDomain, yDomain}.
   */
  function profile(spec, width) {
    const [left, right] = [58, 12];
    const legend = [{ look: LOOKS.recovered, label: spec.line.label }];
    const marks = [
      Plot.gridX({ ticks: 5, ...grid }),
      Plot.gridY({ ticks: 5, ...grid }),
      axisX(spec.x, { ticks: 5, ...(spec.logarithmic ? { tickFormat: "~g" } : {}) }),
      axisY(spec.y, { ticks: 5, labelOffset: 50 }),
    ];
    if (spec.band) {
      legend.push({ mark: "band", look: BAND, label: spec.band.label });
      const { x, low, high } = spec.band;
      marks.push(area(points(x, low, { high })));
    }
    const rows = points(spec.line.x, spec.line.y);
    marks.push(Plot.line(rows, { x: "x", y: "y", ...LOOKS.recovered, clip: true }));
    if (spec.chosen !== null) {
      legend.push({ look: LOOKS.chosen, label: spec.chosenLabel });
      marks.push(Plot.ruleX([spec.chosen], LOOKS.chosen));
    }
    marks.push(values(rows, (d) => `${spec.x} ${short(d.x, 3)}\n${spec.y} ${short(d.y, 4)}`));
    const svg = Plot.plot({
      ...room(width, Math.round(0.62 * width), { left, right, rows: legend.length }),
      inset: 4,
      x: { domain: spec.xDomain, type: spec.logarithmic ? "log" : "linear" },
      y: { domain: spec.yDomain },
      marks,
    });
    return {
      svg: finish(svg, { ...spec, legend, left }),
      table: { columns: [spec.x, spec.y], rows: rows.map((row) => [row.x, row.y]) },
    };
  }

  parts.plots = Object.freeze({ curves, outlines, dots, profile });
})();
