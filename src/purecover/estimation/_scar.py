"""Are the labeled positives a random sample of all positives? What data can say about it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from purecover._typing import ArrayLike, FloatArray, RandomState
from purecover._validation import bad_value, check_integer, check_random_state, check_real
from purecover.estimation._clustered import check_classifier, out_of_fold_scores
from purecover.estimation._rows import Rows

__all__ = ["ScarTest", "scar_test"]

TOP = 0.5
"""Share of the positives, those with the highest scores, that are looked at."""

FEWEST = 20
"""Labeled and unlabeled examples that must be there."""

_CELLS = 2**22
"""Permuted labels held in memory at a time."""


@dataclass(frozen=True)
class ScarTest:
    """Outcome of a test of random labels, from :func:`scar_test`.

    Attributes
    ----------
    p_value : float
        Probability of a difference as large as was found, if labels are random: twice the
        smaller of the next two, and 1 at most.
    shape_p_value : float
        Of the features of labeled and unlabeled examples among the highest scores.
    share_p_value : float
        Of the number of labeled examples among the highest scores.
    statistic : float
        The largest Kolmogorov-Smirnov distance between labeled and unlabeled examples there,
        over all features.
    feature : int
        The column in which it was found.
    threshold : float
        The lowest of the highest scores.
    n_labeled, n_unlabeled : int
        Examples at or above the threshold.
    labeled_share, expected_share : float
        Share of the labeled examples there, and the largest share that random labels and alpha
        allow.
    """

    p_value: float
    shape_p_value: float
    share_p_value: float
    statistic: float
    feature: int
    threshold: float
    n_labeled: int
    n_unlabeled: int
    labeled_share: float
    expected_share: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)


def scar_test(
    X: Any,
    labeled: ArrayLike,
    *,
    alpha: float,
    scores: ArrayLike | None = None,
    classifier: Any = None,
    n_permutations: int = 200,
    random_state: RandomState = 0,
) -> ScarTest:
    r"""Test whether labeled positives can be a random sample of all positives (SCAR).

    Parameters
    ----------
    X : array-like of shape (n, n_features) or (n,), or data frame
        Features. A labeling that depends on something else is not seen.
    labeled : array-like of shape (n,)
        True where the example carries the positive label.
    alpha : float
        Share of positives among the unlabeled, known from elsewhere: a registry, or an audit.
        Estimators assume random labels, so that their estimate makes the test all but blind.
    scores : array-like of shape (n,), optional
        Held-out scores, larger for positives. Default: those of ``classifier``, each from a
        fit without the fold the row is in.
    classifier : scikit-learn classifier, optional
        As in :class:`ClusteredLabels`; only without ``scores``.
    n_permutations : int, default=200
        Number of simulated labelings.
    random_state : int, numpy.random.Generator or None, default=0
        Draws them.

    Returns
    -------
    ScarTest
        The p-value, and what it is made of.

    See Also
    --------
    ClusteredLabels : Estimates alpha where labels are random only within kinds of positives.

    Notes
    -----
    Labels alone do not tell whether they are random: any labeled density :math:`g` fits any
    unlabeled density :math:`f` with a small enough alpha. What can be tested follows from alpha
    and from a set of examples that are positive for sure. That set is estimated: the
    :math:`\alpha n_U/2` unlabeled examples with the highest scores, hence half of the positives
    if scores are good, and the labeled examples with scores as high. Two things must hold if
    labels are random.

    *Shape.* Within the set, labeled and unlabeled examples are alike. The statistic is the
    largest two-sample Kolmogorov-Smirnov distance over the features; its distribution is
    simulated by handing out as many labels at random within the set. The p-value is
    :math:`(1 + m)/(1 + n)` if :math:`m` of :math:`n` simulated labelings are as extreme.

    *Share.* At most half of the labeled are in the set: :math:`G \le F/\alpha` for the
    shares :math:`G` of the labeled and :math:`F` of the unlabeled in any set. Given how many
    examples are in the set, the unlabeled among them are at least binomial with probability
    :math:`\alpha n_U/(\alpha n_U + n_L)`.

    The simulation is exact if the set is pure. Where scores overlap so much that it holds
    negatives, these look unlike the labeled positives, and the test rejects though labels are
    random; the share of labeled examples is then far below what is expected. So with weak
    scores a rejection means little. Nor does the lack of one mean much. Labels that miss
    positives outside the set, evenly, are seen by the share alone, hence only with the right
    alpha; labels that are rarer within the set, evenly, are not seen, since negatives among the
    highest scores would look the same. With a single score for ``X``, the shape says whether
    labels thin out or gather among the highest scores.

    References
    ----------
    Teisseyre, Furmańczyk & Mielniczuk (2024), "Verifying the selected completely at random
    assumption in positive-unlabeled learning", ECAI.

    Examples
    --------
    Positives differ from negatives in the first feature; in the second case those with a large
    second feature are labeled more often.

    >>> import numpy as np
    >>> import purecover as pu
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(5000) < 2000
    >>> X = rng.normal(size=(5000, 2)) + 4 * np.outer(positive, [1, 0])
    >>> random = positive & (rng.random(5000) < 0.3)
    >>> pu.scar_test(X, random, alpha=0.32).p_value > 0.05
    True
    >>> chosen = positive & (rng.random(5000) < 0.6 / (1 + np.exp(-X[:, 1])))
    >>> pu.scar_test(X, chosen, alpha=0.32).p_value < 0.05
    True
    """
    name = "scar_test"
    rows = Rows.from_data(name, X, labeled)
    alpha = check_real(name, "alpha", alpha, low=0, high=1, closed="neither")
    n_permutations = check_integer(name, "n_permutations", n_permutations, low=19)
    check_classifier(name, classifier)
    rng = check_random_state(name, random_state)
    for side, n in (("labeled", rows.n_labeled), ("unlabeled", rows.n_unlabeled)):
        if n < FEWEST:
            raise bad_value(name, "labeled", f"such that {FEWEST} examples are {side}", str(n))
    ours, others = _both_scores(name, rows, labeled, scores, classifier, rng)

    wanted = min(max(FEWEST, math.ceil(TOP * alpha * rows.n_unlabeled)), rows.n_unlabeled)
    threshold = float(np.partition(others, -wanted)[-wanted])
    few, many = ours >= threshold, others >= threshold
    n_labeled, n_unlabeled = int(few.sum()), int(many.sum())
    share, most = n_labeled / rows.n_labeled, min(1.0, n_unlabeled / rows.n_unlabeled / alpha)
    if n_labeled:
        pool = np.concatenate((rows.labeled[few], rows.unlabeled[many]))
        distance, feature, shape = _permutation_test(pool, n_labeled, n_permutations, rng)
    else:  # no labeled example where positives are; nothing to compare
        distance, feature, shape = 0.0, 0, 1.0
    share_p = _share_p_value(n_labeled, n_unlabeled, alpha * rows.n_unlabeled / rows.n_labeled)
    return ScarTest(
        p_value=min(1.0, 2 * min(shape, share_p)),
        shape_p_value=shape,
        share_p_value=share_p,
        statistic=distance,
        feature=feature,
        threshold=threshold,
        n_labeled=n_labeled,
        n_unlabeled=n_unlabeled,
        labeled_share=share,
        expected_share=most,
    )


def _both_scores(
    name: str,
    rows: Rows,
    labeled: ArrayLike,
    scores: ArrayLike | None,
    classifier: Any,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Scores of the labeled and of the unlabeled, given or made."""
    if scores is None:
        return out_of_fold_scores(rows, classifier, rng)
    if classifier is not None:
        hint = "scores are given, so that nothing needs to be trained"
        raise bad_value(name, "classifier", "None beside scores", repr(classifier), hint)
    from purecover._labels import encode_labels
    from purecover._validation import as_real_vector, check_alignment, check_same_length

    check_alignment(name, scores, labeled)
    values = as_real_vector(name, "scores", scores)
    check_same_length(name, "scores", values.size, rows.n_labeled + rows.n_unlabeled)
    ours, _ = encode_labels(name, labeled, values.size)
    return values[ours], values[~ours]


