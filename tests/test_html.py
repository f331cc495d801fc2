"""The text of the page: what it says, and that it can do nothing but say and compute it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from purecover import evaluate, simulate
from purecover.html import render_report
from purecover.html.page import SCRIPTS
from purecover.html.payload import make_payload
from purecover.html.svg import LEFT, MAX_POINTS, SIZE, TOP, curve_path, thin

VOID = {"meta", "br", "input", "rect", "path", "circle"}


@pytest.fixture(scope="module")
def sample() -> simulate.Sample:
    return simulate.binormal(1.5).sample(300, 3000, alpha=0.25, random_state=0)


@pytest.fixture(scope="module")
def report(sample: simulate.Sample) -> Any:
    return evaluate(sample.scores, sample.labeled, alpha=0.25, truth=sample.truth, n_resamples=60)


@pytest.fixture(scope="module")
def page(report: Any) -> str:
    return render_report(report, command="purecover evaluate a.csv --alpha 0.25")


def without_scripts(page: str) -> str:
    """What stands before the data and the scripts."""
    return page[: page.index('<script type="application/json"')]


class Page(HTMLParser):
    """Elements with their attributes, texts by element, and whether all tags are closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((tuple(self.open), " ".join(data.split())))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]


def test_the_page_is_well_formed(page: str) -> None:
    parsed = Page(page)
    assert parsed.open == []
    assert page.startswith('<!doctype html>\n<html lang="en">')
    ids = [attrs["id"] for _, attrs in parsed.elements if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_figures_of_the_report_are_on_the_page(page: str, report: Any) -> None:
    texts = [text for _, text in Page(page).texts]
    interval = report.intervals["roc_auc"]
    assert (
        f"Observed AUC {report.auc_pu:.3f}; the true AUC is about {report.auc:.3f}, 95 % interval "
        f"{interval.low:.3f} to {interval.high:.3f}, if 25 % of the unlabeled are positive."
    ) in texts
    for name in set(report.metrics) - {"f_beta"}:
        values = (report.metrics.observed[name], report.metrics[name], report.truth.metrics[name])
        for number in values:
            assert (f"{number:.4f}" if np.isfinite(number) else "undefined") in texts
        interval = report.intervals[name]
        if np.isfinite(interval.low):
            assert f"{interval.low:.4f} – {interval.high:.4f}" in texts
    assert "300" in texts
    assert "3,000" in texts
    assert "purecover evaluate a.csv --alpha 0.25" in texts
    assert any("Jain" in text for text in texts)
    assert any(re.search(r"purecover \S+, Python 3\.\d+", text) for text in texts)


def cells_of(page: str, title: str) -> list[str]:
    """The texts of the row with this heading."""
    texts = Page(page).texts
    start = next(i for i, (where, text) in enumerate(texts) if where[-1] == "th" and text == title)
    cells = []
    for where, text in texts[start + 1 :]:
        if where[-1] != "td":
            break
        cells.append(text)
    return cells


def test_f_beta_is_shown_where_it_is_not_f1(page: str, sample: simulate.Sample) -> None:
    assert "F-beta" not in without_scripts(page)
    report = evaluate(sample.counts, alpha=0.25, n_resamples=0, f_beta=2.0)
    f_2 = report.metrics["f_beta"]
    assert cells_of(render_report(report), "F-beta (beta 2)")[1] == f"{f_2:.4f}"


def test_costs_and_the_range_of_the_partial_auc_are_told(sample: simulate.Sample) -> None:
    report = evaluate(
        sample.counts, alpha=0.25, n_resamples=0, cost_fn=5.0, cost_fp=0.5, max_fpr=0.2
    )
    page = render_report(report)
    assert cells_of(page, "Cost (miss 5, false alarm 0.5)")[1] == f"{report.metrics['cost']:.4f}"
    assert cells_of(page, "Partial AUC (standardized, fpr to 0.2)")


def test_the_confusion_of_the_unlabeled(page: str, report: Any) -> None:
    c = report.confusion
    texts = [text for _, text in Page(page).texts]
    assert (
        f"Of the {c.flagged:,.0f} unlabeled at or above the threshold, about {c.tp:,.0f} are "
        f"positive; of those below, about {c.fn:,.0f}."
    ) in texts
    flagged = cells_of(page, f"Score ≥ {c.threshold:.6g}")
    assert flagged == [f"{n:,.0f}" for n in (c.tp, c.fp, c.flagged)]
    assert cells_of(page, f"Score < {c.threshold:.6g}")[:2] == [f"{c.fn:,.0f}", f"{c.tn:,.0f}"]
    # Alpha says how many positives there are, whatever the threshold.
    assert cells_of(page, "All") == ["750", "2,250", "3,000"]
    assert "Expected numbers" in texts


def test_checks_are_on_the_page(page: str, report: Any) -> None:
    texts = [text for _, text in Page(page).texts]
    for check in report.checks:
        assert check.code in texts
        assert any(check.title in text for text in texts)
        assert any(" ".join(check.message.split()) in text for text in texts)
        if check.fired:
            assert any(" ".join(check.hint.split()) in text for text in texts)


def test_nothing_can_be_loaded(page: str) -> None:
    parsed = Page(page)
    names = {name for name, _ in parsed.elements}
    assert not names & {"link", "img", "iframe", "object", "embed", "base", "use", "noscript"}
    for name, attrs in parsed.elements:
        assert not set(attrs) & {"src", "xlink:href", "style", "srcdoc", "action"}
        assert not [each for each in attrs if each.startswith("on")]
        assert name != "a" or (attrs["href"] or "").startswith("#")
    assert "@import" not in page
    # The only url() in the markup is the clip path inside the page.
    markup = without_scripts(page)
    assert set(re.findall(r"url\(([^)]*)\)", markup)) == {"#roc-clip", "#pr-clip"}
    assert "http" not in markup.replace("http-equiv", "")
    # The scripts name vocabularies and a license, and nothing else that looks like an address.
    assert set(re.findall(r"(?:https?|wss?|ftp):?//[^/\"'`]*", page)) == {
        "http://www.w3.org", "http://www.apache.org",
    }  # fmt: skip


def test_links_lead_somewhere(page: str) -> None:
    parsed = Page(page)
    ids = {attrs["id"] for _, attrs in parsed.elements if "id" in attrs}
    targets = {(attrs["href"] or "")[1:] for attrs in parsed.all("a")}
    assert targets <= ids
    assert {"curves", "checks", "metrics"} <= targets


def policy_of(page: str) -> str:
    metas = Page(page).all("meta")
    (policy,) = [m["content"] for m in metas if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    return policy


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_allows_exactly_this_style_and_these_scripts(page: str) -> None:
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == len(SCRIPTS)
    directives = dict(part.split(" ", 1) for part in policy_of(page).split("; "))
    assert directives == {
        "default-src": "'none'",
        "script-src": " ".join(digest(script) for script in scripts),
        "style-src": digest(style),
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    # A policy in the page holds for what comes after it.
    assert page.index("Content-Security-Policy") < page.index("<style>")


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_can_stand_in_a_page(name: str) -> None:
    text = files("purecover.html").joinpath(name).read_text(encoding="utf-8")
    # These would end the element, or start a comment in it.
    assert not re.search(r"</script|<!--", text, re.IGNORECASE)
    # These would need a policy that allows them.
    assert not re.search(r"\beval\(|\bnew Function\b|setTimeout\([\"']", text)
    # The page has no server to talk to, and nothing to remember.
    ours = not name.startswith("vendor/")
    words = r"fetch\(|XMLHttpRequest|WebSocket|sendBeacon|localStorage|innerHTML|document\.cookie"
    assert not (ours and re.search(words, text))


def test_licenses_of_what_the_page_copies_are_in_it(page: str) -> None:
    vendor = files("purecover.html").joinpath("vendor")
    for line in vendor.joinpath("LICENSES.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("Copyright"):
            assert line in page


def test_the_data_are_inert_and_those_of_the_report(page: str, report: Any) -> None:
    (data,) = re.findall(r'<script type="application/json" id="payload">(.*?)</script>', page)
    assert not set("<>&") & set(data)
    assert json.loads(data) == json.loads(json.dumps(make_payload(report), allow_nan=False))


HOSTILE = (
    "</style></title></script><script>alert(1)</script><img src=x onerror=alert(1)>&{{ 7*7 }}\"'"
    "\u202edesrever" + "x" * 10_000
)


def test_hostile_words_stay_words(report: Any) -> None:
    page = render_report(report, command=HOSTILE, title=HOSTILE)
    parsed = Page(page)
    assert len(parsed.all("script")) == len(SCRIPTS) + 1
    assert not parsed.all("img")
    # Isolated, so that what turns the direction of writing ends with the words.
    for where in ("h1", "code"):
        found = [text for path, text in parsed.texts if path[-2:] == (where, "bdi")]
        assert found == [HOSTILE]


def test_the_page_is_accessible(page: str) -> None:
    parsed = Page(page)
    assert len(parsed.all("svg")) == 2
    for svg in parsed.all("svg"):
        assert svg["role"] == "img"
        named = (svg["aria-labelledby"] or "").split()
        ids = {attrs.get("id"): tag for tag, attrs in parsed.elements}
        assert [ids[name] for name in named] == ["title", "desc"]
    for header in parsed.all("th"):
        assert header["scope"] in {"col", "row", "rowgroup"}
    headings = [tag for tag, _ in parsed.elements if re.fullmatch(r"h\d", tag)]
    assert headings[0] == "h1"
    assert set(headings[1:]) == {"h2"}
    for field in parsed.all("input"):
        labels = {label["for"] for label in parsed.all("label")}
        assert field["id"] in labels or field["aria-label"]
    assert {"header", "main", "nav", "footer"} <= {name for name, _ in parsed.elements}
    (live,) = [attrs for _, attrs in parsed.elements if attrs.get("aria-live") == "polite"]
    assert live["id"] == "live"


def test_what_needs_a_script_is_hidden_without(page: str) -> None:
    parsed = Page(page)
    for name, attrs in parsed.elements:
        if attrs.get("id") in {"theme", "panel"} or attrs.get("class") in {"scripted", "costs"}:
            assert "hidden" in attrs, (name, attrs)
    shown = [f for f in parsed.all("figure") if "hidden" not in f]
    assert [f["data-chart"] for f in shown] == ["roc", "pr"]


def test_the_page_adapts(page: str) -> None:
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page
    assert 'name="viewport"' in page


@pytest.mark.parametrize("repair", ["none", "paper", "isotonic", "hull", "likelihood"])
def test_every_repair_can_be_drawn(sample: simulate.Sample, repair: Any) -> None:
    report = evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0, repair=repair)
    parsed = Page(report.to_html())
    paths = [p["d"] for p in parsed.all("path") if (p.get("class") or "").startswith("curve")]
    # Three curves and their three legend keys in each of two figures.
    assert len(paths) == 12
    assert "nan" not in without_scripts(report.to_html()).replace("finan", "")


def test_without_intervals_truth_and_command(sample: simulate.Sample) -> None:
    report = evaluate(sample.counts, alpha=0.25, n_resamples=0)
    page = render_report(report)
    texts = [text for _, text in Page(page).texts]
    assert "True" not in texts
    assert "95 % interval" in texts  # of the AUC, which needs no resampling
    assert "<pre" not in without_scripts(page)
    assert 'class="band"' not in without_scripts(page)


def test_infeasible_proportions_are_the_headline() -> None:
    report = evaluate([3, 2, 1, 0], [1, 1, 0, 0], alpha=0.5, n_resamples=0)
    page = render_report(report)
    assert "these scores do not fit alpha and beta" in page
    assert "would be 1.500, outside [0, 1]" in page
    assert "That is the direct value" not in page
    assert cells_of(page, "AUC")[1:] == ["infeasible"]  # and no interval
    assert "recovered (AUC infeasible)" in page
    assert "PU008" in page


def test_undefined_metrics_are_called_undefined(sample: simulate.Sample) -> None:
    report = evaluate(sample.counts, alpha=0.25, n_resamples=0, threshold=1e9)
    page = render_report(report)
    assert cells_of(page, "Precision")[1] == "undefined"
    assert ">nan<" not in page


def test_weights_known_negatives_and_top_k_have_their_place() -> None:
    scores = np.linspace(0, 1, 90) + np.tile([0.5, 0, -0.5], 30)
    labels = np.tile([1, 0, -1], 30)
    report = evaluate(
        scores,
        labels,
        negative_label=-1,
        alpha=0.1,
        n_resamples=0,
        sample_weight=np.full(90, 2.0),
        top_k=5,
    )
    texts = [text for _, text in Page(render_report(report)).texts]
    assert "Known negatives" in texts
    assert "60 (sum of weights)" in texts
    assert "Expected sums of weights" in texts
    assert "Among the 5 highest unlabeled scores" in texts


def test_equal_reports_make_equal_pages(sample: simulate.Sample) -> None:
    pages = {
        evaluate(sample.counts, alpha=0.25, n_resamples=20, random_state=1).to_html()
        for _ in range(2)
    }
    assert len(pages) == 1


# -- curves -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10_000, 1_000_000])
def test_the_page_stays_small_for_many_scores(n: int) -> None:
    sample = simulate.beta().sample(n // 5, n - n // 5, alpha=0.2, random_state=1)
    page = evaluate(sample.scores, sample.labeled, alpha=0.2, n_resamples=0).to_html()
    for path in (p["d"] or "" for p in Page(without_scripts(page)).all("path")):
        assert len(re.findall(r"[ML]", path)) <= MAX_POINTS
    assert len(page.encode()) < 700_000
    assert f"The figures of the report come from all {n:,} distinct scores." in page


def test_few_scores_are_all_in_the_page(sample: simulate.Sample) -> None:
    few = evaluate(sample.scores[:900], sample.labeled[:900], alpha=0.25, n_resamples=0)
    n = few.counts.n_thresholds
    assert f"from the counts at all {n} distinct scores" in few.to_html()


def test_the_headline_tells_of_wrong_labels_and_of_estimates(sample: simulate.Sample) -> None:
    noisy = evaluate(sample.counts, alpha=0.2, beta=0.9, n_resamples=0)
    assert "if 20 % of the unlabeled and 90 % of the labeled are positive." in noisy.to_html()
    found = evaluate(sample.counts, n_resamples=0)
    assert "if about " in found.to_html()


def distance_to_polyline(x: Any, y: Any, keep: Any) -> float:
    """The farthest any point lies from the thinned line, by brute force."""
    worst = 0.0
    for i, j in pairwise(keep):
        a, b = np.array([x[i], y[i]]), np.array([x[j], y[j]])
        points = np.column_stack([x[i : j + 1], y[i : j + 1]]) - a
        length = float(np.dot(b - a, b - a))
        share = np.clip(points @ (b - a) / length, 0, 1) if length else np.zeros(len(points))
        worst = max(worst, float(np.linalg.norm(points - np.outer(share, b - a), axis=1).max()))
    return worst


def test_thinning_moves_a_curve_by_less_than_a_pixel() -> None:
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(20_000))
    y = np.sort(rng.random(20_000)) ** 0.3
    keep = thin(x, y)
    assert keep.size <= MAX_POINTS
    assert (keep[0], keep[-1]) == (0, x.size - 1)
    assert np.all(np.diff(keep) > 0)
    # The drawing is 340 units wide, shown on at most 480 pixels.
    assert distance_to_polyline(x, y, keep) < 1 / 480


@pytest.mark.parametrize(
    ("x", "y", "kept"),
    [
        ([0.0], [0.5], [0]),
        ([0.0, 1.0], [0.0, 1.0], [0, 1]),
        ([0.0, 0.5, 1.0], [0.0, 0.5, 1.0], [0, 2]),
        ([0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0, 1, 2]),
        ([0.5, 0.9, 0.5], [0.5, 0.5, 0.5], [0, 1, 2]),
        ([], [], []),
    ],
)
def test_thinning_small_curves(x: list[float], y: list[float], kept: list[int]) -> None:
    assert thin(np.array(x), np.array(y)).tolist() == kept


def test_paths_are_in_drawing_units_and_leave_out_what_is_undefined() -> None:
    path = curve_path(np.array([0.0, 0.5, 1.0]), np.array([0.0, np.nan, 1.0]))
    assert path == f"M{LEFT:.2f} {TOP + SIZE:.2f}L{LEFT + SIZE:.2f} {TOP:.2f}"
    far = curve_path(np.array([0.0, 1e300]), np.array([-1e300, 1.0]))
    assert max(abs(float(n)) for n in re.findall(r"-?[\d.]+", far)) < 2000
