"""Running a study: what is missing is measured and kept, on cores, a cluster or a card."""

from __future__ import annotations

import os
import platform
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, get_args

import numpy as np

from purecover import __version__
from purecover._progress import starting_workers
from purecover._typing import BoolArray, FloatArray, Repair, Target
from purecover._validation import bad_value, check_jobs, public, useful_jobs
from purecover.counts import ScoreCounts, auc_pu
from purecover.estimators.alphamax import AlphaMaxN
from purecover.estimators.base import PriorEstimator, prior_estimators
from purecover.estimators.label_curve import LabelCurve
from purecover.estimators.noisy import NoisyLabels
from purecover.exceptions import IdentifiabilityError, PurecoverError, RecoveryWarning
from purecover.intervals.replicates import bootstrap
from purecover.models.networks import bagged_scores_many, check_device
from purecover.paper.cells import Cell, Draw, Record, Store, draw
from purecover.paper.data import DATASETS, load_paper_data
from purecover.proportions import MixtureProportions
from purecover.recovery.curves import recover_pr, recover_roc
from purecover.recovery.rates import recover_auc

if TYPE_CHECKING:
    from purecover.intervals.interval import Interval


# -- What is measured in one cell of the paper's evaluation: every method against two truths -----


DEFAULT = "label-curve"
"""What the tables call ours: like the paper's methods, it takes the ends of a ranking as pure."""
REPORTS = "reference"
"""What reports use, which does not."""
WITH_INTERVALS = (DEFAULT, REPORTS)
RELEASED = "alphamax-n-released"
"""The paper's own estimator: AlphaMax-N with the elbow of the released code."""
DEFAULT_REPAIR: Mapping[str, Repair] = {"auc": "isotonic", "auc_pr": "blend"}
_METRICS = {"auc": "roc_auc", "auc_pr": "auc_pr"}
"""Names here, and in the registry of metrics."""
_LEFT_OUT = {"noisy", "clustered", "alphamax"}
"""Wrappers without a method of their own on scores, and one present by its form for noise."""
_NO_PROPORTIONS = MixtureProportions(alpha=0.0, beta=1.0)
"""Taking unlabeled as negative and labels as right, or classes that are known."""


def estimators() -> dict[str, Callable[[], PriorEstimator]]:
    """Every estimator of alpha and beta from scores; those of alpha alone are run both ways."""
    found: dict[str, Callable[[], PriorEstimator]] = {DEFAULT: LabelCurve}
    for name, kind in prior_estimators().items():
        if name not in _LEFT_OUT and name != DEFAULT:
            found[name] = partial(_both_ways, kind)
    found[RELEASED] = partial(AlphaMaxN, elbow="released", step=0.01)
    return found


def _both_ways(kind: Callable[[], PriorEstimator]) -> PriorEstimator:
    made = kind()
    return made if made.estimates_beta else NoisyLabels(made)


def measure(
    cell: Cell, drawn: Draw, scores: FloatArray, traditional_scores: FloatArray
) -> list[Record]:
    """Every figure of a cell, a tidy row each.

    Parameters
    ----------
    cell : Cell
        Which one it is.
    drawn : Draw
        Its rows.
    scores : ndarray, shape (n,)
        Scores of the classifier trained on labeled against unlabeled.
    traditional_scores : ndarray, shape (n,)
        Scores of the classifier trained on the true classes of the same rows.
    """
    row = partial(Record, cell.dataset, cell.beta, cell.repeat)
    counts = ScoreCounts.from_scores(scores, drawn.labeled)
    found = [row(name, "true", "", "", getattr(drawn, name)) for name in ("alpha", "beta")]
    judged: list[tuple[str, FloatArray, BoolArray, Target]] = [
        ("traditional", traditional_scores, drawn.positive, drawn.alpha),
        ("same", scores, drawn.positive, drawn.alpha),
        ("observed", scores, drawn.labeled, "pooled"),
    ]
    for method, values, marks, target in judged:
        known = ScoreCounts.from_scores(values, marks)
        area = recover_pr(known, _NO_PROPORTIONS, repair="none", target=target).auc_pr
        found += [row("auc", method, "", "", auc_pu(known)), row("auc_pr", method, "", "", area)]
    truth = MixtureProportions(alpha=drawn.alpha, beta=drawn.beta)
    with warnings.catch_warnings():
        # That an area left [0, 1] is to be counted here, not to be told 1,800 times.
        warnings.simplefilter("ignore", RecoveryWarning)
        found += _recovered(row, "true", counts, truth)
        for name, make in estimators().items():
            try:
                fitted = make().fit(counts)
                proportions = fitted.proportions_
            except PurecoverError:  # scores that tell nothing apart: no estimate, and so no rows
                continue
            made = [
                *(row(n, "estimate", name, "", getattr(proportions, n)) for n in ("alpha", "beta")),
                *_recovered(row, name, counts, proportions),
            ]
            if name in WITH_INTERVALS:
                intervals = _intervals(cell, counts, proportions, fitted)
                made = [_with_interval(record, intervals) for record in made]
            found += made
    return found


