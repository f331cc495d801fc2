"""Many reports as lines of text: the best rows, what was left out, and checks that spoke."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from purecover.recovery._registry import METRICS

if TYPE_CHECKING:
    from purecover.report._many_reports import ManyReports, ManyRow

__all__ = ["render_many_text"]

SHOWN = 10
_LONGEST = 20
_WIDTH = 100
_REASONS = 5


def render_many_text(many: ManyReports) -> str:
    """A dozen lines or two, however many rows there are."""
    done, failed = many.evaluated, many.failed
    tasks, scores = {row.task for row in many}, {row.score for row in many}
    of = f"{_number_of(len(tasks), 'task')}, {_number_of(len(scores), 'score')}"
    lines = [f"{of}: {len(done):,} of {_number_of(len(many), 'row')} evaluated"]
    if done:
        lines += textwrap.wrap(_intervals(many), _WIDTH, subsequent_indent="    ")
        lines += ["", *_table(many)]
    if failed:
        lines += ["", *_left_out(failed)]
    if done:
        lines += ["", *_findings(done)]
    return "\n".join(lines)


def _intervals(many: ManyReports) -> str:
    level = f"{100 * many.confidence_level:g} %"
    estimated = sum(row.estimated_from is not None for row in many.evaluated)
    text = f"alpha estimated in {estimated:,} of them; " if estimated else "alpha given; "
    if many.simultaneous is None:
        text += f"each interval holds by itself with {level}"
        if len(many.evaluated) > 1:
            text += ", so that of many some miss"
        return text
    how = {"bonferroni": "Bonferroni", "sidak": "Šidák"}[many.simultaneous]
    return text + f"the intervals of a metric hold all at once with {level} ({how})"


def _table(many: ManyReports) -> list[str]:
    first = many.metrics[0]
    best = many.top(SHOWN, first)
    shown = best or many.evaluated[:SHOWN]
    others = list(many.metrics[1:3])
    wide = [
        max(len(head), *(len(_short(getattr(row, head))) for row in shown)) + 2
        for head in ("task", "score")
    ]
    head = f"{'task':<{wide[0]}}{'score':<{wide[1]}}{'labeled':>8}{'alpha':>7}"
    head += f"{'observed':>10}  {METRICS[first].title[:24]:<25}"
    head += "".join(f"{METRICS[name].title[:9]:>11}" for name in others)
    lines = [head.rstrip()]
    for row in shown:
        interval = row.intervals.get(first)
        value = _number(row.recovered[first])
        if interval is not None and math.isfinite(interval.low):
            value += f" [{_number(interval.low)}, {_number(interval.high)}]"
        alpha = math.nan if row.proportions is None else row.proportions.alpha
        text = f"{_short(row.task):<{wide[0]}}{_short(row.score):<{wide[1]}}"
        text += f"{row.n_labeled:>8,.5g}{alpha:>7.3f}{_number(row.observed[first]):>10}  "
        text += f"{value:<25}" + "".join(f"{_number(row.recovered[n]):>11}" for n in others)
        lines.append(text.rstrip())
    rest = len(many.evaluated) - len(shown)
    if rest:
        lines.append(f"... and {rest:,} more (the best by {METRICS[first].title} are shown)")
    return lines


def _left_out(failed: tuple[ManyRow, ...]) -> list[str]:
    lines = [f"not evaluated: {_number_of(len(failed), 'row')}"]
    for row in failed[:_REASONS]:
        text = f"{_short(row.task)}, {_short(row.score)}: {row.reason}"
        lines += textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    if len(failed) > _REASONS:
        lines.append(f"  ... and {len(failed) - _REASONS:,} more, see failed")
    return lines


def _findings(done: tuple[ManyRow, ...]) -> list[str]:
    spoke = Counter(finding for row in done for finding in row.findings)
    grave = {key: n for key, n in spoke.items() if key[1] != "note"}
    if not grave:
        return ["checks: no error or warning"]
    listed = [f"{code} {severity} in {n:,}" for (code, severity), n in sorted(grave.items())]
    text = f"checks that spoke: {', '.join(listed)}"
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ")


def _number_of(n: int, thing: str) -> str:
    return f"{n:,} {thing}" + ("" if n == 1 else "s")


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _number(value: float) -> str:
    return f"{value:.4f}" if math.isfinite(value) else "undefined"
