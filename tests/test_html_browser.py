"""The report page in a real browser: what a reader can do with it, and it cannot do to them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from purecover import (
    MixtureProportions,
    PUReport,
    ScoreCounts,
    evaluate,
    recover_auc,
    recover_metrics,
    simulate,
)
from purecover.html import render_report
from purecover.html.payload import make_payload
from purecover.recovery import recover_confusion

pytestmark = pytest.mark.browser

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
TOLERANCE = 1e-6

HOSTILE = (
    "</script></style></title><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>"
    "\"'`&{{ 7*7 }}\u202edesrever\u2066 " + "x" * 10_000
)


# -- pages --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report() -> PUReport:
    sample = simulate.binormal(1.5).sample(300, 3000, alpha=0.25, random_state=0)
    return evaluate(
        sample.scores, sample.labeled, alpha=0.25, truth=sample.truth, n_resamples=60,
        random_state=0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def estimated() -> PUReport:
    sample = simulate.beta().sample(1000, 4000, alpha=0.3, beta=0.9, random_state=1)
    return evaluate(sample.scores, sample.labeled, n_resamples=40, random_state=0)


@pytest.fixture(scope="module")
def browser() -> Generator[Any, None, None]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is missing: install requirements/dev.txt"
    )
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no program called chromium; on Debian: apt-get install chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def hostile(estimated: PUReport) -> str:
    """A page with hostile words wherever words can come from outside."""
    found = estimated.estimation
    assert found is not None
    checks = tuple(
        replace(check, title=HOSTILE, message=HOSTILE, hint=HOSTILE, status=status)
        for check, status in zip(estimated.checks, ("fired", "quiet"), strict=False)
    )
    others = {HOSTILE + str(i): pair for i, pair in enumerate(found.others.values())}
    report = replace(
        estimated,
        checks=checks,
        scores_from=HOSTILE,
        estimation=replace(found, estimator=HOSTILE, spread=others, notes=(HOSTILE,)),
    )
    return render_report(report, title=HOSTILE, command=HOSTILE)


Opener = Callable[..., Any]


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Generator[Opener, None, None]:
    """Opens a page by file://; afterwards, nothing was complained of, asked for or dialogued."""
    complaints: list[str] = []
    requests: list[str] = []
    contexts = []

    def show(page: str | PUReport, **options: Any) -> Any:
        text = page if isinstance(page, str) else render_report(page)
        file = tmp_path / f"page{len(contexts)}.html"
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(15_000)
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("dialog", lambda dialog: complaints.append(dialog.message))
        # A picture that the page draws for itself is data, not a request.
        tab.on("request", lambda r: r.url.startswith("data:") or requests.append(r.url))
        tab.goto(file.as_uri())
        if options.get("java_script_enabled", True):
            tab.wait_for_selector("html[data-settled]", state="attached")
        return tab

    yield show
    for context in contexts:
        context.close()
    assert complaints == []
    assert len(requests) == len(contexts), requests


def fill(tab: Any, **numbers: float) -> None:
    """Type into the fields and wait until the page has followed."""
    for name, value in numbers.items():
        act(tab, lambda name=name, value=value: tab.fill(f"#{name.replace('_', '-')}", repr(value)))


def act(tab: Any, action: Callable[[], object]) -> None:
    before = int(tab.get_attribute("html", "data-settled"))
    action()
    tab.wait_for_function("n => Number(document.documentElement.dataset.settled) > n", arg=before)


def values(tab: Any, column: str) -> dict[str, float | None]:
    """The unrounded figures of a column of the table of metrics."""
    found: dict[str, str] = tab.eval_on_selector_all(
        f'section[aria-labelledby="metrics"] tr[data-metric] [data-column="{column}"]',
        "cells => Object.fromEntries("
        "cells.map(c => [c.parentElement.dataset.metric, c.dataset.value ?? 'as written']))",
    )
    return {name: None if v == "null" else float(v) for name, v in found.items()}


def texts(tab: Any, selector: str) -> list[str]:
    return [text.strip() for text in tab.locator(selector).all_text_contents()]


