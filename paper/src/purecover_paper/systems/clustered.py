"""Clusters of labeled positives: alpha where some kinds get labeled more often than others."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from purecover import ScoreCounts
from purecover.estimators import (
    Inclusions,
    LabelCurve,
    PriorEstimator,
    parameter,
    register_prior_estimator,
)
from purecover.exceptions import IdentifiabilityError, InvalidInputError
from purecover_paper.systems.arrays import BoolArray, FloatArray, IntArray, RandomState
from purecover_paper.systems.rows import FeaturePriorEstimator, FeatureRows

MOST_CLUSTERS = 8
FEWEST_LABELED = 50
"""With as many labeled rows for each, another cluster is considered."""

MOST_CLUSTERED = 5_000
"""Of more labeled rows, as many drawn at random decide what the clusters are."""

OVERLAP = 0.05
"""Components of which so many rows would be taken for another's are merged with it."""

HELD_OUT = 0.3
"""Share of the labeled rows whose likelihood decides how many clusters there are."""

_MOST_FULL = 10
_FOLDS, _FAR, _MOST_SQUARED = 5, 1e6, 20


@dataclass(frozen=True)
class LabelRates:
    """How often positives of the kinds that features show are labeled.

    Attributes
    ----------
    n_kinds : int
        Kinds of labeled rows that were distinguished.
    lowest, highest : float
        Shares of positives that are labeled, in the kinds where these are smallest and largest.
    surely_unlike : float
        How many times the odds of a label in one kind exceed those in another at least, by the
        ends of their intervals; 1 or less where all may be the same.
    """

    n_kinds: int
    lowest: float
    highest: float
    surely_unlike: float


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
        Number of clusters of the labeled positives. If "auto", from 1 to 8 by how likely a
        Gaussian mixture makes rows that it was not fitted to, with 50 labeled rows for each
        at least, of which those that overlap are then merged; 1 for a single column, which may
        be a score: positives with low scores are no kind of their own.
    classifier : scikit-learn classifier, optional
        The classifier of labeled rows of a cluster against unlabeled ones; needs
        ``decision_function`` or ``predict_proba``. Default: logistic regression on the features,
        their squares and products; above 20 features, the better of one without the latter two
        and of quadratic discriminant analysis.
    random_state : int, numpy.random.Generator or None, default=0
        Draws folds and the starts of the clustering.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"n_clusters"`` and, for each cluster,
        ``"labeled"``, its share of the labeled, and ``"alphas"``, its estimated share of the
        unlabeled.

    Notes
    -----
    Let :math:`f_k` be the density of the positives of kind :math:`k`, :math:`k = 1, \ldots, K`,
    and :math:`\alpha_k` their share of the unlabeled. Labeled rows have the density
    :math:`g = \sum_k \lambda_k f_k` with shares :math:`\lambda_k` of their own. If
    :math:`\lambda_k \ne \alpha_k/\alpha`, the largest share of :math:`g` inside the unlabeled
    density is :math:`\min_k \alpha_k/\lambda_k < \alpha` at best, so that alpha is too
    low. Labeled rows of cluster :math:`k` against all unlabeled ones give :math:`\alpha_k`,
    and

    .. math:: \alpha = \sum_{k=1}^K \alpha_k.

    Each classifier scores rows that it was not trained on.

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
    >>> from purecover_paper.systems import ClusteredLabels
    >>> rng = np.random.default_rng(0)
    >>> centers = np.array([[4, 0], [0, 4], [0, 0]])
    >>> kind = np.repeat([0, 1, 0, 1, 2], [450, 50, 400, 400, 1200])
    >>> X, labeled = centers[kind] + rng.normal(size=(2500, 2)), np.arange(2500) < 500
    >>> estimator = ClusteredLabels().fit(X, labeled)
    >>> estimator.diagnostics_["n_clusters"], round(estimator.proportions_.alpha, 1)
    (2, 0.4)
    """

    estimator: PriorEstimator | None = parameter(None, "estimator")
    _: KW_ONLY
    n_clusters: int | Literal["auto"] = "auto"
    classifier: Any = parameter(None, "classifier")
    random_state: RandomState = parameter(0, "random_state")

    def _check_params(self) -> None:
        super()._check_params()
        n = self.n_clusters
        if n != "auto" and not (isinstance(n, Integral) and n >= 1):
            raise InvalidInputError(
                f"The 'n_clusters' parameter of {type(self).__name__} must be 'auto' or a whole "
                f"number of at least 1, got {n!r}."
            )

    def _estimate_rows(self, rows: FeatureRows, rng: np.random.Generator) -> Inclusions:
        cluster = self._clusters(rows.labeled, rng)
        names, sizes = np.unique(cluster, return_counts=True)
        runs = [self._run(rows, cluster == name, rng) for name in names]
        notes: list[str] = []
        for k, run in enumerate(runs):
            prefix = f"cluster {k + 1} of {len(names)}: " if len(names) > 1 else ""
            notes += [prefix + note for note in run.notes]
        if self.n_clusters != "auto" and len(names) < self.n_clusters:
            notes.append(f"only {len(names)} clusters could be distinguished")
        alphas = tuple(float(run.a) for run in runs)
        details: dict[str, Any] = {
            "n_clusters": len(names),
            "labeled": tuple((sizes / sizes.sum()).tolist()),
            "alphas": alphas,
            "identifiable": all(run.identifiable for run in runs),
        }
        return Inclusions(float(np.sum(alphas)), 0.0, tuple(notes), details)

    def _run(self, rows: FeatureRows, ours: BoolArray, rng: np.random.Generator) -> Inclusions:
        """Estimate the share of one cluster among the unlabeled."""
        inner = LabelCurve(clean="always") if self.estimator is None else self.estimator
        cluster = FeatureRows(rows.labeled[ours], rows.unlabeled)
        return inner._estimate(_out_of_fold_counts(cluster, self.classifier, rng))

    def label_rates(
        self, rows: FeatureRows, sizes: tuple[int, int], rng: np.random.Generator
    ) -> LabelRates | None:
        """Estimate how often positives of each kind are labeled; None if there is one kind only.

        ``sizes`` are the numbers of labeled and unlabeled rows that ``rows`` were drawn from.
        """
        cluster = self._clusters(rows.labeled, rng)
        names, seen = np.unique(cluster, return_counts=True)
        if names.size == 1:
            return None
        runs = [self._run(rows, cluster == name, rng) for name in names]
        # Unlabeled positives of each kind: the ends of an interval, and the estimate.
        shares = np.array([(*run.details["alpha_interval"], run.a) for run in runs])
        labeled = sizes[0] * seen / seen.sum()
        high, low, odds = (labeled[:, None] / np.maximum(shares * sizes[1], 0.5)).T
        rates = odds / (1 + odds)
        return LabelRates(
            n_kinds=names.size,
            lowest=float(rates.min()),
            highest=float(rates.max()),
            surely_unlike=float(low.max() / high.min()),
        )

    def _clusters(self, labeled: FloatArray, rng: np.random.Generator) -> IntArray:
        """Number of the cluster each labeled row belongs to."""
        from sklearn.preprocessing import StandardScaler

        X = np.clip(FeatureRows(labeled.copy(), labeled[:0].copy()).scaled().labeled, -_FAR, _FAR)
        X = StandardScaler().fit_transform(X)
        distinct = len(np.unique(X, axis=0))
        if self.n_clusters == "auto":
            most = min(MOST_CLUSTERS, len(X) // FEWEST_LABELED, distinct) if X.shape[1] > 1 else 1
            numbers = list(range(1, max(most, 1) + 1))
        else:
            numbers = [min(self.n_clusters, distinct)]
        if numbers[-1] == 1:
            return np.zeros(len(X), dtype=np.int64)
        some = X[np.sort(rng.choice(len(X), min(len(X), MOST_CLUSTERED), replace=False))]
        with threadpool_limits(1):  # threads cost k-means and small algebra more than they gain
            best = _likeliest(some, numbers, rng)
            if self.n_clusters != "auto":
                return np.asarray(best.predict(X), dtype=np.int64)
            shares = merged(best.predict_proba(X), OVERLAP)
        # Rows of a component too small for a kind belong to the next likeliest.
        while (sizes := np.bincount(shares.argmax(axis=1), minlength=shares.shape[1])).size > 1:
            if sizes.min() >= FEWEST_LABELED:
                break
            shares = np.delete(shares, int(sizes.argmin()), axis=1)
        return shares.argmax(axis=1)


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


def _likeliest(X: FloatArray, numbers: list[int], rng: np.random.Generator) -> Any:
    """The mixture that makes rows it has not seen likeliest, fitted to all."""
    held = rng.permutation(len(X)) < len(X) * HELD_OUT
    best, highest = (numbers[0], "full"), -np.inf
    for k in numbers:
        shapes = ["full"] if X.shape[1] <= _MOST_FULL else ["diag", "full"]
        found = {each: _mixture(k, each, X[~held], rng).score(X[held]) for each in shapes}
        shape = max(found, key=lambda each: found[each])
        if found[shape] <= highest:  # one more no longer helps, nor would two
            break
        best, highest = (k, shape), found[shape]
    return _mixture(*best, X, rng)


def _out_of_fold_counts(
    rows: FeatureRows, classifier: Any, rng: np.random.Generator
) -> ScoreCounts:
    """Count scores of labeled against unlabeled, each from a fit without the row's fold."""
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning

    folds = min(_FOLDS, rows.n_labeled, rows.n_unlabeled)
    if folds < 2:
        raise IdentifiabilityError(
            f"A classifier needs two labeled and two unlabeled rows at least, got "
            f"{rows.n_labeled} and {rows.n_unlabeled}."
        )
    tame = rows.scaled()
    X = np.clip(np.concatenate((tame.labeled, tame.unlabeled)), -_FAR, _FAR)
    ours = np.arange(len(X)) < rows.n_labeled
    fold = np.concatenate([rng.permutation(n) % folds for n in (rows.n_labeled, rows.n_unlabeled)])
    found = []
    # Someone else's classifier may know what to do with threads.
    with warnings.catch_warnings(), threadpool_limits(1) if classifier is None else nullcontext():
        # Scores from a fit that has not quite converged are scores all the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for plain in _default_classifiers(rows, folds) if classifier is None else [classifier]:
            scores = np.empty(len(X))
            for k in range(folds):
                held = fold == k
                model = clone(plain).fit(X[~held], ours[~held])
                if hasattr(model, "decision_function"):
                    scores[held] = model.decision_function(X[held])
                else:
                    scores[held] = model.predict_proba(X[held])[:, 1]
            found.append(ScoreCounts.from_scores(scores, ours))
    return max(found, key=lambda counts: counts.auc_pu)


def _default_classifiers(rows: FeatureRows, folds: int) -> list[Any]:
    """Return a logistic regression and, for many features, two normal classes.

    Squares and products are added to few features. Normal classes need more rows than features.
    """
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    few = rows.n_features <= _MOST_SQUARED
    smaller = min(rows.n_labeled, rows.n_unlabeled) * (folds - 1) // folds
    # Scaled before and after: squares of large numbers would drown the rest.
    logistic = make_pipeline(
        StandardScaler(),
        PolynomialFeatures(2 if few else 1, include_bias=False),
        StandardScaler(),
        LogisticRegression(max_iter=500),
    )
    normal = make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis(reg_param=0.02))
    return [logistic] if few or smaller <= rows.n_features else [logistic, normal]


def _mixture(k: int, shape: str, X: FloatArray, rng: np.random.Generator) -> Any:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    mixture = GaussianMixture(
        k,
        covariance_type=shape,
        reg_covar=1e-2,
        n_init=2,
        random_state=int(rng.integers(2**31)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mixture.fit(X)
