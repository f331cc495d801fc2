"""The two mixing proportions, the scenarios they come from, and the ways a caller states them.

Everything downstream takes a :class:`MixtureProportions` and does not ask where it
came from: a known prior, an estimate and a colleague's method are equal guests.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, Protocol, Self, TypedDict, runtime_checkable

import numpy as np

from purecover import _validation as valid
from purecover._codec import Saved
from purecover._parameters import Parameters, parameter
from purecover._typing import CountArray, FloatArray, Scenario, Target
from purecover._validation import public
from purecover.counts import ScoreCounts, check_counts
from purecover.exceptions import IdentifiabilityError, InvalidInputError, Words

_CLOSEST = 1e-100  # the square and the cube of delta are also divisors
PERCENT_HINT = "it is a share: 0.25 means 25 %"
LEAST_PERCENTAGE = 1.5
"""A share that is too large by less is a slip, not a percentage."""

TARGETS = ("population", "deployment", "pooled")
SCENARIOS = ("case-control", "censoring")


def check_target(target: object) -> None:
    """One of the three words, or a prior."""
    if isinstance(target, str):
        valid.check_choice("target", target, TARGETS)
    else:
        hint = f"0.25 means 25 %; or write one of {', '.join(TARGETS)}"
        valid.check_real("target", target, low=0, high=1, hint=hint)


def is_pooled(target: str, scenario: str) -> bool:
    """Whether the prior is that of labeled and unlabeled rows together."""
    return target == "pooled" or (target == "population" and scenario == "censoring")


def percent_hint(value: object) -> str | None:
    """Return a hint for an invalid share that looks like a percentage; None for any other value."""
    looks_like = isinstance(value, (int, float)) and LEAST_PERCENTAGE <= value <= 100
    return PERCENT_HINT if looks_like or (isinstance(value, str) and "%" in value) else None


def check_share(name: str, value: object, closed: str = "both") -> float:
    """A share, with a word on percentages."""
    return valid.check_real(name, value, low=0, high=1, closed=closed, hint=percent_hint(value))


Range = tuple[float, float]
"""The least and the largest value that a share may have."""


def check_share_or_range(name: str, value: object, closed: str = "both") -> float | Range:
    """Return a share, or the two ends of a range of shares in rising order."""
    if not valid.is_iterable(value) or isinstance(value, (str, bytes, Mapping)):
        return check_share(name, value, closed)
    ends = [check_share(name, each) for each in value]
    if len(ends) != 2 or ends[0] > ends[1]:
        must = "a share, or a range of shares in rising order"
        raise valid.bad_value(name, must, valid.show(value))
    return (ends[0], ends[1]) if ends[0] < ends[1] else check_share(name, ends[0], closed)


def _check_hits(name: str, value: object) -> tuple[int, int]:
    must = "two numbers such as (25, 40): 25 of 40 followed up were positive"
    pair = tuple(value) if isinstance(value, (tuple, list)) else ()
    if len(pair) != 2:
        raise valid.bad_value(name, must, valid.show(value))
    positive, followed = (valid.check_integer(name, each, low=0) for each in pair)
    if positive > followed:
        raise valid.bad_value(name, must, valid.show(value))
    return positive, followed


TOP = "top:"
"""Begins the words for a number of highest unlabeled scores, such as ``top:500``."""


def _check_hits_from(name: str, value: object) -> float | str:
    if not isinstance(value, str):
        return valid.check_real(name, value)
    number = value.removeprefix(TOP)
    if number == value or not number.isdecimal() or int(number) == 0:
        must = "a threshold, or the number of highest unlabeled scores as 'top:500'"
        raise valid.bad_value(name, must, valid.show(value))
    return value


@dataclass(frozen=True)
class Basis(Saved):
    """Something that the alpha and beta of a posterior follow from, next to the scores.

    Attributes
    ----------
    what : str
        Judged rows, among them labeled ones, a past hit rate, or a share of that name.
    low, high : float or None
        Ends of the range of a share, twice the same for a number.
    """

    what: Literal["judged", "judged-labeled", "hits", "alpha", "beta", "prior", "label_frequency"]
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class MixtureProportions(Saved):
    r"""Shares of positives among the unlabeled and among the labeled.

    Parameters
    ----------
    alpha : float
        Share of positives among the *unlabeled*, :math:`0 \le \alpha < \beta`.
        Not the share in the pooled data: see :meth:`from_censoring` if that is what
        you know.
    beta : float, default=1.0
        Share of positives among the *labeled*; 1 means clean labels.
    origin : str, default="given"
        Where the numbers come from, in any words; reports print them as they are.
    scenario : {"case-control", "censoring"}, default="case-control"
        How the data were drawn, which decides what the population is.
        ``"case-control"``: the unlabeled are a sample of the population and the labeled
        were drawn apart, so the population's prior is ``alpha``. ``"censoring"``: one
        sample was drawn and some of its positives were labeled, so the population is the
        pooled data.
    basis : tuple of Basis, default=()
        What :func:`purecover.audit.combine` and ranges make them follow from.

    Raises
    ------
    IdentifiabilityError
        If alpha is not below beta, or by less than 1e-100.

    See Also
    --------
    MixtureProportions.from_case_control : From the prior of a two-sample design.
    MixtureProportions.from_censoring : From the prior or the label frequency of a
        one-sample design.

    Notes
    -----
    With the densities :math:`f_1` of positives and :math:`f_0` of negatives, the unlabeled
    follow :math:`f = \alpha f_1 + (1-\alpha) f_0` and the labeled
    :math:`g = \beta f_1 + (1-\beta) f_0`.

    Examples
    --------
    >>> from purecover import MixtureProportions
    >>> proportions = MixtureProportions(alpha=0.25, beta=0.75)
    >>> proportions.delta
    0.5
    """

    alpha: float
    beta: float = 1.0
    origin: str = "given"
    scenario: Scenario = "case-control"
    basis: tuple[Basis, ...] = field(default=(), repr=False)

    @public
    def __post_init__(self) -> None:
        alpha = check_share("alpha", self.alpha)
        beta = check_share("beta", self.beta)
        if not isinstance(self.origin, str):
            raise valid.bad_type("origin", "a string", self.origin)
        valid.check_choice("scenario", self.scenario, SCENARIOS)
        given: Any = self.basis  # also as plain data
        try:
            basis = tuple(each if isinstance(each, Basis) else Basis(**each) for each in given)
        except TypeError as error:
            raise valid.bad_type("basis", "that of other proportions", self.basis) from error
        if not alpha < beta:
            raise IdentifiabilityError(
                f"{{function}} needs alpha < beta, got alpha={alpha:g} and beta={beta:g}: the "
                "labeled rows would be no richer in positives than the unlabeled ones "
                "(PU001).\n"
                "Hint: were the labels inverted, or is alpha the share in another population?"
            )
        if beta - alpha < _CLOSEST:
            raise IdentifiabilityError(
                f"{{function}} needs alpha and beta that differ by {_CLOSEST:g} or more, got "
                f"alpha={alpha:g} and beta={beta:g}: recovered rates would be beyond all numbers.\n"
                "Hint: are both shares, between 0 and 1?"
            )
        # Plain floats, so that results do not carry NumPy scalars into JSON.
        object.__setattr__(self, "alpha", alpha)
        object.__setattr__(self, "beta", beta)
        object.__setattr__(self, "basis", basis)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        found = super().to_dict()
        return found if self.basis else {k: v for k, v in found.items() if k != "basis"}

    # -- where proportions come from ----------------------------------------------------

    @classmethod
    @public
    def from_case_control(
        cls, prior: float, beta: float = 1.0, *, origin: str = "given"
    ) -> MixtureProportions:
        """Proportions of a two-sample design: unlabeled drawn from the population itself.

        Parameters
        ----------
        prior : float
            Share of positives in the population.
        beta : float, default=1.0
            Share of positives among the labeled.
        origin : str, default="given"
            Where the numbers come from.

        Returns
        -------
        MixtureProportions
            With ``alpha = prior``.

        Examples
        --------
        >>> from purecover import MixtureProportions
        >>> MixtureProportions.from_case_control(0.2).alpha
        0.2
        """
        check_share("prior", prior)
        check_share("beta", beta)
        return cls(prior, beta, origin, "case-control")

    @classmethod
    @public
    def from_censoring(
        cls,
        counts: ScoreCounts | None = None,
        *,
        prior: float | None = None,
        label_frequency: float | None = None,
        labeled_share: float | None = None,
        beta: float = 1.0,
        origin: str = "given",
    ) -> MixtureProportions:
        r"""Proportions of a one-sample design: some positives of one sample got labeled.

        Parameters
        ----------
        counts : ScoreCounts, optional
            The data, from which the labeled share is taken.
        prior : float, optional
            Share of positives in the whole sample, labeled and unlabeled together.
        label_frequency : float, optional
            Probability that a positive got labeled. Give this or ``prior``.
        labeled_share : float, optional
            Share of labeled rows, if ``counts`` is not given.
        beta : float, default=1.0
            Share of positives among the labeled.
        origin : str, default="given"
            Where the numbers come from.

        Returns
        -------
        MixtureProportions
            With ``scenario="censoring"``.

        Notes
        -----
        With the labeled share :math:`c` and the prior :math:`\pi` of the whole sample,
        :math:`\alpha = (\pi - \beta c) / (1 - c)`; a label frequency :math:`\ell` means
        :math:`\pi = \beta c / \ell`. Forgetting the division by :math:`1-c`, or using
        :math:`\pi` itself as alpha, are the usual mistakes.

        Examples
        --------
        >>> from purecover import MixtureProportions
        >>> p = MixtureProportions.from_censoring(label_frequency=0.4, labeled_share=0.1)
        >>> round(p.alpha, 7)
        0.1666667
        """
        for names, one, other in (
            ("'counts' and 'labeled_share'", counts, labeled_share),
            ("'prior' and 'label_frequency'", prior, label_frequency),
        ):
            if (one is None) == (other is None):
                raise InvalidInputError(f"{{function}} needs exactly one of {names}.")
        if counts is None:
            share = check_share("labeled_share", labeled_share, "neither")
        else:
            check_counts(counts)
            share = counts.labeled_share
        beta = check_share("beta", beta)
        parameter, shown, closed = "prior", prior, "both"
        if label_frequency is not None:
            parameter, shown, closed = "label_frequency", label_frequency, "right"
        given = check_share(parameter, shown, closed)
        alpha = _left_unlabeled(share, beta, prior, label_frequency)
        # A prior that leaves fewer than no positives among the unlabeled, or as many as among the
        # labeled.
        rounding = 1e-12
        if not -rounding <= alpha < beta:
            hint = "the prior counts the labeled positives too: it is at least beta * labeled_share"
            hint += f" = {beta * share:.4g}, and below beta"
            if parameter == "label_frequency":
                hint = f"it is above the labeled share, {share:.4g}: positives are labeled more "
                hint += "often than others"
            must = f"compatible with a labeled share of {share:g} and beta={beta:g}"
            got = f"{given:g}, which makes alpha {alpha:.4g}"
            raise valid.bad_value(parameter, must, got, hint)
        return cls(max(alpha, 0.0), beta, origin, "censoring")

    @classmethod
    @public
    def from_inclusions(
        cls,
        unlabeled_inclusion: float,
        labeled_inclusion: float = 0.0,
        *,
        origin: str = "given",
        scenario: Scenario = "case-control",
    ) -> MixtureProportions:
        r"""Combine the two identifiable inclusion proportions.

        Parameters
        ----------
        unlabeled_inclusion : float
            :math:`a`, the largest share of the labeled density inside the unlabeled one.
        labeled_inclusion : float, default=0.0
            :math:`b`, the largest share of the unlabeled density inside the labeled one.
        origin : str, default="given"
            Where the numbers come from.
        scenario : {"case-control", "censoring"}, default="case-control"
            How the data were drawn.

        Returns
        -------
        MixtureProportions
            The proportions, if positives and negatives are mutually irreducible.

        Notes
        -----
        :math:`\alpha = a(1-b)/(1-ab)` and :math:`\beta = (1-b)/(1-ab)`.

        Examples
        --------
        >>> from purecover import MixtureProportions
        >>> p = MixtureProportions.from_inclusions(1 / 3, 1 / 3)
        >>> round(p.alpha, 12), round(p.beta, 12)
        (0.25, 0.75)
        """
        a = valid.check_real("unlabeled_inclusion", unlabeled_inclusion, low=0, high=1)
        b = valid.check_real("labeled_inclusion", labeled_inclusion, low=0, high=1)
        if a == 1 or b == 1:
            raise IdentifiabilityError(
                f"{{function}} needs inclusions below 1, got {a:g} and {b:g}: labeled and "
                "unlabeled would have the same density (PU001)."
            )
        return cls(a * (1 - b) / (1 - a * b), (1 - b) / (1 - a * b), origin, scenario)

    # -- what follows from them ---------------------------------------------------------

    @property
    def delta(self) -> float:
        """``beta - alpha``, the only thing AUC and balanced accuracy need."""
        return self.beta - self.alpha

    @property
    def unlabeled_inclusion(self) -> float:
        r""":math:`a = \alpha/\beta`, the share of the labeled density inside the unlabeled."""
        return self.alpha / self.beta

    @property
    def labeled_inclusion(self) -> float:
        r""":math:`b = (1-\beta)/(1-\alpha)`, the share of the unlabeled inside the labeled."""
        return (1 - self.beta) / (1 - self.alpha)

    @property
    def _alpha_varies(self) -> bool:
        """Whether alpha is the mean of a posterior."""
        return any(each.what != "beta" for each in self.basis)

    @property
    def _beta_from(self) -> Literal["given", "judged", "scores"]:
        """Say where beta comes from."""
        whats = {each.what for each in self.basis}
        if not whats or "beta" in whats:
            return "given"
        return "judged" if "judged-labeled" in whats else "scores"

    def flipped(self) -> MixtureProportions:
        """Proportions after swapping labeled with unlabeled and positive with negative."""
        return MixtureProportions(1 - self.beta, 1 - self.alpha, self.origin, self.scenario)

    @public
    def prior(self, target: Target = "population", counts: ScoreCounts | None = None) -> float:
        r"""Prior of the population a metric is wanted for.

        Parameters
        ----------
        target : {"population", "deployment", "pooled"} or float, default="population"
            ``"deployment"``: data like the unlabeled (``alpha``). ``"pooled"``: labeled and
            unlabeled together, :math:`c\beta + (1-c)\alpha`. ``"population"``: what the
            scenario says, deployment for case-control and pooled for censoring. A number
            is the prior itself.
        counts : ScoreCounts, optional
            The data; needed for the pooled target.

        Returns
        -------
        float
            The prior.

        Examples
        --------
        >>> from purecover import MixtureProportions
        >>> MixtureProportions(0.2).prior("deployment")
        0.2
        """
        check_target(target)
        if not isinstance(target, str):
            return float(target)
        if not is_pooled(target, self.scenario):
            return self.alpha
        if counts is None:
            raise InvalidInputError("{function} needs 'counts' to know the pooled prior.")
        check_counts(counts)
        share = counts.labeled_share
        return share * self.beta + (1 - share) * self.alpha


_HINT = "build it with MixtureProportions(alpha=..., beta=...)"
check_proportions = partial(
    valid.check_instance, "proportions", kind=MixtureProportions, hint=_HINT
)
"""The check of proportions."""


# -- The four ways a caller can say what alpha and beta are, and the fifth: to be estimated ------


_STATED = ("alpha", "prior", "label_frequency")
"""Parameters of shares that alpha follows from."""

RANDOM_VERDICTS = "random-verdicts"
ASSUMABLE = ("pure-top", "clean-labels", RANDOM_VERDICTS)
"""Assumptions that a caller may make if alpha is estimated."""


class ProportionEstimator(Protocol):
    """Estimator of alpha and beta of many replicates at once."""

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Alpha and beta, one row per replicate; NaN where there is no estimate."""
        ...


