"""``purecover evaluate`` over files that an engine counts."""

from __future__ import annotations

import glob
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from operator import itemgetter
from typing import Any

from purecover._frames import column_names, lazy_frame
from purecover._validation import require, show
from purecover.cli._columns import choose_columns
from purecover.cli._data import asked_columns, plain_labels, unlabeled_like
from purecover.cli._engine_choice import expand
from purecover.cli._evaluate import any_serious, deliver_report, note_written, settings_for
from purecover.cli._messages import CommandError, in_options, note, rename
from purecover.cli._options import (
    DataOptions,
    EngineOptions,
    EvaluationOptions,
    ReportOptions,
    undash,
)
from purecover.cli._output import check_outputs, print_json
from purecover.cli._progress import Steps, progress_bars
from purecover.counts import ScoreCounts
from purecover.engines import scan_files
from purecover.exceptions import MissingDependencyError, PurecoverError
from purecover.html.words import at_most
from purecover.report.evaluation import evaluate
from purecover.report.many import Job, ManyReports, ManyRow, Part, Settings, run_job

__all__ = ["opened", "run_over_engine"]

_NAME = "purecover evaluate"
_TOLERANCE = 1e-4
_MOST_LABELS = 21  # more than a column of labels can have
_METRICS = ("roc_auc", "auc_pr", "precision", "recall")
_WORDS = {"paths": "FILE", "frame": "FILE", "score": "--score", "by": "--by"}
_ENGINES = ("duckdb", "_duckdb", "polars", "pyspark", "py4j", "narwhals")
_OF_SETTINGS = ("threshold", "confidence_level", "n_resamples", "random_state", "ignore_checks")
_OF_PROPORTIONS = ("alpha", "beta", "prior", "label_frequency", "scenario", "estimator")


def run_over_engine(
    files: Sequence[str],
    data: DataOptions,
    options: EngineOptions,
    engine: str,
    asked: EvaluationOptions,
    output: ReportOptions,
) -> int:
    """Count, evaluate, print, write, return the exit code."""
    if asked.intervals.resamples is None and options.by is not None:
        asked = replace(asked, intervals=replace(asked.intervals, resamples=500))
    settings = settings_for(asked)
    for option, path in output.paths.items():
        if path is not None and options.by is not None:
            raise CommandError(
                f"{option} is for one report, and --by makes one for each group.\n"
                "Hint: --json prints all of them."
            )
    names = expand(files)
    for name in names:
        check_outputs(output.paths, not_this=name)
    with progress_bars(quiet=output.quiet) as steps:
        steps("Counting")
        counted, source = _count(files, names, data, options, engine, settings["threshold"])
        if options.by is None:
            report = evaluate(counted[None], progress=steps("Resampling"), **settings)
        else:
            many = _by_group(counted, source["columns"]["score"], settings, steps)
    blank = source.get("blank_labels")
    if options.by is None:
        deliver_report(report, source, output)
        serious = any_serious(report.checks)
    else:
        _deliver_many(many, source, json=output.json, quiet=output.quiet)
        serious = any(how == "error" for row in many for _, how in row.findings)
    if blank is not None:
        note(f"{blank:,} blank labels count as unlabeled", quiet=output.quiet)
    note_written(output)
    return 1 if output.strict and serious else 0


# -- counts -----------------------------------------------------------------------------------


def _count(
    files: Sequence[str],
    names: list[str],
    data: DataOptions,
    options: EngineOptions,
    engine: str,
    threshold: float | None,
) -> tuple[dict[Any, ScoreCounts], dict[str, Any]]:
    """Counts by group, one group None without --by, and where they come from."""
    with opened(files, names, data, options, engine) as (frame, columns, labels, source):
        roles = {"weight": "sample_weight"}
        tolerance = _TOLERANCE if options.tolerance is None else options.tolerance
        counted = ScoreCounts._count_frame(
            frame,
            {roles.get(role, role): column for role, column in columns.items()},
            labels,
            {
                "tolerance": tolerance,
                "keep": threshold if threshold is None or math.isfinite(threshold) else None,
                "one_sided": options.by is not None,
            },
        )
    return counted, source


