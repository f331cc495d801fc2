"""Dependent rows: the cluster bootstrap."""

from __future__ import annotations

import numpy as np

from purecover._labels import encode_labels, is_missing
from purecover._typing import ArrayLike
from purecover._validation import (
    as_real_vector,
    as_weights,
    bad_type,
    bad_value,
    check_same_length,
    to_numpy,
)
from purecover.counts import ScoreCounts
from purecover.intervals._resample import GroupResampler

__all__ = ["group_resampler"]


def group_resampler(
    scores: ArrayLike,
    labeled: ArrayLike,
    groups: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    positive_label: object = None,
    negative_label: object = None,
) -> GroupResampler:
    """A resampler that draws whole groups of dependent rows.

    Parameters
    ----------
    scores, labeled : array-like of shape (n,)
        As in :meth:`ScoreCounts.from_scores`.
    groups : array-like of shape (n,)
        Which rows belong together: homologous proteins, one patient, one card.
    sample_weight, positive_label, negative_label
        As in :meth:`ScoreCounts.from_scores`.

    Returns
    -------
    GroupResampler
        For the ``resampler`` parameter of :func:`bootstrap`.

    Examples
    --------
    >>> from purecover import MixtureProportions, bootstrap, group_resampler
    >>> scores, labeled = [5, 4, 3, 2, 1, 0], [1, 0, 1, 0, 0, 0]
    >>> resampler = group_resampler(scores, labeled, groups=["a", "a", "b", "b", "c", "c"])
    >>> result = bootstrap(
    ...     resampler.counts,
    ...     MixtureProportions(0.2),
    ...     resampler=resampler,
    ...     metrics=["roc_auc"],
    ...     curves=False,
    ...     n_resamples=50,
    ...     random_state=0,
    ... )
    >>> result.interval("roc_auc").method
    'bootstrap percentile, groups'
    """
    return make_group_resampler(
        "group_resampler",
        scores,
        labeled,
        groups,
        sample_weight=sample_weight,
        positive_label=positive_label,
        negative_label=negative_label,
    )


def make_group_resampler(
    name: str,
    scores: ArrayLike,
    labeled: ArrayLike,
    groups: ArrayLike,
    *,
    sample_weight: ArrayLike | None,
    positive_label: object,
    negative_label: object,
) -> GroupResampler:
    """The same, in the name of another function."""
    values = as_real_vector(name, "scores", scores)
    positive, negative = encode_labels(
        name, labeled, values.size, positive_label=positive_label, negative_label=negative_label
    )
    codes = to_numpy(name, "groups", groups)
    check_same_length(name, "groups", codes.size, values.size)
    missing = np.array([is_missing(v) for v in codes.tolist()])
    if missing.any():
        raise bad_value(
            name,
            "groups",
            "free of missing values",
            f"{int(missing.sum())} missing of {codes.size}",
            "give each such row a group of its own",
        )
    known = np.ones(values.size, dtype=np.bool_) if negative is None else ~negative
    try:
        _, group = np.unique(codes[known], return_inverse=True)
    except Exception as error:  # foreign objects raise whatever they like when compared
        raise bad_type(name, "groups", "of one type that can be sorted", codes[0]) from error
    if int(group.max()) < 1:
        raise bad_value(name, "groups", "at least two groups", "one group")
    counts = ScoreCounts.from_scores(
        values,
        labeled,
        sample_weight=sample_weight,
        positive_label=positive_label,
        negative_label=negative_label,
    )
    weight = np.ones(values.size)
    if sample_weight is not None:
        weight = as_weights(name, sample_weight, values.size)
    below = np.searchsorted(counts.thresholds[::-1], values[known])
    return GroupResampler(
        counts=counts,
        position=counts.n_thresholds - 1 - below,
        labeled=positive[known],
        group=group.reshape(-1),
        weight=weight[known],
    )
