"""``purecover priors --features``: which columns are looked at, and what scores are made of."""

from __future__ import annotations

import csv
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
from purecover_paper import systems

N_LABELED, N = 60, 300
LABELED = np.arange(N) < N_LABELED
COLUMNS = ("--labeled", "y", "--features", "a,b")
PAIR = ("--estimators", "bbe,tice")
NONE = ("--resamples", "0")


def make_features() -> np.ndarray:
    rng = np.random.default_rng(0)
    positive = LABELED | (rng.random(N) < 0.3)
    return rng.normal(size=(N, 2)) + 2.0 * positive[:, None]


X = make_features()
SCALED = StandardScaler().fit_transform(X)


def write(path: Path, **more: Any) -> Path:
    columns = {
        "a": X[:, 0].tolist(),
        "b": (1000 * X[:, 1]).tolist(),
        "y": LABELED.astype(int).tolist(),
        "s": X.sum(axis=1).tolist(),
        **more,
    }
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "table.csv")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    return partial(call_main, capsys, "priors")


def alphas(document: Any) -> list[float]:
    return [row["proportions"]["alpha"] for row in document["estimators"]]


# -- the same as in Python ----------------------------------------------------------------------


def test_scores_of_a_column_and_features(run, file: Path) -> None:
    asked = ("--clean", "--resamples", "4", "--json")
    result = run(file, "--score", "s", *COLUMNS, *PAIR, *asked)
    assert result.code == 0
    document = result.json
    found = pu.compare_priors(
        X.sum(axis=1), LABELED, features=SCALED, estimators=["bbe", "tice"], beta=1, n_resamples=4
    )
    assert alphas(document) == pytest.approx([row.value("alpha") for row in found], rel=1e-9)
    assert [row["from"] for row in document["estimators"]] == ["scores", "features"]
    ends = document["estimators"][1]["intervals"]["alpha"]
    assert (ends["low"], ends["high"]) == pytest.approx(found["tice"].ends("alpha"), rel=1e-9)
    assert document["scores_from"] is None
    assert document["source"]["columns"] == {"labeled": "y", "score": "s"}
    assert document["source"]["features"]["numeric"] == ["a", "b"]


def test_scores_made_of_the_features(run, file: Path) -> None:
    result = run(file, *COLUMNS, *PAIR, *NONE, "--seed", "3", "--model", "logistic")
    assert result.code == 0
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    scores = pu.cross_fit_scores(model, X, LABELED, random_state=3)
    found = pu.compare_priors(
        scores, LABELED, features=SCALED, estimators=["bbe", "tice"], n_resamples=0
    )
    lines = result.out.splitlines()
    assert lines[0].startswith("60 labeled, 240 unlabeled, ")
    assert lines[0].endswith(" distinct scores, 2 features; beta estimated too")
    assert lines[1].startswith("scores of ColumnTransformer + LogisticRegression, out of fold (5")
    for row in found:
        said = next(line.split() for line in lines if line.split()[:1] == [row.name])
        assert said[1] == row.estimated_from
        assert float(said[2]) == pytest.approx(row.value("alpha"), abs=1e-3)
    assert "purecover: features: numbers 'a', 'b'" in result.err


@pytest.mark.usefixtures("quick_three")
def test_scores_are_those_of_three_classifiers_by_default(run, file: Path) -> None:
    document = run(file, *COLUMNS, *PAIR, *NONE, "--seed", "3", "--json").json
    found = pu.compare_priors(
        labeled=LABELED,
        features=SCALED,
        estimators=["bbe", "tice"],
        n_resamples=0,
        random_state=3,
    )
    assert document["scores_from"] == found.scores_from
    assert alphas(document) == pytest.approx([row.value("alpha") for row in found], rel=1e-6)


def test_no_scores_for_those_who_do_not_look_at_them(run, file: Path) -> None:
    result = run(file, *COLUMNS, "--estimators", "tice,msgmm", "--clean", "--json")
    assert result.code == 0
    document = result.json
    assert (document["n_thresholds"], document["scores_from"]) == (0, None)
    found = pu.compare_priors(
        labeled=LABELED, features=SCALED, estimators=["tice", "msgmm"], beta=1, n_resamples=0
    )
    assert alphas(document) == pytest.approx([row.value("alpha") for row in found], rel=1e-9)
    made = run(file, *COLUMNS, "--estimators", "tice", "--model", "logistic", *NONE, "--json")
    assert made.json["scores_from"] is not None  # a model was asked for


