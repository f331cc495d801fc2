"""``purecover evaluate-data``: which columns it learns from, what it prints, writes and returns."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.command_line import Result, call_main

import purecover as pu
from purecover.cli import main, output
from purecover.cli.features import join_names, split_names


def kinds_of_rows(n_labeled, n_features=2, seed=0):
    """Two kinds of positives, equally frequent among the unlabeled, and negatives."""
    rng = np.random.default_rng(seed)
    centers = np.zeros((3, n_features))
    centers[0, 0] = centers[1, 1] = 6
    kind = np.repeat([0, 1, 0, 1, 2], [*n_labeled, 400, 400, 1200])
    labeled = np.arange(kind.size) < sum(n_labeled)
    return centers[kind] + rng.normal(size=(kind.size, n_features)), labeled


N = 400
ALPHA = ("--alpha", "0.25")
LOGISTIC = ("--model", "logistic")
NONE = ("--resamples", "0")
QUICK = (*ALPHA, *NONE, *LOGISTIC)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    return partial(call_main, capsys, "evaluate-data")


def world(n: int = N, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    X = rng.normal(size=(n, 3)) + truth[:, None]
    return X, truth & (rng.random(n) < 0.5), truth


X, LABELED, TRUTH = world()
COLUMNS: dict[str, list[Any]] = {
    **{name: X[:, j].tolist() for j, name in enumerate("uvw")},
    "labeled": LABELED.astype(int).tolist(),
}


def write(path: Path, **more: Any) -> Path:
    columns = {**COLUMNS, **more}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def read(path: Path) -> dict[str, list[str]]:
    text = path.read_bytes()
    text = gzip.decompress(text) if path.suffix == ".gz" else text
    rows = list(csv.DictReader(io.StringIO(text.decode())))
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "table.csv")


# -- the same as in Python ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "model", "says"),
    [
        (
            "logistic",
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
            "ColumnTransformer + LogisticRegression, out of",
        ),
        ("nearest", pu.models.NearestLabeled(), "NearestLabeled, out of"),
    ],
)
def test_equal_to_evaluate_model(run, file: Path, option: str, model: Any, says: str) -> None:
    expected = pu.evaluate_model(model, X, LABELED, alpha=0.25, n_resamples=30)
    result = run(file, *ALPHA, "--model", option, "--resamples", "30", "--json")
    assert result.code == 0
    assert result.json["auc"] == pytest.approx(expected.auc, rel=1e-9)
    assert result.json["scores_from"].startswith(says)
    for name, interval in expected.intervals.items():
        found = result.json["intervals"][name]
        assert found["low"] == pytest.approx(interval.low, rel=1e-6, abs=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("quick_three")
def test_alpha_is_that_of_the_data_and_kinds_of_labels_are_looked_for(run, tmp_path: Path) -> None:
    """As in `evaluate_model`: by three classifiers, whatever model is evaluated."""
    X, labeled = kinds_of_rows((450, 60))
    file = tmp_path / "kinds.csv"
    names = [f"x{j}" for j in range(X.shape[1])]
    rows = [*zip(*X.T.tolist(), labeled.astype(int).tolist(), strict=True)]
    file.write_text(output.csv_text([*names, "labeled"], rows))
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    expected = pu.evaluate_model(model, X, labeled, n_resamples=0)
    document = run(file, *LOGISTIC, *NONE, "--json").json
    assert document["auc_pu"] == pytest.approx(expected.auc_pu)
    assert document["estimation"]["proportions"]["alpha"] == pytest.approx(
        expected.estimation.proportions.alpha, abs=0.01
    )
    fired = {check["code"] for check in document["checks"] if check["status"] == "fired"}
    assert "PU020" in fired
    assert "from the mean rank of rows by three classifiers" in run(file, *LOGISTIC, *NONE).out
    asked = run(file, *LOGISTIC, *NONE, "--estimator", "bbe")
    assert "estimated by" in asked.out
    assert "three classifiers" not in asked.out


SOME = 160


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Numbers, some of them blank, and texts."""
    rng = np.random.default_rng(1)
    color = np.where(TRUTH, rng.choice(list("aab"), N), rng.choice(list("abb"), N))
    holes = [x if i % 9 else "" for i, x in enumerate(COLUMNS["u"])]
    columns = {**COLUMNS, "u": holes, "color": color.tolist()}
    return write(tmp_path / "small.csv", **{name: c[:SOME] for name, c in columns.items()})


