"""Rows of many or large files, counted by an engine without loading them."""

from __future__ import annotations

import glob
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from purecover._inputs import column_names, lazy_frame
from purecover._validation import require, show, warn
from purecover.cli.files import (
    FORMATS,
    BadCellsError,
    Words,
    choose_columns,
    complain,
    is_missing,
    opened,
    relation,
)
from purecover.cli.output import STDIO, CommandError, Steps, refuse
from purecover.cli.rows import Columns, read_labels
from purecover.counts import ScoreCounts
from purecover.engines import ENGINES, scan_files
from purecover.report.compare import compare_scores
from purecover.report.many import Job, ManyReports, run_job
from purecover.report.pipeline import evaluate
from purecover.report.tasks import Part

# False for what is no name at all, where Path would complain.
_exists, _is_folder = os.path.exists, os.path.isdir
LARGE = 500_000_000
"""Bytes of a Parquet file beyond which it is counted where it is."""
USUAL_METRICS = ("roc_auc", "auc_pr", "precision", "recall")
_TOLERANCE = 1e-4
_MOST_LABELS = 21  # more than a column of labels can have
_ENGINES = ("duckdb", "_duckdb", "polars", "pyspark", "py4j", "narwhals")
_PACKED = (".gz", ".zst")


def choose_engine(files: Sequence[str], columns: Columns, given: Mapping[str, Any]) -> str | None:
    """The engine that counts the files; None if they are one file whose rows are read.

    Options that only the rows themselves can serve are refused beside an engine. A large Parquet
    file does not bring one along where such an option is given.
    """
    needs_rows = {name: given.get(name) for name in ("truth", "groups")}
    several = len(files) > 1 or _is_folder(files[0]) or _is_pattern(files[0])
    if not several and not given.keys() & {"engine", "by"}:
        counted = not any(needs_rows.values()) and len(columns.score) < 2
        return "duckdb" if counted and _is_large(files[0]) else None
    engine: str = given.get("engine", "duckdb")
    if engine not in ENGINES:
        raise CommandError(f"--engine must be one of {', '.join(ENGINES)}, got {show(engine)}.")
    if STDIO in files:
        raise CommandError(
            f"standard input cannot be counted by {engine}, which may pass over it twice.\n"
            "Hint: write it to a file first."
        )
    refuse(
        f"is not possible where {engine} counts the rows: it needs the rows themselves.\n"
        "Hint: give one file, without --engine.",
        **needs_rows,
    )
    if len(columns.score) > 1:
        refuse(
            f"is for one --score where {engine} counts the rows.\n"
            "Hint: evaluate the scores one by one.",
            by=given.get("by"),
            sample_weight=columns.sample_weight,
        )
    return engine


def expand(files: Sequence[str], engine: str) -> list[str]:
    """Names of files, for those, folders and patterns; all of one format, and each once."""
    found: list[str] = []
    for file in files:
        if "://" in file:  # the engine knows where that is
            found.append(file)
        elif _is_folder(file):
            found += _within(file)
        elif _exists(file):
            found.append(file)
        elif _is_pattern(file):
            # Path.glob takes no absolute patterns.
            matching = sorted(glob.glob(file, recursive=True))  # noqa: PTH207
            if not matching:
                raise CommandError(f"no file matches the pattern {show(file)}.")
            for name in matching:
                found += _within(name) if _is_folder(name) else [name]
        else:
            raise CommandError(f"there is no file {show(file)}.")
    kinds = {name: _format(name) for name in found}
    strange = next((name for name, kind in kinds.items() if kind is None), None)
    if strange is not None:
        raise CommandError(
            f"{show(strange)} cannot be counted by an engine: its name must end in "
            f"{', '.join(FORMATS)}.\nHint: other files are read one at a time, without --engine "
            "and --by."
        )
    if len({"csv" if kind == "tsv" else kind for kind in kinds.values()}) > 1:
        raise CommandError(
            "FILE must be files of one format, got "
            f"{' and '.join(sorted({str(kind) for kind in kinds.values()}))}.\n"
            "Hint: a pattern such as '*.parquet' picks those of one."
        )
    if engine != "duckdb" and "parquet" not in kinds.values():
        raise CommandError(
            f"--engine {engine} reads Parquet; text is read by DuckDB alone, so that a file means "
            "the same everywhere.\nHint: leave --engine out."
        )
    places = [name if "://" in name else os.path.realpath(name) for name in found]
    times = Counter(places)
    twice = next((n for n, place in zip(found, places, strict=True) if times[place] > 1), None)
    if twice is not None:
        raise CommandError(f"{show(twice)} is given twice; its rows would count twice.")
    return found


