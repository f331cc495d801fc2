"""Scores of a fitted classifier, turned so that larger means more positive.

scikit-learn orders classes by value, so that for the words "positive" and "unlabeled" the
last class, whose scores `decision_function` gives, is the wrong one. Here the label column
says which class is meant.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from purecover._labels import encode_labels
from purecover._typing import ArrayLike
from purecover._validation import bad_type, bad_value, check_choice, show, to_numpy

RESPONSES = ("decision_function", "predict_proba")


def labeled_value(labeled: ArrayLike, positive_label: object = None) -> Any:
    """The value of the label column that means labeled."""
    values = to_numpy("labeled", labeled)
    positive, _ = encode_labels(values, values.size, positive_label=positive_label)
    return values[int(np.argmax(positive))]


def response_scores(
    estimator: Any,
    X: Any,
    *,
    positive: Any,
    methods: Collection[str] = RESPONSES,
    response_method: str = "auto",
) -> Any:
    """Scores of a fitted binary classifier, larger where the class ``positive`` is likelier."""
    check_choice("response_method", response_method, ("auto", *RESPONSES))
    wanted = methods if response_method == "auto" else (response_method,)
    # hasattr, not the class: a pipeline or a search has what its last step has.
    found = next((method for method in wanted if hasattr(estimator, method)), None)
    if isinstance(estimator, type) or found is None:
        raise bad_type(
            "estimator",
            f"a fitted classifier with {' or '.join(wanted)}",
            estimator,
            "for scores from elsewhere use the functions that take scores",
        )
    from sklearn.exceptions import NotFittedError

    try:
        scores = np.asarray(getattr(estimator, found)(X))
    except NotFittedError as error:
        raise bad_value("estimator", "fitted", show(estimator), "call fit first") from error
    classes = getattr(estimator, "classes_", None)
    if classes is None:  # not scikit-learn's own: nothing says that its scores are turned
        return scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores
    at = _class_of(np.asarray(classes), positive)
    if scores.ndim == 2:
        return scores[:, at] if scores.shape[1] == len(classes) else scores
    return scores if at == 1 else -scores


def _class_of(classes: np.ndarray[Any, Any], positive: Any) -> int:
    """Where among the classes the positive one is."""
    if len(classes) != 2:
        raise bad_value(
            "estimator",
            "a classifier of two classes",
            f"one with {len(classes)} ({show(list(classes))})",
            "train it on labeled against unlabeled, or on positive against negative",
        )
    same = [bool(c == positive) for c in classes]
    if any(same):
        return same.index(True)
    # Trained on other values than the label column holds, such as true classes.
    encoded, _ = encode_labels(classes, classes.size, parameter="estimator.classes_")
    return int(np.argmax(encoded))
