"""``purecover judge``: which rows are asked, what is saved, and what survives a kill."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import select
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.command_line import Result, call_main

import purecover as pu
from purecover.audit.judging import Judging, effects
from purecover.exceptions import InvalidInputError

SAMPLE = pu.simulate.binormal(2.0).sample(100, 900, alpha=0.3, random_state=0)
VOTE = {"yes": 1, "no": -1, "skip": 0}


def begin(file: Path, **how: Any) -> Judging:
    how = {"cells": lambda row: {"name": f"n{row}"}} | how
    return Judging(SAMPLE.scores, SAMPLE.labeled, file, **how)


def truth(row: int | None) -> str:
    assert row is not None
    return "yes" if SAMPLE.truth[row] else "no"


def lines(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


@pytest.mark.parametrize("seed", range(5))
def test_any_sequence_of_answers_is_what_the_file_says(seed: int, tmp_path: Path) -> None:
    """Against a plain dictionary: answers, steps back, sessions that end, and three judges."""
    rng, file = random.Random(seed), tmp_path / "a.judged.csv"  # noqa: S311
    said: dict[tuple[str, int], str] = {}
    judging = begin(file, judge="anna")
    back = False
    for _ in range(60):
        row = judging.row
        assert row is not None
        assert back or (judging.judge, row) not in said  # nobody is asked twice
        step = rng.choice(["yes", "no", "no", "skip", "back", "leave"])
        if step == "leave":
            judging, back = begin(file, judge=rng.choice(["anna", "ben", ""])), False
            continue
        if step == "back":
            back = judging.back() or back
            assert not back or (judging.judge, judging.row) in said
            continue
        judging.answer(step)
        back, said[judging.judge, row] = False, step
        found = {(each.get("judge", ""), int(each["row"]) - 1): each for each in lines(file)}
        assert {key: each["positive"] for key, each in found.items()} == said
        assert all(each["name"] == f"n{key[1]}" for key, each in found.items())
    balance: dict[int, int] = {}
    for (_, row), word in said.items():
        balance[row] = balance.get(row, 0) + VOTE[word]
    judged = pu.audit.JudgedRows.read_csv(file, SAMPLE.scores, SAMPLE.labeled)
    read = dict(zip(judged.design.rows.tolist(), judged.verdicts.tolist(), strict=True))
    assert read == {row: {1: 1, -1: 0, 0: -1}[int(np.sign(n))] for row, n in balance.items()}


def test_rows_are_a_random_sample_without_labels_and_continue_a_drawn_file(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    drawn = pu.audit.draw(SAMPLE.scores, SAMPLE.labeled, n=4, n_labeled=2, random_state=5)
    file.write_text(drawn.to_csv({"name": [f"n{i}" for i in range(1000)]}))
    judging = begin(file, judge="anna")
    asked = judging.upcoming(10)
    assert asked[:6] == drawn.rows.tolist()
    assert len(set(asked)) == 10
    assert not SAMPLE.labeled[asked[6:]].any()
    assert (SAMPLE.scores[asked[6:]] >= drawn.cuts[0]).all()
    for _ in range(7):
        judging.answer(truth(judging.row))
    assert [int(each["row"]) - 1 for each in lines(file)] == asked[:7]
    # Stratified rows come evenly from all strata, wherever a judge stops.
    file.write_text(pu.audit.draw(SAMPLE.scores, SAMPLE.labeled, design="stratified").to_csv())
    strata = begin(file).design.stratum[10:40]
    assert np.bincount(strata).tolist() == [10, 10, 10]


def test_skipped_rows_are_shown_as_if_they_had_been_answered(tmp_path: Path) -> None:
    given = {}
    for instead in ("skip", "yes", "no"):
        judging = given[instead] = begin(tmp_path / f"{instead}.csv", figure="alpha")
        for word in ("yes", "no", "skip", "no", "yes", "skip", "no"):
            judging.answer(instead if word == "skip" else word)
    found = effects(given["skip"])
    assert found == {
        "if all rows without a verdict are positive": given["yes"].interval(),
        "if all rows without a verdict are negative": given["no"].interval(),
    }
    assert found["if all rows without a verdict are positive"] != given["skip"].interval()


def test_nothing_is_asked_when_all_rows_are_judged(tmp_path: Path) -> None:
    judging = Judging([4, 3, 2, 1.0], [0, 0, 1, 0], tmp_path / "a.csv", threshold=3)
    assert sorted(judging.upcoming(9)) == [0, 1]
    for _ in range(2):
        judging.answer("yes")
    assert judging.row is None
    assert judging.upcoming(9) == []
    judging.answer("no")
    assert [each["positive"] for each in lines(tmp_path / "a.csv")] == ["yes", "yes"]


def test_two_judges_are_asked_about_the_same_rows_and_what_they_disagree_on_shows(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.csv"
    anna, ben = begin(file, judge="anna", figure="alpha"), None
    for _ in range(12):
        anna.answer(truth(anna.row))
    rows = [int(each["row"]) - 1 for each in lines(file)]
    ben = begin(file, judge="ben", figure="alpha")
    assert ben.upcoming(12) == rows
    for i in range(12):
        ben.answer("no" if i < 6 else truth(ben.row))
        anna.answer(truth(anna.row))  # at the same time, from another process
    disputed = [row for row in rows[:6] if truth(row) == "yes"]
    assert sorted(begin(file).disputed) == sorted(disputed)
    assert len(lines(file)) == 36
    by = effects(begin(file, judge="ben", figure="alpha"))
    ours, theirs = (by[f"by the answers of {name}"].estimate for name in ("anna", "ben"))
    positive, negative = (by[f"if all rows without a verdict are {w}"].estimate
                          for w in ("positive", "negative"))  # fmt: skip
    assert theirs < ours
    assert negative < positive


@pytest.mark.parametrize("figure", ["alpha", "precision", "auc"])
def test_the_interval_is_that_of_the_library(figure: str, tmp_path: Path) -> None:
    cut: dict[str, Any] = {"review": 150} if figure == "precision" else {}
    judging = begin(tmp_path / "a.csv", figure=figure, **cut)
    for _ in range(8):
        judging.answer(truth(judging.row))
    now, judged = judging.interval(), judging.judged()
    report = pu.evaluate(SAMPLE.scores, SAMPLE.labeled, judged=judged, **cut)
    same = report.intervals["roc_auc" if figure == "auc" else figure]
    assert (now.estimate, now.low, now.high) == (same.estimate, same.low, same.high)
    assert re.search(r"\d -?\d", judging.words(now)) is None  # as in "score >= 0.83 0.78"
    both = pu.audit.combine(judged, SAMPLE.scores, SAMPLE.labeled)
    draws = {"alpha": both.alpha, "precision": both.purity[0], "auc": same}[figure]
    assert now.estimate == pytest.approx(draws.estimate, abs=0.005)


@pytest.mark.parametrize(("half", "digits"), [(0.0203, 3), (0.1203, 2)])
def test_a_wide_interval_is_written_with_fewer_digits(
    half: float, digits: int, tmp_path: Path
) -> None:
    interval = pu.intervals.Interval(
        estimate=0.7004, low=0.7004 - half, high=0.7004 + half, confidence_level=0.95,
        method="posterior",
    )  # fmt: skip
    ends = (interval.estimate, interval.low, interval.high)
    words = begin(tmp_path / "a.csv").words(interval)
    assert re.findall(r"0\.\d+", words) == [f"{each:.{digits}f}" for each in ends]


@pytest.mark.parametrize("sessions", [6, pytest.param(20, marks=pytest.mark.slow)])
def test_the_width_foretold_is_what_then_happens(sessions: int, tmp_path: Path) -> None:
    ratios = []
    for i in range(sessions):
        shares = {"alpha": [0.3, 0.05, 0.6][i // 3 % 3], "beta": [1.0, 0.9][i % 2]}
        sample = pu.simulate.binormal(1.0 + i % 3).sample(200, 2000, **shares, random_state=i)
        file, figure = tmp_path / f"{i}.csv", ["auc", "precision", "alpha"][i // 2 % 3]
        judging = Judging(sample.scores, sample.labeled, file, figure=figure)
        seen = {0: judging.progress()[1]}
        for n in range(1, 16):
            assert judging.row is not None
            judging.answer("yes" if sample.truth[judging.row] else "no")
            if n in (5, 15):
                seen[n] = judging.progress()[1]
        for now, then in [(0, 5), (0, 15), (5, 15)]:
            ratios.append(seen[then].width / seen[now].width_after(then - now))
            half = seen[now].width / 2
            more = seen[now].n_for(half)
            assert more is None or seen[now].width_after(more) <= half < seen[now].width_after(
                more - 1
            )
    off = np.abs(np.log(ratios))
    assert np.mean(off < np.log(2)) > 0.9
    assert np.median(off) < np.log(1.3)


def test_rows_that_look_alike_are_pointed_out_where_few_do(tmp_path: Path) -> None:
    cells = {row: {"name": f"n{row} "} for row in range(1000)}
    judging = begin(tmp_path / "a.csv", cells=cells.__getitem__)
    first, second, third = judging.upcoming(3)
    cells[second] = {"name": f" n{first}"}
    judging.answer("yes")
    assert judging.twin(second) == (first, "yes")
    assert f"row {first + 1}" in judging.note(second)
    assert not judging.note(third)
    same = begin(tmp_path / "b.csv", cells=lambda row: {"half": str(row % 2)})
    assert "look them up" in same.note(first)  # said once
    same.answer("yes")
    assert not any(map(same.note, same.upcoming(20)))


@pytest.mark.parametrize(
    ("how", "parameter"),
    [
        ({"threshold": 1.0}, "threshold"),
        ({"review": 30}, "review"),
        ({"figure": "magic"}, "figure"),
        ({"judge": "a\nb"}, "judge"),
    ],
)
def test_answers_of_other_rows_are_not_mixed(
    how: dict[str, Any], parameter: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    begin(file).answer("yes")
    before = file.read_bytes()
    with pytest.raises(InvalidInputError) as caught:
        begin(file, **how)
    assert caught.value.parameter == parameter
    with pytest.raises(InvalidInputError, match="another order"):
        Judging(SAMPLE.scores[::-1], SAMPLE.labeled[::-1], file)
    with pytest.raises(InvalidInputError, match="one of the rows drawn"):
        begin(file).answer("yes", int(np.flatnonzero(SAMPLE.labeled)[0]))
    assert file.read_bytes() == before


KILLS = """
import json, os, random, signal, sys
from pathlib import Path
from purecover import simulate
from purecover.audit.judging import ANSWERS, Judging

