"""Rows of a file by role: scores, labels, weights, groups and true classes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import purecover as pu
from purecover._inputs import (
    UNLABELED_WORDS,
    UNSURE_WORDS,
    encode_labels,
    label_masks,
    plain_labels,
)
from purecover._shell import command
from purecover._typing import BoolArray, FloatArray, IntArray
from purecover._validation import show
from purecover.cli import files
from purecover.cli.options import BESIDE
from purecover.cli.output import STDIO, CommandError, option
from purecover.exceptions import PurecoverError
from purecover.report import pipeline
from purecover.report.pipeline import Request, ScoredRows, Shares, make_report
from purecover.report.results import PUReport
from purecover.report.settings import ReportSettings

if TYPE_CHECKING:
    from purecover.audit.designs import JudgedRows

_CELL = "cell "
"""Prefix of the roles of further columns."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Columns given to a command, and the meaning of values of the labeled one."""

    score: tuple[str, ...] = ()
    labeled: str | None = None
    sample_weight: str | None = None
    positive_label: str | None = None
    negative_label: str | None = None
    missing_is_unlabeled: bool = False

    @classmethod
    def among(cls, given: Mapping[str, Any]) -> Columns:
        """Those among the options of a command."""
        return cls(**{name: given[name] for name in cls.__dataclass_fields__ if name in given})

    @property
    def given(self) -> dict[str, Any]:
        """Those that were given, but for weights, as options of commands that judge rows."""
        return {
            name: value for name, value in vars(self).items() if value and name != "sample_weight"
        }

    def roles(self, **others: str | None) -> dict[str, str | None]:
        """Columns by role; those not given are recognized by name, or not used."""
        asked: dict[str, str | None] = {"score": None}
        for i, column in enumerate(self.score, start=1):
            asked["score" if i == 1 else f"score {i}"] = column
        asked["labeled"] = self.labeled
        given = {"sample_weight": self.sample_weight, **others}
        return asked | {role: column for role, column in given.items() if column is not None}

    def request(
        self, source: str, available: list[str], wanted: Mapping[str, str | None]
    ) -> files.Request:
        """The columns of these roles, of those there are."""
        used = files.choose_columns(source, available, wanted)
        blanks = frozenset({"judged", "labeled"} if self.missing_is_unlabeled else {"judged"})
        return files.Request(used, blanks)


@dataclass(frozen=True)
class FileRows:
    """A table, the meaning of its labels and true classes, and the number of blank labels."""

    table: files.Table
    labels: IntArray
    """1 for labeled rows, 0 for unlabeled ones, -1 for known negatives."""
    truth: BoolArray | None
    blank_labels: int | None
    judged: JudgedRows | list[str] | None = None
    """Rows that were judged, with their design, or a verdict or blank for each row."""

    @property
    def columns(self) -> dict[str, str]:
        """The file's own names by role."""
        return {r: c for r, c in self.table.columns.items() if not r.startswith(_CELL)}

    @property
    def cells(self) -> dict[str, files.Words]:
        """Further columns by name."""
        words = self.table.words.items()
        return {role.removeprefix(_CELL): w for role, w in words if role.startswith(_CELL)}

    @property
    def scores(self) -> FloatArray:
        """The scores, or the first of several."""
        return self.table.numbers["score"]

    @property
    def score_columns(self) -> dict[str, FloatArray]:
        """All scores by column, where there are several."""
        return {self.columns[r]: n for r, n in self.table.numbers.items() if r != "sample_weight"}

    @property
    def labeled(self) -> BoolArray:
        """Whether each row is labeled."""
        return self.labels == 1

    @property
    def beside(self) -> dict[str, Any]:
        """Parameters of rows for functions of the library, in addition to scores."""
        return {
            "labeled": self.labels,
            "negative_label": mark_of_negatives(self.labels),
            "sample_weight": self.table.numbers.get("sample_weight"),
        }

    @property
    def companions(self) -> dict[str, Any]:
        """The same with groups and true classes."""
        groups = self.table.words["groups"].codes if "groups" in self.columns else None
        return {**self.beside, "groups": groups, "truth": self.truth, "judged": self.judged}

    def source(self, file: str) -> dict[str, Any]:
        """Where the data came from, for a JSON document."""
        columns: dict[str, Any] = self.columns
        if "score 2" in columns:
            several = {"score": list(self.score_columns)}
            columns = several | {r: c for r, c in columns.items() if not r.startswith("score")}
        source: dict[str, Any] = {"file": files.name_of(file), "columns": columns}
        if self.blank_labels is not None:
            source["blank_labels"] = self.blank_labels
        return source


