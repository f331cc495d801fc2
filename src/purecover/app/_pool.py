"""Worker processes: started afresh, one task at a time, killed when a task is unwanted.

A task and its answers are lines of JSON on the pipes of the process, so that nothing is pickled.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

__all__ = ["Pool", "WorkError"]

MAX_ANSWER = 1 << 23
"""Bytes of the longest answer."""
_START_TIMEOUT = 120.0
_END_TIMEOUT = 5.0

Progress = Callable[[str, int, int], None]
"""Name of the step, how much is done, and of how much (0 if unknown)."""


class WorkError(Exception):
    """A task that came to nothing, in words for the user."""


class Worker:
    """One process, which does one task after another."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.tasks = 0
        self.worn = False

    @classmethod
    async def start(cls, command: Sequence[str]) -> Worker:
        """Start a process and wait until it says that it is ready."""
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            limit=MAX_ANSWER,
            # Ctrl-C in the terminal is for the server, which then ends its workers in order.
            start_new_session=True,
        )
        worker = cls(process)
        try:
            async with asyncio.timeout(_START_TIMEOUT):
                await worker._answer()
        except BaseException as error:
            await worker.kill()
            if isinstance(error, TimeoutError):
                raise _LostError from error
            raise
        return worker

    async def ask(self, task: dict[str, Any], progress: Progress) -> dict[str, Any]:
        """Hand over a task, listen to its progress, return its result."""
        self.tasks += 1
        stdin = self.process.stdin
        if stdin is None:
            raise WorkError(_LOST)
        try:
            stdin.write(json.dumps(task).encode() + b"\n")
            await stdin.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise _LostError from error
        while True:
            answer = await self._answer()
            if "step" in answer:
                progress(str(answer["step"]), int(answer["done"]), int(answer["total"]))
            elif "error" in answer:
                self.worn = bool(answer.get("worn"))
                raise WorkError(str(answer["error"]))
            else:
                self.worn = bool(answer.get("worn"))
                return dict(answer["result"])

    async def _answer(self) -> dict[str, Any]:
        stdout = self.process.stdout
        try:
            line = b"" if stdout is None else await stdout.readline()
            answer = json.loads(line)
        except ValueError as error:  # no line, no JSON, or far too long a line
            raise _LostError from error
        if not isinstance(answer, dict):
            raise _LostError
        return answer

    async def kill(self) -> None:
        """End the process and what it may have started."""
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        if self.process.stdin is not None:
            self.process.stdin.close()
        await self.process.wait()
        if self.process.stdout is not None:  # until its end, where the pipe closes itself
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_TIMEOUT):
                    await self.process.stdout.read()
        await asyncio.sleep(0)


_LOST = (
    "the process that worked on it ended unexpectedly.\n"
    "Hint: was there enough memory? The command line may say more."
)


class _LostError(WorkError):
    """A worker that does not answer any more."""

    def __init__(self) -> None:
        super().__init__(_LOST)


class Pool:
    """At most ``size`` workers for one kind of task."""

    def __init__(self, command: Sequence[str], *, size: int, tasks_per_worker: int) -> None:
        self._command = tuple(command)
        self._tasks_per_worker = tasks_per_worker
        self._slots = asyncio.Semaphore(size)
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._closed = False
        self._refill: asyncio.Task[None] | None = None

    async def warm(self) -> None:
        """Have a worker ready before the first task."""
        async with self._slots:
            if not self._idle and not self._closed:
                self._idle.append(await Worker.start(self._command))

    async def _warm_quietly(self) -> None:
        with suppress(WorkError, OSError):  # the next task meets it too, and says so
            await self.warm()

    async def run(
        self,
        task: dict[str, Any],
        *,
        timeout: float,  # noqa: ASYNC109 - counted from the start of the work, not of the wait
        progress: Progress,
    ) -> dict[str, Any]:
        """Do a task, when it is its turn; canceling this ends the process that works on it."""
        async with self._slots:
            worker = self._idle.pop() if self._idle else await Worker.start(self._command)
            self._busy.add(worker)
            fit = False
            try:
                async with asyncio.timeout(timeout):
                    result = await worker.ask(task, progress)
                fit = True
            except TimeoutError:
                raise WorkError(
                    f"it took longer than {timeout:g} seconds and was stopped.\n"
                    "Hint: take fewer resamples, or a sample of the rows; purecover app --timeout "
                    "allows more."
                ) from None
            except WorkError as error:
                fit = not isinstance(error, _LostError)
                raise
            finally:
                self._busy.discard(worker)
                usable = not worker.worn and worker.tasks < self._tasks_per_worker
                if fit and usable and not self._closed:
                    self._idle.append(worker)
                else:
                    if not self._closed:  # so that the next task need not wait for one
                        self._refill = asyncio.create_task(self._warm_quietly())
                    await worker.kill()
            return result

    @property
    def pids(self) -> list[int]:
        """The processes that live now."""
        return [worker.process.pid for worker in (*self._idle, *self._busy)]

    async def close(self) -> None:
        """End every worker."""
        self._closed = True
        if self._refill is not None:
            self._refill.cancel()
            await asyncio.gather(self._refill, return_exceptions=True)
        while self._idle:
            await self._idle.pop().kill()
        for worker in tuple(self._busy):
            await worker.kill()
