// A chart in its figure: as wide as that is, with buttons that save it as SVG, PNG or CSV.
// What is saved has the light colors written in.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { SVG, element } = parts.frame;

  /** The drawing as a file of its own: light colors, white ground, nothing that hovers. */
  function standalone(svg) {
    const copy = svg.cloneNode(true);
    copy.querySelectorAll("[data-part=tip], [aria-label=tip]").forEach((node) => node.remove());
    const probe = document.querySelector(".light");
    const light = (color) => {
      probe.style.color = color;
      return getComputedStyle(probe).color;
    };
    for (const node of [copy, ...copy.querySelectorAll("*")]) {
      node.removeAttribute("style");
      node.removeAttribute("data-part");
      for (const { name, value } of [...node.attributes]) {
        if (value === "currentColor") node.setAttribute(name, light("var(--ink)"));
        if (value.startsWith("var(")) node.setAttribute(name, light(value));
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

  parts.figures = Object.freeze({ mount });
})();
