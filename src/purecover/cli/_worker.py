"""Worker process of the local page: it reads tasks and writes answers as lines of JSON.

``python -P -m purecover.cli._worker ROOT MEMORY KIND`` reads tasks from standard input until the
server leaves. Files are read by what the command line reads them with, and the report says which
command makes the same. No object is ever pickled.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from purecover._codec import document_text
from purecover._progress import show_bars
from purecover._shell import command
from purecover.app import jobs
from purecover.cli import output
from purecover.cli.options import explain
from purecover.documents import formats
from purecover.exceptions import PurecoverWarning

Tell = Callable[[msgspec.Struct], None]
Task = jobs.Look | jobs.Evaluate | jobs.Judge

_PAIRS = {"alpha": "..", "hits": "/"}
"""Between the two numbers of an option on the command line."""
_UPCOMING = 10
"""Rows that are sent at a time, so that a judge need not wait for the next one."""
_LONGEST_CELL = 20_000


def make_report(task: jobs.Evaluate, tell: Tell) -> jobs.Evaluated:
    """Evaluate the file, and leave report.html and report.json in the folder."""
    from purecover.cli.evaluate import evaluate_rows, render, shell_of
    from purecover.cli.output import blank_notes
    from purecover.cli.rows import Columns, read_rows

    given = task.request.given
    columns = Columns.among(given)
    if given.pop("judged", False):
        given["judged"] = jobs.ANSWERS
    beside = {role: given.pop(role, None) for role in ("truth", "groups", "judged")}
    settings = {name: value for name, value in given.items() if name not in vars(columns)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", category=PurecoverWarning)
        tell(jobs.Step("Reading"))
        rows = read_rows(task.file, columns, several=True, **beside)
        tell(jobs.Step(f"Evaluating {rows.labeled.size:,} rows"))

        def advance(done: int, total: int) -> None:
            tell(jobs.Step("Resampling", int(done), int(total)))

        found = evaluate_rows(rows, progress=advance, **settings)
    tell(jobs.Step("Writing the report"))
    source = rows.source(task.file)
    document = found.to_dict() | {"source": source}
    Path("report.json").write_text(document_text(document) + "\n", encoding="utf-8")
    shell = shell_of([task.file], source["columns"], task.request.given)
    page = render(found, source, shell, _command(task.file, task.request))
    Path("report.html").write_text(page, encoding="utf-8")
    said = dict.fromkeys(f"warning: {each.message}" for each in caught)
    return jobs.Evaluated([*said, *blank_notes(source)], list(found.headline))


def judge_rows(task: jobs.Judge) -> jobs.Judged:
    """Save the answers in the folder, and find the next rows."""
    from purecover.audit.judging import Judging, remarks
    from purecover.cli.judge import naming, shown_cells
    from purecover.cli.rows import Columns, read_rows

    wanted = task.request
    columns = Columns.among(wanted.given | {"score": (wanted.score,)})
    rows = read_rows(task.file, columns, cells=list)
    with naming(Path(jobs.ANSWERS)):
        judging = Judging(
            rows.scores,
            rows.labels,
            Path(jobs.ANSWERS),
            negative_label=rows.beside["negative_label"],
            cells=shown_cells(rows),
            figure=wanted.figure,
            judge=wanted.judge,
            review=wanted.given.get("review"),
        )
        for row, word in wanted.answers:
            judging.answer(word, row)
    status, interval = judging.status()
    cut = partial(formats.cut, longest=_LONGEST_CELL)
    upcoming = [
        jobs.NextRow(
            row,
            [(cut(name), cut(text)) for name, text in judging.cells(row).items()],
            judging.note(row),
        )
        for row in judging.upcoming(_UPCOMING)
    ]
    ends = (0.0, 1.0) if interval is None else (interval.low, interval.high)
    yes, no, skip = (judging.tally()[word] for word in ("yes", "no", "skip"))
    return jobs.Judged(upcoming, *ends, status, yes, no, skip, remarks(judging))


def _command(file: str, request: jobs.ReportRequest) -> str:
    """Return the shell command of the same report, each option with its value as one word."""
    given = {
        name: _PAIRS[name].join(map(str, value))
        if name in _PAIRS and isinstance(value, tuple)
        else value
        for name, value in request.given.items()
    }
    return command("evaluate", file, given | {"json": True, "html": "report.html"})


def main(argv: list[str]) -> None:
    """Work until the server leaves."""
    root, memory, kind = argv
    show_bars.set(False)
    output.FIELDS.set(jobs.FIELDS)
    tell = _answers()
    tasks = _listen(Path(root))
    _limit_memory(int(memory))
    if kind == "report":  # so that the first one is as quick as the others
        import purecover.cli.rows
        import purecover.html.page  # noqa: F401
        from purecover.report import compare_scores  # noqa: F401
    tell(jobs.Step("ready"))
    while True:
        task = tasks.get()
        answer: jobs.Looked | jobs.Evaluated | jobs.Judged | jobs.Failed
        try:
            os.chdir(task.folder)
            # Where a killed worker's own temporary files are removed too.
            tempfile.tempdir = task.folder
            answer = _do(task, tell)
        except Exception as error:  # noqa: BLE001 - the user must hear of it
            answer = jobs.Failed(explain(error))
        with suppress(OSError):  # temporary folders get tidied
            os.chdir(root)
        tell(answer)


def _do(task: Task, tell: Tell) -> jobs.Looked | jobs.Evaluated | jobs.Judged:
    if isinstance(task, jobs.Evaluate):
        return make_report(task, tell)
    if isinstance(task, jobs.Judge):
        return judge_rows(task)
    from purecover.cli.look import peek

    return msgspec.convert(peek(task.file, task.limit) | {"type": "Looked"}, jobs.Looked)


def _answers() -> Tell:
    """Writes to what was standard output; what anyone else prints there goes nowhere."""
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def tell(answer: msgspec.Struct) -> None:
        channel.write(jobs.pack(answer))
        channel.flush()

    return tell


def _listen(root: Path) -> queue.SimpleQueue[Task]:
    """Tasks in their order. Without the server, its folder and this process have no purpose.

    A server that stops in order kills its workers and removes the folder itself; this is for one
    that was killed.
    """
    tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            tasks.put(msgspec.convert(json.loads(line), Task))
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
