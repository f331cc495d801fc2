"""Reports, comparisons and tables of many reports as lines of text, and a report in Markdown."""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from purecover import _view as view
from purecover.recovery.curves import NOTEWORTHY_GAP
from purecover.recovery.metrics import METRICS

if TYPE_CHECKING:
    from purecover.counts import ScoreCounts
    from purecover.estimators.estimate import PriorEstimate
    from purecover.intervals.evidence import EvidenceThresholds
    from purecover.recovery.thresholds import ThresholdChoice
    from purecover.report.compare import ScoreComparison
    from purecover.report.many import ManyReports, ManyRow
    from purecover.report.results import PUReport


_WIDTH = 100


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Lines of one paragraph, of which all but the first are moved in."""
    kept = text.replace(" %", "\u00a0%")  # a number and its sign stay together
    lines = textwrap.wrap(kept, _WIDTH, initial_indent=indent, subsequent_indent="    ")
    return [line.replace("\u00a0", " ") for line in lines]


def _typed(text: str) -> str:
    """A figure with the signs that a keyboard has."""
    return text.replace("–", "-").replace("−", "-")


def _sizes(counts: ScoreCounts) -> str:
    text = f"{counts.n_labeled:,.10g} labeled, {counts.n_unlabeled:,.10g} unlabeled"
    return f"total weights: {text}" if counts.is_weighted else text


# -- A report ------------------------------------------------------------------------------------


_AT_THRESHOLD = ("recall", "specificity", "precision", "f1", "mcc")


def render_text(report: PUReport) -> str:
    """What to decide on, alpha and beta, observed against recovered, assumptions and checks."""
    head = f"{'':<26}{'observed':>10}{'recovered':>11}"
    if report.intervals:
        head += f"   {view.metric_columns(report)['interval']:<19}"
    if report.truth is not None:
        head += f"{'true':>8}"
    lines = [*_data_lines(report), ""]
    for line in view.headline(report).lines:
        lines += _wrapped(line)
    lines += ["", *_proportions_lines(report), *_bounds_lines(report), "", head.rstrip()]
    lines.append(_row(report, "roc_auc"))
    direct = view.cautious(report)
    beside = {} if direct is None else {"with alpha as estimated": direct}
    if not report.infeasible and abs(report.roc.auc - (direct or report.auc)) > NOTEWORTHY_GAP:
        beside[f"area of the {report.roc.repair} curve"] = report.roc.auc
    lines += [f"  {title:<34}{value:>11.4f}" for title, value in beside.items()]
    lines.append(_row(report, "auc_pr"))
    how = "given" if report.threshold_chosen else "highest Youden index"
    corrected = report.bootstrap is not None and report.bootstrap.optimism is not None
    if corrected and not report.contradicted:
        how += ", corrected for being chosen here"
    lines.append(f"at threshold {report.metrics.threshold:.6g} ({how}):")
    asked = view.asked_for(report.metrics.options)
    kinds = {
        kind: [name for name in asked if METRICS[name].kind == kind]
        for kind in ("threshold", "top_k", "probability")
    }
    at_threshold = [*_AT_THRESHOLD, *kinds["threshold"]]
    lines += [_row(report, name) for name in at_threshold]
    headings = {
        "top_k": f"among the {report.metrics.options.top_k} highest unlabeled scores:",
        "probability": "of scores as probabilities of the true class:",
    }
    for kind, heading in headings.items():
        if kinds[kind]:
            lines += [heading, *(_row(report, name) for name in kinds[kind])]
    return "\n".join([*lines, "", *_assumption_lines(report), *_check_lines(report)])


def _assumption_lines(report: PUReport, whose: str = "") -> list[str]:
    """A line for each thing that figures rest on."""
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
    lines = [text + view.number_of(counts.n_thresholds, things)]
    if report.scores_from is not None:
        lines += _wrapped(f"scores of {report.scores_from}")
    return lines


def _bounds_lines(report: PUReport) -> list[str]:
    """What counting in bins leaves open; nothing for exact counts."""
    found = ", ".join(f"{name} {text}" for name, text in view.binning(report))
    if not found:
        return []
    found = found.replace("Observed", "observed")
    return _wrapped(f"exact scores have, at this alpha and beta: {found}")


def _proportions_lines(report: PUReport) -> list[str]:
    p = report.proportions
    lines = [f"alpha {p.alpha:.4g}, beta {p.beta:.4g} ({p.origin}, {p.scenario})"]
    if report.estimation is not None:
        lines = _estimation_lines(report.estimation)
    lines += _wrapped(view.population_note(report))
    if report.truth is not None:
        lines.append(f"true alpha {report.truth.alpha:.4g}, true beta {report.truth.beta:.4g}")
    return lines


def _estimation_lines(estimate: PriorEstimate) -> list[str]:
    how = f"estimated by {view.estimated_by(estimate)}, {estimate.proportions.scenario}"
    lines = _wrapped(f"{view.estimated_shares(estimate)} ({how})")
    if estimate.others:
        alphas, betas = zip(*estimate.others.values(), strict=True)
        p = estimate.proportions
        ranges = f"alpha {_range(alphas, p.alpha)}, beta {_range(betas, p.beta)}"
        lines += _wrapped(f"  other estimators: {ranges} ({', '.join(estimate.others)})")
    for note in filter(None, (view.if_verified(estimate), *estimate.notes)):
        lines += _wrapped(f"  {note}")
    if estimate.n_rejected:
        lines.append(f"  {estimate.n_rejected:,} draws without an estimate were rejected")
    return lines


def _range(values: tuple[float, ...], like: float) -> str:
    low, high = (f"{end:.{view.share_digits(like)}f}" for end in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _row(report: PUReport, name: str) -> str:
    title, cells = METRICS[name].title, view.metric_row(report, name).cells
    if name == "roc_auc" and view.cautious(report) is not None:
        title += ", cautious"
    if name == "auc_pr" and report.pr.area != "davis-goadrich":
        title += f" ({report.pr.area})"
    text = f"{title:<26}{cells['observed']:>10}{_typed(cells['recovered']):>11}"
    if "interval" in cells:
        text += f"   {_typed(cells['interval']):<19}"
    if "true" in cells:
        text += f"{cells['true']:>8}"
    return text.rstrip()


def _check_lines(report: PUReport) -> list[str]:
    findings = report.findings
    if not findings:
        return _wrapped(f"checks: none found a problem. {view.UNSEEN}.")
    tally = Counter(finding.severity for finding in findings)
    lines = [f"checks: {', '.join(view.number_of(n, word) for word, n in tally.items())}"]
    for finding in findings:
        text = f"{finding.code} {finding.severity}: {finding.message}"
        if finding.hint:
            text += f" Hint: {finding.hint}"
        lines += _wrapped(text, "  ")
    return lines


# -- A chosen threshold --------------------------------------------------------------------------


def render_threshold_text(choice: ThresholdChoice, report: PUReport) -> str:
    """What was chosen, how many are flagged, all metrics there and checks.

    The report is of the same data at that threshold, and knows what it was chosen by.
    """
    replicates = report.bootstrap
    corrected = replicates is not None and replicates.optimism is not None
    lines = [str(choice).splitlines()[0].removeprefix("ThresholdChoice: "), ""]
    for line in (*view.headline(report).lead, *view.precision_lines(report)):
        lines += _wrapped(line)
    head = f"{'':<38}{'observed':>10}{'recovered':>11}"
    if corrected:
        head += f"{'expected':>11}"
    if replicates is not None:
        head += f"   {view.percent(replicates.confidence_level)} interval"
    lines += ["", head]
    for name in view.shown_metrics(choice.metrics):
        title = view.title_of(name, choice.metrics.options)
        text = f"{title:<38}{view.number(choice.metrics.observed[name]):>10}"
        text += f"{view.number(choice.metrics[name]):>11}"
        if corrected:
            text += f"{view.number(report.metrics[name]):>11}"
        if replicates is not None:
            text += f"   {view.ends(report.intervals.get(name))}"
        lines.append(text.rstrip())
    if corrected:
        lines += _wrapped(
            "recovered: on these data, as evaluate has it with this threshold; expected: on new "
            "data, less what its choice on these adds, as replicates show that choose again; so "
            "are the counts above, and all intervals"
        )
    return "\n".join([*lines, "", *_check_lines(report)])


# -- The report in Markdown, as GitHub, GitLab and others draw it --------------------------------


_LONGEST = 2000
"""Longer texts are cut: one name of the data must not fill a page."""

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~$&]")
# A sign that turns what follows it into a mention, a reference or a link, wherever it stands.
_LINKING = re.compile(r"@(?=\w)|#(?=\w)|!(?=\d)|:(?=//)|(?i:www)(?=\.)")
# At the start of a line: headings, lists and rules are marked with these.
_LEADING = re.compile(r"^(?:([-+#=])|(\d+)([.)])(?=\s|$))")
_NOTHING = "\u200b"
"""A space of no width, which keeps a sign apart from what it would otherwise mark."""


def render_evidence_text(found: EvidenceThresholds, report: PUReport) -> str:
    """Thresholds of evidence, where alpha and beta come from, and warnings."""
    lines = [str(found)]
    said = view.evidence_headline(found, report)
    for line in (*said.more[1:], *(each.text for each in said.cautions)):
        lines += _wrapped(line)
    return "\n".join(lines)


def render_markdown(report: PUReport) -> str:
    """A headline, and all sections."""
    said = view.headline(report)
    parts = ["## Recovered performance", f"**{escape(' '.join(said.lead))}**"]
    if said.more:
        parts.append(escape(" ".join(said.more)))
    parts.append("\n".join(f"- {escape(caution.text)}" for caution in said.cautions))
    for name, section in view.sections(report).items():
        if name == "facts":  # folded: who wants them knows what to look for
            head = f"<details>\n<summary>{section.title}</summary>"
            parts += [head, *map(_table, section.tables), "</details>"]
        else:
            parts += _section(section)
    parts.append(f"<sub>{escape(view.versions())}</sub>")
    return "\n\n".join(parts) + "\n"


def _section(section: view.Section) -> Iterable[str]:
    yield f"### {section.title}"
    if section.sentence:
        yield escape(section.sentence)
    yield from map(_table, section.tables)
    if section.note:
        yield escape(section.note)
    if section.notes:
        yield "\n".join(f"- {escape(note)}" for note in section.notes)


def _table(table: view.Table) -> str:
    """All columns but the first are numbers, or none is."""
    sides = ["---", *["---:" if table.numbers else "---"] * len(table.columns)]
    lines = [[table.title, *table.columns.values()]]
    lines += [[row.title, *row.cells.values()] for row in table.rows]
    head, *rows = ([_cell(cell) for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, sides, *rows))


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on a line of its own."""
    return _LEADING.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", _cell(text))


