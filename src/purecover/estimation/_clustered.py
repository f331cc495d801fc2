"""`ClusteredLabels`: alpha where some kinds of positives get labeled more often than others."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import clone

from purecover._typing import FloatArray, IntArray, RandomState
from purecover._validation import bad_type, check_integer
from purecover.counts import ScoreCounts
from purecover.estimation._base import Inclusions, PriorEstimator
from purecover.estimation._label_curve import LabelCurve
from purecover.estimation._registry import register_prior_estimator
from purecover.estimation._regrouping import check_one_sided
from purecover.estimation._rows import FeaturePriorEstimator, Rows
from purecover.exceptions import IdentifiabilityError

__all__ = ["ClusteredLabels", "out_of_fold_scores"]

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
class ClusteredLabels(FeaturePriorEstimator):
    r"""Sum over clusters of the labeled positives, each estimated on its own.

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
    >>> estimator = pu.ClusteredLabels().fit(X, labeled)
    >>> estimator.diagnostics_["n_clusters"], round(estimator.proportions_.alpha, 1)
    (2, 0.4)
    """

    reference: ClassVar[str] = "Kumar & Lambert, PeerJ Computer Science 2023"

    def __init__(
        self,
        estimator: PriorEstimator | None = None,
        *,
        n_clusters: int | Literal["auto"] = "auto",
        classifier: Any = None,
        random_state: RandomState = 0,
    ) -> None:
        self.estimator = estimator
        self.n_clusters = n_clusters
        self.classifier = classifier
        self.random_state = random_state

    def _check_params(self) -> None:
        name = type(self).__name__
        check_one_sided(name, self.estimator)
        if isinstance(self.n_clusters, str):
            if self.n_clusters != "auto":
                must = "'auto' or a whole number of at least 1"
                raise bad_type(name, "n_clusters", must, self.n_clusters)
        else:
            check_integer(name, "n_clusters", self.n_clusters, low=1)
        check_classifier(name, self.classifier)
        self._generator()

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
            identifiable &= bool(run.details.get("identifiable", True))
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
        with _one_thread():
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
    from sklearn.exceptions import ConvergenceWarning

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
    with warnings.catch_warnings(), _one_thread() if classifier is None else nullcontext():
        # Scores from a fit that has not quite converged are scores all the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for k in range(folds):
            held = fold == k
            scores[held] = _response(clone(plain).fit(X[~held], ours[~held]), X[held])
    return scores[: rows.n_labeled], scores[rows.n_labeled :]


def check_classifier(function: str, classifier: Any) -> None:
    """None, or something that can be trained and then gives scores."""
    if classifier is None:
        return
    gives = any(hasattr(classifier, name) for name in ("decision_function", "predict_proba"))
    if isinstance(classifier, type) or not (hasattr(classifier, "fit") and gives):
        must = "a scikit-learn classifier with decision_function or predict_proba"
        raise bad_type(function, "classifier", must, classifier)


def _one_thread() -> AbstractContextManager[object]:
    """Keep k-means and linear algebra on one thread.

    Matrices this small gain nothing from more; and where other work keeps the cores busy, threads
    spend most of their time waiting for one another.
    """
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits


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


def _response(model: Any, X: FloatArray) -> FloatArray:
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    return np.asarray(model.predict_proba(X)[:, 1], dtype=np.float64)


def _mixture(k: int, X: FloatArray, rng: np.random.Generator) -> Any:
    from sklearn.exceptions import ConvergenceWarning
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