def _format(name: str) -> str | None:
    suffixes = [s for s in (s.lower() for s in Path(name).suffixes) if s not in _PACKED]
    return FORMATS.get(suffixes[-1]) if suffixes else None


def _within(folder: str) -> list[str]:
    """Files of data in a folder and below it, without those that writers leave beside them."""
    found = []
    for place, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if not name.startswith((".", "_")))
        found += [
            str(Path(place, name))
            for name in sorted(names)
            if not name.startswith((".", "_")) and _format(name) and not name.endswith(".txt")
        ]
    if not found:
        raise CommandError(f"{show(folder)} is a directory, not a file, without files of data.")
    return found


def _is_pattern(file: str) -> bool:
    return "\0" not in file and glob.has_magic(file) and not _exists(file)


def _is_large(file: str) -> bool:
    with suppress(OSError, ValueError):
        return _format(file) == "parquet" and Path(file).stat().st_size > LARGE
    return False


_Counted = tuple[Any, dict[str, str], int | None]
"""A lazy frame whose labels are 1, 0 and -1, its columns by role, and what marks negatives."""


@contextmanager
def _counted_frame(
    files: Sequence[str],
    names: list[str],
    columns: Columns,
    by: str | None,
    engine: str,
    about: dict[str, Any],
) -> Iterator[_Counted]:
    """The rows of files as a frame of the engine."""
    asked = columns.roles(by=by)
    given = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"
    if engine == "duckdb" and not any("://" in name for name in names):
        with _as_ours(engine), opened(names, asked.values()) as found:
            available = [*found[0].names, *found[0].folders]
            request = columns.request(given, available, asked)
            try:
                frame = relation(found, request)
                yield _with_labels(frame, request.columns, given, columns, about)
            except CommandError:
                raise
            except Exception:
                complain(found, request)  # which knows the cell
                raise
        return
    with _as_ours(engine), _session(engine):
        for name in names:
            if "://" in name:
                warn(f"{engine} reads {show(name)} from elsewhere, which may be over the network.")
        frame = scan_files(names, engine=engine)
        chosen = choose_columns(given, column_names(frame), asked)
        yield _with_labels(frame, chosen, given, columns, about)


@contextmanager
def _as_ours(engine: str) -> Iterator[None]:
    """Complaints of an engine as ours."""
    try:
        yield
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
    sql = require("pyspark.sql", extra="spark") if engine == "spark" else None
    if sql is None or sql.SparkSession.getActiveSession() is not None:
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


def _with_labels(
    frame: Any, columns: dict[str, str], given: str, asked: Columns, about: dict[str, Any]
) -> _Counted:
    """The frame with labels of one spelling: 1, 0 for unlabeled, -1 for known negatives."""
    import narwhals.stable.v2 as nw

    column = columns["labeled"]
    about["columns"] = columns
    lazy: Any = lazy_frame(frame)
    label = nw.col(column)
    each = lazy.group_by(column).agg(pu_n=nw.len()).head(_MOST_LABELS).collect()
    rows_of = dict(zip(each[column].to_list(), each["pu_n"].to_list(), strict=True))
    found = sorted(rows_of, key=_text)
    texts = tuple(map(_text, found))
    blank = label.is_null()
    if lazy.collect_schema()[column].is_float():
        blank = blank | label.is_nan()
    for value, text in zip(found, texts, strict=True):
        if isinstance(value, str) and is_missing(text):
            blank = blank | (label == nw.lit(value))
    n_blank = sum(n for value, n in rows_of.items() if is_missing(_text(value)))
    if n_blank and not asked.missing_is_unlabeled:
        raise CommandError(
            f"column {show(column)} of {given}, taken for --labeled, is blank in {n_blank:,} "
            "rows.\nHint: if blank means unlabeled, add --missing-is-unlabeled."
        )
    if asked.missing_is_unlabeled:
        about["blank_labels"] = n_blank
    about["n_rows"] = sum(rows_of.values())
    words = Words(np.arange(len(texts)), texts)
    positive, negative = read_labels(given, column, words, asked)
    coded = nw.lit(0, nw.Int64)
    for code, rows in ((1, positive), (-1, negative)):
        for i in np.flatnonzero(rows) if rows is not None else ():
            if not is_missing(texts[i]):
                is_it = label == nw.lit(found[i])
                coded = nw.when(~blank & is_it).then(nw.lit(code, nw.Int64)).otherwise(coded)
    lazy = lazy.with_columns(coded.alias(column))
    return lazy, columns, None if negative is None else -1


