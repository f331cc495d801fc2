"""Labels that are not a random sample of the positives: a test, and an estimator by clusters."""

from __future__ import annotations

import math
import warnings
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import bdtr, bdtrc
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from purecover._codec import Saved
from purecover._labels import encode_labels
from purecover._parameters import checked
from purecover._response import RESPONSES, response_scores
from purecover._typing import ArrayLike, FloatArray, IntArray, RandomState
from purecover._validation import (
    as_real_vector,
    bad_type,
    bad_value,
    check_alignment,
    check_integer,
    check_random_state,
    check_real,
    check_same_length,
    check_seeding,
    public,
)
from purecover.counts import ScoreCounts
from purecover.estimators.base import Inclusions, PriorEstimator, register_prior_estimator
from purecover.estimators.estimate import PriorEstimate
from purecover.estimators.label_curve import LabelCurve
from purecover.estimators.rows import FeaturePriorEstimator, Rows
from purecover.estimators.wrappers import check_one_sided
from purecover.exceptions import IdentifiabilityError
from purecover.intervals.interval import Interval

# -- `ClusteredLabels`: alpha where some kinds of positives get labeled more often than others ---


FOLDS = 5
MOST_CLUSTERS = 8
FEWEST_LABELED = 50
"""With as many labeled examples for each, another cluster is considered."""

MOST_CLUSTERED = 5_000
"""Of more labeled rows, as many drawn at random decide what the clusters are."""

OVERLAP = 0.05
"""Components of which so many rows would be taken for another's are merged with it."""

_MOST_FULL = 10
_MOST_SQUARED = 20
_FAR = 1e6


