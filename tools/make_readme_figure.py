"""Make the figure of the README by the lines of Python below it there.

Run ``python tools/make_readme_figure.py``.
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "_static" / "observed_vs_recovered.png"


def first_lines() -> str:
    """The first block of Python in the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit("README.md shows no Python")
    return found[1]


def main() -> None:
    """Draw and save."""
    mpl.use("Agg")
    names: dict[str, object] = {}
    exec(first_lines(), names)  # noqa: S102 - our own page
    import matplotlib.pyplot as plt

    plt.gcf().savefig(OUT, dpi=144, metadata={"Software": None})
    print(OUT.relative_to(ROOT))


if __name__ == "__main__":
    main()
