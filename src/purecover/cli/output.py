"""Output of commands: messages that name options, complete files, JSON."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TextIO

from purecover._shell import quoted
from purecover.exceptions import PurecoverError

COMMAND_LINE: ContextVar[tuple[str, ...]] = ContextVar("COMMAND_LINE", default=())
"""The arguments as they were given, for the page that records them."""

FIELDS: ContextVar[Mapping[str, str]] = ContextVar("FIELDS")
"""Labels of a form by option, where messages go to somebody who filled it in."""

STDIO = "-"
"""Standard input or output, where a file is asked for."""


def option(name: str) -> str:
    """Return what the user knows an option by."""
    return FIELDS.get({}).get(name, f"--{name.replace('_', '-')}")


def typed_command() -> str:
    """The command as it was typed, for the page it made."""
    return " ".join(map(quoted, ["purecover", *COMMAND_LINE.get()]))


def show(value: object) -> str:
    """A value in a message. The import is late, since it brings NumPy."""
    from purecover._validation import show as shown

    return shown(value)


class CommandError(PurecoverError):
    """Bad usage or bad input, with a message in terms of the command line.

    Not a ValueError, which the parser of the arguments would dress in words of its own.
    """


def refuse(because: str, **options: object) -> None:
    """Raise an error for the first of these options that was given."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise CommandError(f"--{name.replace('_', '-')} {because}")


def note(message: str, *, quiet: bool) -> None:
    """Something worth knowing that is neither a result nor an error."""
    if not quiet:
        if sys.stdout is not None:
            sys.stdout.flush()  # so that a terminal shows both in order
        say(f"purecover: {message}")


def say(message: str) -> None:
    """Print to standard error."""
    if sys.stderr is not None:  # closed by the caller
        tell(message, sys.stderr)


# What makes a terminal do something, or turns the direction of what it shows.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066\u2067\ud800-\udfff]")


def tell(text: object, stream: TextIO | None = None, end: str = "\n") -> None:
    """Print what people read, to standard output by default; all of it goes through here.

    Names and cells come from anybody: their control characters are shown, never sent, and so is
    what the encoding cannot show.
    """
    stream = sys.stdout if stream is None else stream
    shown = printable(str(text))
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(shown.encode(encoding, "backslashreplace").decode(encoding), file=stream, end=end)


def printable(text: str) -> str:
    """Return a text with its control characters as escapes."""
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def check_writable(option: str, path: str, *, not_this: str | None = None) -> None:
    """Refuse a path that cannot be written, before any long work is done."""
    target, reason = Path(path), "no permission"
    try:
        if path in ("", STDIO) or target.is_dir():
            raise CommandError(f"{option} must name a file, got {show(path)}.")
        if target.suffix.lower() in (".gz", ".zst", ".bz2", ".xz", ".zip"):
            raise CommandError(f"{option} must name a file that is not packed, got {show(path)}.")
        exists = target.exists()
        if not_this not in (None, STDIO) and exists and target.samefile(str(not_this)):
            raise CommandError(f"{option} {show(path)} would overwrite the data.")
        if os.access(target if exists else target.parent, os.W_OK):
            return
        if not target.parent.is_dir():
            reason = f"there is no directory {show(str(target.parent))}"
    except (OSError, ValueError) as error:
        reason = str(error)
    raise CommandError(f"{option} {show(path)} cannot be written: {reason}.")


def check_outputs(given: Mapping[str, Any], names: str, *, not_this: str | None = None) -> None:
    """Refuse paths of options that cannot be written, or that are one and the same."""
    seen: dict[str, str] = {}
    for name in names.split():
        if name not in given:
            continue
        option = f"--{name}"
        check_writable(option, given[name], not_this=not_this)
        real = os.path.realpath(given[name])
        if real in seen and real != os.devnull:
            raise CommandError(f"{seen[real]} and {option} name the same file.")
        seen[real] = option


@contextmanager
def write_atomically(option: str, path: str) -> Iterator[Any]:
    """A file that appears under its name only when it is complete."""
    from purecover._codec import replacing

    try:
        with replacing(Path(path)) as file:
            yield file
    except OSError as error:
        reason = error.strerror or str(error)
        raise CommandError(f"{option} {show(path)} cannot be written: {reason}.") from error


_KINDS = {"csv": "table", "html": "report", "markdown": "report"}


def deliver(
    found: Any,
    given: Mapping[str, Any],
    source: Mapping[str, Any],
    *,
    text: str | None = None,
    document: Mapping[str, Any] | None = None,
    **files: Callable[[], str],
) -> None:
    """Write the files that were asked for, and print a result as text or as JSON.

    ``text`` and ``document`` replace those of the result; ``files`` make the content of a file by
    the name of its option.
    """
    quiet = "quiet" in given
    asked = {name: make for name, make in files.items() if name in given}
    for name, make in asked.items():  # first: if that fails, nothing was printed
        with write_atomically(f"--{name}", given[name]) as file:
            file.write(make().encode())
    if "json" in given:
        more = {"source": source} if source else {}
        print_json({**(found.to_dict() if document is None else document), **more})
    elif not quiet:
        tell(found if text is None else text)
    for name in asked:
        note(f"{_KINDS[name]} written to {given[name]}", quiet=quiet)
    note_blanks(source, quiet=quiet)


def note_blanks(source: Mapping[str, Any], *, quiet: bool) -> None:
    """Say how many rows --missing-is-unlabeled changed."""
    for message in blank_notes(source):
        note(message, quiet=quiet)


def blank_notes(source: Mapping[str, Any]) -> list[str]:
    """Return the notes about blank labels."""
    n_blank = source.get("blank_labels")
    return [] if n_blank is None else [f"{n_blank:,} blank labels count as unlabeled"]


def hand_out(text: str) -> None:
    """Data on standard output: as they are for a program, and for people as all that they read."""
    if sys.stdout is not None and sys.stdout.isatty():
        tell(text, end="")
    elif sys.stdout is not None:
        sys.stdout.writelines(io.StringIO(text, newline=""))


def csv_text(header: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Return rows as lines of CSV; NaN is a blank cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([("" if v != v else v) for v in row] for row in rows)  # noqa: PLR0124
    return text.getvalue()


def print_json(document: dict[str, Any]) -> None:
    """One JSON document on standard output; results in it become plain data."""
    from purecover._codec import document_text, json_text, plain

    # What can be read back carries a checksum.
    text = document_text(document) if "schema" in document else json_text(plain(document))
    # JSON writes all control characters but this one as an escape by itself.
    tell(text.replace("\x7f", "\\u007f"))
