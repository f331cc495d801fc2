"""Starting purecover loads little: measured in fresh interpreters."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {
    "matplotlib", "pandas", "polars", "pyarrow", "duckdb", "torch", "sklearn", "scipy", "narwhals",
    "jinja2", "msgspec",
}  # fmt: skip
SCIENTIFIC = HEAVY | {"numpy"}
NETWORK = {"socket", "ssl", "http", "asyncio", "urllib.request", "starlette", "uvicorn"}
# `import purecover` brings next to nothing; a bare `import typing` is already about 20.
MAX_MODULES_OF_IMPORT = 60


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


def test_import_purecover_is_light() -> None:
    modules = modules_after("import purecover")
    assert "purecover" in modules
    assert not roots(modules) & SCIENTIFIC
    assert not (modules | roots(modules)) & NETWORK
    assert len(modules) <= MAX_MODULES_OF_IMPORT, sorted(modules)


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


@pytest.mark.parametrize(
    "args", [["--help"], ["--version"], ["evaluate", "--help"], ["priors", "--help"]]
)
def test_help_needs_no_scientific_package(args: list[str]) -> None:
    code = "import runpy\nrunpy.run_module('purecover', run_name='__main__', alter_sys=True)"
    modules = modules_after(code, *args)
    assert not roots(modules) & SCIENTIFIC


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
