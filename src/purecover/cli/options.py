"""The options that commands share, in groups, and what turns their words into values."""

# Without annotations from __future__: a class of another module that inherits options would look
# there for the names of their types.

import math
import re
from collections.abc import Callable
from dataclasses import Field, dataclass
from typing import Annotated, Any, ClassVar, Literal, dataclass_transform

from cyclopts import Group, Parameter

from purecover.cli.output import STDIO, CommandError

Area = Literal["davis-goadrich", "average-precision", "trapezoid"]
Decimal = Literal[".", ","]
Engine = Literal["duckdb", "polars", "spark"]
FileFormat = Literal["csv", "tsv", "jsonl", "parquet"]
Model = Literal["auto", "networks", "boosting", "logistic", "forest", "nearest"]
Repair = Literal["isotonic", "paper", "hull", "likelihood", "blend", "none"]
Scenario = Literal["case-control", "censoring"]
WorldName = Literal["binormal", "beta", "laplace", "nonconcave", "histogram"]
USUAL_METRICS = ("roc_auc", "auc_pr", "precision", "recall")
_TARGETS = ("population", "deployment", "pooled")


STAND_IN = "<->"
"""For a lone "-" while arguments are parsed: cyclopts takes it for an option."""

# -- words turned into numbers, with complaints that name the option ------------------------------

_PERCENTAGE = re.compile(r"\+?(\d+(?:[.,]\d+)?|[.,]\d+)\s*(%?)")

Converter = Callable[[Any, Any], Any]
"""Takes a type and the tokens given for it, as the parser wants it."""


def number(_: Any, tokens: Any) -> float:
    """A number, finite or not."""
    option, text = _given(tokens)
    try:
        return float(text)
    except ValueError:
        hint = "\nHint: write a decimal point, not a comma." if "," in text else ""
        raise CommandError(f"{option} must be a number, got {text!r}.{hint}") from None


def share(_: Any, tokens: Any) -> float:
    """A number in [0, 1]; percentages are explained, not guessed."""
    option, text = _given(tokens)
    value = _float(text)
    if not 0 <= value <= 1:
        raise CommandError(f"{option} must be a number in [0, 1], got {text!r}.{share_hint(text)}")
    return value


def share_hint(text: str) -> str:
    """What 25, 25% or 0,25 should have been, as the last line of a complaint."""
    from purecover.proportions import LEAST_PERCENTAGE

    match = _PERCENTAGE.fullmatch(text.strip())
    if match is None:
        return ""
    value = float(match[1].replace(",", "."))
    if not match[2] and 1 < value < LEAST_PERCENTAGE:
        return ""
    if match[2] or value > 1:
        value /= 100
    return f"\nHint: {value:.6g} means {100 * value:.6g} %." if value <= 1 else ""


def whole(low: int) -> Converter:
    """A whole number of at least ``low``."""

    def convert(_: Any, tokens: Any) -> int:
        option, text = _given(tokens)
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if value < low:
            raise CommandError(
                f"{option} must be a whole number of at least {low}, got {text[:80]!r}."
            )
        return value

    return convert


def numbers(option: str, text: str) -> tuple[float, ...]:
    """Finite numbers with commas between them."""
    values = tuple(map(_float, text.split(",")))
    if not all(map(math.isfinite, values)):
        raise CommandError(
            f"{option} must be numbers with commas between them, such as 0.8,0.5, got {text!r}."
        )
    return values


def population(_: Any, tokens: Any) -> str | float:
    """A named population, or a prior."""
    option, text = _given(tokens)
    if text in _TARGETS:
        return text
    prior = _float(text)
    if not 0 <= prior <= 1:
        raise CommandError(
            f"{option} must be {', '.join(_TARGETS)} or a number in [0, 1], got "
            f"{text!r}.{share_hint(text)}"
        )
    return prior


def check_codes(_: Any, tokens: Any) -> tuple[str, ...]:
    """Codes of checks, in any case."""
    from purecover.checks import CHECKS

    for token in tokens:
        option, text = _given([token])
        if text.strip().upper() not in CHECKS:
            raise CommandError(
                f"{option} must be the code of a check, got {text!r}.\n"
                f"Hint: the codes are {', '.join(CHECKS)}."
            )
    return tuple(str(token.value).strip().upper() for token in tokens)


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _given(tokens: Any) -> tuple[str, str]:
    """The option, and its value as it was typed."""
    value = str(tokens[0].value)
    return str(tokens[0].keyword), STDIO if value == STAND_IN else value


