"""The pages with real data: public names only, a clear word where data are missing, true claims."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import purecover as pu

pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "real_data"
PAGES = sorted(FOLDER.glob("plot_*.py"))
TABLE = ROOT / "benchmarks" / "results" / "examples_check.md"

SEEDS = (
    "Over 20 other seeds the 95 % interval held the true alpha {alpha} times, the true AUC {AUC} "
    "times, and the true AUC {AUC, alpha known} times where alpha was known."
)
FOUND = "it expected {expected} on average and found {found}."
WRONG = (
    "With wrong reports the interval held the true AUC {AUC} times, and {AUC, labels believed} "
    "times where the reports were taken for right."
)
CLAIMS = {
    "proteins": ("plot_proteins.py", (SEEDS, FOUND)),
    "spam": ("plot_spam.py", (SEEDS,)),
    "spam, wrong reports": ("plot_spam.py", (WRONG,)),
    "thyroid": ("plot_thyroid.py", (SEEDS, "the true precision {precision} times", FOUND)),
}


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The study, which is in no package that is installed."""
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.examples_check")


def claims() -> dict[str, dict[str, str]]:
    """The table of the study by page; of "19 of 20" the first number."""
    text = TABLE.read_text(encoding="utf-8")
    cells = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|") and not line.startswith("| -")
    ]
    headers, *rows = cells
    return {
        row[0]: {name: cell.removesuffix(" of 20") for name, cell in zip(headers, row, strict=True)}
        for row in rows
    }


def prose(script: str) -> str:
    """The text of a page as one line."""
    source = (FOLDER / script).read_text(encoding="utf-8")
    return re.sub(r"\s*\n# ?", " ", source)


def test_each_script_is_studied(study: ModuleType) -> None:
    assert {case.script for case in study.CASES} == {page.name for page in PAGES}
    assert [case.name for case in study.CASES] == list(CLAIMS) == list(claims())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_public_names_only(page: Path) -> None:
    tree = ast.parse(page.read_text(encoding="utf-8"))
    used = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                assert not name.name.startswith("purecover.")
        elif isinstance(node, ast.ImportFrom):
            assert not str(node.module).startswith("purecover")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "pu":
                used.add(node.attr)
            assert not node.attr.startswith("_")
    assert used
    assert used <= set(pu.__all__)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_missing_package_is_named(
    page: Path, study: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = study.definitions(page)

    def missing(name: str) -> Any:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    package = names["PACKAGE"]
    expected = f"{package}, which is missing. Hint: pip install {package}"
    with pytest.raises(ModuleNotFoundError, match=re.escape(expected)):
        names["load"]()


def test_packages_are_pinned(study: ModuleType) -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = {each.partition("==")[0] for each in groups["dependency-groups"]["examples"]}
    assert pinned == {study.definitions(page)["PACKAGE"] for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_positives_are_hidden_as_the_page_says(page: Path, study: ModuleType) -> None:
    names = study.definitions(page)
    try:
        metadata.distribution(names["PACKAGE"])
    except metadata.PackageNotFoundError:
        pytest.skip(f"{names['PACKAGE']} is not installed")
    X, positive = names["load"]()
    assert len(X) == len(positive)
    labeled = names["hide"](positive, seed=0)
    assert labeled.sum() == names["N_LABELED"]
    assert positive[labeled].all()
    assert positive[~labeled].any()
    assert not np.array_equal(labeled, names["hide"](positive, seed=1))
    if "N_WRONG" in names:
        noisy = names["hide"](positive, seed=0, n_wrong=names["N_WRONG"])
        assert (noisy & ~positive).sum() == names["N_WRONG"]
        assert np.array_equal(noisy & positive, labeled)


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_are_those_of_the_study(name: str) -> None:
    script, sentences = CLAIMS[name]
    text = prose(script)
    row = claims()[name]
    for sentence in sentences:
        assert re.sub(r"\{(.*?)\}", lambda found: row[found[1]], sentence) in text


def test_definitions_leave_the_story_out(study: ModuleType, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    script.write_text("N = 3\nn = 1 / 0\n\n\ndef f():\n    return N\n\n\nprint(f())\n")
    names = study.definitions(script)
    assert names["f"]() == 3
    assert "n" not in names


def test_a_row_counts_and_averages(study: ModuleType) -> None:
    good = study.Outcome(
        alpha=True, auc=True, precision=False, auc_known=True, auc_clean=True,
        error_alpha=0.02, error_auc=0.01, expected=10.0, found=8,
    )  # fmt: skip
    bad = study.Outcome(
        alpha=False, auc=True, precision=False, auc_known=True, auc_clean=False,
        error_alpha=-0.04, error_auc=0.03, expected=20.0, found=12,
    )  # fmt: skip
    case = study.CASES[2]
    assert case.wrong
    assert study.row(case, [good, bad]) == [
        case.name, "1 of 2", "2 of 2", "0 of 2", "2 of 2", "1 of 2", "-0.010", "+0.020", "15", "10",
    ]  # fmt: skip
    assert study.row(study.CASES[0], [good])[5] == ""
