// Charts of a page, drawn by Observable Plot as SVG, with buttons that save them.
// Colors are variables of the style sheet, so that a chart follows the colors of the page; what is
// saved has the light ones written in.
(() => {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const LEGEND_ROW = 20;
  const LOOKS = {
    recovered: { stroke: "var(--recovered)", strokeWidth: 2.5 },
    observed: { stroke: "var(--observed)", strokeWidth: 2, strokeDasharray: "6 4" },
    true: { stroke: "var(--true)", strokeWidth: 1.5 },
    chance: { stroke: "var(--chance)", strokeWidth: 1.5, strokeDasharray: "1.5 4" },
    labeled: { stroke: "var(--recovered)", strokeWidth: 2 },
    unlabeled: { stroke: "var(--observed)", strokeWidth: 2, strokeDasharray: "6 4" },
    positive: { stroke: "var(--recovered)", strokeWidth: 2 },
    negative: { stroke: "var(--true)", strokeWidth: 2, strokeDasharray: "8 3" },
    threshold: { stroke: "var(--ink)", strokeWidth: 1, strokeDasharray: "3 3" },
    chosen: { stroke: "var(--true)", strokeWidth: 1.5 },
  };
  /** Models of a comparison, in order: the cycle of the matplotlib displays. */
  const CYCLE = ["--cycle-1", "--cycle-2", "--cycle-3", "--cycle-4", "--cycle-5", "--cycle-6"];

  const element = (name, attributes = {}, text = "") => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text) node.textContent = text;
    return node;
  };

  /** A figure with d digits; what is not defined is called so. */
  const number = (value, digits = 4) =>
    value === null || !Number.isFinite(value) ? "undefined" : value.toFixed(digits);

  /** Rows of points that can be drawn. */
  const points = (x, y, more = {}) => {
    const out = [];
    for (let i = 0; i < x.length; i++) {
      if (x[i] === null || y[i] === null || !Number.isFinite(x[i]) || !Number.isFinite(y[i]))
        continue;
      const row = { x: x[i], y: y[i] };
      for (const key in more) row[key] = more[key][i];
      out.push(row);
    }
    return out;
  };

  /** At most 250 of many rows, evenly: as many as a hand can point at. */
  const some = (rows) => {
    const step = Math.ceil(rows.length / 250);
    return rows.filter((_, i) => i % step === 0);
  };

  // -- frame and legend ---------------------------------------------------------------------------

  /** Room below the axis for the legend. */
  const below = (rows) => 56 + LEGEND_ROW * rows;

  /** Plot's drawing with our type, a description for those who cannot see it, and a legend. */
  function finish(svg, { title, description, legend = [], left }) {
    // Plot brings a style element, which the policy of the page would refuse; its rules are in ours.
    svg.querySelector("style")?.remove();
    svg.removeAttribute("class");
    svg.classList.add("plot");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${title}. ${description}`);
    svg.setAttribute("font-size", "12");
    // Plot names its parts for screen readers; within one picture that is noise, and not allowed.
    for (const part of svg.querySelectorAll("[aria-label]")) {
      part.dataset.part = part.getAttribute("aria-label");
      part.removeAttribute("aria-label");
    }
    const height = Number(svg.getAttribute("height"));
    const first = height - LEGEND_ROW * legend.length + 10;
    const group = element("g", { class: "legend", "aria-hidden": "true", "text-anchor": "start" });
    legend.forEach(({ look, mark = "line", label }, i) => {
      const y = first + i * LEGEND_ROW;
      group.append(
        key(mark, look, left, y),
        element("text", { x: left + 38, y: y, fill: "currentColor" }, label),
      );
    });
    svg.append(group);
    return svg;
  }

  function key(mark, look, left, y) {
    if (mark === "band")
      return element("rect", { x: left, y: y - 9, width: 28, height: 11, ...look });
    if (mark === "dot") return element("circle", { cx: left + 14, cy: y - 4, r: 4.5, ...look });
    if (mark === "square")
      return element("rect", { x: left + 10, y: y - 8, width: 8, height: 8, ...look });
    return element("path", {
      d: `M${left} ${y - 4}h28`,
      fill: "none",
      stroke: look.stroke,
      "stroke-width": look.strokeWidth,
      ...(look.strokeDasharray ? { "stroke-dasharray": look.strokeDasharray } : {}),
    });
  }

  const BAND = { fill: "var(--recovered)", "fill-opacity": 0.18 };
  const POINT = { fill: "var(--paper)", stroke: "var(--recovered)", "stroke-width": 2.5 };
  const axis = {
    stroke: "none",
    labelArrow: "none",
    labelAnchor: "center",
    tickSize: 0,
    tickPadding: 6,
  };
  const axisX = (label, more = {}) =>
    Plot.axisX({ ...axis, label, labelOffset: 38, fill: "currentColor", ...more });
  const axisY = (label, more = {}) =>
    Plot.axisY({ ...axis, label, labelOffset: 44, fill: "currentColor", ...more });
  const grid = { stroke: "var(--rule)", strokeOpacity: 1 };
  const tip = { fontSize: 12, lineHeight: 1.3, stroke: "var(--rule)", fill: "var(--paper)" };

  /** Why something is not drawn, in the middle of the frame. */
  const remark = (text) =>
    Plot.text([text], {
      frameAnchor: "middle",
      lineWidth: 18,
      fill: "var(--error)",
      stroke: "var(--paper)",
      strokeWidth: 6,
      fontSize: 13,
    });

  // -- charts -------------------------------------------------------------------------------------

  /**
   * Curves in the unit square.
   * spec: {title, description, x, y (labels), curves: [{kind or look, label, x, y, tips}], band, point}
   */
  function curves(spec, width) {
    const [left, right, top] = [52, 12, 8];
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
      marks.push(
        Plot.areaY(rows, {
          x: "x",
          y1: "y",
          y2: "high",
          fill: BAND.fill,
          fillOpacity: BAND["fill-opacity"],
          clip: true,
        }),
      );
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
      width,
      height: top + size + below(legend.length),
      marginLeft: left,
      marginRight: right,
      marginTop: top,
      marginBottom: below(legend.length),
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

  /** Six significant digits, as Python's "g" writes them. */
  function short(value, digits = 6) {
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    const power = Number(exponent);
    if (power < -4 || power >= digits) {
      return `${Number(mantissa)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
    }
    return String(Number(value.toPrecision(digits)));
  }

  /** Outlines of histograms: spec {title, description, edges, series: [{kind, label, shares}], threshold}. */
  function outlines(spec, width) {
    const { edges } = spec;
    const [left, right, top] = [52, 12, 8];
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
    for (const { kind, shares } of spec.series) {
      const rows = [{ x: edges[0], y: 0 }];
      shares.forEach((share, i) => {
        const y = span > 0 ? share / (edges[i + 1] - edges[i]) : share;
        rows.push({ x: edges[i], y }, { x: edges[i + 1], y });
        table.push([kind, edges[i], edges[i + 1], share, y]);
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
    const svg = Plot.plot({
      width,
      height: top + Math.round(0.55 * width) + below(legend.length),
      marginLeft: left,
      marginRight: right,
      marginTop: top,
      marginBottom: below(legend.length),
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
    const [left, right, top, step] = [Math.min(150, Math.round(0.36 * width)), 14, 8, 28];
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
      width,
      height: top + step * names.length + below(legend.length),
      marginLeft: left,
      marginRight: right,
      marginTop: top,
      marginBottom: below(legend.length),
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

  /** One line with a mark: spec {title, description, x, y (labels), line: {x, y, label}, chosen, band, yDomain}. */
  function profile(spec, width) {
    const [left, right, top] = [58, 12, 8];
    const legend = [{ look: LOOKS.recovered, label: spec.line.label }];
    const marks = [
      Plot.gridX({ ticks: 5, ...grid }),
      Plot.gridY({ ticks: 5, ...grid }),
      axisX(spec.x, { ticks: 5 }),
      axisY(spec.y, { ticks: 5, labelOffset: 50 }),
    ];
    if (spec.band) {
      legend.push({ mark: "band", look: BAND, label: spec.band.label });
      marks.push(
        Plot.areaY(points(spec.band.x, spec.band.low, { high: spec.band.high }), {
          x: "x",
          y1: "y",
          y2: "high",
          fill: BAND.fill,
          fillOpacity: BAND["fill-opacity"],
          clip: true,
        }),
      );
    }
    const rows = points(spec.line.x, spec.line.y);
    marks.push(Plot.line(rows, { x: "x", y: "y", ...LOOKS.recovered, clip: true }));
    if (spec.chosen !== null) {
      legend.push({ look: LOOKS.chosen, label: spec.chosenLabel });
      marks.push(Plot.ruleX([spec.chosen], LOOKS.chosen));
    }
    const svg = Plot.plot({
      width,
      height: top + Math.round(0.62 * width) + below(legend.length),
      marginLeft: left,
      marginRight: right,
      marginTop: top,
      marginBottom: below(legend.length),
      inset: 4,
      x: { domain: spec.xDomain },
      y: { domain: spec.yDomain },
      marks,
    });
    return {
      svg: finish(svg, { ...spec, legend, left }),
      table: { columns: [spec.x, spec.y], rows: rows.map((row) => [row.x, row.y]) },
    };
  }

  /** A map of AUC: spec {title, description, alphas, betas, value(alpha, beta), own: [alpha, beta]}. */
  function heat(spec, width) {
    const [left, right, top] = [52, 12, 8];
    const [xs, ys] = [borders(spec.alphas), borders(spec.betas)];
    const cells = [];
    const table = [];
    spec.alphas.forEach((alpha, i) =>
      spec.betas.forEach((beta, j) => {
        const auc = spec.value(alpha, beta);
        table.push([alpha, beta, auc ?? ""]);
        if (alpha < beta)
          cells.push({ x1: xs[i], x2: xs[i + 1], y1: ys[j], y2: ys[j + 1], alpha, beta, auc });
      }),
    );
    const found = cells.filter((cell) => cell.auc !== null);
    const values = found.map((cell) => cell.auc);
    const [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
    const box = {
      x1: "x1",
      x2: "x2",
      y1: "y1",
      y2: "y2",
      clip: true,
      shapeRendering: "crispEdges",
    };
    const rows = 3;
    const hatch = `hatch-${spec.name}`;
    const svg = Plot.plot({
      width,
      height: top + Math.round(0.8 * (width - left - right)) + below(rows + 1),
      marginLeft: left,
      marginRight: right,
      marginTop: top,
      marginBottom: below(rows + 1),
      x: { domain: [xs[0], xs[xs.length - 1]] },
      y: { domain: [ys[0], ys[ys.length - 1]] },
      color: { scheme: "viridis", domain: low < high ? [low, high] : [low - 0.01, high + 0.01] },
      marks: [
        Plot.frame({ fill: `url(#${hatch})`, stroke: "var(--rule)" }),
        Plot.rect(
          cells.filter((cell) => cell.auc === null),
          { ...box, fill: "var(--infeasible)" },
        ),
        Plot.rect(found, { ...box, fill: "auc" }),
        axisX("Alpha", { ticks: 5 }),
        axisY("Beta", { ticks: 5 }),
        Plot.tip(
          cells,
          Plot.pointer({
            x: "alpha",
            y: "beta",
            maxRadius: 20,
            ...tip,
            title: (d) =>
              `alpha ${number(d.alpha, 3)}\nbeta ${number(d.beta, 3)}\n` +
              (d.auc === null ? "does not fit the scores" : `AUC ${number(d.auc, 3)}`),
          }),
        ),
      ],
    });
    const legend = [
      { mark: "band", look: { fill: "var(--infeasible)" }, label: "does not fit the scores" },
      {
        mark: "band",
        look: { fill: `url(#${hatch})`, stroke: "var(--rule)" },
        label: "alpha not below beta",
      },
      { mark: "dot", look: { ...MARK, "stroke-width": 1.5 }, label: "alpha and beta in use" },
    ];
    const color = svg.scale("color");
    finish(svg, { ...spec, legend, left });
    svg.prepend(hatching(hatch));
    svg.append(
      ramp(color, low, high, left, Number(svg.getAttribute("height")) - LEGEND_ROW * (rows + 1)),
    );
    const [x, y] = [svg.scale("x"), svg.scale("y")];
    const mark = element("circle", { r: 6, ...MARK });
    svg.append(mark);
    return {
      svg,
      table: { columns: ["alpha", "beta", "auc"], rows: table },
      move(alpha, beta) {
        const outside =
          alpha < xs[0] || alpha > xs[xs.length - 1] || beta < ys[0] || beta > ys[ys.length - 1];
        mark.setAttribute("visibility", outside ? "hidden" : "visible");
        mark.setAttribute("cx", x.apply(alpha));
        mark.setAttribute("cy", y.apply(beta));
      },
      /** Alpha and beta at a place of the page; null outside the map. */
      at(event) {
        const rectangle = svg.getBoundingClientRect();
        const scale = Number(svg.getAttribute("width")) / rectangle.width;
        const alpha = x.invert((event.clientX - rectangle.left) * scale);
        const beta = y.invert((event.clientY - rectangle.top) * scale);
        const inside =
          alpha >= xs[0] &&
          alpha <= xs[xs.length - 1] &&
          beta >= ys[0] &&
          beta <= ys[ys.length - 1];
        return inside ? [alpha, beta] : null;
      },
    };
  }

  const MARK = { fill: "#d55e00", stroke: "#ffffff", "stroke-width": 2 };

  /** Borders of cells around the points of a grid: midpoints, and the grid's own ends. */
  function borders(grid) {
    const out = [grid[0]];
    for (let i = 1; i < grid.length; i++) out.push((grid[i - 1] + grid[i]) / 2);
    out.push(grid[grid.length - 1]);
    return out;
  }

  function hatching(id) {
    const defs = element("defs");
    const pattern = element("pattern", { id, width: 7, height: 7, patternUnits: "userSpaceOnUse" });
    pattern.append(
      element("rect", { width: 7, height: 7, fill: "var(--paper)" }),
      element("path", {
        d: "M-1 8L8 -1M-1 1L1 -1M6 8L8 6",
        stroke: "var(--rule)",
        "stroke-width": 1.2,
      }),
    );
    defs.append(pattern);
    return defs;
  }

  /** The scale of colors with its ends, in the first row of the legend. */
  function ramp(color, low, high, left, y) {
    const group = element("g", { "aria-hidden": "true", "text-anchor": "start" });
    const [steps, long] = [40, 140];
    const at = left + 44;
    group.append(
      element("text", { x: left, y: y + 10, fill: "currentColor" }, `AUC ${number(low, 2)}`),
    );
    const start = at + 26;
    for (let i = 0; i < steps; i++) {
      const fill = color.apply(low + ((i + 0.5) / steps) * (high - low));
      group.append(
        element("rect", {
          x: start + (i * long) / steps,
          y,
          width: long / steps + 0.5,
          height: 11,
          fill,
        }),
      );
    }
    group.append(
      element("text", { x: start + long + 8, y: y + 10, fill: "currentColor" }, number(high, 2)),
    );
    return group;
  }

  // -- saving -------------------------------------------------------------------------------------

  /** The drawing as a file of its own: light colors, white ground, nothing that hovers. */
  function standalone(svg) {
    const copy = svg.cloneNode(true);
    copy.querySelectorAll("[data-part=tip], [aria-label=tip]").forEach((node) => node.remove());
    const palette = getComputedStyle(document.querySelector(".light"));
    const ink = palette.getPropertyValue("--ink").trim();
    for (const node of [copy, ...copy.querySelectorAll("*")]) {
      node.removeAttribute("style");
      node.removeAttribute("data-part");
      for (const { name, value } of [...node.attributes]) {
        if (value === "currentColor") node.setAttribute(name, ink);
        const used = value.match(/^var\((--[\w-]+)\)$/);
        if (used) node.setAttribute(name, palette.getPropertyValue(used[1]).trim());
      }
    }
    copy.setAttribute("xmlns", SVG);
    copy.setAttribute("font-family", "sans-serif");
    copy.prepend(element("rect", { width: "100%", height: "100%", fill: "#ffffff" }));
    return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
  }

  const field = (value) => {
    // A spreadsheet would take a name such as =1+1 for a formula, and run it.
    const formula = typeof value === "string" && /^[=+\-@\t\r]/.test(value);
    const text = `${formula ? "'" : ""}${value ?? ""}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = ({ columns, rows }) =>
    [columns, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");

  /** The drawing as a picture, twice as fine as on the screen. */
  function png(svg) {
    const scale = 2;
    const text = standalone(svg);
    return new Promise((resolve, reject) => {
      const image = new Image();
      image.addEventListener("error", () => reject(new Error("the picture could not be drawn")));
      image.addEventListener("load", () => {
        const sheet = document.createElement("canvas");
        sheet.width = scale * Number(svg.getAttribute("width"));
        sheet.height = scale * Number(svg.getAttribute("height"));
        sheet.getContext("2d").drawImage(image, 0, 0, sheet.width, sheet.height);
        sheet.toBlob(resolve, "image/png");
      });
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    });
  }

  function save(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  const FORMATS = {
    SVG: async ({ svg }) => new Blob([standalone(svg)], { type: "image/svg+xml" }),
    PNG: async ({ svg }) => png(svg),
    CSV: async ({ table }) => new Blob([csv(table)], { type: "text/csv;charset=utf-8" }),
  };

  /** Put a chart into its figure in place of what stands there, and keep it as wide as the figure. */
  function mount(figure, title, draw) {
    const name = figure.dataset.chart;
    const canvas = figure.querySelector(".canvas");
    let shown = null;
    let width = 0;
    const refresh = () => {
      if (!width) return;
      shown = draw(width);
      canvas.replaceChildren(shown.svg);
    };
    const bar = document.createElement("div");
    bar.className = "downloads";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", `Save ${title}`);
    for (const format of Object.keys(FORMATS)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = format;
      button.setAttribute("aria-label", `${format}: save ${title}`);
      button.addEventListener("click", async () => {
        save(await FORMATS[format](shown), `purecover-${name}.${format.toLowerCase()}`);
      });
      bar.append(button);
    }
    figure.append(bar);
    figure.hidden = false;
    const paper = matchMedia("print");
    const fit = () => {
      // Half a sheet is narrower than half a screen; drawn for it, letters stay legible.
      const room = paper.matches
        ? 340
        : Math.min(Math.max(Math.floor(canvas.clientWidth), 240), 520);
      if (room === width) return;
      width = room;
      refresh();
    };
    fit();
    new ResizeObserver(fit).observe(canvas);
    paper.addEventListener("change", fit);
    return {
      refresh,
      canvas,
      get shown() {
        return shown;
      },
    };
  }

  globalThis.purecoverCharts = Object.freeze({
    CYCLE,
    LOOKS,
    curves,
    dots,
    heat,
    mount,
    number,
    outlines,
    profile,
    short,
  });
})();
