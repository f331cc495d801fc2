from purecover.monitoring.drift import DriftTest as DriftTest
from purecover.monitoring.drift import MonitorDrift as MonitorDrift
from purecover.monitoring.drift import MonitorPartition as MonitorPartition
from purecover.monitoring.monitor import ScoreMonitor as ScoreMonitor
