"""The commands of ``purecover paper``; what they do lives in the module they import when run."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import App, Group, Parameter

from purecover.cli._options import OUTPUT, Flag, Positive, Quiet, Text, Whole

__all__ = ["paper"]

DESIGN = Group("Design", sort_key=1)
COMPUTING = Group("Computing", sort_key=2)
STORE = "paper-results"

Names = Annotated[tuple[str, ...], Parameter(show_default=False, negative=())]
Device = Literal["auto", "cpu", "cuda"]

paper = App(
    name="paper",
    help=(
        "Repeat the evaluation of the paper: twelve data sets, three shares of wrong labels, fifty "
        "repetitions, every table and figure beside the printed ones."
    ),
    default_parameter=Parameter(negative=()),
)


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
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
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
    json
        Print one JSON document and nothing else.
    quiet
        Print nothing.
    """
    from purecover.cli._paper import run_run

    return run_run(
        datasets=dataset,
        betas=beta,
        repeats=repeats,
        networks=networks,
        seed=seed,
        quick=quick,
        data=data,
        jobs=jobs,
        device=device,
        store=store,
        keep_scores=keep_scores,
        json=json,
        quiet=quiet,
    )


@paper.command
def status(
    *,
    store: Annotated[str, Parameter(group=OUTPUT)] = STORE,
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
) -> int:
    """Say what is in a store, and that the file is sound.

    Parameters
    ----------
    store
        Folder of the results.
    json
        Print one JSON document and nothing else.
    """
    from purecover.cli._paper import run_status

    return run_status(store=store, json=json)


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
    from purecover.cli._paper import run_report

    return run_report(
        store=store,
        study=study,
        html=html,
        markdown=markdown,
        csv=csv,
        records=records,
        quiet=quiet,
    )


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
    from purecover.cli._paper import run_merge

    return run_merge([other, *others], store=store, quiet=quiet)
