"""Every command that is printed works as it is printed: in a terminal, on pages, in the app."""

from __future__ import annotations

import csv
import html
import io
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.command_line import Result, call_main

import purecover as pu
from purecover._shell import Shell
from purecover.cli.shell import app

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="what is printed is for it")
EXAMPLE = pu.load_example()
FOLDER = "my  'data'"
COLUMNS = [
    ('it\'s "the" score', "--labeled"),
    ("-1", "größe, π – 雪"),
    ("line\nbreak  \x1b[31m [a, b]", "$HOME `ls` \\ * {c}"),
    ("score", "labeled"),
]
PRINTED = re.compile(r"purecover (?:judge|audit sample|evaluate) .*")


def words_of(text: str) -> list[str]:
    """Words of a command, as a shell reads them."""
    argv = ["bash", "-c", f"printf '%s\\0' {text}"]
    return subprocess.run(argv, capture_output=True, check=True).stdout.decode().split("\0")[:-1]


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(score=NAMES, labeled=NAMES, file=NAMES)
@example("a,b", "[1, 2]", "{'a': 1}")
@example("-", "--labeled", "a b.csv")
@example(" x ", "''", "-q")
@settings(max_examples=50)
def test_any_name_comes_through_shell_and_parser(score: str, labeled: str, file: str) -> None:
    about = {"score": (score,), "labeled": labeled, "missing_is_unlabeled": True}
    typed = words_of(Shell(file, about).filled("purecover judge FILE --n=3"))
    named = f"./{file}" if file.startswith("-") else file
    assert typed[:3] == ["purecover", "judge", named]
    _, bound, _ = app.parse_args(typed[1:], exit_on_error=False, print_error=False)
    assert bound.args == (named,)
    assert bound.kwargs == {**about, "n": 3}


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """What runs a command, whose judge gives two answers and leaves."""

    def call(*argv: object) -> Result:
        monkeypatch.setattr(sys, "stdin", io.StringIO("y\ny\n"))
        return call_main(capsys, *argv)

    return call


def write(path: Path, score: str, labeled: str) -> Path:
    """Write every third row of the example, with a column that looks like labels as well."""
    path.parent.mkdir(exist_ok=True)
    rows = zip(EXAMPLE.scores, EXAMPLE.labeled.astype(int), EXAMPLE.truth.astype(int), strict=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([score, labeled, "label"])
        table.writerows(list(rows)[::3])
    return path


def commands_of(page: str) -> list[str]:
    """Commands of a page as they are copied from it, the one that made it last."""
    found = re.findall(r"<code>(.*?)</code>", page, re.DOTALL)
    texts = [html.unescape(re.sub(r"<.*?>", "", each)) for each in found]
    return [text for text in texts if PRINTED.fullmatch(text)]


def run_all(run: Callable[..., Result], printed: list[str], *names: str) -> list[str]:
    """Run the commands; return what they print in turn."""
    assert printed
    more = []
    for text in printed:
        typed = words_of(text)
        for answers in Path().rglob("*.judged.csv") if "judge" in typed else ():
            answers.unlink()  # of another cut
        quick = ["--n-resamples=40"] if typed[1] == "evaluate" and "--n-re" not in text else []
        result = run(*typed[1:], *quick)
        assert (result.code, typed[2] in names or typed[3] in names) == (0, True), text
        more += PRINTED.findall(result.out)
    return more


@pytest.mark.parametrize(("score", "labeled"), COLUMNS)
def test_commands_of_a_report_work(
    run: Callable[..., Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    score: str,
    labeled: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    file = str(write(Path(FOLDER, "d.csv"), score, labeled))
    given = ["--n-resamples=40", "--top-k=20", "--review=30", "--html=r.html"]
    if score != "score":
        given += [f"--score={score}", f"--labeled={labeled}"]
    else:
        given.append("--truth=label")  # without it two columns could be the labels
    result = run("evaluate", file, *given)
    assert result.code == 0, result.err
    printed = PRINTED.findall(result.out)
    assert {text.split()[1] for text in printed} == {"judge"}
    assert any("--figure=precision" in text for text in printed)
    assert "FILE" not in result.out.replace("--html FILE", "")
    assert max(map(len, printed)) < 200
    *shown, made = commands_of(Path("r.html").read_text(encoding="utf-8"))
    assert shown == printed
    assert run(*words_of(made)[1:]).out == result.out
    following = run_all(run, printed, file)
    assert len(following) == len(printed)
    assert all(" --judged " in text for text in following)
    run_all(run, following[:1], file)
    # Answers keep their cut: judging at another one is not suggested as a command.
    again = run("evaluate", file, *given).out
    assert "judge ten flagged rows" in again
    assert PRINTED.findall(again) == printed[:1]


def test_labeled_rows_are_drawn_by_what_is_printed(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = pu.simulate.binormal(2.5).sample(500, 5000, alpha=0.25, beta=0.9, random_state=0)
    labels = rows.labeled.astype(int)
    labels[:3] = -1
    table = zip(rows.scores, labels, strict=True)
    lines = "".join(f"{score},{label}\n" for score, label in table)
    Path("d.csv").write_text(f"s,the labels\n{lines}")
    meaning = ["--labeled=the labels", "--negative-label=-1"]
    result = run("evaluate", "d.csv", "--n-resamples=40", *meaning)
    printed = PRINTED.findall(result.out)
    assert any("audit sample" in text for text in printed)
    run_all(run, printed, "d.csv")


def test_rows_of_no_single_file_have_no_commands(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("d", "a.csv"), "score", "labeled")
    result = run("evaluate", "d", "--score=score", "--labeled=labeled", "--n-resamples=40")
    assert result.code == 0
    assert "judge ten" in result.out
    assert not PRINTED.findall(result.out)
    hint = run("evaluate", Path("d", "a.csv"), "--labeled=labeled", "--judged").err
    (printed,) = re.findall(r"purecover judge .*(?= writes them)", hint)
    assert run(*words_of(printed)[1:]).code == 0


def test_commands_of_the_app_work_where_its_file_lies(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("starlette.testclient", exc_type=Exception)
    from tests.app_server import running, send, start, wait_for

    score, labeled = 'it\'s  "the" score', "--größe, $x"
    monkeypatch.chdir(tmp_path)
    file = write(Path(FOLDER, "my data.csv"), score, labeled)
    how: dict[str, Any] = {"score": [score], "labeled": labeled, "n_resamples": 40, "review": 30}
    with running() as (client, _):
        sent = send(client, file.read_bytes(), file.name).json()["file"]
        pages, answers = [], f"/api/files/{sent}/answers"
        for more in ({}, {"judged": True}):
            job = wait_for(client, start(client, sent, **how, **more))
            assert job["state"] == "done", job["error"]
            pages.append(client.get(f"/api/jobs/{job['job']}/report.html").text)
            asked = {"score": score, "labeled": labeled}
            row = client.post(answers, json=asked).json()["rows"][0]["row"]
            client.post(answers, json={**asked, "answers": [(row, "yes")]})
        kept = client.get(answers).content
    monkeypatch.chdir(FOLDER)
    Path("my data.judged.csv").write_bytes(kept)  # downloaded
    for page in pages:
        run_all(run, commands_of(page), file.name)
    assert len(commands_of(pages[0])) > 1