@pytest.mark.slow
@pytest.mark.parametrize("model", ["logistic", "boosting", "forest", "networks"])
def test_every_model(run, small: Path, model: str) -> None:
    result = run(small, *ALPHA, *NONE, "--model", model, "--folds", "2", "--json")
    assert result.code == 0
    assert result.json["auc_pu"] > 0.65
    features = result.json["source"]["features"]
    assert features == {
        "numeric": ["u", "v", "w"],
        "encoded": {"color": 2},
        "dropped": {},
        "blank_cells": {"u": len(range(0, SOME, 9))},
        "missing_marks": {},
        "set_aside": {},
        "possible_identifiers": [],
        "possible_leaks": {},
    }


def test_auto_says_what_it_chose_and_from_what(run, small: Path) -> None:
    result = run(small, *ALPHA, *NONE, "--folds", "2", "--json")
    how = result.json["scores_from"]
    found = re.fullmatch(
        r"BestScorer: (\w+), chosen by observed AUC \((.*)\), its own scores of rows unseen", how
    )
    assert found is not None, how
    areas = dict(part.split() for part in found[2].split(", "))
    assert set(areas) == {"logistic", "networks", "boosting", "forest"}
    assert max(areas, key=lambda name: float(areas[name])) == found[1]
    assert float(areas[found[1]]) == pytest.approx(result.json["auc_pu"], abs=6e-4)
    assert "--folds must be at most" in run(small, *ALPHA, *NONE, "--folds", "159").err


@pytest.mark.usefixtures("quick_three")
def test_alpha_is_estimated_and_truth_shown(run, tmp_path: Path) -> None:
    file = write(tmp_path / "table.csv", truth=TRUTH.astype(int).tolist())
    result = run(file, "--truth", "truth", "--model", "logistic", "--resamples", "0")
    assert result.code == 0
    assert "estimated by" in result.out
    assert f"true alpha {TRUTH[~LABELED].mean():.4g}" in result.out
    # No model saw the truth: it would have ranked perfectly.
    again = run(file, *QUICK, "--truth", "truth", "--json").json
    assert again["truth"]["metrics"]["roc_auc"] < 0.95
    leaked = run(file, *QUICK, "--features", "u,v,w,truth", "--json").json
    assert leaked["auc_pu"] > again["auc_pu"] + 0.05


# -- which columns --------------------------------------------------------------------------------


