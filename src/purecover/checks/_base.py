"""What a check is, what it looks at and what it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

from purecover._validation import bad_type, bad_value, check_instance, check_integer, check_real
from purecover.counts import ScoreCounts
from purecover.estimation._estimate import PriorEstimate
from purecover.proportions import MixtureProportions
from purecover.recovery._rates import PROPORTIONS_HINT
from purecover.recovery._roc import RecoveredRoc

Severity: TypeAlias = Literal["error", "warning", "note"]
Status: TypeAlias = Literal["fired", "quiet", "not applicable", "silenced"]


@dataclass(frozen=True)
class CheckResult:
    """What one check found.

    Attributes
    ----------
    code : str
        Stable number of the check, e.g. ``"PU002"``.
    title : str
        What the check is about.
    severity : {"error", "warning", "note"}
        How much a finding matters.
    status : {"fired", "quiet", "not applicable", "silenced"}
        Whether there is a finding, none, nothing to look at, or no wish to know.
    message : str
        What was found, with the numbers.
    hint : str
        What to do about it; empty unless the check fired.

    Examples
    --------
    >>> from purecover.checks import CheckResult
    >>> print(CheckResult("PU010", "small samples", "warning", "fired", "12 labeled.", "Wait."))
    PU010 warning, small samples: 12 labeled.
      Hint: Wait.
    """

    code: str
    title: str
    severity: Severity
    status: Status
    message: str
    hint: str = ""

    @property
    def fired(self) -> bool:
        """Whether there is a finding."""
        return self.status == "fired"

    def to_dict(self) -> dict[str, str]:
        """Plain data, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        state = self.severity if self.fired else self.status
        text = f"{self.code} {state}, {self.title}: {self.message}"
        return f"{text}\n  Hint: {self.hint}" if self.hint else text


@dataclass(frozen=True, kw_only=True)
class CheckContext:
    """What the checks look at.

    Attributes
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    roc : RecoveredRoc
        The curve recovered from the two, with any repair.
    threshold : float or None
        The threshold in use, if one was named.
    threshold_chosen : bool
        Whether the threshold was named by the caller, not chosen on these data.
    prior : float or None
        Share of positives in the population that precision speaks of, if known.
    n_groups : int or None
        Groups of dependent rows that were resampled, if there were any.
    interval_varies_proportions : bool
        Whether the intervals of the report vary alpha and beta too.
    estimation : PriorEstimate or None
        How alpha and beta were estimated, if they were.
    """

    counts: ScoreCounts
    proportions: MixtureProportions
    roc: RecoveredRoc
    threshold: float | None = None
    threshold_chosen: bool = True
    prior: float | None = None
    n_groups: int | None = None
    interval_varies_proportions: bool = False
    estimation: PriorEstimate | None = None

    def __post_init__(self) -> None:
        name = "CheckContext"
        hint = "build it with ScoreCounts.from_scores(scores, labeled)"
        check_instance(name, "counts", self.counts, ScoreCounts, hint)
        check_instance(name, "proportions", self.proportions, MixtureProportions, PROPORTIONS_HINT)
        hint = "build it with recover_roc(counts, proportions)"
        check_instance(name, "roc", self.roc, RecoveredRoc, hint)
        if self.threshold is not None:
            check_real(name, "threshold", self.threshold)
        if self.prior is not None:
            check_real(name, "prior", self.prior, low=0, high=1)
        if self.n_groups is not None:
            check_integer(name, "n_groups", self.n_groups, low=1)
        if not isinstance(self.interval_varies_proportions, bool):
            must = "True or False"
            raise bad_type(
                name, "interval_varies_proportions", must, self.interval_varies_proportions
            )
        if self.estimation is not None:
            hint = "take it from a report: evaluate(scores, labeled).estimation"
            check_instance(name, "estimation", self.estimation, PriorEstimate, hint)
        same_size = self.roc.fpr_raw.size == self.counts.n_thresholds + 1
        if self.roc.proportions != self.proportions or not same_size:
            raise bad_value(
                name, "roc", "recovered from these counts and proportions", repr(self.roc), hint
            )


@dataclass(frozen=True)
class Finding:
    """What the function of a check returns; the check adds code and title."""

    status: Status
    message: str
    hint: str = ""
    severity: Severity | None = None
    """Milder than the check's own, where noise may explain the finding."""


def fired(message: str, hint: str, severity: Severity | None = None) -> Finding:
    """A finding."""
    return Finding("fired", message, hint, severity)


def quiet(message: str) -> Finding:
    """Nothing found."""
    return Finding("quiet", message)


def not_applicable(message: str) -> Finding:
    """Nothing to look at."""
    return Finding("not applicable", message)


def count(number: float) -> str:
    """A number of examples in words; effective ones need not be whole."""
    return f"{number:,.0f}" if number == round(number) else f"{number:,.1f}"


@dataclass(frozen=True)
class Check:
    """A numbered check.

    Attributes
    ----------
    code : str
        Stable number, e.g. ``"PU002"``.
    title : str
        What the check is about.
    severity : {"error", "warning", "note"}
        How much a finding matters.
    function : callable
        Looks at a :class:`CheckContext`.
    """

    code: str
    title: str
    severity: Severity
    function: Callable[[CheckContext], Finding]

    def run(self, context: CheckContext) -> CheckResult:
        """Look at the data."""
        return self._result(self.function(context))

    def silenced(self) -> CheckResult:
        """The result of not looking."""
        return self._result(Finding("silenced", "not looked at, as asked."))

    def _result(self, finding: Finding) -> CheckResult:
        return CheckResult(
            code=self.code,
            title=self.title,
            severity=finding.severity or self.severity,
            status=finding.status,
            message=finding.message,
            hint=finding.hint,
        )


def check(
    code: str, title: str, severity: Severity
) -> Callable[[Callable[[CheckContext], Finding]], Check]:
    """Turn a function into a :class:`Check`."""

    def decorate(function: Callable[[CheckContext], Finding]) -> Check:
        return Check(code, title, severity, function)

    return decorate
