"""A process that works for the local page: tasks come as lines of JSON, and so do the answers.

``python -m purecover.cli._worker ROOT KIND MEMORY`` reads tasks from standard input until the
server leaves. A report is made by the command ``purecover evaluate`` itself, run in the folder of
the task, so that the page and the shell cannot differ. No object is ever pickled.
"""

from __future__ import annotations

import io
import json
import os
import queue
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

__all__ = ["FORM", "in_form", "main"]

FORM = {
    "alpha": "alpha",
    "beta": "beta",
    "confidence-level": "“Confidence level”",
    "decimal ,": "“Decimal comma”",
    "decimal": "“Decimal comma”",
    "estimator": "“Estimator”",
    "group": "“Group”",
    "labeled": "“Labeled”",
    "missing-is-unlabeled": "“Blank labels are unlabeled”",
    "negative-label": "“Value of known negatives”",
    "positive-label": "“Value that means labeled”",
    "resamples": "“Resamples”",
    "scenario": "“How the data were drawn”",
    "score": "“Score”",
    "truth": "“True class”",
    "weight": "“Weight”",
}
"""Options, and what the form calls them."""

# In quotes it is data.
_OPTION = re.compile(rf"(?<![\w'\"-])--({'|'.join(FORM)})(?![\w-])")
_SAYS_OFTEN = 0.1
_WORN = 4
"""A process that held more than this part of its memory is replaced: it may not give it back."""
Tell = Callable[[dict[str, Any]], None]


def in_form(message: str) -> str:
    """A message of the command line, about the fields of the form where it speaks of options."""
    return _OPTION.sub(lambda match: FORM[match[1]], message)


def make_report(task: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Run ``purecover evaluate`` in the folder of the task; it leaves report.html and .json."""
    from purecover.cli._progress import LISTENER
    from purecover.cli._shell import run

    def start(title: str) -> Callable[[int, int], None]:
        said = 0.0

        def advance(done: int, total: int) -> None:
            nonlocal said
            now = time.monotonic()
            if now - said >= _SAYS_OFTEN:
                said = now
                tell({"step": title, "done": int(done), "total": int(total)})

        tell({"step": title, "done": 0, "total": 0})
        return advance

    arguments = ["evaluate", task["file"], *task["arguments"], "--json", "--html=report.html"]
    said = io.StringIO()
    token = LISTENER.set(start)
    try:
        with (
            Path("report.json").open("w", encoding="utf-8") as out,
            redirect_stdout(out),
            redirect_stderr(said),
        ):
            code = run(arguments)
    finally:
        LISTENER.reset(token)
    notes, _, error = said.getvalue().partition("purecover: error: ")
    if code:
        return {"error": in_form(error.strip() or "the report could not be made.")}
    lines = [line.removeprefix("purecover: ") for line in notes.splitlines()]
    shown = [in_form(line) for line in lines if not line.startswith("report written to ")]
    return {"result": {"notes": shown, "figures": _figures(Path("report.json"))}}


def look(task: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Columns and first rows of a file that was just dropped."""
    from purecover.cli._peek import peek, refuse_bomb
    from purecover.exceptions import PurecoverError

    del tell
    try:
        refuse_bomb(task["file"], task["limit"])
        return {"result": peek(task["file"])}
    except PurecoverError as error:
        return {"error": in_form(str(error))}


def _figures(path: Path) -> dict[str, float]:
    """The few figures that the list of reports shows."""
    document = json.loads(path.read_text(encoding="utf-8"))
    figures = {name: document.get(name) for name in ("auc", "auc_pu")}
    if document.get("infeasible"):
        del figures["auc"]  # clipped, it would pass for a finding
    figures |= {name: document.get("proportions", {}).get(name) for name in ("alpha", "beta")}
    return {name: value for name, value in figures.items() if isinstance(value, (int, float))}


_DO: dict[str, Callable[[dict[str, Any], Tell], dict[str, Any]]] = {
    "look": look,
    "report": make_report,
}


def main(argv: list[str]) -> None:
    """Work until the server leaves."""
    root, kind, memory = argv
    tell = _answers()
    tasks = _listen(Path(root))
    _limit_memory(int(memory))
    if kind == "report":  # so that the first one is as quick as the others
        import purecover.cli._evaluate
        import purecover.cli._shell  # noqa: F401
    tell({"ready": True})
    while True:
        task = tasks.get()
        try:
            os.chdir(task["folder"])
            # Where a killed worker's own temporary files are removed too.
            tempfile.tempdir = task["folder"]
            answer = _DO[task["do"]](task, tell)
        except MemoryError:
            answer = {"error": "there is not enough memory for this data."}
        except OSError as error:
            answer = {"error": f"{error.strerror or error}."}
        except Exception as error:  # noqa: BLE001 - the user must hear of it
            answer = {"error": f"internal error, {type(error).__name__}: {str(error)[:500]}"}
        os.chdir(root)
        tell(answer | {"worn": _peak() > int(memory) / _WORN})


def _peak() -> int:
    """Most bytes this process has ever held; 0 where the system does not say."""
    with suppress(ImportError):
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return 0


def _answers() -> Tell:
    """Writes to what was standard output; what anyone else prints there goes nowhere."""
    channel = os.fdopen(os.dup(1), "w", encoding="ascii")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)

    def tell(answer: dict[str, Any]) -> None:
        channel.write(json.dumps(answer) + "\n")
        channel.flush()

    return tell


def _listen(root: Path) -> queue.SimpleQueue[dict[str, Any]]:
    """Tasks as they come. If the server is gone, so is the reason for its folder and this process.

    A server that stops in order kills its workers and removes the folder itself; this is for one
    that was killed.
    """
    tasks: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            tasks.put(json.loads(line))
        for _ in range(2):  # a second time for what was written meanwhile
            shutil.rmtree(root, ignore_errors=True)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return tasks


def _limit_memory(limit: int) -> None:
    """A file that unpacks without end hits this instead of the machine's memory."""
    with suppress(ImportError, ValueError, OSError):  # not every system has it
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        allowed = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))


if __name__ == "__main__":
    main(sys.argv[1:])
