"""The document of a report: its summary, and a section for each question that it leaves open."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from purecover._shell import Shell
from purecover.documents import summary as answers
from purecover.documents.formats import (
    DASH,
    between,
    capitalized,
    number,
    percent,
    share,
    shares_within,
)
from purecover.documents.parts import (
    DRAWN,
    PRINTED,
    Chart,
    Document,
    Live,
    Note,
    Part,
    Row,
    Section,
    Table,
    facts,
    notes,
)
from purecover.documents.text import text_of
from purecover.recovery.metrics import METRICS, RecoveredConfusion, RecoveredMetrics
from purecover.report import derived

if TYPE_CHECKING:
    from purecover.checks.base import CheckResult
    from purecover.estimators.estimate import PriorEstimate
    from purecover.intervals.interval import Interval
    from purecover.report.results import PUReport

Curves: TypeAlias = dict[str, tuple[float, Any, Any]]
"""Area, x and y of curves by kind."""

_METHODS = {"reference": "comparison with real problems (reference)"}
"""Names of estimators that say nothing by themselves."""

_DISAGREEMENT = 0.1
"""Difference of two estimates from which on the estimators disagree."""


MARKS = {
    "labels at random": 0.5,
    "species records, other places": 0.62,
    "diabetes told by a doctor": 0.68,
    "species records, same places": 0.71,
}
"""Theta of real labels with known truth (``studies/results/real_labels.md``)."""


def report_document(
    report: PUReport, file: str | None = None, shell: Shell | None = None
) -> Document:
    """Return the document of a report, with the name of a file and commands about it."""
    made = (build(report) for build in SECTIONS)
    return Document(
        "Recovered performance",
        answers.headline(report),
        answers.summary(report, file, shell),
        [section for section in made if section.parts],
    )


def report_text(report: PUReport, file: str | None = None, shell: Shell | None = None) -> str:
    """Return what is printed of a report: its summary, and where more is."""
    more = "report.details(), report.to_html(FILE)" if file is None else "--details, --html FILE"
    return text_of([*answers.summary(report, file, shell), notes(f"More: {more}")])


def shell_text(
    found: Any, file: object, shell: Shell | None = None, *, details: bool = False
) -> str:
    """Return what a command prints of a report or a comparison of the scores in a file."""
    reports: Mapping[str, PUReport] = getattr(found, "reports", {})
    files = [file] if isinstance(file, str) else list(file)  # type: ignore[call-overload]
    names = ", ".join(Path(each).name for each in files)
    shell = shell or Shell(files[0] if len(files) == 1 else None)
    parts = [str(found) if reports else report_text(found, names, shell)]
    for name, one in (reports or {"": found}).items() if details else ():
        parts.append(f"{name}\n\n{one.details()}".lstrip())
    return "\n\n".join(parts)


def _curves(report: PUReport) -> Section:
    return Section(
        [Live("bandless"), *curve_charts(report), Chart("histogram")],
        "curves",
        "Curves",
        "ROC, precision-recall, scores",
        fold="open",
    )


def curve_charts(report: PUReport) -> list[Chart]:
    """The observed, recovered and true curves, with the threshold marked.

    Recovered ones that contradict the scores are left out.
    """
    roc, pr, truth = report.roc, report.pr, report.truth
    rates: Curves = {
        "observed": (report.auc_pu, roc.fpr_pu, roc.tpr_pu),
        "recovered": (math.nan if report.infeasible else report.auc, roc.fpr, roc.tpr),
    }
    pairs: Curves = {
        "observed": (pr.auc_pr_pu, pr.recall_pu, pr.precision_pu),
        "recovered": (pr.auc_pr, pr.recall, pr.precision),
    }
    if truth is not None:
        rates["true"] = truth.metrics["roc_auc"], truth.roc.fpr_pu, truth.roc.tpr_pu
        pairs["true"] = truth.metrics["auc_pr"], *truth.pr_curve
    if report.contradicted:
        del rates["recovered"], pairs["recovered"]

    mark = f"threshold {report.threshold:.4g}"
    fpr, recall, precision = (
        report.metrics.get(name, math.nan) for name in ("fpr", "recall", "precision")
    )
    labels, said = _labels(rates, "AUC", "roc_auc" in report.hardly_known)
    labels_pr, said_pr = _labels(pairs, "area", "auc_pr" in report.hardly_known)
    return [
        Chart(
            "roc",
            "ROC curve",
            f"True-positive rate against false-positive rate. {said}",
            ("False-positive rate", "True-positive rate"),
            [
                ("chance", "chance", [0, 1], [0.0, 1.0]),
                *((kind, labels[kind], x, y) for kind, (_, x, y) in rates.items()),
            ],
            report.roc_band,
            (fpr, recall, mark),
        ),
        Chart(
            "pr",
            "Precision-recall curve",
            f"Precision against recall. {said_pr}",
            ("Recall", "Precision"),
            [
                ("chance", f"chance (prior {pr.prior:.3g})", [0, 1], [pr.prior, pr.prior]),
                *((kind, labels_pr[kind], x, y) for kind, (_, x, y) in pairs.items()),
            ],
            report.pr_band,
            (recall, precision, mark),
        ),
    ]


def _labels(curves: Curves, word: str, unknown: bool) -> tuple[dict[str, str], str]:
    """Name curves with their areas, and say in one sentence what these are."""
    areas = {kind: number(area, 3) for kind, (area, *_) in curves.items()}
    if unknown:
        areas["recovered"] = "–"
    words = {kind: "corrected" if kind == "recovered" else kind for kind in curves}
    said = ", ".join(f"under the {words[kind]} one {area}" for kind, area in areas.items())
    labels = {kind: f"{words[kind]} ({word} {area})" for kind, area in areas.items()}
    return labels, f"Areas of the curves: {said}."


def _checks(report: PUReport) -> Section:
    quiet = [check for check in report.checks if not check.fired]
    listed = ", ".join(f"{check.code} {check.outcome}" for check in quiet)
    passed = [
        Row(f"{check.code} {check.title}", {"outcome": check.outcome, "message": check.message})
        for check in quiet
    ]
    columns = {"outcome": "Result", "message": "What was seen"}
    parts: list[Part] = [finding_table((check, check.severity) for check in report.findings)]
    if not report.findings:
        parts = [Note(f"None of the {len(quiet)} checks found a problem.")]
    parts += [
        Note(f"{listed}. {answers.RANDOM_LABELS_UNSEEN}.", skip=DRAWN),
        Table("Check", columns, passed, "sentences", skip=PRINTED),
    ]
    return Section(parts, "checks", "Checks", "what was found", fold="closed")


def finding_table(found: Iterable[tuple[CheckResult, str]]) -> Table:
    """Checks that found something, each with a word on how grave it is, or for whom."""
    rows = [
        Row(
            f"{check.code} {word}: {check.title}",
            {"message": capitalized(check.message), "hint": capitalized(check.hint)},
            name=check.code,
            kind=check.severity,
        )
        for check, word in found
    ]
    return Table("Check", {"message": "What was found", "hint": "What to do"}, rows, "sentences")


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
    table = Table("Assumption", {"why": "What is known"}, rows, "sentences")
    return Section([table], "assumptions", "Assumptions", "what the numbers depend on", "closed")


def _beta_words(report: PUReport) -> str:
    """Say where beta comes from."""
    found = report.estimation
    if found is not None and not found.beta_given:
        return "estimated" if found.beta_estimated else "labels taken as right"
    words = {"judged": "from judged rows and the scores", "scores": "from the scores"}
    return words.get(report.proportions._beta_from, "given")


def _estimation(report: PUReport) -> Section:
    parts: list[Part] = [Live("beta"), Chart("heat")]
    if report.estimation is not None:
        parts = [*_estimates(report, report.estimation), *parts]
    about = "estimators, AUC over alpha and beta"
    return Section(parts, "estimation", "Where alpha comes from", about, fold="closed")


def _estimates(report: PUReport, found: PriorEstimate) -> list[Part]:
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
        rows.append(Row(title, cells, kind="strong" if title == found.estimator else ""))
    columns = {"alpha": "Alpha", "beta": "Beta", "delta": "Beta − alpha"}
    remarks = [*found.notes]
    if bounds := ", ".join(f"{name} {words}" for name, words in found.allowed.items()):
        remarks.append(f"Whatever the shares of positives at both ends of the scores: {bounds}.")
    alphas = [pair[0] for pair in report.other_estimates.values()]
    if alphas and max(alphas) - min(alphas) > _DISAGREEMENT:
        remarks.append(
            "The other estimators, which assume that the highest scores are all positives, "
            "disagree: here their assumption is doubtful."
        )
    table = Table("Estimator", columns, rows)
    return [Note(sentence), table, *(Note(remark, "item") for remark in remarks)]


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
    remarks = [
        f"Precision and AUC-PR are of {answers.population(report)} ({report.proportions.scenario})."
    ]
    if how := interval_methods(report.intervals.items()):
        varied = dict.fromkeys(interval.varied for interval in report.intervals.values())
        remarks.append(f"Intervals vary {' or '.join(varied)}; {how}.")
    if whose := interval_scopes(report):
        remarks.append(whose)
    if set(report.metrics).intersection(report.hardly_known):
        remarks.append(DASH)
    parts: list[Part] = [
        Note(OBSERVED, "fine", skip=PRINTED),
        *answers.tables_by_kind(report, rows, headings, 4),
        Note(" ".join(remarks), "fine"),
    ]
    return Section(parts, "metrics", "All metrics", fold="closed")


OBSERVED = (
    "Observed: of labeled and unlabeled rows together, with every unlabeled one counted as a "
    "negative."
)


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
        "≥": {"tp": c.tp, "fp": c.fp, "flagged": c.flagged},
        "<": {"fn": c.fn, "tn": c.tn, "passed": c.fn + c.tn},
        "": {"positive": c.tp + c.fn, "negative": c.fp + c.tn, "all": c.flagged + c.fn + c.tn},
    }
    rows = []
    for sign, cells in numbers.items():
        title = f"Score {sign} {c.threshold:.6g}" if sign else "All"
        shown = {
            key: "–" if report.contradicted else _expected(c, key, value)
            for key, value in cells.items()
        }
        rows.append(Row(title, shown, sign, "cut" if sign else ""))
    caption = "Expected sums of weights" if report.counts.is_weighted else "Expected numbers"
    table = Table(
        f"{caption} among the unlabeled",
        {"true": "Positive", "false": "Negative", "both": "Both"},
        rows,
        head="Unlabeled",
        strong=("tp", "fp", "fn", "tn"),
        digits=0,
    )
    sentence = "" if report.contradicted else capitalized(f"{c}.")
    return Section(
        [Live("threshold"), Note(sentence, name="flagged"), table],
        "unlabeled",
        "At the threshold",
        "another threshold, review budget, confusion matrix",
        fold="closed",
    )


def _expected(confusion: RecoveredConfusion, name: str, value: float) -> str:
    """Write an expected number with its interval."""
    shown = "–" if name in confusion.hardly_known else f"{value:,.0f}"
    ends = confusion.between(name)
    return f"{shown} ({ends})" if ends else shown


def _hidden(report: PUReport) -> Section:
    """Metrics of all positives if labeled ones are the easier ones to score."""
    if not derived.has_hidden(report):
        return Section([])
    titles = {theta: f"{theta:.2f} {name}" for name, theta in MARKS.items()}
    titles |= {theta: f"{theta:.2f}" for theta in (0.6, 0.8, 0.9)}
    thetas = sorted(titles)
    found = report.hidden(thetas)
    columns = {"auc": "AUC", "recall": "Recall", "precision": "Precision", "n_missed": "Missed"}
    unknown = dict.fromkeys(answers.unknown_columns(report), "-")
    rows = []
    for i, theta in enumerate(thetas):
        cells = {name: number(float(getattr(found, name)[i]), 3) for name in columns}
        cells |= {"n_missed": f"{found.n_missed[i]:,.0f}"} | unknown
        rows.append(Row(titles[theta], cells))
    sentence = (
        "The report is for positives like the labeled ones. People often label the clear cases "
        "first; hidden positives then score lower. Theta is the probability that a labeled "
        "positive outranks a hidden one. At each theta these are the metrics of all positives, "
        "from rates that are neither repaired nor corrected for the choice of the threshold:"
    )
    note = (
        "Alpha, beta and the threshold are those of the report. Hidden positives are assumed to "
        "have normal scores of the same spread, after some increasing transformation. "
        "audit.judge_hidden estimates theta from judged rows. Values of theta with a name are "
        "those of real labels."
    )
    return Section(
        [
            Note(sentence),
            Table("Theta", columns, rows),
            Note(note, "fine"),
            *(Note(line, "item") for line in answers.tipping_lines(report)),
            Live("theta"),
            Chart("hidden"),
        ],
        "hidden-positives",
        "Hidden positives",
        "if the labeled positives are the easier ones",
        fold="closed",
    )


def _facts(report: PUReport) -> Section:
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
    return replace(facts(Data=data, Proportions=given, Settings=settings), fold="closed")


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


SECTIONS = (
    _curves,
    _metrics,
    _unlabeled,
    _estimation,
    _hidden,
    assumptions_section,
    _checks,
    _facts,
)
"""All sections of a report in their order; one without parts is left out."""
