"""Results as pages of one file: text, tables, figures, and scripts that load nothing."""

from __future__ import annotations

from purecover.html.page import render_report
from purecover.html.words import estimated_by, shown_metrics, title_of

__all__ = ["estimated_by", "render_report", "shown_metrics", "title_of"]
