// The AUC against alpha, which is the slider of alpha: by mouse, touch and arrow keys.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { LOOKS, axisX, axisY, grid, area, element, number, points, room, finish } = parts.frame;
  const { payload } = parts.document;
  const { state, alpha: current, metric, nearest, contradiction, percent } =
    parts.state;
  const { report, truth } = payload;
  const { alphas } = payload.grid;
  const aucs = payload.grid.metrics.roc_auc;
  const last = alphas.at(-1);
  const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5 };
  const ENDS = { Home: 0, End: alphas.length - 1 };

  /** The chart; `set` takes the place of the alpha that one drags or steps to. */
  function alphaPlot(width, set) {
    const [left, right] = [54, 14];
    const most = Math.min(report.largest_alpha, last);
    const band = points(alphas, payload.grid.low, { high: payload.grid.high });
    const rows = points(alphas, aucs);
    const shown = [report.auc_pu, ...rows.map((row) => row.y)];
    const dots = [{ x: 0, y: report.auc_pu, stroke: "var(--observed)", fill: "var(--observed)" }];
    const known = truth?.metrics.roc_auc ?? null;
    const beyond = known === null || truth.alpha > last;
    const look = { stroke: "var(--true)", fill: "var(--true)" };
    if (!beyond) dots.push({ x: truth.alpha, y: known, ...look });
    const domain =
      report.auc_pu < 0.5
        ? [0, Math.ceil(20 * Math.max(...shown) + 0.6) / 20]
        : [Math.floor(20 * Math.min(...shown) - 0.6) / 20, 1];
    const svg = Plot.plot({
      ...room(width, Math.round(0.5 * width), { left, right, rows: 0 }),
      x: { domain: [0, last] },
      y: { domain },
      marks: [
        Plot.rect([{}], {
          x1: 0, x2: most, y1: domain[0], y2: domain[1], fill: "var(--wash)",
        }),
        Plot.gridY({ ticks: 4, ...grid }),
        axisX("Alpha: share of positives among the unlabeled", { ticks: 5, tickFormat: "~p" }),
        axisY("AUC", { ticks: 4, labelOffset: 48 }),
        area(band),
        Plot.line(rows, { x: "x", y: "y", ...LOOKS.recovered, clip: true }),
        Plot.dot(dots, { x: "x", y: "y", r: 5, fill: "fill", stroke: "stroke", strokeWidth: 2 }),
      ],
      color: { type: "identity" },
    });
    const end = rows.at(-1) ?? { x: 0, y: null };
    finish(svg, {
      title: "AUC against alpha",
      description: `From ${number(aucs[0], 3)} at alpha 0 to ${number(end.y, 3)} at ${percent(end.x)}.`,
    });
    svg.setAttribute("role", "group"); // with a slider in it, it is no picture
    const [scaleX, scaleY] = [svg.scale("x"), svg.scale("y")];
    const word = (text) => {
      const node = element("text", { class: "word", fill: "currentColor" }, text);
      svg.append(node);
      return node;
    };
    const place = (node, alpha, auc, [dx, dy], anchor) => {
      node.setAttribute("x", scaleX.apply(alpha) + dx);
      node.setAttribute("y", scaleY.apply(auc) + dy);
      node.setAttribute("text-anchor", anchor);
    };
    const seen = word(`observed ${number(report.auc_pu, 3)}`);
    place(seen, 0, report.auc_pu, [10, 18], "start");
    if (!beyond) {
      const right = truth.alpha > 0.15 * last;
      place(word("true"), truth.alpha, known, [right ? -10 : 10, 4], right ? "end" : "start");
    }
    const told = word("");
    const handle = element("g", {
      class: "handle",
      role: "slider",
      tabindex: 0,
      "aria-label": "Alpha, the share of the unlabeled that are positive",
      "aria-valuemin": 0,
      "aria-valuemax": last,
    });
    handle.append(element("circle", { r: 18, fill: "transparent" }), element("circle", { r: 8 }));
    svg.append(handle);

    function move() {
      const auc = contradiction() ? null : metric("roc_auc");
      const alpha = current();
      const at = Math.min(Math.max(auc ?? (report.auc_pu < 0.5 ? 0 : 1), domain[0]), domain[1]);
      handle.setAttribute("transform", `translate(${scaleX.apply(alpha)} ${scaleY.apply(at)})`);
      handle.setAttribute("aria-valuenow", alpha);
      const text = auc === null ? "does not fit the scores" : `AUC ${number(auc, 3)}`;
      handle.setAttribute("aria-valuetext", `${percent(alpha)}: ${text}`);
      told.textContent = `${auc === null ? "–" : number(auc, 3)} at ${percent(alpha)}`;
      const side = alpha > 0.6 * last ? "end" : "start";
      // Below a curve that rises there is room, and above one that falls.
      place(told, alpha, at, [side === "end" ? 12 : 6, report.auc_pu < 0.5 ? -14 : 24], side);
      // Of two words in one place, that of the point is read.
      const right = scaleX.apply(alpha) - scaleX.apply(0);
      const below = scaleY.apply(at) - scaleY.apply(report.auc_pu);
      const near = right < 130 && Math.abs(below) < 24;
      seen.setAttribute("visibility", near ? "hidden" : "visible");
    }

    const drag = (event) => {
      const { left: edge, width: wide } = svg.getBoundingClientRect();
      const at = ((event.clientX - edge) * Number(svg.getAttribute("width"))) / wide;
      set({ alpha: nearest(alphas, scaleX.invert(at)) });
    };
    svg.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      svg.setPointerCapture(event.pointerId);
      event.preventDefault();
      handle.focus({ preventScroll: true });
      drag(event);
    });
    svg.addEventListener("pointermove", (event) => {
      if (svg.hasPointerCapture(event.pointerId)) drag(event);
    });
    handle.addEventListener("keydown", (event) => {
      const { key } = event;
      if (!(key in STEPS || key in ENDS)) return;
      event.preventDefault();
      const place = ENDS[key] ?? state.alpha + STEPS[key];
      set({ alpha: Math.min(Math.max(place, 0), alphas.length - 1) });
    });
    move();
    const table = { columns: ["alpha", "auc"], rows: rows.map((row) => [row.x, row.y]) };
    return { svg, move, table };
  }

  parts.alpha = Object.freeze({ alphaPlot });
})();
