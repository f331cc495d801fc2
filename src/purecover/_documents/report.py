"""The sections of a report: checks, assumptions, estimates, metrics, flagged rows, settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from purecover._documents.formats import (
    WITHHELD,
    between,
    capitalized,
    ends,
    number,
    percent,
    share,
    share_digits,
)
from purecover._documents.headline import (
    RANDOM_LABELS_UNSEEN,
    auc_as_estimated,
    flagged_sentence,
    positives_interval,
    target_of,
)
from purecover._documents.parts import Row, Section, Table, fact_tables
from purecover.recovery.metrics import METRICS, MetricOptions, RecoveredMetrics

if TYPE_CHECKING:
    from purecover.counts import ScoreCounts
    from purecover.estimators.estimate import PriorEstimate
    from purecover.intervals.interval import Interval
    from purecover.report.results import PUReport


def sections(report: PUReport) -> dict[str, Section]:
    """All sections of a report by name, in the order in which they are written."""
    found = {"checks": _checks(report), "assumptions": assumptions_section(report)}
    if report.estimation is not None:
        found["estimation"] = _estimation(report.estimation)
    return found | {
        "metrics": _metrics(report),
        "unlabeled": _unlabeled(report),
        "facts": Section("Data, assumptions, settings", _facts(report)),
    }


def _checks(report: PUReport) -> Section:
    rows = [
        Row(
            f"{check.code} {check.severity}: {check.title}",
            {"message": check.message, "hint": check.hint},
        )
        for check in report.findings
    ]
    if not rows:
        n = len(report.checks)
        quiet = f"None of the {n} checks found a problem. {RANDOM_LABELS_UNSEEN}."
        return Section("Checks", [], quiet)
    columns = {"message": "What was found", "hint": "What to do"}
    return Section("Checks", [Table("Check", columns, rows, numbers=False)])


def assumptions_section(report: PUReport) -> Section:
    """The assumptions of a report, their verdicts, and the AUC without them."""
    rows = [
        Row(each.statement, {"verdict": each.verdict, "why": each.evidence, "auc": each.without})
        for each in report.assumptions
    ]
    columns = {"verdict": "Verdict", "why": "Why", "auc": "AUC otherwise"}
    return Section("What the figures rest on", [Table("Assumption", columns, rows, numbers=False)])


# Names of estimators that say nothing by themselves.
_METHODS = {"reference": "comparison with real problems (reference)"}


def _estimation(found: PriorEstimate) -> Section:
    p, name = found.proportions, _METHODS.get(found.estimator, found.estimator)
    sentence = f"Alpha and beta were not given; they were estimated from the scores by {name}" + (
        "." if found.beta_estimated or p.beta != 1 else ", with labels taken as clean."
    )
    if found.beta_given:
        sentence = (
            f"Beta was given; alpha was estimated from the scores, as a share of it, by {name}."
        )
    if found.intervals:
        coverage = next(iter(found.intervals.values())).confidence_level
        sentence += f" In brackets stand {percent(coverage)} intervals."
    rows = []
    for title, alpha, beta, intervals in estimates(found):
        values = {"alpha": alpha, "beta": beta, "delta": beta - alpha}
        cells = {
            key: f"{number(value)} {ends(intervals.get(key))}".rstrip()
            for key, value in values.items()
        }
        rows.append(Row(title, cells))
    columns = {"alpha": "Alpha", "beta": "Beta", "delta": "Beta − alpha"}
    notes = [*if_verified(found), *found.notes]
    return Section("Alpha and beta", [Table("Estimator", columns, rows)], sentence, notes=notes)


def estimates(
    found: PriorEstimate,
) -> Iterator[tuple[str, float, float, Mapping[str, Interval]]]:
    """Name, alpha, beta and intervals of the estimator in use, then of the other estimators."""
    yield found.estimator, found.proportions.alpha, found.proportions.beta, found.intervals
    for name, pair in found.others.items():
        yield name, *pair, {}


def estimated_by(estimate: PriorEstimate) -> str:
    """The method of an estimate, and whether beta was given or assumed."""
    name = _METHODS.get(estimate.estimator, estimate.estimator)
    if estimate.beta_given:
        return f"{name}, beta given"
    return name if estimate.beta_estimated else f"{name}, labels taken as clean"


def estimated_shares(estimate: PriorEstimate) -> str:
    """Alpha and beta with their intervals, if there are any."""
    shares = []
    for name in ("alpha", "beta"):
        interval = estimate.intervals.get(name)
        value = getattr(estimate.proportions, name)
        d = share_digits(value)
        within = "" if interval is None else f" [{interval.low:.{d}f}, {interval.high:.{d}f}]"
        shares.append(f"{name} {value:.{d}f}{within}")
    return ", ".join(shares)


def if_verified(estimate: PriorEstimate) -> list[str]:
    """By how much verified labels would narrow the interval of alpha, if that is known."""
    clean, now = estimate.alpha_clean, estimate.intervals.get("alpha")
    if clean is None or now is None or not now.width:
        return []
    d = share_digits(estimate.proportions.alpha)
    saved = 1 - (clean[1] - clean[0]) / now.width
    words = f"{100 * saved:.0f} % narrower" if saved >= 0.005 else "no narrower"
    within = f"[{clean[0]:.{d}f}, {clean[1]:.{d}f}], an interval {words}"
    return [f"Were the labels verified? If so, pass beta=1: alpha is then in {within}."]


def shown_metrics(metrics: RecoveredMetrics) -> list[str]:
    """Names of the metrics to show: all but an F-beta that repeats F1."""
    repeats_f1 = metrics.options.f_beta == 1 and "f1" in metrics
    return [name for name in metrics if not (repeats_f1 and name == "f_beta")]


_OF_PROBABILITIES = ("brier", "log_loss", "calibration_slope", "calibration_intercept", "ece")


def requested_metrics(options: MetricOptions) -> list[str]:
    """Metrics whose parameters the caller has set."""
    requested = {
        "f_beta": options.f_beta != 1,
        "cost": (options.cost_fn, options.cost_fp) != (1, 1),
        "precision_at_k": options.top_k is not None,
        "recall_at_k": options.top_k is not None,
        **dict.fromkeys(_OF_PROBABILITIES, options.probabilities),
        "net_benefit": options.probabilities,
    }
    return [name for name, wanted in requested.items() if wanted]


def title_of(name: str, options: MetricOptions) -> str:
    """The title of a metric with its parameters."""
    title = METRICS[name].title
    parameters = {
        "f_beta": f" (beta {options.f_beta:g})",
        "cost": f" (miss {options.cost_fn:g}, false alarm {options.cost_fp:g})",
        "net_benefit": f" (flagged from {options.threshold_probability:g})",
    }
    if name == "partial_auc":
        return f"{title.removesuffix(')')}, fpr to {options.max_fpr:g})"
    return title + parameters.get(name, "")


def confidence_level(report: PUReport) -> float | None:
    """The confidence level, if there are intervals."""
    return next((interval.confidence_level for interval in report.intervals.values()), None)


def metric_row(report: PUReport, name: str) -> Row:
    """One metric: observed, recovered, and its interval and true value if there are any.

    An AUC that alpha and beta do not allow has no value.
    """
    infeasible = name == "roc_auc" and report.infeasible
    cells = {
        "observed": number(report.metrics.observed[name]),
        "recovered": "infeasible" if infeasible else number(report.metrics[name]),
    }
    if report.contradicted:
        cells["recovered"] = WITHHELD
    if report.intervals:
        cells["interval"] = "" if infeasible else ends(report.intervals.get(name))
    if report.truth is not None:
        cells["true"] = number(report.truth.metrics[name])
    title = title_of(name, report.metrics.options)
    if name == "roc_auc" and auc_as_estimated(report) is not None:
        title += ", cautious"
    return Row(title, cells, name, METRICS[name].kind)


def metric_columns(report: PUReport) -> dict[str, str]:
    """Heads of the columns of metrics."""
    columns = {"observed": "Observed", "recovered": "Recovered"}
    if (coverage := confidence_level(report)) is not None:
        columns["interval"] = f"{percent(coverage)} interval"
    return columns if report.truth is None else columns | {"true": "True"}


def _metrics(report: PUReport) -> Section:
    """All metrics worth a row, a table for each kind."""
    options = report.metrics.options
    headings = {
        "ranking": "Over all thresholds",
        "threshold": f"At the threshold: score ≥ {report.metrics.threshold:.6g}",
        "top_k": f"Among the {options.top_k or 0:,} highest unlabeled scores",
        "probability": "Of scores as probabilities of the true class",
    }
    columns = metric_columns(report)
    rows = [metric_row(report, name) for name in shown_metrics(report.metrics)]
    tables = [
        Table(headings[kind], columns, list(own)) for kind, own in groupby(rows, lambda r: r.kind)
    ]
    notes = [f"{capitalized(population_note(report))}."]
    if how := interval_methods(report.intervals.items()):
        varied = dict.fromkeys(interval.varied for interval in report.intervals.values())
        notes.append(f"Intervals vary {' or '.join(varied)}; {how}.")
    if (direct := auc_as_estimated(report)) is not None:
        otherwise = f"if alpha and beta are as estimated it is {direct:.4f}"
        notes.insert(0, f"The AUC is cautious; {otherwise}, and all other figures take them so.")
    return Section("Metrics", tables, note=" ".join(notes))


def interval_methods(intervals: Iterable[tuple[str, Interval]]) -> str:
    """Metrics by the method of their intervals; the most frequent method is named last."""
    methods: dict[str, dict[str, None]] = {}
    for metric, interval in intervals:
        if interval.method != "none":
            methods.setdefault(interval.method, {})[METRICS[metric].title] = None
    if not methods:
        return ""
    common = max(methods, key=lambda method: len(methods[method]))
    # Some titles have commas themselves.
    parts = [f"{' / '.join(t)}: {method}" for method, t in methods.items() if method != common]
    parts.append(f"the others: {common}" if parts else common)
    return "; ".join(parts)


def population(report: PUReport) -> str:
    """The rows that precision refers to."""
    target = target_of(report)
    named = {
        "deployment": "rows like the unlabeled",
        "pooled": "labeled and unlabeled rows together",
    }
    return named.get(str(target), f"a population with {share(report.metrics.prior)} positives")


def population_note(report: PUReport) -> str:
    """A sentence on the rows that precision refers to and on the scenario."""
    counts, target = report.counts, target_of(report)
    size = {"deployment": counts.n_unlabeled, "pooled": counts.n_unlabeled + counts.n_labeled}
    rows = ""
    if isinstance(target, str):
        things = "in total weight" if counts.is_weighted else "rows"
        rows = f" ({size[target]:,.10g} {things}, {share(report.metrics.prior)} positive)"
    return f"precision and AUC-PR are of {population(report)}{rows}; {_scenario_meaning(report)}"


def _scenario_meaning(report: PUReport) -> str:
    if report.proportions.scenario == "censoring":
        return "the labeled rows are part of one sample (censoring)"
    return "the labeled rows were collected apart (case-control)"


def _unlabeled(report: PUReport) -> Section:
    """Expected numbers among the unlabeled at the threshold."""
    c = report.confusion
    numbers: dict[str, dict[str, float]] = {
        f"Score ≥ {c.threshold:.6g}": {"tp": c.tp, "fp": c.fp, "flagged": c.flagged},
        f"Score < {c.threshold:.6g}": {"fn": c.fn, "tn": c.tn, "passed": c.fn + c.tn},
        "All": {
            "positive": c.tp + c.fn,
            "negative": c.fp + c.tn,
            "all": c.flagged + c.fn + c.tn,
        },
    }
    rows = [
        Row(title, {key: f"{value:,.0f}{c.between(key)}" for key, value in cells.items()})
        for title, cells in numbers.items()
    ]
    rows[-1].cells["positive"] += positives_interval(report)
    caption = "Expected sums of weights" if report.counts.is_weighted else "Expected numbers"
    columns = {"positive": "Positive", "negative": "Negative", "both": "Both"}
    sentence = flagged_sentence(report)
    if report.contradicted:
        rows = [Row(row.title, dict.fromkeys(row.cells, WITHHELD)) for row in rows]
        sentence = ""
    table = Table(f"{caption} among the unlabeled", columns, rows)
    return Section("At the threshold", [table], sentence)


def _facts(report: PUReport) -> list[Table]:
    counts, truth = report.counts, report.truth
    data = sizes(counts)
    data["Bins of scores" if counts.is_binned else "Distinct scores"] = f"{counts.n_thresholds:,}"
    if report.scores_from is not None:
        data["Scores of"] = report.scores_from
    data |= {f"{name} of the exact scores": text for name, text in binning_bounds(report)}
    shares = {name: f"{getattr(report.proportions, name):.4g}" for name in ("alpha", "beta")}
    assumptions = proportions_facts(report, shares)
    if truth is not None:
        assumptions |= {"True alpha": f"{truth.alpha:.4g}", "True beta": f"{truth.beta:.4g}"}
    settings = {
        "Threshold": f"{report.metrics.threshold:.6g}",
        "Threshold chosen by": "the caller" if report.threshold_chosen else "Youden index",
        "Repair of the ROC curve": report.roc.repair,
        "Repair of the precision-recall curve": report.pr.repair,
        "Area under precision-recall": report.pr.area,
        "Raw points outside [0, 1]": f"{report.roc.n_outside:,} of {report.roc.fpr_raw.size:,}",
    }
    if report.bootstrap is not None:
        settings["Resamples"] = resamples(report.bootstrap.n_resamples, report.random_state)
        if report.bootstrap.n_rejected:
            settings["Draws without an estimate"] = f"{report.bootstrap.n_rejected:,}"
    return fact_tables(Data=data, Assumptions=assumptions, Settings=settings)


def sizes(counts: ScoreCounts) -> dict[str, str]:
    """Numbers of labeled, unlabeled and known negative rows, or sums of their weights."""
    weighted = " (sum of weights)" if counts.is_weighted else ""
    found = {"Labeled": counts.n_labeled, "Unlabeled": counts.n_unlabeled}
    if counts.n_negative:
        found["Known negatives"] = counts.n_negative
    return {name: f"{size:,.10g}{weighted}" for name, size in found.items()}


def proportions_facts(
    report: PUReport, shares: Mapping[str, str], estimated_from: str | None = None
) -> dict[str, str]:
    """Alpha and beta, their origin, and the population, as names and values."""
    origin = report.proportions.origin
    if report.estimation is not None:
        origin = f"estimated by {estimated_by(report.estimation)}"
    return {
        "Share of positives among the unlabeled, alpha": shares["alpha"],
        "Share of positives among the labeled, beta": shares["beta"],
        "Where they come from": origin,
        **({} if estimated_from is None else {"Estimated once, from": estimated_from}),
        "How the data were drawn": _scenario_meaning(report),
        "Share of positives where precision applies": f"{report.metrics.prior:.4g}",
    }


def resamples(n_resamples: int, seed: int | None) -> str:
    """The number of replicates and their seed."""
    return f"{n_resamples:,}" + ("" if seed is None else f", seed {seed}")


def binning_bounds(report: PUReport) -> list[tuple[str, str]]:
    """Bounds of the areas of the exact scores where they were counted in bins; else empty."""
    bounds = report.bounds
    if bounds is None:
        return []
    auc = None if report.infeasible else bounds.auc
    areas = {"Observed AUC": bounds.auc_pu, "AUC": auc, "AUC-PR (isotonic)": bounds.auc_pr}
    return [(name, between(pair)) for name, pair in areas.items() if pair is not None]
