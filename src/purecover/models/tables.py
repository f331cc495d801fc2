"""Rows of features, their labels, weights, groups and scale, as models take them."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import Tags
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter, validate_data

from purecover import __version__
from purecover import _inputs as inputs
from purecover import _validation as valid
from purecover._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from purecover._validation import public
from purecover.exceptions import InvalidInputError, PurecoverError
from purecover.intervals.resampling import read_groups as group_numbers

_MUST = "a table of features: an array with a row per example, a data frame or a sparse matrix"


@dataclass(frozen=True)
class Examples:
    """Features with what is known of each row."""

    X: Any
    labeled: Any  # the column as it was given
    positive: BoolArray
    negative: BoolArray | None
    groups: Any
    truth: Any
    weight: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.positive.size

    @property
    def unlabeled(self) -> BoolArray:
        """Rows that are neither labeled nor known to be negative."""
        return ~self.positive if self.negative is None else ~(self.positive | self.negative)

    @property
    def group_codes(self) -> IntArray | None:
        """A number for each group."""
        if self.groups is None:
            return None
        return np.unique(self.groups, return_inverse=True)[1].reshape(-1)


def read_examples(
    X: Any,
    labeled: ArrayLike | str,
    *,
    groups: ArrayLike | str | None = None,
    truth: ArrayLike | str | None = None,
    sample_weight: ArrayLike | str | None = None,
    positive_label: object = None,
    negative_label: object = None,
) -> Examples:
    """Check the rows; columns named by ``labeled`` and the like leave the features."""
    parts = {
        "labeled": labeled,
        "groups": groups,
        "truth": truth,
        "sample_weight": sample_weight,
    }
    X, parts = _take_out(X, parts)
    X, n_rows = read_rows(X)
    values = valid.to_numpy("labeled", parts["labeled"])
    check_as_long("labeled", values.size, n_rows)
    valid.check_alignment(X, parts["labeled"], names=("X", "labeled"))
    positive, negative = inputs.encode_labels(
        values,
        n_rows,
        positive_label=positive_label,
        negative_label=negative_label,
    )
    if parts["groups"] is not None:
        parts["groups"] = read_groups(parts["groups"], n_rows)
    examples = Examples(X, values, positive, negative, parts["groups"], parts["truth"])
    return replace(examples, weight=read_weights(parts["sample_weight"], examples))


def _take_out(X: Any, parts: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The columns that names stand for, and the frame without them."""
    names = {role: value for role, value in parts.items() if isinstance(value, str)}
    if not names or isinstance(X, Mapping) or not inputs.is_frame(X):
        return X, parts
    import narwhals.stable.v2 as nw

    found = inputs.read_columns(X, names)
    rest = nw.from_native(X, eager_only=True).drop(list(dict.fromkeys(names.values())))
    return rest.to_native(), {**parts, **found}


def read_rows(X: Any) -> tuple[Any, int]:
    """The features as something that has rows, and how many; a complaint if it has none."""
    if isinstance(X, Mapping):
        say = "make a data frame of it, or an array with np.column_stack"
        raise valid.bad_type("X", _MUST, X, say)
    if isinstance(X, (list, tuple)) and not any(isinstance(row, (str, dict)) for row in X):
        # Texts and dicts are for a pipeline that reads them; all else is a matrix.
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise valid.bad_type("X", _MUST, X, "rows must be of one length") from error
    if isinstance(X, (str, bytes, type)):
        raise valid.bad_type("X", _MUST, X)
    hint: str | None
    try:
        n_rows = int(_num_samples(X))
    except Exception as error:  # foreign things raise whatever they like
        hint = "collect a lazy frame first" if hasattr(X, "collect") else None
        raise valid.bad_type("X", _MUST, X, hint) from error
    if isinstance(X, np.ndarray) and X.ndim != 2 and X.dtype.kind not in "OUST":
        hint = "a single feature is X.reshape(-1, 1)" if X.ndim == 1 else None
        raise valid.bad_value("X", _MUST, f"an array of shape {X.shape}", hint)
    if n_rows == 0:
        raise valid.bad_value("X", _MUST, "no rows at all")
    return X, n_rows


def read_groups(groups: ArrayLike, n_rows: int) -> np.ndarray[Any, Any]:
    """The group of each row."""
    codes = valid.to_numpy("groups", groups)
    check_as_long("groups", codes.size, n_rows)
    group_numbers(codes, n_rows, None)  # complains of what no groups can be
    return codes


def check_as_long(parameter: str, size: int, n_rows: int) -> None:
    """A value for each row."""
    valid.check_same_length(parameter, size, n_rows, "X has rows")


# -- Rows and labels of fit(X, y) ----------------------------------------------------------------


