"""Hostile files and arguments: always a result or an error of ours, never a bare traceback.

Where a damaged file still gives a result, no row may have been lost on the way.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from purecover.cli import counting, main

ROWS = [(((i * 37) % 101) / 100 + (i % 4 == 0) / 3, int(i % 4 == 0)) for i in range(48)]
CSV = "score,labeled,note\n" + "".join(f"{s:.4f},{y},n{i % 2}\n" for i, (s, y) in enumerate(ROWS))
JSONL = "".join(json.dumps({"score": s, "labeled": y}) + "\n" for s, y in ROWS)

# What may stand in a cell, a line or between bytes where it does not belong.
CELLS = [
    "", " ", "NA", "nan", "-inf", "1e999", "0x1p3", "1_0", "1,5", "--", "\x00", "\ufeff", "∞", "½",
    "'0.5", '"', '""', '"a', "=1+1", "true", "None", "[1]", "{}", "é", "\u2028", "\x1a",
    "9" * 5000, "\r",
]  # fmt: skip
JUNK = [
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"\n\n\n", b"\r", b",,,,", b"\x80", b"{", b"PAR1",
    b"\x1f\x8b",
]  # fmt: skip


def parquet() -> bytes:
    import polars as pl

    buffer = io.BytesIO()
    frame = {"score": [s for s, _ in ROWS], "labeled": [y for _, y in ROWS]}
    pl.DataFrame(frame).write_parquet(buffer)
    return buffer.getvalue()


def malformed_files() -> Iterator[tuple[str, bytes]]:
    """Well over 200 damaged files, the same in every run."""
    rng = random.Random(20170204)  # noqa: S311 - not for secrets
    lines = CSV.splitlines()
    for i, cell in enumerate(CELLS):
        for column in range(3):
            row = rng.randrange(1, len(lines))
            cells = lines[row].split(",")
            cells[column] = cell
            changed = [*lines[:row], ",".join(cells), *lines[row + 1 :]]
            yield f"cell-{i}-{column}.csv", "\n".join(changed).encode("utf-8", "surrogatepass")
        header = [cell, *lines[0].split(",")[1:]]
        yield f"header-{i}.csv", "\n".join([",".join(header), *lines[1:]]).encode()
        yield f"json-{i}.jsonl", (JSONL + f'{{"score": {cell}, "labeled": 1}}\n').encode()
        yield (
            f"json-text-{i}.jsonl",
            (JSONL + json.dumps({"score": cell, "labeled": cell}) + "\n").encode(),
        )
    whole = {
        "csv": CSV.encode(),
        "jsonl": JSONL.encode(),
        "csv.gz": gzip.compress(CSV.encode(), mtime=0),
        "parquet": parquet(),
    }
    for suffix, content in whole.items():
        for i in range(8):
            cut = rng.randrange(len(content))
            yield f"cut-{i}.{suffix}", content[:cut]
            yield f"tail-{i}.{suffix}", content[cut:]
            changed = bytearray(content)
            for _ in range(1 + i):
                changed[rng.randrange(len(changed))] = rng.randrange(256)
            yield f"flip-{i}.{suffix}", bytes(changed)
        for i, junk in enumerate(JUNK):
            at = rng.randrange(len(content))
            yield f"junk-{i}.{suffix}", content[:at] + junk + content[at:]
        yield f"twice.{suffix}", content + content
        yield f"wrong-name-of-{suffix}.parquet", content
        yield f"wrong-name-of-{suffix}.jsonl", content
    array = f"[{','.join(JSONL.splitlines())}]".encode()
    for i in range(8):
        cut = rng.randrange(1, len(array))
        yield f"array-cut-{i}.json", array[:cut]
        yield f"array-junk-{i}.json", array[:cut] + JUNK[i] + array[cut:]
    for i in range(10):
        yield f"noise-{i}.csv", rng.randbytes(10**i % 5000)
        yield f"noise-{i}.parquet", b"PAR1" + rng.randbytes(50 * i) + b"PAR1"
    for encoding in ("utf-16-le", "utf-16-be", "utf-32", "utf-7", "cp037", "utf-8-sig"):
        yield f"encoding-{encoding}.csv", CSV.encode(encoding)
    for delimiter in (" ", ":", "\x01", ",,", "\t\t"):
        yield f"delimiter-{ord(delimiter[0])}.csv", CSV.replace(",", delimiter).encode()


FILES = dict(malformed_files())


def check_run(argv: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    """What holds whatever the input; the document of a result, or None."""
    code = main(argv)
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    assert "internal error" not in err, err
    assert code in (0, 1, 2)
    if code == 2:
        assert out == ""
        assert err.startswith("purecover: error: ")
        assert len(err) < 3000
        return None
    return json.loads(out, parse_constant=pytest.fail)


@pytest.mark.parametrize(
    "name",
    # One in ten, and three more in the slow stage; the drill takes all of them.
    [
        pytest.param(name, marks=[pytest.mark.slow] if i % 10 else [])
        for i, name in enumerate(FILES)
        if i % 10 in (0, 2, 4, 7)
    ],
)
def test_fuzz_malformed_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    options = ["--alpha", "0.1", "--resamples", "0", "--json"]
    at = list(FILES).index(name)  # each of the many in one way
    more = ["--missing-is-unlabeled"] if at % 3 == 1 else []
    if at % 3 == 2:
        monkeypatch.setattr(counting, "LARGE", 0)
    document = check_run(["evaluate", str(path), *options, *more], capsys)
    if document is not None and path.suffix == ".csv":
        used = document["n_labeled"] + document["n_unlabeled"]
        assert used == rows_in(FILES[name])


def rows_in(content: bytes) -> int:
    """Rows below the header that are not blank, counted by other means than ours."""
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = content.decode(encoding)
    best = max((text.partition("\n")[0].count(d), d) for d in ",;\t|")[1]
    return sum(1 for row in csv.reader(io.StringIO(text, newline=""), delimiter=best) if row) - 1


FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
cells = st.one_of(
    st.floats(width=32).map(repr),
    st.integers(-3, 3).map(str),
    st.sampled_from(CELLS),
    st.text(max_size=4),
)
tables = st.lists(st.lists(cells, min_size=1, max_size=3), max_size=12)


@FUZZ
@given(
    content=st.binary(max_size=300),
    suffix=st.sampled_from(["csv", "tsv", "jsonl", "parquet", "gz", ""]),
)
@example(content=b"score,labeled\n1,1\n0,0\n", suffix="csv")
def test_fuzz_any_bytes(
    content: bytes, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(content)
    check_run(["evaluate", str(path), "--alpha", "0.1", "--resamples", "0", "--json"], capsys)


OPTIONS = """
    --alpha --beta --prior --scenario censoring --label-frequency --target --threshold --fail-on
    PU008 --confidence-level --ignore-checks PU005 --positive-label --negative-label
    --sample-weight --groups --truth --score score labeled note --strict --quiet --by
    --missing-is-unlabeled --top-k --review --assume pure-top --probabilities
    25% 0,25 0 1 0.5 -1 nan inf 1e400 - -- --json --help
