// The AUC against alpha, which is the slider of alpha: by mouse, touch and arrow keys.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { LOOKS, axisX, axisY, grid, area, element, number, points, room, finish } = parts.frame;
  const { payload } = parts.document;
  const { state, percent, aucAt, halfAt } = parts.state;
  const { report, truth, sensitivity } = payload;
  const last = Math.min(sensitivity.alphas.at(-1), 0.999);
  const step = Number((last / 500).toPrecision(1));
  const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
  const ENDS = { Home: 0, End: last };

  /** Alpha as the slider gives it: within its ends, without the noise of adding steps. */
  const tidy = (alpha) => Number(Math.min(Math.max(alpha, 0), last).toPrecision(4));

  /** The chart; `set` takes the alpha that one drags or steps to. */
  function alphaPlot(width, set) {
    const [left, right] = [54, 14];
    const most = Math.min(sensitivity.largest_alpha, state.beta, last);
    const x = Array.from({ length: 151 }, (_, i) => (last * i) / 150);
    const y = x.map(aucAt);
    const half = x.map(halfAt);
    const clip = (value) => Math.min(Math.max(value, 0), 1);
    const band = points(
      x,
      y.map((value, i) => (value === null || half[i] === null ? null : clip(value - half[i]))),
      { high: y.map((value, i) => clip(value + half[i])) },
    );
    const rows = points(x, y);
    const shown = [report.auc_pu, ...rows.map((row) => row.y)];
    const largest = aucAt(most);
    const dots = [{ x: 0, y: report.auc_pu, stroke: "var(--observed)", fill: "var(--observed)" }];
    if (largest !== null && most < last)
      dots.push({ x: most, y: largest, stroke: "var(--recovered)", fill: "var(--paper)" });
    if (truth?.auc != null && truth.alpha <= last)
      dots.push({ x: truth.alpha, y: truth.auc, stroke: "var(--true)", fill: "var(--true)" });
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
    finish(svg, {
      title: "AUC against alpha",
      description: `From ${number(rows[0]?.y ?? null, 3)} at alpha 0 to ${number(largest, 3)} at ${percent(most)}, the most that the scores allow.`,
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
    const far = most > 0.4 * last ? "end" : "start";
    const fits = largest !== null && most < last;
    const limit = word(fits ? `${number(largest, 2)} largest that fits` : "");
    place(limit, most, largest ?? 0, [far === "end" ? -10 : 10, -8], far);
    if (dots.length > 1 && dots.at(-1).fill === "var(--true)") {
      const right = truth.alpha > 0.15 * last;
      place(word("true"), truth.alpha, truth.auc, [right ? -10 : 10, 4], right ? "end" : "start");
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
      const auc = aucAt(state.alpha);
      const alpha = Math.min(state.alpha, last);
      const at = Math.min(Math.max(auc ?? (report.auc_pu < 0.5 ? 0 : 1), domain[0]), domain[1]);
      handle.setAttribute("transform", `translate(${scaleX.apply(alpha)} ${scaleY.apply(at)})`);
      handle.setAttribute("aria-valuenow", state.alpha);
      const text = auc === null ? "does not fit the scores" : `AUC ${number(auc, 3)}`;
      handle.setAttribute("aria-valuetext", `${percent(state.alpha)}: ${text}`);
      told.textContent = `${auc === null ? "–" : number(auc, 3)} at ${percent(state.alpha)}`;
      const side = alpha > 0.6 * last ? "end" : "start";
      // Below a curve that rises there is room, and above one that falls.
      place(told, alpha, at, [side === "end" ? 12 : 6, report.auc_pu < 0.5 ? -14 : 24], side);
      // Of two words in one place, that of the point is read.
      const hide = (node, of, y) => {
        const apart = [scaleX.apply(alpha) - scaleX.apply(of), scaleY.apply(at) - scaleY.apply(y)];
        const near = Math.abs(apart[0]) < 130 && Math.abs(apart[1]) < 24;
        node.setAttribute("visibility", near ? "hidden" : "visible");
      };
      hide(seen, 0, report.auc_pu);
      hide(limit, most, largest ?? 0);
    }

    const drag = (event) => {
      const { left: edge, width: wide } = svg.getBoundingClientRect();
      const at = ((event.clientX - edge) * Number(svg.getAttribute("width"))) / wide;
      set({ alpha: tidy(Math.round(scaleX.invert(at) / step) * step) });
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
      set({ alpha: tidy(ENDS[key] ?? state.alpha + STEPS[key] * step) });
    });
    move();
    const table = { columns: ["alpha", "auc"], rows: rows.map((row) => [row.x, row.y]) };
    return { svg, move, table };
  }

  parts.alpha = Object.freeze({ alphaPlot });
})();
