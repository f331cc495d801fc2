from purecover.displays.curves import RecoveredPrDisplay as RecoveredPrDisplay
from purecover.displays.curves import RecoveredRocDisplay as RecoveredRocDisplay
from purecover.displays.curves import ThresholdDisplay as ThresholdDisplay
from purecover.displays.maps import ErrorMapDisplay as ErrorMapDisplay
from purecover.displays.maps import SensitivityDisplay as SensitivityDisplay
from purecover.displays.priors import AlphaMaxDisplay as AlphaMaxDisplay
from purecover.displays.priors import PriorsDisplay as PriorsDisplay
