"""``purecover judge``: one row after another on the screen, each answered with one key."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import purecover as pu
from purecover._shell import command
from purecover.cli import output
from purecover.cli.options import COLUMNS, chosen, in_options, takes
from purecover.cli.output import STDIO, CommandError, show
from purecover.exceptions import PurecoverError

if TYPE_CHECKING:
    from purecover.audit.judging import Judging
    from purecover.cli.rows import FileRows

KEYS = {"y": "yes", "n": "no", "s": "skip", "b": "back", "q": "quit"}
_ASK = "Positive?  y yes   n no   s skip   b back   q quit "
_WIDTH = 100
_ESCAPES = re.compile(r"\x1b(\[[0-9;]*[A-Za-z~]|O?.)?")
_END = "\x04"
_LINK = re.compile(r"https?://\S+")


@takes(
    f"{COLUMNS} negative_label columns threshold review figure until n judge",
    threshold="Judge rows with at least this score, to estimate precision there; by default those "
    "above the score that half of the labeled rows reach.",
    figure="What the interval is of: auc (default), alpha or precision.",
    n="Stop after this many answers (default 10), unless --until says when.",
    columns="Columns to show, with commas between them; by default all but scores and labels, "
    "which would lead the judge.",
)
def judge(file: str, /, **given: Any) -> int:
    """Show rows of FILE one at a time, and save whether each is positive.

    y, n, s (skip), b (back) and q (quit) are the keys. Each answer is saved at once, in a CSV file
    next to FILE that ends in .judged.csv, and the interval shown again. Stop at any time: the
    same command goes on where you stopped.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet.
    """
    from purecover.audit.judging import TEN, Judging
    from purecover.cli.files import answers_beside
    from purecover.cli.rows import Columns, read_rows

    if file == STDIO:
        raise CommandError("FILE must be a file, since answers are kept next to it.")
    figure, width = _goal(given)
    n = given.get("n", TEN)
    if n < 1:
        raise CommandError(f"--n must be at least 1, got {n}.")
    kept = answers_beside(file)
    output.check_writable("the file of answers,", str(kept), not_this=file)
    rows = read_rows(file, Columns.among(given), cells=partial(visible, file, given))
    with naming(kept):
        judging = Judging(
            rows.scores,
            rows.labels,
            kept,
            negative_label=rows.beside["negative_label"],
            cells=shown_cells(rows, everything="columns" in given),
            figure=figure,
            **chosen(given, "judge threshold review"),
        )
        why = _ask_all(judging, file, width, None if width is not None else n)
    output.tell("\n".join(_summary(judging, file, rows, given, why)))
    return 0


@contextmanager
def naming(kept: Path) -> Iterator[None]:
    """Messages about a file of answers have its name."""
    try:
        yield
    except PurecoverError as error:
        if error.parameter == "file":
            error.parameter = kept.name
        raise


def visible(file: str, given: dict[str, Any], available: list[str]) -> list[str]:
    """Return the columns that judges may see, if they are there."""
    from purecover.cli import files

    for name in given.get("columns", ()):
        files.require_column(files.name_of(file), name, available, "asked for by --columns")
    return list(given.get("columns", available))


def shown_columns(rows: FileRows, *, everything: bool = False) -> dict[str, Any]:
    """Return the cells of columns for judges, by default without scores and labels."""
    from purecover.audit.designs import shown_as

    hidden = () if everything else (rows.columns["score"], rows.columns["labeled"])
    names = shown_as(rows.cells).items()
    return {heading: rows.cells[name] for heading, name in names if name not in hidden}


def shown_cells(rows: FileRows, *, everything: bool = False) -> Callable[[int], dict[str, str]]:
    """Return what gives the cells of a row."""
    columns = shown_columns(rows, everything=everything)
    return lambda row: {name: words.values[words.codes[row]] for name, words in columns.items()}


def _goal(given: dict[str, Any]) -> tuple[str, float | None]:
    """Return the figure, and how wide its interval may be."""
    words = given.get("until", "").split()
    figure = words.pop(0) if words and words[0].isalpha() else given.get("figure", "auc")
    if given.get("figure", figure) != figure:
        raise CommandError(
            f"--until and --figure name different metrics, {figure} and {given['figure']}."
        )
    if "until" not in given:
        return figure, None
    try:
        (word,) = words
        width = float(word)
    except ValueError:
        width = 0.0
    if not 0 < width < 1:
        raise CommandError(
            f"--until must be the width of an interval, got {show(given['until'])}.\n"
            'Hint: --until 0.1, or --until "precision 0.1".'
        )
    return figure, width


def _ask_all(judging: Judging, file: str, width: float | None, n: int | None) -> str:
    """Ask until there are answers enough or the judge leaves; return why it stopped."""
    with _terminal() as (read, screen):
        status, changed = "", True
        while True:
            if judging.row is None:
                return "all"
            if changed:
                screen(_page(judging, file, n, status or "Computing the interval ..."), True)
                status, found = judging.status()
                if width is not None and found is not None and found.width <= width:
                    return "narrow"
            tally = judging.tally()
            if changed and n is not None and tally["yes"] + tally["no"] >= n:
                return "enough"
            screen(_page(judging, file, n, status), False)
            key = next(key for key in iter(read, None) if key in KEYS)
            if key == "q":
                return "left"
            changed = key != "b"
            if not changed:
                judging.back()
                continue
            judging.answer(KEYS[key])


def _page(judging: Judging, file: str, n: int | None, status: str) -> Any:
    """Return the row of now, the interval and the keys."""
    from rich.console import Group
    from rich.rule import Rule
    from rich.table import Table
    from rich.text import Text

    row = judging.row
    if row is None:
        return Text("")
    tally = judging.tally()
    done = f"{tally['yes'] + tally['no']}" + ("" if n is None else f" of {n}")
    by = f" by {judging.judge}" if judging.judge else ""
    cells = Table.grid(padding=(0, 2, 0, 0))
    cells.add_column(style="bold", overflow="fold", max_width=24)
    cells.add_column(overflow="fold")
    shown = judging.cells(row)
    if not shown:
        cells.add_row("", f"The file has no other columns: look up row {row + 1:,} elsewhere.")
    for name, value in shown.items():
        text = Text(output.printable(value))
        for link in _LINK.finditer(text.plain):  # stays whole where it does not fit into a line
            text.stylize(f"link {link[0]}", link.start(), link.end())
        cells.add_row(output.printable(name), text)
    notes = []
    if (said := judging.said(row)) is not None:
        notes.append(f"You said {said}.")
    if note := judging.note(row):
        notes.append(note)
    title = f"{Path(file).name}, row {row + 1:,}: {done} answered{by}"
    return Group(
        Rule(Text(output.printable(title)), align="left"),
        cells,
        Rule(),
        Text("\n".join([*notes, status, _ASK]), style=""),
    )


Reader = Callable[[], str]
Screen = Callable[[Any, bool], None]
"""Shows a page; the flag says that another version of it follows soon."""


@contextmanager
def _terminal() -> Iterator[tuple[Reader, Screen]]:
    """Yield what reads a key and what shows a page; lines are read where there is no terminal."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=False)
    console.width = min(console.width, _WIDTH)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):

        def read_line() -> str:
            word = (sys.stdin.readline() or "q").strip().casefold()
            if word in (word[:1], KEYS.get(word[:1])):
                return word[:1]
            output.say(f"purecover: {show(word)} is not recorded: one answer a line, such as y")
            return ""

        yield read_line, lambda page, brief: None if brief else console.print(page)
        return

    def show_page(page: Any, _: bool) -> None:
        console.clear()
        console.print(page, end="")

    with _raw_keys() as read:
        yield read, show_page
        console.clear()


