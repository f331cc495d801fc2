"""``purecover evaluate-data``."""

from __future__ import annotations

import csv
import gzip
import io
import shlex
from dataclasses import replace
from typing import Any

import numpy as np

from purecover.cli._data import (
    check_codes,
    check_prior_knowledge,
    describe_source,
    note_blank_labels,
    parse_target,
)
from purecover.cli._feature_rows import (
    FeatureRows,
    check_feature_options,
    make_scores,
    read_feature_rows,
)
from purecover.cli._messages import note
from purecover.cli._options import (
    COMMAND_LINE,
    AssumptionOptions,
    DataOptions,
    IntervalOptions,
    Model,
)
from purecover.cli._output import check_outputs, print_json, write_atomically
from purecover.cli._progress import progress_bars
from purecover.html import render_report
from purecover.report._evaluate import evaluate

__all__ = ["run_evaluate_data"]

_NAME = "evaluate_data"


def run_evaluate_data(
    file: str,
    data: DataOptions,
    assumptions: AssumptionOptions,
    *,
    features: str | None,
    drop: str | None,
    truth: str | None,
    model: Model,
    folds: int,
    jobs: int | None,
    estimator: str | None,
    threshold: float | None,
    resamples: int | None,
    intervals: IntervalOptions,
    json: bool,
    html: str | None,
    scores_out: str | None,
    strict: bool,
    quiet: bool,
    markdown: str | None = None,
) -> int:
    """Read, train, score, evaluate, print, write, return the exit code."""
    check_prior_knowledge(assumptions)
    target = parse_target(assumptions.target)
    ignore = check_codes(intervals.ignore_check)
    check_feature_options(features, drop, folds)
    outputs = {"--html": html, "--markdown": markdown, "--scores-out": scores_out}
    check_outputs(outputs, not_this=file)
    with progress_bars(quiet=quiet) as steps:
        read = read_feature_rows(
            file,
            data,
            function=_NAME,
            features=features,
            drop=drop,
            truth=truth,
            group=intervals.group,
            progress=steps("Reading"),
        )
        read.features.say(quiet=quiet)
        rows = read.rows
        made = make_scores(
            _NAME,
            read,
            model=model,
            folds=folds,
            jobs=jobs,
            seed=intervals.seed,
            progress=steps("Training"),
        )
        rows = replace(rows, scores=made.scores)
        report = evaluate(
            rows.scores,
            rows.label_column,
            negative_label=rows.negative_label,
            sample_weight=rows.weights,
            groups=rows.groups,
            truth=rows.truth,
            alpha=assumptions.alpha,
            beta=assumptions.beta,
            prior=assumptions.prior,
            label_frequency=assumptions.label_frequency,
            scenario=assumptions.scenario,
            estimator=estimator,
            target=target,
            repair=assumptions.repair,
            threshold=threshold,
            confidence_level=intervals.confidence_level,
            n_resamples=resamples,
            random_state=intervals.seed,
            ignore_checks=ignore,
            progress=steps("Resampling"),
        )
        report = replace(report, scores_from=made.description)
    if html is not None:
        command = shlex.join(["purecover", *COMMAND_LINE.get()])
        with write_atomically("--html", html) as page:
            page.write(render_report(report, command=command).encode())
    if markdown is not None:
        with write_atomically("--markdown", markdown) as text:
            text.write(report.to_markdown().encode())
    if scores_out is not None:
        _write_scores(scores_out, read, made.scores)
    if json:
        document = report.to_dict()
        document["source"] = describe_source(file, rows) | {"features": read.features.to_dict()}
        print_json(document)
    elif not quiet:
        print(report)  # noqa: T201
    note_blank_labels(rows, quiet=quiet)
    for what, path in (("report", html), ("report", markdown), ("scores", scores_out)):
        if path is not None:
            note(f"{what} written to {path}", quiet=quiet)
    serious = any(check.fired and check.severity == "error" for check in report.checks)
    return 1 if strict and serious else 0


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