def _permutation_test(
    pool: FloatArray, n_labeled: int, n_permutations: int, rng: np.random.Generator
) -> tuple[float, int, float]:
    """Largest distance over the features, its feature, and the p-value; labeled rows first."""
    n = len(pool)
    if n_labeled == n:
        return 0.0, 0, 1.0
    found = _distances(pool, np.arange(n)[None] < n_labeled)[0]
    observed = float(found.max())
    extreme, done = 0, 0
    while done < n_permutations:
        rows = min(n_permutations - done, max(1, _CELLS // n))
        drawn = rng.permuted(np.tile(np.arange(n) < n_labeled, (rows, 1)), axis=1)
        # A hair of slack: equal distances must count as equal, whatever the rounding.
        extreme += int((_distances(pool, drawn).max(axis=1) >= observed - 1e-12).sum())
        done += rows
    return observed, int(found.argmax()), (1 + extreme) / (1 + n_permutations)


def _distances(pool: FloatArray, labeled: Any) -> FloatArray:
    """Kolmogorov-Smirnov distance for each row of labels and each feature."""
    n = len(pool)
    n_labeled = int(labeled[0].sum())
    # Steps up by 1/n_L at a labeled row and down by 1/n_U at another; the farthest from 0 counts.
    steps = np.where(labeled, 1 / n_labeled, -1 / (n - n_labeled))
    found = np.empty((len(labeled), pool.shape[1]))
    for j, column in enumerate(pool.T):
        order = np.argsort(column, kind="stable")
        ends = np.append(np.diff(column[order]) > 0, True)
        walk = np.cumsum(steps[:, order], axis=1)[:, ends]
        found[:, j] = np.abs(walk).max(axis=1)
    return found


def _share_p_value(n_labeled: int, n_unlabeled: int, ratio: float) -> float:
    """Chance of so few unlabeled beside so many labeled examples, or fewer."""
    from scipy.special import bdtr

    return float(bdtr(n_unlabeled, n_labeled + n_unlabeled, ratio / (1 + ratio)))
