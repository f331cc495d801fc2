"""Make the pictures of the report page for the documentation; needs playwright and chromium.

Run ``python tools/make_report_pictures.py``. With ``--screens FOLDER`` all pages that the package
writes are drawn instead, as screens of 1400 and 390 pixels, light and dark, and as printed sheets,
for somebody to look at.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import purecover as pu

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "_static"
COLORS = 64


def make_page() -> str:
    """The report of the example scores, with alpha known and the truth left out."""
    example = pu.load_example()
    return pu.evaluate(example.scores, example.labeled, alpha=round(example.alpha, 4)).to_html()


def make_pages() -> Iterator[tuple[str, str]]:
    """Pages that differ in what they have to say, by name."""
    example, rng = pu.load_example(), np.random.default_rng(0)
    scores, labeled = example.scores, example.labeled
    yield "known", make_page()
    yield "unsure", pu.evaluate(scores, labeled, truth=example.truth, n_resamples=200).to_html()
    rare = pu.simulate.binormal(2.5).sample(200, 20_000, alpha=0.01, random_state=0)
    found = pu.evaluate(rare.scores, rare.labeled, alpha=0.01, n_resamples=200, review=300)
    yield "rare", found.to_html(title="Fraud model of March")
    yield "contradicted", pu.evaluate(scores, labeled, alpha=0.8, n_resamples=0).to_html()
    columns = {"logistic": scores, "rounded": scores.round(1), "noisy": scores + example.truth / 2}
    yield "compared", pu.compare_scores(columns, labeled, alpha=0.4, n_resamples=200).to_html()
    tasks = {"odd": labeled, "odd, fewer labels": labeled & (rng.random(labeled.size) < 0.5)}
    table = {"score": scores, "rounded": scores.round(1), **tasks}
    many = pu.evaluate_many(table, list(tasks), score=["score", "rounded"], alpha=0.4, keep=True)
    yield "many", many.to_html()
    yield "monitor", make_monitor().to_html()


def make_monitor() -> pu.monitoring.ScoreMonitor:
    """Twelve days, the last of them from a worse model."""
    monitor = pu.monitoring.ScoreMonitor(alpha=0.25)
    for day in range(1, 13):
        world = pu.simulate.binormal(1.5 if day < 12 else 0.7)
        sample = world.sample(300, 3000, alpha=0.25, random_state=day)
        monitor.add(f"2026-11-{day:02}", sample.counts)
    return monitor


def save(picture: bytes, name: str) -> None:
    """Write a picture with few colors, which a page of text and lines does not miss."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    small = image.quantize(COLORS, dither=Image.Dither.NONE)
    small.save(OUT / name, optimize=True)
    print(f"{(OUT / name).relative_to(ROOT)}: {(OUT / name).stat().st_size:,} bytes")


def open_page(browser: Any, file: Path, **options: Any) -> Any:
    """A tab with the page, once its script has drawn."""
    tab = browser.new_page(**options)
    tab.goto(file.as_uri())
    # A page without sliders has no such mark, and has drawn by then.
    tab.wait_for_selector(
        "html[data-settled], .figures.whiskers svg.plot, table.many", state="attached"
    )
    return tab


def make_screens(browser: Any, folder: Path) -> None:
    """All pages as screens and sheets."""
    for name, page in make_pages():
        file = folder / f"{name}.html"
        file.write_text(page, encoding="utf-8")
        for width, height in ((1400, 900), (390, 844)):
            for scheme in ("light", "dark"):
                size = {"width": width, "height": height}
                tab = open_page(browser, file, viewport=size, color_scheme=scheme)
                tab.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
                tab.close()
        # 96 pixels an inch, less margins of 10 mm: the width of A4.
        tab = open_page(browser, file, viewport={"width": 718, "height": 1047})
        for sheet in ("A4", "Letter"):
            margin = dict.fromkeys(("top", "right", "bottom", "left"), "10mm")
            tab.pdf(path=folder / f"{name}-{sheet}.pdf", format=sheet, margin=margin)
        tab.emulate_media(media="print")
        tab.screenshot(path=folder / f"{name}-print.png", full_page=True)
        tab.close()
        print(f"{folder / name}*")


def make_pictures(browser: Any, folder: Path) -> None:
    """The pictures of the documentation."""
    file = folder / "report.html"
    file.write_text(make_page(), encoding="utf-8")
    tab = open_page(browser, file, viewport={"width": 1080, "height": 1080})
    save(tab.screenshot(), "report_page.png")
    tab = open_page(browser, file, viewport={"width": 390, "height": 1080}, color_scheme="dark")
    tab.fill("#alpha-number", "0.35")
    tab.wait_for_selector("html[data-settled='1']", state="attached")
    tab.evaluate("document.activeElement.blur()")
    save(tab.screenshot(), "report_phone.png")
    file.write_text(make_monitor().to_html(), encoding="utf-8")
    tab = open_page(browser, file, viewport={"width": 1080, "height": 740})
    save(tab.screenshot(), "monitor_page.png")
    with app() as address:
        tab = browser.new_page(viewport={"width": 900, "height": 1000})
        tab.goto(address)
        tab.click("text=Try it with example scores")
        tab.wait_for_selector("#form:visible")
        tab.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        save(tab.screenshot(), "app_page.png")


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
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--screens", type=Path, metavar="FOLDER")
    wanted = parser.parse_args().screens
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("no program called chromium; on Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        if wanted is None:
            make_pictures(browser, Path(folder))
        else:
            wanted.mkdir(parents=True, exist_ok=True)
            make_screens(browser, wanted.resolve())
        browser.close()


if __name__ == "__main__":
    main()
