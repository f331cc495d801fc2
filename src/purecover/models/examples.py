"""Rows of features, their labels, weights, groups and scale, as models take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from purecover import _inputs as inputs
from purecover import _validation as valid
from purecover._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from purecover.intervals.resampling import read_groups

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
    parts = {"labeled": labeled, "groups": groups, "truth": truth}
    X, parts = _take_out(X, {**parts, "sample_weight": sample_weight})
    X, n_rows = read_rows(X)
    values = valid.to_numpy("labeled", parts["labeled"])
    check_as_long("labeled", values.size, n_rows)
    valid.check_alignment(X, parts["labeled"], names=("X", "labeled"))
    which: Any = {"positive_label": positive_label, "negative_label": negative_label}
    positive, negative = inputs.encode_labels(values, n_rows, **which)
    if parts["groups"] is not None:
        parts["groups"] = codes = valid.to_numpy("groups", parts["groups"])
        check_as_long("groups", codes.size, n_rows)
        read_groups(codes, n_rows, None)  # complains of what no groups can be
    examples = Examples(X, values, positive, negative, parts["groups"], parts["truth"])
    return replace(examples, weight=read_weights(parts["sample_weight"], examples))


def _take_out(X: Any, parts: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the named columns, and the frame without them."""
    names = {role: value for role, value in parts.items() if isinstance(value, str)}
    if not names or isinstance(X, Mapping) or not inputs.is_frame(X):
        return X, parts
    import narwhals.stable.v2 as nw

    found = inputs.read_columns(X, names)
    rest = nw.from_native(X, eager_only=True).drop(list(dict.fromkeys(names.values())))
    return rest.to_native(), {**parts, **found}


def read_rows(X: Any) -> tuple[Any, int]:
    """Return the features and their number of rows; refuse what has none."""
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


def check_as_long(parameter: str, size: int, n_rows: int) -> None:
    """Check that a column has a value for each row."""
    valid.check_same_length(parameter, size, n_rows, "X has rows")


def read_weights(sample_weight: ArrayLike | None, examples: Examples) -> FloatArray | None:
    """Return the weights of the rows, positive for some on either side; None if not given."""
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


def model_name(estimator: Any) -> str:
    """Return the name of a model in reports: its class, and those of the steps inside it."""
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
    """Return the method that a model scores with; refuse models without one."""
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


def check_seed(random_state: RandomState | np.random.RandomState) -> int | np.random.Generator:
    """Return a seed as it is, so that repeated use draws the same, or else a generator."""
    rng, seed = valid.check_random_state(random_state), valid.kept_seed(random_state)
    return rng if seed is None else seed
