"""The commands and their options; what they do lives in the modules they import when run."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import App, Group, Parameter

from purecover import __version__

__all__ = ["COMMAND_LINE", "DASH", "app"]

DASH = "<->"
"""What a lone "-" (standard input or output) becomes before the arguments are parsed."""

COMMAND_LINE: ContextVar[tuple[str, ...]] = ContextVar("COMMAND_LINE", default=())
"""The arguments as they were given, for the page that records them."""

FileFormat = Literal["csv", "tsv", "jsonl", "parquet"]
Repair = Literal["isotonic", "paper", "hull", "likelihood", "none"]
Scenario = Literal["case-control", "censoring"]
WorldName = Literal["binormal", "beta", "laplace", "nonconcave", "histogram"]


def _whole(_: Any, tokens: Any) -> int:
    # The converter cyclopts has rounds 1.5 to 2 in silence.
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f'"{tokens[0].value}" is not a whole number') from None


Whole = Annotated[int, Parameter(converter=_whole)]
Flag = Annotated[bool, Parameter(show_default=False)]
Quiet = Annotated[bool, Parameter(alias="-q", show_default=False)]
Text = Annotated[str | None, Parameter(show_default=False)]

DATA = Group("Data", sort_key=1)
ASSUMPTIONS = Group("Assumptions", sort_key=2)
OUTPUT = Group("Output", sort_key=9)
WORLD = Group("World", sort_key=1)
SAMPLE = Group("Sample", sort_key=2)


@Parameter(name="*", group=DATA)
@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """Where the scores and labels are.

    Parameters
    ----------
    score
        Column of scores; larger means more positive. Obvious names are found without it.
    labeled
        Column that says who carries the positive label: 1/0, true/false, positive/unlabeled.
    weight
        Column of sample weights.
    positive_label
        Value that means labeled, where it is not obvious.
    negative_label
        Value that marks known negatives, a third kind of row.
    format
        Format of the file, if its name and content do not tell.
    delimiter
        What separates the fields of a CSV file; found among , ; | and tab by default.
    encoding
        Text encoding of the file.
    """

    score: str | None = None
    labeled: str | None = None
    weight: str | None = None
    positive_label: str | None = None
    negative_label: str | None = None
    format: FileFormat | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"


@Parameter(name="*", group=ASSUMPTIONS)
@dataclass(frozen=True, kw_only=True)
class AssumptionOptions:
    """What is known about the labels.

    Parameters
    ----------
    alpha
        Share of positives among the unlabeled.
    beta
        Share of positives among the labeled; 1 means that no label is wrong.
    scenario
        How the data were drawn. case-control: labeled and unlabeled apart. censoring: one
        sample, some of whose positives got labeled.
    prior
        Share of positives in the population, instead of --alpha.
    label_frequency
        Probability that a positive got labeled (censoring), instead of --alpha or --prior.
    target
        Population that precision and the like speak of: population, deployment (like the
        unlabeled), pooled (labeled and unlabeled together) or a prior in [0, 1].
    repair
        How noisy points become a curve; chosen for each curve by default.
    """

    alpha: float | None = None
    beta: float = 1.0
    scenario: Scenario | None = None
    prior: float | None = None
    label_frequency: float | None = None
    target: str = "population"
    repair: Repair | None = None


NO_DATA_OPTIONS = DataOptions()
NO_ASSUMPTIONS = AssumptionOptions()

app = App(
    name="purecover",
    help=(
        "True classifier performance from positive-unlabeled data.\n\n"
        "Exit codes: 0 all is well; 1 a check of severity error spoke (with --strict); "
        "2 bad usage or bad input; 130 interrupted."
    ),
    version=__version__,
    version_flags=["--version"],
    help_flags=["--help", "-h"],
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)


@app.command
def evaluate(
    file: str,
    /,
    *,
    data: DataOptions = NO_DATA_OPTIONS,
    truth: Annotated[Text, Parameter(group=DATA)] = None,
    group: Annotated[Text, Parameter(group=DATA)] = None,
    assumptions: AssumptionOptions = NO_ASSUMPTIONS,
    threshold: float | None = None,
    confidence_level: float = 0.95,
    resamples: Whole = 2000,
    seed: Whole = 0,
    ignore_check: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    html: Annotated[Text, Parameter(group=OUTPUT)] = None,
    strict: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Recover the true performance behind the scores in FILE.

    Parameters
    ----------
    file
        CSV, TSV, JSON lines (.jsonl, .ndjson) or Parquet; text may be gzipped; - reads
        standard input.
    truth
        Column of true classes, if you have them: the report then shows them side by side.
    group
        Column of groups of dependent rows (one patient, one card), resampled together.
    threshold
        Scores of at least this count as positive; the best Youden index by default.
    confidence_level
        Confidence level of intervals and bands.
    resamples
        Bootstrap resamples; 0 for none.
    seed
        Seed of the bootstrap.
    ignore_check
        Code of a check to silence, such as PU005; may be repeated.
    json
        Print one JSON document and nothing else.
    html
        Write the report as a web page to this file.
    strict
        Exit with 1 if a check of severity error speaks.
    quiet
        Print no report, notes or progress.
    """
    from purecover.cli._evaluate import run_evaluate

    return run_evaluate(
        file,
        data,
        assumptions,
        truth=truth,
        group=group,
        threshold=threshold,
        confidence_level=confidence_level,
        resamples=resamples,
        seed=seed,
        ignore_checks=ignore_check,
        json=json,
        html=html,
        strict=strict,
        quiet=quiet,
    )


