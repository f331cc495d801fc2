"""``purecover evaluate-data``."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import replace
from typing import Any

import numpy as np

from purecover.cli._data import describe_source, note_blank_labels
from purecover.cli._evaluate import any_serious, deliver_report, note_written, settings_for
from purecover.cli._feature_rows import FeatureOptions, FeatureRows, make_scores, read_feature_rows
from purecover.cli._messages import note
from purecover.cli._options import EvaluationOptions, ReportOptions, TableOptions
from purecover.cli._output import check_outputs, write_atomically
from purecover.cli._progress import progress_bars
from purecover.report.evaluation import evaluate

__all__ = ["run_evaluate_data"]

_NAME = "evaluate_data"


def run_evaluate_data(
    file: str,
    data: TableOptions,
    features: FeatureOptions,
    asked: EvaluationOptions,
    output: ReportOptions,
    *,
    truth: str | None,
    scores_out: str | None,
) -> int:
    """Read, train, score, evaluate, print, write, return the exit code."""
    settings = settings_for(asked)
    features.check()
    check_outputs({**output.paths, "--scores-out": scores_out}, not_this=file)
    with progress_bars(quiet=output.quiet) as steps:
        read = read_feature_rows(
            file,
            data,
            features,
            truth=truth,
            group=asked.intervals.group,
            progress=steps("Reading"),
        )
        read.features.say(quiet=output.quiet)
        rows = read.rows
        made = make_scores(
            read,
            features,
            default="auto",
            seed=asked.intervals.seed,
            progress=steps("Training"),
        )
        report = evaluate(
            made.scores,
            rows.label_column,
            **rows.companions,
            progress=steps("Resampling"),
            **settings,
        )
        report = replace(report, scores_from=made.description)
    if scores_out is not None:
        _write_scores(scores_out, read, made.scores)
    source = describe_source(file, rows) | {"features": read.features.to_dict()}
    deliver_report(report, source, output)
    note_blank_labels(rows, quiet=output.quiet)
    note_written(output)
    if scores_out is not None:
        note(f"scores written to {scores_out}", quiet=output.quiet)
    return 1 if output.strict and any_serious(report.checks) else 0


def _write_scores(path: str, read: FeatureRows, scores: Any) -> None:
    """Scores in the order of the file, as ``purecover evaluate`` reads them."""
    rows = read.rows
    columns: dict[str, list[Any]] = {
        "score": [repr(score) for score in scores.tolist()],
        "labeled": np.asarray(rows.label_column).astype(int).tolist(),
    }
    if rows.weights is not None:
        columns["weight"] = [repr(weight) for weight in rows.weights.tolist()]
    if rows.truth is not None:
        columns["truth"] = rows.truth.astype(int).tolist()
    if rows.groups is not None:
        group = read.table.words["group"]
        columns["group"] = [group.values[code] for code in group.codes.tolist()]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    content = text.getvalue().encode()
    with write_atomically("--scores-out", path) as out:
        # No time inside, so that equal scores make equal files.
        out.write(gzip.compress(content, mtime=0) if path.endswith(".gz") else content)