def read_labeling(
    X: Any,
    y: ArrayLike | None,
    *,
    groups: ArrayLike | None = None,
    positive_label: object = None,
) -> tuple[Examples, np.ndarray[Any, Any], Any]:
    """Rows of scikit-learn's ``fit(X, y)``, the two values of y, and the one that means labeled."""
    from sklearn.utils import indexable

    check_rows(X)
    if not isinstance(X, (list, tuple, str, bytes, type)):
        (X,) = indexable(X)  # sparse matrices of a kind that can be cut into folds
    must = "an array: for each row, whether the example carries the label"
    if y is None:
        got = "None; fit requires y to be passed, but the target y is None"
        raise valid.bad_value("y", must, got)
    if isinstance(y, str):  # predictions are made of frames without that column
        raise valid.bad_type("y", must, y, "pass the column itself")
    if isinstance(groups, str):
        must = "an array: for each row, its group"
        raise valid.bad_type("groups", must, groups, "pass the column itself")
    if getattr(y, "ndim", 1) == 2:
        words = "A column-vector y was passed when a 1d array was expected"
        valid.warn(words, DataConversionWarning)
    X, n_rows = read_rows(X)
    values = _plain(valid.to_numpy("y", y))
    check_as_long("y", values.size, n_rows)
    valid.check_alignment(X, y, names=("X", "y"))
    inputs.refuse_missing("y", values)
    classes = _two_classes(values)
    if positive_label is None:
        at = inputs.labeled_of_two(classes)
        if at is None:
            must = "two-valued, one value for labeled and one for unlabeled rows"
            got = f"{valid.show(classes.tolist())}, which both mean the same"
            hint = "name the value that means labeled with positive_label="
            raise valid.bad_value("y", must, got, hint)
        positive = np.asarray(values == classes[at], dtype=np.bool_)
    else:
        positive, _ = inputs.encode_labels(
            values, n_rows, positive_label=positive_label, parameter="y"
        )
        at = int(np.flatnonzero(classes == values[int(np.argmax(positive))])[0])
    if groups is not None:
        groups = read_groups(groups, n_rows)
    return Examples(X, values, positive, None, groups, None), classes, classes[at]


