"""`ScoreMonitor`: counts and results of partitions, one after another."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace as changed
from os import PathLike
from typing import Any, Self, TypedDict, Unpack

import numpy as np

from purecover import _validation as valid
from purecover._codec import plain, write_page
from purecover._inputs import Tabular, is_equal
from purecover._typing import ArrayLike, Scenario
from purecover._validation import public
from purecover.counts import ScoreCounts
from purecover.estimators import prior_estimators
from purecover.exceptions import IdentifiabilityError, Words
from purecover.intervals.interval import Interval, auc_interval
from purecover.intervals.replicates import Resampling
from purecover.monitoring import state as states
from purecover.monitoring.bins import bin_counts
from purecover.monitoring.drift import compare, why_not_compared
from purecover.monitoring.text import RESULTS, monitor_page, monitor_text
from purecover.proportions import GivenProportions, MixtureProportions
from purecover.report.pipeline import evaluate
from purecover.report.settings import gathered

_MAX_THRESHOLDS = 4096
"""Distinct scores or bins that are kept of a partition."""


class MonitorKeywords(TypedDict, total=False):
    """Parameters of `evaluate` that a monitor keeps."""

    alpha: float | None
    beta: float | None
    prior: float | None
    label_frequency: float | None
    scenario: Scenario | None
    estimator: str | None
    assume: Collection[str]
    n_resamples: int | None
    confidence_level: float
    random_state: int


class ScoreMonitor(Tabular):
    r"""Running counts of scores that arrive in partitions, and tests for drift.

    Each partition (a day, a batch) is counted, evaluated and compared with the partitions before
    it.

    Parameters
    ----------
    window : int, default=30
        A partition is compared with up to this number of partitions before it. Older partitions
        keep their results but not their counts.
    false_alarms : float, default=0.05
        Probability that any comparison, however many follow, finds drift without drift.
    **options

    See Also
    --------
    evaluate : Everything about one set of scores; takes ``monitor.counts``.

    Notes
    -----
    Alpha and AUC of a partition are those of :func:`evaluate`. The observed AUC is compared with
    that of the partitions before by DeLong's variances, the distributions of labeled and of
    unlabeled scores by the test of Kolmogorov and Smirnov: it finds scores that all move together,
    which leave an AUC unchanged, and a change of alpha, which changes the unlabeled scores alone.

    Comparison :math:`t` may spend :math:`\epsilon/(t(t+1))` of the false-alarm probability
    :math:`\epsilon`, in equal parts for its tests. The sum over all comparisons is
    :math:`\epsilon`. Rows count as independent.

    Examples
    --------
    >>> from purecover import simulate
    >>> from purecover.monitoring import ScoreMonitor
    >>> monitor = ScoreMonitor(alpha=0.25)
    >>> world = simulate.binormal(1.5)
    >>> for day in range(3):
    ...     sample = world.sample(200, 2000, alpha=0.25, random_state=day)
    ...     partition = monitor.add(f"day {day}", sample.counts)
    >>> partition.drifted
    False
    >>> worse = simulate.binormal(0.5).sample(200, 2000, alpha=0.25, random_state=3)
    >>> monitor.add("day 3", worse.counts).drifted
    True
    >>> monitor.counts.n_labeled, monitor.counts.n_unlabeled
    (800, 8000)
    """

    @public
    def __init__(
        self, *, window: int = 30, false_alarms: float = 0.05, **options: Unpack[MonitorKeywords]
    ) -> None:
        given = GivenProportions.among(options).validated(can_estimate=True)
        if not isinstance(given.estimator, str | None):
            raise valid.bad_type("estimator", "the name of an estimator", given.estimator)
        if not given.ways:
            names = ("default", *prior_estimators())
            valid.check_choice("estimator", given.estimator or "default", names)
        kept = vars(given) | vars(Resampling.among(options).validated())
        known = {name: kept[name] for name in MonitorKeywords.__annotations__}
        valid.check_integer("window", window, low=1, high=10**6)
        valid.check_real("false_alarms", false_alarms, low=0, high=1, closed="neither")
        own = {"window": window, "false_alarms": false_alarms, "assume": sorted(given.assume)}
        self.state = states.MonitorState(plain(known | own), 0, ())
        """Settings and partitions: the content of a state file."""

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters of the monitor."""
        return self.state.settings

    @property
    def partitions(self) -> tuple[states.MonitorPartition, ...]:
        """All partitions, in the order in which they were added."""
        return self.state.partitions

    @property
    def counts(self) -> ScoreCounts:
        """Counts of all partitions whose counts are kept."""
        return self.state.counts

    @public
    def add(
        self,
        name: str,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        replace: bool = False,
    ) -> states.MonitorPartition:
        """Count a partition, evaluate it, and compare it with the partitions before it.

        Parameters
        ----------
        name : str
            A name, such as a date; each name once.
        scores : array-like of shape (n,) or ScoreCounts
            Scores of its rows; or their counts, which also allow weights and known negatives
            (:meth:`ScoreCounts.from_scores`). Weighted partitions are not compared.
        labeled : array-like of shape (n,), optional
            Which rows are labeled; not with counts.
        replace : bool, default=False
            Replace the last partition if it has this name.

        Returns
        -------
        MonitorPartition
            Its results, with the comparison in ``drift``.
        """
        earlier = self._earlier(name, replace)
        made = self._evaluated(name, ScoreCounts._of(scores, labeled))
        n_looks, first = self.state.n_looks, max(len(earlier) - self.settings["window"], 0)
        kept = (*(changed(each, counts=None) for each in earlier[:first]), *earlier[first:])
        if kept:
            counts: Any = made.counts
            before = states.MonitorState(self.settings, n_looks, kept).counts
            why = why_not_compared(counts, before)
            if why:
                made = changed(made, note=made.note or why)
            else:
                n_looks += 1
                spent = self.settings["false_alarms"] / (n_looks * (n_looks + 1))
                made = changed(made, drift=compare(counts, before, spent))
        self.state = states.MonitorState(self.settings, n_looks, (*kept, made))
        return made

    def _earlier(self, name: object, replacing: bool) -> tuple[states.MonitorPartition, ...]:
        """Return the partitions that stay, if a partition of this name can be added."""
        if not isinstance(name, str):
            raise valid.bad_type("name", "a text", name)
        if not 0 < len(name) <= 200 or not name.isprintable() or name != name.strip():
            must = "1 to 200 printable characters without blanks at the ends"
            raise valid.bad_value("name", must, valid.show(name))
        valid.check_flag("replace", replacing)
        names = [p.name for p in self.partitions]
        if name not in names:
            return self.partitions
        if replacing and name == names[-1]:
            return self.partitions[:-1]
        must = "the last partition, to be replaced" if replacing else "one that was not added yet"
        way = Words("give another ", "name=", ", or ", "replace=True", " for the last one")
        hint = None if replacing else way
        raise valid.bad_value("name", must, valid.show(name), hint)

    def _evaluated(self, name: str, counts: ScoreCounts) -> states.MonitorPartition:
        """Return the results of a partition, as `evaluate` finds them."""
        options = {name: self.settings[name] for name in MonitorKeywords.__annotations__}
        if options["alpha"] is not None:  # then no interval needs replicates
            options["n_resamples"] = 0
        level = self.settings["confidence_level"]
        found: dict[str, Any] = {"alpha": None, "beta": math.nan, "auc": None, "findings": ()}
        try:
            report = evaluate(counts, **gathered(options))
        except IdentifiabilityError as error:
            note = str(error).partition("\n")[0]
        else:
            note = report.contradiction
            used, estimation = report.proportions, report.estimation
            known = {} if estimation is None else estimation.intervals
            found["beta"] = used.beta
            found["alpha"] = known.get("alpha") or _point(used.alpha, level, estimation is None)
            if not report.contradicted:
                found["auc"] = report.intervals.get("roc_auc") or _point(report.auc, level)
            found["findings"] = tuple(each.code for each in report.warnings_of_data)
        return states.MonitorPartition(
            name=name,
            n_labeled=counts.n_labeled,
            n_unlabeled=counts.n_unlabeled,
            auc_pu=auc_interval(counts, MixtureProportions(0.0, 1.0), confidence_level=level),
            counts=bin_counts(counts, _MAX_THRESHOLDS),
            note=note.rstrip(".") or None,
            **found,
        )

    @classmethod
    @public
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a state file.

        Parameters
        ----------
        path : str or path
            A file written by :meth:`save`, :meth:`update` or ``purecover monitor``.

        Returns
        -------
        ScoreMonitor
            The monitor. Damaged files, files of another kind and files that purecover 0.1 or
            0.2.0.dev0 wrote are refused.
        """
        found = states.read_state(states.as_path(path))
        monitor = cls(**found.settings)
        monitor.state = found
        return monitor

    @public
    def save(self, path: str | PathLike[str]) -> None:
        """Write a state file, whole or not at all; an existing file is replaced.

        Parameters
        ----------
        path : str or path
            The file. Processes take turns by a lock file, its name with ``.lock`` at the end.
        """
        with states.locked(states.as_path(path)) as target:
            states.write_state(target, self.state)

    @classmethod
    @public
    def update(
        cls,
        path: str | PathLike[str],
        name: str,
        scores: ArrayLike | ScoreCounts,
        labeled: ArrayLike | None = None,
        *,
        replace: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> Self:
        """Add a partition to a state file, which is made if it does not exist.

        Processes that do so at the same time take turns, so that no partition is lost. A process
        that is killed leaves the old file or the new one.

        Parameters
        ----------
        path : str or path
            The state file.
        name, scores, labeled, replace
            As in :meth:`add`.
        settings : mapping, optional
            Parameters of the class for a new file. They must agree with those of an old file.

        Returns
        -------
        ScoreMonitor
            The monitor as it is in the file now.
        """
        asked = settings or {}
        wanted = cls(**asked)
        with states.locked(states.as_path(path)) as target:
            monitor = cls.load(target) if target.exists() else wanted
            for key in asked:
                stored = monitor.settings[key]
                if not is_equal(wanted.settings[key], stored):
                    must = f"{valid.show(stored)}, as in the state file"
                    hint = "leave it out, or start a new state file"
                    raise valid.bad_value(key, must, valid.show(asked[key]), hint)
            monitor.add(name, scores, labeled, replace=replace)
            states.write_state(target, monitor.state)
        return monitor

    def to_dict(self) -> dict[str, Any]:
        """Return settings and the results of all partitions as plain data."""
        return {"settings": self.settings, "partitions": [p.to_dict() for p in self.partitions]}

    @public
    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """Return a page with a timeline of the results and a table of the partitions.

        Parameters
        ----------
        path : str or path-like, optional
            A file to write the page to.
        title : str, optional
            Heading of the page.

        Returns
        -------
        str
            The page as text.
        """
        return write_page(monitor_page, self.state, path, title)

    def _columns(self) -> dict[str, Any]:
        """Return the results of all partitions; a missing result is NaN."""
        parts = self.partitions
        names = ("name", "n_labeled", "n_unlabeled", "drifted")
        columns = {name: np.array([getattr(p, name) for p in parts]) for name in names}
        for name in RESULTS:
            for end in ("estimate", "low", "high"):
                values = [getattr(getattr(p, name), end, math.nan) for p in parts]
                columns[name if end == "estimate" else f"{name}_{end}"] = np.array(values)
        return columns

    def __str__(self) -> str:
        return monitor_text(self.state)

    def __repr__(self) -> str:
        return f"ScoreMonitor({len(self.partitions)} partitions)"


def _point(value: float, level: float, is_given: bool = False) -> Interval:
    """Return a value without an interval; both ends of a given value are the value itself."""
    end, method = (value, "given") if is_given else (math.nan, "no interval")
    return Interval(estimate=value, low=end, high=end, confidence_level=level, method=method)
