"""Opening what the user named: plain or gzipped text, Parquet, standard input."""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO, cast

from purecover._validation import show
from purecover.cli._columns import Request, Table
from purecover.cli._csv import DELIMITERS, read_csv
from purecover.cli._jsonl import read_jsonl
from purecover.cli._messages import CommandError
from purecover.cli._options import DASH
from purecover.cli._parquet import read_parquet

__all__ = ["name_of", "read_table", "require_file"]

MAX_LINE = 1 << 26
_HEAD = 4096
_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
# An object, or an array of them: a header such as [score],[labeled] is neither.
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*\{)")
_FOREIGN = {
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"ARROW1": "an Arrow or Feather file",
    b"SQLite format 3": "an SQLite data base",
    b"%PDF": "a PDF",
}

Progress = Callable[[int, int], None]
"""Bytes read so far, and bytes in all (0 if unknown)."""


def name_of(file: str) -> str:
    """The file in a message."""
    return "standard input" if file == DASH else file


def require_file(file: str) -> None:
    """Complain of a file that is not there, before anything slow is loaded for it.

    It is not opened: what comes through a pipe can be read only once.
    """
    if file == DASH:
        return
    with suppress(OSError, ValueError):  # which the reader explains
        path = Path(file)
        if path.is_dir():
            raise CommandError(f"{show(file)} is a directory, not a file.")
        if not path.exists():
            raise CommandError(f"there is no file {show(file)}.")


def read_table(
    file: str,
    request: Callable[[list[str]], Request],
    *,
    file_format: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    asked: frozenset[str] = frozenset(),
    progress: Progress | None = None,
) -> Table:
    """Read the columns that ``request`` picks once it is told which there are."""
    source = name_of(file)
    if delimiter is not None:
        delimiter = _one_character(delimiter)
    with ExitStack() as stack:
        raw, size = _open(file, stack)
        stream, head = _with_head(raw)
        if head.startswith(b"\x1f\x8b"):
            stream, head = _with_head(cast("BinaryIO", gzip.GzipFile(fileobj=stream)), source)
        kind = file_format or _format_of(file, head)
        if kind == "parquet" or head.startswith(b"PAR1"):
            path = file if stream is raw and file != DASH else _spool(stream, stack)
            return read_parquet(source, path, request, tick=lambda: None)
        _refuse_binary(source, head)

        def tick() -> None:
            if progress is not None:
                progress(raw.tell() if size else 0, size)

        lines = _lines(source, stream, _encoding_of(encoding, head))
        if kind == "jsonl":
            return read_jsonl(source, lines, request, tick=tick)
        return read_csv(
            source,
            lines,
            request,
            delimiter=delimiter or ("\t" if kind == "tsv" else None),
            asked=asked,
            tick=tick,
        )


def _open(file: str, stack: ExitStack) -> tuple[BinaryIO, int]:
    """A binary stream, and its size if that is known."""
    if file == DASH:
        return cast("BinaryIO", sys.stdin.buffer), 0
    try:
        raw = stack.enter_context(Path(file).open("rb"))  # noqa: SIM115 - the stack closes it
        size = os.fstat(raw.fileno()).st_size if raw.seekable() else 0
    except FileNotFoundError:
        raise CommandError(f"there is no file {show(file)}.") from None
    except IsADirectoryError:
        raise CommandError(f"{show(file)} is a directory, not a file.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CommandError(f"{show(file)} cannot be opened: {reason}.") from error
    return raw, size


class _Rejoined(io.RawIOBase):
    """A stream whose first bytes were already taken, whole again."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        part = self._head[: len(buffer)]
        if not part:
            part = self._rest.read(len(buffer))
        self._head = self._head[len(part) :]
        buffer[: len(part)] = part
        return len(part)


def _with_head(raw: BinaryIO, source: str = "") -> tuple[BinaryIO, bytes]:
    """The stream and its first bytes, still to be read."""
    start = raw.tell() if raw.seekable() else None
    try:
        head = raw.read(_HEAD)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _bad_gzip(source, error) from error
    if start is None or isinstance(cast("object", raw), gzip.GzipFile):
        return cast("BinaryIO", io.BufferedReader(_Rejoined(head, raw))), head
    raw.seek(start)
    return raw, head


def _format_of(file: str, head: bytes) -> str:
    suffixes = [suffix.lower() for suffix in Path(file).suffixes if suffix.lower() != ".gz"]
    known = _FORMATS.get(suffixes[-1] if suffixes else "")
    return known or ("jsonl" if _JSON.match(head) else "csv")


def _refuse_binary(source: str, head: bytes) -> None:
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise CommandError(
                f"{source} is {what}, which purecover does not read.\n"
                "Hint: export it as CSV or Parquet."
            )
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise CommandError(
            f"{source} holds binary data, not text.\n"
            "Hint: purecover reads CSV, TSV, JSON lines (each also gzipped) and Parquet."
        )


def _encoding_of(encoding: str, head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    return "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding


def _lines(source: str, stream: BinaryIO, encoding: str) -> Iterator[str]:
    """Lines of text; broken encodings and archives become errors of ours."""
    number = 0
    try:
        text = io.TextIOWrapper(stream, encoding=encoding, newline="")
    except LookupError:
        raise CommandError(f"there is no text encoding {show(encoding)}.") from None
    try:
        # A limit, so that one endless line cannot fill the memory.
        while line := text.readline(MAX_LINE):
            if len(line) == MAX_LINE:
                raise CommandError(
                    f"{source} has a line of more than {MAX_LINE:,} characters after line {number}."
                )
            number += 1
            yield line
    except UnicodeError as error:
        what = str(error)
        if isinstance(error, UnicodeDecodeError):
            what = f"byte 0x{error.object[error.start]:02x}, {error.reason}"
        raise CommandError(
            f"{source} is not {encoding.removesuffix('-sig')} text, in line {number + 1} or below "
            f"({what}).\nHint: name its encoding, such as --encoding latin-1."
        ) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _bad_gzip(source, error) from error
    finally:
        # Standard input is not ours to close.
        if not text.closed:
            text.detach()


def _bad_gzip(source: str, error: Exception) -> CommandError:
    return CommandError(
        f"{source} is a damaged gzip file: {error}.\nHint: was it copied completely?"
    )


def _spool(stream: BinaryIO, stack: ExitStack) -> str:
    """A stream on disk, where Parquet readers can jump about in it."""
    copy = stack.enter_context(
        tempfile.NamedTemporaryFile(suffix=".parquet")  # noqa: SIM115 - the stack closes it
    )
    while part := stream.read(1 << 20):
        copy.write(part)
    copy.flush()
    return copy.name


def _one_character(delimiter: str) -> str:
    named = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", DASH: "-"}
    chosen = named.get(delimiter, delimiter)
    if len(chosen) != 1 or chosen in '\r\n" ':
        words = ", ".join(repr(d) for d in DELIMITERS)
        raise CommandError(
            f"--delimiter must be one character such as {words}, got {show(delimiter)}."
        )
    return chosen
