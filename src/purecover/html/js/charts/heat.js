// A map of AUC over alpha and beta, in which one can click.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { LEGEND_ROW, axisX, axisY, tip, element, number, short, room, finish } = parts.frame;

  const MARK = { fill: "#d55e00", stroke: "#ffffff", "stroke-width": 2 };

  /** A map of AUC: spec {title, description, alphas, betas, value(alpha, beta), own: [alpha, beta]}. */
  function heat(spec, width) {
    const [left, right] = [52, 12];
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
      ...room(width, Math.round(0.8 * (width - left - right)), { left, right, rows: rows + 1 }),
      x: { domain: [xs[0], xs[xs.length - 1]], type: spec.logarithmic ? "log" : "linear" },
      y: { domain: [ys[0], ys[ys.length - 1]] },
      color: { scheme: "viridis", domain: low < high ? [low, high] : [low - 0.01, high + 0.01] },
      marks: [
        Plot.frame({ fill: `url(#${hatch})`, stroke: "var(--rule)" }),
        Plot.rect(
          cells.filter((cell) => cell.auc === null),
          { ...box, fill: "var(--infeasible)" },
        ),
        Plot.rect(found, { ...box, fill: "auc" }),
        axisX("Alpha", { ticks: 5, ...(spec.logarithmic ? { tickFormat: "~g" } : {}) }),
        axisY("Beta", { ticks: 5 }),
        Plot.tip(
          cells,
          Plot.pointer({
            x: "alpha",
            y: "beta",
            maxRadius: 20,
            ...tip,
            title: (d) =>
              `alpha ${short(d.alpha, 3)}\nbeta ${number(d.beta, 3)}\n` +
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

  parts.maps = Object.freeze({ heat });
})();