@register_prior_estimator("clustered")
@dataclass(eq=False, repr=False)
class ClusteredLabels(FeaturePriorEstimator):
    r"""Sum over clusters of the labeled positives, each estimated on its own.

    Assumes: labels are random within each cluster of positives, and each cluster is pure somewhere;
    labels are clean.

    Known to fail: kinds that were never labeled are missing; errors of overlapping clusters add up;
    wrong labels make a cluster of their own.

    Most estimators of alpha assume that labeled positives are a random sample of all positives.
    Here they need be one only within each cluster: some kinds of positives may be labeled often
    and others rarely.

    Parameters
    ----------
    estimator : PriorEstimator, optional
        The estimator to run on scores, once for each cluster. Default: ``LabelCurve`` with
        labels taken as clean.
    n_clusters : int or "auto", default="auto"
        Number of clusters of the labeled positives. If "auto", from 1 to 8 by the Bayesian
        information criterion of a Gaussian mixture, with 50 labeled examples for each at least,
        of which those that overlap are then merged; 1 for a single column, which may be a
        score: positives with low scores are no kind of their own.
    classifier : scikit-learn classifier, optional
        What tells labeled examples of a cluster from unlabeled ones; needs
        ``decision_function`` or ``predict_proba``. Default: logistic regression on the features,
        their squares and products (above 20 features, without the latter two).
    random_state : int, numpy.random.Generator or None, default=0
        Draws folds and the starts of the clustering.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"n_clusters"`` and, for each cluster,
        ``"labeled"``, its share of the labeled, and ``"alphas"``, its estimated share of the
        unlabeled.

    See Also
    --------
    scar_test : Whether there is reason to doubt that labels are random.

    Notes
    -----
    Let :math:`f_k` be the density of the positives of kind :math:`k`, :math:`k = 1, \ldots, K`,
    and :math:`\alpha_k` their share of the unlabeled. Labeled examples have the density
    :math:`g = \sum_k \lambda_k f_k` with shares :math:`\lambda_k` of their own. If
    :math:`\lambda_k \ne \alpha_k/\alpha`, the largest share of :math:`g` inside the unlabeled
    density is :math:`\min_k \alpha_k/\lambda_k < \alpha` at best, so that alpha comes out too
    low. Labeled examples of cluster :math:`k` against all unlabeled ones tell :math:`\alpha_k`,
    and

    .. math:: \alpha = \sum_{k=1}^K \alpha_k.

    Each classifier scores examples that it was not trained on.

    One kind that is not normal, say skewed, is described by several normal components side by
    side. Were each taken for a kind, each :math:`\alpha_k` would err upward. So with "auto",
    two components are merged as long as the probability that a row of one is assigned to the
    other, as estimated from the mixture, exceeds 0.05 for some pair, the largest first. Kinds
    that overlap as much are merged too: give their number.

    Assumed is that the clusters found are the kinds of positives; that within each labels are
    random; and that each has a region where neither negatives nor the other kinds are found.
    A kind that is never labeled cannot be found, and its share is missing from alpha. Negatives
    labeled by mistake make a cluster, and then nearly all negatives count as positives. Where
    clusters overlap, or where labels were random after all, each :math:`\alpha_k` errs upward
    on its own, and errors add up: prefer the plain estimator unless there is a reason.

    References
    ----------
    Kumar & Lambert (2023), "Positive unlabeled learning selected not at random", PeerJ Computer
    Science. Hennig (2010), "Methods for merging Gaussian mixture components", Advances in Data
    Analysis and Classification 4. Jain, Delano, Sharma & Radivojac (2020), "Class prior
    estimation with biased positives and unlabeled examples", AAAI.

    Examples
    --------
    Of two kinds of positives, equally frequent, one is labeled nine times as often.

    >>> import numpy as np
    >>> import purecover as pu
    >>> rng = np.random.default_rng(0)
    >>> centers = np.array([[4, 0], [0, 4], [0, 0]])
    >>> kind = np.repeat([0, 1, 0, 1, 2], [450, 50, 400, 400, 1200])
    >>> X, labeled = centers[kind] + rng.normal(size=(2500, 2)), np.arange(2500) < 500
    >>> estimator = pu.estimators.ClusteredLabels().fit(X, labeled)
    >>> estimator.diagnostics_["n_clusters"], round(estimator.proportions_.alpha, 1)
    (2, 0.4)
    """

    reference: ClassVar[str] = "Kumar & Lambert, PeerJ Computer Science 2023"

    estimator: PriorEstimator | None = None
    _: KW_ONLY
    n_clusters: int | Literal["auto"] = "auto"
    classifier: Any = None
    random_state: RandomState = checked(0, check_seeding)

    def _check_params(self) -> None:
        super()._check_params()
        check_one_sided(self.estimator, "for noisy labels write NoisyLabels(ClusteredLabels())")
        if isinstance(self.n_clusters, str):
            if self.n_clusters != "auto":
                must = "'auto' or a whole number of at least 1"
                raise bad_type("n_clusters", must, self.n_clusters)
        else:
            check_integer("n_clusters", self.n_clusters, low=1)
        check_classifier(self.classifier)

    def _estimate_rows(self, rows: Rows, rng: np.random.Generator) -> Inclusions:
        cluster = self._clusters(rows.labeled, rng)
        names, sizes = np.unique(cluster, return_counts=True)
        alphas: list[float] = []
        notes: list[str] = []
        identifiable = True
        for k, name in enumerate(names):
            ours = rows.labeled[cluster == name]
            scores = out_of_fold_scores(Rows(ours, rows.unlabeled), self.classifier, rng)
            pool = np.concatenate(scores)
            counts = ScoreCounts.from_scores(pool, np.arange(pool.size) < len(ours))
            run = self._inner()._estimate(counts)
            alphas.append(float(run.a))
            identifiable &= run.identifiable
            prefix = f"cluster {k + 1} of {len(names)}: " if len(names) > 1 else ""
            notes += [prefix + note for note in run.notes]
        if self.n_clusters != "auto" and len(names) < self.n_clusters:
            notes.append(f"only {len(names)} clusters could be told apart")
        details: dict[str, Any] = {
            "n_clusters": len(names),
            "labeled": tuple((sizes / sizes.sum()).tolist()),
            "alphas": tuple(alphas),
            "identifiable": identifiable,
        }
        return Inclusions(float(np.sum(alphas)), 0.0, tuple(notes), details)

    def _inner(self) -> PriorEstimator:
        return LabelCurve(clean="always") if self.estimator is None else clone(self.estimator)

    def _clusters(self, labeled: FloatArray, rng: np.random.Generator) -> IntArray:
        """Number of the cluster each labeled row belongs to."""
        from sklearn.preprocessing import StandardScaler

        X = np.clip(Rows(labeled.copy(), labeled[:0].copy()).scaled().labeled, -_FAR, _FAR)
        X = StandardScaler().fit_transform(X)
        distinct = len(np.unique(X, axis=0))
        if self.n_clusters == "auto":
            most = min(MOST_CLUSTERS, len(X) // FEWEST_LABELED, distinct) if X.shape[1] > 1 else 1
            choices = list(range(2, most + 1))
        else:
            choices = [min(self.n_clusters, distinct)]
        if choices in ([], [1]):
            return np.zeros(len(X), dtype=np.int64)
        some = X[np.sort(rng.choice(len(X), min(len(X), MOST_CLUSTERED), replace=False))]
        with threadpool_limits(1):  # threads cost k-means and small algebra more than they gain
            if self.n_clusters != "auto":
                return np.asarray(_mixture(choices[0], some, rng).predict(X), dtype=np.int64)
            mixtures = [_mixture(k, some, rng) for k in (1, *choices)]
            best = mixtures[int(np.argmin([mixture.bic(some) for mixture in mixtures]))]
            return merged(best.predict_proba(X), OVERLAP).argmax(axis=1)


def merged(shares: FloatArray, limit: float) -> FloatArray:
    """Components merged until none is mistaken for another as often.

    Parameters
    ----------
    shares : ndarray of shape (n, n_components)
        Probability of each component, for each row.
    limit : float
        Largest probability, in [0, 1], that a row of one is assigned to another.
    """
    while shares.shape[1] > 1:
        n = shares.shape[1]
        given = np.arange(n) == shares.argmax(axis=1)[:, None]
        # Rows of the second, in expectation, that are given to the first.
        mistaken = (given.T.astype(np.float64) @ shares) / np.maximum(shares.sum(axis=0), 1e-300)
        np.fill_diagonal(mistaken, 0)
        to, gone = divmod(int(mistaken.argmax()), n)
        if mistaken[to, gone] <= limit:
            break
        shares = shares.copy()
        shares[:, to] += shares[:, gone]
        shares = np.delete(shares, gone, axis=1)
    return shares


def out_of_fold_scores(
    rows: Rows, classifier: Any, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Scores of the labeled and of the unlabeled, from fits without the fold the row is in."""
    folds = min(FOLDS, rows.n_labeled, rows.n_unlabeled)
    if folds < 2:
        raise IdentifiabilityError(
            f"A classifier needs two labeled and two unlabeled examples at least, got "
            f"{rows.n_labeled} and {rows.n_unlabeled}."
        )
    tame = rows.scaled()
    X = np.clip(np.concatenate((tame.labeled, tame.unlabeled)), -_FAR, _FAR)
    ours = np.arange(len(X)) < rows.n_labeled
    sizes = (rows.n_labeled, rows.n_unlabeled)
    fold = np.concatenate([rng.permutation(n) % folds for n in sizes])
    scores = np.empty(len(X))
    plain = _default_classifier(rows.n_features) if classifier is None else classifier
    # Someone else's classifier may know what to do with threads.
    with warnings.catch_warnings(), threadpool_limits(1) if classifier is None else nullcontext():
        # Scores from a fit that has not quite converged are scores all the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for k in range(folds):
            held = fold == k
            model = clone(plain).fit(X[~held], ours[~held])
            scores[held] = response_scores(model, X[held], positive=True)
    return scores[: rows.n_labeled], scores[rows.n_labeled :]


def check_classifier(classifier: Any) -> None:
    """None, or something that can be trained and then gives scores."""
    if classifier is None:
        return
    gives = any(hasattr(classifier, name) for name in RESPONSES)
    if isinstance(classifier, type) or not (hasattr(classifier, "fit") and gives):
        must = "a scikit-learn classifier with decision_function or predict_proba"
        raise bad_type("classifier", must, classifier)


def _default_classifier(n_features: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    degree = 2 if n_features <= _MOST_SQUARED else 1
    # Scaled before and after: squares of large numbers would drown the rest.
    return make_pipeline(
        StandardScaler(),
        PolynomialFeatures(degree, include_bias=False),
        StandardScaler(),
        LogisticRegression(max_iter=500),
    )


def _mixture(k: int, X: FloatArray, rng: np.random.Generator) -> Any:
    from sklearn.mixture import GaussianMixture

    mixture = GaussianMixture(
        k,
        covariance_type="full" if X.shape[1] <= _MOST_FULL else "diag",
        reg_covar=1e-3,
        n_init=2,
        random_state=int(rng.integers(2**31)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mixture.fit(X)


# -- Are the labeled positives a random sample of all positives? What data can say about it ------


TOP = 0.5
"""Share of the positives, those with the highest scores, that are looked at."""

FEWEST = 20
"""Labeled and unlabeled examples that must be there."""

FEWEST_HIDDEN = 5
"""Unlabeled positives that must be expected among the highest scores. To look at more examples than
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
    alpha: float | Interval | Any,
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
    alpha : float, Interval, AuditEstimate or PriorEstimate
        Share of positives among the unlabeled, known from elsewhere: a registry, or an audit. A
        number is taken as exact; an audit, or anything else with an interval of alpha, counts
        with the lower end of the interval. Estimators assume random labels, so that their
        estimate makes the test all but blind.
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

    *Uncertain alpha.* The smaller alpha, the smaller and purer the set, and the more of the
    labeled may be in it: the lower end of an interval favors random labels most, and what is
    rejected there is rejected for any alpha of the interval. A 95 % interval lies above alpha
    once in forty times, and the level is exceeded by no more than that. Take the audit itself
    and not its estimate, which is too large as often as too small: with 400 audited examples a
    test of level 0.05 then rejects random labels several times as often.

    *Few hidden positives.* With fewer than five unlabeled examples in the set the test does not
    decide: the p-value is 1, and a note says so.

    The simulation is exact if the set is pure. Where scores overlap so much that it holds
    negatives, these look unlike the labeled positives, and the test rejects though labels are
    random; the share of labeled examples is then far below what is expected, and a note says so.
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
    >>> pu.estimators.scar_test(X, random, alpha=0.32).p_value > 0.05
    True
    >>> chosen = positive & (rng.random(5000) < 0.6 / (1 + np.exp(-X[:, 1])))
    >>> pu.estimators.scar_test(X, chosen, alpha=0.32).p_value < 0.05
    True
    """
    rows = Rows.from_data(X, labeled)
    low, high = _alpha_ends(alpha)
    n_permutations = check_integer("n_permutations", n_permutations, low=19)
    check_classifier(classifier)
    rng = check_random_state(random_state)
    for side, n in (("labeled", rows.n_labeled), ("unlabeled", rows.n_unlabeled)):
        if n < FEWEST:
            raise bad_value("labeled", f"such that {FEWEST} examples are {side}", str(n))
    ours, others = _both_scores(rows, labeled, scores, classifier, rng)

    hidden = TOP * low * rows.n_unlabeled
    wanted = max(1, math.ceil(hidden))
    threshold = float(np.partition(others, -wanted)[-wanted])
    few, many = ours >= threshold, others >= threshold
    n_labeled, n_unlabeled = int(few.sum()), int(many.sum())
    distance, feature, shape, share_p = 0.0, 0, 1.0, 1.0
    if hidden < FEWEST_HIDDEN:
        notes: tuple[str, ...] = (_undecided(low, hidden),)
    else:
        if n_labeled:  # else nothing is to be compared where positives are
            pool = np.concatenate((rows.labeled[few], rows.unlabeled[many]))
            distance, feature, shape = _permutation_test(pool, n_labeled, n_permutations, rng)
        odds = rows.n_unlabeled / rows.n_labeled
        share_p = _share_p_value(n_labeled, n_unlabeled, low * odds)
        notes = _doubts(n_labeled, n_unlabeled, high * odds)
    return ScarTest(
        p_value=min(1.0, 2 * min(shape, share_p)),
        shape_p_value=shape,
        share_p_value=share_p,
        statistic=distance,
        feature=feature,
        threshold=threshold,
        n_labeled=n_labeled,
        n_unlabeled=n_unlabeled,
        labeled_share=n_labeled / rows.n_labeled,
        # At the lower end of an interval alpha may be 0, where all labeled may be in the set.
        expected_share=n_unlabeled / max(n_unlabeled, low * rows.n_unlabeled),
        alpha=low,
        notes=notes,
    )


def _alpha_ends(alpha: Any) -> tuple[float, float]:
    """The ends of an interval, or twice the number that is given."""
    interval = alpha
    if isinstance(alpha, PriorEstimate):
        interval = alpha.intervals.get("alpha")
        if interval is None:
            hint = "let evaluate draw replicates: n_resamples=200"
            raise bad_value("alpha", "one with an interval of alpha", "none", hint)
    elif not isinstance(alpha, Interval):
        # Audits, which are not known at this depth, hold their interval under this name.
        interval = getattr(alpha, "alpha", alpha)
    if isinstance(interval, Interval):
        ends = (interval.low, interval.high)
        low, high = (check_real("alpha", end, low=0, high=1) for end in ends)
        if not low < min(high, 1):
            raise bad_value("alpha", "an interval that ends after it begins", repr(ends))
        return low, high
    if interval is not alpha:
        must = "a number in (0, 1), an Interval, or an estimate with an interval of alpha"
        raise bad_type("alpha", must, alpha, "for example alpha_from_audit(27, 100)")
    number = check_real("alpha", alpha, low=0, high=1, closed="neither")
    return number, number


def _undecided(alpha: float, hidden: float) -> str:
    return (
        f"not decided: with alpha = {alpha:.3g}, {hidden:.1f} unlabeled positives are expected "
        f"among the highest scores, and {FEWEST_HIDDEN} are needed to compare the labeled with"
    )


def _doubts(n_labeled: int, n_unlabeled: int, ratio: float) -> tuple[str, ...]:
    """Whether there are more unlabeled beside the labeled examples than noise explains."""
    n, chance = n_labeled + n_unlabeled, ratio / (1 + ratio)
    if bdtrc(n_unlabeled - 1, n, chance) >= RARE:
        return ()
    note = (
        f"{n_unlabeled} of the {n} highest scores are unlabeled, where random labels let expect "
        f"{chance * n:.0f}: negatives are among them, alpha is too small, or labels are rarer "
        "there; so a rejection by the features means little"
    )
    return (note,)


def _both_scores(
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
        raise bad_value("classifier", "None beside scores", repr(classifier), hint)
    check_alignment(scores, labeled)
    values = as_real_vector("scores", scores)
    check_same_length("scores", values.size, rows.n_labeled + rows.n_unlabeled)
    ours, _ = encode_labels(labeled, values.size)
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
    return float(bdtr(n_unlabeled, n_labeled + n_unlabeled, ratio / (1 + ratio)))
