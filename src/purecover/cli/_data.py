"""From options and a file to scores and labels."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from purecover._labels import encode_labels
from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import show
from purecover.checks import CHECKS
from purecover.cli._columns import Request, Words, choose_columns, is_missing
from purecover.cli._convert import share_hint
from purecover.cli._files import Progress, name_of, read_table
from purecover.cli._messages import CommandError, in_options, note
from purecover.cli._options import DASH, AssumptionOptions, DataOptions
from purecover.exceptions import PurecoverError

__all__ = [
    "NUMBER_ROLES",
    "Rows",
    "check_codes",
    "check_prior_knowledge",
    "describe_source",
    "note_blank_labels",
    "parse_target",
    "read_labels",
    "read_rows",
    "read_truth",
    "split_blanks",
]

NUMBER_ROLES = ("score", "weight")
"""Roles whose columns must hold numbers."""

_TARGETS = ("population", "deployment", "pooled")
_TRUE = frozenset(("1", "1.0", "+1", "true", "t", "yes", "y", "positive", "pos", "p"))
_FALSE = frozenset(("0", "0.0", "-1", "-1.0", "false", "f", "no", "n", "negative", "neg"))


@dataclass(frozen=True)
class Rows:
    """One array per role, the file's own names for them, and how many labels were blank."""

    scores: FloatArray
    labeled: BoolArray
    negative: BoolArray | None
    weights: FloatArray | None
    truth: BoolArray | None
    groups: IntArray | None
    columns: dict[str, str]
    blank_labels: int | None
    more_scores: dict[str, FloatArray] = field(default_factory=dict)

    @property
    def score_columns(self) -> dict[str, FloatArray]:
        """All scores by column, where there are several."""
        return {self.columns["score"]: self.scores, **self.more_scores}

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
    more_scores: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Rows:
    """Read the file and settle what its labels mean."""
    source = name_of(file)
    wanted = {"score": options.score, "labeled": options.labeled}
    others = {f"score {i}": column for i, column in enumerate(more_scores, start=2)}
    wanted |= others
    wanted |= {
        role: column
        for role, column in (("weight", options.weight), ("truth", truth), ("group", group))
        if column is not None
    }
    wanted = {role: "-" if column == DASH else column for role, column in wanted.items()}
    used: dict[str, str] = {}

    def request(available: list[str]) -> Request:
        used.update(choose_columns(source, available, wanted))
        of_numbers = (*NUMBER_ROLES, *others)
        numbers = {role: column for role, column in used.items() if role in of_numbers}
        words = {role: column for role, column in used.items() if role not in of_numbers}
        blanks = frozenset({"labeled"} if options.missing_is_unlabeled else ())
        return Request(numbers, words, blanks, options.decimal)

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
    labels, blank = split_blanks(table.words["labeled"])
    labeled, negative = read_labels(command, what, labels, options, with_blanks=bool(blank.any()))
    return Rows(
        scores=table.numbers["score"],
        labeled=labeled,
        negative=negative,
        weights=table.numbers.get("weight"),
        truth=read_truth(source, used["truth"], table.words["truth"], options) if truth else None,
        groups=table.words["group"].codes if group else None,
        columns=used,
        blank_labels=int(blank.sum()) if options.missing_is_unlabeled else None,
        more_scores={used[role]: table.numbers[role] for role in others},
    )


def describe_source(file: str, rows: Rows) -> dict[str, Any]:
    """Where the data came from, for a JSON document."""
    columns: dict[str, Any] = dict(rows.columns)
    if rows.more_scores:
        several = {"score": list(rows.score_columns)}
        columns = several | {r: c for r, c in columns.items() if not r.startswith("score")}
    source: dict[str, Any] = {"file": name_of(file), "columns": columns}
    if rows.blank_labels is not None:
        source["blank_labels"] = rows.blank_labels
    return source


def note_blank_labels(rows: Rows, *, quiet: bool) -> None:
    """Say how many rows --missing-is-unlabeled was about."""
    if rows.blank_labels is not None:
        column, size = show(rows.columns["labeled"]), rows.labeled.size
        note(
            f"{rows.blank_labels:,} of {size:,} rows are blank in column {column} and count as "
            "unlabeled",
            quiet=quiet,
        )


def split_blanks(words: Words) -> tuple[Words, BoolArray]:
    """The distinct values that say something, coded -1 where a row says nothing."""
    says = np.array([not is_missing(value) for value in words.values])
    code = np.where(says, np.cumsum(says) - 1, -1)[words.codes]
    values = tuple(v for v, kept in zip(words.values, says.tolist(), strict=True) if kept)
    return Words(code, values), code < 0


