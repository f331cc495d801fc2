from purecover.intervals.evidence import evidence_constant as evidence_constant
from purecover.intervals.evidence import evidence_thresholds as evidence_thresholds
from purecover.intervals.interval import Interval as Interval
from purecover.intervals.interval import auc_interval as auc_interval
from purecover.intervals.replicates import bootstrap as bootstrap
from purecover.intervals.replicates import curve_band as curve_band
from purecover.intervals.resampling import group_resampler as group_resampler
