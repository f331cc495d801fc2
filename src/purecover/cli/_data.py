"""From options and a file to scores and labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from purecover._labels import encode_labels
from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import show
from purecover.checks import CHECKS
from purecover.cli._columns import Request, Table, Words, choose_columns, is_missing
from purecover.cli._convert import share_hint
from purecover.cli._files import Progress, name_of, read_table
from purecover.cli._messages import CommandError, in_options, note
from purecover.cli._options import AssumptionOptions, DataOptions, TableOptions, undash
from purecover.exceptions import PurecoverError

__all__ = [
    "NUMBER_ROLES",
    "Rows",
    "asked_columns",
    "check_codes",
    "check_prior_knowledge",
    "count_blanks",
    "describe_source",
    "make_rows",
    "note_blank_labels",
    "parse_target",
    "plain_labels",
    "read_columns",
    "read_labels",
    "read_rows",
    "unlabeled_like",
]

NUMBER_ROLES = ("score", "weight")
"""Roles whose columns must hold numbers."""

_TARGETS = ("population", "deployment", "pooled")
_TRUE = frozenset(("1", "1.0", "+1", "true", "t", "yes", "y", "positive", "pos", "p"))
_UNLABELED = frozenset(("u", "unlabeled", "unlabelled", "unknown"))
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
    def companions(self) -> dict[str, Any]:
        """What goes with scores and labels, by the names that functions of the library have."""
        return {
            "negative_label": self.negative_label,
            "sample_weight": self.weights,
            "groups": self.groups,
            "truth": self.truth,
        }

    @property
    def negative_label(self) -> int | None:
        """What marks known negatives in ``label_column``."""
        return None if self.negative is None else -1


def read_rows(
    file: str,
    options: DataOptions,
    *,
    truth: str | None = None,
    group: str | None = None,
    more_scores: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Rows:
    """Read the file and settle what its labels mean."""
    source = name_of(file)
    others = {f"score {i}": column for i, column in enumerate(more_scores, start=2)}
    wanted = asked_columns(
        {"score": options.score, "labeled": options.labeled, **others},
        {"weight": options.weight, "truth": truth, "group": group},
    )
    used: dict[str, str] = {}

    def request(available: list[str]) -> Request:
        used.update(choose_columns(source, available, wanted))
        of_numbers = (*NUMBER_ROLES, *others)
        numbers = {role: column for role, column in used.items() if role in of_numbers}
        words = {role: column for role, column in used.items() if role not in of_numbers}
        blanks = frozenset({"labeled"} if options.missing_is_unlabeled else ())
        return Request(numbers, words, blanks, options.decimal)

    table = read_columns(file, request, options, asked=wanted.values(), progress=progress)
    return make_rows(source, table, used, options, others=tuple(others))


def asked_columns(
    always: Mapping[str, str | None], if_given: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Columns by role as they were typed; those that nobody gave are to be found, or not used."""
    given = {role: column for role, column in if_given.items() if column is not None}
    return {role: undash(column) for role, column in (*always.items(), *given.items())}


def read_columns(
    file: str,
    request: Callable[[list[str]], Request],
    options: TableOptions,
    *,
    asked: Iterable[str | None],
    progress: Progress | None = None,
) -> Table:
    """The columns that ``request`` picks, of a file written as the options say."""
    return read_table(
        file,
        request,
        file_format=options.format,
        delimiter=options.delimiter,
        encoding=options.encoding,
        asked=frozenset(column for column in asked if column is not None),
        progress=progress,
    )


