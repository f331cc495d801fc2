"""Commands: ``evaluate``, ``evaluate-many``, ``error-rates`` and ``evidence``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import purecover as pu
from purecover._shell import Shell
from purecover.cli import output
from purecover.cli.options import COLUMNS, chosen, in_options, takes
from purecover.cli.output import CommandError, show
from purecover.exceptions import PurecoverError

if TYPE_CHECKING:
    from purecover.cli.files import Request
    from purecover.cli.rows import FileRows
    from purecover.report.many import ManyRow

SHARES = "alpha beta scenario estimator"
_EVALUATION = (
    f"{SHARES} hits hits_from prior label_frequency assume target threshold review top_k "
    "probabilities at_least n_resamples confidence_level random_state ignore_checks"
)


@takes(
    f"{COLUMNS} negative_label sample_weight truth groups judged by {_EVALUATION} "
    "json html markdown details strict fail_on quiet",
    score="Column of scores; larger means more positive. Obvious names are found without it. "
    "Repeat it to compare several models on the same rows; the first is the baseline.",
    n_resamples="Bootstrap resamples; 0 for none. By default 2000, and fewer of many scores.",
)
def evaluate(file: str, /, *more_files: str, **given: Any) -> int:
    """Recover the true performance behind the scores in FILE.

    With several --score, models are compared on the same rows.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input. Also a folder of such files, or a pattern such as
        'scores/*.parquet'.
    more_files
        Further files, folders or patterns: the rows of all are counted together.
    """
    from purecover._validation import check_names
    from purecover.checks import CHECKS
    from purecover.cli.counting import evaluate_counted, files_to_count
    from purecover.cli.rows import Columns, read_rows
    from purecover.documents.details import shell_text
    from purecover.documents.formats import number_of

    files, settings = (file, *more_files), chosen(given, _EVALUATION)
    columns, by = Columns.among(given), given.get("by")
    if len(columns.score) > 1:
        hint = "Hint: several are written by --html and --json."
        output.refuse(f"is for one score.\n{hint}", markdown=given.get("markdown"))
    if by is not None:
        hint = "is for one report, and --by makes one for each group.\nHint: --html has all."
        output.refuse(hint, markdown=given.get("markdown"))
    check_names("fail_on", given.get("fail_on", ()), choices=CHECKS)
    counted = files_to_count(files, columns, given)
    for name in counted or files:
        output.check_outputs(given, "html markdown", not_this=name)
    if counted is None:
        rows = read_rows(file, columns, several=True, **chosen(given, "truth groups judged"))
        found = evaluate_rows(rows, **settings)
        source = rows.source(file)
        if n := getattr(rows.judged, "n_skipped", 0):
            said = f"no verdict on {number_of(n, 'drawn row')}; alpha is wrong if doubt is why"
            output.note(said, quiet="quiet" in given)
    else:
        found, source = evaluate_counted(files, counted, columns, by, settings)
    if by is None:
        shell = shell_of(files, source["columns"], given)
        page, markdown = partial(render, found, source, shell), getattr(found, "to_markdown", str)
        text = shell_text(found, source["file"], shell, details="details" in given)
        output.deliver(found, given, source, text=text, html=page, markdown=markdown)
    else:
        _deliver_groups(found, source, given)
    return exit_code(found, given)


def evaluate_rows(rows: FileRows, **settings: Any) -> Any:
    """Return a report, or a comparison of several scores."""
    from purecover.report.settings import gathered

    several = len(rows.score_columns) > 1
    call: Any = pu.compare_scores if several else pu.evaluate
    scores = rows.score_columns if several else rows.scores
    return call(scores, **gathered({**rows.companions, **settings}))


def exit_code(found: Any, given: Mapping[str, Any]) -> int:
    """Return 1 if alpha and beta contradict the scores, or a check fails the command; else 0.

    With --strict errors and warnings of checks do so, with --fail-on the checks that it names.
    """
    if isinstance(found, pu.report.ManyReports):
        said = [
            f"task {show(row.task)}, score {show(row.score)}: alpha and beta contradict the "
            "scores; evaluate it alone to see which alpha they allow"
            for row in found
            if row.contradicted
        ]
        findings = {finding for row in found for finding in row.findings}
    else:
        reports = {"": found} if isinstance(found, pu.PUReport) else found.reports
        said = [
            f"{name}: {report.contradiction}".removeprefix(": ")
            for name, report in reports.items()
            if report.contradicted
        ]
        checks = [check for report in reports.values() for check in report.findings]
        findings = {(check.code, check.severity) for check in checks}
    for message in said:
        output.say(f"purecover: {message}")
    fatal = {"error", "warning"} if "strict" in given else set()
    codes = given.get("fail_on", ())
    return int(bool(said) or any(code in codes or how in fatal for code, how in findings))


def shell_of(files: Sequence[str], found: Mapping[str, Any], given: Mapping[str, Any]) -> Shell:
    """Return what other commands about the same rows need: the file, columns and their meaning."""
    from purecover.cli.files import answers_beside

    one = files[0] if len(files) == 1 and Path(files[0]).is_file() else None
    kept = chosen(given, f"{COLUMNS} negative_label")
    if given.keys() & {"truth", "groups", "sample_weight", "judged"}:  # which need not be taken
        kept |= {role: found[role] for role in ("score", "labeled")}
    return Shell(one, kept, judged=one is not None and answers_beside(one).exists())


def render(
    found: Any,
    source: Mapping[str, Any],
    shell: Shell | None = None,
    command: str | None = None,
) -> str:
    """Return the page of what a command found, and which command made it."""
    from purecover.html import page as pages

    page, command = getattr(pages, found._renderer), command or output.typed_command()
    return str(page(found, command=command, source=source, shell=shell))


def _deliver_groups(many: Any, source: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Print a table, or a document with every report whole."""
    if not many.evaluated:
        first = many.failed[0]
        raise CommandError(
            f"no group could be evaluated; the first, {show(first.task)}: {first.reason}."
        )
    document = many.to_dict()
    for row, found in zip(document["rows"], many, strict=True):
        row["report"] = found.report
    bounds = [report.bounds for report in many.reports.values() if report.bounds is not None]
    text = str(many)
    if bounds:
        known = 1.05 * max(each.width for each in bounds)  # what two digits may round off
        text += f"\nscores counted in bins: observed AUCs are known to within {known:.2g}"
    page = partial(render, many, source)
    output.deliver(many, given, source, text=text, document=document, html=page)


