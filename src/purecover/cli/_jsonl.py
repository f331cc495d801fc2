"""JSON lines: one object per line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from purecover._validation import show
from purecover.cli._columns import Collector, Request, Table
from purecover.exceptions import InvalidInputError

__all__ = ["read_jsonl"]

CHUNK = 1 << 15
_SAMPLE = 100


def read_jsonl(
    source: str,
    lines: Iterator[str],
    request: Callable[[list[str]], Request],
    *,
    tick: Callable[[], None],
) -> Table:
    """Read the columns that ``request`` picks from the keys of the first objects."""
    records = _records(source, lines)
    sample = list(islice(records, _SAMPLE))
    if not sample:
        raise InvalidInputError(
            f"{source} is empty.\n"
            'Hint: each line is an object, such as {"score": 0.7, "labeled": 1}.'
        )
    names = list(dict.fromkeys(key for _, record in sample for key in record))
    wanted = request(names)
    collector = Collector(source, wanted)
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
            raise InvalidInputError(
                f"{source}, line {number}, is not JSON: {what}; it starts {show(line[:40])}.\n"
                "Hint: JSON lines hold one complete object per line."
            ) from error
        if not isinstance(record, dict):
            raise InvalidInputError(
                f"{source}, line {number}, is not a JSON object: {show(record)}.\n"
                'Hint: each line is an object, such as {"score": 0.7, "labeled": 1}.'
            )
        yield number, record
