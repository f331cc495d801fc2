"""The paper's classifier: bagged small networks, and the scores of rows out of their bags."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from purecover_paper.arguments import (
    check_choice,
    check_integer,
    check_jobs,
    check_seeds,
    errors_of,
    warn,
)
from purecover_paper.arrays import BoolArray, FloatArray
from purecover_paper.networks.ensembles import (
    apply_ensemble,
    check_device,
    check_sides,
    mean_scores,
    train_ensemble,
)
from purecover_paper.networks.inputs import Standardizer, read_features, read_labels
from purecover_paper.networks.options import CHOICES, Training, check_training

FEW = 30
"""Labeled or unlabeled rows below which bags should be stratified."""


@dataclass(eq=False, repr=False)
class BaggedNetworks(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
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
        The values of all parameters below that are None. "authors" also splits like their
        released code; "logistic" fits probabilities: logistic output, cross-entropy, iRprop-
        with the constants of torch.
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
        Whether labeled and unlabeled rows of a bag are drawn separately, as many of either kind
        as there are. The paper draws of all rows. See Notes.
    positive_label : object, optional
        The value of ``y`` that means labeled, if :meth:`fit` cannot know it.
    device : str, default="auto"
        "cpu" computes with NumPy, "cuda" or another device of torch with torch; "auto" uses a
        CUDA card if torch and a card are available.
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
        The two values of ``y`` in order.
    labeled_class_ : object
        The value that means labeled.
    oob_score_samples_ : ndarray, shape (n_rows,)
        Out-of-bag scores in [0, 1], larger for rows that resemble the labeled rows; pass them to
        :func:`purecover.evaluate`.
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
    purecover.cross_fit_scores : Scores of unseen rows from any other classifier.
    purecover.evaluate_model : From features to a report.

    Notes
    -----
    A bag drawn of all rows that misses a labeled row has fewer labeled rows on average than a
    bag that misses an unlabeled one: of :math:`n` rows with :math:`n_L` labeled, the labeled
    share of the bag is :math:`(n_L - 1)/(n - 1)` against :math:`n_L/(n - 1)`. Its network expects
    fewer labels, so that out of bag labeled rows score a little too low. With hundreds of
    labeled rows that is nothing; with a handful it hides what the networks know, and ``fit``
    warns below 30 rows of a kind. ``stratify=True`` removes the effect. A single labeled or
    unlabeled row has no out-of-bag score, and ``fit`` refuses it.

    References
    ----------
    S. Jain, M. White, P. Radivojac. Recovering true classifier performance in
    positive-unlabeled learning. AAAI 2017.

    Examples
    --------
    >>> import numpy as np
    >>> import purecover as pu
    >>> from purecover_paper.networks import BaggedNetworks
    >>> rng = np.random.default_rng(0)
    >>> labeled = np.arange(600) < 100
    >>> positive = labeled | (rng.random(600) < 0.25)
    >>> X = rng.normal(size=(600, 3)) + 1.5 * positive[:, None]
    >>> networks = BaggedNetworks(n_estimators=40, device="cpu", random_state=0)
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
    random_state: int | np.random.Generator | np.random.RandomState | None = None
    verbose: int = 0

    @errors_of("BaggedNetworks.fit")
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train on labeled against unlabeled rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix, shape (n_rows, n_features)
            Finite numbers.
        y : array-like, shape (n_rows,)
            Which rows are labeled: two values. Of booleans, 0/1, -1/+1 and words such as
            positive, unlabeled or unknown it is known which one means labeled; of any other two
            values it is the second in order, unless ``positive_label`` names the first.

        Returns
        -------
        BaggedNetworks
            Itself.
        """
        size, training, device = self._check_parameters()
        X = read_features(self, X, y, reset=True)
        self.classes_, self.labeled_class_ = read_labels(y, self.positive_label)
        labeled = np.ravel(np.asarray(y) == self.labeled_class_)
        check_sides("y", labeled)
        if not training.stratify:
            _warn_of_few(labeled)
        self._training = training
        self._standardizer = Standardizer.of(X)
        bar = progress_bar("Training networks", size) if self.verbose else nullcontext()
        with bar as on_progress:
            ensemble = train_ensemble(
                self._standardizer.transform(X, np.dtype(self.dtype)),
                labeled,
                check_seeds(self.random_state, size),
                training,
                device=device,
                n_jobs=self.n_jobs,
                on_progress=on_progress,
            )
        self._weights = ensemble.weights
        self.n_epochs_ = ensemble.epochs
        self.validation_losses_ = ensemble.losses
        self.oob_counts_ = ensemble.oob_counts
        self._oob_scores = mean_scores(ensemble.oob_sums, ensemble.oob_counts)
        return self

    @errors_of("BaggedNetworks")
    def _check_parameters(self) -> tuple[int, Training, str]:
        size = check_integer("n_estimators", self.n_estimators, low=1)
        check_choice("dtype", self.dtype, ("float32", "float64"))
        check_jobs(self.n_jobs, size)
        if not isinstance(self.verbose, bool):
            check_integer("verbose", self.verbose, low=0)
        chosen = {name: getattr(self, name) for name in CHOICES}
        training = check_training(
            preset=self.preset, hidden=self.hidden, stratify=self.stratify, **chosen
        )
        return size, training, check_device(self.device)

    @property
    def oob_score_samples_(self) -> FloatArray:
        """Out-of-bag scores; purecover knows by this attribute of the class that there are some."""
        return self._oob_scores

    @errors_of("BaggedNetworks.score_samples")
    def score_samples(self, X: Any) -> FloatArray:
        """Return the mean output in [0, 1], larger for rows that resemble the labeled rows.

        For rows of the training set use ``oob_score_samples_`` instead.
        """
        check_is_fitted(self)
        features = read_features(self, X, reset=False)
        rows = self._standardizer.transform(features, self._weights.dtype)
        return apply_ensemble(rows, self._weights, self._training)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities of ``classes_``, which are of labels, not of true classes.

        See :class:`purecover.PUCalibratedClassifier` for probabilities of the true class.
        """
        scores = self.score_samples(X)
        columns = (1 - scores, scores)
        return np.column_stack(columns if self._labeled_last else columns[::-1])

    def decision_function(self, X: Any) -> FloatArray:
        """Return scores minus one half, positive for the second of ``classes_``."""
        scores = self.score_samples(X) - 0.5
        return scores if self._labeled_last else -scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likelier label of each row."""
        second = self.decision_function(X) > 0
        return np.asarray(self.classes_[second.astype(np.intp)])

    @property
    def _labeled_last(self) -> bool:
        return bool(self.classes_[1] == self.labeled_class_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def _warn_of_few(labeled: BoolArray) -> None:
    for side, size in (("labeled", int(labeled.sum())), ("unlabeled", int((~labeled).sum()))):
        if size < FEW:
            warn(
                f"There are {size} {side} rows. A bag without one of so few has fewer of them on "
                "average, so that out of bag they score too low.\n"
                "Hint: BaggedNetworks(stratify=True) draws labeled and unlabeled rows separately."
            )


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show on the error stream how much of ``total`` is done; yields a function to update it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=False) as progress:
        task = progress.add_task(title, total=total)
        yield lambda done: progress.update(task, completed=done)
