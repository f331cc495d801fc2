// Charts drawn by Observable Plot as SVG, each with the table of what it shows.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { LOOKS, BAND, POINT, axisX, axisY, grid, tip, area, remark } = parts.frame;
  const { element, strokeOf, number, short, points, some, room, finish } = parts.frame;

  /**
   * Curves in the unit square.
   * spec: {title, description, x, y (labels), curves: [{kind or look, name, label, x, y, thresholds}],
   * band, point, remark, domain (of x), marks: [{name, theta}]}
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
    if (spec.marks) {
      marks.push(
        Plot.ruleX(spec.marks, { x: "theta", ...LOOKS.threshold }),
        Plot.text(spec.marks, {
          x: "theta", text: "name", frameAnchor: "bottom", textAnchor: "start", rotate: -90, dx: -5,
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
      x: { domain: spec.domain ?? [0, 1] },
      y: { domain: [0, 1] },
      marks,
    });
    finish(svg, { ...spec, legend, left });
    const dot = element("circle", { r: 4.5, ...POINT });
    svg.append(dot);
    const [scaleX, scaleY] = [svg.scale("x"), svg.scale("y")];
    /** Put the point elsewhere, which needs no new plot. */
    function move(point) {
      const seen = point && point.x !== null && point.y !== null;
      dot.setAttribute("visibility", seen ? "visible" : "hidden");
      if (!seen) return;
      dot.setAttribute("cx", scaleX.apply(point.x));
      dot.setAttribute("cy", scaleY.apply(point.y));
      svg.querySelector(".legend text:last-of-type").textContent = point.label;
    }
    move(spec.point);
    return { svg, move, table: { columns: ["curve", spec.x, spec.y, "threshold"], rows: table } };
  }

  /**
   * Outlines of histograms: spec {title, description, edges, series: [{kind, label, rows}], threshold,
   * least}. Above 0, `least` is the foot of a logarithmic axis.
   */
  function outlines(spec, width) {
    const { edges, least } = spec;
    const [left, right] = [52, 12];
    const legend = spec.series.map(({ kind, label }) => ({ look: LOOKS[kind], label }));
    legend.push({ look: LOOKS.threshold, label: `threshold ${short(spec.threshold, 4)}` });
    const marks = [
      Plot.gridY({ ticks: 4, ...grid }),
      axisX("Score", { ticks: 6 }),
      axisY("Rows", { ticks: 4, tickFormat: "~s" }),
    ];
    const table = [];
    const bins = [];
    for (const { kind, label, rows } of spec.series) {
      const line = [{ x: edges[0], y: least }];
      rows.forEach((n, i) => {
        const y = Math.max(n, least);
        line.push({ x: edges[i], y }, { x: edges[i + 1], y });
        table.push([kind, edges[i], edges[i + 1], n]);
        bins.push({ x: (edges[i] + edges[i + 1]) / 2, y, label, n, from: edges[i] });
      });
      line.push({ x: edges.at(-1), y: least });
      marks.push(
        Plot.areaY(line, { x: "x", y1: least, y2: "y", fill: LOOKS[kind].stroke, fillOpacity: 0.12 }),
        Plot.line(line, { x: "x", y: "y", ...LOOKS[kind] }),
      );
    }
    marks.push(
      Plot.tip(
        some(bins),
        Plot.pointer({
          x: "x",
          y: "y",
          maxRadius: 40,
          ...tip,
          title: (d) => `${d.label}\nscore from ${short(d.from, 3)}\n${short(d.n, 3)} rows`,
        }),
      ),
    );
    const svg = Plot.plot({
      ...room(width, Math.round(0.55 * width), { left, right, rows: legend.length }),
      insetTop: 6,
      x: { domain: [edges[0], edges.at(-1)] },
      y: { type: least > 0 ? "log" : "linear" },
      marks,
    });
    finish(svg, { ...spec, legend, left });
    const rule = element("path", { ...strokeOf(LOOKS.threshold) });
    svg.append(rule);
    const scale = svg.scale("x");
    const [top, bottom] = svg.scale("y").range;
    /** Put the threshold elsewhere, which needs no new plot. */
    function move(threshold) {
      const x = scale.apply(Math.min(Math.max(threshold, edges[0]), edges.at(-1)));
      rule.setAttribute("d", `M${x} ${bottom}V${top}`);
      svg.querySelector(".legend text:last-of-type").textContent =
        `threshold ${short(threshold, 4)}`;
    }
    move(spec.threshold);
    return { svg, move, table: { columns: ["rows", "from", "to", "number"], rows: table } };
  }

  parts.plots = Object.freeze({ curves, outlines });
})();