def _cell(text: str) -> str:
    """The same in the middle of a line, such as a cell of a table."""
    # Line ends, control signs and marks that turn the direction of writing would leave the cell.
    shown = "".join(c if c.isprintable() or c == _NOTHING else " " for c in text)
    shown = " ".join(shown.split())
    shown = view.cut(shown, _LONGEST)
    shown = _SPECIAL.sub(_escaped, shown)
    return _LINKING.sub(lambda match: match.group() + _NOTHING, shown)


def _escaped(match: re.Match[str]) -> str:
    # As entities, since some renderers look for tags before they look for backslashes.
    entities = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
    return entities.get(match.group(), f"\\{match.group()}")


# -- A comparison of scores ----------------------------------------------------------------------


_LONGEST_NAME = 24


def render_comparison_text(comparison: ScoreComparison) -> str:
    """Data, alpha and beta, a block for each main metric, notes and checks."""
    level = f"{view.percent(comparison.confidence_level)} interval"
    counts = comparison.reports[comparison.baseline].counts
    lines = [f"{_sizes(counts)}, {len(comparison.reports)} scores of each"]
    lines += _wrapped(_shares(comparison))
    for metric in view.main_metrics(comparison):
        head = f"{METRICS[metric].title:<28}{'observed':>9}{'recovered':>11}  {level:<17}"
        lines += ["", f"{head} {'difference':>11}  {level:<19}{'better':>7}"]
        for row in view.compared(comparison, metric).rows:
            cells = {key: _typed(cell) for key, cell in row.cells.items()}
            text = f"  {view.cut(row.title, _LONGEST_NAME):<26}{cells['observed']:>9}"
            text += f"{cells['recovered']:>11}  {cells['interval']:<17}"
            text += f" {cells['difference']:>11}  {cells['between']:<19}"
            lines.append(f"{text}{cells.get('better', ''):>7}".rstrip())
    lines += ["", *_wrapped(" ".join(view.comparison_notes(comparison)))]
    whose = f" (AUCs are those of {view.cut(comparison.baseline, _LONGEST_NAME)})"
    lines += _assumption_lines(comparison.reports[comparison.baseline], whose)
    return "\n".join([*lines, *_comparison_check_lines(comparison)])


