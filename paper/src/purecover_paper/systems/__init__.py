"""Estimators of alpha and beta from the literature, registered when this module is imported.

The entry point ``purecover.estimators`` of this package names the module, so that
``purecover.estimators.prior_estimators`` lists them wherever the package is installed.
"""

from purecover_paper.systems.clustered import ClusteredLabels
from purecover_paper.systems.dedpul import DEDPUL
from purecover_paper.systems.dist_curve import DistCurve
from purecover_paper.systems.divergences import PearsonDivergence, PenalizedL1
from purecover_paper.systems.elkan_noto import ElkanNoto
from purecover_paper.systems.fitted_roc import FittedRoc
from purecover_paper.systems.gaussian_mixtures import GaussianMixtures
from purecover_paper.systems.kernel_mean import KernelMean
from purecover_paper.systems.patra_sen import PatraSen
from purecover_paper.systems.quantifier import Quantifier
from purecover_paper.systems.regrouping import Regrouping
from purecover_paper.systems.roc_slope import RocSlope
from purecover_paper.systems.rows import FeaturePriorEstimator, FeatureRows
from purecover_paper.systems.slopes import AlphaMaxPaper, AlphaMaxReleased
from purecover_paper.systems.tice import TIcE

__all__ = [
    "AlphaMaxPaper",
    "AlphaMaxReleased",
    "ClusteredLabels",
    "DEDPUL",
    "DistCurve",
    "ElkanNoto",
    "FeaturePriorEstimator",
    "FeatureRows",
    "FittedRoc",
    "GaussianMixtures",
    "KernelMean",
    "PatraSen",
    "PearsonDivergence",
    "PenalizedL1",
    "Quantifier",
    "Regrouping",
    "RocSlope",
    "TIcE",
]
