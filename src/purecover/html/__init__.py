"""Results as pages of one file: text, tables, figures, and scripts that load nothing."""

from __future__ import annotations

from purecover.html.page import render_report

__all__ = ["render_report"]
