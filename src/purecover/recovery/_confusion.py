"""The recovered confusion matrix: how many of each kind to expect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from purecover._typing import FloatArray, Repair
from purecover._validation import check_choice, check_instance, check_real
from purecover.counts import ScoreCounts
from purecover.proportions import MixtureProportions
from purecover.recovery._metrics import position, rates_at_thresholds
from purecover.recovery._rates import PROPORTIONS_HINT
from purecover.recovery._roc import RecoveredRoc, recover_roc

__all__ = ["RecoveredConfusion", "recover_confusion"]


@dataclass(frozen=True, kw_only=True)
class RecoveredConfusion:
    """Expected numbers of true and false predictions at a threshold.

    Attributes
    ----------
    tp, fp, fn, tn : float
        Expected numbers; they add up to the size of the sample.
    threshold : float
        Positive is a score of at least this.
    among : {"unlabeled", "pooled"}
        The sample spoken of.
    """

    tp: float
    fp: float
    fn: float
    tn: float
    threshold: float
    among: Literal["unlabeled", "pooled"]

    @property
    def flagged(self) -> float:
        """How many are predicted positive, ``tp + fp``."""
        return self.tp + self.fp

    def matrix(self) -> FloatArray:
        """``[[tn, fp], [fn, tp]]``, as scikit-learn's ``confusion_matrix`` has it."""
        return np.array([[self.tn, self.fp], [self.fn, self.tp]])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        names = ("tp", "fp", "fn", "tn", "threshold", "among")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        return (
            f"of the {self.flagged:,.0f} {self.among} at or above {self.threshold:.6g} about "
            f"{self.tp:,.0f} are positive; about {self.fn:,.0f} positives are below"
        )


def recover_confusion(
    counts: ScoreCounts,
    proportions: MixtureProportions,
    threshold: float,
    *,
    among: Literal["unlabeled", "pooled"] = "unlabeled",
    repair: Repair = "isotonic",
) -> RecoveredConfusion:
    r"""Recover the confusion matrix against the true classes.

    Parameters
    ----------
    counts : ScoreCounts
        The counted scores.
    proportions : MixtureProportions
        Alpha and beta.
    threshold : float
        Scores of at least this are predicted positive.
    among : {"unlabeled", "pooled"}, default="unlabeled"
        Whether to speak of the unlabeled, whom one would follow up, or of labeled and
        unlabeled together.
    repair : str, default="isotonic"
        How rates are repaired; see :func:`recover_metrics`.

    Returns
    -------
    RecoveredConfusion
        Expected numbers, in general not whole.

    See Also
    --------
    recover_metrics : Ratios of these numbers.
    choose_threshold : Picks a threshold.

    Notes
    -----
    With :math:`n` examples, the prior :math:`\pi` of the sample and the number :math:`m` at or
    above the threshold, :math:`tp = n\pi\,tpr` (at most :math:`m`), :math:`fp = m - tp` and
    :math:`fn = n\pi - tp`.

    Examples
    --------
    >>> from purecover import MixtureProportions, ScoreCounts, recover_confusion
    >>> counts = ScoreCounts.from_counts([1, 0], labeled=[625, 375], unlabeled=[275, 725])
    >>> print(recover_confusion(counts, MixtureProportions(0.25, 0.75), threshold=1))
    of the 275 unlabeled at or above 1 about 200 are positive; about 50 positives are below
    """
    name = "recover_confusion"
    check_instance(
        name, "counts", counts, ScoreCounts, "build it with ScoreCounts.from_scores(...)"
    )
    check_instance(name, "proportions", proportions, MixtureProportions, PROPORTIONS_HINT)
    check_choice(name, "among", among, ("unlabeled", "pooled"))
    threshold = check_real(name, "threshold", threshold)
    roc = recover_roc(counts, proportions, repair=repair)
    return confusion_from_roc(roc, counts, threshold, among)


def confusion_from_roc(
    roc: RecoveredRoc,
    counts: ScoreCounts,
    threshold: float,
    among: Literal["unlabeled", "pooled"] = "unlabeled",
) -> RecoveredConfusion:
    """The confusion matrix of a recovered curve."""
    at = position(counts, threshold)
    tpr = float(rates_at_thresholds(roc, counts)[1][at])
    n, flagged = counts.n_unlabeled, counts.unlabeled[:at].sum().item()
    if among == "pooled":
        n, flagged = n + counts.n_labeled, flagged + counts.labeled[:at].sum().item()
    positives = n * roc.proportions.prior("pooled" if among == "pooled" else "deployment", counts)
    # How many are flagged is known; only how many of them are positive is estimated.
    tp = min(positives * tpr, flagged)
    return RecoveredConfusion(
        tp=tp,
        fp=flagged - tp,
        fn=positives - tp,
        tn=n - flagged - (positives - tp),
        threshold=threshold,
        among=among,
    )
