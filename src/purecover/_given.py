"""The four ways a caller can say what alpha and beta are."""

from __future__ import annotations

from dataclasses import dataclass

from purecover._typing import Scenario
from purecover._validation import bad_type, bad_value, check_choice, check_real
from purecover.counts import ScoreCounts
from purecover.exceptions import InvalidInputError
from purecover.proportions import PERCENT_HINT, SCENARIOS, MixtureProportions


@dataclass(frozen=True)
class GivenProportions:
    """What a caller said, before the data are known.

    Exactly one of ``alpha``, ``prior``, ``label_frequency`` and ``proportions`` is set. A prior
    without a scenario is refused: the same number means different alphas in the two.
    """

    alpha: float | None = None
    beta: float = 1.0
    proportions: MixtureProportions | None = None
    prior: float | None = None
    label_frequency: float | None = None
    scenario: Scenario | None = None

    def validated(self, function: str) -> GivenProportions:
        """The same, or a complaint in the name of ``function``."""
        ways = ("alpha", "prior", "label_frequency", "proportions")
        given = [name for name in ways if getattr(self, name) is not None]
        if len(given) != 1:
            got = " and ".join(map(repr, given)) if given else "none of them"
            raise InvalidInputError(
                f"{function} needs exactly one of 'alpha', 'prior', 'label_frequency' and "
                f"'proportions', got {got}.\n"
                "Hint: alpha is the share of positives among the unlabeled; if you know the share "
                "in the whole population, pass prior= with scenario='case-control' or 'censoring'"
            )
        if self.scenario is not None:
            check_choice(function, "scenario", self.scenario, SCENARIOS)
        for name in ("alpha", "beta", "prior"):
            if getattr(self, name) is not None or name == "beta":
                check_real(function, name, getattr(self, name), low=0, high=1, hint=PERCENT_HINT)
        if self.label_frequency is not None:
            check_real(
                function, "label_frequency", self.label_frequency, low=0, high=1, closed="right"
            )
        if self.proportions is not None:
            if not isinstance(self.proportions, MixtureProportions):
                raise bad_type(function, "proportions", "a MixtureProportions", self.proportions)
            if self.beta not in (1, self.proportions.beta):
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
            MixtureProportions(self.alpha, self.beta)
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

    def resolve(self, function: str, counts: ScoreCounts) -> MixtureProportions:
        """The proportions of these data."""
        self.validated(function)
        if self.proportions is not None:
            return self.proportions
        if self.alpha is not None:
            return MixtureProportions(
                self.alpha, self.beta, scenario=self.scenario or "case-control"
            )
        if self.scenario == "case-control":
            return MixtureProportions.from_case_control(self.prior, self.beta)  # type: ignore[arg-type]
        return MixtureProportions.from_censoring(
            counts, prior=self.prior, label_frequency=self.label_frequency, beta=self.beta
        )
