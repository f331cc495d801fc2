"""Make all pictures of the documentation, and a fingerprint of the data that each shows.

Run ``python tools/make_pictures.py`` for all of them, or name some: ``python
tools/make_pictures.py range.png``. Those of pages need playwright and chromium. The fingerprints
are in ``docs/_static/pictures.json``; ``tests/test_pictures.py`` compares them with the present
code.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import purecover as pu

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "_static"
PRINTS = OUT / "pictures.json"
COLORS = 64
BLUE, ORANGE, GREEN, GRAY = "#0072B2", "#D55E00", "#009E73", "0.55"
TRUE_AUC = 0.951
"""Of the example."""


def new(width: float = 7.2, height: float = 3.6) -> tuple[Figure, Any]:
    """An empty figure with one pair of axes."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")


def readme() -> Figure:
    """Observed, recovered and true ROC curve of the example."""
    from sklearn.metrics import roc_curve

    example = pu.load_example()
    report = pu.evaluate(example.scores, example.labeled, alpha=example.alpha)
    display = pu.RecoveredRocDisplay(report.roc, band=report.roc_band)
    figure, ax = new(5.4, 5)
    display.plot(ax)
    fpr, tpr, _ = roc_curve(example.truth, example.scores)
    ax.plot(fpr, tpr, color="black", linewidth=0.9, label="true classes (not used)")
    ax.legend(loc="lower right")
    return figure


def gallery(script: str, number: int = 1) -> Figure:
    """One of the figures of a script of the gallery."""
    import matplotlib.pyplot as plt

    plt.close("all")
    runpy.run_path(str(ROOT / "examples" / script))
    return plt.figure(number)


def repairs() -> Figure:
    """Raw points of a small sample, what two repairs make of them, and the true curve."""
    world = pu.simulate.binormal(1.5)
    sample = world.sample(60, 600, alpha=0.4, random_state=2)
    raw = pu.recover_roc(sample.counts, sample.proportions, repair="none")
    figure, ax = new(5, 5)
    ax.plot(raw.fpr_raw, raw.tpr_raw, ".", color="0.5", ms=3, label="raw points")
    kinds: dict[Any, str] = {"isotonic": "-", "hull": "--"}
    for repair, style in kinds.items():
        roc = pu.recover_roc(sample.counts, sample.proportions, repair=repair)
        ax.plot(roc.fpr, roc.tpr, style, lw=2, label=f"{repair} (AUC {roc.auc:.3f})")
    at = raw.thresholds[1:]
    ax.plot(world.fpr(at), world.tpr(at), color="black", lw=1, label=f"true (AUC {world.auc:.3f})")
    for line in (0, 1):
        ax.axhline(line, color="0.8", lw=0.8)
        ax.axvline(line, color="0.8", lw=0.8)
    ax.set(xlabel="False-positive rate", ylabel="True-positive rate", aspect="equal")
    ax.legend(loc="lower right")
    return figure


def draw_range() -> Figure:
    """The AUC for each alpha that the scores allow, and what assumptions select of it."""
    example = pu.load_example()
    report: Any = pu.evaluate(example.scores, example.labeled)
    pure: Any = pu.evaluate(example.scores, example.labeled, assume=["pure-top"])
    high = report.estimation.identification["alpha"][1]
    alphas = np.linspace(0, high, 200)
    aucs = [
        min(pu.recovery.auc_from_pu(report.auc_pu, pu.MixtureProportions(alpha)), 1.0)
        for alpha in alphas
    ]
    figure, ax = new()
    ax.plot(alphas, aucs, color=GRAY, lw=1.5, label="AUC if all labels are right")
    ax.plot(0, report.auc_pu, "s", color=GRAY, label="observed: no hidden positives")
    for each, color, label in (
        (report, BLUE, "estimated from comparable data"),
        (pure, ORANGE, "the highest scores are all positives"),
    ):
        interval, of_alpha = each.intervals["roc_auc"], each.estimation.intervals["alpha"]
        at = [of_alpha.estimate], [interval.estimate]
        ends = np.array([[max(at[0][0] - of_alpha.low, 0)], [max(of_alpha.high - at[0][0], 0)]])
        tall = [[interval.estimate - interval.low], [interval.high - interval.estimate]]
        ax.errorbar(*at, yerr=tall, xerr=ends, fmt="o", color=color, capsize=3, label=label)
    truth = float(example.truth[~example.labeled].mean())
    ax.plot(truth, TRUE_AUC, "k*", ms=11, label="true (not used)")
    ax.set(xlabel="alpha, share of positives among the unlabeled", ylabel="AUC", ylim=(0.7, 1.02))
    ax.legend(loc="lower right", fontsize="small")
    return figure


