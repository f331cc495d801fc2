"""Saving results: plain data, JSON that people can page through, and files written whole.

A saved form is declared once, as types with docstrings. msgspec reads documents by them; their
JSON Schema is made of them, and complaints about a field say what the schema asks of it.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeVar

import numpy as np

from purecover._typing import FloatArray, OrNan
from purecover._validation import bad_type, bad_value, check_integer, show
from purecover.exceptions import InvalidInputError, PurecoverError

FormT = TypeVar("FormT")


class Saved:
    """A result that is written as its fields."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; what is undefined becomes None."""
        return plain_fields(self)


def plain_fields(result: Any, *also: str, **instead: Any) -> dict[str, Any]:
    """The fields of a result and what it knows ``also``; some in another form ``instead``."""
    names = [field.name for field in fields(result) if not field.name.startswith("_")]
    return picked(result, *names, *also) | plain(instead)


def picked(result: Any, *names: str) -> dict[str, Any]:
    """Some of what a result knows, as plain data."""
    return {name: plain(getattr(result, name)) for name in names}


def plain(value: Any) -> Any:
    """Data that JSON can hold: what is not finite becomes None."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, np.ndarray) and (value.dtype.kind != "f" or np.isfinite(value).all()):
        return value.tolist()
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        kinds = {*map(type, value)}  # of many numbers there are few
        if kinds <= {int, bool} or (kinds <= {int, float} and all(map(math.isfinite, value))):
            return list(value)
        return [plain(item) for item in value]
    return str(value)


def json_text(value: Any, indent: int | None = 2) -> str:
    """Strict JSON; with an indent, a list of numbers stays on one line however long it is."""
    if indent is None:
        return json.dumps(value, allow_nan=False)
    return _text(value, " " * check_integer("indent", indent, low=0, high=16), "\n")


def checksum(content: Mapping[str, Any]) -> str:
    """Of plain data, however they are laid out."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def document_text(document: Mapping[str, Any], indent: int | None = 2) -> str:
    """A document of ours as JSON, with a checksum that `Source.parse` looks at."""
    content = plain(document)
    return json_text(content | {"checksum": checksum(content)}, indent)


_LONG = (dict, list, str)


def _text(value: Any, step: str, newline: str) -> str:
    inner = newline + step
    if isinstance(value, dict) and value:
        rows = (f"{json.dumps(str(k))}: {_text(v, step, inner)}" for k, v in value.items())
        return f"{{{inner}{f',{inner}'.join(rows)}{newline}}}"
    if isinstance(value, list) and any(issubclass(kind, _LONG) for kind in {*map(type, value)}):
        return f"[{inner}{f',{inner}'.join(_text(item, step, inner) for item in value)}{newline}]"
    return json.dumps(value, allow_nan=False)


