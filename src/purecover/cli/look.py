"""A first look into a file, for the local page: its columns, a few rows and the obvious roles."""

from __future__ import annotations

from contextlib import suppress
from glob import escape
from typing import Any

from purecover._validation import show
from purecover.cli import files
from purecover.cli.output import CommandError
from purecover.documents.formats import cut
from purecover.engines.data_files import DataFile, is_missing, quoted
from purecover.exceptions import PurecoverError

MAX_COLUMNS = 500
MAX_NAMES = 200_000
"""Characters of all names together."""
SHOWN_COLUMNS = 50
SHOWN_ROWS = 8
LOOKED_ROWS = 1000
"""First rows of a file, which show whether a column has few values."""
FEW_VALUES = 4
COUNTED_COLUMNS = 5
MAX_CELL = 80
_MOST_READ = 500  # characters of a cell, which may be of any size


def peek(file: str, limit: int) -> dict[str, Any]:
    """Names of the columns, whether each holds numbers, a few rows, and the obvious roles.

    A file that unpacks to more than ``limit`` bytes is refused before it does.
    """
    with files.opened([file], limit=limit) as (data,):
        names = list(data.names)
        if data.kind == "parquet" and (size := _unpacked_size(data, limit)) > limit:
            raise files.too_much(file, f"{size:,} bytes", limit)
        if len(names) > MAX_COLUMNS or sum(map(len, names)) > MAX_NAMES:
            raise CommandError(
                f"{file} has {len(names):,} columns, with names of {sum(map(len, names)):,} "
                f"characters together; up to {MAX_COLUMNS:,} columns and {MAX_NAMES:,} characters "
                "can be shown.\n"
                "Hint: keep the columns of scores and labels, or use the command line."
            )
        if len(names) == 1:
            raise CommandError(
                f"{file} has one column, {show(names[0])}; scores and labels need two.\n"
                "Hint: is it a table, with a separator such as a comma? The first line must name "
                "the columns, such as score,labeled."
            )
        rows = _first_rows(data)
        looked = range(min(len(names), SHOWN_COLUMNS) if rows else 0)
        few = [i for i in looked if len({row[i].strip() for row, _ in rows}) <= FEW_VALUES]
        few.sort(key=lambda i: names[i].strip().casefold() not in files.OBVIOUS["labeled"])
        values = {i: _value_counts(data, i, FEW_VALUES) for i in few[:COUNTED_COLUMNS]}
    rows = rows[:SHOWN_ROWS]
    columns = []
    for i, name in enumerate(names):
        cells = [(row[i], fine[i]) for row, fine in rows] if i in looked else []
        numbers = [fine for cell, fine in cells if not is_missing(cell)]
        about = {"name": name, "numbers": bool(numbers) and all(numbers)}
        columns.append(about | {"values": values.get(i, {})})
    guess: dict[str, str] = {}
    for role in files.OBVIOUS:
        found = files.obvious_columns(role, names, guess.values())
        if len(found) == 1:
            guess[role] = found[0]
    shown = [[cut("" if cell == "nan" else cell, MAX_CELL) for cell in row] for row, _ in rows]
    return {"columns": columns, "rows": shown, "guess": guess}


def _first_rows(data: DataFile) -> list[tuple[Any, ...]]:
    """Texts of the first cells, and whether they are numbers; none where they cannot be read."""
    cells = [data.cell(i) for i in range(min(SHOWN_COLUMNS, len(data.names)))]
    texts = ", ".join(f"left({text}, {_MOST_READ})" for text, _ in cells)
    numbers = ", ".join(f"{number} IS NOT NULL" for _, number in cells)
    scan = data.scan(data.names[:SHOWN_COLUMNS], lenient=True)
    with suppress(PurecoverError):
        return data.run(f"SELECT [{texts}], [{numbers}] FROM {scan} LIMIT {LOOKED_ROWS}")
    return []


def _value_counts(data: DataFile, index: int, most: int) -> dict[str, int]:
    """Rows by text of a column, blank ones under ""; nothing of more than ``most`` texts."""
    cell = f"trim({data.cell(index)[0]})"
    scan = data.scan([data.names[index]], lenient=True)
    query = f"SELECT {cell}, count(*) FROM {scan} GROUP BY 1 ORDER BY 2 DESC LIMIT {most + 2}"
    found: dict[str, int] = {}
    with suppress(PurecoverError):
        for text, rows in data.run(query):
            value = "" if is_missing(text) else cut(text, MAX_CELL)
            found[value] = found.get(value, 0) + rows
    return found if len(found) <= most else {}


def _unpacked_size(data: DataFile, limit: int) -> int:
    """Bytes of a Parquet file in memory; a number takes eight.

    The footer says how many bytes and cells there are. It may be wrong, and one text may stand for
    many cells: where it allows the file, texts and lists are measured as they are read.
    """
    ((packed, cells),) = data.run(
        "SELECT sum(size), max(cells) FROM (SELECT sum(abs(total_uncompressed_size)) AS size, "
        "sum(greatest(abs(num_values), abs(row_group_num_rows))) AS cells "
        f"FROM parquet_metadata({quoted(escape(data.path))}) GROUP BY column_id)"
    )
    # Equal cells take next to no room in the file, and one cell may be a list of many.
    size = max(int(packed or 0), 8 * int(cells or 0))
    sizes = {"VARCHAR": "strlen({})", "BLOB": "octet_length({})", "[]": "8 * len({})"}
    for i, kind in enumerate(data.types):
        measure = sizes.get("[]" if kind.endswith("[]") else kind)
        if measure is None or size > limit:
            continue
        of_cell = measure.format(f"c{i}")
        ((more,),) = data.run(f"SELECT sum({of_cell}) FROM {data.scan(())}")
        size = max(size, int(more or 0))
    return size
