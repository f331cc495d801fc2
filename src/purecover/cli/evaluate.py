"""Commands: ``evaluate``, ``evaluate-data``, ``evaluate-many``, ``error-rates``, ``evidence``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli import output
from purecover.cli.output import CommandError, show

if TYPE_CHECKING:
    from purecover._typing import FloatArray
    from purecover.cli.files import Request
    from purecover.cli.rows import Rows
    from purecover.report.many import ManyReports


def evaluate(
    file: str,
    /,
    *more_files: str,
    data: opt.ScoresOptions = opt.ScoresOptions(),
    counting: opt.EngineOptions = opt.EngineOptions(),
    truth: Annotated[opt.Text, Parameter(group=opt.DATA)] = None,
    group: opt.GroupColumn = None,
    asked: opt.EvaluationOptions = opt.EvaluationOptions(),
    several: opt.ComparisonOptions = opt.ComparisonOptions(),
    wanted: opt.ReportOptions = opt.ReportOptions(),
) -> int:
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
    truth
        Column of true classes, if you have them: the report then shows them side by side.
    """
    scores, files, settings = data.scores, (file, *more_files), asked.settings
    _check_scores(scores, several, wanted)
    if len(scores) > 1:
        settings |= vars(several)
    from purecover.cli.counting import choose_engine, evaluate_counted, expand
    from purecover.cli.rows import read_rows

    engine = choose_engine(files, data, counting, {"truth": truth, "group": group})
    names = list(files) if engine is None else expand(files)
    for name in names:
        output.check_outputs(wanted.paths, not_this=name)
    if counting.by is not None:
        output.refuse(
            "is for one report, and --by makes one for each group.\n"
            "Hint: --json prints all of them.",
            html=wanted.html,
            markdown=wanted.markdown,
        )
        if settings["n_resamples"] is None:
            settings["n_resamples"] = 500
    with output.progress_bars(quiet=wanted.quiet) as steps:
        if engine is None:
            steps("Reading")
            rows = read_rows(file, data, truth=truth, group=group)
            found = evaluate_rows(rows, progress=steps("Resampling"), **settings)
            source, blank = rows.source(file), rows.blank_note
        else:
            found, source = evaluate_counted(files, names, data, counting, engine, settings, steps)
            n_blank = source.get("blank_labels")
            blank = None if n_blank is None else f"{n_blank:,} blank labels count as unlabeled"
    serious = (deliver if counting.by is None else _deliver_groups)(found, source, wanted)
    if blank is not None:
        output.note(blank, quiet=wanted.quiet)
    return 1 if say_contradicted(found) or (wanted.strict and serious) else 0


def evaluate_rows(rows: Rows, **settings: Any) -> Any:
    """A report, or a comparison of several scores."""
    several = len(rows.score_columns) > 1
    call: Any = pu.compare_scores if several else pu.evaluate
    scores = rows.score_columns if several else rows.scores
    return call(scores, rows.label_column, **rows.companions, **settings)


def _check_scores(
    scores: Sequence[str], several: opt.ComparisonOptions, wanted: opt.ReportOptions
) -> None:
    """Complain about what says nothing about so many scores."""
    if len(scores) < 2:
        hint = "Hint: repeat --score, once for each model."
        output.refuse(f"is for several scores.\n{hint}", **vars(several))
        return
    hint = "Hint: several are written by --html and --json."
    output.refuse(f"is for one score.\n{hint}", markdown=wanted.markdown)
    twice = next((name for name in scores if scores.count(name) > 1), None)
    if twice is not None:
        raise CommandError(f"--score {show(twice)} is given twice.")
    if several.estimate_from is not None and several.estimate_from not in scores:
        raise CommandError(
            f"--estimate-from must be one of the columns given by --score, got "
            f"{show(several.estimate_from)}.\n"
            f"Hint: they are {', '.join(map(show, scores))}."
        )


# -- evaluate-data --------------------------------------------------------------------------------


class FeatureTableOptions(opt.TableOptions, group=opt.DATA):
    """Where the labels are.

    Parameters
    ----------
    labeled
        Column that says who carries the positive label: 1/0, true/false, positive/unlabeled.
        Obvious names are found without it.
    weight
        Column of sample weights; they count in the figures, not in the training.
    """


