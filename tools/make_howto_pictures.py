"""Make pictures of how-to pages by the scripts of the gallery.

Run ``python tools/make_howto_pictures.py``.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes

from purecover._typing import Repair

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


def draw_repairs(ax: Axes) -> None:
    """Raw points of a small sample, what two repairs make of them, and the true curve."""
    import purecover as pu

    world = pu.simulate.binormal(1.5)
    sample = world.sample(60, 600, alpha=0.4, random_state=2)
    raw = pu.recover_roc(sample.counts, sample.proportions, repair="none")
    ax.plot(raw.fpr_raw, raw.tpr_raw, ".", color="0.5", ms=3, label="raw points")
    styles: dict[Repair, str] = {"isotonic": "-", "hull": "--"}
    for repair, style in styles.items():
        roc = pu.recover_roc(sample.counts, sample.proportions, repair=repair)
        ax.plot(roc.fpr, roc.tpr, style, lw=2, label=f"{repair} (AUC {roc.auc:.3f})")
    at = raw.thresholds[1:]
    true = f"true (AUC {world.auc:.3f})"
    ax.plot(world.fpr(at), world.tpr(at), color="black", lw=1, label=true)
    for line in (0, 1):
        ax.axhline(line, color="0.8", lw=0.8)
        ax.axvline(line, color="0.8", lw=0.8)
    ax.set(xlabel="False-positive rate", ylabel="True-positive rate", aspect="equal")
    ax.legend(loc="lower right")


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
    figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
    draw_repairs(ax)
    figure.savefig(ROOT / "docs" / "_static" / "repairs.png", dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main()
