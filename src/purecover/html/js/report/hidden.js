// Hidden positives: metrics of all positives against theta, with a slider.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { number } = parts.frame;
  const { $, figure, payload } = parts.document;
  const { hidden } = payload;
  if (!hidden) return;
  const [low, high] = [hidden.theta[0], hidden.theta.at(-1)];
  const { nearest } = parts.state;
  let theta = 0.6;

  /** A column at the place that is nearest to theta; null if it is hardly known. */
  const valueOf = (name) => hidden[name]?.[nearest(hidden.theta, theta)] ?? null;

  const curve = (name, label, kind) => ({ kind, label, x: hidden.theta, y: hidden[name] });

  const point = () => ({ x: theta, y: valueOf("auc"), label: `theta ${number(theta, 2)}` });

  function spec() {
    return {
      title: "Metrics of all positives against theta",
      description: "AUC, recall and precision of all positives fall as theta rises.",
      x: "Theta",
      y: "",
      domain: [low, high],
      marks: hidden.marks,
      curves: [
        curve("auc", "AUC", "recovered"),
        curve("recall", "recall", "observed"),
        curve("precision", "precision", "true"),
      ].filter(({ y }) => y),
      point: point(),
      remark: "",
    };
  }

  const mounted = parts.figures.mount(figure("hidden"), "hidden positives", (width) =>
    parts.plots.curves(spec(), width),
  );

  function set(value, source) {
    theta = Math.min(Math.max(value, low), high);
    for (const id of ["theta", "theta-number"])
      if ($(id) !== source) $(id).value = number(theta, 2);
    const written = (name, digits) => (hidden[name] ? number(valueOf(name), digits) : "–");
    const shown = ["auc", "recall", "precision"].map((name) => written(name, 3));
    const missed = hidden.n_missed ? Math.round(valueOf("n_missed")).toLocaleString("en-US") : "–";
    $("if-hidden").textContent =
      `If labeled positives outrank hidden ones in ${Math.round(100 * theta)} % of pairs: AUC ${shown[0]}, ` +
      `recall ${shown[1]} and precision ${shown[2]} of all positives; ` +
      `about ${missed} are missed.`;
    mounted.shown?.move(point());
  }

  Object.assign($("theta"), { min: low, max: high, step: 0.01 });
  for (const id of ["theta", "theta-number"])
    $(id).addEventListener("input", (event) => {
      const value = Number(event.target.value.replace(",", "."));
      if (value >= low && value <= high) set(value, event.target);
    });
  set(theta);
})();