def _recovered(
    row: Callable[..., Record], name: str, counts: ScoreCounts, proportions: MixtureProportions
) -> Iterator[Record]:
    """Areas by equation 4 and by recovered curves of every repair."""
    if proportions.beta - proportions.alpha <= 0:  # nothing can be recovered
        return
    yield row("auc", "direct", name, "", recover_auc(counts, proportions))
    for repair in get_args(Repair):
        if repair != "blend":
            roc = recover_roc(counts, proportions, repair=repair)
            yield row("auc", "indirect", name, repair, roc.auc)
        if repair != "none":  # a curve that leaves the square has no precision
            pr = recover_pr(counts, proportions, repair=repair)
            yield row("auc_pr", "indirect", name, repair, pr.auc_pr)


def _intervals(
    cell: Cell, counts: ScoreCounts, proportions: MixtureProportions, fitted: PriorEstimator
) -> dict[str, Interval]:
    """Intervals of the proportions, and of what is recovered with them by default."""
    found = {name: fitted.interval_[name] for name in ("alpha", "beta")}
    try:
        replicates = bootstrap(
            counts,
            proportions,
            estimator=fitted,
            metrics=tuple(_METRICS.values()),
            curves=False,
            n_resamples=cell.settings.n_resamples,
            random_state=cell.seeds[3],
        )
    except IdentifiabilityError:  # too many replicates tell nothing apart
        return found
    return found | {name: replicates.interval(metric) for name, metric in _METRICS.items()}


def _with_interval(record: Record, intervals: Mapping[str, Interval]) -> Record:
    """The record with its interval, if it is an estimate or recovered by the default repair."""
    interval = intervals.get(record.metric)
    if interval is None or record.repair != DEFAULT_REPAIR.get(record.metric, ""):
        return record
    return record._replace(low=interval.low, high=interval.high)


# -- Running a study: what is missing is computed and kept, on cores, a cluster or a graphics card


_CARD = "cuda"


class Problem(NamedTuple):
    """A data set as the study needs it."""

    features: FloatArray
    positive: BoolArray
    n_labeled: int
    differences: tuple[str, ...] = ()
    """In what it is not the paper's; told with the results."""


@dataclass(frozen=True)
class StudyRun:
    """What a run has done.

    Attributes
    ----------
    n_cells : int
        Cells asked for.
    n_before : int
        Cells that were there already.
    n_added : int
        Cells this run has added.
    failed : tuple of (Cell, str)
        Cells that ended in an error, and the error with its traceback. They are not kept, and
        the next run tries them again.
    seconds : float
        How long the run took.
    """

    n_cells: int
    n_before: int
    n_added: int
    failed: tuple[tuple[Cell, str], ...]
    seconds: float


class _Done(NamedTuple):
    """What a worker sends back: records, or the traceback of what went wrong."""

    cell: Cell
    records: list[Record]
    scores: dict[str, Any] | None
    seconds: float
    error: str | None


def load_problems(names: Iterable[str], folder: str | Path | None = None) -> dict[str, Problem]:
    """The data sets of the paper with these names, from a folder, the cache or the net."""
    found = {}
    for name in dict.fromkeys(names):
        data = load_paper_data(name, folder)
        found[name] = Problem(
            data.features, data.positive, DATASETS[name].n_labeled, data.differences
        )
    return found


