"""The data sets of the paper: rules, encodings, sources, and what is refused."""

from __future__ import annotations

import csv
import gzip
import re
import sys
from dataclasses import replace
from importlib import resources
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from paper.tests.made_up_files import BANK_ROW, answer_openml, uci_answer, write_made_up

from purecover.exceptions import InvalidInputError, PurecoverWarning
from purecover_paper import datasets as _datasets
from purecover_paper import sources as _sources
from purecover_paper.datasets import load_paper_data

DATASETS = _datasets.DATASETS


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    """Neither the user's folders nor the network have a say."""
    monkeypatch.delenv("PURECOVER_DATA", raising=False)
    monkeypatch.setenv("PURECOVER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "ucimlrepo", None)
    answer_openml(monkeypatch, {})


def shrink(monkeypatch, name, n, n_positive, **other):
    """Let a data set have few rows, so that a small recorded answer is all of it."""
    spec = replace(DATASETS[name], n=n, n_positive=n_positive, **{"digest": None, **other})
    monkeypatch.setattr(_datasets, "DATASETS", {**DATASETS, name: spec})


def printed():
    with (resources.files("purecover_paper") / "data" / "table1.csv").open(
        encoding="ascii"
    ) as file:
        return {row["dataset"]: row for row in csv.DictReader(file)}


def test_counts_are_those_of_the_papers_table():
    paper = printed()
    assert sorted(paper) == sorted(spec.title for spec in DATASETS.values())
    for spec in DATASETS.values():
        row = paper[spec.title]
        assert (spec.n, spec.n_positive, spec.n_features) == tuple(
            int(row[column]) for column in ("n", "n1", "d")
        )


def test_bank_features_are_the_papers_thirteen(monkeypatch, tmp_path):
    shrink(monkeypatch, "bank", 3, 1)
    other = [
        "30", "services", "single", "primary", "yes", "-5", "no", "yes", "cellular", "9", "jun",
        "10", "2", "90", "3", "other",
    ]  # fmt: skip
    third = [*other[:2], "divorced", *other[3:-1], "success"]
    rows = [[*BANK_ROW, "no"], [*other, "no"], [*third, "yes"]]
    header = [*DATASETS["bank"].columns, "target"]
    text = "\n".join(",".join(row) for row in [header, *rows])
    (tmp_path / "bank.csv").write_text(text, encoding="ascii")
    data = load_paper_data("bank", tmp_path)
    assert data.feature_names == (
        "age", "marital=single", "marital=married", "marital=divorced", "default=yes", "balance",
        "housing=yes", "loan=yes", "duration", "campaign", "pdays", "previous", "poutcome",
    )  # fmt: skip
    assert data.features.tolist() == [
        [58, 0, 1, 0, 0, 2143, 1, 0, 261, 1, -1, 0, 0],
        [30, 1, 0, 0, 1, -5, 0, 1, 10, 2, 90, 3, 0.5],
        [30, 0, 0, 1, 1, -5, 0, 1, 10, 2, 90, 3, 1],
    ]
    assert data.positive.tolist() == [False, False, True]


@pytest.mark.parametrize("name", ["concrete", "housing", "pageblock", "pima", "mushroom"])
def test_made_up_tables_are_taken_and_named(name, tmp_path):
    path = write_made_up(tmp_path, name)
    with pytest.warns(PurecoverWarning, match=r"but not its values: their SHA-256 is another"):
        data = load_paper_data(name, tmp_path)
    spec = DATASETS[name]
    assert data.features.shape == (spec.n, spec.n_features)
    assert data.positive.sum() == spec.n_positive
    assert len(data.feature_names) == spec.n_features
    assert data.source == str(path)
    assert data.differences == ("values: not those that the published results were made with",)
    assert repr(data) == (
        f"PaperData({name!r}: {spec.n} rows, {spec.n_positive} positive, "
        f"{spec.n_features} features, from {path})"
    )


GOOD_HEADER = ",".join([*(f"x{i}" for i in range(8)), "target"])
ZEROS = ",".join("0" * 8)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "its first line is no header that ends with the column 'target'"),
        (f"{GOOD_HEADER}\n1,2,3\n", "it has 3 values in row 0, where 9 values a row"),
        ("a,target\n1,1\n", "it has 1 columns without the target, not 8"),
        (f"{GOOD_HEADER}\n{ZEROS},1\n", "it has 1 rows, and the paper 2"),
        (f"{GOOD_HEADER}\n{ZEROS},1\n{ZEROS},1\n", "it has 2 positive rows, and the paper 1"),
        (f"{GOOD_HEADER}\n{ZEROS},1\n{ZEROS[:-1]}?,0\n", "'?' in row 1 of the column 'x7'"),
    ],
)
def test_a_file_that_is_not_the_table_is_refused(monkeypatch, tmp_path, text, complaint):
    shrink(monkeypatch, "pima", 2, 1)
    (tmp_path / "pima.csv").write_text(text, encoding="ascii")
    with pytest.raises(InvalidInputError) as caught:
        load_paper_data("pima", tmp_path)
    message = str(caught.value)
    assert message.startswith(
        "The 'folder' parameter of load_paper_data must be a folder whose pima.csv is the paper's "
        f"Pima, got a file that is not: {complaint}"
    )
    assert "\nHint: take the file away to use another source" in message


