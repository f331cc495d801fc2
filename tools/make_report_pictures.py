"""Make the pictures of the report page for the documentation; needs playwright and chromium.

Run ``python tools/make_report_pictures.py``.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import purecover as pu

ROOT = Path(__file__).parents[1]
DATA = ROOT / "src" / "purecover" / "data"
OUT = ROOT / "docs" / "_static"
COLORS = 64


def make_page() -> str:
    """The report of the example scores, with alpha known and the truth left out."""
    score, labeled, _ = np.loadtxt(
        DATA / "example_scores.csv", delimiter=",", skiprows=1, unpack=True
    )
    alpha = json.loads((DATA / "example_scores.json").read_text(encoding="utf-8"))["alpha"]
    return pu.evaluate(score, labeled, alpha=round(alpha, 4), random_state=0).to_html()


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
    tab.wait_for_selector("html[data-settled]", state="attached")
    return tab


def main() -> None:
    """Draw both pictures."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("no program called chromium; on Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "report.html"
        file.write_text(make_page(), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        tab = open_page(browser, file, viewport={"width": 1080, "height": 1080})
        save(tab.screenshot(), "report_page.png")
        tab = open_page(browser, file, viewport={"width": 390, "height": 1080}, color_scheme="dark")
        tab.fill("#alpha-number", "0.35")
        tab.wait_for_selector("html[data-settled='1']", state="attached")
        tab.evaluate("document.activeElement.blur()")
        save(tab.screenshot(), "report_phone.png")
        browser.close()


if __name__ == "__main__":
    main()
