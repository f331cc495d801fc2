"""What is public: `__all__`, what can be imported, and the reference pages agree."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import purecover

# Public subpackages with a list of their own.
MODULES = ("simulate", "exceptions")
REFERENCE = Path(__file__).parents[1] / "docs" / "api"


def documented_names() -> list[str]:
    """Entries of the autosummary tables, e.g. `ScoreCounts` or `simulate.binormal`."""
    names: list[str] = []
    for page in sorted(REFERENCE.glob("*.rst")):
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^\.\. autosummary::\n((?:[ \t]+.*\n|\n)+)", text, re.MULTILINE):
            lines = [line.strip() for line in block.splitlines()]
            names += [line for line in lines if line and not line.startswith(":")]
    return names


def test_all_is_unique() -> None:
    assert len(set(purecover.__all__)) == len(purecover.__all__)


@pytest.mark.parametrize("name", purecover.__all__)
def test_every_name_can_be_imported(name: str) -> None:
    assert getattr(purecover, name) is not None


def test_dir_shows_all() -> None:
    assert set(purecover.__all__) <= set(dir(purecover))


def test_star_import_gives_all() -> None:
    namespace: dict[str, object] = {}
    exec("from purecover import *", namespace)  # noqa: S102
    assert set(purecover.__all__) == set(namespace) - {"__builtins__"}


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="recover_everything"):
        _ = purecover.recover_everything


def test_reference_pages_list_exactly_the_public_names() -> None:
    documented = documented_names()
    assert len(set(documented)) == len(documented), "a name stands on the pages twice"
    public = {name for name in purecover.__all__ if not name.startswith("__")} - set(MODULES)
    for module in MODULES:
        names = importlib.import_module(f"purecover.{module}").__all__
        # Names that are offered at the top are documented there.
        public |= {f"{module}.{name}" for name in names if name not in purecover.__all__}
    assert set(documented) == public


@pytest.mark.parametrize("name", [n for n in purecover.__all__ if not n.startswith("__")])
def test_every_name_is_documented(name: str) -> None:
    thing = getattr(purecover, name)
    if callable(thing) or inspect.ismodule(thing):
        assert (inspect.getdoc(thing) or "").strip()


def test_a_misspelled_name_is_answered_with_the_nearest() -> None:
    """Python looks for it in the object in which, as the error says, a name was not found."""
    with pytest.raises(AttributeError, match="has no attribute 'evaluat'") as caught:
        purecover.evaluat  # noqa: B018 - a look at it is enough
    assert (caught.value.name, caught.value.obj) == ("evaluat", purecover)
    assert "evaluate" in dir(purecover)
