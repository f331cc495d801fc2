"""The summary of a report: at most 25 lines with one AUC, one alpha and one interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from purecover._shell import Shell
from purecover.documents.formats import (
    DASH,
    WIDE,
    bounded,
    capitalized,
    ends,
    from_to,
    number,
    percent,
    precise,
    share,
    shares_within,
)
from purecover.documents.parts import (
    Caution,
    Command,
    Headline,
    Live,
    Note,
    Part,
    Row,
    Section,
    Table,
)
from purecover.recovery.hidden import LARGEST_THETA
from purecover.recovery.metrics import METRICS, requested_metrics, target_of, title_of
from purecover.recovery.rates import rounded_down
from purecover.report import derived

if TYPE_CHECKING:
    from purecover.checks.base import CheckResult
    from purecover.counts import ScoreCounts
    from purecover.proportions import Basis
    from purecover.report.results import PUReport

RARE = 0.1
"""Share of positives below which precision is more informative than the AUC."""

NO_FINDING = "No check found a problem."
RANDOM_LABELS_UNSEEN = "No check can see whether the labeled are a random sample of all positives"
SCOPE = "Scope: positives like the labeled ones."
_OVERALL = ("roc_auc", "auc_pr")
_AT_THRESHOLD = ("recall", "specificity", "precision", "f1")
_MOST_CAUTIONS = 3
_OPEN = 0.5
"""Intervals of precision that are wider say hardly anything."""

PRICES = {
    "ten-rows": (
        "judge ten high-scoring rows",
        "purecover judge FILE",
        "audit.draw(scores, labeled)",
    ),
    "labeled-rows": (
        "judge ten labeled rows, too",
        "purecover audit sample FILE --n-labeled=10",
        "audit.draw(scores, labeled, n_labeled=10)",
    ),
    "clean-labels": ("all labels are verified", "--beta 1", "beta=1"),
    "pure-top": (
        "the highest scores are all positives",
        "--assume pure-top",
        'assume=["pure-top"]',
    ),
    "more-rows": ("four times as many rows", "", ""),
    "flagged-rows": (
        "judge ten flagged rows",
        "purecover judge FILE --figure=precision --threshold={threshold}",
        'audit.draw(scores, labeled, figure="precision", threshold={threshold})',
    ),
}
"""Ways to narrow the interval of the AUC, the last of precision: in words, shell and Python."""

LIMIT = ("a limit of alpha that you know", "--alpha 0..LIMIT", "alpha=(0, LIMIT)")
"""The same, of an interval that only the limit decides."""


def summary(report: PUReport, file: str | None = None, shell: Shell | None = None) -> list[Section]:
    """Return the answer, with the name of a file and commands about it."""
    data = size_line(report.counts) if file is None else f"{file}: {size_line(report.counts)}"
    if report.scores_from is not None:
        data += f"; scores of {report.scores_from}"
    answer: list[Part] = [Live("state")]
    if not report.contradicted:
        alpha, *others, scope = answer_lines(report)
        answer += [Note(alpha, skip=("page",)), *map(Note, others), Note(scope, "fine")]
    return [
        Section([Note(data, skip=("page",))]),
        Section(cautions(report)),
        Section([*metric_tables(report), Live("alpha")], side=True),
        Section(answer),
        *price_sections(report, shell),
    ]


def headline(report: PUReport) -> Headline:
    """Return the first sentences of a page: the AUC, alpha, the scope, and cautions."""
    if report.contradicted:
        return Headline([f"Observed AUC {report.auc_pu:.3f}."], [], cautions(report))
    interval = report.intervals.get("roc_auc")
    auc = "-" if "roc_auc" in report.hardly_known else precise(report.auc, interval)
    lead = f"AUC {auc}"
    if bounded(interval):
        lead += f", {from_to(interval)} ({percent(interval.confidence_level)} interval)"
    return Headline(
        [f"{lead}; observed {report.auc_pu:.3f}."], answer_lines(report), cautions(report)
    )


def sizes(counts: ScoreCounts) -> dict[str, str]:
    """Numbers of labeled, unlabeled and known negative rows, or sums of their weights."""
    weighted = " (sum of weights)" if counts.is_weighted else ""
    found = {"Labeled": counts.n_labeled, "Unlabeled": counts.n_unlabeled}
    if counts.n_negative:
        found["Known negatives"] = counts.n_negative
    return {name: f"{size:,.10g}{weighted}" for name, size in found.items()}


def size_line(counts: ScoreCounts) -> str:
    """Write the numbers of rows as ``300 labeled rows, 1,497 unlabeled``."""
    things = "labeled (sums of weights)" if counts.is_weighted else "labeled rows"
    text = f"{counts.n_labeled:,.10g} {things}, {counts.n_unlabeled:,.10g} unlabeled"
    if counts.n_negative:
        text += f", {counts.n_negative:,.10g} known negative"
    return f"{text}, in {counts.n_thresholds:,} bins of scores" if counts.is_binned else text


def confidence_level(report: PUReport) -> float | None:
    """The confidence level of the metrics, if they have intervals."""
    found = (report.intervals[name] for name in report.metrics if name in report.intervals)
    return next((interval.confidence_level for interval in found), None)


def metric_columns(report: PUReport) -> dict[str, str]:
    """Heads of the columns of metrics."""
    columns = {"observed": "Observed", "recovered": "Corrected"}
    if (coverage := confidence_level(report)) is not None:
        columns["interval"] = f"{percent(coverage)} interval"
    return columns if report.truth is None else columns | {"true": "True"}


def metric_row(report: PUReport, name: str, digits: int | None = None) -> Row:
    """One metric: observed, corrected, and its interval and true value if there are any.

    All with so many digits, or by default with as many as the interval allows. Then the observed
    value is of the rows that the corrected one is of: among unlabeled rows alone there is none of
    precision.
    """
    metrics, truth, metric = report.metrics, report.truth, METRICS[name]
    interval = report.intervals.get(name)
    true = number(truth.metrics[name], digits or 3) if truth else ""
    value, seen = number(metrics[name], digits or 3), number(metrics.observed[name], digits or 3)
    if digits is not None:
        shown = ends(interval)
    else:
        unseen = name == "precision_at_k" or (name == "precision" and report.review is not None)
        seen, shown = "" if unseen else seen, from_to(interval)
        if all(map(math.isfinite, metric.range)):
            value = precise(metrics[name], interval)
    if name in report.hardly_known:
        value = "-"
    if report.contradicted:
        value, shown = "-", ""
    cells = {"observed": seen, "recovered": value, "interval": shown, "true": true}
    columns = metric_columns(report)
    cells = {key: text for key, text in cells.items() if key in columns}
    return Row(title_of(name, metrics.options), cells, name, metric.kind)


def tables_by_kind(
    report: PUReport, rows: Iterable[Row], headings: Mapping[str, str], digits: int
) -> list[Table]:
    """Return a table for each kind of metric, under headings that end alike."""
    end = ":" if headings["threshold"].endswith(":") else ""
    headings = {
        "top_k": f"Among the {report.metrics.options.top_k or 0:,} highest unlabeled scores{end}",
        "probability": f"Of scores as probabilities of the true class{end}",
        **headings,
    }
    columns = metric_columns(report)
    return [
        Table(
            headings[kind],
            columns,
            list(own),
            head="Metric",
            strong=("recovered",),
            digits=digits,
        )
        for kind, own in groupby(rows, lambda row: row.kind)
    ]


def metric_tables(report: PUReport) -> list[Table]:
    """The main metrics, a table for each kind; with rare positives or a review, precision leads."""
    leads = 0 < report.metrics.prior < RARE or report.review is not None
    names = [*_OVERALL, *_AT_THRESHOLD, *requested_metrics(report.metrics.options)]
    if leads:
        names.sort(key=lambda name: (METRICS[name].kind != "threshold", name != "precision"))
    rows = [metric_row(report, name) for name in names if name in report.metrics]
    how = "given" if report.threshold_chosen else "best Youden index"
    if report.review is not None:
        how = f"to review {report.review:,} rows"
    flagged, c = derived.flagged(report), report.confusion
    at = f"At score >= {report.threshold:.4g} ({how}; flags {flagged:,.0f} unlabeled rows):"
    headings = {"ranking": "Over all thresholds:" if leads else "", "threshold": at}
    tables = tables_by_kind(report, rows, headings, 3)
    at_threshold = next(table for table in tables if table.rows[0].kind == "threshold")
    for title, name in (("Positives flagged", "tp"), ("Positives missed", "fn")):
        value, ends = getattr(c, name), c.intervals.get(name)
        if name == "tp" and not flagged:
            continue
        if math.isnan(value) or name in report.hardly_known:
            break  # next to nothing is known of them
        cells = dict.fromkeys(at_threshold.columns, "") | {"recovered": f"{value:,.0f}"}
        if ends and "interval" in cells:
            cells["interval"] = f"{ends[0]:,.0f} to {ends[1]:,.0f}"
        at_threshold.rows.append(Row(title, cells, name))
    return tables


def answer_lines(report: PUReport) -> list[str]:
    """Return a line each on alpha and its origin, on other values of it, and on the scope."""
    lines = [alpha_line(report), range_line(report), SCOPE]
    if {*_OVERALL, *_AT_THRESHOLD}.intersection(report.hardly_known):
        lines[-1] += f" {DASH}"
    lines[-1:-1] = tipping_lines(report)
    own = target_of(report.metrics.prior, report.proportions, report.counts)
    if own != "deployment":
        lines[-1] += f" Precision is for {population(report)}."
    return [line for line in lines if line]


def alpha_line(report: PUReport) -> str:
    """Say what alpha is, where it comes from, and beta where it is known or not near 1."""
    value, origin, labels = alpha_words(report)
    return f"Alpha: {value} of the unlabeled rows are positive ({origin}){labels}."


def alpha_words(report: PUReport) -> tuple[str, str, str]:
    """Write alpha, its origin with its interval, and beta where it is known or not near 1."""
    p, found, interval = report.proportions, report.estimation, report.intervals.get("alpha")
    value, within = shares_within(p.alpha, interval)
    origin = {
        "determined": p.origin,
        "assumed": "assuming that the highest scores are all positives",
        "estimated": "estimated from comparable data",
    }[report.state]
    if found is not None and report.state == "assumed" and found.estimator != "label-curve":
        origin += f", by {found.estimator}"
    if report.state == "determined" and p.basis and p._alpha_varies:
        origin = sources_of_alpha(p.basis)
        for each in p.basis:
            if each.what == "alpha" and each.low is not None and each.high is not None:
                ends = f"{100 * each.low:.3g} and {100 * each.high:.3g} %"
                value = f"between {ends} (given), estimated {value}"
    labels = ""
    if p.beta == 1 and found is None:
        labels = ", all labels taken as right (beta 1)"
    elif p.beta < _ALMOST_CLEAN or (p.beta < 1 and (found is None or found.beta_given)):
        right, ends = shares_within(p.beta, report.intervals.get("beta"))
        labels = f", {right} of the labels are right (beta{'; ' + ends if ends else ''})"
    return value, f"{origin}; {within}" if within else origin, labels


def sources_of_alpha(basis: Iterable[Basis]) -> str:
    """Name what alpha follows from, such as ``judged rows and scores``."""
    words = {"judged": "judged rows", "hits": "a past hit rate"}
    sources = [words[each.what] for each in basis if each.what in words]
    sources += [
        f"{each.what.replace('_', ' ')} of {100 * each.low:.3g} to {100 * each.high:.3g} %"
        for each in basis
        if each.what in ("prior", "label_frequency") and each.low is not None and each.high
    ]
    return " and ".join([", ".join(sources) or "range", "scores"])


_ALMOST_CLEAN = 0.98
"""An estimated share of right labels is shown where it is below."""


def range_line(report: PUReport) -> str:
    """Say what AUC and precision would be for any alpha the scores allow, or if alpha is off."""
    found = report.estimation
    if report.infeasible or report.auc_pu <= 0.5:
        return ""
    if found is not None:
        if "auc" not in found.allowed:
            return ""
        most = derived.largest_precision(report, report.beta if found.beta_given else 1.0)
        assumed = report.state == "assumed"
        given = "Without that assumption" if assumed else "For any alpha the scores allow"
        limit = share(rounded_down(report.largest_alpha))
        precision = "" if math.isnan(most) else f", precision 0 to {most:.2f}"
        return f"{given} (at most {limit}): AUC {found.allowed['auc']}{precision}."
    ends = [] if report.intervals.get("alpha") is not None else derived.nearby(report)
    if not ends:
        return ""
    alphas, areas, values = zip(*ends, strict=True)
    either = " or ".join(f"{100 * alpha:.3g} %" for alpha in alphas)
    precision = "" if math.isnan(sum(values)) else ", precision {:.2f} or {:.2f}".format(*values)
    return f"If alpha is {either}: AUC {areas[0]:.3f} or {areas[1]:.3f}{precision}."


def tipping_lines(report: PUReport) -> list[str]:
    """Return a sentence on each metric that the caller wants to be at least a value."""
    lines = []
    for metric, theta in derived.tipping(report).items():
        value = report.at_least[metric]
        name = f"{'AUC' if metric == 'auc' else metric} of all positives"
        if metric in unknown_columns(report):
            lines.append(f"Whether the {name} is at least {value:.2f} is not known.")
        elif math.isnan(theta):
            lines.append(f"At this alpha the {name} is below {value:.2f} even for random labels.")
        elif theta >= LARGEST_THETA:
            lines.append(f"At this alpha the {name} is at least {value:.2f} whatever theta is.")
        else:
            lines.append(
                f"At this alpha the {name} is below {value:.2f} only if theta > {theta:.2f}: "
                f"labeled positives outrank hidden ones in more than {100 * theta:.0f} % of pairs."
            )
    return lines


def unknown_columns(report: PUReport) -> list[str]:
    """Return metrics of all positives that are hardly known already for those like the labeled."""
    own = {"auc": "roc_auc", "recall": "recall", "precision": "precision", "n_missed": "fn"}
    return [name for name, same in own.items() if same in report.hardly_known]


def population(report: PUReport) -> str:
    """The rows that precision refers to."""
    named = {
        "deployment": "rows like the unlabeled",
        "pooled": "labeled and unlabeled rows together",
    }
    other = f"a population with {share(report.metrics.prior)} positives"
    target = target_of(report.metrics.prior, report.proportions, report.counts)
    return named.get(str(target), other)


def caution(check: CheckResult, whose: str = "") -> Caution:
    """Return a finding with its advice."""
    text = f"Warning: {check.message.rstrip('.')} ({check.code}{whose})."
    return Caution(check.severity, [check.code], text, capitalized(check.hint))


def cautions(report: PUReport) -> list[Caution]:
    """Return findings that contradict the data, with advice; of many, the first few."""
    found = [caution(check) for check in report.findings if check.severity != "note"]
    most = 1 if report.contradicted else _MOST_CAUTIONS  # others follow from the contradiction
    if rest := [each.codes[0] for each in found[most:]]:
        text = f"Further warnings in the details: {', '.join(rest)}."
        found[most:] = [Caution("warning", rest, text)]
    return found


def price_sections(report: PUReport, shell: Shell | None) -> list[Section]:
    """Return ways to narrow the interval of the AUC, or a limit, and their options.

    Where precision leads or is wide open, also a way to narrow that of precision. Nothing where
    something contradicts the data. Without a shell, they are done in Python.
    """
    now = report.intervals.get("roc_auc")
    if not report.prices or report.contradicted or cautions(report):
        return []
    rows: list[Row] = []
    remarks: list[Part] = []
    useful = derived.useful_prices(report)
    wide = bounded(now) and now.width > WIDE
    if wide and "more-rows" not in useful:
        text = "More rows like these would narrow it by less than a fifth."
        remarks.append(Note(text, "fine"))
    for name, price in useful.items():
        threshold = derived.short_threshold(report)
        words, command, call = (text.format(threshold=threshold) for text in PRICES[name])
        how = call if shell is None else shell.filled(command)
        width = price.high - price.low
        if name == "flagged-rows":
            leads = report.metrics.prior < RARE or report.review is not None
            if leads or report.intervals["precision"].width > _OPEN:
                text = f"To know precision, {words} (then about {width:.2f} wide):"
                remarks += [Note(text, "fine"), Command(how)]
            continue
        # Where the interval will be after more rows is not known yet.
        auc = (
            f"about {width:.2f} wide"
            if name.endswith("rows")
            else f"{price.low:.2f} to {price.high:.2f}"
        )
        rows.append(Row(words, {"auc": auc, "how": how}))
    if wide:
        words, command, call = LIMIT
        rows.append(Row(words, {"auc": "", "how": call if shell is None else command}))
    columns = {"auc": "AUC interval", "how": ""}
    title = "To narrow this, do or know one of these:"
    table = Section([Table(title, columns, rows, "words")] if rows else [])
    return [each for each in (table, Section(remarks)) if each.parts]