DATA = Group("Data", sort_key=1)
ASSUMPTIONS = Group("Assumptions", sort_key=2)
CRITERION = Group("Criterion", sort_key=3)
METRICS = Group("Metrics", sort_key=3)
INTERVALS = Group("Intervals and checks", sort_key=4)
ESTIMATORS = Group("Estimators", sort_key=2)
FEATURES = Group("Features", sort_key=1)
RESAMPLING = Group("Intervals", sort_key=4)
OUTPUT = Group("Output", sort_key=9)
WORLD = Group("World", sort_key=1)
SAMPLE = Group("Sample", sort_key=2)

# The converters of cyclopts round 1.5 to 2 in silence, and do not know what 25 % is.
Number = Annotated[float, Parameter(converter=number)]
Share = Annotated[float, Parameter(converter=share)]
Whole = Annotated[int, Parameter(converter=whole(0))]
Positive = Annotated[int, Parameter(converter=whole(1))]
Flag = Annotated[bool, Parameter(show_default=False)]
Quiet = Annotated[bool, Parameter(alias="-q", show_default=False)]
Text = Annotated[str | None, Parameter(show_default=False)]
Names = Annotated[tuple[str, ...], Parameter(show_default=False)]
Assumed = Annotated[tuple[Literal["pure-top", "clean-labels"], ...], Parameter(show_default=False)]

