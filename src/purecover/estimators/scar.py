"""Test of labels drawn at random (SCAR): whether labeled positives can be a sample of all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtr, bdtrc

from purecover import _validation as valid
from purecover._codec import Saved
from purecover._inputs import column_names, encode_labels, is_frame, read_columns
from purecover._progress import busy
from purecover._typing import ArrayLike, FloatArray, RandomState
from purecover._validation import public
from purecover.intervals.interval import Interval

TOP = 0.5
"""Share of the positives, those with the highest scores, that are looked at."""

FEWEST = 20
"""Labeled and unlabeled rows that must be there."""

FEWEST_HIDDEN = 5
"""Unlabeled positives that must be expected among the highest scores. To look at more rows than
there are would take negatives for positives."""

RARE = 0.01
"""Labels that are rarer at the top than alpha allows, by more than noise explains so often, get a
note."""

_CELLS = 2**22
"""Permuted labels held in memory at a time."""


@dataclass(frozen=True)
class ScarTest(Saved):
    """Outcome of a test of random labels, from :func:`scar_test`.

    Attributes
    ----------
    p_value : float
        Probability of a difference as large as was found, if labels are random: twice the
        smaller of the next two, and 1 at most.
    shape_p_value : float
        Of the features of labeled and unlabeled rows among the highest scores.
    share_p_value : float
        Of the number of labeled rows among the highest scores.
    statistic : float
        The largest Kolmogorov-Smirnov distance between labeled and unlabeled rows there,
        over all features.
    feature : int
        The column in which it was found.
    threshold : float
        The lowest of the highest scores.
    n_labeled, n_unlabeled : int
        Examples at or above the threshold.
    labeled_share, expected_share : float
        Share of the labeled rows there, and the largest share that random labels and alpha
        allow.
    alpha : float
        The share of positives among the unlabeled that was reckoned with: the one given, or the
        lower end of its interval.
    notes : tuple of str
        Why the test cannot decide, or what makes a rejection doubtful; empty if nothing does.
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
    alpha: float
    notes: tuple[str, ...] = ()


