"""`BestScorer` keeps the best of several classifiers; `NearestLabeled` scores by distance."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import Tags, _safe_indexing, check_array, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from purecover import _validation as valid
from purecover._inputs import is_frame, rows_frame
from purecover._progress import Progress, part_of, shown
from purecover._typing import ArrayLike, FloatArray, IntArray, RandomState
from purecover._validation import FrozenDict, public
from purecover.estimators.base import prior_estimators
from purecover.estimators.estimate import LabelRates
from purecover.estimators.rows import FeatureRows
from purecover.exceptions import InvalidInputError, InvalidTypeError
from purecover.intervals.interval import check_level
from purecover.intervals.paired import RowwiseAuc, rowwise_auc
from purecover.models import cross_fit, tables
from purecover.models.tables import label_column_named_y

# -- The classifiers that `BestScorer` tries where nobody names others ---------------------------


FEWEST_LABELED = 50
"""Labeled examples of a kind."""

MOST_LOOKED_AT = 2_000, 8_000
"""Of more labeled and unlabeled rows, as many show how often kinds of positives are labeled."""

MOST_WORDS = 50
"""Of a column of words, as many get a column of their own where others than the model look."""

MOST_SPARSE_COLUMNS = 500
"""Networks write out the zeros of a sparse matrix; with more columns that takes minutes."""


def default_candidates(
    X: Any, seed: int, n_jobs: int | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """Classifiers by name, from the simplest to the most flexible, and why others are left out.

    Labels are noisy by nature here, since some unlabeled rows are positive, so that trees are
    kept from following single rows. Labeled rows may be few, so that bags are stratified.
    """
    from scipy.sparse import issparse
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from purecover_paper.networks import BaggedNetworks

    sparse = issparse(X)
    candidates: dict[str, Any] = {
        "logistic": make_pipeline(
            SimpleImputer(keep_empty_features=True),
            StandardScaler(with_mean=not sparse),
            LogisticRegression(max_iter=1000),
        ),
        "networks": BaggedNetworks(stratify=True, random_state=seed, n_jobs=n_jobs),
        "boosting": HistGradientBoostingClassifier(
            learning_rate=0.05, max_leaf_nodes=15, early_stopping=True, random_state=seed
        ),
        "forest": RandomForestClassifier(
            n_estimators=200, min_samples_leaf=5, random_state=seed, n_jobs=n_jobs
        ),
    }
    left_out = {}
    if sparse:
        del candidates["boosting"]
        if X.shape[1] > MOST_SPARSE_COLUMNS:
            del candidates["networks"]
            left_out["networks"] = (
                f"left out: {X.shape[1]:,} sparse columns, more than {MOST_SPARSE_COLUMNS}, take "
                "networks too long; reduce them first, for example with TruncatedSVD"
            )
    return candidates, left_out


CONSENSUS = ("logistic", "boosting", "forest")
"""The candidates by whose mean rank alpha is estimated."""

BY_MEAN_RANK = "a logistic regression, boosted trees and a forest, by mean rank out of fold"
"""What such scores are called where they are shown."""


def consensus_scores(
    examples: tables.Examples,
    *,
    cv: Any,
    seed: int,
    n_jobs: int | None = None,
    model: Any = None,
    progress: Progress | None = None,
) -> FloatArray | None:
    """The mean rank of every row by three unlike classifiers that have not seen it.

    Alpha belongs to the data, not to the scorer under evaluation; the ends of a ranking by several
    are purer than those of most single ones. None where the features are neither numbers nor
    words, or the rows too few. A ``model`` that tried the three itself is not asked to do so again.
    """
    if isinstance(model, BestScorer) and model._mean_ranks is not None:
        return model._mean_ranks
    try:
        X = _as_numbers(examples.X)
        X = check_array(X, accept_sparse="csr", ensure_all_finite="allow-nan")
    except (ValueError, TypeError):  # only the model under evaluation knows what to do with them
        return None
    examples = replace(examples, X=X)
    candidates, _ = default_candidates(examples.X, tables.small_seed(seed), n_jobs)
    names = [name for name in CONSENSUS if name in candidates]
    splits, _ = cross_fit.make_splits(examples, cv, seed)
    ranks = []
    with shown(progress) as tell:
        for k, name in enumerate(names):
            try:
                found = cross_fit.cross_fit(
                    candidates[name],
                    examples,
                    cv=splits,
                    combine="rank",
                    n_jobs=n_jobs,
                    progress=part_of(tell, k, len(names)),
                )
            except ValueError:  # boosting cannot hold back one labeled row of one
                return None
            ranks.append(found.scores)
    return np.asarray(np.mean(ranks, axis=0))


def _as_numbers(X: Any) -> Any:
    """A table with a column of zeros and ones for each frequent word of those that hold words."""
    if is_frame(X):
        import narwhals.stable.v2 as nw

        frame = nw.from_native(X, eager_only=True)
        columns = [frame[name].to_numpy() for name in frame.columns]
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS":
        columns = list(X.T)
    else:
        return X
    parts: list[FloatArray] = []
    for column in columns:
        try:
            values = column.astype(np.float64)
            if column.dtype.kind in "mM":
                values[np.isnat(column)] = np.nan
            parts.append(values[:, None])
        except (ValueError, TypeError):
            words = column.astype(str)
            kinds, counts = np.unique(words, return_counts=True)
            if kinds.size > len(words) / 2:
                continue  # names or sentences, of which only the model can make something
            frequent = kinds[np.argsort(-counts, kind="stable")[:MOST_WORDS]]
            parts.append((words[:, None] == frequent).astype(np.float64))
    return np.hstack(parts)


def label_rates(examples: tables.Examples, *, seed: int) -> LabelRates | None:
    """How often positives of different kinds are labeled, if features show kinds."""
    sides = np.flatnonzero(examples.positive), np.flatnonzero(examples.unlabeled)
    clustered: Any = prior_estimators().get("clustered")  # of purecover-paper, if installed
    if clustered is None or len(sides[0]) < 2 * FEWEST_LABELED:
        return None
    rng = np.random.default_rng(seed)
    few, many = (
        np.sort(rng.permutation(side)[:most])
        for side, most in zip(sides, MOST_LOOKED_AT, strict=True)
    )
    try:
        X = _as_numbers(_safe_indexing(examples.X, np.concatenate((few, many))))
        X = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
    except (ValueError, TypeError):  # texts, or a sparse matrix, whose rows are in no clusters
        return None
    known = np.where(np.isnan(X).all(axis=0), 0.0, X)
    X = np.where(np.isnan(known), np.nanmedian(known, axis=0), known)
    # Clusters follow a column of two values before all else, and kinds need not.
    several = np.array([np.unique(column).size > 2 for column in X.T])
    looked = [X] if several.all() or not several.any() else [X, X[:, several]]
    sizes = len(sides[0]), len(sides[1])
    found = [
        clustered().label_rates(FeatureRows(each[: len(few)], each[len(few) :]), sizes, rng)
        for each in looked
    ]
    return max((each for each in found if each), key=lambda each: each.surely_unlike, default=None)


# -- Candidates tried on the same rows, and the choice among them --------------------------------


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
    candidates: Mapping[str, Any],
    examples: tables.Examples,
    *,
    splits: list[cross_fit.Split],
    n_jobs: int | None,
) -> tuple[dict[str, Tried], dict[str, str]]:
    """Candidates that worked, and of the others why not; an error if none worked."""
    tried: dict[str, Tried] = {}
    failed: dict[str, str] = {}
    only_types = True
    for key, candidate in candidates.items():
        start = time.perf_counter()
        try:
            found = cross_fit.unseen_scores(candidate, examples, cv=splits, n_jobs=n_jobs)
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
        raise kind(f"{{function}} has no candidate that could be fitted.\n{reasons}")
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


# -- `BestScorer`: of several classifiers, the one that tells labeled from unlabeled best --------


RULES = ("best", "parsimonious")
_SHOWN = 300


def _has(method: str) -> Any:
    """Whether the winner has a method, or before there is one, whether each candidate has."""

    def check(scorer: BestScorer) -> bool:
        if hasattr(scorer, "best_estimator_"):
            return hasattr(scorer.best_estimator_, method)
        if not isinstance(scorer.candidates, Mapping):  # ours have all
            return True
        return all(hasattr(candidate, method) for candidate in scorer.candidates.values())

    return check


@dataclass(eq=False, repr=False)
class BestScorer(MetaEstimatorMixin, tables.TwoClassClassifier):  # type: ignore[misc]  # scikit-learn is untyped
    r"""Tries several classifiers of labeled against unlabeled, and keeps the best.

    How well scores separate decides how well alpha can be told and how much of a recovered curve
    is noise. So the scorer should be chosen before anything is estimated; its observed AUC
    tells which is best, without knowing alpha.

    Parameters
    ----------
    candidates : mapping of str to classifier, optional
        Classifiers by name, **simplest first**. By default, in this order, ``"logistic"``
        (scaled logistic regression), ``"networks"`` (:class:`BaggedNetworks`, stratified; not
        for sparse matrices of more than 500 columns), ``"boosting"`` (gradient-boosted trees;
        not for sparse matrices) and ``"forest"`` (random forest).
    rule : {"best", "parsimonious"}, default="best"
        ``"best"`` keeps the largest observed AUC. ``"parsimonious"`` goes through the candidates
        from the simplest on and moves to the next one only where it is better by more than
        chance.
    confidence_level : float, default=0.95
        For the parsimonious rule: level of the one-sided test of a difference.
    cv : int, splitter or iterable, default=5
        Folds of the cross-fitting, as in :func:`cross_fit_scores`; the same for all candidates.
        A candidate with out-of-bag scores of its own is judged by those.
    positive_label : object, optional
        The value that means labeled, where it cannot be read off.
    random_state : int, Generator, RandomState or None, default=None
        Where the order of the folds and the seeds of the default candidates come from.
    n_jobs : int, optional
        Folds trained at the same time, as in scikit-learn; also of the default candidates.

    Attributes
    ----------
    best_estimator_ : classifier
        The candidate chosen, fitted to all rows with 1 for labeled and 0 for unlabeled.
    best_name_ : str
        Its name.
    results_ : mapping of str to CandidateScore
        How each candidate did, in the order tried; :meth:`frame` gives the table.
    oob_score_samples_ : ndarray of shape (n,)
        Scores of all rows by the candidate chosen, each from a model that has not seen the row
        (cross-fitted or out-of-bag): what :func:`evaluate` and the estimators of alpha take.
    classes_ : ndarray of shape (2,)
        The two values of the label column in ascending order.
    labeled_class_ : object
        The one that means labeled.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    cross_fit_scores : Such scores from one classifier.
    BaggedNetworks : The classifier of the paper.
    PUCalibratedClassifier : Probabilities of the true class from any of them.

    Notes
    -----
    Differences are judged by DeLong's test for two areas on the same rows: with the share
    :math:`V_i` of unlabeled rows that score below labeled row :math:`i` and the share
    :math:`V_j` of labeled rows above unlabeled row :math:`j`, and :math:`D` the difference of
    these between two candidates,

    .. math:: se^2 = S^2(D_L)/n_L + S^2(D_U)/n_U,

    and the next candidate is better if its gain exceeds :math:`z\,se`. Where ``fit`` is given
    groups, the sum over a group takes the place of a row.

    The larger of several estimates is too large on average, because chance helped to choose it.
    The observed AUC of the winner is therefore a bit optimistic, by a fraction of its standard
    error; see the guide on choosing a scorer. For figures without that,
    ``cross_fit_scores(BestScorer(), X, labeled)`` repeats the choice in each fold.

    A candidate that raises an error is left out with a warning, and :attr:`results_` says why;
    if all do, ``fit`` fails. ``predict`` and ``predict_proba`` are those of labels, not of true
    classes.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988), "Comparing the areas under two or more correlated
    receiver operating characteristic curves", Biometrics. Obuchowski (1997), "Nonparametric
    analysis of clustered ROC curve data", Biometrics. The rule is that of Zeiberg, Jain &
    Radivojac (2020), "Fast nonparametric estimation of class proportions in the
    positive-unlabeled classification setting", AAAI.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover.models import BestScorer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> truth = np.hypot(*X.T) < 0.8  # a disk, which no line cuts out
    >>> labeled = truth & (rng.random(1000) < 0.5)
    >>> candidates = {"line": LogisticRegression(), "neighbors": KNeighborsClassifier(25)}
    >>> scorer = BestScorer(candidates, random_state=0).fit(X, labeled)
    >>> scorer.best_name_
    'neighbors'
    >>> scorer.oob_score_samples_.shape
    (1000,)
    """

    candidates: Mapping[str, Any] | None = None
    _: KW_ONLY
    rule: Literal["best", "parsimonious"] = "best"
    confidence_level: float = 0.95
    cv: Any = 5
    positive_label: object = None
    random_state: RandomState | np.random.RandomState = None
    n_jobs: int | None = None

    # -- what users call ----------------------------------------------------------------

    @public
    @label_column_named_y()
    def fit(self, X: Any, y: ArrayLike | None = None, *, groups: ArrayLike | None = None) -> Self:
        """Try the candidates, and fit the one chosen to all rows.

        Parameters
        ----------
        X : matrix, sparse matrix or data frame of shape (n, n_features)
            Features, whatever the candidates take.
        y : array-like of shape (n,)
            Which rows are labeled: scikit-learn's name for it, though it is not the truth.
        groups : array-like of shape (n,), optional
            Which rows belong together; no row is scored by a model that has seen its group.

        Returns
        -------
        self
        """
        valid.check_choice("rule", self.rule, RULES)
        check_level(self.confidence_level)
        seed = tables.small_seed(self.random_state)
        examples, classes, positive = tables.read_labeling(
            X, y, groups=groups, positive_label=self.positive_label
        )
        candidates, left_out = self._checked_candidates(examples.X, seed)
        validate_data(self, X, skip_check_array=True)
        # Made once: a splitter may draw anew each time, and an iterable is used up.
        splits, _ = cross_fit.make_splits(examples, self.cv, seed)
        tried, failed = try_candidates(candidates, examples, splits=splits, n_jobs=self.n_jobs)
        for key, reason in failed.items():
            valid.warn(f"{type(self).__name__} leaves out the candidate {key!r}. {reason[:_SHOWN]}")
        codes = examples.group_codes
        self.best_name_ = choose(tried, self.rule, self.confidence_level, codes)
        names = [*candidates, *left_out]
        self.results_ = tabulate(names, tried, {**failed, **left_out}, self.best_name_, codes)
        self._mean_ranks = None
        if self.candidates is None and all(name in tried for name in CONSENSUS):
            everybody = examples.positive, examples.unlabeled, examples.positive.mean()
            ranks = [cross_fit.fold_ranks(tried[name].scores, *everybody) for name in CONSENSUS]
            self._mean_ranks = np.asarray(np.mean(ranks, axis=0))
        self.oob_score_samples_ = valid.read_only(np.array(tried[self.best_name_].scores))
        self.classes_, self.labeled_class_ = classes, positive
        fitted = tried[self.best_name_].model
        if fitted is None:
            fitted = tables.fit_all(candidates[self.best_name_], examples)
        self.best_estimator_ = fitted
        self._response = tables.check_model(self.best_estimator_, cross_fit.METHODS)
        return self

    @public
    def frame(self, backend: Any = None) -> Any:
        """How each candidate did, as a table; see :meth:`ScoreCounts.frame`.

        Parameters
        ----------
        backend : str or module, optional
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``; a dict of arrays if not given.

        Returns
        -------
        dict or data frame
            One row for each candidate.
        """
        check_is_fitted(self)
        names = ("name", "auc_pu", "standard_error", "gain", "gain_error", "seconds")
        rows = [
            {name: getattr(row, name) for name in names}
            | {"chosen": row.name == self.best_name_, "error": row.error or ""}
            for row in self.results_.values()
        ]
        return rows_frame(rows, backend)

    @public
    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the winner: its decision function, or else what it scores with.

        Parameters
        ----------
        X : matrix, sparse matrix or data frame of shape (n, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n,)
            Larger where ``classes_[1]`` is likelier; probabilities are given as log-odds.
        """
        self._check_rows(X)
        has = hasattr(self.best_estimator_, "decision_function")
        method = "decision_function" if has else self._response
        scores = tables.row_scores(self.best_estimator_, X, method)
        return self._turned(tables.log_odds(scores) if method == "predict_proba" else scores)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    @public
    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the labels by the winner, where it gives any.

        Parameters
        ----------
        X : matrix, sparse matrix or data frame of shape (n, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n, 2)
            One column for each of ``classes_``.
        """
        self._check_rows(X)
        proba = np.asarray(self.best_estimator_.predict_proba(X))
        return proba if self._labeled_last else proba[:, ::-1]

    @public
    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The likelier label by the winner.

        Parameters
        ----------
        X : matrix, sparse matrix or data frame of shape (n, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n,)
            Values of ``classes_``.
        """
        self._check_rows(X)
        is_labeled = np.asarray(self.best_estimator_.predict(X)) == 1
        return self.classes_[(is_labeled if self._labeled_last else ~is_labeled).astype(np.intp)]

    # -- in parts -----------------------------------------------------------------------

    def _checked_candidates(self, X: Any, seed: int) -> tuple[dict[str, Any], dict[str, str]]:
        given = self.candidates
        left_out: dict[str, str] = {}
        if given is None:
            candidates, left_out = default_candidates(X, seed, self.n_jobs)
        elif not isinstance(given, Mapping):
            must, hint = "a mapping of names to classifiers", "write {'name': classifier}"
            raise valid.bad_type("candidates", must, given, hint)
        else:
            candidates = dict(given)
        if not candidates:
            raise valid.bad_value("candidates", "at least one classifier", "none")
        for key, candidate in candidates.items():
            if not isinstance(key, str):
                raise valid.bad_type("candidates", "named by strings", key)
            try:
                cross_fit.check_settings(candidate, cv=self.cv, n_jobs=self.n_jobs)
            except TypeError as error:
                if "'estimator'" not in str(error):
                    raise
                must = "a mapping of names to scikit-learn classifiers that score rows"
                got = f"{valid.show(candidate)} under {key!r}"
                raise valid.bad_value("candidates", must, got) from error
        return candidates, left_out

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if not isinstance(self.candidates, Mapping):  # forests take both
            tags.input_tags.sparse = tags.input_tags.allow_nan = True
            return tags
        inner = [get_tags(candidate).input_tags for candidate in self.candidates.values()]
        tags.input_tags.sparse = any(one.sparse for one in inner)
        tags.input_tags.allow_nan = any(one.allow_nan for one in inner)
        return tags


