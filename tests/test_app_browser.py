"""The local page in a real browser: by mouse and keyboard, wide and narrow, with hostile files."""

from __future__ import annotations

import csv
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("playwright.sync_api")
pytest.importorskip("uvicorn")

from tests.app_server import EXAMPLE, command
from tests.browsing import violations

import purecover as pu
from purecover.documents.summary import headline

pytestmark = pytest.mark.browser

HOSTILE = ["</script><img src=x onerror=alert(1)>", '"><b>', "\u202eevil", "x" * 10_000]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with command("--max-upload", "1MB") as (_, printed):
        yield printed


class Visit:
    """A page with all it complained of, and all it asked for."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.watch(self.page)
        self.page.goto(address)

    def watch(self, page: Any) -> None:
        page.on("console", lambda said: self.complaints.append(said.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", lambda request: self.asked.append(request.url))

    def ready(self, name: str = "example_scores.csv") -> None:
        """Wait for the report of a file; the list may have those of earlier visits."""
        self.page.wait_for_selector(f"#report-list li:has-text('{name}')", timeout=60_000)

    def remove(self) -> None:
        self.page.click("text=Remove")
        self.page.wait_for_selector("#reports", state="hidden")

    def open_report(self) -> Any:
        """The report in its own tab, loaded a second time, watched from the start."""
        with self.context.expect_page() as opened:
            self.page.click("text=Open the report")
        report = opened.value
        # A page that is still on its way to its own process cannot be loaded again.
        report.wait_for_url(lambda url: url != "about:blank")
        report.wait_for_load_state("load")
        self.watch(report)
        report.reload()
        return report

    def close(self) -> None:
        self.context.close()


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Visit]:
    opened = Visit(browser, address, viewport={"width": 1100, "height": 900})
    yield opened
    opened.close()


def test_from_the_example_to_the_report(visit: Visit, address: str, tmp_path: Path) -> None:
    page = visit.page
    assert page.url == address.partition("#")[0]  # the token has left the address
    page.click("text=Try it with example scores")
    page.wait_for_selector("#form:visible")
    assert page.locator("#preview tbody tr").count() == 8
    assert "300 “1”" in page.inner_text("#labeled-values")
    assert page.locator("#blanks").is_hidden()
    page.check("input[name=known][value=exactly]")
    page.fill("#alpha", "0.4048")
    page.click("text=More settings")
    page.fill("#n_resamples", "100")
    page.click("text=Make the report")
    visit.ready()
    assert "AUC 0.92" in page.inner_text("#report-list")
    report = visit.open_report()
    assert "AUC" in report.inner_text("body")
    # It has no rights of this site: no secret, no answer from the server.
    assert report.evaluate("self.origin") == "null"
    with page.expect_download() as download:
        page.click("text=Download JSON")
    download.value.save_as(tmp_path / "report.json")
    assert download.value.suggested_filename == "example_scores-report.json"
    assert json.loads((tmp_path / "report.json").read_text())["proportions"]["alpha"] == 0.4048
    with page.expect_download() as download:
        page.click("text=Download HTML")
    assert download.value.suggested_filename == "example_scores-report.html"
    visit.remove()
    assert visit.complaints == []
    assert all(url.startswith((address.partition("#")[0], "data:", "blob:")) for url in visit.asked)


def test_by_keyboard_alone(visit: Visit) -> None:
    page = visit.page

    def press_until(selector: str, key: str = "Tab") -> None:
        for _ in range(40):
            if page.locator(selector).evaluate("element => element === document.activeElement"):
                return
            page.keyboard.press(key)
        pytest.fail(f"{selector} cannot be reached")

    press_until("#file")
    press_until("#example")
    page.keyboard.press("Enter")
    page.wait_for_selector("#form:visible")
    press_until("#score")
    press_until("input[name=known][value=nothing]")
    page.keyboard.press("ArrowDown")
    press_until("#alpha")
    page.keyboard.type("0.4")
    press_until("summary")
    page.keyboard.press("Enter")
    press_until("#n_resamples")
    page.keyboard.type("0")
    press_until("#run")
    page.keyboard.press("Enter")
    visit.ready()
    press_until("text=Open the report")
    visit.remove()
    assert visit.complaints == []


CUT = """() => [...document.querySelectorAll("#judging *")]
  .filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth)
  .map((each) => each.id || each.className || each.tagName)"""
"""Parts of the dialog that are wider than their place."""


@pytest.mark.parametrize("width", [1400, 390])
def test_ten_rows_are_judged_by_key_or_by_touch(
    browser: Any, address: str, width: int, tmp_path: Path
) -> None:
    file = tmp_path / "records.csv"
    rows = list(csv.DictReader(EXAMPLE.read_text().splitlines()))
    records = [
        {"score": row["score"], "labeled": row["labeled"], "text": f"<b>{i} " + "word " * (i % 60),
         "link": f"https://example.org/{'x' * 90}/{i}"}
        for i, row in enumerate(rows)
    ]  # fmt: skip
    with file.open("w", newline="") as out:
        table = csv.DictWriter(out, list(records[0]))
        table.writeheader()
        table.writerows(records)
    visit = Visit(browser, address, viewport={"width": width, "height": 800}, bypass_csp=True)
    page, seen = visit.page, []
    page.set_input_files("#file", file)
    page.wait_for_selector("#form:visible")
    page.check("text=I can judge ten rows")
    page.click("#judge-start")
    for n in range(10):
        page.wait_for_selector(f"#card-title:has-text('· {n} judged')")
        seen.append(int(page.inner_text("#card-cells dd >> nth=0").split()[0].removeprefix("<b>")))
        shown = page.inner_text("#judging")
        assert rows[seen[-1]]["score"] not in shown
        assert page.locator("#card-cells dt").all_inner_texts() == ["text", "link"]
        assert page.evaluate(CUT) == []
        said = "yes" if rows[seen[-1]]["truth"] == "1" else "no"
        if width > 1000:
            page.keyboard.press(said[0])
        else:
            page.click(f"#judging button[data-said={said}]")
    page.wait_for_selector("#card-title:has-text('10 judged: that will do')")
    assert len(set(seen)) == 10
    assert violations(page) == []
    page.keyboard.press("b")
    assert "You said" in page.inner_text("#card-cells")
    page.click("#judging button[data-said=quit]")
    with page.expect_download() as download:
        page.click("#answers")
    download.value.save_as(tmp_path / "records.judged.csv")
    page.click("text=Make the report")
    visit.ready(file.name)
    # The report is that of the command, with the answers of the page.
    scores, labeled = ([float(row[name]) for row in rows] for name in ("score", "labeled"))
    judged = pu.audit.JudgedRows.read_csv(tmp_path / "records.judged.csv", scores, labeled)
    assert sorted(judged.design.rows) == sorted(seen)
    report = pu.evaluate(scores, labeled, judged=judged)
    assert headline(report).lines[0] in page.inner_text("#report-list")
    visit.remove()
    assert visit.complaints == []
    visit.close()


def test_a_report_can_be_canceled(visit: Visit) -> None:
    page = visit.page
    page.click("text=Try it with example scores")
    page.wait_for_selector("#form:visible")
    page.click("text=More settings")
    page.fill("#n_resamples", "20000")
    before = page.locator("#report-list li").count()
    page.click("text=Make the report")
    page.click("text=Cancel")
    page.wait_for_selector("#working", state="hidden")
    assert page.inner_text("#job-status") == "Canceled."
    assert page.locator("#report-list li").count() == before
    assert page.locator("#job-problem").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_violation_of_accessibility(browser: Any, address: str, scheme: str) -> None:
    visit = Visit(browser, address, color_scheme=scheme, bypass_csp=True)
    try:
        visit.page.click("text=Try it with example scores")
        visit.page.wait_for_selector("#form:visible")
        visit.page.check("input[name=known][value=exactly]")
        visit.page.click("text=More settings")
        visit.page.click("text=Make the report")  # complains of alpha
        assert violations(visit.page) == []
    finally:
        visit.close()


def test_without_the_token_the_page_says_what_to_do(browser: Any, address: str) -> None:
    visit = Visit(browser, address.partition("#")[0])
    try:
        visit.page.wait_for_selector("#job-problem:visible")
        said = visit.page.inner_text("main")
        assert "Open the address that purecover app printed" in said
        visit.page.goto(address)  # in the same tab, where only what is behind # changes
        visit.page.wait_for_selector("#job-problem", state="hidden")
        visit.page.click("text=Try it with example scores")
        visit.page.wait_for_selector("#form:visible")
    finally:
        visit.close()


class Neighbor(BaseHTTPRequestHandler):
    """A server of somebody else on another port of this machine."""

    seen: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.seen.append(str(self.headers))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><p>hello</p>")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def test_another_port_of_this_machine_gets_no_secret(visit: Visit, address: str) -> None:
    """Cookies ignore ports: whoever listens on another one would get them with every visit."""
    page = visit.page
    page.click("text=Try it with example scores")
    page.wait_for_selector("#form:visible")
    secret = page.evaluate("localStorage.getItem('token')")
    with ThreadingHTTPServer(("127.0.0.1", 0), Neighbor) as neighbor:
        threading.Thread(target=neighbor.serve_forever, daemon=True).start()
        page.goto(f"http://127.0.0.1:{neighbor.server_port}/")
        assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [
            0, 0, "",
        ]  # fmt: skip
        base = address.partition("#")[0]
        asked = "url => fetch(url, {credentials: 'include'}).then(() => 'read', () => 'refused')"
        assert page.evaluate(asked, f"{base}api/jobs") == "refused"
        neighbor.shutdown()
    assert Neighbor.seen
    assert not any("cookie" in headers.lower() or secret in headers for headers in Neighbor.seen)
    assert visit.context.cookies() == []
    # A second tab of the page needs no token.
    page.goto(base)
    page.click("text=Try it with example scores")
    page.wait_for_selector("#form:visible")


def test_the_file_for_the_browser_leads_to_the_page(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command of the browser is told of a file of the user's, and may block."""
    told = tmp_path / "told"
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$@" > {told}.part; mv {told}.part {told}; sleep 600\n')
    script.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{script} %s")
    with command(browser="--browser") as (_, printed):
        for _ in range(600):
            if told.exists():
                break
            time.sleep(0.05)
        given = told.read_text().strip()
        assert given.startswith("file://")
        assert printed.partition("=")[2] not in given
        visit = Visit(browser, given)
        try:
            visit.page.wait_for_url(printed.partition("#")[0])
            visit.page.click("text=Try it with example scores")
            visit.page.wait_for_selector("#form:visible")
            assert visit.complaints == []
        finally:
            visit.close()