def test_what_becomes_of_columns_is_said(run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    file = write(
        tmp_path / "table.csv",
        id=list(range(7, 7 + N)),
        code=rng.permutation(N).tolist(),
        name=[f"name {i}" for i in range(N)],
        street=[f"street {i % 50}" for i in range(N)],
        color=[("red", "green", "")[i % 3] for i in range(N)],
        same=["x"] * N,
        empty=["NA"] * N,
        odd=[("1_000", "2_000")[i % 2] for i in range(N)],
        half=[("", "1")[i % 2] for i in range(N)],
    )
    result = run(file, *QUICK, "--json")
    features = result.json["source"]["features"]
    assert features["numeric"] == ["u", "v", "w", "code", "half"]
    assert features["encoded"] == {"color": 2, "odd": 2}
    assert features["dropped"] == {
        "id": "row numbers",
        "name": "a different text in every row",
        "street": "text of 50 values such as 'street 0'",
        "same": "one value only",
        "empty": "blank everywhere",
    }
    assert features["blank_cells"] == {"half": N // 2, "color": len(range(2, N, 3))}
    err = result.err
    assert "features: numbers 'u', 'v', 'w', 'code', 'half'; texts 'color', 'odd', a column" in err
    assert "not used: 'id' (row numbers), 'name' (a different text in every row)" in err
    assert "numbers get the median, and a column says where; of texts, blank is a value" in err
    assert "warning: column 'code' holds a different whole number in every row" in err
    assert "if it is an identifier, use --drop code\n" in err
    assert features["possible_identifiers"] == ["code"]
    assert run(file, *QUICK, "--quiet") == Result(0, "", "")


def test_advice_can_be_pasted(run, tmp_path: Path) -> None:
    """Names with blanks, commas, quotes and dashes, and options that are in use already."""
    rng = np.random.default_rng(0)
    names = ("num id", "no, of", 'the "id"')
    file = write(tmp_path / "table.csv", **{name: rng.permutation(N).tolist() for name in names})
    result = run(file, *QUICK, "--drop", "v")
    assert "columns 'num id', 'no, of', 'the \"id\"' hold a different whole number" in result.err
    advice = re.search(r"if they are identifiers, use (--drop .*)", result.err)
    assert advice is not None
    again = run(file, *QUICK, "--json", *shlex.split(advice[1]))
    assert again.json["source"]["features"]["numeric"] == ["u", "w"]
    assert "identifier" not in again.err
    listed = run(file, *QUICK, "--features", 'u,"no, of"', "--json")
    assert listed.json["source"]["features"]["numeric"] == ["u", "no, of"]
    assert "if it is an identifier, take it out of --features\n" in listed.err
    assert "--drop" not in listed.err
    assert "Quote a name that holds a comma" in run(file, *QUICK, "--drop", "no, of").err
    dash = write(tmp_path / "dash.csv", **{"-id": rng.permutation(N).tolist()})
    advice = re.search(r"use (--drop\S*)", run(dash, *QUICK).err)
    assert advice is not None
    again = run(dash, *QUICK, "--json", advice[1])
    assert again.json["source"]["features"]["numeric"] == ["u", "v", "w"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a, b,a", ["a", "b"]),
        ('"a, b",c', ["a, b", "c"]),
        ('5" pipe,6" pipe', ['5" pipe', '6" pipe']),
        ('"a"b,c', ['"a"b', "c"]),  # not well quoted, so quotes are part of the name
        ("", [""]),
    ],
)
def test_lists_of_names(text: str, names: list[str]) -> None:
    assert split_names(text) == names
    assert split_names(*shlex.split(join_names(names))) == names


# -- cells that are nearly numbers ----------------------------------------------------------------


def test_signs_for_missing_cells_among_numbers(run, tmp_path: Path) -> None:
    signs = {5: "?", 7: " - ", 8: "?", 9: "n/a", 11: ""}
    holes = [signs.get(i, x) for i, x in enumerate(COLUMNS["u"])]
    blanks = ["" if i in signs else x for i, x in enumerate(COLUMNS["u"])]
    few = [(1, 2, "?")[i % 3] for i in range(N)]
    texts = [("a", "b", "?")[i % 3] for i in range(N)]
    file = write(tmp_path / "table.csv", u=holes, few=few, texts=texts)
    result = run(file, *QUICK, "--json")
    features = result.json["source"]["features"]
    assert features["numeric"] == ["u", "v", "w", "few"]
    assert features["encoded"] == {"texts": 3}  # where a question mark is a value like any other
    assert features["blank_cells"] == {"u": 5, "few": len(range(2, N, 3))}
    assert features["missing_marks"] == {"u": {"?": 2, "-": 1}, "few": {"?": len(range(2, N, 3))}}
    assert "column 'u' holds numbers, and '?' (2), '-' (1) read as blank\n" in result.err
    plain = write(tmp_path / "plain.csv", u=blanks, few=["" if x == "?" else x for x in few])
    again = run(plain, *QUICK, "--drop", "few", "--json").json
    assert run(file, *QUICK, "--features", "u,v,w", "--json").json["auc"] == again["auc"]


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({5: "12 kg"}, "not in 1 of 400 cells ('12 kg' in row 6 of the data)"),
        (
            {5: "a", 7: "a", 8: "b", 9: "c"},
            "not in 4 of 400 cells ('a' in row 6, 'a' in row 8, 'b' in row 9, ... of",
        ),
        ({5: "1_000", 9: ""}, "not in 1 of 399 cells ('1_000' in row 6 of the data)"),
    ],
)
def test_a_column_of_numbers_is_not_lost_for_a_few_texts(
    run, tmp_path: Path, bad: dict[int, str], says: str
) -> None:
    file = write(tmp_path / "table.csv", u=[bad.get(i, x) for i, x in enumerate(COLUMNS["u"])])
    result = run(file, *QUICK)
    assert result.code == 2
    assert f"numbers in column 'u', but {says}" in result.err
    assert "or use --drop u." in result.err
    assert "or take it out of --features." in run(file, *QUICK, "--features", "u,v").err
    assert run(file, *QUICK, "--drop", "u").code == 0


def test_the_other_decimal_sign(run, tmp_path: Path) -> None:
    def table(*names: str) -> Path:
        lines = [";".join(COLUMNS)]
        for row in zip(*COLUMNS.values(), strict=True):
            cells = dict(zip(COLUMNS, map(str, row), strict=True))
            swapped = (c.replace(".", ",") if n in names else c for n, c in cells.items())
            lines.append(";".join(swapped))
        path = tmp_path / "table.csv"
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    result = run(table("u", "v", "w"), *QUICK)
    assert result.code == 2
    assert "has numbers with a comma in column 'u', such as '" in result.err
    assert "if that is a decimal comma, add --decimal ,; or use --drop u." in result.err
    assert run(table("u", "v", "w"), *QUICK, "--decimal", ",").code == 0
    one = run(table("v"), *QUICK)
    assert (one.code, "in column 'v'" in one.err) == (2, True)
    points = run(table(), *QUICK, "--decimal", ",")
    assert "has numbers with a point in column 'u'" in points.err
    assert "if that is a decimal point, leave --decimal out; or use --drop u." in points.err


