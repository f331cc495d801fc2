"""Commands that text and pages print, as a shell takes them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

FILE = "FILE"


def quoted(word: str) -> str:
    """Return a word as a shell takes it; control characters as escapes, which a terminal shows."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    shown = (each if each.isprintable() else f"\\U{ord(each):08x}" for each in escaped)
    return f"$'{''.join(shown)}'"


def options_of(given: Mapping[str, object]) -> list[str]:
    """Return options by the names of their parameters, each with its value as one word."""
    words = []
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words += [option] if value else []
        else:
            words += [
                f"{option}={each}" for each in (value if isinstance(value, tuple) else [value])
            ]
    return words


def command(name: str, file: str, given: Mapping[str, object]) -> str:
    """Return a command of ours about a file."""
    # Before options: a name that begins with a dash would be one of them.
    words = ["purecover", *name.split(), f"./{file}" if file.startswith("-") else file]
    return " ".join(map(quoted, [*words, *options_of(given)]))


@dataclass(frozen=True)
class Shell:
    """The file that a command has read, and its options that say what the columns mean.

    ``file`` is None where no single file has the rows. Where rows were ``judged``, the answers
    next to the file keep their cut.
    """

    file: str | None
    given: Mapping[str, object] = field(default_factory=dict)
    judged: bool = False

    def filled(self, text: str) -> str:
        """Return a command about FILE as one about this file; empty where it would not work."""
        before, sign, after = text.partition(f" {FILE}")
        if not sign:
            return text
        if self.file is None or (self.judged and "--threshold" in after):
            return ""
        return command(before.removeprefix("purecover "), self.file, self.given) + after
