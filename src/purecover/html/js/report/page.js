// The controls of a report page: sliders and fields, and all that is renewed when they move.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const { short } = parts.frame;
  const { $, all, payload } = parts.document;
  const { OWN, state, current, observed, renew, whole, percent } = parts.state;
  const { fillMetrics, fillConfusion, fillPanel } = parts.tables;
  const { mountAll, redraw } = parts.charts;
  const MAX_COST = 1e12; // figures of more digits would not fit into their cells
  const { thresholds } = payload.counts;
  // Sliders run from low to high scores; the counts from high to low.
  const last = thresholds.length - 1;

  // Alpha runs over what may fit; where that spans decades, by ratios.
  const { alphas, logarithmic } = payload.sensitivity;
  const onSlider = (name, value) =>
    name === "alpha" && logarithmic ? Math.log10(Math.max(value, alphas[0])) : value;
  const offSlider = (name, value) =>
    name === "alpha" && logarithmic ? Number((10 ** value).toPrecision(3)) : value;
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
    for (const name of ["alpha", "beta"]) {
      $(name).value = onSlider(name, state[name]);
      $(name).setAttribute("aria-valuetext", percent(state[name]));
      if (except !== $(`${name}-number`)) $(`${name}-number`).value = short(state[name], 4);
    }
    $("threshold").value = last - thresholds.indexOf(nearest(state.threshold));
    const flagged = (current.result ?? observed).confusion.flagged;
    $("threshold").setAttribute(
      "aria-valuetext",
      `score at or above ${short(state.threshold, 4)}, ${whole(flagged)} flagged`,
    );
    if (except !== $("threshold-number")) $("threshold-number").value = short(state.threshold);
    if (except !== $("review")) $("review").value = Math.round(flagged);
    for (const [id, name] of [
      ["cost-fn", "cost_fn"],
      ["cost-fp", "cost_fp"],
    ]) {
      if ($(id) && except !== $(id)) $(id).value = short(state[name]);
    }
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
      fillMetrics();
      fillConfusion();
      fillPanel();
      showControls(source);
      redraw();
      clearTimeout(speaking);
      speaking = setTimeout(() => {
        $("live").textContent = $("state").textContent;
      }, 600);
      document.documentElement.dataset.settled = String(
        Number(document.documentElement.dataset.settled ?? 0) + 1,
      );
    });
  }

  function wire() {
    const ranges = { alpha: [0, 0.999], beta: [0.001, 1] };
    for (const [name, [min, max]] of Object.entries(ranges)) {
      Object.assign($(name), { min, max, step: 0.001 });
      $(name).addEventListener("input", () =>
        set({ [name]: offSlider(name, Number($(name).value)) }),
      );
      typed(`${name}-number`, (value) => set({ [name]: value }, $(`${name}-number`)), min, max);
    }
    const most = Math.min(alphas[alphas.length - 1], 0.999);
    Object.assign(
      $("alpha"),
      logarithmic
        ? { min: Math.log10(alphas[0]), max: Math.log10(most), step: "any" }
        : { max: Math.max(most, OWN.alpha) },
    );
    Object.assign($("threshold"), { min: 0, max: last, step: 1 });
    $("threshold").addEventListener("input", () =>
      set({ threshold: thresholds[last - Number($("threshold").value)] }),
    );
    typed(
      "threshold-number",
      (value) => set({ threshold: nearest(value) }, $("threshold-number")),
      -Infinity,
      Infinity,
    );
    typed("review", (value) => set({ threshold: reviewed(value) }, $("review")), 0, Infinity);
    for (const [id, name] of [
      ["cost-fn", "cost_fn"],
      ["cost-fp", "cost_fp"],
    ]) {
      if ($(id)) typed(id, (value) => set({ [name]: value }, $(id)), 0, MAX_COST);
    }
    $("back").addEventListener("click", () => {
      set(OWN);
      $("alpha").focus();
    });
    $("panel").addEventListener("submit", (event) => event.preventDefault());
    for (const costs of all(".costs")) costs.hidden = false;
    $("panel").hidden = false;
  }

  /** A number as people write it: 0.012, 0,012, 1.2 % or 1,500. */
  function parsed(text) {
    const [, digits, percent] = text.trim().match(/^([-+\d.,eE]+)\s*(%?)$/) ?? [];
    if (digits === undefined) return NaN;
    const plain = /,\d{3}(,|$)/.test(digits) ? digits.replaceAll(",", "") : digits.replace(",", ".");
    return Number(plain) / (percent ? 100 : 1);
  }

  /** A field takes effect as soon as it holds a number in its range, and is tidied when it is left. */
  function typed(id, use, min, max) {
    const input = $(id);
    input.addEventListener("input", () => {
      const value = parsed(input.value);
      const good = Number.isFinite(value) && value >= min && value <= max;
      input.setAttribute("aria-invalid", String(!good));
      if (good) use(value);
    });
    input.addEventListener("change", () => {
      input.removeAttribute("aria-invalid");
      showControls();
    });
  }

  wire();
  fillPanel();
  showControls();
  mountAll(set);
  document.documentElement.dataset.settled = "0";
})();