file, rng = Path(sys.argv[1]), random.Random(int(sys.argv[2]))
sample = simulate.binormal(2.0).sample(100, 900, alpha=0.3, random_state=0)

def begin():
    return Judging(sample.scores, sample.labeled, file, cells=lambda row: {"name": f"n{row}"})

begin()  # what is imported late
TRACED = ("judging.py", "_codec.py", "designs.py")

def child(pipe, left, words):
    def trace(frame, event, _):
        nonlocal left
        if not frame.f_code.co_filename.endswith(TRACED):
            return None
        left -= event == "line"
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace
    sys.settrace(trace)
    judging = begin()
    while judging.row is not None:
        row, word = judging.row, words.choice(list(ANSWERS))
        judging.answer(word)
        os.write(pipe, json.dumps([row, word]).encode() + b"\\n")
    os._exit(0)

for kill in range(int(sys.argv[3])):
    read, write = os.pipe()
    # What there is already is read, and written again with each answer.
    at = rng.randrange(2000 + 500 * len(file.read_text().splitlines() if file.exists() else ()))
    words = random.Random(kill)
    if not os.fork():
        child(write, at, words)
    os.close(write)
    with os.fdopen(read) as lines:
        print(lines.read().replace("\\n", " ; "), file.read_text() if file.exists() else "",
              sep="\\x00", end="\\x01")
    os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes of POSIX")