def read_rows(
    file: str,
    columns: Columns,
    *,
    several: bool = False,
    truth: str | None = None,
    groups: str | None = None,
    judged: str | None = None,
    cells: Callable[[list[str]], Iterable[str]] | None = None,
) -> FileRows:
    """Read the file and determine the meaning of its labels.

    ``judged`` is a file of answers, by default the one next to the file, or a column of verdicts.
    ``cells`` picks further columns, as they stand in the file, from those there are.
    """
    if len(columns.score) > 1 and not several:
        raise CommandError(
            f"{option('score')} must name one column, got {len(columns.score)} of them."
        )
    source = files.name_of(file)
    answers = None if judged is None else _answers_of(file, judged, columns.given)
    verdicts = judged if answers is None else None
    kept = set() if answers is None else _headings_of(answers[0])
    wanted = columns.roles(truth=truth, groups=groups, judged=verdicts)

    def request(available: list[str]) -> files.Request:
        rows = columns.request(source, available, wanted)
        names = cells(available) if cells is not None else _headings_in(kept, available).values()
        more = {f"{_CELL}{name}": name for name in names}
        return files.Request({**rows.columns, **more}, rows.blanks.union(more))

    table = files.read_table(file, request, wanted.values())
    found, words = table.columns, table.words
    labels = read_labels(source, found["labeled"], words["labeled"], columns)
    true = None
    if "truth" in found:
        true = _read_truth(source, found["truth"], words["truth"], columns)
    n_blank = words["labeled"].n_blank if columns.missing_is_unlabeled else None
    rows = FileRows(table, labels, true, n_blank)
    if answers is not None:
        return replace(rows, judged=_read_judged(rows, kept, *answers))
    if "judged" in found:
        values = words["judged"].values
        return replace(rows, judged=[values[code] for code in words["judged"].codes])
    return rows


def _answers_of(
    file: str, judged: str, how: Mapping[str, Any]
) -> tuple[str, dict[str, str]] | None:
    """Return the file of answers and how to read it, or None if FILE has a column of them."""
    beside = files.answers_beside(file)
    if judged != BESIDE:
        name, _, column = judged.rpartition(":")
        pairs: tuple[tuple[str, dict[str, str]], ...] = ((judged, {}), (name, {"answer": column}))
        return next((pair for pair in pairs if Path(pair[0]).is_file()), None)
    if file == STDIO or not beside.is_file():
        missing = "" if file == STDIO else f", such as {show(beside.name)}"
        raise CommandError(
            f"--judged finds no answers next to {files.name_of(file)}{missing}.\n"
            f"Hint: {'purecover judge' if file == STDIO else command('judge', file, how)} writes "
            "them; or name a file, or a column of verdicts."
        )
    return str(beside), {}


def _headings_of(file: str) -> set[str]:
    """Return the headings of a file of answers."""
    from purecover.audit.designs import read_table

    try:
        return set(read_table(file))
    except PurecoverError as error:
        error.parameter = "judged"
        raise


def _headings_in(kept: Collection[str], available: Iterable[str]) -> dict[str, str]:
    """Return the columns that a file of answers repeats, by heading."""
    from purecover.audit.designs import shown_as

    return {heading: name for heading, name in shown_as(available).items() if heading in kept}


def _read_judged(
    rows: FileRows, kept: Collection[str], file: str, how: dict[str, str]
) -> JudgedRows:
    """Read answers about rows, which were drawn by one of the scores."""
    words = rows.cells
    names = _headings_in(kept, words).values()
    cells = {name: np.array(words[name].values, dtype=object)[words[name].codes] for name in names}
    more: Any = how | {"columns": cells, "negative_label": rows.beside["negative_label"]}
    failed: list[PurecoverError] = []
    for scores in rows.score_columns.values():
        try:
            return pu.audit.JudgedRows.read_csv(file, scores, rows.labels, **more)
        except PurecoverError as error:
            failed.append(error)
    failed[0].parameter = "judged"
    raise failed[0]


@dataclass(frozen=True)
class Prepared:
    """Rows of a file with alpha and beta, and the settings of a report on them."""

    read: FileRows
    rows: ScoredRows
    shares: Shares
    settings: ReportSettings

    def report(self, *, threshold: float | None = None, **how: Any) -> PUReport:
        """Return a report with the metrics ``only``, at a threshold ``chosen_by`` a metric."""
        return make_report(
            self.rows, self.shares, replace(self.settings, threshold=threshold), **how
        )


