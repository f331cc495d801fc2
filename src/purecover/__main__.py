"""The program ``purecover``, which is also ``python -m purecover``."""

from __future__ import annotations

import gc
import os
import sys

from purecover.cli import main


def run() -> int:
    """Run the command that the process was given, and return its exit code."""
    # Idle threads of the linear algebra wait for work in a loop: for a millisecond, not for 50.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    # Processes started from here do not import modules that are next to the data.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        from purecover.cli import shell  # noqa: F401 - all that every command imports
    except KeyboardInterrupt:
        return 130
    # It stays until the end, when Python would look for cycles in it once more.
    gc.freeze()
    return main()


if __name__ == "__main__":
    # -m puts the current folder first, unless -P forbids it; a file csv.py there is no module.
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    if not sys.flags.safe_path and sys.path[0] != own:
        del sys.path[0]
    sys.exit(run())