def test_a_hundred_kills_lose_no_answer_and_ask_nothing_twice(tmp_path: Path) -> None:
    """Killed at any line of the code that asks and saves, and started again on the same file."""
    file = tmp_path / "a.judged.csv"
    ran = subprocess.run(
        [sys.executable, "-c", KILLS, str(file), "7", "100"],
        capture_output=True, text=True, cwd=Path(__file__).parents[1], check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    kept: dict[int, str] = {}
    unsure: set[int] = set()
    for part in ran.stdout.split("\x01")[:-1]:
        acknowledged, text = part.split("\x00")
        for each in filter(None, acknowledged.split(" ; ")):
            row, word = json.loads(each)
            assert row not in kept
            kept[row] = word
        found = {
            int(each["row"]) - 1: each["positive"] for each in csv.DictReader(io.StringIO(text))
        }
        # One more may be there: saved, and killed before anybody was told.
        unsure = found.keys() - kept.keys()
        assert len(unsure) <= 1
        assert {row: found[row] for row in kept} == kept
        kept = found
    assert len(kept) > 100
    begin(file)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]  # nothing else is left


FRAME = {
    "secret s": SAMPLE.scores,
    "secret l": np.where(SAMPLE.labeled, "positive", "unlabeled"),
    "note": [f"<b>note {i}" for i in range(1000)],
    "link": ["https://e.org/x", None] * 500,
}


