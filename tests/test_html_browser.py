"""The report page in a real browser: what a reader can do with it, and it cannot do to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browsing import violations

import purecover as pu
from purecover.html.page import render_report
from purecover.html.payload import MAX_CELLS, make_payload, thin_counts

pytestmark = pytest.mark.browser

TOLERANCE = 2.6e-5
"""Half a step of packed numbers."""
HEAD = ("roc_auc", "auc_pr", "recall", "specificity", "precision", "f1")

HOSTILE = (
    "</script></style></title><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>"
    "\"'`&{{ 7*7 }}\u202edesrever\u2066 " + "x" * 10_000
)


@pytest.fixture(scope="module")
def report() -> pu.PUReport:
    sample = pu.simulate.binormal(1.5).sample(300, 3000, alpha=0.25, random_state=0)
    return pu.evaluate(
        sample.scores, sample.labeled, alpha=0.25, truth=sample.truth, n_resamples=60,
        random_state=0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def estimated() -> pu.PUReport:
    sample = pu.simulate.beta().sample(1000, 4000, alpha=0.3, beta=0.9, random_state=1)
    return pu.evaluate(sample.scores, sample.labeled, n_resamples=40, random_state=0)


@pytest.fixture(scope="module")
def rare() -> pu.PUReport:
    """Sixty thousand rows, of which few are positive."""
    sample = pu.simulate.binormal(2.5).sample(300, 60_000, alpha=0.01, random_state=0)
    return pu.evaluate(
        sample.scores, sample.labeled, alpha=0.01, truth=sample.truth, n_resamples=40,
        random_state=0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def hostile(estimated: pu.PUReport) -> str:
    """A page with hostile words wherever words can come from outside."""
    found = estimated.estimation
    assert found is not None
    checks = tuple(
        replace(check, title=HOSTILE, message=HOSTILE, hint=HOSTILE, status=status)
        for check, status in zip(estimated.checks, ("fired", "quiet"), strict=False)
    )
    report = replace(
        estimated,
        checks=checks,
        scores_from=HOSTILE,
        estimation=replace(found, estimator=HOSTILE, notes=(HOSTILE,)),
    )
    return render_report(report, title=HOSTILE, command=HOSTILE)


Opener = Callable[..., Any]


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Generator[Opener, None, None]:
    """Opens a page by file://; afterwards, nothing was complained of, asked for or dialogued."""
    complaints: list[str] = []
    requests: list[str] = []
    contexts = []

    def show(page: str | pu.PUReport, **options: Any) -> Any:
        text = page if isinstance(page, str) else render_report(page)
        file = tmp_path / f"page{len(contexts)}.html"
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(60_000)
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
    """The unrounded figures of a column of the table of all metrics."""
    found: dict[str, str] = tab.eval_on_selector_all(
        f'#metrics tr[data-metric] [data-column="{column}"]',
        "cells => Object.fromEntries("
        "cells.map(c => [c.parentElement.dataset.metric, c.dataset.value ?? 'as written']))",
    )
    return {name: None if v == "null" else float(v) for name, v in found.items()}


def test_a_value_that_is_hardly_known_stays_a_dash(show: Opener) -> None:
    """At another threshold, too, but not at an alpha that is set on the page."""
    example = pu.load_example()
    report = pu.evaluate(example.scores, example.labeled, n_resamples=60, random_state=0)
    assert {"precision", "tp"} <= set(report.hardly_known)
    tab = show(report)
    unfold(tab)
    cells = ['tr[data-metric="precision"] [data-column="recovered"]', '[data-cell="tp"]']
    for number, dashed in (
        ({}, True),
        ({"threshold_number": 0.0}, True),
        ({"alpha_number": 0.3}, False),
    ):
        if number:
            fill(tab, **number)
        for cell in cells:
            assert [text.startswith("–") for text in texts(tab, cell)] == [dashed] * len(
                texts(tab, cell)
            )


def texts(tab: Any, selector: str) -> list[str]:
    return [text.strip() for text in tab.locator(selector).all_text_contents()]


def unfold(tab: Any) -> None:
    tab.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    tab.wait_for_timeout(100)


def big(tab: Any) -> str:
    return str(tab.inner_text("output[data-big]"))


