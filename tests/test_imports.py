"""Public names are loaded when first used, and `import purecover` stays light."""

from __future__ import annotations

import subprocess
import sys

LIGHT = """
import sys
import purecover
assert "evaluate" in dir(purecover) and "numpy" not in sys.modules
try:
    purecover.evalaute
except AttributeError as error:
    assert error.name == "evalaute" and error.obj is purecover
else:
    raise AssertionError
assert purecover.evaluate is purecover.evaluate
assert "sklearn" not in sys.modules and "matplotlib" not in sys.modules
"""


def test_importing_the_package_loads_nothing_else() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIGHT], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