def evaluate_data(
    file: str,
    /,
    *,
    table: FeatureTableOptions = FeatureTableOptions(),
    truth: Annotated[opt.Text, Parameter(group=opt.DATA)] = None,
    learning: opt.FeatureOptions = opt.FeatureOptions(),
    group: opt.GroupColumn = None,
    asked: opt.EvaluationOptions = opt.EvaluationOptions(),
    wanted: opt.ReportOptions = opt.ReportOptions(),
    scores_out: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
) -> int:
    """Train a model on the features in FILE and recover its true performance.

    The model learns labeled against unlabeled; every row is scored by a model that has not seen
    it. Numbers are used as they are, texts of few values get a column for each value, and blank
    cells are filled in; what was done is said on standard error. Rows of one group stay together.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    truth
        Column of true classes, if you have them: the report then shows them side by side. No
        model sees it.
    scores_out
        Write the scores to this CSV file, in the order of the rows, for the other commands;
        gzipped if it ends in .gz.
    """
    from purecover.cli.features import evaluate_features, read_feature_rows

    output.check_outputs({**wanted.paths, "--scores-out": scores_out}, not_this=file)
    with output.progress_bars(quiet=wanted.quiet) as steps:
        steps("Reading")
        features, rows = read_feature_rows(file, table, learning, truth=truth, group=group)
        features.say(quiet=wanted.quiet)
        report, scores = evaluate_features(features, rows, learning, asked.settings, steps)
    if scores_out is not None:
        content = _scores_as_csv(rows, scores)
        output.write_file("--scores-out", scores_out, content, "scores", quiet=wanted.quiet)
    source = rows.source(file) | {"features": features.to_dict()}
    serious = deliver(report, source, wanted)
    rows.note_blanks(quiet=wanted.quiet)
    return 1 if say_contradicted(report) or (wanted.strict and serious) else 0


def _scores_as_csv(rows: Rows, scores: FloatArray) -> str:
    """Scores in the order of the file, as ``purecover evaluate`` reads them."""
    columns: dict[str, list[Any]] = {
        "score": scores.tolist(),
        "labeled": rows.label_column.astype(int).tolist(),
    }
    if "weight" in rows.columns:
        columns["weight"] = rows.table.numbers["weight"].tolist()
    if rows.truth is not None:
        columns["truth"] = rows.truth.astype(int).tolist()
    if "group" in rows.columns:
        group = rows.table.words["group"]
        columns["group"] = [group.values[code] for code in group.codes.tolist()]
    return output.csv_text(columns, zip(*columns.values(), strict=True))


# -- what evaluate and evaluate-data give ---------------------------------------------------------


def deliver(found: Any, source: dict[str, Any], wanted: opt.ReportOptions) -> bool:
    """Write and print a report or a comparison; return whether a check found an error."""
    # Written first: if that fails, nothing was printed. Told last, where one looks.
    if wanted.markdown is not None:
        output.write_file("--markdown", wanted.markdown, found.to_markdown(), "report", quiet=True)
    if wanted.html is not None:
        page = render(found, output.typed_command(), source, wanted.title)
        output.write_file("--html", wanted.html, page, "report", quiet=True)
    output.print_result(found, json=wanted.json, quiet=wanted.quiet, source=source)
    for path in filter(None, wanted.paths.values()):
        output.note(f"report written to {path}", quiet=wanted.quiet)
    reports = [found] if isinstance(found, pu.PUReport) else found.reports.values()
    return any_serious(check for report in reports for check in report.checks)


def say_contradicted(found: Any) -> bool:
    """Say on standard error, however quiet, where alpha and beta contradict the scores."""
    if isinstance(found, pu.PUReport):
        said = [found.contradiction]
    elif hasattr(found, "baseline"):
        said = [
            f"{name}: {report.contradiction}"
            for name, report in found.reports.items()
            if report.contradicted
        ]
    else:
        said = [
            f"task {show(row.task)}, score {show(row.score)}: alpha and beta contradict the "
            "scores; evaluate it alone to see which alpha they allow"
            for row in found
            if row.contradicted
        ]
    for message in filter(None, said):
        output.say(f"purecover: {message}")
    return any(said)


