"""What one run of the study leaves behind: tidy rows of plain values."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Record"]


class Record(NamedTuple):
    """One number measured in one run, one tidy row of the study.

    A run is one draw of labeled and unlabeled examples: a data set, a share of positives among
    the labeled, and the number of the repeat.

    Parameters
    ----------
    dataset : str
        Short name of the data set, for example ``"bank"``.
    beta : float
        Share of positives among the labeled examples: 1, 0.95 or 0.75.
    repeat : int
        Number of the repeat, from 0.
    metric : {"auc", "auc_pr", "alpha", "beta"}
        What is measured.
    method : str
        Where the number comes from.

        - ``"traditional"``: the truth of the paper, a classifier trained on positives against
          negatives;
        - ``"same"``: the truth of the very scores that are evaluated, against the true classes;
        - ``"observed"``: labeled against unlabeled, nothing corrected;
        - ``"direct"``: equation 4 of the paper, AUC only;
        - ``"indirect"``: the area under the recovered curve;
        - ``"estimate"``: an estimate of ``alpha`` or ``beta``;
        - ``"true"``: the true ``alpha`` or ``beta`` of the draw.
    estimator : str
        Who gave alpha and beta: ``"true"`` where they were known, else the name of an
        estimator, or ``""`` where none is needed.
    repair : str
        How the recovered curve was made a curve, or ``""`` where there is none.
    value : float
        The number itself.
    low, high : float or None
        Ends of its interval, where one was computed.

    Examples
    --------
    >>> from purecover.studies._records import Record
    >>> row = Record("bank", 0.95, 0, "auc", "direct", "true", "", 0.87, 0.84, 0.90)
    >>> row.method, row.value
    ('direct', 0.87)
    """

    dataset: str
    beta: float
    repeat: int
    metric: str
    method: str
    estimator: str
    repair: str
    value: float
    low: float | None = None
    high: float | None = None
