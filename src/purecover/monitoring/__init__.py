"""Scores that arrive in partitions: running counts in a file, and a watch for drift."""

from purecover.monitoring._monitor import ScoreMonitor
from purecover.monitoring._partition import DriftTest, MonitorDrift, MonitorPartition

__all__ = ["DriftTest", "MonitorDrift", "MonitorPartition", "ScoreMonitor"]
