"""Long calls: a bar where somebody sees it, and workers that end as one."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Timer, current_thread, main_thread
from time import perf_counter
from typing import Any, Literal

Tell = Callable[[int, int], None]
Progress = Tell | Literal[False]
"""The parameter ``progress``: a function to call, or False for silence."""

PATIENCE = 1.0
"""Seconds after which a bar appears."""

show_bars: ContextVar[bool] = ContextVar("show_bars", default=True)
"""Whether calls show bars of their own accord; a program with bars of its own sets it to False."""


@contextmanager
def shown(progress: Progress | None) -> Iterator[Tell | None]:
    """Give the function of the caller, or a bar in a terminal or a notebook, one at a time."""
    if progress is not None and progress is not False:
        yield progress
        return
    allowed = show_bars.get() and progress is None
    bar = _Bar() if allowed and _watched() else None
    token = show_bars.set(allowed and bar is None)
    try:
        yield bar
    finally:
        show_bars.reset(token)
        if bar is not None:
            bar.stop()


def _watched() -> bool:
    """Return whether somebody sees a bar."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


@contextmanager
def busy() -> Iterator[None]:
    """Show a bar without an end around one long step, such as a query."""
    with shown(None) as bar:
        if not isinstance(bar, _Bar):
            yield
            return
        timer = Timer(PATIENCE, bar.open)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()


def part_of(tell: Tell | None, part: int, n_parts: int) -> Tell | None:
    """Return a function for one of several equal parts that reports progress of the whole."""
    if tell is None:
        return None
    return lambda done, total: tell(part * total + done, n_parts * total)


@contextmanager
def starting_workers(number: int | None) -> Iterator[None]:
    """Start that many processes so that they leave Ctrl-C to this one, which ends them in turn.

    In a terminal all processes hear it, and each worker would print a traceback of its own. A
    blocked signal stays blocked in processes started meanwhile; here it is heard afterwards.
    Nor do they import modules from the current folder: joblib starts them with -m.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        with _deaf_to_interrupts(number):
            yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


@contextmanager
def _deaf_to_interrupts(number: int | None) -> Iterator[None]:
    ours = current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is not None
    if number == 1 or not ours or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which joblib starts otherwise, and which unblocks Ctrl-C
    heard: list[int] = []  # by threads that were there before, such as those of BLAS
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
        if heard:
            signal.raise_signal(signal.SIGINT)


def results_of(
    parallel: Callable[..., Any], tasks: Iterable[Any], workers: int | None, **options: Any
) -> Iterator[Any]:
    """Return results of joblib's ``Parallel`` in the order of the tasks, one by one if possible."""
    try:
        ready = parallel(n_jobs=workers, return_as="generator", **options)
    except ValueError:  # a backend that returns all results at once, such as those of Ray and Spark
        return iter(parallel(n_jobs=workers, **options)(tasks))
    with starting_workers(workers):
        found: Iterator[Any] = ready(tasks)
    return found


class _Bar:
    def __init__(self) -> None:
        self._start = perf_counter()
        self._bars: Any = None

    def open(self) -> None:
        """Show the bar, which does not know yet how far it is."""
        from rich.console import Console
        from rich.progress import Progress as Bars

        console = Console() if "ipykernel" in sys.modules else Console(stderr=True)
        self._bars = Bars(console=console, transient=True)
        self._bars.start()
        self._bars.add_task("purecover", total=None)

    def __call__(self, done: int, total: int) -> None:
        if self._bars is None:
            if perf_counter() - self._start < PATIENCE or done >= total:
                return
            self.open()
        self._bars.update(self._bars.task_ids[0], completed=done, total=total)

    def stop(self) -> None:
        if self._bars is not None:
            self._bars.stop()