@contextmanager
def opened(
    files: Sequence[str],
    names: list[str],
    data: DataOptions,
    options: EngineOptions,
    engine: str,
    more_scores: tuple[str | None, ...] = (),
) -> Iterator[tuple[Any, dict[str, str], dict[str, Any], dict[str, Any]]]:
    """A lazy frame of the files, its columns by role, its labels, and where it comes from."""
    others = {f"score {i}": column for i, column in enumerate(more_scores, start=2)}
    asked = asked_columns(
        {"score": data.score, "labeled": data.labeled, **others},
        {"weight": data.weight, "by": options.by},
    )
    given = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"
    with _in_words(engine), _session(engine):
        # To an engine each name is a pattern, also one that only looks like it.
        patterns = [name if "://" in name else glob.escape(name) for name in names]
        frame = scan_files(patterns, engine=engine, memory_limit=options.memory_limit)
        columns = choose_columns(given, column_names(frame), asked)
        source: dict[str, Any] = {
            "file": files[0] if len(files) == 1 else list(files),
            "n_files": len(names),
            "engine": engine,
            "columns": columns,
        }
        labels = _labels(frame, columns["labeled"], data)
        if data.missing_is_unlabeled:
            what = f"column {show(columns['labeled'])} of {given}, taken for --labeled,"
            frame, source["blank_labels"] = _filled(frame, columns["labeled"], what, labels)
        yield frame, columns, labels, source


@contextmanager
def _in_words(engine: str) -> Iterator[None]:
    """Complaints of the library in the words of options, and those of the engine as ours."""
    try:
        yield
    except (CommandError, MissingDependencyError):
        raise
    except PurecoverError as error:
        raise CommandError(in_options(rename(str(error), _WORDS))) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in _ENGINES:
            raise
        said = next((line for line in str(error).splitlines() if line.strip()), "no reason given")
        raise CommandError(
            f"{engine} could not count the rows: {said.strip()[:300].rstrip('.')}."
        ) from error


@contextmanager
def _session(engine: str) -> Iterator[None]:
    """A session of Spark that is over when this is, unless there was one before."""
    if engine != "spark":
        yield
        return
    sql = require("pyspark.sql", extra="spark")
    if sql.SparkSession.getActiveSession() is not None:
        yield
        return
    # Its bars would run into ours.
    builder = sql.SparkSession.builder.appName("purecover")
    try:
        session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    except Exception as error:
        said = next(iter(str(error).splitlines()), type(error).__name__)
        raise CommandError(
            f"Spark could not be started: {said[:200].rstrip('.')}.\n"
            "Hint: it needs Java 17 or newer; set JAVA_HOME if that is installed."
        ) from error
    try:
        session.sparkContext.setLogLevel("ERROR")
        yield
    finally:
        session.stop()


def _labels(frame: Any, column: str, data: DataOptions) -> dict[str, Any]:
    """The labels that options name, as values of a column of truth values if it is one."""
    import narwhals.stable.v2 as nw

    is_boolean = isinstance(lazy_frame(frame).collect_schema()[column], nw.Boolean)  # type: ignore[union-attr]
    truth = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
    labels: dict[str, Any] = {}
    for name in ("positive_label", "negative_label"):
        value = undash(getattr(data, name))
        if is_boolean and value is not None:
            value = truth.get(value.strip().casefold(), value)
        labels[name] = value
    return labels


