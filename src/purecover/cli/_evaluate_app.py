"""The command ``purecover evaluate``; what it does lives in the modules it imports when run."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from purecover.cli._messages import CommandError
from purecover.cli._options import (
    DATA,
    ComparisonOptions,
    EngineOptions,
    EvaluationOptions,
    ReportOptions,
    ScoresOptions,
    Text,
)

__all__ = ["evaluate"]

NO_SCORES_OPTIONS = ScoresOptions()
NO_ENGINE_OPTIONS = EngineOptions()
NO_EVALUATION_OPTIONS = EvaluationOptions()
NO_COMPARISON_OPTIONS = ComparisonOptions()
NO_REPORT_OPTIONS = ReportOptions()


def evaluate(
    file: str,
    /,
    *more_files: str,
    data: ScoresOptions = NO_SCORES_OPTIONS,
    counting: EngineOptions = NO_ENGINE_OPTIONS,
    truth: Annotated[Text, Parameter(group=DATA)] = None,
    asked: EvaluationOptions = NO_EVALUATION_OPTIONS,
    several: ComparisonOptions = NO_COMPARISON_OPTIONS,
    output: ReportOptions = NO_REPORT_OPTIONS,
) -> int:
    """Recover the true performance behind the scores in FILE.

    With several --score, models are compared on the same rows.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet; text may be
        gzipped; - reads standard input. Also a folder of CSV or Parquet files, or a pattern such
        as 'scores/*.parquet'.
    more_files
        Further files, folders or patterns: the rows of all are counted together.
    truth
        Column of true classes, if you have them: the report then shows them side by side.
    """
    from purecover.cli._engine_choice import choose_engine

    files = (file, *more_files)
    engine = choose_engine(files, data, counting, truth, asked.intervals.group)
    if len(data.score) > 1 and output.markdown is not None:
        raise CommandError(
            "--markdown is for one score.\nHint: several are written by --html and --json."
        )
    if engine is not None and len(data.score) > 1:
        from purecover.cli._compare import run_compare_over_engine

        return run_compare_over_engine(files, data, counting, engine, asked, several, output)
    if engine is not None:
        _refuse(several)
        from purecover.cli._engine import run_over_engine

        return run_over_engine(files, data.one, counting, engine, asked, output)
    if len(data.score) > 1:
        from purecover.cli._compare import run_compare

        return run_compare(file, data, asked, several, output, truth=truth)
    _refuse(several)
    from purecover.cli._evaluate import run_evaluate

    return run_evaluate(file, data.one, asked, output, truth=truth)


def _refuse(options: ComparisonOptions) -> None:
    """Complain about what says nothing about one score."""
    if options.first_given is not None:
        raise CommandError(
            f"{options.first_given} is for several scores.\n"
            "Hint: repeat --score, once for each model."
        )
