"""Designs of audits, which choose rows to judge by hand, and the verdicts on these rows.

A cut of the score splits the rows into strata, the first at the top. Within a stratum the judged
unlabeled rows are a random sample of all unlabeled ones, and so are the judged labeled rows; how
many rows a stratum has is known. That is all that the posterior needs.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from purecover import _validation as valid
from purecover._inputs import encode_labels, refuse_frame
from purecover._typing import ArrayLike, BoolArray, FloatArray, IntArray
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts, cut_of_top
from purecover.exceptions import InvalidInputError, Words
from purecover.recovery.metrics import Answers

Kind = Literal["top", "random", "stratified"]
KINDS = ("top", "random", "stratified")

TOP_SHARE = 0.5
"""Judged are rows above the score that this share of the labeled rows reach."""

LOW_SHARE = 0.25
"""Of the labeled rows those are judged that have the lowest scores, this share of them."""

STRATUM_SHARES = (0.25, 0.6)
"""Samples of all rows are stratified at the scores that these shares of the labeled rows reach."""

ROW, DESIGN, ANSWER, JUDGE = "row", "design", "positive", "judge"
OWN_COLUMNS = (ROW, DESIGN, ANSWER, JUDGE)
"""Columns of a file of judged rows, in addition to those of the data; the last one is optional."""

_BLANK = ("", "none", "nan", "nat", "<na>", "na", "n/a", "null")
_WORDS = {
    **dict.fromkeys(("1", "1.0", "yes", "y", "true", "t", "positive", "pos", "x"), 1),
    **dict.fromkeys(("0", "0.0", "no", "n", "false", "f", "negative", "neg"), 0),
    **dict.fromkeys((*_BLANK, "skip"), -1),
}
"""Accepted spellings of a verdict: 1 is positive, 0 negative, -1 not judged."""


def shown_as(names: Iterable[str]) -> dict[str, str]:
    """Return columns of data by their headings in a file, none of which is one of its own."""
    found: dict[str, str] = {}
    for name in names:
        heading = str(name).encode("utf-8", "backslashreplace").decode()
        while heading in found or heading.strip().casefold() in OWN_COLUMNS:
            heading += " (data)"
        found[heading] = name
    return found


_QUOTED = re.compile('[",\r\n]')


def csv_bytes(header: Iterable[str], lines: Iterable[Iterable[str]]) -> bytes:
    """Return a table as CSV, the same by every version of Python; some leave a CR unquoted."""
    text = "".join(
        ",".join(
            '"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell for cell in line
        )
        + "\n"
        for line in (header, *lines)
    )
    return text.encode("utf-8", "backslashreplace")  # halves of surrogate pairs


class ScoredLabels(NamedTuple):
    """Scores and labels by row; known negatives are neither labeled nor unlabeled."""

    scores: FloatArray
    labeled: BoolArray
    negative: BoolArray | None = None

    @classmethod
    def read(cls, scores: Any, labeled: Any, negative_label: Any = None) -> ScoredLabels:
        """Check both."""
        refuse_frame(scores)
        valid.check_alignment(scores, labeled)
        numbers = valid.as_real_vector("scores", scores)
        return cls(numbers, *encode_labels(labeled, numbers.size, negative_label=negative_label))

    @property
    def counts(self) -> ScoreCounts:
        """The counted scores."""
        return ScoreCounts._from_marks(self.scores, self.labeled, self.negative, None)

    @property
    def checksum(self) -> str:
        """Sixteen digits by which data are known again; half of them whatever the order is."""
        rows = (self.scores + 0.0, self.labeled, self.negative)
        columns = [each for each in rows if each is not None]
        order = np.lexsort(columns[::-1])
        return "".join(
            hashlib.sha256(b"".join(each[at].tobytes() for each in columns)).hexdigest()[:8]
            for at in (order, slice(None))
        )

    @property
    def unlabeled(self) -> BoolArray:
        """Whether each row is unlabeled."""
        return ~self.labeled if self.negative is None else ~(self.labeled | self.negative)

    def reached(self, share: float) -> float:
        """The highest score that at least this share of the labeled rows reach."""
        falling = np.sort(self.scores[self.labeled])[::-1]
        return float(falling[max(int(np.ceil(share * falling.size)) - 1, 0)])

    def low_cut(self, n: int, below: float) -> list[float]:
        """The score below which the lowest labeled rows are, and at least n; none if not below."""
        rising = np.sort(self.scores[self.labeled])
        last = rising[max(n, int(np.ceil(LOW_SHARE * rising.size))) - 1]
        return [float(each) for each in rising[rising > last][:1] if each < below]

    def strata(self, cuts: Sequence[float]) -> IntArray:
        """The stratum of each row; 0 is that of the highest scores."""
        return len(cuts) - np.searchsorted(np.sort(cuts), self.scores, side="right")

    def drawn(
        self, kind: str, cuts: Sequence[float], rng: np.random.Generator, n: int | None = None
    ) -> IntArray:
        """Draw n unlabeled rows, or all there are if fewer may be judged, in random order."""
        stratum = self.strata(cuts)
        rows = np.flatnonzero(self.unlabeled & ((stratum == 0) | (kind != "top")))
        if not rows.size and n != 0:
            must = "a score that unlabeled rows reach"
            raise valid.bad_value("threshold", must, f"{cuts[0]:.6g}, which none does")
        if kind != "stratified":
            return rng.choice(rows, rows.size if n is None else min(n, rows.size), replace=False)
        # As many from each stratum as from the others, wherever a judge stops.
        rows = rng.permutation(rows)
        place = np.zeros(rows.size, dtype=np.int64)
        for s in range(len(cuts) + 1):
            here = stratum[rows] == s
            place[here] = np.arange(here.sum())
        return rows[np.lexsort((stratum[rows], place))][:n]


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditDesign(Frozen):
    """Rows to be judged, and how they were drawn.

    Attributes
    ----------
    kind : {"top", "random", "stratified"}
        Whether the unlabeled rows were drawn above the cut, from all, or evenly from all strata.
    cuts : tuple of float
        Scores at which one stratum ends and the next begins, in falling order.
    rows : ndarray of int
        Positions of the rows to be judged, in random order.
    stratum : ndarray of int
        The stratum of each of them; 0 is that of the highest scores.
    labeled : ndarray of bool
        Whether each of them is labeled.
    n_unlabeled, n_labeled : ndarray of int
        Numbers of rows in each stratum, judged or not.
    checksum : str
        By which the scores and labels are known again.
    reason : str
        Why these rows, if they were chosen for a figure, and whether more were asked for.
    """

    kind: str
    cuts: tuple[float, ...]
    rows: IntArray
    stratum: IntArray
    labeled: BoolArray
    n_unlabeled: IntArray
    n_labeled: IntArray
    checksum: str
    reason: str = ""

    @classmethod
    def _of(
        cls, kind: str, cuts: Sequence[float], rows: IntArray, data: ScoredLabels
    ) -> AuditDesign:
        stratum, n = data.strata(cuts), len(cuts) + 1
        return cls(
            kind=kind,
            cuts=tuple(cuts),
            rows=rows,
            stratum=stratum[rows],
            labeled=data.labeled[rows],
            n_unlabeled=np.bincount(stratum[data.unlabeled], minlength=n),
            n_labeled=np.bincount(stratum[data.labeled], minlength=n),
            checksum=data.checksum,
        )

    def words(self, row: int) -> str:
        """Kind, data and cuts as they stand in the line of a row, with a checksum of all four."""
        words = ";".join((self.kind, f"data={self.checksum}", *map(repr, self.cuts)))
        return f"{words}{_MARK}{_mark_of(words, row + 1)}"

    def where(self, stratum: int) -> str:
        """The scores of a stratum in words."""
        low = "" if stratum == len(self.cuts) else f"score >= {self.cuts[stratum]:.6g}"
        high = "" if stratum == 0 else f"score < {self.cuts[stratum - 1]:.6g}"
        return " and ".join(filter(None, (low, high)))

    @public
    def answer(self, verdicts: ArrayLike) -> JudgedRows:
        """Join the rows with the verdicts of the judges.

        Parameters
        ----------
        verdicts : array-like
            True, False or None for each of `rows`; None where nobody judged.

        Returns
        -------
        JudgedRows
            For :func:`combine`.
        """
        found = read_verdicts(verdicts)
        valid.check_same_length("verdicts", found.size, self.rows.size, "the rows drawn")
        return JudgedRows(self, found)

    def to_csv(self, columns: Mapping[str, Any] | None = None) -> str:
        """A table to be filled in, as text.

        Parameters
        ----------
        columns : mapping of str to sequence, optional
            Columns of all rows of the data that the judges are to see. Leave scores and labels
            out. Pass the same to :meth:`JudgedRows.read_csv`, which compares the cells.

        Returns
        -------
        str
            CSV with the number of each row, from 1, the given columns, and an empty column named
            positive. The design stands in a column of its own.
        """
        headings, cells = _cells_of({} if columns is None else columns)
        lines = ([str(i + 1), self.words(i), *cells(i).values(), ""] for i in self.rows.tolist())
        return csv_bytes([ROW, DESIGN, *headings, ANSWER], lines).decode()

    def __str__(self) -> str:
        n_labeled, last, beside = int(self.labeled.sum()), len(self.cuts), ""
        if n_labeled:
            low = (self.stratum[self.labeled] == last).all()
            every = self.n_labeled[last] if low else self.n_labeled.sum()
            beside = f" and {n_labeled:,} of {every:,} labeled rows"
            beside += f" with {self.where(last)}" if low else ""
        of, where = self.n_unlabeled.sum(), ""
        if self.kind == "top":
            of, where = self.n_unlabeled[0], f" with {self.where(0)}"
        why = f"; {self.reason}" if self.reason else ""
        return f"{self.rows.size - n_labeled:,} of {of:,} unlabeled rows{where}{beside}{why}"


@dataclass(frozen=True, eq=False)
class JudgedRows(Frozen):
    """Rows with the verdicts of judges.

    Attributes
    ----------
    design : AuditDesign
        Which rows, and how they were drawn.
    verdicts : ndarray of int
        1 (positive), 0 (negative) or -1 (nobody judged) for each of its rows.
    """

    design: AuditDesign
    verdicts: IntArray

    def __str__(self) -> str:
        positive, judged = (self.verdicts == 1).sum(), (self.verdicts >= 0).sum()
        return f"{positive:,} of {judged:,} judged rows are positive; drawn were {self.design}"

    @classmethod
    @public
    def from_array(
        cls,
        verdicts: ArrayLike,
        scores: ArrayLike,
        labeled: ArrayLike,
        *,
        design: str,
        negative_label: Any = None,
    ) -> JudgedRows:
        """Return judged rows from verdicts for all rows.

        Parameters
        ----------
        verdicts : array-like of shape (n,)
            True, False or None for each row of the data.
        scores, labeled : array-like of shape (n,)
            The data.
        design : {"random"}
            Says that the judged unlabeled rows are a random sample of all unlabeled rows, and the
            judged labeled rows, if any, of all labeled ones. Of rows that were drawn otherwise
            :func:`draw` knows the design.
        negative_label : object, optional
            The label of rows that are known to be negative, as in :func:`draw`.

        Returns
        -------
        JudgedRows
            The judged rows alone.
        """
        valid.check_choice("design", design, ("random",))
        return cls.at_random(verdicts, ScoredLabels.read(scores, labeled, negative_label))

    @classmethod
    def at_random(cls, verdicts: Any, data: ScoredLabels) -> JudgedRows:
        """Return judged rows that are a random sample of their side; known negatives count not."""
        found = read_verdicts(verdicts)
        valid.check_same_length("judged", found.size, data.scores.size)
        rows = np.flatnonzero((found >= 0) & (data.labeled | data.unlabeled))
        return cls(AuditDesign._of("random", cuts_of_all(data), rows, data), found[rows])

    def check_data(self, data: ScoredLabels) -> None:
        """Complain if the rows were drawn from other data."""
        if data.checksum != self.design.checksum:
            raise _other_data("judged", self.design.checksum, data)

    @classmethod
    @public
    def read_csv(
        cls,
        file: str | Path,
        scores: ArrayLike,
        labeled: ArrayLike,
        *,
        answer: str = ANSWER,
        columns: Mapping[str, Any] | None = None,
        negative_label: Any = None,
    ) -> JudgedRows:
        """Read a table that :meth:`AuditDesign.to_csv` made and judges filled in.

        Each line has a checksum of its row number, of the design and of the data: a number that
        was retyped, or sorted without the rest of its line, is refused. Files that were made
        before 0.2 have none; these are read if `columns` identify their rows.

        Parameters
        ----------
        file : str or Path
            The file; commas, semicolons or tabs between its columns.
        scores, labeled : array-like of shape (n,)
            The data that the rows were drawn from.
        answer : str, default="positive"
            The column of verdicts: yes or no, 1 or 0, or blank. Where a column named judge says
            who gave them, a row may stand there once for each judge: the majority decides, and a
            tie counts as no verdict.
        columns : mapping of str to sequence, optional
            Columns of all rows of the data. Cells of the file that differ from them are refused.
        negative_label : object, optional
            The label of rows that are known to be negative, as in :func:`draw`.

        Returns
        -------
        JudgedRows
            The rows of the file.
        """
        data = ScoredLabels.read(scores, labeled, negative_label)
        cells = None if columns is None else _cells_of(columns)[1]
        return AnswerFile.of(read_table(file), data, answer, cells).judged(data)

    @property
    def n_skipped(self) -> int:
        """Number of rows without a verdict."""
        return int((self.verdicts < 0).sum())

    def answers_at(self, threshold: float, scores: FloatArray) -> Answers:
        """Return the unlabeled rows found positive, and judged, from a threshold up, and below it.

        The scores are those of all rows of the data.
        """
        own = ~self.design.labeled & (self.verdicts >= 0)
        flagged, positive = scores[self.design.rows[own]] >= threshold, self.verdicts[own] == 1
        above, below = (
            (float(positive[part].sum()), float(part.sum())) for part in (flagged, ~flagged)
        )
        return above, below

    def tally(self, *, labeled: bool) -> tuple[IntArray, IntArray]:
        """Positive and judged rows in each stratum, of the labeled or of the unlabeled ones."""
        here = self.design.labeled == labeled
        n = len(self.design.cuts) + 1
        counts = [
            np.bincount(self.design.stratum[here & rows], minlength=n)
            for rows in (self.verdicts == 1, self.verdicts >= 0)
        ]
        return counts[0], counts[1]


_VOTES = {1: 1, 0: -1, -1: 0}


class AnswerFile(NamedTuple):
    """The cells of a file of judged rows, and what they mean, line by line."""

    cells: dict[str, list[str]]
    kind: str
    cuts: list[float]
    rows: list[int]
    """Positions in the data."""
    judges: list[str]
    verdicts: IntArray

    @classmethod
    def of(
        cls,
        table: dict[str, list[str]],
        data: ScoredLabels,
        answer: str = ANSWER,
        cells: Cells | None = None,
    ) -> AnswerFile:
        """Check a table against the data that its rows were drawn from."""
        for name in (ROW, DESIGN, answer):
            if name not in table:
                must = f"one with a column {name!r}, as audit.draw makes one"
                hint = "" if name != answer else "answer= (or FILE:COLUMN) names that of verdicts"
                raise valid.bad_value("file", must, ", ".join(map(repr, table)), hint or None)
        numbers = [int(text) if text.strip().isdecimal() else 0 for text in table[ROW]]
        judges = [name.strip() for name in table.get(JUDGE, [""] * len(numbers))]
        kind, cuts, marked = _read_design(table[DESIGN], numbers, data)
        if (
            len(set(zip(numbers, judges, strict=True))) < len(numbers)
            or not 1 <= min(numbers) <= max(numbers) <= data.scores.size
        ):
            must = f"one with different numbers from 1 to {data.scores.size} in column {ROW!r}"
            raise valid.bad_value("file", must, "others", "leave that column as it was drawn")
        rows = [number - 1 for number in numbers]
        identified = _compare_cells(table, rows, answer, cells)
        if not (marked or identified):
            must = "one whose lines have checksums in column 'design', or identify their rows"
            got = "one of an older version whose cells could be those of other rows"
            hint = "draw the rows again; in Python, the parameter columns compares their cells"
            raise valid.bad_value("file", must, got, hint)
        verdicts = read_verdicts(table[answer], f"column {answer!r}")
        return cls(table, kind, cuts, rows, judges, verdicts)

    def judged(self, data: ScoredLabels) -> JudgedRows:
        """Return the rows, each once, with the verdict of most judges."""
        balance: dict[int, int] = {}
        for row, verdict in zip(self.rows, self.verdicts.tolist(), strict=True):
            balance[row] = balance.get(row, 0) + _VOTES[verdict]
        design = AuditDesign._of(
            self.kind, self.cuts, np.array(list(balance), dtype=np.int64), data
        )
        votes = np.array(list(balance.values()))
        return JudgedRows(design, np.select([votes > 0, votes < 0], [1, 0], -1))


def read_verdicts(values: Any, name: str = "verdicts") -> IntArray:
    """1, 0 or -1 for each verdict."""
    must = "True, False or None for each row"
    if not valid.is_iterable(values) or isinstance(values, (str, bytes, Mapping)):
        raise valid.bad_type("verdicts", must, values)
    words = [str(value).strip().casefold() for value in values]
    unknown = next((i for i, word in enumerate(words) if word not in _WORDS), None)
    if unknown is not None:
        got = f"{words[unknown]!r} in row {unknown + 1} of {name}"
        raise valid.bad_value("verdicts", must, got, "yes or no, 1 or 0, or blank will do")
    return np.array([_WORDS[word] for word in words], dtype=np.int64)


def read_table(file: Any) -> dict[str, list[str]]:
    """Return the cells of a file by heading; those of its own columns are in lower case."""
    if not isinstance(file, (str, Path)):
        raise valid.bad_type("file", "the name of a file", file)
    limit = csv.field_size_limit(2**31 - 1)
    try:
        raw = Path(file).read_bytes()
        utf16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = raw.decode("utf-16" if utf16 else "utf-8-sig")
        mark = max(",;\t", key=lambda each: len({*next(_lines(text, each), [])} & {*OWN_COLUMNS}))
        header, *rows = [*_lines(text, mark)] or [[]]
    except (OSError, ValueError, csv.Error) as error:
        hint = "save it as CSV in UTF-8"
        raise valid.bad_value("file", "a text file that can be read", str(error), hint) from error
    finally:
        csv.field_size_limit(limit)
    if twice := [name for name, times in Counter(header).items() if name and times > 1]:
        must = "one whose columns have different names"
        got = f"{header.count(twice[0])} columns {valid.show(twice[0])}"
        raise valid.bad_value("file", must, got, "remove or rename all but one")
    if not rows:
        raise valid.bad_value("file", "one with rows", "none")
    return {name: [row[i] if i < len(row) else "" for row in rows] for i, name in enumerate(header)}


def _lines(text: str, mark: str) -> Iterator[list[str]]:
    """Yield headings and lines, if this separates the columns."""
    # Lines end as files do: str.splitlines would also end them within a cell, at U+2028 for one.
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    lines = (row for row in rows if any(map(str.strip, row)))
    for header in islice(lines, 1):
        plain = (name.strip().casefold() for name in header)
        yield [own if own in OWN_COLUMNS else name for own, name in zip(plain, header, strict=True)]
    yield from lines


_MARK = ";row="


def _mark_of(words: str, number: int) -> str:
    return hashlib.sha256(f"{words};{number}".encode()).hexdigest()[:8]


def _read_design(
    lines: list[str], numbers: list[int], data: ScoredLabels
) -> tuple[str, list[float], bool]:
    """Return kind and cuts of the design, if it is that of these data, and whether rows are marked.

    Files that were made before 0.2 have no checksum of each row.
    """
    stems, signs, marks = zip(*(line.strip().partition(_MARK) for line in lines), strict=True)
    kind, _, rest = stems[0].partition(";")
    checksum, *cuts = rest.split(";")
    try:
        found = [float(cut) for cut in cuts]
    except ValueError:
        found = []
    must = f"one whose columns {ROW!r} and {DESIGN!r} are as they were drawn"
    if len(set(stems)) > 1 or kind not in KINDS or not found:
        raise valid.bad_value("file", must, valid.show(stems[0]))
    if checksum != f"data={data.checksum}":
        raise _other_data("file", checksum.removeprefix("data="), data)
    wrong = [
        number
        for number, sign, mark in zip(numbers, signs, marks, strict=True)
        if sign and mark != _mark_of(stems[0], number)
    ]
    if wrong:
        got = f"{len(wrong)} of {len(lines)} lines of another row or design, the first in row"
        hint = "sort whole lines, and change no cell of these columns"
        raise valid.bad_value("file", must, f"{got} {wrong[0]}", hint)
    return kind, found, all(signs)


Cells = Callable[[int], dict[str, str]]
"""Returns the cells of a row of the data, by the headings they have in a file of answers."""


def _cells_of(columns: Mapping[str, Any]) -> tuple[list[str], Cells]:
    """Return headings of columns, and what gives the cells of a row."""
    shown = {
        heading: np.asarray(columns[name], dtype=object)
        for heading, name in shown_as(columns).items()
    }

    def cells(row: int) -> dict[str, str]:
        found = {name: column[row] for name, column in shown.items()}
        return {name: "" if cell is None else str(cell) for name, cell in found.items()}

    return list(shown), cells


def _compare_cells(
    table: dict[str, list[str]], rows: list[int], answer: str, cells: Cells | None
) -> bool:
    """Complain of cells that the data do not have there; return whether they identify all rows."""
    if cells is None:
        return False
    found: dict[int, tuple[str, ...]] = {}
    for line, row in enumerate(rows):
        given = cells(row)
        names = [name for name in table if name in given and name != answer]
        for name in names:
            if not _alike(table[name][line], given[name]):
                must = "one whose cells are those of the data"
                got = f"{valid.show(table[name][line])} in column {name!r} of row {row + 1}, where "
                got += f"the data have {valid.show(given[name])}"
                hint = "sort whole lines; if only this column was rewritten, remove it from the "
                raise valid.bad_value("file", must, got, f"{hint}file")
        found[row] = tuple(given[name].strip() for name in names)
    return () not in found.values() and len(set(found.values())) == len(found)


def _alike(kept: str, given: str) -> bool:
    """Whether a cell of a file is that of the data, which a spreadsheet may have written anew."""
    if kept == given:
        return True
    given = given.encode("utf-8", "backslashreplace").decode()
    one, other = (" ".join(cell.split()).casefold() for cell in (kept, given))
    if one == other or (one in _BLANK and other in _BLANK):
        return True
    with suppress(ArithmeticError):  # no numbers
        a, b = (Decimal(cell.replace(",", ".")) for cell in (one, other))
        # Spreadsheets save the digits that they show, 1.23457E+16 of a long number, and up to 15.
        digits = re.sub(r"e.*|\D", "", one).lstrip("0")
        n = len(digits if len(digits) <= _MOST_DIGITS else digits.rstrip("0"))
        last = Decimal(1).scaleb(a.adjusted() + 1 - n)
        return a == b or (n >= _FEWEST_DIGITS and abs(a - b) < last)
    return False


_FEWEST_DIGITS, _MOST_DIGITS = 5, 15
"""Of a number that may have been rounded."""


def _other_data(name: str, checksum: str, data: ScoredLabels) -> InvalidInputError:
    """Say that rows were drawn from other data, or from these in another order."""
    got = "rows drawn from other data: another file or column, or rows have changed"
    if checksum[:8] == data.checksum[:8]:
        got = "rows drawn from the same scores and labels in another order"
    must = "of rows drawn from these scores and labels"
    hint = "give the data that the rows were drawn from, in the same order"
    return valid.bad_value(name, must, got, hint)


def cuts_of_all(data: ScoredLabels) -> list[float]:
    return sorted({data.reached(share) for share in STRATUM_SHARES}, reverse=True)


def cut_of(data: ScoredLabels, threshold: Any, review: Any) -> float | None:
    """The cut that a caller names by a threshold or a number of rows, if any."""
    if review is None:
        return None if threshold is None else valid.check_real("threshold", threshold)
    if threshold is not None:
        must = Words("left out where ", "threshold", " is given")
        raise valid.bad_value("review", must, valid.show(review))
    review = valid.check_integer("review", review, low=1, high=int(data.unlabeled.sum()))
    return cut_of_top(data.counts, review)
