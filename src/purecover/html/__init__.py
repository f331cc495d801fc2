"""The report as one static page: text, tables and inline SVG, no script, nothing fetched."""

from __future__ import annotations

from purecover.html._page import render_report
from purecover.html._titles import estimated_by, shown_metrics, title_of

__all__ = ["estimated_by", "render_report", "shown_metrics", "title_of"]
