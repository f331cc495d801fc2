"""The paper's classifier: bagged small networks, and the scores of rows they have not seen."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from purecover import _validation as valid
from purecover._typing import ArrayLike, BoolArray, FloatArray, RandomState
from purecover._validation import public
from purecover.models import tables
from purecover.models.training import (
    CHOICES,
    Ensemble,
    Rows,
    Training,
    apply_batch,
    check_training,
    draw_bags,
    train_batch,
)

# -- Where an ensemble is trained: NumPy on processor cores, or torch on any device --------------


BATCH = 50
"""Networks trained side by side on a core. Fixed, so that no result depends on their number."""
CACHE = 2**16
"""Values of an intermediate result on a processor, whose cache should hold it..."""
DEVICE_BLOCK = 2**27
"""...and on an accelerator, which wants much work at a time."""

_KINDS = ("cpu", "cuda", "mps", "xpu")


def check_device(device: object) -> str:
    """The device in torch's words, "numpy" for none, from what the user asks for."""
    must = "'auto', 'cpu', or a device of torch such as 'cuda', 'cuda:1' or 'torch:cpu'"
    if not isinstance(device, str):
        raise valid.bad_type("device", must, device)
    if device == "cpu":
        return "numpy"
    if device == "auto":
        return "cuda" if _has_cuda() else "numpy"
    if device.removeprefix("torch:").partition(":")[0] not in _KINDS:
        raise valid.bad_value("device", must, valid.show(device))
    torch = valid.require("torch", extra="torch", by=f"{{function}} with {device=!r}")
    name = device.removeprefix("torch:")
    try:
        found = torch.device(name)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError) as error:
        hint = "use device='cpu', or a torch built for this device on a machine that has it"
        raise valid.bad_value("device", must, valid.show(device), hint) from error
    return str(found)


def _has_cuda() -> bool:
    # Loading torch takes seconds: look for a card and for torch first.
    if importlib.util.find_spec("torch") is None or not any(Path("/dev").glob("nvidia[0-9]*")):
        return False
    import torch

    return bool(torch.cuda.is_available())


