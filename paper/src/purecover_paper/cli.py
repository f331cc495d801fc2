"""The command ``purecover-paper``: run, status, report and merge."""

from __future__ import annotations

import gzip
import io
import json as json_format
import os
import re
import shlex
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

from cyclopts import App, CycloptsError, Group, Parameter
from cyclopts.types import NonNegativeInt, PositiveInt

from purecover import __version__
from purecover.exceptions import PurecoverError, PurecoverWarning

if TYPE_CHECKING:
    from purecover_paper.design import Cell
    from purecover_paper.provenance import Study
    from purecover_paper.run import StudyRun
    from purecover_paper.store import Store

FAILED, BAD_INPUT, INTERRUPTED, READER_LEFT = 1, 2, 130, 141
QUICK_REPEATS, QUICK_NETWORKS = 1, 40
_OPTIONS = {
    "path": "--store", "folder": "--data", "dataset": "--dataset", "n_jobs": "--jobs",
    "device": "--device",
}  # fmt: skip
"""Options of parameters that errors name."""
_LINE_EVERY_S = 60.0
_given: list[str] = []
"""The arguments of the command, which are noted with its results."""
DESIGN = Group("Design", sort_key=1)
COMPUTING = Group("Computing", sort_key=2)
OUTPUT = Group("Output", sort_key=3)
STORE = "paper-results"

Names = Annotated[tuple[str, ...], Parameter(show_default=False)]
Device = Literal["auto", "cpu", "cuda"]
Text = str | None
Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"], group=OUTPUT)]
Json = Annotated[bool, Parameter(group=OUTPUT, help="Print one JSON document.")]

app = App(
    name="purecover-paper",
    help=(
        "Repeat the evaluation of the paper: twelve data sets, three shares of wrong labels, fifty "
        "repetitions, every table and figure next to the printed ones."
    ),
    version=__version__,
    version_flags=["--version"],
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)


class CommandError(PurecoverError):
    """Bad usage or bad input, in the words of the command line."""