def render(found: Any, command: str, source: Mapping[str, Any], title: str | None = None) -> str:
    """The page of what a command found, and which command made it."""
    from purecover.html import page as pages

    page: Any = {
        pu.PUReport: pages.render_report,
        pu.report.ManyReports: pages.render_many,
    }.get(type(found), pages.render_comparison)
    return str(page(found, command=command, title=title, source=source))


def _deliver_groups(many: Any, source: dict[str, Any], wanted: opt.ReportOptions) -> bool:
    """Print a table, or a document with every report whole."""
    from purecover._documents.formats import at_most

    if not many.evaluated:
        first = many.failed[0]
        raise CommandError(
            f"no group could be evaluated; the first, {show(first.task)}: {first.reason}."
        )
    if wanted.json:
        document = many.to_dict()
        for row, found in zip(document["rows"], many, strict=True):
            row["report"] = found.report
        output.print_json(document | {"source": source})
    elif not wanted.quiet:
        output.tell(many)
        every = [report.bounds for report in many.reports.values()]
        widths = [bounds.width for bounds in every if bounds is not None]
        if widths:
            known = f"observed AUCs are known to within {at_most(max(widths))}"
            output.tell(f"scores counted in bins: {known}")
    return _any_grave(many)


def any_serious(checks: Iterable[Any]) -> bool:
    """Whether a check found an error."""
    return any(check.fired and check.severity == "error" for check in checks)


def _any_grave(many: ManyReports) -> bool:
    return any(how == "error" for row in many for _, how in row.findings)


# -- evaluate-many --------------------------------------------------------------------------------


class ManyOptions(opt.TableOptions, opt.SeveralScores, group=opt.DATA):
    """Where scores, labels and tasks are.

    Parameters
    ----------
    score
        Column of scores, or a pattern such as 'model_*'; may be repeated. Obvious names are found
        without it.
    labeled
        Column that says who carries the positive label, or a pattern such as 'GO:*'; repeat it
        for several tasks. Obvious names are found without it.
    missing_is_unlabeled
        Count blank cells (also NA and null) of the labeled columns as unlabeled.
    by
        Column that says which task a row belongs to.
    """

    labeled: opt.Names = ()  # type: ignore[assignment]
    by: opt.Text = None


class TaskAssumptionOptions(opt.CurveOptions, opt.ShareOptions, group=opt.ASSUMPTIONS):
    """What is known about the labels of all tasks.

    Parameters
    ----------
    alpha
        Share of positives among the unlabeled, in all tasks; estimated in each if nothing is
        said.
    """


class TaskOptions(opt.Options):
    """What is wanted of each task.

    Parameters
    ----------
    min_rows
        Do not evaluate tasks with fewer labeled or fewer unlabeled rows.
    estimate_from
        Which of several score columns alpha and beta of a task are estimated from; by default
        the one with the highest observed AUC.
    metrics
        Metric of the table, such as roc_auc; may be repeated. By default roc_auc, auc_pr,
        precision and recall.
    simultaneous
        Make the intervals of a metric hold for all rows at once.
    n_jobs
        Rows worked on at the same time.
    """

    min_rows: Annotated[opt.Positive, Parameter(group=opt.DATA)] = 10
    estimate_from: Annotated[opt.Text, Parameter(group=opt.ASSUMPTIONS)] = None
    metrics: Annotated[opt.Names, Parameter("--metric", group=opt.METRICS)] = opt.USUAL_METRICS
    simultaneous: Annotated[
        Literal["bonferroni", "sidak"] | None, Parameter(group=opt.INTERVALS)
    ] = None
    n_jobs: Annotated[opt.Positive | None, Parameter("--jobs", group=opt.INTERVALS)] = None


class TaskIntervalOptions(opt.CheckedOptions, group=opt.INTERVALS):
    """How sure one may be.

    Parameters
    ----------
    n_resamples
        Bootstrap resamples of each row; 0 for none.
    """

    n_resamples: Annotated[opt.Whole, Parameter("--resamples")] = 500