def read_labels(
    command: str, what: str, words: Words, options: DataOptions, *, with_blanks: bool
) -> tuple[BoolArray, BoolArray | None]:
    """Masks per row, from the meaning of each distinct value."""
    if not words.values:
        raise CommandError(f"{what} is blank everywhere; no row is labeled.")
    values = _plain(words.values, options.decimal)
    if values.size == 1 and not with_blanks:
        raise CommandError(
            f"{what} holds nothing but {show(_text(words.values[0]))}; both labeled and unlabeled "
            "rows are needed."
        )
    positive_label = _dash(options.positive_label)
    if positive_label is not None and not _holds(values, positive_label):
        shown = ", ".join(show(_text(value)) for value in words.values[:5])
        raise CommandError(
            f"{what} has no value {show(positive_label)}, asked for by --positive-label.\n"
            f"Hint: it holds {shown}{', ...' if len(words.values) > 5 else ''}."
        )
    negative_label = _dash(options.negative_label)
    if with_blanks:  # the last value, which the code -1 of blank rows points at
        values = np.append(values, _unlabeled_like(values, positive_label, negative_label))
    try:
        positive, negative = encode_labels(
            command,
            values,
            values.size,
            positive_label=positive_label,
            negative_label=negative_label,
        )
    except PurecoverError as error:
        # It saw each distinct value once, so that its number of rows is none.
        said = re.sub(r" row among \d+\.", " row.", in_options(str(error)))
        raise CommandError(said.replace("--labeled must", f"{what} must", 1)) from error
    return positive[words.codes], None if negative is None else negative[words.codes]


def _unlabeled_like(
    values: np.ndarray[Any, Any], positive_label: str | None, negative_label: str | None
) -> Any:
    """A value that means unlabeled beside the others.

    Where the label is named, what is neither it nor a known negative. Else 0 or "unlabeled",
    so that 1, -1 and blank are as ambiguous as 1, -1 and 0 are.
    """
    if positive_label is not None:
        named = [label for label in (positive_label, negative_label) if label is not None]
        rest = [v for v in values.tolist() if not any(_holds(np.array([v]), n) for n in named)]
        if rest:
            return rest[0]
        return "unlabeled" if values.dtype.kind == "U" else float(np.abs(values).max()) + 1
    usual = ("unlabeled", "unknown") if values.dtype.kind == "U" else (0.0, -1.0)
    taken = negative_label is not None and _holds(np.array(usual[:1]), negative_label)
    return usual[taken]


def read_truth(source: str, column: str, words: Words, options: DataOptions) -> BoolArray:
    """True classes per row, from the meaning of each distinct value."""
    texts = [_text(value) for value in words.values]
    label = _dash(options.positive_label)
    folded = [text.casefold() for text in texts]
    named = label in texts and len(texts) <= 2
    positive = [text == label for text in texts] if named else [t in _TRUE for t in folded]
    known = named or set(folded) <= _TRUE | _FALSE
    if not known or all(positive) or not any(positive):
        shown = ", ".join(show(text) for text in texts[:5]) + (", ..." if len(texts) > 5 else "")
        raise CommandError(
            f"column {show(column)} of {source}, asked for by --truth, must hold both classes "
            f"(1/0, true/false, positive/negative), got {shown}.\n"
            "Hint: if one of two values is the positive class, name it with --positive-label."
        )
    return np.array(positive)[words.codes]


def _plain(values: tuple[Any, ...], decimal: str) -> np.ndarray[Any, Any]:
    """Distinct values as numbers if all of them are, else as texts."""
    texts = [_text(value) for value in values]
    try:
        return np.array([float(text.replace(decimal, ".")) for text in texts])
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
    if text in _TARGETS:
        return text
    try:
        prior = float(text)
    except ValueError:
        prior = -1.0
    if not 0 <= prior <= 1:
        raise CommandError(
            f"--target must be {', '.join(_TARGETS)} or a number in [0, 1], got "
            f"{show(_dash(text))}.{share_hint(text)}"
        )
    return prior


def check_codes(given: tuple[str, ...]) -> tuple[str, ...]:
    """Codes of checks, in any case."""
    codes = tuple(code.strip().upper() for code in given)
    for code, text in zip(codes, given, strict=True):
        if code not in CHECKS:
            raise CommandError(
                f"--ignore-check must be the code of a check, got {show(_dash(text))}.\n"
                f"Hint: the codes are {', '.join(CHECKS)}."
            )
    return codes


def check_prior_knowledge(options: AssumptionOptions) -> None:
    """At most one share of positives, said completely; none means that it is estimated."""
    given = (options.alpha, options.prior, options.label_frequency)
    if sum(value is not None for value in given) > 1:
        raise CommandError("give only one of --alpha, --prior and --label-frequency.")
    if options.prior is not None and options.scenario is None:
        raise CommandError(
            "--prior needs --scenario: case-control (labeled and unlabeled drawn apart) or "
            "censoring (one sample, some of whose positives got labeled)."
        )