def _shares(comparison: ScoreComparison) -> str:
    p = comparison.proportions
    estimate = comparison.reports[comparison.baseline].estimation
    if estimate is None:
        return f"alpha {p.alpha:.4g}, beta {p.beta:.4g} ({p.origin}, {p.scenario})"
    how = f"estimated once, from {comparison.estimated_from}, by {view.estimated_by(estimate)}"
    return f"{view.estimated_shares(estimate)} ({how}, {p.scenario})"


def _comparison_check_lines(comparison: ScoreComparison) -> list[str]:
    findings = view.findings_by_score(comparison)
    if not findings:
        return _wrapped(f"checks: none found a problem. {view.UNSEEN}.")
    lines = ["checks:"]
    notes: dict[str, set[str]] = {}
    for code, severity, message, hint, names in findings:
        if severity == "note":  # a line each would be many of them
            notes.setdefault(code, set()).update(names)
            continue
        text = f"{code} {severity} ({_whose(comparison, names)}): {message} Hint: {hint}"
        lines += _wrapped(text, "  ")
    if notes:
        listed = [f"{code} ({_whose(comparison, names)})" for code, names in notes.items()]
        lines += _wrapped(f"notes: {', '.join(listed)}", "  ")
    return lines


def _whose(comparison: ScoreComparison, names: Collection[str]) -> str:
    if len(names) == len(comparison.reports):
        return "all"
    return ", ".join(name for name in comparison.reports if name in names)


