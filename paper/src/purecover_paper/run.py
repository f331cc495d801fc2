"""Running a study: missing cells are computed and kept, on cores, a cluster or a card."""

from __future__ import annotations

import os
import platform
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from purecover import __version__
from purecover_paper.arguments import bad_value, check_jobs, errors_of
from purecover_paper.arrays import BoolArray, FloatArray
from purecover_paper.datasets import DATASETS, load_paper_data
from purecover_paper.design import Cell, Draw, draw
from purecover_paper.measure import measure
from purecover_paper.networks import bagged_scores_many
from purecover_paper.networks.ensembles import check_device
from purecover_paper.store import Record, Store

_CARD = "cuda"


class Problem(NamedTuple):
    """A data set as the study needs it."""

    features: FloatArray
    positive: BoolArray
    n_labeled: int
    differences: tuple[str, ...] = ()
    """How it differs from the paper's table; noted with the results."""


@dataclass(frozen=True)
class StudyRun:
    """The outcome of a run.

    Attributes
    ----------
    n_cells : int
        Cells of the design.
    n_before : int
        Cells that the store had before.
    n_added : int
        Cells this run has added.
    failed : tuple of (Cell, str)
        Cells that ended in an error, and the error with its traceback. They are not kept, and
        the next run tries them again.
    seconds : float
        Duration of the run.
    """

    n_cells: int
    n_before: int
    n_added: int
    failed: tuple[tuple[Cell, str], ...]
    seconds: float


class _Done(NamedTuple):
    """The result of a worker: records, or the traceback of an error."""

    cell: Cell
    records: list[Record]
    scores: dict[str, Any] | None
    seconds: float
    error: str | None


def load_problems(names: Iterable[str], folder: str | Path | None = None) -> dict[str, Problem]:
    """Load data sets of the paper, from a folder, the cache or the network."""
    found = {}
    for name in dict.fromkeys(names):
        data = load_paper_data(name, folder)
        found[name] = Problem(
            data.features, data.positive, DATASETS[name].n_labeled, data.differences
        )
    return found


@errors_of("run_study")
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
    """Compute the cells that the store lacks, and keep each when it is finished.

    If the process ends, finished cells are kept, and the same call continues with the others.
    Several processes may work on one store: each starts at another cell of the design and skips
    the cells that another process has finished.

    Parameters
    ----------
    cells : iterable of Cell
        The design, see :func:`purecover_paper.design.cells`.
    store : Store
        Where results are kept.
    data : mapping of str to Problem, str or Path, optional
        The data sets, or the folder they are in; the data sets of the paper by default.
    n_jobs : int, optional
        Cells computed at the same time, as joblib takes it. ``joblib.parallel_config`` chooses
        other workers: threads, or a Dask or Ray cluster.
    keep_scores : bool
        Also keep scores, labels and true classes of new cells.
    about : mapping of str to str, optional
        Notes to keep with these cells, in addition to versions and device.
    on_progress : callable, optional
        Called with the number of finished cells and the number of all.

    Returns
    -------
    StudyRun
        Numbers of cells, and the errors of cells that failed.

    Notes
    -----
    Cells whose settings say ``device="cuda"`` are trained on the card, all missing repetitions
    of a data set and beta at once; measuring is left to joblib's workers.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from purecover_paper.design import StudySettings, cells
    >>> from purecover_paper.run import Problem, run_study
    >>> from purecover_paper.store import Store
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
    wanted = {cell.key: cell for cell in cells}
    done = store.done(wanted)
    missing = [cell for key, cell in wanted.items() if key not in done]
    n_jobs = check_jobs(n_jobs, len(missing))
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
            # Counted again: another process may add to the store as well.
            on_progress(len(store.done(wanted)) + len(failed), len(wanted))
    return StudyRun(
        n_cells=len(wanted),
        n_before=len(done),
        n_added=n_added,
        failed=tuple(failed),
        seconds=time.perf_counter() - began,
    )


def _about(missing: Sequence[Cell]) -> dict[str, str]:
    """Return versions and device, on which results may depend."""
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
        check_device(_CARD)  # raises before anything is computed
        import torch

        found |= {"torch": str(torch.__version__), "card": str(torch.cuda.get_device_name())}
    return found


def _compute(
    missing: list[Cell],
    problems: Mapping[str, Problem],
    store: Store,
    n_jobs: int | None,
    *,
    keep_scores: bool,
) -> Iterator[_Done]:
    """Yield cells as they are finished."""
    from joblib import Parallel
    from joblib.parallel import get_active_backend

    # Sent with each task rather than left in shared memory, which a killed process leaves behind.
    options: dict[str, Any] = {"n_jobs": n_jobs, "max_nbytes": None, "batch_size": 1}
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
            with _blocking_interrupts(n_jobs):
                finished = parallel(tasks)
            yield from finished
        finally:
            if finished is not None:
                finished.close()
    if errors:
        raise errors[0]


@contextmanager
def _blocking_interrupts(n_jobs: int | None) -> Iterator[None]:
    """Start workers that ignore Ctrl-C, so that this process ends them in turn.

    In a terminal all processes receive it, and each worker would print a traceback. A blocked
    signal stays blocked in processes started meanwhile; here it is handled afterwards.
    """
    is_main = threading.current_thread() is threading.main_thread()
    handled = is_main and signal.getsignal(signal.SIGINT) is not None
    if n_jobs == 1 or not handled or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which joblib starts otherwise, and which unblocks Ctrl-C
    received: list[int] = []  # by threads that ran before, such as those of BLAS
    before = signal.signal(signal.SIGINT, lambda number, _: received.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
        if received:
            signal.raise_signal(signal.SIGINT)


def _in_rounds(parallel: Any, tasks: Iterator[Any]) -> Iterator[_Done]:
    """Compute as many cells at a time as there are workers."""
    from joblib import effective_n_jobs

    size = max(effective_n_jobs(parallel.n_jobs), 1)
    while batch := list(islice(tasks, size)):
        yield from parallel(batch)


def _until_error(tasks: Iterator[Any], errors: list[Exception]) -> Iterator[Any]:
    """Yield tasks for joblib, whose own thread would lose an error; it goes to ``errors``."""
    try:
        yield from tasks
    except Exception as error:  # noqa: BLE001 - raised when the results are read
        errors.append(error)


def _from_elsewhere(cells: list[Any]) -> list[Any]:
    """Rotate the list by a random number, so that processes on one store share the work."""
    start = int(np.random.default_rng().integers(len(cells))) if cells else 0
    return cells[start:] + cells[:start]


def _tasks(
    cells: list[Cell], problems: Mapping[str, Problem], store: Store, *, keep_scores: bool
) -> Iterator[Any]:
    """Yield tasks; cells for a card are trained here while workers measure the last group."""
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
    """End this worker when the process that started it has ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


_Trained: TypeAlias = tuple[Draw, FloatArray, FloatArray]
"""Rows of a cell, scores of networks trained on labels, and on the true classes."""


def _train(group: Sequence[Cell], problem: Problem) -> list[_Trained]:
    """Train the networks of each cell."""
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
    """Draw and train, unless that is done, and measure a cell."""
    began = time.perf_counter() - seconds
    try:
        trained = _train([cell], given)[0] if isinstance(given, Problem) else given
        records = measure(cell, *trained)
    except Exception:  # noqa: BLE001 - one bad cell must not end the run
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
