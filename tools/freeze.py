"""Write down what the package promises to keep: figures of fixed data, and public signatures.

Run ``python tools/freeze.py`` (or ``make freeze``) after a change that is meant to alter them, look
at the difference, and say in the changelog what changed. tests/test_frozen.py compares. Figures
that differ by no more than machines do stay as they were written.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "tests" / "frozen_results.json"
SIGNATURES = ROOT / "tests" / "frozen_signatures.txt"


def kept(before: list[Any] | None, now: list[Any], same: Callable[[Any, Any], bool]) -> list[Any]:
    """The values of now, those of before where the test takes both for the same."""
    if before is None or len(before) != len(now):
        return now
    return [old if same(new, old) else new for old, new in zip(before, now, strict=True)]


def main() -> int:
    """Run all calls, read all signatures, write both files."""
    sys.path.insert(0, str(ROOT))
    from tests import frozen_cases, frozen_signatures

    old: dict[str, list[Any]] = json.loads(RESULTS.read_text(encoding="utf-8"))
    results = {
        name: kept(old.get(name), list(frozen_cases.result_of(case).values()), frozen_cases.same)
        for name, case in frozen_cases.CASES.items()
    }
    lines = [f"{json.dumps(name)}: {json.dumps(values)}" for name, values in results.items()]
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    signatures = "".join(f"{line}\n" for line in frozen_signatures.signatures())
    SIGNATURES.write_text(signatures, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
