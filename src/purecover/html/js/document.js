// What every page of ours has: its data, a choice of colors, and tables that can be scrolled.
(() => {
  "use strict";

  // What the scripts of a page share; each adds what it defines.
  const parts = (globalThis.purecoverParts ??= {});
  const $ = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const figure = (name) => document.querySelector(`figure[data-chart="${name}"]`);
  /** A packed column: each number is in the middle of a step; all bits set are no number. */
  function unpack({ step, first, bits, text }) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const counted = new (bits === 16 ? Uint16Array : Uint32Array)(bytes.buffer);
    const none = 2 ** bits - 1;
    return Array.from(counted, (n) => (n === none ? null : (first + n + 0.5) * step));
  }
  const payload = JSON.parse($("payload").textContent, (_, value) =>
    value?.bits ? unpack(value) : value,
  );

  /** The button that turns the colors: at first they are those the reader's system asks for. */
  function wireTheme() {
    const root = document.documentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
    const show = () => ($("theme").textContent = isDark() ? "Switch to light" : "Switch to dark");
    $("theme").addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      show();
    });
    dark.addEventListener("change", show);
    $("theme").hidden = false;
    show();
  }

  /** What can be scrolled can be reached with the keyboard. */
  function wireScrolling() {
    const look = (entries) => {
      for (const { target } of entries) {
        const over =
          target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
        if (over) target.tabIndex = 0;
        else target.removeAttribute("tabindex");
      }
    };
    const watch = new ResizeObserver(look);
    for (const node of all(".scroll, h1")) watch.observe(node);
  }

  /** On paper nothing is folded away. */
  function wirePrinting() {
    let folded = [];
    addEventListener("beforeprint", () => {
      folded = all("details:not([open])");
      for (const node of folded) node.open = true;
    });
    addEventListener("afterprint", () => {
      for (const node of folded) node.open = false;
    });
  }

  wireTheme();
  wirePrinting();
  wireScrolling();
  parts.document = Object.freeze({ $, all, figure, payload });
})();