@app.command
def run(
    *,
    dataset: Annotated[Names, Parameter(group=DESIGN)] = (),
    beta: Annotated[Names, Parameter(group=DESIGN)] = (),
    repeats: Annotated[PositiveInt | None, Parameter(group=DESIGN)] = None,
    networks: Annotated[PositiveInt | None, Parameter(group=DESIGN)] = None,
    seed: Annotated[NonNegativeInt, Parameter(group=DESIGN)] = 0,
    quick: Annotated[bool, Parameter(group=DESIGN)] = False,
    data: Annotated[Text, Parameter(group=COMPUTING)] = None,
    jobs: Annotated[PositiveInt | None, Parameter(group=COMPUTING)] = None,
    device: Annotated[Device, Parameter(group=COMPUTING)] = "auto",
    store: Annotated[str, Parameter(group=OUTPUT)] = STORE,
    keep_scores: Annotated[bool, Parameter(group=OUTPUT)] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Compute the runs that the store lacks; stop it and run it again to continue.

    A run of the design takes seconds, and all 1,800 take hours on a few cores. Each run is kept
    when it is finished. The exit code is 1 if some of them failed.

    Parameters
    ----------
    dataset
        Data set, such as bank; may be repeated. All twelve by default.
    beta
        Share of positives among the labeled; may be repeated. 1, 0.95 and 0.75 by default.
    repeats
        Repetitions of each; 50 by default.
    networks
        Networks of an ensemble; 100 by default, as in the paper.
    seed
        Seed of all random numbers.
    quick
        A small study of all data sets, a few minutes on two cores: one repetition, 40 networks.
    data
        Folder with the data sets, NAME.csv or NAME.csv.gz each. By default PURECOVER_DATA, then
        the cache, then a download.
    jobs
        Runs computed at the same time; one for each core by default.
    device
        Device that trains the networks; auto uses a CUDA card if there is one.
    store
        Folder of the results, made if it does not exist. Several processes may share one.
    keep_scores
        Also keep the scores of each run, 6 to 120 kB.
    quiet
        Print nothing.
    """
    from purecover_paper.design import REPEATS, StudySettings, cells
    from purecover_paper.networks.ensembles import check_device
    from purecover_paper.run import run_study
    from purecover_paper.store import Store

    where = check_device(device)
    settings = StudySettings(
        seed=seed,
        n_networks=networks or (QUICK_NETWORKS if quick else StudySettings.n_networks),
        device="cuda" if where.startswith("cuda") else "cpu",
    )
    n_repeats = repeats or (QUICK_REPEATS if quick else REPEATS)
    design = list(cells(_datasets(dataset), _betas(beta), n_repeats, settings))
    with Store(store) as kept:
        try:
            with _progress(quiet=quiet or json) as on_progress:
                done = run_study(
                    design,
                    store=kept,
                    data=data,
                    n_jobs=jobs or -1,
                    keep_scores=keep_scores,
                    about={"command": shlex.join(["purecover-paper", *_given])},
                    on_progress=on_progress,
                )
        except KeyboardInterrupt:
            n_done = len(kept.done(cell.key for cell in design))
            _say(
                f"purecover-paper: interrupted; {n_done:,} of {len(design):,} runs are done and "
                f"kept in {kept.path}.\nHint: the same command continues from there."
            )
            return INTERRUPTED
        return _finish(done, kept, store, json=json, quiet=quiet)


def _datasets(given: Sequence[str]) -> tuple[str, ...]:
    from purecover_paper.arguments import check_choice
    from purecover_paper.datasets import DATASETS

    names = [name.strip().casefold() for text in given for name in text.split(",")]
    for name in names:
        check_choice("dataset", name, tuple(DATASETS))
    return tuple(dict.fromkeys(names)) or tuple(DATASETS)


def _betas(given: Sequence[str]) -> tuple[float, ...]:
    from purecover_paper.design import BETAS

    found = []
    for text in (part for word in given for part in word.split(",")):
        try:
            beta = float(text)
        except ValueError:
            beta = 0.0
        if not 0 < beta <= 1:
            raise CommandError(f"--beta must be a number in (0, 1], got {text!r}.")
        found.append(beta)
    return tuple(dict.fromkeys(found)) or BETAS


def _finish(done: StudyRun, kept: Store, folder: str, *, json: bool, quiet: bool) -> int:
    """Print the outcome of a run, and return the exit code."""
    from purecover_paper.provenance import in_time

    n_done = len(kept.done())
    if json:
        _print_json(
            {
                "cells": done.n_cells,
                "before": done.n_before,
                "added": done.n_added,
                "failed": [_failure(cell, error) for cell, error in done.failed],
                "seconds": done.seconds,
                "store": str(kept.path),
            }
        )
    elif not quiet:
        _tell(
            f"{done.n_cells - len(done.failed):,} of {done.n_cells:,} runs are done, "
            f"{done.n_added:,} of them now in {in_time(done.seconds)}; {kept.path} holds {n_done:,}"
        )
        if n_done:
            report = shlex.join(["purecover-paper", "report", "--store", folder])
            _note(f"{report} --html paper.html shows them", quiet=False)
    if not done.failed:
        return 0
    if not json:
        cell, error = done.failed[0]
        first = _failure(cell, error)
        _say(
            f"purecover-paper: error: {len(done.failed):,} of {done.n_cells:,} runs failed, the "
            f"first ({cell.dataset}, beta {cell.beta:g}, repetition {cell.repeat}) with: "
            f"{first['error']}\nHint: the same command tries them again; "
            "PURECOVER_TRACEBACK=1 shows where."
        )
        if os.environ.get("PURECOVER_TRACEBACK"):
            _say(error)
    return FAILED


def _failure(cell: Cell, error: str) -> dict[str, Any]:
    lines = error.splitlines()
    # After the last line of code: the error, and perhaps a hint on its own line.
    start = max(i for i, line in enumerate(lines) if line.startswith("  File "))
    said = next(line for line in lines[start:] if line and not line[0].isspace())
    place = {"dataset": cell.dataset, "beta": cell.beta, "repeat": cell.repeat}
    return {**place, "error": said}


class _Lines:
    """Progress as lines of a log, at most one a minute."""

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None
        self._last = -_LINE_EVERY_S

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        began, before = self._first = self._first or (now, done)
        if now - self._last < _LINE_EVERY_S or done == total:
            return
        self._last = now
        left = ""
        if done > before:
            from purecover_paper.provenance import in_time

            left = f", about {in_time((now - began) / (done - before) * (total - done))} left"
        _note(f"{done:,} of {total:,} runs are done{left}", quiet=False)


@app.command
def status(
    *,
    store: Annotated[str, Parameter(group=OUTPUT)] = STORE,
    json: Json = False,
) -> int:
    """Print the contents of a store, and check all of its files.

    Parameters
    ----------
    store
        Folder of the results.
    """
    from purecover_paper.provenance import in_time, studies
    from purecover_paper.store import Store

    with Store(store, read_only=True) as kept:
        kept.verify()
        found = studies(kept)
        path = kept.path
    if json:
        _print_json({"store": str(path), "studies": [_as_document(study) for study in found]})
        return 0
    n_runs = sum(len(study.cells) for study in found)
    lines = [f"{path}: {n_runs:,} run{'' if n_runs == 1 else 's'}, and no file is damaged"]
    for number, study in enumerate(found, start=1):
        counts = _counts(study)
        betas = sorted({beta for _, beta in counts}, reverse=True)
        lines += ["", f"study {number}: {study}; {in_time(_seconds(study))} of computing", ""]
        lines.append(f"{'runs':<12}" + "".join(f"{f'beta {beta:g}':>11}" for beta in betas))
        for name in dict.fromkeys(name for name, _ in counts):
            row = "".join(f"{counts[name, beta]:>11,}" for beta in betas)
            lines.append(f"{name:<12}{row}")
    _tell("\n".join(lines))
    return 0


def _counts(study: Study) -> Counter[tuple[str, float]]:
    return Counter((cell.dataset, cell.beta) for cell in study.cells)


def _seconds(study: Study) -> float:
    return sum(cell.seconds for cell in study.cells)


def _as_document(study: Study) -> dict[str, Any]:
    return {
        "settings": json_format.loads(study.settings),
        "seconds": _seconds(study),
        "runs": [
            {"dataset": name, "beta": beta, "runs": count}
            for (name, beta), count in _counts(study).items()
        ],
    }


@app.command
def report(
    *,
    store: Annotated[str, Parameter(group=OUTPUT)] = STORE,
    study: Annotated[PositiveInt | None, Parameter(group=OUTPUT)] = None,
    html: Annotated[Text, Parameter(group=OUTPUT)] = None,
    markdown: Annotated[Text, Parameter(group=OUTPUT)] = None,
    csv: Annotated[Text, Parameter(group=OUTPUT)] = None,
    records: Annotated[Text, Parameter(group=OUTPUT)] = None,
    quiet: Quiet = False,
) -> int:
    """Write tables and figures of the results in a store, ours next to the paper's.

    Parameters
    ----------
    store
        Folder of the results.
    study
        Number of the study in the output of status, if a store holds several; the largest by
        default.
    html
        Write a web page with all tables and figures to this file.
    markdown
        Write the tables as Markdown to this file; to standard output if no file is named at all.
    csv
        Write means and spreads of each data set and beta to this file.
    records
        Write every number of every run as CSV to this file, gzipped if it ends in .gz.
    quiet
        Print no notes.
    """
    from purecover_paper.files import write_whole
    from purecover_paper.provenance import provenance, studies
    from purecover_paper.report import paper_report, to_markdown, write_report
    from purecover_paper.store import Store
    from purecover_paper.thresholds import KeptScores

    files = {"--html": html, "--markdown": markdown, "--csv": csv, "--records": records}
    _check_outputs(files)
    with Store(store, read_only=True) as kept:
        chosen = _choose(studies(kept), study, kept, quiet=quiet)
        rows = kept.records(settings=chosen.settings)
        title = "Data sets of the study"
        scores = [
            KeptScores(title, each["scores"], each["labeled"], each["positive"])
            for each in (kept.scores(cell.key) for cell in chosen.cells)
            if each is not None
        ]
        beside: dict[str, Any] = {"provenance": provenance(chosen), "kept_scores": scores}
        text = io.StringIO(newline="")
        if records is not None:
            kept.to_csv(text, settings=chosen.settings)
    if not any(files.values()):
        _tell(to_markdown(paper_report(rows, **beside)), end="")
    paths = {"html": html, "markdown": markdown, "csv": csv}
    written: dict[str, Any] = {n: Path(path) for n, path in paths.items() if path is not None}
    if written:
        write_report(rows, **beside, **written)
    for path in written.values():
        _note(f"{path} written", quiet=quiet)
    if records is not None:
        content = text.getvalue().encode()
        # Without a time, so that equal records are equal files.
        packed = gzip.compress(content, mtime=0) if records.endswith(".gz") else content
        write_whole(Path(records), packed)
        _note(f"{records} written", quiet=quiet)
    return 0


def _choose(found: list[Study], number: int | None, kept: Store, *, quiet: bool) -> Study:
    """Return the chosen study, or the largest."""
    if not found:
        raise CommandError(
            f"{str(kept.path)!r} holds no results yet.\nHint: purecover-paper run makes some."
        )
    if number is not None and number > len(found):
        raise CommandError(
            f"--study must be at most {len(found)}, got {number}.\n"
            "Hint: purecover-paper status lists the studies of a store."
        )
    chosen = found[(number or 1) - 1]
    if number is None and len(found) > 1:
        others = sum(len(study.cells) for study in found) - len(chosen.cells)
        _note(
            f"this is the largest study ({chosen}); {others:,} runs with other settings are left "
            "out, see purecover-paper status",
            quiet=quiet,
        )
    return chosen


@app.command
def merge(
    other: str,
    /,
    *others: str,
    store: Annotated[str, Parameter(group=OUTPUT)] = STORE,
    quiet: Quiet = False,
) -> int:
    """Add the results of OTHER stores, from other machines, to one.

    Parameters
    ----------
    other
        Folder of results to copy.
    others
        More of them.
    store
        Folder of the results that is added to.
    quiet
        Print no notes.
    """
    from purecover_paper.store import Store

    for folder in (other, *others):  # all of them must exist before anything changes
        Store(folder, read_only=True)
    with Store(store) as kept:
        for folder in (other, *others):
            _note(f"{kept.merge(folder):,} runs of {folder} added to {kept.path}", quiet=quiet)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; an error becomes a message."""
    _given[:] = sys.argv[1:] if argv is None else argv
    try:
        with _plain_warnings(quiet="--quiet" in _given or "-q" in _given):
            command, bound, _ = app.parse_args(_given, exit_on_error=False, print_error=False)
            code = command(*bound.args, **bound.kwargs)
        sys.stdout.flush()
    except CycloptsError as error:
        return _fail(f"{error}\nHint: purecover-paper --help lists commands and options.")
    except PurecoverError as error:
        return _fail(_in_options(error))
    except KeyboardInterrupt:
        _fail("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Keeps the interpreter from flushing the closed pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_LEFT
    except OSError as error:
        return _fail(f"{error.strerror or error}" + f": {error.filename}" * bool(error.filename))
    return code if isinstance(code, int) else 0


def _fail(message: str) -> int:
    _say(f"purecover-paper: error: {message}")
    return BAD_INPUT


def _in_options(error: PurecoverError) -> str:
    """Return an error as text that names options instead of parameters."""
    error.function = error.function or "purecover-paper"
    option = _OPTIONS.get(error.parameter or "")
    if option is None or error.must is None:
        return str(error)
    hint = "" if error.hint is None else f"\nHint: {error.hint}"
    return f"{option} must be {error.must}, got {error.got}.{hint}"


@contextmanager
def _plain_warnings(*, quiet: bool) -> Iterator[None]:
    """Print each warning once, without source code."""
    said = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if not quiet and str(message) not in said:
            _say(f"purecover-paper: warning: {message}")
        said.add(str(message))

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=PurecoverWarning)
        warnings.showwarning = show
        yield


def _check_outputs(paths: Mapping[str, str | None]) -> None:
    """Raise before any work if a file cannot be written."""
    for option, path in paths.items():
        if path is None:
            continue
        target = Path(path)
        place = target if target.exists() else target.parent
        if not path or target.is_dir() or not os.access(place, os.W_OK):
            raise CommandError(f"{option} {path!r} cannot be written.")


def _note(message: str, *, quiet: bool) -> None:
    if not quiet:
        sys.stdout.flush()  # so that a terminal shows both streams in order
        _say(f"purecover-paper: {message}")


def _say(message: str) -> None:
    _tell(message, sys.stderr)


_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066\u2067\ud800-\udfff]")
"""Characters that control a terminal, or reverse the direction of text."""


def _tell(text: str, stream: TextIO | None = None, end: str = "\n") -> None:
    """Print text to standard output by default; control characters of names are escaped."""
    shown = _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
    print(shown, file=stream or sys.stdout, end=end)


def _print_json(document: Mapping[str, Any]) -> None:
    _tell(json_format.dumps(document, indent=2, ensure_ascii=False))


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Show progress as a bar in a terminal, otherwise as lines of a log."""
    if quiet or not sys.stderr.isatty():
        yield None if quiet else _Lines()
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("Runs", total=None)

        def advance(done: int, total: int) -> None:
            if bars.tasks[task].total is None:  # runs of an earlier command do not count as fast
                bars.reset(task, completed=done, total=total)
            bars.update(task, completed=done, total=total)

        yield advance
