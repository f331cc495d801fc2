"""Write down what the package promises to keep: figures of fixed data, and public signatures.

Run ``python tools/freeze.py`` (or ``make freeze``) after a change that is meant to alter them, look
at the difference, and say in the changelog what changed. tests/test_frozen.py compares.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Run all calls, read all signatures, write both files."""
    sys.path.insert(0, str(ROOT))
    from tests import frozen_cases, frozen_signatures

    lines = [
        f"{json.dumps(name)}: {json.dumps(list(frozen_cases.result_of(case).values()))}"
        for name, case in frozen_cases.CASES.items()
    ]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (ROOT / "tests" / "frozen_results.json").write_text(text, encoding="utf-8")
    signatures = "".join(f"{line}\n" for line in frozen_signatures.signatures())
    (ROOT / "tests" / "frozen_signatures.txt").write_text(signatures, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
