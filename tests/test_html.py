"""The page of a report and the data in it."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
import warnings
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.markup import Page, digest
from tests.strategies import counts as some_counts

import purecover as pu
from purecover import evaluate, simulate
from purecover._shell import Shell
from purecover.counts import auc_pu, pu_roc_curve
from purecover.documents.summary import price_sections
from purecover.exceptions import RecoveryWarning
from purecover.html.page import SCRIPTS, render_report
from purecover.html.payload import (
    N_ALPHAS,
    N_THRESHOLDS,
    make_payload,
    packed,
    thin_counts,
    unpacked,
)
from purecover.html.svg import CELLS, drawn_points
from purecover.recovery.curves import REPAIRS
from purecover.recovery.metrics import position


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


def test_the_page_is_well_formed(page: str) -> None:
    parsed = Page(page)
    assert parsed.open == []
    assert page.startswith('<!doctype html>\n<html lang="en">')
    ids = [attrs["id"] for _, attrs in parsed.elements if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_pages_say_what_they_are_about(
    report: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1488326400")
    file = tmp_path / "page.html"
    made = report.to_html(file, title="Model of March")
    assert file.read_text(encoding="utf-8") == made
    source = {"file": "a.csv", "columns": {"score": "risk"}}
    for page, title in (
        (made, "Model of March"),
        (render_report(report, source=source), "Recovered performance: a.csv"),
    ):
        assert f"<title>{title}</title>" in page
        about = page.partition("identity")[2].partition("</p>")[0]
        assert "300 labeled, 3,000 unlabeled" in about
        assert "1 March 2017" in about
        assert f"purecover {pu.__version__}" in about
    assert "File: a.csv" in about
    assert "Scores: risk" in about
    assert r"<title>a\udcffb</title>" in report.to_html(file, title="a\udcffb")


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


def policy_of(page: str) -> str:
    metas = Page(page).all("meta")
    (policy,) = [m["content"] for m in metas if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    return policy


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


def test_the_chart_library_is_the_one_that_was_vetted() -> None:
    """Its hashes, and those of all packages it is made of, are written down."""
    vendor = files("purecover.html").joinpath("vendor")
    locked = Path(__file__).parents[1] / "tools" / "vendor_plot"
    for line in (locked / "SHA256SUMS").read_text(encoding="ascii").splitlines():
        known, name = line.split()
        assert hashlib.sha256(vendor.joinpath(name).read_bytes()).hexdigest() == known
    packages = json.loads((locked / "package-lock.json").read_bytes())["packages"]
    assert all(about["integrity"].startswith("sha512-") for name, about in packages.items() if name)
    licenses = vendor.joinpath("LICENSES.txt").read_text(encoding="utf-8")
    bundled = re.findall(r"^(@?[\w./-]+) (\d[\d.]*) \(", licenses, re.MULTILINE)
    assert len(bundled) > 10
    for name, version in bundled:
        assert packages[f"node_modules/{name}"]["version"] == version


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
        told = zip(parsed.paths, parsed.texts, strict=True)
        found = [text for path, text in told if path[-2:] == (where, "bdi")]
        assert found == [HOSTILE]


def test_the_page_is_accessible(page: str) -> None:
    parsed = Page(page)
    ids = {attrs.get("id"): tag for tag, attrs in parsed.elements}
    assert len(parsed.all("svg")) == 2
    for svg in parsed.all("svg"):
        assert svg["role"] == "img"
        assert [ids[name] for name in (svg["aria-labelledby"] or "").split()] == ["title", "desc"]
    for header in parsed.all("th"):
        assert header["scope"] in {"col", "row", "rowgroup"}
    headings = [tag for tag, _ in parsed.elements if re.fullmatch(r"h\d", tag)]
    assert headings[0] == "h1"
    assert set(headings[1:]) == {"h2"}
    labels = {label["for"] for label in parsed.all("label")}
    for field in parsed.all("input"):
        assert field["id"] in labels or field["aria-label"]
    assert {"header", "main", "details", "summary"} <= {name for name, _ in parsed.elements}


def test_what_would_narrow_the_answer_is_listed() -> None:
    example = pu.load_example()
    report = evaluate(example.scores, example.labeled, n_resamples=50, random_state=0)
    shell = Shell("a  b.csv", {"score": ("a",)})
    (table,) = price_sections(report, shell)[0].parts
    assert "--assume pure-top" in [row.cells["how"] for row in table.rows]
    assert "purecover judge 'a  b.csv' --score=a" in [row.cells["how"] for row in table.rows]
    text = "".join("".join(Page(render_report(report, shell=shell)).texts).split())
    for row in table.rows:
        assert all("".join(each.split()) in text for each in (row.title, *row.cells.values()))
    # Made in Python, it says what to call there.
    assert "audit.draw(scores,labeled)" in "".join(Page(render_report(report)).texts)


def test_thinning_moves_a_curve_by_about_a_pixel() -> None:
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.random(20_000)), np.sort(rng.random(20_000)) ** 0.3
    y[10_000::100] = np.nan
    kept = drawn_points(x, y)
    assert kept[0].size <= 2 * CELLS + 1
    defined = np.isfinite(y)
    between = np.interp(x[defined], *kept)
    across = np.interp(y[defined], kept[1], kept[0])
    # Charts are at most 520 pixels wide; how far a point is from the line, along the nearer axis.
    gap = np.minimum(abs(between - y[defined]), abs(across - x[defined]))
    assert gap.max() < 1.5 / 500


def many_counts(kind: str, seed: int) -> pu.ScoreCounts:
    """Thousands of distinct scores, so that there is something to merge."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3000, 9000))
    labeled = rng.random(n) < rng.choice([0.01, 0.2, 0.5])
    labeled[:2] = True, False
    scores = rng.normal(rng.choice([0.3, 1.5, 4.0]) * labeled)
    if kind == "plain":
        return pu.ScoreCounts.from_scores(scores, labeled)
    if kind == "ties":
        heavy = rng.random(n) < 0.6
        return pu.ScoreCounts.from_scores(np.where(heavy, scores.round(1), scores), labeled)
    if kind == "weighted":
        weight = rng.exponential(size=n) * (rng.random(n) < 0.9)
        weight[:2] = 1.0
        return pu.ScoreCounts.from_scores(scores, labeled, sample_weight=weight)
    if kind == "negative":
        codes = np.where(~labeled & (rng.random(n) < 0.3), -1, labeled.astype(int))
        codes[:2] = 1, 0
        return pu.ScoreCounts.from_scores(scores, codes, negative_label=-1)
    assert kind == "separated"
    return pu.ScoreCounts.from_scores(scores + 100.0 * labeled, labeled)