def _plain(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Columns of objects that are truth values or numbers throughout, as such."""
    if values.dtype.kind != "O":
        return values
    kinds = {type(value) for value in values.tolist()}
    if kinds <= {bool, np.bool_}:
        return values.astype(np.bool_)
    return np.array(values.tolist()) if kinds in ({int}, {float}) else values


def _two_classes(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The two values in ascending order, or a complaint that scikit-learn's users know."""
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
    """Refuse at the door what no classifier takes, before it is cut into folds."""
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise valid.bad_value(
            "X", "real", "complex numbers", "Complex data not supported: pass parts"
        )
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "fiub":
        hint = "Reshape your data: X.reshape(1, -1) is one row, X.reshape(-1, 1) one feature"
        raise valid.bad_value("X", "a matrix", f"an array of shape {X.shape}", hint)


def read_weights(sample_weight: ArrayLike | None, examples: Examples) -> FloatArray | None:
    """Weights of the rows, some of them on either side; None if none were given."""
    if sample_weight is None:
        return None
    values = valid.to_numpy("sample_weight", sample_weight)
    check_as_long("sample_weight", values.size, examples.n_rows)
    weight = valid.as_weights(values, examples.n_rows)
    for side, rows in (("labeled", examples.positive), ("unlabeled", examples.unlabeled)):
        if not float(weight[rows].sum()) > 0:
            must = "positive for some labeled and some unlabeled rows: both classes are needed"
            raise valid.bad_value("sample_weight", must, f"zero for all {side} rows")
    return weight


# -- Features as a matrix of numbers on one scale ------------------------------------------------


_LARGEST_DENSE = 2**32
"""Bytes a sparse matrix may take when its zeros are written out."""

_NUMBERS = "a table of numbers"
_HINT = "make numbers of it first, for example with {} in a pipeline, or leave it out"


def numeric_matrix(model: Any, X: Any, *, reset: bool) -> NDArray[Any]:
    """Finite numbers, checked by scikit-learn, with the zeros of sparse matrices written out."""
    _refuse_other_columns(X)
    kinds = [np.float64, np.float32]
    try:
        X = validate_data(model, X, accept_sparse="csr", dtype=kinds, reset=reset)
    except ValueError as error:
        text = str(error)
        if "could not convert string to float" not in text:
            raise
        hint = _HINT.format("sklearn.preprocessing.OneHotEncoder")
        raise valid.bad_value("X", _NUMBERS, f"text ({text})", hint) from error
    if not hasattr(X, "toarray"):
        return np.asarray(X)
    if X.shape[0] * X.shape[1] * X.dtype.itemsize > _LARGEST_DENSE:
        raise valid.bad_value(
            "X",
            f"small enough to write out its zeros in {_LARGEST_DENSE // 2**30} GiB",
            f"a sparse matrix of shape {X.shape}",
            "reduce its columns first, for example with sklearn.decomposition.TruncatedSVD",
        )
    return np.asarray(X.toarray())


def _refuse_other_columns(X: Any) -> None:
    """Texts and times, of which scikit-learn would not say in which column they are."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise _bad_column("times", "")
    if not inputs.is_frame(X):
        return
    import narwhals.stable.v2 as nw

    for name, kind in nw.from_native(X, eager_only=True).schema.items():
        if kind.is_temporal():
            raise _bad_column("times", f" in column {valid.show(name)}")
        if kind == nw.String:
            raise _bad_column("text", f" in column {valid.show(name)}")


def _bad_column(what: str, where: str) -> InvalidInputError:
    tool = "FunctionTransformer" if what == "times" else "OneHotEncoder"
    hint = _HINT.format(f"sklearn.preprocessing.{tool}")
    return valid.bad_value("X", _NUMBERS, f"{what}{where}", hint)


_BLOCK = 2**21


@dataclass(frozen=True)
class Standardizer:
    """Column by column: subtract ``center``, divide by ``scale``; constant columns become 0.

    Columns are first divided by ``size``, their largest magnitude, so that neither sums nor
    squares of huge or tiny values leave the range of floating-point numbers.
    """

    size: FloatArray
    center: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, features: Any) -> Standardizer:
        """From the columns of a matrix, read in blocks of rows."""
        n, d = features.shape
        size = np.zeros(d)
        for part in _blocks(n, d):
            size = np.maximum(size, np.abs(features[part]).max(axis=0))
        size[size == 0] = 1.0
        total = np.zeros(d)
        for part in _blocks(n, d):
            total += (features[part] / size).sum(axis=0, dtype=np.float64)
        center = total / n
        squares = np.zeros(d)
        for part in _blocks(n, d):
            squares += ((features[part] / size - center) ** 2).sum(axis=0, dtype=np.float64)
        scale = np.sqrt(squares / n)
        # What rounding makes of a constant column is not variation.
        scale[scale <= 1e-12] = np.inf
        return cls(size, center, scale)

    def transform(self, features: Any, dtype: Any) -> np.ndarray[Any, Any]:
        """The standardized features, and a last column of ones for the bias."""
        n, d = features.shape
        out = np.empty((n, d + 1), dtype=dtype)
        limit = np.finfo(dtype).max ** 0.25
        constant = np.isinf(self.scale)
        for part in _blocks(n, d):
            with np.errstate(over="ignore"):  # far outside what was seen: as far as floats go
                values = features[part] / self.size - self.center
                values /= np.where(constant, 1.0, self.scale)
            values[:, constant] = 0.0  # whatever it is now
            out[part, :-1] = np.clip(values, -limit, limit)
        out[:, -1] = 1.0
        return out


def _blocks(n: int, d: int) -> Iterator[slice]:
    size = max(_BLOCK // max(d, 1), 1)
    for start in range(0, n, size):
        yield slice(start, start + size)


# -- What the classifiers of this package have in common, and ask of those they train ------------


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


class NumericClassifier(TwoClassClassifier):
    """One of numbers, sparse ones too, whose decision function is 0 between the labels."""

    @abstractmethod
    def decision_function(self, X: Any) -> FloatArray:
        """Larger where the second of ``classes_`` is likelier."""

    @public
    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The likelier label of each row."""
        second = self.decision_function(X) > 0
        return np.asarray(self.classes_[second.astype(np.intp)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


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
        raise valid.bad_type("estimator", must, estimator, f"make one: {estimator.__name__}()")
    usable = all(callable(getattr(estimator, m, None)) for m in ("fit", "get_params"))
    found = next((m for m in methods if hasattr(estimator, m)), None)
    if not usable or found is None:
        hint = "for scores from elsewhere use evaluate(scores, labeled)"
        if usable and hasattr(estimator, "predict"):
            hint = f"{valid.show(estimator)} has predict alone, and yes and no are no ranking"
        raise valid.bad_type("estimator", must, estimator, hint)
    return found


@contextmanager
def label_column_named_y() -> Iterator[None]:
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
    valid.warn(
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
    scores = inputs.response_scores(estimator, X, positive=1, methods=(method,))
    return np.asarray(scores, dtype=np.float64)


def log_odds(
    probabilities: FloatArray, least: float = float(np.finfo(np.float64).eps)
) -> FloatArray:
    """Log-odds, of probabilities cut at ``least`` from 0 and 1 so that they remain finite."""
    return np.asarray(logit(np.clip(probabilities, least, 1 - least)))


def check_seed(random_state: RandomState | np.random.RandomState) -> int | np.random.Generator:
    """A seed itself, so that all it is handed to draw the same, or else a generator."""
    rng = valid.check_random_state(random_state)
    whole: object = random_state  # NumPy's integers are not in the type
    return int(whole) if isinstance(whole, numbers.Integral) else rng


def small_seed(random_state: RandomState | np.random.RandomState) -> int:
    """A seed that scikit-learn takes, which are those below 2**32."""
    seed = check_seed(random_state)
    if isinstance(seed, np.random.Generator) or seed >= 2**32:
        return int(np.random.default_rng(seed).integers(2**31))
    return seed


def seeds_of(
    random_state: RandomState | np.random.RandomState, size: int
) -> list[np.random.SeedSequence]:
    """A stream for each of several networks or ensembles."""
    seed = check_seed(random_state)
    if isinstance(seed, np.random.Generator):
        return np.random.SeedSequence(seed.integers(2**63, size=2).tolist()).spawn(size)
    return np.random.SeedSequence(seed).spawn(size)