def test_scores_and_truth_are_no_features_unless_named(run, tmp_path: Path) -> None:
    path = write(tmp_path / "table.csv", truth=LABELED.astype(int).tolist(), score=X[:, 0].tolist())
    result = run(path, "--labeled", "y", "--drop", "s", "--estimators", "msgmm", "--json")
    features = result.json["source"]["features"]
    assert features["numeric"] == ["a", "b"]
    assert features["set_aside"] == {"truth": "true classes", "score": "scores"}
    assert "warning: column 'truth' is not used" in result.err
    named = run(path, "--labeled", "y", "--features", "a,truth", "--estimators", "msgmm", "--json")
    assert named.json["source"]["features"]["possible_leaks"] == {"truth": 1.0}


def test_without_features_a_score_column_is_read(run, file: Path) -> None:
    result = run(file, "--score", "s", "--labeled", "y", *PAIR, *NONE, "--json")
    assert [row["from"] for row in result.json["estimators"]] == ["scores", "scores"]
    assert result.json["n_features"] == 0
    assert result.err == ""


# -- kinds of columns ---------------------------------------------------------------------------


def test_texts_and_blanks(run, tmp_path: Path) -> None:
    blank = [None if i % 50 == 7 else value for i, value in enumerate(X[:, 0].tolist())]
    kinds = [("red", "blue", "green")[i % 3] for i in range(N)]
    path = write(tmp_path / "more.csv", a=blank, kind=kinds)
    result = run(path, "--labeled", "y", "--features", "a,b,kind", "--estimators", "tice", "--json")
    assert result.code == 0
    assert result.json["n_features"] == 5
    assert result.json["source"]["features"]["blank_cells"] == {"a": N // 50}
    assert "numbers get the median\n" in result.err
    filled = X.copy()
    filled[7::50, 0] = np.median(np.delete(X[:, 0], np.s_[7::50]))
    shown = np.array(kinds)[:, None] == np.array(["red", "blue", "green"])
    matrix = np.column_stack((StandardScaler().fit_transform(filled), shown.astype(float)))
    alone = pu.estimators.NoisyLabels(systems.TIcE()).fit(matrix, LABELED).proportions_
    assert alphas(result.json) == pytest.approx([alone.alpha], rel=1e-9)


@pytest.mark.usefixtures("quick_three")
def test_groups_weights_and_negatives(run, tmp_path: Path) -> None:
    labels = np.where(LABELED, "p", "u").astype(object)
    labels[-10:] = "n"
    path = write(tmp_path / "more.csv", y=labels.tolist(), g=(np.arange(N) % 60).tolist())
    asked = ("--group", "g", "--positive-label", "p", "--negative-label", "n")
    result = run(path, *COLUMNS, *PAIR, *asked, "--clean", "--resamples", "4", "--json")
    assert result.code == 0
    assert result.json["n_unlabeled"] == N - N_LABELED - 10
    for row in result.json["estimators"]:
        assert "groups" in row["intervals"]["alpha"]["method"]
    weighted = write(tmp_path / "weighted.csv", w=[1.0] * N)
    rows = run(weighted, *COLUMNS, *PAIR, *NONE, "--weight", "w", "--json").json["estimators"]
    assert rows[0]["error"] is None
    assert "knows no weights" in rows[1]["error"]


# -- the picture --------------------------------------------------------------------------------


# -- what goes wrong ----------------------------------------------------------------------------


def test_too_few_labeled_rows_are_not_trained_on_in_other_folds(run, tmp_path: Path) -> None:
    path = write(tmp_path / "table.csv", y=[int(i < 3) for i in range(N)])
    result = run(path, *COLUMNS, "--estimators", "bbe", "--folds", "2", *NONE)
    assert result.code == 2
    assert "cannot be trained on these features" in result.err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--features", "a,z"], "no column named 'z', asked for by --features"),
        (["--features", ""], "no column named '', asked for by --features"),
        (["--features", "a,y"], "--features names column 'y', which is --labeled"),
        (["--features", "a,s", "--score", "s"], "--features names column 's', which is --score"),
        (["--features", "a", "--drop", "b"], "give --features or --drop, not both"),
        (["--features", "a", "--folds", "1"], "--folds must be a whole number of at least 2"),
        (["--features", "a", "--model", "magic"], "--model"),
        (["--model", "logistic"], "--model makes scores from features; name them with --features"),
        (["--features", "a", "--score", "s", "--model", "logistic"], "give --score, or --model"),
        (["--features", "id"], "no column to be used as a feature: 'id' (a different text"),
        (["--features", "a", "--score", "nothing"], "asked for by --score"),
        (["--features", "a,b", "--folds", "151"], "--folds must be"),
        (["--features", "a", "--labeled", "b"], "of"),
    ],
)
def test_bad_usage(run, tmp_path: Path, argv: list[str], says: str) -> None:
    path = write(tmp_path / "table.csv", id=[f"k{i}" for i in range(N)])
    labels = () if "--labeled" in argv else ("--labeled", "y")
    result = run(path, *labels, *argv)
    assert result.code == 2
    assert says in result.err
    assert "swapped" not in result.err