@public
def run_study(
    cells: Iterable[Cell],
    *,
    store: Store,
    data: Mapping[str, Problem] | str | Path | None = None,
    n_jobs: int | None = None,
    keep_scores: bool = False,
    about: Mapping[str, str] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> StudyRun:
    """Compute the cells that the store lacks, and keep each as soon as it is finished.

    Whatever ends the process, finished cells are safe, and the same call goes on from there.
    Several processes may work on one store: each starts somewhere else in the design and passes
    over what another has finished meanwhile.

    Parameters
    ----------
    cells : iterable of Cell
        The design, see :func:`purecover.paper.cells.cells`.
    store : Store
        Where results are kept.
    data : mapping of str to Problem, str or Path, optional
        The data sets, or the folder they are in; those of the paper by default.
    n_jobs : int, optional
        Cells computed at the same time, as joblib takes it. ``joblib.parallel_config`` chooses
        other workers: threads, or a Dask or Ray cluster.
    keep_scores : bool
        Also keep scores, labels and true classes of new cells.
    about : mapping of str to str, optional
        What to note of these cells beside versions and device.
    on_progress : callable, optional
        Called with the number of cells that are done, and of all.

    Returns
    -------
    StudyRun
        What was done.

    Notes
    -----
    Cells whose settings say ``device="cuda"`` are trained on the card, all missing repetitions
    of a data set and beta at once; measuring is left to joblib's workers.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from purecover.paper.cells import StudySettings, cells
    >>> from purecover.paper.run import Problem, run_study
    >>> from purecover.paper.cells import Store
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(300) < 0.5
    >>> features = rng.normal(size=(300, 2)) + 2 * positive[:, None]
    >>> toy = {"toy": Problem(features, positive, n_labeled=50)}
    >>> settings = StudySettings(n_networks=25, n_resamples=5)
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     first = run_study(cells(["toy"], [1.0], 1, settings), store=store, data=toy)
    ...     again = run_study(cells(["toy"], [1.0], 1, settings), store=store, data=toy)
    >>> first.n_added, again.n_before, again.n_added
    (1, 1, 0)
    """
    began = time.perf_counter()
    check_jobs(n_jobs)
    wanted = {cell.key: cell for cell in cells}
    done = store.done(wanted)
    missing = [cell for key, cell in wanted.items() if key not in done]
    names = dict.fromkeys(cell.dataset for cell in missing)
    problems = dict(data) if isinstance(data, Mapping) else load_problems(names, data)
    unknown = [name for name in names if name not in problems]
    if unknown:
        must = "a mapping with all data sets of the cells"
        raise bad_value("data", must, f"one without {unknown[0]!r}")
    failed, n_added = [], 0
    if on_progress is not None:
        on_progress(len(done), len(wanted))
    notes = _about(missing) | dict(about or {})
    for made in _compute(missing, problems, store, n_jobs, keep_scores=keep_scores):
        if made.error is not None:
            failed.append((made.cell, made.error))
        else:
            name = made.cell.dataset
            other = "; ".join(problems[name].differences)
            n_added += store.add(
                made.cell,
                made.records,
                seconds=made.seconds,
                scores=made.scores,
                about=notes | ({"data": f"{name}: {other}"} if other else {}),
            )
        if on_progress is not None:
            # Counted anew: another process may be adding to the store as well.
            on_progress(len(store.done(wanted)) + len(failed), len(wanted))
    return StudyRun(
        n_cells=len(wanted),
        n_before=len(done),
        n_added=n_added,
        failed=tuple(failed),
        seconds=time.perf_counter() - began,
    )


def _about(missing: Sequence[Cell]) -> dict[str, str]:
    """What results may depend on beside the configuration."""
    import scipy
    import sklearn

    found = {
        "purecover": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "system": f"{platform.system()} {platform.machine()}",
    }
    if any(cell.settings.device == _CARD for cell in missing):
        check_device(_CARD)  # says what is missing, before anything is computed
        import torch

        found |= {"torch": str(torch.__version__), "card": str(torch.cuda.get_device_name())}
    return found


# -- who computes -----------------------------------------------------------------------------


def _compute(
    missing: list[Cell],
    problems: Mapping[str, Problem],
    store: Store,
    n_jobs: int | None,
    *,
    keep_scores: bool,
) -> Iterator[_Done]:
    """Finished cells as they come."""
    from joblib import Parallel
    from joblib.parallel import get_active_backend

    # Sent with each task rather than left in shared memory, which a killed process leaves behind.
    workers = useful_jobs(n_jobs, len(missing))
    options: dict[str, Any] = {"n_jobs": workers, "max_nbytes": None, "batch_size": 1}
    if type(get_active_backend()[0]).__name__ == "LokyBackend":  # processes of our own
        options |= {"initializer": _end_with, "initargs": (os.getpid(),)}
    errors: list[Exception] = []
    tasks = _until_error(_tasks(missing, problems, store, keep_scores=keep_scores), errors)
    try:
        parallel = Parallel(return_as="generator_unordered", **options)
    except ValueError:  # a backend that returns all results at once, such as Ray's
        yield from _in_rounds(Parallel(**options), tasks)
    else:
        finished = None
        try:
            with starting_workers(workers):
                finished = parallel(tasks)
            yield from finished
        finally:
            if finished is not None:
                finished.close()
    if errors:
        raise errors[0]


def _in_rounds(parallel: Any, tasks: Iterator[Any]) -> Iterator[_Done]:
    """As many cells as there are workers, and then the next ones."""
    from itertools import islice

    from joblib import effective_n_jobs

    size = max(effective_n_jobs(parallel.n_jobs), 1)
    while batch := list(islice(tasks, size)):
        yield from parallel(batch)


def _until_error(tasks: Iterator[Any], errors: list[Exception]) -> Iterator[Any]:
    """Tasks for joblib, which takes them in a thread of its own where an error would be lost."""
    try:
        yield from tasks
    except Exception as error:  # noqa: BLE001 - raised by whoever reads the results
        errors.append(error)


def _from_elsewhere(cells: list[Any]) -> list[Any]:
    """Another beginning for each process, so that two on one store share the work."""
    start = int(np.random.default_rng().integers(len(cells))) if cells else 0
    return cells[start:] + cells[:start]


def _tasks(
    cells: list[Cell], problems: Mapping[str, Problem], store: Store, *, keep_scores: bool
) -> Iterator[Any]:
    """Cells to measure; those for a card are trained here, a group while workers have the last."""
    from joblib import delayed

    groups: dict[Any, list[Cell]] = {}
    on_cores = []
    for cell in cells:
        if cell.settings.device == _CARD:
            groups.setdefault((cell.dataset, cell.beta, cell.settings), []).append(cell)
        else:
            on_cores.append(cell)
    for members in _from_elsewhere(list(groups.values())):
        group = [cell for cell in members if not store.has(cell.key)]
        if not group:
            continue
        began = time.perf_counter()
        trained = _train(group, problems[group[0].dataset])
        seconds = (time.perf_counter() - began) / len(group)
        for cell, each in zip(group, trained, strict=True):
            yield delayed(_run_cell)(cell, each, keep_scores, seconds)
    for cell in _from_elsewhere(on_cores):
        if not store.has(cell.key):
            yield delayed(_run_cell)(cell, problems[cell.dataset], keep_scores)


def _end_with(parent: int) -> None:
    """End this process with the one that started it; joblib's workers would wait for it."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


# -- what is computed -------------------------------------------------------------------------


_Trained: TypeAlias = tuple[Draw, FloatArray, FloatArray]
"""Rows of a cell, scores of networks trained on labels, and on the true classes."""


def _train(group: Sequence[Cell], problem: Problem) -> list[_Trained]:
    """The networks of each cell."""
    draws = [draw(cell, problem.positive, problem.n_labeled) for cell in group]
    settings = group[0].settings
    rows = np.stack([drawn.rows for drawn in draws])
    labeled, positive = (
        bagged_scores_many(
            problem.features,
            rows,
            np.stack(marks),
            n_estimators=settings.n_networks,
            preset=settings.preset,
            device=settings.device,
            n_jobs=1,
            random_state=[cell.seeds[place] for cell in group],
        )
        for place, marks in (
            (1, [drawn.labeled for drawn in draws]),
            (2, [drawn.positive for drawn in draws]),
        )
    )
    return list(zip(draws, labeled, positive, strict=True))


def _run_cell(
    cell: Cell, given: Problem | _Trained, keep_scores: bool, seconds: float = 0.0
) -> _Done:
    """Draw and train, unless that is done, and measure: everything of a cell, in a worker."""
    began = time.perf_counter() - seconds
    try:
        trained = _train([cell], given)[0] if isinstance(given, Problem) else given
        records = measure(cell, *trained)
    except Exception:  # noqa: BLE001 - one bad cell must not end a night's work
        return _Done(cell, [], None, 0.0, traceback.format_exc())
    drawn, scores, traditional = trained
    kept = {
        "scores": scores,
        "traditional_scores": traditional,
        "labeled": drawn.labeled,
        "positive": drawn.positive,
    }
    spent = time.perf_counter() - began
    return _Done(cell, records, kept if keep_scores else None, spent, None)
