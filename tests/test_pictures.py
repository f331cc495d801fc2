"""Pictures of the documentation show what the present code computes."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "docs" / "_static"
PRINTS = json.loads((STATIC / "pictures.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pictures() -> ModuleType:
    pytest.importorskip("PIL")
    pytest.importorskip("matplotlib").use("Agg")
    spec = importlib.util.spec_from_file_location("make_pictures", ROOT / "tools/make_pictures.py")
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_picture_has_a_fingerprint_and_a_page(pictures: ModuleType) -> None:
    made = {path.name for path in STATIC.glob("*.png")}
    assert made == set(PRINTS) == {*pictures.DRAWN, *pictures.SHOWN}
    pages = [*(ROOT / "docs").rglob("*.rst"), ROOT / "README.md"]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert made <= set(re.findall(r"_static/([\w.]+)", text))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PRINTS))
def test_the_picture_shows_the_present_numbers(name: str, pictures: ModuleType) -> None:
    if name in pictures.DRAWN:
        found = pictures.data_of(pictures.DRAWN[name]())
    else:
        found = pictures.numbers_of(pictures.SHOWN[name]())
    hint = f"run `python tools/make_pictures.py {name}`, and look at it"
    assert len(found) == len(PRINTS[name]), hint
    # Two in a hundred: machines differ in the last digits of random draws.
    np.testing.assert_allclose(found, PRINTS[name], rtol=0.02, atol=0.01, err_msg=hint)