def sealed(kind: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays to be written by `numpy.savez`, with their kind, its version and a checksum."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return {**arrays, "seal": np.array(f"{kind} sha256:{found.hexdigest()}")}


def read_sealed(kind: str, file: IO[bytes]) -> dict[str, Any]:
    """The arrays of a file, if they are what was written."""
    got = "one whose content does not fit its checksum: it was changed or damaged"
    try:
        with np.load(file, allow_pickle=False) as stored:
            arrays = dict(stored)
        if arrays.pop("seal") == sealed(kind, arrays)["seal"]:
            return arrays
    except Exception as error:  # noqa: BLE001 - a damaged archive may raise whatever it likes
        got = f"a damaged file ({' '.join(str(error).split())[:100]})"
    must = f"a file of {kind} as it was written"
    raise bad_value("file", must, got, "install purecover again, or take it from a backup")


def written(form: Any, *results: Any, **given: Any) -> dict[str, Any]:
    """The fields that a form declares, as given or of the first result that has them."""
    from msgspec import UNSET

    values = {
        name: given[name]
        if name in given
        else next(getattr(each, name) for each in results if hasattr(each, name))
        for name in form.__struct_fields__
    }
    return {name: plain(value) for name, value in values.items() if value is not UNSET}


def restored(result: type[FormT], saved: Any, /, **given: Any) -> FormT:
    """A result whose fields are those of its saved form, or as given."""
    names = [field.name for field in fields(result)]  # type: ignore[arg-type]
    same = {name: getattr(saved, name) for name in names if hasattr(saved, name)}
    return result(**{**same, **given})


def decode(form: type[FormT], data: Any) -> FormT:
    """Convert plain data to a form, or raise a `msgspec.ValidationError`."""
    import msgspec

    return msgspec.convert(data, form, dec_hook=_decode_numbers)


def _decode_numbers(kind: Any, value: Any) -> Any:
    """A number or a list of them, in which null is NaN."""
    if kind is OrNan:
        return float(_decode_numbers(FloatArray, [value])[0])
    if not isinstance(value, (list, tuple)) or not {*map(type, value)} <= {int, float, type(None)}:
        raise ValueError("numbers are needed")
    whole = kind != FloatArray and all(type(item) is int for item in value)
    try:
        numbers = [math.nan if item is None else item for item in value]
        return np.array(numbers, dtype=np.int64 if whole else np.float64)
    except OverflowError as error:
        raise ValueError("numbers that doubles can hold are needed") from error


def json_schema(form: Any, name: str) -> dict[str, Any]:
    """The JSON Schema of a form, a new copy each time."""
    import msgspec

    found, parts = msgspec.json.schema_components([form], schema_hook=_number_schema)
    described = {name: _described(part) for name, part in parts.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{name}",
        **described.pop(str(found[0]["$ref"]).rpartition("/")[2]),
        "$defs": described,
    }


def _number_schema(kind: Any) -> dict[str, Any]:
    number = {"type": ["number", "null"]}
    return number if kind is OrNan else {"type": "array", "items": number}


_FIELD = re.compile(r"^(\w+(?:, \w+)*) : .*\n((?:    .*\n?)+)", re.MULTILINE)
_ROLE = re.compile(r":\w+:`([^`]*)`|``([^`]*)``")


def _described(part: dict[str, Any]) -> dict[str, Any]:
    """A part of a schema, with what the docstring of its class says of each field."""
    text = _ROLE.sub(r"\1\2", inspect.cleandoc(part["description"]))
    words = {
        name: " ".join(about.split())
        for names, about in _FIELD.findall(text)
        for name in names.split(", ")
    }
    properties = {
        name: {"description": words[name], **inner} for name, inner in part["properties"].items()
    }
    summary = " ".join(text.partition("\n\n")[0].split())
    return part | {"description": summary, "properties": properties}


def find_fault(error: Exception) -> tuple[str, str]:
    """Place and reason of an error of msgspec; an empty place is the whole document."""
    reason, _, place = str(error).partition(" - at ")
    return place.strip("`").removeprefix("$").removeprefix("."), reason


@dataclass(frozen=True)
class Source:
    """A document of ours that came in by a parameter.

    Attributes
    ----------
    parameter : str
        The parameter.
    what : str
        Such as "a report".
    schema : str
        Name and version of its form.
    writer : str
        The call that writes such a document.
    path : str
        The part of it that is being read, with a dot at its end.
    """

    parameter: str
    what: str
    schema: str
    writer: str
    path: str = ""

    def complaint(
        self, field: str, must: str, got: str, hint: str | None = None
    ) -> InvalidInputError:
        """Return an error about a field."""
        must = f"{self.what} of purecover whose field {self.path + field!r} is {must}"
        return self._bad(must, got, hint)

    def _bad(self, must: str, got: str, hint: str | None = None) -> InvalidInputError:
        hint = hint or f"write it again with {self.writer}"
        return bad_value(self.parameter, must, got, hint)

    @contextmanager
    def reading(self, field: str, value: Any) -> Iterator[None]:
        """Turn what a class of ours says against a field into a complaint about the field."""
        try:
            yield
        except PurecoverError as error:
            raise self._refused(field, value, error) from error

    def _refused(self, field: str, value: Any, error: BaseException) -> InvalidInputError:
        first, _, hint = str(error).partition("\n")
        got = f"{show(value)}: {first.rstrip('.')}"
        must = "one that purecover could have written"
        return self.complaint(field, must, got, hint.removeprefix("Hint: ") or None)

    def parse(self, text: object) -> Any:
        """Parse a JSON text."""
        must = f"the text of {self.what}, as {self.writer} writes it"
        if not isinstance(text, (str, bytes, bytearray)):
            hint = "read a file first: Path(name).read_text()"
            raise bad_type(self.parameter, must, text, hint)
        try:
            found = json.loads(text)
            if isinstance(found, dict) and found.get("schema") == self.schema:
                self._check_sum(found)
        except (ValueError, RecursionError) as error:
            if isinstance(error, PurecoverError):
                raise
            why = " ".join(str(error).split())
            short = len(text) < 256
            advice = "pass the content of the file, not its name" if short else None
            raise self._bad(must, f"{show(text)} ({why})", advice) from error
        return found

    def _check_sum(self, document: dict[str, Any]) -> None:
        """Refuse what is not as it was written; the first version wrote no checksum."""
        given = document.pop("checksum", None)
        if given is None and document.get("version") == "0.1.0":
            return
        if given != checksum(document):
            must = f"{self.what} of purecover as it was written"
            got = "one whose content does not fit its checksum: it was changed or damaged"
            raise self._bad(must, got, "take the file from a backup; from_dict reads changed data")

    def read(self, form: type[FormT], data: object) -> FormT:
        """Convert plain data to a document of the right form."""
        import msgspec

        must = f"{self.what} of purecover as plain data"
        if not isinstance(data, Mapping):
            raise bad_type(self.parameter, must, data)
        if "schema" not in data:
            got = f"a document without a field 'schema' ({show(list(data)[:5])} ...)"
            raise self._bad(must, got)
        if data["schema"] != self.schema:
            hint = "read it with the version of purecover that wrote it"
            if isinstance(data.get("version"), str):
                hint += f", {show(data['version'])}"
            raise self.complaint("schema", repr(self.schema), show(data["schema"]), hint)
        try:
            self._check_finite(data, "")
            return decode(form, data)
        except (msgspec.ValidationError, OverflowError, RecursionError) as error:
            place, reason = find_fault(error)
            if isinstance(error.__cause__, PurecoverError):
                raise self._refused(place, data, error.__cause__) from error
            must = f"{self.what} of purecover that fits its JSON Schema"
            raise self._bad(must, f"one that does not at {place!r}: {reason}") from error

    def _check_finite(self, value: Any, path: str) -> None:
        """Complain of NaN and infinity, which JSON does not have but Python would let in."""
        if isinstance(value, float) and not math.isfinite(value):
            hint = "write null for what is undefined"
            raise self.complaint(path, "free of NaN and infinity", str(value), hint)
        if isinstance(value, Mapping):
            for key, item in value.items():
                self._check_finite(item, f"{path}.{key}" if path else str(key))
        elif isinstance(value, (list, tuple)):
            for i, item in enumerate(value):
                if not isinstance(item, int):  # most of them, in counts
                    self._check_finite(item, f"{path}[{i}]")


@contextmanager
def replacing(
    path: Path, *, prefix: str | None = None, durable: bool = False
) -> Iterator[BinaryIO]:
    """Open a file next to ``path`` that takes its name, and its permissions, once it is complete.

    Whatever goes wrong before, ``path`` stays as it was and nothing is left next to it. With
    ``durable`` the content reaches the disk before the name changes, and the folder after it.
    """
    path = Path(os.path.realpath(path))  # so that a link stays one
    if path.exists() and not path.is_file():
        with path.open("wb") as device:  # replacing /dev/null by a file would be rude
            yield device
        return
    # The start of the name is enough to know it by, and a long one leaves no room for more.
    before = f".{path.name[:32]}." if prefix is None else prefix
    new = path.parent / f"{before}{secrets.token_hex(8)}"
    old = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    # The system takes the umask off a new file; to read it, one would have to change it.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(new, flags, 0o666 if old is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if old is not None:
            new.chmod(old)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    if durable and os.name != "nt":  # where folders cannot be opened
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_page(render: Callable[..., str], result: Any, path: object, title: object) -> str:
    """Render a result as a page, and write the page to a file if one is named."""
    if title is not None and not isinstance(title, str):
        raise bad_type("title", "a string", title)
    page = render(result, title=title)
    if path is not None:
        if not isinstance(path, str | PathLike):
            raise bad_type("path", "the name of a file", path)
        if not Path(path).absolute().parent.is_dir():
            raise bad_value("path", "a file in a folder that exists", repr(str(path)))
        with replacing(Path(path)) as file:
            file.write(page.encode())
    return page
