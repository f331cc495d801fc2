from purecover.displays.curves import RecoveredPrDisplay as RecoveredPrDisplay
from purecover.displays.curves import RecoveredRocDisplay as RecoveredRocDisplay
from purecover.displays.evidence import EvidenceDisplay as EvidenceDisplay
from purecover.displays.grids import SensitivityDisplay as SensitivityDisplay
from purecover.displays.priors import PriorsDisplay as PriorsDisplay
from purecover.displays.probabilities import CalibrationDisplay as CalibrationDisplay
from purecover.displays.probabilities import DecisionCurveDisplay as DecisionCurveDisplay
from purecover.displays.thresholds import ThresholdDisplay as ThresholdDisplay