KINDS = ["plain", "ties", "weighted", "negative", "separated"]


def rates_at(counts: pu.ScoreCounts, threshold: float) -> tuple[float, float]:
    roc, at = pu_roc_curve(counts), position(counts, threshold)
    return float(roc.tpr_pu[at]), float(roc.fpr_pu[at])


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_cells", [512, 2000])
def test_merged_counts_are_near(kind: str, seed: int, max_cells: int) -> None:
    counts = many_counts(kind, seed)
    rng = np.random.default_rng(seed)
    threshold = float(rng.choice(counts.thresholds))
    cells = thin_counts(counts, max_cells, threshold=threshold)
    assert cells.n_thresholds <= max_cells
    assert cells.thresholds[-1] == counts.thresholds[-1]
    # What the layout promises: no merged cell holds more than 16/n, and pairs are bounded by it.
    assert abs(auc_pu(cells) - auc_pu(counts)) <= 4 / max_cells
    for t in cells.thresholds[rng.integers(cells.n_thresholds, size=50)]:
        assert rates_at(cells, t) == pytest.approx(rates_at(counts, t), abs=1e-12)
    assert rates_at(cells, threshold) == pytest.approx(rates_at(counts, threshold), abs=1e-12)
    between = np.append(
        counts.thresholds[rng.integers(counts.n_thresholds, size=200)], rng.normal(size=100)
    )
    gaps = [
        abs(a - b)
        for t in between
        for a, b in zip(rates_at(cells, t), rates_at(counts, t), strict=True)
    ]
    assert max(gaps) <= 16 / (max_cells - 3) + 1e-12


def written(payload: dict[str, Any]) -> str:
    """Strict JSON: fails on anything that is not finite."""
    return json.dumps(payload, allow_nan=False, separators=(",", ":"))


KEYS = {"report", "grid", "roc", "pr", "histogram", "map", "hidden", "truth"}


@settings(max_examples=30)
@given(
    st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), max_size=40), st.sampled_from([None, 0.5])
)
def test_packed_numbers_are_within_half_a_step(numbers: list[float], step: float | None) -> None:
    data = json.loads(written(packed(numbers, step)))
    found = unpacked(data)
    np.testing.assert_allclose(found, numbers, rtol=1e-9, atol=data["step"] * 0.5001)
    assert step is None or data["step"] == step