def train_ensemble(
    features: NDArray[Any],
    labeled: BoolArray,
    seeds: list[np.random.SeedSequence],
    training: Training,
    *,
    device: str = "numpy",
    n_jobs: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Ensemble:
    """Train a network per seed on standardized rows with a last column of ones."""
    targets = targets_of(labeled, training).astype(features.dtype)
    size = BATCH if device == "numpy" else len(seeds)
    batches = [seeds[start : start + size] for start in range(0, len(seeds), size)]
    stopped = [0] * len(batches)

    def hear(index: int, n_stopped: int) -> None:
        stopped[index] = n_stopped
        if on_progress is not None:
            on_progress(sum(stopped))

    # Threads inside products as small as those of a batch only wait for one another.
    workers = valid.useful_jobs(n_jobs, len(batches)) if device == "numpy" else 1
    with threadpool_limits(1, user_api="blas") if device == "numpy" else nullcontext():
        parts = Parallel(n_jobs=workers, prefer="threads")(
            delayed(train_part)(features, targets, batch, training, device, partial(hear, index))
            for index, batch in enumerate(batches)
        )
    return Ensemble(
        weights=np.concatenate([part.weights for part in parts], axis=1),
        epochs=np.concatenate([part.epochs for part in parts]),
        losses=np.concatenate([part.losses for part in parts]).astype(np.float64),
        oob_sums=np.sum([part.oob_sums for part in parts], axis=0, dtype=np.float64),
        oob_counts=np.sum([part.oob_counts for part in parts], axis=0).astype(np.int64),
    )


def targets_of(labeled: BoolArray, training: Training) -> FloatArray:
    """The output wished for at each row."""
    return np.where(labeled, 1.0, -1.0 if training.output == "tanh" else 0.0)


def train_part(
    features: NDArray[Any],
    targets: FloatArray,
    seeds: list[np.random.SeedSequence],
    training: Training,
    device: str = "numpy",
    on_progress: Callable[[int], None] | None = None,
) -> Ensemble:
    """A network per seed, all trained side by side."""
    n, d = features.shape
    bags = draw_bags(seeds, n, d - 1, training, targets > 0 if training.stratify else None)
    move: Callable[[NDArray[Any]], Any] = np.asarray
    block = CACHE
    if device != "numpy":
        import torch

        if device.startswith("cuda"):
            from purecover.models import cuda as _fused

            if _fused.can_train(d - 1, features.dtype, training):
                return _fused.train_one(features, targets, bags, training, device)
        move = partial(torch.as_tensor, device=device)
        block = CACHE if device == "cpu" else DEVICE_BLOCK
    rows = Rows(move(features), move(targets), block)
    train, validation = move(bags.train), move(bags.validation)
    initial = move(bags.initial.astype(features.dtype))
    trained = train_batch(rows, train, validation, initial, training, on_progress=on_progress)
    sums, counts = apply_batch(rows, trained.weights, training, in_bag=train | validation)
    arrays = (trained.weights, trained.epochs, trained.losses, sums, counts)
    return Ensemble(*(array if device == "numpy" else array.cpu().numpy() for array in arrays))


def apply_ensemble(features: NDArray[Any], weights: NDArray[Any], training: Training) -> FloatArray:
    """Mean output in [0, 1] of all networks at each standardized row."""
    rows = Rows(features, np.empty(0, dtype=features.dtype), CACHE)
    with threadpool_limits(1, user_api="blas"):
        total = sum(
            apply_batch(rows, weights[:, start : start + BATCH], training)[0].astype(np.float64)
            for start in range(0, weights.shape[1], BATCH)
        )
    return np.asarray(total / weights.shape[1])


# -- The classifier ------------------------------------------------------------------------------


FEW = 30
"""Rows of a kind below which bags should be drawn of both kinds apart."""


@dataclass(eq=False, repr=False)
class BaggedNetworks(tables.NumericClassifier):
    r"""Bagged feed-forward networks trained by resilient propagation.

    Each of the networks sees a bag of rows drawn with replacement and standardized by the bag's
    own mean and standard deviation, holds a quarter of it out, and stops when the loss there has
    not fallen for ``patience`` epochs. The score of a row is the mean output of the networks in
    whose bag it is not,

    .. math:: s(x_i) = \frac{1}{|B_i|} \sum_{b \in B_i} o_b(x_i),
              \qquad B_i = \{b : i \text{ not in bag } b\},

    so that no score comes from a network that knew the row's label. The defaults are those of
    the paper; only the validation split differs: distinct rows are held out, so that no copy of
    a row stands on both sides. All networks are trained as one computation.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of networks.
    hidden : int, default=5
        Units of the one hidden layer.
    preset : {"paper", "authors", "logistic"}, default="paper"
        What holds where a parameter below is None. "authors" also splits like their released
        code; "logistic" fits probabilities: logistic output, cross-entropy, iRprop- with the
        constants of torch.
    output : {"tanh", "logistic"}, optional
        Output unit.
    loss : {"squared", "cross-entropy"}, optional
        Loss.
    rprop : {"rprop-", "rprop+", "irprop-", "irprop+"}, optional
        Variant of resilient propagation.
    constants : {"matlab", "torch"}, optional
        First, smallest and largest step: .07, 0 and 50, or .01, 1e-6 and 50.
    max_epochs, patience : int, optional
        Most steps (500), and epochs without a better validation loss after which a network
        stops (25).
    validation_fraction : float, optional
        Share of a bag held out (.25).
    split : {"rows", "positions"}, optional
        Whether distinct rows are held out or positions of the bag.
    stratify : bool, default=False
        Whether bags are drawn of labeled and of unlabeled rows apart, as many of either kind as
        there are. The paper draws of all rows. See Notes.
    positive_label : object, optional
        The value that means labeled, where it cannot be read off.
    device : str, default="auto"
        "cpu" computes with NumPy, "cuda" or another device of torch there; "auto" takes a CUDA
        card if torch and a card are there.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the training.
    n_jobs : int, optional
        Threads of a computation with NumPy.
    random_state : int, Generator, RandomState or None, default=None
        Seed. The same seed on the same device gives the same networks, whatever ``n_jobs``.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
        The two values of the label column in order.
    labeled_class_ : object
        The one that means labeled.
    oob_score_samples_ : ndarray, shape (n_rows,)
        Out-of-bag scores in [0, 1], larger where a row looks more like the labeled ones: what
        to hand to :func:`purecover.evaluate`.
    oob_counts_ : ndarray, shape (n_rows,)
        Number of networks each of these scores comes from. Rows that are in every bag (count
        0) have the mean score.
    n_epochs_ : ndarray, shape (n_estimators,)
        Steps before the weights that were kept.
    validation_losses_ : ndarray, shape (n_estimators,)
        Their loss on the rows held out.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    cross_fit_scores : Scores of unseen rows from any other classifier.
    evaluate_model : From features to a report.

    Notes
    -----
    A bag drawn of all rows that misses a labeled row has fewer labeled rows on average than a
    bag that misses an unlabeled one: of :math:`n` rows with :math:`n_L` labeled, the labeled
    share of the bag is :math:`(n_L - 1)/(n - 1)` against :math:`n_L/(n - 1)`. Its network expects
    fewer labels, so that out of bag labeled rows score a little too low. With hundreds of
    labeled rows that is nothing; with a handful it hides what the networks know, and ``fit``
    warns below 30 rows of a kind. ``stratify=True`` removes it; the guide has figures. Of a
    single labeled row no score can be had without it, and ``fit`` refuses.

    References
    ----------
    S. Jain, M. White, P. Radivojac. Recovering true classifier performance in
    positive-unlabeled learning. AAAI 2017.

    Examples
    --------
    >>> import numpy as np
    >>> import purecover as pu
    >>> rng = np.random.default_rng(0)
    >>> labeled = np.arange(600) < 100
    >>> positive = labeled | (rng.random(600) < 0.25)
    >>> X = rng.normal(size=(600, 3)) + 1.5 * positive[:, None]
    >>> networks = pu.models.BaggedNetworks(n_estimators=40, device="cpu", random_state=0)
    >>> scores = networks.fit(X, labeled).oob_score_samples_
    >>> counts = pu.ScoreCounts.from_scores(scores, labeled)
    >>> print(f"{pu.recovery.auc_pu(counts):.2f}")
    0.86
    """

    n_estimators: int = 100
    hidden: int = 5
    _: KW_ONLY
    preset: str = "paper"
    output: str | None = None
    loss: str | None = None
    rprop: str | None = None
    constants: str | None = None
    max_epochs: int | None = None
    patience: int | None = None
    validation_fraction: float | None = None
    split: str | None = None
    stratify: bool = False
    positive_label: object = None
    device: str = "auto"
    dtype: str = "float32"
    n_jobs: int | None = None
    random_state: RandomState | np.random.RandomState = None
    verbose: int = 0

    @public
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train on labeled against unlabeled rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix, shape (n_rows, n_features)
            Finite numbers.
        y : array-like, shape (n_rows,)
            Which rows are labeled: two values. Booleans, 0/1, -1/+1 and words such as
            positive, unlabeled or unknown say which one means labeled; of any other two values
            it is the second in order, unless ``positive_label`` says otherwise.

        Returns
        -------
        BaggedNetworks
            Itself.
        """
        size = valid.check_integer("n_estimators", self.n_estimators, low=1)
        chosen = {name: getattr(self, name) for name in CHOICES}
        training = check_training(
            preset=self.preset, hidden=self.hidden, stratify=self.stratify, **chosen
        )
        dtype = np.dtype(valid.check_choice("dtype", self.dtype, ("float32", "float64")))
        device = check_device(self.device)
        valid.check_jobs(self.n_jobs)
        if not isinstance(self.verbose, bool):
            valid.check_integer("verbose", self.verbose, low=0)
        seeds = tables.seeds_of(self.random_state, size)
        examples, classes, positive = tables.read_labeling(X, y, positive_label=self.positive_label)
        is_labeled = examples.positive
        X = tables.numeric_matrix(self, examples.X, reset=True)
        check_sides("y", is_labeled)
        if not training.stratify:
            _warn_of_few(is_labeled)
        self.classes_, self.labeled_class_ = classes, positive
        self._training = training
        self._standardizer = tables.Standardizer.of(X)
        bar = progress_bar("Training networks", size) if self.verbose else nullcontext()
        with bar as on_progress:
            ensemble = train_ensemble(
                self._standardizer.transform(X, dtype),
                is_labeled,
                seeds,
                training,
                device=device,
                n_jobs=self.n_jobs,
                on_progress=on_progress,
            )
        self._weights = ensemble.weights
        self.n_epochs_ = ensemble.epochs
        self.validation_losses_ = ensemble.losses
        self.oob_counts_ = ensemble.oob_counts
        self.oob_score_samples_ = mean_scores(ensemble.oob_sums, ensemble.oob_counts)
        return self

    @public
    def score_samples(self, X: Any) -> FloatArray:
        """Mean output of all networks in [0, 1], larger where a row looks more labeled.

        Of rows that were trained on, take ``oob_score_samples_``.
        """
        check_is_fitted(self)
        X = tables.numeric_matrix(self, X, reset=False)
        rows = self._standardizer.transform(X, self._weights.dtype)
        return apply_ensemble(rows, self._weights, self._training)

    @public
    def predict_proba(self, X: Any) -> FloatArray:
        """Shares of the classes, in the order of ``classes_``: of labels, not of true classes.

        See :class:`purecover.PUCalibratedClassifier` for probabilities of the true class.
        """
        return self._columns(self.score_samples(X))

    @public
    def decision_function(self, X: Any) -> FloatArray:
        """Score above one half, positive for the second of ``classes_``, as in scikit-learn."""
        return self._turned(self.score_samples(X) - 0.5)


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show on the error stream how much of ``total`` is done; what is yielded is told."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=False) as progress:
        task = progress.add_task(title, total=total)
        yield lambda done: progress.update(task, completed=done)


def check_sides(parameter: str, labeled: BoolArray) -> None:
    """At least two rows of either kind: without its only one a network knows no such rows."""
    for side, size in (("labeled", int(labeled.sum())), ("unlabeled", int((~labeled).sum()))):
        if size == 1:
            must = f"{side} in two rows or more: a network without the only one knows none"
            hint = "get more labels; from a handful on, stratify=True gives the fairest scores"
            raise valid.bad_value(parameter, must, f"1 {side} row of {labeled.size}", hint)


def _warn_of_few(labeled: BoolArray) -> None:
    for side, size in (("labeled", int(labeled.sum())), ("unlabeled", int((~labeled).sum()))):
        if size < FEW:
            valid.warn(
                f"There are {size} {side} rows. A bag that misses one of so few has fewer of "
                "them on average, and out of bag they score too low for it.\n"
                "Hint: BaggedNetworks(stratify=True) draws labeled and unlabeled rows apart."
            )


def mean_scores(sums: FloatArray, counts: Any) -> FloatArray:
    """Mean output out of bag; rows that were always in bag get the mean of the others.

    To be called by what the user calls, who then is told where.
    """
    never = counts == 0
    scores = sums / np.where(never, 1, counts)
    if never.any():
        some = not never.all()
        scores[never] = scores[~never].mean() if some else 0.5
        valid.warn(
            f"{int(never.sum())} of {never.size} rows are in the bag of every network, so that "
            f"nothing is known about them; their score is {'the mean score' if some else '0.5'}."
            "\nHint: more networks (n_estimators=) leave no such rows."
        )
    return np.asarray(scores, dtype=np.float64)


# -- Many ensembles at once: subsets of the rows of one table, each with labels of its own -------


_CARD_BYTES = 2**33
"""Memory of one launch on a card; more ensembles are trained in turn."""


@public
def bagged_scores_many(
    X: ArrayLike,
    rows: ArrayLike,
    labeled: ArrayLike,
    *,
    n_estimators: int = 100,
    hidden: int = 5,
    preset: str = "paper",
    device: str = "auto",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> FloatArray:
    """Out-of-bag scores of many ensembles of :class:`BaggedNetworks` on parts of one table.

    What a study of repeated draws needs: on a CUDA card all ensembles are trained side by side,
    a thousand in the time of a few. Elsewhere one after the other.

    Parameters
    ----------
    X : array-like, shape (n_table, n_features)
        The table.
    rows : array-like of int, shape (n_ensembles, n_rows)
        For each ensemble, the rows of the table it sees, none of them twice.
    labeled : array-like of bool, shape (n_ensembles, n_rows)
        Which of them are labeled.
    n_estimators, hidden, preset, device, n_jobs
        As of :class:`BaggedNetworks`. On a card the bags are drawn by the card, so that results
        differ from those of other devices by chance.
    random_state : int, Generator, RandomState, None, or list of int
        Seed. With a list of seeds, one for each ensemble, an ensemble can be trained again
        alone: its scores depend on no other.

    Returns
    -------
    ndarray, shape (n_ensembles, n_rows)
        Out-of-bag scores in [0, 1].

    Notes
    -----
    Bags are drawn of all rows, as in the paper. With few labeled rows such scores are too low
    for them, for which :class:`BaggedNetworks` has ``stratify``.

    Examples
    --------
    >>> import numpy as np
    >>> import purecover as pu
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(500) < 0.3
    >>> X = rng.normal(size=(500, 2)) + 2 * positive[:, None]
    >>> rows = np.array([rng.permutation(500)[:400] for _ in range(3)])
    >>> labeled = positive[rows] & (rng.random(rows.shape) < 0.5)
    >>> scores = pu.models.bagged_scores_many(
    ...     X, rows, labeled, n_estimators=40, device="cpu", random_state=0
    ... )
    >>> scores.shape
    (3, 400)
    """
    size = valid.check_integer("n_estimators", n_estimators, low=1)
    training = check_training(preset=preset, hidden=hidden)
    table, rows, labeled = _check_tables(X, rows, labeled)
    where = check_device(device)
    valid.check_jobs(n_jobs)
    streams = _streams(random_state, len(rows))
    scores: list[FloatArray] = []
    if where.startswith("cuda"):
        from purecover.models import cuda as _fused

        if _fused.can_train(table.shape[1], np.float32, training):
            seeds = np.array([stream.generate_state(3) for stream in streams], dtype=np.int64)
            sums, counts = _on_card(table, rows, labeled, seeds, size, training, where)
            for total, count in zip(sums, counts, strict=True):
                scores.append(mean_scores(total, count))
            return np.stack(scores)
    for chosen, marks, stream in zip(rows, labeled, streams, strict=True):
        part = table[chosen]
        ensemble = train_ensemble(
            tables.Standardizer.of(part).transform(part, np.float32),
            marks,
            stream.spawn(size),
            training,
            device=where,
            n_jobs=n_jobs,
        )
        scores.append(mean_scores(ensemble.oob_sums, ensemble.oob_counts))
    return np.stack(scores)


def _streams(random_state: Any, size: int) -> list[np.random.SeedSequence]:
    """A stream of random numbers for each ensemble."""
    if not isinstance(random_state, (list, tuple, np.ndarray)):
        return tables.seeds_of(random_state, size)
    if len(random_state) != size:
        must = f"one seed, or one for each of the {size} ensembles"
        raise valid.bad_value("random_state", must, f"{len(random_state)} seeds")
    return [tables.seeds_of(seed, 1)[0] for seed in random_state]


def _check_tables(
    X: ArrayLike, rows: ArrayLike, labeled: ArrayLike
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.bool_]]:
    from sklearn.utils import check_array

    try:
        table = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    except (TypeError, ValueError) as error:
        must, got = "a matrix of finite numbers", str(error).partition("\n")[0].rstrip(".")
        raise valid.bad_value("X", must, f"what fails with: {got}") from error
    chosen, marks = _as_array("rows", rows), _as_array("labeled", labeled)
    if chosen.ndim != 2 or chosen.dtype.kind not in "iu" or chosen.size == 0:
        must = "whole numbers of shape (n_ensembles, n_rows)"
        raise valid.bad_value("rows", must, f"{chosen.dtype} of shape {chosen.shape}")
    if chosen.min() < 0 or chosen.max() >= len(table):
        must = f"rows of X, from 0 to {len(table) - 1}"
        raise valid.bad_value("rows", must, f"{chosen.min()} to {chosen.max()}")
    ordered = np.sort(chosen, axis=1)
    again = ordered[:, 1:] == ordered[:, :-1]
    if again.any():
        ensemble, place = np.argwhere(again)[0]
        raise valid.bad_value(
            "rows",
            "distinct rows of X in every ensemble",
            f"row {ordered[ensemble, place]} more than once in ensemble {ensemble}",
            "draw without replacement: a bag that misses one copy of a row may hold the other, "
            "and its network would know the label",
        )
    if marks.shape != chosen.shape or marks.dtype.kind != "b":
        must = f"booleans of the shape of rows, {chosen.shape}"
        raise valid.bad_value("labeled", must, f"{marks.dtype} of shape {marks.shape}")
    one_sided = np.flatnonzero(marks.all(axis=1) | ~marks.any(axis=1))
    if one_sided.size:
        must = "labeled and unlabeled rows in every ensemble"
        raise valid.bad_value("labeled", must, f"only one kind in ensemble {one_sided[0]}")
    for one in marks:
        check_sides("labeled", one)
    return table, chosen.astype(np.int64), np.array(marks)


def _as_array(parameter: str, values: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:  # rows of different lengths
        must = "an array of shape (n_ensembles, n_rows)"
        raise valid.bad_value(parameter, must, "rows of different lengths") from error


def _on_card(
    table: NDArray[Any],
    rows: NDArray[np.int64],
    labeled: NDArray[np.bool_],
    seeds: NDArray[np.int64],
    size: int,
    training: Training,
    device: str,
) -> tuple[NDArray[Any], NDArray[Any]]:
    import torch

    from purecover.models import cuda as _fused

    # The card computes with 32 bits: a large mean or scale must be gone before.
    features = tables.Standardizer.of(table).transform(table, np.float32)[:, :-1]
    on_card = torch.as_tensor(np.ascontiguousarray(features), device=device)
    per = rows.shape[1] * (5 * size + 12 * max(16, 2 * table.shape[1]))
    step = max(_CARD_BYTES // per, 1)
    found = []
    with torch.cuda.device_of(on_card):
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            chosen = torch.as_tensor(rows[part], device=device)
            marks = torch.as_tensor(labeled[part], device=device)
            sums, counts = _fused.score_many(on_card, chosen, marks, seeds[part], size, training)
            found.append((sums, counts))
        return tuple(torch.cat([part[i] for part in found]).cpu().numpy() for i in range(2))