def evaluate_many(
    file: str,
    /,
    *,
    data: ManyOptions = ManyOptions(),
    tasks: TaskOptions = TaskOptions(),
    assumptions: TaskAssumptionOptions = TaskAssumptionOptions(),
    measures: opt.MeasureOptions = opt.MeasureOptions(),
    intervals: TaskIntervalOptions = TaskIntervalOptions(),
    json: opt.Json = False,
    csv: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
    html: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
    strict: opt.Strict = False,
    quiet: Annotated[opt.Quiet, Parameter(group=opt.OUTPUT)] = False,
) -> int:
    """Recover the true performance of many models or on many tasks, as one table.

    A row for each task and score; a task that cannot be evaluated has a row that says why.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    csv
        Write all rows and columns to this CSV file.
    html
        Write the table as a web page to this file.
    quiet
        Print no table, notes or progress.
    """
    from purecover.cli.files import name_of

    output.check_outputs({"--csv": csv, "--html": html}, not_this=file)
    with output.progress_bars(quiet=quiet) as steps:
        steps("Reading")
        rows = _read_tasks(file, data)
        found = pu.evaluate_many(
            rows.data,
            rows.labels[0] if "by" in rows.single else rows.labels,
            score=rows.scores,
            by=rows.single.get("by"),
            sample_weight=rows.weight,
            negative_label=None if data.negative_label is None else -1,
            progress=steps("Evaluating"),
            **vars(assumptions),
            **vars(tasks),
            **vars(measures),
            **vars(intervals),
        )
    found = _in_words(found, rows)
    columns = {"score": rows.scores, "labeled": [*rows.labels, *rows.refused], **rows.single}
    source = {"file": name_of(file), "columns": columns}
    output.print_result(found, json=json, quiet=quiet, source=source)
    if csv is not None:
        output.write_file("--csv", csv, _as_csv(found), "table", quiet=quiet)
    if html is not None:
        page = render(found, output.typed_command(), source)
        output.write_file("--html", html, page, "table", quiet=quiet)
    if data.missing_is_unlabeled:
        output.note(f"{rows.n_blank:,} blank labels count as unlabeled", quiet=quiet)
    return 1 if say_contradicted(found) or (strict and _any_grave(found)) else 0


@dataclass(frozen=True)
class _Tasks:
    """Columns for the library, those of labels that cannot be used, and how many were blank."""

    data: Mapping[str, Any]
    scores: list[str]
    labels: list[str]
    single: Mapping[str, str]
    weight: Any
    refused: Mapping[str, CommandError]
    n_blank: int


def _read_tasks(file: str, options: ManyOptions) -> _Tasks:
    """Read the file and settle what its labels mean."""
    import numpy as np

    from purecover.cli.files import Request, choose_columns, name_of, read_table
    from purecover.cli.rows import count_blanks, read_labels

    source = name_of(file)
    chosen: dict[str, list[str]] = {}
    asked_for = {"by": options.by, "weight": options.weight}
    single = {role: column for role, column in asked_for.items() if column is not None}

    def request(available: list[str]) -> Request:
        choose_columns(source, available, single)
        taken = set(single.values())
        for role in ("labeled", "score"):
            asked = getattr(options, role)
            if asked:
                chosen[role] = _expanded(source, role, asked, available, taken)
            else:
                others = [column for column in available if column not in taken]
                chosen[role] = [choose_columns(source, others, {role: None})[role]]
            taken |= set(chosen[role])
        if "by" in single and len(chosen["labeled"]) > 1:
            raise CommandError(
                "--by takes one column given by --labeled, not several.\n"
                "Hint: with several, each is a task of its own; leave --by out."
            )
        numbers = {f"score {i}": column for i, column in enumerate(chosen["score"])}
        words = {f"labeled {i}": column for i, column in enumerate(chosen["labeled"])}
        blanks = frozenset(words if options.missing_is_unlabeled else ())
        for role, column in single.items():
            (words if role == "by" else numbers)[role] = column
        return Request(numbers, words, blanks, options.decimal)

    asked = (*single.values(), *options.score, *options.labeled)
    table = read_table(file, request, options, asked)
    data = {column: table.numbers[f"score {i}"] for i, column in enumerate(chosen["score"])}
    refused: dict[str, CommandError] = {}
    n_blank = 0
    for i, column in enumerate(chosen["labeled"]):
        words = table.words[f"labeled {i}"]
        n_blank += count_blanks(words)
        try:
            labeled, negative = read_labels(source, column, words, options)
        except CommandError as error:
            refused[column] = error
            continue
        data[column] = labeled.astype(int)
        if negative is not None:
            data[column] -= negative
    if len(refused) == len(chosen["labeled"]):
        raise next(iter(refused.values()))
    if "by" in single:
        words = table.words["by"]
        data[single["by"]] = np.array(words.values)[words.codes]
    return _Tasks(
        data=data,
        scores=chosen["score"],
        labels=[column for column in chosen["labeled"] if column not in refused],
        single=single,
        weight=table.numbers.get("weight"),
        refused=refused,
        n_blank=n_blank,
    )


