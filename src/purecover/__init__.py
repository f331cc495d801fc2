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
    "AlphaMax": "purecover.estimation._alphamax",
    "AlphaMaxCurve": "purecover.estimation._alphamax_curve",
    "AlphaMaxDisplay": "purecover.displays",
    "AlphaMaxN": "purecover.estimation._alphamax",
    "AuditEstimate": "purecover.audit._posterior",
    "AuditPlan": "purecover.audit._plan",
    "BBE": "purecover.estimation._bbe",
    "BaggedNetworks": "purecover.models._networks",
    "BestScorer": "purecover.models._best_scorer",
    "BinningBounds": "purecover.recovery._binning",
    "BootstrapResult": "purecover.intervals._replicates",
    "CHECKS": "purecover.checks",
    "CandidateScore": "purecover.models._choice",
    "CheckContext": "purecover.checks",
    "CheckResult": "purecover.checks",
    "CleanTest": "purecover.estimation._clean",
    "ClusteredLabels": "purecover.estimation._clustered",
    "CombinedAudit": "purecover.audit._combine",
    "CurveBand": "purecover.intervals._interval",
    "DEDPUL": "purecover.estimation._dedpul",
    "DistCurve": "purecover.estimation._dist_curve",
    "DriftTest": "purecover.monitoring",
    "ElkanNoto": "purecover.estimation._elkan_noto",
    "ErrorMap": "purecover.recovery._error_maps",
    "ErrorMapDisplay": "purecover.displays",
    "ExampleScores": "purecover._example",
    "FeaturePriorEstimator": "purecover.estimation._rows",
    "FittedRoc": "purecover.estimation._fitted_roc",
    "GaussianMixtures": "purecover.estimation._gaussian_mixture",
    "Inclusions": "purecover.estimation._base",
    "Interval": "purecover.intervals._interval",
    "KernelMean": "purecover.estimation._kernel_mean",
    "LabelCurve": "purecover.estimation._label_curve",
    "LineOfInterest": "purecover.recovery._error_maps",
    "METRICS": "purecover.recovery._registry",
    "ManyReports": "purecover.report._many_reports",
    "ManyRow": "purecover.report._many_reports",
    "MedianEnsemble": "purecover.estimation._ensemble",
    "Metric": "purecover.recovery._registry",
    "MetricCurves": "purecover.recovery._thresholds",
    "MixtureProportions": "purecover.proportions",
    "MonitorDrift": "purecover.monitoring",
    "MonitorPartition": "purecover.monitoring",
    "NoisyLabels": "purecover.estimation._noisy",
    "PUCalibratedClassifier": "purecover.models._calibrated",
    "PUReport": "purecover.report",
    "PURoc": "purecover.curves",
    "PUScorer": "purecover.scorers",
    "PaperData": "purecover.studies._datasets",
    "PatraSen": "purecover.estimation._patra_sen",
    "PearsonDivergence": "purecover.estimation._pearson",
    "PenalizedL1": "purecover.estimation._penalized_l1",
    "PriorComparison": "purecover.estimation._comparison",
    "PriorEstimate": "purecover.estimation._estimate",
    "PriorEstimator": "purecover.estimation._base",
    "PriorRow": "purecover.estimation._comparison",
    "PriorsDisplay": "purecover.displays",
    "RecoveredBounds": "purecover.recovery._bounds",
    "RecoveredConfusion": "purecover.recovery._confusion",
    "RecoveredMetrics": "purecover.recovery._metrics",
    "RecoveredPr": "purecover.recovery._pr",
    "RecoveredPrDisplay": "purecover.displays",
    "RecoveredRoc": "purecover.recovery._roc",
    "RecoveredRocDisplay": "purecover.displays",
    "Regrouping": "purecover.estimation._regrouping",
    "RocSlope": "purecover.estimation._roc_slope",
    "Rows": "purecover.estimation._rows",
    "ScarTest": "purecover.estimation._scar",
    "ScoreComparison": "purecover.report._comparison",
    "ScoreCounts": "purecover.counts",
    "ScoreMonitor": "purecover.monitoring",
    "SensitivityDisplay": "purecover.displays",
    "SensitivityGrid": "purecover.recovery._sensitivity",
    "StratifiedAudit": "purecover.audit._strata",
    "Subsampling": "purecover.estimation._subsampling",
    "TIcE": "purecover.estimation._tice",
    "ThresholdChoice": "purecover.recovery._thresholds",
    "ThresholdDisplay": "purecover.displays",
    "alpha_from_audit": "purecover.audit._posterior",
    "auc_from_pu": "purecover.recovery._auc",
    "auc_identification_interval": "purecover.recovery._auc",
    "auc_interval": "purecover.intervals._delong",
    "auc_pu": "purecover.curves",
    "auc_pu_variance": "purecover.curves",
    "auc_sensitivity": "purecover.recovery._sensitivity",
    "auc_to_pu": "purecover.recovery._auc",
    "bagged_scores_many": "purecover.models._many",
    "binning_bounds": "purecover.recovery._binning",
    "bootstrap": "purecover.intervals._bootstrap",
    "choose_threshold": "purecover.recovery._thresholds",
    "clean_test": "purecover.estimation._clean",
    "combine_audit": "purecover.audit._combine",
    "compare_priors": "purecover.estimation._compare",
    "compare_scores": "purecover.report._compare",
    "correct_posterior": "purecover.recovery._posterior",
    "cross_fit_scores": "purecover.models._cross_fit",
    "error_map": "purecover.recovery._error_maps",
    "error_maps": "purecover.recovery._error_maps",
    "evaluate": "purecover.report",
    "evaluate_many": "purecover.report._many",
    "evaluate_model": "purecover.report._evaluate_model",
    "group_resampler": "purecover.intervals._groups",
    "inclusion_bound": "purecover.estimation._bounds",
    "lines_of_interest": "purecover.recovery._error_maps",
    "list_checks": "purecover.checks",
    "load_example": "purecover._example",
    "load_paper_data": "purecover.studies._datasets",
    "log_report": "purecover.integrations._mlflow",
    "make_pu_scorer": "purecover.scorers",
    "min_auc_pr": "purecover.recovery._pr",
    "observe_rates": "purecover.recovery._rates",
    "plan_audit": "purecover.audit._plan",
    "plan_strata": "purecover.audit._strata",
    "posterior_band": "purecover.recovery._posterior",
    "prior_estimators": "purecover.estimation._registry",
    "pu_roc_curve": "purecover.curves",
    "recover_auc": "purecover.recovery._auc",
    "recover_auc_pr_direct": "purecover.recovery._pr",
    "recover_bounds": "purecover.recovery._bounds",
    "recover_confusion": "purecover.recovery._confusion",
    "recover_metric_curves": "purecover.recovery._thresholds",
    "recover_metrics": "purecover.recovery._metrics",
    "recover_partial_auc_direct": "purecover.recovery._partial",
    "recover_pr": "purecover.recovery._pr",
    "recover_precision": "purecover.recovery._rates",
    "recover_rates": "purecover.recovery._rates",
    "recover_roc": "purecover.recovery._roc",
    "register_prior_estimator": "purecover.estimation._registry",
    "run_checks": "purecover.checks",
    "scan_files": "purecover.engines._files",
    "scar_test": "purecover.estimation._scar",
    "sensitivity": "purecover.recovery._sensitivity",
    "stratified_audit": "purecover.audit._strata",
}
_MODULES = ("exceptions", "simulate")

