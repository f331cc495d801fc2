r"""`PUCalibratedClassifier`: probabilities of the true class from labeled and unlabeled rows.

Let :math:`\pi_p = c\beta + (1-c)\alpha` be the share of positives in the pool and :math:`Q` the
probability that a row of the pool is positive. Then

.. math::

    \tau = P(\text{labeled} \mid x) = \tau_0 + (\tau_1 - \tau_0)\,Q, \qquad
    \tau_1 = c\beta/\pi_p, \quad \tau_0 = c(1-\beta)/(1-\pi_p),

the ends of :func:`posterior_band`. So tau levels off at :math:`\tau_1 < 1` even where positives
are certain. A plain sigmoid, as Platt's, levels off at 1 and cannot follow it; the sigmoid here
is that of :math:`Q`. Isotonic regression of the labels is bounded by the band, which is the
same as clipping it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from purecover import _inputs as inputs
from purecover import _validation as valid
from purecover._typing import ArrayLike, BoolArray, FloatArray, RandomState, Scenario, Target
from purecover._validation import public
from purecover.counts import ScoreCounts
from purecover.estimators.base import PriorEstimator
from purecover.estimators.choice import check_estimator, with_clean_labels
from purecover.exceptions import IdentifiabilityError, PurecoverError, Words
from purecover.models.cross_fit import check_settings, cross_fit
from purecover.models.examples import (
    Examples,
    check_model,
    check_seed,
    model_name,
    read_examples,
    read_weights,
)
from purecover.proportions import GivenProportions, MixtureProportions, check_target
from purecover.recovery.posteriors import correct_posterior, posterior_band
from purecover.recovery.rates import refuse_contradiction, warn_of_contradiction

N_PARTS = 5
"""Parts of the data in the comparison of the two methods."""

_STARTS = (0.5, 1.0, 2.0, 4.0)
"""Slopes from which the sigmoid is fitted; the likelihood is not concave."""

_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class SigmoidCalibrator:
    """A sigmoid between the two ends of the band."""

    center: float
    slope: float
    intercept: float
    low: float
    high: float

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return probabilities of being labeled."""
        positive = expit(self.intercept + self.slope * (scores - self.center))
        return np.asarray(self.low + (self.high - self.low) * positive)


Calibrator: TypeAlias = Callable[[FloatArray], FloatArray]
"""A non-decreasing map from scores to probabilities of being labeled."""


def fit_isotonic(
    scores: FloatArray, labeled: BoolArray, weight: FloatArray, band: tuple[float, float]
) -> Calibrator:
    """Fit the non-decreasing map in the band that is nearest to the labels."""
    from sklearn.isotonic import IsotonicRegression

    found = IsotonicRegression(y_min=band[0], y_max=band[1], out_of_bounds="clip")
    found.fit(scores, labeled.astype(np.float64), sample_weight=weight)
    calibrator: Calibrator = found.predict
    return calibrator


def fit_sigmoid(
    scores: FloatArray, labeled: BoolArray, weight: FloatArray, band: tuple[float, float]
) -> SigmoidCalibrator:
    """Fit the sigmoid between the ends of the band by maximum likelihood.

    Targets are Platt's, a little inside 0 and 1, so that samples which do not overlap get a
    finite slope.
    """
    from scipy.optimize import minimize

    low, high = band
    total = float(weight.sum())
    n_labeled = float(weight[labeled].sum())
    center = float(np.dot(weight, scores)) / total
    spread = float(np.sqrt(np.dot(weight, (scores - center) ** 2) / total)) or 1.0
    z = (scores - center) / spread
    target = np.where(labeled, (n_labeled + 1) / (n_labeled + 2), 1 / (total - n_labeled + 2))

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        positive = expit(theta[0] * z + theta[1])
        tau = np.clip(low + (high - low) * positive, _TINY, 1 - _TINY)
        value = -np.dot(weight, target * np.log(tau) + (1 - target) * np.log1p(-tau))
        pull = weight * (tau - target) / (tau * (1 - tau))
        pull *= (high - low) * positive * (1 - positive)
        return float(value) / total, np.array([np.dot(pull, z), pull.sum()]) / total

    share = n_labeled / total
    middle = np.clip((share - low) / (high - low), 0.01, 0.99)
    how: Any = {"jac": True, "method": "L-BFGS-B", "bounds": [(0, None), (None, None)]}
    tried = [minimize(loss, np.array([slope, logit(middle)]), **how) for slope in _STARTS]
    slope, intercept = min(tried, key=lambda found: float(found.fun)).x
    return SigmoidCalibrator(center, float(slope) / spread, float(intercept), low, high)


