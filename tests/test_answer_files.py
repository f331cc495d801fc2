"""Files of answers: what people and spreadsheets do to them, and what is then kept or refused."""

from __future__ import annotations

import codecs
import csv
import io
import string
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.command_line import Result, call_main

import purecover as pu
from purecover.audit import JudgedRows
from purecover.audit.judging import Judging
from purecover.exceptions import InvalidInputError

SAMPLE = pu.simulate.binormal(2.0).sample(40, 160, alpha=0.3, random_state=0)
SCORES, LABELED = np.round(SAMPLE.scores, 1), SAMPLE.labeled  # many are equal
CELLS = {"id": [f"{i:03}" for i in range(200)], "note": [f"ä{i % 7}" for i in range(200)]}
Table = list[list[str]]


def drawn(n: int = 12) -> Table:
    """A sample with answers, line by line."""
    design = pu.audit.draw(SCORES, LABELED, n, threshold=-9)
    header, *lines = csv.reader(io.StringIO(design.to_csv(CELLS), newline=""))
    answers = ["yes" if SAMPLE.truth[row] else "no" for row in design.rows]
    return [header, *([*line[:-1], word] for line, word in zip(lines, answers, strict=True))]


def text_of(table: Table, **how: Any) -> str:
    text = io.StringIO()
    csv.writer(text, **{"lineterminator": "\n", **how}).writerows(table)
    return text.getvalue()


def read(table: Table, folder: Path, columns: Any = CELLS, scores: Any = SCORES) -> JudgedRows:
    file = folder / "a.csv"
    file.write_text(text_of(table), encoding="utf-8", newline="")
    return JudgedRows.read_csv(file, scores, LABELED, columns=columns)


# --- Never overwritten ------------------------------------------------------------------------


