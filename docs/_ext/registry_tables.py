"""Directives that ask the registries: ``estimator-table``, ``check-table`` and ``metric-table``.

What an estimator assumes and where it fails stands in its docstring, in paragraphs that begin with
``Assumes:`` and ``Known to fail:``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from markdown_it import MarkdownIt
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import purecover

Rows = Iterable[tuple[str, ...]]


def said(cls: type, word: str) -> str:
    """A paragraph of the docstring of a class, without its first word and its last stop."""
    found = re.search(rf"^ *{word}: (.+?)\.\n\n", cls.__doc__ or "", re.DOTALL | re.MULTILINE)
    if found is None:
        raise ValueError(f"the docstring of {cls.__name__} has no paragraph '{word}: ...'")
    return " ".join(found.group(1).split())


def link(cls: type) -> str:
    """The page of a class of this package, or the name and the package of another one."""
    if cls.__module__.startswith("purecover."):
        return f":class:`~purecover.estimators.{cls.__name__}`"
    return f"``{cls.__module__.rpartition('.')[0]}.{cls.__name__}``"


def estimators() -> Rows:
    """All registered estimators, as reStructuredText."""
    for name, cls in purecover.estimators.prior_estimators().items():
        summary = (cls.__doc__ or "").strip().split("\n\n")[0].replace("\n    ", " ")
        finds = "alpha, beta" if cls().estimates_beta else "alpha"
        yield (
            f"``{name}``, {link(cls)}",
            f"{cls.takes}; {finds}",
            summary.removesuffix("."),
            said(cls, "Assumes"),
            said(cls, "Known to fail"),
        )


def checks() -> Rows:
    """All checks, as reStructuredText."""
    for check in purecover.checks.list_checks():
        yield f":doc:`{check.code} </checks/{check.code}>`", check.title, check.severity


KINDS = {
    "ranking": "all thresholds",
    "threshold": "one threshold",
    "top_k": "the best k unlabeled",
    "probability": "scores as probabilities",
}


def metrics() -> Rows:
    """All metrics, as reStructuredText."""
    for name, metric in purecover.METRICS.items():
        low, high = (f"{end:g}".replace("inf", "∞") for end in metric.range)
        better = "high" if metric.greater_is_better else "low"
        of = "yes" if metric.depends_on_prior else "no"
        yield f"``{name}``", metric.title, KINDS[metric.kind], of, f"{low} to {high}", better


class RegistryTable(SphinxDirective):
    """A table made of a registry."""

    folder: str
    heads: tuple[str, ...]
    widths: tuple[int, ...]

    def rows(self) -> Rows:
        """Return the rows below the heads."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Write the table as text, and let docutils read it."""
        for source in (Path(purecover.__file__).parent / self.folder).glob("*.py"):
            self.env.note_dependency(str(source))
        try:
            rows = [self.heads, *self.rows()]
        except ValueError as error:
            raise self.error(str(error)) from error
        lines = [".. list-table::", "   :header-rows: 1", f"   :class: {self.folder}"]
        lines += [f"   :widths: {' '.join(map(str, self.widths))}", ""]
        for row in rows:
            lines += [f"   {'  -' if at else '* -'} {cell}" for at, cell in enumerate(row)]
        container = nodes.container()
        source = self.env.doc2path(self.env.docname)
        self.state.nested_parse(StringList(lines, source), self.content_offset, container)
        return container.children


class ReleaseNotes(SphinxDirective):
    """The notes of ``CHANGELOG.md``, below the line that begins them."""

    def run(self) -> list[nodes.Node]:
        """Write Markdown as HTML."""
        source = Path(self.env.srcdir).parent / "CHANGELOG.md"
        self.env.note_dependency(str(source))
        _, _, notes = source.read_text(encoding="utf-8").partition("<!-- releases -->")
        html = MarkdownIt().enable("table").render(notes)
        html = html.replace("<table>", '<table class="table">')
        return [nodes.raw("", html, format="html")]


class EstimatorTable(RegistryTable):
    """A table of all registered estimators."""

    folder = "estimators"
    heads = ("name, class", "takes", "idea", "assumes", "known to fail")
    widths = (18, 11, 25, 22, 24)

    def rows(self) -> Rows:
        """Ask the registry."""
        return estimators()


class CheckTable(RegistryTable):
    """A table of all checks."""

    folder = "checks"
    heads = ("code", "what it is about", "severity")
    widths = (12, 56, 32)

    def rows(self) -> Rows:
        """Ask the registry."""
        return checks()


class MetricTable(RegistryTable):
    """A table of all metrics."""

    folder = "recovery"
    heads = ("name", "title", "taken at", "depends on the prior", "values", "good")
    widths = (20, 32, 18, 12, 10, 8)

    def rows(self) -> Rows:
        """Ask the registry."""
        return metrics()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("estimator-table", EstimatorTable)
    app.add_directive("release-notes", ReleaseNotes)
    app.add_directive("check-table", CheckTable)
    app.add_directive("metric-table", MetricTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
