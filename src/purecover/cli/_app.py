"""The commands; what they do lives in the modules they import when run."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import App, Parameter

from purecover import __version__
from purecover.cli._audit_app import audit
from purecover.cli._evaluate_data_app import evaluate_data
from purecover.cli._many_app import evaluate_many
from purecover.cli._messages import CommandError
from purecover.cli._monitor_app import monitor
from purecover.cli._options import (
    ASSUMPTIONS,
    CRITERION,
    DATA,
    INTERVALS,
    METRICS,
    OUTPUT,
    SAMPLE,
    WORLD,
    Area,
    AssumptionOptions,
    DataOptions,
    EngineOptions,
    Flag,
    IntervalOptions,
    Number,
    Positive,
    Quiet,
    Scenario,
    ScoresOptions,
    Share,
    Text,
    WeightOptions,
    Whole,
    WorldName,
)
from purecover.cli._paper_app import paper
from purecover.cli._priors_app import priors
from purecover.cli._serve_app import serve

__all__ = ["app"]

NO_DATA_OPTIONS = DataOptions()
NO_SCORES_OPTIONS = ScoresOptions()
NO_ENGINE_OPTIONS = EngineOptions()
NO_ASSUMPTIONS = AssumptionOptions()
NO_WEIGHTS = WeightOptions()
NO_INTERVAL_OPTIONS = IntervalOptions()

app = App(
    name="purecover",
    help=(
        "True classifier performance from positive-unlabeled data.\n\n"
        "Exit codes: 0 all is well; 1 a check of severity error spoke (with --strict), scores "
        "drift (with --fail-on-drift), or some runs of paper run failed; 2 bad usage or bad input; "
        "130 interrupted; 141 nobody reads the output."
    ),
    version=__version__,
    version_flags=["--version"],
    help_flags=["--help", "-h"],
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)
app.command(audit)
app.command(evaluate_data)
app.command(evaluate_many)
app.command(monitor)
app.command(paper)
app.command(priors)
app.command(serve, name="app")


@app.command
def evaluate(
    file: str,
    /,
    *more_files: str,
    data: ScoresOptions = NO_SCORES_OPTIONS,
    counting: EngineOptions = NO_ENGINE_OPTIONS,
    truth: Annotated[Text, Parameter(group=DATA)] = None,
    assumptions: AssumptionOptions = NO_ASSUMPTIONS,
    estimator: Annotated[Text, Parameter(group=ASSUMPTIONS)] = None,
    estimate_from: Annotated[Text, Parameter(group=ASSUMPTIONS)] = None,
    threshold: Annotated[Number | None, Parameter(group=METRICS)] = None,
    weights: WeightOptions = NO_WEIGHTS,
    max_fpr: Annotated[Share, Parameter(group=METRICS)] = 0.1,
    top_k: Annotated[Positive | None, Parameter(group=METRICS)] = None,
    area: Annotated[Area, Parameter(group=METRICS)] = "davis-goadrich",
    resamples: Annotated[Whole | None, Parameter(group=INTERVALS)] = None,
    simultaneous: Annotated[Flag, Parameter(group=INTERVALS)] = False,
    intervals: IntervalOptions = NO_INTERVAL_OPTIONS,
    json: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    html: Annotated[Text, Parameter(group=OUTPUT)] = None,
    markdown: Annotated[Text, Parameter(group=OUTPUT)] = None,
    strict: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Recover the true performance behind the scores in FILE.

    With several --score, models are compared on the same rows.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input. Also a folder of CSV or Parquet files, or a pattern such
        as 'scores/*.parquet'.
    more_files
        Further files, folders or patterns: the rows of all are counted together.
    truth
        Column of true classes, if you have them: the report then shows them side by side.
    estimator
        What estimates alpha and beta where they are not known, such as alphamax-n; purecover
        priors lists them all.
    estimate_from
        Which of several score columns alpha and beta are estimated from; by default the one
        with the highest observed AUC.
    threshold
        Scores of at least this count as positive; the best Youden index by default.
    max_fpr
        Largest false-positive rate of the partial AUC.
    top_k
        Also take precision and recall of this many unlabeled rows with the highest scores.
    area
        How the area under the precision-recall curve is taken.
    resamples
        Bootstrap resamples; 0 for none. By default 2000, 1000 of more than 32,768 distinct scores,
        and fewer for several scores of a million rows or more.
    simultaneous
        Make intervals of differences between several scores hold all at once.
    json
        Print one JSON document and nothing else.
    html
        Write the report as a web page to this file.
    markdown
        Write the report as Markdown to this file, for an issue or a pull request.
    strict
        Exit with 1 if a check of severity error speaks.
    quiet
        Print no report, notes or progress.
    """
    settings: dict[str, Any] = {
        "truth": truth,
        "estimator": estimator,
        "threshold": threshold,
        "weights": weights,
        "max_fpr": max_fpr,
        "top_k": top_k,
        "area": area,
        "intervals": intervals,
        "json": json,
        "html": html,
        "strict": strict,
        "quiet": quiet,
    }
    from purecover.cli._engine_choice import choose_engine

    engine = choose_engine((file, *more_files), data, counting, truth, intervals.group)
    if engine is not None:
        from purecover.cli._engine import run_over_engine

        return run_over_engine(
            (file, *more_files),
            data.one,
            counting,
            engine,
            assumptions,
            only_for_several={"estimate-from": estimate_from, "simultaneous": simultaneous},
            resamples=resamples,
            markdown=markdown,
            **settings,
        )
    if len(data.score) > 1:
        if markdown is not None:
            raise CommandError(
                "--markdown is for one score.\nHint: several are written by --html and --json."
            )
        from purecover.cli._compare import run_compare

        return run_compare(
            file,
            data,
            assumptions,
            estimate_from=estimate_from,
            resamples=resamples,
            simultaneous=simultaneous,
            **settings,
        )
    from purecover.cli._evaluate import run_evaluate

    return run_evaluate(
        file,
        data.one,
        assumptions,
        only_for_several={"estimate-from": estimate_from, "simultaneous": simultaneous},
        resamples=resamples,
        markdown=markdown,
        **settings,
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
