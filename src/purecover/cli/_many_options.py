"""Options that only ``purecover evaluate-many`` has."""

from __future__ import annotations

from dataclasses import dataclass

from cyclopts import Parameter

from purecover.cli._options import (
    ASSUMPTIONS,
    DATA,
    CurveOptions,
    Names,
    SeveralScores,
    ShareOptions,
    TableOptions,
    Text,
)

__all__ = ["ManyOptions", "TaskAssumptionOptions"]


@Parameter(name="*", group=DATA)
@dataclass(frozen=True, kw_only=True)
class ManyOptions(TableOptions, SeveralScores):
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

    labeled: Names = ()  # type: ignore[assignment]
    by: Text = None


@Parameter(name="*", group=ASSUMPTIONS)
@dataclass(frozen=True, kw_only=True)
class TaskAssumptionOptions(CurveOptions, ShareOptions):
    """What is known about the labels of all tasks.

    Parameters
    ----------
    alpha
        Share of positives among the unlabeled, in all tasks; estimated in each if nothing is
        said.
    """
