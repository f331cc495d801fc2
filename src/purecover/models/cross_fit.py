"""Out-of-fold scores: every row scored by a model that has not seen it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from purecover import _validation as valid
from purecover._inputs import response_scores
from purecover._progress import Progress, results_of, shown
from purecover._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from purecover._validation import public
from purecover.counts import ScoreCounts, auc_pu
from purecover.models.examples import Examples, check_model, check_seed, model_name, read_examples

Split: TypeAlias = tuple[IntArray, IntArray]

MUST = "a number of folds, a splitter of scikit-learn or a list of (train, test) rows"


def make_splits(examples: Examples, cv: Any, random_state: RandomState) -> tuple[list[Split], int]:
    """Return checked folds, and how often they score each row."""
    seed = check_seed(random_state)
    if isinstance(cv, (int, np.integer)):
        # The seed itself, so that a splitter made by hand gives the same folds.
        if isinstance(seed, np.random.Generator) or seed >= 2**32:  # scikit-learn wants less
            seed = int(np.random.default_rng(seed).integers(2**31))
        cv = _default_splitter(examples, int(cv), seed)
    target = examples.positive.astype(np.int64)
    rows = cv
    if hasattr(cv, "split"):
        try:
            rows = list(cv.split(examples.X, target, examples.groups))
        except (TypeError, ValueError) as error:
            got = f"{valid.show(cv)}, which cannot split these rows ({error})"
            raise valid.bad_value("cv", MUST, got) from error
    splits = [_checked_split(pair, examples) for pair in rows]
    times = np.zeros(examples.n_rows, dtype=np.int64)
    for _, test in splits:
        times[test] += 1
    low, high = int(times.min()), int(times.max())
    if not splits or low != high:
        got = f"{valid.show(cv)}, which scores some rows {low} and others {high} times"
        hint = "use StratifiedKFold or RepeatedStratifiedKFold rather than random or growing parts"
        raise valid.bad_value("cv", "a way to score every row equally often", got, hint)
    for split in splits:
        _require_both_sides(split, examples)
    return splits, low


def _default_splitter(examples: Examples, n_folds: int, seed: int) -> Any:
    # Here, because loading it draws from the random numbers of the standard library.
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    n, what = most_folds(examples)
    if n < n_folds:
        hint = "each fold needs some of its own"
        if n < 2:
            parameter = "labeled" if examples.groups is None else "groups"
            must = f"a column with at least two {what}"
            raise valid.bad_value(parameter, must, str(n), hint)
        must = f"at most the number of {what}, {n}"
        raise valid.bad_value("cv", must, str(n_folds), hint)
    kind = StratifiedKFold if examples.groups is None else StratifiedGroupKFold
    return kind(n_folds, shuffle=True, random_state=seed)


def most_folds(examples: Examples) -> tuple[int, str]:
    """Return the largest number of folds and the name of the rows or groups that limit it."""
    sides = {"labeled": examples.positive, "unlabeled": examples.unlabeled}
    codes = examples.group_codes
    if codes is None:
        return min((int(rows.sum()), f"{side} rows") for side, rows in sides.items())
    return min(
        (np.unique(codes[rows]).size, f"groups with {side} rows") for side, rows in sides.items()
    )


def _checked_split(pair: Any, examples: Examples) -> Split:
    try:
        train, test = (_row_numbers(part, examples.n_rows) for part in pair)
    except (TypeError, ValueError, IndexError) as error:
        raise valid.bad_type("cv", MUST, pair) from error
    if np.unique(test).size != test.size or np.isin(test, train).any():
        got = "a fold with rows that are scored twice or by a model that saw them"
        raise valid.bad_value("cv", "folds of rows that the model has not seen", got)
    codes = examples.group_codes
    if codes is not None and np.isin(codes[test], codes[train]).any():
        must = "a splitter that keeps groups together"
        hint = "use StratifiedGroupKFold, or give the number of folds"
        raise valid.bad_value("cv", must, "a fold with a group on both sides", hint)
    return train, test


def _require_both_sides(split: Split, examples: Examples) -> None:
    for rows, part in zip(split, ("train on", "score"), strict=True):
        for side, member in (("labeled", examples.positive), ("unlabeled", examples.unlabeled)):
            if not member[rows].any():
                must = "folds with labeled and unlabeled rows on both sides"
                got = f"a fold with no {side} row to {part}"
                raise valid.bad_value("cv", must, got, "use fewer folds, or a stratified splitter")


def _row_numbers(part: Any, n_rows: int) -> IntArray:
    rows = np.asarray(part)
    if rows.dtype == np.bool_ and rows.shape == (n_rows,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise TypeError("row numbers")
    if rows.size and not (rows.min() >= 0 and rows.max() < n_rows):
        raise IndexError("row numbers")
    return rows.astype(np.int64)


Method: TypeAlias = Literal["auto", "predict_proba", "decision_function", "score_samples"]
Combine: TypeAlias = Literal["auto", "raw", "rank"]

# Probabilities first: they mean the same in every fold.
METHODS = ("predict_proba", "decision_function", "score_samples")
COMBINES = ("auto", "raw", "rank")


@public
def cross_fit_scores(
    estimator: Any,
    X: Any,
    labeled: ArrayLike | str,
    *,
    cv: Any = 5,
    groups: ArrayLike | str | None = None,
    method: Method = "auto",
    combine: Combine = "auto",
    fit_params: Mapping[str, Any] | None = None,
    positive_label: object = None,
    negative_label: object = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> FloatArray:
    r"""Score each row by a model of labeled against unlabeled that has not seen it.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier, pipeline or search; copies of it are fitted, with 1 for
        labeled and 0 for unlabeled.
    X : array-like of shape (n, n_features), data frame or sparse matrix
        The features.
    labeled : array-like of shape (n,) or str
        True where the row carries the positive label; see
        :meth:`ScoreCounts.from_scores`. With a data frame it may name a column, which is then
        no feature.
    cv : int, splitter or iterable of (train, test), default=5
        The number of folds, of which each gets its part of the labeled, or how to split. Every
        row must be scored equally often; where that is more than once, as with
        ``RepeatedStratifiedKFold``, its scores are averaged.
    groups : array-like of shape (n,) or str, optional
        Which rows depend on each other (one patient, one family of proteins), or their column in
        a data frame. A row is then scored by a model that has seen none of its group.
    method : {"auto", "predict_proba", "decision_function", "score_samples"}, default="auto"
        The method that the model scores with; by default the first of these that it has.
    combine : {"auto", "raw", "rank"}, default="auto"
        ``"raw"`` takes the scores as they are; ``"rank"`` puts ranks within the fold in their
        place. By default probabilities are taken raw, and everything else as ranks.
    fit_params : dict, optional
        Further arguments of ``fit``, such as ``{"sample_weight": weights}`` (in a pipeline
        ``"step__sample_weight"``); those with a value per row are split like the rows.
    positive_label, negative_label : object, optional
        The value that means labeled, where it is not obvious, and the value that marks known
        negatives. Known negatives are scored, but no model is fitted
        to them.
    random_state : int, numpy.random.Generator or None, default=None
        Shuffles rows into folds where ``cv`` is a number. The model has a seed of its own.
    n_jobs : int, optional
        How many models are fitted at the same time; -1 for all cores.

    Returns
    -------
    ndarray of shape (n,)
        Scores in the order of the rows, larger where a label is likelier: what
        :func:`evaluate` and the estimators of alpha take.

    See Also
    --------
    evaluate_model : From features to a report in one call.

    Notes
    -----
    A model knows the labels it was fitted to, so that its scores of the same rows look better
    than they are, and an unlabeled positive scored by a model that was trained on it as a negative
    looks worse.

    Scores of different folds come from different models, and one column of them is of use only
    if they mean the same. Probabilities do, if every fold has the same share of labeled rows; the
    default splitters see to that. Values of a decision function or of a density have no common
    scale. Their ranks have: in fold :math:`k`

    .. math:: r(s) = c\,\bar F_{L,k}(s) + (1 - c)\,\bar F_{U,k}(s)

    with :math:`c` the labeled share of all rows and :math:`\bar F` the shares of labeled and
    unlabeled rows of the fold that score lower, ties counted half. That is the ordinary
    mid-rank where the fold has the labeled share of the whole, and stays comparable where groups
    make folds unequal.

    Folds without a labeled or without an unlabeled row are refused, leave-one-out with them: a
    model that misses one labeled row expects fewer of them, and so the very rows left out would
    get the lower scores.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover import cross_fit_scores, evaluate
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2000) < 0.4
    >>> X = rng.normal(size=(2000, 3)) + truth[:, None]
    >>> labeled = truth & (rng.random(2000) < 0.5)
    >>> scores = cross_fit_scores(LogisticRegression(), X, labeled, random_state=0)
    >>> scores.shape
    (2000,)
    >>> report = evaluate(scores, labeled, alpha=truth[~labeled].mean(), n_resamples=0)
    >>> report.auc > report.auc_pu
    True
    """
    folding = {"cv": cv, "method": method, "combine": combine, "n_jobs": n_jobs}
    check_settings(estimator, fit_params=fit_params, **folding)
    which: Any = {"positive_label": positive_label, "negative_label": negative_label}
    examples = read_examples(X, labeled, groups=groups, **which)
    scores, _ = cross_fit(
        estimator, examples, fit_params=fit_params, random_state=random_state, **folding
    )
    return scores.copy()


def check_settings(
    estimator: Any, *, cv: Any, n_jobs: Any, method: str = "auto", combine: str = "auto",
    fit_params: Any = None,
) -> None:  # fmt: skip
    """Check settings that are wrong whatever the data are."""
    valid.check_choice("method", method, ("auto", *METHODS))
    valid.check_choice("combine", combine, COMBINES)
    check_model(estimator, METHODS if method == "auto" else (method,))
    valid.check_jobs(n_jobs)
    if isinstance(cv, (int, np.integer)):
        valid.check_integer("cv", cv, low=2)
    elif isinstance(cv, (str, type)) or not (hasattr(cv, "split") or valid.is_iterable(cv)):
        raise valid.bad_type("cv", MUST, cv)
    if fit_params is not None and not isinstance(fit_params, Mapping):
        raise valid.bad_type("fit_params", "a dict of arguments of fit", fit_params)


def cross_fit(
    estimator: Any,
    examples: Examples,
    *,
    cv: Any = 5,
    method: str = "auto",
    combine: str = "auto",
    fit_params: Mapping[str, Any] | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[FloatArray, str]:
    """Return out-of-fold scores of rows that were checked before."""
    used = check_model(estimator, METHODS if method == "auto" else (method,))
    if combine == "auto":
        combine = "raw" if used == "predict_proba" else "rank"
    splits, n_repeats = make_splits(examples, cv, random_state)
    positive, unlabeled = examples.positive, examples.unlabeled
    share = positive.sum() / (positive.sum() + unlabeled.sum())

    # Not by cross_val_predict: it scores each row once, so that repeated folds would not be
    # averaged, does not say in which fold to take the rank of a score, and shows no progress.
    workers = valid.useful_jobs(n_jobs, len(splits))
    tasks = (
        delayed(_scores_of_fold)(estimator, examples, split, used, fit_params) for split in splits
    )
    jobs = results_of(Parallel, tasks, workers)
    total, areas = np.zeros(examples.n_rows), np.zeros(len(splits))
    with shown(progress) as report:
        for k, ((_, test), scores) in enumerate(zip(splits, jobs, strict=True)):
            if bad := int((~np.isfinite(scores)).sum()):
                raise valid.bad_value(
                    "estimator",
                    f"a classifier whose {used} is finite",
                    f"{bad} NaN or infinite of {scores.size} in fold {k + 1} from "
                    f"{valid.show(estimator)}",
                    "are there missing or huge values in X?",
                )
            known = positive[test] | unlabeled[test]
            areas[k] = auc_pu(ScoreCounts.from_scores(scores[known], positive[test][known]))
            if combine == "rank":
                scores = fold_ranks(scores, positive[test], unlabeled[test], share)  # noqa: PLW2901
            total[test] += scores
            if report is not None:
                report(k + 1, len(splits))
    folds = f"{len(splits) // n_repeats} folds"
    if n_repeats > 1:
        folds += f", {n_repeats} times"
    if examples.groups is not None:
        folds += ", groups kept together"
    what = used if combine == "raw" else f"ranks of {used} in each fold"
    ends = f"observed AUC by fold {areas.min():.3f} to {areas.max():.3f}"
    description = f"{model_name(estimator)}, out of fold ({folds}; {what}; {ends})"
    return valid.read_only(total / n_repeats), description


def fold_ranks(
    scores: FloatArray, positive: BoolArray, unlabeled: BoolArray, share: float
) -> FloatArray:
    """Return mid-ranks in [0, 1], as though the fold had this share of labeled rows."""
    weight = np.zeros(scores.size)
    weight[positive] = share / positive.sum()
    weight[unlabeled] = (1 - share) / unlabeled.sum()
    _, place = np.unique(scores, return_inverse=True)
    mass = np.bincount(place.reshape(-1), weights=weight)
    ranks = np.cumsum(mass) - mass / 2
    # Rounded, so that equal ranks of two folds are ties.
    return np.round(ranks, 12)[place.reshape(-1)]


def _scores_of_fold(
    estimator: Any,
    examples: Examples,
    split: Split,
    method: str,
    fit_params: Mapping[str, Any] | None,
) -> FloatArray:
    train, test = split
    if examples.negative is not None:
        train = train[~examples.negative[train]]
    params = _check_method_params(examples.X, dict(fit_params or {}), train)
    model = clone(estimator).fit(
        _safe_indexing(examples.X, train), examples.positive[train].astype(np.int64), **params
    )
    part = _safe_indexing(examples.X, test)
    found = response_scores(model, part, positive=1, methods=(method,))
    scores = np.asarray(found, dtype=np.float64)
    if scores.shape != (test.size,):
        must = f"a classifier whose {method} gives a number per row"
        got = f"an array of shape {scores.shape} for {test.size} rows from {valid.show(estimator)}"
        raise valid.bad_value("estimator", must, got)
    return scores


ATTRIBUTE = "oob_score_samples_"
"""Where a fitted model keeps scores of its training rows by parts of it that did not see them."""

FORESTS = "oob_decision_function_"
"""Where scikit-learn's bags and forests keep them, with ``oob_score=True``."""