def _filled(frame: Any, column: str, what: str, labels: Mapping[str, Any]) -> tuple[Any, int]:
    """The frame with a value that means unlabeled where the label is missing, and how many are."""
    import narwhals.stable.v2 as nw

    lazy: Any = lazy_frame(frame)
    dtype = lazy.collect_schema()[column]
    label = nw.col(column)
    missing = label.is_null() | label.is_nan() if dtype.is_float() else label.is_null()
    ones = nw.when(missing).then(nw.lit(1, nw.Int64)).otherwise(nw.lit(0, nw.Int64))
    total = lazy.select(pu_missing=ones).select(nw.col("pu_missing").sum()).collect()
    distinct = lazy.filter(~missing).select(pu_label=label).unique().head(_MOST_LABELS).collect()
    found = sorted(distinct["pu_label"].to_list())
    if not found:
        raise CommandError(f"{what} is blank everywhere; no row is labeled.")
    named = (str(int(v)) if isinstance(v, bool) else v for v in labels.values())
    value = unlabeled_like(what, plain_labels(tuple(found), "."), *named)
    if isinstance(dtype, nw.Boolean):  # which has no third value
        label, dtype = label.cast(nw.Int64).cast(nw.Float64), nw.Float64()
    elif dtype.is_numeric():  # unsigned ones have no -1
        label, dtype = label.cast(nw.Float64), nw.Float64()
    elif isinstance(value, float):  # numbers as words, in whatever spelling
        value = next((word for word in found if float(word) == value), f"{value:g}")
    filled = nw.when(missing).then(nw.lit(value, dtype)).otherwise(label)
    return lazy.with_columns(filled.alias(column)), int(total["pu_missing"][0] or 0)


# -- a report for each group --------------------------------------------------------------------


def _by_group(
    counted: Mapping[Any, ScoreCounts], score: str, settings: dict[str, Any], steps: Steps
) -> ManyReports:
    """Each group as `evaluate` sees it, with the same seed."""
    own = {*_OF_SETTINGS, *_OF_PROPORTIONS}
    how = Settings(
        metrics=_METRICS,
        level=settings["confidence_level"],
        simultaneous=False,
        n_resamples=settings["n_resamples"],
        ignore_checks=settings["ignore_checks"],
        threshold=settings["threshold"],
        options={name: value for name, value in settings.items() if name not in own},
        keep=True,
    )
    given = {name: settings[name] for name in _OF_PROPORTIONS}
    seed = settings["random_state"]
    advance = steps("Evaluating")
    rows = []
    for done, (group, counts) in enumerate(sorted(counted.items(), key=itemgetter(0)), start=1):
        rows.append(_row(group, score, counts, given, seed, how))
        if advance is not None:
            advance(done, len(counted))
    return ManyReports(
        rows=tuple(rows),
        metrics=_METRICS,
        confidence_level=how.level,
        simultaneous=None,
        row_level=how.level,
        n_resamples=how.n_resamples,
        random_state=seed,
    )


def _row(
    group: Any, score: str, counts: ScoreCounts, given: Mapping[str, Any], seed: int, how: Settings
) -> ManyRow:
    n_labeled, n_unlabeled = counts.labeled.sum().item(), counts.unlabeled.sum().item()
    part = Part(group, score, n_labeled, n_unlabeled, counts=counts)
    if part.missing_side is not None:
        return ManyRow(
            task=group,
            score=score,
            n_labeled=n_labeled,
            n_unlabeled=n_unlabeled,
            seed=seed,
            reason=part.missing_side,
        )
    row = run_job(Job(part, given, seed, how)).row
    return row if row.reason is None else replace(row, reason=in_options(row.reason))


def _deliver_many(many: ManyReports, source: dict[str, Any], *, json: bool, quiet: bool) -> None:
    """Print a table, or a document with every report whole."""
    if not many.evaluated:
        first = many.failed[0]
        raise CommandError(
            f"no group could be evaluated; the first, {show(first.task)}: {first.reason}."
        )
    if json:
        document = many.to_dict()
        for row, found in zip(document["rows"], many, strict=True):
            row["report"] = None if found.report is None else found.report.to_dict()
        document["source"] = source
        print_json(document)
    elif not quiet:
        print(many)  # noqa: T201
        every = [report.bounds for report in many.reports.values()]
        widths = [bounds.width for bounds in every if bounds is not None]
        if widths:
            print(  # noqa: T201
                f"scores counted in bins: observed AUCs are known to within {at_most(max(widths))}"
            )
