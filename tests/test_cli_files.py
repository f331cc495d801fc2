"""Files the command line reads, good and bad; bad cells are named by line and counted."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import call_main

import purecover as pu
from purecover._folders import new_folder, private_folder
from purecover.cli.look import peek
from purecover.engines.data_files import sniff_delimiter
from purecover.exceptions import PurecoverError

N = 40
SCORES = [((i * 37) % 101) / 100 for i in range(N)]
LABELED = [int(i % 4 == 0) for i in range(N)]
HEADER = "score,labeled"
MISSING = "--missing-is-unlabeled"
ROWS = [f"{s},{y}" for s, y in zip(SCORES, LABELED, strict=True)]


def csv_text(header: str = HEADER, rows: list[str] | None = None, end: str = "\n") -> str:
    return end.join([header, *(ROWS if rows is None else rows)]) + end


@pytest.fixture
def evaluate(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """The JSON document of a good file, or the message about a bad one."""

    def call(path: object, *options: str) -> Any:
        asked = ("--alpha", "0.1", "--resamples", "0", "--json", *options)
        found = call_main(capsys, "evaluate", path, *asked)
        return found.json if found.code == 0 else found.err.removeprefix("purecover: error: ")

    return call


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    def make(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


def sizes(document: Any) -> tuple[int, int, int]:
    assert not isinstance(document, str), document
    return document["n_labeled"], document["n_unlabeled"], document["n_negative"] or 0


def assert_same_data(document: Any) -> None:
    assert sizes(document) == (10, 30, 0)
    pairs = [
        (a > b) + (a == b) / 2
        for a, y in zip(SCORES, LABELED, strict=True)
        for b, z in zip(SCORES, LABELED, strict=True)
        if y and not z
    ]
    assert document["auc_pu"] == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends(evaluate, file, delimiter: str, end: str) -> None:
    assert_same_data(evaluate(file("a.csv", csv_text(end=end).replace(",", delimiter))))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bom.csv", b"\xef\xbb\xbf" + csv_text().encode()),
        ("utf16.csv", csv_text().encode("utf-16")),
        ("no-newline-at-end.csv", csv_text().rstrip().encode()),
        ("blank-lines.csv", ("\n\n" + csv_text().replace("\n", "\n\n", 5) + "\n\n").encode()),
        ("spaces.csv", csv_text(" score , labeled ").replace(",", " , ").encode()),
        ("quoted.csv", re.sub("[^,\n]+", r'"\g<0>"', csv_text()).encode()),
        ("a.tsv", csv_text().replace(",", "\t").encode()),
        ("noext", csv_text().encode()),
        ("a.csv.gz", gzip.compress(csv_text().encode(), mtime=0)),
        ("gz-without-its-name.csv", gzip.compress(csv_text().encode(), mtime=0)),
        (
            "two-members.csv.gz",
            gzip.compress(csv_text().encode()[:50]) + gzip.compress(csv_text().encode()[50:]),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_spellings_of_csv(evaluate, file, name: str, content: bytes) -> None:
    assert_same_data(evaluate(file(name, content)))


def test_names_with_line_breaks_and_of_two_cases(evaluate, file) -> None:
    rows = [f"{row},{-i},x" for i, row in enumerate(ROWS)]
    for header in (HEADER + ',Score,"a\nnote"', "Score,labeled,score,x"):
        path = file("a.csv", csv_text(header, rows))
        assert_same_data(evaluate(path, "--score", header.partition(",")[0]))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_names_of_two_cases_are_two_columns(evaluate, tmp_path: Path, name: str) -> None:
    path, rows = tmp_path / name, {"Score": LABELED, "labeled": LABELED, "score": SCORES}
    frame = pl.DataFrame({"a": [{"score": [1], "b/~": "x"}] * N} | rows)
    if name == "a.csv":
        frame.drop("a").write_csv(path)
    else:
        getattr(frame, {"a.jsonl": "write_ndjson"}.get(name, "write_parquet"))(path)
    assert "more than one column could be the score" in evaluate(path)
    assert_same_data(evaluate(path, "--score", "score"))
    assert evaluate(path, "--score", "Score")["auc_pu"] == 1
    assert "'Score', 'labeled', 'score'." in evaluate(path, "--score", "SCORE")


def test_other_columns_may_hold_anything(evaluate, file) -> None:
    rows = [f'{r},"line one, ""quoted""\nline two; {i} | x"' for i, r in enumerate(ROWS)]
    rows[3] = ROWS[3] + ',"' + "long " * 100_000 + '"'
    assert_same_data(evaluate(file("a.csv", csv_text(HEADER + ",note", rows))))


def test_a_wanted_name_decides_the_delimiter() -> None:
    sample = ["a,b;c,d;e\n", "1,2;3,4;5\n"]
    assert sniff_delimiter(sample, frozenset({"c,d"})) == ";"
    assert sniff_delimiter(sample, frozenset({"b;c"})) == ","


def jsonl(labels: Callable[[int], object] = int) -> str:
    return "".join(
        json.dumps({"id": i, "score": s, "labeled": labels(y)}) + "\n"
        for i, (s, y) in enumerate(zip(SCORES, LABELED, strict=True))
    )


RECORDS = [json.loads(line) for line in jsonl().splitlines()]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", jsonl()),
        ("a.ndjson", jsonl(bool)),
        ("noext", jsonl(str)),
        ("a.jsonl", jsonl(float)),
        ("a.jsonl.gz", gzip.compress(jsonl().replace("\n", "\n\n").encode())),
        ("a.json", "\n " + json.dumps(RECORDS)),
        ("a.jsonl", json.dumps(RECORDS, indent=2)),
        ("noext", "\n " + json.dumps(RECORDS, indent=2)),
    ],
)
def test_spellings_of_json(evaluate, file, name: str, content: str | bytes) -> None:
    assert_same_data(evaluate(file(name, content)))


def test_missing_keys_and_nulls_of_json_lines(evaluate, file) -> None:
    """Of the unlabeled, which have no label in one third and a label without value in others."""
    records: list[dict[str, Any]] = [
        {"score": s, "labeled": True} if y else {"score": s} | ({} if i % 3 else {"labeled": None})
        for i, (s, y) in enumerate(zip(SCORES, LABELED, strict=True))
    ]
    path = file("a.jsonl", "\n".join(map(json.dumps, records)))
    assert_same_data(evaluate(path, "--labeled", "labeled", MISSING))


def parquet_file(tmp_path: Path, **columns: Any) -> Path:
    path = tmp_path / "a.parquet"
    data = {"score": SCORES, "labeled": [bool(y) for y in LABELED]} | columns
    pl.DataFrame(data).write_parquet(path)
    return path


def test_parquet(evaluate, tmp_path: Path) -> None:
    assert_same_data(evaluate(parquet_file(tmp_path, text=["x"] * N)))


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.json", "a.parquet"])
def test_folders_are_no_columns(evaluate, tmp_path: Path, name: str) -> None:
    """Whatever they are called, and whichever way a file is read; also where it is a pattern."""
    folder = tmp_path / "deep" / "score=3" / "a" / "labeled=1"
    folder.mkdir(parents=True)
    contents = {
        "a.csv": csv_text().encode(),
        "a.csv.gz": gzip.compress(csv_text().encode()),
        "a.jsonl": jsonl().encode(),
        "a.json": f"[{jsonl().strip().replace(chr(10), ',')}]".encode(),
    }
    if name == "a.parquet":
        parquet_file(folder)
    else:
        (folder / name).write_bytes(contents[name])
    for path in (folder / name, tmp_path / "deep" / "*" / "*" / "*" / "a.*"):
        assert_same_data(evaluate(path))


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"score": [None, *SCORES[1:]]}, "row 1 has no value"),
        ({"score": [*SCORES[:7], float("nan"), *SCORES[8:]]}, "row 8 'nan' means no value"),
        ({"score": [str(s) for s in SCORES[:-1]] + ["high"]}, "row 40 'high' is not a number"),
        ({"labeled": [None, *LABELED[1:]]}, "row 1 has no value"),
        ({"labeled": [[y] for y in LABELED]}, "two-valued (labeled or not)"),
        ({"score": [[s] for s in SCORES]}, "row 1 '[0.0]' is not a number"),
        ({"score": [b"\xff"] * N}, "right column"),
    ],
)
def test_parquet_with_bad_cells(evaluate, tmp_path: Path, columns: Any, says: str) -> None:
    assert says in evaluate(parquet_file(tmp_path, **columns))


def test_parquet_that_is_cut_off(evaluate, tmp_path: Path) -> None:
    path = parquet_file(tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    assert "cannot be read as Parquet" in evaluate(path)


@pytest.mark.parametrize(
    "columns",
    [
        {"score": [0.0] * 300_000, "labeled": [1] * 300_000},
        {"score": ["a long text " * 9] * 300_000, "labeled": [1] * 300_000},
        {"score": [[0] * 300_000, [1]], "labeled": [0, 1]},
    ],
    ids=["rows", "texts", "a list"],
)
def test_the_page_refuses_parquet_that_unpacks_to_too_much(tmp_path: Path, columns: Any) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame(columns).write_parquet(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(PurecoverError, match="but unpacks to"):
        peek(str(path), 2_000_000)


def test_the_page_measures_texts_of_parquet_while_it_reads(tmp_path: Path) -> None:
    """One text stands for many cells, or the footer says that a long text takes three bytes."""
    path = tmp_path / "a.parquet"
    rows = pa.table({"score": [1, 0] * 50, "labeled": ["p" * 100_000, "u"] * 50})
    pq.write_table(rows, path, compression="zstd")
    with pytest.raises(PurecoverError, match="but unpacks to"):
        peek(str(path), 2_000_000)
    pq.write_table(rows[:30], path, compression="zstd", use_dictionary=False)
    size = pq.read_metadata(path).row_group(0).column(1).total_uncompressed_size
    content, honest = path.read_bytes(), varint(2 * size)
    assert content.count(honest) == 1
    path.write_bytes(content.replace(honest, b"\x86" + b"\x80" * (len(honest) - 2) + b"\0"))
    assert pq.read_metadata(path).row_group(0).column(1).total_uncompressed_size == 3
    with pytest.raises(PurecoverError, match="but unpacks to"):
        peek(str(path), 1_000_000)


def varint(number: int) -> bytes:
    """Return a number as the footer of Parquet writes it."""
    digits = [number >> place & 127 for place in range(0, number.bit_length(), 7)]
    return bytes([digit | 128 for digit in digits[:-1]] + digits[-1:])


@pytest.mark.parametrize("text", [csv_text(), jsonl()], ids=["csv", "jsonl"])
def test_the_page_counts_bytes_while_it_unpacks(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(text.encode()) + gzip.compress(b"\n" * 2_000_000))
    with pytest.raises(PurecoverError, match="unpacks to more than 1,000,000 bytes"):
        peek(str(path), 1_000_000)
    assert [column["name"] for column in peek(str(path), 3_000_000)["columns"]][-1] == "labeled"


@pytest.mark.parametrize("content", [jsonl(), csv_text().replace(",", "\t")], ids=["jsonl", "tsv"])
def test_stdin_of_other_formats(evaluate, monkeypatch, content: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    assert_same_data(evaluate("-"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a thing of Unix")
def test_a_named_pipe(evaluate, tmp_path: Path) -> None:
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(csv_text(),))
    writer.start()
    assert_same_data(evaluate(pipe))
    writer.join()


def with_row(position: int, row: str) -> str:
    rows = list(ROWS)
    rows[position] = row
    return csv_text(rows=rows)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", ["is empty"]),
        ("score,labeled\n", ["no rows of data"]),
        ("score\n1\n2\n", ["--labeled", "'score'"]),
        ("0.5,1\n0.4,0\n", ["instead of column names"]),
        (with_row(4, "abc,1"), ["1 bad cell", "'score'", "row 5", "'abc'", "not a number"]),
        (with_row(4, ",1"), ["row 5 has no value"]),
        (with_row(0, "NA,1"), ["row 1", "'NA'", "means no value"]),
        (with_row(0, "inf,1"), ["'inf' is not finite"]),
        (with_row(0, "1_000,1"), ["'1_000' is not a number"]),
        (with_row(0, "0.5,"), ["'labeled'", "row 1 has no value", "add --missing-is-unlabeled."]),
        (with_row(0, "0.5,maybe"), ["'labeled'", "'maybe'", "--positive-label"]),
        (with_row(3, "0.5"), ["CSV Error on Line: 5", "Columns: 2 Found: 1"]),
        (with_row(3, '0.5,"1'), ["unterminated quote"]),
        (with_row(3, '"0.5"x,1'), ["unterminated quote", "Line: 5"]),
        (csv_text(rows=[f"{s},0" for s in SCORES]), ["no labeled row among 40"]),
        (with_row(0, '"1,234",1'), ["write decimal points, and take out commas"]),
        (with_row(0, '"0,234",1'), ["1 bad cell", "write decimal points"]),
        (with_row(0, "12.5 %,1"), ["take the percent signs out of the column"]),
        (csv_text("name,other"), ["--score is needed", "'name', 'other'"]),
        ("score,labeled\n" + "x,1\ny,0\n", ["2 bad cells", "right column"]),
    ],
)  # fmt: skip
def test_bad_csv(evaluate, file, content: str, says: list[str]) -> None:
    message = evaluate(file("a.csv", content))
    for part in says:
        assert part in message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"score": 1, "labeled": 1}\n{"score": 2,\n', ["Malformed JSON", "line"]),
        ("1\n", ["does not hold JSON objects"]),
        ("[0.5, 1]\n[0.4, 0]\n", ["one object per line"]),
        ('[{"score": 1, "labeled": 1},', ["starts like a JSON array", "one object per line"]),
        ("[]\n", ["is empty"]),
        ('[{"score": "x", "labeled": 1}, {"score": 1, "labeled": 0}]', ["row 1 'x' is not a"]),
        ('{"score": 1}\n', ["--labeled"]),
        ('{"score": "x", "labeled": 1}\n{"score": 1, "labeled": 0}\n', ["row 1 'x' is not a"]),
        ('{"score": 1, "labeled": 1}\n{"labeled": 0}\n', ["row 2 has no value"]),
        ('{"score": NaN, "labeled": 1}\n{"score": 1, "labeled": 0}\n', ["means no value"]),
        ('{"score": [1], "labeled": 1}\n{"score": 1, "labeled": 0}\n', ["not a number"]),
        ('{"score": 1, "labeled": {}}\n{"score": 1, "labeled": 0}\n', ["two-valued", "'{}'"]),
        ('{"score": 1' + "0" * 5000 + ', "labeled": 1}\n', ["row 1", "not finite"]),
        ('{"score": ' + "[" * 100_000 + "\n", ["Malformed JSON"]),
    ],
)  # fmt: skip
def test_bad_json_lines(evaluate, file, content: str, says: list[str]) -> None:
    message = evaluate(file("a.jsonl", content))
    for part in says:
        assert part in message


SKIPPABLE = b"P*M\x18" + (4).to_bytes(4, "little") + b"skip"
"""A frame that Zstandard passes over."""


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\x00\x01\x02" * 100, "binary data"),
        (b"PK\x03\x04" + b"x" * 50, "Excel"),
        (b"%PDF-1.7 ...", "a PDF"),
        (b"PAR1 but not really", "Parquet"),
        (SKIPPABLE + csv_text().encode(), "binary data"),
        (b"score,labeled\n\xff\xfe,1\n", "is not utf-8 text"),
        (gzip.compress(csv_text().encode(), mtime=0)[:-12], "damaged gzip"),
        (b"\x1f\x8b" + b"junk" * 10, "damaged gzip"),
    ],
)
def test_foreign_bytes(evaluate, file, content: bytes, says: str) -> None:
    for path in (file("a.csv", content), file("a.csv.zst", content)):
        assert says in evaluate(path)
        with pytest.raises(PurecoverError, match=says):
            peek(str(path), 10**6)


@pytest.mark.parametrize("large", [0, 10**9])
def test_any_number_of_bad_cells_is_counted(evaluate, file, monkeypatch, large: int) -> None:
    monkeypatch.setattr("purecover.cli.counting.LARGE", large)
    rows = ["x,1", *ROWS, *(["x,0"] * 3000)]
    message = evaluate(file("a.csv", csv_text(rows=rows)))
    assert "3,001 bad cells in column 'score' (row 1 'x' is not a number, row 42" in message


def test_copies_are_removed(evaluate, tmp_path: Path, monkeypatch) -> None:
    """Of standard input, of files with mixed ends of lines, and what DuckDB writes to disk."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    content = csv_text().replace("\n", "\r\n", 3).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert_same_data(evaluate("-"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="locks are a thing of Unix")