@runtime_checkable
class UncertainProportions(Protocol):
    """Alpha and beta with their uncertainty, such as :class:`AuditPosterior`."""

    @property
    def believed(self) -> MixtureProportions:
        """The proportions."""
        ...

    @property
    def doubt(self) -> str:
        """Reasons against these proportions, as a sentence; empty if there are none."""
        ...

    def draws(self, n: int) -> FloatArray:
        """Pairs of alpha and beta, one row each, by how likely they are."""
        ...

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Pairs of alpha and beta for replicates, one row each, by how likely they are."""
        ...


class KnownKeywords(TypedDict, total=False):
    """Keyword parameters of alpha and beta for functions that do not estimate them."""

    alpha: float | Range | None
    beta: float | Range | None
    proportions: MixtureProportions | UncertainProportions | None
    prior: float | Range | None
    label_frequency: float | Range | None
    scenario: Scenario | None


class ProportionKeywords(KnownKeywords, total=False):
    """The same, and what estimates them where they are not known."""

    hits: tuple[int, int] | None
    hits_from: float | str | None
    estimator: ProportionEstimator | str | None
    assume: Collection[str]


def _certain(given: MixtureProportions | UncertainProportions) -> MixtureProportions:
    return given.believed if isinstance(given, UncertainProportions) else given


def _check_carried(parameter: str, value: Any) -> Any:
    if isinstance(value, UncertainProportions):
        return value
    return valid.check_instance(parameter, value, MixtureProportions)


@dataclass(frozen=True)
class FollowingShare:
    """Alpha of replicates by a prior or a label frequency, and the share of labeled rows.

    Chance has its part in that share. Replicates of groups have one of their own; in others
    the numbers of labeled and unlabeled rows stay, and the share is drawn.
    """

    beta: float
    prior: float | None
    label_frequency: float | None
    share: float
    n_rows: int | None
    rng: np.random.Generator

    def proportions_many(
        self, _counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Alpha, beta and the share of labeled rows, a row for each replicate."""
        if self.n_rows is None:
            n_labeled = labeled.sum(axis=1)
            share = n_labeled / (n_labeled + unlabeled.sum(axis=1))
        else:
            share = self.rng.binomial(self.n_rows, self.share, len(labeled)) / self.n_rows
        share = np.minimum(share, 1 - 1e-9)
        alpha = _left_unlabeled(share, self.beta, self.prior, self.label_frequency)
        return np.column_stack((np.maximum(alpha, 0.0), np.full(len(share), self.beta), share))


