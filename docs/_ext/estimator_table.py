"""The directive ``estimator-table``: all registered estimators, so that none is missing.

Its argument is a file of comma-separated values beside the page, with the columns ``name``,
``assumes`` and ``fails``. Everything else comes from the classes themselves.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import purecover

HEADS = ("name, class", "takes", "idea", "assumes", "known to fail", "source")
WIDTHS = (16, 10, 22, 20, 22, 10)


def table(assumptions: dict[str, dict[str, str]]) -> list[tuple[str, ...]]:
    """The rows, as reStructuredText; those of ``assumptions`` must be all there are."""
    known = purecover.estimators.prior_estimators()
    if set(known) != set(assumptions):
        raise ValueError(
            f"no row for {sorted(set(known) - set(assumptions))}, "
            f"no estimator for {sorted(set(assumptions) - set(known))}"
        )
    rows = []
    for name, cls in known.items():
        summary = (cls.__doc__ or "").strip().split("\n\n")[0].replace("\n    ", " ")
        said = assumptions[name]
        finds = "alpha, beta" if cls().estimates_beta else "alpha"
        rows.append(
            (
                f"``{name}``, :class:`~purecover.estimators.{cls.__name__}`",
                f"{cls.takes}; {finds}",
                summary.removesuffix("."),
                said["assumes"],
                said["fails"],
                cls.reference or "purecover",
            )
        )
    return rows


class EstimatorTable(SphinxDirective):
    """A table of all registered estimators."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Ask the registry."""
        path = Path(self.env.doc2path(self.env.docname)).parent / self.arguments[0]
        self.env.note_dependency(str(path))
        for source in (Path(purecover.__file__).parent / "estimators").glob("*.py"):
            self.env.note_dependency(str(source))
        with path.open(encoding="utf-8", newline="") as file:
            assumptions = {row["name"]: row for row in csv.DictReader(file)}
        try:
            rows = table(assumptions)
        except ValueError as error:
            raise self.error(f"{self.arguments[0]}: {error}") from error
        lines = [".. list-table::", "   :header-rows: 1", "   :class: estimators"]
        lines += [f"   :widths: {' '.join(map(str, WIDTHS))}", ""]
        for row in (HEADS, *rows):
            lines += [f"   {'  -' if at else '* -'} {cell}" for at, cell in enumerate(row)]
        container = nodes.container()
        self.state.nested_parse(StringList(lines, str(path)), self.content_offset, container)
        return container.children


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("estimator-table", EstimatorTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
