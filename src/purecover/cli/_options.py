"""The options that commands share, in groups, and the types of all options."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from purecover.cli._convert import DASH, number, share, whole

__all__ = [
    "COMMAND_LINE",
    "DASH",
    "AssumptionOptions",
    "DataOptions",
    "EngineOptions",
    "IntervalOptions",
    "ScoresOptions",
    "WeightOptions",
]

COMMAND_LINE: ContextVar[tuple[str, ...]] = ContextVar("COMMAND_LINE", default=())
"""The arguments as they were given, for the page that records them."""

Area = Literal["davis-goadrich", "average-precision", "trapezoid"]
Decimal = Literal[".", ","]
Engine = Literal["duckdb", "polars", "spark"]
FileFormat = Literal["csv", "tsv", "jsonl", "parquet"]
Model = Literal["auto", "networks", "boosting", "logistic", "forest"]
Repair = Literal["isotonic", "paper", "hull", "likelihood", "blend", "none"]
Scenario = Literal["case-control", "censoring"]
WorldName = Literal["binormal", "beta", "laplace", "nonconcave", "histogram"]


# The converters of cyclopts round 1.5 to 2 in silence, and do not know what 25 % is.
Number = Annotated[float, Parameter(converter=number)]
Share = Annotated[float, Parameter(converter=share)]
Whole = Annotated[int, Parameter(converter=whole(0))]
Positive = Annotated[int, Parameter(converter=whole(1))]
Flag = Annotated[bool, Parameter(show_default=False)]
Quiet = Annotated[bool, Parameter(alias="-q", show_default=False)]
Text = Annotated[str | None, Parameter(show_default=False)]

DATA = Group("Data", sort_key=1)
ASSUMPTIONS = Group("Assumptions", sort_key=2)
CRITERION = Group("Criterion", sort_key=3)
METRICS = Group("Metrics", sort_key=3)
INTERVALS = Group("Intervals and checks", sort_key=4)
ESTIMATORS = Group("Estimators", sort_key=2)
FEATURES = Group("Features", sort_key=1)
MODEL = Group("Model", sort_key=1)
RESAMPLING = Group("Intervals", sort_key=4)
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

    score: str | None = None
    labeled: str | None = None
    weight: str | None = None
    positive_label: str | None = None
    negative_label: str | None = None
    missing_is_unlabeled: Flag = False
    format: FileFormat | None = None
    delimiter: str | None = None
    decimal: Decimal = "."
    encoding: str = "utf-8"


@Parameter(name="*", group=DATA)
@dataclass(frozen=True, kw_only=True)
class ScoresOptions(DataOptions):
    """Where the scores and labels are, where several models may be compared.

    Parameters
    ----------
    score
        Column of scores; larger means more positive. Obvious names are found without it. Repeat
        it to compare several models on the same rows; the first is the baseline.
    """

    score: Annotated[tuple[str, ...], Parameter(show_default=False)] = ()  # type: ignore[assignment]

    @property
    def one(self) -> DataOptions:
        """The same with the first score alone."""
        values = {f.name: getattr(self, f.name) for f in fields(DataOptions)}
        return DataOptions(**{**values, "score": self.score[0] if self.score else None})


@Parameter(name="*", group=DATA)
@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """What counts the rows of files that are many or large.

    Parameters
    ----------
    engine
        What counts the rows, without loading them. By default DuckDB for a pattern, a folder,
        several files, --by, and a Parquet file of more than 500 MB; anything else is read here.
    by
        Column of groups: a table with a line for each, and whole reports with --json.
    tolerance
        With more than about 4 million distinct scores: how precisely the observed AUC must be
        known, 0.0001 by default; 0 counts every score, whatever it costs.
    memory_limit
        The most memory DuckDB may use, such as 2GB.
    """

    engine: Engine | None = None
    by: Text = None
    tolerance: Share | None = None
    memory_limit: Text = None


@Parameter(name="*", group=ASSUMPTIONS)
@dataclass(frozen=True, kw_only=True)
class AssumptionOptions:
    """What is known about the labels.

    Parameters
    ----------
    alpha
        Share of positives among the unlabeled; estimated if nothing is said.
    beta
        Share of positives among the labeled; 1 means that no label is wrong. By default 1 beside
        a known alpha, and estimated beside an estimated one.
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

    alpha: Share | None = None
    beta: Share | None = None
    scenario: Scenario | None = None
    prior: Share | None = None
    label_frequency: Share | None = None
    target: str = "population"
    repair: Repair | None = None


@Parameter(name="*", group=METRICS)
@dataclass(frozen=True, kw_only=True)
class WeightOptions:
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


@Parameter(name="*", group=INTERVALS)
@dataclass(frozen=True, kw_only=True)
class IntervalOptions:
    """How sure one may be.

    Parameters
    ----------
    group
        Column of groups of dependent rows (one patient, one card), resampled together.
    confidence_level
        Confidence level of intervals and bands.
    seed
        Seed of the bootstrap.
    ignore_check
        Code of a check to silence, such as PU005; may be repeated.
    """

    group: Text = None
    confidence_level: Share = 0.95
    seed: Whole = 0
    ignore_check: Annotated[tuple[str, ...], Parameter(show_default=False)] = ()