# -- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "beta", "at"),
    [(0.1, 1.0, 100), (0.31, 1.0, 700), (0.0, 0.9, 1200), (0.2, 0.85, 20), (0.4, 1.0, -2)],
)
def test_sliders_compute_what_python_computes(
    show: Opener, report: PUReport, alpha: float, beta: float, at: int
) -> None:
    tab = show(report)
    counts = ScoreCounts.from_dict(make_payload(report)["counts"])
    threshold = float(counts.thresholds[at])
    fill(tab, alpha_number=alpha, beta_number=beta, threshold_number=threshold)
    fill(tab, cost_fn=5.0, cost_fp=0.5)
    proportions = MixtureProportions(alpha, beta)
    expected = recover_metrics(counts, proportions, threshold=threshold, cost_fn=5.0, cost_fp=0.5)
    for column, figures in (("recovered", expected), ("observed", expected.observed)):
        found = values(tab, column)
        assert set(found) == set(report.metrics) - {"f_beta"}
        for name, value in found.items():
            if value is None:
                assert not np.isfinite(figures[name])
            else:
                assert value == pytest.approx(figures[name], abs=TOLERANCE), (column, name)
    matrix = recover_confusion(counts, proportions, threshold)
    for name in ("tp", "fp", "fn", "tn", "flagged"):
        value = float(tab.get_attribute(f'[data-cell="{name}"]', "data-value"))
        assert value == pytest.approx(getattr(matrix, name), abs=1e-6)
    auc = recover_auc(counts, proportions)
    assert texts(tab, "[data-tile=roc_auc]") == [f"{auc:.3f}"]
    label = tab.get_attribute("figure[data-chart=roc] svg", "aria-label")
    assert f"the recovered one {auc:.3f}" in label
    assert texts(tab, "#flagged") == [f"A{str(matrix)[1:]}."]


def test_the_reports_own_figures_come_back(show: Opener, report: PUReport) -> None:
    tab = show(report)
    everything = "main td, main th, #flagged, #state"
    before = texts(tab, everything)
    legend = texts(tab, "figure[data-chart=roc] .legend text")
    assert "95 % band, pointwise" in legend
    assert tab.is_disabled("#back")
    fill(tab, alpha_number=0.4, threshold_number=0.0, cost_fn=3.0)
    intervals = texts(tab, "[data-column=interval]")
    assert set(intervals) == {"–"}
    assert "95 % band, pointwise" not in texts(tab, "figure[data-chart=roc] .legend text")
    for note in ("#stale", "#bandless"):
        assert "alpha 0.25 and beta 1" in texts(tab, note)[0]
    assert texts(tab, "#metrics ~ .scroll tr[data-metric=cost] th") == [
        "Cost (miss 3, false alarm 1)"
    ]
    act(tab, lambda: tab.click("#back"))
    assert texts(tab, everything) == before
    assert texts(tab, "figure[data-chart=roc] .legend text") == legend
    assert tab.is_hidden("#stale")
    assert tab.is_hidden("#bandless")
    assert tab.input_value("#alpha-number") == "0.25"


@pytest.mark.parametrize(("alpha", "beta"), [(0.7, 1.0), (0.5, 0.4), (0.9, 0.9)])
def test_values_that_do_not_fit_are_said_not_to(
    show: Opener, report: PUReport, alpha: float, beta: float
) -> None:
    tab = show(report)
    fill(tab, alpha_number=alpha, beta_number=beta)
    said = texts(tab, "#state")[0]
    if alpha < beta:
        assert "do not fit" in said
        direct = 0.5 + (report.auc_pu - 0.5) / (beta - alpha)
        assert f"the AUC would be {direct:.3f}, outside [0, 1]" in said
        most = beta - (2 * report.auc_pu - 1)
        assert float(re.findall(r"at most ([\d.]+\d)", said)[0]) == pytest.approx(most, abs=1e-4)
    else:
        assert "Alpha must be below beta" in said
    assert set(texts(tab, "[data-column=recovered], [data-cell], [data-tile]")) == {"–"}
    for name in ("roc", "pr"):
        legend = texts(tab, f"figure[data-chart={name}] .legend text")
        assert not [text for text in legend if text.startswith("recovered")]
    act(tab, lambda: tab.click("#back"))
    assert "do not fit" not in texts(tab, "#state")[0]


def test_undefined_and_odd_figures_do_no_harm(show: Opener) -> None:
    rng = np.random.default_rng(0)
    weights = rng.exponential(size=200)
    scores = np.round(rng.normal(size=200) + np.repeat([1.0, 0.0], 100), 1)
    labels = np.repeat([1, 0, -1], [100, 60, 40])
    tab = show(
        evaluate(
            scores, labels, negative_label=-1, alpha=0.1, sample_weight=weights, top_k=5,
            threshold=1e9, n_resamples=0,
        )
    )  # fmt: skip
    assert texts(tab, "[data-tile=precision]") == ["undefined"]
    fill(tab, alpha_number=0.12)
    assert texts(tab, "[data-tile=precision]") == ["undefined"]
    constant = evaluate([1.0] * 4, [1, 0, 0, 1], alpha=0.1, n_resamples=0)
    tab = show(constant)
    fill(tab, alpha_number=0.3)
    assert texts(tab, "[data-tile=roc_auc]") == ["0.500"]


# -- people -------------------------------------------------------------------------------------


