// What alpha, beta, threshold and costs are set to, and what follows from them. At the report's own
// values the page shows the numbers of the file; elsewhere those of the engine.
(() => {
  "use strict";

  const parts = globalThis.purecoverParts;
  const engine = globalThis.purecover;
  const { number, short } = parts.frame;
  const { payload } = parts.document;
  const { counts, report, settings } = payload;
  const OWN = Object.freeze({
    alpha: settings.alpha,
    beta: settings.beta,
    threshold: settings.threshold ?? Infinity,
    cost_fn: settings.cost_fn,
    cost_fp: settings.cost_fp,
  });
  const state = { ...OWN };
  const whole = (value) => Math.round(value).toLocaleString("en-US");
  const percent = (value) => `${Number((100 * value).toPrecision(value < 0.01 ? 2 : 3))} %`;
  const values = ({ alpha, beta }) => `alpha ${short(alpha, 4)} and beta ${short(beta, 4)}`;

  function view() {
    const moved = {
      proportions: state.alpha !== OWN.alpha || state.beta !== OWN.beta,
      threshold: state.threshold !== OWN.threshold,
      costs: state.cost_fn !== OWN.cost_fn || state.cost_fp !== OWN.cost_fp,
    };
    moved.any = moved.proportions || moved.threshold || moved.costs;
    // A threshold set on the page was not chosen on the data.
    const optimism = moved.threshold ? null : settings.optimism;
    const result =
      state.alpha < state.beta
        ? engine.recover(counts, { ...settings, ...state, optimism })
        : null;
    // The AUC is that of all scores, which the counts here may have fewer of.
    if (result) result.metrics.roc_auc = aucAt(state.alpha) ?? result.auc;
    // Alpha and beta of the report are the report's affair: its table and checks describe them.
    const fits =
      result !== null && (result.feasible || !(moved.proportions || report.contradicted));
    return { moved, result, fits, problem: moved.proportions ? problem(result) : "" };
  }

  /** The AUC at another alpha and the beta that is set; null where it leaves [0, 1]. */
  const aucAt = (alpha) => engine.auc(report.auc_pu, alpha, state.beta);

  /** Half the width of its interval there; null without intervals. */
  const halfAt = (alpha) =>
    payload.auc_pu_half === null ? null : payload.auc_pu_half / (state.beta - alpha);

  /** Why alpha and beta cannot be what they are set to; empty if they can. */
  function problem(result) {
    if (result === null) {
      return `Alpha must be below beta: with ${values(state)} the labeled rows would be no richer in positives than the unlabeled.`;
    }
    if (result.feasible) return "";
    const most = state.beta - Math.abs(2 * result.auc_pu - 1);
    const remedy =
      most >= 0
        ? `With this beta, alpha can be at most ${short(Math.floor(most * 1e4) / 1e4, 4)}.`
        : "No alpha fits with this beta.";
    return `These scores do not fit ${values(state)}: the AUC would be ${number(result.auc_direct, 3)}, outside [0, 1]. ${remedy}`;
  }

  /** Whether a metric or number is shown as a dash: its interval at the report's alpha and beta is
   * too wide for a value. At others, which are set on the page, it is what follows from them. */
  const hidden = (name) => !current.moved.proportions && report.hardly_known.includes(name);

  /** What was seen, without any correction. */
  const observed = engine.recover(counts, { ...settings, alpha: 0, beta: 1 });
  const current = view();
  const renew = () => Object.assign(current, view());

  parts.state = Object.freeze({
    OWN, state, current, observed, renew, values, whole, percent, aucAt, halfAt, hidden,
  });
})();
