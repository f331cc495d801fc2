"""`PriorEstimate`: an estimate of alpha and beta with what shows how far to trust it.

Reports and checks read it without the estimators, which take time to import.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from purecover._codec import Saved
from purecover._validation import Frozen
from purecover.intervals.interval import Interval
from purecover.proportions import MixtureProportions
from purecover.recovery.rates import rounded_down

Ends = tuple[float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class PriorEstimate(Saved, Frozen):
    """How alpha and beta of a report were estimated.

    Attributes
    ----------
    estimator : str
        The estimator: its name in :func:`prior_estimators`, or its class if it has none.
        A method that was run both ways keeps its name; ``proportions.origin`` shows it.
    proportions : MixtureProportions
        The estimate.
    intervals : mapping of str to Interval
        Intervals of ``"alpha"``, ``"beta"`` and ``"delta"`` that include re-estimation, if there
        were replicates; without ``"beta"`` where it was given.
    identification : mapping of str to tuple of float
        The ends between which ``"alpha"``, ``"beta"``, ``"delta"`` and ``"auc"`` lie, with 95 %
        confidence, even if no region of the scores is pure; see :func:`inclusion_bound`.
    notes : tuple of str
        Notes of the estimator.
    identifiable : bool
        Whether the scores determine alpha and beta.
    at_edge : bool
        Whether the estimate lies at an end of what its method can return.
    beta_estimated : bool
        Whether beta was estimated too, not given and not taken as 1 by the method.
    beta_given : bool
        Whether beta was given by the caller.
    clean_p_value : float or None
        Of the test of beta = 1, unless beta was given or the method gives a probability.
    clean_probability : float or None
        Probability of beta = 1, if beta was estimated by a method that gives one.
    n_rejected : int
        Replicates left out because they allow no estimate.
    n_alike : float or None
        Number of real problems of equal weight that the estimate depends on, if it does.
    delta_pure, delta_pure_noisy : float or None
        Beta - alpha if the best scores were all positives, where that is not assumed: with clean
        labels, and with the worst scores all negatives and labels that may be wrong.
    """

    estimator: str
    proportions: MixtureProportions
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    identification: Mapping[str, Ends] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    identifiable: bool = True
    at_edge: bool = False
    beta_estimated: bool = False
    beta_given: bool = False
    clean_p_value: float | None = None
    clean_probability: float | None = None
    n_rejected: int = 0
    n_alike: float | None = None
    delta_pure: float | None = None
    delta_pure_noisy: float | None = None

    @property
    def allowed(self) -> dict[str, str]:
        """The ranges of ``identification`` that leave anything open, in words, but for delta."""
        ends = {
            name: (low, rounded_down(high) if name == "alpha" else high)
            for name, (low, high) in self.identification.items()
            if name != "delta" and low < high
        }
        return {
            name: f"{low:.3g} to {high:.3g}" if name == "alpha" else f"{low:.3f} to {high:.3f}"
            for name, (low, high) in ends.items()
        }
