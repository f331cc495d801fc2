from purecover.monitoring.drift import DriftTest as DriftTest
from purecover.monitoring.monitor import ScoreMonitor as ScoreMonitor
from purecover.monitoring.state import MonitorPartition as MonitorPartition
