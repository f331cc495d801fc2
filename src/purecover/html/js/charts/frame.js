// What all charts of a page have in common: looks, axes, legends, and words for numbers.
// Colors are variables of the style sheet, so that a chart follows the colors of the page.
(() => {
  "use strict";

  // What the scripts of a page share; each adds what it defines.
  const parts = (globalThis.purecoverParts ??= {});
  const SVG = "http://www.w3.org/2000/svg";
  const LEGEND_ROW = 20;
  const LOOKS = {
    recovered: { stroke: "var(--recovered)", strokeWidth: 2.5 },
    observed: { stroke: "var(--observed)", strokeWidth: 2, strokeDasharray: "6 4" },
    true: { stroke: "var(--true)", strokeWidth: 1.5 },
    chance: { stroke: "var(--chance)", strokeWidth: 1.5, strokeDasharray: "1.5 4" },
    labeled: { stroke: "var(--recovered)", strokeWidth: 2 },
    unlabeled: { stroke: "var(--observed)", strokeWidth: 2, strokeDasharray: "6 4" },
    positive: { stroke: "var(--true)", strokeWidth: 2, strokeDasharray: "8 3" },
    threshold: { stroke: "var(--ink)", strokeWidth: 1, strokeDasharray: "3 3" },
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

  // -- frame and legend ---------------------------------------------------------------------------

  /** Sizes for Plot: a frame of this height, margins, and below the axis rows of legend. */
  const room = (width, frame, { left, right, rows }) => {
    const [top, bottom] = [8, 56 + LEGEND_ROW * rows];
    return {
      width,
      height: top + frame + bottom,
      marginLeft: left,
      marginRight: right,
      marginTop: top,
      marginBottom: bottom,
    };
  };

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
    if (!legend.length) return svg;
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
    return element("path", { d: `M${left} ${y - 4}h28`, ...strokeOf(look) });
  }

  /** The attributes of a line that looks like one of Plot. */
  const strokeOf = (look) => ({
    fill: "none",
    stroke: look.stroke,
    "stroke-width": look.strokeWidth,
    ...(look.strokeDasharray ? { "stroke-dasharray": look.strokeDasharray } : {}),
  });

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

  /** A band between the y and the high of rows. */
  const area = (rows) =>
    Plot.areaY(rows, {
      x: "x",
      y1: "y",
      y2: "high",
      fill: BAND.fill,
      fillOpacity: BAND["fill-opacity"],
      clip: true,
    });

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

  parts.frame = Object.freeze({
    SVG,
    LEGEND_ROW,
    LOOKS,
    CYCLE,
    BAND,
    POINT,
    element,
    number,
    short,
    points,
    some,
    strokeOf,
    room,
    finish,
    axisX,
    axisY,
    grid,
    tip,
    area,
    remark,
  });
})();