_MANY = "alpha beta scenario metrics n_resamples n_jobs"


@takes(
    f"{COLUMNS} negative_label by {_MANY} json csv html strict quiet",
    repeated="labeled",
    score="Column of scores, or a pattern such as 'model_*'; may be repeated. Obvious names are "
    "found without it.",
    labeled="Column that says who carries the positive label, or a pattern such as 'GO:*'; repeat "
    "it for several tasks. Obvious names are found without it.",
    by="Column that says which task a row belongs to.",
    n_resamples="Bootstrap resamples of each row; 500 by default, 0 for none.",
)
def evaluate_many(file: str, /, **given: Any) -> int:
    """Recover the true performance of many models or on many tasks, as one table.

    A row for each task and score; a task that cannot be evaluated has a row that says why.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    """
    from purecover.cli.files import name_of
    from purecover.report.settings import gathered

    output.check_outputs(given, "csv html", not_this=file)
    tasks, negative = _read_tasks(file, given), -1 if "negative_label" in given else None
    found = pu.evaluate_many(
        tasks.data,
        tasks.labels if tasks.by is None else tasks.labels[0],
        score=tasks.scores,
        by=tasks.by,
        **gathered({"negative_label": negative, **chosen(given, _MANY)}),
    )
    found = replace(found, rows=(*found, *tasks.refused))
    labels = [*tasks.labels, *dict.fromkeys(row.task for row in tasks.refused)]
    columns: dict[str, Any] = {"score": tasks.scores, "labeled": labels}
    columns |= {} if tasks.by is None else {"by": tasks.by}
    source: dict[str, Any] = {"file": name_of(file), "columns": columns}
    source |= {"blank_labels": tasks.n_blank} if "missing_is_unlabeled" in given else {}
    page = partial(render, found, source)
    output.deliver(found, given, source, csv=partial(_as_csv, found), html=page)
    return exit_code(found, given)


