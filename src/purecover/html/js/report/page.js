// The controls of a report page: sliders and fields, and all that is renewed when they move.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { short } = parts.frame;
  const { $, payload } = parts.document;
  const { OWN, state, current, observed, renew, whole, percent } = parts.state;
  const { fillMetrics, fillConfusion, fillHead, told } = parts.tables;
  const { mountAll, redraw } = parts.charts;
  const MAX_COST = 1e12; // numbers of more digits would not fit into their cells
  const COSTS = { "cost-fn": "cost_fn", "cost-fp": "cost_fp" };
  const { thresholds } = payload.counts;
  // Sliders run from low to high scores; the counts from high to low.
  const last = thresholds.length - 1;

  // How many unlabeled are flagged at each threshold.
  let sum = 0;
  const flaggedAt = payload.counts.unlabeled.map((count) => (sum += count));

  /** The lowest threshold that flags no more than so many. */
  function reviewed(most) {
    let at = 0;
    while (at < last && flaggedAt[at + 1] <= most) at++;
    return thresholds[at];
  }

  function nearest(value) {
    // Far below all of them every distance is rounded to the same number.
    let best = value <= thresholds[last] ? last : 0;
    for (let i = 1; i <= last; i++)
      if (Math.abs(thresholds[i] - value) < Math.abs(thresholds[best] - value)) best = i;
    return thresholds[best];
  }

  function showControls(except) {
    const flagged = (current.result ?? observed).confusion.flagged;
    const shown = {
      "alpha-number": percent(state.alpha),
      beta: state.beta,
      "beta-number": short(state.beta, 4),
      threshold: last - thresholds.indexOf(nearest(state.threshold)),
      "threshold-number": short(state.threshold),
      review: Math.round(flagged),
    };
    for (const [id, name] of Object.entries(COSTS)) shown[id] = short(state[name]);
    for (const [id, value] of Object.entries(shown)) if (except !== $(id)) $(id).value = value;
    $("beta").setAttribute("aria-valuetext", percent(state.beta));
    $("threshold").setAttribute(
      "aria-valuetext",
      `score at or above ${short(state.threshold, 4)}, ${whole(flagged)} flagged`,
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
      renew();
      fillHead();
      fillMetrics();
      fillConfusion();
      showControls(source);
      redraw();
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

  /** A field takes effect as soon as it holds a number in its range, and is tidied when it is left. */
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
  typed("alpha-number", 0, 99.9, (value) => {
    const alpha = value > 1 ? value / 100 : value;
    return { alpha: Math.min(alpha, 0.999) };
  });
  typed("beta-number", 0.001, 1, (beta) => ({ beta }));
  typed("threshold-number", -Infinity, Infinity, (value) => ({ threshold: nearest(value) }));
  typed("review", 0, Infinity, (value) => ({ threshold: reviewed(value) }));
  for (const [id, name] of Object.entries(COSTS))
    typed(id, 0, MAX_COST, (value) => ({ [name]: value }));
  Object.assign($("beta"), { min: 0.001, max: 1, step: 0.001 });
  $("beta").addEventListener("input", () => set({ beta: Number($("beta").value) }));
  Object.assign($("threshold"), { min: 0, max: last, step: 1 });
  $("threshold").addEventListener("input", () =>
    set({ threshold: thresholds[last - Number($("threshold").value)] }),
  );
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
