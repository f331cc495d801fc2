"""``purecover evaluate-many``: which columns it takes, what it prints, writes and returns."""

from __future__ import annotations

import csv
from functools import partial

import numpy as np
import pytest
from tests.command_line import call_main

import purecover as pu


@pytest.fixture
def run(capsys):
    return partial(call_main, capsys, "evaluate-many")


@pytest.fixture(scope="module")
def columns():
    samples = [
        pu.simulate.binormal(1.5).sample(40, 200, alpha=0.2, random_state=i) for i in range(2)
    ]
    found = {
        "term": np.append(np.repeat(["GO:1", "GO:2"], 240), "GO:3"),
        "model_a": np.append(np.concatenate([s.scores for s in samples]), 0.0),
        "y": np.append(np.concatenate([s.labeled for s in samples]), 0).astype(int),
    }
    found["model_b"] = found["model_a"] + np.random.default_rng(0).normal(size=481)
    found["z[1]"] = found["y"] * (np.arange(481) % 2)
    found["z[2]"] = np.zeros(481, dtype=int)
    return found


@pytest.fixture(scope="module")
def file(columns, tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "scores.csv"
    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(columns)
        writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    return path


ALPHA = ("--alpha", "0.2", "--resamples", "0")


def test_the_table_is_that_of_the_library(run, file, columns, tmp_path):
    out = tmp_path / "table.csv"
    result = run(
        file, "--by", "term", "--score", "model_*", "--labeled", "y", "--alpha", "0.2",
        "--resamples", "5", "--csv", out, "--json",
    )  # fmt: skip
    assert result.code == 0
    found = pu.evaluate_many(
        columns, "y", score=["model_a", "model_b"], by="term", alpha=0.2, n_resamples=5,
    )  # fmt: skip
    document = result.json
    assert document["source"]["columns"] == {
        "score": ["model_a", "model_b"], "labeled": ["y"], "by": "term",
    }  # fmt: skip
    assert [r["recovered"] for r in document["rows"]] == [dict(r.recovered) for r in found]
    assert [r["seed"] for r in document["rows"]] == [r.seed for r in found]
    with out.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(r["task"], r["score"]) for r in rows] == [(r.task, r.score) for r in found]
    assert float(rows[0]["auc_pr_low"]) == found.rows[0].intervals["auc_pr"].low
    assert rows[-1]["roc_auc"] == ""
    assert rows[-1]["reason"] == "no labeled row among 1"


def test_text_and_notes(run, file, tmp_path):
    out = tmp_path / "table.csv"
    result = run(file, "--by", "term", "--score", "model_a", "--labeled", "y", *ALPHA, "--csv", out)
    assert result.out.startswith("3 tasks, 1 score: 2 of 3 rows evaluated.\n")
    assert result.err == f"purecover: table written to {out}\n"
    quiet = run(file, "--score", "model_a", "--labeled", "y", "--quiet", *ALPHA)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_columns_of_labels(run, file):
    result = run(file, "--labeled", "y", "--labeled", "z[*", "--score", "model_a", "--json", *ALPHA)
    rows = {row["task"]: row for row in result.json["rows"]}
    assert list(rows) == ["y", "z[1]", "z[2]"]
    assert rows["z[1]"]["n_labeled"] == 40
    assert "no labeled row among" in rows["z[2]"]["reason"]


def test_metrics_and_strictness(run, file):
    result = run(
        file, "--labeled", "y", "--score", "model_a", "--metrics", "f1", "--metrics", "mcc",
        "--json", *ALPHA,
    )  # fmt: skip
    assert list(result.json["rows"][0]["recovered"]) == ["f1", "mcc"]
    # Alpha far too high for such scores: a contradiction, whether strict or not.
    asked = (file, "--labeled", "y", "--score", "model_a", "--alpha", "0.9", "--resamples", 0)
    assert run(*asked).code == 1
    assert run(*asked, "--strict").code == 1
