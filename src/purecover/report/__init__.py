"""The whole evaluation in one call, and the report it returns."""

from __future__ import annotations

from purecover.report.evaluation import evaluate
from purecover.report.results import PUReport

__all__ = ["PUReport", "evaluate"]
