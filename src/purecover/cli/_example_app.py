"""The command ``purecover example``; what it does lives in the module it imports when run."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from purecover.cli._options import OUTPUT, Quiet, Text

__all__ = ["example"]


def example(
    *,
    out: Annotated[Text, Parameter(group=OUTPUT)] = None,
    quiet: Annotated[Quiet, Parameter(group=OUTPUT)] = False,
) -> int:
    """Write scores to try the other commands on: example_scores.csv.

    1,797 hand-written digits, 300 of the odd ones labeled. The columns are score, labeled and
    truth; 40.48 % of the unlabeled are odd.

    Parameters
    ----------
    out
        CSV file to write; - for standard output; example_scores.csv by default.
    quiet
        Do not say where it was written.
    """
    from purecover.cli._example import run_example

    return run_example(out=out, quiet=quiet)