def ten_questions() -> Figure:
    """Judge ten rows: which they are, and the interval of the AUC after each answer."""
    import matplotlib.pyplot as plt

    example = pu.load_example()
    design = pu.audit.draw(example.scores, example.labeled)
    verdicts = example.truth[design.rows]
    lows, highs, middles = [], [], []
    for n in range(len(verdicts) + 1):
        known = verdicts.astype(object)
        known[n:] = None
        judged = design.answer(known) if n else None
        interval = pu.evaluate(
            example.scores, example.labeled, judged=judged, n_resamples=500
        ).intervals["roc_auc"]
        lows.append(interval.low)
        highs.append(interval.high)
        middles.append(interval.estimate)
    figure, (left, ax) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    bins = np.linspace(example.scores.min(), example.scores.max(), 50)
    left.hist(example.scores[~example.labeled], bins, color="0.8", label="unlabeled")
    for n, (row, yes) in enumerate(zip(design.rows, verdicts, strict=True), 1):
        color = GREEN if yes else ORANGE
        left.plot(example.scores[row], 6 + 7 * n, "o", color=color, ms=5)
    left.axvline(design.cuts[0], color="black", lw=0.8, ls=":")
    left.annotate("drawn from here →", (design.cuts[0], 98), ha="right", xytext=(-6, 0),
                  textcoords="offset points", fontsize="small")  # fmt: skip
    left.set(xlabel="score (green: judged positive)", ylabel="unlabeled rows", ylim=(0, 106))
    steps = np.arange(len(lows))
    ax.fill_between(steps, lows, highs, step="mid", color=BLUE, alpha=0.25, label="95 % interval")
    ax.plot(steps, middles, "o-", color=BLUE, ms=4, label="corrected AUC")
    ax.axhline(TRUE_AUC, color="black", lw=0.9, ls="--", label="true AUC (not used)")
    answers = ["yes" if yes else "no" for yes in verdicts]
    ax.set_xticks(steps, ["none", *(f"{n}\n{a}" for n, a in enumerate(answers, 1))], fontsize=8)
    ax.set(xlabel="answers: is this row positive?", ylabel="AUC", ylim=(0.7, 1.02))
    ax.legend(loc="lower right", fontsize="small")
    return figure


def hidden() -> Figure:
    """The AUC of all positives against theta, and the theta of real labels."""
    example = pu.load_example()
    report = pu.evaluate(example.scores, example.labeled, alpha=example.alpha, n_resamples=0)
    theta = np.linspace(0.5, 0.8, 61)
    found = report.hidden(theta=theta.tolist())
    figure, ax = new()
    ax.axvspan(0.54, 0.77, color="0.92", label="theta of labels that people gave")
    for values, color, label in (
        (found.auc_labeled, GRAY, "positives like the labeled ones"),
        (found.auc, BLUE, "all positives"),
        (found.auc_hidden, ORANGE, "hidden positives"),
    ):
        ax.plot(theta, np.broadcast_to(values, theta.shape), color=color, lw=1.8, label=label)
    at = pu.recovery.tipping_theta(report.counts, report.proportions, "auc", at_least=0.8)
    ax.plot(at, 0.8, "ko", ms=5)
    ax.annotate(f"below 0.8 if theta > {at:.2f}", (at, 0.8), xytext=(8, 6),
                textcoords="offset points", fontsize="small")  # fmt: skip
    ax.set(xlabel="theta, probability that a labeled positive outranks a hidden one", ylabel="AUC")
    ax.legend(loc="lower left", fontsize="small")
    return figure


