"""The commands of ``purecover audit``; what they do lives in the module they import when run."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Group, Parameter

from purecover.cli._options import (
    DATA,
    OUTPUT,
    DataOptions,
    Flag,
    Positive,
    Quiet,
    Share,
    Text,
    Whole,
)

__all__ = ["audit"]

PROMISE = Group("Promise", sort_key=1)
AUDIT = Group("Audit", sort_key=2)
NO_DATA_OPTIONS = DataOptions()

audit = App(
    name="audit",
    help=(
        "Find alpha by judging some unlabeled rows by hand: how many, which, and what they tell."
    ),
    default_parameter=Parameter(negative=()),
)


@audit.command
def plan(
    *,
    width: Annotated[Share, Parameter(group=PROMISE)],
    alpha_guess: Annotated[Text, Parameter(group=PROMISE)] = None,
    assurance: Annotated[Share, Parameter(group=PROMISE)] = 0.9,
    confidence_level: Annotated[Share, Parameter(group=PROMISE)] = 0.95,
    unlabeled: Annotated[Positive | None, Parameter(group=PROMISE)] = None,
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Say how many rows to judge, for an interval of alpha that is narrow enough.

    Parameters
    ----------
    width
        How wide the interval of alpha may be, such as 0.1 for 0.2 to 0.3.
    alpha_guess
        Where alpha may lie, such as 0.1 or 0.05,0.2; anywhere by default, which needs the most.
    assurance
        Probability with which the interval is at most so wide.
    confidence_level
        Confidence level of the interval.
    unlabeled
        Number of unlabeled rows there are, if alpha of these alone is wanted; tell audit estimate
        the same.
    json
        Print one JSON document and nothing else.
    quiet
        Print the number alone.
    """
    from purecover.cli._audit import run_plan

    return run_plan(
        width=width,
        alpha_guess=alpha_guess,
        assurance=assurance,
        confidence_level=confidence_level,
        unlabeled=unlabeled,
        json=json,
        quiet=quiet,
    )


@audit.command
def sample(
    file: str,
    /,
    *,
    n: Annotated[Positive, Parameter(group=AUDIT)],
    strata: Annotated[Text, Parameter(group=AUDIT)] = None,
    shares: Annotated[Text, Parameter(group=AUDIT)] = None,
    columns: Annotated[Text, Parameter(group=AUDIT)] = None,
    seed: Annotated[Whole, Parameter(group=AUDIT)] = 0,
    data: DataOptions = NO_DATA_OPTIONS,
    out: Annotated[Text, Parameter(group=OUTPUT)] = None,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Draw unlabeled rows of FILE to be judged, in random order.

    Writes a CSV file with the number of each row, its columns, and an empty column named positive
    for the answers.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet.
    n
        How many rows to draw; audit plan says how many are needed.
    strata
        Thresholds of the score with commas between them, such as 0.8,0.5: draw as many from each
        stratum, for precision and recall above the thresholds.
    shares
        A guess of the share of positives in each stratum, from the highest scores: draw more
        where it matters more for alpha.
    columns
        Columns to copy, with commas between them; all by default. Judges who do not see the
        score are not led by it.
    seed
        Seed of the draw.
    out
        CSV file to write; standard output by default.
    quiet
        Print no notes.
    """
    from purecover.cli._audit_sample import run_sample

    return run_sample(
        file,
        data,
        n=n,
        strata=strata,
        shares=shares,
        columns=columns,
        seed=seed,
        out=out,
        quiet=quiet,
    )


@audit.command
def estimate(
    file: str,
    /,
    *,
    answer: Annotated[str, Parameter(group=AUDIT)] = "positive",
    unlabeled: Annotated[Positive | None, Parameter(group=AUDIT)] = None,
    confidence_level: Annotated[Share, Parameter(group=AUDIT)] = 0.95,
    scores: Annotated[Text, Parameter(group=DATA)] = None,
    data: DataOptions = NO_DATA_OPTIONS,
    estimator: Annotated[Text, Parameter(group=DATA)] = None,
    clean: Annotated[Flag, Parameter(group=DATA)] = False,
    resamples: Annotated[Whole, Parameter(group=DATA)] = 500,
    seed: Annotated[Whole, Parameter(group=AUDIT)] = 0,
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Estimate alpha from the answers in FILE, and with --scores all that follows from it.

    Parameters
    ----------
    file
        What audit sample wrote, with answers filled in: yes or no, 1 or 0; blank where nobody
        judged.
    answer
        Column of answers.
    unlabeled
        Number of unlabeled rows there are, if alpha of these alone is wanted.
    confidence_level
        Confidence level of the intervals.
    scores
        File of scores and labels, to be combined with the audit; its true performance is
        recovered then. The options below speak of this file.
    estimator
        What estimates alpha from the scores, such as alphamax-n; purecover priors lists them all.
    clean
        No label is wrong: beta is 1.
    resamples
        Bootstrap resamples; 0 for none.
    seed
        Seed of everything random.
    json
        Print one JSON document and nothing else.
    quiet
        Print alpha alone.
    """
    from purecover.cli._audit import run_estimate

    return run_estimate(
        file,
        data,
        answer=answer,
        unlabeled=unlabeled,
        confidence_level=confidence_level,
        scores=scores,
        estimator=estimator,
        clean=clean,
        resamples=resamples,
        seed=seed,
        json=json,
        quiet=quiet,
    )