_FITS: dict[str, Callable[..., Calibrator]] = {"isotonic": fit_isotonic, "sigmoid": fit_sigmoid}


def choose_calibrator(
    scores: FloatArray,
    labeled: BoolArray,
    weight: FloatArray,
    proportions: MixtureProportions,
    *,
    method: str,
    rng: np.random.Generator,
) -> tuple[Calibrator, str, float]:
    """Fit the calibrator of a method, or of the better one; return method and labeled share too.

    Better is the one with the smaller squared error of the labels on parts it has not seen.
    """
    share = float(weight[labeled].sum() / weight.sum())
    band = posterior_band(share, proportions)
    if method == "auto":
        part = _parts(labeled, rng)
        errors = dict.fromkeys(_FITS, 0.0)
        for k in range(N_PARTS):
            there = part == k
            for name, fit in _FITS.items():
                tau = fit(scores[~there], labeled[~there], weight[~there], band)(scores[there])
                errors[name] += float(np.dot(weight[there], (tau - labeled[there]) ** 2))
        method = min(errors, key=errors.__getitem__)
    return _FITS[method](scores, labeled, weight, band), method, share


def _parts(labeled: BoolArray, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Assign a part to each row, the labeled evenly."""
    part = np.empty(labeled.size, dtype=np.int64)
    for side in (labeled, ~labeled):
        rows = rng.permutation(np.flatnonzero(side))
        part[rows] = np.arange(rows.size) % N_PARTS
    return part


def read_labeling(
    X: Any, y: ArrayLike | None, *, groups: ArrayLike | None = None, positive_label: object = None
) -> tuple[Examples, np.ndarray[Any, Any], Any]:
    """Rows of scikit-learn's ``fit(X, y)``, the two values of y, and the one that means labeled."""
    check_rows(X)
    if not isinstance(X, (list, tuple, str, bytes, type)):
        (X,) = indexable(X)  # sparse matrices of a kind that can be cut into folds
    if y is None:
        must = "an array: for each row, whether the row carries the label"
        got = "None; fit requires y to be passed, but the target y is None"
        raise valid.bad_value("y", must, got)
    for name, column in (("y", y), ("groups", groups)):
        if isinstance(column, str):  # predictions are made of frames without that column
            must = "an array with a value for each row"
            raise valid.bad_type(name, must, column, "pass the column itself")
    if getattr(y, "ndim", 1) == 2:
        words = "A column-vector y was passed when a 1d array was expected"
        valid.warn(words, DataConversionWarning)
    values = _plain(valid.to_numpy("y", y))
    inputs.refuse_missing("y", values)
    classes = _two_classes(values)
    if positive_label is None:
        at = inputs.labeled_of_two(classes)
        if at is None:
            must = "two-valued, one value for labeled and one for unlabeled rows"
            got = f"{valid.show(classes.tolist())}, which both mean the same"
            hint = Words("name the value that means labeled with ", "positive_label=")
            raise valid.bad_value("y", must, got, hint)
        positive_label = classes[at]
    examples = read_examples(X, values, groups=groups, positive_label=positive_label)
    valid.check_alignment(X, y, names=("X", "y"))
    return examples, classes, values[int(np.argmax(examples.positive))]


def _plain(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Convert columns of objects that are all truth values or all numbers."""
    if values.dtype.kind != "O":
        return values
    kinds = {type(value) for value in values.tolist()}
    if kinds <= {bool, np.bool_}:
        return values.astype(np.bool_)
    return np.array(values.tolist()) if kinds in ({int}, {float}) else values


def _two_classes(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the two values in ascending order; refuse others in the words of scikit-learn."""
    try:
        classes = np.unique(values)
    except TypeError as error:  # values that cannot be compared
        must, hint = "of one type throughout", "map it to booleans first"
        raise valid.bad_type("y", must, values[0], hint) from error
    if classes.size == 2:
        return classes
    must = "two-valued, one value for labeled and one for unlabeled rows"
    if classes.size == 1:
        got = f"one class: {valid.show(classes.tolist()[0])} in all {values.size} rows"
        hint = "training needs labeled and unlabeled rows; is that the right column?"
        raise valid.bad_value("y", must, got, hint)
    got = f"{classes.size} values, {valid.show(classes[:5].tolist())}"
    if values.dtype.kind == "f" and not bool((values == np.round(values)).all()):
        hint = "Unknown label type: continuous. Are these scores?"
    else:
        hint = (
            "Only binary classification is supported. The type of the target is multiclass. "
            "Map the column to booleans first, for example y == 'positive'"
        )
    raise valid.bad_value("y", must, got, hint)


def check_rows(X: Any) -> None:
    """Refuse input that no classifier accepts, before it is split into folds."""
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise valid.bad_value(
            "X", "real", "complex numbers", "Complex data not supported: pass parts"
        )
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "fiub":
        hint = "Reshape your data: X.reshape(1, -1) is one row, X.reshape(-1, 1) one feature"
        raise valid.bad_value("X", "a matrix", f"an array of shape {X.shape}", hint)


@contextmanager
def label_column_named_y() -> Iterator[None]:
    """Rename ``labeled`` to ``y`` in errors, as scikit-learn's ``fit`` calls it."""
    try:
        yield
    except PurecoverError as error:
        if error.parameter == "labeled":
            error.parameter = "y"
        raise


def fit_parameters(estimator: Any, weight: FloatArray | None) -> dict[str, FloatArray]:
    """Return the weights as a parameter of ``fit``; warn if the estimator takes none.

    A pipeline passes them to its last step.
    """
    if weight is None:
        return {}
    last, prefix = estimator, ""
    while getattr(last, "steps", None):
        name, last = last.steps[-1]
        prefix += f"{name}__"
    if has_fit_parameter(last, "sample_weight"):
        return {f"{prefix}sample_weight": weight}
    valid.warn(
        f"{model_name(estimator)} takes no weights in its fit, so that sample_weight "
        "counts in the calibration and in alpha, but not in its training."
    )
    return {}


def log_odds(
    probabilities: FloatArray, least: float = float(np.finfo(np.float64).eps)
) -> FloatArray:
    """Return log-odds of probabilities that are clipped at ``least`` from 0 and 1."""
    return np.asarray(logit(np.clip(probabilities, least, 1 - least)))


METHODS = ("auto", "isotonic", "sigmoid")
RESPONSES = ("predict_proba", "decision_function")

LEAST = 1e-9
"""Probabilities of being labeled nearer to 0 or 1 are cut, so that log-odds remain finite."""


@dataclass(eq=False, repr=False)
class PUCalibratedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    r"""Makes any classifier of labeled against unlabeled one of positive against negative.

    Its ``predict_proba`` means the true class, not the label. A pickle is refused by any other
    version: what it predicts follows from code and from what it has learned.

    Parameters
    ----------
    estimator : classifier
        A classifier of scikit-learn's kind, with ``predict_proba`` or ``decision_function``. It
        is trained on labeled against unlabeled rows.
    method : {"auto", "isotonic", "sigmoid"}, default="auto"
        How its scores become probabilities: by isotonic regression, by a sigmoid, or by the one
        that predicts labels better on parts of the data it has not seen. See Notes.
    cv : int, splitter or iterable, default=5
        Folds of the cross-fitting, as in :func:`cross_fit_scores`.
    alpha : float, optional
        Share of positives among the unlabeled. Give this or ``proportions`` or ``prior`` with
        ``scenario`` or ``label_frequency``; with none of them it is estimated from the
        cross-fitted scores.
    beta : float, optional
        Share of positives among the labeled. Default: 1 with a known alpha, estimated with
        an estimated one.
    proportions : MixtureProportions, optional
        Both at once.
    prior, label_frequency, scenario
        As in :func:`evaluate`.
    prior_estimator : PriorEstimator or str, optional
        What estimates alpha and beta, or its name in :func:`prior_estimators`;
        :class:`ReferencePosterior` if not given.
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

    estimator: Any
    _: KW_ONLY
    method: Literal["auto", "isotonic", "sigmoid"] = "auto"
    cv: Any = 5
    alpha: float | None = None
    beta: float | None = None
    proportions: MixtureProportions | None = None
    prior: float | None = None
    label_frequency: float | None = None
    scenario: Scenario | None = None
    prior_estimator: PriorEstimator | str | None = None
    target: Target = "population"
    positive_label: object = None
    random_state: RandomState | np.random.RandomState = None
    n_jobs: int | None = None

    @public
    @label_column_named_y()
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

        Raises
        ------
        IdentifiabilityError
            If the cross-fitted scores contradict given alpha and beta, or determine none.
            With groups, which may explain it, a contradiction is a warning.
        """
        given, prior_estimator = self._check_params()
        seed = check_seed(self.random_state)
        examples, classes, positive = read_labeling(
            X, y, groups=groups, positive_label=self.positive_label
        )
        weight = read_weights(sample_weight, examples)
        validate_data(self, X, skip_check_array=True)
        self.classes_, self.labeled_class_ = classes, positive
        self.response_method_ = check_model(self.estimator, RESPONSES)
        weights = fit_parameters(self.estimator, weight)
        scores, _ = cross_fit(
            self.estimator,
            examples,
            cv=self.cv,
            method=self.response_method_,
            combine="raw",  # a new row has no rank
            fit_params=weights,
            random_state=seed,
            n_jobs=self.n_jobs,
        )
        target = examples.positive.astype(np.int64)
        self.estimator_ = clone(self.estimator).fit(examples.X, target, **weights)
        counts = ScoreCounts.from_scores(scores, examples.positive, sample_weight=weight)
        self.prior_estimator_ = prior_estimator
        if prior_estimator is None:
            self.proportions_ = given.resolve(counts)
            # With groups, chance goes further than the standard error knows.
            agree = refuse_contradiction if groups is None else warn_of_contradiction
            agree(counts, self.proportions_)
        else:
            try:
                found = prior_estimator.fit(counts).proportions_
            except IdentifiabilityError as error:
                says = "{function} cannot estimate alpha and beta from the cross-fitted scores."
                raise IdentifiabilityError(f"{says} {error}") from error
            self.proportions_ = given.estimated(found)
        self.target_prior_ = self.proportions_.prior(self.target, counts)
        self.calibrator_, self.method_, self.labeled_share_ = choose_calibrator(
            self._scaled(scores),
            examples.positive,
            np.ones(scores.size) if weight is None else weight,
            self.proportions_,
            method=self.method,
            rng=valid.check_random_state(seed),
        )
        self.oob_score_samples_ = scores
        self.oob_proba_ = valid.read_only(self._positive(scores))
        return self

    @public
    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities of the true classes.

        Parameters
        ----------
        X : matrix, sparse matrix or data frame of shape (n, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n, 2)
            One column for each of ``classes_``.
        """
        positive = self._positive(self._scores(X))
        columns = (1 - positive, positive)
        return np.column_stack(columns if self._labeled_last else columns[::-1])

    @public
    def decision_function(self, X: Any) -> FloatArray:
        """Return log-odds of the true class ``classes_[1]``, at most about 36 in size.

        Parameters
        ----------
        X : matrix, sparse matrix or data frame of shape (n, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n,)
            Above 0 where ``predict`` says ``classes_[1]``.
        """
        odds = log_odds(self._positive(self._scores(X)))
        return odds if self._labeled_last else -odds

    @public
    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Return the likelier of the true classes.

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

    def _check_params(self) -> tuple[GivenProportions, PriorEstimator | None]:
        valid.check_choice("method", self.method, METHODS)
        check_target(self.target)
        check_settings(self.estimator, cv=self.cv, n_jobs=self.n_jobs)
        check_model(self.estimator, RESPONSES)
        values = (self.alpha, self.beta, self.proportions, self.prior, self.label_frequency)
        given = GivenProportions(*values, self.scenario).validated(can_estimate=True)
        if not given.ways:
            found = check_estimator(self.prior_estimator, "prior_estimator")
            with_clean_labels(found, given.known_beta)
            return given, found
        if self.prior_estimator is not None:
            must = Words("left out where ", given.ways[0], " is given")
            raise valid.bad_value("prior_estimator", must, valid.show(self.prior_estimator))
        return given, None

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        check_rows(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        # The estimator was fitted to 1 for labeled and 0 for unlabeled.
        found = inputs.response_scores(
            self.estimator_, X, positive=1, methods=(self.response_method_,)
        )
        return np.asarray(found, dtype=np.float64)

    def _scaled(self, scores: FloatArray) -> FloatArray:
        """Return probabilities as log-odds; other scores unchanged."""
        return log_odds(scores, LEAST) if self.response_method_ == "predict_proba" else scores

    def _positive(self, scores: FloatArray) -> FloatArray:
        return correct_posterior(
            self.calibrator_(self._scaled(scores)),
            self.labeled_share_,
            self.proportions_,
            prior=self.target_prior_,
        )

    @property
    def _labeled_last(self) -> bool:
        return bool(self.classes_[1] == self.labeled_class_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags
