"""What is kept of a partition, and of its comparison with those before it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from purecover._frozen import FrozenDict
from purecover.counts import ScoreCounts
from purecover.intervals._interval import Interval

__all__ = ["DriftTest", "MonitorDrift", "MonitorPartition"]


@dataclass(frozen=True, kw_only=True)
class DriftTest:
    """One figure of a partition beside that of the partitions before it.

    Attributes
    ----------
    value, before : float
        The figure, from the new partition and from those before it together.
    difference : float
        ``value - before``.
    z : float
        The difference, less what it would be on average without drift, in standard errors.
    p_value : float
        Probability of a difference at least so large without drift; larger than that of ``z`` by
        a normal distribution where areas are skewed.
    limit : float
        The difference counts as drift where ``p_value`` is at most this.
    """

    value: float
    before: float
    difference: float
    z: float
    p_value: float
    limit: float

    @property
    def drifted(self) -> bool:
        """Whether the difference is beyond chance."""
        return self.p_value <= self.limit

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {**asdict(self), "drifted": self.drifted}


@dataclass(frozen=True, kw_only=True, eq=False)
class MonitorDrift:
    """Whether a partition differs from those before it beyond chance.

    Attributes
    ----------
    look : int
        The how manyth comparison this was, among all that were ever made.
    n_before : int
        How many partitions it was compared with.
    spent : float
        The part of the false-alarm probability that this look may spend.
    tests : mapping of str to DriftTest
        By figure: ``"auc"``, the recovered AUC, and where alpha is estimated also ``"alpha"``
        and ``"auc_pu"``, the observed AUC. Empty where nothing could be compared.
    note : str or None
        Why something could not be compared.
    """

    look: int
    n_before: int
    spent: float
    tests: Mapping[str, DriftTest] = field(default_factory=dict)
    note: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tests", FrozenDict(dict(self.tests)))

    @property
    def drifted(self) -> bool:
        """Whether any figure differs beyond chance."""
        return any(test.drifted for test in self.tests.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "look": self.look,
            "n_before": self.n_before,
            "spent": self.spent,
            "drifted": self.drifted,
            "tests": {name: test.to_dict() for name, test in self.tests.items()},
            "note": self.note,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class MonitorPartition:
    """A partition of a :class:`ScoreMonitor`: its figures, and its counts while they are kept.

    Attributes
    ----------
    name : str
        What it was called, such as a date.
    added : str
        When it was added, in UTC.
    n_labeled, n_unlabeled, n_negative : float
        Its examples.
    auc_pu : Interval
        The observed AUC.
    alpha : Interval or None
        Share of positives among the unlabeled. Of a given one the ends are the value itself;
        None if there is no estimate.
    beta : float or None
        Share of positives among the labeled.
    auc : Interval or None
        The recovered AUC.
    drift : MonitorDrift or None
        How it compares with the partitions before it; None for the first.
    note : str or None
        Why there is no estimate or no interval, if so.
    counts : ScoreCounts or None
        The counts, in bins if there were many distinct scores; None once the partition has left
        the window and its counts are only part of the total.
    """

    name: str
    added: str
    n_labeled: float
    n_unlabeled: float
    n_negative: float
    auc_pu: Interval
    alpha: Interval | None
    beta: float | None
    auc: Interval | None
    drift: MonitorDrift | None = None
    note: str | None = None
    counts: ScoreCounts | None = None

    def to_dict(self, *, counts: bool = False) -> dict[str, Any]:
        """Plain data, ready for JSON; with counts, if they are kept, only when asked."""
        document: dict[str, Any] = {
            "name": self.name,
            "added": self.added,
            "n_labeled": self.n_labeled,
            "n_unlabeled": self.n_unlabeled,
            "n_negative": self.n_negative,
            "auc_pu": self.auc_pu.to_dict(),
            "alpha": None if self.alpha is None else self.alpha.to_dict(),
            "beta": self.beta,
            "auc": None if self.auc is None else self.auc.to_dict(),
            "drift": None if self.drift is None else self.drift.to_dict(),
            "note": self.note,
        }
        if counts:
            document["counts"] = None if self.counts is None else self.counts.to_dict()
        return document

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> MonitorPartition:
        """What :meth:`to_dict` wrote; the checksum of the file vouches for the fields."""
        data = dict(data)
        for name in ("auc_pu", "alpha", "auc"):
            data[name] = _interval(data[name])
        drift = data["drift"]
        if drift is not None:
            drift = {key: value for key, value in drift.items() if key != "drifted"}
            drift["tests"] = {name: _test(test) for name, test in drift["tests"].items()}
            data["drift"] = MonitorDrift(**drift)
        if data["counts"] is not None:
            data["counts"] = ScoreCounts.from_dict(data["counts"])
        return cls(**data)


def _interval(data: dict[str, Any] | None) -> Interval | None:
    if data is None:
        return None
    missing: dict[str, Any] = {key: math.nan for key, value in data.items() if value is None}
    return Interval(**{**data, **missing})


def _test(data: dict[str, Any]) -> DriftTest:
    return DriftTest(**{key: value for key, value in data.items() if key != "drifted"})
