"""``purecover paper run``, ``status``, ``report`` and ``merge``."""

from __future__ import annotations

import io
import os
import shlex
import time
from collections import Counter
from collections.abc import Sequence
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Group, Parameter

from purecover.cli import output
from purecover.cli.options import OUTPUT, Flag, Json, Positive, Quiet, Text, Whole, share_hint
from purecover.cli.output import CommandError, show

if TYPE_CHECKING:
    from purecover.paper.cells import Cell, Store
    from purecover.paper.report import Study
    from purecover.paper.run import StudyRun

FAILED, INTERRUPTED = 1, 130
QUICK_REPEATS, QUICK_NETWORKS = 1, 40
_NAMES = {"path": "--store", "folder": "--data"}
_LINE_EVERY_S = 60.0
DESIGN = Group("Design", sort_key=1)
COMPUTING = Group("Computing", sort_key=2)
STORE = "paper-results"

Names = Annotated[tuple[str, ...], Parameter(show_default=False)]
Device = Literal["auto", "cpu", "cuda"]

paper = App(
    name="paper",
    help=(
        "Repeat the evaluation of the paper: twelve data sets, three shares of wrong labels, fifty "
        "repetitions, every table and figure beside the printed ones."
    ),
    default_parameter=Parameter(negative=()),
)


# -- run --------------------------------------------------------------------------------------


