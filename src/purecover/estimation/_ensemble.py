"""The median of several estimators, whose spread says how far to trust it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from purecover._typing import CountArray, FloatArray
from purecover._validation import bad_type, bad_value
from purecover.counts import ScoreCounts
from purecover.estimation._base import Inclusions, PriorEstimator
from purecover.estimation._registry import register_prior_estimator
from purecover.exceptions import IdentifiabilityError

__all__ = ["MedianEnsemble"]

LARGE_SPREAD = 0.1
"""Members that differ by more than this do not support each other."""


@register_prior_estimator("median")
class MedianEnsemble(PriorEstimator):
    r"""Median of several estimators on the same scores.

    Each member errs in its own way: one is biased up by overlap, another by few labeled
    examples, a third by its grid. The median follows none of them into its worst case, and the
    spread of the members is a free sign of how reliable it is.

    Parameters
    ----------
    estimators : sequence of PriorEstimator, optional
        The members. Default: :class:`DEDPUL`, :class:`RocSlope` and :class:`AlphaMax` with the
        elbow of the paper.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"members"``, the inclusion
        :math:`a` that each member finds, and ``"spread"``, the largest difference between
        them; a note speaks up where it exceeds 0.1.

    See Also
    --------
    NoisyLabels : The same with beta estimated too.

    Notes
    -----
    With the inclusion :math:`a_j` of member :math:`j`, :math:`a` is the median of
    :math:`a_1, \ldots, a_m`. Members that estimate beta too bring :math:`b_j`, whose median is
    :math:`b`; without such members labels are taken as clean. A member that finds no estimate
    does not vote.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.binormal(separation=3)
    >>> sample = world.sample(500, 2000, alpha=0.25, random_state=0)
    >>> estimator = pu.MedianEnsemble([pu.BBE(), pu.RocSlope(), pu.RocSlope(error=0.2)])
    >>> estimator = estimator.fit(sample.scores, sample.labeled)
    >>> sorted(estimator.diagnostics_["members"])
    ['BBE', 'RocSlope', 'RocSlope 2']
    """

    def __init__(self, estimators: Sequence[PriorEstimator] | None = None) -> None:
        self.estimators = estimators

    @property
    def estimates_beta(self) -> bool:
        """Whether a member estimates beta too."""
        return any(member.estimates_beta for member in self.estimators or ())

    def _check_params(self) -> None:
        name = type(self).__name__
        if self.estimators is None:
            return
        if isinstance(self.estimators, (str, PriorEstimator)) or not isinstance(
            self.estimators, Iterable
        ):
            must = "a list of estimators of alpha"
            hint = "one is not an ensemble; write [AlphaMax(), BBE(), RocSlope()]"
            raise bad_type(name, "estimators", must, self.estimators, hint)
        if not len(self.estimators):
            raise bad_value(name, "estimators", "at least one estimator", "an empty list")
        for member in self.estimators:
            check_estimator_parameter(name, "estimators", member)

    def _members(self) -> list[PriorEstimator]:
        """Copies, so that an estimate leaves no trace in the parameters."""
        if self.estimators is None:
            return default_members()
        return [clone(member) for member in self.estimators]

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        return self._combine(lambda member: member._estimate(counts))

    def _estimate_flipped(self, counts: ScoreCounts) -> Inclusions:
        # Each member turns the scores around in its own way.
        return self._combine(lambda member: member._estimate_flipped(counts))

    def _combine(self, estimate: Callable[[PriorEstimator], Inclusions]) -> Inclusions:
        found: dict[str, Inclusions] = {}
        lost: dict[str, str] = {}
        second: list[float] = []
        members = self._members()
        for name, member in zip(_names(members), members, strict=True):
            try:
                found[name] = estimate(member)
            except IdentifiabilityError as error:
                lost[name] = str(error)
                continue
            if member.estimates_beta:
                second.append(found[name].b)
        if not found:
            raise IdentifiabilityError(
                f"{type(self).__name__} has no member that finds an estimate. {_first(lost)}"
            )
        first = {name: float(inclusions.a) for name, inclusions in found.items()}
        a = float(np.median(list(first.values())))
        spread = max(first.values()) - min(first.values())
        b = float(np.median(second)) if second else 0.0
        decisive = _decisive(first)
        at_edge = all(bool(found[name].details.get("at_edge", False)) for name in decisive)
        notes = [
            f"{name}: {note}" for name, inclusions in found.items() for note in inclusions.notes
        ]
        notes += [f"{name} finds no estimate and does not vote" for name in lost]
        if spread > LARGE_SPREAD:
            ends = sorted(first, key=first.__getitem__)
            notes.append(
                f"the members differ by {spread:.2f} ({ends[0]} {first[ends[0]]:.3g}, "
                f"{ends[-1]} {first[ends[-1]]:.3g}): the estimate is unreliable"
            )
        identifiable = all(bool(found[n].details.get("identifiable", True)) for n in decisive)
        details: dict[str, Any] = {
            "members": first,
            "spread": spread,
            "at_edge": at_edge,
            "identifiable": identifiable,
        }
        return Inclusions(a, b, tuple(notes), details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        return self._combine_many(
            lambda member: member._estimate_many(counts, labeled, unlabeled), len(labeled)
        )

    def _estimate_many_flipped(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        return self._combine_many(
            lambda member: member._estimate_many_flipped(counts, labeled, unlabeled), len(labeled)
        )

    def _combine_many(
        self, estimate: Callable[[PriorEstimator], FloatArray], n_replicates: int
    ) -> FloatArray:
        members = self._members()
        found = [estimate(member) for member in members]
        first = np.stack([pair[:, 0] for pair in found])
        second = [pair[:, 1] for pair, m in zip(found, members, strict=True) if m.estimates_beta]
        b = _median_of_known(np.stack(second)) if second else np.zeros(n_replicates)
        return np.column_stack((_median_of_known(first), b))


def default_members() -> list[PriorEstimator]:
    """The three whose median did best among simple ensembles: unlike in method and in errors."""
    from purecover.estimation._alphamax import AlphaMax
    from purecover.estimation._dedpul import DEDPUL
    from purecover.estimation._roc_slope import RocSlope

    return [DEDPUL(), RocSlope(), AlphaMax(elbow="paper")]


def check_estimator_parameter(function: str, parameter: str, value: object) -> None:
    """An estimator with good parameters, as a parameter of another one."""
    if not isinstance(value, PriorEstimator):
        hint = "register your own as a subclass of PriorEstimator"
        if isinstance(value, type) and issubclass(value, PriorEstimator):
            hint = f"this is the class; write {value.__name__}()"
        elif isinstance(value, str):
            hint = f'write prior_estimators()["{value}"]()'
        raise bad_type(function, parameter, "made of estimators of alpha", value, hint)
    value._check_params()


def _names(members: Sequence[PriorEstimator]) -> list[str]:
    """Class names, numbered where they repeat."""
    names: list[str] = []
    for member in members:
        plain = type(member).__name__
        earlier = sum(type(m).__name__ == plain for m in members[: len(names)])
        names.append(f"{plain} {earlier + 1}" if earlier else plain)
    return names


def _decisive(values: dict[str, float]) -> list[str]:
    """The one or two members in the middle, which make the median."""
    ranked = sorted(values, key=values.__getitem__)
    return ranked[(len(ranked) - 1) // 2 : len(ranked) // 2 + 1]


def _first(lost: dict[str, str]) -> str:
    name, text = next(iter(lost.items()))
    return f"{name} says: {text}"


def _median_of_known(values: FloatArray) -> FloatArray:
    """Median over the first axis of what is not NaN; NaN where nothing is."""
    known = ~np.isnan(values)
    middle = np.full(values.shape[1], np.nan)
    some = known.any(axis=0)
    middle[some] = np.nanmedian(values[:, some], axis=0)
    return middle