# -- leaks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("truth", "true classes"),
        ("True Class", "true classes"),
        ("score", "scores"),
        ("y_score", "scores"),
        ("label", "labels"),
        ("stratum", "strata of scores"),
    ],
)
def test_names_that_tell_a_leak(run, tmp_path: Path, name: str, what: str) -> None:
    file = write(tmp_path / "table.csv", **{name: (X[:, 0] + 3 * TRUTH).tolist()})
    arguments = (*QUICK, "--labeled", "labeled", "--json")
    result = run(file, *arguments)
    features = result.json["source"]["features"]
    assert features["numeric"] == ["u", "v", "w"]
    assert features["set_aside"] == {name: what}
    assert features["dropped"] == {name: f"{what}, by its name"}
    said = f"warning: column '{name}' is not used, since its name says that it holds {what}"
    assert said in result.err
    assert ("--truth" in result.err) == (what == "true classes")


def test_what_may_leak_can_be_listed_or_dropped(run, tmp_path: Path) -> None:
    file = write(tmp_path / "table.csv", truth=(X[:, 0] + 3 * TRUTH).tolist())
    name, what, arguments = "truth", "true classes", (*QUICK, "--labeled", "labeled", "--json")
    listed = run(file, *arguments, "--features", f"u,{name}")
    assert listed.json["source"]["features"]["numeric"] == ["u", name]
    assert "warning" not in listed.err
    dropped = run(file, *arguments, "--drop", name)
    assert dropped.json["source"]["features"]["set_aside"] == {}
    assert "warning" not in dropped.err
    alone = run(file, *arguments, "--drop", "u,v,w")
    assert f"to be used as a feature: '{name}' ({what}, by its name)." in alone.err
    assert "if that is a feature all the same, use --features " in alone.err


def test_features_that_tell_the_label_alone(run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=N)
    days = np.where(LABELED, noise, np.nan)
    file = write(
        tmp_path / "table.csv",
        copy=(noise - 9 * LABELED).tolist(),
        code=np.where(LABELED, 2, rng.choice([1, 3], N)).tolist(),
        ward=np.where(LABELED, "b", rng.choice(["a", "c"], N)).tolist(),
        days=["" if np.isnan(day) else day for day in days.tolist()],
        fair=(noise + 5 * TRUTH).tolist(),
    )
    result = run(file, *QUICK, "--drop", "w", "--json")
    leaks = result.json["source"]["features"]["possible_leaks"]
    assert leaks == pytest.approx(dict.fromkeys(("copy", "code", "days", "ward"), 1.0))
    assert (
        "warning: column 'copy' alone tells labeled from unlabeled rows (AUC 1): the" in result.err
    )
    assert "if so, use --drop w,copy\n" in result.err
    assert "column 'fair' alone" not in result.err
    few = {name: column[:30] for name, column in COLUMNS.items()}
    few |= {"labeled": [1] * 9 + [0] * 21, "copy": [*noise[:9] + 9, *noise[9:30]]}
    small = run(write(tmp_path / "few.csv", **few), *QUICK, "--folds", "2", "--json")
    assert small.json["source"]["features"]["possible_leaks"] == {}  # it may be chance
    # Known negatives may well differ: that is what they were found by.
    label = LABELED.astype(int)
    label[~TRUTH] = -1
    known = write(tmp_path / "known.csv", labeled=label.tolist(), fair=(9 * TRUTH + noise).tolist())
    again = run(known, *QUICK, "--negative-label", "-1", "--json")
    assert again.json["source"]["features"]["possible_leaks"] == {}