def test_the_page_shows_what_python_computes(show: Opener, report: pu.PUReport) -> None:
    """One of the places of tests/test_html.py, as it stands on the page."""
    tab = show(report)
    unfold(tab)
    grid = make_payload(report)["grid"]
    counts = pu.ScoreCounts.from_dict(report.counts.to_dict())
    thinned = thin_counts(counts, MAX_CELLS, threshold=report.threshold)
    threshold, proportions = grid["thresholds"][20], pu.MixtureProportions(0.2)
    fill(tab, alpha_number=0.2, threshold_number=threshold)
    expected = pu.recover_metrics(thinned, proportions, threshold=threshold)
    found = values(tab, "recovered")
    assert set(found) == set(report.metrics) - {"f_beta"}
    assert found == pytest.approx({name: expected[name] for name in found}, abs=TOLERANCE)
    for column, figures in (("recovered", expected), ("observed", expected.observed)):
        for name in found:
            cell = f'#metrics [data-metric="{name}"] [data-column="{column}"]'
            assert texts(tab, cell) == [f"{figures[name]:.4f}"], (name, column)
    matrix = pu.recovery.recover_confusion(thinned, proportions, threshold)
    for name in ("tp", "fp", "fn", "tn", "flagged"):
        cell = f'#unlabeled [data-cell="{name}"]'
        assert texts(tab, cell) == [f"{getattr(matrix, name):,.0f}"]
    said = re.sub(r" \([\d.]+ %\)", "", str(matrix))  # of the flagged
    assert texts(tab, "#flagged") == [f"A{said[1:]}."]
    auc = f"{pu.recover_auc(counts, proportions):.3f}"
    assert big(tab) == auc
    assert auc in tab.get_attribute(".handle", "aria-valuetext")


def test_a_threshold_moves_what_is_drawn(show: Opener, report: pu.PUReport) -> None:
    """The point on each curve and the line in the histogram, which are the same elements."""
    tab = show(report)
    unfold(tab)
    tab.evaluate("window.plots = [...document.querySelectorAll('figure svg.plot')]")
    moving = "figure[data-chart=roc] svg > circle, figure[data-chart=histogram] svg > path"

    def where() -> list[str]:
        found: list[str] = tab.eval_on_selector_all(moving, "(all) => all.map((e) => e.outerHTML)")
        return found

    before = where()
    fill(tab, threshold_number=2.0)
    assert len(before) == 2
    assert not set(where()) & set(before)
    assert tab.evaluate("plots.every((plot) => plot.isConnected)"), "a plot was drawn anew"
    places = make_payload(report)["grid"]["thresholds"]
    label = f"threshold {min(places, key=lambda place: abs(place - 2)):.4g}"
    for name in ("roc", "pr", "histogram"):
        assert texts(tab, f"figure[data-chart={name}] .legend text")[-1] == label


def test_the_next_alpha_has_figures_nearby(
    show: Opener, report: pu.PUReport, estimated: pu.PUReport, rare: pu.PUReport
) -> None:
    """All figures follow one alpha, which at the start is that of the report."""
    for each in (report, estimated, rare):
        tab = show(each)
        lead = "precision" if each is rare else "roc_auc"
        assert tab.get_attribute("output[data-big]", "data-big") == lead
        written = {name: texts(tab, f".head [data-metric={name}] .strong")[0] for name in HEAD}
        tab.focus(".handle")
        act(tab, lambda tab=tab: tab.keyboard.press("ArrowRight"))
        step = float(tab.get_attribute(".handle", "aria-valuenow")) - each.proportions.alpha
        assert 0 < step <= 0.021
        for name, text in written.items():
            now = float(tab.get_attribute(f".head [data-metric={name}] .strong", "data-value"))
            if text not in ("–", "-"):
                places = len(text.partition(".")[2])
                assert abs(now - float(text)) < 0.5 * 10**-places + 0.06, (name, text, now)