@dataclass(frozen=True)
class _Tasks:
    """Columns for the library, rows of labels that cannot be used, and how many were blank."""

    data: Mapping[str, Any]
    scores: list[str]
    labels: list[str]
    by: str | None
    refused: list[ManyRow]
    n_blank: int


def _read_tasks(file: str, given: Mapping[str, Any]) -> _Tasks:
    """Read the file, and settle what its labels mean."""
    import numpy as np

    from purecover.cli.files import Request, choose_columns, name_of, read_table
    from purecover.cli.rows import Columns, read_labels

    source, by = name_of(file), given.get("by")
    meaning = Columns.among({name: given[name] for name in given.keys() - {"score", "labeled"}})
    found: dict[str, list[str]] = {}

    def request(available: list[str]) -> Request:
        choose_columns(source, available, {} if by is None else {"by": by})
        taken = {by}
        for role in ("labeled", "score"):
            asked = given.get(role, ())
            if asked:
                found[role] = _expanded(source, role, asked, available, taken)
            else:
                others = [column for column in available if column not in taken]
                found[role] = [choose_columns(source, others, {role: None})[role]]
            taken |= set(found[role])
        if by is not None and len(found["labeled"]) > 1:
            raise CommandError(
                "--by takes one column given by --labeled, not several.\n"
                "Hint: with several, each is a task of its own; leave --by out."
            )
        scores = {f"score {i}": column for i, column in enumerate(found["score"])}
        labels = {f"labeled {i}": column for i, column in enumerate(found["labeled"])}
        blanks = frozenset(labels if meaning.missing_is_unlabeled else ())
        return Request(scores | labels | ({} if by is None else {"by": by}), blanks)

    table = read_table(file, request, (by, *given.get("score", ()), *given.get("labeled", ())))
    data: dict[str, Any] = {
        column: table.numbers[f"score {i}"] for i, column in enumerate(found["score"])
    }
    refused: list[ManyRow] = []
    errors, n_blank = [], 0
    for i, column in enumerate(found["labeled"]):
        words = table.words[f"labeled {i}"]
        n_blank += words.n_blank
        try:
            data[column] = read_labels(source, column, words, meaning)
        except PurecoverError as error:
            errors.append(error)
            reason = in_options(error).partition("\n")[0]
            row = pu.report.ManyRow(
                task=column, score="", n_labeled=0, n_unlabeled=0, seed=0, reason=reason
            )
            refused += [replace(row, score=score) for score in found["score"]]
    if len(errors) == len(found["labeled"]):
        raise errors[0]
    if by is not None:
        words = table.words["by"]
        data[by] = np.array(words.values)[words.codes]
    labels = [column for column in found["labeled"] if column in data]
    return _Tasks(data, found["score"], labels, by, refused, n_blank)


def _expanded(
    source: str, role: str, asked: Sequence[str], available: list[str], taken: set[Any]
) -> list[str]:
    """Columns by name or pattern, each once."""
    from purecover.cli.files import require_column

    found: dict[str, None] = {}
    for name in asked:
        # An opening bracket is a common part of names, and a set of characters is not needed.
        pattern = name.replace("[", "[[]")
        matching = [c for c in available if c not in taken and fnmatchcase(c, pattern)]
        if name in available or not matching:
            require_column(source, name, available, f"asked for by --{role}")
            matching = [name]
        found |= dict.fromkeys(matching)
    return list(found)


def _as_csv(found: Any) -> str:
    """Return the table of a result as CSV."""
    columns = found._columns()
    return output.csv_text(columns, zip(*(each.tolist() for each in columns.values()), strict=True))


