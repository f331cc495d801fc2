"""The page for those who come from elsewhere: blocks of pulearn run, figures are measured ones."""

from __future__ import annotations

import csv
import doctest
import importlib
import re
import textwrap
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "howto" / "migration.rst"
RESULTS = ROOT / "benchmarks" / "results"

SITUATIONS = {
    "two": "two samples",
    "one": "one sample",
    "wrong": "wrong labels (a quarter)",
    "clear": "clear positives labeled first",
}
NAIVE, DIVIDED, OURS = "scikit-learn", "divided by c", "purecover"
ALL_ROWS, UNLABELED = "pulearn, share of all rows", "pulearn, share of the unlabeled"

Errors = dict[tuple[str, str, str], float]


@pytest.fixture(scope="module")
def page() -> str:
    return " ".join(PAGE.read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def errors() -> Errors:
    """Mean errors by situation, quantity and who made them."""
    with (RESULTS / "migration.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        (key, row["quantity"], who): float(row[who])
        for row in rows
        for key, name in SITUATIONS.items()
        if row["situation"] == name
        for who in (NAIVE, ALL_ROWS, UNLABELED, DIVIDED, OURS)
    }


def short(number: float, digits: int = 3) -> str:
    """As the page writes it: no zero before the point."""
    return f"{number:.{digits}f}".replace("0.", ".", 1)


# -- blocks of pulearn ----------------------------------------------------------------------


def pulearn_blocks() -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    found = re.findall(
        r"^\.\. code-block:: python\n   :caption: pulearn\n\n((?:   .*\n|\n)+)", text, re.MULTILINE
    )
    return [textwrap.dedent(block) for block in found]


def statements(block: str) -> list[tuple[str, str | None]]:
    """Lines of code with the figure that the comment beside them promises, if any."""
    found = []
    for line in block.splitlines():
        code, _, comment = line.partition("#")
        if code.strip():
            found.append((code.strip(), comment.strip() or None))
    return found


def test_there_is_a_block_for_each_task_and_a_figure_in_each() -> None:
    blocks = pulearn_blocks()
    assert len(blocks) == 6
    assert all(any(figure for _, figure in statements(block)) for block in blocks)


@pytest.fixture
def pulearn(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The other package, from the folder beside the environment if it is there."""
    monkeypatch.syspath_prepend(ROOT)
    peers = importlib.import_module("benchmarks._contestants").PEERS_FOLDER
    if peers.exists():
        monkeypatch.syspath_prepend(peers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module("pulearn")
        except ImportError:
            pytest.skip("pulearn is not installed; `make peers` puts it into .venv-peers")


def namespace_of_the_page() -> dict[str, Any]:
    """What the examples of the section on the data define."""
    text = PAGE.read_text(encoding="utf-8").split("\nIn purecover, scores", 1)[0]
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(text):
        exec(example.source, names)  # noqa: S102
    return names


def test_blocks_of_pulearn_print_what_the_page_says(pulearn: ModuleType) -> None:
    assert pulearn.__version__ == "0.2.0"
    assert "pulearn/>`_ 0.2.0" in PAGE.read_text(encoding="utf-8")
    names = namespace_of_the_page()
    for block in pulearn_blocks():
        for code, figure in statements(block):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if figure is None:
                    exec(code, names)  # noqa: S102
                else:
                    assert f"{eval(code, names):.3f}" == figure, code  # noqa: S307


# -- what the study found -------------------------------------------------------------------


def test_results_are_those_of_the_report() -> None:
    report = (RESULTS / "migration.md").read_text(encoding="utf-8")
    assert "version 0.2.0" in report
    table = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in report.splitlines()
        if line.startswith("|")
    ]
    with (RESULTS / "migration.csv").open(encoding="utf-8", newline="") as file:
        assert [table[0], *table[2:]] == list(csv.reader(file))


def test_what_the_page_says_of_dividing_by_c(page: str) -> None:
    text = (RESULTS / "leaderboard.md").read_text(encoding="utf-8")
    part = text.split("## (b) simulated scores, held out", 1)[1].split("\n## ", 1)[0]
    cells = {
        row[0].strip("* "): float(row[2])
        for row in ([cell.strip() for cell in line.strip("|").split("|")]
                    for line in part.splitlines() if line.startswith("|"))
        if re.fullmatch(r"[\d.]+", row[2])
    }  # fmt: skip
    divided, default = cells["Elkan-Noto e1"], cells["label-curve (default)"]
    assert (
        f"mean error of alpha is {short(divided, 2)} (``Elkan-Noto e1``), and that of the default "
        f"{short(default, 2)}." in page
    )


def test_what_the_page_says_of_deleted_points(page: str) -> None:
    text = (RESULTS / "repairs.md").read_text(encoding="utf-8")
    header, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.split("## AUC-PR", 1)[0].splitlines()
        if line.startswith("|")
    ]
    (row,) = [row for row in rows if row[1].startswith("1.000")]
    assert "200 replicates per row" in text
    lowest = {
        name: re.findall(r"\(([\d.]+)\)", cell) for name, cell in zip(header, row, strict=True)
    }
    (deleted,), (repaired,) = lowest["paper"], lowest["isotonic"]
    assert f"true AUC is 1.000, is {short(float(deleted))}; by the default repair" in page
    assert f"repair it is {short(float(repaired))} " in page


def test_what_the_page_reads_from_the_table(page: str, errors: Errors) -> None:
    def size(situation: str, quantity: str, who: str) -> str:
        return short(abs(errors[situation, quantity, who]))

    precision, specificity, recall = (
        f"{name} at 1" for name in ("precision", "specificity", "recall")
    )
    low = size("two", "AUC", NAIVE), size("two", precision, NAIVE)
    assert f"AUC {low[0]} too low with two samples, precision at a threshold {low[1]}." in page
    assert abs(errors["two", recall, NAIVE]) <= 0.003 >= abs(errors["one", recall, NAIVE])
    high = [errors[key, "AUC", ALL_ROWS] for key in ("two", "one")]
    assert min(high) > 0
    assert f"the AUC is {short(high[0])} and {short(high[1])} too high, since" in page
    assert f"right with one sample ({short(errors['one', precision, ALL_ROWS])})" in page
    assert max(abs(errors[key, "AUC", UNLABELED]) for key in ("two", "one")) <= 0.003
    wrong = [errors[key, precision, UNLABELED] for key in ("two", "one")]
    assert max(wrong) < 0
    assert f"precision is {short(-wrong[0])} and {short(-wrong[1])} too low" in page
    fpr = errors["two", "fpr at tpr 0.8", UNLABELED]
    assert fpr == errors["two", "fpr at tpr 0.8", NAIVE]
    assert f"the false-positive rate is {short(fpr)} too high" in page
    assert f"``c``: {short(errors['two', specificity, ALL_ROWS])} too high, even" in page
    divided = [errors["two", quantity, DIVIDED] for quantity in ("AUC", precision)]
    assert f"the AUC is {short(divided[0])} too high and precision {short(divided[1])}," in page
    noisy = [-errors["wrong", "AUC", who] for who in (NAIVE, ALL_ROWS, UNLABELED, DIVIDED)]
    assert f"the AUC is {short(min(noisy))} to {short(max(noisy))} too low" in page


def test_what_the_page_says_of_purecover(page: str, errors: Errors) -> None:
    areas = ("average precision", "AUC-PR")
    ours = {
        (key, quantity): error
        for (key, quantity, who), error in errors.items()
        if who == OURS and key != "clear"
    }
    largest = max(abs(error) for (_, quantity), error in ours.items() if quantity not in areas)
    assert f"at most {short(largest)} in the first three situations" in page
    lowest = min((error, key) for (key, quantity), error in ours.items() if quantity in areas)
    assert lowest[1] == "wrong"
    assert f"up to {short(-lowest[0])} too low with wrong labels" in page
    recall, area = errors["clear", "recall at 1", OURS], errors["clear", "AUC", OURS]
    assert f"its recall is {short(recall)} too high and its AUC {short(area)}." in page
    assert f"the AUC errs less, {short(errors['clear', 'AUC', NAIVE])}, because" in page
    everybody = [errors["clear", "AUC", who] for who in (NAIVE, ALL_ROWS, UNLABELED, DIVIDED, OURS)]
    assert min(everybody) > 0.02
