"""Fields of a JSON document, taken one by one, with complaints that name the field."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._typing import FloatArray
from purecover._validation import bad_value, show
from purecover.exceptions import InvalidInputError, PurecoverError

__all__ = ["Fields", "Source", "check_finite"]

AGAIN = "write the report again with report.to_json()"


@dataclass(frozen=True)
class Source:
    """Who reads, and the parameter the document came in by."""

    function: str
    parameter: str
    what: str = "a report"

    def complaint(self, field: str, must: str, got: str, hint: str = AGAIN) -> InvalidInputError:
        """What to say of a field."""
        must = f"{self.what} of purecover whose field {field!r} is {must}"
        return bad_value(self.function, self.parameter, must, got, hint)


def check_finite(source: Source, value: Any, path: str = "") -> None:
    """Complain of NaN and infinity, which JSON does not have but Python would let in."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise source.complaint(
                path, "free of NaN and infinity", str(value), "write null for what is undefined"
            )
    elif isinstance(value, Mapping):
        for key, item in value.items():
            check_finite(source, item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            if not isinstance(item, int):  # most of them, in counts
                check_finite(source, item, f"{path}[{i}]")


class Fields:
    """The fields of one object of a document; ``path`` says where it stands."""

    def __init__(self, source: Source, data: Any, path: str = "") -> None:
        self.source = source
        self.path = path
        if not isinstance(data, Mapping):
            raise source.complaint(path, "an object with fields", show(data))
        self.data = data

    def at(self, key: str) -> str:
        """The whole name of a field."""
        return f"{self.path}.{key}" if self.path else key

    def wrong(self, key: str, must: str, hint: str = AGAIN) -> InvalidInputError:
        """What to say of a field that is there."""
        return self.source.complaint(self.at(key), must, show(self.data.get(key)), hint)

    def __getitem__(self, key: str) -> Any:
        if key not in self.data:
            raise self.source.complaint(self.at(key), "present", "none")
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def number(self, key: str, *, low: float = -math.inf, high: float = math.inf) -> float:
        """A finite number between two bounds, as it stands."""
        value = self[key]
        bounds = "" if low == -math.inf else f" between {low:g} and {high:g}"
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.wrong(key, f"a number{bounds}")
        if not low <= value <= high or abs(value) > sys.float_info.max:
            raise self.wrong(key, f"a number{bounds}")
        return value

    def number_or_nan(self, key: str) -> float:
        """A number; null means undefined."""
        return math.nan if self[key] is None else self.number(key)

    def whole(self, key: str) -> int:
        """A whole number of at least 0."""
        value = self[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.wrong(key, "a whole number of at least 0")
        return value

    def text(self, key: str) -> str:
        """Some text."""
        value = self[key]
        if not isinstance(value, str):
            raise self.wrong(key, "a text")
        return value

    def choice(self, key: str, choices: Collection[str]) -> Any:
        """One of a few words."""
        value = self[key]
        if not isinstance(value, str) or value not in choices:
            raise self.wrong(key, "one of " + ", ".join(repr(choice) for choice in choices))
        return value

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self[key]
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def items(self, key: str) -> list[Any]:
        """A list."""
        value = self[key]
        if not isinstance(value, (list, tuple)):
            raise self.wrong(key, "a list")
        return list(value)

    def fields(self, key: str) -> Fields:
        """An object with fields of its own."""
        return Fields(self.source, self[key], self.at(key))

    def optional(self, key: str) -> Fields | None:
        """An object, or null."""
        return None if self[key] is None else self.fields(key)

    def column(self, key: str, *, null: float = math.nan) -> FloatArray:
        """A list of numbers, in which null means ``null``."""
        values = self.items(key)
        for i, value in enumerate(values):
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, (int, float))
            ):
                must = "a number or null"
                raise self.source.complaint(f"{self.at(key)}[{i}]", must, show(value))
        try:
            return np.array([null if v is None else v for v in values], dtype=np.float64)
        except OverflowError as error:
            raise self.wrong(key, "a list of numbers that doubles can hold") from error

    def made(self, key: str, make: Any, *args: Any, **kwargs: Any) -> Any:
        """What a class of ours makes of a field; its complaint becomes one of the field."""
        try:
            return make(*args, **kwargs)
        except PurecoverError as error:
            first, _, hint = str(error).partition("\n")
            must = "one that purecover could have written"
            told = f"{show(self.data.get(key))}: {first.rstrip('.')}"
            hint = hint.removeprefix("Hint: ") or AGAIN
            raise self.source.complaint(self.at(key), must, told, hint) from error