@paper.command
def run(
    *,
    dataset: Annotated[Names, Parameter(group=DESIGN)] = (),
    beta: Annotated[Names, Parameter(group=DESIGN)] = (),
    repeats: Annotated[Positive | None, Parameter(group=DESIGN)] = None,
    networks: Annotated[Positive | None, Parameter(group=DESIGN)] = None,
    seed: Annotated[Whole, Parameter(group=DESIGN)] = 0,
    quick: Annotated[Flag, Parameter(group=DESIGN)] = False,
    data: Annotated[Text, Parameter(group=COMPUTING)] = None,
    jobs: Annotated[Positive | None, Parameter(group=COMPUTING)] = None,
    device: Annotated[Device, Parameter(group=COMPUTING)] = "auto",
    store: Annotated[str, Parameter(group=OUTPUT)] = STORE,
    keep_scores: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    json: Json = False,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Compute what is missing in the store; stop it as you like, and run it again to go on.

    A run of the design takes seconds, and all 1,800 take hours on a few cores. Each is kept when
    it is finished. Exits with 1 if some of them failed.

    Parameters
    ----------
    dataset
        Data set to take, such as bank; may be repeated. All twelve by default.
    beta
        Share of positives among the labeled; may be repeated. 1, 0.95 and 0.75 by default.
    repeats
        Repetitions of each; 50 by default.
    networks
        Networks of an ensemble; 100 by default, as in the paper.
    seed
        Where all randomness starts.
    quick
        A small study of all data sets, for a first look within three minutes on two cores: one
        repetition, 40 networks.
    data
        Folder with the data sets, NAME.csv or NAME.csv.gz each. By default PURECOVER_DATA, then
        the cache, then a download.
    jobs
        Runs computed at the same time; one for each core by default.
    device
        Where networks are trained; auto takes a CUDA card if there is one.
    store
        Folder of the results, made if need be. Several processes may work on one.
    keep_scores
        Also keep the scores of each run, 6 to 120 kB.
    quiet
        Print nothing.
    """
    from purecover.models.networks import check_device
    from purecover.paper.cells import REPEATS, Store, StudySettings, cells
    from purecover.paper.run import run_study

    where = check_device(device)
    settings = StudySettings(
        seed=seed,
        n_networks=networks or (QUICK_NETWORKS if quick else StudySettings.n_networks),
        device="cuda" if where.startswith("cuda") else "cpu",
    )
    n_repeats = repeats or (QUICK_REPEATS if quick else REPEATS)
    design = list(cells(_datasets(dataset), _betas(beta), n_repeats, settings))
    with output.in_words(_NAMES), Store(store) as kept:
        try:
            with output.progress_bars(quiet=quiet or json) as steps:
                done = run_study(
                    design,
                    store=kept,
                    data=data,
                    n_jobs=jobs or -1,
                    keep_scores=keep_scores,
                    about={"command": output.typed_command()},
                    on_progress=steps("Runs") or (None if quiet or json else _Lines()),
                )
        except KeyboardInterrupt:
            n_done = len(kept.done(cell.key for cell in design))
            output.say(
                f"purecover: interrupted; {n_done:,} of {len(design):,} runs are done and kept in "
                f"{kept.path}.\nHint: the same command goes on from there."
            )
            return INTERRUPTED
        return _finish(done, kept, store, json=json, quiet=quiet)


def _datasets(given: Sequence[str]) -> tuple[str, ...]:
    from purecover._validation import check_choice
    from purecover.paper.data import DATASETS

    names = [name.strip().casefold() for text in given for name in text.split(",")]
    with output.in_words({"dataset": "--dataset"}):
        for name in names:
            check_choice("dataset", name, tuple(DATASETS))
    return tuple(dict.fromkeys(names)) or tuple(DATASETS)


def _betas(given: Sequence[str]) -> tuple[float, ...]:
    from purecover._validation import check_real
    from purecover.paper.cells import BETAS

    found = []
    for text in (part for word in given for part in word.split(",")):
        try:
            found.append(check_real("", float(text), low=0, high=1, closed="right"))
        except ValueError:
            must = "--beta must be a number in (0, 1]"
            raise CommandError(f"{must}, got {show(text)}.{share_hint(text)}") from None
    return tuple(dict.fromkeys(found)) or BETAS


def _finish(done: StudyRun, kept: Store, folder: str, *, json: bool, quiet: bool) -> int:
    """Say what was done."""
    from purecover.paper.report import in_time

    n_done = len(kept.done())
    if json:
        output.print_json(
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
        output.tell(
            f"{done.n_cells - len(done.failed):,} of {done.n_cells:,} runs are done, "
            f"{done.n_added:,} of them now in {in_time(done.seconds)}; {kept.path} holds {n_done:,}"
        )
        if n_done:
            report = shlex.join(["purecover", "paper", "report", "--store", folder])
            output.note(f"{report} --html paper.html shows them", quiet=False)
    if not done.failed:
        return 0
    if not json:
        cell, error = done.failed[0]
        first = _failure(cell, error)
        output.say(
            f"purecover: error: {len(done.failed):,} of {done.n_cells:,} runs failed, the first "
            f"({cell.dataset}, beta {cell.beta:g}, repetition {cell.repeat}) with: "
            f"{first['error']}\nHint: the same command tries them again; "
            "PURECOVER_TRACEBACK=1 shows where."
        )
        if os.environ.get("PURECOVER_TRACEBACK"):
            output.say(error)
    return FAILED


def _failure(cell: Cell, error: str) -> dict[str, Any]:
    lines = error.splitlines()
    # What follows the last place in the code: the error, and perhaps hints on lines of their own.
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
            from purecover.paper.report import in_time

            left = f", about {in_time((now - began) / (done - before) * (total - done))} left"
        output.note(f"{done:,} of {total:,} runs are done{left}", quiet=False)


# -- status, report, merge --------------------------------------------------------------------


@paper.command
def status(
    *,
    store: Annotated[str, Parameter(group=OUTPUT)] = STORE,
    json: Json = False,
) -> int:
    """Say what is in a store, and that the file is sound.

    Parameters
    ----------
    store
        Folder of the results.
    """
    from purecover.paper.cells import Store
    from purecover.paper.report import in_time, studies

    with output.in_words(_NAMES), Store(store, read_only=True) as kept:
        kept.verify()
        found = studies(kept)
        path = kept.path
    if json:
        output.print_json({"store": str(path), "studies": [_as_document(study) for study in found]})
        return 0
    n_runs = sum(len(study.cells) for study in found)
    lines = [f"{path}: {n_runs:,} run{'' if n_runs == 1 else 's'}, and all files are sound"]
    for number, study in enumerate(found, start=1):
        counts = _counts(study)
        betas = sorted({beta for _, beta in counts}, reverse=True)
        lines += ["", f"study {number}: {study}; {in_time(_seconds(study))} of computing", ""]
        lines.append(f"{'runs':<12}" + "".join(f"{f'beta {beta:g}':>11}" for beta in betas))
        for name in dict.fromkeys(name for name, _ in counts):
            row = "".join(f"{counts[name, beta]:>11,}" for beta in betas)
            lines.append(f"{name:<12}{row}")
    output.tell("\n".join(lines))
    return 0


def _counts(study: Study) -> Counter[tuple[str, float]]:
    return Counter((cell.dataset, cell.beta) for cell in study.cells)


def _seconds(study: Study) -> float:
    return sum(cell.seconds for cell in study.cells)


def _as_document(study: Study) -> dict[str, Any]:
    return {
        "settings": loads(study.settings),
        "seconds": _seconds(study),
        "runs": [
            {"dataset": name, "beta": beta, "runs": count}
            for (name, beta), count in _counts(study).items()
        ],
    }


@paper.command
def report(
    *,
    store: Annotated[str, Parameter(group=OUTPUT)] = STORE,
    study: Annotated[Positive | None, Parameter(group=OUTPUT)] = None,
    html: Annotated[Text, Parameter(group=OUTPUT)] = None,
    markdown: Annotated[Text, Parameter(group=OUTPUT)] = None,
    csv: Annotated[Text, Parameter(group=OUTPUT)] = None,
    records: Annotated[Text, Parameter(group=OUTPUT)] = None,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Write tables and figures of what is in a store, ours beside the paper's.

    Parameters
    ----------
    store
        Folder of the results.
    study
        Which one, as numbered by paper status, where a store holds several; the largest by
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
    from purecover.paper.cells import Store
    from purecover.paper.report import paper_report, provenance, studies, to_markdown, write_report
    from purecover.paper.tables import KeptScores

    files = {"--html": html, "--markdown": markdown, "--csv": csv, "--records": records}
    output.check_outputs(files)
    with output.in_words(_NAMES), Store(store, read_only=True) as kept:
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
        output.tell(to_markdown(paper_report(rows, **beside)), end="")
    paths = {"html": html, "markdown": markdown, "csv": csv}
    written: dict[str, Any] = {n: Path(path) for n, path in paths.items() if path is not None}
    if written:
        write_report(rows, **beside, **written)
    for path in written.values():
        output.note(f"{path} written", quiet=quiet)
    if records is not None:
        output.write_file("--records", records, text.getvalue(), "records", quiet=quiet)
    return 0


def _choose(found: list[Study], number: int | None, kept: Store, *, quiet: bool) -> Study:
    """The study asked for, or the largest."""
    if not found:
        raise CommandError(
            f"{show(str(kept.path))} holds no results yet.\nHint: purecover paper run makes some."
        )
    if number is not None and number > len(found):
        raise CommandError(
            f"--study must be at most {len(found)}, got {number}.\n"
            "Hint: purecover paper status lists the studies of a store."
        )
    chosen = found[(number or 1) - 1]
    if number is None and len(found) > 1:
        others = sum(len(study.cells) for study in found) - len(chosen.cells)
        output.note(
            f"this is the largest study ({chosen}); {others:,} runs with other settings are left "
            "out, see purecover paper status",
            quiet=quiet,
        )
    return chosen


@paper.command
def merge(
    other: str,
    /,
    *others: str,
    store: Annotated[str, Parameter(group=OUTPUT)] = STORE,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Add the results of OTHER stores, from other machines, to one.

    Parameters
    ----------
    other
        Folder of results to take over.
    others
        More of them.
    store
        Folder of the results that is added to.
    quiet
        Print no notes.
    """
    from purecover.paper.cells import Store

    with output.in_words(_NAMES):
        for folder in (other, *others):  # all of them must be there before anything changes
            Store(folder, read_only=True)
        with Store(store) as kept:
            for folder in (other, *others):
                output.note(
                    f"{kept.merge(folder):,} runs of {folder} added to {kept.path}", quiet=quiet
                )
    return 0
