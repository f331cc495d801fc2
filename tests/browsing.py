"""Chromium for tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@contextmanager
def chromium() -> Generator[Any, None, None]:
    """A headless browser; the test is skipped where there is none."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is missing: install requirements/dev.txt"
    )
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("no program called chromium; on Debian: apt-get install chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


def violations(tab: Any) -> list[tuple[str, str]]:
    """Serious violations of accessibility rules: the rule and where."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="axe-playwright-python is missing: install requirements/dev.txt",
    )
    found = axe.Axe().run(tab).response["violations"]
    return [
        (each["id"], each["nodes"][0]["html"][:200])
        for each in found
        if each["impact"] in {"serious", "critical"}
    ]
