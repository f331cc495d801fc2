"""`ScoreMonitor`: counts and figures of partitions, one after another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace as changed
from datetime import UTC, datetime
from os import PathLike
from typing import Any, Self

from purecover._frames import make_frame
from purecover._typing import ArrayLike, Scenario
from purecover._validation import bad_value, check_flag, show
from purecover.counts import ScoreCounts
from purecover.exceptions import InvalidInputError
from purecover.monitoring._drift import compare
from purecover.monitoring._file import as_path, damaged, locked, read_state, write_state
from purecover.monitoring._grid import binned
from purecover.monitoring._measure import figures
from purecover.monitoring._partition import MonitorPartition
from purecover.monitoring._settings import check_name, check_settings, make_settings, read_counts
from purecover.monitoring._text import columns_of, monitor_text, totals
from purecover.recovery._binning import BinningBounds, binning_bounds

__all__ = ["ScoreMonitor"]

_TOTAL = 16
"""Times as many bins as a partition may have, for all partitions together."""
_DRAWS = 200
"""Most pairs of samples drawn for one comparison: enough for a standard error."""


class ScoreMonitor:
    r"""Running counts of scores that arrive in partitions, and a watch for drift.

    Each partition (a day, a batch) is counted, measured and compared with those before it.

    Parameters
    ----------
    alpha, beta, prior, label_frequency, scenario
        What is known of the proportions, as in :func:`evaluate`; alpha is estimated in every
        partition if nothing is said.
    estimator : str, optional
        The name of what estimates alpha and beta; see ``prior_estimators()``.
    window : int, default=30
        A partition is compared with up to so many before it, whose counts are kept one by one.
        Older ones are kept as one total and their figures.
    false_alarms : float, default=0.05
        Probability with which any comparison, however many there will be, finds drift where
        there is none.
    confidence_level : float, default=0.95
        Nominal coverage of the intervals of each partition.
    n_resamples : int, default=500
        Bootstrap replicates behind intervals and comparisons, where alpha is estimated; 0 for
        none, and then only the observed AUC is compared.
    max_thresholds : int, default=4096
        Partitions with more distinct scores are kept in at most so many bins, and the total in at
        most 16 times as many; :attr:`bounds` says what that can have changed.
    random_state : int, default=0
        Seed of the replicates.
    columns : mapping of str to str, optional
        Which columns of the files hold what; only kept, for whoever reads the files.

    See Also
    --------
    evaluate : All about one set of scores; takes ``monitor.counts``.

    Notes
    -----
    Figures of a partition come from all its scores, before binning. The comparison asks whether
    labeled and unlabeled scores could come from the distributions of the partitions before. With
    a known alpha it is a test of the difference of recovered areas by DeLong's variance of all
    scores together, with a tail as skewed as such areas are. With an estimated one, the
    differences of alpha and of the recovered AUC stand beside those of pairs of samples of the
    same sizes drawn from all scores together, which takes out a bias that depends on the size, by
    Student's distribution. The observed AUC is tested too.

    Look :math:`t` may spend :math:`\epsilon/(t(t+1))` of the false-alarm probability
    :math:`\epsilon`, in equal parts for the figures it tests. The sum over all looks is
    :math:`\epsilon`, so that the bound holds forever, as far as the p-values of each look
    do. Rows count as independent; what differs between days beyond that is drift.

    Examples
    --------
    >>> from purecover import ScoreMonitor, simulate
    >>> monitor = ScoreMonitor(alpha=0.25)
    >>> world = simulate.binormal(1.5)
    >>> for day in range(3):
    ...     sample = world.sample(200, 2000, alpha=0.25, random_state=day)
    ...     partition = monitor.add(f"day {day}", sample.counts)
    >>> partition.drift.drifted
    False
    >>> worse = simulate.binormal(0.5).sample(200, 2000, alpha=0.25, random_state=3)
    >>> monitor.add("day 3", worse.counts).drift.drifted
    True
    >>> monitor.counts.n_labeled, monitor.counts.n_unlabeled
    (800, 8000)
    """

    def __init__(
        self,
        *,
        alpha: float | None = None,
        beta: float | None = None,
        prior: float | None = None,
        label_frequency: float | None = None,
        scenario: Scenario | None = None,
        estimator: str | None = None,
        window: int = 30,
        false_alarms: float = 0.05,
        confidence_level: float = 0.95,
        n_resamples: int = 500,
        max_thresholds: int = 4096,
        random_state: int = 0,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self._settings = make_settings(
            "ScoreMonitor",
            {
                "alpha": alpha,
                "beta": beta,
                "prior": prior,
                "label_frequency": label_frequency,
                "scenario": scenario,
                "estimator": estimator,
                "window": window,
                "false_alarms": false_alarms,
                "confidence_level": confidence_level,
                "n_resamples": n_resamples,
                "max_thresholds": max_thresholds,
                "random_state": random_state,
                "columns": columns,
            },
        )
        self._partitions: tuple[MonitorPartition, ...] = ()
        self._archive: ScoreCounts | None = None
        self._n_looks = 0
        self._checksum: str | None = None

    # -- what it holds --------------------------------------------------------------------

    @property
    def partitions(self) -> tuple[MonitorPartition, ...]:
        """All partitions, in the order they came in."""
        return self._partitions

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters the monitor was made with."""
        return self._settings.to_dict()

    @property
    def counts(self) -> ScoreCounts:
        """Counts of all rows of all partitions."""
        kept = [p.counts for p in self._partitions if p.counts is not None]
        if self._archive is not None:
            kept.insert(0, self._archive)
        if not kept:
            raise InvalidInputError("ScoreMonitor.counts needs a partition; add one first.")
        return binned(sum(kept[1:], start=kept[0]), _TOTAL * self._settings.max_thresholds)

    @property
    def bounds(self) -> BinningBounds | None:
        """What keeping scores in bins can have changed in the total; None if nothing."""
        counts = self.counts
        return binning_bounds(counts) if counts.is_binned else None

    # -- adding ---------------------------------------------------------------------------

    def add(
        self,
        name: str,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        positive_label: object = None,
        negative_label: object = None,
        replace: bool = False,
    ) -> MonitorPartition:
        """Count a partition, measure it, and compare it with those before it.

        Parameters
        ----------
        name : str
            What to call it, such as a date; each name once.
        scores : array-like of shape (n,) or ScoreCounts
            Scores of its rows, or their counts, and then nothing else.
        labeled, sample_weight, positive_label, negative_label
            As in :meth:`ScoreCounts.from_scores`.
        replace : bool, default=False
            Take the place of the partition of this name, if there is one; it must not have left
            the window.

        Returns
        -------
        MonitorPartition
            Its figures, and in ``drift`` the comparison.
        """
        function = "ScoreMonitor.add"
        place = self._place(function, name, replace)
        labels = {"positive_label": positive_label, "negative_label": negative_label}
        counts = read_counts(function, scores, labeled, sample_weight, **labels)
        keep = self._settings
        small = binned(counts, keep.max_thresholds)
        drift = None
        before = [p.counts for p in self._partitions[:place] if p.counts is not None]
        if before:
            drift = compare(
                function,
                small,
                before[-keep.window :],
                keep.given,
                look=self._n_looks + 1,
                false_alarms=keep.false_alarms,
                n_draws=min(keep.n_resamples, _DRAWS),
                seed=keep.random_state,
            )
        made = MonitorPartition(
            name=name,
            added=datetime.now(UTC).isoformat(timespec="seconds"),
            n_labeled=counts.n_labeled,
            n_unlabeled=counts.n_unlabeled,
            n_negative=counts.n_negative,
            drift=drift,
            counts=small,
            **figures(
                function,
                counts,
                keep.given,
                level=keep.confidence_level,
                n_resamples=keep.n_resamples,
                seed=keep.random_state,
            ),
        )
        self._put(place, made)
        return made

    def _place(self, function: str, name: str, replacing: bool) -> int:
        name = check_name(function, name)
        check_flag(function, "replace", replacing)
        names = [p.name for p in self._partitions]
        if name not in names:
            return len(names)
        place = names.index(name)
        if not replacing:
            added = self._partitions[place].added
            must = "one that was not added yet"
            hint = "replace=True takes the place of the partition of that name"
            raise bad_value(function, "name", must, f"{show(name)}, added {added}", hint)
        if self._partitions[place].counts is None:
            must = f"one of the last {self._settings.window + 1:,} partitions, to be replaced"
            got = f"{show(name)}, whose counts are only kept as part of the total"
            raise bad_value(function, "name", must, got, "start a new monitor with all partitions")
        return place

    def _put(self, place: int, made: MonitorPartition) -> None:
        partitions = [*self._partitions[:place], made, *self._partitions[place + 1 :]]
        archive = self._archive
        for i, old in enumerate(partitions[: -self._settings.window - 1]):
            if old.counts is not None:
                whole = old.counts if archive is None else archive + old.counts
                archive = binned(whole, _TOTAL * self._settings.max_thresholds)
                partitions[i] = changed(old, counts=None)
        if made.drift is not None and made.drift.tests:
            self._n_looks += 1
        self._partitions, self._archive = tuple(partitions), archive

    # -- files ----------------------------------------------------------------------------

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a state file.

        Parameters
        ----------
        path : str or path
            A file written by :meth:`save`, :meth:`update` or ``purecover monitor``.

        Returns
        -------
        ScoreMonitor
            The monitor as it was. Files that are cut off, changed or of another kind are refused.
        """
        function = "ScoreMonitor.load"
        target = as_path(function, path)
        state, checksum = read_state(function, target)
        try:
            monitor = cls(**state["settings"])
            monitor._partitions = tuple(map(MonitorPartition._from_dict, state["partitions"]))
            if state["archive"] is not None:
                monitor._archive = ScoreCounts.from_dict(state["archive"])
            monitor._n_looks = int(state["n_looks"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise damaged(function, target, error) from error
        monitor._checksum = checksum
        return monitor

    def save(self, path: str | PathLike[str]) -> None:
        """Write a state file, whole or not at all.

        A file that is there is only replaced if it holds what this monitor was loaded from or
        saved to last; else somebody's partitions would be lost.

        Parameters
        ----------
        path : str or path
            The file. One beside it, with ``.lock`` after its name, makes processes take turns.
        """
        function = "ScoreMonitor.save"
        target = as_path(function, path)
        with locked(function, target):
            if target.exists() and read_state(function, target)[1] != self._checksum:
                must = "a new file, or the one this monitor was loaded from as it was then"
                hint = "add partitions with ScoreMonitor.update, which takes turns with others"
                got = f"{show(str(target))}, which holds something else"
                raise bad_value(function, "path", must, got, hint)
            self._checksum = write_state(target, self._state())

    @classmethod
    def update(
        cls,
        path: str | PathLike[str],
        name: str,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        positive_label: object = None,
        negative_label: object = None,
        replace: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> Self:
        """Add a partition to a state file, which is made if it is not there.

        Processes that do so at the same time take turns, so that no partition is lost. One that
        is killed leaves the old file or the new one.

        Parameters
        ----------
        path : str or path
            The state file.
        name, scores, labeled, sample_weight, positive_label, negative_label, replace
            As in :meth:`add`.
        settings : mapping, optional
            Parameters of the class for a new file. Those of an old one must be the same.

        Returns
        -------
        ScoreMonitor
            The monitor as it is in the file now.
        """
        function = "ScoreMonitor.update"
        target, wanted = as_path(function, path), check_settings(function, settings)
        with locked(function, target):
            if target.exists():
                monitor = cls.load(target)
                monitor._settings.require(function, wanted)
            else:
                monitor = cls(**wanted)
            monitor.add(
                name,
                scores,
                labeled,
                sample_weight=sample_weight,
                positive_label=positive_label,
                negative_label=negative_label,
                replace=replace,
            )
            monitor._checksum = write_state(target, monitor._state())
        return monitor

    def _state(self) -> dict[str, Any]:
        return {
            "settings": self.settings,
            "n_looks": self._n_looks,
            "archive": None if self._archive is None else self._archive.to_dict(),
            "partitions": [p.to_dict(counts=True) for p in self._partitions],
        }

    # -- showing --------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Settings, totals and the figures of all partitions as plain data, without counts."""
        return {
            "settings": self.settings,
            "n_looks": self._n_looks,
            "total": totals(self) if self._partitions else None,
            "partitions": [p.to_dict() for p in self._partitions],
        }

    def frame(self, backend: Any = None) -> Any:
        """The figures of all partitions as a table; see :meth:`ScoreCounts.frame`."""
        return make_frame("ScoreMonitor.frame", columns_of(self._partitions), backend)

    def __str__(self) -> str:
        return monitor_text(self)

    def __repr__(self) -> str:
        return f"ScoreMonitor({len(self._partitions)} partitions)"
