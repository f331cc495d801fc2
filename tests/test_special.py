"""Compiled functions of SciPy, without the rest of its package."""

from __future__ import annotations

import subprocess
import sys

import pytest

FUNCTIONS = """
import sys
from purecover import _special
ours = _special.ndtri, _special.betaincinv
assert "scipy.special" not in sys.modules
import scipy.special
assert (scipy.special.ndtri, scipy.special.betaincinv) == ours
assert _special.softmax is scipy.special.softmax  # no compiled function: of the package
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
from purecover import _special
for thread in threads[4:]:
    thread.start()
for thread in threads:
    thread.join()
assert len(found) == 8 and _special.ndtri(0.5) == 0
"""

ELSEWHERE = """
import sys
sys.modules["scipy.special._ufuncs"] = None  # not where it was
import scipy
try:
    from purecover import _special
except ImportError as error:
    assert "_ufuncs" in str(error)  # SciPy's own complaint
else:
    raise AssertionError
assert not any("purecover" in type(finder).__module__ for finder in sys.meta_path)
"""


@pytest.mark.parametrize("script", [FUNCTIONS, THREADS, ELSEWHERE], ids=["same", "threads", "gone"])
def test_in_a_process_of_its_own(script: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