def prepare(
    file: str, given: Mapping[str, Any], *, can_vary: bool = False, **settings: Any
) -> Prepared:
    """Read the file, and determine alpha and beta from the options."""
    asked = Request.among({**given, "n_resamples": 500, **settings}, can_vary=can_vary)
    read = read_rows(file, Columns.among(given), judged=given.get("judged"))
    asked.check_design(read.judged)
    labels = pipeline.read_labels(size=read.scores.size, **read.companions)
    rows = labels.count(read.scores)
    verdicts = None if read.judged is None else labels.judged_rows(read.scores)
    shares = asked.shares(rows.counts, verdicts)
    return Prepared(read, rows, shares, asked.settings)


def mark_of_negatives(labels: IntArray) -> int | None:
    """Return the value of known negatives, if there are any."""
    return -1 if -1 in labels else None


def read_labels(source: str, column: str, words: files.Words, columns: Columns) -> IntArray:
    """Return 1, 0 and -1 for labeled and unlabeled rows and known negatives, by their values."""
    what = f"column {show(column)} of {source}, taken for {option('labeled')},"
    said = [
        text.strip() for text, blank in zip(words.values, words.blank, strict=True) if not blank
    ]
    if not said:
        raise CommandError(f"{what} is blank everywhere; no row is labeled.")
    named = columns.positive_label, columns.negative_label
    values, (positive_label, negative_label) = plain_labels(said, *named)
    if positive_label is not None and positive_label not in values:
        shown = files.first_few([show(value) for value in said])
        raise CommandError(
            f"{what} has no value {show(columns.positive_label)}, asked for by "
            f"{option('positive_label')}.\n"
            f"Hint: it holds {shown}."
        )
    if words.blank.any():
        values.append(_unlabeled_like(what, values, positive_label, negative_label))
    try:
        positive, negative = label_masks(np.array(values), positive_label, negative_label)
    except PurecoverError as error:
        if error.parameter == "labeled":
            error.parameter = what
        raise
    # Blanks mean what the last value means.
    value = np.where(words.blank, -1, np.cumsum(~words.blank) - 1)
    meaning = positive.astype(np.int64) - (0 if negative is None else negative)
    return np.asarray(meaning[value[words.codes]])


def _unlabeled_like(what: str, values: list[Any], positive_label: Any, negative_label: Any) -> Any:
    """Return the value that means unlabeled, given the others.

    With 1 and -1, or yes and no, blanks are refused unless the label is named: the other value
    may mark known negatives.
    """
    named = (positive_label, negative_label)
    left = [value for value in values if value not in named]
    if positive_label is not None and left:
        return left[0]
    texts = [f"{value:g}" if isinstance(value, float) else value for value in left]
    unsure = [text for text in texts if text.casefold() in UNSURE_WORDS]
    if positive_label is None and len(texts) == 2 and len(unsure) == 1:
        other, label = unsure[0], texts[texts[0] == unsure[0]]
        if label.casefold() not in UNLABELED_WORDS:
            raise CommandError(
                f"{what} holds {show(label)}, {show(other)} and blanks.\n"
                f"Hint: if {show(other)} and blank both mean unlabeled, add "
                f"{option('positive_label')}={label}; if {show(other)} marks known negatives, add "
                f"{option('negative_label')}={other}."
            )
    like = [value for value in left if str(value).casefold() in UNLABELED_WORDS]
    usual = ("unlabeled", "neither") if isinstance(values[0], str) else (0.0, -1.0, 2.0)
    return next(value for value in (*like, *usual) if value not in named)


def _read_truth(source: str, column: str, words: files.Words, columns: Columns) -> BoolArray:
    """Return true classes per row, from the meaning of each distinct value."""
    texts = [value.strip() for value in words.values]
    values, (label,) = plain_labels(texts, columns.positive_label)
    label = label if label in values and len(values) == 2 else None
    try:
        how: dict[str, Any] = {"positive_label": label, "parameter": "truth"}
        positive, _ = encode_labels(np.array(values), len(values), **how)
    except PurecoverError as error:
        shown = files.first_few([show(text) for text in texts])
        raise CommandError(
            f"column {show(column)} of {source}, asked for by {option('truth')}, must have both "
            f"classes (1/0, true/false, positive/negative), got {shown}.\n"
            "Hint: if one of two values is the positive class, name it with "
            f"{option('positive_label')}."
        ) from error
    return positive[words.codes]