def test_a_table_is_kept_whole_or_not_at_all(monkeypatch, tmp_path):
    table = _sources.Table(("a", "b"), [["1", "x,y"], ["2", '"']], ["p", "q"])
    path = tmp_path / "new" / "t.csv.gz"
    _sources.write_table(table, path)
    first = path.read_bytes()
    names, columns, target = _sources.read_table(path)
    assert (names, [list(c) for c in columns], list(target)) == tuple(table)
    _sources.write_table(table, path)
    assert path.read_bytes() == first

    def full(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr(_sources.gzip, "compress", full)
    with pytest.raises(OSError, match="no space left"):
        _sources.write_table(table, path)
    assert [file.name for file in path.parent.iterdir()] == ["t.csv.gz"]
    assert path.read_bytes() == first


BANK = pd.DataFrame(
    [
        [*BANK_ROW, "1"],
        ["44", "technician", "single", "secondary", "no", "29", "yes", "no", "unknown", "5", "may",
         "151", "1", "-1", "0", "success", "2"],
    ],
    columns=[*(f"V{i}" for i in range(1, 17)), "Class"],
)  # fmt: skip
PIMA = pd.DataFrame(
    [
        ["6", "148", "72", "35", "0", "33.6", "0.627", "50", "tested_positive"],
        ["1", "85", "66", "29", "0", "26.6", "0.351", "31", "tested_negative"],
    ],
    columns=["preg", "plas", "pres", "skin", "insu", "mass", "pedi", "age", "class"],
)


def test_openml_is_asked_once_and_kept(monkeypatch, tmp_path):
    shrink(monkeypatch, "bank", 2, 1)
    asked = answer_openml(monkeypatch, {1461: BANK})
    data = load_paper_data("bank", cache=tmp_path)
    assert data.source == "OpenML 1461"
    assert data.positive.tolist() == [False, True]
    assert data.features[:, [0, 5, 12]].tolist() == [[58, 2143, 0], [44, 29, 1]]
    assert asked == [1461]

    kept = tmp_path / "bank.csv.gz"
    with gzip.open(kept, "rt", encoding="ascii") as file:
        header, first, *_ = file.read().splitlines()
    assert header == ",".join([*DATASETS["bank"].columns, "target"])
    assert first == ",".join([*BANK_ROW, "no"])
    again = load_paper_data("bank", cache=tmp_path)
    assert again.source == str(kept)
    np.testing.assert_array_equal(again.features, data.features)
    assert asked == [1461]


def test_invented_values_are_refused_wherever_they_come_from(monkeypatch, tmp_path):
    """The right numbers of rows and positives are easily had; the values have a known SHA-256."""
    shrink(monkeypatch, "pima", 2, 1, digest="0" * 64, openml_ids=(37, 38))
    answer_openml(monkeypatch, {37: PIMA, 38: PIMA})
    with pytest.raises(InvalidInputError, match=r"(?s)OpenML 37: its values do not have the SHA"):
        load_paper_data("pima", cache=tmp_path)
    assert list(tmp_path.iterdir()) == []  # nor kept
    write_table = _sources.write_table
    table = _datasets._canonical(_datasets.DATASETS["pima"], _sources.from_openml(37))
    write_table(table, tmp_path / "pima.csv.gz")
    with pytest.raises(InvalidInputError, match=r"(?s)do not have the SHA-256.*Hint: delete"):
        load_paper_data("pima", cache=tmp_path)
    with pytest.warns(PurecoverWarning, match="SHA-256 is another"):  # a folder of one's own
        assert load_paper_data("pima", tmp_path).differences


def ask_uci(monkeypatch, answers):
    def fetch_ucirepo(*, id):  # noqa: A002 - as ucimlrepo calls it
        if id not in answers:
            raise ConnectionError("Error connecting to server")
        return answers[id]

    monkeypatch.setitem(sys.modules, "ucimlrepo", SimpleNamespace(fetch_ucirepo=fetch_ucirepo))


def test_uci_leaves_unknown_values_empty(monkeypatch, tmp_path):
    shrink(monkeypatch, "bank", 2, 1)
    names = [{"day": "day_of_week"}.get(name, name) for name in DATASETS["bank"].columns]
    rows = [BANK_ROW, [*BANK_ROW[:-1], "success"]]
    rows = [[np.nan if value == "unknown" else value for value in row] for row in rows]
    frame = pd.DataFrame(rows, columns=names).astype({"age": "int64", "balance": "int64"})
    ask_uci(monkeypatch, {222: uci_answer(frame, {"y": ["no", "yes"]})})
    data = load_paper_data("bank", cache=tmp_path)
    assert data.source == "UCI 222"
    assert data.features[:, [0, 5, 12]].tolist() == [[58, 2143, 0], [58, 2143, 1]]
    assert data.positive.tolist() == [False, True]
    kept = _sources.read_table(tmp_path / "bank.csv.gz")
    assert list(kept.columns[8]) == ["unknown", "unknown"]


def test_no_source_says_what_was_tried_and_what_to_do(tmp_path):
    with pytest.raises(InvalidInputError) as caught:
        load_paper_data("landsat", tmp_path)
    message = str(caught.value)
    assert message.startswith(
        "The 'folder' parameter of load_paper_data must be a folder with landsat.csv.gz or "
        "landsat.csv, as no other source has it here, got "
    )
    assert "PURECOVER_DATA: a header, 36 columns (in the order of the source), and last" in message
    tried = re.findall(r"(?m)^- (.+?): (.+)$", message)
    assert [source for source, _ in tried] == [
        str(tmp_path),
        str(tmp_path / "cache"),
        "OpenML 294",
        "UCI 146",
    ]
    assert tried[0][1] == "has no landsat.csv.gz or landsat.csv"
    assert "data_id 294 not found" in tried[2][1]
    assert "pip install ucimlrepo" in tried[3][1]


@pytest.mark.needs_data
@pytest.mark.parametrize("name", DATASETS)
def test_the_real_tables_are_the_papers(name, data_folder):
    data = load_paper_data(name, data_folder)
    spec = DATASETS[name]
    assert len(data.features) == spec.n
    assert data.positive.sum() == spec.n_positive
    assert np.isfinite(data.features).all()
    # The only difference known of is a column of Gas; the values have the known SHA-256.
    assert [each[:2] for each in data.differences] == (["d:"] if name == "gas" else [])
    constant = (data.features == data.features[0]).all(axis=0)
    assert constant.sum() == (10 if name == "mushroom" else 0)
    assert (data.features == 0).all(axis=0).sum() == (9 if name == "mushroom" else 0)
