"""A progress bar on standard error, where a person sits in front of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["LISTENER", "Steps", "progress_bars"]

Steps = Callable[[str], Callable[[int, int], None] | None]
"""Starts a bar with a title; the result takes (done, total). None where nobody looks."""

LISTENER: ContextVar[Steps | None] = ContextVar("LISTENER", default=None)
"""Who hears of the steps instead of a terminal, such as the local page."""


@contextmanager
def progress_bars(*, quiet: bool) -> Iterator[Steps]:
    """Bars for the steps of a command; they vanish when it is done."""
    listener = LISTENER.get()
    if listener is not None:
        yield listener
        return
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda title: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bars:

        def start(title: str) -> Callable[[int, int], None]:
            task = bars.add_task(title, total=None)

            def advance(done: int, total: int) -> None:
                bars.update(task, completed=done, total=total or None)

            return advance

        yield start