def _text(value: Any) -> str:
    """A label of a frame as a file of text would have it."""
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return ""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(int(value)) if isinstance(value, bool) else str(value)


def evaluate_counted(
    files: Sequence[str],
    names: list[str],
    columns: Columns,
    by: str | None,
    engine: str,
    settings: dict[str, Any],
    steps: Steps,
) -> tuple[Any, dict[str, Any]]:
    """A report, a comparison of several scores or reports by group, and where they come from."""
    steps("Counting")
    source: dict[str, Any] = {
        "file": files[0] if len(files) == 1 else list(files),
        "n_files": len(names),
        "engine": engine,
    }
    try:
        found = _count(files, names, columns, by, engine, settings, source, steps)
    except BadCellsError as error:
        if not error.has_commas:
            raise
        columns = replace(columns, decimal=",")
        found = _count(files, names, columns, by, engine, settings, source, steps)
    return found, source


def _count(
    files: Sequence[str],
    names: list[str],
    columns: Columns,
    by: str | None,
    engine: str,
    settings: dict[str, Any],
    source: dict[str, Any],
    steps: Steps,
) -> Any:
    with _counted_frame(files, names, columns, by, engine, source) as (frame, used, negative):
        if len(columns.score) > 1:
            scores = list(columns.score)
            source["columns"] = {"score": scores, "labeled": used["labeled"]}
            return compare_scores(
                frame,
                used["labeled"],
                score=scores,
                negative_label=negative,
                progress=steps("Resampling"),
                **settings,
            )
        threshold = settings.get("threshold")
        counts = ScoreCounts._count_frame(
            frame,
            {"sample_weight" if role == "weight" else role: c for role, c in used.items()},
            {"positive_label": 1, "negative_label": negative},
            {
                "tolerance": _TOLERANCE,
                "keep": threshold if threshold is None or math.isfinite(threshold) else None,
                "one_sided": by is not None,
                "n_rows": source["n_rows"],
            },
        )
    if by is not None:
        return _by_group(_by_text(counts), used["score"], settings, steps)
    return evaluate(counts[None], progress=steps("Resampling"), **settings)


def _by_text(counts: dict[Any, ScoreCounts]) -> dict[str, ScoreCounts]:
    """Groups by their texts, "1" apart from "01"; in numerical order where all are numbers."""
    texts = {str(group): part for group, part in counts.items()}
    if len(texts) < len(counts):
        raise CommandError("--by names a column in which different groups look the same.")
    order: Any = None
    with suppress(ValueError):
        order = {text: (float(text), text) for text in texts}.get
    return {text: texts[text] for text in sorted(texts, key=order)}


def _by_group(
    counted: Mapping[Any, ScoreCounts], score: str, settings: dict[str, Any], steps: Steps
) -> ManyReports:
    """Each group as `evaluate` sees it, with the same seed."""
    settings = {"n_resamples": 500, "confidence_level": 0.95, "random_state": 0} | settings
    level, advance = settings["confidence_level"], steps("Evaluating")
    rows = []
    for done, (group, counts) in enumerate(counted.items(), start=1):
        sizes = counts.labeled.sum().item(), counts.unlabeled.sum().item()
        part = Part(group, score, *sizes, counts=counts)
        rows.append(run_job(Job(part, settings, USUAL_METRICS, keep=True))[0])
        if advance is not None:
            advance(done, len(counted))
    return ManyReports(
        rows=tuple(rows),
        metrics=USUAL_METRICS,
        confidence_level=level,
        n_resamples=settings["n_resamples"],
        random_state=settings["random_state"],
    )