def unseen_scores(
    estimator: Any, examples: Examples, *, own: bool = True, **settings: Any
) -> tuple[FloatArray, str]:
    """Return scores by models that have not seen the rows, and one line on how they were made.

    These are out-of-bag scores where the model makes some and ``own`` allows them, else those of a
    cross-validation. Out-of-bag scores must keep groups together, so that ``fit`` must take them,
    and cannot score known negatives that no model is fitted to.
    """
    groups = examples.groups
    kept_together = groups is None or "groups" in inspect.signature(estimator.fit).parameters
    usable = own and not settings.get("fit_params") and examples.negative is None
    # A pipeline makes none: a step that looks at labels, such as a selection of features, would
    # have seen them all. Nor does a model that calibrates its scores afterwards: they are not on
    # the scale of what it says of new rows.
    makes = hasattr(type(estimator), ATTRIBUTE) or bool(getattr(estimator, "oob_score", False))
    if usable and kept_together and makes:
        more = {} if groups is None else {"groups": groups}
        model = clone(estimator).fit(examples.X, examples.positive.astype(np.int64), **more)
        scores = out_of_bag(model, examples.n_rows)
        if scores is not None:
            return scores, f"{model_name(model)}, its own scores of rows unseen"
    return cross_fit(estimator, examples, **settings)


def out_of_bag(fitted: Any, n_rows: int) -> FloatArray | None:
    """Return out-of-bag scores of a fitted model; None if it has none."""
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
        must = "a classifier with a finite out-of-bag score of every row"
        got = f"{int(finite.sum())} of {n_rows} from {valid.show(fitted)}"
        hint = "more members leave fewer rows that all of them have seen"
        raise valid.bad_value("estimator", must, got, hint)
    return scores
