// A map of AUC over alpha and beta.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { LEGEND_ROW, axisX, axisY, tip, element, number, short, room, finish } = parts.frame;

  const MARK = { fill: "#d55e00", stroke: "#ffffff", "stroke-width": 2 };
  const GRAY = "var(--infeasible)";

  /** A map: spec {alphas, betas, aucs}, and a point at the alpha and beta of `place`. */
  function heat(spec, width, place) {
    const [left, right] = [52, 12];
    const [xs, ys] = [borders(spec.alphas), borders(spec.betas)];
    const cells = spec.alphas.flatMap((alpha, i) =>
      spec.betas.map((beta, j) => {
        const corners = { x1: xs[i], x2: xs[i + 1], y1: ys[j], y2: ys[j + 1] };
        return { ...corners, alpha, beta, auc: spec.aucs[i * spec.betas.length + j] };
      }),
    );
    const found = cells.filter((cell) => cell.auc !== null);
    const values = found.map((cell) => cell.auc);
    const [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
    const box = { x1: "x1", x2: "x2", y1: "y1", y2: "y2", clip: true, shapeRendering: "crispEdges" };
    const rows = 2;
    const svg = Plot.plot({
      ...room(width, Math.round(0.8 * (width - left - right)), { left, right, rows: rows + 1 }),
      x: { domain: [xs[0], xs.at(-1)] },
      y: { domain: [ys[0], ys.at(-1)] },
      color: { scheme: "viridis", domain: low < high ? [low, high] : [low - 0.01, high + 0.01] },
      marks: [
        Plot.frame({ fill: GRAY, stroke: "var(--rule)" }),
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
              `alpha ${short(d.alpha, 3)}\nbeta ${number(d.beta, 3)}\n` +
              (d.auc === null ? "does not fit the scores" : `AUC ${number(d.auc, 3)}`),
          }),
        ),
      ],
    });
    const legend = [
      { mark: "band", look: { fill: GRAY }, label: "does not fit the scores" },
      { mark: "dot", look: { ...MARK, "stroke-width": 1.5 }, label: "alpha and beta in use" },
    ];
    const color = svg.scale("color");
    finish(svg, {
      title: "AUC over alpha and beta",
      description:
        "The corrected AUC for each pair of alpha and beta; pairs that do not fit the scores are gray, and a point marks the pair in use.",
      legend,
      left,
    });
    svg.append(
      ramp(color, low, high, left, Number(svg.getAttribute("height")) - LEGEND_ROW * (rows + 1)),
    );
    const [x, y] = [svg.scale("x"), svg.scale("y")];
    const mark = element("circle", { r: 6, ...MARK });
    svg.append(mark);
    function move({ alpha, beta }) {
      const inside = alpha <= xs.at(-1) && beta >= ys[0];
      mark.setAttribute("visibility", inside ? "visible" : "hidden");
      mark.setAttribute("cx", x.apply(alpha));
      mark.setAttribute("cy", y.apply(beta));
    }
    move(place);
    const table = cells.map(({ alpha, beta, auc }) => [alpha, beta, auc ?? ""]);
    return { svg, move, table: { columns: ["alpha", "beta", "auc"], rows: table } };
  }

  /** Borders of cells around the points of a grid: midpoints, and the grid's own ends. */
  function borders(grid) {
    const middles = grid.slice(1).map((value, i) => (grid[i] + value) / 2);
    return [grid[0], ...middles, grid.at(-1)];
  }

  /** The scale of colors with its ends, in the first row of the legend. */
  function ramp(color, low, high, left, y) {
    const group = element("g", { "aria-hidden": "true", "text-anchor": "start" });
    const [steps, long, start] = [40, 140, left + 70];
    const word = (x, text) =>
      group.append(element("text", { x, y: y + 10, fill: "currentColor" }, text));
    for (let i = 0; i < steps; i++) {
      const fill = color.apply(low + ((i + 0.5) / steps) * (high - low));
      const x = start + (i * long) / steps;
      group.append(element("rect", { x, y, width: long / steps + 0.5, height: 11, fill }));
    }
    word(left, `AUC ${number(low, 2)}`);
    word(start + long + 8, number(high, 2));
    return group;
  }

  parts.maps = Object.freeze({ heat });
})();