def test_what_a_killed_process_left_is_removed(evaluate, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with private_folder() as used:
        stale, lock = new_folder("purecover-data-")
        (stale / "spilled").write_text("rows")
        mine, copy = tmp_path / "purecover-data-mine", tmp_path / "purecover-data-copy"
        mine.mkdir()
        shutil.copytree(stale, copy)
        os.close(lock)
        (tmp_path / "a.csv").write_text(csv_text())
        assert_same_data(evaluate(tmp_path / "a.csv"))
        assert not stale.exists()
        assert all(each.is_dir() for each in (used, mine, copy))


@pytest.mark.skipif(sys.platform == "win32", reason="locks are a thing of Unix")
def test_a_command_at_any_moment_removes_no_folder_of_another(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before, ran, moment = sys.gettrace(), 0, 0

    def at_each_line(frame: FrameType, event: str, _: object) -> Any:
        nonlocal ran
        if frame.f_code.co_filename != new_folder.__code__.co_filename:
            return None
        if event == "line":
            ran += 1
            if ran == moment:
                sys.settrace(None)
                with private_folder():
                    pass
        return at_each_line

    while ran >= moment:  # until the folder is there before the moment comes
        ran, moment = 0, moment + 1
        sys.settrace(at_each_line)
        try:
            folder, lock = new_folder("purecover-data-")
        finally:
            sys.settrace(before)
        assert lock is not None
        (folder / "spilled").write_text("rows")
        with private_folder():
            assert (folder / "spilled").exists()
        os.close(lock)
    assert moment > 10


def test_an_endless_line_is_refused(evaluate, file, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purecover.engines.data_files.MAX_LINE", 1000)
    assert "Maximum line size" in evaluate(file("a.csv", csv_text() + "9" * 5000))


def test_missing_files_directories_and_odd_names(evaluate, tmp_path: Path) -> None:
    assert "there is no file" in evaluate(tmp_path / "no.csv")
    assert "is a directory" in evaluate(tmp_path)
    assert "cannot be opened" in evaluate("a\0b")
    assert "cannot be opened" in evaluate("x" * 5000)
    (tmp_path / "a\udcff.csv").write_text(csv_text())
    assert "its name is not UTF-8" in evaluate(tmp_path / "a\udcff.csv")
    with pytest.raises(pu.exceptions.InvalidInputError, match="names in UTF-8"):
        pu.scan_files(tmp_path / "a\udcff.csv")


def test_a_link_keeps_pointing_at_the_file_that_is_replaced(tmp_path: Path) -> None:
    from purecover.cli.output import write_atomically

    (tmp_path / "real").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with write_atomically("--html", str(tmp_path / "link")) as out:
        out.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text(encoding="utf-8") == "new"


# Labels that are blank.


def with_labels(labels: list[object]) -> str:
    rows = zip(SCORES, labels * (N // len(labels)), strict=True)
    return csv_text(rows=[f"{s},{y}" for s, y in rows])


def test_labels_are_no_scores(evaluate, file) -> None:
    message = evaluate(file("a.csv", csv_text()), "--score", "labeled", "--labeled", "labeled")
    assert "--score and --labeled both name the column 'labeled'" in message


@pytest.mark.parametrize("blank", ["", " ", "N/A"])
def test_blank_labels_are_refused_with_the_way_out(evaluate, file, blank: str) -> None:
    message = evaluate(file("a.csv", with_labels(["1", blank, blank, blank])))
    assert "30 bad cells in column 'labeled'" in message
    assert message.endswith("Hint: if blank means unlabeled, add --missing-is-unlabeled.\n")


THIRDS = ["yes", "", "no", ""]


@pytest.mark.parametrize("large", [0, 10**9])
@pytest.mark.parametrize(
    ("labels", "options", "expected"),
    [
        # One word next to blanks.
        (["yes", "", "", ""], (), (10, 30, 0)),
        (["P", "", "U", "null"], (), (10, 30, 0)),
        (["case", "", "", ""], ("--positive-label", "case"), (10, 30, 0)),
        (["7", "", "", ""], ("--positive-label", "7"), (10, 30, 0)),
        (["0.0", "", "", ""], ("--positive-label", "0.0"), (10, 30, 0)),
        # 0 means unlabeled in numbers, as it does without blanks; words need to be told.
        (["1", "", "0", "NA"], (), (10, 30, 0)),
        (["1", "", "0", "NA"], ("--negative-label", "0"), (10, 20, 10)),
        (["1", "", "-1", ""], ("--positive-label=1",), (10, 30, 0)),
        (["1", "", "-1", ""], ("--negative-label", "-1"), (10, 20, 10)),
        (THIRDS, ("--positive-label", "yes"), (10, 30, 0)),
        (THIRDS, ("--positive-label", "yes", "--negative-label", "no"), (10, 20, 10)),
        (THIRDS, ("--negative-label", "no"), (10, 20, 10)),
        (["false", "", "true", ""], ("--positive-label=false",), (10, 30, 0)),
        (["yes", "", "unlabeled", ""], (), (10, 30, 0)),
        # Parquet has types.
        ([True, None, False, None], (), (10, 30, 0)),
        ([1.0, None, None, None], (), (10, 30, 0)),
        ([1, None, 0, None], ("--negative-label=0",), (10, 20, 10)),
    ],
)
def test_what_blanks_stand_beside(
    evaluate, file, tmp_path, monkeypatch, large: int, labels: list[Any], options, expected
) -> None:
    monkeypatch.setattr("purecover.cli.counting.LARGE", large)
    if None in labels:
        path = parquet_file(tmp_path, labeled=labels * (N // 4))
    else:
        path = file("a.csv", with_labels(labels))
    document = evaluate(path, MISSING, *options)
    assert sizes(document) == expected
    n_blank = sum(label in ("", "NA", "null", None) for label in labels)
    assert document["source"]["blank_labels"] == n_blank * N // 4
    assert ("engine" in document["source"]) == (large == 0)


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (["", "", "", ""], "blank everywhere"),
        (["0", "", "", ""], "no labeled row among 40"),
        (["1", "", "-1", ""], "--negative-label=-1"),
        (THIRDS, "--negative-label"),
        (["case", "", "", ""], "--positive-label"),
    ],
)
def test_blanks_that_leave_doubt_are_refused(evaluate, file, labels, says: str) -> None:
    assert says in evaluate(file("a.csv", with_labels(labels)), MISSING)


def test_blank_labels_that_count_are_said(file, capsys) -> None:
    path = file("a.csv", with_labels(["1", "", "", ""]))
    found = call_main(capsys, "evaluate", path, MISSING, "--alpha=0.1", "--resamples=0")
    assert found.err == "purecover: 30 blank labels count as unlabeled\n"


def test_other_columns_may_not_be_blank(evaluate, file) -> None:
    path = file("a.csv", with_labels(["1", "", "", ""]).replace("0.37,", ","))
    message = evaluate(path, MISSING)
    assert "1 bad cell in column 'score'" in message
    assert "never drops rows" in message
    message = evaluate(path)
    assert "in column 'labeled'" in message
    assert "add --missing-is-unlabeled. purecover never drops rows" in message