# Options that mean the same wherever they stand.
Json = Annotated[Flag, Parameter(group=OUTPUT, help="Print one JSON document and nothing else.")]
Strict = Annotated[Flag, Parameter(group=OUTPUT, help="Exit with 1 if a check finds an error.")]
GroupColumn = Annotated[
    Text,
    Parameter(
        alias="--groups",
        group=INTERVALS,
        help="Column of groups of dependent rows (one patient, one card), resampled together.",
    ),
]


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Options:
    """Base of groups of options: a frozen dataclass, each of whose fields is an option."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls, *, group: Group | None = None) -> None:
        dataclass(frozen=True, kw_only=True)(cls)
        Parameter(name="*", group=group)(cls)


# A class that inherits options may give some of them other words in its own docstring. Fields of
# the last base come first in the help.


class TableOptions(Options, group=DATA):
    """Where the labels are, and how the file is written.

    Parameters
    ----------
    labeled
        Column that says who carries the positive label: 1/0, true/false, positive/unlabeled.
    weight
        Column of sample weights.
    positive_label
        Value that means labeled, where it is not obvious.
    negative_label
        Value that marks known negatives, a third kind of row.
    missing_is_unlabeled
        Count blank cells (also NA and null) of the labeled column as unlabeled.
    format
        Format of the file, if its name and content do not tell.
    delimiter
        What separates the fields of a CSV file; found among , ; | and tab by default.
    decimal
        What stands before the decimals of a number: a point, or a comma.
    encoding
        Text encoding of the file.
    """

    labeled: str | None = None
    weight: str | None = None
    positive_label: str | None = None
    negative_label: str | None = None
    missing_is_unlabeled: Flag = False
    format: FileFormat | None = None
    delimiter: str | None = None
    decimal: Decimal = "."
    encoding: str = "utf-8"

    @property
    def scores(self) -> tuple[str, ...]:
        """Columns of scores, if any was named."""
        given = getattr(self, "score", None)
        return given if isinstance(given, tuple) else () if given is None else (given,)


class OneScore(Options):
    """The column of scores."""

    score: str | None = None


class DataOptions(TableOptions, OneScore, group=DATA):
    """Where the scores and labels are.

    Parameters
    ----------
    score
        Column of scores; larger means more positive. Obvious names are found without it.
    """


class SeveralScores(Options):
    """The columns of scores."""

    score: Names = ()


class ScoresOptions(TableOptions, SeveralScores, group=DATA):
    """Where the scores and labels are, where several models may be compared.

    Parameters
    ----------
    score
        Column of scores; larger means more positive. Obvious names are found without it. Repeat
        it to compare several models on the same rows; the first is the baseline.
    """


class EngineOptions(Options, group=DATA):
    """What counts the rows of files that are many or large.

    Parameters
    ----------
    engine
        What counts the rows, without loading them. By default DuckDB for a pattern, a folder,
        several files, --by, and a Parquet file of more than 500 MB; anything else is read here.
    by
        Column of groups: a table with a line for each, and whole reports with --json.
    tolerance
        With more than about 500,000 distinct scores: how precisely the observed AUC must be
        known, 0.0001 by default; 0 counts every score, whatever it costs.
    memory_limit
        The most memory DuckDB may use, such as 2GB.
    """

    engine: Engine | None = None
    by: Text = None
    tolerance: Share | None = None
    memory_limit: Text = None


class ShareOptions(Options, group=ASSUMPTIONS):
    """Alpha and beta, or what estimates them.

    Parameters
    ----------
    alpha
        Share of positives among the unlabeled; estimated if nothing is said.
    beta
        Share of positives among the labeled; 1 means that no label is wrong. By default 1 beside
        a known alpha, and estimated beside an estimated one.
    estimator
        What estimates alpha and beta where they are not known, such as alphamax-n; purecover
        priors lists them all.
    scenario
        How the data were drawn. case-control: labeled and unlabeled apart. censoring: one
        sample, some of whose positives got labeled.
    assume
        What you know where alpha is estimated; repeat it for both. pure-top: the best scores are
        all positives. clean-labels: every label was verified, the same as --beta 1.
    """

    alpha: Share | None = None
    beta: Share | None = None
    estimator: Text = None
    scenario: Scenario | None = None
    assume: Assumed = ()


class PriorOptions(ShareOptions, group=ASSUMPTIONS):
    """Alpha and beta, known in one way or another, or what estimates them.

    Parameters
    ----------
    prior
        Share of positives in the population, instead of --alpha.
    label_frequency
        Probability that a positive got labeled (censoring), instead of --alpha or --prior.
    """

    prior: Share | None = None
    label_frequency: Share | None = None


class TargetOptions(Options, group=ASSUMPTIONS):
    """Which population figures are for.

    Parameters
    ----------
    target
        Population that precision and the like are for: population, deployment (like the
        unlabeled), pooled (labeled and unlabeled together) or a prior in [0, 1].
    """

    target: Annotated[str | float, Parameter(converter=population)] = "population"


class CurveOptions(TargetOptions, group=ASSUMPTIONS):
    """Which population figures are for, and how they are recovered.

    Parameters
    ----------
    repair
        How noisy points become a curve; chosen for each curve by default.
    """

    repair: Repair | None = None


class AssumptionOptions(CurveOptions, PriorOptions, group=ASSUMPTIONS):
    """What is known about the labels, and which population figures are for."""

    def __post_init__(self) -> None:
        given = (self.alpha, self.prior, self.label_frequency)
        if sum(value is not None for value in given) > 1:
            raise CommandError("give only one of --alpha, --prior and --label-frequency.")
        if self.prior is not None and self.scenario is None:
            raise CommandError(
                "--prior needs --scenario: case-control (labeled and unlabeled drawn apart) or "
                "censoring (one sample, some of whose positives got labeled)."
            )


class WeightOptions(Options, group=METRICS):
    """What some metrics weigh.

    Parameters
    ----------
    f_beta
        Weight of recall in F-beta.
    cost_fn
        Cost of a missed positive.
    cost_fp
        Cost of a false alarm.
    """

    f_beta: Number = 1.0
    cost_fn: Number = 1.0
    cost_fp: Number = 1.0


class IntervalOptions(Options, group=INTERVALS):
    """How sure one may be.

    Parameters
    ----------
    n_resamples
        Bootstrap resamples; 0 for none. By default 2000, 1000 of more than 32,768 distinct scores,
        and fewer for several scores of a million rows or more.
    confidence_level
        Confidence level of intervals and bands.
    random_state
        Seed of everything random.
    """

    n_resamples: Annotated[Whole | None, Parameter("--resamples")] = None
    confidence_level: Share = 0.95
    random_state: Annotated[Whole, Parameter("--seed", alias="--random-state")] = 0


class CheckedOptions(IntervalOptions, group=INTERVALS):
    """How sure one may be, and which checks are not wanted.

    Parameters
    ----------
    ignore_checks
        Code of a check to silence, such as PU005; may be repeated.
    """

    ignore_checks: Annotated[Names, Parameter("--ignore-check", converter=check_codes)] = ()


class MeasureOptions(WeightOptions, group=METRICS):
    """What is measured.

    Parameters
    ----------
    threshold
        Scores of at least this count as positive; the best Youden index by default.
    review
        How many unlabeled rows you can review, instead of --threshold: the lowest threshold is
        taken that flags no more of them.
    max_fpr
        Largest false-positive rate of the partial AUC.
    top_k
        Also take precision and recall of this many unlabeled rows with the highest scores.
    area
        How the area under the precision-recall curve is taken.
    probabilities
        Scores are probabilities of the true class: also take Brier score, log loss, calibration and
        net benefit.
    threshold_probability
        Probability from which on net benefit flags.
    """

    threshold: Number | None = None
    review: Positive | None = None
    max_fpr: Share = 0.1
    top_k: Positive | None = None
    area: Area = "davis-goadrich"
    probabilities: bool = False
    threshold_probability: Share = 0.5


class EvaluationOptions(Options):
    """What an evaluation is told besides the data."""

    assumptions: AssumptionOptions = AssumptionOptions()
    measures: MeasureOptions = MeasureOptions()
    intervals: CheckedOptions = CheckedOptions()

    @property
    def settings(self) -> dict[str, Any]:
        """What `evaluate` is told besides the data."""
        return {**vars(self.assumptions), **vars(self.measures), **vars(self.intervals)}


class FeatureOptions(Options, group=FEATURES):
    """Which columns are features, and what makes scores of them.

    Parameters
    ----------
    features
        Columns to learn from, with commas between them; by default all but those named otherwise
        and those that a name such as truth or score gives away. A name that holds a comma stands
        in double quotes.
    drop
        Columns not to learn from, such as identifiers, with commas between them.
    model
        What makes scores of the features, each row scored by a model that has not seen it. auto
        tries the next four and keeps the best; networks are the bagged ones of the paper, nearest
        is the distance to the nearest labeled row.
    folds
        Parts of the data, each scored by a model trained on the others.
    jobs
        Models trained at the same time.
    """

    features: Text = None
    drop: Text = None
    model: Model = "auto"
    folds: Positive = 5
    jobs: Positive | None = None

    def __post_init__(self) -> None:
        if self.features is not None and self.drop is not None:
            raise CommandError("give --features or --drop, not both.")
        if self.folds < 2:
            raise CommandError(f"--folds must be a whole number of at least 2, got {self.folds}.")


class ComparisonOptions(Options):
    """What only a comparison of several scores is told.

    Parameters
    ----------
    estimate_from
        Which of several score columns alpha and beta are estimated from; by default the one
        with the highest observed AUC.
    simultaneous
        Make intervals of differences between several scores hold all at once.
    """

    estimate_from: Annotated[Text, Parameter(group=ASSUMPTIONS)] = None
    simultaneous: Annotated[Flag, Parameter(group=INTERVALS)] = False


class PageOptions(Options, group=OUTPUT):
    """In which ways a result is given.

    Parameters
    ----------
    html
        Write the report as a web page to this file.
    title
        Heading of that page, such as the name of the model.
    quiet
        Print no report, notes or progress.
    """

    json: Json = False
    html: Text = None
    title: Text = None
    quiet: Quiet = False

    def __post_init__(self) -> None:
        if self.title is not None and self.html is None:
            raise CommandError("--title is the heading of a page.\nHint: give --html, too.")


class ReportOptions(PageOptions, group=OUTPUT):
    """In which ways the report is given.

    Parameters
    ----------
    markdown
        Write the report as Markdown to this file, for an issue or a pull request.
    """

    markdown: Text = None
    strict: Strict = False

    @property
    def paths(self) -> dict[str, str | None]:
        """The files to write, by option."""
        return {"--html": self.html, "--markdown": self.markdown}
