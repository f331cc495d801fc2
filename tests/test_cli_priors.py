"""``purecover priors``: what it prints, draws and returns."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import Result, call_main

import purecover
from purecover import simulate
from purecover.cli import main
from purecover.estimators.compare import compare_priors, estimator_names

EXAMPLE = str(Path(purecover.__file__).parent / "data" / "example_scores.csv")
PAIR = ("--estimators", "bbe,roc-slope")
QUICK = (*PAIR, "--resamples", "0")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    return partial(call_main, capsys, "priors")


@pytest.fixture(scope="module")
def example() -> tuple[np.ndarray, np.ndarray]:
    rows = np.genfromtxt(EXAMPLE, delimiter=",", names=True)
    return rows["score"], rows["labeled"] == 1


def write(path: Path, scores: Any, labeled: Any, **more: Any) -> Path:
    columns = {"score": scores, "labeled": np.asarray(labeled).astype(int), **more}
    lines = [",".join(columns)]
    lines += [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


# -- the table --------------------------------------------------------------------------------


def test_prints_the_comparison(run, example) -> None:
    result = run(EXAMPLE, *PAIR, "--resamples", "12", "--seed", "5", "--confidence-level", "0.9")
    assert (result.code, result.err) == (0, "")
    found = compare_priors(
        *example, estimators=["bbe", "roc-slope"], n_resamples=12, random_state=5,
        confidence_level=0.9,
    )  # fmt: skip
    said, expected = result.out.splitlines(), str(found).splitlines()
    assert len(said) == len(expected)
    for one, other in zip(said, expected, strict=True):
        assert re.sub(r" +\d+\.\d{3}$", "", one) == re.sub(r" +\d+\.\d{3}$", "", other)


def test_all_estimators_by_default(run, example) -> None:
    result = run(EXAMPLE, "--resamples", "0")
    assert result.code == 0
    rows = re.findall(r"^[* ] ([a-z][\w-]*) +0\.\d{4}", result.out, re.MULTILINE)
    assert rows == [row.name for row in compare_priors(*example, n_resamples=0)]
    assert {"label-curve", "alphamax-n", "bbe", "dedpul", "roc-slope"} <= set(rows)
    assert set(rows) < set(estimator_names())
    assert not {"noisy", "alphamax", "default"} & set(rows)
    assert "the default estimator" in result.out


def test_names_in_any_case_and_each_once(run) -> None:
    result = run(EXAMPLE, "--estimators", "BBE, roc_slope,bbe", "--resamples", "0", "--json")
    assert [row["name"] for row in result.json["estimators"]] == ["bbe", "roc-slope"]


def test_clean_labels(run, example) -> None:
    result = run(EXAMPLE, *QUICK, "--clean")
    assert result.code == 0
    assert "labels taken for clean" in result.out
    assert "beta" not in result.out
    found = compare_priors(*example, estimators=["bbe"], beta=1, n_resamples=0)
    assert f"{found['bbe'].value('alpha'):.4f}" in result.out


@pytest.mark.parametrize("beta", ["0.9", "1"])
def test_a_known_beta(run, example, beta: str) -> None:
    result = run(EXAMPLE, *QUICK, "--beta", beta, "--json")
    found = compare_priors(*example, estimators=["bbe"], beta=float(beta), n_resamples=0)
    assert result.json["beta"] == float(beta)
    row = result.json["estimators"][0]
    assert row["proportions"] == found["bbe"].proportions.to_dict()
    if beta == "1":
        clean = run(EXAMPLE, *QUICK, "--clean", "--json").json
        assert clean["estimators"][0]["proportions"] == row["proportions"]
        assert run(EXAMPLE, *QUICK, "--clean", "--beta", "1").code == 0


def test_rows_say_what_made_them(run) -> None:
    rows = run(EXAMPLE, "--resamples", "0", "--json").json["estimators"]
    origins = [row["proportions"]["origin"] for row in rows]
    assert len(set(origins)) == len(origins)
    assert "NoisyLabels(BBE)" in origins
    assert "NoisyLabels" not in origins


def test_few_resamples_are_noted(run) -> None:
    rough = run(EXAMPLE, *PAIR, "--resamples", "20").out
    assert "bootstrap intervals from 20 resamples are rough" in rough
    assert "rough" not in run(EXAMPLE, *PAIR, "--resamples", "40").out


def test_json(run, example) -> None:
    result = run(EXAMPLE, *PAIR, "--resamples", "10", "--json")
    assert (result.code, result.err) == (0, "")
    found = compare_priors(*example, estimators=["bbe", "roc-slope"], n_resamples=10)
    document = result.json
    assert document["source"]["columns"] == {"score": "score", "labeled": "labeled"}
    assert document["n_resamples"] == 10
    for said, row in zip(document["estimators"], found, strict=True):
        assert said["proportions"]["alpha"] == row.value("alpha")
        assert said["intervals"]["delta"]["high"] == row.ends("delta")[1]


def test_quiet_prints_nothing(run) -> None:
    assert run(EXAMPLE, *QUICK, "--quiet") == (0, "", "")


def test_columns_weights_groups_and_negatives(run, tmp_path: Path) -> None:
    sample = simulate.binormal(3.0).sample(80, 320, alpha=0.3, random_state=1)
    labels = np.where(sample.labeled, "p", "u").astype(object)
    labels[-5:] = "n"
    path = tmp_path / "named.csv"
    lines = ["s,y,w,g"]
    lines += [
        f"{s},{y},1,{i // 8}" for i, (s, y) in enumerate(zip(sample.scores, labels, strict=True))
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = run(
        path, "--score", "s", "--labeled", "y", "--weight", "w", "--group", "g",
        "--positive-label", "p", "--negative-label", "n", "--resamples", "8", *PAIR, "--json",
    )  # fmt: skip
    assert result.code == 0
    assert result.json["n_unlabeled"] == 315
    intervals = result.json["estimators"][0]["intervals"]
    assert "groups" in intervals["alpha"]["method"]


def test_blank_labels_are_noted(run, tmp_path: Path) -> None:
    sample = simulate.binormal(3.0).sample(60, 240, alpha=0.3, random_state=1)
    lines = [f"{s},{1 if y else ''}" for s, y in zip(sample.scores, sample.labeled, strict=True)]
    path = tmp_path / "blank.csv"
    path.write_text("score,labeled\n" + "\n".join(lines) + "\n", encoding="utf-8")
    result = run(path, *QUICK, "--missing-is-unlabeled")
    assert result.code == 0
    assert "240 of 300 rows are blank" in result.err


# -- the picture ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "magic"),
    [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("PNG", b"\x89PNG")],
)
def test_plot(run, tmp_path: Path, suffix: str, magic: bytes) -> None:
    path = tmp_path / f"priors.{suffix}"
    result = run(EXAMPLE, *QUICK, "--plot", path)
    assert result.code == 0
    assert "bbe" in result.out
    assert result.err == f"purecover: picture written to {path}\n"
    assert path.read_bytes().startswith(magic)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_plot_opens_no_window(run, tmp_path: Path) -> None:
    from matplotlib import pyplot as plt

    before = plt.get_fignums()
    assert run(EXAMPLE, *QUICK, "--plot", tmp_path / "a.png").code == 0
    assert plt.get_fignums() == before


def test_plot_of_an_unknown_kind(run, tmp_path: Path) -> None:
    result = run(EXAMPLE, *QUICK, "--plot", tmp_path / "priors.docx")
    assert result.code == 2
    assert "--plot must end in .png, .svg, .pdf" in result.err


def test_plot_into_nowhere(run, tmp_path: Path) -> None:
    result = run(EXAMPLE, *QUICK, "--plot", tmp_path / "no" / "priors.png")
    assert result.code == 2
    assert "there is no directory" in result.err


def test_plot_does_not_replace_the_data(run, tmp_path: Path) -> None:
    path = tmp_path / "data.png"
    path.write_bytes(Path(EXAMPLE).read_bytes())
    result = run(path, "--format", "csv", *QUICK, "--plot", path)
    assert result.code == 2
    assert "would overwrite the data" in result.err


def test_plot_without_matplotlib(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run(EXAMPLE, *QUICK, "--plot", tmp_path / "priors.png")
    assert result.code == 2
    assert "pip install 'purecover[plot]'" in result.err


# -- what goes wrong --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--estimators", "bbe,magic"], "--estimators must be names with commas between them"),
        (["--estimators", ""], "--estimators must be names"),
        (["--estimators", "-"], "got '-'"),
        (["--confidence-level", "95"], "--confidence-level must be a number in [0, 1], got '95'"),
        (["--confidence-level", "1"], "--confidence-level must be"),
        (["--resamples", "-1"], "--resamples must be a whole number"),
        (["--resamples", "99999999999"], "--resamples must be"),
        (["--seed", "x"], "--seed must be a whole number"),
        (["--score", "nothing"], "asked for by --score"),
        (["--group", "nothing"], "asked for by --group"),
        (["--alpha", "0.3"], "--alpha"),
        (["--beta", "0"], "--beta must be a number in (0, 1], got 0"),
        (["--beta", "1.2"], "--beta must be a number in [0, 1], got '1.2'.\n"),
        (["--beta", "0.9", "--clean"], "--clean says that beta is 1, but --beta says 0.9"),
    ],
)
def test_bad_usage(run, argv: list[str], says: str) -> None:
    result = run(EXAMPLE, *argv)
    assert result.code == 2
    assert says in result.err


def test_help_names_what_is_left_out_by_default(run) -> None:
    text = " ".join(run("--help").out.replace("│", " ").split())
    assert "but not alphamax, which alphamax-n runs both ways" in text
    assert "such as noisy" in text
    assert "every method that takes labels for clean is run both ways" in text


def test_near_names_are_suggested(run) -> None:
    assert (
        "Hint: did you mean bbe? The names are default, "
        in run(EXAMPLE, "--estimators", "default,bbee").err
    )
    assert "did you mean dedpul?" in run(EXAMPLE, "--estimators", "DEDPULL").err


def test_unknown_names_get_the_known_ones(run) -> None:
    result = run(EXAMPLE, "--estimators", "magic")
    assert "the names are default, " in result.err
    assert "bbe" in result.err


def test_no_file(run) -> None:
    assert run("nowhere.csv").code == 2


def test_constant_scores(run, tmp_path: Path) -> None:
    path = write(tmp_path / "constant.csv", [0.5] * 20, np.arange(20) < 8)
    result = run(path)
    assert result.code == 2
    assert "a constant score says nothing about alpha and beta" in result.err


def test_no_estimate_at_all(run, tmp_path: Path) -> None:
    # Labeled and unlabeled have the same scores, so that no share is below all of them.
    scores = np.tile(np.arange(50.0), 2)
    path = write(tmp_path / "same.csv", scores, np.arange(100) < 50)
    result = run(path, *QUICK)
    assert result.code == 2
    assert "none of 2 estimators finds alpha and beta; bbe: " in result.err


def test_few_examples_are_noted(run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labeled = np.arange(120) < 12
    path = write(tmp_path / "few.csv", rng.normal(size=120) + 2.5 * labeled, labeled)
    result = run(path, "--resamples", "0")
    assert result.code == 0
    assert "only 12 labeled" in result.out


def test_standard_input(run, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path(EXAMPLE).read_bytes())))
    result = run("-", *QUICK)
    assert result.code == 0
    assert "roc-slope" in result.out


# -- help -------------------------------------------------------------------------------------


def test_help(run, capsys: pytest.CaptureFixture[str]) -> None:
    result = run("--help")
    assert result.code == 0
    for option in ("--score", "--estimators", "--clean", "--resamples", "--plot", "--json"):
        assert option in result.out
    main(["--help"])
    assert "priors" in capsys.readouterr().out
