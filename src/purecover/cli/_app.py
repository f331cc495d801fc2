"""The commands; what they do lives in the modules they import when run."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from purecover import __version__
from purecover.cli._audit_app import audit
from purecover.cli._options import (
    ASSUMPTIONS,
    CRITERION,
    DATA,
    ESTIMATORS,
    INTERVALS,
    METRICS,
    OUTPUT,
    RESAMPLING,
    SAMPLE,
    WORLD,
    Area,
    AssumptionOptions,
    DataOptions,
    Flag,
    IntervalOptions,
    Number,
    Positive,
    Quiet,
    Scenario,
    Share,
    Text,
    WeightOptions,
    Whole,
    WorldName,
)

__all__ = ["app"]

NO_DATA_OPTIONS = DataOptions()
NO_ASSUMPTIONS = AssumptionOptions()
NO_WEIGHTS = WeightOptions()
NO_INTERVAL_OPTIONS = IntervalOptions()

app = App(
    name="purecover",
    help=(
        "True classifier performance from positive-unlabeled data.\n\n"
        "Exit codes: 0 all is well; 1 a check of severity error spoke (with --strict); "
        "2 bad usage or bad input; 130 interrupted; 141 nobody reads the output."
    ),
    version=__version__,
    version_flags=["--version"],
    help_flags=["--help", "-h"],
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)
app.command(audit)


@app.command
def evaluate(
    file: str,
    /,
    *,
    data: DataOptions = NO_DATA_OPTIONS,
    truth: Annotated[Text, Parameter(group=DATA)] = None,
    assumptions: AssumptionOptions = NO_ASSUMPTIONS,
    estimator: Annotated[Text, Parameter(group=ASSUMPTIONS)] = None,
    threshold: Annotated[Number | None, Parameter(group=METRICS)] = None,
    weights: WeightOptions = NO_WEIGHTS,
    max_fpr: Annotated[Share, Parameter(group=METRICS)] = 0.1,
    top_k: Annotated[Positive | None, Parameter(group=METRICS)] = None,
    area: Annotated[Area, Parameter(group=METRICS)] = "davis-goadrich",
    resamples: Annotated[Whole, Parameter(group=INTERVALS)] = 2000,
    intervals: IntervalOptions = NO_INTERVAL_OPTIONS,
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    html: Annotated[Text, Parameter(group=OUTPUT)] = None,
    strict: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Recover the true performance behind the scores in FILE.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    truth
        Column of true classes, if you have them: the report then shows them side by side.
    estimator
        What estimates alpha and beta where they are not known, such as alphamax-n; purecover
        priors lists them all.
    threshold
        Scores of at least this count as positive; the best Youden index by default.
    max_fpr
        Largest false-positive rate of the partial AUC.
    top_k
        Also take precision and recall of this many unlabeled rows with the highest scores.
    area
        How the area under the precision-recall curve is taken.
    resamples
        Bootstrap resamples; 0 for none.
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
        estimator=estimator,
        threshold=threshold,
        weights=weights,
        max_fpr=max_fpr,
        top_k=top_k,
        area=area,
        resamples=resamples,
        intervals=intervals,
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
    estimator: Annotated[Text, Parameter(group=ASSUMPTIONS)] = None,
    precision: Annotated[Share | None, Parameter(group=CRITERION)] = None,
    recall: Annotated[Share | None, Parameter(group=CRITERION)] = None,
    fpr: Annotated[Share | None, Parameter(group=CRITERION)] = None,
    specificity: Annotated[Share | None, Parameter(group=CRITERION)] = None,
    npv: Annotated[Share | None, Parameter(group=CRITERION)] = None,
    fdr: Annotated[Share | None, Parameter(group=CRITERION)] = None,
    best: Annotated[Text, Parameter(group=CRITERION)] = None,
    weights: WeightOptions = NO_WEIGHTS,
    resamples: Annotated[Whole, Parameter(group=INTERVALS)] = 500,
    intervals: IntervalOptions = NO_INTERVAL_OPTIONS,
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    strict: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Choose the threshold for a wanted precision, recall or false-positive rate, or the best.

    Give exactly one of --precision, --recall, --fpr, --specificity, --npv, --fdr and --best.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    estimator
        What estimates alpha and beta where they are not known, such as alphamax-n; purecover
        priors lists them all.
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
    resamples
        Bootstrap resamples for the interval of what was asked for; 0 for none.
    json
        Print one JSON document and nothing else.
    strict
        Exit with 1 if a check of severity error speaks.
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
        estimator=estimator,
        wanted=wanted,
        best=best,
        weights=weights,
        resamples=resamples,
        intervals=intervals,
        json=json,
        strict=strict,
        quiet=quiet,
    )


@app.command
def priors(
    file: str,
    /,
    *,
    data: DataOptions = NO_DATA_OPTIONS,
    estimators: Annotated[Text, Parameter(group=ESTIMATORS)] = None,
    beta: Annotated[Share | None, Parameter(group=ESTIMATORS)] = None,
    clean: Annotated[Flag, Parameter(group=ESTIMATORS)] = False,
    resamples: Annotated[Whole, Parameter(group=RESAMPLING)] = 200,
    group: Annotated[Text, Parameter(group=RESAMPLING)] = None,
    confidence_level: Annotated[Share, Parameter(group=RESAMPLING)] = 0.95,
    seed: Annotated[Whole, Parameter(group=RESAMPLING)] = 0,
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    plot: Annotated[Text, Parameter(group=OUTPUT)] = None,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Estimate alpha and beta from the scores in FILE, by every method side by side.

    Alpha is the share of positives among the unlabeled rows, beta the share among the labeled
    ones. Where the methods agree, the estimate does not hang on the assumptions of one of them.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    estimators
        Names with commas between them, such as default,alphamax-n,bbe; an unknown one brings
        the list. By default all that are made for scores, but not alphamax, which alphamax-n
        runs both ways, nor those that wrap another, such as noisy.
    beta
        Share of positives among the labeled, if it is known. By default it is estimated: every
        method that takes labels for clean is run both ways, labeled and unlabeled exchanged.
    clean
        No label is wrong, the same as --beta 1: alpha alone is estimated.
    resamples
        Bootstrap resamples for the intervals of each estimator; 0 for none.
    group
        Column of groups of dependent rows (one patient, one card), resampled together.
    confidence_level
        Confidence level of the intervals.
    seed
        Seed of the bootstrap.
    json
        Print one JSON document and nothing else.
    plot
        Draw the estimates into this file: .png, .svg or .pdf.
    quiet
        Print no table, notes or progress.
    """
    from purecover.cli._priors import run_priors

    return run_priors(
        file,
        data,
        estimators=estimators,
        beta=beta,
        clean=clean,
        resamples=resamples,
        group=group,
        confidence_level=confidence_level,
        seed=seed,
        json=json,
        plot=plot,
        quiet=quiet,
    )


@app.command
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
