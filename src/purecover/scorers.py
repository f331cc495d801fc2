"""Metrics as scikit-learn scorers: cross-validation and model selection without negatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from purecover._given import GivenProportions
from purecover._labels import encode_labels
from purecover._typing import AreaRule, ArrayLike, Repair, Scenario, Target
from purecover._validation import check_choice, check_real, to_numpy
from purecover.counts import ScoreCounts
from purecover.exceptions import InvalidInputError
from purecover.proportions import TARGETS, MixtureProportions
from purecover.recovery._metrics import recover_metrics
from purecover.recovery._registry import METRICS, MetricOptions
from purecover.recovery._roc import REPAIRS

__all__ = ["make_pu_scorer"]


def make_pu_scorer(
    metric: str,
    *,
    alpha: float | None = None,
    beta: float = 1.0,
    proportions: MixtureProportions | None = None,
    prior: float | None = None,
    label_frequency: float | None = None,
    scenario: Scenario | None = None,
    target: Target = "population",
    repair: Repair | None = None,
    threshold: float | None = None,
    f_beta: float = 1.0,
    cost_fn: float = 1.0,
    cost_fp: float = 1.0,
    max_fpr: float = 0.1,
    top_k: int | None = None,
    area: AreaRule = "davis-goadrich",
) -> Any:
    """A scikit-learn scorer that recovers a metric from labeled and unlabeled data.

    Use it wherever scikit-learn takes ``scoring=``: ``cross_validate``, ``GridSearchCV``,
    ``HalvingGridSearchCV`` and so on, with the label column as ``y``.

    Parameters
    ----------
    metric : str
        A name from ``METRICS``, such as ``"roc_auc"``, ``"auc_pr"`` or ``"f1"``.
    alpha : float, optional
        Share of positives among the unlabeled. Give this or ``proportions`` or ``prior`` with
        ``scenario`` or ``label_frequency``.
    beta : float, default=1.0
        Share of positives among the labeled.
    proportions : MixtureProportions, optional
        Both at once.
    prior, label_frequency, scenario
        As in :func:`evaluate`; alpha then follows from the labeled share of each fold.
    target, repair, f_beta, cost_fn, cost_fp, max_fpr, top_k, area
        As in :func:`recover_metrics`.
    threshold : float, optional
        For threshold metrics: scores (``decision_function``, or else the probability of the
        positive class) of at least this are positive. By default the classifier's own
        ``predict`` decides.

    Returns
    -------
    callable
        A scorer; larger is better, so costs and error rates come with a minus sign. Sample
        weights are used if metadata routing asks for them
        (``scorer.set_score_request(sample_weight=True)``).

    See Also
    --------
    recover_metrics : The same values from scores.

    Notes
    -----
    The AUC is the direct one and is not clipped: with few examples in a fold it can exceed 1,
    and clipping would bias the mean over folds and hide which model is better.

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
    """
    name = "make_pu_scorer"
    check_choice(name, "metric", metric, METRICS)
    entry = METRICS[metric]
    MetricOptions(f_beta, cost_fn, cost_fp, max_fpr, top_k, area).validated(name)
    if entry.kind == "top_k" and top_k is None:
        raise InvalidInputError(f"{name} needs 'top_k' for the metric {metric!r}.")
    if not isinstance(target, str) or target not in TARGETS:
        check_real(name, "target", target, low=0, high=1, hint=f"or one of {', '.join(TARGETS)}")
    if repair is not None:
        check_choice(name, "repair", repair, REPAIRS)
    if threshold is not None:
        check_real(name, "threshold", threshold)
    given = GivenProportions(alpha, beta, proportions, prior, label_frequency, scenario)
    given.validated(name)  # complain now, not in the first fold
    from sklearn.metrics import make_scorer

    by_prediction = entry.kind == "threshold" and threshold is None
    return make_scorer(
        _score,
        response_method="predict" if by_prediction else ("decision_function", "predict_proba"),
        greater_is_better=entry.greater_is_better,
        metric=metric,
        by_prediction=by_prediction,
        given=given,
        options={
            "threshold": threshold,
            "target": target,
            "repair": repair,
            "f_beta": f_beta,
            "cost_fn": cost_fn,
            "cost_fp": cost_fp,
            "max_fpr": max_fpr,
            "top_k": top_k,
            "area": area,
        },
    )


def _score(
    labeled: ArrayLike,
    response: ArrayLike,
    *,
    metric: str,
    by_prediction: bool,
    given: GivenProportions,
    options: dict[str, Any],
    sample_weight: ArrayLike | None = None,
) -> float:
    """The score function behind every scorer; module-level so that it can be pickled."""
    name = "make_pu_scorer"
    values = to_numpy(name, "labeled", labeled)
    if by_prediction:
        # What `predict` calls positive is what the label column calls labeled.
        positive, _ = encode_labels(name, values, values.size)
        positive_value = values[int(np.argmax(positive))]
        response = np.asarray(response) == positive_value
        options = {**options, "threshold": 1.0}
    counts = ScoreCounts.from_scores(response, values, sample_weight=sample_weight)
    proportions = given.resolve(name, counts)
    return recover_metrics(counts, proportions, metrics=[metric], **options)[metric]