def test_the_keyboard_is_enough(show: Opener, report: PUReport) -> None:
    tab = show(report)
    reached = []
    for _ in range(80):
        tab.keyboard.press("Tab")
        reached.append(
            tab.evaluate(
                "(() => { const e = document.activeElement;"
                " return e.id || e.getAttribute('aria-label') || e.textContent; })()"
            )
        )
        if reached[-1] == "alpha":
            act(tab, lambda: tab.keyboard.press("ArrowRight"))
            assert tab.input_value("#alpha-number") == "0.251"
        if reached[-1] == "threshold":
            before = float(tab.input_value("#threshold-number"))
            act(tab, lambda: tab.keyboard.press("ArrowRight"))
            assert float(tab.input_value("#threshold-number")) > before
        if reached[-1] == "cost-fn":
            act(tab, lambda: tab.keyboard.type("7"))
        if reached[-1] == "cost-fp":
            break
    expected = ["theme", "alpha", "alpha-number", "beta", "threshold", "review", "back", "cost-fn"]
    assert [name for name in reached if name in expected][: len(expected)] == expected
    assert "SVG: save the ROC curve" in reached
    tab.focus("#back")
    act(tab, lambda: tab.keyboard.press("Enter"))
    assert tab.input_value("#alpha-number") == "0.25"
    assert tab.evaluate("document.activeElement.id") == "alpha"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert tab.evaluate(outline) != "none"


@pytest.mark.parametrize(
    ("scheme", "width", "alphas"), [("light", 1200, (None, 0.3)), ("dark", 360, (None, 0.8))]
)
def test_no_grave_barriers(
    show: Opener,
    report: PUReport,
    estimated: PUReport,
    scheme: str,
    width: int,
    alphas: tuple[float | None, float],
) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="axe-playwright-python is missing: install requirements/dev.txt",
    )
    for each, alpha in zip((estimated, report), alphas, strict=True):
        tab = show(each, color_scheme=scheme, viewport={"width": width, "height": 900})
        if alpha is not None:
            fill(tab, alpha_number=alpha)
        tab.click("summary")
        found = axe.Axe().run(tab).response["violations"]
        assert [
            (v["id"], v["nodes"][0]["html"][:200])
            for v in found
            if v["impact"] in {"serious", "critical"}
        ] == []


@pytest.mark.parametrize("width", [360, 768])
def test_nothing_runs_off_a_small_screen(
    show: Opener, report: PUReport, estimated: PUReport, hostile: str, width: int
) -> None:
    for page in (report, estimated, hostile):
        tab = show(page, viewport={"width": width, "height": 740})
        for _ in range(2):
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            for figure in tab.locator("figure svg").all():
                box = figure.bounding_box()
                assert box is None or box["x"] + box["width"] <= width
            fill(tab, alpha_number=0.9)


def test_without_scripts_the_page_is_still_a_report(show: Opener, report: PUReport) -> None:
    tab = show(report, java_script_enabled=False)
    assert tab.locator("#panel").is_hidden()
    assert tab.locator("#theme").is_hidden()
    for name in ("roc", "pr"):
        assert tab.locator(f"figure[data-chart={name}] svg").is_visible()
    assert tab.locator("#scores").is_hidden()
    assert f"{report.auc:.4f}" in texts(tab, "[data-metric=roc_auc] td")


# -- saving -------------------------------------------------------------------------------------


# -- hostile words ------------------------------------------------------------------------------


def test_the_policy_refuses_other_scripts_styles_and_requests(
    browser: Any, report: PUReport, tmp_path: Path
) -> None:
    file = tmp_path / "page.html"
    file.write_text(render_report(report), encoding="utf-8")
    tab = browser.new_page()
    tab.goto(file.as_uri())
    refused = tab.evaluate(
        """async () => {
          const seen = [];
          document.addEventListener("securitypolicyviolation", (event) => {
            seen.push(event.effectiveDirective);
          });
          const intruders = [["script", "window.hurt = 1"], ["style", "body { color: red }"]];
          for (const [tag, text] of intruders) {
            const node = document.createElement(tag);
            node.textContent = text;
            document.body.append(node);
          }
          document.body.setAttribute("onclick", "window.hurt = 1");
          await fetch("https://example.org/").catch(() => 0);
          new Image().src = "https://example.org/x.png";
          await new Promise((resolve) => setTimeout(resolve, 200));
          return [seen, window.hurt ?? null];
        }"""
    )
    tab.close()
    assert set(refused[0]) >= {"script-src-elem", "style-src-elem", "connect-src", "img-src"}
    assert refused[1] is None


def saved(tab: Any, name: str, form: str) -> bytes:
    with tab.expect_download() as download:
        tab.click(f"figure[data-chart={name}] .downloads button:has-text('{form}')")
    assert download.value.suggested_filename == f"purecover-{name}.{form.lower()}"
    return Path(download.value.path()).read_bytes()
