"""Scores that arrive in partitions: running counts in a file, and a watch for drift."""

from purecover.monitoring.drift import DriftTest, MonitorDrift, MonitorPartition
from purecover.monitoring.monitor import ScoreMonitor

__all__ = ["DriftTest", "MonitorDrift", "MonitorPartition", "ScoreMonitor"]
