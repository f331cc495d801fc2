"""`ScoreMonitor`: counts and figures of partitions, one after another, and how it prints."""

from __future__ import annotations

import glob
import json
import math
import os
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from dataclasses import replace as changed
from datetime import UTC, datetime
from functools import partial
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

from purecover import _validation as valid
from purecover._codec import checksum, decode, picked, plain, plain_fields, replacing
from purecover._inputs import Tabular
from purecover._typing import ArrayLike, Scenario
from purecover._validation import public
from purecover.checks import CHECKS
from purecover.counts import ScoreCounts
from purecover.estimators.choice import check_estimator
from purecover.exceptions import InvalidInputError
from purecover.intervals.interval import LEVEL, Interval
from purecover.monitoring.drift import (
    DriftTest,
    MonitorPartition,
    Settings,
    binned,
    compare,
    figures,
    flagged,
)
from purecover.proportions import GivenProportions
from purecover.recovery.bounds import BinningBounds, binning_bounds

if TYPE_CHECKING:
    from purecover.estimators.quantifier import Quantifier

# -- The state file: always the old one or the new one, whole, and one writer at a time ----------


SCHEMA = "purecover.monitor/1"
"""Name and version of what is written."""

_WAIT_S = 600.0  # for other processes, each of which may be estimating alpha
_MUST = "a state file of purecover monitor"
_BACKUP = "take the file from a backup, or start a new one from the partitions"


def as_path(path: object) -> Path:
    """A path, or a complaint."""
    if isinstance(path, (str, os.PathLike)) and str(path) and "\0" not in str(path):
        return Path(os.path.realpath(path))  # so that a link stays one when its file is replaced
    raise valid.bad_type("path", "the name of a file", path)


# -- reading ----------------------------------------------------------------------------------


def read_state(path: Path) -> tuple[dict[str, Any], str]:
    """The state in a file, and its checksum."""
    wrong = partial(_wrong, path)
    other = "is it another file? purecover monitor starts a new state under a name that is free"
    try:
        document = json.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError as error:
        raise wrong("which does not exist", "is the name right?") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise wrong(f"which cannot be read: {reason}", other) from error
    except (ValueError, RecursionError) as error:
        why = " ".join(str(error).split())
        hint = f"it may be cut off or another file; {_BACKUP}"
        raise wrong(f"which is no JSON ({why})", hint) from error
    if not isinstance(document, dict) or not str(document.get("schema")).startswith(
        "purecover.monitor/"
    ):
        raise wrong("which is the JSON of something else", other)
    if document["schema"] != SCHEMA:
        got = f"of the kind {valid.show(document['schema'])}; this purecover reads {SCHEMA!r}"
        raise wrong(got, f"read it with purecover {valid.show(document.get('version'))}")
    state, known = document.get("state"), document.get("checksum")
    if not isinstance(state, dict) or checksum(state) != known:
        raise wrong("whose content does not fit its checksum: it was changed or damaged", _BACKUP)
    return state, str(known)


def damaged(path: Path, error: Exception) -> InvalidInputError:
    """The complaint about a file whose checksum is right and whose content is not."""
    why = " ".join(str(error).split())
    return _wrong(path, f"whose content cannot be used ({why})", _BACKUP)


def _wrong(path: Path, got: str, hint: str) -> InvalidInputError:
    return valid.bad_value("path", _MUST, f"{valid.show(str(path))}, {got}", hint)


def _unwritable(path: Path, error: OSError) -> InvalidInputError:
    hint = "is the name right, and may you write there?"
    if not path.parent.exists():
        hint = f"make the folder {str(path.parent)!r} first"  # in full, to be copied
    got = f"{valid.show(str(path))}: {error.strerror or error}"
    return valid.bad_value("path", "a file in a folder that can be written", got, hint)


# -- writing ----------------------------------------------------------------------------------


