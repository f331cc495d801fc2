"""The details of a report: all metrics, alpha and beta, expected numbers, checks, settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from purecover.documents import summary as answers
from purecover.documents.formats import (
    DASH,
    between,
    capitalized,
    percent,
    share,
    shares_within,
)
from purecover.documents.hidden import applies, hidden_section
from purecover.documents.parts import Row, Section, Table, fact_tables
from purecover.recovery.metrics import METRICS, RecoveredConfusion, RecoveredMetrics

if TYPE_CHECKING:
    from purecover.estimators.estimate import PriorEstimate
    from purecover.intervals.interval import Interval
    from purecover.report.results import PUReport

_METHODS = {"reference": "comparison with real problems (reference)"}
"""Names of estimators that say nothing by themselves."""

_DISAGREEMENT = 0.1
"""Difference of two estimates from which on the estimators disagree."""


def sections(report: PUReport) -> dict[str, Section]:
    """All sections of a report by name, in the order in which they are written."""
    found = {"metrics": _metrics(report), "unlabeled": _unlabeled(report)}
    if report.estimation is not None:
        found["estimation"] = _estimation(report, report.estimation)
    if applies(report):
        found["hidden"] = hidden_section(report)
    return found | {
        "assumptions": assumptions_section(report),
        "checks": _checks(report),
        "facts": Section("Data and settings", _facts(report)),
    }


def _checks(report: PUReport) -> Section:
    rows = [
        Row(
            f"{check.code} {check.severity}: {check.title}",
            {"message": capitalized(check.message), "hint": capitalized(check.hint)},
        )
        for check in report.findings
    ]
    columns = {"message": "What was found", "hint": "What to do"}
    tables = [Table("Check", columns, rows, numbers=False)] if rows else []
    quiet = [check for check in report.checks if not check.fired]
    listed = ", ".join(f"{check.code} {check.outcome}" for check in quiet)
    sentence = "" if rows else f"None of the {len(quiet)} checks found a problem."
    return Section("Checks", tables, sentence, f"{listed}. {answers.RANDOM_LABELS_UNSEEN}.")


def assumptions_section(report: PUReport) -> Section:
    """The assumptions of a report, and what the data show of each."""
    clean = next((check for check in report.checks if check.topic == "clean labels"), None)
    # Where the user gave data for it, a check that passes is evidence as well.
    random = [
        capitalized(check.message)
        for check in report.checks
        if check.topic == "random labels"
        and (check.fired or (check.status == "quiet" and check.code != "PU006"))
    ]
    found, p = report.estimation, report.proportions
    pure = {
        "determined": "Not assumed: alpha was given.",
        "assumed": "Assumed.",
        "estimated": "Not assumed: similar real problems show the shares of positives there.",
    }
    doubt = clean.message if clean is not None and clean.fired else ""
    if found is not None and found.clean_probability is not None:
        doubt = f"Probability {found.clean_probability:.2f}; beta is {p.beta:.3f} in the mean."
    if report.truth is not None and report.truth.beta < p.beta == 1:
        doubt = f"By the truth given, {share(1 - report.truth.beta)} of the labels are wrong."
    if p._alpha_varies:
        pure["determined"] = f"Not assumed: alpha follows from {answers.sources_of_alpha(p.basis)}."
    statements = {
        "The labeled are a random sample of all positives (SCAR)": " ".join(random)
        or "Scores alone cannot show this; scar_test looks at features.",
        "The highest scores are all positives, the lowest all negatives": pure[report.state],
        "Every labeled row is positive (beta 1)": doubt
        or f"Beta is {p.beta:.4g} ({_beta_words(report)}).",
        "No row was used to train the model that scored it": report.scores_from
        or "Scores alone cannot show this.",
    }
    rows = [Row(statement, {"why": capitalized(why)}) for statement, why in statements.items()]
    return Section("Assumptions", [Table("Assumption", {"why": "What is known"}, rows, False)])


def _beta_words(report: PUReport) -> str:
    """Say where beta comes from."""
    found = report.estimation
    if found is not None and not found.beta_given:
        return "estimated" if found.beta_estimated else "labels taken as right"
    words = {"judged": "from judged rows and the scores", "scores": "from the scores"}
    return words.get(report.proportions._beta_from, "given")


def _estimation(report: PUReport, found: PriorEstimate) -> Section:
    sentence = f"Alpha and beta were estimated by {estimated_by(found)}."
    if found.intervals:
        coverage = next(iter(found.intervals.values())).confidence_level
        sentence += f" In brackets stand {percent(coverage)} intervals."
    rows = []
    used = (found.proportions.alpha, found.proportions.beta)
    for title, (alpha, beta) in {found.estimator: used, **report.other_estimates}.items():
        intervals, cells = found.intervals if title == found.estimator else {}, {}
        for key, value in {"alpha": alpha, "beta": beta, "delta": beta - alpha}.items():
            cells[key], within = shares_within(value, intervals.get(key))
            cells[key] += f" ({within})" if within else ""
        rows.append(Row(title, cells))
    columns = {"alpha": "Alpha", "beta": "Beta", "delta": "Beta − alpha"}
    notes = [*found.notes]
    if bounds := ", ".join(f"{name} {words}" for name, words in found.allowed.items()):
        notes.append(f"Whatever the shares of positives at both ends of the scores: {bounds}.")
    alphas = [pair[0] for pair in report.other_estimates.values()]
    if alphas and max(alphas) - min(alphas) > _DISAGREEMENT:
        notes.append("The other estimators, which assume that the highest scores are all")
        notes[-1] += " positives, disagree: here their assumption is doubtful."
    return Section("Alpha and beta", [Table("Estimator", columns, rows)], sentence, notes=notes)


def estimated_by(estimate: PriorEstimate) -> str:
    """The method of an estimate, and whether beta was given or assumed."""
    name = _METHODS.get(estimate.estimator, estimate.estimator)
    if estimate.beta_given:
        return f"{name}, beta given"
    return name if estimate.beta_estimated else f"{name}, labels taken as right"


def shown_metrics(metrics: RecoveredMetrics) -> list[str]:
    """Names of the metrics to show: all but an F-beta that repeats F1."""
    repeats_f1 = metrics.options.f_beta == 1 and "f1" in metrics
    return [name for name in metrics if not (repeats_f1 and name == "f_beta")]


def _metrics(report: PUReport) -> Section:
    """All metrics worth a row, a table for each kind."""
    headings = {
        "ranking": "Over all thresholds",
        "threshold": f"At the threshold: score ≥ {report.metrics.threshold:.6g}",
    }
    rows = [answers.metric_row(report, name, 4) for name in shown_metrics(report.metrics)]
    tables = answers.tables_by_kind(report, rows, headings)
    notes = [
        f"Precision and AUC-PR are of {answers.population(report)} ({report.proportions.scenario})."
    ]
    if how := interval_methods(report.intervals.items()):
        varied = dict.fromkeys(interval.varied for interval in report.intervals.values())
        notes.append(f"Intervals vary {' or '.join(varied)}; {how}.")
    if whose := interval_scopes(report):
        notes.append(whose)
    if set(report.metrics).intersection(report.hardly_known):
        notes.append(DASH)
    return Section("Metrics", tables, note=" ".join(notes))


def interval_scopes(report: PUReport) -> str:
    """Say which intervals are of these very rows; empty if there are no others or none."""
    scopes = {
        name: report.intervals[name].scope for name in report.metrics if name in report.intervals
    }
    if "rows" not in scopes.values():
        return ""
    but = any(
        scope == "population" and METRICS[name].kind == "threshold"
        for name, scope in scopes.items()
    )
    some = " that do not depend on the share of positives" if but else ""
    return (
        f"Intervals of metrics at the threshold{some} are of these very rows, as those of the "
        "numbers are; the others are of the population that the rows are a sample of."
    )


def interval_methods(intervals: Iterable[tuple[str, Interval]]) -> str:
    """Metrics by the method of their intervals; the most frequent method is named last."""
    methods: dict[str, dict[str, None]] = {}
    for metric, interval in intervals:
        if interval.method != "none":
            title = METRICS[metric].title if metric in METRICS else metric
            methods.setdefault(interval.method, {})[title] = None
    if not methods:
        return ""
    common = max(methods, key=lambda method: len(methods[method]))
    # Some titles have commas themselves.
    parts = [f"{' / '.join(t)}: {method}" for method, t in methods.items() if method != common]
    parts.append(f"the others: {common}" if parts else common)
    return "; ".join(parts)


def _unlabeled(report: PUReport) -> Section:
    """Expected numbers among the unlabeled at the threshold."""
    c = report.confusion
    numbers: dict[str, dict[str, float]] = {
        f"Score ≥ {c.threshold:.6g}": {"tp": c.tp, "fp": c.fp, "flagged": c.flagged},
        f"Score < {c.threshold:.6g}": {"fn": c.fn, "tn": c.tn, "passed": c.fn + c.tn},
        "All": {"positive": c.tp + c.fn, "negative": c.fp + c.tn, "all": c.flagged + c.fn + c.tn},
    }
    rows = [
        Row(
            title,
            {
                key: "–" if report.contradicted else _expected(c, key, value)
                for key, value in cells.items()
            },
        )
        for title, cells in numbers.items()
    ]
    caption = "Expected sums of weights" if report.counts.is_weighted else "Expected numbers"
    columns = {"true": "Positive", "false": "Negative", "both": "Both"}
    table = Table(f"{caption} among the unlabeled", columns, rows)
    return Section("At the threshold", [table], "" if report.contradicted else capitalized(f"{c}."))


def _expected(confusion: RecoveredConfusion, name: str, value: float) -> str:
    """Write an expected number with its interval."""
    shown = "–" if name in confusion.hardly_known else f"{value:,.0f}"
    ends = confusion.between(name)
    return f"{shown} ({ends})" if ends else shown


def _facts(report: PUReport) -> list[Table]:
    counts, truth = report.counts, report.truth
    data = answers.sizes(counts)
    data["Bins of scores" if counts.is_binned else "Distinct scores"] = f"{counts.n_thresholds:,}"
    if report.scores_from is not None:
        data["Scores of"] = report.scores_from
    data |= {f"{name} of the exact scores": text for name, text in binning_bounds(report)}
    shares = {name: f"{getattr(report.proportions, name):.4g}" for name in ("alpha", "beta")}
    given = proportions_facts(report, shares)
    if truth is not None:
        given |= {"True alpha": f"{truth.alpha:.4g}", "True beta": f"{truth.beta:.4g}"}
    chosen = "the caller" if report.threshold_chosen else "Youden index"
    if report.bootstrap is not None and report.bootstrap.optimism is not None:
        chosen += ", metrics there corrected for the choice"
    settings = {
        "Threshold": f"{report.metrics.threshold:.6g}",
        "Threshold chosen by": chosen,
        "Repair of the ROC curve": report.roc.repair,
        "Repair of the precision-recall curve": report.pr.repair,
        "Area under precision-recall": report.pr.area,
        "Raw points outside [0, 1]": f"{report.roc.n_outside:,} of {report.roc.fpr_raw.size:,}",
    }
    if report.bootstrap is not None:
        settings["Resamples"] = resamples(report.bootstrap.n_resamples, report.random_state)
        if report.bootstrap.n_rejected:
            settings["Resamples without an estimate"] = f"{report.bootstrap.n_rejected:,}"
    return fact_tables(Data=data, Proportions=given, Settings=settings)


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
        "Scenario": report.proportions.scenario,
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
    areas = {"Observed AUC": bounds.auc_pu, "AUC": auc}
    return [(name, between(pair)) for name, pair in areas.items() if pair is not None]
