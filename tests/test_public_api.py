"""Public names: all documented, importable, and light to import."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.public_names import public_names

import purecover

REFERENCE = Path(__file__).parents[1] / "docs" / "api"


def test_all_is_unique() -> None:
    assert len(set(purecover.__all__)) == len(purecover.__all__)


def test_every_name_can_be_imported() -> None:
    assert None not in public_names().values()


def test_the_top_shows_only_public_names() -> None:
    assert set(purecover.__all__) == set(dir(purecover))


def test_the_reference_lists_what_is_at_the_top() -> None:
    """And the namespaces, whose pages are made of what they offer; ``core`` is that of the top."""
    text = (REFERENCE / "index.rst").read_text(encoding="utf-8")
    listed = [line.strip() for line in re.findall(r"^   [\w.]+$", text, re.MULTILINE)]
    assert sorted(listed) == sorted([*dir(purecover), "core"])


def test_every_name_is_documented() -> None:
    things = public_names() | {name: getattr(purecover, name) for name in purecover.__all__}
    bare = [
        name
        for name, thing in things.items()
        if (callable(thing) or inspect.ismodule(thing))
        and not (inspect.getdoc(thing) or "").strip()
    ]
    assert not bare


def test_a_misspelled_name_is_answered_with_the_nearest() -> None:
    """Python looks for it in the object in which, as the error says, a name was not found."""
    with pytest.raises(AttributeError, match="has no attribute 'evaluat'") as caught:
        purecover.evaluat  # noqa: B018 - a look at it is enough
    assert (caught.value.name, caught.value.obj) == ("evaluat", purecover)
    assert "evaluate" in dir(purecover)


HEAVY = {
    "matplotlib", "pandas", "polars", "pyarrow", "duckdb", "torch", "sklearn", "scipy", "narwhals",
    "jinja2", "msgspec",
}  # fmt: skip
SCIENTIFIC = HEAVY | {"numpy"}


def modules_after(code: str, *args: str) -> set[str]:
    """The modules a fresh interpreter has loaded after running the code, less those before."""
    program = (
        "import sys, json\n"
        "before = set(sys.modules)\n"
        f"sys.argv = {['purecover', *args]!r}\n"
        "try:\n"
        + "".join(f"    {line}\n" for line in code.splitlines())
        + "except SystemExit as stop:\n"
        "    assert not stop.code, stop.code\n"
        "print('\\n' + json.dumps(sorted(set(sys.modules) - before)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def roots(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_dir_and_all_load_nothing() -> None:
    modules = modules_after("import purecover; dir(purecover); purecover.__all__")
    assert not roots(modules) & SCIENTIFIC


def test_counts_need_only_numpy() -> None:
    code = (
        "import purecover as pu\n"
        "counts = pu.ScoreCounts.from_scores([.9, .5, .4, .1], [1, 0, 1, 0])\n"
        "pu.recover_auc(counts, pu.MixtureProportions(alpha=0.1), clip=False)"
    )
    modules = modules_after(code)
    assert not roots(modules) & (HEAVY - {"scipy", "narwhals"})


SLOW_TO_LOAD = {"sklearn", "scipy.optimize", "scipy.stats", "matplotlib", "pandas"}


def test_a_report_needs_nothing_that_loads_slowly() -> None:
    """scikit-learn takes longer to load than the report takes, also where alpha is estimated."""
    code = (
        "import purecover as pu\n"
        "sample = pu.load_example()\n"
        "pu.evaluate(sample.scores, sample.labeled, n_resamples=5).to_html()"
    )
    assert not modules_after(code) & SLOW_TO_LOAD


@pytest.mark.parametrize(
    "args",
    [
        ["--help"],
        *(pytest.param([c, "--help"], marks=pytest.mark.slow) for c in ("evaluate", "priors")),
    ],
)
def test_help_needs_no_scientific_package(args: list[str]) -> None:
    code = "import runpy\nrunpy.run_module('purecover', run_name='__main__', alter_sys=True)"
    modules = modules_after(code, *args)
    assert not roots(modules) & SCIENTIFIC


def test_the_command_with_a_known_alpha_needs_no_estimator(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("score,labeled\n5,1\n4,1\n3,0\n2,1\n1,0\n0,0\n", encoding="utf-8")
    code = "import runpy\nrunpy.run_module('purecover', run_name='__main__', alter_sys=True)"
    modules = modules_after(code, "evaluate", str(table), "--alpha", "0.2", "--resamples", "5")
    assert not modules & SLOW_TO_LOAD


@pytest.mark.slow
def test_importing_changes_nothing() -> None:
    """No warning filters, no logging set-up, no seed, no plotting mode."""
    code = (
        "import logging, warnings, random\n"
        "seen = (list(warnings.filters), list(logging.root.handlers), random.getstate())\n"
        "import purecover\n"
        "for name in purecover.__all__: getattr(purecover, name)\n"
        "assert logging.root.handlers == seen[1]\n"
        "assert random.getstate() == seen[2]\n"
        "ours = [f for f in warnings.filters if f not in seen[0] and 'purecover' in str(f)]\n"
        "assert not ours, ours"
    )
    assert "matplotlib.pyplot" not in modules_after(code)
