"""Which columns are features, by name: lists of names in options, and names that tell a leak."""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from purecover.cli._columns import OBVIOUS, list_columns
from purecover.cli._messages import CommandError
from purecover.cli._options import DASH

__all__ = ["Choice", "choose_features", "join_names", "split_names"]

# Names of one letter tell nothing: y may well be a coordinate.
_TELLTALE = {
    "scores": tuple(name for name in OBVIOUS["score"] if len(name) > 1),
    "labels": tuple(name for name in OBVIOUS["labeled"] if len(name) > 1),
    "true classes": (
        "truth", "true_class", "true_classes", "true_label", "true_labels", "y_true",
        "ground_truth", "groundtruth", "positive",
    ),
    "strata of scores": ("stratum", "stratum_size"),
}  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """Columns to be looked at, and how they came to be chosen.

    Attributes
    ----------
    names : tuple of str
        Columns to be looked at.
    listed : bool
        Whether ``--features`` named them.
    unwanted : tuple of str
        What ``--drop`` named.
    set_aside : dict of str to str
        Columns left out for their name, and what it says they hold.
    """

    names: tuple[str, ...] = ()
    listed: bool = False
    unwanted: tuple[str, ...] = ()
    set_aside: dict[str, str] = field(default_factory=dict)

    def how_to_leave_out(self, names: Sequence[str]) -> str:
        """What to do about columns that had better not be used."""
        if self.listed:
            return f"take {'it' if len(names) == 1 else 'them'} out of --features"
        value = join_names([*self.unwanted, *names])
        # A shell passes a leading dash on, and it would be taken for another option.
        return f"use --drop={value}" if value.startswith("-") else f"use --drop {value}"


def split_names(text: str) -> list[str]:
    """Names with commas between them, each once; a quoted name may hold commas itself."""
    if text == DASH:
        return ["-"]
    try:
        words = next(csv.reader([text], skipinitialspace=True, strict=True), []) or [""]
    except csv.Error:  # a quote that is part of a name
        words = text.split(",")
    return list(dict.fromkeys(word.strip() for word in words))


def join_names(names: Sequence[str]) -> str:
    """What ``split_names`` takes apart again, ready to be pasted into a shell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return shlex.quote(text.getvalue())


def choose_features(
    source: str,
    available: Sequence[str],
    taken: Mapping[str, str],
    *,
    features: str | None,
    drop: str | None,
) -> Choice:
    """Columns to be looked at; ``taken`` are those with another role."""
    roles = {column: role for role, column in taken.items()}
    if features is not None:
        listed = _find(source, "--features", features, available)
        for name in listed:
            if name in roles:
                raise CommandError(f"--features names column {name!r}, which is --{roles[name]}.")
        return Choice(tuple(listed), listed=True)
    unwanted = [] if drop is None else _find(source, "--drop", drop, available)
    twice = next((name for name in available if available.count(name) > 1), None)
    if twice is not None:
        raise CommandError(
            f"{source} has {available.count(twice)} columns named {twice!r}.\n"
            "Hint: rename them, or name the columns to use with --features."
        )
    rest = [name for name in available if name not in roles and name not in unwanted]
    telling = {name: what for name in rest if (what := _told_by(name)) is not None}
    names = tuple(name for name in rest if name not in telling)
    return Choice(names, unwanted=tuple(unwanted), set_aside=telling)


def _find(source: str, option: str, text: str, available: Sequence[str]) -> list[str]:
    names = split_names(text)
    for name in names:
        times = available.count(name)
        if times != 1:
            what = "no column" if times == 0 else f"{times} columns"
            quotes = ""
            if any("," in column for column in available):
                quotes = f" Quote a name that holds a comma: {option} {join_names(['a,b', 'c'])}."
            raise CommandError(
                f"{source} has {what} named {name!r}, asked for by {option}.\n"
                f"Hint: the columns are {list_columns(available)}.{quotes}"
            )
    return names


def _told_by(name: str) -> str | None:
    """What a column holds that is no feature, if its name says so."""
    plain = re.sub(r"[\s_-]+", "_", name.strip().casefold())
    return next((what for what, names in _TELLTALE.items() if plain in names), None)