""".split()  # noqa: SIM905 - reads better
OTHER_OPTIONS = """
    --alpha --beta --labeled --random-state --negative-label 1,2 2,1 0,1,2 --score
    --scenario censoring --best f1 cost --precision --recall --review --design random --columns
    --fpr --n-resamples --missing-is-unlabeled --width --figure --n
    --confidence-level 9% --target 0.2 0 1 3 -1 nan 1e400 --json --quiet --estimators bbe
    bbe,roc-slope
""".split()  # noqa: SIM905 - reads better
COMMANDS = [
    ["threshold", "a.csv", "--n-resamples", "9"],
    ["threshold", "a.csv", "--n-resamples", "9", "--alpha", "0.1", "--best", "f1"],
    ["priors", "a.csv", "--n-resamples", "3"],
    ["priors", "a.csv", "--n-resamples", "0", "--estimators", "bbe"],
    ["audit", "plan", "--width", "0.2"],
    ["audit", "sample", "a.csv", "--n", "3"],
    ["error-rates", "a.csv", "--n-resamples", "3"],
]


def words(known: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.one_of(st.sampled_from(known), st.text(max_size=4)), max_size=6)


@FUZZ
@given(argv=words(OPTIONS))
def test_fuzz_any_options(
    argv: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(CSV, encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))
    code = main(["evaluate", str(path), "--resamples", "0", *argv])
    out, err = capsys.readouterr()
    assert code in (0, 1, 2)
    assert "Traceback" not in err
    assert "internal error" not in err, err
    if code == 2:
        assert out == ""
        assert err.startswith("purecover: error: ")


@FUZZ
@given(command=st.sampled_from(COMMANDS), argv=words(OTHER_OPTIONS))
def test_fuzz_other_commands(
    command: list[str],
    argv: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(CSV, encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))
    code = main([*command, *argv])
    _, err = capsys.readouterr()
    assert code in (0, 1, 2)
    assert "Traceback" not in err
    assert "internal error" not in err, err
    assert os.listdir() == ["a.csv"]  # noqa: PTH208
