"""Candidates tried on the same rows, and the choice among them."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from purecover._frozen import FrozenDict
from purecover._typing import FloatArray, IntArray
from purecover.exceptions import InvalidInputError, InvalidTypeError
from purecover.intervals._paired_auc import RowwiseAuc, rowwise_auc
from purecover.models._folds import Split
from purecover.models._table import Examples
from purecover.models._unseen import unseen_scores

__all__ = ["CandidateScore", "Tried", "choose", "tabulate", "try_candidates"]


@dataclass(frozen=True, kw_only=True)
class CandidateScore:
    """How a candidate of :class:`BestScorer` did.

    Attributes
    ----------
    name : str
        Its name.
    auc_pu : float
        Observed AUC of its scores of rows it has not seen; NaN if it failed.
    standard_error : float
        Standard error of that.
    gain, gain_error : float
        By how much it exceeds the observed AUC of the candidate chosen (negative if it falls
        short), and the standard error of this difference on the same rows.
    seconds : float
        Time its scores took.
    how : str
        How they were made.
    error : str or None
        Why it failed.
    """

    name: str
    auc_pu: float = math.nan
    standard_error: float = math.nan
    gain: float = math.nan
    gain_error: float = math.nan
    seconds: float = math.nan
    how: str = ""
    error: str | None = None


@dataclass(frozen=True, eq=False)
class Tried:
    """A candidate that worked."""

    scores: FloatArray
    area: RowwiseAuc
    seconds: float
    how: str
    model: Any = None  # fitted to all rows, where its scores needed that


def try_candidates(
    function: str,
    candidates: Mapping[str, Any],
    examples: Examples,
    *,
    splits: list[Split],
    n_jobs: int | None,
) -> tuple[dict[str, Tried], dict[str, str]]:
    """Candidates that worked, and of the others why not; an error if none worked."""
    tried: dict[str, Tried] = {}
    failed: dict[str, str] = {}
    only_types = True
    for key, candidate in candidates.items():
        start = time.perf_counter()
        try:
            found = unseen_scores(function, candidate, examples, cv=splits, n_jobs=n_jobs)
        except Exception as error:  # noqa: BLE001 - one candidate must not stop the others
            failed[key] = f"{type(error).__name__}: {error}"
            only_types = only_types and isinstance(error, TypeError)
            continue
        area = rowwise_auc(found.scores, examples.positive)
        seconds = time.perf_counter() - start
        tried[key] = Tried(found.scores, area, seconds, found.description, found.model)
    if not tried:
        reasons = "\n".join(f"{key}: {reason}" for key, reason in failed.items())
        kind = InvalidTypeError if only_types else InvalidInputError
        raise kind(f"{function} has no candidate that could be fitted.\n{reasons}")
    return tried, failed


def choose(
    tried: Mapping[str, Tried], rule: str, confidence_level: float, groups: IntArray | None
) -> str:
    """The name of the best candidate, or of the simplest that none beats beyond chance."""
    if rule == "best":
        return max(tried, key=lambda key: tried[key].area.auc_pu)  # the first of equals
    from scipy.special import ndtri

    z = float(ndtri(confidence_level))
    chosen, *later = tried
    for key in later:
        gain, error = tried[key].area.gain_over(tried[chosen].area, groups)
        if gain > z * error:
            chosen = key
    return chosen


def tabulate(
    names: list[str],
    tried: Mapping[str, Tried],
    failed: Mapping[str, str],
    chosen: str,
    groups: IntArray | None,
) -> Mapping[str, CandidateScore]:
    """How each candidate did, in the order tried."""
    best = tried[chosen].area
    rows = {}
    for name in names:
        if name in failed:
            rows[name] = CandidateScore(name=name, error=failed[name])
            continue
        gain, gain_error = tried[name].area.gain_over(best, groups)
        rows[name] = CandidateScore(
            name=name,
            auc_pu=tried[name].area.auc_pu,
            standard_error=tried[name].area.error(groups),
            gain=gain,
            gain_error=gain_error,
            seconds=tried[name].seconds,
            how=tried[name].how,
        )
    return FrozenDict(rows)
