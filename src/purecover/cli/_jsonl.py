"""JSON lines, one object per line; or one array of objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

from purecover._validation import show
from purecover.cli._columns import Collector, Request, Table
from purecover.cli._messages import CommandError

__all__ = ["read_jsonl"]

CHUNK = 1 << 15
MAX_ARRAY = 1 << 26
_SAMPLE = 100
_EXPECTED = 'JSON lines hold one object per line, such as {"score": 0.7, "labeled": 1}.'


def read_jsonl(
    source: str,
    lines: Iterator[str],
    request: Callable[[list[str]], Request],
    *,
    tick: Callable[[], None],
) -> Table:
    """Read the columns that ``request`` picks from the keys of the first objects."""
    head: list[str] = []
    for line in lines:
        head.append(line)
        if line.strip():
            break
    is_array = head[-1:] != [] and head[-1].lstrip().startswith("[")
    records = (_items if is_array else _records)(source, chain(head, lines))
    sample = list(islice(records, _SAMPLE))
    if not sample:
        raise CommandError(f"{source} is empty.\nHint: {_EXPECTED}")
    names = list(dict.fromkeys(key for _, record in sample for key in record))
    wanted = request(names)
    collector = Collector(source, wanted, place="item" if is_array else "line")
    chunk = sample
    while chunk:
        cells = {
            role: [record.get(column) for _, record in chunk]
            for role, column in wanted.columns.items()
        }
        collector.add(cells, _line_of(chunk))
        tick()
        chunk = list(islice(records, CHUNK))
    return collector.finish()


def _line_of(chunk: list[tuple[int, dict[str, Any]]]) -> Callable[[int], int]:
    return lambda i: chunk[i][0]


def _records(source: str, lines: Iterator[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = f"{error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
            raise CommandError(
                f"{source}, line {number}, is not JSON: {what}; it starts {show(line[:40])}.\n"
                f"Hint: {_EXPECTED}"
            ) from error
        if not isinstance(record, dict):
            raise CommandError(
                f"{source}, line {number}, is not a JSON object: {show(record)}.\nHint: {_EXPECTED}"
            )
        yield number, record


def _items(source: str, lines: Iterator[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects of an array, which has to be held in memory as a whole."""
    parts, size = [], 0
    for line in lines:
        parts.append(line)
        size += len(line)
        if size > MAX_ARRAY:
            raise CommandError(
                f"{source} is a JSON array of more than {MAX_ARRAY:,} characters, too long to be "
                f"read at once.\nHint: {_EXPECTED}"
            )
    try:
        array = json.loads("".join(parts))
    except (ValueError, RecursionError) as error:
        raise CommandError(
            f"{source} starts like a JSON array but is not one: {error}.\nHint: {_EXPECTED}"
        ) from error
    for number, record in enumerate(array, start=1):
        if not isinstance(record, dict):
            raise CommandError(
                f"{source} is a JSON array whose item {number} is not an object: {show(record)}.\n"
                f"Hint: {_EXPECTED}"
            )
        yield number, record