__all__ = [*_HOMES, *_MODULES, "__version__"]  # noqa: PLE0604 - they are strings

if TYPE_CHECKING:
    from purecover import exceptions as exceptions
    from purecover import simulate as simulate
    from purecover._example import ExampleScores as ExampleScores
    from purecover._example import load_example as load_example
    from purecover.audit._combine import CombinedAudit as CombinedAudit
    from purecover.audit._combine import combine_audit as combine_audit
    from purecover.audit._plan import AuditPlan as AuditPlan
    from purecover.audit._plan import plan_audit as plan_audit
    from purecover.audit._posterior import AuditEstimate as AuditEstimate
    from purecover.audit._posterior import alpha_from_audit as alpha_from_audit
    from purecover.audit._strata import StratifiedAudit as StratifiedAudit
    from purecover.audit._strata import plan_strata as plan_strata
    from purecover.audit._strata import stratified_audit as stratified_audit
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
    from purecover.engines._files import scan_files as scan_files
    from purecover.estimation._alphamax import AlphaMax as AlphaMax
    from purecover.estimation._alphamax import AlphaMaxN as AlphaMaxN
    from purecover.estimation._alphamax_curve import AlphaMaxCurve as AlphaMaxCurve
    from purecover.estimation._base import Inclusions as Inclusions
    from purecover.estimation._base import PriorEstimator as PriorEstimator
    from purecover.estimation._bbe import BBE as BBE
    from purecover.estimation._bounds import inclusion_bound as inclusion_bound
    from purecover.estimation._clean import CleanTest as CleanTest
    from purecover.estimation._clean import clean_test as clean_test
    from purecover.estimation._clustered import ClusteredLabels as ClusteredLabels
    from purecover.estimation._compare import compare_priors as compare_priors
    from purecover.estimation._comparison import PriorComparison as PriorComparison
    from purecover.estimation._comparison import PriorRow as PriorRow
    from purecover.estimation._dedpul import DEDPUL as DEDPUL
    from purecover.estimation._dist_curve import DistCurve as DistCurve
    from purecover.estimation._elkan_noto import ElkanNoto as ElkanNoto
    from purecover.estimation._ensemble import MedianEnsemble as MedianEnsemble
    from purecover.estimation._estimate import PriorEstimate as PriorEstimate
    from purecover.estimation._fitted_roc import FittedRoc as FittedRoc
    from purecover.estimation._gaussian_mixture import GaussianMixtures as GaussianMixtures
    from purecover.estimation._kernel_mean import KernelMean as KernelMean
    from purecover.estimation._label_curve import LabelCurve as LabelCurve
    from purecover.estimation._noisy import NoisyLabels as NoisyLabels
    from purecover.estimation._patra_sen import PatraSen as PatraSen
    from purecover.estimation._pearson import PearsonDivergence as PearsonDivergence
    from purecover.estimation._penalized_l1 import PenalizedL1 as PenalizedL1
    from purecover.estimation._registry import prior_estimators as prior_estimators
    from purecover.estimation._registry import register_prior_estimator as register_prior_estimator
    from purecover.estimation._regrouping import Regrouping as Regrouping
    from purecover.estimation._roc_slope import RocSlope as RocSlope
    from purecover.estimation._rows import FeaturePriorEstimator as FeaturePriorEstimator
    from purecover.estimation._rows import Rows as Rows
    from purecover.estimation._scar import ScarTest as ScarTest
    from purecover.estimation._scar import scar_test as scar_test
    from purecover.estimation._subsampling import Subsampling as Subsampling
    from purecover.estimation._tice import TIcE as TIcE
    from purecover.integrations._mlflow import log_report as log_report
    from purecover.intervals._bootstrap import bootstrap as bootstrap
    from purecover.intervals._delong import auc_interval as auc_interval
    from purecover.intervals._groups import group_resampler as group_resampler
    from purecover.intervals._interval import CurveBand as CurveBand
    from purecover.intervals._interval import Interval as Interval
    from purecover.intervals._replicates import BootstrapResult as BootstrapResult
    from purecover.models._best_scorer import BestScorer as BestScorer
    from purecover.models._calibrated import PUCalibratedClassifier as PUCalibratedClassifier
    from purecover.models._choice import CandidateScore as CandidateScore
    from purecover.models._cross_fit import cross_fit_scores as cross_fit_scores
    from purecover.models._many import bagged_scores_many as bagged_scores_many
    from purecover.models._networks import BaggedNetworks as BaggedNetworks
    from purecover.monitoring import DriftTest as DriftTest
    from purecover.monitoring import MonitorDrift as MonitorDrift
    from purecover.monitoring import MonitorPartition as MonitorPartition
    from purecover.monitoring import ScoreMonitor as ScoreMonitor
    from purecover.proportions import MixtureProportions as MixtureProportions
    from purecover.recovery._auc import auc_from_pu as auc_from_pu
    from purecover.recovery._auc import auc_identification_interval as auc_identification_interval
    from purecover.recovery._auc import auc_to_pu as auc_to_pu
    from purecover.recovery._auc import recover_auc as recover_auc
    from purecover.recovery._binning import BinningBounds as BinningBounds
    from purecover.recovery._binning import binning_bounds as binning_bounds
    from purecover.recovery._bounds import RecoveredBounds as RecoveredBounds
    from purecover.recovery._bounds import recover_bounds as recover_bounds
    from purecover.recovery._confusion import RecoveredConfusion as RecoveredConfusion
    from purecover.recovery._confusion import recover_confusion as recover_confusion
    from purecover.recovery._error_maps import ErrorMap as ErrorMap
    from purecover.recovery._error_maps import LineOfInterest as LineOfInterest
    from purecover.recovery._error_maps import error_map as error_map
    from purecover.recovery._error_maps import error_maps as error_maps
    from purecover.recovery._error_maps import lines_of_interest as lines_of_interest
    from purecover.recovery._metrics import RecoveredMetrics as RecoveredMetrics
    from purecover.recovery._metrics import recover_metrics as recover_metrics
    from purecover.recovery._partial import recover_partial_auc_direct as recover_partial_auc_direct
    from purecover.recovery._posterior import correct_posterior as correct_posterior
    from purecover.recovery._posterior import posterior_band as posterior_band
    from purecover.recovery._pr import RecoveredPr as RecoveredPr
    from purecover.recovery._pr import min_auc_pr as min_auc_pr
    from purecover.recovery._pr import recover_auc_pr_direct as recover_auc_pr_direct
    from purecover.recovery._pr import recover_pr as recover_pr
    from purecover.recovery._rates import observe_rates as observe_rates
    from purecover.recovery._rates import recover_precision as recover_precision
    from purecover.recovery._rates import recover_rates as recover_rates
    from purecover.recovery._registry import METRICS as METRICS
    from purecover.recovery._registry import Metric as Metric
    from purecover.recovery._roc import RecoveredRoc as RecoveredRoc
    from purecover.recovery._roc import recover_roc as recover_roc
    from purecover.recovery._sensitivity import SensitivityGrid as SensitivityGrid
    from purecover.recovery._sensitivity import auc_sensitivity as auc_sensitivity
    from purecover.recovery._sensitivity import sensitivity as sensitivity
    from purecover.recovery._thresholds import MetricCurves as MetricCurves
    from purecover.recovery._thresholds import ThresholdChoice as ThresholdChoice
    from purecover.recovery._thresholds import choose_threshold as choose_threshold
    from purecover.recovery._thresholds import recover_metric_curves as recover_metric_curves
    from purecover.report import PUReport as PUReport
    from purecover.report import evaluate as evaluate
    from purecover.report._compare import compare_scores as compare_scores
    from purecover.report._comparison import ScoreComparison as ScoreComparison
    from purecover.report._evaluate_model import evaluate_model as evaluate_model
    from purecover.report._many import evaluate_many as evaluate_many
    from purecover.report._many_reports import ManyReports as ManyReports
    from purecover.report._many_reports import ManyRow as ManyRow
    from purecover.scorers import PUScorer as PUScorer
    from purecover.scorers import make_pu_scorer as make_pu_scorer
    from purecover.studies._datasets import PaperData as PaperData
    from purecover.studies._datasets import load_paper_data as load_paper_data


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
