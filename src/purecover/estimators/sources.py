"""Dates, kinds and sources of labels: tests, and an estimate of the number of positives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from purecover import _validation as valid
from purecover._codec import Saved
from purecover._inputs import encode_labels, is_missing
from purecover._typing import ArrayLike, BoolArray, FloatArray
from purecover._validation import public
from purecover.exceptions import IdentifiabilityError
from purecover.intervals.interval import Interval, check_level

SIGNIFICANCE = 0.05
MOST_STRATA, FEWEST_BOTH = 10, 8
"""Bands of scores, and the rows that both sources label in each of them."""
_PERMUTATIONS = 9_999


@dataclass(frozen=True, kw_only=True)
class RankTest(Saved):
    """Comparison of the scores of two groups of labeled rows.

    Attributes
    ----------
    probability : float
        Probability that a row of the first group outranks one of the second, ties counted one
        half; 0.5 if their scores are alike.
    p_value : float
        Two-sided p-value of the rank-sum test of 0.5.
    n_first, n_second : int
        Rows of each group.
    """

    probability: float
    p_value: float
    n_first: int
    n_second: int

    def __str__(self) -> str:
        return (
            f"{self.n_first:,} rows outrank {self.n_second:,} in {self.probability:.2f} "
            f"of pairs (p = {self.p_value:.2g})"
        )


def _rank_test(first: list[FloatArray], second: list[FloatArray]) -> RankTest:
    """Compare scores within strata, all strata together (Wilcoxon, with ties)."""
    from scipy.special import ndtr
    from scipy.stats import rankdata

    won = pairs = variance = 0.0
    for one, two in zip(first, second, strict=True):
        n, m = one.size, two.size
        if not n * m:
            continue
        pooled = np.concatenate([one, two])
        won += float(rankdata(pooled)[:n].sum()) - n * (n + 1) / 2
        pairs += n * m
        ties = np.unique(pooled, return_counts=True)[1].astype(float)
        spread = n + m + 1 - float((ties**3 - ties).sum()) / ((n + m) * (n + m - 1))
        variance += n * m * spread / 12
    z = abs(won - pairs / 2) / np.sqrt(variance) if variance > 0 else 0.0
    return RankTest(
        probability=won / pairs if pairs else 0.5,
        p_value=float(2 * ndtr(-z)),
        n_first=sum(each.size for each in first),
        n_second=sum(each.size for each in second),
    )


@public
def compare_label_dates(scores: ArrayLike, labeled: ArrayLike, dates: ArrayLike) -> RankTest:
    r"""Test whether rows labeled earlier score higher than rows labeled later.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Scores by models that have not seen the row.
    labeled : array-like of shape (n,)
        True where a row carries the positive label.
    dates : array-like of shape (n,)
        When the row was labeled: dates, years or any numbers. Unlabeled rows may have none.

    Returns
    -------
    RankTest
        Of the earlier against the later half of the labeled rows. A ``probability`` above 0.5 with
        a small ``p_value`` shows that clear cases are labeled first. Then the positives that have
        no label yet are harder than the labeled ones, and theta is above 0.5.

    See Also
    --------
    recover_hidden : Metrics for a theta above 0.5.

    Notes
    -----
    The rank-sum test compares the two halves. It has the sign of :math:`\theta - 1/2` if those who
    label prefer the same rows all the time, but it does not estimate theta: the labels to come may
    differ more from both halves than these differ from each other. A change of the model or of the
    features over time changes the scores too.

    Examples
    --------
    >>> from purecover.estimators import compare_label_dates
    >>> scores, labeled = [9, 8, 7, 6, 5, 4, 3, 2], [1, 1, 1, 1, 1, 1, 0, 0]
    >>> years = [2019, 2019, 2021, 2020, 2022, 2023, float("nan"), float("nan")]
    >>> print(compare_label_dates(scores, labeled, years))
    3 rows outrank 3 in 0.89 of pairs (p = 0.13)
    """
    values = valid.as_real_vector("scores", scores)
    return date_test(values, encode_labels(labeled, values.size)[0], dates, "dates")


def date_test(values: FloatArray, labeled: BoolArray, dates: ArrayLike, parameter: str) -> RankTest:
    """Compare the earlier with the later half of the labeled rows; complain of ``parameter``."""
    when = valid.to_numpy(parameter, dates)
    valid.check_same_length(parameter, when.size, values.size)
    values, when = values[labeled], when[labeled]
    if any(map(is_missing, when.tolist())):
        raise valid.bad_value(parameter, "given for every labeled row", "missing dates")
    order = np.unique(when)
    if order.size < 2:
        raise valid.bad_value(parameter, "of at least two days or years", f"{order.size} of them")
    middle = np.sort(when)[(when.size - 1) // 2]
    early = when <= (middle if middle < order[-1] else order[-2])
    return _rank_test([values[early]], [values[~early]])


@dataclass(frozen=True, kw_only=True)
class KindsTest(Saved):
    """Comparison of the kinds of labeled rows with those of positives found among the unlabeled.

    Attributes
    ----------
    found : mapping of str to int
        Positives found, by kind.
    expected : mapping of str to float
        How many of them labels at random would leave in each kind.
    p_value : float
        Of equal shares of labeled rows among the positives of every kind.
    """

    found: Mapping[str, int]
    expected: Mapping[str, float]
    p_value: float

    @property
    def extreme(self) -> str:
        """The kind with the largest difference for its size."""
        gaps = {kind: (self.found[kind] - mean) ** 2 / mean for kind, mean in self.expected.items()}
        return max(gaps, key=gaps.__getitem__)

    def __str__(self) -> str:
        kind = self.extreme
        return (
            f"of {sum(self.found.values()):,} positives found, {self.found[kind]:,} are of kind "
            f"{kind!r}; labels at random give {self.expected[kind]:.1f} (p = {self.p_value:.2g})"
        )


@public
def compare_label_kinds(
    kinds: ArrayLike, labeled: ArrayLike, found: ArrayLike, strata: ArrayLike | None = None
) -> KindsTest:
    r"""Test whether positives of some kinds are labeled more often than those of others.

    Parameters
    ----------
    kinds : array-like of shape (n,)
        The kind of each row, such as a species group or a class of products. Only those of labeled
        rows and of `found` ones are used.
    labeled : array-like of shape (n,)
        True where a row carries the positive label.
    found : array-like of shape (n,)
        True where a judge found an unlabeled row positive.
    strata : array-like of shape (n,), optional
        The stratum of each row, if judged rows were drawn from strata, as by
        :func:`purecover.audit.draw`. Within a stratum the judged unlabeled rows must be a random
        sample of the unlabeled ones.

    Returns
    -------
    KindsTest
        A small ``p_value`` contradicts labels at random.

    See Also
    --------
    purecover.audit.judge_hidden : Metrics of all positives from judged rows.

    Notes
    -----
    If labels are at random, the positives found in a stratum and its labeled rows have kinds of one
    distribution. With :math:`t_{sk}` of both of kind *k* in stratum *s*, of :math:`t_s` in all, and
    :math:`m_s` found, the numbers of each kind found are multivariate hypergeometric with mean
    :math:`m_s t_{sk} / t_s`. The statistic is Pearson's, of sums over strata:

    .. math::

        \sum_k \frac{(O_k - E_k)^2}{E_k}, \qquad E_k = \sum_s m_s \frac{t_{sk}}{t_s}.

    Its p-value is from 9,999 permutations and is valid for any number of rows, and if kinds differ
    in their share of positives and in how hard they are. Labels are taken to be right.

    There is no such test without judged rows: few labels of a kind can mean few positives of it.

    Examples
    --------
    >>> from purecover.estimators import compare_label_kinds
    >>> kinds = ["bird"] * 50 + ["bat"] * 50
    >>> labeled = [1] * 30 + [0] * 20 + [1] * 10 + [0] * 40
    >>> found = [0] * 30 + [1] * 2 + [0] * 28 + [1] * 8 + [0] * 32
    >>> print(compare_label_kinds(kinds, labeled, found))
    of 10 positives found, 8 are of kind 'bat'; labels at random give 3.6 (p = 0.0029)
    """
    columns = {"kinds": kinds, "labeled": labeled, "found": found}
    values = valid.to_numpy("kinds", kinds)
    # The size of most of the three, so that complaints name the one that differs.
    size = sorted(valid.to_numpy(name, each).size for name, each in columns.items())[1]
    valid.check_same_length("kinds", values.size, size)
    own, other = (
        encode_labels(column, size, parameter=name)[0]
        for name, column in (("labeled", labeled), ("found", found))
    )
    if (own & other).any() or not (own.any() and other.any()):
        raise valid.bad_value("found", "True for unlabeled rows alone, one at least", "others")
    places = np.zeros(size) if strata is None else valid.as_real_vector("strata", strata)
    valid.check_same_length("strata", places.size, size)
    known = own | other
    if any(map(is_missing, values[known].tolist())):
        raise valid.bad_value("kinds", "given for labeled and for found rows", "missing kinds")
    names, kind = np.unique(values[known].astype(str), return_inverse=True)
    if names.size < 2:
        raise valid.bad_value("kinds", "of two kinds at least", "one")
    rng, mean = np.random.default_rng(0), np.zeros(names.size)
    drawn = np.zeros((_PERMUTATIONS, names.size))
    for stratum in np.unique(places[other]):
        here = places[known] == stratum
        total = np.bincount(kind[here], minlength=names.size)
        n_found = int(other[known][here].sum())
        mean += n_found * total / total.sum()
        drawn += rng.multivariate_hypergeometric(total, n_found, _PERMUTATIONS)
    seen = np.bincount(kind[other[known]], minlength=names.size)
    some = mean > 0
    chance = (((drawn - mean)[:, some]) ** 2 / mean[some]).sum(axis=1)
    gap = ((seen - mean)[some] ** 2 / mean[some]).sum()
    return KindsTest(
        found=dict(zip(names[some].tolist(), seen[some].tolist(), strict=True)),
        expected=dict(zip(names[some].tolist(), mean[some].tolist(), strict=True)),
        p_value=float((1 + (chance >= gap - 1e-9).sum()) / (1 + _PERMUTATIONS)),
    )


@dataclass(frozen=True, kw_only=True)
class SourcesEstimate(Saved):
    """Number of positives from two sources of labels.

    Attributes
    ----------
    n_positive : Interval
        Positives among all rows, labeled ones included.
    n_labeled : int
        Rows that a source labels.
    dependence : RankTest or None
        Scores of the rows that both sources label against those that one labels, within strata;
        None without scores. A small p-value contradicts independent sources: with a
        ``probability`` above 0.5 both prefer clear cases and ``n_positive`` is too small.
    preference : RankTest or None
        The same over all scores. A small p-value contradicts labels at random: with a
        ``probability`` above 0.5 clear cases are labeled more often.
    """

    n_positive: Interval
    n_labeled: int
    dependence: RankTest | None
    preference: RankTest | None

    def __str__(self) -> str:
        at = self.n_positive
        text = (
            f"about {at.estimate:,.0f} positives ({at.low:,.0f} to {at.high:,.0f}), "
            f"{self.n_labeled:,} of them labeled"
        )
        found = self.dependence
        if found is None or found.p_value > SIGNIFICANCE:
            return text
        wrong = "small" if found.probability > 0.5 else "large"
        how = "prefer the same rows" if found.probability > 0.5 else "avoid each other's rows"
        return f"{text}. The sources {how} (p = {found.p_value:.2g}): the number is too {wrong}"


@public
def count_by_two_sources(
    first: ArrayLike,
    second: ArrayLike,
    scores: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
) -> SourcesEstimate:
    r"""Estimate the number of positives from two sources of labels, by capture and recapture.

    Parameters
    ----------
    first, second : array-like of bool
        For each row, whether the first and the second source label it positive.
    scores : array-like, optional
        Scores of the rows. Sources then need to be independent only among rows with similar
        scores, so that both may prefer clear cases.
    confidence_level : float, default=0.95
        Of the interval.

    Returns
    -------
    SourcesEstimate
        The number with its interval, and a test of independence if there are scores.

    Raises
    ------
    IdentifiabilityError
        If no row is labeled by both sources.

    Notes
    -----
    Chapman's estimator [1]_ of each stratum, with :math:`n_1` and :math:`n_2` labels of which
    :math:`m` rows have both:

    .. math::

        \hat N = \frac{(n_1+1)(n_2+1)}{m+1} - 1, \qquad
        \operatorname{Var} = \frac{(n_1+1)(n_2+1)(n_1-m)(n_2-m)}{(m+1)^2(m+2)}.

    Strata are bands of scores with equal numbers of rows that both label, at least 8 and
    at most 10 bands. The interval is log-normal in the number of unlabeled positives [2]_. The
    estimator assumes that labels are right and that within a stratum a label of one source makes
    one of the other neither more nor less likely. The test shows a dependence that goes with the
    score. A source that copies the other at random makes the number too small, and no test of two
    sources shows it.

    References
    ----------
    .. [1] D. G. Chapman, "Some properties of the hypergeometric distribution with applications to
       zoological censuses", University of California Publications in Statistics 1, 131-160, 1951.
    .. [2] A. Chao, "Estimating the population size for capture-recapture data with unequal
       catchability", Biometrics 43(4), 783-791, 1987.

    Examples
    --------
    >>> from purecover.estimators import count_by_two_sources
    >>> first, second = [1] * 30 + [0] * 70, [1] * 20 + [0] * 10 + [1] * 20 + [0] * 50
    >>> print(count_by_two_sources(first, second))
    about 60 positives (54 to 76), 50 of them labeled
    """
    from scipy.special import ndtri

    level = check_level(confidence_level)
    values = valid.to_numpy("first", first)
    one, two = (
        encode_labels(column, values.size, parameter=name)[0]
        for name, column in (("first", first), ("second", second))
    )
    both = one & two
    if not both.any():
        raise IdentifiabilityError(
            "{function} finds no row that both sources label positive: how many neither labels "
            "cannot be estimated.",
            hint="judge some rows by hand instead",
        )
    place, dependence, preference = np.zeros(one.size, dtype=np.int64), None, None
    if scores is not None:
        ranked = valid.as_real_vector("scores", scores)
        valid.check_same_length("scores", ranked.size, one.size)
        n_strata = int(np.clip(both.sum() // FEWEST_BOTH, 1, MOST_STRATA))
        cuts = np.quantile(ranked[both], np.arange(1, n_strata) / n_strata)
        place = np.searchsorted(np.unique(cuts), ranked, side="right")
        strata = range(int(place.max()) + 1)
        preference = _rank_test([ranked[both]], [ranked[one ^ two]])
        dependence = _rank_test(
            [ranked[both & (place == i)] for i in strata],
            [ranked[(one ^ two) & (place == i)] for i in strata],
        )
    n_1, n_2, m = (np.bincount(place[mark], minlength=place.max() + 1) for mark in (one, two, both))
    product = (n_1 + 1.0) * (n_2 + 1.0)
    variance = float((product * (n_1 - m) * (n_2 - m) / ((m + 1.0) ** 2 * (m + 2.0))).sum())
    n_labeled = int((one | two).sum())
    estimate = min(max(float((product / (m + 1) - 1).sum()), n_labeled), one.size)
    unlabeled = max(estimate - n_labeled, 1e-9)
    z = float(ndtri((1 + level) / 2))
    factor = float(np.exp(z * np.sqrt(np.log1p(variance / unlabeled**2))))
    return SourcesEstimate(
        n_positive=Interval(
            estimate=estimate,
            low=n_labeled + unlabeled / factor,
            high=min(n_labeled + unlabeled * factor, one.size),
            confidence_level=level,
            method="log-normal, Chapman",
        ),
        n_labeled=n_labeled,
        dependence=dependence,
        preference=preference,
    )
