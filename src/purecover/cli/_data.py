"""From options and a file to scores and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._labels import encode_labels
from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import show
from purecover.cli._app import DASH, AssumptionOptions, DataOptions
from purecover.cli._columns import Request, Words, choose_columns
from purecover.cli._files import Progress, name_of, read_table
from purecover.exceptions import InvalidInputError

__all__ = ["Rows", "parse_target", "read_rows", "require_prior_knowledge"]

_NUMBERS = ("score", "weight")
_TRUE = frozenset(("1", "1.0", "+1", "true", "t", "yes", "y", "positive", "pos", "p"))
_FALSE = frozenset(("0", "0.0", "-1", "-1.0", "false", "f", "no", "n", "negative", "neg"))


@dataclass(frozen=True)
class Rows:
    """One array per role; columns names the file's own names for them."""

    scores: FloatArray
    labeled: BoolArray
    negative: BoolArray | None
    weights: FloatArray | None
    truth: BoolArray | None
    groups: IntArray | None
    columns: dict[str, str]

    @property
    def label_column(self) -> Any:
        """Labels for the library: booleans, or 1, 0 and -1 where negatives are known."""
        if self.negative is None:
            return self.labeled
        return self.labeled.astype(np.int64) - self.negative.astype(np.int64)

    @property
    def negative_label(self) -> int | None:
        """What marks known negatives in ``label_column``."""
        return None if self.negative is None else -1


def read_rows(
    file: str,
    options: DataOptions,
    *,
    command: str,
    truth: str | None = None,
    group: str | None = None,
    progress: Progress | None = None,
) -> Rows:
    """Read the file and settle what its labels mean."""
    source = name_of(file)
    wanted = {"score": options.score, "labeled": options.labeled}
    wanted |= {
        role: column
        for role, column in (("weight", options.weight), ("truth", truth), ("group", group))
        if column is not None
    }
    wanted = {role: "-" if column == DASH else column for role, column in wanted.items()}
    used: dict[str, str] = {}

    def request(available: list[str]) -> Request:
        used.update(choose_columns(source, available, wanted))
        numbers = {role: column for role, column in used.items() if role in _NUMBERS}
        words = {role: column for role, column in used.items() if role not in _NUMBERS}
        return Request(numbers, words)

    table = read_table(
        file,
        request,
        file_format=options.format,
        delimiter=options.delimiter,
        encoding=options.encoding,
        asked=frozenset(column for column in wanted.values() if column is not None),
        progress=progress,
    )
    what = f"column {show(used['labeled'])} of {source}, taken for --labeled,"
    labeled, negative = _labels(command, what, table.words["labeled"], options)
    return Rows(
        scores=table.numbers["score"],
        labeled=labeled,
        negative=negative,
        weights=table.numbers.get("weight"),
        truth=_truth(source, used["truth"], table.words["truth"], options) if truth else None,
        groups=table.words["group"].codes if group else None,
        columns=used,
    )


def _labels(
    command: str, what: str, words: Words, options: DataOptions
) -> tuple[BoolArray, BoolArray | None]:
    """Masks per row, from the meaning of each distinct value."""
    values = _plain(words.values)
    if values.size == 1:
        raise InvalidInputError(
            f"{what} holds nothing but {show(_text(words.values[0]))}; both labeled and unlabeled "
            "rows are needed."
        )
    positive_label = _dash(options.positive_label)
    if positive_label is not None and not _holds(values, positive_label):
        shown = ", ".join(show(_text(value)) for value in words.values[:5])
        raise InvalidInputError(
            f"{what} has no value {show(positive_label)}, asked for by --positive-label.\n"
            f"Hint: it holds {shown}{', ...' if len(words.values) > 5 else ''}."
        )
    try:
        positive, negative = encode_labels(
            command,
            values,
            values.size,
            positive_label=positive_label,
            negative_label=_dash(options.negative_label),
        )
    except InvalidInputError as error:
        named = str(error).replace(f"The 'labeled' parameter of {command}", what)
        raise InvalidInputError(named) from error
    return positive[words.codes], None if negative is None else negative[words.codes]


def _truth(source: str, column: str, words: Words, options: DataOptions) -> BoolArray:
    texts = [_text(value) for value in words.values]
    label = _dash(options.positive_label)
    folded = [text.casefold() for text in texts]
    named = label in texts and len(texts) <= 2
    positive = [text == label for text in texts] if named else [t in _TRUE for t in folded]
    known = named or set(folded) <= _TRUE | _FALSE
    if not known or all(positive) or not any(positive):
        shown = ", ".join(show(text) for text in texts[:5]) + (", ..." if len(texts) > 5 else "")
        raise InvalidInputError(
            f"column {show(column)} of {source}, asked for by --truth, must hold both classes "
            f"(1/0, true/false, positive/negative), got {shown}.\n"
            "Hint: if one of two values is the positive class, name it with --positive-label."
        )
    return np.array(positive)[words.codes]


def _plain(values: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """Distinct values as numbers if all of them are, else as texts."""
    texts = [_text(value) for value in values]
    try:
        return np.array([float(text) for text in texts])
    except ValueError:
        return np.array(texts)


def _holds(values: np.ndarray[Any, Any], label: str) -> bool:
    """Whether a label is among the values; 1 finds 1.0."""
    if values.dtype.kind == "U":
        return label in values
    try:
        return float(label) in values
    except ValueError:
        return False


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode(errors="replace").strip()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _dash(value: str | None) -> str | None:
    return "-" if value == DASH else value


def parse_target(text: str) -> Any:
    """A named population, or a prior."""
    try:
        return float(text)
    except ValueError:
        return text


def require_prior_knowledge(options: AssumptionOptions) -> None:
    """Recovery needs to know one share of positives."""
    given = (options.alpha, options.prior, options.label_frequency)
    if all(value is None for value in given):
        raise InvalidInputError(
            "give --alpha, the share of positives among the unlabeled.\nHint: if you know the "
            "share in the population, or how often positives get labeled, say --scenario and "
            "--prior or --label-frequency."
        )
    if sum(value is not None for value in given) > 1:
        raise InvalidInputError("give only one of --alpha, --prior and --label-frequency.")
    if options.prior is not None and options.scenario is None:
        raise InvalidInputError(
            "--prior needs --scenario: case-control (labeled and unlabeled drawn apart) or "
            "censoring (one sample, some of whose positives got labeled)."
        )
