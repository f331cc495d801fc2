from purecover.intervals.bands import curve_band as curve_band
from purecover.intervals.interval import CurveBand as CurveBand
from purecover.intervals.interval import Interval as Interval
from purecover.intervals.interval import auc_interval as auc_interval
from purecover.intervals.replicates import BootstrapResult as BootstrapResult
from purecover.intervals.replicates import bootstrap as bootstrap
from purecover.intervals.resampling import group_resampler as group_resampler