def write_state(path: Path, state: dict[str, Any]) -> str:
    """Replace the file by one with this state, and return its checksum.

    The new file is written beside the old one, reaches the disk, and takes its name in one step;
    then the folder reaches the disk. To be called by whoever holds the lock.
    """
    made = checksum(state)
    document = {
        "schema": SCHEMA,
        # Not imported: the package's front stands above this layer, and is loaded already.
        "version": sys.modules["purecover"].__version__,
        "checksum": made,
        "state": state,
    }
    text = json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"
    # Left by a process that was killed.
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        # A state called "a.b" may be written right now beside one called "a".
        if left.name.removeprefix(f".{path.name}.").count(".") == 2:
            with suppress(OSError):
                left.unlink()
    prefix, suffix = f".{path.name}.", f".{os.getpid()}.tmp"
    with replacing(path, prefix=prefix, suffix=suffix, durable=True) as file:
        file.write(text.encode())
    return made


# -- one at a time ----------------------------------------------------------------------------


@contextmanager
def locked(path: Path, *, wait_s: float = _WAIT_S) -> Iterator[None]:
    """Hold the lock of a state file; wait for others who do.

    The lock is the operating system's, on a file beside the state, and ends with the process
    that holds it, however that ends. The file itself stays: were it removed, someone who waits
    for it and someone who makes a new one would both have "the" lock.
    """
    lock = path.with_name(f"{path.name}.lock")
    try:
        file = lock.open("ab")
    except OSError as error:
        raise _unwritable(path, error) from error
    with file:
        deadline = time.monotonic() + wait_s
        while not _take(file):
            if time.monotonic() > deadline:
                raise InvalidInputError(
                    f"{valid.show(str(path))} has been in use by another process for "
                    f"{wait_s:g} s.\n"
                    f"Hint: see who holds {valid.show(str(lock))}"
                )
            time.sleep(0.02)
        try:
            yield
        finally:
            _release(file)


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _take(file: IO[bytes]) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


# -- What a monitor is told at its start, and what it is given later -----------------------------


_LONGEST = 200


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "window": partial(valid.check_integer, low=1, high=10**6),
    "n_resamples": partial(valid.check_integer, low=0, high=10**6),
    "max_thresholds": partial(valid.check_integer, low=64, high=10**7),
    "false_alarms": partial(valid.check_real, low=0, high=1, closed="neither"),
    "confidence_level": LEVEL,
    "random_state": partial(valid.check_integer, low=0),
}


def make_settings(given: dict[str, Any]) -> Settings:
    """Settings, or a complaint about the first that cannot be."""
    estimator, columns = given["estimator"], given["columns"]
    if estimator is not None and not isinstance(estimator, str):
        hint = "a state file can keep nothing else; the names are those of prior_estimators()"
        raise valid.bad_type("estimator", "the name of an estimator", estimator, hint)
    columns = {} if columns is None else columns
    if not isinstance(columns, Mapping) or not all(
        isinstance(word, str) for pair in columns.items() for word in pair
    ):
        raise valid.bad_type("columns", "a mapping of text to text", columns)
    known = GivenProportions.among(given).validated(can_estimate=True)
    if estimator is not None:
        check_estimator(estimator)
    shares = {name: vars(known)[name] for name in ("alpha", "beta", "prior", "label_frequency")}
    numbers = {name: None if value is None else float(value) for name, value in shares.items()}
    checked = {name: check(name, given[name]) for name, check in _CHECKS.items()}
    if given["threshold"] is not None:
        checked["threshold"] = valid.check_real("threshold", given["threshold"])
    kept = {"columns": dict(columns), "assume": tuple(sorted(given["assume"]))}
    return Settings(**{**given, **numbers, **checked, **kept})


def check_settings(settings: object) -> dict[str, Any]:
    """Settings to be passed on by name."""
    must = "a mapping of parameters of ScoreMonitor"
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise valid.bad_type("settings", must, settings)
    known = list(Settings.__dataclass_fields__)
    for key in settings:
        if key not in known:
            hint = f"they are {', '.join(known)}"
            raise valid.bad_value("settings", must, f"one called {valid.show(key)}", hint)
    return dict(settings)


def check_name(name: object) -> str:
    """The name of a partition, which stands in tables."""
    if not isinstance(name, str):
        raise valid.bad_type("name", "a text", name)
    if not 0 < len(name) <= _LONGEST or not name.isprintable() or name != name.strip():
        must = f"1 to {_LONGEST} printable characters without blanks at the ends"
        raise valid.bad_value("name", must, valid.show(name))
    return name


