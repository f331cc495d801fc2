"""Words of the command line turned into numbers, with complaints that name the option."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, overload

from purecover.cli._messages import CommandError

__all__ = ["DASH", "number", "share", "share_hint", "undash", "whole"]

DASH = "<->"
"""What a lone "-" (standard input or output) becomes before the arguments are parsed."""

_PERCENTAGE = re.compile(r"\+?(\d+(?:[.,]\d+)?|[.,]\d+)\s*(%?)")

Converter = Callable[[Any, Any], Any]
"""Takes a type and the tokens given for it, as the parser wants it."""


@overload
def undash(text: str) -> str: ...
@overload
def undash(text: str | None) -> str | None: ...
def undash(text: str | None) -> str | None:
    """The text as it was typed."""
    return "-" if text == DASH else text


def number(_: Any, tokens: Any) -> float:
    """A number, finite or not."""
    option, text = _given(tokens)
    try:
        return float(text)
    except ValueError:
        hint = "\nHint: write a decimal point, not a comma." if "," in text else ""
        raise CommandError(f"{option} must be a number, got {text!r}.{hint}") from None


def share(_: Any, tokens: Any) -> float:
    """A number in [0, 1]; percentages are explained, not guessed."""
    option, text = _given(tokens)
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise CommandError(f"{option} must be a number in [0, 1], got {text!r}.{share_hint(text)}")
    return value


def share_hint(text: str) -> str:
    """What 25, 25% or 0,25 should have been, as the last line of a complaint."""
    from purecover.proportions import LEAST_PERCENTAGE

    match = _PERCENTAGE.fullmatch(text.strip())
    if match is None:
        return ""
    value = float(match[1].replace(",", "."))
    if not match[2] and 1 < value < LEAST_PERCENTAGE:
        return ""
    if match[2] or value > 1:
        value /= 100
    return f"\nHint: {value:.6g} means {100 * value:.6g} %." if value <= 1 else ""


def whole(low: int) -> Converter:
    """A whole number of at least ``low``."""

    def convert(_: Any, tokens: Any) -> int:
        option, text = _given(tokens)
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if value < low:
            raise CommandError(
                f"{option} must be a whole number of at least {low}, got {text[:80]!r}."
            )
        return value

    return convert


def _given(tokens: Any) -> tuple[str, str]:
    """The option, and its value as it was typed."""
    return str(tokens[0].keyword), undash(str(tokens[0].value))
