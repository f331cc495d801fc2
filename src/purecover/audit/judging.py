"""Judging row by row: which row is next, the answers of all judges, and what they show so far."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from glob import escape
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from purecover import _validation as valid
from purecover._codec import replacing
from purecover._typing import ArrayLike
from purecover.audit.answers import Outlook
from purecover.audit.designs import (
    ANSWER,
    DESIGN,
    JUDGE,
    ROW,
    TOP_SHARE,
    AnswerFile,
    AuditDesign,
    Cells,
    JudgedRows,
    ScoredLabels,
    csv_bytes,
    cut_of,
    read_table,
)
from purecover.audit.figures import FIGURES, KnownFigure
from purecover.exceptions import ContradictionError, InvalidInputError
from purecover.intervals import Interval

ANSWERS = {"yes": 1, "no": 0, "skip": -1}
"""Answers of a judge, as the file has them, with the verdict that each means."""

TEN = 10
"""Answers that are enough if nobody says how narrow the interval has to be."""

_LEVEL = 0.95
_MANY_ALIKE = 0.2
_WIDE, _LESS = 0.1, 0.95
_LONGEST_NAME = 60

_ANEW = "to begin anew, move that file away"
_WRITABLE = 0o222


class Judging:
    """The rows that one judge is asked about, one after another, and the answers of all judges.

    An answer is in the file, and on the disk, before the next row is asked. Rows that others
    judged come first, so that judges can be compared; nobody is asked twice about a row. A file
    that another program has written is never changed.

    Parameters
    ----------
    scores, labeled : array-like of shape (n,)
        The data.
    file : Path
        Where the answers are, or will be.
    cells : callable
        Returns the text of each column that a judge may see, by its heading in the file, for the
        position of a row.
    judge : str
        Name of the judge; may be empty.
    figure : {"alpha", "auc", "precision"}
        What the interval is of.
    threshold, review, negative_label
        The cut of the score and the label of known negatives, as in :func:`draw`.
    """

    def __init__(
        self,
        scores: ArrayLike,
        labeled: ArrayLike,
        file: Path,
        *,
        cells: Cells = lambda _: {},
        judge: str = "",
        figure: str = "auc",
        threshold: float | None = None,
        review: int | None = None,
        negative_label: Any = None,
    ) -> None:
        self.figure = valid.check_choice("figure", figure, FIGURES)
        valid.check_instance("judge", judge, str)
        if len(judge) > _LONGEST_NAME or not judge.isprintable():
            must = f"a name of up to {_LONGEST_NAME} characters"
            raise valid.bad_value("judge", must, valid.show(judge))
        self.judge, self.file, self.cells = judge.strip(), file, cells
        self.data = ScoredLabels.read(scores, labeled, negative_label)
        self._lines: dict[tuple[int, str], dict[str, str]] = {}
        with _alone(file.parent) as alone:
            if alone:  # what a killed process left
                for part in file.parent.glob(f"{escape(self._prefix)}{'[0-9a-f]' * 16}"):
                    part.unlink(missing_ok=True)
            found = self._read()
        cut = self._cut = cut_of(self.data, threshold, review)
        if found is None:
            kind, cuts = "top", [self.data.reached(TOP_SHARE) if cut is None else cut]
        else:
            kind, cuts = found.kind, found.cuts
            if cut is not None and cuts != [cut]:
                name, got = ("review", review) if threshold is None else ("threshold", threshold)
                must = f"that of the answers in {file.name}"
                hint = f"leave it out; {_ANEW}"
                raise valid.bad_value(name, must, str(got), hint)
        # Those in the file, and then others by chance, in the same order for every judge.
        in_file = np.array(list(dict.fromkeys(row for row, _ in self._lines)), dtype=np.int64)
        rest = self.data.drawn(kind, cuts, np.random.default_rng(0))
        rows = np.concatenate((in_file, rest[~np.isin(rest, in_file)]))
        self.design = AuditDesign._of(kind, cuts, rows, self.data)
        self._counts = self.data.counts
        self._at = 0
        self._go_on()

    @property
    def row(self) -> int | None:
        """The position of the row to be judged now; None if all are."""
        rows = self.design.rows
        return int(rows[self._at]) if self._at < rows.size else None

    def upcoming(self, n: int) -> list[int]:
        """Return the row to be judged now and those that follow."""
        rows = map(int, self.design.rows[self._at :])
        return list(islice((row for row in rows if row == self.row or not self.said(row)), n))

    def said(self, row: int) -> str | None:
        """Return what the judge said of a row; None if the judge was not asked."""
        return self._lines.get((row, self.judge), {}).get(ANSWER) or None

    def answer(self, word: str, row: int | None = None) -> None:
        """Save the answer of the judge to a row, by default to that of now, and go on."""
        valid.check_choice("word", word, tuple(ANSWERS))
        row = self.row if row is None else row
        if row is None:
            return
        if row not in self.design.rows:
            raise valid.bad_value("row", "one of the rows drawn", str(row))
        with _alone(self.file.parent):
            own = {key: line for key, line in self._lines.items() if key[1] == self.judge}
            found = self._read()  # others may have judged meanwhile
            design = self.design
            if found is not None and (found.kind, *found.cuts) != (design.kind, *design.cuts):
                must = "one of the rows that were drawn when this judge began"
                raise valid.bad_value("file", must, "one of another cut or design", _ANEW)
            self._lines |= {key: line for key, line in own.items() if line[ANSWER]}
            blank = self._lines.get((row, ""), {})
            line = self._lines.get((row, self.judge))
            if line is None and blank.get(ANSWER) == "":  # drawn, and not judged by anyone
                line = self._lines.pop((row, ""))
            if line is None:
                shown = self.cells(row)
                line = {ROW: str(row + 1), DESIGN: design.words(row), **shown}
            self._lines[row, self.judge] = line | {ANSWER: word, JUDGE: self.judge}
            for (at, _), each in self._lines.items():  # those of older versions have no checksum
                each[DESIGN] = design.words(at)
            self._write()
        if row == self.row:
            self._at += 1
        self._go_on()

    def back(self) -> bool:
        """Ask again about the last row before this one that the judge answered, if there is one."""
        for at in range(self._at - 1, -1, -1):
            if self.said(int(self.design.rows[at])) is not None:
                self._at = at
                return True
        return False

    def _go_on(self) -> None:
        """Ask about the next row without an answer."""
        rows = self.design.rows
        places = chain(range(self._at, rows.size), range(self._at))
        self._at = next((at for at in places if self.said(int(rows[at])) is None), rows.size)

    def _read(self) -> AnswerFile | None:
        """Read the lines of the file, if there is one."""
        if not self.file.exists():
            return None
        try:
            found = AnswerFile.of(read_table(self.file), self.data, cells=self.cells)
        except InvalidInputError as error:
            error.hint = "; ".join(filter(None, (error.hint, _ANEW)))
            raise
        lines = zip(*found.cells.values(), strict=True)
        cells = [dict(zip(found.cells, line, strict=True)) for line in lines]
        for line, verdict in zip(cells, found.verdicts.tolist(), strict=True):
            words = ("no", "yes", "skip" if line[ANSWER].strip() else "")
            line[ANSWER] = words[verdict]  # an index of -1 is the last
        keys = zip(found.rows, found.judges, strict=True)
        self._lines = dict(zip(keys, cells, strict=True))
        if self._content() != self.file.read_bytes() or not self.file.stat().st_mode & _WRITABLE:
            must = "one that only this program has written, since answers are added to it"
            got = f"{self.file.name} as another program saved it, which is kept"
            hint = f"evaluate takes its answers as judged (--judged); {_ANEW}"
            raise valid.bad_value("file", must, got, hint)
        return found

    def _content(self) -> bytes:
        lines = self._lines.values()
        last = [ANSWER, *([JUDGE] if any(line.get(JUDGE) for line in lines) else [])]
        names = [name for line in lines for name in line if name not in (ANSWER, JUDGE)]
        header = [*dict.fromkeys(names), *last]
        return csv_bytes(header, ([line.get(name, "") for name in header] for line in lines))

    def _write(self) -> None:
        with replacing(self.file, prefix=self._prefix, durable=True) as file:
            file.write(self._content())

    @property
    def _prefix(self) -> str:
        return f".{self.file.name[:32]}."

    @property
    def judges(self) -> list[str]:
        """Names of those who answered."""
        return list(dict.fromkeys(who for (_, who), line in self._lines.items() if line[ANSWER]))

    def judged(self, judge: str | None = None) -> JudgedRows:
        """Return the answers of all judges, or those of one."""
        lines = {
            key: ANSWERS[line[ANSWER]]
            for key, line in self._lines.items()
            if line[ANSWER] and judge in (None, key[1])
        }
        rows, judges = [row for row, _ in lines], [who for _, who in lines]
        verdicts = np.array(list(lines.values()), dtype=np.int64)
        kind, cuts = self.design.kind, list(self.design.cuts)
        return AnswerFile({}, kind, cuts, rows, judges, verdicts).judged(self.data)

    def tally(self) -> dict[str, int]:
        """Return how often the judge gave each answer."""
        words = [line[ANSWER] for (_, who), line in self._lines.items() if who == self.judge]
        return {word: words.count(word) for word in ANSWERS}

    @property
    def disputed(self) -> list[int]:
        """Rows that some judge called positive and another one negative."""
        said: dict[int, set[str]] = {}
        for (row, _), line in self._lines.items():
            said.setdefault(row, set()).add(line[ANSWER])
        return [row for row, words in said.items() if {"yes", "no"} <= words]

    def twin(self, row: int) -> tuple[int, str] | None:
        """Return a row that this judge answered and that looks the same, with the answer."""
        shown = self._looks(row)
        for (other, who), line in self._lines.items():
            alike = shown and all(line.get(name, "").strip() == shown[name] for name in shown)
            if alike and who == self.judge and other != row and line[ANSWER] in ("yes", "no"):
                return other, line[ANSWER]
        return None

    def note(self, row: int) -> str:
        """Say that a row looks like one that was answered; where most do, only say so at first."""
        if self._alike > _MANY_ALIKE:
            if any(self.tally().values()) or not self.cells(row):
                return ""
            return "The columns shown do not distinguish most rows: look them up by number."
        twin = self.twin(row)
        return "" if twin is None else f"Looks like row {twin[0] + 1:,}, which you gave {twin[1]}."

    def _looks(self, row: int) -> dict[str, str]:
        return {name: text.strip() for name, text in self.cells(row).items()}

    @cached_property
    def _alike(self) -> float:
        """Share of rows that look like an earlier one, among the first that are asked."""
        looks = [tuple(self._looks(row).items()) for row in self.design.rows[:100].tolist()]
        return 1 - len(set(looks)) / len(looks)

    def interval(self, judged: JudgedRows | None = None) -> Interval:
        """Return the interval of the figure by the scores and these answers, by default all."""
        return self._known(self.judged() if judged is None else judged).interval

    def progress(self) -> tuple[Interval, Outlook]:
        """Return the interval of the figure now, and what more answers would do to it."""
        known = self._known(self.judged())
        left = self.design.rows.size - sum(self.tally().values())
        return known.interval, known.outlook(self.design.stratum[self._at :], left)

    def status(self) -> tuple[str, Interval | None]:
        """Say what is known of the figure, and what more answers would do to it."""
        try:
            now, more = self.progress()
        except ContradictionError:
            return "No alpha fits these answers together with the scores: look at them again.", None
        n, half = min(more.n_left, TEN), more.n_for(more.width / 2)
        if not self.judged().verdicts.size:  # by the scores alone a report has another interval
            width = more.width_after(n)
            return f"{self.name}: a 95 % interval about {width:.2f} wide after {n} answers.", None
        text = f"{self.words(now)}; {now.width:.2f} wide"
        if half is not None:
            step = 1 if half < 20 else 5 if half < 100 else 50
            hope = f"About {step * round(half / step)} more would halve it."
        elif more.width_after(n) < _LESS * more.width:
            hope = f"With {n} more about {more.width_after(n):.2f}."
        else:
            hope = "More answers would hardly narrow it."
        return f"{text}. {hope}", now

    @property
    def name(self) -> str:
        """The figure in words."""
        where = f"Precision among unlabeled rows with {self.design.where(0)}"
        return {"auc": "AUC", "precision": where, "alpha": "Alpha"}[self.figure]

    def words(self, interval: Interval) -> str:
        """The figure with an interval of it."""
        value, low, high = (
            f"{each:.{2 if interval.width > _WIDE else 3}f}"
            for each in (interval.estimate, interval.low, interval.high)
        )
        verb = " is" if self.figure == "precision" else ""  # its name ends with a number
        return f"{self.name}{verb} {value}, {low} to {high} (95 % interval)"

    def _known(self, judged: JudgedRows) -> KnownFigure:
        data, counts = self.data, self._counts
        return KnownFigure.of(self.figure, judged, data, counts, threshold=self._cut, level=_LEVEL)


def effects(judging: Judging) -> dict[str, Interval]:
    """Return the figure by the answers of each judge, and for either class of skipped rows."""
    found = {}
    if judging.disputed:
        for judge in judging.judges:
            words = f"by the answers of {judge or 'the judge without a name'}"
            found[words] = judging.interval(judging.judged(judge))
    judged = judging.judged()
    if judged.n_skipped:
        for word, verdict in (("positive", 1), ("negative", 0)):
            verdicts = np.where(judged.verdicts < 0, verdict, judged.verdicts)
            words = f"if all rows without a verdict are {word}"
            found[words] = judging.interval(replace(judged, verdicts=verdicts))
    return found


def remarks(judging: Judging) -> list[str]:
    """Return how far judges disagree, and what skipped rows could change."""
    found = [f"{judging.words(each)} {how}." for how, each in effects(judging).items()]
    if disputed := judging.disputed:
        shown = ", ".join(str(row + 1) for row in disputed[:10])
        found.insert(0, f"Judges disagree on {len(disputed)} rows: {shown}.")
    return found


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Keep other judges from saving into a folder at this moment; False where that cannot be."""
    descriptor = None
    with suppress(ImportError, OSError):  # Windows, a file system without locks
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)
