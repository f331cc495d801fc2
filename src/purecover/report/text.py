"""Reports, chosen thresholds, evidence, comparisons and tables of many reports as plain text."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from purecover._documents import comparison as compared
from purecover._documents import formats as fmt
from purecover._documents import report as parts
from purecover._documents.evidence import evidence_headline
from purecover._documents.headline import (
    RANDOM_LABELS_UNSEEN,
    auc_as_estimated,
    headline,
    precision_lines,
)
from purecover._documents.many import cautious_note, many_titles
from purecover.recovery.curves import NOTEWORTHY_GAP
from purecover.recovery.metrics import METRICS

if TYPE_CHECKING:
    from purecover.counts import ScoreCounts
    from purecover.intervals.evidence import EvidenceThresholds
    from purecover.recovery.thresholds import ThresholdChoice
    from purecover.report.compare import ScoreComparison
    from purecover.report.many import ManyReports, ManyRow
    from purecover.report.results import PUReport

_WIDTH = 100
_AT_THRESHOLD = ("recall", "specificity", "precision", "f1", "mcc")
_LONGEST_NAME = 24
_LONGEST_TASK = 20
_SHOWN_ROWS = 10
_SHOWN_CONTRADICTED = 3
_SHOWN_FAILURES = 5
_QUIET = f"checks: none found a problem. {RANDOM_LABELS_UNSEEN}."


def _wrapped(paragraphs: str | Iterable[str], indent: str = "") -> list[str]:
    """Lines of one paragraph or several; all lines but the first of each are indented."""
    lines = []
    for text in (paragraphs,) if isinstance(paragraphs, str) else paragraphs:
        kept = text.replace(" %", "\u00a0%")  # a number and its sign stay together
        lines += textwrap.wrap(kept, _WIDTH, initial_indent=indent, subsequent_indent="    ")
    return [line.replace("\u00a0", " ") for line in lines]


def _typed(text: str) -> str:
    """Replace dashes and minus signs by the sign that a keyboard has."""
    return text.replace("–", "-").replace("−", "-")


def _sizes(counts: ScoreCounts) -> str:
    text = f"{counts.n_labeled:,.10g} labeled, {counts.n_unlabeled:,.10g} unlabeled"
    return f"total weights: {text}" if counts.is_weighted else text


def render_text(report: PUReport) -> str:
    """The headline, alpha and beta, observed against recovered metrics, assumptions and checks."""
    lines = [*_data_lines(report), "", *_wrapped(headline(report).lines), ""]
    lines += [*_proportions_lines(report), *_bounds_lines(report), ""]
    heads = {name: head.lower() for name, head in parts.metric_columns(report).items()}
    lines += [_metric_line("", heads), _metric_row(report, "roc_auc")]
    direct = auc_as_estimated(report)
    beside = {} if direct is None else {"with alpha as estimated": direct}
    if not report.infeasible and abs(report.roc.auc - (direct or report.auc)) > NOTEWORTHY_GAP:
        beside[f"area of the {report.roc.repair} curve"] = report.roc.auc
    lines += [f"  {title:<34}{value:>11.4f}" for title, value in beside.items()]
    lines.append(_metric_row(report, "auc_pr"))
    how = "given" if report.threshold_chosen else "highest Youden index"
    if _is_corrected(report) and not report.contradicted:
        how += ", corrected for being chosen here"
    headings = {
        "threshold": f"at threshold {report.metrics.threshold:.6g} ({how}):",
        "top_k": f"among the {report.metrics.options.top_k} highest unlabeled scores:",
        "probability": "of scores as probabilities of the true class:",
    }
    names = [*_AT_THRESHOLD, *parts.requested_metrics(report.metrics.options)]
    for kind, heading in headings.items():
        rows = [_metric_row(report, name) for name in names if METRICS[name].kind == kind]
        lines += [heading, *rows] if rows else []
    return "\n".join([*lines, "", *_assumption_lines(report), *_check_lines(report)])


def _is_corrected(report: PUReport) -> bool:
    return report.bootstrap is not None and report.bootstrap.optimism is not None


def _metric_line(title: str, cells: dict[str, str]) -> str:
    text = f"{title:<26}{cells['observed']:>10}{_typed(cells['recovered']):>11}"
    if "interval" in cells:
        text += f"   {_typed(cells['interval']):<19}"
    return f"{text}{cells.get('true', ''):>8}".rstrip()


def _metric_row(report: PUReport, name: str) -> str:
    title = METRICS[name].title
    if name == "roc_auc" and auc_as_estimated(report) is not None:
        title += ", cautious"
    if name == "auc_pr" and report.pr.area != "davis-goadrich":
        title += f" ({report.pr.area})"
    return _metric_line(title, parts.metric_row(report, name).cells)


def _assumption_lines(report: PUReport, whose: str = "") -> list[str]:
    lines = [f"what the figures rest on{whose}:"]
    for each in report.assumptions:
        text = f"{each.statement}: {each.verdict}."
        if each.verdict in ("doubtful", "cannot tell"):
            text += f" AUC otherwise: {each.without}."
        lines += _wrapped(text, "  ")
    return lines


def _data_lines(report: PUReport) -> list[str]:
    counts = report.counts
    text = _sizes(counts)
    if counts.n_negative:
        text += f", {counts.n_negative:,.10g} known negative"
    things = "bin" if counts.is_binned else "distinct score"
    text += ", in " if counts.is_binned else ", "
    lines = [text + fmt.number_of(counts.n_thresholds, things)]
    if report.scores_from is not None:
        lines += _wrapped(f"scores of {report.scores_from}")
    return lines


def _bounds_lines(report: PUReport) -> list[str]:
    """Bounds of the areas of the exact scores, where they were counted in bins."""
    found = ", ".join(f"{name} {text}" for name, text in parts.binning_bounds(report))
    found = found.replace("Observed", "observed")
    return _wrapped(f"exact scores have, at this alpha and beta: {found}") if found else []


def _proportions_lines(report: PUReport) -> list[str]:
    p, estimate = report.proportions, report.estimation
    lines = [f"alpha {p.alpha:.4g}, beta {p.beta:.4g} ({p.origin}, {p.scenario})"]
    if estimate is not None:
        how = f"estimated by {parts.estimated_by(estimate)}, {estimate.proportions.scenario}"
        lines = _wrapped(f"{parts.estimated_shares(estimate)} ({how})")
        if estimate.others:
            alphas, betas = zip(*estimate.others.values(), strict=True)
            ranges = f"alpha {_range(alphas, p.alpha)}, beta {_range(betas, p.beta)}"
            lines += _wrapped(f"  other estimators: {ranges} ({', '.join(estimate.others)})")
        lines += _wrapped(f"  {note}" for note in (*parts.if_verified(estimate), *estimate.notes))
        if estimate.n_rejected:
            lines.append(f"  {estimate.n_rejected:,} draws without an estimate were rejected")
    lines += _wrapped(parts.population_note(report))
    if report.truth is not None:
        lines.append(f"true alpha {report.truth.alpha:.4g}, true beta {report.truth.beta:.4g}")
    return lines


def _range(values: Sequence[float], like: float) -> str:
    low, high = (f"{end:.{fmt.share_digits(like)}f}" for end in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _check_lines(report: PUReport) -> list[str]:
    findings = report.findings
    if not findings:
        return _wrapped(_QUIET)
    tally = Counter(finding.severity for finding in findings)
    lines = [f"checks: {', '.join(fmt.number_of(n, word) for word, n in tally.items())}"]
    for finding in findings:
        hint = f" Hint: {finding.hint}" if finding.hint else ""
        lines += _wrapped(f"{finding.code} {finding.severity}: {finding.message}{hint}", "  ")
    return lines


def render_threshold_text(choice: ThresholdChoice, report: PUReport) -> str:
    """The chosen threshold, how many rows are flagged, all metrics there and checks.

    The report is of the same data at that threshold and by the same criterion.
    """
    replicates, corrected = report.bootstrap, _is_corrected(report)
    lines = [str(choice).splitlines()[0].removeprefix("ThresholdChoice: "), ""]
    lines += _wrapped([*headline(report).lead, *precision_lines(report)])
    head = f"{'':<38}{'observed':>10}{'recovered':>11}"
    if corrected:
        head += f"{'expected':>11}"
    if replicates is not None:
        head += f"   {fmt.percent(replicates.confidence_level)} interval"
    lines += ["", head]
    for name in parts.shown_metrics(choice.metrics):
        title = parts.title_of(name, choice.metrics.options)
        text = f"{title:<38}{fmt.number(choice.metrics.observed[name]):>10}"
        text += f"{fmt.number(choice.metrics[name]):>11}"
        if corrected:
            text += f"{fmt.number(report.metrics[name]):>11}"
        lines.append(f"{text}   {fmt.ends(report.intervals.get(name))}".rstrip())
    if corrected:
        lines += _wrapped(
            "recovered: on these data, as evaluate has it with this threshold; expected: on new "
            "data, less what its choice on these adds, as replicates show that choose again; so "
            "are the counts above, and all intervals"
        )
    return "\n".join([*lines, "", *_check_lines(report)])


def render_evidence_text(found: EvidenceThresholds, report: PUReport) -> str:
    """Thresholds of evidence, where alpha and beta come from, and cautions."""
    said = evidence_headline(found, report)
    more = [*said.more[1:], *(each.text for each in said.cautions)]
    return "\n".join([str(found), *_wrapped(more)])


def render_comparison_text(comparison: ScoreComparison) -> str:
    """Data, alpha and beta, a block for each main metric, notes and checks."""
    level = f"{fmt.percent(comparison.confidence_level)} interval"
    base = comparison.reports[comparison.baseline]
    lines = [f"{_sizes(base.counts)}, {len(comparison.reports)} scores of each"]
    p, estimate = comparison.proportions, base.estimation
    shares, how = f"alpha {p.alpha:.4g}, beta {p.beta:.4g}", p.origin
    if estimate is not None:
        shares = parts.estimated_shares(estimate)
        how = f"estimated once, from {comparison.estimated_from}, by {parts.estimated_by(estimate)}"
    lines += _wrapped(f"{shares} ({how}, {p.scenario})")
    for metric in compared.main_metrics(comparison):
        head = f"{METRICS[metric].title:<28}{'observed':>9}{'recovered':>11}  {level:<17}"
        lines += ["", f"{head} {'difference':>11}  {level:<19}{'better':>7}"]
        for row in compared.metric_table(comparison, metric).rows:
            cells = {key: _typed(cell) for key, cell in row.cells.items()}
            text = f"  {fmt.cut(row.title, _LONGEST_NAME):<26}{cells['observed']:>9}"
            text += f"{cells['recovered']:>11}  {cells['interval']:<17}"
            text += f" {cells['difference']:>11}  {cells['between']:<19}"
            lines.append(f"{text}{cells.get('better', ''):>7}".rstrip())
    lines += ["", *_wrapped(" ".join(compared.comparison_notes(comparison)))]
    whose = f" (AUCs are those of {fmt.cut(comparison.baseline, _LONGEST_NAME)})"
    return "\n".join(
        [*lines, *_assumption_lines(base, whose), *_comparison_check_lines(comparison)]
    )


def _comparison_check_lines(comparison: ScoreComparison) -> list[str]:
    findings = compared.findings_by_score(comparison)
    if not findings:
        return _wrapped(_QUIET)

    def whose(names: Collection[str]) -> str:
        every = len(names) == len(comparison.reports)
        return "all" if every else ", ".join(name for name in comparison.reports if name in names)

    lines = ["checks:"]
    notes: dict[str, set[str]] = {}
    for code, severity, message, hint, names in findings:
        if severity == "note":  # a line each would be many of them
            notes.setdefault(code, set()).update(names)
            continue
        lines += _wrapped(f"{code} {severity} ({whose(names)}): {message} Hint: {hint}", "  ")
    if notes:
        listed = [f"{code} ({whose(names)})" for code, names in notes.items()]
        lines += _wrapped(f"notes: {', '.join(listed)}", "  ")
    return lines


def render_many_text(many: ManyReports) -> str:
    """The best rows, the rows without a result, and warnings; about twenty lines."""
    done, failed = many.evaluated, many.failed
    tasks, scores = {row.task for row in many}, {row.score for row in many}
    of = f"{fmt.number_of(len(tasks), 'task')}, {fmt.number_of(len(scores), 'score')}"
    lines = [f"{of}: {len(done):,} of {fmt.number_of(len(many), 'row')} evaluated"]
    if done:
        lines += [*_wrapped(_interval_note(many)), "", *_many_rows(many)]
    if failed:
        lines += ["", f"not evaluated: {fmt.number_of(len(failed), 'row')}"]
        for row in failed[:_SHOWN_FAILURES]:
            lines += _wrapped(f"{_short(row.task)}, {_short(row.score)}: {row.reason}", "  ")
        if len(failed) > _SHOWN_FAILURES:
            lines.append(f"  ... and {len(failed) - _SHOWN_FAILURES:,} more, see failed")
    if done:
        found = Counter(each for row in done for each in row.findings if each[1] != "note")
        listed = [f"{code} {severity} in {n:,}" for (code, severity), n in sorted(found.items())]
        lines += ["", *_wrapped(f"checks: {', '.join(listed) or 'no error or warning'}")]
    return "\n".join(lines)


def _interval_note(many: ManyReports) -> str:
    level = fmt.percent(many.confidence_level)
    estimated = sum(row.estimated_from is not None for row in many.evaluated)
    text = "the labeled are taken for a random sample of all positives, and rows as unseen in "
    text += "training; alpha "
    origins = {row.proportions.origin for row in many.evaluated if row.proportions is not None}
    how = f" ({next(iter(origins))})" if len(origins) == 1 else ""
    text += f"estimated in {estimated:,} of them{how}; " if estimated else "given; "
    if many.simultaneous is not None:
        how = {"bonferroni": "Bonferroni", "sidak": "Šidák"}[many.simultaneous]
        return text + f"the intervals of a metric hold all at once with {level} ({how})"
    some_miss = ", so that of many some miss" if len(many.evaluated) > 1 else ""
    return f"{text}each interval holds by itself with {level}{some_miss}"


def _many_rows(many: ManyReports) -> list[str]:
    first, *others = many.metrics[:3]
    titles = many_titles(many)
    best = many.top(_SHOWN_ROWS, first)
    unfit = [row for row in many if row.contradicted]
    kept = best[: _SHOWN_ROWS - min(len(unfit), _SHOWN_CONTRADICTED)]
    shown = (*kept, *unfit[: _SHOWN_ROWS - len(kept)]) or many.evaluated[:_SHOWN_ROWS]
    wide = [
        max(len(head), *(len(_short(getattr(row, head))) for row in shown)) + 2
        for head in ("task", "score")
    ]

    def line(task: str, score: str, figures: str, value: str, more: Iterable[str]) -> str:
        text = f"{task:<{wide[0]}}{score:<{wide[1]}}{figures}  {value:<25}"
        return (text + "".join(f"{each:>11}" for each in more)).rstrip()

    figures = f"{'labeled':>8}{'alpha':>7}{'observed':>10}"
    more = [titles[name][:9] for name in others]
    lines = [line("task", "score", figures, titles[first][:24], more)]
    lines += [
        line(_short(row.task), _short(row.score), *_many_row(row, first, others)) for row in shown
    ]
    if rest := len(many.evaluated) - len(shown):
        which = f" (the best by {METRICS[first].title} are shown)" if best else ""
        lines.append(f"... and {rest:,} more{which}")
    for note in cautious_note(many):
        lines += ["", *_wrapped(note)]
    if unfit:
        text = f"alpha and beta contradict the scores in {fmt.number_of(len(unfit), 'row')} (-)"
        tasks = {row.task for row in unfit}
        if any(row.task in tasks and not row.contradicted for row in many.evaluated):
            text += "; other scores of the same task rest on them, too"
        lines += ["", *_wrapped(f"{text}.")]
    return lines


def _many_row(row: ManyRow, first: str, others: Sequence[str]) -> tuple[str, str, list[str]]:
    """Figures of the data, the first metric with its interval, and the other metrics."""
    alpha = math.nan if row.proportions is None else row.proportions.alpha
    figures = f"{row.n_labeled:>8,.5g}{alpha:>7.3f}{fmt.number(row.observed[first]):>10}"
    if row.contradicted:
        return figures, "-", ["-"] * len(others)
    interval, value = row.intervals.get(first), fmt.number(row.recovered[first])
    if fmt.bounded(interval):
        value += f" {fmt.ends(interval)}"
    return figures, value, [fmt.number(row.recovered[name]) for name in others]


def _short(value: object) -> str:
    return fmt.cut(" ".join(str(value).split()), _LONGEST_TASK)
