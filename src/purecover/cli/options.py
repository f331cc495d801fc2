"""The table of options: each is a parameter of the library under its own name.

A command names the options it takes. What nobody typed is not passed on, so that the defaults are
those of the library.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

from cyclopts import App, Group, Parameter

from purecover.cli.output import STDIO, CommandError
from purecover.exceptions import PurecoverError

STAND_IN = "<->"
"""For a lone "-" while arguments are parsed: cyclopts takes it for an option."""

_PERCENTAGE = re.compile(r"\+?(\d+(?:[.,]\d+)?|[.,]\d+)\s*(%?)")


def _typed(token: Any) -> tuple[str, str]:
    """The option, and its value as it was typed."""
    value = str(token.value)
    return str(token.keyword), STDIO if value == STAND_IN else value


def _number(_: Any, tokens: Any) -> float:
    """A number; percentages and commas are explained, not guessed."""
    option, text = _typed(tokens[0])
    try:
        return float(text)
    except ValueError:
        raise CommandError(f"{option} must be a number, got {text!r}.{_hint(text)}") from None


def _hint(text: str) -> str:
    """What 25% or 0,25 should have been, as the last line of a complaint."""
    match = _PERCENTAGE.fullmatch(text.strip())
    if match is None:
        return ""
    value = float(match[1].replace(",", ".")) / (100 if match[2] else 1)
    return f"\nHint: write {value:.6g}."


def _whole(_: Any, tokens: Any) -> int:
    option, text = _typed(tokens[0])
    try:
        return int(text)
    except ValueError:
        raise CommandError(f"{option} must be a whole number, got {text[:80]!r}.") from None


def _target(_: Any, tokens: Any) -> str | float:
    """A named population, or a prior; the library knows which there are."""
    text = _typed(tokens[0])[1]
    try:
        return float(text)
    except ValueError:
        return text


def _words(_: Any, tokens: Any) -> tuple[str, ...]:
    """Words with commas between them, or repeated options."""
    return tuple(w.strip() for token in tokens for w in _typed(token)[1].split(","))


def _numbers(_: Any, tokens: Any) -> tuple[float, ...]:
    """Finite numbers with commas between them."""
    option, text = _typed(tokens[0])
    try:
        values = tuple(map(float, text.split(",")))
    except ValueError:
        values = (math.nan,)
    if not all(map(math.isfinite, values)):
        raise CommandError(
            f"{option} must be numbers with commas between them, such as 0.8,0.5, got {text!r}."
        )
    return values


_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(B|kB|MB|GB|)", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}


def _bytes(_: Any, tokens: Any) -> int:
    """Bytes, from words such as 200MB."""
    option, text = _typed(tokens[0])
    match = _SIZE.fullmatch(text.strip())
    size = 0 if match is None else round(float(match[1]) * _UNITS[match[2].lower()])
    if size < 1:
        raise CommandError(f"{option} must be a size such as 200MB or 2GB, got {text[:80]!r}.")
    return size


# The converters of cyclopts round 1.5 to 2 in silence, and do not know what 25 % is.
TEXT: Any = str
FLAG: Any = bool
NAMES: Any = tuple[str, ...]
NUMBER: Any = Annotated[float, Parameter(converter=_number)]
WHOLE: Any = Annotated[int, Parameter(converter=_whole)]
WORDS: Any = Annotated[tuple[str, ...], Parameter(converter=_words, n_tokens=1)]
NUMBERS: Any = Annotated[tuple[float, ...], Parameter(converter=_numbers, n_tokens=1)]
TARGET: Any = Annotated[str | float, Parameter(converter=_target)]
BYTES: Any = Annotated[int, Parameter(converter=_bytes)]
SWITCH: Any = Annotated[bool, Parameter(negative=None)]  # --no-browser turns it off

DATA = Group("Data", sort_key=1)
ASSUMPTIONS = Group("Assumptions", sort_key=2)
METRICS = Group("Metrics", sort_key=3)
INTERVALS = Group("Intervals and checks", sort_key=4)
AUDIT = Group("Audit", sort_key=5)
DRIFT = Group("Drift", sort_key=5)
SERVER = Group("Server", sort_key=5)
OUTPUT = Group("Output", sort_key=9)


class Option(NamedTuple):
    """Type, group and help of an option."""

    kind: Any
    group: Group
    help: str


OPTIONS = {
    "score": Option(
        NAMES, DATA, "Column of scores; larger means more positive. Obvious names are found."
    ),
    "labeled": Option(
        TEXT, DATA,
        "Column that says who carries the positive label: 1/0, true/false, positive/unlabeled. "
        "Obvious names are found.",
    ),
    "positive_label": Option(TEXT, DATA, "Value that means labeled, where it is not obvious."),
    "negative_label": Option(TEXT, DATA, "Value that marks known negatives, a third kind of row."),
    "missing_is_unlabeled": Option(
        FLAG, DATA, "Count blank cells (also NA and null) of the labeled column as unlabeled."
    ),
    "sample_weight": Option(TEXT, DATA, "Column of sample weights."),
    "truth": Option(
        TEXT, DATA,
        "Column of true classes, if you have them: the report then shows them side by side.",
    ),
    "groups": Option(
        TEXT, DATA,
        "Column of groups of dependent rows (one patient, one card), resampled together.",
    ),
    "engine": Option(
        TEXT, DATA,
        "What counts the rows, without loading them: duckdb, polars or spark. By default DuckDB "
        "for a pattern, a folder, several files, --by, and a Parquet file of more than 500 MB; "
        "anything else is read here.",
    ),
    "by": Option(
        TEXT, DATA,
        "Column of groups: a table with a line for each, and whole reports with --json.",
    ),
    "min_rows": Option(
        WHOLE, DATA, "Do not evaluate tasks with fewer labeled or fewer unlabeled rows; 10."
    ),
    "negatives": Option(
        TEXT, DATA,
        "A second file with the known negatives, such as mokapot.decoys.psms.txt; FILE is then "
        "the mixture alone, and no column of labels is needed.",
    ),
    "alpha": Option(
        NUMBER, ASSUMPTIONS, "Share of positives among the unlabeled; estimated if nothing is said."
    ),
    "beta": Option(
        NUMBER, ASSUMPTIONS,
        "Share of positives among the labeled; 1 means that no label is wrong. By default 1 "
        "beside a known alpha, and estimated beside an estimated one.",
    ),
    "prior": Option(
        NUMBER, ASSUMPTIONS, "Share of positives in the population, instead of --alpha."
    ),
    "label_frequency": Option(
        NUMBER, ASSUMPTIONS,
        "Probability that a positive got labeled (censoring), instead of --alpha or --prior.",
    ),
    "scenario": Option(
        TEXT, ASSUMPTIONS,
        "How the data were drawn. case-control: labeled and unlabeled apart. censoring: one "
        "sample, some of whose positives got labeled.",
    ),
    "estimator": Option(
        TEXT, ASSUMPTIONS,
        "What estimates alpha and beta where they are not known, such as alphamax-n; purecover "
        "priors lists them all.",
    ),
    "assume": Option(
        NAMES, ASSUMPTIONS,
        "What you know where alpha is estimated; repeat it for both. pure-top: the best scores "
        "are all positives. clean-labels: every label was verified, the same as --beta 1.",
    ),
    "target": Option(
        TARGET, ASSUMPTIONS,
        "Population that precision and the like are for: population, deployment (like the "
        "unlabeled), pooled (labeled and unlabeled together) or a prior in [0, 1].",
    ),
    "pi0": Option(
        NUMBER, ASSUMPTIONS,
        "Share of negatives in the mixture, if it is known; estimated by default.",
    ),
    "estimators": Option(
        WORDS, ASSUMPTIONS,
        "Names with commas between them, such as default,alphamax-n,bbe; an unknown one brings "
        "the list. By default all that are made for scores.",
    ),
    "threshold": Option(
        NUMBER, METRICS,
        "Scores of at least this count as positive; the best Youden index by default.",
    ),
    "review": Option(
        WHOLE, METRICS,
        "How many unlabeled rows you can review, instead of --threshold: the lowest threshold is "
        "taken that flags no more of them.",
    ),
    "top_k": Option(
        WHOLE, METRICS,
        "Also take precision and recall of this many unlabeled rows with the highest scores.",
    ),
    "probabilities": Option(
        FLAG, METRICS,
        "Scores are probabilities of the true class: also take Brier score, log loss, "
        "calibration and net benefit.",
    ),
    "metrics": Option(
        NAMES, METRICS,
        "Metric of the table, such as roc_auc; may be repeated. By default roc_auc, auc_pr, "
        "precision and recall.",
    ),
    "precision": Option(NUMBER, METRICS, "At least this precision, then the highest recall."),
    "recall": Option(NUMBER, METRICS, "At least this recall, flagging the fewest."),
    "fpr": Option(NUMBER, METRICS, "At most this false-positive rate, then the highest recall."),
    "best": Option(
        TEXT, METRICS,
        "Metric to be at its best: f1, mcc, youden or another metric of a threshold.",
    ),
    "n_resamples": Option(WHOLE, INTERVALS, "Bootstrap resamples; 0 for none."),
    "confidence_level": Option(
        NUMBER, INTERVALS, "Confidence level of intervals and bands; 0.95 by default."
    ),
    "random_state": Option(WHOLE, INTERVALS, "Seed of everything random; 0 by default."),
    "ignore_checks": Option(
        NAMES, INTERVALS, "Code of a check to silence, such as PU005; may be repeated."
    ),
    "n_jobs": Option(WHOLE, INTERVALS, "Rows of the table worked on at the same time."),
    "width": Option(
        NUMBER, AUDIT, "How wide the interval of alpha may be, such as 0.1 for 0.2 to 0.3."
    ),
    "alpha_guess": Option(
        NUMBERS, AUDIT,
        "Where alpha may lie, such as 0.1 or 0.05,0.2; anywhere by default, which needs the most.",
    ),
    "n_unlabeled": Option(
        WHOLE, AUDIT,
        "Number of unlabeled rows there are, if alpha of these alone is wanted; tell audit plan "
        "and audit estimate the same.",
    ),
    "design": Option(
        TEXT, AUDIT,
        "random takes all unlabeled rows alike; top takes those with high scores, and labeled rows "
        "beside them, which needs fewer if labels were given at random among the positives.",
    ),
    "n": Option(WHOLE, AUDIT, "How many rows to draw; audit plan says how many are needed."),
    "strata": Option(
        NUMBERS, AUDIT,
        "Thresholds of the score with commas between them, such as 0.8,0.5: draw as many from "
        "each stratum, for precision and recall above the thresholds.",
    ),
    "columns": Option(
        WORDS, AUDIT,
        "Columns to copy, with commas between them; all by default. Judges who do not see the "
        "score are not led by it.",
    ),
    "answer": Option(TEXT, AUDIT, "Column of answers; positive by default."),
    "scores": Option(
        TEXT, AUDIT,
        "File of scores and labels, which options such as --score describe: with it the true "
        "performance is recovered.",
    ),
    "name": Option(
        TEXT, DRIFT,
        "What to call the partition; the file's name without its ending by default.",
    ),
    "replace": Option(
        FLAG, DRIFT, "Take the place of the partition of the same name instead of refusing it."
    ),
    "window": Option(
        WHOLE, DRIFT, "Compare a partition with up to so many before it; 30 by default."
    ),
    "false_alarms": Option(
        NUMBER, DRIFT,
        "Probability with which any look ever finds drift where there is none; 0.05 by default.",
    ),
    "fail_on_drift": Option(
        FLAG, DRIFT,
        "Exit with 1 if the partition, or without FILE the last one, differs from those before it.",
    ),
    "port": Option(WHOLE, SERVER, "Port to listen on; 0, the default, takes a free one."),
    "browser": Option(SWITCH, SERVER, "Open the page in your browser."),
    "token": Option(
        SWITCH, SERVER,
        "Ask for the secret that is in the printed address, so that other users and programs of "
        "this machine stay out.",
    ),
    "max_upload": Option(
        BYTES, SERVER,
        "Largest file, also after unpacking: a number and its unit, B, kB, MB or GB, such as "
        "500MB; 200MB by default.",
    ),
    "workers": Option(WHOLE, SERVER, "Reports made at the same time; 2 by default."),
    "timeout": Option(WHOLE, SERVER, "Seconds that a report may take; 600 by default."),
    "json": Option(FLAG, OUTPUT, "Print one JSON document and nothing else."),
    "csv": Option(TEXT, OUTPUT, "Write all rows and columns to this CSV file."),
    "html": Option(TEXT, OUTPUT, "Write the result as a web page to this file."),
    "markdown": Option(
        TEXT, OUTPUT,
        "Write the report as Markdown to this file, for an issue or a pull request.",
    ),
    "plot": Option(TEXT, OUTPUT, "Draw the estimates into this file: .png, .svg or .pdf."),
    "out": Option(TEXT, OUTPUT, "CSV file to write; - for standard output."),
    "details": Option(
        FLAG, OUTPUT, "Print all metrics, checks, assumptions and settings after the report."
    ),
    "strict": Option(FLAG, OUTPUT, "Exit with 1 if a check finds an error."),
    "quiet": Option(
        Annotated[bool, Parameter(alias="-q")], OUTPUT, "Print no report, notes or progress."
    ),
}  # fmt: skip
"""All options by the name of their parameter."""

COLUMNS = "score labeled positive_label missing_is_unlabeled"
"""Options that every command has which reads a file of scores."""

RENAMED = {
    "--group": "--groups",
    "--ignore-check": "--ignore-checks",
    "--jobs": "--n-jobs",
    "--metric": "--metrics",
    "--resamples": "--n-resamples",
    "--seed": "--random-state",
    "--unlabeled": "--n-unlabeled",
    "--weight": "--sample-weight",
}
"""Options by the names they had before 0.2, which scripts may still use."""

_ELSEWHERE = {"scores": "--score", "frame": "FILE", "data": "FILE", "paths": "FILE",
              "path": "STATE", "n_items": "--n"}  # fmt: skip


def option_of(parameter: str) -> str:
    """How a parameter of the library is called in the shell."""
    if parameter in _ELSEWHERE:
        return _ELSEWHERE[parameter]
    return f"--{parameter.replace('_', '-')}" if parameter in OPTIONS else parameter


def in_options(error: PurecoverError) -> str:
    """The message of an error, about an option where the library names its parameter."""
    if isinstance(error, CommandError):
        return str(error)
    error.function = None  # which makes it "purecover", as every message begins
    if error.parameter is None or error.must is None:
        return str(error).removeprefix("purecover: ")
    hint = "" if error.hint is None else f"\nHint: {error.hint}"
    return f"{option_of(error.parameter)} must be {error.must}, got {error.got}.{hint}"


def takes(
    names: str, *, required: str = "", repeated: str = "", **words: str
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command these options of the table, some with other words of help.

    The command gets those that were typed as keywords.
    """

    def decorate(call: Callable[..., int]) -> Callable[..., int]:
        own = inspect.signature(call, eval_str=True).parameters.values()
        parameters = [each for each in own if each.kind is not each.VAR_KEYWORD]
        for name in names.split():
            option = OPTIONS[name]
            kind = NAMES if name in repeated.split() else option.kind
            about = Parameter(
                group=option.group, help=words.get(name, option.help), show_default=False
            )
            default = inspect.Parameter.empty if name in required.split() else None
            parameters.append(
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=default,
                    annotation=Annotated[kind if default is not None else kind | None, about],
                )
            )
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return call

    return decorate


def chosen(given: Mapping[str, Any], names: str) -> dict[str, Any]:
    """The given options among some."""
    return {name: given[name] for name in names.split() if name in given}


def count_options(app: App) -> dict[str, int]:
    """How many distinct options each command has; those of its own commands are its own."""

    def options_of(command: App) -> set[str]:
        inner = [name for name in command if not name.startswith("-")]
        if inner:
            return set().union(*(options_of(command[name]) for name in inner))
        arguments = command.assemble_argument_collection()
        return {each.name for each in arguments if each.name.startswith("--")}

    return {name: len(options_of(app[name])) for name in app if not name.startswith("-")}