def _left_unlabeled(
    share: Any, beta: Any, prior: float | None, label_frequency: float | None
) -> Any:
    """Alpha where such a share of all rows is labeled, by a prior or a label frequency."""
    positive = prior if label_frequency is None else beta * share / label_frequency
    return (positive - beta * share) / (1 - share)


@dataclass(frozen=True)
class GivenProportions(Parameters):
    """Parameters of alpha and beta as given by the caller, before the data are known.

    Exactly one of ``alpha``, ``prior``, ``label_frequency`` and ``proportions`` is set, or none
    where the function estimates them. A prior without a scenario is refused: the same number
    means different alphas in the two. A ``beta`` of None is 1 if alpha is known, and estimated if
    alpha is. A range, or a past hit rate, leaves alpha to be estimated within it.
    """

    alpha: float | Range | None = parameter(
        None,
        "float or pair of floats",
        """Share of positives among the unlabeled, or the range it lies in: ``(0.02, 0.1)``.
        Give only one of ``alpha``, ``prior``, ``label_frequency`` and ``proportions``. A range of
        any of them is combined with the posterior of the scores; intervals vary it.""",
        check_share_or_range,
    )
    beta: float | Range | None = parameter(
        None,
        "float or pair of floats",
        """Share of positives among the labeled, or the range it lies in; 1 means clean labels.
        Where it is left out it is 1 if alpha is a number, and estimated otherwise. A known beta
        helps to estimate alpha.""",
        check_share_or_range,
    )
    proportions: MixtureProportions | UncertainProportions | None = parameter(
        None,
        "MixtureProportions or AuditPosterior",
        """Alpha, beta and the scenario at once. What :func:`purecover.audit.combine` leaves open
        of them is varied in the intervals of a report.""",
        _check_carried,
    )
    prior: float | Range | None = parameter(
        None,
        "float or pair of floats",
        "Share of positives in the population, or the range it lies in; needs ``scenario``.",
        check_share_or_range,
    )
    label_frequency: float | Range | None = parameter(
        None,
        "float or pair of floats",
        """Probability that a positive got labeled, in the censoring scenario, or the range it lies
        in. Intervals of a report vary the alpha that follows from it, or from a prior in that
        scenario, since the share of labeled rows varies.""",
        partial(check_share_or_range, closed="right"),
    )
    scenario: Scenario | None = parameter(
        None,
        '{"case-control", "censoring"}',
        "How the data were drawn; see :class:`MixtureProportions`.",
        partial(valid.check_choice, choices=SCENARIOS),
    )
    hits: tuple[int, int] | None = parameter(
        None,
        "pair of int",
        """A past hit rate: ``(25, 40)`` if 25 of 40 unlabeled rows that were followed up for their
        high scores turned out to be positive. It is combined with the posterior of the scores.""",
        _check_hits,
    )
    hits_from: float | str | None = parameter(
        None,
        "float or str",
        """Which rows ``hits`` were: a random sample of those with at least this score, or of so
        many with the highest scores, as ``"top:500"``; by default as many as were followed up.""",
        _check_hits_from,
    )
    estimator: ProportionEstimator | str | None = parameter(
        None,
        "PriorEstimator or str",
        """Estimator of alpha and beta if alpha is not given: an estimator such as
        ``AlphaMaxN()``, or a name from ``prior_estimators()``; by default
        ``ReferencePosterior()``.""",
    )
    assume: Collection[str] = parameter(
        (),
        "collection of str",
        """Assumptions if alpha is estimated: ``"pure-top"``, that the highest scores are all
        positives (and the lowest all negatives), which makes intervals narrow;
        ``"clean-labels"``, which is ``beta=1``; and ``"random-verdicts"``, that judged rows are a
        random sample of all unlabeled and of all labeled rows.""",
        partial(valid.check_names, choices=ASSUMABLE),
    )

    @property
    def ranges(self) -> dict[str, Range]:
        """Ranges by the name of their parameter."""
        found = {name: getattr(self, name) for name in (*_STATED, "beta")}
        return {name: value for name, value in found.items() if isinstance(value, tuple)}

    @property
    def is_open(self) -> bool:
        """Whether a range or a hit rate leaves an alpha open of which something is known."""
        names = set(self.ranges)
        return self.hits is not None or bool(names & set(_STATED)) or bool(names and self.ways)

    @property
    def is_number(self) -> bool:
        """Whether one alpha is given, or follows from what is given."""
        carried = self.proportions
        if isinstance(carried, MixtureProportions):
            return not carried._alpha_varies
        return carried is None and bool(self.ways)

    @property
    def known_beta(self) -> float | None:
        """Beta, if it is given as a number."""
        return None if isinstance(self.beta, tuple) else self.beta

    @property
    def implied_scenario(self) -> Scenario:
        """The scenario, which a label frequency implies."""
        return self.scenario or ("case-control" if self.label_frequency is None else "censoring")

    @property
    def stated(self) -> tuple[str, float] | None:
        """Name and value of what alpha follows from, where that is not alpha itself."""
        for name in ("label_frequency", "prior"):
            if isinstance(value := getattr(self, name), float):
                return name, value
        return None

    @property
    def ways(self) -> list[str]:
        """Names of the given parameters that determine alpha: numbers, not ranges."""
        return [name for name in self._given if name not in self.ranges]

    @property
    def _given(self) -> list[str]:
        return [name for name in (*_STATED, "proportions") if getattr(self, name) is not None]

    def validated(self, *, can_estimate: bool = False, can_vary: bool = False) -> Self:
        """The same with plain values, or a complaint."""
        plain = super().validated()
        plain._check_varied(can_vary=can_vary)
        given, ways = plain._given, plain.ways
        if len(given) > 1 or not (given or can_estimate):
            got = " and ".join(map(repr, given)) if given else "none of them"
            hint = (
                "alpha is the share of positives among the unlabeled; if you know the share in "
                "the whole population, pass prior= with scenario='case-control' or 'censoring'"
            )
            if not given:
                hint += "; if you know neither, proportions=evaluate(scores, labeled).proportions"
            raise InvalidInputError(
                f"{{function}} needs {'at most' if can_estimate else 'exactly'} one of 'alpha', "
                f"'prior', 'label_frequency' and 'proportions', got {got}.\nHint: {hint}"
            )
        for name in ("estimator", "hits"):
            if ways and (value := getattr(plain, name)) is not None:
                must: str = Words("left out where ", ways[0], " is given")
                hint = "leave both out to have alpha and beta estimated by the default estimator"
                raise valid.bad_value(name, must, valid.show(value), hint)
        if plain.hits_from is not None and plain.hits is None:
            must = Words("left out without ", "hits")
            raise valid.bad_value("hits_from", must, valid.show(self.hits_from))
        if plain.assume and (ways or set(plain.assume) != {RANDOM_VERDICTS}):
            return plain._assuming().validated(can_estimate=can_estimate, can_vary=can_vary)
        if not ways and plain.known_beta is not None:
            # Where alpha is to be estimated it must find room below beta.
            check_share("beta", plain.known_beta, closed="right")
        if plain.proportions is not None:
            carried = _certain(plain.proportions)
            for name, also in (("beta", 1), ("scenario", None)):
                value, own = getattr(plain, name), getattr(carried, name)
                if value not in (None, also, own):
                    must = Words("left out where ", "proportions", " carry one")
                    raise valid.bad_value(name, must, f"{valid.show(value)} with {own!r}")
        elif isinstance(plain.alpha, float):
            MixtureProportions(plain.alpha, plain._largest_beta)
        elif plain.label_frequency is not None and plain.scenario == "case-control":
            must = "'censoring' where a label frequency is given"
            hint = "in a case-control design the labeled rows were not taken from the same sample"
            raise valid.bad_value("scenario", must, "'case-control'", hint)
        elif plain.prior is not None and plain.scenario is None:
            raise valid.bad_value(
                "scenario",
                Words("given with ", "prior"),
                "None",
                "'case-control' if the unlabeled are a sample of the population and the labeled "
                "were collected apart; 'censoring' if one sample was drawn and some of its "
                "positives got labeled",
            )
        return plain

    def _check_varied(self, *, can_vary: bool) -> None:
        """Complain about uncertain values where nothing varies them."""
        if can_vary:
            return
        if isinstance(self.proportions, UncertainProportions):
            must = "a MixtureProportions, as nothing here varies them"
            hint = "evaluate does; pass its attribute 'believed' to take them as certain"
            raise valid.bad_type("proportions", must, self.proportions, hint)
        for name, (low, high) in self.ranges.items():
            must = "a number, as nothing here varies it"
            hint = f"evaluate and compare_scores take a range of {name}"
            raise valid.bad_value(name, must, f"{low:g} to {high:g}", hint)
        if self.hits is not None:
            hint = "pass proportions=evaluate(scores, labeled, hits=...).proportions"
            raise valid.bad_value("hits", "left out here", valid.show(self.hits), hint)

    def _assuming(self) -> Self:
        """The same with what is assumed put where it belongs, or a complaint."""
        assumed = ", ".join(map(repr, self.assume))
        if self.ways:
            must: str = Words("left out where ", self.ways[0], " is given, which says all of it")
            raise valid.bad_value("assume", must, assumed, "assume is for an estimated alpha")
        kept = tuple(each for each in self.assume if each == RANDOM_VERDICTS)  # of judged rows
        changed: dict[str, Any] = {"assume": kept}
        if "pure-top" in self.assume:
            if self.estimator is not None:
                why = " is given: each has assumptions of its own"
                must = Words("left out where ", "estimator", why)
                raise valid.bad_value("assume", must, assumed)
            changed["estimator"] = "label-curve"
        if "clean-labels" in self.assume:
            if self.beta not in (None, 1):
                must = "1 where clean labels are assumed"
                raise valid.bad_value("beta", must, valid.show(self.beta))
            changed["beta"] = 1.0
        return replace(self, **changed)

    @property
    def _largest_beta(self) -> float:
        if isinstance(self.beta, tuple):
            return self.beta[1]
        return 1.0 if self.beta is None else self.beta

    def resolve(self, counts: ScoreCounts) -> MixtureProportions:
        """The proportions of these data, if they were given."""
        plain: Any = self.validated(can_vary=True)
        beta = plain._largest_beta
        if plain.proportions is not None:
            return _certain(plain.proportions)
        if plain.alpha is not None:
            return MixtureProportions(plain.alpha, beta, scenario=plain.scenario or "case-control")
        if plain.scenario == "case-control":
            return MixtureProportions.from_case_control(plain.prior, beta)
        name, value = plain.stated
        origin = f"from a {name.replace('_', ' ')} of {100 * value:.3g} %"
        return MixtureProportions.from_censoring(counts, **{name: value}, beta=beta, origin=origin)

    def alpha_at(self, counts: ScoreCounts, beta: FloatArray) -> FloatArray:
        """Return the alpha that follows from the number given, for each beta."""
        plain: Any = self
        number = plain.alpha
        if plain.prior is not None and plain.scenario == "case-control":
            number = plain.prior
        if number is not None:
            return np.full(len(beta), number)
        share = counts.labeled_share
        return np.asarray(_left_unlabeled(share, beta, plain.prior, plain.label_frequency))

    def implied(self, counts: ScoreCounts, shares: FloatArray) -> dict[str, FloatArray]:
        """Return the values of the parameters with a range that rows of alpha and beta imply."""
        alpha, beta = shares.T
        share = counts.labeled_share
        labeled = beta * share
        every = labeled + alpha * (1 - share)
        with np.errstate(invalid="ignore"):
            values = {
                "alpha": alpha,
                "beta": beta,
                "prior": every if self.scenario == "censoring" else alpha,
                "label_frequency": labeled / every,
            }
        return {name: values[name] for name in self.ranges}

    def following(
        self, counts: ScoreCounts, rng: np.random.Generator, *, grouped: bool = False
    ) -> FollowingShare | None:
        """Return the rule of a replicate's alpha if it depends on the labeled share, or None."""
        if self.stated is None or (self.prior is not None and self.scenario != "censoring"):
            return None
        n_rows = counts.n_labeled + counts.n_unlabeled
        if counts.labeled_sq is not None and counts.unlabeled_sq is not None:
            n_rows = n_rows**2 / float(counts.labeled_sq.sum() + counts.unlabeled_sq.sum())
        return FollowingShare(
            self._largest_beta,
            self.prior,  # type: ignore[arg-type]
            self.label_frequency,  # type: ignore[arg-type]
            share=counts.labeled_share,
            n_rows=None if grouped else max(round(n_rows), 1),
            rng=rng,
        )

    def estimated(self, found: MixtureProportions) -> MixtureProportions:
        """An estimate with the beta and the scenario that the caller knows."""
        alpha, beta, origin = found.alpha, found.beta, found.origin
        if (known := self.known_beta) is not None:
            # The scores determine alpha / beta, whatever beta is.
            alpha, beta = found.unlabeled_inclusion * known, known
            origin += ", beta given"
        return MixtureProportions(alpha, beta, origin, self.scenario or "case-control")