# -- Many reports as lines of text: the best rows, what was left out, and warnings -------------


_SHOWN = 10
_LONGEST_TASK = 20
_REASONS = 5
_UNFIT = 3


def render_many_text(many: ManyReports) -> str:
    """A dozen lines or two, however many rows there are."""
    done, failed = many.evaluated, many.failed
    tasks, scores = {row.task for row in many}, {row.score for row in many}
    of = f"{view.number_of(len(tasks), 'task')}, {view.number_of(len(scores), 'score')}"
    lines = [f"{of}: {len(done):,} of {view.number_of(len(many), 'row')} evaluated"]
    if done:
        lines += _wrapped(_intervals(many))
        lines += ["", *_many_rows(many)]
    if failed:
        lines += ["", *_left_out_lines(failed)]
    if done:
        lines += ["", *_many_findings(done)]
    return "\n".join(lines)


def _intervals(many: ManyReports) -> str:
    level = view.percent(many.confidence_level)
    estimated = sum(row.estimated_from is not None for row in many.evaluated)
    text = "the labeled are taken for a random sample of all positives, and rows as unseen in "
    text += "training; alpha "
    origins = {row.proportions.origin for row in many.evaluated if row.proportions is not None}
    how = f" ({next(iter(origins))})" if len(origins) == 1 else ""
    text += f"estimated in {estimated:,} of them{how}; " if estimated else "given; "
    if many.simultaneous is None:
        text += f"each interval holds by itself with {level}"
        if len(many.evaluated) > 1:
            text += ", so that of many some miss"
        return text
    how = {"bonferroni": "Bonferroni", "sidak": "Šidák"}[many.simultaneous]
    return text + f"the intervals of a metric hold all at once with {level} ({how})"


