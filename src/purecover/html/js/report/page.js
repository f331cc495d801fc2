// The controls of a report page: sliders and fields, and all that is renewed when they move.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { short } = parts.frame;
  const { $ } = parts.document;
  const { OWN, state, grid, thresholds, alpha, threshold, nearest, whole, percent } = parts.state;
  const { fillMetrics, fillConfusion, fillHead, told } = parts.tables;
  const { mountAll, redraw } = parts.charts;
  const { flagged } = grid.rows; // fewer at higher thresholds

  /** The lowest threshold that flags no more than so many. */
  function reviewed(most) {
    const place = flagged.findIndex((number) => number <= most);
    return place < 0 ? thresholds.length - 1 : place;
  }

  function showControls(except) {
    const shown = {
      "alpha-number": percent(alpha()),
      threshold: state.threshold,
      "threshold-number": short(threshold()),
      review: Math.round(flagged[state.threshold]),
    };
    for (const [id, value] of Object.entries(shown)) if (except !== $(id)) $(id).value = value;
    $("threshold").setAttribute(
      "aria-valuetext",
      `score at or above ${short(threshold(), 4)}, ${whole(flagged[state.threshold])} flagged`,
    );
  }

  let waiting = false;
  let speaking = 0;

  function set(changes, source) {
    Object.assign(state, changes);
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      fillHead();
      fillMetrics();
      fillConfusion();
      showControls(source);
      redraw();
      $("back").hidden = state.alpha === OWN.alpha && state.threshold === OWN.threshold;
      clearTimeout(speaking);
      speaking = setTimeout(() => ($("live").textContent = told()), 600);
      document.documentElement.dataset.settled = String(
        Number(document.documentElement.dataset.settled ?? 0) + 1,
      );
    });
  }

  /** A number as people write it: 0.012, 0,012, 1.2 % or 1,500. */
  function parsed(text) {
    const [, digits, percent] = text.trim().match(/^([-+\d.,eE]+)\s*(%?)$/) ?? [];
    if (digits === undefined) return NaN;
    const plain = /,\d{3}(,|$)/.test(digits) ? digits.replaceAll(",", "") : digits.replace(",", ".");
    return Number(plain) / (percent ? 100 : 1);
  }

  /** A field takes effect as soon as it holds a number in its range, and when it is left it shows
   * the place that is set. */
  function typed(id, min, max, changes) {
    const input = $(id);
    input.addEventListener("input", () => {
      const value = parsed(input.value);
      const good = Number.isFinite(value) && value >= min && value <= max;
      input.setAttribute("aria-invalid", String(!good));
      if (good) set(changes(value), input);
    });
    input.addEventListener("change", () => {
      input.removeAttribute("aria-invalid");
      showControls();
    });
  }

  // 35 is 35 %, as the field has it.
  typed("alpha-number", 0, 100, (value) => ({
    alpha: nearest(grid.alphas, value > 1 ? value / 100 : value),
  }));
  typed("threshold-number", -Infinity, Infinity, (value) => ({
    threshold: nearest(thresholds, value),
  }));
  typed("review", 0, Infinity, (value) => ({ threshold: reviewed(value) }));
  Object.assign($("threshold"), { min: 0, max: thresholds.length - 1, step: 1 });
  $("threshold").addEventListener("input", () => set({ threshold: Number($("threshold").value) }));
  $("back").addEventListener("click", () => {
    set(OWN);
    document.querySelector(".handle").focus();
  });
  $("alpha-word").hidden = true;
  $("alpha-number").hidden = false;
  fillHead();
  showControls();
  mountAll(set);
  document.documentElement.dataset.settled = "0";
})();
