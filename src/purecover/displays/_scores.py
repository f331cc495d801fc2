"""Displays that need nothing but scores and labels: alpha and beta are what they are about."""

from __future__ import annotations

from typing import Any, Self

from purecover._typing import ArrayLike
from purecover.displays._base import Display, count, scores_of


class ScoresDisplay(Display):
    """Base of displays of estimates of alpha and beta."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        labeled: ArrayLike,
        *,
        positive_label: object = None,
        sample_weight: ArrayLike | None = None,
        response_method: str = "auto",
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Score rows with a fitted classifier, estimate alpha and beta, and draw.

        Parameters
        ----------
        estimator : object
            A fitted classifier (or pipeline, or search) of two classes, trained to tell labeled
            from unlabeled rows; see :meth:`RecoveredRocDisplay.from_estimator`.
        X : array-like of shape (n_samples, n_features)
            The rows, which the classifier should not have been trained on.
        labeled : array-like of shape (n_samples,)
            True where a row carries the positive label; see :meth:`ScoreCounts.from_scores`.
        positive_label : object, optional
            The value that means labeled, where it cannot be read off.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
            Which output of the classifier is the score; ``"auto"`` takes the first it has.
        name : str, optional
            The title of the axes; the class of the estimator if not given.
        **options
            Passed to :meth:`from_predictions`.

        Returns
        -------
        Display
            The display, drawn.
        """
        function = f"{cls.__name__}.from_estimator"
        cls._refuse_unknown("from_estimator", options)
        scores = scores_of(function, estimator, X, labeled, positive_label, response_method)
        counts = count(function, scores, labeled, sample_weight, positive_label)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(counts, name=name, **options)
