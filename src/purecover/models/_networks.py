"""The paper's classifier: bagged small networks, and the scores of rows they have not seen."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from purecover._typing import ArrayLike, BoolArray, FloatArray, RandomState
from purecover._validation import bad_value, check_choice, check_integer
from purecover.exceptions import PurecoverWarning
from purecover.models._engine import apply_ensemble, check_device, check_jobs, train_ensemble
from purecover.models._labeling import TwoClasses, read_labeling
from purecover.models._matrix import numeric_matrix
from purecover.models._pickles import VersionedPickle
from purecover.models._progress import progress_bar
from purecover.models._seeds import seeds_of
from purecover.models._standardize import Standardizer
from purecover.models._training import check_training

__all__ = ["BaggedNetworks"]

FEW = 30
"""Rows of a kind below which bags should be drawn of both kinds apart."""


class BaggedNetworks(VersionedPickle, TwoClasses, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
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
    >>> networks = pu.BaggedNetworks(n_estimators=40, device="cpu", random_state=0)
    >>> scores = networks.fit(X, labeled).oob_score_samples_
    >>> counts = pu.ScoreCounts.from_scores(scores, labeled)
    >>> print(f"{pu.auc_pu(counts):.2f}")
    0.86
    """

    def __init__(
        self,
        n_estimators: int = 100,
        hidden: int = 5,
        *,
        preset: str = "paper",
        output: str | None = None,
        loss: str | None = None,
        rprop: str | None = None,
        constants: str | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        validation_fraction: float | None = None,
        split: str | None = None,
        stratify: bool = False,
        positive_label: object = None,
        device: str = "auto",
        dtype: str = "float32",
        n_jobs: int | None = None,
        random_state: RandomState | np.random.RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.hidden = hidden
        self.preset = preset
        self.output = output
        self.loss = loss
        self.rprop = rprop
        self.constants = constants
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.split = split
        self.stratify = stratify
        self.positive_label = positive_label
        self.device = device
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
        name = type(self).__name__
        size = check_integer(name, "n_estimators", self.n_estimators, low=1)
        training = check_training(
            name,
            preset=self.preset,
            hidden=self.hidden,
            output=self.output,
            loss=self.loss,
            rprop=self.rprop,
            constants=self.constants,
            max_epochs=self.max_epochs,
            patience=self.patience,
            validation_fraction=self.validation_fraction,
            split=self.split,
            stratify=self.stratify,
        )
        dtype = np.dtype(check_choice(name, "dtype", self.dtype, ("float32", "float64")))
        device = check_device(name, self.device)
        check_jobs(name, self.n_jobs)
        if not isinstance(self.verbose, bool):
            check_integer(name, "verbose", self.verbose, low=0)
        seeds = seeds_of(name, self.random_state, size)
        function = f"{name}.fit"
        labeling = read_labeling(function, X, y, positive_label=self.positive_label)
        is_labeled = labeling.examples.positive
        X = numeric_matrix(self, function, labeling.examples.X, reset=True)
        check_sides(function, "y", is_labeled)
        if not training.stratify:
            _warn_of_few(function, is_labeled)
        self.classes_, self.labeled_class_ = labeling.classes, labeling.positive
        self._training = training
        self._standardizer = Standardizer.of(X)
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

    def score_samples(self, X: Any) -> FloatArray:
        """Mean output of all networks in [0, 1], larger where a row looks more labeled.

        Of rows that were trained on, take ``oob_score_samples_``.
        """
        check_is_fitted(self)
        X = numeric_matrix(self, f"{type(self).__name__}.score_samples", X, reset=False)
        rows = self._standardizer.transform(X, self._weights.dtype)
        return apply_ensemble(rows, self._weights, self._training)

    def predict_proba(self, X: Any) -> FloatArray:
        """Shares of the classes, in the order of ``classes_``: of labels, not of true classes.

        See :class:`purecover.PUCalibratedClassifier` for probabilities of the true class.
        """
        return self._columns(self.score_samples(X))

    def decision_function(self, X: Any) -> FloatArray:
        """Score above one half, positive for the second of ``classes_``, as in scikit-learn."""
        return self._turned(self.score_samples(X) - 0.5)

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The likelier label of each row."""
        second = self.decision_function(X) > 0
        return np.asarray(self.classes_[second.astype(np.intp)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


def check_sides(function: str, parameter: str, labeled: BoolArray) -> None:
    """At least two rows of either kind: without its only one a network knows no such rows."""
    for side, size in (("labeled", int(labeled.sum())), ("unlabeled", int((~labeled).sum()))):
        if size == 1:
            must = f"{side} in two rows or more: a network without the only one knows none"
            hint = "get more labels; from a handful on, stratify=True gives the fairest scores"
            raise bad_value(function, parameter, must, f"1 {side} row of {labeled.size}", hint)


def _warn_of_few(function: str, labeled: BoolArray) -> None:
    for side, size in (("labeled", int(labeled.sum())), ("unlabeled", int((~labeled).sum()))):
        if size < FEW:
            warnings.warn(
                f"{function} has {size} {side} rows. A bag that misses one of so few has fewer of "
                "them on average, and out of bag they score too low for it.\n"
                "Hint: BaggedNetworks(stratify=True) draws labeled and unlabeled rows apart.",
                PurecoverWarning,
                stacklevel=3,
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
        warnings.warn(
            f"{int(never.sum())} of {never.size} rows are in the bag of every network, so that "
            f"nothing is known about them; their score is {'the mean score' if some else '0.5'}."
            "\nHint: more networks (n_estimators=) leave no such rows.",
            PurecoverWarning,
            stacklevel=3,
        )
    return np.asarray(scores, dtype=np.float64)
