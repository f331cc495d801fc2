"""`PUCalibratedClassifier`: probabilities of the true class from labeled and unlabeled rows."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from purecover._given import GivenProportions
from purecover._typing import ArrayLike, FloatArray, RandomState, Scenario, Target
from purecover._validation import bad_value, check_choice, check_random_state, read_only, show
from purecover.counts import ScoreCounts
from purecover.estimation._asked import check_estimator, tell_clean
from purecover.estimation._base import PriorEstimator
from purecover.models._calibrators import choose_calibrator
from purecover.models._cross_fit import check_settings, cross_fit
from purecover.models._labeling import (
    TwoClasses,
    called_y,
    check_rows,
    fit_all,
    fit_parameters,
    log_odds,
    read_labeling,
    read_weights,
    row_scores,
    warn_of_weights,
)
from purecover.models._pickles import VersionedPickle
from purecover.models._priors import estimate_from_scores
from purecover.models._seeds import check_seed
from purecover.models._table import check_model
from purecover.models._unseen import fit_out_of_bag
from purecover.proportions import MixtureProportions, check_target
from purecover.recovery._posterior import correct_posterior

__all__ = ["PUCalibratedClassifier"]

METHODS = ("auto", "isotonic", "sigmoid")
RESPONSES = ("predict_proba", "decision_function")

LEAST = 1e-9
"""Probabilities of being labeled nearer to 0 or 1 are cut, so that log-odds remain finite."""


class PUCalibratedClassifier(
    VersionedPickle,
    TwoClasses,
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn is untyped
    MetaEstimatorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    r"""Makes any classifier of labeled against unlabeled one of positive against negative.

    Its ``predict_proba`` means the true class, not the label.

    Parameters
    ----------
    estimator : classifier
        A classifier of scikit-learn's kind, with ``predict_proba`` or ``decision_function``. It
        is trained on labeled against unlabeled rows.
    method : {"auto", "isotonic", "sigmoid"}, default="auto"
        How its scores become probabilities: by isotonic regression, by a sigmoid, or by the one
        that predicts labels better on parts of the data it has not seen. See Notes.
    cv : int, splitter, iterable or "oob", default=5
        Folds of the cross-fitting, as in :func:`cross_fit_scores`. With ``"oob"`` the estimator
        is fitted once, and its out-of-bag scores take the place of cross-fitted ones:
        :class:`BaggedNetworks`, or a forest with ``oob_score=True``.
    alpha : float, optional
        Share of positives among the unlabeled. Give this or ``proportions`` or ``prior`` with
        ``scenario`` or ``label_frequency``; with none of them it is estimated from the
        cross-fitted scores.
    beta : float, optional
        Share of positives among the labeled. Default: 1 beside a known alpha, estimated beside
        an estimated one.
    proportions : MixtureProportions, optional
        Both at once.
    prior, label_frequency, scenario
        As in :func:`evaluate`.
    prior_estimator : PriorEstimator or str, optional
        What estimates alpha and beta, or its name in :func:`prior_estimators`;
        :class:`LabelCurve` if not given.
    target : {"population", "deployment", "pooled"} or float, default="population"
        The population the probabilities refer to, as in :meth:`MixtureProportions.prior`: data
        like the unlabeled, unless the scenario is censoring. A number is its share of positives.
    positive_label : object, optional
        The value that means labeled, where it cannot be read off.
    random_state : int, Generator, RandomState or None, default=None
        Where the order of the folds comes from. The estimator has a seed of its own.
    n_jobs : int, optional
        Folds trained at the same time, as in scikit-learn.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two values of the label column in ascending order. In what this classifier predicts,
        the value for labeled means positive and the other one negative.
    labeled_class_ : object
        The value for labeled: ``classes_[1]`` for booleans, 0/1 and -1/+1.
    proportions_ : MixtureProportions
        Alpha and beta, given or estimated.
    prior_estimator_ : PriorEstimator or None
        What estimated them, before a given beta is applied; its ``interval_`` has the
        intervals. None where they were given.
    target_prior_ : float
        Share of positives in the population the probabilities refer to.
    method_ : {"isotonic", "sigmoid"}
        How scores become probabilities.
    labeled_share_ : float
        Share of labeled rows, which the calibration is for.
    estimator_ : classifier
        The estimator, fitted to all rows.
    oob_score_samples_ : ndarray of shape (n,)
        Cross-fitted scores of the rows, each by a model that has not seen it, before calibration.
        Good for :func:`evaluate`.
    oob_proba_ : ndarray of shape (n,)
        Probability of being positive of each row, from those scores. Use it for the rows of the
        training data: ``predict_proba`` of rows that a model was trained on is too sure. The
        map from scores to probabilities has seen all labels, so never hand it to
        :func:`evaluate`: it would look better than it is.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    correct_posterior : The map behind it.
    BestScorer : Finds a classifier worth calibrating.

    Notes
    -----
    The steps of ``fit``: cross-fitted scores of all rows; alpha and beta, if not given;
    calibration of these scores to the probability :math:`\tau` of being labeled; a last fit of
    the estimator to all rows. Then :math:`\tau` of a new row gives the density ratio of labeled
    to unlabeled, :math:`r = \frac{1-c}{c} \frac{\tau}{1-\tau}` with the share :math:`c` of
    labeled rows, and on data like the unlabeled

    .. math::

        P(y = 1 \mid x) = \frac{\alpha(1-\alpha)}{\beta-\alpha}
            \left[r - \frac{1-\beta}{1-\alpha}\right].

    How many rows of each kind there are does not matter: :math:`r` compares two densities, and
    :math:`c` cancels, as do class weights of the estimator, whose scores are calibrated anew.
    Another ``target`` multiplies the odds.

    Certain positives are labeled with probability
    :math:`\tau_1 = c\beta/(c\beta + (1-c)\alpha)` only. So ``"sigmoid"`` is not Platt's, which
    rises to 1: it is a sigmoid of the *true* class between the two ends of
    :func:`posterior_band`. ``"isotonic"`` is bounded by the same ends, so that
    probabilities never leave [0, 1], and has no form of its own; it needs some hundred labeled
    rows. Over the unlabeled rows of the training data, ``oob_proba_`` averages to about alpha.

    If alpha is off, so are the probabilities; nothing in labeled and unlabeled rows shows it.
    Labels are taken to depend on the class alone (:func:`scar_test`). ``score`` compares with
    true classes, if somebody has them; for model selection on labels use
    :func:`make_pu_scorer` or :func:`evaluate_model`. ``sample_weight`` counts in every step, in
    the estimator where its ``fit``, or that of a pipeline's last step, takes weights.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover import PUCalibratedClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> labeled = np.repeat([True, False], [500, 2000])
    >>> truth = labeled | (rng.random(2500) < 0.3)
    >>> X = rng.normal(size=(2500, 2)) + 2.0 * truth[:, None]
    >>> model = PUCalibratedClassifier(LogisticRegression(), alpha=0.3, random_state=0)
    >>> model = model.fit(X, labeled)
    >>> model.predict_proba([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])[:, 1].round(1)
    array([0. , 0.2, 1. ])
    >>> round(float(model.oob_proba_[~labeled].mean()), 2)
    0.3
    """

    def __init__(
        self,
        estimator: Any,
        *,
        method: Literal["auto", "isotonic", "sigmoid"] = "auto",
        cv: Any = 5,
        alpha: float | None = None,
        beta: float | None = None,
        proportions: MixtureProportions | None = None,
        prior: float | None = None,
        label_frequency: float | None = None,
        scenario: Scenario | None = None,
        prior_estimator: PriorEstimator | str | None = None,
        target: Target = "population",
        positive_label: object = None,
        random_state: RandomState | np.random.RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.alpha = alpha
        self.beta = beta
        self.proportions = proportions
        self.prior = prior
        self.label_frequency = label_frequency
        self.scenario = scenario
        self.prior_estimator = prior_estimator
        self.target = target
        self.positive_label = positive_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    # The scores kept are those before calibration, and not what it says of new rows.
    _oob_scores_are_final = False

    # -- what users call ----------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Train, calibrate and correct.

        Parameters
        ----------
        X : matrix, sparse matrix or data frame of shape (n, n_features)
            Features, whatever the estimator takes.
        y : array-like of shape (n,)
            Which rows are labeled: scikit-learn's name for it, though it is not the truth.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights.
        groups : array-like of shape (n,), optional
            Which rows belong together; a group is never in training and in test.

        Returns
        -------
        self
        """
        with called_y():
            return self._fit(X, y, sample_weight, groups)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the true classes.

        Parameters
        ----------
        X : matrix, sparse matrix or data frame of shape (n, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n, 2)
            One column for each of ``classes_``.
        """
        return self._columns(self._positive(self._scores(X, "predict_proba")))

    def decision_function(self, X: Any) -> FloatArray:
        """Log-odds of the true class ``classes_[1]``, at most about 36 in size.

        Parameters
        ----------
        X : matrix, sparse matrix or data frame of shape (n, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n,)
            Above 0 where ``predict`` says ``classes_[1]``.
        """
        return self._turned(log_odds(self._positive(self._scores(X, "decision_function"))))

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The likelier of the true classes.

        Parameters
        ----------
        X : matrix, sparse matrix or data frame of shape (n, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n,)
            Values of ``classes_``; that of the labeled rows means positive.
        """
        proba = self.predict_proba(X)
        return self.classes_[(proba[:, 1] > proba[:, 0]).astype(np.intp)]

    # -- in parts -----------------------------------------------------------------------

    def _fit(
        self,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
    ) -> Self:
        name, function = type(self).__name__, f"{type(self).__name__}.fit"
        given, prior_estimator = self._check_params(name)
        seed = check_seed(name, self.random_state)
        labeling = read_labeling(function, X, y, groups=groups, positive_label=self.positive_label)
        examples = labeling.examples
        weight = read_weights(function, sample_weight, examples)
        validate_data(self, X, skip_check_array=True)
        self.classes_, self.labeled_class_ = labeling.classes, labeling.positive
        self.response_method_ = check_model(name, self.estimator, RESPONSES)
        warn_of_weights(function, self.estimator, weight)
        if self._takes_out_of_bag:
            self.estimator_, scores = fit_out_of_bag(function, self.estimator, examples, weight)
        else:
            scores = cross_fit(
                function,
                self.estimator,
                examples,
                cv=self.cv,
                method=self.response_method_,
                combine="raw",  # a new row has no rank
                fit_params=fit_parameters(self.estimator, weight),
                random_state=seed,
                n_jobs=self.n_jobs,
            ).scores
            self.estimator_ = fit_all(self.estimator, examples, weight)
        counts = ScoreCounts.from_scores(scores, examples.positive, sample_weight=weight)
        self.prior_estimator_ = prior_estimator
        if prior_estimator is None:
            self.proportions_ = given.resolve(name, counts)
        else:
            self.proportions_ = given.estimated(
                estimate_from_scores(function, prior_estimator, counts)
            )
        self.target_prior_ = self.proportions_.prior(self.target, counts)
        self.calibrator_, self.labeled_share_ = choose_calibrator(
            self._scaled(scores),
            examples.positive,
            np.ones(scores.size) if weight is None else weight,
            self.proportions_,
            method=self.method,
            rng=check_random_state(name, seed),
        )
        self.method_ = self.calibrator_.method
        self.oob_score_samples_ = read_only(scores)
        self.oob_proba_ = read_only(self._positive(scores))
        return self

    def _check_params(self, name: str) -> tuple[GivenProportions, PriorEstimator | None]:
        check_choice(name, "method", self.method, METHODS)
        check_target(name, self.target)
        out_of_bag = self._takes_out_of_bag
        cv = 2 if out_of_bag else self.cv
        check_settings(
            name, self.estimator, cv=cv, method="auto", combine="raw", n_jobs=self.n_jobs
        )
        check_model(name, self.estimator, RESPONSES[:1] if out_of_bag else RESPONSES)
        told = (self.alpha, self.beta, self.proportions, self.prior, self.label_frequency)
        given = GivenProportions(*told, self.scenario).validated(name, can_estimate=True)
        if not given.ways:
            found = check_estimator(name, self.prior_estimator, "prior_estimator")
            tell_clean(found, given.beta)
            return given, found
        if self.prior_estimator is not None:
            must = f"left out where {given.ways[0]!r} is given"
            raise bad_value(name, "prior_estimator", must, show(self.prior_estimator))
        return given, None

    @property
    def _takes_out_of_bag(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "oob"

    def _scores(self, X: Any, method: str) -> FloatArray:
        check_is_fitted(self)
        function = f"{type(self).__name__}.{method}"
        check_rows(function, X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return row_scores(function, self.estimator_, X, self.response_method_)

    def _scaled(self, scores: FloatArray) -> FloatArray:
        """Scores on the scale of log-odds, on which a sigmoid is one."""
        return log_odds(scores, LEAST) if self.response_method_ == "predict_proba" else scores

    def _positive(self, scores: FloatArray) -> FloatArray:
        return correct_posterior(
            self.calibrator_(self._scaled(scores)),
            self.labeled_share_,
            self.proportions_,
            prior=self.target_prior_,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.target_tags.required = True
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags
