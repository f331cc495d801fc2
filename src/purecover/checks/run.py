"""Every check by its code, and one call that runs them all."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from purecover._validation import check_instance, check_names, public
from purecover.checks import curves, samples, shares  # noqa: F401 - their checks register themselves
from purecover.checks.base import REGISTRY, Check, CheckContext, CheckResult

CHECKS: Mapping[str, Check] = MappingProxyType(dict(sorted(REGISTRY.items())))
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