# -- A monitor in words, and as a table ----------------------------------------------------------


TITLES = {"alpha": "alpha", "auc_pu": "observed AUC", "auc": "recovered AUC"}
"""The figures, in the order shown."""

COMPARED = TITLES | {
    "flagged": "share flagged",
    "labeled": "labeled scores",
    "unlabeled": "unlabeled scores",
}
"""What is compared with earlier partitions, in the order shown."""

_HEAD = ("partition", "labeled", "unlabeled", *TITLES.values(), "drift", "warnings")
_RIGHT = (1, 2)


def monitor_text(monitor: ScoreMonitor, partition: MonitorPartition | None = None) -> str:
    """Totals, the partitions of the window, and what is to be said of one, by default the last."""
    if not monitor.partitions:
        return "no partition yet"
    partition = monitor.partitions[-1] if partition is None else partition
    shown = monitor.partitions[-monitor.settings["window"] - 1 :]
    left_out = len(monitor.partitions) - len(shown)
    lines = [_total_line(monitor), "", *_table(shown)]
    if left_out:
        lines.insert(2, f"({left_out:,} earlier {_plural('partition', left_out)} not shown)")
    return "\n".join([*lines, "", *statement(monitor, partition), *_warned(partition)])


def _total_line(monitor: ScoreMonitor) -> str:
    counts, bounds, n = monitor.counts, monitor.bounds, len(monitor.partitions)
    area = f"{counts.auc_pu:.4f}"
    if bounds is not None:
        area += f" (within {bounds.auc_pu[0]:.4f} to {bounds.auc_pu[1]:.4f}, as scores are in bins)"
    return (
        f"{n:,} {_plural('partition', n)}: {_size(counts.n_labeled)} labeled, "
        f"{_size(counts.n_unlabeled)} unlabeled, observed AUC {area}"
    )


def _size(n: float) -> str:
    """A number of rows, or a sum of weights."""
    return f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}"


def _plural(word: str, n: int) -> str:
    return word if n == 1 else f"{word}s"


