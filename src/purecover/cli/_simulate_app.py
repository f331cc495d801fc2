"""The command ``purecover simulate``; what it does lives in the module it imports when run."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from purecover.cli._options import (
    OUTPUT,
    SAMPLE,
    WORLD,
    Flag,
    Number,
    Positive,
    Quiet,
    Scenario,
    Share,
    Text,
    Whole,
    WorldName,
)

__all__ = ["simulate"]


def simulate(
    world: WorldName,
    /,
    *,
    separation: Annotated[Number | None, Parameter(group=WORLD)] = None,
    positive_sd: Annotated[Number | None, Parameter(group=WORLD)] = None,
    positive: Annotated[Text, Parameter(group=WORLD)] = None,
    negative: Annotated[Text, Parameter(group=WORLD)] = None,
    edges: Annotated[Text, Parameter(group=WORLD)] = None,
    alpha: Annotated[Share | None, Parameter(group=SAMPLE)] = None,
    beta: Annotated[Share, Parameter(group=SAMPLE)] = 1.0,
    labeled: Annotated[Positive | None, Parameter(group=SAMPLE)] = None,
    unlabeled: Annotated[Positive | None, Parameter(group=SAMPLE)] = None,
    scenario: Annotated[Scenario, Parameter(group=SAMPLE)] = "case-control",
    size: Annotated[Positive | None, Parameter(group=SAMPLE)] = None,
    prior: Annotated[Share | None, Parameter(group=SAMPLE)] = None,
    label_frequency: Annotated[Share | None, Parameter(group=SAMPLE)] = None,
    seed: Annotated[Whole, Parameter(group=SAMPLE)] = 0,
    out: Annotated[Text, Parameter(group=OUTPUT)] = None,
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Draw scores from a WORLD whose true performance is known.

    The columns are score, labeled and truth. The true figures go to standard error, or with
    --json to standard output.

    Parameters
    ----------
    world
        binormal, beta, laplace, nonconcave or histogram.
    separation
        Distance between the classes (binormal, laplace).
    positive_sd
        Standard deviation of the positives (binormal).
    positive
        Two shapes (beta) or the mass of each bin (histogram) of the positives, such as 5,2.
    negative
        The same of the negatives.
    edges
        Bin edges (histogram), one more than bins; equal bins on [0, 1] by default.
    alpha
        Share of positives among the unlabeled (case-control).
    beta
        Share of positives among the labeled.
    labeled
        Number of labeled rows (case-control); 1000 by default.
    unlabeled
        Number of unlabeled rows (case-control); 10000 by default.
    scenario
        case-control: labeled and unlabeled drawn apart. censoring: one sample, some of whose
        positives get labeled.
    size
        Number of rows (censoring); 11000 by default.
    prior
        Share of positives (censoring).
    label_frequency
        Probability that a positive gets labeled (censoring).
    seed
        Seed of the draw.
    out
        CSV file to write, gzipped if it ends in .gz; standard output by default.
    json
        Print the true figures as one JSON document; needs --out.
    quiet
        Do not print the true figures.
    """
    from purecover.cli._simulate import run_simulate

    return run_simulate(
        world,
        parameters={
            "separation": separation,
            "positive_sd": positive_sd,
            "positive": positive,
            "negative": negative,
            "edges": edges,
        },
        alpha=alpha,
        beta=beta,
        labeled=labeled,
        unlabeled=unlabeled,
        scenario=scenario,
        size=size,
        prior=prior,
        label_frequency=label_frequency,
        seed=seed,
        out=out,
        json=json,
        quiet=quiet,
    )
