"""What the classifiers of this package have in common, and what they ask of those they train."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from purecover import __version__
from purecover._response import response_scores
from purecover._typing import FloatArray, RandomState
from purecover._validation import bad_type, check_random_state, show, warn
from purecover.exceptions import InvalidInputError, PurecoverError
from purecover.models.tables import Examples, check_rows


class TwoClassClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A classifier of labeled against unlabeled rows.

    Its pickle says which version made it, and is refused by any other: what a model predicts rests
    on code beside what it has learned; another version might predict something else in silence.
    """

    classes_: np.ndarray[Any, Any]
    labeled_class_: Any

    @property
    def _labeled_last(self) -> bool:
        return bool(self.classes_[1] == self.labeled_class_)

    def _columns(self, labeled: FloatArray) -> FloatArray:
        """Probabilities of ``classes_`` from those of the value for labeled."""
        columns = (1 - labeled, labeled)
        return np.column_stack(columns if self._labeled_last else columns[::-1])

    def _turned(self, scores: FloatArray) -> FloatArray:
        """Scores that are larger for ``classes_[1]`` from scores larger for labeled."""
        return scores if self._labeled_last else -scores

    def _check_rows(self, X: Any) -> None:
        """Rows like those of the fit, for a model inside to read."""
        check_is_fitted(self)
        check_rows(X)
        validate_data(self, X, reset=False, skip_check_array=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_purecover_version": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        version = state.pop("_purecover_version", "unknown")
        if version != __version__:
            raise InvalidInputError(
                f"This {type(self).__name__} was pickled by purecover {version}, and this is "
                f"{__version__}: what it would predict is not certain.\n"
                f"Hint: install purecover=={version} to use it, or fit anew with this version."
            )
        super().__setstate__(state)


def model_name(estimator: Any) -> str:
    """What a report calls a model: its class, and those of the steps inside it."""
    steps = getattr(estimator, "steps", None)
    if steps:
        parts = [step for _, step in steps if step not in (None, "passthrough")]
        return " + ".join(model_name(step) for step in parts)
    name = type(estimator).__name__
    # A forest keeps a tree under this name that nobody chose: only parameters count.
    parameters = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    inner = parameters.get("estimator")
    return f"{name}({model_name(inner)})" if hasattr(inner, "fit") else name


def check_model(estimator: Any, methods: tuple[str, ...]) -> str:
    """The method a model scores with; a complaint if it has none, or cannot be copied."""
    must = "a scikit-learn classifier with " + (
        f"{', '.join(methods[:-1])} or {methods[-1]}" if len(methods) > 1 else methods[0]
    )
    if isinstance(estimator, type):
        raise bad_type("estimator", must, estimator, f"make one: {estimator.__name__}()")
    usable = all(callable(getattr(estimator, m, None)) for m in ("fit", "get_params"))
    found = next((m for m in methods if hasattr(estimator, m)), None)
    if not usable or found is None:
        hint = "for scores from elsewhere use evaluate(scores, labeled)"
        if usable and hasattr(estimator, "predict"):
            hint = f"{show(estimator)} has predict alone, and yes and no are no ranking"
        raise bad_type("estimator", must, estimator, hint)
    return found


@contextmanager
def called_y() -> Iterator[None]:
    """Complaints about labels name them as scikit-learn's ``fit`` does."""
    try:
        yield
    except PurecoverError as error:
        if error.parameter == "labeled":
            error.parameter = "y"
        raise


def weight_parameter(estimator: Any) -> str | None:
    """What the ``fit`` of an estimator calls weights of rows; None if it takes none.

    A pipeline hands them to its last step.
    """
    steps = getattr(estimator, "steps", None)
    if not steps:
        return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None
    name, last = steps[-1]
    inner = weight_parameter(last)
    if inner is None:
        return None
    if get_config()["enable_metadata_routing"]:
        asked = last.get_metadata_routing() if hasattr(last, "get_metadata_routing") else None
        wants = asked is not None and asked.consumes("fit", ["sample_weight"])
        return "sample_weight" if wants else None
    return f"{name}__{inner}"


def fit_parameters(estimator: Any, weight: FloatArray | None) -> dict[str, FloatArray]:
    """The weights, if there are any and the estimator's ``fit`` takes them."""
    name = None if weight is None else weight_parameter(estimator)
    return {} if name is None or weight is None else {name: weight}


def warn_of_weights(estimator: Any, weight: FloatArray | None) -> None:
    """Say where weights of rows do not reach the training."""
    if weight is None or weight_parameter(estimator) is not None:
        return
    warn(
        f"{model_name(estimator)} takes no weights in its fit, so that sample_weight "
        "counts in the calibration and in alpha, but not in its training."
    )


def fit_all(estimator: Any, examples: Examples, weight: FloatArray | None = None) -> Any:
    """A copy of the estimator, fitted to all rows, with 1 for labeled and 0 for unlabeled."""
    fresh = clone(estimator)
    parameters = fit_parameters(fresh, weight)
    return fresh.fit(examples.X, examples.positive.astype(np.int64), **parameters)


def row_scores(estimator: Any, X: Any, method: str) -> FloatArray:
    """Scores by a classifier that was fitted to 1 for labeled and 0 for unlabeled."""
    scores = response_scores(estimator, X, positive=1, methods=(method,))
    return np.asarray(scores, dtype=np.float64)


def log_odds(
    probabilities: FloatArray, least: float = float(np.finfo(np.float64).eps)
) -> FloatArray:
    """Log-odds, of probabilities cut at ``least`` from 0 and 1 so that they remain finite."""
    return np.asarray(logit(np.clip(probabilities, least, 1 - least)))


def check_seed(random_state: RandomState | np.random.RandomState) -> int | np.random.Generator:
    """A seed itself, so that all it is handed to draw the same, or else a generator."""
    rng = check_random_state(random_state)
    whole: object = random_state  # NumPy's integers are not in the type
    return int(whole) if isinstance(whole, numbers.Integral) else rng


def seeds_of(
    random_state: RandomState | np.random.RandomState, size: int
) -> list[np.random.SeedSequence]:
    """A stream for each of several networks or ensembles."""
    seed = check_seed(random_state)
    if isinstance(seed, np.random.Generator):
        return np.random.SeedSequence(seed.integers(2**63, size=2).tolist()).spawn(size)
    return np.random.SeedSequence(seed).spawn(size)
