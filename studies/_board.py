"""From estimates to tables: errors, ranks and verdicts of the comparison."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from studies._common import table
from studies._contestants import CALIBRATED, DEFAULT, RELEASED

# Parts that nothing was tuned on come first.
PARTS = {
    "d": "real problems of tables that nothing learned from",
    "b": "simulated scores, held out",
    "a": "simulated scores, the grid used in tuning",
}
# Parts of which something is promised; the other is only shown.
PROMISED = ("a", "d")
MARGIN, MAX_BIAS, WORST_SHARE = 0.005, 0.02, 0.5


@dataclass(frozen=True)
class Row:
    """One estimator on one data set."""

    part: str
    group: str
    source: str
    replicate: int
    estimator: str
    alpha: float
    beta: float
    true_alpha: float
    true_beta: float
    seconds: float
    refused: bool
    low: float
    high: float
    """Ends of the 95 % interval of beta - alpha; not a number where there is none."""

    @property
    def errors(self) -> tuple[float, float, float]:
        """Signed errors of alpha, beta and beta - alpha."""
        alpha, beta = self.alpha - self.true_alpha, self.beta - self.true_beta
        return alpha, beta, beta - alpha


@dataclass(frozen=True)
class Summary:
    """Errors of one estimator over many data sets."""

    alpha: float
    beta: float
    delta: float
    bias_alpha: float
    bias_delta: float
    worst: float
    holds: float
    width: float
    seconds: float
    refused: int
    n: int


def summarize(rows: Sequence[Row]) -> dict[str, Summary]:
    """A summary per estimator, best first."""
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row.estimator, []).append(row)
    found = {}
    for name, own in by_name.items():
        errors = np.array([row.errors for row in own])
        size = np.abs(errors).mean(axis=0)
        told = [row for row in own if not np.isnan(row.low)]
        inside = [row.low <= row.true_beta - row.true_alpha <= row.high for row in told]
        found[name] = Summary(
            alpha=float(size[0]),
            beta=float(size[1]),
            delta=float(size[2]),
            bias_alpha=float(errors[:, 0].mean()),
            bias_delta=float(errors[:, 2].mean()),
            worst=float(np.abs(errors[:, 2]).max()),
            holds=float(np.mean(inside)) if told else np.nan,
            width=float(np.mean([row.high - row.low for row in told])) if told else np.nan,
            seconds=float(np.median([row.seconds for row in own])),
            refused=sum(row.refused for row in own),
            n=len(own),
        )
    return dict(sorted(found.items(), key=lambda item: item[1].delta))


def board(
    rows: Sequence[Row], part: str, memory: Mapping[str, float], missing: Sequence[str]
) -> str:
    """The table of one part."""
    headers = [
        "estimator",
        "beta - alpha",
        "alpha",
        "beta",
        "bias of beta - alpha",
        "bias of alpha",
        "worst beta - alpha",
        "interval holds",
        "its width",
        "CPU ms",
        "MiB",
        "refused",
        "data sets",
    ]
    lines = [
        [
            f"**{name}**" if name == DEFAULT else name,
            *(f"{value:.4f}" for value in (s.delta, s.alpha, s.beta)),
            *(f"{value:+.4f}" for value in (s.bias_delta, s.bias_alpha)),
            f"{s.worst:.3f}",
            *(("", "") if np.isnan(s.holds) else (f"{s.holds:.0%}", f"{s.width:.3f}")),
            f"{1000 * s.seconds:.1f}",
            f"{memory[name]:.1f}" if name in memory else "",
            str(s.refused),
            str(s.n),
        ]
        for name, s in summarize([row for row in rows if row.part == part]).items()
    ]
    lines += [[name, "not installed", *[""] * (len(headers) - 2)] for name in missing]
    return table(headers, lines)


def by_source(rows: Sequence[Row], part: str, names: Sequence[str]) -> str:
    """Mean |error of beta - alpha| in each world or data set, of a few estimators."""
    own = [row for row in rows if row.part == part and row.estimator in names]
    groups = list(dict.fromkeys(row.group for row in own))
    present = [name for name in names if any(row.estimator == name for row in own)]
    lines = []
    for group in groups:
        found = summarize([row for row in own if row.group == group])
        # Slow ones may not have seen all of them.
        errors = (f"{found[name].delta:.4f}" if name in found else "" for name in present)
        lines.append([group, *errors])
    return table(["source", *present], lines)


def promises(rows: Sequence[Row]) -> tuple[list[list[str]], list[str]]:
    """Lines of the table of verdicts, and the promises that do not hold."""
    lines, failures = [], []
    for part in sorted(PARTS):
        own = [row for row in rows if row.part == part]
        if not own:
            continue
        found = summarize(own)
        mine = found.pop(DEFAULT)
        rivals = {name: s for name, s in found.items() if not (name == CALIBRATED and part == "a")}
        # Slow ones ran on part of the data, so they are compared on that part.
        best, margin = min(
            ((name, _lead(own, name, s)) for name, s in rivals.items()), key=lambda item: item[1]
        )
        limit = WORST_SHARE * found[RELEASED].worst if RELEASED in found else float("inf")
        broken = []
        if margin < -MARGIN:
            broken.append(f"{best} is better by {-margin:.4f}, more than {MARGIN:g}")
        if abs(mine.bias_delta) > MAX_BIAS:
            broken.append(f"bias {mine.bias_delta:+.4f}, beyond {MAX_BIAS:g}")
        if mine.worst > limit:
            broken.append(f"worst case {mine.worst:.3f}, above {limit:.3f}")
        lines.append(
            [
                f"({part})" if part in PROMISED else f"({part}), shown only",
                f"{mine.delta:.4f}",
                f"{rivals[best].delta:.4f} {best}",
                f"{mine.bias_delta:+.4f}",
                f"{mine.worst:.3f}",
                f"{2 * limit:.3f}",
                "yes" if not broken else "; ".join(broken),
            ]
        )
        if part in PROMISED:
            failures += [f"({part}) default: {text}" for text in broken]
    return lines, failures


def _lead(rows: Sequence[Row], name: str, rival: Summary) -> float:
    """By how much the default is ahead of a rival on the data both have seen."""
    seen = {(row.source, row.replicate) for row in rows if row.estimator == name}
    shared = [
        abs(row.errors[2])
        for row in rows
        if row.estimator == DEFAULT and (row.source, row.replicate) in seen
    ]
    return rival.delta - float(np.mean(shared))


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Keep every single estimate, for whoever wants another table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
