"""The parts of a check: what it looks at, its result, and the reach of sampling noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from purecover import _validation as valid
from purecover._codec import Saved
from purecover._typing import FloatArray
from purecover._validation import public
from purecover.counts import ScoreCounts
from purecover.estimators.estimate import PriorEstimate
from purecover.estimators.sources import KindsTest, RankTest, SourcesEstimate
from purecover.proportions import MixtureProportions, UncertainProportions
from purecover.recovery.curves import RecoveredRoc
from purecover.recovery.rates import check_data

Severity: TypeAlias = Literal["error", "warning", "note"]
Status: TypeAlias = Literal["fired", "quiet", "not applicable", "silenced"]
Topic: TypeAlias = Literal[
    "sample", "scores", "threshold", "target", "proportions", "feasibility", "estimate",
    "random labels", "clean labels", "label errors",
]  # fmt: skip
"""The subject of a check: "feasibility" is whether alpha and beta contradict the scores, "estimate"
whether the scores determine alpha, "clean labels" whether labels taken as correct are."""


@dataclass(frozen=True)
class CheckResult(Saved):
    """The result of one check.

    Attributes
    ----------
    code : str
        Stable number of the check, e.g. ``"PU002"``.
    title : str
        What is the matter where the check finds something.
    severity : {"error", "warning", "note"}
        How much a finding matters.
    status : {"fired", "quiet", "not applicable", "silenced"}
        Whether there is a finding, none, nothing to look at, or the check was ignored.
    message : str
        What was found, with the numbers.
    hint : str
        What to do about it; empty unless the check fired.

    Examples
    --------
    >>> from purecover.checks.base import CheckResult
    >>> print(CheckResult("PU010", "the sample is small", "warning", "fired", "12 labeled."))
    PU010 warning, the sample is small: 12 labeled.
    """

    code: str
    title: str
    severity: Severity
    status: Status
    message: str
    hint: str = ""

    @property
    def topic(self) -> Topic | None:
        """The subject of the check; None for a check of another version."""
        return REGISTRY[self.code].topic if self.code in REGISTRY else None

    @property
    def fired(self) -> bool:
        """Whether there is a finding."""
        return self.status == "fired"

    @property
    def outcome(self) -> str:
        """In a word: the severity of a finding, passed, not applicable or ignored."""
        words = {"fired": self.severity, "quiet": "passed", "silenced": "ignored"}
        return words.get(self.status, self.status)

    def __str__(self) -> str:
        text = f"{self.code} {self.outcome}, {self.title}: {self.message}"
        return f"{text}\n  Hint: {self.hint}" if self.hint else text


@dataclass(frozen=True, kw_only=True)
class CheckContext:
    """The data and results that the checks look at.

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
    optimism : tuple of float or None
        By how much choosing the threshold on these data raises the observed true- and
        false-positive rates, by the replicates; the metrics are corrected for it.
    prior : float or None
        Share of positives in the population that precision is for, if known.
    n_groups : int or None
        Groups of dependent rows that were resampled, if there were any.
    interval_varies_proportions : bool
        Whether the intervals of the report vary alpha and beta too.
    estimation : PriorEstimate or None
        How alpha and beta were estimated, if they were.
    stated : tuple of str and float, or None
        ``("label_frequency", 0.4)`` or ``("prior", 0.2)`` where the caller gave that and not alpha.
    audit : UncertainProportions or None
        Alpha and beta with their uncertainty, from scores and an audit, if they were given so.
    dates : RankTest or None
        Scores of rows labeled earlier against those labeled later, if dates were given.
    sources : SourcesEstimate or None
        The number of positives by two sources of labels, if these were given.
    kinds : KindsTest or None
        Kinds of labeled rows against those of positives that judges found, if kinds were given.
    """

    counts: ScoreCounts
    proportions: MixtureProportions
    roc: RecoveredRoc
    threshold: float | None = None
    threshold_chosen: bool = True
    optimism: tuple[float, float] | None = None
    prior: float | None = None
    n_groups: int | None = None
    interval_varies_proportions: bool = False
    estimation: PriorEstimate | None = None
    stated: tuple[str, float] | None = None
    audit: UncertainProportions | None = None
    dates: RankTest | None = None
    sources: SourcesEstimate | None = None
    kinds: KindsTest | None = None

    @public
    def __post_init__(self) -> None:
        check_data(self.counts, self.proportions)
        made_by = "build it with recover_roc(counts, proportions)"
        valid.check_instance("roc", self.roc, RecoveredRoc, made_by)
        if self.threshold is not None:
            valid.check_real("threshold", self.threshold)
        if self.prior is not None:
            valid.check_real("prior", self.prior, low=0, high=1)
        if self.n_groups is not None:
            valid.check_integer("n_groups", self.n_groups, low=1)
        valid.check_flag("interval_varies_proportions", self.interval_varies_proportions)
        if self.estimation is not None:
            hint = "take it from a report: evaluate(scores, labeled).estimation"
            valid.check_instance("estimation", self.estimation, PriorEstimate, hint)
        same_size = self.roc.fpr_raw.size == self.counts.n_thresholds + 1
        if self.roc.proportions != self.proportions or not same_size:
            must = "recovered from these counts and proportions"
            raise valid.bad_value("roc", must, repr(self.roc), made_by)


@dataclass(frozen=True)
class Finding:
    """The return value of the function of a check, which adds code and title.

    ``severity`` is given if it is another than that of the check.
    """

    status: Status
    message: str
    hint: str = ""
    severity: Severity | None = None


fired = partial(Finding, "fired")
quiet = partial(Finding, "quiet")
not_applicable = partial(Finding, "not applicable")


def count(number: float) -> str:
    """Format a number of rows; an effective number need not be whole."""
    return f"{number:,.0f}" if number == round(number) else f"{number:,.1f}"


@dataclass(frozen=True)
class Check:
    """A numbered check.

    Attributes
    ----------
    code : str
        Stable number, e.g. ``"PU002"``.
    title : str
        What is the matter where the check finds something.
    severity : {"error", "warning", "note"}
        How much a finding matters.
    function : callable
        Looks at a :class:`CheckContext`.
    topic : str
        What the check is about.
    needs : str or None
        The field of :class:`CheckContext` without which the check does not apply.
    """

    code: str
    title: str
    severity: Severity
    function: Callable[[CheckContext], Finding]
    topic: Topic
    needs: str | None = None

    def run(self, context: CheckContext | None) -> CheckResult:
        """Look at the data; None if the check is ignored."""
        if context is None:
            found = Finding("silenced", "ignored, as the caller wished.")
        elif self.needs is not None and getattr(context, self.needs) is None:
            found = not_applicable(NEEDED[self.needs])
        else:
            found = self.function(context)
        severity = found.severity or self.severity
        return CheckResult(self.code, self.title, severity, found.status, found.message, found.hint)


NEEDED = {
    "audit": "no rows were judged.",
    "dates": "no dates of labels were given.",
    "estimation": "alpha does not follow from the scores alone.",
    "kinds": "no kinds of rows were given, or judges found no positive.",
    "prior": "no target was named.",
    "sources": "no sources of labels were given.",
    "threshold": "no threshold is in use.",
}
"""Fields of :class:`CheckContext` that a check may need, and the message where one is None."""

REGISTRY: dict[str, Check] = {}
"""Every check by its code, in the order of definition."""


def check(
    code: str, title: str, severity: Severity, topic: Topic, needs: str | None = None
) -> Callable[[Callable[[CheckContext], Finding]], Check]:
    """Turn a function into a :class:`Check` and register it."""

    def decorate(function: Callable[[CheckContext], Finding]) -> Check:
        REGISTRY[code] = Check(code, title, severity, function, topic, needs)
        return REGISTRY[code]

    return decorate


FALSE_ALARM_RATE = 0.01
"""Share of sound data sets at which a check that scans all thresholds may fire."""

_ITERATIONS = 3
_MAX_SKEWNESS = 0.4


def critical_value(n: float, level: float = FALSE_ALARM_RATE) -> float:
    r"""Return the height that a studentized deviation exceeds with probability ``level``.

    As the threshold moves, a deviation divided by its standard error behaves like an
    Ornstein-Uhlenbeck process in half the logit of the rank, which spans about
    :math:`\log n` from the first example to the last. Such a process exceeds a height
    :math:`z` on one side with probability about :math:`\log(n)\,z\,\varphi(z)`.
    """
    z = 3.0
    for _ in range(50):  # a contraction: z changes the right-hand side only by its logarithm
        z = math.sqrt(2 * math.log(math.log(max(n, 20.0)) * z / (level * math.sqrt(2 * math.pi))))
    return z


def shortfall(
    few: FloatArray, many: FloatArray, n_few: Any, n_many: Any, ratio: float
) -> FloatArray:
    r"""Return the standard errors by which a share falls short of ``ratio`` times another.

    Tests :math:`p_{few} \ge r\,p_{many}` for two independent binomial counts: the signed
    root of the likelihood ratio against the nearest :math:`(rp, p)`, with a continuity
    correction of half a count each. It stays valid if a tail has only a handful of rows, which
    the estimate divided by its standard error does not. 0 if nothing falls short.
    """
    from scipy.special import xlogy

    out = np.zeros(few.size)
    few, many = few + 0.5, np.maximum(many - 0.5, 0.0)
    short = few / n_few < ratio * many / n_many
    few, many = few[short], many[short]
    n_few, n_many = (np.broadcast_to(n, out.shape)[short] for n in (n_few, n_many))
    # Under the constraint the likelihood is stationary at the root of a quadratic.
    squared = ratio * (n_few + n_many)
    linear = n_many + few + ratio * (many + n_few)
    constant = few + many
    root = np.sqrt(np.maximum(linear**2 - 4 * squared * constant, 0))
    p = np.minimum(2 * constant / (linear + root), 1.0)

    deviance = np.zeros(few.size)
    for k, n, share in ((few, n_few, ratio * p), (many, n_many, p)):
        deviance += 2 * (xlogy(k, k / n) + xlogy(n - k, 1 - k / n))
        deviance -= 2 * (xlogy(k, share) + xlogy(n - k, 1 - share))
    out[short] = np.sqrt(np.maximum(deviance, 0))
    return out


def contrast(
    shares: Sequence[FloatArray], sizes: Sequence[float], coefficients: Sequence[float]
) -> FloatArray:
    r"""Return the standard errors by which a sum :math:`\sum_i c_i p_i` of shares differs from 0.

    The standard error is that of the shares moved, by least squares, to where the sum is 0
    (the estimate divided by its own standard error explodes where a tail is empty by
    chance), and skewness is taken out to first order (Cornish-Fisher). 0 where the counts
    are too few for either.
    """
    size, c = np.array(sizes)[:, None], np.array(coefficients)[:, None]
    observed = np.stack(shares)
    difference = (c * observed).sum(axis=0)
    p = (observed * size + 0.5) / (size + 1)
    for _ in range(_ITERATIONS):
        step = c * p * (1 - p) / size
        pull = difference / np.maximum((c * step).sum(axis=0), np.finfo(np.float64).tiny)
        p = np.clip(observed - step * pull, 0, 1)
        # A share moved onto 0 or 1 would look certain and never move again.
        p = np.clip(p, 0.5 / size, 1 - 0.5 / size)
    variance = (c**2 * p * (1 - p) / size).sum(axis=0)
    skewness = (c**3 * p * (1 - p) * (1 - 2 * p) / size**2).sum(axis=0) / variance**1.5
    z = difference / np.sqrt(variance)
    z = z - skewness * (z**2 - 1) / 6
    return np.where(np.abs(skewness) <= _MAX_SKEWNESS, z, 0.0)
