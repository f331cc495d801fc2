"""The four ways a caller can say what alpha and beta are, and the fifth: to be estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from purecover._typing import Scenario
from purecover._validation import bad_type, bad_value, check_choice, check_real, show
from purecover.counts import ScoreCounts
from purecover.exceptions import InvalidInputError
from purecover.proportions import SCENARIOS, MixtureProportions, percent_hint


@dataclass(frozen=True)
class GivenProportions:
    """What a caller said, before the data are known.

    Exactly one of ``alpha``, ``prior``, ``label_frequency`` and ``proportions`` is set, or none
    where the function estimates them. A prior without a scenario is refused: the same number
    means different alphas in the two. A ``beta`` of None is not said: 1 beside a known alpha,
    estimated beside an estimated one.
    """

    alpha: float | None = None
    beta: float | None = None
    proportions: MixtureProportions | None = None
    prior: float | None = None
    label_frequency: float | None = None
    scenario: Scenario | None = None
    estimator: Any = None

    @property
    def ways(self) -> list[str]:
        """Names of the parameters that say what alpha is."""
        names = ("alpha", "prior", "label_frequency", "proportions")
        return [name for name in names if getattr(self, name) is not None]

    def validated(self, function: str, *, can_estimate: bool = False) -> GivenProportions:
        """The same, or a complaint in the name of ``function``."""
        given = self.ways
        if len(given) > 1 or not (given or can_estimate):
            got = " and ".join(map(repr, given)) if given else "none of them"
            hint = (
                "alpha is the share of positives among the unlabeled; if you know the share in "
                "the whole population, pass prior= with scenario='case-control' or 'censoring'"
            )
            if not given:
                hint += "; if you know neither, proportions=evaluate(scores, labeled).proportions"
            raise InvalidInputError(
                f"{function} needs exactly one of 'alpha', 'prior', 'label_frequency' and "
                f"'proportions', got {got}.\nHint: {hint}"
            )
        if given and self.estimator is not None:
            raise bad_value(
                function,
                "estimator",
                f"left out where {given[0]!r} is given",
                show(self.estimator),
                "leave both out to have alpha and beta estimated by the default estimator",
            )
        if self.scenario is not None:
            check_choice(function, "scenario", self.scenario, SCENARIOS)
        for name in ("alpha", "beta", "prior"):
            if getattr(self, name) is not None:
                # Where alpha is to be estimated it must find room below beta.
                closed = "both" if given else "right"
                check_real(
                    function,
                    name,
                    getattr(self, name),
                    low=0,
                    high=1,
                    closed=closed,
                    hint=percent_hint(getattr(self, name)),
                )
        if self.label_frequency is not None:
            check_real(
                function, "label_frequency", self.label_frequency, low=0, high=1, closed="right"
            )
        if self.proportions is not None:
            if not isinstance(self.proportions, MixtureProportions):
                raise bad_type(function, "proportions", "a MixtureProportions", self.proportions)
            if self.beta is not None and self.beta not in (1, self.proportions.beta):
                raise bad_value(
                    function,
                    "beta",
                    "left out where 'proportions' carry one",
                    f"{self.beta:g} beside {self.proportions.beta:g}",
                )
            if self.scenario not in (None, self.proportions.scenario):
                raise bad_value(
                    function,
                    "scenario",
                    "left out where 'proportions' carry one",
                    f"{self.scenario!r} beside {self.proportions.scenario!r}",
                )
        elif self.alpha is not None:
            MixtureProportions(self.alpha, self._beta)
        elif self.label_frequency is not None and self.scenario == "case-control":
            raise bad_value(
                function,
                "scenario",
                "'censoring' where a label frequency is given",
                "'case-control'",
                "in a case-control design the labeled rows were not taken from the same sample",
            )
        elif self.prior is not None and self.scenario is None:
            raise bad_value(
                function,
                "scenario",
                "given with 'prior'",
                "None",
                "'case-control' if the unlabeled are a sample of the population and the labeled "
                "were collected apart; 'censoring' if one sample was drawn and some of its "
                "positives got labeled",
            )
        return self

    @property
    def _beta(self) -> float:
        return 1.0 if self.beta is None else self.beta

    def resolve(self, function: str, counts: ScoreCounts) -> MixtureProportions:
        """The proportions of these data, if they were given."""
        self.validated(function)
        if self.proportions is not None:
            return self.proportions
        if self.alpha is not None:
            return MixtureProportions(
                self.alpha, self._beta, scenario=self.scenario or "case-control"
            )
        if self.scenario == "case-control":
            return MixtureProportions.from_case_control(self.prior, self._beta)  # type: ignore[arg-type]
        return MixtureProportions.from_censoring(
            counts, prior=self.prior, label_frequency=self.label_frequency, beta=self._beta
        )

    def estimated(self, found: MixtureProportions) -> MixtureProportions:
        """An estimate with the beta and the scenario that the caller knows."""
        alpha, beta, origin = found.alpha, found.beta, found.origin
        if self.beta is not None:
            # Of a = alpha / beta the scores tell, whatever beta is.
            alpha, beta = found.unlabeled_inclusion * self.beta, self.beta
            origin += ", beta given"
        return MixtureProportions(alpha, beta, origin, self.scenario or "case-control")
