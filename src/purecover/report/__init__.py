"""The whole evaluation in one call, and the report it returns."""

from __future__ import annotations

from purecover.report._evaluate import evaluate
from purecover.report._report import PUReport

__all__ = ["PUReport", "evaluate"]