def make_rows(
    source: str,
    table: Table,
    used: dict[str, str],
    options: TableOptions,
    *,
    others: tuple[str, ...] = (),
) -> Rows:
    """The rows of a table whose columns of roles are ``used``; ``others`` are further scores."""
    words = table.words
    labeled, negative = read_labels(source, used["labeled"], words["labeled"], options)
    truth = None
    if "truth" in used:
        truth = _read_truth(source, used["truth"], words["truth"], options)
    return Rows(
        scores=table.numbers.get("score", np.empty(0)),
        labeled=labeled,
        negative=negative,
        weights=table.numbers.get("weight"),
        truth=truth,
        groups=words["group"].codes if "group" in used else None,
        columns=used,
        blank_labels=count_blanks(words["labeled"]) if options.missing_is_unlabeled else None,
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


def blank_note(rows: Rows) -> str | None:
    """How many rows --missing-is-unlabeled was about."""
    if rows.blank_labels is None:
        return None
    column, size = show(rows.columns["labeled"]), rows.labeled.size
    blank = f"{rows.blank_labels:,} of {size:,} rows are blank in column {column}"
    return f"{blank} and count as unlabeled"


def note_blank_labels(rows: Rows, *, quiet: bool) -> None:
    """Say so."""
    text = blank_note(rows)
    if text is not None:
        note(text, quiet=quiet)


def count_blanks(words: Words) -> int:
    """How many rows say nothing."""
    says = np.array([not is_missing(value) for value in words.values])
    return int((~says[words.codes]).sum())


def _without_blanks(words: Words) -> tuple[Words, bool]:
    """The distinct values that say something, coded -1 where a row says nothing, if any does."""
    says = np.array([not is_missing(value) for value in words.values])
    code = np.where(says, np.cumsum(says) - 1, -1)[words.codes]
    values = tuple(v for v, kept in zip(words.values, says.tolist(), strict=True) if kept)
    return Words(code, values), bool((code < 0).any())


def read_labels(
    source: str, column: str, words: Words, options: TableOptions
) -> tuple[BoolArray, BoolArray | None]:
    """Masks per row, from the meaning of each distinct value."""
    what = f"column {show(column)} of {source}, taken for --labeled,"
    words, with_blanks = _without_blanks(words)
    if not words.values:
        raise CommandError(f"{what} is blank everywhere; no row is labeled.")
    values = plain_labels(words.values, options.decimal)
    if values.size == 1 and not with_blanks:
        raise CommandError(
            f"{what} holds nothing but {show(_text(words.values[0]))}; both labeled and unlabeled "
            "rows are needed."
        )
    positive_label = undash(options.positive_label)
    if positive_label is not None and not _holds(values, positive_label):
        shown = ", ".join(show(_text(value)) for value in words.values[:5])
        raise CommandError(
            f"{what} has no value {show(positive_label)}, asked for by --positive-label.\n"
            f"Hint: it holds {shown}{', ...' if len(words.values) > 5 else ''}."
        )
    negative_label = undash(options.negative_label)
    if with_blanks:  # the last value, which the code -1 of blank rows points at
        values = np.append(values, unlabeled_like(what, values, positive_label, negative_label))
    try:
        positive, negative = encode_labels(
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


def unlabeled_like(
    what: str, values: np.ndarray[Any, Any], positive_label: str | None, negative_label: str | None
) -> Any:
    """A value that means unlabeled beside the others.

    Where the label is named, what is neither it nor a known negative. Else a value that says so
    plainly; beside 1 and -1, or yes and no, blanks are refused: it may mean a known negative.
    """
    if positive_label is not None:
        named = [label for label in (positive_label, negative_label) if label is not None]
        rest = [v for v in values.tolist() if not any(_holds(np.array([v]), n) for n in named)]
        if rest:
            return rest[0]
        return "unlabeled" if values.dtype.kind == "U" else float(np.abs(values).max()) + 1
    left = [v for v in values.tolist() if not _holds(np.array([v]), negative_label)]
    plainly = [v for v in left if str(v).casefold() in _UNLABELED]
    if plainly:
        return plainly[0]
    unsure = [v for v in left if _text(v).casefold() in _FALSE - {"0", "0.0"}]
    if len(left) == 2 and len(unsure) == 1:
        other, label = (_text(v) for v in (unsure[0], left[left[0] == unsure[0]]))
        raise CommandError(
            f"{what} holds {show(label)}, {show(other)} and blanks.\n"
            f"Hint: if {show(other)} and blank both mean unlabeled, add --positive-label={label}; "
            f"if {show(other)} marks known negatives, add --negative-label={other}."
        )
    usual = ("unlabeled", "unknown") if values.dtype.kind == "U" else (0.0, -1.0)
    taken = negative_label is not None and _holds(np.array(usual[:1]), negative_label)
    return usual[taken]


def _read_truth(source: str, column: str, words: Words, options: TableOptions) -> BoolArray:
    """True classes per row, from the meaning of each distinct value."""
    texts = [_text(value) for value in words.values]
    label = undash(options.positive_label)
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


def plain_labels(values: tuple[Any, ...], decimal: str) -> np.ndarray[Any, Any]:
    """Distinct values as numbers if all of them are, else as texts."""
    texts = [_text(value) for value in values]
    try:
        return np.array([float(text.replace(decimal, ".")) for text in texts])
    except ValueError:
        return np.array(texts)


def _holds(values: np.ndarray[Any, Any], label: str | None) -> bool:
    """Whether a label is among the values; 1 finds 1.0."""
    if label is None:
        return False
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
            f"{show(undash(text))}.{share_hint(text)}"
        )
    return prior


def check_codes(given: tuple[str, ...]) -> tuple[str, ...]:
    """Codes of checks, in any case."""
    codes = tuple(code.strip().upper() for code in given)
    for code, text in zip(codes, given, strict=True):
        if code not in CHECKS:
            raise CommandError(
                f"--ignore-check must be the code of a check, got {show(undash(text))}.\n"
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