@app.command
def threshold(
    file: str,
    /,
    *,
    data: DataOptions = NO_DATA_OPTIONS,
    assumptions: AssumptionOptions = NO_ASSUMPTIONS,
    precision: float | None = None,
    recall: float | None = None,
    fpr: float | None = None,
    specificity: float | None = None,
    npv: float | None = None,
    fdr: float | None = None,
    best: Text = None,
    f_beta: float = 1.0,
    cost_fn: float = 1.0,
    cost_fp: float = 1.0,
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Choose the threshold for a wanted precision, recall or false-positive rate, or the best.

    Give exactly one of --precision, --recall, --fpr, --specificity, --npv, --fdr and --best.

    Parameters
    ----------
    file
        CSV, TSV, JSON lines (.jsonl, .ndjson) or Parquet; text may be gzipped; - reads
        standard input.
    precision
        At least this precision, then the highest recall.
    recall
        At least this recall, flagging the fewest.
    fpr
        At most this false-positive rate, then the highest recall.
    specificity
        At least this specificity, then the highest recall.
    npv
        At least this negative predictive value, flagging the fewest.
    fdr
        At most this false-discovery rate, then the highest recall.
    best
        Metric to be at its best: f1, f_beta, mcc, youden, cost or another metric of a threshold.
    f_beta
        Weight of recall in f_beta.
    cost_fn
        Cost of a missed positive.
    cost_fp
        Cost of a false alarm.
    json
        Print one JSON document and nothing else.
    quiet
        Print the threshold alone.
    """
    from purecover.cli._threshold import run_threshold

    wanted = {
        "precision": precision,
        "recall": recall,
        "fpr": fpr,
        "specificity": specificity,
        "npv": npv,
        "fdr": fdr,
    }
    return run_threshold(
        file,
        data,
        assumptions,
        wanted=wanted,
        best=best,
        f_beta=f_beta,
        cost_fn=cost_fn,
        cost_fp=cost_fp,
        json=json,
        quiet=quiet,
    )


@app.command
def simulate(
    world: WorldName,
    /,
    *,
    separation: Annotated[float | None, Parameter(group=WORLD)] = None,
    positive_sd: Annotated[float | None, Parameter(group=WORLD)] = None,
    positive: Annotated[Text, Parameter(group=WORLD)] = None,
    negative: Annotated[Text, Parameter(group=WORLD)] = None,
    edges: Annotated[Text, Parameter(group=WORLD)] = None,
    alpha: Annotated[float | None, Parameter(group=SAMPLE)] = None,
    beta: Annotated[float, Parameter(group=SAMPLE)] = 1.0,
    labeled: Annotated[Whole | None, Parameter(group=SAMPLE)] = None,
    unlabeled: Annotated[Whole | None, Parameter(group=SAMPLE)] = None,
    scenario: Annotated[Scenario, Parameter(group=SAMPLE)] = "case-control",
    size: Annotated[Whole | None, Parameter(group=SAMPLE)] = None,
    prior: Annotated[float | None, Parameter(group=SAMPLE)] = None,
    label_frequency: Annotated[float | None, Parameter(group=SAMPLE)] = None,
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