def _many_rows(many: ManyReports) -> list[str]:
    first, titles = many.metrics[0], view.many_titles(many)
    best = many.top(_SHOWN, first)
    unfit = [row for row in many if row.contradicted]
    kept = best[: _SHOWN - min(len(unfit), _UNFIT)]
    shown = (*kept, *unfit[: _SHOWN - len(kept)]) or many.evaluated[:_SHOWN]
    others = list(many.metrics[1:3])
    wide = [
        max(len(head), *(len(_short(getattr(row, head))) for row in shown)) + 2
        for head in ("task", "score")
    ]
    head = f"{'task':<{wide[0]}}{'score':<{wide[1]}}{'labeled':>8}{'alpha':>7}"
    head += f"{'observed':>10}  {titles[first][:24]:<25}"
    head += "".join(f"{titles[name][:9]:>11}" for name in others)
    lines = [head.rstrip()]
    for row in shown:
        interval = row.intervals.get(first)
        value = view.number(row.recovered[first])
        if interval is not None and view.bounded(interval):
            value += f" [{view.number(interval.low)}, {view.number(interval.high)}]"
        if row.contradicted:
            value = "-"
        alpha = math.nan if row.proportions is None else row.proportions.alpha
        text = f"{_short(row.task):<{wide[0]}}{_short(row.score):<{wide[1]}}"
        text += f"{row.n_labeled:>8,.5g}{alpha:>7.3f}{view.number(row.observed[first]):>10}  "
        values = ["-" if row.contradicted else view.number(row.recovered[name]) for name in others]
        text += f"{value:<25}" + "".join(f"{each:>11}" for each in values)
        lines.append(text.rstrip())
    rest = len(many.evaluated) - len(shown)
    if rest:
        which = f" (the best by {METRICS[first].title} are shown)" if best else ""
        lines.append(f"... and {rest:,} more{which}")
    for line in view.many_caution(many):
        lines += ["", *_wrapped(line)]
    if unfit:
        text = f"alpha and beta contradict the scores in {view.number_of(len(unfit), 'row')} (-)"
        tasks = {row.task for row in unfit}
        if any(row.task in tasks and not row.contradicted for row in many.evaluated):
            text += "; other scores of the same task rest on them, too"
        lines += ["", *_wrapped(f"{text}.")]
    return lines


def _left_out_lines(failed: tuple[ManyRow, ...]) -> list[str]:
    lines = [f"not evaluated: {view.number_of(len(failed), 'row')}"]
    for row in failed[:_REASONS]:
        text = f"{_short(row.task)}, {_short(row.score)}: {row.reason}"
        lines += _wrapped(text, "  ")
    if len(failed) > _REASONS:
        lines.append(f"  ... and {len(failed) - _REASONS:,} more, see failed")
    return lines


def _many_findings(done: tuple[ManyRow, ...]) -> list[str]:
    found = Counter(finding for row in done for finding in row.findings)
    grave = {key: n for key, n in found.items() if key[1] != "note"}
    if not grave:
        return ["checks: no error or warning"]
    listed = [f"{code} {severity} in {n:,}" for (code, severity), n in sorted(grave.items())]
    return _wrapped(f"checks: {', '.join(listed)}")


def _short(value: object) -> str:
    return view.cut(" ".join(str(value).split()), _LONGEST_TASK)