HOW: dict[str, Any] = {"score": "secret s", "labeled": "secret l"}


def leaks(shown: str) -> list[str]:
    """What would lead a judge: names and values of the columns of scores and labels."""
    words = ["secret", "unlabeled", *(f"{score:.3f}" for score in SAMPLE.scores)]
    return [word for word in words if word in shown]


@pytest.mark.parametrize("library", [None, "pandas", "polars"])
def test_a_notebook_without_widgets_shows_a_table(library: str | None, tmp_path: Path) -> None:
    frame: Any = FRAME
    if library is not None:
        frame = pytest.importorskip(library).DataFrame(FRAME)
    view = pu.audit.judge(frame, **HOW, file=tmp_path / "a.csv")
    rows = view.judging.upcoming(10)
    for shown in (repr(view), view._repr_html_()):
        start = "&lt;b&gt;note" if shown.startswith("<table>") else "<b>note"
        assert all(f"{start} {row}" in shown for row in rows)
        assert leaks(shown) == []
        assert "None" not in shown
    view.answer("y n s").answer("b").answer("yN")
    assert [each["positive"] for each in lines(tmp_path / "a.csv")] == ["yes", "no", "yes", "no"]
    again = pu.audit.judge(frame, **HOW, file=tmp_path / "a.csv")
    assert again.judging.upcoming(6) == rows[4:]
    report = pu.evaluate(SAMPLE.scores, SAMPLE.labeled, judged=again.judged, n_resamples=5)
    assert report.proportions.origin.endswith("from the scores")
    with pytest.raises(InvalidInputError, match="keys y, n, s and b"):
        view.answer("yx")
    with pytest.raises(InvalidInputError, match="columns"):
        pu.audit.judge(frame, **HOW, columns=["nothing"], file=tmp_path / "a.csv")
    asked = pu.audit.judge(frame, **HOW, columns=["secret s"], file=tmp_path / "a.csv")
    assert str(SAMPLE.scores[rows[4]])[:8] in repr(asked)


class Widget:
    """What ipywidgets has of one: a value that tells whoever observes it."""

    def __init__(self, children: Any = (), **settings: Any) -> None:
        self.children, self.settings, self.heard = children, settings, list[Any]()
        self._value = ""

    @property
    def value(self) -> str:
        return self._value

    @value.setter
    def value(self, new: str) -> None:
        self._value = new
        for listener in self.heard:
            listener({"new": new})

    def observe(self, listener: Any, names: str) -> None:
        assert names == "value"
        self.heard.append(listener)

    def on_click(self, listener: Any) -> None:
        self.heard.append(listener)


