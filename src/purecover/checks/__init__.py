"""Numbered checks: what can be wrong with an evaluation from positive-unlabeled data.

Each check has a stable code, a page in the documentation, and can be silenced.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from purecover._validation import check_instance, check_names, public
from purecover.checks.base import Check, CheckContext, CheckResult
from purecover.checks.curves import (
    calibrated_outside_band,
    labels_thin_out,
    negatives_disagree,
    not_concave,
    rates_leave_box,
)
from purecover.checks.samples import (
    few_labeled_at_threshold,
    heavy_ties,
    small_samples,
    threshold_of_same_data,
)
from purecover.checks.shares import (
    alpha_close_to_beta,
    estimate_at_edge,
    estimators_disagree,
    infeasible_auc,
    interval_ignores_proportions,
    noise_not_significant,
    noise_overlooked,
    not_identifiable,
    one_class_target,
)

__all__ = ["CHECKS", "Check", "CheckContext", "CheckResult", "list_checks", "run_checks"]

CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        check.code: check
        for check in (
            alpha_close_to_beta,  # PU001
            rates_leave_box,  # PU002
            few_labeled_at_threshold,  # PU003
            estimate_at_edge,  # PU004
            heavy_ties,  # PU005
            labels_thin_out,  # PU006
            interval_ignores_proportions,  # PU007
            infeasible_auc,  # PU008
            not_concave,  # PU009
            small_samples,  # PU010
            noise_not_significant,  # PU011
            estimators_disagree,  # PU012
            calibrated_outside_band,  # PU013
            negatives_disagree,  # PU014
            one_class_target,  # PU015
            threshold_of_same_data,  # PU016
            not_identifiable,  # PU017
            noise_overlooked,  # PU018
        )
    }
)
"""Every check by its code, in order."""


def list_checks() -> tuple[Check, ...]:
    """Every check, in the order of their codes.

    Returns
    -------
    tuple of Check
        With ``code``, ``title`` and ``severity``.

    Examples
    --------
    >>> from purecover.checks import list_checks
    >>> for check in list_checks()[:2]:
    ...     print(check.code, check.severity, check.title)
    PU001 warning alpha is close to beta
    PU002 warning recovered rates leave [0, 1]
    """
    return tuple(CHECKS.values())


@public
def run_checks(context: CheckContext, *, ignore: Collection[str] = ()) -> tuple[CheckResult, ...]:
    """Run every check.

    Parameters
    ----------
    context : CheckContext
        What to look at.
    ignore : collection of str, default=()
        Codes of checks not to run, e.g. ``("PU007",)``; their results say so.

    Returns
    -------
    tuple of CheckResult
        One per check, in the order of their codes.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts, recover_roc
    >>> from purecover.checks import CheckContext, run_checks
    >>> scores = [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.4, 0.2, 0.1, 0.1]
    >>> counts = ScoreCounts.from_scores(scores, labeled=[1, 1, 0, 1, 0, 1, 0, 0, 0, 0])
    >>> proportions = MixtureProportions(alpha=0.25)
    >>> roc = recover_roc(counts, proportions)
    >>> context = CheckContext(counts=counts, proportions=proportions, roc=roc)
    >>> results = run_checks(context, ignore=["PU007"])
    >>> [result.code for result in results if result.fired]
    ['PU005', 'PU010']
    """
    check_instance("context", context, CheckContext, "build a CheckContext first")
    silenced = check_names("ignore", ignore, CHECKS)
    return tuple(check.run(None if code in silenced else context) for code, check in CHECKS.items())