NEGATIVE = ("-1", "-1.0", "decoy", "decoys", "negative", "neg", "control", "background")
"""Values that mark known negatives where nobody says which do."""


@takes(
    "score labeled negative_label negatives pi0 n_resamples csv json quiet",
    labeled="Column that says which rows are known negatives: Label of a .pin file, for one.",
    negative_label="Value that marks known negatives; -1, decoy, negative, control and background "
    "are found.",
    n_resamples="Bootstrap resamples for the intervals; 500 by default.",
)
def error_rates(file: str, /, **given: Any) -> int:
    """False discovery rates, q-values and error probabilities from known negatives and a mixture.

    Targets and decoys, patients and controls, signal and background.

    Parameters
    ----------
    file
        CSV, TSV, JSON or Parquet, also .pin and tab files of Percolator and mokapot; text may be
        gzipped; - reads standard input.
    """
    import numpy as np

    from purecover.cli import files
    from purecover.cli.rows import Columns

    negatives = given.get("negatives")
    output.check_outputs(given, "csv", not_this=file)
    columns = Columns.among(given)
    wanted = columns.roles()
    if negatives is not None:
        del wanted["labeled"]
    scores, negative = [], []
    for name in filter(None, (file, negatives)):
        source = files.name_of(name)
        table = files.read_table(
            name, partial(columns.request, source, wanted=wanted), wanted.values()
        )
        scores.append(table.numbers["score"])
        if negatives is not None:
            negative.append(np.full(scores[-1].size, name == negatives))
            continue
        words, label = table.words["labeled"], columns.negative_label
        marks = NEGATIVE if label is None else (label.casefold(),)
        meaning = np.array([word.strip().casefold() in marks for word in words.values])
        if meaning.all() or not meaning.any():
            what = f"column {show(table.columns['labeled'])} of {source}"
            shown = files.first_few([show(word) for word in words.values])
            raise CommandError(
                f"{what} must distinguish known negatives from the mixture, got {shown}.\n"
                "Hint: name the value that marks known negatives with --negative-label, or their "
                "file with --negatives."
            )
        negative.append(meaning[words.codes])
    found = pu.report.error_rates(
        np.concatenate(scores),
        np.concatenate(negative),
        random_state=0,
        **chosen(given, "pi0 n_resamples"),
    )
    where = {"file": files.name_of(file)}
    output.deliver(found, given, where, csv=partial(_as_csv, found))
    return 0


@takes(
    f"{COLUMNS} alpha beta target n_resamples json html",
    target="Population whose share of positives the odds follow from: population, deployment "
    "(like the unlabeled), pooled (labeled and unlabeled together) or a prior in [0, 1].",
    n_resamples="Bootstrap resamples for the intervals; 500 by default.",
)
def evidence(file: str, /, **given: Any) -> int:
    """Scores that are supporting, moderate, strong or very strong evidence (ACMG/AMP).

    Known pathogenic variants are labeled, those of the population unlabeled.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    """
    from purecover.cli.rows import prepare
    from purecover.documents.thresholds import evidence_text

    output.check_outputs(given, "html", not_this=file)
    how = {"n_resamples": 500, "random_state": 0, **chosen(given, "n_resamples")}
    rows = prepare(file, given, **how)
    proportions, estimation = rows.shares.used, rows.shares.estimation
    found = pu.intervals.evidence_thresholds(
        rows.rows.counts,
        proportions,
        estimator=None if estimation is None else estimation.estimator,
        **chosen(given, "target"),
        **how,
    )
    report, source = rows.report(only=()), rows.read.source(file)
    document = found.to_dict() | {
        "proportions": proportions,
        "intervals": {} if report.estimation is None else report.estimation.intervals,
        "findings": report.warnings_of_data,
    }

    def page() -> str:
        from purecover.html.page import render_evidence

        command = output.typed_command()
        return str(render_evidence(found, report, command=command, source=source, title=None))

    text = evidence_text(found, report)
    output.deliver(found, given, source, text=text, document=document, html=page)
    return 0