def test_a_notebook_with_widgets_takes_keys_and_clicks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ipywidgets is no dependency: a stand-in has the few names that are used."""
    displayed: list[Any] = []
    view = pu.audit.judge(FRAME, **HOW, file=tmp_path / "a.csv")
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(NotImplementedError):  # IPython shows the table then
        view._ipython_display_()
    kinds = dict.fromkeys(("HTML", "Text", "Button", "HBox", "VBox"), Widget)
    monkeypatch.setitem(sys.modules, "ipywidgets", SimpleNamespace(**kinds))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=displayed.append))
    view._ipython_display_()
    said, card, below = displayed[0].children
    *buttons, keys = below.children
    rows = view.judging.upcoming(4)
    assert f"note {rows[0]}" in card.value
    assert leaks(card.value + said.value) == []
    assert 'href="https://e.org/x"' in card.value or rows[0] % 2
    keys.value = "y"
    assert keys.value == ""
    assert f"note {rows[1]}" in card.value
    buttons[1].heard[0](buttons[1])
    keys.value = "?"
    keys.value = "S"
    buttons[3].heard[0](buttons[3])
    assert "You said skip" in said.value
    assert [each["positive"] for each in lines(tmp_path / "a.csv")] == ["yes", "no", "skip"]


def write_data(path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["score", "labeled", "note", "row"])
        for i, (score, label) in enumerate(zip(SAMPLE.scores, SAMPLE.labeled, strict=True)):
            table.writerow([f"{score:.4f}", int(label), f"note {i} \x1b[31mred", "https://e.org/x"])
    return path


def read_data(path: Path) -> tuple[Any, Any]:
    table = lines(path)
    return np.array([float(row["score"]) for row in table]), SAMPLE.labeled


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    def call(typed: Iterable[str], *argv: object) -> Result:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{key}\n" for key in typed)))
        return call_main(capsys, "judge", *argv)

    return call


def test_lines_are_answers_where_there_is_no_terminal(run, tmp_path) -> None:
    data = write_data(tmp_path / "d.csv")
    result = run(["Yes", "yyn", *"?nbns"], data)
    assert (result.code, "'yyn' is not recorded" in result.err) == (0, True)
    assert "Next: purecover evaluate" in result.out
    assert "1 yes, 1 no, 1 skipped; saved in d.judged.csv" in result.out
    assert "if all rows without a verdict are positive" in result.out
    assert "\\x1b[31mred" in result.out
    assert "\x1b[31m" not in result.out
    first = lines(tmp_path / "d.judged.csv")[0]
    assert list(first) == ["row", "design", "note", "row (data)", "positive"]
    pages = result.out.partition("saved in")[0]
    assert pages.count("note ") > 5
    for secret in ("labeled", "score ", *(f"{score:.4f}" for score in SAMPLE.scores)):
        assert secret not in pages
    again = run("yyyyyyyy", data, "--n", "4")
    assert "3 yes, 1 no, 1 skipped" in again.out
    assert "larger --n" in again.out
    third = run("y", data, "--judge", "ben", "--n", "1", "--columns", "score,note")
    assert f"{SAMPLE.scores[int(first['row']) - 1]:.4f}" in third.out
    judged = pu.audit.JudgedRows.read_csv(
        tmp_path / "d.judged.csv", np.round(SAMPLE.scores, 4), SAMPLE.labeled
    )
    report = pu.evaluate(np.round(SAMPLE.scores, 4), SAMPLE.labeled, judged=judged)
    assert f"AUC {report.auc:.3f}" in third.out or f"AUC {report.auc:.2f}" in third.out


def test_known_negatives_are_not_asked_about(run, tmp_path) -> None:
    data = write_data(tmp_path / "d.csv")
    rows = lines(data)
    asked = np.argsort(-SAMPLE.scores)[:100]
    for row in asked[~SAMPLE.truth[asked]]:
        rows[row]["labeled"] = "-1"
    with data.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    options = ["--negative-label=-1", "--threshold", str(SAMPLE.scores[asked[-1]])]
    result = run("y" * 5, data, *options)
    assert "5 yes" in result.out
    assert "--negative-label=-1" in result.out
    found = {int(each["row"]) - 1 for each in lines(tmp_path / "d.judged.csv")}
    assert SAMPLE.truth[list(found)].all()


def test_it_stops_by_itself_where_the_interval_is_narrow_enough(run, tmp_path) -> None:
    data = write_data(tmp_path / "d.csv")
    result = run("yn" * 20, data, "--until", "alpha 0.3")
    wide = [float(each) for each in re.findall(r"; ([\d.]+) wide", result.out)]
    assert min(wide) >= 0.3  # of every page that was shown
    assert len(lines(tmp_path / "d.judged.csv")) == len(wide) + 1 < 20  # none before an answer
    judging = Judging(*read_data(data), tmp_path / "d.judged.csv", figure="alpha")
    assert judging.interval().width <= 0.3
    assert "Go on" not in result.out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--until", "wide"], "--until must be the width"),
        (["--until", "alpha 0.1", "--figure", "auc"], "name different"),
        (["--columns", "nothing"], "asked for by --columns"),
        (["--threshold", "1e9"], "--threshold must be a score that unlabeled rows reach"),
    ],
)
def test_what_cannot_be_judged_is_refused(run, tmp_path, options, says) -> None:
    result = run("y", write_data(tmp_path / "d.csv"), *options)
    assert result.code == 2
    assert says in result.err
    assert not (tmp_path / "d.judged.csv").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_keys_need_no_enter_in_a_terminal(tmp_path: Path) -> None:
    import pty
    import termios

    data = write_data(tmp_path / "d.csv")
    shell, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    process = subprocess.Popen(
        [sys.executable, "-m", "purecover", "judge", str(data)],
        stdin=terminal, stdout=terminal, stderr=terminal, cwd=tmp_path,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "70"},
    )  # fmt: skip
    shown = b""

    def until(words: bytes) -> None:
        nonlocal shown
        while words not in shown:
            assert select.select([shell], [], [], 120)[0], shown  # never waits for ever
            shown += os.read(shell, 65536)
        shown = shown.partition(words)[2]

    until(b"wide")
    for keys, answered in [(b"y", b"1 of 10"), (b"\x1b[Dn", b"2 of 10"), (b"\x1b[Bys", b"3 of 10")]:
        os.write(shell, keys)
        until(answered)
    os.write(shell, b"b")
    until(b"You said skip")
    os.write(shell, b"\x04")
    until(b"Go on")
    assert process.wait(60) == 0
    assert termios.tcgetattr(terminal) == before
    assert b"]8;" in shown or b"https://e.org/x" not in shown
    os.close(shell)
    os.close(terminal)
    assert [each["positive"] for each in lines(tmp_path / "d.judged.csv")] == [
        "yes",
        "no",
        "yes",
        "skip",
    ]


def test_a_report_with_judged_rows_says_what_it_follows_from() -> None:
    example, rng = pu.load_example(), np.random.default_rng(0)
    rows = (example.scores, example.labeled)
    design = pu.audit.draw(*rows, n=20, design="stratified", threshold=-1.1)
    report = pu.evaluate(
        *rows,
        judged=design.answer(example.truth[design.rows]),
        label_origin={
            "kinds": np.where(
                rng.random(len(rows[0])) < 0.3 + 0.6 * example.labeled, "mail", "call"
            ),
            "dates": rng.integers(2015, 2025, len(rows[0])),
        },
        n_resamples=0,
    )
    found = {check.code: check for check in report.checks}
    assert (found["PU025"].fired, found["PU023"].status) == (True, "quiet")
    text = " ".join(f"{report} {report.details()} {report.to_html()}".split())
    # Nothing was given, one test speaks for itself alone, and the rows have been judged.
    assert "lpha was given" not in text
    assert "andom labels are not contradicted" not in text
    assert "these dates do not contradict random labels" in text
    assert "Twenty judged rows" not in text
    assert "Not assumed: alpha follows from judged rows and scores." in text
    for code in ("PU004", "PU017", "PU018", "PU019"):
        assert found[code].message == "alpha does not follow from the scores alone."
