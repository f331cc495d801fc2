"""The limits of numeric parameters: what a refusal says of them is what the reference says."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import purecover as pu
from purecover.exceptions import InvalidInputError
from purecover_paper import systems

SAMPLE = pu.simulate.binormal(1.5).sample(40, 160, alpha=0.3, random_state=0)
ROWS = SAMPLE.scores, SAMPLE.labeled
COUNTED, CLEAN = pu.ScoreCounts.from_scores(*ROWS), pu.MixtureProportions(0.3)

ESTIMATORS: list[tuple[type[Any], str, str]] = [
    (pu.estimators.AlphaMax, "step", "[0.0001, 0.05]"),
    (pu.estimators.BBE, "error", "(0, 1)"),
    (pu.estimators.BBE, "gamma", "[0, inf]"),
    (systems.ClusteredLabels, "n_clusters", "at least 1"),
    (pu.estimators.DEDPUL, "bandwidth_unlabeled", "[0.001, 10]"),
    (pu.estimators.DEDPUL, "bandwidth_labeled", "[0.001, 10]"),
    (pu.estimators.DEDPUL, "n_points", "at least 20 and at most 10000"),
    (systems.DistCurve, "n_curves", "at least 1"),
    (pu.estimators.ElkanNoto, "quantile", "(0, 1]"),
    (systems.FittedRoc, "n_thresholds", "at least 2"),
    (systems.GaussianMixtures, "n_starts", "at least 1"),
    (systems.GaussianMixtures, "ridge", "(0, inf)"),
    (systems.GaussianMixtures, "max_iter", "at least 1"),
    (systems.KernelMean, "width", "(0, inf)"),
    (systems.KernelMean, "max_points", "at least 10"),
    (systems.PatraSen, "n_grid", "at least 3"),
    (systems.PatraSen, "max_thresholds", "at least 10"),
    (systems.PearsonDivergence, "n_centers", "at least 1"),
    (systems.PearsonDivergence, "n_folds", "at least 2"),
    (systems.PenalizedL1, "n_centers", "at least 1"),
    (systems.PenalizedL1, "n_folds", "at least 2"),
    (systems.Regrouping, "share", "(0, 1)"),
    (pu.estimators.RocSlope, "error", "(0, 1)"),
    (pu.estimators.RocSlope, "n_thresholds", "at least 2"),
    (systems.TIcE, "n_intervals", "at least 2 and at most 1000"),
    (systems.TIcE, "max_bepp", "[0, inf]"),
    (systems.TIcE, "max_splits", "at least 1"),
    (systems.TIcE, "min_size", "at least 1"),
    (systems.TIcE, "error", "(0, 1)"),
    (systems.TIcE, "n_folds", "at least 2"),
    (systems.TIcE, "n_rounds", "at least 1"),
]


def metrics(**options: Any) -> Any:
    return pu.recover_metrics(COUNTED, CLEAN, **options)


def roc() -> pu.recovery.RecoveredRoc:
    return pu.recover_roc(COUNTED, CLEAN)


def intervals(**options: Any) -> Any:
    return pu.estimators.BBE().fit(COUNTED).interval(**options)


FUNCTIONS: list[tuple[str, Callable[..., Any], str, str]] = [
    ("auc_from_pu", lambda auc: pu.recovery.auc_from_pu(auc, CLEAN), "auc", "[0, 1]"),
    ("auc_to_pu", lambda auc: pu.recovery.auc_to_pu(auc, CLEAN), "auc", "[0, 1]"),
    (
        "auc_interval",
        lambda auc: pu.recovery.auc_identification_interval(auc, 0.1),
        "auc",
        "[0, 1]",
    ),
    (
        "auc_interval",
        lambda unlabeled_inclusion: pu.recovery.auc_identification_interval(
            0.7, unlabeled_inclusion
        ),
        "unlabeled_inclusion",
        "[0, 1)",
    ),
    (
        "auc_interval",
        lambda labeled_inclusion: pu.recovery.auc_identification_interval(
            0.7, 0.1, labeled_inclusion
        ),
        "labeled_inclusion",
        "[0, 1)",
    ),
    (
        "clean_test",
        lambda significance: pu.estimators.clean_test(COUNTED, significance=significance),
        "significance",
        "(0, 1)",
    ),
    (
        "compare_priors",
        lambda n_resamples: pu.compare_priors(COUNTED, n_resamples=n_resamples),
        "n_resamples",
        "at least 0 and at most 10000000",
    ),
    ("compare_priors", lambda beta: pu.compare_priors(COUNTED, beta=beta), "beta", "(0, 1]"),
    ("interval", intervals, "n_resamples", "at least 1 and at most 10000000"),
    (
        "scar_test",
        lambda n_permutations: pu.estimators.scar_test(
            *ROWS, alpha=0.3, n_permutations=n_permutations
        ),
        "n_permutations",
        "at least 19",
    ),
    (
        "scar_test",
        lambda alpha: pu.estimators.scar_test(*ROWS, alpha=alpha),
        "alpha",
        "(0, 1)",
    ),
    (
        "recover_bounds",
        lambda confidence_level: pu.recover_bounds(COUNTED, 0.3, confidence_level=confidence_level),
        "confidence_level",
        "(0, 1)",
    ),
    (
        "recover_bounds",
        lambda alpha_range: pu.recover_bounds(COUNTED, (alpha_range, 0.3)),
        "alpha_range",
        "[0, 1]",
    ),
    (
        "recover_partial_auc_direct",
        lambda max_fpr: pu.recovery.recover_partial_auc_direct(COUNTED, CLEAN, max_fpr),
        "max_fpr",
        "(0, 1]",
    ),
    (
        "correct_posterior",
        lambda prior: pu.recovery.correct_posterior(0.3, 0.3, CLEAN, prior=prior),
        "prior",
        "[0, 1]",
    ),
    (
        "posterior_band",
        lambda labeled_share: pu.recovery.posterior_band(labeled_share, CLEAN),
        "labeled_share",
        "(0, 1)",
    ),
    ("min_auc_pr", pu.recovery.min_auc_pr, "prior", "[0, 1]"),
    (
        "recover_precision",
        lambda labeled_share: pu.recovery.recover_precision(0.5, labeled_share, CLEAN),
        "labeled_share",
        "(0, 1)",
    ),
    (
        "recover_rates",
        lambda tpr_pu: pu.recovery.recover_rates(tpr_pu, 0.1, CLEAN),
        "tpr_pu",
        "[0, 1]",
    ),
    ("recover_metrics", metrics, "f_beta", "(0, 1e+06]"),
    ("recover_metrics", metrics, "cost_fn", "[0, inf)"),
    ("recover_metrics", metrics, "cost_fp", "[0, inf)"),
    ("recover_metrics", metrics, "max_fpr", "(0, 1]"),
    ("recover_metrics", metrics, "top_k", "at least 1"),
    ("partial_auc", lambda max_fpr: roc().partial_auc(max_fpr), "max_fpr", "(0, 1]"),
    ("tpr_at", lambda fpr: roc().tpr_at(fpr), "fpr", "[0, 1]"),
    ("fpr_at", lambda tpr: roc().fpr_at(tpr), "tpr", "[0, 1]"),
    (
        "choose_threshold",
        lambda min_labeled: pu.choose_threshold(COUNTED, CLEAN, "f1", min_labeled=min_labeled),
        "min_labeled",
        "at least 0",
    ),
    (
        "choose_threshold",
        lambda value: pu.choose_threshold(COUNTED, CLEAN, "recall", value),
        "value",
        "[0, 1]",
    ),
]


def refusal(call: Callable[..., Any], parameter: str) -> str:
    with pytest.raises(InvalidInputError, match=f"'{parameter}'") as caught:
        call(**{parameter: -3})
    return str(caught.value)


def check(message: str, limits: str) -> None:
    """The limits stand there, and nothing follows that would widen them."""
    assert re.search(re.escape(limits) + r"(?! and|\d)", message), message


@pytest.mark.parametrize(("cls", "parameter", "limits"), ESTIMATORS)
def test_estimators(cls: type[Any], parameter: str, limits: str) -> None:
    check(refusal(lambda **given: cls(**given).fit(COUNTED), parameter), limits)


@pytest.mark.parametrize(
    ("call", "parameter", "limits"),
    [pytest.param(*row[1:], id=f"{row[0]}-{row[2]}") for row in FUNCTIONS],
)
def test_functions(call: Callable[..., Any], parameter: str, limits: str) -> None:
    check(refusal(call, parameter), limits)