def _expanded(
    source: str, role: str, asked: Sequence[str], available: list[str], taken: set[str]
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


def _in_words(found: ManyReports, rows: _Tasks) -> ManyReports:
    """The rows with those of columns of labels that cannot be used, in the words of options."""
    made = [
        row if row.reason is None else replace(row, reason=output.in_options(row.reason))
        for row in found
    ]
    reasons = {column: str(error).partition("\n")[0] for column, error in rows.refused.items()}
    made += [
        pu.report.ManyRow(
            task=column, score=score, n_labeled=0, n_unlabeled=0, seed=0, reason=reason
        )
        for column, reason in reasons.items()
        for score in rows.scores
    ]
    return replace(found, rows=tuple(made))


def _as_csv(found: ManyReports) -> str:
    columns = found.frame()
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    blank = (("" if isinstance(v, float) and v != v else v for v in row) for row in rows)  # noqa: PLR0124
    return output.csv_text(columns, blank)


# -- Error rates against known negatives ---------------------------------------------------------


NEGATIVE = ("-1", "-1.0", "decoy", "decoys", "negative", "neg", "control", "background")
"""Values that mark known negatives where nobody says which do."""


class MirrorOptions(opt.DataOptions, group=opt.DATA):
    """Where the scores are, and which rows are known negatives.

    Parameters
    ----------
    score
        Column of scores; larger means more of a signal. Obvious names are found without it.
    labeled
        Column that says which rows are known negatives: Label of a .pin file, for one.
    negative_label
        Value that marks known negatives; -1, decoy, negative, control and background are found.
    """


class MirrorIntervalOptions(opt.IntervalOptions, group=opt.INTERVALS):
    """How sure one may be.

    Parameters
    ----------
    n_resamples
        Bootstrap resamples for the intervals.
    """

    n_resamples: Annotated[opt.Positive, Parameter("--resamples")] = 500


def error_rates(
    file: str,
    /,
    *,
    data: MirrorOptions = MirrorOptions(),
    negatives: Annotated[opt.Text, Parameter(group=opt.DATA)] = None,
    pi0: Annotated[opt.Share | None, Parameter(group=opt.ASSUMPTIONS)] = None,
    estimator: Annotated[opt.Text, Parameter(group=opt.ASSUMPTIONS)] = None,
    intervals: MirrorIntervalOptions = MirrorIntervalOptions(),
    csv: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
    json: opt.Json = False,
    quiet: Annotated[opt.Quiet, Parameter(group=opt.OUTPUT)] = False,
) -> int:
    """False discovery rates, q-values and error probabilities from known negatives and a mixture.

    Targets and decoys, patients and controls, signal and background.

    Parameters
    ----------
    file
        CSV, TSV, JSON or Parquet, also .pin and tab files of Percolator and mokapot; text may be
        gzipped; - reads standard input.
    negatives
        A second file with the known negatives, such as mokapot.decoys.psms.txt; FILE is then the
        mixture alone, and no column of labels is needed.
    pi0
        Share of negatives in the mixture, if it is known; estimated by default.
    estimator
        What estimates it; by default the mean of label-curve and Storey's estimate.
    csv
        Write figures at every score to this CSV file.
    quiet
        Print no table or notes.
    """
    import numpy as np

    from purecover.cli import files
    from purecover.cli.rows import asked_columns, row_request

    output.check_outputs({"--csv": csv}, not_this=file)
    wanted = asked_columns(data)
    if negatives is not None:
        del wanted["labeled"]
    scores, negative = [], []
    for name in filter(None, (file, negatives)):
        source = files.name_of(name)
        request = partial(row_request, source, wanted=wanted, options=data)
        table = files.read_table(name, request, data, wanted.values())
        scores.append(table.numbers["score"])
        if negatives is not None:
            negative.append(np.full(scores[-1].size, name == negatives))
            continue
        words = table.words["labeled"]
        said = [word.strip().casefold() for word in words.values]
        marks = NEGATIVE if data.negative_label is None else (data.negative_label.casefold(),)
        meaning = np.array([word in marks for word in said])
        if meaning.all() or not meaning.any():
            what = f"column {show(table.columns['labeled'])} of {source}"
            shown = files.first_few([show(word) for word in words.values])
            raise CommandError(
                f"{what} must tell known negatives from the mixture, got {shown}.\n"
                "Hint: name the value that marks known negatives with --negative-label, or their "
                "file with --negatives."
            )
        negative.append(meaning[words.codes])
    found = pu.report.error_rates(
        np.concatenate(scores),
        np.concatenate(negative),
        pi0=pi0,
        estimator=estimator,
        **vars(intervals),
    )
    output.print_result(found, json=json, quiet=quiet, source={"file": files.name_of(file)})
    if csv is not None:
        columns = found.frame()
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        output.write_file("--csv", csv, output.csv_text(columns, rows), "table", quiet=quiet)
    return 0


# -- Evidence strength of scores ------------------------------------------------------------------


class EvidenceOptions(opt.TargetOptions, opt.ShareOptions, group=opt.ASSUMPTIONS):
    """Alpha and beta, and the population whose prior the odds follow from.

    Parameters
    ----------
    target
        Population whose share of positives the odds follow from: population, deployment (like the
        unlabeled), pooled (labeled and unlabeled together) or a prior in [0, 1].
    """


class EvidencePageOptions(opt.PageOptions, group=opt.OUTPUT):
    """In which ways thresholds are given.

    Parameters
    ----------
    html
        Write a page with the table, the likelihood ratio and what the prior hides to this file.
    title
        Heading of that page, such as the name of the score.
    quiet
        Print no table or notes.
    """


def evidence(
    file: str,
    /,
    *,
    data: opt.DataOptions = opt.DataOptions(),
    assumptions: EvidenceOptions = EvidenceOptions(),
    intervals: MirrorIntervalOptions = MirrorIntervalOptions(),
    wanted: EvidencePageOptions = EvidencePageOptions(),
) -> int:
    """Scores that are supporting, moderate, strong or very strong evidence (ACMG/AMP).

    Known pathogenic variants are labeled, those of the population unlabeled.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input.
    """
    from purecover.checks.catalog import warnings_of_data
    from purecover.cli.rows import read_rows
    from purecover.estimators.choice import check_estimator
    from purecover.proportions import GivenProportions
    from purecover.report.pipeline import (
        ReportSettings,
        ScoredRows,
        find_proportions,
        make_report,
    )
    from purecover.report.text import render_evidence_text

    output.check_outputs({"--html": wanted.html}, not_this=file)
    given = GivenProportions.among(vars(assumptions)).validated(can_estimate=True)
    read = read_rows(file, data)
    counts = read.counts
    proportions, estimation = find_proportions(
        counts, given, None if given.ways else check_estimator(given.estimator)
    )
    found = pu.intervals.evidence_thresholds(
        counts,
        proportions,
        estimator=None if estimation is None else estimation.estimator,
        **{"target": assumptions.target, **vars(intervals)},
    )
    settings = ReportSettings(**vars(intervals))
    report = make_report(ScoredRows(counts), given, (proportions, estimation), settings, only=())
    source = read.source(file)
    if wanted.json:
        ends = {} if report.estimation is None else report.estimation.intervals
        warned = warnings_of_data(report.findings)
        more = {"proportions": proportions, "intervals": ends, "findings": warned}
        output.print_json(found.to_dict() | more | {"source": source})
    elif not wanted.quiet:
        output.tell(render_evidence_text(found, report))
    if wanted.html is not None:
        from purecover.html.page import render_evidence

        about: Any = {"command": output.typed_command(), "source": source, "title": wanted.title}
        page = render_evidence(found, report, **about)
        output.write_file("--html", wanted.html, page, "page", quiet=wanted.quiet)
    read.note_blanks(quiet=wanted.quiet)
    return 0