def judging() -> Figure:
    """Which rows to judge: the high-scoring ones, or both sides of a threshold."""
    import matplotlib.pyplot as plt

    example = pu.load_example()
    figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained", sharey=True)
    bins = np.linspace(example.scores.min(), example.scores.max(), 50)
    panels: list[tuple[Any, Any, int, str]] = [
        (axes[0], "top", 10, "labels at random: ten high-scoring rows"),
        (axes[1], "stratified", 20, "clear cases labeled first: twenty on both sides"),
    ]
    for ax, kind, n, title in panels:
        design = pu.audit.draw(
            example.scores, example.labeled, n, design=kind, threshold=round(-1.1245666, 3)
        )
        ax.hist(example.scores[~example.labeled], bins, color="0.8", label="unlabeled")
        ax.hist(example.scores[example.labeled], bins, histtype="step", color=BLUE, label="labeled")
        at = example.scores[design.rows]
        ax.plot(at, np.full(at.size, 4), "^", color=ORANGE, ms=6, label="judge these")
        ax.axvline(design.cuts[0], color="black", lw=0.8, ls=":")
        ax.set_title(title, fontsize="medium")
        ax.set(xlabel="score")
    axes[0].set(ylabel="rows")
    axes[0].legend(loc="upper left", fontsize="small")
    return figure


DRAWN: dict[str, Callable[[], Figure]] = {
    "observed_vs_recovered.png": readme,
    "range.png": draw_range,
    "ten_questions.png": ten_questions,
    "judging.png": judging,
    "hidden.png": hidden,
    "repairs.png": repairs,
    "mixture.png": partial(gallery, "plot_02_mixture.py"),
    "precision.png": partial(gallery, "plot_03_precision.py"),
    "estimates.png": partial(gallery, "plot_04_unknown_alpha.py"),
    "noisy_labels.png": partial(gallery, "plot_05_noisy_labels.py"),
    "sensitivity.png": partial(gallery, "plot_06_sensitivity.py"),
    "threshold_costs.png": partial(gallery, "plot_07_threshold_costs.py"),
    "two_models.png": partial(gallery, "plot_08_two_models.py"),
    "grid_search.png": partial(gallery, "plot_09_grid_search.py"),
    "calibration.png": partial(gallery, "plot_10_calibration.py"),
    "evidence.png": partial(gallery, "plot_11_evidence.py"),
}


def data_of(figure: Figure) -> list[float]:
    """A few numbers that change when the data of a figure do: mean places of what it draws."""
    found: list[float] = []
    for ax in figure.axes:
        drawn: list[Any] = [line.get_xydata() for line in ax.lines]
        shapes = [(patch.get_path(), patch.get_patch_transform()) for patch in ax.patches]
        drawn += [path.transformed(place).vertices for path, place in shapes]
        for collection in ax.collections:
            drawn += [path.vertices for path in collection.get_paths()]
        for each in drawn:
            points = np.asarray(each, dtype=float)
            points = points[np.isfinite(points).all(axis=1)]
            if len(points):
                found += points.mean(axis=0).tolist()
        arrays: list[Any] = [image.get_array() for image in ax.images]
        found += [float(np.ma.mean(array)) for array in arrays]
    # Of many small parts, such as bars, their sums are enough.
    parts = np.array_split(found, min(len(found), 12))
    return [float(f"{part.sum():.4g}") for part in parts]


def report_of_the_example() -> pu.PUReport:
    """With alpha known and the truth left out."""
    example = pu.load_example()
    return pu.evaluate(example.scores, example.labeled, alpha=round(example.alpha, 4))


def make_monitor() -> pu.monitoring.ScoreMonitor:
    """Twelve days, the last of them from a worse model."""
    monitor = pu.monitoring.ScoreMonitor(alpha=0.25)
    for day in range(1, 13):
        world = pu.simulate.binormal(1.5 if day < 12 else 0.7)
        sample = world.sample(300, 3000, alpha=0.25, random_state=day)
        monitor.add(f"2026-11-{day:02}", sample.counts)
    return monitor


