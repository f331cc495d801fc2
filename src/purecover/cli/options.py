"""The table of options: each is a parameter of the library under its own name.

A command names the options it takes. What nobody typed is not passed on, so that the defaults are
those of the library.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

from cyclopts import Group, Parameter

from purecover.cli.output import STDIO, CommandError, option
from purecover.exceptions import PurecoverError, Words

STAND_IN = "<->"
"""For a lone "-" while arguments are parsed: cyclopts takes it for an option."""

BESIDE = "<beside>"
"""For the value of --judged where it has none: the file of answers next to FILE."""

_PERCENTAGE = re.compile(r"\+?(\d+(?:[.,]\d+)?|[.,]\d+)\s*(%?)")


def _typed(token: Any) -> tuple[str, str]:
    """The option, and its value as it was typed."""
    value = str(token.value)
    return str(token.keyword), STDIO if value == STAND_IN else value


def _read_by(parse: Callable[[str], Any], what: str) -> Callable[[Any, Any], Any]:
    """Return a converter of cyclopts; percentages and commas are refused with a hint."""

    def convert(_: Any, tokens: Any) -> Any:
        option, text = _typed(tokens[0])
        try:
            return parse(text)
        except ValueError:
            hint = _hint(text) if parse in (float, _share) else ""
            message = f"{option} must be {what}, got {text[:80]!r}.{hint}"
            raise CommandError(message) from None

    return convert


def _hint(text: str) -> str:
    """Return a hint that corrects 25% or 0,25, as the last line of an error message."""
    match = _PERCENTAGE.fullmatch(text.strip())
    if match is None:
        return ""
    value = float(match[1].replace(",", ".")) / (100 if match[2] else 1)
    return f"\nHint: write {value:.6g}."


def _target(text: str) -> str | float:
    """Return a named population or a prior; the library checks the name."""
    try:
        return float(text)
    except ValueError:
        return text


_RANGE = re.compile(r"(<=|>=)?\s*([^<>=]+?)(?:\s*\.\.\s*([^<>=]+))?")


def _share(text: str) -> float | tuple[float, float]:
    """Return a share, or the ends of 0.02..0.1, <=0.1 or >=0.9."""
    match = _RANGE.fullmatch(text.strip())
    if match is None or (match[1] and match[3]):
        raise ValueError
    value = float(match[2])
    if match[3]:
        return value, float(match[3])
    return {"<=": (0.0, value), ">=": (value, 1.0)}.get(match[1], value)


def _hits(text: str) -> tuple[int, int]:
    positive, _, followed = text.partition("/")
    return int(positive), int(followed)


def _words(_: Any, tokens: Any) -> tuple[str, ...]:
    """Words with commas between them, or repeated options."""
    return tuple(w.strip() for token in tokens for w in _typed(token)[1].split(","))


_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(B|kB|MB|GB|)", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}


def _bytes(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    size = 0 if match is None else round(float(match[1]) * _UNITS[match[2].lower()])
    if size < 1:
        raise ValueError
    return size


def _values(text: str) -> dict[str, float]:
    pairs = (each.partition("=") for each in text.split(","))
    return {name.strip(): float(value) for name, _, value in pairs}


def _kind(type_: Any, parse: Callable[[str], Any], what: str) -> Any:
    return Annotated[type_, Parameter(converter=_read_by(parse, what), n_tokens=1)]


# The converters of cyclopts round 1.5 to 2 in silence, and do not know what 25 % is.
TEXT: Any = str
FLAG: Any = bool
NAMES: Any = tuple[str, ...]
NUMBER = _kind(float, float, "a number")
SHARE = _kind(float, _share, "a number, or a range such as 0.02..0.1 or '<= 0.1'")
HITS = _kind(str, _hits, "two numbers such as 25/40: 25 of 40 followed up were positive")
VALUES = _kind(str, _values, "metrics and values such as auc=0.7,recall=0.8")
WHOLE = _kind(int, int, "a whole number")
TARGET = _kind(str | float, _target, "a name or a number")
BYTES = _kind(int, _bytes, "a size such as 200MB or 2GB")
WORDS: Any = Annotated[tuple[str, ...], Parameter(converter=_words, n_tokens=1)]
SWITCH: Any = Annotated[bool, Parameter(negative=None)]  # --no-browser turns it off
QUIET: Any = Annotated[bool, Parameter(alias="-q")]


class Option(NamedTuple):
    """Type, help and group of an option."""

    kind: Any
    help: str
    group: Group | None = None


_TABLE: dict[Group, dict[str, Option]] = {
    Group("Data", sort_key=1): {
        "score": Option(NAMES, "Column of scores; larger means more positive. Obvious names are "
            "found."),
        "labeled": Option(TEXT, "Column of labels: 1/0, true/false, positive/unlabeled. Obvious "
            "names are found."),
        "positive_label": Option(TEXT, "Value that means labeled, if it is not obvious."),
        "negative_label": Option(TEXT, "Value that marks known negatives, a third kind of row."),
        "missing_is_unlabeled": Option(FLAG, "Count blank labels (also NA and null) as unlabeled."),
        "sample_weight": Option(TEXT, "Column of sample weights."),
        "truth": Option(TEXT, "Column of true classes, which the report shows next to the "
            "estimates."),
        "groups": Option(TEXT, "Column of groups of dependent rows (one patient), resampled "
            "together."),
        "by": Option(TEXT, "Column of groups: the table has a row for each, and --json the report "
            "of each."),
        "negatives": Option(TEXT, "Second file, of known negatives, such as "
            "mokapot.decoys.psms.txt. FILE then has no labels."),
    },
    Group("Assumptions", sort_key=2): {
        "alpha": Option(SHARE, "Share of positives among the unlabeled, from 0 to 1, or a range "
            "of it: 0.02..0.1 or '<= 0.1'. Estimated if omitted."),
        "judged": Option(TEXT, "Answers of people who judged rows: a file of purecover judge or "
            "audit sample, by default the one next to FILE (FILE:COLUMN if its verdicts are not in "
            "the column 'positive'); or a column of FILE."),
        "hits": Option(HITS, "A past hit rate: 25/40 if 25 of 40 unlabeled rows that were followed "
            "up for their high scores were positive."),
        "hits_from": Option(TARGET, "Which rows were followed up: rows with at least this score, "
            "or some of the 500 highest (top:500). By default the highest."),
        "beta": Option(SHARE, "Share of positives among the labeled; 1 means that no label is "
            "wrong. By default 1 if alpha is given; otherwise estimated."),
        "prior": Option(SHARE, "Share of positives in the population, instead of --alpha."),
        "label_frequency": Option(SHARE, "Probability that a positive is labeled (censoring), "
            "instead of --alpha or --prior."),
        "scenario": Option(TEXT, "How the data were drawn. case-control: labeled and unlabeled "
            "rows separately. censoring: one sample, some of whose positives are labeled."),
        "estimator": Option(TEXT, "Estimator of alpha and beta, such as alphamax-n; purecover "
            "priors lists all."),
        "assume": Option(NAMES, "Assumption that helps to estimate alpha; may be repeated. "
            "pure-top: the highest scores are all positives. clean-labels: the same as --beta 1. "
            "random-verdicts: judged rows are a random sample of all unlabeled and of all labeled "
            "ones."),
        "target": Option(TARGET, "Population that precision is for: population, deployment (like "
            "the unlabeled), pooled (labeled and unlabeled together) or a prior in [0, 1]."),
        "pi0": Option(NUMBER, "Share of negatives in the mixture. Estimated if omitted."),
        "estimators": Option(WORDS, "Names with commas between them, such as "
            "default,alphamax-n,bbe; an unknown name shows the list. By default all estimators for "
            "scores."),
    },
    Group("Metrics", sort_key=3): {
        "threshold": Option(NUMBER, "Scores of at least this count as positive; the best Youden "
            "index by default."),
        "review": Option(WHOLE, "Number of unlabeled rows you can review, instead of --threshold: "
            "the lowest threshold that flags no more of them is used."),
        "at_least": Option(VALUES, "Values of auc, recall or precision of all positives, such as "
            "auc=0.7, for a given --alpha. The report has how much easier labeled positives must "
            "be to miss them."),
        "top_k": Option(WHOLE, "Add precision and recall of this many highest-scoring unlabeled "
            "rows."),
        "probabilities": Option(FLAG, "Scores are probabilities of the true class: add Brier "
            "score, log loss, calibration and net benefit."),
        "metrics": Option(NAMES, "Metric of the table, such as roc_auc; may be repeated. By "
            "default roc_auc, auc_pr, precision and recall."),
        "precision": Option(NUMBER, "At least this precision, then the highest recall."),
        "recall": Option(NUMBER, "At least this recall, flagging the fewest."),
        "fpr": Option(NUMBER, "At most this false-positive rate, then the highest recall."),
        "best": Option(TEXT, "Metric to maximize: f1, mcc, youden or another metric of a "
            "threshold."),
    },
    Group("Intervals and checks", sort_key=4): {
        "n_resamples": Option(WHOLE, "Bootstrap resamples; 0 for none."),
        "confidence_level": Option(NUMBER, "Confidence level of intervals and bands (default "
            "0.95)."),
        "random_state": Option(WHOLE, "Seed of everything random (default 0)."),
        "ignore_checks": Option(NAMES, "Code of a check to silence, such as PU005; may be "
            "repeated."),
        "n_jobs": Option(WHOLE, "Rows of the table computed at the same time."),
    },
    Group("Audit", sort_key=5): {
        "width": Option(NUMBER, "Width of the interval, such as 0.1 for 0.2 to 0.3."),
        "figure": Option(TEXT, "What the interval is of: auc, alpha, positives (their number), "
            "precision or recall; the last two at --threshold or --review."),
        "design": Option(TEXT, "top (default) draws unlabeled rows with high scores, of which the "
            "fewest are needed; random draws from all unlabeled rows; stratified draws evenly from "
            "strata of the score."),
        "n": Option(WHOLE, "Number of unlabeled rows to draw (default 10)."),
        "n_labeled": Option(WHOLE, "Number of labeled rows to draw too, if labels may be wrong "
            "(default 0)."),
        "columns": Option(WORDS, "Columns to copy, with commas between them; by default all but "
            "scores and labels, which would influence the judges."),
        "until": Option(TEXT, "Stop when the interval has this width: 0.1, or 'precision 0.1'."),
        "judge": Option(TEXT, "Name of the judge, for a file of several."),
        "scores": Option(TEXT, "File of scores and labels: plan for its rows with high scores. "
            "Without it, plan for unlabeled rows drawn at random."),
    },
    Group("Drift", sort_key=5): {
        "name": Option(TEXT, "Name of the partition; the file's name without its ending by "
            "default."),
        "replace": Option(FLAG, "Replace the partition of the same name instead of refusing it."),
        "false_alarms": Option(NUMBER, "Probability of ever finding drift where there is none "
            "(default 0.05)."),
        "fail_on_drift": Option(FLAG, "Exit with 1 if the last partition differs from those before "
            "it."),
    },
    Group("Server", sort_key=5): {
        "port": Option(WHOLE, "Port to listen on; 0, the default, takes a free one."),
        "browser": Option(SWITCH, "Open the page in your browser."),
        "token": Option(SWITCH, "Require the secret in the printed address, to keep other users "
            "out."),
        "max_upload": Option(BYTES, "Largest file, also after unpacking: a number and B, kB, MB or "
            "GB (default 200MB)."),
        "timeout": Option(WHOLE, "Seconds that a report may take (default 600)."),
    },
    Group("Output", sort_key=9): {
        "json": Option(FLAG, "Print one JSON document and nothing else."),
        "csv": Option(TEXT, "Write all rows and columns to this CSV file."),
        "html": Option(TEXT, "Write the result as a web page to this file."),
        "markdown": Option(TEXT, "Write the report as Markdown to this file."),
        "plot": Option(TEXT, "Draw the estimates into this file: .png, .svg or .pdf."),
        "out": Option(TEXT, "CSV file to write; - for standard output."),
        "details": Option(FLAG, "Print all metrics, checks, assumptions and settings as well."),
        "strict": Option(FLAG, "Exit with 1 if a check finds an error or a warning."),
        "fail_on": Option(WORDS, "Exit with 1 if one of these checks finds something, such as "
            "PU002,PU008."),
        "quiet": Option(QUIET, "Print no report, notes or progress."),
    },
}  # fmt: skip

OPTIONS = {
    name: about._replace(group=group)
    for group, options in _TABLE.items()
    for name, about in options.items()
}
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
    "--weight": "--sample-weight",
}
"""Options by the names they had before 0.2, which scripts may still use."""

_ELSEWHERE = {"frame": "FILE", "data": "FILE", "paths": "FILE",
              "path": "STATE", "file": "FILE"}  # fmt: skip


def option_of(parameter: str) -> str:
    """Return the name of a parameter of the library on the command line."""
    if parameter in _ELSEWHERE:
        return _ELSEWHERE[parameter]
    name = "score" if parameter == "scores" else parameter
    return option(name) if name in OPTIONS else name


def _worded(text: str) -> str:
    """Return words with options where they name parameters."""

    def named(parameter: str) -> str:
        name, sign, value = parameter.partition("=")
        return option_of(name) + (sign + value if value not in ("", "True") else "")

    return text.by(named) if isinstance(text, Words) else text


def in_options(error: PurecoverError) -> str:
    """The message of an error, about an option where the library names its parameter."""
    if isinstance(error, CommandError):
        return str(error)
    if error.parameter is None or error.must is None:
        said = str(error.args[0]).removeprefix("{function}: ").replace("{function}", "purecover")
    else:
        said = f"{option_of(error.parameter)} must be {_worded(error.must)}, got {error.got}."
    return said if error.hint is None else f"{said}\nHint: {_worded(error.hint)}"


def explain(error: Exception) -> str:
    """Return what a person reads of an error, whatever it is."""
    if isinstance(error, PurecoverError):
        return in_options(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for this data"
    if isinstance(error, OSError):  # a disk that is full, a stream that breaks
        where = f": {error.filename}" if error.filename else ""
        return f"{error.strerror or error}{where}"
    return f"internal error, {type(error).__name__}: {str(error)[:500]}"


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
