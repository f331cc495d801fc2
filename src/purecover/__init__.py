"""Recover how good a classifier really is from positive-unlabeled data.

The short story::

    import purecover as pu

    report = pu.evaluate(scores, labeled)  # or with alpha=0.25, where it is known
    print(report)
    pu.RecoveredRocDisplay(report.roc).plot()

Names are loaded when first used, so that ``import purecover`` and ``purecover --help`` cost
next to nothing.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> module that defines it. The block under TYPE_CHECKING repeats it for type
# checkers and editors; a test keeps the two equal.
_HOMES = {
    "AlphaMax": "purecover.estimators.alphamax",
    "AlphaMaxCurve": "purecover.estimators.alphamax",
    "AlphaMaxDisplay": "purecover.displays",
    "AlphaMaxN": "purecover.estimators.alphamax",
    "AuditEstimate": "purecover.audit.posterior",
    "AuditPlan": "purecover.audit.plan",
    "BBE": "purecover.estimators.bbe",
    "BaggedNetworks": "purecover.models.networks",
    "BestScorer": "purecover.models.best_scorer",
    "BinningBounds": "purecover.recovery.bounds",
    "BootstrapResult": "purecover.intervals.replicates",
    "CHECKS": "purecover.checks",
    "CandidateScore": "purecover.models.best_scorer",
    "CheckContext": "purecover.checks",
    "CheckResult": "purecover.checks",
    "CleanTest": "purecover.estimators.clean",
    "ClusteredLabels": "purecover.estimators.scar",
    "CombinedAudit": "purecover.audit.combine",
    "CurveBand": "purecover.intervals.interval",
    "DEDPUL": "purecover.estimators.dedpul",
    "DistCurve": "purecover.estimators.dist_curve",
    "DriftTest": "purecover.monitoring",
    "ElkanNoto": "purecover.estimators.elkan_noto",
    "ErrorMap": "purecover.recovery.maps",
    "ErrorMapDisplay": "purecover.displays",
    "ExampleScores": "purecover._example",
    "FeaturePriorEstimator": "purecover.estimators.rows",
    "FittedRoc": "purecover.estimators.roc_slope",
    "GaussianMixtures": "purecover.estimators.mixtures",
    "Inclusions": "purecover.estimators.base",
    "Interval": "purecover.intervals.interval",
    "KernelMean": "purecover.estimators.kernel_mean",
    "LabelCurve": "purecover.estimators.label_curve",
    "LineOfInterest": "purecover.recovery.maps",
    "METRICS": "purecover.recovery.metrics",
    "ManyReports": "purecover.report.many",
    "ManyRow": "purecover.report.many",
    "MedianEnsemble": "purecover.estimators.wrappers",
    "Metric": "purecover.recovery.metrics",
    "MetricCurves": "purecover.recovery.thresholds",
    "MixtureProportions": "purecover.proportions",
    "MonitorDrift": "purecover.monitoring",
    "MonitorPartition": "purecover.monitoring",
    "NoisyLabels": "purecover.estimators.wrappers",
    "PUCalibratedClassifier": "purecover.models.calibrated",
    "PUReport": "purecover.report",
    "PURoc": "purecover.curves",
    "PUScorer": "purecover.scorers",
    "PaperData": "purecover.paper.data",
    "PatraSen": "purecover.estimators.patra_sen",
    "PearsonDivergence": "purecover.estimators.density_ratio",
    "PenalizedL1": "purecover.estimators.density_ratio",
    "PriorComparison": "purecover.estimators.compare",
    "PriorEstimate": "purecover.estimators.estimate",
    "PriorEstimator": "purecover.estimators.base",
    "PriorRow": "purecover.estimators.compare",
    "PriorsDisplay": "purecover.displays",
    "RecoveredBounds": "purecover.recovery.bounds",
    "RecoveredConfusion": "purecover.recovery.metrics",
    "RecoveredMetrics": "purecover.recovery.metrics",
    "RecoveredPr": "purecover.recovery.pr",
    "RecoveredPrDisplay": "purecover.displays",
    "RecoveredRoc": "purecover.recovery.roc",
    "RecoveredRocDisplay": "purecover.displays",
    "Regrouping": "purecover.estimators.wrappers",
    "RocSlope": "purecover.estimators.roc_slope",
    "Rows": "purecover.estimators.rows",
    "ScarTest": "purecover.estimators.scar",
    "ScoreComparison": "purecover.report.compare",
    "ScoreCounts": "purecover.counts",
    "ScoreMonitor": "purecover.monitoring",
    "SensitivityDisplay": "purecover.displays",
    "SensitivityGrid": "purecover.recovery.maps",
    "StratifiedAudit": "purecover.audit.strata",
    "Subsampling": "purecover.estimators.wrappers",
    "TIcE": "purecover.estimators.tice",
    "ThresholdChoice": "purecover.recovery.thresholds",
    "ThresholdDisplay": "purecover.displays",
    "alpha_from_audit": "purecover.audit.posterior",
    "auc_from_pu": "purecover.recovery.auc",
    "auc_identification_interval": "purecover.recovery.auc",
    "auc_interval": "purecover.intervals.interval",
    "auc_pu": "purecover.curves",
    "auc_pu_variance": "purecover.curves",
    "auc_sensitivity": "purecover.recovery.maps",
    "auc_to_pu": "purecover.recovery.auc",
    "bagged_scores_many": "purecover.models.networks",
    "binning_bounds": "purecover.recovery.bounds",
    "bootstrap": "purecover.intervals.replicates",
    "choose_threshold": "purecover.recovery.thresholds",
    "clean_test": "purecover.estimators.clean",
    "combine_audit": "purecover.audit.combine",
    "compare_priors": "purecover.estimators.compare",
    "compare_scores": "purecover.report.compare",
    "correct_posterior": "purecover.recovery.rates",
    "cross_fit_scores": "purecover.models.cross_fit",
    "error_map": "purecover.recovery.maps",
    "error_maps": "purecover.recovery.maps",
    "evaluate": "purecover.report",
    "evaluate_many": "purecover.report.many",
    "evaluate_model": "purecover.report.evaluation",
    "group_resampler": "purecover.intervals.resampling",
    "inclusion_bound": "purecover.estimators.samples",
    "lines_of_interest": "purecover.recovery.maps",
    "list_checks": "purecover.checks",
    "load_example": "purecover._example",
    "load_paper_data": "purecover.paper.data",
    "log_report": "purecover.mlflow",
    "make_pu_scorer": "purecover.scorers",
    "min_auc_pr": "purecover.recovery.pr",
    "observe_rates": "purecover.recovery.rates",
    "plan_audit": "purecover.audit.plan",
    "plan_strata": "purecover.audit.strata",
    "posterior_band": "purecover.recovery.rates",
    "prior_estimators": "purecover.estimators.base",
    "pu_roc_curve": "purecover.curves",
    "recover_auc": "purecover.recovery.auc",
    "recover_auc_pr_direct": "purecover.recovery.pr",
    "recover_bounds": "purecover.recovery.bounds",
    "recover_confusion": "purecover.recovery.metrics",
    "recover_metric_curves": "purecover.recovery.thresholds",
    "recover_metrics": "purecover.recovery.metrics",
    "recover_partial_auc_direct": "purecover.recovery.auc",
    "recover_pr": "purecover.recovery.pr",
    "recover_precision": "purecover.recovery.rates",
    "recover_rates": "purecover.recovery.rates",
    "recover_roc": "purecover.recovery.roc",
    "register_prior_estimator": "purecover.estimators.base",
    "run_checks": "purecover.checks",
    "scan_files": "purecover.engines.files",
    "scar_test": "purecover.estimators.scar",
    "sensitivity": "purecover.recovery.maps",
    "stratified_audit": "purecover.audit.strata",
}
_MODULES = ("exceptions", "simulate")

__all__ = [*_HOMES, *_MODULES, "__version__"]  # noqa: PLE0604 - they are strings

if TYPE_CHECKING:
    from purecover import exceptions as exceptions
    from purecover import simulate as simulate
    from purecover._example import ExampleScores as ExampleScores
    from purecover._example import load_example as load_example
    from purecover.audit.combine import CombinedAudit as CombinedAudit
    from purecover.audit.combine import combine_audit as combine_audit
    from purecover.audit.plan import AuditPlan as AuditPlan
    from purecover.audit.plan import plan_audit as plan_audit
    from purecover.audit.posterior import AuditEstimate as AuditEstimate
    from purecover.audit.posterior import alpha_from_audit as alpha_from_audit
    from purecover.audit.strata import StratifiedAudit as StratifiedAudit
    from purecover.audit.strata import plan_strata as plan_strata
    from purecover.audit.strata import stratified_audit as stratified_audit
    from purecover.checks import CHECKS as CHECKS
    from purecover.checks import CheckContext as CheckContext
    from purecover.checks import CheckResult as CheckResult
    from purecover.checks import list_checks as list_checks
    from purecover.checks import run_checks as run_checks
    from purecover.counts import ScoreCounts as ScoreCounts
    from purecover.curves import PURoc as PURoc
    from purecover.curves import auc_pu as auc_pu
    from purecover.curves import auc_pu_variance as auc_pu_variance
    from purecover.curves import pu_roc_curve as pu_roc_curve
    from purecover.displays import AlphaMaxDisplay as AlphaMaxDisplay
    from purecover.displays import ErrorMapDisplay as ErrorMapDisplay
    from purecover.displays import PriorsDisplay as PriorsDisplay
    from purecover.displays import RecoveredPrDisplay as RecoveredPrDisplay
    from purecover.displays import RecoveredRocDisplay as RecoveredRocDisplay
    from purecover.displays import SensitivityDisplay as SensitivityDisplay
    from purecover.displays import ThresholdDisplay as ThresholdDisplay
    from purecover.engines.files import scan_files as scan_files
    from purecover.estimators.alphamax import AlphaMax as AlphaMax
    from purecover.estimators.alphamax import AlphaMaxCurve as AlphaMaxCurve
    from purecover.estimators.alphamax import AlphaMaxN as AlphaMaxN
    from purecover.estimators.base import Inclusions as Inclusions
    from purecover.estimators.base import PriorEstimator as PriorEstimator
    from purecover.estimators.base import prior_estimators as prior_estimators
    from purecover.estimators.base import register_prior_estimator as register_prior_estimator
    from purecover.estimators.bbe import BBE as BBE
    from purecover.estimators.clean import CleanTest as CleanTest
    from purecover.estimators.clean import clean_test as clean_test
    from purecover.estimators.compare import PriorComparison as PriorComparison
    from purecover.estimators.compare import PriorRow as PriorRow
    from purecover.estimators.compare import compare_priors as compare_priors
    from purecover.estimators.dedpul import DEDPUL as DEDPUL
    from purecover.estimators.density_ratio import PearsonDivergence as PearsonDivergence
    from purecover.estimators.density_ratio import PenalizedL1 as PenalizedL1
    from purecover.estimators.dist_curve import DistCurve as DistCurve
    from purecover.estimators.elkan_noto import ElkanNoto as ElkanNoto
    from purecover.estimators.estimate import PriorEstimate as PriorEstimate
    from purecover.estimators.kernel_mean import KernelMean as KernelMean
    from purecover.estimators.label_curve import LabelCurve as LabelCurve
    from purecover.estimators.mixtures import GaussianMixtures as GaussianMixtures
    from purecover.estimators.patra_sen import PatraSen as PatraSen
    from purecover.estimators.roc_slope import FittedRoc as FittedRoc
    from purecover.estimators.roc_slope import RocSlope as RocSlope
    from purecover.estimators.rows import FeaturePriorEstimator as FeaturePriorEstimator
    from purecover.estimators.rows import Rows as Rows
    from purecover.estimators.samples import inclusion_bound as inclusion_bound
    from purecover.estimators.scar import ClusteredLabels as ClusteredLabels
    from purecover.estimators.scar import ScarTest as ScarTest
    from purecover.estimators.scar import scar_test as scar_test
    from purecover.estimators.tice import TIcE as TIcE
    from purecover.estimators.wrappers import MedianEnsemble as MedianEnsemble
    from purecover.estimators.wrappers import NoisyLabels as NoisyLabels
    from purecover.estimators.wrappers import Regrouping as Regrouping
    from purecover.estimators.wrappers import Subsampling as Subsampling
    from purecover.intervals.interval import CurveBand as CurveBand
    from purecover.intervals.interval import Interval as Interval
    from purecover.intervals.interval import auc_interval as auc_interval
    from purecover.intervals.replicates import BootstrapResult as BootstrapResult
    from purecover.intervals.replicates import bootstrap as bootstrap
    from purecover.intervals.resampling import group_resampler as group_resampler
    from purecover.mlflow import log_report as log_report
    from purecover.models.best_scorer import BestScorer as BestScorer
    from purecover.models.best_scorer import CandidateScore as CandidateScore
    from purecover.models.calibrated import PUCalibratedClassifier as PUCalibratedClassifier
    from purecover.models.cross_fit import cross_fit_scores as cross_fit_scores
    from purecover.models.networks import BaggedNetworks as BaggedNetworks
    from purecover.models.networks import bagged_scores_many as bagged_scores_many
    from purecover.monitoring import DriftTest as DriftTest
    from purecover.monitoring import MonitorDrift as MonitorDrift
    from purecover.monitoring import MonitorPartition as MonitorPartition
    from purecover.monitoring import ScoreMonitor as ScoreMonitor
    from purecover.paper.data import PaperData as PaperData
    from purecover.paper.data import load_paper_data as load_paper_data
    from purecover.proportions import MixtureProportions as MixtureProportions
    from purecover.recovery.auc import auc_from_pu as auc_from_pu
    from purecover.recovery.auc import auc_identification_interval as auc_identification_interval
    from purecover.recovery.auc import auc_to_pu as auc_to_pu
    from purecover.recovery.auc import recover_auc as recover_auc
    from purecover.recovery.auc import recover_partial_auc_direct as recover_partial_auc_direct
    from purecover.recovery.bounds import BinningBounds as BinningBounds
    from purecover.recovery.bounds import RecoveredBounds as RecoveredBounds
    from purecover.recovery.bounds import binning_bounds as binning_bounds
    from purecover.recovery.bounds import recover_bounds as recover_bounds
    from purecover.recovery.maps import ErrorMap as ErrorMap
    from purecover.recovery.maps import LineOfInterest as LineOfInterest
    from purecover.recovery.maps import SensitivityGrid as SensitivityGrid
    from purecover.recovery.maps import auc_sensitivity as auc_sensitivity
    from purecover.recovery.maps import error_map as error_map
    from purecover.recovery.maps import error_maps as error_maps
    from purecover.recovery.maps import lines_of_interest as lines_of_interest
    from purecover.recovery.maps import sensitivity as sensitivity
    from purecover.recovery.metrics import METRICS as METRICS
    from purecover.recovery.metrics import Metric as Metric
    from purecover.recovery.metrics import RecoveredConfusion as RecoveredConfusion
    from purecover.recovery.metrics import RecoveredMetrics as RecoveredMetrics
    from purecover.recovery.metrics import recover_confusion as recover_confusion
    from purecover.recovery.metrics import recover_metrics as recover_metrics
    from purecover.recovery.pr import RecoveredPr as RecoveredPr
    from purecover.recovery.pr import min_auc_pr as min_auc_pr
    from purecover.recovery.pr import recover_auc_pr_direct as recover_auc_pr_direct
    from purecover.recovery.pr import recover_pr as recover_pr
    from purecover.recovery.rates import correct_posterior as correct_posterior
    from purecover.recovery.rates import observe_rates as observe_rates
    from purecover.recovery.rates import posterior_band as posterior_band
    from purecover.recovery.rates import recover_precision as recover_precision
    from purecover.recovery.rates import recover_rates as recover_rates
    from purecover.recovery.roc import RecoveredRoc as RecoveredRoc
    from purecover.recovery.roc import recover_roc as recover_roc
    from purecover.recovery.thresholds import MetricCurves as MetricCurves
    from purecover.recovery.thresholds import ThresholdChoice as ThresholdChoice
    from purecover.recovery.thresholds import choose_threshold as choose_threshold
    from purecover.recovery.thresholds import recover_metric_curves as recover_metric_curves
    from purecover.report import PUReport as PUReport
    from purecover.report import evaluate as evaluate
    from purecover.report.compare import ScoreComparison as ScoreComparison
    from purecover.report.compare import compare_scores as compare_scores
    from purecover.report.evaluation import evaluate_model as evaluate_model
    from purecover.report.many import ManyReports as ManyReports
    from purecover.report.many import ManyRow as ManyRow
    from purecover.report.many import evaluate_many as evaluate_many
    from purecover.scorers import PUScorer as PUScorer
    from purecover.scorers import make_pu_scorer as make_pu_scorer


# Hidden from type checkers, for which a misspelled name would otherwise be Any.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return importlib.import_module(f"purecover.{name}")
        home = _HOMES.get(name)
        if home is None:
            # With these two Python asks "Did you mean ...?" as for any other module.
            words = f"module 'purecover' has no attribute {name!r}"
            raise AttributeError(words, name=name, obj=sys.modules[__name__])
        value = getattr(importlib.import_module(home), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, *_MODULES])