def make_many() -> Any:
    """Two scores on two tasks."""
    example, rng = pu.load_example(), np.random.default_rng(0)
    scores, labeled = example.scores, example.labeled
    tasks = {"odd": labeled, "odd, fewer labels": labeled & (rng.random(labeled.size) < 0.5)}
    table = {"score": scores, "rounded": scores.round(1), **tasks}
    return pu.evaluate_many(table, list(tasks), score=["score", "rounded"], alpha=0.4, keep=True)


# By picture, what its page is made of; the numbers of its text are the fingerprint.
SHOWN: dict[str, Callable[[], Any]] = {
    "report_page.png": report_of_the_example,
    "report_phone.png": report_of_the_example,
    "monitor_page.png": make_monitor,
    "many_page.png": make_many,
    "app_page.png": pu.load_example,
}


def numbers_of(thing: Any) -> list[float]:
    """The numbers of a result as it is printed."""
    return [float(number) for number in re.findall(r"-?\d+\.\d+|\d{2,}", str(thing))]


def save(picture: bytes, name: str) -> None:
    """Write a picture with few colors, which a page of text and lines does not miss."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    small = image.quantize(COLORS, dither=Image.Dither.NONE)
    small.save(OUT / name, optimize=True)
    print(f"{name}: {(OUT / name).stat().st_size:,} bytes")


def open_page(browser: Any, file: Path, **options: Any) -> Any:
    """A tab with the page, once its script has drawn."""
    tab = browser.new_page(**options)
    tab.goto(file.as_uri())
    # A page without sliders has no such mark, and has drawn by then.
    tab.wait_for_selector(
        "html[data-settled], .figures.whiskers svg.plot, table.many", state="attached"
    )
    return tab


def photograph(browser: Any, folder: Path, name: str) -> None:
    """Write one picture of a page."""
    file = folder / "page.html"
    if name == "app_page.png":
        with app() as address:
            tab = browser.new_page(viewport={"width": 900, "height": 1000})
            tab.goto(address)
            tab.click("text=Try it with example scores")
            tab.wait_for_selector("#form:visible")
            tab.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
            save(tab.screenshot(), name)
        return
    file.write_text(SHOWN[name]().to_html(), encoding="utf-8")
    if name == "report_phone.png":
        phone = {"width": 390, "height": 1080}
        tab = open_page(browser, file, viewport=phone, color_scheme="dark")
        tab.fill("#alpha-number", "0.36")
        tab.wait_for_selector("html[data-settled='1']", state="attached")
        tab.evaluate("document.activeElement.blur()")
    else:
        height = 1080 if name == "report_page.png" else 740
        tab = open_page(browser, file, viewport={"width": 1080, "height": height})
    save(tab.screenshot(), name)


@contextmanager
def app() -> Iterator[str]:
    """The local page, and its address."""
    command = [sys.executable, "-m", "purecover", "app", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            said = (re.search(r"http://\S+", line) for line in process.stderr or ())
            yield next(found[0] for found in said if found)
        finally:
            process.terminate()


def main() -> None:
    """Draw what is wanted."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*DRAWN, *SHOWN, []], metavar="NAME")
    wanted = parser.parse_args()
    names = wanted.names or [*DRAWN, *SHOWN]
    prints = json.loads(PRINTS.read_text(encoding="utf-8")) if PRINTS.exists() else {}
    for name in names:
        if name in DRAWN:
            plt.close("all")
            figure = DRAWN[name]()
            picture = io.BytesIO()
            figure.savefig(picture, dpi=120, metadata={"Software": None})
            save(picture.getvalue(), name)
            prints[name] = data_of(figure)
    if set(names) & set(SHOWN):
        sys.path.insert(0, str(ROOT))
        from tests.browsing import chromium

        with chromium() as browser, tempfile.TemporaryDirectory() as folder:
            for name in (each for each in names if each in SHOWN):
                photograph(browser, Path(folder), name)
                prints[name] = numbers_of(SHOWN[name]())
    rows = [f"{json.dumps(name)}: {json.dumps(prints[name])}" for name in sorted(prints)]
    PRINTS.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
