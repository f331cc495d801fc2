"""Scores of rows by models that have not seen them: a model's own, or cross-fitted ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from purecover._typing import FloatArray, RandomState
from purecover._validation import bad_value, show
from purecover.models._cross_fit import cross_fit
from purecover.models._labeling import fit_all
from purecover.models._table import Examples, model_name

__all__ = ["UnseenScores", "fit_out_of_bag", "makes_own_scores", "out_of_bag", "unseen_scores"]

ATTRIBUTE = "oob_score_samples_"
"""Where a fitted model keeps scores of its training rows by parts of it that did not see them."""

FORESTS = "oob_decision_function_"
"""Where scikit-learn's bags and forests keep them, with ``oob_score=True``."""


@dataclass(frozen=True, eq=False)
class UnseenScores:
    """Scores in the order of the rows, and one line on how they were made.

    Attributes
    ----------
    scores : ndarray of shape (n_rows,)
        Larger means more likely labeled.
    description : str
        For a report.
    model : classifier or None
        The model fitted to all rows, where one had to be made.
    """

    scores: FloatArray
    description: str
    model: Any = None


def makes_own_scores(estimator: Any) -> bool:
    """Whether a model will have out-of-bag scores once it is fitted, as far as one can tell.

    They must be on the scale of what it says of new rows, unlike those of a model that calibrates
    them afterwards. A pipeline does not count: a step that looks at labels, such as a selection
    of features, would have seen them all.
    """
    kind = type(estimator)
    if not _final(estimator):
        return False
    ours = any(cls.__module__.startswith("purecover.models.") for cls in kind.__mro__)
    known = ours or hasattr(estimator, ATTRIBUTE) or hasattr(kind, ATTRIBUTE)
    return known or bool(getattr(estimator, "oob_score", False))


def unseen_scores(
    function: str,
    estimator: Any,
    examples: Examples,
    *,
    cv: Any = 5,
    method: str = "auto",
    combine: str = "auto",
    fit_params: Mapping[str, Any] | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    own: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> UnseenScores:
    """A model's out-of-bag scores where it makes some, else those of a cross-validation.

    With ``own=False``, cross-validation in any case.
    """
    if own and not fit_params and makes_own_scores(estimator):
        made = _own_scores(function, estimator, examples)
        if made is not None:
            return made
    result = cross_fit(
        function,
        estimator,
        examples,
        cv=cv,
        method=method,
        combine=combine,
        fit_params=fit_params,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
    return UnseenScores(result.scores, result.description)


def _own_scores(function: str, estimator: Any, examples: Examples) -> UnseenScores | None:
    """Out-of-bag scores; None where the model has none, or none that keep to the rules.

    Groups must be kept together, so that ``fit`` must take them. Known negatives must be scored
    and not fitted to, which out-of-bag scores cannot do.
    """
    model = clone(estimator)
    more = {}
    if examples.groups is not None:
        if "groups" not in inspect.signature(model.fit).parameters:
            return None
        more["groups"] = examples.groups
    if examples.negative is not None:
        return None
    model.fit(examples.X, examples.positive.astype(np.int64), **more)
    scores = out_of_bag(function, model, examples.n_rows)
    if scores is None:
        return None
    return UnseenScores(scores, f"{_name(model)}, its own scores of rows unseen", model)


def out_of_bag(function: str, fitted: Any, n_rows: int) -> FloatArray | None:
    """Out-of-bag scores of a fitted model; None if it has none, an error if some are missing."""
    scores = getattr(fitted, ATTRIBUTE, None)
    if scores is None and hasattr(fitted, FORESTS):
        shares = np.asarray(getattr(fitted, FORESTS), dtype=np.float64)
        # A row that every tree has seen has no share in either class.
        with np.errstate(invalid="ignore"):
            scores = np.where(shares.sum(axis=1) > 0, shares[:, -1], np.nan)
    if scores is None:
        return None
    scores = np.array(scores, dtype=np.float64)
    finite = np.isfinite(scores)
    if scores.shape != (n_rows,) or not finite.all():
        raise bad_value(
            function,
            "estimator",
            "a classifier with a finite out-of-bag score of every row",
            f"{int(finite.sum())} of {n_rows} from {show(fitted)}",
            "more members leave fewer rows that all of them have seen",
        )
    return scores


def fit_out_of_bag(
    function: str, estimator: Any, examples: Examples, weight: FloatArray | None
) -> tuple[Any, FloatArray]:
    """A model fitted to all rows, and its out-of-bag scores, which must be probabilities."""
    hint = "a number of folds serves any classifier"
    if examples.groups is not None:
        got = "'oob' beside groups, which bags do not keep together"
        raise bad_value(function, "cv", "a number or a splitter", got, hint)
    must = "a number or a splitter for a classifier without out-of-bag scores"
    if not _final(estimator):
        got = f"'oob' for {show(estimator)}, which keeps scores before calibration"
        raise bad_value(function, "cv", must, got, hint)
    fitted = fit_all(estimator, examples, weight)
    scores = out_of_bag(function, fitted, examples.n_rows)
    if scores is None:
        raise bad_value(function, "cv", must, f"'oob' for {show(fitted)}", hint)
    if not bool(((scores >= 0) & (scores <= 1)).all()):
        must = "a classifier whose out-of-bag scores are probabilities"
        got = f"{show(fitted)} with scores from {scores.min():g} to {scores.max():g}"
        raise bad_value(function, "estimator", must, got)
    return fitted, scores


def _final(estimator: Any) -> bool:
    """Whether out-of-bag scores are on the scale of what a model says of new rows."""
    return bool(getattr(type(estimator), "_oob_scores_are_final", True))


def _name(model: Any) -> str:
    """What the report calls a fitted model, with its choice if it had candidates."""
    results = getattr(model, "results_", None)
    if not hasattr(model, "best_name_") or not results:
        return model_name(model)
    areas = ", ".join(f"{name} {row.auc_pu:.3f}" for name, row in results.items())
    return f"{type(model).__name__}: {model.best_name_}, chosen by observed AUC ({areas})"
