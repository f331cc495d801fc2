"""The column names of a file and its first rows, for whoever has to choose among them."""

from __future__ import annotations

import gzip
import re
import tempfile
import zlib
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from purecover._validation import show
from purecover.cli._columns import OBVIOUS, Request, is_missing, parse_number
from purecover.cli._files import _bad_gzip as bad_gzip
from purecover.cli._files import read_table
from purecover.cli._messages import CommandError
from purecover.exceptions import PurecoverError

__all__ = ["peek", "refuse_bomb"]

MAX_COLUMNS = 500
MAX_NAMES = 200_000
"""Characters of all names together."""
SHOWN_COLUMNS = 50
SHOWN_ROWS = 8
MAX_CELL = 80
_SAMPLE = 1 << 18
_ARRAY = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\{")
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_MORE_OBVIOUS = {
    "truth": ("truth", "y_true", "true", "true_class", "true_label"),
    "weight": ("weight", "weights", "sample_weight"),
    "group": ("group", "groups", "group_id"),
}


class _EnoughError(PurecoverError):
    """Stops a reader that has said what was wanted."""


def peek(file: str) -> dict[str, Any]:
    """Names of the columns, whether each holds numbers, a few rows, and the obvious roles."""
    names = _names(file)
    if len(names) > MAX_COLUMNS or sum(map(len, names)) > MAX_NAMES:
        raise CommandError(
            f"{file} has {len(names):,} columns, with names of {sum(map(len, names)):,} characters "
            f"together; up to {MAX_COLUMNS:,} columns and {MAX_NAMES:,} characters can be shown.\n"
            "Hint: keep the columns of scores and labels, or use the command line."
        )
    if len(names) == 1:
        raise CommandError(
            f"{file} has one column, {show(names[0])}; scores and labels need two.\n"
            "Hint: is it a table, with a separator such as a comma? The first line must name the "
            "columns, such as score,labeled."
        )
    shown = names[:SHOWN_COLUMNS]
    try:
        rows = _first_rows(file, shown)
    except PurecoverError:  # the whole file may still be fine: its middle was cut here
        rows = []
    columns = []
    for i, name in enumerate(names):
        cells = [row[i] for row in rows] if i < len(shown) else []
        numbers = [parse_number(cell)[1] is None for cell in cells if not is_missing(cell)]
        columns.append({"name": name, "numbers": bool(numbers) and all(numbers)})
    return {
        "columns": columns,
        "rows": [[_shown(cell) for cell in row] for row in rows],
        "guess": _guess(names),
    }


def refuse_bomb(file: str, limit: int) -> None:
    """Complain of a gzipped file that is damaged or holds more than ``limit`` bytes."""
    path = Path(file)
    with path.open("rb") as raw:
        if raw.read(2) != _GZIP:
            return
        raw.seek(0)
        size = 0
        with gzip.GzipFile(fileobj=raw) as stream:
            try:
                while part := stream.read(1 << 20):
                    size += len(part)
                    if size > limit:
                        raise CommandError(
                            f"{file} has {path.stat().st_size:,} bytes but unpacks to more than "
                            f"{limit:,}, the limit.\nHint: purecover app --max-upload raises it."
                        )
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise bad_gzip(file, error) from error


def _names(file: str) -> list[str]:
    """What the reader itself takes for the column names, with all of its complaints."""
    found: list[str] = []

    def stop(names: list[str]) -> Request:
        found.extend(names)
        raise _EnoughError

    with suppress(_EnoughError):
        read_table(file, stop)
    return found


def _first_rows(file: str, names: list[str]) -> list[list[Any]]:
    """Cells of the first rows, in the order of the names."""
    path = Path(file)
    with path.open("rb") as stream:
        head = stream.read(_SAMPLE)
    if head.startswith(b"PAR1"):
        return _parquet_rows(file, names)
    if head.startswith(_GZIP):
        with gzip.open(path, "rb") as unpacked:
            head = unpacked.read(_SAMPLE)
    if _ARRAY.match(head) and not head.startswith(_GZIP):
        return _text_rows(file, names)  # an array is read as a whole, or not at all
    if head.startswith((b"PAR1", *_UTF16)):
        return []  # where a cut is not a matter of a line's end
    if len(head) == _SAMPLE:
        head = head[: head.rfind(b"\n") + 1]
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        # The name tells the format.
        sample = Path(folder) / re.sub(r"\.gz$", "", path.name, flags=re.IGNORECASE)
        sample.write_bytes(head)
        return _text_rows(str(sample), names)


def _text_rows(file: str, names: list[str]) -> list[list[Any]]:
    """The first rows of a short text, by the same reader as the whole."""
    roles = {str(i): name for i, name in enumerate(names) if names.count(name) == 1}
    table = read_table(file, lambda _: Request({}, roles, frozenset(roles)))
    rows = []
    for at in range(min(SHOWN_ROWS, table.n_rows)):
        cells = {role: words.values[words.codes[at]] for role, words in table.words.items()}
        rows.append([cells.get(str(i)) for i in range(len(names))])
    return rows


def _parquet_rows(file: str, names: list[str]) -> list[list[Any]]:
    from purecover.cli._parquet import _open

    _, chunks = _open(file)
    for cells in chunks(names):
        columns = [list(islice(cells[name], SHOWN_ROWS)) for name in names]
        return [list(row) for row in zip(*columns, strict=True)]
    return []


def _shown(cell: Any) -> str:
    """A cell as a short text."""
    if cell is None or cell != cell:  # noqa: PLR0124 - NaN
        return ""
    text = cell.decode(errors="replace") if isinstance(cell, bytes) else str(cell)
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"


def _guess(names: list[str]) -> dict[str, str]:
    """Roles whose column is plain from its name."""
    guess: dict[str, str] = {}
    for role, usual in (OBVIOUS | _MORE_OBVIOUS).items():
        found = [name for name in names if name.strip().casefold() in usual]
        if len(found) == 1 and found[0] not in guess.values():
            guess[role] = found[0]
    return guess