@public
def scar_test(
    X: Any,
    labeled: ArrayLike,
    *,
    scores: ArrayLike,
    alpha: float | Interval,
    n_permutations: int = 200,
    random_state: RandomState = 0,
) -> ScarTest:
    r"""Test whether labeled positives can be a random sample of all positives (SCAR).

    Parameters
    ----------
    X : array-like of shape (n, n_features) or (n,), or data frame
        Features. A labeling that depends on something else is not seen.
    labeled : array-like of shape (n,)
        True where the row carries the positive label.
    scores : array-like of shape (n,)
        Held-out scores, larger for positives, such as those of :func:`cross_fit_scores`.
    alpha : float or Interval
        Share of positives among the unlabeled, known from elsewhere: a registry, or an audit. A
        number is taken as exact; an interval, such as ``audit.combine(...).alpha``, counts with
        its lower end. Estimators assume random labels, so that their estimate makes the test all
        but blind.
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
    clean_test : Test of the other assumption, that no label is wrong.

    Notes
    -----
    Labels alone do not show whether they are random: any labeled density :math:`g` fits any
    unlabeled density :math:`f` with a small enough alpha. What can be tested follows from alpha
    and from a set of rows that are positive for sure. That set is estimated: the
    :math:`\alpha n_U/2` unlabeled rows with the highest scores, hence half of the positives
    if scores are good, and the labeled rows with scores as high. Two things must hold if
    labels are random.

    *Shape.* Within the set, labeled and unlabeled rows are alike. The statistic is the
    largest two-sample Kolmogorov-Smirnov distance over the features; its distribution is
    simulated by handing out as many labels at random within the set. The p-value is
    :math:`(1 + m)/(1 + n)` if :math:`m` of :math:`n` simulated labelings are as extreme.

    *Share.* At most half of the labeled are in the set: :math:`G \le F/\alpha` for the
    shares :math:`G` of the labeled and :math:`F` of the unlabeled in any set. Given how many
    rows are in the set, the unlabeled among them are at least binomial with probability
    :math:`\alpha n_U/(\alpha n_U + n_L)`.

    *Uncertain alpha.* The smaller alpha, the smaller and purer the set, and the more of the
    labeled may be in it: the lower end of an interval favors random labels most, and what is
    rejected there is rejected for any alpha of the interval. A 95 % interval lies above alpha
    once in forty times, and the level is exceeded by no more than that. Take the interval of an
    audit and not its estimate, which is too large as often as too small: with 400 audited
    rows a test of level 0.05 then rejects random labels several times as often.

    *Few hidden positives.* With fewer than five unlabeled rows in the set the test does not
    decide: the p-value is 1, and a note says so.

    The simulation is exact if the set is pure. Where scores overlap so much that it holds
    negatives, these differ from the labeled positives, and the test rejects though labels are
    random; the share of labeled rows is then far below what is expected, and a note says so.
    So with weak scores a rejection means little. Nor does the lack of one mean much. Labels
    that miss positives outside the set, evenly, are seen by the share alone, hence only with
    the right alpha; labels that are rarer within the set, evenly, are not seen, since negatives
    among the highest scores would look the same. With a single score for ``X``, the shape says
    whether labels thin out or gather among the highest scores.

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
    >>> scores = X[:, 0]
    >>> pu.estimators.scar_test(X, random, scores=scores, alpha=0.32).p_value > 0.05
    True
    >>> chosen = positive & (rng.random(5000) < 0.6 / (1 + np.exp(-X[:, 1])))
    >>> pu.estimators.scar_test(X, chosen, scores=scores, alpha=0.32).p_value < 0.05
    True
    """
    matrix = _read_matrix(X)
    valid.check_alignment(X, labeled)
    ours, _ = encode_labels(labeled, len(matrix))
    low, high = _alpha_ends(alpha)
    n_permutations = valid.check_integer("n_permutations", n_permutations, low=19)
    rng = valid.check_random_state(random_state)
    all_labeled, all_unlabeled = int(ours.sum()), int((~ours).sum())
    for side, n in (("labeled", all_labeled), ("unlabeled", all_unlabeled)):
        if n < FEWEST:
            raise valid.bad_value("labeled", f"such that {FEWEST} rows are {side}", str(n))
    valid.check_alignment(scores, labeled)
    values = valid.as_real_vector("scores", scores)
    valid.check_same_length("scores", values.size, ours.size)

    hidden = TOP * low * all_unlabeled
    wanted = max(1, math.ceil(hidden))
    threshold = float(np.partition(values[~ours], -wanted)[-wanted])
    top = values >= threshold
    n_labeled, n_unlabeled = int((top & ours).sum()), int((top & ~ours).sum())
    distance, feature, shape, share_p = 0.0, 0, 1.0, 1.0
    notes = []
    if hidden < FEWEST_HIDDEN:
        note = (
            f"not decided: with alpha = {low:.3g}, {hidden:.1f} unlabeled positives are expected "
            f"among the highest scores, and {FEWEST_HIDDEN} are needed to compare the labeled with"
        )
        notes.append(note)
    else:
        if n_labeled:  # else nothing is to be compared where positives are
            pool = np.concatenate((matrix[top & ours], matrix[top & ~ours]))
            distance, feature, shape = _permutation_test(pool, n_labeled, n_permutations, rng)
        odds = all_unlabeled / all_labeled
        chance = low * odds / (1 + low * odds)
        # So few unlabeled rows among so many labeled rows, or fewer.
        share_p = float(bdtr(n_unlabeled, n_labeled + n_unlabeled, chance))
        total, chance = n_labeled + n_unlabeled, high * odds / (1 + high * odds)
        # More unlabeled rows than noise explains.
        if bdtrc(n_unlabeled - 1, total, chance) < RARE:
            notes.append(
                f"{n_unlabeled} of the {total} highest scores are unlabeled, where random labels "
                f"let expect {chance * total:.0f}: negatives are among them, alpha is too small, "
                "or labels are rarer there; so a rejection by the features means little"
            )
    return ScarTest(
        p_value=min(1.0, 2 * min(shape, share_p)),
        shape_p_value=shape,
        share_p_value=share_p,
        statistic=distance,
        feature=feature,
        threshold=threshold,
        n_labeled=n_labeled,
        n_unlabeled=n_unlabeled,
        labeled_share=n_labeled / all_labeled,
        # At the lower end of an interval alpha may be 0, where all labeled may be in the set.
        expected_share=n_unlabeled / max(n_unlabeled, low * all_unlabeled),
        alpha=low,
        notes=tuple(notes),
    )


def _alpha_ends(alpha: float | Interval) -> tuple[float, float]:
    """The ends of an interval, or twice the number that is given."""
    if isinstance(alpha, Interval):
        ends = (alpha.low, alpha.high)
        low, high = (valid.check_real("alpha", end, low=0, high=1) for end in ends)
        if not low < min(high, 1):
            raise valid.bad_value("alpha", "an interval that ends after it begins", repr(ends))
        return low, high
    hint = "of an audit or an estimate pass the interval of alpha, such as audit.combine(...).alpha"
    number = valid.check_real("alpha", alpha, low=0, high=1, closed="neither", hint=hint)
    return number, number


def _read_matrix(X: Any) -> FloatArray:
    """Read a matrix of finite numbers from an array, a column or a data frame."""
    if is_frame(X):
        table = read_columns(X, {f"X[{name!r}]": name for name in column_names(X)})
        return np.column_stack([valid.as_real_vector(name, each) for name, each in table.items()])
    array = np.asarray(X)
    if array.ndim != 2:
        return valid.as_real_vector("X", X)[:, None]
    return valid.as_real_vector("X", array.reshape(-1)).reshape(array.shape)


@busy()
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