def _table(partitions: tuple[MonitorPartition, ...]) -> list[str]:
    n_columns = len(_HEAD) - (not any(each.findings for each in partitions))
    rows = [row[:n_columns] for row in (_HEAD, *map(_row, partitions))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if i in _RIGHT else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _row(partition: MonitorPartition) -> tuple[str, ...]:
    drift = partition.drift
    word = "" if drift is None else "yes" if drift.drifted else "no" if drift.tests else "?"
    return (
        partition.name,
        _size(partition.n_labeled),
        _size(partition.n_unlabeled),
        *(_cell(getattr(partition, name)) for name in TITLES),
        word,
        " ".join(partition.findings),
    )


def _cell(interval: Interval | None) -> str:
    if interval is None:
        return "none"
    if interval.method == "given" or not math.isfinite(interval.low):
        return f"{interval.estimate:.4g}"
    return f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def statement(monitor: ScoreMonitor, partition: MonitorPartition) -> list[str]:
    """Whether a partition differs from those before it, and how sure that is."""
    lines = [] if partition.note is None else [f"{partition.name}: {partition.note}"]
    drift = partition.drift
    if drift is None:
        place = [p.name for p in monitor.partitions].index(partition.name)
        why = "is the first; there is nothing to compare it with"
        if place:
            gone = "counts of the one" if place == 1 else f"counts of the {place:,}"
            why = f"is not compared: {gone} before it are only kept as part of the total"
        return [*lines, f"{partition.name} {why}."]
    n = drift.n_before
    before = "the one before it" if n == 1 else f"the {n:,} before it"
    if not drift.tests:
        return [*lines, f"{partition.name} is not compared with {before}: {drift.note}."]
    verdict = "differs" if drift.drifted else "does not differ"
    lines.append(f"{partition.name} {verdict} from {before} beyond chance:")
    width = max(len(COMPARED[name]) for name in drift.tests)
    lines += [
        f"  {title:{width}}  {_compared(name, drift.tests[name])}"
        for name, title in COMPARED.items()
        if name in drift.tests
    ]
    if drift.note is not None:
        lines.append(f"  {drift.note}")
    ever = 100 * monitor.settings["false_alarms"]
    # Tails of estimates come from a few hundred draws, those of areas from moments.
    condition = "rows are independent" + (" and p-values hold" if "alpha" in drift.tests else "")
    lines.append(
        f"False alarms of all looks ever: at most {ever:g} %, if {condition}. "
        f"Look {drift.look:,} spends {100 * drift.spent:.2g} %."
    )
    return lines


def _warned(partition: MonitorPartition) -> list[str]:
    """A sentence for each finding."""
    said = {"PU017": "; alpha is a guess, and the recovered AUC is with alpha as estimated"}
    return [
        f"Warning: {partition.name}: {CHECKS[code].title}{said.get(code, '')} ({code})."
        for code in partition.findings
    ]


def _compared(name: str, test: DriftTest) -> str:
    word = "drift" if test.drifted else "no drift"
    figures = f"{test.value:.3f}, before {test.before:.3f}, difference {test.difference:+.3f}"
    if name in ("labeled", "unlabeled"):
        figures = f"distance {test.value:.3f} from those before"
    return f"{figures}: {word} (p = {test.p_value:.2g}, limit {test.limit:.2g})"


def monitor_page(
    monitor: ScoreMonitor, partition: MonitorPartition | None = None, **about: Any
) -> str:
    """The same as a page: a timeline, what is said of one partition, and a table of all."""
    from purecover._documents.parts import Caution, Headline, Row, Table
    from purecover.html.page import MOST_PARTITIONS, render_monitor

    if not monitor.partitions:
        raise InvalidInputError("ScoreMonitor.to_html needs a partition; add one first.")
    newest = monitor.partitions[-1] if partition is None else partition
    lines = statement(monitor, newest)
    noted = [] if newest.note is None else [lines.pop(0)]
    drift, tests, cautions = newest.drift, None, []
    if drift is not None and drift.tests:
        heads = {"value": "Now", "before": "Before", "difference": "Difference"}
        heads |= {"p": "p-value", "limit": "Limit", "drift": "Drift"}
        rows = []
        for name, title in COMPARED.items():
            if (test := drift.tests.get(name)) is None:
                continue
            figures = (f"{test.value:.3f}", f"{test.before:.3f}", f"{test.difference:+.3f}")
            if name in ("labeled", "unlabeled"):
                figures = (figures[0], "", "")
            cells = (*figures, f"{test.p_value:.2g}", f"{test.limit:.2g}")
            words = "yes" if test.drifted else "no"
            said = f"{title}, distance" if figures[1] == "" else title
            rows.append(Row(said, dict(zip(heads, (*cells, words), strict=True))))
        tests = Table(f"{newest.name} beside those before it", heads, rows)
        if drift.note is not None:
            noted.append(f"{drift.note[0].upper()}{drift.note[1:]}.")
        noted.append(lines[-1])
        drifted = {name for name, test in drift.tests.items() if test.drifted}
        found = [title for name, title in COMPARED.items() if name in drifted]
        if found:
            text = f"Warning: {newest.name} drifts in {', '.join(found)}."
            cautions = [Caution("warning", [], text)]
    for code, text in zip(newest.findings, _warned(newest), strict=True):
        cautions.append(Caution("warning", [code], text))
    shown = reversed(monitor.partitions[-MOST_PARTITIONS:])
    columns = dict(zip(_HEAD[1:], (head[0].upper() + head[1:] for head in _HEAD[1:]), strict=True))
    every = [Row(p.name, dict(zip(_HEAD[1:], _row(p)[1:], strict=True))) for p in shown]
    more = [f"{_total_line(monitor)}.", *noted]
    return render_monitor(
        monitor,
        said=Headline([lines[0].replace("chance:", "chance.")], more, cautions),
        table=Table("Partition", columns, every),
        tests=tests,
        **about,
    )


# -- `ScoreMonitor`: counts and figures of partitions, one after another -------------------------


@dataclass(frozen=True)
class MonitorState:
    """What a state file holds."""

    settings: dict[str, Any]
    n_looks: int
    archive: ScoreCounts | None
    partitions: tuple[MonitorPartition, ...]


def _checked(counts: ScoreCounts | None) -> ScoreCounts | None:
    """Counts of a file, which may be anybody's: no negative ones, no thresholds in disorder."""
    return None if counts is None else ScoreCounts.from_dict(counts.to_dict())


_TOTAL = 16
"""Times as many bins as a partition may have, for all partitions together."""


class ScoreMonitor(Tabular):
    r"""Running counts of scores that arrive in partitions, and a watch for drift.

    Each partition (a day, a batch) is counted, measured and compared with those before it.

    Parameters
    ----------
    alpha, beta, prior, label_frequency, scenario
        What is known of the proportions, as in :func:`evaluate`; alpha is estimated in every
        partition if nothing is said.
    estimator : str, optional
        The name of what estimates alpha and beta; see ``prior_estimators()``.
    assume : collection of {"pure-top", "clean-labels"}, default=()
        What you know where alpha is estimated, as in :func:`evaluate`.
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
    threshold : float, optional
        Scores from here on are flagged; the share of unlabeled ones that are is watched too.

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
    Student's distribution. Where the default estimates them, what :class:`~.LabelCurve` finds is
    compared, which is much quicker and sees the same change. The observed AUC is tested too.

    None of these sees scores that all move together, which a threshold does. So the labeled and
    the unlabeled scores are compared too, by the largest difference of their distribution
    functions and Kolmogorov's distribution, and the share at or above a given threshold.

    Look :math:`t` may spend :math:`\epsilon/(t(t+1))` of the false-alarm probability
    :math:`\epsilon`, in equal parts for the figures it tests. The sum over all looks is
    :math:`\epsilon`, so that the bound holds forever, as far as the p-values of each look
    do. Rows count as independent; what differs between days beyond that is drift.

    Examples
    --------
    >>> from purecover import simulate
    >>> from purecover.monitoring import ScoreMonitor
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

    @public
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
        threshold: float | None = None,
        assume: Collection[str] = (),
    ) -> None:
        asked = {name: value for name, value in locals().items() if name != "self"}
        self._settings = make_settings(asked)
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

    def quantifier(self) -> Quantifier:
        """A :class:`Quantifier` fitted on all partitions, for days that bring scores but no labels.

        It knows of alpha and beta what the monitor was told, and estimates them otherwise.
        """
        from purecover.estimators.quantifier import Quantifier

        told, counts = self._settings, self.counts
        given = told.given
        known = given.resolve(counts) if given.ways else None
        return Quantifier(
            alpha=None if known is None else known.alpha,
            beta=given.beta if known is None else known.beta,
            estimator=given.estimator,
            confidence_level=told.confidence_level,
            random_state=told.random_state,
        ).fit(counts)

    # -- adding ---------------------------------------------------------------------------

    @public
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
        labeled : array-like of shape (n,), optional
            Which rows are labeled; none beside counts.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights.
        positive_label, negative_label : object, optional
            The value of ``labeled`` that means labeled, where it is not obvious, and the value
            that marks known negatives, if there are any.
        replace : bool, default=False
            Take the place of the partition of this name, if there is one; it must not have left
            the window.

        Returns
        -------
        MonitorPartition
            Its figures, and in ``drift`` the comparison.
        """
        place = self._place(name, replace)
        labels = {"positive_label": positive_label, "negative_label": negative_label}
        counts = ScoreCounts._of(scores, labeled, sample_weight=sample_weight, **labels)
        keep = self._settings
        small = binned(counts, keep.max_thresholds)
        drift = None
        before = [p.counts for p in self._partitions[:place] if p.counts is not None]
        if before:
            drift = compare(small, before[-keep.window :], keep, self._n_looks + 1)
        made = MonitorPartition(
            name=name,
            added=datetime.now(UTC).isoformat(timespec="seconds"),
            n_labeled=counts.n_labeled,
            n_unlabeled=counts.n_unlabeled,
            n_negative=counts.n_negative,
            flagged=None if keep.threshold is None else flagged(counts, keep.threshold),
            drift=drift,
            counts=small,
            **figures(counts, keep),
        )
        self._put(place, made)
        return made

    def _place(self, name: str, replacing: bool) -> int:
        name = check_name(name)
        valid.check_flag("replace", replacing)
        names = [p.name for p in self._partitions]
        if name not in names:
            return len(names)
        place = names.index(name)
        if not replacing:
            added = self._partitions[place].added
            must = "one that was not added yet"
            hint = "replace=True takes the place of the partition of that name"
            raise valid.bad_value("name", must, f"{valid.show(name)}, added {added}", hint)
        if self._partitions[place].counts is None:
            must = f"one of the last {self._settings.window + 1:,} partitions, to be replaced"
            got = f"{valid.show(name)}, whose counts are only kept as part of the total"
            raise valid.bad_value("name", must, got, "start a new monitor with all partitions")
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
            The monitor as it was. Files that are cut off, changed or of another kind are refused.
        """
        target = as_path(path)
        data, known = read_state(target)
        try:
            state = decode(MonitorState, data)
            valid.check_integer("n_looks", state.n_looks, low=0)
            monitor = cls(**state.settings)
            monitor._archive = _checked(state.archive)
            monitor._partitions = tuple(
                changed(partition, counts=_checked(partition.counts))
                for partition in state.partitions
            )
        except (TypeError, ValueError) as error:
            raise damaged(target, error) from error
        monitor._n_looks = state.n_looks
        monitor._checksum = known
        return monitor

    @public
    def save(self, path: str | PathLike[str]) -> None:
        """Write a state file, whole or not at all.

        A file that is there is only replaced if it holds what this monitor was loaded from or
        saved to last; else somebody's partitions would be lost.

        Parameters
        ----------
        path : str or path
            The file. One beside it, with ``.lock`` after its name, makes processes take turns.
        """
        target = as_path(path)
        with locked(target):
            if target.exists() and read_state(target)[1] != self._checksum:
                must = "a new file, or the one this monitor was loaded from as it was then"
                hint = "add partitions with ScoreMonitor.update, which takes turns with others"
                got = f"{valid.show(str(target))}, which holds something else"
                raise valid.bad_value("path", must, got, hint)
            self._checksum = write_state(target, self._state())

    @classmethod
    @public
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
        target, wanted = as_path(path), check_settings(settings)
        with locked(target):
            if target.exists():
                monitor = cls.load(target)
                monitor._settings.require(wanted)
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
        state = MonitorState(self.settings, self._n_looks, self._archive, self._partitions)
        partitions = [partition.to_dict(counts=True) for partition in self._partitions]
        return plain_fields(state, partitions=partitions)

    # -- showing --------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Settings, totals and the figures of all partitions as plain data, without counts."""
        return {
            "settings": self.settings,
            "n_looks": self._n_looks,
            "total": self._total() if self._partitions else None,
            "partitions": [p.to_dict() for p in self._partitions],
        }

    @public
    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """A self-contained page: a timeline of the figures, and a table of the partitions.

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
        from purecover.report.pages import write_page

        return write_page(monitor_page, self, path, title)

    def _total(self) -> dict[str, Any]:
        names = ("n_labeled", "n_unlabeled", "n_negative", "n_thresholds", "auc_pu")
        return picked(self.counts, *names) | {"binning": plain(self.bounds)}

    def _columns(self) -> dict[str, Any]:
        """The figures of all partitions; None, where there is none, becomes NaN."""
        columns = {
            name: np.array([getattr(p, name) for p in self._partitions])
            for name in ("name", "n_labeled", "n_unlabeled")
        }
        for key in TITLES:
            found = [getattr(p, key) for p in self._partitions]
            for end, column in (("estimate", key), ("low", f"{key}_low"), ("high", f"{key}_high")):
                values = [getattr(interval, end, None) for interval in found]
                columns[column] = np.array(values, dtype=np.float64)
        columns["flagged"] = np.array([p.flagged for p in self._partitions], dtype=np.float64)
        for side in ("labeled", "unlabeled"):
            tests = [None if p.drift is None else p.drift.tests.get(side) for p in self._partitions]
            distances = [getattr(test, "value", None) for test in tests]
            columns[f"{side}_distance"] = np.array(distances, dtype=np.float64)
        drifted = [p.drift is not None and p.drift.drifted for p in self._partitions]
        return {**columns, "drifted": np.array(drifted, dtype=np.bool_)}

    def __str__(self) -> str:
        return monitor_text(self)

    def __repr__(self) -> str:
        return f"ScoreMonitor({len(self._partitions)} partitions)"