@contextmanager
def data_file() -> Iterator[Path]:
    """A file of the data, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "d.csv")
        rows = zip(SCORES.tolist(), LABELED.astype(int).tolist(), *CELLS.values(), strict=True)
        path.write_text(text_of([["score", "labeled", *CELLS], *rows]), encoding="utf-8")
        yield path


def sample_to(data: Path, file: Path, run: Callable[..., Result]) -> str:
    result = run("audit", "sample", data, "--out", file)
    assert result.code == 2
    return result.err


def judge_beside(data: Path, file: Path, run: Callable[..., Result]) -> str:
    file.replace(beside := data.with_name("d.judged.csv"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO("y\ny\n"))
        result = run("judge", data)
    beside.replace(file)
    assert result.code == 2
    return result.err


def judge_in_a_notebook(_: Path, file: Path, __: Callable[..., Result]) -> str:
    frame = {"score": SCORES, "labeled": LABELED} | CELLS
    with pytest.raises(InvalidInputError) as caught:
        pu.audit.judge(frame, "score", "labeled", file=file).answer("y")
    return str(caught.value)


PLACES = [sample_to, judge_beside, judge_in_a_notebook]
WORDS = {"yes": "Yes", "no": "0"}


def with_headings(table: Table, change: Callable[[str], str]) -> Table:
    return [list(map(change, table[0])), *table[1:]]


def in_order(table: Table, order: list[int]) -> Table:
    return [[line[i] for i in order] for line in table]


def rewritten(table: Table) -> Table:
    """As a spreadsheet does: numbers without leading zeros, and answers as a person types them."""
    return [table[0], *([*line[:2], str(int(line[2])), line[3], WORDS[line[4]]]
                        for line in table[1:])]  # fmt: skip


def ordered(table: Table) -> Table:
    return [table[0], *sorted(table[1:])]


EXTRA = st.sampled_from([[], ["remark"], ["", ""]])
TABLES = st.sampled_from(
    [
        lambda table: table,
        rewritten,
        lambda table: with_headings(table, str.title),
        lambda table: with_headings(table, {"positive": "Is it?"}.get),
        lambda table: in_order(table, [4, 3, 2, 1, 0]),
        lambda table: table[:5],
        ordered,
    ]
)
FORMS = {
    "delimiter": st.sampled_from([",", ";", "\t"]),
    "lineterminator": st.sampled_from(["\n", "\r\n", "\r"]),
    "quoting": st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
}
ENCODINGS = ["utf-8", "utf-8-sig", "latin-1", "utf-16-le", "utf-16-be"]
BOMS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
OWN = {"delimiter": ",", "lineterminator": "\n", "quoting": csv.QUOTE_MINIMAL}


@pytest.mark.parametrize("place", PLACES)
@given(
    change=TABLES,
    extra=EXTRA,
    form=st.fixed_dictionaries(FORMS),
    encoding=st.sampled_from(ENCODINGS),
    cut=st.sampled_from([None, None, 2, 40]),
)
@example(change=rewritten, extra=[], form=OWN | {"delimiter": ";"}, encoding="latin-1", cut=None)
@example(change=lambda table: table, extra=[], form=OWN, encoding="utf-16-le", cut=None)
@example(change=lambda table: table, extra=[], form=OWN, encoding="utf-8-sig", cut=None)
@example(change=lambda table: with_headings(table, str.title), extra=[], form=OWN,
         encoding="utf-8", cut=None)  # fmt: skip
@settings(max_examples=30)
def test_answers_that_another_program_saved_stay_as_they_are(
    place: Any, change: Any, extra: Any, form: Any, encoding: str, cut: int | None
) -> None:
    table = [[*line, *(extra if i == 0 else ["ä"] * len(extra))]
             for i, line in enumerate(change(drawn()))]  # fmt: skip
    content = BOMS.get(encoding, b"") + text_of(table, **form).encode(encoding)
    content = content[:cut]
    if place is not sample_to:  # which go on with answers in the form of this program
        own = encoding == "utf-8" and cut is None and not extra
        assume(not (own and form == OWN and table in (drawn(), drawn()[:5], ordered(drawn()))))
    kept_by(place, content)


def kept_by(place: Any, content: bytes, mode: int = 0o644) -> None:
    """Try to write over a file in this place: it is refused, with what to do next."""
    with data_file() as data:
        file = data.with_name("answers.csv")
        file.write_bytes(content)
        file.chmod(mode)
        with pytest.MonkeyPatch.context() as patch:
            out, err = io.StringIO(), io.StringIO()
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)

            class Said:
                def readouterr(self) -> tuple[str, str]:
                    return out.getvalue(), err.getvalue()

            said = place(data, file, lambda *argv: call_main(Said(), *argv))  # type: ignore[arg-type]
        assert file.read_bytes() == content
        assert {path.name for path in data.parent.iterdir()} == {"d.csv", "answers.csv"}
        assert "Hint: " in said
        if place is not judge_in_a_notebook:
            assert file.name in said or "d.judged.csv" in said
        file.chmod(0o644)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("content", "mode"),
    [
        (b"", 0o644),
        (b"\xff\x00 something else", 0o644),
        (b"PK\x03\x04 a workbook", 0o644),
        (b"row,design,positive\n", 0o644),
        (b"a,b\n1,2\n", 0o644),
        (b"[1, 2]", 0o644),
        (text_of(drawn()).encode(), 0o444),
    ],
)
def test_files_that_are_no_answers_stay_as_well(place: Any, content: bytes, mode: int) -> None:
    kept_by(place, content, mode)


def test_a_sample_without_answers_is_drawn_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with data_file() as data:
        out = tmp_path / "s.csv"
        for more in (["--n", "3"], ["--n", "5", "--design", "random"], ["--n-labeled", "4"]):
            assert call_main(capsys, "audit", "sample", data, "--out", out, *more).code == 0
        blank = out.read_bytes()
        out.write_bytes(blank.replace(b",\n", b",no\n", 1))
        assert call_main(capsys, "audit", "sample", data, "--out", out).code == 2
        out.write_bytes(blank)
        kept = call_main(capsys, "audit", "sample", data, "--columns", "note", "--out", out)
        assert (kept.code, out.read_bytes()) == (2, blank)  # of another column


# --- Rows are those that were drawn -----------------------------------------------------------


@given(data=st.data(), columns=st.integers(1, 4))
def test_cells_moved_between_lines_are_refused(data: Any, columns: int) -> None:
    """The row number alone, with the design, and with some of the cells; not with all of them."""
    table = drawn()
    order = data.draw(st.permutations(range(1, len(table))))
    moved = [table[0], *(table[at][:columns] + line[columns:]
                         for at, line in zip(order, table[1:], strict=True))]  # fmt: skip
    own = {line[0]: line[:4] for line in table}
    same = all(line[:4] == own[line[0]] for line in moved)
    with tempfile.TemporaryDirectory() as folder:
        if same:
            assert read(moved, Path(folder)).verdicts.size == 12
            return
        with pytest.raises(InvalidInputError, match=r"sort whole lines"):
            read(moved, Path(folder))
        if columns == 1:  # which needs no cells of the data
            with pytest.raises(InvalidInputError, match="of another row or design"):
                read(moved, Path(folder), columns=None)


@given(line=st.integers(1, 12), place=st.integers(0, 2), digit=st.sampled_from(string.digits))
def test_mistyped_row_numbers_are_refused(line: int, place: int, digit: str) -> None:
    table = drawn()
    number = list(table[line][0])
    number[place % len(number)] = digit
    assume("".join(number) != table[line][0])
    table[line][0] = "".join(number)
    with tempfile.TemporaryDirectory() as folder:
        for columns in (CELLS, None):
            with pytest.raises(InvalidInputError, match="'row'"):
                read(table, Path(folder), columns)


@pytest.mark.parametrize(
    ("old", "new"), [(";-9.0", ";-8.0"), ("top;", "random;"), (";-9", ";1;-9")]
)
def test_an_edited_design_is_refused(old: str, new: str, tmp_path: Path) -> None:
    table = [[cell.replace(old, new) for cell in line] for line in drawn()]
    with pytest.raises(InvalidInputError, match="12 of 12 lines"):
        read(table, tmp_path)


def test_rows_of_equal_score_and_label_that_changed_places_are_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = drawn()
    row = int(table[1][0]) - 1
    alike = (SCORES[row] == SCORES) & (LABELED[row] == LABELED)
    other = next(at for at in np.flatnonzero(alike).tolist() if at != row)
    swapped = CELLS["id"].copy()
    swapped[row], swapped[other] = swapped[other], swapped[row]
    with pytest.raises(InvalidInputError, match=f"in column 'id' of row {row + 1}, where the data"):
        read(table, tmp_path, {"id": swapped})
    with data_file() as data:
        answers = data.with_name("d.judged.csv")
        answers.write_text(text_of(table), encoding="utf-8")
        assert call_main(capsys, "evaluate", data, "--judged", "--n-resamples=0").code == 0
        lines = data.read_text().split("\n")
        lines[row + 1], lines[other + 1] = lines[other + 1], lines[row + 1]
        data.write_text("\n".join(lines))
        for command in (["evaluate", data, "--judged"], ["judge", data]):
            refused = call_main(capsys, *command)
            assert refused.code == 2
            assert f"row {row + 1}, where the data have" in refused.err
        # A column that is not in the file cannot be compared.
        answers.write_text(text_of([line[:2] + line[3:] for line in table]), encoding="utf-8")
        note = CELLS["note"][row] == CELLS["note"][other]
        assert call_main(capsys, "evaluate", data, "--judged").code == (0 if note else 2)


def test_files_of_older_versions_need_cells_that_identify_their_rows(tmp_path: Path) -> None:
    new = drawn()
    old = [[cell.partition(";row=")[0] for cell in line] for line in new]
    assert np.array_equal(read(old, tmp_path).verdicts, read(new, tmp_path).verdicts)
    for columns in (None, {"note": CELLS["note"]}, {"other": CELLS["id"]}):
        with pytest.raises(InvalidInputError, match="of an older version"):
            read(old, tmp_path, columns)
    numbers = sorted(line[0] for line in old[1:])
    with pytest.raises(InvalidInputError, match="sort whole lines"):
        read(
            [old[0], *([n, *line[1:]] for n, line in zip(numbers, old[1:], strict=True))], tmp_path
        )
    # Answers that are added to such a file give all of its lines a checksum.
    file = tmp_path / "b.csv"
    file.write_text(text_of(old), encoding="utf-8")
    judging = Judging(
        SCORES, LABELED, file, cells=lambda row: {n: c[row] for n, c in CELLS.items()}
    )
    judging.answer("yes")
    assert JudgedRows.read_csv(file, SCORES, LABELED).verdicts.size == 13


@pytest.mark.parametrize(
    ("given_", "kept", "same"),
    [
        ("00123", "123", True),
        ("1.50", "1.5", True),
        ("12345678901234567", "1.23457E+16", True),
        ("12345678901234567", "12345678901234500", True),
        ("0.123456789012", "0.123457", True),
        ("0.5", "0,5", True),
        ("true", "TRUE", True),
        ("two\r\nlines ", "two\nlines", True),
        ("nan", "", True),
        ("100001", "100002", False),
        ("12345678901234567", "12345678901234568", False),
        ("1.4", "1", False),
        ("a", "b", False),
        ("a", "", False),
        ("2020-01-01", "2020-01-02", False),
    ],
)
def test_cells_that_a_spreadsheet_wrote_anew(
    given_: str, kept: str, same: bool, tmp_path: Path
) -> None:
    table = drawn()
    columns = {"id": CELLS["id"], "note": [given_] * 200}
    table = [table[0], *([*line[:3], kept, line[4]] for line in table[1:])]
    if same:
        read(table, tmp_path, columns)
    else:
        with pytest.raises(InvalidInputError, match="remove it from the file"):
            read(table, tmp_path, columns)


# --- Any text ---------------------------------------------------------------------------------

BREAKS = ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\r", "\n", "\r\n"]
TEXTS = st.one_of(
    st.text(st.characters(codec=None)),
    st.lists(st.sampled_from([*BREAKS, '"', ",", ";", " ", "a"])).map("".join),
)


@given(cells=st.lists(TEXTS, min_size=4, max_size=4), name=TEXTS)
@example(cells=["\ud800", "a\rb", "\x00", "x" * 200_000], name="positive")
@example(cells=BREAKS[:4], name="\u2028")
@settings(max_examples=60)
def test_any_text_may_stand_in_cells_and_headings(cells: list[str], name: str) -> None:
    shown = {name: [f"{cells[row % 4]}{row}" for row in range(200)], "row": ["r"] * 200}
    frame = {"s": SCORES, "l": LABELED} | shown
    assume(len(frame) == 4)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "a.csv")
        for n in range(1, 4):  # each begins anew
            view = pu.audit.judge(frame, "s", "l", file=file)
            view.answer("y")
            assert view.judging.tally()["yes"] == n
        assert (
            JudgedRows.read_csv(file, SCORES, LABELED, columns=shown).verdicts.tolist() == [1] * 3
        )
        design = pu.audit.draw(SCORES, LABELED, 5)
        file.write_text(design.to_csv(shown), encoding="utf-8", newline="")
        again = JudgedRows.read_csv(file, SCORES, LABELED, columns=shown)
        assert np.array_equal(again.design.rows, design.rows)


def test_line_ends_of_unicode_in_a_file_of_data(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "d.csv"
    notes = [f"{BREAKS[i % 11]}a{BREAKS[i % 7]}{i}" for i in range(200)]
    rows = zip(SCORES.tolist(), LABELED.astype(int).tolist(), notes, strict=True)
    table = text_of([["score", "labeled", "note"], *rows], quoting=csv.QUOTE_ALL)
    data.write_text(table, encoding="utf-8", newline="")
    for keys in ("ynyy", "nny"):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{key}\n" for key in keys)))
        assert call_main(capsys, "judge", data).code == 0
    result = call_main(capsys, "evaluate", data, "--judged", "--n-resamples=0", "--json")
    assert result.json["proportions"]["origin"].endswith("from the scores")
    out = tmp_path / "s.csv"
    assert call_main(capsys, "audit", "sample", data, "--out", out).code == 0
    assert call_main(capsys, "audit", "sample", data, "--out", out, "--n", "4").code == 0
    out.write_bytes(out.read_bytes().replace(b",\n", b",no\n"))
    assert call_main(capsys, "evaluate", data, f"--judged={out}", "--n-resamples=0").code == 0


# --- One column of each name ------------------------------------------------------------------


@pytest.mark.parametrize("heading", ["positive", "Positive ", "row", "design", "id"])
def test_two_columns_of_one_name_are_refused(heading: str, tmp_path: Path) -> None:
    table = drawn()
    copy = table[0].index(heading.strip().lower())
    twice = [[*line, heading if i == 0 else line[copy]] for i, line in enumerate(table)]
    with pytest.raises(InvalidInputError, match=f"got 2 columns '{heading.strip().lower()}'"):
        read(twice, tmp_path)


def test_columns_without_a_heading_do_not_matter(tmp_path: Path) -> None:
    read([[*line, "", "" if i == 0 else "a remark"] for i, line in enumerate(drawn())], tmp_path)


# --- As many rows as there are ----------------------------------------------------------------


def test_fewer_rows_than_asked_for_are_drawn_and_it_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    unlabeled = np.sort(SAMPLE.scores[~LABELED])
    cut = float(unlabeled[-8])
    for how, n in (
        ({"threshold": cut}, 8),
        ({"threshold": cut, "figure": "precision"}, 8),
        ({"design": "random"}, 160),
        ({"design": "stratified"}, 160),
    ):
        design = pu.audit.draw(SAMPLE.scores, LABELED, 300, **how)
        assert len(set(design.rows.tolist())) == design.rows.size == n
        assert not LABELED[design.rows].any()
        assert str(design).endswith("300 were asked for, and no more are there")
    both = pu.audit.draw(SAMPLE.scores, LABELED, 30, threshold=cut, n_labeled=99)
    assert both.labeled.sum() == 40
    assert "129 were asked for" in both.reason
    assert pu.audit.draw(SAMPLE.scores, LABELED, 8, threshold=cut).reason == ""
    with pytest.raises(InvalidInputError, match="a score that unlabeled rows reach"):
        pu.audit.draw(SAMPLE.scores, LABELED, 3, threshold=float(unlabeled[-1] + 9))
    with data_file() as data:
        cut_here = float(np.sort(SCORES[~LABELED])[-3])
        out = data.with_name("s.csv")
        said = call_main(capsys, "audit", "sample", data, "--threshold", cut_here, "--out", out)
        assert said.code == 0
        assert "10 were asked for, and no more are there" in said.err
