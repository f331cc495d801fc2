"""Imports that are cut short: compiled functions of SciPy without the rest of its package."""

from __future__ import annotations

import subprocess
import sys

import pytest

FUNCTIONS = """
import sys
from purecover._imports import betaincinv, ndtri
assert "scipy.special" not in sys.modules
import scipy.special
assert (scipy.special.ndtri, scipy.special.betaincinv) == (ndtri, betaincinv)
from purecover._imports import softmax  # no compiled function: of the package
assert softmax is scipy.special.softmax
"""

THREADS = """
import threading
found = []
def whole():
    from scipy.special import softmax
    found.append(softmax)
threads = [threading.Thread(target=whole) for _ in range(8)]
for thread in threads[:4]:
    thread.start()
from purecover._imports import ndtri
for thread in threads[4:]:
    thread.start()
for thread in threads:
    thread.join()
assert len(found) == 8 and ndtri(0.5) == 0
"""

ELSEWHERE = """
import sys
sys.modules["scipy.special._ufuncs"] = None  # not where it was
try:
    from purecover._imports import ndtri
except ImportError as error:
    assert "_ufuncs" in str(error)  # SciPy's own complaint
else:
    raise AssertionError
assert not any("purecover" in type(finder).__module__ for finder in sys.meta_path)
"""


@pytest.mark.parametrize("script", [FUNCTIONS, THREADS, ELSEWHERE], ids=["same", "threads", "gone"])
def test_functions_of_scipy_in_a_process_of_its_own(script: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
