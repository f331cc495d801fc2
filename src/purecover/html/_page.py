"""From a report to the text of a page; computes nothing new."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from purecover.html._figures import pr_chart, roc_chart
from purecover.html._tables import confusion, estimation, metric_sections, threshold_rows
from purecover.html._words import by_severity, facts, headline, interval_note, level, thinning
from purecover.html._words import versions as _versions

if TYPE_CHECKING:
    from purecover.report._report import PUReport

__all__ = ["render_report"]

STYLES = ("style.css", "report.css")
ENGINE = tuple(
    f"js/engine/{name}.js"
    for name in ("arrays", "observed", "likelihood", "repairs", "metrics", "recover")
)
"""Scripts that compute, in their order: each uses what those before it define."""
CHARTS = (
    "vendor/plot.min.js",
    "js/document.js",
    "js/charts/frame.js",
    "js/charts/plots.js",
    "js/charts/figure.js",
)
"""Scripts that every page with charts runs first."""
SCRIPTS = (
    *CHARTS,
    "js/charts/heat.js",
    *ENGINE,
    "js/report/state.js",
    "js/report/specs.js",
    "js/report/charts.js",
    "js/report/tables.js",
    "js/report/page.js",
)
"""Scripts of a report."""


def render_report(report: PUReport, *, command: str | None = None, title: str | None = None) -> str:
    """A report as a self-contained page.

    Parameters
    ----------
    report : PUReport
        What :func:`purecover.evaluate` returned.
    command : str, optional
        The command that made the report, to be shown on the page.
    title : str, optional
        Heading of the page.

    Returns
    -------
    str
        HTML that holds its data, style and scripts and loads nothing; a content security policy
        inside the page lets no other script run and nothing be fetched or sent. Where scripts do
        not run, text, tables and curves are there all the same.

    Examples
    --------
    >>> from purecover import evaluate, simulate
    >>> sample = simulate.binormal(1.5).sample(200, 1000, alpha=0.25, random_state=0)
    >>> report = evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0)
    >>> report.to_html().startswith("<!doctype html>")
    True
    """
    from purecover.html._payload import make_payload

    payload = make_payload(report)
    return fill_template(
        "report.html.j2",
        STYLES,
        SCRIPTS,
        title=title or "Recovered performance",
        headline=headline(report),
        findings=by_severity(report),
        quiet=[check for check in report.checks if not check.fired],
        charts=[roc_chart(report), pr_chart(report)],
        estimation=estimation(report),
        sections=metric_sections(report),
        at_threshold=threshold_rows(report),
        confusion=confusion(report),
        level=level(report),
        interval_note=interval_note(report),
        truth=report.truth,
        facts=facts(report),
        versions=_versions(),
        thinning=thinning(payload["thinned"], report.counts),
        command=command,
        payload=payload,
    )


def fill_template(name: str, styles: Sequence[str], scripts: Sequence[str], **values: Any) -> str:
    """A page from our template, with our style sheets and scripts inside and a policy for them.

    The template gets ``style``, ``scripts`` and ``policy`` beside the ``values``.
    """
    from markupsafe import Markup

    style = "".join(_resource(each) for each in styles)
    texts = [_resource(each) for each in scripts]
    page: str = (
        _environment()
        .get_template(name)
        .render(
            # Our own files, byte for byte what the hashes of the policy were taken of.
            style=Markup(style),  # noqa: S704
            scripts=[Markup(text) for text in texts],  # noqa: S704
            policy=_policy(style, texts),
            **values,
        )
    )
    return page


@cache
def _resource(name: str) -> str:
    return files("purecover.html").joinpath(name).read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(_resource),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _policy(style: str, scripts: Sequence[str] = ()) -> str:
    """What a browser may do with the page: apply this style, run these scripts, nothing else."""
    run = f"script-src {' '.join(_digest(text) for text in scripts)}; " if scripts else ""
    # A script draws pictures to be saved, which have addresses of the kind blob.
    images = "data: blob:" if scripts else "data:"
    return (
        f"default-src 'none'; {run}style-src {_digest(style)}; img-src {images}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
