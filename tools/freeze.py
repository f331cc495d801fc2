"""Write down what the package promises to keep: figures of fixed data, and public signatures.

Run ``make freeze`` after a change that is meant to alter them, look at the difference, and say in
the changelog what changed. tests/test_frozen.py compares. Figures that differ by no more than
machines do stay as they were written.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "tests" / "frozen.json"
SIGNATURES = ROOT / "tests" / "frozen_signatures.txt"


def main() -> int:
    """Compute all figures, read all signatures, write both files."""
    sys.path.insert(0, str(ROOT))
    from tests.frozen_figures import FIGURES as NAMES
    from tests.frozen_figures import compute, same
    from tests.frozen_signatures import signatures

    kept = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    lines = []
    for name in NAMES:
        found = compute(name)
        if name in kept and same(found, kept[name]):
            found = kept[name]
        lines.append(f"{json.dumps(name)}: {json.dumps(found)}")
    FIGURES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    SIGNATURES.write_text("".join(f"{line}\n" for line in signatures()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
