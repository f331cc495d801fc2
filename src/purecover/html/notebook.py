"""A report as a cell of a notebook: no script, no style sheet, no names that others might use.

Everything is styled where it stands, so that nothing leaks into the notebook and two reports do
not meet; text takes the color of the notebook, and curves take colors that show on white and on
black, since a page within a page cannot know which it is.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from purecover._view import by_severity, headline, metric_columns, metric_row
from purecover.html.page import roc_chart

if TYPE_CHECKING:
    from purecover.report.results import PUReport


COLORS = {"error": "#d64545", "warning": "#c78a1e", "note": "#5b8fc9"}
"""Marks of findings; the words say the same."""

_SHOWN = (
    "roc_auc", "auc_pr", "recall", "specificity", "precision", "f1", "mcc", "precision_at_k",
    "recall_at_k",
)  # fmt: skip


def render_notebook(report: PUReport) -> str:
    """Findings, ROC curve and main metrics as a fragment of HTML that can stand in any page."""
    text: str = _template().render(
        headline=headline(report),
        chart=roc_chart(report),
        columns=metric_columns(report),
        rows=[metric_row(report, name) for name in _SHOWN if name in report.metrics],
        confusion=str(report.confusion).capitalize(),
        findings=by_severity(report),
        colors=COLORS,
    )
    return text


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    source = files("purecover.html").joinpath("notebook.html.j2").read_text(encoding="utf-8")
    return environment.from_string(source)
