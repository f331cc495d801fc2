"""``purecover audit sample``: random unlabeled rows in a file to be filled in."""

from __future__ import annotations

import csv
import io
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from purecover._typing import BoolArray, IntArray
from purecover._validation import show
from purecover.audit.strata import plan_strata, spread_evenly, strata_of
from purecover.cli._columns import Request, Table, Words, list_columns
from purecover.cli._data import note_blank_labels, read_columns, read_rows
from purecover.cli._files import name_of
from purecover.cli._messages import CommandError, in_options, note, rename
from purecover.cli._options import DASH, DataOptions, undash
from purecover.cli._output import check_writable, write_atomically
from purecover.cli._progress import progress_bars
from purecover.exceptions import InvalidInputError, PurecoverError

__all__ = ["SIZE", "STRATUM", "in_our_words", "numbers", "run_sample"]

ROW, STRATUM, SIZE, ANSWER = "row", "stratum", "stratum_size", "positive"
"""Columns of the file beside those of the data."""


def run_sample(
    file: str,
    data: DataOptions,
    *,
    n: int,
    strata: str | None,
    shares: str | None,
    columns: str | None,
    seed: int,
    out: str | None,
    quiet: bool,
) -> int:
    """Draw rows and write them."""
    if file == DASH:
        raise CommandError("audit sample reads its file twice and needs its name, not -.")
    if data.weight is not None:
        raise CommandError("audit sample does not take --weight: each row is as likely as another.")
    if shares is not None and strata is None:
        raise CommandError("--shares needs --strata, whose shares they are.")
    to_stdout = out is None or out == DASH
    if out is not None and not to_stdout:
        check_writable("--out", out, not_this=file)
        _keep_answers(out)
    thresholds = [] if strata is None else sorted(set(numbers("--strata", strata)), reverse=True)
    with progress_bars(quiet=quiet) as steps:
        rows = read_rows(file, data, progress=steps("Reading"))
        table, names = _all_columns(file, data, columns, with_strata=bool(thresholds))
    candidates = ~rows.labeled if rows.negative is None else ~(rows.labeled | rows.negative)
    rng = np.random.default_rng(seed)
    stratum = strata_of(rows.scores, thresholds)
    sizes = np.bincount(stratum[candidates], minlength=len(thresholds) + 1)
    drawn = _draw(candidates, stratum, _allocation(n, sizes, thresholds, shares), rng)
    text = _csv(table, names, drawn, stratum, sizes, thresholds)
    if out is None or to_stdout:
        sys.stdout.write(text)
    else:
        with write_atomically("--out", out) as target:
            target.write(text.encode())
        note(
            f"{drawn.size:,} of {int(candidates.sum()):,} unlabeled rows written to {out}; fill in "
            f"its column {ANSWER!r} with yes or no",
            quiet=quiet,
        )
    note_blank_labels(rows, quiet=quiet)
    return 0


def _keep_answers(out: str) -> None:
    """Refuse to write over the work of a person."""
    try:
        with Path(out).open(newline="", encoding="utf-8") as old:
            answered = sum(bool((row.get(ANSWER) or "").strip()) for row in csv.DictReader(old))
    except (OSError, ValueError, csv.Error):
        return  # not there, or no such file
    if answered:
        raise CommandError(
            f"{show(out)} holds {answered:,} answers in column {ANSWER!r}, which would be lost.\n"
            "Hint: give another name to --out, or remove the file first."
        )


def _all_columns(
    file: str, data: DataOptions, columns: str | None, *, with_strata: bool
) -> tuple[Table, list[str]]:
    """The columns to copy, cell by cell as they stand in the file."""
    source = name_of(file)
    names: list[str] = []
    ours = [ROW, ANSWER, *([STRATUM, SIZE] if with_strata else [])]

    def request(available: list[str]) -> Request:
        wanted = available if columns is None else [c.strip() for c in columns.split(",")]
        for name in wanted:
            if name not in available:
                raise CommandError(
                    f"{source} has no column named {show(name)}, asked for by --columns.\n"
                    f"Hint: the columns are {list_columns(available)}."
                )
            if name in ours:
                raise CommandError(
                    f"{source} has a column {show(name)}, as the file of the audit is to have one "
                    "of its own.\nHint: rename it, or name the columns to copy with --columns."
                )
        names.extend(dict.fromkeys(wanted))
        words = {name: name for name in names}
        return Request({}, words, frozenset(words), data.decimal)

    return read_columns(file, request, data, asked=(data.score, data.labeled)), names


def _allocation(n: int, sizes: IntArray, thresholds: list[float], shares: str | None) -> IntArray:
    """How many rows of each stratum."""
    total = int(sizes.sum())
    if n > total:
        raise CommandError(f"--n must be at most {total:,}, the unlabeled rows there are, got {n}.")
    if not sizes.all():
        empty = _describe(int(np.argmin(sizes)), thresholds)
        raise CommandError(f"--strata leaves no unlabeled row with {empty}.")
    if n < sizes.size:
        raise CommandError(f"--n must be at least {sizes.size}, one for each stratum, got {n}.")
    if shares is None:
        return spread_evenly(n, sizes)
    guess = numbers("--shares", shares)
    try:
        return plan_strata(sizes, n, shares=guess, least=max(1, min(5, n // sizes.size)))
    except InvalidInputError as error:
        raise in_our_words(error) from error


def _draw(
    candidates: BoolArray, stratum: IntArray, each: IntArray, rng: np.random.Generator
) -> IntArray:
    """Row positions in random order, so that judges who stop early leave a random sample."""
    parts = [
        rng.choice(np.flatnonzero(candidates & (stratum == h)), size, replace=False)
        for h, size in enumerate(each.tolist())
    ]
    return np.asarray(rng.permutation(np.concatenate(parts)), dtype=np.int64)


def _csv(
    table: Table,
    names: list[str],
    drawn: IntArray,
    stratum: IntArray,
    sizes: IntArray,
    thresholds: list[float],
) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    marks = [STRATUM, SIZE] if thresholds else []
    writer.writerow([ROW, *marks, *names, ANSWER])
    for i in drawn.tolist():
        cells: list[Any] = [i + 1]
        if thresholds:
            h = int(stratum[i])
            cells += [f"{h + 1}: {_describe(h, thresholds)}", int(sizes[h])]
        cells += [_cell(table.words[name], i) for name in names]
        writer.writerow([*cells, ""])
    return text.getvalue()


def _cell(words: Words, i: int) -> Any:
    value = words.values[words.codes[i]]
    return "" if value is None else value


def _describe(h: int, thresholds: list[float]) -> str:
    """The scores of a stratum in words."""
    if h == len(thresholds):
        return f"score < {thresholds[-1]:g}"
    if h == 0:
        return f"score >= {thresholds[0]:g}"
    return f"{thresholds[h]:g} <= score < {thresholds[h - 1]:g}"


# -- words shared with the other commands ---------------------------------------------------------


def in_our_words(error: PurecoverError) -> CommandError:
    names = {
        "width": "--width",
        "alpha_guess": "--alpha-guess",
        "assurance": "--assurance",
        "shares": "--shares",
        "n_items": "--n",
    }
    return CommandError(in_options(rename(str(error), names)))


def numbers(option: str, text: str) -> list[float]:
    """Numbers with commas between them."""
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = [math.nan]
    if not all(map(math.isfinite, values)):
        shown = show(undash(text))
        raise CommandError(
            f"{option} must be numbers with commas between them, such as 0.8,0.5, got {shown}."
        )
    return values
