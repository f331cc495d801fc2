"""Metrics as scikit-learn scorers: cross-validation and model selection without negatives."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from purecover._inputs import RESPONSES, labeled_value, response_scores
from purecover._typing import ArrayLike
from purecover._validation import bad_type, check_choice, check_real, public, to_numpy
from purecover.counts import ScoreCounts
from purecover.exceptions import ContradictionError, IdentifiabilityError, InvalidInputError
from purecover.proportions import GivenProportions, MixtureProportions, ProportionKeywords
from purecover.recovery.metrics import METRICS, MetricKeywords, RecoveryOptions, recover_metrics
from purecover.recovery.rates import contradiction_of, recover_auc

if TYPE_CHECKING:  # loads scikit-learn, which is not needed to name a scorer
    from purecover.estimators.base import PriorEstimator

__all__ = ["PUScorer", "make_pu_scorer"]


class PUScorer:
    """A scorer: ``scorer(estimator, X, labeled)`` gives a recovered metric, larger is better.

    Made by :func:`make_pu_scorer`; takes part in scikit-learn's metadata routing.
    """

    def __init__(
        self,
        metric: str,
        given: GivenProportions,
        positive_label: object,
        options: dict[str, Any],
        prior_estimator: PriorEstimator | None = None,
    ) -> None:
        self.metric = metric
        self._given = given
        self._positive_label = positive_label
        self._options = options
        self._prior_estimator = prior_estimator
        self._requests: dict[str, bool | str | None] = {}

    @public
    def __call__(
        self, estimator: Any, X: Any, labeled: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Score a fitted classifier on rows ``X`` with the label column ``labeled``.

        Raises
        ------
        IdentifiabilityError
            If alpha and beta are estimated and these rows do not determine them.
        ContradictionError
            Where given ones contradict the scores by more than chance explains.
        """
        values = to_numpy("labeled", labeled)
        positive = labeled_value(values, self._positive_label)

        def counted(scores: Any) -> ScoreCounts:
            return ScoreCounts.from_scores(
                scores, values, sample_weight=sample_weight, positive_label=positive
            )

        entry, options = METRICS[self.metric], self._options
        method = "predict_proba" if entry.kind == "probability" else "auto"

        def ranked() -> ScoreCounts:
            return counted(response_scores(estimator, X, positive=positive, response_method=method))

        if entry.kind == "threshold" and options["threshold"] is None:
            # What `predict` calls positive is what the label column calls labeled.
            if not hasattr(estimator, "predict"):
                raise bad_type("estimator", "a fitted classifier with predict", estimator)
            counts = counted(np.asarray(estimator.predict(X)) == positive)
            options = {**options, "threshold": 1.0}
            # Yes and no are too little to estimate from, and to see whether alpha and beta fit:
            # that takes the scores behind them.
            scored = any(hasattr(estimator, each) for each in RESPONSES)
            behind = ranked() if self._prior_estimator or scored else counts
        else:
            counts = behind = ranked()
        proportions = self._proportions(behind)
        if self._prior_estimator is None and (told := contradiction_of(behind, proportions)):
            raise ContradictionError(
                f"{{function}}: {told}. Or this fold has another share of positives than all "
                "rows do, as folds of sorted rows may: shuffle them, by StratifiedKFold(shuffle="
                "True)."
            )
        if self.metric == "roc_auc":
            value = recover_auc(counts, proportions, clip=False)
        else:
            found = recover_metrics(counts, proportions, metrics=[self.metric], **options)
            value = found[self.metric]
        return value if entry.greater_is_better else -value

    def _proportions(self, counts: ScoreCounts) -> MixtureProportions:
        """Alpha and beta of one fold: what was given, or what its scores say."""
        if self._prior_estimator is None:
            return self._given.resolve(counts)
        from purecover.estimators.parameters import clone

        # A scorer is shared by the folds, which may be scored at the same time.
        fresh = clone(self._prior_estimator)
        try:
            found = fresh.fit(counts).proportions_
        except IdentifiabilityError as error:
            raise IdentifiabilityError(
                f"{{function}} cannot estimate alpha and beta from the {counts.n_labeled:,.10g} "
                f"labeled and {counts.n_unlabeled:,.10g} unlabeled rows of a fold. {error}"
            ) from error
        return self._given.estimated(found)

    def set_score_request(self, **requests: bool | str | None) -> PUScorer:
        """Ask scikit-learn's metadata routing for ``sample_weight`` (True, False or an alias)."""
        unknown = set(requests) - {"sample_weight"}
        if unknown:
            raise InvalidInputError(
                f"set_score_request takes 'sample_weight' only, got {sorted(unknown)}."
            )
        asked = copy.copy(self)
        asked._requests = dict(requests)
        return asked

    def get_metadata_routing(self) -> Any:
        """Return the request of this scorer to metadata routing."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=type(self).__name__)
        for parameter, alias in self._requests.items():
            request.score.add_request(param=parameter, alias=alias)
        return request

    def __repr__(self) -> str:
        given = [
            f"{name}={value!r}"
            for name, value in vars(self._given).items()
            if value is not None and name != "estimator"
        ]
        if self._prior_estimator is not None:
            given.append(f"estimator={self._prior_estimator!r}")
        return f"PUScorer({self.metric!r}, {', '.join(given)})"


class ScorerKeywords(ProportionKeywords, MetricKeywords, total=False):
    """Alpha and beta as far as they are known, and how the metric is recovered."""


@public
def make_pu_scorer(
    metric: str,
    *,
    positive_label: object = None,
    threshold: float | None = None,
    **options: Unpack[ScorerKeywords],
) -> PUScorer:
    """A scikit-learn scorer that recovers a metric from labeled and unlabeled data.

    Use it wherever scikit-learn takes ``scoring=``: ``cross_validate``, ``GridSearchCV``,
    ``HalvingGridSearchCV`` and so on, with the label column as ``y``. Where nothing is said of
    alpha it is estimated in each fold, and a ``prior`` or ``label_frequency`` becomes an alpha by
    the labeled share of each fold. ``proportions`` is how to use one estimate for all folds and
    all models.

    Parameters
    ----------
    metric : str
        A name from ``METRICS``, such as ``"roc_auc"``, ``"auc_pr"`` or ``"f1"``.
    positive_label : object, optional
        The value of ``y`` that means labeled, where it cannot be read off.
    threshold : float, optional
        For threshold metrics: scores (``decision_function``, or else the probability of the
        positive class) of at least this are positive. By default the classifier's own
        ``predict`` decides.
    **options

    Returns
    -------
    PUScorer
        A scorer; larger is better, so costs and error rates come with a minus sign. Sample
        weights are used if metadata routing asks for them
        (``scorer.set_score_request(sample_weight=True)``).

    See Also
    --------
    recover_metrics : The same values from scores.
    evaluate : Estimates alpha and beta once, with intervals and checks.

    Notes
    -----
    Metrics of probabilities, such as ``"brier"`` and ``"log_loss"``, take ``predict_proba``, which
    must be of the true class: that of :class:`PUCalibratedClassifier`, for example.

    The AUC is the direct one and is not clipped: with few rows in a fold it can exceed 1,
    and clipping would bias the mean over folds and hide which model is better.

    With alpha and beta estimated in each fold every model brings its own: an honest score for
    one model that includes all steps, but between models part of a difference is a difference
    of two estimates, and ROC AUC, whose order no correction changes, is then better compared
    as observed (``scoring="roc_auc"``). To compare models that rank differently, estimate once
    from out-of-fold scores and pass ``proportions``.

    An ``estimator`` named by a text, whose method takes labels as clean, is run both ways, as in
    :func:`evaluate`. A copy is fitted to the scores of the fold, so that an earlier fit of it plays
    no part.

    If the scores of a fold do not determine alpha and beta, or contradict those given (for metrics
    of ``predict``, the scores behind it, if the classifier has any), the scorer raises
    :class:`~purecover.exceptions.IdentifiabilityError`. ``cross_validate`` and searches turn it
    into their ``error_score``: NaN by default, with a warning, and a candidate with one such
    fold is ranked last.

    Examples
    --------
    >>> from purecover import make_pu_scorer, simulate
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_validate
    >>> sample = simulate.binormal(1.5).sample(300, 1000, alpha=0.25, random_state=0)
    >>> scoring = make_pu_scorer("roc_auc", alpha=0.25)
    >>> X = sample.scores.reshape(-1, 1)
    >>> result = cross_validate(LogisticRegression(), X, sample.labeled, scoring=scoring)
    >>> bool(0.8 < result["test_score"].mean() < 0.92)
    True

    Without alpha:

    >>> scoring = make_pu_scorer("f1", beta=1, estimator="alphamax")
    >>> result = cross_validate(LogisticRegression(), X, sample.labeled, scoring=scoring)
    >>> result["test_score"].shape
    (5,)
    """
    # Complain now, not in the first fold.
    check_choice("metric", metric, METRICS)
    measured = RecoveryOptions.among(options).validated()
    if METRICS[metric].kind == "top_k" and measured.top_k is None:
        raise InvalidInputError(f"{{function}} needs 'top_k' for the metric {metric!r}.")
    if threshold is not None:
        check_real("threshold", threshold)
    given = GivenProportions.among(options).validated(can_estimate=True)
    prior_estimator = None
    if not given.ways:
        from purecover.estimators.choice import check_estimator, with_clean_labels

        prior_estimator = with_clean_labels(check_estimator(given.estimator), given.known_beta)
    return PUScorer(
        metric, given, positive_label, {"threshold": threshold, **vars(measured)}, prior_estimator
    )