def test_the_plot_of_auc_is_the_slider_of_alpha(show: Opener, report: pu.PUReport) -> None:
    tab = show(report, has_touch=True)
    plot = tab.locator("figure[data-chart=alpha] svg")
    box = plot.bounding_box()

    def alpha() -> float:
        return float(tab.get_attribute(".handle", "aria-valuenow"))

    def auc() -> str:
        return f"{0.5 + (report.auc_pu - 0.5) / (1 - alpha()):.3f}"

    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.mouse.move(*middle)
    act(tab, tab.mouse.down)
    first = alpha()
    assert 0.2 < first < 0.3
    act(tab, lambda: tab.mouse.move(middle[0] - 60, middle[1]))
    tab.mouse.up()
    assert alpha() < first - 0.03
    assert big(tab) == auc()
    assert tab.evaluate("document.activeElement.getAttribute('role')") == "slider"
    act(tab, lambda: tab.touchscreen.tap(middle[0] + 40, middle[1]))
    assert alpha() > first
    alphas = make_payload(report)["grid"]["alphas"]
    for key, step in (("ArrowUp", 1), ("ArrowLeft", -1), ("PageDown", -5)):
        before = alphas.index(alpha())
        act(tab, lambda key=key: tab.keyboard.press(key))
        assert alphas.index(alpha()) == before + step
        assert big(tab) == auc()
    act(tab, lambda: tab.keyboard.press("Home"))
    assert (alpha(), big(tab)) == (0, f"{report.auc_pu:.3f}")
    act(tab, lambda: tab.keyboard.press("End"))
    assert (alpha(), big(tab)) == (alphas[-1], "1.000")  # as far as chance explains


def test_the_reports_own_figures_come_back(show: Opener, report: pu.PUReport) -> None:
    tab = show(report)
    unfold(tab)
    everything = "main td, main th, header td, #flagged, .big"
    before = texts(tab, everything)
    legend = texts(tab, "figure[data-chart=roc] .legend text")
    assert "95 % band, pointwise" in legend
    assert tab.is_hidden("#state")
    fill(tab, alpha_number=0.4, threshold_number=0.0)
    # At another alpha there is an interval of the AUC, and no other.
    intervals = texts(tab, "[data-metric]:not([data-metric=roc_auc]) [data-column=interval]")
    assert set(intervals) == {"–"}
    low, high = texts(tab, ".head [data-metric=roc_auc] [data-column=interval]")[0].split(" to ")
    interval = pu.intervals.auc_interval(report.counts, pu.MixtureProportions(0.4))
    assert (low, high) == (f"{interval.low:.3f}", f"{interval.high:.3f}")
    assert "95 % band, pointwise" not in texts(tab, "figure[data-chart=roc] .legend text")
    assert "alpha 0.25 and threshold" in texts(tab, "#state")[0]
    assert "left out" in texts(tab, "#bandless")[0]
    act(tab, lambda: tab.click("#back"))
    assert texts(tab, everything) == before
    assert texts(tab, "figure[data-chart=roc] .legend text") == legend
    assert tab.is_hidden("#state")
    assert tab.is_hidden("#bandless")
    assert tab.input_value("#alpha-number") == "25 %"


def test_values_that_do_not_fit_are_said_not_to(show: Opener) -> None:
    example = pu.load_example()
    report = pu.evaluate(example.scores, example.labeled, alpha=0.4, n_resamples=20)
    tab = show(report)
    unfold(tab)
    fill(tab, alpha_number=0.7)
    last = make_payload(report)["grid"]["alphas"][-1]
    assert f"Alpha {last:.4g} and beta 1 contradict these scores" in texts(tab, "#state span")[0]
    assert tab.get_attribute(".handle", "aria-valuetext").endswith("does not fit the scores")
    dashed = "[data-column=recovered], #unlabeled [data-cell], output[data-big]"
    assert set(texts(tab, dashed)) == {"–"}
    for name in ("roc", "pr"):
        legend = texts(tab, f"figure[data-chart={name}] .legend text")
        assert not [text for text in legend if text.startswith("recovered")]


def test_undefined_and_odd_figures_do_no_harm(show: Opener) -> None:
    rng = np.random.default_rng(0)
    weights = rng.exponential(size=200)
    scores = np.round(rng.normal(size=200) + np.repeat([1.0, 0.0], 100), 1)
    labels = np.repeat([1, 0, -1], [100, 60, 40])
    tab = show(
        pu.evaluate(
            scores, labels, settings=pu.Settings(negative_label=-1, top_k=5), alpha=0.1,
            sample_weight=weights, threshold=1e9, n_resamples=0,
        )
    )  # fmt: skip
    fill(tab, alpha_number=0.12)
    assert texts(tab, ".head [data-metric=precision] .strong") == ["undefined"]


def test_the_keyboard_is_enough(show: Opener, report: pu.PUReport) -> None:
    tab = show(report)
    unfold(tab)
    reached = []
    for _ in range(80):
        tab.keyboard.press("Tab")
        reached.append(
            tab.evaluate(
                "(() => { const e = document.activeElement;"
                " return e.id || e.getAttribute('aria-label') || e.textContent; })()"
            )
        )
        if reached[-1] == "threshold":
            before = float(tab.input_value("#threshold-number"))
            act(tab, lambda: tab.keyboard.press("ArrowRight"))
            assert float(tab.input_value("#threshold-number")) > before
        if reached[-1] == "review":
            break
    slider = "Alpha, the share of the unlabeled that are positive"
    expected = [
        "theme", "alpha-number", slider, "SVG: save the ROC curve", "threshold",
        "threshold-number", "review",
    ]  # fmt: skip
    assert [name for name in reached if name in expected] == expected
    tab.focus("#back")
    act(tab, lambda: tab.keyboard.press("Enter"))
    assert tab.evaluate("document.activeElement.getAttribute('aria-label')") == slider


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 360)])
def test_no_grave_barriers(
    show: Opener, report: pu.PUReport, estimated: pu.PUReport, scheme: str, width: int
) -> None:
    for each in (report, estimated):
        tab = show(each, color_scheme=scheme, viewport={"width": width, "height": 900})
        unfold(tab)
        assert violations(tab) == []
    fill(tab, alpha_number=0.8)
    assert violations(tab) == []


CUT = """() => [...document.querySelectorAll("td, th, dd, .words, .scroll, .big, .if, figcaption")]
    .filter((e) => e.clientWidth && (e.scrollWidth > e.clientWidth + 1
        || (getComputedStyle(e).overflowY !== "visible" && e.scrollHeight > e.clientHeight + 1)))
    .map((e) => [e.tagName, e.scrollWidth, e.clientWidth, e.textContent.slice(0, 60)])"""


@pytest.mark.parametrize("width", [390, 800, 1400])
def test_nothing_is_cut(
    show: Opener, report: pu.PUReport, rare: pu.PUReport, hostile: str, width: int
) -> None:
    for page in (report, rare, hostile) if width == 390 else (rare,):
        tab = show(page, viewport={"width": width, "height": 740})
        unfold(tab)
        for _ in range(2):
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            assert tab.evaluate(CUT) == []
            for figure in tab.locator("figure svg").all():
                box = figure.bounding_box()
                assert box is None or box["x"] + box["width"] <= width
            fill(tab, alpha_number=0.3)
        assert tab.locator("#unlabeled th:has-text('Both')").is_visible()
    assert "60,000" in texts(show(rare), "#unlabeled td")


def test_rows_of_rare_positives_are_drawn_by_powers_of_ten(
    show: Opener, report: pu.PUReport, rare: pu.PUReport
) -> None:
    """So that bars of a few positives show beside those of tens of thousands."""
    for page, wanted in ((report, False), (rare, True)):
        ticks = texts(
            show(page), "figure[data-chart=histogram] [data-part='y-axis tick label'] text"
        )
        powers = [float(t.replace("k", "e3")) for t in ticks if t]
        assert (powers[1] / powers[0] == 10 if powers[0] else False) == wanted, ticks


def test_without_scripts_the_page_is_still_a_report(show: Opener, report: pu.PUReport) -> None:
    tab = show(report, java_script_enabled=False)
    for hidden in ("#theme", "#alpha-number", "#state", "figure[data-chart=alpha]"):
        assert tab.locator(hidden).is_hidden()
    for name in ("roc", "pr"):
        assert tab.locator(f"figure[data-chart={name}] svg").is_visible()
    assert big(tab) == f"{report.auc:.3f}"
    assert tab.inner_text("#alpha-word") == "25 %"


def test_printed_the_page_is_light_and_open(show: Opener, report: pu.PUReport) -> None:
    tab = show(report, color_scheme="dark")
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.locator(".downloads").first.is_hidden()
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("details:not([open])").count() == 0


def test_the_policy_refuses_other_scripts_styles_and_requests(
    browser: Any, report: pu.PUReport, tmp_path: Path
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


def test_a_figure_can_be_saved_with_light_colors(show: Opener, report: pu.PUReport) -> None:
    tab = show(report, color_scheme="dark")
    saved = {}
    for form in ("SVG", "CSV"):
        with tab.expect_download() as download:
            tab.click(f"figure[data-chart=alpha] .downloads button:has-text('{form}')")
        assert download.value.suggested_filename == f"purecover-alpha.{form.lower()}"
        saved[form] = Path(download.value.path()).read_text(encoding="utf-8")
    assert "var(" not in saved["SVG"]
    assert 'stroke="rgb(0, 114, 178)"' in saved["SVG"]
    assert saved["CSV"].splitlines()[:2] == ["alpha,auc", f"0,{report.auc_pu!r}"]
