"""A report as JSON and back, as Markdown and as a cell of a notebook."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from markdown_it import MarkdownIt
from tests.markup import Page

import purecover as pu
from purecover.documents.details import report_document
from purecover.documents.markdown import escape
from purecover.documents.text import text_of
from purecover.documents.thresholds import threshold_text
from purecover.report import saving
from purecover.report.settings import gathered

ROOT = Path(__file__).parents[1]
SAMPLE = pu.simulate.binormal(1.5).sample(60, 240, alpha=0.25, beta=0.9, random_state=0)
ROWS = (SAMPLE.scores, SAMPLE.labeled)
WEIGHTS = np.random.default_rng(0).exponential(size=SAMPLE.scores.size)
HOSTILE = (
    "</script><img src=x onerror=alert(1)> a|b `c` **d** [e](javascript:f) \u202e\x1b[31m\n\n# g\n"
    "@someone #12 !13 http://evil.example www.evil.example $x$ &lt; <!-- \\ ~~h~~ <details> 1. i"
)


def evaluated(scores: Any = SAMPLE.scores, labeled: Any = SAMPLE.labeled, **options: Any) -> Any:
    return pu.evaluate(scores, labeled, **gathered({"alpha": 0.25, "n_resamples": 20, **options}))


def with_negatives() -> pu.PUReport:
    labels = np.where(SAMPLE.labeled, "pos", "unl").astype(object)
    labels[-60:] = "neg"
    spelling = {"positive_label": "pos", "negative_label": "neg"}
    return evaluated(labeled=labels, **spelling, truth=SAMPLE.truth, alpha=0.2)


def not_concave() -> pu.PUReport:
    sample = pu.simulate.binormal(1.0, 3.0).sample(400, 4000, alpha=0.2, random_state=0)
    with pytest.warns(pu.exceptions.RecoveryWarning, match="gave way"):
        return pu.evaluate(
            sample.counts, alpha=0.2, settings=pu.Settings(repair="hull"), n_resamples=0
        )


def hostile() -> pu.PUReport:
    report = evaluated(alpha=None, estimator="bbe")
    proportions = replace(report.proportions, origin=HOSTILE)
    estimation = replace(
        report.estimation, estimator=HOSTILE, proportions=proportions, notes=(HOSTILE, "x" * 10_000)
    )
    checks = tuple(
        replace(check, status="fired", title=HOSTILE, message=HOSTILE, hint=HOSTILE)
        for check in report.checks
    )
    roc, pr = (replace(curve, proportions=proportions) for curve in (report.roc, report.pr))
    return replace(
        report,
        proportions=proportions,
        estimation=estimation,
        checks=checks,
        roc=roc,
        pr=pr,
        scores_from=HOSTILE,
    )


CASES: dict[str, Callable[[], pu.PUReport]] = {
    "alpha given": lambda: evaluated(beta=0.9),
    "no replicates": lambda: evaluated(n_resamples=0, random_state=None),
    "estimated": lambda: evaluated(alpha=None, truth=SAMPLE.truth),
    "beta given": lambda: evaluated(alpha=None, beta=0.9, estimator="bbe"),
    "weights": lambda: evaluated(sample_weight=WEIGHTS, truth=SAMPLE.truth),
    "groups": lambda: evaluated(groups=np.arange(SAMPLE.scores.size) // 4),
    "known negatives": with_negatives,
    "ties": lambda: evaluated(np.round(SAMPLE.scores)),
    "censoring": lambda: evaluated(
        alpha=None, prior=0.3, scenario="censoring", target="pooled", n_resamples=0
    ),
    "every option": lambda: evaluated(
        f_beta=Fraction(1, 2), cost_fn=np.float32(5), cost_fp=2, max_fpr=0.2, top_k=np.int64(40),
        threshold=1, area="trapezoid", confidence_level=0.8, random_state=7,
        ignore_checks=["PU016"],
    ),
    "nothing flagged": lambda: evaluated(threshold=1e9),
    "infeasible": lambda: evaluated([5, 4, 3, 2, 1, 0], [1, 1, 1, 0, 0, 0], alpha=0.4),
    "not concave": not_concave,
    "bins": lambda: evaluated(SAMPLE.counts.thinned(100), None),
    "hostile texts": hostile,
    **{
        f"repair {repair}": lambda repair=repair: evaluated(beta=0.95, repair=repair)
        for repair in ("none", "paper", "isotonic", "likelihood", "blend")
    },
}  # fmt: skip


SLOW = {"repair paper", "repair isotonic", "repair blend", "nothing flagged", "beta given"}
"""Others differ from the rest in the same way."""


@pytest.fixture(
    scope="module",
    params=[pytest.param(c, marks=[pytest.mark.slow] if c in SLOW else []) for c in CASES],
)
def report(request: pytest.FixtureRequest) -> pu.PUReport:
    return CASES[request.param]()


@pytest.fixture(scope="module")
def plain() -> pu.PUReport:
    return CASES["estimated"]()


@pytest.fixture(scope="module")
def document(plain: pu.PUReport) -> dict[str, Any]:
    return plain.to_dict()


def schema_at(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """What a part of the schema comes to, after its references; null is left aside."""
    if "$ref" in part:
        return schema_at(schema, schema["$defs"][part["$ref"].rpartition("/")[2]])
    for choice in part.get("anyOf", ()):
        if choice != {"type": "null"}:
            return schema_at(schema, choice)
    return part


def undescribed(schema: dict[str, Any], part: dict[str, Any], value: Any, path: str) -> list[str]:
    """Fields of a document that the schema does not speak of."""
    part = schema_at(schema, part)
    if isinstance(value, list):
        items = value if any(isinstance(item, dict) for item in value) else []
        return [
            name
            for i, item in enumerate(items)
            for name in undescribed(schema, part["items"], item, f"{path}[{i}]")
        ]
    if not isinstance(value, dict):
        return []
    missing = []
    for key, item in value.items():
        inner = part.get("properties", {}).get(key, part.get("additionalProperties"))
        if inner is None:
            missing.append(f"{path}.{key}")
        else:
            missing += undescribed(schema, inner, item, f"{path}.{key}")
    return missing


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    found = pu.PUReport.json_schema()
    jsonschema.Draft202012Validator.check_schema(found)
    return found


def test_documents_satisfy_the_schema(report: pu.PUReport, schema: dict[str, Any]) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    for options in ({}, {"counts": False, "indent": None}):
        written = json.loads(report.to_json(**options), parse_constant=pytest.fail)
        assert [e.message for e in validator.iter_errors(written)] == []
        assert undescribed(schema, schema, written, "") == []


def test_the_schema_describes_every_field_and_can_fail(document: dict[str, Any]) -> None:
    schema = pu.PUReport.json_schema()

    def walk(part: Any, path: str) -> Iterator[str]:
        for key, inner in part.get("properties", {}).items():
            if not inner.get("description", "").strip():
                yield f"{path}.{key}"
            yield from walk(inner, f"{path}.{key}")

    parts = {"": schema, **schema["$defs"]}
    assert [name for path, part in parts.items() for name in walk(part, path)] == []
    for key, value in (("auc", 2), ("schema", "purecover.report/2"), ("checks", [{}])):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**document, key: value}, schema)
    schema.clear()
    assert pu.PUReport.json_schema()  # a copy each time


def assert_same(one: pu.PUReport, two: pu.PUReport) -> None:
    assert str(one) == str(two)
    assert repr(one) == repr(two)
    assert one.to_html() == two.to_html()
    assert one.to_markdown() == two.to_markdown()
    assert one._repr_html_() == two._repr_html_()
    assert one.counts == two.counts
    for mine, theirs in ((one.frame(), two.frame()), (one.roc.frame(), two.roc.frame())):
        assert list(mine) == list(theirs)
        for name in mine:
            np.testing.assert_array_equal(mine[name], theirs[name])
    for curve, fields in (
        ("roc", ("fpr", "tpr", "thresholds", "fpr_raw", "tpr_raw", "fpr_pu", "tpr_pu")),
        ("pr", ("recall", "precision", "thresholds", "recall_pu", "precision_pu")),
    ):
        for field in fields:
            mine, theirs = (getattr(getattr(r, curve), field) for r in (one, two))
            np.testing.assert_array_equal(mine, theirs)
    assert one.roc.repair_requested == two.roc.repair_requested
    assert one.checks == two.checks
    assert one.proportions == two.proportions
    assert one.confusion == two.confusion
    assert one.random_state == two.random_state
    assert repr(one.intervals) == repr(two.intervals)  # NaN differs from itself
    assert one.infeasible == two.infeasible
    if one.bootstrap is not None:
        for kind in ("pointwise", "simultaneous"):
            for name in ("roc_band", "pr_band"):
                mine, theirs = (getattr(r.bootstrap, name)(kind).frame() for r in (one, two))
                for column in mine:
                    np.testing.assert_array_equal(mine[column], theirs[column])
        assert repr(one.bootstrap.estimates) == repr(two.bootstrap.estimates)


def test_round_trip(report: pu.PUReport) -> None:
    text = report.to_json()
    again = pu.PUReport.from_json(text)
    assert_same(again, report)
    assert again.to_json() == text
    assert pu.PUReport.from_json(text.encode()).to_json(indent=None) == report.to_json(indent=None)
    assert pu.PUReport.from_dict(report.to_dict()).to_json() == text


def test_replicates_are_gone_and_say_so(plain: pu.PUReport) -> None:
    again = pu.PUReport.from_json(plain.to_json())
    assert again.bootstrap.n_resamples == 20
    assert not again.bootstrap.replicates
    for call in (lambda: again.bootstrap.interval("f1"), again.bootstrap.intervals):
        with pytest.raises(pu.exceptions.InvalidInputError, match=r"report\.intervals\['"):
            call()
    with pytest.raises(pu.exceptions.InvalidInputError, match="'kind' parameter"):
        again.bootstrap.roc_band("wide")


def test_counts_are_left_out_of_large_reports(
    plain: pu.PUReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert saving.MAX_THRESHOLDS == 100_000  # as the documentation says
    monkeypatch.setattr(saving, "MAX_THRESHOLDS", plain.counts.n_thresholds - 1)
    left_out = plain.to_json()
    assert json.loads(left_out)["counts"] is None
    assert json.loads(left_out)["truth"]["roc"] is None
    with pytest.raises(
        pu.exceptions.InvalidInputError, match=r"(?s)'counts'.*null.*to_json\(counts=True\)"
    ):
        pu.PUReport.from_json(left_out)
    assert_same(pu.PUReport.from_json(plain.to_json(counts=True)), plain)
    monkeypatch.setattr(saving, "MAX_THRESHOLDS", plain.counts.n_thresholds)
    assert json.loads(plain.to_json())["counts"] is not None
    assert json.loads(plain.to_json(counts=False))["counts"] is None


def test_fields_of_newer_versions_are_passed_over(
    plain: pu.PUReport, document: dict[str, Any]
) -> None:
    newer = copy.deepcopy(document)
    newer["new"] = {"a": [1, None, "x"]}
    newer["metrics"]["recovered"]["new"] = 0.5
    newer["intervals"]["new"] = {**newer["intervals"]["f1"], "new": 1}
    newer["checks"][0]["new"] = 1
    assert_same(pu.PUReport.from_dict(newer), plain)


def changed(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """A copy of the document with another value in one place, or with nothing there."""
    *parents, last = path
    inner: Any = dict(document)
    out: dict[str, Any] = inner
    for key in parents:
        inner[key] = copy.copy(inner[key])
        inner = inner[key]
    if value is KeyError:
        del inner[last]
    else:
        inner[last] = value
    return out


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("schema",), "purecover.report/2", r"'schema' is 'purecover.report/1', got.*version"),
        (("auc",), KeyError, "missing required field `auc`"),
        (("auc",), float("nan"), "field 'auc' is free of NaN.*write null"),
        (("counts", "thresholds", 3), float("inf"), r"field 'counts.thresholds\[3\]' is free of"),
        (("counts", "labeled", 3), 7, "field 'n_labeled' is .*, as its counts"),
        (("counts", "unlabeled"), [1, 2], "field 'counts'.*as long as"),
        (("n_thresholds",), 12, "field 'n_thresholds' is .*, as its counts"),
        (("metrics", "observed", "mcc"), 0.5, "field 'metrics.observed.mcc' is .*, as its counts"),
        (("proportions", "alpha"), 0.99, "field 'proportions'.*alpha < beta"),
        (("options", "top_k"), 10**9, "field 'options'.*at most"),
        (("repair_pr",), "hull", "field 'repair_pr' is 'isotonic' or 'blend'"),
        (("checks", 2, "severity"), "grave", r"at 'checks\[2\].severity': Invalid"),
        (("bootstrap", "roc_band", "pointwise", "low"), [1], "as long as its x"),
        (("estimation", "notes"), [1], r"at 'estimation.notes\[0\]': Expected `str`"),
        (("estimation", "identification", "alpha"), [1], "Expected `array` of length 2"),
        (("truth", "roc", "fpr"), [0, None], "field 'truth.roc' is three lists"),
    ],
)
def test_complaints(
    document: dict[str, Any], path: tuple[Any, ...], value: Any, message: str
) -> None:
    with pytest.raises(pu.exceptions.InvalidInputError, match=f"(?s){message}"):
        pu.PUReport.from_dict(changed(document, path, value))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "(?s)'text' parameter of PUReport.from_json.*content of the file"),
        ("report.json", "content of the file, not its name"),
        ("{" * 100_000, "'text' parameter"),
        (
            '{"schema": "purecover.report/1", "version": "0.1.0", "auc": NaN}',
            "field 'auc' is free of NaN",
        ),
        (
            '{"schema": "purecover.report/1", "version": "0.1.0", "auc": 1e999}',
            "field 'auc' is free of NaN",
        ),
        (b"\xff\xfe\xfd", "'text' parameter"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_texts_that_are_no_reports(text: str | bytes, message: str) -> None:
    with pytest.raises(pu.exceptions.PurecoverError, match=message):
        pu.PUReport.from_json(text)


def tokens_of(text: str) -> list[Any]:
    parsed = MarkdownIt("commonmark", {"linkify": False}).enable("table").parse(text)
    return [inner for token in parsed for inner in (token, *(token.children or ()))]


def test_markdown_shows_the_figures(report: pu.PUReport) -> None:
    text = report.to_markdown()
    tokens = tokens_of(text)
    kinds = {token.type for token in tokens}
    # Whatever the texts of the data hold, no more than our own markup comes of it.
    assert not kinds & {"link_open", "image", "code_inline", "fence", "hr", "em_open"}
    html = "".join(t.content for t in tokens if t.type in {"html_block", "html_inline"})
    assert set(re.findall(r"</?\w+", html)) == {
        "<details", "</details", "<summary", "</summary", "<sub", "</sub",
    }  # fmt: skip
    assert html.count("<details") == 1
    headings = [t for t in tokens if t.type == "heading_open"]
    printed = [each for each in report_document(report).sections if text_of([each])]
    assert len(headings) == 1 + len(printed)
    assert all(c.isprintable() or c in "\n\u200b" for c in text)
    cells = [t.content.replace("\\", "") for t in tokens if t.type == "inline"]
    for name in set(report.metrics) - {"f_beta"}:
        value = report.metrics[name]
        shown = f"{value:.4f}" if np.isfinite(value) else "undefined"
        assert ("-" if name in report.hardly_known else shown) in cells
        interval = report.intervals.get(name)
        if interval is not None and np.isfinite(interval.low):
            assert f"[{interval.low:.4f}, {interval.high:.4f}]" in cells


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE, "- a", "# a", "1. a", "=====", "---", "> a", "    a", "a  \nb", "[a]: b",
        "![a](b)", "<b>", "\\", "&copy;", "|a|b|", "```",
    ],
)  # fmt: skip
def test_escaped_texts_are_only_text(text: str) -> None:
    tokens = tokens_of(escape(text))
    assert {t.type for t in tokens} <= {"paragraph_open", "inline", "text", "paragraph_close",
                                        "text_special"}  # fmt: skip
    shown = "".join(t.content for t in tokens if t.type == "text").replace("\u200b", "")
    expected = "".join(c if c.isprintable() else " " for c in text)
    assert shown == " ".join(expected.split())


MARK, NUMBER = 0.73914, 73914.0


@pytest.mark.parametrize("width", [0.74, 0.76])
def test_a_value_that_is_hardly_known_is_a_dash_in_all_that_people_read(width: float) -> None:
    """The value of every metric, and of every number, is a mark that is looked for."""
    example = pu.load_example()
    report = pu.evaluate(example.scores, example.labeled, n_resamples=20)
    ends = {"low": 0.95 - width, "high": 0.95}
    numbers = dict.fromkeys(("tp", "fp", "fn", "tn"), (0.0, NUMBER * width))
    confusion = replace(report.confusion, **dict.fromkeys(numbers, NUMBER), intervals=numbers)
    wide = replace(
        report,
        auc=MARK,
        metrics=replace(report.metrics, values_=dict.fromkeys(report.metrics, MARK)),
        intervals={
            name: replace(each, estimate=MARK, **ends)
            for name, each in report.intervals.items()
            if name not in ("alpha", "beta")
        },
        confusion=confusion,
    )
    unbounded = {"lift", "lee_liu", "cost"}
    assert set(wide.hardly_known) == (
        {*wide.metrics, *numbers} - unbounded if width > 0.75 else set()
    )
    assert json.loads(wide.to_json())["hardly_known"] == list(wide.hardly_known)
    choice = pu.choose_threshold(report.counts, report.proportions, "f1")
    page = re.sub(r"(?s)<script.*?</script>|<path.*?/>", "", wide.to_html())
    written = {
        "text": str(wide),
        "details": wide.details(),
        "Markdown": wide.to_markdown(),
        "page": page,
        "notebook": re.sub("(?s)<path.*?/>", "", wide._repr_html_()),
        "threshold": threshold_text(replace(choice, metrics=wide.metrics), wide),
    }
    shown = re.compile(r"(?<![\d.])0\.739?1?|73\.9|73,914")
    for name, text in written.items():
        kept = [
            line for line in re.split(r"\n|</tr>", text) if not re.search("Lift|Lee|Cost", line)
        ]
        assert bool(shown.search("\n".join(kept))) == (width < 0.75), name
    dashed = [f"corrected ({word} –)" in page for word in ("AUC", "area")]
    assert dashed == [width > 0.75] * 2


def test_notebook_cells_are_inert(report: pu.PUReport) -> None:
    cell = Page(report._repr_html_())
    assert cell.open == []
    assert {tag for tag, _ in cell.elements} <= {
        "div", "p", "svg", "g", "path", "rect", "text", "circle", "table", "thead", "tbody", "tr",
        "th", "td", "span", "ul", "li", "strong", "details", "summary",
    }  # fmt: skip
    # Nothing that another cell, or the notebook itself, could meet.
    assert {name for _, attributes in cell.elements for name in attributes} <= {
        "class", "style", "viewbox", "width", "height", "role", "aria-label", "aria-hidden",
        "scope", "font-family", "font-size", "fill", "fill-opacity", "stroke", "stroke-opacity",
        "d", "x", "y", "dy", "text-anchor", "transform", "cx", "cy", "r", "stroke-width",
        "stroke-dasharray", "stroke-linejoin", "open", "colspan",
    }  # fmt: skip
    assert [a["class"] for _, a in cell.elements if "class" in a] == ["purecover-report"]
    styles = "".join(a.get("style") or "" for _, a in cell.elements)
    assert "url(" not in styles
    assert "position" not in styles