# -- `NearestLabeled`: how far the nearest labeled rows are, whatever the unlabeled look like ----


_AS_NEAR = 0.95
"""Rows are called labeled that are as near to labeled ones as this share of those are."""

_MOST_COLUMNS = 5_000
"""A covariance of more columns takes hundreds of megabytes."""


@dataclass(eq=False, repr=False)
class NearestLabeled(tables.NumericClassifier):
    r"""Scores rows by their distance to the labeled alone.

    A classifier learns what tells labeled from unlabeled rows. This one does not look at the
    unlabeled: what is near a labeled row scores high. Where positives lie close together, and
    negatives around them, its best scores are purer than those of many a classifier, and alpha,
    which is read off them, is nearer to the truth.

    Parameters
    ----------
    n_neighbors : int, default=1
        Labeled rows whose mean distance counts.
    positive_label : object, optional
        The value that means labeled, where it cannot be read off.
    n_jobs : int, optional
        Searches at the same time, as in scikit-learn.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two values of the label column in ascending order.
    labeled_class_ : object
        The one that means labeled.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    cross_fit_scores : Scores of rows by labeled rows other than themselves.
    BestScorer : What separates best, and should be evaluated.

    Notes
    -----
    The score of row :math:`x` is

    .. math::

        s(x) = -\frac{1}{k} \sum_{j=1}^{k} \sqrt{(x - x_{(j)})^T S^{-1} (x - x_{(j)})}

    with the :math:`k` labeled rows :math:`x_{(j)}` nearest to it, and :math:`S` the covariance of
    labeled rows, shrunken as Ledoit and Wolf propose: differences count in units of those between
    labeled rows. Every feature counts, so one that says nothing does harm: on most real tables a
    classifier is better (``make kinds`` shows a case of each).

    References
    ----------
    Ledoit & Wolf (2004), "A well-conditioned estimator for large-dimensional covariance
    matrices", Journal of Multivariate Analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover import cross_fit_scores, evaluate
    >>> from purecover.models import NearestLabeled
    >>> rng = np.random.default_rng(0)
    >>> labeled = np.arange(2000) < 500
    >>> positive = labeled | (rng.random(2000) < 0.3)
    >>> X = rng.normal(size=(2000, 5)) * np.where(positive, 0.5, 2.0)[:, None]
    >>> scores = cross_fit_scores(NearestLabeled(), X, labeled, random_state=0)
    >>> report = evaluate(scores, labeled, n_resamples=0)
    >>> print(f"{report.proportions.alpha:.1f}")
    0.3
    """

    n_neighbors: int = 1
    _: KW_ONLY
    positive_label: object = None
    n_jobs: int | None = None

    @public
    @label_column_named_y()
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Keep the labeled rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix, shape (n_rows, n_features)
            Finite numbers.
        y : array-like of shape (n,)
            Which rows are labeled: scikit-learn's name for it, though it is not the truth.

        Returns
        -------
        self
        """
        from sklearn.covariance import ledoit_wolf
        from sklearn.neighbors import NearestNeighbors

        k = valid.check_integer("n_neighbors", self.n_neighbors, low=1)
        valid.check_jobs(self.n_jobs)
        examples, classes, positive = tables.read_labeling(X, y, positive_label=self.positive_label)
        X = tables.numeric_matrix(self, examples.X, reset=True)
        n_labeled = int(examples.positive.sum())
        if k >= n_labeled:
            must = f"less than the number of labeled rows, {n_labeled}"
            raise valid.bad_value("n_neighbors", must, str(k))
        if X.shape[1] > _MOST_COLUMNS:
            hint = "reduce them first, for example with sklearn.decomposition.TruncatedSVD"
            must = f"a table of at most {_MOST_COLUMNS:,} columns"
            raise valid.bad_value("X", must, f"{X.shape[1]:,}", hint)
        self._standardizer = tables.Standardizer.of(X)
        rows = self._varying(X[examples.positive])
        # A little more on the diagonal, for labeled rows that are all alike.
        covariance = ledoit_wolf(rows)[0] + 1e-9 * np.eye(rows.shape[1])
        self._units = np.linalg.inv(np.linalg.cholesky(covariance)).T
        self._neighbors = NearestNeighbors(n_neighbors=k, n_jobs=self.n_jobs)
        self._neighbors.fit(rows @ self._units)
        among_themselves = self._neighbors.kneighbors()[0].mean(axis=1)
        self._limit = float(np.quantile(among_themselves, _AS_NEAR))
        self.classes_, self.labeled_class_ = classes, positive
        return self

    @public
    def score_samples(self, X: Any) -> FloatArray:
        """Minus the mean distance to the nearest labeled rows.

        Of labeled rows that were fitted, take :func:`cross_fit_scores`: they are near themselves.
        """
        check_is_fitted(self)
        X = tables.numeric_matrix(self, X, reset=False)
        rows = self._varying(X) @ self._units
        return np.asarray(-self._neighbors.kneighbors(rows)[0].mean(axis=1))

    def _varying(self, X: Any) -> FloatArray:
        """Standardized columns; constant ones would take part in the shrinking."""
        varies = np.isfinite(self._standardizer.scale)
        rows = self._standardizer.transform(X, np.float64)[:, :-1]
        return np.asarray(rows[:, varies] if varies.any() else rows)

    @public
    def decision_function(self, X: Any) -> FloatArray:
        """Score above what 95 % of labeled rows have, positive for the second of ``classes_``."""
        return self._turned(self.score_samples(X) + self._limit)
