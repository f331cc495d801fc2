"""Make pictures of how-to pages by the scripts of the gallery.

Run ``python tools/make_howto_pictures.py``.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib as mpl

ROOT = Path(__file__).parents[1]
PICTURES = {
    "mixture.png": ("plot_02_mixture.py", 1),
    "sensitivity.png": ("plot_06_sensitivity.py", 1),
    "threshold_costs.png": ("plot_07_threshold_costs.py", 1),
    "two_models.png": ("plot_08_two_models.py", 1),
    "calibration.png": ("plot_10_calibration.py", 1),
    "evidence.png": ("plot_11_evidence.py", 1),
}
"""By name, the script and which of its figures."""


def main() -> None:
    """Draw and save."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    for name, (script, number) in PICTURES.items():
        plt.close("all")
        runpy.run_path(str(ROOT / "examples" / script))
        out = ROOT / "docs" / "_static" / name
        plt.figure(number).savefig(out, dpi=100, metadata={"Software": None})
        print(out.relative_to(ROOT))


if __name__ == "__main__":
    main()
