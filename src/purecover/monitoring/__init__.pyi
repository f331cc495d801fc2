from purecover.monitoring.monitor import ScoreMonitor as ScoreMonitor