@contextmanager
def _raw_keys() -> Iterator[Reader]:
    """Yield what waits for a key that needs no Enter."""
    if sys.platform == "win32":
        import msvcrt

        yield lambda: msvcrt.getwch().casefold()
        return
    import termios
    import tty

    typed: list[str] = []

    def read() -> str:
        while not typed:
            got = os.read(sys.stdin.fileno(), 1024)
            # An arrow ends in a letter that is no answer; Ctrl-D and a closed terminal quit.
            text = _ESCAPES.sub("", got.decode("utf-8", "ignore")) if got else _END
            typed.extend(text.replace(_END, "q").casefold())
        return typed.pop(0)

    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield read
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _summary(
    judging: Judging, file: str, rows: FileRows, given: dict[str, Any], why: str
) -> list[str]:
    """Return what was answered, what follows from it, and what to do next."""
    from purecover.audit.judging import remarks
    from purecover.report.settings import gathered

    wide = min(shutil.get_terminal_size((_WIDTH, 0)).columns, _WIDTH)
    fill = partial(textwrap.fill, width=wide)
    tally, kept = judging.tally(), judging.file.name
    if not judging.judges:
        return [judging.status()[0], "No row was judged."]
    lines = [f"{tally['yes']} yes, {tally['no']} no, {tally['skip']} skipped; saved in {kept}."]
    if judging.figure == "precision":  # the others are in the report
        lines.append(judging.status()[0])
    try:
        lines += [f"  {line}" for line in remarks(judging)]
        how = chosen(given, "threshold review") | rows.beside
        judged = judging.judged()
        report = pu.evaluate(rows.scores, judged=judged, **gathered({**how, "progress": False}))
        lines += ["", *map(fill, report.headline[:2]), ""]
    except PurecoverError as error:
        lines.append(f"No report yet: {in_options(error)}")
    options = chosen(given, f"{COLUMNS} negative_label threshold review")
    lines.append(f"Next: {command('evaluate', file, {'judged': True} | options)}")
    if why in ("left", "enough"):
        lines.append("Go on: the same command" + (" with a larger --n" if why == "enough" else ""))
    return lines