@settings(max_examples=15)
@given(
    some_counts(), st.sampled_from([0.0, 5e-324, 0.3, 0.9]), st.sampled_from([0.95, 1.0]),
    st.sampled_from([None, *REPAIRS]), st.data(),
)  # fmt: skip
def test_every_place_of_the_sliders_has_the_numbers_of_a_report(
    counts: pu.ScoreCounts, alpha: float, beta: float, repair: Any, data: Any
) -> None:
    """Those that `evaluate` gives with that alpha and threshold."""
    top_k = 1 if counts.n_unlabeled >= 1 else None
    how = {"beta": beta, "n_resamples": 0}
    how["settings"] = pu.Settings(repair=repair, cost_fn=3.0, top_k=top_k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecoveryWarning)
        report = evaluate(counts, alpha=alpha, **how)
        payload = json.loads(written(make_payload(report)))
        grid = payload["grid"]
        i = data.draw(st.integers(0, len(grid["alphas"]) - 1))
        j = data.draw(st.integers(0, len(grid["thresholds"]) - 1))
        at = {"alpha": grid["alphas"][i], "threshold": grid["thresholds"][j]}
        wanted = evaluate(counts, **how, **at)
    assert set(payload) == KEYS
    own_alpha, own_threshold = grid["own"]
    assert grid["alphas"][own_alpha] == alpha
    assert grid["thresholds"][own_threshold] == report.threshold
    assert len(grid["alphas"]) <= N_ALPHAS + 2
    assert len(grid["thresholds"]) <= N_THRESHOLDS + 1

    def compare(column: Any, value: float, name: str) -> None:
        place, half = i, 1e-9
        if isinstance(column, dict):
            half, column = column["step"] * 0.5001, unpacked(column).tolist()
            place = i if len(column) == len(grid["alphas"]) else i * len(grid["thresholds"]) + j
        found = math.nan if column[place] is None else column[place]
        value = value if abs(value) < 1e15 else math.nan  # as unrepaired ones can be
        np.testing.assert_allclose(found, value, rtol=1e-9, atol=half, err_msg=name)

    assert bool(grid["contradictions"][i]) == wanted.contradicted
    assert set(grid["metrics"]) == set(wanted.metrics)
    for name, value in wanted.metrics.items():
        compare(grid["metrics"][name], value, name)
    for name, column in grid["observed"].items():
        assert unpacked(column)[j] == pytest.approx(
            wanted.metrics.observed[name], abs=column["step"] * 0.5001, nan_ok=True
        )
    for name in ("tp", "fp", "fn", "tn"):
        compare(grid["numbers"][name], getattr(wanted.confusion, name), name)
    above = counts.thresholds >= at["threshold"]
    assert grid["rows"]["flagged"][j] == pytest.approx(counts.unlabeled[above].sum())
    interval = wanted.intervals.get("roc_auc")
    if report.contradicted:  # which names no level of confidence: a dash
        interval = None
    compare(grid["low"], math.nan if interval is None else interval.low, "low")
    compare(grid["high"], math.nan if interval is None else interval.high, "high")
    assert grid["dashes"][i] == list(wanted.hardly_known)

    edges = payload["histogram"]["edges"]
    assert all(a < b for a, b in itertools.pairwise(edges))
    for name in ("labeled", "unlabeled"):
        tally = payload["histogram"][name]
        assert len(tally) == len(edges) - 1
        assert sum(tally) == pytest.approx(getattr(counts, name).sum(), rel=1e-4)


def test_of_many_scores_the_sliders_have_merged_counts() -> None:
    counts = many_counts("plain", 0)
    grid = make_payload(evaluate(counts, alpha=0.2, n_resamples=0))["grid"]
    own = grid["thresholds"][grid["own"][1]]
    merged = thin_counts(counts, 2000, threshold=own)
    assert grid["n_scores"] == merged.n_thresholds < counts.n_thresholds
    i, j = grid["alphas"].index(0.1), 7
    wanted = pu.recover_metrics(merged, pu.MixtureProportions(0.1), threshold=grid["thresholds"][j])
    column = unpacked(grid["metrics"]["precision"]).reshape(len(grid["alphas"]), -1)
    assert column[i, j] == pytest.approx(wanted["precision"], abs=2.6e-5)


def test_the_reports_own_threshold_is_corrected_for_its_choice() -> None:
    counts = simulate.binormal(1.5).sample(100, 1000, alpha=0.25, random_state=0).counts
    how = {"n_resamples": 40, "random_state": 0}
    one, other = (evaluate(counts, alpha=alpha, **how) for alpha in (0.25, 0.1))
    assert min(other.bootstrap.optimism) != 0
    grid = make_payload(one)["grid"]
    place = grid["alphas"].index(0.1), grid["own"][1]
    for name in ("recall", "fpr", "precision"):
        found = unpacked(grid["metrics"][name]).reshape(len(grid["alphas"]), -1)[place]
        assert found == pytest.approx(other.metrics[name], abs=2.6e-5)


def test_rows_that_depend_on_each_other_leave_a_dash(sample: simulate.Sample) -> None:
    """DeLong's interval of the AUC is for independent rows."""
    groups = np.arange(sample.scores.size) // 3
    report = evaluate(sample.scores, sample.labeled, alpha=0.25, groups=groups, n_resamples=20)
    assert set(make_payload(report)["grid"]["low"]) == {None}


@pytest.mark.parametrize("alpha", [5e-324, 0.01, 0.25])
def test_axes_of_rare_positives_are_narrow(sample: simulate.Sample, alpha: float) -> None:
    report = evaluate(sample.scores, sample.labeled, alpha=alpha, n_resamples=0)
    payload = make_payload(report)
    assert payload["histogram"]["logarithmic"] == (alpha == 0.01)
    width = 0.03 if alpha == 0.01 else 1.1 * report.largest_alpha
    assert payload["map"]["alphas"][-1] == pytest.approx(width, abs=1e-6)
    assert payload["grid"]["alphas"][-1] == pytest.approx(width, rel=0.1)