def test_decimal_commas_words_and_groups(run, tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    lines = ["u;family;known"]
    for i in range(N):
        word = "yes" if LABELED[i] else ""
        lines.append(f"{X[i, 0]:.4f};f{i // 2};{word}".replace(".", ","))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    arguments = (
        file, *ALPHA, *LOGISTIC, "--labeled", "known", "--decimal", ",", "--missing-is-unlabeled",
        "--groups", "family", "--scores-out", tmp_path / "scores.csv.gz",
    )  # fmt: skip
    result = run(*arguments, "--resamples", "20", "--random-state", "3")
    assert result.code == 0
    assert "groups kept together" in result.out
    assert "rows are blank in column 'known' and count as unlabeled" in result.err
    table = read(tmp_path / "scores.csv.gz")
    assert list(table) == ["score", "labeled", "group"]
    assert table["group"] == [f"f{i // 2}" for i in range(N)]
    assert table["labeled"] == [str(int(known)) for known in LABELED]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    rounded = np.round(X[:, :1], 4)
    expected = pu.cross_fit_scores(
        model, rounded, LABELED, groups=np.arange(N) // 2, random_state=3
    )
    np.testing.assert_allclose([float(s) for s in table["score"]], expected, rtol=1e-6)


# -- what is written ------------------------------------------------------------------------------


def test_the_scores_feed_the_other_commands(run, file: Path, tmp_path: Path, capsys) -> None:
    scores, page = tmp_path / "scores.csv", tmp_path / "report.html"
    result = run(file, *QUICK, "--scores-out", scores, "--html", page, "--json")
    assert result.code == 0
    assert f"scores written to {scores}" in result.err
    assert f"report written to {page}" in result.err
    html = page.read_text(encoding="utf-8")
    assert "LogisticRegression, out of fold" in html
    assert "purecover evaluate-data" in html
    assert main(["evaluate", str(scores), "--alpha", "0.25", "--resamples", "0", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["auc"] == result.json["auc"]


def test_standard_input_json_and_parquet(run, tmp_path: Path, monkeypatch) -> None:
    expected = run(write(tmp_path / "table.csv"), *QUICK, "--json").json["auc"]
    rows = [
        dict(zip(COLUMNS, values, strict=True)) for values in zip(*COLUMNS.values(), strict=True)
    ]
    lines = tmp_path / "table.jsonl"
    lines.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert run(lines, *QUICK, "--json").json["auc"] == expected
    stdin = io.TextIOWrapper(io.BytesIO((tmp_path / "table.csv").read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert run("-", *QUICK, "--json").json["auc"] == expected
    polars = pytest.importorskip("polars")
    polars.DataFrame(COLUMNS).write_parquet(tmp_path / "table.parquet")
    assert run(tmp_path / "table.parquet", *QUICK, "--json").json["auc"] == expected


# -- complaints -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--features", "u,nonsense"], "no column named 'nonsense', asked for by --features"),
        (["--drop", "nonsense"], "no column named 'nonsense', asked for by --drop"),
        (["--features", "u", "--drop", "v"], "--features or --drop, not both"),
        (["--features", "u,labeled"], "'labeled', which is --labeled"),
        (["--truth", "nonsense"], "asked for by --truth"),
        (["--groups", "nonsense"], "asked for by --group"),
        (["--labeled", "u"], "taken for --labeled, must be two-valued"),
        (["--drop", "u,v,w"], "no column to be used as a feature beside the labels"),
        (["--folds", "1"], "--folds must be a whole number of at least 2"),
        (["--folds", "399"], "--folds must be at most the number of labeled rows"),
        (["--prior", "0.3"], "only one of"),
        (["--ignore-check", "PU999"], "--ignore-check"),
        (["--target", "nobody"], "--target"),
        (["--estimator", "bbe"], "--estimator"),
        (["--scores-out", "no/such/place.csv"], "--scores-out"),
        (["--html", "no/such/place.html"], "--html"),
        (["--scores-out", "x", "--html", "x"], "same file"),
        (["--seed", "1.5"], "whole number"),
    ],
)
def test_bad_usage(run, file: Path, argv: list[str], says: str) -> None:
    result = run(file, *QUICK, *argv)
    assert result.code == 2
    assert says in result.err


def test_bad_files(run, tmp_path: Path) -> None:
    assert "there is no file" in run(tmp_path / "nothing.csv", *QUICK).err
    infinite = write(tmp_path / "infinite.csv", u=["inf", *COLUMNS["u"][1:]])
    assert "an infinite number in column 'u'" in run(infinite, *QUICK).err
    blank = write(tmp_path / "blank.csv", labeled=["", *COLUMNS["labeled"][1:]])
    assert "--missing-is-unlabeled" in run(blank, *QUICK).err
    text = "u,u,labeled\n" + "1,2,1\n3,4,0\n" * 10
    (tmp_path / "twice.csv").write_text(text, encoding="utf-8")
    assert "2 columns named 'u'" in run(tmp_path / "twice.csv", *QUICK).err
    table = write(tmp_path / "table.csv")
    assert "would overwrite" in run(table, *QUICK, "--scores-out", table).err
